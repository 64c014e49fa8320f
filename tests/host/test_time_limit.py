"""Work that cannot be asked to stop is interrupted, and nothing of that is left behind."""

import threading
import time

from pliant.host.time_limit import within


def endless():
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


def test_brief_work_gives_its_result_and_endless_work_none():
    assert within(60.0, lambda: "done") == "done"
    assert within(0.05, endless) is None


def test_no_interrupt_arrives_late():
    """Work that ends just when its time does: either ends, and nothing is thrown afterwards."""
    for _ in range(50):
        assert within(0.002, lambda: time.sleep(0.002) or "done") in ("done", None)
    assert sum(range(100_000)) == 4999950000


def test_an_error_of_the_work_is_its_own_and_other_threads_can_have_limits_too():
    try:
        within(60.0, lambda: 1 / 0)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("the error was lost")
    found = []
    thread = threading.Thread(target=lambda: found.append(within(0.05, endless)))
    thread.start()
    thread.join(30.0)
    assert found == [None]

"""Plain functions as LLVM text: turns of a loop that happen at the same time."""

import ctypes
from typing import Any

import numpy as np
import pytest

from pliant.codegen.plain import MOST_AT_ONCE, ROLLED, Setting, Slots, at_once, intrinsics_text, plain_text
from pliant.ensemble.lockstep.runs import optimised
from pliant.host.processor import host, load_object

N = 5


def shift(lane: Any) -> None:
    """Every number becomes the one after it: no turn needs what another one stores."""
    for k in at_once(N):
        lane.x[k] = lane.x[k + 1]


def rotate(lane: Any) -> None:
    """The last becomes the first: one after the other, the last turn would read what the first one stored."""
    for k in at_once(N + 1):
        lane.x[k] = lane.x[(k + 1) % 6]


def total(lane: Any) -> float:
    found = 0.0
    for k in at_once(N):
        found += lane.x[k] * lane.x[k]
    return found


def choose(lane: Any) -> None:
    for k in at_once(N):
        if lane.x[k] > 0.0:
            lane.x[k] = 0.0


def many(lane: Any) -> float:
    count = 0.0
    for _k in at_once(MANY):
        count += 1.0
    return count


MANY = MOST_AT_ONCE + 1


def text_of(function, rolled: bool) -> str:
    setting = Setting(Slots.of({"x": N + 1}), constants={"N": N, "MANY": MANY}, rolled=rolled)
    return plain_text([function], setting).replace("define internal", "define")


def run(function, rolled: bool, lane: np.ndarray) -> float:
    machine = host().machine(1)
    source = "\n".join([intrinsics_text(), text_of(function, rolled), ROLLED if rolled else ""])
    engine = load_object(bytes(machine.emit_object(optimised(source, machine, 1))), host())
    address = engine.get_function_address(function.__name__)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(address)(lane.ctypes.data)


@pytest.mark.parametrize("rolled", [False, True])
def test_turns_at_once_do_what_they_do_one_by_one(rolled: bool) -> None:
    lane = np.arange(6.0)
    run(shift, rolled, lane)
    assert lane.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]
    assert run(total, rolled, lane) == 55.0
    assert run(many, rolled, lane) == MANY


def test_where_loops_are_rolled_all_turns_read_before_any_stores() -> None:
    lane = np.arange(6.0)
    run(rotate, True, lane)
    assert lane.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]
    text = text_of(shift, True)
    last_read = text.rindex("= load double")
    assert last_read < text.index("  store double") and "br " not in text
    assert "br " in text_of(many, True)  # so many turns stay a loop


def test_turns_at_once_do_not_branch() -> None:
    assert "br " in text_of(choose, False)
    with pytest.raises(SyntaxError, match="in a loop over at_once"):
        text_of(choose, True)

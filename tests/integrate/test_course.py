"""What a run keeps of its own course: few states, evenly counted, and extremes over every step."""

import numpy as np
import pytest

from pliant.integrate import DOP853, RK4, RKF45, Stepper
from pliant.integrate.memory.run_record import KEPT


@pytest.mark.parametrize("method", [RKF45(1e-6, 1e-9), DOP853(1e-6, 1e-9), RK4(0.01)], ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("end", [0.05, 3.0, 400.0])
def test_it_keeps_steps_evenly_counted_and_the_extremes_of_all(equations, method, end):
    stepper = Stepper(equations.oscillator, 2, 0, method, n_controlled=1, n_added=1)
    stepper.start(0.0, [1.0, 0.0], [7.0], save="steps")
    for stop in np.linspace(0.0, end, 6)[1:]:
        stepper.p[0] = stop
        stepper.advance(stop)
    course, (times, states) = stepper.course(), stepper.rows()
    kept, steps = course.times.size - 1, times.size - 1
    assert kept <= KEPT and (kept >= KEPT // 2 or kept == steps + 1)
    number = np.searchsorted(times, course.times[:-1])
    assert number[0] == 0 and len(set(np.diff(number).tolist())) <= 1  # from the first on, every so many steps
    assert np.array_equal(course.states[:-1], states[number])
    assert (course.times[-1], *course.states[-1]) == (times[-1], *states[-1])
    assert np.array_equal(course.parameters[:-1, 0] >= course.times[:-1], np.ones(kept, dtype=bool))  # those of the step's piece
    assert np.all(course.parameters[:-1, 0] < course.times[:-1] + 0.2 * end + 1e-9)
    added = states[:, 1]
    assert (course.lowest[0], course.highest[0]) == (added.min(), added.max())
    assert course.rise[0] == np.max(added - np.minimum.accumulate(added))
    assert times[np.argmax(added)] == course.highest_at[0]


def test_a_second_run_starts_a_new_course(equations):
    stepper = Stepper(equations.oscillator, 2, 0, RK4(0.01), n_controlled=1, n_added=1)
    for end in (50.0, 0.02):
        stepper.start(0.0, [1.0, 0.0])
        stepper.advance(end)
    course = stepper.course()
    assert course.times.tolist() == [0.0, 0.01, 0.02, 0.02]
    assert course.highest[0] == 0.0 and course.lowest[0] == stepper.y[1]

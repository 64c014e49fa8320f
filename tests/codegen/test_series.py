"""Compiled code finds the piece of a series at any time."""

import numpy as np
import pytest
from numpy.random import default_rng

from pliant.codegen.llvm import compile_function
from pliant.codegen.program import PARAMETER, Program
from pliant.codegen.series import ENTRIES, table_of


def finder():
    """A function whose outputs are the entries of the piece: origin, c0 ... c3."""
    program = Program(0, 2 + ENTRIES, series=(2,))
    program.outputs = [program.value(PARAMETER, 3 + k) for k in range(ENTRIES - 1)]
    return compile_function(program, cache=None)


FIND = finder()


@pytest.mark.parametrize("times", [
    np.array([1.0]), np.linspace(0.0, 1.0, 1001), np.sort(default_rng(1).uniform(-3.0, 5.0, 500)),
    np.concatenate([[0.0], 1.0 - 0.5 ** np.arange(1, 40), [1e6]]),  # as uneven as can be
], ids=["one", "even", "random", "crowded"])  # fmt: skip
def test_every_time_is_in_its_piece(times):
    random = default_rng(2)
    coefficients = random.normal(size=(times.size, 4))
    table = table_of(times, -7.0, coefficients)
    p = np.concatenate([[-1e300, 1e300, table.ctypes.data], np.zeros(ENTRIES - 1)])
    near = np.concatenate([times, np.nextafter(times, -np.inf), np.nextafter(times, np.inf), [-1e9, 1e9, -np.inf, np.inf]])
    for t in np.concatenate([near, random.uniform(times[0] - 1.0, times[-1] + 1.0, 300)]):
        k = int(np.searchsorted(times, t, side="right")) - 1
        expected = [times[0], -7.0, 0.0, 0.0, 0.0] if k < 0 else [times[k], *coefficients[k]]
        assert FIND(t, [], p).tolist() == expected


def test_within_a_window_a_jump_at_its_end_is_not_seen():
    times, held = np.array([0.0, 1.0, 2.0]), np.array([[5.0], [6.0], [7.0]])
    table = table_of(times, 5.0, held)
    p = np.concatenate([[np.nextafter(1.0, 2.0), np.nextafter(2.0, 1.0), table.ctypes.data], np.zeros(ENTRIES - 1)])
    assert [FIND(t, [], p)[1] for t in (1.0, 1.5, 2.0)] == [6.0, 6.0, 6.0]

"""Python functions as machine code: each is also run by Python itself, with the same numbers."""

import ast
import math
import random
from typing import Any

import numpy as np
import pytest

from pliant.codegen import function_writer
from pliant.codegen.loop_language import BLOCK, ByAddress, address_of_record, block, flags, floats, fused, ints, no_block, put_block
from pliant.integrate.compiled_loops import function_of
from pliant.integrate.loop.kernels import Loop

RECORD = np.dtype([("n", "i8"), ("x", "f8"), ("values", "i8"), ("counts", "i8"), ("marks", "i8")])
WEIGHTS = (0.5, -2.0, 0.25)
LIMIT = 3


class Memory:
    """A record and the arrays it points to, and what they hold afterwards."""

    def __init__(self, seed=1, n=12):
        rng = np.random.default_rng(seed)
        self.values, self.counts = rng.normal(size=n), rng.integers(-9, 9, n)
        self.marks = np.zeros(n, dtype=np.uint8)
        self.record = np.zeros(1, dtype=RECORD)
        fields = (n, 0.75, *(array.ctypes.data for array in (self.values, self.counts, self.marks)))
        self.record[0] = fields

    @property
    def contents(self):
        return *self.record[0].item()[:2], self.values.tolist(), self.counts.tolist(), self.marks.tolist()


def both(function, *numbers):
    """What machine code and Python return and leave behind, from the same memory."""
    kinds = tuple(type(x) for x in numbers)
    machine, python = Memory(), Memory()
    by_machine = function_of(Loop(function, (RECORD, *kinds), float))(machine.record.ctypes.data, *numbers)
    by_python = function(python.record.view(np.recarray)[0], *numbers)
    return (by_machine, machine.contents), (float(by_python), python.contents)


def agree(function, *numbers):
    by_machine, by_python = both(function, *numbers)
    assert repr(by_machine) == repr(by_python)


# ---- numbers


def arithmetic(run: Any, x: float, k: int) -> float:
    y = -x + k * 2 - x / 3.0
    y *= x - 1.0
    k += 1
    if k > 2 and not x < 0.0:
        y -= k % 3 + k // 2 + (2 - k) % 3 + (2 - k) // 2 + (k - 9) % -4
    return y + x**2 + abs(x) ** 1.5 + x**3 + abs(k - 5) + math.sqrt(abs(y)) + (k & 3) - (k << 1)


def widened(run: Any, x: float, k: int) -> float:
    total = 0
    for i in range(k):
        total += i * x  # the int of the first line is a double everywhere
    return total


def smallest(run: Any, x: float, k: int) -> float:
    return min(x, k, 0.5) + max(x, -x, 0.0) + min(k, 2) + max(1, k)


def chosen(run: Any, x: float, k: int) -> float:
    low, high = (x, 1.0) if x < 1.0 else (1.0, x)
    low, high = high, low
    return low - 2 * high if 0 <= k < LIMIT <= 3 else math.floor(low) + math.ceil(high) * math.inf


def rounded(run: Any, x: float, k: int) -> float:
    return int(x) + float(k) + bool(k) + (math.isnan(math.nan) and not math.isnan(x))


@pytest.mark.parametrize("function", [arithmetic, widened, smallest, chosen, rounded])
@pytest.mark.parametrize(("x", "k"), [(0.3, 0), (-1.7, 1), (2.5, 4), (1.0, 2), (0.0, 7)])
def test_numbers_follow_the_rules_of_python(function, x, k):
    agree(function, x, k)


def minimum(run: Any, x: float, y: float) -> float:
    return min(x, y)


@pytest.mark.parametrize(("x", "y"), [(math.nan, 1.0), (1.0, math.nan), (0.0, -0.0), (-0.0, 0.0)])
def test_the_smaller_of_two_is_the_first_unless_the_second_is_truly_less(x, y):
    agree(minimum, x, y)


# ---- statements


def loops(run: Any, k: int) -> float:
    total, values = 0.0, floats(run.values, run.n)
    for i in range(run.n - 1, -1, -2):
        if i == k:
            continue
        total = 2.0 * total + values[i]
    for i in range(2, run.n):
        if values[i] > 1.0:
            break
    else:
        total -= 100.0
    while total > 0.0 and k < 50:
        total -= 0.5
        k += 1
    for w in WEIGHTS:
        if w < 0.0:
            continue
        total += w
    return total + i + len(WEIGHTS) + WEIGHTS[1]


def guarded(run: Any, k: int) -> float:
    """Entries that do not exist are not read: `and`, `or` and conditional expressions stop where Python does."""
    nowhere = floats(0, 0)
    first = nowhere[0] if k > 100 else 1.0
    if k > 100 and nowhere[0] > 0.0:
        first = 2.0
    return 3.0 if k <= 100 or nowhere[0] > 0.0 else first


def stored(run: Any, k: int) -> float:
    values, counts, marks = floats(run.values, run.n), ints(run.counts, run.n), flags(run.marks, run.n)
    for i in range(run.n):
        values[i] *= run.x
        counts[i] -= k
        marks[i] = 3 if values[i] > 0.0 else marks[i] + 1
    run.x += 1
    run.n -= 2
    return values[0] + counts[1] + marks[2]


@pytest.mark.parametrize("function", [loops, guarded, stored])
@pytest.mark.parametrize("k", [0, 3, 11, 47])
def test_statements_do_what_they_do_in_python(function, k):
    agree(function, k)


# ---- functions


def halves(run: Any, x: float) -> tuple[float, bool]:
    return 0.5 * x, x > 1.0


def entries(run: Any) -> Any:
    return floats(run.values, run.n)


@fused
def product(x: float, y: float, z: float) -> float:
    return x * y + z


def calling(run: Any, x: float) -> float:
    half, large = halves(run, x)
    entries(run)[3] = half
    both_parts = halves(run, entries(run)[3])[0] if large else 0.0
    return both_parts + product(2.0, 3.0, half) + product(1, 2, 3)


def summed(run: Any, x: float) -> float:
    total = no_block()
    for _ in range(2):
        total += x * block(run.values + 8)
    put_block(run.values + 16, total + 1.0)
    return x


def test_functions_call_others_return_several_values_and_arrays():
    with pytest.raises(SyntaxError, match=r"test_loop_compiler.py:\d+: function calling: .*halves"):
        function_of(Loop(calling, (RECORD, float), float))


def calling_rightly(run: Any, x: float) -> float:
    half, large = halves(run, x)
    entries(run)[3] = half
    return half + (1.0 if large else 0.0) + product(2.0, 3.0, half) + product(1, 2, 3)


@pytest.mark.parametrize("function", [calling_rightly, summed])
@pytest.mark.parametrize("x", [0.5, 2.0])
def test_functions_and_blocks_do_what_they_do_in_python(function, x):
    assert BLOCK == 8
    agree(function, x)


call = ByAddress(float, (int, float))


def by_address(run: Any, target: int, x: float) -> float:
    return call(target, address_of_record(run), x)


def test_functions_are_called_by_address():
    import ctypes

    target = function_of(Loop(halved, (RECORD, float), float))
    address = ctypes.cast(target, ctypes.c_void_p).value
    agree(by_address, address, 3.0)


def halved(run: Any, x: float) -> float:
    run.x = x
    return run.x * 0.5 + run.n


# ---- what has no place there


def listing(run: Any) -> float:
    return [1.0][0]


def unknown(run: Any) -> float:
    return run.nothing


def stranger(run: Any) -> float:
    return random.random()


def named(run: Any) -> float:
    return halved(run, x=2.0)


@pytest.mark.parametrize(("function", "words"), [
    (listing, "cannot be compiled"), (unknown, "there is no number 'run.nothing'"), (stranger, "cannot be compiled"),
    (named, "must be given by position"),
])  # fmt: skip
def test_a_construct_it_does_not_know_is_reported_by_file_and_line(function, words):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(SyntaxError, match=rf"test_loop_compiler.py:{line}: function {function.__name__}: .*{words}"):
        function_of(Loop(function, (RECORD,), float))


def test_threads_that_parse_at_the_same_time_do_not_end_each_other(monkeypatch):
    """Python's own count of the depth of trees goes wrong then, once in a while."""
    parse, troubles = ast.parse, [SystemError("AST constructor recursion depth mismatch")] * 2

    def sometimes(text):
        if troubles:
            raise troubles.pop()
        return parse(text)

    monkeypatch.setattr(ast, "parse", sometimes)
    assert function_writer._tree("x = 1").body and not troubles

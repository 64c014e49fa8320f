"""Plain functions as LLVM text: turns of a loop that happen at the same time."""

import ctypes
import re
from math import sqrt
from typing import Any

import numpy as np
import pytest

from pliant.codegen.function_writer import intrinsics_text
from pliant.codegen.plain import MOST_AT_ONCE, ROLLED, Setting, Slots, at_once, in_vectors, plain_text
from pliant.host.processor import host, load_object, optimised

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


def stays(x: float, y: float) -> bool:
    low, most = (x, 2.5) if not x > y else (y, abs(x))
    return max(low, sqrt(most)) < 3.0 or (y == 0.0 and True)


def test_functions_of_numbers_do_the_same_with_vectors() -> None:
    text = in_vectors(plain_text([stays], Setting(prefix="wide_")), 4)
    declared = "".join(f"declare <4 x double> @llvm.{name}.v4f64(<4 x double>)\n" for name in ("fabs", "sqrt"))
    lines = [
        "define void @wide(ptr %x, ptr %y, ptr %out) {",
        *(f"  %{at} = load <4 x double>, ptr %{at[0]}" for at in ("x1", "y1")),
        "  %found = call <4 x i1> @wide_stays(<4 x double> %x1, <4 x double> %y1)",
        "  %numbers = uitofp <4 x i1> %found to <4 x double>",
        "  store <4 x double> %numbers, ptr %out",
        "  ret void",
        "}",
    ]
    machine = host().machine(1)
    source = "\n".join([declared, text, *lines])
    engine = load_object(bytes(machine.emit_object(optimised(source, machine, 1))), host())
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(engine.get_function_address("wide"))
    x, y, out = np.array([1.0, 16.0, 4.0, np.nan]), np.array([2.0, 0.0, 3.5, 1.0]), np.zeros(32)
    first = next(k for k in range(4) if (out.ctypes.data + 8 * k) % 32 == 0)  # vectors are aligned
    numbers = [out[first + 4 * k : first + 4 * k + 4] for k in range(3)]
    numbers[0][:], numbers[1][:] = x, y
    call(*(part.ctypes.data for part in numbers))
    assert numbers[2].tolist() == [stays(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)] == [True, True, False, False]


def test_a_name_means_what_it_means_in_its_own_file_unless_a_structure_sets_it() -> None:
    """Constants of the same name in several files were one, that of the last file."""
    assert re.search(rf"icmp slt i64 %\w+, {MANY}\n", plain_text([many], Setting()))
    assert re.search(rf"icmp slt i64 %\w+, {N}\n", plain_text([many], Setting(constants={"MANY": N})))

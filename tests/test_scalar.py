"""Numbers, arrays and traced scalars go through the same names."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import numpy as np
import pytest

from pliant import scalar

METHODS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "absolute": "fabs"}
ONE = [name for name, f in scalar.FUNCTIONS.items() if len(inspect.signature(f).parameters) == 1]


class Traced:
    """Records which method was asked for, and with what."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args: (name, *args)


@pytest.mark.parametrize("name", ONE)
def test_numbers_give_floats_that_agree_with_arrays(name: str) -> None:
    function = scalar.FUNCTIONS[name]
    for x in (0.25, np.float64(0.75), 1):
        assert type(function(x)) is float
        assert function(x) == pytest.approx(float(function(np.array([float(x)]))[0]), rel=1e-15)


@pytest.mark.parametrize("name", ONE)
def test_a_traced_scalar_is_asked_for_the_method_of_numpys_name(name: str) -> None:
    assert scalar.FUNCTIONS[name](Traced()) == (METHODS.get(name, name),)


@pytest.mark.parametrize(
    ("name", "method", "swapped"),
    [
        ("atan2", "arctan2", "rarctan2"),
        ("hypot", "hypot", "hypot"),
        ("minimum", "fmin", "fmin"),
        ("maximum", "fmax", "fmax"),
    ],
)
def test_functions_of_two_serve_a_traced_operand_on_either_side(name: str, method: str, swapped: str) -> None:
    function = scalar.FUNCTIONS[name]
    assert function(Traced(), 2.0) == (method, 2.0)
    assert function(2.0, Traced()) == (swapped, 2.0)
    number = function(0.5, 2)
    assert type(number) is float
    assert number == pytest.approx(function(np.array([0.5]), 2.0)[0])


def test_atan2_takes_y_first() -> None:
    assert scalar.atan2(1.0, 0.0) == math.pi / 2


def test_where_chooses_for_numbers_arrays_and_traced_conditions() -> None:
    assert scalar.where(1 < 2, 3, 4) == 3.0
    assert type(scalar.where(np.bool_(False), 3, 4)) is float
    assert scalar.where(np.array([True, False]), 1.0, 2.0).tolist() == [1.0, 2.0]
    assert scalar.where(Traced(), 1.0, 2.0) == ("where", 1.0, 2.0)
    inner = Traced()
    assert scalar.where(True, inner, 0.0) is inner


def test_sign_is_minus_one_zero_or_one() -> None:
    assert [scalar.sign(x) for x in (-3, 0, 2.5)] == [-1.0, 0.0, 1.0]


def test_anything_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="sin: the argument must be a number, an array or a traced scalar, got 'x'"):
        scalar.sin("x")


def test_the_module_imports_only_the_standard_library_numpy_and_the_errors() -> None:
    tree = ast.parse(inspect.getsource(scalar))
    lines = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    found = {line.module if isinstance(line, ast.ImportFrom) else line.names[0].name for line in lines}
    assert found == {"__future__", "math", "operator", "collections.abc", "numbers", "typing", "numpy", "pliant.errors"}

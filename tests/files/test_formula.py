"""Formulas mean what they say, over numbers and traced scalars, and nothing else gets through."""

from __future__ import annotations

import importlib
import math
import pickle
import re
import time
from typing import Any

import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.files.formula import CALLS, MAX_DEPTH, MAX_LENGTH, parse_formula, parse_number

NUMBERS = {
    "2e11": 2e11,
    "1e-3": 1e-3,
    "7.7e10": 7.7e10,
    "+.5": 0.5,
    "pi/6": math.pi / 6,
    "30*deg": math.radians(30),
    "deg(30)": math.radians(30),
    "-0.5 - sin(60*deg)": -0.5 - math.sin(math.radians(60)),
    "5/6": 5 / 6,
    "2**-3": 0.125,
    "-2**2": -4.0,
    "2**3**2": 512.0,
    "sqrt(2)*hypot(3, 4)": 5 * math.sqrt(2),
    "atan2(1, -1)": 3 * math.pi / 4,
    "min(1, 2) + max(1, 2) + abs(-3)": 6.0,
    "where(1 < 2, 3, 4)": 3.0,
    "5 if not 1 < 2 else 7": 7.0,
    "(1 < 2) * 3": 3.0,
    "1 if 1 < 2 < 3 and (2 < 1 or 3 >= 3) else 0": 1.0,
    "floor(2.7) + sign(-2)": 1.0,
}


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_constant_expressions_are_numbers(text: str, value: float) -> None:
    assert parse_number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("5*sin(3*t) - 0.1*v['c.angle']", lambda t, q, v: 5 * math.sin(3 * t) - 0.1 * v["c.angle"]),
        ("q['c.angle']**2/2", lambda t, q, v: q["c.angle"] ** 2 / 2),
        ("1 if t < 0.3 else -1", lambda t, q, v: 1 if t < 0.3 else -1),
        ("3*(0.2 <= t < 0.6 or t > 0.9)", lambda t, q, v: 3 * (0.2 <= t < 0.6 or t > 0.9)),
        ("t if not (t < 0.5 and q['c.angle'] > 0) else 0", 
         lambda t, q, v: t if not (t < 0.5 and q["c.angle"] > 0) else 0),
        ("exp(-t)*tanh(v['c.angle'])", lambda t, q, v: math.exp(-t) * math.tanh(v["c.angle"])),
    ],
)  # fmt: skip
def test_a_formula_agrees_with_the_python_it_looks_like(text: str, python: Any) -> None:
    formula = parse_formula(text)
    for t in np.linspace(0.0, 1.0, 21):
        q, v = {"c.angle": math.cos(9 * t)}, {"c.angle": -3 * t}
        assert formula(t, q, v) == pytest.approx(python(t, q, v), abs=1e-15)


class Traced:
    """A scalar that writes itself down and has no truth."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __mul__(self, other: object) -> Traced:
        return Traced(f"({self.text}*{getattr(other, 'text', other)})")

    __rmul__ = __mul__

    def __lt__(self, other: object) -> Traced:
        return Traced(f"({self.text}<{getattr(other, 'text', other)})")

    def where(self, a: object, b: object) -> Traced:
        return Traced(f"where({self.text},{getattr(a, 'text', a)},{getattr(b, 'text', b)})")

    def sin(self) -> Traced:
        return Traced(f"sin({self.text})")

    def __bool__(self) -> bool:
        raise TypeError("a traced scalar has no truth: use where")


def test_a_formula_is_traced_without_asking_for_a_truth() -> None:
    formula = parse_formula("2*sin(t) if t < 1 and not q['a.x'] < 0 else t")
    traced = formula(Traced("t"), {"a.x": Traced("x")}, {})
    assert traced.text == "where((t<1.0),where((x<0.0),t,(sin(t)*2.0)),t)"


TRACED = ["sin(t)*cos(t) - tan(t)", "asin(t) + acos(t)/atan(t)", "sinh(t)*cosh(t)*tanh(t)", "exp(t) - log(t)",
          "sqrt(t)", "abs(t - 0.5)", "sign(t - 0.5)", "floor(4*t)", "atan2(t, -2) + atan2(-2, t)",
          "hypot(3, t) + hypot(t, 3)",
          "min(t, 0.5) - max(0.5, t)", "2**t + t**3 + t**0.5 + t**t", "deg(t) + t*deg + pi", "1/t - t/3 + -t + +t",
          "1 if t < 0.5 else -1", "3*(0.2 <= t <= 0.4 or not 0.8 > t)",
          "where(t >= 0.3 and t < 0.6, t, 2)", "clip(t, 0.2, 0.6) + saturate(3*t, 2)*quantise(t, 0.3)"]  # fmt: skip


@pytest.mark.parametrize("text", TRACED)
def test_a_traced_formula_agrees_with_numbers(text: str) -> None:
    casadi = pytest.importorskip("casadi")
    tracer = importlib.import_module("pliant.codegen.tracer").Tracer()
    column, (t,) = tracer.symbols("t", 1)
    formula = parse_formula(text, ("t",))
    traced = casadi.Function("f", [column], [tracer.sx(formula(t))])
    for value in (0.1, 0.3, 0.45, 0.5, 0.7, 0.95):
        assert float(traced(value)) == pytest.approx(formula(value), rel=1e-14, abs=1e-15)


def test_the_formulas_above_use_every_function() -> None:
    words = set(re.findall(r"[a-z][a-z0-9]*", " ".join(TRACED)))
    assert set(CALLS) - words == {"absolute", "minimum", "maximum"}  # abs, min, max by their long names


def test_times_that_t_is_compared_with_are_breakpoints() -> None:
    assert parse_formula("2*(0.5 < t < 3*0.4) + (q['a.x'] < 7) + (t >= 0.1)").breakpoints == (0.1, 0.5, 3 * 0.4)
    assert parse_formula("sin(t)").breakpoints == ()


def test_formulas_are_equal_by_text_and_travel_between_processes() -> None:
    formula = parse_formula("t**2", ("t",))
    assert formula == parse_formula("t**2", ("t",)) != parse_formula("t**3", ("t",))
    assert pickle.loads(pickle.dumps(formula))(3.0) == 9.0


WRONG = {
    "__import__('os').system('1')": "'__import__('os').system('1')' at column 1 must call a function by its name",
    "__import__('os')": "'__import__' at column 1 is an unknown function",
    "eval('1')": "'eval' at column 1 is an unknown function",
    "t.real": "'t.real' at column 1 is not allowed in a formula (attribute)",
    "1 + ().__class__": "'().__class__' at column 5 is not allowed in a formula (attribute)",
    "lambda: 1": "at column 1 is not allowed in a formula (lambda)",
    "[x for x in (1, 2)]": "is not allowed in a formula (list comp)",
    "sum(x for x in (1, 2))": "'sum' at column 1 is an unknown function",
    "sin(*[1])": "'*[1]' at column 5 is not allowed in a formula (starred)",
    "sin(x=1)": "must have 1 positional argument",
    "atan2(1)": "'atan2(1)' at column 1 must have 2 positional arguments",
    "(y := 3)": "is not allowed in a formula (named expr)",
    "f'{t}'": "is not allowed in a formula (joined str)",
    "'text'": "is not a number",
    "True": "'True' at column 1 is not a number",
    "1j": "'1j' at column 1 is not a number",
    "t % 2": "has an operator other than + - * / **",
    "t ^ 2": "(a power is written **)",
    "~t": "has an operator other than + - * / **",
    "t == 1": "has a comparison other than < <= > >=",
    "1 if t else 2": "'t' at column 6 must be a comparison such as t < 1",
    "1 if sin(t) else 2": "'sin(t)' at column 6 must be a comparison",
    "sinn(t)": "'sinn' at column 1 is an unknown function (did you mean 'sin'?)",
    "2*sin": "'sin' at column 3 is a function and needs arguments, as in sin(...)",
    "2*tt": "'tt' at column 3 is an unknown name",
    "q": "must be read by coordinate, as in q['arm.angle']",
    "q[0]": "must name a coordinate in quotes",
    "q[t]": "must name a coordinate in quotes",
    "t['a']": "may only be read as q['arm.angle'] or v['arm.angle']",
    "q['arm.angel']": "is an unknown coordinate (did you mean 'arm.angle'?)",
    "1 +": "is not an expression: invalid syntax",
    "1; 2": "is not an expression",
    "": "is not an expression",
    "\0": "is not an expression",
    "import os": "is not an expression",
    "1/0": "'1/0' at column 1 divides by zero",
    "t/(2 - 2)": "'t/(2 - 2)' at column 1 divides by zero",
    "t + log(-1)": "'log(-1)' at column 5 has no value",
    "t*(-8)**(1/3)": "'(-8)**(1/3)' at column 3 has no value",
    "1e999": "has no finite value",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_formula_is_refused_with_its_piece_and_column(text: str, message: str) -> None:
    with pytest.raises(ModelError) as refusal:
        parse_formula(text, known={"q": ["arm.angle"], "v": []})
    found = str(refusal.value).replace('"', "'")
    assert message in found
    assert found.startswith("formula '")


@pytest.mark.parametrize(
    "text",
    ["9**9**9**9", "2**1e9**9", "9**9**9**9*t", "1" * 3000, "(" * 1500 + "1" + ")" * 1500, "(" * 150 + "-" * 2000 + "1",
     "-" * 3900 + "1", "+".join(["t"] * (MAX_DEPTH + 2)), "sin(" * 180 + "t" + ")" * 180, "not " * 900 + "t < 1",
     "t" * (MAX_LENGTH + 1), "1 if t < 1 else " * 240 + "1", "[" * 1900 + "]" * 1900],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_giants_are_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ModelError):
        parse_formula(text)
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize("text", ["nan", ".nan", "-.inf", "Infinity"])
def test_numbers_are_finite(text: str) -> None:
    with pytest.raises(ModelError, match="must be a finite number, got"):
        parse_number(text)


@pytest.mark.parametrize("text", ["t", "q['a.x']", "steel", "010", "1:30"])
def test_a_number_has_no_variables_and_none_of_yamls_surprises(text: str) -> None:
    with pytest.raises(ModelError):
        parse_number(text)

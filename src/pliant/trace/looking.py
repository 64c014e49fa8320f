"""Finds the frames that formulas read, by calling them once on throwaway symbols before the equations are made.

A frame on a beam depends on the beam's numbers, so the tree must contain it if the same code is to serve other numbers.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from pliant.codegen.tracer import Scalar, Tracer
from pliant.model.captured import captured, globals_read, names_read
from pliant.model.closure import FormulaClosure
from pliant.model.frame import GROUND, Frame
from pliant.model.parameter import Expression, evaluated, expression_of
from pliant.model.signal import Formula
from pliant.model.system import System
from pliant.trace.lowered_system import signals_of
from pliant.trace.world import METHODS, frame_of

DEEPEST = 6  # levels of functions called by functions


def frames_read(system: System, values: Mapping[str, float]) -> tuple[Frame, ...]:
    """The frames that formulas of a System with plain numbers read; values: of its parameters."""
    asking = [function for function in _functions(system) if _may_ask(function, 0)]
    if not asking:
        return ()
    found: dict[Frame, None] = {}
    tracer = Tracer()
    tracer.lift = lambda x: evaluated(x, values) if expression_of(x) is not None else float(x)
    anything = _Anything(tracer, lambda place: found.setdefault(frame_of(system, place, values)))
    for function in asking:
        with suppress(Exception):  # reported when the formula is traced
            _call(function, anything)
    return tuple(found)


def _functions(system: System) -> Iterator[Any]:
    yield from (signal.function for signal in signals_of(system) if isinstance(signal, Formula))
    yield from (condition.function for condition in system.conditions.values())
    yield from (closure.formula.function for closure in system.closures.values() if isinstance(closure, FormulaClosure))
    for controller in system.controllers.values():
        update = controller.update
        yield from update.values() if isinstance(update, Mapping) else () if update is None else (update,)


def _call(function: Any, anything: _Anything) -> None:
    """Calls it with three arguments, or with the five of a controller."""
    t = anything["t"]
    try:
        function(t, anything, anything)
    except TypeError:
        function(t, anything, anything, anything, anything)


def _may_ask(function: Any, depth: int) -> bool:
    """Whether a formula may ask for a frame: it, or a function that it reads, names one of the methods for frames."""
    text = getattr(function, "text", None)
    if isinstance(text, str):
        texts = [text, *(meaning.text for _, meaning in getattr(function, "definitions", ()))]
        return any(word in each for each in texts for word in METHODS)
    if not isinstance(function, types.FunctionType) or depth > DEEPEST:
        return True
    if not set(METHODS).isdisjoint(names_read(function.__code__)):
        return True
    with suppress(ValueError):  # a variable that is not filled yet
        inside = [*captured(function), *globals_read(function).values()]
        return any(_may_lead_to_one(each, depth + 1) for each in inside)
    return True


def _may_lead_to_one(x: Any, depth: int) -> bool:
    """Whether an object that a formula reads may ask for a frame: such a function, a user's module, or an object with methods."""
    if isinstance(x, _HARMLESS) or is_dataclass(x):
        return False
    if isinstance(x, (types.FunctionType, types.ModuleType)):
        home = (x.__module__ or "") if isinstance(x, types.FunctionType) else x.__name__
        if home.partition(".")[0] in _KNOWN_MODULES:
            return False
        return isinstance(x, types.ModuleType) or _may_ask(x, depth)
    return True


_HARMLESS = (int, float, complex, str, bytes, bool, type(None), tuple, list, dict, np.ndarray, np.generic, Expression, range,
             types.BuiltinFunctionType, np.ufunc)  # fmt: skip
_KNOWN_MODULES = frozenset(("pliant", "numpy", "scipy", "math", "cmath", "builtins", "operator"))


class _Anything(dict[str, Scalar]):
    """Stands for q, v, measured and memory at once: every name has a value, and frames that are read are recorded."""

    def __init__(self, tracer: Tracer, note: Callable[[Any], object]) -> None:
        super().__init__()
        self._tracer, self._note = tracer, note

    def __missing__(self, name: str) -> Scalar:
        self[name] = self._tracer.symbols("any", 1)[1][0]
        return self[name]

    def renamed(self, names: Mapping[str, str]) -> _Anything:
        return self

    def _seen(self, *frames: Any) -> list[Scalar]:
        for frame in frames:
            self._note(frame)
        return list(self._tracer.symbols("any", 3)[1])

    def position(self, frame: Any, seen_from: Any = GROUND) -> list[Scalar]:
        return self._seen(frame, seen_from)

    velocity = position

    def distance(self, a: Any, b: Any) -> Scalar:
        return self._seen(a, b)[0]

    distance_rate = distance

    def angle(self, a: Any, b: Any = GROUND, axis: Any = "z") -> Scalar:
        return self._seen(a, b)[0]

    angle_rate = angle

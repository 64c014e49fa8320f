"""Beam numbers that depend on parameters through integrals: they have no closed expression, so each becomes a named number.

These numbers are found by recomputing the beam with each of its parameters changed a little.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pliant.beams.telescopic import UnitShapes, unit_shapes
from pliant.codegen.numbers import Number
from pliant.codegen.tracer import Scalar
from pliant.dynamics.body import BeamBody
from pliant.dynamics.library import STILL, Integrated, Station, integrated
from pliant.dynamics.telescopic import TelescopicBody
from pliant.dynamics.tree import Tree, build_tree
from pliant.equations.symbols import Symbols
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.body import Body
from pliant.model.modal import ModalBody
from pliant.model.parameter import Values, evaluated
from pliant.model.resolve import parameters_of, resolved
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam

CHANGE = 1e-3  # relative change of a parameter, or its absolute change from zero: its effects are far above round-off
ROUND_OFF = 1e-10  # relative difference of a number below which it counts as unchanged

Content = TypeVar("Content")


def symbolic_tree(written: System, system: System, symbols: Symbols) -> Tree:
    """The tree of a System over symbols; `written` is a copy of `system` with symbols in place of parameters."""
    known: dict[int, Integrated] = {}
    for name, link in written.links.items():
        body, own = link.body, system.links[name].body
        if id(body) not in known and isinstance(body, (Beam, ModalBody)):
            known[id(body)] = NamedBeam.of(name, body, symbols)
        elif id(body) not in known and isinstance(body, TelescopicBeam):
            known[id(body)] = Integrated(body, TelescopicBody(body, _named_shapes(name, own, symbols)))
    tree = build_tree(written, known)
    return replace(tree, start=tuple(symbols.of(x) for x in tree.start))


@dataclass(frozen=True, eq=False, kw_only=True)
class NamedBeam(Integrated):
    """A beam or a finite-element body in which integrals and shape values that depend on parameters are named numbers."""

    name: str
    symbols: Symbols

    @classmethod
    def of(cls, name: str, model: Beam | ModalBody, symbols: Symbols) -> NamedBeam:
        def body(values: Values) -> BeamBody:
            return integrated(resolved(model, values), {}).body  # type: ignore[return-value]

        now, changed = _variants(model, body, symbols)
        return cls(model=model, body=_named_body(name, now, changed, symbols), name=name, symbols=symbols)

    def station(self, x: Scalar | None) -> Station:
        if x is None:
            return STILL
        x = self.symbols.of(x)
        if x not in self._stations:
            self._stations[x] = self._named_station(x)
        return self._stations[x]

    def _named_station(self, x: Scalar) -> Station:
        model, written = self.model, self.symbols.expression(x) if isinstance(x, Number) else x
        assert isinstance(model, (Beam, ModalBody))

        def station(values: Values) -> Station:
            return integrated(resolved(model, values), {}).station(float(evaluated(written, values)))

        now, changed = _variants((model, written), station, self.symbols)
        tip = self.symbols.of(model.length) if isinstance(model, Beam) else None
        label = "tip" if x is tip or (isinstance(tip, float) and tip == x) else f"station[{len(self._stations)}]"
        named: Station = _Naming(self.symbols, changed).visit(f"{self.name}.{label}", now, list(changed.values()))
        return named


def _named_body(name: str, now: BeamBody, changed: Mapping[str, BeamBody | None], symbols: Symbols) -> BeamBody:
    others = list(changed.values())
    constants = _Naming(symbols, changed).visit(name, now.constants, [other and other.constants for other in others])
    naming = _Naming(symbols, changed)  # a separate table: stiffnesses are unrelated to masses
    stiffness = naming.visit(f"{name}.stiffness", now.stiffness, [other and other.stiffness for other in others])
    dampings = tuple(
        (kind, naming.visit(f"{name}.damping.{kind}", matrix, [other and dict(other.dampings)[kind] for other in others]))
        for kind, matrix in now.dampings
    )
    forms = _Naming(symbols, changed).visit(f"{name}.shortening", now.forms, [other and other.forms for other in others])
    drag = _Naming(symbols, changed).visit(f"{name}.drag", now.drag, [other and other.drag for other in others])
    return replace(now, constants=constants, stiffness=stiffness, dampings=dampings, forms=forms, drag=drag)


def _named_shapes(name: str, model: Body, symbols: Symbols) -> UnitShapes:
    now, changed = _variants(model, lambda values: unit_shapes(resolved(model, values)), symbols)
    named: UnitShapes = _Naming(symbols, changed).visit(name, now, list(changed.values()))
    return named


def _variants(root: Any, make: Callable[[Values], Content], symbols: Symbols) -> tuple[Content, dict[str, Content | None]]:
    """The result with the present values, and with each parameter of `root` changed; None if a change is not allowed."""
    return make(symbols.values), {name: _changed(name, make, symbols.values) for name in parameters_of(root)}


def _changed(name: str, make: Callable[[Values], Content], values: Values) -> Content | None:
    for change in (CHANGE, -CHANGE):
        try:
            return make({**values, name: values[name] * (1.0 + change) if values[name] else change})
        except ModelError:  # the change breaks a rule of the part: try the opposite sign
            continue
    return None


class _Naming:
    """Replaces numbers that change with a parameter by named numbers; numbers that are always equal share a name."""

    def __init__(self, symbols: Symbols, parameters: Iterable[str]) -> None:
        self._symbols = symbols
        self._parameters = tuple(parameters)
        self._known: dict[tuple[float, ...], Number] = {}

    def visit(self, path: str, now: Any, others: Sequence[Any]) -> Any:
        """now: dataclasses, sequences and floats; others: for each parameter, the same structure with changed floats, or None."""
        if isinstance(now, float):
            return self._number(path, now, [math.nan if other is None else other for other in others])
        if is_dataclass(now) and not isinstance(now, type):
            names = [field.name for field in fields(now)]
            inside = {name: [other and getattr(other, name) for other in others] for name in names}
            return replace(now, **{name: self.visit(f"{path}.{name}", getattr(now, name), inside[name]) for name in names})
        if isinstance(now, (tuple, list)):
            rows = ([other and other[k] for other in others] for k in range(len(now)))
            return type(now)(self.visit(f"{path}[{k}]", item, row) for k, (item, row) in enumerate(zip(now, rows, strict=True)))
        return now

    def _number(self, path: str, now: float, others: Sequence[float]) -> Scalar:
        moved = [not abs(other - now) <= ROUND_OFF * abs(now) for other in others]  # nan counts as changed
        if not any(moved):
            return now
        key = (now, *others)
        if key not in self._known:
            self._known[key] = self._symbols.symbol(path, now, tuple(itertools.compress(self._parameters, moved)))
        return self._known[key]

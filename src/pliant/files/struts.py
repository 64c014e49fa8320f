"""Struts in model files. Their force may be a formula of their length and rate, as in "-200*(length - 0.3) - 5*rate"."""

from __future__ import annotations

from typing import Any

from pliant.files.document import Item
from pliant.files.formula import is_expression
from pliant.files.places import write_place
from pliant.files.values import read, read_formula
from pliant.files.vocabulary import CALL_HINTS, STATE
from pliant.files.written import Data, write_function, write_named, write_text
from pliant.model.parameter import expression_of
from pliant.model.signal import Constant, Formula, Signal
from pliant.model.strut import OfLength, Strut
from pliant.model.system import System

OWN = ("length", "rate")


def read_strut_force(name: str, item: Item) -> Any:
    """Read a signal, or a formula of t, q, v, length and rate."""
    if not item.is_scalar or item.is_nothing or not is_expression(item.text()):
        return read(CALL_HINTS["struts", "force"], item)
    formula = read_formula(item, (*STATE, *OWN))
    if not formula.needs & set(OWN):
        return read(CALL_HINTS["struts", "force"], item)
    for own in OWN:
        if own in formula.needs and own in item.scope.definitions:
            raise item.error(f"{own!r} means the strut's {own} here, so the definition {own!r} must have a different name")
    return Formula(OfLength(formula, name, with_state=True), formula.breakpoints, formula.text)


def write_strut(system: System, strut: Strut) -> Data:
    data: Data = {"a": write_place(system, strut.a), "b": write_place(system, strut.b)}
    if strut.rest is not None:
        data |= {"stiffness": strut.stiffness, "rest": strut.rest}
    if strut.damping != 0.0 or expression_of(strut.damping) is not None:
        data["damping"] = strut.damping
    return data if strut.force is None else {**data, "force": _force(f"strut {strut.name!r}: force", strut.force)}


def _force(part: str, force: Signal) -> Any:
    if isinstance(force, Constant):
        return force.value
    if not isinstance(force, Formula):
        return write_named(force)
    if isinstance(force.function, OfLength):
        return write_text(part, force.function.function, force.text)
    return write_function(part, force)

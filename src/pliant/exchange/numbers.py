"""What other programs set in a mechanism: inputs, parameters that may be tuned, starts of coordinates; and what they read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.program import Program
from pliant.errors import ModelError, did_you_mean
from pliant.model import check
from pliant.model.parameter import Expression, evaluated
from pliant.results.columns import columns_named
from pliant.results.table import QUANTITIES
from pliant.run.inputs import Inputs
from pliant.run.observed import columns_of
from pliant.run.prepare import Compiled
from pliant.trace.layout import CONSTANTS

INPUT, TUNABLE, START = "input", "tunable", "start"
RATE = "v "  # before the name of a coordinate: its rate at the start
ANY = sys.float_info.max


@dataclass(frozen=True)
class Given:
    """A number that is set from outside."""

    name: str
    kind: str  # INPUT, TUNABLE or START
    value: float
    unit: str
    low: float
    high: float
    number: int = -1  # among the numbers of the equations
    start: int = -1  # in y


@dataclass(frozen=True)
class Output:
    name: str
    unit: str
    meaning: str
    place: int  # in the observed row, or -1 - i for component i of the state


@dataclass(frozen=True)
class Followed:
    """What follows from parameters that are set: numbers of the model, then constants of the equations."""

    expressions: ca.Function  # numbers -> those that are expressions of parameters
    expressed: list[int]  # their places
    prepare: Program  # numbers -> constants
    entries: list[int]  # their places in p
    numbers: Floats


def given_numbers(
    caller: str, compiled: Compiled, inputs: Sequence[str], parameters: Sequence[str], known: Inputs
) -> tuple[list[Given], Followed]:
    """The numbers by their names, each checked to be one that may change."""
    traced, found, code = compiled.traced, [], {}
    for name in (*inputs, *parameters):
        kind = INPUT if name in inputs else TUNABLE
        if name not in traced.original.parameters:
            if kind == INPUT:
                rule = f"must name parameters of the mechanism{did_you_mean(name, list(traced.original.parameters))}"
                raise ModelError.of(caller, "inputs", rule, name)
            found.append(_start(caller, compiled, name))
            continue
        parameter = traced.original.parameters[name]
        code[name] = known.admitted(name)
        low, high = code[name].bounds
        found.append(Given(name, kind, known.values[name], parameter.unit or "", low, high, list(known.values).index(name)))
    return found, _followed(compiled, known, code)


def _start(caller: str, compiled: Compiled, name: str) -> Given:
    """The start of a coordinate or of a rate."""
    traced = compiled.traced
    kind, own = ("rates", name.removeprefix(RATE)) if name.startswith(RATE) else ("starts", name)
    places = traced.start_places[kind]
    if own not in places:
        names = [*traced.original.parameters, *traced.start_places["starts"], *(RATE + r for r in traced.start_places["rates"])]
        raise ModelError.of(caller, "parameters", f"must name parameters or starts of coordinates{did_you_mean(name, names)}", name)
    if traced.rows:
        rule = "must not name a start of a mechanism with closed loops, which is assembled before the run"
        raise ModelError.of(caller, "parameters", rule, name)
    place = traced.start_place(caller, kind, own)
    unit = compiled.drawing.units.get(own, "")
    return Given(f"start of {name}", START, float(traced.y0[place]), f"{unit}/s" if unit and kind == "rates" else unit, -ANY, ANY,
                 start=place)  # fmt: skip


def _followed(compiled: Compiled, known: Inputs, code: Mapping[str, Any]) -> Followed:
    traced, first = compiled.traced, compiled.traced.layout.p[CONSTANTS].start
    numbers = known.numbers if code else np.zeros(traced.preparation.program.n_p)
    expressed: dict[int, Expression] = {place: x for one in code.values() for place, x in one.numbers}
    entries = sorted({place for one in code.values() for place in (*one.places, *one.computed.tolist())})
    p = ca.SX.sym("p", max(numbers.size, 1))
    values: Any = {name: p[k] for k, name in enumerate(known.values)}
    rows = [ca.SX(evaluated(x, values)) for x in expressed.values()]
    function = ca.Function("expressions", [ca.SX.sym("t"), ca.SX.sym("y", 0), p], [ca.vertcat(*rows)], ["t", "y", "p"], ["out"])
    program = traced.preparation.program
    part = Program(**{**vars(program), "outputs": [program.outputs[k - first] for k in entries]})
    return Followed(function, list(expressed), part, entries, np.asarray(numbers, dtype=np.float64))


def outputs_of(caller: str, compiled: Compiled, asked: Sequence[str] | None) -> list[Output]:
    """The numbers that are read, by the names of results; by default all coordinates and their rates."""
    traced = compiled.traced
    names = ["q", "v"] if asked is None else check.names(caller, "outputs", asked)
    columns = columns_named(list(QUANTITIES), traced.columns, compiled.drawing.units, caller, names)
    places = columns_of(traced, list(dict.fromkeys(column.quantity for column in columns)))
    return [Output(column.name.removeprefix("q ") if column.quantity == "q" else column.name, column.unit,
                   QUANTITIES[column.quantity].meaning, int(places[column.quantity][column.place]))
            for column in columns]  # fmt: skip

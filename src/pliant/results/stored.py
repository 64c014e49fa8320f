"""Checks of result files, which may come from untrusted sources: contents that pliant would not write are refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pliant.errors import ModelError, PliantError
from pliant.host.memory import require_memory
from pliant.results.contents import ResultContents
from pliant.results.drawing import GROUND, BodyDrawing, Drawing
from pliant.results.state import FinalState
from pliant.results.table import QUANTITIES

Given = ParamSpec("Given")
Read = TypeVar("Read", bound=ResultContents)
WHOLE = "must be a complete result as written by pliant"
LARGEST = 1e300
TIMES_AT_ONCE = 2**17  # times checked in one block
COPIES = 2  # copies of a file's contents in memory while it is read


def refusing(read: Callable[Given, Read]) -> Callable[Given, Read]:
    """Decorator of a reader: invalid contents raise a ModelError that names the file; system errors remain an OSError."""

    @functools.wraps(read)
    def refused(*given: Given.args, **options: Given.kwargs) -> Read:
        path = options["path"] if "path" in options else given[1]  # the first argument is the class
        try:
            result = read(*given, **options)
            check_result(result)
        except PliantError:
            raise
        except Exception as trouble:
            if isinstance(trouble, OSError) and (trouble.errno or 0) > 0:  # a system error; netCDF's own error numbers are negative
                raise
            raise ModelError.of(f"file {str(path)!r}", "contents", WHOLE, f"{type(trouble).__name__}: {trouble}") from trouble
        return result

    return refused


def check_size(path: str | Path, size: int) -> None:
    """Check the size before loading: in a compressed file a few bytes may expand to any number of zeros."""
    require_memory(f"file {str(path)!r}", "rows", "must fit into memory", float(COPIES * size), size)


def check_result(result: ResultContents) -> None:
    """Check the shapes and types of everything that other code relies on."""
    _be(isinstance(result.name, str) and isinstance(result.message, str), "title and message are texts")
    _be(isinstance(result.ok, bool) and isinstance(result.interrupted, bool), "ok and interrupted are true or false")
    _be(isinstance(result.stats, Mapping), "statistics are a mapping")
    _be(all(_is_number(value) for value in result.parameters.values()), "parameters are numbers")
    _be(result.time.ndim == 1 and result.time.dtype == np.float64, "time is a row of numbers")
    for first in range(0, result.time.size, TIMES_AT_ONCE):
        _be(bool(np.all(np.diff(result.time[first : first + TIMES_AT_ONCE + 1]) >= 0.0)), "time does not go back")
    for name, values in result.values.items():
        shape = (result.time.size, *(len(result.labels[d]) for d in QUANTITIES[name].dims))
        _be(values.shape == shape and values.dtype == np.float64, f"{name} holds numbers, {shape}")
    provenance = result.provenance
    _be(all(isinstance(provenance.get(key, ""), str) for key in ("model", "version", "no_model")), "the provenance holds texts")
    _be(isinstance(provenance.get("settings", {}), Mapping), "settings are a mapping")
    if result.final_state is not None:
        _check_state(result.final_state)
    if result.extremes is not None:
        _be(set(result.extremes.idle) <= set(result.labels["source"]), "idle sources are sources")
    if result.drawing is not None:
        _check_drawing(result.drawing, result)


def _check_state(state: FinalState) -> None:
    numbers = (state.t, state.t_assembled, state.t_first)
    _be(all(_is_number(x) for x in numbers) and state.y.ndim == 1, "the final state holds times and a row of numbers")
    _be(isinstance(state.labels, Mapping) and all(isinstance(names, list) for names in state.labels.values()), "it has its labels")
    for one in (record for _, record in state.closed.values()):
        own = ("let_go", "peak_time", "grip")  # the second may be nan
        so_far = [value for name, value in asdict(one).items() if name not in own] + list(one.grip or ())
        _be(all(_is_number(x) for x in so_far), "contacts under way hold numbers")


def _check_drawing(drawing: Drawing, result: ResultContents) -> None:
    counts = [len(body.rest) for body in drawing.bodies]
    spots = [body.on for body in drawing.bodies] + [spot for _, *pair in drawing.closures for spot in pair]
    _be(bool(np.all(np.isfinite(drawing.ground))), "the ground has points")
    _be(len(drawing.gravity) == 3 and all(_is_number(x) for x in drawing.gravity), "gravity is a vector")
    _be(isinstance(drawing.units, Mapping) and all(isinstance(unit, str) for unit in drawing.units.values()), "units are texts")
    _be(set(result.labels["coordinate"]) <= set(drawing.units), "every coordinate has its unit")
    _be([body.name for body in drawing.bodies] == list(result.labels["body"]), "the outline draws the result's bodies")
    drawn = [contact.pair for contact in drawing.contacts]  # the last pairs are stops and backlash, which have no position in space
    pairs = list(result.labels["pair"])  # without those of contacts among shapes, which come last in the drawing
    _be(drawn[: len(pairs)] == pairs[: len(drawn)], "and its contacts")
    for body in drawing.bodies:
        _check_body(body, result)
    spots += [(GROUND, point) for line in drawing.ground_lines for point in line]
    for number, point in spots:
        _be(isinstance(number, int) and GROUND <= number < len(counts), "places stand on bodies that are there")
        there = len(drawing.ground) if number == GROUND else counts[number]
        _be(isinstance(point, int) and 0 <= point < there, "at their points")
    for contact in drawing.contacts:
        sizes = (contact.radius, 0.0 if contact.other_radius is None else contact.other_radius, *contact.point, *contact.normal)
        _be(len(contact.point) == len(contact.normal) == 3 and all(_is_number(x) for x in sizes), "contacts hold numbers")


def _check_body(body: BodyDrawing, result: ResultContents) -> None:
    points = len(body.rest)
    _be(bool(np.all(np.isfinite(body.rest))), f"points of {body.name} stand somewhere")
    _be(points > 0 and isinstance(body.joint, str) and isinstance(body.kind, str), f"{body.name} has points")
    _be(all(isinstance(k, int) and 0 <= k < points for line in body.lines for k in line), f"lines of {body.name} join them")
    corners = {k for triangle in body.triangles for k in triangle}
    _be(all(len(t) == 3 for t in body.triangles), f"the skin of {body.name} has triangles")
    _be(all(isinstance(k, int) and 0 <= k < points for k in corners), f"the skin of {body.name} joins them")
    for field in body.fields:
        _be(field.shape.shape == field.bow.shape == body.rest.shape, f"fields of {body.name} move them")
        _be(bool(np.all(np.isfinite(field.shape)) and np.all(np.isfinite(field.bow))), "by numbers")
        _be(set(field.coordinates) <= set(result.labels["coordinate"]), f"with coordinates, as {body.name} has")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def _be(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"not so: {what}")

"""A result as an interactive page: the moving mechanism, and plots beside it that follow the cursor.

The page is a single HTML file that needs no network. It contains its script (pliant/show/page, plain canvas code without a
library) and the numbers (little-endian floats in base64).
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.host.atomic_files import write_text
from pliant.model import check
from pliant.results.drawing import GROUND, BodyDrawing
from pliant.results.result import Result
from pliant.results.sections import warnings_of_sections
from pliant.results.shown_units import ShownUnits
from pliant.show.animation import pleasant_speed
from pliant.show.plot.energy import by_kind
from pliant.show.plot.over_time import CONTACT_FORCE, plots_of
from pliant.show.plot.style import PALETTE, prefixed
from pliant.show.scene import EQUIVALENT, KEEP_ANGLES, Scene, slope_at

SCRIPTS = ("run.js", "view.js", "plots.js", "player.js")  # of every page
REPLAY = ("replay.js",)  # of one that contains a run
MOST_ROWS = 4000  # in a page; more rows than pixels only slow down its opening
DIGITS = 8  # significant digits of the drawing's numbers; single precision holds no more
MARK = re.compile(r"(?:<!--|/\*)pliant:(\w+)(?:-->|\*/)")  # placeholders in index.html
STRESS_COLOURS = ("#0d0887", "#5402a3", "#8b0aa5", "#b93289", "#db5c68", "#f48849", "#febd2a", "#f0f921")  # plasma, from no stress
SHOWN = 3  # plots open at first
MOST_SERIES = 14  # in one plot


@dataclass(frozen=True)
class Panel:
    """One plot of the page: named series over the rows, in one unit."""

    title: str
    unit: str
    series: list[tuple[str, Floats]]
    marks: tuple[tuple[float, float, int], ...] = ()  # (time, value, number of the series): peaks between rows


def write(result: Result, path: str | Path, scale: float = 1.0, speed: float | None = None) -> Path:
    """Write the page; the file appears complete or not at all. If the result has stresses, beams are coloured by them.

    scale: initial magnification of the deformation. speed: initial playback speed, seconds of the run per second of viewing.
    Both can be changed in the page.
    """
    text = page(result, scale, speed)
    write_text(path, text)
    return Path(path)


def page(result: Result, scale: float = 1.0, speed: float | None = None, notes: Sequence[str] = ()) -> str:
    """The page as text. notes: sentences that stand above the warnings of the run."""
    check.instance("player", "result", result, Result, "a Result")
    scale, speed = check.positive("player", "scale", scale), None if speed is None else check.positive("player", "speed", speed)
    scene = Scene(result)
    result = scene.result
    rows = kept_rows(result, MOST_ROWS)
    panels = _panels(result)
    blocks = _blocks(scene, panels, rows)
    header, numbers = _header(scene, panels, rows, blocks), _packed(result.time[rows], blocks)
    header |= {"scale": scale, "speed": speed or pleasant_speed(float(result.time[-1] - result.time[0]))}
    return document(result.name, header, numbers, warnings_list(result, notes), scripts_of("pliant.show", (*SCRIPTS, *REPLAY)))


def scripts_of(package: str, names: Sequence[str]) -> str:
    folder = resources.files(package) / "page"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def document(
    name: str, header: Mapping[str, Any], numbers: str, warnings: str, script: str, more: Mapping[str, str] | None = None
) -> str:
    """The page as text. more: what else stands in it, by marks of index.html."""
    folder = resources.files("pliant.show") / "page"
    parts = dict.fromkeys(("style_more", "scripts", "policy", "before", "after"), "") | {
        "title": html.escape(name),
        "warnings": warnings,
        "style": (folder / "style.css").read_text(encoding="utf-8"),
        "run": as_json(header),
        "numbers": numbers,
        "script": '"use strict";\n' + script,
    } | dict(more or {})  # fmt: skip
    return MARK.sub(lambda mark: parts[mark[1]], (folder / "index.html").read_text(encoding="utf-8"))


def as_json(value: Any) -> str:
    """JSON that stands in a script: no tag ends it."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def kept_rows(result: Result, most: int) -> Ints:
    """Rows for the page: all of them, or about `most`.

    Half of these are evenly spaced in time and half by row number, because rows are dense where the motion is fast.
    The first and last rows, the row nearest the peak of every contact and the row of every beam's largest stress are included.
    """
    count = len(result.time)
    if count <= most:
        return np.arange(count)
    by_time = np.searchsorted(result.time, np.linspace(result.time[0], result.time[-1], most // 2))
    by_row = np.linspace(0, count - 1, most // 2).astype(np.int64)
    peaks = np.searchsorted(result.time, [touch.peak_time for touch in result.contacts])
    stressed = _worst_rows(result) if _has_stress(result) else np.zeros(0, dtype=np.int64)
    return np.unique(np.clip(np.concatenate([by_time, by_row, peaks, stressed]), 0, count - 1).astype(np.int64))


def _worst_rows(result: Result) -> Ints:
    """The row of the largest stress of each beam."""
    assert result.sections is not None  # checked by the caller
    return np.asarray(result.sections[EQUIVALENT].fillna(0.0).max("station").argmax("time").values)


def _has_stress(result: Result) -> bool:
    return result.sections is not None and EQUIVALENT in result.sections


# ---- numbers


def _blocks(scene: Scene, panels: list[Panel], rows: Ints) -> dict[str, Floats]:
    """Everything that moves, as tables (row, number) that the script reads row by row."""
    values, result = scene.result.values, scene.result
    stresses = scene.stresses()
    fields = [field for body in scene.drawing.bodies for field in body.fields]
    weights = [np.prod([result[name] for name in field.coordinates], axis=0) for field in fields]
    touch = np.concatenate([values["contact_point"], values["contact_normal"], values["gap"][:, :, None],
                            values["normal_force"][:, :, None]], axis=2)  # fmt: skip
    blocks = {
        "root": values["root_position"],
        "turn": scene.orientations,
        "tip": values["tip_position"],
        "weight": np.stack(weights, axis=1) if weights else np.zeros((len(result.time), 0)),
        "touch": touch,
    }
    if stresses:
        blocks["stress"] = np.concatenate(list(stresses.values()), axis=1)
    for k, panel in enumerate(panels):
        blocks[f"panel{k}"] = np.stack([series for _, series in panel.series], axis=1)
    return {name: table.reshape(len(table), -1)[rows] for name, table in blocks.items()}


def _packed(time: Floats, blocks: dict[str, Floats]) -> str:
    """All blocks in sequence: times in double precision, everything else in single precision."""
    parts = [time.astype("<f8").tobytes(), *(table.astype("<f4").tobytes() for table in blocks.values())]
    return base64.b64encode(b"".join(parts)).decode("ascii")


def _places(rows: int, blocks: dict[str, Floats]) -> dict[str, tuple[int, int]]:
    """(offset in bytes, numbers per row) of every block."""
    places, offset = {}, 8 * rows
    for name, table in blocks.items():
        places[name] = (offset, table.shape[1])
        offset += 4 * table.size
    return places


# ---- words


def _header(scene: Scene, panels: list[Panel], rows: Ints, blocks: dict[str, Floats]) -> dict[str, Any]:
    result, first = scene.result, opened([panel.title for panel in panels])
    peaks = [touch.peak_force for touch in result.contacts]
    return scenery(scene) | {
        "message": result.message,
        "rows": len(rows),
        "blocks": _places(len(rows), blocks),
        "touches": [_touch(touch) for touch in result.contacts],
        "largestForce": max([*peaks, float(np.max(np.nan_to_num(result.values["normal_force"]), initial=0.0))]) or 1.0,
        "stress": _stress(scene),
        "panels": [{"title": panel.title, "unit": panel.unit, "block": f"panel{k}", "shown": k in first, "marks": panel.marks,
                    "series": [name for name, _ in panel.series]} for k, panel in enumerate(panels)],
    }  # fmt: skip


def scenery(scene: Scene) -> dict[str, Any]:
    """What a page draws, but for how it moves."""
    result, drawing = scene.result, scene.drawing
    low, high = scene.box
    carriers = {body.on[0] for body in drawing.bodies}
    planes = {(c.point, c.normal) for c in drawing.contacts if c.other_radius is None and c.on_ground}
    return {
        "name": result.name,
        "axes": scene.axes,
        "up": scene.upright,
        "upsideDown": scene.upside_down,
        "gravity": drawing.gravity,
        "box": [_plain(low), _plain(high)],
        "size": float(np.max(high - low)) or 1.0,
        "palette": PALETTE,
        "bodies": _bodies(drawing.bodies),
        "ground": [_plain(point) for point in drawing.ground],
        "groundLines": drawing.ground_lines,
        "closures": drawing.closures,
        "contacts": [{"pair": c.pair, "radius": c.radius, "other": c.other_radius, "ground": c.on_ground}
                     for c in drawing.contacts if c.pair in result.labels["pair"]],
        "planes": [{"point": point, "normal": normal} for point, normal in sorted(planes)],
        "leaves": [k for k in range(len(drawing.bodies)) if k not in carriers],
    }  # fmt: skip


def warnings_list(result: Result, notes: Sequence[str] = ()) -> str:
    """What to know before believing the numbers, of the run and of its stresses: a list that can be folded; empty without any."""
    of_sections = () if result.sections is None else warnings_of_sections(result.sections)
    sentences = [f"<li>{html.escape(sentence)}</li>" for sentence in dict.fromkeys([*notes, *result.warnings, *of_sections])]
    if not sentences:
        return ""
    count = f"{len(sentences)} warning{'s' * (len(sentences) > 1)}"
    return f'<details id="warnings" open><summary>{count}</summary><ul>{"".join(sentences)}</ul></details>\n'


def _stress(scene: Scene) -> dict[str, Any] | None:
    """The colour scale, if beams are coloured: the largest stress, and where the points of each body begin in their block."""
    stresses = scene.stresses()
    if not stresses:
        return None
    largest = max(float(np.nanmax(table, initial=0.0)) for table in stresses.values()) or 1.0
    factor, unit = prefixed("Pa", [np.array([largest])])
    starts = np.cumsum([0, *(table.shape[1] for table in stresses.values())])
    return {"largest": largest, "factor": factor, "unit": unit, "map": STRESS_COLOURS,
            "first": {str(body): int(start) for body, start in zip(stresses, starts, strict=False)}}  # fmt: skip


def _bodies(bodies: tuple[BodyDrawing, ...]) -> list[dict[str, Any]]:
    described, weight, colour = [], 0, 0
    for body in bodies:
        fields = []
        for field in body.fields:
            rigid = not np.any(field.bow) and field.coordinates[0].endswith(".extension")
            fields.append({"weight": weight, "shape": _plain(field.shape), "bow": _plain(field.bow), "rigid": rigid})
            weight += 1
        grey = body.kind in ("rigid", "payload")
        described.append({
            "name": body.name, "kind": body.kind, "joint": body.joint, "on": body.on, "lines": body.lines, "skin": body.triangles,
            "rest": _plain(body.rest), "fields": fields, "elastic": any(np.any(f.bow) for f in body.fields),
            "colour": GROUND if grey else colour, "keepsAngle": body.joint in KEEP_ANGLES, "slope": _slope(body, bodies),
        })  # fmt: skip
        colour += not grey
    return described


def _slope(body: BodyDrawing, bodies: tuple[BodyDrawing, ...]) -> list[tuple[int, float]] | None:
    """(point, weight) pairs that give the direction of the carrying beam where a body is attached; None if it cannot bend there."""
    carrier, point = body.on
    found = None if carrier == GROUND else slope_at(bodies[carrier], point)
    return None if found is None else list(zip(found[0], _plain(found[1]), strict=True))


def _touch(touch: Any) -> dict[str, Any]:
    return {"pair": touch.pair, "begin": touch.begin, "end": None if touch.lasting else touch.end, "peak_force": touch.peak_force}


def _plain(array: Floats) -> list[float]:
    """Numbers rounded to the digits that single precision holds."""
    return [float(f"{x:.{DIGITS}g}") for x in np.ravel(array)]


# ---- plots


def _panels(result: Result) -> list[Panel]:
    rows, panels = len(result.time), []
    for title, unit, curves in plots_of(result):
        series = [(label, result.values[quantity].reshape(rows, -1)[:, place]) for label, quantity, place in curves]
        shown = None if curves[0][1] in ("normal_force", "effort") else result.shown_units
        panels.append(_panel(title, unit, series, _peaks(result) if title == CONTACT_FORCE else (), shown))
    panels += [*_stress_panel(result), _energy(result), _panel("balance error", "J", [("E - work", result.ledger.balance_error)])]
    titles = [panel.title for panel in panels]
    return [replace(p, title=f"{p.title}, {p.unit}") if titles.count(p.title) > 1 else p for p in panels]


def _panel(
    title: str, unit: str, series: list[tuple[str, Floats]], marks: tuple[tuple[float, float, int], ...] = (),
    shown: ShownUnits | None = None,
) -> Panel:  # fmt: skip
    left_out = len(series) - MOST_SERIES
    factor, name = prefixed(unit, [*(values for _, values in series), np.array([value for _, value, _ in marks])], shown)
    more = f", and {left_out} more" if left_out > 0 else ""
    kept = tuple((t, value / factor, k) for t, value, k in marks if k < MOST_SERIES)
    return Panel(title, name + more, [(label, values / factor) for label, values in series[:MOST_SERIES]], kept)


def _peaks(result: Result) -> tuple[tuple[float, float, int], ...]:
    """The peak of every contact, which may lie between rows."""
    pairs = list(result.labels["pair"])
    return tuple((touch.peak_time, touch.peak_force, pairs.index(touch.pair)) for touch in result.contacts if touch.pair in pairs)


def _stress_panel(result: Result) -> list[Panel]:
    """The largest equivalent stress along each beam."""
    if result.sections is None or not _has_stress(result):
        return []
    largest = result.sections[EQUIVALENT].max("station")
    return [_panel("largest stress", "Pa", [(str(name), largest.sel(beam=name).values) for name in largest["beam"].values])]


def _energy(result: Result) -> Panel:
    """Stored energies, and the work done by each kind of source."""
    book = result.ledger
    series = [(name, values) for name, values in book.held.items() if np.any(values != 0.0)]
    series += [(f"work: {kind}", work) for kind, work in by_kind(book).items()]
    return _panel("energy", "J", series or [("kinetic", book.held["kinetic"])])


def opened(titles: Sequence[str]) -> set[int]:
    """The plots open at first: joint angles, contact forces, stresses, energy, deflections, in this order of preference."""
    wanted = [k for word in ("angle", "contact force", "largest stress", "energy", "tip deflection", "mode", "displacement")
              for k, title in enumerate(titles) if title.startswith(word)]  # fmt: skip
    return set([*wanted, *range(len(titles))][:SHOWN])

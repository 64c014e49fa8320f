"""A page that is the mechanism: one HTML file with its WebAssembly module, which runs it again when a slider moves, offline."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.recorded_motion import system_of
from pliant.errors import ModelError
from pliant.files.run_settings import RunSettings
from pliant.files.writer import dump_model
from pliant.host.atomic_files import write_text
from pliant.host.stages import log
from pliant.integrate.methods.method import Method
from pliant.integrate.status import STATUS_OF_CODE
from pliant.live.machine import LiveMachine, NotForABrowser, live_machine
from pliant.live.recipe import Recipe
from pliant.live.sliders import Ranges
from pliant.live.stress import stresses_of
from pliant.model import check
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.simulate import AUTO, method_of, simulate
from pliant.run.standalone import one_method
from pliant.show import player
from pliant.show.animation import pleasant_speed
from pliant.show.scene import Scene

ROWS, LEAST_ROWS = 1001, 2  # of a run in the page
TOLD = 1e-8  # error of tables, of the size of numbers, that is said in the page
EMBEDDED = ("assemble.js", "runner.js", "sliders.js", "ledger.js", "compare.js", "files.js", "hand.js", "live.js")
WORKER = ("machine.js", "worker.js")


def page(
    system: AnySystem,
    path: str | Path,
    t_end: float,
    *,
    t_start: float = 0.0,
    sliders: Sequence[str] | Ranges | None = None,
    method: Method | type[Method] | str | None = AUTO,
    parameters: Mapping[str, float] | None = None,
    formulation: str = "articulated",
    result: Result | None = None,
    rows: int = ROWS,
    scale: float = 1.0,
    speed: float | None = None,
) -> Path:
    """Write one HTML file in which the mechanism runs, from t_start to t_end (s), again whenever a slider moves.

    sliders: names of parameters and of coordinates whose start may be changed (a rate as "v arm.angle"), or a mapping of names to
    (low, high) in SI; by default all parameters, within their bounds, and all joint coordinates. method: an explicit or implicit
    method; of "auto", the one that the run took most steps with. parameters: values that the page begins with. result: a run of the
    same mechanism that the page begins with; by default it is made. rows: how many a run has. scale, speed: see `player.write`.

    What cannot run in a browser (controllers that are Python functions) is said, in the log and in the page, which then replays the
    run.
    """
    text = page_text(system, t_end, t_start=t_start, sliders=sliders, method=method, parameters=parameters,
                     formulation=formulation, result=result, rows=rows, scale=scale, speed=speed)  # fmt: skip
    write_text(path, text)
    return Path(path)


def page_text(
    system: AnySystem,
    t_end: float,
    *,
    t_start: float = 0.0,
    sliders: Sequence[str] | Ranges | None = None,
    method: Method | type[Method] | str | None = AUTO,
    parameters: Mapping[str, float] | None = None,
    formulation: str = "articulated",
    result: Result | None = None,
    rows: int = ROWS,
    scale: float = 1.0,
    speed: float | None = None,
    tell: Callable[[str], object] = log.warning,
) -> str:
    """The page as text: see `page`. tell: called with the reason, if it is one that replays."""
    system = mechanism_of(system, "page")
    t_start, t_end = check.number("page", "t_start", t_start, "s"), check.number("page", "t_end", t_end, "s")
    if not t_end > t_start:
        raise ModelError.of("page", "t_end", f"must be > t_start = {t_start} s", t_end)
    if check.count("page", "rows", rows) < LEAST_ROWS:
        raise ModelError.of("page", "rows", f"must be >= {LEAST_ROWS}", rows)
    scale = check.positive("page", "scale", scale)
    speed = pleasant_speed(float(t_end - t_start)) if speed is None else check.positive("page", "speed", speed)
    if result is not None:
        check.instance("page", "result", result, Result, "a Result")
    else:
        result = simulate(system, t_end, t_start=t_start, method=method, parameters=parameters, formulation=formulation,
                          save=np.linspace(t_start, t_end, rows))  # fmt: skip
    own = one_method(method_of(method), result.stats.get("steps_of", {}))
    try:
        machine = live_machine(system, t_end, t_start=t_start, sliders=sliders, method=own, rows=rows, parameters=parameters,
                               formulation=formulation)  # fmt: skip
    except NotForABrowser as why:
        note = f"this page replays one run: {why}"
        tell(note)
        return player.page(result, scale, speed, notes=(note,))
    return _document(machine, result, {"scale": scale, "speed": speed, "span": [t_start, t_end]})


def _document(machine: LiveMachine, result: Result, settings: Mapping[str, Any]) -> str:
    scene = Scene(result)
    recipe = Recipe(machine.compiled.traced, scene.result)
    panels = recipe.panels()
    shown = player.opened([panel["title"] for panel in panels])
    spec, memory = machine.spec()
    traced = machine.compiled.traced
    header = player.scenery(scene) | dict(settings) | {
        "model": _model(machine, result),
        "stresses": _stresses(machine, scene, recipe),
        "stressMap": player.STRESS_COLOURS,
        "pairs": list(traced.columns["pair"]),
        "panels": [panel | {"shown": k in shown} for k, panel in enumerate(panels)],
        "recipe": {
            "n": spec["n"],
            "observed": spec["observed"],
            "blocks": recipe.blocks(scene),
            "columns": recipe.columns(),
            "ledger": recipe.ledger(),
            "codes": {code: status.value for code, status in STATUS_OF_CODE.items()},
            "events": [event.name for event in traced.events],
        },
    }  # fmt: skip
    drawn = [body["name"] for body in header["bodies"]]
    spec["pulls"] = [pull | {"body": drawn.index(pull["name"])} for pull in spec["pulls"] if pull["name"] in drawn]
    after = "".join((
        _json("machine", spec),
        _packed("module", machine.module.code),
        _packed("memory", memory),
        f'<script type="text/plain" id="worker">"use strict";\n{player.scripts_of("pliant.live", WORKER)}</script>\n',
    ))  # fmt: skip
    script = "\n".join((player.scripts_of("pliant.show", player.SCRIPTS), player.scripts_of("pliant.live", EMBEDDED)))
    more = {
        "scripts": " 'wasm-unsafe-eval' blob:",
        "policy": "; worker-src blob:",
        "before": player.scripts_of("pliant.live", ("panel.html",)),
        "after": after,
        "style_more": player.scripts_of("pliant.live", ("live.css",)),
    }
    return player.document(result.name, header, "", player.warnings_list(result, _notes(machine)), script, more)


def _notes(machine: LiveMachine) -> list[str]:
    """What to know of numbers that are looked up."""
    if machine.table.error <= TOLD:
        return []
    return [f"where sliders of parameters are moved, numbers are off by up to {machine.table.error:.1g} of their size; "
            "where they stand as the page began, they are exact"]  # fmt: skip


def _stresses(machine: LiveMachine, scene: Scene, recipe: Recipe) -> dict[str, Any]:
    """How the page computes stresses, and the sliders with which they would change: with these moved it has none."""

    def at(values: Mapping[str, float]) -> dict[str, Any]:
        return stresses_of(machine.tree_at(values), scene.drawing.bodies, recipe.coordinate)

    found = at({})
    changing = [k for k, slider in enumerate(machine.sliders)
                if found and slider.place is None and slider.low < slider.high
                and at({slider.name: slider.high if slider.high != slider.value else slider.low}) != found]  # fmt: skip
    return {"beams": found, "changing": changing}


def _model(machine: LiveMachine, result: Result) -> list[Any] | None:
    """The text of a model file in pieces, with the numbers of sliders between them; None if Python functions are part of it."""
    own = [(k, slider) for k, slider in enumerate(machine.sliders) if slider.place is None]
    marks = {slider.name: slider.low + (slider.high - slider.low) * (0.3819660113 + 0.0123 * k) for k, slider in own}
    system = mechanism_of(system_of(result, "page"), "page")
    settings = RunSettings(t_end=float(result.time[-1]), t_start=float(result.time[0]), method=machine.run.stepper.method)
    try:
        marked = dump_model(system, settings, marks)
        found = {k: repr(marks[slider.name]) for k, slider in own if marked.count(repr(marks[slider.name])) == 1}
        text = dump_model(system, settings, {slider.name: marks[slider.name] for k, slider in own if k in found})
    except ModelError:
        return None
    pieces: list[Any] = [text]
    for k, mark in found.items():
        for at, piece in enumerate(pieces):
            if isinstance(piece, str) and mark in piece:
                before, after = piece.split(mark)
                pieces[at : at + 1] = [before, {"slider": k}, after]
                break
    for k, slider in enumerate(machine.sliders):
        if k not in found:
            pieces += [f"# in the page: {slider.name} = ", {"slider": k}, f" {slider.unit}\n"]
    return pieces


def _json(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{player.as_json(value)}</script>\n'


def _packed(name: str, data: bytes) -> str:
    text = base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")
    return f'<script type="text/plain" id="{name}">{text}</script>\n'

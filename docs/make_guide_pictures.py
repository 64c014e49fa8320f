"""Makes docs/pictures/guide and docs/pictures/recipes: one picture for each page, drawn from what the page's own code computes.

    python docs/make_guide_pictures.py [NAME ...]

A page whose picture is not in DRAWINGS shows the snapshots of its variable `result` or `run`. Look at what comes out.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image

import pliant as pl
from pliant.beams import beam_shapes
from pliant.model.friction_law import BristleLaw
from pliant.model.normal_law import NORMAL_LAWS
from pliant.show.plot.style import PALETTE, QUIET, TIME, figure, legend, look, styled
from pliant.show.scene import Scene

mpl.use("Agg")
HERE = Path(__file__).parent
DPI, COLOURS = 160, 128  # sharp on screens with two pixels to one
WIDE = 7.0  # inches: of one panel, and of several in one picture
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.yaml)\n")  # the first line of a block that is a file
Names = dict[str, Any]
Drawing = Callable[[Names], Any]


@contextlib.contextmanager
def computed(page: Path) -> Iterator[Names]:
    """What the code of a page leaves behind, by name, in the folder where it ran."""
    names: Names = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for language, code in BLOCK.findall(text):
            if language == "yaml" and (file := FILE_NAME.match(code)):
                Path(file[1]).write_text(code, encoding="utf-8")
            if language == "python":
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, str(page), "exec"), names)
        yield names


def snapshots(*times: float, scale: float = 1.0) -> Drawing:
    """The mechanism at these times."""
    return lambda names: pl.plot.mechanism(_run(names), times=list(times) or None, scale=scale)


def _run(names: Names) -> pl.Result:
    found = names.get("result", names.get("run"))
    assert isinstance(found, pl.Result)
    return found


def curves(xlabel: str, ylabel: str, lines: Callable[[Names], dict[str, tuple[Any, Any]]], *, dots: str = "",
           height: float = 3.0, log: str = "") -> Drawing:  # fmt: skip
    """One panel with lines by name."""

    def drawing(names: Names) -> Any:
        @styled
        def draw() -> Any:
            made, ((panel,),) = figure(1, 1, height=height, width=WIDE)
            for k, (name, (x, y)) in enumerate(lines(names).items()):
                marked = {"marker": dots[0], "markersize": 4} if dots else {}
                panel.plot(x, y, label=name, **look(k) | marked | ({"linestyle": ""} if dots == "." else {}))
            panel.set(xlabel=xlabel, ylabel=ylabel)
            if "x" in log:
                panel.set_xscale("log")
            if "y" in log:
                panel.set_yscale("log")
            if len(panel.lines) > 1:
                legend(panel)
            return made

        return draw()

    return drawing


def two(left: Drawing, right: Drawing) -> Drawing:
    """Two pictures, one below the other."""

    def both(names: Names) -> Image.Image:
        images = [_image(drawing(names), WIDE) for drawing in (left, right)]
        whole = Image.new("RGB", (max(image.width for image in images), sum(image.height for image in images)), "white")
        top = 0
        for image in images:
            whole.paste(image, (0, top))
            top += image.height
        return whole

    return both


def _image(made: Any, width: float | None = None) -> Image.Image:
    if isinstance(made, Image.Image):
        return made
    if width is not None:
        made.set_figwidth(width)
    buffer = io.BytesIO()
    made.savefig(buffer, dpi=DPI)
    return Image.open(buffer).convert("RGB")


# ------------------------------------------------------------------------------------------------------------------ guide


def _frame_of_a_beam(_: Names) -> Any:
    @styled
    def draw() -> Any:
        made, (panels,) = figure(1, 2, height=2.9, width=8.0)
        x = np.linspace(0.0, 1.0, 60)
        for panel, across, about in zip(panels, "yz", ("+z", "-y"), strict=True):
            panel.plot([0, 1], [0, 0], ":", color=QUIET)
            panel.plot(x, 0.28 * x**2 * (3 - x) / 2, color=PALETTE[0], linewidth=4, solid_capstyle="round")
            for end, name in (((0.3, 0.0), "x"), ((0.0, 0.3), across)):
                panel.annotate("", end, (0, 0), arrowprops={"arrowstyle": "->", "color": PALETTE[1], "linewidth": 1.6})
                panel.text(end[0] + 0.02, end[1] + 0.02, name, color=PALETTE[1])
            panel.text(0.0, -0.1, "root, x = 0", ha="center", va="top")
            panel.text(1.0, 0.33, "tip, x = length", ha="right", va="bottom")
            panel.set_title(f"plane {across}: sections rotate about {about}")
            panel.set(xlim=(-0.2, 1.1), ylim=(-0.2, 0.5), aspect="equal")
            panel.axis("off")
        return made

    return draw()


def _sections(names: Names) -> Any:
    from matplotlib.patches import Annulus, Circle, Rectangle

    @styled
    def draw() -> Any:
        made, ((panel,),) = figure(1, 1, height=2.8, width=7.5)
        shapes = [(names["flat"], Rectangle((-15, -2), 30, 4)), (names["pipe"], Annulus((40, 0), 12, 2)),
                  (names["shaft"], Circle((75, 0), 8))]  # fmt: skip
        for (section, patch), middle, title in zip(shapes, (0, 40, 75), ("rectangle", "tube", "round"), strict=True):
            patch.set(facecolor=PALETTE[5], edgecolor=PALETTE[0])
            panel.add_patch(patch)
            words = f"{title}\nA = {section.A * 1e6:.0f} mm²\nIz = {section.Iz * 1e12:.0f} mm⁴\nIy = {section.Iy * 1e12:.0f} mm⁴"
            panel.text(middle, -15, words, ha="center", va="top", fontsize=9)
        panel.set(xlim=(-20, 90), ylim=(-33, 14), aspect="equal", xlabel="z, mm", ylabel="y, mm")
        panel.set_yticks([-10, 0, 10])
        panel.grid(False)
        return made

    return draw()


def _shapes_of(names: Names) -> dict[str, tuple[Any, Any]]:
    shapes, x = names["shapes"], np.linspace(0.0, 0.8, 100)
    return {f"{label}, {w / 2 / np.pi:.1f} Hz": (x, shapes.displacement(x)[:, 1, k])
            for k, (label, w) in enumerate(zip(shapes.labels, shapes.frequencies, strict=True))}  # fmt: skip


def _end_conditions(_: Names) -> Any:
    @styled
    def draw() -> Any:
        made, panels = figure(2, 3, height=1.8, width=8.0)
        x = np.linspace(0.0, 1.0, 100)
        for panel, ends in zip(np.ravel(panels), ("cf", "ss", "cc", "cs", "ff", "sf"), strict=True):
            beam = pl.Beam(length=1.0, section=pl.Section.round(0.01), material=pl.STEEL, theory="euler-bernoulli",
                           modes=pl.Modes(ends, 2))  # fmt: skip
            columns = np.asarray(beam_shapes(beam).displacement(x))[:, 1]
            for k in range(2):
                panel.plot(x, columns[:, k], **look(k))
            panel.axhline(0.0, color=QUIET, linewidth=0.8)
            panel.set_title(ends)
            panel.set(xticks=[0, 1], xticklabels=["root", "tip"])
        return made

    return draw()


def _element_errors(names: Names) -> dict[str, tuple[Any, Any]]:
    def error(modes: Any) -> float:
        return float(names["first_frequency"](modes) / names["exact"] - 1.0)

    counts = [1, 2, 3, 4, 6, 8, 12, 16]
    mesh = [error(pl.ElementModes(n, reference="cantilever")) for n in counts]
    return {"elements": (counts, mesh)}


def _given_shapes(names: Names) -> dict[str, tuple[Any, Any]]:
    x = np.linspace(0.0, 0.8, 100)
    tabled, natural = (beam_shapes(names["strip"](modes=modes)).displacement(x)[:, 1, 0]
                       for modes in (pl.GivenModes([names["measured"]]), pl.Modes("cf", 1)))  # fmt: skip
    columns = {"parabola": x**2, "measured": tabled, "natural": natural}
    return {name: (x, column / column[-1]) for name, column in columns.items()}


def _twists(names: Names) -> dict[str, tuple[Any, Any]]:
    counts = [1, 2, 4, 8, 16]
    return {"torsion modes": (counts, [1.0 - names["twist"](pl.TorsionModes("cf", n)) for n in counts])}


def _spinning(_: Names) -> dict[str, tuple[Any, Any]]:
    speeds = np.linspace(0.0, 0.9, 10)
    lines = {}
    for stiffening in ("full", "none"):
        blade = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.005, width=0.02), material=pl.STEEL,
                        theory="euler-bernoulli", modes=pl.Modes("cf", 3), stiffening=stiffening)  # fmt: skip
        first = float(beam_shapes(blade).frequencies[0])
        system = pl.System("blade", gravity=(0, 0))
        system.add("blade", blade, joint=pl.Revolute())
        diagram = pl.campbell(system, over={"blade.angle": speeds * first})
        lines[f"stiffening '{stiffening}'"] = (speeds, np.nanmin(np.asarray(diagram.frequencies), axis=1) / first)
    return lines


def _decays(names: Names) -> dict[str, tuple[Any, Any]]:
    runs = {"Kelvin-Voigt, air and modal": names["run"], "Rayleigh": names["plucked"](names["rayleigh"])}
    return {name: (run.time, run["strip.y1"] * 1e3) for name, run in runs.items()}


def _restitutions(_: Names) -> dict[str, tuple[Any, Any]]:
    asked = np.linspace(0.1, 1.0, 19)
    lines = {}
    for kind in NORMAL_LAWS:
        with contextlib.suppress(TypeError, pl.PliantError):
            laws = [kind(stiffness=1e7, restitution=float(e)) for e in asked]
            lines[kind.__name__] = (asked, [law.delivered for law in laws])
    return lines


def _orbit(names: Names, clearance: float) -> dict[str, tuple[Any, Any]]:
    x, y = names["orbits"][clearance].T / clearance
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    return {f"journal, {1e3 * clearance:g} mm": (x, y), "bearing": (np.cos(turn), np.sin(turn))}


def _over_the_bar(names: Names) -> dict[str, tuple[Any, Any]]:
    """The axis of the beam at three times, and what it touches: the bar, thicker by the radius of the beam."""
    times, turn, reach = np.array([0.0, 0.2, 0.4]), np.linspace(0.15 * np.pi, 0.85 * np.pi, 121), names["BAR"] + 0.004
    scene = Scene(names["run"])
    (line, *_), (rows,) = scene.drawing.bodies[0].lines, scene.positions(times)
    axes = {f"axis at {t:g} s": row[list(line), :2].T for t, row in zip(times, rows, strict=True)}
    return axes | {"bar, one beam's radius thicker": (0.5 + reach * np.cos(turn), -0.02 - names["BAR"] + reach * np.sin(turn))}


def _touch(names: Names) -> dict[str, tuple[Any, Any]]:
    """Of the page's load, where the beam touches the bar; nothing while it does not."""
    return {"": (names["run"].time, np.where(names["touching"], 1e3 * names["touch"], np.nan))}


def _impacts(names: Names) -> dict[str, tuple[Any, Any]]:
    """The speed of the crank around its first impact, by both kinds of contact."""
    begin, found = names["crank"].contacts[0].begin, {}
    impulsive = names["with_law"](names["slider_crank"](0), pl.Impulsive(restitution=names["delivered"]))
    for name, system in (("compliant", names["slider_crank"](0)), ("impulsive", impulsive)):
        run = pl.simulate(system, begin + 2e-4, save=[0.0, *(begin + np.linspace(-1e-4, 2e-4, 601))])
        found[name] = 1e3 * (run.time[1:] - begin), run["v", "crank.angle"][1:]
    return found


def _frictions(_: Names) -> dict[str, tuple[Any, Any]]:
    laws = [pl.Coulomb(mu=0.3, transition=5e-3), pl.CoulombStiction(mu_static=0.4, mu_kinetic=0.3, v_static=5e-3, v_kinetic=2e-2),
            pl.Stribeck(mu_static=0.4, mu_kinetic=0.25, v_stribeck=2e-2, viscous=0.5, transition=2e-3),
            pl.Threlfall(mu=0.3, v_r=3e-2),
            pl.BengisuAkay(mu_static=0.4, mu_kinetic=0.25, v0=8e-3, xi=80.0), pl.Ambrosio(mu=0.3, v0=5e-3, v1=2e-2)]  # fmt: skip
    assert not any(isinstance(law, BristleLaw) for law in laws)
    speed = np.linspace(0.0, 0.06, 300)
    return {type(law).__name__: (speed * 1e3, [float(law.coefficient(v)) for v in speed]) for law in laws}


def _bars(labels: list[str], values: list[float], xlabel: str) -> Any:
    @styled
    def draw() -> Any:
        made, ((panel,),) = figure(1, 1, height=0.6 + 0.4 * len(labels), width=7.0)
        panel.barh(labels, values, color=PALETTE[0])
        panel.invert_yaxis()
        for k, value in enumerate(values):
            panel.text(value, k, f" {value:.4g}", va="center")
        panel.set(xlabel=xlabel, xlim=(0, 1.15 * max(values)))
        panel.grid(axis="y", visible=False)
        return made

    return draw()


def _mass_matrix(names: Names) -> Any:
    import sympy

    made, ((panel,),) = figure(1, 1, height=1.1, width=7.0)  # not `styled`, which shows formulas as plain text
    matrix = names["symbols"].mass_matrix.applyfunc(lambda entry: sympy.nsimplify(entry, rational=True))
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1))):
        entry = sympy.latex(matrix[i, j]).replace(r"\left", "").replace(r"\right", "")
        panel.text(0.05, 0.9 - 0.4 * k, f"$M_{{{i + 1}{j + 1}}} = {entry}$", fontsize=13, va="center")
    panel.axis("off")
    return made


def _matrices(names: Names) -> Any:
    @styled
    def draw() -> Any:
        made, (panels,) = figure(1, 2, height=3.2, width=7.5)
        for panel, name in zip(panels, ("I", "N"), strict=True):
            size = np.log10(np.abs(np.asarray(getattr(names["state"], name))) + 1e-12)
            image = panel.imshow(np.where(size > -9, size, np.nan), aspect="auto", cmap="viridis")
            panel.set_title(f"{name}, log10 of its entries")
            panel.set_xticks(range(len(names["state"].coordinates)), names["state"].coordinates, rotation=30, fontsize=7)
            panel.grid(False)
            made.colorbar(image, ax=panel)
        return made

    return draw()


def _seconds(names: Names) -> Any:
    return _bars(["first run", "second run"], [1e3 * value for value in names["seconds"]], "time of the call, ms")


@styled
def _experiments(n: Names) -> Any:
    """The inputs; below, every fourth row of the data as dots, and the fitted runs."""
    made, ((above,), (below,)) = figure(2, 1, height=2.3, width=WIDE)
    for k, part in enumerate(n["fit"].experiments):
        above.plot(n["time"], n["currents"][part.name], label=part.name, **look(k))
        below.plot(part.result.time, part.result["bar.angle"], **look(k))
        below.plot(part.time[::4], part.measured["bar.angle"][::4], **look(k) | {"linestyle": "", "marker": "o", "markersize": 3})
    above.set(ylabel="current, A")
    below.set(xlabel=TIME, ylabel="angle, rad")
    legend(above)
    return made


def series(*coordinates: str, label: str = "angle, rad", factor: float = 1.0) -> Drawing:
    """Coordinates of the run over time."""
    return curves(TIME, label, lambda names: {name: (_run(names).time, factor * _run(names)[name]) for name in coordinates})


def photographed(_: Names) -> Image.Image:
    """The page that the code has written, with a run kept and another one made; it needs Chromium and playwright."""
    import shutil

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")

        def until(condition: str) -> None:
            while not page.evaluate(f"Boolean({condition})"):  # the page's policy lets nothing wait inside it
                page.wait_for_timeout(50)

        page.goto(Path("arm.html").absolute().as_uri())
        until("window.pliant && pliant.ready")
        page.keyboard.press("k")
        before = page.evaluate("pliant.runs")
        page.evaluate('pliant.set("payload", 0.6)')
        until(f"pliant.runs > {before}")
        page.evaluate("pliant.seek(pliant.run.touches[0].peak_time)")
        page.wait_for_timeout(500)
        data = page.screenshot()
        browser.close()
    return Image.open(io.BytesIO(data)).convert("RGB")


def efforts(names: Names) -> dict[str, tuple[Any, Any]]:
    run = names.get("asked", names.get("run"))
    return {str(drive): (run.time, run.data["effort"].sel(drive=drive)) for drive in run.labels["drive"]}


def _events(names: Names) -> Any:
    @styled
    def draw() -> Any:
        run = names["run"]
        made, ((panel,),) = figure(1, 1, height=2.8, width=7.0)
        panel.plot(run.time, np.degrees(run["bar.angle"]), **look(0))
        for event in run.events:
            panel.plot(event.t, np.degrees(np.interp(event.t, run.time, run["bar.angle"])), "o", color=PALETTE[1])
        panel.set(xlabel=TIME, ylabel="angle, degrees")
        return made

    return draw()


def _reactions(names: Names) -> dict[str, tuple[Any, Any]]:
    tree, floating = names["tree"], names["floating"]
    lines = {f"reaction, {axis}": (tree.time, tree.data["reaction_force"].sel(body="upper", axis=axis)) for axis in "xy"}
    every = slice(None, None, 40)
    return lines | {f"multiplier {k}": (floating.time[every], floating.data["multiplier"].sel(row=f"upper joint {k}")[every])
                    for k in range(2)}  # fmt: skip


def _scatter(names: Names) -> dict[str, tuple[Any, Any]]:
    return {"stones": (names["heights"], names["drops"].q_end.sel(coordinate="stone.x").values)}


def _bands(names: Names) -> Any:
    """The end of the swing, where the bands are wide enough to be seen."""
    made = names["found"].bands("arm.angle").plot()
    made.axes[0].set(xlim=(3.3, 4.0), ylim=(-1.83, -1.36))
    return made


DRAWINGS: dict[str, Drawing] = {
    "identifiability": lambda n: n["vague"].identifiability.plot(),
    "fit-reports": _bands,
    "guide": snapshots(0.0, 0.25, 0.5, scale=5.0),
    "units": _frame_of_a_beam,
    "sections": _sections,
    "beams": curves("x, m", "deflection, largest 1", _shapes_of),
    "modes": _end_conditions,
    "static-correction": curves("torsion modes", "error of the twist", _twists, dots="o-", log="xy"),
    "own-shapes": curves("x, m", "deflection, 1 at the tip", _given_shapes),
    "elements": curves("elements", "error of the first frequency", _element_errors, dots="o-", log="xy"),
    "stiffening": curves("speed / first frequency at rest", "first frequency / at rest", _spinning, dots="o-"),
    "damping": curves(TIME, "first modal coordinate, mm", _decays),
    "rigid-bodies": snapshots(0.0, 0.3, 0.6),
    "modal-bodies": snapshots(0.0, 0.1, 0.2, scale=20.0),
    "telescopic": lambda n: pl.plot.coordinates(n["result"]),
    "frames": snapshots(0.0, 0.3),
    "joints": two(series("cart.displacement", label="displacement, m"), series("flap.angle")),
    "motion": two(series("motor.angle"), curves(TIME, "torque, N m", lambda n: {"": (n["run"].time, n["torque"])})),
    "signals": two(curves(TIME, "effort, N m", efforts), series("bar.angle")),
    "drives": curves(TIME, "work, J", lambda n: {name: (n["run"].time, work) for name, work in n["run"].ledger.work.items()}),
    "sensors": two(curves(TIME, "strain, 1e-6", lambda n: {"": (n["run"].time, n["measured"]["strain"])}),
                   curves(TIME, "acceleration, m/s²", lambda n: {"": (n["run"].time, n["run"]["imu.y"])})),
    "events": _events,
    "contact": two(curves(TIME, "height, m", lambda n: {"": (n["run"].time, n["run"]["sphere.y"])}, height=2.2),
                   lambda n: pl.plot.contact_forces(pl.simulate(n["ball"], 1.0, save="steps"), zoom=0)),
    "clearance": two(*(curves("x / clearance", "y / clearance", partial(_orbit, clearance=c), height=4.2) for c in (1e-4, 5e-4))),
    "solids": snapshots(0.0, 0.3, 2.0),
    "along-beams": two(curves("x, m", "y, m", _over_the_bar, height=4.2),
                       curves(TIME, "touch beyond the top of the bar, mm", _touch)),
    "contact-records": lambda n: _bars([f"{record.begin:.2f} s" for record in n["run"].contacts],
                                       [record.peak_force for record in n["run"].contacts], "peak force, N"),
    "normal-laws": curves("restitution asked", "restitution delivered", _restitutions, height=4.2),
    "impulsive": two(curves("stiffness, N/m^1.5", "largest difference, rad", lambda n: {"": (n["stiffnesses"], n["distances"])},
                            dots="o-", log="xy"),
                     curves("time since the impact, ms", "crank, rad/s", _impacts)),
    "friction-laws": curves("slip speed, mm/s", "coefficient of friction", _frictions),
    "loops": snapshots(0.0, 0.5, 0.8),
    "loop-conditions": snapshots(0.0, 0.25, 0.5),
    "constraints": curves("x, m", "y, m", lambda n: {"": (n["run"]["body.x"], n["run"]["body.y"])}),
    "absolute-coordinates": lambda n: curves(TIME, "force, N", _reactions)(n),
    "running": lambda n: pl.plot.coordinates(n["result"], ["rod.angle", "rod.y1"]),
    "methods": lambda n: _bars(list(n["evaluations"]), list(n["evaluations"].values()), "evaluations of the right-hand side"),
    "parameters": curves(TIME, "angle, rad", lambda n: {f"{mass:g} kg": (run.time, run["upper.angle"])
                                                        for mass, run in n["runs"].items()}),
    "experiments": _experiments,
    "sweep": lambda n: pl.plot.sweep(n["swept"].sel(reach=0.5), ["upper.angle"]),
    "ensemble": curves("height of the start, m", "distance after 1 s, m", _scatter, dots="."),
    "inverse-dynamics": curves(TIME, "torque, N m", efforts),
    "equations": _mass_matrix,
    "denoc": _matrices,
    "results": lambda n: pl.plot.overview(n["result"]),
    "quantities": curves(TIME, "force on the bar, N", lambda n: {axis: (n["result"].time, n["force"].sel(axis=axis))
                                                                 for axis in "xy"}),
    "statistics": lambda n: _bars([f"rtol {rtol:g}" for rtol in n["results"]],
                                  [run.stats["rhs_evaluations"] / 1e3 for run in n["results"].values()],
                                  "evaluations of the right-hand side, thousands"),
    "ledger": lambda n: pl.plot.ledger(n["result"]),
    "result-files": curves(TIME, "angle, rad", lambda n: {"first run, from its file": (n["again"].time, n["again"]["bar.angle"]),
                                                          "continued": (n["rest"].time, n["rest"]["bar.angle"])}),
    "series": lambda n: pl.plot.series(n["runs"], "lower.angle", "tip_position lower y", zoom=(0.4, 0.6)),
    "showing": snapshots(0.1, 0.2, 0.3, scale=10.0),
    "live-pages": photographed,
    "pages-and-films": snapshots(0.0, 0.2, 0.4, scale=10.0),
    "model-files": snapshots(0.0, 0.15, 0.3, scale=5.0),
    "model-file-keys": series("bar.angle"),
    "model-file-definitions": curves(TIME, "angle, rad", lambda n: {f"L = {length:g} m": (run.time, run["arm.angle"])
                                                                    for length, run in n["runs"].items()}),
    "model-file-bodies": snapshots(0.0, 0.3, scale=5.0),
    "model-file-joints": two(series("cart.displacement", label="displacement, m"), series("pendulum.angle")),
    "model-file-laws": lambda n: pl.plot.paths(n["run"]),
    "command-line": lambda n: pl.plot.ledger(n["result"]),
    "caches": _seconds,
    "threads": curves(TIME, "angle, rad", lambda n: {f"from {run['bar.angle'][0]:g} rad": (run.time, run["bar.angle"])
                                                     for run in n["runs"]}),
    "troubleshooting": curves(TIME, "rate, rad/s", lambda n: {"": (n["run"].time, n["run"].rate("upper.angle"))}, log="y"),
}  # fmt: skip


def _controlled(names: Names) -> Any:
    run = pl.simulate(names["arm"], 2.0, save="steps")  # every step of the impacts
    angle = curves(TIME, "angle, degrees", lambda n: {"": (run.time, np.degrees(run["link.angle"]))}, height=2.2)
    return two(angle, lambda n: pl.plot.contact_forces(run, zoom=0))(names)


def _map(names: Names) -> Any:
    data = names["data"]
    data["largest_deflection"].attrs |= {"units": "m"}
    return pl.plot.sweep(data)


RECIPES: dict[str, Drawing] = {
    "pd-arm-wall": _controlled,
    "payload-stiffness": _map,
    "damping-from-decay": lambda n: n["found"].plot(),
    "eigenfrequencies": lambda n: pl.plot.mode_shape(n["modes"]),
    "millimetres": series("tray.displacement", label="displacement, m"),
    "film": snapshots(0.0, 0.5, 1.0, scale=5.0),
    "belt": curves(TIME, "stretch of the belt, mm", lambda n: {"": (n["elastic"].time, 1e3 * n["slip"])}),
    "gripper": curves(
        TIME,
        "height of the ball, m",
        lambda n: {f"{name} grip": (n[name].time, n[name]["ball.y"]) for name in ("firm", "loose")},
    ),
    "cable-pendulum": snapshots(0.0, 0.7, 1.4),
    "trimmed-arm": curves(
        TIME,
        "deviation, degrees",
        lambda n: {name: (n["result"].time, np.degrees(n["result"][name] - n["rest"][name])) for name in n["rest"].hold},
    ),
}


def pages() -> dict[str, tuple[Path, Path]]:
    """Every page that has a picture of its own, by name: the page, its picture."""
    found = {}
    for folder in ("guide", "recipes"):
        for page in sorted(path for path in (HERE / folder).glob("*.md") if path.stem != "index"):
            found[page.stem] = page, HERE / "pictures" / folder / f"{page.stem}.png"
    for name in ("guide", "troubleshooting"):
        found[name] = HERE / f"{name}.md", HERE / "pictures" / "guide" / f"{name}.png"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args().names
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name, (page, target) in pages().items():
        if asked and name not in asked:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with computed(page) as names:
            picture = _image((DRAWINGS | RECIPES).get(name, snapshots())(names))
        picture.quantize(COLOURS).save(target, optimize=True)
        print(f"{target.relative_to(HERE)} {target.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()

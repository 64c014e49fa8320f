"""Makes docs/pictures: every kind of plot, a film, and the page that plays, from published systems and one in space.

    python docs/make_pictures.py [--out docs/pictures] [--only NAME ...]

Screenshots of the page need Chromium and playwright; without them the rest is made. Look at what comes out before committing it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

import pliant as pl
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.parallel_robot import parallel_robot
from pliant.gallery.slider_crank.system import slider_crank
from pliant.gallery.tipping_arm import tipping_arm

WINDOW = {"width": 1280, "height": 720}
DPI = 100


def spatial_arm() -> pl.System:
    """Two elastic links that bend both ways and twist, with a ball at the end, swing down onto a floor."""
    tube = pl.Section.tube(0.012, 0.010)
    modes = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.TorsionModes("cf", 1)]
    link = pl.Beam(length=0.8, section=tube, material=pl.ALUMINIUM, theory="euler-bernoulli", modes=modes,
                   damping=[pl.KelvinVoigt(2e6)])  # fmt: skip
    system = pl.System("spatial arm", gravity=(0.0, 0.0, -9.81))
    column = system.add("column", pl.RigidBody(mass=2.0, inertia=(0.02, 0.02, 0.02), tip=(0.0, 0.0, 0.5)),
                        joint=pl.Revolute(axis="z", rate=1.5))  # fmt: skip
    upper = system.add("upper", link, joint=pl.Revolute(axis="y", angle=-0.7, damper=pl.Damper(0.3)), on=column.tip)
    lower = system.add("lower", link, joint=pl.Revolute(axis="y", angle=1.1, damper=pl.Damper(0.15)), on=upper.tip)
    ball = system.add("ball", pl.RigidBody(mass=0.3, inertia=(1e-4, 1e-4, 1e-4)), joint=pl.Weld(), on=lower.tip)
    normal, friction = pl.HuntCrossley(stiffness=2e6, restitution=0.6), pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2)
    floor = pl.Plane(normal=(0, 0, 1))
    system.contact(points=pl.Sphere(ball.root, 0.05), against=floor, normal=normal, friction=friction, name="floor")
    return system


def _both(system: pl.System, t_end: float, rows: int = 1500) -> pl.Result:
    """Rows even in time, and every step too: smooth flights and whole impacts."""
    compiled = pl.compile_system(system)
    steps = pl.simulate(compiled, t_end, save="steps").time
    return pl.simulate(compiled, t_end, save=np.unique(np.concatenate([steps, np.linspace(0.0, t_end, rows)])).tolist())


@cache
def chain() -> pl.Result:
    return _both(falling_chain(), 1.5)


@cache
def rough() -> pl.Result:
    return pl.simulate(falling_chain(), 1.5, method=pl.RKF45(rtol=1e-4, atol=1e-7), save=1e-3)


@cache
def tipping() -> pl.Result:
    return _both(tipping_arm(), 1.2)


@cache
def crank() -> pl.Result:
    return _both(slider_crank(4, damped=True), 0.06)


@cache
def robot() -> pl.Result:
    return pl.simulate(parallel_robot(), 4.0)


@cache
def spatial() -> pl.Result:
    return _both(spatial_arm(), 2.0)


@cache
def driven() -> pl.Result:
    model = pl.load_model(Path(__file__).parents[1] / "examples" / "driven_arm.yaml")
    assert model.run is not None
    return pl.simulate(model.system, model.run.t_end, **model.run.options)


def lifting_arm() -> pl.System:
    """The arm of docs/sweeps.md."""
    page = (Path(__file__).parent / "sweeps.md").read_text(encoding="utf-8")
    model = re.search(r"```yaml\n(# arm.yaml\n.*?)```", page, re.DOTALL)
    assert model is not None
    return pl.loads_model(model[1]).system


def largest_deflection(result: pl.Result) -> float:
    return float(np.abs(result.of_body("tip_deflection", "arm")[:, 1]).max())


def lifts(over: object, keep: object = largest_deflection) -> object:
    return pl.sweep(lifting_arm(), over, {"t_end": 0.8, "save": 4e-3}, keep)  # type: ignore[arg-type]


def _family() -> object:
    data = lifts({"payload": np.linspace(0.1, 1.0, 10)}, ["arm.angle", "tip_deflection"])
    return pl.plot.sweep(data, ["arm.angle", "tip_deflection arm y"])


def _deflections(**counts: int) -> object:
    ends = {"payload": (0.1, 1.0), "E": (40e9, 200e9), "height": (7e-3, 10e-3)}
    data = lifts({name: np.linspace(*ends[name], count) for name, count in counts.items()})
    data["largest_deflection"].attrs |= {"units": "m"}
    return pl.plot.sweep(data)


def _points() -> object:
    tolerances = {"payload": ("truncated_normal", 0.5, 0.05, 0.0, 2.0), "E": ("normal", 70e9, 1.5e9),
                  "height": ("uniform", 7.9e-3, 8.1e-3)}  # fmt: skip
    data = lifts(pl.Sample(tolerances, 128, "sobol", seed=1))
    data["largest_deflection"].attrs |= {"units": "m"}
    return pl.plot.sweep(data)


@cache
def analysed() -> dict[str, object]:
    """What docs/analysis.md computes, by the names it has there: the page is run."""
    page = (Path(__file__).parent / "analysis.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile("\n".join(blocks), "analysis.md", "exec"), names)
    return names


def _elastica() -> object:
    """The strip at rest under four loads."""
    from pliant.show.plot.style import figure, legend, look, styled

    @styled
    def draw() -> object:
        made, ((panel,),) = figure(1, 1, height=3.6, width=7.0)
        for k, load in enumerate((1.0, 2.0, 5.0, 10.0)):
            rest = pl.equilibrium(analysed()["segments"](16, (0.0, -120.0 * load)))  # type: ignore[operator]
            points = np.vstack([np.zeros(3), rest.values["tip_position"]])
            panel.plot(points[:, 0], points[:, 1], marker="o", markersize=3, label=f"P L²/EI = {load:g}", **look(k))
        panel.set(xlabel="x/L", ylabel="y/L", aspect="equal")
        panel.set_title("a clamped strip in sixteen segments at rest", loc="left")
        legend(panel)
        return made

    return draw()


def swinging_fourbar() -> pl.Result:
    return analysed()["modes"].animated(1, size=0.15)  # type: ignore[attr-defined, no-any-return]


@cache
def stressed() -> pl.Result:
    """The spatial arm with the stresses of its links."""
    return spatial().with_sections(pl.stresses(spatial()))


def struck(count: int) -> pl.Result:
    """A pinned beam that swings on a stop with its tip."""
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("sf", count))  # fmt: skip
    system = pl.System("struck", gravity=(0, 0, 0))
    arm = system.add("arm", beam, joint=pl.Revolute(rate=-1.0))
    stop = pl.Plane(normal="y", point=(0.0, -1e-6, 0.0))
    system.contact(points=pl.Point(arm.tip), against=stop, normal=pl.Linear(stiffness=2e4, damping=0.0))
    return pl.simulate(system, 0.02, save=1e-4)


def _convergence() -> object:
    """Errors of the bending moment over the number of modes, by balance and by curvature."""
    from pliant.show.plot.style import PALETTE, QUIET, figure, styled

    counts = (1, 2, 3, 4, 6, 8, 12)
    runs = {count: struck(count) for count in (*counts, 24)}
    exact = pl.section_forces(runs[24], stations=5)["bending_moment_z"]

    def draw() -> object:
        made, ((panel,),) = figure(height=3.4, width=5.6)
        for by, marker, colour in (("curvature", "s-", PALETTE[1]), ("balance", "o-", PALETTE[0])):
            moments = [pl.section_forces(runs[count], stations=5, by=by)["bending_moment_z"] for count in counts]
            errors = [float(np.sqrt(((moment - exact) ** 2).mean()) / abs(exact).max()) for moment in moments]
            panel.loglog(counts, errors, marker, markersize=4, color=colour, label=f"by {by}")
        for power, first, dash in ((-1.5, 1.6e-2, "--"), (-3.0, 2e-3, ":")):  # to see slopes by
            panel.loglog(counts[2:], first * (np.array(counts[2:]) / 3.0) ** power, dash, color=QUIET, label=f"n^{power:g}")
        panel.set(xlabel="modes, n", ylabel="error of the bending moment, of its largest", title="struck: convergence")
        panel.set_xticks(counts, [str(count) for count in counts], minor=False)
        panel.minorticks_off()
        panel.legend(fontsize="small")
        return made

    return styled(draw)()  # type: ignore[arg-type]


def elastica(load: float, n: int, stiffening: str = "auto") -> pl.Result:
    """A cantilever of n segments in balance with a load of so many E I / l^2 across its root."""
    section = pl.Section.rectangle(height=0.002, width=0.02)
    beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1),
                   stiffening=stiffening)  # fmt: skip
    system = pl.System("elastica", gravity=(0.0, 0.0))
    rod = system.add("rod", pl.segmented(beam, n), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, lambda t, q, v: load * pl.STEEL.E * section.Iz * t))
    steps = np.linspace(0.0, 1.0, 1 + max(5, 4 * int(load)))
    return pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=list(steps))


def _large_deflection() -> object:
    """Shapes of the elastica, and how the tip converges to that of 128 segments."""
    import matplotlib.pyplot as plt

    figure, (shapes, errors) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    loads, colours = (1.0, 2.0, 5.0, 10.0), ("#1f5fa8", "#2f8f4e", "#c77b1e", "#b0203a")
    for load, colour in zip(loads, colours, strict=True):
        whole = elastica(load, 16)
        x, y = np.vstack([np.zeros(3), whole.values["tip_position"][-1]]).T[:2]
        shapes.plot(x, y, "o-", color=colour, markersize=3, label=f"{load:g}")
        exact = elastica(load, 128).values["tip_position"][-1, -1, :2]
        for stiffening, line in (("none", ":"), ("full", "--"), ("cubic", "-")):
            counts = [2, 4, 8, 16, 32]
            off = [float(np.hypot(*(elastica(load, n, stiffening).values["tip_position"][-1, -1, :2] - exact))) for n in counts]
            errors.loglog(counts, off, line, color=colour, marker="o", markersize=3, base=2, nonpositive="mask")
    shapes.set(aspect="equal", xlabel="x / l", ylabel="y / l", title="16 segments in balance")
    shapes.legend(title="P l² / E I")
    errors.set(xlabel="segments", ylabel="tip off by, in lengths", title="dotted none, dashed full, solid cubic")
    errors.set_yscale("log", base=10)
    errors.set_xticks([2, 4, 8, 16, 32], [2, 4, 8, 16, 32])
    errors.grid(True, which="major", alpha=0.3)
    return figure


PLOTS: dict[str, Callable[[], object]] = {
    "large-deflection": _large_deflection,
    "overview": lambda: pl.plot.overview(chain()),
    "mechanism": lambda: pl.plot.mechanism(chain(), times=[0.0, 0.43, 0.5264, 0.56, 0.9, 1.1175], scale=5.0),
    "mechanism-loop": lambda: pl.plot.mechanism(crank(), times=[0.0, 0.01, 0.02, 0.03, 0.037, 0.045], scale=3.0),
    "mechanism-spatial": lambda: pl.plot.mechanism(spatial(), times=[0.0, 0.3, 0.6], scale=5.0),
    "schematic": lambda: pl.plot.mechanism(crank(), time=0.0, labels=True),
    "series": lambda: pl.plot.series({"DOP853, 1e-9": chain(), "RKF45, 1e-4": rough()}, "c.angle", "tip_position a y",
                                     zoom=(0.42, 0.56)),
    "friction": lambda: pl.plot.friction(chain()),
    "law": lambda: pl.plot.law([pl.HuGuo(stiffness=140e6, restitution=0.8), pl.HuntCrossley(stiffness=140e6, restitution=0.8),
                                pl.Hertz(stiffness=140e6), pl.Stribeck(mu_static=0.3, mu_kinetic=0.2, v_stribeck=0.01),
                                pl.Ambrosio(mu=0.2, v0=2e-3, v1=5e-3),
                                pl.LuGre(mu_static=0.3, mu_kinetic=0.2, v_stribeck=0.01, sigma0=1e4, sigma1=100.0)]),
    "shapes": lambda: pl.plot.shapes(pl.Beam(length=0.8, section=pl.Section.tube(0.012, 0.010), material=pl.ALUMINIUM,
                                             theory="euler-bernoulli", modes=[pl.Modes("cf", 3), pl.TorsionModes("cf", 2)])),
    "paths": lambda: pl.plot.paths(robot()),
    "coordinates": lambda: pl.plot.coordinates(chain()),
    "tip_deflection": lambda: pl.plot.tip_deflection(spatial()),
    "contact_forces": lambda: pl.plot.contact_forces(chain()),
    "ledger": lambda: pl.plot.ledger(chain()),
    "energies": lambda: pl.plot.energies(crank()),
    "balance_error": lambda: pl.plot.balance_error(chain()),
    "phase_portrait": lambda: pl.plot.phase_portrait(tipping()),
    "spectrum": lambda: pl.plot.spectrum(tipping()),
    "analysis-elastica": _elastica,
    "analysis-modes": lambda: pl.plot.mode_shape(analysed()["modes"]),  # type: ignore[arg-type]
    "analysis-bode": lambda: pl.plot.bode(analysed()["response"]),  # type: ignore[arg-type]
    "analysis-campbell": lambda: pl.plot.campbell(analysed()["diagram"]),  # type: ignore[arg-type]
    "reactions": lambda: pl.plot.reactions(driven()),
    "stress_envelope": lambda: pl.plot.stress_envelope(stressed()),
    "force_envelope": lambda: pl.plot.force_envelope(stressed()),
    "stress-convergence": _convergence,
    "sweep-family": _family,
    "sweep-map": lambda: _deflections(payload=16, E=17),
    "sweep-multiples": lambda: _deflections(payload=10, E=9, height=4),
    "sweep-points": _points,
}  # fmt: skip
# name: (result, s, deformation scale, light or dark)
PAGES = {
    "page": (chain, 0.5264, 5.0, "light"),
    "page-spatial": (spatial, 0.805, 3.0, "dark"),
    "page-stress": (stressed, 0.3673, 3.0, "light"),
    "page-robot": (robot, 1.2, 1.0, "light"),
    "page-crank": (crank, 0.033, 3.0, "light"),
    "analysis-page": (swinging_fourbar, 1.0, 1.0, "light"),
    "page-tipping": (tipping, 0.3815, 5.0, "dark"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures")
    parser.add_argument("--only", nargs="*", help="names of pictures")
    asked = parser.parse_args()
    asked.out.mkdir(exist_ok=True)
    wanted = set(asked.only or [*PLOTS, *PAGES, "film"])
    for name in PLOTS:
        if name in wanted:
            buffer = io.BytesIO()
            PLOTS[name]().savefig(buffer, dpi=DPI)  # type: ignore[attr-defined]
            _keep(buffer, asked.out / f"{name}.png")
    if "film" in wanted:
        pl.animation.write_animation(chain(), asked.out / "film.gif", fps=10, scale=5.0)
    _photograph([name for name in PAGES if name in wanted], asked.out)
    print(f"{sum(file.stat().st_size for file in asked.out.iterdir()) / 1e6:.2f} MB in {asked.out}")


def _keep(buffer: io.BytesIO, target: Path) -> None:
    Image.open(buffer).convert("RGB").save(target, optimize=True)


def _photograph(names: Iterable[str], out: Path) -> None:
    names, chromium = list(names), shutil.which("chromium")
    if not names:
        return
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("no screenshots of the page: Chromium or playwright is not installed")
        return
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            result, t, scale, scheme = PAGES[name]
            file = pl.player.write(result(), Path(folder) / f"{name}.html", scale=scale)
            page = browser.new_page(viewport=WINDOW, color_scheme=scheme)
            page.goto(file.as_uri())
            page.evaluate("t => pliant.seek(t)", t)
            page.wait_for_timeout(300)
            _keep(io.BytesIO(page.screenshot()), out / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()

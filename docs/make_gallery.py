"""Makes the gallery of the front page: pages that run (docs/gallery) and their stills (docs/pictures/gallery).

    python docs/make_gallery.py [NAME ...]

Stills are photographs of the pages and need Chromium and playwright. Look at them before committing them.
"""

from __future__ import annotations

import argparse
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

import pliant as pl

HERE = Path(__file__).resolve().parent
ROWS = 601  # of a run
METHOD = pl.Auto(rtol=1e-6, atol=1e-9)
STILL = (480, 360)  # pixels
BORDER = 3  # pixels at its right, the line beside the plots


@dataclass(frozen=True)
class Entry:
    """A system that plays."""

    title: str
    build: Callable[[], pl.System]
    t_end: float  # s
    still: float  # s: when its picture is taken
    scale: float = 1.0  # of the deformation


def _recipe(page: str, *names: str) -> dict[str, Any]:
    """What the code of a page defines: the gallery shows the models of the documentation."""
    import re
    import tempfile
    from contextlib import chdir, redirect_stdout

    text = (HERE / page).read_text(encoding="utf-8")
    found: dict[str, Any] = {"__name__": page}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()):
        exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), page, "exec"), found)
    return {name: found[name] for name in names}


def _published(module: str, builder: str, *arguments: Any) -> Callable[[], pl.System]:
    def build() -> pl.System:
        from importlib import import_module

        return getattr(import_module(f"pliant.gallery.{module}"), builder)(*arguments)  # type: ignore[no-any-return]

    return build


def spatial_arm() -> pl.System:
    """Two elastic links that bend both ways and twist, with a ball at the end, swing down onto a floor."""
    modes = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.TorsionModes("cf", 1)]
    link = pl.Beam(
        length=0.8, section=pl.Section.tube(0.012, 0.010), material=pl.ALUMINIUM, theory="euler-bernoulli", modes=modes,
        damping=[pl.KelvinVoigt(2e6)],
    )  # fmt: skip
    system = pl.System("spatial arm", gravity=(0.0, 0.0, -9.81))
    column = pl.RigidBody(mass=2.0, inertia=(0.02, 0.02, 0.02), tip=(0.0, 0.0, 0.5))
    base = system.add("column", column, joint=pl.Revolute(axis="z", rate=1.5))
    upper = system.add("upper", link, joint=pl.Revolute(axis="y", angle=-0.7, damper=pl.Damper(0.3)), on=base.tip)
    lower = system.add("lower", link, joint=pl.Revolute(axis="y", angle=1.1, damper=pl.Damper(0.15)), on=upper.tip)
    ball = system.add("ball", pl.RigidBody(mass=0.3, inertia=(1e-4, 1e-4, 1e-4)), joint=pl.Weld(), on=lower.tip)
    system.contact(
        points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 0, 1)), name="floor",
        normal=pl.HuntCrossley(stiffness=2e6, restitution=0.6), friction=pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2),
    )  # fmt: skip
    return system


def whip() -> pl.System:
    """A strip in six segments, flicked at its root."""
    strip = pl.Beam(
        length=1.0, section=pl.Section.rectangle(height=0.002, width=0.02), material=pl.STEEL, theory="euler-bernoulli",
        modes=pl.Modes("cf", 1), damping=pl.KelvinVoigt(2e8),
    )  # fmt: skip
    system = pl.System("whip", gravity=(0, -9.81))
    system.add("lash", pl.segmented(strip, 6), joint=pl.Revolute(motion=lambda t: 1.2 * pl.sin(6.0 * t)))
    return system


def four_bar() -> pl.System:
    """A crank turns a linkage whose coupler bends."""
    strip = pl.Beam(
        length=0.8, section=pl.Section.rectangle(height=0.004, width=0.03), material=pl.ALUMINIUM, theory="euler-bernoulli",
        modes=pl.Modes("ss", 3), damping=pl.ModalDamping(0.02),
    )  # fmt: skip
    system = pl.System("four-bar", gravity=(0, -9.81))
    motion = pl.Revolute(angle=pl.deg(90), motion=lambda t: pl.deg(90) - 9.0 * t)
    driver = system.add("driver", pl.RigidBody.rod(0.3, 0.3), joint=motion)
    coupler = system.add("coupler", strip, joint=pl.Revolute(angle=pl.deg(-62)), on=driver.tip)
    stand = system.ground.moved((0.7, 0.0))
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 0.6), joint=pl.Revolute(angle=pl.deg(85)), on=stand)
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


ENTRIES = {
    "falling-chain": Entry(
        "Falling chain: three elastic links hit the ground",
        _published("falling_chain", "falling_chain"),
        1.5,
        0.5264,
        5.0,
    ),
    "telescopic-arm": Entry(
        "Telescopic arm: slides out of its sleeve", _published("telescopic_arm.system", "telescopic_arm"), 1.0, 0.7, 3.0
    ),
    "tipping-arm": Entry("Tipping arm: stiffens, and hits a wall", _published("tipping_arm", "tipping_arm"), 1.2, 0.3815, 5.0),
    "parallel-robot": Entry("Parallel robot: traces a rose", _published("parallel_robot", "parallel_robot"), 4.0, 1.2),
    "slider-crank": Entry(
        "Slider-crank: a flexible rod, and an impact",
        _published("slider_crank.system", "slider_crank", 4),
        0.06,
        0.033,
        3.0,
    ),
    "clearance": Entry("Clearance: a slider knocks in its guide", _published("clearance", "guided_slider_crank", False), 0.2, 0.04),
    "spatial-arm": Entry("Spatial arm: bends, twists and bounces", spatial_arm, 2.0, 0.37, 3.0),
    "four-bar": Entry("Four-bar linkage with an elastic coupler", four_bar, 1.4, 0.5, 3.0),
    "whip": Entry("Whip: six segments, large deflections", whip, 2.0, 0.75),
    "gripper": Entry(
        "Gripper: friction holds a ball",
        lambda: _recipe("recipes/gripper.md", "gripper")["gripper"](5.0, 0.4),
        1.0,
        0.6,
    ),
    "cable-pendulum": Entry(
        "Pendulum on a cable", lambda: _recipe("recipes/cable-pendulum.md", "pendulum")["pendulum"](0.9), 5.6, 0.4
    ),
    "controlled-arm": Entry(
        "PD-controlled arm hits a wall", lambda: _recipe("recipes/pd-arm-wall.md", "arm")["arm"], 0.6, 0.177, 5.0
    ),
    "andrews-squeezer": Entry("Andrews' squeezing mechanism", _published("ivp_test_set", "andrews_squeezer"), 0.03, 0.012),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args().names or list(ENTRIES)
    (HERE / "gallery").mkdir(exist_ok=True)
    (HERE / "pictures" / "gallery").mkdir(parents=True, exist_ok=True)
    for name in asked:
        entry = ENTRIES[name]
        file = pl.page(entry.build(), HERE / "gallery" / f"{name}.html", entry.t_end, rows=ROWS, scale=entry.scale, method=METHOD)
        print(f"{name}: {file.stat().st_size / 1e3:.0f} kB")
    (HERE / "gallery" / "stills.html").write_text(stills(), encoding="utf-8")
    photograph(asked)


def photograph(names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
            page.goto((HERE / "gallery" / f"{name}.html").as_uri())
            while not page.evaluate("Boolean(window.pliant && pliant.ready)"):  # the page's policy lets nothing wait inside it
                page.wait_for_timeout(50)
            page.add_style_tag(content="#hint, #touching, #side, #ledger { display: none !important }")
            page.evaluate("t => pliant.seek(t)", ENTRIES[name].still)
            page.wait_for_timeout(300)
            image = Image.open(io.BytesIO(page.locator("#view").screenshot())).convert("RGB")
            page.close()
            framed(image).quantize(64).save(HERE / "pictures" / "gallery" / f"{name}.png", optimize=True)
        browser.close()


def framed(image: Image.Image) -> Image.Image:
    """A page's view in the shape of a still, with its axes and its arrow of gravity; where it is too narrow, its edges go on."""
    view = image.crop((0, 0, image.width - BORDER, image.height))
    across = max(view.width, round(view.height * STILL[0] / STILL[1]))
    left = (across - view.width) // 2
    whole = Image.new("RGB", (across, round(across * STILL[1] / STILL[0])), "white")
    top = (whole.height - view.height) // 2
    for edge, at in ((0, 0), (view.width - 1, left + view.width)):
        strip = view.crop((edge, 0, edge + 1, view.height)).resize((max(left, 1) + 1, view.height))
        whole.paste(strip, (at, top))
    whole.paste(view, (left, top))
    return whole.resize(STILL, Image.Resampling.LANCZOS)


def stills() -> str:
    """The block of the front page."""
    links = [
        f'<a href="gallery/{name}.html"><img src="pictures/gallery/{name}.png" alt="{entry.title}" loading="lazy">'
        f"<span>{entry.title}</span></a>"
        for name, entry in ENTRIES.items()
    ]
    return "\n".join(['<div class="gallery">', *links, "</div>", ""])


if __name__ == "__main__":
    main()

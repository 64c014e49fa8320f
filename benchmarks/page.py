"""What it costs that a page runs its mechanism: how large it is, when it is ready, how long a run takes there and here.

    python benchmarks/page.py [--json FILE] [--systems NAME,...]

Per gallery system: bytes of the page; write_s, to write it when nothing is known but the loops; ready_ms, from opening the file
until the module is ready to run, and shown_ms until its first run is drawn, in headless Chromium; change_ms from moving a slider to
the new run drawn; rerun_ms, a run in its worker; native_ms, the same run by `simulate`, warm, with the rows of the page; ratio of
the two, measured in turns. Needs Chromium and playwright.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.gallery.slider_crank.system import slider_crank
from pliant.gallery.telescopic_arm.system import telescopic_arm
from pliant.gallery.tipping_arm.system import tipping_arm
from pliant.live.page import ROWS

ROUNDS = 15
ROUGH = pl.DOP853(rtol=1e-6, atol=1e-9)
# (System, end of the run in s, method)
SYSTEMS: dict[str, Any] = {
    "falling_chain": (falling_chain, 1.5, ROUGH),
    "slider_crank": (slider_crank, 0.06, ROUGH),
    "parallel_robot": (parallel_robot, 4.0, ROUGH),
    "tipping_arm": (tipping_arm, 1.2, ROUGH),
    "telescopic_arm": (telescopic_arm, 1.0, ROUGH),
}


def measured(name: str, folder: Path, browser: Any) -> dict[str, float]:
    build, t_end, method = SYSTEMS[name]
    system, file = build(), folder / f"{name}.html"
    began = time.perf_counter()
    pl.page(system, file, t_end, method=method)
    written = time.perf_counter() - began
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(file.as_uri())
    until(page, "window.pliant && pliant.ready")
    ready, shown = page.evaluate("[pliant.readyMs, pliant.shownMs]")
    compiled, times = pl.compile_system(system), np.linspace(0.0, t_end, ROWS)
    slider = page.evaluate("pliant.sliders.rows[0]?.slider.name ?? null")
    runs, changes, native = [], [], []
    for k in range(ROUNDS):
        seen = page.evaluate("pliant.runs")
        nudged = f"(s => s.value + 1e-9 * {k + 1} * (s.high - s.low))(pliant.sliders.rows[0].slider)"
        moved = f"pliant.set({json.dumps(slider)}, {nudged})" if slider else "pliant.reset()"
        page.evaluate(moved)
        until(page, f"pliant.runs > {seen}")
        page.wait_for_timeout(60)
        runs.append(page.evaluate("pliant.lastRunMs"))
        changes.append(page.evaluate("pliant.lastChangeMs ?? null"))
        began = time.perf_counter()
        pl.simulate(compiled, t_end, method=method, save=times)
        native.append(1e3 * (time.perf_counter() - began))
    page.close()
    rerun, here = min(runs), min(native)
    return {"bytes": file.stat().st_size, "write_s": round(written, 2), "ready_ms": round(ready, 1),
            "shown_ms": round(shown, 1), "rerun_ms": round(rerun, 2),
            "change_ms": round(statistics.median(x for x in changes if x is not None), 1), "native_ms": round(here, 2),
            "ratio": round(rerun / here, 2)}  # fmt: skip


def until(page: Any, condition: str) -> None:
    for _ in range(2000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(10)
    raise TimeoutError(condition)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    given = parser.parse_args()
    found = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in given.systems.split(","):
            found[name] = measured(name, Path(folder), browser)
            print(name, found[name], flush=True)
        browser.close()
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

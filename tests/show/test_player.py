"""The page as text: one file, all in it, nothing from elsewhere."""

import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.show import player
from pliant.show.player import MOST_ROWS, kept_rows, page

JSON = re.compile(r'<script type="application/json" id="run">(.*?)</script>', re.DOTALL)
NUMBERS = re.compile(r'<script type="text/plain" id="numbers">(.*?)</script>', re.DOTALL)


def _run(text):
    return json.loads(JSON.search(text)[1])


def test_the_page_names_no_address_and_no_other_file(chain):
    text = page(chain)
    assert not re.search(r"https?:|//[a-z]+\.|@import|<link[^>]*stylesheet|<script[^>]*src|url\(|fetch\(|XMLHttp|WebSocket", text)
    assert "default-src 'none'" in text


def test_the_numbers_of_the_page_are_those_of_the_result(chain):
    text = page(chain)
    run, data = _run(text), base64.b64decode(NUMBERS.search(text)[1])
    assert np.array_equal(np.frombuffer(data, "<f8", run["rows"]), chain.time)
    offset, width = run["blocks"]["root"]
    roots = np.frombuffer(data, "<f4", run["rows"] * width, offset).reshape(chain.values["root_position"].shape)
    assert np.array_equal(roots, chain.values["root_position"].astype(np.float32))
    panel = next(panel for panel in run["panels"] if panel["title"] == "contact force")
    offset, width = run["blocks"][panel["block"]]
    forces = np.frombuffer(data, "<f4", run["rows"] * width, offset).reshape(run["rows"], width)
    assert panel["unit"] == "kN" and np.allclose(1e3 * forces, chain.values["normal_force"], rtol=1e-6)
    offset, width = max(run["blocks"].values())
    assert len(data) == offset + 4 * run["rows"] * width  # nothing is left over


def test_a_page_from_a_file_is_the_same(chain, read_back):
    assert page(chain) == page(read_back)


def test_a_long_run_is_thinned_but_keeps_its_ends_and_peaks(chain):
    many = 50_000
    time = np.linspace(0.0, 0.8, many)
    nearest = np.searchsorted(chain.time, time).clip(max=len(chain.time) - 1)
    long = replace(chain, time=time, values={name: rows[nearest] for name, rows in chain.values.items()})
    rows = kept_rows(long, MOST_ROWS)
    assert (rows[0], rows[-1]) == (0, many - 1) and np.all(np.diff(rows) > 0)
    assert len(rows) <= MOST_ROWS + len(chain.contacts)
    for touch in chain.contacts:
        assert np.min(np.abs(time[rows] - touch.peak_time)) <= time[1]
    assert np.array_equal(kept_rows(chain, MOST_ROWS), np.arange(len(chain.time)))


def test_stresses_of_the_page_are_those_of_the_result(stressed):
    text = page(stressed)
    run, data = _run(text), base64.b64decode(NUMBERS.search(text)[1])
    offset, width = run["blocks"]["stress"]
    table = np.frombuffer(data, "<f4", run["rows"] * width, offset).reshape(run["rows"], width)
    sections = stressed.sections
    assert run["stress"]["largest"] == pytest.approx(float(sections.equivalent_stress.max()), rel=0.02)  # at drawn points
    for k, first in run["stress"]["first"].items():
        body = stressed.drawing.bodies[int(k)]
        root = sections.equivalent_stress.sel(beam=body.name, station=0.0).values
        assert np.allclose(table[:, first], root, rtol=1e-6, atol=1e-3)  # point 0 is the root
    panel = next(panel for panel in run["panels"] if panel["title"] == "largest stress")
    assert panel["series"] == list(sections.beam.values) and panel["shown"] and panel["unit"] == "MPa"


def test_a_thinned_page_keeps_the_largest_stress(stressed):
    rows = kept_rows(stressed, 20)
    worst = stressed.sections.equivalent_stress.max("station").argmax("time").values
    assert len(stressed.time) > 100 and len(rows) < 40 and set(worst) <= set(rows)


def test_a_name_cannot_break_out_of_the_page(chain):
    text = page(replace(chain, name="</script><script>alert(1)</script><b>&"))
    assert "<script>alert" not in text and _run(text)["name"].startswith("</script>")


def test_the_file_appears_whole_or_not_at_all(chain, tmp_path, monkeypatch):
    path = pl.player.write(chain, tmp_path / "chain.html", scale=10.0, speed=0.25)
    assert _run(path.read_text(encoding="utf-8"))["scale"] == 10.0
    assert [p.name for p in tmp_path.iterdir()] == ["chain.html"]
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        pl.player.write(chain, tmp_path / "again.html")
    assert [p.name for p in tmp_path.iterdir()] == ["chain.html"]


@pytest.mark.parametrize("options", [{"scale": -1.0}, {"speed": 0.0}, {"scale": float("inf")}])
def test_options_that_play_nothing_are_refused(chain, tmp_path, options):
    with pytest.raises(pl.ModelError, match=next(iter(options))):
        pl.player.write(chain, tmp_path / "chain.html", **options)


DRAWN = """
const fs = require("fs"), vm = require("vm"), context = vm.createContext({});
vm.runInContext(fs.readFileSync(process.argv[1], "utf8") + ";this.View = View", context);
const touches = [3030, 1346, 566].map((force, k) => ({ pair: "floor", begin: 0.05 * k, end: 0.05 * k + 0.005, peak_force: force }));
const view = Object.assign(Object.create(context.View.prototype), {
  run: { contacts: [{ pair: "floor", radius: 0, other: null, ground: true }], touches, largestForce: 1, size: 1 },
  mechanism: { contact: () => ({ point: [0, 0, 0], normal: [0, 1, 0], gap: 0, force: 0 }) }, colours: {}, pen: {}, dot() {},
});
console.log(JSON.stringify(touches.map(touch => view.drawContacts(touch.begin, 1).map(one => one.peak_force))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_every_touch_of_a_series_is_named_with_its_own_peak():
    """A touch lingers for a quarter of a second after its end, when the next ones have begun."""
    script = Path(player.__file__).parent / "page" / "view.js"
    said = subprocess.run(["node", "-e", DRAWN, str(script)], capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [[3030], [1346], [566]]


def test_the_page_shows_the_warnings_of_a_run_and_nothing_without_any(chain):
    text = page(replace(chain, warnings=("beam 'rod' bends by 1 m <far>", "two")))
    assert "<summary>2 warnings</summary><ul><li>beam &#x27;rod&#x27; bends by 1 m &lt;far&gt;</li><li>two</li></ul>" in text
    assert '<details id="warnings"' not in page(replace(chain, warnings=()))

"""The page as text: small, closed to the network, and without anything that a name could smuggle in."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path

import pytest

import pliant as pl
from pliant.errors import ModelError
from pliant.gallery.falling_chain.system import falling_chain
from pliant.live.page import page_text
from pliant.live.pulls import with_pulls
from pliant.show import player


def pendulum(name="pendulum", body="arm"):
    system = pl.System(name, gravity=(0, -9.81))
    mass = pl.Parameter("mass", 1.0, "kg", low=0.5, high=2.0)
    system.add(body, pl.RigidBody.rod(1.0, mass), joint=pl.Revolute(angle=0.5))
    return system


def part(text, name):
    return re.search(rf'<script [^>]*id="{name}">(.*?)</script>', text, re.DOTALL)[1]


def test_the_falling_chain_takes_less_than_400_kilobytes():
    text = page_text(falling_chain(), 1.5, method=pl.DOP853(rtol=1e-6, atol=1e-9))
    assert len(text.encode()) < 400_000
    assert gzip.decompress(b64decode(part(text, "module")))[:4] == b"\0asm"
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'") and "connect-src" not in policy and "http" not in policy


def test_names_stay_names():
    """Neither the system's nor a body's name ends a script or begins one."""
    evil = "</script><script>alert(1)</script>"
    text = page_text(pendulum(name=evil), 0.2, rows=11)
    assert evil not in text and "<script>alert" not in text
    assert json.loads(part(text, "run"))["name"] == evil


def test_the_model_in_the_page_is_a_file_with_the_sliders_numbers():
    text = page_text(pendulum(), 0.2, rows=11)
    pieces = json.loads(part(text, "run"))["model"]
    spec = json.loads(part(text, "machine"))
    values = {"mass": 1.75, "arm.angle": 0.5}
    names = [slider["name"] for slider in spec["sliders"]]
    model = pl.loads_model("".join(x if isinstance(x, str) else repr(values[names[x["slider"]]]) for x in pieces))
    assert model.system.mass == pytest.approx(1.75) and model.run.t_end == pytest.approx(0.2)
    assert any("# in the page: arm.angle" in x for x in pieces if isinstance(x, str))


def test_a_model_of_python_functions_has_no_file():
    system = pendulum()
    system.drive("push", "arm.angle", lambda t, q, v: pl.sin(t))
    assert json.loads(part(page_text(system, 0.2, rows=11), "run"))["model"] is None


def test_what_a_browser_cannot_run_is_said_and_replayed():
    system = pendulum()
    system.sampled("pd", 0.01, lambda t, q, v, measured, memory: -float(q["arm.angle"]), outputs="torque", compiled=False)
    system.drive("motor", "arm.angle", lambda t, q, v: q["pd.torque"])
    said = []
    text = page_text(system, 0.2, rows=11, tell=said.append)
    assert said == [note := "this page replays one run: page: controllers must be formulas: Python is not there to be called, "
                            "got 'pendulum'"]  # fmt: skip
    assert note.replace("'", "&#x27;") in text
    assert 'id="module"' not in text and part(text, "numbers").strip()


def test_springs_to_the_hand_keep_clear_of_the_models_own_names():
    system = pendulum()
    system.force("hand arm", system.handle("arm").tip, (0.0, 0.0))
    made, pulls = with_pulls(system)
    assert pulls == [] and list(made.loads) == ["hand arm"]
    made, (pull,) = with_pulls(pendulum())
    assert pull.body == "arm" and set(pull.names) <= set(made.parameters)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"rows": 1}, "rows"), ({"scale": 0.0}, "scale"), ({"speed": -1.0}, "speed"), ({"sliders": ["none"]}, "sliders")],
)
def test_wrong_options_are_refused_by_name(options, said):
    with pytest.raises(ModelError, match=said):
        page_text(pendulum(), 0.2, **{"rows": 11, **options})


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ModelError, match="t_end"):
        page_text(pendulum(), "soon")
    with pytest.raises(ModelError, match="t_end"):
        page_text(pendulum(), 0.0)


def luminance(colour):
    """Of sRGB: W3C, WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_words_stand_out_from_their_paper_as_aa_asks():
    style = (Path(player.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r"\{([^{}]*--paper:[^{}]*)\}", style)]
    assert len(themes) == 3  # light, dark by the system, dark by the button
    for theme in themes:
        for words in ("ink", "quiet", "alarm", "accent"):
            for paper in ("paper", "panel"):
                less, more = sorted((luminance(theme[words]), luminance(theme[paper])))
                assert (more + 0.05) / (less + 0.05) >= 4.5, (words, paper)

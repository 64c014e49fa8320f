"""Struts in model files: units, formulas of length and rate, round trip, messages."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant as pl
from pliant.files.document import ModelFileError

TEXT = """
pliant: 1
system: jacked
gravity: [0, -9.81]
define: {k: 200, lift: {value: 30, unit: N}}
bodies:
  arm: {rod: {length: 1 m, mass: 2 kg}, joint: {revolute: {angle: -20 deg}}}
struts:
  jack: {a: arm.tip, b: {frame: ground, offset: [0.2, 1.0]}, stiffness: k, rest: 800 mm, damping: 3,
         force: lift - 5*rate + 2*length}
  ram: {a: arm.tip, b: {frame: ground, offset: [0.3, 1.0]}, force: 3 N}
  ramp: {a: arm.tip, b: {frame: ground, offset: [0.4, 1.0]}, force: {piecewise_linear: {times: [0, 1], values: [0, 4]}}}
  swing: {a: arm.tip, b: {frame: ground, offset: [0.5, 1.0]}, force: "sin(t)*q['jack'] - v['swing']"}
events:
  long: {function: "q['jack'] - 0.9"}
"""


def written_in_python() -> pl.System:
    k, lift = pl.Parameter("k", 200.0), pl.Parameter("lift", 30.0)
    system = pl.System("jacked", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(length=1.0, mass=2.0), joint=pl.Revolute(angle=-np.pi / 9))
    posts = [system.ground.moved((x, 1.0)) for x in (0.2, 0.3, 0.4, 0.5)]
    force = lambda length, rate: lift - 5 * rate + 2 * length  # noqa: E731
    system.strut("jack", arm.tip, posts[0], stiffness=k, rest=0.8, damping=3.0, force=force)
    system.strut("ram", arm.tip, posts[1], force=3.0)
    system.strut("ramp", arm.tip, posts[2], force=pl.PiecewiseLinear([0.0, 1.0], [0.0, 4.0]))
    system.strut("swing", arm.tip, posts[3], force=lambda t, q, v: pl.sin(t) * q["jack"] - v["swing"])
    return system


def test_a_file_says_what_python_does() -> None:
    read = pl.simulate(pl.loads_model(TEXT).system, 0.3, save=0.1)
    made = pl.simulate(written_in_python(), 0.3, save=0.1)
    assert np.allclose(read.values["strut_force"], made.values["strut_force"], rtol=1e-12)
    assert [event.name for event in read.events] == ["long", "long"]


def test_it_is_written_as_it_was_read() -> None:
    first = pl.dump_model(pl.loads_model(TEXT).system)
    assert "force: lift - 5*rate + 2*length" in first
    assert pl.dump_model(pl.loads_model(first).system) == first


def test_a_python_function_is_refused_by_the_struts_name() -> None:
    with pytest.raises(pl.ModelError, match="strut 'jack': force: a Python function cannot be written"):
        pl.dump_model(written_in_python())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2*length", "2*lengh", "'lengh' at column 19 is an unknown name (did you mean 'length'?)"),
        ("define: {k", "define: {length: 1, k", "'length' means the strut's length here"),
        ("800 mm", "800 kg", "struts.jack.rest: must be in m"),
        ("rest: 800 mm, ", "", "rest must be given in m together with a stiffness"),
        ("force: 3 N", "force: 3 m", "struts.ram.force: must be in N"),
        ("force: 3 N", "push: 3 N", "unknown key 'push'"),
        ("a: arm.tip, b: {frame: ground, offset: [0.3", "a: arm.tp, b: {frame: ground, offset: [0.3", "struts.ram.a"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old, new, words) -> None:
    with pytest.raises(ModelFileError, match=re.escape(words)):
        pl.loads_model(TEXT.replace(old, new))

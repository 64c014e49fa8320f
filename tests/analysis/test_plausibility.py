"""Numbers that hardly any mechanism has: said with part, field and value, and nothing about the systems of the gallery."""

from __future__ import annotations

import json
from functools import partial

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.cli.exits import in_file_words
from pliant.gallery.representative import REPRESENTATIVES

MM = "is it in m? 0.01 is 10 mm"
MODEL = """
pliant: 1
system: arm
gravity: [0, -9.81]
define: {E: 210 GPa}
bodies:
  arm:
    beam:
      length: 500 mm
      section: {rectangle: {width: 20 mm, height: 5 mm}}
      material: {E: E, density: 7860 kg/m^3}
      theory: euler-bernoulli
      modes: {ends: cf, count: 2}
    joint: revolute
"""


def arm(length=0.5, angle=0.2, mass=0.3, g=9.81, **material) -> pl.System:
    system = pl.System("arm", gravity=(0, -g))
    beam = pl.Beam(length=length, section=pl.Section.rectangle(0.02, 0.01), theory="euler-bernoulli", modes=pl.Modes("cf", 1),
                   material=pl.Material(**{"E": 2e11, "density": 7860.0, **material}))  # fmt: skip
    on = system.add("arm", beam, joint=pl.Revolute(angle=angle)).tip
    system.add("tool", pl.RigidBody.rod(0.1, mass), joint=pl.Weld(), on=on)
    return system


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({"E": 210.0}, "body 'arm': E = 210 Pa is less than soft rubber has; steel has 2e11 Pa, 200 GPa"),
        ({"E": 2.1e14}, "body 'arm': E = 2.1e+14 Pa is more than diamond has; steel has 2e11 Pa, 200 GPa"),
        ({"density": 7.86}, "body 'arm': density = 7.86 kg/m^3 is less than foam has; steel has 7860 kg/m^3"),
        ({"density": 7.86e6}, "body 'arm': density = 7.86e+06 kg/m^3 is more than any solid has; steel has 7860 kg/m^3"),
        ({"mass": 1.9e-13}, "body 'tool': mass = 1.9e-13 kg is 2.4e-13 of that of the heaviest body, 0.786 kg"),
        ({"length": 0.02}, f"body 'arm': length = 0.02 m is 1 times the depth of its section, less than a beam has; {MM}"),
        ({"length": 500.0}, "body 'arm': length = 500 m is 2.5e+04 times the depth of its section, more than a thread has"),
        ({"angle": 60}, "body 'arm': angle = 60 rad is 9.55 turns; pl.deg(60) if degrees are meant"),
        ({"angle": pl.deg(300)}, ""),
        ({"g": 9810.0}, "system 'arm': gravity = (0, -9810, 0) m/s^2 is 1e+03 times that of the Earth"),
    ],
)
def test_implausible_numbers_are_said_with_part_field_and_value(numbers, sentence):
    assert pl.implausible(arm(**numbers)) == ((sentence,) if sentence else ())
    named = {name: pl.Parameter(name, value) for name, value in numbers.items()}
    assert pl.implausible(arm(**named)) == ((sentence,) if sentence else ())


def test_an_implausible_mass_per_length_is_said():
    section, material = pl.Section.rectangle(0.02, 0.01), pl.Material(E=2e11)
    beam = partial(pl.Beam, length=0.5, section=section, theory="euler-bernoulli", modes=pl.Modes("cf", 1), material=material)
    for given, density in ((1.5, ""), (1500.0, "7.5e+06"), (1.5e-3, "7.5")):
        system = pl.System("arm", gravity=(0, 0))
        system.add("arm", beam(mass_per_length=given), joint=pl.Weld())
        assert [density in sentence for sentence in pl.implausible(system)] == [True] * bool(density)


def test_a_strip_may_be_wide_across_the_plane_in_which_it_bends():
    strip = partial(pl.Beam, length=0.2, section=pl.Section.rectangle(height=1e-3, width=0.08), theory="euler-bernoulli",
                    material=pl.STEEL)  # fmt: skip
    for planes, said in (("y", 0), ("z", 1), ("yz", 1)):
        system = pl.System("strip", gravity=(0, 0, 0))
        system.add("strip", strip(modes=[pl.Modes("cf", 1, plane=plane) for plane in planes]), joint=pl.Weld())
        assert len(pl.implausible(system)) == said


def test_a_contact_deep_inside_at_the_start_is_said():
    system = arm()
    wall = pl.Plane(normal=(-1.0, 0.0), point=(0.4, 0.0))
    system.contact(points=system.handle("arm").tip, against=wall, name="wall", normal=pl.Hertz(stiffness=1e8))
    (sentence,) = pl.implausible(system)
    assert sentence.startswith("contact 'wall arm.tip' starts 0.09 m deep, where its law pushes with 2.7e+06 N, ")


@pytest.mark.parametrize("representative", REPRESENTATIVES, ids=lambda one: one.name)
def test_nothing_is_implausible_in_the_gallery(representative):
    assert pl.implausible(representative.build()) == ()


def test_check_warns_and_accepts(tmp_path):
    (tmp_path / "arm.yaml").write_text(MODEL)
    fine = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "arm.yaml"), "--json"]).stdout)
    assert fine["ok"] and fine["warnings"] == []
    done = CliRunner().invoke(app, ["check", str(tmp_path / "arm.yaml"), "--set", "E=210Pa"])
    assert done.exit_code == 0 and "warning: body 'arm': E = 210 Pa is less than soft rubber has" in done.stdout


def test_the_command_line_speaks_the_words_of_files(tmp_path):
    (tmp_path / "arm.yaml").write_text(MODEL.replace("joint: revolute", "joint: {revolute: {angle: 60}}"))
    said = CliRunner().invoke(app, ["check", str(tmp_path / "arm.yaml")]).stdout
    assert "9.55 turns; 60 deg if degrees are meant" in said and "pl." not in said
    shared = "contact 'a': pl.Exact delivers it, or pl.HuGuo; body 'b': pl.segmented(beam, n); a file named pl.nc stays"
    assert in_file_words(shared) == "contact 'a': exact delivers it, or hu_guo; body 'b': segments: n; a file named pl.nc stays"
    (tmp_path / "arm.yaml").write_text(MODEL.replace("-9.81", "-9, 81"))  # three numbers
    assert "gravity = (0, -9, 81) m/s^2 is" in CliRunner().invoke(app, ["check", str(tmp_path / "arm.yaml")]).stdout

"""Units, definitions and includes: what they give, and what is refused in which words."""

from __future__ import annotations

import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.files import parse_formula
from pliant.files.units import convert, split

HEAD = "pliant: 1\nsystem: s\ngravity: [0, -9.81]\n"
ROD = "bodies: {arm: {rod: {length: 1, mass: 2}, joint: revolute}}\n"
BEAM = """\
bodies:
  arm:
    beam:
      length: %s
      theory: euler-bernoulli
      section: {A: 1 cm^2, Iz: 2e3 mm^4}
      material: {E: 210 GPa, density: 7.8 g/cm^3}
      modes: {ends: cf, count: 1}
      damping: {kelvin_voigt: 1 MPa*ms}
    joint: {revolute: {angle: 30 deg, rate: 10 rpm, damper: 2 N*mm*s, limits: {low: -90°, high: 0.5 rev, stiffness: 1 kN*m/rad}}}
    initial: {y1: 1 mm}
"""


def arm(text: str) -> pl.Beam:
    return pl.loads_model(HEAD + BEAM % text).system.links["arm"]


def test_units_are_converted_to_si() -> None:
    link = arm("250 mm")
    assert link.body.length == 0.25
    assert link.body.section.A == 1e-4
    assert link.body.section.Iz == pytest.approx(2e-9, rel=1e-15)  # round-off of powers of 1e-3
    assert link.body.material.E == 210e9
    assert link.body.material.density == pytest.approx(7800.0, rel=1e-15)
    assert link.body.damping[0].coefficient == pytest.approx(1e3, rel=1e-15)
    assert link.joint.angle == pytest.approx(math.pi / 6, rel=1e-15)
    assert link.joint.rate == pytest.approx(10 * 2 * math.pi / 60, rel=1e-15)
    assert link.joint.dampers["angle"].coefficient == pytest.approx(2e-3, rel=1e-15)
    assert link.joint.stops["angle"] == pl.Limits(low=-math.pi / 2, high=math.pi, stiffness=1e3)
    assert link.initial == {"y1": 1e-3}


@pytest.mark.parametrize("text", ["0.25m", "25 cm", "0.25 metre", "250mm", "2.5e2 mm", " 0.25  m ", "1/4", "0.25"])
def test_one_length_in_many_spellings(text: str) -> None:
    assert arm(text).body.length == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("250 kg", r"<text>:7:7: bodies\.arm\.beam\.length: must be in m, got 'kg', which is of dimension \[mass\]"),
        ("250 mmm", r"length: unit 'mmm' is unknown"),
        ("30 deg", r"length: must be in m, got 'deg', which is a plain number"),
        ("1 m^2", r"length: must be in m, got 'm\^2', which is of dimension \[length\] \*\* 2"),
        ("1 m; import os", r"length: unit 'm; import os': must consist of letters"),
        ("1 __import__('os')", r"must be a number, got"),
        ("1 m**9**9**9", r"length: unit 'm\*\*9\*\*9\*\*9': cannot be read|must consist of letters"),
        ("1e300 Ym", r"length: must be a finite number"),
        ("1 " + "a" * 59 + "!", r"length: unit .* must consist of letters"),
    ],
)
def test_a_unit_of_another_kind_is_refused_with_the_one_expected(text: str, message: str) -> None:
    with pytest.raises(pl.ModelError, match=message):
        arm(text)


@pytest.mark.parametrize("text", ["501/s", "1.51/s", "2e31/s", "9" * 5000])
def test_digits_belong_to_the_number_and_not_to_a_unit_that_begins_with_one(text: str) -> None:
    """501/s was taken for 50 times 1/s. A long row of digits was tried at each of them: minutes for a file full of such rows."""
    assert split(text) is None
    assert split("50 1/s") == (50.0, "1/s")


# of a field: the joint that has it, and the units of a slide and of a turn; {} stands for the number
OF_A_COORDINATE = [
    ("%s: {spring: {}}", "N/mm", "N*mm"),
    ("%s: {spring: {stiffness: 1, rest: {}}}", "mm", "deg"),
    ("%s: {damper: {}}", "N*s/mm", "N*mm*s/rad"),
    ("%s: {limits: {low: {}, high: 9, stiffness: 1}}", "mm", "mrad"),
    ("%s: {limits: {low: -1, high: 1, stiffness: {}}}", "N/m", "N*m/rad"),
    ("%s: {limits: {low: -1, high: 1, stiffness: 1, damping: {}}}", "N*s/m", "N*m*s"),
    ("%s: {limits: {low: -1, high: 1, normal: {hu_guo: {stiffness: {}, restitution: 1}}}}", "N/m^1.5", "N*m/rad^1.5"),
    ("%s: {limits: {low: -1, high: 1, normal: {hu_guo: {stiffness: 1, restitution: 1, entry_floor: {}}}}}", "mm/s", "rpm"),
    ("%s: {backlash: {gap: {}, stiffness: 1}}", "mm", "deg"),
    ("%s: {backlash: {gap: 1, stiffness: {}}}", "N/m", "N*m"),
    ("%s: {}}}}\ndrives: {m: {coordinate: arm.%s, effort: {}", "N", "N*m"),
    ("%s: {}}}}\nmotors: {m: {coordinate: arm.%s, command: 1, motor: {max_torque: 1 N*m, ratio: {}", "rad/mm", "%"),
]


@pytest.mark.parametrize(("field", "slides", "turns"), OF_A_COORDINATE)
def test_what_belongs_to_a_coordinate_is_of_its_kind(field: str, slides: str, turns: str) -> None:
    for joint, coordinate, right, wrong in (
        ("prismatic", "displacement", slides, turns),
        ("revolute", "angle", turns, slides),
    ):
        named = field.replace("%s", joint, 1).replace("%s", coordinate)
        head, _, tail = named.rpartition("{}")
        text = HEAD + "bodies: {arm: {rod: {length: 1, mass: 2}, joint: {" + head + "0.1 UNIT" + tail
        text += "}" * (text.count("{") - text.count("}"))
        pl.loads_model(text.replace("UNIT", right))
        place = rf"(arm\.joint\.{joint}|drives\.m|motors\.m)\.\S+: must be "
        with pytest.raises(pl.ModelError, match=rf"{place}.*, got '{re.escape(wrong)}', which is"):
            pl.loads_model(text.replace("UNIT", wrong))


@pytest.mark.parametrize(("coordinate", "right", "wrong"), [("x", "N/m", "N*m/rad"), ("angle", "N*m/rad", "N/m")])
def test_each_coordinate_of_a_joint_has_its_own_units(coordinate: str, right: str, wrong: str) -> None:
    text = HEAD + "bodies: {arm: {rod: {length: 1, mass: 2}, joint: {planar: {spring: {%s: 2 %s}}}}}\n"
    assert pl.loads_model(text % (coordinate, right)).system.links["arm"].joint.springs[coordinate].stiffness == 2.0
    with pytest.raises(pl.ModelError, match=rf"planar\.spring\.{coordinate}: must be in .*, got '{re.escape(wrong)}'"):
        pl.loads_model(text % (coordinate, wrong))


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("run: {t_end: 1 m}", r"run\.t_end: must be in s, got 'm'"),
        ("run: {t_end: 1, save: 1 Hz}", r"run\.save: must be in s, got 'Hz'"),
        ("drives: {m: {coordinate: arm.angle, effort: 2 m}}", r"drives\.m\.effort: must be in N m, got 'm'"),
        ("forces: {f: {at: arm.tip, vector: [1 N*m, 0]}}", r"forces\.f\.vector\[0\]: must be in N, got 'N\*m'"),
        ("contacts: {c: {points: arm.tip, against: {plane: {normal: y}}, normal: {hertz: {stiffness: 1 Pa}}}}",
         r"stiffness: must be in N/m\^1\.5, got 'Pa', which"),
        ("contacts: {c: {points: arm.tip, against: {plane: {normal: y}}, normal: {hu_guo: {stiffness: 1, restitution: 1 m}}}}",
         r"restitution: must be a number without a unit, got 'm'"),
    ],
)  # fmt: skip
def test_fields_of_all_sections_know_their_units(section: str, message: str) -> None:
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(HEAD + ROD + section)


def test_a_frequency_is_no_angular_rate() -> None:
    """10 Hz has the dimension of 10 rad/s and is 2 pi times as fast: it is refused, not taken for either."""
    with pytest.raises(pl.ModelError, match=r"rate: must be in rad/s, got 'Hz'"):
        pl.loads_model(HEAD + ROD.replace("joint: revolute", "joint: {revolute: {rate: 10 Hz}}"))
    with pytest.raises(pl.ModelError, match=r"rate: must be in rad/s, got '1/min', which is a frequency in Hz or 1/s"):
        pl.loads_model(HEAD + ROD.replace("joint: revolute", "joint: {revolute: {rate: 300 1/min}}"))


@pytest.mark.parametrize(
    ("unit", "size", "wanted"),
    [
        ("Nm", 1.0, "N m"),
        ("Nmm", 1e-3, "N m"),
        ("kNm", 1e3, "N m"),
        ("Nm/rad", 1.0, "N m/rad"),
        ("Nm^2", 1.0, "N m^2"),
        ("rad/Nm", 1.0, None),
    ],
)
def test_a_torque_may_be_written_without_a_space(unit: str, size: float, wanted: str | None) -> None:
    """Pint's Nm is a number of textile fibres, 1000 m/kg."""
    assert convert(2.0, unit, wanted) == pytest.approx(2.0 * size, rel=1e-12)
    assert convert(2.0, "nm", "m") == pytest.approx(2e-9, rel=1e-12)


def test_units_stand_in_places_signals_stiffnesses_and_runs() -> None:
    model = pl.loads_model(HEAD + """\
bodies:
  arm: {beam: {length: 1, theory: euler-bernoulli, section: {round: 5 mm}, material: steel, modes: {ends: cf, count: 1}},
        joint: revolute, on: {frame: ground, offset: [10 cm, 0], turn: 90 deg}}
  bob: {rod: {length: 1, mass: 500 g}, joint: weld, on: arm@300 mm}
drives: {m: {coordinate: arm.angle, effort: 3 N*m}}
forces: {f: {at: bob.tip, vector: [1 kN, 2*t]}}
contacts: {c: {points: bob.tip, against: {plane: {normal: y}}, normal: {hertz: {stiffness: 1 N/mm^1.5}}}}
run: {t_end: 100 ms, save: [0, 50 ms], method: {rk4: 10 us}}
""")  # fmt: skip
    system = model.system
    assert system.links["arm"].on == system.ground.moved((0.1, 0.0)).turned(90 * (math.pi / 180))
    assert system.links["bob"].on == system.handle("arm").at(0.3)
    assert system.links["bob"].body.mass == 0.5
    assert system.links["arm"].body.section == pl.Section.round(0.005)
    assert system.drives["m"].effort == pl.Constant(3.0)
    assert system.loads["f"].vector[0] == pl.Constant(1000.0)
    assert system.contacts["c bob.tip"].normal.stiffness == pytest.approx(1000.0**1.5)
    assert (model.run.t_end, model.run.save, model.run.method.step) == (0.1, (0.0, 0.05), pytest.approx(1e-5))


def test_pint_is_imported_only_where_a_unit_stands() -> None:
    code = "import sys, pliant; pliant.loads_model(sys.argv[1]); print('pint' in sys.modules)"
    for text, used in ((ROD, "False"), (ROD.replace("length: 1", "length: 1 m"), "True")):
        done = subprocess.run([sys.executable, "-c", code, HEAD + text], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == used


DEFINED = """\
define:
  L: 40 cm
  last: 200 ms
  torque: 0.2 N*m
  wave: sin(2*pi*t)
  swing: torque*wave if t < 0.5 else -torque
"""


def test_definitions_serve_numbers_places_and_formulas_and_are_written_back() -> None:
    text = HEAD + DEFINED + ROD.replace("length: 1", "length: L") + (
        'drives: {m: {coordinate: arm.angle, effort: "3*swing - v[\'arm.angle\']"}}\nrun: {t_end: last}\n')  # fmt: skip
    model = pl.loads_model(text)
    assert model.system.links["arm"].body == pl.RigidBody.rod(0.4, 2.0)
    assert model.run.t_end == 0.2
    effort = model.system.drives["m"].effort
    assert effort.breakpoints == (0.5,)
    assert effort.function(0.1, {}, {"arm.angle": 1.0}) == pytest.approx(0.6 * math.sin(0.2 * math.pi) - 1.0)
    assert effort.function(0.6, {}, {"arm.angle": 0.0}) == pytest.approx(-0.6)
    written = pl.dump_model(model.system, model.run)
    assert pl.loads_model(written) == model
    again = pickle.loads(pickle.dumps(effort.function))
    assert again == effort.function
    assert again(0.1, {}, {"arm.angle": 1.0}) == effort.function(0.1, {}, {"arm.angle": 1.0})


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("define: {a: b, b: 1}", r"define\.a: formula 'b': 'b' at column 1 is an unknown name"),
        ("define: {a: a}", r"define\.a: formula 'a': 'a' at column 1 is an unknown name"),
        ("define: {t: 1}", r"define\.t: definition 't': must be another name, because 't' is reserved for a variable of formulas"),
        ("define: {sin: 1}", r"must be another name, because 'sin' is reserved for a function"),
        ("define: {pi: 3}", r"must be another name, because 'pi' is reserved for a constant"),
        ("define: {'a b': 3}", r"must consist of letters, digits and _"),
        ("define: {a: \"q['arm.angel']\"}", r"define\.a: .* is an unknown coordinate \(did you mean 'arm\.angle'\?\)"),
        ("define: {a: 1, a: 2}", r"key 'a' must be given only once, got it twice"),
        ("define: {a: __import__('os').system('true')}", r"define\.a: .* must call a function by its name"),
        ("define: {a: t}\nrun: {t_end: a}", r"run\.t_end: .*'a' at column 1 is defined with t, which is not available here"),
    ],
)
def test_wrong_definitions_are_refused(define: str, message: str) -> None:
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(HEAD + ROD + define)


def test_a_definition_that_doubles_itself_forty_times_is_computed_once_each() -> None:
    doubled = "\n".join(f"  d{k}: d{k - 1} + d{k - 1}" for k in range(1, 41))
    text = HEAD + ROD + f"define:\n  d0: t\n{doubled}\ndrives: {{m: {{coordinate: arm.angle, effort: d40}}}}\n"
    model = pl.loads_model(text)
    assert model.system.drives["m"].effort.function(1.0, {}, {}) == 2.0**40
    assert pl.loads_model(pl.dump_model(model.system)) == model


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / "model.yaml"


MODEL = HEAD + BEAM.replace("{E: 210 GPa, density: 7.8 g/cm^3}", "brass") % "1"


def test_included_files_bring_materials_parts_and_definitions(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    write(tmp_path / "lib", more="define: {density: 8500}\n")
    bodies = MODEL.removeprefix(HEAD) + "  end: {part: bar, joint: weld}\n"
    model = write(tmp_path, model=HEAD + "include: [lib/alloys.yaml]\n" + bodies)
    write(tmp_path / "lib", alloys="pliant: 1\ninclude: more.yaml\nmaterials: {brass: {E: 100 GPa, density: density}}\n"
          "parts: {bar: {rod: {length: 1, mass: 1}}}\n")  # fmt: skip
    system = pl.load_model(model).system
    assert system.links["arm"].body.material == pl.Material(E=1e11, density=8500.0)
    assert system.links["end"].body == pl.RigidBody.rod(1.0, 1.0)
    assert pl.loads_model(pl.dump_model(system)).system == system  # whole without the files it came from


@pytest.mark.parametrize(
    ("include", "other", "message"),
    [
        ("other.yaml", "materials: {brass: {E: 1, densty: 2}}", r"other\.yaml:1:27: materials\.brass: unknown key 'densty'"),
        ("other.yaml", "system: no", r"other\.yaml:1:1: unknown key 'system'; known: pliant, include, define, materials, parts"),
        ("other.yaml", "include: model.yaml", r"other\.yaml:1:1: include: files must not include each other in a circle"),
        ("other.yaml", "include: other.yaml", r"must not include each other in a circle, got other\.yaml includes other\.yaml"),
        ("other.yaml", "a: [", r"model\.yaml:4:1: include: .*other\.yaml:1:5: not valid YAML"),
        ("other.yaml", "materials: !!python/object/apply:os.system ['touch harm']", r"tags are not supported"),
        ("none.yaml", "", r"model\.yaml:4:1: include: .*none\.yaml: cannot be read: No such file"),
        (".", "", r"cannot be read: must be a file"),
        ("/etc/hostname", "", r"include: must be a path relative to this file, got '/etc/hostname'"),
        ("[{a: 1}]", "", r"include\[0\]: must be the name of a file, got a mapping"),
    ],
)  # fmt: skip
def test_wrong_includes_are_refused_with_both_places(tmp_path: Path, include: str, other: str, message: str) -> None:
    model = write(tmp_path, model=HEAD + f"include: {include}\n" + MODEL.removeprefix(HEAD), other=other)
    with pytest.raises(pl.ModelError, match=message):
        pl.load_model(model)
    assert not (tmp_path / "harm").exists()


def test_a_text_can_include_only_where_it_is_told_its_folder(tmp_path: Path) -> None:
    write(tmp_path, alloys="materials: {brass: {E: 1e11, density: 8500}}")
    text = HEAD + "include: alloys.yaml\n" + MODEL.removeprefix(HEAD)
    with pytest.raises(pl.ModelError, match="include: must be left out when the model is not read from a file"):
        pl.loads_model(text)
    assert pl.loads_model(text, folder=tmp_path).system.links["arm"].body.material.density == 8500.0


def test_materials_are_given_once_and_found_by_nearly_right_names() -> None:
    with pytest.raises(pl.ModelError, match=r"must be one of steel, aluminium, bras, or a mapping \(did you mean 'bras'\?\)"):
        pl.loads_model(HEAD + "materials: {bras: {E: 1, density: 1}}\n" + MODEL.removeprefix(HEAD))


def test_names_of_materials_are_new() -> None:
    own, twice = (
        ("{steel: {E: 1}}", "'steel', which is a material of pliant"),
        ("{a: {E: 1}, a: {E: 2}}", "must be given only once, got it twice"),
    )
    for materials, words in (own, twice):
        with pytest.raises(pl.ModelError, match=words):
            pl.loads_model(HEAD + ROD + f"materials: {materials}\n")


def test_motions_may_be_tables_alone_or_by_coordinate() -> None:
    table = "{motion_table: {times: [0, 1, 2, 3], values: [0, 90 deg, 0.5, 1]}}"
    expected = pl.MotionTable((0, 1, 2, 3), (0, math.pi / 2, 0.5, 1))
    model = pl.loads_model(HEAD + "bodies:\n"
        f"  a: {{rod: {{length: 1, mass: 2}}, joint: {{revolute: {{motion: {table}}}}}}}\n"
        f"  b: {{rod: {{length: 1, mass: 2}}, joint: {{planar: {{motion: {{angle: {table}, x: 2*t}}}}}}}}\n"
        "  c: {rod: {length: 1, mass: 2}, joint: {revolute: {motion: {function: t, breakpoints: [1]}}}}\n")  # fmt: skip
    assert model.system.links["a"].joint.motion == {"angle": expected}
    assert model.system.links["b"].joint.motion["angle"] == expected
    assert model.system.links["b"].joint.motion["x"].function == parse_formula("2*t", ("t",))
    assert model.system.links["c"].joint.motion["angle"].breakpoints == (1.0,)
    assert pl.loads_model(pl.dump_model(model.system)) == model


def test_friction_of_a_sleeve_may_be_a_formula() -> None:
    text = (
        HEAD
        + """\
bodies:
  boom:
    telescopic: {length: 1, mass_per_length: 2, section: {A: 3e-4, Iz: 1e-8}, material: {E: 2e11}, modes: {ends: cf, count: 1},
                 extension: 0.5, preload: 5, friction: 0.1*normal*tanh(speed/1e-2)}
    joint: revolute
"""
    )
    model = pl.loads_model(text)
    assert isinstance(model.system.links["boom"].body.friction, pl.CustomFriction)
    assert pl.loads_model(pl.dump_model(model.system)) == model


def outside(tmp_path: Path) -> Path:
    """A model in a folder of its own, and beside that folder a file with a secret."""
    write(tmp_path, secret="materials: {brass: {E: 100 GPa, density: 8500}}\nhunter2: 1\n",
          alloys="materials: {brass: {E: 100 GPa, density: 8500}}\n")  # fmt: skip
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (tmp_path / "models" / "lib").mkdir()
    (tmp_path / "models" / "lib" / "up.yaml").write_text("include: ../../secret.yaml\n")
    return tmp_path / "models"


@pytest.mark.parametrize("include", ["../secret.yaml", "../none.yaml", "link.yaml", "lib/../../secret.yaml", "lib/up.yaml"])
def test_includes_stay_inside_the_folder_of_the_model(include: str, tmp_path: Path) -> None:
    """Nothing of the file is quoted, nor told whether there is one."""
    folder = outside(tmp_path)
    model = write(folder, model=HEAD + f"include: {include}\n" + MODEL.removeprefix(HEAD))
    with pytest.raises(pl.ModelError, match=r"must be inside the folder of the model \(--allow-includes-outside") as refusal:
        pl.load_model(model)
    assert "hunter2" not in str(refusal.value) and "No such file" not in str(refusal.value)
    with pytest.raises(pl.ModelError, match="must be inside the folder"):
        pl.loads_model(model.read_text(), folder=folder)


def test_includes_inside_may_go_up_and_down_and_outside_where_allowed(tmp_path: Path) -> None:
    folder = outside(tmp_path)
    (folder / "lib" / "up.yaml").write_text("include: ../alloys.yaml\n")
    write(folder, alloys="materials: {brass: {E: 100 GPa, density: 8500}}\n")
    model = write(folder, model=HEAD + "include: lib/up.yaml\n" + MODEL.removeprefix(HEAD))
    assert pl.load_model(model).system.links
    model = write(folder, model=HEAD + "include: ../alloys.yaml\n" + MODEL.removeprefix(HEAD))
    assert pl.load_model(model, includes_outside=True).system.links
    assert pl.loads_model(model.read_text(), folder=folder, includes_outside=True).system.links
    runner = CliRunner()
    assert runner.invoke(app, ["check", str(model)]).exit_code == 2
    assert runner.invoke(app, ["check", str(model), "--allow-includes-outside"]).exit_code == 0


def test_files_that_include_each_other_too_deep_are_refused(tmp_path: Path) -> None:
    """1,200 of them went deeper than Python's stack."""
    for k in range(1200):
        (tmp_path / f"f{k}.yaml").write_text(f"include: f{k + 1}.yaml\n")
    model = write(tmp_path, model=HEAD + "include: f0.yaml\n" + MODEL.removeprefix(HEAD))
    with pytest.raises(pl.ModelError, match="files must include each other at most 20 levels deep"):
        pl.load_model(model)

"""Wrong model files: each is refused with the file, the line, the keys, the rule and the value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pliant.errors import ModelError
from pliant.files import load_model, loads_model

RIGHT = """\
pliant: 1
system: arm
gravity: [0, -9.81]
parts:
  stick: {rod: {length: 1, mass: 2}}
bodies:
  arm:
    beam:
      length: 1.0
      theory: timoshenko
      section: {rectangle: {height: 0.01, width: 0.02}}
      material: {E: 2e11, nu: 0.3, density: 7800}
      modes: {ends: cf, count: 2}
      damping: [{kelvin_voigt: 125}]
    joint: {revolute: {angle: 30*deg}}
    on: ground
  hand: {part: stick, joint: revolute, on: arm.tip}
drives:
  motor: {coordinate: arm.angle, effort: 2*sin(t)}
forces:
  push: {at: hand.tip, vector: [1, 0], expressed: world}
events:
  level: {function: "q['arm.angle']", direction: rising}
run: {t_end: 1, method: {rkf45: {rtol: 1e-9, atol: 1e-12}}, save: 1e-3}
"""

# what is replaced, by what, and what the message must hold
WRONG: list[tuple[str, str, str]] = [
    # keys
    ("gravity:", "gravty:", "m.yaml:3: unknown key 'gravty' (did you mean 'gravity'?)"),
    ("length: 1.0", "lenght: 1.0", "m.yaml:9: bodies.arm.beam: unknown key 'lenght' (did you mean 'length'?)"),
    ("angle: 30", "angel: 30", "m.yaml:15: bodies.arm.joint.revolute: unknown key 'angel' (did you mean 'angle'?)"),
    ("on: ground", "onto: ground", "m.yaml:16: bodies.arm: unknown key 'onto' (did you mean 'on'?)"),
    ("width: 0.02", "breadth: 0.02", "section.rectangle: unknown key 'breadth'; known: height, width, shear_factor"),
    ("effort:", "torque:", "m.yaml:19: drives.motor: unknown key 'torque'; known: coordinate, effort"),
    ("rtol: 1e-9", "rtoll: 1e-9", "run.method.rkf45: unknown key 'rtoll' (did you mean 'rtol'?)"),
    ("save: 1e-3", "saving: 1e-3", "m.yaml:24: run: unknown key 'saving' (did you mean 'save'?)"),
    ("{angle: 30*deg}", "{spring: {stifness: 3}}",
     "joint.revolute.spring: unknown key 'stifness' (did you mean 'stiffness'"),
    ("length: 1.0", "length: 1.0\n      length: 2.0",
     "m.yaml:10: bodies.arm.beam: key 'length' must be given only once, got it twice"),
    ("  hand:", "  arm:", "m.yaml:17: bodies: key 'arm' must be given only once, got it twice"),
    # what must be there
    ("pliant: 1\n", "", "m.yaml:1: pliant must be given, got system, gravity, parts"),
    ("pliant: 1", "pliant: 2", "m.yaml:1: pliant: must be 1, the version of the vocabulary, got '2'"),
    ("      length: 1.0\n", "", "m.yaml:8: bodies.arm.beam: length must be given, got theory, section"),
    (", joint: revolute, on", ", on", "m.yaml:17: bodies.hand: joint must be given, got part, on"),
    ("part: stick, ", "",
     "m.yaml:17: bodies.hand: must contain exactly one of part, beam, telescopic, rigid, modal_body, rod, box, cylinder, hull, "
     "point_mass, got none"),
    ("part: stick", "part: stick, rod: {length: 1, mass: 1}",
     "bodies.hand: must contain exactly one of part, beam, telescopic, rigid, modal_body, rod"),
    ("system: arm", "system:", "m.yaml:2: system: must be a string, got nothing"),
    ("length: 1.0", "length:", "m.yaml:9: bodies.arm.beam.length: must not be empty, got nothing"),
    (", density: 7800", "", "bodies.arm.beam: Beam: mass_per_length or material.density must be given, got neither"),
    ("t_end: 1, ", "", "m.yaml:24: run: t_end must be given, got method, save"),
    # the tree
    ("on: ground", "on: hand.tip", "m.yaml:7: bodies.arm: the tree of bodies must not contain a loop, got arm on hand on arm"),
    ("on: arm.tip", "on: hand.root", "bodies.hand: the tree of bodies must not contain a loop, got hand on hand"),
    ("on: arm.tip", "on: amr.tip",
     "m.yaml:17: bodies.hand.on: must be on ground or on one of the bodies arm, hand (did you mean 'arm'"),
    ("on: arm.tip", "on: arm",
     "bodies.hand.on: must be ground, body.tip, body.root, body.frame or body@station, got 'arm'"),
    ("on: arm.tip", "on: arm.tpi",
     "m.yaml:17: bodies.hand.on: body 'arm': frame must be one of ['root', 'tip'] (did you mean"),
    ("on: arm.tip", "on: arm@1.5", "m.yaml:17: bodies.hand.on: body 'arm': station must be in [0, 1.0] m, got 1.5"),
    ("on: arm.tip", "on: arm@half", "bodies.hand.on: formula 'half': 'half' at column 1 is an unknown name"),
    ("on: arm.tip", "on: {frame: arm.tip, turn: {axis: w, angle: 1}}",
     "must be x, y, z (or -x, -y, -z) or a vector, got 'w'"),
    ("  hand:", "  'h@nd':", "bodies.h@nd: a body's name must not contain @, which marks a station, got 'h@nd'"),
    ("  hand:", "  ha.nd:", "name must be a non-empty string without dots, @, or leading or trailing blanks, got 'ha.nd'"),
    ("part: stick", "part: stikc",
     "m.yaml:17: bodies.hand.part: must be one of the parts stick (did you mean 'stick'?), got"),
    # values
    ("length: 1.0", "length: -1", "m.yaml:9: bodies.arm.beam.length: Beam: length must be > 0 m, got -1.0"),
    ("length: 1.0", "length: .nan", "m.yaml:9: bodies.arm.beam.length: must be a finite number, got '.nan'"),
    ("length: 1.0", "length: 1/0",
     "m.yaml:9: bodies.arm.beam.length: must be a number, got '1/0' (formula '1/0': '1/0' at column 1 divides by"),
    ("length: 1.0", "length: [1]", "m.yaml:9: bodies.arm.beam.length: must be a number, got a list"),
    ("length: 1.0", "length: {m: 1}", "m.yaml:9: bodies.arm.beam.length: must be a number, got a mapping"),
    ("length: 1.0", "length: long",
     "must be a number, got 'long' (formula 'long': 'long' at column 1 is an unknown name"),
    ("ends: cf", "ends: cx",
     "bodies.arm.beam.modes.ends: Modes: ends must be one of cc, ss, sc, cs, cf, fc, ff, sf, fs"),
    ("count: 2", "count: 0", "m.yaml:13: bodies.arm.beam.modes.count: Modes: count must be a whole number >= 1, got 0"),
    ("count: 2", "count: 1e12", "m.yaml:13: bodies.arm.beam.modes.count: Modes: count must be <= 10000, got 1000000000000"),
    ("count: 2", "count: 1.5", "m.yaml:13: bodies.arm.beam.modes.count: must be a whole number, got '1.5'"),
    ("count: 2", "count: 2, payload: yes", "bodies.arm.beam.modes.payload: must be true or false, got 'yes'"),
    ("theory: timoshenko", "theory: timoschenko", "(did you mean 'timoshenko'?), got 'timoschenko'"),
    ("{E: 2e11, nu: 0.3, density: 7800}", "stele",
     "must be one of steel, aluminium, or a mapping (did you mean 'steel'?)"),
    ("nu: 0.3", "nu: 0.7", "m.yaml:12: bodies.arm.beam.material.nu: Material: nu must be in (-1, 0.5], got 0.7"),
    ("height: 0.01", "height: 0", "section.rectangle.height: Section.rectangle: height must be > 0 m, got 0.0"),
    ("{rectangle: {", "{A: 1, rectangle: {", "bodies.arm.beam.section: rectangle must be the only key, got A, rectangle"),
    ("kelvin_voigt: 125", "kelvin_vogt: 125", "damping[0]: unknown kind 'kelvin_vogt' (did you mean 'kelvin_voigt'?)"),
    ("kelvin_voigt: 125", "kelvin_voigt: -1",
     "m.yaml:14: bodies.arm.beam.damping[0].kelvin_voigt: KelvinVoigt: coeffici"),
    ("{revolute: {angle: 30*deg}}", "hinge", "m.yaml:15: bodies.arm.joint: must be one of weld, revolute, prismatic"),
    ("revolute: {angle: 30*deg}", "revolut: ", "bodies.arm.joint: unknown kind 'revolut' (did you mean 'revolute'?)"),
    ("{angle: 30*deg}", "{spring: {x: 3}}",
     "joint.revolute.spring: Revolute: spring must name one of the coordinates ['angle']"),
    ("{angle: 30*deg}", "{motion: \"q['a']\"}",
     "joint.revolute.motion: formula \"q['a']\": \"q['a']\" at column 1 is not allowed"),
    ("{angle: 30*deg}", "{motion: sin(t}",
     "motion: formula 'sin(t': is not an expression: '(' was never closed at column 4"),
    ("{angle: 30*deg}", "{motion: t*q['a']}",
     "m.yaml:15: not valid YAML: expected ',' or '}', but got '[' (put a formula with br"),
    ("gravity: [0, -9.81]", "gravity: -9.81", "m.yaml:3: gravity: must be a list, got '-9.81'"),
    ("gravity: [0, -9.81]", "gravity: [0]", "m.yaml:3: gravity: system 'arm': gravity must be 2 or 3 numbers in m/s^2"),
    ("on: ground", "initial: {z1: 1}",
     "m.yaml:16: bodies.arm.initial: body 'arm': initial must name modes out of ['y1', 'y2']"),
    # what acts, what is watched, how it runs
    ("coordinate: arm.angle", "coordinate: arm.angel",
     "drives.motor.coordinate: drive 'motor': coordinate must be one of"),
    ("2*sin(t)", "2*sinn(t)", "m.yaml:19: drives.motor.effort: formula '2*sinn(t)': 'sinn' at column 3 is an unknown"),
    ("2*sin(t)", "__import__('os')", "formula \"__import__('os')\": '__import__' at column 1 is an unknown function"),
    ("2*sin(t)", "{piecewise: {}}",
     "m.yaml:19: drives.motor.effort: unknown kind 'piecewise' (did you mean 'piecewise_"),
    ("2*sin(t)", "{piecewise_constant: {times: [0, 1], values: [1]}}",
     "values must have 2 entries, one per time, got 1"),
    ("2*sin(t)", "{piecewise_linear: {times: [1, 0], values: [1, 2]}}", "times must be strictly increasing, got [1.0, 0.0]"),
    ("2*sin(t)", "[1, 2]", "m.yaml:19: drives.motor.effort: must be a number or a formula or a mapping, got a list"),
    ("vector: [1, 0]", "vector: [1]", "m.yaml:21: forces.push.vector: force 'push': vector must have 2 or 3 components"),
    ("vector: [1, 0]", "vector: 1", "m.yaml:21: forces.push.vector: must be a list, got '1'"),
    ("expressed: world", "expressed: moon",
     "forces.push.expressed: force 'push': expressed must be one of world, body"),
    ("at: hand.tip", "at: head.tip", "m.yaml:21: forces.push.at: system 'arm': body must be one of ['arm', 'hand']"),
    ("at: hand.tip", "at: ground", "forces.push.at: force 'push': at must be a frame of a moving body, got 'ground'"),
    ("q['arm.angle']", "q['arm.angel']", "events.level.function: formula \"q['arm.angel']\""),
    ("direction: rising", "direction: up", "event 'level': direction must be one of rising, falling, both, got 'up'"),
    ("  level:", "  motor:", "events.motor: system 'arm': name must be unique (a drive already has this name), got 'motor'"),
    ("{rkf45: {rtol: 1e-9, atol: 1e-12}}", "rkf54", "run.method: must be one of auto, rkf45, dormand_prince, tsit5, dop853"),
    ("{rkf45: {rtol: 1e-9, atol: 1e-12}}", "rkf45",
     "run.method: rkf45 must be given with rtol, atol, as in {rkf45: ...}"),
    ("rtol: 1e-9", "rtol: -1", "m.yaml:24: run.method.rkf45.rtol: RKF45: rtol must be in"),
    ("t_end: 1,", "t_end: 0,", "m.yaml:24: run.t_end: run: t_end must be > 0 s, got 0.0"),
    ("save: 1e-3", "save: [0, 2]", "m.yaml:24: run.save: run: save must lie in [0, 1.0] s, got (0.0, 2.0)"),
    ("save: 1e-3", "save: often", "run.save: run: save must be an interval in s, a list of times in s, or steps, got 'often'"),
    # YAML itself
    ("gravity: [0, -9.81]", "gravity: [0, -9.81", "m.yaml:4: not valid YAML"),
    ("system: arm", "system: arm\n\tgravity: [0, 0]",
     "m.yaml:3: not valid YAML: found character '\\t' that cannot start any token (indent lines with spaces, not with tabs)"),
    ("gravity: [0, -9.81]", "gravity: &g [0, -9.81]",
     "m.yaml:3: anchors and aliases are not supported (to share a body, put it under parts)"),
    ("system: arm", "system: !!python/object/apply:os.system ['true']",
     "m.yaml:2: tags are not supported, got 'tag:yaml"),
    ("gravity: [0, -9.81]", "gravity: " + "[" * 60 + "]" * 60, "m.yaml:3: mappings and lists must be nested at most 40 levels"),
    ("gravity:", "? [a, b]\n: 1\ngravity:", "m.yaml:3: must be a key, got a list"),
    ("gravity:", "---\ngravity:", "m.yaml:3: not valid YAML: but found another document"),
    # slips of someone who is new to YAML
    ("length: 1.0", "length: 0,5", "bodies.arm.beam.length: must be a number, got '0,5' (formula '0,5': "),
    ("length: 1.0", "length: 0,5", "; write a decimal point: 0.5)"),
    ("length: 1.0", "length: 0,5 m", "; write a decimal point: 0.5)"),
    ("length: 1.0", "length: 2 * 0,5", "; write a decimal point: 0.5)"),
    ("height: 0.01", "height: 0,01", "beam.section.rectangle: unknown key '01' (write a decimal point: 0.01); known"),
    ("t_end: 1,", "t_end: 1,5,", "m.yaml:24: run: unknown key '5' (write a decimal point: 1.5); known"),
    ("2*sin(t)", "atan2(1,5, t)", "drives.motor: unknown key '5' (put a formula with brackets or commas in quotes); known"),
    ("    joint: {rev", "   joint: {rev", "m.yaml:15: not valid YAML: expected <block end>, but"),
    ("    joint: {rev", "   joint: {rev", "(lines that belong together must be indented alike, more than the line above)"),
    ("  motor:", "motor:", "m.yaml:19: unknown key 'motor' (indent it if it belongs to 'drives', which is empty); known"),
    ("width: 0.02}}", "width: 0.02}", "(the { at line 11, column 16 must be closed by a })"),
    ("[0, -9.81]", "[0, -9.81", "(the [ at line 3, column 10 must be closed by a ])"),
    ("save: 1e-3}", "save: 1e-3}}", "m.yaml:24: not valid YAML: expected <block end>, but found '}' (a } too many)"),
    ("gravity: [0, -9.81]", "gravity: [0, -9,81]", "m.yaml:3: gravity: must have a decimal point, -9.81, or a space after"),
    ("gravity: [0, -9.81]", "gravity: [0,5 m/s^2, 0]", "gravity: must have a decimal point, 0.5 m/s^2, or a space after the comma"),
    ("width: 0.02", "width:0.02", "unknown key 'width:0.02' (write a space after the colon: width: 0.02); known"),
    ("length: 1.0", "length: 0,5m", "; write a decimal point: 0.5)"),
    ("system: arm", "system arm", "could not find expected ':' (after the key in line 2, a colon and a space must follow)"),
]  # fmt: skip


def test_the_right_file_is_right() -> None:
    assert loads_model(RIGHT).system.degrees_of_freedom == 6


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG, ids=[wrong[:40] or right for right, wrong, _ in WRONG])
def test_a_wrong_file_is_refused_with_line_keys_rule_and_value(right: str, wrong: str, message: str) -> None:
    assert RIGHT.count(right) >= 1
    with pytest.raises(ModelError) as refusal:
        loads_model(RIGHT.replace(right, wrong, 1), "m.yaml")
    assert message in COLUMN.sub(r"\1", str(refusal.value))  # columns have a test of their own
    assert COLUMN.match(str(refusal.value))


COLUMN = re.compile(r"(m\.yaml:\d+):\d+")


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("gravity:", "gravty:", "3:1"),
        ("length: 1.0", "lenght: 1.0", "9:7"),
        ("length: 1.0", "length: -1", "9:7"),
        ("angle: 30*deg", "angel: 30*deg", "15:24"),
        ("nu: 0.3", "nu: 0.7", "12:27"),
        ("on: arm.tip", "on: amr.tip", "17:40"),
        ("effort: 2*sin(t)", "effort: 2*sinn(t)", "19:34"),
        ("vector: [1, 0]", "vector: [1, x]", "21:36"),
        ("gravity: [0, -9.81]", "gravity: [0, -9.81", "4:6"),
        ("system: arm", "system: !!python/name:os.system ''", "2:9"),
    ],
)
def test_the_place_is_told_to_the_column(right: str, wrong: str, place: str) -> None:
    with pytest.raises(ModelError, match=rf"^m\.yaml:{place}: "):
        loads_model(RIGHT.replace(right, wrong, 1), "m.yaml")


def test_files_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load_model(tmp_path / "nowhere.yaml")
    with pytest.raises(ModelError, match="cannot be read: must be a file"):
        load_model(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"system: \xff")
    with pytest.raises(ModelError, match=r"bytes\.yaml: must be UTF-8 text, got byte 0xff"):
        load_model(tmp_path / "bytes.yaml")
    for head in (b"\x89HDF\r\n", b"CDF\x01" + bytes(6_000_000)):  # a result may be larger than any model
        (tmp_path / "run.nc").write_bytes(head)
        with pytest.raises(
            ModelError, match=r"run\.nc: must be a model file, got the result of a run .*pliant info run\.nc --model"
        ):
            load_model(tmp_path / "run.nc")
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    with pytest.raises(ModelError, match=r"empty\.yaml: must contain a model, got nothing"):
        load_model(tmp_path / "empty.yaml")


def test_no_bodies_is_no_mechanism() -> None:
    with pytest.raises(ModelError, match=r"m\.yaml:4:1: bodies: must hold at least one body, got none"):
        loads_model("pliant: 1\nsystem: s\ngravity: [0, 0]\nbodies: {}\n", "m.yaml")


def test_a_long_loop_names_its_bodies_and_no_other() -> None:
    text = "pliant: 1\nsystem: s\ngravity: [0, 0]\nparts: {r: {rod: {length: 1, mass: 1}}}\nbodies:\n"
    for name, parent in (("w", "x"), ("x", "y"), ("y", "z"), ("z", "x")):
        text += f"  {name}: {{part: r, joint: revolute, on: {parent}.tip}}\n"
    with pytest.raises(ModelError, match=r"bodies\.x: the tree of bodies must not contain a loop, got x on y on z on x"):
        loads_model(text)


def test_a_list_of_millions_is_refused_before_it_is_read() -> None:
    """It took 398 s: every value was made an object that knows its line."""
    for values in ("[" + "1," * 9_000_000 + "1]", "\n" + "  - 1\n" * 300_000):
        text = RIGHT.replace("[0, -9.81]", values)
        with pytest.raises(ModelError, match=r"m\.yaml: must contain at most 200000 values, got about \d+"):
            loads_model(text, "m.yaml")


def test_a_file_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(RIGHT + "# " + "x" * 5_000_000)
    with pytest.raises(ModelError, match="must be at most 5000000 bytes"):
        load_model(tmp_path / "m.yaml")


STEERING = [
    ("hand:", '"ha\\e[2Jnd":'),
    ("motor:", '"mo\\u202etor":'),
    ("theory:", '"the\\e]0;ory":'),
    ("theory: timoshenko", 'theory: "\\e[31m"'),
    ("system: arm", 'system: "a\\x9brm"'),
]


@pytest.mark.parametrize(("old", "new"), STEERING)
def test_control_characters_of_a_file_do_not_reach_the_terminal(old: str, new: str) -> None:
    with pytest.raises(ModelError) as refusal:
        loads_model(RIGHT.replace(old, new), "m.yaml")
    assert str(refusal.value).isprintable()


def test_numbers_from_which_nothing_can_be_computed_are_refused_with_their_place() -> None:
    with pytest.raises(ModelError, match=r"m\.yaml:9:\d+: bodies\.arm\.beam.*: .*length must have a magnitude <= 1e\+60 m"):
        loads_model(RIGHT.replace("length: 1.0", "length: 1e200"), "m.yaml")


@pytest.mark.parametrize(("name", "meant"), [("hinge", "revolute"), ("{slider: {axis: x}}", "prismatic"), ("ball", "spherical")])
def test_the_words_of_other_programs_for_joints_are_known(name: str, meant: str) -> None:
    text = "pliant: 1\nsystem: s\ngravity: [0, 0]\nbodies: {a: {rod: {length: 1, mass: 1}, joint: %s}}\n"
    with pytest.raises(ModelError, match=rf"\(did you mean '{meant}'\?\)"):
        loads_model(text % name)

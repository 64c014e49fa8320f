"""Definitions of model files as parameters: what they are, what kind their numbers are of, and how they are written back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pliant as pl

HEAD = "pliant: 1\nsystem: s\ngravity: [0, -9.81]\n"
ROD = "bodies: {arm: {rod: {length: %s, mass: %s}, joint: {revolute: {angle: %s, rate: %s}}}}\n"

ARM = (
    HEAD
    + """\
define:
  L: 400 mm
  half: L/2
  payload: {value: 300 g, low: 0.1 kg, high: 1 kg}
  spin: 3 rad/s
  tau: 2 N*m
  T: 0.05
  e: 0.6
  k: 2e5
  swing: tau*sin(spin*t) if t < T else 0
bodies:
  arm: {rod: {length: L, mass: 2*payload}, joint: {revolute: {angle: 30 deg, rate: -spin}}}
  bob: {rod: {length: half, mass: payload}, joint: {revolute: {angle: 1/T*0.01}}, on: arm.tip}
  wheel: {rod: {length: half, mass: payload}, joint: {revolute: {motion: "where(t < T, 0, spin*(t - T)**3)"}}}
drives: {m: {coordinate: arm.angle, effort: "swing - 0.1*v['arm.angle']"}}
forces: {f: {at: {frame: bob.root, offset: [L/4, 0]}, vector: ["payload*t", tau/L]}}
contacts:
  floor:
    points: bob.tip
    against: {plane: {normal: y, point: [0, -L/8]}}
    normal: {hu_guo: {stiffness: k, restitution: e}}
    friction: 0.1*e*normal*tanh(speed/1e-3)
events: {low: {function: "q['arm.angle'] + e", direction: falling}}
run: {t_end: 0.3, method: {dop853: {rtol: 1e-10, atol: 1e-12}}}
"""
)
OTHER = {"L": 0.6, "payload": 0.5, "spin": 2.5, "tau": 1.5, "T": 0.12, "e": 0.7, "k": 1e5}


def model(define: str, length: str = "1", mass: str = "1", angle: str = "0", rate: str = "0", more: str = "") -> pl.System:
    return pl.loads_model(HEAD + f"define: {{{define}}}\n" + ROD % (length, mass, angle, rate) + more).system


def told(parameters: dict[str, pl.Parameter]) -> dict[str, tuple[Any, ...]]:
    return {name: (p.value, p.unit, p.low, p.high) for name, p in parameters.items()}


def test_numbers_under_define_are_parameters_in_si_with_units_and_bounds() -> None:
    assert told(pl.loads_model(ARM).system.parameters) == {
        "L": (0.4, "m", None, None),
        "payload": (0.3, "kg", 0.1, 1.0),
        "spin": (3.0, "rad/s", None, None),
        "tau": (2.0, "N*m", None, None),
        "T": (0.05, None, None, None),
        "e": (0.6, None, None, None),
        "k": (2e5, None, None, None),
    }


def test_a_run_with_parameters_is_the_run_of_the_file_with_these_numbers() -> None:
    """In parts, starts, places, drives, loads, motions, laws and events, breakpoints among them."""
    system = pl.loads_model(ARM).system
    method = pl.DOP853(rtol=1e-10, atol=1e-12)
    by_parameters = pl.simulate(system, 0.3, method=method, parameters=OTHER)
    by_file = pl.simulate(pl.loads_model(ARM, parameters=OTHER).system, 0.3, method=method)
    as_it_was = pl.simulate(system, 0.3, method=method)
    assert by_parameters.ok
    assert len(by_parameters.contacts) > 0
    for coordinate in ("arm.angle", "bob.angle", "wheel.angle"):
        np.testing.assert_allclose(by_parameters[coordinate], by_file[coordinate], rtol=0.0, atol=1e-12)
        assert abs(by_parameters[coordinate][-1] - as_it_was[coordinate][-1]) > 1e-3
    assert [event.t for event in by_parameters.events] == pytest.approx([event.t for event in by_file.events], rel=1e-12)


STEPS = "drives: {m: {coordinate: arm.angle, effort: 'where(t < a, 1, 0) + where(t < b, 0, 2)'}}"


def test_breakpoints_follow_their_parameters_past_each_other() -> None:
    system = model("a: 0.1, b: 0.2", more=STEPS)
    effort = system.drives["m"].effort
    assert isinstance(effort, pl.Formula)
    assert effort.breakpoints == (0.1, 0.2)
    late = pl.simulate(system, 0.5, parameters={"a": 0.3})
    plain = pl.simulate(model("a: 0.3, b: 0.2", more=STEPS), 0.5)
    np.testing.assert_allclose(late["arm.angle"], plain["arm.angle"], rtol=0.0, atol=1e-12)


def test_two_breakpoints_of_one_value_may_part() -> None:
    late = pl.simulate(model("a: 0.2, b: 0.2", more=STEPS), 0.5, parameters={"b": 0.4})
    plain = pl.simulate(model("a: 0.2, b: 0.4", more=STEPS), 0.5)
    np.testing.assert_allclose(late["arm.angle"], plain["arm.angle"], rtol=0.0, atol=1e-12)


def test_conditions_on_parameters_choose_again_for_other_values() -> None:
    define, drive = "a: 1, b: 3 if a > 2 else 1", "drives: {m: {coordinate: arm.angle, effort: '2*t if a > 2 else t'}}"
    system = model(define, mass="b", more=drive)
    assert system.mass == 1.0
    changed = pl.simulate(system, 0.3, parameters={"a": 2.5})
    plain = pl.simulate(model(define.replace("a: 1", "a: 2.5"), mass="b", more=drive), 0.3)
    np.testing.assert_allclose(changed["arm.angle"], plain["arm.angle"], rtol=0.0, atol=1e-12)


def test_shapes_of_beams_are_made_again_for_other_values() -> None:
    beam = """\
define: {root: 1.875, w: 2 cm}
bodies:
  arm:
    beam:
      length: 1
      theory: euler-bernoulli
      section: {rectangle: {height: 5 mm, width: w}}
      material: steel
      modes: {given: {shapes: [{w: 1 - cos(root*x), dw: root*sin(root*x), ddw: root**2*cos(root*x)}]}}
    joint: {revolute: {angle: 0.5}}
"""
    new = {"root": 1.6, "w": 0.03}
    changed = pl.simulate(pl.loads_model(HEAD + beam).system, 0.2, parameters=new)
    plain = pl.simulate(pl.loads_model(HEAD + beam, parameters=new).system, 0.2)
    np.testing.assert_allclose(changed["arm.y1"], plain["arm.y1"], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("define", "fields", "message"),
    [
        ("spin: 2 Hz", {"rate": "spin"}, r"revolute\.rate: must be in rad/s, got 'spin', which is a frequency in Hz"),
        ("spin: 2 Hz, twice: 2*spin", {"rate": "twice"}, r"rate: must be in rad/s, got 'twice', which is a frequency in Hz"),
        ("spin: 300 1/min", {"rate": "spin"}, r"rate: must be in rad/s, got 'spin', which is a frequency in Hz or 1/s"),
        ("spin: 300 U/min", {}, r"define\.spin: unit 'U/min' is of dimension \[substance\].*\(turns per minute are rpm\)"),
        ("L: 2 m, A: L**2", {"length": "A"}, r"rod\.length: must be in m, got 'A', which is of dimension \[length\] \*\* 2"),
        ("L: 2 m", {"mass": "3*L"}, r"rod\.mass: must be in kg, got '3\*L', which is of dimension \[length\]"),
        ("L: 2 m, m: 3 kg, total: L + m", {}, r"define\.total: formula 'L \+ m': 'L \+ m' at column 1 must combine "
         r"quantities of the same dimension, got 'L', which is of dimension \[length\], and 'm', which is of dimension \[mass\]"),
        ("L: 2 m, m: 3 kg, most: 'max(L, m)'", {}, r"define\.most: .*must combine quantities of the same dimension"),
        ("L: 2 m, m: 3 kg, one: 1 if L < m else 2", {}, r"define\.one: .*must combine quantities of the same dimension"),
        ("L: 2 m, m: 3 kg, one: L if m > 2 else m", {}, r"define\.one: .*must combine quantities of the same dimension"),
        ("L: 2 m, s: sin(L)", {},
         r"define\.s: .*must be a function of an angle or a plain number, got 'L', which is of dimension \[length\]"),
        ("L: 2 m, s: 2**L", {}, r"define\.s: .*must be a function of an angle or a plain number, got 'L'"),
        ("a: 30 deg, c: cos(a)", {"length": "c"}, r"length: must be in m, got 'c', which is a plain number"),
        ("f: 2 Hz, w: 3 rad/s, both: f + w", {}, r"define\.both: .*must combine quantities of the same dimension"),
        ("L: 1 m", {"more": "drives: {m: {coordinate: arm.angle, effort: 'L - t'}}"}, r"effort: must be in N m, got 'L - t'"),
        ("L: 1 m", {"more": "run: {t_end: L}"}, r"run\.t_end: must be in s, got 'L'"),
        ("L: {value: 1 m, low: 1 kg}", {}, r"define\.L\.low: must be in m, got 'kg'"),
        ("L: {value: 1 m, low: 2}", {}, r"define\.L\.value: parameter 'L': value must be >= 2\.0 m, got 1\.0"),
        ("L: 1, M: {value: L, low: 0}", {}, r"define\.M\.value: must be a plain number when it has bounds, got 'L'"),
        ("L: {value: 1 m, unit: m}", {}, r"define\.L: unit must be left out when the value has its own unit, got 'm'"),
        ("L: {valu: 1}", {}, r"define\.L: unknown key 'valu' \(did you mean 'value'\?\)"),
    ],
)  # fmt: skip
def test_what_is_of_another_kind_is_refused_by_its_name(define: str, fields: dict[str, str], message: str) -> None:
    with pytest.raises(pl.ModelError, match=message):
        model(define, **fields)


@pytest.mark.parametrize(
    ("define", "fields"),
    [
        ("spin: 2 Hz", {"rate": "2*pi*spin"}),
        ("spin: 2 Hz, turn: 360 deg", {"rate": "turn*spin"}),
        ("gain: 10 1/s, off: 5 deg, n: 30 rpm", {"rate": "n + gain*off"}),
        ("period: 2 s", {"rate": "2*pi/period"}),
        ("n: 30 rpm", {"rate": "n/2"}),
        ("A: 4 m^2", {"length": "sqrt(A)"}),
        ("A: 4 m^2", {"length": "A**0.5 + 0.1"}),
        ("s: 1 m, r: 2 m", {"angle": "s/r"}),
        ("s: 1 m, r: 2 m", {"angle": "'atan2(s, r)'"}),
        ("s: 1 m, r: 2 m", {"length": "'hypot(s, r)'"}),
        ("s: 1 m, r: 2 m", {"length": "s*sin(30*deg)"}),
        ("rho: 7.8 g/cm^3, A: 1 cm^2, L: 2 m", {"mass": "rho*A*L"}),
        ("rho: 7800, A: 1 cm^2, L: 2 m", {"mass": "rho*A*L"}),
        ("area: 3e-4", {"length": "area", "mass": "area", "rate": "area"}),
        ("F: 3 N, L: 2 m", {"more": "drives: {m: {coordinate: arm.angle, effort: F*L - 0.1*t}}"}),
    ],
)
def test_kinds_go_through_formulas(define: str, fields: dict[str, str]) -> None:
    assert model(define, **fields)


def test_numbers_that_decide_the_structure_are_no_parameters_but_can_be_set_when_the_file_is_read() -> None:
    text = HEAD + (
        "define: {n: 2, L: 1 m}\n"
        "bodies: {arm: {beam: {length: L, theory: euler-bernoulli, section: {round: 5 mm}, material: steel, "
        "modes: {ends: cf, count: n}}, joint: revolute}}\n"
    )
    assert list(pl.loads_model(text).system.parameters) == ["L"]
    assert len(pl.loads_model(text, parameters={"n": 3}).system.links["arm"].mode_labels) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"payloda": 1}, r"parameters: name must name one of \['L', .*\] \(did you mean 'payload'\?\), got 'payloda'"),
        ({"payload": 3.0}, r"parameter 'payload': value must be <= 1\.0 kg, got 3\.0"),
        ({"payload": "3 m"}, r"parameter 'payload': value must be in kg, got 'm', which is of dimension \[length\]"),
        ({"payload": "much"}, r"parameter 'payload': value formula 'much'"),
        ({"half": 0.3}, r"parameter 'half': value must not be set, it is computed as L/2, got 0\.3"),
        ({"swing": 1}, r"parameter 'swing': value must not be set"),
        # the kind of e is not known: it takes that of what is given, and is refused where it is used
        ({"e": "2 m"}, r"restitution: must be a number without a unit, got 'e', which is of dimension \[length\]"),
        ({"L": -0.4}, r"bodies\.arm\.rod\.length: .*must be > 0 m, got -0\.4"),
    ],
)
def test_values_that_cannot_be_set_are_refused(given: dict[str, float | str], message: str) -> None:
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(ARM, parameters=given)


def test_a_formula_without_a_value_for_a_parameter_is_refused_by_its_text() -> None:
    system = model("a: 0.5", length="sqrt(1 - a)", more="drives: {m: {coordinate: arm.angle, effort: t*sqrt(2 - a)}}")
    with pytest.raises(pl.ModelError, match=r"formula 'sqrt\(1 - a\)': must have a value, but has none at a = 1\.5"):
        pl.simulate(system, 0.1, parameters={"a": 1.5})
    formula = model("a: 0.5", more="drives: {m: {coordinate: arm.angle, effort: t*sqrt(2 - a)}}")
    with pytest.raises(pl.ModelError, match=r"formula 't\*sqrt\(2 - a\)' of 'm': must have a value"):
        pl.simulate(formula, 0.1, parameters={"a": 2.5})


# ---- written back


def test_a_system_with_parameters_is_written_so_that_it_has_them_again() -> None:
    first = pl.loads_model(ARM)
    text = pl.dump_model(first.system, first.run)
    again = pl.loads_model(text)
    assert again == first
    assert told(again.system.parameters) == told(first.system.parameters)
    assert pl.dump_model(again.system, again.run) == text
    by_first = pl.simulate(first.system, 0.2, parameters=OTHER)
    by_again = pl.simulate(again.system, 0.2, parameters=OTHER)
    np.testing.assert_allclose(by_again["bob.angle"], by_first["bob.angle"], rtol=0.0, atol=1e-9)


def of_python() -> pl.System:
    width, mass = pl.Parameter("width", 0.03, "m", low=0.01), pl.Parameter("mass", 1.0, "apples")
    system = pl.System("python", (0, -9.81))
    section = pl.Section.rectangle(0.005, width)
    beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.5))
    a, b = pl.RigidBody.rod(0.5, mass), pl.RigidBody.rod(0.5, 1.0)
    system.add("a", a, joint=pl.Revolute(), on=arm.at(0.3).moved((width / 2, 0)))
    system.add("b", b, joint=pl.Revolute(), on=arm.at(10 * width))
    return system


def test_expressions_of_python_are_written_too_and_long_ones_in_parts() -> None:
    """The torsion of a rectangle is a series; bodies of equal numbers that come from different parameters stay apart."""
    system = of_python()
    again = pl.loads_model(pl.dump_model(system)).system
    assert told(again.parameters) == told(system.parameters)
    values = {"width": 0.04, "mass": 1.5}
    plain = pl.loads_model(pl.dump_model(system, parameters=values)).system
    expected = pl.simulate(system, 0.1, parameters=values)
    for result in (pl.simulate(again, 0.1, parameters=values), pl.simulate(plain, 0.1)):
        np.testing.assert_allclose(result["b.angle"], expected["b.angle"], rtol=0.0, atol=1e-9)
    assert math.isclose(plain.links["arm"].body.section.J, pl.Section.rectangle(0.005, 0.04).J, rel_tol=1e-14)
    assert plain.links["a"].body.mass == 1.5
    assert plain.links["b"].body.mass == 1.0


def test_parameters_whose_names_mean_something_in_files_are_refused_when_written() -> None:
    system = pl.System("s", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, pl.Parameter("t", 1.0)), joint=pl.Revolute())
    with pytest.raises(pl.ModelError, match="definition 't': must be another name"):
        pl.dump_model(system)


def test_thousands_of_definitions_that_build_on_each_other_are_read_and_written() -> None:
    chain = ", ".join(f"d{k}: d{k - 1} + d{k - 1} - d{k - 1}*1" for k in range(1, 300))
    system = model(f"d0: 1.5, {chain}", mass="d299")
    assert system.mass == 1.5
    assert pl.simulate(system, 0.01, parameters={"d0": 2.0}).ok
    assert pl.loads_model(pl.dump_model(system)).system.mass == 1.5


DRIVEN = 'drives: {m: {coordinate: arm.angle, effort: "%s"}}\n'


@pytest.mark.parametrize(
    ("define", "effort", "name"),
    [
        ("n: 120 1/min, soll: 'n*min(t/0.15, 1)'", "0.05*7*(soll - v['arm.angle'])", "n"),
        ("n: 2 Hz", "0.3*(n*min(t, 1)/1 - v['arm.angle'])", "n"),
        ("n: 2 1/s, twice: 2*n", "max(twice*t, v['arm.angle'])", "twice"),
        ("n: 2 Hz", "1 if v['arm.angle'] < 3*n*t else 0", "n"),
        ("n: 120 1/min, k: 0.05 N*m*s/rad", "k*n*min(t/0.15, 1) - k*v['arm.angle']", "n"),
        ("n: 120 1/min", "n*t - angle_rate('arm.tip', 'ground', 'z')", "n"),
        ("f: 2 Hz", "3*sin(f*t)", "f"),
    ],
)
def test_a_frequency_in_a_formula_is_not_taken_for_an_angular_velocity(define: str, effort: str, name: str) -> None:
    """120 1/min was taken for 2 rad/s, without a word, where a factor has no unit."""
    with pytest.raises(pl.ModelError, match=rf"effort: .*{name}: a frequency .* define {name} in rpm, .* or write 2\*pi\*{name} "):
        model(define, more=DRIVEN % effort)


def test_a_motion_of_frequency_times_time_is_refused_and_turns_are_not() -> None:
    moved = ROD.replace("{angle: %s, rate: %s}", "{motion: n*t}") % ("1", "1")
    with pytest.raises(pl.ModelError, match=r"motion: must be in rad, got 'n\*t'; n: a frequency .* define n in rpm"):
        pl.loads_model(HEAD + "define: {n: 120 1/min}\n" + moved)
    assert pl.loads_model(HEAD + "define: {n: 120 rpm}\n" + moved).system.parameters["n"].value == pytest.approx(4 * math.pi)
    pl.loads_model(HEAD + "define: {n: 120 1/min}\n" + moved.replace("n*t", "2*pi*n*t"))


@pytest.mark.parametrize(
    ("define", "effort"),
    [
        ("f: 2 Hz", "3*sin(2*pi*f*t) - 0.1*v['arm.angle']"),
        ("f: 2 Hz", "3*sin(f*(2*pi*t)) - 0.1*v['arm.angle']"),
        ("f: 2 Hz, w: 2*pi*f", "3*sin(w*t) - w*v['arm.angle']"),
        ("f: 2 Hz, turn: 2*pi, s: turn*f*t", "3*sin(s) - 0.1*v['arm.angle']"),
        ("n: 120 1/min, soll: 2*pi*n*t", "0.05*(soll - v['arm.angle'])"),
        ("kp: 5 1/s, ref: 0.3*t", "2*(kp*ref - kp*q['arm.angle'] - v['arm.angle'])"),
        ("kp: 5 1/s, ref: 30 deg, d: 2 N*m*s/rad", "d*(kp*(ref - q['arm.angle']) - v['arm.angle'])"),
        ("a: 3 1/s", "exp(-a*t)*v['arm.angle'] - 0.1*v['arm.angle']"),
        ("f: 2 Hz", "floor(f*t) - 0.1*v['arm.angle']"),
        ("f: 2 Hz", "5*f*t"),
    ],
)
def test_a_frequency_that_is_one_raises_no_alarm(define: str, effort: str) -> None:
    """It is multiplied by 2 pi, by an angle or by a coordinate; or it counts, or decays; or no rotation is near."""
    assert model(define, more=DRIVEN % effort).drives


def test_a_value_in_rpm_is_refused_for_a_frequency() -> None:
    with pytest.raises(pl.ModelError, match=r"must be in Hz, got 'rpm', which is an angular velocity"):
        pl.loads_model(HEAD + "define: {f: 2 Hz}\n" + ROD % ("1", "1", "0", "0"), parameters={"f": "120 rpm"})


def test_tuples_of_several_parameters_are_written():
    """As the inertias and the start of a free body: how they differ from defaults has no truth value."""
    own = pl.Parameter("own_inertia", 0.5, "kg m^2")
    begin = tuple(pl.Parameter(f"begin_{axis}", 0.0, "m") for axis in "xyz")
    system = pl.System("free", gravity=(0, 0, -9.81))
    system.add("body", pl.RigidBody(mass=1.0, inertia=(own, own, 2.0 * own)), joint=pl.Free(position=begin))
    again = pl.loads_model(pl.dump_model(system)).system
    values = {"own_inertia": 0.7, "begin_x": 0.1, "begin_z": -0.2}
    rows = [pl.simulate(one, 0.1, parameters=values)["q"] for one in (system, again)]
    assert np.array_equal(*rows) and rows[0][0, 0] == 0.1

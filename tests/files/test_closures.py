"""Closures and telescopic links in model files."""

import pytest

import pliant as pl

TEXT = """
pliant: 1
system: crane
gravity: [0, -9.81]
bodies:
  boom:
    telescopic:
      length: 1.0
      mass_per_length: 2.0
      section: {A: 3.6482e-4, Iz: 1.1772e-8}
      material: {E: 2e11, G: 77e9}
      modes: {ends: cf, count: 1}
      extension: 0.5
      on_sleeve_end: spring
      end_stiffness: 1e5
      friction: {coulomb: {mu: 0.1}}
      preload: 5.0
      payload: {mass: 0.5}
    joint: {revolute: {angle: 0.3}}
  strut: {rod: {length: 1, mass: 1}, joint: {revolute: {angle: 1.0}}, on: {frame: ground, offset: [0.5, -0.5]}}
drives:
  push: {coordinate: boom.extension, effort: "3*sin(t)"}
closures:
  pin: {kind: slider, a: strut.tip, b: boom.root, axis: x}
  rope: {kind: distance, a: boom.tip, b: {frame: ground, offset: [0, 2]}, length: 2.4, by: springs, stiffness: 1e4, damping: 10}
run: {t_end: 0.1}
"""


def test_a_file_with_them_runs_and_comes_back_the_same():
    model = pl.loads_model(TEXT)
    again = pl.loads_model(pl.dump_model(model.system, model.run))
    assert again.system.closures == model.system.closures
    assert again.system.links == model.system.links
    assert again.run == model.run
    run = pl.simulate(model.system, model.run.t_end)
    assert run.ok
    assert abs(run.values["constraint"][:, 0]).max() < 1e-10
    assert run.ledger.relative_error_max < 1e-7


WRONG = {
    "kind: slider": ("kind: slidder", "kind must be one of point"),
    "by: springs, stiffness: 1e4": ("by: springs", "stiffness must be given when springs close the loop"),
    "length: 2.4, by": ("by", "length must be given for a distance closure"),
    "a: strut.tip": ("a: strot.tip", "did you mean 'strut'"),
    "extension: 0.5": ("extension: -0.5", "TelescopicBeam: extension must be > 0 m, got -0.5"),
}


@pytest.mark.parametrize("old", WRONG)
def test_wrong_ones_are_refused(old):
    new, message = WRONG[old]
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(TEXT.replace(old, new))


DRIVEN = """
pliant: 1
system: press
gravity: [0, -9.81]
bodies:
  crank: {rod: {length: 0.2, mass: 1}, joint: {revolute: {angle: 0.4}}}
  wheel: {rod: {length: 0.1, mass: 1}, joint: {revolute: {angle: 0.1}}, on: {frame: ground, offset: [0.5, 0]}}
  hand: {rod: {length: 0.1, mass: 1}, joint: {planar: {position: [1.0, 0.0]}}}
  bob: {rod: {length: 0.1, mass: 1}, joint: {planar: {position: [0.0, -1.0]}}}
closures:
  mesh: {kind: gear, a: crank.angle, b: wheel.angle, ratio: -3}
  turn: {kind: prescribed, a: crank.angle, motion: "0.4 + 0.5*t**2"}
  path: {kind: prescribed, a: hand.tip, b: ground, motion: ["1.1 + 0.1*sin(t)", null]}
  rope: {kind: distance, a: bob.root, b: ground, length: "1 + 0.2*t"}
run: {t_end: 0.1}
"""


def test_driven_closures_run_from_a_file_and_come_back_the_same():
    model = pl.loads_model(DRIVEN)
    written = pl.dump_model(model.system, model.run)
    assert pl.loads_model(written).system.closures == model.system.closures
    assert pl.dump_model(pl.loads_model(written).system, model.run) == written
    run = pl.simulate(model.system, model.run.t_end, save=[0.1])
    assert run["crank.angle"] == pytest.approx(0.405, abs=1e-12)
    assert run["wheel.angle"] - 0.1 == pytest.approx(-0.005 / 3.0, abs=1e-12)
    assert run.ledger.relative_error_max < 1e-7


WRONG_DRIVEN = {
    "ratio: -3": ("ratio: 0", "ratio must not be 0"),
    "b: wheel.angle": ("b: wheel.angel", "did you mean 'wheel.angle'"),
    'motion: "0.4 + 0.5*t**2"': ('motion: "0.4 + q"', "'q' at column 7 is an unknown name"),
    'length: "1 + 0.2*t"': ("length: -1", "length must be > 0 m"),
    '["1.1 + 0.1*sin(t)", null]': ("[null, null]", "motion must prescribe at least one direction"),
}


@pytest.mark.parametrize("old", WRONG_DRIVEN)
def test_wrong_driven_ones_are_refused(old):
    new, message = WRONG_DRIVEN[old]
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(DRIVEN.replace(old, new))


def test_axes_of_both_frames_are_written_and_read():
    system = pl.System("joint", gravity=(0, 0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3))
    arm, other = (system.add(name, body, joint=pl.Free()) for name in ("arm", "other"))
    system.close("cross", "universal", arm.root, other.root, axis="y", other_axis=(1.0, 0.0, 1.0))
    system.close("slot", "cylindrical", arm.at((1.0, 0.0)), system.ground, axis="x")
    assert pl.loads_model(pl.dump_model(system)).system.closures == system.closures

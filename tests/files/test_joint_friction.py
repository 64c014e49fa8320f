"""Friction inside joints and closures in model files."""

import pytest

import pliant as pl

TEXT = """
pliant: 1
system: press
gravity: [0, -9.81]
bodies:
  crank:
    rod: {length: 30 cm, mass: 1}
    joint: {revolute: {angle: 0.5, friction: {law: {coulomb: {mu: 0.2, transition: 1 mm/s}}, radius: 12 mm, preload: 3 N}}}
  rod:
    rod: {length: 0.7, mass: 0.8}
    joint: {revolute: {angle: -0.7, friction: {angle: {law: {formula: "0.1*normal*tanh(speed/0.01)"}, radius: 0.01}}}}
    on: crank.tip
  slider:
    rigid: {mass: 0.5, inertia: 0.001}
    joint: {prismatic: {displacement: 0.95, friction: {law: {lu_gre: {sigma0: 1e4, sigma1: 10, mu_static: 0.2, mu_kinetic: 0.15,
      v_stribeck: 0.1}}, guide: 5 cm}}}
  boom:
    telescopic: {length: 1, section: {tube: {outer: 0.012, inner: 0.01}}, material: aluminium, modes: {ends: cf, count: 1},
      extension: 0.6, friction: {law: {dry_friction: {mu_static: 0.2, mu_kinetic: 0.1}}, preload: 5 N}}
    joint: {revolute: {}}
closures:
  pin:
    {kind: revolute, a: rod.tip, b: slider.root, friction: {law: {dry_friction: {mu_static: 0.2, mu_kinetic: 0.1}}, radius: 0.01}}
run: {t_end: 0.05}
"""


def test_a_file_with_friction_inside_joints_runs_and_comes_back_the_same():
    model = pl.loads_model(TEXT)
    friction = model.system.links["crank"].joint.frictions["angle"]
    assert friction == pl.JointFriction(pl.Coulomb(mu=0.2, transition=1e-3), radius=0.012, preload=3.0)
    text = pl.dump_model(model.system, model.run)
    again = pl.loads_model(text)
    assert pl.dump_model(again.system, again.run) == text
    assert again.system.closures == model.system.closures
    assert again.system.links["slider"] == model.system.links["slider"]
    run, other = (pl.simulate(one.system, 0.05, save=0.05) for one in (model, again))
    assert run.ok and run == other
    assert run.labels["friction_joint"] == ("crank.angle", "rod.angle", "slider.displacement", "boom.extension", "pin")


WRONG = {
    "radius: 12 mm, preload: 3 N": ("preload: 3 N", "radius must be given for a joint that turns"),
    "preload: 3 N": ("preload: -3 N", "preload must be >= 0 N, got -3"),
    "12 mm": ("12 kg", "must be in m"),
    "dry_friction": ("dry_frition", "did you mean 'dry_friction'"),
    "guide: 5 cm": ("guide: 5 cm, radius: 0.1", "radius must be left out for a joint that only slides"),
    "preload: 5 N": ("guide: 0.4", "guide must be left out, because the part of the arm inside the sleeve is the guide"),
    "extension: 0.6": ("extension: 0.6, on_sleeve_end: continue", "on_sleeve_end must be 'stop' with a JointFriction"),
    "kind: revolute": ("kind: weld", "friction must be left out for this joint"),
}


@pytest.mark.parametrize("old", WRONG)
def test_wrong_ones_are_refused(old):
    new, message = WRONG[old]
    assert old in TEXT
    with pytest.raises(pl.ModelError, match=message):
        pl.loads_model(TEXT.replace(old, new))

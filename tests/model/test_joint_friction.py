"""What friction inside joints may be told, and what is refused before anything runs."""

import pytest

import pliant as pl

LAW = pl.Coulomb(mu=0.3)
DRY = pl.DryFriction(mu_static=0.4, mu_kinetic=0.3)


def test_a_bare_friction_belongs_to_the_only_motion_and_to_the_whole_surface_of_a_cylindrical_joint():
    pin, slide = pl.JointFriction(LAW, radius=0.01), pl.JointFriction(LAW)
    assert pl.Revolute(friction=pin).frictions == {"angle": pin}
    assert pl.Prismatic(friction=slide).frictions == {"displacement": slide}
    assert pl.Spherical(friction=pin).frictions == {"rotation": pin}
    assert pl.Cylindrical(friction=pin).frictions == {"both": pin}
    assert pl.Cylindrical(friction={"displacement": slide}).frictions == {"displacement": slide}


def test_a_bare_function_is_a_law():
    assert isinstance(pl.JointFriction(lambda speed, normal: 0.1 * normal * speed).law, pl.CustomFriction)


@pytest.mark.parametrize(("make", "says"), [
    (lambda: pl.Revolute(friction=pl.JointFriction(LAW)),
     r"Revolute: friction\['angle'\].radius must be given for a joint that turns \(radius of its pin or ball in m\), got None"),
    (lambda: pl.Prismatic(friction=pl.JointFriction(LAW, radius=0.01)),
     r"friction\['displacement'\].radius must be left out for a joint that only slides, got 0.01"),
    (lambda: pl.Spherical(friction=pl.JointFriction(LAW, radius=0.01, guide=0.1)), "guide must be left out for a ball"),
    (lambda: pl.Universal(friction=pl.JointFriction(LAW, radius=0.01)),
     r"must be a mapping with keys out of \['angle1', 'angle2'\]"),
    (lambda: pl.Planar(friction=pl.JointFriction(LAW)), "Planar: friction must be left out for this joint"),
    (lambda: pl.Free(friction={"rotation": pl.JointFriction(LAW)}), "Free: friction must be left out for this joint"),
    (lambda: pl.Revolute(friction={"angel": pl.JointFriction(LAW, radius=0.01)}), "did you mean 'angle'"),
    (lambda: pl.Revolute(friction={"angle": LAW}), "must be a JointFriction"),
    (lambda: pl.Cylindrical(friction={"both": pl.JointFriction(LAW, radius=0.01), "angle": pl.JointFriction(LAW, radius=0.01)}),
     "must not name other coordinates besides 'both'"),
    (lambda: pl.JointFriction(0.3), "law must be a friction law or a function"),
    (lambda: pl.JointFriction(LAW, radius=0.0), "radius must be > 0 m, got 0.0"),
    (lambda: pl.JointFriction(LAW, preload=-1.0), "preload must be >= 0 N, got -1.0"),
    (lambda: pl.JointFriction(LAW, guide=0.0), "guide must be > 0 m, got 0.0"),
    (lambda: pl.DryFriction(mu_static=0.2, mu_kinetic=0.3), "mu_static must be >= mu_kinetic = 0.3, got 0.2"),
    (lambda: pl.DryFriction(mu_static=0.3, mu_kinetic=0.3, rest=0.0), "rest must be > 0 m/s, got 0.0"),
])  # fmt: skip
def test_wrong_friction_is_refused_with_its_rule(make, says):
    with pytest.raises(pl.ModelError, match=says):
        make()


def two_bodies():
    system = pl.System("pair", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(mass=1.0, length=0.5), joint=pl.Revolute())
    other = system.add("other", pl.RigidBody.rod(mass=1.0, length=0.5), joint=pl.Revolute())
    return system, arm, other


@pytest.mark.parametrize("kind", ["weld", "distance", "planar", "universal"])
def test_a_closure_without_a_surface_of_its_own_takes_no_friction(kind):
    system, arm, other = two_bodies()
    with pytest.raises(pl.ModelError, match=r"closure 'pin': friction must be left out for this joint"):
        system.close("pin", kind, arm.tip, other.tip, length=0.1 if kind == "distance" else None,
                     other_axis="x", friction=pl.JointFriction(LAW, radius=0.01))  # fmt: skip


def test_contacts_are_told_that_dry_friction_is_for_joints():
    system, arm, _ = two_bodies()
    with pytest.raises(pl.ModelError, match="must not be DryFriction, which is a law for joints"):
        system.contact(points=arm.tip, against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e6), friction=DRY)


def test_a_law_that_holds_is_refused_where_the_motion_is_prescribed():
    system = pl.System("driven", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(mass=1.0, length=0.5), joint=pl.Revolute())
    system.add("tool", pl.RigidBody.rod(mass=1.0, length=0.5), on=arm.tip,
               joint=pl.Revolute(motion=lambda t: 0.1 * t, friction=pl.JointFriction(DRY, radius=0.01)))  # fmt: skip
    with pytest.raises(
        pl.ModelError, match=r"body 'tool': friction.law must be a law without sticking if the motion is prescribed"
    ):
        pl.simulate(system, 0.1)

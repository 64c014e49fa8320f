"""Which contact forces statics cannot divide, against counts of supports and equations."""

import math

import pytest

import pliant as pl

LAW = pl.HuGuo(stiffness=1e7, restitution=0.2)
G = 9.81


def resting(feet, friction=None, gravity=(0, 0, -G), planar=False):
    """A block on feet, each a point below its mass centre."""
    system = pl.System("rest", gravity=(0, -G) if planar else gravity)
    size = (0.2, 0.1) if planar else (0.2, 0.15, 0.1)
    joint = pl.Planar(position=(0, 0.05)) if planar else pl.Free(position=(0, 0, 0.05))
    block = system.add("block", pl.RigidBody.box(size, 1.0), joint=joint)
    below = [block.root.moved((x, -0.05) if planar else (x, y, -0.05)) for x, y in feet]
    system.contact(points=below, against=pl.Plane(normal="y" if planar else "z"), normal=LAW, friction=friction)
    return pl.simulate(system, 0.5)


@pytest.mark.parametrize(
    ("feet", "planar", "shared"),
    [
        ([(-0.1, 0), (0.1, 0)], True, []),
        ([(-0.1, 0), (0.02, 0), (0.1, 0)], True, [3]),
        ([(-0.1, -0.05), (0.1, -0.05), (0, 0.07)], False, []),
        ([(-0.1, -0.05), (0.1, -0.05), (-0.1, 0.05), (0.1, 0.05)], False, [4]),
        ([(-0.1, -0.05), (0.1, -0.05), (0.0, -0.05), (0, 0.07)], False, [3]),  # three of them in one line
    ],
)
def test_feet_beyond_the_equations_share_a_load(feet, planar, shared):
    for friction in (None, pl.Coulomb(mu=0.3)):
        run = resting(feet, friction, planar=planar)
        assert [len(group) for group in pl.undetermined_forces(run)] == shared
        assert [sentence.count("contact block") for sentence in run.warnings if "statics does not divide" in sentence] == shared
    for t in (-1.0, 2.0 * run.time[-1]):
        with pytest.raises(pl.ModelError, match="undetermined_forces: t must be within the rows of the result, 0 to"):
            pl.undetermined_forces(run, t=t)


def test_a_block_wedged_between_walls_is_jammed_only_by_friction():
    for friction, jammed in ((None, False), (pl.Coulomb(mu=0.5), True)):
        system = pl.System("wedge", gravity=(0, -G))
        ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0, 0.1 * math.sqrt(2.0))))
        for side in (1.0, -1.0):
            system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(side, 1.0)), name=f"wall{side:+.0f}",
                           normal=LAW, friction=friction)  # fmt: skip
        run = pl.simulate(system, 1.0)
        assert bool(pl.undetermined_forces(run)) is jammed


def test_a_run_without_contacts_or_with_loops_is_answered_in_words():
    system = pl.System("fly", gravity=(0, -G))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
    assert pl.undetermined_forces(pl.simulate(system, 0.1)) == ()
    system = pl.System("loop", gravity=(0, -G))
    one = system.add("one", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5))
    two = system.add("two", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=-1.0), on=one.tip)
    system.close("slide", "slider", two.tip, system.ground, axis="x")
    with pytest.raises(pl.ModelError, match="undetermined_forces: system must have no closures"):
        pl.undetermined_forces(pl.simulate(system, 0.1))

"""Every coordinate must be resisted: singular mass matrices are refused or told of, wide mass ratios are not."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

METHOD = pl.DOP853(rtol=1e-8, atol=1e-10)


def point_mass(com: tuple[float, float], angle: float) -> pl.System:
    """Three coordinates for a point, wherever it is on its body."""
    system = pl.System("point", gravity=(0, -9.81))
    system.add("p", pl.RigidBody(mass=1.0, inertia=0.0, com=com), joint=pl.Planar(angle=angle, rate=1.0))
    return system


@pytest.mark.parametrize("angle", [0.3, 1.1])
@pytest.mark.parametrize("com", [(0.3, 0.0), (0.3, 0.2), (0.1, 0.7)])
def test_a_point_mass_on_a_planar_joint_is_refused_and_its_coordinates_named(com: tuple[float, float], angle: float) -> None:
    with pytest.raises(pl.SolveError, match=r"mass matrix is singular at t = 0 s: no mass .* resists a motion of .*p\.angle"):
        pl.simulate(point_mass(com, angle), 0.1, method=METHOD, max_steps=100)


def test_so_is_one_on_a_chain_that_moves_as_told() -> None:
    """What prescribed motions add to the kinetic energy does not hide it."""
    system = pl.System("told", gravity=(0, -9.81))
    base = system.add("base", pl.RigidBody(mass=1e3, inertia=1.0), joint=pl.Prismatic(motion=lambda t: 5.0 * t))
    system.add("p", pl.RigidBody(mass=1e-3, inertia=0.0, com=(0.2, 0.1)), joint=pl.Planar(angle=0.4), on=base.root)
    with pytest.raises(pl.SolveError, match=r"resists a motion of .*p\.angle"):
        pl.simulate(system, 0.1, method=METHOD, max_steps=100)


def test_a_fast_rotor_behind_an_elastic_gear_makes_no_mass_matrix_singular() -> None:
    """Its kinetic energy does not depend on the rates of the joints; the run continues from there."""
    system = pl.System("flexible joint", gravity=(0, -9.81))
    upper = system.add("upper", pl.RigidBody.rod(0.3, 0.2), joint=pl.Revolute())
    system.add("fore", pl.RigidBody.rod(0.3, 0.2), joint=pl.Revolute(), on=upper.tip)
    system.motor("servo", "upper.angle", pl.Motor(inertia=2e-3, ratio=100.0, gear_stiffness=50.0), command=5.0)
    run = pl.simulate(system, 0.2, method=METHOD)
    assert run.ok and run.warnings == () and run["servo.speed"][-1] > 50.0
    assert pl.simulate(system, 0.3, start=run, method=METHOD).ok


def test_so_is_one_at_the_end_of_a_long_chain() -> None:
    """Whose mass matrix is not judged whole, but body by body."""
    system = pl.System("chain", gravity=(0, -9.81))
    on = system.ground
    for k in range(40):
        on = system.add(f"rod{k}", pl.RigidBody.rod(0.1, 0.1), joint=pl.Revolute(angle=0.1), on=on).tip
    system.add("p", pl.RigidBody(mass=1.0, inertia=0.0, com=(0.3, 0.2)), joint=pl.Planar(angle=0.3, rate=1.0), on=on)
    with pytest.raises(pl.SolveError, match=r"resists a motion of .*p\."):
        pl.simulate(system, 0.1, method=METHOD, max_steps=100)


@pytest.mark.parametrize("ratio", [1e-9, 1e-6, 1e6, 1e9])
def test_wide_mass_ratios_are_no_singular_mass_matrices(ratio: float) -> None:
    for joint in (pl.Revolute, pl.Prismatic):
        system = pl.System("pair", gravity=(0, -9.81))
        first = system.add("first", pl.RigidBody.rod(1.0, 1.0), joint=joint())
        system.add("second", pl.RigidBody.rod(1.0, ratio), joint=joint(), on=first.tip)
        run = pl.simulate(system, 0.01, method=METHOD)
        assert run.ok and not run.warnings


def test_a_mass_matrix_that_becomes_singular_is_told_of() -> None:
    """A point slides through the axis of its massless turntable, where nothing resists the turning."""
    system = pl.System("turntable", gravity=(0, 0))
    table = system.add("table", pl.RigidBody(mass=0.0, inertia=0.0), joint=pl.Revolute())
    system.add("p", pl.RigidBody(mass=1.0, inertia=0.0), joint=pl.Prismatic(displacement=1.0, rate=-1.0), on=table.root)
    run = pl.simulate(system, 1.0, method=METHOD, save=[0.0, 0.5, 1.0])
    assert any("the mass matrix is singular at t = 1 s" in warning and "table.angle" in warning for warning in run.warnings)
    assert not pl.simulate(system, 0.5, method=METHOD).warnings


def spheres(apart: float, velocity: float = 0.0) -> pl.System:
    system = pl.System("spheres", gravity=(0, 0))
    a = system.add("a", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(-apart, 0), velocity=(velocity, 0)))
    b = system.add("b", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar())
    law = pl.HuntCrossley(stiffness=1e3, restitution=0.7)
    system.contact(points=pl.Sphere(a.root, 0.1), against=pl.Sphere(b.root, 0.1), normal=law, name="meet")
    return system


def test_spheres_about_one_centre_are_refused_with_a_sentence() -> None:
    for apart in (0.0, 1e-15):
        with pytest.raises(pl.SolveError, match=r"contact 'meet .*': centres of its two spheres must be apart at the start"):
            pl.simulate(spheres(apart), 0.1)


def test_spheres_that_never_move_apart_are_refused_with_a_sentence_too() -> None:
    """Both fixed to the ground: their distance is a plain zero before anything is traced."""
    system = pl.System("fixed", gravity=(0, -9.81))
    system.add("swings", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    a = system.add("a", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Weld())
    b = system.add("b", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Weld())
    system.contact(points=pl.Sphere(a.root, 0.1), against=pl.Sphere(b.root, 0.1), normal=pl.Hertz(stiffness=1e3), name="meet")
    with pytest.raises(pl.SolveError, match="centres of its two spheres must be apart"):
        pl.simulate(system, 0.1)


@pytest.mark.parametrize("method", [pl.DOP853, pl.Radau5], ids=lambda method: method.__name__)
def test_centres_that_meet_along_the_run_leave_no_nan(method: type) -> None:
    """Shot through each other, head on, so soft that they pass."""
    run = pl.simulate(spheres(0.5, 1000.0), 1e-3, method=method(rtol=1e-8, atol=1e-10), save=1e-5)
    assert run.ok and np.all(np.isfinite(run.values["q"])) and run["a.x"][-1] > run["b.x"][-1]

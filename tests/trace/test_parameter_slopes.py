"""How numbers of the equations change with parameters: to ten digits, by laws that hold for any of them."""

import numpy as np
import pytest

import pliant as pl
from pliant.run.prepare import compile_system
from pliant.run.system_memory import SystemMemory
from pliant.trace.parameter_slopes import Ingredients, slopes_of

DIGITS = 1e-10  # what slopes of shape integrals are good for


def slopes(system: pl.System, name: str, between=(0.5,)):
    """(everything that a run is made of, its slopes times the parameter)"""
    compiled = compile_system(system)
    known, values = SystemMemory.of(system, compiled.traced.original), dict(compiled.traced.parameter_values)

    def at(changed):
        return Ingredients.of(known.lowered(compiled.traced, {**values, **changed}), between)

    here = at({})
    return here, slopes_of(name, values[name], at, here) * (abs(values[name]) or 1.0)


def beam_on_a_hinge(theory: str, ends: str) -> pl.System:
    length, young, shear = pl.Parameter("length", 0.83), pl.Parameter("young", 2e11), pl.Parameter("shear", 7.7e10)
    mass, rotary = pl.Parameter("mass", 1.3), pl.Parameter("rotary", 2e-5)
    system = pl.System("beam", gravity=(0.0, -9.81))
    turning = {"rotary_inertia": rotary} if theory == "timoshenko" else {}
    system.add("arm", pl.Beam(length=length, section=pl.Section(A=1e-4, Iz=1e-9, shear_factor=5 / 6),
                              material=pl.Material(E=young, G=shear), theory=theory, mass_per_length=mass,
                              modes=pl.Modes(ends, 3), **turning), joint=pl.Revolute(angle=0.3))  # fmt: skip
    return system


def powers(here: Ingredients, scaled) -> np.ndarray:
    """d log N / d log parameter of all numbers of the equations but those that nearly vanish.

    Products of two shapes with themselves are about 1, and twice the digits of what is left of two different ones are round-off.
    """
    numbers = here.every.values
    real = np.abs(numbers) > 3e-4
    return scaled[: numbers.size][real] / numbers[real]


def test_integrals_of_slender_beams_go_with_whole_powers_of_the_length():
    here, scaled = slopes(beam_on_a_hinge("euler-bernoulli", "cf"), "length")
    found = powers(here, scaled)
    assert np.max(np.abs(found - np.round(found))) < DIGITS
    assert {-3.0, 1.0, 2.0, 3.0} <= set(np.round(found).tolist())


@pytest.mark.parametrize("ends", ["cf", "ss", "cc"])
def test_slopes_of_thick_beams_together_obey_dimensional_analysis(ends):
    """Moduli and masses times s: every number of the equations is a mass or a stiffness, times s, or of the shapes, times 1."""
    system = beam_on_a_hinge("timoshenko", ends)
    parts = [slopes(system, name) for name in ("young", "shear", "mass", "rotary")]
    total = sum(powers(here, scaled) for here, scaled in parts)
    assert np.max(np.abs(total - np.round(total))) < DIGITS
    assert set(np.round(total).tolist()) == {0.0, 1.0}
    # each alone is no whole number: roots of the characteristic equation and shapes change
    assert np.max(np.abs(powers(*parts[0]) - np.round(powers(*parts[0])))) > 1e-6


def test_a_parameter_at_its_bound_is_differentiated_from_inside():
    restitution = pl.Parameter("e", 1.0)
    system = pl.System("ball", gravity=(0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar(position=(0.0, 1.0)))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), name="floor",
                   normal=pl.HuntCrossley(stiffness=1e5, restitution=restitution**3))  # fmt: skip
    here, scaled = slopes(system, "e")
    assert scaled[: here.every.values.size][here.every.values == 1.0].max() == pytest.approx(3.0, rel=1e-10)


def test_starts_tables_and_their_breakpoints_change_too():
    size, when, angle = pl.Parameter("size", 2.0), pl.Parameter("when", 0.3), pl.Parameter("angle", 0.2)
    system = pl.System("driven", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(angle=2.0 * angle))
    system.drive("push", "arm.angle", pl.PiecewiseConstant((0.0, when), (size**2, -size)))
    here, scaled = slopes(system, "size", (0.15, 0.65))
    _, _, _, pieces = here.parts(scaled)
    assert pieces[pieces != 0.0].tolist() == pytest.approx([8.0, -2.0], rel=1e-11)
    here, scaled = slopes(system, "when", (0.15, 0.65))
    assert here.parts(scaled)[2].max() == pytest.approx(0.3, rel=1e-12)
    here, scaled = slopes(system, "angle")
    assert here.parts(scaled)[1].tolist() == pytest.approx([0.4, 0.0], rel=1e-12)


def test_a_structure_that_changes_is_refused_with_its_name():
    system = pl.System("one", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute())
    here = Ingredients.of(SystemMemory().lowered(compile_system(system).traced, {}), (0.5,))

    def at(changed):
        other = pl.System("two", gravity=(0.0, 0.0))
        first = other.add("arm", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute())
        other.add("more", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(), on=first.tip)
        return Ingredients.of(SystemMemory().lowered(compile_system(other).traced, {}), (0.5,))

    with pytest.raises(pl.ModelError, match="count"):
        slopes_of("count", 1.0, at, here)

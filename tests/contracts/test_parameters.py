"""Every number of a public class may be a parameter, or is refused as one by a ModelError that names the field."""

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pliant as pl
import registered
from pliant.files import vocabulary
from pliant.model.joint_friction import JointFriction
from pliant.model.journal_law import JOURNAL_LAWS
from pliant.model.resolve import parameters_of, resolved

LAW = pl.Hertz(stiffness=1e6)
# Examples of public classes besides those of tests/registered.py.
OTHERS: list[Any] = [
    pl.STEEL,
    pl.Section.rectangle(0.02, 0.01),
    pl.RectangleOutline(height=0.02, width=0.01),
    pl.RingOutline(outer=0.02, inner=0.01),
    pl.FibreOutline(points=[(0.01, 0.0)], torsion_modulus=1e-6, shear_area=1e-4),
    pl.Payload(mass=0.2, inertia=0.01),
    pl.Spring(3.0, 0.1),
    pl.Damper(0.4),
    pl.Limits(low=-1.0, high=1.0, stiffness=100.0, damping=1.0),
    pl.Backlash(gap=0.01, normal=LAW),
    pl.Motor(ratio=10.0, inertia=1e-4, constant=0.05, resistance=1.0, inductance=1e-3, max_current=5.0, damping=1e-4),
    pl.Motor(stall_torque=1.0, no_load_speed=100.0, efficiency=0.8),
    pl.Plane(normal="y", point=(0.0, 1.0)),
    JointFriction(pl.Coulomb(mu=0.2), radius=0.1, preload=3.0),
    pl.Constant(2.0),
    pl.PiecewiseLinear(times=(0.0, 1.0), values=(0.0, 2.0)),
    pl.PiecewiseConstant(times=(0.0, 1.0), values=(0.0, 2.0)),
    pl.PiecewiseSmooth(times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 2.0, 1.0, 0.5)),
    pl.MotionTable(times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 2.0, 1.0, 0.5)),
    pl.CraigBampton(modes=2),
    pl.FreeModes(modes=2),
    pl.CraigBampton(highest=100.0),
    pl.FreeModes(highest=100.0),
    pl.Impulsive(restitution=0.5),
    pl.ModalDamping((0.01, 0.02)),
    pl.Frame("arm", 0.1, (0.1, 0.0, 0.0)),
    pl.ShapeTable(x=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), w=(0.0, 0.04, 0.16, 0.36, 0.64, 1.0)),
    pl.CustomFriction(lambda speed, normal: 0.1 * normal, switches=(0.1,)),
    pl.Formula(lambda t, q, v: t, breakpoints=(0.1,)),
    pl.Prescribed(lambda t: t, breakpoints=(0.1,)),
    pl.ShapeFunction(w=lambda x: x**2, dw=lambda x: 2.0 * x, ddw=lambda x: 2.0),
    pl.CustomNormal(lambda depth, rate, entry_speed: 1e5 * depth),
    pl.ClearanceRevolute(radius=0.01, clearance=1e-4, normal=LAW),
    pl.ClearanceSpherical(radius=0.01, clearance=1e-4, normal=LAW),
    pl.ClearancePrismatic(length=0.1, height=0.05, clearance=1e-4, normal=LAW),
    pl.Archard(coefficient=1e-4, hardness=2e9),
    *(law(modulus=1e11, length=0.02, radius=0.01, clearance=1e-4, restitution=0.9) for law in JOURNAL_LAWS),
]


def examples() -> Iterator[Any]:
    system = pl.System("arm", gravity=(0.0, -9.81))
    beam = registered.BODIES[pl.Beam]
    arm = system.add("arm", beam, joint=pl.Revolute())
    yield from OTHERS
    for kind in registered.NORMAL:
        yield registered.made(kind)
    for table in (registered.FRICTION, registered.JOINT, registered.DAMPING, registered.BODIES, registered.METHOD):
        yield from table.values()
    yield from (make(2) for make in registered.MODE_SET.values())
    yield from (make(system) for make in registered.SENSOR.values())
    yield from (pl.Point(arm.tip), pl.Sphere(arm.tip, 0.1), pl.Capsule(arm.root, 0.5, 0.1))
    yield from (pl.Along(arm.root, 0.1), pl.Edge(arm.tip, 0.1))
    yield from (pl.Bore(arm.tip, 0.1), pl.Pin(arm.tip, 0.1), pl.Socket(arm.tip, 0.1))
    yield from (
        pl.Box(arm.tip, (0.1, 0.2, 0.3)),
        pl.Cylinder(arm.tip, 0.1, 0.2),
        pl.Hull(arm.tip, 0.1 * np.vstack([np.eye(3), -np.eye(3)])),
    )


def numbers_of(example: Any) -> Iterator[tuple[str, Any]]:
    """(field, the same value with a parameter for one of its numbers), for every field with numbers."""
    hints = vocabulary.field_hints(type(example))
    for field in dataclasses.fields(example):
        value = getattr(example, field.name)
        if not field.init or isinstance(value, (bool, str)):
            continue
        if isinstance(value, (int, float)):
            yield field.name, pl.Parameter("x", float(value))
        elif isinstance(value, tuple) and value and isinstance(value[0], (int, float)) and not isinstance(value[0], bool):
            yield field.name, (pl.Parameter("x", float(value[0])), *value[1:])
        elif value is None and float in vocabulary.options(hints.get(field.name, None)):
            yield field.name, pl.Parameter("x", 0.5)


CASES = [(example, name, value) for example in examples() for name, value in numbers_of(example)]


@pytest.mark.parametrize(("example", "name", "value"), CASES, ids=[f"{type(e).__name__}.{name}" for e, name, _ in CASES])
def test_a_number_may_be_a_parameter_or_is_refused_in_a_sentence(example, name, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tied = dataclasses.replace(example, **{name: value})
        except pl.ModelError as refused:
            assert name in str(refused)
            return
    assert list(parameters_of(tied)) == ["x"], "it is taken, but lost"
    parameter = parameters_of(tied)["x"]
    plain = resolved(tied, {"x": parameter.value})
    assert not parameters_of(plain)
    if getattr(example, name) is not None:
        assert np.asarray(getattr(plain, name), dtype=float) == pytest.approx(np.asarray(getattr(example, name), dtype=float))


def test_modal_damping_by_a_parameter_damps_as_its_number_does():
    """One for all modes, and one for each."""
    beam = registered.BODIES[pl.Beam]
    runs = []
    for ratios in (0.02, pl.Parameter("zeta", 0.02), (pl.Parameter("zeta", 0.02), 0.02, 0.02)):
        system = pl.System("arm", gravity=(0.0, -9.81))
        system.add("arm", dataclasses.replace(beam, damping=pl.ModalDamping(ratios)), joint=pl.Revolute())
        runs.append(pl.simulate(system, 0.05, save=[0.05])["q"])
    assert np.array_equal(runs[0], runs[1]) and runs[2] == pytest.approx(runs[0], abs=1e-12)


# Given by runs and analyses, or arguments of these: no part of a model.
NO_PARTS = {
    "Campbell", "Cases", "Compiled", "Constraint", "Denoc", "Equilibrium", "Experiment", "ExtremesOf", "FiniteElements", "Fit",
    "FrameJacobian",
    "GibbsAppellIntegrals", "Grid", "InputSeries", "Largest", "Ledger", "Linearisation", "Optimum", "Report", "Result", "Sample",
    "Sensitivities", "SteppedRun", "Unknown", "ValuesAt", "System",
}  # fmt: skip


def test_every_public_class_with_numbers_has_an_example():
    parts = {name for name in pl.__all__ if isinstance(kind := getattr(pl, name), type) and dataclasses.is_dataclass(kind)}
    having = {type(example).__name__ for example in examples()}
    assert parts - NO_PARTS - having == set()

"""The contract of what is not smooth: wherever a formula may stand, derivatives through every edge are right, or are said not to
exist. Held against extrapolated differences of whole runs."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from differences import by_parameter
from pliant.scalar import FUNCTIONS

FINE = pl.DOP853(rtol=1e-10, atol=1e-13)
RIGHT, SMALL = 1e-4, 1e-3  # relative error of derivatives; smaller ones are compared with this
STEPS = 20_000  # that a run may take
ANGLE = "arm.angle"

# Functions of x with an edge at x = b, and for floors at its multiples, by the names of the vocabulary that they use.
EDGES = {
    "where": lambda x, b: pl.where(x > b, 1.0, -0.5),
    "where or": lambda x, b: pl.where((x < b) | (x >= 1.5 * b), 1.0, -0.5),
    "where where": lambda x, b: pl.where(pl.where(x > b, 1.0, -1.0) + x > 0.0, 1.0 + x, -0.5),
    "sign": lambda x, b: pl.sign(x - b),
    "absolute": lambda x, b: 3.0 * pl.absolute(x - b),
    "minimum": lambda x, b: 3.0 * pl.minimum(x, b),
    "maximum": lambda x, b: 3.0 * pl.maximum(x, b),
    "clip": lambda x, b: 3.0 * pl.clip(x, 0.5 * b, b),
    "saturate": lambda x, b: 3.0 * pl.saturate(x, b),
    "floor": lambda x, b: pl.floor(x / b),
    "quantise": lambda x, b: 3.0 * pl.quantise(x, b),
    "atan2": lambda x, b: 0.3 * pl.atan2(x - b, -1.0),
    "hypot": lambda x, b: 3.0 * pl.hypot(x - b, 0.0),
    "sqrt": lambda x, b: pl.sqrt(pl.absolute(x - b)),
    "asin": lambda x, b: pl.asin(pl.clip(x / b, -1.0, 1.0)),
    "acos": lambda x, b: pl.acos(pl.clip(x / b, -1.0, 1.0)),
}
SMOOTH = {"sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp", "log"}
# Edges with derivatives wherever they are crossed; the others may be undefined.
ALWAYS = ("where", "where or", "where where", "sign", "absolute", "minimum", "maximum", "clip", "saturate", "hypot")


def an_arm(**joint):
    system = pl.System("arm", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0.0), tip=(0.6, 0.0))
    return system, system.add("arm", body, joint=pl.Revolute(**({"angle": 0.4} | joint)))


def drive(of, b, gain):
    system, _ = an_arm()
    system.drive("push", ANGLE, lambda t, q, v: gain * of(t, b))
    return system


def drive_by_angle(of, b, gain):
    system, _ = an_arm()
    system.drive("push", ANGLE, lambda t, q, v: gain * of(q[ANGLE], b))
    return system


def drive_by_rate(of, b, gain):
    system, _ = an_arm()
    system.drive("push", ANGLE, lambda t, q, v: -gain * of(-0.2 * v[ANGLE], b))
    return system


def force(of, b, gain):
    system, arm = an_arm()
    system.force("wind", arm.tip, (0.0, lambda t, q, v: gain * of(t, b), 0.0))
    return system


def motor(of, b, gain):
    system, _ = an_arm()
    system.motor("servo", ANGLE, pl.Motor(inertia=1e-3, time_constant=0.05), command=lambda t, q, v: gain * of(t, b))
    return system


def strut(of, b, gain):
    system, arm = an_arm()
    post = system.add("post", pl.RigidBody(mass=1.0, inertia=0.1, tip=(0.3, 0.5)), joint=pl.Weld())
    system.strut("spring", post.tip, arm.tip, force=lambda length, rate: gain * of(0.1 + 0.2 * rate, b))
    return system


def state(of, b, gain):
    system, _ = an_arm()
    system.state("x", lambda t, q, v: gain * of(t, b))
    system.drive("push", ANGLE, lambda t, q, v: 3.0 * q["x"])
    return system


def motion(of, b, gain):
    system, arm = an_arm(angle=0.0, motion={"angle": lambda t: 0.4 + 0.5 * gain * of(t, b) * (t - b) ** 2})
    system.add("free", pl.RigidBody(mass=0.4, inertia=0.02, com=(0.1, 0.0), tip=(0.2, 0.0)), joint=pl.Revolute(), on=arm.tip)
    return system


def normal_law(of, b, gain):
    system, ball = a_ball()
    law = pl.CustomNormal(lambda depth, rate, entry_speed: 1e4 * depth * (1.0 + 0.2 * gain * of(20.0 * depth, b)))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    return system


def damping_law(of, b, gain):
    system, ball = a_ball()
    law = pl.CustomNormal(lambda depth, rate, entry_speed: 1e4 * depth * (1.0 + 0.2 * gain * of(0.3 * rate, b)))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    return system


def friction_law(of, b, gain):
    system, ball = a_ball()
    law = pl.CustomFriction(lambda speed, normal: 0.1 * normal * (1.5 + 0.5 * gain * of(0.35 * speed, b)))
    hard = pl.HuntCrossley(stiffness=1e4, restitution=0.7)
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=hard, friction=law, name="floor")
    return system


def a_ball():
    system = pl.System("ball", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=0.01, com=(0.0, 0.02), tip=(0.0, 0.1))
    return system, system.add("ball", body, joint=pl.Planar(position=(0.0, 0.05), velocity=(0.8, -1.5), angle=0.1))


PLACES = (drive, drive_by_angle, drive_by_rate, force, motor, strut, state, motion, normal_law, damping_law, friction_law)


def judged(system, t_end, compared=("b", "gain")):
    """'right', 'undefined' or 'ended early'; a wrong derivative raises."""
    found = pl.sensitivities(system, t_end, ["b", "gain"], method=FINE, save=[t_end], max_steps=STEPS)
    if not found.result.ok:
        return "ended early"  # as where a motion's acceleration is infinite, or a run slides along the jump of a `quantise`
    if not found.ok:
        assert found.final is None and found.undefined[0].reason
        return "undefined"
    for name in compared:
        expected, doubt = by_parameter(system, t_end, name)
        size = max(float(np.linalg.norm(expected)), SMALL)
        error = float(np.linalg.norm(found.final[:, found.names.index(name)] - expected)) / size
        assert error < RIGHT + float(np.linalg.norm(doubt)) / size, (name, error, found.final, expected)
    return "right"


def test_every_function_of_the_vocabulary_is_smooth_or_has_its_contract():
    assert SMOOTH | {word for name in EDGES for word in name.split()} - {"or"} == set(FUNCTIONS)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("edge", EDGES)
def test_derivatives_through_an_edge_are_right_or_undefined(edge, place):
    system = place(EDGES[edge], pl.Parameter("b", 0.21), pl.Parameter("gain", 1.5))
    outcome = judged(system, 0.5 if "law" not in place.__name__ else 0.12)
    assert outcome == "right" or edge not in ALWAYS


@pytest.mark.parametrize("stop", (False, True), ids=("recorded", "stops"))
@pytest.mark.parametrize("edge", EDGES)
def test_times_of_events_have_right_derivatives_or_none(edge, stop):
    """The event function is zero at its edge, or where a jump crosses zero."""
    b, of = pl.Parameter("b", 0.21), EDGES[edge]
    jumps = ("where", "where or", "where where", "sign", "floor", "quantise", "atan2")
    level = 0.3 if edge in jumps else float(of(0.4, 0.21)) - 0.1
    system, _ = an_arm()
    system.drive("push", ANGLE, lambda t, q, v: 4.0 * b)
    system.event("passes", lambda t, q, v: of(1.2 - 2.0 * q[ANGLE], b) - level, stop=stop)
    found = pl.sensitivities(system, 0.4, ["b"], method=FINE, save=[0.4])
    if not found.ok:
        return
    times, doubt = by_parameter(system, 0.4, "b", lambda run: np.array([event.t for event in run.events]))
    assert np.allclose([event.time[0] for event in found.events], times, rtol=RIGHT, atol=1e-6 + float(np.max(doubt, initial=0.0)))


def test_of_a_sampled_controller_derivatives_are_differences_or_none_where_a_sample_changes():
    system, _ = an_arm()
    b = pl.Parameter("b", 0.21)
    system.sampled("control", 0.01, lambda t, q, v, measured, memory: pl.where(q[ANGLE] > b, 1.0, -1.0), "u")
    system.drive("push", ANGLE, lambda t, q, v: q["control.u"])
    found = pl.sensitivities(system, 0.1, ["b"])
    assert found.ok and "differences of runs" in found.warnings[0] and not np.any(found.final)
    sampled = float(pl.simulate(system, 0.1, save=[0.05])[ANGLE][0])  # a little less of b, and this sample is on the other side
    edge = pl.sensitivities(system, 0.1, ["b"], values={"b": sampled})
    assert not edge.ok and edge.final is None
    with pytest.raises(pl.SolveError, match="jumps where b changes"):
        edge.at_end("q")


# ---- random formulas


class Random:
    """Formulas at random: sums, products and compositions of the vocabulary over t, q, v and two parameters."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)

    def formula(self, depth=3):
        """A function of (t, q, v, b, gain)."""
        if depth == 0:
            return self._leaf()
        parts = [self.formula(depth - 1) for _ in range(4)]
        return self.draw.choice(_COMPOSED)(*parts)

    def _leaf(self):
        x = round(float(self.draw.uniform(-0.5, 1.5)), 3)
        leaves = (lambda t, q, v, b, gain: t, lambda t, q, v, b, gain: q, lambda t, q, v, b, gain: 0.2 * v,
                  lambda t, q, v, b, gain: b + 0.01 * t, lambda t, q, v, b, gain: x + 0.01 * t)  # fmt: skip
        return leaves[self.draw.integers(len(leaves))]


def _of(function):
    """Functions of formulas as a function of their values."""
    return lambda *parts: lambda *at: function(*(part(*at) for part in parts[: function.__code__.co_argcount]))


_COMPOSED = [_of(function) for function in (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x: pl.sin(6.0 * x), lambda x: pl.tanh(x),
    lambda x, y, z, w: pl.where(x > y, z, w), lambda x, y, z, w: pl.where((x <= y) & (z > y), x, w),
    lambda x, y: pl.where(pl.sin(20.0 * x) > y, x, y), lambda x, y: pl.sign(x - y), lambda x, y: pl.absolute(x - y),
    lambda x, y: pl.minimum(x, y), lambda x, y: pl.maximum(x, y), lambda x, y, z: pl.clip(x, y, y + 0.2),
    lambda x: pl.saturate(x, 0.3), lambda x: 0.3 * pl.floor(3.0 * x), lambda x: pl.quantise(x, 0.15),
    lambda x, y: 0.3 * pl.atan2(x - y, y - 0.5), lambda x, y: pl.hypot(x, y), lambda x: pl.sqrt(pl.absolute(x)),
)]  # fmt: skip

RANDOM, AT_ONCE = 300, 20  # formulas in all, and in one test


@pytest.mark.parametrize("first", range(0, RANDOM, AT_ONCE))
def test_no_random_formula_has_silently_wrong_derivatives(first):
    outcomes = []
    for k in range(first, first + AT_ONCE):
        try:
            system = randomly((drive, state, force, motion)[k % 4], Random(k).formula())
            outcomes.append(judged(system, 0.5, compared=("b", "gain")[k % 2 : k % 2 + 1]))
        except pl.SolveError as refused:  # such as an infinite acceleration of a motion at its start
            assert "must be finite" in str(refused), k
    assert outcomes.count("right") > AT_ONCE // 3


def randomly(place, formula):
    b, gain = pl.Parameter("b", 0.21), pl.Parameter("gain", 1.5)
    if place is motion:
        return motion(lambda t, b: formula(t, 0.3 * t, pl.sin(t), b, gain), b, gain)
    system, arm = an_arm()
    if place is state:
        system.state("x", lambda t, q, v: gain * formula(t, q[ANGLE], v[ANGLE], b, gain))
        system.drive("push", ANGLE, lambda t, q, v: 3.0 * q["x"])
    elif place is force:
        system.force("wind", arm.tip, (0.0, lambda t, q, v: 2.0 * gain * formula(t, q[ANGLE], v[ANGLE], b, gain), 0.0))
    else:
        system.drive("push", ANGLE, lambda t, q, v: 2.0 * gain * formula(t, q[ANGLE], v[ANGLE], b, gain))
    return system

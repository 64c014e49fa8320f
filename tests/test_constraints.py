"""Constraints of one's own: formulas of positions and of speeds that stay zero, against closures, closed forms, other solvers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import pliant as pl

FINE = pl.DOP853(rtol=1e-11, atol=1e-13)
G = 9.81


def sleigh(ahead: float = 0.4, angle: float = 0.0) -> pl.System:
    """Chaplygin's sleigh: a body on a blade, with its centre of mass ahead of it."""
    system = pl.System("sleigh", gravity=(0, 0))
    body = pl.RigidBody(mass=2.0, inertia=0.3, com=(ahead, 0))
    system.add("body", body, joint=pl.Planar(angle=angle, velocity=(1.0, 0.0), rate=0.7))
    system.constrain("blade", sideways, "nonholonomic")
    return system


def sideways(t, q, v):
    return pl.cos(q["body.angle"]) * v["body.y"] - pl.sin(q["body.angle"]) * v["body.x"]


def test_chaplygins_sleigh_moves_as_its_reduced_equations_say_and_keeps_its_energy() -> None:
    """u' = a w^2, (I + m a^2) w' = -m a u w, with the speed u of the blade and the rate w."""
    run = pl.simulate(sleigh(), 4.0, method=FINE)
    reduced = solve_ivp(lambda t, x: (0.4 * x[1] ** 2, -0.8 * x[0] * x[1] / 0.62), (0, 4), (1.0, 0.7), rtol=1e-12, atol=1e-13)
    angle, x, y = run["body.angle"][-1], run["v", "body.x"][-1], run["v", "body.y"][-1]
    assert run["v", "body.angle"][-1] == pytest.approx(reduced.y[1, -1], abs=1e-10)
    assert math.cos(angle) * x + math.sin(angle) * y == pytest.approx(reduced.y[0, -1], abs=1e-10)
    assert abs(math.cos(angle) * y - math.sin(angle) * x) < 1e-14
    assert run.ok and not run.warnings and np.ptp(run.values["kinetic"]) < 1e-9


@pytest.mark.parametrize("formulation", ["articulated", "gibbs", "lagrange", "denoc", "augmented"])
def test_every_formulation_holds_a_blade(formulation: str) -> None:
    run, plain = (pl.simulate(sleigh(), 1.0, method=FINE, formulation=kind, save=[1.0]) for kind in (formulation, "articulated"))
    assert run["body.angle"][-1] == pytest.approx(plain["body.angle"][-1], abs=1e-10)


def test_a_blade_on_a_slope_draws_the_known_curve() -> None:
    """A knife edge with a rate w on a slope: x = (g' / 2 w^2) sin^2 wt, y = (g' / 2 w^2) (wt - sin 2wt / 2); Neimark and Fufaev."""
    system = pl.System("knife edge", gravity=(2.0, 0.0))
    system.add("body", pl.RigidBody(mass=1.3, inertia=0.2), joint=pl.Planar(rate=1.5))
    system.constrain("blade", sideways, "nonholonomic")
    run = pl.simulate(system, 3.0, method=FINE)
    turned, size = 1.5 * run.time, 2.0 / (2.0 * 1.5**2)
    assert np.max(np.abs(run["body.x"] - size * np.sin(turned) ** 2)) < 1e-9
    assert np.max(np.abs(run["body.y"] - size * (turned - 0.5 * np.sin(2.0 * turned)))) < 1e-9


def test_a_disk_rolls_down_a_slope_as_the_textbook_says() -> None:
    """x'' = g sin a / (1 + I / m r^2); the plane pushes with m g cos a, and holds the rim with the rest of the weight."""
    slope, mass, inertia, radius = 0.3, 2.0, 0.05, 0.2
    system = pl.System("disk", gravity=(G * math.sin(slope), -G * math.cos(slope)))
    disk = system.add("disk", pl.RigidBody(mass=mass, inertia=inertia), joint=pl.Planar(position=(0.0, radius)))
    system.roll("wheel", disk.root, radius, pl.Plane(normal=(0, 1)))
    run = pl.simulate(system, 1.0, method=FINE)
    assert not run.warnings  # that it cannot move across its path in a plane is no fault of the model
    falls = G * math.sin(slope) / (1.0 + inertia / (mass * radius**2))
    np.testing.assert_allclose(run["disk.x"], 0.5 * falls * run.time**2, atol=1e-10)
    np.testing.assert_allclose(run["disk.angle"], -run["disk.x"] / radius, atol=1e-10)
    forces = run.values["multiplier"][-1]
    assert np.abs(forces[0]) == pytest.approx(mass * G * math.cos(slope), rel=1e-9)
    assert np.abs(forces[1]) == pytest.approx(mass * (G * math.sin(slope) - falls), rel=1e-9)


def coin(lean: float, turn: float, along: float, radius: float = 0.3) -> pl.System:
    """A thin disk on its rim, leaning from the vertical; turn: its rate about the vertical, along: about its own axis, in all."""
    system = pl.System("coin", gravity=(0, 0, -G))
    tilt = 0.5 * math.pi - lean  # of the body's z axis, that of the rim, from the vertical
    to_world = np.array([[1, 0, 0], [0, math.cos(tilt), -math.sin(tilt)], [0, math.sin(tilt), math.cos(tilt)]])
    axis, up = to_world[:, 2], to_world[:, 1]  # the centre is up from the point of contact
    omega = along * axis + turn * math.cos(lean) * up
    inertia = radius**2 * np.array([0.25, 0.25, 0.5])
    disk = system.add("coin", pl.RigidBody(mass=1.0, inertia=tuple(inertia)), joint=pl.Free(
        position=(0.0, 0.0, radius * math.cos(lean)), orientation=(math.cos(0.5 * tilt), math.sin(0.5 * tilt), 0.0, 0.0),
        velocity=tuple(np.cross(omega, radius * up)), angular_velocity=tuple(to_world.T @ omega)))  # fmt: skip
    system.roll("rim", disk.root, radius, pl.Plane(normal=(0, 0, 1)))
    return system


def test_a_leaning_coin_rolls_in_a_circle_as_the_closed_form_says() -> None:
    """Steady motion: W cos a ((3/2) r w - (1/4) r W sin a) = -g sin a, with lean a, turn W and rate w about its own axis."""
    radius, lean, turn = 0.3, 0.2, 2.0
    along = (0.25 * turn * math.sin(lean) - G * math.tan(lean) / (radius * turn)) / 1.5
    run = pl.simulate(coin(lean, turn, along, radius), 3.0, method=FINE)
    assert run.ok and np.ptp(run["coin.z"]) < 1e-8
    assert np.ptp(run.values["kinetic"] + run.values["gravity"]) < 1e-8
    circle = abs(radius * along / turn)  # m, of the centre
    middle = 0.5 * (run["coin.y"].max() + run["coin.y"].min())
    assert np.hypot(run["coin.x"], run["coin.y"] - middle) == pytest.approx(circle, rel=1e-3)
    faster = pl.simulate(coin(lean, turn, 1.1 * along, radius), 3.0, method=FINE)
    assert np.ptp(faster["coin.z"]) > 1e-3


# ---- against the closures that there are


def four_bar(close) -> pl.System:
    system = pl.System("four-bar", gravity=(0, -G))
    bar = pl.Beam(length=0.5, section=pl.Section.rectangle(0.01, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                  modes=pl.Modes("ss", 1), stiffening="none")  # fmt: skip
    crank = system.add("crank", pl.RigidBody.rod(0.2, 1.0), joint=pl.Revolute(angle=1.0, rate=2.0))
    coupler = system.add("coupler", bar, joint=pl.Revolute(angle=-0.8), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.4, 1.0), joint=pl.Revolute(angle=1.5), on=system.ground.moved((0.5, 0.0)))
    close(system, coupler.tip, rocker.tip)
    return system


# m, between the tips of coupler and rocker at the start
APART = math.hypot(0.2 * math.cos(1.0) + 0.5 * math.cos(0.2) - 0.5 - 0.4 * math.cos(1.5),
                   0.2 * math.sin(1.0) + 0.5 * math.sin(0.2) - 0.4 * math.sin(1.5))  # fmt: skip


def by_point(system, a, b) -> None:
    system.close("pin", "point", a, b)


def by_formulas(system, a, b) -> None:
    for k, axis in enumerate("xy"):
        system.constrain(f"pin {axis}", lambda t, q, v, k=k: q.position(a)[k] - q.position(b)[k])


def by_distance(system, a, b) -> None:
    system.close("rod", "distance", a, b, length=lambda t: APART + 0.02 * pl.sin(9.0 * t))


def by_formula_of_distance(system, a, b) -> None:
    system.constrain("rod", lambda t, q, v: q.distance(a, b) - APART - 0.02 * pl.sin(9.0 * t))


@pytest.mark.parametrize(("closure", "formulas"), [(by_point, by_formulas), (by_distance, by_formula_of_distance)])
@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
def test_a_formula_holds_frames_as_a_closure_does_with_the_same_reactions_and_works(closure, formulas, formulation) -> None:
    runs = [pl.simulate(four_bar(close), 0.5, method=FINE, formulation=formulation) for close in (closure, formulas)]
    for name in ("q", "v", "reaction_force", "reaction_moment"):
        own, other = (run.values[name] for run in runs)
        if formulation == "augmented" and name in ("q", "v"):
            continue
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-6 if name.startswith("reaction") else 1e-9)
    assert all(run.ok for run in runs)
    assert runs[0].values["work"].sum(axis=1) == pytest.approx(runs[1].values["work"].sum(axis=1), abs=1e-8)


def two_pendulums(close) -> pl.System:
    system = pl.System("geared", gravity=(0, -G))
    for name, x in (("a", 0.0), ("b", 1.0)):
        system.add(name, pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=0.0), on=system.ground.moved((x, 0.0)))
    close(system)
    return system


def test_a_formula_of_coordinates_is_a_gear() -> None:
    gear = two_pendulums(lambda system: system.close("gear", "gear", "a.angle", "b.angle", ratio=-2.0))
    formula = two_pendulums(lambda system: system.constrain("gear", lambda t, q, v: q["a.angle"] + 2.0 * q["b.angle"], unit="rad"))
    speeds = two_pendulums(
        lambda system: system.constrain("gear", lambda t, q, v: v["a.angle"] + 2.0 * v["b.angle"], "nonholonomic", unit="rad")
    )
    runs = [pl.simulate(system, 1.0, method=FINE, save=[1.0]) for system in (gear, formula, speeds)]
    for run in runs[1:]:
        assert run.values["q"][-1] == pytest.approx(runs[0].values["q"][-1], abs=1e-12)
        assert run.values["reaction_force"][-1] == pytest.approx(runs[0].values["reaction_force"][-1], abs=1e-9)


def test_springs_hold_a_formula_as_they_hold_a_closure() -> None:
    def length(t):
        return APART + 0.02 * pl.sin(9.0 * t)

    soft = {"by": "springs", "stiffness": 1e5, "damping": 30.0}
    ways = (lambda system, a, b: system.close("rod", "distance", a, b, length=length, **soft),
            lambda system, a, b: system.constrain("rod", lambda t, q, v: q.distance(a, b) - length(t), **soft))  # fmt: skip
    for formulation in ("articulated", "lagrange"):
        closure, formula = (pl.simulate(four_bar(close), 0.2, method=FINE, formulation=formulation) for close in ways)
        for name in ("q", "reaction_force"):
            np.testing.assert_allclose(formula.values[name], closure.values[name], rtol=1e-6, atol=1e-6)


def test_a_loop_is_assembled_by_formulas_and_rates_obey_a_blade() -> None:
    system = sleigh(angle=0.5)
    system.constrain("line", lambda t, q, v: q.position("body.root")[1] - 0.2)
    run = pl.simulate(system, 0.1, save=[0.0, 0.1])
    assert run["body.y"] == pytest.approx([0.2, 0.2], abs=1e-12)
    assert run["v", "body.y"] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_car_with_two_axles_turns_about_the_point_where_they_meet() -> None:
    """Ackermann: with the front wheels turned by d, the rear axle runs on a circle of radius base / tan d."""
    base, steer = 2.0, 0.3
    system = pl.System("car", gravity=(0, 0))
    car = system.add("car", pl.RigidBody(mass=800.0, inertia=900.0, com=(1.0, 0.0)), joint=pl.Planar(velocity=(3.0, 0.0)))
    front = car.at((base, 0.0))

    def across(frame, turned):
        def speed(t, q, v):
            angle, (x, y, _) = q["car.angle"] + turned, q.velocity(frame)
            return pl.cos(angle) * y - pl.sin(angle) * x

        return speed

    system.constrain("rear", across(car.root, 0.0), "nonholonomic")
    system.constrain("front", across(front, steer), "nonholonomic")
    run = pl.simulate(system, 4.0, method=FINE)
    radius = base / math.tan(steer)
    assert np.hypot(run["car.x"], run["car.y"] - radius) == pytest.approx(radius, abs=1e-9)
    assert np.ptp(run.values["kinetic"]) < 1e-6


def test_what_drives_a_constraint_does_work() -> None:
    """A belt pulls a body along: v = b(t); the ledger has its work."""
    system = pl.System("belt", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Planar())
    system.constrain("belt", lambda t, q, v: v["body.x"] - pl.sin(t), "nonholonomic")
    run = pl.simulate(system, 1.0, method=FINE)
    assert run.values["work"][-1].sum() == pytest.approx(math.sin(1.0) ** 2, abs=1e-9)
    assert run["body.x"][-1] == pytest.approx(1.0 - math.cos(1.0), abs=1e-10)


@pytest.mark.parametrize(
    ("formula", "kind", "words"),
    [
        (lambda t, q, v: v["body.x"], "holonomic", "must not read rates unless the constraint is non-holonomic"),
        (lambda t, q, v: v["body.x"] ** 2 - 1.0, "nonholonomic", "must be linear in the rates"),
        (lambda t, q, v: q["body.x"], "nonholonomic", "must read rates"),
        (lambda t, q, v: 3.0, "holonomic", "must depend on coordinates"),
        (lambda t, q, v: q["bod.x"], "holonomic", r"must name one of .* \(did you mean 'body.x'\?\)"),
        (lambda t, q, v: q["body.x"], "other", "kind must be one of"),
        (lambda t, q, v: q["body.y"] - pl.absolute(q["body.x"]), "holonomic", "must be smooth .* got 'a formula with absolute'"),
        (lambda t, q, v: pl.where(q["body.x"] > 0.0, q["body.y"], 0.0), "holonomic", "must be smooth .* with a comparison'"),
        (3.0, "holonomic", "must be a function"),
    ],
)
def test_wrong_formulas_are_refused_with_a_sentence(formula, kind, words) -> None:
    with pytest.raises(pl.ModelError, match=words):
        system = pl.System("wrong", gravity=(0, 0))
        system.add("body", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Planar())
        system.constrain("held", formula, kind)
        pl.simulate(system, 0.1)


def test_springs_cannot_hold_speeds() -> None:
    with pytest.raises(pl.ModelError, match="no spring can act on a speed"):
        sleigh().constrain("soft", sideways, "nonholonomic", by="springs", stiffness=1e3)


@pytest.mark.parametrize(
    "make", [sleigh, lambda: coin(0.2, 2.0, -4.0)]
)  # speeds alone; with a height that is closed at every stage
def test_two_loops_solve_for_rates_that_constraints_of_speeds_determine(make) -> None:
    run, other = (pl.simulate(make(), 0.5, save=0.25, method=method) for method in (pl.TwoLoop(rtol=1e-9, atol=1e-11), FINE))
    assert run.ok and run.values["q"] == pytest.approx(other.values["q"], abs=3e-8)
    assert run.values["multiplier"] == pytest.approx(other.values["multiplier"], abs=1e-6)


# ---- at rest and in small motions


def tied(damping: float = 0.0, **start) -> pl.System:
    """A sleigh on a slope, tied to a spring."""
    system = pl.System("tied", gravity=(0, -2.0))
    body = system.add("body", pl.RigidBody(mass=2.0, inertia=0.3, com=(0.3, 0)), joint=pl.Planar(**({"angle": 0.3} | start)))
    system.constrain("blade", sideways, "nonholonomic")
    system.strut("rope", body.at((0.4, 0.0)), system.ground.moved((1.0, 0.8)), stiffness=40.0, rest=0.5, damping=damping)
    return system


def test_a_sleigh_rests_where_its_blade_can_carry_the_forces_one_position_of_many() -> None:
    rest = pl.equilibrium(tied())
    x, y, angle = (rest[f"body.{name}"] for name in ("x", "y", "angle"))
    along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    rope = np.array([1.0, 0.8]) - (np.array([x, y]) + 0.4 * along)
    pull = 40.0 * (np.linalg.norm(rope) - 0.5) * rope / np.linalg.norm(rope)
    force = pull + np.array([0.0, -4.0])
    assert force @ along == pytest.approx(0.0, abs=1e-9)  # all that moves it acts across the blade, and not about it
    assert 0.4 * pull @ across - 0.3 * 4.0 * math.cos(angle) == pytest.approx(0.0, abs=1e-9)
    assert abs(rest["multiplier"][0]) == pytest.approx(abs(force @ across), rel=1e-9) and abs(force @ across) > 0.1
    assert rest.stable and "one of many: 'blade' holds speeds but no position" in rest.message
    assert np.ptp(pl.simulate(tied(), 0.5, start=rest).values["q"], axis=0) == pytest.approx(np.zeros(3), abs=1e-9)


def test_small_motions_of_a_sleigh_at_rest_are_the_differences_of_runs() -> None:
    """Three coordinates, but two rates: the third follows from the blade."""
    rest = pl.equilibrium(tied(damping=3.0))
    linear = pl.linearise(tied(damping=3.0), at=rest)
    assert linear.states == ("body.x", "body.y", "body.angle", "rate of body.x", "rate of body.angle")
    assert linear.M.shape == (2, 2) and linear.K.shape == (2, 3)
    at, dt, step = np.array([rest[name] for name in linear.states[:3]]), 0.05, 1e-5

    def end(change):
        q, slope = at + change[:3], math.tan(at[2] + change[2])
        run = pl.simulate(tied(damping=3.0, position=(q[0], q[1]), angle=q[2], velocity=(change[3], change[3] * slope),
                               rate=change[4]), dt, save=dt, method=FINE)  # fmt: skip
        return np.append(run.values["q"][-1], run.values["v"][-1][[0, 2]])

    differences = np.array([(end(change) - end(-change)) / (2.0 * step) for change in step * np.eye(5)]).T
    assert differences == pytest.approx(expm(dt * linear.A), abs=1e-8)


@pytest.mark.parametrize("speed", [1.5, -1.5])
def test_a_sleigh_in_straight_motion_is_stable_only_with_its_mass_ahead(speed) -> None:
    """Its heading changes by exp(-m a v t/(I + m a^2)): Neimark and Fufaev 1972."""
    system = pl.System("sleigh", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=2.0, inertia=0.3, com=(0.4, 0)), joint=pl.Planar(velocity=(speed, 0.0)))
    system.constrain("blade", sideways, "nonholonomic")
    poles = pl.linearise(system, at="start").modes().eigenvalues
    assert poles[np.argmax(np.abs(poles))] == pytest.approx(-2.0 * 0.4 * speed / (0.3 + 2.0 * 0.4**2), rel=1e-9)


@pytest.mark.parametrize("spin", [2.0, 3.5])
def test_an_upright_disk_rolls_stably_if_its_spin_exceeds_the_root_of_g_over_3r(spin) -> None:
    """Lean: (A + m r^2) x'' + (C (C + m r^2) w^2/A - m g r) x = 0, of a disk with the inertias A and C = 2 A."""
    radius = 0.3
    a, c = 0.25 * radius**2, 0.5 * radius**2
    system, none = pl.System("disk", gravity=(0, 0, -G)), pl.RigidBody(mass=0.0, inertia=(0.0, 0.0, 0.0))
    on = system.add("carrier", none, joint=pl.Planar(velocity=(spin * radius, 0.0)))
    on = system.add("height", none, joint=pl.Prismatic(axis="z", displacement=radius), on=on.root)
    on = system.add("fork", none, joint=pl.Revolute(axis="x"), on=on.root)
    disk = system.add("disk", pl.RigidBody(mass=1.0, inertia=(a, c, a)), joint=pl.Revolute(axis="y", rate=spin), on=on.root)
    system.roll("rim", disk.root, radius, pl.Plane(normal=(0, 0, 1)), axis="y")
    poles = pl.linearise(system, at="start").modes().eigenvalues
    expected = np.sqrt(complex(G * radius - c * (c + radius**2) * spin**2 / a) / (a + radius**2))
    assert (expected.real == 0.0) == (spin > math.sqrt(G / (3.0 * radius)))
    assert np.min(np.abs(poles - expected)) < 1e-6 and np.max(poles.real) == pytest.approx(expected.real, abs=1e-6)


def test_a_gear_of_rates_rests_and_swings_as_a_gear() -> None:
    gear = two_pendulums(lambda system: system.close("gear", "gear", "a.angle", "b.angle", ratio=-2.0))
    speeds = two_pendulums(
        lambda system: system.constrain("gear", lambda t, q, v: v["a.angle"] + 2.0 * v["b.angle"], "nonholonomic", unit="rad")
    )
    rests = [pl.equilibrium(system) for system in (gear, speeds)]
    assert rests[1].values["q"] == pytest.approx(rests[0].values["q"], abs=1e-9)
    assert rests[1].values["reaction_moment"] == pytest.approx(rests[0].values["reaction_moment"], abs=1e-9)
    modes = [pl.linearise(system, at=rest).modes() for system, rest in zip((gear, speeds), rests, strict=True)]
    assert modes[1].frequencies == pytest.approx([0.0, *modes[0].frequencies], rel=1e-9)  # it may rest anywhere along one direction


def test_what_cannot_rest_says_so() -> None:
    with pytest.raises(pl.SolveError, match=r"nothing holds body\.x"):
        pl.equilibrium(sleigh())
    system = sleigh()
    system.constrain("belt", lambda t, q, v: v["body.x"] - pl.sin(t), "nonholonomic")
    with pytest.raises(pl.ModelError, match="constraint 'belt': formula must have no term without rates for an equilibrium"):
        pl.equilibrium(system)


def test_files_hold_constraints_as_formulas() -> None:
    text = """
pliant: 1
system: sleigh
gravity: [0, 0]
bodies:
  body:
    rigid: {mass: 2 kg, inertia: 0.3 kg*m^2, com: [0.4 m, 0]}
    joint: {planar: {velocity: [1 m/s, 0], rate: 0.7 rad/s}}
constraints:
  blade: {formula: "cos(q['body.angle'])*v['body.y'] - sin(q['body.angle'])*v['body.x']", kind: nonholonomic}
"""
    model = pl.loads_model(text)
    again = pl.loads_model(pl.dump_model(model.system))
    ends = [pl.simulate(system, 1.0, save=[1.0])["body.angle"][-1] for system in (sleigh(), model.system, again.system)]
    assert ends[1] == ends[2] == pytest.approx(ends[0], abs=1e-12)


def test_files_hold_wheels() -> None:
    text = """
pliant: 1
system: disk
gravity: [2, -9]
bodies:
  disk:
    rigid: {mass: 2 kg, inertia: 0.05 kg*m^2}
    joint: {planar: {position: [0, 20 cm]}}
wheels:
  rim: {wheel: disk.root, radius: 20 cm, against: {plane: {normal: y}}}
"""
    system = pl.loads_model(text).system
    again = pl.loads_model(pl.dump_model(system)).system
    ends = [pl.simulate(each, 1.0, save=[1.0])["disk.x"][-1] for each in (system, again)]
    assert ends[0] == ends[1] == pytest.approx(0.5 * 2.0 / (1.0 + 0.05 / (2.0 * 0.2**2)), abs=1e-9)


def test_lanes_hold_constraints_too() -> None:
    system = sleigh(angle=pl.Parameter("angle", 0.0))
    options = {"parameters": {"angle": np.linspace(0.0, 0.3, 4)}, "method": pl.DOP853(rtol=1e-9, atol=1e-12)}
    lanes, general = (pl.ensemble(system, 1.0, loop=loop, **options) for loop in ("lockstep", "general"))
    np.testing.assert_allclose(lanes.q_end, general.q_end, atol=1e-8)


def test_derivatives_go_through_constraints() -> None:
    ahead = pl.Parameter("ahead", 0.4)
    found = pl.sensitivities(sleigh(ahead=ahead), 3.0, parameters=["ahead"], rtol=1e-9)
    ends = [pl.simulate(sleigh(ahead=0.4 + d), 3.0, method=FINE, save=[3.0])["body.angle"][-1] for d in (1e-4, -1e-4)]
    slope = found.table["q"].sel(coordinate="body.angle", theta="ahead").values[-1]
    assert found.ok and slope == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5)

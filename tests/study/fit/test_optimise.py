"""Optimisation: optima known in closed form, constraints that hold, and what an objective must be."""

import numpy as np
import pytest

import pliant as pl


def dropped_ball(height=0.4):
    """A ball that falls on a spring; the stiffness is free."""
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, height)))
    stiffness = pl.Parameter("stiffness", 2e4, "N/m^1.5", low=1e3, high=1e7)
    law = pl.Hertz(stiffness=stiffness)
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    return system


GAP = "gap floor ball.root"


def test_the_softest_floor_within_a_depth():
    """m g (h + d) = 2/5 K d^(5/2) tells the stiffness at which the ball comes to rest d deep."""
    depth, height = 0.02, 0.35
    exact = 9.81 * (height + depth) / (0.4 * depth**2.5)
    limit = pl.Constraint(lambda run: -run.minimum(GAP), high=depth, name="depth")
    best = pl.optimise(dropped_ball(), lambda run: run.peak_force("floor"), ["stiffness"], [limit], t_end=0.6, save=1e-4)
    assert best.ok and best.tight == ("depth",) and not best.at_bounds
    assert best.values["stiffness"] == pytest.approx(exact, rel=1e-6)
    assert best.objective == pytest.approx(exact * depth**1.5, rel=1e-6)
    assert best.constraints["depth"] == pytest.approx(depth, rel=1e-8)
    assert best.result.parameters["stiffness"] == best.values["stiffness"]
    assert "at its bound" in str(best) and len(best.history) <= best.runs


def test_the_same_by_another_solver():
    best = pl.optimise(dropped_ball(), lambda run: (run.contacts("floor")[0].duration - 0.03) ** 2, ["stiffness"], t_end=0.6,
                       solver="trust-constr", tolerance=1e-10)  # fmt: skip
    assert best.result.contacts[0].duration == pytest.approx(0.03, rel=1e-4)


def thrown():
    """A mass thrown up at an angle; where it comes down is known."""
    speed, rise = 3.0, pl.Parameter("rise", 0.3, "rad", low=0.05, high=1.5)
    system = pl.System("thrown", gravity=(0, -9.81))
    start = pl.Planar(velocity=(speed * pl.cos(rise), speed * pl.sin(rise)))
    system.add("stone", pl.RigidBody(mass=1.0, inertia=1e-3), joint=start)
    system.event("down", lambda t, q, v: q["stone.y"] + 1e-3, direction="falling", stop=True)
    return system


def test_the_farthest_throw_through_the_time_of_an_event():
    best = pl.optimise(thrown(), lambda run: run.final("stone.x"), ["rise"], t_end=2.0, maximise=True)
    drop, speed = 1e-3, 3.0
    farthest = speed / 9.81 * np.sqrt(speed**2 + 2.0 * 9.81 * drop)  # of a throw from a height, at its best angle
    assert best.ok and best.objective == pytest.approx(farthest, rel=1e-7)
    assert best.values["rise"] == pytest.approx(np.arctan(speed / np.sqrt(speed**2 + 2.0 * 9.81 * drop)), abs=1e-4)


def test_a_flight_of_a_given_time():
    wanted = 0.4
    same = pl.Constraint(lambda run: run.event_time("down"), wanted, wanted, name="flight")
    best = pl.optimise(thrown(), lambda run: run.parameter("rise") ** 2, ["rise"], [same], t_end=2.0)
    assert best.ok and best.constraints["flight"] == pytest.approx(wanted, rel=1e-7)
    assert best.values["rise"] == pytest.approx(np.arcsin((0.5 * 9.81 * wanted**2 - 1e-3) / (3.0 * wanted)), rel=1e-6)


def test_integrals_energies_and_parameters_have_slopes():
    system = dropped_ball()
    slopes = {}

    def watch(run):
        slopes["integral"] = run.integral("ball.y")
        slopes["lost"] = run.energy_lost()
        slopes["speed"] = run.largest("v ball.y")
        return run.parameter("stiffness") / 1e4 + run.integral("ball.y")

    pl.optimise(system, watch, ["stiffness"], bounds={"stiffness": (1e4, 1e6)}, guess={"stiffness": 5e4}, t_end=0.6, max_runs=1)
    at = {k: pl.simulate(system, 0.6, parameters={"stiffness": k}) for k in (5e4 * (1 - 1e-4), 5e4 * (1 + 1e-4))}
    first = {"integral": slopes["integral"]}
    below, above = (np.trapezoid(run["ball.y"], run.time) for run in at.values())
    assert first["integral"].slope.shape == (1,)
    assert np.sign(first["integral"].slope[0]) == np.sign(above - below)
    assert abs(float(slopes["lost"])) < 1e-6


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (3.0, "objective must be a function of a run"),
        (lambda run: 3.0, "objective must return a number computed from the run"),
        (lambda run: run["ball.y"], "objective must return one number"),
        (lambda run: run.final("ball.z"), "quantity must name a number of the result, such as"),
        (lambda run: run.peak_force("ceiling"), "pair must name a contact or one of the pairs"),
        (lambda run: run.parameter("mass"), "parameter must be free"),
    ],
)
def test_what_an_objective_must_be(objective, message):
    with pytest.raises(pl.ModelError, match=message):
        pl.optimise(dropped_ball(), objective, ["stiffness"], t_end=0.6)


def test_bad_constraints_and_settings_are_refused():
    def depth(run):
        return -run.minimum(GAP)

    with pytest.raises(pl.ModelError, match="constraint 'depth' must have low, high or both"):
        pl.Constraint(depth)
    with pytest.raises(pl.ModelError, match="constraint 'depth' must have low <= high"):
        pl.Constraint(depth, 2.0, 1.0)
    with pytest.raises(pl.ModelError, match="solver must be among"):
        pl.optimise(dropped_ball(), depth, ["stiffness"], t_end=0.6, solver="guess")
    with pytest.raises(pl.ModelError, match="run must not set parameters"):
        pl.optimise(dropped_ball(), depth, ["stiffness"], t_end=0.6, values={"stiffness": 3.0})
    with pytest.raises(pl.SolveError, match="event 'down': happened 0 times"):
        pl.optimise(thrown(), lambda run: run.event_time("down"), ["rise"], t_end=0.01)


def test_what_comes_after_a_grazing_touch_is_not_passed_off_as_known():
    """At 1 m/s the ball misses the ceiling by nothing: the fall that ends the run has no derivative, and is not said not to be."""
    speed = pl.Parameter("speed", 1.0, "m/s", low=0.0, high=5.0)
    system = pl.System("ceiling", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(velocity=(0.0, speed)))
    ceiling = pl.Plane(point=(0.0, 1.0 / (2.0 * 9.81) + 0.05), normal=(0, -1))
    system.contact(points=pl.Sphere(ball.root, 0.05), against=ceiling, normal=pl.Hertz(stiffness=1e5), name="top")
    system.event("down", lambda t, q, v: q["ball.y"] + 0.1, direction="falling", stop=True)
    for objective in (lambda run: run.event_time("down"), lambda run: run.final("v ball.y")):
        with pytest.raises(pl.SolveError, match=r"has no derivative.*top ball\.root"):
            pl.optimise(system, objective, ["speed"], t_end=1.0)


def test_constraints_that_cannot_hold_are_said():
    never = pl.Constraint(lambda run: -run.minimum(GAP), high=1e-4, name="depth")
    best = pl.optimise(dropped_ball(), lambda run: run.peak_force(), ["stiffness"], [never], t_end=0.6, save=1e-3, max_runs=30)
    assert not best.ok and "violated constraints: depth" in best.message


def test_a_parameter_that_could_not_be_searched_for_is_said():
    def late(run):
        return (run["ball.y"] - 0.1)[5] ** 2  # before it touches the floor

    best = pl.optimise(dropped_ball(), late, ["stiffness"], t_end=0.2, save=0.01)
    assert not best.ok and "stiffness was not searched for: the objective does not depend on it near 20000" in best.message


@pytest.mark.parametrize(("sense", "ok"), [(1.0, True), (-1.0, False)])
def test_a_start_where_the_derivative_is_zero_is_ok_only_at_a_minimum(sense, ok):
    best = pl.optimise(dropped_ball(), lambda run: sense * (run.parameter("stiffness") - 2e4) ** 2, ["stiffness"], t_end=0.1)
    assert best.ok is ok and ("the derivative of the objective by stiffness is zero at 20000" in best.message) is not ok


@pytest.mark.parametrize("solver", ["SLSQP", "trust-constr"])
def test_the_end_of_a_search_is_said_in_a_sentence(solver):
    system, target = pl.System("slider", gravity=(0, 0)), 0.7
    system.add("s", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(rate=pl.Parameter("speed", 0.4)))

    def miss(run):
        return (run.final("s.displacement") - target) ** 2

    best = pl.optimise(system, miss, ["speed"], t_end=1.0, solver=solver)
    assert best.ok and best.message.startswith("the search converged: ") and best.values["speed"] == pytest.approx(target, abs=1e-3)
    early = pl.optimise(system, miss, ["speed"], t_end=1.0, solver=solver, max_runs=1)
    assert not early.ok and early.message == "the search stopped after 1 steps, before it converged"


def test_constraints_that_contradict_each_other_are_said_in_a_sentence():
    limits = {"soft": (None, 100.0), "hard": (1e3, None)}
    both = [pl.Constraint(lambda run: run.peak_force("floor"), *each, name) for name, each in limits.items()]
    never = pl.optimise(dropped_ball(), lambda run: run.peak_force("floor"), ["stiffness"], both, t_end=0.5)
    assert not never.ok and never.message.startswith("the search stopped: ") and "violated constraints: soft, hard" in never.message

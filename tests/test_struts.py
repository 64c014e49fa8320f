"""Struts: a spring, a damper and an actuator along the line between two points, against equations written by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.errors import ModelError, SolveError

STIFFNESS, REST, DAMPING = 200.0, 0.8, 3.0
POST = (0.2, 1.0)  # where the strut stands on the ground
INERTIA = 2.0 / 3.0  # of the arm about its pin, kg m^2
TOLERANCE = 1e-9  # of a run at rtol 1e-9 against one at 1e-12


def jacked(**strut) -> pl.System:
    """An arm of 2 kg and 1 m on a pin, its tip on a strut that stands on the ground."""
    system = pl.System("jacked arm", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(length=1.0, mass=2.0), joint=pl.Revolute(angle=-0.3))
    system.strut("jack", arm.tip, system.ground.moved(POST), **strut)
    return system


def whole(**more) -> pl.System:
    return jacked(stiffness=STIFFNESS, rest=REST, damping=DAMPING, force=lambda length, rate: 5.0 * length - 0.5 * rate, **more)


def strut_of(angle: float, rate: float) -> tuple[float, float, float]:
    """(length, its rate, its lever about the pin), by hand."""
    x, y = math.cos(angle) - POST[0], math.sin(angle) - POST[1]
    length = math.hypot(x, y)
    lever = (math.cos(angle) * y - math.sin(angle) * x) / length
    return length, lever * rate, lever


def by_hand(t_end: float) -> np.ndarray:
    def rhs(t, state):
        length, stretching, lever = strut_of(*state)
        force = -STIFFNESS * (length - REST) - DAMPING * stretching + 5.0 * length - 0.5 * stretching
        return [state[1], (force * lever - 9.81 * math.cos(state[0])) / INERTIA]

    return solve_ivp(rhs, (0.0, t_end), [-0.3, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.fixture(scope="module")
def run() -> pl.Result:
    return pl.simulate(whole(), 1.0, save=0.01)


def test_the_motion_is_that_of_the_equations_by_hand(run) -> None:
    assert np.allclose([run["arm.angle"][-1], run.values["v"][-1, 0]], by_hand(1.0), atol=TOLERANCE)


def test_the_result_tells_length_rate_and_force(run) -> None:
    for row in (0, 50, 100):
        length, rate, _ = strut_of(run["arm.angle"][row], run.values["v"][row, 0])
        force = -STIFFNESS * (length - REST) - DAMPING * rate + 5.0 * length - 0.5 * rate
        told = [float(run.values[name][row, 0]) for name in ("strut_length", "strut_rate", "strut_force")]
        assert told == pytest.approx([length, rate, force], rel=1e-12, abs=1e-12)


def test_the_ledger_has_a_line_for_the_spring_the_damper_and_the_actuator(run) -> None:
    """The spring's energy is held, the damper's and the actuator's works are the integrals of their powers over the length."""
    lengths, rates = run.values["strut_length"][:, 0], run.values["strut_rate"][:, 0]
    assert np.allclose(run.values["spring"], 0.5 * STIFFNESS * (lengths - REST) ** 2, rtol=1e-12)
    powers = dict(zip(run.labels["source"], run.values["power"].T, strict=True))
    assert np.allclose(powers["jack damper"], -DAMPING * rates**2, rtol=1e-12)
    assert np.allclose(powers["jack"], (5.0 * lengths - 0.5 * rates) * rates, rtol=1e-12)
    assert run.ledger.work["jack damper"][-1] < -1.0 and not run.ledger.violations
    assert run.ledger.relative_error_max < 1e-8


@pytest.mark.parametrize("formulation", ["gibbs_appell", "lagrange", "gibbs", "denoc", "augmented"])
def test_every_formulation_gives_the_same_motion(formulation, run) -> None:
    other = pl.simulate(whole(), 0.5, save=0.01, formulation=formulation)
    assert np.allclose(other.values["strut_length"], run.values["strut_length"][:51], atol=1e-8)
    assert other.ledger.relative_error_max < 1e-7


def test_a_strut_between_two_elastic_bodies_keeps_momentum() -> None:
    """Two beams that float, joined by a strut: forces are equal and opposite along the line, whatever bends."""
    system = pl.System("tied beams", gravity=(0, 0))
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, modes=pl.Modes("ff", 2),
                   theory="euler-bernoulli", stiffening="none")  # fmt: skip
    one = system.add("one", beam, joint=pl.Planar())
    two = system.add("two", beam, joint=pl.Planar(position=(0.3, 0.6), angle=0.4))
    system.strut("tie", one.tip, two.at(0.2), stiffness=400.0, rest=0.3, damping=2.0)
    run = pl.simulate(system, 0.2, save=0.05)
    assert np.max(np.abs(run.values["momentum"])) < 1e-9
    assert np.max(np.abs(run.values["angular_momentum"])) < 1e-9
    assert run.ledger.relative_error_max < 1e-8
    assert pl.section_forces(run).sizes["beam"] == 2  # sections balance what the strut does, or it raises


def test_a_strut_acts_in_closed_loops() -> None:
    """A parallelogram of massless cranks carries a coupler; a strut along its diagonal swings it as one pendulum."""
    system = pl.System("parallelogram", gravity=(0, 0))
    crank = pl.RigidBody.rod(length=1.0, mass=1e-6)
    left = system.add("left", crank, joint=pl.Revolute(angle=1.2))
    coupler = system.add("coupler", pl.RigidBody.rod(length=0.5, mass=3.0), joint=pl.Revolute(angle=-1.2), on=left.tip)
    right = system.add("right", crank, joint=pl.Revolute(angle=1.2), on=system.ground.moved((0.5, 0.0)))
    system.close("pin", "revolute", coupler.tip, right.tip)
    system.strut("diagonal", coupler.tip, system.ground, stiffness=50.0, rest=1.0)
    run = pl.simulate(system, 1.0, save=0.25)

    def rhs(t, state):  # the coupler translates: a point mass of 3 kg on a circle, pulled along its tip's diagonal
        x, y = 0.5 + math.cos(state[0]), math.sin(state[0])
        length = math.hypot(x, y)
        pull = -50.0 * (length - 1.0) / length
        along = pull * (-x * math.sin(state[0]) + y * math.cos(state[0]))
        return [state[1], along / (3.0 + 2e-6 / 3.0)]

    expected = solve_ivp(rhs, (0.0, 1.0), [1.2, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    assert run["left.angle"][-1] == pytest.approx(expected, abs=1e-8)
    assert run.ledger.relative_error_max < 1e-8


def test_equilibrium_and_linearisation_are_those_of_the_potential() -> None:
    system = jacked(stiffness=STIFFNESS, rest=REST)
    angle = pl.equilibrium(system)["arm.angle"]

    def moment(x: float) -> float:
        length, _, lever = strut_of(x, 0.0)
        return -STIFFNESS * (length - REST) * lever - 9.81 * math.cos(x)

    assert moment(angle) == pytest.approx(0.0, abs=1e-9 * STIFFNESS)
    slope = (moment(angle + 1e-5) - moment(angle - 1e-5)) / 2e-5
    frequency = abs(np.linalg.eigvals(pl.linearise(system).A)[0].imag)
    assert frequency == pytest.approx(math.sqrt(-slope / INERTIA), rel=1e-8)


def test_an_actuator_is_an_input_of_a_linearisation() -> None:
    system = jacked(stiffness=STIFFNESS, rest=REST, force=10.0)
    linear = pl.linearise(system, inputs=["jack"])
    _, _, lever = strut_of(pl.equilibrium(system)["arm.angle"], 0.0)
    assert np.max(np.abs(linear.B)) == pytest.approx(abs(lever) / INERTIA, rel=1e-9)


def test_inverse_dynamics_balances_a_strut() -> None:
    run = pl.inverse_dynamics(whole(), {"arm.angle": lambda t: 0.3 * t * t}, 0.5, save=0.25)
    angle, rate = 0.3 * 0.25, 0.3
    length, stretching, lever = strut_of(angle, rate)
    force = -STIFFNESS * (length - REST) - DAMPING * stretching + 5.0 * length - 0.5 * stretching
    expected = INERTIA * 0.6 + 9.81 * math.cos(angle) - force * lever
    assert run.values["effort"][-1, 0] == pytest.approx(expected, rel=1e-10)


def test_parameters_reach_ensembles_and_sensitivities() -> None:
    k, f = pl.Parameter("k", STIFFNESS), pl.Parameter("f", 5.0)
    system = jacked(stiffness=k, rest=REST, damping=pl.Parameter("d", DAMPING), force=f)
    values = {"k": [0.0, 150.0, STIFFNESS], "d": [0.0, 1.0, DAMPING]}
    members = pl.ensemble(system, 0.4, parameters=values)
    for k_now, d_now, q in zip(values["k"], values["d"], members["q_end"].values[:, 0], strict=True):
        alone = pl.simulate(system, 0.4, parameters={"k": k_now, "d": d_now})
        assert q == alone["arm.angle"][-1]
    slopes = pl.sensitivities(system, 0.4, ["k", "f"])
    step = 1e-3
    for name, value in (("k", STIFFNESS), ("f", 5.0)):
        low, high = (pl.simulate(system, 0.4, parameters={name: value + x})["arm.angle"][-1] for x in (-step, step))
        told = slopes.final[0, slopes.names.index(name)]
        assert told == pytest.approx((high - low) / (2.0 * step), rel=1e-5)


def test_a_formula_reads_a_struts_length_and_rate_by_its_name() -> None:
    system = jacked(stiffness=STIFFNESS, rest=REST)
    system.drive("brake", "arm.angle", lambda t, q, v: -2.0 * v["jack"] * q["jack"])
    run = pl.simulate(system, 0.2, save=0.1)
    expected = -2.0 * run.values["strut_length"][-1, 0] * run.values["strut_rate"][-1, 0]
    assert run.values["effort"][-1, 0] == pytest.approx(expected, rel=1e-12)


def test_a_force_that_jumps_is_cut_at_its_switch() -> None:
    """A cable: it pulls only while longer than it is. The energy balances, so no step straddles the corner of a jump."""
    system = jacked(force=lambda length, rate: pl.where(length > 1.2, -40.0, 0.0))
    run = pl.simulate(system, 2.0, save=0.1)
    force = run.values["strut_force"][:, 0]
    assert set(np.unique(force)) == {-40.0, 0.0}
    assert run.ledger.relative_error_max < 1e-8


# ---- ends that meet


def rail(position: float, rate: float = 0.0, **strut) -> pl.System:
    """A cart of 1 kg on a line through the strut's other end."""
    system = pl.System("rail", gravity=(0, 0))
    cart = system.add("cart", pl.RigidBody(mass=1.0), joint=pl.Prismatic(displacement=position, rate=rate))
    system.strut("spring", cart.root, system.ground, **strut)
    return system


def test_ends_at_one_point_are_refused_at_the_start() -> None:
    with pytest.raises(SolveError, match="strut 'spring': ends must be apart at the start"):
        pl.simulate(rail(0.0, stiffness=10.0, rest=1.0), 1.0)


def test_members_of_an_ensemble_whose_ends_meet_are_refused_and_the_others_run() -> None:
    members = pl.ensemble(rail(0.5, stiffness=10.0, rest=1.0), 0.1, starts={"cart.displacement": [0.5, 0.0, 0.7]})
    assert members["ok"].values.tolist() == [True, False, True]
    assert "strut 'spring': ends must be apart" in str(members["message"].values[1])


def test_passing_through_the_other_end_turns_the_force_round_and_keeps_energy() -> None:
    """rest 0: x'' = -k x, smooth through zero. rest > 0: |x| - rest, whose force jumps there; nothing is nan."""
    through = pl.simulate(rail(0.5, stiffness=10.0, rest=0.0), 3.0, save=0.1)
    assert np.allclose(through["cart.displacement"], 0.5 * np.cos(math.sqrt(10.0) * through.time), atol=1e-8)
    thrown = pl.simulate(rail(0.5, -5.0, stiffness=10.0, rest=0.2), 0.5, save=0.05)
    assert np.all(np.isfinite(thrown.values["strut_force"])) and thrown["cart.displacement"][-1] < -0.5
    assert thrown.ledger.relative_error_max < 1e-7


# ---- what is refused


@pytest.mark.parametrize(
    ("strut", "words"),
    [
        ({"stiffness": 1.0}, "rest must be given in m together with a stiffness"),
        ({}, "stiffness must be > 0 N/m \\(with rest\\) unless a damping or a force is given"),
        ({"damping": -1.0}, "damping must be >= 0 N s/m"),
        ({"stiffness": -1.0, "rest": 1.0}, "stiffness must be >= 0 N/m"),
        ({"stiffness": 1.0, "rest": -1.0}, "rest must be >= 0 m"),
        ({"force": "much"}, "force must be a finite number"),
    ],
)
def test_wrong_struts_are_refused_by_name(strut, words) -> None:
    with pytest.raises(ModelError, match=f"strut 'jack': {words}"):
        jacked(**strut)


def test_a_strut_needs_two_bodies_and_a_name_of_its_own() -> None:
    system = jacked(damping=1.0)
    arm = system.handle("arm")
    with pytest.raises(ModelError, match="b must be a frame on a different body from a"):
        system.strut("inner", arm.tip, arm.root, damping=1.0)
    with pytest.raises(ModelError, match="a strut already has this name"):
        system.drive("jack", "arm.angle", 1.0)


def test_it_is_told_in_words_and_drawn_as_a_line() -> None:
    assert "strut jack: from arm to ground, spring 200 N/m of 0.8 m, damper 3 N s/m, actuator" in str(whole())
    run = pl.simulate(whole(), 0.1)
    assert [kind for kind, _, _ in run.drawing.closures] == ["strut"]


def test_equations_hold_the_law_of_a_strut() -> None:
    """M a + h at a state, from the exported function, against the moment by hand."""
    equations = pl.equations(whole())
    told = equations.function()(t=0.0, q=[0.2], v=[0.7], u=[], p=[])
    length, rate, lever = strut_of(0.2, 0.7)
    force = -STIFFNESS * (length - REST) - DAMPING * rate + 5.0 * length - 0.5 * rate
    assert float(told["acceleration"]) == pytest.approx((force * lever - 9.81 * math.cos(0.2)) / INERTIA, rel=1e-10)


def test_analyses_refuse_a_point_where_a_strut_has_no_direction() -> None:
    for analysis in (pl.equilibrium, pl.linearise):
        with pytest.raises(SolveError, match="strut 'spring': ends must be apart at the point of linearisation"):
            analysis(rail(0.0, stiffness=10.0, rest=1.0))

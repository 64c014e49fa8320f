"""Implicit methods: their numbers, stiff problems of the literature, the Jacobians they take, and when they are chosen."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.jacobian import jacobian_kernel
from pliant.codegen.llvm import compile_function
from pliant.integrate import DOP853, Auto, JacobianKernel, Radau5, Radau9, RealTime, Rodas5P, Status, Stepper
from pliant.integrate.memory.run_record import CUTS
from pliant.integrate.methods.collocation import RadauIIA
from pliant.integrate.methods.rosenbrock_tableaus import RODAS3, RODAS5P, lower

IMPLICIT = [Radau5, Radau9, Rodas5P]
every_implicit = pytest.mark.parametrize("kind", IMPLICIT, ids=lambda kind: kind.__name__)
every_stiff = pytest.mark.parametrize("kind", [*IMPLICIT, Auto], ids=lambda kind: kind.__name__)
every_radau = pytest.mark.parametrize("scheme", [RadauIIA(3), RadauIIA(5), RadauIIA(7)], ids=lambda s: str(s.stages))
every_rosenbrock = pytest.mark.parametrize("scheme", [RODAS5P, RODAS3], ids=lambda s: s.name)


class Equations:
    """A right-hand side traced by casadi, with its machine code; `asked` counts calls for the Jacobian."""

    def __init__(self, n, rates, n_newton=None):
        t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("p", 0)
        self.function = ca.Function("f", [t, y, p], [ca.vertcat(*rates(t, y))], ["t", "y", "p"], ["out"])
        self.code, self.n, self.n_newton, self.asked = compile_function(self.function, cache=None), n, n_newton or n, 0

    def jacobian(self, whole):
        self.asked += 1
        return jacobian_kernel(self.function, self.n_newton, whole, None)

    def run(self, method, start, t_end, exact=True, t0=0.0, **options):
        stepper = Stepper(self.code.address, self.n, self.code.n_work, method, n_newton=self.n_newton,
                          jacobian=self.jacobian if exact else None, **options)  # fmt: skip
        stepper.start(t0, start)
        self.outcome = stepper.advance(t_end)
        return stepper


def robertson():
    def rates(t, y):
        first, second = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return first, -first - second, second

    return Equations(3, rates)


def van_der_pol(mu=1e6):
    return Equations(2, lambda t, y: (y[1], mu * ((1 - y[0] ** 2) * y[1] - y[0])))


def oscillator():
    return Equations(2, lambda t, y: (y[1], -y[0]))


# ---- numbers


@every_radau
def test_a_radau_scheme_has_its_order_and_its_transformation(scheme):
    """B(2s - 1): quadrature; C(s): stages; and A^-1 in real blocks."""
    s, a, c = scheme.stages, scheme.a, scheme.nodes
    for k in range(1, 2 * s):
        assert a[-1] @ c ** (k - 1) == pytest.approx(1.0 / k, abs=2e-15)
    for k in range(1, s + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, atol=2e-15)
    packed = scheme.pack()
    blocks = np.zeros((s, s))
    blocks[0, 0] = scheme.pole
    for k, (re, im) in enumerate(packed["poles"]):
        blocks[2 * k + 1 : 2 * k + 3, 2 * k + 1 : 2 * k + 3] = [[re, -im], [im, re]]
    np.testing.assert_allclose(packed["to_stages"] @ blocks @ packed["to_modes"] @ a, np.eye(s), atol=1e-12)


def test_three_stages_have_the_error_weights_of_radau5():
    """Hairer and Wanner (8.19): (-13 - 7 sqrt 6, -13 + 7 sqrt 6, -1) / 3 over the real eigenvalue."""
    root = 7.0 * math.sqrt(6.0)
    expected = np.array([-13.0 - root, -13.0 + root, -1.0]) / (3.0 * RadauIIA(3).pole)
    np.testing.assert_allclose(RadauIIA(3).estimate, expected, rtol=1e-12)


def radau_growth(scheme, z):
    """R(z) = 1 + z b (I - z A)^-1 1."""
    s = scheme.stages
    return 1.0 + z * scheme.a[-1] @ np.linalg.solve(np.eye(s) - z * scheme.a, np.ones(s))


def rosenbrock_growth(scheme, z):
    """One step of y' = z y, h = 1, y = 1."""
    s, g = scheme.stages, scheme.gamma
    a, c = lower(scheme.a, s), lower(scheme.c, s)
    u = np.zeros(s, dtype=complex)
    for i in range(s):
        u[i] = (z * (1.0 + a[i] @ u) + c[i] @ u) / (1.0 / g - z)
    return 1.0 + np.array(scheme.m) @ u


@pytest.mark.parametrize(("scheme", "growth"), [
    (RadauIIA(3), radau_growth), (RadauIIA(5), radau_growth), (RODAS5P, rosenbrock_growth), (RODAS3, rosenbrock_growth),
], ids=["Radau5", "Radau9", "Rodas5P", "Rodas3"])  # fmt: skip
def test_every_scheme_is_a_stable_and_damps_what_is_infinitely_stiff(scheme, growth):
    for y in np.logspace(-3, 6, 200):
        assert abs(growth(scheme, 1j * y)) <= 1.0 + 1e-9
    assert abs(growth(scheme, -1e9 + 0j)) < 1e-5
    # and follows the exponential to its order
    for z in (-0.1, 0.1j):  # below, ten powers of it are less than round-off
        assert abs(growth(scheme, z) - np.exp(z)) < abs(z) ** (scheme.order + 1)


@every_rosenbrock
def test_a_rosenbrock_scheme_is_stiffly_accurate(scheme):
    """The last stage is taken at the solution less itself: y1 = y + sum a_sj u_j + u_s."""
    last = lower(scheme.a, scheme.stages)[-1].copy()
    last[-1] += 1.0
    np.testing.assert_allclose(last, scheme.m, atol=1e-14)
    assert scheme.alpha[-1] == 1.0


# ---- stiff problems


@every_stiff
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_robertson_reaches_the_reference_of_the_ivp_test_set(kind, rtol):
    """At t = 1e11 s, 17 digits published: IVP test set, Robertson."""
    stepper = robertson().run(kind(rtol=rtol, atol=1e-6 * rtol), [1.0, 0.0, 0.0], 1e11)
    expected = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(stepper.y, expected, rtol=20.0 * rtol)
    assert stepper.statistics.accepted < 2000


@every_stiff
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_van_der_pol_at_a_million_reaches_the_reference_of_the_ivp_test_set(kind, rtol):
    """At t = 2 s: IVP test set, van der Pol with mu = 1e6."""
    stepper = van_der_pol().run(kind(rtol=rtol, atol=1e-3 * rtol), [2.0, 0.0], 2.0)
    np.testing.assert_allclose(stepper.y, [0.1706167732170483e1, -0.8928097010247975], rtol=5.0 * rtol)


@every_implicit
def test_order_does_not_fall_where_the_solution_is_smooth_and_the_equation_stiff(kind):
    """Prothero and Robinson: y' = -1e6 (y - sin t) + cos t; a few steps do, and the end is on the sine."""
    equations = Equations(1, lambda t, y: (-1e6 * (y[0] - ca.sin(t)) + ca.cos(t),))
    stepper = equations.run(kind(rtol=1e-8, atol=1e-8), [0.0], 10.0)
    # a handful of steps at first, then as long as the sine allows: eight tolerances a step
    assert stepper.y[0] == pytest.approx(math.sin(10.0), abs=5e-7)
    assert stepper.statistics.accepted < 40


# ---- Jacobians


@every_implicit
def test_a_jacobian_by_columns_or_by_differences_leads_to_the_same_end(kind, monkeypatch):
    method = kind(rtol=1e-8, atol=1e-11)
    ends = [robertson().run(method, [1.0, 0.0, 0.0], 40.0).y]
    ends.append(robertson().run(method, [1.0, 0.0, 0.0], 40.0, exact=False).y)
    monkeypatch.setattr("pliant.codegen.jacobian.LARGEST_TRACED", 0)
    equations = robertson()
    assert equations.jacobian(False).by_columns
    ends.append(equations.run(method, [1.0, 0.0, 0.0], 40.0).y)
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=1e-7)


def test_a_jacobian_and_its_factorisation_serve_many_steps():
    stepper = van_der_pol(100.0).run(Radau5(rtol=1e-8, atol=1e-10), [2.0, -0.66], 2.0)
    found = stepper.statistics
    assert found.jacobians < 0.6 * found.accepted
    assert found.factorisations < 0.9 * found.accepted


def test_quadratures_have_the_accuracy_of_the_state_and_stay_out_of_the_newton_system():
    """w' = y^2 beside a stiff y: w is int of it; the Jacobian is of one component."""

    def rates(t, y):
        return -1e4 * (y[0] - ca.cos(t)), y[0] ** 2

    equations = Equations(2, rates, n_newton=1)
    exact = equations.run(Radau9(rtol=1e-13, atol=1e-14), [1.0, 0.0], 5.0).y[1]
    # y = cos t + O(1e-4): the integral of cos^2
    assert exact == pytest.approx(2.5 + math.sin(10.0) / 4.0, abs=1e-3)
    for kind in IMPLICIT:
        stepper = equations.run(kind(rtol=1e-7, atol=1e-9), [1.0, 0.0], 5.0, n_controlled=1, n_added=1)
        assert stepper.y[1] == pytest.approx(exact, abs=2e-7), kind


def test_stiff_directions_that_turn_cost_no_steps():
    """A pendulum on a spring: with one Jacobian a step, iterations contract only for h^2 |turning| sqrt(k) < 1."""

    def spring_pendulum(stiffness):
        def rates(t, y):
            length = ca.sqrt(y[0] ** 2 + y[1] ** 2)
            pull = stiffness * (length - 1.0) / length
            return y[2], y[3], -pull * y[0], -pull * y[1] - 9.81

        return Equations(4, rates)

    counts = []
    for stiffness in (1e4, 1e8):
        found = spring_pendulum(stiffness).run(Radau5(rtol=1e-5, atol=[1e-7, 1e-7, 1e-3, 1e-3]), [1.0, 0.0, 0.0, 0.0], 10.0)
        counts.append(found.statistics.accepted)
    assert counts[1] < 2 * counts[0]


# ---- friction that saturates within a fraction of what the tolerance allows

SWING, FAST = 50.0, 1000.0  # m/s, rad/s


def gripped(law, strength, band, load):
    """A light body that friction holds on a heavy one, which swings; strength: m/s^2, band: m/s, load: of the strength."""
    return Equations(3, lambda t, y: (y[1], -(FAST**2) * y[0], strength * (load(t) - law((y[2] - y[1]) / band))))


def corners_of(n, functions):
    """(machine code, options of a stepper): steps end where functions of the state are zero."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("p", 0)
    code = compile_function(ca.Function("g", [t, y, p], [ca.vertcat(*functions(y))], ["t", "y", "p"], ["out"]), cache=None)
    return code, {"events": code.address, "n_events": code.n_out, "kinds": CUTS}


NUDGES = (0.0, 1e-15, -1e-15, 1e-14, 1e-13, 2e-13, 1e-12)  # of the start: by more than round-off of any processor


@pytest.mark.parametrize(("kind", "rtol", "strength", "band"), [(Radau5, 1e-4, 1e6, 1e-3), (Radau9, 1e-6, 1e7, 1e-4)])
def test_iterations_follow_friction_that_saturates_within_the_tolerance(kind, rtol, strength, band):
    """Saturated friction hides what a step leaves of the slip, so some runs end with a slip a hundred times their tolerance."""
    slips = []
    for nudge in NUDGES:
        equations = gripped(ca.tanh, strength, band, lambda t: 0.5 * ca.sin(3.0 * FAST * t))
        stepper = equations.run(kind(rtol=rtol, atol=1e-3 * rtol), (0.0, SWING * (1.0 + nudge), SWING), 0.02, max_steps=2000)
        assert equations.outcome.status is Status.REACHED
        assert stepper.y[:2] == pytest.approx((SWING / FAST * math.sin(20.0), SWING * math.cos(20.0)), rel=1e-3)
        slips.append(abs(stepper.y[2] / stepper.y[1] - 1.0))
    assert np.median(slips) < 1e-4 and max(slips) < 1e-3


@pytest.mark.parametrize("kind", [Auto, Radau5], ids=lambda kind: kind.__name__)
def test_a_run_does_not_chatter_at_a_corner_of_friction_that_it_need_not_resolve(kind):
    """Whole steps cross the corner back and forth: explicit ones are cut there without end, and see no stiffness beyond it."""

    def rising(x):
        size = ca.fmin(ca.fabs(x), 1.0)
        return ca.sign(x) * 0.5 * size * (3.0 - size**2)

    equations = gripped(rising, 1e7, 1e-3, lambda t: 0.3)
    _code, corners = corners_of(3, lambda y: [ca.fabs(y[2] - y[1]) - 1e-3])
    stepper = equations.run(kind(rtol=1e-4, atol=1e-7), (0.0, SWING, SWING), 0.02, max_steps=1000, **corners)
    assert equations.outcome.status is Status.REACHED
    assert stepper.y[:2] == pytest.approx((SWING / FAST * math.sin(20.0), SWING * math.cos(20.0)), rel=1e-3)


@pytest.mark.parametrize("kind", [Radau5, Radau9], ids=lambda kind: kind.__name__)
def test_a_step_that_is_cut_begins_with_the_stages_of_the_whole_one(kind):
    method, levels = kind(rtol=1e-7, atol=1e-10), np.linspace(1.9, 1.2, 8)
    code, corners = corners_of(2, lambda y: [y[0] - level for level in levels])
    plain = van_der_pol().run(method, (2.0, 0.0), 0.75).statistics
    cut = van_der_pol().run(method, (2.0, 0.0), 0.75, **corners).statistics
    assert cut.iterations - plain.iterations < 12 * code.n_out


# ---- automatic choice


def test_an_easy_run_never_asks_for_a_jacobian():
    equations = oscillator()
    stepper = equations.run(Auto(rtol=1e-9, atol=1e-12), [1.0, 0.0], 100.0)
    assert equations.asked == 0
    assert list(stepper.statistics.steps_of) == ["DOP853"]
    assert stepper.y.tolist() == oscillator().run(DOP853(rtol=1e-9, atol=1e-12), [1.0, 0.0], 100.0).y.tolist()


def test_a_run_turns_to_implicit_steps_when_it_becomes_stiff_and_back_when_it_no_longer_is():
    """y' = -k(t) (y - cos t), k a million in between; then fast oscillations that an explicit method follows at less cost."""

    def rates(t, y):
        stiff = ca.logic_and(t > 10.0, t < 20.0)
        return -ca.if_else(stiff, 1e6, 1.0) * (y[0] - ca.cos(t)), ca.if_else(t < 20.0, 0.0, 1e3) * y[2], -ca.if_else(
            t < 20.0, 0.0, 1e3) * y[1]  # fmt: skip

    equations = Equations(3, rates)
    method = Auto(rtol=1e-8, atol=1e-10)
    stepper = equations.run(method, [1.0, 1.0, 0.0], 10.0)
    assert set(stepper.statistics.steps_of) == {"DOP853"}
    assert stepper.advance(20.0).status is Status.REACHED
    stiff = stepper.statistics
    assert stiff.steps_of["Radau9"] > 5
    assert stiff.rhs_evaluations < 50_000
    assert stepper.advance(60.0).status is Status.REACHED
    assert stepper.statistics.steps_of["DOP853"] > 2 * stepper.statistics.steps_of["Radau9"]
    assert [stepper.y[1], stepper.y[2]] == pytest.approx([math.cos(4e4), -math.sin(4e4)], abs=1e-3)


def test_a_run_that_is_stiff_now_and_then_turns_to_implicit_steps_every_time():
    """y' = -k(t) (y - cos t), k a million in every other second, and fast oscillations in the others: contacts that come and go."""

    def rates(t, y):
        stiff = ca.fmod(t, 2.0) > 1.0
        fast = ca.if_else(stiff, 0.0, 1e3)
        return -ca.if_else(stiff, 1e6, 1.0) * (y[0] - ca.cos(t)), fast * y[2], -fast * y[1]

    def run(seconds):
        stepper = Equations(3, rates).run(Auto(rtol=1e-6, atol=1e-8), [1.0, 1.0, 0.0], 1.0)
        for t in range(2, seconds + 1):
            assert stepper.advance(float(t)).status is Status.REACHED
        return stepper.statistics.rhs_evaluations

    assert run(32) < 10 * run(4)  # 8 times as long


def test_a_jacobian_that_is_dear_is_asked_for_when_as_much_was_spent_without_it():
    method = Auto(rtol=1e-6, atol=1e-9)
    prompt, late, never = van_der_pol(), van_der_pol(), van_der_pol()
    prompt.run(method, [2.0, 0.0], 0.01)
    stepper = late.run(method, [2.0, 0.0], 0.01, jacobian_price=3000.0)
    never.run(method, [2.0, 0.0], 0.01, jacobian_price=1e9)
    assert prompt.asked > 0 and late.asked > 0 and never.asked == 0
    assert stepper.statistics.rhs_evaluations > 3000


def test_two_automatic_runs_are_the_same_bit_by_bit():
    ends = [van_der_pol().run(Auto(rtol=1e-6, atol=1e-9), [2.0, 0.0], 2.0) for _ in range(2)]
    assert ends[0].y.tolist() == ends[1].y.tolist()
    assert ends[0].statistics.rhs_evaluations == ends[1].statistics.rhs_evaluations


def test_a_stepper_can_be_started_again():
    equations = van_der_pol()
    stepper = equations.run(Auto(rtol=1e-6, atol=1e-9), [2.0, 0.0], 2.0)
    first = stepper.y.copy()
    stepper.start(0.0, [2.0, 0.0])
    stepper.advance(2.0)
    assert stepper.y.tolist() == first.tolist()


# ---- real time


def test_a_real_time_step_has_constant_work_however_stiff():
    evaluations = []
    for mu in (1.0, 1e6):
        found = van_der_pol(mu).run(RealTime(step=1e-3), [2.0, 0.0], 0.5).statistics
        assert (found.accepted, found.rejected, found.jacobians) == (500, 0, 500)
        evaluations.append(found.rhs_evaluations)
    assert evaluations[0] == evaluations[1] == 1 + 3 * 500


def test_the_accuracy_of_real_time_steps_is_told():
    """The mean estimate, in tolerances, falls with the cube of the step; the error of the run with it."""
    runs = [oscillator().run(RealTime(step=h, rtol=1e-12, atol=1e-6), [1.0, 0.0], 2.0) for h in (1e-2, 5e-3)]
    coarse, fine = (run.statistics for run in runs)
    assert coarse.mean_error / fine.mean_error == pytest.approx(8.0, rel=0.1)
    assert 0.0 < coarse.mean_error <= coarse.largest_error
    errors = [math.dist(run.y, (math.cos(2.0), -math.sin(2.0))) for run in runs]
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.1)


def test_real_time_steps_notice_events_at_their_ends(equations):
    exact = JacobianKernel(equations.falling_jacobian, n_work=0, operations=1, rhs_operations=1, by_columns=False)
    stepper = Stepper(equations.falling, 2, 0, RealTime(step=1e-3), events=equations.height, n_events=1,
                      jacobian=lambda whole: exact)  # fmt: skip
    stepper.start(0.0, [2.0, 0.0], [9.81])
    outcome = stepper.advance(5.0)
    assert outcome.status is Status.EVENT
    touch = math.sqrt(4.0 / 9.81)
    assert outcome.t == pytest.approx(math.ceil(touch / 1e-3) * 1e-3, abs=1e-12)
    assert stepper.statistics.rhs_evaluations == 1 + 3 * stepper.statistics.accepted

"""Orders, tolerances and landings of the compiled loop."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.integrate import (
    DOP853,
    METHODS,
    ODE23,
    ODE45,
    RK4,
    RKF45,
    Auto,
    DormandPrince,
    JacobianKernel,
    Radau5,
    Radau9,
    RealTime,
    Rodas5P,
    Status,
    Stepper,
    Tsit5,
)  # fmt: skip
from pliant.integrate.methods.tableaus import hermite_rows

ADAPTIVE = [RKF45, DormandPrince, Tsit5, DOP853, ODE45, ODE23]
every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
every_adaptive = pytest.mark.parametrize("kind", ADAPTIVE, ids=lambda kind: kind.__name__)


def fixed(kind, h):
    """A method with equal steps: for the adaptive ones both step settings the same and a tolerance never met."""
    if kind in (RK4, RealTime):
        return kind(step=h)
    finely = {"newton": 1e-20} if kind in (Radau5, Radau9) else {}
    return kind(rtol=0.05, atol=1e6, first_step=h, max_step=h, **finely)


def exact(equations, name):
    """The Jacobian of one of them, for those methods that want it."""
    kernel = JacobianKernel(getattr(equations, f"{name}_jacobian"), n_work=0, operations=4, rhs_operations=4, by_columns=False)
    return lambda whole: kernel


def solution(t):
    """Of `forced`: y0 = exp(sin t); y1 = exp(1 - exp(sin t)) as dy1/dy0 = -y1."""
    y0 = np.exp(np.sin(t))
    return np.stack([y0, np.exp(1.0 - y0)], axis=-1)


def one_step_errors(kind, h, equations):
    """Root mean square of the error at the end of one step from the exact state, and the largest inside it."""
    ends, inside = [], []
    for t0 in np.linspace(0.0, 6.2, 32):
        stepper = Stepper(equations.forced, 2, 0, fixed(kind, h), jacobian=exact(equations, "forced"))
        stepper.start(t0, solution(t0), save=t0 + h * np.linspace(0.05, 0.95, 19))
        stepper.advance(t0 + h)
        assert stepper.statistics.accepted == 1
        t, y = stepper.rows()
        ends.append(np.abs(stepper.y - solution(t0 + h)).max())
        inside.append(np.abs(y - solution(t)).max())
    return np.sqrt(np.mean(np.square(ends))), max(inside)


@every_method
def test_one_step_and_its_dense_output_have_the_orders_claimed(kind, equations):
    """On a nonlinear, time-dependent problem: h^(order + 1) at the end, h^(dense order + 1) in between."""
    # Radau9 at 0.24: its error is 90 times the round-off of its Newton iteration, 1e-14 on some processors
    steps = {RK4: (0.02, 0.01), DOP853: (0.15, 0.1), Auto: (0.15, 0.1), Radau9: (0.36, 0.24)}.get(kind, (0.05, 0.025))
    coarse, fine = (np.array(one_step_errors(kind, h, equations)) for h in steps)
    end, inside = np.log(coarse / fine) / math.log(steps[0] / steps[1])
    assert end == pytest.approx(kind.tableau.order + 1, abs=0.1)
    assert inside == pytest.approx(kind.tableau.dense_order + 1, abs=0.1)


@every_method
def test_the_order_of_a_whole_run_is_the_one_claimed(kind, equations):
    fewer = {DOP853: (42, 60), Auto: (42, 60), Radau9: (24, 36)}
    # Tsit5's first error term is so small that its second shows at rougher steps
    counts = {RK4: (400, 800), Tsit5: (400, 800), RealTime: (800, 1600), Rodas5P: (400, 800), **fewer}.get(kind, (200, 400))
    # Rodas5P gains an order on linear equations: it is held to its own on others
    problem, start, end = "oscillator", [1.0, 0.0], (math.cos(20.0), -math.sin(20.0))
    if kind is Rodas5P:
        problem, start, end = "forced", solution(0.0), solution(20.0)
    errors = []
    for n in counts:
        stepper = Stepper(getattr(equations, problem), 2, 0, fixed(kind, 20.0 / n), jacobian=exact(equations, problem))
        stepper.start(0.0, start)
        assert stepper.advance(20.0).status is Status.REACHED
        assert stepper.statistics.accepted == n
        errors.append(math.dist(stepper.y, end))
    assert math.log(errors[0] / errors[1]) / math.log(counts[1] / counts[0]) == pytest.approx(kind.tableau.order, abs=0.1)


@every_adaptive
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
def test_error_of_a_kepler_orbit_follows_the_tolerance(kind, rtol, equations):
    """Eccentricity 0.5, two revolutions; the orbit multiplies a local error by about a thousand, in any code."""
    stepper = Stepper(equations.kepler, 4, 0, kind(rtol=rtol, atol=rtol))
    start = [0.5, 0.0, 0.0, math.sqrt(3.0)]
    stepper.start(0.0, start)
    assert stepper.advance(4.0 * math.pi).status is Status.REACHED
    error = np.abs(stepper.y - start).max()
    print(kind.__name__, rtol, error / rtol, stepper.statistics)
    assert error < 3000.0 * rtol


@every_adaptive
def test_tight_tolerance_keeps_the_energy_of_a_pendulum(kind, equations):
    stepper = Stepper(equations.pendulum, 2, 0, kind(rtol=1e-13, atol=1e-14))
    stepper.start(0.0, [2.0, 0.0], save=np.linspace(0.0, 20.0, 201))
    stepper.advance(20.0)
    _, y = stepper.rows()
    energy = 0.5 * y[:, 1] ** 2 - np.cos(y[:, 0])
    assert np.abs(energy - energy[0]).max() < 1e-11


@every_method
def test_a_stop_is_landed_on_exactly_and_without_slivers(kind, equations):
    method = kind(step=0.01) if kind in (RK4, RealTime) else kind(rtol=1e-6, atol=1e-9)
    stepper = Stepper(equations.oscillator, 2, 0, method)
    stepper.start(0.0, [1.0, 0.0], save="steps")
    stops = np.linspace(0.0, 10.0, 34)[1:]
    for stop in stops:
        assert stepper.advance(stop).t == stop
    t, y = stepper.rows()
    assert set(stops) <= set(t)
    assert np.all(np.diff(t) > 0.0)
    np.testing.assert_allclose(y[:, 0], np.cos(t), atol=1e-4)
    if kind not in (RK4, RealTime, ODE45, ODE23):  # the rules of these two know no halves
        # The way to a stop is split into equal parts: no step is much shorter than the one before.
        lengths = np.diff(t)
        assert np.all(lengths[1:] > 0.49 * lengths[:-1])


def test_fixed_steps_do_not_drift(equations):
    """A million additions of 1e-6 would be off by 1e-10 of a second and leave a sliver at the end."""
    stepper = Stepper(equations.oscillator, 2, 0, RK4(step=1e-5))
    stepper.start(0.0, [1.0, 0.0])
    stepper.advance(3.0)
    assert stepper.statistics.accepted == 300_000


def test_the_rest_of_the_state_rides_along_uncontrolled(equations):
    """Kepler's velocity equations control nothing here: the step follows the first two components only."""
    counts = []
    for n_controlled in (2, 4):
        stepper = Stepper(equations.kepler, 4, 0, DormandPrince(rtol=1e-6, atol=1e-9), n_controlled=n_controlled)
        stepper.start(0.0, [0.2, 0.0, 0.0, 3.0])
        stepper.advance(6.0)
        counts.append(stepper.statistics.accepted)
    assert counts[0] != counts[1]


def test_one_tolerance_per_component_is_honoured(equations):
    loose, tight = (Stepper(equations.oscillator, 2, 0, DOP853(rtol=1e-12, atol=atol)) for atol in ([1e-3, 1e-3], [1e-3, 1e-12]))
    for stepper in (loose, tight):
        stepper.start(0.0, [1.0, 0.0])
        stepper.advance(10.0)
    assert loose.statistics.accepted < tight.statistics.accepted


@every_adaptive
def test_stiffness_costs_steps_but_not_accuracy(kind, equations):
    stepper = Stepper(equations.van_der_pol, 2, 0, kind(rtol=1e-8, atol=1e-10))
    stepper.start(0.0, [2.0, 0.0], [100.0])
    assert stepper.advance(50.0).status is Status.REACHED
    stiff = solve_ivp(lambda t, y: [y[1], 100.0 * (1.0 - y[0] ** 2) * y[1] - y[0]], (0.0, 50.0), [2.0, 0.0],
                      method="Radau", rtol=1e-10, atol=1e-12)  # fmt: skip
    assert stepper.y == pytest.approx(stiff.y[:, -1], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "start", "p", "t_end", "counts"),
    [
        # vdp1: the rules written out once more give the same; ramp: printed by MATLAB, matlabcentral/answers/480688
        ("van_der_pol", [2.0, 0.0], [1.0], 20.0, (59, 10, 415)),
        ("ramp", [0.0], [], 10.0, (14, 2, 97)),
    ],
)
def test_ode45_takes_the_steps_that_matlab_takes(name, start, p, t_end, counts, equations):
    """Successful steps, failed attempts and evaluations with default options, of which MATLAB's longest step is a tenth of all."""
    stepper = Stepper(getattr(equations, name), len(start), 0, ODE45().over(t_end))
    stepper.start(0.0, start, p)
    stepper.advance(t_end)
    found = stepper.statistics
    assert (found.accepted, found.rejected, found.rhs_evaluations) == counts


@pytest.mark.parametrize(("kind", "least"), [(ODE45, 0.1), (ODE23, 0.5)], ids=["ODE45", "ODE23"])
def test_every_step_of_ode45_and_ode23_follows_from_the_published_rules(kind, least, equations):
    """The rules written out once more, for y' = f(t, y) as arrays, on van der Pol's equation."""
    stepper = Stepper(equations.van_der_pol, 2, 0, kind().over(20.0))
    stepper.start(0.0, [2.0, 0.0], [1.0], save="steps")
    stepper.advance(20.0)
    t, y = stepper.rows()
    expected_t, expected_y = _by_the_rules(lambda t, y: np.array([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]]), y[0], 20.0, kind, least)
    assert t == pytest.approx(expected_t, rel=1e-9)
    assert y == pytest.approx(expected_y, abs=1e-9)


def _by_the_rules(f, y, t_end, kind, least, rtol=1e-3, atol=1e-6):
    scheme, power, threshold = kind.tableau, 1.0 / kind.tableau.order, atol / rtol
    rows = [[float(row.get(j, 0)) for j in range(scheme.stages + 1)] for row in (*scheme.a, scheme.b, *scheme.error)]
    nodes = [*map(float, scheme.c), 1.0]
    t, slope, longest = 0.0, f(0.0, y), 0.1 * t_end
    h = min(longest, 0.8 * rtol**power / np.max(np.abs(slope) / np.maximum(np.abs(y), threshold)))
    found = [(t, y)]
    while t < t_end:
        h, failed = min(h, longest), False
        if 1.1 * h >= t_end - t:
            h = t_end - t
        while True:
            k = [slope]
            for i in range(1, scheme.stages + 1):
                new = y + h * sum(a * one for a, one in zip(rows[i], k, strict=False))
                k.append(f(t + nodes[i] * h, new))
            size = np.maximum(np.maximum(np.abs(y), np.abs(new)), threshold)
            error = h * np.max(np.abs(sum(e * one for e, one in zip(rows[-1], k, strict=True))) / size)
            if error <= rtol:
                break
            h, failed = h * (0.5 if failed else max(least, 0.8 * (rtol / error) ** power)), True
        t, y, slope = t + h, new, k[-1]
        found.append((t, y))
        h = h if failed else h * min(5.0, 0.8 * (rtol / error) ** power)
    return np.array([t for t, _ in found]), np.array([y for _, y in found])


def test_the_interpolant_of_ode45_is_the_published_polynomial():
    """Shampine 1986: the weights of stages 1, 3, ... 7 at x, as printed for MATLAB's ntrp45."""
    powers = {0: (1, "-183/64", "37/12", "-145/128"), 2: (0, "1500/371", "-1000/159", "1000/371"),
              3: (0, "-125/32", "125/12", "-375/64"), 4: (0, "9477/3392", "-729/106", "25515/6784"),
              5: (0, "-11/7", "11/3", "-55/28"), 6: (0, "3/2", "-4", "5/2")}  # fmt: skip
    f0, f1, f2 = hermite_rows(ODE45.tableau.b, 6)
    for x in (Fraction(1, 4), Fraction(2, 3), Fraction(1)):
        for stage, row in powers.items():
            ours = x * (
                f0.get(stage, 0) + (1 - x) * (f1.get(stage, 0) + x * (f2.get(stage, 0) + (1 - x) * ODE45.tableau.dense[0][stage]))
            )
            assert ours == sum(Fraction(a) * x ** (n + 1) for n, a in enumerate(row))

"""Friction laws one by one: closed forms, creep, stick-slip, pre-sliding, dwell, a user's own, and wrong laws refused."""

import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.errors import ModelError
from pliant.model.friction_law import (
    Ambrosio,
    BengisuAkay,
    Coulomb,
    CoulombStiction,
    CoulombViscous,
    CustomFriction,
    Dahl,
    GonthierFriction,
    Karnopp,
    LuGre,
    Stribeck,
    Threlfall,
    friction_law,
)  # fmt: skip

DAHL = Dahl(sigma0=2e4, mu=0.25)
LUGRE = LuGre(sigma0=1e4, sigma1=30.0, sigma2=0.01, mu_static=0.15, mu_kinetic=0.1, v_stribeck=1e-3)
GONTHIER = GonthierFriction(sigma0=1e4, sigma1=10.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01, tau_dwell=0.5)


def test_ambrosio_is_equation_24_of_the_falling_chain():
    law = Ambrosio(mu=0.1, v0=1e-4, v1=1e-3)
    speeds = (0.0, 5e-5, 1e-4, 5.5e-4, 1e-3, 2.0)
    assert [law.force(v, 50.0) for v in speeds] == pytest.approx([0.0, 0.0, 0.0, 2.5, 5.0, 5.0], rel=1e-14)
    assert law.switches == (1e-4, 1e-3)
    assert Ambrosio(mu=0.1, v0=0.0, v1=1e-3).switches == (1e-3,)


def test_stiction_peaks_at_its_static_speed():
    law = CoulombStiction(mu_static=0.5, mu_kinetic=0.3, v_static=0.01, v_kinetic=0.03)
    speeds = np.linspace(0.0, 0.05, 5001)
    assert speeds[np.argmax(law.coefficient(speeds))] == pytest.approx(0.01, abs=1e-9)
    values = [law.coefficient(v) for v in (0.005, 0.01, 0.02, 0.03)]
    assert values == pytest.approx([0.5 * 0.6875, 0.5, 0.4, 0.3], rel=1e-14)


def test_bengisu_and_akay_join_at_the_peak_with_the_printed_branches():
    law = BengisuAkay(mu_static=0.5, mu_kinetic=0.3, v0=0.01, xi=200.0)
    assert law.coefficient(0.01) == 0.5
    assert law.coefficient(0.004) == pytest.approx(-0.5 / 0.01**2 * (0.004 - 0.01) ** 2 + 0.5, rel=1e-14)
    assert law.coefficient(0.015) == pytest.approx(0.3 + 0.2 * math.exp(-1.0), rel=1e-14)
    assert BengisuAkay(mu_static=0.5, mu_kinetic=0.3, v0=1.0, xi=1e6).coefficient(0.0) == 0.0  # no overflow


def test_threlfall_reaches_95_percent():
    law = Threlfall(mu=0.3, v_r=0.01)
    assert law.coefficient(5e-3) == pytest.approx(0.3 * (1.0 - math.exp(-1.5)), rel=1e-14)
    assert law.coefficient(1.0) == law.coefficient(0.01) == pytest.approx(0.95 * 0.3, rel=3e-4)


def test_stribeck_falls_between_its_coefficients_and_then_drags():
    law = Stribeck(mu_static=0.5, mu_kinetic=0.3, v_stribeck=0.1, exponent=1.0, viscous=0.2, transition=1e-4)
    assert law.coefficient(0.1) == pytest.approx(0.3 + 0.2 / math.e + 0.02, rel=1e-14)
    assert law.coefficient(5.0) == pytest.approx(0.3 + 1.0, rel=1e-12)


def test_karnopp_tells_what_holds():
    law = Karnopp(mu_static=0.5, mu_kinetic=0.3, band=2e-3, viscous=0.1)
    assert law.holds and law.switches == (2e-3,) and law.stiction(8.0) == 4.0
    assert law.force(0.5, 8.0) == pytest.approx(8.0 * 0.35, rel=1e-15)
    assert not Coulomb(mu=0.3).holds


def test_a_block_on_a_gentle_incline_creeps_at_the_speed_that_the_law_foretells():
    law, slope = Coulomb(mu=0.3, transition=1e-3), math.atan(0.2)
    pull, normal = 9.81 * math.sin(slope), 9.81 * math.cos(slope)
    run = solve_ivp(lambda t, v: [pull - law.force(max(v[0], 0.0), normal)], (0.0, 0.05), [0.0], "Radau",
                    rtol=1e-10, atol=1e-14)  # fmt: skip
    assert run.y[0, -1] == pytest.approx(1e-3 * math.atanh(0.2 / 0.3), rel=1e-8)


def test_a_block_on_a_steep_incline_with_drag_reaches_its_terminal_speed_in_closed_form():
    law = CoulombViscous(mu=0.1, viscous=0.5, transition=1e-5)
    # m v' = T - N (mu + b v): v = v_end (1 - exp(-N b t)) but for the first 1e-5 m/s
    pull, normal = 5.0, 8.0
    run = solve_ivp(lambda t, v: [pull - law.force(max(v[0], 0.0), normal)], (0.0, 0.3), [0.0], "Radau",
                    rtol=1e-10, atol=1e-13)  # fmt: skip
    end = (pull / normal - 0.1) / 0.5
    assert run.y[0, -1] == pytest.approx(end * (1.0 - math.exp(-normal * 0.5 * 0.3)), rel=1e-5)


def test_stick_slip_on_a_belt_has_the_period_of_static_and_kinetic_friction():
    """m x'' = -k x + N mu(vb - x'); stick until k x = mu_s N, then half an oscillation about mu_k N/k and a bit."""
    m, k, normal, belt, mu_s, mu_k = 1.0, 100.0, 10.0, 0.1, 0.4, 0.2
    omega, sag = math.sqrt(k / m), (mu_s - mu_k) * normal / k
    exact = (math.pi + 2.0 * math.atan2(belt / omega, sag)) / omega + 2.0 * sag / belt
    errors = []
    for sharp in (1e-3, 2.5e-4):
        law = CoulombStiction(mu_static=mu_s, mu_kinetic=mu_k, v_static=sharp, v_kinetic=1.5 * sharp)

        def motion(t, y, law=law):
            slip = y[1] - belt
            return y[1], (-k * y[0] - math.copysign(law.force(abs(slip), normal), slip)) / m

        def turns(t, y):
            return y[1]

        turns.direction = -1
        run = solve_ivp(motion, (0.0, 2.4), (mu_s * normal / k, belt), "LSODA", events=turns, rtol=1e-8, atol=1e-10)
        peaks = run.t_events[0]
        errors.append(abs(peaks[2] - peaks[1] - exact) / exact)
    assert errors[1] < 0.5 * errors[0] and errors[1] < 0.01


def test_dahl_is_a_curve_of_displacement_alone_forth_and_back():
    """z = (mu/s0)(1 - exp(-s0 x/mu)) going; from (x1, z1) back: z = -mu/s0 + (z1 + mu/s0) exp(-s0 (x1 - x)/mu)."""
    reach, length = 3e-5, 0.25 / 2e4

    def slip(t):
        return 0.5 * reach * math.sin(t)  # x = reach (1 - cos t)/2: out at pi, back at 2 pi

    run = solve_ivp(lambda t, y: DAHL.deflection_rate(slip(t), y[0], abs(slip(t)), 9.0), (0.0, math.pi), [0.0],
                    "DOP853", rtol=1e-12, atol=1e-18, dense_output=True)  # fmt: skip
    for t in (0.5, 2.0, math.pi):
        x = reach * (1.0 - math.cos(t)) / 2.0
        assert run.sol(t)[0] == pytest.approx(length * (1.0 - math.exp(-x / length)), rel=1e-8)
    turn = run.y[0, -1]
    back = solve_ivp(lambda t, y: DAHL.deflection_rate(slip(t), y[0], abs(slip(t)), 9.0), (math.pi, 2 * math.pi),
                     [turn], "DOP853", rtol=1e-12, atol=1e-18)  # fmt: skip
    assert back.y[0, -1] == pytest.approx(-length + (turn + length) * math.exp(-reach / length), rel=1e-9)


@pytest.mark.parametrize("speed", [1e-4, 1e-3, 0.1])
def test_lugre_under_constant_slip_in_closed_form(speed):
    """z = (g/s0)(1 - exp(-s0 v t/g)), F = N (s0 z + s1 dz/dt + s2 v)."""
    g = 0.1 + 0.05 * math.exp(-((speed / 1e-3) ** 2))
    t = 2.0 * g / (1e4 * speed)
    run = solve_ivp(lambda t, y: LUGRE.deflection_rate(speed, y[0], speed, 9.0), (0.0, t), [0.0], "DOP853",
                    rtol=1e-12, atol=1e-18)  # fmt: skip
    z, rate = g / 1e4 * (1.0 - math.exp(-2.0)), speed * math.exp(-2.0)
    assert run.y[0, -1] == pytest.approx(z, rel=1e-10)
    assert LUGRE.force(speed, z, rate, 9.0) == pytest.approx(9.0 * (1e4 * z + 30.0 * rate + 0.01 * speed), rel=1e-14)


def test_lugre_sticks_as_a_spring_and_damper():
    """A push of a hundredth of stiction: m x'' + N (s1 + s2) x' + N s0 x = push, to the first order of z."""
    m, normal, push = 1.0, 9.0, 1e-4 * 9.0 * 0.15

    def motion(t, y):
        rate = LUGRE.deflection_rate(y[1], y[2], abs(y[1]), normal)
        return y[1], (push - LUGRE.force(y[1], y[2], rate, normal)) / m, rate

    run = solve_ivp(motion, (0.0, 0.02), (0.0, 0.0, 0.0), "DOP853", rtol=1e-10, atol=1e-16)
    omega, half = math.sqrt(normal * 1e4 / m), normal * (30.0 + 0.01) / (2.0 * m)
    fast = math.sqrt(omega**2 - half**2)
    turn = math.cos(fast * 0.02) + half / fast * math.sin(fast * 0.02)
    x = push / (normal * 1e4) * (1.0 - math.exp(-half * 0.02) * turn)
    assert run.y[0, -1] == pytest.approx(x, rel=1e-3)


def test_lugre_breaks_away_near_static_friction_when_pulled_slowly():
    m, normal, ramp = 1.0, 9.0, 0.5

    def motion(t, y):
        rate = LUGRE.deflection_rate(y[1], y[2], abs(y[1]), normal)
        return y[1], (ramp * t - LUGRE.force(y[1], y[2], rate, normal)) / m, rate

    def slides(t, y):
        return y[1] - 5e-3

    slides.terminal = True
    run = solve_ivp(motion, (0.0, 5.0), (0.0, 0.0, 0.0), "Radau", events=slides, rtol=1e-7, atol=1e-12)
    assert ramp * run.t[-1] == pytest.approx(0.15 * normal, rel=0.03)


@pytest.mark.parametrize("law", [DAHL, LUGRE], ids=["Dahl", "LuGre"])
def test_bristles_give_back_no_more_than_they_hold(law):
    """Work taken less work stored only grows, under a constant normal force."""

    def slip(t):
        return 2e-3 * (math.sin(40.0 * t) + 0.7 * math.sin(97.0 * t))

    def motion(t, y):
        rate = law.deflection_rate(slip(t), y[0], abs(slip(t)), 9.0)
        return rate, law.force(slip(t), y[0], rate, 9.0) * slip(t)

    run = solve_ivp(motion, (0.0, 0.4), (0.0, 0.0), "DOP853", rtol=1e-9, atol=1e-14, max_step=1e-3)
    lost = run.y[1] - np.array([law.stored(z, 9.0) for z in run.y[0]])
    assert np.all(np.diff(lost) > -1e-12) and lost[-1] > 1e-4


def test_dwell_at_rest_strengthens_and_slip_forgets():
    """w = 1 - exp(-T/tau) after rest, then exp(-t s0/s1) in full slip; the bound follows."""
    rest = solve_ivp(lambda t, w: GONTHIER.dwell_rate(w[0], 0.0), (0.0, 0.8), [0.0], rtol=1e-11, atol=1e-13)
    dwell = rest.y[0, -1]
    assert dwell == pytest.approx(1.0 - math.exp(-0.8 / 0.5), rel=1e-9)
    assert GONTHIER.bound(dwell) == pytest.approx(0.3 + 0.1 * dwell, rel=1e-15)
    slide = solve_ivp(lambda t, w: GONTHIER.dwell_rate(w[0], 1.0), (0.0, 2e-3), [dwell], rtol=1e-11, atol=1e-13)
    assert slide.y[0, -1] == pytest.approx(dwell * math.exp(-2.0), rel=1e-8)


@pytest.mark.parametrize("rest", [0.0, 0.3, 3.0])
def test_what_breaks_a_block_away_grows_with_its_dwell(rest):
    """Pulled up quickly after a rest, it lets go at mu_k + (mu_s - mu_k)(1 - exp(-T/tau)) of the normal force."""
    m, normal, ramp = 1.0, 9.0, 40.0
    start = 1.0 - math.exp(-rest / 0.5)

    def friction(v, z, w):
        return GONTHIER.forces((v,), (z,), abs(v), normal, w)[0]

    def motion(t, y):
        v, z, w = y
        rates = GONTHIER.deflection_rate(v, z, abs(v), normal), GONTHIER.dwell_rate(w, abs(v))
        return (ramp * t - friction(v, z, w)) / m, *rates

    def slides(t, y):
        return y[0] - 0.02

    slides.terminal = True
    run = solve_ivp(motion, (0.0, 1.0), (0.0, 0.0, start), "LSODA", events=slides, rtol=1e-8, atol=1e-12)
    held = np.array([friction(*y) for y in run.y.T])
    gives = np.argmax(held >= normal * GONTHIER.bound(run.y[2]) * (1.0 - 1e-12))  # the first moment at the bound
    while_pulled = 1.0 - (1.0 - start) * math.exp(-run.t[gives] / 0.5)
    assert held[gives] == pytest.approx(normal * (0.3 + 0.1 * while_pulled), rel=1e-3)
    assert ramp * run.t[gives] == pytest.approx(held[gives], rel=0.03)  # at rest until then


def test_a_users_function_is_a_law():
    law = friction_law("contact", "friction", lambda speed, normal: 0.2 * normal * speed / (speed + 0.1))
    assert isinstance(law, CustomFriction)
    assert law.force(0.1, 8.0) == pytest.approx(0.8) and law.coefficient(0.1) == pytest.approx(0.1)
    assert law.switches == () and law.states == 0 and not law.holds
    assert CustomFriction(lambda v, n: n, (0.1, 0.2)).switches == (0.1, 0.2)
    for made in (DAHL, Coulomb(mu=0.1)):
        assert friction_law("contact", "friction", made) is made


STEADY = {"mu_static": 0.4, "mu_kinetic": 0.3}
WRONG = {
    "negative mu": (lambda: Coulomb(mu=-0.1), "Coulomb: mu must be >= 0, got -0.1"),
    "mu nan": (lambda: Coulomb(mu=math.nan), "Coulomb: mu must be a finite number, got nan"),
    "transition": (lambda: Coulomb(mu=0.1, transition=0.0), "Coulomb: transition must be > 0 m/s, got 0.0"),
    "static below kinetic": (lambda: Karnopp(mu_static=0.2, mu_kinetic=0.3),
                             "Karnopp: mu_static must be >= mu_kinetic = 0.3, got 0.2"),
    "band": (lambda: Karnopp(**STEADY, band=-1.0), "Karnopp: band must be > 0 m/s, got -1.0"),
    "peak after fall": (lambda: CoulombStiction(**STEADY, v_static=0.1, v_kinetic=0.1),
                        "CoulombStiction: v_kinetic must be > v_static = 0.1 m/s, got 0.1"),
    "viscous": (lambda: CoulombViscous(mu=0.1, viscous=-1.0), "CoulombViscous: viscous must be >= 0 s/m, got -1.0"),
    "lost peak": (lambda: Stribeck(**STEADY, v_stribeck=1e-4),
                  "Stribeck: v_stribeck must be > transition = 0.001 m/s, got 0.0001"),
    "v_r": (lambda: Threlfall(mu=0.1, v_r="slow"), "Threlfall: v_r must be a finite number in m/s, got 'slow'"),
    "xi": (lambda: BengisuAkay(**STEADY, v0=0.1, xi=0.0), "BengisuAkay: xi must be > 0 s/m, got 0.0"),
    "v1 below v0": (lambda: Ambrosio(mu=0.1, v0=1e-3, v1=1e-4), "Ambrosio: v1 must be > v0 = 0.001 m/s, got 0.0001"),
    "dahl without mu": (lambda: Dahl(sigma0=1e4, mu=0.0), "Dahl: mu must be > 0, got 0.0"),
    "lugre without mu": (lambda: LuGre(sigma0=1e4, sigma1=1.0, v_stribeck=0.1, mu_static=0.1, mu_kinetic=0.0),
                         "LuGre: mu_kinetic must be > 0, got 0.0"),
    "stiffness": (lambda: Dahl(sigma0=0.0, mu=0.1), "Dahl: sigma0 must be > 0 1/m, got 0.0"),
    "gonthier damping": (lambda: GonthierFriction(**STEADY, sigma0=1e4, sigma1=0.0, v_stribeck=0.1, tau_dwell=1.0),
                         "GonthierFriction: sigma1 must be > 0 s/m, got 0.0"),
    "no function": (lambda: CustomFriction(0.3), "CustomFriction: function must be a function of (speed, normal), got 0.3"),
    "switch at rest": (lambda: CustomFriction(min, (0.0,)), "CustomFriction: switches[0] must be > 0 m/s, got 0.0"),
    "switches fall": (lambda: CustomFriction(min, (0.2, 0.1)), "CustomFriction: switches must be strictly increasing"),
    "no law": (lambda: friction_law("contact 'a'", "friction", 0.3),
               "contact 'a': friction must be a friction law or a function of (speed, normal), got 0.3"),
    "a class": (lambda: friction_law("contact 'a'", "friction", Dahl),
                "contact 'a': friction must be a friction law or a function of (speed, normal), got <class"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_laws_are_refused(case):
    make, message = WRONG[case]
    with pytest.raises(ModelError, match=re.escape(message)):
        make()

"""Frequencies against exact numbers, against 300-digit integration of the state equation, and against Ritz's count."""

import itertools
import math

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.linalg import eigh, null_space

from pliant.beams import characteristic
from pliant.beams.characteristic import BendingProblem, count_below, roots, simply_supported

ENDS = ("cc", "ss", "sc", "cs", "cf", "fc", "ff", "sf", "fs")
SLENDER = {"rotary": 1.3e-5, "shear": 4.06e-5}  # 30 x 12.5 mm, 1 m
THICK = {"rotary": 0.01, "shear": 0.03}  # cut-off at Omega = 57.7, from the third or fourth mode on
PAYLOADS = [(0.5, 0.02, 0.1), (0.7, 0.1, -0.3), (3.0, 0.0, 0.0), (0.1, 0.3, 0.4), (20.0, 5.0, 0.5), (1e5, 10.0, 0.2)]

BETA = {  # roots of cos cosh = -1, cos cosh = 1, tan = tanh (Blevins 1979, more digits)
    "cf": (1.8751040687119611664, 4.6940911329741745764, 7.8547574382376125649, 10.995540734875466990),
    "cc": (4.7300407448627040260, 7.8532046240958375565, 10.995607838001670907, 14.137165491257464177),
    "sc": (3.9266023120479187782, 7.0685827456287320875, 10.210176122813030555, 13.351768777754093067),
}
BITS = 1000
DIGITS = 14 if np.finfo(np.longdouble).eps < 1e-17 else 13  # long double is plain double on some platforms


def fixed(value):
    """An exact fixed-point integer of a float (or longdouble) with BITS binary places."""
    head = float(value)
    tail = float(value - np.longdouble(head))
    return sum(n * (1 << BITS) // d for n, d in (head.as_integer_ratio(), tail.as_integer_ratio()))


def shot(problem, omega):
    """The boundary determinant by shooting: the Taylor series of y' = A y from root to tip in 300-digit arithmetic.

    No wavenumbers, no basis: only the state equation, the root's two free starts and the tip's two conditions.
    """
    one = 1 << BITS
    square = fixed(omega) ** 2 >> BITS
    shear, tau = fixed(problem.shear), fixed(problem.rotary) * square >> BITS
    starts = {"c": (2, 3), "s": (1, 3), "f": (0, 1)}[problem.ends[0]]
    ends = []
    for start in starts:
        w, th, m, v = (one if k == start else 0 for k in range(4))
        total = [w, th, m, v]
        for k in itertools.count(1):
            w, th, m, v = (
                (th + (shear * v >> BITS)) // k,
                m // k,
                (-v - (tau * th >> BITS)) // k,
                (-square * w >> BITS) // k,
            )
            total = [a + b for a, b in zip(total, (w, th, m, v), strict=True)]
            if k > 50 and max(abs(w), abs(th), abs(m), abs(v)) < one >> (BITS - 100):
                break
        ends.append(at_tip(problem, square, total))
    (a, b), (c, d) = ends
    return (a * d - b * c) >> BITS


def at_tip(problem, square, state):
    w, th, m, v = state
    if problem.ends[1] in "cs":
        return (w, th) if problem.ends[1] == "c" else (w, m)
    mass, inertia, offset = (fixed(part) for part in problem.payload)
    force = (mass * square >> BITS) * (w + (offset * th >> BITS)) >> BITS
    moment = ((inertia * square >> BITS) * th + offset * force) >> BITS
    return m - moment, v - force


def ritz(problem, count, size):
    """The same beam by Ritz with Legendre polynomials for w and Theta (or w alone): an independent count."""
    nodes, weights = legendre.leggauss(2 * size)
    ends = np.array([-1.0, 1.0])
    unit = np.eye(size) * np.sqrt(2.0 * np.arange(size) + 1.0)

    def table(x, order):
        return legendre.legval(x, (legendre.legder(unit, order) if order else unit)).T * 2.0**order

    weight = 0.5 * weights[:, None]
    value, slope = table(nodes, 0), table(nodes, 1)
    tip = table(ends, 0)
    mass_w, stiff = value.T @ (weight * value), slope.T @ (weight * slope)
    mixed, zero = slope.T @ (weight * value), np.zeros((size, size))
    mass = np.block([[mass_w, zero], [zero, problem.rotary * mass_w]])
    k = 1.0 / problem.shear
    stiffness = np.block([[k * stiff, -k * mixed], [-k * mixed.T, stiff + k * mass_w]])
    load, inertia, offset = problem.payload
    arm = np.concatenate([tip[1], offset * tip[1]])
    turn = np.concatenate([np.zeros(size), tip[1]])
    mass = mass + load * np.outer(arm, arm) + inertia * np.outer(turn, turn)
    held = [
        np.concatenate([tip[end] * (part == 0), tip[end] * (part == 1)])
        for end in (0, 1)
        for part in {"c": (0, 1), "s": (0,), "f": ()}[problem.ends[end]]
    ]
    free = null_space(np.array(held)) if held else np.eye(2 * size)
    squares = eigh(free.T @ stiffness @ free, free.T @ mass @ free, eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0))[problem.rigid_motions :][:count]


def exact_to(problem, omega, digits):
    """Whether the shooting determinant changes sign within 10^-digits of a root, or touches zero there."""
    part, wide = np.longdouble(10.0) ** -digits, np.longdouble(1e-5)

    def good(w):
        if shot(problem, w * (1 - part)) * shot(problem, w * (1 + part)) < 0:
            return True
        return abs(shot(problem, w)) * 10 ** (2 * digits - 10) <= abs(shot(problem, w * (1 + wide)))

    return [good(w) for w in omega]


@pytest.mark.parametrize("ends", ENDS)
def test_euler_bernoulli_frequencies_are_the_textbook_numbers(ends):
    known = {"ss": tuple(n * math.pi for n in range(1, 5)), "fc": BETA["cf"], "ff": BETA["cc"]}
    known |= BETA | {name: BETA["sc"] for name in ("cs", "sf", "fs")}
    beta = np.sqrt(roots(BendingProblem(ends), 4).omega).astype(float)
    assert beta == pytest.approx(known[ends], rel=1e-15)


@pytest.mark.parametrize("beam", [{}, SLENDER, THICK], ids=["euler-bernoulli", "slender", "thick"])
@pytest.mark.parametrize("ends", ENDS)
def test_thirty_frequencies_have_their_digits(ends, beam):
    problem = BendingProblem(ends, **beam)
    omega = roots(problem, 30).omega
    assert np.all(np.diff(omega) > 0.0)
    assert all(exact_to(problem, omega[[0, 1, 2, 3, 4, 8, 14, 21, 28, 29]], DIGITS))


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("beam", [{}, SLENDER, THICK], ids=["euler-bernoulli", "slender", "thick"])
@pytest.mark.parametrize("ends", ["cf", "sf", "ff"])
def test_frequencies_with_a_payload_have_thirteen_digits(ends, beam, payload):
    problem = BendingProblem(ends, **beam, payload=payload)
    omega = roots(problem, 30).omega
    assert all(exact_to(problem, omega[[0, 1, 2, 5, 29]], 13))


@pytest.mark.parametrize("beam", [SLENDER, THICK, {"rotary": 0.08, "shear": 0.3}], ids=["slender", "thick", "stub"])
@pytest.mark.parametrize(
    "ends, payload", [*((ends, PAYLOADS[0][:0]) for ends in ENDS), *itertools.product(("cf", "sf"), PAYLOADS[:2])]
)
def test_no_frequency_is_missed_or_doubled(ends, payload, beam):
    problem = BendingProblem(ends, **beam, payload=payload or (0.0, 0.0, 0.0))
    found = simply_supported(problem, 30, shear_mode=True)[0] if ends == "ss" else roots(problem, 30).omega
    known = ritz(problem, 30, size=64)
    assert found.astype(float) == pytest.approx(known, rel=1e-7, abs=1e-9 * known[-1])


@pytest.mark.parametrize("ends", ["cc", "ff", "cf", "sf", "sc"])
def test_modes_at_the_cut_off_keep_their_digits(ends):
    # tune the beam until its fourth frequency stands on the cut-off: r2 s2 Omega^2 = 1
    def distance(rotary):
        problem = BendingProblem(ends, rotary, 3.0 * rotary)
        return float(roots(problem, 4).omega[3]) * math.sqrt(3.0) * rotary - 1.0

    low, high = 1e-3, 5e-2
    for _ in range(45):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distance(middle) < 0.0 else (low, middle)
    for rotary in (low * (1 - 1e-6), low * (1 - 1e-10), low, low * (1 + 1e-10), low * (1 + 1e-6)):
        problem = BendingProblem(ends, rotary, 3.0 * rotary)
        omega = roots(problem, 6).omega
        assert omega.astype(float) == pytest.approx(ritz(problem, 6, size=30), rel=1e-9)
        assert all(exact_to(problem, omega[2:5], 13))


@pytest.mark.parametrize("ends", ["cc", "ff"])
@pytest.mark.parametrize("detune", [0.0, 1e-12, 1e-9, 1e-7, 1e-5])
def test_even_and_odd_modes_that_cross_are_both_found(ends, detune):
    # where a = 6 pi and c = 2 pi, all solutions repeat at the tip, and equal ends have two modes at one frequency:
    # a^2 + c^2 = sigma + tau, a^2 c^2 = sigma tau - Omega^2
    rotary, total, product = 0.02, 40.0 * math.pi**2, 144.0 * math.pi**4
    middle = total - 1.0 / rotary
    tau = 0.5 * (middle - math.sqrt(middle**2 - 4.0 * product))
    shear = (total - tau) * rotary / tau
    problem = BendingProblem(ends, rotary, shear * (1.0 + detune))
    found = roots(problem, 12)
    relative = np.diff(found.omega) / found.omega[1:]
    pair = int(np.argmin(relative))
    assert relative[pair] < max(1e-13, detune)
    known = ritz(problem, 12, size=40)
    assert found.omega.astype(float) == pytest.approx(known, rel=1e-10, abs=1e-11 * known[-1])
    assert all(exact_to(problem, found.omega, 12))
    twins = found.vectors[pair : pair + 2].astype(float)
    assert np.linalg.matrix_rank(twins / np.linalg.norm(twins, axis=1, keepdims=True), tol=1e-3) == 2


def test_the_simply_supported_pure_shear_mode_is_counted_but_is_no_mode():
    problem = BendingProblem("ss", **THICK)
    cut_off = 1.0 / math.sqrt(THICK["rotary"] * THICK["shear"])
    assert np.min(np.abs(roots(problem, 30).omega - cut_off)) > 1.0
    below, above = count_below(problem, cut_off * np.array([1 - 1e-9, 1 + 1e-9]))
    assert above == below + 1


@pytest.mark.parametrize("ends", ENDS)
def test_the_count_steps_by_one_at_every_root(ends):
    problem = BendingProblem(ends, **THICK)
    omega = roots(problem, 30).omega.astype(float)
    steps = count_below(problem, omega * (1 + 1e-9)) - count_below(problem, omega * (1 - 1e-9))
    assert np.all(steps == 1)


def test_timoshenko_tends_to_euler_bernoulli_with_slenderness():
    thin = roots(BendingProblem("cf"), 5).omega.astype(float)
    errors = [np.abs(roots(BendingProblem("cf", e, 3 * e), 5).omega / thin - 1).max() for e in (1e-6, 1e-7, 1e-8)]
    assert float(errors[0] / errors[1]) == pytest.approx(10.0, rel=1e-2)
    assert float(errors[1] / errors[2]) == pytest.approx(10.0, rel=1e-2)


def test_a_light_payload_changes_nothing_and_a_heavy_one_holds_the_tip():
    free, held = roots(BendingProblem("cf"), 5).omega, roots(BendingProblem("cs"), 4).omega
    light = roots(BendingProblem("cf", payload=(1e-13, 0.0, 0.0)), 5).omega
    heavy = roots(BendingProblem("cf", payload=(1e10, 0.0, 0.0)), 5).omega
    assert light.astype(float) == pytest.approx(free.astype(float), rel=1e-12)
    assert heavy[1:].astype(float) == pytest.approx(held.astype(float), rel=1e-9)
    # the first one is the mass on the beam's static stiffness 3 E I / l^3
    assert float(heavy[0]) == pytest.approx(math.sqrt(3.0 / 1e10), rel=1e-9)


def test_plain_double_precision_is_good_to_twelve_digits(monkeypatch):
    monkeypatch.setattr(characteristic, "_polish", lambda problem, root, kinds: root.astype(np.longdouble))
    for ends, beam in itertools.product(ENDS, ({}, SLENDER, THICK)):
        problem = BendingProblem(ends, **beam)
        assert all(exact_to(problem, roots(problem, 30).omega[[0, 7, 29]], 13))

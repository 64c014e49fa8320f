"""Andrews' squeezer against the IVP test set, and against its equations integrated with more digits than it prints."""

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.ivp_test_set import andrews_squeezer

TIGHT = pl.DOP853(rtol=1e-13, atol=1e-15)
T_END = 0.03

# published: the test set's reference solution
Q = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
     0.5347301163226948, 1.048080741042263)  # fmt: skip
V = (1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
     -19.29337464421385, 0.3231791658026955)  # fmt: skip
LAMBDA = (199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739, 11.61740700019673)
START_LAMBDA = (98.5668703962410896, -6.12268834425566265)
START_A = (14222.4439199541139, -10666.8329399655854)

# recomputed: its equations in index-1 form, 80-bit arithmetic, Gragg-Bulirsch-Stoer of order 16; 200 and 300 steps agree to 1e-17
Q_FINE = (15.81077119515370709, -15.75637105841183946, 0.04082224011964580, -0.53473011634207959, 0.52440996587995407,
          0.53473011634207959, 1.04808074104193787)  # fmt: skip
V_FINE = (1139.92030225910606419, -1424.37929517754007330, 11.03291191061859194, 19.29337410503203767, 0.57356991482950237,
          -19.29337410503203766, 0.32317914924913085)  # fmt: skip
LAMBDA_FINE = (199.175348104538628, -29.755309974971764, 23.066543611622151, 31.452725275771138, 22.642494786394379,
               11.617392352611257)  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return pl.simulate(andrews_squeezer(), T_END, method=TIGHT, save=[0.0, T_END])


def in_order(run, name, row):
    """Numbers of K1 ... K7, in the test set's order."""
    labels = run.labels["coordinate" if name == "q" else "rate"]
    return np.array([run.values[name][row, labels.index(f"K{k}.angle")] for k in range(1, 8)])


def their_multipliers(run, row):
    """M q'' = f - G^T lambda there, f + A^T lam here; A = G, for c = tip of K2 - tip of the other is their g."""
    return -run.values["multiplier"][row]


def test_the_start_is_the_one_of_the_test_set(run):
    assert run.stats["degrees_of_freedom"] == 1
    assert in_order(run, "a", 0) == pytest.approx([*START_A, 0, 0, 0, 0, 0], rel=1e-12, abs=1e-8)
    assert their_multipliers(run, 0) == pytest.approx([*START_LAMBDA, 0, 0, 0, 0], rel=1e-12, abs=1e-10)


def test_the_published_end_is_reached(run):
    """Positions 1e-8, velocities 1e-6; multipliers 1e-6 of the largest."""
    assert in_order(run, "q", -1) == pytest.approx(Q, rel=1e-8)
    assert in_order(run, "v", -1) == pytest.approx(V, rel=1e-6)
    assert their_multipliers(run, -1) == pytest.approx(LAMBDA, abs=1e-6 * max(LAMBDA))
    assert np.max(np.abs(run.values["constraint"])) < 1e-15


def test_finer_arithmetic_says_the_same_and_that_the_published_end_is_late_by_a_picosecond(run):
    """The published numbers are those of 1 ps later: 7e-11 of q1, 5e-8 of v7, 1.3e-6 of lambda6. Ours are not."""
    assert in_order(run, "q", -1) == pytest.approx(Q_FINE, rel=1e-12)
    assert in_order(run, "v", -1) == pytest.approx(V_FINE, rel=1e-10)
    assert their_multipliers(run, -1) == pytest.approx(LAMBDA_FINE, rel=1e-10)
    late = (np.array(Q) - Q_FINE) / V_FINE
    assert late[:2] == pytest.approx(1.0e-12, rel=0.05)


def test_energy_is_the_motors_and_the_springs(run):
    assert run.ledger.relative_error_max < 1e-11

"""Andrews' squeezing mechanism, IVP test set: seven bodies, three loops, one degree of freedom, driven to 1,000 rad/s in 0.03 s."""

import numpy as np
import pytest

import pliant as pl

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2, about mass centres
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # m
C0, L0, MOMENT = 4530.0, 0.07785, 0.033  # N/m, m, N m
NAMES = ("K1", "K2", "K3", "K4", "K5", "K6", "K7")  # angles beta, Theta, gamma, Phi, delta, Omega, epsilon
START = (-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885884, 0.487364979543842550, -0.222668390165885884,
         1.23054744454982119)  # fmt: skip

# at t = 0.03 s, as published
POSITIONS = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
             0.5347301163226948, 1.048080741042263)  # fmt: skip
SPEEDS = (1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808, -19.29337464421385,
          0.3231791658026955)  # fmt: skip
MULTIPLIERS = (199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739, 11.61740700019673)
# An independent derivation (Lagrange with dense multipliers, scipy's DOP853 at rtol 1e-13) has these; put into it, the published
# positions and speeds themselves give 11.6173924, so the last published multiplier is off by 1.3e-6 of itself.
RECOMPUTED = (199.1753481045316, -29.75530997498894, 23.06654361162408, 31.45272527579042, 22.642494786393524, 11.617392352578207)
FIRST_ACCELERATIONS = (14222.4439199541139, -10666.8329399655854)
FIRST_MULTIPLIERS = (98.5668703962410896, -6.12268834425566265, 0.0, 0.0, 0.0, 0.0)


def squeezer():
    """The test set's own angles as joint angles; the end of K2 is pinned to those of K3, K4 and K6."""
    system = pl.System("Andrews' squeezer", gravity=(0, 0))

    def body(name, com, tip, on=None, **frames):
        k = NAMES.index(name)
        rigid = pl.RigidBody(mass=MASSES[k], inertia=INERTIAS[k], com=com, tip=tip, frames=frames)
        return system.add(name, rigid, joint=pl.Revolute(angle=START[k]), on=on)

    crank = body("K1", (0.00092, 0.0), (0.007, 0.0))
    link = body("K2", (-0.0115, 0.0), (-0.028, 0.0), crank.tip)
    rocker = body("K3", (0.01043, -0.01874), (0.0, -0.035), system.ground.moved(B), hook=(0.02, -0.018))
    lower = body("K5", (0.02308, 0.00916), (0.04, 0.0), system.ground.moved(A))
    upper = body("K7", (0.01228, -0.00449), (0.0, -0.04), system.ground.moved(A))
    ends = {"3": rocker.tip, "4": body("K4", (0.0, -(0.02 - 0.01421)), (0.0, -0.02), lower.tip).tip,
            "6": body("K6", (0.02 - 0.01421, 0.0), (0.02, 0.0), upper.tip).tip}  # fmt: skip
    for name, end in ends.items():
        system.close(f"pin{name}", "point", link.tip, end)
    system.drive("motor", "K1.angle", MOMENT)

    def pull(component):
        def force(t, q, v):
            gamma = q["K3.angle"]
            away = (B[0] + 0.02 * pl.cos(gamma) + 0.018 * pl.sin(gamma) - C[0],
                    B[1] + 0.02 * pl.sin(gamma) - 0.018 * pl.cos(gamma) - C[1])  # fmt: skip
            length = pl.sqrt(away[0] * away[0] + away[1] * away[1])
            return -C0 * (length - L0) / length * away[component]

        return force

    system.force("spring", rocker.at("hook"), (pull(0), pull(1)))
    return system


@pytest.fixture(scope="module")
def run():
    return pl.simulate(squeezer(), 0.03, method=pl.DOP853(rtol=1e-12, atol=1e-13), save=[0.0, 0.03])


def test_it_has_one_degree_of_freedom(run):
    assert run.ok
    assert run.stats["degrees_of_freedom"] == 1


def test_accelerations_and_multipliers_at_the_start_are_the_published_ones(run):
    by_name = {name: run.values["a"][0, run.labels["rate"].index(f"{name}.angle")] for name in NAMES}
    assert (by_name["K1"], by_name["K2"]) == pytest.approx(FIRST_ACCELERATIONS, rel=1e-9)
    # the test set subtracts G^T lam where we add A^T lam
    assert -run.values["multiplier"][0] == pytest.approx(FIRST_MULTIPLIERS, rel=1e-9, abs=1e-6)


def test_all_seven_positions_at_the_end_to_1e_8(run):
    found = [run[f"{name}.angle"][-1] for name in NAMES]
    assert found == pytest.approx(POSITIONS, rel=1e-8)


def test_speeds_and_multipliers_at_the_end_to_1e_6(run):
    found = [run.values["v"][-1, run.labels["rate"].index(f"{name}.angle")] for name in NAMES]
    assert found == pytest.approx(SPEEDS, rel=1e-6)
    pushing = -run.values["multiplier"][-1]
    assert pushing[:5] == pytest.approx(MULTIPLIERS[:5], rel=1e-6)
    assert pushing[5] == pytest.approx(MULTIPLIERS[5], rel=2e-6)
    assert pushing == pytest.approx(RECOMPUTED, rel=1e-9)


def test_the_ledger_closes(run):
    assert np.max(np.abs(run.values["constraint"])) < 1e-15
    assert run.ledger.relative_error_max < 1e-9

"""Restitution asked and delivered, a user's own law, and wrong laws refused."""

import math
import re

import pytest
from scipy.optimize import brentq

from pliant.errors import ModelError
from pliant.model.normal_law import (
    CustomNormal,
    Exact,
    FixedHuntCrossley,
    GharibHurmuzlu,
    Hertz,
    HuGuo,
    HuntCrossley,
    Linear,
    PowerDamping,
    WangYanFangJin,
    delivered_restitution,
    exact_factor,
    normal_law,
)  # fmt: skip


@pytest.mark.parametrize("restitution", [0.01, 0.02, *(k / 20 for k in range(1, 20)), 0.99, 0.999999, 1.0])
def test_exact_delivers_what_is_asked(restitution):
    law = Exact(stiffness=1e6, restitution=restitution)
    assert law.delivered == pytest.approx(restitution, abs=1e-14)


@pytest.mark.parametrize("e, c", [(0.1, 9.99815940), (0.3, 3.08708198), (0.5, 1.43275053), (0.7, 0.63482828),
                                  (0.8, 0.37314620), (0.9, 0.16648195)])  # fmt: skip
def test_exact_factors_are_those_of_the_table(e, c):
    assert exact_factor(e) == pytest.approx(c, abs=5.001e-9)


@pytest.mark.parametrize("c", [0.05, 0.0999, 0.1001, 0.3, 1.0, 3.0, 8.0])
def test_delivered_restitution_is_the_root_of_the_closed_form(c):
    root = brentq(lambda e: c * (1 + e) - math.log((1 + c) / (1 - c * e)), 1e-3, min(1.0, 1 / c) * (1 - 1e-15), xtol=1e-15)
    assert delivered_restitution(c) == pytest.approx(root, abs=1e-11)


def test_delivered_restitution_at_both_ends():
    assert delivered_restitution(0.0) == 1.0
    assert delivered_restitution(1e-200) == 1.0
    assert delivered_restitution(1e-9) == pytest.approx(1.0 - 2e-9 / 3.0, abs=4e-16)  # e = 1 - 2c/3 + 4c^2/9 ...
    assert delivered_restitution(1e-4) == pytest.approx(1.0 - 2e-4 / 3.0 + 4e-8 / 9.0, abs=1e-12)
    assert delivered_restitution(1e6) == pytest.approx(1e-6, rel=1e-15)  # c e = 1


def test_asked_next_to_delivered():
    assert HuGuo(stiffness=1e6, restitution=0.8).describe() == "HuGuo: restitution 0.8 asked, 0.799199 delivered"
    assert Hertz(stiffness=1e6).describe() == "Hertz: restitution 1 asked, 1.000000 delivered"
    described = "WangYanFangJin: restitution delivered depends on masses and speed"
    assert WangYanFangJin(stiffness=1e6, damping=1.0).describe() == described


def test_slow_contacts_rebound_more_and_rest_is_damped_as_at_the_floor():
    law = HuntCrossley(stiffness=1e6, restitution=0.5, entry_floor=1e-2)
    rebounds = [law.delivered_between(1.0, speed) for speed in (1e-6, 1e-3, 5e-3, 1e-2, 1.0)]
    assert rebounds == sorted(rebounds, reverse=True)
    assert rebounds[0] == pytest.approx(1.0 - 2.0 / 3.0 * 0.75e-4, abs=1e-8)
    assert rebounds[-2] == rebounds[-1] == law.delivered
    assert law.force(1e-3, 0.1, law.entry_floor) == pytest.approx(law.elastic(1e-3) * (1.0 + 0.75 * 10.0), rel=1e-15)


def test_a_fixed_factor_is_hunt_and_crossley_at_its_speed():
    moving = HuntCrossley(stiffness=5e9, restitution=0.8)
    fixed = FixedHuntCrossley(stiffness=5e9, chi=1.5 * (1 - 0.8) / 3.0)
    assert fixed.force(1e-4, -1.0, 77.0) == pytest.approx(moving.force(1e-4, -1.0, 3.0), rel=1e-15)
    assert fixed.delivered is None and fixed.delivered_between(2.0, 3.0) == pytest.approx(moving.delivered, rel=1e-15)


@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize("restitution", [1e-3, math.exp(-2.0), 0.1, 0.5, 0.9, 1.0])
def test_a_linear_law_delivers_what_is_asked_of_its_mass(restitution, pulls):
    law = Linear(stiffness=1e5, restitution=restitution, mass=0.3, pulls=pulls)
    assert law.delivered == pytest.approx(restitution, rel=1e-13)
    assert Linear(stiffness=1e5, damping=law.coefficient, pulls=pulls).delivered is None


def test_critical_damping_rebounds_only_if_it_may_not_pull():
    critical = 2.0 * math.sqrt(1e4 * 1.0)
    assert Linear(stiffness=1e4, damping=critical).delivered_between(1.0, 1.0) == pytest.approx(math.exp(-2.0), rel=1e-15)
    assert Linear(stiffness=1e4, damping=critical, pulls=True).delivered_between(1.0, 1.0) == 0.0


def test_gharib_and_hurmuzlu_is_for_low_restitution():
    low, high = (GharibHurmuzlu(stiffness=1.0, restitution=e) for e in (0.1, 1.0))
    assert low.delivered == pytest.approx(0.1, abs=2e-5)
    assert high.delivered == pytest.approx(0.594, abs=5e-4)


def test_a_users_function_is_a_law():
    def soft(depth, rate, entry_speed):
        return 3.0 * depth + 0.5 * rate

    law = normal_law("contact", "normal", soft)
    assert isinstance(law, CustomNormal)
    assert law.force(2.0, 1.0, 9.0) == 6.5
    assert law.elastic(2.0) == 6.0
    assert law.stored(2.0) == 0.0
    assert law.asked is law.delivered is None and law.can_pull and not law.pulls
    assert law.describe() == "soft: restitution not known before the run"
    assert CustomNormal(soft, lambda d: 1.5 * d * d, pulls=True).stored(2.0) == 6.0
    made = HuGuo(stiffness=1.0, restitution=0.5)
    assert normal_law("contact", "normal", made) is made


WRONG = {
    "soft": (lambda: HuGuo(stiffness=0.0, restitution=0.8), "HuGuo: stiffness must be > 0 N/m^1.5, got 0.0"),
    "text": (lambda: Hertz(stiffness="1e6"), "Hertz: stiffness must be a finite number in N/m^1.5, got '1e6'"),
    "exponent": (lambda: Hertz(stiffness=1.0, exponent=0.5), "Hertz: exponent must be >= 1, got 0.5"),
    "e zero": (lambda: Exact(stiffness=1.0, restitution=0.0), "Exact: restitution must be in (0, 1], got 0.0"),
    "e above 1": (lambda: Exact(stiffness=1.0, restitution=1.1), "Exact: restitution must be in (0, 1], got 1.1"),
    "e nan": (lambda: Exact(stiffness=1.0, restitution=math.nan), "Exact: restitution must be a finite number, got nan"),
    "floor": (lambda: Hertz(stiffness=1.0, entry_floor=0), "Hertz: entry_floor must be > 0 m/s, got 0"),
    "pulls": (lambda: Hertz(stiffness=1.0, pulls="no"), "Hertz: pulls must be True or False, got 'no'"),
    "chi": (lambda: FixedHuntCrossley(stiffness=1.0, chi=-1.0), "FixedHuntCrossley: chi must be >= 0 s/m, got -1.0"),
    "dashpot": (lambda: WangYanFangJin(stiffness=1.0, damping=-2.0),
                "WangYanFangJin: damping must be >= 0 N s/m, got -2.0"),
    "linear of both": (lambda: Linear(stiffness=1.0, damping=1.0, restitution=0.5),
                       "Linear: either damping, or restitution and mass, must be given, got damping = 1.0 and restitution = 0.5"),
    "linear of none": (lambda: Linear(stiffness=1.0),
                       "Linear: either damping, or restitution and mass, must be given, got damping = None and restitution = None"),
    "linear without mass": (lambda: Linear(stiffness=1.0, restitution=0.5),
                            "Linear: mass must be the reduced mass in kg when restitution is given, got None"),
    "linear, n 1.5": (lambda: Linear(stiffness=1.0, exponent=1.5, damping=0.0), "Linear: exponent must be 1, got 1.5"),
    "linear e": (lambda: Linear(stiffness=1.0, restitution=2.0, mass=1.0),
                 "Linear: restitution must be in (0, 1], got 2.0"),
    "linear mass": (lambda: Linear(stiffness=1.0, restitution=0.5, mass=0.0), "Linear: mass must be > 0 kg, got 0.0"),
    "no function": (lambda: CustomNormal(3.0),
                    "CustomNormal: function must be a function of (depth, rate, entry_speed), got 3.0"),
    "no energy": (lambda: CustomNormal(abs, 3.0), "CustomNormal: energy must be a function of depth or None, got 3.0"),
    "no law": (lambda: normal_law("contact 'a'", "normal", 3.0),
               "contact 'a': normal must be a normal law or a function of (depth, rate, entry_speed), got 3.0"),
    "a class": (lambda: normal_law("contact 'a'", "normal", Hertz),
                "contact 'a': normal must be a normal law or a function of (depth, rate, entry_speed), got <class"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_laws_are_refused(case):
    make, message = WRONG[case]
    with pytest.raises(ModelError, match=re.escape(message)):
        make()


def test_free_exponents_contain_the_laws_with_given_ones():
    bodies = {"mass": 0.7, "speed": 3.0}
    fixed = FixedHuntCrossley(stiffness=1e6, chi=0.1)
    dashpot = WangYanFangJin(stiffness=1e6, damping=200.0)
    same = PowerDamping(stiffness=1e6, chi=1e5, damping_exponent=1.5), PowerDamping(stiffness=1e6, chi=200.0, damping_exponent=0.0)
    for law, general in zip((fixed, dashpot), same, strict=True):
        assert general.force(2e-3, 0.4, 1.0) == pytest.approx(law.force(2e-3, 0.4, 1.0), rel=1e-14)
        assert general.delivered_between(**bodies) == pytest.approx(law.delivered_between(**bodies), abs=1e-9)
    with pytest.raises(ModelError, match=r"PowerDamping: damping_exponent must be 0 or >= 1, got 0\.5"):
        PowerDamping(stiffness=1e6, chi=1.0, damping_exponent=0.5)

"""Settings of a method are checked when made, with the part, the field, the rule and the value."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.integrate import DOP853, METHODS, RK4, RKF45, DormandPrince


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RKF45(rtol=1e-16, atol=1e-9), ["RKF45", "rtol", "doubles hold no more digits", "1e-16"]),
        (lambda: DOP853(rtol=0.1, atol=1e-9), ["DOP853", "rtol", "[2.22e-14, 0.1)", "0.1"]),
        (lambda: DOP853(rtol=-1e-3, atol=1e-9), ["DOP853", "rtol", "must be in", "-0.001"]),
        (lambda: DormandPrince(rtol=float("nan"), atol=1e-9), ["DormandPrince", "rtol", "finite number", "nan"]),
        (lambda: DormandPrince(rtol=True, atol=1e-9), ["DormandPrince", "rtol", "finite number", "True"]),
        (lambda: DormandPrince(rtol=1e-3, atol=0.0), ["DormandPrince", "atol", "> 0", "0.0"]),
        (lambda: DormandPrince(rtol=1e-3, atol=[1e-9, -1.0]), ["DormandPrince", "atol[1]", "> 0", "-1.0"]),
        (lambda: DormandPrince(rtol=1e-3, atol=[]), ["DormandPrince", "atol", "one number per component", "[]"]),
        (lambda: DormandPrince(rtol=1e-3, atol="small"), ["DormandPrince", "atol", "finite number", "'small'"]),
        (lambda: RKF45(rtol=1e-3, atol=1e-9, max_step=0.0), ["RKF45", "max_step", "> 0 s", "0.0"]),
        (lambda: RKF45(rtol=1e-3, atol=1e-9, first_step=-1.0), ["RKF45", "first_step", "> 0 s", "-1.0"]),
        (lambda: RK4(step=0.0), ["RK4", "step", "> 0 s", "0.0"]),
        (lambda: RK4(step=float("inf")), ["RK4", "step", "finite number", "inf"]),
    ],
)
def test_a_wrong_setting_names_part_field_rule_and_value(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)


def test_methods_are_frozen_and_know_their_order():
    assert [method.tableau.order for method in METHODS] == [8, 5, 5, 5, 8, 4, 4, 5, 9, 5, 3, 5, 5, 3]
    with pytest.raises(dataclasses.FrozenInstanceError):
        RK4(step=1e-3).step = 1.0


def test_numpy_numbers_are_numbers():
    assert RKF45(rtol=np.float64(1e-6), atol=np.array([1e-9, 1e-8])).atol == (1e-9, 1e-8)


def test_naming_a_method_imports_no_loop():
    code = "import sys, pliant.integrate; sys.exit('pliant.integrate.loop.march' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

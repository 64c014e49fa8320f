"""What every registered friction law must satisfy: it opposes slip, begins with the contact, and is one formula."""

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.tracer import Tracer
from pliant.model import friction_law as laws
from pliant.model.friction_law import FRICTION_LAWS, BristleLaw
from registered import FRICTION as EXAMPLES

STATIC = [law for law in FRICTION_LAWS if not issubclass(law, BristleLaw)]
BRISTLES = [law for law in FRICTION_LAWS if issubclass(law, BristleLaw)]
# friction over normal force in fast slip, at 100 m/s
FAST = {laws.CoulombViscous: 20.3, laws.Threlfall: 0.3 * (1 - np.exp(-3.0))}
# NumPy's vectorised exp and tanh may be this far from the C library's, which numbers and traced scalars go through
VECTORISED = 4 * np.finfo(float).eps
# Where 1 - exp(...) cancels near rest, a last digit of exp stays one of the 1: that of the force of full slip at 7 N, and of the
# deflection rate of full slip, m/s
CANCELLING = {laws.Threlfall: 7.0 * 0.3, laws.GonthierFriction: 0.3 / 10.0}
SPEEDS = np.concatenate([[0.0], np.geomspace(1e-6, 10.0, 200)])

over_all = pytest.mark.parametrize("law", FRICTION_LAWS, ids=lambda law: law.__name__)
over_static = pytest.mark.parametrize("law", STATIC, ids=lambda law: law.__name__)
over_bristles = pytest.mark.parametrize("law", BRISTLES, ids=lambda law: law.__name__)


@over_all
def test_it_names_its_source(law):
    assert any(character.isdigit() for character in law.__doc__)


@over_static
def test_at_rest_there_is_none_unless_it_holds(law):
    one = EXAMPLES[law]
    if one.holds:
        assert one.stiction(7.0) >= one.force(0.0, 7.0) > 0.0
    else:
        assert one.force(0.0, 7.0) == 0.0


@over_static
def test_it_takes_energy_and_never_gives_any(law):
    assert np.all(EXAMPLES[law].force(SPEEDS, 7.0) >= 0.0)


@over_static
def test_it_begins_with_the_contact_and_grows_with_the_normal_force(law):
    one = EXAMPLES[law]
    assert np.all(one.force(SPEEDS, 0.0) == 0.0)
    assert one.force(SPEEDS, 6.0) == pytest.approx(2.0 * one.force(SPEEDS, 3.0), rel=1e-15)


@over_static
def test_fast_slip_sees_kinetic_friction(law):
    assert EXAMPLES[law].force(100.0, 5.0) == pytest.approx(5.0 * FAST.get(law, 0.3), rel=1e-12)


def one_sided(law, speed, side):
    """Value, slope and curvature of the coefficient on one side, in units of the speed."""
    x = side * np.linspace(1e-4, 0.02, 12)
    fit = np.polynomial.Polynomial.fit(x, law.coefficient(speed * (1.0 + x)), 6)
    return np.array([fit(0.0), fit.deriv()(0.0), fit.deriv(2)(0.0)])


@over_static
def test_its_switches_are_its_corners_and_it_has_no_others(law):
    one = EXAMPLES[law]
    assert list(one.switches) == sorted(one.switches) and all(s > 0.0 for s in one.switches)
    for speed in one.switches:
        if not one.holds:  # its sliding branch goes on smoothly; the branch itself is what changes
            assert np.max(np.abs(one_sided(one, speed, 1) - one_sided(one, speed, -1))) > 1e-3
    for speed in np.geomspace(3e-4, 0.3, 150):
        if all(abs(speed / s - 1.0) > 0.05 for s in one.switches):
            assert np.max(np.abs(one_sided(one, speed, 1) - one_sided(one, speed, -1))) < 1e-4


@over_static
def test_numbers_arrays_and_traced_scalars_agree(law):
    one = EXAMPLES[law]
    tracer = Tracer()
    column, (speed, normal) = tracer.symbols("x", 2)
    traced = ca.Function("f", [column], [tracer.column([one.force(speed, normal)])])
    in_array, room = one.force(SPEEDS, 7.0), VECTORISED * CANCELLING.get(law, 0.0)
    for k, v in enumerate(SPEEDS):
        number = one.force(float(v), 7.0)
        assert in_array[k] == pytest.approx(number, rel=1e-14, abs=max(room, 1e-18))
        assert float(traced([v, 7.0])) == pytest.approx(number, rel=1e-14, abs=1e-18)


@over_bristles
def test_bristles_know_no_left_and_right(law):
    one = EXAMPLES[law]
    for slip, z in ((0.0, 1e-5), (0.003, 2e-5), (0.7, -1e-5)):
        rate = one.deflection_rate(slip, z, abs(slip), 5.0)
        assert one.deflection_rate(-slip, -z, abs(slip), 5.0) == -rate
        assert one.force(-slip, -z, -rate, 5.0) == -one.force(slip, z, rate, 5.0)


@over_bristles
def test_bristles_at_rest_deflect_by_the_slip_and_undeflected_push_nothing(law):
    one = EXAMPLES[law]
    assert one.deflection_rate(1e-12, 0.0, 1e-12, 5.0) == pytest.approx(1e-12, rel=1e-6)
    assert one.force(0.0, 0.0, 0.0, 5.0) == 0.0
    assert one.force(0.3, 1e-5, 0.1, 0.0) == 0.0
    assert one.stored(0.0, 5.0) == 0.0 and one.stored(-2e-5, 5.0) == pytest.approx(5.0 * 1e4 * 4e-10 / 2)


@over_bristles
def test_steady_slip_is_kinetic_friction_against_the_slip_in_any_direction(law):
    one = EXAMPLES[law]
    slips = np.array([0.6, -0.8]) * 3.0
    steady = 0.3 / one.sigma0 * slips / 3.0
    for slip, z in zip(slips, steady, strict=True):
        assert one.deflection_rate(slip, z, 3.0, 5.0) == pytest.approx(0.0, abs=1e-12)
    assert one.forces(slips, steady, 3.0, 5.0) == pytest.approx(5.0 * 0.3 * slips / 3.0, rel=1e-9)


@over_bristles
def test_the_vector_of_forces_is_the_force_of_each_direction_unless_bounded(law):
    one = EXAMPLES[law]
    slips, deflections, dwell = (0.002, -0.001), (1e-5, 1.5e-5), 0.3
    speed = float(np.hypot(*slips))
    plain = [one.force(s, z, one.deflection_rate(s, z, speed, 5.0), 5.0) for s, z in zip(slips, deflections, strict=True)]
    assert one.forces(slips, deflections, speed, 5.0, dwell) == pytest.approx(plain, rel=1e-14)
    far = [100.0 * z for z in deflections]
    bound = one.bound(dwell)
    if bound is not None:
        assert np.hypot(*one.forces((0.0, 0.0), far, 0.0, 5.0, dwell)) == pytest.approx(5.0 * bound, rel=1e-14)


@over_bristles
def test_numbers_and_traced_scalars_agree_also_in_their_slopes_at_rest(law):
    one = EXAMPLES[law]
    tracer = Tracer()
    column, (s1, s2, z1, z2, speed, normal, dwell) = tracer.symbols("x", 7)
    outputs = [*one.forces((s1, s2), (z1, z2), speed, normal, dwell), one.stored(z1, normal)]
    outputs += [one.deflection_rate(s1, z1, speed, normal), one.deflection_rate(s2, z2, speed, normal)]
    outputs += [one.dwell_rate(dwell, speed)] if one.dwells else []
    expression = tracer.column(outputs)
    traced = ca.Function("f", [column], [expression])
    slopes = ca.Function("j", [column], [ca.jacobian(expression, column)])
    for slips, z in (((0.0, 0.0), (0.0, 0.0)), ((0.002, -0.01), (1e-5, 3e-6)), ((3.0, 1.0), (-1e-3, 2e-3))):
        v = float(np.hypot(*slips))
        numbers = [*one.forces(slips, z, v, 5.0, 0.4), one.stored(z[0], 5.0)]
        numbers += [one.deflection_rate(s, d, v, 5.0) for s, d in zip(slips, z, strict=True)]
        numbers += [one.dwell_rate(0.4, v)] if one.dwells else []
        point = [*slips, *z, v, 5.0, 0.4]
        assert np.array(traced(point)).ravel() == pytest.approx(numbers, rel=1e-13, abs=1e-18)
        assert np.all(np.isfinite(np.array(slopes(point))))


@over_bristles
def test_arrays_agree_with_numbers(law):
    one = EXAMPLES[law]
    slips, z = np.array([-0.3, 0.0, 1e-4, 0.02]), np.array([1e-5, 2e-5, 0.0, -1e-5])
    arrays = one.deflection_rate(slips, z, np.abs(slips), 5.0)
    numbers = [one.deflection_rate(float(s), float(d), abs(float(s)), 5.0) for s, d in zip(slips, z, strict=True)]
    assert arrays == pytest.approx(numbers, rel=1e-14, abs=VECTORISED * CANCELLING.get(law, 0.0))

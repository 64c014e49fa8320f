"""Points where the equations have no derivative: they are said by name, stability is not claimed, and each side can be had."""

import numpy as np
import pytest

import pliant as pl

X, RATE = "s.displacement", "rate of s.displacement"
K, PUSHED, LOSS = 10.0, 1e3, 5.0
FORMULAS = {
    "sign": lambda t, q, v: 5.0 * pl.sign(q[X]),
    "maximum": lambda t, q, v: -PUSHED * pl.maximum(0.0, q[X]),
    "a comparison": lambda t, q, v: pl.where(q[X] > 0.0, -PUSHED * q[X], 0.0),
    "absolute": lambda t, q, v: -PUSHED * pl.absolute(q[X]),
    "sign of rate": lambda t, q, v: -5.0 * pl.sign(v[X]),
}
STOPS = {
    "stop of": pl.Limits(low=-1.0, high=0.0, stiffness=PUSHED),
    "damped stop of": pl.Limits(low=-1.0, high=0.0, stiffness=PUSHED, damping=LOSS),
    "contact": pl.Limits(low=-1.0, high=0.0, normal=pl.Hertz(stiffness=PUSHED, exponent=1.0)),
}


def slider(formula=None, limits=None, wall=None) -> pl.System:
    """A mass at rest on a spring."""
    system = pl.System("slider", gravity=(0, 0))
    joint = pl.Prismatic(spring=pl.Spring(stiffness=K), limits=limits)
    body = system.add("s", pl.RigidBody(mass=1.0, inertia=1.0), joint=joint)
    if formula is not None:
        system.drive("push", X, formula)
    if wall is not None:
        system.contact(points=body.root, against=pl.Plane(normal=(-1, 0)), normal=wall, name="wall")
    return system


@pytest.mark.parametrize("operation", FORMULAS)
def test_a_formula_without_a_derivative_at_the_point_is_named_and_no_stability_is_claimed(operation):
    system = slider(FORMULAS[operation])
    rest, linear = pl.equilibrium(system), pl.linearise(system)
    assert rest.stable is None and rest.stability.startswith("undecided: formula of 'push' (")
    for answer in (rest, linear, linear.modes()):
        (said,) = answer.warnings
        what = "jumps" if operation.startswith("sign") else "has a corner"
        assert said.startswith(f"formula of 'push' ({operation.removesuffix(' of rate')}) {what} at this point")
        assert (RATE.split()[0] in said) is (operation == "sign of rate") and said in str(answer)


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_exactly_at_its_limit_is_named(name):
    rest = pl.equilibrium(slider(limits=STOPS[name]))
    (said,) = rest.warnings
    assert rest.stable is None and name.removeprefix("damped ") in said and X in said and "has a corner" in said


@pytest.mark.parametrize("case", ["maximum", "a comparison", "stop of", "damped stop of", "contact"])
def test_each_side_has_its_own_stiffness_and_damping(case):
    system = slider(FORMULAS.get(case), STOPS.get(case))
    free, pressed = pl.linearise(system, side={X: -1}), pl.linearise(system, side={X: 1})
    assert pytest.approx(K) == free.K and pytest.approx(K + PUSHED, rel=1e-9) == pressed.K
    assert free.damping == 0.0 and pressed.damping == pytest.approx(LOSS if case == "damped stop of" else 0.0)
    assert not free.warnings and not pressed.warnings and "on the side of s.displacement +1" in pressed.message


def test_a_side_on_which_nothing_is_in_balance_is_said():
    assert "not in balance: it accelerates by up to 5" in pl.linearise(slider(FORMULAS["sign"]), side={X: 1}).message
    assert "not in balance: it accelerates by up to 5" in pl.linearise(slider(FORMULAS["sign of rate"]), side={RATE: 1}).message


def test_an_infinite_slope_is_an_error_that_names_its_owner():
    def root(t, q, v):
        return -pl.sign(q[X]) * pl.sqrt(pl.absolute(q[X]))

    with pytest.raises(pl.SolveError, match=r"derivatives of formula of 'push' \(.*sqrt\) must be finite"):
        pl.equilibrium(slider(root))
    stiffness = pl.linearise(slider(root), at="start", side={X: 1}).K
    assert np.isfinite(stiffness).all() and stiffness > 1e3


def test_what_is_smooth_at_the_point_is_not_named():
    for formula in (lambda t, q, v: -PUSHED * q[X] * pl.absolute(q[X]), lambda t, q, v: -PUSHED * pl.maximum(0.0, q[X] - 1e-6)):
        rest = pl.equilibrium(slider(formula))
        assert rest.stable and rest.warnings == () and pl.linearise(slider(formula)).warnings == ()
    touching = pl.equilibrium(slider(wall=pl.Hertz(stiffness=1e6)))  # a force that begins without stiffness
    assert touching.stable and touching.warnings == ()


@pytest.mark.parametrize(("side", "rule"), [({"s.displacment": 1}, "side must name coordinates or rates"),
                                            ({X: 2}, "must be 1 or -1")])  # fmt: skip
def test_a_side_that_does_not_exist_is_refused(side, rule):
    with pytest.raises(pl.ModelError, match=rule):
        pl.linearise(slider(), side=side)

"""Whatever goes wrong in a formula of the user's is an error that names the formula; what was raised is its cause."""

import math

import pytest

import pliant as pl


def mechanism(**contact):
    system = pl.System("s", (0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(0.0, 0.2)))
    contact = {"normal": pl.Hertz(stiffness=1e5), **contact}
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), **contact)
    return system


def with_part(name, formula):
    system = mechanism()
    add = {
        "drive": lambda: system.drive("own", "ball.x", formula),
        "state": lambda: system.state("own", formula),
        "event": lambda: system.event("own", formula),
        "controller": lambda: system.sampled("own", 0.1, lambda t, q, v, measured, memory: formula(t, q, v), outputs="u"),
    }
    add[name]()
    return system


def law(formula):
    return lambda *arguments: formula(arguments[0], {"ball.x": arguments[0]}, arguments[-1])


PLACES = {
    **{name: (lambda formula, name=name: with_part(name, formula)) for name in ("drive", "state", "event", "controller")},
    "normal law": lambda formula: mechanism(normal=law(formula)),
    "friction law": lambda formula: mechanism(friction=law(formula)),
}
WRONG = {
    "nothing": (lambda t, q, v: None, None),
    "a list": (lambda t, q, v: [1.0, 2.0], None),
    "a text": (lambda t, q, v: "1", None),
    "another number of arguments": (lambda t: 0.0, TypeError),
    "a function of numbers": (lambda t, q, v: math.sqrt(q["ball.x"]), TypeError),
    "a name that is not there": (lambda t, q, v: not_there, NameError),  # type: ignore[name-defined]  # noqa: F821
    "a key that is not there": (lambda t, q, v: {}["nope"], KeyError),
    "a division by zero": (lambda t, q, v: 1.0 / 0.0, ZeroDivisionError),
    "an exception of its own": (lambda t, q, v: iter(()).__next__(), StopIteration),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_in_a_formula_names_the_formula(place, case):
    formula, cause = WRONG[case]
    with pytest.raises(pl.ModelError) as error:
        pl.simulate(PLACES[place](formula), 0.1)
    words, raised = str(error.value), error.value.__cause__
    assert ("lambda" in words or "sampled 'own'" in words) and ("must" in words)
    assert raised is None if cause is None else isinstance(raised, cause)
    assert "law" not in place or words.startswith("law ")
    assert "law" in place or "'own'" in words


@pytest.mark.parametrize("force", [lambda d, rate, entry: -1e6 * d, lambda d, rate, entry: pl.Parameter("k", -1e5) * d**1.5])
def test_a_normal_law_with_the_wrong_sign_is_refused(force):
    """Clamped at zero, it would let the ball fall through the floor without a word."""
    with pytest.raises(
        pl.ModelError, match=r"CustomNormal: function must give a force >= 0 N at rest .* or pulls must be True, got -"
    ):
        mechanism(normal=force)
    assert pl.CustomNormal(force, pulls=True).pulls
    pl.CustomNormal(lambda d, rate, entry: 1e6 * d - 50.0)  # adhesion

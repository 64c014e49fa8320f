"""What data determine: 20 mechanisms with directions that no measurement shows, 20 without; combinations in words, by hand."""

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.study.fit.invariants import as_products, as_sums, product, total

TIME = np.linspace(0.02, 1.5, 40)
VALUES = {"a": 6.1, "b": 4.7, "c": 0.83, "d": 0.37, "e": 1.9}  # no small whole powers of one are close to another
NOISE = 1e-5


def parameter(name, value, unit=None):
    return pl.Parameter(name, value, unit, low=0.05 * value, high=20.0 * value)


def letters(*names):
    return [parameter(name, VALUES[name]) for name in names]


def slider(stiffness=30.0, damping=0.4, mass=1.0, rest=0.02, begin=0.1, push=0.0, unused=None):
    """On a spring with a damper."""
    system = pl.System("slider", gravity=(0, 0))
    joint = pl.Prismatic(displacement=begin, spring=pl.Spring(stiffness, rest=rest), damper=pl.Damper(damping))
    system.add("s", pl.RigidBody(mass=mass, inertia=1e-3), joint=joint)
    if push is not None and not isinstance(push, float):
        system.drive("push", "s.displacement", pl.Formula(lambda t, q, v: push * pl.sin(3.0 * t)))
    if unused is not None:
        system.event("far", lambda t, q, v: q["s.displacement"] - 10.0 * unused)
    return system


def dropped(stiffness=1e5, restitution=0.8, mass=0.5):
    """A ball on a floor."""
    system = pl.System("ball", gravity=(-9.81, 0))
    ball = system.add("ball", pl.RigidBody(mass=mass, inertia=1e-4), joint=pl.Prismatic(displacement=0.2))
    law = pl.Exact(stiffness=stiffness, restitution=restitution)
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(1, 0)), normal=law, name="floor")
    return system


def fitted(system, names, column="s.displacement", noise=NOISE, time=TIME, **options):
    truth = pl.simulate(system, time[-1], save=time)
    random = np.random.default_rng(5)
    data = {
        "time": time,
        column: truth[("v", column[2:]) if column.startswith("v ") else column] + noise * random.normal(size=time.size),
    }
    guess = {name: system.parameters[name].value * (1.0 + 0.02 * k) for k, name in enumerate(names, start=1)}
    return pl.fit(system, data, names, guess=guess, **options)


a, b, c, d, e = letters(*VALUES)
rate, loss, mass = parameter("rate", 30.0, "N/m"), parameter("loss", 0.4, "N s/m"), parameter("mass", 1.0, "kg")
rest, begin = (pl.Parameter(name, value, "m", low=-1.0, high=1.0) for name, value in (("rest", 0.02), ("begin", 0.1)))

HIDDEN = {  # mechanism, free parameters, combinations that are determined
    "ratios of a free vibration": (lambda: slider(rate, loss, mass), ("rate", "loss", "mass"), {"rate/loss", "rate/mass"}),
    "without damper": (lambda: slider(rate, 0.0, mass), ("rate", "mass"), {"rate/mass"}),
    "product": (lambda: slider(a * b), ("a", "b"), {"a b"}),
    "quotient": (lambda: slider(10.0 * a / b), ("a", "b"), {"a/b"}),
    "square": (lambda: slider(a * c**2), ("a", "c"), {"a c^2"}),
    "cube": (lambda: slider(a * b**3 / 10.0), ("a", "b"), {"a b^3"}),
    "three factors": (lambda: slider(a * b * c), ("a", "b", "c"), {"a b c"}),
    "springs side by side": (lambda: slider(a + b), ("a", "b"), {"a + b"}),
    "springs against each other": (lambda: slider(30.0 + a - b), ("a", "b"), {"a - b"}),
    "twice one": (lambda: slider(2.0 * a + b), ("a", "b"), {"2 a + b"}),
    "two masses": (lambda: slider(mass=c + d), ("c", "d"), {"c + d"}),
    "loss of two": (lambda: slider(damping=c * d), ("c", "d"), {"c d"}),
    "beside one that is seen": (lambda: slider(a * b, loss), ("a", "loss", "b"), {"a b", "loss"}),
    "two pairs": (lambda: slider(a * b, c * d), ("a", "b", "c", "d"), {"a b", "c d"}),
    "a product and a sum": (lambda: slider(a * b, mass=c + d), ("a", "b", "c", "d"), {"a b", "c + d"}),
    "a factor of two": (lambda: slider(a * b, mass=b * c), ("a", "b", "c"), {"a b", "a/c"}),
    "driven": (lambda: slider(rate, loss, mass, push=e), ("rate", "loss", "mass", "e"), {"rate/loss", "rate/mass", "rate/e"}),
    "unused": (lambda: slider(rate, unused=e), ("rate", "e"), {"rate"}),
    "speed alone": (lambda: slider(rest=rest, begin=begin), ("rest", "begin"), {"rest - begin"}),
    "through an impact": (lambda: dropped(1e4 * a * b), ("a", "b"), {"a b"}),
}  # fmt: skip

SEEN = {
    "rate": (lambda: slider(rate), ("rate",)),
    "loss": (lambda: slider(damping=loss), ("loss",)),
    "mass": (lambda: slider(mass=mass), ("mass",)),
    "rest": (lambda: slider(rest=rest), ("rest",)),
    "begin": (lambda: slider(begin=begin), ("begin",)),
    "rate and loss": (lambda: slider(rate, loss), ("rate", "loss")),
    "rate and mass with a known damper": (lambda: slider(rate, 0.4, mass), ("rate", "mass")),
    "loss and mass": (lambda: slider(30.0, loss, mass), ("loss", "mass")),
    "rest and begin": (lambda: slider(rest=rest, begin=begin), ("rest", "begin")),
    "rate and rest": (lambda: slider(rate, rest=rest), ("rate", "rest")),
    "four": (lambda: slider(rate, loss, rest=rest, begin=begin), ("rate", "loss", "rest", "begin")),
    "one factor": (lambda: slider(a * b), ("a",)),
    "one term": (lambda: slider(a + b), ("b",)),
    "two factors, one of them also a mass": (lambda: slider(a * b, mass=c), ("a", "c")),
    "product and factor": (lambda: slider(a * b, damping=0.1 * b), ("a", "b")),
    "sum and term": (lambda: slider(a + b, mass=0.3 * b), ("a", "b")),
    "driven, known push": (lambda: slider(rate, loss, mass, push=parameter("e", 1.9)), ("rate", "loss", "mass")),
    "driven, known mass": (lambda: slider(rate, loss, push=e), ("rate", "loss", "e")),
    "impact": (lambda: dropped(restitution=parameter("restitution", 0.8)), ("restitution",)),
    "stiffness of an impact": (lambda: dropped(1e4 * a, parameter("restitution", 0.8)), ("a", "restitution")),
}


@cache
def hidden(case):
    build, names, _ = HIDDEN[case]
    column = {"speed alone": "v s.displacement", "through an impact": "ball.displacement"}.get(case, "s.displacement")
    return fitted(build(), names, column)


@pytest.mark.parametrize("case", HIDDEN)
def test_directions_that_no_measurement_shows_are_found_and_said(case):
    _, names, combinations = HIDDEN[case]
    found = hidden(case).identifiability
    assert set(found.determined) == combinations
    lost = {name for one in found.undetermined for name in one.changes}
    assert lost == {name for name in names if name not in combinations} == set(hidden(case).unidentifiable)
    assert all(one.confirmed for one in found.undetermined) and not found.ok
    for word in combinations - set(names):
        assert any(word in one.words and "cannot be told apart here: only" in one.words for one in found.undetermined)


@pytest.mark.parametrize("case", SEEN)
def test_no_direction_is_invented(case):
    build, names = SEEN[case]
    found = fitted(build(), names, "ball.displacement" if "impact" in case else "s.displacement")
    assert not found.identifiability.undetermined and not found.unidentifiable
    assert set(found.identifiability.determined) == set(names) and found.identifiability.ok
    assert all(np.isfinite(error) for error in found.standard_errors.values())


def test_a_value_whose_size_the_data_do_not_tell_is_called_undetermined_in_practice():
    """The damper of a vibration, of which a twentieth was recorded in noise."""
    found = fitted(slider(rate, loss), ("rate", "loss"), noise=1e-3, time=np.linspace(0.01, 0.06, 21))
    assert found.unidentifiable["loss"].startswith("in practice: ") and "do not tell its size" in str(found)
    assert np.isfinite(found.standard_errors["loss"])  # it is known how badly
    assert "loss" in found.identifiability.in_practice and "loss" not in found.identifiability.determined
    profile = found.profile("loss")
    assert profile.shape in ("open", "flat", "open below") and "profile is" in str(profile)


def test_a_product_that_is_known_far_better_than_its_factors_is_named():
    found = fitted(slider(rate, 0.0, mass, push=parameter("e", 0.02)), ("rate", "mass"), noise=1e-6)
    (one,) = found.identifiability.better_together
    assert one.words == "rate/mass" and 5.0 * one.error < min(one.alone.values())
    k = found.covariance / np.outer(list(found.values.values()), list(found.values.values()))
    assert one.error == pytest.approx(np.sqrt(k[0, 0] + k[1, 1] - 2.0 * k[0, 1]), rel=1e-9)
    assert "hardly told apart: rate to " in str(found.identifiability)


def test_combinations_in_words():
    values = np.array([2.0, 3.0, 5.0])
    moves = values * np.array([[1.0, -3.0, 0.0]])
    (one,) = as_products(moves, values)
    assert product(["E", "h", "L"], one) == "E^3 h"
    assert as_sums(np.array([[1.0, 1.0, 0.0]])) is not None
    assert total(["a", "b", "c"], np.array([2, -1, 0])) == "2 a - b"
    assert total(["a", "b"], np.array([-1, 1])) == "-a + b"
    assert product(["a", "b", "c"], np.array([-1, -2, 0])) == "1/(a b^2)"
    assert as_products(np.array([[1.0, np.pi, 0.0]]), np.ones(3)) is None
    assert as_products(moves, np.array([0.0, 3.0, 5.0])) is None


def test_the_plot_of_directions(tmp_path):
    pl.plot.save(hidden("two pairs").identifiability.plot(), tmp_path / "directions.png")
    assert (tmp_path / "directions.png").stat().st_size > 5000

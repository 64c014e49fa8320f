"""Which numbers a page lets its reader change, and how far."""

import math

import pytest

import pliant as pl
from pliant.errors import ModelError
from pliant.live.sliders import sliders_of


def arm():
    mass = pl.Parameter("mass", 2.0, "kg", low=0.5, high=3.0)
    system = pl.System("arm", gravity=(0, -9.81))
    upper = system.add("upper", pl.RigidBody.rod(1.0, mass), joint=pl.Revolute(angle=0.2))
    system.add("fore", pl.RigidBody.rod(pl.Parameter("length", 0.8), 1.0), joint=pl.Prismatic(displacement=0.1), on=upper.tip)
    return pl.compile_system(system)


def test_all_parameters_and_joints_by_default_within_their_bounds():
    found = {slider.name: slider for slider in sliders_of(arm(), None)}
    assert set(found) == {"mass", "length", "upper.angle", "fore.displacement"}
    assert (found["mass"].low, found["mass"].value, found["mass"].high, found["mass"].unit) == (0.5, 2.0, 3.0, "kg")
    assert (found["length"].low, found["length"].high) == (pytest.approx(0.4), pytest.approx(1.2))
    assert found["upper.angle"].high - found["upper.angle"].low == pytest.approx(2.0 * math.pi)
    assert found["upper.angle"].unit == "rad" and found["fore.displacement"].unit == "m"
    assert found["mass"].place is None and found["upper.angle"].place == 0


def test_names_ranges_and_rates_as_asked():
    found = sliders_of(arm(), {"mass": (1.0, 2.5), "v upper.angle": (-5.0, 5.0), "length": None})
    assert [(s.name, s.low, s.high, s.unit) for s in found[:2]] == [("mass", 1.0, 2.5, "kg"), ("v upper.angle", -5.0, 5.0, "rad/s")]
    assert sliders_of(arm(), ["mass"])[0].name == "mass"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["masss"], "mass"),
        (["mass", "mass"], "different names"),
        ({"mass": (2.0, 1.0)}, "low < high"),
        ({"mass": (1.0,)}, "two numbers"),
        ({"mass": "wide"}, "two numbers"),
        ({"mass": (0.1, 2.5)}, ">= 0.5"),
    ],
)
def test_wrong_sliders_are_refused_by_name(asked, said):
    with pytest.raises(ModelError, match=said):
        sliders_of(arm(), asked)


def test_starts_of_closed_loops_are_refused_with_the_way_that_there_is():
    system = pl.System("loop", gravity=(0, 0))
    a = system.add("a", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    b = system.add("b", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=-0.5), on=a.tip)
    c = system.add("c", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=1.0), on=system.ground.moved((1.5, 0.0)))
    system.close("pin", "point", b.tip, c.tip)
    compiled = pl.compile_system(system)
    assert sliders_of(compiled, None) == []
    with pytest.raises(ModelError, match="parameter in a joint"):
        sliders_of(compiled, ["a.angle"])

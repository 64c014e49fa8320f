"""Small promises to somebody in the first hour: each was tried by one, and was not kept once."""

import re
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

BALL = """
pliant: 1
system: ball
gravity: [0, -9.81]
{define}
bodies:
  ball:
    rigid: {{mass: 1, inertia: 1e-3}}
    joint: {{planar: {{position: [0, 0.5]}}}}
contacts:
  floor:
    points: {{sphere: {{at: ball.root, radius: {radius}}}}}
    against: {{plane: {{normal: [0, 1]}}}}
    normal: {{hertz: {law}}}
run: {{t_end: 0.1}}
"""


def ball(radius="50 mm", law="{stiffness: 1e6}", define=""):
    return pl.loads_model(BALL.format(radius=radius, law=law, define=define))


@pytest.mark.parametrize(("unit", "meant"), [("mmm", "mm"), ("Gpa", "GPa"), ("kilogrms", None), ("N/mmm", "N/mm")])
def test_a_misspelt_unit_names_the_nearest(unit, meant):
    advice = f" (did you mean {meant!r}?)" if meant else ""
    with pytest.raises(pl.ModelError, match=re.escape(f"unit {unit!r}: is unknown{advice}")):
        ball(radius=f"50 {unit}")


@pytest.mark.parametrize("unit", ["N/mm^2", "Pa", "N/mm", "N/m"])
def test_the_stiffness_of_a_law_is_held_to_its_exponent(unit):
    with pytest.raises(pl.ModelError, match=r"stiffness: must be in N/m\^1\.5, got"):
        ball(law=f"{{stiffness: 1e6 {unit}}}")


def test_a_stiffness_in_the_unit_of_its_exponent_is_read():
    assert ball(law="{stiffness: 31.6227766 N/mm^1.5}").system.contacts["floor ball.root"].normal.stiffness == pytest.approx(1e6)
    assert ball(law="{stiffness: 1e3 N/mm, exponent: 1}").system.contacts["floor ball.root"].normal.stiffness == pytest.approx(1e6)
    with pytest.raises(pl.ModelError, match=r"stiffness: must be in N/m\^1, got"):
        ball(law="{stiffness: 1e3 N/mm^1.5, exponent: 1}")


@pytest.mark.parametrize(("name", "meaning"), [("sin", "a function"), ("pi", "a constant"), ("t", "one of their variables")])
def test_a_reserved_name_in_define_says_that_it_is(name, meaning):
    with pytest.raises(pl.ModelError, match=f"must be another name: formulas use '{name}' for {meaning}"):
        ball(define=f"define: {{{name}: 3}}")


def arm():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return system


def test_a_method_by_its_name():
    by_name, by_object = pl.simulate(arm(), 0.5, method="DOP853"), pl.simulate(arm(), 0.5, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    assert (by_name.values["q"] == by_object.values["q"]).all()
    with pytest.raises(pl.ModelError, match=r"method must be an object, as in pl\.RK4\(step=\.\.\.\): it needs step"):
        pl.simulate(arm(), 0.5, method="RK4")
    with pytest.raises(pl.ModelError, match=r"method must be one of .*DOP853.*got 'DOP583'"):
        pl.simulate(arm(), 0.5, method="DOP583")


def test_a_table_in_a_formula_gets_the_right_advice():
    system = arm()
    system.drive("motor", "arm.angle", lambda t, q, v: np.interp(t, [0.0, 1.0], [0.0, 2.0]))
    with pytest.raises(pl.ModelError, match=r"pl\.PiecewiseLinear\(times=\.\.\., values=\.\.\.\), smooth: pl\.MotionTable"):
        pl.simulate(system, 0.1)


def test_results_compare(tmp_path):
    """Equal runs are equal, whatever they took of time; so is what comes back from a file."""
    first, again, longer = (pl.simulate(arm(), t_end, save=0.01) for t_end in (0.2, 0.2, 0.21))
    assert first == again and first != longer and first != "run"
    assert len({first, again}) == 2  # by identity, as arrays have no hash
    first.to_netcdf(tmp_path / "run.nc")
    assert pl.Result.from_netcdf(tmp_path / "run.nc") == first


@pytest.mark.parametrize("inertia", [(1.0, 1.0, 2.5), ((3.0, 0.5, 0.0), (0.5, 1.0, 0.0), (0.0, 0.0, 1.5))])
def test_an_inertia_that_no_body_has_is_refused(inertia):
    with pytest.raises(pl.ModelError, match="inertia must be that of a body: the largest principal moment"):
        pl.RigidBody(mass=1.0, inertia=inertia)


def test_inertias_of_bodies_pass():
    """A flat plate and a thin rod are at the bound."""
    pl.RigidBody(mass=1.0, inertia=(1.0, 2.0, 3.0))
    pl.RigidBody(mass=1.0, inertia=(0.0, 1.0, 1.0))
    pl.RigidBody(mass=1.0, inertia=(0.0, 0.0, 1.0))  # planar: the others are not told


def test_types_are_part_of_the_package():
    assert (Path(pl.__file__).parent / "py.typed").exists()

"""Small promises to somebody in the first hour: each was tried by one, and was not kept once."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.integrate.methods.method import METHODS
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.joint import JOINTS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.version import VERSION

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
    with pytest.raises(pl.ModelError, match=re.escape(f"unit {unit!r} is unknown{advice}")):
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


@pytest.mark.parametrize(("name", "meaning"), [("sin", "a function"), ("pi", "a constant"), ("t", "a variable of formulas")])
def test_a_reserved_name_in_define_says_that_it_is(name, meaning):
    with pytest.raises(pl.ModelError, match=f"must be another name, because '{name}' is reserved for {meaning}"):
        ball(define=f"define: {{{name}: 3}}")


def arm():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return system


def test_a_method_by_its_name():
    by_name, by_object = pl.simulate(arm(), 0.5, method="DOP853"), pl.simulate(arm(), 0.5, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    assert (by_name.values["q"] == by_object.values["q"]).all()
    with pytest.raises(pl.ModelError, match=r"method must be an object, as in pl\.RK4\(step=\.\.\.\), because it needs step"):
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
    with pytest.raises(pl.ModelError, match="inertia must satisfy the triangle inequality, but its largest principal moment"):
        pl.RigidBody(mass=1.0, inertia=inertia)


def test_inertias_of_bodies_pass():
    """A flat plate and a thin rod are at the bound."""
    pl.RigidBody(mass=1.0, inertia=(1.0, 2.0, 3.0))
    pl.RigidBody(mass=1.0, inertia=(0.0, 1.0, 1.0))
    pl.RigidBody(mass=1.0, inertia=(0.0, 0.0, 1.0))  # planar: the others are not told


def test_types_are_part_of_the_package():
    assert (Path(pl.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(("value", "rule"), [("2 Hz", "Hz"), ("3 kg", "rad/s")])
def test_a_definition_carries_its_dimension(value, rule):
    text = BALL.format(radius="50 mm", law="{stiffness: 1e6}", define=f"define: {{turning: {value}}}")
    with pytest.raises(pl.ModelError, match=rule):
        pl.loads_model(text.replace("position: [0, 0.5]", "position: [0, 0.5], rate: turning"))


def elastic_links():
    system = pl.System("two links", gravity=(0, -9.81))
    material, section = pl.Material(E=70e9, density=2700), pl.Section.rectangle(0.02, 0.01)
    beam = pl.Beam(
        length=1.0, material=material, section=section, modes=pl.Modes("cf", count=2, static=False), theory="euler-bernoulli"
    )
    first = system.add("a", beam, joint=pl.Revolute())
    system.add("b", beam, joint=pl.Revolute(), on=first.tip)
    return system


def test_equations_of_two_elastic_links_are_written_in_seconds_and_printed_in_a_few_lines():
    """Simplified entry by entry, as short ones are, they took minutes."""
    equations = pl.equations(elastic_links())
    assert str(equations) == repr(equations) and len(str(equations).splitlines()) <= 6
    assert "a.angle, a.y1, a.y2, b.angle, b.y1, b.y2" in str(equations)
    text = equations.latex()
    assert "not simplified" not in text
    assert text.count(r"\[ M = ") == text.count(r"\[ h = ") == 1 and len(text) < 30_000


def test_the_scale_of_the_ledgers_error_does_not_depend_on_saved_rows():
    few, many = (pl.simulate(arm(), 1.0, save=save).ledger for save in ([0.0, 1.0], 1e-3))
    assert few.scale == many.scale > 0.0


def test_what_goes_on_is_logged(caplog, capfd):
    with caplog.at_level(logging.INFO, "pliant"):
        pl.simulate(arm(), 0.1, cache=False)
        pl.simulate(arm(), 1.0, max_steps=2)
    levels = {record.message: record.levelno for record in caplog.records}
    assert any(message.startswith("compiling") for message in levels)
    assert levels["arm: the run reached t = 0.1 s"] == logging.INFO
    assert next(level for message, level in levels.items() if message.startswith("arm: the limit of 2 steps")) == logging.ERROR
    assert capfd.readouterr().err == ""  # nobody asked for it to be printed


TOP = Path(__file__).parents[1]


def test_the_readme_counts_laws_as_they_are():
    """A law that says what it delivers only for given masses or speeds is not among those that say it."""
    text = " ".join((TOP / "README.md").read_text(encoding="utf-8").split())
    depend = [law for law in NORMAL_LAWS if law.__dict__.get("delivered_between") is not None]
    words = {3: "three", 4: "four", 11: "eleven", 12: "twelve", 13: "Thirteen", 16: "sixteen", 17: "seventeen"}
    assert f"{words[len(NORMAL_LAWS)]} normal-force laws. {words[len(NORMAL_LAWS) - len(depend)]} report" in text
    assert f"the other {words[len(depend)]} (" in text and all(f"`{law.__name__}`" in text for law in depend)
    assert f"There are {words[len(FRICTION_LAWS)]} friction laws" in text


def test_statistics_are_as_documented():
    text = (TOP / "docs" / "guide" / "statistics.md").read_text(encoding="utf-8")
    stats = pl.simulate(elastic_links(), 0.01).stats
    assert "stiffening" in stats and not [name for name in stats if f"`{name}`" not in text]


def test_all_names_a_user_needs_are_in_pliant_itself():
    """Every class that a field of a model may hold, every error, every result of a function."""
    assert not [name for name in pl.__all__ if not hasattr(pl, name)]
    registers = (*NORMAL_LAWS, *FRICTION_LAWS, *METHODS, *JOINTS)
    assert not [kind.__name__ for kind in registers if getattr(pl, kind.__name__, None) is not kind]


def test_the_last_release_of_the_changelog_is_this_version():
    assert re.search(r"^## \[(\d.*?)\]", (TOP / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1] == VERSION == "0.2.0"


@pytest.mark.parametrize("ask", [pl.linearise, pl.equilibrium, pl.equations, pl.denoc], ids=lambda ask: ask.__name__)
def test_questions_about_a_mechanism_are_asked_of_a_system(ask):
    with pytest.raises(pl.ModelError, match=rf"{ask.__name__}: system must be a System \(a Compiled can only be run\)"):
        ask(pl.compile_system(arm()))

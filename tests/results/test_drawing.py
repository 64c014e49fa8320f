"""A drawing is made when it is first looked at, of the mechanism that ran."""

import copy
import pickle

import pytest

import pliant as pl
from pliant.show import drawing as show_drawing


def pendulum():
    system = pl.System("pendulum", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 2.0), joint=pl.Revolute(angle=0.3))
    return system, arm


def add_ball(system, arm):
    system.add("ball", pl.RigidBody(mass=1.0), joint=pl.Weld(), on=arm.tip)
    system.contact(points=arm.tip, against=pl.Plane(normal=(0, 1), point=(0, -3.0)), normal=pl.Hertz(stiffness=1e6))


def test_what_is_added_after_a_run_is_not_in_its_drawing():
    system, arm = pendulum()
    untouched = pl.simulate(pendulum()[0], 0.01).drawing.to_json()
    run = pl.simulate(system, 0.01)
    add_ball(system, arm)
    assert run.drawing.to_json() == untouched
    assert [body.name for body in pl.simulate(system, 0.01).drawing.bodies] == ["arm", "ball"]


def test_a_compiled_system_is_the_system_as_it_was():
    system, arm = pendulum()
    compiled = pl.compile_system(system)
    add_ball(system, arm)
    run = pl.simulate(compiled, 0.01)
    assert run.labels["body"] == ("arm",) and not run.drawing.contacts
    assert "ball" not in run.provenance["model"]


def test_nothing_is_drawn_until_someone_looks(monkeypatch):
    drawn = []
    draw = show_drawing.draw
    monkeypatch.setattr(show_drawing, "draw", lambda *given: drawn.append(1) or draw(*given))
    run = pl.simulate(pendulum()[0], 0.01)
    assert not drawn
    assert run.drawing.units == {"arm.angle": "rad"} and run.drawing.bodies[0].name == "arm"
    assert len(drawn) == 1


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_it_travels_drawn(travel):
    run = pl.simulate(pendulum()[0], 0.01)
    assert travel(run.drawing).to_json() == run.drawing.to_json()


def test_it_has_nothing_but_its_fields():
    with pytest.raises(AttributeError, match="no attribute 'colours'"):
        _ = pl.simulate(pendulum()[0], 0.01).drawing.colours

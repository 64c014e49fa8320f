"""What pliant does not have answers with a sentence, and does not exist all the same."""

import re

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.model.system import BODIES
from pliant.scope import by_another_name, foreign_model, not_yet

NAMES = ["Plate", "Shell", "Cable", "Rope", "CurvedBeam", "TaperedBeam", "Belt", "Cuboid", "Mesh", "Terrain", "read_sdf",
         "SDF", "Fluid", "Pulley", "Plasticity", "Composite", "Hyperelastic"]  # fmt: skip
URDF = """<?xml version="1.0"?>
<!-- an <mujoco> arm -->
<robot name="arm"><link name="base"/></robot>
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_one_would_try_answers_with_the_nearest_way_and_does_not_exist(name):
    with pytest.raises(AttributeError, match=rf"module 'pliant' has no attribute '{name}': .* yet; .*"):
        getattr(pl, name)
    assert not hasattr(pl, name) and name not in dir(pl) and name not in pl.__all__


@pytest.mark.parametrize(("name", "known"), [("load_urdf", "read_urdf"), ("URDF", "read_urdf"), ("load_mjcf", "read_mjcf")])
def test_a_name_of_what_exists_by_another_name_answers_with_that_name(name, known):
    with pytest.raises(AttributeError, match=rf"module 'pliant' has no attribute '{name}': .*pl\.{known}\(path\)"):
        getattr(pl, name)
    assert hasattr(pl, known)


@pytest.mark.parametrize("name", ["Solid", "import_fe", "load_nastran", "AnsysModel", "Brick"])
def test_names_of_finite_elements_lead_to_the_modal_body(name):
    with pytest.raises(AttributeError, match=rf"module 'pliant' has no attribute '{name}': .*pl\.modal_body\(elements, "):
        getattr(pl, name)
    answer = by_another_name(name)
    assert not [given for given in re.findall(r"\bpl\.(\w+)", answer) if not hasattr(pl, given)]


def test_other_unknown_names_are_unknown_as_in_any_module():
    with pytest.raises(AttributeError, match=r"^module 'pliant' has no attribute 'Beem'$"):
        pl.Beem  # noqa: B018
    assert not hasattr(pl, "__wrapped__") and "__getattr__" not in pl.__all__


def test_nothing_that_exists_is_said_not_to_exist():
    names = [*pl.__all__, *BODIES, *(name for name in dir(pl.System) if not name.startswith("_"))]
    assert {name for name in names if not_yet(name)} == set()


def test_every_name_that_an_answer_gives_exists():
    answers = " ".join(filter(None, map(not_yet, NAMES)))
    given = set(re.findall(r"\bpl\.(\w+)", answers))
    assert {"Beam", "RigidBody", "Weld", "ModalBody"} <= given and not [name for name in given if not hasattr(pl, name)]
    assert not [name for name in re.findall(r"\bsystem\.(\w+)", answers) if not hasattr(pl.System, name)]


@pytest.mark.parametrize(("text", "word"), [(URDF, "URDF"), ("\ufeff <mujoco model='a'/>", "MJCF"), ("<sdf version='1.7'/>", "SDF"),
                                            ("<!DOCTYPE svg><svg/>", "YAML, got XML")])  # fmt: skip
def test_a_model_of_another_program_is_recognised_by_its_content(text, word, tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(pl.ModelError, match=rf"arm\.yaml: .*{word}.*pliant new"):
        pl.load_model(file)
    for command in ("check", "run"):
        ended = CliRunner().invoke(app, [command, str(file)])
        assert ended.exit_code == 2 and word in ended.output


def test_text_that_is_not_xml_is_left_to_the_reader():
    assert [foreign_model(text) for text in ("", "pliant: 1", "<", "<!-- <robot>", "< robot>", "system: <robot>")] == [None] * 6

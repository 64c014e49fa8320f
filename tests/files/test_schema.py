"""The JSON Schema: valid itself, true of all examples, and never stricter than the reader."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pliant.errors import ModelError
from pliant.files import dump_model, load_model, loads_model
from pliant.files.schema import schema

EXAMPLES = sorted(path for path in (Path(__file__).parents[2] / "examples").rglob("*.yaml") if path.name != "materials.yaml")
VALIDATOR = jsonschema.Draft202012Validator(schema())


class Plain(yaml.SafeLoader):
    """YAML 1.2's plain values, as editors read them: on and yes are texts."""


Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def plain(text: str) -> Any:
    return yaml.load(text, Loader=Plain)


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_example_is_valid_as_it_is_and_as_pliant_writes_it(path: Path) -> None:
    VALIDATOR.validate(plain(path.read_text()))
    model = load_model(path)
    VALIDATOR.validate(plain(dump_model(model.system, model.run)))


def test_what_is_shared_by_including_is_valid_where_it_may_stand() -> None:
    shared = plain((EXAMPLES[0].parents[1] / "examples" / "published" / "materials.yaml").read_text())
    materials = VALIDATOR.evolve(schema=schema()["properties"]["materials"] | {"$defs": schema()["$defs"]})
    materials.validate(shared["materials"])


CHAIN = plain((Path(__file__).parents[2] / "examples" / "falling_chain.yaml").read_text())

# where, by what, and the path at which the schema must object
WRONG: list[tuple[list[Any], Any, str]] = [
    (["gravty"], [0, 0], "gravty"),
    (["parts", "link", "beam", "lenght"], 1, "lenght"),
    (["parts", "link", "beam", "theory"], "timoschenko", "timoschenko"),
    (["parts", "link", "beam", "length"], [1], "[1]"),
    (["parts", "link", "rod"], {"length": 1, "mass": 1}, "rod"),
    (["bodies", "a", "joint"], {"hinge": {}}, "hinge"),
    (["bodies", "a", "joint"], "hinge", "hinge"),
    (["contacts", "ground", "normal"], {"hu_guoo": {}}, "hu_guoo"),
    (["contacts", "ground", "points"], {"ball": 1}, "ball"),
    (["events", "half a metre up", "direction"], "down", "down"),
    (["run", "method"], {"rkf54": {}}, "rkf54"),
    (["run", "t_end"], None, "None"),
    (["pliant"], 2, "2"),
]


@pytest.mark.parametrize(("where", "value", "named"), WRONG, ids=[".".join(map(str, where)) for where, _, _ in WRONG])
def test_what_is_wrong_is_refused_by_schema_and_reader(where: list[Any], value: Any, named: str) -> None:
    data = copy.deepcopy(CHAIN)
    inner = data
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    assert any(named in error.message for error in VALIDATOR.iter_errors(data))
    with pytest.raises(ModelError):
        loads_model(yaml.safe_dump(data))


def test_units_and_meanings_are_told_to_the_editor() -> None:
    made = schema()
    assert made["$defs"]["Beam"]["properties"]["length"]["description"] == "m"
    assert made["$defs"]["Modes"]["anyOf"] if "anyOf" in made["$defs"]["Modes"] else made["$defs"]["Modes"]["properties"]
    assert "clamped" in made["$defs"]["Modes"]["description"]

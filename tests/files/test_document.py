"""Two parsers read model files: libyaml's, for speed, and PyYAML's. A model is the same by either."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from pliant.files import document
from pliant.files.document import ModelFileError, read_document

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = sorted(EXAMPLES.rglob("*.yaml"))


def content(node: Any) -> Any:
    """What a reader sees of a node: texts, and where they stand."""
    place = node.start_mark.line, node.start_mark.column
    if isinstance(node, yaml.ScalarNode):
        return place, node.value
    if isinstance(node, yaml.SequenceNode):
        return place, [content(item) for item in node.value]
    return place, [(content(key), content(value)) for key, value in node.value]


@pytest.mark.skipif(document._Fast is None, reason="PyYAML without libyaml")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_both_parsers_read_the_same_from_files_whole_and_cut(path: Path) -> None:
    text, rng = path.read_text(), random.Random(5)
    assert content(document._Fast(text, "m").get_single_node()) == content(document._Careful(text, "m").get_single_node())
    for _ in range(5):
        cut = text[: rng.randrange(len(text))]
        assert outcome(cut, fast=True) == outcome(cut, fast=False)


def outcome(text: str, fast: bool) -> Any:
    known = document._Fast
    try:
        document._Fast = known if fast else None
        return content(read_document(text, "m").node)
    except ModelFileError as trouble:
        return str(trouble)
    finally:
        document._Fast = known


@pytest.mark.parametrize("text", ["a:\t1", "a: [1,\t2]", "\ta: 1"])
def test_tabs_are_judged_by_one_parser(text: str) -> None:
    assert outcome(text, fast=True) == outcome(text, fast=False)


@pytest.mark.parametrize(
    "text", ["[0,-9.81]", "[1,2,3]", "[0, 1 ,2]", "[a.tip, b.tip]", "['1,5', 2]", "[[1,2], [3,4]]", "[0, 1,\n2]"]
)
def test_lists_without_a_space_behind_commas_are_lists(text: str) -> None:
    assert read_document(text, "m").items()

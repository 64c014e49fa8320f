"""Two thousand mutated model files: the loader gives a model or a ModelError, and nothing in a file is ever executed."""

from __future__ import annotations

import builtins
import importlib
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pliant.errors import ModelError
from pliant.files import Model, dump_model, load_model, loads_model
from pliant.files.schema import schema

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = [path for path in sorted(EXAMPLES.rglob("*.yaml")) if path.name != "materials.yaml"]
MUTANTS, SEED = 2000, 20260707

# What an attacker or a slip of the hand may put in the place of a value.
POISON = (
    "__import__('os').system('touch harm')", "!!python/object/apply:os.system ['touch harm']", "!!python/name:os.system",
    "eval('1')", "exec('import os')", "open('harm', 'w')", "().__class__.__bases__[0].__subclasses__()", "q.__class__", "t.real",
    "lambda: 1", "[x for x in (1,)]", "{1: 2}", "f'{t}'", "'a'*10**9", "9**9**9", "10**400", "1e400", "-1e308*10", ".nan", ".inf",
    "~", "", "null", "true", "no", "0x1f", "1:30:00", "2026-11-15", "<<", "*a", "&a 1", "---", "...", "\t", "\0", "\u2028", "é",
    "[" * 45, "{" * 45, "]", "}", '"', "'", "|", ">", "%", "@", "`", "# x", "? y", "- - -", "a: b: c", "0", "-0", "-1", "1e-320",
    "250 mm", "3 parsec", "1 degC", "5 kg m", "2 m**", "1 m/0", "1 1/", "4 °", "-7 %", "nan m", "1e308 km", "9" * 5000, "(" * 200,
    "materials.yaml", "../../../../etc/passwd", "/dev/zero", "ends", "ground", "arm.tip", "a@", "@1", ".", "t", "q['a']", "x",
)  # fmt: skip


KEYS = ("run", "bodies", "define", "on", "motion", "x y", "1")


def mutant(text: str, rng: random.Random) -> str:
    """A few small changes: lines and characters moved, dropped, doubled; values and keys swapped or poisoned."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 4)):
        k = rng.randrange(len(lines))
        line = lines[k]
        choice = rng.randrange(9)
        if choice == 0:
            del lines[k]
        elif choice == 1:
            lines.insert(rng.randrange(len(lines) + 1), line)
        elif choice == 2:
            lines[k] = " " * rng.randint(1, 5) + line
        elif choice == 3 and line:
            at = rng.randrange(len(line))
            lines[k] = line[:at] + rng.choice("{}[]:,'\"#*&!|>%@-x0. \t\0") + line[at + rng.randint(0, 1) :]
        elif choice == 4 and ":" in line:
            lines[k] = line[: line.index(":") + 1] + " " + rng.choice(POISON)
        elif choice == 5:
            words = line.replace(",", " , ").replace(":", " : ").split(" ")
            words[rng.randrange(len(words))] = rng.choice(POISON)
            lines[k] = " ".join(words)
        elif choice == 6:
            other = rng.choice(lines)
            lines[k] = line[: rng.randint(0, len(line))] + other[rng.randint(0, len(other)) :]
        elif choice == 7 and ":" in line:
            lines[k] = line.replace(line.strip().split(":")[0], rng.choice(KEYS), 1)
        else:
            at, to = sorted((rng.randint(0, len(line)), rng.randint(0, len(line))))
            lines[k] = line[:at] + line[to:]
        if not lines:
            lines = [""]
    return "\n".join(lines)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever could run code or write a file raises something that no reader expects."""

    class Executed(BaseException):
        pass

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Executed(args)

    honest = builtins.open

    def read_only(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            raise Executed(file)
        return honest(file, mode, *args, **kwargs)

    for path in MODELS:  # what imports code or evaluates annotations does so once, before
        load_model(path)
    schema()
    monkeypatch.chdir(tmp_path)
    for owner, name in ((os, "system"), (os, "popen"), (subprocess, "Popen"), (builtins, "eval"), (builtins, "exec")):
        monkeypatch.setattr(owner, name, refuse)
    monkeypatch.setattr(builtins, "open", read_only)
    monkeypatch.setattr(importlib, "import_module", refuse)


def test_two_thousand_mutants_give_a_model_or_a_model_error(nothing_runs: None, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    sources = [(path, path.read_text()) for path in MODELS]
    weights = [1 / len(text) for _, text in sources]  # the long one is slow to read
    accepted: list[tuple[str, Model]] = []
    refused = 0
    for _ in range(MUTANTS):
        path, text = rng.choices(sources, weights)[0]
        changed = mutant(text, rng)
        try:
            accepted.append((changed, loads_model(changed, path.name, folder=path.parent)))
        except ModelError as trouble:
            assert str(trouble).startswith(path.name)  # every refusal says where
            assert len(str(trouble)) < 1500
            refused += 1
    assert refused > MUTANTS / 2
    assert len(accepted) > MUTANTS / 20
    assert list(tmp_path.iterdir()) == []
    check_accepted(accepted)


def check_accepted(accepted: list[tuple[str, Model]]) -> None:
    """What was read is written, read again and the same; and the schema, which is the looser of the two, takes it too."""
    validator = jsonschema.Draft202012Validator(schema())
    for text, model in accepted[:40]:
        assert loads_model(dump_model(model.system, model.run)) == model
        validator.validate(yaml.load(text, Loader=OneTwo))


class OneTwo(yaml.SafeLoader):
    """YAML 1.2's plain values: on, yes and 1:30 are texts."""


OneTwo.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":timestamp", ":merge", ":value"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@pytest.mark.parametrize("bytes_", [b"", b"\xff\xfe", b"\x00" * 100, b"\xef\xbb\xbfpliant: 1", bytes(range(256))])
def test_files_of_any_bytes_are_refused_by_name(bytes_: bytes, tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_bytes(bytes_)
    with pytest.raises(ModelError, match=r"m\.yaml"):
        load_model(file)

"""No circle of files inside a room: whoever reads a file reads those it imports, and never comes back. Imports for types count."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1] / "src" / "pliant"
ROOMS = sorted(path.parent.name for path in TOP.glob("*/__init__.py"))
KNOWN = {  # each is to go with the work on its room
    "model": ["new_sensor system"],
    "study": ["bands bootstrap fitted identifiability posterior profile report"],  # methods of Fit, and what they take
}


def modules_of(room: str) -> dict[str, Path]:
    return {
        ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__"): path
        for path in TOP.glob(f"{room}/**/*.py")
    }


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pliant."):
            home = str(node.module).removeprefix("pliant.")
            inner = {f"{home}.{name.name}" for name in node.names}
            yield from inner & modules.keys()
            if not inner <= modules.keys() and home in modules:
                yield home


def circles(room: str) -> list[set[str]]:
    modules = modules_of(room)
    reached = {name: set(imported(path, modules)) - {name} for name, path in modules.items()}
    for middle in modules:  # Warshall's closure
        for near in reached.values():
            if middle in near:
                near |= reached[middle]
    found = [{other for other in reached[name] if name in reached[other]} for name in modules if name in reached[name]]
    return [circle for k, circle in enumerate(found) if circle not in found[:k]]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_circle_of_files(room):
    found = [" ".join(sorted(name.rpartition(".")[2] for name in circle)) for circle in circles(room)]
    assert sorted(found) == sorted(KNOWN.get(room, []))

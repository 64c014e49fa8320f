"""Finite-element models of CalculiX: the mesh of an input file, and the matrices that a run writes beside it.

A step `*FREQUENCY, SOLVER=MATRIXSTORAGE` of job.inp writes job.sti and job.mas (row, column, value) and job.dof, whose line k names
the node and direction of row k as in 12.3. CalculiX User's Manual, section *FREQUENCY.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.skin import skin_of_cells
from pliant.model import check

PART = "read_calculix"
KINDS = {"C3D4": "tetrahedron", "C3D10": "tetrahedron", "C3D8": "hexahedron", "C3D8R": "hexahedron", "C3D8I": "hexahedron",
         "C3D20": "hexahedron", "C3D20R": "hexahedron", "C3D6": "wedge", "C3D15": "wedge"}  # fmt: skip


def read_calculix(path: str | Path) -> FiniteElements:
    """The finite-element model of a CalculiX job, by the path of its input file; .sti, .mas and .dof stand beside it.

    `numbers` has the file's node numbers, and `sets` its node sets. The job must have no supports.
    """
    job = check.path(PART, "path", path)
    rows = np.array([[int(x) for x in line.split(".")] for line in _text(job.with_suffix(".dof")).split()], dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2 or not set(rows[:, 1].tolist()) <= {1, 2, 3}:
        raise ModelError.of(
            PART, str(job.with_suffix(".dof")), "must name a node and a direction 1, 2 or 3 on every line", rows.shape
        )
    numbers = np.unique(rows[:, 0])
    place = 3 * np.searchsorted(numbers, rows[:, 0]) + rows[:, 1] - 1
    missing = np.setdiff1d(np.arange(3 * len(numbers)), place)
    if missing.size:
        rule = f"must have three unknowns at every node, without supports; node {numbers[missing[0] // 3]} has fewer"
        raise ModelError.of(PART, str(job.with_suffix(".dof")), rule, f"{len(rows)} unknowns")
    nodes, cells, sets = _mesh(job)
    unknown = [int(n) for n in numbers if int(n) not in nodes]
    if unknown:
        raise ModelError.of(PART, str(job), "must define every node of the matrices under *NODE", unknown[0])
    points = np.array([nodes[int(n)] for n in numbers])
    index = {int(n): k for k, n in enumerate(numbers)}
    solid = [(kind, np.array([[index[n] for n in nodes_of] for nodes_of in group if set(nodes_of) <= index.keys()], dtype=np.int64))
             for kind, group in cells.items()]  # fmt: skip
    return FiniteElements(
        mass=_matrix(job.with_suffix(".mas"), place), stiffness=_matrix(job.with_suffix(".sti"), place), nodes=points,
        triangles=skin_of_cells(points, [(kind, own) for kind, own in solid if own.size]), numbers=numbers,
        sets={name: np.unique([index[n] for n in own if n in index]) for name, own in sets.items()},
    )  # fmt: skip


def _matrix(path: Path, place: Any) -> Any:
    """A matrix of row, column, value; one triangle stands for both."""
    try:
        table = np.loadtxt(_text(path).splitlines(), ndmin=2)
    except ValueError as trouble:
        raise ModelError(f"{PART}: {path}: must hold rows, columns and values: {trouble}") from None
    row, column = (table[:, k].astype(np.int64) - 1 for k in (0, 1))
    if min(row.min(), column.min()) < 0 or max(row.max(), column.max()) >= len(place):
        raise ModelError.of(PART, str(path), f"must have rows and columns 1 to {len(place)}", int(max(row.max(), column.max())) + 1)
    found = sparse.coo_array((table[:, 2], (place[row], place[column])), shape=(len(place),) * 2).tocsr()
    if np.all(row >= column) or np.all(row <= column):
        found = found + found.T - sparse.diags_array(found.diagonal())
    return found


def _mesh(job: Path) -> tuple[dict[int, list[float]], dict[str, list[list[int]]], dict[str, list[int]]]:
    """Nodes, cells by kind, and node sets of an input file."""
    nodes: dict[int, list[float]] = {}
    cells: dict[str, list[list[int]]] = {}
    sets: dict[str, list[int]] = {}
    for keyword, options, data in _blocks(_text(job)):
        if keyword == "INCLUDE":
            raise ModelError.of(PART, str(job), "must hold the mesh itself, without *INCLUDE", options.get("INPUT", ""))
        if keyword == "NODE":
            for line in data:
                nodes[int(line[0])] = [float(x) for x in line[1:4]] + [0.0] * (4 - len(line[:4]))
            if "NSET" in options:
                sets.setdefault(options["NSET"], []).extend(int(line[0]) for line in data)
        elif keyword == "ELEMENT" and options.get("TYPE", "") in KINDS:
            flat, count = [int(x) for line in data for x in line], int(options["TYPE"].strip("C3DRI"))
            width = 1 + count  # the element's number, then its nodes, over as many lines as they need
            cells.setdefault(KINDS[options["TYPE"]], []).extend(flat[k + 1 : k + width] for k in range(0, len(flat), width))
        elif keyword == "NSET":
            sets.setdefault(options["NSET"], []).extend(_members(options, data, sets))
    return nodes, cells, sets


def _members(options: dict[str, str], data: list[list[str]], sets: dict[str, list[int]]) -> Iterator[int]:
    for line in data:
        if "GENERATE" in options:
            first, last, *step = (int(x) for x in line)
            yield from range(first, last + 1, *step)
        else:
            for word in line:
                yield from [int(word)] if word.isdigit() else sets.get(word.upper(), [])


def _blocks(text: str) -> Iterator[tuple[str, dict[str, str], list[list[str]]]]:
    """(keyword, its options, the fields of its lines), in capitals."""
    keyword, options, data = "", dict[str, str](), list[list[str]]()
    for line in [*text.splitlines(), "*END"]:
        if line.startswith("**") or not line.strip():
            continue
        if not line.startswith("*"):
            data.append([word.strip() for word in line.split(",") if word.strip()])
            continue
        if keyword:
            yield keyword, options, data
        keyword, *words = (word.strip().upper() for word in line[1:].split(","))
        options = {name.strip(): value.strip() for name, _, value in (word.partition("=") for word in words)}
        data = []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as trouble:
        raise ModelError(f"{PART}: {path}: cannot be read: {trouble.strerror or trouble}") from None

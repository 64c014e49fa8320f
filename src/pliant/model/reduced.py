"""A reduced finite-element model: the shapes of a body at its nodes and the integrals by which they enter the equations.

Positions are measured from the root frame, in the axes of the mesh. Shapes and their rotations vanish at the root frame, which
moves as the root does. Field 0 is the position of the undeformed body, field j the shape of mode j; after the modes follow the
fields of geometric stiffening, of weight 1/2 z^T S z.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.model import check

Array = NDArray[Any]

FORMAT = 1  # of the .npz file
# The arrays of a file and their shapes: n nodes, m modes, f = 1 + m + s fields of which s are of stiffening, k frames, t triangles,
# p points with stresses.
SHAPES: dict[str, tuple[int | str, ...]] = {
    "nodes": ("n", 3),  # m, from the root frame
    "shapes": ("n", 3, "m"),  # displacement of every node, 1
    "turns": ("n", 3, "m"),  # rotation of every node, rad/m
    "frames": ("k",),  # names
    "frame_positions": ("k", 3),  # m
    "frame_shapes": ("k", 3, "m"),
    "frame_turns": ("k", 3, "m"),
    "mass": (),  # kg
    "first": ("f", 3),  # int mu W_a, kg m; of modes, kg
    "second": ("f", "f", 3, 3),  # int mu W_a W_b^T
    "rotary": (3, 3),  # int J, kg m^2: what the second moments of field 0 leave of the inertia
    "rotary_first": ("f", 3),  # int J Theta_a
    "pair": ("f", "f"),  # int mu W_a . W_b + Theta_a^T J Theta_b
    "stiffness": ("m", "m"),  # N/m
    "forms": ("s", "m", "m"),  # S of each field of stiffening
    "frame_stiffening": ("k", "s", 3),  # displacement of the frames by these fields
    "triangles": ("t", 3),  # nodes of the skin
    "stress_points": ("p", 3),  # m
    "stress": ("p", 6, "m"),  # xx, yy, zz, yz, xz, xy of each mode, Pa/m
}  # fmt: skip
OPTIONAL = ("forms", "frame_stiffening", "triangles", "stress_points", "stress")
TEXT, WHOLE = ("frames",), ("triangles",)


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel:
    """Arrays of a reduced finite-element model, by the names in its .npz file; they cannot be written to."""

    nodes: Array
    shapes: Array
    turns: Array
    frames: tuple[str, ...]
    frame_positions: Array
    frame_shapes: Array
    frame_turns: Array
    mass: float
    first: Array
    second: Array
    rotary: Array
    rotary_first: Array
    pair: Array
    stiffness: Array
    forms: Array
    frame_stiffening: Array
    triangles: Array
    stress_points: Array
    stress: Array
    file: str = ""

    @classmethod
    def of(cls, part: str, given: Mapping[str, Any], file: str = "") -> ReducedModel:
        """From arrays by name, checked: their shapes agree, and their numbers are finite."""
        known: dict[str, int] = {}
        clean: dict[str, Any] = {name: _array(part, name, given, known) for name in SHAPES if name not in OPTIONAL}
        known["f"] = known.get("f", 0)
        known.setdefault("s", known["f"] - 1 - known["m"])
        clean |= {name: _array(part, name, given, known) for name in OPTIONAL}
        if known["f"] != 1 + known["m"] + known["s"]:
            rule = f"must have 1 + {known['m']} modes + {known['s']} fields of stiffening"
            raise ModelError.of(part, "first", rule, known["f"])
        model = cls(**{**clean, "frames": tuple(clean["frames"].tolist()), "mass": float(clean["mass"])}, file=file)
        model._check(part)
        return model

    @classmethod
    def read(cls, path: str | Path) -> ReducedModel:
        """From a .npz file."""
        part = f"ModalBody: {path}"
        try:
            with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
        except (OSError, ValueError, AttributeError, zipfile.BadZipFile, EOFError, zlib.error) as trouble:  # AttributeError: a .npy
            raise ModelError(f"{part}: cannot be read as a .npz file of a modal body: {trouble}") from None
        if (found := np.ravel(arrays.get("format", 0)).tolist()) != [FORMAT]:
            raise ModelError.of(part, "format", f"must be {FORMAT}", found[0] if found else None)
        return cls.of(part, arrays, str(path))

    def save(self, path: str | Path) -> None:
        """As a .npz file; the file appears complete or not at all."""
        with atomic_write(path) as draft, draft.open("wb") as opened:
            arrays: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in SHAPES}
            np.savez_compressed(opened, format=FORMAT, **arrays)

    def __fspath__(self) -> str:
        """The file it came from, as a model file names it."""
        if not self.file:
            raise ModelError(
                "ModalBody: must be saved before a model file can name it: body.save('arm.npz'), then ModalBody('arm.npz')"
            )
        return self.file

    def __repr__(self) -> str:
        return f"ReducedModel({len(self.nodes)} nodes, {self.modes} modes)"

    @property
    def modes(self) -> int:
        """How many shapes it has."""
        return int(self.shapes.shape[2])

    @cached_property
    def digest(self) -> str:
        """A hash of all arrays."""
        found = hashlib.sha256()
        for name in SHAPES:
            array = np.ascontiguousarray(getattr(self, name))
            found.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
        return found.hexdigest()

    def own_key(self) -> str:
        """What tells it from others: the digest of its arrays."""
        return self.digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReducedModel) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def _check(self, part: str) -> None:
        check.positive(part, "mass", self.mass, "kg")
        for name in self.frames:
            check.identifier(part, "frames", name)
        if len(set(self.frames)) < len(self.frames) or "root" in self.frames:
            raise ModelError.of(part, "frames", "must be different names, none of them root", list(self.frames))
        for name in ("stiffness", "pair"):
            own = getattr(self, name)
            worst = np.unravel_index(np.argmax(np.abs(own - own.T)), own.shape) if own.size else (0, 0)
            if own.size and abs(own - own.T)[worst] > 1e-9 * np.max(np.abs(own)):
                raise ModelError.of(part, f"{name}[{worst[0]}, {worst[1]}]", f"must equal {own.T[worst]}", float(own[worst]))
        modal = self.pair[1 : 1 + self.modes, 1 : 1 + self.modes]
        for name, matrix in (("modal mass", modal), ("stiffness", self.stiffness)):
            if matrix.size and np.min(np.linalg.eigvalsh(matrix)) <= 0.0:
                raise ModelError.of(part, name, "must be positive definite", float(np.linalg.eigvalsh(matrix)[0]))
        if self.triangles.size and not 0 <= self.triangles.min() <= self.triangles.max() < len(self.nodes):
            raise ModelError.of(part, "triangles", f"must name nodes 0 to {len(self.nodes) - 1}", int(self.triangles.max()))


def _array(part: str, name: str, given: Mapping[str, Any], known: dict[str, int]) -> Array:
    """An array of the shape that its name asks for; sizes met before are in `known`."""
    wanted = SHAPES[name]
    if name not in given:
        if name not in OPTIONAL:
            raise ModelError(f"{part}: must hold the array {name!r}, got {', '.join(given)}")
        given = {name: np.zeros([0 if known.get(str(n)) is None and isinstance(n, str) else known.get(str(n), n) for n in wanted])}
    array = np.array(given[name]) if name in TEXT else np.array(given[name], dtype=np.int64 if name in WHOLE else np.float64)
    fits = array.ndim == len(wanted) and all(
        size == (known.setdefault(n, size) if isinstance(n, str) else n) for n, size in zip(wanted, array.shape, strict=False)
    )
    if not fits:
        sizes = ", ".join(str(known.get(str(n), n)) for n in wanted)
        raise ModelError.of(part, name, f"must have the shape ({sizes})", array.shape)
    if name not in TEXT and not np.all(np.isfinite(array)):
        entry = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ModelError.of(part, f"{name}{list(entry)}", "must be a finite number", float(array[entry]))
    array.setflags(write=False)
    return array

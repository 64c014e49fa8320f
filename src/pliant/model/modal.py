"""The modal body: a flexible body of any shape, from the matrices of a finite-element model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.damping import Damping, ModalDamping, Rayleigh, checked_dampings
from pliant.model.frame import ROOT, TIP, Frame
from pliant.model.length import Length
from pliant.model.reduced import ReducedModel
from pliant.model.rigid import Payload

KINDS = (ModalDamping, Rayleigh)  # of damping


@dataclass(frozen=True)
class ModalBody:
    """A flexible body of any shape: a reduced finite-element model, made by `pl.modal_body` or read from its .npz file.

    Its frame rides on the root interface, in the axes of the mesh; modes displace its nodes. `at` takes the number of a node or the
    name of a frame; stations of `Frame` count nodes from 0, and named frames from -1 downwards.
    """

    model: ReducedModel
    damping: Sequence[Damping] | Damping = ()
    payload: Payload | None = None

    def __post_init__(self) -> None:
        part = "ModalBody"
        if isinstance(self.model, (str, Path)):
            object.__setattr__(self, "model", ReducedModel.read(self.model))
        check.instance(part, "model", self.model, ReducedModel, "made by pl.modal_body, or the path of a .npz file")
        object.__setattr__(self, "damping", checked_dampings(part, self.damping, KINDS, self.model.modes))
        if self.payload is not None:
            check.instance(part, "payload", self.payload, Payload, "a Payload")

    def save(self, path: str | Path) -> None:
        """Write the reduced model as a .npz file, which `ModalBody(path)` reads; damping and payload are not part of it."""
        self.model.save(path)

    @property
    def structure(self) -> tuple[object, ...]:
        """The properties that determine the code of the equations; the numbers in that code come from the body's integrals."""
        return self.mode_labels, len(self.model.forms)

    @property
    def dampings(self) -> tuple[Damping, ...]:
        """The kinds of damping, also if one was given alone."""
        return tuple(self.damping)  # type: ignore[arg-type]

    @property
    def mode_labels(self) -> tuple[str, ...]:
        return tuple(f"mode{k + 1}" for k in range(self.model.modes))

    @property
    def mass(self) -> float:
        """Without the payload, kg."""
        return self.model.mass

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies with the root clamped and everything else free, Hz."""
        from scipy.linalg import eigh

        modal = self.model.pair[1 : 1 + self.model.modes, 1 : 1 + self.model.modes]
        squares = eigh(self.model.stiffness, modal, eigvals_only=True)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi))

    @property
    def lengths(self) -> dict[str, Length]:
        return {}

    @property
    def as_published(self) -> bool:
        return False

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        return self

    def places(self, name: str) -> dict[str, Frame]:
        named = {frame: Frame(name, -1.0 - k) for k, frame in enumerate(self.model.frames)}
        return {ROOT: Frame(name), TIP: named.pop(TIP, None) or Frame(name, float(self._farthest)), **named}

    def at(self, name: str, place: Any) -> Frame:
        """The frame at a node, by its number."""
        self.check_station(f"body {name!r}", "node", place)
        return Frame(name, float(place))

    def check_station(self, part: str, label: str, station: float | None) -> None:
        check.structural(part, label, station)
        count, named = len(self.model.nodes), len(self.model.frames)
        if station is not None and (isinstance(station, bool) or not -named <= station < count or station != int(station)):
            raise ModelError.of(part, label, f"must be the number of a node, 0 to {count - 1}", station)

    def named_station(self, station: float) -> str:
        """A station in words."""
        return f"node {station:g}" if station >= 0 else self.model.frames[-1 - int(station)]

    def fields_at(self, station: float) -> tuple[Any, Any]:
        """(W_a, Theta_a) of all fields at a node or a named frame: (fields, 3) each."""
        k, model = int(station), self.model
        if k >= 0:
            rest, moves, turns, bent = model.nodes[k], model.shapes[k].T, model.turns[k].T, np.zeros((len(model.forms), 3))
        else:
            k = -1 - k
            rest, moves, turns = model.frame_positions[k], model.frame_shapes[k].T, model.frame_turns[k].T
            bent = model.frame_stiffening[k] if len(model.forms) else np.zeros((0, 3))
        return np.concatenate([rest[None], moves, bent]), np.concatenate([np.zeros((1, 3)), turns, np.zeros_like(bent)])

    @property
    def _farthest(self) -> int:
        """The node farthest from the root."""
        return int(np.argmax(np.sum(self.model.nodes**2, axis=1)))

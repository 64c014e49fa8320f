"""A modal body in the dynamics: fields of constant integrals, as those of a beam."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.body import BeamBody, Fields
from pliant.dynamics.equal_numbers import EqualNumbers
from pliant.model.damping import ModalDamping, Rayleigh
from pliant.model.modal import ModalBody


def modal_dynamics(body: ModalBody) -> BeamBody:
    """The body of a reduced finite-element model."""
    model, merge = body.model, EqualNumbers().merged
    fields = Fields(
        mass=merge(model.mass),
        first=merge(model.first),
        second=merge(model.second),
        rotary=merge(model.rotary),
        rotary_first=merge(model.rotary_first),
        pair=merge(model.pair),
    )
    merge = EqualNumbers().merged  # stiffnesses are unrelated to masses
    dampings = tuple((kind, merge(matrix)) for kind, matrix in _dampings(body).items())
    return BeamBody(fields, model.modes, merge(model.stiffness), dampings, forms=EqualNumbers().merged(model.forms))


def _dampings(body: ModalBody) -> dict[str, Floats]:
    """Matrices of the modal rates; the shapes are orthogonal, so that each has its own damping ratio."""
    model, found = body.model, dict[str, Any]()
    mass = model.pair[1 : 1 + model.modes, 1 : 1 + model.modes]
    for damping in body.dampings:
        if isinstance(damping, Rayleigh):
            found["rayleigh"] = damping.alpha * mass + damping.beta * model.stiffness
        elif isinstance(damping, ModalDamping):
            critical = 2.0 * np.sqrt(np.diag(model.stiffness) * np.diag(mass))
            found["modal"] = np.diag(np.array(damping.ratios, dtype=np.float64) * critical)
    return found

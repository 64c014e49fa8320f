"""Damping matrices over the modal coordinates, one per kind: the generalized force is -D q'."""

from __future__ import annotations

import numpy as np

from pliant.arrays import Floats
from pliant.beams.eigen import natural
from pliant.beams.quadrature import absorbed, gram, nodes
from pliant.beams.shapes import Shapes
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.damping import AirDrag, Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh, RayleighRatios


def damping_matrices(beam: Beam, shapes: Shapes, mass: Floats, stiffness: Floats) -> dict[str, Floats]:
    """The beam's damping matrices by kind: kelvin_voigt, air, rayleigh (the sum of both Rayleigh kinds), modal.

    Drag on the whole motion is not among them: see `fields.drag_integrals`.
    """
    result: dict[str, Floats] = {}
    for damping in beam.dampings:
        if isinstance(damping, MotionDrag):
            continue
        name, matrix = _matrix(damping, beam, shapes, mass, stiffness)
        result[name] = result[name] + matrix if name in result else matrix
    return result


def _matrix(damping: Damping, beam: Beam, shapes: Shapes, mass: Floats, stiffness: Floats) -> tuple[str, Floats]:
    if isinstance(damping, KelvinVoigt):
        return "kelvin_voigt", _kelvin_voigt(damping, beam, shapes)
    if isinstance(damping, AirDrag):
        return "air", _air(damping, shapes)
    if isinstance(damping, Rayleigh):
        return "rayleigh", damping.alpha * mass + damping.beta * stiffness
    if isinstance(damping, RayleighRatios):
        alpha, beta = rayleigh_from_ratios(damping, natural(mass, stiffness)[0])
        return "rayleigh", alpha * mass + beta * stiffness
    assert isinstance(damping, ModalDamping)  # the last kind
    return "modal", _modal(damping, shapes, mass, stiffness)


def _kelvin_voigt(damping: KelvinVoigt, beam: Beam, shapes: Shapes) -> Floats:
    """int Kv (Iz Wy'' Wy'' + Iy Wz'' Wz'') (Yousefzadeh and Shafei 2024, eq. 11)."""
    x, weight = nodes(shapes.panels)
    bend = shapes.displacement(x, 2)
    section = beam.along(x).section
    (over_y, iz), (over_z, iy) = (absorbed(weight, 0.0 if second is None else second) for second in (section.Iz, section.Iy))
    in_y = iz * gram(over_y, bend[:, 1], round_off=shapes.round_off)
    in_z = iy * gram(over_z, bend[:, 2], round_off=shapes.round_off)
    return damping.coefficient * (in_y + in_z)


def _air(damping: AirDrag, shapes: Shapes) -> Floats:
    """int gamma (Wy Wy + Wz Wz) (same paper, eq. 11)."""
    x, weight = nodes(shapes.panels)
    moves = shapes.displacement(x)
    in_y, in_z = (gram(weight, moves[:, axis], round_off=shapes.round_off) for axis in (1, 2))
    return damping.coefficient * (in_y + in_z)


def rayleigh_from_ratios(damping: RayleighRatios, own: Floats) -> tuple[float, float]:
    """alpha = 2 w1 w2 (xi1 w2 - xi2 w1) / (w2^2 - w1^2), beta = 2 (xi2 w2 - xi1 w1) / (w2^2 - w1^2).

    Ebrahimi, Nouri, Salahshoor, eq. 18, 19. `own`: the body's frequencies, to which the rule applies if none are given.
    """
    low, high = damping.frequencies if damping.frequencies is not None else _two_frequencies(damping, own)
    first, second = damping.ratios
    scale = 2.0 / (high**2 - low**2)
    return scale * low * high * (first * high - second * low), scale * (second * high - first * low)


def _two_frequencies(damping: RayleighRatios, own: Floats) -> tuple[float, float]:
    needed = 2 if damping.rule == "first_two" else 3
    if len(own) < needed:
        raise ModelError(
            f"RayleighRatios: rule {damping.rule!r} needs at least {needed} modes (or give frequencies), got {len(own)}"
        )
    split = 2 if damping.rule == "low2_high1" else 1
    low = float(np.mean(own[:split]))
    high = float(own[1] if damping.rule == "first_two" else np.mean(own[split:]))
    if not high > low * (1.0 + 1e-9):
        raise ModelError(f"RayleighRatios: rule {damping.rule!r} needs two different frequencies, got {low!r} rad/s twice")
    return low, high


def _modal(damping: ModalDamping, shapes: Shapes, mass: Floats, stiffness: Floats) -> Floats:
    """M Phi diag(2 xi w) Phi^T M for each mode set separately, so that each ratio belongs to the mode at its position."""
    ratios = np.array(damping.ratios, dtype=np.float64)
    if ratios.ndim == 0:
        ratios = np.full(shapes.count, float(ratios))
    if len(ratios) != shapes.count:
        raise ModelError.of("ModalDamping", "ratios", f"must hold {shapes.count} numbers, one per mode", damping.ratios)
    result = np.zeros_like(mass)
    directions = np.array(shapes.directions)
    for direction in dict.fromkeys(shapes.directions):
        block = np.ix_(*2 * [np.flatnonzero(directions == direction)])
        frequencies, vectors = natural(mass[block], stiffness[block])
        carried = mass[block] @ vectors
        result[block] = carried * (2.0 * ratios[directions == direction] * frequencies) @ carried.T
    return result

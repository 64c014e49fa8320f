"""Integrals of a telescopic link: its unit shapes over xi = 0 ... 1, to be scaled by powers of the free length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.beams.quadrature import nodes
from pliant.beams.ritz import rigidities
from pliant.beams.shapes import beam_shapes
from pliant.model.beam import Beam
from pliant.model.telescopic import TelescopicBeam

KINDS = 3  # fields of a mode: f, f'(1 - xi), f''(1 - xi)^2


@dataclass(frozen=True)
class UnitShapes:
    """Shapes f_j(xi) of the free part, with the fields that arise when the free length changes.

    Fields are numbered KINDS j + kind.
    """

    directions: tuple[str, ...]  # y, z, axial, torsion; one per mode
    zeroth: Sequence[float]  # of the fields, int F
    weighted: Sequence[float]  # of the fields, int xi F
    gram: Sequence[Sequence[float]]  # of pairs of fields, int F G
    tip: Sequence[float]  # of the modes, f(1)
    tip_slope: Sequence[float]  # of the modes, f'(1)
    root_slope: Sequence[float]  # of the modes, f'(0), nonzero for stretch and twist, which begin at the sleeve's mouth
    stiffness: Sequence[Sequence[float]]  # of pairs of modes, E I int f'' f'', E A int f' f' or G J int f' f'
    bending: Sequence[Sequence[float]]  # of pairs of modes, I int f'' f'' of the bending modes, for Kelvin-Voigt


def unit_shapes(link: TelescopicBeam) -> UnitShapes:
    """The modes of a cantilever of unit length, and their integrals."""
    unit = unit_beam(link)
    shapes = beam_shapes(unit)
    xi, weight = nodes(np.unique(np.concatenate([shapes.panels, np.linspace(0.0, 1.0, 5)])))
    values = [_values(column, xi) for column in shapes.columns]
    fields = np.stack([v for f, df, ddf in values for v in (f, df * (1.0 - xi), ddf * (1.0 - xi) ** 2)], axis=1)
    roots, ends = ([_values(column, np.array([x])) for column in shapes.columns] for x in (0.0, 1.0))
    bends = np.array([direction in ("y", "z") for direction in shapes.directions])
    stiffness, bending = _stiffness(link, shapes.directions, values, weight)
    return UnitShapes(
        directions=shapes.directions,
        zeroth=(weight @ fields).tolist(),
        weighted=((weight * xi) @ fields).tolist(),
        gram=(fields.T @ (fields * weight[:, None])).tolist(),
        tip=[float(f[0]) for f, _, _ in ends],
        tip_slope=[float(df[0]) for _, df, _ in ends],
        root_slope=np.where(bends, 0.0, np.array([df[0] for _, df, _ in roots])).tolist(),
        stiffness=stiffness.tolist(),
        bending=bending.tolist(),
    )


def unit_beam(link: TelescopicBeam) -> Beam:
    """A cantilever of length one with the link's mode sets: Euler-Bernoulli shapes depend on no scale except their length."""
    turning = max(link.twisting, 1.0)
    return Beam(length=1.0, section=link.section, material=link.material, theory="euler-bernoulli",
                modes=link.mode_sets, mass_per_length=link.mu, rotary_inertia=(turning, 0.0, 0.0))  # fmt: skip


def _values(column: object, xi: Floats) -> tuple[Floats, Floats, Floats]:
    """f, f', f'' of one mode."""
    shape = column.shape  # type: ignore[attr-defined]
    of = shape.w if hasattr(shape, "w") else shape.u
    return of(xi, 0), of(xi, 1), of(xi, 2)


def _stiffness(
    link: TelescopicBeam, directions: tuple[str, ...], values: list[tuple[Floats, Floats, Floats]], weight: Floats
) -> tuple[Floats, Floats]:
    rigidity, count = rigidities(link), len(directions)
    stiffness, bending = np.zeros((count, count)), np.zeros((count, count))
    for j in range(count):
        for k in range(count):
            if directions[j] != directions[k]:
                continue
            order = 2 if directions[j] in ("y", "z") else 1
            product = float(weight @ (values[j][order] * values[k][order]))
            size = np.sqrt((weight @ values[j][order] ** 2) * (weight @ values[k][order] ** 2))
            product = product if abs(product) > 1e-13 * size else 0.0  # remove the round-off of orthogonal pairs
            stiffness[j, k] = rigidity[directions[j]] * product
            if order == 2:
                bending[j, k] = rigidity[directions[j]] / link.material.E * product
    return stiffness, bending

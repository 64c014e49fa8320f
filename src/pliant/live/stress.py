"""Stresses of beams as the page computes them: from the curvature of the modes, which is linear in their coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.analysis.section_curvature import stiffness
from pliant.analysis.stresses import POINTS, SectionLoad, on_rim
from pliant.arrays import Floats, Truths
from pliant.dynamics.tree import Tree
from pliant.model.beam import Beam
from pliant.model.outline import RectangleOutline, RingOutline
from pliant.model.section import Section
from pliant.results.drawing import BodyDrawing

LOADS = 6  # axial force, shear forces, torsion, bending moments
ROUND = 24  # points of a rim at which the page looks for the largest stress: at most 0.9 % less than it
DIGITS = 7
UNIT = SectionLoad(*np.eye(LOADS)[:, :, None])  # every load alone


def stresses_of(tree: Tree, bodies: Sequence[BodyDrawing], place_of: Callable[[str], int]) -> dict[str, Any]:
    """By the number of the drawn body: places of its modal coordinates; for every drawn point the loads of each mode; for every
    point of the outline the normal stress and the shear stresses of each load. Beams without an outline are left out."""
    found = {}
    for number, drawn in enumerate(bodies):
        node = next((node for node in tree.nodes if node.name == drawn.name), None)
        beam = None if node is None else node.link.body
        if node is None or not isinstance(beam, Beam) or beam.tip_section is not None:
            continue
        outline = _outline_points(beam.section)
        shapes = tree.bodies[node.name].shapes
        if outline is None or shapes is None or not shapes.count:
            continue
        fractions = np.clip(drawn.rest[:, 0] / beam.length, 0.0, 1.0)
        loads = _loads(beam, shapes, fractions)
        active = np.any(loads != 0.0, axis=(0, 1))
        places = [place_of(tree.positions[k]) for k in node.own_q]
        found[str(number)] = {"places": places, "loads": _plain(loads), "points": _plain(_distinct(outline, active))}
    return found


def _loads(beam: Beam, shapes: Any, fractions: Floats) -> Floats:
    """(point, mode, load): section forces of every mode at unit weight; those that modes do not determine count as zero."""
    x = fractions * beam.length
    stretch, slip, bend = shapes.displacement(x, 1), shapes.shear_strain(x), shapes.rotation(x, 1)
    strain = np.stack([stretch[:, 0], slip[:, 1], slip[:, 2]], axis=1)
    force, moment = (np.nan_to_num(stiff) for stiff in stiffness(beam, fractions))
    return np.concatenate([strain * force[:, :, None], bend * moment[:, :, None]], axis=1).transpose(0, 2, 1)


def _outline_points(section: Section) -> Floats | None:
    """(point, stress, load); None without an outline whose stresses are linear in the loads."""
    outline = section.outline
    if isinstance(outline, RectangleOutline):
        points = list(POINTS[RectangleOutline](section, outline, UNIT))
    elif isinstance(outline, RingOutline):
        points = [on_rim(section, outline, UNIT, 2.0 * math.pi * k / ROUND) for k in range(ROUND)]
    else:
        return None
    return np.array([[np.broadcast_to(x, (LOADS, 1))[:, 0] for x in (p.normal, p.shear_y, p.shear_z)] for p in points])


def _distinct(points: Floats, active: Truths) -> Floats:
    """Points whose stresses differ under the loads that there are."""
    rounded = np.round(points * active / np.max(np.abs(points)), 12)
    _, first = np.unique(rounded.reshape(len(points), -1), axis=0, return_index=True)
    return points[np.sort(first)] * active


def _plain(array: Floats) -> list[Any]:
    scale = np.vectorize(lambda x: float(f"{x:.{DIGITS}g}"), otypes=[float])
    return scale(array).tolist() if array.size else []

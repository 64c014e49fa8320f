"""Beam theory: characteristic equations, mode shapes, shape integrals."""

from pliant.beams.fields import FieldIntegrals, drag_integrals, field_integrals, field_values
from pliant.beams.integrals import ShapeIntegrals, shape_integrals
from pliant.beams.shapes import Shapes, beam_shapes

__all__ = [
    "FieldIntegrals", "ShapeIntegrals", "Shapes", "beam_shapes", "drag_integrals", "field_integrals", "field_values",
    "shape_integrals",
]  # fmt: skip

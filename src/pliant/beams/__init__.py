"""Beam theory: frequencies, mode shapes and shape integrals of uniform beams (NumPy; SciPy only for tables)."""

from pliant.beams.integrals import ShapeIntegrals, shape_integrals
from pliant.beams.shapes import Shapes, beam_shapes

__all__ = ["ShapeIntegrals", "Shapes", "beam_shapes", "shape_integrals"]

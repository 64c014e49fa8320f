"""Finite-element bodies: matrices of a mesh, reduced to a few modes with all integrals of the floating frame."""

from pliant.fem.body import modal_body as modal_body
from pliant.fem.elements import FiniteElements as FiniteElements

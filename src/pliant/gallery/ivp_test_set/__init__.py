"""Mechanisms of the Test Set for IVP Solvers (Mazzia, Magherini): Andrews' squeezer, Simeon's flexible slider-crank."""

from pliant.gallery.ivp_test_set.slider_crank import flexible_slider_crank
from pliant.gallery.ivp_test_set.squeezer import andrews_squeezer

__all__ = ["andrews_squeezer", "flexible_slider_crank"]

"""Slider-cranks with clearance: Flores, Ambrosio, Claro, Lankarani; Flores, Leine, Glocker."""

from pliant.gallery.clearance.system import guided_slider_crank, slider_crank

__all__ = ["guided_slider_crank", "slider_crank"]

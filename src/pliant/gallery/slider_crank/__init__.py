"""The flexible slider-crank under impact: Ebrahimi, Nouri, Salahshoor."""

from pliant.gallery.slider_crank.system import slider_crank

__all__ = ["slider_crank"]

"""Elastic links with revolute-prismatic joints: Korayem, Shafei, Dehkordi."""

from pliant.gallery.telescopic_arm.system import telescopic_arm

__all__ = ["telescopic_arm"]

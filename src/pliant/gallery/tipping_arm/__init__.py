"""The flexible arm tipping against a wall: Wang, Yan, Fang, Jin 2012."""

from pliant.gallery.tipping_arm.system import tipping_arm

__all__ = ["tipping_arm"]

"""The planar 3RRR robot: Raoofian, Taghvaeipour, Kamali 2017."""

from pliant.gallery.parallel_robot.system import parallel_robot

__all__ = ["parallel_robot"]

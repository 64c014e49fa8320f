"""Pictures of results: plots, animations and an interactive page."""

from pliant.show import animation, player, plot

__all__ = ["animation", "player", "plot"]

"""Pictures of what came out: plots, films, and a page that plays."""

from pliant.show import animation, player, plot

__all__ = ["animation", "player", "plot"]

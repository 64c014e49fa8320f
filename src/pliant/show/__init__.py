"""Pictures of what came out."""

from pliant.show import plot

__all__ = ["plot"]

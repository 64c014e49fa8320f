"""The falling elastic chain: Yousefzadeh and Shafei 2024."""

from pliant.gallery.falling_chain.system import falling_chain

__all__ = ["falling_chain"]

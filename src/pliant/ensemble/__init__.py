"""Ensembles: many members of one structure in one call, by the general loop, side by side in vectors, or on a GPU."""

"""Sweeps: which cases, which results are kept, where they are computed and stored."""

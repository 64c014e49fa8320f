"""Sensitivities along the tape of a run."""

"""Derivatives of a whole run, through its events."""

"""What can go wrong, in words: every message names the part, the field, the rule and the value."""

from __future__ import annotations


class PliantError(Exception):
    """The root of all errors that pliant raises on purpose."""


class ModelError(PliantError, ValueError):
    """A described mechanism, method or file breaks a rule; raised before anything runs."""

    @classmethod
    def of(cls, part: str, field: str, rule: str, value: object) -> ModelError:
        return cls(f"{part}: {field} {rule}, got {value!r}")


class SolveError(PliantError, RuntimeError):
    """A run could not begin or go on; the message says when and why."""

"""What can go wrong, in words: every message names the part, the field, the rule and the value."""

from __future__ import annotations

import re

LONGEST_VALUE = 500  # characters of a value in a message

# What a terminal would obey or a reader would not see: control characters, line separators, marks that turn the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """A text that may come from a file, safe to print: control characters as escapes; ends of lines and tabs stay."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class PliantError(Exception):
    """The root of all errors that pliant raises on purpose."""


class ModelError(PliantError, ValueError):
    """A described mechanism, method or file breaks a rule; raised before anything runs."""

    @classmethod
    def of(cls, part: str, field: str, rule: str, value: object) -> ModelError:
        shown = repr(value)
        cut = shown if len(shown) <= LONGEST_VALUE else f"{shown[:LONGEST_VALUE]} ..."
        return cls(plain(f"{part}: {field} {rule}, got {cut}"))


class SolveError(PliantError, RuntimeError):
    """A run could not begin or go on; the message says when and why."""


class StepError(SolveError):
    """A run that goes step by step could not get to the end of a step; what was computed until `t`, s, stays with the run."""

    def __init__(self, message: str, t: float) -> None:
        super().__init__(message)
        self.t = t

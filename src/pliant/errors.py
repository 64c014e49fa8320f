"""The exceptions of pliant. Every message names the part, the field, the rule and the value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Self

LONGEST_VALUE = 500  # longest value in a message, characters

# Characters that a terminal would interpret or a reader would not see: control characters, line separators, text-direction marks.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text with control characters escaped, so that text from files is safe to print; newlines and tabs stay."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A hint at the known name that is spelled most like a word, or an empty string."""
    names = {str(name).lower(): name for name in known}
    close = get_close_matches(str(word).lower(), names, n=1)
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


class PliantError(Exception):
    """The base class of all errors that pliant raises on purpose."""


class ModelError(PliantError, ValueError):
    """A mechanism, method or file that breaks a rule; raised before anything runs."""

    @classmethod
    def of(cls, part: str, field: str, rule: str, value: object) -> Self:
        """The error of a part whose field breaks a rule with this value."""
        shown = repr(value)
        cut = shown if len(shown) <= LONGEST_VALUE else f"{shown[:LONGEST_VALUE]} ..."
        return cls(plain(f"{part}: {field} {rule}, got {cut}"))


class UnknownNameError(ModelError, KeyError):
    """A name by which nothing can be read; the message gives the nearest names."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class SolveError(PliantError, RuntimeError):
    """A run that cannot start or continue; the message says when and why."""


class NotClosed(SolveError):
    """Closed loops that do not close at the start."""


class StepError(SolveError):
    """A step of a stepped run that cannot be completed; the run keeps what was computed up to the time `t`, s."""

    def __init__(self, message: str, t: float) -> None:
        super().__init__(message)
        self.t = t

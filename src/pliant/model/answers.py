"""Questions to parts of a model that layers above answer: the function that answers registers itself under the question's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_ANSWERS: dict[str, Callable[..., Any]] = {}


def answers(question: str) -> Callable[[Function], Function]:
    """Register a function as the answer to a question."""

    def register(function: Function) -> Function:
        _ANSWERS[question] = function
        return function

    return register


def answer(question: str, *given: Any, **options: Any) -> Any:
    return _ANSWERS[question](*given, **options)

"""Questions to parts and results that layers above answer: the function that answers registers itself under the question's name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
# Where the answers are, which are imported when they are first asked for; the layers below know their names only
ANSWERED_IN = {
    "inverse dynamics": "pliant.run.inverse",
    "jacobian": "pliant.analysis.frame_jacobian",
    "integrals": "pliant.beams.gibbs_appell",
    "page": "pliant.show.player",
}
_ANSWERS: dict[str, Callable[..., Any]] = {}


def answers(question: str) -> Callable[[Function], Function]:
    """Register a function as the answer to a question."""

    def register(function: Function) -> Function:
        _ANSWERS[question] = function
        return function

    return register


def answer(question: str, *given: Any, **options: Any) -> Any:
    if question not in _ANSWERS:
        import_module(ANSWERED_IN[question])
    return _ANSWERS[question](*given, **options)

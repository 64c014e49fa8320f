"""What executors compute, item by item: the cases of a sweep, the experiments of a fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Stopping = Callable[[], bool]


class Stopped(Exception):
    """An item was abandoned because the work is being stopped."""


class Work(Protocol):
    """Work that can be sent to other processes."""

    part: str  # whose it is: errors begin with it

    @property
    def title(self) -> str:
        """What it runs."""

    def compute(self, item: Any, stopping: Stopping | None = None) -> Any:
        """The outcome of an item; its own errors are among its outcomes, errors of the machine are raised."""

    def lost(self, item: Any, why: str) -> Any:
        """The outcome of an item whose worker is lost every time."""

    def content(self, item: Any) -> str:
        """The content of what an item is about: the work that arrives in another process must have the same."""

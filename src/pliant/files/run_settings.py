"""How a model file asks to be run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pliant.errors import ModelError
from pliant.model import check

STEPS: Literal["steps"] = "steps"  # save every step


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What `simulate` takes besides the system."""

    t_end: float  # s
    method: Any = None  # one of pliant.integrate.methods; None is simulate's own default
    save: float | tuple[float, ...] | str | None = None  # an interval in s, the times in s, the word steps; 1001 rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "t_end", check.positive("run", "t_end", self.t_end, "s"))
        object.__setattr__(self, "save", _checked_save(self.save, self.t_end))

    def __str__(self) -> str:
        if isinstance(self.save, tuple):
            saved = f"{len(self.save)} times from {self.save[0]:g} to {self.save[-1]:g} s"
        else:
            saved = {STEPS: "every step", None: "1001 rows"}.get(self.save) or f"every {self.save:g} s"  # type: ignore[arg-type]
        return f"run to t = {self.t_end:g} s with {self.method or 'the default method'}, saving {saved}"


def method_classes() -> dict[str, type]:
    """The integration methods by the name a file uses."""
    from pliant.files.vocabulary import word
    from pliant.integrate.methods import METHODS

    return {word(kind): kind for kind in METHODS}


def _checked_save(value: Any, t_end: float) -> float | tuple[float, ...] | str | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value != STEPS:
            raise ModelError.of("run", "save", f"must be an interval in s, a list of times or the word {STEPS}", value)
        return value
    if not isinstance(value, (tuple, list)):
        return check.positive("run", "save", value, "s")
    times = tuple(check.number("run", f"save[{k}]", t, "s") for k, t in enumerate(value))
    if not times:
        raise ModelError.of("run", "save", "must hold at least one time", value)
    check.increasing("run", "save", times)
    if times[0] < 0.0 or times[-1] > t_end:
        raise ModelError.of("run", "save", f"must lie in [0, {t_end!r}] s", (times[0], times[-1]))
    return times

"""The run settings of a model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pliant.errors import ModelError
from pliant.model import check
from pliant.results.kept import checked_names

STEPS: Literal["steps"] = "steps"  # save every step


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The arguments of `simulate` besides the system."""

    t_end: float  # s
    method: Any = None  # one of pliant.integrate.methods.method; None: the default of simulate
    save: float | tuple[float, ...] | str | None = None  # interval in s, times in s, or "steps"; None: 1001 rows
    t_start: float = 0.0  # s
    formulation: str = "articulated"
    max_steps: int | None = None
    max_seconds: float | None = None  # s, limit of the computing time
    keep: tuple[str, ...] | None = None  # quantities that are saved; None: all

    def __post_init__(self) -> None:
        object.__setattr__(self, "t_start", check.number("run", "t_start", self.t_start, "s"))
        t_end = check.number("run", "t_end", self.t_end, "s")
        if not t_end > self.t_start:
            rule = "must be > 0 s" if self.t_start == 0.0 else f"must be > t_start = {self.t_start!r} s"
            raise ModelError.of("run", "t_end", rule, t_end)
        object.__setattr__(self, "t_end", t_end)
        object.__setattr__(self, "save", _checked_save(self.save, self.t_start, self.t_end))
        if self.max_steps is not None:
            check.count("run", "max_steps", self.max_steps)
        if self.max_seconds is not None:
            object.__setattr__(self, "max_seconds", check.positive("run", "max_seconds", self.max_seconds, "s"))

        if self.keep is not None:
            object.__setattr__(self, "keep", checked_names("run", "keep", self.keep))

    @property
    def options(self) -> dict[str, Any]:
        """The settings as keyword arguments of simulate, without t_end."""
        names = ("method", "save", "t_start", "formulation", "max_steps", "max_seconds")
        options = {name: getattr(self, name) for name in names}
        return options if self.keep is None else {**options, "keep": self.keep}

    def __str__(self) -> str:
        if isinstance(self.save, tuple):
            saved = f"{len(self.save)} times from {self.save[0]:g} to {self.save[-1]:g} s"
        else:
            saved = {STEPS: "every step", None: "1001 rows"}.get(self.save) or f"every {self.save:g} s"  # type: ignore[arg-type]
        kept = "" if self.keep is None else f" of {', '.join(self.keep) or 'time alone'}"
        begin = f"from t = {self.t_start:g} s " if self.t_start else ""
        return f"run {begin}to t = {self.t_end:g} s with {self.method or 'the default method'}, saving {saved}{kept}"


def _checked_save(value: Any, t_start: float, t_end: float) -> float | tuple[float, ...] | str | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value != STEPS:
            raise ModelError.of("run", "save", f"must be an interval in s, a list of times in s, or {STEPS}", value)
        return value
    if not isinstance(value, (tuple, list)):
        return check.positive("run", "save", value, "s")
    times = tuple(check.number("run", f"save[{k}]", t, "s") for k, t in enumerate(value))
    if not times:
        raise ModelError.of("run", "save", "must contain at least one time", value)
    check.increasing("run", "save", times)
    if times[0] < t_start or times[-1] > t_end:
        raise ModelError.of("run", "save", f"must lie in [{t_start:g}, {t_end!r}] s", (times[0], times[-1]))
    return times

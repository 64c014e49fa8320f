"""Unknowns of one experiment, beside the parameters that all experiments of a fit share."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import ModelError
from pliant.model import check

PARAMETERS, STARTS, RATES = "parameters", "starts", "rates"  # of theta, in this order


@dataclass(frozen=True)
class Unknown:
    """A parameter or an initial value that a fit finds for one experiment."""

    guess: float  # the value with which the search begins, in SI
    low: float | None = None  # smallest value; None: that of the parameter, if it has one
    high: float | None = None  # largest value, likewise

    def __post_init__(self) -> None:
        for name in ("guess", "low", "high"):
            value = getattr(self, name)
            if value is not None or name == "guess":
                object.__setattr__(self, name, check.number("Unknown", name, value))
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ModelError.of("Unknown", "low", f"must be < high = {self.high:g}", self.low)
        if not (self.low is None or self.low <= self.guess) or not (self.high is None or self.guess <= self.high):
            raise ModelError.of("Unknown", "guess", "must lie within its bounds", self.guess)


@dataclass(frozen=True)
class OwnUnknown:
    """An unknown with its place: which number of which experiment it is."""

    kind: str  # PARAMETERS, STARTS or RATES
    name: str  # of the parameter or the coordinate
    experiment: str
    unknown: Unknown
    unit: str = ""

    @property
    def own(self) -> str:
        """Its name among those of its experiment's run."""
        return f"rate of {self.name}" if self.kind == RATES else self.name

    @property
    def title(self) -> str:
        """Its name among the values of a fit."""
        return f"{self.own} [{self.experiment}]"

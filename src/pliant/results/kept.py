"""The quantities that a run kept; reading another one is refused by name, and never gives nan."""

from __future__ import annotations

from collections.abc import Iterable

from pliant.arrays import Floats
from pliant.errors import ModelError, UnknownNameError, did_you_mean
from pliant.results.table import QUANTITIES

LEVELS = range(10)  # of zlib


class KeptValues(dict[str, Floats]):
    """Arrays by the names of the table, of the quantities that were kept."""

    def __missing__(self, name: str) -> Floats:
        if name not in QUANTITIES:
            rule = f"must be one of {', '.join(QUANTITIES)}{did_you_mean(name, QUANTITIES)}"
            raise UnknownNameError.of("result", "quantity", rule, name)
        raise UnknownNameError.of(
            "result", f"quantity {name!r}", "must be kept by the run to be read (name it in keep=)", list(self)
        )


def checked_names(part: str, field: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names of quantities in the order of the table, each once."""
    if isinstance(names, str):
        raise ModelError.of(part, field, f"must be a list of quantities, as in [{names!r}]", names)
    if not isinstance(names, Iterable):
        raise ModelError.of(part, field, "must be a list of quantities", names)
    given = list(names)
    for name in given:
        if not isinstance(name, str) or (name not in QUANTITIES and name != "time"):
            raise ModelError.of(part, field, f"must be among {', '.join(QUANTITIES)}{did_you_mean(str(name), QUANTITIES)}", name)
    return tuple(name for name in QUANTITIES if name in given)


def check_of_bodies(part: str, quantity: str) -> None:
    """Refuse what is no quantity of bodies."""
    checked_names(part, "quantity", [quantity])
    if QUANTITIES[quantity].dims[:1] != ("body",):
        known = [name for name, of in QUANTITIES.items() if of.dims[:1] == ("body",)]
        raise ModelError.of(part, "quantity", f"must be one of bodies: {', '.join(known)}", quantity)


def check_level(part: str, compression: int | None) -> int:
    level = 0 if compression is None else compression
    if isinstance(level, bool) or not isinstance(level, int) or level not in LEVELS:
        raise ModelError.of(part, "compression", "must be a compression level, 0 to 9", compression)
    return level

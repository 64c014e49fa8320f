"""Output names resolved to quantities of a result: whole quantities, parts of them, or single coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.results import components
from pliant.results.table import QUANTITIES

NOT_OBSERVED = ("work",)  # integrated along a run, so not a function of the state
OBSERVED = tuple(name for name in QUANTITIES if name not in NOT_OBSERVED)


def component_names(labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """For the name of every number that is a function of the state: its quantity and its index there."""
    return components.component_names(OBSERVED, labels)


def selected(part: str, outputs: Sequence[str], labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """The numbers that names select: "tip_position", "tip_position arm", "tip_position arm y", or a coordinate, "arm.angle"."""
    every = component_names(labels)
    chosen: dict[str, tuple[str, int]] = {}
    for wanted in [outputs] if isinstance(outputs, str) else outputs:
        if wanted in labels["coordinate"]:
            chosen[wanted] = every[f"q {wanted}"]
            continue
        hits = components.components_of(wanted, OBSERVED, labels)
        if not hits:
            known = [*OBSERVED, *labels["coordinate"], *every]
            rule = f"must name quantities, such as 'tip_position arm y' or 'arm.angle'{did_you_mean(wanted, known)}"
            raise ModelError.of(part, "outputs", rule, wanted)
        chosen |= hits
    return chosen

"""Friction of contacts and joints over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ModelError, did_you_mean
from pliant.results.result import Result
from pliant.show.plot.style import Size, column, lines, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def friction(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Friction over time: its magnitude in contacts, and its part of the normal force; efforts in joints, and their slip.

    names: contact pairs, and coordinates of joints with friction.
    """
    pairs, joints = ([str(name) for name in result.labels.get(kind, ())] for kind in ("pair", "friction_rate"))
    sizes = np.linalg.norm(np.asarray(result.values["friction_force"]), axis=2) if pairs else np.zeros((len(result.time), 0))
    rubbing = [pair for k, pair in enumerate(pairs) if np.any(sizes[:, k] > 0.0)]
    for name in names or ():
        if name not in [*pairs, *joints]:
            known = [*pairs, *joints]
            raise ModelError.of("plot friction", "names", f"must be among {known}{did_you_mean(name, known)}", name)
    rubbing, joints = ([n for n in own if names is None or n in names] for own in (rubbing if names is None else pairs, joints))
    if not rubbing and not joints:
        raise ModelError.of("plot friction", "result", "must have contacts or joints with friction", result.name)
    made, panels = column(2 * bool(rubbing) + 2 * bool(joints), ax=ax, figsize=figsize)
    if rubbing:
        normal = np.asarray(result.values["normal_force"])
        mu = np.divide(sizes, normal, out=np.full_like(sizes, np.nan), where=normal > 0.0)
        lines(panels[0], result.time, [(pair, sizes[:, pairs.index(pair)]) for pair in rubbing], "friction", "N")
        lines(panels[1], result.time, [(pair, mu[:, pairs.index(pair)]) for pair in rubbing], "friction / normal force", "1")
        for line in panels[1].lines:
            line.set(marker="o", markersize=2.5)  # a contact of one row has no line
    if joints:
        lines(
            panels[-2], result.time, [(name, result["joint_friction", name]) for name in joints], "friction of joints", "N or N m"
        )
        slips = [(name, result["joint_slip", name]) for name in joints]
        lines(panels[-1], result.time, slips, "slip of joints", "m/s", result.shown_units)
    panels[0].set_title(f"{result.name}: friction")
    return made

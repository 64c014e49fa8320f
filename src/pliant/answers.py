"""Questions to parts and results that files above them answer; the files below know these by name only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# The module and the function that answer, imported when they are first asked
ANSWERED_BY = {
    "inverse dynamics": ("pliant.run.inverse", "inverse_dynamics"),
    "jacobian": ("pliant.analysis.frame_jacobian", "jacobian"),
    "integrals": ("pliant.beams.gibbs_appell", "gibbs_appell_integrals"),
    "described": ("pliant.model.described", "described"),
    "page": ("pliant.show.player", "page"),
}


def answer(question: str, *given: Any, **options: Any) -> Any:
    module, name = ANSWERED_BY[question]
    return getattr(import_module(module), name)(*given, **options)

"""What calls take as a mechanism: a System, a model that was loaded, or the path of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pliant.answers import answer
from pliant.errors import ModelError
from pliant.files.reader import Model, load_model
from pliant.model.system import System
from pliant.run.by_identity import ByIdentity

AnySystem = System | Model | str | Path


WITH_GROUPS = ("simulate", "compile_system")  # calls that look only at pairs which are near; others have equations for all
MOST_PAIRS = 200  # of a contact among shapes, for those: 10 s to prepare


def mechanism_of(given: Any, caller: str, ran: bool = False) -> System:
    """The System that a call is about, with the efforts of its inverse problem if it has one; ran: as a run of it had it."""
    if isinstance(given, System):
        made = given if given.problem is None else _driven(given)
        return made if ran or caller in WITH_GROUPS else made.with_named_pairs(caller, MOST_PAIRS)
    model = load_model(given) if isinstance(given, (str, Path)) else given
    if not isinstance(model, Model):
        rule = "must be a System (a Compiled can only be run), a Model or the path of a model file"
        raise ModelError.of(caller, "system", rule, given)
    return mechanism_of(model.system, caller, ran)


def _driven(system: System) -> System:
    """The System driven by the efforts of its problem, computed once for the parameters' own values."""
    known = _DRIVEN.get(system)
    if known is None or known.undriven != system:
        known = driven(system)
        _DRIVEN.put(system, known)
    return known


def driven(system: System) -> System:
    """A copy of a System driven by the efforts of its problem; these are plain numbers."""
    assert system.problem is not None
    made = system.snapshot()
    made.problem, made.undriven = None, system.snapshot()
    made.drive_by(answer("inverse dynamics", made, **system.problem.options))
    return made


_DRIVEN: ByIdentity[System] = ByIdentity()

"""Checks with which analyses refuse Systems that they cannot treat."""

from __future__ import annotations

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.coordinate_pair import all_pairs
from pliant.model.normal_law import Impulsive
from pliant.model.system import System


def require_bodies(system: System, caller: str) -> None:
    """Refuse anything but a System (a compiled System too), and refuse a System without bodies."""
    check.instance(caller, "system", system, System, "a System (a Compiled can only be run)")
    if not system.links:
        raise ModelError.of(f"system {system.name!r}", "bodies", "must hold at least one body", 0)


def refuse_states(system: System, caller: str, instead: str) -> None:
    """Refuse a System with states that the user declared. instead: what the user can do, a clause of the message."""
    if system.states:
        raise ModelError.of(caller, "system", f"must have no states of the user's own ({instead})", list(system.states))


def refuse_controllers(system: System, caller: str, instead: str) -> None:
    """Refuse a System with sampled controllers, whose outputs jump. instead: as for `refuse_states`."""
    if system.controllers:
        raise ModelError.of(caller, "system", f"must have no sampled controllers ({instead})", list(system.controllers))


def refuse_friction(system: System, what: str) -> None:
    """Refuse a System with friction inside joints. what: the analysis that cannot treat it, for the message."""
    parts = {f"body {link.name!r}": link.frictions for link in system.links.values()}
    parts |= {closure.part: closure.frictions for closure in system.closures.values()}
    for part, frictions in parts.items():
        for friction in frictions.values():
            rule = f"must be left out for {what}, which cannot treat friction inside joints"
            raise ModelError.of(part, "friction", rule, type(friction.law).__name__)


def refuse_impulsive(system: System, what: str) -> None:
    """Refuse a System with impulsive contacts. what: that which cannot treat them, and why, for the message."""
    for pair in all_pairs(system):
        if isinstance(pair.normal, Impulsive):
            rule = f"must not be Impulsive for {what}; take a compliant law, such as HuGuo"
            raise ModelError.of(f"contact {pair.name!r}", "normal", rule, pair.normal)

"""What analyses cannot take along, refused in one way."""

from __future__ import annotations

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.system import System


def require_bodies(system: System, caller: str) -> None:
    """Refuse what is no System, as one that was compiled, and a System that holds nothing."""
    check.instance(caller, "system", system, System, "a System: what compile_system gives is for runs")
    if not system.links:
        raise ModelError.of(f"system {system.name!r}", "bodies", "must hold at least one body", 0)


def refuse_states(system: System, caller: str, instead: str) -> None:
    """Refuse a System with states of the user's own; instead: what its user may do, a sentence."""
    if system.states:
        raise ModelError.of(caller, "system", f"must have no states of its own: {instead}", list(system.states))


def refuse_controllers(system: System, caller: str, instead: str) -> None:
    """The same of sampled controllers, whose outputs jump."""
    if system.controllers:
        raise ModelError.of(caller, "system", f"must have no sampled controllers: {instead}", list(system.controllers))


def refuse_friction(system: System, what: str) -> None:
    """What does not serve friction inside joints says so."""
    parts = {f"body {link.name!r}": link.joint.frictions for link in system.links.values()}
    parts |= {closure.part: closure.frictions for closure in system.closures.values()}
    for part, frictions in parts.items():
        for friction in frictions.values():
            rule = f"must be left out for {what}: they do not serve friction inside joints"
            raise ModelError.of(part, "friction", rule, type(friction.law).__name__)

"""What calls take as a mechanism: a System, a model that was loaded, or the path of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pliant.errors import ModelError
from pliant.model.system import System

if TYPE_CHECKING:
    from pliant.files.reader import Model

AnySystem: TypeAlias = "System | Model | str | Path"


def mechanism_of(given: Any, caller: str) -> System:
    """The System that a call is about."""
    if isinstance(given, System):
        return given
    from pliant.files.reader import Model, load_model  # most calls need no files

    model = load_model(given) if isinstance(given, (str, Path)) else given
    if not isinstance(model, Model):
        rule = "must be a System (a Compiled can only be run), a Model or the path of a model file"
        raise ModelError.of(caller, "system", rule, given)
    return model.system

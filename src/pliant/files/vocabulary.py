"""The words of a model file, taken from the model's own dataclasses: classes, fields and types are the schema.

A class is named by its snake-case name; one of several classes stands under its name, as in {kelvin_voigt: 125.0}; a
class method that builds one is a word too, as in {rectangle: {height: 0.02, width: 0.01}}. So a new joint or damping
needs no line here.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, get_args, get_origin, get_type_hints

from pliant.model import material
from pliant.model.contact import Plane
from pliant.model.friction_law import FRICTION_LAWS, FrictionLaw
from pliant.model.hertz import hertz_stiffness
from pliant.model.joint import JOINTS, Joint
from pliant.model.modes import AxialModes, GivenModes, Modes, ShapeFunction, TorsionModes
from pliant.model.normal_law import PowerLaw
from pliant.model.signal import Formula, Prescribed
from pliant.model.telescopic import TelescopicBeam

SHORT_NAMES: dict[type, str] = {AxialModes: "axial", TorsionModes: "torsion", GivenModes: "table"}
WITHOUT_NAME = (Modes,)  # may stand without its name where several classes are possible
ONLY_IN_PYTHON = (ShapeFunction,)  # made of functions, which no file can hold
NOT_IN_FILES: dict[type, tuple[str, ...]] = {Formula: ("text",), Prescribed: ("text",)}  # taken from the formula
SLIDING = tuple(law for law in FRICTION_LAWS if issubclass(law, FrictionLaw) and not law.holds)
HINTS: dict[tuple[type, str], Any] = {
    (Joint, "motion"): Prescribed | Mapping[str, Prescribed] | None,
    (TelescopicBeam, "motion"): Prescribed | None,
    (TelescopicBeam, "friction"): Union[(*SLIDING, None)],
    (Plane, "normal"): Any,  # a vector, or one of x, y, z
}
COMPUTED: dict[tuple[type, str], Callable[..., float]] = {(PowerLaw, "stiffness"): hertz_stiffness}
MATERIALS = {name.lower(): value for name, value in vars(material).items() if isinstance(value, material.Material)}
NAMED: dict[type, Mapping[str, Any]] = {material.Material: MATERIALS}


def word(kind: type) -> str:
    """KelvinVoigt -> kelvin_voigt, RKF45 -> rkf45."""
    return SHORT_NAMES.get(kind) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()


def options(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a type; a base class of joints stands for all joints."""
    if hint is Joint:
        return JOINTS
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def classes(hint: Any) -> tuple[type, ...]:
    """The dataclasses among the alternatives."""
    kinds = (kind for kind in options(hint) if dataclasses.is_dataclass(kind) and isinstance(kind, type))
    return tuple(kind for kind in kinds if kind not in ONLY_IN_PYTHON)


def family(hint: Any) -> dict[str, type]:
    """The alternatives by name, where there are several."""
    kinds = classes(hint)
    return {word(kind): kind for kind in kinds} if len(kinds) > 1 or hint is Joint else {}


def sequences(hint: Any) -> list[Any]:
    return [option for option in options(hint) if get_origin(option) in (tuple, list, Sequence)]


def element(hint: Any) -> Any:
    """What a sequence holds; tuples of several types are all of the first."""
    return get_args(hint)[0]


def mappings(hint: Any) -> list[Any]:
    return [option for option in options(hint) if get_origin(option) is Mapping]


def held(mapping: Any) -> Any:
    """What a mapping holds under its keys."""
    return get_args(mapping)[1]


def field_hints(kind: type) -> dict[str, Any]:
    """Fields a file may give, with their types."""
    hints = get_type_hints(kind)
    hidden = NOT_IN_FILES.get(kind, ())
    names = [f.name for f in dataclasses.fields(kind) if f.init and f.name not in hidden]
    return {name: _override(kind, name) or hints[name] for name in names}


def required_fields(kind: type) -> list[str]:
    unset = dataclasses.MISSING
    return [f.name for f in dataclasses.fields(kind) if f.init and f.default is unset and f.default_factory is unset]


def builders(kind: type) -> dict[str, Callable[..., Any]]:
    """The class methods that build one in another way."""
    return {
        name: getattr(kind, name)
        for name, member in vars(kind).items()
        if isinstance(member, classmethod) and not name.startswith("_")
    }


def builder_hints(build: Callable[..., Any]) -> tuple[dict[str, Any], list[str]]:
    """Arguments of a builder with their types, and those that must be given."""
    hints = get_type_hints(build)
    parameters = inspect.signature(build).parameters
    required = [name for name, p in parameters.items() if p.default is inspect.Parameter.empty]
    return {name: hints[name] for name in parameters}, required


def computed(kind: type, name: str) -> Callable[..., float] | None:
    """The function that a file may call for a field, as in {hertz_stiffness: {radius_a: 0.1, material_a: steel}}."""
    function: Callable[..., float] | None = _of_field(COMPUTED, kind, name)
    return function


def _override(kind: type, name: str) -> Any:
    return _of_field(HINTS, kind, name)


def _of_field(table: Mapping[tuple[type, str], Any], kind: type, name: str) -> Any:
    return next((entry for (owner, field), entry in table.items() if issubclass(kind, owner) and field == name), None)

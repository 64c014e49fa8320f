"""The words of a model file, taken from the model's own dataclasses: classes, fields and types are the schema.

The word for a class is its name in snake case; one of several classes is written under its word, as in {kelvin_voigt: 125.0}. A
class method that builds an instance is a word too, as in {rectangle: {height: 0.02, width: 0.01}}. The arguments of System's
methods are the keys of drives, forces, closures and the rest. So a new joint, law or closure needs no change here: the reader, the
writer and the JSON schema take their words from this module, which takes them from the model.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from pliant.files.quantities import CHOICES, OWN_UNITS, UNITS, UNITS_BY_NAME
from pliant.files.run_settings import RunSettings
from pliant.integrate.methods.method import METHODS, Rodas5P
from pliant.model import material
from pliant.model.contact import Against, Plane, Point, Sphere, Touching
from pliant.model.friction_law import FRICTION_LAWS, JOINT_FRICTION_LAWS, CustomFriction, FrictionLaw
from pliant.model.hertz import hertz_stiffness
from pliant.model.joint import JOINTS, Joint
from pliant.model.joint_friction import JointFriction
from pliant.model.journal_law import JOURNAL_LAWS, JournalLaw, contact_modulus
from pliant.model.modal import ModalBody
from pliant.model.modes import AxialModes, GivenModes, Modes, ShapeFunction, ShapeTable, TorsionModes
from pliant.model.normal_law import NORMAL_LAWS, CustomNormal, Impulsive, PowerLaw
from pliant.model.play import Backlash, Limits
from pliant.model.sensor import SENSORS, Encoder, ForceSensor
from pliant.model.signal import Formula, MotionTable, Prescribed, Signal
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.model.wear import Archard
from pliant.scalar import ArrayOf

# The classes for laws of the user's own.
FORMULA = "formula"
SHORT_NAMES: dict[type, str] = {
    AxialModes: "axial", TorsionModes: "torsion", GivenModes: "given", CustomNormal: FORMULA, CustomFriction: FORMULA,
    Rodas5P: "rodas5p", ForceSensor: "force",
}  # fmt: skip
# Classes that may be written without their word where several are possible; the fields that they need tell them apart.
WITHOUT_NAME = (Modes, Prescribed, ShapeTable, ShapeFunction, JointFriction)
# Taken from the formula, or set by the System.
NOT_IN_FILES: dict[type, tuple[str, ...]] = {
    Formula: ("text",), Prescribed: ("text",), Encoder: ("slides",), ForceSensor: ("touching",),
}  # fmt: skip

STATE, TIME, STATION = ("t", "q", "v"), ("t",), ("x",)
UPDATE = (*STATE, "measured", "memory")  # variables of the update of a sampled controller
NOT_IN_CALLS = (("sampled", "compiled"),)  # only for Python functions
# Fields that are formulas, with their variables.
FORMULAS: dict[type, Mapping[str, tuple[str, ...]]] = {
    Formula: {"function": STATE},
    Prescribed: {"function": TIME},
    CustomNormal: {"function": ("depth", "rate", "entry_speed"), "energy": ("depth",)},
    CustomFriction: {"function": ("speed", "normal")},
    ShapeFunction: {name: STATION for name in ("w", "dw", "ddw", "theta", "dtheta")},
}

SLIDING = tuple(law for law in FRICTION_LAWS if issubclass(law, FrictionLaw) and not law.holds)
Normal = Union[(*NORMAL_LAWS, *JOURNAL_LAWS, Impulsive, CustomNormal)]  # type: ignore[valid-type]
Friction = Union[(*FRICTION_LAWS, CustomFriction)]  # type: ignore[valid-type]
AnySensor = Union[(*SENSORS,)]  # type: ignore[valid-type]
PrescribedMotion = Prescribed | MotionTable
Body = Touching  # shapes that can touch
HINTS: dict[tuple[Any, str], Any] = {  # types that a file may give where the model accepts more
    (JointFriction, "law"): Union[(*JOINT_FRICTION_LAWS, CustomFriction)],
    (Joint, "motion"): PrescribedMotion | Mapping[str, PrescribedMotion] | None,
    (TelescopicBeam, "motion"): PrescribedMotion | None,
    (ModalBody, "model"): Path,
    (TelescopicBeam, "friction"): Union[(*SLIDING, CustomFriction, JointFriction, None)],
    (Limits, "normal"): Normal | None,
    (Backlash, "normal"): Normal | None,
    (RunSettings, "method"): Union[(*METHODS, None)],
}
COMPUTED: dict[tuple[type, str], Callable[..., float]] = {
    (PowerLaw, "stiffness"): hertz_stiffness,
    (JournalLaw, "modulus"): contact_modulus,
}
MATERIALS = {name.lower(): value for name, value in vars(material).items() if isinstance(value, material.Material)}

# Sections of a file whose entries are calls of System's methods: name: {arguments of the method}.
CALLS: dict[str, Callable[..., Any]] = {
    "drives": System.drive,
    "forces": System.force,
    "moments": System.moment,
    "struts": System.strut,
    "motors": System.motor,
    "contacts": System.contact,
    "closures": System.close,
    "constraints": System.constrain,
    "wheels": System.roll,
    "events": System.event,
    "states": System.state,
    "sampled": System.sampled,
}
CALL_HINTS: dict[tuple[str, str], Any] = {
    ("drives", "effort"): Signal,
    ("forces", "vector"): Sequence[Signal],
    ("moments", "vector"): Sequence[Signal] | Signal,
    ("struts", "force"): Signal | None,
    ("motors", "command"): Signal | None,
    ("contacts", "points"): Body | Sequence[Body],
    ("contacts", "against"): Against,
    ("contacts", "among"): Sequence[Sphere | Plane],
    ("contacts", "normal"): Normal,
    ("contacts", "friction"): Friction | None,
    ("contacts", "wear"): Archard | None,
    ("closures", "kind"): str,
    ("closures", "length"): float | PrescribedMotion | None,
    ("closures", "motion"): PrescribedMotion | Sequence[PrescribedMotion | None] | None,
    ("constraints", "formula"): Formula,
    ("wheels", "against"): Plane | Point | Sphere,
    ("events", "function"): Formula,
    ("states", "rate"): Signal,
    ("sampled", "update"): Mapping[str, Formula],
}


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
    return tuple(kind for kind in options(hint) if dataclasses.is_dataclass(kind) and isinstance(kind, type))


def family(hint: Any) -> dict[str, type]:
    """The alternatives by name, if there are several."""
    kinds = classes(hint)
    return {word(kind): kind for kind in kinds} if len(kinds) > 1 or hint is Joint else {}


def untagged(kinds: Mapping[str, type], keys: Sequence[str]) -> type | None:
    """The class of a mapping without a word: the one whose required keys are all there, else the one with the most of them."""
    able = [kind for kind in kinds.values() if kind in WITHOUT_NAME]
    if not able or any(key in kinds for key in keys):
        return None

    def fits(kind: type) -> tuple[bool, int]:
        needed = required_fields(kind)
        return set(needed) <= set(keys), len({*field_hints(kind)} & {*keys})

    return max(able, key=fits)


def formula_class(hint: Any) -> type | None:
    """The class that is made from a formula alone, if the type allows one."""
    return next((kind for kind in classes(hint) if kind in FORMULAS and len(required_fields(kind)) == 1), None)


def sequences(hint: Any) -> list[Any]:
    return [option for option in options(hint) if get_origin(option) in (tuple, list, Sequence, ArrayOf)]


def element(hint: Any) -> Any:
    """The type of the elements of a sequence; for tuples of several types, the first."""
    return get_args(hint)[0]


def mappings(hint: Any) -> list[Any]:
    return [option for option in options(hint) if get_origin(option) is Mapping]


def held(mapping: Any) -> Any:
    """The type of the values of a mapping."""
    return get_args(mapping)[1]


def field_hints(kind: type) -> dict[str, Any]:
    """The fields that a file may give, with their types."""
    hints = _type_hints(kind)
    hidden = NOT_IN_FILES.get(kind, ())
    names = [f.name for f in dataclasses.fields(kind) if f.init and f.name not in hidden]
    return {name: _of_field(HINTS, kind, name) or hints[name] for name in names}


def required_fields(kind: type) -> list[str]:
    unset = dataclasses.MISSING
    return [f.name for f in dataclasses.fields(kind) if f.init and f.default is unset and f.default_factory is unset]


def default(kind: type, name: str) -> Any:
    """The value of a field that a file leaves out."""
    return next(field.default for field in dataclasses.fields(kind) if field.name == name)


def field_unit(kind: type, name: str) -> str | None:
    """The unit of a field's numbers, as in "m" or "N/m or N m/rad"; "1" for plain numbers, None for other fields."""
    return _of_field(UNITS, kind, name) or UNITS_BY_NAME.get(name)


def field_choices(kind: type, name: str) -> tuple[str, ...]:
    """The allowed words of a text field; empty if any text is allowed."""
    return tuple(_of_field(CHOICES, kind, name) or ())


def builders(kind: type) -> dict[str, Callable[..., Any]]:
    """The class methods that build an instance in another way."""
    return {
        name: getattr(kind, name)
        for name, member in vars(kind).items()
        if isinstance(member, classmethod) and not name.startswith("_")
    }


def builder_hints(build: Callable[..., Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a builder with their types, and the required ones."""
    hints = _type_hints(build)
    parameters = {name: p for name, p in inspect.signature(build).parameters.items() if name in hints}
    required = [name for name, p in parameters.items() if p.default is inspect.Parameter.empty]
    return {name: hints[name] for name in parameters}, required


def call_hints(section: str) -> tuple[dict[str, Any], list[str]]:
    """The keys of an entry of a section with their types, and the required ones; the entry's own key is its name."""
    hints, required = builder_hints(CALLS[section])
    own = {name: CALL_HINTS.get((section, name), hint) for name, hint in hints.items()
           if name != "name" and (section, name) not in NOT_IN_CALLS}  # fmt: skip
    return own, [name for name in required if name in own]


def argument_unit(name: str) -> str | None:
    """The unit of an argument of a builder, which follows from its name."""
    return UNITS_BY_NAME.get(name)


def call_unit(section: str, name: str) -> str | None:
    """The unit of an argument of a section's entries; None if the user decides the unit."""
    if (CALLS[section], name) in OWN_UNITS:
        return None
    return _exact(UNITS, CALLS[section], name) or UNITS_BY_NAME.get(name)


def call_choices(section: str, name: str) -> tuple[str, ...]:
    return tuple(_exact(CHOICES, CALLS[section], name) or ())


def computed(kind: type, name: str) -> Callable[..., float] | None:
    """The function that a file may call for a field, as in {hertz_stiffness: {radius_a: 0.1, material_a: steel}}."""
    function: Callable[..., float] | None = _of_field(COMPUTED, kind, name)
    return function


@cache
def _type_hints(of: Any) -> dict[str, Any]:
    return get_type_hints(of)


def _of_field(table: Mapping[tuple[Any, str], Any], kind: type, name: str) -> Any:
    """The entry of the class itself, else of the nearest class it inherits from."""
    return next((table[owner, name] for owner in kind.__mro__ if (owner, name) in table), None)


def _exact(table: Mapping[tuple[Any, str], Any], owner: Any, name: str) -> Any:
    return table.get((owner, name))

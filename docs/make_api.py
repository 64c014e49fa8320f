"""Writes docs/api: every public name of pliant on the page of its topic; text from docstrings, fields from docs/api_fields.py.

python docs/make_api.py
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pliant as pl
from pliant import types

HERE = Path(__file__).parent / "api"
PAGES = {  # title, what is on it, which modules its names come from
    "system": ("Systems, frames and parameters", "A mechanism, its frames, and its named numbers.",
               ("pliant.model.system", "pliant.model.frame", "pliant.model.parameter", "pliant.model")),
    "bodies": ("Bodies", "Beams, telescopic links, rigid and finite-element bodies, and what they are made of.",
               ("pliant.model.beam", "pliant.model.telescopic", "pliant.model.rigid", "pliant.model.segmented",
                "pliant.model.modal", "pliant.fem",
                "pliant.model.material", "pliant.model.section", "pliant.model.outline")),
    "modes": ("Modes and damping", "How beams deform and lose energy.",
              ("pliant.model.modes", "pliant.model.reduction", "pliant.model.damping", "pliant.beams.gibbs_appell")),
    "joints": ("Joints", "Joints with their springs, dampers, limits, backlash and friction; struts and motors.",
               ("pliant.model.joint", "pliant.model.joint_friction", "pliant.model.play", "pliant.model.motor",
                "pliant.model.strut")),
    "signals": ("Signals and motions", "Values of drives, loads and prescribed motions over time.",
                ("pliant.model.signal", "pliant.model.input_series")),
    "contact": ("Contact shapes and normal laws", "Shapes that can touch, and the normal force between them.",
                 ("pliant.model.contact", "pliant.model.along", "pliant.model.solids", "pliant.model.clearance",
                  "pliant.model.normal_law", "pliant.model.journal_law", "pliant.model.wear", "pliant.model.hertz")),
    "friction": ("Friction laws", "The friction force of a contact.", ("pliant.model.friction_law",)),
    "running": ("Running", "From a System to a Result.", ("pliant.run",)),
    "methods": ("Integration methods", "Explicit, implicit and fixed-step integrators.", ("pliant.integrate",)),
    "analysis": ("Analyses", "Equilibria, linear models, natural modes, section forces and stresses.", ("pliant.analysis",)),
    "studies": ("Studies", "Many runs, derivatives of runs, fits and optimisation.", ("pliant.study", "pliant.ensemble")),
    "results": ("Results", "The output of a run, and its energy ledger.", ("pliant.results",)),
    "showing": ("Plots, pages and films", "How results are shown.", ("pliant.show", "pliant.live")),
    "equations": ("Equations", "Equations of motion as LaTeX, SymPy, C and CasADi.", ("pliant.equations",)),
    "robots": ("To and from other programs", "Robots from URDF and MJCF files; finite elements; mechanisms as FMUs and as C.",
               ("pliant.exchange",)),
    "files": ("Files and errors", "Model files, and the exceptions that pliant raises.", ("pliant.files", "pliant.errors")),
    "types": ("Types", "Names for annotations, in `pliant.types`: what calls take and return, besides the classes above.", ()),
    "formulas": ("Formulas", "Mathematical functions of numbers, arrays and traced scalars.", ("pliant.scalar",)),
}  # fmt: skip
MORE = {  # what functions return
    "system": ("pliant.model.new_sensor.NewSensor",),
    "running": ("pliant.run.observation.Observation",),
    "analysis": ("pliant.analysis.modes.NaturalModes", "pliant.analysis.frequency_response.FrequencyResponse"),
    "equations": ("pliant.equations.derive.Equations", "pliant.equations.symbolic.Symbolic"),
}
ALIASES = {  # names of pliant.types that are no classes
    "AnySystem": "What calls take as a mechanism: a System, a loaded model, or the path of a model file",
    "Axis": "A direction: x, y, z, -x, -y, -z, or a vector",
    "Number": "A number or an expression of parameters",
    "Numbers": "Several numbers: a sequence or an array",
    "Vector": "Three numbers, as parts keep them",
}
FIELDS = runpy.run_path(str(Path(__file__).parent / "api_fields.py"))["table"]
INTRODUCTION = """All names that a user needs are in `pliant` itself: `import pliant as pl`. Each class has a table of its fields,
with type, unit and default; a dash means that a field has no unit or cannot be set. A number can also be a `Parameter` or an
expression of parameters, several numbers also an array; classes that calls return have names for annotations in `pliant.types`."""


# classes without a place of their own: their members are shown with every class that has them
SHARED = ("ResultContents", "Matrices", "LineElements", "BarModes")


def pages() -> dict[str, str]:
    """Every page by its file name."""
    rows = [f"- [{title}]({stem}.md): {says[0].lower()}{says[1:]}" for stem, (title, says, _) in PAGES.items()]
    written = {"index.md": "\n".join(["# API reference", "", INTRODUCTION, "", *rows, ""])}
    for stem, (title, says, _) in PAGES.items():
        entries = [_entry(path) for path in (*_paths(stem), *MORE.get(stem, ()))] if stem != "types" else [_types()]
        written[f"{stem}.md"] = "\n\n".join([f"# {title}", says, *entries]) + "\n"
    return written


def _types() -> str:
    """The names of pliant.types, each with the first sentence of its docstring."""
    rows = [(name, getattr(types, name)) for name in types.__all__]
    meanings = {name: inspect.getdoc(one) if isinstance(one, type) else ALIASES[name] for name, one in rows}
    lines = [f"| `{name}` | {' '.join(str(text).split(chr(10) * 2)[0].split()).rstrip('.')} |" for name, text in meanings.items()]
    return "\n".join(["| name | meaning |", "| --- | --- |", *lines])


def _entry(path: str) -> str:
    """A name; of a class its docstring, then the table of its fields, then its methods and properties."""
    module, _, name = path.rpartition(".")
    thing = getattr(import_module(module), name, None)
    if not isinstance(thing, type):
        return f"::: {path}"
    kinds = (thing, *(base for base in thing.__mro__ if base.__name__ in SHARED))
    members = [
        member for kind in kinds for member, value in vars(kind).items() if not member.startswith("_") and _documented(value)
    ]
    parts = [f"::: {path}\n    options: {{members: false}}", "\n".join(FIELDS(thing))]
    parts += [f"::: {path}.{member}\n    options: {{heading_level: 3}}" for member in members]
    return "\n\n".join(part for part in parts if part)


def _documented(value: object) -> bool:
    inner = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
    return bool(inspect.isfunction(inner) and inner.__doc__)


def _paths(stem: str) -> Iterator[str]:
    for name in pl.__all__:
        thing = getattr(pl, name)
        module = getattr(thing, "__module__", None)
        if inspect.ismodule(thing):  # pliant.plot
            if _page(thing.__name__) == stem:
                yield thing.__name__
        elif module is not None and hasattr(thing, "__name__") and _page(module) == stem:
            yield f"{module}.{thing.__name__}"


def _page(module: str) -> str:
    """The page whose origin is the longest beginning of a module's name."""
    origins = [(origin, stem) for stem, (_, _, origins) in PAGES.items() for origin in origins]
    fits = [(len(origin), stem) for origin, stem in origins if f"{module}.".startswith(f"{origin}.")]
    if not fits:
        raise SystemExit(f"no page of docs/api has a place for {module}")
    return max(fits)[1]


if __name__ == "__main__":
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")

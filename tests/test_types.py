"""Every class that the public API returns has a public name: in `pliant`, or in `pliant.types`. What is public says what it is."""

import inspect
import re
import sys
from pathlib import Path

import pliant as pl
import pliant.types

INSIDE = (pl.Compiled, pliant.types.Method)  # what runs compute with: their attributes are no API
PUBLIC = {name: getattr(module, name) for module in (pl, pliant.types, pl.plot) for name in module.__all__}


def functions(thing):
    """The public functions of a public name: itself, or methods and properties of a class and of those above it."""
    if inspect.isfunction(thing):
        return {thing.__name__: thing}
    found = {}
    for kind in getattr(thing, "__mro__", ()):
        for name, value in vars(kind).items():
            inner = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
            if not name.startswith("_") and inspect.isfunction(inner) and inner.__module__.startswith("pliant."):
                found.setdefault(name, inner)
    return found


def annotations(thing):
    """What functions return, and what fields contain, as it is written."""
    texts = {name: str(one.__annotations__.get("return", "")) for name, one in functions(thing).items()}
    for kind in getattr(thing, "__mro__", ())[::-1]:
        own = inspect.get_annotations(kind) if kind.__module__.startswith("pliant.") else {}
        texts |= {name: str(text) for name, text in own.items() if not name.startswith("_") and "ClassVar" not in str(text)}
    return texts


def test_every_class_that_is_returned_has_a_public_name():
    ours = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("pliant.")]
    classes = {name: one for names in ours for name, one in names.items() if isinstance(one, type) and name == one.__name__}
    known = {id(one) for one in PUBLIC.values()}
    missing = {}
    for public, thing in PUBLIC.items():
        for name, text in ({} if isinstance(thing, type) and issubclass(thing, INSIDE) else annotations(thing)).items():
            kinds = [*getattr(thing, "__mro__", ())[::-1], thing]  # each annotated with the names of its own module
            own = {
                name: one
                for kind in kinds
                if hasattr(kind, "__module__")
                for name, one in vars(sys.modules[kind.__module__]).items()
            }
            for word in re.findall(r"(?<![\w.'\"])[A-Z]\w*", text):
                found = own.get(word, classes.get(word))
                if isinstance(found, type) and found.__module__.startswith("pliant.") and id(found) not in known:
                    missing[f"{found.__module__}.{word}"] = f"{public}.{name}"
    assert not missing


def test_every_public_function_and_method_says_what_it_is():
    """Itself, or what it stands for in a class or protocol above it."""
    bare = []
    for thing in PUBLIC.values():
        above = [functions(kind) for kind in (*getattr(thing, "__mro__", ()), pliant.types.Body)]
        for name, one in ({} if thing in INSIDE else functions(thing)).items():
            told = one.__doc__ or any(own[name].__doc__ for own in above if name in own)
            if not told and one.__name__ != "<lambda>":  # NumPy's functions as methods, x.arcsin()
                bare.append(f"{thing.__name__}.{name}")
    assert not bare


def test_types_are_named_on_a_page_of_the_documentation():
    page = (Path(__file__).parents[1] / "docs" / "api" / "types.md").read_text(encoding="utf-8")
    assert not [name for name in pliant.types.__all__ if f"`{name}`" not in page]

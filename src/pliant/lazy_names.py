"""The package `pliant` as a module that imports what its stub `__init__.pyi` names when it is first used: `import pliant` and
`pliant --version` take milliseconds, and `pl.Beam` does not wait for sweeps and fits."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def public_names() -> dict[str, tuple[str, str]]:
    """Every public name, in the order of the stub, with the module that defines it and its name there."""
    stub = ast.parse(Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    places = {name.asname or name.name: (str(line.module), name.name) for line in imports for name in line.names}
    listed = next(line.value for line in stub.body if isinstance(line, ast.Assign))  # __all__
    return {name: places[name] for name in ast.literal_eval(listed)}


class LazyNames(ModuleType):
    __all__: list[str]

    def __getattr__(self, name: str) -> Any:
        """Called for what is not imported yet; says of names that pliant does not have what there is instead."""
        if name == "__all__":
            return list(public_names())
        if name in public_names():
            module, own = public_names()[name]
            value = getattr(import_module(module), own)
        elif name.isidentifier() and not name.startswith("_") and find_spec(f"{self.__name__}.{name}") is not None:
            return import_module(f"{self.__name__}.{name}")
        else:
            raise _unknown(self.__name__, name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Python stores each imported module in its package; `pl.ensemble` is the function, not the module of this name."""
        if not (isinstance(value, ModuleType) and name in public_names() and value.__name__ == f"{self.__name__}.{name}"):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """As any module: functions that read `pl` are sent to other processes."""
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *public_names()})


def _unknown(module: str, name: str) -> AttributeError:
    from pliant.scope import by_another_name, not_yet

    words = f"module {module!r} has no attribute {name!r}"
    if answer := not_yet(name) or by_another_name(name):
        return AttributeError(f"{words}: {answer}", name=name)  # without obj: Python would suggest a name of similar spelling
    return AttributeError(words)

"""Builds the bitcode of `shipped_loops` when the package is built: see `hatch_build.py`.

It needs only Numba and NumPy, so that the build environment stays small.
"""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pliant.host.processor import host
from pliant.host.stages import Tell
from pliant.integrate.methods import METHODS
from pliant.integrate.shipped_loops import FOLDER, Bitcode, file_of, shipped_loop

NUMBA_RUNTIME = b"NRT_"  # prefix of Numba's runtime functions: code that calls them cannot run in a process without Numba
WORDS = "compiling the time loop with Numba, once on this machine ({}: {})"


def loop_names() -> tuple[str, ...]:
    """Modules with a `compile_code`: the march, members of ensembles, rows, sensitivities, and the families of all methods."""
    return ("march", "members", "row_loop", "variational", *sorted({method.family for method in METHODS}))


def make_loop(name: str, tell: Tell | None = None) -> Bitcode:
    """Compile the loop of the module of that name by Numba, which takes 4 to 20 s; `tell` is called for every function."""
    from numba.core.event import install_listener

    compile_code = import_module(f"pliant.integrate.{name}").compile_code
    with install_listener("numba:compile", _listener(name, tell)):
        code: Bitcode = compile_code()
    return code


def _listener(name: str, tell: Tell | None) -> Any:
    from numba.core.event import Listener

    class Listening(Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, event: Any) -> None:
            if tell is not None:
                function = event.data["dispatcher"].py_func.__name__.lstrip("_")
                tell(WORDS.format(name.replace("_", " "), function))

        def on_end(self, event: Any) -> None:
            pass

    return Listening()


def build(folder: Path = FOLDER, backwards: bool = False) -> list[str]:
    """Write the bitcode of all loops that are missing or stale; returns the names of those written.

    Two processes may share the work, one of them in reverse order: each skips loops that the other has made.
    """
    triple, written = host().triple, []
    folder.mkdir(exist_ok=True)
    for name in reversed(loop_names()) if backwards else loop_names():
        there = shipped_loop(name, triple, folder)
        if there is not None and there.numba == version("numba"):
            continue
        code = make_loop(name)
        if NUMBA_RUNTIME in code.data:
            raise RuntimeError(f"loop {name!r}: must not call Numba's runtime, because later processes run without Numba")
        _put(folder / f"{name}.bc", file_of(code, name, triple))
        written.append(name)
    return written


def _put(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it, so that readers always see a complete file."""
    handle, draft = tempfile.mkstemp(suffix=".part", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.chmod(draft, 0o644)
    os.replace(draft, path)

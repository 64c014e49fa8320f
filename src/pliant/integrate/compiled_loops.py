"""The time loops as machine code, loaded at first use: object code from the disk cache, or compiled now and stored there.

Compiling takes a second or two, once on a machine. A stale loop is impossible: the keys cover all sources, and a process whose
sources have changed since it started loads none.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant import codegen
from pliant.codegen.loop_language import C_TYPES, ENTRY
from pliant.errors import SolveError
from pliant.host.cache_folder import user_cache
from pliant.host.object_cache import content_key, kept
from pliant.host.processor import INLINED, VERSIONS, Target, host, load_object, optimised, require_functions
from pliant.host.stages import Stages
from pliant.integrate.loop.kernels import Loop
from pliant.integrate.methods.method import METHODS

CompiledLoop = Callable[..., Any]  # numbers, and records by address -> code of `status`, or the family's answer

WORDS = "compiling the time loop for this processor, once on this machine ({})"
# C functions that the loops call, which LLVM must know beforehand.
_C_FUNCTIONS = ("exp", "log", "memcpy", "memmove", "memset", "pow")
_BESIDE = re.compile(r"^from pliant\.integrate\.([\w.]+) import", re.MULTILINE)
_HERE = Path(__file__)
_COMPILER = (_HERE, *(Path(codegen.__path__[0]) / f"{name}.py" for name in ("function_writer", "loop_compiler", "loop_language")))


def compiled_loop(name: str, stages: Stages) -> CompiledLoop:
    """The loop of the module of that name in this room, such as `loop.march` or `replay.variational`, as a function."""
    return _at(address_of_loop(name, stages), _loop(name))


def loop_names() -> tuple[str, ...]:
    """The march, members of ensembles, rows, sensitivities, and the families of all methods."""
    families = sorted({f"methods.{method.family}" for method in METHODS})
    return ("loop.march", "loop.row_loop", "members", "replay.variational", *families)


def function_of(loop: Loop) -> CompiledLoop:
    """A loop of one's own as a function; it is compiled now, and lives as long as the process."""
    require_functions((*_C_FUNCTIONS, "sin", "cos"))
    engine = load_object(_compile(loop, host()), host())
    address = engine.get_function_address(ENTRY)
    return _at(_loaded.setdefault(f"at {address}", (address, engine))[0], loop)


@functools.cache
def _loop(name: str) -> Loop:
    loop: Loop = import_module(f"pliant.integrate.{name}").LOOP
    return loop


@functools.cache
def _at(address: int, loop: Loop) -> CompiledLoop:
    return ctypes.CFUNCTYPE(C_TYPES[loop.answer], *(C_TYPES.get(kind, ctypes.c_void_p) for kind in loop.arguments))(address)


def address_of_loop(name: str, stages: Stages) -> int:
    """The address of a loop, or of a family of methods such as `methods.radau`, for compiled code.

    Several threads may get here at once. The first to finish loading keeps its engine, and all threads use that one. With
    functools.cache the last would win, and an address already handed out would become invalid with its engine. A lock could be held
    across a fork.
    """
    return (_loaded.get(name) or _loaded.setdefault(name, _load(name, stages)))[0]


_loaded: dict[str, tuple[int, Any]] = {}  # addresses are valid as long as their engines live: until the process ends


def _load(name: str, stages: Stages) -> tuple[int, Any]:
    with stages.stage("loops"):
        if _stamps() != _AT_START:
            raise SolveError("time loops: their sources must not change while a process uses them, but did; start it again")
        target, folder = host(), user_cache("loops")
        parts = (name, sources_key(name), *VERSIONS, target.triple, target.cpu, target.features)

        def compiled() -> bytes:
            with stages.stage("loops", WORDS.format(name.rpartition(".")[2].replace("_", " "))):
                return _compile(_loop(name), target)

        data, _ = kept(folder, parts, compiled)
        require_functions(_C_FUNCTIONS)
        engine = load_object(data, target)
        return engine.get_function_address(ENTRY), engine


def _compile(loop: Loop, target: Target) -> bytes:
    from pliant.codegen.loop_compiler import loop_text

    text, machine = loop_text(loop.function, loop.arguments), target.machine(1 if loop.large else 3)
    module = optimised(text, machine, 1, unroll=False, inlining=INLINED) if loop.large else optimised(text, machine)
    return bytes(machine.emit_object(module))


@functools.cache
def sources_key(loop: str) -> str:
    """A key of all sources of a loop: its own module, the modules of this folder that it imports, recursively, and the compiler."""
    sources: dict[str, str] = {}
    waiting = [loop]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = (_HERE.parent / f"{name.replace('.', '/')}.py").read_text()
            waiting += _BESIDE.findall(sources[name])
    compiler = ((path.name, path.read_text()) for path in _COMPILER)
    return content_key(f"{name} {text}" for name, text in [*sorted(sources.items()), *compiler])


def _stamps() -> dict[str, tuple[int, int]]:
    """When the sources of all loops and of the compiler were written, and their sizes."""
    found = {str(path): path.stat() for path in (*_HERE.parent.rglob("*.py"), *_COMPILER)}
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in found.items()}


_AT_START = _stamps()

"""The compiled loops, loaded when first used: object code from the disk cache, else made by Numba and kept there.

Later processes never import Numba, which takes a second; and a stale loop is impossible, for the cache's key holds all sources.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pliant.errors import SolveError
from pliant.host.cache_folder import user_cache
from pliant.host.object_cache import ObjectCache, content_key
from pliant.host.processor import VERSIONS, Target, host, load_object, require_functions

CompiledLoop = Callable[[int], int]  # address of a run's record -> code of `status`

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
NUMBA_RUNTIME = b"NRT_"  # how Numba's own functions begin: code that calls them cannot run in a process without Numba
_C_FUNCTIONS = ("exp", "log", "memset", "pow")  # what the loops call; LLVM wants to find them beforehand


@functools.cache
def march_loop() -> CompiledLoop:
    """`march._advance` as machine code."""
    address, engine = _machine_code("march")
    call = _SIGNATURE(address)

    def loop(run: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), run) != 0:
            raise SolveError("time loop: must not fail inside compiled code, but did")
        return answer.value

    loop.engine = engine  # type: ignore[attr-defined]  # the code lives as long as its engine
    return loop


def family_address(name: str) -> int:
    """Of the family in the module of that name: `runge_kutta`, `radau`, `rosenbrock`."""
    return _machine_code(name)[0]


_loaded: dict[str, tuple[int, Any]] = {}  # addresses live as long as their engines: as long as the process


def _machine_code(name: str) -> tuple[int, Any]:
    """Address of what the module's `compile_code` makes, and the engine that keeps it alive.

    Threads may come here together. Whoever is first past the loading keeps its engine and all use that: with functools.cache the
    last one would, and an address already handed out would die with its engine. A lock could be held over a fork.
    """
    return _loaded.get(name) or _loaded.setdefault(name, _load(name))


def _load(name: str) -> tuple[int, Any]:
    target = host()
    folder, key = user_cache("loops"), _key(name, target)
    cache = None if folder is None else ObjectCache(folder)
    stored = None if cache is None else cache.load(key)
    if stored is None:
        symbol, data = import_module(f"pliant.integrate.{name}").compile_code()
        if cache is not None and NUMBA_RUNTIME not in data:
            cache.store(key, symbol.encode() + b"\0" + data)
    else:
        head, _, data = stored.partition(b"\0")
        symbol = head.decode()
    require_functions(_C_FUNCTIONS)
    engine = load_object(data, target)
    return engine.get_function_address(symbol), engine


def _key(name: str, target: Target) -> str:
    """Names the code by all it depends on: every source beside this one, Numba, LLVM, the processor."""
    sources = [f"{path.name} {path.read_text()}" for path in sorted(Path(__file__).parent.glob("*.py"))]
    return content_key((name, *sources, version("numba"), *VERSIONS, target.triple, target.cpu, target.features))

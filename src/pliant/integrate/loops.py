"""The compiled loops, loaded when first used: object code from the disk cache, else made by Numba and kept there.

Later processes never import Numba, which takes a second; and a stale loop is impossible, for the cache's key holds all sources.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from pliant.caches import user_cache
from pliant.errors import SolveError
from pliant.machine.cache import ObjectCache, content_key
from pliant.machine.host import VERSIONS, Target, host, load_object, require_functions

Loop = Callable[[int], int]  # address of a run's record -> code of `status`

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
NUMBA_RUNTIME = b"NRT_"  # how Numba's own functions begin: code that calls them cannot run in a process without Numba
_C_FUNCTIONS = ("exp", "log", "memset", "pow")  # what the loops call; LLVM wants to find them beforehand


@functools.cache
def explicit_loop() -> Loop:
    """`explicit._advance` as machine code."""
    target = host()
    cache, key = ObjectCache(user_cache("loops")), _key(target)
    stored = cache.load(key)
    if stored is None:
        from pliant.integrate import explicit

        symbol, data = explicit.compile_loop()
        if NUMBA_RUNTIME not in data:
            cache.store(key, symbol.encode() + b"\0" + data)
    else:
        head, _, data = stored.partition(b"\0")
        symbol = head.decode()
    return _callable(symbol, data, target)


def _callable(symbol: str, data: bytes, target: Target) -> Loop:
    require_functions(_C_FUNCTIONS)
    engine = load_object(data, target)
    call = _SIGNATURE(engine.get_function_address(symbol))

    def loop(run: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), run) != 0:
            raise SolveError("time loop: must not fail inside compiled code, but did")
        return answer.value

    loop.engine = engine  # type: ignore[attr-defined]  # the code lives as long as its engine
    return loop


def _key(target: Target) -> str:
    """Names the code by all it depends on: every source beside this one, Numba, LLVM, the processor."""
    sources = [f"{path.name} {path.read_text()}" for path in sorted(Path(__file__).parent.glob("*.py"))]
    return content_key((*sources, version("numba"), *VERSIONS, target.triple, target.cpu, target.features))

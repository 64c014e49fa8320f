"""The compiled loops, loaded at first use: object code from the disk cache, or compiled from bitcode and stored there.

Bitcode ships with the package (`shipped_loops`). If it is missing, or sources have changed since, Numba makes it now, which takes
half a minute. A stale loop is impossible, because the keys cover all sources.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from pliant.errors import SolveError
from pliant.host.cache_folder import user_cache
from pliant.host.object_cache import ObjectCache, content_key
from pliant.host.processor import VERSIONS, Target, host, load_object, object_code, require_functions
from pliant.host.stages import Stages
from pliant.integrate.build_loops import NUMBA_RUNTIME, make_loop
from pliant.integrate.shipped_loops import Bitcode, shipped_loop, sources_key

CompiledLoop = Callable[[int], int]  # address of a run's record -> code of `status`

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_ROWS_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 13)
_MEMBERS_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 4)
WORDS = "compiling the time loop for this processor, once on this machine ({})"
_C_FUNCTIONS = ("exp", "exp2", "log", "memset", "pow")  # C functions that the loops call; LLVM must know them beforehand


def march_loop(stages: Stages) -> CompiledLoop:
    """`march._advance` as machine code."""
    _machine_code("march", stages)
    return _march_loop()


@functools.cache
def _march_loop() -> CompiledLoop:
    address, engine = _loaded["march"]
    call = _SIGNATURE(address)

    def loop(run: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), run) != 0:
            raise SolveError("time loop: must not fail inside compiled code, but did")
        return answer.value

    loop.engine = engine  # type: ignore[attr-defined]  # the code lives as long as its engine
    return loop


def bound_march(stages: Stages, run: int) -> Callable[[], int]:
    """The same, bound to one record for repeated calls: a microsecond faster per call."""
    address, engine = _machine_code("march", stages)
    call, answer, trouble = _SIGNATURE(address), ctypes.c_int64(), ctypes.c_void_p()
    to_answer, to_trouble = ctypes.addressof(answer), ctypes.addressof(trouble)

    def loop() -> int:
        if call(to_answer, to_trouble, run) != 0:
            raise SolveError("time loop: must not fail inside compiled code, but did")
        return answer.value

    loop.alive = (engine, trouble)  # type: ignore[attr-defined]
    return loop


def march_address(stages: Stages) -> int:
    """The address of `march._advance`, for calls from compiled code."""
    return _machine_code("march", stages)[0]


def members_loop(stages: Stages) -> Callable[[int, int], int]:
    """`members._run_members` as machine code; its arguments are the addresses of a run's record and of a batch's record."""
    address, _ = _machine_code("members", stages)  # kept as long as the process lives
    call = _MEMBERS_SIGNATURE(address)

    def loop(run: int, batch: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), run, batch) != 0:
            raise SolveError("time loop: must not fail inside compiled code, but did")
        return answer.value

    return loop


def row_loop(stages: Stages) -> Callable[..., int]:
    """`row_loop._evaluate_rows` as machine code."""
    call = _ROWS_SIGNATURE(_machine_code("row_loop", stages)[0])

    def loop(*numbers: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), *numbers) != 0:
            raise SolveError("rows: must not fail inside compiled code, but did")
        return answer.value

    return loop


def variational_loop(stages: Stages) -> CompiledLoop:
    """`variational._go_along` as machine code; its argument is the address of its record."""
    call = _SIGNATURE(_machine_code("variational", stages)[0])

    def loop(run: int) -> int:
        answer, trouble = ctypes.c_int64(), ctypes.c_void_p()
        if call(ctypes.addressof(answer), ctypes.addressof(trouble), run) != 0:
            raise SolveError("sensitivities: must not fail inside compiled code, but did")
        return answer.value

    return loop


def family_address(name: str, stages: Stages) -> int:
    """The address of the family in the module of that name: `runge_kutta`, `radau`, `rosenbrock`."""
    return _machine_code(name, stages)[0]


_loaded: dict[str, tuple[int, Any]] = {}  # addresses are valid as long as their engines live: until the process ends


def _machine_code(name: str, stages: Stages) -> tuple[int, Any]:
    """The address of the function that the module's `compile_code` makes, and the engine that keeps it alive.

    Several threads may get here at once. The first to finish loading keeps its engine, and all threads use that one. With
    functools.cache the last would win, and an address already handed out would become invalid with its engine. A lock could be held
    across a fork.
    """
    return _loaded.get(name) or _loaded.setdefault(name, _load(name, stages))


def _load(name: str, stages: Stages) -> tuple[int, Any]:
    with stages.stage("loops"):
        return _load_or_make(name, stages)


def _load_or_make(name: str, stages: Stages) -> tuple[int, Any]:
    target = host()
    shipped = shipped_loop(name, target.triple)
    folder, key = user_cache("loops"), _key(name, shipped, target)
    cache = None if folder is None else ObjectCache(folder)
    stored = None if cache is None else cache.load(key)
    if stored is None:
        with stages.stage("loops", WORDS.format(name.replace("_", " "))):
            stored = _compile(shipped or make_loop(name, stages.say), target)
        if cache is not None and NUMBA_RUNTIME not in stored:
            cache.store(key, stored)
    symbol, _, data = stored.partition(b"\0")
    require_functions(_C_FUNCTIONS)
    engine = load_object(data, target)
    return engine.get_function_address(symbol.decode()), engine


def _compile(bitcode: Bitcode, target: Target) -> bytes:
    """The contents of a cache entry: the symbol, a zero byte, object code."""
    return bitcode.symbol.encode() + b"\0" + object_code(bitcode.data, target)


def _key(name: str, shipped: Bitcode | None, target: Target) -> str:
    """A key of everything the code depends on: its sources, Numba, LLVM, the processor."""
    made_by = version("numba") if shipped is None else shipped.numba
    return content_key((name, sources_key(name), made_by, *VERSIONS, target.triple, target.cpu, target.features))

"""A traced function as machine code: its address, and everything needed to call it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import llvmlite.binding as llvm
import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.codegen.angle_sums import add_angles
from pliant.codegen.emit import KERNEL, emit, library_functions
from pliant.codegen.function import TracedFunction
from pliant.codegen.fuse import fuse
from pliant.codegen.program import Program, read_program
from pliant.codegen.reciprocals import share_reciprocals
from pliant.codegen.schedule import Schedule, make_schedule
from pliant.codegen.sincos import BATCH, batch_text
from pliant.errors import SolveError
from pliant.host.object_cache import content_key, kept
from pliant.host.processor import VERSIONS, Target, host, load_object, require_functions

CHUNK_SIZE = 1000  # operations; LLVM takes 70 us per operation; chunks of 2,000 take 100 us and give no faster code
# Above this number of operations LLVM does not optimise: it compiles in a tenth of the time, and the code of chains is 10 % slower,
# that of loops 70 %.
LARGEST_OPTIMISED = 20_000
LARGEST_OPTIMISED_IN_RUN = 100_000  # for functions called at every step: about 25 s to compile, once
EMITTER_VERSION = "2"  # must change whenever the same LLVM text should give different object code

_C_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, *(ctypes.c_void_p,) * 4)


@dataclass(frozen=True, eq=False)
class MachineCode:
    """`void kernel(double t, const double* y, const double* p, double* out, double* work)` at an address.

    The address is valid as long as this object lives. out and work must not overlap anything else. work holds n_work doubles with
    arbitrary contents and must be used by one thread at a time.
    """

    address: int
    n_y: int
    n_p: int
    n_out: int
    n_work: int
    operations: int  # before products are fused with sums; a sine counts as one operation
    compile_seconds: float  # from the casadi function to the address
    from_cache: bool
    _engine: Any = field(repr=False)  # owns the memory at that address
    key: str = ""  # identifies the text that it was compiled from
    source: Any = field(default=None, repr=False)  # what it was compiled from, for other processors

    def __call__(self, t: float, y: ArrayLike, p: ArrayLike) -> Floats:
        """out(t, y, p); for tests and observers, microseconds slower than a call from machine code."""
        state, parameters = _column("y", y, self.n_y), _column("p", p, self.n_p)
        out, work = np.empty(self.n_out), np.empty(max(self.n_work, 1))
        self._function(t, address_of(state), address_of(parameters), address_of(out), address_of(work))
        return out

    def call_at(self, t: float, y: int, p: int, out: int, work: int) -> None:
        """Call the kernel on arrays given by their addresses."""
        self._function(t, y, p, out, work)

    @cached_property
    def _function(self) -> Any:
        return _C_SIGNATURE(self.address)


class RepeatedCall:
    """A function with its own memory, for repeated calls from one thread."""

    def __init__(self, code: MachineCode) -> None:
        self._code = code
        self._y, self._p, self._out = np.empty(code.n_y), np.empty(code.n_p), np.empty(code.n_out)
        self._work = np.empty(max(code.n_work, 1))
        self._places = tuple(address_of(array) for array in (self._y, self._p, self._out, self._work))

    def __call__(self, t: float, y: Floats, p: Floats) -> Floats:
        self._y[:], self._p[:] = y, p
        self._code.call_at(t, *self._places)
        return self._out.copy()  # the next call writes to this memory


def compile_function(
    function: ca.Function | TracedFunction | Program,
    *,
    cache: Path | None,
    optimise: bool | None = None,
    chunk_size: int = CHUNK_SIZE,
    roll: bool = True,
    guard: bool = True,
    largest: int = LARGEST_OPTIMISED,
    series: Sequence[int] = (),
) -> MachineCode:
    """Machine code of f(t, y, p) -> out, stored in the folder `cache` for later processes.

    optimise: whether LLVM optimises or compiles quickly; by default it optimises up to `largest` operations in the text. roll:
    whether repeated operations become loops; results are the same to the last bit. guard: whether values that guards leave out are
    branched around; results are the same to the last bit while nothing is left out, else equal except for signs of zeros. series:
    entries of p where pieces of series go, for a function that does not say so itself.
    """
    began = time.perf_counter()
    target = host()
    kernel = kernel_text(function, target.fused, chunk_size, roll, guard, series)
    program, schedule, text = kernel.program, kernel.schedule, kernel.text
    if optimise is None:
        optimise = schedule.written <= largest
    data, from_cache = object_code_of(text, target, int(optimise), cache)
    require_functions(library_functions(program))
    if schedule.batch.angles:
        require_batch(target, cache)
    engine = load_object(data, target)
    return MachineCode(
        address=engine.get_function_address(KERNEL),
        n_y=program.n_y,
        n_p=program.n_p,
        n_out=len(program.outputs),
        n_work=schedule.n_work,
        operations=kernel.operations,
        compile_seconds=time.perf_counter() - began,
        from_cache=from_cache,
        _engine=engine,
        key=content_key((text,)),
        source=function,
    )


@dataclass(frozen=True)
class KernelText:
    """A function as LLVM text, and what it was written from."""

    text: str
    program: Program
    schedule: Schedule
    operations: int  # before products are fused with sums; a sine counts as one


def kernel_text(
    function: ca.Function | TracedFunction | Program,
    fused: bool,
    chunk_size: int = CHUNK_SIZE,
    roll: bool = True,
    guard: bool = True,
    series: Sequence[int] = (),
) -> KernelText:
    """The text of a kernel. fused: whether the processor rounds a product and a sum once; for the rest see `compile_function`."""
    program = _program(function)
    series = tuple(series) or program.series
    program = share_reciprocals(program)
    operations = program.operations
    program = add_angles(program)
    if not guard:
        program = replace(program, guards=())
    if fused:
        fuse(program)
    schedule = make_schedule(program, chunk_size, roll=roll)
    return KernelText(emit(program, schedule, series), program, schedule, operations)


_batches: list[Any] = []  # engines with the batch of sines that all kernels call: one, or several after a race between threads


def require_batch(target: Target, cache: Path | None) -> None:
    """Make the batch of sines available to kernels; its name is registered with LLVM before other threads see it."""
    if not _batches:
        require_functions(("sin", "cos"))
        data, _ = object_code_of(batch_text(target.fused), target, 1, cache)
        engine = load_object(data, target)
        llvm.add_symbol(BATCH, engine.get_function_address(BATCH))
        _batches.append(engine)


def _program(function: ca.Function | TracedFunction | Program) -> Program:
    if isinstance(function, Program):  # a copy: products are fused in place
        return replace(function, kind=[*function.kind], a=[*function.a], b=[*function.b], c=[*function.c])
    return function.program() if isinstance(function, TracedFunction) else read_program(function)


def object_code_of(text: str, target: Target, effort: int, folder: Path | None) -> tuple[bytes, bool]:
    """Object code, and whether it came from the cache."""
    parts = (text, target.triple, target.cpu, target.features, str(effort), *VERSIONS, EMITTER_VERSION)
    return kept(folder, parts, lambda: _compile(text, target, effort))


def _compile(text: str, target: Target, effort: int) -> bytes:
    # No optimisation passes: the text is straight-line arithmetic, each value computed once; measured, they gain nothing.
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    return bytes(target.machine(effort).emit_object(module))


def address_of(array: Floats) -> int:
    """The value of array.ctypes.data, four times as fast."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]  # an array is a buffer
    except (TypeError, ValueError):  # read-only, empty or not in one piece
        return int(array.__array_interface__["data"][0])


def _column(name: str, values: ArrayLike, n: int) -> Floats:
    column = np.ascontiguousarray(values, dtype=np.float64)
    column = column if column.ndim == 1 else column.ravel()
    if column.size != n:
        raise SolveError(f"machine code: {name} must have {n} values, got {column.size}")
    return column

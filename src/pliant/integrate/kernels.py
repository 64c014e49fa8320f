"""Foundations of the compiled loops: views of arrays by address, calls of kernels by address, the decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba import __version__ as numba_version
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pliant.integrate.run_record import RUN
from pliant.integrate.shipped_loops import Bitcode

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS = {"nogil": True, "error_model": "numpy"}
UNSEEN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # never called from Python, which makes compilation 20 % faster


def compiled(function: Function) -> Function:
    """Decorator: machine code, compiled together with its callers; only the loop itself is cached on disk."""
    machine_code: Function = njit(**OPTIONS, **UNSEEN)(function)
    return machine_code


def fused(function: Function) -> Function:
    """As `compiled`, with fused multiply-add where the machine has it."""
    machine_code: Function = njit(fastmath={"contract"}, **OPTIONS, **UNSEEN)(function)
    return machine_code


def _view_of(item: Any) -> Any:
    """An intrinsic `view(address, n)`: the n numbers at an address as an array that does not own its memory."""

    def view(typing_context: Any, address: Any, n: Any) -> Any:
        array = types.Array(item, 1, "C")

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            address, n = values
            result = make_array(array)(context, builder)
            bytes_each = context.get_abi_sizeof(context.get_data_type(item))
            populate_array(
                result,
                data=builder.inttoptr(address, result.data.type),
                shape=cgutils.pack_array(builder, [n]),
                strides=cgutils.pack_array(builder, [context.get_constant(types.intp, bytes_each)]),
                itemsize=context.get_constant(types.intp, bytes_each),
                meminfo=None,
            )
            return result._getvalue()

        return array(types.int64, types.int64), emit

    return intrinsic(view)


floats: Any = _view_of(types.float64)
ints: Any = _view_of(types.int64)
flags: Any = _view_of(types.uint8)


def _call(typing_context: Any, kernel: Any, t: Any, y: Any, p: Any, out: Any, work: Any) -> Any:
    """void kernel(double t, const double* y, const double* p, double* out, double* work), all by address."""
    address = types.int64

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = ir.DoubleType().as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), pointer, pointer, pointer, pointer])
        target = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(target, [values[1], *(builder.inttoptr(value, pointer) for value in values[2:])])
        return context.get_dummy_value()

    return types.void(address, types.float64, address, address, address, address), emit


call_kernel: Any = intrinsic(_call)


@compiled
def stage(run: Any, i: int) -> int:
    """Address of k_i."""
    return int(run.k + 8 * i * run.n_padded)


@compiled
def put(target: int, source: int, n: int) -> None:
    """Copy n numbers from address to address."""
    to, out_of = floats(target, n), floats(source, n)
    for i in range(n):
        to[i] = out_of[i]


@compiled
def finite(address: int, n: int) -> bool:
    """Whether all numbers are finite, since zero times a finite number is zero.  Two sums, which can run in parallel."""
    values = floats(address, n)
    even = odd = 0.0
    for i in range(0, n - 1, 2):
        even += values[i] * 0.0
        odd += values[i + 1] * 0.0
    return bool(even + odd + values[n - 1] * 0.0 == 0.0)


@compiled
def end_slope(run: Any, t_new: float) -> None:
    """Compute k_s, the derivative at the end of the step."""
    call_kernel(run.rhs, t_new, run.y_new, run.p, stage(run, run.stages), run.work)
    run.rhs_evaluations += 1


RECORD = from_dtype(RUN)  # the type of `run`


def bitcode_of(function: Callable[..., Any], answer: Any, *arguments: Any) -> Bitcode:
    """Optimised bitcode of answer function(*arguments), without the wrappers for Python.

    The calling convention is Numba's: int32 symbol(answer*, void** trouble, ...), with records by address.
    """
    dispatcher = njit(answer(*arguments), **OPTIONS, **UNSEEN)(function)
    made = dispatcher.overloads[dispatcher.signatures[0]]
    _, _, data = made.library.serialize_using_bitcode()
    return Bitcode(made.fndesc.llvm_func_name, numba_version, data)

"""Kernels around kernels: a function of the loop language, and the traced functions that it calls, as one piece of machine code."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm

from pliant.codegen.emit import KERNEL, library_functions
from pliant.codegen.function import TracedFunction
from pliant.codegen.llvm import EMITTER_VERSION, KernelText, MachineCode, kernel_text, require_batch
from pliant.codegen.loop_compiler import loop_text
from pliant.codegen.loop_language import ENTRY
from pliant.host.object_cache import content_key, kept
from pliant.host.processor import VERSIONS, Target, host, load_object, optimised, require_functions

ARGUMENTS = (float, int, int, int, int)  # t, and the addresses of y, p, out and work
_NOTHING = f"define void @{KERNEL}(double %t, ptr %y, ptr %p, ptr %out, ptr %work) nounwind {{\n  ret void\n}}\n"


@dataclass(frozen=True)
class Sizes:
    """What a caller of a kernel must know: the sizes of y, p and out, and of its own part of work."""

    n_y: int
    n_p: int
    n_out: int
    n_work: int


def texts_of(functions: Mapping[str, TracedFunction]) -> dict[str, KernelText]:
    """The texts of functions, each of which several kernels may be composed of."""
    target = host()
    return {name: kernel_text(function, target.fused) for name, function in functions.items()}


def with_numbers(module: ModuleType, entry: str, numbers: Mapping[str, float]) -> FunctionType:
    """A function of a module, whose numbers are those given here for it and for all functions of the module."""
    names: dict[str, Any] = {**vars(module), **numbers}
    for name, own in vars(module).items():
        if isinstance(own, FunctionType) and own.__module__ == module.__name__:
            names[name] = FunctionType(own.__code__, names, own.__name__)
            names[name].__module__ = own.__module__
    found = names[entry]
    assert isinstance(found, FunctionType)
    return found


def compose(entry: FunctionType, kernels: Mapping[str, KernelText | None], sizes: Sizes, cache: Path | None) -> MachineCode:
    """The machine code of a function (t, y, p, out, work) with the kernels that it calls; None: one without outputs.

    The last part of work belongs to those kernels.
    """
    began, target = time.perf_counter(), host()
    outer = loop_text(entry, ARGUMENTS)
    texts = {name: _NOTHING if kernel is None else kernel.text for name, kernel in kernels.items()}
    parts = (outer, *(part for item in texts.items() for part in item), target.triple, target.cpu, target.features, *VERSIONS)
    data, from_cache = kept(cache, (*parts, EMITTER_VERSION), lambda: _compiled(outer, texts, target))
    inner = [kernel for kernel in kernels.values() if kernel is not None]
    require_functions({"memcpy", "memmove", "memset", *(name for kernel in inner for name in library_functions(kernel.program))})
    if any(kernel.schedule.batch.angles for kernel in inner):
        require_batch(target, cache)
    engine = load_object(data, target)
    return MachineCode(
        address=engine.get_function_address(ENTRY),
        n_y=sizes.n_y,
        n_p=sizes.n_p,
        n_out=sizes.n_out,
        n_work=sizes.n_work + max((kernel.schedule.n_work for kernel in inner), default=0),
        operations=sum(kernel.operations for kernel in inner),
        compile_seconds=time.perf_counter() - began,
        from_cache=from_cache,
        _engine=engine,
        key=content_key(parts),
    )


def _compiled(outer: str, texts: Mapping[str, str], target: Target) -> bytes:
    """Passes see the outer function alone: kernels are straight-line arithmetic, for which they gain nothing."""
    machine = target.machine(1)
    module = optimised(outer, machine, 2)
    for name, text in texts.items():
        own = llvm.parse_assembly(text.replace(f"@{KERNEL}(", f"@{name}("))
        own.triple, own.data_layout = module.triple, module.data_layout
        module.link_in(own)
    return bytes(machine.emit_object(module))

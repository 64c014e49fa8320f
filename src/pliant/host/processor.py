"""The processor of this machine: the target of code generation, and the loader of object code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from pliant.errors import SolveError

_C_LIBRARY = {"win32": "ucrtbase.dll", "darwin": "libSystem.B.dylib"}.get(sys.platform, "libm.so.6")

VERSIONS = (llvmlite.__version__, str(llvm.llvm_version_info))
INLINED = 25  # LLVM's measure of a function that is inlined into a large loop; by default 225


@dataclass(frozen=True)
class Target:
    """The processor for which machine code is generated."""

    triple: str
    cpu: str
    features: str

    @property
    def fused(self) -> bool:
        """Whether it has a fused multiply-add; every 64-bit ARM does, and every x86 since 2013."""
        return self.triple.startswith(("aarch64", "arm64")) or "+fma" in self.features.split(",")

    def machine(self, effort: int) -> Any:
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=effort, jit=True
        )


def host() -> Target:
    """The processor of this machine. This initialises LLVM's tables of targets, which is harmless if repeated."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def optimised(text: str, machine: Any, level: int = 3, unroll: bool = True, inlining: int | None = None) -> Any:
    """The module of a text after LLVM's passes for a target. inlining: the largest cost of a function that is inlined."""
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_unrolling = unroll
    if inlining is not None:
        options.inlining_threshold = inlining
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def load_object(data: bytes, target: Target) -> Any:
    """An execution engine with the object code loaded; the code stays in memory as long as the engine exists."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine(0))
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine


def require_functions(names: Iterable[str]) -> None:
    """Check that the functions of the C library exist, because LLVM would end the process if one were missing."""
    wanted = list(names)
    if any(llvm.address_of_symbol(name) is None for name in wanted):
        llvm.load_library_permanently(_C_LIBRARY)
    missing = [name for name in wanted if llvm.address_of_symbol(name) is None]
    if missing:
        raise SolveError(f"machine code: the C library must contain {', '.join(missing)}, but {_C_LIBRARY} does not")


def _free_at_forks() -> None:
    """Make a fork wait until no other thread is inside LLVM.

    Otherwise the child would inherit LLVM's lock, held by a thread that does not exist in the child, and never get it. Other
    libraries have their own locks, so while threads are busy, processes are better spawned than forked.
    """
    lock = getattr(llvm.ffi.lib, "_lock", None)  # llvmlite has no public name for it
    if lock is not None and hasattr(os, "register_at_fork"):
        leave = functools.partial(lock.__exit__, None, None, None)
        os.register_at_fork(before=lock.__enter__, after_in_parent=leave, after_in_child=leave)


_free_at_forks()

"""This machine: what code is made for, and how object code becomes addresses."""

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


@dataclass(frozen=True)
class Target:
    """The processor that machine code is made for."""

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
    """This machine. LLVM's own tables of targets are filled on the way; doing so twice does no harm."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def object_code(bitcode: bytes, target: Target) -> bytes:
    """Machine code of optimised bitcode, generated as carefully as LLVM can."""
    module = llvm.parse_bitcode(bitcode)
    module.verify()
    return bytes(target.machine(3).emit_object(module))


def load_object(data: bytes, target: Target) -> Any:
    """An engine that has the object code in memory, ready to run; the code lives as long as the engine does."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine(0))
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine


def require_functions(names: Iterable[str]) -> None:
    """Make sure that the C library's functions can be found, for LLVM would end the process where one is missing."""
    wanted = list(names)
    if any(llvm.address_of_symbol(name) is None for name in wanted):
        llvm.load_library_permanently(_C_LIBRARY)
    missing = [name for name in wanted if llvm.address_of_symbol(name) is None]
    if missing:
        raise SolveError(f"machine code: the C library must have {', '.join(missing)}, {_C_LIBRARY} does not")


def _free_at_forks() -> None:
    """A fork waits until no other thread is inside LLVM.

    Its lock, held by a thread that the child has not, would never be free there. Other libraries have locks of
    their own: where threads are busy, processes are better spawned than forked.
    """
    lock = getattr(llvm.ffi.lib, "_lock", None)  # llvmlite has no public name for it
    if lock is not None and hasattr(os, "register_at_fork"):
        leave = functools.partial(lock.__exit__, None, None, None)
        os.register_at_fork(before=lock.__enter__, after_in_parent=leave, after_in_child=leave)


_free_at_forks()

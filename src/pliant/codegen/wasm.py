"""A program as a WebAssembly module."""

from __future__ import annotations

import llvmlite.binding as llvm

from pliant.codegen.standalone import Program
from pliant.codegen.wasm_module import WasmModule, module_of
from pliant.host.processor import Target

WASM = Target("wasm32-unknown-unknown", "generic", "+simd128,+bulk-memory,+bulk-memory-opt,+nontrapping-fptoint,+sign-ext,"
              "+mutable-globals")  # fmt: skip


def wasm_module(program: Program) -> WasmModule:
    """The module; LLVM's tables of all targets are initialised for it."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return module_of(bytes(WASM.machine(2).emit_object(program.linked(WASM))), program.exports)

"""Programs for WebAssembly: kernels and time loops in one module that needs nothing from outside but memory.

The texts are those of every other processor, written without fused products, since WebAssembly has none. Functions of the C library
are those of `own_functions`, so that the same module computes the same bits in every browser, and natively.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from pliant.codegen.emit import KERNEL
from pliant.codegen.function_writer import Function
from pliant.codegen.llvm import KernelText, kernel_text
from pliant.codegen.loop_compiler import loop_text
from pliant.codegen.loop_language import ENTRY
from pliant.codegen.operations import ARGUMENTS, LIBRARY
from pliant.codegen.own_functions import CONSTANTS, OWN, own_fma
from pliant.codegen.plain import Setting, plain_text
from pliant.codegen.sincos import batch_text
from pliant.codegen.wasm_module import WasmModule, module_of
from pliant.host.processor import Target, optimised

WASM = Target("wasm32-unknown-unknown", "generic", "+simd128,+bulk-memory,+bulk-memory-opt,+nontrapping-fptoint,+sign-ext,"
              "+mutable-globals")  # fmt: skip
IMPORTED = ("sin", "cos")  # of angles beyond the range of our own: from the host
ADDRESS = "address_of_"  # before the name of a kernel: the function that gives its address, for calls by address
# fmin and fmax give the other argument when one is nan.
_SMALLER_AND_LARGER = "\n".join(
    f"""define double @{name}(double %a, double %b) nounwind {{
  %first = fcmp {how} double %a, %b
  %chosen = select i1 %first, double %a, double %b
  %unknown = fcmp uno double %b, %b
  %known = select i1 %unknown, double %a, double %chosen
  ret double %known
}}"""
    for name, how in (("fmin", "olt"), ("fmax", "ogt"))
)


@dataclass(frozen=True)
class LoopSource:
    """A function of a time loop, and the types of its arguments: see `loop_compiler`."""

    function: Function
    arguments: Sequence[Any]


@dataclass(frozen=True)
class Program:
    """Everything that a module contains, by the names under which it can be called."""

    kernels: Mapping[str, KernelText]
    loops: Mapping[str, LoopSource]

    @classmethod
    def of(cls, functions: Mapping[str, Any], loops: Mapping[str, LoopSource]) -> Program:
        """functions: what `kernel_text` takes."""
        return cls({name: kernel_text(function, fused=False) for name, function in functions.items()}, loops)

    @property
    def exports(self) -> tuple[str, ...]:
        named = (*self.kernels, *self.loops)
        return (*named, *(ADDRESS + name for name in named))

    def linked(self, target: Target) -> Any:
        """One LLVM module for a target."""
        module = llvm.parse_assembly(_library_text())
        machine = target.machine(3)
        for name, kernel in self.kernels.items():
            module.link_in(llvm.parse_assembly(_renamed(kernel.text, KERNEL, name)))
        for name, loop in self.loops.items():
            module.link_in(optimised(_renamed(loop_text(loop.function, loop.arguments), ENTRY, name), machine, 2, inlining=25))
        module.link_in(llvm.parse_assembly(_addresses_text([*self.kernels, *self.loops])))
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        return module


def wasm_module(program: Program) -> WasmModule:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return module_of(bytes(WASM.machine(2).emit_object(program.linked(WASM))), program.exports)


def _renamed(text: str, name: str, to: str) -> str:
    return re.sub(rf"@{name}(?=\()", f"@{to}", text)


def _addresses_text(names: Sequence[str]) -> str:
    """Functions that give the addresses of others: in WebAssembly, their places in a table."""
    return "\n".join(
        f"declare void @{name}()\ndefine i64 @{ADDRESS}{name}() nounwind {{\n  %x = ptrtoint ptr @{name} to i64\n  ret i64 %x\n}}"
        for name in names
    )


def _library_text() -> str:
    """Our own functions under the names of the C library, and the sines of kernels."""
    functions = {own.__name__.removeprefix("own_"): own.__name__ for own in OWN}
    named = sorted(set(LIBRARY.values()) - set(IMPORTED))
    own = plain_text((own_fma, *OWN), Setting(constants=CONSTANTS)).replace("@llvm.fma.f64(", "@own_fma(")
    texts = ["declare double @llvm.sqrt.f64(double)", *(f"declare double @llvm.{name}.f64(double{', double' * (name == 'copysign')})"
             for name in ("fabs", "floor", "ceil", "copysign")), own, batch_text(fused=False), _SMALLER_AND_LARGER]
    for name in named:
        passed = ", ".join(f"double %x{k}" for k in range(ARGUMENTS.get(name, 1)))
        call = f"call double @{functions[name]}({passed})"
        texts.append(f"define double @{name}({passed}) nounwind {{\n  %y = {call}\n  ret double %y\n}}")
    texts.append("define double @exp2(double %x) nounwind {\n  %y = call double @pow(double 2.0, double %x)\n  ret double %y\n}")
    return "\n".join(texts)

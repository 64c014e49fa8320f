"""Kernels and time loops in one module that needs nothing from outside but memory: for any LLVM target, or as C.

The texts are those of every run, written without fused products, which not every processor has. Functions of the C library are
those of `own_functions`, so that a module computes the same bits in browsers, natively and from C, but for sines of huge angles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from pliant.codegen.c_text import c_text
from pliant.codegen.emit import KERNEL, library_functions
from pliant.codegen.function_writer import Function, intrinsics_text
from pliant.codegen.llvm import KernelText, kernel_text
from pliant.codegen.loop_compiler import loop_text
from pliant.codegen.loop_language import ENTRY
from pliant.codegen.operations import ARGUMENTS
from pliant.codegen.own_functions import OWN, own_fma
from pliant.codegen.plain import Setting, plain_text
from pliant.codegen.sincos import batch_text
from pliant.host.cache_folder import user_cache
from pliant.host.object_cache import kept
from pliant.host.processor import INLINED, VERSIONS, Target, optimised

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

_POWER_OF_TWO = "define double @exp2(double %x) nounwind {\n  %y = call double @pow(double 2.0, double %x)\n  ret double %y\n}"
_BY_LOOPS = ("exp", "log", "pow")


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
        machine = target.machine(3)
        module = _library(self, machine)
        for name, kernel in self.kernels.items():
            module.link_in(llvm.parse_assembly(_renamed(kernel.text, KERNEL, name)))
        for name, loop in self.loops.items():
            module.link_in(llvm.parse_bitcode(_loop_bitcode(name, loop, target)))
        module.link_in(llvm.parse_assembly(_addresses_text([*self.kernels, *self.loops])))
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        return module

    def c(self) -> str:
        """One C file; every function is static, and has its name after `pl_`."""
        texts = {f"k{k}": _renamed(kernel.text, KERNEL, name) for k, (name, kernel) in enumerate(self.kernels.items())}
        for k, (name, loop) in enumerate(self.loops.items()):
            texts[f"l{k}"] = _renamed(loop_text(loop.function, loop.arguments, fused=False), ENTRY, name)
        return c_text({**texts, "own": _library_text(_used(self))})


def _loop_bitcode(name: str, loop: LoopSource, target: Target) -> bytes:
    """A loop after LLVM's passes, which take seconds: kept on disk."""
    text = _renamed(loop_text(loop.function, loop.arguments, fused=False), ENTRY, name)
    parts = (text, target.triple, target.features, *VERSIONS)
    return kept(user_cache("loops"), parts, lambda: bytes(optimised(text, target.machine(3), 2, inlining=INLINED).as_bitcode()))[0]


def _renamed(text: str, name: str, to: str) -> str:
    return re.sub(rf"@{name}(?=\()", f"@{to}", text)


def _addresses_text(names: Sequence[str]) -> str:
    """Functions that give the addresses of others: in WebAssembly, their places in a table."""
    return "\n".join(
        f"declare void @{name}()\ndefine i64 @{ADDRESS}{name}() nounwind {{\n  %x = ptrtoint ptr @{name} to i64\n  ret i64 %x\n}}"
        for name in names
    )


def _library(program: Program, machine: Any) -> Any:
    """The functions of the C library that a program may call, by our own, and the sines of kernels."""
    return optimised(_library_text(_used(program)), machine, 2)


def _used(program: Program) -> set[str]:
    return {name for kernel in program.kernels.values() for name in library_functions(kernel.program)} | set(_BY_LOOPS)


def _library_text(used: set[str]) -> str:
    functions = {own.__name__.removeprefix("own_"): own.__name__ for own in OWN}
    own = plain_text((own_fma, *OWN), Setting()).replace("@llvm.fma.f64(", "@own_fma(")
    texts = [intrinsics_text(), own, batch_text(fused=False), _SMALLER_AND_LARGER, _POWER_OF_TWO]
    for name in sorted(used - set(IMPORTED)):
        passed = ", ".join(f"double %x{k}" for k in range(ARGUMENTS.get(name, 1)))
        call = f"call double @{functions[name]}({passed})"
        texts.append(f"define double @{name}({passed}) nounwind {{\n  %y = {call}\n  ret double %y\n}}")
    return "\n".join(texts)

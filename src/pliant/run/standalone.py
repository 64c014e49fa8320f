"""A run without Python: which functions its memory calls, and what they were compiled from, for other processors and languages.

`live` puts such a run into a page, `exchange` into a library for other simulators: each takes the memory of a run that is prepared
but not begun, lays it out elsewhere (`image`), and compiles the same loop and the same kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pliant.codegen.llvm import KernelText, MachineCode, kernel_text
from pliant.codegen.standalone import LoopSource, Program
from pliant.integrate.memory.run_record import KERNELS
from pliant.integrate.methods.method import Method
from pliant.run.prepare import Compiled
from pliant.run.simulate import Run

ADVANCE, FAMILY = "advance", "family"  # the loops of a run
MOST_PIECES = 100_000  # of time
# Arrays of a run that are written before they are read.
WRITTEN_FIRST = frozenset(("work", "samples", "row_t", "row_y", "row_observed", "finished", "log_t", "log_event", "log_direction",
                           "note_t", "note_y", "note_event", "note_direction", "kept_t", "kept_y", "kept_p", "pristine",
                           "restored"))  # fmt: skip


@dataclass(frozen=True)
class Called:
    """What the memory of a run calls."""

    kernels: Mapping[str, KernelText]
    addresses: Mapping[str, str]  # fields of its record, and entries as updates[0], with the names of what they call
    family: str  # of methods

    def program(self, more: Mapping[str, KernelText], loops: Mapping[str, LoopSource]) -> Program:
        """These functions and others."""
        return Program({**self.kernels, **more}, loops)

    @property
    def loops(self) -> dict[str, LoopSource]:
        """The time loop, and the family of methods that it calls."""
        return {ADVANCE: loop_source("loop.march"), FAMILY: loop_source(f"methods.{self.family}")}


def called_by(run: Run, method: Method) -> Called:
    """The functions that the memory of a run calls."""
    memory = run.stepper.memory
    by_address = {code.address: name for name, code in _codes(run.compiled, memory.kernel).items()}
    sources = {name: code.source for name, code in _codes(run.compiled, memory.kernel).items()}
    addresses = {name: by_address[int(memory.run[name])] for name in (*KERNELS, "events") if memory.run[name] and name != FAMILY}
    addresses[FAMILY] = FAMILY
    addresses |= {f"updates[{k}]": by_address[int(address)] for k, address in enumerate(memory.arrays["updates"])}
    wanted = sorted(set(addresses.values()) - {FAMILY})
    return Called({name: kernel_text(sources[name], fused=False) for name in wanted}, addresses, method.family)


def loop_source(name: str, loop: str = "LOOP") -> LoopSource:
    """A function of `integrate` that machine code enters."""
    found = getattr(import_module(f"pliant.integrate.{name}"), loop)
    return LoopSource(found.function, found.arguments)


def one_method(method: Method, steps_of: Mapping[str, int]) -> Method:
    """The method of a run without Python: of the two that an automatic one has, that which a run took most of its steps with."""
    taken: Method = max(method.alternatives, key=lambda one: steps_of.get(type(one).__name__, 0))
    return taken


def _codes(compiled: Compiled, kernel: Any) -> dict[str, MachineCode]:
    """All machine code that the record may point to, by names."""
    codes = dict(compiled.structure.code)
    more = getattr(kernel, "_code", None) or getattr(kernel, "code", None)
    for k, code in enumerate(more if isinstance(more, tuple) else (more,)):
        if isinstance(code, MachineCode):
            codes[f"of_method_{k}"] = code
    return codes

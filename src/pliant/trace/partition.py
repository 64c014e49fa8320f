"""Constraints of closed loops as kernels, compiled on demand for the method that partitions coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.codegen.llvm import compile_function
from pliant.errors import ModelError
from pliant.integrate.memory.constraint_kernel import ConstraintKernels
from pliant.trace.apart import FEW_LOOPS
from pliant.trace.assembly import BENDING
from pliant.trace.traced_system import TracedSystem


def constraint_kernels(traced: TracedSystem, cache: Path | None) -> ConstraintKernels | None:
    """Kernels of the exact loops; None if there are none. Joints are preferred as dependent coordinates, since modes are stiff."""
    if traced.partition is None:
        if traced.held:
            rule = (
                f"must not be one that partitions coordinates if more than {FEW_LOOPS} loops hang on one tree in a plane: these "
                "are solved with joints taken apart; give formulation='augmented', or another method"
            )
            raise ModelError.of("simulate", "method", rule, f"{traced.held} rows of loops")
        return None
    values, shift = (compile_function(function, cache=cache) for function in traced.partition)
    own = {k for node in traced.tree.nodes for k in node.own_v}
    ease = np.array([BENDING if k in own else 1.0 for k in traced.free_v])
    rows = values.n_out // (2 + len(traced.free_v))
    return ConstraintKernels(
        values=values.address,
        shift=shift.address,
        n_work=max(values.n_work, shift.n_work),
        rows=rows,
        positions=len(traced.free_q),
        ease=ease,
        code=(values, shift),
    )

"""The kernel of an exact Jacobian, as passed to an implicit method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JacobianKernel:
    """A kernel of df/dy, row by row, followed by df/dt if the rows cover the whole state.

    by_columns: if True, the kernel computes J w for y = [state, direction in the components that feed back, direction in t].
    """

    address: int
    n_work: int
    operations: int  # number of operations of the whole Jacobian
    rhs_operations: int
    by_columns: bool
    rates: dict[int, int] = field(default_factory=dict)  # components whose derivative is another component
    compile_seconds: float = 0.0  # s
    _code: Any = None  # keeps the machine code alive

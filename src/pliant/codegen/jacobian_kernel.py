"""What a caller hands over for an exact Jacobian."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JacobianKernel:
    """A kernel of df/dy, rows one after another, and df/dt behind them where rows cover the whole state.

    by_columns: instead J w for y = [state, direction in what feeds back, direction in t].
    """

    address: int
    n_work: int
    operations: int  # of the whole Jacobian
    rhs_operations: int
    by_columns: bool
    rates: dict[int, int] = field(default_factory=dict)  # components whose derivative is just another component
    compile_seconds: float = 0.0  # s
    _code: Any = None  # keeps the machine code alive

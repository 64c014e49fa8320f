"""Rosenbrock methods as data, in the form without matrix products (Hairer, Wanner II, IV.7).

(I / (gamma h) - J) u_i = f(t + alpha_i h, y + sum a_ij u_j) + sum c_ij u_j / h + d_i h df/dt,   y1 = y + sum m_i u_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class RosenbrockTableau:
    """Rows of a and c are the strictly lower triangles.

    The dense output is y(x) = (1 - x) y0 + x (y1 + (1 - x) (D_1 + x (D_2 + x D_3 ...))) with D_k = sum dense_kj u_j.
    """

    name: str
    order: int
    error_order: int  # the error estimate is proportional to h^(error_order + 1)
    dense_order: int
    gamma: float
    a: Rows
    c: Rows
    alpha: tuple[float, ...]
    d: tuple[float, ...]
    m: tuple[float, ...]
    error: tuple[float, ...]
    dense: Rows

    @property
    def stages(self) -> int:
        return len(self.alpha)

    @property
    def pairs(self) -> int:
        return 0

    @property
    def terms(self) -> int:
        """Number of dense-output terms given by rows."""
        return len(self.dense)

    @property
    def pole(self) -> float:
        return 1.0 / self.gamma

    @property
    def repeats(self) -> tuple[bool, ...]:
        """Stages that are evaluated at the same point as the previous one."""
        rows = lower(self.a, self.stages)
        return tuple(
            i > 0 and self.alpha[i] == self.alpha[i - 1] and bool(np.all(rows[i] == rows[i - 1])) for i in range(self.stages)
        )

    def pack(self) -> dict[str, NDArray[Any]]:
        """The coefficients as arrays, by the names used in `memory`."""
        return {
            "nodes": np.array(self.alpha),
            "integrals": lower(self.a, self.stages),
            "coupling": lower(self.c, self.stages),
            "drift": np.array(self.d),
            "solution": np.array(self.m),
            "estimate": np.array(self.error),
            "polynomials": np.array(self.dense).reshape(-1, self.stages),
            "repeats": np.array(self.repeats, dtype=np.int64),
        }


def lower(rows: Sequence[Sequence[float]], stages: int) -> NDArray[np.float64]:
    """A strictly lower triangle as a square matrix."""
    square = np.zeros((stages, stages))
    for i, row in enumerate(rows):
        square[i, : len(row)] = row
    return square


# Steinebach 2023, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia differential
# equations package: order 5, stiffly accurate, dense output of order 4, no loss of order on Prothero and Robinson's problem.
_RODAS5P_A6 = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)

RODAS5P = RosenbrockTableau(
    name="Rodas5P",
    order=5,
    error_order=4,
    dense_order=4,
    gamma=0.21193756319429014,
    a=(
        (),
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _RODAS5P_A6,
        (*_RODAS5P_A6, 1.0),
        (*_RODAS5P_A6, 1.0, 1.0),
    ),
    c=(
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627),
    ),
    alpha=(0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
    d=(0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069,
       0.0, 0.0, 0.0),
    m=(*_RODAS5P_A6, 1.0, 1.0, 1.0),
    error=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    dense=(
        (25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493),
        (-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372),
        (11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722),
    ),
)  # fmt: skip

# Sandu, Verwer, Blom, Spee, Carmichael, Potra 1997, Benchmarking stiff ODE solvers for atmospheric chemistry problems II:
# order 3, stiffly accurate, four stages of which the second needs no evaluation.  Its dense output is the cubic that the
# derivatives at both ends give; see `rosenbrock`.
RODAS3 = RosenbrockTableau(
    name="Rodas3",
    order=3,
    error_order=2,
    dense_order=3,
    gamma=0.5,
    a=((), (0.0,), (2.0, 0.0), (2.0, 0.0, 1.0)),
    c=((), (4.0,), (1.0, -1.0), (1.0, -1.0, -8.0 / 3.0)),
    alpha=(0.0, 0.0, 1.0, 1.0),
    d=(0.5, 1.5, 0.0, 0.0),
    m=(2.0, 0.0, 1.0, 1.0),
    error=(0.0, 0.0, 0.0, 1.0),
    dense=(),
)

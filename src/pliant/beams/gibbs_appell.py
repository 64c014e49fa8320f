"""The integrals of a beam by the names of the Gibbs-Appell papers: C1 to C9, and B0 to B9 at a state of its modes.

Korayem, Shafei and Dehkordi, eq. 9-33; the terms of a changing free length, eta' and eta'', belong to telescopic links and are zero
here. r_j is the displacement shape of mode j, x the unit vector along the beam, eta the distance from its root, and a tilde the
matrix of a cross product, so that a~ b = a x b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.beams.integrals import shape_integrals
from pliant.model import check
from pliant.model.beam import Beam

LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k], LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0


@dataclass(frozen=True, eq=False)
class GibbsAppellIntegrals:
    """C1 to C9 of one beam with m modes. Those with a prime in the paper contain one eta more and end in `_eta`."""

    B0: float  # int mu, kg
    C1: Floats  # (m, 3) int mu r_j
    C2: Floats  # (3, 3) int mu eta x~
    C3: Floats  # (m,) int mu x . r_j
    C4: Floats  # (m, m) int mu r_j . r_k
    C5: Floats  # (m, 3) int mu x~ r_j
    C5_eta: Floats  # (m, 3) int mu eta x~ r_j
    C6: Floats  # (m, m, 3) int mu r_j~ r_k
    C7: Floats  # (3, 3) int mu eta x~^T x~
    C7_eta: Floats  # (3, 3) int mu eta^2 x~^T x~
    C8: Floats  # (m, 3, 3) int mu x~^T r_j~
    C8_eta: Floats  # (m, 3, 3) int mu eta x~^T r_j~
    C9: Floats  # (m, m, 3, 3) int mu r_j~^T r_k~

    def at(self, delta: Sequence[float], rate: Sequence[float] = (), second: Sequence[float] = ()) -> dict[str, Floats]:
        """alpha, beta and B1 to B9 for modal coordinates delta, their rates and second derivatives; zero if left out."""
        count = len(self.C3)
        d, v, a = (np.array(check.numbers("GibbsAppellIntegrals", name, tuple(x) or (0.0,) * count, count))
                   for name, x in (("delta", delta), ("rate", rate), ("second", second)))  # fmt: skip
        alpha = self.C5_eta + np.einsum("k,kjx->jx", d, self.C6)
        beta = self.C8_eta + np.einsum("k,kjxy->jxy", d, self.C9)
        return {
            "alpha": alpha,
            "beta": beta,
            "B1": a @ self.C1,
            "B2": tilde(v @ self.C1),
            "B3": self.C2 + tilde(d @ self.C1),
            "B4": np.array(a @ self.C4 @ a),
            "B5": np.einsum("j,k,jkx->x", a, v, self.C6),
            "B6": a @ alpha,
            "B7": np.einsum("j,jxy->xy", a, beta),
            "B8": np.einsum("j,jxy->xy", v, beta),
            "B9": self.C7_eta + np.einsum("j,jxy->xy", d, np.swapaxes(self.C8_eta, 1, 2) + beta),
        }


def gibbs_appell_integrals(beam: Beam) -> GibbsAppellIntegrals:
    """The integrals of a beam, without its payload, which is a body of its own."""
    check.instance("gibbs_appell_integrals", "beam", beam, Beam, "a Beam")
    known = shape_integrals(beam)
    x, c1 = np.array([1.0, 0.0, 0.0]), known.first_modal.T
    products = known.second  # int mu W_a W_b^T, with W_0 = eta x
    along = np.einsum("a,jb->jab", x, c1)  # int mu x r_j^T
    return GibbsAppellIntegrals(
        B0=known.mass,
        C1=c1,
        C2=tilde(known.first),
        C3=c1 @ x,
        C4=np.trace(products[1:, 1:], axis1=2, axis2=3),
        C5=_crossed(along),
        C5_eta=_crossed(products[0, 1:]),
        C6=_crossed(products[1:, 1:]),
        C7=_turned(np.outer(x, x) * known.first[0]),
        C7_eta=_turned(products[0, 0]),
        C8=_turned(along),
        C8_eta=_turned(products[0, 1:]),
        C9=_turned(products[1:, 1:]),
    )


def tilde(a: Floats) -> Floats:
    """The matrix of a cross product: tilde(a) @ b = a x b."""
    return np.asarray(-np.einsum("ijk,k->ij", LEVI_CIVITA, a))


def _crossed(product: Floats) -> Floats:
    """a x b from a b^T."""
    return np.asarray(np.einsum("ijk,...jk->...i", LEVI_CIVITA, product))


def _turned(product: Floats) -> Floats:
    """a~^T b~ from a b^T: (a . b) 1 - b a^T."""
    trace = np.trace(product, axis1=-2, axis2=-1)
    return np.asarray(np.multiply.outer(trace, np.eye(3)) - np.swapaxes(product, -1, -2))

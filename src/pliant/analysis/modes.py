"""Natural frequencies, damping ratios and shapes of a linearised mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eig, eigh

from pliant.arrays import Complexes, Floats
from pliant.errors import ModelError
from pliant.model import check

if TYPE_CHECKING:
    from pliant.analysis.linear_matrices import LinearMatrices
    from pliant.analysis.mode_motion import MovedMechanism
    from pliant.results.result import Result

RIGID = 1e-12  # fraction of a coordinate's own stiffness, per coordinate: less is round-off, and the motion is rigid
SYMMETRIC = 1e-10  # fraction of the largest entry: bound on the skew part of K if the forces have a potential
UNDAMPED = 1e-14  # fraction of critical damping
NOTHING = 1e-13  # fraction of the largest eigenvalue: less is zero up to round-off
ROUND_OFF = 1e-9  # fraction of an eigenvalue: in a system without losses a smaller real part is round-off
LARGE = 0.1  # fraction of the largest entry of a shape: coordinates above it are named in descriptions


@dataclass(frozen=True, repr=False, eq=False)
class NaturalModes:
    """Natural modes in ascending order of frequency, one for each conjugate pair of eigenvalues.

    A motion that decays or grows without oscillation has frequency 0 and damping ratio 1 or -1; a rigid motion, which nothing
    resists, has frequency 0 and damping ratio 0.
    """

    name: str
    eigenvalues: Complexes  # 1/s, with imaginary parts >= 0
    shapes: Complexes  # one column per mode, one row per entry of `coordinates`; the largest entry of a column is 1
    coordinates: tuple[str, ...]  # all tangent coordinates, including dependent and prescribed ones
    mechanism: MovedMechanism | None = None
    warnings: tuple[str, ...] = ()  # what to know before believing the numbers

    @property
    def frequencies(self) -> Floats:
        """Undamped natural frequencies, rad/s: |eigenvalue| of each oscillating mode, 0 for the others."""
        return np.asarray(np.where(self.eigenvalues.imag > 0.0, np.abs(self.eigenvalues), 0.0))

    @property
    def damping_ratios(self) -> Floats:
        """Damping as a fraction of critical damping; negative for a mode that grows."""
        size = np.abs(self.eigenvalues)
        return np.asarray(np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0) + 0.0)

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, number: int) -> Mapping[str, Mapping[str, complex]]:
        """The shape of one mode by body and coordinate, relative to its largest entry; real if all entries are in phase."""
        column = self.shapes[:, self.checked(number)]
        bodies: dict[str, dict[str, complex]] = {}
        for name, value in zip(self.coordinates, column, strict=True):
            body, coordinate = name.rsplit(".", 1)
            bodies.setdefault(body, {})[coordinate] = complex(value)
        return bodies

    def moving(self, number: int) -> str:
        """Names of the coordinates that move most in a mode."""
        return largest_parts(self.coordinates, self.shapes[:, self.checked(number)])

    def course(self, number: int) -> str:
        """How a mode that does not oscillate decays or grows; empty for the others, whose frequency says it."""
        pole = complex(self.eigenvalues[self.checked(number)])
        if pole.imag > 0.0 or pole.real == 0.0:
            return ""
        return f"{'decays' if pole.real < 0.0 else 'grows'} by e in {1.0 / abs(pole.real):.4g} s: "

    def pole(self, number: int) -> str:
        """The eigenvalue of a mode, 1/s, as text: -0.6 ± 34.9i, or -5.2 if it does not oscillate."""
        pole = complex(self.eigenvalues[self.checked(number)])
        return f"{pole.real + 0.0:.4g}" + (f" ± {pole.imag:.6g}i" if pole.imag > 0.0 else "")

    def animated(self, number: int, size: float = 0.1, cycles: int = 2) -> Result:
        """The mechanism vibrating in one mode, as a Result to plot, to animate, or to show with pl.player.write.

        size: the largest displacement of any drawn point, as a fraction of the mechanism's size. A cycle takes 1 s.
        """
        if self.mechanism is None:
            raise ModelError.of("modes", "mechanism", "must be known to be animated", None)
        from pliant.analysis.mode_motion import swinging

        size, cycles = check.positive("modes", "size", size), check.count("modes", "cycles", cycles)
        w, ratio = float(self.frequencies[self.checked(number)]), self.damping_ratios[number]
        message = f"mode {number}: {w:.6g} rad/s ({w / (2.0 * np.pi):.6g} Hz), damping ratio {ratio:.3g}"
        shown = swinging(self.mechanism, self.shapes[:, number], size, cycles, message, mode=number)
        return replace(shown, warnings=self.warnings)  # the drawing exaggerates

    def checked(self, number: int) -> int:
        """The number of a mode, refused if there is no such mode."""
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self):
            raise ModelError.of("modes", "number", f"must be from 0 to {len(self) - 1}", number)
        return number

    def __repr__(self) -> str:
        return f"<NaturalModes {self.name!r}: {len(self)} modes>"

    def __str__(self) -> str:
        lines = [f"{'mode':>4}  {'rad/s':>12}  {'Hz':>12}  {'damping':>10}  {'pole, 1/s':>22}  moves most"]
        for k, (w, ratio) in enumerate(zip(self.frequencies, self.damping_ratios, strict=True)):
            numbers = f"{k:>4}  {w:>12.6g}  {w / (2 * np.pi):>12.6g}  {ratio:>10.3g}  {self.pole(k):>22}"
            lines.append(f"{numbers}  {self.course(k)}{self.moving(k)}")
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings)])


def largest_parts(names: tuple[str, ...], column: Complexes | Floats) -> str:
    sizes = np.abs(column)
    if not sizes.size or np.max(sizes) == 0.0:
        return "nothing"
    order = sorted(np.flatnonzero(sizes > LARGE * np.max(sizes)), key=lambda k: -sizes[k])
    return ", ".join(names[k] for k in order[:4])


def modes_of(linear: LinearMatrices) -> NaturalModes:
    if not linear.coordinates:
        raise ModelError.of("modes", "coordinates", "must include at least one that is free to move", 0)
    values, vectors = _eigen(linear)
    shapes = linear.motions @ vectors
    order = np.lexsort((values.real, np.where(values.imag > 0.0, np.abs(values), 0.0)))
    shapes = np.array([_normalised(shapes[:, k]) for k in order]).T
    return NaturalModes(linear.name, values[order], shapes.reshape(len(linear.all_coordinates), -1), linear.all_coordinates,
                 linear.mechanism, linear.warnings)  # fmt: skip


def _eigen(linear: LinearMatrices) -> tuple[Complexes, Complexes]:
    """Eigenvalues, one per conjugate pair, and their shapes over the independent coordinates."""
    n = len(linear.coordinates)
    if len(linear.free_states) == 2 * n and is_conservative(linear):
        return _conservative(linear.M, linear.K)
    return _general(linear)


def is_conservative(linear: LinearMatrices) -> bool:
    """Whether the mechanism is neither damped nor gyroscopic and its forces have a potential: damping = 0 and K symmetric."""
    M, C, K = linear.M, linear.damping, linear.K
    if K.shape[0] != K.shape[1]:  # non-holonomic constraints
        return False
    largest = float(np.max(np.abs(K), initial=0.0))
    critical = 2.0 * np.sqrt(np.abs(np.diag(M)) * np.abs(np.diag(K)))
    scale = np.sqrt(np.outer(critical, critical))
    none = np.all(np.abs(C) <= UNDAMPED * np.where(scale > 0.0, scale, np.max(critical, initial=0.0)))
    return bool(none and np.max(np.abs(K - K.T), initial=0.0) <= SYMMETRIC * largest)


def _conservative(M: Floats, K: Floats) -> tuple[Complexes, Complexes]:
    """Modes of K x = w^2 M x; rigid motions are removed first, so that their frequencies are exactly zero."""
    K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
    rigid = null_motions(K)
    elastic = _beside(rigid, M)
    if not elastic.shape[1]:
        return np.zeros(len(M), dtype=np.complex128), rigid.astype(np.complex128)
    squares, vectors = eigh(elastic.T @ K @ elastic, elastic.T @ M @ elastic)
    paces = np.sqrt(np.abs(squares))
    values = np.concatenate([np.zeros(rigid.shape[1]), np.where(squares < 0.0, paces, 1j * paces)])
    return values, np.hstack([rigid, elastic @ vectors]).astype(np.complex128)


def null_motions(K: Floats) -> Floats:
    """Motions that K does not resist, one per column; its entries are compared with each coordinate's own stiffness."""
    own = np.sqrt(np.abs(np.diag(K)))
    scale = np.where(own > 0.0, own, 1.0)
    _, sizes, directions = np.linalg.svd(K / np.outer(scale, scale))
    return np.asarray(directions[sizes <= RIGID * len(K)].T / scale[:, None])


def _beside(rigid: Floats, M: Floats) -> Floats:
    """A basis of the motions that are M-orthogonal to the rigid ones."""
    n, r = len(M), rigid.shape[1]
    return np.eye(n) if r == 0 else np.asarray(np.linalg.qr(M @ rigid, mode="complete")[0][:, r:])


def _general(linear: LinearMatrices) -> tuple[Complexes, Complexes]:
    """Modes of A without prescribed states; its null space is removed first, because zero eigenvalues may be defective."""
    free = list(linear.free_states)
    A = linear.A[np.ix_(free, free)]
    n = len(linear.coordinates)
    # coordinates are scaled by their own frequencies, so that they have the size of their rates; not all of them have such a rate
    moving = [linear.coordinates.index(linear.states[k].removeprefix("rate of ")) for k in free[n : n + len(linear.M)]]
    mass, square = np.ones(n), np.zeros(n)
    mass[moving] = np.where(np.diag(linear.M) > 0.0, np.diag(linear.M), 1.0)
    square[moving] = np.abs(np.diag(linear.K[:, moving])) / mass[moving]
    stiff = square > NOTHING * np.max(square, initial=0.0)
    slowest = np.min(square[stiff], initial=np.inf)
    square = np.where(stiff, square, slowest if np.isfinite(slowest) else 1.0)
    size = np.sqrt(np.concatenate([square * mass, mass[moving], np.ones(len(free) - n - len(moving))]))
    scaled = A * np.outer(size, 1.0 / size)
    still = _null_columns(scaled)
    basis = np.linalg.qr(still, mode="complete")[0] if still.shape[1] else np.eye(len(free))
    r = still.shape[1]
    turned = basis.T @ scaled @ basis
    values, vectors = eig(turned[r:, r:])
    # what is still zero is the rate of a null motion, the other half of its pair
    kept = (values.imag >= 0.0) & (np.abs(values) > NOTHING * np.max(np.abs(values), initial=0.0))
    values, vectors = values[kept], vectors[:, kept]
    if _loses_nothing(linear):
        values = np.where((values.imag > 0.0) & (np.abs(values.real) <= ROUND_OFF * np.abs(values)), 1j * values.imag, values)
    states = basis[:, r:] @ vectors
    # back from the quotient space: the null motions contribute -T12 x / value to a vector
    states = states + basis[:, :r] @ (turned[:r, r:] @ vectors / values)
    shapes = np.hstack([basis[:, :r], states]) / size[:, None]
    return np.concatenate([np.zeros(r), values]), shapes[:n]


def _loses_nothing(linear: LinearMatrices) -> bool:
    """Whether the mechanism is conservative apart from gyroscopic terms: velocity terms do no work, and forces have a potential."""
    C, K = linear.damping, linear.K
    if K.shape[0] != K.shape[1]:
        return False
    symmetric = all(float(np.max(np.abs(x), initial=0.0)) <= SYMMETRIC * float(np.max(np.abs(of), initial=0.0))
                    for x, of in ((C + C.T, C), (K - K.T, K)))  # fmt: skip
    return symmetric and len(linear.free_states) == 2 * len(linear.coordinates)


def _null_columns(A: Floats) -> Floats:
    """An orthonormal basis of the null space of A: states that stay where they are."""
    _, sizes, directions = np.linalg.svd(A)
    return np.asarray(directions[sizes <= RIGID * len(A) * np.max(sizes, initial=0.0)].T)


def _normalised(column: Complexes) -> Complexes:
    largest = column[np.argmax(np.abs(column))] if column.size else 1.0
    return column / largest if largest != 0.0 else column

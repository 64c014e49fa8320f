"""Small vibrations about straight equilibria, against eigenproblems assembled here from scratch."""

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from pliant.trace.tracing import trace

LENGTHS, EI, MU = (0.8, 0.6), 120.0, 1.7
BETA_CANTILEVER = 1.8751040687119611


def beam(length, ends, modes):
    return pl.Beam(length=length, section=pl.Section(A=1e-4, Iz=EI / 2e11), material=pl.Material(E=2e11),
                   theory="euler-bernoulli", mass_per_length=MU, modes=pl.Modes(ends, modes, static=False))  # fmt: skip


def two_link_arm(ends, modes):
    system = pl.System("arm", gravity=(0, 0))
    first = system.add("first", beam(LENGTHS[0], ends, modes), joint=pl.Revolute())
    system.add("second", beam(LENGTHS[1], ends, modes), joint=pl.Revolute(), on=first.tip)
    return system


def frequencies(system):
    """rad/s of the traced equations, linearised at rest by exact derivatives."""
    traced = trace(system)
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", traced.y0.size), ca.SX.sym("p", traced.rhs.size1_in(2))
    jacobian = ca.Function("A", [t, y, p], [ca.jacobian(traced.rhs(t, y, p), y)])
    n = len(traced.free_q)
    stiffness = -np.array(jacobian(0.0, np.zeros(traced.y0.size), traced.parameters(0.0, 1.0)))[n : 2 * n, :n]
    return np.sqrt(np.sort(np.linalg.eigvals(stiffness).real).clip(min=0.0))


def ritz(ends, modes):
    """The same shapes in the same places, assembled by quadrature of the displacement of every point."""
    from pliant.beams import beam_shapes

    x, w = np.polynomial.legendre.leggauss(80)
    shapes = [beam_shapes(beam(length, ends, modes)) for length in LENGTHS]
    count = 2 * (1 + modes)
    mass, stiffness = np.zeros((count, count)), np.zeros((count, count))
    tip, slope = np.zeros(count), np.zeros(count)
    for k, (length, shape) in enumerate(zip(LENGTHS, shapes, strict=True)):
        points, weights = 0.5 * length * (x + 1), 0.5 * length * w
        own = slice(k * (1 + modes) + 1, (k + 1) * (1 + modes))
        turn = slope.copy()
        turn[k * (1 + modes)] = 1.0  # the joint's own angle
        field = tip[None, :] + points[:, None] * turn[None, :]
        field[:, own] += shape.displacement(points)[:, 1, :]
        bending = np.zeros_like(field)
        bending[:, own] = shape.displacement(points, order=2)[:, 1, :]
        mass += MU * np.einsum("n,ni,nj->ij", weights, field, field)
        stiffness += EI * np.einsum("n,ni,nj->ij", weights, bending, bending)
        end = np.array([length])
        tip = tip + length * turn
        tip[own] += shape.displacement(end)[0, 1, :]
        slope = turn.copy()
        slope[own] += shape.rotation(end)[0, 2, :]
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real).clip(min=0.0))


def finite_elements(elements):
    """Cubic Hermite elements, pinned at the root, hinged between the links."""
    size = 2 * (elements + 1) * 2
    mass, stiffness = np.zeros((size, size)), np.zeros((size, size))
    for k, length in enumerate(LENGTHS):
        h = length / elements
        m = MU * h / 420 * np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                                     [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]])  # fmt: skip
        s = EI / h**3 * np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                                  [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]])  # fmt: skip
        for e in range(elements):
            first = 2 * (elements + 1) * k + 2 * e
            mass[first : first + 4, first : first + 4] += m
            stiffness[first : first + 4, first : first + 4] += s
    # w(0) = 0; the second link's first deflection is the first link's last
    keep = np.delete(np.eye(size), [0, 2 * (elements + 1)], axis=1)
    keep[2 * (elements + 1), 2 * elements - 1] = 1.0
    m, s = keep.T @ mass @ keep, keep.T @ stiffness @ keep
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(m, s)).real).clip(min=0.0))


@pytest.mark.parametrize("ends", ["ss", "cf", "sf"])
def test_a_pinned_two_link_arm_has_the_frequencies_of_its_assembled_eigenproblem(ends):
    found, wanted = frequencies(two_link_arm(ends, 3)), ritz(ends, 3)
    assert found[2:] == pytest.approx(wanted[2:], rel=1e-10)
    assert found[1] < 1e-6 * found[2]  # two rigid motions: both pins are free


def test_they_converge_to_finite_elements():
    exact = finite_elements(80)[2:5]
    errors = [np.max(np.abs(frequencies(two_link_arm("sf", n))[2:5] / exact - 1.0)) for n in (3, 6)]
    assert errors[1] < 2e-3
    assert errors[1] < 0.5 * errors[0]


def test_a_welded_cantilever_has_its_exact_frequency():
    system = pl.System("cantilever", gravity=(0, 0))
    system.add("beam", beam(0.8, "cf", 1), joint=pl.Weld())
    exact = BETA_CANTILEVER**2 * np.sqrt(EI / MU) / 0.8**2
    assert frequencies(system)[0] == pytest.approx(exact, rel=1e-12)

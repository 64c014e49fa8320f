"""Elastic solids of scikit-fem."""

import re

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl

skfem = pytest.importorskip("skfem")
elasticity = pytest.importorskip("skfem.models.elasticity")

STEEL = pl.Material(E=200e9, nu=0.3, density=7800.0)


def solid(mesh, element, **more):
    return pl.skfem_elements(skfem.Basis(mesh, skfem.ElementVector(element)), STEEL, **more)


def bar(kind, counts=(6, 2, 2)):
    lines = [np.linspace(0.0, length, n + 1) for length, n in zip((0.3, 0.04, 0.05), counts, strict=True)]
    return kind.init_tensor(*lines).with_boundaries({"left": lambda x: x[0] < 1e-9, "right": lambda x: x[0] > 0.3 - 1e-9})


ELEMENTS = {
    "tetrahedra": lambda: (bar(skfem.MeshTet, (3, 1, 1)), skfem.ElementTetP1()),
    "quadratic": lambda: (bar(skfem.MeshTet, (3, 1, 1)), skfem.ElementTetP2()),
    "bricks": lambda: (bar(skfem.MeshHex, (3, 2, 2)), skfem.ElementHex1()),
}


@pytest.mark.parametrize("make", ELEMENTS.values(), ids=ELEMENTS)
def test_frequencies_are_those_of_its_eigenproblem(make):
    """With the matrices that scikit-fem's own forms assemble."""
    mesh, element = make()
    basis = skfem.Basis(mesh, skfem.ElementVector(element))
    elements = pl.skfem_elements(basis, STEEL)
    body = pl.modal_body(elements, {"root": elements.sets["left"]}, pl.CraigBampton(6))
    lame = elasticity.lame_parameters(STEEL.E, STEEL.nu)
    stiffness = elasticity.linear_elasticity(*lame).assemble(basis)
    mass = skfem.BilinearForm(lambda u, v, _: STEEL.density * sum(u[k] * v[k] for k in range(3))).assemble(basis)
    free = np.setdiff1d(np.arange(basis.N), basis.get_dofs("left").all())
    squares = eigh(stiffness[free][:, free].toarray(), mass[free][:, free].toarray(), eigvals_only=True)
    assert body.frequencies == pytest.approx(np.sqrt(squares[:6]) / (2.0 * np.pi), rel=1e-8)
    assert body.mass == pytest.approx(7800.0 * 0.3 * 0.04 * 0.05, rel=1e-12)


@pytest.mark.parametrize("make", ELEMENTS.values(), ids=ELEMENTS)
def test_its_skin_encloses_the_solid(make):
    """The volume inside the triangles, by Gauss: they are closed and turned outwards."""
    elements = solid(*make())
    a, b, c = (elements.nodes[elements.triangles[:, k]] for k in range(3))
    assert np.sum(np.einsum("ni,ni->n", a, np.cross(b, c))) / 6.0 == pytest.approx(0.3 * 0.04 * 0.05, rel=1e-12)


def test_stresses_are_those_of_a_uniform_strain():
    elements = solid(*ELEMENTS["quadratic"](), stress=True)
    strain = np.array([[1.0, 0.2, -0.3], [0.2, -0.5, 0.1], [-0.3, 0.1, 0.4]]) * 1e-4
    found = (elements.stress @ (elements.nodes @ strain).ravel()).reshape(-1, 6)
    mu, lam = STEEL.E / 2.6, STEEL.E * 0.3 / (1.3 * 0.4)
    stress = 2.0 * mu * strain + lam * np.trace(strain) * np.eye(3)
    assert found == pytest.approx(np.tile(stress[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]], (len(found), 1)), rel=1e-9)


def test_what_is_no_solid_is_refused():
    flat = skfem.Basis(skfem.MeshTri(), skfem.ElementVector(skfem.ElementTriP1()))
    for basis in (flat, skfem.Basis(skfem.MeshTet(), skfem.ElementTetP1()), "bar"):
        with pytest.raises(pl.ModelError, match="skfem_elements: basis must be a Basis of a solid mesh with ElementVector"):
            pl.skfem_elements(basis, STEEL)
    with pytest.raises(pl.ModelError, match=re.escape("material must have a density, and nu < 0.5 or G")):
        pl.skfem_elements(skfem.Basis(*_vector()), pl.Material(E=1e9))


def _vector():
    return skfem.MeshTet(), skfem.ElementVector(skfem.ElementTetP1())

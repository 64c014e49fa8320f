"""Finite-element bodies against their own meshes, against beams, and against conservation laws."""

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import spsolve

import bricks
import pliant as pl
from pliant.dynamics.body import Shape
from pliant.dynamics.library import integrated
from pliant.study.sweep.fingerprint import fingerprint

SIZE = (0.6, 0.05, 0.04)
TIGHT = pl.DOP853(rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def mesh():
    return bricks.box(SIZE, (6, 2, 2))


def ends(mesh, length=SIZE[0]):
    return {"root": bricks.end(mesh, 0.0), "tip": bricks.end(mesh, length)}


def dofs(nodes, step=3):
    return (step * np.asarray(nodes)[:, None] + np.arange(step)).ravel()


def clamped(mesh, nodes):
    """(free, frequencies in Hz) of the mesh with some nodes fixed."""
    free = np.setdiff1d(np.arange(mesh.size), dofs(nodes, mesh.per_node))
    squares = eigh(mesh.stiffness[free][:, free].toarray(), mesh.mass[free][:, free].toarray(), eigvals_only=True)
    return free, np.sqrt(squares) / (2.0 * np.pi)


# ---- shapes


def test_frequencies_are_those_of_the_mesh(mesh):
    body = pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(8))
    expected = clamped(mesh, ends(mesh)["root"])[1][:8]
    assert body.frequencies == pytest.approx(expected, rel=1e-8)
    system = pl.System("clamped", gravity=(0, 0))
    system.add("arm", body, joint=pl.Weld())
    assert pl.linearise(system).modes().frequencies / (2.0 * np.pi) == pytest.approx(expected, rel=1e-8)


def test_shapes_up_to_a_frequency_are_all_below_it(mesh):
    expected = clamped(mesh, ends(mesh)["root"])[1]
    for highest in (expected[4] + 1.0, 0.5 * (expected[14] + expected[15])):
        body = pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(highest=highest))
        assert len(body.frequencies) == np.sum(expected <= highest)


@pytest.mark.parametrize("region", ["rigid", "average"])
def test_a_free_body_has_the_free_frequencies_of_its_mesh(mesh, region):
    """Free shapes of the whole are exact, wherever the frame rides."""
    body = pl.modal_body(mesh, ends(mesh), pl.FreeModes(3), region="average")
    system = pl.System("free", gravity=(0, 0))
    system.add("arm", body, joint=pl.Free())
    found = pl.linearise(system).modes().frequencies / (2.0 * np.pi)
    squares = eigh(mesh.stiffness.toarray(), mesh.mass.toarray(), eigvals_only=True)
    expected = np.sqrt(squares[6:9]) / (2.0 * np.pi)
    assert np.sort(found[found > 1.0])[:3] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("reduction", [pl.CraigBampton(0), pl.CraigBampton(3), pl.FreeModes(3)], ids=repr)
@pytest.mark.parametrize("region", ["rigid", "average"])
def test_loads_at_an_interface_deflect_the_body_as_its_mesh(mesh, reduction, region):
    force, moment = np.array([30.0, -20.0, 50.0]), np.array([2.0, 3.0, -4.0])
    body = pl.modal_body(mesh, ends(mesh), reduction, region=region)
    model = body.model
    load = model.frame_shapes[0].T @ force + model.frame_turns[0].T @ moment
    weights = np.linalg.solve(model.stiffness, load)
    found = model.shapes @ weights
    # the mesh with regions tied by equations, multipliers and all
    tied = _tied(mesh, list(ends(mesh).values()), region)
    expected = _statics(mesh, tied, force, moment)
    assert found == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


def _tied(mesh, regions, region):
    """Rows of equations by which the motions of frames, six unknowns each after the mesh's, follow from nodes."""
    rows = []
    for k, nodes in enumerate(regions):
        arms = mesh.nodes[nodes] - mesh.nodes[nodes].mean(axis=0)
        carried = np.zeros((3 * len(nodes), mesh.size + 12))
        carried[np.arange(3 * len(nodes)), dofs(nodes)] = 1.0
        rigid = np.concatenate([np.concatenate([np.eye(3), -np.cross(np.eye(3), r).T @ -np.eye(3)], 1) for r in arms])
        for row, r in enumerate(arms):
            x, y, z = r
            rigid[3 * row : 3 * row + 3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        carried[:, mesh.size + 6 * k : mesh.size + 6 * k + 6] = -rigid
        rows.append(carried if region == "rigid" else rigid.T @ carried)
    return np.concatenate(rows)


def _statics(mesh, tied, force, moment):
    count = mesh.size + 12
    held = np.zeros((6, count))
    held[:, mesh.size : mesh.size + 6] = np.eye(6)
    rows = np.concatenate([tied, held])
    stiffness = sparse.block_diag([mesh.stiffness, sparse.csr_array((12, 12))])
    whole = sparse.block_array([[stiffness, sparse.csr_array(rows.T)], [sparse.csr_array(rows), None]], format="csc")
    load = np.zeros(count + len(rows))
    load[mesh.size + 6 : mesh.size + 12] = [*force, *moment]
    return spsolve(whole, load)[: mesh.size].reshape(-1, 3)


# ---- inertia


@pytest.mark.parametrize("invariants", ["consistent", "lumped"])
def test_kinetic_energy_and_momenta_are_those_of_the_moving_mesh(mesh, invariants):
    """Velocities of all nodes, times the mass matrix: independent of every integral."""
    if invariants == "lumped":  # so that both are exact for this mesh
        mesh = replace(mesh, mass=sparse.diags_array(mesh.mass.sum(axis=1)))
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(3), invariants=invariants)
    rng, model = np.random.default_rng(3), body.model
    z, rates = 0.05 * rng.standard_normal(model.modes), rng.standard_normal(model.modes)
    omega, velocity = rng.standard_normal(3), rng.standard_normal(3)
    shape = Shape.at(integrated(body, {}).body, list(z), list(rates))
    place = model.nodes + model.shapes @ z
    moving = velocity + np.cross(omega, place) + model.shapes @ rates
    carried = (mesh.mass @ moving.ravel()).reshape(-1, 3)
    assert shape.kinetic_energy(tuple(omega), tuple(velocity)) == pytest.approx(0.5 * np.sum(moving * carried), rel=1e-12)
    angular, linear = shape.momentum(tuple(omega), tuple(velocity))
    assert linear == pytest.approx(carried.sum(axis=0), rel=1e-11)
    assert angular == pytest.approx(np.cross(place, carried).sum(axis=0), rel=1e-11)


def test_a_spinning_body_keeps_its_energy_and_momenta(mesh):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(2))
    system = pl.System("spin", gravity=(0, 0))
    joint = pl.Free(velocity=(0.3, -0.2, 0.5), angular_velocity=(9.0, 14.0, -11.0))
    system.add("arm", body, joint=joint, initial={"mode1": 0.01, "mode2": -0.005})
    result = pl.simulate(system, 0.1, method=TIGHT)
    assert result.ok and not result.warnings
    assert np.ptp(result.values["momentum"], axis=0) == pytest.approx(0.0, abs=1e-9)
    angular = result.values["angular_momentum"]
    assert np.ptp(angular, axis=0) == pytest.approx(0.0, abs=1e-8 * np.abs(angular).max())
    energy = result["kinetic"] + result["strain"]
    assert np.ptp(energy) < 1e-8 * energy[0] and np.ptp(result["strain"]) > 0.01 * energy[0]


def pendulum(body, formulation="articulated", t_end=0.05):
    system = pl.System("pendulum", gravity=(0.0, -9.81, 0.0))
    arm = system.add("arm", body, joint=pl.Revolute(angle=0.4, rate=3.0, axis=(0.0, 0.6, 0.8)))
    system.add("bob", pl.RigidBody(mass=0.3, inertia=(1e-3, 2e-3, 3e-3), com=(0.0, 0.05, 0.02)), joint=pl.Spherical(), on=arm.tip)
    return pl.simulate(system, t_end, method=TIGHT, formulation=formulation)


def test_all_formulations_agree(mesh):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(1), damping=[pl.ModalDamping(0.02), pl.Rayleigh(alpha=0.3, beta=1e-6)])
    reference = pendulum(body)
    size = np.abs(reference["q"][-1]).max()
    for formulation in ("gibbs_appell", "lagrange", "gibbs", "denoc", "augmented"):
        result = pendulum(body, formulation)
        for name in ("arm.mode1", "arm.mode7"):
            assert result[name][-1] == pytest.approx(reference[name][-1], abs=1e-8 * size), formulation
    unaccounted = reference.ledger.balance_error
    assert np.abs(unaccounted).max() < 1e-8 * np.ptp(reference["kinetic"])


def test_damping_ratios_are_those_asked_for(mesh):
    ratio = pl.Parameter("ratio", 0.03)
    for damping, given in ((pl.ModalDamping(ratio), {"ratio": 0.07}), (pl.ModalDamping((0.01, 0.02, 0.03)), {})):
        system = pl.System("clamped", gravity=(0, 0))
        body = pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(3), damping=damping)
        system.add("arm", body, joint=pl.Weld())
        found = pl.linearise(system, parameters=given).modes().damping_ratios
        assert found == pytest.approx([0.07] * 3 if given else [0.01, 0.02, 0.03], rel=1e-9)


# ---- beams


def beam(modes=4):
    section, material = pl.Section.rectangle(SIZE[1], SIZE[2]), pl.Material(E=70e9, density=2700.0, nu=0.3)
    return pl.Beam(length=SIZE[0], section=section, material=material, theory="timoshenko", stiffening="none",
                   modes=[pl.Modes("cf", modes), pl.Modes("cf", modes, plane="z"), pl.AxialModes("cf", 1)])  # fmt: skip


def test_a_swing_is_that_of_the_beam_to_the_accuracy_of_the_mesh():
    """The error falls with the square of the size of bricks."""
    expected = pendulum(beam(), t_end=0.1)
    errors = []
    for count in (4, 8, 16):
        mesh = bricks.box(SIZE, (count, 2, 2))
        found = pendulum(pl.modal_body(mesh, ends(mesh), pl.CraigBampton(2)), t_end=0.1)
        bent = found["tip_deflection", "arm"] - expected["tip_deflection", "arm"]
        errors.append(float(np.abs(bent).max() / np.abs(expected["tip_deflection", "arm"]).max()))
    assert errors[-1] < 0.02

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
        rigid = np.tile(np.eye(3, 6), (len(nodes), 1))
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
    """Velocities of all nodes, times the mass matrix: independent of every integral, of which those below 1e-11 count as zero."""
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
    assert shape.kinetic_energy(tuple(omega), tuple(velocity)) == pytest.approx(0.5 * np.sum(moving * carried), rel=1e-10)
    angular, linear = shape.momentum(tuple(omega), tuple(velocity))
    assert linear == pytest.approx(carried.sum(axis=0), rel=1e-10)
    assert angular == pytest.approx(np.cross(place, carried).sum(axis=0), rel=1e-10)


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
    damping, (root, tip) = [pl.ModalDamping(0.02), pl.Rayleigh(alpha=0.3, beta=1e-6)], ends(mesh).values()
    body = pl.modal_body(mesh, {"root": root}, pl.CraigBampton(3), frames={"tip": tip}, damping=damping)
    reference = pendulum(body)
    size = np.abs(reference["q"][-1]).max()
    for formulation in ("gibbs_appell", "lagrange", "gibbs", "denoc", "augmented"):
        result = pendulum(body, formulation)
        for name in ("arm.mode1", "arm.mode3"):
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
    """The box without lateral contraction, which a beam does not have at its clamped end."""
    section, material = pl.Section.rectangle(SIZE[1], SIZE[2]), pl.Material(E=70e9, density=2700.0, G=35e9)
    return pl.Beam(length=SIZE[0], section=section, material=material, theory="timoshenko", stiffening="none",
                   modes=[pl.Modes("cf", modes), pl.Modes("cf", modes, plane="z"), pl.AxialModes("cf", 1)])  # fmt: skip


def solid(count):
    fine = bricks.box(SIZE, (4 * count, count, count), poisson=0.0)
    return pl.modal_body(fine, ends(fine), pl.CraigBampton(2))


def test_a_swing_is_that_of_the_beam_to_the_accuracy_of_the_mesh():
    """Bricks half as large: the error of the second shape's phase falls to what Timoshenko's theory leaves, 0.5 %."""
    expected = pendulum(beam(6), t_end=0.02)["tip_deflection", "arm"]
    found = [pendulum(solid(count), t_end=0.02)["tip_deflection", "arm"] for count in (2, 4, 8)]
    errors = [float(np.abs(one - expected).max() / np.abs(expected).max()) for one in found]
    assert errors[0] > 2.0 * errors[1] > 3.0 * errors[2] and errors[2] < 0.012


def test_an_impact_is_that_of_the_beam():
    """Force and duration of the touch of a falling arm, whose tip bounces on the ground."""
    peaks = []
    for body in (beam(), solid(4)):
        system = pl.System("falling", gravity=(0.0, -9.81, 0.0))
        arm = system.add("arm", body, joint=pl.Revolute(angle=0.15, rate=-2.0))
        system.contact(points=pl.Sphere(arm.tip, 0.02), against=pl.Plane(normal="y", point=(0.0, -0.02)),
                       normal=pl.HuntCrossley(stiffness=1e7, restitution=0.7))  # fmt: skip
        result = pl.simulate(system, 0.1, method=TIGHT)
        assert result.ok
        peaks.append([(touch.begin, touch.peak_time, touch.peak_force) for touch in result.contacts][:1])
    assert peaks[1] == pytest.approx(np.array(peaks[0]), rel=2e-3)


def test_a_body_carries_loads_and_contacts_at_any_node(mesh):
    """A force at a node does the work of the mesh, and a ball rests on one."""
    corner = int(np.argmin(np.sum((mesh.nodes - [0.3, 0.025, 0.02]) ** 2, axis=1)))
    body = pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(8), frames={"tip": ends(mesh)["tip"]})
    force = np.array([0.0, 200.0, -300.0])
    system = pl.System("loaded", gravity=(0, 0))
    arm = system.add("arm", body, joint=pl.Weld())
    system.force("push", arm.at(corner), tuple(force))
    rest = pl.equilibrium(system)
    z = np.array([rest[f"arm.{label}"] for label in body.mode_labels])
    assert z == pytest.approx(np.linalg.solve(body.model.stiffness, body.model.shapes[corner].T @ force), rel=1e-9)
    with pytest.raises(pl.ModelError, match=re.escape("body 'arm': node must be the number of a node, 0 to 62, got 63")):
        arm.at(63)


# ---- nodes that turn, geometric stiffness


def line_of_beams(count, length, stiffness, inertia):
    """Cubic beam elements along x, with six degrees of freedom at each node; bending, and axial and torsional lines."""
    bending, mass_per_length, axial = stiffness, inertia, 1e6 * stiffness
    h = length / count
    one = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2], [-12, -6 * h, 12, -6 * h],
                    [6 * h, 2 * h**2, -6 * h, 4 * h**2]]) * bending / h**3  # fmt: skip
    heavy = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2], [54, 13 * h, 156, -22 * h],
                      [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]) * mass_per_length * h / 420  # fmt: skip
    tense = np.array([[36, 3 * h, -36, 3 * h], [3 * h, 4 * h**2, -3 * h, -(h**2)], [-36, -3 * h, 36, -3 * h],
                      [3 * h, -(h**2), -3 * h, 4 * h**2]]) / (30 * h)  # fmt: skip
    rod, bar = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6
    size = 6 * (count + 1)
    stiff, mass, spun = (np.zeros((size, size)) for _ in range(3))
    for k in range(count):
        first, sign = 6 * k, np.array([1, -1, 1, -1])
        in_y, in_z = [first + 1, first + 5, first + 7, first + 11], [first + 2, first + 4, first + 8, first + 10]
        middle = (k + 0.5) * h
        tension = mass_per_length * (length**2 - middle**2 - h**2 / 12) / 2  # mean over the element, of int mu x dx to the tip
        for rows, turned in ((in_y, np.ones(4)), (in_z, sign)):
            flip = np.outer(turned, turned)
            stiff[np.ix_(rows, rows)] += flip * one
            mass[np.ix_(rows, rows)] += flip * heavy
            spun[np.ix_(rows, rows)] += flip * tension * tense
        for rows, own, heavy_bar in (([first, first + 6], axial, mass_per_length), ([first + 3, first + 9], bending, 1e-4)):
            stiff[np.ix_(rows, rows)] += own * rod
            mass[np.ix_(rows, rows)] += heavy_bar * bar
    nodes = np.stack([np.linspace(0, length, count + 1), *np.zeros((2, count + 1))], axis=1)
    return pl.FiniteElements(mass=mass, stiffness=stiff, nodes=nodes, geometric={"xx": spun})


def test_a_spinning_blade_stiffens_as_a_foreshortening_beam():
    """Frequencies on a hub that turns, out of the plane of rotation and in it, against the beam with its exact fields."""
    length, stiffness, density, speed = 1.2, 80.0, 0.9, 35.0
    blade = line_of_beams(24, length, stiffness, density)
    body = pl.modal_body(blade, {"root": [0], "tip": [24]}, pl.CraigBampton(4))
    section = pl.Section(A=1e-4, Iz=stiffness / 1e11, Iy=stiffness / 1e11)
    plain = pl.Beam(length=length, section=section, material=pl.Material(E=1e11), mass_per_length=density, theory="euler-bernoulli",
                    modes=[pl.Modes("cf", 4), pl.Modes("cf", 4, plane="z")], stiffening="full")  # fmt: skip
    found = []
    for one in (body, plain):
        system = pl.System("hub", gravity=(0, 0))
        system.add("blade", one, joint=pl.Revolute(motion=lambda t: speed * t))
        found.append(np.sort(pl.linearise(system).modes().frequencies)[:4])
    still = 2.0 * np.pi * body.frequencies[0]
    assert found[0][0] > 1.15 * still
    assert found[0] == pytest.approx(found[1], rel=2e-3)


def test_frames_on_single_nodes_turn_with_them():
    blade = line_of_beams(6, 1.2, 80.0, 0.9)
    body = pl.modal_body(blade, {"root": [0], "tip": [6]}, pl.CraigBampton(2))
    assert body.model.frame_turns[0] == pytest.approx(body.model.turns[6])
    assert np.abs(body.model.frame_turns).max() > 0.5


# ---- what is refused


def changed(mesh, name, entries):
    matrix = getattr(mesh, name).tolil(copy=True)
    for (i, j), value in entries.items():
        matrix[i, j] = value
    return replace(mesh, **{name: matrix.tocsr()})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: changed(m, "stiffness", {(3, 7): 5e9}), r"stiffness\[3, 7\] must equal stiffness\[7, 3\] = .*, got 5000000000"),
        (lambda m: changed(m, "mass", {(7, 3): 0.5}), r"mass\[3, 7\] must equal mass\[7, 3\] = 0.5, got "),
        (lambda m: changed(m, "mass", {(9, 9): -1.0}), r"mass\[9, 9\] must be > 0 \(node 3, x\)"),
        (lambda m: changed(m, "mass", {(9, 9): np.nan}), r"mass\[9, 9\] must be a finite number"),
        (lambda m: changed(m, "mass", {(9, 9): 1.0}), "mass must give the body the same mass, in kg, along x, y and z"),
        (lambda m: changed(m, "stiffness", {(9, 9): 1e12}), r"without supports, but a rigid motion .* meets a force at node 3, x"),
        (lambda m: replace(m, stiffness=m.stiffness[:-1, :-1]), r"stiffness must have the shape \(189, 189\), or \(378, 378\)"),
        (lambda m: replace(m, nodes=m.nodes[:, :2]), "nodes must be finite positions"),
        (lambda m: replace(m, nodes=np.concatenate([m.nodes, [[9.0, 0, 0]]]), **_with_loose(m)),
         r"stiffness\[189, 189\] must be > 0 \(node 63, x\)"),
        (lambda m: replace(m, triangles=[[0, 1, 63]]), "triangles must name nodes 0 to 62, got 63"),
        (lambda m: replace(m, triangles=[[0, 1]]), "triangles must be three whole node numbers, one row per triangle"),
        (lambda m: replace(m, nodes=m.nodes + 1j), "nodes must be finite positions"),
        (lambda m: replace(m, nodes=[[pl.Parameter("x", 1.0), 0.0, 0.0]] * 63), "nodes must be finite positions"),
        (lambda m: replace(m, stiffness=[[pl.Parameter("k", 1.0)] * 189] * 189), "stiffness must be a sparse or dense matrix"),
        (lambda m: replace(m, stress=3.0), r"stress must be a matrix of the shape \(0, 189\)"),
    ],
)  # fmt: skip
def test_matrices_of_no_free_body_are_refused_with_the_entry(mesh, make, words):
    with pytest.raises(pl.ModelError, match=words):
        make(mesh)


def _with_loose(mesh):
    """The matrices with a node that has mass, but that no element holds."""
    return {name: sparse.block_diag([getattr(mesh, name), own], format="csr")
            for name, own in (("mass", np.eye(3)), ("stiffness", sparse.csr_array((3, 3))))}  # fmt: skip


def test_a_body_in_two_pieces_is_refused():
    one = bricks.box(SIZE, (1, 1, 1))
    two = {name: sparse.block_diag([getattr(one, name)] * 2, format="csr") for name in ("mass", "stiffness")}
    with pytest.raises(pl.ModelError, match=r"stiffness must hold the body together, but no element joins node 8 to node 0"):
        pl.FiniteElements(nodes=np.concatenate([one.nodes, one.nodes + 2.0]), **two)


def test_a_mechanism_without_stiffness_is_refused():
    """Two bricks that share an edge only: a hinge."""
    one = bricks.box((0.1, 0.1, 0.1), (1, 1, 1))
    other = one.nodes + np.array([0.1, 0.1, 0.0])
    nodes = np.concatenate([one.nodes, other])
    number = np.array([np.flatnonzero(np.sum((nodes - p) ** 2, axis=1) < 1e-12)[0] for p in nodes])
    kept, own = np.unique(number, return_inverse=True)
    matrices = {}
    for name in ("mass", "stiffness"):
        spread = sparse.csr_array((np.ones(48), (np.arange(48), dofs(own))), shape=(48, 3 * len(kept)))
        matrices[name] = spread.T @ sparse.block_diag([getattr(one, name)] * 2) @ spread
    hinged = pl.FiniteElements(nodes=nodes[kept], **matrices)
    with pytest.raises(pl.ModelError, match=r"stiffness\[\d+, \d+\] must resist every motion but the six rigid ones; at node "):
        pl.modal_body(hinged, {"root": bricks.end(hinged, 0.0)}, pl.CraigBampton(2))


@pytest.mark.parametrize(
    ("interfaces", "words"),
    [
        ({}, "interfaces must begin with 'root'"),
        ({"tip": [1, 2, 3]}, "interfaces must begin with 'root'"),
        ({"root": [0]}, r"interfaces\['root'\] must hold three nodes that are not on one line"),
        ({"root": [0, 1, 2]}, r"interfaces\['root'\] must not be on one line"),
        ({"root": [0, 1, 99]}, r"interfaces\['root'\] must be numbers of nodes, 0 to 62"),
        ({"root": [0.5, 1, 9]}, r"interfaces\['root'\] must be numbers of nodes"),
        ({"root": []}, r"interfaces\['root'\] must be numbers of nodes"),
        ({"root": range(9), "tip": range(8, 18)}, r"interfaces\['tip'\] must share no node with 'root', got 8"),
        ({"root": range(9), "a.b": [60]}, "interfaces must be a non-empty string without dots"),
    ],
)
def test_interfaces_that_are_none_are_refused(mesh, interfaces, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.modal_body(mesh, interfaces, pl.CraigBampton(2))


def test_more_shapes_than_the_mesh_has_are_refused(mesh):
    with pytest.raises(pl.ModelError, match=r"reduction.modes must be <= \d+, the shapes of this mesh, got 500"):
        pl.modal_body(mesh, ends(mesh), pl.CraigBampton(500))
    with pytest.raises(pl.ModelError, match="reduction must keep at least one shape"):
        pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(0))
    with pytest.raises(pl.ModelError, match="modes must be given, or highest in Hz instead of it"):
        pl.CraigBampton(3, highest=10.0)


# ---- files, copies


def test_a_saved_body_is_the_same(mesh, tmp_path):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(2), damping=pl.ModalDamping(0.01))
    body.save(tmp_path / "arm.npz")
    again = pl.ModalBody(tmp_path / "arm.npz", damping=pl.ModalDamping(0.01))
    assert again == body and hash(again.model) == hash(body.model)
    for copied in (pickle.loads(pickle.dumps(body)), copy.deepcopy(body)):
        assert copied == body
        assert fingerprint("test", "body", copied) == fingerprint("test", "body", body)
    other = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(1))
    assert other.model != body.model and fingerprint("t", "b", other) != fingerprint("t", "b", body)
    with pytest.raises(ValueError, match="read-only"):
        body.model.shapes[0] = 1.0


MODEL = """
pliant: 1
system: arm
gravity: [0, -9.81, 0]
bodies:
  arm:
    modal_body: {model: arm.npz, damping: {modal_damping: 0.01}, payload: {mass: 0.2}}
    joint: {revolute: {angle: 0.3}}
"""


def test_a_model_file_names_the_file_of_a_body(mesh, tmp_path):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(1), damping=pl.ModalDamping(0.01), payload=pl.Payload(mass=0.2))
    system = pl.System("arm", gravity=(0, -9.81, 0))
    system.add("arm", body, joint=pl.Revolute(angle=0.3))
    with pytest.raises(pl.ModelError, match="ModalBody: must be saved before a model file can name it"):
        pl.dump_model(system)
    body.save(tmp_path / "arm.npz")
    (tmp_path / "arm.yaml").write_text(MODEL)
    loaded = pl.load_model(tmp_path / "arm.yaml").system
    assert loaded.links == system.links
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "arm.yaml").write_text(MODEL.replace("arm.npz", "../arm.npz"))
    with pytest.raises(pl.ModelError, match=r"arm.yaml:7:\d+: .*must be inside the folder of the model"):
        pl.load_model(tmp_path / "other" / "arm.yaml")
    (tmp_path / "arm.npz").write_bytes((tmp_path / "arm.npz").read_bytes()[:2000])
    with pytest.raises(pl.ModelError, match=r"arm.yaml:7.*cannot be read as a .npz file of a modal body"):
        pl.load_model(tmp_path / "arm.yaml")


def test_a_file_with_wrong_arrays_is_refused(mesh, tmp_path):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(0))
    body.save(tmp_path / "arm.npz")
    with np.load(tmp_path / "arm.npz") as held:
        arrays = dict(held)

    def refused(words, **new):
        np.savez(tmp_path / "bad.npz", **{name: array for name, array in {**arrays, **new}.items() if array is not None})
        with pytest.raises(pl.ModelError, match=words):
            pl.ModalBody(tmp_path / "bad.npz")

    refused("format must be 1, got 2", format=2)
    refused("must hold the array 'shapes'", shapes=None)
    refused(r"turns must have the shape \(63, 3, 6\), got \(63, 3, 5\)", turns=arrays["turns"][:, :, :5])
    refused(r"mass\[\] must be a finite number", mass=np.nan)
    refused("mass must be > 0 kg, got -1.0", mass=-1.0)
    refused("stiffness must be positive definite", stiffness=-arrays["stiffness"])
    lopsided = arrays["pair"].copy()
    lopsided[1, 2] += 1.0
    refused(r"pair\[1, 2\] must equal", pair=lopsided)
    refused("triangles must name nodes 0 to 62, got 99", triangles=[[0, 1, 99]])


# ---- what is seen of it


def test_stresses_are_those_of_the_shapes(mesh):
    """A rod pulled at its tip: force over area."""
    along = bricks.box(SIZE, (6, 2, 2), poisson=0.0)
    number = int(np.argmin(np.sum((along.nodes - [0.3, 0, 0]) ** 2, axis=1)))
    ahead = int(np.argmin(np.sum((along.nodes - [0.4, 0, 0]) ** 2, axis=1)))
    stress = np.zeros((6, along.size))
    stress[0, [3 * number, 3 * ahead]] = -70e9 / 0.1, 70e9 / 0.1
    along = replace(along, stress=sparse.csr_array(stress), stress_points=[[0.35, 0, 0]])
    body = pl.modal_body(along, ends(along), pl.CraigBampton(1))
    system = pl.System("rod", gravity=(0, 0))
    arm = system.add("arm", body, joint=pl.Weld(), initial=_pulled(body, 1000.0))
    system.force("pull", arm.tip, (1000.0, 0.0, 0.0))
    result = pl.simulate(system, 1e-5)
    found = pl.solid_stresses(result, "arm", system)
    assert found["stress"][-1, 0, 0] == pytest.approx(1000.0 / (SIZE[1] * SIZE[2]), rel=1e-9)
    assert found["equivalent"][-1, 0] == pytest.approx(1000.0 / (SIZE[1] * SIZE[2]), rel=1e-9)
    with pytest.raises(pl.ModelError, match=r"body must be one of the finite-element bodies with stresses, \['arm'\].*got 'rod'"):
        pl.solid_stresses(result, "rod", system)


def _pulled(body, force):
    weights = np.linalg.solve(body.model.stiffness, body.model.frame_shapes[0].T @ [force, 0.0, 0.0])
    return dict(zip(body.mode_labels, weights.tolist(), strict=True))


def test_its_skin_is_drawn_where_its_nodes_are(mesh):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(1))
    system = pl.System("drawn", gravity=(0, -9.81))
    system.add("arm", body, joint=pl.Revolute(angle=0.5), initial={"mode1": 0.01})
    result = pl.simulate(system, 0.01)
    (drawn,) = result.drawing.bodies
    from pliant.show.scene import Scene

    (points,) = Scene(result).positions(result.time[-1:])
    z = np.array([result[f"arm.{label}"][-1] for label in body.mode_labels])
    c, s = np.cos(result["arm.angle"][-1]), np.sin(result["arm.angle"][-1])
    expected = (body.model.nodes + body.model.shapes @ z) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    skin = np.unique(body.model.triangles)
    assert points[0, -len(skin) :] == pytest.approx(expected[skin], abs=1e-12)
    assert len(drawn.triangles) == len(mesh.triangles)
    corners = {point for line in drawn.lines for point in line}
    assert len(corners) == 4 * (6 + 1) + 2 * 4  # the edges of the box: nodes along it, and of its ends
    assert sum(len(line) - 1 for line in drawn.lines) == 4 * 6 + 2 * 8
    assert '"skin":[[' in pl.player.page(result)


def test_bodies_that_leave_linear_theory_are_named(mesh):
    soft = bricks.box(SIZE, (6, 2, 2), modulus=70e6)
    body = pl.modal_body(soft, {"root": ends(soft)["root"]}, pl.CraigBampton(2))
    system = pl.System("soft", gravity=(0, 0))
    system.add("arm", body, joint=pl.Revolute(motion=lambda t: 60.0 * t), initial={"mode1": 0.2})
    words = "\n".join(pl.simulate(system, 0.2).warnings)
    assert "body 'arm' turns by" in words and "valid up to 0.3 rad" in words
    assert "faster than its first frequency" in words


def test_a_system_names_its_nodes_and_frames(mesh):
    body = pl.modal_body(mesh, ends(mesh), pl.CraigBampton(0))
    system = pl.System("named", gravity=(0, 0))
    arm = system.add("arm", body, joint=pl.Revolute())
    system.force("push", arm.at(12), (1.0, 0.0))
    system.force("pull", arm.tip, (1.0, 0.0))
    assert "force push: on arm at node 12" in str(system) and "force pull: on arm at tip" in str(system)


def test_the_damping_may_depend_on_a_parameter(mesh):
    """Derivatives of a run are those of differences, and equations name the numbers that change."""
    damping = pl.ModalDamping(pl.Parameter("ratio", 0.02))
    body = pl.modal_body(mesh, {"root": ends(mesh)["root"]}, pl.CraigBampton(2), damping=damping)
    system = pl.System("named", gravity=(0, -9.81))
    system.add("arm", body, joint=pl.Weld(), initial={"mode1": 0.01, "mode2": 0.02})
    assert list(pl.equations(system).p.names) == ["ratio", "arm.damping.modal[0][0]", "arm.damping.modal[1][1]"]
    found = pl.sensitivities(system, 0.01, ["ratio"], method=TIGHT).final[:2, 0]
    ends_of = [pl.simulate(system, 0.01, parameters={"ratio": ratio}, method=TIGHT)["q"][-1] for ratio in (0.0199, 0.0201)]
    assert found == pytest.approx((ends_of[1] - ends_of[0]) / 2e-4, rel=1e-4)
    assert np.abs(found).min() > 1e-3

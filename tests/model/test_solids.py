"""Boxes, cylinders and hulls: corners, mass properties, files, drawings, and what is refused."""

import re
import struct

import numpy as np
import pytest

import pliant as pl
from pliant.files.writer import dump_model

CUBE = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
LAW = pl.HuGuo(stiffness=1e6, restitution=0.5)


def body_in_space(gravity=(0, 0, -9.81)):
    system = pl.System("s", gravity=gravity)
    return system, system.add("b", pl.RigidBody.box((0.2, 0.2, 0.2), 1.0), joint=pl.Free(position=(0, 0, 0.3)))


def test_a_hull_has_corners_and_edges_only_and_no_points_within():
    _, body = body_in_space()
    hull = pl.Hull(body.root, [*CUBE, (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.1, 0.0), (0.1, 0.1, 0.1)])
    assert sorted(hull.points) == sorted(CUBE) and len(hull.lines()) == len(pl.Box(body.root, (0.2, 0.2, 0.2)).lines()) == 12


def test_uniform_bodies_have_the_inertia_of_their_shapes():
    box = np.array(pl.RigidBody.box((0.2, 0.3, 0.1), 2.0).inertia)
    moved = np.array([(x, y, z) for x in (0, 0.2) for y in (0, 0.3) for z in (0, 0.1)])
    hull = pl.RigidBody.hull(moved, 2.0)
    np.testing.assert_allclose(hull.inertia, box, atol=1e-15)
    np.testing.assert_allclose(hull.com, (0.1, 0.15, 0.05), atol=1e-15)
    sides = 400
    angles = 2.0 * np.pi * np.arange(sides) / sides
    rim = np.stack([0.1 * np.cos(angles), 0.1 * np.sin(angles)], axis=1)
    prism = np.vstack([np.column_stack([rim, np.full(sides, z)]) for z in (-0.2, 0.2)])
    np.testing.assert_allclose(pl.RigidBody.hull(prism, 3.0).inertia, pl.RigidBody.cylinder(0.1, 0.4, 3.0).inertia, atol=1e-5)
    along_x = np.diag(pl.RigidBody.cylinder(0.1, 0.4, 3.0, axis="x").inertia)
    np.testing.assert_allclose(along_x[[1, 2, 0]], np.diag(pl.RigidBody.cylinder(0.1, 0.4, 3.0).inertia), rtol=1e-12)
    flat = pl.RigidBody.box((0.2, 0.3), 2.0).inertia
    assert flat[2][2] == pytest.approx(box[2, 2]) and flat[0][0] == 0.0


@pytest.mark.parametrize("kind", ["binary", "text"])
def test_an_stl_file_gives_its_corners_in_metres(kind, tmp_path):
    corners = 1e3 * np.array(CUBE)
    triangles = [corners[list(three)] for three in ((0, 1, 3), (0, 3, 2), (4, 5, 7), (4, 7, 6))]
    file = tmp_path / "cube.stl"
    if kind == "binary":
        rows = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(t), 0) for t in triangles)
        file.write_bytes(b"solid, as some binary files begin".ljust(80) + struct.pack("<I", len(triangles)) + rows)
    else:
        vertices = "".join("outer loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) + "endloop\n" for t in triangles)
        file.write_text(f"solid cube\n{vertices}endsolid\n", encoding="ascii")
    np.testing.assert_allclose(pl.read_stl(file, scale=1e-3), np.unique(np.array(CUBE), axis=0), atol=1e-7)


@pytest.mark.parametrize("content", [b"", b"solid x\nendsolid", b"vertex 1 2\n", b"vertex a b c\n", b"vertex 1 2 nan\n", bytes(90)])
def test_a_file_that_is_no_stl_is_refused(content, tmp_path):
    file = tmp_path / "x.stl"
    file.write_bytes(content)
    with pytest.raises(pl.ModelError, match="read_stl: path must be an STL file"):
        pl.read_stl(file)
    with pytest.raises(pl.ModelError, match="must be a file that can be read"):
        pl.read_stl(tmp_path / "none.stl")


SHAPES = {
    "box": lambda at: pl.Box(at, (0.2, 0.15, 0.1)),
    "cylinder": lambda at: pl.Cylinder(at, 0.1, 0.2, "y"),
    "hull": lambda at: pl.Hull(at, CUBE),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_solid_is_one_entry_of_a_file_and_drawn_by_its_edges(name):
    system, body = body_in_space()
    shape = SHAPES[name](body.root.moved((0.01, 0.0, 0.02)).turned(0.3, "x"))
    system.contact(points=[body.tip, shape], against=pl.Plane(normal="z"), normal=LAW)
    text = dump_model(system)
    assert text.count(f"{name}:") == 1 and list(pl.loads_model(text).system.contacts) == list(system.contacts)
    assert pl.loads_model(text).system.contacts == system.contacts
    run = pl.simulate(system, 0.01)
    drawing = run.drawing.bodies[0]
    assert len(drawing.lines) == len(shape.lines())
    highest = max(np.linalg.norm(drawing.rest[list(line)] - (0.01, 0.0, 0.02), axis=1).max() for line in drawing.lines)
    assert highest == pytest.approx(shape.bounding)


def flat(at):
    return pl.Box(at, (0.1, 0.2))


def solid(at):
    return pl.Box(at, (0.1, 0.2, 0.3))


WRONG = {
    "no side": (lambda b, g: pl.Box(b, (0.1, 0.0)), "Box: size[1] must be > 0 m, got 0.0"),
    "one side": (lambda b, g: pl.Box(b, (0.1,)), "Box: size must be 2 or 3 numbers in m"),
    "a flat hull": (
        lambda b, g: pl.Hull(b, CUBE[:4]),
        "Hull: points must be at least four points that are not in one plane, got 4",
    ),
    "a hull of numbers": (lambda b, g: pl.Hull(b, [1, 2, 3]), "Hull: points[0] must be 3 numbers in m"),
    "a hull of parameters": (
        lambda b, g: pl.Hull(b, [(pl.Parameter("x", 1.0), 0, 0), *CUBE]),
        "Hull: points[0] must be a fixed value",
    ),
    "a flat box on a solid one": ((flat, solid), "against must have as many sides as the Box that touches it"),
    "a cylinder on a flat box": ((SHAPES["cylinder"], flat), "must not be a Cylinder when a rectangle touches it"),
    "a hull on a ball": (
        (SHAPES["hull"], lambda at: pl.Sphere(at, 0.1)),
        "against must be a Plane when a Hull touches it, got Sphere",
    ),
    "a hull touched": ((SHAPES["box"], SHAPES["hull"]), "against must be a Plane, a Sphere, a Bore, a Socket, a Capsule, a Box"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_solid_is_refused_in_words(wrong):
    system, body = body_in_space()
    make, words = WRONG[wrong]
    with pytest.raises(pl.ModelError, match=re.escape(words)):
        if callable(make):
            make(body.root, system.ground)
        else:
            system.contact(points=make[0](body.root), against=make[1](system.ground), normal=LAW)


def test_a_cylinder_needs_a_stiffness():
    system, body = body_in_space()
    with pytest.raises(pl.ModelError, match="normal must have a stiffness for a Cylinder"):
        system.contact(points=pl.Cylinder(body.root, 0.1, 0.2), against=pl.Plane(normal="z"), normal=pl.Impulsive(restitution=0.5))


def test_a_solid_against_a_ball_is_a_ball_against_it():
    system, body = body_in_space()
    names = system.contact(points=pl.Box(body.root, (0.1, 0.1, 0.1)), against=pl.Sphere(system.ground, 0.05), normal=LAW)
    assert names == ["contact ground"] and isinstance(system.contacts["contact ground"].against, pl.Box)

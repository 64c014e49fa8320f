"""Shapes and pairs: how they are named, and wrong contacts, refused with part, field, rule and value."""

import math
import re

import pytest

import pliant as pl
from pliant.model.contact import Capsule, Plane, Point, Socket, Sphere
from pliant.model.frame import Frame
from pliant.model.friction_law import Coulomb
from pliant.model.normal_law import Hertz

LAW = Hertz(stiffness=1e6)
FLOOR = Plane(normal=(0, 1))


def system():
    made = pl.System("s", gravity=(0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="timoshenko",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    a = made.add("a", beam, joint=pl.Planar())
    made.add("r", pl.RigidBody(mass=1.0, inertia=0.1, tip=(0.5, 0), frames={"hook": (0, 1)}), joint=pl.Revolute(), on=a.tip)
    return made


def touch(points, against=FLOOR, normal=LAW, friction=None, name="c"):
    return system().contact(points=points, against=against, normal=normal, friction=friction, name=name)


A, R = Frame("a", 1.0), Frame("r", None, (0.5, 0.0, 0.0))

WRONG = {
    # shapes
    "point at a body": (lambda: Point("a"), "Point: at must be a frame such as arm.tip, got 'a'"),
    "sphere of nothing": (lambda: Sphere(A, 0.0), "Sphere: radius must be > 0 m, got 0.0"),
    "sphere of nan": (lambda: Sphere(A, math.nan), "Sphere: radius must be a finite number in m, got nan"),
    "sphere nowhere": (lambda: Sphere((0, 0), 1.0), "Sphere: at must be a frame such as arm.tip, got (0, 0)"),
    "capsule without length": (lambda: Capsule(A, 0.0, 1.0), "Capsule: length must be > 0 m, got 0.0"),
    "capsule without radius": (lambda: Capsule(A, 1.0, -1.0), "Capsule: radius must be > 0 m, got -1.0"),
    "plane without normal": (lambda: Plane(normal=(0, 0, 0)), "Plane: normal must not be the zero vector"),
    "plane with a wrong axis": (lambda: Plane(normal="w"), "Plane: normal must be x, y, z (or -x, -y, -z) or a vector, got 'w'"),
    "plane through four": (lambda: Plane(normal=(0, 1), point=(1, 2, 3, 4)), "Plane: point must be 2 or 3 numbers in m"),
    "plane on a body": (lambda: Plane(normal=(0, 1), on="a"), "Plane: on must be a frame such as arm.tip or system.ground"),
    # contacts
    "nothing to touch": (lambda: touch(A, against=None),
        "against must be a Plane, a Sphere, a Bore, a Socket, a Capsule, a Box, a Cylinder, a Point, an Edge or an Along, got "
        "None"),
    "against a frame": (lambda: touch(A, against=R),

        "against must be a Plane, a Sphere, a Bore, a Socket, a Capsule, a Box, a Cylinder, a Point, an Edge or an Along"),
    "no points": (lambda: touch([]), "contact 'c': points must contain at least one point, got []"),
    "points by name": (lambda: touch("a.tip"),
        "contact 'c': points must be frames, Points, Spheres, Capsules, Pins, Alongs, Boxes, Cylinders or Hulls, got 'a.tip'"),
    "a plane as a point": (lambda: touch([FLOOR]),
        "contact 'c': points must be frames, Points, Spheres, Capsules, Pins, Alongs, Boxes, Cylinders or Hulls"),
    "a capsule in a socket": (lambda: touch(Capsule(A, 1.0, 0.1), Socket(R, 0.2)),
        "contact 'c': against must be a Plane, a Bore, a Capsule, a Box or a Cylinder when a Capsule touches it"),
    "point on point": (lambda: touch(A, Point(R)),

        "contact 'c': against must be a Plane, a Sphere, a Bore, a Socket, a Capsule, a Box or a Cylinder when a Point touches it"),
    "itself": (lambda: touch(A, Sphere(Frame("a", 0.0), 0.1)),
               "contact 'c': points must be on a different body from the shape they touch, got 'a'"),
    "ground on ground": (lambda: touch(Frame("ground")),
                         "points must be on a different body from the shape they touch, got 'ground'"),
    "an unknown body": (lambda: touch(Frame("b")),
                        "contact 'c': points must be a frame of one of the bodies added so far, ['ground', 'a', 'r'], got 'b'"),
    "against an unknown body": (lambda: touch(A, Sphere(Frame("b"), 1.0)),
                                "contact 'c': against must be a frame of one of the bodies added so far"),
    "a station outside": (lambda: touch(Frame("a", 1.5)), "contact 'c': points must be at a station in [0, 1.0] m, got 1.5"),
    "a station on a rigid body": (lambda: touch(Frame("r", 0.1)),
                                  "points must not be at a station, because a rigid body has none, got 0.1"),
    "the same point twice": (lambda: touch([A, A], name="floor"),
                 "contact 'floor': points must form pairs with unique names (give this contact its own name), got 'floor a.tip'"),
    # laws
    "a number as a law": (lambda: touch(A, normal=1e6),
                          "contact 'c': normal must be a normal law or a function of (depth, rate, entry_speed), got 1000000.0"),
    "a class as a law": (lambda: touch(A, normal=Hertz), "contact 'c': normal must be a normal law or a function"),
    "friction as normal": (lambda: touch(A, normal=Coulomb(mu=0.3)), "contact 'c': normal must be a normal law or a function"),
    "a number as friction": (lambda: touch(A, friction=0.3),
                             "contact 'c': friction must be a friction law or a function of (speed, normal), got 0.3"),
    "normal as friction": (lambda: touch(A, friction=LAW), "contact 'c': friction must be a friction law or a function"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_contact_is_refused_in_words(case):
    make, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=re.escape(message)):
        make()


def test_pairs_are_named_by_contact_and_place():
    places = [A, Frame("a", 0.0), Frame("a", 0.25), R, Frame("r", None, (0, 1.0, 0)), Frame("r", None, (0.1, -0.2, 0))]
    assert touch(places, name="floor") == [
        "floor a.tip", "floor a.root", "floor a@0.25", "floor r.tip", "floor r.hook", "floor r(0.1, -0.2, 0)",
    ]  # fmt: skip


def test_corners_of_a_rigid_body_can_be_told_apart():
    """Named frames and points of one body in one call."""
    made = pl.System("s", gravity=(0, 0))
    block = made.add("block", pl.RigidBody(mass=1.0, inertia=1.0, frames={"left": (-1, 0), "right": (1, 0)}), joint=pl.Planar())
    names = made.contact(points=[block.at("left"), block.at("right"), block.at((0, 2))], against=FLOOR, normal=LAW)
    assert len(set(names)) == 3


def test_the_ends_of_all_links_are_their_tips_and_the_floating_root():
    assert touch(system().ends(), name="floor") == ["floor a.root", "floor a.tip", "floor r.tip"]


def test_a_ball_has_one_end():
    made = pl.System("s", gravity=(0, 0))
    made.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar())
    assert len(made.ends()) == 1


def test_a_capsule_is_two_balls_along_its_frame():
    near, far = Capsule(A.moved((0.1, 0)).turned(math.pi / 2), 0.3, 0.05).ends()
    assert near == Sphere(A.moved((0.1, 0)).turned(math.pi / 2), 0.05)
    assert far.at.offset == pytest.approx((0.1, 0.3, 0.0), abs=1e-15)
    assert touch(Capsule(R, 0.3, 0.05)) == ["c r.tip", "c r.end"]

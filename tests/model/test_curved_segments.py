"""Curved and pretwisted beams as polygons of segments, and beams that start bent; published ones are in tests/published."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.files import dump_model, loads_model
from pliant.model.curve import nodes_on

FLAT = pl.Section.rectangle(height=0.002, width=0.02)
RIGIDITY = pl.STEEL.E * FLAT.Iz
SPATIAL = (pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1))


def strip(length=1.0, **more):
    return pl.Beam(**{"length": length, "section": FLAT, "material": pl.STEEL, "theory": "euler-bernoulli",
                      "modes": pl.Modes("cf", 1), **more})  # fmt: skip


def arc(s, radius=1.0):
    """A circle from the origin along x, curving to the left."""
    return radius * math.sin(s / radius), radius * (1.0 - math.cos(s / radius))


def alone(segmented, joint=None, gravity=(0, 0)):
    system = pl.System("beam", gravity=gravity)
    return system, system.add("b", segmented, joint=joint or pl.Weld())


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# ------------------------------------------------------------------------------------------------------- what is made


@pytest.mark.parametrize("points", [False, True])
def test_segments_end_on_the_curve_and_frames_follow_it(points):
    curve = arc
    if points:
        curve = [arc(s) for s in np.linspace(0.0, 1.5, 40)]
    system, rod = alone(pl.segmented(strip(1.5), 3, curve=curve))
    run = pl.simulate(system, 1e-6)
    for k in range(3):
        assert run.of_body("tip_position", f"b_{k + 1}")[0, :2] == pytest.approx(arc(0.5 * (k + 1)), abs=1e-5 if points else 1e-12)
    system.add("end", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld(), on=rod.tip)
    system.add("begin", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld(), on=rod.root)
    system.add("middle", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld(), on=rod.at(0.75))
    run = pl.simulate(system, 1e-6)
    end = np.add(arc(1.5), (math.cos(1.5), math.sin(1.5)))
    near = 1e-5 if points else 1e-10
    assert run.of_body("tip_position", "end")[0, :2] == pytest.approx(end, abs=10 * near)
    assert run.of_body("tip_position", "begin")[0, :2] == pytest.approx((1.0, 0.0), abs=10 * near)
    assert rod.at(0.75).body == "b_2" and rod.at(1.5).body == "b_3" and rod.at(0.0).body == "b_1"


def test_the_section_follows_a_spatial_curve_without_turning_about_it():
    """On a helix the axes of the curve itself turn by its torsion, tau s; those of the section must not."""
    radius, pitch = 0.3, 0.1
    pace = math.hypot(radius, pitch)
    nodes = nodes_on("curve", lambda s: (radius * math.cos(s / pace), radius * math.sin(s / pace), pitch * s / pace), None, 2.0, 6)
    angles = []
    for s, axes in zip(np.linspace(0.0, 2.0, 7), nodes.axes, strict=True):
        c, d = math.cos(s / pace), math.sin(s / pace)
        normal, binormal = np.array([-c, -d, 0.0]), np.array([pitch * d, -pitch * c, radius]) / pace
        angles.append(math.atan2(axes[:, 1] @ binormal, axes[:, 1] @ normal))
        assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-12)
        assert math.remainder(angles[-1] - angles[0] + pitch / pace**2 * s, math.tau) == pytest.approx(0.0, abs=1e-5)


def test_a_pretwist_turns_the_sections_and_the_frame_of_the_tip():
    beam = strip(section=pl.Section.rectangle(0.002, 0.02), modes=SPATIAL)
    parts = pl.segmented(beam, 4, twist=math.pi / 2)
    assert parts.axes[0] @ (0.0, 1.0, 0.0) == pytest.approx((0.0, math.cos(math.pi / 16), math.sin(math.pi / 16)))
    system, rod = alone(parts, gravity=(0, 0, 0))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld(), on=rod.tip.turned(math.pi / 2))
    run = pl.simulate(system, 1e-6)
    assert run.of_body("tip_position", "arm")[0] == pytest.approx((1.0, 0.0, 1.0), abs=1e-9)  # along the tip's y, now up


C, S, (X, Y) = math.cos(0.3), math.sin(0.3), arc(1.5)


@pytest.mark.parametrize(
    ("joint", "end"),
    [
        (pl.Revolute(angle=0.3), (C * X - S * Y, S * X + C * Y, 0.0)),
        (pl.Revolute(angle=0.3, axis="y"), (C * X, Y, -S * X)),
        (pl.Prismatic(displacement=0.2, axis="y"), (X, Y + 0.2, 0.0)),
    ],
)
def test_a_joint_turns_and_slides_about_its_own_axes_though_the_first_segment_leans(joint, end):
    system, _ = alone(pl.segmented(strip(1.5, modes=SPATIAL), 2, curve=arc), joint, gravity=(0, 0, 0))
    assert pl.simulate(system, 1e-6).of_body("tip_position", "b_2")[0] == pytest.approx(end, abs=1e-9)


@pytest.mark.parametrize("direction", [(-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (-0.6, 0.0, -0.8), (-1.0, 1e-9, 0.0)])
def test_a_straight_curve_may_leave_the_root_in_any_direction_even_backwards(direction):
    """Also where a rotation by half a turn has no skew part, by which its axis is known."""
    way = np.array(direction) / np.linalg.norm(direction)
    system, rod = alone(pl.segmented(strip(modes=SPATIAL), 2, curve=lambda s: s * way), gravity=(0, 0, 0))
    system.add("end", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld(), on=rod.tip)
    run = pl.simulate(system, 1e-6)
    assert run.of_body("tip_position", "b_2")[0] == pytest.approx(way, abs=1e-9)
    assert run.of_body("tip_position", "end")[0] == pytest.approx(2.0 * way, abs=1e-9)


def test_a_curved_beam_is_written_segment_by_segment_and_read_again():
    system, _ = alone(pl.segmented(strip(1.5), 3, curve=arc))
    again = loads_model(dump_model(system)).system
    runs = [pl.simulate(one, 1e-6).of_body("tip_position", "b_3")[0] for one in (system, again)]
    assert runs[0] == pytest.approx(runs[1], abs=1e-12)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: pl.segmented(strip(), 4, curve=lambda s: (2.0 * s, 0.0)), "or points, as long as the beam .1 m.: it is 2 m long"),
        (lambda: pl.segmented(strip(), 4, curve=lambda s: (s**2, 0.0)), "curve must be a function of the arc length"),
        (lambda: pl.segmented(strip(), 4, curve=lambda s: s), "curve must give places of 2 or 3 numbers"),
        (lambda: pl.segmented(strip(), 4, curve=lambda s: (s, math.nan)), "curve must be finite all along the beam"),
        (lambda: pl.segmented(strip(), 4, curve=[(0, 0)]), "at least two points"),
        (lambda: pl.segmented(strip(), 4, curve=[(0, 0), (0, 0), (1, 0)]), "follow one another at a distance"),
        (lambda: pl.segmented(strip(), 4, curve="circle"), "must be a function of the arc length, or at least two points"),
        (lambda: pl.segmented(strip(), 4, curve=lambda s: (s, 1.0 / (s - s))), "curve must give places of 2 or 3 numbers"),
        (lambda: pl.segmented(strip(), 4, curve=[(0, 0), (0.5, 0)]), "as long as the beam .1 m.: it is 0.5 m long"),
        (lambda: pl.segmented(strip(), 1, curve=lambda s: arc(s, 0.5 / math.pi)), "n must be larger"),
        (lambda: pl.segmented(strip(), 4, twist="much"), "twist must be a number or a function"),
        (lambda: pl.segmented(strip(), 4, start=lambda s: (0.0, s)), "start must leave the root in the direction"),
        (lambda: pl.segmented(strip(), 2, start=lambda s: arc(s, 0.2)), "bend no segment by more than 0.8 rad"),
        (lambda: pl.segmented(strip(), 4, twist=lambda s: math.inf), "twist must be finite"),
        (lambda: pl.segmented(strip(), 4, start=lambda s: (0.8 * s, 0.0, 0.6 * s)), "start must not bend or turn"),
        (lambda: pl.segmented(strip(), 4, modes=pl.Modes("cf", 2), start=arc), "start may be given for Euler-Bernoulli beams"),
        (lambda: pl.segmented(strip(pl.Parameter("l", 1.0)), 4, curve=arc), "beam.length must be a plain number"),
        (lambda: alone(pl.segmented(strip(), 4, curve=arc), pl.Universal()), "joint must be a weld or have one axis"),
    ],
)  # fmt: skip
def test_what_is_no_curve_is_refused_before_the_run(made, message):
    with pytest.raises(pl.ModelError, match=message):
        made()


# ------------------------------------------------------------------------------------------------------------- starts bent


def test_a_straight_strip_starts_on_an_arc_and_stays_where_its_moment_holds_it():
    """Nodes to fourth order on the arc; the energy of even curvature; and E I/R at the tip keeps it there."""
    errors = []
    for n in (2, 4, 8):
        segmented = pl.segmented(strip(), n, start=arc)
        system, rod = alone(segmented)
        system.moment("hold", rod.tip, RIGIDITY)
        run = pl.simulate(system, 0.02)
        ends = np.array([run.of_body("tip_position", f"b_{k + 1}")[0, :2] for k in range(n)])
        errors.append(np.max(np.linalg.norm(ends - [arc((k + 1) / n) for k in range(n)], axis=1)))
        assert run.values["strain"][0] == pytest.approx(0.5 * RIGIDITY, rel=2e-3)
    assert errors[-1] < 2e-6 and np.all(orders(errors) > 3.5), errors
    moved = np.linalg.norm(run.of_body("tip_position", "b_8") - run.of_body("tip_position", "b_8")[0], axis=1)
    assert np.max(moved) < 1e-4


def test_a_curved_strip_starts_straight_and_a_spatial_one_on_a_helix():
    """The first segment leans with the polygon, so that a start is met as well as a polygon meets its curve."""
    system, _ = alone(pl.segmented(strip(), 6, curve=arc, start=lambda s: (s, 0.0)))
    run = pl.simulate(system, 1e-6)
    assert run.of_body("tip_position", "b_6")[0] == pytest.approx((1.0, 0.0, 0.0), abs=3e-3)
    assert run.values["strain"][0] == pytest.approx(0.5 * RIGIDITY, rel=0.02)

    def helix(s):
        """From the origin along x, rising."""
        c = math.sqrt(0.5)
        return math.sin(c * s), 1.0 - math.cos(c * s), c * s

    def level(s):
        """The same, turned so that it leaves along x."""
        x, y, z = helix(s)
        c = math.sqrt(0.5)
        return c * (x + z), y, c * (z - x)

    errors = []
    for n in (4, 8):
        system, _ = alone(pl.segmented(strip(modes=SPATIAL), n, start=level), gravity=(0, 0, 0))
        there = pl.simulate(system, 1e-6).of_body("tip_position", f"b_{n}")[0]
        errors.append(np.linalg.norm(there - level(1.0)))
    assert errors[-1] < 2e-4 and orders(errors)[0] > 1.8, errors

"""Drawn points are where the mechanism is, and magnified deformation keeps it in one piece."""

from dataclasses import replace

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.gallery.telescopic_arm import telescopic_arm
from pliant.gallery.tipping_arm import tipping_arm
from pliant.show.scene import Scene

SYSTEMS = {**mechanisms.ALL, "telescopic": telescopic_arm, "foreshortening": tipping_arm}


@pytest.fixture(scope="module", params=SYSTEMS)
def run(request):
    return pl.simulate(SYSTEMS[request.param](), 0.2, save=0.02)


def test_every_tip_is_drawn_where_the_result_has_it(run):
    """Independent: tips come from the traced kinematics, points from orientations and shapes."""
    positions = Scene(run).positions(run.time)
    for k, points in enumerate(positions):
        away = np.linalg.norm(points - run.values["tip_position"][:, k, None], axis=2)
        assert np.max(np.min(away, axis=1)) < 1e-12
        assert np.allclose(points[:, 0], run.values["root_position"][:, k], atol=1e-14)


def test_without_deformation_a_beam_is_straight(run):
    scene = Scene(run)
    for body, points in zip(scene.drawing.bodies, scene.positions(run.time, deformed=False), strict=True):
        if body.kind == "beam":
            line = points[:, list(body.lines[0])]
            along = (line[:, -1:] - line[:, :1]) / np.linalg.norm(line[:, -1:] - line[:, :1], axis=2, keepdims=True)
            off = np.cross(line - line[:, :1], along)
            assert np.max(np.abs(off)) < 1e-12
            assert np.allclose(np.linalg.norm(line[:, -1] - line[:, 0], axis=1), body.rest[:, 0].max(), rtol=1e-12)


def test_the_way_from_the_undeformed_beam_grows_with_the_scale(run):
    """Where nothing is held, the tip of a beam on the ground goes `scale` times as far from where it would be."""
    true, large = Scene(run), Scene(run, 7.0)
    straight = true.positions(run.time, deformed=False)
    for k, body in enumerate(true.drawing.bodies):
        if body.kind == "beam" and body.on[0] == -1 and not true.drawing.contacts:
            once, more = (scene.positions(run.time)[k] - straight[k] for scene in (true, large))
            assert np.allclose(more, 7.0 * once, atol=1e-13)
            assert np.max(np.abs(once)) > 0.0 or run.name == "floating base"


def test_a_magnified_chain_still_touches_where_it_touches(chain):
    true, large = Scene(chain).positions(chain.time), Scene(chain, 30.0).positions(chain.time)
    for once, more in zip(true, large, strict=True):
        assert np.allclose(once[:, :2], more[:, :2], atol=1e-12)  # roots and tips: all may touch the ground
        assert np.max(np.abs(more - once)) > 0.1  # and what is between them bends far


def test_a_magnified_loop_stays_closed(crank):
    scene = Scene(crank, 15.0)
    positions = scene.positions(crank.time)
    for body in scene.drawing.bodies[1:]:
        k = scene.drawing.bodies.index(body)
        assert np.allclose(positions[k][:, 0], scene.spot(body.on, positions), atol=1e-12)
    assert np.max(np.abs(positions[1] - Scene(crank).positions(crank.time)[1])) > 0.05


def test_what_hangs_on_a_magnified_beam_is_carried_along(arm, base):
    for result in (arm, base):
        scene, true = Scene(result, 5.0), Scene(result)
        positions, straight = scene.positions(result.time), true.positions(result.time)
        for k, body in enumerate(scene.drawing.bodies):
            if body.on[0] >= 0:
                # a bracket has a length of its own, and turns with the beam it is on
                before = np.linalg.norm(straight[k][:, 0] - true.spot(body.on, straight), axis=1)
                assert np.allclose(np.linalg.norm(positions[k][:, 0] - scene.spot(body.on, positions), axis=1), before, atol=1e-12)


def test_between_rows_positions_are_interpolated(chain):
    scene = Scene(chain)
    low, high, middle = (scene.positions(np.array([t]))[2] for t in (chain.time[10], chain.time[11],
                                                                    0.5 * (chain.time[10] + chain.time[11])))  # fmt: skip
    assert np.allclose(middle, 0.5 * (low + high), atol=1e-6)
    assert np.allclose(scene.positions(np.array([-5.0]))[0], scene.positions(chain.time[:1])[0])  # before the start: the start


def test_planar_motion_is_seen_across_its_plane_and_spatial_from_all_sides(chain, crank, arm):
    assert Scene(chain).axes == Scene(crank).axes == (0, 1)
    assert Scene(arm).axes == (0, 1, 2)


def test_planar_motion_in_another_plane_is_seen_across_that(tmp_path):
    system = pl.System("upright", gravity=(0, 0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(axis="y"))
    assert Scene(pl.simulate(system, 0.3)).axes == (0, 2)


def test_contact_points_lie_between_the_surfaces(chain, crank):
    for result in (chain, crank):
        points, normals, gaps = (result.values[name] for name in ("contact_point", "contact_normal", "gap"))
        assert np.allclose(np.linalg.norm(normals, axis=2), 1.0)
        for k, contact in enumerate(result.drawing.contacts):
            if contact.other_radius is None:
                height = (points[:, k] - contact.point) @ np.array(contact.normal)
                assert np.allclose(height, gaps[:, k], atol=1e-14)
                assert np.allclose(normals[:, k], contact.normal)
            else:  # the obstacle's ball stands still
                centre = points[:, k] - (gaps[:, k] + contact.other_radius)[:, None] * normals[:, k]
                assert np.allclose(centre, centre[0], atol=1e-12)


def test_a_result_without_an_outline_says_what_to_do(chain):
    with pytest.raises(pl.ModelError, match="run the model again"):
        Scene(replace(chain, drawing=None))


def test_what_is_drawn_of_a_failed_run_is_what_was_finite(chain):
    """Of runs that end in nan, and of one that has but its first row."""
    broken = {name: np.where(_number(values) < 300, values, np.nan) for name, values in chain.values.items()}
    assert len(Scene(replace(chain, values=broken)).result.time) == 300
    first = {name: values[:1] for name, values in chain.values.items()}
    for result in (replace(chain, values=broken), replace(chain, time=chain.time[:1], values=first)):
        for draw in (pl.plot.mechanism, pl.plot.contact_forces, pl.plot.overview, pl.player.page):
            draw(result)
    with pytest.raises(pl.ModelError, match="at least one that is finite"):
        Scene(replace(chain, values={name: np.full_like(values, np.nan) for name, values in chain.values.items()}))


@pytest.mark.parametrize("missing", ["q", "orientation", "tip_deflection", "normal_force", "gap", "kinetic", "work"])
def test_what_an_older_file_does_not_know_is_left_out_or_said(chain, missing):
    """Such quantities are nan throughout; in a run, here, of which no touch was seen either."""
    unknown = {**chain.values, missing: np.full_like(chain.values[missing], np.nan)}
    old = replace(chain, values=unknown, contacts=type(chain.contacts)())
    for draw in (pl.plot.mechanism, pl.plot.ledger, pl.plot.overview, pl.player.page):
        if missing in ("q", "orientation") and draw in (pl.plot.mechanism, pl.player.page):
            with pytest.raises(pl.ModelError, match="at least one that is finite in q, root_position, orientation"):
                draw(old)
        else:
            draw(old)


def _number(values):
    """The number of the row, everywhere in it."""
    return np.arange(len(values)).reshape(-1, *(1,) * (values.ndim - 1))


def test_a_rigid_body_is_a_line_a_plate_or_a_star():
    places = {
        "line": {"far": (2.0, 0.0, 0.0)},
        "plate": {"left": (0.0, 1.0, 0.0), "right": (1.0, 1.0, 0.0), "inside": (0.5, 0.5, 0.0)},
        "star": {"left": (0.0, 1.0, 0.0), "up": (0.0, 0.0, 1.0)},
    }
    drawn = {}
    for name, frames in places.items():
        system = pl.System(name, gravity=(0, 0, 0))
        body = pl.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), tip=(1.0, 0.0, 0.0), frames=frames)
        system.add("body", body, joint=pl.Revolute(rate=1.0))
        drawing = pl.simulate(system, 0.1).drawing.bodies[0]
        drawn[name] = {tuple(tuple(drawing.rest[k]) for k in line) for line in drawing.lines}
    assert drawn["line"] == {((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0))} or drawn["line"] == {
        ((2.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    }
    (plate,) = drawn["plate"]
    assert plate[0] == plate[-1] and len(plate) == 5 and (0.5, 0.5, 0.0) not in plate
    assert {len(line) for line in drawn["star"]} == {2} and len(drawn["star"]) == 3

"""A slender beam as short ones welded in line: what is made of it, how far it may be bent, and how it converges."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from pliant.files import dump_model, loads_model
from pliant.files.schema import schema
from pliant.model.frame import Frame
from pliant.show.scene import Scene

FLAT = pl.Section.rectangle(height=0.002, width=0.02)  # m
RIGIDITY = pl.STEEL.E * FLAT.Iz


def strip(length=1.0, modes=None, theory="euler-bernoulli", **more):
    return pl.Beam(length=length, section=FLAT, material=pl.STEEL, theory=theory, modes=modes or pl.Modes("cf", 1), **more)


def elastica(load):
    """Where the tip of an inextensible cantilever is under P l^2/(E I) across its root: theta'' = -P cos theta, by shooting."""

    def end(curvature):
        def slopes(s, y):
            return [y[1], -load * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])]

        return solve_ivp(slopes, (0.0, 1.0), [0.0, curvature, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]

    return end(brentq(lambda curvature: end(curvature)[1], 0.0, load, xtol=1e-13))[2:]


def bent(load, n, steps, **more):
    """The same of a segmented beam, its load raised in steps."""
    system = pl.System("elastica", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(strip(**more), n), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, lambda t, q, v: load * RIGIDITY * t))
    run = pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=list(np.linspace(0.0, 1.0, steps + 1)))
    return run.of_body("tip_position", f"rod_{n}")[-1, :2], run


# ----------------------------------------------------------------------------------------------- what is made of a beam


def test_segments_are_bodies_in_line_and_the_payload_is_at_the_tip():
    load = pl.Payload(mass=0.4)
    beam = strip(length=1.2, payload=load, damping=pl.KelvinVoigt(1e6))
    system = pl.System("line", gravity=(0, -9.81))
    rod = system.add("rod", pl.segmented(beam, 4), joint=pl.Revolute(angle=0.3))
    assert list(system.links) == ["rod_1", "rod_2", "rod_3", "rod_4", "rod_4 payload"]
    assert (rod.root, rod.tip) == (Frame("rod_1", 0.0), Frame("rod_4", 0.3))
    assert system.handle("rod").tip == rod.tip
    assert system.mass == pytest.approx(beam.mass + 0.4, rel=1e-14)
    segments = [system.links[f"rod_{k}"].body for k in range(1, 5)]
    assert all(body.section is beam.section and body.dampings == beam.dampings for body in segments)
    assert [type(link.joint) for link in list(system.links.values())[:2]] == [pl.Revolute, pl.Weld]
    assert system.links["rod_1"].mode_labels == ("y1", "y2")


@pytest.mark.parametrize(
    ("station", "body", "there"), [(0.0, "rod_1", 0.0), (0.3, "rod_1", 0.3), (0.5, "rod_2", 0.2), (1.2, "rod_4", 0.3)]
)
def test_a_station_of_the_whole_is_one_of_a_segment(station, body, there):
    frame = pl.segmented(strip(length=1.2), 4).at("rod", station)
    assert frame.body == body and frame.station == pytest.approx(there, abs=1e-15)


def test_each_direction_keeps_shapes_that_are_exact_for_loads_at_the_ends():
    every = [pl.Modes("cf", 3), pl.Modes("ss", 2, plane="z"), pl.AxialModes("cf", 2), pl.TorsionModes("cf", 2)]
    parts = pl.segmented(strip(modes=every), 3).parts
    assert parts[0].mode_labels == ("y1", "y2", "z1", "z2", "axial1", "torsion1") and parts[0] is parts[2]
    assert pl.segmented(strip(theory="timoshenko"), 2).parts[0].mode_sets == (pl.Modes("cf", 1, static=True),)
    assert pl.segmented(strip(), 2, modes=pl.Modes("cf", 2)).parts[0].mode_sets == (pl.Modes("cf", 2),)


def test_stiffening_auto_is_cubic_in_one_plane_and_full_in_two_and_one_that_is_given_stays():
    both = [pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z")]
    assert pl.segmented(strip(), 2).parts[0].stiffening == "cubic"
    assert pl.segmented(strip(modes=both), 2).parts[0].stiffening == "full"
    assert pl.segmented(strip(stiffening="none"), 2).parts[0].stiffening == "none"
    system = pl.System("line", gravity=(0, -9.81))
    system.add("rod", pl.segmented(strip(), 3), joint=pl.Revolute())
    assert "stiffening auto: cubic of rod" in str(system)


def test_ends_are_those_of_the_whole():
    system = pl.System("line", gravity=(0, -9.81))
    rod = system.add("rod", pl.segmented(strip(), 3), joint=pl.Planar())
    assert system.ends() == [Frame("rod_1", 0.0), rod.tip]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: pl.segmented(strip(), 0), "segmented: n must be a whole number >= 1, got 0"),
        (lambda: pl.segmented(strip(), 4000), "segmented: n must be <= 1000, got 4000"),
        (lambda: pl.segmented(pl.RigidBody.rod(1.0, 1.0), 3), "segmented: beam must be a Beam"),
        (lambda: pl.segmented(strip(damping=pl.AirDrag(0.1)), 3), r"segmented: damping\[0\] must be KelvinVoigt, MotionDrag or"),
        (
            lambda: pl.segmented(strip(damping=pl.Rayleigh(alpha=1.0, beta=0.1)), 3),
            r"segmented: damping\[0\] must be KelvinVoigt, MotionDrag or",
        ),
        (
            lambda: pl.segmented(strip(damping=pl.ModalDamping(0.01)), 3),
            r"Rayleigh\(alpha=0, beta=2 x/w\) gives the ratio x to the",
        ),
        (lambda: pl.segmented(strip(), 3).at("rod", 1.5), r"body 'rod': station must be in \[0, 1.0\] m, got 1.5"),
    ],
)
def test_what_cannot_be_cut_is_refused(made, message):
    with pytest.raises(pl.ModelError, match=message):
        made()


def test_names_that_are_taken_and_starts_of_modes_are_refused():
    system = pl.System("line", gravity=(0, -9.81))
    system.add("rod_2", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld())
    with pytest.raises(pl.ModelError, match=r"name must be unique \(a body already has this name\), got 'rod_2'"):
        system.add("rod", pl.segmented(strip(), 3), joint=pl.Weld())
    with pytest.raises(pl.ModelError, match="body 'other': initial must be left out"):
        system.add("other", pl.segmented(strip(), 3), joint=pl.Weld(), initial={"y1": 0.1})
    system.add("third", pl.segmented(strip(), 3), joint=pl.Weld())
    with pytest.raises(pl.ModelError, match=r"name must be unique \(a body already has this name\), got 'third'"):
        system.add("third", pl.RigidBody.rod(1.0, 1.0), joint=pl.Weld())


# ------------------------------------------------------------------------------------------------------- model files

FILE = """
pliant: 1
system: whip
gravity: [0, -9.81]
define: {L: {value: 1.2 m}}
bodies:
  arm: {rod: {length: 0.5, mass: 1}, joint: revolute}
  whip:
    beam:
      length: L
      theory: euler-bernoulli
      section: {rectangle: {height: 2 mm, width: 20 mm}}
      material: steel
      modes: {ends: cf, count: 1}
      payload: {mass: 100 g}
    segments: 6
    joint: {revolute: {angle: 20 deg}}
    on: arm.tip
  hook: {rod: {length: 0.1, mass: 0.2}, joint: revolute, on: whip.tip}
  flag: {rod: {length: 0.1, mass: 0.2}, joint: revolute, on: whip_3.tip}
forces:
  wind: {at: whip@0.7, vector: [1, 0]}
run: {t_end: 0.1}
"""


def test_a_file_says_how_many_segments_and_is_written_as_it_was_read():
    model = loads_model(FILE)
    system = model.system
    assert list(system.links) == ["arm", *(f"whip_{k}" for k in range(1, 7)), "whip_6 payload", "hook", "flag"]
    assert system.links["hook"].on == system.handle("whip").tip and system.links["flag"].on.body == "whip_3"
    assert system.loads["wind"].at.body == "whip_4"
    text = dump_model(system, model.run)
    assert "segments: 6" in text and "whip_2:" not in text
    again = loads_model(text).system
    assert again == system and dump_model(again, model.run) == text
    assert again.parameters.keys() == {"L"}


def test_segments_that_were_changed_are_written_one_by_one():
    system = pl.System("line", gravity=(0, -9.81))
    system.add("rod", pl.segmented(strip(), 2, modes=pl.Modes("cf", 2)), joint=pl.Weld())
    text = dump_model(system)
    assert "segments" not in text and list(loads_model(text).system.links) == ["rod_1", "rod_2"]


def test_the_schema_knows_segments_and_a_wrong_number_is_told_with_its_place():
    assert "segments" in schema()["properties"]["bodies"]["additionalProperties"]["properties"]
    with pytest.raises(pl.ModelError, match=r"segments.*must be a whole number >= 1"):
        loads_model(FILE.replace("segments: 6", "segments: 0"))
    with pytest.raises(pl.ModelError, match="segmented: beam must be a Beam"):
        loads_model(FILE.replace("joint: revolute}\n  whip", "joint: revolute, segments: 3}\n  whip"))


def test_a_parameter_in_the_length_changes_every_segment():
    length = pl.Parameter("L", 1.0, "m")
    system = pl.System("whip", gravity=(0, -9.81))
    rod = system.add("rod", pl.segmented(strip(length=length), 3), joint=pl.Revolute(angle=-1.0))
    plain = pl.System("whip", gravity=(0, -9.81))
    plain.add("rod", pl.segmented(strip(length=1.4), 3), joint=pl.Revolute(angle=-1.0))
    long, other = pl.simulate(system, 0.1, parameters={"L": 1.4}), pl.simulate(plain, 0.1)
    assert rod.tip.body == "rod_3"
    assert long.values["tip_position"] == pytest.approx(other.values["tip_position"], rel=1e-9, abs=1e-9)


# ----------------------------------------------------------------------------------------------------- how far it bends


@pytest.mark.parametrize(("load", "steps"), [(1.0, 5), (2.0, 8), (5.0, 20), (10.0, 40)])
def test_the_elastica_is_met_to_1e_5_by_sixteen_segments(load, steps):
    found, _ = bent(load, 16, steps)
    assert np.hypot(*(found - elastica(load))) < 1e-5


@pytest.mark.parametrize(("stiffening", "order"), [("none", 2.0), ("full", 3.0), ("cubic", 4.0)])
def test_the_order_of_convergence_in_the_number_of_segments(stiffening, order):
    exact = elastica(2.0)
    errors = [float(np.hypot(*(bent(2.0, n, 8, stiffening=stiffening)[0] - exact))) for n in (4, 8, 16)]
    measured = [math.log2(a / b) for a, b in pairwise(errors)]
    assert measured == pytest.approx([order, order], abs=0.15)


def test_modes_without_static_shapes_do_not_converge():
    """A cantilever's modes leave no moment at its tip, so no moment goes from one segment to the next: 10 % off, however many."""
    system = pl.System("elastica", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(strip(), 16, modes=pl.Modes("cf", 1, static=False)), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, lambda t, q, v: RIGIDITY * t))
    run = pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=list(np.linspace(0.0, 1.0, 6)))
    assert np.hypot(*(run.of_body("tip_position", "rod_16")[-1, :2] - elastica(1.0))) > 0.05


def test_a_pure_moment_rolls_the_beam_into_a_circle():
    """M l/(E I) = 2 pi: the tip comes back to the root."""
    system = pl.System("ring", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(strip(), 16), joint=pl.Weld())
    system.moment("roll", rod.tip, lambda t, q, v: 2.0 * math.pi * RIGIDITY * t)
    run = pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=list(np.linspace(0.0, 1.0, 9)))
    assert np.hypot(*run.of_body("tip_position", "rod_16")[-1, :2]) < 1e-3


def test_twist_goes_through_all_segments_exactly():
    section = pl.Section.round(0.01)
    beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.TorsionModes("cf", 1))
    system = pl.System("shaft", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(beam, 5), joint=pl.Weld())
    system.moment("twist", rod.tip, (0.3 * pl.STEEL.shear_modulus * section.J, 0.0, 0.0))
    run = pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=[0.0, 1.0])
    assert [run[f"rod_{k}.torsion1"][-1] for k in range(1, 6)] == pytest.approx([0.06] * 5, rel=1e-12)


def test_a_falling_whip_keeps_its_energy_and_bends_far():
    """From level, soft: energy to the tolerance, bent by more than half its length, and no warning, for no segment bends far."""
    soft = pl.Material(E=1.1e10, density=1200.0)
    beam = pl.Beam(length=1.0, section=FLAT, material=soft, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    system = pl.System("whip", gravity=(0, -9.81))
    system.add("rod", pl.segmented(beam, 8), joint=pl.Weld())
    run = pl.simulate(system, 0.6, method=pl.Auto(rtol=1e-8, atol=1e-10))
    assert run.ok and run.ledger.relative_error_max < 1e-6
    assert np.min(run.of_body("tip_position", "rod_8")[:, 1]) < -0.5
    assert run.warnings == ()


def test_too_few_segments_are_told_to_be_more():
    _, run = bent(10.0, 2, 40)
    assert run.ok and run.warnings and all(sentence.endswith("use more segments") for sentence in run.warnings)
    soft = pl.Material(E=2e9, density=1200.0)
    beam = pl.Beam(length=1.0, section=FLAT, material=soft, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    system = pl.System("whip", gravity=(0, -9.81))
    system.add("rod", pl.segmented(beam, 2), joint=pl.Weld())
    found = [sentence for sentence in pl.simulate(system, 0.5).warnings if "'rod_1'" in sentence]
    assert found and all(sentence.endswith("use more segments") for sentence in found)


def test_pictures_draw_a_bent_segment_where_its_tip_is():
    """To round-off, third order included, so that no gap shows between segments."""
    _, run = bent(10.0, 4, 40)
    points = Scene(run).positions(run.time)
    for k in range(4):
        away = np.linalg.norm(points[k] - run.values["tip_position"][:, k, None], axis=2)
        assert np.max(np.min(away, axis=1)) < 1e-12

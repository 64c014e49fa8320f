"""What every registered pair of contact shapes must satisfy, on two bodies that float in space and meet."""

import re

import numpy as np
import pytest

import pliant as pl
from pliant.dynamics.pairs import PAIRS
from pliant.files.writer import dump_model
from pliant.model.along import Along
from pliant.model.contact import TOUCHES, Bore, Capsule, End, Pin, Plane, Point, Side, Sphere
from pliant.model.solids import Box, BoxEdge, Corner, Crossing, Cylinder, Foot, Hull, Lying, Rim, Rolling
from registered import PAIR_EXAMPLES

END = "the end of a pin"  # in a bore that is longer; the example of (Pin, Bore) is the rim of a bore that is shorter
NAMES = [*(" in ".join(kind.__name__ for kind in entry) for entry in PAIRS), END]
# scope: all tests of an entry in a row, while what its Systems were compiled to is still kept in the process
ENTRIES = pytest.mark.parametrize("entry", [*PAIRS, END], ids=NAMES, scope="module")
LAW = pl.Hertz(stiffness=1e6)
TURNED = pl.deg(20.0)
STEP = 2e-5  # s between rows
CHANGING = (Crossing, Lying, Rolling, Foot)  # what touches is another place, or another edge, elsewhere
FAR = 0.03  # m between edges that other edges may replace
TIPS = np.array([(-0.3, 0.0, 0.0), (0.1, 0.06, 0.1)])  # of bodies that are touched along the line to their tips, m


def floating(entry, law=LAW, friction=None, exchanged=False, speed=-0.9):
    """Two bodies that move and spin; the shapes are at frames away from their origins, which are turned."""
    first, second = PAIR_EXAMPLES[(Pin, Bore)] if entry == END else PAIR_EXAMPLES[entry]
    if entry == END:
        first, second = lambda at: Pin(at=at, radius=0.02, length=0.04), lambda at: Bore(at=at, radius=0.05, length=0.2)
    system = pl.System("meeting", gravity=(0, 0, 0))
    one = pl.Free(position=(0.31, 0.02, 0.01), velocity=(speed, 0.1, 0.05), angular_velocity=(0.3, -0.4, 0.5))
    other = pl.Free(velocity=(0.2, 0.0, -0.1), angular_velocity=(-0.2, 0.3, 0.4))
    tips = TIPS if entry != END and Along in entry else np.zeros((2, 3))
    a = system.add("a", pl.RigidBody(mass=1.2, inertia=(0.02, 0.03, 0.04), tip=tips[0]), joint=one)
    b = system.add("b", pl.RigidBody(mass=0.7, inertia=(0.01, 0.02, 0.015), tip=tips[1]), joint=other)
    shape, against = first(a.root.moved((-0.3, 0.0, 0.0)).turned(TURNED, "x")), second(b.root.moved((0.0, 0.02, 0.0)))
    if exchanged:
        shape, against = second(b.root.moved((0.0, 0.02, 0.0))), first(a.root.moved((-0.3, 0.0, 0.0)).turned(TURNED, "x"))
    system.contact(points=shape, against=against, normal=law, friction=friction)
    return system


def of_cylinders(entry, system):
    """The same with only the pairs of this entry, where others of a cylinder touch as well; each must hold by itself."""
    if entry != END and (entry[0] in (Lying, Rolling, Foot) or entry == (BoxEdge, Cylinder)):
        kept = [pair for pair in system.contacts.values() if (type(pair.ball), type(pair.against)) == entry]
        system.contacts = {pair.name: pair for pair in kept}
    return system


def run(system, t_end=0.2, **options):
    return pl.simulate(system, t_end, method=pl.DOP853(rtol=1e-10, atol=1e-12), **options)


def test_what_the_model_lets_touch_has_a_formula_and_the_other_way_round():
    """A capsule is two spheres on a plane and in a bore; of other shapes the parts touch."""
    parts = {Capsule: {End}, Box: {Corner}, Hull: {Corner}, Cylinder: {Rim}}
    special = {
        (Box, Capsule): {Corner, BoxEdge},
        (Box, Box): {Corner, Crossing},
        (Box, Cylinder): {BoxEdge},
        (Cylinder, Box): {Rolling, Foot},
        (Cylinder, Cylinder): {Lying, Rolling, Foot},
        (Capsule, Capsule): {End, Side},
        (Capsule, Cylinder): {End, Side},
        (Capsule, Plane): {Sphere},
        (Capsule, Bore): {Sphere},
    }
    known = {
        (part, other)
        for one, others in TOUCHES.items() for other in others for part in special.get((one, other), parts.get(one, {one}))
    }  # fmt: skip
    assert known == set(PAIRS)


WRONG = {
    "thick": (lambda at: Bore(at, 0.05), "points must be thinner than the Bore, of radius 0.05 m, got 0.1"),
    "pin on ball": (lambda at: Sphere(at, 1.0), "against must be a Bore when a Pin touches it"),
    "pin on plane": (lambda at: Plane(normal="y", on=at), "against must be a Bore when a Pin touches it"),
    "around a pin": (
        lambda at: Pin(at, 1.0),
        "against must be a Plane, a Sphere, a Bore, a Socket, a Capsule, a Box, a Cylinder, a Point, an Edge or an Along, got Pin",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_pair_without_an_entry_is_refused_by_name(wrong):
    system = pl.System("s", gravity=(0, 0))
    body = system.add("a", pl.RigidBody(mass=1.0), joint=pl.Free())
    against, words = WRONG[wrong]
    with pytest.raises(pl.ModelError, match=re.escape(words)):
        system.contact(points=Pin(body.root, 0.1), against=against(system.ground), normal=LAW)


@ENTRIES
def test_the_bodies_meet_and_the_gap_changes_as_fast_as_it_closes(entry):
    """A cubic through rows a step apart has the slope -closing_speed, to fourth order, but where the nearest edge changes.

    Where the touched station of a beam reaches an end, the gap's second derivative jumps: four rows see both sides. Of edges that
    do not cross the gap itself jumps where other edges become the nearest, far from any contact.
    """
    found = run(of_cylinders(entry, floating(entry)), save=STEP)
    assert found.ok and len(found.contacts) > 0
    gap, closing = found.values["gap"], found.values["closing_speed"]
    slope = (gap[:-4] - 8.0 * gap[1:-3] + 8.0 * gap[3:-1] - gap[4:]) / (12.0 * STEP)
    # where no force bends the way of the bodies within a few rows, and away from the axis of a bore, where the gap has a corner
    apart = (gap > 0.0) & (gap < 0.95 * gap.max())
    smooth = apart[:-4] & apart[1:-3] & apart[2:-2] & apart[3:-1] & apart[4:]
    assert smooth.sum() > 200
    bend = np.abs(closing[:-4] - 2.0 * closing[2:-2] + closing[4:])[smooth]
    off = np.abs(slope + closing[2:-2])[smooth]
    if entry != END and Along in entry:
        assert np.count_nonzero(off > 2e-6) <= 8 and off.max() < 20.0 * STEP
    elif entry != END and any(part in CHANGING for part in entry):
        near = gap[2:-2][smooth] < FAR
        assert np.all((off <= 2e-6 + bend)[near]) and near.sum() > 200 and np.mean(off > 2e-6) < 1e-3
    else:
        assert np.all(off <= 2e-6 + bend) and np.mean(off > 2e-6) < 1e-3


@ENTRIES
def test_momenta_and_energy_stay_without_friction_and_with_it_only_energy_goes(entry):
    for friction in (None, pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2)):
        found = run(of_cylinders(entry, floating(entry, friction=friction)), save=[0.0, 0.2])
        assert len(found.contacts) > 0 and found.ledger.relative_error_max < 1e-8
        mass = np.array([1.2, 0.7])
        momentum, spin = momenta(found, mass, TIPS if entry != END and Along in entry else np.zeros((2, 3)))
        np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-10)
        np.testing.assert_allclose(spin[1], spin[0], atol=1e-10)
        kinetic = found.values["kinetic"] + found.values["contact"]
        lost = float(kinetic[0] - kinetic[-1])
        assert abs(lost) < 1e-9 if friction is None else lost > 1e-5


def momenta(found, mass, tips):
    """Momentum and angular momentum; the mass centre of a body is its root."""
    inertia = np.array([(0.02, 0.03, 0.04), (0.01, 0.02, 0.015)])
    momentum, spin = 0.0, 0.0
    for k, name in enumerate("ab"):
        w, x, y, z = (found.values["orientation"][:, k, j] for j in range(4))
        turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
        omega = np.stack([found["v", f"{name}.{axis}"] for axis in ("wx", "wy", "wz")], axis=1)
        arm = np.einsum("ijt,j->ti", turn, tips[k])
        speed = found.values["tip_velocity"][:, k] - np.cross(np.einsum("ijt,tj->ti", turn, omega), arm)
        momentum = momentum + mass[k] * speed
        spin = spin + mass[k] * np.cross(found.values["tip_position"][:, k] - arm, speed)
        spin = spin + np.einsum("ijt,tj->ti", turn, inertia[k] * omega)
    return momentum, spin


@ENTRIES
def test_a_run_in_lock_step_agrees_and_a_file_gives_the_same_run(entry):
    system = floating(entry)
    alone = run(system)
    again = run(pl.loads_model(dump_model(system)).system)
    np.testing.assert_array_equal(again["v", "a.x"], alone["v", "a.x"])
    many = pl.ensemble(system, 0.2, rates={"a.x": np.full(256, -0.9)},
                       method=pl.DOP853(rtol=1e-10, atol=1e-12))  # fmt: skip
    assert many.ok.all()
    np.testing.assert_allclose(many["v", "a.x"].values, alone["v", "a.x"][-1], atol=1e-7)


@ENTRIES
def test_derivatives_of_a_run_are_the_differences_of_runs(entry):
    """By the speed with which the bodies meet, through the contact and its friction."""
    end, tight = 0.2, {"method": pl.DOP853(rtol=1e-11, atol=1e-13), "save": [0.0, 0.2]}
    speed = pl.Parameter("speed", -0.9)
    system = of_cylinders(entry, floating(entry, friction=pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2), speed=speed))
    exact = pl.sensitivities(system, end, ["speed"], **tight)
    runs = [pl.simulate(system, end, parameters={"speed": -0.9 + h}, **tight) for h in (STEP, -STEP)]
    assert len(runs[0].contacts) == len(runs[1].contacts) > 0
    difference = (runs[0]["v"][-1] - runs[1]["v"][-1]) / (2.0 * STEP)
    first = runs[0]["q"].shape[1]  # rates follow coordinates
    found = exact.final[first : first + difference.size, 0]
    np.testing.assert_allclose(found, difference, atol=2e-4 * np.abs(difference).max())


def test_two_balls_exchanged_move_alike():
    for entry in ((Sphere, Sphere), (Point, Sphere)):
        swapped = run(floating(entry, exchanged=True))
        np.testing.assert_allclose(swapped["v", "a.x"], run(floating(entry))["v", "a.x"], atol=1e-9)


@ENTRIES
def test_a_result_with_it_can_be_drawn(entry):
    import matplotlib.pyplot as plt

    figure = pl.plot.mechanism(run(floating(entry)), times=[0.0, 0.1])
    assert figure.axes
    plt.close(figure)

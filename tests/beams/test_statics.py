"""Static-correction shapes: loads at the ends are answered exactly, and no mode of the set is touched."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes, shape_integrals
from pliant.beams.statics import StaticShape

SECTION = pl.Section.rectangle(height=0.02, width=0.03)
LENGTH = 1.2
EI, EI_Z = pl.STEEL.E * SECTION.Iz, pl.STEEL.E * SECTION.Iy
GJ, EA = pl.STEEL.shear_modulus * SECTION.J, pl.STEEL.E * SECTION.A
SHEAR = SECTION.shear_factor * SECTION.A * pl.STEEL.shear_modulus


def beam(modes, theory="euler-bernoulli", **more):
    return pl.Beam(length=LENGTH, section=SECTION, material=pl.STEEL, theory=theory, modes=modes, **more)


def answer(modes, theory="euler-bernoulli", force=(0.0, 0.0, 0.0), moment=(0.0, 0.0, 0.0), station=LENGTH):
    """(Displacement, rotation) of the tip under a load at a station, by K alone."""
    of = beam(modes, theory)
    shapes = beam_shapes(of)
    loaded = shapes.displacement([station])[0].T @ np.array(force) + shapes.rotation([station])[0].T @ np.array(moment)
    q = np.linalg.solve(shape_integrals(of, shapes).stiffness, loaded)
    return shapes.displacement([LENGTH])[0] @ q, shapes.rotation([LENGTH])[0] @ q


@pytest.mark.parametrize(("count", "off"), [(1, 0.1894), (8, 0.0253)])
def test_a_tip_torque_twists_exactly_where_modes_alone_are_19_and_2_and_a_half_percent_off(count, off):
    exact = LENGTH / GJ
    assert 1.0 - answer(pl.TorsionModes("cf", count), moment=(1.0, 0.0, 0.0))[1][0] / exact == pytest.approx(off, abs=1e-4)
    found = answer(pl.TorsionModes("cf", count, static=True), moment=(1.0, 0.0, 0.0))[1][0]
    assert found == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_a_tip_force_stretches_exactly(count):
    assert answer(pl.AxialModes("cf", count, static=True), force=(1.0, 0.0, 0.0))[0][0] == pytest.approx(LENGTH / EA, rel=1e-12)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_a_cantilever_answers_tip_force_and_tip_moment_exactly(count, theory):
    """l^3/3EI (and l/kAG), l^2/2EI both ways, l/EI."""
    modes = pl.Modes("cf", count, static=True)
    sheared = LENGTH / SHEAR if theory == "timoshenko" else 0.0
    moves, turns = answer(modes, theory, force=(0.0, 1.0, 0.0))
    assert moves[1] == pytest.approx(LENGTH**3 / (3.0 * EI) + sheared, rel=1e-11)
    assert turns[2] == pytest.approx(LENGTH**2 / (2.0 * EI), rel=1e-11)
    moves, turns = answer(modes, theory, moment=(0.0, 0.0, 1.0))
    assert moves[1] == pytest.approx(LENGTH**2 / (2.0 * EI), rel=1e-11)
    assert turns[2] == pytest.approx(LENGTH / EI, rel=1e-11)


def test_the_other_plane_bends_about_the_other_axis():
    moves, turns = answer(pl.Modes("cf", 2, plane="z", static=True), force=(0.0, 0.0, 1.0))
    assert moves[2] == pytest.approx(LENGTH**3 / (3.0 * EI_Z), rel=1e-11)
    assert turns[1] == pytest.approx(-(LENGTH**2) / (2.0 * EI_Z), rel=1e-11)


def test_a_supported_beam_answers_moments_on_its_ends_exactly():
    """l/3EI where the moment is, -l/6EI at the other end."""
    modes = pl.Modes("ss", 2, static=True)
    assert answer(modes, moment=(0.0, 0.0, 1.0))[1][2] == pytest.approx(LENGTH / (3.0 * EI), rel=1e-11)
    assert answer(modes, moment=(0.0, 0.0, 1.0), station=0.0)[1][2] == pytest.approx(-LENGTH / (6.0 * EI), rel=1e-11)
    assert beam(modes).mode_labels == ("y1", "y2", "y3", "y4")


def test_given_shapes_are_completed_to_a_cantilever():
    quartic = pl.ShapeFunction(w=lambda x: x**4, dw=lambda x: 4 * x**3, ddw=lambda x: 12 * x**2)
    moves, _ = answer(pl.GivenModes([quartic], static=True), force=(0.0, 1.0, 0.0))
    assert moves[1] == pytest.approx(LENGTH**3 / (3.0 * EI), rel=1e-11)
    stretch = pl.ShapeFunction(w=lambda x: x**2, dw=lambda x: 2 * x, ddw=lambda x: 2.0 + 0 * x)
    found = answer(pl.GivenModes([stretch], plane="x", static=True), force=(1.0, 0.0, 0.0))[0][0]
    assert found == pytest.approx(LENGTH / EA, rel=1e-11)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("ends", ["cf", "ss", "sc", "cs", "sf"])
def test_frequencies_of_the_modes_stay_and_matrices_are_diagonal(ends, theory):
    plain, static = (shape_integrals(beam(pl.Modes(ends, 4, static=static), theory)) for static in (False, True))
    assert static.free_frequencies[:4] == pytest.approx(plain.free_frequencies, rel=1e-9)
    for matrix in (static.stiffness, static.modal_mass):
        assert np.array_equal(matrix, np.diag(np.diag(matrix))), "orthogonal, to the last bit"


@pytest.mark.parametrize(
    ("ends", "count"), [("cf", 2), ("fc", 2), ("ss", 2), ("sc", 1), ("cs", 1), ("sf", 3), ("fs", 3), ("ff", 4)]
)
def test_each_load_that_an_end_takes_has_a_shape_with_the_residual_strain_energy(ends, count):
    """Every shape has a largest deflection of 1, seen from the root, and a frequency above those of the modes."""
    shapes = beam_shapes(beam(pl.Modes(ends, 3, static=True), "timoshenko"))
    extra = [column for column in shapes.columns if isinstance(column.shape, StaticShape)]
    assert len(extra) == count and len(shapes.columns) == 3 + count
    assert np.all(np.diff(shapes.frequencies) > 0.0)
    x = np.linspace(0.0, LENGTH, 401)
    for number in range(3, 3 + count):
        assert np.max(shapes.displacement(x)[:, 1, number]) == pytest.approx(1.0, abs=1e-12)


def free_tip_response(ends, count, static):
    """Tip against root, m, of a floating beam pushed across at its tip, once its vibration has died away: by inertia relief."""
    modes = pl.Modes(ends, count, static=static)
    damping = pl.Rayleigh(alpha=0.0, beta=3e-3)
    system = pl.System("floating", gravity=(0, 0))
    body = system.add("beam", beam(modes, damping=damping, stiffening="none"), joint=pl.Planar())
    system.force("push", body.tip, (0.0, 1.0), expressed="body")
    run = pl.simulate(system, 0.5, save=[0.5])
    return run.values["strain"][-1]


def test_a_floating_beam_pushed_at_its_tip_stores_what_inertia_relief_says():
    """V = -F + a (l - s) of a rod that accelerates with a(s); the strain energy is int M^2/2EI = F^2 l^3/210EI."""
    exact = LENGTH**3 / (210.0 * EI)
    off = [abs(free_tip_response("ff", count, static) / exact - 1.0) for count, static in ((2, False), (2, True))]
    assert off[1] < 1e-5 < 1e-3 < off[0]  # the rest of the vibration, and the centrifugal force of what it has begun to turn


def test_an_arm_with_static_shapes_keeps_its_energy_and_its_ledger():
    system = pl.System("arm", gravity=(0, -9.81))
    arm = system.add("arm", beam([pl.Modes("cf", 1, static=True), pl.TorsionModes("cf", 1, static=True)]), joint=pl.Universal())
    system.add("load", pl.RigidBody(mass=1.0, inertia=0.1, com=(0.1, 0.05, 0.0)), joint=pl.Weld(), on=arm.tip)
    run = pl.simulate(system, 0.2, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    assert run.ok and run.ledger.relative_error_max < 1e-7
    assert [name for name in run.labels["coordinate"] if ".y" in name] == ["arm.y1", "arm.y2", "arm.y3"]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: pl.Modes("cc", 1, static=True), "Modes: static must be False when both ends are clamped"),
        (lambda: pl.AxialModes("cc", 1, static=True), "AxialModes: static must be False when both ends are clamped"),
        (lambda: pl.TorsionModes("cf", 1, static="yes"), "TorsionModes: static must be True or False"),
    ],
)
def test_sets_that_take_no_load_are_refused(made, message):
    with pytest.raises(pl.ModelError, match=message):
        made()


# ---------------------------------------------------------------------------------------------------- torsion elements


def test_torsion_elements_are_exact_in_statics_and_converge_in_frequency():
    """A tip torque to round-off; the first frequency, (pi/2l) sqrt(GJ/Jx), from above with h^2 and (pi/2n)^2/24."""
    assert answer(pl.TorsionElements(3), moment=(1.0, 0.0, 0.0))[1][0] == pytest.approx(LENGTH / GJ, rel=1e-13)
    exact = math.pi / (2.0 * LENGTH) * math.sqrt(GJ / beam(pl.TorsionModes("cf", 1)).rotary[0])
    off = [shape_integrals(beam(pl.TorsionElements(n))).free_frequencies[0] / exact - 1.0 for n in (4, 8, 16)]
    assert off == pytest.approx([(math.pi / (2.0 * n)) ** 2 / 24.0 for n in (4, 8, 16)], rel=0.01)


def test_reduced_torsion_elements_keep_the_tip_and_the_first_frequencies():
    reduced = beam(pl.TorsionElements(16, pl.CraigBampton(3)))
    whole = shape_integrals(beam(pl.TorsionElements(16))).free_frequencies
    assert reduced.mode_labels == tuple(f"torsion{k}" for k in range(1, 5))
    assert shape_integrals(reduced).free_frequencies[:2] == pytest.approx(whole[:2], rel=5e-3)
    twisted = answer(pl.TorsionElements(16, pl.CraigBampton(3)), moment=(1.0, 0.0, 0.0))[1][0]
    assert twisted == pytest.approx(LENGTH / GJ, rel=1e-12)
    free = shape_integrals(beam(pl.TorsionElements(8, pl.FreeModes(2)))).free_frequencies
    assert np.all(free > 0.0)


def test_torsion_elements_and_torsion_modes_swing_alike():
    """An arm with an eccentric load, turned: both describe the same shaft."""
    ends = []
    for modes in (pl.TorsionElements(12), pl.TorsionModes("cf", 6, static=True)):
        system = pl.System("shaft", gravity=(0, -9.81))
        shaft = system.add("shaft", beam(modes), joint=pl.Weld())
        system.add("load", pl.RigidBody(mass=2.0, inertia=0.1, com=(0.0, 0.0, 0.2)), joint=pl.Weld(), on=shaft.tip)
        run = pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=[0.01, 0.05])
        ends.append(run.of_body("orientation", "load"))
    assert ends[0] == pytest.approx(ends[1], abs=2e-6)
    assert np.max(np.abs(ends[0][:, 1])) > 1e-4


def two_links(modes, second=None, length=0.5):
    """A sprung arm whose second link is welded to the tip of the first."""
    system = pl.System("arm", gravity=(0, -9.81))
    strip = {"section": pl.Section.rectangle(0.008, 0.03), "material": pl.ALUMINIUM, "theory": "euler-bernoulli",
             "stiffening": "none"}  # fmt: skip
    upper = system.add("upper", pl.Beam(length=length, modes=modes, **strip), joint=pl.Revolute(spring=pl.Spring(500.0)))
    system.add("fore", pl.Beam(length=0.4, modes=second or modes, **strip), joint=pl.Weld(), on=upper.tip)
    return system


def sag_and_second_frequency(system):
    rest = pl.equilibrium(system)
    return np.array([rest["tip_position", "fore"][1], pl.linearise(system, at=rest, outputs=()).modes().frequencies[1]])


def test_a_link_that_carries_another_has_static_shapes_by_default():
    exact = sag_and_second_frequency(two_links(pl.ElementModes(10, reference="cantilever")))
    chosen = sag_and_second_frequency(two_links(pl.Modes("cf", 2)))
    plain = sag_and_second_frequency(two_links(pl.Modes("cf", 2, static=False)))
    assert chosen == pytest.approx(exact, rel=3e-4)
    assert abs(plain[0] / exact[0] - 1.0) > 0.02 and abs(plain[1] / exact[1] - 1.0) > 0.1


def test_only_what_carries_a_body_has_them_and_only_if_it_did_not_choose():
    system = two_links(pl.Modes("cf", 2), length=pl.Parameter("length", 0.5))
    assert [len(link.mode_labels) for link in system.links.values()] == [4, 2]
    assert [len(link.mode_labels) for link in two_links(pl.Modes("cf", 2, static=False)).links.values()] == [2, 2]
    loaded = pl.System("loaded", gravity=(0, 0))
    loaded.add("arm", pl.Beam(length=1.0, section=pl.Section.round(0.01), material=pl.STEEL, theory="euler-bernoulli",
                              modes=pl.Modes("cf", 2), payload=pl.Payload(mass=1.0)), joint=pl.Revolute())  # fmt: skip
    assert len(loaded.links["arm"].mode_labels) == 2
    for modes in (pl.Modes("cf", 2), pl.Modes("cf", 2, static=False)):
        again = pl.loads_model(pl.dump_model(two_links(modes))).system
        assert again.links == two_links(modes).links

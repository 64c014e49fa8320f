"""Mode shapes: the published Table 2, boundary conditions, the equations themselves, normalisations, signs."""

import numpy as np
import pytest

from pliant.beams.bending import bending_modes
from pliant.beams.quadrature import nodes
from pliant.model.beam import Beam
from pliant.model.material import Material
from pliant.model.modes import BENDING_ENDS, Modes
from pliant.model.rigid import Payload
from pliant.model.section import Section
from pliant.model.value_keys import value_key

PAPER = Section(A=3.75e-4, Iz=0.03 * 0.0125**3 / 12, Iy=0.0125 * 0.03**3 / 12, shear_factor=5 / 6)
STEEL = Material(E=2e11, G=2e11 / 2.6)
THICK = Section(A=0.06, Iz=0.1**2 * 0.06, Iy=1e-4, shear_factor=5 / 6)

EXTENDED = np.finfo(np.longdouble).eps < 1e-17  # plain double on some platforms
DIGIT = 6e-16 if EXTENDED else 2e-15

# Yousefzadeh and Shafei 2024, Table 2: coefficients of sin, cos, sinh, cosh in W and in Theta, and the wavenumbers
TABLE_2 = {
    "ss": ((1, 0, 0, 0), (0, 3.140333690109594, 0, 0), (3.141592653589793, None)),
    "cc": (
        (0.6189067368941716, -0.6292076184824934, -0.6181543604098716, 0.6292076184824934),
        (2.97275682019588, 2.924089234018893, 2.976375062609595, -2.924089234018893),
        (4.728894916196515, 4.72606095063675),
    ),
    "sc": (
        (0.937356072626805, 0, 0.02617115567137916, 0),
        (0, 3.677927210568842, 0, 0.1027745658114473),
        (3.926181400745614, 3.924559038288969),
    ),
    "cs": (
        (0.6633471080156852, -0.6622741284223433, -0.6627910308436212, 0.6622741284223433),
        (2.598581381090682, 2.602791457664548, 2.600761573215394, -2.602791457664547),
        (3.926181400745614, 3.924559038288969),
    ),
}


def beam(ends="cf", count=1, theory="timoshenko", section=PAPER, length=1.0, **more):
    modes = {key: more.pop(key) for key in ("plane", "normalise", "payload") if isinstance(more.get(key), (str, bool))}
    rest = {"mass_per_length": 1.0} | more
    load = rest.pop("load", None)
    return Beam(
        length=length, section=section, material=STEEL, theory=theory, modes=Modes(ends, count, **modes),
        payload=load, **rest,
    )  # fmt: skip


def modes_of(*args, **kwargs):
    link = beam(*args, **kwargs)
    return link, bending_modes(link, link.mode_sets[0])


@pytest.mark.parametrize("ends", TABLE_2)
def test_table_2_comes_out_to_its_last_printed_digit(ends):
    w, theta, (a, b) = TABLE_2[ends]
    _, (mode,) = modes_of(ends)
    found = mode.coefficients
    # the paper's own last digits differ between equal coefficients: two units of the sixteenth digit are allowed
    assert found.w == pytest.approx(w, rel=DIGIT, abs=1e-17)
    assert found.theta == pytest.approx(theta, rel=DIGIT, abs=5e-17)
    assert found.wavenumbers[0] == pytest.approx(a, rel=DIGIT / 2)
    assert b is None or found.wavenumbers[1] == pytest.approx(b, rel=DIGIT / 2)


@pytest.mark.parametrize("section", [PAPER, THICK], ids=["slender", "thick"])
@pytest.mark.parametrize("ends", BENDING_ENDS)
def test_coefficients_and_functions_are_the_same_mode(ends, section):
    x = np.linspace(0.0, 0.9, 13)
    for mode in modes_of(ends, 6, section=section, length=0.9)[1]:
        found = mode.coefficients
        a, b = found.wavenumbers
        pair = (np.sinh, np.cosh) if found.hyperbolic else (np.sin, np.cos)
        functions = np.array([np.sin(a * x), np.cos(a * x), pair[0](b * x), pair[1](b * x)])
        size = np.abs(found.w) @ np.abs(functions).max(axis=1)
        assert found.w @ functions == pytest.approx(mode.w(x), abs=1e-14 * size)
        assert found.theta @ functions == pytest.approx(mode.theta(x), abs=1e-13 * size * a)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("ends", BENDING_ENDS)
def test_modes_meet_their_ends(ends, theory):
    link, modes = modes_of(ends, 12, theory, section=THICK, length=1.3)
    for mode in modes:
        a = mode.wavenumber
        for end, x in zip(ends, (0.0, link.length), strict=True):
            force = mode.state(x)[3] / (a * link.length) ** 3
            zero = {"c": (mode.w(x), mode.theta(x) / a), "s": (mode.w(x), mode.theta(x, 1) / a**2)}
            zero["f"] = (mode.theta(x, 1) / a**2, force)
            assert np.abs(zero[end]).max() < 2e-13 * np.abs(mode.theta(np.linspace(0, link.length, 99))).max() / a * 10


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("section", [PAPER, THICK], ids=["slender", "thick"])
def test_derivatives_are_those_of_the_functions_and_meet_the_equations(theory, section):
    link, modes = modes_of("cf", 8, theory, section=section, length=1.2)
    rigidity = section.shear_factor * section.A * STEEL.shear_modulus
    x, h = np.linspace(0.05, 1.15, 23), 1e-5
    for mode in modes:
        size, a = np.abs(mode.w(x)).max(), mode.wavenumber
        assert (mode.w(x + h) - mode.w(x - h)) / (2 * h) == pytest.approx(mode.w(x, 1), abs=1e-6 * size * a)
        assert (mode.w(x + h, 1) - mode.w(x - h, 1)) / (2 * h) == pytest.approx(mode.w(x, 2), abs=1e-5 * size * a**2)
        turn = np.abs(mode.theta(x)).max()
        slope = (mode.theta(x + h) - mode.theta(x - h)) / (2 * h)
        assert slope == pytest.approx(mode.theta(x, 1), abs=1e-6 * turn * a)
        if theory == "euler-bernoulli":
            assert mode.theta(x) == pytest.approx(mode.w(x, 1), rel=1e-14)
        else:  # k A G (w'' - Theta') = -mu omega^2 w
            inertia = link.mu * mode.frequency**2 * mode.w(x)
            assert rigidity * (mode.w(x, 2) - mode.theta(x, 1)) == pytest.approx(
                -inertia, abs=1e-11 * rigidity * np.abs(mode.w(x, 2)).max()
            )
            assert mode.strain(x) == pytest.approx(mode.w(x, 1) - mode.theta(x), abs=1e-13 * size * a)


@pytest.mark.parametrize("ends", BENDING_ENDS)
def test_normalisations_do_what_they_say(ends):
    link, modes = modes_of(ends, 5, section=THICK)
    fine = np.linspace(0.0, 1.0, 20001)
    for mode in modes:
        assert np.abs(mode.w(fine)).max() == pytest.approx(1.0, abs=1e-6)
        assert np.abs(mode.w(fine)).max() <= 1.0 + 1e-13
    for mode in modes_of(ends, 5, section=THICK, normalise="length")[1]:
        x, weight = nodes(mode.breaks)
        assert weight @ mode.w(x) ** 2 == pytest.approx(1.0, rel=1e-14)
    for mode in modes_of(ends, 5, section=THICK, normalise="mass")[1]:
        x, weight = nodes(mode.breaks)
        total = link.mu * weight @ mode.w(x) ** 2 + link.rotary[2] * weight @ mode.theta(x) ** 2
        assert total == pytest.approx(1.0, rel=1e-14)


def test_the_cantilever_of_unit_mean_square_has_a_tip_of_two_with_alternating_sign():
    tips = [mode.w(1.0) for mode in modes_of("cf", 6, "euler-bernoulli", normalise="length")[1]]
    assert tips == pytest.approx([2.0, -2.0, 2.0, -2.0, 2.0, -2.0], rel=1e-14)


@pytest.mark.parametrize("ends", BENDING_ENDS)
def test_the_first_motion_away_from_the_root_is_positive(ends):
    for mode in modes_of(ends, 10)[1]:
        away = mode.w(np.linspace(0.0, 1.0, 2001)) - mode.w(0.0)
        first = np.flatnonzero(np.abs(away) > 1e-4 * np.abs(away).max())[0]
        assert away[first] > 0.0


def test_a_beam_read_from_its_other_end_has_the_mirrored_modes():
    x = np.linspace(0.0, 1.0, 7)
    pairs = zip(modes_of("cf", 4, section=THICK)[1], modes_of("fc", 4, section=THICK)[1], strict=True)
    for there, back in pairs:
        assert there.frequency == pytest.approx(back.frequency, rel=1e-15)
        assert np.abs(there.w(x)) == pytest.approx(np.abs(back.w(1.0 - x)), abs=1e-13)


def test_a_mode_of_the_second_spectrum_is_a_sine_too():
    modes = modes_of("ss", 12, section=THICK)[1]
    second = [mode for mode in modes if mode.coefficients.w[0] == 0.0]
    assert second
    x = np.linspace(0.0, 1.0, 9)
    for n, mode in enumerate(second, start=1):
        assert mode.w(x) == pytest.approx(np.sin(n * np.pi * x), abs=1e-12)


@pytest.mark.parametrize("plane", ["y", "z"])
@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.05, -0.02)])
def test_modes_with_a_payload_are_orthogonal_over_beam_and_payload(plane, offset):
    load = Payload(mass=0.7, inertia=(0.01, 0.02, 0.03), offset=offset)
    link, modes = modes_of("cf", 5, section=THICK, plane=plane, payload=True, normalise="mass", load=load)
    x, weight = nodes(modes[-1].breaks)
    axis, side = (2, 1) if plane == "y" else (1, 2)
    w, theta = np.array([m.w(x) for m in modes]), np.array([m.theta(x) for m in modes])
    tip, tilt = np.array([m.w(1.0) for m in modes]), np.array([m.theta(1.0) for m in modes])
    mass = (link.mu * w * weight) @ w.T + (link.rotary[axis] * theta * weight) @ theta.T
    centre = tip + offset[0] * tilt
    inertia = load.inertia[axis][axis] + load.mass * offset[side] ** 2
    mass += load.mass * np.outer(centre, centre) + inertia * np.outer(tilt, tilt)
    assert mass == pytest.approx(np.eye(5), abs=1e-12)


def test_rotary_inertia_given_to_an_euler_bernoulli_beam_counts():
    plain = modes_of("ss", 1, "euler-bernoulli")[1][0].frequency
    heavy = modes_of("ss", 1, "euler-bernoulli", rotary_inertia=0.02)[1][0].frequency
    assert heavy == pytest.approx(plain / np.sqrt(1.0 + 0.02 * np.pi**2), rel=1e-14)


@pytest.mark.parametrize("call", [lambda m: m.w(0.0, 3), lambda m: m.theta(0.0, 2)])
def test_an_order_that_is_not_there_is_refused(call):
    with pytest.raises(ValueError, match="order must be"):
        call(modes_of("cf")[1][0])


def test_beams_that_share_dimensionless_modes_have_their_own_lengths_frequencies_and_scales():
    """Bernoulli's beam: frequencies go with sqrt(E I / mu) / l^2, shapes with x / l."""
    material = {"density": 2700.0, "nu": 0.33}

    def modes(length, modulus, **more):
        beam = Beam(length=length, section=Section.rectangle(0.006, 0.03), material=Material(E=modulus, **material),
                    theory="euler-bernoulli", modes=Modes("cf", 2, **more))  # fmt: skip
        return bending_modes(beam, beam.mode_sets[0])

    x = np.linspace(0.0, 0.5, 7)
    for soft, stiff, by_length in zip(modes(0.5, 2e10), modes(1.0, 8e10), modes(0.5, 2e10, normalise="length"), strict=True):
        assert stiff.frequency == pytest.approx(0.5 * soft.frequency, rel=1e-14)
        assert stiff.w(2.0 * x) == pytest.approx(soft.w(x), rel=1e-13, abs=1e-15)
        assert stiff.theta(2.0 * x) == pytest.approx(0.5 * soft.theta(x), rel=1e-13, abs=1e-15)
        assert np.abs(soft.w(np.linspace(0.0, 0.5, 1001))).max() == pytest.approx(1.0, rel=1e-14)
        assert float(by_length.w(0.5)) == pytest.approx(2.0 * float(soft.w(0.5)), rel=1e-12)


def test_what_beams_share_cannot_be_written_to():
    beam = Beam(length=0.5, section=PAPER, material=STEEL, mass_per_length=1.0, theory="euler-bernoulli", modes=Modes("cf", 1))
    (mode,) = bending_modes(beam, beam.mode_sets[0])
    for array in (mode.parts, mode.w(np.linspace(0.0, 0.5, 7)), mode.wave.a):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 3.0


def test_a_mode_that_serves_as_a_given_shape_has_a_key():
    """By which beams of equal content are integrated once, and share their equations."""

    def key(ends):
        beam = Beam(length=0.5, section=PAPER, material=STEEL, mass_per_length=1.0, theory="timoshenko", rotary_inertia=1e-5,
                    modes=Modes(ends, 1))  # fmt: skip
        return value_key(bending_modes(beam, beam.mode_sets[0])[0].w)

    assert key("cf") == key("cf") is not None
    assert key("cf") != key("cc")

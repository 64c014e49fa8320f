"""What a System refuses of sensors, in words; Pade approximants against their definition; sections' surfaces."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.model.noise import normal
from pliant.model.sensor import MOST_PADE, extent, pade


@pytest.fixture
def system():
    made = pl.System("arm", gravity=(0.0, -9.81))
    beam = pl.Beam(length=0.6, section=pl.Section.round(0.01), material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    arm = made.add("arm", beam, joint=pl.Revolute())
    made.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(), on=arm.tip)
    made.add("bare", pl.Beam(length=0.6, section=pl.Section(A=1e-4, Iz=1e-9), material=pl.STEEL, theory="euler-bernoulli",
                             modes=pl.Modes("cf", 1)), joint=pl.Weld())  # fmt: skip
    return made


WRONG = [
    (lambda s: s.sensor.strain_gauge("amr"), r"strain gauge sensor: beam must be one of .*did you mean 'arm'.*got 'amr'"),
    (lambda s: s.sensor.strain_gauge("block", name="g"), r"sensor 'g': beam must be an elastic Beam.*got 'block'"),
    (lambda s: s.sensor.strain_gauge("arm", at=0.7, name="g"), r"sensor 'g': at must be a station in \[0, 0.6\] m.*got 0.7"),
    (lambda s: s.sensor.strain_gauge("arm", at="tip"), r"at must be a finite number in m, got 'tip'"),
    (lambda s: s.sensor.strain_gauge("arm", side="front"), r"StrainGauge: side must be one of top, bottom.*got 'front'"),
    (lambda s: s.sensor.strain_gauge("arm", side="left", name="g"), r"sensor 'g': side must be a side that the modes .*got 'left'"),
    (
        lambda s: s.sensor.strain_gauge("bare", name="g"),
        r"sensor 'g': at must be on a beam whose section has an outline.*got 'bare'",
    ),
    (lambda s: s.sensor.encoder("arm.angel"), r"of must be one of .*did you mean 'arm.angle'.*got 'arm.angel'"),
    (lambda s: s.sensor.encoder("block"), r"encoder sensor: joint must be the name of one coordinate.*has 3.*got 'block'"),
    (lambda s: s.sensor.encoder("arm", counts=0), r"Encoder: counts must be > 0, got 0"),
    (lambda s: s.sensor.accelerometer("arm"), r"Accelerometer: at must be a frame such as arm.tip, got 'arm'"),
    (lambda s: s.sensor.gyro(pl.Frame("leg")), r"at must be a frame of one of the bodies.*got 'leg'"),
    (lambda s: s.sensor.gyro(s.handle("arm").tip, axes="xw"), r"Gyro: axes must be letters out of x, y, z.*got 'xw'"),
    (lambda s: s.sensor.force("leg", name="f"), r"sensor 'f': of must be one of the bodies and contacts.*got 'leg'"),
    (lambda s: s.sensor.gyro(s.ground, name="arm"), r"name must be unique \(a body already has this name\), got 'arm'"),
    (lambda s: s.sensor.gyro(s.ground, name="a.b"), r"name must be .* without dots.*got 'a.b'"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_is_wrong_is_refused_in_a_sentence(system, wrong, message):
    before = (dict(system.sensors), dict(system.states))
    with pytest.raises(pl.ModelError, match=message):
        wrong(system)
    assert (system.sensors, system.states) == before


def test_a_name_is_taken_by_a_sensor_too(system):
    system.sensor.gyro(system.ground, name="gyro")
    with pytest.raises(pl.ModelError, match="a sensor already has this name"):
        system.state("gyro", 1.0)


@pytest.mark.parametrize("order", range(1, MOST_PADE + 1))
def test_a_pade_approximant_agrees_with_the_exponential_to_its_order(order):
    """P - Q exp(-s) = O(s^(2n)): all its Taylor coefficients up to s^(2n - 1) vanish."""
    above, below = pade(order)
    for k in range(2 * order):
        product = sum(q * (-1.0) ** (k - j) / math.factorial(k - j) for j, q in enumerate(below) if j <= k)
        assert (above[k] if k < order else 0.0) - product == pytest.approx(0.0, abs=1e-15)


def test_the_surface_of_a_section_is_as_far_out_as_its_outline():
    rectangle, ring = pl.RectangleOutline(height=0.02, width=0.01), pl.RingOutline(outer=0.03)
    fibres = pl.FibreOutline(points=[(0.01, 0.0), (-0.02, 0.005), (0.0, -0.03)])
    assert [extent(rectangle, side) for side in ("top", "bottom", "right", "left")] == [0.01, -0.01, 0.005, -0.005]
    assert [extent(ring, side) for side in ("top", "left")] == [0.03, -0.03]
    assert [extent(fibres, side) for side in ("top", "bottom", "right", "left")] == [0.01, -0.02, 0.005, -0.03]


def test_hashed_noise_is_normal_and_uncorrelated():
    instants = np.arange(20_000.0)
    x, y, z = normal(0.0, 0.0, instants), normal(0.0, 1.0, instants), normal(1.0, 0.0, instants)
    assert abs(np.mean(x)) < 0.03 and np.std(x) == pytest.approx(1.0, abs=0.03)
    assert np.mean(x**4) == pytest.approx(3.0, abs=0.2)
    for other in (y, z, np.roll(x, 1), np.roll(x, 2), np.roll(x, 64)):
        assert abs(np.corrcoef(x, other)[0, 1]) < 0.03

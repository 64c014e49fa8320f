"""What is compared: rotations by scipy's rotation vectors, derivatives by differences, angles within one turn, in whole fits."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

import pliant as pl
from pliant.study.fit.series import Series
from pliant.study.fit.targets import Rotation, WrappedAngle, targets_of


def columns(values, name="q cube.q{}", axes="wxyz"):
    series = [Series(name.format(axis), "q", (k,), "") for k, axis in enumerate(axes)]
    return [SimpleNamespace(column=f"cube.q{axis}", series=one, values=values[:, k], weights=None)
            for k, (axis, one) in enumerate(zip(axes, series, strict=True))]  # fmt: skip


def quaternions(turns):
    return np.roll(turns.as_quat(), 1, axis=1)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 0.5, 3.0])
def test_orientations_differ_by_the_rotation_vector_between_them(size):
    random = np.random.default_rng(0)
    measured = Turn.random(20, random_state=1)
    between = Turn.from_rotvec(size * np.array([0.6, -0.48, 0.64]) * np.ones((20, 1)))
    (target,) = targets_of(columns(-1.01 * quaternions(measured)))  # the other sign, and not quite of length 1
    assert isinstance(target, Rotation) and target.parts == (
        "cube orientation about x",
        "cube orientation about y",
        "cube orientation about z",
    )
    run = quaternions(measured * between)
    found = target.differences(list(run.T))
    assert found == pytest.approx(between.as_rotvec(), rel=1e-6, abs=1e-15)
    change, h = random.normal(size=(20, 4, 2)), 1e-6
    slopes = target.slopes(list(run.T), list(np.moveaxis(change, 1, 0)))
    for p in range(2):
        ends = [target.differences(list((run + sign * h * change[:, :, p]).T)) for sign in (1.0, -1.0)]
        along = (ends[0] - ends[1]) / (2.0 * h)
        assert slopes[:, :, p] == pytest.approx(along, rel=1e-5, abs=1e-6)


def test_quaternions_that_are_no_rotations_are_refused():
    (target,) = targets_of(columns(0.5 * quaternions(Turn.random(3, random_state=0))))
    with pytest.raises(pl.ModelError, match="cube orientation must be quaternions of length 1, got 0"):
        target.differences([np.ones(3)] * 4)


def test_three_of_four_columns_are_compared_one_by_one():
    found = targets_of(columns(quaternions(Turn.random(3, random_state=0)))[:3])
    assert [target.name for target in found] == ["cube.qw", "cube.qx", "cube.qy"]


def wheel():
    system = pl.System("wheel", gravity=(0, 0))
    rate = pl.Parameter("rate", 5.5, "rad/s", low=0.0, high=20.0)
    loss = pl.Damper(pl.Parameter("loss", 0.02, "N m s/rad", low=0.0, high=1.0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=rate, damper=loss))
    return system


def test_angles_that_were_measured_within_one_turn_are_compared_within_one():
    time = np.linspace(0.0, 4.0, 201)
    angle = 6.0 * 0.1 / 0.03 * (1.0 - np.exp(-0.3 * time))
    wrapped = (angle + np.pi) % (2.0 * np.pi) - np.pi
    found = pl.fit(wheel(), {"time": time, "wheel.angle": wrapped}, ["rate", "loss"])
    assert found.values == pytest.approx({"rate": 6.0, "loss": 0.03}, rel=1e-6)
    assert isinstance(found.search.targets[0][0], WrappedAngle)
    whole = pl.fit(wheel(), {"time": time, "wheel.angle": angle}, ["rate", "loss"])
    assert not isinstance(whole.search.targets[0][0], WrappedAngle) and whole.values == pytest.approx(found.values, rel=1e-6)


def test_a_tumbling_body_is_fitted_by_its_orientation():
    """Spin of a free cuboid from quaternions, whose signs are arbitrary: the errors are those of rotations by 0.01 rad."""
    system = pl.System("tumbling", gravity=(0, 0, 0))
    spin = pl.Parameter("spin", 2.6, "rad/s", low=0.0, high=10.0)
    second = pl.Parameter("second", 0.24, "kg m^2", low=0.11, high=0.39)
    system.add("cube", pl.RigidBody(mass=1.0, inertia=((0.15, 0, 0), (0, second, 0), (0, 0, 0.25))),
               joint=pl.Free(angular_velocity=(0.2, spin, 0.1)))  # fmt: skip
    time, names = np.linspace(0.0, 2.0, 81), [f"cube.q{axis}" for axis in "wxyz"]
    truth = pl.simulate(system, 2.0, save=time, parameters={"spin": 3.0, "second": 0.21})
    random = np.random.default_rng(3)
    exact = Turn.from_quat(np.roll(np.column_stack([truth[name] for name in names]), -1, axis=1))
    seen = quaternions(exact * Turn.from_rotvec(0.01 * random.normal(size=(81, 3)))) * random.choice([-1.0, 1.0], size=(81, 1))
    found = pl.fit(system, {"time": time, **dict(zip(names, seen.T, strict=True))}, ["spin", "second"])
    assert found.noise == {"cube orientation": pytest.approx(0.01 * np.sqrt(3.0), rel=0.15)}
    assert f"residual of cube orientation: {found.noise['cube orientation']:.3g} rad (root mean square)" in str(found)
    for name, true in {"spin": 3.0, "second": 0.21}.items():
        assert abs(found.values[name] - true) < 3.5 * found.standard_errors[name] < 0.05 * true
    found.plot()

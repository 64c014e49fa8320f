"""What every registered sensor must satisfy: numbers are data, files hold it, and gain, offset and filters act on all alike."""

import numpy as np
import pytest

import pliant as pl
from changed_numbers import check_numbers_are_read
from pliant.model.sensor import SENSORS
from pliant.model.walk import unchecked_copy
from registered import SENSOR

over_all = pytest.mark.parametrize("kind", SENSORS, ids=lambda kind: kind.__name__)


def arm(kind, **fields):
    """A beam on a hinge above the ground, with the sensor as it is, and the same with other fields."""
    system = pl.System("arm", gravity=(0.2, -9.81))
    section = pl.Section.rectangle(0.006, 0.012)
    beam = pl.Beam(length=0.6, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 2))
    handle = system.add("arm", beam, joint=pl.Revolute(angle=0.1, rate=0.4))
    system.contact(points=handle.tip, against=pl.Plane(normal="y", point=(0.0, -0.3)), normal=pl.Hertz(stiffness=1e6))
    sensor = SENSOR[kind](system)
    system.sensor.add("plain", sensor)
    system.sensor.add("own", type(sensor)(**{**vars(unchecked_copy(sensor, {})), **fields}))
    return system


FILTERED = {"gain": 2.5, "offset": 0.3, "low_pass": 30.0, "order": 2, "damping": 0.9, "delay": 0.004, "pade": 2, "noise": 0.1}


@over_all
def test_its_numbers_are_read_from_the_vector_of_numbers(kind):
    check_numbers_are_read(arm(kind, **FILTERED))


@over_all
def test_gain_and_offset_act_on_its_reading(kind):
    result = pl.simulate(arm(kind, gain=2.5, offset=0.3), 0.1, save=0.02)
    plain, own = np.split(result["sensor"], 2, axis=1)
    assert own == pytest.approx(2.5 * plain + 0.3, rel=1e-13, abs=1e-13)
    assert np.any(plain)


@over_all
def test_its_filter_starts_at_what_it_measures(kind):
    smooth = {"counts": None} if kind is pl.Encoder else {}
    result = pl.simulate(arm(kind, **FILTERED, **smooth), 0.01, save=[0.0, 0.01])
    plain, own = np.split(result["sensor"][0], 2)
    assert own == pytest.approx(
        2.5 * plain + 0.3, rel=1e-3 if kind is pl.Encoder else 1e-12, abs=2e-3 if kind is pl.Encoder else 1e-12
    )


@over_all
def test_a_file_holds_it(kind):
    system = arm(kind, **{**FILTERED, "gain": pl.Parameter("k", 2.5)})
    text = pl.dump_model(system)
    again = pl.loads_model(text).system
    assert again == system and pl.dump_model(again) == text
    assert again.channels == system.channels and set(again.states) == set(system.states)


@over_all
@pytest.mark.parametrize(("field", "value", "rule"), [
    ("low_pass", -2.0, "must be > 0 Hz"), ("order", 3, "must be 1 or 2"), ("damping", 0.0, "must be > 0"),
    ("noise", -0.1, "must be >= 0"), ("gain", "two", "must be a finite number"), ("delay", 0.1, "together with pade"),
    ("seed", 1.5, "must be a whole number >= 0"), ("pade", 0, "must be a whole number >= 1"),
])  # fmt: skip
def test_what_it_refuses_names_the_class_the_field_the_rule_and_the_value(kind, field, value, rule):
    with pytest.raises(pl.ModelError, match=rf"^{kind.__name__}: {field} .*{rule}.*got {value!r}"):
        arm(kind, **{field: value})

"""The measured cube of examples/cube_toss.py: conventions of its data, and what a fit of a few tosses finds."""

import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import cube_toss as example

DATA = Path(example.__file__).parent / "data" / "cube_tosses.npz"


@pytest.fixture(scope="module")
def tosses():
    return example.tosses(DATA)


def test_quaternion_functions_are_those_of_rotations():
    random = np.random.default_rng(3)
    turn, q = random.uniform(-1.5, 1.5, size=(5, 3)), random.normal(size=(5, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    assert np.allclose(example.rotation_between(q, example.product(q, example.rotation_by(turn))), turn)
    assert np.allclose(example.rotation_between(q, -example.product(q, example.rotation_by(turn))), turn)  # the same rotation
    assert np.all(example.rotation_between(q, q) == pytest.approx(0.0, abs=1e-15))


def test_there_are_three_hundred_tosses_of_a_cube_above_a_table(tosses):
    assert len(tosses) == 300 and sum(len(toss.rows) for toss in tosses) == 31049
    rest = np.array([example.lowest(toss.rows[-1:])[0] for toss in tosses])
    assert np.all(np.abs(rest) < 4e-3) and -2e-3 < np.median(rest) < -1e-3  # they end on the table, just below z = 0


def test_velocities_are_those_of_half_a_step_ago_and_rates_are_in_the_axes_of_the_body(tosses):
    """What `free_flight` says of the data, from finite differences of the flights."""
    late, body, world = [], [], []
    for toss in tosses:
        own = toss.rows[: toss.flying]
        late.append(np.diff(own[:, :3], axis=0) / example.STEP - own[1:, 7:10])
        turned = example.rotation_between(own[:-1, 3:7], own[1:, 3:7]) / example.STEP
        body.append(turned - own[:-1, 10:])
        in_world = [example.product(example.product(q, np.append(0.0, w)), q * [1, -1, -1, -1])[1:]
                    for q, w in zip(own[:-1, 3:7], own[:-1, 10:], strict=True)]  # fmt: skip
        world.append(turned - np.array(in_world).reshape(-1, 3))
    late, body, world = (np.concatenate(own) for own in (late, body, world))
    assert np.all(np.abs(late.mean(axis=0)) < 2e-3) and example.GRAVITY * example.STEP > 0.06  # not even half of a step's fall
    assert np.std(body) < 0.15 < 1.0 < np.std(world)  # rad/s


def test_before_the_first_touch_a_run_is_within_the_noise_of_the_camera(tosses):
    ready = pl.compile_system(example.cube())
    seen = [example.errors(toss, example.predicted(ready, toss, {}))[:, : toss.flying] for toss in tosses[:40]]
    centre, rotation = np.concatenate(seen, axis=1)
    assert np.median(centre) < 0.1 and np.max(centre) < 1.0  # % of the width: 0.1 mm, 1 mm
    assert np.median(rotation) < 0.3 and np.max(rotation) < 3.0  # degrees


def test_a_fit_of_two_tosses_finds_friction_and_restitution(tosses):
    found = example.fit(example.cube(), [tosses[k] for k in (0, 3)], free=("mu", "e"))
    assert found.ok and 0.1 < found.values["mu"] < 0.26 and 0.05 < found.values["e"] < 0.6


def test_a_file_without_units_is_read_alike(tosses, tmp_path):
    plain = {"rows": np.concatenate([toss.rows for toss in tosses[:2]]), "toss": np.array([7, 9])}
    np.savez(tmp_path / "plain.npz", first=np.array([0, len(tosses[0].rows), len(plain["rows"])]), **plain)
    again = example.tosses(tmp_path / "plain.npz")
    assert [toss.name for toss in again] == ["toss 7", "toss 9"]
    assert np.allclose(again[0].rows, tosses[0].rows) and again[1].start == pytest.approx(tosses[1].start, rel=1e-9, abs=1e-9)

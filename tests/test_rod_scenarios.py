"""Scenarios of cosseratbench in examples/rod_scenarios.py: read in the form of its files, answered or refused by name."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import rod_scenarios as example

# as the benchmark's cantilever/default/experiment.json has it
CANTILEVER = """{"rods": [{"centerline": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], "radius": 0.02,
"material": {"youngs_modulus": 1000000.0, "shear_modulus": 333333.3333333333, "density": 1000.0}, "normal": [0.0, 0.0, 1.0],
"start": "clamped", "end": "free", "loads": [{"force": [0.0, 0.0, -0.0075], "at": "end"}], "rest_arc_length": null,
"start_motion": null, "end_motion": null}], "duration": 10.0, "gravity": [0.0, 0.0, 0.0], "quasi_static": true}"""


def test_a_file_of_the_benchmark_is_answered(tmp_path, capsys):
    file = tmp_path / "experiment.json"
    file.write_text(f'{{"name": "cantilever", "scenario": {CANTILEVER}}}', encoding="utf-8")
    example.show([file])
    assert "its lowest node at z = -0.019886 m" in capsys.readouterr().out


def test_a_refusal_of_a_file_is_a_sentence_and_the_next_file_is_answered(tmp_path, capsys):
    for name, scenario in (("pile", example.OTHERS["pile"]), ("cantilever", example.cantilever())):
        (tmp_path / name).write_text(json.dumps({"scenario": scenario}), encoding="utf-8")
    example.show([tmp_path / "pile", tmp_path / "cantilever"])
    first, second = capsys.readouterr().out.splitlines()
    assert "self_contact must be false" in first and "lowest node at z = -0.019886 m" in second


@pytest.mark.parametrize(("name", "field"), [("capstan", "obstacles"), ("crossing", "rods"), ("pile", "self_contact"),
                                             ("twist", "end_motion")])  # fmt: skip
def test_what_is_not_read_is_refused_by_name(name, field):
    with pytest.raises(pl.ModelError, match=f"^scenario: {field} must be"):
        example.system_of(example.OTHERS[name])


def test_a_load_out_of_the_plane_of_rod_and_gravity_is_refused():
    scenario = example.cantilever()
    scenario["gravity"] = (0.0, -9.81, 0.0)
    with pytest.raises(pl.ModelError, match="must lie in one plane with its loads and gravity"):
        example.system_of(scenario)


def test_the_answer_turns_with_the_scenario():
    """Which axes the benchmark's file has does not matter: turned by any rotation, the nodes turn with it."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    here, there = example.catenary(), example.catenary()
    there["rods"][0]["centerline"] = (np.array(here["rods"][0]["centerline"]) @ turn.T + 0.3).tolist()
    there["gravity"] = (turn @ np.array(here["gravity"])).tolist()
    assert np.allclose(example.answer(there, 6)[1][-1], example.answer(here, 6)[1][-1] @ turn.T + 0.3, atol=1e-9)


def test_a_rod_that_hangs_as_it_starts_stays_there():
    """Its start has a strain: read wrongly, the rod would bounce along its length, by 0.5 mm at 1e7 Pa."""
    scenario = example.pendulum(amplitude=0.0)
    rod = scenario["rods"][0]
    scenario["duration"] = 0.2
    nodes = example.answer(scenario, 4)[1]
    assert np.ptp(nodes[:, -1, 2]) < 1e-6
    assert nodes[0, -1, 2] == pytest.approx(rod["centerline"][-1][2], abs=1e-9)
    rod["rest_arc_length"] = None
    scenario["rods"][0]["centerline"] = [(0, 0, 0), (0, 0, -1)]
    assert np.ptp(example.answer(scenario, 4)[1][:, -1, 2]) > 9e-4


def test_more_segments_come_closer_to_the_catenary_with_bending():
    """Bending makes the sag smaller: all answers lie above the elastic catenary, by less the more segments."""
    sags = [-example.answer(example.catenary(), count)[1][-1][:, 2].min() for count in (4, 8, 16)]
    steps = np.diff(sags)
    assert example.sag() > max(sags) and abs(steps[1]) < 0.2 * abs(steps[0])

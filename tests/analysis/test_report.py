"""The report of a run: the numbers that rows do not show, where and when they occur, and what is said where they are not known."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl

OUTLINED = pl.Section.rectangle(height=0.008, width=0.03)
BARE = pl.Section(A=OUTLINED.A, Iz=OUTLINED.Iz)
METHOD = pl.DOP853(rtol=1e-8, atol=1e-11)


def beam(section=OUTLINED):
    return pl.Beam(length=0.5, section=section, material=pl.ALUMINIUM, theory="euler-bernoulli", modes=pl.Modes("cf", 2),
                   damping=pl.RayleighRatios(ratios=(0.02, 0.02)))  # fmt: skip


def struck_arm(second=OUTLINED):
    """A motor's torque is reversed at once, which shakes two elastic links within milliseconds."""
    system = pl.System("arm", gravity=(0, -9.81))
    upper = system.add("upper", beam(), joint=pl.Revolute(angle=-0.5, damper=pl.Damper(0.2)))
    system.add("fore", beam(second), joint=pl.Revolute(damper=pl.Damper(0.05)), on=upper.tip)
    torque = pl.PiecewiseConstant(times=(0.0, 0.105), values=(4.0, -6.0))
    system.drive("shoulder", "upper.angle", torque)
    return system


@pytest.fixture(scope="module")
def fine():
    return pl.simulate(struck_arm(), 0.2, method=METHOD, save="steps")


@pytest.fixture(scope="module")
def coarse():
    return pl.simulate(struck_arm(), 0.2, method=METHOD, save=0.01)


def test_loads_are_those_of_all_steps_however_few_rows_there_are(fine, coarse):
    for quantity in ("reaction_force", "reaction_moment"):
        every = np.linalg.norm(fine.values[quantity], axis=2)
        shown = np.linalg.norm(coarse.values[quantity], axis=2).max(axis=0)
        found = {one.part: one for one in pl.report(coarse).of(quantity)}
        for k, body in enumerate(("upper", "fore")):
            assert found[body].value > 0.97 * every[:, k].max() and found[body].between_rows
            assert found[body].time == pytest.approx(fine.time[every[:, k].argmax()], abs=2e-3)
        assert shown.max() < 0.9 * every.max()
    (effort,) = pl.report(coarse).of("effort")
    assert (effort.part, effort.value, effort.unit) == ("shoulder", 6.0, "N m") and effort.time == pytest.approx(0.105)


def test_stresses_say_where_and_when_and_that_rows_may_pass_over_them(fine, coarse):
    stress = pl.stresses(fine)["equivalent_stress"]
    for one in pl.report(fine).of("equivalent_stress"):
        own = stress.sel(beam=one.part)
        assert one.value == pytest.approx(float(own.max()), rel=1e-12) and not one.between_rows
        assert float(own.sel(time=one.time).max()) == pytest.approx(one.value, rel=1e-12)
        assert 0.0 <= one.place <= 0.5 and one.unit == "Pa" and "from rows" in one.words
    sharp = [one for one in pl.report(coarse).of("equivalent_stress") if one.warnings]
    assert sharp and "a larger value may lie between; save rows closer together" in sharp[0].warnings[0]
    kept = pl.report(fine.with_sections(pl.stresses(fine)))
    assert [(one.part, one.time, one.place) for one in kept] == [(one.part, one.time, one.place) for one in pl.report(fine)]


def test_of_many_rows_stresses_come_from_those_that_promise_the_largest_ones(fine):
    """A run of 15001 rows had no stress at all, and the way out of too few rows led there."""
    assert len(fine.time) > 300
    every = {one.part: one for one in pl.report(fine).of("equivalent_stress")}
    found = pl.report(fine, most_stressed=200).of("equivalent_stress")
    assert {one.part for one in found} == {"upper", "fore"}
    for one in found:
        assert (one.value, one.time, one.place) == (every[one.part].value, every[one.part].time, every[one.part].place)
        seen, of = (int(word) for word in one.of_rows.replace(" rows", "").split(" of "))
        assert 40 <= seen < 300 and of == len(fine.time) and f"(from {one.of_rows})" in one.words
        assert one.warnings == every[one.part].warnings  # none about rows that only the selection leaves out


def test_what_cannot_be_known_is_said_and_the_rest_is_known(tmp_path):
    run = pl.simulate(struck_arm(BARE), 0.05, method=METHOD, save=1e-3)
    upper, fore = pl.report(run).of("equivalent_stress")
    assert upper.part == "upper" and upper.value > 0.0 and math.isnan(fore.value) and not fore.known
    assert "body 'fore': section must have an outline" in fore.warnings[0] and "Section(A=" not in fore.warnings[0]
    assert "not known: body 'fore'" in str(pl.report(run))
    (one, other) = pl.report(run, most_stressed=10).of("equivalent_stress")
    assert one.known and not other.known and "must have an outline" in other.warnings[0]
    run.to_netcdf(tmp_path / "run.nc", quantities=["q", "reaction_force"])
    lean = pl.report(pl.Result.from_netcdf(tmp_path / "run.nc"))
    assert all(not one.known and "must be kept by the run" in one.warnings[0] for one in lean.of("equivalent_stress")[:1])
    assert lean.of("reaction_force") == pl.report(run).of("reaction_force")


def test_struts_motors_closures_and_contacts_are_in_it_and_in_its_table(tmp_path):
    system = pl.System("some of all", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.3))
    link = system.add("link", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.4), on=arm.tip)
    system.close("rope", "distance", link.tip, system.ground, length=0.98)
    system.motor("hub", "arm.angle", pl.Motor(inertia=1e-4, ratio=10.0, constant=0.05, resistance=1.0), command=3.0)
    system.strut("jack", arm.tip, system.ground.moved((0.0, -0.5)), stiffness=200.0, rest=0.6, damping=5.0)
    ball = system.add("ball", pl.RigidBody.rod(0.1, 0.2), joint=pl.Planar(position=(2.0, 0.12), velocity=(0.0, -2.0)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e8))
    fine, coarse = (pl.simulate(system, 0.1, method=METHOD, save=save) for save in ("steps", 0.02))
    found = pl.report(coarse)
    for quantity, series in (("strut_force", "strut_force"), ("motor_torque", "motor_torque"), ("motor_speed", "motor_speed"),
                             ("closure_force", "multiplier"), ("effort", "effort")):  # fmt: skip
        (one,) = found.of(quantity)
        assert one.value == pytest.approx(np.abs(fine.values[series]).max(), rel=0.02), quantity
    (blow,) = found.of("normal_force")
    hardest = max(coarse.contacts, key=lambda touch: touch.peak_force)
    assert (blow.value, blow.time) == (hardest.peak_force, hardest.peak_time)
    assert found.of("effort")[0].unit == "N m" and not found.of("closure_moment")
    assert "ball" not in [one.part for one in found.of("reaction_moment")]  # it floats: round-off
    found.to_csv(tmp_path / "report.csv")
    with open(tmp_path / "report.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["quantity"], row["part"], float(row["value"]), row["unit"]) for row in rows] == [
        (one.quantity, one.part, one.value, one.unit) for one in found
    ]


def test_a_result_without_extremes_is_reported_from_its_rows():
    system = pl.System("swing", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.3))
    run = pl.simulate(system, 1.0, save=0.01)
    (force,) = pl.report(replace(run, extremes=None)).of("reaction_force")
    sizes = np.linalg.norm(run.values["reaction_force"][:, 0], axis=1)
    assert (force.value, force.between_rows) == (sizes.max(), False)


def test_beams_that_stored_stresses_leave_out_are_named(fine):
    kept = pl.report(fine.with_sections(pl.stresses(fine, beams=["fore"]))).of("equivalent_stress")
    assert [(one.part, one.known) for one in kept] == [("fore", True), ("upper", False)]
    assert kept[1].warnings == ("the stresses in the result leave upper out",)

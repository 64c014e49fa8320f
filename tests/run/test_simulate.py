"""Runs: conservation, events, breakpoints, prescribed motions, and every way a run can end."""

import itertools
import math
import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.integrate import compiled_loops
from pliant.results.timings import STAGES
from pliant.trace.tracing import FORMULATIONS

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)


def swing(**joint):
    system = pl.System("swing", gravity=(0, -9.81))
    system.add("bar", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(**joint))
    return system


# ---- what a run tells of itself


def test_the_seconds_of_all_stages_make_up_the_time_that_a_call_takes(monkeypatch):
    """With the loops loaded afresh and a Jacobian compiled in the course of it."""
    monkeypatch.setattr(compiled_loops, "_loaded", {})
    said = []
    began = perf_counter()
    run = pl.simulate(mechanisms.free_chain(6), 0.05, method=pl.Radau5(rtol=1e-6, atol=1e-9), phase=said.append, cache=False)
    spent = perf_counter() - began
    parts = [run.stats[f"{stage}_s"] for stage in STAGES] + [run.stats["wall_s"]]
    assert 0.9 * spent < sum(parts) < 1.001 * spent
    assert run.stats["loops_s"] > 0.0 and run.stats["jacobian_s"] > 0.0 and run.stats["compile_s"] > 0.0
    assert "deriving the equations" in said and "compiling the Jacobian, for implicit steps" in said


def test_what_is_kept_on_disk_is_said_to_be_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said = []
    assert pl.simulate(swing(angle=0.123), 0.1, phase=said.append).ok
    assert "compiling the equations of motion, once for all mechanisms of this structure" in said


# ---- conservation


def test_free_flight_of_an_elastic_chain_conserves_energy_and_both_momenta():
    system = mechanisms.free_chain(3, velocity=(0.4, 0.3), rate=2.0)
    run = pl.simulate(system, 1.0, method=TIGHT)
    assert run.ok
    assert np.max(run.values["strain"]) > 1e-4 * run.values["kinetic"][0]  # it does bend
    assert run.ledger.balance_error_max < 1e-10 * run.values["kinetic"][0]
    for name in ("momentum", "angular_momentum"):
        series = run.values[name]
        assert np.max(np.abs(series - series[0])) < 1e-10 * np.max(np.abs(series[0]))


def test_spatial_free_flight_conserves_them_too():
    system = pl.System("tumbling", gravity=(0, 0, 0))
    base = system.add("base", mechanisms.spatial_link(), joint=pl.Free(angular_velocity=(1.0, 2.0, -1.5)))
    link = pl.Beam(length=0.5, section=mechanisms.FLAT, material=pl.STEEL, theory="timoshenko",
                   modes=[pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z")])  # fmt: skip
    system.add("arm", link, joint=pl.Spherical(angular_velocity=(0.5, -1.0, 0.3)), on=base.tip)
    run = pl.simulate(system, 0.3, method=TIGHT)
    assert run.ledger.relative_error_max < 1e-10
    for name in ("momentum", "angular_momentum"):
        series = run.values[name]
        assert np.max(np.abs(series - series[0])) < 1e-10 * np.max(np.abs(series[0]))


@pytest.mark.parametrize("build", mechanisms.ALL.values(), ids=mechanisms.ALL)
def test_the_ledger_closes(build):
    """With gravity, springs, dampers and loads at work."""
    run = pl.simulate(build(), 0.2, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert run.ok
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS[1:])
def test_other_formulations_run_to_the_same_place(formulation):
    runs = [pl.simulate(mechanisms.planar_chain(2), 0.3, method=TIGHT, formulation=f)
            for f in ("articulated", formulation)]  # fmt: skip
    assert np.max(np.abs(runs[0].values["q"] - runs[1].values["q"])) < 1e-9


# ---- drives, breakpoints, prescribed motion


def test_a_torque_in_pieces_turns_a_free_flywheel_exactly():
    """Piecewise constant and linear torques on a wheel: the angle is a polynomial in each piece."""
    system = pl.System("wheel", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.5), joint=pl.Revolute())
    system.drive("steps", "wheel.angle", pl.PiecewiseConstant([0.0, 0.3, 0.6], [10.0, -10.0, 0.0]))
    system.drive("ramp", "wheel.angle", pl.PiecewiseLinear([0.2, 0.4], [0.0, 1.0]))
    run = pl.simulate(system, 1.0, method=pl.DormandPrince(rtol=1e-6, atol=1e-9), save=[0.0, 0.3, 1.0])
    ramp_speed, ramp_angle = 0.5 * 0.2 + 0.6, 0.2**2 / 6 + 0.1 * 0.6 + 0.6**2 / 2
    assert run.rate("wheel.angle")[-1] == pytest.approx(ramp_speed / 0.5, rel=1e-13)
    assert run["wheel.angle"][-1] == pytest.approx((10.0 * 0.3**2 + ramp_angle) / 0.5, rel=1e-13)
    assert run.stats["rejected"] == 0  # no step straddled a jump
    assert run.ledger.balance_error_max < 1e-13


def test_a_formula_that_jumps_at_a_declared_time_is_seen_from_the_right_side_only():
    system = pl.System("wheel", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute())
    jump = pl.Formula(lambda t, q, v: pl.where(t <= 0.5, 4.0, -2.0), breakpoints=(0.5,))
    system.drive("motor", "wheel.angle", jump)
    run = pl.simulate(system, 1.0, method=pl.RK4(step=0.25))
    assert run.rate("wheel.angle")[-1] == pytest.approx(4.0 * 0.5 - 2.0 * 0.5, abs=1e-14)


def test_feedback_by_a_formula_of_the_state():
    """PD control of a wheel: a damped oscillator in closed form."""
    system = pl.System("servo", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=2.0), joint=pl.Revolute(angle=0.3))
    system.drive("pd", "wheel.angle", lambda t, q, v: -8.0 * q["wheel.angle"] - 1.6 * v["wheel.angle"])
    run = pl.simulate(system, 3.0, method=TIGHT)
    decay, frequency = 0.4, math.sqrt(4.0 - 0.16)
    exact = 0.3 * np.exp(-decay * run.time) * (np.cos(frequency * run.time) + decay / frequency * np.sin(frequency * run.time))
    assert run["wheel.angle"] == pytest.approx(exact, abs=1e-11)
    assert run.values["effort"][0, 0] == pytest.approx(-2.4)


def test_a_prescribed_joint_moves_as_told_and_its_effort_does_the_work():
    system = pl.System("driven", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 0.5), joint=pl.Revolute(motion=lambda t: 2.0 * t + 0.3 * pl.sin(5.0 * t)))
    system.add("arm", mechanisms.planar_link(1), joint=pl.Revolute(), on=crank.tip)
    runs = [pl.simulate(system, 1.0, method=TIGHT, formulation=f) for f in ("articulated", "gibbs_appell")]
    run = runs[0]
    assert run["crank.angle"] == pytest.approx(2.0 * run.time + 0.3 * np.sin(5.0 * run.time), abs=1e-13)
    assert run.rate("crank.angle") == pytest.approx(2.0 + 1.5 * np.cos(5.0 * run.time), abs=1e-12)
    assert run.ledger.relative_error_max < 1e-10
    assert "crank.angle motion" in run.labels["source"]
    assert np.max(np.abs(runs[0].values["effort"] - runs[1].values["effort"])) < 1e-7


def test_prescribing_the_answer_returns_the_torque():
    """A wheel told to follow t^3 needs 6 t I."""
    system = pl.System("wheel", gravity=(0, 0))
    wheel = system.add("wheel", pl.RigidBody(mass=1.0, inertia=2.0), joint=pl.Revolute(motion=lambda t: t**3))
    system.add("free", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(axis="z"), on=wheel.tip)
    run = pl.simulate(system, 1.0)
    assert run.values["effort"][:, 0] == pytest.approx(18.0 * run.time, abs=1e-12)  # I = 2 + 1: the slider turns along


def test_point_loads_do_the_work_the_ledger_says():
    """A dead load on a free body: momentum grows by F t, work is F times the way."""
    system = pl.System("puck", gravity=(0, 0))
    body = system.add("puck", pl.RigidBody(mass=2.0, inertia=0.3, tip=(0.5, 0.0)), joint=pl.Planar())
    system.force("pull", body.tip, (3.0, -1.0))
    run = pl.simulate(system, 1.0, method=TIGHT)
    assert run.values["momentum"][-1] == pytest.approx([3.0, -1.0, 0.0], rel=1e-12)
    way = run.of_body("tip_position", "puck")[-1] - run.of_body("tip_position", "puck")[0]
    assert run.values["work"][-1, 0] == pytest.approx(3.0 * way[0] - way[1], rel=1e-12)


def test_end_stops_push_back_and_store_energy():
    system = pl.System("stop", gravity=(0, 0))
    stops = pl.Limits(low=-0.2, high=0.5, stiffness=400.0)
    system.add("block", pl.RigidBody(mass=1.0), joint=pl.Prismatic(rate=2.0, limits=stops))
    run = pl.simulate(system, 1.0, method=pl.DormandPrince(rtol=1e-10, atol=1e-12))
    assert [event.name for event in run.events][:3] == ["block.displacement high stop"] * 2 + ["block.displacement low stop"]
    assert run.events[0].t == pytest.approx(0.25, abs=1e-12)
    assert run.events[1].t - run.events[0].t == pytest.approx(math.pi / 20.0, abs=1e-9)  # half a period in the stop
    assert run.ledger.balance_error_max < 1e-9


def test_a_damped_stop_never_pulls():
    system = pl.System("stop", gravity=(0, 0))
    stops = pl.Limits(low=-1.0, high=0.1, stiffness=400.0, damping=60.0)
    system.add("block", pl.RigidBody(mass=1.0), joint=pl.Prismatic(rate=1.0, limits=stops))
    run = pl.simulate(system, 1.0, method=pl.DormandPrince(rtol=1e-9, atol=1e-12))
    assert np.max(run.values["a"]) <= 1e-12
    assert run.ledger.balance_error_max < 1e-8
    assert 0.0 > run.rate("block.displacement")[-1] > -1.0


# ---- events and saving


def swing_into_damped_stops(seed):
    """Elastic links, one to three of them, thrown into stops that damp: their force jumps as they are reached."""
    rng = np.random.default_rng(seed)
    system, on = pl.System("swing", gravity=(0, -9.81)), None
    for k in range(rng.integers(1, 4)):
        section = pl.Section.rectangle(rng.uniform(0.005, 0.03), rng.uniform(0.005, 0.02))
        beam = pl.Beam(length=rng.uniform(0.3, 1.0), section=section, material=pl.STEEL, theory="euler-bernoulli",
                       modes=pl.Modes("cf", int(rng.integers(1, 4))))  # fmt: skip
        low, high = rng.uniform(-2.0, -0.1), rng.uniform(0.1, 1.0)
        stop = pl.Limits(low=low, high=high, stiffness=10 ** rng.uniform(2, 6), damping=10 ** rng.uniform(-1, 4))
        joint = pl.Revolute(angle=rng.uniform(low, high), rate=rng.uniform(-3, 3), limits=stop)
        on = system.add(f"a{k}", beam, joint=joint, on=on).tip
    return system


@pytest.mark.parametrize(("seed", "t_end"), [(0, 0.05), (2, 0.5), (3, 0.5), (6, 0.5), (7, 0.15), (8, 0.5), (10, 0.15), (17, 0.1)])
def test_elastic_links_swing_into_damped_stops_and_out_again(seed, t_end):
    """Until each stiff one, of millions of steps a second, has met a stop and left it."""
    run = pl.simulate(swing_into_damped_stops(seed), t_end, method=pl.DOP853(rtol=1e-8, atol=1e-11))
    assert run.ok, run.message
    assert len(run.events) >= 2 and run.ledger.relative_error_max < 1e-6


def test_a_joint_that_starts_on_its_damped_stop_is_held_by_it():
    """Exactly on it, or a unit of round-off to either side; pressed by its weight, or leaving."""
    for offset, weight in itertools.product((0.0, 1e-17, -1e-17), (-9.81, 9.81)):
        system = pl.System("gate", gravity=(0, weight))
        body = pl.RigidBody(mass=1.0, com=(0.5, 0.0, 0.0), inertia=1.0 / 12.0)
        stop = pl.Limits(low=0.3, high=1.5, stiffness=1e6, damping=1e3)
        system.add("gate", body, joint=pl.Revolute(angle=0.1 + 0.2 + offset, limits=stop))
        run = pl.simulate(system, 0.2)
        assert run.ok
        assert (run["gate.angle"][-1] > 0.31) if weight > 0.0 else run["gate.angle"].min() > 0.3 - 1e-4


# A stiff elastic arm, whose fast modes make a step across a jump fail at any length.
def thrown_arm(effort):
    system = pl.System("arm", gravity=(0, 0))
    beam = pl.Beam(length=0.5, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 3))  # fmt: skip
    system.add("arm", beam, joint=pl.Revolute(rate=2.0))
    system.drive("brake", "arm.angle", effort)
    return system


def test_a_formula_may_jump_where_the_state_passes_a_value():
    """A torque that acts beyond an angle: what it took on the way out it gave back on the way in."""
    arm = thrown_arm(lambda t, q, v: pl.where(q["arm.angle"] > 0.3, -3.0, 0.0))
    run = pl.simulate(arm, 0.3, method=pl.DOP853(rtol=1e-10, atol=1e-13))
    assert run.ok and run.stats["rejected"] < 0.2 * run.stats["steps"]
    assert run.ledger.work["brake"][-1] == pytest.approx(-3.0 * max(run["arm.angle"][-1] - 0.3, 0.0), abs=1e-9)
    assert run.ledger.work["brake"].min() == pytest.approx(-3.0 * (run["arm.angle"].max() - 0.3), abs=1e-3)
    assert run.ledger.relative_error_max < 1e-9 and not run.events


def test_a_sign_in_a_formula_is_a_jump_too():
    arm = thrown_arm(lambda t, q, v: -2.0 * pl.sign(q["arm.angle"] - 0.2))
    run = pl.simulate(arm, 0.3, method=pl.DOP853(rtol=1e-10, atol=1e-13))
    assert run.ok
    assert run.ledger.work["brake"][-1] == pytest.approx(-2.0 * (run["arm.angle"][-1] - 0.4), abs=1e-9)


def test_a_formula_that_pushes_back_across_its_own_jump_is_told_and_ends_the_run():
    """Dry friction written as a sign: at rest it has no value."""
    system = pl.System("wheel", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=1.0))
    system.drive("friction", "wheel.angle", lambda t, q, v: -pl.sign(v["wheel.angle"]))
    run = pl.simulate(system, 1.0, max_seconds=20.0)
    assert not run.ok and "formula of 'friction'" in run.message and "kept changing sides" in run.message
    assert run.time[-1] == pytest.approx(0.1, abs=2e-3)


def test_an_event_that_only_records_leaves_the_run_as_it_is():
    """To the bit; and the peaks of contact forces are such events too."""
    runs = []
    for watched in (False, True):
        system = mechanisms.spatial_arm()
        if watched:
            system.event("down", lambda t, q, v: v["link1.angle"])
            system.event("there", lambda t, q, v: q["link2.angle"] - 0.5 * q["link1.angle"])
        runs.append(pl.simulate(system, 0.5, method=pl.DOP853(rtol=1e-8, atol=1e-11)))
    assert runs[1].events
    assert np.array_equal(runs[0].values["q"], runs[1].values["q"])


def test_events_are_found_where_they_are():
    system = swing(angle=0.0)
    system.event("lowest", lambda t, q, v: q["bar.angle"] + math.pi / 2)
    run = pl.simulate(system, 2.0, method=TIGHT)
    assert run.events[0].direction == -1
    # falling from the horizontal: quarter period of a rod, K(1/sqrt 2) / sqrt(3 g / 2 l)
    quarter = 1.8540746773013719 / math.sqrt(1.5 * 9.81)
    assert run.events[0].t == pytest.approx(quarter, abs=1e-11)


def test_a_stopping_event_ends_the_run_and_says_so():
    system = swing(angle=0.0)
    system.event("lowest", lambda t, q, v: q["bar.angle"] + math.pi / 2, stop=True)
    run = pl.simulate(system, 2.0)
    assert run.ok
    assert run.message.startswith("event 'lowest' ended the run at t = 0.48")
    assert run.time[-1] <= run.events[0].t


@pytest.mark.parametrize(("save", "rows"), [(pl.every(0.1), 11), (0.3, 5), ([0.0, 0.25, 1.0], 3), (None, 1001)], ids=str)
def test_rows_are_saved_when_asked(save, rows):
    run = pl.simulate(swing(), 1.0, save=save)
    assert len(run.time) == rows
    assert run.time[0] == 0.0
    assert run.time[-1] == 1.0


def test_every_step_can_be_saved():
    run = pl.simulate(swing(), 1.0, save="steps")
    assert len(run.time) in (run.stats["steps"], run.stats["steps"] + 1)


def test_saved_rows_are_those_of_a_finer_run():
    """Dense output is as good as the steps."""
    coarse = pl.simulate(mechanisms.planar_chain(2, 1), 0.3, method=pl.DOP853(rtol=1e-8, atol=1e-10), save=0.01)
    fine = pl.simulate(mechanisms.planar_chain(2, 1), 0.3, method=TIGHT, save=0.01)
    assert np.max(np.abs(coarse.values["q"] - fine.values["q"])) < 3e-7


# ---- how runs end


def test_a_run_out_of_steps_keeps_what_it_had():
    run = pl.simulate(swing(), 100.0, max_steps=50, save="steps")
    assert not run.ok
    assert "limit of 50 steps" in run.message
    assert 40 <= len(run.time) <= 51
    assert np.all(np.isfinite(run.values["a"]))


def test_ctrl_c_returns_the_rows():
    def interrupt(t, t_end):
        raise KeyboardInterrupt

    run = pl.simulate(mechanisms.planar_chain(3), 1e2, progress=interrupt, save=0.001)
    assert run.interrupted
    assert not run.ok
    assert len(run.time) > 1


def test_a_blow_up_stops_with_a_sentence():
    system = pl.System("runaway", gravity=(0, 0))
    system.add("block", pl.RigidBody(mass=1.0), joint=pl.Prismatic(displacement=1.0, rate=1.0))
    system.drive("push", "block.displacement", lambda t, q, v: 6.0 * q["block.displacement"] ** 2)
    run = pl.simulate(system, 10.0, save="steps")
    assert not run.ok
    assert "t = 1." in run.message or "t = 0.9" in run.message
    assert len(run.time) > 5


def test_a_coordinate_without_inertia_is_named():
    system = pl.System("needle", gravity=(0, 0, -9.81))
    system.add("needle", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(axis="x"))
    with pytest.raises(pl.SolveError, match=r"coordinate 'needle.angle': inertia along it must be > 0"):
        pl.simulate(system, 1.0)


def test_a_formula_outside_its_domain_is_named_before_the_run():
    system = swing()
    system.drive("bad", "bar.angle", lambda t, q, v: pl.log(t - 1.0))
    with pytest.raises(pl.SolveError, match=r"accelerations of bar.angle must be finite at the start"):
        pl.simulate(system, 1.0)


def test_equal_runs_give_equal_bytes():
    runs = [pl.simulate(mechanisms.planar_chain(2), 0.2) for _ in range(2)]
    assert runs[0].values["q"].tobytes() == runs[1].values["q"].tobytes()


def test_importing_pliant_leaves_the_heavy_libraries_out():
    code = "import sys, pliant; print([m for m in ('casadi', 'xarray', 'matplotlib', 'scipy') if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


# ---- fixed steps that are too long


def slide(spring=None, damper=None):
    """A mass of 1 kg that slides on a spring or in a damper."""
    system = pl.System("slide", gravity=(0, 0))
    joint = pl.Prismatic(axis="x", rate=1.0, **({"spring": spring} if spring else {"damper": damper}))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=0.1), joint=joint)
    return system


TOO_LONG = [  # h |lambda| = 4 and 5; the method is stable up to 2.83 and 2.79
    (slide(spring=pl.Spring(1e6, 0.0)), pl.RK4(step=4e-3)),
    (slide(damper=pl.Damper(1e3)), pl.RK4(step=5e-3)),
]


@pytest.mark.parametrize(("system", "method"), TOO_LONG)
def test_a_fixed_step_that_makes_the_run_explode_ends_it_with_a_sentence(system, method):
    run = pl.simulate(system, 1.0, method=method, save="steps")
    assert not run.ok
    assert run.message.startswith("the run became unstable at t = ") and "shorter step" in run.message
    assert np.max(np.abs(run.values["v"])) < 100.0, "no row of the explosion is kept"
    assert run.final_state.t < 0.1


def test_a_member_of_an_ensemble_that_explodes_says_so_too():
    system = slide(spring=pl.Spring(pl.Parameter("k", 1e6), 0.0))
    many = pl.ensemble(system, 0.2, parameters={"k": [1e4, 1e6]}, method=pl.RK4(step=4e-3))
    assert many.ok.values.tolist() == [True, False]
    assert str(many.message.values[1]).startswith("the run became unstable at t = ")


def test_a_fixed_step_that_is_only_inaccurate_reaches_the_end():
    """h omega = 2: stable, and a third of the energy is lost to the method."""
    run = pl.simulate(slide(spring=pl.Spring(1e6, 0.0)), 0.05, method=pl.RK4(step=2e-3))
    assert run.ok and any("energy balance" in warning for warning in run.warnings)

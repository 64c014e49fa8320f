"""Ensembles: every member is what `simulate` gives, to the bit, however many threads there are and whatever is kept."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
import xarray as xr

import pliant as pl
from pliant.ensemble.members import start_at
from pliant.ensemble.store import span_of
from pliant.errors import ModelError
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.representative import REPRESENTATIVES, Representative
from pliant.run.prepare import Compiled

METHOD = pl.DOP853(rtol=1e-6, atol=1e-9)


def drop(restitution: float | pl.Parameter = 0.6, friction: pl.FrictionLaw | None = None) -> pl.System:
    """A ball that is thrown onto a floor and turns."""
    system = pl.System("drop", gravity=(0, -9.81))
    joint = pl.Planar(position=(0.0, 0.1), velocity=(0.5, 0.0), rate=2.0)
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=joint)
    law = pl.HuntCrossley(stiffness=1e6, restitution=restitution)
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law, friction=friction)
    return system


def alone(compiled: Compiled, start: dict[str, float], t_end: float, **options: object) -> pl.Result:
    """The same member by itself."""
    traced, y = compiled.traced, compiled.traced.y0.copy()
    for name, value in start.items():
        y[[traced.tree.positions[k] for k in traced.free_q].index(name)] = value
    return pl.simulate(compiled, t_end, start=start_at(compiled, 0.0, y), **options)  # type: ignore[arg-type]


def assert_is(ds: xr.Dataset, member: int, run: pl.Result) -> None:
    """A member of an ensemble that kept "final" and "contacts" is this run."""
    assert bool(ds.ok[member]) is run.ok and str(ds.message[member].item()).startswith(run.message)
    assert ds.t_end[member].item() == run.time[-1] and int(ds.steps[member]) == run.stats["steps"]
    np.testing.assert_array_equal(ds.q_end[member], run.values["q"][-1])
    np.testing.assert_array_equal(ds.v_end[member], run.values["v"][-1])
    for pair in ds.pair.values.tolist():
        own = run.contacts.of(pair)
        assert int(ds.touches.sel(member=member, pair=pair)) == len(own)
        assert float(ds.peak_force.sel(member=member, pair=pair)) == max((record.peak_force for record in own), default=0.0)
        for name in ("impulse", "normal_loss", "friction_loss"):
            want = sum(getattr(record, name) for record in own)
            assert float(ds[name].sel(member=member, pair=pair)) == pytest.approx(want, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("system", REPRESENTATIVES, ids=lambda system: system.name)
def test_members_of_the_gallery_are_runs_alone(system: Representative) -> None:
    """Loops, implicit steps, friction, prescribed motion, telescopic links: the same bits, with one thread and with two."""
    compiled = pl.compile_system(system.build())
    t_end = 0.3 * system.t_end
    run = pl.simulate(compiled, t_end, method=pl.Auto(rtol=1e-5, atol=1e-8), save=[t_end])
    for threads in (1, 2):
        ds = pl.ensemble(compiled, t_end, method=pl.Auto(rtol=1e-5, atol=1e-8), threads=threads, keep=("final", "contacts"))
        assert_is(ds, 0, run)


METHODS = [METHOD, pl.RKF45(1e-6, 1e-9), pl.Radau5(1e-5, 1e-8), pl.Rodas5P(1e-5, 1e-8), pl.RK4(step=1e-4), pl.RealTime(step=1e-3)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_members_are_runs_alone_by_every_kind_of_method(method: pl.Method) -> None:
    compiled = pl.compile_system(drop(friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=1e-2)))
    heights = np.linspace(0.06, 0.2, 7)
    ds = pl.ensemble(compiled, 0.6, starts={"ball.y": heights}, method=method)
    assert ds.ok.all() and ds.touches.sum() > 7
    for member in (0, 3, 6):
        assert_is(ds, member, alone(compiled, {"ball.y": heights[member]}, 0.6, method=method, save=[0.6]))


def test_parameters_vary_from_member_to_member() -> None:
    restitution = pl.Parameter("restitution", 0.6, low=0.1, high=1.0)
    system = drop(restitution, pl.Ambrosio(mu=pl.Parameter("mu", 0.3), v0=1e-3, v1=1e-2))
    values = {"restitution": [0.3, 0.5, 0.7, 0.9], "mu": [0.1, 0.2, 0.3, 0.4]}
    ds = pl.ensemble(system, 0.6, parameters=values, method=METHOD)
    for member in range(4):
        own = {name: series[member] for name, series in values.items()}
        assert_is(ds, member, pl.simulate(system, 0.6, parameters=own, method=METHOD, save=[0.6]))
        assert float(ds["parameter mu"][member]) == own["mu"]
    assert len(set(ds.q_end.values[:, 0].tolist())) == 4


def test_members_of_other_structures_run_beside_the_rest() -> None:
    """Without friction the equations are others, whichever member comes first."""
    system = drop(0.6, pl.Ambrosio(mu=pl.Parameter("mu", 0.3), v0=1e-3, v1=1e-2))
    values = [0.0, 0.2, 0.0, 0.4, 0.1]
    ds = pl.ensemble(system, 0.6, parameters={"mu": values}, method=METHOD, threads=1)
    for member, mu in enumerate(values):
        assert_is(ds, member, pl.simulate(system, 0.6, parameters={"mu": mu}, method=METHOD, save=[0.6]))
    work = pl.ensemble(system, 0.6, parameters={"mu": values}, method=METHOD, keep=pl.ValuesAt([0.6], "work"))
    assert all(work.ok.values | ["source" in str(message) for message in work.message.values])


def test_what_a_system_was_compiled_for_is_asked() -> None:
    compiled = pl.compile_system(drop())
    with pytest.raises(ModelError, match="near"):
        pl.ensemble(compiled, 0.1, method=pl.VariablePrecisionRK4(rtol=1e-6, atol=1e-9))


def test_the_order_of_members_and_the_number_of_threads_do_not_matter() -> None:
    compiled = pl.compile_system(falling_chain())
    angles = compiled.traced.y0[2] + 0.01 * np.random.default_rng(3).normal(size=24)
    keep = ("final", "contacts", "ledger", pl.ValuesAt([0.2, 0.5], "tip_position"))
    one = pl.ensemble(compiled, 0.5, starts={"a.angle": angles}, method=METHOD, threads=1, keep=keep)
    two = pl.ensemble(compiled, 0.5, starts={"a.angle": angles}, method=METHOD, threads=2, keep=keep)
    backwards = pl.ensemble(compiled, 0.5, starts={"a.angle": angles[::-1]}, method=METHOD, threads=2, keep=keep)
    assert one.identical(two)
    for name in ("q_end", "touches", "impulse", "tip_position", "balance_error", "steps"):
        np.testing.assert_array_equal(backwards[name].values[::-1], one[name].values)


def test_what_is_kept_is_what_results_hold() -> None:
    compiled = pl.compile_system(drop())
    heights, times = [0.1, 0.15], np.linspace(0.0, 0.6, 61)
    keep = ("records", "ledger", pl.ValuesAt(times, "q", "normal_force", "work"), pl.ExtremesOf("tip_velocity", "q", save=times))
    ds = pl.ensemble(compiled, 0.6, starts={"ball.y": heights}, method=METHOD, keep=keep)
    assert "q_end" not in ds and "touches" not in ds
    for member, height in enumerate(heights):
        run = alone(compiled, {"ball.y": height}, 0.6, method=METHOD, save=times)
        for name in ("q", "normal_force", "work"):
            np.testing.assert_array_equal(ds[name][member], run.values[name], err_msg=name)
        np.testing.assert_array_equal(ds.tip_velocity_highest[member], run.values["tip_velocity"].max(axis=0))
        np.testing.assert_array_equal(ds.q_lowest[member], run.values["q"].min(axis=0))
        assert run.extremes is not None
        assert float(ds.balance_error[member]) == run.extremes.balance_error
        assert float(ds.balance_scale[member]) == run.extremes.scale
        own = ds.isel(touch=np.flatnonzero(ds.touch_member == member))
        assert own.touch_pair.values.tolist() == [record.pair for record in run.contacts]
        for name in ("begin", "end", "entry_speed", "exit_speed", "peak_force", "impulse", "normal_loss"):
            np.testing.assert_array_equal(own[f"touch_{name}"], [getattr(record, name) for record in run.contacts])
    np.testing.assert_array_equal(ds.time, times)
    assert ds.normal_force.dims == ("member", "time", "pair") and ds.normal_force.attrs["units"] == "N"


def test_more_touches_than_the_buffer_holds_are_all_counted_and_recorded() -> None:
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 0.0052)))
    system.contact(points=pl.Sphere(ball.root, 0.005), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e9))
    run = pl.simulate(system, 5.0, method=METHOD, save=[5.0])
    assert len(run.contacts) > 300
    ds = pl.ensemble(system, 5.0, method=METHOD, keep=("contacts", "records"))
    assert int(ds.touches[0, 0]) == len(run.contacts) == ds.sizes["touch"]
    assert float(ds.impulse[0, 0]) == pytest.approx(sum(record.impulse for record in run.contacts), rel=1e-12)


def test_a_member_that_fails_is_a_row_with_a_message() -> None:
    """A parameter out of its bounds, and one that makes the equations lose their mass, beside members that are well."""
    mass = pl.Parameter("mass", 1.0, "kg", low=0.0)
    system = pl.System("pair", gravity=(0, -9.81))
    system.add("ball", pl.RigidBody(mass=mass, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    ds = pl.ensemble(system, 0.1, parameters={"mass": [1.0, -1.0, 0.0, 2.0]}, method=METHOD)
    assert ds.ok.values.tolist() == [True, False, False, True]
    assert "mass" in str(ds.message[1].item()) and "-1" in str(ds.message[1].item())
    assert "must" in str(ds.message[2].item()) or "singular" in str(ds.message[2].item())
    assert np.isnan(ds.q_end[1]).all() and np.isfinite(ds.q_end[[0, 3]]).all()


def test_a_member_that_cannot_go_on_says_what_its_run_would() -> None:
    compiled = pl.compile_system(drop())
    ds = pl.ensemble(compiled, 0.6, starts={"ball.y": [0.06, 0.2]}, method=METHOD, max_steps=12)
    run = alone(compiled, {"ball.y": 0.06}, 0.6, method=METHOD, max_steps=12)
    assert not ds.ok.any() and str(ds.message[0].item()).startswith(run.message)
    assert run.final_state is not None
    assert ds.t_end[0].item() == run.final_state.t > 0.0
    np.testing.assert_array_equal(ds.q_end[0], run.final_state.y[:3])


def test_a_start_in_a_singular_position_is_judged_as_a_run_alone_is() -> None:
    system = pl.System("balls", gravity=(0, 0))
    left = system.add("left", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
    right = system.add("right", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(1.0, 0.0)))
    system.contact(points=pl.Sphere(left.root, 0.1), against=pl.Sphere(right.root, 0.1), normal=pl.Hertz(stiffness=1e6))
    ds = pl.ensemble(system, 0.01, starts={"right.x": [0.0, 0.3]}, method=METHOD)
    assert ds.ok.values.tolist() == [False, True]
    assert "centres" in str(ds.message[0].item())


def test_events_that_stop_members_are_named() -> None:
    system = drop()
    system.event("low", lambda t, q, v: q["ball.y"] - 0.08, stop=True)
    ds = pl.ensemble(system, 0.5, starts={"ball.y": [0.1, 0.2, 0.07]}, method=METHOD)
    assert ds.ok.all()
    assert ["low" in str(message) for message in ds.message.values] == [True, True, False]
    falls = np.sqrt(2.0 * (np.array([0.1, 0.2]) - 0.08) / 9.81)
    assert ds.t_end.values[:2] == pytest.approx(falls, abs=1e-9)


@pytest.mark.parametrize("loop", ["general", "lockstep"])
def test_ctrl_c_keeps_what_is_done(loop: str) -> None:
    compiled = pl.compile_system(falling_chain())
    angles = compiled.traced.y0[2] + 0.01 * np.random.default_rng(1).normal(size=3000)
    seen: list[tuple[int, int]] = []

    def progress(done: int, members: int) -> None:
        seen.append((done, members))
        if done > 5:
            signal.raise_signal(signal.SIGINT)

    ds = pl.ensemble(compiled, 1.0, starts={"a.angle": angles}, method=METHOD, progress=progress, loop=loop)
    assert threading.active_count() < 10  # all its threads are gone
    assert ds.attrs["interrupted"] == 1 and seen[-1][1] == 3000
    done = ds.ok.values
    assert 5 < done.sum() < 3000
    assert all("not run" in str(message) for message in ds.message.values[~done])
    assert np.isfinite(ds.q_end.values[done]).all() and np.isnan(ds.q_end.values[~done]).all()
    if loop == "general":  # whose members are runs alone, to the bit
        k = int(np.flatnonzero(done)[-1])
        assert_is(ds, k, alone(compiled, {"a.angle": angles[k]}, 1.0, method=METHOD, save=[1.0]))


WRONG = {
    "a parameter": ({"parameters": {"restitition": [0.5]}}, "restitution"),
    "a coordinate": ({"starts": {"ball.z": [0.5]}}, "did you mean 'ball.y'"),
    "lengths": ({"starts": {"ball.x": [0.1, 0.2, 0.3], "ball.y": [0.5, 0.6]}}, "3"),
    "words": ({"starts": {"ball.x": ["far"]}}, "numbers"),
    "keep": ({"keep": "finals"}, "final"),
    "a quantity": ({"keep": lambda: pl.ValuesAt([0.1], "tip_positon")}, "tip_position"),
    "two plans": ({"keep": lambda: (pl.ValuesAt([0.1], "q"), pl.ExtremesOf("v"))}, "same times"),
    "the end": ({"t_end": -1.0}, "t_end"),
    "threads": ({"threads": 0}, "threads"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_before_the_first_run(options: dict[str, object], words: str) -> None:
    system = drop(pl.Parameter("restitution", 0.6))
    with pytest.raises(ModelError, match=words):
        filled = {name: value() if callable(value) else value for name, value in options.items()}
        pl.ensemble(system, filled.pop("t_end", 0.1), **filled)  # type: ignore[arg-type]


def test_starts_of_closed_loops_are_parameters() -> None:
    system = next(one for one in REPRESENTATIVES if "multipliers" in one.name).build()
    compiled = pl.compile_system(system)
    name = compiled.traced.tree.positions[compiled.traced.free_q[0]]
    with pytest.raises(ModelError, match="parameters"):
        pl.ensemble(compiled, 0.1, starts={name: [0.1, 0.2]})


def test_only_numbers_that_follow_each_other_become_a_span() -> None:
    assert span_of(np.array([4, 5, 6])) == slice(4, 7)
    for others in ([4, 6, 5, 7], [4, 6], [6, 5, 4], []):
        numbers = np.array(others, dtype=np.int64)
        assert span_of(numbers) is numbers


def test_numbers_of_contacts_have_the_units_of_their_pairs():
    """The gap of a stop of a joint that turns is an angle."""
    system = pl.System("stops", gravity=(0, -9.81))
    stop = pl.Limits(low=-0.1, high=0.1, normal=pl.Hertz(stiffness=1e3))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(limits=stop))
    turning = pl.ensemble(system, 0.01, starts={"arm.angle": [0.0, 0.01]})
    names = ("entry_speed", "peak_force", "impulse", "touches", "normal_loss")
    assert [turning[name].attrs["units"] for name in names] == ["rad/s", "N m", "N m s", "1", "J"]
    system.contact(points=[arm.tip], against=pl.Plane(normal="y", point=(0.0, -1.0)), normal=pl.Hertz(stiffness=1e5))
    both = pl.ensemble(system, 0.01, starts={"arm.angle": [0.0, 0.01]})
    assert set(both["entry_speed"].attrs["units"].split(" or ")) == {"m/s", "rad/s"}

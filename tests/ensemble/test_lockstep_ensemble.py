"""Ensembles in lock-step: members as the general loop has them within the tolerance, the same bits however they are run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl
from gpu_emulated import EmulatedDriver, emulated_gpu
from mechanisms import HELD_ENTRY, HELD_FROM, held_ball, struck_ball
from pliant.ensemble import gpu_runner, lockstep_ensemble, loop_choice
from pliant.ensemble.keep import KeepPlan
from pliant.ensemble.lockstep import device, rounds
from pliant.ensemble.lockstep import events as lockstep_events
from pliant.ensemble.lockstep.device import DeviceRuns, device_text, ptx_of
from pliant.ensemble.lockstep.rounds import KERNELS
from pliant.ensemble.lockstep.runs import HostRuns, LockstepEnds
from pliant.ensemble.lockstep_model import explicit_tableau, lockstep_model, why_not
from pliant.ensemble.member_numbers import accepted_members
from pliant.ensemble.members import MemberPlan
from pliant.ensemble.store import EnsembleStore
from pliant.errors import ModelError, SolveError
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.representative import REPRESENTATIVES, Representative
from pliant.host.cuda import DeviceError, batches

METHOD, FINE = pl.DOP853(rtol=1e-6, atol=1e-9), pl.DOP853(rtol=1e-11, atol=1e-14)


@pytest.fixture(scope="module")
def chain() -> pl.Compiled:
    return pl.compile_system(falling_chain())


@pytest.fixture(scope="module")
def angles(chain) -> np.ndarray:
    return chain.traced.y0[2] * (1.0 + 0.01 * np.random.default_rng(1).normal(size=12))


def seconds(system: Representative) -> float:
    """Springs of 1e8 N/m by an explicit method would take a minute and a half."""
    return 0.05 if "1e8" in system.name else system.t_end


def test_all_of_the_gallery_qualifies() -> None:
    assert not [system.name for system in REPRESENTATIVES if why_not(pl.compile_system(system.build()), METHOD)]


@pytest.mark.parametrize("system", REPRESENTATIVES, ids=lambda system: system.name)
def test_members_of_the_gallery_agree_with_the_general_loop(system: Representative) -> None:
    """As far from far finer runs as the general loop's are; the same touches; and the energy balances as well."""
    compiled, t_end = pl.compile_system(system.build()), seconds(system)
    options = {"keep": ("final", "contacts", "ledger"), "starts": starts_near(compiled)}
    exact = pl.ensemble(compiled, t_end, method=FINE, loop="general", **options)
    general = pl.ensemble(compiled, t_end, method=METHOD, loop="general", **options)
    own = pl.ensemble(compiled, t_end, method=METHOD, loop="lockstep", **options)
    assert own.ok.all() and own.attrs["loop"] == "lockstep"
    np.testing.assert_array_equal(own.touches, general.touches)
    for name in ("q_end", "v_end", "impulse", "peak_force", "normal_loss"):
        theirs, ours, size = (typical(x) for x in (general[name] - exact[name], own[name] - exact[name], exact[name]))
        assert ours <= 3.0 * theirs + 1e-8 * size, name
    # the general loop balances at every step, this one at 25 places: it may only look better
    assert typical(own.balance_error) <= 1.5 * typical(general.balance_error) + 1e-12 * typical(own.balance_scale)


def starts_near(compiled) -> dict[str, np.ndarray]:
    """Nine members a little apart, so that one lucky run proves nothing; the System's own start where loops are closed."""
    traced = compiled.traced
    if traced.rows:
        return {}
    k = min(2, len(traced.free_q) - 1)
    return {traced.tree.positions[traced.free_q[k]]: traced.y0[k] + np.linspace(-0.01, 0.01, 9)}


def typical(array) -> float:
    """The median over members of the largest |entry|; 0 where there is none, as of pairs of a mechanism without contacts."""
    rows = np.abs(array.values).reshape(array.shape[0], -1)
    return float(np.median(np.max(rows, axis=1, initial=0.0)))


def run(compiled, starts: dict[str, np.ndarray], t_end: float, runner=None, threads: int = 1) -> LockstepEnds:
    """What the runner itself hands back."""
    plan, kept = MemberPlan.of(compiled, "articulated", None, 0.0, None, starts, None), KeepPlan.of("final", 0.0, t_end)
    caught: list[LockstepEnds] = []

    class Caught:
        def __init__(self, inner) -> None:
            self.inner = inner

        def run(self, *arguments):
            caught.append(self.inner.run(*arguments))
            return caught[-1]

    make = runner or lockstep_ensemble.host_runner(METHOD)
    study = lockstep_ensemble.LockstepEnsemble(
        plan, METHOD, t_end, kept, None, EnsembleStore(plan, kept), lambda *x: Caught(make(*x))
    )
    study.run(threads, None)
    return caught[0]


def assert_same(one: LockstepEnds, other: LockstepEnds, order=slice(None)) -> None:
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name][order], err_msg=name)


@pytest.fixture(scope="module")
def side_by_side(chain, angles) -> LockstepEnds:
    return run(chain, {"a.angle": angles}, 0.8)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_a_switch_that_turns_many_times_within_a_long_step_is_followed(rtol) -> None:
    """The coil of a rotor: its smooth motion would be taken in steps of two of its periods."""
    system, part = pl.System("commutated", gravity=(0, -9.81)), pl.Parameter("part", 0.8)
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=0.05, com=(0.02, 0.0)), joint=pl.Revolute(rate=20.0))
    system.drive("coil", "rotor.angle", lambda t, q, v: pl.where(pl.sin(6.0 * q["rotor.angle"]) > part, 2.0, -1.0))
    parts = np.array([0.5, 0.7, 0.8, 0.9, 0.95])
    members = pl.ensemble(system, 1.0, parameters={"part": parts}, method=pl.DOP853(rtol, 1e-3 * rtol), loop="lockstep")
    assert members.attrs["loop"].startswith("lockstep")
    for k, value in enumerate(parts):
        run = pl.simulate(system, 1.0, parameters={"part": value}, method=pl.DOP853(1e-12, 1e-14), save=[1.0])
        assert members["q_end"].values[k, 0] == pytest.approx(run["rotor.angle"][-1], abs=100.0 * rtol)


def test_few_steps_are_rejected(side_by_side) -> None:
    """6 % of the steps; 9 % if the way to an event were straight, 12 % if slip were not followed through rest."""
    assert side_by_side.arrays["refused"].sum() < 0.075 * side_by_side.steps.sum()


@pytest.mark.parametrize("width", [1])
def test_the_number_of_lanes_changes_no_bit(chain, angles, side_by_side, width: int) -> None:
    assert side_by_side.tally[:, :, 0].sum() > 50
    assert_same(side_by_side, run(chain, {"a.angle": angles}, 0.8, lockstep_ensemble.host_runner(METHOD, width)))


def test_order_and_threads_change_no_bit(chain, angles, side_by_side) -> None:
    assert_same(side_by_side, run(chain, {"a.angle": angles[::-1]}, 0.8, threads=2), slice(None, None, -1))


class EmulatedRuns(DeviceRuns):
    """Members run by the GPU's own text, on this processor. `drivers`: those that ran."""

    drivers: list[EmulatedDriver]

    def __init__(self, compiled, own_constants: bool, count: int = 1, together: bool = False) -> None:
        text = device_text(lockstep_model(compiled), explicit_tableau(METHOD), own_constants)
        gpus = [emulated_gpu(text, together) for _ in range(count)]
        super().__init__([device for device, _ in gpus], text, b"")
        self.drivers = [driver for _, driver in gpus]


def test_kernels_of_the_gpu_give_the_same_bits_here(chain, angles, side_by_side, monkeypatch) -> None:
    """Begun, listed, attempted and judged; few members run at a time."""
    monkeypatch.setattr("pliant.host.cuda.LANES_BYTES", 1)
    runs = []
    study = run(chain, {"a.angle": angles}, 0.8, lambda *x: runs.append(EmulatedRuns(*x)) or runs[0])
    assert_same(side_by_side, study)
    (driver,) = runs[0].drivers
    assert driver.launches["lockstep_judge"] > 50 and not driver.memory


@pytest.mark.parametrize("system", REPRESENTATIVES[1:], ids=lambda system: system.name)  # the first is the chain
def test_kernels_of_the_gpu_give_the_same_bits_for_the_gallery(system: Representative) -> None:
    compiled, t_end = pl.compile_system(system.build()), 0.3 * seconds(system)
    starts = starts_near(compiled)
    assert_same(run(compiled, starts, t_end), run(compiled, starts, t_end, EmulatedRuns))


def test_kernels_of_the_gpu_give_the_same_bits_for_numbers_rows_and_events_of_their_own(monkeypatch) -> None:
    """Members with other masses and friction, rows at given times, and an event that ends some of them."""
    system = sliding_ball(pl.Parameter("e", 0.6, low=0.1, high=1.0), pl.Parameter("mu", 0.3))
    system.event("high", lambda t, q, v: q["ball.y"] - 0.07, direction="rising", stop=True)
    rng, kept = np.random.default_rng(0), []
    numbers = {"e": rng.uniform(0.3, 0.95, 40), "mu": rng.uniform(0.1, 0.6, 40)}
    rows = pl.ValuesAt([0.0, 0.11, 0.3], "q", "kinetic")
    options = {"parameters": numbers, "method": METHOD, "loop": "lockstep", "keep": ("final", "contacts", "ledger", rows)}
    host = pl.ensemble(system, 0.4, **options)
    monkeypatch.setattr(loop_choice, "host_runner", lambda *_: lambda *x: kept.append(EmulatedRuns(*x)) or kept[-1])
    gpu = pl.ensemble(system, 0.4, **options)
    assert kept[0].drivers[0].launches["lockstep_attempt"] > 10 and 0 < int(host.message.str.contains("'high'").sum()) < 40
    for name in host.data_vars:
        np.testing.assert_array_equal(host[name], gpu[name], err_msg=str(name))


@pytest.mark.parametrize("method", [METHOD, pl.Tsit5(rtol=1e-6, atol=1e-9)], ids=["DOP853", "Tsit5"])
def test_kernels_of_the_gpu_give_the_same_bits_where_rates_vanish_without_contact(monkeypatch, method) -> None:
    """Two balls that slide: nothing but friction changes their horizontal speed. They are sorted by which of them touches."""
    system = pl.System("two balls", gravity=(0, -9.81))
    for k, x in enumerate((0.0, 1.0)):
        joint = pl.Planar(position=(x, 0.1 + 0.02 * k), velocity=(0.5, 0.0))
        ball = system.add(f"ball{k}", pl.RigidBody(mass=1.0, inertia=1e-3), joint=joint)
        law, rubs = pl.HuntCrossley(stiffness=1e6, restitution=0.7), pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2)
        system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law, friction=rubs)
    monkeypatch.setattr(f"{__name__}.METHOD", method)
    monkeypatch.setattr("pliant.host.cuda.LANES_BYTES", 1)
    compiled, starts = pl.compile_system(system), {"ball0.y": np.linspace(0.06, 0.15, 9)}
    one = run(compiled, starts, 0.25)
    assert one.tally[:, 0, 0].sum() > 9
    assert_same(one, run(compiled, starts, 0.25, EmulatedRuns))


@pytest.mark.parametrize("balls", [0, 2])
def test_kernels_of_the_gpu_give_the_same_bits_at_stops_of_a_joint(balls: int, monkeypatch) -> None:
    """Where a spring begins to push, its force has a corner, which belongs to no contact: steps pass it without being judged."""
    system = pl.System("arm between stops", gravity=(0, -9.81))
    stops = pl.Limits(low=-2.0, high=-1.2, stiffness=300.0)
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=-1.5, rate=2.0, limits=stops))
    for k in range(balls):
        ball = system.add(f"ball{k}", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(k + 2.0, 0.1 + 0.02 * k)))
        system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
    monkeypatch.setattr("pliant.host.cuda.LANES_BYTES", 1)
    compiled, starts = pl.compile_system(system), {"arm.angle": np.linspace(-1.7, -1.3, 40)}
    assert [event.of_contact for event in lockstep_model(compiled).events if event.does == lockstep_events.CUT] == [False, False]
    assert_same(run(compiled, starts, 1.0), run(compiled, starts, 1.0, EmulatedRuns))


@pytest.fixture(scope="module")
def drop():
    system = pl.System("drop", gravity=(0, -9.81))
    stone = system.add("stone", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0, 0.5)))
    system.contact(points=pl.Sphere(stone.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
    return pl.compile_system(system)


HEIGHTS = np.linspace(0.3, 0.6, 100)


@pytest.mark.parametrize("count", [1, 2])
def test_the_number_of_gpus_changes_no_bit(drop, count: int) -> None:
    several = run(drop, {"stone.y": HEIGHTS}, 0.4, lambda *x: EmulatedRuns(*x, count=count))
    assert_same(run(drop, {"stone.y": HEIGHTS}, 0.4), several)


def test_a_gpu_takes_many_members_at_a_time_and_tells_how_long_it_computed(drop, monkeypatch) -> None:
    sizes = dict[str, list[int]](cpu=[], gpu=[])

    def counted(device: str, run):
        return lambda own, members, *rest: sizes[device].append(len(members)) or run(own, members, *rest)

    monkeypatch.setattr(HostRuns, "run", counted("cpu", HostRuns.run))
    monkeypatch.setattr(DeviceRuns, "run", counted("gpu", DeviceRuns.run))
    monkeypatch.setattr(gpu_runner, "gpu_runner", lambda _method: EmulatedRuns)
    monkeypatch.setattr(loop_choice, "ON_CORES", lockstep_ensemble.Batch(70, 2**26))
    options = {"starts": {"stone.y": HEIGHTS}, "method": METHOD}
    own, there = (pl.ensemble(drop, 0.4, **options, loop="lockstep", device=device) for device in ("cpu", "gpu"))
    assert sizes == {"cpu": [70, 30], "gpu": [100]}
    assert there.attrs["gpu_seconds"] > 0.0 and "gpu_seconds" not in own.attrs
    for name in ("q_end", "v_end", "touches", "impulse", "steps", "message"):
        np.testing.assert_array_equal(own[name], there[name], err_msg=name)
    monkeypatch.setattr(lockstep_ensemble, "ON_CORES", lockstep_ensemble.Batch(40, 2**26))
    free = iter([130_000, *[10_000] * 9])  # it shrinks while results are kept
    monkeypatch.setattr(lockstep_ensemble, "free_memory", lambda: next(free))
    little = pl.ensemble(drop, 0.4, **options, loop="lockstep", device="gpu")
    assert 64 < sizes["gpu"][1] < 100 and sum(sizes["gpu"][1:]) == 100 and little.ok.all()
    np.testing.assert_array_equal(own.q_end, little.q_end)


@pytest.mark.parametrize("most", [256, 3])
def test_threads_of_a_warp_at_the_same_time_give_the_same_bits(drop, monkeypatch, most: int) -> None:
    """They wait for each other in every stage, vote on whether to go on, and put members back after so many attempts."""
    monkeypatch.setattr(rounds, "MOST_ATTEMPTS", most)
    runs = []
    heights = HEIGHTS[:40]  # a warp, and a part of one
    together = run(drop, {"stone.y": heights}, 0.4, lambda *x: runs.append(EmulatedRuns(*x, together=True)) or runs[0])
    assert_same(run(drop, {"stone.y": heights}, 0.4), together)
    assert runs[0].drivers[0].apart == 0


def test_a_cancelled_run_on_a_gpu_keeps_what_has_ended_and_goes_no_further(drop, monkeypatch) -> None:
    """What is told on the way are members that have ended: at first all that have room are begun."""
    monkeypatch.setattr("pliant.host.cuda.LANES_BYTES", 1)
    monkeypatch.setattr(rounds, "MOST_ATTEMPTS", 1)
    heard: list[int] = []

    class Impatient:
        def __init__(self, compiled, own_constants: bool) -> None:
            self.inner = EmulatedRuns(compiled, own_constants)
            made.append(self.inner)

        def run(self, members, tolerances, threads, _progress) -> LockstepEnds:
            return self.inner.run(members, tolerances, threads, hear)

    def hear(ended: int) -> None:
        heard.append(ended)
        if ended > 0:
            made[0].cancel()

    made: list[EmulatedRuns] = []
    monkeypatch.setattr(device, "batches", lambda *_: [range(60), range(60, 100)])
    monkeypatch.setattr(np, "empty", np.zeros)  # code 0 is that of a member which has ended
    ends = run(drop, {"stone.y": HEIGHTS}, 0.4, Impatient)
    assert heard[0] == 0 and heard == sorted(heard)
    assert 0 < heard[-1] <= (ends.code == 0).sum() < 60 and (ends.code[60:] == -1).all() and set(ends.code.tolist()) == {0, -1}
    assert ends.tally[ends.code == 0, 0, 0].sum() > 0 and not np.isnan(ends.y[ends.code == 0]).any()


@pytest.mark.parametrize("system", REPRESENTATIVES, ids=lambda system: system.name)
def test_ptx_calls_nothing_and_asks_for_nothing_that_is_not_there(system: Representative) -> None:
    compiled = pl.compile_system(system.build())
    text = device_text(lockstep_model(compiled), explicit_tableau(METHOD), True)
    ptx = ptx_of(text, compiled.structure.cache).decode()
    assert all(f".entry {name}(" in ptx for name in KERNELS)
    assert not re.findall(r"^\s*call|\.extern (?!\.shared)|\.func", ptx, re.MULTILINE)
    # products and sums that the driver may not fuse otherwise than the host does
    assert not re.findall(r"\b(?:mul|add|sub)\.f64", ptx)
    # the memory that a thread has for an attempt; everything else is in registers, shared memory or records
    assert sum(map(int, re.findall(r"\.local .*__local_depot\d+\[(\d+)\]", ptx))) <= 8 * text.slots.size + 8


@pytest.mark.parametrize(("capability", "target", "waits"), [((7, 5), "sm_70", True), ((8, 0), "sm_80", False)])
def test_older_gpus_get_copies_that_wait(chain, monkeypatch, capability, target: str, waits: bool) -> None:
    """All GPUs of a machine run the same text."""
    devices = [SimpleNamespace(capability=(9, 0)), SimpleNamespace(capability=capability)]
    monkeypatch.setattr(gpu_runner, "gpus", lambda: devices)
    monkeypatch.setattr(gpu_runner, "DeviceRuns", lambda _devices, _text, ptx: ptx.decode())
    ptx = gpu_runner.gpu_runner(METHOD)(chain, False)
    assert f".target {target}" in ptx and ("cp.async" in ptx) is not waits
    brought = 0 if waits else 3  # what attempts read first, what they read later, and what is judged
    assert len(re.findall(r"cp\.async\.wait_all", ptx)) == brought


def sliding_ball(e, mu) -> pl.System:
    system = pl.System("drop", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 0.1), velocity=(0.5, 0.0)))
    law, rubs = pl.HuntCrossley(stiffness=1e6, restitution=e), pl.Ambrosio(mu=mu, v0=1e-3, v1=1e-2)
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law, friction=rubs)
    return system


def test_numbers_of_their_own_rows_and_extremes_are_kept() -> None:
    system = sliding_ball(pl.Parameter("e", 0.6, low=0.1, high=1.0), pl.Parameter("mu", 0.3))
    rng = np.random.default_rng(0)
    values = {"e": rng.uniform(0.3, 0.95, 40), "mu": rng.uniform(0.1, 0.6, 40)}
    values["e"][3], values["mu"][5], values["e"][7] = 1.0, 0.0, 1.5  # other structures, and one that is refused
    times = [0.0, 0.11, 0.3]
    keep = ("final", "contacts", pl.ValuesAt(times, "q", "kinetic"), pl.ExtremesOf("gap", save=times))
    options = {"parameters": values, "method": pl.DOP853(rtol=1e-8, atol=1e-11), "keep": keep}
    general, own = (pl.ensemble(system, 0.4, **options, loop=loop) for loop in ("general", "lockstep"))
    np.testing.assert_array_equal(own.ok, general.ok)
    assert int((~own.ok).sum()) == 1 and "1.5" in str(own.message[7].item())
    np.testing.assert_array_equal(own.touches, general.touches)
    for name in ("q_end", "q", "kinetic", "gap_lowest", "impulse"):
        np.testing.assert_allclose(own[name], general[name], rtol=2e-4, atol=2e-5, err_msg=name)


def test_an_event_ends_a_member_and_nothing_is_kept_after_it() -> None:
    system = pl.System("fall", gravity=(0, -9.81))
    stone = system.add("stone", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    assert stone is not None
    system.event("low", lambda t, q, v: q["stone.y"] - 0.5, direction="falling", stop=True)
    keep = ("final", pl.ValuesAt([0.9], "q"))
    own = pl.ensemble(system, 1.0, starts={"stone.y": [1.0, 2.0, 9.0]}, method=METHOD, loop="lockstep", keep=keep)
    assert own.t_end.values == pytest.approx([np.sqrt(1.0 / 9.81), np.sqrt(3.0 / 9.81), 1.0], rel=1e-9)
    assert "'low'" in str(own.message[0].item()) and np.isnan(own.q[:2]).all() and not np.isnan(own.q[2]).any()


def test_what_lock_step_does_not_serve_is_told(chain, angles) -> None:
    starts = {"a.angle": angles}
    assert pl.ensemble(chain, 0.1, starts=starts, method=METHOD).attrs["loop"].startswith("general: 12 members")
    assert pl.ensemble(chain, 0.01, starts=starts, loop="general").attrs["loop"] == "general"
    assert pl.ensemble(chain, 0.01, starts=starts).attrs["loop"].startswith("general: 12 members")
    refused = (({"method": pl.Radau5(1e-6, 1e-9)}, "Radau5"), ({"method": METHOD, "keep": "records"}, "records"))
    for options, words in refused:
        with pytest.raises(ModelError, match=words):
            pl.ensemble(chain, 0.1, starts=starts, loop="lockstep", **options)
    with pytest.raises(ModelError, match="device"):
        pl.ensemble(chain, 0.1, starts=starts, method=METHOD, device="tpu")
    with pytest.raises(ModelError, match="lock-step"):
        pl.ensemble(chain, 0.1, starts=starts, method=METHOD, device="gpu", loop="general")


@pytest.mark.parametrize("depth", [1e-6, 5e-4])  # m; the second ball is thrown out of the floor
def test_a_blow_on_a_resting_body_is_the_same_in_both_loops_and_on_a_gpu(depth: float) -> None:
    system = struck_ball(pl.HuGuo(stiffness=1e8, restitution=0.7), weight=9.81, depth=depth, blow=1e9)
    compiled, rates = pl.compile_system(system), {"falling.displacement": np.linspace(-2.0, -0.5, 12)}
    options = {"rates": rates, "keep": ("final", "contacts")}
    exact = pl.ensemble(compiled, 0.004, method=FINE, loop="general", **options)
    general, own = (pl.ensemble(compiled, 0.004, method=METHOD, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.attrs["loop"] == "lockstep" and exact.touches.values.tolist() == own.touches.values.tolist()
    for name in ("q_end", "v_end"):
        assert typical(own[name] - exact[name]) <= 3.0 * typical(general[name] - exact[name])
    np.testing.assert_allclose(own.peak_force, exact.peak_force, rtol=1e-4)
    starts = {"falling.displacement": np.linspace(0.151, 0.1515, 9)}
    assert_same(run(compiled, starts, 0.004), run(compiled, starts, 0.004, EmulatedRuns))


def test_a_blow_on_a_body_that_never_left_rebounds_as_its_law_says_in_lock_step_and_on_a_gpu() -> None:
    law, speeds = pl.Exact(stiffness=1e8, restitution=0.8), HELD_ENTRY * np.geomspace(1.5, 20.0, 12)
    compiled, t_end = pl.compile_system(held_ball(law)), HELD_FROM + 0.003
    starts, rates = {"falling.displacement": 0.15 + 1.5 * speeds * HELD_FROM}, {"falling.displacement": -1.5 * speeds}
    own = pl.ensemble(compiled, t_end, method=METHOD, loop="lockstep", starts=starts, rates=rates, keep=("final", "contacts"))
    assert own.attrs["loop"] == "lockstep" and own.touches.values.tolist() == [[1, 1]] * 12
    assert own.v_end.sel(rate="held.displacement").values == pytest.approx(0.8 * speeds, rel=1e-2)
    assert_same(run(compiled, starts, t_end), run(compiled, starts, t_end, EmulatedRuns))


def test_without_a_driver_a_gpu_is_refused_in_words(chain, angles, monkeypatch) -> None:
    monkeypatch.setattr("pliant.host.cuda.LIBRARIES", {})
    with pytest.raises(SolveError, match="no NVIDIA driver"):
        pl.ensemble(chain, 0.1, starts={"a.angle": angles}, method=METHOD, device="gpu")
    monkeypatch.setattr(loop_choice, "FEWEST", 1)
    there = pl.ensemble(chain, 0.1, starts={"a.angle": angles}, method=METHOD, device="auto")
    assert there.ok.all() and "on the CPU: no GPU" in there.attrs["loop"]


def test_batches_fit_into_the_memory_of_a_gpu() -> None:
    assert [len(batch) for batch in batches(10, 100, 500)] == [3, 3, 3, 1]  # some memory is left for the members that run at a time
    assert [len(batch) for batch in batches(10, 1, 10**9, 2)] == [5, 5]
    with pytest.raises(DeviceError, match="keep fewer rows"):
        batches(10, 1000, 500)


def two_balls() -> tuple[pl.System, dict[str, np.ndarray], float]:
    """So fast that a long first step would carry one through the other."""
    system = pl.System("two balls", gravity=(0, 0))
    left = system.add("left", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(-0.5, 0), velocity=(30.0, 0)))
    right = system.add("right", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0, 0.01)))
    system.contact(points=pl.Sphere(left.root, 0.01), against=pl.Sphere(right.root, 0.01), normal=pl.Hertz(stiffness=1e7))
    return system, {"left.x": np.linspace(-0.5, -0.4, 5)}, 0.4


def ball_at_rest() -> tuple[pl.System, dict[str, np.ndarray], float]:
    """Its slip settles on a corner of the friction law."""
    system = pl.System("ball", gravity=(0, -9.81))
    joint = pl.Planar(position=(0, 0.05), velocity=(0.5, 0), rate=2.0)
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=joint)
    law, rubs = pl.HuntCrossley(stiffness=1e6, restitution=0.3), pl.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2)
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law, friction=rubs)
    return system, {"ball.y": np.linspace(0.051, 0.06, 5)}, 0.8


def driven_arm() -> tuple[pl.System, dict[str, np.ndarray], float]:
    """A torque that jumps, and a damped stop whose force does."""
    system = pl.System("arm", gravity=(0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.02, width=0.03), material=pl.ALUMINIUM,
                   theory="euler-bernoulli", modes=pl.Modes("cf", 1))  # fmt: skip
    system.add("arm", beam, joint=pl.Revolute(angle=0.3, limits=pl.Limits(low=-0.2, high=1.0, stiffness=1e4, damping=20.0)))
    system.drive("motor", "arm.angle", pl.PiecewiseConstant([0.0, 0.1, 0.2], [0.0, 5.0, -5.0]))
    return system, {"arm.angle": np.linspace(0.2, 0.4, 5)}, 0.6


@pytest.mark.parametrize("case", [two_balls, ball_at_rest, driven_arm], ids=lambda case: case.__name__)
def test_nothing_passes_unseen_and_steps_stay_as_long(case) -> None:
    system, starts, t_end = case()
    compiled = pl.compile_system(system)
    options = {"starts": starts, "keep": ("final", "contacts")}
    exact = pl.ensemble(compiled, t_end, method=FINE, loop="general", **options)
    general, own = (pl.ensemble(compiled, t_end, method=METHOD, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.ok.all()
    np.testing.assert_array_equal(own.touches, general.touches)
    assert typical(own.q_end - exact.q_end) <= 3.0 * typical(general.q_end - exact.q_end) + 1e-8
    assert int(own.steps.sum()) <= 2 * int(general.steps.sum())


def test_tsit5_agrees_with_the_general_loop() -> None:
    """First same as last, one error estimate, no zero among its weights."""
    system, starts, t_end = ball_at_rest()
    compiled, method = pl.compile_system(system), pl.Tsit5(rtol=1e-6, atol=1e-9)
    options = {"starts": starts, "keep": ("final", "contacts", "ledger")}
    exact = pl.ensemble(compiled, t_end, method=FINE, loop="general", **options)
    general, own = (pl.ensemble(compiled, t_end, method=method, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.ok.all() and own.attrs["loop"] == "lockstep"
    np.testing.assert_array_equal(own.touches, general.touches)
    assert typical(own.q_end - exact.q_end) <= 3.0 * typical(general.q_end - exact.q_end) + 1e-8
    assert typical(own.balance_error) <= 1.5 * typical(general.balance_error) + 1e-12 * typical(own.balance_scale)
    assert int(own.steps.sum()) <= 1.5 * int(general.steps.sum())


def test_what_a_member_gives_in_lock_step_does_not_depend_on_how_many_there_are() -> None:
    """A beam's length changes its shapes, so each member is compiled for itself; four of them run in lock-step as twenty do."""
    length, section = pl.Parameter("L", 1.0), pl.Section.rectangle(0.02, 0.02)
    system = pl.System("arm", gravity=(0, -9.81))
    beam = pl.Beam(length=length, section=section, material=pl.STEEL, modes=pl.Modes("cf", 1), theory="euler-bernoulli")
    system.add("arm", beam, joint=pl.Revolute(angle=0.3))
    lengths = np.linspace(0.9, 1.1, 20)
    few, many = (pl.ensemble(system, 0.05, parameters={"L": lengths[:n]}, method=METHOD, loop="lockstep") for n in (4, 20))
    assert few.attrs["loop"] == many.attrs["loop"] == "lockstep" and few.attrs["run_by_simulate"] == 0
    np.testing.assert_array_equal(few.q_end, many.q_end[:4])


def test_an_ensemble_of_which_no_member_fits_lock_step_says_so() -> None:
    """A ball that touches to round-off at the start is left to `simulate`."""
    system = sliding_ball(0.7, 0.2)
    own = pl.ensemble(system, 0.01, starts={"ball.y": [0.05, 0.05]}, method=METHOD, loop="lockstep")
    assert own.attrs["run_by_simulate"] == 2 and own.attrs["loop"].startswith("general: simulate ran all members")


def test_a_crest_between_the_ends_of_steps_is_seen() -> None:
    """A wave that taps a ball at rest, 1e-7 to 2e-7 m deep: no error control looks at it, and a cubic is not accurate enough."""
    for at in (0.41, 0.455, 0.5, 0.545, 0.59):
        system = pl.System("wave", gravity=(0, 0))
        motion = lambda t, at=at: 0.04 * pl.cos(10 * pl.pi * (t - at)) * (1 - 2 * (t - at) ** 2 / (1 + 10 * (t - at) ** 2))  # noqa: E731
        pusher = system.add("pusher", pl.RigidBody(mass=1e-3, inertia=1e-6), joint=pl.Prismatic(motion=motion))
        ball = system.add("ball", pl.RigidBody(mass=0.1, inertia=1e-4), joint=pl.Planar(position=(0.06, 0)))
        law, face = pl.HuntCrossley(stiffness=1e6, restitution=0.7), pl.Plane(normal=(1, 0), on=pusher.root)
        system.contact(points=pl.Sphere(ball.root, 0.02), against=face, normal=law, name="tap")
        starts, method = {"ball.x": 0.06 - 1e-7 * np.linspace(1.0, 2.0, 4)}, pl.DOP853(rtol=1e-2, atol=1e-2)
        assert np.all(pl.ensemble(system, 1.0, starts=starts, method=method, loop="lockstep").touches >= 1)


def test_functions_without_an_instruction_of_their_own_are_taken_by_ours() -> None:
    """A spring and a damper that harden, as formulas: the C library's functions in the general loop, ours in lock-step."""
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=0.1, com=(0.3, 0.0)), joint=pl.Revolute(angle=0.2))

    def law(t, q, v):
        return -3.0 * pl.tan(0.9 * q["arm.angle"]) - 0.2 * pl.sinh(pl.tanh(v["arm.angle"])) + pl.exp(-(q["arm.angle"] ** 2))

    system.drive("motor", "arm.angle", law)
    compiled = pl.compile_system(system)
    options = {"starts": {"arm.angle": np.linspace(-0.4, 0.6, 5)}, "keep": ("final", "ledger")}
    general, own = (pl.ensemble(compiled, 0.5, method=FINE, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.ok.all() and own.attrs["loop"] == "lockstep"
    np.testing.assert_allclose(own.q_end, general.q_end, rtol=1e-9)


def test_members_that_the_model_refuses_or_whose_mass_matrix_is_singular_are_told_so() -> None:
    """Where the first members are as they should be: neither numbers nor mass matrices are those of the first alone."""
    inertia = pl.Parameter("inertia", 0.013)
    system = pl.System("plate", gravity=(0, -9.81))
    system.add("plate", pl.RigidBody(mass=1.5, inertia=inertia, com=(0.3, 0.0)), joint=pl.Planar(angle=0.2, rate=1.0))
    values = np.linspace(0.01, 0.05, 24)
    values[[5, 9, 17, 18]] = 3e-19, 1e-18, 1e-9, -0.02
    options = {"parameters": {"inertia": values}, "method": METHOD}
    general, own = (pl.ensemble(system, 0.2, **options, loop=loop) for loop in ("general", "lockstep"))
    assert np.flatnonzero(~own.ok.values).tolist() == [5, 9, 18] and own.attrs["loop"] == "lockstep"
    assert own.message.values.tolist() == general.message.values.tolist()
    assert "singular" in str(own.message[5].item()) and "must be positive semidefinite" in str(own.message[18].item())
    np.testing.assert_allclose(own.q_end, general.q_end, rtol=1e-6)


def test_rules_that_tie_two_numbers_are_asked_of_every_member() -> None:
    low, high, damper = pl.Parameter("low", -0.5), pl.Parameter("high", 0.7), pl.Parameter("damper", 0.3)
    system = pl.System("arm", gravity=(0, -9.81))
    joint = pl.Revolute(limits=pl.Limits(low=low, high=high, stiffness=1e4), damper=pl.Damper(damper))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=0.1, com=(0.3, 0.0)), joint=joint)
    traced, rng = pl.compile_system(system).traced, np.random.default_rng(1)
    series = {"low": rng.uniform(-1.0, 1.0, 60), "high": rng.uniform(-1.0, 1.0, 60), "damper": rng.uniform(-0.1, 0.5, 60)}
    first = {"low": -0.5, "high": 0.7, "damper": 0.3}
    allowed = (series["low"] < series["high"]) & (series["damper"] >= 0.0)
    assert 0 < allowed.sum() < 40
    np.testing.assert_array_equal(accepted_members(traced, first, series), allowed)
    tame = {"low": np.minimum(series["low"], -0.1), "high": np.maximum(series["high"], 0.1), "damper": abs(series["damper"])}
    assert accepted_members(traced, first, tame).all()  # of which only the corners are asked


def test_formulas_of_time_are_served_and_no_pulse_passes_unseen() -> None:
    """A blow of 4 ms by a formula, when it comes another number for every member: the angle grows by J/I (t_end - t) after it."""
    begins, strength = pl.Parameter("begins", 0.731), pl.Parameter("strength", 500.0)
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", pl.RigidBody(mass=1.5, inertia=0.1, com=(0.3, 0.0)), joint=pl.Revolute(angle=0.2))
    system.drive("blow", "arm.angle", lambda t, q, v: strength * pl.exp(-(((t - begins) / 1e-3) ** 2)))
    rng = np.random.default_rng(1)
    values = {"begins": rng.uniform(0.2, 1.2, 20), "strength": rng.uniform(300.0, 600.0, 20)}
    method = pl.DOP853(rtol=1e-8, atol=1e-11)
    general, own = (pl.ensemble(system, 1.5, parameters=values, method=method, loop=loop) for loop in ("general", "lockstep"))
    assert own.ok.all() and own.attrs["loop"] == "lockstep"
    blow = values["strength"] * 1e-3 * np.sqrt(np.pi) / (0.1 + 1.5 * 0.3**2)
    exact = 0.2 + blow * (1.5 - values["begins"])
    np.testing.assert_allclose(general.q_end[:, 0], exact, rtol=1e-6)
    np.testing.assert_allclose(own.q_end[:, 0], exact, rtol=1e-6)


def test_when_a_member_must_step_depends_on_itself_alone() -> None:
    speed, strength = pl.Parameter("speed", 7.3), pl.Parameter("strength", 2.1)
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody(mass=1.5, inertia=0.1, com=(0.3, 0.0)), joint=pl.Revolute(angle=0.2))
    system.drive("motor", "arm.angle", lambda t, q, v: strength * pl.sin(speed * t) - 0.1 * v["arm.angle"])
    rng = np.random.default_rng(2)
    values = {"speed": rng.uniform(5.0, 60.0, 40), "strength": rng.uniform(1.3, 3.0, 40)}
    options = {"method": pl.DOP853(rtol=1e-7, atol=1e-10), "keep": ("final", "ledger")}
    exact = pl.ensemble(system, 1.5, parameters=values, method=FINE, keep=("final", "ledger"), loop="general")
    general, own = (pl.ensemble(system, 1.5, parameters=values, loop=loop, **options) for loop in ("general", "lockstep"))
    assert typical(own.q_end - exact.q_end) <= 3.0 * typical(general.q_end - exact.q_end) + 1e-8
    assert typical(own.balance_error) <= 1.5 * typical(general.balance_error)
    assert int(own.steps.sum()) <= 2 * int(general.steps.sum())
    half = pl.ensemble(system, 1.5, parameters={name: x[:15:-1] for name, x in values.items()}, loop="lockstep", **options)
    np.testing.assert_array_equal(half.q_end[::-1], own.q_end[16:])


def test_a_contact_at_zero_that_parts_slowly_leaves_the_zone_around_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step goes beyond the zone, where the event counts: one inside it moves no coordinate by a bit, and never ends."""
    table = {"does": [lockstep_events.GAP], "has_rate": [1], "direction": [0], "pair": [0]}
    monkeypatch.setattr(lockstep_events, "table", SimpleNamespace(**table))
    lane = SimpleNamespace(g=[3.9e-16], gd=[5.6e-4], g_new=[5.6e-7], gd_new=[5.6e-4], step=1e-3, dead=2.3e-15, t=1.46, t_new=1.461,
                           tries=0.0, h=1e-3, side=[-1.0], hit=[0.0], sought=[0.0], n_watched=1.0, watching=[0.0])  # fmt: skip
    cut = lockstep_events.first_event(lane, SimpleNamespace(near=0.0))
    assert cut > 0.0
    assert lane.g[0] + lane.gd[0] * cut > 1.5 * lane.dead
    assert cut < 1e-11

"""Going on from where a run ended: the same trajectory as one run, in flight, in contact, at events, from a file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from mechanisms import HELD_FROM, held_ball, struck_ball

# short steps: rows inside a step come by dense output, which is rougher than the step where bristles are stiff
METHOD = pl.DOP853(rtol=1e-11, atol=1e-13, max_step=1e-4)


def chain() -> pl.System:
    return pl.load_model(Path(__file__).parents[2] / "examples" / "falling_chain.yaml").system


def rubbing() -> pl.System:
    """A ball dropped on the ground with spin and LuGre bristles: a long touch with friction that remembers."""
    system = pl.System("ball", (0, -9.81))
    start = pl.Planar(position=(0, 0.11), velocity=(1.0, 0.0), rate=5.0)
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.01), joint=start)
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)),
                   normal=pl.HuGuo(stiffness=1e5, restitution=0.7),
                   friction=pl.LuGre(mu_static=0.3, mu_kinetic=0.2, v_stribeck=0.01, sigma0=1e4, sigma1=10.0))  # fmt: skip
    return system


def loop() -> pl.System:
    """A four-bar linkage closed by multipliers, driven by steps: constraints, breakpoints and works go on."""
    system = pl.System("four-bar", (0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=1.0))
    coupler = system.add("coupler", pl.RigidBody.rod(0.9, 1.0), joint=pl.Revolute(angle=-0.6), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=2.0), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    system.drive("motor", "crank.angle", pl.PiecewiseConstant((0.0, 0.15, 0.3), (2.0, -3.0, 0.0)))
    return system


def compare(make: Callable[[], pl.System], parts: list[float], apart: float) -> list[pl.Result]:
    """One run to the last time beside runs from part to part; both must tell the same, at the same times."""
    system = make()
    grids = [np.linspace(begin, end, 31) for begin, end in pairwise([0.0, *parts])]
    whole = pl.simulate(system, parts[-1], method=METHOD, save=np.unique(np.concatenate(grids)))
    results: list[pl.Result] = []
    for grid in grids:
        results.append(pl.simulate(system, grid[-1], method=METHOD, save=grid, start=results[-1] if results else None))
        assert results[-1].ok and results[-1].final_state.t == grid[-1]
        rows = np.searchsorted(whole.time, grid)
        direct = pl.simulate(system, grid[-1], method=METHOD).final_state  # the whole state, bristles and impulses too
        assert np.max(np.abs(direct.y - results[-1].final_state.y)) <= apart * np.max(np.abs(direct.y))
        assert direct.closed.keys() == results[-1].final_state.closed.keys()
        for name in ("q", "v", "work", "tip_position", "kinetic", "normal_force"):
            scale = np.max(np.abs(whole.values[name]), initial=0.0)
            assert np.max(np.abs(whole.values[name][rows] - results[-1].values[name]), initial=0.0) <= apart * scale, name
    return [*results, whole]


def test_in_flight() -> None:
    """The chain, cut before its first touch and between touches."""
    *_, last, whole = compare(chain, [0.2, 0.44, 0.6], 1e-7)
    ends = [touch for touch in whole.contacts if touch.begin > 0.44]
    assert len(ends) > 3
    assert [touch.pair for touch in last.contacts] == [touch.pair for touch in ends]
    for mine, other in zip(last.contacts, ends, strict=True):
        assert mine.begin == pytest.approx(other.begin, abs=1e-9)
        assert mine.peak_force == pytest.approx(other.peak_force, rel=1e-5)


def test_in_the_middle_of_a_contact_with_friction_that_remembers() -> None:
    """The touch goes on with its entry speed, its bristles and its record: one touch, told as one."""
    whole = pl.simulate(rubbing(), 0.2, method=METHOD)
    first = whole.contacts[0]
    cuts = [first.begin + part * first.duration for part in (0.1, 0.5, 0.95)]
    results = compare(rubbing, [*cuts, first.end + 0.02], 1e-8)
    assert all(result.contacts[0].lasting for result in results[:3])
    assert results[0].final_state.closed.keys() == {first.pair}
    direct, continued = pl.simulate(rubbing(), cuts[2], method=METHOD).final_state, results[2].final_state
    bristle = 6  # after three coordinates and three rates
    assert abs(direct.y[bristle]) > 1e-6  # m
    assert continued.y[bristle] == pytest.approx(direct.y[bristle], rel=1e-6)
    for name in ("begin", "end", "entry_speed", "exit_speed", "peak_force", "impulse", "normal_loss", "friction_loss"):
        assert getattr(results[3].contacts[0], name) == pytest.approx(getattr(first, name), rel=1e-7), name


def test_while_a_closed_contact_is_struck() -> None:
    """Its entry speed grows on after the cut, up to the largest closing speed."""
    system = struck_ball(pl.HuGuo(stiffness=1e8, restitution=0.7), weight=9.81, depth=1e-6, blow=1e9)
    first, second, _, whole = compare(lambda: system, [0.0012, 0.0025, 0.004], 1e-8)
    entries = [run.final_state.closed["floor resting.root"][0] for run in (first, second)]
    assert entries[0] < 0.0 and abs(entries[1]) > 0.3
    assert not whole.contacts.of("floor resting.root")[0].lasting


def test_between_an_impact_and_a_blow_on_the_same_contact() -> None:
    """In the first compression, after it, while the blow makes the entry speed grow, and after the new compression."""
    system = held_ball(pl.HuGuo(stiffness=1e8, restitution=0.7), speed=1.0)
    compare(lambda: system, [2e-4, 0.045, HELD_FROM + 2e-4, HELD_FROM + 1.5e-3, HELD_FROM + 3e-3], 1e-8)


def test_with_closed_loops_and_a_drive_in_steps() -> None:
    compare(loop, [0.1, 0.15, 0.4], 1e-8)


def test_without_the_bristles_the_test_of_contact_would_fail() -> None:
    """The proof that the middle of a contact is a test: a state without its memory goes elsewhere."""
    system = rubbing()
    touch = pl.simulate(system, 0.2, method=METHOD).contacts[0]
    middle = touch.begin + 0.5 * touch.duration
    half = pl.simulate(system, middle, method=METHOD)
    honest = pl.simulate(system, 0.2, method=METHOD, start=half)
    state = half.final_state
    forgetful = pl.results.state.FinalState(state.t, state.y, {}, state.labels, state.t_assembled)
    other = pl.simulate(system, 0.2, method=METHOD, start=forgetful)
    assert np.max(np.abs(honest.values["q"][-1] - other.values["q"][-1])) > 1e-5


def test_from_a_file_and_with_another_method(tmp_path: Path) -> None:
    system = rubbing()
    touch = pl.simulate(system, 0.2, method=METHOD).contacts[0]
    half = pl.simulate(system, touch.begin + 0.5 * touch.duration, method=METHOD)
    half.to_netcdf(tmp_path / "half.nc")
    back = pl.Result.from_netcdf(tmp_path / "half.nc")
    ends = [pl.simulate(system, 0.2, method=METHOD, start=start).values["q"][-1] for start in (half, back, back.final_state)]
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])
    other = pl.simulate(system, 0.2, method=pl.DormandPrince(rtol=1e-11, atol=1e-13), start=back).values["q"][-1]
    assert np.max(np.abs(other - ends[0])) < 1e-8


@pytest.mark.parametrize("method", [pl.Auto, pl.Radau5, pl.TwoLoop], ids=lambda method: method.__name__)
@pytest.mark.parametrize("make", [rubbing, loop], ids=lambda make: make.__name__)
def test_with_methods_that_are_made_otherwise(method: type, make: Callable[[], pl.System]) -> None:
    system, chosen = make(), method(rtol=1e-10, atol=1e-12)
    whole = pl.simulate(system, 0.2, method=chosen)
    cut = whole.contacts[0].begin + 0.5 * whole.contacts[0].duration if whole.contacts else 0.07
    rest = pl.simulate(system, 0.2, method=chosen, start=pl.simulate(system, cut, method=chosen))
    assert np.max(np.abs(rest.values["q"][-1] - whole.values["q"][-1])) < 1e-9
    assert len(rest.contacts) == len(whole.contacts)


def test_in_absolute_coordinates() -> None:
    system, options = loop(), {"formulation": "augmented", "method": METHOD}
    rest = pl.simulate(system, 0.2, start=pl.simulate(system, 0.1, **options), **options)
    assert np.max(np.abs(rest.values["q"][-1] - pl.simulate(system, 0.2, **options).values["q"][-1])) < 1e-9


def test_past_an_event_that_stopped_the_run() -> None:
    """Every run stops at the next crossing, not again at the one it begins on."""
    system = pl.System("pendulum", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.0))
    system.event("down", lambda t, q, v: q["arm.angle"] + pl.pi / 2, stop=True)
    times: list[float] = []
    result = None
    for _ in range(6):
        result = pl.simulate(system, 20.0, method=METHOD, start=result)
        times.append(result.events[-1].t)
        assert len(result.events) == 1
    assert np.ptp(np.diff(times)) < 1e-9  # half a period apart, every time
    assert times[1] > times[0] + 0.5


def test_an_interrupted_run_goes_on_too() -> None:
    system = loop()
    short = pl.simulate(system, 0.4, method=METHOD, max_steps=20)
    assert not short.ok and 0.0 < short.final_state.t < 0.4
    rest = pl.simulate(system, 0.4, method=METHOD, start=short)
    whole = pl.simulate(system, 0.4, method=METHOD)
    assert np.max(np.abs(rest.values["q"][-1] - whole.values["q"][-1])) < 1e-8


def test_the_provenance_of_a_later_part_is_the_model_from_its_first_start() -> None:
    system = rubbing()
    first = pl.simulate(system, 0.05, method=METHOD)
    rest = pl.simulate(system, 0.1, method=METHOD, start=first)
    model = pl.loads_model(rest.provenance["model"])
    assert (model.run.t_start, model.run.t_end) == (0.0, 0.1)
    assert (rest.provenance["settings"]["t_start"], rest.provenance["settings"]["first_start"]) == (0.05, 0.0)
    again = pl.simulate(model.system, model.run.t_end, **model.run.options)
    assert again.values["q"][-1] == pytest.approx(rest.values["q"][-1], abs=1e-8)


def test_what_cannot_be_gone_on_from_is_refused() -> None:
    result = pl.simulate(loop(), 0.1)
    with pytest.raises(pl.ModelError, match=r"start must come from a run of the same mechanism, whose coordinates are \['ball"):
        pl.simulate(rubbing(), 0.2, start=result)
    with pytest.raises(pl.ModelError, match=r"t_end must be > t_start = 0\.1 s, got 0\.05"):
        pl.simulate(loop(), 0.05, start=result)
    with pytest.raises(pl.ModelError, match="start must be a Result, its final_state, an Equilibrium or a mapping, got 3"):
        pl.simulate(loop(), 0.2, start=3)
    inverse = pl.inverse_dynamics(loop_free(), {"arm.angle": lambda t: t}, t_end=0.1)
    with pytest.raises(pl.ModelError, match="start must contain its final state"):
        pl.simulate(loop_free(), 0.2, start=inverse)


def loop_free() -> pl.System:
    system = pl.System("arm", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return system


def test_while_friction_holds_yields_or_creeps() -> None:
    """What a contact was doing goes on: a block pulled ever harder, cut while both corners stick, yield and creep."""
    system = pl.System("block", gravity=(0, -10.0))
    body = system.add("block", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0, 0.05 - 5e-6 ** (2 / 3))))
    system.contact(points=[body.at((x, -0.05)) for x in (-0.1, 0.1)], against=pl.Plane(normal=(0, 1)), name="floor",
                   normal=pl.HuntCrossley(stiffness=1e6, restitution=0.5),
                   friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=0.05))  # fmt: skip
    system.force("pull", body.at((0, -0.05)), (lambda t, q, v: 20.0 * t, 0.0))
    whole = pl.simulate(system, 0.4, method=METHOD)
    seen, state = set(), None
    for cut in (0.1, 0.2012, 0.21, 0.25, 0.4):
        run = pl.simulate(system, cut, method=METHOD, start=state)
        text = run.final_state.to_json()
        state = pl.results.state.FinalState.from_json(text)
        seen |= {record.grip[0] for _, record in state.closed.values()}
        assert state.to_json() == text
    assert seen == {-1.0, 1.0, 2.0, 3.0}  # returns, sticks, yields, creeps
    assert np.max(np.abs(run.values["q"][-1] - whole.values["q"][-1])) < 1e-9
    assert np.max(np.abs(run.values["v"][-1] - whole.values["v"][-1])) < 1e-8


def carrying(drive: bool = False, controller: bool = False, load: bool = False, motion: bool = False) -> pl.System:
    """A pendulum that touches a floor; with a lagging motor, a controller or another load in addition."""
    system = pl.System("pendulum", (0, -9.81))
    joint = pl.Revolute(motion=lambda t: -0.2 + 0.1 * t) if motion else pl.Revolute(angle=-0.2)
    rod = system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=joint)
    floor = pl.Plane(point=(0.0, -0.5), normal=(0, 1))
    system.contact(points=rod.tip, against=floor, normal=pl.HuntCrossley(stiffness=1e5, restitution=0.6))
    if drive:
        system.motor("servo", "rod.angle", pl.Motor(constant=0.1, resistance=1.0, inductance=0.01), command=1.0, start=0.3)
    if controller:
        system.sampled("pd", 1e-3, lambda t, q, v, measured, memory: -q["rod.angle"], outputs="torque", start={"torque": 0.7})
        system.drive("motor", "rod.angle", lambda t, q, v: q["pd.torque"])
    if load:
        system.force("push", rod.tip, (0.0, 1.0))
    return system


@pytest.mark.parametrize("more", [{"drive": True}, {"controller": True}, {"load": True}])
def test_a_start_is_taken_by_name_and_what_it_does_not_know_has_its_own(more: dict[str, bool]) -> None:
    first = pl.simulate(carrying(), 0.6, save=[0.6])
    later = pl.simulate(carrying(**more), 0.7, start=first, save=[0.6, 0.7])
    assert later["rod.angle"][0] == first["rod.angle"][-1] and later["v", "rod.angle"][0] == first["v", "rod.angle"][-1]
    assert later.ok and later.ledger.relative_error_max < 1e-7
    if "drive" in more:
        assert later["servo.current"][0] == 0.3
    back = pl.simulate(carrying(), 0.8, start=later)
    assert back.ok and back["rod.angle"][0] == later["rod.angle"][-1] and back.ledger.relative_error_max < 1e-7


def test_a_contact_that_is_closed_stays_so_under_another_load() -> None:
    rest = pl.equilibrium(carrying())
    assert rest.contacts["contact rod.tip"].closed
    later = pl.simulate(carrying(load=True), 0.2, start=rest)
    assert later.ok and len(later.contacts) == 1 and later.contacts[0].begin == 0.0


def test_a_start_that_prescribed_what_moves_now_is_refused() -> None:
    first = pl.simulate(moved_beside(), 0.1)
    with pytest.raises(
        pl.ModelError, match=r"start must know rod\.angle, the rate of rod\.angle, whose motion was prescribed there"
    ):
        pl.simulate(moved_beside(motion=False), 0.2, start=first)


def moved_beside(motion: bool = True) -> pl.System:
    system = carrying(motion=motion)
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(), on=system.ground.moved((3.0, 0.0)))
    return system

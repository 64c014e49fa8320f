"""Members in lock-step are judged, warned about, refused and prepared as single runs are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pliant as pl
import registered
from pliant.ensemble import loop_choice, member_warnings
from pliant.ensemble.lockstep_model import why_not
from pliant.ensemble.member_starts import _Look
from pliant.ensemble.store import EnsembleStore
from pliant.errors import ModelError
from pliant.gallery.slider_crank.system import driven_crank
from pliant.integrate.methods.method import METHODS
from pliant.integrate.time_pieces import time_pieces
from pliant.run import accounts
from pliant.run.inertia import InertiaCheck, judged_rates
from pliant.trace import timed

METHOD = pl.Tsit5(rtol=1e-6, atol=1e-9)  # its loop is compiled soonest


def outstretched() -> tuple[pl.System, dict[str, np.ndarray]]:
    """All mass in the last point: when both links are in line, nothing resists a motion along them."""
    system = pl.System("wand", gravity=(0, -9.81))
    first = system.add("first", pl.RigidBody(mass=0.0, inertia=0.0), joint=pl.Revolute(angle=0.2))
    elbow = first.at((1.0, 0.0))
    system.add("second", pl.RigidBody(mass=1.0, inertia=0.0, com=(0.7, 0.0)), joint=pl.Revolute(angle=0.5), on=elbow)
    return system, {"second.angle": np.array([0.5, 1e-7, 0.6, 2e-8, 0.7, 3e-4])}


def nowhere_to_push() -> tuple[pl.System, dict[str, np.ndarray]]:
    """A ball on a strut that may start inside another ball, or where the strut begins."""
    system = pl.System("two balls", gravity=(0, 0))
    left = system.add("left", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(-0.5, 0), velocity=(1.0, 0)))
    right = system.add("right", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
    system.contact(points=pl.Sphere(left.root, 0.01), against=pl.Sphere(right.root, 0.01), normal=pl.Hertz(stiffness=1e4))
    system.strut("spring", left.root, system.ground.moved((1.0, 0.0)), stiffness=100.0, rest=0.2)
    return system, {"left.x": np.array([-0.5, 1e-16, -0.3, 1.0 + 1e-9])}


@pytest.mark.parametrize(("case", "words"), [(outstretched, ("singular",) * 2), (nowhere_to_push, ("concentric", "zero length"))])
def test_every_start_is_judged_as_that_of_a_single_run(case, words) -> None:
    system, starts = case()
    compiled = pl.compile_system(system)
    general, own = (pl.ensemble(compiled, 0.01, starts=starts, method=METHOD, loop=loop) for loop in ("general", "lockstep"))
    assert own.message.values.tolist() == general.message.values.tolist()
    assert np.flatnonzero(~own.ok.values).tolist() == [1, 3]
    assert words[0] in str(own.message[1].item()) and words[1] in str(own.message[3].item())


def test_the_judged_mass_matrix_is_that_of_kinetic_energies() -> None:
    """v^T M v = 2 T at given rates, less what prescribed motions have: the derivation that single runs use."""
    compiled = pl.compile_system(driven_crank())
    traced, p = compiled.traced, compiled.traced.parameters(0.3, 1.0)
    count, (first, second) = len(traced.free_v), judged_rates(traced)[1]
    state = traced.y0 + np.linspace(-0.1, 0.1, traced.y0.size)
    entries = _Look.of(compiled).code(0.3, state, p)
    mass = np.diag(entries[:count])
    mass[first, second] = mass[second, first] = entries[count:]
    rates = np.random.default_rng(1).normal(size=(5, count))
    energies = InertiaCheck(compiled, traced.layout.observed["kinetic"].start)._quadratic(0.3, state, p, rates)
    assert traced.tree.prescribed and count > 2
    np.testing.assert_allclose(np.einsum("ri,ij,rj->r", rates, mass, rates), energies, rtol=1e-9)


def doubtful_model() -> pl.System:
    """A soft arm that may bend and turn too far, and a ball that may start deep, hit hard, or bounce otherwise than requested."""
    bounce = pl.Parameter("bounce", 0.3, low=0.1, high=1.0)
    system = pl.System("doubtful", gravity=(0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.004, width=0.03), material=pl.ALUMINIUM,
                   theory="euler-bernoulli", modes=pl.Modes("cf", 1), stiffening="none")  # fmt: skip
    system.add("arm", beam, joint=pl.Revolute(angle=-1.5))
    ball = system.add("ball", pl.RigidBody(mass=1.5, inertia=1e-3), joint=pl.Planar(position=(2.0, 0.06)))
    law = pl.HuntCrossley(stiffness=1e6, restitution=bounce)
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=law)
    return system


ARM, DEEP, LAW, HARD = "beam 'arm'", "starts", "HuntCrossley", "pressed about"


def shapes(dataset) -> list[list[str]]:
    """Warnings without their numbers, and without the time of the hardest contact, which lock-step does not keep."""
    plain = [
        [re.sub(r"( at t =)? -?[\d.]+(e[-+]?\d+)?( s)?", " #", line) for line in own.split("\n")] for own in dataset.warnings.values
    ]
    return [[line.replace(" deep #,", " deep,") for line in own] for own in plain]


def test_members_have_the_warnings_of_single_runs() -> None:
    starts = {"ball.y": np.array([0.06, 0.0448, 0.06, 0.06, 0.06]), "arm.y1": np.array([0.0, 0.0, 0.3, 0.0, 0.0])}
    rates = {"ball.y": np.array([0.0, 0.0, 0.0, -8.0, 0.0])}
    options = {"starts": starts, "rates": rates, "parameters": {"bounce": [0.9, 0.9, 0.9, 0.9, 0.2]}, "keep": ("final", "warnings")}
    system = doubtful_model()
    general, own = (pl.ensemble(system, 0.06, method=METHOD, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.ok.all() and shapes(own) == shapes(general)
    said = [{word for word in (ARM, DEEP, LAW, HARD) if word in own} for own in own.warnings.values.tolist()]
    assert said == [set(), {DEEP, HARD}, {ARM}, {HARD}, {LAW}]


def test_members_that_are_cleared_together_would_have_no_warnings_by_themselves(monkeypatch) -> None:
    """A few of a hundred start deep, hit hard or bend too far; the energies of some are off, by a stricter rule."""
    rng, count = np.random.default_rng(1), 100
    height, bent, speed = np.full(count, 0.06), np.zeros(count), np.zeros(count)
    height[[3, 70]], bent[[5, 71, 99]], speed[[7, 40]] = 0.0459, 0.3, -8.0
    starts = {"ball.y": height + 1e-4 * rng.uniform(size=count), "arm.y1": bent}
    system = doubtful_model()
    options = {"starts": starts, "rates": {"ball.y": speed}, "parameters": {"bounce": 0.9}, "loop": "lockstep", "keep": "warnings"}
    for share in (None, 1e-8):
        with monkeypatch.context() as patch:
            if share is not None:
                patch.setattr(accounts, "TOLERANCES", share / METHOD.rtol)
                patch.setattr(accounts, "ROUND_OFF", 0.0)
                patch.setattr(accounts, "AT_REST", 0.0)
            own = pl.ensemble(system, 0.06, method=METHOD, **options)
            patch.setattr(member_warnings, "FEW", count)
            alone = pl.ensemble(system, 0.06, method=METHOD, **options)
        assert own.warnings.values.tolist() == alone.warnings.values.tolist()
        said = set(np.flatnonzero(own.warnings.values != "").tolist())
        assert said >= {3, 5, 7, 40, 70, 71, 99} and (len(said) > 7) == (share is not None)
    single = []
    monkeypatch.setattr(member_warnings, "warnings_of", lambda evidence: single.append(evidence) or ())
    pl.ensemble(system, 0.06, method=METHOD, **options)
    assert 7 <= len(single) < count


def test_a_sweep_in_lock_step_has_the_warnings_of_the_plain_one() -> None:
    run = {"t_end": 0.06, "method": METHOD, "save": 0.01}
    options = {"over": {"bounce": [0.2, 0.9]}, "run": run, "keep": "ball.y"}
    plain, own = (pl.sweep(doubtful_model(), device=device, **options) for device in (None, "cpu"))
    assert own.attrs["loop"] == "lockstep" and plain.warnings.values.tolist() == own.warnings.values.tolist()
    assert [LAW in sentence for sentence in own.warnings.values] == [True, False]


def test_events_that_have_no_value_are_told() -> None:
    """The logarithm of a height below zero: the first stone falls so far, the second does not."""
    system = pl.System("fall", gravity=(0, -9.81))
    system.add("stone", pl.RigidBody(mass=1.5, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    system.event("low", lambda t, q, v: pl.log(q["stone.y"] - 0.5) + 9.0, stop=True)
    options = {"starts": {"stone.y": [1.0, 9.0]}, "method": METHOD, "keep": ("final", "warnings")}
    general, own = (pl.ensemble(system, 1.0, loop=loop, **options) for loop in ("general", "lockstep"))
    assert own.warnings.values.tolist() == general.warnings.values.tolist()
    assert ["'low' could not be evaluated" in sentence for sentence in own.warnings.values] == [True, False]
    assert own.attrs["loop"] == "lockstep" and own.attrs["run_by_simulate"] == 1


def stiff_model() -> pl.System:
    """A strong damper: nothing moves within its microsecond, but explicit steps are as short."""
    damping = pl.Parameter("damping", 1e6, low=0.0)
    system = pl.System("damped", gravity=(0, -9.81))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=0.1, com=(0.3, 0.0)), joint=pl.Revolute(damper=pl.Damper(damping)))
    return system


def test_auto_runs_by_its_explicit_method_unless_it_takes_implicit_steps() -> None:
    system, few = stiff_model(), {"damping": [0.1, 0.2, 0.3]}
    own = pl.ensemble(system, 0.5, parameters=few, loop="lockstep")
    assert own.attrs["loop"] == "lockstep; with DOP853(rtol=1e-09, atol=1e-12), because Auto took no implicit steps in trial runs"
    given = pl.ensemble(system, 0.5, parameters=few, loop="lockstep", method="DOP853")
    np.testing.assert_array_equal(own.q_end, given.q_end)
    words = r"by Radau9 in a trial run.*write method=pl.DOP853\(rtol=1e-09, atol=1e-12\), or in a model file method: {dop853:"
    for damping in ([1e6, 0.1, 0.1], [0.1, 0.1, 1e6]):
        with pytest.raises(ModelError, match=words):
            pl.ensemble(system, 0.5, parameters={"damping": damping}, loop="lockstep")
    assert "2 members finish sooner" in pl.ensemble(system, 0.1, parameters={"damping": [0.1, 1e6]}).attrs["loop"]


def test_the_default_is_lock_step_where_that_pays_and_nothing_is_stiff(monkeypatch) -> None:
    monkeypatch.setattr(loop_choice, "FEWEST", 3)
    starts = {"mass.angle": np.linspace(0.1, 0.3, 4)}
    short = pl.ensemble(stiff_model(), 0.1, starts=starts, parameters={"damping": 0.1})
    assert "4 members finish sooner" in short.attrs["loop"]  # as counted in trial runs
    monkeypatch.setattr(loop_choice, "EVALUATION", 1.0)
    own = pl.ensemble(stiff_model(), 0.1, starts=starts, parameters={"damping": 0.1})
    assert own.attrs["loop"].startswith("lockstep; with DOP853")
    np.testing.assert_allclose(own.q_end, short.q_end, rtol=1e-8)
    stiff = pl.ensemble(stiff_model(), 0.1, starts=starts)
    assert stiff.ok.all() and "general: Auto took" in stiff.attrs["loop"]


def test_members_whose_formulas_of_time_read_the_same_run_together(monkeypatch) -> None:
    """Others, whose pulses come at other times, are run by `simulate`; all have its bits."""
    speed = pl.Parameter("speed", 7.3)
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(length=0.3, mass=1.5), joint=pl.Revolute(angle=pl.Parameter("angle", -0.2)))
    system.drive("motor", "arm.angle", lambda t, q, v: 0.1 * pl.sin(speed * t) + pl.exp(-(((t - 0.1) / 0.001) ** 2)))
    alone: list[int] = []
    run_alone = EnsembleStore.run_alone
    monkeypatch.setattr(EnsembleStore, "run_alone", lambda self, k, *others: alone.append(k) or run_alone(self, k, *others))
    angles = [0.1, 0.2, 0.3]
    together = pl.ensemble(system, 0.3, loop="general", starts={"arm.angle": angles})
    assert together.ok.all() and not alone
    mixed = pl.ensemble(system, 0.3, loop="general", threads=1, parameters={"speed": [7.3, 2.0, 7.3], "angle": angles})
    assert mixed.ok.all() and alone == [1]
    for k, angle in enumerate(angles):
        for own, other in ((together, 7.3), (mixed, [7.3, 2.0, 7.3][k])):
            run = pl.simulate(system, 0.3, save=[0.3], parameters={"speed": other, "angle": angle})
            assert own.q_end.values[k] == run["arm.angle"][-1]


def test_a_member_that_proves_stiff_is_run_by_auto_itself() -> None:
    """It is none of those in trial runs, and would take half a million explicit steps."""
    damping = [0.1, 1e6, 0.2, 0.3, 0.4]
    own = pl.ensemble(stiff_model(), 0.5, parameters={"damping": damping}, loop="lockstep")
    alone = pl.simulate(stiff_model(), 0.5, parameters={"damping": 1e6}, save=[0.5])
    assert own.ok.all() and own.steps[1] == alone.stats["steps"] < 1000
    np.testing.assert_array_equal(own.q_end[1], alone.values["q"][-1])


def test_a_sweep_by_auto_says_which_method_it_took() -> None:
    over, run = {"damping": [0.1, 0.2]}, {"t_end": 0.2, "save": 0.1}
    own, plain = (pl.sweep(stiff_model(), over=over, run=run, keep="q", device=device) for device in ("cpu", None))
    assert own.attrs["loop"].startswith("lockstep; with DOP853(rtol=1e-09")
    np.testing.assert_allclose(own["q"], plain["q"], rtol=1e-8)
    with pytest.raises(ModelError, match="Radau9 in a trial run"):
        pl.sweep(stiff_model(), over={"damping": [1e6, 2e6]}, run=run, keep="q", device="cpu")
    stiff = pl.sweep(stiff_model(), over={"damping": [1e6]}, run=run, keep="q", device="auto")
    assert stiff.ok.all() and "one by one: Auto took" in stiff.attrs["loop"]


@pytest.mark.parametrize(
    ("kind", "name", "examined"),
    [("starts", "arm.angle", 1), ("rates", "arm.angle", 5), ("parameters", "gain", 1), ("parameters", "speed", 5)],
)
def test_formulas_of_time_are_examined_once_for_members_that_agree_in_what_they_read(kind, name, examined, monkeypatch) -> None:
    gain, speed = pl.Parameter("gain", 0.3), pl.Parameter("speed", 7.3)
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody(mass=1.5, inertia=0.1, com=(0.3, 0.0)), joint=pl.Revolute(angle=0.2, damper=pl.Damper(gain)))
    system.drive("motor", "arm.angle", lambda t, q, v: pl.sin(speed * t) - 0.1 * v["arm.angle"])
    seen: list[float] = []
    pl.clear_compiled()  # what earlier cases found is kept with the structure
    monkeypatch.setattr(timed, "time_pieces", lambda *arguments: seen.append(0.0) or time_pieces(*arguments))
    members = {"parameters": {"gain": 0.3}, kind: {name: np.linspace(0.31, 0.47, 5)}}
    own = pl.ensemble(system, 0.3, method=METHOD, loop="lockstep", **members)
    assert own.ok.all() and len(seen) == examined


def arm(joint: pl.Joint | None = None) -> tuple[pl.System, pl.BodyHandle]:
    system = pl.System("arm", gravity=(0, -9.81))
    return system, system.add("arm", pl.RigidBody.rod(length=0.3, mass=1.5), joint=joint or pl.Revolute(angle=-0.2))


def holding() -> pl.System:
    system = pl.System("box", gravity=(0, -9.81))
    box = system.add("box", pl.RigidBody(mass=1.5, inertia=1e-3), joint=pl.Planar(position=(0.0, 0.05)))
    laws = {"normal": pl.Hertz(stiffness=1e6), "friction": pl.Karnopp(mu_static=0.5, mu_kinetic=0.4)}
    system.contact(points=pl.Sphere(box.root, 0.05), against=pl.Plane(normal=(0, 1)), **laws)
    return system


def rubbing_joint() -> pl.System:
    return arm(pl.Revolute(friction=pl.JointFriction(pl.DryFriction(mu_static=0.4, mu_kinetic=0.3), radius=0.02)))[0]


def sampled() -> pl.System:
    system, _ = arm()
    system.sampled("pd", 0.01, lambda t, q, v, measured, memory: -q["arm.angle"], outputs="torque")
    system.drive("motor", "arm.angle", lambda t, q, v: q["pd.torque"])
    return system


def implied_closure() -> pl.System:
    """A parallelogram with a third bar that holds what the other two do."""
    system = pl.System("parallelogram", gravity=(0, -9.81))
    bar, hinge, places = pl.RigidBody.rod(length=0.3, mass=0.5), pl.Revolute(angle=1.0), (0.0, 0.2, 0.4)
    bars = [system.add(f"bar{k}", bar, joint=hinge, on=system.ground.moved((x, 0.0))) for k, x in enumerate(places)]
    plate = system.add("plate", pl.RigidBody.rod(length=0.4, mass=1.0), joint=pl.Revolute(angle=-1.0), on=bars[0].tip)
    for k in (1, 2):
        system.close(f"pin{k}", "point", bars[k].tip, plate.at((places[k], 0.0)))
    return system


def plain() -> pl.System:
    return arm()[0]


@pytest.mark.parametrize(
    ("model", "options", "words", "row"),
    [
        (holding, {}, "friction that can stick", "friction that can stick"),
        (rubbing_joint, {}, "joint friction", "joint friction"),
        (sampled, {}, "sampled controllers", "sampled controllers"),
        (implied_closure, {}, "closures are implied", "closures that others imply"),
        (plain, {"keep": "records"}, 'keep="records"', "a record of every touch"),
        (plain, {"method": pl.Radau5(1e-6, 1e-9)}, "Radau5 is not an explicit method", "`Radau5`"),
        (plain, {"method": pl.Rodas5P(1e-6, 1e-9)}, "Rodas5P is not an explicit method", "`Rodas5P`"),
        (plain, {"method": pl.RealTime(1e-3)}, "RealTime is not an explicit method", "`RealTime`"),
        (plain, {"method": pl.ODE45()}, "ODE45 has step rules of its own", "`ODE45`"),
        (plain, {"method": pl.RK4(1e-3)}, "RK4 is not an explicit method with an error estimate", "`RK4`"),
        (
            plain,
            {"method": pl.VariablePrecisionRK4(1e-6, 1e-9)},
            "VariablePrecisionRK4 changes its precision",
            "`VariablePrecisionRK4`",
        ),
        (plain, {"method": pl.TwoLoop(1e-6, 1e-9)}, "TwoLoop integrates independent coordinates", "`TwoLoop`"),
    ],
)
def test_what_lock_step_cannot_run_is_refused_or_runs_in_the_general_loop_and_says_so(model, options, words: str, row: str) -> None:
    system, options = model(), {"method": METHOD, "keep": "final", **options}
    for asked in ({"loop": "lockstep"}, {"device": "gpu"}):
        with pytest.raises(ModelError, match=f"ensemble: loop must be 'general' here: .*{words}.*, got ") as refused:
            pl.ensemble(system, 0.02, **asked, **options)
    own, general = (pl.ensemble(system, 0.02, loop=loop, **options) for loop in ("auto", "general"))
    assert own.ok.all() and own.attrs["loop"].startswith("general: ") and own.attrs["loop"][9:] in str(refused.value)
    xr.testing.assert_equal(own, general)
    assert next(one for one in rows_of_features() if row in one[0])[1:3] == ("yes", "no")


def rows_of_features() -> list[tuple[str, ...]]:
    """The table of features in the docs: each cell up to its reason."""
    page = (Path(__file__).parents[2] / "docs/million_mechanisms.md").read_text()
    table = page.split("| feature |")[1].split("\n\n")[0].splitlines()[2:]
    return [tuple(cell.split(":")[0].strip() if k else cell for k, cell in enumerate(row.strip("|").split("|"))) for row in table]


@pytest.mark.parametrize("kind", METHODS)
def test_the_table_of_features_says_of_every_method_where_it_runs(kind) -> None:
    cells = [row[1:] for row in rows_of_features() if f"`{kind.__name__}`" in row[0]]
    runs = not why_not(pl.compile_system(plain()), registered.METHOD[kind].alternatives[0])
    assert cells and all(row[0] == "yes" for row in cells) and any(row[1] == row[2] == "yes" for row in cells) == runs


@pytest.mark.parametrize("loop", ["general", "lockstep"])
def test_members_that_bounce_slower_than_the_floor_of_their_law_are_told(loop) -> None:
    """A ball to and fro between two walls: slower than entry_floor, at which the damping fades, or faster."""
    system = pl.System("ball", gravity=(0, 0))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="y"))
    for name, normal, at in (("low", 1, -1e-5), ("high", -1, 1e-5)):
        wall, law = pl.Plane(normal=(0, normal), point=(0, at)), pl.Exact(stiffness=1e9, restitution=0.7)
        system.contact(points=ball.root, against=wall, normal=law, name=name)
    speeds = np.array([4e-4, 4e-2] * 10)
    many = pl.ensemble(system, 0.5, rates={"ball.displacement": speeds}, keep=("contacts", "warnings"), loop=loop)
    slow = speeds < 1e-3
    assert np.array_equal(["entry_floor = 0.001 m/s" in sentences for sentences in many.warnings.values.tolist()], slow)
    assert np.all(many.touches > 1)
    assert np.allclose(many.entry_speed.values[:, 1], speeds, rtol=1e-5)

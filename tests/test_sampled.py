"""Sampled controllers: against exact discretisation, at several rates, with delays, and everything they must go along with."""

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl

INERTIA, DRAG = 1.0 / 3.0, 0.2  # kg m^2 of a rod of 1 m and 1 kg about its end; N m s/rad
A = np.array([[0.0, 1.0], [0.0, -DRAG / INERTIA]])
B = np.array([0.0, 1.0 / INERTIA])
KP, KD = 8.0, 2.0
START = np.array([0.3, 0.0])  # rad, rad/s
H = 0.01  # s
PRECISE = pl.DOP853(rtol=1e-12, atol=1e-14)


def plant():
    """A rod on a damped pin."""
    system = pl.System("plant", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=0.3, damper=pl.Damper(DRAG)))
    return system


def feedback(t, q, v, measured, memory):
    return -KP * q["arm.angle"] - KD * v["arm.angle"]


def controlled(update=feedback, period=H, **options):
    system = plant()
    system.sampled("ctrl", period, update, outputs="u", **options)
    system.drive("motor", "arm.angle", lambda t, q, v: q["ctrl.u"])
    return system


def held(x, u, dt):
    """The plant after dt under a constant torque, exactly."""
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2] = A * dt, B * dt
    return (expm(whole) @ (*x, u))[:2]


def law(x):
    return -KP * x[0] - KD * x[1]


def exact(steps, acting):
    """States at instants; acting(k, outputs): what acts in period k, as (share of the period, torque) one after the other."""
    x, states, outputs = START, [START], []
    for k in range(steps):
        outputs.append(law(x))
        for share, u in acting(k, outputs):
            x = held(x, u, share * H)
        states.append(x)
    return np.array(states), np.array(outputs)


def at(outputs, k):
    return outputs[k] if k >= 0 else 0.0


DELAYS = {  # in periods
    0.0: lambda k, u: [(1.0, u[k])],
    0.25: lambda k, u: [(0.25, at(u, k - 1)), (0.75, u[k])],
    1.0: lambda k, u: [(1.0, at(u, k - 1))],
    1.5: lambda k, u: [(0.5, at(u, k - 2)), (0.5, at(u, k - 1))],
    2.0: lambda k, u: [(1.0, at(u, k - 2))],
}


@pytest.mark.parametrize("delay", DELAYS)
def test_state_feedback_is_the_exactly_discretised_plant(delay):
    run = pl.simulate(controlled(delay=delay * H), 1.0, method=PRECISE, save=H)
    states, outputs = exact(100, DELAYS[delay])
    assert np.max(np.abs(np.column_stack([run["arm.angle"], run.rate("arm.angle")]) - states)) < 1e-12
    if delay == 0.0:
        assert run["ctrl.u"][:-1] == pytest.approx(outputs, abs=1e-11)  # a row at an instant shows what acts from then on
        assert run["ctrl.u"][-1] == run["ctrl.u"][-2]  # the instant at the end belongs to who goes on
    assert np.max(np.abs(run.ledger.balance_error)) < 1e-12


@pytest.mark.parametrize("method", [pl.Radau5(rtol=1e-11, atol=1e-13), pl.Rodas5P(rtol=1e-11, atol=1e-13), pl.RK4(1e-3), pl.Auto()],
                         ids=lambda method: type(method).__name__)  # fmt: skip
def test_every_family_of_methods_holds_outputs(method):
    states, _ = exact(50, DELAYS[1.5])
    run = pl.simulate(controlled(delay=1.5 * H), 0.5, method=method, save=[0.5])
    assert run["arm.angle"][-1] == pytest.approx(states[-1, 0], abs=1e-9)


def test_two_rates_run_in_the_order_of_their_declaration():
    """A slow outer loop gives the fast inner one its aim; at common instants the inner sees what the outer has just put out."""
    system = plant()
    system.sampled("outer", 3 * H, lambda t, q, v, measured, memory: -4.0 * q["arm.angle"], outputs="speed")
    system.sampled("inner", H, lambda t, q, v, measured, memory: 2.0 * (q["outer.speed"] - v["arm.angle"]), outputs="u")
    system.drive("motor", "arm.angle", lambda t, q, v: q["inner.u"])
    run = pl.simulate(system, 0.9, method=PRECISE, save=H)
    x, states, aim = START, [START], 0.0
    for k in range(90):
        aim = -4.0 * x[0] if k % 3 == 0 else aim
        x = held(x, 2.0 * (aim - x[1]), H)
        states.append(x)
    assert np.max(np.abs(np.column_stack([run["arm.angle"], run.rate("arm.angle")]) - states)) < 1e-12


def counting(t, q, v, measured, memory):
    memory["n"] = memory["n"] + 1.0
    return memory["n"]


def test_instants_of_rates_that_are_no_multiples_of_each_other():
    """Periods of 7 ms and 10 ms: each counts its own instants, 70 ms apart they fall together."""
    system = plant()
    for name, period in (("a", 7e-3), ("b", 1e-2)):
        system.sampled(name, period, counting, outputs="y", start={"n": 0.0})
    run = pl.simulate(system, 0.7005, save=[0.7005])
    assert (run["a.n"][-1], run["b.n"][-1]) == (101.0, 71.0)


def pid(t, q, v, measured, memory):
    error = -pl.quantise(q["arm.angle"], 1e-3)
    memory["sum"] = memory["sum"] + H * error
    return pl.saturate(KP * error + 5.0 * memory["sum"], 0.8)


def test_memory_quantisation_and_saturation():
    run = pl.simulate(controlled(pid, start={"sum": 0.02, "u": 0.1}), 0.5, method=PRECISE, save=H)
    x, total = START, 0.02
    for k in range(50):
        error = -1e-3 * np.floor(x[0] / 1e-3 + 0.5)
        total += H * error
        u = np.clip(KP * error + 5.0 * total, -0.8, 0.8)
        assert run["ctrl.u"][k] == pytest.approx(u, abs=1e-10) and run["ctrl.sum"][k] == pytest.approx(total, abs=1e-12)
        x = held(x, u, H)
    assert np.max(np.abs(run["ctrl.u"])) == 0.8


def test_a_plain_python_function_is_called_at_its_instants():
    calls = []

    def network(t, q, v, measured, memory):
        calls.append((t, type(q["arm.angle"]), measured["tip_position arm y"]))
        return np.array([-KP * q["arm.angle"] - KD * v["arm.angle"]])

    run = pl.simulate(controlled(network, compiled=False, delay=1.5 * H), 0.2, method=PRECISE, save=H)
    twin = pl.simulate(controlled(delay=1.5 * H), 0.2, method=PRECISE, save=H)
    assert np.max(np.abs(run["arm.angle"] - twin["arm.angle"])) < 1e-14
    assert [t for t, _, _ in calls] == pytest.approx([k * H for k in range(20)])
    assert all(kind is float for _, kind, _ in calls) and calls[0][2] == pytest.approx(np.sin(0.3))


@pytest.mark.parametrize("end", [0.1, 0.104, 0.107])  # at an instant, between sampling and acting, after that
@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_in_two_pieces_is_the_run(end, compiled, tmp_path):
    system = controlled(pid, start={"sum": 0.02}, delay=1.5 * H, compiled=compiled)
    whole = pl.simulate(system, 0.2, save=[0.2])
    pl.simulate(system, end).to_netcdf(tmp_path / "first.nc")
    second = pl.simulate(system, 0.2, start=pl.Result.from_netcdf(tmp_path / "first.nc"), save=[0.2])
    for name in ("arm.angle", "ctrl.u", "ctrl.sum"):
        assert second[name][-1] == pytest.approx(whole[name][-1], abs=1e-12)


def test_instants_that_round_off_moves_are_met_once():
    """Pieces of 0.1 s as 0.1 + 0.1 + ... : instants fall on their ends but for round-off."""
    system = controlled(counting, period=0.1, start={"n": 0.0})
    run, t = None, 0.0
    for _ in range(10):
        t += 0.1
        run = pl.simulate(system, t, start=run)
    assert run["ctrl.n"][-1] == 10.0  # at 0, 0.1 ... 0.9; the one at 1.0 is left


def test_measured_are_quantities_of_results_as_of_the_instant():
    system = pl.System("weighing", gravity=(0.0, -9.81))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Weld())
    system.add("wheel", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(damper=pl.Damper(1.0)))
    system.sampled("scale", H, lambda t, q, v, measured, memory: measured["reaction_force arm y"], outputs="force")
    run = pl.simulate(system, 0.05, save=H)
    assert run["scale.force"] == pytest.approx(9.81, abs=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_contact_force_is_seen_by_a_controller(compiled):
    """As results show it, from the first instant on, also where a run goes on."""
    system = pl.System("press", gravity=(0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Prismatic(axis="y", displacement=0.0999))
    (pair,) = system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal="y"),
                             normal=pl.HuntCrossley(stiffness=1e7, restitution=0.3))  # fmt: skip
    system.sampled("sensor", 1e-3, lambda t, q, v, measured, memory: measured[f"normal_force {pair}"], outputs="n",
                   compiled=compiled)  # fmt: skip
    first = pl.simulate(system, 2e-3, save=1e-3)
    second = pl.simulate(system, 0.3, start=first, save=1e-3)
    for run in (first, second):
        n = run.values["normal_force"][:, 0]
        assert n[0] > 1.0 and np.max(np.abs(run["sensor.n"][:-1] - n[:-1])) < 1e-6 * np.max(n)


def test_outputs_that_push_a_comparison_across_switch_it_there():
    """Brake torque acts while the angle is below the held limit, which jumps from 1 to 0 at the second instant."""
    system = plant()
    limit = lambda t, q, v, measured, memory: pl.where(t < 0.5 * H, 1.0, 0.0)  # noqa: E731
    system.sampled("ctrl", H, limit, outputs="limit")
    system.state("time_below", rate=lambda t, q, v: pl.where(q["arm.angle"] < q["ctrl.limit"], 1.0, 0.0))
    system.event("tripped", lambda t, q, v: q["ctrl.limit"] - 0.5)
    run = pl.simulate(system, 5 * H, save=H)
    assert run["time_below"][-1] == pytest.approx(H, abs=1e-15)
    assert [(event.name, event.t, event.direction) for event in run.events if event.name == "tripped"][-1:] == [("tripped", H, -1)]


def test_an_event_that_outputs_set_off_stops_the_run_and_is_not_met_again():
    system = controlled(counting, start={"n": 0.0})
    system.event("enough", lambda t, q, v: q["ctrl.n"] - 3.5, stop=True)
    first = pl.simulate(system, 1.0, save=H)
    assert first.ok and first.time[-1] == pytest.approx(3 * H) and first["ctrl.n"][-1] == 4.0
    second = pl.simulate(system, 6.5 * H, start=first, save=[6.5 * H])
    assert second["ctrl.n"][-1] == 7.0


def test_friction_that_holds_gives_way_at_the_instant_that_asks_for_more():
    """A foot of 0.5 kg under a cart holds 0.5 m g = 2.45 N; the push jumps from 1 N to 8 N at 0.05 s."""
    system = pl.System("push", gravity=(0.0, -9.81))
    cart = system.add("cart", pl.RigidBody(mass=0.5, inertia=0.01), joint=pl.Prismatic(axis="x"))
    foot = system.add("foot", pl.RigidBody(mass=0.5, inertia=0.01), joint=pl.Prismatic(axis="y"), on=cart.root)
    system.contact(points=foot.root, against=pl.Plane(normal="y"), normal=pl.HuntCrossley(stiffness=1e6, restitution=0.2),
                   friction=pl.Karnopp(mu_static=0.5, mu_kinetic=0.4, band=1e-3))  # fmt: skip
    system.sampled("push", H, lambda t, q, v, measured, memory: pl.where(t < 4.5 * H, 1.0, 8.0), outputs="force")
    system.drive("motor", "cart.displacement", lambda t, q, v: q["push.force"])
    run = pl.simulate(system, 0.15, save=[0.05, 0.15])
    slid = 0.5 * (8.0 - 0.4 * 0.5 * 9.81) / 1.0 * 0.1**2  # m
    assert abs(run["cart.displacement"][0]) < 1e-4  # as it settles
    assert run["cart.displacement"][1] - run["cart.displacement"][0] == pytest.approx(slid, rel=2e-3)
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("compiled", [True, False])
def test_limits_progress_and_interruption_hold_between_instants(compiled):
    """However few steps lie between two instants, the time is reported, limits end the run, and so does what progress raises."""
    t_end = 5e4 if compiled else 200.0
    system = controlled(lambda t, q, v, measured, memory: -0.0 * q["arm.angle"], compiled=compiled)
    told: list[float] = []
    run = pl.simulate(system, t_end, save=[0.0], progress=lambda t, t_end: told.append(t), max_seconds=0.5)
    assert not run.ok and "0.5 s of computing time was used up" in run.message and len(told) > 3
    assert told == sorted(told) and run.stats["wall_s"] < 2.0

    def press(t: float, t_end: float) -> None:
        raise KeyboardInterrupt

    stopped = pl.simulate(system, t_end, save=[0.0], progress=press)
    assert stopped.interrupted and not stopped.ok and stopped.final_state.t < t_end


def test_breakpoints_are_no_way_past_the_limits():
    system = plant()
    edges = np.arange(1.0, 20_000.0)
    system.drive("motor", "arm.angle", pl.Formula(lambda t, q, v: -0.0 * q["arm.angle"], breakpoints=edges * 0.01))
    told: list[float] = []
    run = pl.simulate(system, 200.0, save=[0.0], progress=lambda t, t_end: told.append(t), max_seconds=0.1, method=pl.RK4(1e-4))
    assert not run.ok and "computing time was used up" in run.message and told


def test_an_ensemble_and_other_formulations_go_along():
    gain = pl.Parameter("gain", KP)
    system = controlled(lambda t, q, v, measured, memory: -gain * q["arm.angle"] - KD * v["arm.angle"])
    members = pl.ensemble(system, 0.5, parameters={"gain": [KP, 20.0]})
    for k, value in enumerate((KP, 20.0)):
        alone = pl.simulate(system, 0.5, parameters={"gain": value}, save=[0.5])
        assert members.q_end.values[k, 0] == alone["arm.angle"][-1]
    apart = pl.simulate(system, 0.5, formulation="augmented", save=[0.5], method=PRECISE)
    assert apart["arm.angle"][-1] == pytest.approx(exact(50, DELAYS[0.0])[0][-1, 0], abs=1e-10)


def test_many_instants_stay_inside_the_loop_of_an_ensemble():
    """400 instants, more pieces of time than a run hands over at once; what is held is kept like any quantity."""
    system = controlled(period=1e-3)
    members = pl.ensemble(system, 0.4, starts={"arm.angle": [0.3, 0.1]}, keep=["final", pl.ValuesAt([0.2, 0.4], "states")])
    alone = pl.simulate(system, 0.4, save=[0.2, 0.4])
    assert members.q_end.values[0, 0] == alone["arm.angle"][-1]
    assert members["states"].values[0, :, 0].tolist() == alone["ctrl.u"].tolist()


def test_a_closed_loop_is_controlled_and_its_books_balance():
    """A four-bar whose crank is held by a sampled controller that also reads what the coupler's pin carries."""
    system = pl.System("four-bar", gravity=(0.0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(length=0.3, mass=0.3), joint=pl.Revolute(angle=1.0))
    coupler = system.add("coupler", pl.RigidBody.rod(length=0.6, mass=0.6), joint=pl.Revolute(angle=-0.8), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(length=0.5, mass=0.5), joint=pl.Revolute(angle=1.4),
                        on=system.ground.moved((0.7, 0.0)))  # fmt: skip
    system.close("pin", "revolute", coupler.tip, rocker.tip)

    def update(t, q, v, measured, memory):
        return 5.0 * (1.2 - q["crank.angle"]) - v["crank.angle"], measured["multiplier pin 1"]

    system.sampled("ctrl", 1e-3, update, outputs=["u", "carried"])
    system.drive("motor", "crank.angle", lambda t, q, v: q["ctrl.u"])
    run = pl.simulate(system, 0.2, save=1e-3)
    assert run.ok and run.ledger.relative_error_max < 1e-10
    row = run.values["multiplier"][:, list(run.labels["row"]).index("pin 1")]
    assert run["ctrl.carried"][1:-1] == pytest.approx(row[1:-1], rel=0.01)  # just before the instant, and just after
    assert np.max(np.abs(run["ctrl.carried"])) > 1.0


MODEL = """
pliant: 1
system: plant
gravity: [0, 0]
define: {kp: 8}
bodies:
  arm: {rod: {length: 1 m, mass: 1 kg}, joint: {revolute: {angle: 0.3 rad, damper: 0.2}}}
drives:
  motor: {coordinate: arm.angle, effort: "q['ctrl.u']"}
sampled:
  ctrl:
    period: 10 ms
    outputs: u
    update:
      u: "-kp*q['arm.angle'] - 2*v['arm.angle'] + 0*memory['n']*measured['kinetic']"
      n: memory['n'] + 1
    start: {n: 0}
    delay: 15 ms
"""


def test_a_model_file_says_the_same():
    system = pl.loads_model(MODEL).system
    run = pl.simulate(system, 0.5, method=PRECISE, save=H)
    assert np.max(np.abs(run["arm.angle"] - exact(50, DELAYS[1.5])[0][:, 0])) < 1e-12
    assert run["ctrl.n"][-1] == 50.0
    assert pl.dump_model(pl.loads_model(pl.dump_model(system)).system) == pl.dump_model(system)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("n: memory['n'] + 1", "m: memory['n'] + 1", r"sampled.ctrl.update: .*must name only outputs and the memories in start"),
        ("memory['n'] + 1", "memory['k'] + 1", r"sampled.ctrl.update.n: .* is an unknown coordinate"),
        ("q['ctrl.u']", "q['ctrl.v']", r"drives.motor.effort: .* is an unknown coordinate \(did you mean 'ctrl.u'\?\)"),
        ("period: 10 ms", "period: 10 mm", r"sampled.ctrl.period: must be in s, got 'mm', which is of dimension"),
        ("period: 10 ms", "period: 0 ms", r"sampled.ctrl.period: .*period must be > 0 s, got 0.0"),
    ],
)  # fmt: skip
def test_files_refuse_what_is_wrong(old, new, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.loads_model(MODEL.replace(old, new))


def simulated(update=feedback, **options):
    return lambda: pl.simulate(controlled(update, **options), 0.1)


WRONG = {
    "period": (lambda: controlled(period=0.0), r"sampled 'ctrl': period must be > 0 s, got 0.0"),
    "negative period": (lambda: controlled(period=-1.0), r"sampled 'ctrl': period must be > 0 s, got -1.0"),
    "period of a parameter": (lambda: controlled(period=pl.Parameter("h", 0.1)), r"period must be a fixed value"),
    "delay": (lambda: controlled(delay=-H), r"sampled 'ctrl': delay must be >= 0 s, got -0.01"),
    "long delay": (lambda: controlled(delay=2000 * H), r"delay must be at most 1000 periods, got 20.0"),
    "no function": (lambda: controlled(update=3.0), r"update must be a function of \(t, q, v, measured, memory\), got 3.0"),
    "name taken": (lambda: controlled().state("ctrl", 1.0), r"must be unique \(a sampled controller already has this name\), got"),
    "no outputs": (lambda: plant().sampled("c", H, feedback, outputs=[]), r"sampled 'c': outputs must contain at least one name"),
    "same outputs": (lambda: plant().sampled("c", H, feedback, outputs=["u", "u"]), r"outputs must not contain a name twice"),
    "output with a dot": (lambda: plant().sampled("c", H, feedback, outputs="a.b"), r"outputs\[0\] must be a non-empty string"),
    "start": (lambda: controlled(start={"u": float("inf")}), r"start\['u'\] must be a finite number, got inf"),
    "two instead of one": (simulated(lambda t, q, v, measured, memory: (1.0, 2.0)),
                           r"sampled 'ctrl': update must return 1 outputs, u, got '2 of them'"),
    "another name": (simulated(lambda t, q, v, measured, memory: {"w": 1.0}),
                     r"update must return the outputs \['u'\], got \['w'\]"),
    "unknown memory": (simulated(lambda t, q, v, measured, memory: memory.update(k=1.0) or 0.0),
                       r"memory must hold only the names given in start"),
    "unknown measured": (simulated(lambda t, q, v, measured, memory: measured["tip_position arm w"]),
                         r"update: measured must name a number of a result, .*did you mean 'tip_position arm z'"),
    "not declared": (simulated(lambda t, q, v, measured, memory: q["ctrl.w"]), r"q must name one of .*did you mean 'ctrl.u'"),
    "nan of Python": (simulated(lambda t, q, v, measured, memory: float("nan"), compiled=False),
                      r"must return finite numbers, got nan"),
    "too many instants": (lambda: pl.simulate(controlled(period=1e-12), 1.0), r"period must give at most 2e\+07 instants"),
    "linearise": (lambda: pl.linearise(controlled()), r"linearise: system must have no sampled controllers .*, got \['ctrl'\]"),
    "equilibrium": (lambda: pl.equilibrium(controlled()), r"equilibrium: system must have no sampled controllers"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case):
    make, words = WRONG[case]
    with pytest.raises(pl.ModelError, match=words):
        make()


def test_it_is_told_of():
    assert "sampled ctrl: u every 0.01 s, delayed by 0.015 s" in str(controlled(delay=1.5 * H))


@pytest.mark.parametrize("trouble", [KeyError("nope"), ValueError("bad"), RuntimeError("lost"), TypeError("no")])
def test_a_controller_that_fails_ends_the_run_with_what_was_computed(trouble):
    def late(t, q, v, measured, memory):
        if t > 0.15:
            raise trouble
        return feedback(t, q, v, measured, memory)

    run = pl.simulate(controlled(late, compiled=False), 0.5, save=H, method=PRECISE)
    assert not run.ok and not run.interrupted and run.final_state.t == pytest.approx(0.16)
    assert run.message.startswith("a controller that Python runs failed at t = 0.16 s: Python update 'test_a_controller_that")
    assert "of sampled 'ctrl': must" in run.message and str(trouble) in run.message
    whole = pl.simulate(controlled(compiled=False), 0.15, save=H, method=PRECISE)
    assert np.array_equal(run.time, whole.time) and np.allclose(run["arm.angle"], whole["arm.angle"], rtol=0.0, atol=1e-12)


def test_a_controller_that_fails_at_once_is_an_error_and_one_that_is_interrupted_is_no_failure():
    def failing(trouble, t_fail):
        def update(t, q, v, measured, memory):
            if t >= t_fail:
                raise trouble
            return 0.0

        return controlled(update, compiled=False)

    with pytest.raises(pl.ModelError, match=r"of sampled 'ctrl': must have a value .KeyError: 'nope'") as error:
        pl.simulate(failing(KeyError("nope"), 0.0), 0.5)
    assert isinstance(error.value.__cause__, KeyError)
    run = pl.simulate(failing(KeyboardInterrupt(), 0.1), 0.5, save=H)
    assert run.interrupted and run.final_state.t == pytest.approx(0.1)

"""The telescopic link: four derivations of its equations, inverse of forward, every joule, the ends of the sleeve, wrong models."""

import math
import re
from functools import cache

import casadi as ca
import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.codegen.tracer import Tracer
from pliant.dynamics import gibbs_appell
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.tree import build_tree
from pliant.gallery.telescopic_arm.system import MOTION, link, telescopic_arm
from pliant.trace.tracing import FORMULATIONS, trace

EVERY_WAY = [pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1)]
TIGHT = pl.DOP853(rtol=1e-12, atol=1e-15)
DAMPINGS = (pl.KelvinVoigt(1e7), pl.AirDrag(2.0), pl.Rayleigh(alpha=1.0, beta=1e-5), pl.ModalDamping(0.02))
FRICTIONS = (
    pl.Coulomb(mu=0.3),
    pl.CoulombStiction(mu_static=0.4, mu_kinetic=0.3, v_kinetic=0.01),
    pl.CoulombViscous(mu=0.2, viscous=0.1),
    pl.Stribeck(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01),
    pl.Threlfall(mu=0.3, v_r=0.01),
    pl.Ambrosio(mu=0.3, v0=1e-4, v1=1e-3),
)


def spatial(**changes):
    fields = {"length": 0.8, "section": pl.Section.rectangle(0.02, 0.03), "material": pl.ALUMINIUM, "modes": EVERY_WAY,
              "extension": 0.4, "rate": 0.1, "on_sleeve_end": "continue"}  # fmt: skip
    return pl.TelescopicBeam(**{**fields, **changes})


def planar(**changes):
    fields = {"length": 1.0, "section": pl.Section(A=3.6482e-4, Iz=1.1772e-8), "material": pl.Material(E=2e11, G=77e9),
              "mass_per_length": 2.0, "modes": pl.Modes("cf", 2), "extension": 0.5}  # fmt: skip
    return pl.TelescopicBeam(**{**fields, **changes})


# ---- mechanisms


def one_link():
    system = pl.System("one link", gravity=(0, -9.81))
    system.add("arm", planar(on_sleeve_end="continue"), joint=pl.Revolute())
    system.drive("push", "arm.extension", 3.0)
    return system


def three_links():
    """Spatial, bending in both planes, torsion and axial; sleeves with mass, a payload."""
    system = pl.System("three links", gravity=(0.3, -0.5, -9.81))
    load = pl.Payload(mass=0.5, inertia=(0.001, 0.002, 0.002), offset=(0.03, 0.01, 0.0))
    on = None
    for k, axis in enumerate(("z", "y", (1.0, 2.0, 0.5))):
        body = spatial(sleeve_mass=0.3, payload=load if k == 2 else None, damping=pl.ModalDamping(0.01))
        handle = system.add(f"link{k}", body, joint=pl.Revolute(axis=axis, angle=0.2, rate=0.3), on=on)
        on = handle.tip.moved((0.02, 0.01, 0.0)).turned(0.4, "x")
    system.drive("push", "link1.extension", 3.0)
    system.drive("turn", "link0.angle", -2.0)
    system.force("pull", handle.tip, (1.0, 2.0, -1.0))
    return system


def mixed_tree():
    """Telescopic links between a rigid hub, an ordinary beam, a ball and a slider."""
    system = pl.System("mixed tree", gravity=(0, -9.81, 0.4))
    hub = system.add("hub", pl.RigidBody(mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.05, 0.1, 0), tip=(0.3, 0, 0),
                                         frames={"left": (-0.2, 0.1, 0)}), joint=pl.Universal(angles=(0.2, -0.4)))  # fmt: skip
    boom = system.add("boom", spatial(), joint=pl.Revolute(axis="y"), on=hub.tip)
    beam = system.add("beam", mechanisms.planar_link(1), joint=pl.Revolute(), on=boom.tip.turned(0.3, "z"))
    system.add("tool", pl.RigidBody.rod(0.2, 0.3), joint=pl.Prismatic(axis="z"), on=beam.tip)
    system.add("reach", spatial(modes=[pl.Modes("cf", 2), pl.AxialModes("cf", 1)], friction=pl.Coulomb(mu=0.2), preload=5.0),
               joint=pl.Spherical(), on=hub.at("left"))  # fmt: skip
    return system


ALL = {build.__name__: build for build in (one_link, three_links, mixed_tree)}


def random_states(tree, count=3, seed=5):
    """Large joint motions, free lengths inside the sleeve, deflections of a centimetre."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q, v = rng.normal(size=len(tree.positions)), rng.normal(size=len(tree.rates))
        for node in tree.nodes:
            q[list(node.own_q)] *= 0.01
            v[list(node.own_v)] *= 0.5
            if isinstance(node.link.body, pl.TelescopicBeam):
                q[node.own_q[0]], v[node.own_v[0]] = rng.uniform(0.3, 0.7), rng.normal()
        yield q, v


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_five_derivations_agree_to_1e_10(build):
    """Articulated and Gibbs-Appell recursions, the Gibbs function and the energies differentiated, the orthogonal complement."""
    tracings = [trace(build(), name) for name in FORMULATIONS]
    tree = tracings[0].tree
    for q, v in random_states(tree):
        y = np.concatenate([q, v, np.zeros(len(tracings[0].sources))])
        found = [np.array(traced.rhs(0.0, y, traced.parameters(0.0, 1.0))).ravel()[len(q) : len(q) + len(v)] for traced in tracings]
        for other in found[1:]:
            assert np.max(np.abs(other - found[0])) < 1e-10 * np.max(np.abs(found[0]))


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_velocity_forces_agree_to_1e_10_where_no_strain_hides_them(build):
    """Accelerations of stiff modes dwarf what moves them otherwise: bias forces themselves, against Lagrange's."""
    from pliant.dynamics import lagrange

    tree, tracer = build_tree(build()), Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    recursion = gibbs_appell.inverse_dynamics(tree, q, v, [0.0] * len(v))
    _, witness = lagrange.equations(tree, q, v, tracer)
    both = ca.Function("both", [q_column, v_column], [tracer.column(recursion), tracer.column(witness)])
    for x, rates in random_states(tree, seed=8):
        ours, theirs = (np.array(column).ravel() for column in both(x, rates))
        assert np.max(np.abs(ours - theirs)) < 1e-10 * np.max(np.abs(theirs))


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_inverse_of_forward_is_the_identity_to_1e_10(build):
    """Efforts -> accelerations by the articulated recursion -> efforts by the Gibbs-Appell recursion."""
    system = build()
    traced, tree, tracer = trace(system), build_tree(system), Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    a_column, a = tracer.symbols("a", len(tree.rates))
    applied = applied_forces(system, tree, q, v, lambda signal: signal.value)
    asked = gibbs_appell.inverse_dynamics(tree, q, v, a, applied.loads)
    inverse = ca.Function("inverse", [q_column, v_column, a_column], [tracer.column(asked), tracer.column(applied.tau)])
    for x, rates in random_states(tree, seed=11):
        y = np.concatenate([x, rates, np.zeros(len(traced.sources))])
        out = np.array(traced.rhs(0.0, y, traced.parameters(0.0, 1.0))).ravel()
        back, given = (np.array(column).ravel() for column in inverse(x, rates, out[len(x) : len(x) + len(rates)]))
        assert np.max(np.abs(back - given)) < 1e-10 * np.max(np.abs(given))


# ---- inverse dynamics fed back


@cache
def efforts(rows):
    times = (np.arange(rows + 1) / rows).tolist()
    return pl.inverse_dynamics(telescopic_arm(), MOTION, 1.0, method=TIGHT, save=times)


def returned(torque, force, save):
    """The forward motion under given efforts."""
    system = pl.System("returned", gravity=(0, 0))
    system.add("arm", link("consistent", 1), joint=pl.Revolute())
    system.drive("torque", "arm.angle", torque)
    system.drive("force", "arm.extension", force)
    return pl.simulate(system, 1.0, method=TIGHT, save=save)


def test_efforts_as_broken_lines_return_the_motion_with_second_order():
    errors = []
    for rows in (1000, 2000):
        asked = efforts(rows)
        tables = [pl.PiecewiseLinear(asked.time, column) for column in asked.values["effort"].T]
        run = returned(*tables, save=asked.time[:: rows // 10].tolist())
        errors.append(np.max(np.abs(run.values["q"] - asked.values["q"][:: rows // 10]), axis=0))
    assert np.all(errors[1] < 2e-6)  # rad, m, m
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_efforts_as_formulas_return_the_motion_to_tolerance():
    """Torque and force from the equations at the told q and l and the elastic state at hand; the mode's row gives its own."""
    system = telescopic_arm()
    tree = build_tree(system)

    def at(t, delta, rate):
        """Inverse dynamics row by row, with the modal acceleration that the third row asks for."""
        s, c = pl.sin(2.0 * np.pi * t), pl.cos(2.0 * np.pi * t)
        q = [MOTION["arm.angle"](t), MOTION["arm.extension"](t), delta]
        v = [0.5 * np.pi * s, 0.1 * np.pi * s, rate]
        a = [np.pi**2 * c, 0.2 * np.pi**2 * c]
        strain = tree.nodes[0].body.strain_forces(q[1:])
        rows = [gibbs_appell.inverse_dynamics(tree, q, v, [*a, x]) for x in (0.0, 1.0)]
        second = -(rows[0][2] + strain[1]) / (rows[1][2] - rows[0][2])
        torque, force = (rows[0][k] + (rows[1][k] - rows[0][k]) * second for k in (0, 1))
        return torque, force + strain[0]

    run = returned(*(lambda t, q, v, k=k: at(t, q["arm.y1"], v["arm.y1"])[k] for k in (0, 1)), save=0.1)
    wanted = efforts(1000)
    for name in ("q", "v"):
        size = np.max(np.abs(wanted.values[name]), axis=0)
        assert np.max(np.abs(run.values[name] - wanted.values[name][::100]) / size) < 1e-8


# ---- every joule


def swinging(body, initial=None, joint=None, gravity=(0, -9.81), force=0.0):
    system = pl.System("swinging", gravity)
    system.add("arm", body, joint=joint or pl.Revolute(rate=1.0), initial=initial or {"y1": 0.002})
    if force:
        system.drive("force", "arm.extension", force)
    return system


def closes(system, t_end=0.3, rtol=1e-10, room=10.0):
    run = pl.simulate(system, t_end, method=pl.DOP853(rtol=rtol, atol=1e-3 * rtol))
    assert run.ok, run.message
    assert run.ledger.relative_error_max < room * rtol
    return run


@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
def test_the_ledger_closes_with_the_tolerance(rtol):
    closes(swinging(planar()), rtol=rtol)
    closes(swinging(planar(sleeve_mass=1.5)), rtol=rtol)


@pytest.mark.parametrize(
    ("modes", "initial", "axis"),
    [(pl.AxialModes("cf", 2), {"axial1": 0.01}, "z"), (pl.TorsionModes("cf", 2), {"torsion1": 0.5}, "x")],
    ids=["axial", "torsion"],
)
def test_the_ledger_closes_where_material_is_stretched_and_twisted_at_the_sleeves_mouth(modes, initial, axis):
    """f'(0) is not zero: material that comes out is put in motion all at once."""
    body = spatial(modes=modes, material=pl.Material(E=2e9, nu=0.3, density=1200.0), rate=2.0)
    # beyond 0.05 s the stretched arm shoots out of its sleeve, faster and faster, and no step is short enough
    closes(swinging(body, initial, pl.Revolute(rate=3.0, axis=axis)), t_end=0.04)


def test_the_ledger_of_a_three_link_arm_closes():
    closes(three_links(), t_end=0.05)


@pytest.mark.parametrize("damping", DAMPINGS, ids=lambda d: type(d).__name__)
def test_damping_takes_energy_and_the_ledger_knows_how_much(damping):
    run = closes(swinging(planar(damping=damping)))
    (taken,) = (work for name, work in run.ledger.work.items() if name.startswith("arm."))
    assert np.all(np.diff(taken) <= 0.0)
    assert taken[-1] < -0.01


def test_modal_damping_lets_a_clamped_arm_decay_as_its_ratio_says():
    """exp(-zeta omega t) at fixed free length: energy after ten periods."""
    ratio, periods = 0.02, 10
    body = planar(modes=pl.Modes("cf", 1), damping=pl.ModalDamping(ratio), motion=lambda t: 0.5 + 0.0 * t)
    frequency = 1.8751040687119611**2 * math.sqrt(2e11 * 1.1772e-8 / 2.0) / 0.25
    damped = frequency * math.sqrt(1.0 - ratio**2)
    t_end = periods * 2.0 * math.pi / damped
    run = closes(swinging(body, joint=pl.Weld(), gravity=(0, 0)), t_end)
    assert run["arm.y1"][-1] / run["arm.y1"][0] == pytest.approx(math.exp(-ratio * frequency * t_end), rel=1e-8)


@pytest.mark.parametrize("law", FRICTIONS, ids=lambda law: type(law).__name__)
def test_friction_in_the_sleeve_opposes_sliding_and_the_ledger_closes(law):
    run = closes(swinging(planar(friction=law, preload=20.0, rate=0.5), gravity=(0, 0), force=3.0), t_end=0.4)
    taken = run.ledger.work["arm.sleeve_friction"]
    assert np.all(np.diff(taken) <= 0.0)
    assert taken[-1] < -0.5


def test_friction_stops_a_straight_sliding_arm_where_coulomb_says():
    """m v^2/2 = mu N d, but for the smoothing of the law at its end."""
    body = planar(modes=pl.Modes("cf", 1), friction=pl.Coulomb(mu=0.3, transition=1e-6), preload=20.0, rate=0.8)
    run = closes(swinging(body, {"y1": 0.0}, pl.Weld(), (0, 0)), t_end=0.5, rtol=1e-9)
    assert run["arm.extension"][-1] - 0.5 == pytest.approx(2.0 * 0.8**2 / (2.0 * 0.3 * 20.0), rel=1e-5)


# ---- the ends of the sleeve


def test_the_sleeves_end_stops_the_run_and_says_so():
    run = pl.simulate(swinging(planar(rate=2.0), gravity=(0, 0)), 1.0)
    assert run.ok
    assert [event.name for event in run.events] == ["arm leaves its sleeve"]
    out = run.events[0].t
    assert run.message == f"event 'arm leaves its sleeve' ended the run at t = {out:.10g} s"
    assert run.time[-1] <= out < 0.25
    assert np.max(run["arm.extension"]) < 1.0


def test_an_arm_all_inside_its_sleeve_ends_the_run():
    """At a thousandth of its length, or at the radius of gyration of its section, whichever is longer."""
    thin = planar(rate=-2.0, section=pl.Section(A=3.6482e-4, Iz=3e-10))
    run = pl.simulate(swinging(thin, {"y1": 0.0}, pl.Weld(), (0, 0)), 1.0)
    assert run.message == "event 'arm is all inside its sleeve' ended the run at t = 0.2495 s"
    run = pl.simulate(swinging(planar(rate=-2.0), {"y1": 0.0}, pl.Weld(), (0, 0)), 1.0)
    assert run.final_state.t == pytest.approx(0.25 - math.sqrt(1.1772e-8 / 3.6482e-4) / 2.0, abs=1e-9)


def test_a_bent_arm_that_is_pulled_in_does_not_use_up_the_steps_of_a_run():
    """Its frequency grows as 1/l^2; a stub that is thicker than long is no beam, and no run should follow its vibration."""
    arm = planar(rate=-2.0, modes=pl.Modes("cf", 1))
    run = pl.simulate(swinging(arm, {"y1": 1e-5}, pl.Weld(), (0, 0)), 1.0, max_steps=50_000)
    assert run.ok and run.message.startswith("event 'arm is all inside its sleeve' ended the run")


def test_a_straight_arm_continues_past_the_sleeves_end_where_it_may():
    run = pl.simulate(swinging(planar(rate=2.0, on_sleeve_end="continue"), {"y1": 0.0}, pl.Weld(), (0, 0)), 0.3)
    assert run.message == "the run reached t = 0.3 s"
    assert run.events[0].t == pytest.approx(0.25, abs=1e-12)
    assert run["arm.extension"][-1] == pytest.approx(1.1, abs=1e-12)


def test_a_spring_sends_a_straight_arm_back_after_half_a_period():
    """m x'' = -k x beyond L: depth v sqrt(m/k), and back at the same speed. On its way back a step straddles the corner."""
    body = planar(rate=2.0, on_sleeve_end="spring", end_stiffness=1e4)
    half = math.pi * math.sqrt(2.0 / 1e4)
    run = closes(swinging(body, {"y1": 0.0}, pl.Weld(), (0, 0)), t_end=0.25 + half + 0.1, room=50.0)
    assert np.max(run.ledger.held["spring"]) == pytest.approx(4.0, rel=1e-3)
    assert run["arm.extension"][-1] == pytest.approx(1.0 - 0.2, abs=1e-8)
    assert run.rate("arm.extension")[-1] == pytest.approx(-2.0, abs=1e-8)


def test_the_ledger_closes_where_a_vibrating_arm_meets_the_spring():
    run = closes(swinging(planar(rate=2.0, on_sleeve_end="spring", end_stiffness=1e4), gravity=(0, 0)), t_end=0.5, room=50.0)
    assert run.rate("arm.extension")[-1] < 0.0


# ---- wrong models


def in_system(**changes):
    system = pl.System("s", gravity=(0, 0))
    return system, system.add("arm", planar(**changes), joint=pl.Revolute())


WRONG = {
    "negative length": (lambda: planar(length=-1.0), "TelescopicBeam: length must be > 0 m, got -1.0"),
    "nothing sticks out": (lambda: planar(extension=0.0), "TelescopicBeam: extension must be > 0 m, got 0.0"),
    "out of the sleeve": (lambda: planar(extension=1.2), "TelescopicBeam: extension must be < length = 1.0 m when "
                          "on_sleeve_end is 'stop', got 1.2"),
    "at the sleeve's end": (lambda: planar(extension=1.0), "TelescopicBeam: extension must be < length = 1.0 m"),
    "rate nan": (lambda: planar(rate=math.nan), "TelescopicBeam: rate must be a finite number in m/s, got nan"),
    "unknown form": (lambda: planar(form="published"), "TelescopicBeam: form must be one of consistent, as-published "
                     "(did you mean 'as-published'?), got 'published'"),
    "unknown end": (lambda: planar(on_sleeve_end="bounce"),
                    "TelescopicBeam: on_sleeve_end must be one of stop, continue, spring, got 'bounce'"),
    "spring without stiffness": (lambda: planar(on_sleeve_end="spring"),
                                 "TelescopicBeam: end_stiffness must be given if, and only if, on_sleeve_end is 'spring'"),
    "stiffness without spring": (lambda: planar(end_stiffness=10.0), "only if, on_sleeve_end is 'spring', got 10.0"),
    "stiffness zero": (lambda: planar(on_sleeve_end="spring", end_stiffness=0.0),
                       "TelescopicBeam: end_stiffness must be > 0 N/m, got 0.0"),
    "not clamped": (lambda: planar(modes=pl.Modes("ss", 1)),
                    "TelescopicBeam: modes[0].ends must be cf, because the arm is clamped in its sleeve, got"),
    "no modes": (lambda: planar(modes=[]), "TelescopicBeam: modes must contain at least one set, got ()"),
    "same plane twice": (lambda: planar(modes=[pl.Modes("cf", 1), pl.Modes("cf", 2)]),
                         "TelescopicBeam: modes[1] must be the only set of modes in its direction, got 'y1'"),
    "given shapes": (lambda: planar(modes=pl.GivenModes([pl.ShapeTable(range(6), range(6))])),
                     "TelescopicBeam: modes[0] must be a set of modes"),
    "shapes of a payload": (lambda: planar(modes=pl.Modes("cf", 1, payload=True)),
                            "TelescopicBeam: modes[0].payload must be False, because the free length changes, got True"),
    "bending without Iy": (lambda: planar(modes=pl.Modes("cf", 1, plane="z")),
                           "TelescopicBeam: z modes need section.Iy, got None"),
    "torsion without J": (lambda: planar(modes=pl.TorsionModes("cf", 1)),
                          "TelescopicBeam: torsion modes need section.J, got None"),
    "torsion without inertia": (lambda: planar(modes=pl.TorsionModes("cf", 1), section=pl.Section(A=1e-4, Iz=1e-9, J=1e-9)),
                                "TelescopicBeam: torsion_inertia must be > 0 kg m for torsion modes, got 0.0"),
    "no mass": (lambda: planar(mass_per_length=None), "TelescopicBeam: mass_per_length or material.density must be given"),
    "negative sleeve": (lambda: planar(sleeve_mass=-1.0), "TelescopicBeam: sleeve_mass must be >= 0 kg, got -1.0"),
    "friction of nothing": (lambda: planar(friction=pl.Coulomb(mu=0.3)),
                            "TelescopicBeam: preload must be > 0 N with friction, and left out without it, got 0.0"),
    "preload of nothing": (lambda: planar(preload=3.0), "TelescopicBeam: preload must be > 0 N with friction"),
    "friction with a memory": (lambda: planar(friction=pl.LuGre(sigma0=1e5, sigma1=1.0, mu_static=0.4, mu_kinetic=0.3,
                                                                v_stribeck=0.01), preload=1.0),
                               "TelescopicBeam: friction must be a law that depends on the slip speed alone, got LuGre"),
    "friction as text": (lambda: planar(friction="coulomb", preload=1.0), "TelescopicBeam: friction"),
    "damping twice": (lambda: planar(damping=[pl.AirDrag(1.0), pl.AirDrag(2.0)]),
                      "TelescopicBeam: damping must contain each kind of damping at most once, got ['AirDrag', 'AirDrag']"),
    "damping by two frequencies": (lambda: planar(damping=pl.RayleighRatios(ratios=(0.01, 0.01))),
                                   "TelescopicBeam: damping[0] must be one of KelvinVoigt, AirDrag, MotionDrag, Rayleigh"),
    "ratios of other modes": (lambda: planar(damping=pl.ModalDamping((0.1, 0.1, 0.1))),
                              "TelescopicBeam: damping[0].ratios must be 2 numbers, got (0.1, 0.1, 0.1)"),
    "motion as a number": (lambda: planar(motion=0.5), "TelescopicBeam: motion must be a function of t"),
    "payload as a number": (lambda: planar(payload=0.5), "TelescopicBeam: payload must be a Payload, got 0.5"),
    "a station on the arm": (lambda: in_system()[1].at(0.3),
                             "body 'arm': frame must be the root or the tip, the only frames of a telescopic link, got 0.3"),
    "a drive of a mode": (lambda: in_system()[0].drive("d", "arm.y1", 1.0),
                          "drive 'd': coordinate must be one of ['arm.angle', 'arm.extension']"),
    "a drive of a told length": (lambda: in_system(motion=lambda t: 0.5 + 0.1 * t)[0].drive("d", "arm.extension", 1.0),
                                 "drive 'd': coordinate must not have a prescribed motion, got 'arm.extension'"),
    "the length as a mode": (lambda: in_system()[0].add("b", planar(), joint=pl.Revolute(), initial={"extension": 0.4}),
                             "body 'b': initial must name modes out of ['y1', 'y2'], got 'extension'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_models_are_refused_with_part_field_rule_and_value(case):
    build, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=re.escape(message)):
        build()

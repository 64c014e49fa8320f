"""Joints with clearance against closed forms and against an integrator that is not ours."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import pliant as pl

STEEL = pl.Material(E=207e9, nu=0.3)
G = 9.81


def test_a_cylinder_rolls_in_a_bore_with_the_period_of_its_pendulum():
    """3/2 m (R - r)^2 phi'' = -m g (R - r) sin(phi): T = 4 K(sin(phi0/2))/w, w^2 = 2 g/(3 (R - r)), for any amplitude."""
    outer, inner, begin = 0.3, 0.1, pl.deg(40.0)
    apart = outer - inner
    system = pl.System("rolling", gravity=(0, -G))
    place = (apart * math.sin(begin), -apart * math.cos(begin))
    drum = system.add("drum", pl.RigidBody(mass=2.0, inertia=0.5 * 2.0 * inner**2), joint=pl.Planar(position=place))
    system.contact(points=pl.Pin(drum.root, inner), against=pl.Bore(system.ground, outer), normal=pl.Exact(stiffness=1e8,
                   restitution=0.5, exponent=1.0), friction=pl.Karnopp(mu_static=2.0, mu_kinetic=1.5, band=1e-5))  # fmt: skip
    system.event("lowest", lambda t, q, v: q["drum.x"])
    run = pl.simulate(system, 4.0, method=pl.DOP853(rtol=1e-10, atol=1e-13))
    passes = np.array([event.t for event in run.events if event.name == "lowest"])
    period = 4.0 * ellipk(math.sin(0.5 * begin) ** 2) / math.sqrt(2.0 * G / (3.0 * apart))
    assert run.ok and len(passes) > 3
    np.testing.assert_allclose(np.diff(passes), 0.5 * period, rtol=2e-6)  # the drum stands 2e-7 m deep


def crank(clearance, friction=None, **pin):
    """The slider-crank of Flores, Ambrosio, Claro, Lankarani: 5000 rpm, rod and slider joined with clearance."""
    speed = 5000.0 * 2.0 * math.pi / 60.0
    system = pl.System("slider-crank", gravity=(0, -G))
    wheel = system.add("crank", pl.RigidBody(mass=0.30, inertia=1e-4, com=(0.025, 0), tip=(0.05, 0)),
                       joint=pl.Revolute(motion=lambda t: speed * t))  # fmt: skip
    rod = system.add("rod", pl.RigidBody(mass=0.21, inertia=2.5e-4, com=(0.06, 0), tip=(0.12, 0)),
                     joint=pl.Revolute(rate=-speed * (1.0 + 0.05 / 0.12)), on=wheel.tip)  # fmt: skip
    slider = system.add("slider", pl.RigidBody(mass=0.14), joint=pl.Prismatic(displacement=0.17))
    law = pl.JohnsonJournal(modulus=pl.contact_modulus(STEEL), length=0.015, radius=0.01, clearance=clearance, restitution=0.9)
    system.close("pin", pl.ClearanceRevolute(radius=0.01, clearance=clearance, normal=law, friction=friction, **pin), rod.tip,
                 slider.root)  # fmt: skip
    return system


@pytest.mark.parametrize("clearance", [1e-4, 2.5e-4, 5e-4])
def test_until_the_first_touch_the_journal_flies_free(clearance):
    """The rod is a pendulum on a pivot that goes round, integrated by SciPy; the slider stands still."""
    speed = 5000.0 * 2.0 * math.pi / 60.0
    run = pl.simulate(crank(clearance), 0.002, method=pl.DOP853(rtol=1e-12, atol=1e-14))

    def tip(t, turn):
        return 0.05 * np.exp(1j * speed * t) + 0.12 * np.exp(1j * turn)

    def rates(t, y):
        """(I + m c^2) phi'' = -m c x'' . (-sin, cos) - m g c cos(phi), x'' of the pivot."""
        pivot = -0.05 * speed**2 * np.exp(1j * speed * t)
        moment = -0.21 * 0.06 * (pivot * np.conj(1j * np.exp(1j * y[0]))).real - 0.21 * G * 0.06 * math.cos(y[0])
        return y[1], moment / (2.5e-4 + 0.21 * 0.06**2)

    def touches(t, y):
        return clearance - abs(tip(t, y[0]) - 0.17)

    touches.terminal = True
    begin = (0.0, -speed * 0.05 / 0.12)
    free = solve_ivp(rates, (0.0, 0.002), begin, "DOP853", rtol=1e-13, atol=1e-15, events=touches)
    assert run.contacts[0].begin == pytest.approx(free.t_events[0][0], abs=1e-10)


def test_peaks_grow_with_the_clearance_and_friction_takes_from_them():
    """What the literature of this mechanism says of its first turns."""
    peaks = []
    for clearance in (1e-4, 2.5e-4, 5e-4):
        run = pl.simulate(crank(clearance), 0.012)
        assert run.ok and run.ledger.relative_error_max < 1e-6 and run.warnings == ()
        peaks.append(max(contact.peak_force for contact in run.contacts))
    assert peaks == sorted(peaks)
    rubbed = pl.simulate(crank(5e-4, friction=pl.Ambrosio(mu=0.1, v0=1e-3, v1=1e-2)), 0.012)
    assert rubbed.ok and rubbed.ledger.work["pin rod.tip friction"][-1] < -1e-3


def test_a_journal_never_leaves_its_bearing():
    system = crank(5e-4)
    run = pl.simulate(system, 0.012, save="steps")
    way = np.hypot(*(run.of_body("tip_position", "rod")[:, :2] - run.of_body("tip_position", "slider")[:, :2]).T)
    (pair,) = system.contacts.values()
    hardest = max(contact.peak_force for contact in run.contacts)
    assert pair.normal.elastic(float(way.max()) - 5e-4) == pytest.approx(hardest, rel=0.05)  # damping shifts the peak a little


def test_a_block_in_a_guide_touches_it_with_its_corners():
    """Flores, Leine, Glocker 2010: until the first touch, a double pendulum with a block that does not turn."""
    system = pl.System("translational clearance", gravity=(0, -G))
    first = system.add("crank", pl.RigidBody(mass=0.038, inertia=7.4e-5, com=(0.0765, 0), tip=(0.153, 0)),
                       joint=pl.Revolute(rate=150.0))  # fmt: skip
    rod = system.add("rod", pl.RigidBody(mass=0.038, inertia=5.9e-4, com=(0.153, 0), tip=(0.306, 0)),
                     joint=pl.Revolute(rate=-225.0), on=first.tip)  # fmt: skip
    guide = pl.ClearancePrismatic(length=0.1, height=0.05, clearance=1e-3, normal=pl.HuGuo(stiffness=1e8, restitution=0.4),
                                  friction=pl.Ambrosio(mu=0.01, v0=1e-3, v1=1e-2))  # fmt: skip
    block = system.add("slider", pl.RigidBody(mass=0.076, inertia=2.7e-6), joint=pl.Revolute(rate=75.0), on=rod.tip)
    system.close("guide", guide, block.root, system.ground)
    assert len(system.contacts) == 4
    run = pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-10, atol=1e-12))
    assert run.ok and len(run.contacts) > 3 and run.ledger.relative_error_max < 1e-6

    def rates(t, y):
        """Two angles; m3 at the end of the second rod."""
        (a, b), (wa, wb) = y[:2], y[2:]
        coupling = 0.153 * (0.038 * 0.153 + 0.076 * 0.306)
        mass = np.array([[7.4e-5 + 0.038 * 0.0765**2 + (0.038 + 0.076) * 0.153**2, coupling * math.cos(a - b)],
                         [coupling * math.cos(a - b), 5.9e-4 + 0.038 * 0.153**2 + 0.076 * 0.306**2]])  # fmt: skip
        force = np.array([-coupling * math.sin(a - b) * wb**2 - G * math.cos(a) * (0.038 * 0.0765 + 0.114 * 0.153),
                          coupling * math.sin(a - b) * wa**2 - G * math.cos(b) * (0.038 * 0.153 + 0.076 * 0.306)])  # fmt: skip
        return *y[2:], *np.linalg.solve(mass, force)

    def touches(t, y):
        return 1e-3 - abs(0.153 * math.sin(y[0]) + 0.306 * math.sin(y[1]))

    touches.terminal = True
    free = solve_ivp(rates, (0.0, 0.05), (0.0, 0.0, 150.0, -75.0), "DOP853", rtol=1e-13, atol=1e-15, events=touches)
    assert run.contacts[0].begin == pytest.approx(free.t_events[0][0], abs=1e-10)


def test_both_rims_hold_a_pin_that_tilts():
    """A shaft held in a bearing of length 60 mm, loaded beyond it: the rims carry F1 + F2 = -P and F2 l/2 - F1 l/2 = P a."""
    system = pl.System("shaft", gravity=(0, 0, 0))
    law = pl.Linear(stiffness=1e7, damping=2e3)
    bearing = pl.ClearanceRevolute(radius=0.01, clearance=1e-4, length=0.06, normal=law)
    shaft = system.add("shaft", pl.RigidBody(mass=1.0, inertia=(1e-3, 1e-3, 5e-5), frames={"end": (0, 0, 0.05)}), joint=bearing)
    system.moment("brake", shaft.root, (0.0, 0.0, lambda t, q, v: -1e-3 * v["shaft.wz"]))
    system.force("along", shaft.root, (0.0, 0.0, lambda t, q, v: -100.0 * v["shaft.z"] - 1e3 * q["shaft.z"]))
    system.force("load", shaft.at("end"), (0.0, -50.0, 0.0))
    run = pl.simulate(system, 1.0)
    assert run.ok and list(system.contacts) == ["shaft joint shaft.root.low", "shaft joint shaft.root.high"]
    low, high = run.values["normal_force"][-1]
    assert high == pytest.approx(50.0 * (0.03 + 0.05) / 0.06, rel=5e-3)  # the rims' forces stand upright on a tilted shaft
    assert low == pytest.approx(50.0 * (0.05 - 0.03) / 0.06, rel=2e-2)
    axis, rim = run.of_body("orientation", "shaft")[-1], run.of_body("tip_position", "shaft")[-1]
    w, x, y, z = axis
    along = np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])
    for height, gap in zip((-0.03, 0.03), run.values["gap"][-1], strict=True):
        way = np.linalg.norm(np.cross(np.array([0.0, 0.0, height]) - rim, along))
        assert gap == pytest.approx(1e-4 - way, abs=1e-12)


def test_a_ball_in_a_socket_hangs_a_clearance_lower():
    system = pl.System("socket", gravity=(0, 0, -G))
    joint = pl.ClearanceSpherical(radius=0.02, clearance=5e-4, normal=pl.Linear(stiffness=1e6, damping=500.0))
    system.add("bob", pl.RigidBody(mass=1.0, inertia=(1e-3, 1e-3, 1e-3)), joint=joint)
    run = pl.simulate(system, 0.5)
    assert run["bob.z"][-1] == pytest.approx(-5e-4 - G / 1e6, abs=1e-9)


def test_friction_acts_on_the_slip_of_both_surfaces():
    """A journal of radius r and a ring of radius R, both turning about centres at rest: mu N |r w_j - (R + depth) w_b|."""
    depth, mu = 1e-7, 0.1
    for of_journal, of_ring in ((100.0, 0.0), (0.0, 100.0), (70.0, 30.0)):
        system = pl.System("bearing", gravity=(0, -G))
        ring = system.add("ring", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Revolute(rate=of_ring))
        place = pl.Planar(position=(0.0, -5e-4 - depth), rate=of_journal)
        journal = system.add("journal", pl.RigidBody(mass=1.0, inertia=1e-3), joint=place)
        system.contact(points=pl.Pin(journal.root, 0.01), against=pl.Bore(ring.root, 0.0105), name="film",
                       normal=pl.Linear(stiffness=G / depth, damping=0.0),
                       friction=pl.Ambrosio(mu=mu, v0=1e-3, v1=1e-2))  # fmt: skip
        run = pl.simulate(system, 1e-6)
        slip = 0.01 * of_journal - (0.0105 + depth) * of_ring
        assert run["power", "film journal.root friction"][0] == pytest.approx(-mu * G * abs(slip), rel=1e-9)


def two_clearances(play, by_joint=True):
    """Both ends of the rod have play, one in the tree and one in the loop."""
    speed = 500.0
    system = pl.System("loop", gravity=(0, -G))
    law, rub = pl.HuGuo(stiffness=1e9, restitution=0.8), pl.Ambrosio(mu=0.05, v0=1e-3, v1=1e-2)
    rod = pl.RigidBody(mass=0.21, inertia=2.5e-4, com=(0.06, 0), tip=(0.12, 0))
    crank = system.add("crank", pl.RigidBody(mass=0.30, inertia=1e-4, com=(0.025, 0), tip=(0.05, 0)),
                       joint=pl.Revolute(motion=lambda t: speed * t))  # fmt: skip
    joint = pl.ClearanceRevolute(radius=0.01, clearance=play, normal=law, friction=rub, rate=-speed * (1.0 + 0.05 / 0.12))
    tree = joint if by_joint else pl.Planar(rate=joint.rate)
    rod = system.add("rod", rod, joint=tree, on=crank.tip)
    slider = system.add("slider", pl.RigidBody(mass=0.14), joint=pl.Prismatic(displacement=0.17))
    if not by_joint:
        pin = pl.ClearanceRevolute(radius=0.01, clearance=play, normal=law, friction=rub)
        system.close("big end", pin, rod.root, crank.tip)
    system.close("pin", pl.ClearanceRevolute(radius=0.01, clearance=1.5 * play, normal=law, friction=rub), rod.tip, slider.root)
    return system


def test_two_clearances_in_one_loop_as_parameters_and_as_numbers():
    """In a tree and in a loop the same equations; the exact derivatives by the clearance are the differences of runs."""
    play, end = pl.Parameter("play", 2e-4), 0.004
    tight = {"method": pl.DOP853(rtol=1e-11, atol=1e-14), "save": [0.0, end]}
    system = two_clearances(play)
    run = pl.simulate(system, end, **tight)
    assert run.ok and run.warnings == () and {touch.pair for touch in run.contacts} <= set(system.contacts)
    np.testing.assert_allclose(pl.simulate(two_clearances(2e-4), end, **tight)["q"][-1], run["q"][-1], rtol=1e-12)
    looped = pl.simulate(two_clearances(play, by_joint=False), end, **tight)
    np.testing.assert_allclose(looped["q"][-1], run["q"][-1], rtol=1e-9)
    exact = pl.sensitivities(system, end, ["play"], **tight)
    up, down = (pl.simulate(system, end, parameters={"play": 2e-4 + h}, **tight)["q"][-1] for h in (1e-8, -1e-8))
    assert len(run.contacts) > 0
    np.testing.assert_allclose(exact.final[:4, 0], ((up - down) / 2e-8)[1:], rtol=1e-5)


def test_a_journal_that_crosses_the_centre_exactly_keeps_its_energy():
    """e = 0 has no normal, and at every second bounce the journal is there: as between two walls."""
    runs = []
    for walls in (False, True):
        system = pl.System("across", gravity=(0, 0))
        law = pl.Hertz(stiffness=1e10)
        joint = pl.ClearanceRevolute(radius=0.01, clearance=1e-3, velocity=(1.0, 0.0), normal=law)
        body = system.add("b", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(velocity=(1.0, 0.0)) if walls else joint)
        for side in (1.0, -1.0) if walls else ():
            wall = pl.Plane(normal=(side, 0.0), point=(-1e-3 * side, 0.0))
            system.contact(points=body.root, against=wall, normal=law, name="left" if side > 0.0 else "right")
        runs.append(pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-11, atol=1e-13)))
    bore, between = runs
    assert len(bore.contacts) == len(between.contacts) > 20 and bore.ledger.relative_error_max < 1e-8
    assert [c.begin for c in bore.contacts] == pytest.approx([c.begin for c in between.contacts], abs=1e-9)


def test_corners_of_a_block_follow_the_turns_of_its_frame():
    """A guide along the y axis, written by turned frames, gives the forces of one along the x axis."""
    gaps = []
    for turn in (0.0, 90.0):
        system = pl.System("guide", gravity=(0, 0))
        block = system.add("block", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
        guide = pl.ClearancePrismatic(length=0.1, height=0.04, clearance=1e-3, normal=pl.Hertz(stiffness=1e8))
        system.close("guide", guide, block.root.turned(pl.deg(turn)), system.ground.turned(pl.deg(turn)))
        push = (-4.0 * math.sin(pl.deg(turn)), 4.0 * math.cos(pl.deg(turn)))
        system.force("push", block.root, (*push, 0.0))
        gaps.append(pl.simulate(system, 0.05, save=[0.0, 0.03])["gap"])
    np.testing.assert_allclose(gaps[1], gaps[0], atol=1e-12)
    assert gaps[0][0] == pytest.approx([1e-3] * 4)


def shaft(ball, against, **push):
    system = pl.System("shaft", gravity=(0, -G, 0))
    body = system.add("shaft", pl.RigidBody(mass=1.0, inertia=(1e-3, 1e-3, 5e-5), com=push.pop("com", (0, 0, 0))), joint=pl.Free())
    system.contact(points=ball(body.root), against=against(system.ground), normal=pl.Linear(stiffness=1e6, damping=100.0))
    system.force("push", body.root, (0.0, 0.0, push.get("along", 0.0)))
    return pl.simulate(system, 0.2)


@pytest.mark.parametrize("longer", ["pin", "bore"])
def test_a_pin_that_leaves_its_bore_is_told(longer):
    lengths = (0.08, 0.06) if longer == "pin" else (0.06, 0.08)
    parts = lambda at: pl.Pin(at, 0.01, length=lengths[0]), lambda at: pl.Bore(at, 0.0101, length=lengths[1])
    assert shaft(*parts, along=0.4).warnings == ()  # 8 mm, and either end may go 10 mm
    told = shaft(*parts, along=5.0).warnings
    assert len(told) == 2 and any("has moved out of its bore along the axis, by 0.09" in sentence for sentence in told)


def test_a_pin_that_tilts_in_one_circle_is_told():
    parts = lambda at: pl.Pin(at, 0.01), lambda at: pl.Bore(at, 0.0101)
    assert shaft(*parts).warnings == ()
    assert "so nothing resists its tilt; give the bore a length" in shaft(*parts, com=(0, 0, 0.05)).warnings[0]


def flat(kind, **closed):
    system = pl.System("flat", gravity=(0, -G))
    body = system.add("b", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
    system.close("pin", kind, body.root, system.ground, **closed)
    return system


PLAY = {"radius": 0.1, "clearance": 1e-3}
HERTZ = pl.Hertz(stiffness=1e6)
JOHNSON = pl.JohnsonJournal(modulus=1e11, length=0.01, radius=0.1, clearance=2e-3, restitution=0.9)
PIN = pl.ClearanceRevolute(**PLAY, normal=HERTZ)
ANY_PLAY = pl.ClearanceRevolute(radius=0.1, clearance=pl.Parameter("c", 1e-3), normal=HERTZ)

WRONG = {
    "law of another clearance": (lambda: flat(pl.ClearanceRevolute(**PLAY, normal=JOHNSON)),
                                 "contact 'pin b.root': normal.clearance must be the difference of the radii, 0.001 m, got 0.002"),
    "axis of a closure": (lambda: flat(PIN, axis="x"), "closure 'pin': axis must be left out for a ClearanceRevolute"),
    "springs": (lambda: flat(PIN, by="springs", stiffness=1.0), "closure 'pin': by must be left out for a ClearanceRevolute"),
    "start in a closure": (lambda: flat(pl.ClearanceRevolute(**PLAY, normal=HERTZ, angle=0.1)),
                           "closure 'pin': angle of a ClearanceRevolute must be left out in a closure: both bodies start where"),
    "three numbers": (lambda: pl.ClearanceRevolute(**PLAY, normal=HERTZ, length=0.1, position=(0, 0, 1)),
                      r"ClearanceRevolute: position must be 2 numbers in m, got \(0, 0, 1\)"),
    "no length": (lambda: pl.ClearanceRevolute(**PLAY, normal=HERTZ, length=0.0),
                  "ClearanceRevolute: length must be > 0 m, got 0.0"),
    "length as parameter": (lambda: pl.ClearanceRevolute(**PLAY, normal=HERTZ, length=pl.Parameter("l", 0.1)),
                            "ClearanceRevolute: length must be a fixed value, not a parameter"),
    "clearance of a run": (lambda: pl.simulate(flat(ANY_PLAY), 0.01, parameters={"c": -1e-3}),
                           "contact 'pin b.root': points must be thinner than the Bore, of radius 0.099 m, got 0.1"),
    "no clearance": (lambda: pl.ClearanceRevolute(radius=0.1, clearance=0.0, normal=pl.Hertz(stiffness=1.0)),
                     "ClearanceRevolute: clearance must be > 0 m, got 0.0"),
    "no radius": (lambda: pl.ClearanceSpherical(radius=-1.0, clearance=1e-3, normal=pl.Hertz(stiffness=1.0)),
                  "ClearanceSpherical: radius must be > 0 m, got -1.0"),
    "no height": (lambda: pl.ClearancePrismatic(length=1.0, height=0.0, clearance=1e-3, normal=pl.Hertz(stiffness=1.0)),
                  "ClearancePrismatic: height must be > 0 m, got 0.0"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_joint_is_refused_in_words(wrong):
    make, words = WRONG[wrong]
    with pytest.raises(pl.ModelError, match=words):
        make()


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_with_less_and_less_clearance_a_pendulum_in_space_swings_as_on_its_ideal_joint(kind):
    """It is off by a few clearances, in proportion: a ball in a socket, and a pin that both rims of its bearing hold."""
    body = pl.RigidBody(mass=1.0, inertia=(2e-3, 1e-2, 1e-2), com=(0.2, 0, 0), tip=(0.4, 0, 0))

    def path(joint):
        system = pl.System("pendulum", gravity=(0, -G, 0))
        system.add("bob", body, joint=joint)
        run = pl.simulate(system, 0.5, save=0.01)
        assert run.ok and run.ledger.relative_error_max < 1e-8
        return run.of_body("tip_position", "bob")

    def loose(clearance):
        if kind == "ball":
            law = pl.Exact(stiffness=pl.hertz_stiffness(0.01, STEEL, -(0.01 + clearance)), restitution=0.5)
            return pl.ClearanceSpherical(radius=0.01, clearance=clearance, normal=law, angular_velocity=(0, 1.0, 2.0))
        law = pl.JohnsonJournal(modulus=pl.contact_modulus(STEEL), length=0.015, radius=0.01, clearance=clearance, restitution=0.5)
        return pl.ClearanceRevolute(radius=0.01, clearance=clearance, length=0.03, normal=law, rate=2.0)

    ideal = path(pl.Spherical(angular_velocity=(0, 1.0, 2.0)) if kind == "ball" else pl.Revolute(rate=2.0))
    off = {clearance: np.abs(path(loose(clearance)) - ideal).max() for clearance in (1e-4, 1e-5)}
    assert off[1e-4] < 1e-3 and 8.0 < off[1e-4] / off[1e-5] < 12.0

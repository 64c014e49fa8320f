"""Efforts for the path of a tool or a platform: against closed forms, by the motion that the efforts give, and what is refused."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.ensemble.members import start_at
from pliant.gallery.parallel_robot.system import LEGS, efforts_on_the_rose, parallel_robot, rose

UPPER, FORE = 0.6, 0.5  # m
MASSES = (2.0, 1.5)  # kg
GRAVITY = 9.81


def rigid_arm(links=2):
    system = pl.System("arm", gravity=(0, -GRAVITY))
    on, parts = None, [("upper", UPPER, MASSES[0], 0.3), ("fore", FORE, MASSES[1], 0.9), ("hand", 0.2, 0.5, 0.2)]
    for name, length, mass, angle in parts[:links]:
        on = system.add(name, pl.RigidBody.rod(length, mass), joint=pl.Revolute(angle=angle), on=on).tip
    return system, on


MOTORS = ["upper.angle", "fore.angle"]


def circle(t):
    return 0.6 + 0.2 * pl.cos(2.0 * t), 0.3 + 0.2 * pl.sin(2.0 * t)


def closed_form(t):
    """Torques of the two-link arm on the circle: inverse kinematics and Lagrange's equations by hand, elbow as at the start."""
    x, y = (float(c) for c in circle(t))
    vx, vy = -0.4 * math.sin(2.0 * t), 0.4 * math.cos(2.0 * t)
    ax, ay = -0.8 * math.cos(2.0 * t), -0.8 * math.sin(2.0 * t)
    bend = math.acos((x * x + y * y - UPPER**2 - FORE**2) / (2.0 * UPPER * FORE))
    angle = math.atan2(y, x) - math.atan2(FORE * math.sin(bend), UPPER + FORE * math.cos(bend))
    s1, c1, s12, c12 = math.sin(angle), math.cos(angle), math.sin(angle + bend), math.cos(angle + bend)
    jacobian = np.array([[-UPPER * s1 - FORE * s12, -FORE * s12], [UPPER * c1 + FORE * c12, FORE * c12]])
    w = np.linalg.solve(jacobian, [vx, vy])
    turning = np.array([-UPPER * c1 * w[0] ** 2 - FORE * c12 * (w[0] + w[1]) ** 2,
                        -UPPER * s1 * w[0] ** 2 - FORE * s12 * (w[0] + w[1]) ** 2])  # fmt: skip
    a = np.linalg.solve(jacobian, np.array([ax, ay]) - turning)
    m1, m2 = MASSES
    inertia = m2 * FORE**2 / 12.0
    c2, s2 = math.cos(bend), math.sin(bend)
    m22 = m2 * FORE**2 / 4.0 + inertia
    m12 = m22 + m2 * UPPER * FORE * c2 / 2.0
    m11 = m1 * UPPER**2 / 3.0 + m2 * (UPPER**2 + UPPER * FORE * c2 + FORE**2 / 4.0) + inertia
    h = m2 * UPPER * FORE * s2 / 2.0
    fore = m2 * GRAVITY * FORE / 2.0 * c12
    return (m11 * a[0] + m12 * a[1] - h * (2.0 * w[0] * w[1] + w[1] ** 2) + (m1 / 2.0 + m2) * GRAVITY * UPPER * c1 + fore,
            m12 * a[0] + m22 * a[1] + h * w[0] ** 2 + fore)  # fmt: skip


def test_a_two_link_arm_has_the_torques_of_its_closed_form():
    system, tip = rigid_arm()
    result = pl.inverse_dynamics(system, t_end=3.0, path={tip: circle}, motors=MOTORS, save=0.1)
    expected = np.array([closed_form(t) for t in result.time])
    assert result.labels["drive"] == ("upper.angle motor", "fore.angle motor")
    assert np.max(np.abs(result.values["effort"] - expected)) <= 1e-9
    assert np.max(np.abs(result.of_body("tip_position", "fore")[:, 0] - 0.6 - 0.2 * np.cos(2.0 * result.time))) <= 1e-12


@pytest.mark.parametrize("formulation", ["denoc", "gibbs_appell"])
def test_formulations_give_the_same_efforts(formulation):
    system, tip = rigid_arm()
    options = {"t_end": 1.0, "path": {tip: circle}, "motors": MOTORS, "save": 0.25}
    first, other = (pl.inverse_dynamics(system, formulation=name, **options) for name in ("articulated", formulation))
    assert np.max(np.abs(first.values["effort"] - other.values["effort"])) <= 1e-10


def test_the_platform_of_a_parallel_robot_goes_along_its_rose():
    """Against the closed form of the gallery; loops are closed by multipliers, elbows have no motors."""
    system = parallel_robot()
    path = {system.handle("platform").root: {"position": lambda t: rose(t)[0], "angle": lambda t: 0.0 * t}}
    result = pl.inverse_dynamics(system, t_end=1.0, path=path, save=0.05)  # motors: those that are driven
    expected = np.array([efforts_on_the_rose(t).motors for t in result.time], dtype=float)
    assert result.labels["drive"] == tuple(f"upper {leg}.angle motor" for leg in LEGS)
    assert np.max(np.abs(result.values["effort"] - expected)) <= 1e-9
    joints = pl.simulate(parallel_robot(prescribed=True), 1.0, method=pl.DOP853(rtol=1e-10, atol=1e-12), save=0.05)
    assert np.max(np.abs(result.values["effort"] - joints.values["effort"])) <= 1e-6  # along a motion that was integrated


def test_a_pose_in_space_is_followed_by_six_motors():
    """A gantry with three turns: forces by Newton, the orientation by the three angles."""
    system = pl.System("gantry", gravity=(0, 0, -GRAVITY))
    on, light = None, pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1))
    for name, joint in (("x", pl.Prismatic(axis="x")), ("y", pl.Prismatic(axis="y")), ("z", pl.Prismatic(axis="z")),
                        ("yaw", pl.Revolute(axis="z")), ("pitch", pl.Revolute(axis="y")),
                        ("roll", pl.Revolute(axis="x"))):  # fmt: skip
        on = system.add(name, light, joint=joint, on=on).root
    motors = [f"{name}.displacement" for name in "xyz"] + [f"{name}.angle" for name in ("yaw", "pitch", "roll")]
    path = {on: {"position": lambda t: (t**2, 0.5 * t, pl.sin(t)), "angle": lambda t: (0.3 * t, 0.2 * t**2, -0.4 * t)}}
    result = pl.inverse_dynamics(system, t_end=1.0, path=path, motors=motors, save=0.25)
    t = result.time
    assert result["yaw.angle"] == pytest.approx(0.3 * t, abs=1e-9)
    assert result["pitch.angle"] == pytest.approx(0.2 * t**2, abs=1e-9)
    assert result.values["effort"][:, 0] == pytest.approx(np.full(5, 6.0 * 2.0), abs=1e-9)  # all six are carried along x
    assert result.values["effort"][:, 2] == pytest.approx(4.0 * (GRAVITY - np.sin(t)), abs=1e-9)


def test_joints_that_the_path_leaves_free_may_be_told():
    system, tip = rigid_arm(3)
    result = pl.inverse_dynamics(system, {"hand.angle": lambda t: 0.5 * t}, 1.0, path={tip: circle}, motors=MOTORS, save=0.25)
    assert result["hand.angle"] == pytest.approx(0.5 * result.time)
    assert np.max(np.abs(result.of_body("tip_position", "hand")[:, 1] - 0.3 - 0.2 * np.sin(2.0 * result.time))) <= 1e-12
    assert "hand.angle motion" in result.labels["drive"]
    assert len(system.drives) == 0 and not system.links["hand"].prescribed  # the System stays as it was


def test_efforts_fed_back_lead_along_the_path():
    """Torques as a broken line: half the interval, a quarter of the error."""
    system, tip = rigid_arm()
    errors = []
    for interval in (0.02, 0.01):
        result = pl.inverse_dynamics(system, t_end=0.5, path={tip: circle}, motors=MOTORS, save=interval)
        errors.append(forward_error(rigid_arm()[0], result, "fore", circle))
    assert errors[1] == pytest.approx(errors[0] / 4.0, rel=0.1) and errors[1] < 1e-4


def forward_error(system, result, body, path):
    """How far a tip is from its path at the end, driven by the efforts from the first row's state on, m."""
    for k, name in enumerate(result.labels["drive"]):
        efforts = result.values["effort"][:, k]
        system.drive(f"motor {k}", name.removesuffix(" motor"), pl.PiecewiseLinear(result.time, efforts))
    compiled = pl.compile_system(system)
    y, n = compiled.traced.y0.copy(), result.values["q"].shape[1]
    y[:n], y[n : 2 * n] = result.values["q"][0], result.values["v"][0]
    run = pl.simulate(compiled, float(result.time[-1]), start=start_at(compiled, 0.0, y), save=[float(result.time[-1])],
                      method=pl.DOP853(rtol=1e-9, atol=1e-12))  # fmt: skip
    wanted = [float(x) for x in path(float(result.time[-1]))]
    return float(np.linalg.norm(run.of_body("tip_position", body)[-1, :2] - wanted))


# ---- beams


def swing(t, length=0.3):
    s = pl.minimum(pl.maximum((t - 0.2) / length, 0.0), 1.0)
    return 0.8 * s**4 * (35.0 - 84.0 * s + 70.0 * s**2 - 20.0 * s**3)


def elastic_two_links():
    system = pl.System("arm", gravity=(0, 0))
    beam = pl.Beam(length=0.6, section=pl.Section.rectangle(0.006, 0.03), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1), damping=pl.ModalDamping(0.01))  # fmt: skip
    upper = system.add("upper", beam, joint=pl.Revolute(angle=-0.4))
    fore = system.add("fore", beam, joint=pl.Revolute(angle=1.5), on=upper.tip)
    return system, fore.tip


def reach(t, slower=1.0):
    s = swing(t / slower)
    return 0.8 - 0.1 * s, 0.3 + 0.15 * s


def test_with_their_own_inertia_beams_bend_so_that_the_tip_stays_on_its_path():
    """As a broken line, efforts lead the tip along: half the interval, a quarter of the error. Quasi-static ones do not."""
    system, tip = elastic_two_links()
    options = {"t_end": 0.8, "path": {tip: reach}, "motors": MOTORS}
    results = [pl.inverse_dynamics(system, elastic="dynamic", save=h, **options) for h in (0.0125, 0.00625)]
    errors = [forward_error(elastic_two_links()[0], result, "fore", reach) for result in results]
    still = pl.inverse_dynamics(system, elastic="quasi-static", save=0.00625, **options)
    assert errors[1] == pytest.approx(errors[0] / 4.0, rel=0.2)
    assert forward_error(elastic_two_links()[0], still, "fore", reach) > 5.0 * errors[1]


def test_a_slow_path_bends_beams_as_if_at_rest():
    """The difference of both kinds is of second order in the pace."""
    system, tip = elastic_two_links()
    apart = []
    for slower in (2.0, 4.0):
        options = {"t_end": 0.8 * slower, "path": {tip: lambda t, k=slower: reach(t, k)}, "motors": MOTORS, "save": 0.02 * slower}
        dynamic, still = (pl.inverse_dynamics(system, elastic=kind, **options) for kind in ("dynamic", "quasi-static"))
        scale = np.max(np.abs(still.values["effort"]))
        apart.append(float(np.max(np.abs(dynamic.values["effort"] - still.values["effort"])) / scale))
    assert apart[1] < 0.3 * apart[0] and apart[1] < 0.05


def five_bar():
    """Two motors, a loop closed at the tool, distal links that bend between their pins: what the path leaves oscillates."""
    system = pl.System("five-bar", gravity=(0, 0))
    beam = pl.Beam(length=0.5, section=pl.Section.rectangle(0.005, 0.02), material=pl.ALUMINIUM, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1), damping=pl.ModalDamping(0.02))  # fmt: skip
    tips = []
    for side, at, angle, bend in (("left", 0.0, 2.0, -1.2), ("right", 0.3, 1.1, 1.2)):
        crank = system.add(side, pl.RigidBody.rod(0.3, 0.5), joint=pl.Revolute(angle=angle), on=system.ground.moved((at, 0.0)))
        tips.append(system.add(f"{side} bar", beam, joint=pl.Revolute(angle=bend), on=crank.tip).tip)
    system.close("pin", "point", *tips)
    return system, tips[0]


def nudge(t):
    s = swing(0.2 + 1.5 * (t - 0.03)) / 0.8
    return 0.15 + 0.04 * s, 0.6 - 0.03 * s


def test_beams_inside_loops_swing_along_the_path():
    """Bending that oscillates starts in balance; fed back, its efforts lead the tool better than quasi-static ones."""
    system, tool = five_bar()
    options = {"t_end": 0.24, "path": {tool: nudge}, "motors": ["left.angle", "right.angle"]}
    with pytest.raises(pl.ModelError, match=r"save must be at most 0\.0016 s, because the beams oscillate"):
        pl.inverse_dynamics(system, elastic="dynamic", save=0.004, **options)
    dynamic, still = (pl.inverse_dynamics(system, elastic=kind, save=0.0015, **options) for kind in ("dynamic", "quasi-static"))
    assert np.max(np.abs(dynamic.values["v"][0])) <= 1e-9  # at rest
    errors = [forward_error(five_bar()[0], result, "left bar", nudge) for result in (dynamic, still)]
    assert errors[0] < 0.2 * errors[1]


def test_a_tool_held_still_carries_its_weight_in_the_bent_arm():
    """Virtual work: a motor's torque is what a small turn of its joint lifts, the tip at its place whatever the beam does."""
    system = pl.System("held", gravity=(0, -GRAVITY))
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.01, 0.03), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2))  # fmt: skip
    cart = system.add("cart", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="x"))
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.2), on=cart.root)
    path = {arm.tip: lambda t: (0.7 + 0.0 * t, 0.3 + 0.0 * t)}
    result = pl.inverse_dynamics(system, t_end=1.0, path=path, motors=["cart.displacement", "arm.angle"], elastic="quasi-static",
                                 save=[0.0, 1.0])  # fmt: skip
    assert result.of_body("tip_position", "arm")[0, :2] == pytest.approx([0.7, 0.3], abs=1e-12)
    assert result.values["strain"][0] > 1e-4  # it bends
    moment = result.values["reaction_moment"][0, 1, 2]
    assert result.values["effort"][0] == pytest.approx([0.0, moment], abs=1e-8)


# ---- what cannot be


def test_a_path_out_of_reach_says_when():
    system, tip = rigid_arm()
    with pytest.raises(pl.SolveError, match=r"path of fore.* at t = 0\.6 s, where the error is .* m: it is out of reach"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: lambda t: (0.81 + 0.5 * t, 0.0 * t)}, motors=MOTORS, save=0.05)


def test_a_path_through_a_singular_position_says_where():
    system, tip = rigid_arm()
    with pytest.raises(pl.SolveError, match=r"leaves .*fore\.angle.* free at t = 0\.5 s"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: lambda t: (1.1 - 0.4 * (t - 0.5) ** 2, 0.0 * t)}, motors=MOTORS, save=0.5)


def test_more_joints_than_the_path_tells_are_named():
    system, tip = rigid_arm(3)
    with pytest.raises(pl.SolveError, match=r"leaves .*hand\.angle free.*give the motion of these joints too"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: circle}, motors=[*MOTORS, "hand.angle"], save=0.5)


def test_a_path_that_asks_for_more_than_the_joints_have_is_refused():
    system, tip = rigid_arm()
    told = {tip: {"position": circle, "angle": lambda t: 0.0 * t}}
    with pytest.raises(pl.SolveError, match="requires more than the joints can do"):
        pl.inverse_dynamics(system, t_end=1.0, path=told, motors=MOTORS, save=0.5)


def test_motors_that_are_too_few_or_too_many_are_named():
    system, tip = rigid_arm()
    with pytest.raises(pl.SolveError, match=r"motors \['upper.angle'\] cannot produce .*fore\.angle would"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: circle}, motors=["upper.angle"], save=0.5)
    robot = parallel_robot()
    path = {robot.handle("platform").root: {"position": lambda t: rose(t)[0], "angle": lambda t: 0.0 * t}}
    motors = [*(f"upper {leg}.angle" for leg in LEGS), f"lower {LEGS[0]}.angle"]
    with pytest.raises(pl.ModelError, match="as many as the directions of the path"):
        pl.inverse_dynamics(robot, t_end=1.0, path=path, motors=motors, save=0.5)


@pytest.mark.parametrize("told, why", [
    ({"motors": ["uper.angle"]}, "did you mean"), ({"motors": ["upper.angle"] * 2}, "once"),
    ({"motors": None}, "must name the driven"),
    ({"path": {}}, "must be a mapping from frames"), ({"path": {"fore": circle}}, "frames"), ({"t_end": 0.0},
     "t_end must be > t_start"),
    ({"path": {"tip": lambda t: (t, t, t, t)}}, "2 or 3 numbers"), ({"path": {"tip": {"place": circle}}},
     "must contain 'position'"),
    ({"method": "auto"}, "only save and formulation"), ({"formulation": "augmented"}, "formulation"),
])  # fmt: skip
def test_bad_input_is_refused(told, why):
    system, tip = rigid_arm()
    options = {"t_end": 1.0, "path": {tip: circle}, "motors": MOTORS, "save": 0.5, **told}
    options["path"] = {tip if frame == "tip" else frame: value for frame, value in options["path"].items()}
    with pytest.raises(pl.ModelError, match=why):
        pl.inverse_dynamics(system, **options)


def test_how_beams_are_to_be_taken_must_be_said():
    system, tip = elastic_two_links()
    with pytest.raises(pl.ModelError, match="'quasi-static' or 'dynamic'"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: reach}, motors=MOTORS)
    with pytest.raises(pl.ModelError, match="evenly spaced"):
        pl.inverse_dynamics(system, t_end=1.0, path={tip: reach}, motors=MOTORS, elastic="dynamic", save=[0.0, 0.3, 1.0])
    with pytest.raises(pl.ModelError, match="must be left out unless a path is given"):
        pl.inverse_dynamics(system, {"upper.angle": swing}, 1.0, motors=MOTORS)

"""The orthogonal complement at a state: the paper's matrices by hand, what must hold of I and C, both dynamics, closures, text."""

import casadi as ca
import numpy as np
import pytest

import mechanisms
import pliant as pl
from dynamics import test_telescopic
from dynamics.test_formulations import random_states
from pliant.codegen.tracer import Tracer
from pliant.dynamics import denoc, gibbs_appell
from pliant.dynamics.kinematics import poses, twists
from pliant.dynamics.retraction import retract
from pliant.dynamics.tree import build_tree
from pliant.gallery.parallel_robot import parallel_robot
from pliant.gallery.parallel_robot.system import LEGS
from pliant.model.closure import CLOSURES
from registered import CLOSURE

SYSTEMS = {**mechanisms.ALL, **{f"telescopic {name}": build for name, build in test_telescopic.ALL.items()}}


# ---- against the paper


def leg_by_hand(angles, rates):
    """N, N' and M of a leg as eq. 23 to 26 have them: twists [omega, v] at mass centres in the plane; E turns by a right angle."""
    E = np.array([[0.0, -1.0], [1.0, 0.0]])
    absolute, turning = np.cumsum(angles), np.cumsum(rates)
    along = [np.array([np.cos(a), np.sin(a)]) for a in absolute]
    d = [0.2 * along[0], 0.3 * along[1]]  # from a joint to its link's mass centre
    r = 0.2 * along[0]  # from the mass centre of the first link to the second joint
    d_rate, r_rate = [w * E @ x for w, x in zip(turning, d, strict=True)], turning[0] * E @ r

    def pieces(d, r, one):
        B = np.eye(3) * one
        B[1:, 0] = E @ (r + d[1])
        P = [np.array([one, *(E @ x)]) for x in d]
        N_l = np.block([[np.eye(3) * one, np.zeros((3, 3))], [B, np.eye(3) * one]])
        N_d = np.block([[P[0][:, None], np.zeros((3, 1))], [np.zeros((3, 1)), P[1][:, None]]])
        return N_l, N_d

    (N_l, N_d), (N_l_rate, N_d_rate) = pieces(d, r, 1.0), pieces(d_rate, r_rate, 0.0)
    return N_l @ N_d, N_l_rate @ N_d + N_l @ N_d_rate, np.diag([0.04, 3.0, 3.0, 0.12, 4.0, 4.0])


def test_a_leg_of_the_parallel_robot_has_the_papers_inertia_and_coriolis_matrix():
    """Eq. 17 at mass centres, in the plane M' = 0; ours at joints is the same I and the same C."""
    made = pl.denoc(parallel_robot())
    for k in range(3):
        pair = slice(2 * k, 2 * k + 2)
        N, N_rate, M = leg_by_hand(made.q[pair], made.v[pair])
        assert made.I[pair, pair] == pytest.approx(N.T @ M @ N, rel=1e-13)
        assert made.C[pair, pair] == pytest.approx(N.T @ M @ N_rate, abs=1e-15)


def test_forward_and_inverse_of_the_parallel_robot_are_the_references():
    """Torques and forces on leg tips at t = 0 to all digits of the reference; driven by them the platform follows the rose."""
    motors = [f"upper {leg}.angle" for leg in LEGS]
    made = pl.denoc(parallel_robot())
    moving = made.forward()
    assert moving.a[6:] == pytest.approx([-0.25 * np.pi**2, 0.0, 0.0], abs=1e-13)  # r0 (1 + 9)/2 pi^2 along x
    assert moving.multipliers == pytest.approx(
        [-2.36419679, 3.55232491, 15.0415768, 4.38733359, 7.06182875, -7.93965850], abs=1e-7)  # fmt: skip
    idle = pl.denoc(parallel_robot(prescribed=True))
    asked = idle.inverse(moving.a, motors)
    assert asked.tau[[0, 2, 4]] == pytest.approx([-2.96244537, 9.55759517, -6.74403613], abs=1e-7)
    assert asked.multipliers == pytest.approx(moving.multipliers, abs=1e-11)


# ---- what must hold


def traced_matrices(system):
    """I, C, twists by N v and by the recursion, velocity terms by the recursion, I' by differentiation; functions of (q, v)."""
    tree, tracer = build_tree(system), Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    xi, shift = tracer.symbols("xi", len(tree.rates))
    made = denoc.natural(tree, q, v, tracer)
    moved = denoc.natural(tree, retract(tree, q, shift), v, tracer)
    flat = tracer.column([x for row in moved.I for x in row])
    growing = ca.substitute(ca.jtimes(flat, xi, v_column), xi, ca.SX.zeros(len(tree.rates)))
    bodies = poses(tree, q)
    recursive = [pose.rotation.out(x) for pose, twist in zip(bodies, twists(tree, q, v), strict=True)
                 for x in (twist.omega, twist.velocity)]  # fmt: skip
    ours = [denoc.inner([column[r] for column in columns.values()], [v[k] for k in columns])
            for columns in made.complement.product for r in range(6)]  # fmt: skip
    bias = gibbs_appell.inverse_dynamics(tree, q, v, [0.0] * len(v), gravity=(0.0, 0.0, 0.0))
    outputs = [[x for row in made.I for x in row], [x for row in made.C for x in row], ours,
               [x for part in recursive for x in part], bias]  # fmt: skip
    columns = [*(tracer.column(x) for x in outputs), growing]
    return tree, ca.Function("matrices", [q_column, v_column], columns)


@pytest.mark.parametrize("name", SYSTEMS)
def test_twists_inertia_and_convective_terms_are_what_they_must_be(name):
    """t = N v is the bodies' motion; C v the velocity terms of the recursion; I' = C + C^T, so that C takes no power."""
    states = test_telescopic.random_states if name.startswith("telescopic") else random_states
    tree, matrices = traced_matrices(SYSTEMS[name]())
    n = len(tree.rates)
    for q, v in list(states(tree, seed=4))[:2]:
        inertia, C, ours, recursive, bias, growing = (np.array(x).ravel() for x in matrices(q, v))
        inertia, C, growing = (x.reshape(n, n) for x in (inertia, C, growing))
        assert ours == pytest.approx(recursive, abs=1e-12 * np.max(np.abs(recursive)))
        assert C @ v == pytest.approx(bias, abs=1e-10 * np.max(np.abs(bias)))
        assert growing == pytest.approx(C + C.T, abs=1e-10 * np.max(np.abs(C)))
        assert np.min(np.linalg.eigvalsh(inertia)) > 0.0


def test_the_factors_have_their_shape_and_give_the_inertia():
    """N_l lower triangular with ones on its diagonal, N_d one block a body, I and C assembled from them; nothing to write to."""
    made = pl.denoc(mechanisms.spatial_arm())
    with pytest.raises(ValueError, match="read-only"):
        made.I[0, 0] = 1.0
    assert np.all(np.triu(made.N_l, 1) == 0.0)
    assert np.all(np.diag(made.N_l) == 1.0)
    for k, name in enumerate(made.coordinates):
        body = name.split(".")[0]
        assert all(row.startswith(f"{body}.") for row, x in zip(made.twist_rows, made.N_d[:, k], strict=True) if x)
    inertia = made.N.T @ made.M @ made.N
    assert inertia == pytest.approx(made.I, abs=1e-13 * np.max(np.abs(made.I)))
    rate = made.N_l_rate @ made.N_d + made.N_l @ made.N_d_rate
    convective = made.N.T @ (made.M @ rate + made.H @ made.N)
    assert convective == pytest.approx(made.C, abs=1e-13 * max(np.max(np.abs(made.C)), 1.0))


# ---- dynamics


@pytest.mark.parametrize("build", [mechanisms.spatial_arm, mechanisms.branched_tree], ids=lambda b: b.__name__)
def test_forward_is_what_a_run_sees_and_inverse_goes_back(build):
    system = build()
    run = pl.simulate(system, 0.02, save=[0.0, 0.02])
    made = pl.denoc(system, q=run.values["q"][1], v=run.values["v"][1], t=0.02)
    moving = made.forward()
    size = np.max(np.abs(run.values["a"][1]))
    assert moving.a == pytest.approx(run.values["a"][1], abs=1e-10 * size)
    pushed = made.forward({made.coordinates[0]: 3.0})
    effort = np.zeros(len(made.coordinates))
    effort[0] = 3.0
    assert made.inverse(pushed.a).tau == pytest.approx(effort, abs=1e-9 * max(np.max(np.abs(made.bias)), 1.0))


def test_prescribed_coordinates_stand_and_accelerate_as_told():
    system = pl.System("told", gravity=(0, -9.81))
    first = system.add("first", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(motion=lambda t: 0.3 + t**2))
    system.add("second", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.4), on=first.tip)
    made = pl.denoc(system, q={"first.angle": 99.0}, t=0.5)
    assert (made.q[0], made.v[0], made.known[0]) == pytest.approx((0.55, 1.0, 2.0))
    run = pl.simulate(system, 0.5, save=[0.5])
    there = pl.denoc(system, q=run.values["q"][0], v=run.values["v"][0], t=0.5)
    assert there.forward().a == pytest.approx(run.values["a"][0], rel=1e-9)
    assert there.inverse(there.forward().a).tau == pytest.approx([run.values["effort"][0, 0], 0.0], abs=1e-9)


def test_signals_are_read_at_the_time_asked_for():
    """A table whose piece at hand is a parameter, and a formula with breakpoints."""
    system = pl.System("driven", gravity=(0, 0))
    rod = system.add("rod", pl.RigidBody.rod(1.0, 3.0), joint=pl.Revolute())
    system.drive("table", "rod.angle", pl.PiecewiseLinear([0.0, 1.0, 2.0], [0.0, 4.0, 0.0]))
    system.moment("burst", rod.tip, (0.0, 0.0, pl.Formula(lambda t, q, v: pl.where(t < 1.0, 0.0, 5.0), breakpoints=(1.0,))))
    inertia = 3.0 / 3.0
    for t, effort in ((0.5, 2.0), (0.75, 3.0), (1.5, 2.0 + 5.0)):
        assert pl.denoc(system, t=t).forward().a == pytest.approx([effort / inertia], rel=1e-12)


def test_what_nothing_resists_is_said_to_be_singular():
    system = pl.System("thin", gravity=(0, 0))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(axis="x"))
    with pytest.raises(pl.SolveError, match="denoc: the equations of motion of 'thin' are singular at this state"):
        pl.denoc(system).forward()


def two_links():
    system = pl.System("arm", gravity=(0, -9.81))
    first = system.add("upper", mechanisms.planar_link(2), joint=pl.Revolute(damper=pl.Damper(0.3), spring=pl.Spring(5.0)))
    system.add("fore", mechanisms.planar_link(2), joint=pl.Revolute(), on=first.tip)
    return system


@pytest.mark.parametrize("elastic", ["integrated", "quasi-static", "prescribed"])
def test_inverse_dynamics_goes_through_the_complement_too(elastic):
    motion = {"upper.angle": lambda t: 0.5 * pl.sin(np.pi * t) ** 2, "fore.angle": lambda t: -0.8 * pl.sin(np.pi * t) ** 2}
    if elastic == "prescribed":
        motion |= {f"{body}.y{k}": (lambda t: 0.01 * pl.sin(5.0 * t)) for body in ("upper", "fore") for k in (1, 2)}
    tight = {"method": pl.DOP853(rtol=1e-12, atol=1e-14)} if elastic == "integrated" else {}
    one, two = (pl.inverse_dynamics(two_links(), motion, 0.2, elastic=elastic, save=0.05, formulation=f, **tight)
                for f in ("articulated", "denoc"))  # fmt: skip
    assert two.values["effort"] == pytest.approx(one.values["effort"], abs=1e-9 * np.max(np.abs(one.values["effort"])))


# ---- closures


def held(kind, elastic):
    """A body on a ball, or an elastic link on a hinge, that the springs of a closure hold to a free one."""
    system = pl.System(kind, gravity=(0.5, -9.81, 0.3))
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0.05, 0.0), tip=(0.7, 0.0, 0.0))
    arm = (system.add("arm", mechanisms.spatial_link(), joint=pl.Revolute(axis="y", rate=0.4)) if elastic
           else system.add("arm", body, joint=pl.Spherical(angular_velocity=(0.5, 0.4, 1.0))))  # fmt: skip
    other = system.add("other", body, joint=pl.Free(position=(0.7, 0.0, 0.0), angular_velocity=(0.2, -0.3, 0.1)))
    springs = {"by": "springs", "stiffness": 2e3, "damping": 5.0}
    system.close("held", kind, other.root, arm.root if kind == "distance" else arm.tip, **CLOSURE[kind].fields, **springs)
    return system


@pytest.mark.parametrize("elastic", [False, True], ids=["rigid", "elastic"])
@pytest.mark.parametrize("kind", [kind for kind in CLOSURES if not CLOSURE[kind].coordinates])
def test_closures_over_twists_are_those_over_coordinates(kind, elastic):
    """A = K N at random states, whatever is held; and the springs' wrenches do the work of their forces."""
    system = held(kind, elastic)
    rng = np.random.default_rng(3)
    start = pl.denoc(system)
    for _ in range(2):
        q = start.q + 0.1 * rng.normal(size=start.q.size)
        made = pl.denoc(system, q=q, v=rng.normal(size=start.v.size))
        through_twists = made.K @ made.N
        assert through_twists == pytest.approx(made.A, abs=1e-12)
        assert made.A @ made.v == pytest.approx(made.c_rate, abs=1e-12)
        assert np.max(np.abs(made.c)) > 1e-3
        assert made.spring_forces == pytest.approx(-2e3 * made.c - 5.0 * made.c_rate, rel=1e-13)
        assert made.twist @ made.wcs == pytest.approx(made.c_rate @ made.spring_forces, rel=1e-10)


# ---- text and wrong questions


def test_it_prints_with_names():
    made = pl.denoc(parallel_robot(1e4), q={"platform.x": 0.06})
    text = str(made)
    lines = text.splitlines()
    head = lines.index("I = N_d^T N_l^T M N_l N_d, generalized inertia")
    assert lines[head + 1].split() == " ".join(made.coordinates).split()
    assert lines[head + 2].startswith("upper I.angle")
    assert float(lines[head + 2].split()[2]) == pytest.approx(made.I[0, 0], rel=1e-5)
    assert "omega_x" not in text  # nothing turns about x in the plane
    assert "wcs" in text
    assert repr(made) == ("<Denoc 'parallel robot, Ks = 10000 N/m' at t = 0 s: 9 coordinates, 42 twist entries, 6 closure rows>")
    assert "wcs" not in str(pl.denoc(two_links()))
    assert made.table("c").splitlines()[1].split() == ["pin", "I", "0", "-0.01"]


WRONG = {
    "unknown coordinate": (lambda: pl.denoc(two_links(), q={"uper.angle": 1.0}), r"denoc: q must be one of .*did you mean"),
    "too few": (lambda: pl.denoc(two_links(), v=[1.0]), r"denoc: v must be 6 numbers, got \[1.0\]"),
    "not a number": (lambda: pl.denoc(two_links(), v={"fore.angle": "fast"}), r"v\['fore.angle'\] must be a finite number"),
    "unknown table": (lambda: pl.denoc(two_links()).table("J"), "denoc: table must be one of"),
    "too few motors": (lambda: pl.denoc(parallel_robot()).inverse([1.0] * 9, ["upper I.angle"]),
                       "denoc: motors must be able to produce this motion"),
    "nothing": (lambda: pl.denoc(pl.System("s", gravity=(0, 0))), "bodies must hold at least one body"),
    "as published": (lambda: pl.denoc(published()), "formulation must be a recursion for stiffening as published"),
}  # fmt: skip


def published():
    system = pl.System("s", gravity=(0, 0))
    beam = pl.Beam(length=1.0, section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1),
                   stiffening="as-published")  # fmt: skip
    system.add("beam", beam, joint=pl.Revolute())
    return system


@pytest.mark.parametrize("case", WRONG)
def test_wrong_questions_are_refused(case):
    ask, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=message):
        ask()

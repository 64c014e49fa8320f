"""Equations out: every form says what the compiled right-hand side does."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from mechanisms import branched_tree, floating_base, planar_link, spatial_arm
from pliant.equations import symbolic
from pliant.equations.c_source import identifier
from pliant.equations.derive import Equations
from pliant.gallery.falling_chain import falling_chain
from pliant.run.prepare import Compiled, compile_system

ROUND_OFF = 1e-9  # of the largest acceleration: M may be ill conditioned where modes are stiff


def double_pendulum(mass: float = 1.5) -> pl.System:
    m, inertia, c = pl.Parameter("m", mass, "kg"), pl.Parameter("J", 0.2), pl.Parameter("com", 0.4)
    system = pl.System("double pendulum", gravity=(0, -pl.Parameter("g", 9.81)))
    rod = pl.RigidBody(mass=m, inertia=inertia, com=(c, 0), tip=(pl.Parameter("l", 1.0), 0))
    upper = system.add("upper", rod, joint=pl.Revolute(angle=0.3, rate=0.4))
    system.add("lower", rod, joint=pl.Revolute(angle=-0.7, rate=1.1), on=upper.tip)
    system.drive("motor", "upper.angle", lambda t, q, v: 2.0 + t)
    return system


def elastic_arm() -> pl.System:
    system = pl.System("elastic arm", gravity=(0, -9.81))
    hub = system.add("hub", pl.RigidBody(mass=1.0, inertia=0.3, tip=(0.1, 0)), joint=pl.Revolute(rate=1.0))
    system.add("beam", planar_link(2), joint=pl.Revolute(angle=0.2, damper=pl.Damper(0.3)), on=hub.tip,
               initial={"bend1": 0.01} if "bend1" in planar_link(2).mode_labels else {})  # fmt: skip
    return system


def four_bar(by: str = "multipliers", **options: float) -> pl.System:
    system = pl.System("four-bar", gravity=(0, -9.81))
    length = pl.Parameter("l", 1.0, "m")
    rod = pl.RigidBody(mass=1.0, inertia=1 / 12, com=(length / 2, 0), tip=(length, 0))
    left = system.add("left", rod, joint=pl.Revolute(angle=pl.deg(80), rate=-1.0))
    coupler = system.add("coupler", rod, joint=pl.Revolute(angle=pl.deg(-80), rate=1.0), on=left.tip)
    right = system.add("right", rod, joint=pl.Revolute(angle=pl.deg(80), rate=-1.0), on=system.ground.moved((1, 0)))
    system.close("pin", "point", coupler.tip, right.tip, by=by, **options)
    return system


def driven_slider() -> pl.System:
    """A prescribed crank that carries a swinging rod."""
    system = pl.System("driven", gravity=(0, -9.81))
    rod = pl.RigidBody(mass=1.0, inertia=0.1, com=(0.5, 0), tip=(1, 0))
    crank = system.add("crank", rod, joint=pl.Revolute(motion=lambda t: 0.3 + 2.0 * t + 0.5 * t**3))
    system.add("rod", rod, joint=pl.Revolute(angle=0.2), on=crank.tip)
    return system


def written_out() -> pl.System:
    """Parameters in frames, inertias, springs, stops, loads, formulas and gravity, many of them zero or one just now."""
    zero, one, tilt = (pl.Parameter(name, value) for name, value in (("zero", 0.0), ("one", 1.0), ("tilt", 0.0)))
    system = pl.System("written out", gravity=(zero, -9.81 * one, 0))
    stop = pl.Limits(low=-1.0, high=0.1 * one, stiffness=10.0, damping=zero)
    joint = pl.Revolute(angle=0.05, rate=0.5, axis=(pl.sin(tilt), 0, pl.cos(tilt)), spring=pl.Spring(zero, rest=0.3), limits=stop)
    body = pl.RigidBody(mass=one, inertia=(0.1, 0.2, 0.3), com=(0.3, 0.0, zero), tip=(one, zero, 0), frames={"side": (1, 0, 0)})
    first = system.add("first", body, joint=joint)
    second = pl.Spherical(angular_velocity=(0.1, 0.2, 0.3), damper=pl.Damper(zero))
    system.add("second", body, joint=second, on=first.tip.turned(tilt, "y"))
    system.add("told", body, joint=pl.Revolute(motion=lambda t: one * t**2), on=system.handle("second").at("side"))
    system.force("pull", first.at("side"), (0, zero, 2.0))
    system.close("link", "distance", system.handle("told").tip, system.ground, length=1.5, by="springs", stiffness=30 * one)
    return system


def geared() -> pl.System:
    """A gear counted from a start that is a parameter."""
    system = pl.System("geared", gravity=(0, -9.81))
    wheel = pl.RigidBody(mass=1.0, inertia=pl.Parameter("J", 0.1), com=(0.2, 0))
    system.add("a", wheel, joint=pl.Revolute(angle=pl.Parameter("start", 0.0), rate=1.0))
    system.add("b", wheel, joint=pl.Revolute(rate=0.5))
    system.close("gear", "gear", "a.angle", "b.angle", ratio=pl.Parameter("ratio", 2.0))
    return system


def written_beam(modes: str = "cf") -> pl.System:
    """A beam whose numbers follow from parameters, and a payload, a station, a damping that do so too."""
    length, modulus, x = pl.Parameter("L", 1.0, "m"), pl.Parameter("E", 2e11, "Pa"), pl.Parameter("x", 0.4, low=0.0)
    material = pl.Material(E=modulus, density=7800.0)
    payload = pl.Payload(mass=pl.Parameter("payload", 0.5), inertia=0.01)
    beam = pl.Beam(length=length, section=pl.Section.rectangle(0.02, 0.01), material=material, theory="euler-bernoulli",
                   modes=pl.Modes(modes, 2), payload=payload,
                   damping=[pl.AirDrag(pl.Parameter("drag", 0.0)), pl.MotionDrag(pl.Parameter("air", 0.1))])  # fmt: skip
    system = pl.System("written beam", gravity=(0, -9.81))
    hub = system.add("hub", pl.RigidBody(mass=1.0, inertia=0.3, tip=(0.1, 0)), joint=pl.Revolute(rate=1.0))
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.2), on=hub.tip)
    system.force("hold", arm.at(x), (0, 1.0))
    return system


def written_telescope() -> pl.System:
    material = pl.Material(E=pl.Parameter("E", 2e11), density=pl.Parameter("rho", 7800.0))
    boom = pl.TelescopicBeam(length=pl.Parameter("L", 1.0), section=pl.Section.rectangle(0.02, 0.01), material=material,
                             modes=pl.Modes("cf", 2), extension=0.6, rate=0.1,
                             damping=[pl.AirDrag(pl.Parameter("drag", 0.2)), pl.MotionDrag(pl.Parameter("air", 0.1))],
                             on_sleeve_end="spring", end_stiffness=pl.Parameter("k", 1e4))  # fmt: skip
    system = pl.System("written telescope", gravity=(0, -9.81))
    system.add("boom", boom, joint=pl.Revolute(rate=1.0))
    return system


SYSTEMS = [double_pendulum, elastic_arm, four_bar, lambda: four_bar("springs", stiffness=1e4, damping=3.0), driven_slider,
           spatial_arm, branched_tree, floating_base, written_out, geared, written_beam, written_telescope]  # fmt: skip


def state_of(system: pl.System, parameters: dict[str, float] | None = None) -> tuple[float, np.ndarray, np.ndarray, Compiled]:
    """A time, q, v at the start, the inputs then, and the compiled System."""
    compiled = compile_system(system, parameters=parameters)
    traced = compiled.traced
    q, v = np.split(traced.y0[: len(traced.free_q) + len(traced.free_v)], [len(traced.free_q)])
    return 0.0, q, v, compiled


def inputs_of(equations: Equations, t: float) -> list[float]:
    return [{"motor": 2.0 + t, "push.y": 2.0 * np.sin(3.0 * t)}[name] for name in equations.u.names]


@pytest.mark.parametrize("build", SYSTEMS)
def test_the_function_gives_the_accelerations_of_the_compiled_system(build):
    system = build()
    t, q, v, compiled = state_of(system)
    equations = pl.equations(system)
    found = equations.function()(t=t, q=q, v=v, u=inputs_of(equations, t), p=equations.values)
    rates = compiled.rhs(t, compiled.traced.y0, compiled.traced.parameters(0.0, 1.0))[: q.size + v.size]
    assert np.allclose(np.array(found["position_rate"]).ravel(), rates[: q.size], atol=1e-12)
    ours = np.array(found["acceleration"]).ravel()
    assert np.max(np.abs(ours - rates[q.size :])) <= ROUND_OFF * max(1.0, np.max(np.abs(rates)))
    mass = np.array(found["mass_matrix"])
    assert np.array_equal(mass, mass.T) and np.min(np.linalg.eigvalsh(mass)) > 0.0


@pytest.mark.parametrize("build", [double_pendulum, elastic_arm, four_bar, spatial_arm, floating_base])
def test_tips_and_their_jacobian_are_those_of_a_run(build):
    """Positions at a row, and velocities as J v."""
    system = build()
    equations, run = pl.equations(system), pl.simulate(system, 0.05, save=[0.0, 0.05])
    q, v = ([run[name, label][-1] for label in group.names] for name, group in (("q", equations.q), ("v", equations.v)))
    found = equations.function()(t=run.time[-1], q=q, v=v, u=0, p=equations.values)
    assert equations.bodies == run.labels["body"]
    assert np.allclose(np.array(found["tip_position"]).ravel(), run["tip_position"][-1].ravel(), rtol=0.0, atol=1e-12)
    assert np.allclose(np.array(found["tip_jacobian"]) @ v, run["tip_velocity"][-1].ravel(), rtol=0.0, atol=1e-12)


def test_multipliers_are_those_of_a_run():
    system = four_bar()
    t, q, v, _ = state_of(system)
    found = pl.equations(system).function()(t=t, q=q, v=v, u=[], p=pl.equations(system).values)
    seen = pl.simulate(system, 1e-3, save=[0.0]).values["multiplier"][0]
    assert np.allclose(np.array(found["multiplier"]).ravel(), seen, rtol=1e-9)


def test_a_parameter_changed_is_the_model_changed():
    """Parameters are arguments: other values are other models."""
    light, heavy = pl.equations(double_pendulum()), pl.equations(double_pendulum(mass=4.0))
    assert light.p.names == heavy.p.names
    q, v = [0.3, -0.7], [0.4, 1.1]
    a, b = (e.function()(t=0, q=q, v=v, u=[2.0], p=heavy.values)["acceleration"] for e in (light, heavy))
    assert np.array_equal(np.array(a), np.array(b))


CHANGED = [
    (written_out, {"zero": 0.2, "one": 1.3, "tilt": 0.4}),
    (geared, {"start": 0.4, "J": 0.2, "ratio": -1.5}),
    (written_beam, {"L": 1.2, "E": 1e11, "x": 0.7, "payload": 0.9, "drag": 2.0, "air": 0.3}),
    (written_telescope, {"L": 1.1, "E": 7e10, "rho": 2700.0, "drag": 0.3, "air": 0.0, "k": 2e4}),
]


@pytest.mark.parametrize("build, parameters", CHANGED)
def test_equations_hold_for_other_values_than_they_were_derived_at(build, parameters):
    """What is zero or one as written is no part of the equations' form; numbers of beams are told again."""
    system = build()
    written, other = pl.equations(system), pl.equations(system, parameters)
    assert written.p.names == other.p.names and written.p.names[: len(parameters)] == tuple(system.parameters)
    assert parameters.items() <= dict(zip(other.p.names, other.values, strict=True)).items()
    t, q, v, compiled = state_of(system, parameters)
    found = written.function()(t=t, q=q, v=v, u=[], p=other.values)
    rates = compiled.rhs(t, compiled.traced.y0, compiled.traced.parameters(0.0, 1.0))[: q.size + v.size]
    assert np.max(np.abs(np.array(found["acceleration"]).ravel() - rates[q.size :])) <= ROUND_OFF * np.max(np.abs(rates))
    q, v = q + 0.3, v - 0.2  # beyond the stop
    a, b = (np.array(e.function()(t=0.1, q=q, v=v, u=[], p=other.values)["acceleration"]) for e in (written, other))
    assert np.allclose(a, b, rtol=ROUND_OFF, atol=ROUND_OFF * np.max(np.abs(b)))


def test_numbers_of_beams_are_named_and_said_not_to_follow():
    equations = pl.equations(written_beam())
    names, values = equations.p.names, dict(zip(equations.p.names, equations.values, strict=True))
    assert names[:6] == ("L", "E", "drag", "air", "payload", "x") and names[6] == "arm.mass" and "arm.stiffness[0][0]" in names
    assert values["arm.mass"] == pytest.approx(7800.0 * 0.02 * 0.01) and values["arm.tip.displacement[0][0]"] == 1.0
    assert equations.notes == ("numbers of 'arm' are integrals at the present L, E, drag, air, x and do not change with them",)
    assert "integrals at the present" in equations.latex(simplify=False)
    telescope = pl.equations(written_telescope())
    assert telescope.p.names[6:] == ("boom.stiffness[0][0]", "boom.stiffness[1][1]")  # all else is exact


def test_an_exponent_that_became_products_is_said_to_be_fixed():
    system = double_pendulum()
    power = pl.Parameter("power", 2.0)
    system.force("pull", system.handle("lower").tip, (0, lambda t, q, v: 1.0))
    system.add("told", pl.RigidBody(mass=1.0), joint=pl.Prismatic(motion=lambda t: (1.0 + t) ** power))
    assert pl.equations(system).notes == ("the equations hold only for these values: power = 2",)


def test_points_that_meet_by_their_values_keep_their_own_parameters():
    import sympy

    system = pl.System("lever", gravity=(0, 0))
    a, b = pl.Parameter("a", 1.0), pl.Parameter("b", 1.0)
    lever = system.add("lever", pl.RigidBody(mass=1, inertia=0.1, tip=(a, 0), frames={"b": (b, 0)}), joint=pl.Revolute())
    for name, place, size in (("one", lever.tip, 1.0), ("two", lever.at("b"), 2.0), ("three", lever.at((1, 0)), 3.0)):
        system.force(name, place, (0, size), expressed="body")
    found = pl.equations(system).sympy()
    assert sympy.simplify(found.bias[0] + found.symbols["a"] + 2 * found.symbols["b"] + 3) == 0


def test_a_system_without_parameters_has_numbers_only():
    equations = pl.equations(elastic_arm())
    assert equations.p.names == () and equations.values == () and equations.notes == ()


def test_names_that_mean_something_else_do_no_harm(tmp_path):
    """A parameter called t, like a drive, like a matrix, like a word of Python, or as a coordinate reads in C."""
    names = ("t", "motor", "bias", "lambda", "arm_angle", "s0", "E", "M")
    mass = sum((pl.Parameter(name, 1.0 + k) for k, name in enumerate(names)), 0.5)
    system = pl.System("names", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody(mass=mass, inertia=0.1, com=(0.5, 0)), joint=pl.Revolute())
    system.drive("motor", "arm.angle", 1.0)
    equations = pl.equations(system)
    symbols, space = equations.sympy(), {}
    assert len(symbols.symbols) == 4 + len(names)
    exec(symbols.source(), space)
    wanted = 0.1 + 0.25 * (0.5 + sum(equations.values))
    assert float(space["mass_matrix"].subs(space["values"])[0]) == pytest.approx(wanted, rel=1e-14)
    letters = [line.split(" = ")[0] for line in equations.latex().splitlines() if line.startswith("% ") and line.count(" = ") == 2]
    assert len(letters) == len(set(letters)) == len(names)


def test_values_that_cannot_be_are_refused():
    with pytest.raises(pl.ModelError, match="must name one of"):
        pl.equations(double_pendulum(), {"mas": 1.0})


def test_sympy_has_the_textbook_mass_matrix():
    import sympy

    found = pl.equations(double_pendulum()).sympy()
    s = found.symbols
    m, c, i = s["m"], s["com"], s["J"]
    assert sympy.simplify(found.mass_matrix[1, 1] - (m * c**2 + i)) == 0
    textbook = m * c**2 + i + m * c * s["l"] * sympy.cos(s["lower.angle"])
    assert sympy.simplify(found.mass_matrix[0, 1] - textbook) == 0
    assert found.values[m] == 1.5


def test_sympy_source_is_a_module_with_the_same_numbers():
    equations = pl.equations(double_pendulum())
    space: dict[str, object] = {}
    exec(equations.sympy().source(), space)
    at = {**space["values"], space["upper_angle"]: 0.3, space["lower_angle"]: -0.7}  # type: ignore[dict-item]
    mass = np.array(space["mass_matrix"].subs(at), dtype=float)  # type: ignore[attr-defined]
    ours = equations.function()(t=0, q=[0.3, -0.7], v=[0, 0], u=[0], p=equations.values)["mass_matrix"]
    assert np.allclose(mass, np.array(ours), rtol=1e-14)


def test_latex_names_what_a_book_would():
    text = pl.equations(double_pendulum()).latex()
    for letter in (r"\theta_{\mathrm{upper}}", r"\dot{\theta}_{\mathrm{lower}}", r"\mathrm{com}^{2} m"):
        assert letter in text
    assert "% g = g = 9.81" in text
    for matrix in "MhB":
        assert rf"\[ {matrix} = " in text
    assert r"\[ A = " not in text
    assert r"\[ A = " in pl.equations(four_bar()).latex(simplify=False)


def test_contacts_left_out_are_said_to_be():
    system = double_pendulum()
    system.contact(points=[system.handle("lower").tip], against=pl.Plane(normal=(0, 1), point=(0, -3.0)),
                   normal=pl.Hertz(stiffness=1e6))  # fmt: skip
    assert "contact forces are left out" in pl.equations(system).latex(simplify=False)


def test_a_casadi_file_loads_with_its_names(tmp_path):
    equations = pl.equations(four_bar())
    equations.write_casadi(tmp_path / "loop.casadi")
    loaded = ca.Function.load(str(tmp_path / "loop.casadi"))
    names = json.loads((tmp_path / "loop.json").read_text())
    assert loaded.name_in() == ["t", "q", "v", "u", "p"] and loaded.name_out() == names["outputs"]
    assert names["inputs"]["q"] == ["left.angle", "coupler.angle", "right.angle"]
    assert names["parameters"] == {"l": 1.0} and names["constraints"] == ["pin 0", "pin 1"]
    q, v, p = [1.4, -1.4, 1.4], [-1.0, 1.0, -1.0], list(names["parameters"].values())
    a, b = (f(t=0, q=q, v=v, u=[], p=p)["acceleration"] for f in (loaded, equations.function()))
    assert np.array_equal(np.array(a), np.array(b))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop.casadi", "loop.json"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")
@pytest.mark.parametrize("build", [double_pendulum, four_bar, elastic_arm, branched_tree, written_beam])
def test_c_source_compiles_and_gives_the_same_numbers(build, tmp_path):
    system = build()
    equations = pl.equations(system)
    equations.write_c(tmp_path / "model.c")
    library = tmp_path / "model.so"
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "model.c", "-o", library, "-lm"],
                   cwd=tmp_path, check=True)  # fmt: skip
    code = ctypes.CDLL(str(library))
    t, q, v, _ = state_of(system)
    arguments = [np.ascontiguousarray(x, dtype=float) for x in (q, v, inputs_of(equations, t), equations.values)]
    numbers = equations.function()(t=t, q=q, v=v, u=arguments[2], p=equations.values)
    for name, wanted in numbers.items():
        matrix = np.array(wanted)
        if matrix.size == 0:
            continue
        out = np.empty(matrix.shape)
        getattr(code, f"model_{name}")(ctypes.c_double(t), *(ctypes.c_void_p(x.ctypes.data) for x in (*arguments, out)))
        assert np.allclose(out, matrix, rtol=1e-10, atol=1e-10 * max(1.0, np.max(np.abs(matrix)))), name


def test_c_header_has_an_index_for_every_name(tmp_path):
    equations = pl.equations(double_pendulum())
    equations.write_c(tmp_path / "2 arms.c")
    header = (tmp_path / "2 arms.h").read_text()
    assert "_2_arms_coordinate_upper_angle = 0, /* upper.angle */" in header
    assert "_2_arms_parameter_com = 3, /* com */" in header and identifier("2 arms") == "_2_arms"


def test_what_was_simplified_in_time_is_kept(monkeypatch):
    """A clock that stops after the mass matrix."""
    clock = iter([0.0, 0.0, 0.0, 100.0, 100.0, *[100.0] * 9])
    monkeypatch.setattr(symbolic, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    limited = pl.equations(double_pendulum()).sympy()
    assert limited.notes[0] == "bias is not simplified: all that takes more than max_seconds = 30 s"
    assert not any(note.startswith("mass_matrix") for note in limited.notes)


def test_a_system_without_freedom_and_a_table_are_refused():
    still = pl.System("still", gravity=(0, 0))
    with pytest.raises(pl.ModelError, match="bodies must hold at least one body"):
        pl.equations(still)
    still.add("arm", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(motion=lambda t: t))
    with pytest.raises(pl.ModelError, match="degrees of freedom must be >= 1"):
        pl.equations(still)
    driven = pl.System("told", gravity=(0, 0))
    table = pl.MotionTable([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0])
    arm = driven.add("arm", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(motion=table))
    driven.add("rod", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(), on=arm.tip)
    with pytest.raises(pl.ModelError, match=r"'arm.angle': motion must be a formula"):
        pl.equations(driven)


def test_equations_that_take_too_long_to_simplify_are_written_as_they_are_and_say_so():
    """SymPy needs minutes for this chain; half a second here, so that the test is brief."""
    derived = pl.equations(falling_chain())
    plain, limited = derived.sympy(simplify=False), derived.sympy(max_seconds=0.5)
    assert limited.mass_matrix == plain.mass_matrix and limited.bias == plain.bias
    assert "mass_matrix is not simplified: all that takes more than max_seconds = 0.5 s" in limited.notes
    with pytest.raises(pl.ModelError, match="max_seconds must be > 0 s"):
        derived.latex(max_seconds=0.0)

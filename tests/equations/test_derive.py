"""Equations out: every form says what the compiled right-hand side does."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from mechanisms import branched_tree, floating_base, planar_link, spatial_arm
from pliant.equations.c_source import identifier
from pliant.equations.derive import Equations
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


SYSTEMS = [double_pendulum, elastic_arm, four_bar, lambda: four_bar("springs", stiffness=1e4, damping=3.0), driven_slider,
           spatial_arm, branched_tree, floating_base]  # fmt: skip


def state_of(system: pl.System) -> tuple[float, np.ndarray, np.ndarray, Compiled]:
    """A time, q, v at the start, the inputs then, and the compiled System."""
    compiled = compile_system(system)
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
@pytest.mark.parametrize("build", [double_pendulum, four_bar, elastic_arm, branched_tree])
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

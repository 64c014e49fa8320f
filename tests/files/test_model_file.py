"""A file and the same words in Python make equal systems, and what is written reads back equal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pliant.errors import ModelError
from pliant.files import Model, RunSettings, dump_model, load_model, loads_model, parse_formula
from pliant.files.vocabulary import word
from pliant.integrate.methods.method import METHODS, RK4, RKF45, Auto
from pliant.model.beam import Beam
from pliant.model.contact import Plane
from pliant.model.damping import DAMPINGS, AirDrag, Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh, RayleighRatios
from pliant.model.friction_law import Ambrosio
from pliant.model.joint import (
    JOINTS,
    Cylindrical,
    Damper,
    Free,
    Joint,
    Limits,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Spring,
    Universal,
    Weld,
)
from pliant.model.material import ALUMINIUM, STEEL, Material
from pliant.model.modes import (
    AxialElements,
    AxialModes,
    ElementModes,
    GivenModes,
    Modes,
    ShapeFunction,
    ShapeTable,
    TorsionModes,
)
from pliant.model.normal_law import HuGuo
from pliant.model.reduction import CraigBampton, FreeModes
from pliant.model.rigid import Payload, RigidBody
from pliant.model.section import Section
from pliant.model.signal import Constant, Formula, PiecewiseConstant, PiecewiseLinear, Prescribed
from pliant.model.system import System

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
ROD = RigidBody.rod(1.0, 2.0)


def one_body(body: str, joint: str = "revolute", more: str = "") -> System:
    text = f"pliant: 1\nsystem: one\ngravity: [0, -9.81]\nbodies:\n  arm: {{{body}, joint: {joint}{more}}}\n"
    model = loads_model(text)
    assert_reads_back(model)
    return model.system


def assert_reads_back(model: Model) -> None:
    assert loads_model(dump_model(model.system, model.run)) == model


def beam(**changes: Any) -> Beam:
    fields: dict[str, Any] = {"length": 1.0, "section": Section.rectangle(0.01, 0.02), "material": STEEL,
                              "theory": "timoshenko", "modes": Modes("cf", 2)}  # fmt: skip
    return Beam(**fields | changes)


def beam_text(**changes: str) -> str:
    fields = {"length": "1", "section": "{rectangle: {height: 0.01, width: 0.02}}", "material": "steel",
              "theory": "timoshenko", "modes": "{ends: cf, count: 2}"}  # fmt: skip
    return "beam: {" + ", ".join(f"{name}: {value}" for name, value in (fields | changes).items()) + "}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read_back_equal(path: Path) -> None:
    model = load_model(path)
    assert model.run is not None
    assert_reads_back(model)


def test_the_falling_chain_equals_the_one_built_in_python() -> None:
    link = Beam(length=1.0, mass_per_length=1.0, rotary_inertia=2.9473e-5, theory="timoshenko",
                section=Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6), material=Material(E=2e11, G=7.7e10),
                modes=Modes("ss", count=1), damping=[KelvinVoigt(125.0), AirDrag(0.025)], stiffening="none")  # fmt: skip
    chain = System("falling chain", gravity=(0, -9.81))
    turn = 30 * (math.pi / 180)
    start = (-0.5 - math.sin(60 * (math.pi / 180)), 0.9)
    a = chain.add("a", link, joint=Planar(position=start, angle=turn))
    b = chain.add("b", link, joint=Revolute(angle=-turn), on=a.tip)
    chain.add("c", link, joint=Revolute(angle=-turn), on=b.tip)
    chain.contact(points=chain.ends(), against=Plane(normal=(0, 1)), normal=HuGuo(stiffness=140e6, restitution=0.8),
                  friction=Ambrosio(mu=0.1, v0=1e-4, v1=1e-3), name="ground")  # fmt: skip
    chain.event("half a metre up", parse_formula("q['a.y'] - 0.5"), "falling")
    path = next(path for path in EXAMPLES if path.stem == "falling_chain")
    assert load_model(path) == Model(chain, RunSettings(t_end=1.5, method=RKF45(rtol=1e-9, atol=1e-12), save=1e-3))


JOINT_FILES: list[tuple[str, Joint]] = [
    ("weld", Weld()),
    ("{weld: }", Weld()),
    ("{weld: {}}", Weld()),
    ("revolute", Revolute()),
    ("{revolute: {angle: pi/2, rate: -1e2, axis: -y, spring: 10, damper: {coefficient: 2}}}",
     Revolute(angle=math.pi / 2, rate=-100.0, axis="-y", spring=Spring(10.0), damper=Damper(2.0))),
    ("{revolute: {spring: {stiffness: 10, rest: 1}, limits: {low: -1, high: 1, stiffness: 1e4}}}",
     Revolute(spring=Spring(10.0, 1.0), limits=Limits(low=-1.0, high=1.0, stiffness=1e4))),
    ("{prismatic: {displacement: 0.1, rate: 2, axis: [0, 3, 4], damper: {displacement: 0.5}}}",
     Prismatic(displacement=0.1, rate=2.0, axis=(0, 3, 4), damper=Damper(0.5))),
    ("{cylindrical: {displacement: 1, angle: 2, rates: [3, 4], axis: z, "
     "spring: {angle: {stiffness: 5}, displacement: 6}}}",
     Cylindrical(displacement=1.0, angle=2.0, rates=(3, 4), axis="z",
                 spring={"angle": Spring(5.0), "displacement": Spring(6.0)})),
    ("{universal: {angles: [0.1, 0.2], rates: [1, 2], axes: [x, [0, 1]]}}",
     Universal(angles=(0.1, 0.2), rates=(1, 2), axes=("x", (0, 1)))),
    ("{spherical: {orientation: [0, 0, 0, 2], angular_velocity: [1, 2, 3], spring: 4, damper: {rotation: 5}}}",
     Spherical(orientation=(0, 0, 0, 1), angular_velocity=(1, 2, 3), spring=Spring(4.0), damper=Damper(5.0))),
    ("{planar: {position: [1, 2], angle: 3, velocity: [4, 5], rate: 6, limits: {x: {low: 0, high: 1, stiffness: 2}}}}",
     Planar(position=(1, 2), angle=3.0, velocity=(4, 5), rate=6.0, limits={"x": Limits(low=0, high=1, stiffness=2)})),
    ("{free: {position: [1, 2, 3], orientation: [1, 0, 0, 0], velocity: [4, 5, 6], angular_velocity: [7, 8, 9]}}",
     Free(position=(1, 2, 3), velocity=(4, 5, 6), angular_velocity=(7, 8, 9))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "joint"), JOINT_FILES, ids=lambda value: type(value).__name__)
def test_joints_are_the_same_in_files_and_in_python(text: str, joint: Joint) -> None:
    system = one_body("rod: {length: 1, mass: 2}", text)
    assert system.links["arm"].joint == joint
    assert system.links["arm"].body == ROD


def test_every_joint_stands_in_the_table_above() -> None:
    assert {type(joint) for _, joint in JOINT_FILES} == set(JOINTS)


@pytest.mark.parametrize("joint", JOINTS, ids=word)
def test_every_registered_joint_is_read_by_its_name(joint: type[Joint]) -> None:
    assert one_body("rod: {length: 1, mass: 2}", word(joint)).links["arm"].joint == joint()


def test_a_motion_is_a_formula_of_time() -> None:
    joint = one_body("rod: {length: 1, mass: 2}", "{revolute: {motion: 0.5*sin(2*t)}}").links["arm"].joint
    assert joint.prescribed["angle"] == Prescribed(parse_formula("0.5*sin(2*t)", ("t",)), (), "0.5*sin(2*t)")
    text = "{planar: {motion: {x: t**2, angle: {function: t*(t < 1), breakpoints: [3]}}}}"
    planar = one_body("rod: {length: 1, mass: 2}", text).links["arm"].joint
    assert planar.prescribed["x"].function(3.0) == 9.0
    assert planar.prescribed["angle"].breakpoints == (1.0, 3.0)


DAMPING_FILES: list[tuple[str, Damping]] = [
    ("{kelvin_voigt: 125.0}", KelvinVoigt(125.0)),
    ("{kelvin_voigt: {coefficient: 125.0}}", KelvinVoigt(125.0)),
    ("{air_drag: 0.025}", AirDrag(0.025)),
    ("{motion_drag: 25 g/(m s)}", MotionDrag(0.025)),
    ("{rayleigh: {alpha: 0.1, beta: 1e-4}}", Rayleigh(alpha=0.1, beta=1e-4)),
    ("{rayleigh_ratios: {ratios: [0.01, 0.02], frequencies: [10, 100]}}",
     RayleighRatios(ratios=(0.01, 0.02), frequencies=(10.0, 100.0))),
    ("{rayleigh_ratios: {ratios: [0.01, 0.02], rule: low1_high2}}",
     RayleighRatios(ratios=(0.01, 0.02), rule="low1_high2")),
    ("{modal_damping: [0.01, 0.02]}", ModalDamping((0.01, 0.02))),
    ("{modal_damping: 0.01}", ModalDamping(0.01)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "damping"), DAMPING_FILES, ids=[text for text, _ in DAMPING_FILES])
def test_dampings_are_the_same_in_files_and_in_python(text: str, damping: Damping) -> None:
    for form in (text, f"[{text}]"):
        assert one_body(beam_text(damping=form)).links["arm"].body == beam(damping=[damping])


def test_every_damping_stands_in_the_table_above() -> None:
    assert {type(damping) for _, damping in DAMPING_FILES} == set(DAMPINGS)


SHAPE = "{x: [0, 0.2, 0.4, 0.6, 0.8, 1], w: [0, 1, 2, 2, 1, 0], theta: [1, 1, 0, 0, -1, -1]}"
TABLE = ShapeTable((0, 0.2, 0.4, 0.6, 0.8, 1), (0, 1, 2, 2, 1, 0), (1, 1, 0, 0, -1, -1))


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("{ends: ff, count: 3, plane: z, normalise: mass}", Modes("ff", 3, "z", "mass")),
        ("[{ends: cf, count: 2}, {modes: {ends: cf, count: 1, plane: z}}, {axial: {ends: cf, count: 1}}, "
         "{torsion: {ends: cf, count: 4}}]",
         [Modes("cf", 2), Modes("cf", 1, "z"), AxialModes("cf", 1), TorsionModes("cf", 4)]),
        (f"{{given: {{shapes: [{SHAPE}], plane: z}}}}", GivenModes((TABLE,), "z")),
    ],
)  # fmt: skip
def test_modes_are_the_same_in_files_and_in_python(text: str, modes: Any) -> None:
    assert one_body(beam_text(modes=text)).links["arm"].body == beam(modes=modes)


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("{element_modes: {elements: 8, reference: cantilever, reduction: {craig_bampton: 4}}}",
         ElementModes(8, "cantilever", reduction=CraigBampton(4))),
        ("[{element_modes: {elements: 8, reference: nodal, nodes: [2, 5], plane: z, "
         "reduction: {craig_bampton: {modes: 2, interface: [0, 4]}}}}, "
         "{axial_elements: {elements: 6, reduction: {free_modes: 2}}}]",
         [ElementModes(8, "nodal", "z", (2, 5), CraigBampton(2, (0, 4))), AxialElements(6, FreeModes(2))]),
    ],
)  # fmt: skip
def test_meshes_and_their_reductions_are_the_same_in_files_and_in_python(text: str, modes: Any) -> None:
    found = one_body(beam_text(modes=text, theory="euler-bernoulli")).links["arm"].body
    assert found == beam(modes=modes, theory="euler-bernoulli")


def test_a_wrong_reduction_in_a_file_is_told_with_its_line() -> None:
    text = "{element_modes: {elements: 2, reduction: {craig_bampton: 7}}}"
    with pytest.raises(ModelError, match=r"5.*reduction must leave between 1 and 4 coordinates"):
        one_body(beam_text(modes=text, theory="euler-bernoulli"))


@pytest.mark.parametrize(
    ("changes", "python"),
    [
        ({"section": "{round: 0.01}"}, {"section": Section.round(0.01)}),
        ({"section": "{round: {radius: 0.01, shear_factor: 0.8}}"}, {"section": Section.round(0.01, 0.8)}),
        ({"section": "{tube: {outer: 0.02, inner: 0.01}}"}, {"section": Section.tube(0.02, 0.01)}),
        ({"section": "{A: 1e-4, Iz: 1e-9, shear_factor: 5/6}"},
         {"section": Section(A=1e-4, Iz=1e-9, shear_factor=5 / 6)}),
        ({"material": "aluminium"}, {"material": ALUMINIUM}),
        ({"material": "{E: 2e11, nu: 0.3, density: 7800}"}, {"material": Material(E=2e11, nu=0.3, density=7800)}),
        ({"rotary_inertia": "[1e-5, 2e-5, 3e-5]"}, {"rotary_inertia": (1e-5, 2e-5, 3e-5)}),
        ({"rotary_inertia": "~"}, {}),
        ({"payload": "{mass: 1, inertia: [1, 2, 3], offset: [0.1, 0]}", "modes": "{ends: cf, count: 1, payload: true}"},
         {"payload": Payload(mass=1.0, inertia=(1, 2, 3), offset=(0.1, 0)), "modes": Modes("cf", 1, payload=True)}),
    ],
)  # fmt: skip
def test_beams_are_the_same_in_files_and_in_python(changes: dict[str, str], python: dict[str, Any]) -> None:
    assert one_body(beam_text(**changes)).links["arm"].body == beam(**python)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("rigid: {mass: 2, inertia: 0.1, com: [0.5, 0], tip: [1, 0], frames: {ear: [0, 1, 0]}}",
         RigidBody(mass=2.0, inertia=0.1, com=(0.5, 0), tip=(1, 0), frames={"ear": (0, 1, 0)})),
        ("rigid: {mass: 1, inertia: [[2, 0, 0], [0, 2, 0.5], [0, 0.5, 2]]}",
         RigidBody(mass=1.0, inertia=((2, 0, 0), (0, 2, 0.5), (0, 0.5, 2)))),
        ("point_mass: {mass: 1, at: [0, 1]}", RigidBody.point_mass(1.0, (0, 1))),
    ],
)  # fmt: skip
def test_rigid_bodies_are_the_same_in_files_and_in_python(text: str, body: RigidBody) -> None:
    assert one_body(text).links["arm"].body == body


SIGNALS: list[tuple[str, Any]] = [
    ("2e1", Constant(20.0)),
    ("{constant: 3}", Constant(3.0)),
    ("{piecewise_constant: {times: [0, 0.3, 0.6], values: [10, -10, 0]}}",
     PiecewiseConstant((0, 0.3, 0.6), (10, -10, 0))),
    ("{piecewise_linear: {times: [0, 1], values: [0, 5]}}", PiecewiseLinear((0, 1), (0, 5))),
    ('"5*sin(3*t) - v[\'arm.angle\']"',
     Formula(parse_formula("5*sin(3*t) - v['arm.angle']"), (), "5*sin(3*t) - v['arm.angle']")),
    ("{formula: t*(t < 1)}", Formula(parse_formula("t*(t < 1)"), (1.0,), "t*(t < 1)")),
    ("{formula: {function: floor(t), breakpoints: [1, 2]}}",
     Formula(parse_formula("floor(t)"), (1.0, 2.0), "floor(t)")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "signal"), SIGNALS, ids=[text for text, _ in SIGNALS])
def test_signals_are_the_same_in_drives_forces_and_moments(text: str, signal: Any) -> None:
    more = (f"drives: {{motor: {{coordinate: arm.angle, effort: {text}}}}}\n"
            f"forces: {{push: {{at: arm.tip, vector: [{text}, 0], expressed: body}}}}\n"
            f"moments:\n  one: {{at: arm.root, vector: {text}}}\n"
            f"  all: {{at: arm.root, vector: [0, 0, {text}]}}\n")  # fmt: skip
    model = loads_model(
        "pliant: 1\nsystem: s\ngravity: [0, 0]\nbodies: {arm: {rod: {length: 1, mass: 2}, joint: revolute}}\n" + more
    )
    python = System("s", (0, 0))
    arm = python.add("arm", ROD, joint=Revolute())
    python.drive("motor", "arm.angle", signal)
    python.force("push", arm.tip, (signal, 0), "body")
    python.moment("one", arm.root, signal)
    python.moment("all", arm.root, (0, 0, signal))
    assert model.system == python
    assert_reads_back(model)


PLACES = """
pliant: 1
system: places
gravity: [0, 0, -9.81]
bodies:                  # children before parents: the order is free
  d: {part: rod, joint: weld, on: b.ear}
  c: {part: rod, joint: weld, on: {frame: a.tip, offset: [0, 0.1], turn: 90*deg}}
  e: {part: rod, joint: weld, on: a@0.3}
  b:
    rigid: {mass: 1, frames: {ear: [0, 1]}}
    joint: revolute
    on: {frame: a payload.tip, turn: [{axis: x, angle: 1}, 2]}
  a: {beam: %s, joint: revolute, on: {frame: ground, offset: [1, 2, 3]}, initial: {y1: 1e-3}, initial_rates: {y2: 2}}
parts: {rod: {rod: {length: 1, mass: 2}}}
events: {far: {function: "q['a.y1'] - 0.1", direction: falling, stop: true}}
"""


def test_places_and_order_are_as_in_python() -> None:
    model = loads_model(PLACES % beam_text(payload="{mass: 1, offset: [0.1, 0]}").removeprefix("beam: "))
    python = System("places", (0, 0, -9.81))
    a = python.add("a", beam(payload=Payload(mass=1.0, offset=(0.1, 0))), joint=Revolute(),
                   on=python.ground.moved((1, 2, 3)), initial={"y1": 1e-3}, initial_rates={"y2": 2.0})  # fmt: skip
    b = python.add("b", RigidBody(mass=1.0, frames={"ear": (0, 1)}), joint=Revolute(),
                   on=python.handle("a payload").tip.turned(1.0, "x").turned(2.0))  # fmt: skip
    python.add("c", ROD, joint=Weld(), on=a.tip.moved((0, 0.1)).turned(90 * (math.pi / 180)))
    python.add("d", ROD, joint=Weld(), on=b.at("ear"))
    python.add("e", ROD, joint=Weld(), on=a.at(0.3))
    python.event("far", parse_formula("q['a.y1'] - 0.1"), "falling", stop=True)
    assert model == Model(python, None)
    assert_reads_back(model)
    assert list(model.system.links).index("a") < list(model.system.links).index("b")


@pytest.mark.parametrize(("save", "python"), [("1e-3", 1e-3), ("[0, 0.5, 1]", (0.0, 0.5, 1.0)), ("steps", "steps")], ids=str)
def test_run_settings_are_read_and_written(save: str, python: Any) -> None:
    text = ("pliant: 1\nsystem: s\ngravity: [0, 0]\nbodies: {arm: {rod: {length: 1, mass: 2}, joint: revolute}}\n"
            f"run: {{t_end: 1, method: {{rk4: 1e-3}}, save: {save}}}\n")  # fmt: skip
    model = loads_model(text)
    assert model.run == RunSettings(t_end=1.0, method=RK4(1e-3), save=python)
    assert_reads_back(model)


def test_every_method_has_a_word() -> None:
    words = ["auto", "rkf45", "dormand_prince", "tsit5", "dop853", "variable_precision_rk4", "rk4", "radau5", "radau9",
             "rodas5p", "real_time", "two_loop", "ode45", "ode23"]  # fmt: skip
    assert [word(kind) for kind in METHODS] == words
    page = (Path(__file__).parents[2] / "docs" / "guide" / "model-file-laws.md").read_text()
    assert [method for method in words if f"`{method}`" not in page] == []


def test_a_method_that_needs_no_numbers_is_a_bare_word() -> None:
    text = "pliant: 1\nsystem: s\ngravity: [0, 0]\nbodies: {arm: {rod: {length: 1, mass: 2}, joint: revolute}}\n"
    model = loads_model(text + "run: {t_end: 1, method: auto}\n")
    assert model.run is not None and model.run.method == Auto()
    assert_reads_back(model)


def test_words_that_yaml_takes_for_truths_and_numbers_are_names() -> None:
    model = loads_model(
        "pliant: 1\nsystem: 12\ngravity: [0, 0]\nbodies:\n"
        "  yes: {rod: {length: 1, mass: 2}, joint: revolute}\n"
        "  1: {rod: {length: 1, mass: 2}, joint: weld, on: yes.tip}\n"
    )
    assert list(model.system.links) == ["yes", "1"]
    assert_reads_back(model)


def test_python_functions_are_refused_by_name_when_written() -> None:
    system = System("s", (0, 0))
    arm = system.add("arm", ROD, joint=Revolute())
    system.drive("motor", "arm.angle", lambda t, q, v: t)
    with pytest.raises(ModelError, match="drive 'motor': a Python function cannot be written to a file"):
        dump_model(system)
    system.drives.clear()
    system.force("push", arm.tip, (0, lambda t, q, v: t))
    with pytest.raises(ModelError, match=r"load 'push': vector\[1\]: a Python function cannot be written"):
        dump_model(system)
    system.loads.clear()
    system.event("up", lambda t, q, v: t)
    with pytest.raises(ModelError, match="event 'up': a Python function cannot be written"):
        dump_model(system)
    system.conditions.clear()
    system.add("moved", ROD, joint=Revolute(motion=lambda t: t))
    with pytest.raises(ModelError, match=r"body 'moved': joint: motion\['angle'\]: a Python function cannot"):
        dump_model(system)


def test_shapes_given_as_functions_are_refused_when_written() -> None:
    system = System("s", (0, 0))
    shape = ShapeFunction(math.sin, math.cos, math.sin, math.cos, math.sin)
    system.add("arm", beam(modes=GivenModes((shape,))), joint=Revolute())
    with pytest.raises(ModelError, match="a Python function cannot be written to a file"):
        dump_model(system)

"""Contacts in files: the same words as in Python, every law by its name, and what is written reads back equal."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from pliant.errors import ModelError
from pliant.files import Model, dump_model, loads_model, parse_formula
from pliant.files.vocabulary import required_fields, word
from pliant.model.beam import Beam
from pliant.model.contact import Capsule, Plane, Point, Sphere
from pliant.model.friction_law import FRICTION_LAWS, Ambrosio, Coulomb, CustomFriction, Karnopp
from pliant.model.hertz import hertz_stiffness
from pliant.model.joint import Planar, Revolute
from pliant.model.material import ALUMINIUM, STEEL, Material
from pliant.model.modes import Modes
from pliant.model.normal_law import NORMAL_LAWS, CustomNormal, Exact, Hertz, HuGuo, Linear, NormalLaw
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System

HEAD = """\
pliant: 1
system: s
gravity: [0, -9.81]
bodies:
  a:
    beam: {length: 1, theory: timoshenko, section: {rectangle: {height: 0.01, width: 0.02}}, material: steel,
           modes: {ends: ss, count: 1}}
    joint: planar
  b: {rigid: {mass: 1, inertia: 1, tip: [1, 0], frames: {ear: [0, 0.5]}}, joint: revolute, on: a.tip}
contacts:
"""
FLOOR = "against: {plane: {normal: [0, 1]}}"
HUGUO = "normal: {hu_guo: {stiffness: 140e6, restitution: 0.8}}"


def python() -> System:
    """The bodies of HEAD."""
    system = System("s", (0, -9.81))
    beam = Beam(length=1.0, theory="timoshenko", section=Section.rectangle(0.01, 0.02), material=STEEL, modes=Modes("ss", 1))
    a = system.add("a", beam, joint=Planar())
    body = RigidBody(mass=1.0, inertia=1.0, tip=(1, 0), frames={"ear": (0, 0.5)})
    system.add("b", body, joint=Revolute(), on=a.tip)
    return system


def read(text: str) -> System:
    model = loads_model(HEAD + text)
    assert loads_model(dump_model(model.system, model.run)) == model
    return model.system


def law_of(text: str, field: str = "normal") -> Any:
    """The law a contact has with this text in a field."""
    normal = text if field == "normal" else "{hertz: {stiffness: 1}}"
    friction = f", friction: {text}" if field == "friction" else ""
    system = read(f"  c: {{points: a.tip, {FLOOR}, normal: {normal}{friction}}}\n")
    return getattr(system.contacts["c a.tip"], field)


def test_the_ends_of_all_links_against_the_ground_are_as_in_python() -> None:
    expected = python()
    expected.contact(points=expected.ends(), against=Plane(normal=(0, 1)), normal=HuGuo(stiffness=140e6, restitution=0.8),
                     friction=Ambrosio(mu=0.1, v0=1e-4, v1=1e-3), name="ground")  # fmt: skip
    friction = "friction: {ambrosio: {mu: 0.1, v0: 1e-4, v1: 1e-3}}"
    for points in ("ends", "[a.root, a.tip, b.tip]", "[{point: a.root}, {point: {at: a.tip}}, b.tip]"):
        assert read(f"  ground: {{points: {points}, {FLOOR}, {HUGUO}, {friction}}}\n") == expected
    assert "points: ends" in dump_model(expected)


def test_every_shape_and_place_is_as_in_python() -> None:
    expected = python()
    a, b = expected.handle("a"), expected.handle("b")
    law = Hertz(stiffness=1e6)
    shapes = [a.at(0.3), Sphere(b.tip, 0.01), Sphere(b.at("ear"), 0.02), b.root.moved((0.1, 0.2)),
              Capsule(b.at((0.0, -0.3)).turned(0.5), 0.7, 0.03)]  # fmt: skip
    expected.contact(points=shapes, against=Plane(normal=(1, 1), point=(0, -1)), normal=law, name="floor")
    expected.contact(points=a.root, against=Sphere(b.tip, 0.5), normal=law, name="ball")
    expected.contact(points=Sphere(a.root, 0.1), against=Point(b.tip), normal=law, name="pin")
    expected.contact(points=a.tip, against=Plane(normal="y", on=b.at("ear")), normal=law, name="plate")
    expected.contact(points=a.root, against=Plane(normal=(0, 0, 1), on=expected.ground.moved((0, 1, 0))), normal=law, name="wall")
    law_text = "normal: {hertz: {stiffness: 1e6}}"
    system = read(
        f"""\
  floor:
    points:
      - a@0.3
      - {{sphere: {{at: b.tip, radius: 0.01}}}}
      - {{sphere: {{at: b.ear, radius: 0.02}}}}
      - {{frame: b.root, offset: [0.1, 0.2]}}
      - {{capsule: {{at: {{frame: b.root, offset: [0, -0.3], turn: 0.5}}, length: 0.7, radius: 0.03}}}}
    against: {{plane: {{normal: [1, 1], point: [0, -1]}}}}
    {law_text}
  ball: {{points: a.root, against: {{sphere: {{at: b.tip, radius: 0.5}}}}, {law_text}}}
  pin: {{points: {{sphere: {{at: a.root, radius: 0.1}}}}, against: {{point: b.tip}}, {law_text}}}
  plate: {{points: a.tip, against: {{plane: {{normal: y, on: b.ear}}}}, {law_text}}}
  wall: {{points: a.root, against: {{plane: {{normal: z, on: {{frame: ground, offset: [0, 1]}}}}}}, {law_text}}}
"""
    )
    assert system == expected
    assert list(system.contacts) == list(expected.contacts)


def test_contacts_that_share_a_name_stand_in_a_list() -> None:
    expected = python()
    for place, stiffness in (("root", 1e6), ("tip", 2e6)):
        frame = expected.handle("a").at(place)
        expected.contact(points=frame, against=Plane(normal=(0, 1)), normal=Hertz(stiffness=stiffness))
    text = "".join(f"    - {{points: a.{place}, {FLOOR}, normal: {{hertz: {{stiffness: {k}}}}}}}\n"
                   for place, k in (("root", "1e6"), ("tip", "2e6")))  # fmt: skip
    assert read(f"  contact:\n{text}") == expected


def example(law: type) -> Any:
    """Any law, with numbers that rise, as its rules ask of speeds and coefficients."""
    values: dict[str, Any] = {name: 0.1 * (k + 1) for k, name in enumerate(sorted(required_fields(law)))}
    values |= {"mu_static": 0.9, "mu_kinetic": 0.5} if "mu_static" in values else {}
    values |= {"restitution": 0.4, "mass": 2.0} if law is Linear else {}
    return law(**values)


@pytest.mark.parametrize("law", [*NORMAL_LAWS, *FRICTION_LAWS], ids=word)
def test_every_registered_law_is_read_by_its_name_and_written_back(law: type) -> None:
    one = example(law)
    fields = ", ".join(f"{f.name}: {getattr(one, f.name)!r}" for f in dataclasses.fields(one)  # type: ignore[arg-type]
                       if f.name != "pulls" and getattr(one, f.name) is not None)  # fmt: skip
    assert law_of(f"{{{word(law)}: {{{fields}}}}}", "normal" if law in NORMAL_LAWS else "friction") == one


def test_what_laws_share_may_be_given_too() -> None:
    text = "{exact: {stiffness: 1e6, exponent: 1.2, restitution: 0.5, pulls: true, entry_floor: 1e-5}}"
    assert law_of(text) == Exact(stiffness=1e6, exponent=1.2, restitution=0.5, pulls=True, entry_floor=1e-5)


def test_stiffness_may_come_from_radii_and_materials() -> None:
    inner = "{radius_a: 0.01, material_a: steel, radius_b: 0.02, material_b: {E: 7e10, nu: 0.33}}"
    stiffness = hertz_stiffness(0.01, STEEL, 0.02, Material(E=7e10, nu=0.33))
    assert law_of(f"{{hertz: {{stiffness: {{hertz_stiffness: {inner}}}}}}}") == Hertz(stiffness=stiffness)
    flat = "{radius_a: 0.01, material_a: aluminium}"
    law = law_of(f"{{hu_guo: {{stiffness: {{hertz_stiffness: {flat}}}, restitution: 0.8}}}}")
    assert law == HuGuo(stiffness=hertz_stiffness(0.01, ALUMINIUM), restitution=0.8)


def test_a_law_of_ones_own_is_a_formula() -> None:
    text = "1e6*depth**1.5*(1 + 0.3*rate/entry_speed)"
    formula = parse_formula(text, ("depth", "rate", "entry_speed"))
    assert law_of(text) == CustomNormal(formula)
    assert law_of(text).force(1e-4, 0.1, 0.2) == pytest.approx(1.15)
    energy = parse_formula("4e5*depth**2.5", ("depth",))
    full = law_of(f"{{formula: {{function: {text}, energy: 4e5*depth**2.5, pulls: true}}}}")
    assert full == CustomNormal(formula, energy, pulls=True)
    slip = parse_formula("0.3*normal*tanh(speed/1e-3)", ("speed", "normal"))
    assert law_of("0.3*normal*tanh(speed/1e-3)", "friction") == CustomFriction(slip)
    corner = law_of("{formula: {function: '0.3*normal*min(speed/0.1, 1)', switches: [0.1]}}", "friction")
    assert corner == CustomFriction(parse_formula("0.3*normal*min(speed/0.1, 1)", ("speed", "normal")), (0.1,))


def test_no_friction_is_said_by_leaving_it_out_or_empty() -> None:
    for friction in ("", ", friction: ", ", friction: ~"):
        system = read(f"  c: {{points: a.tip, {FLOOR}, {HUGUO}{friction}}}\n")
        assert system.contacts["c a.tip"].friction is None


def test_python_functions_and_laws_of_no_registry_are_refused_when_written() -> None:
    system = python()
    tip = system.handle("a").tip
    system.contact(points=tip, against=Plane(normal=(0, 1)), normal=lambda d, r, v: 1e6 * d, name="soft")
    with pytest.raises(ModelError, match="contact 'soft': normal: function: a Python function cannot be written to a file"):
        dump_model(system)
    system.contacts.clear()
    system.contact(points=tip, against=Plane(normal=(0, 1)), normal=Hertz(stiffness=1), friction=lambda v, n: n, name="dry")
    with pytest.raises(ModelError, match="contact 'dry': friction: function: a Python function cannot be written to a file"):
        dump_model(system)
    system.contacts.clear()

    class Own(NormalLaw):
        pass

    system.contact(points=tip, against=Plane(normal=(0, 1)), normal=Own(), name="own")
    with pytest.raises(ModelError, match=r"contact 'own': normal: must be one of linear, hertz, .* to be written"):
        dump_model(system)


# what stands in the contacts section, and what the message must hold
CONTACT = f"  c: {{points: a.tip, {FLOOR}, {HUGUO}, friction: {{coulomb: {{mu: 0.3}}}}}}\n"
WRONG: list[tuple[str, str, str]] = [
    ("points: a.tip, ", "", "m.yaml:11: contacts.c: points must be given, got against, normal, friction"),
    ("points: a.tip", "point: a.tip", "m.yaml:11: contacts.c: unknown key 'point' (did you mean 'points'?)"),
    ("points: a.tip", "points: end",
     "contacts.c.points: must be ground, body.tip, body.root, body.frame or body@station, got 'end'"),
    ("points: a.tip", "points: [a.tip, d.tip]",
     "m.yaml:11: contacts.c.points[1]: system 's': body must be one of ['a', 'b']"),
    ("points: a.tip", "points: a@2", "m.yaml:11: contacts.c.points: body 'a': station must be in [0, 1.0] m, got 2.0"),
    ("points: a.tip", "points: [a.tip, a.tip]", "contacts.c.points: contact 'c': points must form pairs with unique names"),
    ("points: a.tip", "points: []", "contacts.c.points: contact 'c': points must contain at least one point"),
    ("points: a.tip", "points: ground", "points must be on a different body from the shape they touch, got 'ground'"),
    ("points: a.tip", "points: {spere: {at: a.tip, radius: 1}}",
     "m.yaml:11: contacts.c.points: unknown kind 'spere' (did you mean 'sphere'?); known: point, sphere, capsule"),
    ("points: a.tip", "points: {sphere: {at: a.tip, radius: -1}}",
     "contacts.c.points.sphere.radius: Sphere: radius must be > 0 m, got -1.0"),
    ("points: a.tip", "points: {sphere: {at: a.tip}}", "contacts.c.points.sphere: radius must be given, got at"),
    ("points: a.tip", "points: {plane: {normal: [0, 1]}}",
     "contacts.c.points: unknown kind 'plane'; known: point, sphere, capsule"),
    ("{plane: {normal: [0, 1]}}", "{plane: {normal: [0, 0]}}",
     "against.plane.normal: Plane: normal must not be the zero vector"),
    ("{plane: {normal: [0, 1]}}", "{plane: {}}", "contacts.c.against.plane: normal must be given, got nothing"),
    ("{plane: {normal: [0, 1]}}", "b.tip", "m.yaml:11: contacts.c.against: must be one of plane, point, sphere"),
    ("{plane: {normal: [0, 1]}}", "{point: b.tip}",
     "contacts.c.against: contact 'c': against must be a Plane, a Sphere, a Bore or a Socket"),
    ("{plane: {normal: [0, 1]}}", "{capsule: {at: b.tip, length: 1, radius: 1}}",
     "contacts.c.against: contact 'c': against must be a Plane, a Sphere, a Bore or a Socket when a Point touches it, got Capsule"),
    ("{plane: {normal: [0, 1]}}", "{sphere: {at: a.root, radius: 1}}",
     "contact 'c': points must be on a different body from the shape they touch, got 'a'"),
    ("hu_guo", "hu_gou", "m.yaml:11: contacts.c.normal: unknown kind 'hu_gou' (did you mean 'hu_guo'?); known: linear, hertz"),
    ("stiffness: 140e6, ", "", "contacts.c.normal.hu_guo: stiffness must be given, got restitution"),
    ("stiffness: 140e6", "stiffness: -1", "contacts.c.normal.hu_guo.stiffness: HuGuo: stiffness must be > 0 N/m^1.5"),
    ("stiffness: 140e6", "stiffness: {hertz: 1}",
     "contacts.c.normal.hu_guo.stiffness: unknown key 'hertz'; known: hertz_stiffness"),
    ("stiffness: 140e6", "stiffness: {hertz_stiffness: {radius_a: 1, material_a: stele}}",
     "hertz_stiffness.material_a: must be one of steel, aluminium, or a mapping (did you mean 'steel'?), got 'stele'"),
    ("stiffness: 140e6", "stiffness: {hertz_stiffness: {radius_a: 0, material_a: steel}}",
     "stiffness.hertz_stiffness.radius_a: hertz_stiffness: radius_a must be > 0 m, got 0.0"),
    ("restitution: 0.8", "restitution: 1.8", "contacts.c.normal.hu_guo.restitution: HuGuo: restitution must be in (0, 1]"),
    ("{hu_guo: {stiffness: 140e6, restitution: 0.8}}", "hu_guo",
     "contacts.c.normal: hu_guo must be given with stiffness, restitution, as in {hu_guo: ...}"),
    ("{hu_guo: {stiffness: 140e6, restitution: 0.8}}", "1e6*depht**1.5",
     "contacts.c.normal: formula '1e6*depht**1.5': 'depht' at column 5 is an unknown name"),
    ("{hu_guo: {stiffness: 140e6, restitution: 0.8}}", "1e6",
     "contacts.c.normal: must be the name of a law or a formula of depth, rate, entry_speed, got '1e6'"),
    ("{coulomb: {mu: 0.3}}", "0.3",
     "contacts.c.friction: must be the name of a law or a formula of speed, normal, got '0.3'"),
    ("{coulomb: {mu: 0.3}}", "{coulomb: {mu: -1}}", "contacts.c.friction.coulomb.mu: Coulomb: mu must be >= 0"),
    ("{coulomb: {mu: 0.3}}", "{hu_guo: {stiffness: 1}}", "contacts.c.friction: unknown kind 'hu_guo'; known: coulomb"),
]  # fmt: skip


def test_the_right_contact_is_right() -> None:
    assert loads_model(HEAD + CONTACT).system.contacts["c a.tip"].friction == Coulomb(mu=0.3)


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG, ids=[wrong[:40] or right for right, wrong, _ in WRONG])
def test_a_wrong_contact_is_refused_with_line_keys_rule_and_value(right: str, wrong: str, message: str) -> None:
    assert CONTACT.count(right) == 1
    with pytest.raises(ModelError) as refusal:
        loads_model(HEAD + CONTACT.replace(right, wrong), "m.yaml")
    said = re.sub(r"^(m\.yaml:\d+):\d+", r"\1", str(refusal.value))  # columns: test_wrong_files
    assert message in said
    assert said.startswith("m.yaml:11: ")


def test_a_system_with_contacts_survives_being_written_with_its_run() -> None:
    system = python()
    system.contact(points=system.ends(), against=Plane(normal=(0, 1)), normal=HuGuo(stiffness=1e6, restitution=0.7),
                   friction=Karnopp(mu_static=0.4, mu_kinetic=0.3))  # fmt: skip
    assert loads_model(dump_model(system)) == Model(system, None)


def test_a_contact_at_a_named_frame_keeps_its_name_whatever_its_numbers():
    text = """
pliant: 1
system: pusher
gravity: [0, -9.81]
define: {reach: 50 mm}
bodies:
  pusher: {rigid: {mass: 1, inertia: 1e-3, frames: {nose: [reach, 0]}}, joint: planar}
contacts:
  wall: {points: pusher.nose, against: {plane: {normal: [-1, 0], point: [1, 0]}}, normal: {hertz: 1e6}}
"""
    for reach in ("50 mm", "70 mm"):
        assert list(loads_model(text, parameters={"reach": reach}).system.contacts) == ["wall pusher.nose"]

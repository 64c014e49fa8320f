"""Wrong models, each refused before anything runs with a message that names part, field, rule and value."""

import math
import re

import numpy as np
import pytest

import pliant as pl
from pliant.model.frame import Frame

NAN, INF = math.nan, math.inf


def beam(**changes):
    fields = {"length": 1.0, "section": pl.Section.rectangle(0.02, 0.01), "material": pl.STEEL,
              "theory": "timoshenko", "modes": pl.Modes("cf", 1)}  # fmt: skip
    return pl.Beam(**{**fields, **changes})


def body(**changes):
    return pl.RigidBody(**{"mass": 1.0, "inertia": 0.1, **changes})


def system(**links):
    made = pl.System("s", gravity=(0, -9.81))
    made.add("a", beam(), joint=pl.Revolute())
    made.add("r", body(frames={"hook": (1, 0)}), joint=pl.Planar())
    for name, link in links.items():
        made.add(name, **link)
    return made


def bare_section(**changes):
    return pl.Section(**{"A": 1e-4, "Iz": 1e-9, "shear_factor": 0.8, **changes})


WRONG = {
    # sizes and names
    "a huge length": (lambda: pl.RigidBody.rod(1e160, 1.0), "RigidBody.rod: length must have a magnitude <= 1e+60 m, got 1e+16"),
    "a huge section": (lambda: pl.Section.tube(1e200, 1.0), "Section.tube: outer must have a magnitude <= 1e+60 m, got 1e+200"),
    "a huge beam": (lambda: beam(length=1e160), "Beam: length must have a magnitude <= 1e+60 m, got 1e+160"),
    "a whole number no float holds": (lambda: body(mass=10**400), "RigidBody: mass must be a finite number in kg, got inf"),
    "a parameter no float holds": (lambda: pl.Parameter("a", 10**400), "parameter 'a': value must be a finite number, got 1"),
    "gravity in an array of nothing": (lambda: pl.System("s", np.array("x")), "gravity must be 2 or 3 numbers in m/s^2, got array"),
    "gravity in bytes": (lambda: pl.System("s", b"ab"), "system 's': gravity must be 2 or 3 numbers in m/s^2, got b'ab'"),
    "frames as a list": (lambda: body(frames=[1]), "RigidBody: frames must be a mapping of names and values, got [1]"),
    "initial as a number": (lambda: system(b={"body": body(), "joint": pl.Weld(), "initial": 3}), "initial must be a mapping"),
    "start as text": (lambda: system().sampled("c", 0.1, lambda *a: 0.0, "u", start="abc"), "sampled 'c': start must be a mapping"),
    "a table of nothing": (lambda: pl.PiecewiseLinear(None, [0, 1]), "PiecewiseLinear: times must be a list of numbers, got None"),
    "one breakpoint": (lambda: pl.Formula(lambda t, q, v: t, breakpoints=3), "breakpoints must be a list of numbers, got 3"),
    "a huge inertia of a rod": (lambda: pl.RigidBody.rod(1e59, 1e59), "RigidBody: inertia[1] must have a magnitude <= 1e+60"),
    "a name that clears the screen": (lambda: system(**{"a\x1b[2Jb": {"body": body(), "joint": pl.Weld()}}),
                                      r"system 's': name must not contain control characters, got 'a\x1b[2Jb'"),
    "a system that clears it": (lambda: pl.System("a\x1b[2J", (0, 0)), r"System: name must not contain control characters"),
    "a name that turns the text": (lambda: pl.System("a\u202eb", (0, 0)), r"must not contain control characters, got 'a\u202eb'"),
    "a contact's name of two lines": (lambda: system().contact(points=[], against=None, normal=None, name="a\nb"),
                                      r"name must not contain control characters, got 'a\nb'"),
    # material and section
    "negative modulus": (lambda: pl.Material(E=-1.0), "Material: E must be > 0 Pa, got -1.0"),
    "modulus nan": (lambda: pl.Material(E=NAN), "Material: E must be a finite number in Pa, got nan"),
    "modulus as text": (lambda: pl.Material(E="2e11"), "Material: E must be a finite number in Pa, got '2e11'"),
    "G and nu": (lambda: pl.Material(E=1.0, G=1.0, nu=0.3), "Material: only one of G and nu may be given"),
    "impossible nu": (lambda: pl.Material(E=1.0, nu=0.6), "Material: nu must be in (-1, 0.5], got 0.6"),
    "zero density": (lambda: pl.Material(E=1.0, density=0), "Material: density must be > 0 kg/m^3, got 0"),
    "zero area": (lambda: bare_section(A=0.0), "Section: A must be > 0 m^2, got 0.0"),
    "infinite moment": (lambda: bare_section(Iz=INF), "Section: Iz must be a finite number in m^4, got inf"),
    "shear factor 2": (lambda: bare_section(shear_factor=2.0), "Section: shear_factor must be in (0, 1], got 2.0"),
    "tube inside out": (lambda: pl.Section.tube(0.01, 0.02), "Section.tube: inner must be < outer = 0.01 m, got 0.02"),
    "flat rectangle": (lambda: pl.Section.rectangle(0.0, 1.0), "Section.rectangle: height must be > 0 m, got 0.0"),
    # beam
    "negative length": (lambda: beam(length=-1.0), "Beam: length must be > 0 m, got -1.0"),
    "length nan": (lambda: beam(length=NAN), "Beam: length must be a finite number in m, got nan"),
    "unknown theory": (lambda: beam(theory="timoschenko"),
                       "Beam: theory must be one of euler-bernoulli, timoshenko (did you mean 'timoshenko'?), got 'timoschenko'"),
    "unknown ends": (lambda: pl.Modes("xx", 1),
                     "Modes: ends must be one of cc, ss, sc, cs, cf, fc, ff, sf, fs (root, then tip: c clamped, "),
    "no modes": (lambda: pl.Modes("cf", 0), "Modes: count must be a whole number >= 1, got 0"),
    "half a mode": (lambda: pl.Modes("cf", 1.5), "Modes: count must be a whole number >= 1, got 1.5"),
    "unknown plane": (lambda: pl.Modes("cf", 1, plane="x"), "Modes: plane must be one of y, z, got 'x'"),
    "no mode sets": (lambda: beam(modes=[]), "Beam: modes must contain at least one set"),
    "same plane twice": (lambda: beam(modes=[pl.Modes("cf", 1), pl.Modes("ss", 1)]),
                         "Beam: modes[1] must be the only set of modes in its direction, got 'bending y'"),
    "bending without Iy": (lambda: beam(section=bare_section(), modes=pl.Modes("cf", 1, plane="z")),
                           "Beam: bending z modes need section.Iy, got None"),
    "timoshenko without G": (lambda: beam(material=pl.Material(E=1e9, density=1.0)),
                             "Beam: bending y modes need material.G or material.nu, got None"),
    "timoshenko without k": (lambda: beam(section=bare_section(shear_factor=None)),
                             "Beam: timoshenko modes need section.shear_factor, got None"),
    "torsion without inertia": (lambda: beam(section=bare_section(J=1e-9), modes=pl.TorsionModes("cf", 1)),
                                "Beam: rotary_inertia must be > 0 kg m about x for torsion modes"),
    "no mass": (lambda: beam(material=pl.Material(E=1e9, nu=0.3)), "Beam: mass_per_length or material.density must be given"),
    "negative mass per length": (lambda: beam(mass_per_length=-2.0), "Beam: mass_per_length must be > 0 kg/m, got -2.0"),
    "two rotary inertias": (lambda: beam(rotary_inertia=(1.0, 2.0)), "Beam: rotary_inertia must be 3 numbers in kg m"),
    "shapes of no payload": (lambda: beam(modes=pl.Modes("cf", 1, payload=True)),
                             "Beam: modes[0].payload = True needs a payload on the beam, got payload = None"),
    "payload at a clamp": (lambda: pl.Modes("cc", 1, payload=True), "Modes: ends must end in f for shapes with a payload"),
    "table too short": (lambda: pl.ShapeTable((0, 1), (0, 1)), "ShapeTable: x must have at least 6 stations, got 2"),
    "table of another beam": (lambda: beam(modes=pl.GivenModes([pl.ShapeTable(range(6), range(6))])),
                              "GivenModes: shapes[0].x must run from 0 to the beam's length, 1.0 m, got (0.0, 5.0)"),
    "mass of fewer shapes": (lambda: pl.GivenModes([pl.ShapeTable(range(6), range(6))], mass=()),
                             "GivenModes: mass must have 1 rows, one per shape, got ()"),
    "lopsided mass": (lambda: pl.GivenModes([pl.ShapeTable(range(6), range(6))] * 2, mass=((1, 0.1), (0, 1))),
                      "GivenModes: mass must be symmetric, got ((1, 0.1), (0, 1))"),
    "negative mass of a shape": (lambda: pl.GivenModes([pl.ShapeTable(range(6), range(6))], mass=((-1,),)),
                                 "GivenModes: mass[0][0] must be > 0 kg, got -1.0"),
    # damping
    "negative damping": (lambda: pl.KelvinVoigt(-1.0), "KelvinVoigt: coefficient must be >= 0 Pa s, got -1.0"),
    "one ratio": (lambda: pl.RayleighRatios(ratios=(0.1,)), "RayleighRatios: ratios must be 2 numbers, got (0.1,)"),
    "falling frequencies": (lambda: pl.RayleighRatios(ratios=(0.1, 0.1), frequencies=(5.0, 2.0)),
                            "RayleighRatios: frequencies must be strictly increasing, got [5.0, 2.0]"),
    "damping twice": (lambda: beam(damping=[pl.AirDrag(1.0), pl.AirDrag(2.0)]),
                      "Beam: damping must contain each kind of damping at most once, got ['AirDrag', 'AirDrag']"),
    "damping is a number": (lambda: beam(damping=0.1), "Beam: damping[0] must be one of KelvinVoigt, AirDrag"),
    # rigid bodies
    "negative mass": (lambda: body(mass=-1.0), "RigidBody: mass must be >= 0 kg, got -1.0"),
    "crooked inertia": (lambda: body(inertia=((1, 2, 0), (0, 1, 0), (0, 0, 1))), "RigidBody: inertia must be symmetric"),
    "impossible inertia": (lambda: body(inertia=((1, 5, 0), (5, 1, 0), (0, 0, 1))),
                           "RigidBody: inertia must be positive semidefinite"),
    "two moments": (lambda: body(inertia=(1.0, 2.0)),
                    "RigidBody: inertia must be one number, three numbers or a 3 x 3 matrix, got (1.0, 2.0)"),
    "point of four": (lambda: body(com=(1, 2, 3, 4)), "RigidBody: com must be 2 or 3 numbers in m, got (1, 2, 3, 4)"),
    "renamed tip": (lambda: body(frames={"tip": (0, 0)}),
                    "RigidBody: frames must not contain the reserved names root and tip, got 'tip'"),
    # joints
    "angle as text": (lambda: pl.Revolute(angle="30"), "Revolute: angle must be a finite number in rad, got '30'"),
    "no axis": (lambda: pl.Revolute(axis=(0, 0, 0)), "Revolute: axis must not be the zero vector, got (0.0, 0.0, 0.0)"),
    "unknown axis": (lambda: pl.Prismatic(axis="w"), "Prismatic: axis must be x, y, z (or -x, -y, -z) or a vector, got 'w'"),
    "parallel axes": (lambda: pl.Universal(axes=("x", "-x")), "Universal: axes must not be parallel"),
    "zero quaternion": (lambda: pl.Free(orientation=(0, 0, 0, 0)), "Free: orientation must not be the zero quaternion"),
    "one spring for three": (lambda: pl.Planar(spring=pl.Spring(1.0)),
                             "Planar: spring must be a mapping with keys out of ['x', 'y', 'angle']"),
    "spring on nothing": (lambda: pl.Planar(spring={"z": pl.Spring(1.0)}),
                          "Planar: spring must name one of the coordinates ['x', 'y', 'angle'], got 'z'"),
    "negative spring": (lambda: pl.Spring(-1.0), "Spring: stiffness must be >= 0, got -1.0"),
    "crossed limits": (lambda: pl.Limits(low=1.0, high=0.0, stiffness=1.0), "Limits: low must be < high = 0.0, got 1.0"),
    "soft limits": (lambda: pl.Limits(low=0.0, high=1.0, stiffness=0.0), "Limits: stiffness must be > 0, got 0.0"),
    "motion is a number": (lambda: pl.Revolute(motion=3.0),
                           "Revolute: motion['angle'] must be a function of t, a Prescribed or a MotionTable"),
    "spring on a weld": (lambda: pl.Weld(spring=pl.Spring(1.0)), "Weld: spring must be left out for this joint"),
    # signals
    "unsorted times": (lambda: pl.PiecewiseConstant([0.0, 2.0, 1.0], [1, 2, 3]),
                       "PiecewiseConstant: times must be strictly increasing, got [0.0, 2.0, 1.0]"),
    "values missing": (lambda: pl.PiecewiseLinear([0.0, 1.0], [1.0]),
                       "PiecewiseLinear: values must have 2 entries, one per time, got 1"),
    "value nan": (lambda: pl.PiecewiseLinear([0.0], [NAN]), "PiecewiseLinear: values[0] must be a finite number, got nan"),
    "formula is text": (lambda: pl.Formula("sin(t)"), "Formula: function must be a function of (t, q, v), got 'sin(t)'"),
    # system
    "gravity of one": (lambda: pl.System("s", gravity=(9.81,)), "system 's': gravity must be 2 or 3 numbers in m/s^2"),
    "nameless": (lambda: pl.System("", gravity=(0, 0)), "System: name must be a non-empty string, got ''"),
    "duplicate name": (lambda: system().add("a", body(), joint=pl.Weld()),
                       "system 's': name must be unique (a body already has this name), got 'a'"),
    "dotted name": (lambda: system().add("a.b", body(), joint=pl.Weld()),
                    "system 's': name must be a non-empty string without dots, @, or leading or trailing blanks, got 'a.b'"),
    "body named ground": (lambda: system().add("ground", body(), joint=pl.Weld()),
                          "system 's': name must not be 'ground', got 'ground'"),
    "drive named as a body": (lambda: system().drive("a", "a.angle", 1.0),
                              "system 's': name must be unique (a body already has this name), got 'a'"),
    "loop in the tree": (lambda: system().add("b", body(), joint=pl.Weld(), on=Frame("b")),
                         "body 'b': on must be a frame of one of the bodies added so far, ['ground', 'a', 'r'], got 'b'"),
    "frame of another system": (lambda: system().add("b", body(), joint=pl.Weld(), on=Frame("elsewhere")),
                           "body 'b': on must be a frame of one of the bodies added so far, ['ground', 'a', 'r'], got 'elsewhere'"),
    "joint forgotten": (lambda: system().add("b", body(), joint=None), "body 'b': joint must be a joint such as Revolute()"),
    "joint class": (lambda: system().add("b", body(), joint=pl.Revolute), "body 'b': joint must be a joint such as"),
    "body is text": (lambda: system().add("b", "beam", joint=pl.Weld()),
                     "body 'b': body must be a Beam, a TelescopicBeam, a ModalBody or a RigidBody, got 'beam'"),
    "on is a body": (lambda: system().add("b", body(), joint=pl.Weld(), on="a"), "body 'b': on must be a frame such as arm.tip"),
    "station outside": (lambda: system().handle("a").at(1.5), "body 'a': station must be in [0, 1.0] m, got 1.5"),
    "unknown frame": (lambda: system().handle("r").at("hock"),
                      "body 'r': frame must be one of ['root', 'tip', 'hook'] (did you mean 'hook'?), got 'hock'"),
    "unknown body": (lambda: system().handle("b"), "system 's': body must be one of ['a', 'r'], got 'b'"),
    "unknown coordinate": (lambda: system().drive("m", "a.angel", 1.0),
                           "drive 'm': coordinate must be one of ['a.angle', 'r.x', 'r.y', 'r.angle'] (did you mean 'a.angle'?)"),
    "drive on a told joint": (lambda: system(b={"body": body(), "joint": pl.Revolute(motion=lambda t: t)}).drive(
        "m", "b.angle", 1.0), "drive 'm': coordinate must not have a prescribed motion, got 'b.angle'"),
    "force on the ground": (lambda: system().force("f", system().ground, (1, 2)),
                            "force 'f': at must be a frame of a moving body, got 'ground'"),
    "force of one": (lambda: system().force("f", Frame("r"), (1.0,)), "force 'f': vector must have 2 or 3 components, got (1.0,)"),
    "unknown axes": (lambda: system().force("f", Frame("r"), (1, 2), expressed="local"),
                     "force 'f': expressed must be one of world, body, got 'local'"),
    "unknown mode": (lambda: system(b={"body": beam(), "joint": pl.Weld(), "initial": {"y2": 0.1}}),
                     "body 'b': initial must name modes out of ['y1'], got 'y2'"),
    "unknown direction": (lambda: system().event("e", lambda t, q, v: t, direction="up"),
                          "event 'e': direction must be one of rising, falling, both, got 'up'"),
    # runs
    "end before start": (lambda: pl.simulate(system(), -1.0), "simulate: t_end must be > t_start = 0.0 s, got -1.0"),
    "unknown formulation": (lambda: pl.simulate(system(), 1.0, formulation="kane"),
                            "simulate: formulation must be one of articulated, gibbs_appell, lagrange, gibbs, denoc, augmented, "
                            "got 'kane'"),
    "times outside": (lambda: pl.simulate(system(), 1.0, save=[0.0, 2.0]),
                      "simulate: save must be increasing times in [0.0, 1.0] s, got [0.0, 2.0]"),
    "more rows than memory": (lambda: pl.simulate(system(), 1.0, save=1e-12),
                              "simulate: save must give at most 5e+07 rows, got 1e-12"),
    "more modes than memory": (lambda: pl.Modes("cf", 10**12), "Modes: count must be <= 10000, got 1000000000000"),
    "no bodies": (lambda: pl.simulate(pl.System("s", (0, 0)), 1.0), "system 's': bodies must hold at least one body, got 0"),
    "nothing can move": (lambda: _nothing_moves(), "system 's': degrees of freedom must be >= 1, got 0"),
    "unknown coordinate in a formula": (lambda: _bad_formula(), "formula of 'm': q must name one of ['a.angle', 'a.y1'"),
    "modal ratios for other modes": (lambda: pl.simulate(system(b={
        "body": beam(damping=pl.ModalDamping((0.1, 0.1))), "joint": pl.Weld()}), 1.0), "ratios"),
}  # fmt: skip


def _nothing_moves():
    still = pl.System("s", gravity=(0, 0))
    still.add("a", body(), joint=pl.Weld())
    pl.simulate(still, 1.0)


def _bad_formula():
    made = system()
    made.drive("m", "a.angle", lambda t, q, v: q["a.angel"])
    pl.simulate(made, 1.0)


@pytest.mark.parametrize(
    ("build", "hint"),
    [
        (lambda: pl.Revolute(angle="30 deg"), "must be a finite number in rad: pl.deg(30), got '30 deg'"),
        (lambda: pl.Modes("CF", 2), "(did you mean 'cf'?)"),
        (lambda: pl.Modes("cl", 2), "c clamped, s simply supported, f free; most links have 'cf'), got 'cl'"),
        (lambda: beam(modes="cf"), 'must be a set of modes such as pl.Modes("cf", 2), got'),
        (lambda: system(b={"body": body(), "joint": pl.Weld(), "on": "a"}), "arm = system.add(...), or system.handle('a').tip"),
    ],
)
def test_a_message_says_what_to_write_instead(build, hint):
    with pytest.raises(pl.ModelError, match=re.escape(hint)):
        build()


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_model_is_refused_in_words(case):
    build, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=re.escape(message)):
        build()


def test_the_table_is_long():
    assert len(WRONG) >= 40


def test_a_length_whose_square_is_nothing_is_no_raw_error():
    made = pl.System("s", gravity=(0, -9.81))
    made.add("a", beam(length=1e-200), joint=pl.Revolute())
    with pytest.raises(pl.ModelError, match="system 's': model must contain numbers from which the equations can be computed"):
        pl.compile_system(made)

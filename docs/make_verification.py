"""Writes docs/verification.md: every benchmark and reference, our digits, the error, the time and the command.

    python docs/make_verification.py              # run every row, store the results, write the page
    python docs/make_verification.py NAME ...     # run these rows only, store, write
    python docs/make_verification.py --page       # write the page from stored results (docs/verification.json)

A row is a function that computes a number with pliant and returns it beside its reference. References are printed values,
closed forms, or solutions by other code in tests/published/data; none comes from pliant. The function of a limit also returns the
warnings of the answer, or its call is refused: its verdict is what happens.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import beta as beta_function
from scipy.special import ellipe, ellipeinc, ellipj, ellipk, ellipkinc

import pliant as pl
from pliant.beams import beam_shapes

HERE = Path(__file__).parent
STORED = HERE / "verification.json"
DATA = HERE.parent / "tests" / "published" / "data"
EXAMPLES = HERE.parent / "examples"
G = 9.81
TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)


@dataclass(frozen=True)
class Row:
    """One line of the page."""

    name: str
    group: str
    quantity: str
    unit: str
    source: str
    within: float  # the largest relative error that the row may have
    compute: Callable[[], Any]  # ours, reference; of a limit also the warnings, unless the call raises
    verdict: str = "met"  # one of VERDICTS; of a limit, found by its call
    measured: bool = False  # of a machine: what `compute` returns are errors of runs against a record, ours and another model's
    needs: str = ""  # data that are not part of this package
    is_limit: bool = False  # a case that pliant refuses, or answers with a warning

    def error(self, ours: float, wanted: float) -> float:
        """Relative to the reference; of a machine, of the motion."""
        return ours / 100.0 if self.measured else error(ours, wanted)

    def outcome(self, ours: float, wanted: float) -> str:
        if not self.measured:
            return self.verdict
        return "as good" if abs(ours / wanted - 1.0) < ALIKE else "better" if ours < wanted else "worse"


LIMITS = "Limits"
ALIKE = 0.02  # errors of two models that differ by less are as good as each other
REFUSED, WARNED = "not representable", "outside validity"
VERDICTS = ("met", "met with more elements", REFUSED, WARNED)
ROWS: dict[str, Row] = {}


def row(
    name: str,
    group: str,
    quantity: str,
    unit: str,
    source: str,
    within: float,
    verdict: str = "met",
    measured: bool = False,
    needs: str = "",
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Registers a function that returns (ours, reference)."""

    def register(compute: Callable[[], Any]) -> Callable[[], Any]:
        assert name not in ROWS and verdict in VERDICTS
        ROWS[name] = Row(name, group, quantity, unit, source, within, compute, verdict, measured, needs)
        return compute

    return register


def limit(name: str, quantity: str, unit: str, source: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Registers a function that returns (ours, reference, warnings), or whose call is refused."""

    def register(compute: Callable[[], Any]) -> Callable[[], Any]:
        assert name not in ROWS
        ROWS[name] = Row(name, LIMITS, quantity, unit, source, math.inf, compute, WARNED, is_limit=True)
        return compute

    return register


def reference(file: str) -> Any:
    return json.loads((DATA / f"{file}.json").read_text(encoding="utf-8"))


# ----------------------------------------------------------------------------------------------------------------- beams

STEEL_STRIP = {"length": 0.8, "section": pl.Section.rectangle(0.008, 0.03), "material": pl.STEEL}


def _beta(ends: str, mode: int) -> float:
    """beta L of one bending mode."""
    beam = pl.Beam(**STEEL_STRIP, theory="euler-bernoulli", modes=pl.Modes(ends, mode))
    pace = math.sqrt(pl.STEEL.E * beam.section.Iz / beam.mu) / beam.length**2
    return math.sqrt(float(beam_shapes(beam).frequencies[mode - 1]) / pace)


CHARACTERISTIC = {  # equations as in Blevins 1979, table 8-1, divided by cosh x, and the roots asked for with their brackets
    "cf": ("cos x cosh x = -1", lambda x: math.cos(x) + 1.0 / math.cosh(x), {1: (1.5, 2.5), 4: (10.5, 11.5)}),
    "cc": ("cos x cosh x = 1", lambda x: math.cos(x) - 1.0 / math.cosh(x), {1: (4.0, 5.5)}),
    "sc": ("tan x = tanh x", lambda x: math.sin(x) - math.cos(x) * math.tanh(x), {1: (3.5, 4.5)}),
    "ss": ("sin x = 0", math.sin, {2: (5.5, 7.0)}),
}
for _ends, (_equation, _zero, _roots) in CHARACTERISTIC.items():
    for _mode, _bracket in _roots.items():
        row(f"beam-{_ends}-{_mode}", "Beams", f"Bending frequency, ends {_ends}, mode {_mode}: beta L", "1",
            f"root of {_equation} (Blevins 1979, table 8-1)", 1e-14)(
            lambda ends=_ends, mode=_mode, zero=_zero, bracket=_bracket:
                (_beta(ends, mode), float(brentq(zero, *bracket, xtol=1e-15, rtol=1e-15))))  # fmt: skip


@row(
    "timoshenko-thick",
    "Beams",
    "First frequency of a thick Timoshenko beam, ends ss, l/h = 5",
    "rad/s",
    "closed form (Timoshenko 1921)",
    1e-12,
)
def _() -> tuple[float, float]:
    length, height = 0.5, 0.1
    section = pl.Section.rectangle(height, 0.03)
    beam = pl.Beam(length=length, section=section, material=pl.STEEL, theory="timoshenko", modes=pl.Modes("ss", 1))
    wave, rho = math.pi / length, 7860.0
    shear, bend = 5 / 6 * section.A * pl.STEEL.shear_modulus, pl.STEEL.E * section.Iz
    # rho I/(k G A) rho A w^4 - (rho A + rho I k^2 + EI rho A k^2/(kGA)) w^2 + EI k^4 = 0
    a = rho * section.Iz * rho * section.A / shear
    b = rho * section.A + rho * section.Iz * wave**2 + bend * rho * section.A * wave**2 / shear
    square = (b - math.sqrt(b * b - 4 * a * bend * wave**4)) / (2 * a)
    return float(beam_shapes(beam).frequencies[0]), math.sqrt(square)


@row("tip-mass", "Beams", "Cantilever with a tip mass equal to its own: beta L", "1", "characteristic equation", 1e-12)
def _() -> tuple[float, float]:
    root = brentq(
        lambda x: 1 + math.cos(x) * math.cosh(x) + x * (math.cos(x) * math.sinh(x) - math.sin(x) * math.cosh(x)),
        1.0,
        1.5,
        xtol=1e-15,
    )
    bare = pl.Beam(**STEEL_STRIP, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    beam = pl.Beam(
        **STEEL_STRIP,
        theory="euler-bernoulli",
        modes=pl.Modes("cf", 1, payload=True),
        payload=pl.Payload(mass=bare.mass),
    )
    system = pl.System("tip mass", gravity=(0, 0))
    system.add("beam", beam, joint=pl.Weld())
    first = float(pl.linearise(system, inputs=(), outputs=()).modes().frequencies[0])
    return math.sqrt(first / math.sqrt(pl.STEEL.E * beam.section.Iz / beam.mu) * beam.length**2), root


@row(
    "torsion",
    "Beams",
    "First torsional frequency of a clamped shaft",
    "rad/s",
    "closed form, (pi/2l) sqrt(G/rho)",
    1e-12,
)
def _() -> tuple[float, float]:
    shaft = pl.Beam(
        length=1.2,
        section=pl.Section.round(0.01),
        material=pl.STEEL,
        theory="euler-bernoulli",
        modes=pl.TorsionModes("cf", 2),
    )
    system = pl.System("shaft", gravity=(0, 0, 0))
    system.add("shaft", shaft, joint=pl.Weld())
    ours = float(pl.linearise(system, inputs=(), outputs=()).modes().frequencies[0])
    return ours, math.pi / 2 / 1.2 * math.sqrt(pl.STEEL.shear_modulus / 7860.0)


# --------------------------------------------------------------------------------------------------------------- statics

EI, MU, LENGTH = 120.0, 1.7, 0.8


def _beam(length: float, modes: Any, **options: Any) -> pl.Beam:
    section = pl.Section(A=1e-4, Iz=EI / 2e11, Iy=EI / 2e11)
    return pl.Beam(length=length, section=section, material=pl.Material(E=2e11), theory="euler-bernoulli",
                   mass_per_length=MU, modes=modes, **options)  # fmt: skip


@row(
    "cantilever",
    "Statics",
    "Tip of a cantilever under its weight and a tip load",
    "m",
    "closed form, -(mu g l^4/8 + P l^3/3)/EI",
    1e-11,
)
def _() -> tuple[float, float]:
    system = pl.System("cantilever", gravity=(0, -G))
    rod = system.add("rod", _beam(LENGTH, pl.ElementModes(1, reference="cantilever"), stiffening="none"), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, -3.0))
    ours = float(pl.equilibrium(system).of_body("tip_deflection", "rod")[1])
    return ours, -(MU * G * LENGTH**4 / 8.0 + 3.0 * LENGTH**3 / 3.0) / EI


def _elastica(load: float) -> float:
    """Height of the tip of a cantilever of unit length under P L^2/EI = load, by elliptic integrals."""
    alpha = math.sqrt(load)

    def reach(k: float) -> float:
        return float(ellipk(k * k) - ellipkinc(math.asin(1.0 / (k * math.sqrt(2.0))), k * k)) - alpha

    k = brentq(reach, math.sqrt(0.5) * (1.0 + 1e-14), 1.0 - 1e-14, xtol=1e-15)
    first = math.asin(1.0 / (k * math.sqrt(2.0)))
    return -(1.0 - 2.0 * float(ellipe(k * k) - ellipeinc(first, k * k)) / alpha)


def _bent(load: float) -> tuple[float, float]:
    """Sixteen segments, each along its own chord."""
    count, system = 16, pl.System("elastica", gravity=(0, 0))
    part, end = _beam(1.0 / count, pl.ElementModes(1), stiffening="full"), system.ground
    for k in range(count):
        segment = system.add(f"s{k}", part, joint=pl.Planar(position=(k / count, 0.0)))
        system.close(f"weld{k}", "weld", segment.root, end)
        end = segment.tip
    system.force("load", end, (0.0, -load * EI))
    return float(pl.equilibrium(system).of_body("tip_position", f"s{count - 1}")[1]), _elastica(load)


for _load in (1.0, 2.0, 5.0, 10.0):
    row(f"elastica-{_load:g}", "Statics", f"Elastica, P l^2/EI = {_load:g}: tip deflection of 16 segments", "l",
        "elliptic integrals (Bisshopp and Drucker 1945)", 1e-5)(lambda load=_load: _bent(load))  # fmt: skip


# ---- curved, twisted and strongly bent beams of segments; their order is measured in tests/published/test_curved_beams.py

STRIP = pl.Section.rectangle(height=0.002, width=0.02)
STRIP_EI = pl.STEEL.E * STRIP.Iz
SPATIAL = (pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1))
MORE = "met with more elements"


def _strip(length: float = 1.0, **more: Any) -> pl.Beam:
    return pl.Beam(**{"length": length, "section": STRIP, "material": pl.STEEL, "theory": "euler-bernoulli",
                      "modes": pl.Modes("cf", 1), **more})  # fmt: skip


def _arc(radius: float) -> Callable[[float], tuple[float, float]]:
    return lambda s: (radius * math.sin(s / radius), radius * (1.0 - math.cos(s / radius)))


def _tip(beam: pl.Beam, count: int, force: Any = None, moment: Any = None, **lies: Any) -> np.ndarray:
    """Where the tip of a clamped beam of segments comes to rest."""
    system = pl.System("cantilever", gravity=(0, 0, 0))
    rod = system.add("rod", pl.segmented(beam, count, **lies), joint=pl.Weld())
    if force is not None:
        system.force("load", rod.tip, force)
    if moment is not None:
        system.moment("moment", rod.tip, moment)
    return np.asarray(pl.equilibrium(system)["tip_position", f"rod_{count}"])


for _axis, _name, _exact in ((0, "x", -0.5), (1, "y", 0.75 * math.pi - 2.0)):
    row(f"quarter-circle-{_name}", "Statics", f"Quarter of a circle, 16 segments, force F across its clamp: u_{_name} of the tip",
        "F R^3/EI", "Castigliano", 1e-3)(lambda axis=_axis, exact=_exact: (
            float(_tip(_strip(math.pi / 2), 16, (0.0, 1e-7), curve=_arc(1.0))[axis] - 1.0) * STRIP_EI / 1e-7, exact))  # fmt: skip


@row("unrolled-ring", "Statics", "Ring of 16 segments unrolled by -EI/R: x of the tip", "l", "closed form, a straight beam", 2e-2,
     MORE)  # fmt: skip
def _() -> tuple[float, float]:
    radius = 0.5 / math.pi
    return float(_tip(_strip(), 16, moment=-STRIP_EI / radius, curve=_arc(radius))[0]), 1.0


@row("roll-up", "Statics", "Strip of 16 segments rolled up by 2 pi EI/l: u_x of the tip", "l",
     "closed form, a circle", 2e-4)  # fmt: skip
def _() -> tuple[float, float]:
    return float(_tip(_strip(), 16, moment=2.0 * math.pi * STRIP_EI)[0]) - 1.0, -1.0


@row("half-roll-up", "Statics", "The same rolled up by pi EI/l: height of the tip", "l", "closed form, 2/pi", 2e-5)
def _() -> tuple[float, float]:
    return float(_tip(_strip(), 16, moment=math.pi * STRIP_EI)[1]), 2.0 / math.pi


def _cable(radius: float, stiffness: float) -> pl.Beam:
    """A round rod of 1 m of the scenarios of cosseratbench; it bends and stretches."""
    area = math.pi * radius**2
    section = pl.Section(A=area, Iz=0.25 * area * radius**2, Iy=0.25 * area * radius**2)
    material = pl.Material(E=stiffness, nu=0.5, density=1000.0)
    return pl.Beam(length=1.0, section=section, material=material, theory="euler-bernoulli",
                   modes=[pl.Modes("cf", 1), pl.AxialModes("cf", 1)])  # fmt: skip


@row("cosserat-cantilever", "Statics", "Cantilever of cosseratbench, 8 segments: deflection of its tip", "m",
     "Euler and Bernoulli's F l^3/(3 EI), which neglects that the lever shortens", 1e-3)  # fmt: skip
def _() -> tuple[float, float]:
    force, rod = 7.5e-3, _cable(0.02, 1e6)
    return float(_tip(rod, 8, (0.0, -force))[1]), -force / (3.0 * 1e6 * rod.section.Iz)


@row("cosserat-catenary", "Statics", "Cable of cosseratbench between pins 0.8 m apart, 16 segments: sag", "m",
     "elastic catenary, which neglects bending", 1e-3, MORE)  # fmt: skip
def _() -> tuple[float, float]:
    span, rod = 0.8, _cable(0.005, 1e6)
    weight, stiffness = 1000.0 * rod.section.A * G, 1e6 * rod.section.A
    pull = brentq(lambda h: h / stiffness + 2.0 * h / weight * math.asinh(weight / (2.0 * h)) - span, 1e-6, 10.0)
    exact = -weight / (8.0 * stiffness) + (pull - math.hypot(pull, weight / 2.0)) / weight

    half = brentq(lambda angle: math.sin(angle) / angle - span, 1e-3, 3.0)  # it starts on an arc
    system = pl.System("cable", gravity=(0, -G))
    cable = system.add("cable", pl.segmented(rod, 16, start=_arc(0.5 / half)), joint=pl.Revolute(angle=-half))
    system.close("pin", "point", cable.tip, system.ground.moved((span, 0.0)))
    return float(pl.equilibrium(system)["tip_position", "cable_8"][1]), exact


@functools.cache
def _swing_of_a_cable(radius: float, stiffness: float) -> float:
    """Period of the first swing: (EI u'')'' - (T/(1 + T/EA) u')' = m w^2 u in the height z above the free end, T = m g z."""
    area = math.pi * radius**2
    bending, mass, axial = stiffness * 0.25 * area * radius**2, 1000.0 * area, stiffness * area

    def held(square: float) -> float:
        """Zero if the pin carries no moment where it holds the rod; two solutions from the free end, side by side."""

        def slopes(z: float, y: Any) -> Any:
            pull = mass * G * z / (1.0 + mass * G * z / axial)
            return np.concatenate([y[2:4], y[4:6] / bending, y[6:8] + pull * y[2:4], mass * square * y[0:2]])

        end = solve_ivp(slopes, (0.0, 1.0), [1.0, 0, 0, 1.0, 0, 0, 0, 0], method="DOP853", rtol=1e-11, atol=1e-16).y[:, -1]
        return float((end[0] * end[5] - end[1] * end[4]) / (abs(end[4]) + abs(end[5])))

    chain = (2.404825557695773 / 2.0) ** 2 * G  # of Bernoulli's chain, which neither bends nor stretches
    return 2.0 * math.pi / math.sqrt(brentq(held, 0.95 * chain, 1.1 * chain, rtol=1e-13))


@row("cosserat-pendulum", "Vibration", "Hanging cable of cosseratbench, 16 segments: period of its first swing", "s",
     "equation of a hanging cable that bends and stretches, by shooting", 1e-5)  # fmt: skip
def _() -> tuple[float, float]:
    system = pl.System("cable", gravity=(0, -G))
    system.add("cable", pl.segmented(_cable(0.002, 1e7), 16), joint=pl.Revolute(angle=-0.5 * math.pi))
    modes = pl.linearise(system, at=pl.equilibrium(system), inputs=(), outputs=()).modes()
    return 2.0 * math.pi / float(min(modes.frequencies)), _swing_of_a_cable(0.002, 1e7)


@row("bent-start", "Statics", "Strain energy of a straight strip of 8 segments that starts on a quarter of a circle", "EI/l",
     "closed form, (pi/2)^2/2", 1e-6)  # fmt: skip
def _() -> tuple[float, float]:
    system = pl.System("sprung", gravity=(0, 0))
    system.add("rod", pl.segmented(_strip(), 8, start=_arc(2.0 / math.pi)), joint=pl.Weld())
    return float(pl.simulate(system, 1e-6).values["strain"][0]) / STRIP_EI, math.pi**2 / 8.0


THICK = _strip(2.0, section=pl.Section(A=0.01, Iy=1e-4 / 12, Iz=1e-4 / 12), material=pl.Material(E=2.07e11, density=7860.0),
               modes=(pl.Modes("cf", 1), pl.AxialModes("cf", 1)))  # fmt: skip
for _axis, _name, _printed in ((0, "x", -0.508537304326), (1, "y", -1.207239854550)):
    row(f"large-cantilever-{_name}", "Statics", f"Cantilever under 3 EI/l^2, 32 segments: u_{_name} of the tip", "m",
        "thin cable element of a multibody code, printed", 3e-5, MORE)(lambda axis=_axis, printed=_printed: (
            float(_tip(THICK, 32, (0.0, -3.0 * 2.07e11 * 1e-4 / 12 / 4.0))[axis]) - (2.0, 0.0)[axis], printed))  # fmt: skip


def _bend(axis: int) -> float:
    """R = 100, section 1 x 1, E = 1e7, nu = 0, torsion constant 0.140577, 600 across its plane; inches and pounds."""
    square = pl.Section(A=1.0, Iy=1 / 12, Iz=1 / 12, J=0.140577, shear_factor=5 / 6)
    beam = _strip(25.0 * math.pi, section=square, material=pl.Material(E=1e7, nu=0.0, density=1.0), modes=SPATIAL)
    return float((_tip(beam, 16, (0.0, 0.0, 600.0), curve=_arc(100.0)) - (*_arc(100.0)(25.0 * math.pi), 0.0))[axis])


for _axis, _printed in enumerate((-23.817, -13.731, 53.604)):
    row(f"bend-45-{'xyz'[_axis]}", "Statics",
        f"Bathe and Bolourchi's bend of 45 degrees, 16 segments: u_{'xyz'[_axis]} of the tip", "in",
        "exact rod by shooting, torsion constant 0.140577 in^4", 1e-3, MORE)(
        lambda axis=_axis, printed=_printed: (_bend(axis), printed))  # fmt: skip


def _twisted(axis: int) -> float:
    """10 m, 0.5 x 0.25 m, turned by 90 degrees from root to tip, 4 MN across the stiff side of the root."""
    wide, thin = 0.5, 0.25
    torsion = wide * thin**3 * (1 / 3 - 0.21 * thin / wide * (1 - thin**4 / (12 * wide**4)))
    section = pl.Section(A=wide * thin, Iy=thin * wide**3 / 12, Iz=wide * thin**3 / 12, J=torsion, shear_factor=5 / 6)
    beam = _strip(10.0, section=section, material=pl.Material(E=200e9, G=79.3e9, density=7860.0), modes=SPATIAL)
    return float((_tip(beam, 16, (0.0, 0.0, -4e6), twist=math.pi / 2) - (10.0, 0.0, 0.0))[axis])


for _axis, _printed in enumerate((-1.14153, -1.71805, -3.59321)):
    row(f"twisted-{'xyz'[_axis]}", "Statics",
        f"Beam pretwisted by 90 degrees, 16 segments without shear: u_{'xyz'[_axis]} of the tip",
        "m", "GEBT, printed by Wang et al. 2017", 5e-3, MORE)(
        lambda axis=_axis, printed=_printed: (_twisted(axis), printed))  # fmt: skip


def _princeton(degrees: float, axis: int) -> float:
    """0.508 m, 12.3777 x 3.2024 mm, E = 71.7 GPa, nu = 0.31, 13.345 N at an angle from the direction of the wide side."""
    wide, thin, angle = 12.3777e-3, 3.2024e-3, math.radians(degrees)
    torsion = wide * thin**3 * (1 / 3 - 0.21 * thin / wide * (1 - thin**4 / (12 * wide**4)))
    section = pl.Section(A=wide * thin, Iy=wide * thin**3 / 12, Iz=thin * wide**3 / 12, J=torsion, shear_factor=5 / 6)
    beam = _strip(0.508, section=section, material=pl.Material(E=71.7e9, nu=0.31, density=2700.0), modes=SPATIAL)
    return float(_tip(beam, 8, (0.0, 13.345 * math.cos(angle), 13.345 * math.sin(angle)))[axis])


for _degrees, _axis, _printed in ((0, 1, 0.016064), (30, 1, 0.016659), (30, 2, 0.117736), (60, 1, 0.011578), (60, 2, 0.181862),
                                  (90, 2, 0.200678)):  # fmt: skip
    row(f"princeton-{_degrees}-{'xyz'[_axis]}", "Statics",
        f"Princeton beam, 13.345 N at {_degrees} degrees, 8 segments: u_{'xyz'[_axis]} of the tip", "m",
        "ANSYS beam, printed by Obrezkov et al. 2022", 1.5e-2)(
        lambda degrees=_degrees, axis=_axis, printed=_printed: (_princeton(degrees, axis), printed))  # fmt: skip


ELASTICA = "elliptic integrals (Timoshenko and Gere 1961, article 2.7)"


def _column(beam: Any) -> tuple[float, float, tuple[str, ...]]:
    """Tip of a clamped column under twice its buckling load, pushed a little to the side: ours, exactly, and the warnings."""
    system = pl.System("column", gravity=(0, 0))
    rod = system.add("rod", beam, joint=pl.Weld())
    system.force("load", rod.tip, (-2.0 * math.pi**2 * EI / (4.0 * LENGTH**2), 1e-3))
    rest = pl.equilibrium(system)
    k = brentq(lambda k: (2.0 / math.pi * ellipk(k * k)) ** 2 - 2.0, 0.1, 0.99, xtol=1e-15)
    ours = rest["tip_position", list(system.links)[-1]][1]
    return float(ours) / LENGTH, float(2.0 * k / ellipk(k * k)), rest.warnings


@row("buckled-column", "Statics", "Column under twice Euler's load, 16 segments: deflection of its tip", "l", ELASTICA, 1e-5)
def _() -> tuple[float, float]:
    ours, exact, warnings = _column(pl.segmented(_beam(LENGTH, pl.ElementModes(1)), 16))
    assert not warnings
    return ours, exact


@row("euler-load", "Statics", "Buckling load of a clamped column, 4 elements", "N", "Euler, pi^2 EI/(4 l^2)", 5e-5)
def _() -> tuple[float, float]:
    euler = math.pi**2 * EI / (4 * LENGTH**2)
    load = pl.Parameter("load", 0.5 * euler)
    system = pl.System("column", gravity=(0, 0))
    rod = system.add("rod", _beam(LENGTH, pl.ElementModes(4, reference="cantilever"), stiffening="full"), joint=pl.Weld())
    system.force("load", rod.tip, (-load, 0.0))

    def softest(value: float) -> float:
        return float(np.linalg.eigvalsh(np.asarray(pl.linearise(system, parameters={"load": value}, inputs=(), outputs=()).K))[0])

    return float(brentq(softest, 0.5 * euler, 1.5 * euler, xtol=1e-9)), euler


@row(
    "conical-pendulum",
    "Statics",
    "Angle of a conical pendulum below the horizontal",
    "rad",
    "closed form, sin = g/(w^2 l)",
    1e-10,
)
def _() -> tuple[float, float]:
    speed, length = 8.0, 0.4
    system = pl.System("governor", gravity=(0, 0, -G))
    mast = system.add("mast", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Revolute(axis="z"))
    bob = pl.RigidBody(mass=0.5, inertia=(0, 0, 0), com=(length, 0, 0))
    system.add("bob", bob, joint=pl.Revolute(axis="y", angle=1.2), on=mast.root)
    return float(pl.equilibrium(system, steady={"mast.angle": speed})["bob.angle"]), math.asin(G / (speed**2 * length))


# ------------------------------------------------------------------------------------------------------------- vibration

# First flapping frequency over sqrt(EI/mu l^4) by Wright, Smith, Thresher and Wang, Vibration Modes of Centrifugally Stiffened
# Beams, J. Appl. Mech. 1982, as quoted by Bir, AIAA 2009-1035, table 3a.
WRIGHT = {3.0: 4.797, 6.0: 7.360, 12.0: 13.170}


def _blade(speed: float, frequency: float) -> float:
    """Zero at a frequency of the blade w_xxxx - (speed^2/2) ((1 - x^2) w_x)_x = frequency^2 w, clamped at 0 and free at 1.

    Two power series about the root, x^2 + ... and x^3 + ..., whose moments and shear forces at the tip are dependent there.
    """
    ends = []
    for first in (2, 3):
        c = [0.0] * 204
        c[first] = 1.0
        for k in range(200):
            pull = 0.5 * speed**2 * ((k + 2) * (k + 1) * c[k + 2] - k * (k + 1) * c[k])
            c[k + 4] = (pull + frequency**2 * c[k]) / ((k + 4) * (k + 3) * (k + 2) * (k + 1))
        ends.append([math.fsum(k * (k - 1) * v for k, v in enumerate(c)),
                     math.fsum(k * (k - 1) * (k - 2) * v for k, v in enumerate(c))])  # fmt: skip
    return ends[0][0] * ends[1][1] - ends[0][1] * ends[1][0]


def _flapping(speed: float) -> float:
    pace = math.sqrt(EI / MU) / LENGTH**2
    system = pl.System("blade", gravity=(0, 0, 0))
    system.add("blade", _beam(LENGTH, pl.Modes("cf", 8, plane="z"), stiffening="full"), joint=pl.Revolute(axis="z"))
    rest = pl.equilibrium(system, steady={"blade.angle": speed * pace})
    return float(pl.linearise(system, at=rest, inputs=(), outputs=()).modes().frequencies[0]) / pace


for _speed, _printed in WRIGHT.items():
    row(f"blade-{_speed:g}", "Vibration", f"Flapping frequency of a rotating blade, speed {_speed:g}, 8 modes", "1",
        f"power series of the blade's equation; {_printed:.3f} by Wright et al. 1982, quoted by Bir 2009, table 3a", 1e-4)(
        lambda speed=_speed, near=_printed: (_flapping(speed),
                                             float(brentq(lambda f: _blade(speed, f), near - 5e-4, near + 5e-4, xtol=1e-14)))
        )  # fmt: skip


def _rotating(plane: str, speed: float, mode: int) -> float:
    """A frequency of a beam that turns about its root, out of the plane of rotation or in it; both in sqrt(EI/mu l^4)."""
    pace = math.sqrt(EI / MU) / LENGTH**2
    system = pl.System("rotor", gravity=(0, 0, 0))
    joint = pl.Revolute(axis="z") if speed else pl.Weld()
    system.add("blade", _beam(LENGTH, pl.Modes("cf", 8, plane=plane), stiffening="full"), joint=joint)
    rest = pl.equilibrium(system, steady={"blade.angle": speed * pace} if speed else None)
    return float(np.sort(pl.linearise(system, at=rest, inputs=(), outputs=()).modes().frequencies)[mode - 1]) / pace


ROTATING = {("z", 1): (3.51602, 4.13732, 7.36037), ("z", 2): (22.03449, 22.61492, 26.80908), ("y", 1): (3.51602, 3.62180, 4.26323)}
for (_plane, _mode), _frequencies in ROTATING.items():
    for _speed, _printed in zip((0.0, 2.0, 6.0), _frequencies, strict=True):
        _name = "flap" if _plane == "z" else "chord"
        row(f"rotating-{_name}-{_mode}-{_speed:g}", "Vibration",
            f"Cantilever rotating at {_speed:g} sqrt(EI/mu l^4), 8 modes: {_name} frequency {_mode}", "1",
            "Ritz solution by polynomials, recomputed to 6 digits", 2e-5)(
            lambda plane=_plane, speed=_speed, mode=_mode, printed=_printed: (_rotating(plane, speed, mode), printed))  # fmt: skip


def _ring(mode: int) -> tuple[float, float]:
    """A quarter between two planes of symmetry; mode: 1 has two waves around the ring, 2 has four."""
    beam, waves = _strip(math.pi / 2), 2 * mode
    system = pl.System("ring", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(beam, 16, curve=_arc(1.0)), joint=pl.Prismatic(axis="y"))
    system.close("cut", "prismatic", rod.tip, system.ground.moved((1.0, 1.0)).turned(math.pi / 2), axis="y")
    found = np.sort(pl.linearise(system, at="start", inputs=(), outputs=()).modes().frequencies)[mode - 1]
    return float(found) * math.sqrt(beam.mu / STRIP_EI), waves * (waves**2 - 1) / math.sqrt(waves**2 + 1)


for _mode in (1, 2):
    row(f"ring-{2 * _mode}", "Vibration", f"Ring of 64 segments: frequency of {2 * _mode} waves in its plane", "sqrt(EI/mu R^4)",
        "closed form (Hoppe 1871)", 2e-3)(lambda mode=_mode: _ring(mode))  # fmt: skip


@row(
    "damped-oscillator",
    "Vibration",
    "Damping ratio of a block on a spring and a damper",
    "1",
    "closed form, c/(2 sqrt(k m))",
    1e-12,
)
def _() -> tuple[float, float]:
    system = pl.System("oscillator", gravity=(0, 0))
    system.add("block", pl.RigidBody(mass=2.5), joint=pl.Prismatic(spring=pl.Spring(40.0), damper=pl.Damper(3.0)))
    return float(pl.linearise(system, inputs=(), outputs=()).modes().damping_ratios[0]), 3.0 / (2.0 * math.sqrt(40.0 * 2.5))


@row(
    "decay",
    "Vibration",
    "The same block released: displacement after 2 s",
    "m",
    "closed form of the damped oscillator",
    1e-10,
)
def _() -> tuple[float, float]:
    system = pl.System("oscillator", gravity=(0, 0))
    system.add(
        "block",
        pl.RigidBody(mass=2.5),
        joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(40.0), damper=pl.Damper(3.0)),
    )
    decay, natural = 3.0 / (2 * 2.5), 4.0
    damped = math.sqrt(natural**2 - decay**2)
    exact = 0.1 * math.exp(-2 * decay) * (math.cos(2 * damped) + decay / damped * math.sin(2 * damped))
    return float(pl.simulate(system, 2.0, method=TIGHT, save=[2.0])["block.displacement"][0]), exact


# ------------------------------------------------------------------------------------------------------ rigid mechanisms


def _pendulum() -> pl.Result:
    system = pl.System("simple pendulum", gravity=(0, -G))
    system.add("bar", pl.RigidBody.point_mass(1.0, at=(1.0, 0.0)), joint=pl.Revolute(angle=math.pi))
    system.event("at rest", lambda t, q, v: v["bar.angle"])
    return pl.simulate(system, 10.0, method=TIGHT, save=[0.0, 10.0])


@row(
    "pendulum-period",
    "Rigid mechanisms",
    "Simple pendulum from the horizontal: period",
    "s",
    "IFToMM benchmark A01, printed",
    5e-12,
)
def _() -> tuple[float, float]:
    return _pendulum().events[1].t, 2.367841947576


@row("pendulum-place", "Rigid mechanisms", "The same pendulum: y after 10 s", "m", "IFToMM benchmark A01, printed", 2e-10)
def _() -> tuple[float, float]:
    return float(_pendulum().of_body("tip_position", "bar")[-1, 1]), -0.9614192051


def _windows(count: int, t: float) -> float:
    """x of B0 of IFToMM's N four-bar linkages: N windows of rods of 1 m and 1 kg, upright at the start, B0 at 1 m/s."""
    system = pl.System("windows", gravity=(0, -G))
    rod = pl.RigidBody.rod(1.0, 1.0)
    before = system.add("v0", rod, joint=pl.Revolute(angle=math.pi / 2, rate=-1.0)).tip
    turned, rate = -math.pi / 2, 1.0
    for k in range(1, count + 1):
        before = system.add(f"h{k}", rod, joint=pl.Revolute(angle=turned, rate=rate), on=before).tip
        leg = system.add(f"v{k}", rod, joint=pl.Revolute(angle=-math.pi / 2, rate=-1.0), on=before)
        system.close(f"pin{k}", "point", leg.tip, system.ground.moved((float(k), 0.0)))
        turned, rate = 0.0, 0.0
    run = pl.simulate(system, t, method=pl.DOP853(rtol=1e-11, atol=1e-13), save=[0.0, t])
    return float(run["tip_position", "v0"][-1, 0])


WINDOWS = {(1, 1.0): -0.2607126752, (1, 10.0): 0.4783850578, (2, 1.0): -0.1950203019, (2, 10.0): 0.3284581115}
for (_count, _time), _printed in WINDOWS.items():
    row(f"windows-{_count}-{_time:g}", "Rigid mechanisms", f"{_count} four-bar linkages in a row: x of B0 after {_time:g} s", "m",
        "IFToMM benchmark A02, the equation of its one degree of freedom", 1e-8)(
        lambda count=_count, t=_time, printed=_printed: (_windows(count, t), printed))  # fmt: skip


def _window_equation(count: int, t: float) -> float:
    """phi'' = -(W g/I) cos phi of the same; I = (N + 1)/3 + N, W = (N + 1)/2 + N."""
    weight, inertia = (count + 1) / 2 + count, (count + 1) / 3 + count
    found = solve_ivp(lambda t, y: (y[1], -weight * G / inertia * math.cos(y[0])), (0.0, t), (math.pi / 2, -1.0), method="DOP853",
                      rtol=1e-12, atol=1e-13)  # fmt: skip
    return math.cos(found.y[0, -1])


for _count in (10, 40, 100, 400):
    row(f"windows-{_count}", "Rigid mechanisms", f"{_count} four-bar linkages in a row: x of B0 after 1 s", "m",
        "IFToMM benchmark A02, the equation of its one degree of freedom", 1e-8)(
        lambda count=_count: (_windows(count, 1.0), _window_equation(count, 1.0)))  # fmt: skip


@row("torque-free", "Rigid mechanisms", "Torque-free rotation: angular velocity about the middle axis after 10 s", "rad/s",
     "Jacobi's elliptic functions (Landau and Lifshitz, Mechanics, section 37)", 1e-8)  # fmt: skip
def _() -> tuple[float, float]:
    inertia, start = (1.0, 2.0, 3.0), (1.0, 0.0, 0.8)  # rotation starts in the x-z plane
    system = pl.System("top", gravity=(0, 0, 0))
    system.add("body", pl.RigidBody(mass=1.0, inertia=inertia), joint=pl.Spherical(angular_velocity=start))
    run = pl.simulate(system, 10.0, method=TIGHT, save=[10.0])
    a, b, c = inertia
    energy2, momentum2 = (
        sum(i * w * w for i, w in zip(inertia, start, strict=True)),
        sum((i * w) ** 2 for i, w in zip(inertia, start, strict=True)),
    )
    high = math.sqrt((momentum2 - energy2 * a) / (b * (b - a)))
    other = math.sqrt((energy2 * c - momentum2) / (b * (c - b)))
    if momentum2 > energy2 * b:  # about the axis of the largest moment
        rate = math.sqrt((c - b) * (momentum2 - energy2 * a) / (a * b * c))
        sn, _, _, _ = ellipj(rate * 10.0, (b - a) * (energy2 * c - momentum2) / ((c - b) * (momentum2 - energy2 * a)))
        exact = other * float(sn)
    else:
        rate = math.sqrt((b - a) * (energy2 * c - momentum2) / (a * b * c))
        sn, _, _, _ = ellipj(rate * 10.0, (c - b) * (momentum2 - energy2 * a) / ((b - a) * (energy2 * c - momentum2)))
        exact = high * float(sn)
    sign = math.copysign(1.0, (c - a) * start[2] * start[0])  # of the first acceleration: b w_y' = (c - a) w_z w_x
    return float(run.rate("body.wy")[0]), sign * exact


def _andrews() -> pl.Result:
    from pliant.gallery.ivp_test_set import andrews_squeezer

    return pl.simulate(andrews_squeezer(), 0.03, method=pl.DOP853(rtol=1e-13, atol=1e-15), save=[0.0, 0.03])


@row(
    "andrews-angle",
    "Rigid mechanisms",
    "Andrews' squeezer: angle beta after 0.03 s",
    "rad",
    "IVP test set, printed",
    1e-9,
)
def _() -> tuple[float, float]:
    return float(_andrews()["K1.angle"][-1]), 15.81077119629904


@row(
    "andrews-start",
    "Rigid mechanisms",
    "Andrews' squeezer: first acceleration at the start",
    "rad/s^2",
    "IVP test set, printed",
    1e-12,
)
def _() -> tuple[float, float]:
    run = _andrews()
    return float(run.values["a"][0, run.labels["rate"].index("K1.angle")]), 14222.4439199541139


@row("slider-crank-rigid", "Rigid mechanisms", "Slider-crank with a rigid rod: time of the first impact", "s",
     "energy and geometry, by quadrature (tests/published)", 1e-9)  # fmt: skip
def _() -> tuple[float, float]:
    from pliant.gallery.slider_crank import runs

    return runs.run(0, False).contacts[0].begin, float(reference("slider_crank")["closed_forms"]["rigid_mechanism"]["touch_time"])


BRICARD = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)  # along the edges of a cube
BRICARD_HINGES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)  # the sixth, of the loop: x
THIN = 1e-6  # kg m^2, of a rod about itself; the benchmark's rods have none that it prints


def _turn(axis: Any, angle: float) -> Any:
    """Rodrigues' formula."""
    across = np.cross(np.eye(3), axis)
    return np.eye(3) + math.sin(angle) * across + (1.0 - math.cos(angle)) * across @ across


@functools.cache
def _bricard_swing() -> float:
    """Time between rests of Bricard's mechanism: angles t, u, t, u, t; T = M(t) t'^2/2 and V(t) from the closed loop."""
    edges = np.diff(BRICARD, axis=0)

    def chain(t: float, u: float) -> Any:
        places, axes, turned, at, now = [], [], [], np.zeros(3), np.eye(3)
        for edge, hinge, angle in zip(edges, BRICARD_HINGES, (t, u, t, u, t), strict=True):
            places.append(at)
            axes.append(now @ hinge)
            now = now @ _turn(hinge, angle)
            turned.append(now)
            at = at + now @ edge
        return places, axes, turned, at

    def integrand(w: float) -> float:
        t = 0.5 * math.pi * (1.0 - math.cos(w))
        u = brentq(lambda u: chain(t, u)[3][1], -1.2, 0.1 * math.sin(t) ** 2 + 1e-9, xtol=1e-15)
        places, axes, turned, at = chain(t, u)
        moves = np.array([np.cross(axis, at - place) for axis, place in zip(axes, places, strict=True)])
        by_t, by_u = moves[[0, 2, 4]].sum(axis=0), moves[[1, 3]].sum(axis=0)
        slope = -float(by_t @ by_u / (by_u @ by_u))
        mass, height, spin, speed = 0.0, 0.0, np.zeros(3), np.zeros(3)
        for k, edge in enumerate(edges):
            spin = spin + axes[k] * (slope if k % 2 else 1.0)
            half = 0.5 * turned[k] @ edge
            inertia = turned[k] @ np.diag(np.where(edge != 0.0, THIN, 1.0 / 12.0)) @ turned[k].T
            centre = speed + np.cross(spin, half)
            mass += float(centre @ centre + spin @ inertia @ spin)
            height += float((places[k] + half)[2])
            speed = speed + 2.0 * np.cross(spin, half)
        return math.sqrt(mass / (2.0 * G * (2.5 - height))) * 0.5 * math.pi * math.sin(w)

    nodes, weights = np.polynomial.legendre.leggauss(40)  # the integrand is smooth, and even about both ends
    return 0.5 * math.pi * float(sum(w * integrand(0.5 * math.pi * (1.0 + x)) for x, w in zip(nodes, weights, strict=True)))


@row("bricard", "Rigid mechanisms", "Bricard's mechanism: time from rest to rest", "s",
     "IFToMM benchmark A04; quadrature of the energy of its one freedom", 1e-8)  # fmt: skip
def _() -> tuple[float, float]:
    system = pl.System("Bricard", gravity=(0, 0, -G))
    on = system.ground
    for k, (edge, hinge) in enumerate(zip(np.diff(BRICARD, axis=0), BRICARD_HINGES, strict=True)):
        body = pl.RigidBody(mass=1.0, inertia=np.where(edge != 0.0, THIN, 1.0 / 12.0), com=edge / 2.0, tip=edge)
        on = system.add(f"rod {k}", body, joint=pl.Revolute(axis=hinge), on=on).tip
    system.close("loop", "revolute", on, system.ground.moved(BRICARD[-1]), axis="x")
    system.event("rest", lambda t, q, v: v["rod 0.angle"])
    return pl.simulate(system, 1.5, method=TIGHT, save=[0.0, 1.5]).events[0].t, _bricard_swing()


SHAFT, SLIDER, ROD, BALL, TOP, ASIDE = 0.3, 3.0, 0.3, 5.0, 1.0, 0.05  # kg, m, of the governor
STIFF, DAMPED, REST = 8e5, 4e4, 0.5  # N/m, N s/m, m
FALL = (ROD * 0.5 + BALL) / (ROD + BALL)  # m from the hinge to the centre of mass of a rod with its ball
ACROSS = ROD / 12.0 + ROD * (FALL - 0.5) ** 2 + BALL * (1.0 - FALL) ** 2  # kg m^2 about it
NARROW = ROD / 12.0 * 2e-4  # kg m^2, of a rod or shaft of 1 cm by 1 cm about itself


def _governor(t: float) -> float:
    def brick(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        return mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z), mass / 12.0 * (x * x + y * y)

    system = pl.System("governor", gravity=(0, 0, -G))
    spindle = pl.RigidBody(mass=SHAFT, inertia=brick(SHAFT, 0.01, 0.01, TOP), com=(0, 0, 0.5 * TOP))
    shaft = system.add("shaft", spindle, joint=pl.Revolute(axis="z", rate=2.0 * math.pi))
    body = pl.RigidBody(mass=SLIDER, inertia=brick(SLIDER, 0.1, 0.1, 0.1))
    slider = system.add("slider", body, joint=pl.Prismatic(axis="z", displacement=0.5), on=shaft.root)
    for name, side in (("right", 1.0), ("left", -1.0)):
        fly = pl.RigidBody(mass=ROD + BALL, inertia=(NARROW, ACROSS, ACROSS), com=(side * FALL, 0, 0))
        hinge = pl.Revolute(axis="y", angle=side * math.pi / 6.0)
        rod = system.add(name, fly, joint=hinge, on=shaft.root.moved((side * ASIDE, 0.0, TOP)))
        system.strut(f"{name} spring", rod.root.moved((side * 0.5, 0.0, 0.0)), slider.root.moved((side * ASIDE, 0.0, 0.0)),
                     stiffness=STIFF, rest=REST, damping=DAMPED)  # fmt: skip
    return float(pl.simulate(system, t, method=pl.Radau9(rtol=1e-11, atol=1e-13), save=[0.0, t])["slider.displacement"][-1])


@functools.cache
def _governor_equations(t: float) -> float:
    """Lagrange's equations of the rods' angle b below the horizontal and the slider's place s, at constant angular momentum."""

    def inertia(b: float) -> tuple[float, float]:
        """About the shaft, and its derivative by b."""
        c, d, r = math.cos(b), math.sin(b), ASIDE + FALL * math.cos(b)
        own = SLIDER * 0.02 / 12.0 + NARROW + 2.0 * (NARROW * d * d + ACROSS * c * c + (ROD + BALL) * r * r)
        return own, 4.0 * d * ((NARROW - ACROSS) * c - (ROD + BALL) * r * FALL)

    momentum = inertia(math.pi / 6.0)[0] * 2.0 * math.pi

    def rates(_: float, y: Any) -> list[float]:
        b, bd, s, sd = y
        x, z = 0.5 * math.cos(b), TOP - 0.5 * math.sin(b) - s
        long = math.hypot(x, z)
        by_b, by_s = -0.5 * (x * math.sin(b) + z * math.cos(b)) / long, -z / long
        pull = STIFF * (long - REST) + DAMPED * (by_b * bd + by_s * sd)
        about, slope = inertia(b)
        push = 0.5 * slope * (momentum / about) ** 2 + 2.0 * (ROD + BALL) * G * FALL * math.cos(b) - 2.0 * pull * by_b
        return [bd, push / (2.0 * (ACROSS + (ROD + BALL) * FALL**2)), sd, -G - 2.0 * pull * by_s / SLIDER]

    found = solve_ivp(rates, (0.0, t), (math.pi / 6.0, 0.0, 0.5, 0.0), method="Radau", rtol=1e-11, atol=1e-13)
    return float(found.y[2, -1])


for _time in (1.0, 10.0):
    row(f"governor-{_time:g}", "Rigid mechanisms", f"Stiff flyball governor: height of its slider after {_time:g} s", "m",
        "IFToMM benchmark A05; Lagrange's equations, integrated by SciPy", 1e-9)(
        lambda t=_time: (_governor(t), _governor_equations(t)))  # fmt: skip


CRANK, CONROD, PIVOT = 0.08, 0.3, (0.0, 0.1, 0.12)  # m; the crank turns about x through PIVOT, the slider runs along x
CRANK_INERTIA, CONROD_MASS, PISTON = 1e-4, 0.5, 2.0  # kg m^2 about x, kg, kg
TURNING = 6.0  # rad/s, of the crank at the start


def _crank_in_space(t: float) -> float:
    system = pl.System("slider-crank in space", gravity=(0, 0, -G))
    wheel = pl.RigidBody(mass=0.12, inertia=(CRANK_INERTIA,) * 3, tip=(0.0, 0.0, CRANK))
    crank = system.add("crank", wheel, joint=pl.Revolute(axis="x", rate=TURNING), on=system.ground.moved(PIVOT))
    x, y, z = np.eye(3)
    along = np.array([math.sqrt(CONROD**2 - PIVOT[1] ** 2 - (PIVOT[2] + CRANK) ** 2), -PIVOT[1], -PIVOT[2] - CRANK])
    columns = np.column_stack([np.cross(z, along), np.cross(y, along), -x])  # the far end moves as the slider does
    rates = np.linalg.solve(columns, -TURNING * np.cross(x, along + CRANK * z))
    inertia = CONROD_MASS / 12.0 * (CONROD**2 * np.eye(3) - np.outer(along, along)) + 1e-12 * np.eye(3)  # a slender rod
    rod = pl.RigidBody(mass=CONROD_MASS, inertia=inertia, com=along / 2.0, tip=along)
    on = system.add("rod", rod, joint=pl.Universal(axes=("z", "y"), rates=tuple(rates[:2])), on=crank.tip).tip
    joint = pl.Prismatic(axis="x", displacement=along[0], rate=rates[2])
    slider = system.add("slider", pl.RigidBody(mass=PISTON, inertia=(1e-4,) * 3), joint=joint)
    system.close("pin", "point", on, slider.root)
    run = pl.simulate(system, t, method=TIGHT, save=[0.0, t])
    assert not run.warnings, run.warnings
    return float(run["slider.displacement"][-1])


@functools.cache
def _crank_equation(t: float) -> float:
    """M a'' + M' a'^2/2 + V' = 0 of the crank's angle a; a slender rod from p to s has the energy m (p'^2 + p' s' + s'^2)/6."""

    def place(a: float) -> tuple[float, ...]:
        """z' of the pin, which moves across x; x, x' and x'' of the slider."""
        y, z, dy, dz = PIVOT[1] - CRANK * math.sin(a), PIVOT[2] + CRANK * math.cos(a), -CRANK * math.cos(a), -CRANK * math.sin(a)
        x = math.sqrt(CONROD**2 - y * y - z * z)
        dx = -(y * dy + z * dz) / x
        return dz, x, dx, -(CRANK**2 - y * dz + z * dy + dx * dx) / x

    def rates(_: float, state: Any) -> list[float]:
        dz, _, dx, ddx = place(state[0])
        mass = CRANK_INERTIA + PISTON * dx * dx + CONROD_MASS / 3.0 * (CRANK**2 + dx * dx)
        slope = 2.0 * (PISTON + CONROD_MASS / 3.0) * dx * ddx
        return [state[1], -(0.5 * slope * state[1] ** 2 + 0.5 * CONROD_MASS * G * dz) / mass]

    found = solve_ivp(rates, (0.0, t), (0.0, TURNING), method="DOP853", rtol=1e-12, atol=1e-14)
    return place(found.y[0, -1])[1]


row("crank-in-space", "Rigid mechanisms", "Slider-crank in space: place of the slider after 1 s", "m",
    "the equation of its one freedom, integrated by SciPy", 1e-8)(
    lambda: (_crank_in_space(1.0), _crank_equation(1.0)))  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- contact


def _strike(law: Any, speed: float = 2.0) -> pl.Result:
    """A block that hits a wall once."""
    system = pl.System("struck", gravity=(0, 0))
    block = system.add("block", pl.RigidBody(mass=0.5), joint=pl.Prismatic(displacement=-0.01, rate=speed))
    system.contact(points=block.root, against=pl.Plane(normal="-x"), normal=law)
    return pl.simulate(system, 0.05, method=TIGHT, save="steps")


def _struck(law: Any, speed: float = 2.0) -> Any:
    return _strike(law, speed).contacts[0]


def _hertz_depth() -> float:
    return float((1.25 * 0.5 * 2.0**2 / 1e7) ** 0.4)


@row(
    "hertz-duration",
    "Contact",
    "Duration of a Hertzian impact",
    "s",
    "closed form (Hertz 1881), (4/5) B(2/5, 1/2) d/v",
    1e-8,
)
def _() -> tuple[float, float]:
    touch = _struck(pl.Hertz(stiffness=1e7))
    return float(touch.duration), 0.8 * float(beta_function(0.4, 0.5)) * _hertz_depth() / 2.0


@row("hertz-force", "Contact", "Peak force of the same impact", "N", "closed form, K d^1.5", 1e-8)
def _() -> tuple[float, float]:
    return float(_struck(pl.Hertz(stiffness=1e7)).peak_force), 1e7 * _hertz_depth() ** 1.5


@row("hunt-crossley", "Contact", "Restitution of Hunt and Crossley's law, 0.5 asked", "1",
     "transcendental equation c (1 + e) = ln((1 + c)/(1 - c e))", 1e-7)  # fmt: skip
def _() -> tuple[float, float]:
    c = 1.5 * (1 - 0.5)
    exact = brentq(lambda e: c * (1 + e) - math.log((1 + c) / (1 - c * e)), 1e-6, 1.0 - 1e-9, xtol=1e-15)
    return float(_struck(pl.HuntCrossley(stiffness=1e7, restitution=0.5)).restitution), exact


@row("exact-law", "Contact", "Restitution of pliant's `Exact` law, 0.3 asked", "1", "the value asked", 1e-7)
def _() -> tuple[float, float]:
    return float(_struck(pl.Exact(stiffness=1e7, restitution=0.3)).restitution), 0.3


@row("free-fall", "Contact", "First touch of a ball dropped from 0.5 m", "s", "closed form, sqrt(2 h/g)", 1e-11)
def _() -> tuple[float, float]:
    system = pl.System("ball", gravity=(0, -G))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(0.0, 0.6)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e7))
    return pl.simulate(system, 0.4, method=TIGHT).contacts[0].begin, math.sqrt(2 * 0.5 / G)


@row("rolling", "Contact", "Speed of a sliding ball once it rolls, of its first speed", "1", "closed form, 5/7", 1e-6)
def _() -> tuple[float, float]:
    radius, mass = 0.1, 1.0
    system = pl.System("ball", gravity=(0, -G))
    body = pl.RigidBody(mass=mass, inertia=0.4 * mass * radius**2)
    ball = system.add("ball", body, joint=pl.Planar(position=(0.0, radius - mass * G / 1e6), velocity=(1.0, 0.0)))
    system.contact(points=pl.Sphere(ball.root, radius), against=pl.Plane(normal=(0, 1)),
                   normal=pl.Linear(stiffness=1e6, damping=0.0),
                   friction=pl.Karnopp(mu_static=0.2, mu_kinetic=0.2, band=1e-6))  # fmt: skip
    return float(pl.simulate(system, 1.0, method=TIGHT).rate("ball.x")[-1]), 5 / 7


# --------------------------------------------------------------------------------------------------- flexible mechanisms


def _ivp_crank() -> pl.Result:
    from pliant.gallery.ivp_test_set import flexible_slider_crank

    return pl.simulate(flexible_slider_crank(), 0.1, method=pl.DOP853(rtol=1e-12, atol=1e-16), save=[0.0, 0.1])


@row("ivp-crank-angle", "Flexible mechanisms", "Simeon's flexible slider-crank: angle of the rod after 0.1 s", "rad",
     "IVP test set, recomputed in minimal coordinates", 1e-11)  # fmt: skip
def _() -> tuple[float, float]:
    run = _ivp_crank()
    return float(run["crank.angle"][-1] + run["hinge.angle"][-1]), -0.3311734988256447


@row(
    "ivp-crank-bending",
    "Flexible mechanisms",
    "The same: first bending coordinate",
    "m",
    "IVP test set, recomputed in minimal coordinates",
    3e-8,
)
def _() -> tuple[float, float]:
    return float(_ivp_crank()["rod.y1"][-1]), 1.8931928430201522e-4


@row("spin-up", "Flexible mechanisms", "Spin-up of Kane, Ryan and Banerjee: extreme of the tip, 4 modes", "m",
     "geometrically exact beam, finite elements with the numbers of Simo and Vu-Quoc", 1.2e-3)  # fmt: skip
def _() -> tuple[float, float]:
    from pliant.gallery.tipping_arm.spin_up import run

    return float(run("linear", 4).entry["tip_extreme"]), -0.573833


# ----------------------------------------------------------------------------------------------------- published systems

OTHER_CODE = "reference by other code (tests/published)"


def _chain() -> Any:
    from pliant.gallery.falling_chain.runs import run
    from pliant.gallery.falling_chain.system import falling_chain

    return run(("ss-ss-ss", pl.compile_system(falling_chain("ss-ss-ss"))), pl.DOP853(rtol=1e-12, atol=1e-14))


@row(
    "chain-impact",
    "Published systems",
    "Falling chain: time of the tenth event of the first joint",
    "s",
    OTHER_CODE,
    1e-8,
)
def _() -> tuple[float, float]:
    theirs = [event[0] for event in reference("falling_chain")["events"]["ss-ss-ss"] if event[1] == 0 and event[0] < 0.95]
    ours = [event[0] for event in _chain().events if event[1] == 0 and event[0] < 0.95]
    last = min(len(theirs), 10) - 1
    return float(ours[last]), float(theirs[last])


@row("chain-count", "Published systems", "Falling chain: impacts until 1.5 s", "1", OTHER_CODE, 0.0)
def _() -> tuple[float, float]:
    return float(len(_chain().touches)), float(sum(event[2] == 1 for event in reference("falling_chain")["events"]["ss-ss-ss"]))


def _tipping(key: str) -> tuple[float, float]:
    from pliant.gallery.tipping_arm.runs import run
    from pliant.gallery.tipping_arm.system import Case

    names = {"first_touch": "t_first_contact", "peak_force": "F_peak", "rebound_angle": "rebound_angle"}
    theirs = next(case for case in reference("tipping_arm")["runs"] if case["name"] == "down45_full_hertz_a0_EI1")
    return float(run(Case(bending=1.0)).entry[key]), float(theirs["summary"][names[key]])


row("tipping-touch", "Published systems", "Tipping arm: time of the first touch", "s", OTHER_CODE, 1e-8)(
    lambda: _tipping("first_touch")
)
row("tipping-force", "Published systems", "Tipping arm: peak force", "N", OTHER_CODE, 1e-7)(lambda: _tipping("peak_force"))
row("tipping-rebound", "Published systems", "Tipping arm: angle of the rebound", "rad", OTHER_CODE, 1e-7)(
    lambda: _tipping("rebound_angle")
)


@row("telescopic-forward", "Published systems", "Telescopic arm: free length at the end", "m", OTHER_CODE, 1e-8)
def _() -> tuple[float, float]:
    from pliant.gallery.telescopic_arm.runs import run
    from pliant.gallery.telescopic_arm.system import FORCES

    case = next(case for case in reference("telescopic_arm")["forward"] if case["model"] == "consistent" and case["modes"] == 1)
    column = case["columns"].index("l")
    ours = run("consistent", FORCES[f"F{10 * case['F_over_tau']:g}"], 1).case["samples"]
    return float(ours[-1][column]), float(case["table"][-1][column])


@row(
    "telescopic-inverse",
    "Published systems",
    "Telescopic arm, inverse dynamics: torque at the start",
    "N m",
    OTHER_CODE,
    1e-8,
)
def _() -> tuple[float, float]:
    from pliant.gallery.telescopic_arm.runs import inverse

    case = next(case for case in reference("telescopic_arm")["inverse"] if "paper" in case["case"] and "n1" in case["case"])
    return float(inverse("as-published", 1).case["rows"][0][1]), float(case["table"][0][1])


@row("adiabatic", "Published systems", "Telescopic arm extended slowly from 0.5 m to 1 m: growth of the amplitude", "1",
     "adiabatic invariant, sqrt(2)", 1e-4)  # fmt: skip
def _() -> tuple[float, float]:
    from pliant.gallery.telescopic_arm.runs import extend

    return float(extend("consistent").ratio), math.sqrt(2.0)


@row("robot-torque", "Published systems", "Parallel robot: torque of the first motor at 0.25 s", "N m", OTHER_CODE, 1e-9)
def _() -> tuple[float, float]:
    from pliant.gallery.parallel_robot.runs import inverse

    return float(inverse([0.25]).torques[0][0]), float(reference("parallel_robot")["inverse_dynamics"]["0.25"]["tau"][0])


@row("robot-force", "Published systems", "Parallel robot: force on the first tip at 0.25 s, in x", "N", OTHER_CODE, 1e-9)
def _() -> tuple[float, float]:
    from pliant.gallery.parallel_robot.runs import inverse

    return float(inverse([0.25]).forces[0][0]), float(reference("parallel_robot")["inverse_dynamics"]["0.25"]["lam"][0])


@row(
    "crank-impact",
    "Published systems",
    "Slider-crank, rod of one element: peak force of the first impact",
    "N",
    OTHER_CODE,
    1e-6,
)
def _() -> tuple[float, float]:
    from pliant.gallery.slider_crank import runs

    return float(runs.run(1, False).contacts[0].peak_force), float(
        reference("slider_crank")["impact"]["undamped"]["contacts"][0]["peak_force"]
    )


# ----------------------------------------------------------------------------------------------------- measured machines

MACHINES = "Measured machines"
CUBE = {
    "mu": 0.1729,
    "e": 0.298,
    "stiffness": 205000.0,
    "height": -2.6e-3,
    "inertia": 1.12881e-3,
}  # found by benchmarks/cube_tosses.py
QUANSER = {  # of the set-up files of the arm: its friction is viscous, its strips are steel, its elbow is straight
    "torque1": 0.08925, "torque2": 0.0174, "viscous1": 4.0, "viscous2": 1.5, "dry1": 0.0, "dry2": 0.0, "rise1": 0.0, "rise2": 0.0,
    "mass1": 1.578, "mass2": 0.157, "E1": 2.068427e11, "E2": 2.068427e11,
}  # fmt: skip


def _example(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return importlib.import_module(name)


def _cube(values: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Mean and median errors of the 240 tosses that benchmarks/cube_tosses.py does not fit."""
    example = _example("cube_toss")
    every = example.tosses(EXAMPLES / "data" / "cube_tosses.npz")
    others = np.random.default_rng(0).permutation(len(every))[60:]
    ready = pl.compile_system(example.cube())
    found: dict[str, tuple[float, float]] = example.summary(
        [example.errors(every[k], example.predicted(ready, every[k], values)) for k in others]
    )
    return found


def _cube_row(name: str, what: str, words: str, unit: str, mujoco: float | None = None) -> None:
    other = "MuJoCo 4.0.0 tuned on the same tosses" if mujoco else "the published friction and restitution, in pliant"

    def compute() -> tuple[float, float]:
        return _cube(CUBE)[what][0], mujoco or _cube({**CUBE, "mu": 0.18, "e": 0.125})[what][0]

    row(name, MACHINES, f"Cube, {words}, mean of 240 tosses", unit, f"Pfrommer, Halm, Posa 2020; {other}", 0.3, measured=True)(
        compute
    )


_cube_row("cube-centre", "centre along", "its centre along the toss", "% of the width", mujoco=11.5)
_cube_row("cube-rotation", "rotation along", "its rotation along the toss", "degrees", mujoco=17.4)
_cube_row("cube-centre-end", "centre at the end", "its centre at the end", "% of the width")
_cube_row("cube-rotation-end", "rotation at the end", "its rotation at the end", "degrees")


@functools.cache
def _arm_fit() -> dict[str, float]:
    example = _example("measured_arm")
    return dict(example.fit(example.read(example.DATA)["lqr"]).values)


def _arm_row(name: str, record: str, of: str, words: str, within: float) -> None:
    def compute() -> tuple[float, float]:
        example = _example("measured_arm")
        data = example.read(example.DATA)[record]
        rows = data["time"] >= example.FITTED if record == "lqr" else slice(None)

        def off(values: dict[str, float]) -> float:
            other = {} if record == "lqr" else example.SESSION
            run = example.by_currents(data, values) if record == "lqr" else example.by_hubs(data, {**values, **other}, hubs=1)
            return float(example.errors(data, run, rows, of=(of,))[of][1])

        return off(_arm_fit()), off(QUANSER)

    source = "basta/quanser-2-dof-serial-flexible-link; its set-up files' numbers, without dry friction, in pliant"
    row(name, MACHINES, words, "% of the motion", source, within, measured=True)(compute)


_arm_row("arm-hub-1", "lqr", "hub1.angle", "Flexible arm from its currents, 10 s after those fitted: first hub", 0.03)
_arm_row("arm-strip-1", "lqr", "link1", "The same: strain of the first strip", 0.12)
_arm_row("arm-hub-2", "lqr", "hub2.angle", "The same: second hub", 0.12)
_arm_row("arm-strip-2", "lqr", "link2", "The same: strain of the second strip", 0.1)
_arm_row("arm-step-hub-2", "lqg_step_30deg", "hub2.angle", "Flexible arm, step of 30 degrees, from its first hub: second hub", 0.16)
_arm_row("arm-step-strip-2", "hinf_step_neg_20deg", "link2", "The same, of -20 degrees: strain of the second strip", 0.14)


FILES: dict[str, Path] = {}  # data that are not part of this package, from the command line


@functools.cache
def _drive_fit() -> tuple[Any, dict[str, float]]:
    """The record and the values found in it, in open loop. Its force is taken as linear between rows of 1 ms: far fewer steps."""
    example = _example("measured_drive")
    data = example.read(FILES["emps"])
    rows = slice(None, None, example.EVERY)
    experiment = pl.Experiment(
        {"time": data["t"][rows], example.PLACE: data["qm"][rows]},
        inputs={"u": pl.InputSeries(data["t"], data["force"], "linear")},
        starts={example.PLACE: pl.Unknown(data["qm"][0])},
    )
    found = pl.fit(example.drive(), experiment, list(example.PUBLISHED), method=pl.RKF45(1e-5, 1e-8))
    return data, {name: found.values[name] for name in example.PUBLISHED}


def _drive_row(name: str, closed: bool, words: str) -> None:
    def compute() -> tuple[float, float]:
        example = _example("measured_drive")
        data, ours = _drive_fit()

        def off(values: dict[str, float]) -> float:
            run = example.run_of(data, values, closed)
            return float(100.0 * np.sqrt(np.mean((run[example.PLACE] - data["qm"]) ** 2) / np.mean(data["qm"] ** 2)))

        return off(ours), off(example.PUBLISHED)

    source = "EMPS, Janot, Gautier, Brunot 2019; their values, in pliant"
    row(name, MACHINES, words, "% of the position", source, 0.03, measured=True, needs="emps")(compute)


_drive_row("drive-open", False, "Positioning drive from its recorded voltage, open loop, the record that is fitted (24.8 s)")
_drive_row("drive-closed", True, "The same, from the reference of its controller")


# ---------------------------------------------------------------------------------------------------------------- limits


@limit("blade-unstiffened", "Flapping frequency of a rotating blade, speed 6, 8 modes, stiffening 'none'", "1",
       "7.360 by Wright et al. 1982, quoted by Bir 2009, table 3a")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    pace = math.sqrt(EI / MU) / LENGTH**2
    system = pl.System("blade", gravity=(0, 0, 0))
    system.add("blade", _beam(LENGTH, pl.Modes("cf", 8, plane="z"), stiffening="none"), joint=pl.Revolute(axis="z"))
    rest = pl.equilibrium(system, steady={"blade.angle": 6.0 * pace})
    found = pl.linearise(system, at=rest, inputs=(), outputs=()).modes()
    return float(found.frequencies[0]) / pace, 7.360, found.warnings


@limit("spin-up-unstiffened", "Spin-up of Kane, Ryan and Banerjee, 4 modes, stiffening 'none': extreme of the tip, stopped at 1 m",
       "m", "geometrically exact beam, finite elements with the numbers of Simo and Vu-Quoc")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    from pliant.gallery.tipping_arm.spin_up import run

    found = run("none", 4)
    return float(found.entry["tip_extreme"]), -0.573833, found.result.warnings


@limit("elastica-one-beam", "Elastica, P l^2/EI = 2: tip deflection of one beam, not divided", "l",
       "elliptic integrals (Bisshopp and Drucker 1945)")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    system = pl.System("elastica", gravity=(0, 0))
    rod = system.add("rod", _beam(1.0, pl.ElementModes(4), stiffening="full"), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, -2.0 * EI))
    rest = pl.equilibrium(system)
    return float(rest["tip_position", "rod"][1]), _elastica(2.0), rest.warnings


@limit("roll-up-one-beam", "Strip rolled up by pi EI/l, one beam: height of the tip", "l", "closed form, 2/pi")
def _() -> tuple[float, float, tuple[str, ...]]:
    system = pl.System("strip", gravity=(0, 0))
    rod = system.add("rod", _strip(modes=pl.ElementModes(4)), joint=pl.Weld())
    system.moment("moment", rod.tip, math.pi * STRIP_EI)
    rest = pl.equilibrium(system)
    return float(rest["tip_position", "rod"][1]), 2.0 / math.pi, rest.warnings


@limit("column-unstiffened", "Column under twice Euler's load, stiffening 'none': deflection of its tip", "l", ELASTICA)
def _() -> tuple[float, float, tuple[str, ...]]:
    return _column(_beam(LENGTH, pl.ElementModes(4, reference="cantilever"), stiffening="none"))


@limit("column-one-beam", "The same with stiffening 'full', one beam, not divided", "l", ELASTICA)
def _() -> tuple[float, float, tuple[str, ...]]:
    return _column(_beam(LENGTH, pl.ElementModes(4, reference="cantilever"), stiffening="full"))


@limit("rubber-unstretched", "Hanging rubber rod of 2 m without axial modes: how far its weight stretches it", "m",
       "closed form, rho g l^2/(2 E)")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    rubber = pl.Material(E=5e6, nu=0.5, density=1100.0)
    rod = pl.Beam(length=2.0, section=pl.Section.round(0.005), material=rubber, theory="euler-bernoulli", modes=pl.Modes("cf", 2))
    system = pl.System("hanging", gravity=(0, -G))
    system.add("rod", rod, joint=pl.Revolute(angle=-0.5 * math.pi))
    rest = pl.equilibrium(system)
    return -float(rest["tip_position", "rod"][1]) - 2.0, 1100.0 * G * 2.0**2 / (2.0 * 5e6), rest.warnings


@limit("deep-cantilever", "Cantilever twice as long as deep, Euler and Bernoulli: deflection of its tip", "m",
       "plane stress, printed by Augarde and Deeks 2008: P l^3/(3 EI) (1 + (4 + 5 nu) h^2/(8 l^2))")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    section, load, height, nu = pl.Section.rectangle(height=0.5, width=0.1), 1e5, 0.5, 0.3
    beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.ElementModes(2))
    system = pl.System("deep", gravity=(0, 0))
    rod = system.add("rod", beam, joint=pl.Weld())
    system.force("load", rod.tip, (0.0, -load))
    rest = pl.equilibrium(system)
    exact = -load / (3.0 * pl.STEEL.E * section.Iz) * (1.0 + (4.0 + 5.0 * nu) * height**2 / 8.0)
    return float(rest["tip_position", "rod"][1]), exact, rest.warnings


@limit("hunt-crossley-half", "Restitution of Hunt and Crossley's law where 0.5 is asked", "1",
       "the value asked; Hunt and Crossley 1975 derive their law for values near 1")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    run = _strike(pl.HuntCrossley(stiffness=1e7, restitution=0.5))
    return float(run.contacts[0].restitution), 0.5, run.warnings


@limit("flat-start", "Slider-crank of equal links that starts flat, where two motions are possible", "1",
       "the kind of position that IFToMM benchmark A02 passes through; Bayo and Avello 1994")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    system = pl.System("flat", gravity=(0, -G))
    crank = system.add("crank", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5 * math.pi))
    rod = system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=math.pi), on=crank.tip)
    system.close("slider", "slider", rod.tip, system.ground, axis="x")
    return math.nan, math.nan, pl.simulate(system, 0.1).warnings


@limit("massless-body", "Two bodies in line, the outer one without mass", "1",
       "systems whose mass matrix is singular (Udwadia and Phohomsiri 2006)")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    system = pl.System("in line", gravity=(0, 0))
    inner = system.add("inner", pl.RigidBody(mass=1.0), joint=pl.Prismatic())
    system.add("outer", pl.RigidBody(mass=0.0), joint=pl.Prismatic(spring=pl.Spring(100.0)), on=inner.root)
    return math.nan, math.nan, pl.simulate(system, 0.1).warnings


@limit("rope-on-itself", "A rope that touches itself: plectonemes, knots, piles", "1",
       "cosseratbench, scenario pile; Gazzola et al. 2018, plectonemes")  # fmt: skip
def _() -> tuple[float, float, tuple[str, ...]]:
    modes = (pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"))
    system = pl.System("rope", gravity=(0, 0, -G))
    rope = system.add("rope", _strip(modes=modes), joint=pl.Weld())
    along = pl.Along(rope, radius=1e-3)
    system.contact(points=along, against=along, normal=pl.Hertz(stiffness=1e6))
    return math.nan, math.nan, pl.simulate(system, 0.1).warnings


ABSENT = {  # names under which one would look for what a benchmark needs
    "Pulley": ("pulley", "A rope that runs over a pulley", "scenarios capstan and pulley of cosseratbench"),
    "Shell": ("shell-roof", "Roof of Scordelis and Lo", "Scordelis and Lo 1964; MacNeal and Harder 1985"),
    "Plasticity": ("plastic-hinge", "Cantilever bent beyond its yield moment", "Prager and Hodge 1951"),
    "Composite": ("composite-blade", "Blade of composite layers whose bending and torsion are coupled", "Hodges 2006"),
    "Fluid": ("flag", "Flag in a channel flow", "Turek and Hron 2006"),
    "Mesh": ("nut", "Nut on a bolt: meshes that are not convex", "Narang et al. 2022"),
}
for _asked, (_name, _case, _source) in ABSENT.items():
    limit(_name, _case, "1", _source)(lambda asked=_asked: getattr(pl, asked))


# ------------------------------------------------------------------------------------------------------------------ page


def error(ours: float, wanted: float) -> float:
    """Relative to the reference."""
    return abs(ours - wanted) / abs(wanted)


def computed(line: Row) -> dict[str, Any]:
    """The row's numbers, with the processor seconds of a second run: what is compiled once is not counted."""
    found = answer(line)
    begun = time.process_time()
    found = answer(line)
    return {**found, "seconds": float(f"{time.process_time() - begun:.2g}")}


def answer(line: Row) -> dict[str, Any]:
    """Ours and the reference; of a limit also what the call says, and the verdict that follows from it."""
    if not line.is_limit:
        return dict(zip(("ours", "reference"), line.compute(), strict=True))
    try:
        ours, wanted, warnings = line.compute()
    except (pl.PliantError, AttributeError) as refusal:
        if isinstance(refusal, AttributeError) and " yet" not in str(refusal):
            raise  # a mistake in the row, not an answer to a name
        return {"verdict": REFUSED, "says": str(refusal)}
    return {"ours": ours, "reference": wanted, "verdict": WARNED if warnings else "met", "says": " ".join(warnings[:1])}


HEAD = """---
hide: [toc]
---

# Verification

This page compares pliant with {count} references: printed values of published benchmarks, closed forms, and solutions by other
code. Its last two tables have measured machines, and cases of the literature that pliant refuses or warns of.
`python docs/make_verification.py` runs all rows and writes this page; `python docs/make_verification.py ROW` runs one row, whose
name is in the last column. The tests run the quick rows again and check that the page says what the stored results say.

- **Error** is relative to the reference. For printed values it includes the rounding of the last printed digit.
- **Verdict**: *met* within the error beside it; *met with more elements*, where the error falls with the number of elements and
  would be larger with the mesh of the source; *not representable*, where pliant refuses the case; *outside validity*, where it
  answers, but with a warning.
- **Time** is processor time with the equations already compiled, on one core of an ARM Neoverse-N1 or, for rows measured later, of
  an Intel Xeon at 2.5 GHz.
- **Reference by other code** means a solution that was computed independently of pliant, mostly by quadrature over material
  points and with tighter tolerances. Its numbers are in `tests/published/data`.
- [Published systems](systems/index.md) lists the claims of five papers, one by one.
"""
ABOUT_MACHINES = """Records of machines that nobody here built. The numbers are errors of predictions, of rows or records that were
not fitted unless a row says so; [Examples](examples.md) has the fits, and what they leave open. *Better*, *worse* and *as good*
(within 2 %) compare with the other model, not with an exact answer. Time is that of both models' runs, without the fit."""
ABOUT_LIMITS = """Nothing here is judged by hand: each row makes the call, and its verdict is what the call does. *Not
representable* means that the call is refused with this sentence, *outside validity* that its answer comes with this warning; the
error shows why. A row that is answered without a warning fails the tests. What can be had instead is in the sentence or among the
rows above."""
COLUMNS = "| quantity | reference | pliant | error | verdict | source | time | row |"
OF_LIMITS = "| case | reference | pliant | error | verdict | what it says | source | time | row |"
OF_MACHINES = "| error of | another model | pliant | verdict | source, and the other model | time | row |"


def page(results: dict[str, dict[str, Any]]) -> str:
    """The page as it follows from the results."""
    lines = [HEAD.format(count=sum(not line.is_limit for line in ROWS.values()))]
    for group in dict.fromkeys(line.group for line in ROWS.values()):
        about, columns = {MACHINES: ([ABOUT_MACHINES, ""], OF_MACHINES), LIMITS: ([ABOUT_LIMITS, ""], OF_LIMITS)}.get(
            group, ([], COLUMNS)
        )
        lines += [
            f"## {group}",
            "",
            *about,
            columns,
            "| --- " * (columns.count("|") - 1) + "|",
        ]
        lines += [_written(line, results[line.name]) for line in ROWS.values() if line.group == group]
        lines.append("")
    return "\n".join(lines)


def _written(line: Row, found: dict[str, Any]) -> str:
    if line.is_limit:
        return _limit_written(line, found)
    off = line.error(found["ours"], found["reference"])
    if line.measured:
        errors = [f"{found[key]:.3g} {line.unit}" for key in ("reference", "ours")]
        cells = [line.quantity, *errors, line.outcome(found["ours"], found["reference"]), line.source, f"{found['seconds']:g} s"]
        return "| " + " | ".join([*cells, f"`{line.name}`"]) + " |"
    digits = 16 if off == 0.0 else min(16, max(4, math.ceil(-math.log10(off)) + 2))
    unit = "" if line.unit == "1" else f" {line.unit}"
    numbers = [f"{found[key]:.{min(digits, 12)}g}{unit}" for key in ("reference", "ours")]
    cells = [
        line.quantity,
        *numbers,
        f"{off:.1e}" if off else "0",
        line.verdict,
        line.source,
        f"{found['seconds']:g} s",
        f"`{line.name}`",
    ]
    return "| " + " | ".join(cells) + " |"


def _limit_written(line: Row, found: dict[str, Any]) -> str:
    unit = "" if line.unit == "1" else f" {line.unit}"
    numbers = ["", "", ""]
    if found["verdict"] != REFUSED:
        off = error(found["ours"], found["reference"])
        numbers = [f"{found['reference']:.4g}{unit}", f"{found['ours']:.4g}{unit}", f"{off:.1e}"]
    says = found["says"].replace("|", "\\|")
    cells = [line.quantity, *numbers, found["verdict"], f"`{says}`", line.source, f"{found['seconds']:g} s", f"`{line.name}`"]
    return "| " + " | ".join(cells) + " |"


def _store(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Those of today's rows, in their order, kept."""
    kept = {name: results[name] for name in ROWS if name in results}
    STORED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return kept


def _short(line: Row, found: dict[str, Any]) -> str:
    """For the terminal."""
    if line.is_limit:
        return found["verdict"] if found["says"] else "ANSWERED WITHOUT A WARNING"
    off = line.error(found["ours"], found["reference"])
    return f"{off:8.1e} {'ok' if off <= line.within else f'MORE THAN {line.within:g}'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", action="store_true", help="write the page from stored results")
    parser.add_argument("--emps", type=Path, help="data of the rows drive-..., which are not part of this package: an .npz file")
    asked = parser.parse_args()
    FILES.update({"emps": asked.emps} if asked.emps else {})
    results = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for line in ROWS.values():
        if not asked.page and (line.name in asked.names or (not asked.names and (not line.needs or line.needs in FILES))):
            results[line.name] = computed(line)
            print(f"{line.name:22} {_short(line, results[line.name])} {results[line.name]['seconds']:8.2g} s", flush=True)
            _store(results)
    results = _store(results)
    if missing := sorted(set(ROWS) - set(results)):
        raise SystemExit(f"the page needs results of all rows; these have none yet: {', '.join(missing)}")
    (HERE / "verification.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Writes docs/good-enough.md: how many modes, which stiffening, theory, law and tolerance, with numbers from runs.

python docs/make_good_enough.py            # run every study, store the numbers (docs/good-enough.json), write page and picture
python docs/make_good_enough.py --page     # write the page from the stored numbers
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.beams import beam_shapes

HERE = Path(__file__).parent
STORED = HERE / "good-enough.json"
Table = list[list[Any]]  # rows of cells; the first cell says which choice


def _strip(modes: Any, **options: Any) -> pl.Beam:
    section = pl.Section.rectangle(height=0.008, width=0.03)
    return pl.Beam(length=0.8, section=section, material=pl.ALUMINIUM, theory="euler-bernoulli", modes=modes, **options)


def _swung(count: int) -> dict[str, float]:
    """An arm that is turned by 60 degrees in 0.25 s: what a study may ask of it."""
    turn = 0.25

    def angle(t: Any) -> Any:
        s = pl.minimum(1.0, t / turn)
        return pl.deg(60) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    system = pl.System("turned arm", gravity=(0, 0))
    joint = pl.Revolute(motion=pl.Prescribed(angle, breakpoints=(turn,)))
    system.add("arm", _strip(pl.Modes("cf", count), damping=pl.ModalDamping(0.01), stiffening="linear"), joint=joint)
    run = pl.simulate(system, 0.6, save=1e-3)  # stiffening is the same for all counts, so that only modes differ
    moment = pl.section_forces(run, stations=3)["bending_moment_z"].sel(beam="arm", station=0.0)
    curved = pl.section_forces(run, stations=3, by="curvature")["bending_moment_z"].sel(beam="arm", station=0.0)
    return {
        "deflection": float(np.abs(run.of_body("tip_deflection", "arm")[:, 1]).max()),
        "moment": float(np.abs(moment).max()),
        "curvature": float(np.abs(curved).max()),
        "evaluations": float(run.stats["rhs_evaluations"]),
    }


def _knocked(count: int, ball: float | None) -> float:
    """Peak force of an arm, with or without a ball (kg) at its tip, that swings on a stop."""
    system = pl.System("struck arm", gravity=(0, 0))
    payload = None if ball is None else pl.Payload(mass=ball)
    arm = system.add("arm", _strip(pl.Modes("sf", count), payload=payload, stiffening="none"), joint=pl.Revolute(rate=-1.0))
    stop = pl.Plane(normal="y", point=(0.0, -1e-6, 0.0))
    system.contact(points=arm.tip, against=stop, normal=pl.Hertz(stiffness=1e7))
    return max(touch.peak_force for touch in pl.simulate(system, 0.01).contacts)


def modes() -> Table:
    """Errors by number of modes; the reference has 10."""
    balls = (0.1, None)
    reference, forces = _swung(10), [_knocked(10, ball) for ball in balls]
    rows: Table = []
    for count in (1, 2, 3, 4, 6):
        found = _swung(count)
        errors = [abs(found[key] / reference[key] - 1.0) for key in ("deflection", "moment", "curvature")]
        errors += [abs(_knocked(count, ball) / force - 1.0) for ball, force in zip(balls, forces, strict=True)]
        rows.append([count, *errors, found["evaluations"]])
    return rows


def stiffening() -> Table:
    """Error of the first frequency of a spinning blade, by speed, and the operations of an evaluation; reference: 8 modes, full."""

    def first(kind: str, count: int, share: float) -> tuple[float, float]:
        beam = _strip(pl.Modes("cf", count), stiffening=kind)
        still = float(beam_shapes(beam).frequencies[0])
        system = pl.System("blade", gravity=(0, 0))
        system.add("blade", beam, joint=pl.Revolute())
        rest = pl.equilibrium(system, steady={"blade.angle": share * still})
        lowest = float(pl.linearise(system, at=rest, inputs=(), outputs=()).modes().frequencies[0])
        return lowest, float(pl.simulate(system, 1e-3).stats["operations"])

    shares = (0.1, 0.3, 0.6, 0.9)
    exact = [first("full", 8, share)[0] for share in shares]
    rows: Table = []
    for kind in ("none", "linear", "full"):
        found = [first(kind, 3, share) for share in shares]
        rows.append([kind, *(abs(f / wanted - 1.0) for (f, _), wanted in zip(found, exact, strict=True)), found[0][1]])
    return rows


def theory() -> Table:
    """By how much Euler-Bernoulli's frequencies are above Timoshenko's, ends cf, by slenderness."""
    rows: Table = []
    for slenderness in (50, 20, 10, 5):
        section = pl.Section.rectangle(height=1.0 / slenderness, width=0.02)
        both = []
        for kind in ("euler-bernoulli", "timoshenko"):
            beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory=kind, modes=pl.Modes("cf", 3))
            both.append(np.asarray(beam_shapes(beam).frequencies))
        rows.append([slenderness, *(float(share) for share in both[0] / both[1] - 1.0)])
    return rows


def deflection() -> Table:
    """Error of a cantilever's tip by deflection over length; reference: 32 segments."""

    def tip(load: float, body: Any) -> Any:
        system = pl.System("cantilever", gravity=(0, 0))
        rod = system.add("rod", body, joint=pl.Weld())
        stiffness = pl.ALUMINIUM.E * _strip(pl.Modes("cf", 1)).section.Iz / 0.8**2
        system.force("load", rod.tip, (0.0, lambda t, q, v: load * stiffness * t))
        run = pl.inverse_dynamics(system, {}, 1.0, elastic="quasi-static", save=list(np.linspace(0.0, 1.0, 9)))
        return run.values["tip_position"][-1, -1, :2]

    rows: Table = []
    for load in (0.15, 0.3, 0.75, 1.5, 3.0):
        exact = tip(load, pl.segmented(_strip(pl.Modes("cf", 1), stiffening="cubic"), 32))
        bodies = [_strip(pl.Modes("cf", 3, static=True), stiffening=kind) for kind in ("none", "full", "cubic")]
        bodies.append(pl.segmented(_strip(pl.Modes("cf", 1)), 4))
        rows.append([float(exact[1] / 0.8), *(float(np.hypot(*(tip(load, body) - exact)) / 0.8) for body in bodies)])
    return rows


def normal_laws() -> Table:
    """Restitution delivered, by restitution asked."""
    kinds = (
        pl.Exact,
        pl.HuGuo,
        pl.Flores,
        pl.CarvalhoMartins,
        pl.Gonthier,
        pl.ZhiyingQishao,
        pl.LankaraniNikravesh,
        pl.HuntCrossley,
    )
    return [[kind.__name__, *(float(kind(stiffness=1e7, restitution=e).delivered) for e in (0.9, 0.7, 0.5, 0.2))] for kind in kinds]


def friction_laws() -> Table:
    """How far a block creeps in 1 s on a slope of half the angle of friction, and evaluations."""
    laws = {
        "Coulomb": pl.Coulomb(mu=0.3),
        "Ambrosio": pl.Ambrosio(mu=0.3, v0=1e-4, v1=1e-3),
        "Stribeck": pl.Stribeck(mu_static=0.3, mu_kinetic=0.25, v_stribeck=1e-2),
        "Dahl": pl.Dahl(mu=0.3, sigma0=1e5),
        "LuGre": pl.LuGre(sigma0=1e5, sigma1=300.0, sigma2=0.0, mu_static=0.3, mu_kinetic=0.25, v_stribeck=1e-2),
        "Karnopp": pl.Karnopp(mu_static=0.3, mu_kinetic=0.25),
    }
    rows: Table = []
    slope = 0.5 * math.atan(0.3)
    for name, law in laws.items():
        system = pl.System("slope", gravity=(9.81 * math.sin(slope), -9.81 * math.cos(slope)))
        sunk = 9.81 * math.cos(slope) / 1e6
        block = system.add("block", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0.0, -sunk)))
        normal = pl.Linear(stiffness=1e6, damping=1e3)
        system.contact(points=block.root, against=pl.Plane(normal=(0, 1)), normal=normal, friction=law)
        run = pl.simulate(system, 1.0, method=pl.Auto(rtol=1e-7, atol=1e-10))
        rows.append([name, float(run["block.x"][-1]), float(run.stats["rhs_evaluations"])])
    return rows


def tolerances() -> Table:
    """Error of the end of a swing of two elastic links, balance error and evaluations, by rtol; reference: 1e-13."""
    system = pl.System("swing", gravity=(0, -9.81))
    upper = system.add("upper", _strip(pl.Modes("cf", 2)), joint=pl.Revolute(angle=pl.deg(-30)))
    system.add("lower", _strip(pl.Modes("cf", 2)), joint=pl.Revolute(), on=upper.tip)
    ready = pl.compile_system(system)

    def run(rtol: float) -> pl.Result:
        return pl.simulate(ready, 2.0, method=pl.DOP853(rtol=rtol, atol=1e-3 * rtol), save=[0.0, 2.0])

    exact = run(1e-13).of_body("tip_position", "lower")[-1]
    rows: Table = []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        found = run(rtol)
        off = float(np.linalg.norm(found.of_body("tip_position", "lower")[-1] - exact))
        rows.append([f"{rtol:.0e}", off, float(found.ledger.relative_error_max), float(found.stats["rhs_evaluations"])])
    return rows


STUDIES: dict[str, Callable[[], Table]] = {
    study.__name__: study for study in (modes, stiffening, theory, deflection, normal_laws, friction_laws, tolerances)
}
percent, count, number = "{:.2%}".format, "{:.0f}".format, "{:.3f}".format
tiny, plain = "{:.1e}".format, str
COLUMNS: dict[str, tuple[list[str], list[Callable[[Any], str]]]] = {
    "modes": (
        [
            "modes",
            "deflection",
            "root moment, by balance",
            "root moment, by curvature",
            "impact force, ball",
            "impact force, bare tip",
            "evaluations",
        ],
        [plain, percent, percent, percent, percent, percent, count],
    ),
    "stiffening": (
        ["stiffening", "at 0.1", "at 0.3", "at 0.6", "at 0.9 of the first frequency", "operations"],
        [plain, percent, percent, percent, percent, count],
    ),
    "theory": (["length / height", "mode 1", "mode 2", "mode 3"], [plain, percent, percent, percent]),
    "deflection": (
        ["deflection / length", "one beam, `none`", "one beam, `full`", "one beam, `cubic`", "4 segments"],
        [percent, percent, percent, percent, percent],
    ),
    "normal_laws": (
        ["law", "0.9 asked", "0.7 asked", "0.5 asked", "0.2 asked"],
        [plain, number, number, number, number],
    ),
    "friction_laws": (["law", "creep in 1 s, m", "evaluations"], [plain, tiny, count]),
    "tolerances": (["rtol", "error of the tip, m", "balance error", "evaluations"], [plain, tiny, tiny, count]),
}
PAGE = """# Which model is good enough?

More modes, more terms and tighter tolerances cost time. This page shows what each of them changes, on small examples. `python
docs/make_good_enough.py` runs the examples and writes the numbers.

![Errors over the number of modes](pictures/good-enough.png)

## How many modes?

An elastic arm (aluminium, 0.8 m) is turned by 60 degrees in 0.25 s. In a second study the same arm, with a ball of 0.1 kg at its
tip or with a bare tip, swings against a stop. The table shows errors of the largest values, relative to ten modes.

{modes}

**Use one or two modes** for deflections and motion. Moments from the force balance (`pl.section_forces`, the default) need no more;
moments from the curvature do. An impact excites all modes, so a peak force needs four or more modes, and at the bare tip of a beam,
where no mass is concentrated, it converges slowly: give the contact the mass and the stiffness it really has. Each mode adds
evaluations of the right-hand side, because explicit steps must resolve the fastest mode.

## Which stiffening?

A blade spins about its root. The table shows the error of its first in-plane bending frequency, for three modes, relative to
eight modes with `"full"`, at four speeds; and the number of operations in one evaluation.

{stiffening}

**Use the default** (`"auto"`, which is `"full"` here). `"none"` is tolerable below about a tenth of the first frequency.
`"linear"` is as good for small vibrations, but its mass matrix becomes singular as a beam with many modes bends.

## Which beam theory?

The table shows by how much the frequencies of an Euler-Bernoulli cantilever exceed those of a Timoshenko beam.

{theory}

**Use Euler-Bernoulli** for slender beams and low modes; use Timoshenko below a slenderness of about 20, or if modes above the
second matter.

## How large a deflection?

A cantilever carries a transverse load at its tip. The table shows the error of the tip's position, in lengths, relative to 32
segments.

{deflection}

**Use one beam** with the default `"full"` up to a deflection of a tenth of the length, `"cubic"` up to a quarter, and
[`pl.segmented`](large_deflection.md) beyond.

## Which normal law?

The table shows the coefficient of restitution that each law delivers for two free bodies.

{normal_laws}

**Use `Exact`** if the restitution matters. `CarvalhoMartins`, `HuGuo` and `Flores` come close. `LankaraniNikravesh` and
`HuntCrossley` were derived for values near 1 and deliver far too much below 0.8.

## Which friction law?

A block rests on a slope at half its angle of friction. The table shows how far it creeps in one second.

{friction_laws}

**Use a smoothed law** (`Coulomb`, `Ambrosio`, `Stribeck`) if bodies slide; they have no memory and no additional states. **Use
`Karnopp` or a bristle law** (`Dahl`, `LuGre`) if something must hold.

## Which tolerance?

Two elastic links swing for 2 s. The table shows the error of the lower tip relative to `rtol=1e-13`, with `atol` a thousandth
of `rtol` and the method `DOP853`.

{tolerances}

**Use the default** (`rtol=1e-9`) unless time matters. Here the fastest mode limits the steps, so even a coarse tolerance is
precise; contact and friction are more demanding. The balance error of the ledger follows the error and needs no reference. Chaotic
motions, such as a chain after many impacts, lose digits at any tolerance.
"""


def page(results: dict[str, Table]) -> str:
    return PAGE.format(**{name: _written(name, rows) for name, rows in results.items()})


def _written(name: str, rows: Table) -> str:
    titles, formats = COLUMNS[name]
    lines = ["| " + " | ".join(titles) + " |", "| " + " | ".join(["---"] * len(titles)) + " |"]
    for row in rows:
        lines.append("| " + " | ".join(write(cell) for write, cell in zip(formats, row, strict=True)) + " |")
    return "\n".join(lines)


def picture(rows: Table) -> Any:
    from pliant.show.plot.style import figure, legend, look, styled

    @styled
    def draw() -> Any:
        made, ((panel,),) = figure(1, 1, height=3.2, width=7.0)
        for k, title in enumerate(COLUMNS["modes"][0][1:6]):
            panel.semilogy([row[0] for row in rows], [row[k + 1] for row in rows], marker="o", label=title, **look(k))
        panel.set(xlabel="modes", ylabel="relative error")
        legend(panel)
        return made

    return draw()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page from stored numbers")
    if parser.parse_args().page:
        results = json.loads(STORED.read_text(encoding="utf-8"))
    else:
        results = {name: study() for name, study in STUDIES.items()}
        STORED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        picture(results["modes"]).savefig(HERE / "pictures" / "good-enough.png", dpi=100)
    (HERE / "good-enough.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()

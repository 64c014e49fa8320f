"""pliant new: writes a commented model to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.exits import WRONG, stop, write_json, writing
from pliant.cli.options import AsJson, Quiet, check_target
from pliant.host.atomic_files import atomic_write

STARTER = """\
# A pliant model file: {name}. Edit it, then use:
#
#   pliant check {file}             check it and print what it describes
#   pliant run {file}               run it; the result is written to {stem}.nc
#   pliant plot {stem}.nc            draw it;  pliant animate {stem}.nc --html {stem}.html  plays it
#
# Numbers are in SI, or have a unit: 250 mm, 210 GPa, 30 deg. They may be expressions: 5/6, 30*deg, L/2.
# For completion in your editor, run  pliant schema --output pliant.schema.json  and make this the first line of the file:
#   # yaml-language-server: $schema=pliant.schema.json

pliant: 1                                # version of this vocabulary
system: {name}
gravity: [0, -9.81]                      # m/s^2; a pair is in the x-y plane

define:                                  # your own names for numbers and formulas
  L: 800 mm
  pull: 8*sin(2*pi*t)                    # N m

materials:                               # in addition to steel and aluminium; `include: materials.yaml` reads them from a file
  spring steel: {{E: 206 GPa, nu: 0.3, density: 7850 kg/m^3}}

bodies:                                  # in any order; `on` names the place that carries a body, by default the ground
  upper:
    beam:                                # an elastic link; `rod: {{length: L, mass: 2 kg}}` would be a rigid one
      length: L
      theory: euler-bernoulli            # or timoshenko
      section: {{rectangle: {{height: 12 mm, width: 40 mm}}}}   # height in the plane of motion
      material: spring steel
      modes: {{ends: cf, count: 2}}        # the first two bending modes, clamped at the root and free at the tip
      damping: {{rayleigh_ratios: {{ratios: [0.01, 0.01]}}}}
    joint: {{revolute: {{angle: -20 deg, damper: 0.05}}}}       # turns about z; damper in N m s/rad
  fore:
    beam:
      length: 0.6*L
      theory: euler-bernoulli
      section: {{rectangle: {{height: 8 mm, width: 30 mm}}}}
      material: aluminium
      modes: {{ends: cf, count: 2}}
      damping: {{rayleigh_ratios: {{ratios: [0.01, 0.01]}}}}
      payload: {{mass: 300 g}}             # at its tip
    joint: {{revolute: {{angle: 60 deg, damper: 0.05, limits: {{low: -150 deg, high: 150 deg, stiffness: 200}}}}}}
    on: upper.tip                        # or body.root, body@300 mm, ground, or one of these moved and turned

drives:                                  # torques along joint coordinates
  shoulder: {{coordinate: upper.angle, effort: pull}}
  elbow: {{coordinate: fore.angle, effort: "-2*q['fore.angle'] - 0.3*v['fore.angle']"}}   # a formula of t, q and v

contacts:
  floor:
    points: fore.tip                     # places, spheres or capsules; `ends` means the ends of all links
    against: {{plane: {{normal: y, point: [0, -600 mm]}}}}
    normal: {{hu_guo: {{stiffness: 1e7, restitution: 0.6}}}}   # N/m^1.5
    friction: {{ambrosio: {{mu: 0.2, v0: 0.1 mm/s, v1: 1 mm/s}}}}

events:                                  # zero crossings to record; `stop: true` would end the run there
  elbow straight: {{function: "q['fore.angle']"}}

run:
  t_end: 1 s
  method: {{dop853: {{rtol: 1e-8, atol: 1e-11}}}}
  save: 2 ms                             # an interval, a list of times, or steps
"""


def new(
    file: Annotated[Path, typer.Argument(metavar="MODEL.yaml", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented model to start from: an elastic arm with two links above a floor."""
    if file.suffix not in (".yaml", ".yml"):
        stop(WRONG, f"the name of a model must end in .yaml, got {str(file)!r}")
    check_target("the model", file)
    if file.exists() and not force:
        stop(WRONG, f"{file}: already exists; --force replaces it")
    name = file.stem.replace("_", " ").replace("-", " ").strip() or "arm"
    with writing(file), atomic_write(file) as draft:
        draft.write_text(STARTER.format(name=_plain(name), file=file.name, stem=file.stem), encoding="utf-8")
    if as_json:
        write_json({"written": str(file)})
    elif not quiet:
        typer.echo(f"written to {file}; next: pliant run {file}")


def _plain(name: str) -> str:
    """A name that YAML reads as a string, whatever the file is called."""
    return "".join(letter if letter.isalnum() or letter == " " else " " for letter in name).strip() or "arm"

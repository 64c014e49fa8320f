"""A block on a belt, held back by a spring: dry friction in its guide sticks and slips, at instants known in closed form."""

import math

import numpy as np

import pliant as pl
from pliant.show.plot.style import PALETTE, figure, styled

MASS, STIFFNESS, SPEED, G = 1.0, 100.0, 0.2, 9.81
DRY = pl.DryFriction(mu_static=0.4, mu_kinetic=0.3)

system = pl.System("stick-slip", gravity=(0, -G))
belt = system.add("belt", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=lambda t: SPEED * t))
system.add("block", pl.RigidBody(mass=MASS, inertia=1.0), joint=pl.Prismatic(friction=pl.JointFriction(DRY)), on=belt.root)
system.drive("spring", "block.displacement", lambda t, q, v: -STIFFNESS * (q["belt.displacement"] + q["block.displacement"]))

result = pl.simulate(system, t_end=2.5, save=0.002, method=pl.DOP853(rtol=1e-11, atol=1e-13))
for event in result.events:
    print(f"t = {event.t:.9f} s: {event.name}")

# slipping: x'' + w^2 (x - mu_k g/w^2) = 0 from x = mu_s g/w^2 at the belt's speed, until it has that speed again
w = math.sqrt(STIFFNESS / MASS)
spread = (DRY.mu_static - DRY.mu_kinetic) * MASS * G / STIFFNESS
slipping, sticking = 2.0 * math.pi / w - 2.0 / w * math.atan(spread * w / SPEED), 2.0 * spread / SPEED
slips = DRY.mu_static * MASS * G / STIFFNESS / SPEED + np.arange(4) * (slipping + sticking)
found = np.array([event.t for event in result.events if event.name.endswith("slips")])
assert np.max(np.abs(found - slips[: len(found)])) < 1e-9
assert result.ledger.relative_error_max < 1e-9


@styled
def draw():
    drawn, panels = figure(rows=2, height=2.3, width=7.0)
    place, force = panels[0][0], panels[1][0]
    place.plot(result.time, result["belt.displacement"] + result["block.displacement"], color=PALETTE[0])
    place.set(ylabel="block, m", title="stick-slip: a block on a belt, and the friction under it")
    force.plot(result.time, result.values["joint_friction"][:, 0], color=PALETTE[1], label="friction")
    load = result.values["joint_load"][:, 0]
    for mu, dash, label in ((DRY.mu_static, "--", "static limit"), (DRY.mu_kinetic, ":", "kinetic")):
        force.plot(result.time, mu * load, dash, color="0.5", label=label)
    force.set(xlabel="t, s", ylabel="N")
    force.legend(fontsize="small", loc="lower right")
    for panel in (place, force):
        for begin, end in zip(slips, slips + slipping, strict=True):
            panel.axvspan(begin, min(end, result.time[-1]), color="0.92", zorder=0)
    return drawn


pl.plot.save(draw(), "stick_slip.png")

"""A path for an elastic two-link arm from rest to rest in half a second that leaves it without vibration.

The joints follow a smooth swing and bumps that vanish at both ends with two derivatives; how large each bump is, is free. What is
left in the beams when the joints have stopped, kinetic and strain energy, is made least, by exact gradients of the whole run.
"""

import pliant as pl

SWING, HELD, BUMPS = 0.5, 0.1, 2  # s of motion, s at rest after it, free bumps of each joint
GOALS = {"upper": (-1.2, 0.3), "fore": (0.4, -0.4)}  # rad, from and to


def path(name):
    """The angle of a joint over time, and the parameters in it."""
    begin, end = GOALS[name]
    sizes = tuple(pl.Parameter(f"{name}_{k + 1}", 0.0, "rad", low=-1.0, high=1.0) for k in range(BUMPS))

    def angle(t):
        s = pl.minimum(t / SWING, 1.0)
        bumps = sum(size * (2.0 * s - 1.0) ** k for k, size in enumerate(sizes)) * (4.0 * s * (1.0 - s)) ** 3
        return begin + (end - begin) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2) + bumps

    return angle


def arm():
    section = pl.Section.rectangle(height=0.006, width=0.03)
    beam = pl.Beam(length=0.6, section=section, material=pl.ALUMINIUM, theory="euler-bernoulli", modes=pl.Modes("cf", 2))
    system = pl.System("quiet arm", gravity=(0, 0))  # in a horizontal plane
    on = system.add("upper", beam, joint=pl.Revolute(motion=path("upper"))).tip
    system.add("fore", beam, joint=pl.Revolute(motion=path("fore")), on=on)
    return system


def left_over(run):
    """Energy that the arm holds at the end, J, the joints at rest."""
    return run.final("kinetic") + run.final("strain")


system = arm()
names = list(system.parameters)
method = pl.DOP853(rtol=1e-8, atol=1e-10)
before = pl.simulate(system, SWING + HELD, method=method)
best = pl.optimise(system, left_over, names, t_end=SWING + HELD, method=method, tolerance=1e-12)
print(best)
energy = float(before.values["kinetic"][-1] + before.values["strain"][-1])
print(f"left in the arm: {energy:.3g} J on the plain path, {best.objective:.3g} J on this one")

assert best.ok or best.objective < 1e-6 * energy
assert best.objective < 1e-4 * energy
pl.plot.save(pl.plot.tip_deflection(best.result), "quiet_arm.png")

"""Which contact stiffness, restitution and friction does this beam have? Found from what a camera sees while it bounces.

An elastic beam is thrown onto the ground, slides and tumbles. The camera's data, both ends to 1 % of how far they move, are made
here by a run with known values and noise; the fit begins far from them.
"""

import numpy as np

import pliant as pl

TRUTH = {"stiffness": 8.0e5, "restitution": 0.72, "mu": 0.28}
GUESS = {"stiffness": 5.0e5, "restitution": 0.6, "mu": 0.2}
TIME = np.arange(1, 250) / 500.0  # s
NOISE = 0.01  # of how far an end moves


def thrown_beam():
    law = pl.Exact(stiffness=pl.Parameter("stiffness", GUESS["stiffness"], "N/m^1.5", low=1e5, high=1e7),
                   restitution=pl.Parameter("restitution", GUESS["restitution"], low=0.05, high=0.99))  # fmt: skip
    friction = pl.Ambrosio(mu=pl.Parameter("mu", GUESS["mu"], low=0.0, high=1.0), v0=1e-3, v1=2e-2)
    link = pl.Beam(length=0.6, section=pl.Section.rectangle(height=0.02, width=0.03), material=pl.ALUMINIUM,
                   theory="euler-bernoulli", modes=pl.Modes("ss", 2), damping=pl.RayleighRatios(ratios=(0.01, 0.01)))  # fmt: skip
    system = pl.System("thrown beam", gravity=(0, -9.81))
    beam = system.add("beam", link, joint=pl.Planar(position=(0.0, 0.35), angle=0.35, velocity=(1.5, 0.0)))
    system.contact(points=[pl.Sphere(end, 0.1) for end in (beam.root, beam.tip)], against=pl.Plane(normal=(0, 1)),
                   normal=law, friction=friction, name="ground")  # fmt: skip
    return system


def measured(system, seed):
    """What the camera saw: rows as a CSV file or a pandas table would have them."""
    truth = pl.simulate(system, TIME[-1], save=TIME, parameters=TRUTH)
    random, table = np.random.default_rng(seed), {"time": TIME}
    for end in ("root_position", "tip_position"):
        for k, axis in enumerate("xy"):
            values = truth.of_body(end, "beam")[:, k]
            table[f"{end} beam {axis}"] = values + NOISE * np.ptp(values) * random.normal(size=TIME.size)
    return table


if __name__ == "__main__":
    beam = thrown_beam()
    found = pl.fit(beam, measured(beam, seed=2), list(TRUTH), guess=GUESS)
    print(found)
    off = {name: (found.values[name] - true) / found.standard_errors[name] for name, true in TRUTH.items()}
    print("off by standard errors:", {name: f"{times:+.2f}" for name, times in off.items()})

    assert not found.unidentifiable and not found.warnings
    assert all(abs(times) < 3.0 for times in off.values())
    pl.plot.save(found.plot(), "identify_contact.png")

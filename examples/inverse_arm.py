"""The torques that move an elastic two-link arm along a given path of its joints: rigid and elastic, side by side."""

import numpy as np

import pliant as pl


def arm(modes):
    """Two links of aluminium; without modes they are rigid."""
    section = pl.Section.rectangle(height=0.012, width=0.03)
    beam = pl.Beam(length=0.6, section=section, material=pl.ALUMINIUM, theory="euler-bernoulli",
                   modes=pl.Modes("cf", max(modes, 1)), damping=pl.RayleighRatios(ratios=(0.01, 0.01)))  # fmt: skip
    rigid = pl.RigidBody.rod(length=beam.length, mass=beam.mass)
    system = pl.System("arm", gravity=(0, 0))  # in a horizontal plane
    on = system.add("upper", beam if modes else rigid, joint=pl.Revolute()).tip
    system.add("fore", beam if modes else rigid, joint=pl.Revolute(), on=on)
    return system


def swing(t):
    """From rest to rest in one second, smooth to the second derivative."""
    s = pl.minimum(t, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


path = {"upper.angle": lambda t: -1.2 + 1.5 * swing(t), "fore.angle": lambda t: 0.4 - 0.8 * swing(t)}
stiff, elastic = (pl.inverse_dynamics(arm(modes), path, t_end=1.2) for modes in (0, 2))
shoulder = {name: run.data["effort"].sel(drive="upper.angle motion").values
            for name, run in (("rigid", stiff), ("elastic", elastic))}  # fmt: skip
difference = np.max(np.abs(shoulder["elastic"] - shoulder["rigid"]))
print(f"the shoulder gives up to {np.max(np.abs(shoulder['rigid'])):.3f} N m; bending changes it by up to {difference:.3f} N m")

assert stiff.ok and elastic.ok
assert difference < 0.5 * np.max(np.abs(shoulder["rigid"]))
pl.plot.save(pl.plot.energies(elastic), "inverse_arm.png")

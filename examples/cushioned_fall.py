"""A falling robot arm that cushions its impact with a motor: the next step that Wang, Yan, Fang and Jin 2012 name.

Their elastic arm tips over and hits a wall with its tip. Here its joint has a motor of at most 0.4 N m, two thirds of what would
hold the level arm, with the torque k (wall - angle) - c rate. Which k and c make the hardest knock least, if the wall must be
reached within 0.45 s? Gradients of the peak force and of the time of the first touch go through the knocks exactly.
"""

import math

import matplotlib.pyplot as plt

import pliant as pl
from pliant.gallery.tipping_arm.system import Case, tipping_arm

LIMIT, IN_TIME, WALL = 0.4, 0.45, 0.5 * math.pi  # N m, s, rad
METHOD = pl.DOP853(rtol=1e-9, atol=1e-11)
CASE = Case(law="hunt-crossley", alpha=5.0)
TOUCH = "the tip is at the wall"

k = pl.Parameter("stiffness", 1.0, "N m/rad", low=0.0, high=10.0)
c = pl.Parameter("damping", 0.2, "N m s/rad", low=0.0, high=5.0)
arm = tipping_arm(CASE)
tip = arm.handle("arm").tip
arm.drive("motor", "arm.angle", lambda t, q, v: pl.clip(k * (WALL - q["arm.angle"]) - c * v["arm.angle"], -LIMIT, LIMIT))
arm.event(TOUCH, lambda t, q, v: q.position(tip)[0], direction="falling")


def told(name, run):
    """(Hardest knock, N; rebound, rad; vibration of the tip after the first touch, m)"""
    after = run.time > run.contacts[0].begin
    peak = max(knock.peak_force for knock in run.contacts)
    rebound, swing = WALL - run["arm.angle"][after].min(), abs(run["tip_deflection", "arm", "y"][after]).max()
    begin = run.contacts[0].begin
    print(f"{name}: {peak:.0f} N, rebound {rebound:.4f} rad, vibration {1e3 * swing:.2f} mm, first touch {begin:.3f} s")
    return peak, rebound, swing


passive = pl.simulate(tipping_arm(CASE), 1.0, method=METHOD)
in_time = pl.Constraint(lambda run: run.event_time(TOUCH), high=IN_TIME, name="first touch")
best = pl.optimise(arm, lambda run: run.peak_force("wall"), ["stiffness", "damping"], [in_time], t_end=1.0, method=METHOD,
                   tolerance=1e-4, max_runs=60)  # fmt: skip
print(best)
before, after = told("passive", passive), told("active", best.result)

figure, (angles, knocks, torque) = plt.subplots(3, 1, sharex=True, figsize=(7.0, 6.5), layout="constrained")
for name, run, colour in (("no motor", passive, "tab:gray"), ("motor", best.result, "tab:blue")):
    angles.plot(run.time, run["arm.angle"], color=colour, label=name)
    knocks.plot(*zip(*((one.peak_time, one.peak_force) for one in run.contacts), strict=True), "o", color=colour)
angles.axhline(WALL, color="black", linewidth=0.8)
torque.plot(best.result.time, best.result["effort", "motor"], color="tab:blue")
angles.set_ylabel("angle, rad (line: wall)")
angles.legend()
knocks.set(ylabel="peaks of knocks, N", yscale="log")
torque.set(ylabel="torque, N m", xlabel="time, s")
figure.savefig("cushioned_fall.png", dpi=120)

assert best.ok and best.constraints["first touch"] <= IN_TIME * (1.0 + 1e-6)
assert abs(best.result["effort", "motor"]).max() <= LIMIT + 1e-12
assert all(with_motor < 0.25 * without for with_motor, without in zip(after, before, strict=True))

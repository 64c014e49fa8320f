"""The stiffness of a stop that catches an arm with the least force, without letting it in deeper than 8 mm.

A softer stop presses less and lets in deeper: the best one is as soft as the limit allows. The gradients of the peak of the force
and of the depth go through the impact exactly.
"""

import pliant as pl

DEPTH = 8e-3  # m, allowed

stiffness = pl.Parameter("stiffness", 2e5, "N/m^1.5", low=1e3, high=1e8)
arm = pl.System("arm and stop", gravity=(0, -9.81))
beam = pl.Beam(length=0.8, section=pl.Section.rectangle(height=0.02, width=0.03), material=pl.ALUMINIUM,
               theory="euler-bernoulli", modes=pl.Modes("cf", 2), damping=pl.RayleighRatios(ratios=(0.01, 0.01)))  # fmt: skip
link = arm.add("arm", beam, joint=pl.Revolute(angle=0.6))
arm.contact(points=pl.Sphere(link.tip, 0.01), against=pl.Plane(normal=(0, 1)), name="stop",
            normal=pl.HuntCrossley(stiffness=stiffness, restitution=0.6))  # fmt: skip


def depth(run):
    return -run.minimum("gap stop arm.tip")


best = pl.optimise(arm, lambda run: run.peak_force("stop"), ["stiffness"], [pl.Constraint(depth, high=DEPTH)], t_end=0.6,
                   save=1e-4)  # fmt: skip
print(best)
softer = pl.simulate(arm, 0.6, save=1e-4, parameters={"stiffness": 0.9 * best.values["stiffness"]})
print(f"10 % softer: {softer.contacts[0].peak_force:.1f} N, {-1e3 * softer.values['gap'].min():.2f} mm deep")

assert best.ok and best.tight == ("depth",)
assert softer.contacts[0].peak_force < best.objective and -softer.values["gap"].min() > DEPTH
pl.plot.save(pl.plot.contact_forces(best.result), "softest_stop.png")

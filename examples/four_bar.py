"""A four-bar linkage with an elastic coupler, its loop closed exactly: reactions at the pin, and how far the coupler bends."""

import numpy as np

import pliant as pl

coupler_beam = pl.Beam(length=0.8, section=pl.Section.rectangle(height=0.006, width=0.03), material=pl.ALUMINIUM,
                       theory="euler-bernoulli", modes=pl.Modes("ss", 2))  # fmt: skip

linkage = pl.System("four-bar", gravity=(0, -9.81))
crank = linkage.add("crank", pl.RigidBody.rod(length=0.3, mass=0.3), joint=pl.Revolute(motion=lambda t: 1.5 + 6.0 * t))
coupler = linkage.add("coupler", coupler_beam, joint=pl.Revolute(angle=pl.deg(-80)), on=crank.tip)
rocker = linkage.add("rocker", pl.RigidBody.rod(length=0.6, mass=0.6), joint=pl.Revolute(angle=pl.deg(90)),
                     on=linkage.ground.moved((0.7, 0.0)))  # fmt: skip
linkage.close("pin", "point", coupler.tip, rocker.tip)

result = pl.simulate(linkage, t_end=2.1)
force = np.hypot(*result.values["multiplier"].T)
torque = result.data["effort"].sel(drive="crank.angle motion")
print(f"the pin carries up to {force.max():.2f} N, the motor gives up to {float(abs(torque).max()):.3f} N m")
print(f"the coupler's first mode reaches {abs(result['coupler.y1']).max() * 1e3:.3f} mm")

assert result.ok and result.ledger.relative_error_max < 1e-7
assert np.abs(result.values["constraint"]).max() < 1e-11  # the loop stays closed to round-off
pl.plot.save(pl.plot.coordinates(result, ["coupler.angle", "rocker.angle", "coupler.y1"]), "four_bar.png")

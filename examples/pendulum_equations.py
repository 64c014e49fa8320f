"""The equations of a double pendulum over its parameters: to read as LaTeX, and as C for a controller."""

import pliant as pl

mass, length = pl.Parameter("m", 1.5, "kg"), pl.Parameter("l", 1.0, "m")
pendulum = pl.System("double pendulum", gravity=(0, -pl.Parameter("g", 9.81, "m/s^2")))
rod = pl.RigidBody(mass=mass, inertia=mass * length**2 / 12, com=(length / 2, 0), tip=(length, 0))
upper = pendulum.add("upper", rod, joint=pl.Revolute(angle=0.3))
pendulum.add("lower", rod, joint=pl.Revolute(angle=-0.7), on=upper.tip)
pendulum.drive("motor", "upper.angle", 2.0)

equations = pl.equations(pendulum)
print(equations.latex())
equations.write_c("pendulum.c")

now = equations.function()(t=0, q=[0.3, -0.7], v=[0, 0], u=[2.0], p=equations.values)
print("accelerations:", now["acceleration"], "with", dict(zip(equations.p.names, equations.values, strict=True)))
result = pl.simulate(pendulum, t_end=1.0)
assert abs(float(now["acceleration"][0]) - result.data["a"].sel(rate="upper.angle")[0].item()) < 1e-12
pl.plot.save(pl.plot.paths(result), "pendulum_equations.png")

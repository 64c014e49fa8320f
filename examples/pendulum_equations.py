"""The equations of a double pendulum: to read as LaTeX, and as C for a controller."""

import pliant as pl

pendulum = pl.System("double pendulum", gravity=(0, -9.81))
rod = pl.RigidBody(mass=1.5, inertia=0.2, com=(0.4, 0), tip=(1, 0))
upper = pendulum.add("upper", rod, joint=pl.Revolute(angle=0.3))
pendulum.add("lower", rod, joint=pl.Revolute(angle=-0.7), on=upper.tip)
pendulum.drive("motor", "upper.angle", 2.0)

equations = pl.equations(pendulum)
print(equations.latex())
equations.write_c("pendulum.c")

now = equations.function()(t=0, q=[0.3, -0.7], v=[0, 0], u=[2.0], p=equations.values)
print("accelerations:", now["acceleration"])
result = pl.simulate(pendulum, t_end=1.0)
assert abs(float(now["acceleration"][0]) - result.data["a"].sel(rate="upper.angle")[0].item()) < 1e-12
pl.plot.save(pl.plot.paths(result), "pendulum_equations.png")

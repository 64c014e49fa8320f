"""A ball with a normal law and a friction law of its own: a few lines, compiled with the rest."""

import pliant as pl


def normal(depth, rate, entry_speed):
    """Hertz's spring, with damping in proportion to the rate of the depth over the speed at first touch."""
    return 1e7 * depth**1.5 * (1.0 + 0.2 * rate / entry_speed)


def friction(slip, normal_force):
    return 0.3 * normal_force * pl.tanh(slip / 1e-3)


ball = pl.System("ball", gravity=(0, -9.81))
sphere = ball.add("sphere", pl.RigidBody(mass=1.0, inertia=0.004),
                  joint=pl.Planar(position=(0.0, 0.6), velocity=(0.8, 0.0)))  # fmt: skip
ball.contact(points=pl.Sphere(sphere.root, 0.1), against=pl.Plane(normal=(0, 1)), name="floor",
             normal=pl.CustomNormal(normal, energy=lambda d: 1e7 * d**2.5 / 2.5), friction=friction)  # fmt: skip

result = pl.simulate(ball, t_end=2.0)
print(result.contacts)
print(result.ledger)
spin = result.rate("sphere.angle")[-1]
print(f"after {len(result.contacts)} bounces the ball spins at {spin:.2f} rad/s")

assert result.ok and result.ledger.relative_error_max < 1e-6
assert len(result.contacts) >= 3
assert spin < 0.0  # friction makes it roll forward
pl.plot.save(pl.plot.energies(result), "bouncing_ball.png")

"""Normal laws of the registry, made alike for several tests."""

from __future__ import annotations

from pliant.model import normal_law as laws
from pliant.model.normal_law import HysteresisLaw


def made(law, restitution=0.6, stiffness=1e6, exponent=1.5, mass=0.8, speed=10.0, **more):
    """A law of the registry, damped to about the restitution."""
    if issubclass(law, HysteresisLaw):
        return law(stiffness=stiffness, exponent=exponent, restitution=restitution, **more)
    if law is laws.Hertz:
        return law(stiffness=stiffness, exponent=exponent, **more)
    if law is laws.Linear:
        return law(stiffness=stiffness, restitution=restitution, mass=mass, **more)
    if law is laws.FixedHuntCrossley:
        return law(stiffness=stiffness, exponent=exponent, chi=1.5 * (1.0 - restitution) / speed, **more)
    assert law is laws.WangYanFangJin, f"say here how to make a {law.__name__}"
    length = (mass * speed**2 / stiffness) ** (1.0 / (exponent + 1.0))
    return law(stiffness=stiffness, exponent=exponent, damping=(1.0 - restitution) * mass * speed / length, **more)

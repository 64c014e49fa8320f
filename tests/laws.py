"""Laws of the registries, made alike for several tests."""

from __future__ import annotations

from pliant.model import friction_law
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


# one of every friction law
FRICTION = {
    friction_law.Coulomb: friction_law.Coulomb(mu=0.3, transition=0.01),
    friction_law.CoulombStiction: friction_law.CoulombStiction(mu_static=0.4, mu_kinetic=0.3, v_static=0.01, v_kinetic=0.05),
    friction_law.CoulombViscous: friction_law.CoulombViscous(mu=0.3, viscous=0.2, transition=0.01),
    friction_law.Stribeck: friction_law.Stribeck(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.1, transition=0.01),
    friction_law.Threlfall: friction_law.Threlfall(mu=0.3, v_r=0.02),
    friction_law.BengisuAkay: friction_law.BengisuAkay(mu_static=0.4, mu_kinetic=0.3, v0=0.02, xi=30.0),
    friction_law.Ambrosio: friction_law.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2),
    friction_law.Karnopp: friction_law.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=0.01),
    friction_law.Dahl: friction_law.Dahl(sigma0=1e4, mu=0.3),
    friction_law.LuGre: friction_law.LuGre(sigma0=1e4, sigma1=10.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.1),
    friction_law.GonthierFriction: friction_law.GonthierFriction(
        sigma0=1e4, sigma1=10.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01, tau_dwell=2.0
    ),
}

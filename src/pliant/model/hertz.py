"""Contact stiffness of two round bodies from their radii and materials."""

from __future__ import annotations

from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.material import Material
from pliant.scalar import sqrt


def hertz_stiffness(
    radius_a: float, material_a: Material, radius_b: float | None = None, material_b: Material | None = None
) -> float:
    """The contact stiffness K of two round bodies in F = K d^1.5, N/m^1.5, from their radii (m) and materials.

    K = 4/(3 (h_a + h_b)) sqrt(R), R = R_a R_b/(R_a + R_b), h = (1 - nu^2)/E (Hertz 1882; Ebrahimi, Nouri, Salahshoor, eq. 21, 22).
    Without `radius_b` the other body is flat and R = R_a; a hollow body has a negative radius below -R_a. Without `material_b` both
    bodies have the same material.
    """
    part = "hertz_stiffness"
    curvature = 1.0 / check.positive(part, "radius_a", radius_a, "m")
    if radius_b is not None:
        clean = check.number(part, "radius_b", radius_b, "m")
        if -radius_a <= clean <= 0.0:
            rule = f"must be > 0 m, or < -radius_a = {-radius_a!r} m if hollow"
            raise ModelError.of(part, "radius_b", rule, radius_b)
        curvature += 1.0 / clean
    soft = softness(part, "material_a", material_a)
    soft += softness(part, "material_b", material_a if material_b is None else material_b)
    return 4.0 / (3.0 * soft * sqrt(curvature))  # type: ignore[no-any-return]


def softness(part: str, field: str, material: Any) -> float:
    """h = (1 - nu^2)/E, 1/Pa; nu follows from G if that is given."""
    check.instance(part, field, material, Material, "a Material")
    nu = material.nu
    if nu is None and material.G is not None:
        nu = material.E / (2.0 * material.G) - 1.0
    if nu is None:
        raise ModelError.of(part, f"{field}.nu", "must be known (give the material nu or G)", None)
    if not -1.0 < nu <= 0.5:
        raise ModelError.of(part, f"{field}.nu", "must be in (-1, 0.5], also if it follows from G as E/(2G) - 1", nu)
    return (1.0 - nu**2) / material.E  # type: ignore[no-any-return]

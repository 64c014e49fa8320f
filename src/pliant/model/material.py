"""Materials: linear, isotropic, SI units."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import ModelError
from pliant.model import check


@dataclass(frozen=True, kw_only=True)
class Material:
    """A linear elastic, isotropic material. Shear and torsion need G or nu; density is needed unless masses are given."""

    E: float  # Young's modulus, Pa
    G: float | None = None  # shear modulus, Pa
    nu: float | None = None  # Poisson's ratio, instead of G
    density: float | None = None  # kg/m^3

    def __post_init__(self) -> None:
        part = "Material"
        if self.G is not None and self.nu is not None:
            raise ModelError(f"{part}: only one of G and nu may be given, got G = {self.G!r} and nu = {self.nu!r}")
        if self.nu is not None:
            nu = check.number(part, "nu", self.nu)
            if not -1.0 < nu <= 0.5:
                raise ModelError.of(part, "nu", "must be in (-1, 0.5]", nu)
            object.__setattr__(self, "nu", nu)
        check.fields(self, check.positive, E="Pa", G="Pa", density="kg/m^3")

    @property
    def shear_modulus(self) -> float | None:
        """The shear modulus in Pa: G if given, else E / (2 (1 + nu)); None if neither G nor nu is given."""
        if self.nu is not None:
            return self.E / (2.0 * (1.0 + self.nu))
        return self.G


STEEL = Material(E=200e9, nu=0.3, density=7860.0)
ALUMINIUM = Material(E=70e9, nu=0.33, density=2700.0)

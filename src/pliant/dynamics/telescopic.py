"""A telescopic link as a body: coordinates z = (l, delta_1, ...), and fields whose integrals depend on the free length l.

Material point s of the arm lies at l + s along x; outside the sleeve xi = (l + s - L)/l, and it is displaced by delta_j f_j(xi). At
fixed s, d xi/dt = (1 - xi) l'/l, so each shape adds two more fields: f'(1 - xi) and f''(1 - xi)^2. Field 0 is s, 1 the sliding of
the arm, 2 the sleeve; then follow KINDS fields per mode, one rotation f'/l per bending mode, which only the tip uses, and two
fields for the mouth of the sleeve. There rigid material begins to stretch and twist: f'(0) is not zero, the velocity jumps by delta
f'(0) l'/l, and with a mass flow of mu l' (kg/s) the jump exerts a force. Its virtual work uses the mean of both sides, as in
Lagrange's equations (d/dt and d/dl of an integral whose bound is the mouth).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.beams.telescopic import KINDS, UnitShapes
from pliant.dynamics.algebra import NULL, ZERO, Mat, Scalar, Vec, scale, total
from pliant.dynamics.body import Fields, FieldWeights, linear, quadratic_form
from pliant.model.damping import AirDrag, Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh
from pliant.model.friction_law import FrictionLaw
from pliant.model.telescopic import TelescopicBeam
from pliant.model.walk import unchecked_copy
from pliant.scalar import absolute, maximum, sqrt

ARM, SLIDE, SLEEVE, FIRST = 0, 1, 2, 3
AXIS = {"axial": 0, "y": 1, "z": 2}  # axis along which a mode displaces
TURN = {"y": (2, 1.0), "z": (1, -1.0)}  # axis about which a bending mode rotates the tip, and the sign
KINDS_OF_DAMPING = {KelvinVoigt: "kelvin_voigt", AirDrag: "air", Rayleigh: "rayleigh", ModalDamping: "modal"}  # of the modal rates
UNITS: tuple[Vec, Vec, Vec] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class TelescopicBody:
    link: TelescopicBeam
    shapes: UnitShapes

    @property
    def modes(self) -> int:
        return len(self.shapes.directions)

    @property
    def coordinates(self) -> int:
        return 1 + self.modes

    @property
    def mass(self) -> float:
        return self.link.mass

    @property
    def count(self) -> int:
        """Number of fields."""
        return FIRST + KINDS * self.modes + self.modes + 2

    def _field(self, mode: int, kind: int) -> int:
        return FIRST + KINDS * mode + kind

    def _tip_turn(self, mode: int) -> int:
        return FIRST + KINDS * self.modes + mode

    def _mouth(self, direction: str) -> int:
        """The field of the jump at the mouth of the sleeve: along x, or about x."""
        return self.count - (1 if direction == "torsion" else 2)

    # ---- weights

    def field_weights(self, z: Sequence[Scalar], rates: Sequence[Scalar]) -> FieldWeights:
        """l slides the arm; delta_j f_j adds the field f'(1 - xi) l'/l, unless the form is as published."""
        length, speed = z[0], rates[0]
        convective = self.link.form == "consistent"
        inverse = 1.0 / length
        position: dict[int, Scalar] = {ARM: 1.0, SLIDE: length, SLEEVE: 1.0}
        rate: dict[int, Scalar] = {SLIDE: speed}
        columns: list[dict[int, Scalar]] = [{SLIDE: 1.0}, *({} for _ in range(self.modes))]
        bias: dict[int, Scalar] = {}
        for j in range(self.modes):
            delta, delta_rate = z[1 + j], rates[1 + j]
            value, first, second = (self._field(j, kind) for kind in range(KINDS))
            position[value], rate[value], columns[1 + j][value] = delta, delta_rate, 1.0
            if convective:
                stretch = speed * inverse
                rate[first] = delta * stretch
                columns[0][first] = delta * inverse
                bias[first] = 2.0 * stretch * (delta_rate - delta * stretch)
                bias[second] = delta * stretch * stretch
                if self.shapes.root_slope[j]:
                    mouth = self._mouth(self.shapes.directions[j])
                    bias[mouth] = bias.get(mouth, 0.0) + self.shapes.root_slope[j] * delta * stretch * speed
            if self.shapes.directions[j] in TURN:
                turn = self._tip_turn(j)
                position[turn], rate[turn], columns[1 + j][turn] = delta * inverse, delta_rate * inverse, inverse
                if convective:
                    rate[turn] = rate[turn] - delta * stretch * inverse
                    columns[0][turn] = -delta * inverse * inverse
                    bias[turn] = 2.0 * stretch * inverse * (delta * stretch - delta_rate)
        return FieldWeights(position, rate, columns, bias)

    # ---- integrals

    def fields(self, z: Sequence[Scalar]) -> Fields:
        return self._integrated(z[0], 0.0)

    def drag_fields(self, z: Sequence[Scalar]) -> Fields | None:
        """Drag acts on the sleeve and on the arm outside it: the integrals of a link of mass c per length, less the arm inside."""
        drag = next((damping.coefficient for damping in self.link.dampings if isinstance(damping, MotionDrag)), None)
        if drag is None:
            return None
        full = self.link.length
        air = unchecked_copy(self.link, {"mass_per_length": drag, "torsion_inertia": 0.0, "sleeve_mass": drag * full})
        return TelescopicBody(air, self.shapes)._integrated(z[0], full - z[0])

    def _integrated(self, length: Scalar, left_out: Scalar) -> Fields:
        """left_out: the length of the arm, from its inner end on, that does not count, m."""
        mu, full = self.link.mu, self.link.length
        sleeve = self.link.sleeve_mass
        first: list[Vec] = [ZERO] * self.count
        second: list[list[Mat]] = [[NULL] * self.count for _ in range(self.count)]
        turned: list[Vec] = [ZERO] * self.count
        pair: list[list[Scalar]] = [[0.0] * self.count for _ in range(self.count)]
        first[ARM], first[SLIDE], first[SLEEVE] = ((x, 0.0, 0.0) for x in (
            mu * (full**2 - left_out**2) / 2.0, mu * (full - left_out), sleeve * full / 2.0))  # fmt: skip
        rigid = {(ARM, ARM): mu * (full**3 - left_out**3) / 3.0, (ARM, SLIDE): first[ARM][0], (SLIDE, SLIDE): first[SLIDE][0],
                 (SLEEVE, SLEEVE): sleeve * full**2 / 3.0}  # fmt: skip
        for (a, b), value in rigid.items():
            self._set(second, pair, a, b, 0, 0, value)
        for a in range(KINDS * self.modes):
            self._elastic(a, length, first, second, turned, pair)
        self._jump(length, first, second, turned, pair)
        rotary: Mat = ((self.link.twisting * full, 0.0, 0.0), ZERO, ZERO)
        return Fields(self.mass - mu * left_out, first, second, rotary, turned, pair)

    def _elastic(
        self,
        a: int,
        length: Scalar,
        first: list[Vec],
        second: list[list[Mat]],
        turned: list[Vec],
        pair: list[list[Scalar]],
    ) -> None:
        """Integrals of one elastic field with the rigid fields and with elastic fields up to itself: mu l times numbers."""
        shapes, mu, full = self.shapes, self.link.mu, self.link.length
        direction, number = shapes.directions[a // KINDS], FIRST + a
        zeroth, weighted = shapes.zeroth[a], shapes.weighted[a]
        if direction == "torsion":
            turned[number] = (self.link.twisting * zeroth * length, 0.0, 0.0)
        else:
            axis = AXIS[direction]
            outside = mu * length
            first[number] = scale(outside * zeroth, UNITS[axis])
            self._set(second, pair, SLIDE, number, 0, axis, outside * zeroth)
            self._set(second, pair, ARM, number, 0, axis, outside * ((full - length) * zeroth + length * weighted))
        for b in range(a + 1):
            product, other = shapes.gram[a][b], shapes.directions[b // KINDS]
            if direction == other == "torsion":
                value = self.link.twisting * product * length
                pair[number][FIRST + b] = pair[FIRST + b][number] = value
            elif "torsion" not in (direction, other):
                self._set(second, pair, number, FIRST + b, AXIS[direction], AXIS[other], mu * product * length)

    def _jump(
        self,
        length: Scalar,
        first: list[Vec],
        second: list[list[Mat]],
        turned: list[Vec],
        pair: list[list[Scalar]],
    ) -> None:
        """Integrals of a jump at the mouth: mu or Jx times the other field there; for f'(1 - xi), the mean of f'(0) and 0."""
        along, about = self._mouth("axial"), self._mouth("torsion")
        mu, full = self.link.mu, self.link.length
        first[along], turned[about] = (mu, 0.0, 0.0), (self.link.twisting, 0.0, 0.0)
        self._set(second, pair, SLIDE, along, 0, 0, mu)
        self._set(second, pair, ARM, along, 0, 0, mu * (full - length))
        for j, direction in enumerate(self.shapes.directions):
            half, stretched = 0.5 * self.shapes.root_slope[j], self._field(j, 1)
            if direction == "axial":
                self._set(second, pair, stretched, along, 0, 0, mu * half)
            elif direction == "torsion":
                pair[stretched][about] = pair[about][stretched] = self.link.twisting * half

    @staticmethod
    def _set(second: list[list[Mat]], pair: list[list[Scalar]], a: int, b: int, i: int, j: int, value: Scalar) -> None:
        """Set C_ab, its transpose, and their trace."""
        second[a][b] = tuple(tuple(value if (r, c) == (i, j) else 0.0 for c in range(3)) for r in range(3))  # type: ignore[assignment]
        second[b][a] = tuple(tuple(value if (r, c) == (j, i) else 0.0 for c in range(3)) for r in range(3))  # type: ignore[assignment]
        if i == j:
            pair[a][b] = pair[b][a] = value

    # ---- strain and damping

    def _power(self, mode: int) -> int:
        """Exponent of the free length in the stiffness: l^-3 in bending, 1/l in tension and torsion."""
        return 3 if self.shapes.directions[mode] in ("y", "z") else 1

    def _stiffness(self, length: Scalar) -> list[list[Scalar]]:
        inverse = 1.0 / length
        return [[k * inverse ** self._power(j) if k else 0.0 for k in row]
                for j, row in enumerate(self.shapes.stiffness)]  # fmt: skip

    def strain_energy(self, z: Sequence[Scalar]) -> Scalar:
        return 0.5 * quadratic_form(self._stiffness(z[0]), z[1:])

    def strain_forces(self, z: Sequence[Scalar]) -> list[Scalar]:
        """dV/dz; in the published form strain does not act on l."""
        own = linear(self._stiffness(z[0]), z[1:])
        if self.link.form == "as-published":
            return [0.0, *own]
        shares = total(self._power(j) * z[1 + j] * own[j] for j in range(self.modes))
        return [-0.5 * shares / z[0], *own]

    @property
    def damping(self) -> tuple[str, ...]:
        named = tuple(KINDS_OF_DAMPING[type(damping)] for damping in self._modal_dampings)
        return (*named, "sleeve_friction") if isinstance(self.link.friction, FrictionLaw) else named

    @property
    def _modal_dampings(self) -> list[Damping]:
        return [damping for damping in self.link.dampings if type(damping) in KINDS_OF_DAMPING]

    def damping_forces(self, kind: str, z: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        if kind == "sleeve_friction":
            return [self._sleeve_friction(rates[0]), *([0.0] * self.modes)]
        return [0.0, *linear(self._damping(kind, z[0]), rates[1:])]

    def _sleeve_friction(self, rate: Scalar) -> Scalar:
        speed = absolute(rate)
        return self.link.friction.force(speed, self.link.preload) * (rate / maximum(speed, 1e-30))

    def _damping(self, kind: str, length: Scalar) -> list[list[Scalar]]:
        """Damping matrix of the modal rates at a given free length."""
        law = next(d for d, name in zip(self._modal_dampings, self.damping, strict=False) if name == kind)
        count = range(self.modes)
        stiffness = self._stiffness(length)
        if isinstance(law, KelvinVoigt):
            cube = length**3
            return [[law.coefficient * self.shapes.bending[j][k] / cube if self.shapes.bending[j][k] else 0.0
                     for k in count] for j in count]  # fmt: skip
        if isinstance(law, AirDrag):
            bends = [self.shapes.directions[j] in TURN for j in count]
            return [[law.coefficient * length * self._gram(j, k) if bends[j] and bends[k] else 0.0 for k in count]
                    for j in count]  # fmt: skip
        if isinstance(law, Rayleigh):
            return [[law.alpha * self._modal_mass(j, k, length) + law.beta * stiffness[j][k] for k in count]
                    for j in count]  # fmt: skip
        assert isinstance(law, ModalDamping)  # checked when made
        ratios: list[Scalar] = list(law.ratios) if isinstance(law.ratios, tuple) else [law.ratios] * self.modes
        return [[2.0 * ratios[j] * sqrt(stiffness[j][j] * self._modal_mass(j, j, length)) if j == k else 0.0
                 for k in count] for j in count]  # fmt: skip

    def _gram(self, j: int, k: int) -> Scalar:
        value = self.shapes.gram[KINDS * j][KINDS * k]
        return value if abs(value) > 1e-13 else 0.0

    def _modal_mass(self, j: int, k: int, length: Scalar) -> Scalar:
        density = self.link.twisting if self.shapes.directions[j] == "torsion" else self.link.mu
        return density * self._gram(j, k) * length

    # ---- the tip

    def tip(self) -> tuple[tuple[Vec, ...], tuple[Vec, ...]]:
        """(W_A, Theta_A) at the tip, xi = 1, where f'(1 - xi) and f''(1 - xi)^2 vanish."""
        moves, turns = [ZERO] * self.count, [ZERO] * self.count
        moves[ARM], moves[SLIDE] = (self.link.length, 0.0, 0.0), (1.0, 0.0, 0.0)
        for j, direction in enumerate(self.shapes.directions):
            value = self.shapes.tip[j]
            if direction == "torsion":
                turns[self._field(j, 0)] = (value, 0.0, 0.0)
                continue
            moves[self._field(j, 0)] = scale(value, UNITS[AXIS[direction]])
            if direction in TURN:
                axis, sense = TURN[direction]
                turns[self._tip_turn(j)] = scale(sense * self.shapes.tip_slope[j], UNITS[axis])
        return tuple(moves), tuple(turns)

"""Bodies with their shapes, integrals and values at stations; beams with equal data are integrated once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.beams import Shapes, beam_shapes, drag_integrals, field_integrals, field_values, shape_integrals
from pliant.beams.axis import AxisFields, beam_axis, straight_axis
from pliant.beams.telescopic import unit_shapes
from pliant.dynamics.algebra import NULL, ZERO, Mat, Scalar, Vec, outer, scale, trace
from pliant.dynamics.body import BeamBody, Body, Fields
from pliant.dynamics.equal_numbers import EqualNumbers
from pliant.dynamics.modal import modal_dynamics
from pliant.dynamics.telescopic import TelescopicBody
from pliant.model.beam import Beam
from pliant.model.body import Body as ModelBody
from pliant.model.damping import MotionDrag
from pliant.model.modal import ModalBody
from pliant.model.rigid import RigidBody
from pliant.model.telescopic import TelescopicBeam
from pliant.model.value_keys import value_key

MOST_KEPT = 512  # number of beams whose integrals a process remembers
NO_STRAIN = 1e-12  # of the largest strain per mode: less is round-off


@dataclass(frozen=True)
class Station:
    """The values of a body's fields at a station."""

    displacement: tuple[Vec, ...]  # W_A, one per field of the body, m
    rotation: tuple[Vec, ...]  # Theta_A, rad


STILL = Station((), ())  # on a rigid body, or at the root of any body: no displacement by fields


@dataclass(frozen=True, eq=False)
class Integrated:
    """A body with its integrals, and the stations requested so far."""

    model: ModelBody
    body: Body
    shapes: Shapes | None = None  # for beams only
    _stations: dict[float, Station] = field(default_factory=dict)

    def station(self, x: float | None) -> Station:
        """The fields at x, m, along a beam, or at the tip of a telescopic link; x = None: at the body's own frame."""
        if x is None or isinstance(self.model, RigidBody):
            return STILL
        if isinstance(self.body, TelescopicBody):
            return self._stations.setdefault(0.0, Station(*self.body.tip()))
        if x not in self._stations:
            displacement, rotation = self._fields_at(x)
            merge = EqualNumbers().merged
            self._stations[x] = Station(merge(_clean(displacement)), merge(_clean(rotation)))
        return self._stations[x]

    def _fields_at(self, x: float) -> tuple[Any, Any]:
        if isinstance(self.model, ModalBody):
            return self.model.fields_at(x)
        assert isinstance(self.model, Beam) and self.shapes is not None
        return field_values(self.model, self.shapes, x)

    @cached_property
    def axis(self) -> AxisFields:
        """The fields along the axis of a beam; along the line to the tip of a rigid body."""
        if isinstance(self.model, RigidBody):
            return straight_axis(np.array(self.model.tip, dtype=np.float64))
        assert isinstance(self.model, Beam) and self.shapes is not None
        return beam_axis(self.model, self.shapes)

    def strain_weights(self, x: float, y: float, z: float) -> tuple[float, ...]:
        """Axial strain per mode at the point (y, z) of the section at x of a beam: u' - y kappa_z + z kappa_y."""
        assert self.shapes is not None
        stretch, bend = self.shapes.displacement(x, 1)[0, 0], self.shapes.rotation(x, 1)[0]
        weights = stretch - y * bend[2] + z * bend[1]
        small = NO_STRAIN * float(np.max(np.abs(weights), initial=0.0))
        return tuple(np.where(np.abs(weights) <= small, 0.0, weights).tolist())

    def turns_to_first_order(self, x: float | None) -> bool:
        """Whether a frame at the station is rotated by 1 + skew(theta), as in some papers."""
        return x is not None and isinstance(self.model, TelescopicBeam) and self.model.tip_rotation == "first-order"


_KEPT: OrderedDict[Hashable, Integrated] = OrderedDict()


def integrated(model: ModelBody, known: dict[int, Integrated]) -> Integrated:
    """A body of the model with its integrals; known: those of this tree so far, by the identity of the model's body."""
    if id(model) not in known:
        known[id(model)] = _remembered(model)
    return known[id(model)]


def _remembered(model: ModelBody) -> Integrated:
    key = None if isinstance(model, RigidBody) else value_key(model)
    if key is None:
        return _integrate(model)
    found = _KEPT.get(key)
    if found is None:
        found = _integrate(model)
        _KEPT[key] = found
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    if isinstance(found.body, TelescopicBody) and isinstance(model, TelescopicBeam):  # it refers to the model's own object
        return Integrated(model, TelescopicBody(model, found.body.shapes))
    return found


def _integrate(model: ModelBody) -> Integrated:
    if isinstance(model, Beam):
        shapes = beam_shapes(model)
        return Integrated(model, _beam_body(model, shapes), shapes)
    return Integrated(model, next(make for kind, make in DYNAMICS.items() if isinstance(model, kind))(model))


def rigid_body(mass: Scalar, com: Vec, inertia: Mat) -> BeamBody:
    """A point mass at the centre of mass; the remaining inertia is rotary inertia."""
    second: Mat = tuple(scale(mass, row) for row in outer(com, com))  # type: ignore[assignment]
    fields = Fields(
        mass=mass,
        first=(scale(mass, com),),
        second=((second,),),
        rotary=inertia,
        rotary_first=(ZERO,),
        pair=((trace(second),),),
    )
    return BeamBody(fields, modes=0)


# The dynamics of each class of bodies, from the model's own object; beams have shapes, too.
DYNAMICS: dict[type, Callable[[Any], Body]] = {
    RigidBody: lambda model: rigid_body(model.mass, tuple(model.com), model.inertia),
    TelescopicBeam: lambda model: TelescopicBody(model, unit_shapes(model)),
    ModalBody: modal_dynamics,
}


def _beam_body(beam: Beam, shapes: Shapes) -> BeamBody:
    of_modes = shape_integrals(beam, shapes)
    of_fields = field_integrals(beam, shapes, of_modes)
    merge = EqualNumbers().merged
    fields = Fields(
        mass=merge(of_modes.mass),
        first=merge(of_fields.first),
        second=merge(of_fields.second),
        rotary=merge(of_modes.rotary),
        rotary_first=merge(of_fields.rotary_first),
        pair=merge(of_fields.pair),
    )
    merge = EqualNumbers().merged  # a separate table: stiffnesses are unrelated to masses
    dampings = tuple((kind, merge(matrix)) for kind, matrix in of_modes.damping.items())
    stiffness, forms = merge(of_modes.stiffness), EqualNumbers().merged(of_fields.forms)
    return BeamBody(fields, shapes.count, stiffness, dampings, of_fields.products, forms,
                    coriolis=beam.stiffening_taken != "as-published", drag=_drag_fields(beam, shapes))  # fmt: skip


def _drag_fields(beam: Beam, shapes: Shapes) -> Fields | None:
    """The integrals of drag on the whole motion. Its force is minus the momentum of a body of mass c per length."""
    drag = next((damping.coefficient for damping in beam.dampings if isinstance(damping, MotionDrag)), None)
    if drag is None:
        return None
    first, second = drag_integrals(shapes, beam, drag)
    merge = EqualNumbers().merged
    pair = np.trace(second, axis1=2, axis2=3)
    return Fields(drag * beam.length, merge(first), merge(second), NULL, (ZERO,) * len(first), merge(pair))


def _clean(column: Any) -> Any:
    """Replace shape values at round-off, which are zero by the end conditions, with structural zeros.

    Shapes are of order one (displacement) or one over a length (rotation), so 1e-13 is far below any real value.
    """
    return np.where(np.abs(column) < 1e-13, 0.0, column)

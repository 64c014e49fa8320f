"""Whether a trace reads whatever it reads of a System from the vector of numbers: all are changed, and nothing may differ."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from pliant.codegen.graph import Graph
from pliant.codegen.numbers import Numbers
from pliant.model.beam import Beam
from pliant.model.rigid import RigidBody
from pliant.model.signal import MotionTable, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth
from pliant.trace.lowering import _Copying, equation_fields
from pliant.trace.tracing import Trace, lower_system, trace_lowered

CHANGE = 1e-3  # of every number: small enough for every branch to stay, large enough for a number that was folded in to show
AGREE = 1e-8  # modes are stiff, and Lagrange's way of differentiating loses digits; a number folded in would show by 1e-3
EXPONENTS = (1.5, 2.0, 2.5)  # become products: part of the structure


def changed(rng):
    """Every number by another factor."""
    return lambda x: x if x in EXPONENTS else x * (1.0 + CHANGE * rng.uniform(-1.0, 1.0))


def otherwise(value):
    """Numbers that no trace may read: all of them changed, zeros and ones too."""
    if isinstance(value, float):
        return 1.03 * value + 0.01
    return tuple(otherwise(x) for x in value) if isinstance(value, tuple) else value


class Changing(_Copying):
    """A copy with changed numbers; with others in what no equation reads, starts and bodies of the model."""

    def _copied(self, x):
        if isinstance(x, (Beam, RigidBody)):
            inside, copied = (), object.__new__(type(x))
        elif type(x) in (PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth, MotionTable):
            return super()._copied(x)  # p has the values of tables
        else:
            inside, copied = equation_fields(type(x)) if is_dataclass(x) else (), super()._copied(x)
        if not is_dataclass(x) or copied is x:
            return copied
        for field in fields(x):
            if field.name not in inside:
                object.__setattr__(copied, field.name, otherwise(getattr(x, field.name)))
        return copied


def check_numbers_are_read(system, formulation="articulated"):
    """Functions over changed numbers, against those of a trace with these numbers folded in; contacts open, then all closed."""
    lowered = lower_system(system, formulation, still=True)
    traced = trace_lowered(lowered, cache=None)
    rng, made = np.random.default_rng(7), []
    change = changed(rng)
    system, tree, near, _, _, scale, *_ = Changing(lambda x: made.append(change(x)) or made[-1]).visit(lowered.root)
    start = replace(lowered.start, scale=scale)
    folded = Trace(system, lowered.formulation, near, lowered.t_start, tree, start)
    other = folded.finish(lowered, Numbers(Graph()), None)
    assert len(made) == lowered.numbers.size
    constants = traced.preparation.constants(np.array(made))
    assert constants is not None
    p = other.parameters(0.0, 1.0)
    states = traced.y0 + 0.01 * rng.uniform(-1.0, 1.0, (2, traced.y0.size))
    for closed in (0.0, 1.0) if traced.pairs else (0.0,):
        for slots in traced.pairs:
            p[slots.closed], p[slots.entry] = closed, 0.7
        for name, function in traced.functions.items():
            y = states.ravel()[: function.casadi.size1_in(1)]  # the limit of steps reads a derivative behind the state
            got = np.array(function.casadi(0.3, y, np.concatenate([p, constants]))).ravel()
            want = np.array(other.functions[name].casadi(0.3, y, p)).ravel()
            assert got == pytest.approx(want, rel=AGREE, abs=AGREE * np.max(np.abs(want), initial=1e-300), nan_ok=True), name

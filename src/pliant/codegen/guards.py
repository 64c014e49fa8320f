"""Finds the values that need not be computed while guards are idle.

A guard is an entry of p that is zero while something, such as a contact, is idle. Values that vanish then, and values that only
they need, are left out. Two passes over a program find them: the forward pass finds values that are exactly zero while a guard is
idle, the backward pass finds values that nothing needs then. A zero replaces every value that was left out: either the value is
zero, or it is multiplied by a zero.

Sets are stored as the bits of an integer: ALL_IDLE means "while all guards are idle", bit k + 1 means "while guard k is idle".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca

from pliant.codegen.operations import CONVERGED, FUSED
from pliant.codegen.program import CONSTANT, PARAMETER, Program
from pliant.codegen.rolled import SHORTEST

ALWAYS = 0  # the empty set: for values that are never left out
ALL_IDLE = 1
EVERY = -1  # the full set: for values that are always zero
MOST_SEPARATE = 32  # up to this number, guards are treated separately; with more, only whether all are idle

# Zero if the first argument is zero.
_ODD = frozenset((
    ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_FABS, ca.OP_SQRT, ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_SIN, ca.OP_TAN, ca.OP_ASIN,
    ca.OP_ATAN, ca.OP_SINH, ca.OP_TANH, ca.OP_ASINH, ca.OP_ATANH, ca.OP_ERF, ca.OP_LOG1P, ca.OP_EXPM1, ca.OP_DIV, ca.OP_COPYSIGN,
    CONVERGED,
))  # fmt: skip
# Zero if either argument is zero; zero if both are.
_EITHER = frozenset((ca.OP_MUL, ca.OP_IF_ELSE_ZERO, ca.OP_AND))
_BOTH = frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_OR, ca.OP_NE, ca.OP_LT, ca.OP_HYPOT, ca.OP_FMIN, ca.OP_FMAX))
# Zero if one argument is zero and the other is a constant of this kind: (constant first, constant second).
_BESIDE_CONSTANT: dict[int, tuple[Callable[[float], bool], Callable[[float], bool]]] = {
    ca.OP_LT: (lambda c: c >= 0.0, lambda c: c <= 0.0),
    ca.OP_LE: (lambda c: c > 0.0, lambda c: c < 0.0),
    ca.OP_FMAX: (lambda c: c <= 0.0, lambda c: c <= 0.0),
    ca.OP_FMIN: (lambda c: c >= 0.0, lambda c: c >= 0.0),
}


def guard_bit(k: int) -> int:
    """The bit of guard k in a word; many guards share bits, because only whether all are idle matters then."""
    return 1 << (k % MOST_SEPARATE)


def guarded(program: Program) -> list[int]:
    """For every value, the set of guards any one of which, when idle, lets the value be left out.

    In programs with loops, guards are not treated separately, because one loop covers the values of all of them.
    """
    if not program.guards:
        return [ALWAYS] * len(program.kind)
    count = len(program.guards)
    separate = program.operations < SHORTEST and 1 < count <= MOST_SEPARATE
    known = (2 << count) - 1 if separate else ALL_IDLE
    return [mask & known for mask in _left_out(program, _vanishing(program, separate))]


def idle_guards(program: Program) -> list[frozenset[int]]:
    """For every value, the entries of p any one of which, when idle, makes the value zero or unused."""
    if not program.guards:
        return [frozenset()] * len(program.kind)
    masks = _left_out(program, _vanishing(program, True))
    sets = {mask: frozenset(place for k, place in enumerate(program.guards) if mask & (2 << k)) for mask in set(masks)}
    return [sets[mask] for mask in masks]


def vanishing(program: Program) -> list[int]:
    """For every value, the set of guards any one of which, when idle, makes it zero; separate guards unless there are too many."""
    return _vanishing(program, len(program.guards) <= MOST_SEPARATE)


def left_out(program: Program, zero_entries: Mapping[int, int]) -> list[int]:
    """As `guarded`, given the sets of guards that make entries of p zero."""
    return _left_out(program, _vanishing(program, len(program.guards) <= MOST_SEPARATE, zero_entries))


def _vanishing(program: Program, separate: bool, zero_entries: Mapping[int, int] | None = None) -> list[int]:
    """For every value, the guards any one of which, when idle, makes it zero."""
    bits = dict(zero_entries or {})
    for k, place in enumerate(program.guards):
        bits[place] = bits.get(place, ALWAYS) | ALL_IDLE | (2 << k if separate else 0)
    kinds, a, b, c = program.kind, program.a, program.b, program.c
    zero = [ALWAYS] * len(kinds)
    for value, kind in enumerate(kinds):
        if kind == PARAMETER:
            zero[value] = bits.get(a[value], ALWAYS)
        elif kind == CONSTANT:
            zero[value] = EVERY if program.constants[a[value]] == 0.0 else ALWAYS
        elif kind in _EITHER:
            zero[value] = zero[a[value]] | zero[b[value]]
        elif kind in _ODD:
            zero[value] = zero[a[value]]
        elif kind in FUSED:
            zero[value] = (zero[a[value]] | zero[b[value]]) & zero[c[value]]
        else:
            if kind in _BOTH:
                zero[value] = zero[a[value]] & zero[b[value]]
            if kind in _BESIDE_CONSTANT:
                zero[value] |= _beside_constant(program, value, zero)
    return zero


def _beside_constant(program: Program, value: int, zero: list[int]) -> int:
    left, right = program.a[value], program.b[value]
    first, second = _BESIDE_CONSTANT[program.kind[value]]
    if program.kind[left] == CONSTANT:
        return zero[right] if first(program.constants[program.a[left]]) else ALWAYS
    if program.kind[right] == CONSTANT:
        return zero[left] if second(program.constants[program.a[right]]) else ALWAYS
    return ALWAYS


def _left_out(program: Program, zero: list[int]) -> list[int]:
    """For every value, the guards any one of which, when idle, makes it zero or unused."""
    kinds, a, b, c = program.kind, program.a, program.b, program.c
    unread = [EVERY] * (len(kinds) + 1)  # the last entry stands for a missing argument: NONE
    for output in program.outputs:
        unread[output] = ALWAYS
    skips = [ALWAYS] * len(kinds)
    for value in range(len(kinds) - 1, -1, -1):
        kind = kinds[value]
        if kind < 0:
            continue
        skip = skips[value] = zero[value] | unread[value]
        left, right = a[value], b[value]
        if kind in FUSED:
            # if one factor is zero, the other is not needed
            unread[c[value]] &= skip
            unread[left] &= skip | (zero[right] if right != left else 0)
            unread[right] &= skip | (zero[left] if right != left else 0)
        else:
            unread[left] &= skip
            unread[right] &= skip
    return skips

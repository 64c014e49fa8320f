"""Computes the sine and cosine of a sum from those of its summands: sin(a + b) = sin a cos b + cos a sin b.

In a chain of joints the sines of a, b and a + b may all be needed. If the sines of the summands are computed anyway, those of the
sum cost six operations instead of about forty. The error stays within a few roundings however long the sum is: where it would grow
beyond that, the sine of the sum is computed directly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from pliant.codegen.blocks import batched_angles
from pliant.codegen.guards import ALWAYS, guarded
from pliant.codegen.program import ABSORBED, NONE, Program
from pliant.codegen.repeats import Columns
from pliant.codegen.rolled import SHORTEST
from pliant.codegen.sincos import WIDTH

# Roundings in a sine or cosine: one if it is computed directly; for a sum, those of both summands plus one.
MOST_ROUNDINGS = 8
MOST_ADDITIONS = 2  # additions for one angle: two cost less than a sine and a cosine
ADDITIONS_A_PASS = 8  # additions that together cost less than one pass of the batch

_SINES = frozenset((ca.OP_SIN, ca.OP_COS))
_SUMS = frozenset((ca.OP_ADD, ca.OP_SUB))


@dataclass(frozen=True)
class Plan:
    """Which angles are computed as sums of others."""

    roundings: dict[int, int]  # for every angle whose sine or cosine is needed
    sums: dict[int, int]  # angle -> number of additions it needs

    @staticmethod
    def of(program: Program, asked: Mapping[int, int], may_be_sums: Collection[int]) -> Plan:
        """asked: all angles, each with the guards under which its sines are left out."""
        plan, has_loops = Plan({}, {}), program.operations >= SHORTEST
        for angle in sorted(asked):
            plan.roundings[angle] = 1
            if angle in may_be_sums and program.kind[angle] in _SUMS:
                roundings, additions = plan._added(program, asked, angle, asked[angle], MOST_ADDITIONS)
                if additions <= MOST_ADDITIONS and roundings <= MOST_ROUNDINGS:
                    plan.roundings[angle], plan.sums[angle] = roundings, additions
                elif additions <= MOST_ADDITIONS and has_loops:
                    # if every few links had a directly computed sine, links would differ and could not be rolled into a loop
                    return Plan({}, {})
        return plan

    def _added(self, program: Program, asked: Mapping[int, int], angle: int, guards: int, most: int) -> tuple[int, int]:
        """(Roundings, additions) of an angle as a sum of angles that are always computed with it; too many if it is no such sum."""
        roundings, additions = 1, 1
        for summand in (program.a[angle], program.b[angle]):
            if summand in asked:
                needed = asked[summand] & ~guards == ALWAYS
                more = self.roundings[summand], 0 if needed else MOST_ADDITIONS
            elif program.kind[summand] in _SUMS and most > 1:
                more = self._added(program, asked, summand, guards, most - 1)
            else:
                more = 0, MOST_ADDITIONS
            roundings, additions = roundings + more[0], additions + more[1]
        return roundings, additions


def add_angles(program: Program) -> Program:
    """The same program with sines of sums computed from those of their summands, where that saves passes of the batch."""
    asked = batched_angles(program, [ALWAYS] * len(program.kind))
    if not Plan.of(program, asked, asked).sums:
        return program
    if program.guards:
        asked = batched_angles(program, guarded(program))
    plan = _worth_while(program, asked)
    return _Rebuilt(program, plan).finished() if plan.sums else program


def _worth_while(program: Program, asked: Mapping[int, int]) -> Plan:
    """Keeps the sums that save passes of the batch, separately for angles that are always needed and for those under guards."""
    plan = Plan.of(program, asked, asked)
    kept: set[int] = set()
    for always in (True, False):
        group = [angle for angle, guards in asked.items() if (guards == ALWAYS) is always]
        sums = [angle for angle in group if angle in plan.sums]
        spared = _passes(len(group)) - _passes(len(group) - len(sums))
        if sum(plan.sums[angle] for angle in sums) <= ADDITIONS_A_PASS * spared:
            kept.update(sums)
    return Plan.of(program, asked, kept)


def _passes(angles: int) -> int:
    return -(-angles // WIDTH)


class _Rebuilt:
    """A program under construction: all values in order, with sines of sums inserted where they are first needed."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.old, self.plan = program, plan
        self.new = Program(program.n_y, program.n_p, constants=list(program.constants), guards=program.guards)
        self.number = [NONE] * (len(program.kind) + 1)  # new numbers of old values; the last entry stands for a missing argument
        self._sines: dict[tuple[int, int], int] = {}
        for value, kind in enumerate(program.kind):
            if kind in _SINES and program.a[value] in plan.roundings:
                self.number[value] = self._sine(kind, program.a[value])
            elif kind < 0:
                self.number[value] = self.new.append(kind, program.a[value], NONE, NONE)
            else:
                a, b, c = (self.number[argument] for argument in (program.a[value], program.b[value], program.c[value]))
                self.number[value] = self.new.append(kind, a, b, c)

    def finished(self) -> Program:
        outputs = [self.number[output] for output in self.old.outputs]
        return _without_unread(replace(self.new, outputs=outputs), [self.number[angle] for angle in self.plan.sums])

    def _sine(self, kind: int, angle: int) -> int:
        """The sine or cosine of an old angle, which is needed itself or as part of a sum."""
        known = self._sines.get((kind, angle))
        if known is None:
            direct = angle in self.plan.roundings and angle not in self.plan.sums
            made = self.new.append(kind, self.number[angle], NONE, NONE) if direct else self._sine_of_sum(kind, angle)
            known = self._sines[kind, angle] = made
        return known

    def _sine_of_sum(self, kind: int, angle: int) -> int:
        a, b, operation = self.old.a[angle], self.old.b[angle], self.old.kind[angle]
        if kind == ca.OP_SIN:
            factors = ((ca.OP_SIN, a), (ca.OP_COS, b)), ((ca.OP_COS, a), (ca.OP_SIN, b))
        else:
            factors = ((ca.OP_COS, a), (ca.OP_COS, b)), ((ca.OP_SIN, a), (ca.OP_SIN, b))
            operation = ca.OP_SUB if operation == ca.OP_ADD else ca.OP_ADD
        first, second = (self.new.append(ca.OP_MUL, self._sine(*x), self._sine(*y), NONE) for x, y in factors)
        return self.new.append(operation, first, second, NONE)


def _without_unread(program: Program, sums: list[int]) -> Program:
    """The same program without sums, and parts of sums, that are no longer read."""
    columns = Columns.of(program)
    read = columns.arguments[columns.arguments != NONE]
    readers = np.bincount([*read, *program.outputs], minlength=len(program.kind))
    waiting = [value for value in sums if readers[value] == 0]
    while waiting:
        value = waiting.pop()
        for argument in program.arguments(value):
            readers[argument] -= 1
            if readers[argument] == 0 and program.kind[argument] >= 0:
                waiting.append(argument)
        program.kind[value] = ABSORBED
    return program

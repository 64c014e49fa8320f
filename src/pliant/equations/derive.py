"""The equations of motion of a small System as expressions: M(q) a + h(q, v, t) = B u + A^T lam, A a + gamma = 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import solve_symmetric
from pliant.dynamics.closures import ConstraintRows
from pliant.dynamics.gibbs_appell import inverse_dynamics
from pliant.dynamics.kinematics import place_pose, place_twist, poses, twists
from pliant.dynamics.sparse import Row
from pliant.equations import c_source, casadi_file
from pliant.equations.beam_numbers import symbolic_tree
from pliant.equations.latex import latex
from pliant.equations.matrices import Group, Matrices
from pliant.equations.symbolic import Symbolic, symbolic
from pliant.equations.symbols import Symbols
from pliant.errors import ModelError
from pliant.model.refused import require_bodies
from pliant.model.resolve import checked_values, resolved
from pliant.model.signal import Constant, Formula, MotionTable, Signal
from pliant.model.strut import OfLength
from pliant.model.system import System
from pliant.results.table import AXES
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.scalar import Numbers
from pliant.trace.closures import chosen, row_names, springs
from pliant.trace.tracing import Trace

if TYPE_CHECKING:
    from pathlib import Path


FORMULATION = "gibbs_appell"  # the recursion that is traced
SIMPLIFYING = 30.0  # s: chains of three rigid links take ten, elastic ones minutes


@dataclass(frozen=True, repr=False)
class Equations(Matrices):
    """M a + h = B u + A^T lam with q' = rate(q, v), c(q) = 0 and A a + gamma = 0, over named symbols.

    The inputs u are the drives and the load components that vary. p holds the System's parameters, followed by beam numbers that
    depend on them through integrals.
    """

    def __str__(self) -> str:
        """A summary of the arguments and the size; the expressions themselves come from `latex`, `sympy` and files."""
        what = f"{self.name}: M a + h = B u" + (" + A^T lam, A a + gamma = 0" if self.rows else "")
        named = {"q": self.q.names, "v": self.v.names, "u": self.u.names, "p": self.p.names, "lam": self.rows}
        lines = [f"  {letter}: {', '.join(names)}" for letter, names in named.items() if names]
        size = f"  {self.function().n_instructions()} operations; latex(), sympy(), write_c(path), write_casadi(path) write them"
        return "\n".join([what, *lines, *(f"  {note}" for note in self.notes), size])

    __repr__ = __str__

    def function(self) -> ca.Function:
        """All outputs, and the accelerations, as one CasADi function of (t, q, v, u, p)."""
        return casadi_file.function(self)

    def write_casadi(self, path: str | Path) -> None:
        """Write `function()` to a file for `casadi.Function.load`, and a .json file with all names and values next to it."""
        casadi_file.write(self, path)

    def write_c(self, path: str | Path) -> None:
        """Write one self-contained C file, and its header next to it."""
        c_source.write(self, path)

    def sympy(self, simplify: bool = True, max_seconds: float = SIMPLIFYING) -> Symbolic:
        """The equations over SymPy symbols; what is not simplified within `max_seconds` stays as it is, and a note says so."""
        return symbolic(self, simplify, max_seconds)

    def latex(self, simplify: bool = True, max_seconds: float = SIMPLIFYING) -> str:
        """The equations as LaTeX for reading, one display per matrix; simplified as by `sympy`."""
        return latex(self.sympy(simplify, max_seconds))


def derive(system: AnySystem, parameters: Mapping[str, float] | None = None) -> Equations:
    """Trace a System's equations: the recursion is linear in the accelerations, so M is its Jacobian."""
    system = mechanism_of(system, "equations")
    require_bodies(system, "equations")
    return _Derivation(system, checked_values(system.parameters, parameters)).finish()


class _Derivation(Trace):
    """A trace over symbols for the parameters, which stops before any system is solved."""

    def __init__(self, system: System, values: Mapping[str, float]) -> None:
        _refuse_bent_motors(system)
        self.symbols = Symbols(values)
        written = self.symbols.written(system)
        tree = symbolic_tree(written, system, self.symbols)
        super().__init__(_with_own_signals(written), FORMULATION, tree=tree, parameters=self.symbols.parameters)
        _refuse_tables(self)
        if not self.free_v:
            raise ModelError.of(f"system {system.name!r}", "degrees of freedom", "must be >= 1", 0)
        self.exact = [c for c in self.system.closures.values() if c.by == "multipliers"]
        self.independent = _independent_rows(resolved(system, values), values) if self.exact else {}
        named = _inputs(self.system)
        self.u_names = tuple(named)
        self.u_column, symbols = self.tracer.symbols("u", len(named))
        self._inputs = {id(signal): u for signal, u in zip(named.values(), symbols, strict=True)}
        for k, state in enumerate(self.system.states.values()):  # currents of motors are inputs
            self.own[k] = self._inputs.get(id(state.rate), self.own[k])

    def read(self, signal: Signal) -> Scalar:
        """The symbol of an input, regardless of the signal in the model."""
        return self._inputs[id(signal)] if id(signal) in self._inputs else super().read(signal)

    def _clock(self, breakpoints: Numbers) -> Scalar:
        """Time itself: without a run, it is not cut at breakpoints."""
        return self.t

    def finish(self) -> Equations:  # type: ignore[override]
        applied = self.acting()
        sprung = [c for c in self.system.closures.values() if c.by == "springs"]
        springs(self.rows_of(sprung), sprung, applied)
        held = self._held_rows()
        mass, bias, effect = self._motion(applied.tau, applied.loads)
        free_jacobian = [row.get(k, 0.0) for row in held.jacobian for k in self.free_v]
        q, v, column = len(self.free_q), len(self.free_v), self.tracer.column
        jacobian = ca.reshape(column(free_jacobian), v, len(self.independent)).T
        gamma = column(self._constraint_bias(held.gamma, held.jacobian))
        outputs = {
            "position_rate": column(self._coordinate_rates()),
            "mass_matrix": mass,
            "bias": bias,
            "input_matrix": effect,
            "constraint": column(held.residual),
            "constraint_jacobian": jacobian,
            "constraint_bias": gamma,
            **self._tips(),
        }
        solution = self.symbols.opened(self.tracer, self._solve(mass, effect @ self.u_column - bias, jacobian, gamma))
        outputs = self.symbols.opened(self.tracer, outputs)
        names = self._parameter_names(outputs)
        return Equations(
            name=self.system.name,
            time=Group("t", ("t",), self.t_column),
            q=Group("q", tuple(self.tree.positions[k] for k in self.free_q), self.state_column[:q]),
            v=Group("v", tuple(self.tree.rates[k] for k in self.free_v), self.state_column[q:]),
            u=Group("u", self.u_names, self.u_column),
            p=Group("p", names, self.symbols.columns(names)),
            values=tuple(self.symbols.values[name] for name in names),
            rows=tuple(self.independent.values()),
            bodies=tuple(node.name for node in self.tree.nodes),
            **outputs,
            solution=solution,
            notes=self._notes(names),
        )

    def _tips(self) -> dict[str, ca.SX]:
        """Positions of all tips, and the Jacobian of their velocities by the rates."""
        bodies, moving = poses(self.tree, self.q), twists(self.tree, self.q, self.v)
        places: list[Scalar] = []
        speeds: list[Scalar] = []
        for node in self.tree.nodes:
            pose, twist = place_pose(self.tree, node.tip, bodies, self.q), place_twist(self.tree, node.tip, moving, self.q, self.v)
            places += pose.position
            speeds += pose.rotation.out(twist.velocity)
        jacobian = ca.jacobian(self.tracer.column(speeds), self.state_column[len(self.free_q) :])
        return {"tip_position": self.tracer.column(places), "tip_jacobian": ca.densify(jacobian)}

    def _held_rows(self) -> ConstraintRows:
        """The independent rows of exact closures, in the order of `self.independent`."""
        every = self.rows_of(self.exact)
        found = list(zip(every.owners, every.directions, strict=True))
        return chosen(every, [found.index(row) for row in self.independent])

    def _parameter_names(self, outputs: Mapping[str, ca.SX]) -> tuple[str, ...]:
        """All parameters, and the beam numbers that occur in the equations."""
        used = self.symbols.used_in(outputs.values())
        return tuple(name for name in self.symbols.values if name in self.symbols.parameters or name in used)

    def _notes(self, names: Sequence[str]) -> tuple[str, ...]:
        notes = [f"contact forces are left out: {', '.join(pair.name for pair in self.pairs)}"] if self.pairs else []
        if self.system.own_states:
            notes.append(f"user-defined states are left out: {', '.join(self.system.own_states)}")
        lagging = [drive.state for drive in self.system.motors.values() if drive.state is not None]
        if lagging:
            notes.append(f"these inputs have equations of their own, which are left out: {', '.join(lagging)}")
        if self.system.controllers:
            notes.append(f"sampled controllers are left out: {', '.join(self.system.controllers)}")
        rubbing = [link.name for link in self.system.links.values() if link.frictions]
        rubbing += [closure.name for closure in self.system.closures.values() if closure.frictions]
        notes += [f"friction inside joints is left out: {', '.join(rubbing)}"] if rubbing else []
        sources: dict[str, dict[str, None]] = {}  # by beam, parameters in order
        for name in names:
            sources.setdefault(name.split(".")[0], {}).update(dict.fromkeys(self.symbols.computed.get(name, ())))
        notes += [
            f"numbers of {beam!r} are integrals at the present {', '.join(parameters)} and do not change with them"
            for beam, parameters in sources.items()
            if parameters
        ]
        pinned = self.symbols.pinned()
        return tuple([*notes, f"the equations hold only for these values: {', '.join(pinned)}"] if pinned else notes)

    def _motion(self, tau: Sequence[Scalar], loads: Sequence[object]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """(M, h, B) of the free coordinates; the effects of prescribed motions are in h."""
        a_column, a_free = self.tracer.symbols("a", len(self.free_v))
        a: list[Scalar] = [0.0] * len(self.tree.rates)
        for k, x in [*zip(self.free_v, a_free, strict=True), *self.known.items()]:
            a[k] = x
        asked = inverse_dynamics(self.tree, self.q, self.v, a, loads)  # type: ignore[arg-type]
        balance = self.tracer.column([asked[k] - tau[k] for k in self.free_v])
        mass = ca.densify(ca.jacobian(balance, a_column))
        effect = -ca.densify(ca.jacobian(balance, self.u_column))
        still = ca.substitute(balance, ca.vertcat(a_column, self.u_column), ca.SX.zeros(a_column.numel() + self.u_column.numel()))
        upper = ca.triu(mass)  # mirrored, so that both halves have the same expressions
        return ca.densify(upper + ca.triu(mass, False).T), ca.densify(still), effect

    def _solve(self, mass: ca.SX, force: ca.SX, jacobian: ca.SX, gamma: ca.SX) -> dict[str, ca.SX]:
        """a = M^-1 (force + A^T lam) with A a + gamma = 0, by L D L^T: D lam = -(A a0 + gamma), D = A M^-1 A^T."""
        free = self._divide(mass, force)
        if not gamma.numel():
            return {"acceleration": free, "multiplier": gamma}
        response = ca.horzcat(*(self._divide(mass, jacobian[k, :].T) for k in range(gamma.numel())))
        multiplier = self._divide(jacobian @ response, -gamma - jacobian @ free)
        return {"acceleration": free + response @ multiplier, "multiplier": multiplier}

    def _divide(self, matrix: ca.SX, right: ca.SX) -> ca.SX:
        scalars = [self.tracer.scalars(ca.densify(matrix[k, :]).T) for k in range(matrix.shape[0])]
        return self.tracer.column(solve_symmetric(scalars, self.tracer.scalars(ca.densify(right))))

    def _constraint_bias(self, gamma: Sequence[Scalar], jacobian: Sequence[Row]) -> list[Scalar]:
        """gamma, including the accelerations of prescribed coordinates."""
        return [
            g + sum((row[k] * x for k, x in self.known.items() if k in row), 0.0) for g, row in zip(gamma, jacobian, strict=True)
        ]


def _with_own_signals(system: System) -> System:
    """A copy in which no two drives or loads share a signal, so that inputs can be distinguished."""
    own = copy(system)
    own.drives = {name: replace(drive, effort=copy(drive.effort)) for name, drive in system.drives.items()}
    own.loads = {name: replace(load, vector=_copies(load.vector)) for name, load in system.loads.items()}
    own.motors = {name: replace(drive, command=copy(drive.command)) for name, drive in system.motors.items()}
    own.struts = {name: replace(strut, force=copy(strut.force)) for name, strut in system.struts.items()}
    return own


def _copies(vector: tuple[Signal, Signal, Signal]) -> tuple[Signal, Signal, Signal]:
    x, y, z = map(copy, vector)
    return x, y, z


def _refuse_bent_motors(system: System) -> None:
    """Refuse motors that are not linear in their command, since the equations are linear in their inputs."""
    for drive in system.motors.values():
        motor = drive.motor
        if motor.is_elastic:
            rule = "must be left out for equations(), in which rotors turn with their coordinates"
            raise ModelError.of(f"motor {drive.name!r}", "gear_stiffness", rule, motor.gear_stiffness)
        bent = {"efficiency": motor.efficiency if motor.efficiency != 1.0 else None,
                "back_efficiency": motor.back_efficiency if motor.back_efficiency != 1.0 else None,
                "max_torque": motor.max_torque, "max_current": motor.max_current}  # fmt: skip
        for field, value in bent.items():
            if value is not None and drive.command is not None:
                rule = "must be left out for equations(), which are linear in their inputs; drive the coordinate instead"
                raise ModelError.of(f"motor {drive.name!r}", field, rule, value)


def _refuse_tables(trace: Trace) -> None:
    for closure in trace.system.closures.values():
        if any(isinstance(motion, MotionTable) for motion in closure.prescribed):
            rule = "must be a formula for equations(): a table has no equation"
            raise ModelError.of(f"closure {closure.name!r}", "motion", rule, "MotionTable")
    for coordinate in trace.prescribed:
        if isinstance(coordinate.motion, MotionTable):
            rule = "must be a formula for equations(): a table has no equation"
            raise ModelError.of(f"coordinate {trace.tree.rates[coordinate.v]!r}", "motion", rule, "MotionTable")


def _inputs(system: System) -> dict[str, Signal]:
    """Inputs by name: drives, load components that are not constant, and strut actuators that are not laws of its length."""
    named: dict[str, Signal] = {drive.name: drive.effort for drive in system.drives.values()}
    for load in system.loads.values():
        for axis, component in zip(AXES, load.vector, strict=True):
            if not isinstance(component, Constant):
                named[f"{load.name}.{axis}"] = component
    for drive_of_motor in system.motors.values():
        if drive_of_motor.state is not None:
            named[drive_of_motor.state] = system.states[drive_of_motor.state].rate
        elif drive_of_motor.command is not None:
            named[drive_of_motor.name] = drive_of_motor.command
    for strut in system.struts.values():
        law = isinstance(strut.force, Formula) and isinstance(strut.force.function, OfLength)
        if strut.force is not None and not law and not isinstance(strut.force, Constant):
            named[strut.name] = strut.force
    return named


def _independent_rows(system: System, values: Mapping[str, float]) -> dict[tuple[int, int], str]:
    """(closure, direction) of the rows that are independent at the System's start, with their names.

    Over symbols there may be more rows, namely those that vanish only for the present values.
    """
    plain = Trace(system, FORMULATION, parameters=values)
    exact = [c for c in system.closures.values() if c.by == "multipliers"]
    every = plain.rows_of(exact)
    names = row_names([exact[k].name for k in every.owners])
    return {(every.owners[k], every.directions[k]): names[k] for k in plain.assemble().independent}

"""campbell(): natural frequencies over a speed or a parameter, with each mode tracked from one value to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.equilibrium import equilibrium
from pliant.analysis.linearise import linearise
from pliant.arrays import Complexes, Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.scalar import Numbers

if TYPE_CHECKING:
    from pliant.analysis.modes import NaturalModes

NUMBER = re.compile(r"(?<![\w'])-?\d+(\.\d+)?(e[-+]?\d+)?")  # not within a name
FAR = 0.3  # rad or m: how far from the start the joints of an equilibrium may be before it is said
UNLIKE = 1.0  # cost of orthogonal shapes (MAC = 0), in octaves of frequency difference


@dataclass(frozen=True, repr=False, eq=False)
class Campbell:
    """Modes over a range of a speed or a parameter: one row per value, one column per mode, nan where a row has fewer modes."""

    name: str
    over: str
    values: Floats
    is_speed: bool  # True if `over` is the rate of a coordinate, rad/s or m/s; False if it is a parameter
    eigenvalues: Complexes
    stable: tuple[bool, ...]  # for each value: True if no mode grows
    unit: str = ""  # of the values; empty if it is not known
    pose: str = ""  # where the mechanism is at each value of a parameter, and which joints are held
    warnings: tuple[str, ...] = ()  # what to know before believing the numbers

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies, rad/s: one row per value, one column per mode."""
        return np.asarray(np.where(self.eigenvalues.imag > 0.0, np.abs(self.eigenvalues), 0.0 * np.abs(self.eigenvalues)))

    @property
    def damping_ratios(self) -> Floats:
        """Damping ratios, laid out as `frequencies`."""
        size = np.abs(self.eigenvalues)
        return np.asarray(np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0 * size) + 0.0)

    def __repr__(self) -> str:
        where = f", {self.pose}" if self.pose else ""
        return f"<Campbell {self.name!r}: {self.eigenvalues.shape[1]} modes over {len(self.values)} values of {self.over}{where}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"warning: {sentence}" for sentence in self.warnings)])


def campbell(
    system: AnySystem,
    over: Mapping[str, Numbers],
    *,
    parameters: Mapping[str, float] | None = None,
    steady: Mapping[str, float] | None = None,
    hold: Mapping[str, float | str] | None = None,
) -> Campbell:
    """Natural frequencies over a joint's speed or a parameter: campbell(system, over={"shaft.angle": np.linspace(0, 600, 61)}).

    If `over` names a coordinate, it is held at each speed in turn; if it names a parameter, the equilibrium is found anew for each
    value. Each column tracks one mode by the similarity of the shapes. steady: constant speeds of other coordinates.
    hold: positions of joints, as in `equilibrium`. What holds them is found for each value, and the modes have them free under it.
    """
    from pliant.analysis.trim import effort_unit

    system = mechanism_of(system, "campbell")
    if not isinstance(over, Mapping) or len(over) != 1:
        raise ModelError.of("campbell", "over", "must name one coordinate or parameter and its values", over)
    ((name, given),) = over.items()
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)):
        raise ModelError.of("campbell", f"over[{name!r}]", "must be a non-empty list of finite numbers", given)
    rates = [f"{link.name}.{rate}" for link in system.links.values() for rate in link.rates]
    known = [*rates, *system.parameters]
    if name not in known:
        raise ModelError.of("campbell", "over", f"must name one of {known}{check.did_you_mean(name, known)}", name)
    is_speed = name in rates
    modes = []
    for value in values.tolist():
        turning = {**(steady or {}), **({name: value} if is_speed else {})}
        numbers = {**(parameters or {}), **({} if is_speed else {name: value})}
        at = equilibrium(system, parameters=numbers, steady=turning, hold=hold) if turning or hold else None
        modes.append(linearise(system, at=at, parameters=numbers, inputs=(), outputs=()).modes())
    stable = tuple(bool(np.all(one.damping_ratios >= -1e-9)) for one in modes)
    said = dict(zip(values.tolist(), [one.warnings for one in modes], strict=True))
    if not hold and not is_speed:
        said = {value: (*_moved_far(one), *said[value]) for value, one in zip(values.tolist(), modes, strict=True)}
    units = {joint: "rad" if effort_unit(system, joint) == "N m" else "m" for joint in [*(hold or {}), *([name] * is_speed)]}
    unit = f"{units[name]}/s" if is_speed else system.parameters[name].unit or ""
    held = [f"{joint} held at {position:.4g} {units[joint]}" for joint, position in (at.hold if at is not None else {}).items()]
    pose = ", ".join(held) or ("" if is_speed else "each at its own equilibrium")
    return Campbell(system.name, name, values, is_speed, followed(modes), stable, unit, pose, _once(name, said))


def _moved_far(modes: NaturalModes) -> Iterator[str]:
    """Say where the equilibrium is far from the System's start."""
    from pliant.analysis.implicit_equations import ImplicitEquations

    assert modes.mechanism is not None  # modes of a linearisation
    system, operating, values = modes.mechanism.system, modes.mechanism.operating, modes.mechanism.parameters
    equations = ImplicitEquations.of(system, operating.t, values)
    moved = [(equations.tree.positions[slot.q], operating.q[slot.q], equations.start_q[slot.q])
             for slot in equations.tree.slots if not slot.is_ball]  # fmt: skip
    far = {name: (here, start) for name, here, start in moved if abs(here - start) > FAR}
    if far:
        where = ", ".join(f"{name} = {here:.4g} instead of {start:.4g}" for name, (here, start) in far.items())
        held = ", ".join(f"{name!r}: {start:.4g}" for name, (_, start) in far.items())
        yield f"the equilibrium was searched anew and is far from the start: {where}; hold={{{held}}} keeps that pose"


def _once(over: str, found: Mapping[float, Sequence[str]]) -> tuple[str, ...]:
    """The warnings of all values; of those that differ only in their numbers, the first."""
    alike: dict[str, list[tuple[float, str]]] = {}
    for value, sentences in found.items():
        for sentence in sentences:
            alike.setdefault(NUMBER.sub("", sentence), []).append((value, sentence))
    return tuple(f"{over} = {same[0][0]:g}{f' and {len(same) - 1} more' if len(same) > 1 else ''}: {same[0][1]}"
                 for same in alike.values())  # fmt: skip


def followed(modes: Sequence[NaturalModes]) -> Complexes:
    """Eigenvalues with one mode per column: at every value, modes are paired so that shapes and frequencies change least."""
    from scipy.optimize import linear_sum_assignment

    width = max(len(one) for one in modes)
    table = np.full((len(modes), width), np.nan + 0j)
    table[0, : len(modes[0])] = modes[0].eigenvalues
    columns, before = list(range(len(modes[0]))), modes[0]
    for row, here in enumerate(modes[1:], 1):
        rows, pairs = linear_sum_assignment(_unlikeness(before, here))
        chosen = dict(zip(pairs.tolist(), (columns[k] for k in rows), strict=True))
        spare = iter(k for k in range(width) if k not in set(chosen.values()))
        columns = [chosen[k] if k in chosen else next(spare) for k in range(len(here))]
        table[row, columns] = here.eigenvalues
        before = here
    return table


def _unlikeness(a: NaturalModes, b: NaturalModes) -> Floats:
    """For each pair of modes: 1 - MAC of the shapes, plus the frequency ratio in octaves."""
    product = np.abs(a.shapes.conj().T @ b.shapes) ** 2
    sizes = np.outer(np.sum(np.abs(a.shapes) ** 2, axis=0), np.sum(np.abs(b.shapes) ** 2, axis=0))
    slow = 1e-6 * max(float(np.max(np.abs(a.eigenvalues), initial=0.0)), 1e-300)
    logs = [np.log(np.abs(one.eigenvalues) + slow) for one in (a, b)]
    unlike = 1.0 - product / np.where(sizes > 0.0, sizes, 1.0)
    return np.asarray(UNLIKE * unlike + np.abs(logs[0][:, None] - logs[1]) / np.log(2.0))

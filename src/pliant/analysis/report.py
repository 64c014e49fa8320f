"""The report of a run: its largest stresses, forces in joints, closures, contacts and struts, and maxima of motors and drives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from pliant.analysis.section_forces import SectionStudy
from pliant.analysis.section_warnings import ROWS, sparse_rows
from pliant.analysis.stresses import outlined, stress_arrays
from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.system import System
from pliant.results import rich_display
from pliant.results.contacts import ContactRecord
from pliant.results.csv import write_table
from pliant.results.result import Result
from pliant.results.sections import FORCES, warnings_of_sections
from pliant.results.shown_units import ShownUnits, shown_unit
from pliant.results.table import QUANTITIES, STATES

STRESS, CONTACT = "equivalent_stress", "normal_force"
# By quantity: what it is called, its unit, and the dimension of its parts
REPORTED = {
    STRESS: ("stress (von Mises)", "Pa", "beam"),
    "reaction_force": ("joint force", "N", "body"),
    "reaction_moment": ("joint moment", "N m", "body"),
    "closure_force": ("closure force", "N", "closure"),
    "closure_moment": ("closure moment", "N m", "closure"),
    CONTACT: ("contact force", "N", "pair"),
    "strut_force": ("strut force", "N", "strut"),
    "motor_torque": ("motor torque", "N m", "motor"),
    "motor_speed": ("motor speed", "rad/s", "motor"),
    "effort": ("drive effort", "N m or N", "drive"),
}
SHARP = 1.0 - math.cos(math.pi / ROWS)  # how far a half sine with so few rows falls from one row to the next: more are too few
BEAMS = ("beam", "telescopic")  # kinds of bodies in a drawing that have sections
ROUND_OFF = 1e-12  # of the largest load, in SI: what is smaller, such as the moment in a hinge, is zero
LEAN = "rows hold the state alone, so that loads were examined at some steps only; keep reaction_force, or another load, too"
LEAST_ROWS = 40  # of a selection
MOST_CURVED = 50_000  # rows among which a selection is made: about 3 s for each beam
EFFORTS = {"m": "N", "rad": "N m"}  # by the unit of the coordinate


@dataclass(frozen=True)
class Largest:
    """The largest magnitude of a quantity of one part over a run; nan if it is not known, and then `warnings` say why."""

    quantity: str  # a name of the result's table, equivalent_stress, closure_force or closure_moment
    part: str  # beam, body, closure, contact pair, strut, motor or drive
    value: float  # in its unit
    unit: str  # SI
    time: float  # s, when
    place: float | None = None  # m, of a stress: distance from the beam's root
    between_rows: bool = False  # whether the run looked between its saved rows, too
    warnings: tuple[str, ...] = ()  # what to know before believing the value
    of_rows: str = ""  # such as "5000 of 15001 rows", if only a selection of rows was looked at

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def words(self) -> str:
        """Value, place and time in SI."""
        return self.said({})

    def said(self, shown: ShownUnits) -> str:
        """12.3 MPa at t = 0.2 s, 0.1 m from its root; shown: the units of the model file."""
        if not self.known:
            return "not known"
        metre, name = shown_unit("m", shown)
        where = "" if self.place is None else f", {self.place / metre:.4g} {name} from its root"
        size, unit = (1e6, "MPa") if self.unit == "Pa" else shown_unit(self.unit, shown)
        seen = "" if self.between_rows else f" (from {self.of_rows or 'rows'})"
        return f"{self.value / size:.5g} {unit} at t = {self.time:.6g} s{where}{seen}"


class Report(tuple[Largest, ...]):
    """The largest values of a run, quantity by quantity; it prints as a table, its warnings below."""

    def of(self, quantity: str) -> Report:
        """The rows of one quantity."""
        return Report(one for one in self if one.quantity == str(quantity))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before believing the numbers, each sentence once."""
        return tuple(dict.fromkeys(sentence for one in self if one.known for sentence in one.warnings))

    def rows(self, most: int | None = None, shown: ShownUnits | None = None) -> list[tuple[str, str, str]]:
        """(quantity, part, value with unit, time and place); most: of each quantity; shown: the units of the model file."""
        rows = []
        for quantity, (name, _, _) in REPORTED.items():
            known, unknown = (Report(one for one in self.of(quantity) if one.known is knows) for knows in (True, False))
            rows += [(name, one.part, one.said(shown or {})) for one in known[:most]]
            if most is not None and len(known) > most:
                rows.append((name, f"and {len(known) - most} more", "all smaller"))
            if unknown:
                rows.append((name, ", ".join(one.part for one in unknown), f"not known: {unknown[0].warnings[0]}"))
        return rows

    def to_csv(self, path: str | Path) -> None:
        """Write a line for each value."""
        heads = ["quantity", "part", "value", "unit", "time [s]", "place [m]", "between_rows", "warnings", "of_rows"]
        told = ([getattr(one, of.name) for of in fields(one)] for one in self)
        write_table(path, heads, ([*values[:-2], "; ".join(values[-2]), values[-1]] for values in told))

    def __str__(self) -> str:
        rows = self.rows()
        if not rows:
            return "nothing to report"
        wide = [max(len(row[k]) for row in rows) + 2 for k in range(2)]
        lines = [f"{quantity:<{wide[0]}}{part:<{wide[1]}}{words}" for quantity, part, words in rows]
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings)])

    def _repr_html_(self) -> str:
        return rich_display.table(("quantity", "part", "largest"), self.rows()) + rich_display.paragraphs(self.warnings)


def report(result: Result, system: System | None = None, *, most_stressed: int | None = None) -> Report:
    """The largest stresses, loads, contact forces, motor torques and speeds of a run, by part, with their times.

    Contact forces are exact to the step. Other loads were looked at between the saved rows, too: at every step while a contact was
    closed, where equations change, and where rates and accelerations are larger than ever. Stresses come from saved rows. A value
    carries a warning where rows are too far apart, or modes too few. Loads of the size of round-off are left out. system: as for
    `stresses`. most_stressed: if rows times beams exceed it, stresses come from a selection of about so many: rows
    evenly over the run, those at the largest peaks of curvature and loads, and all around the largest stress of these.
    """
    check.instance("report", "result", result, Result, "a Result")
    if not len(result.time):
        return Report()
    loads = [*_loads(result, system), *_contacts(result)]
    least = ROUND_OFF * max((one.value for one in loads), default=0.0)
    every = [*_stresses(result, system, most_stressed), *(one for one in loads if one.value > least)]
    order = {quantity: k for k, quantity in enumerate(REPORTED)}
    return Report(sorted(every, key=lambda one: (order[one.quantity], -one.value if one.known else math.inf)))


# ---- loads


def _loads(result: Result, system: System | None) -> Iterator[Largest]:
    """Extremes that the run noted; of results that have none, those of the rows."""
    units = _effort_units(result, system)
    noted = result.extremes.largest if result.extremes is not None else {}
    jumps = result.extremes.jumps if result.extremes is not None else {}
    unseen = () if any(name not in STATES for name in result.values) else (LEAN,)
    for quantity, (_, unit, _) in REPORTED.items():
        for part, (value, t) in noted.get(quantity, {}).items():
            said = unseen + _passed_over(quantity, part, t, jumps.get(quantity, {}).get(part, 0.0))
            yield Largest(quantity, part, value, units.get(part, unit) if quantity == "effort" else unit, t, None, True, said)
        if quantity not in noted and quantity in result.values and quantity != CONTACT:
            yield from _of_rows(result, quantity, unit, units if quantity == "effort" else {})


def _of_rows(result: Result, quantity: str, unit: str, units: Mapping[str, str]) -> Iterator[Largest]:
    parts = result.labels[QUANTITIES[quantity].dims[0]]
    if parts:
        sizes = np.linalg.norm(np.asarray(result.values[quantity]).reshape(len(result.time), len(parts), -1), axis=2)
        yield from (_of_series(result, quantity, part, units.get(part, unit), sizes[:, k]) for k, part in enumerate(parts))


def _effort_units(result: Result, system: System | None) -> dict[str, str]:
    """The units of efforts by drive, as far as the model and its coordinates tell."""
    from pliant.analysis.recorded_motion import system_of  # casadi comes in with it

    if result.drawing is None or not result.labels["drive"]:
        return {}
    units = {name: EFFORTS.get(unit, "") for name, unit in result.drawing.units.items()}
    found = {f"{name} motion": unit for name, unit in units.items() if unit}
    try:
        known = system_of(result, "report") if system is None else system
    except ModelError:
        return found
    driven = {name: drive.coordinate for name, drive in known.drives.items()}
    driven |= {name: motor.coordinate for name, motor in known.motors.items()}
    return found | {name: unit for name, coordinate in driven.items() if (unit := units.get(coordinate))}


def _contacts(result: Result) -> Iterator[Largest]:
    own: dict[str, list[ContactRecord]] = {pair: [] for pair in result.labels["pair"]}
    for touch in result.contacts:
        own.setdefault(touch.pair, []).append(touch)  # pairs of contacts among shapes have records alone
    for pair, touches in own.items():
        if touches:
            hardest = max(touches, key=lambda touch: touch.peak_force)
            yield Largest(CONTACT, pair, hardest.peak_force, hardest.units[1], hardest.peak_time, None, True)
        elif result.extremes is None and CONTACT in result.values:  # nothing was integrated
            forces = np.asarray(result.values[CONTACT])[:, list(result.labels["pair"]).index(pair)]
            yield _of_series(result, CONTACT, pair, QUANTITIES[CONTACT].unit, forces)


def _of_series(result: Result, quantity: str, part: str, unit: str, sizes: Floats) -> Largest:
    """The largest of the rows, with a warning if it exceeds both of its neighbours by much."""
    known = np.nan_to_num(np.abs(sizes))
    row = int(np.argmax(known))
    beside = max(known[max(row - 1, 0)], known[min(row + 1, known.size - 1)])
    value, t = float(known[row]), float(result.time[row])
    said = _passed_over(quantity, part, t, 1.0 - float(beside) / value if value > 0.0 else 0.0)
    return Largest(quantity, part, value, unit, t, warnings=said)


def _passed_over(quantity: str, part: str, t: float, jump: float) -> tuple[str, ...]:
    """Warn of a value so far above all that was examined next to it that a larger one may lie between."""
    if jump <= SHARP:
        return ()
    name = REPORTED[quantity][0]
    return (
        f"{name} of {part}: what was examined just before and after t = {t:.6g} s is at least {100.0 * jump:.0f} % smaller, "
        "so that a larger value may lie between; save rows closer together",
    )


# ---- stresses


def _stresses(result: Result, system: System | None, most: int | None) -> Iterator[Largest]:
    beams = [body.name for body in result.drawing.bodies if body.kind in BEAMS] if result.drawing is not None else []
    if result.sections is not None and STRESS in result.sections:
        data = result.sections
        said = [sentence for sentence in warnings_of_sections(data) if sentence not in result.warnings]
        names = [str(name) for name in data["beam"].values]
        yield from _largest_stresses(result, names, data[STRESS].values, data["x"].values, said)
        yield from (_unknown(name, f"the stresses in the result leave {name} out") for name in beams if name not in names)
    elif most is not None and len(result.time) * len(beams) > most:
        yield from _of_selection(result, system, beams, most)
    elif beams:
        yield from _all_computed(result, system, beams)


def _of_selection(result: Result, system: System | None, beams: Sequence[str], most: int) -> Iterator[Largest]:
    """Stresses of rows that promise the largest ones, then of all rows around the largest of these."""
    rows = _telling_rows(result, system, beams, max(most // len(beams), LEAST_ROWS))
    first = [one for one in _all_computed(_taken(result, rows), system, beams) if one.known]
    around = []
    for one in first:
        k = int(np.searchsorted(np.asarray(result.time)[rows], one.time))
        begin, end = rows[max(k - 1, 0)], rows[min(k + 1, rows.size - 1)] + 1
        around.append(np.arange(max(begin, rows[k] - most), min(end, rows[k] + most)))
    chosen = np.unique(np.concatenate([*around, rows[:1]]))
    apart = set(sparse_rows(_taken(result, rows))) | set(sparse_rows(_taken(result, chosen)))  # of the selections, not of the run
    for one in _all_computed(_taken(result, chosen), system, beams):
        said = [sentence for sentence in one.warnings if sentence not in apart]
        seen = np.union1d(rows, chosen).size
        yield replace(one, warnings=(*sparse_rows(result), *said) if one.known else one.warnings,
                      of_rows=f"{seen} of {len(result.time)} rows")  # fmt: skip


def _telling_rows(result: Result, system: System | None, beams: Sequence[str], most: int) -> Ints:
    """Half of them evenly over the run, the others at the largest peaks of the beams' curvature and of the loads in joints."""
    looked = np.linspace(0, len(result.time) - 1, min(len(result.time), MOST_CURVED)).astype(np.int64)
    taken = _taken(result, looked)
    columns = [series for name in beams for series in _of_curvature(taken, system, name)]
    for name in ("reaction_force", "reaction_moment"):
        columns += list(np.linalg.norm(taken.values[name], axis=2).T) if name in taken.values else []
    found = [np.linspace(0, looked.size - 1, min(most // 2, looked.size)).astype(np.int64)]
    each = max((most - most // 2) // max(len(columns), 1), 1)
    for column in columns[:most]:
        inner = np.nan_to_num(column)
        peaks = np.flatnonzero((inner[1:-1] >= inner[:-2]) & (inner[1:-1] >= inner[2:])) + 1
        found.append(peaks[np.argsort(-inner[peaks], kind="stable")[:each]])
    return looked[np.unique(np.concatenate(found))]


def _of_curvature(result: Result, system: System | None, beam: str) -> list[Floats]:
    """The stress of a beam in every row as its modes have it: computed in a hundredth of the time, to find rows, not to report."""
    try:
        study = SectionStudy(result, system, None, [beam], "curvature", "report")
        arrays, sections = study.arrays()[0], outlined(study)
    except ModelError:
        return []
    return [np.nan_to_num(stress_arrays(sections, {name: arrays[name] for name in FORCES})[STRESS]).max(axis=(1, 2))]


def _taken(result: Result, rows: Ints) -> Result:
    """The result with some of its rows."""
    values = {name: np.asarray(array)[rows] for name, array in result.values.items()}
    return replace(result, time=np.asarray(result.time)[rows], values=values)


def _all_computed(result: Result, system: System | None, beams: Sequence[str]) -> list[Largest]:
    try:
        return _computed(result, system, beams)
    except ModelError:  # some of them cannot be known
        return list(_one_by_one(result, system, beams))


def _one_by_one(result: Result, system: System | None, beams: Sequence[str]) -> Iterator[Largest]:
    for name in beams:
        try:
            yield from _computed(result, system, [name])
        except ModelError as trouble:
            yield _unknown(name, str(trouble))


def _computed(result: Result, system: System | None, beams: Sequence[str]) -> list[Largest]:
    study = SectionStudy(result, system, None, beams, "balance", "report")
    sections = outlined(study)
    arrays, said = study.arrays()
    stress: Mapping[str, Floats] = stress_arrays(sections, {name: arrays[name] for name in FORCES})
    return list(_largest_stresses(result, study.beams, stress[STRESS], arrays["x"], said))


def _largest_stresses(result: Result, beams: Sequence[str], stress: Floats, x: Floats, said: Sequence[str]) -> Iterator[Largest]:
    """stress: (rows, beams, stations); x: the same, or without rows if lengths stay."""
    along = np.broadcast_to(x, stress.shape)
    for k, name in enumerate(beams):
        own = np.nan_to_num(stress[:, k])
        found = _of_series(result, STRESS, name, "Pa", own.max(axis=1))
        row, station = np.unravel_index(int(np.argmax(own)), own.shape)
        place, told = float(along[row, k, station]), tuple(dict.fromkeys([*said, *found.warnings]))
        yield Largest(STRESS, name, found.value, "Pa", found.time, place, False, told)


def _unknown(beam: str, why: str) -> Largest:
    return Largest(STRESS, beam, math.nan, "Pa", math.nan, warnings=(why,))

"""A mechanism as a WebAssembly module with the memory of a run, and everything that a page must know to run it.

The memory is that of a run that `simulate` has prepared but not begun. The loop, the method and the kernels are those of every run;
`compiled_loops` compiles them for this processor, `codegen.wasm` for a browser's. What a slider changes is computed in the module
(the constants of the equations) or looked up in tables (numbers that follow from parameters by Python).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.llvm import kernel_text
from pliant.codegen.standalone import LoopSource, Program
from pliant.codegen.wasm import wasm_module
from pliant.codegen.wasm_module import WasmModule
from pliant.errors import ModelError, SolveError
from pliant.host.stages import Stages
from pliant.integrate.members import TAKE_UP
from pliant.integrate.memory.run_record import RUN, TOUCH
from pliant.integrate.methods.method import Method
from pliant.live.pulls import Pull, with_pulls
from pliant.live.sliders import Ranges, Slider, sliders_of
from pliant.live.tables import Table, tabulated
from pliant.results.drawing import BodyDrawing, Drawing
from pliant.run.image import Image
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.prepare import Compiled, compile_system
from pliant.run.simulate import Run, weight_of
from pliant.run.standalone import MOST_PIECES, WRITTEN_FIRST, called_by
from pliant.run.starts import start_rules
from pliant.run.system_memory import SystemMemory
from pliant.run.theta import structure_aside
from pliant.show.drawing import draw
from pliant.trace.layout import CONSTANTS
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.lowering import every_number
from pliant.trace.traced_system import TracedSystem, pair_numbers

STACK = 2**18  # bytes
PAGE = 2**16  # bytes: what memory is counted in
# Arrays and fields that the page's script reads or writes.
_READ = frozenset(("run", "batch", "run.work", "run.p", "run.y", "run.row_t", "run.row_y", "run.row_observed", "run.finished",
                   "run.touch", "run.hit", "run.piece_head", "run.piece_end", "batch.y", "batch.p", "batch.numbers",
                   "batch.weight", "batch.start", "numbers", "prepared", "run.plan", "run.y_try"))  # fmt: skip
_FIELDS = frozenset((
    "t", "h", "t_stop", "budget", "flushed", "n_touches", "n_rows", "accepted", "rejected", "rhs_evaluations", "piece", "entering",
    "starting", "restart", "waiting", "pausing", "n_plan", "next_save", "first_row", "max_step", "new_phase",
))  # fmt: skip
DRAWN = 1e6  # times the accuracy of what the equations read: enough for a picture
HALVINGS = 6  # of ranges, before it is said that the mechanism does not exist there
MARKED = 0.7312941783  # a value that no other number has
TAKE = "take_up"  # a loop of the module, beside those of every run
PREPARE = "prepare"


class NotForABrowser(ModelError):
    """A mechanism or a method that the module cannot run; the message says why."""


@dataclass(frozen=True)
class Ingredients:
    """What defines a run besides its structure, in the order of the table."""

    numbers: Floats  # of the equations
    start: Floats  # y
    pairs: Floats
    weight: Floats
    heads: Floats  # of p, by pieces of time
    ends: Floats  # of these pieces, s
    drawing: Floats  # what the picture is made of: see `drawn_numbers`

    @property
    def vector(self) -> Floats:
        return np.concatenate([np.ravel(getattr(self, own.name)) for own in fields(self)])


@dataclass(frozen=True, eq=False)
class LiveMachine:
    """A mechanism prepared for a page: the run in its memory, its code, its sliders."""

    compiled: Compiled
    run: Run
    tree_at: Callable[[Mapping[str, float]], Any]  # the tree at other values of parameters
    sliders: tuple[Slider, ...]
    pulls: list[dict[str, Any]]
    table: Table
    parts: Mapping[str, slice]  # of the table's vector
    program: Program  # that the module was made from
    module: WasmModule
    image: Image
    contents: bytes
    addresses: Mapping[str, str]  # fields of the record, with the names of the kernels whose addresses they hold

    def spec(self) -> tuple[dict[str, Any], bytes]:
        """What the page's script must know, and the contents of memory, followed by the numbers of tables."""
        run, traced, places = self.run.stepper.memory.run, self.compiled.traced, self.image.places
        numbers, changes = [self.table.base], []
        at = self.table.base.size
        for change in self.table.changes:
            shape = change.coefficients.shape
            changes.append({"numbers": change.numbers, "entries": change.entries.tolist(), "shape": shape[:-1], "first": at})
            numbers.append(change.coefficients.ravel())
            at += change.coefficients.size
        contents = self.contents.ljust(-(-len(self.contents) // 8) * 8, b"\0")
        preparation, layout = traced.preparation, traced.layout
        heads = self.run.stepper.memory.arrays["piece_head"]
        record = places["run"]
        kernels = [[f"run.{field}", name] for field, name in self.addresses.items()]
        own = {f"run.{name}": record + 8 * k for k, name in enumerate(RUN.names or ()) if name in self.addresses}
        own |= {f"run.updates[{k}]": places["run.updates"] + 8 * k for k in range(int(run["n_updates"]))}
        spec = {
            "pages": -(-self.image.end // PAGE) + 1,
            "begin": self.image.begin,
            "end": self.image.end,
            "contents": len(contents),
            "places": {**{name: place for name, place in places.items() if name in _READ}, **own},
            "fields": {name: k for k, name in enumerate(RUN.names or ()) if name in _FIELDS},
            "kernels": kernels,
            "n": int(run["n"]),
            "observed": int(run["n_observed"]),
            "events": int(run["n_events"]),
            "parameters": int(self.run.stepper.p.size),
            "head": int(heads.shape[1]),
            "pieces": int(run["n_pieces"]),
            "constants": [layout.p[CONSTANTS].start, preparation.count],
            "prepared": len(preparation.program.outputs),
            "answers": preparation.answers.tolist(),
            "touch": TOUCH,
            "pairs": [{"closed": slots.closed, "impulse": slots.impulse, "lost": slots.lost, "rubbed": slots.rubbed}
                      for slots in traced.pairs],
            "parts": {name: [part.start, part.stop] for name, part in self.parts.items()},
            "table": {"base": [0, self.table.base.size], "changes": changes, "error": self.table.error},
            "slots": self.module.table,
            "pulls": self.pulls,
            "updates": int(run["n_updates"]),
            "sliders": [{"name": s.name, "value": s.value, "low": s.low, "high": s.high, "unit": s.unit, "place": s.place}
                        for s in self.sliders],
        }  # fmt: skip
        return spec, contents + np.concatenate(numbers).tobytes()


def live_machine(
    system: AnySystem,
    t_end: float,
    *,
    t_start: float = 0.0,
    sliders: Sequence[str] | Ranges | None = None,
    method: Method,
    rows: int = 1001,
    parameters: Mapping[str, float] | None = None,
    formulation: str = "articulated",
) -> LiveMachine:
    """Prepare a mechanism for a page; raises NotForABrowser if it cannot be. method: one that never turns into another."""
    system = mechanism_of(system, "page")
    compiled = compile_system(system, formulation, near=method.near, t_start=t_start, parameters=parameters)
    chosen = sliders_of(compiled, sliders)
    pulled, pulls = with_pulls(system)
    compiled = compile_system(pulled, formulation, near=method.near, t_start=t_start, parameters=parameters)
    maker = _Maker(pulled, compiled, chosen, pulls, t_start, t_end)
    generic = maker.compiled
    times = np.linspace(t_start, t_end, rows)
    run = Run(generic, method, t_start, t_end, times, None, None, None, Stages())
    if not run.sampling.is_one_batch(MOST_PIECES):
        raise NotForABrowser.of("page", "controllers", "must be formulas: Python is not there to be called", system.name)
    table = maker.table_where_it_exists()
    return _assembled(maker, run, table, method)


class _Maker:
    """Computes what sliders change."""

    def __init__(
        self, system: Any, compiled: Compiled, sliders: Sequence[Slider], pulls: Sequence[Pull], t_start: float, t_end: float
    ) -> None:
        self.sliders, self.pulls, self.t_start, self.t_end = sliders, pulls, t_start, t_end
        self.values = dict(compiled.traced.parameter_values)
        self.known = SystemMemory.of(system, compiled.traced.original)
        names = [slider.name for slider in sliders if slider.place is None]
        self.names = names
        hands = [name for pull in pulls for name in pull.names]
        structure, self.places = structure_aside(self.known, compiled, [*names, *hands], self.values)
        self.structure = structure
        self.own = compiled.traced  # of this System; that of the structure may be another System's
        lowered = self._lowered(self.values)
        traced = self._traced(lowered, self.numbers(lowered, self.values), self.values)
        self.compiled = Compiled(traced, structure, compiled.seconds)
        here = self.ingredients(self.here)
        widths = {own.name: int(getattr(here, own.name).size) for own in fields(here)}
        ends = np.cumsum(list(widths.values())).tolist()
        self.parts = {name: slice(end - width, end) for (name, width), end in zip(widths.items(), ends, strict=True)}

    @property
    def here(self) -> Floats:
        return np.array([slider.value for slider in self.of_parameters])

    @property
    def of_parameters(self) -> list[Slider]:
        """The sliders that tables are over; those of starts are entries of the state."""
        return [slider for slider in self.sliders if slider.place is None]

    def _lowered(self, values: Mapping[str, float]) -> LoweredSystem:
        return self.known.lowered(self.own, values, still=False)

    def numbers(self, lowered: Any, values: Mapping[str, float]) -> Floats:
        """What the constants follow from: the values of parameters, which formulas read, then the numbers of parts."""
        return np.concatenate([list(values.values()), every_number(lowered.root).values[self.places]])

    def _traced(self, lowered: Any, numbers: Floats, values: Mapping[str, float]) -> TracedSystem:
        constants = self.structure.traced.preparation.constants(numbers)
        if constants is None or not np.all(np.isfinite(constants)):
            raise NotForABrowser.of("page", "sliders", "must leave the structure of the mechanism as it is", dict(values))
        return self.structure.traced.for_numbers(lowered, constants)

    def at(self, x: Floats) -> dict[str, float]:
        return {slider.name: float(own) for slider, own in zip(self.of_parameters, x, strict=True)}

    def ingredients(self, x: Floats) -> Ingredients:
        values = {**self.values, **self.at(x)}
        lowered = self._lowered(values)
        numbers = self.numbers(lowered, values)
        traced = self._traced(lowered, numbers, values)
        stops = [self.t_start, *(b for b in traced.breakpoints if self.t_start < b < self.t_end), self.t_end]
        heads = np.array([traced.head(begin, end) for begin, end in pairwise(stops)])
        return Ingredients(numbers, traced.y0, pair_numbers(traced), np.array([weight_of(traced)]), heads,
                           np.array(stops[1:]), drawn_numbers(draw(traced.system, traced.tree)))  # fmt: skip

    def knots(self) -> Floats:
        """Ends of pieces of time on which formulas of time are smooth, for every slider at either end of its range."""
        found = [self.compiled.traced.time_pieces(self.compiled.traced.y0, self.t_start, self.t_end).knots]
        for slider in self.of_parameters if found[0].size else ():
            for end in (slider.low, slider.high):
                values = {**self.values, slider.name: end}
                lowered = self._lowered(values)
                traced = self._traced(lowered, self.numbers(lowered, values), values)
                found.append(traced.time_pieces(traced.y0, self.t_start, self.t_end).knots)
        return np.unique(np.concatenate(found))

    def tree_at(self, values: Mapping[str, float]) -> Any:
        return self._lowered({**self.values, **values}).tree

    def numbers_of_pulls(self) -> list[dict[str, Any]]:
        """For every spring, the places of its stiffness and of the hand's coordinates among the numbers."""
        found = []
        for pull in self.pulls:
            places = []
            for name in pull.names:
                marked = {**self.values, name: MARKED}
                there = self.numbers(self._lowered(marked), marked)
                places.append(np.flatnonzero(there == MARKED).tolist())
            found.append({"name": pull.body, "numbers": places})
        return found

    def table_where_it_exists(self) -> Table:
        """The table; ranges that nobody asked for are halved until the mechanism exists in all of them."""
        for _ in range(HALVINGS):
            try:
                return self.table()
            except (ModelError, SolveError) as trouble:
                loose = [slider for slider in self.of_parameters if not slider.asked]
                if not loose or isinstance(trouble, NotForABrowser):
                    raise
                self.sliders = [slider if slider.asked else slider.nearer() for slider in self.sliders]
        return self.table()

    def table(self) -> Table:
        low, high = (np.array([getattr(slider, end) for slider in self.of_parameters]) for end in ("low", "high"))
        here = self.ingredients(self.here).vector
        size = np.zeros(here.size)
        size[self.parts["drawing"]] = DRAWN * np.max(np.abs(here[self.parts["drawing"]]), initial=0.0)

        def vector(x: Floats) -> Floats:
            found = self.ingredients(x).vector
            if found.size != here.size:
                raise NotForABrowser.of("page", "sliders", "must not change how many breakpoints there are", self.at(x))
            return found

        return tabulated(vector, low, self.here, high, size)


def _shapes(body: BodyDrawing) -> Iterator[Floats]:
    for own in body.fields:
        yield from (own.shape, own.bow)


def drawn_numbers(drawing: Drawing) -> Floats:
    """Points and fields of bodies, one after the other, points on the ground, then radii, point and normal of every contact."""
    bodies = [part for body in drawing.bodies for part in (body.rest, *_shapes(body))]
    contacts = [(c.radius, c.other_radius or 0.0, *c.point, *c.normal) for c in drawing.contacts]
    return np.concatenate([np.ravel(part).astype(np.float64) for part in (*bodies, drawing.ground, np.array(contacts))])


def _assembled(maker: _Maker, run: Run, table: Table, method: Method) -> LiveMachine:
    compiled = maker.compiled
    memory = run.stepper.memory
    memory.bind_knots(maker.knots())
    pieces = next(run.pieces_of_time(MOST_PIECES))
    runs = run.stepper.members(pieces)
    rules = start_rules(compiled, method.rtol)
    runs.judge_by(replace(rules, judges=rules.judges and not compiled.traced.tree.prescribed))
    called = called_by(run, method)
    prepare = {PREPARE: kernel_text(compiled.traced.preparation.program, fused=False)}
    program = called.program(prepare, {**called.loops, TAKE: LoopSource(TAKE_UP.function, TAKE_UP.arguments)})
    module = wasm_module(program)
    memory.bind_work(max(kernel.schedule.n_work for kernel in program.kernels.values()))
    image = Image(-(-(module.constants + STACK) // PAGE) * PAGE)
    image.add_record("run", memory.record, memory.arrays, WRITTEN_FIRST)
    batch, arrays = runs.record_and_arrays()
    count = compiled.traced.preparation.program
    own = {"y": np.zeros(memory.arrays["y"].size), "p": memory.arrays["p"].copy(), "weight": np.zeros(1),
           "numbers": np.zeros(memory.arrays["pair_numbers"].size), "start": np.zeros(1, dtype=np.int64)}  # fmt: skip
    batch = batch.copy()
    batch[0]["n_members"], batch[0]["n_p"] = 1, memory.arrays["p"].size
    image.add_record("batch", batch, {**arrays, **own}, WRITTEN_FIRST)
    image.add("numbers", np.zeros(max(count.n_p, 1)))
    image.add("prepared", np.zeros(max(len(count.outputs), 1)))
    contents = image.lay_out()
    return LiveMachine(compiled, run, maker.tree_at, tuple(maker.sliders), maker.numbers_of_pulls(), table, maker.parts, program,
                       module, image, contents, called.addresses)  # fmt: skip

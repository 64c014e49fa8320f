"""A mechanism as C: the memory of a run that is prepared but not begun, its loop, its equations, what others may set and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import casadi as ca
import numpy as np

from pliant.analysis.operation_counts import efforts_function
from pliant.arrays import Floats
from pliant.codegen.jacobian import slopes_along
from pliant.codegen.llvm import KernelText, kernel_text
from pliant.codegen.standalone import Program
from pliant.equations.c_source import comment
from pliant.errors import ModelError
from pliant.exchange.numbers import Followed, Given, Output, given_numbers, outputs_of
from pliant.host.stages import Stages
from pliant.integrate.memory.run_record import FINISHED, KERNELS, RUN, TOUCH
from pliant.integrate.methods.method import Method
from pliant.integrate.status import (
    AT_EVENT,
    CAME_OPEN,
    CHATTERS,
    DIVERGED,
    LOST_EVENT,
    NOT_A_NUMBER,
    SMALL_STEP,
    STEP_LIMIT,
)
from pliant.integrate.time_pieces import TimePieces
from pliant.model import check
from pliant.run.image import Image
from pliant.run.inputs import Inputs, parameters_of_efforts, with_inputs_apart
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.prepare import Compiled, compile_system
from pliant.run.simulate import Run, method_of, simulate
from pliant.run.standalone import MOST_PIECES, WRITTEN_FIRST, Called, called_by, loop_source, one_method
from pliant.trace.layout import FOREVER, WINDOW

STEP = 1e-6  # relative change of a parameter, to see what follows from it
ASIDE = 1.0  # relative change of an input on which formulas of time depend, to see where they may have edges
WORD = 8  # bytes
_FIELDS = ("budget", "flushed", "next_save", "n_rows", "pausing", "t_stop", "n_pieces", "piece", "entering", "restart", "waiting",
           "waiting_t", "waiting_h", "accepted", "rejected", "error_rows", "h", "t", "n_updates", "n_touches", "events",
           "events_closed")  # fmt: skip
_PLACES = ("run", "run.work", "run.p", "run.y", "run.row_y", "run.plan", "run.piece_end", "run.piece_due", "run.hit",
           "run.finished", "run.touch", "numbers", "expressed", "prepared", "slope.y", "slope.p", "slope.out",
           "efforts.y")  # fmt: skip
# What is said of a code with which a run ends, and the time.
SENTENCES = {
    AT_EVENT: "an event ended the run at t = %.10g s",
    SMALL_STEP: "the step became too short to advance time at t = %.10g s: a singularity, or equations too stiff for the method",
    NOT_A_NUMBER: "the equations gave nan or inf at t = %.10g s",
    STEP_LIMIT: "the limit of steps was used up at t = %.10g s",
    LOST_EVENT: "an event was passed without being located at t = %.10g s: this is a bug in pliant; please report the model",
    CAME_OPEN: "a closed loop came open after t = %.10g s",
    CHATTERS: "a force kept switching at t = %.10g s, without a value in between",
    DIVERGED: "the run became unstable at t = %.10g s: use a shorter step, or a method with error control",
    -101: "a time before t = %.10g s was asked for",  # BACKWARD of run.c
    -100: "after t = %.10g s a time was asked for beyond the t_end that this was prepared for",  # BEYOND_END of run.c
}


@dataclass(frozen=True, eq=False)
class Exported:
    """A mechanism as C, with the names of everything that can be set and read."""

    name: str
    compiled: Compiled
    method: Method
    t_start: float  # s
    t_end: float  # s; FOREVER: no end
    hosted: bool  # another integrator advances it
    given: tuple[Given, ...]
    outputs: tuple[Output, ...]
    followed: Followed
    sloped: tuple[int, ...]  # places in the observed row whose derivatives are there
    called: Called
    program: Program
    image: Image
    contents: bytes
    n_parameters: int  # of p

    @property
    def slopes(self) -> bool:
        """Whether directional derivatives exist."""
        return "slope" in self.program.kernels

    @property
    def pairs(self) -> tuple[str, ...]:
        return self.compiled.traced.columns["pair"]

    def sources(self, names: Sequence[str], variables: Sequence[tuple[int, int, int]] = (), token: str = "") -> dict[str, str]:
        """C files by name: those of this package that are named, and what they include."""
        own = {name: (resources.files("pliant.exchange") / "c" / name).read_text(encoding="utf-8") for name in names}
        return {**own, "mechanism.h": "\n".join(self._header(variables, token)), "mechanism.c": self._equations()}

    def _equations(self) -> str:
        called = [f"{{{self._field(field)}, (void (*)(void))pl_{name}}}" for field, name in self.called.addresses.items()]
        table = f"static const struct {{ int64_t field; void (*function)(void); }} called[] = {{{', '.join(called)}}};\n"
        return self.program.c() + table

    def _field(self, field: str) -> int:
        if field.startswith("updates["):
            return self.image.places["run.updates"] + WORD * int(field[8:-1])
        return self.image.places["run"] + WORD * (RUN.names or ()).index(field)

    def _header(self, variables: Sequence[tuple[int, int, int]], token: str) -> Iterator[str]:
        """mechanism.h: sizes, places in memory, contents, names."""
        traced, image = self.compiled.traced, self.image
        n = traced.y0.size
        sizes = {"N": n, "N_OBSERVED": self.compiled.observe.n_out, "N_EVENTS": len(traced.events), "N_PAIRS": len(traced.pairs),
                 "N_GIVEN": len(self.given), "N_ENTRIES": len(self.followed.entries), "N_EXPRESSED": len(self.followed.expressed),
                 "N_P": self.n_parameters, "N_SLOPES": n + len(self.sloped) if self.slopes else 0, "N_VARIABLES": len(variables),
                 "SIZE": image.end, "FINISHED": FINISHED, "TOUCH": TOUCH}  # fmt: skip
        if "efforts" in self.program.kernels:
            sizes["N_EFFORTS"] = len(traced.tree.rates)
            sizes["N_STATES"] = self.program.kernels["efforts"].program.n_y - len(traced.tree.rates)  # that these read
        yield f"/* {comment(self.name)}: what is where in the memory of a run. */"
        yield from ("#include <stdint.h>", *(["#define HOSTED"] if self.hosted else []))
        yield from (f"#define {name} {value}" for name, value in sizes.items())
        yield from (
            f"#define {name} {value!r}" for name, value in (("T_START", self.t_start), ("T_END", self.t_end), ("STEP", STEP))
        )
        yield f'#define TOKEN "{token}"'
        yield from (f"#define FIELD_{field} {self._field(field)}" for field in _FIELDS)
        yield from (f"#define PLACE_{place.replace('.', '_')} {image.places[place]}" for place in _PLACES)
        fields = [(self._field(name.removeprefix("run.")), place) for name, place in image.places.items()
                  if name.startswith("run.") and name.removeprefix("run.") in (RUN.names or ())]  # fmt: skip
        yield f"#define N_ADDRESSES {len(fields)}"
        yield f"#define N_CALLED {len(self.called.addresses)}"
        yield _table("struct { int64_t field, place; }", "addresses", (f"{{{field}, {place}}}" for field, place in fields))
        words = np.frombuffer(self.contents.ljust(-(-len(self.contents) // WORD) * WORD, b"\0"), dtype="<u8")
        yield _table("uint64_t", "contents", (f"{word:#x}" if word else "0" for word in words.tolist()))
        yield _table("struct { const char *name; double value, low, high; int number, start; }", "given",
                     (f"{{{quoted(one.name)}, {one.value!r}, {one.low!r}, {one.high!r}, {one.number}, {one.start}}}"
                      for one in self.given))  # fmt: skip
        yield _table("int", "entries", map(str, self.followed.entries))
        yield _table("int", "expressed", map(str, self.followed.expressed))
        yield _table("int", "pairs", (str(slots.closed) for slots in traced.pairs))
        yield _table("struct { int kind, place, slope; }", "variables", (f"{{{', '.join(map(str, one))}}}" for one in variables))
        yield f"#define N_SENTENCES {len(SENTENCES)}"
        yield _table("struct { int code; const char *text; }", "sentences",
                     (f"{{{code}, {quoted(text)}}}" for code, text in SENTENCES.items()))  # fmt: skip
        yield ""


def exported(
    caller: str,
    system: AnySystem,
    *,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    parameters: Sequence[str] | None,
    values: Mapping[str, float] | None,
    method: Any,
    t_start: float,
    t_end: float | None,
    formulation: str,
    hosted: bool,
    efforts: bool = False,
) -> Exported:
    """Prepare a mechanism; raises a ModelError if it cannot run without Python. efforts: with its inverse dynamics."""
    system = mechanism_of(system, caller)
    t_start = check.number(caller, "t_start", t_start, "s")
    end = FOREVER if t_end is None else check.number(caller, "t_end", t_end, "s")
    if not end > t_start:
        raise ModelError.of(caller, "t_end", f"must be > t_start = {t_start} s", t_end)
    method = _method(system, method, t_start, t_end, values, formulation)
    compiled = compile_system(system, formulation, near=method.near, t_start=t_start, parameters=values)
    original = compiled.traced.original
    names = parameters_of_efforts(original) if inputs is None else list(check.names(caller, "inputs", inputs))
    tuned = [] if parameters is None else list(check.names(caller, "parameters", parameters))
    if len({*names, *tuned}) < len(names) + len(tuned):
        raise ModelError.of(caller, "parameters", "must be different names, none of which is an input", tuned)
    apart = [name for name in (*names, *tuned) if name in original.parameters]
    compiled, places = with_inputs_apart(system, compiled, apart)
    known = Inputs(system, compiled, places, caller, "write another file with another value")
    if inputs is None:
        names = [name for name in names if _is_admitted(known, name)]
    given, followed = given_numbers(caller, compiled, names, tuned, known)
    run = _run(caller, compiled, method, t_start, end)
    run.stepper.memory.bind_knots(_knots(run, known, [one.name for one in given if one.number >= 0], t_start, end))
    return _laid_out(system.name, run, method, hosted, given, followed, outputs_of(caller, compiled, outputs), end,
                     efforts_function(compiled.traced.system) if efforts and not compiled.traced.rows else None)  # fmt: skip


def _is_admitted(known: Inputs, name: str) -> bool:
    try:
        known.admitted(name)
    except ModelError:
        return False
    return True


def _method(system: Any, method: Any, t_start: float, t_end: float | None, values: Any, formulation: str) -> Method:
    """One method, which never turns into another: of an automatic one, that which a run to t_end takes most of its steps with."""
    chosen, steps = method_of(method), {}
    if len(chosen.alternatives) > 1 and t_end is not None:
        options = {"t_start": t_start, "parameters": values, "formulation": formulation, "save": [t_start, t_end]}
        steps = simulate(system, t_end, method=chosen, **options).stats.get("steps_of", {})
    return one_method(chosen, steps)


def _run(caller: str, compiled: Compiled, method: Method, t_start: float, t_end: float) -> Run:
    traced = compiled.traced
    if t_end >= FOREVER and (traced.timed is not None or traced.system.controllers):
        rule = "must be given for a mechanism with formulas of time or sampled controllers, which are prepared up to it"
        raise ModelError.of(caller, "t_end", rule, None)
    run = Run(compiled, method, t_start, t_end, np.array([t_start]), None, None, None, Stages())
    if not run.sampling.is_one_batch(MOST_PIECES):
        raise ModelError.of(caller, "controllers", "must be formulas: Python is not there to be called", traced.system.name)
    memory, pieces = run.stepper.memory, next(run.pieces_of_time(MOST_PIECES))
    memory.enter_pieces(pieces.ends, pieces.heads, pieces.due, pieces.tail)
    memory.set(bare=1, pausing=1, telling=0)
    return run


def _knots(run: Run, known: Inputs, names: Sequence[str], t_start: float, t_end: float) -> Floats:
    """Ends of pieces of time on which formulas of time are smooth, now and with other values of what they read."""
    traced, found = run.traced, [run.stepper.memory.arrays["knots"]]
    for name in names:
        if known.admitted(name).timed:
            here, bounds = known.values[name], known.admitted(name).bounds
            p = traced.parameters(t_start, t_end)
            p[traced.layout.p[WINDOW]] = -FOREVER, FOREVER
            known.put(name, float(np.clip(here + ASIDE * (abs(here) or 1.0), *bounds)), p)
            pieces: TimePieces = traced.time_pieces(traced.y0, t_start, t_end, p)
            found.append(pieces.knots)
            known.put(name, here, p)
    return np.unique(np.concatenate(found))


def _laid_out(
    name: str, run: Run, method: Method, hosted: bool, given: Sequence[Given], followed: Followed, outputs: Sequence[Output],
    t_end: float, efforts: ca.Function | None,
) -> Exported:  # fmt: skip
    compiled, memory, n = run.compiled, run.stepper.memory, run.traced.y0.size
    sloped = tuple(sorted({one.place for one in outputs if one.place >= 0}))
    called = called_by(run, method)
    if hosted:
        wanted = ("rhs", "observe", "events_open", "events_closed", "events", "project", "closures", "impact")
        own = {field: kernel for field, kernel in called.addresses.items() if field in wanted or field.startswith("updates[")}
        called = replace(called, addresses=own, kernels={k: called.kernels[k] for k in own.values()})
    more = {"expressions": kernel_text(followed.expressions, fused=False), "prepare": kernel_text(followed.prepare, fused=False)}
    more |= _slope(compiled, sloped, followed.entries) if efforts is None else {"efforts": kernel_text(efforts, fused=False)}
    loops = {word: loop_source("loop.hosted", word.upper()) for word in ("begin", "happen", "has_work", "indicate")}
    program = called.program(more, loops if hosted else called.loops)
    memory.bind_work(max(kernel.schedule.n_work for kernel in program.kernels.values()))
    image = Image(0)
    record = memory.record.copy()
    for field in (*KERNELS, "events"):
        record[field] = 0  # addresses in this process
    image.add_record("run", record, {**memory.arrays, "updates": np.zeros_like(memory.arrays["updates"])}, WRITTEN_FIRST)
    n_p = int(run.stepper.p.size)
    room = {"expressed": len(followed.expressed), "prepared": len(followed.entries), "slope.y": 2 * n,
            "slope.p": n_p + len(followed.entries), "slope.out": n + len(sloped),
            "efforts.y": 0 if efforts is None else efforts.numel_in(1)}  # fmt: skip
    image.add("numbers", followed.numbers)
    for own_name, size in room.items():
        image.add(own_name, np.zeros(size + 1))
    contents = image.lay_out()
    return Exported(name, compiled, method, float(run.stops[0]), t_end, hosted, tuple(given), tuple(outputs), followed, sloped,
                    called, program, image, contents, n_p)  # fmt: skip


def _slope(compiled: Compiled, sloped: Sequence[int], entries: Sequence[int]) -> dict[str, KernelText]:
    traced = compiled.traced
    observe = traced.observe
    if not observe.is_a("SXFunction"):
        return {}
    t, y, p = (ca.SX.sym(name, observe.numel_in(k)) for k, name in enumerate(("t", "y", "p")))
    rows = ca.Function("rows", [t, y, p], [observe(t, y, p)[list(sloped)]])
    found = slopes_along((traced.rhs, rows), entries)
    return {} if found is None else {"slope": kernel_text(found, fused=False)}


def quoted(text: str) -> str:
    """A string of C, whatever it contains."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'


def _table(kind: str, name: str, entries: Iterator[str] | Any) -> str:
    listed = list(entries)
    lines = [", ".join(listed[k : k + 8]) for k in range(0, len(listed), 8)] or ["0" if "struct" not in kind else "{0}"]
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "\n};"

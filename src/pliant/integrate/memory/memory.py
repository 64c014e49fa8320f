"""The memory of a run: the record passed to the compiled loops, and the arrays it points to.  Loops never allocate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.loop.group_kernels import RATES, ROW
from pliant.integrate.memory.run_record import (
    BLOCK,
    ENERGIES,
    EXTREMES,
    FINISHED,
    GRIP,
    JOINT_PLACES,
    KEPT,
    KERNELS,
    KNOCK,
    MOTION,
    NOTES,
    PAIR_NUMBERS,
    PAIR_PLACES,
    RUN,
    SAMPLES,
    STOPS,
    TOUCH,
)
from pliant.integrate.methods.tableaus import Tableau, hermite_rows

Floats = NDArray[np.float64]

IMPULSIVE_OPENINGS = 4  # most times that an impulsive contact can open at one event: it may let go and take hold again
LEAST_LOGGED = 256  # room for events and finished contacts before Python collects them


class Memory:
    """The record, and the arrays it points to."""

    def __init__(self, n: int, n_events: int, n_work: int, atol: Floats) -> None:
        self._record = np.zeros(1, dtype=RUN)
        self.run: Any = self._record[0]
        self.address = int(self._record.ctypes.data)  # address of the record, the argument of the compiled loop
        self.arrays: dict[str, NDArray[Any]] = {}
        self.kernel: Any = None  # kernel of the Jacobian: keeps its machine code alive
        self.loosened = 1.0  # factor on the requested tolerances: see `setup`
        padded = -(-n // BLOCK) * BLOCK
        self.set(n=n, n_padded=padded, n_events=n_events)
        self.bind(atol=atol, k=np.zeros((2, padded)))
        self.bind_alike(padded, np.float64, "zeros", "y", "y_new", "y_try", "y_kept", "spare", "steepest", "y_seen")
        self.bind_alike(n_events, np.float64, "g", "g_new", "g_try", "g_low", "g_high", "dead", "noise", "turned_t")
        self.bind_alike(n_events, np.int64, "side", "before", "required", "direction", "hit", "blind", "watched")
        self.bind_alike(n_events, np.uint8, "active", "kind", "was_watched")
        self.arrays["active"][:], self.arrays["kind"][:] = True, STOPS
        self.bind_phases(n_events)
        self.bind(longest=np.zeros(1), moving=np.zeros(2 * n), theta=np.zeros(SAMPLES), samples=np.zeros((SAMPLES, n_events)))
        self.bind_knots(np.zeros(0))
        self.bind_notes(0, n)
        self.bind_parameters(np.zeros(0), 0)
        self.bind_observed(0, 0)
        self.bind_rows(np.zeros(0), 0)
        self.bind_updates(np.zeros(0, dtype=np.int64), 0, 0, 0.0)
        self.bind_settling(0, 0, np.zeros(0, dtype=np.int64))
        self.bind_pieces(np.zeros(1), np.zeros((1, 0)))
        self.bind_tape(0)
        self.bind_work(n_work)

    def bytes_of_record(self) -> NDArray[np.uint8]:
        """A copy of the present record."""
        return self._record.view(np.uint8).copy()

    def take_record(self, record: NDArray[np.uint8]) -> None:
        """Overwrite the record with a copy from this or another run; arrays, kernels and the limit stay those here."""
        there, own = record.view(RUN)[0], {name: self.run[name].item() for name in (*KERNELS, "max_steps")}
        events = "events_closed" if there["events"] == there["events_closed"] else "events_open"
        self._record.view(np.uint8)[:] = record
        self.set(**own, events=own[events])
        for name, array in self.arrays.items():
            self.run[name] = array.ctypes.data

    @property
    def record(self) -> NDArray[Any]:
        """The record, as an array of one."""
        return self._record

    def floats_and_ints(self) -> tuple[Floats, NDArray[np.int64]]:
        """Views of the whole record, whose fields have eight bytes each; ten times faster than access by name."""
        return self._record.view(np.float64), self._record.view(np.int64)

    def set(self, **fields: float) -> None:
        for name, value in fields.items():
            self.run[name] = value

    def bind(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self.arrays[name] = held = np.ascontiguousarray(array)
            self.run[name] = held.ctypes.data if held.size else 0  # most arrays of most runs are empty

    def bind_alike(self, n: int, kind: type, *names: str) -> None:
        """Bind arrays of n zeros each, in one block of memory."""
        block: NDArray[Any] = np.zeros((len(names), n), dtype=kind)
        address = block.ctypes.data
        for name, row in zip(names, block, strict=True):
            self.arrays[name] = row
            self.run[name] = address
            address += row.nbytes

    def bind_parameters(self, p: Floats, changing: int) -> None:
        """Bind p, of which only the first entries may change."""
        self.set(n_parameters=changing)
        self.bind(p=p, p_seen=np.zeros(changing))

    def bind_knots(self, knots: Floats) -> None:
        self.set(n_knots=knots.size)
        self.bind(knots=knots)

    def bind_phases(self, n_events: int) -> None:
        """Bind the actions of events inside the loop (none by default) and memory for their results."""
        self.bind_alike(n_events, np.int64, "event_pair", "flag", "pressed", "reported", "turns")
        self.arrays["event_pair"][:] = self.arrays["flag"][:] = -1
        self.bind_pairs(np.zeros((0, PAIR_PLACES), dtype=np.int64), np.zeros((0, PAIR_NUMBERS)))
        room = max(LEAST_LOGGED, 2 * (2 + NOTES) * n_events)
        self.set(max_logged=room, near=-np.inf)
        self.bind_alike(room, np.float64, "log_t")
        self.bind_alike(room, np.int64, "log_event", "log_direction")

    def bind_pairs(self, places: NDArray[np.int64], numbers: Floats) -> None:
        """Bind the contacts, and memory for the data of each and for finished contacts."""
        n, openings = len(places), IMPULSIVE_OPENINGS if np.any(places[:, KNOCK] >= 0) else 1
        room = max(LEAST_LOGGED, 2 * openings * n) if n else 0
        self.set(n_pairs=n, max_touches=room, openings=openings)
        self.bind(pair_places=places, pair_numbers=numbers, touch=np.zeros((n, TOUCH)), finished=np.empty((room, FINISHED)))
        self.bind_alike(n, np.int64, "pair_start", "close_by")
        self.bind_joints(np.zeros((0, JOINT_PLACES), dtype=np.int64))

    def bind_joints(self, places: NDArray[np.int64]) -> None:
        """Bind the joints whose friction can stick."""
        n, holding = len(places), int(np.count_nonzero(self.arrays["pair_places"][:, GRIP] >= 0))
        self.set(n_joints=n, n_holding=holding + n)
        self.bind(joint_places=places, breaking=np.zeros(int(self.run["n_pairs"]) + n, dtype=np.int64))
        self.bind_alike(n, np.int64, "joint_start", "stuck", "asked_way")

    def bind_impacts(self, kernel: int, knocks: int, first_rate: int, rates: int, size: int) -> None:
        """Bind the kernel of responses to impulses, with this number of outputs."""
        self.set(impact=kernel, n_knocks=knocks, first_rate=first_rate, n_moving=rates)
        self.bind(impact_out=np.zeros(size), struck=np.zeros(int(self.run["n_pairs"]), dtype=np.int64))
        self.bind_alike(knocks, np.float64, "impulses", "compression")

    def bind_observed(self, kernel: int, n_observed: int) -> None:
        """Bind the kernel whose outputs are saved with every row; contacts are judged by them too."""
        self.set(observe=kernel, n_observed=n_observed, observe_row=kernel, n_row=n_observed, at_energy=-1)
        self.bind_alike(n_observed, np.float64, "observed", "observed_try", "doubt")

    def bind_sizes(self, places: NDArray[np.int64]) -> None:
        """Bind the observed vectors whose largest magnitude is kept."""
        self.set(n_sizes=len(places))
        self.bind(sizes=places, size_peaks=np.zeros((len(places), 2)))

    def bind_group(self, places: int, carriers: NDArray[np.int64], balls: int) -> None:
        """Bind the members of a group, by the body that carries each, and memory for the list of those that are near."""
        self.set(n_near=places, n_balls=balls, n_members=carriers.size)
        self.bind(carriers=carriers, sweep=np.arange(balls), found_pairs=np.zeros((places, 2), dtype=np.int64))
        self.bind(member_rows=np.zeros((carriers.size, ROW)), member_slopes=np.zeros((balls, RATES)), listed=np.zeros((balls, 3)))
        self.bind(first_of=np.zeros(balls, dtype=np.int64), chain=np.zeros(places, dtype=np.int64))

    def bind_updates(self, kernels: NDArray[np.int64], first: int, held: int, one_instant: float) -> None:
        """Bind the updates of sampled controllers: kernels, and the components of y that they write."""
        self.set(n_updates=kernels.size, first_held=first, n_held=held, one_instant=one_instant)
        self.bind(updates=kernels, held_new=np.zeros(held))

    def bind_settling(self, kernel: int, first: int, which: NDArray[np.int64]) -> None:
        """Bind the states of filters that start in equilibrium: the kernel of all own states, and which of them it writes."""
        self.set(settle=kernel, first_own=first, n_own=which.size)
        self.bind(settles=which, own_new=np.zeros(which.size))

    def bind_pieces(
        self, ends: Floats, heads: Floats, due: NDArray[np.bool_] | None = None, tail: NDArray[np.bool_] | None = None
    ) -> None:
        """Bind the pieces of time: the end of each, its head of p, the updates due at its beginning, and any at its end."""
        self.set(n_pieces=ends.size, n_head=heads.shape[1], piece=0)
        none = np.zeros((ends.size, int(self.run["n_updates"])), dtype=np.int64)
        self.bind(piece_end=ends, piece_head=heads, piece_due=none if due is None else due.astype(np.int64))
        self.bind(piece_tail=np.zeros(ends.size, dtype=np.int64) if tail is None else tail.astype(np.int64))

    def enter_pieces(
        self, ends: Floats, heads: Floats, due: NDArray[np.bool_] | None = None, tail: NDArray[np.bool_] | None = None
    ) -> None:
        """Let the loop begin with the first of these pieces of time."""
        self.bind_pieces(ends, heads, due, tail)
        self.arrays["p"][: heads.shape[1]] = heads[0]
        self.set(t_stop=float(ends[0]), entering=1)

    def bind_notes(self, recording: int, n: int) -> None:
        """Bind memory for the notes of recording events in a step."""
        count = NOTES * recording
        self.set(max_notes=count)
        self.bind(note_t=np.empty(count), note_y=np.empty((count, n)))
        self.bind_alike(count, np.int64, "note_event", "note_direction")

    def bind_rows(self, plan: Floats, capacity: int) -> None:
        n, n_row = int(self.run["n"]), int(self.run["n_row"])
        self.set(n_plan=plan.size, capacity=capacity)
        self.bind(plan=plan, row_t=np.empty(capacity), row_y=np.empty((capacity, n)), row_observed=np.empty((capacity, n_row)))

    def bind_tape(self, capacity: int) -> None:
        """Bind memory for steps on the tape before Python collects them; 0: none are recorded."""
        n, events, parameters = int(self.run["n"]), int(self.run["n_events"]), int(self.run["n_parameters"])
        self.set(max_tape=capacity)
        self.bind(
            tape_t=np.empty((capacity, 2)), tape_y=np.empty((capacity, n)), tape_end=np.empty((capacity, n)),
            tape_p=np.empty((capacity, parameters)), tape_hit=np.empty((capacity, events), dtype=np.int64),
        )  # fmt: skip

    def bind_course(self, first_added: int, n_added: int) -> None:
        """Bind memory for the history of a new run."""
        n, parameters = int(self.run["n"]), int(self.run["n_parameters"])
        extremes = np.zeros((n_added, EXTREMES))
        extremes[:, 0], extremes[:, 1] = np.inf, -np.inf
        self.bind(kept_t=np.empty(KEPT), kept_y=np.empty((KEPT, n)), kept_p=np.empty((KEPT, parameters)), extremes=extremes)
        self.bind_alike(ENERGIES + n_added, np.float64, "ledger", "ledger_start")
        self.set(first_added=first_added, n_added=n_added, n_kept=0, stride=1, to_skip=0)
        self.bind(largest_slopes=np.zeros(first_added))

    def bind_work(self, n_work: int) -> None:
        """Bind work memory for kernels; it grows if a kernel needs more."""
        if "work" not in self.arrays or self.arrays["work"].size < n_work:
            self.bind(work=np.zeros(max(n_work, 1)))

    def bind_tableau(self, tableau: Tableau) -> None:
        """Bind memory and coefficients of an explicit method; the present derivative is kept."""
        scheme, padded = packed(tableau), int(self.run["n_padded"])
        n_k = scheme["c"].size
        if self.arrays["k"].shape[0] < n_k:
            k = np.zeros((n_k, padded))
            k[0] = self.arrays["k"][0]
            self.bind(k=k)
        self.bind(**scheme, weights=np.zeros(n_k))
        self.set(stages=tableau.stages, extras=len(tableau.extra_a), terms=3 + len(tableau.dense))
        at_end = [i for i in range(1, tableau.stages) if tableau.c[i] == 1]
        self.set(error_rows=len(tableau.error), last_stage=max(at_end, default=0))
        self.set(error_needs_end=any(tableau.stages in row for row in tableau.error))

    def bind_implicit(self, arrays: dict[str, NDArray[Any]], stages: int, pairs: int, n_newton: int, n_rows: int) -> None:
        """Bind memory and coefficients of an implicit method."""
        n, padded = int(self.run["n"]), int(self.run["n_padded"])
        self.bind(**arrays, weights=np.zeros(max(stages, 2)))
        self.bind(**{name: np.zeros((stages, padded)) for name in ("z", "z_old", "slopes", "modes")})
        self.bind(right=np.zeros((2, padded)), scale=np.zeros(padded), spin=np.zeros(padded), seed=np.zeros(n + n_newton + 1))
        self.bind(column_out=np.zeros(padded), matrix=np.zeros(n_rows * (n_newton + 1)))
        # k_0 and k_1 are the derivatives at both ends
        self.set(stages=1, schemed=stages, pairs=pairs, n_newton=n_newton, n_rows_jacobian=n_rows)
        self.set(jacobian_known=0, factorised_h=0.0, fresh=1, contraction=0.0, contraction_factor=1.0, coupled=0)

    def bind_systems(self, chained: dict[int, int], coupled: bool) -> None:
        """Bind memory for the linear systems of an implicit method; chained: components whose rate is another component."""
        n, stages, pairs = (int(self.run[name]) for name in ("n_newton", "schemed", "pairs"))
        solved = [k for k in range(n) if k not in chained]
        size = len(solved)
        self.bind(chained=np.array(list(chained), dtype=np.int64), solved=np.array(solved, dtype=np.int64))
        self.bind(rate_of=np.array([solved.index(k) for k in chained.values()], dtype=np.int64))
        self.bind(compact=np.zeros((2, size)), lu=np.zeros((size, size)), lu_pairs=np.zeros((pairs, 2, size, size)))
        self.bind(pivots=np.zeros((1 + pairs, size), dtype=np.int64))
        rank = stages * size if coupled else 0
        self.bind(stage_matrices=np.zeros((stages if coupled else 0, self.arrays["matrix"].size)))
        self.bind(lu_coupled=np.zeros((rank, rank)), coupled_right=np.zeros(rank))
        self.bind(coupled_pivots=np.zeros(rank, dtype=np.int64))
        self.set(n_chained=len(chained), n_solved=size, may_couple=coupled)

    def bind_partition(self, rows: int, positions: int, ease: Floats) -> None:
        """Bind memory for constraints and for the coordinates that they determine."""
        m, rates = rows, ease.size
        self.bind(held=np.zeros(m * (2 + rates)), eliminated=np.zeros((m, rates)), reduced=np.zeros((m, m)))
        self.bind(**{name: np.zeros(m, dtype=np.int64) for name in ("reduced_pivots", "dependent", "former")})
        self.bind(change=np.zeros(m))
        self.bind(moved=np.zeros(int(self.run["n"]) + rates), placed=np.zeros(positions), ease=ease)
        self.set(n_constraints=m, n_positions=positions, n_rates=rates, partitions=0)

    def forget_motion(self) -> None:
        self._record.view(np.int64)[: len(MOTION)] = 0  # fields of eight bytes, at the head of the record
        self.set(effort=1.0, contraction_factor=1.0)


_PACKED: dict[int, tuple[Tableau, dict[str, NDArray[Any]]]] = {}  # by identity: tableaus are created once, on import


def packed(tableau: Tableau) -> dict[str, NDArray[Any]]:
    """A tableau as arrays, which no loop writes to."""
    if id(tableau) not in _PACKED:
        _PACKED[id(tableau)] = tableau, _pack(tableau)
    return _PACKED[id(tableau)][1]


def _pack(tableau: Tableau) -> dict[str, NDArray[Any]]:
    s, n_k = tableau.stages, tableau.stages + 1 + len(tableau.extra_a)
    rows = [sorted(row.items()) for row in (*tableau.a, tableau.b, *tableau.extra_a, *tableau.error)]
    dense = [*hermite_rows(tableau.b, s), *tableau.dense]
    return {
        "row_first": np.cumsum([0, *map(len, rows)], dtype=np.int64),
        "column": np.array([j for row in rows for j, _ in row], dtype=np.int64),
        "value": np.array([float(a) for row in rows for _, a in row]),
        "c": np.array([float(c) for c in (*tableau.c, 1, *tableau.extra_c)]),
        "dense": np.array([[float(row.get(j, 0)) for j in range(n_k)] for row in dense]),
    }

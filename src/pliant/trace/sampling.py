"""Traced updates of sampled controllers: the new values of all held outputs, as functions of (t, y, p)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.codegen.tracer import Scalar
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.noise import normal
from pliant.model.sampled import Sampled
from pliant.model.sensor import is_noisy
from pliant.model.system import System
from pliant.results.components import component_names
from pliant.results.table import OBSERVED
from pliant.scalar import PYTHON, called, check_returned, floor

SAMPLE, APPLY = "sample", "apply"


@dataclass(frozen=True)
class Instant:
    """Something that happens every period: a controller runs, or delayed outputs begin to act."""

    controller: str
    number: int  # of the controller
    kind: str  # SAMPLE or APPLY
    python: bool = False  # whether it must run in Python

    @property
    def function(self) -> str:
        """The name of the traced function."""
        return f"{self.kind}_{self.number}"


def instants_of(system: System) -> tuple[Instant, ...]:
    """Simultaneous instants happen in this order: delayed outputs, controllers in Python, then the others as declared."""
    controllers = list(enumerate(system.controllers.values()))
    due = [Instant(c.name, k, APPLY) for k, c in controllers if c.rest > 0.0]
    runs = [Instant(c.name, k, SAMPLE, c.python is not None) for k, c in controllers]
    return (*due, *sorted(runs, key=lambda instant: not instant.python))


class Measured(Mapping[str, Scalar]):
    """Numbers of a result by their names: measured["normal_force contact arm.tip"]."""

    def __init__(self, values: Sequence[Scalar], places: Mapping[str, int]) -> None:
        """places: the index of each name among the values."""
        self._values, self._places = values, places

    def __getitem__(self, name: str) -> Scalar:
        if name not in self._places:
            rule = f"must name a number of a result, such as 'tip_position arm y'{check.did_you_mean(name, self._places)}"
            raise ModelError.of("update", "measured", rule, name)
        return self._values[self._places[name]]

    def with_noise(self, system: System, controller: Sampled, t: Scalar) -> Measured:
        """With the noise of sensors, as the controller measures them at an instant."""
        values, instant = list(self._values), floor(t / controller.period + 0.5)
        for stream, (channel, sensor) in enumerate(system.channels.items()):
            if is_noisy(sensor):
                place = self._places[f"sensor {channel}"]
                values[place] = values[place] + sensor.noise * normal(float(sensor.seed), float(stream), instant)
        return Measured(values, self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def measured_places(labels: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The index of every observed number in the observed row, by name."""
    return {name: k for k, name in enumerate(component_names(OBSERVED, labels))}


class Holds:
    """Everything that controllers hold: outputs and memories, then delayed outputs, newest first."""

    def __init__(self, system: System, held: Sequence[Any], pending: Sequence[Any]) -> None:
        self._controllers = system.controllers
        self._held, self._pending = list(held), list(pending)

    @property
    def values(self) -> list[Any]:
        return [*self._held, *self._pending]

    def memory_of(self, name: str) -> dict[str, Any]:
        controller, first = self._controllers[name], self._first(name) + len(self._controllers[name].outputs)
        return dict(zip(controller.memories, self._held[first : first + len(controller.memories)], strict=True))

    def apply(self, name: str) -> None:
        """The oldest delayed outputs act from now on."""
        count, first, queue = len(self._controllers[name].outputs), self._first(name), self._queue(name)
        self._held[first : first + count] = self._pending[queue.stop - count : queue.stop]

    def put(self, name: str, outputs: Sequence[Any], memory: Mapping[str, Any]) -> None:
        """Store a controller's new outputs and memory; without a delay the outputs act at once."""
        controller, first = self._controllers[name], self._first(name)
        count = len(controller.outputs)
        self._held[first + count : first + len(controller.labels)] = [memory[key] for key in controller.memories]
        queue = self._queue(name)
        line = [*outputs, *self._pending[queue]]
        if controller.rest == 0.0:
            self._held[first : first + count] = line[len(line) - count :]
        self._pending[queue] = line[: len(line) - count]

    def _first(self, name: str) -> int:
        earlier = list(self._controllers).index(name)
        return sum(len(controller.labels) for controller in list(self._controllers.values())[:earlier])

    def _queue(self, name: str) -> slice:
        sizes = {key: controller.pending * len(controller.outputs) for key, controller in self._controllers.items()}
        first = sum(sizes[key] for key in list(sizes)[: list(sizes).index(name)])
        return slice(first, first + sizes[name])


def run_update(
    controller: Sampled,
    function: Any,
    arguments: tuple[Any, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]],
    memory: dict[str, Any],
) -> list[Any]:
    """Runs a controller's update, which also writes to its memory, and returns its outputs."""
    of = f" of sampled {controller.name!r}"
    if isinstance(function, Mapping):
        new = {name: called(formula, *arguments, memory, of=of) for name, formula in function.items()}
        memory.update((name, value) for name, value in new.items() if name in memory)
        return [new[name] for name in controller.outputs]
    before = list(memory)
    kind = "update" if controller.python is None else PYTHON
    outputs = outputs_of(controller, called(function, *arguments, memory, kind=kind, of=of, number=False))
    unknown = [name for name in memory if name not in before]
    if unknown:
        rule = f"must hold only the names given in start: {before}{check.did_you_mean(unknown[0], before)}"
        raise ModelError.of(f"sampled {controller.name!r}", "memory", rule, unknown[0])
    for value in (*outputs, *memory.values()):
        check_returned(f"sampled {controller.name!r}", value)
    return outputs


def outputs_of(controller: Sampled, given: Any) -> list[Any]:
    """The values that an update returned, in the order of the outputs."""
    part, names = f"sampled {controller.name!r}", controller.outputs
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise ModelError.of(part, "update", f"must return the outputs {list(names)}", list(given))
        return [given[name] for name in names]
    several = list(given) if isinstance(given, (tuple, list)) or (isinstance(given, np.ndarray) and given.ndim) else [given]
    if len(several) != len(names):
        raise ModelError.of(part, "update", f"must return {len(names)} outputs, {', '.join(names)}", f"{len(several)} of them")
    return several

"""pliant check: reads a model file and prints what it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pliant.cli.exits import WRONG, say, stop, write_json
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Set, load_model, missing_unit, say_unused
from pliant.errors import PliantError
from pliant.results.shown_units import ShownUnits, shown_number

if TYPE_CHECKING:
    from pliant.files import Model
    from pliant.model.parameter import Parameter


def check(file: ModelArgument, settings: Set = None, includes_outside: IncludesOutside = False, as_json: AsJson = False) -> None:
    """Check a model file and print its tree, parameters and run settings; with closed loops, also its degrees of freedom.

    Warns of numbers that hardly any mechanism has: gravity, stiffness, density, mass, slenderness, angles, depth of contacts.
    """
    from pliant.analysis.plausibility import implausible

    model = load_model(file, includes_outside, settings)
    left = _freedom(model) if model.system.closures else None
    warnings = [*(left[2] if left is not None else ()), *implausible(model.system)]
    if as_json:
        loops = {} if left is None else {"with_loops_closed": left[0], "implied_closures": list(left[1])}
        write_json(
            {
                "ok": True,
                **model_data(model),
                **loops,
                "unused_definitions": list(model.unused),
                "not_used": list(getattr(model.system, "unused", ())),
                "warnings": warnings,
            }
        )
        return
    say(model.system)
    if left is not None:
        implied = f"; redundant closures: {', '.join(left[1])}" if left[1] else ""
        say(f"{left[0]} degrees of freedom with the loops closed{implied}")
    for sentence in warnings:
        say(f"warning: {sentence}")
    for line in parameter_lines(model):
        say(line)
    say_unused(model)
    say(model.run if model.run is not None else "no run section")


def _freedom(model: Model) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Degrees of freedom with the loops closed, redundant closures, and warnings; the loops are assembled for this."""
    from pliant.trace.tracing import trace

    try:
        traced = trace(model.system, still=True)
    except PliantError as trouble:
        stop(WRONG, f"{trouble}{missing_unit(model, trouble)}")
    return traced.independent, traced.redundant, traced.warnings


def parameter_lines(model: Model) -> list[str]:
    """Lines about the parameters, such as: parameter payload = 0.3 kg, >= 0.1 kg, <= 1 kg."""
    return [_line(parameter, model.system.shown_units) for parameter in model.system.parameters.values()]


def _line(parameter: Parameter, shown: ShownUnits) -> str:
    unit, bounds = parameter.unit, (("", parameter.value), (">= ", parameter.low), ("<= ", parameter.high))
    told = [f"{sign}{shown_number(number, unit, shown, 6 if sign else 10)}" for sign, number in bounds if number is not None]
    return f"parameter {parameter.name} = {', '.join(told)}"


def model_data(model: Model) -> dict[str, Any]:
    """The content of a model, for --json."""
    system = model.system
    bodies = {
        link.name: {"kind": type(link.body).__name__, "mass_kg": link.body.mass, "joint": type(link.joint).__name__,
                    "on": link.on.body, "coordinates": list(link.positions)}
        for link in system.links.values()
    }  # fmt: skip
    parameters = {
        name: {"value": parameter.value, "unit": parameter.unit, "low": parameter.low, "high": parameter.high}
        for name, parameter in system.parameters.items()
    }
    kinds = ("drives", "loads", "contacts", "closures", "conditions", "states", "controllers", "sensors")
    sections = {name: list(getattr(system, name)) for name in kinds}
    run = None if model.run is None else {"t_end": model.run.t_end, "method": repr(model.run.method), "save": model.run.save}
    return {"system": system.name, "mass_kg": system.mass, "degrees_of_freedom": system.degrees_of_freedom,
            "parameters": parameters, "bodies": bodies, **sections, "run": run}  # fmt: skip

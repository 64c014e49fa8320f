"""pliant check: a model file, read and told back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from pliant.cli.exits import write_json
from pliant.cli.options import AsJson, ModelArgument, load_model

if TYPE_CHECKING:
    from pliant.files import Model


def check(file: ModelArgument, as_json: AsJson = False) -> None:
    """Check a model file and print its tree and its run settings."""
    model = load_model(file)
    if as_json:
        write_json({"ok": True, **model_data(model)})
        return
    typer.echo(model.system)
    typer.echo(model.run if model.run is not None else "no run section")


def model_data(model: Model) -> dict[str, Any]:
    """What a model holds, for machines."""
    system = model.system
    bodies = {
        link.name: {"kind": type(link.body).__name__, "mass_kg": link.body.mass, "joint": type(link.joint).__name__,
                    "on": link.on.body, "coordinates": list(link.positions)}
        for link in system.links.values()
    }  # fmt: skip
    sections = {name: list(getattr(system, name)) for name in ("drives", "loads", "contacts", "closures", "conditions")}
    run = None if model.run is None else {"t_end": model.run.t_end, "method": repr(model.run.method), "save": model.run.save}
    return {"system": system.name, "mass_kg": system.mass, "degrees_of_freedom": system.degrees_of_freedom,
            "bodies": bodies, **sections, "run": run}  # fmt: skip

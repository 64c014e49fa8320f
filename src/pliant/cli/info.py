"""pliant info: prints the content of a model file or a result."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.check import model_data, parameter_lines
from pliant.cli.exits import WRONG, in_file_words, say, stop, write_json
from pliant.cli.options import AsJson, IncludesOutside, load_model, load_result
from pliant.cli.report import print_report, report_data
from pliant.cli.run import summary_data, summary_rows
from pliant.cli.sweep_table import print_sweep
from pliant.errors import ModelError, plain
from pliant.host.netcdf_head import is_netcdf
from pliant.results.table import IN_LEDGER, QUANTITIES

if TYPE_CHECKING:
    from pliant.files import Model
    from pliant.results.ledger import Ledger
    from pliant.results.result import Result

UNITS = ("shown_units", "parameter_units")  # settings in which the tables are printed, not settings of the run
SHOWN_FREQUENCIES = 4  # per beam


def info(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A model file (YAML), the result of a run (netCDF), or the folder of a sweep.")
    ],
    includes_outside: IncludesOutside = False,
    as_json: AsJson = False,
    model: Annotated[bool, typer.Option("--model", help="For a result: print only its model, as a model file.")] = False,
) -> None:
    """Print the content of a file: bodies and frequencies of a model; rows, ledger, provenance and largest values of a result; the
    cases of a sweep."""
    if file.is_dir() and not model:
        print_sweep(file, as_json)
    elif is_netcdf(file):
        _of_result(load_result(file, lazy=True), file, as_json, model)
    elif model:
        stop(WRONG, f"{file}: must be the result of a run when --model is given, got another kind of file")
    else:
        _of_model(load_model(file, includes_outside), as_json)


def _of_model(model: Model, as_json: bool) -> None:
    frequencies = beam_frequencies(model)
    if as_json:
        write_json({**model_data(model), "frequencies_Hz": frequencies})
        return
    say(model.system)
    for name, values in frequencies.items():
        more = " ..." if len(values) > SHOWN_FREQUENCIES else ""
        shown = ", ".join(f"{value:.5g}" for value in values[:SHOWN_FREQUENCIES])
        say(f"{name}: {shown}{more} Hz with its frame fixed")
    for line in parameter_lines(model):
        say(line)
    say(model.run if model.run is not None else "no run section")


def beam_frequencies(model: Model) -> dict[str, list[float]]:
    """The natural frequencies of every beam in its modes, with its frame fixed, Hz."""
    from pliant.beams import shape_integrals
    from pliant.model.beam import Beam

    beams = {link.name: link.body for link in model.system.links.values() if isinstance(link.body, Beam)}
    return {name: [float(w) / (2.0 * math.pi) for w in shape_integrals(beam).free_frequencies] for name, beam in beams.items()}


def _of_result(result: Result, file: Path, as_json: bool, model_only: bool) -> None:
    provenance = result.provenance
    if model_only:
        if not provenance.get("model"):
            stop(WRONG, f"{file}: contains no model: {provenance.get('no_model', 'it was written by an older version')}")
        say(provenance["model"], nl=False)
        return
    if as_json:
        write_json({**summary_data(result), "report": report_data(result), **_contents(result), "provenance": dict(provenance)})
        return
    _print_result(result, provenance)
    _print_quantities(result, file)
    print_report(result)


def _contents(result: Result) -> dict[str, Any]:
    held = {name: list(result.labels[name]) for name in ("coordinate", "state", "body", "source", "pair", "drive", "row")}
    known = _ledger(result)
    ledger = [] if known is None else [{"name": name, "start_J": begin, "end_J": end} for name, begin, end in known.rows()]
    state = result.final_state
    kept = {name: {"shape": list(array.shape), "unit": QUANTITIES[name].unit} for name, array in result.values.items()}
    return {"quantities": kept, "labels": held, "ledger": ledger, "ended_at_s": None if state is None else state.t}


def _ledger(result: Result) -> Ledger | None:
    """The ledger; None if its quantities were not kept or their rows do not fit into memory."""
    with contextlib.suppress(ModelError):
        return result.ledger
    return None


def _print_result(result: Result, provenance: Any) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    span = f"{len(result.time)} rows from t = {result.time[0]:g} to {result.time[-1]:g} s" if len(result.time) else "no rows"
    rows = [("system", result.name), *summary_rows(result), ("time", span)]
    shown = [name for name in ("coordinate", "state", "body", "pair", "drive") if result.labels[name]]
    rows += [(name, ", ".join(result.labels[name])) for name in shown]
    if result.final_state is not None:
        closed = ", ".join(result.final_state.closed)
        rows.append(("can continue", f"from t = {result.final_state.t:.9g} s" + (f", touching: {closed}" if closed else "")))
    rows += [("made by", f"pliant {provenance['version']}")] if provenance else []
    settings = {name: value for name, value in provenance.get("settings", {}).items() if name not in UNITS}
    rows += [(name, str(value)) for name, value in settings.items() if value is not None]
    if provenance:
        model = provenance["model"]
        held = f"{len(model.splitlines())} lines, see --model" if model else f"none: {provenance['no_model']}"
        rows.append(("model", held))
    for name, value in rows:
        table.add_row(Text(plain(name)), Text(in_file_words(plain(value))))
    Console().print(table)
    say(_ledger(result) or f"no energy ledger: it needs {', '.join(IN_LEDGER)}")


def _print_quantities(result: Result, file: Path) -> None:
    """Print the quantities of the rows."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None)
    for head in ("quantity", "numbers in a row", "unit", "meaning"):
        table.add_column(head, justify="left")
    for name, array in result.values.items():
        if array.size:
            sizes = zip(array.shape[1:], QUANTITIES[name].dims, strict=True)
            numbers = " x ".join(f"{size} {dim}" for size, dim in sizes) or "1"
            table.add_row(*(Text(text) for text in (name, numbers, QUANTITIES[name].unit, QUANTITIES[name].meaning)))
    say(f"\nquantities in the rows, besides time ({file.stat().st_size / 1e6:.3g} MB):")
    Console().print(table)
    missing = [name for name in QUANTITIES if name not in result.values]
    if missing:
        say(f"not kept: {', '.join(missing)}")

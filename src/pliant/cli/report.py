"""The report of a run on the command line: its largest values, as lines and for --json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pliant.cli.exits import say
from pliant.errors import plain

if TYPE_CHECKING:
    from pliant.analysis.report import Report
    from pliant.results.result import Result

MOST_STRESSED = 5000  # rows times beams; of more, stresses come from a selection of rows: some seconds
LISTED = 8  # parts of each quantity that are printed; JSON and CSV have all


def report_of(result: Result) -> Report:
    from pliant.analysis.report import Report, report

    return report(result, most_stressed=MOST_STRESSED) if len(result.time) else Report()  # a run may end before its first row


def report_data(result: Result) -> list[dict[str, Any]]:
    """The report, for --json."""
    return [asdict(one) for one in report_of(result)]


def print_report(result: Result) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    found = report_of(result)
    table = Table(show_header=False, box=None)
    for row in found.rows(LISTED, result.shown_units) if found else ():
        table.add_row(*(Text(plain(text)) for text in row))
    if table.row_count:
        say("\nlargest values of the run:")
        Console().print(table)
    for sentence in found.warnings:
        say(f"warning: {sentence}")

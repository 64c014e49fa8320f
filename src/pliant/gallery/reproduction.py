"""The common parts of all reproductions: claims with verdicts, summary.json, the printed table, the figures, and the register.

A reproduction is a function of a folder, a progress report and the kind of pictures. It runs the published cases, writes
summary.json, one picture per figure, one CSV per table and the results as netCDF into the folder, and returns the summary:

    {"system": name, "cases": {case: {...}}, "claims": [{"claim", "paper", "ours", "holds", where they apply "reason", "varies"}],
     "warnings": {run: [sentence]}}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pliant.errors import SolveError
from pliant.host.atomic_files import write_text
from pliant.model.system import System
from pliant.results.csv import write_table
from pliant.results.result import Result
from pliant.show import plot
from pliant.study.sweep.sweep import sweep_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

SUMMARY = "summary.json"
DPI = 120
ROUND_OFF, THE_COMPUTER = "round-off", "the computer"  # on which the numbers of some claims depend
PLAIN_WIDTH = 120  # width of the table in columns if the output is not a terminal

Progress = Callable[[str, float], None]  # the current activity, and the fraction of the whole that is done, 0 to 1
Summary = dict[str, Any]
FORMATS = ("png", "pdf", "svg")


@dataclass(frozen=True)
class Pictures:
    """How figures are written."""

    format: str = "png"
    data: bool = False  # whether the curves of each figure are written too, as CSV


PNG = Pictures()
Reproduction = Callable[[Path, Progress, Pictures], Summary]


class Recorded:
    """A run of a published system, by its result."""

    result: Result

    @property
    def time(self) -> NDArray[Any]:
        return self.result.time


def whole(result: Result) -> Result:
    """A result that reached its end; an error otherwise."""
    if result.interrupted:
        raise KeyboardInterrupt
    if not result.ok:
        raise SolveError(f"{result.name}: {result.message}")
    return result


@dataclass(frozen=True)
class Table:
    """A table of a paper."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, compared with our result. `reason` says why it does not hold, or adds what to know if it does."""

    claim: str
    paper: Any  # a number, words, or a list or dict of them
    ours: Any
    holds: bool
    reason: str = ""
    varies: str = ""  # what our numbers depend on besides the model: ROUND_OFF, THE_COMPUTER

    @property
    def entry(self) -> dict[str, Any]:
        """The entry in summary.json."""
        entry = {"claim": self.claim, "paper": self.paper, "ours": self.ours, "holds": bool(self.holds)}
        return {**entry, **{name: value for name in ("reason", "varies") if (value := getattr(self, name))}}


def summary_of(system: str, cases: Mapping[str, Any], claims: Iterable[Claim], study: Any = None, **more: Any) -> Summary:
    """study: holds the runs, whose warnings are recorded."""
    told = dict(warnings_of(study))
    return {"system": system, "cases": dict(cases), **more, "claims": [claim.entry for claim in claims], "warnings": told}


def warnings_of(study: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """The warnings of all runs in a study, by the names of the fields and keys that lead to them."""
    if isinstance(study, Result):
        if study.warnings:
            yield name, list(study.warnings)
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(study, Mapping):
        parts = study.items()
    elif isinstance(study, (list, tuple)):
        parts = enumerate(study)
    elif is_dataclass(study):
        parts = ((field.name, getattr(study, field.name)) for field in fields(study))
    for key, part in parts:
        yield from warnings_of(part, name if isinstance(part, Result) else f"{name}/{key}".lstrip("/"))


def publish(
    out: Path, name: str, progress: Progress, pictures: Pictures, begin: float, *, study: Any, results: Mapping[str, Result],
    draw: Mapping[str, Callable[[], Figure] | Table], cases: Mapping[str, Any], claims: Iterable[Claim],
    methods: Mapping[str, Result] | None = None, warnings: Mapping[str, list[str]] | None = None, **more: Any,
) -> Summary:  # fmt: skip
    """Write results, figures and the summary, which it returns.

    begin: the progress made by the runs. methods: runs by the paper's own method. warnings: of runs that are not in the study.
    """
    for case, result in results.items():
        save_result(out, case.replace("/", "-"), result)
    save_figures(out, draw, progress, begin, pictures)
    summary = summary_of(name, cases, claims, study, **more)
    summary["warnings"] |= warnings or {}
    summary["warnings"] |= {f"methods/{own}": list(run.warnings) for own, run in (methods or {}).items() if run.warnings}
    write_summary(out, summary)
    progress("done", 1.0)
    return summary


def write_summary(out: Path, summary: Summary) -> Path:
    """Write summary.json, complete or not at all; nan and inf, which JSON cannot represent, are refused."""
    text = json.dumps(summary, indent=1, allow_nan=False) + "\n"
    target = out / SUMMARY
    write_text(target, text)
    return target


def print_claims(claims: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """Print the table of claims: wrapped to the width of a terminal, plain for any other output."""
    from rich.box import HORIZONTALS
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console()
    if not console.is_terminal:
        console = Console(file=console.file, width=PLAIN_WIDTH, no_color=True)
    table = Table(show_lines=True, expand=True, box=HORIZONTALS)
    several = any("system" in entry for entry in claims)  # of more than one published system
    for head, ratio in (*((("system", 2),) if several else ()), ("claim", 8), ("paper", 3), ("ours", 4), ("verdict", 9)):
        table.add_column(head, ratio=ratio, overflow="fold")
    for entry in claims:
        verdict = Text("holds" if entry["holds"] else "does not hold", style="green" if entry["holds"] else "red")
        if entry.get("reason"):
            verdict.append(f": {entry['reason']}", style="default")
        own = [Text(entry.get("system", ""))] if several else []
        table.add_row(*own, Text(entry["claim"]), Text(words(entry["paper"])), Text(words(entry["ours"])), verdict)
    console.print(table)
    held = sum(bool(entry["holds"]) for entry in claims)
    console.print(Text(f"{held} of {len(claims)} claims hold"))


def print_warnings(summaries: Mapping[str, Summary]) -> None:
    """Print what the runs of these systems warned of, one line per sentence; runs with the same sentence share a line."""
    from rich.console import Console
    from rich.text import Text

    for system, summary in summaries.items():
        for sentence, names in by_sentence(summary["warnings"]).items():
            Console(soft_wrap=True, highlight=False).print(Text(f"warning: {system}, {', '.join(names)}: {sentence}"))


def by_sentence(warnings: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The names of the runs that have each warning."""
    runs: dict[str, list[str]] = {}
    for run, sentences in warnings.items():
        for sentence in sentences:
            runs.setdefault(sentence, []).append(run)
    return runs


def words(value: Any) -> str:
    """A claim's value as readable text: numbers to four digits, lists and mappings in one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {words(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(words(item) for item in value)
    return str(value)


def swept(
    build: Callable[..., System],
    over: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    run: Mapping[str, Any],
    tell: Callable[[float], None] | None = None,
    executor: Any = None,
) -> list[Result]:
    """Complete results of a sweep, in the order of its cases; a failed case raises an error.

    tell is called with the fraction that is done. executor: threads, unless the run times of cases are compared.
    """
    report = None if tell is None else lambda done, total, failed: tell(done / total)
    return sweep_results(build, over, run, executor=executor, progress=report)


def panels(rows: int, columns: int, width: float = 11.0, height: float = 2.8, **options: Any) -> tuple[Figure, Any]:
    """An empty figure and its axes, (rows, columns); height is that of one row, inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows + 0.6), layout="constrained", dpi=DPI)
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def label(axes: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Title, axes with units, and a faint grid."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)


def shared_legend(figure: Figure, axes: Any) -> None:
    """One legend above all panels, from the lines of one of them."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), fontsize="small")


def schematic(result: Result, time: float = 0.0, **options: Any) -> Callable[[], Figure]:
    """A drawing of the mechanism at one time, as papers have it, with frames, names and lengths."""
    return lambda: plot.mechanism(result, time=time, labels=True, **options)


def by_method(ours: Result, others: Mapping[str, Result], *names: str) -> Callable[[], Figure]:
    """The paper's own method and formulation beside ours: the motion, and what others differ from ours."""

    def draw() -> Figure:
        figure, axes = panels(len(names), 2, height=2.2, sharex=True)
        whole, apart = (list(axes[:, k]) for k in (0, 1))
        for column, reference in ((whole, None), (apart, ours)):
            plot.series({"ours": ours, **others}, *names, reference=reference, ax=column)
        for column, words in ((whole, "the motion"), (apart, "less ours")):
            column[0].set_title(words, fontsize="medium", loc="left")
            column[0].legend(fontsize="small")
        return figure

    return draw


def save_result(out: Path, name: str, result: Result) -> Path:
    """One result as netCDF."""
    target = out / f"{name}.nc"
    try:
        result.to_netcdf(target)
    except RuntimeError as trouble:  # so that HDF5 reports a full disk
        raise OSError(0, str(trouble), str(target)) from trouble
    return target


def save_figures(
    out: Path, draw: Mapping[str, Callable[[], Figure] | Table], progress: Progress, begin: float = 0.0, pictures: Pictures = PNG
) -> None:
    """Draw and write one figure or table after another; `begin` is the fraction of the whole that was done before."""
    for k, (name, drawn) in enumerate(draw.items()):
        progress(f"drawing {name}", begin + (1.0 - begin) * k / len(draw))
        if isinstance(drawn, Table):
            rows = ([words(cell) if isinstance(cell, tuple) else cell for cell in row] for row in drawn.rows)
            write_table(out / f"{name}.csv", drawn.heads, rows)
            continue
        figure = drawn()
        plot.save(figure, out / f"{name}.{pictures.format}")
        if pictures.data:
            plot.save(figure, out / f"{name}.csv")


def study(module: str) -> Callable[..., Summary]:
    """The `reproduce` function of a gallery module, imported on first use."""

    def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
        function: Reproduction = import_module(f"pliant.gallery.{module}").reproduce
        return function(out, progress, pictures)

    return reproduce


REPRODUCTIONS: dict[str, Callable[..., Summary]] = {
    "falling-chain": study("falling_chain.study"),
    "tipping-arm": study("tipping_arm.study"),
    "telescopic-arm": study("telescopic_arm.study"),
    "parallel-robot": study("parallel_robot.study"),
    "slider-crank": study("slider_crank.study"),
    "clearance": study("clearance.study"),
}

# One line of description for each.
ABOUT: dict[str, str] = {
    "falling-chain": "three elastic links fall and bounce (Yousefzadeh and Shafei 2024)",
    "tipping-arm": "an arm that stiffens tips over and knocks against a wall; and the spin-up (Wang, Yan, Fang, Jin 2012)",
    "telescopic-arm": "an elastic arm slides out of its sleeve, forward and inverse (Korayem, Shafei, Dehkordi)",
    "parallel-robot": "a planar 3RRR robot, its loops closed in both ways (Raoofian, Taghvaeipour, Kamali 2017)",
    "slider-crank": "a flexible connecting rod, and a slider that hits a ball (Ebrahimi, Nouri, Salahshoor)",
    "clearance": "slider-cranks with a worn bearing, and with play in the guide (Flores and co-workers, since 2004)",
}

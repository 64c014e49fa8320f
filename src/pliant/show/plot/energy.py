"""Plots of the energy ledger: lines, stacked areas, and the balance error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.results.ledger import Ledger
from pliant.results.result import Result
from pliant.show.plot.style import ALARM, INK, PALETTE, QUIET, TIME, Size, column, figure, legend, lines, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WORKS = 8  # sources drawn as lines, the largest first
SLACK = 1e-9  # fraction of the largest exchange: how far round-off may lift the work of a purely dissipative source above zero
FLOOR = 1e-18  # fraction of the largest exchange, drawn instead of zero on the logarithmic axis
HELD = {"kinetic": PALETTE[0], "gravity": PALETTE[5], "strain": PALETTE[2], "spring": PALETTE[4], "contact": PALETTE[1]}
OF_CONTACTS_AND_CLOSURES = ("normal", "friction", "damper")  # last words in the names of such sources
LOST = ("#b8b8b8", "#8f8f8f", "#d9c7b0", "#a58f77", "#cfcfe6", "#7d7da6")


@styled
def energies(result: Result, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Stored energies and the work of each source over time, with the balance error below."""
    made, (above, below) = column(2, ax=ax, figsize=figsize)
    draw_energies(result, above)
    draw_balance(result, below)
    above.set_title(f"{result.name}: energy")
    return made


@styled
def ledger(result: Result, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Stacked energies: stored energies below, losses above; the top is the initial energy plus the energy supplied."""
    made, panels = figure(1, 1, height=4.2, ax=ax, figsize=figsize)
    panel = panels[0, 0]
    book = result.ledger
    layers, total = stacked(book)
    factor, unit = prefixed("J", [total])
    shades = [HELD.get(name) or LOST[k % len(LOST)] for k, name in enumerate(layers)]
    panel.stackplot(book.time, [series / factor for series in layers.values()], labels=list(layers), colors=shades,
                    linewidth=0)  # fmt: skip
    panel.plot(book.time, total / factor, color=INK, linestyle="--", linewidth=1.4, label="start + put in")
    panel.set(xlabel=TIME, ylabel=f"energy, {unit}", title=f"{result.name}: every joule")
    panel.margins(x=0.0)
    _legend_as_stacked(panel)
    return made


@styled
def balance_error(result: Result, *, ax: Any = None, figsize: Size = None) -> Figure:
    """The balance error on a logarithmic axis: in joules, and relative to the largest exchange of energy."""
    made, panels = figure(1, 1, height=3.4, ax=ax, figsize=figsize)
    panel, book = panels[0, 0], result.ledger
    scale = book.scale if book.scale > 0.0 else 1.0
    panel.semilogy(book.time, np.maximum(np.abs(book.balance_error), FLOOR * scale), color=PALETTE[0])
    panel.axhline(book.balance_error_max or FLOOR * scale, color=ALARM, linestyle="--", linewidth=0.9)
    worst = f"largest {book.balance_error_max:.2g} J, {book.relative_error_max:.1g} of the largest exchange, {book.scale:.3g} J"
    panel.set(xlabel=TIME, ylabel="|balance error|, J", title=f"{result.name}: {worst}")
    panel.margins(x=0.0)
    relative = panel.secondary_yaxis("right", functions=(lambda e: e / scale, lambda part: part * scale))
    relative.set_ylabel("of the largest exchange")
    return made


def draw_energies(result: Result, axes: Any) -> None:
    """Stored energies as lines, works by kind of source as dotted lines."""
    book = result.ledger
    held = [(name, series) for name, series in book.held.items() if np.any(series != 0.0)]
    works = sorted(by_kind(book).items(), key=lambda item: -float(np.max(np.abs(item[1]), initial=0.0)))
    factor, unit = prefixed("J", [series for _, series in [*held, *works]])
    for name, series in held:
        axes.plot(book.time, series / factor, label=name, color=HELD[name])
    for k, (name, series) in enumerate(works[:MOST_WORKS]):
        axes.plot(book.time, series / factor, label=f"work: {name}", linewidth=1.1, color=look(k)["color"], linestyle=":")
    axes.set_ylabel(f"energy, {unit}")
    legend(axes, left_out=len(works) - MOST_WORKS)


def draw_balance(result: Result, axes: Any) -> None:
    lines(axes, result.ledger.time, [("balance error", result.ledger.balance_error)], "balance error", "J")
    axes.get_legend().remove()


def stacked(book: Ledger) -> tuple[dict[str, Floats], Floats]:
    """Layers that are never negative (except by round-off), and their sum if the energy balance holds.

    Gravity is measured from its minimum. A source that only dissipates is a loss, drawn as a layer by kind; other work is input.
    """
    layers = {name: series for name, series in book.held.items() if np.any(series != 0.0)}
    lowest = float(np.min(book.held["gravity"], initial=np.inf)) if "gravity" in layers else 0.0
    if "gravity" in layers:
        layers["gravity"] = book.held["gravity"] - lowest
    total = np.full_like(book.time, book.energy[0] - lowest if book.time.size else 0.0)
    for source, work in book.work.items():
        done = work - work[:1].sum()  # since the first row
        if np.max(done, initial=0.0) > SLACK * book.scale:
            total = total + done
        elif np.any(done != 0.0):
            kind = f"lost: {kind_of(source)}"
            layers[kind] = layers.get(kind, np.zeros_like(done)) - done
    return layers, total


def by_kind(book: Ledger) -> dict[str, Floats]:
    """The total work of all sources of each kind."""
    works: dict[str, Floats] = {}
    for source, work in book.work.items():
        works[kind_of(source)] = works.get(kind_of(source), np.zeros_like(work)) + work
    return {kind: work for kind, work in works.items() if np.any(work != 0.0)}


def kind_of(source: str) -> str:
    """The kind of a source: damping, joint forces and contact forces by their kind, sources named by the user by that name."""
    last = re.split(r"[. ]", source)[-1]
    return last.replace("_", "-") if "." in source or last in OF_CONTACTS_AND_CLOSURES else source


def _legend_as_stacked(axes: Any) -> None:
    """A legend in the order of the layers, with the uppermost layer on top."""
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
                edgecolor=QUIET)  # fmt: skip

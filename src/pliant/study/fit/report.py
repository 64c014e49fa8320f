"""The report of a fit: one self-contained page (HTML) without scripts."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.host.atomic_files import atomic_write
from pliant.model.parameter import InputValue
from pliant.study.fit.compared import unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.study.fit.fitted import Fit

MOST_ROWS = 8  # of a picture: more columns than that are left out, and said
LOSSES = {
    "linear": "squares of all differences count (least squares)",
    "huber": "large differences count by their size, not their square (Huber)",
    "soft_l1": "large differences count by their size, not their square (soft L1)",
}


def write_report(fit: Fit, path: str | Path, title: str = "") -> Path:
    path = Path(path)
    page = page_of(fit, title)
    with atomic_write(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def page_of(fit: Fit, title: str = "") -> str:
    style = resources.files("pliant.study.fit").joinpath("report.css").read_text(encoding="utf-8")
    name = html.escape(title or f"Fit of {fit.result.name}")
    sections = [
        ("Answer", _answer(fit)),
        ("Data and run", _data(fit)),
        ("Values", _values(fit)),
        ("What is not determined", _undetermined(fit)),
        ("Correlation of what is left", _correlation(fit)),
        ("What was assumed", _assumed(fit)),
        ("Warnings", _list(fit.warnings) if fit.warnings else "<p>None.</p>"),
        ("Versions", _versions(fit)),
    ]
    links = "".join(f'<li><a href="#s{k}">{html.escape(head)}</a></li>' for k, (head, _) in enumerate(sections))
    body = "".join(f'<section><h2 id="s{k}">{html.escape(head)}</h2>{text}</section>' for k, (head, text) in enumerate(sections))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>\n'
        f'<body><header><h1>{name}</h1></header><nav aria-label="Contents"><ul>{links}</ul></nav>'
        f"<main>{body}</main></body></html>\n"
    )


def _answer(fit: Fit) -> str:
    rows = len(fit.experiments)
    measured = sum(part.residuals.size for part in fit.experiments)
    what = f"{len(fit.names)} parameters from {measured} measured values of {rows} experiment{'s' if rows > 1 else ''}"
    state = "good" if fit.ok and not fit.unidentifiable and not fit.warnings else "doubt"
    verdict = [html.escape(f"{fit.message[:1].upper()}{fit.message[1:]} ({fit.runs} runs).")]
    if fit.unidentifiable:
        verdict.append(f"<strong>Not determined:</strong> {html.escape(', '.join(fit.unidentifiable))}.")
    if fit.at_bounds:
        verdict.append(f"<strong>At a bound:</strong> {html.escape(', '.join(fit.at_bounds))}.")
    if fit.warnings:
        verdict.append(f'<a href="#s6">{len(fit.warnings)} warning{"s" if len(fit.warnings) > 1 else ""}</a>.')
    return f'<p class="{state}">{html.escape(what)}. {" ".join(verdict)}</p>'


def _data(fit: Fit) -> str:
    heads = ("experiment", "columns", "rows", "from, s", "to, s", "missing values")
    rows = [
        (
            part.name,
            ", ".join(part.measured),
            str(part.time.size),
            f"{part.time[0]:.4g}",
            f"{part.time[-1]:.4g}",
            str(sum(int(np.sum(np.isnan(values))) for values in part.measured.values())),
        )
        for part in fit.experiments
    ]
    noise = [(column, f"{size:.4g}", unit_of(fit.experiments, column)) for column, size in fit.noise.items()]
    shown = len(fit.noise) <= MOST_ROWS
    words = "Measured data and the fitted run over time, their differences, and how these are spread. "
    words += "; ".join(f"root mean square of {c}: {size} {unit}" for c, size, unit in noise)
    picture = _picture(fit.plot(), words) if shown else ""
    left_out = "" if shown else f"<p>{len(fit.noise)} columns: too many to draw; see <code>fit.plot()</code>.</p>"
    return (
        f"<p>Model: {html.escape(fit.result.name)}.</p>{_table(heads, rows, 'Experiments', words=2)}{picture}{left_out}"
        + _table(("difference", "root mean square", "unit"), noise, "What is left between run and data", words=1)
    )


def _values(fit: Fit) -> str:
    heads = ("parameter", "value", "standard error", "95 % interval", "unit", "width against independent noise")
    intervals = fit.confidence()
    rows = []
    for name in fit.names:
        low, high = intervals[name]
        lost = not math.isfinite(fit.standard_errors[name])
        interval = "not determined" if lost else f"{low:.6g} to {high:.6g}"
        ratio = fit.inflation[name]
        rows.append((name, f"{fit.values[name]:.8g}", "" if lost else f"{fit.standard_errors[name]:.3g}", interval, fit.units[name],
                     f"{ratio:.3g} times" if math.isfinite(ratio) else ""))  # fmt: skip
    pairs = [f"{one} and {other} are correlated: {r:+.4f}" for (one, other), r in fit.correlated.items()]
    minima = [("best" if not k else f"{k + 1}", f"{one.ratio:.5g}", str(one.starts),
               ", ".join(f"{n} = {v:.5g}" for n, v in one.values.items())) for k, one in enumerate(fit.minima)]  # fmt: skip
    ends = _table(("minimum", "sum of squares over the least", "starts", "values"), minima, "Where searches ended", words=0)
    return (
        _table(heads, rows, "Values found", words=1)
        + f"<p>Intervals {html.escape(fit.intervals)}; {fit.degrees_of_freedom:.4g} degrees of freedom.</p>"
        + (_list(pairs) if pairs else "") + (ends if minima else "")
    )  # fmt: skip


def _undetermined(fit: Fit) -> str:
    what = fit.identifiability
    lines = str(what).splitlines()
    words = "Left: how much 100 % of a direction changes the data, over their noise. Right: what each direction is made of."
    picture = _picture(what.plot(), f"Strengths of the directions of the parameters. {words}") if len(fit.names) > 1 else ""
    return _list(lines) + (f"{picture}<p>{words} Directions left of 1 drown in the noise.</p>" if picture else "")


def _correlation(fit: Fit) -> str:
    from pliant.show.plot.fits import fit_correlation

    rows = [
        (" and ".join(one.names), "row to row" if len(one.names) == 1 else "same row", f"{one.correlation:+.3f}",
         f"{one.rarely:.3f}", "yes" if one.found else "no")
        for one in fit.scatter.patterns
        if len(one.names) == 1 or one.found
    ]  # fmt: skip
    heads = ("difference", "between", "correlation", "noise rarely exceeds", "correlated")
    words = "; ".join(f"{row[0]} {row[2]}" for row in rows)
    models = [f"{name}: autoregressive of order {model.order}, coefficients {', '.join(f'{c:+.3f}' for c in model.coefficients)}"
              for name, model in {**fit.scatter.models, **fit.search.noise_models}.items() if model.order]  # fmt: skip
    return (
        _table(heads, rows, "Correlation of the differences", words=2)
        + _picture(fit_correlation(fit), f"Correlation of the residuals over the rows between them: {words}.")
        + (_list(models) if models else "")
    )


def _assumed(fit: Fit) -> str:
    whitened = "; whitened by an autoregressive model before they were compared" if fit.search.noise_models else ""
    _, _, options = fit.search.comparisons[0].runner.arguments
    known = [name for name in ("method", "formulation", "t_start", "start") if options.get(name) is not None]
    targets = {t.name: t for group in fit.search.targets for t in group}
    kinds = [f"{name}: compared by the rotation between run and data" for name, t in targets.items() if len(t.columns) == 4]
    kinds += [f"{name}: compared within one turn, because the data are wrapped" for name, t in targets.items()
              if type(t).__name__ == "WrappedAngle"]  # fmt: skip
    return _list(
        [
            f"Loss: {LOSSES[fit.search.loss.name]}{whitened}.",
            f"Weights: {_weights(fit)}.",
            f"Intervals are linear in the parameters, {fit.intervals}.",
            "Derivatives are exact, through impacts and events." if all(part.exact for part in fit.experiments)
            else "Derivatives are differences of runs, in part at least.",
            "The model is right apart from the parameters found: an error of the model is in no interval.",
            *kinds,
            *([f"Not free: {', '.join(held)}."] if (held := _held(fit)) else []),
            *[f"{name}: {options[name]}" for name in known],
        ]
    )  # fmt: skip


def _weights(fit: Fit) -> str:
    targets = [target for group in fit.search.targets for target in group]
    covered = [name for name in dict.fromkeys(target.name for target in targets) if name in fit.search.given_covariances]
    found = [f"{name} by its covariance matrix, as given" for name in covered]
    if any(target.weights is not None for target in targets):
        found.append("factors of the differences, as given")
    elif any(target.name not in covered for target in targets):
        found.append("each column by one over its scatter about the best fit")
    return "; ".join(found)


def _held(fit: Fit) -> list[str]:
    """Parameters that are not free, with their values in the experiments."""
    found, known = [], dict(fit.result.parameters)
    every = [one.runner.arguments[1] for one in fit.search.comparisons]
    free = {name for one in fit.search.comparisons for name in one.runner.names}
    for name in dict.fromkeys([*known, *(name for fixed in every for name in fixed)]):
        values = [fixed.get(name, known.get(name)) for fixed in every]
        if name in free:
            continue
        if any(isinstance(value, InputValue) for value in values):
            found.append(f"{name} by series")
        else:
            found.append(f"{name} = {values[0]:.6g}" if len(set(values)) == 1 else f"{name} (of each experiment)")
    return found


def _versions(fit: Fit) -> str:
    import platform

    import scipy

    from pliant.version import VERSION

    rows = [("pliant", VERSION), ("Python", platform.python_version()), ("numpy", np.__version__), ("scipy", scipy.__version__),
            ("system", platform.platform(terse=True))]  # fmt: skip
    return _table(("what", "version"), rows, "Versions", words=2)


# ---- pieces of a page


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str, words: int) -> str:
    """words: how many of the first columns are words; numbers stand to the right."""
    top = "".join(f'<th scope="col"{_side(k, words)}>{html.escape(head)}</th>' for k, head in enumerate(heads))
    lines = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{html.escape(cell)}</th>' if not k else f"<td{_side(k, words)}>{html.escape(cell)}</td>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    table = f"<caption>{html.escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="wide"><table>{table}</table></div>'


def _side(column: int, words: int) -> str:
    return ' class="number"' if column >= words else ""


def _list(lines: Iterable[Any]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(str(line))}</li>" for line in lines) + "</ul>"


def _picture(figure: Figure, words: str) -> str:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=140, metadata={"Software": None})
    width = round(float(figure.get_figwidth()) * 96)
    code = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<figure><img alt="{html.escape(words, quote=True)}" width="{width}" src="data:image/png;base64,{code}"></figure>'

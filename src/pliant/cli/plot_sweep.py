"""pliant plot FOLDER: draws a picture of a sweep, also while it is still running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cli.exits import WRONG, say_written, stop, writing
from pliant.cli.options import check_target
from pliant.host import progress

if TYPE_CHECKING:
    import xarray


def draw_sweep(
    folder: Path,
    out: Path | None,
    names: Sequence[str] | None,
    reduce: str | None,
    where: Sequence[str] | None,
    alien: Mapping[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Draw a sweep; alien: given options that only apply to the result of a single run."""
    from pliant.show.plot import save, sweep
    from pliant.show.plot.sweeps import kind_of
    from pliant.study.sweep.sweep import open_sweep

    for option, given in alien.items():
        if given is not None:
            stop(WRONG, f"{option}: must be left out for a sweep")
    target = out or Path(f"{folder.resolve().name}.png")
    check_target("--out", target)
    with writing(target, "drawn"), progress.waiting("drawing the sweep", quiet or as_json):
        data = _selected(open_sweep(folder), where or ())
        kind = kind_of(data)
        save(sweep(data, names, reduce), target)
    say_written(str(target), {"written": str(target), "kind": kind}, quiet, as_json)


def _selected(data: xarray.Dataset, where: Sequence[str]) -> xarray.Dataset:
    """The data at the nearest available values of the axes in --where, without these axes."""
    from pliant.model.check import did_you_mean
    from pliant.show.plot.sweeps import own_axes

    for text in where:
        name, _, value = (part.strip() for part in text.partition("="))
        axes = own_axes(data)
        if name not in axes:
            stop(WRONG, f"--where: must name one of {', '.join(axes)}{did_you_mean(name, axes)}, got {name!r}")
        if data[name].dtype.kind in "iuf":
            try:
                data = data.sel({name: float(value)}, method="nearest")
            except ValueError:
                stop(WRONG, f"--where: must be NAME=VALUE with a number in SI, got {text!r}")
        else:
            known = [str(x) for x in data[name].values]
            if value not in known:
                stop(
                    WRONG,
                    f"--where: {name} must be one of {', '.join(known)}{did_you_mean(value, known)}, got {value!r}",
                )
            data = data.isel({name: known.index(value)})
    return data

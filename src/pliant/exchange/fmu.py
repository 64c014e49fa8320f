"""Functional mock-up units: a mechanism as a library for other simulators, by the standards FMI 3.0 and 2.0, without Python."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pliant.equations.c_source import identifier
from pliant.exchange.compiler import PLATFORMS, checked_platforms, shared_library
from pliant.exchange.exported import exported
from pliant.exchange.model_description import build_description, description, variables_of
from pliant.host.atomic_files import atomic_write
from pliant.integrate.methods.method import Method
from pliant.model import check
from pliant.run.mechanism import AnySystem
from pliant.run.simulate import AUTO

CO_SIMULATION, MODEL_EXCHANGE = "co-simulation", "model-exchange"
VERSIONS = {"3.0": "fmi3.c", "2.0": "fmi2.c"}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of every entry: the same mechanism gives the same bytes


def write_fmu(
    system: AnySystem,
    path: str | Path,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    kind: str = CO_SIMULATION,
    version: str = "3.0",
    method: Method | type[Method] | str | None = AUTO,
    t_start: float = 0.0,
    t_end: float | None = None,
    values: Mapping[str, float] | None = None,
    formulation: str = "articulated",
    platforms: Sequence[str] | None = None,
) -> Path:
    """Write a functional mock-up unit (FMU) of a mechanism, which other simulators run without Python.

    inputs: parameters that may change during a run, on which only forces depend; default: those of drives and loads. outputs: names
    of results, as in "arm.angle" or "tip_position arm y"; default: all coordinates and rates. parameters: further parameters on
    which only forces depend, which may be tuned, and coordinates whose start may be set (a rate as "v arm.angle"). kind:
    "co-simulation" brings the time loop with its method; "model-exchange" leaves steps to the importer. version: of FMI, "3.0" or
    "2.0". method: of co-simulation; of "auto", the one that a run to t_end takes most steps with, the explicit one if there is no
    t_end. t_end: latest end of any run, s; needed with formulas of time and sampled controllers. values: of the System's
    parameters, by name, that differ from its own. platforms: for which the FMU contains a library, by FMI 3.0's names; default:
    this one; others need the package ziglang. C source is always inside.
    """
    target = check.path("write_fmu", "path", path)
    check.choice("write_fmu", "kind", kind, (CO_SIMULATION, MODEL_EXCHANGE))
    check.choice("write_fmu", "version", version, tuple(VERSIONS))
    names = checked_platforms("write_fmu", platforms)
    made = exported("write_fmu", system, inputs=inputs, outputs=outputs, parameters=parameters, values=values, method=method,
                    t_start=t_start, t_end=t_end, formulation=formulation, hosted=kind == MODEL_EXCHANGE)  # fmt: skip
    variables, main = variables_of(made), VERSIONS[version]
    entries, own = [one.entry for one in variables], (main, "both.c", "fmi.c", "run.c")
    text = description(made, variables, version, "")
    sources = made.sources(own, entries)
    token = f"{{{hashlib.sha256(repr((text, sources)).encode()).hexdigest()[:32]}}}"
    files = {"modelDescription.xml": description(made, variables, version, token).encode()}
    sources = made.sources(own, entries, token)
    files |= {f"sources/{name}": source.encode() for name, source in sources.items()}
    if version == "3.0":
        files["sources/buildDescription.xml"] = build_description(made).encode()
    for name in names:
        folder, suffix = name if version == "3.0" else PLATFORMS[name][1], PLATFORMS[name][2]
        files[f"binaries/{folder}/{identifier(made.name)}{suffix}"] = _library(sources, main, name)
    with atomic_write(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), data, zipfile.ZIP_DEFLATED)
    return target


def _library(sources: Mapping[str, str], main: str, platform: str) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        out = folder / f"library{PLATFORMS[platform][2]}"
        shared_library(folder / main, out, platform)
        return out.read_bytes()

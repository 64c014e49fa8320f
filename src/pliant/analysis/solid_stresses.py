"""Stresses of finite-element bodies: those of their modes, times the modal coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.recorded_motion import system_of
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.modal import ModalBody
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of

if TYPE_CHECKING:
    import xarray

COMPONENTS = ("xx", "yy", "zz", "yz", "xz", "xy")


def solid_stresses(result: Result, body: str, system: AnySystem | None = None) -> xarray.Dataset:
    """Stresses of a ModalBody at its stress points, in its axes, Pa, and their equivalent stress (von Mises).

    They are those of the body's shapes: a load is seen as far as these represent it. system: of a result whose file holds none.
    """
    from xarray import Dataset

    check.instance("solid_stresses", "result", result, Result, "a Result")
    given = system_of(result, "solid_stresses") if system is None else mechanism_of(system, "solid_stresses")
    known = {
        name: link.body for name, link in given.links.items() if isinstance(link.body, ModalBody) and link.body.model.stress.size
    }
    if body not in known:
        rule = f"must be one of the finite-element bodies with stresses, {list(known)}{check.did_you_mean(body, known)}"
        raise ModelError.of("solid_stresses", "body", rule, body)
    model = known[body].model
    weights = np.stack([result[f"{body}.{label}"] for label in known[body].mode_labels], axis=1)
    found = np.einsum("pcj,tj->tpc", model.stress, weights)
    direct, shear = found[:, :, :3], found[:, :, 3:]
    spread = np.sum((direct - np.roll(direct, 1, axis=2)) ** 2, axis=2)
    equivalent = np.sqrt(0.5 * spread + 3.0 * np.sum(shear**2, axis=2))
    return Dataset(
        {"stress": (("time", "point", "component"), found, {"units": "Pa"}),
         "equivalent": (("time", "point"), equivalent, {"units": "Pa"}),
         "position": (("point", "axis"), model.stress_points, {"units": "m"})},
        coords={"time": result.time, "component": list(COMPONENTS), "axis": ["x", "y", "z"]},
    )  # fmt: skip

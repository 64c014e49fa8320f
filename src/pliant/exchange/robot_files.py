"""A robot file of either format, as what the command line calls a model."""

from __future__ import annotations

from pathlib import Path

from pliant.exchange.mjcf import read_mjcf
from pliant.exchange.safe_xml import read_xml
from pliant.exchange.urdf import read_urdf
from pliant.files.document import ModelFileError
from pliant.files.reader import Model

READERS = {"robot": read_urdf, "mujoco": read_mjcf}  # by root element


def load_robot(path: Path) -> Model:
    """A robot, without run settings."""
    root = read_xml(path)
    if root.tag not in READERS:
        rule = "must be robot (URDF) or mujoco (MJCF)"
        raise ModelFileError.of(f"{path}, line {root.line}", "root element", rule, root.tag)
    return Model(READERS[root.tag](path), None)

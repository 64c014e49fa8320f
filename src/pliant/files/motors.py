"""Motors in files."""

from __future__ import annotations

from typing import Any

from pliant.files.written import Data, write_fields, write_function, write_named
from pliant.model.motor import MotorDrive
from pliant.model.parameter import expression_of
from pliant.model.signal import Constant, Formula, Signal
from pliant.model.system import System


def write_motor(system: System, drive: MotorDrive) -> Data:
    part = f"motor {drive.name!r}"
    data: Data = {"coordinate": drive.coordinate, "motor": write_fields(drive.motor, f"{part}: motor")}
    if drive.command is not None:
        data["command"] = _command(f"{part}: command", drive.command)
    start = 0.0 if drive.state is None else system.states[drive.state].start
    return {**data, "start": start} if start != 0.0 or expression_of(start) is not None else data


def _command(part: str, command: Signal) -> Any:
    if isinstance(command, Constant):
        return command.value
    return write_function(part, command) if isinstance(command, Formula) else write_named(command)

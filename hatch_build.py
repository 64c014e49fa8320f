"""Builds the time loops with the package, so that its first run need not wait for Numba.

The loops become LLVM bitcode in `src/pliant/integrate/bitcode`, some 45 s of the processor; what is there and still good stays. An
install never fails for want of it: without the bitcode, loops are compiled where and when they are first used.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LONGEST = 900  # s
# `pliant/__init__` wants the whole package and all it depends on; a bare module in its place lets its parts be imported alone.
BUILD = """
import sys, types
package = types.ModuleType("pliant")
package.__path__ = [sys.argv[1]]
sys.modules["pliant"] = package
from pliant.integrate.build_loops import build
print(*build())
"""


class LoopsHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """In a process of its own: nothing that goes wrong there may break an install."""
        command = [sys.executable, "-c", BUILD, str(Path(self.root) / "src" / "pliant")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired) as trouble:
            self._warn(str(trouble))
            return
        if done.returncode != 0:
            self._warn(done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}")
        elif done.stdout.strip():
            self.app.display_info(f"time loops built: {done.stdout.strip()}")

    def _warn(self, reason: str) -> None:
        self.app.display_warning(f"time loops could not be built and will be compiled at first use instead: {reason}")

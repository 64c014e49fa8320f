"""Builds the time loops with the package, so that its first run need not wait for Numba.

The loops become LLVM bitcode in `src/pliant/integrate/bitcode`: some 70 s of the processor, half as long by the clock on two cores.
What is there and still good stays. An install never fails for want of it: without the bitcode, loops are compiled where and when
they are first used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
print(*build(backwards=sys.argv[2] == "backwards"))
"""


class LoopsHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """In processes of their own, one from each end of the list: nothing that goes wrong there may break an install."""
        ways = ("forwards", "backwards") if (os.cpu_count() or 1) > 1 else ("forwards",)
        with ThreadPoolExecutor(len(ways)) as both:
            for said in both.map(self._build, ways):
                if said:
                    self.app.display_info(f"time loops built: {said}")

    def _build(self, way: str) -> str:
        """The names of the loops that this process made."""
        command = [sys.executable, "-c", BUILD, str(Path(self.root) / "src" / "pliant"), way]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired) as trouble:
            self._warn(str(trouble))
            return ""
        if done.returncode != 0:
            self._warn(done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}")
            return ""
        return done.stdout.strip()

    def _warn(self, reason: str) -> None:
        self.app.display_warning(f"time loops could not be built and will be compiled at first use instead: {reason}")

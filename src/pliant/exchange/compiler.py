"""C compilers: the one of this machine, or zig of the package ziglang, which compiles for other platforms, too."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from pliant.errors import ModelError, PliantError

# Platforms by FMI 3.0's names: zig's target, FMI 2.0's name, suffix of shared libraries.
PLATFORMS = {
    "x86_64-linux": ("x86_64-linux-gnu.2.17", "linux64", ".so"),
    "aarch64-linux": ("aarch64-linux-gnu.2.17", "aarch64-linux", ".so"),
    "x86_64-windows": ("x86_64-windows-gnu", "win64", ".dll"),
    "x86_64-darwin": ("x86_64-macos", "darwin64", ".dylib"),
    "aarch64-darwin": ("aarch64-macos", "aarch64-darwin", ".dylib"),
}
# Plain C, with the rounding of every operation as written.
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-g0", "-w")


class NoCompiler(PliantError):
    """There is no C compiler for what is asked."""


def here() -> str:
    """The name of this platform."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(kind := sysconfig.get_platform().rsplit("-", 1)[-1].lower(), kind)
    return f"{machine}-{({'win32': 'windows', 'darwin': 'darwin'}).get(sys.platform, 'linux')}"


def checked_platforms(caller: str, platforms: Sequence[str] | None) -> list[str]:
    """The platforms that are named, each once; by default this one."""
    names = list(dict.fromkeys([here()] if platforms is None else platforms))
    for name in names:
        if name not in PLATFORMS:
            raise ModelError.of(caller, "platforms", f"must be among {', '.join(PLATFORMS)}", name)
    return names


def shared_library(source: Path, out: Path, platform: str) -> None:
    """Compile one C file, with what it includes, to a shared library for a platform."""
    own = platform == here() and shutil.which("cc") is not None
    if not own and not has_zig():
        what = "a C compiler named cc, or zig" if platform == here() else f"zig, to compile for {platform}"
        raise NoCompiler(
            f"there must be {what} (pip install 'pliant[fmu]' brings zig); or ask for platforms=[], for C source alone"
        )
    shared = ["-shared", *([] if "windows" in platform else ["-fPIC"])]
    library = [] if "windows" in platform or "darwin" in platform else ["-lm"]
    start = ["cc"] if own else [*zig(), "cc", "-target", PLATFORMS[platform][0]]
    compile_with([*start, *FLAGS, *shared, "-o", str(out), str(source), *library])


def compile_with(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoCompiler(f"the compiler {command[0]} failed: {done.stderr.strip()[:2000]}")


def has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def zig() -> list[str]:
    """The command of zig."""
    return [sys.executable, "-m", "ziglang"]

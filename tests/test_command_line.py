"""The command line as a user has it: another process, files, signals, a terminal. What is wrong leaves nothing half done."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from pliant import __file__ as package
from pliant.results.result import Result

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of Unix")

PENDULUM = """\
pliant: 1
system: pendulum
gravity: [0, -9.81]
bodies: {arm: {rod: {length: 1 m, mass: 2}, joint: {revolute: {angle: 30 deg}}}}
contacts: {floor: {points: arm.tip, against: {plane: {normal: y, point: [0, -0.9]}}, normal: {hertz: {stiffness: 1e6}}}}
run: {t_end: 1e5, save: 1, method: {dormand_prince: {rtol: 1e-8, atol: 1e-10}}}
"""


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(package).parents[1])}  # the package under test, wherever it runs


def pliant(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pliant", *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)


def test_broken_and_missing_files_and_folders_that_cannot_be_written(tmp_path: Path) -> None:
    """Clear words, a code that is not zero, no traceback, no file; before anything runs."""
    (tmp_path / "good.yaml").write_text(PENDULUM)
    (tmp_path / "broken.yaml").write_text(PENDULUM.replace("length: 1 m", "lenght: 1 m"))
    (tmp_path / "evil.yaml").write_text(PENDULUM.replace("1e5", "!!python/object/apply:os.system ['touch harm']"))
    locked = read_only(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for arguments, words in (
        (("run", "broken.yaml"), r"broken\.yaml:4:22: bodies\.arm\.rod: unknown key 'lenght' \(did you mean 'length'\?\)"),
        (("run", "none.yaml"), r"none\.yaml: cannot be read: No such file"),
        (("run", "evil.yaml"), r"evil\.yaml:6:14: tags are not supported"),
        (("run", "good.yaml", "--out", f"{locked}/r.nc"), r"--out: must be a file that can be written, got .*r\.nc"),
        (("info", "good.nc"), r"good\.nc: cannot be read: No such file"),
    ):
        done = pliant(*arguments, cwd=tmp_path)
        assert done.returncode == 2, done
        assert re.search(words, done.stderr), done.stderr
        assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr
        assert done.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def read_only(folder: Path) -> Path:
    """A folder in which no file can be made; root may write anywhere but where the kernel says no."""
    if os.geteuid() == 0:
        return Path("/proc/self") if Path("/proc/self").is_dir() else pytest.skip("root may write everywhere here")
    locked = folder / "locked"
    locked.mkdir(mode=0o555)
    return locked


class Terminal:
    """A run in a terminal of its own, which shows the bar; ended with the test, whatever happens."""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *trouble: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)
        os.close(self.master)

    def __init__(self, folder: Path, *arguments: str, deaf: bool = False, program: Sequence[str] = ("-m", "pliant")) -> None:
        self.master, slave = os.openpty()
        environment = {**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"}
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments], cwd=folder, stdin=slave, stdout=slave, stderr=slave,
            env=environment, start_new_session=True,
            preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if deaf else None,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def wait_for(self, words: str, times: int = 1, seconds: float = 90.0) -> None:
        end = time.monotonic() + seconds
        while len(re.findall(words, self.seen)) < times:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.master], [], [], 0.2)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")

    def finish(self) -> int:
        end = time.monotonic() + 60.0
        while self.process.poll() is None and time.monotonic() < end:
            self._drain()
        while self._drain():  # a terminal hands out a few kilobytes at a time
            pass
        return self.process.wait(timeout=10)

    def _drain(self) -> bool:
        """Reads what is there; whether there was anything."""
        try:
            there = bool(select.select([self.master], [], [], 0.1)[0])
            if there:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # its other end is closed
            time.sleep(0.05)
            return False
        return there


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "kill"])
def test_an_interrupted_run_shows_its_bar_keeps_what_it_computed_and_can_go_on(number: int, tmp_path: Path) -> None:
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    with Terminal(tmp_path, "run", "pendulum.yaml") as run:
        run.wait_for(r"t = [\d.e+]+ of 1e\+05 s, [\d.e+]+ x real time, (in flight|touching floor arm\.tip)")
        run.process.send_signal(number)
        assert run.finish() == 130, run.seen[-2000:]
    assert re.search(
        r"the run was interrupted from outside at t = [\d.]+ s; the part computed so far is in\s+pendulum\.nc", run.seen
    )
    assert "Traceback" not in run.seen
    result = Result.from_netcdf(tmp_path / "pendulum.nc")
    assert result.interrupted and not result.ok
    assert result.time.size > 3 and result.final_state.t >= result.time[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pendulum.nc", "pendulum.yaml"]
    if number == signal.SIGINT:
        end = f"{result.final_state.t + 1.0!r}"
        done = pliant("run", "pendulum.yaml", "--continue", "pendulum.nc", "--t-end", end, "--out", "rest.nc", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert Result.from_netcdf(tmp_path / "rest.nc").time[0] == result.final_state.t


def test_a_job_in_the_background_ignores_ctrl_c_as_its_shell_wanted_and_takes_a_polite_kill(tmp_path: Path) -> None:
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    with Terminal(tmp_path, "run", "pendulum.yaml", deaf=True) as run:
        run.wait_for("x real time")
        run.process.send_signal(signal.SIGINT)
        run.seen = ""
        run.wait_for("x real time", times=20)  # the bar is drawn again and again: it goes on
        assert run.process.poll() is None
        run.process.send_signal(signal.SIGTERM)
        assert run.finish() == 130, run.seen[-2000:]
    assert Result.from_netcdf(tmp_path / "pendulum.nc").interrupted


STRUCK_TWICE = """
import signal, threading, time
from pliant.host import progress
progress.PATIENCE = 0.05
alive = threading.Timer.is_alive
def struck(timer):
    signal.raise_signal(signal.SIGINT)
    return alive(timer)
threading.Timer.is_alive = struck
try:
    with progress.waiting("waiting", False):
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    end = time.monotonic() + 10.0
    while threading.active_count() > 1 and time.monotonic() < end:
        time.sleep(0.01)  # the bar's thread was told to end, which takes it a moment
    print("left", threading.active_count())
"""


def test_a_second_ctrl_c_leaves_no_bar_up_that_would_abort_python_at_its_end(tmp_path: Path) -> None:
    """The bar's thread writes to the error stream; caught doing so while Python ends, it takes the process down."""
    (tmp_path / "struck.py").write_text(STRUCK_TWICE)
    with Terminal(tmp_path, program=["struck.py"]) as run:
        assert run.finish() == 0, run.seen
    assert "waiting" in run.seen and "left 1" in run.seen


def test_a_killed_run_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    with Terminal(tmp_path, "run", "pendulum.yaml") as run:
        run.wait_for("x real time")
        run.process.kill()
        assert run.finish() == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["pendulum.yaml"]

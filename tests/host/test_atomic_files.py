"""Files that appear whole or not at all, and what stands where they go."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pliant as pl
from pliant.host.atomic_files import atomic_write, clear_leftovers
from pliant.results.result import Result
from pliant.show import player

unix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and modes of Unix")


@pytest.fixture(scope="module")
def run() -> Result:
    system = pl.System("pendulum", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return pl.simulate(system, 0.1, save=0.05)


WRITERS = {
    "x.nc": lambda run, path: run.to_netcdf(path),
    "x.csv": lambda run, path: run.to_csv(path),
    "x.png": lambda run, path: pl.plot.save(pl.plot.coordinates(run), path),
    "x.html": lambda run, path: player.write(run, path),
    "x.gif": lambda run, path: pl.animation.write_animation(run, path, fps=2),
    "x.c": lambda run, path: equations().write_c(path),
    "x.casadi": lambda run, path: equations().write_casadi(path),
}


def equations() -> object:
    system = pl.System("pendulum", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return pl.equations(system)


@unix
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_follows_links_and_leaves_them(run: Result, name: str, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / name, tmp_path / name
    link.symlink_to(Path("real") / name)
    for old in (None, b"old"):  # the link points at nothing yet; at a file
        if old is not None:
            real.write_bytes(old)
        WRITERS[name](run, link)
        assert link.is_symlink()
        assert real.is_file() and not real.is_symlink() and real.stat().st_size > 10
        assert not [path for path in tmp_path.rglob("*draft*")]


@unix
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_writes_into_a_pipe_and_leaves_it_one(run: Result, name: str, tmp_path: Path) -> None:
    pipe, copy = tmp_path / name, tmp_path / "copy"
    os.mkfifo(pipe)
    with open(copy, "wb") as out, subprocess.Popen(["cat", str(pipe)], stdout=out) as reader:
        try:
            writing = threading.Thread(target=WRITERS[name], args=(run, pipe), daemon=True)
            writing.start()
            assert reader.wait(timeout=60) == 0
            writing.join(60)
        finally:
            reader.kill()
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    (tmp_path / "straight").mkdir()
    WRITERS[name](run, tmp_path / "straight" / name)
    assert copy.stat().st_size == (tmp_path / "straight" / name).stat().st_size


@unix
def test_devices_are_written_to_and_disks_sockets_and_folders_are_refused(tmp_path: Path) -> None:
    null, disk = tmp_path / "null", tmp_path / "disk"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(7, 240))
    except PermissionError:
        null.unlink(missing_ok=True)
        null, disk = tmp_path / "link", tmp_path / "none"
        null.symlink_to("/dev/null")  # as root one could have made a device: who cannot cannot harm this one either
    with atomic_write(null) as draft:
        draft.write_text("gone")
    assert stat.S_ISCHR(os.stat(null).st_mode)
    if disk.exists():
        with pytest.raises(OSError, match="it is a disk, neither a file nor a pipe"), atomic_write(disk):
            pass
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError, match="it is a socket"), atomic_write(tmp_path / "socket"):
            pass
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path):
        pass
    assert not list(tmp_path.rglob("*draft*"))


@unix
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no names of open files")
def test_what_a_shell_appends_to_is_not_replaced(tmp_path: Path) -> None:
    """A link like /dev/stdout; not that one itself, which a wrong version would replace where root runs the tests."""
    (tmp_path / "all.csv").write_text("before\n")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    script = "import sys\nfrom pliant.host.atomic_files import atomic_write\n"
    script += "with atomic_write(sys.argv[1]) as draft: draft.write_text('new\\n')"
    with open(tmp_path / "all.csv", "ab") as out:
        subprocess.run([sys.executable, "-c", script, str(tmp_path / "stdout")], stdout=out, check=True, timeout=60)
    assert (tmp_path / "all.csv").read_text() == "before\nnew\n"


@unix
def test_a_replaced_file_keeps_its_mode_and_a_new_one_has_that_of_any_new_file(tmp_path: Path) -> None:
    private, new, plain = tmp_path / "private.csv", tmp_path / "new.csv", tmp_path / "plain"
    private.write_text("old")
    private.chmod(0o600)
    plain.write_text("")
    for target in (private, new):
        with atomic_write(target) as draft:
            draft.write_text("text")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_names_as_long_as_names_may_be_are_written(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 250 + ".csv")
    with atomic_write(target) as draft:
        draft.write_text("text")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


KILLED = """
import os, signal, sys
from pliant.host.atomic_files import atomic_write
with atomic_write(sys.argv[1]) as draft:
    draft.write_text("half")
    print("written", flush=True)
    {end}
"""


def started(end: str, target: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KILLED.format(end=end), str(target)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


@unix
def test_what_a_killed_process_left_goes_with_the_next_file_and_nothing_else_does(tmp_path: Path) -> None:
    with started("os.kill(os.getpid(), signal.SIGKILL)", tmp_path / "killed.csv") as killed:
        killed.wait(timeout=60)
    (left,) = tmp_path.iterdir()
    with started("sys.stdin.read()", tmp_path / "live.csv") as alive:
        assert alive.stdout is not None and alive.stdout.readline() == "written\n"
        dead = left.name.split("-")[1]
        foreign = [left.name.replace(left.name.split(".")[2].split("-")[0], "00000000"),  # of another machine
                   ".killed.abcdefgh.csv", f".killed.{dead}.csv", f"killed.{dead}.pliant-draft.csv", "killed.csv"]  # fmt: skip
        for name in foreign:
            (tmp_path / name).write_text("mine")
        (tmp_path / "folder").mkdir()
        inside = tmp_path / "folder" / left.name  # a folder of that name, and files below, are not looked at
        inside.mkdir()
        with atomic_write(tmp_path / "next.csv") as draft:
            draft.write_text("whole")
        assert not left.exists()
        assert all((tmp_path / name).read_text() == "mine" for name in foreign)
        assert inside.is_dir()
        assert len([path for path in tmp_path.iterdir() if path.name.startswith(".live")]) == 1
        alive.communicate("")
    assert (tmp_path / "live.csv").read_text() == "half"
    clear_leftovers(tmp_path / "no such folder")


@unix
def test_a_draft_that_is_interrupted_is_gone(tmp_path: Path) -> None:
    with started("import time; signal.signal(signal.SIGINT, signal.default_int_handler); print('go', flush=True); time.sleep(60)",
                 tmp_path / "x.csv") as process:  # fmt: skip
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["written\n", "go\n"]
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert not list(tmp_path.iterdir())

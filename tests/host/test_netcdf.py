"""netCDF files: several threads, changed contents, locks that outlive their writer."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pliant.host.netcdf import opened, patiently, put, rows_of, seal, sealed

linux = pytest.mark.skipif(sys.platform != "linux", reason="open files are found in /proc")


def second_handle(path):
    """Another descriptor of a file that HDF5 has open: what a process forked at this moment would hold."""
    for name in os.listdir("/proc/self/fd"):
        if os.path.realpath(f"/proc/self/fd/{name}") == str(path):
            return os.dup(int(name))
    raise AssertionError(f"{path} is not open")


@linux
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_file_just_written_opens_once_a_process_forked_meanwhile_has_let_it_go(tmp_path, monkeypatch, mode):
    path = tmp_path / "a.nc"
    with opened(path, "w") as file:
        file.setncattr("mass", 2.0)
        held = [second_handle(path)]
    monkeypatch.setattr("pliant.host.netcdf.time.sleep", lambda _: os.close(held.pop()))
    with opened(path, mode) as file:
        assert file.getncattr("mass") == 2.0
    assert not held  # HDF5 had found the lock


@linux
def test_a_lock_that_stays_is_an_error_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.host.netcdf.LOCKED", 0.05)
    path = tmp_path / "a.nc"
    with opened(path, "w"):
        held = second_handle(path)
    with pytest.raises(OSError, match=r"locked by another process: '.*a\.nc'"), opened(path):
        pass
    os.close(held)
    with opened(path):
        pass


def test_what_is_no_file_of_netcdf_is_refused_without_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.host.netcdf.time.sleep", lambda _: pytest.fail("it waited"))
    path = tmp_path / "a.nc"
    path.write_bytes(b"no netCDF")
    with pytest.raises(OSError, match=r"a\.nc"), opened(path):
        pass
    with pytest.raises(FileNotFoundError), opened(tmp_path / "b.nc"):
        pass


def test_the_second_attempt_is_the_last(tmp_path):
    attempts = []

    def fail():
        attempts.append(1)
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        patiently(tmp_path, fail, writing=False)
    assert len(attempts) == 2


THREADS = """
import sys, threading
import numpy as np
from pliant.results.result import Result
folder, troubles = sys.argv[1], []

def use(k):
    try:
        for n in range(8):
            if (k + n) % 3 == 0:
                Result.from_netcdf(f"{folder}/a.nc").to_netcdf(f"{folder}/b{k}.nc")
            elif (k + n) % 3 == 1:
                Result.from_netcdf(f"{folder}/a.nc", lazy=True).values["q"][1:3]
            else:
                data = Result.from_netcdf(f"{folder}/a.nc", lazy=True).data
                assert data["q"].sel(time=data["time"][1:]).shape == (4, 1) and np.all(data["v"].values >= 0.0)
    except BaseException as trouble:
        troubles.append(trouble)

threads = [threading.Thread(target=use, args=(k,), daemon=True) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not troubles, troubles
"""


def test_eight_threads_read_and_write_files_while_xarray_is_imported(tmp_path):
    import pliant as pl

    system = pl.System("wheel", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=2.0))
    pl.simulate(system, 0.4, save=0.1).to_netcdf(tmp_path / "a.nc")
    subprocess.run([sys.executable, "-c", THREADS, str(tmp_path)], check=True, timeout=120)


def test_rows_are_checked_by_the_blocks_that_they_are_in(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.host.netcdf.CHUNK", 6)  # blocks of three rows
    values = np.arange(20.0).reshape(10, 2)
    with opened(tmp_path / "a.nc", "w") as file:
        file.createDimension("row", 10)
        file.createDimension("column", 2)
        blocks = put(file, "x", ("row", "column"), values, {"units": "m"})
        seal(file, {"x": blocks, "name": put(file, "name", (), np.array("ball", dtype=object), {})})
    with opened(tmp_path / "a.nc", "r+") as file:
        assert len(sealed(file)["x"]) == 4 and str(rows_of(file["name"], sealed(file)["name"])) == "ball"
        for first, last in ((0, 10), (2, 3), (3, 3), (4, 9), (9, 10)):
            assert np.array_equal(rows_of(file["x"], blocks, first, last), values[first:last])
        file["x"][4, 1] = 9.5
        assert np.array_equal(rows_of(file["x"], sealed(file)["x"], 0, 3), values[:3])
        with pytest.raises(ValueError, match="x has changed since it was written"):
            rows_of(file["x"], sealed(file)["x"], 5, 8)
        file["x"].units = "mm"
        with pytest.raises(ValueError, match="names, sizes or attributes have changed since it was written"):
            sealed(file)

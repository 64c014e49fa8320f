"""netCDF files whose locks outlive their writer."""

import os
import sys

import pytest

from pliant.host.netcdf import opened, patiently

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

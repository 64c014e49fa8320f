"""Where caches live."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.host.cache_folder import user_cache


def test_each_platform_has_its_own_place(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    places = {"linux": "xdg/pliant/loops", "darwin": "Library/Caches/pliant/loops", "win32": "local/pliant/loops"}
    for platform, place in places.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert user_cache("loops") == tmp_path / Path(place)
        assert (tmp_path / place).is_dir()


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_without_an_absolute_xdg_cache_home_the_home_folder_serves(monkeypatch, tmp_path, value):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert user_cache("machine-code") == tmp_path / ".cache" / "pliant" / "machine-code"


def test_a_folder_that_cannot_be_made_is_not_yet_an_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not user_cache("loops").exists()


HOMELESS = """
import os, warnings
from pathlib import Path
def home():
    raise RuntimeError("Could not determine home directory.")
Path.home = home
from pliant.host.cache_folder import user_cache
import pliant as pl
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert user_cache("loops") is None
    system = pl.System("s", (0, -9.81))
    system.add("a", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    pl.compile_system(system)
assert [str(one.message) for one in caught] == [
    "machine code is not cached, so every process compiles it again: there is no home directory and no XDG_CACHE_HOME"], caught
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a home folder of Unix")
def test_without_a_home_directory_nothing_is_kept_and_a_warning_says_so_once() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    done = subprocess.run([sys.executable, "-c", HOMELESS], env=surroundings, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["", "..", f"a{os.sep}b"])
def test_a_kind_is_one_plain_word(kind):
    with pytest.raises(ValueError, match="one plain word"):
        user_cache(kind)

"""Where caches live."""

import os
import sys
from pathlib import Path

import pytest

from pliant.caches import user_cache


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


@pytest.mark.parametrize("kind", ["", "..", f"a{os.sep}b"])
def test_a_kind_is_one_plain_word(kind):
    with pytest.raises(ValueError, match="one plain word"):
        user_cache(kind)

"""Object code on disk: found again, never half, never in the way."""

import os
import stat
import subprocess
import sys
import warnings

import pytest

from pliant.host.object_cache import ObjectCache, content_key, kept

KEY = content_key(["text", "cpu"])


def test_code_is_made_once_for_the_same_texts_and_each_time_without_a_folder(tmp_path):
    made = []

    def make():
        made.append(len(made))
        return bytes(made)

    assert kept(tmp_path / "new", ("a", "b"), make) == (b"\0", False)
    assert kept(tmp_path / "new", ("a", "b"), make) == (b"\0", True)
    assert kept(tmp_path / "new", ("ab", ""), make) == (b"\0\1", False)
    assert kept(None, ("a", "b"), make) == (b"\0\1\2", False)


def test_what_was_stored_is_loaded(tmp_path):
    cache = ObjectCache(tmp_path / "new" / "folder")
    assert cache.load(KEY) is None
    cache.store(KEY, b"code")
    assert cache.load(KEY) == b"code"
    assert [path.suffix for path in cache.folder.iterdir()] == [".object"]


def test_a_key_tells_where_its_parts_end():
    assert content_key(["ab", "c"]) != content_key(["a", "bc"])


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:20], lambda b: b[:-1] + b"?"])
def test_a_damaged_file_is_ignored_and_written_anew(tmp_path, damage):
    cache = ObjectCache(tmp_path)
    cache.store(KEY, b"code" * 100)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert cache.load(KEY) is None
    cache.store(KEY, b"code" * 100)
    assert cache.load(KEY) == b"code" * 100


def test_a_folder_that_cannot_be_written_warns_and_goes_on(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = ObjectCache(tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="not cached.*file"):
        cache.store(KEY, b"code")
    assert cache.load(KEY) is None


def test_the_files_least_recently_used_go_when_the_cache_is_full(tmp_path):
    cache = ObjectCache(tmp_path, limit=3500, every=1)
    keys = [content_key([str(k)]) for k in range(4)]
    for age, key in enumerate(keys[:3]):
        cache.store(key, bytes(1000))
        os.utime(tmp_path / f"{key}.object", (1000.0 + age, 1000.0 + age))
    assert cache.load(keys[0]) is not None  # used again, so no longer the oldest
    cache.store(keys[3], bytes(1000))
    assert [cache.load(key) is not None for key in keys] == [True, False, True, True]


def test_what_dead_processes_left_half_written_goes(tmp_path):
    (tmp_path / "old.part").write_bytes(b"half")
    os.utime(tmp_path / "old.part", (1000.0, 1000.0))
    (tmp_path / "new.part").write_bytes(b"half")
    ObjectCache(tmp_path, every=1).store(KEY, b"code")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".part") == ["new.part"]


def test_entries_swapped_between_keys_are_not_loaded(tmp_path):
    cache, other = ObjectCache(tmp_path), content_key(["another text"])
    cache.store(KEY, b"code")
    cache.store(other, b"other code")
    first, second = (tmp_path / f"{key}.object" for key in (KEY, other))
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    assert [cache.load(KEY), cache.load(other)] == [None, None]


owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners on this platform")
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@owners
def test_folders_are_made_for_this_user_alone(tmp_path):
    mask = os.umask(0)
    try:
        ObjectCache(tmp_path / "new" / "folder").store(KEY, b"code")
    finally:
        os.umask(mask)
    made = [tmp_path / "new", tmp_path / "new" / "folder"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in made] == [0o700, 0o700]
    (file,) = made[-1].iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@owners
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    cache = ObjectCache(tmp_path / "open")
    cache.store(KEY, b"code")
    cache.folder.chmod(mode)
    with pytest.warns(
        RuntimeWarning, match=f"not cached.*open is not used, because others may write to it .mode {mode:o}, must be"
    ):
        assert cache.load(KEY) is None
    cache.store(content_key(["new"]), b"code")  # said once is enough
    assert len(list(cache.folder.iterdir())) == 1
    cache.folder.chmod(0o755)
    assert cache.load(KEY) == b"code"


@owners
def test_a_file_that_others_may_write_to_is_not_loaded(tmp_path):
    cache = ObjectCache(tmp_path)
    cache.store(KEY, b"code")
    (file,) = tmp_path.iterdir()
    file.chmod(0o622)
    with pytest.warns(RuntimeWarning, match="object is not used, because others may write to it .mode 622, must be 600"):
        assert cache.load(KEY) is None
    cache.store(KEY, b"code")
    assert cache.load(KEY) == b"code"


@root
def test_what_another_user_owns_is_not_loaded(tmp_path):
    cache = ObjectCache(tmp_path / "given")
    cache.store(KEY, b"code")
    (file,) = cache.folder.iterdir()
    os.chown(file, 12345, -1)
    with pytest.warns(RuntimeWarning, match="object is not used, because it belongs to another user .id 12345"):
        assert cache.load(KEY) is None
    os.chown(file, os.geteuid(), -1)
    assert cache.load(KEY) == b"code"
    os.chown(cache.folder, 12345, -1)
    with pytest.warns(RuntimeWarning, match="given is not used, because it belongs to another user .id 12345"):
        assert cache.load(KEY) is None
    cache.store(content_key(["new"]), b"code")
    assert len(list(cache.folder.iterdir())) == 1


@owners
def test_links_and_pipes_in_the_place_of_a_file_are_not_followed(tmp_path):
    cache = ObjectCache(tmp_path / "cache")
    cache.store(KEY, b"code")
    (file,) = cache.folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert cache.load(KEY) is None
    file.unlink()
    os.mkfifo(file, 0o600)
    with pytest.warns(RuntimeWarning, match="it is not a regular file"):
        assert cache.load(KEY) is None


WRITER = """
import sys, warnings
from pathlib import Path
from pliant.host.object_cache import ObjectCache
warnings.simplefilter("error")
cache = ObjectCache(Path(sys.argv[1]))
for k in range(300):
    cache.store("shared", b"x" * 20000)
    assert cache.load("shared") == b"x" * 20000, k
"""


def test_two_processes_that_write_the_same_key_never_see_half_a_file(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(2)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ObjectCache(tmp_path).load("shared") == b"x" * 20000

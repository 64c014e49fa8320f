"""Films: as many frames as they should have, all different, whole or not at all."""

import itertools
import shutil
import subprocess

import numpy as np
import pytest

import pliant as pl
from pliant.show import animation
from pliant.show.animation import film_times, pleasant_speed, write_animation
from pliant.show.plot.mechanism import snapshots
from pliant.show.plot.sketch import Sketch
from pliant.show.plot.style import ALARM
from pliant.show.scene import Scene


def test_a_gif_has_its_frames_at_its_pace_and_they_move(chain, tmp_path):
    from PIL import Image

    path = write_animation(chain, tmp_path / "chain.gif", fps=10, speed=0.5)
    with Image.open(path) as film:
        assert film.n_frames == 17  # 0.8 s at half speed, ten frames a second, both ends
        assert film.info["duration"] == 100 and film.info["loop"] == 0
        frames = []
        for k in range(film.n_frames):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB")).copy())
    assert all(np.any(a != b) for a, b in itertools.pairwise(frames))
    assert [p.name for p in tmp_path.iterdir()] == ["chain.gif"]


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed")
def test_an_mp4_is_what_players_want(arm, tmp_path):
    path = write_animation(arm, tmp_path / "arm.mp4", fps=20, scale=3.0, speed=0.5)
    asked = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,pix_fmt,nb_read_frames,codec_name",
             "-of", "default=noprint_wrappers=1", str(path)]  # fmt: skip
    probed = dict(line.split("=") for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split())
    assert (probed["codec_name"], probed["pix_fmt"], probed["nb_read_frames"]) == ("h264", "yuv420p", "21")
    assert int(probed["width"]) % 2 == int(probed["height"]) % 2 == 0


def test_without_ffmpeg_an_mp4_is_refused_and_a_gif_offered(chain, tmp_path, monkeypatch):
    monkeypatch.setattr(animation.shutil, "which", lambda name: None)
    with pytest.raises(pl.ModelError, match=r"must end in \.gif where ffmpeg is not installed"):
        write_animation(chain, tmp_path / "chain.mp4")


def test_a_film_has_the_size_that_was_asked_for(chain, tmp_path):
    from PIL import Image

    with Image.open(write_animation(chain, tmp_path / "chain.gif", fps=5, speed=2.0, size=(640, 360))) as film:
        assert film.size == (640, 360)


@pytest.mark.parametrize("options", [{"fps": 0}, {"fps": 2.5}, {"scale": 0.0}, {"speed": -1.0}, {"scale": float("nan")},
                                     {"size": (1281, 720)}, {"size": (10, 10)}])  # fmt: skip
def test_options_that_make_no_film_are_refused(chain, tmp_path, options):
    with pytest.raises(pl.ModelError, match=next(iter(options))):
        write_animation(chain, tmp_path / "chain.gif", **options)


def test_an_unknown_ending_is_refused(chain, tmp_path):
    with pytest.raises(pl.ModelError, match="must end in one of"):
        write_animation(chain, tmp_path / "chain.avi")


def test_a_film_that_fails_leaves_nothing_behind(chain, tmp_path, monkeypatch):
    def fail(*given):
        yield np.zeros((4, 4, 4), dtype=np.uint8)
        raise OSError("disk full")

    monkeypatch.setattr(animation, "_frames", fail)
    for name in ("film.gif", "film.mp4") if shutil.which("ffmpeg") else ("film.gif",):
        with pytest.raises(OSError, match="disk full"):
            write_animation(chain, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seconds", [1e-6, 0.06, 1.5, 3.0, 12.0, 13.0, 500.0, 1e6])
def test_a_film_lasts_a_pleasant_time_at_a_round_speed(seconds):
    speed = pleasant_speed(seconds)
    assert 2.0 <= seconds / speed <= 12.0 + 1e-9
    assert f"{speed:.0e}"[0] in "125"
    times = film_times(0.0, seconds, 30, speed)
    assert (times[0], times[-1]) == (0.0, seconds) and np.diff(times).max() <= speed / 30 * (1.0 + 1e-9)


def test_the_frames_of_a_gif_share_their_colours_and_those_of_brief_contacts_are_among_them(chain, tmp_path):
    from PIL import Image

    touch = chain.contacts[0]
    with Image.open(write_animation(chain, tmp_path / "chain.gif", fps=20, speed=0.5)) as film:
        colours = set()
        for k in range(film.n_frames):
            film.seek(k)
            colours |= {colour for _, colour in film.convert("RGB").getcolors(2**16)}
        assert len(colours) <= 256
        film.seek(int(np.searchsorted(film_times(chain.time[0], chain.time[-1], 20, 0.5), touch.begin)))
        seen = np.asarray(film.convert("RGB")).astype(int)
    alarm = np.array([int(ALARM[k : k + 2], 16) for k in (1, 3, 5)])
    assert np.min(np.max(np.abs(seen - alarm), axis=2)) <= 12


def test_a_drawing_replaces_the_one_before_and_takes_its_lines(chain):
    sketch = Sketch(Scene(chain))
    _, (panel,) = snapshots(sketch, 1)
    touching, free = chain.contacts[0].peak_time, float(chain.time[0])
    first, second, third = (set(artists) for artists in sketch.film(panel, np.array([free, touching, free])))
    assert first < second and third == first == set(panel.lines)

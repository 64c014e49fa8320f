"""A result as a film: MP4 through ffmpeg, GIF through Pillow."""

from __future__ import annotations

import contextlib
import itertools
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.results.result import Result
from pliant.show.plot.mechanism import snapshots
from pliant.show.plot.sketch import Sketch
from pliant.show.plot.style import styled
from pliant.show.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pixels = NDArray[np.uint8]

SUFFIXES = (".mp4", ".gif")
PLEASANT = (3.0, 12.0)  # s: duration of a film whose speed is chosen automatically
STEPS = (1.0, 2.0, 5.0)  # automatic speeds are one of these times a power of ten
FLASH = 0.15  # s of film: how long a contact stays visible, however brief it was
DPI = 100
PIXELS = range(160, 4097)  # permitted width and height of a film
COLOURS, SAMPLES = 256, 8  # of a GIF, and the frames from which they are taken


def write_animation(
    result: Result,
    path: str | Path,
    fps: int = 30,
    scale: float = 1.0,
    speed: float | None = None,
    size: tuple[int, int] | None = None,
) -> Path:
    """Write a film of the mechanism; the file name's suffix selects the format. Without ffmpeg only GIF can be written.

    scale: magnification of the deformation. speed: seconds of the run per second of film; None chooses it so that the film lasts a
    few seconds. size: width and height in pixels, as in (1280, 720); None follows the proportions of the mechanism. Frames are
    encoded while the next ones are drawn. The file appears complete or not at all.
    """
    target = Path(path)
    _check(target, fps, scale, speed, size)
    pace = pleasant_speed(float(result.time[-1] - result.time[0])) if speed is None else float(speed)
    sketch = Sketch(Scene(result, scale))
    begin, end = (float(sketch.scene.result.time[row]) for row in (0, -1))
    with atomic_write(target) as draft:
        if target.suffix == ".mp4":
            _write_mp4(_frames(sketch, film_times(begin, end, fps, pace), pace, size), draft, fps)
        else:  # a GIF counts time in hundredths of a second, and no viewer shows more than fifty frames per second
            delay = max(round(100 / fps), 2)
            samples = _sampled_times(sketch.scene.result)
            frames = _frames(sketch, np.concatenate([samples, film_times(begin, end, 100 / delay, pace)]), pace, size)
            _write_gif(list(itertools.islice(frames, samples.size)), frames, draft, 10 * delay)
    return target


def film_times(begin: float, end: float, fps: float, speed: float) -> Floats:
    """The times of the frames, the last one included."""
    count = max(math.ceil((end - begin) / speed * fps), 1)
    return np.linspace(begin, end, count + 1)


def pleasant_speed(seconds: float) -> float:
    """Real time if the film then has a pleasant duration, otherwise 1, 2 or 5 times a power of ten."""
    if seconds <= 0.0 or PLEASANT[0] <= seconds <= PLEASANT[1]:
        return 1.0
    power = 10.0 ** math.floor(math.log10(seconds / PLEASANT[1]))
    for step in (*STEPS, 10.0):
        if seconds / (step * power) <= PLEASANT[1]:
            return step * power
    raise AssertionError("unreachable: ten times the power is past the longest")


def _sampled_times(result: Result) -> Floats:
    """Times at which every colour of a film is seen: contacts have their own, however brief they are."""
    touches = [touch.begin for touch in result.contacts]
    return np.array([*np.linspace(result.time[0], result.time[-1], SAMPLES), *touches[:1]])


def _write_gif(samples: Sequence[Pixels], frames: Iterator[Pixels], draft: Path, delay: int) -> None:
    """All frames share the colours of the samples; with their own, comparing and writing them takes three times as long."""
    from PIL import Image

    palette = Image.fromarray(np.concatenate(samples)[:, :, :3]).quantize(COLOURS, Image.Quantize.FASTOCTREE)
    plain = (Image.frombuffer("RGBA", frame.shape[1::-1], frame, "raw", "RGBA", 0, 1).convert("RGB") for frame in frames)
    images = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in plain)
    next(images).save(draft, save_all=True, append_images=images, duration=delay, loop=0)


def _write_mp4(frames: Iterator[Pixels], draft: Path, fps: int) -> None:
    """Pipe raw frames into ffmpeg; players require even sizes and this pixel format."""
    first = next(frames)
    height, width = first.shape[:2]
    source = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}", "-r", f"{fps}", "-i", "-"]
    film = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p", "-preset", "veryfast", "-movflags", "+faststart"]
    command = ["ffmpeg", "-loglevel", "error", "-y", *source, *film, str(draft)]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) as ffmpeg:
        assert ffmpeg.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # ffmpeg's own message is raised below
            for frame in itertools.chain([first], frames):
                ffmpeg.stdin.write(frame.tobytes())
        ffmpeg.communicate()
        if ffmpeg.returncode != 0:
            errors.seek(0)
            raise OSError(0, f"ffmpeg: {errors.read().decode(errors='replace').strip()}", str(draft))


def _frames(sketch: Sketch, times: Floats, speed: float, size: tuple[int, int] | None) -> Iterator[Pixels]:
    """Frames one after another, (height, width, 4) bytes each; everything that does not move is drawn only once."""
    figure = _stage(sketch, speed, size)
    (panel,), (stamp,), canvas = figure.axes, figure.texts, cast(Any, figure.canvas)
    canvas.draw()
    figure.set_layout_engine("none")  # keep the layout that constrained layout computed
    empty = canvas.copy_from_bbox(figure.bbox)
    places = max(0, 3 - math.floor(math.log10(max(float(np.ptp(times)), 1e-12))))
    for t, moving in zip(times, sketch.film(panel, times, FLASH * speed), strict=True):
        canvas.restore_region(empty)
        for artist in sorted(moving, key=lambda artist: artist.get_zorder()):
            panel.draw_artist(artist)
        stamp.set_text(f"{t:.{places}f} s")
        figure.draw_artist(stamp)
        yield np.array(canvas.buffer_rgba())


@styled
def _stage(sketch: Sketch, speed: float, size: tuple[int, int] | None) -> Figure:
    """The empty scene: a panel, and a text that shows the time."""
    figure, (panel,) = snapshots(sketch, 1)
    figure.set_dpi(DPI)
    if size is not None:
        figure.set_size_inches(size[0] / DPI, size[1] / DPI)
    sketch.prepare(panel)
    scale = sketch.scene.scale
    words = [sketch.scene.result.name]
    words += [f"deformation × {scale:g}"] if scale != 1.0 else []
    words += [f"speed × {speed:g}"] if speed != 1.0 else []
    panel.set_title(", ".join(words), loc="left")
    figure.text(0.985, 0.985, "", ha="right", va="top", animated=True)
    return figure


def _check(target: Path, fps: int, scale: float, speed: float | None, size: tuple[int, int] | None) -> None:
    part = "animation"
    if target.suffix not in SUFFIXES:
        raise ModelError.of(part, "path", f"must end in one of {SUFFIXES}", str(target))
    if target.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ModelError.of(part, "path", "must end in .gif where ffmpeg is not installed", str(target))
    if isinstance(fps, bool) or not isinstance(fps, int) or not 1 <= fps <= 120:
        raise ModelError.of(part, "fps", "must be a whole number from 1 to 120", fps)
    if size is not None and not (len(size) == 2 and all(isinstance(n, int) and n in PIXELS and n % 2 == 0 for n in size)):
        raise ModelError.of(part, "size", f"must be even numbers of pixels from {PIXELS[0]} to {PIXELS[-1]}, (width, height)", size)
    for field, value in (("scale", scale), ("speed", speed)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise ModelError.of(part, field, "must be finite and > 0", value)

"""The progress bar: simulated time, speed relative to real time, and phase. It appears when work takes longer than a second.

On a terminal it is drawn by rich; in a notebook it is HTML that is replaced repeatedly.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import sys
import threading
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from pliant.host.interrupts import postponed

PATIENCE = 1.0  # s before anything is shown
REDRAWN = 0.2  # s between two updates in a notebook

Tell = Callable[[float | None, str], None]  # the progress, if known, and a description of the work


class Run:
    """Receives the progress of a run: simulate calls it with (t, t_end), and `phase` with a description."""

    def __init__(self, tell: Tell, t_start: float) -> None:
        self._tell, self._began, self._t_start = tell, perf_counter(), t_start
        self._t, self._t_end, self._phase = t_start, t_start, ""

    def __call__(self, t: float, t_end: float) -> None:
        self._t, self._t_end = t, t_end
        self._tell(t, self.words)

    def phase(self, words: str) -> None:
        self._phase = words
        self._tell(None, self.words)

    @property
    def words(self) -> str:
        """The text of the bar, as in "t = 0.512 of 1.5 s, 3.1 x real time, in flight"; before the run, the stage of preparation."""
        if self._t_end == self._t_start:
            return self._phase
        seconds = max(perf_counter() - self._began, 1e-9)
        speed = (self._t - self._t_start) / seconds
        return ", ".join(filter(None, (f"t = {self._t:.4g} of {self._t_end:.4g} s", f"{speed:.2g} x real time", self._phase)))


@contextlib.contextmanager
def of_run(t_start: float, t_end: float, quiet: bool) -> Iterator[Run]:
    shown = bar if quiet or notebook() is None else notebook_bar
    with shown(t_start, t_end, quiet) as tell:
        yield Run(tell, t_start)


@contextlib.contextmanager
def counted(progress: Any, words: str, total: float | None = None) -> Iterator[Callable[..., object] | None]:
    """The caller's function; or, if progress is True, a bar that is told as the function would be: a count, then of how many.

    total: of how many, if the function is told something else.
    """
    if progress is not True:
        yield None if progress is False else progress
        return
    shown = bar if notebook() is None else notebook_bar
    with shown(0.0, 1.0, False) as tell:

        def told(done: int, other: float, *_: int) -> None:
            most = other if total is None else total
            tell(min(done / max(most, 1), 1.0), f"{done} of {most:g} {words}" if total is None else f"{done} {words}, {other:.6g}")

        yield told


@contextlib.contextmanager
def waiting(words: str, quiet: bool) -> Iterator[None]:
    """A bar that only describes the work, for work whose progress is unknown."""
    with bar(0.0, None, quiet, words):
        yield


def notebook() -> Any | None:
    """IPython's display module if Python runs in a notebook, else None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.modules.get("IPython.display") if hasattr(shell, "kernel") else None


@contextlib.contextmanager
def notebook_bar(begin: float, end: float, quiet: bool) -> Iterator[Tell]:
    """A bar in the running cell of a notebook; removed at the end."""
    display: Any = notebook()
    began = drawn = perf_counter()
    handle: Any = None

    def tell(done: float | None, doing: str) -> None:
        nonlocal drawn, handle
        now = perf_counter()
        if done is None or now - began < PATIENCE or now - drawn < REDRAWN:
            return
        drawn, share = now, (done - begin) / (end - begin)
        picture = display.HTML(f'<progress value="{share:.4f}" style="width:20em"></progress> {html.escape(doing)}')
        handle = display.display(picture, display_id=True) if handle is None else handle
        handle.update(picture)

    try:
        yield tell
    finally:
        if handle is not None:
            handle.update(display.HTML(""))


@contextlib.contextmanager
def bar(begin: float, end: float | None, quiet: bool, words: str = "preparing") -> Iterator[Tell]:
    """A bar from begin to end on the standard error stream; nothing is shown if that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=console, transient=True)
    task = shown.add_task(words, total=None if end is None else end - begin)
    row = shown.tasks[0]
    timer = threading.Timer(PATIENCE, shown.start)
    timer.daemon = True
    if console.is_terminal and not quiet:
        timer.start()

    def tell(done: float | None, doing: str) -> None:
        if done is None:
            row.description = doing  # shown at the next redraw, because phases may change a thousand times a second
        else:
            shown.update(task, completed=done - begin, description=doing)

    def take_down() -> None:
        timer.cancel()
        if timer.is_alive():
            timer.join()  # it may be about to show the bar, which must then be removed
        if shown.live.is_started:
            shown.stop()

    # A bar that a second Ctrl-C left on the screen would be redrawn by its thread while Python exits, which aborts the process.
    atexit.register(take_down)
    try:
        yield tell
    finally:
        with postponed():
            take_down()
        atexit.unregister(take_down)

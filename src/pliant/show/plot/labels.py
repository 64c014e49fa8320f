"""Names in a schematic: each takes the first place beside its point, or along its link, that no line and no other name takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arrays import Floats

SPACING = 2.0  # points between the samples that stand for lines and names
CLEAR = 1.0  # points kept free around a name
GAPS = (6.0, 12.0, 20.0)  # points from what is named to its name, in order of preference
SIDES = ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1))  # of a point: right or left, above or below
PARTS = (0.5, 0.4, 0.6, 0.3, 0.7)  # of a link, where its name may be
OUTSIDE = 5  # samples that count for a name that leaves its panel


class Labels:
    """The names in one panel, whose layout must not change afterwards."""

    def __init__(self, panel: Any) -> None:
        panel.figure.draw_without_rendering()  # determines where the panel is
        self.panel, self.points = panel, 72.0 / panel.figure.dpi
        self.low, self.high = self.points * np.asarray(panel.get_window_extent())
        strokes = [self.points * line.get_transform().transform(line.get_xydata()) for line in panel.lines]
        self.taken = np.concatenate([np.zeros((0, 2)), *map(_samples, strokes)])

    def avoid(self, a: Floats, b: Floats) -> None:
        """Keep names off a line between two positions."""
        self._take(_samples(np.stack([self._place(a), self._place(b)])))

    def beside(self, at: Floats, words: str, colour: str) -> None:
        """Words beside a point."""
        text, half = self._text(at, words, colour)
        self._put(text, half, self._place(at), [np.array(side) * (half + gap) for gap in GAPS for side in SIDES], 0.0)

    def along(self, a: Floats, b: Floats, words: str, colour: str) -> None:
        """Words along a link, near its middle and preferably above it."""
        text, half = self._text(0.5 * (a + b), words, colour)
        ends = self._place(a), self._place(b)
        way = ends[1] - ends[0]
        angle = math.atan(way[1] / way[0]) if way[0] else 0.5 * math.pi
        above = np.array([-math.sin(angle), math.cos(angle)])
        places = [(part - 0.5) * way + side * (half[1] + 0.5 * gap) * above for gap in GAPS for part in PARTS for side in (1, -1)]
        self._put(text, half, 0.5 * (ends[0] + ends[1]), places, angle)

    def _place(self, at: Floats) -> Floats:
        return np.asarray(self.points * self.panel.transData.transform(at))

    def _text(self, at: Floats, words: str, colour: str) -> tuple[Any, Floats]:
        """The words and half of their width and height, in points."""
        style = {"color": colour, "fontsize": "small", "zorder": 8, "ha": "center", "va": "center", "rotation_mode": "anchor"}
        text = self.panel.annotate(words, at, (0, 0), textcoords="offset points", annotation_clip=False, parse_math=False, **style)
        return text, 0.5 * self.points * np.asarray(text.get_window_extent().size)

    def _put(self, text: Any, half: Floats, origin: Floats, places: Sequence[Floats], angle: float) -> None:
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        hits = [self._hits(origin + place, half, turn) for place in places]
        best = places[int(np.argmin(hits))]  # the first of the best
        text.set(position=tuple(best), rotation=math.degrees(angle))
        x, y = (np.append(np.arange(-size, size, SPACING), size) for size in half)
        self._take(origin + best + np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2) @ turn.T)

    def _hits(self, middle: Floats, half: Floats, turn: Floats) -> int:
        """How many samples of what is there a name would cover."""
        inside = np.all(np.abs((self.taken - middle) @ turn) <= half + CLEAR, axis=1)
        corners = middle + np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * half @ turn.T
        return int(np.count_nonzero(inside)) + OUTSIDE * int(np.any((corners < self.low) | (corners > self.high)))

    def _take(self, samples: Floats) -> None:
        self.taken = np.concatenate([self.taken, samples])


def _samples(stroke: Floats) -> Floats:
    """Points along a line; it may have gaps of nan."""
    steps = np.linalg.norm(np.diff(stroke, axis=0), axis=1)
    parts = [np.linspace(a, b, 2 + int(d / SPACING)) for a, b, d in zip(stroke, stroke[1:], steps, strict=False) if np.isfinite(d)]
    return np.concatenate([stroke[np.isfinite(stroke).all(axis=1)], *parts])

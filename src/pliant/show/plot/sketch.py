"""The mechanism drawn into a panel: bodies, joints, ground and contacts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.results.drawing import GROUND, BodyDrawing
from pliant.results.shown_units import shown_unit
from pliant.results.table import AXES
from pliant.show.plot.labels import Labels
from pliant.show.plot.style import ALARM, INK, PALETTE, QUIET
from pliant.show.scene import Scene, matrices

Look = tuple[Any, ...]  # options of a line

SOLID = "#5a5f66"  # rigid bodies
FLOOR_FILL, FLOOR_EDGE = "#ececec", "#9a9a9a"
PINS = ("point", "spherical", "revolute")  # closures drawn as a pin
ROOM = 0.08  # margin around everything that moves, as a fraction of the largest extent
ARROW = 0.25  # length of the longest force arrow, as a fraction of the largest extent
GRAVITY = 0.18  # length of the arrow of gravity in a spatial picture, as a fraction of the largest extent
CORNER, ARROW_POINTS = np.array([-12.0, -16.0]), 11.0  # points: the middle of that of a planar one, and half its length
AXIS_LENGTH, SHORT = 0.09, 0.02  # of a frame's arrows, and of a body that has no length to name, as fractions of the largest extent
IN_PLANE = 1e-6  # part of gravity in the plane of a picture, below which it is normal to it
BLOCK = 100  # times whose positions are computed at once
LEAST_ROOM, LEAST_DEPTH = 0.12, 0.45  # smallest width of a planar and of a spatial picture, as fractions of the largest extent


class Sketch:
    """Draws a scene at one time after another into panels of one figure."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.axes = scene.axes
        low, high = (corner[list(self.axes)] for corner in scene.box)
        self.size = max(float(np.max(high - low)), 1e-9)
        middle = 0.5 * (low + high)
        half = np.maximum(0.5 * (high - low), 0.5 * (LEAST_ROOM if scene.flat else LEAST_DEPTH) * self.size) + ROOM * self.size
        self.low, self.high = middle - half, middle + half
        forces = [touch.peak_force for touch in scene.result.contacts]
        self.largest_force = max([*forces, float(np.max(np.nan_to_num(scene.result.values["normal_force"]), initial=0.0))])
        self.colours = _colours(scene.drawing.bodies)
        self._drawn: dict[Any, dict[Look, Any]] = {}  # by panel: the line of each look, and filled areas
        self._strokes: dict[Look, list[Floats]] = {}  # of the drawing in progress

    def prepare(self, panel: Any) -> None:
        """Limits, equal scales, names and units of the axes, and the ground."""
        size, unit = shown_unit("m", self.scene.result.shown_units)
        names = [f"{AXES[k]}, {unit}" for k in self.axes]
        for axis in (panel.xaxis, panel.yaxis, *(() if self.scene.flat else (panel.zaxis,))):
            if size != 1.0:
                axis.set_major_formatter(lambda x, _: f"{x / size:.6g}".replace("-", "\N{MINUS SIGN}"))
        panel.set(xlabel=names[0], ylabel=names[1], xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        if self.scene.flat:
            panel.set_aspect("equal")
            if self.scene.upside_down:
                panel.invert_yaxis()
        else:
            panel.set(zlabel=names[2], zlim=(self.low[2], self.high[2]))
            panel.view_init(vertical_axis=AXES[self.scene.upright])
            if self.scene.upside_down:
                (panel.invert_xaxis, panel.invert_yaxis, panel.invert_zaxis)[self.scene.upright]()
            panel.set_box_aspect(self.high - self.low, zoom=0.78)  # room for the names of the axes
            for axis in (panel.xaxis, panel.yaxis, panel.zaxis):
                axis.pane.set_alpha(0.0)
                axis.set_major_locator(_ticks())
                axis.labelpad = 8.0
        self._draw_ground(panel)
        if any(self.scene.drawing.gravity):
            self._draw_gravity(panel)

    def _draw_gravity(self, panel: Any) -> None:
        """An arrow in the upper right corner; a circle with a cross, or a dot, if gravity points into, or out of, the page."""
        gravity = np.array(self.scene.drawing.gravity) / np.linalg.norm(self.scene.drawing.gravity)
        if not self.scene.flat:
            tail = self.high - ROOM * self.size * np.ones(3)
            if self.scene.upside_down:
                tail[self.scene.upright] = self.low[self.scene.upright] + ROOM * self.size
            panel.quiver(*tail, *(GRAVITY * self.size * gravity), color=QUIET, linewidth=1.4, arrow_length_ratio=0.3)
            panel.text(*tail, " g", color=QUIET)
            return
        sense = -1.0 if self.scene.upside_down else 1.0
        across, down = gravity[self.axes[0]], sense * gravity[self.axes[1]]
        if math.hypot(across, down) > IN_PLANE:
            head, tail = (_inside(panel, CORNER + sign * ARROW_POINTS * np.array([across, down])) for sign in (1.0, -1.0))
            arrow = {"arrowstyle": "-|>", "color": QUIET, "linewidth": 1.4, "shrinkA": 0.0, "shrinkB": 0.0}
            panel.annotate("", xy=(1, 1), xycoords=head, xytext=(1, 1), textcoords=tail, arrowprops=arrow)
        else:
            out = sense * np.cross(*np.eye(3)[list(self.axes)]) @ gravity > 0.0
            place: dict[str, Any] = {"transform": _inside(panel, CORNER), "clip_on": False, "color": QUIET}
            panel.plot(1, 1, "o", markersize=11, markerfacecolor="none", **place)
            panel.plot(1, 1, "o" if out else "x", markersize=3 if out else 7, **place)
        panel.text(1, 1, "g", transform=_inside(panel, CORNER - np.array([11.0, 0.0])), color=QUIET, ha="center", va="center")

    def draw(self, panel: Any, t: float) -> None:
        """Draw everything that moves, at one time."""
        next(self.film(panel, np.array([t])))

    def film(self, panel: Any, times: Floats, linger: float = 0.0) -> Iterator[list[Any]]:
        """The artists of everything that moves, at one time after another; each drawing replaces the one before."""
        for block in np.split(times, range(BLOCK, len(times), BLOCK)):
            positions = self.scene.positions(block)
            undeformed = positions if self.scene.scale == 1.0 else self.scene.positions(block, deformed=False)
            for row, t in enumerate(block):
                here, straight = ([points[row : row + 1] for points in found] for found in (positions, undeformed))
                yield self._drawing(panel, float(t), here, straight, linger)

    def _drawing(self, panel: Any, t: float, positions: list[Floats], undeformed: list[Floats], linger: float) -> list[Any]:
        before, self._drawn[panel], self._strokes = self._drawn.get(panel, {}), {}, {}
        self._draw_links(positions)
        for k, body in enumerate(self.scene.drawing.bodies):
            self._draw_body(panel, body, k, positions[k][0], undeformed[k][0])
        self._draw_joints(positions)
        self._draw_contacts(t, linger)
        for look, strokes in self._strokes.items():
            self._drawn[panel][look] = self._line(panel, look, strokes, before.pop(look, None))
        for artist in before.values():
            artist.remove()
        return list(self._drawn[panel].values())

    def _line(self, panel: Any, look: Look, strokes: Sequence[Floats], line: Any) -> Any:
        """All strokes of one look as one line with gaps, because artists are what takes time; a line drawn before is moved."""
        gap = np.full((1, 3), np.nan)
        points = np.concatenate([part for stroke in strokes for part in (stroke, gap)])[:-1]
        data = [points[:, k] for k in self.axes]
        if line is None:
            (line,) = panel.plot(*data, **dict(look))
        else:
            (line.set_data if self.scene.flat else line.set_data_3d)(*data)
        return line

    def label(self, panel: Any, t: float) -> None:
        """What a schematic shows besides: the axes of the ground and of every body, names, lengths, and coordinates of joints."""
        from pliant.show.plot.over_time import is_mode

        times, names = np.array([t]), self.scene.result.labels["coordinate"]
        positions = self.scene.positions(times, deformed=False)
        turns = matrices(self.scene.times(times).take(self.scene.orientations)[0])
        size, unit = shown_unit("m", self.scene.result.shown_units)
        labels = Labels(panel) if self.scene.flat else None
        ends = [found[0][[0, min(1, len(found[0]) - 1)]] for found in positions]  # root and tip of each body
        tips = self._draw_axes(panel, labels, np.zeros(3), np.eye(3), QUIET)
        for k, (root, _) in enumerate(ends):
            self._draw_axes(panel, labels, root, turns[k], self.colours[k])
        for body, (root, tip), colour in zip(self.scene.drawing.bodies, ends, self.colours, strict=True):
            length = float(np.linalg.norm(tip - root))
            outlined = any(line[0] == line[-1] for line in body.lines)
            if outlined or length <= SHORT * self.size:
                self._write(panel, labels, root, body.name, colour)
            else:
                self._write(panel, labels, root, f"{body.name}, {length / size:.4g} {unit}", colour, tip)
        for axis, end in zip(self.axes, tips, strict=True):
            self._write(panel, labels, end, AXES[axis], QUIET)
        for body, (root, _) in zip(self.scene.drawing.bodies, ends, strict=True):
            joint = [name for name in names if name.startswith(f"{body.name}.") and not is_mode(name)]
            self._write(panel, labels, root, ", ".join(name.rsplit(".", 1)[1] for name in joint), INK)

    def _draw_axes(self, panel: Any, labels: Labels | None, origin: Floats, turn: Floats, colour: str) -> list[Floats]:
        """An arrow along each axis that the picture shows; where they end."""
        a, tips = list(self.axes), [origin + AXIS_LENGTH * self.size * turn[:, axis] for axis in self.axes]
        for tip in tips:
            if labels is not None:
                style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.0, "shrinkA": 0.0, "shrinkB": 0.0}
                panel.annotate("", tip[a], origin[a], arrowprops=style, zorder=7, annotation_clip=False)
                labels.avoid(origin[a], tip[a])
            else:
                panel.quiver(*origin, *(tip - origin), color=colour, linewidth=1.0, arrow_length_ratio=0.3)
        return tips

    def _write(self, panel: Any, labels: Labels | None, at: Floats, words: str, colour: str, to: Floats | None = None) -> None:
        """Words beside a point, or along a line to another."""
        a = list(self.axes)
        if labels is None and words:
            panel.text(*(at if to is None else 0.5 * (at + to)), f" {words}", color=colour, fontsize="small")
        elif labels is not None and words:
            labels.beside(at[a], words, colour) if to is None else labels.along(at[a], to[a], words, colour)

    def _plot(self, points: Floats, **look: Any) -> None:
        self._strokes.setdefault(tuple(look.items()), []).append(points)

    def _mark(self, points: Floats, marker: str, **look: Any) -> None:
        self._plot(points, marker=marker, linestyle="none", **look)

    def _draw_body(self, panel: Any, body: BodyDrawing, number: int, points: Floats, undeformed: Floats) -> None:
        colour = self.colours[number]
        elastic = any(np.any(field.bow) for field in body.fields)
        for line in body.lines:
            stroke = points[list(line)]
            if len(line) > 2 and line[0] == line[-1] and self.scene.flat:
                (area,) = panel.fill(*(stroke[:, k] for k in self.axes), color=colour, alpha=0.25, linewidth=0, zorder=2)
                self._drawn[panel]["area", number, line] = area
            width = 1.0 if body.triangles else 5.0 if body.kind == "telescopic" and len(line) == 2 else 2.6
            if elastic and self.scene.scale != 1.0:
                self._plot(undeformed[list(line)], linestyle=":", color=QUIET, linewidth=0.8, zorder=2)
            self._plot(stroke, color=colour, linewidth=width, solid_capstyle="round", zorder=3)
        if len(points) == 1 or body.kind == "payload":
            self._mark(points[-1:], "s" if body.joint == "prismatic" else "o", color=colour, markersize=8, zorder=4)

    def _draw_links(self, positions: list[Floats]) -> None:
        """Brackets and guides from each joint to the body it carries, rods of distance closures, and struts."""
        drawing = self.scene.drawing
        for k, body in enumerate(drawing.bodies):
            if body.joint != "free":
                ends = np.stack([self.scene.spot(body.on, positions)[0], positions[k][0, 0]])
                self._plot(ends, color=QUIET, linewidth=1.2, zorder=2)
        for kind, a, b in drawing.closures:
            ends = np.stack([self.scene.spot(a, positions)[0], self.scene.spot(b, positions)[0]])
            thick, dashes = (2.0, "-") if kind == "strut" else (1.6 if kind == "distance" else 1.0, "--")
            self._plot(ends, color=QUIET, linewidth=thick, linestyle=dashes, zorder=2)

    def _draw_joints(self, positions: list[Floats]) -> None:
        style: dict[str, Any] = {"color": INK, "markerfacecolor": "white", "markersize": 5, "markeredgewidth": 1.1, "zorder": 5}
        for kind, a, _ in self.scene.drawing.closures:
            if kind in PINS:
                self._mark(self.scene.spot(a, positions)[:1], "o", **style)
        for k, body in enumerate(self.scene.drawing.bodies):
            if body.joint in ("free", "weld"):
                continue
            root = positions[k][0, :1]
            if body.on[0] == GROUND and body.joint != "prismatic":
                self._mark(root, "^", color=FLOOR_EDGE, markersize=10, zorder=2)
            mark = "s" if body.joint == "prismatic" else "o"
            self._mark(root, mark, **style)

    def _draw_contacts(self, t: float, linger: float) -> None:
        result, drawing = self.scene.result, self.scene.drawing
        at = self.scene.times(np.array([t]))
        spots, normals = (at.take(result.values[name])[0] for name in ("contact_point", "contact_normal"))
        forces, gaps = at.take(result.values["normal_force"])[0], at.take(result.values["gap"])[0]
        touching = self.scene.closed(t, linger)
        for k, contact in enumerate(drawing.contacts):
            closed = contact.pair in touching
            self._draw_ball(spots[k] + contact.radius * normals[k], contact.radius, closed)
            if contact.other_radius is not None:
                other = spots[k] - (gaps[k] + contact.other_radius) * normals[k]
                self._draw_ball(other, contact.other_radius, closed)
            elif not contact.on_ground:
                self._draw_moving_plane(spots[k] - gaps[k] * normals[k], normals[k])
            if closed:
                self._mark(spots[k : k + 1], "o", color=ALARM, markersize=7, zorder=6)
                force = max(float(forces[k]), 0.0) / self.largest_force if self.largest_force > 0.0 else 0.0
                if force > 0.02:
                    tip = spots[k] + ARROW * self.size * force * normals[k]
                    self._plot(np.stack([spots[k], tip]), color=ALARM, linewidth=2.0, zorder=6)

    def _draw_ball(self, centre: Floats, radius: float, closed: bool) -> None:
        radius = abs(radius)  # that of a bore is negative
        if radius == 0.0:
            return
        angle = np.linspace(0.0, 2.0 * np.pi, 49)
        circle = np.repeat(centre[None], len(angle), axis=0)
        circle[:, self.axes[0]] += radius * np.cos(angle)
        circle[:, self.axes[-1]] += radius * np.sin(angle)
        self._plot(circle, color=ALARM if closed else SOLID, linewidth=1.2, zorder=3)

    def _draw_moving_plane(self, foot: Floats, normal: Floats) -> None:
        if not self.scene.flat:
            return
        a, b = self.axes
        along = np.zeros(3)
        along[a], along[b] = -normal[b], normal[a]
        reach = 0.15 * self.size * along
        self._plot(np.stack([foot - reach, foot + reach]), color=FLOOR_EDGE, linewidth=1.6, zorder=1)

    def _draw_ground(self, panel: Any) -> None:
        drawn = set()
        for contact in self.scene.drawing.contacts:
            plane = (contact.point, contact.normal)
            if contact.other_radius is None and contact.on_ground and plane not in drawn:
                drawn.add(plane)
                (self._draw_half_plane if self.scene.flat else self._draw_sheet)(panel, *map(np.array, plane))
        for line in self.scene.drawing.ground_lines:
            panel.plot(*(self.scene.drawing.ground[list(line), k] for k in self.axes), color=FLOOR_EDGE, linewidth=1.6, zorder=1)

    def _draw_half_plane(self, panel: Any, point: Floats, normal: Floats) -> None:
        """Fill the solid side of a plane."""
        axes = list(self.axes)
        foot, out = point[axes], normal[axes]
        along, reach = np.array([-out[1], out[0]]), 20.0 * self.size
        corners = np.stack([foot + reach * along, foot - reach * along, foot - reach * along - reach * out,
                            foot + reach * along - reach * out])  # fmt: skip
        panel.fill(corners[:, 0], corners[:, 1], facecolor=FLOOR_FILL, edgecolor=FLOOR_EDGE, linewidth=1.2, zorder=1)

    def _draw_sheet(self, panel: Any, point: Floats, normal: Floats) -> None:
        """A patch of a plane, below everything that moves."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        middle = 0.5 * (self.low + self.high)
        foot = middle - np.dot(normal, middle - point) * normal
        first = np.cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0))
        first /= np.linalg.norm(first)
        second, reach = np.cross(normal, first), 0.55 * self.size
        corners = [foot + reach * (i * first + j * second) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        panel.add_collection3d(Poly3DCollection([corners], facecolor=FLOOR_FILL, edgecolor=FLOOR_EDGE, alpha=0.5))


def _colours(bodies: tuple[BodyDrawing, ...]) -> list[str]:
    """Elastic bodies take the palette's colours in turn; rigid bodies are grey."""
    colours, next_one = [], 0
    for body in bodies:
        if body.kind in ("rigid", "payload"):
            colours.append(SOLID)
            continue
        colours.append(PALETTE[next_one % (len(PALETTE) - 1)])
        next_one += 1
    return colours


def _inside(panel: Any, points: Floats) -> Any:
    """The coordinates in which (1, 1) is so many points from the upper right corner of a panel."""
    from matplotlib.transforms import ScaledTranslation

    return panel.transAxes + ScaledTranslation(points[0] / 72.0, points[1] / 72.0, panel.figure.dpi_scale_trans)


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)

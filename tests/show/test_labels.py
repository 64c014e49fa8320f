"""Names in schematics lie clear of each other and of what is drawn."""

import itertools

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.show.plot.labels import Labels, _samples


def corners(text):
    """Of the words' own rectangle, which may be rotated: (4, 2), pixels."""
    angle = np.radians(text.get_rotation())
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    box = text.get_window_extent()
    middle = 0.5 * (box.min + box.max)
    text.set_rotation(0.0)
    half = 0.5 * np.asarray(text.get_window_extent().size)
    text.set_rotation(np.degrees(angle))
    return middle + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ turn.T


def apart(one, other):
    """Whether a side of one of two rectangles separates them."""
    for sides in (one, other):
        for edge in (sides[1] - sides[0], sides[2] - sides[1]):
            a, b = one @ edge, other @ edge
            if a.max() <= b.min() + 1e-6 or b.max() <= a.min() + 1e-6:
                return True
    return False


@pytest.fixture(scope="module")
def robot():
    return pl.simulate(parallel_robot(10.0), t_end=0.4, save=[0.0, 0.4])


@pytest.mark.parametrize("system", ["chain", "crank", "robot"])
def test_names_in_a_schematic_overlap_neither_each_other_nor_lines(system, request):
    result = request.getfixturevalue(system)
    figure = pl.plot.mechanism(result, time=float(result.time[-1]) if system == "robot" else 0.0, labels=True)
    figure.canvas.draw()
    (panel,) = figure.axes
    words = [text for text in panel.texts if text.get_text()]
    boxes = {(text.get_text(), k): corners(text) for k, text in enumerate(words)}
    assert len(boxes) > 5
    assert [names for names in itertools.combinations(boxes, 2) if not apart(*(boxes[name] for name in names))] == []
    lines = np.concatenate([_samples(line.get_transform().transform(line.get_xydata())) for line in panel.lines])
    covered = [name for name, box in boxes.items() if name[0] != "g" and _inside(lines, box)]
    assert covered == []


def _inside(points, box):
    edges = np.array([box[1] - box[0], box[3] - box[0]])
    along = (points - box[0]) @ edges.T / np.sum(edges**2, axis=1)
    return bool(np.any(np.all((along > 0.0) & (along < 1.0), axis=1)))


def test_a_name_takes_the_next_place_where_the_first_is_taken():
    from matplotlib.figure import Figure

    panel = Figure().subplots()
    panel.set(xlim=(0, 1), ylim=(0, 1))
    labels = Labels(panel)
    for _ in range(3):
        labels.beside(np.array([0.5, 0.5]), "angle", "black")
    (first, second, third) = (text.get_position() for text in panel.texts)
    assert first[0] > 0 > first[1] and second[0] > 0 < second[1] and third[0] < 0 > third[1]  # right below, right above, left below

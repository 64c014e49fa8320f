"""What type checkers are told: a number may be a parameter's expression, several numbers may be an array, and parts keep both."""

import numpy as np
import pytest

import pliant as pl

STATIONS = np.linspace(0.0, 1.0, 7)
OF_ARRAYS = {
    "inertia": lambda given: pl.RigidBody(mass=1.0, inertia=given(np.diag([1.0, 2.0, 2.5]))).inertia,
    "diagonal": lambda given: pl.RigidBody(mass=1.0, inertia=given(np.array([1.0, 2.0, 2.5]))).inertia,
    "frames": lambda given: pl.RigidBody(mass=1.0, frames={"eye": given(np.array([1.0, 2.0]))}).frames,
    "ratios": lambda given: pl.ModalDamping(given(np.array([0.1, 0.2]))),
    "points": lambda given: pl.FibreOutline(points=given(np.array([[0.0, 1.0], [1.0, 0.0]]))),
    "mass": lambda given: pl.GivenModes((pl.ShapeTable(STATIONS, STATIONS**2),), mass=given(np.array([[2.0]]))),
    "breaks": lambda given: pl.ShapeFunction(np.sin, np.cos, np.sin, breaks=given(np.array([0.1, 0.2]))),
    "axis": lambda given: pl.Revolute(axis=given(np.array([0.0, 1.0, 0.0]))),
    "times": lambda given: pl.PiecewiseLinear(given(STATIONS), given(STATIONS**2)),
}


@pytest.mark.parametrize("field", OF_ARRAYS)
def test_an_array_is_what_a_list_of_its_numbers_is(field):
    make = OF_ARRAYS[field]
    assert make(np.asarray) == make(np.ndarray.tolist)


def test_an_array_of_no_dimension_is_refused_in_words():
    with pytest.raises(pl.ModelError, match="inertia must be a finite number"):
        pl.RigidBody(mass=1.0, inertia=np.array(2.0))

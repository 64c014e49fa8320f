"""Pictures of modes, responses and Campbell diagrams: what is drawn is what was computed."""

import matplotlib as mpl
import numpy as np
import pytest

import pliant as pl


@pytest.fixture(scope="module")
def linear():
    link = pl.Beam(length=0.6, section=pl.Section.rectangle(0.02, 0.006), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), damping=pl.RayleighRatios(ratios=(0.01, 0.01)))  # fmt: skip
    system = pl.System("arm $x$", gravity=(0, -9.81))
    system.add("arm", link, joint=pl.Revolute(spring=pl.Spring(80.0), damper=pl.Damper(0.2)))
    system.drive("motor", "arm.angle", 0.0)
    return pl.linearise(system, outputs=["arm.angle", "tip_position arm y"])


def test_mode_shapes_have_a_panel_each_and_the_frequency_in_its_title(linear):
    modes, style = linear.modes(), dict(mpl.rcParams)
    figure = pl.plot.mode_shape(modes)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == len(modes) == 3
    assert titles[0].startswith(f"0: {modes.frequencies[0] / (2 * np.pi):.4g} Hz")
    assert figure.get_suptitle().startswith("arm $x$") and dict(mpl.rcParams) == style
    assert len(pl.plot.mode_shape(modes, 1).axes) == 1
    with pytest.raises(pl.ModelError, match="number must be from 0 to 2"):
        pl.plot.mode_shape(modes, [0, 3])


def test_a_mode_that_goes_into_space_is_drawn_in_space():
    link = pl.Beam(length=0.6, section=pl.Section.rectangle(0.02, 0.006), material=pl.STEEL, theory="euler-bernoulli",
                   modes=[pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z")])  # fmt: skip
    system = pl.System("rod", gravity=(0, 0, 0))
    system.add("rod", link, joint=pl.Weld())
    figure = pl.plot.mode_shape(pl.linearise(system, outputs=()).modes())
    assert all(hasattr(axes, "get_zlim") for axes in figure.axes)


def test_bode_draws_magnitude_and_phase_of_what_is_asked(linear):
    response = linear.frequency_response(np.geomspace(1.0, 1e3, 50))
    figure = pl.plot.bode(response, outputs=["arm.angle"])
    upper, lower = figure.axes
    (line,) = upper.get_lines()
    assert line.get_ydata() == pytest.approx(np.abs(response.of("arm.angle", "motor")))
    assert line.get_xdata() == pytest.approx(response.frequencies / (2 * np.pi))
    assert lower.get_lines()[0].get_ydata() == pytest.approx(np.degrees(response.phase[:, 0, 0]))
    assert len(pl.plot.bode(response).axes[0].get_lines()) == 2
    with pytest.raises(pl.ModelError, match="outputs must be some of"):
        pl.plot.bode(response, outputs=["nothing"])


def test_campbell_draws_every_mode_and_the_harmonics_of_a_speed():
    system = pl.System("bob", gravity=(0, 0, -9.81))
    mast = system.add("mast", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Revolute(axis="z"))
    system.add("bob", pl.RigidBody(mass=0.5, inertia=(0.01, 0.01, 0.01), com=(0.4, 0, 0)),
               joint=pl.Revolute(axis="y", angle=1.2), on=mast.root)  # fmt: skip
    diagram = pl.campbell(system, over={"mast.angle": [2.0, 6.0, 10.0]})
    (panel,) = pl.plot.campbell(diagram).axes
    drawn = [line for line in panel.get_lines() if len(line.get_xdata()) == 3]
    assert len(drawn) == 1 + 3 and drawn[0].get_ydata() == pytest.approx(diagram.frequencies[:, 0] / (2 * np.pi))
    assert "speed of mast.angle, rad/s" in panel.get_xlabel()

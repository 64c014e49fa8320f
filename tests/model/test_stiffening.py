"""`stiffening`: what `auto` stands for, by what it is decided, and where that is said."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes
from pliant.files import dump_model, loads_model
from pliant.gallery.slider_crank import system as slider_crank
from pliant.trace.tracing import lower_system

FLAT = pl.Section.rectangle(height=0.004, width=0.02)


def strip(modes, length=1.0, **more):
    return pl.Beam(length=length, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=modes, **more)


def pendulum(beam, **joint):
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("arm", beam, joint=pl.Revolute(**joint))
    return system


@pytest.mark.parametrize(("count", "taken"), [(1, "full"), (5, "full"), (13, "full"), (40, "full"), (41, "none")])
def test_auto_is_full_unless_the_bending_coordinates_of_a_plane_are_too_many(count, taken):
    assert strip(pl.Modes("cf", count)).stiffening_taken == taken
    assert strip([pl.Modes("cf", 1), pl.Modes("cf", count, plane="z")]).stiffening_taken == taken
    assert strip([pl.Modes("cf", 1), pl.AxialModes("cf", 20), pl.TorsionModes("cf", 20)]).stiffening_taken == "full"


@pytest.mark.parametrize("stiffening", ["none", "linear", "full", "cubic", "as-published"])
def test_what_is_given_is_taken(stiffening):
    assert strip(pl.Modes("cf", 20), stiffening=stiffening).stiffening_taken == stiffening


def test_numbers_decide_nothing_so_that_runs_share_their_code():
    """A thousand times as slender, spun and loaded: the same structure as the stocky one at rest."""
    systems = [pendulum(strip(pl.Modes("cf", 2), length=length), rate=rate) for length, rate in ((0.1, 0.0), (100.0, 50.0))]
    first, second = (lower_system(system).lowered.structure for system in systems)
    assert first == second


def test_auto_and_what_it_stands_for_are_one_run():
    runs = [pl.simulate(pendulum(strip(pl.Modes("cf", 2), **more), angle=-0.3), 0.3) for more in ({}, {"stiffening": "full"})]
    assert np.array_equal(runs[0].values["q"], runs[1].values["q"])


def test_it_is_said_where_a_system_is_printed_and_in_the_result_and_nowhere_as_a_warning(tmp_path):
    system = pendulum(strip(pl.Modes("cf", 2)), angle=-0.3)
    system.add("fine", strip(pl.Modes("cf", 5)), joint=pl.Revolute(), on=system.handle("arm").tip)
    system.add("told", strip(pl.Modes("cf", 1), stiffening="none"), joint=pl.Revolute(), on=system.handle("fine").tip)
    assert "stiffening auto: full of arm, fine" in str(system)
    run = pl.simulate(system, 0.01)
    assert run.stats["stiffening"] == "full of arm, fine" and run.warnings == ()
    run.to_netcdf(tmp_path / "run.nc")
    assert pl.Result.from_netcdf(tmp_path / "run.nc").stats["stiffening"] == run.stats["stiffening"]
    given = pendulum(strip(pl.Modes("cf", 2), stiffening="full"))
    assert "stiffening" not in str(given) and "stiffening" not in pl.simulate(given, 0.01).stats


def test_a_file_that_says_nothing_means_auto_and_is_written_so():
    system = pendulum(strip(pl.Modes("cf", 2)))
    again = loads_model(dump_model(system)).system
    assert again.links["arm"].body.stiffening == "auto"
    assert "stiffening" not in dump_model(system) or "stiffening: auto" in dump_model(system)


def test_a_pendulum_with_a_load_needs_it_though_it_hardly_bends():
    """Tension of 6 % of the buckling load makes it vibrate faster: after 2 s, deflections of 1/300 of its length are another curve.

    What `linear` leaves out changes them by 0.1 %.
    """
    deflections = {}
    for stiffening in ("none", "linear", "full"):
        beam = strip(pl.Modes("cf", 2), payload=pl.Payload(mass=0.3), stiffening=stiffening)
        run = pl.simulate(pendulum(beam, angle=-np.pi / 2.0 + 0.3), 2.0, save=0.01)
        deflections[stiffening] = run.of_body("tip_deflection", "arm")[:, 1]
    largest = np.max(np.abs(deflections["full"]))
    apart = {name: float(np.sqrt(np.mean((values - deflections["full"]) ** 2)) / largest) for name, values in deflections.items()}
    assert largest < 4e-3 and apart["none"] > 0.3 and apart["linear"] < 2e-3


def test_where_auto_leaves_it_out_that_is_told_whatever_the_motion():
    for more, told in (({}, 1), ({"stiffening": "none"}, 0)):
        system = pl.System("mesh", gravity=(0, 0))
        system.add("blade", strip(pl.ElementModes(21, reference="cantilever"), **more), joint=pl.Weld())
        warnings = pl.linearise(system, inputs=(), outputs=()).warnings
        assert len(warnings) == told
        assert not told or "beam 'blade' has 42 bending coordinates in a plane; for more than 40, stiffening 'auto'" in warnings[0]


def driven(modes):
    """The paper's slider-crank with a damped steel rod in these modes, stiffened by default."""
    system = slider_crank.driven_crank()
    link = system.links["rod"]
    system.links["rod"] = replace(link, body=replace(link.body, modes=modes, stiffening="auto"))
    return system


def bend(modes):
    """The deflection of the middle of the rod after 5 ms, mm."""
    system = driven(modes)
    run, rod = pl.simulate(system, 0.005), system.links["rod"].body
    assert run.ok and run.warnings == () and run.stats["stiffening"] == "full of rod"
    coordinates = np.array([run[f"rod.{label}"][-1] for label in rod.mode_labels])
    return 1e3 * float(beam_shapes(rod).displacement([0.5 * rod.length])[0, 1] @ coordinates)


def test_a_refined_rod_converges_to_one_answer_and_never_changes_its_physics():
    """Fields by pairs up to two elements, by polynomials beyond; other shapes lead there too. Without foreshortening: 5.786 mm."""
    elements = {count: (pl.AxialElements(count), pl.ElementModes(count, reference="simply-supported")) for count in (2, 4, 6, 8)}
    bends = {count: bend(modes) for count, modes in elements.items()}
    steps = np.abs(np.diff(list(bends.values())))
    assert np.all(steps[1:] < 0.3 * steps[:-1]), bends  # 25 um, then 1.8 um, 0.4 um
    assert bends[8] == pytest.approx(5.1131, abs=2e-4) and bends[2] == pytest.approx(bends[8], rel=5e-3)
    assert bend((pl.AxialElements(8), pl.Modes("ss", 5))) == pytest.approx(bends[8], rel=1e-3)


def falling(count, deflection, stiffening="linear"):
    """A strip on a hinge that begins bent, by so much of its length, and falls for a moment."""
    system = pl.System("bent", gravity=(0, -9.81))
    beam = strip(pl.Modes("cf", count), stiffening=stiffening)
    system.add("arm", beam, joint=pl.Revolute(), initial={"y1": 0.5 * deflection})
    return pl.simulate(system, 1e-3)


def test_linear_warns_before_its_mass_matrix_is_singular_and_full_has_no_need_to():
    assert falling(5, 0.02).warnings == ()
    (sentence,) = falling(5, 0.05).warnings
    assert "beam 'arm' bends so far at t = 0 s that stiffening 'linear' takes away 28% of the inertia of a motion of" in sentence
    with pytest.raises(pl.SolveError, match=r"mass matrix is singular .* stiffening 'linear' of 'arm' takes inertia away"):
        falling(5, 0.1)
    assert falling(5, 0.05, "full").warnings == falling(8, 0.099, "full").warnings == ()


def test_so_does_a_rod_of_linear_stiffness_whose_run_ends_in_a_singular_mass_matrix():
    """Undamped, the slider-crank's blow bends it more and more; with full stiffening it goes on."""
    system = slider_crank.slider_crank(6)
    link = system.links["rod"]
    system.links["rod"] = replace(link, body=replace(link.body, stiffening="linear"))
    run = pl.simulate(system, 0.04)
    assert any("stiffening 'linear' takes away" in sentence for sentence in run.warnings)

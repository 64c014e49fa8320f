"""Every warning fires where it must, with its numbers, and nowhere else."""

import math
from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes
from pliant.gallery.clearance.system import TURN, guided_slider_crank, ideal_slider_crank
from pliant.gallery.ivp_test_set import andrews_squeezer, flexible_slider_crank
from pliant.gallery.representative import REPRESENTATIVES, Representative
from pliant.gallery.tipping_arm.spin_up import spin_up_beam
from pliant.run.validity import WARNINGS

FLAT = pl.Section.rectangle(height=0.004, width=0.02)  # m
FIRST = 1.8751040687119611**2  # of a cantilever, in sqrt(E I / mu) / L^2


def strip(length=1.0, modes=None, stiffening="none", material=pl.STEEL, **more):
    """A slender cantilever of steel."""
    return pl.Beam(length=length, section=FLAT, material=material, theory="euler-bernoulli", modes=modes or pl.Modes("cf", 2),
                   stiffening=stiffening, **more)  # fmt: skip


def rigidity():
    return pl.STEEL.E * FLAT.Iz


def clamped(beam, force, **initial):
    """A beam on the wall with a force at its tip."""
    system = pl.System("clamped", gravity=(0, 0))
    body = system.add("rod", beam, joint=pl.Weld(), initial=initial)
    system.force("load", body.tip, force)
    return system


def of(sentences, words):
    return [sentence for sentence in sentences if words in sentence]


def test_every_warning_is_registered_once_and_has_a_test_here():
    names = [warning.__name__ for warning in WARNINGS]
    assert len(set(names)) == len(names)
    assert all(warning.__doc__ for warning in WARNINGS)


# ------------------------------------------------------------------------------------------------- forgotten units


def test_a_run_tells_of_sections_densities_and_angles_whose_unit_was_forgotten():
    tube = pl.Section.tube(outer=12, inner=10)  # mm
    light = pl.Material(E=7e10, density=2.7)  # g/cm^3
    beam = pl.Beam(length=0.6, section=tube, material=light, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", beam, joint=pl.Revolute(angle=30))
    said = pl.simulate(system, 0.01).warnings
    assert of(said, "density = 2.7 kg/m^3 is less than foam has; steel has 7860 kg/m^3")
    assert of(said, "angle = 30 rad is 4.77 turns; pl.deg(30) if degrees are meant")
    assert of(said, "0.022 times the depth of its section, less than a beam has; is it in m? 0.01 is 10 mm")
    (said,) = pl.equilibrium(clamped_on(pl.Revolute()), hold={"rod.angle": 30}).warnings
    assert said == "equilibrium: hold['rod.angle'] = 30 rad is 4.77 turns; '30 deg' if degrees are meant"
    assert pl.equilibrium(clamped_on(pl.Revolute()), hold={"rod.angle": "30 deg"}).warnings == ()


def clamped_on(joint):
    system = pl.System("arm", gravity=(0, 0))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=joint)
    return system


def test_segments_may_be_stocky():
    system = pl.System("fine", gravity=(0, 0))
    system.add("rod", pl.segmented(strip(length=0.1), 20), joint=pl.Weld())
    assert pl.simulate(system, 1e-5).warnings == () == pl.implausible(system)


@pytest.mark.parametrize(("period", "delay", "words"), [(500, 0.0, "runs only once, because period = 500 s is longer than"),
                                                        (0.01, 1, "its outputs never act, because delay = 1 s is as long as"),
                                                        (0.01, 0.005, "")])  # fmt: skip
def test_a_controller_that_is_idle_for_the_whole_run_is_told(period, delay, words):
    system = clamped_on(pl.Revolute())
    system.sampled("c", period, lambda t, q, v, measured, memory: -q["rod.angle"], "torque", delay=delay)
    system.drive("servo", "rod.angle", lambda t, q, v: q["c.torque"])
    run = pl.simulate(system, 0.2)
    assert [words in sentence for sentence in run.warnings] == [True] * bool(words)
    assert not of(pl.simulate(system, 0.3, start=run).warnings, "controller")  # a part of a run


# ---------------------------------------------------------------------------------------------------------------- bending


def test_a_deflection_past_a_tenth_of_the_length_is_told_with_beam_time_and_number():
    run = pl.simulate(clamped(strip(), (0.0, 0.0), y1=0.12), 0.2)
    (sentence,) = of(run.warnings, "bends by")
    assert sentence.startswith("beam 'rod' bends by 0.12 m at t = 0 s, 0.12 of its length of 1 m; ")
    assert "up to 0.1 of it; use pl.segmented(beam, n)" in sentence
    assert pl.simulate(clamped(strip(), (0.0, 0.0), y1=0.099), 0.2).warnings == ()


def test_a_deflection_in_two_planes_counts_as_its_length():
    section = pl.Section.rectangle(height=0.01, width=0.01)
    beam = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", stiffening="none",
                   modes=[pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z")])  # fmt: skip
    run = pl.simulate(clamped(beam, (0.0, 0.0), y1=0.08, z1=0.08), 0.01)
    assert f"bends by {0.08 * math.sqrt(2.0):.3g} m at t = 0 s" in run.warnings[0]


def test_a_slope_past_the_limit_is_told_though_the_deflection_is_small():
    """The third mode of a beam between supports: 3 pi a/l of slope at its ends for a deflection a."""
    run = pl.simulate(clamped(strip(modes=pl.Modes("ss", 3)), (0.0, 0.0), y3=0.04), 1e-3)
    (_, sentence) = run.warnings  # after the one about the clamped root
    assert sentence.startswith(f"beam 'rod' has a slope of {3.0 * math.pi * 0.04:.2g} rad at t = 0 s; its theory is valid for")
    assert len(pl.simulate(clamped(strip(modes=pl.Modes("ss", 3)), (0.0, 0.0), y3=0.03), 1e-3).warnings) == 1


def test_a_telescopic_link_is_judged_by_its_free_length():
    arm = pl.TelescopicBeam(length=1.0, section=FLAT, material=pl.STEEL, modes=pl.Modes("cf", 1), extension=0.4,
                            motion=lambda t: 0.4 + 0.0 * t)  # fmt: skip
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", arm, joint=pl.Weld(), initial={"y1": 0.05})
    (sentence,) = of(pl.simulate(system, 0.01).warnings, "bends by")
    assert sentence.startswith("beam 'arm' bends by 0.05 m at t = 0 s, 0.13 of its length of 0.4 m")


def test_what_no_row_shows_the_course_of_the_run_does():
    """One row at the end, where the beam is straight again: a quarter of a period after its largest deflection."""
    beam = strip(modes=pl.Modes("cf", 1))
    quarter = 0.5 * math.pi / beam_shapes(beam).frequencies[0]
    run = pl.simulate(clamped(beam, (0.0, 0.0), y1=0.2), quarter, save=[quarter])
    assert abs(run["rod.y1"][-1]) < 1e-6 and of(run.warnings, "bends by 0.2 m")


def hanging(E, modes):
    soft = strip(material=pl.Material(E=E, density=1000.0), modes=modes)
    system = pl.System("hanging", gravity=(9.81, 0.0))
    system.add("rod", soft, joint=pl.Revolute())
    return pl.simulate(system, 0.05)


def test_a_beam_that_would_stretch_is_told_unless_it_can_or_hardly_would():
    """rho g l^2/(2 E A): half its weight pulls it, on average."""
    bending, axial = pl.Modes("cf", 2), pl.AxialModes("cf", 1)
    (sentence,) = hanging(1e6, bending).warnings
    assert sentence.startswith(f"beam 'rod' would stretch by {100.0 * 1000.0 * 9.81 / 2e6:.2g} % at t = ")
    assert "add pl.AxialModes('cf', 1)" in sentence
    assert hanging(1e6, [bending, axial]).warnings == () and hanging(1e7, bending).warnings == ()


# ------------------------------------------------------------------------------------------- what needs stiffening


def pressed(times_euler, stiffening="none", t_end=0.5, modes=None):
    """A column, a little bent, under a dead load of so many times Euler's."""
    load = times_euler * math.pi**2 * rigidity() / 4.0
    system = clamped(strip(stiffening=stiffening, modes=modes), (-load, 0.0), y1=1e-3)
    return pl.simulate(system, t_end)


def test_a_column_past_its_buckling_load_without_stiffening_is_told_and_with_it_buckles():
    """Euler's load of the clamped column, pi^2 E I / 4 l^2, to the two modes' 0.2 %; with stiffening the deflection grows."""
    run = pressed(1.5)
    (sentence,) = run.warnings
    euler = math.pi**2 * rigidity() / 4.0
    assert sentence.startswith(f"beam 'rod' is compressed by {1.5 * euler:.3g} N at t = ")
    told = float(sentence.split("its buckling load of ")[1].split(" N")[0])
    assert told == pytest.approx(euler, rel=5e-3)  # three digits of a Ritz value
    assert "use stiffening 'full'" in sentence
    stiffened = pressed(1.5, "full")
    assert np.max(np.abs(run["rod.y1"])) < 2e-3 and np.max(np.abs(stiffened["rod.y1"])) > 0.1
    assert not of(stiffened.warnings, "buckling") and of(stiffened.warnings, "bends by")
    assert pressed(0.95).warnings == ()


def test_a_load_too_short_to_buckle_is_not_told():
    """Twenty times Euler's load, for a thirtieth of the first period's 1/omega."""
    load = 20.0 * math.pi**2 * rigidity() / 4.0
    first = FIRST * math.sqrt(rigidity() / (7850.0 * FLAT.A))
    brief = 0.1 / (first * math.sqrt(19.0))

    def pulse(t, q, v):
        return -load * pl.where(t < brief, 1.0, 0.0)

    system = clamped(strip(), (pulse, 0.0))
    assert not of(pl.simulate(system, 0.1, method=pl.DOP853(rtol=1e-8, atol=1e-11), save=brief / 20).warnings, "buckling")


def test_a_pinned_rod_that_a_closure_holds_buckles_as_between_pins():
    """pi^2 E I / l^2, four times that of the column: told past it, not before; sines are its buckling shapes."""
    euler = math.pi**2 * rigidity()
    for share, told in ((0.9, 0), (1.2, 1)):
        system = pl.System("strut", gravity=(0, 0))
        rod = system.add("rod", strip(modes=pl.Modes("ss", 1)), joint=pl.Revolute())
        slider = system.add("slider", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(axis="x", displacement=1.0))
        system.close("pin", "point", rod.tip, slider.root)
        system.force("load", slider.root, (-share * euler, 0.0))
        assert len(of(pl.simulate(system, 0.2).warnings, "buckling")) == told


def spun(ratio, stiffening="none", carried=0.0, t_end=1.0):
    """A beam that turns in its plane at so many times its first frequency."""
    payload = pl.Payload(mass=carried) if carried else None
    beam = strip(stiffening=stiffening, modes=pl.Modes("cf", 1), payload=payload)
    speed = ratio * beam_shapes(beam).frequencies[0]
    system = pl.System("spun", gravity=(0, 0))
    system.add("blade", beam, joint=pl.Revolute(motion=lambda t: speed * t), initial={"y1": 1e-6})
    return pl.simulate(system, t_end), speed


def test_a_beam_spun_past_its_first_frequency_without_stiffening_is_told_with_both():
    run, speed = spun(3.0)
    (sentence,) = of(run.warnings, "turns across")
    assert sentence.startswith(f"beam 'blade' turns across its axis at {speed:.3g} rad/s at t = ")
    assert f"3 times its first bending frequency of {speed / 3.0:.3g} rad/s" in sentence
    assert np.max(np.abs(run["blade.y1"])) > 1e3, "it bends for kilometres"
    for ratio, stiffening in ((0.9, "none"), (3.0, "full"), (3.0, "linear")):
        quiet, _ = spun(ratio, stiffening)
        assert quiet.warnings == () and np.max(np.abs(quiet["blade.y1"])) < 1e-5


def test_a_payload_lowers_the_speed_that_a_beam_bears():
    """As heavy as the beam, it takes the first frequency to sqrt(m1/(m1 + m)) of itself, m1 the modal mass, 1/4 of the beam's."""
    mass = 7850.0 * FLAT.A
    run, speed = spun(0.6, carried=mass, t_end=2.0)
    (sentence,) = of(run.warnings, "turns across")
    told = float(sentence.split("frequency of ")[1].split(" rad/s")[0])
    assert told == pytest.approx(speed / 0.6 * math.sqrt(0.25 / 1.25), rel=5e-3)
    assert spun(0.6, t_end=2.0)[0].warnings == ()


def test_only_what_turns_a_beam_across_its_axis_counts():
    """Two joints that turn against each other leave the second beam at rest; a spin about its own axis bends nothing."""
    beam = strip(modes=pl.Modes("cf", 1))
    fast = 3.0 * beam_shapes(beam).frequencies[0]
    system = pl.System("against", gravity=(0, 0))
    hub = system.add("hub", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(motion=lambda t: fast * t))
    system.add("blade", beam, joint=pl.Revolute(motion=lambda t: -fast * t), on=hub.root)
    assert pl.simulate(system, 0.5).warnings == ()
    shaft = pl.System("shaft", gravity=(0, 0))
    shaft.add("blade", beam, joint=pl.Revolute(axis="x", motion=lambda t: fast * t))
    assert pl.simulate(shaft, 0.5).warnings == ()


# --------------------------------------------------------------------------------------------------------------- contacts


def ball(height, law, radius=0.1, speed=0.0, gravity=-9.81):
    system = pl.System("ball", gravity=(0, gravity))
    body = system.add("ball", pl.RigidBody(mass=2.0, inertia=0.01), joint=pl.Prismatic(axis="y", displacement=height, rate=speed))
    system.contact(points=pl.Sphere(body.root, radius), against=pl.Plane(normal=(0, 1)), normal=law, name="ground")
    return system


LINEAR = pl.Linear(stiffness=1e6, damping=10.0)


def test_a_start_deep_inside_a_contact_is_told_with_depth_force_and_energy():
    run = pl.simulate(ball(0.09, LINEAR), 0.05)
    (sentence,) = run.warnings
    lift = 50.0 / (2.0 * 9.81)
    assert sentence.startswith("contact 'ground ball.root' starts 0.01 m deep, with a force of 1e+04 N and a stored energy of "
                               f"50 J, enough to lift the whole mechanism by {lift:.3g} m")  # fmt: skip
    assert np.max(run.values["tip_position"][:, 0, 1]) > 0.2, "and it flies"


@pytest.mark.parametrize("depth", [0.0, 1e-15, 2.0 * 9.81 / 1e6])
def test_a_start_at_the_surface_or_at_rest_on_it_is_not_told(depth):
    assert pl.simulate(ball(0.1 - depth, LINEAR), 0.05).warnings == ()


def test_a_run_that_goes_on_from_the_middle_of_a_contact_is_not_told():
    system = ball(0.1, LINEAR, speed=-3.0)
    first = pl.simulate(system, 2e-3)
    assert first.final_state.closed and pl.simulate(system, 4e-3, start=first).warnings == ()


def test_a_law_that_does_not_deliver_what_it_is_asked_for_is_told_where_it_touched():
    for law, off in ((pl.HuntCrossley, True), (pl.Exact, False)):
        fallen = pl.simulate(ball(0.2, law(stiffness=1e8, restitution=0.4), speed=-1.0, gravity=0.0), 0.2)
        assert len(fallen.contacts) == 1
        found = of(fallen.warnings, "with a requested restitution of 0.4 delivers")
        assert len(found) == off
        if off:
            delivered = fallen.contacts[0].restitution
            assert float(found[0].split("delivers ")[1].split()[0]) == pytest.approx(delivered, abs=5e-4)
    away = ball(0.2, pl.HuntCrossley(stiffness=1e8, restitution=0.4), speed=1.0, gravity=0.0)
    assert pl.simulate(away, 0.2).warnings == (), "it never touched"


def test_a_sphere_pressed_in_deeper_than_hertz_goes_is_told():
    soft = pl.simulate(ball(0.11, pl.Hertz(stiffness=2e4), radius=0.01, speed=-1.0), 0.3)
    (sentence,) = soft.warnings
    deepest = -float(np.min(soft.values["gap"]))
    assert sentence.startswith("contact 'ground ball.root' is pressed about ") and "of the radius of 0.01 m" in sentence
    assert float(sentence.split("about ")[1].split(" m")[0]) == pytest.approx(deepest, rel=0.02)
    assert pl.simulate(ball(0.11, pl.Hertz(stiffness=2e9), radius=0.01, speed=-1.0), 0.3).warnings == ()


def test_a_journal_pressed_deeper_than_its_law_knows_is_told():
    bearing = {"modulus": 1e9, "length": 0.01, "radius": 0.01, "clearance": 1e-4, "restitution": 0.5}
    for speed, told in ((0.1, False), (20.0, True)):
        system = pl.System("journal", gravity=(0, 0))
        pin = system.add("pin", pl.RigidBody(mass=1.0, inertia=1e-4), joint=pl.Planar(velocity=(speed, 0.0)))
        law = pl.JohnsonJournal(**bearing)
        system.contact(points=pl.Pin(pin.root, 0.01), against=pl.Bore(system.ground, 0.0101), normal=law)
        found = of(pl.simulate(system, 0.01).warnings, "JohnsonJournal is known up to")
        assert bool(found) == told


@pytest.mark.parametrize("asked", [0.1, 0.8])
def test_the_depth_of_a_damped_contact_is_not_that_of_its_peak_without_damping(asked):
    law = pl.Exact(stiffness=2e6, restitution=asked)
    run = pl.simulate(ball(0.011, law, radius=0.01, speed=-1.0, gravity=0.0), 0.05, save="steps")
    (sentence,) = run.warnings
    assert float(sentence.split("about ")[1].split(" m")[0]) == pytest.approx(-float(np.min(run.values["gap"])), rel=0.02)


def test_bounces_slower_than_the_floor_of_their_law_are_told():
    """The same rod of 1 m and of 10 nm; a contact that begins at rest, and one whose last bounces only are so slow, are not."""
    for scale, told in ((1.0, False), (1e-8, True)):
        system = pl.System("rod", gravity=(0, -9.81))
        body = pl.RigidBody.rod(scale, scale**3)
        rod = system.add("rod", body, joint=pl.Planar(position=(0, 0.1 * scale), angle=0.4, velocity=(0.0, -(scale**0.5))))
        law = pl.Exact(stiffness=1e7 * scale**1.5, restitution=0.7)
        system.contact(points=[rod.root, rod.tip], against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
        run = pl.simulate(system, 0.2 * scale**0.5, method=pl.DOP853(rtol=1e-9, atol=1e-12 * scale))
        assert run.contacts and len(of(run.warnings, "entry_floor = 0.001 m/s")) == told * len(run.contacts)
    sentence, touch = run.warnings[0], run.contacts[0]
    assert f"closes at {touch.entry_speed:.3g} m/s at most" in sentence
    said = float(sentence.split("restitution of ")[1].split()[0])
    assert said == pytest.approx(law.delivered_between(1.0, touch.entry_speed), abs=1e-3)
    lands = pl.simulate(ball(0.1 + 1e-3, pl.Exact(stiffness=1e7, restitution=0.3)), 0.5)
    assert lands.contacts[-1].lasting and lands.warnings == ()
    assert pl.simulate(ball(0.1, pl.Exact(stiffness=1e7, restitution=0.3)), 0.5).warnings == ()


# ------------------------------------------------------------------------------------------------------ energy and loops


def test_a_balance_worse_than_a_hundred_times_rtol_is_told():
    """A stiff rod that rings: between 100 and 1000 times rtol."""
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.AxialModes("cf", 1))  # fmt: skip
    system = pl.System("rod", gravity=(0, -9.81))
    system.add("rod", beam, joint=pl.Revolute(angle=-1.0), initial={"axial1": 1e-4})
    run = pl.simulate(system, 0.1, method=pl.DormandPrince(1e-6, 1e-9), save=0.1)
    share = run.ledger.relative_error_max / 1e-6
    (sentence,) = run.warnings
    assert 100.0 < share < 1000.0 and f"{share:,.0f} times rtol = 1e-06" in sentence


def triangle(pendulum=True):
    """Two rods and the ground, pinned at all three corners, and a pendulum beside them."""
    system = pl.System("triangle", gravity=(0, -9.81))
    first = system.add("first", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=math.pi / 3.0))
    second = system.add("second", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=-2.0 * math.pi / 3.0), on=first.tip)
    system.close("pin", "point", second.tip, system.ground.moved((1.0, 0.0)))
    if pendulum:
        system.add("pendulum", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5))
    return system


def test_a_loop_that_cannot_move_is_told_where_others_can_and_refused_where_none_can():
    run = pl.simulate(triangle(), 0.1)
    assert run.ok
    assert run.warnings == ("closure 'pin' leaves the loop that it closes 0 degrees of freedom: its 2 coordinates stay where they "
                            "are, whatever drives them",)  # fmt: skip
    assert np.ptp(run["first.angle"]) < 1e-12
    with pytest.raises(pl.SolveError, match="they leave 0 degrees of freedom"):
        pl.simulate(triangle(pendulum=False), 0.1)


def test_rows_left_out_are_counted_and_those_across_the_plane_are_not():
    """A parallelogram with a third crank, which holds nothing new; of five rows of a pin a plane needs two."""
    system = pl.System("cranks", gravity=(0, -9.81))
    cranks = [system.add(f"crank{k}", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=1.0), on=system.ground.moved((k, 0.0)))
              for k in range(3)]  # fmt: skip
    coupler = system.add("coupler", pl.RigidBody.rod(2.0, 1.0), joint=pl.Revolute(angle=-1.0), on=cranks[0].tip)
    system.close("second", "revolute", coupler.at((1.0, 0.0)), cranks[1].tip)
    assert pl.simulate(system, 0.1).warnings == ()
    system.close("third", "revolute", coupler.at((2.0, 0.0)), cranks[2].tip)
    (sentence,) = pl.simulate(system, 0.1).warnings
    assert sentence.startswith("1 row of closure 'third' left out, for the other 3 rows hold the same")


def test_a_loop_that_a_prescribed_crank_moves_is_no_loop_that_cannot_move():
    """Nothing in it is free, yet all of it moves."""
    run = pl.simulate(ideal_slider_crank(), TURN)
    assert run.warnings == () and np.ptp(run["slider.displacement"]) == pytest.approx(0.1, rel=1e-4)


def test_a_guide_that_holds_an_angle_is_no_loop_that_cannot_move():
    system = pl.System("slider on a guide", gravity=(0.0, -9.81))
    slider = system.add("slider", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(velocity=(1.0, 0.0)))
    system.close("guide", "prismatic", slider.root, system.ground, axis="x")
    run = pl.simulate(system, 0.1)
    assert run.warnings == () and run["slider.x"][-1] == pytest.approx(0.1, abs=1e-9)


# --------------------------------------------------------------------------------------------------------- the gallery

GALLERY = (
    *REPRESENTATIVES,
    Representative("guided slider-crank", guided_slider_crank, 0.1),
    Representative("squeezer", andrews_squeezer, 0.03),
    Representative("flexible slider-crank", flexible_slider_crank, 0.1),
    *(Representative(f"spin-up, {how}", partial(spin_up_beam, how), 10.0) for how in ("none", "linear", "full")),
)
# The rod of the slider-crank hits the obstacle end on, and with stiffening it bends half as much again afterwards. The spin-up is
# the test of stiffening: without it the beam diverges as soon as it turns faster than it vibrates.
DESERVED = {
    "slider-crank": ["times its buckling load of 1.63e+03 N"],
    "spin-up, none": ["is compressed by", "times its first bending frequency of 3.8 rad/s", "bends by", "has a slope of"],
}


@pytest.mark.parametrize("system", GALLERY, ids=lambda system: system.name)
def test_the_gallery_is_silent_but_for_what_deserves_a_word(system):
    run = pl.simulate(system.build(), system.t_end)
    deserved = DESERVED.get(system.name, [])
    assert len(run.warnings) == len(deserved), run.warnings
    assert all(words in sentence for words, sentence in zip(deserved, run.warnings, strict=True))


HELD = {
    "weld": (pl.Weld(), ""),
    "slide": (pl.Prismatic(spring=pl.Spring(1.0)), ""),
    "spring": (pl.Revolute(spring=pl.Spring(1e6)), ""),
    "motion": (pl.Revolute(motion=lambda t: 0.0), ""),
    "drive": (pl.Revolute(), "drive"),
    "motor": (pl.Revolute(), "motor"),
}


def held(modes, how):
    joint, acting = HELD[how]
    system = pl.System("held", gravity=(0, 0))
    system.add("rod", strip(modes=modes), joint=joint)
    if acting == "drive":
        system.drive("servo", "rod.angle", lambda t, q, v: -1e6 * q["rod.angle"])
    if acting == "motor":
        system.motor("servo", "rod.angle", pl.Motor(inertia=1e9))
    return system


@pytest.mark.parametrize("how", HELD)
def test_elements_are_clamped_by_default_to_a_joint_that_does_not_let_the_root_turn(how):
    system = held(pl.ElementModes(3), how)
    linear = pl.linearise(system, inputs=(), outputs=())
    unit = math.sqrt(rigidity() / (pl.STEEL.density * FLAT.A))
    assert linear.warnings == () and system.links["rod"].body.mode_sets[0].reference == "cantilever"
    assert np.min(np.abs(linear.modes().frequencies / unit - FIRST)) < (0.05 if how != "slide" else 3.0)


def test_elements_on_a_pin_keep_their_chord_and_a_reference_that_is_given_is_kept():
    system = pl.System("pin", gravity=(0, 0))
    system.add("rod", strip(modes=pl.ElementModes(3)), joint=pl.Revolute(damper=pl.Damper(0.1)))
    assert system.links["rod"].body.mode_sets[0].frame_nodes == (0, 3)
    given = held(pl.ElementModes(3, reference="simply-supported"), "weld")
    assert given.links["rod"].body.mode_sets[0].reference == "simply-supported"


@pytest.mark.parametrize("how", HELD)
@pytest.mark.parametrize("modes", [pl.Modes("ss", 2), pl.Modes("sf", 2), pl.ElementModes(2, reference="simply-supported")])
def test_shapes_that_turn_at_a_root_which_cannot_are_told(modes, how):
    (sentence,) = pl.linearise(held(modes, how), at="start", inputs=(), outputs=()).warnings
    assert sentence.startswith("beam 'rod': its shapes along y turn at the root, but its joint (") and "Modes('cf', n)" in sentence


def test_shapes_that_turn_at_a_pin_are_not_told_of_and_nor_is_the_shear_at_a_clamped_root():
    system = pl.System("pin", gravity=(0, 0))
    system.add("rod", strip(modes=pl.Modes("ss", 2)), joint=pl.Revolute())
    assert pl.linearise(system, inputs=(), outputs=()).warnings == ()
    section = pl.Section.rectangle(height=0.1, width=0.02)
    sheared = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="timoshenko", modes=pl.Modes("cf", 2))
    system = pl.System("weld", gravity=(0, 0))
    system.add("rod", sheared, joint=pl.Weld())
    assert pl.linearise(system, inputs=(), outputs=()).warnings == ()


# ---------------------------------------------------------------------------------------------------------------- analyses


def test_an_equilibrium_beyond_the_theory_of_its_beam_is_not_called_stable_without_a_warning():
    rest = pl.equilibrium(clamped(strip(), (0.0, -20.0)))
    assert rest.stable
    assert "0.1 of it" in rest.warnings[0] and "rod" in rest.warnings[0]
    assert of(rest.warnings, "has a slope of")
    assert "2 warnings" in repr(rest) and f"warning: {rest.warnings[0]}" in str(rest)
    assert rest.to_result().warnings == rest.warnings
    assert pl.equilibrium(clamped(strip(), (0.0, -1.0))).warnings == ()


def test_a_linearisation_and_its_modes_and_responses_carry_the_warnings_of_their_point():
    linear = pl.linearise(clamped(strip(), (0.0, -20.0)), inputs="load y")
    assert of(linear.warnings, "bends by")
    found = linear.modes()
    assert found.warnings == linear.frequency_response().warnings == linear.warnings
    assert linear.warnings[0] in str(linear) and linear.warnings[0] in str(found)
    assert found.animated(0).warnings == linear.warnings
    assert pl.linearise(clamped(strip(), (0.0, -1.0))).warnings == ()


def test_a_beam_at_rest_has_time_to_buckle():
    load = math.pi**2 * rigidity() / 4.0
    for share, warned in ((1.1, True), (0.9, False)):
        rest = pl.equilibrium(clamped(strip(modes=pl.Modes("cf", 3)), (-share * load, 0.0)))
        assert bool(of(rest.warnings, "times its buckling load")) is warned


def test_a_campbell_diagram_names_the_first_of_the_speeds_at_which_it_is_not_valid():
    system = pl.System("rotor", gravity=(0, 0))
    system.add("blade_1", strip(), joint=pl.Revolute())
    first = FIRST * math.sqrt(rigidity() / (pl.STEEL.density * FLAT.A))
    found = pl.campbell(system, {"blade_1.angle": np.array([0.0, 0.5, 1.5, 2.0]) * first})
    (sentence,) = found.warnings
    assert sentence.startswith(f"blade_1.angle = {1.5 * first:g} and 1 more: beam 'blade_1' turns across its axis")
    assert sentence in str(found)


def carrying(modes, joint):
    """A clamped beam that carries a body with its centre of mass beyond the tip."""
    system = pl.System("carrying", gravity=(0, -9.81))
    upper = system.add("upper", strip(modes=modes, length=0.3), joint=pl.Weld())
    system.add("fore", pl.RigidBody(mass=0.05, com=(0.1, 0.0), inertia=1e-3), joint=joint, on=upper.tip)
    return system


def test_modes_too_stiff_for_the_body_that_a_beam_carries_are_told_and_what_static_shapes_change():
    joint = pl.Revolute(spring=pl.Spring(100.0))
    plain, exact = (
        pl.linearise(carrying(pl.Modes("cf", 2, static=static), joint), inputs=(), outputs=()) for static in (False, True)
    )
    (sentence,) = plain.warnings
    assert sentence.startswith("beam 'upper' carries 'fore'") and "0.8 times as far" in sentence and "static=True" in sentence
    assert exact.warnings == () and plain.modes().frequencies[1] > 1.05 * exact.modes().frequencies[1]


def test_a_body_on_a_pin_puts_no_moment_on_the_beam_that_carries_it():
    hanging = pl.Revolute(angle=-math.pi / 2.0)
    assert pl.linearise(carrying(pl.Modes("cf", 2), hanging), inputs=(), outputs=()).warnings == ()

"""Inverse dynamics: efforts for given motions, and back again."""

import sys

import numpy as np
import pytest

import mechanisms
import pliant as pl

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)


def swing(t):
    return 0.5 * pl.sin(np.pi * t) ** 2


def two_links():
    system = pl.System("arm", gravity=(0, -9.81))
    link = pl.Beam(length=0.8, section=pl.Section.rectangle(0.01, 0.03), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2, static=False), damping=pl.ModalDamping(0.02))  # fmt: skip
    first = system.add("upper", link, joint=pl.Revolute(angle=0.0, damper=pl.Damper(0.3), spring=pl.Spring(5.0)))
    system.add("fore", link, joint=pl.Revolute(), on=first.tip)
    return system


def motion():
    return {"upper.angle": swing, "fore.angle": lambda t: -0.8 * pl.sin(np.pi * t) ** 2}


@pytest.fixture(scope="module")
def efforts():
    return pl.inverse_dynamics(two_links(), motion(), 1.0, method=TIGHT, save=0.0005)


def test_efforts_fed_back_return_the_motion(efforts):
    """Torques as a broken line through 2001 rows: the motion comes back as well as the line follows them."""
    system = two_links()
    for k, name in enumerate(("upper", "fore")):
        table = pl.PiecewiseLinear(efforts.time, efforts.values["effort"][:, k])
        system.drive(f"{name} motor", f"{name}.angle", table)
    run = pl.simulate(system, 1.0, method=pl.DormandPrince(rtol=1e-10, atol=1e-12), save=[0.25, 0.5, 1.0])
    wanted = 0.5 * np.sin(np.pi * run.time) ** 2
    assert run["upper.angle"] == pytest.approx(wanted, abs=2e-5)


def test_formulations_give_the_same_efforts(efforts):
    other = pl.inverse_dynamics(two_links(), motion(), 1.0, method=TIGHT, save=0.0005, formulation="gibbs_appell")
    size = np.max(np.abs(efforts.values["effort"]))
    assert np.max(np.abs(other.values["effort"] - efforts.values["effort"])) < 1e-9 * size


def test_springs_and_dampers_on_a_prescribed_joint_do_their_part(efforts):
    """Without them the motor has to give what they gave."""
    bare = pl.System("arm", gravity=(0, -9.81))
    system = two_links()
    first = bare.add("upper", system.links["upper"].body, joint=pl.Revolute())
    bare.add("fore", system.links["fore"].body, joint=pl.Revolute(), on=first.tip)
    without = pl.inverse_dynamics(bare, motion(), 1.0, method=TIGHT, save=0.0005)
    passive = -5.0 * efforts["upper.angle"] - 0.3 * efforts.rate("upper.angle")
    difference = without.values["effort"][:, 0] - efforts.values["effort"][:, 0]
    assert difference == pytest.approx(passive, abs=1e-7 * np.max(np.abs(without.values["effort"])))
    assert efforts.ledger.relative_error_max < 1e-9


def test_a_table_is_followed_by_a_cubic_spline():
    times = np.linspace(0.0, 1.0, 41)
    table = {name: (tuple(times), tuple(np.asarray(f(times)))) for name, f in motion().items()}
    by_table = pl.inverse_dynamics(two_links(), table, 1.0, save=[0.0, 0.3, 0.51, 1.0])
    assert by_table["upper.angle"] == pytest.approx(0.5 * np.sin(np.pi * by_table.time) ** 2, abs=1e-5)
    assert by_table.ledger.relative_error_max < 1e-8


def test_quasi_static_modes_balance_the_motion():
    """A held cantilever under gravity sags as its modes say, and the motor holds its weight."""
    system = pl.System("held", gravity=(0, -9.81))
    beam = mechanisms.planar_link(3)
    system.add("beam", beam, joint=pl.Revolute())
    held = pl.inverse_dynamics(system, {"beam.angle": lambda t: 0.0 * t}, 1.0, elastic="quasi-static", save=[0.0, 1.0])
    weight = beam.mass * 9.81
    stiffness = 200e9 * beam.section.Iz
    shear = 5 / 6 * beam.section.A * pl.STEEL.shear_modulus
    exact = -weight * 0.8**3 / (8 * stiffness) - weight * 0.8 / (2 * shear)
    assert held.of_body("tip_deflection", "beam")[0, 1] == pytest.approx(exact, rel=2e-3)
    assert held.values["effort"][0, 0] == pytest.approx(weight * 0.4, rel=1e-9)


def slowed(function):
    return lambda t: function(t / 20.0)


def test_quasi_static_is_what_slow_integration_tends_to():
    slow = {name: slowed(f) for name, f in motion().items()}
    quasi = pl.inverse_dynamics(two_links(), slow, 20.0, elastic="quasi-static", save=[5.0, 10.0, 15.0])
    start = pl.inverse_dynamics(two_links(), slow, 20.0, elastic="quasi-static", save=[0.0, 20.0])
    system = two_links()
    links = {name: dict(zip(link.mode_labels, start.values["q"][0, 3 * k + 1 : 3 * k + 3], strict=True))
             for k, (name, link) in enumerate(system.links.items())}  # fmt: skip
    settled = pl.System("arm", gravity=(0, -9.81))
    first = settled.add("upper", system.links["upper"].body, joint=system.links["upper"].joint, initial=links["upper"])
    settled.add("fore", system.links["fore"].body, joint=pl.Revolute(), on=first.tip, initial=links["fore"])
    run = pl.inverse_dynamics(settled, slow, 20.0, save=[5.0, 10.0, 15.0])
    assert run.values["effort"] == pytest.approx(quasi.values["effort"], rel=2e-3)


def test_modes_that_find_no_balance_are_told_to_have_the_load_ramped_up():
    """A load that changes its sign with every hundredth of a millimetre it bends the beam by."""
    system = pl.System("held", gravity=(0, 0))
    beam = system.add("beam", mechanisms.planar_link(1), joint=pl.Revolute())
    system.force("flutter", beam.tip, (0.0, lambda t, q, v: 1e3 * pl.cos(3e5 * q["beam.y1"])))
    with pytest.raises(pl.SolveError, match=r"30 Newton steps, but did not at t = 0.0 s; .* ramp the load or the motion up from"):
        pl.inverse_dynamics(system, {"beam.angle": lambda t: 0.0 * t}, 1.0, elastic="quasi-static", save=[0.0, 1.0])


def test_all_may_be_prescribed():
    """A rigid pendulum told to stand still, and an elastic one told its modes as well."""
    system = pl.System("rod", gravity=(0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 2.0), joint=pl.Revolute())
    still = pl.inverse_dynamics(system, {"rod.angle": lambda t: 0.0 * t}, 1.0, save=0.5)
    assert still.values["effort"][:, 0] == pytest.approx(9.81, rel=1e-12)
    prescribed = {**motion(), **{f"{body}.y{k}": (lambda t: 0.0 * t) for body in ("upper", "fore") for k in (1, 2)}}
    stiff = pl.inverse_dynamics(two_links(), prescribed, 1.0, elastic="prescribed", save=0.25)
    assert stiff.values["effort"].shape == (5, 6)
    assert np.all(stiff.values["strain"] == 0.0)


def touching():
    system = two_links()
    tip = system.handle("fore").tip
    system.contact(points=tip, against=pl.Plane(normal=(0, 1), point=(0, -3)), normal=pl.Hertz(stiffness=1e6))
    return system


WRONG = {
    "unknown coordinate": (lambda: pl.inverse_dynamics(two_links(), {"uper.angle": swing}, 1.0),
                           "must name one of .* \\(did you mean 'upper.angle'\\?\\)"),
    "table too short": (lambda: pl.inverse_dynamics(two_links(), {"upper.angle": ((0, 0.1, 0.2, 0.5), (0, 1, 2, 3))}, 1.0),
                        "must contain times from 0.0 to 1.0 s"),
    "modes missing": (lambda: pl.inverse_dynamics(two_links(), motion(), 1.0, elastic="prescribed"),
                      "must also prescribe \\['upper.y1', 'upper.y2', 'fore.y1', 'fore.y2'\\]"),
    "joints missing": (lambda: pl.inverse_dynamics(two_links(), {"upper.angle": swing}, 1.0, elastic="quasi-static"),
                       "must also prescribe \\['fore.angle'\\] for quasi-static modes, got \\['upper.angle'\\]"),
    "contacts at rest": (lambda: pl.inverse_dynamics(touching(), motion(), 1.0, elastic="quasi-static"),
                         "elastic must be integrated for a system with contacts"),
    "options of no run": (lambda: pl.inverse_dynamics(two_links(), motion(), 1.0, elastic="quasi-static", method=TIGHT),
                          "options must be only save and formulation when nothing is integrated, got \\['method'\\]"),
    "unknown way": (lambda: pl.inverse_dynamics(two_links(), motion(), 1.0, elastic="rigid"), "must be one of integrated"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_questions_are_refused(case):
    ask, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=message):
        ask()


@pytest.mark.parametrize("elastic", ["quasi-static", "prescribed", "integrated"])
def test_efforts_tell_where_they_come_from(elastic, tmp_path):
    system = pl.System("arm", gravity=(0, -9.81))
    elastic_link = elastic != "prescribed"
    body = mechanisms.planar_link(1) if elastic_link else pl.RigidBody.rod(0.8, 1.0)
    system.add("arm", body, joint=pl.Revolute())
    times = np.linspace(0.0, 0.5, 6)
    found = pl.inverse_dynamics(system, {"arm.angle": (times, 0.1 * times**2)}, 0.5, elastic=elastic, save=0.1)
    assert found.provenance["version"] == pl.__version__
    settings = found.provenance["settings"]
    assert (settings["t_end"], settings["save"], settings["formulation"]) == (0.5, 0.1, "articulated")
    assert settings.get("elastic", "integrated") == elastic
    model = pl.loads_model(found.provenance["model"])
    assert model.system.links["arm"].joint.prescribed["angle"].values == pytest.approx(0.1 * times**2)
    found.to_netcdf(tmp_path / "run.nc")
    back = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert back.provenance == found.provenance and np.array_equal(back.values["effort"], found.values["effort"])


@pytest.mark.parametrize("elastic", ["quasi-static", "prescribed"])
def test_a_result_is_not_changed_once_it_is_made(elastic, monkeypatch):
    module = sys.modules["pliant.run.simulate"]
    made = []

    def frozen(*given, **named):
        made.append(pl.Result(*given, **named))
        for array in made[-1].values.values():
            array.flags.writeable = False
        return made[-1]

    monkeypatch.setattr(module, "Result", frozen)
    body = mechanisms.planar_link(1) if elastic == "quasi-static" else pl.RigidBody.rod(0.8, 1.0)
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", body, joint=pl.Revolute())
    assert pl.inverse_dynamics(system, {"arm.angle": swing}, 0.5, elastic=elastic, save=0.1) is made[0]


def test_works_that_were_not_integrated_are_not_zero_but_unknown():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(0.8, 1.0), joint=pl.Revolute())
    found = pl.inverse_dynamics(system, {"arm.angle": swing}, 0.5)
    assert np.ptp(found.ledger.energy) > 0.1
    assert np.all(np.isnan(found.values["work"])) and np.isnan(found.ledger.relative_error_max)


def test_comparisons_in_formulas_count_at_every_row():
    """A force that begins at a time, and another at an angle, press on the motor just as they do in a run."""

    def efforts(*forces):
        system = pl.System("arm", gravity=(0.0, -9.81))
        body = pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0.0), tip=(0.6, 0.0))
        arm = system.add("arm", body, joint=pl.Revolute(motion={"angle": lambda t: 0.3 * pl.maximum(t - 0.4, 0.0) ** 2}))
        for k, force in enumerate(forces):
            system.force(f"force {k}", arm.tip, (0.0, force, 0.0))
        return pl.inverse_dynamics(system, t_end=1.0, save=[0.3, 0.6, 0.9]).data["effort"].values[:, 0]

    late, far = (lambda t, q, v: pl.where(t > 0.5, 3.0, 0.0)), (lambda t, q, v: pl.where(q["arm.angle"] > 0.02, 1.0, 0.0))
    arms = 0.6 * np.cos(0.3 * np.maximum(np.array([0.3, 0.6, 0.9]) - 0.4, 0.0) ** 2)
    assert np.allclose(efforts(0.0) - efforts(late, far), arms * np.array([0.0, 3.0, 4.0]), rtol=1e-12)

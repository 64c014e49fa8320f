"""Ebrahimi, Nouri and Salahshoor: the slider-crank under impact against an independent reference.

Its two formulations agree to 7e-12 m.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.beams.damping import rayleigh_from_ratios
from pliant.beams.integrals import shape_integrals
from pliant.gallery.slider_crank import runs
from pliant.gallery.slider_crank import system as crank
from pliant.model.damping import RULES

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = json.loads((Path(__file__).parent / "data" / "slider_crank.json").read_text())
CLOSED, IMPACT, DRIVEN = REFERENCE["closed_forms"], REFERENCE["impact"], REFERENCE["driven_steel"]
COLUMNS = {"th2": "crank_angle", "om2": "crank_speed", "x4": "slider_x", "v4": "slider_v", "u_end": "u_tip", "v_mid": "v_mid",
           "T": "kinetic", "V": "strain", "E_contact_diss": "contact_loss"}  # fmt: skip
CASES = {"undamped": 1, "rigid_rod": 0, "undamped_2_elements": 2}
THIRD = 0.0988  # s: the third touch of the one-element rod, after which digits are lost


@cache
def run(elements, damped=False):
    return runs.run(elements, damped)


@cache
def driven(elements=1, damped=True):
    return runs.drive("steel", elements, damped)


def test_one_element_has_the_mass_the_stiffness_and_the_frequencies_of_the_reference():
    found = shape_integrals(crank.rod())
    assert found.modal_mass == pytest.approx(np.array(REFERENCE["m_ff"]), rel=1e-13)
    assert found.stiffness == pytest.approx(np.array(REFERENCE["K_ff"]), rel=1e-13)
    assert crank.frequencies() == pytest.approx(REFERENCE["omega"], rel=1e-12)


@pytest.mark.parametrize("elements", [2, 4, 8])
def test_finer_rods_have_the_frequencies_of_the_reference(elements):
    wanted = DRIVEN["elements"][str(elements)]["omega_first3"]
    assert crank.frequencies(elements=elements)[:3] == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_damping_ratios_become_alpha_and_beta_by_each_rule(rule):
    asked = pl.RayleighRatios(ratios=crank.RATIOS, rule=rule)
    wanted = REFERENCE["rayleigh_rules"][rule]
    assert rayleigh_from_ratios(asked, crank.frequencies()) == pytest.approx((wanted["alpha"], wanted["beta"]), rel=1e-12)
    found = shape_integrals(crank.rod(damping=(asked,)))
    proportional = wanted["alpha"] * found.modal_mass + wanted["beta"] * found.stiffness
    assert found.damping["rayleigh"] == pytest.approx(proportional, rel=1e-12)


def test_internal_damping_is_the_first_rules_for_every_mesh():
    wanted = REFERENCE["rayleigh_rules"]["low2_high1"]
    damping = crank.internal_damping()
    assert (damping.alpha, damping.beta) == pytest.approx((wanted["alpha"], wanted["beta"]), rel=1e-12)
    assert (damping.alpha, damping.beta) == pytest.approx((181.925106, 2.57870898e-6), rel=5e-9)
    assert crank.modal_damping() == pytest.approx((wanted["modal_damping"][0], wanted["modal_decay_rate"][0]), rel=1e-12)


def test_the_three_materials_have_one_damping_ratio_and_their_own_rates():
    found = {name: crank.modal_damping(material) for name, material in crank.MATERIALS.items()}
    assert [ratio for ratio, _ in found.values()] == pytest.approx([0.1039003445] * 3, rel=1e-8)
    assert [rate for _, rate in found.values()] == pytest.approx([92.0, 66.9, 94.4], abs=0.05)


def test_the_contact_is_hertzs_and_the_law_gives_back_more_than_asked():
    assert pl.hertz_stiffness(crank.SPHERE, crank.STEEL, crank.SPHERE, crank.STEEL) == pytest.approx(REFERENCE["Kc"], rel=1e-12)
    assert crank.rod_buckling_load(8) == pytest.approx(REFERENCE["euler_buckling_load"], rel=1e-4)
    for speed in (1.5, 15.0):
        assert runs.delivered_restitution(speed) == pytest.approx(CLOSED["e_of_model_free_bodies"], rel=1e-8)
    free = CLOSED["free_slider_15mps"]
    touch = pl.simulate(crank.free_slider(15.0), 1e-3, method=runs.TIGHT).contacts[0]
    found = (touch.duration, touch.peak_force, touch.normal_loss)
    assert found == pytest.approx((free["contact_time"], free["peak_force"], free["dissipated"]), rel=1e-7)


def test_the_rigid_rod_touches_where_energy_and_geometry_say():
    wanted = CLOSED["rigid_mechanism"]
    rigid = run(0)
    assert rigid.kinetic[0] == pytest.approx(wanted["E0"], rel=1e-12)
    assert rigid.contacts[0].begin == pytest.approx(0.036506541594, abs=1e-11)
    assert rigid.contacts[0].begin == pytest.approx(wanted["touch_time"], rel=1e-9)
    assert rigid.contacts[0].entry_speed == pytest.approx(wanted["slider_speed"], rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_contacts_to_six_digits_and_after_the_third_to_four(name):
    ours, wanted = run(CASES[name]).contacts, [c for c in IMPACT[name]["contacts"] if c["t"] < runs.T_END]
    assert len(ours) == len(wanted)
    for k, (mine, its) in enumerate(zip(ours, wanted, strict=True)):
        digits = 1e-6 if k < 2 else 1e-4
        assert (mine.begin, mine.end) == pytest.approx((its["t"], its["t_end"]), rel=min(digits, 1e-7))
        found = (mine.entry_speed, -mine.exit_speed, mine.peak_force, mine.normal_loss, mine.impulse)
        reference = [its[key] for key in ("v_app", "v_sep", "peak_force", "dissipated", "impulse")]
        assert found == pytest.approx(reference, rel=digits)


@pytest.mark.parametrize("name", CASES)
def test_the_state_at_every_time_of_the_reference(name):
    """Six digits of each component's largest until the third touch, three after it."""
    ours, table = run(CASES[name]), IMPACT[name]["table"]
    for key, column in COLUMNS.items():
        wanted = np.array([row[key] for row in table.values()])
        found = np.array([getattr(ours, column)[ours.at(float(t))] for t in table])
        size = np.max(np.abs(wanted), initial=1e-12)
        for t, error in zip(table, np.abs(found - wanted) / size, strict=True):
            assert error < (1e-6 if float(t) < THIRD else 1e-3), (key, t, error)


@pytest.mark.parametrize(("elements", "damped"), [(0, False), (1, False), (2, False), (1, True), (2, True), (8, True)])
def test_energy_is_accounted_for(elements, damped):
    assert run(elements, damped).kinetic[0] == pytest.approx(18.928758341, rel=1e-10)
    assert run(elements, damped).energy_error_max < 1e-9


def test_the_double_hit_is_one_elements_and_finer_rods_touch_once():
    for elements, peak in REFERENCE["damped_peaks"].items():
        first = run(int(elements), True).first_impact
        assert len(first) == (2 if elements == "1" else 1)
        assert first[0].peak_force == pytest.approx(peak, abs=0.5)
        if elements != "1":
            assert first[0].duration == pytest.approx(0.19e-3, abs=0.005e-3)
    assert len(run(1).first_impact) == 2
    assert len(run(2).first_impact) == 1


def test_damping_takes_more_energy_than_the_contact():
    lost = REFERENCE["lost_at_0.05"]
    for name, damped, contact in (("undamped", False, 4.82), ("damped", True, 4.38)):
        ours = run(1, damped)
        row = ours.at(0.05)
        assert ours.loss[row] == pytest.approx(lost[name], rel=1e-7)
        assert ours.contact_loss[row] == pytest.approx(contact, abs=5e-3)
        assert ours.contact_loss[row] + ours.rayleigh_loss[row] == pytest.approx(lost[name], rel=1e-7)


def test_the_compression_is_17_times_what_buckles_the_rod_and_14_times_what_buckles_one_element():
    """Of one element the warning, the claim and the documentation say the same number."""
    assert 17.0 < run(1).compression_max / REFERENCE["euler_buckling_load"] < 18.0
    ratio = f"{run(1).compression_max / crank.rod_buckling_load():.2g} times its buckling load"
    assert ratio in run(1).result.warnings[0]
    assert ratio in " ".join((DOCS / "validity.md").read_text().split())


def test_the_driven_rod_follows_the_reference():
    ours = driven()
    for t, row in DRIVEN["table"].items():
        k = int(np.argmin(np.abs(ours.time - float(t))))
        assert ours.v_mid[k] == pytest.approx(row["v_mid"], abs=1e-9)
        assert ours.u_tip[k] == pytest.approx(row["u_end"], abs=1e-11)
        assert ours.slider_x[k] == pytest.approx(row["x4"], abs=1e-10)
    least, most = DRIVEN["first_turn"]
    assert (ours.case["v_mid_min"], ours.case["v_mid_max"]) == pytest.approx((least, most), rel=1e-8)
    assert ours.case["v_mid_max"] == pytest.approx(5.4654344e-3, rel=1e-8)
    assert ours.decay_rate == pytest.approx(crank.modal_damping()[1], rel=2e-3)


def test_the_driven_rod_without_damping_follows_the_reference():
    ours = driven(damped=False)
    for t, wanted in DRIVEN["undamped"].items():
        assert ours.v_mid[int(np.argmin(np.abs(ours.time - float(t))))] == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("elements", [2, 4, 8])
def test_the_driven_rod_with_a_finer_mesh_follows_the_reference(elements):
    ours, wanted = driven(elements), DRIVEN["elements"][str(elements)]
    for t, deflection in wanted["table"].items():
        assert ours.v_mid[int(np.argmin(np.abs(ours.time - float(t))))] == pytest.approx(deflection, abs=1e-8)
    assert ours.case["v_mid_max"] == pytest.approx(wanted["v_mid_max"], rel=1e-6)
    assert ours.case["v_mid_min"] == pytest.approx(wanted["v_mid_min"], rel=1e-6)


def test_wrong_questions_are_refused():
    with pytest.raises(pl.ModelError, match="rigid rod"):
        crank.slider_crank(0, damped=True)
    with pytest.raises(pl.ModelError, match="driven_crank: material must be one of"):
        crank.driven_crank("wood")
    with pytest.raises(pl.ModelError, match="elements must be"):
        crank.slider_crank(-1)

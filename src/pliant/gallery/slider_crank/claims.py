"""The claims of Ebrahimi, Nouri and Salahshoor about the slider-crank under impact, compared with our results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.reproduction import Claim
from pliant.gallery.slider_crank.runs import Driven, Run
from pliant.gallery.slider_crank.system import (
    CRANK,
    MATERIALS,
    RESTITUTION,
    ROD,
    frequencies,
    modal_damping,
    rod_buckling_load,
)

BEFORE = (0.0, 0.0362)  # s, before any rod's slider touches
AFTER = (0.0374, 0.095)  # s, between the first impact and the next
LATE = (0.08, 0.095)  # s, the end of that time
LOOKED_AT = 0.05  # s, when losses are compared
GONE = 0.1  # fraction of the undamped value that counts as removed by damping
MUCH = 2.0  # times: what is "much", or "considerably", more
SAME_RATE = 0.05  # relative: decay rates that are "about the same"
SAME_PEAK = 0.05  # relative: meshes that agree about the peak force


@dataclass(frozen=True)
class Study:
    """All runs of the reproduction."""

    undamped: Mapping[int, Run]  # by elements
    damped: Mapping[int, Run]
    rigid: Run
    driven: Mapping[str, Driven]  # by material
    driven_fine: Driven  # steel, the finest mesh
    slider_matters: float  # m: change of the mid-point's deflection if the slider is of the rod's material
    restitution: float  # delivered to a free slider


def claims(study: Study) -> list[Claim]:
    return [*_slider(study), *_rod(study), *_energy(study), *_materials(study), *_model(study)]


def ringing(run: Run) -> Floats:
    """The slider's velocity minus that of a mechanism with a rigid rod and the same crank, m/s."""
    angle = run.crank_angle
    lever = CRANK * np.cos(angle) / np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    return np.asarray(run.slider_v + CRANK * np.sin(angle) * run.crank_speed * (1.0 + lever))


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _slider(study: Study) -> list[Claim]:
    """Section 4-1, figs. 4 and 5."""
    free, damped = study.undamped[1], study.damped[1]
    speeds = {name: _rms(run.slider_v[run.between(*AFTER)]) for name, run in _pair(study)}
    rings = {name: _rms(ringing(run)[run.between(*AFTER)]) for name, run in _pair(study)}
    before = _rms(ringing(free)[free.between(*BEFORE)])
    late = {name: _rms(ringing(run)[run.between(*LATE)]) for name, run in _pair(study)}
    both = f"slider x at {LATE[1]} s: {free.slider_x[free.at(LATE[1])]:.4f} and {damped.slider_x[damped.at(LATE[1])]:.4f} m"
    return [
        Claim("after the impact the slider is faster without damping (rms velocity until the next, m/s)", "faster", speeds,
              speeds["undamped"] > speeds["damped"], both),
        Claim("without damping the slider rings after the impact (rms of its velocity beside a rigid rod's, m/s)", "rings",
              {"before": before, "after": rings["undamped"]}, rings["undamped"] > MUCH * before),
        Claim(f"with damping the ringing dies (the same, {LATE[0]} to {LATE[1]} s)", "dies", late,
              late["damped"] < GONE * late["undamped"]),
    ]  # fmt: skip


def _pair(study: Study) -> tuple[tuple[str, Run], ...]:
    """The paper's own two runs: one element."""
    return ("undamped", study.undamped[1]), ("damped", study.damped[1])


def _rod(study: Study) -> list[Claim]:
    """Section 4-1, fig. 6."""
    free = study.undamped[1]
    before, after = (float(1e3 * np.max(np.abs(free.v_mid[free.between(*span)]))) for span in (BEFORE, AFTER))
    late = {name: float(1e3 * np.max(np.abs(run.v_mid[run.between(*LATE)]))) for name, run in _pair(study)}
    fades = late["damped"] < 0.5 * late["undamped"]
    damped_before = _largest(study.damped[1], BEFORE)
    driven = f"the remaining deflection follows the motion: before the impact it was up to {damped_before:.2g} mm"
    return [
        Claim("the mid-point's deflection grows considerably with the impact (largest, undamped, mm)", "grows",
              {"before": before, "after": after}, after > MUCH * before),
        Claim(f"damping takes the deflection down in a short time (largest, {LATE[0]} to {LATE[1]} s, mm)", "down", late,
              fades, driven),
    ]  # fmt: skip


def _largest(run: Run, span: tuple[float, float]) -> float:
    """Mid-point deflection, mm."""
    return float(1e3 * np.max(np.abs(run.v_mid[run.between(*span)])))


def _energy(study: Study) -> list[Claim]:
    """Section 4-2, fig. 7; section 3 on stiffness."""
    lost = {name: float(run.loss[run.at(LOOKED_AT)]) for name, run in _pair(study)}
    contact = {name: float(run.contact_loss[run.at(LOOKED_AT)]) for name, run in _pair(study)}
    free = study.undamped[1]
    highest, kept = float(np.max(free.loss[free.time < AFTER[0]])), lost["undamped"]
    efforts = {name: int(run.result.stats["rhs_evaluations"]) for name, run in _pair(study)}
    parts = f"the contact takes {contact['undamped']:.3g} and {contact['damped']:.3g} J of it: the rest is the rod's"
    return [
        Claim(f"without damping far less energy is lost (at {LOOKED_AT} s, J)", "far less", lost,
              MUCH * lost["undamped"] < lost["damped"], parts),
        Claim("a continuous contact: the loss rises and part of it comes back (highest and kept, undamped, J)",
              "fig. 7's zoom", [highest, kept], highest > kept > 0.0,
              "fig. 7 leaves out the energy the contact holds; it is in our balance"),
        Claim("damping makes the equations less stiff (right-hand sides evaluated, same tolerance)", "less", efforts,
              efforts["damped"] < efforts["undamped"],
              "the undamped rod continues to vibrate, and the steps must resolve it; it also has one more contact"),
    ]  # fmt: skip


def _materials(study: Study) -> list[Claim]:
    """Section 4-3, fig. 8."""
    ratios = {name: modal_damping(MATERIALS[name])[0] for name in study.driven}
    rates = {name: modal_damping(MATERIALS[name])[1] for name in study.driven}
    seen = ", ".join(f"{name} {run.decay_rate:.1f}" for name, run in study.driven.items())
    slower = 1.0 - rates["copper"] / rates["steel"]
    same = max(rates.values()) < (1.0 + SAME_RATE) * min(rates.values())
    sizes = {name: 1e3 * run.case["v_mid_max"] for name, run in study.driven.items()}
    why = (f"damping ratios of the first mode are the same, {ratios['steel']:.4f} (fixed by eq. 18, 19 and the geometry), "
           f"but rates go with the frequency: copper decays {100.0 * slower:.0f} % more slowly than steel. "
           f"Seen in the runs: {seen} 1/s")  # fmt: skip
    most = 1e3 * study.slider_matters
    slider = f"the slider stays of steel; one of the rod's material changes deflections by {most:.1g} mm at most"
    return [
        Claim("the material changes the amplitude (mid-point deflection, largest of the first turn, mm)", "differs", sizes,
              max(sizes.values()) > 1.5 * min(sizes.values()), slider),
        Claim("vibration decays at about the same speed in all materials (rate of the first mode, 1/s)", "about the same",
              rates, same, "" if same else why),
    ]  # fmt: skip


def _model(study: Study) -> list[Claim]:
    """Assumptions that the paper does not test: one element, the law's e, linear strain."""
    hits = {str(n): len(run.first_impact) for n, run in study.damped.items()}
    bare = {str(n): len(run.first_impact) for n, run in study.undamped.items()}
    peaks = {str(n): run.first_impact[0].peak_force for n, run in study.damped.items()}
    finest = peaks[str(max(study.damped))]
    duration = 1e3 * study.damped[max(study.damped)].first_impact[0].duration
    once = len({*hits.values(), *bare.values()}) == 1
    why = f"the double hit is an artefact of one element: finer rods touch once, for {duration:.2f} ms, damped or not"
    high = 100.0 * (float(frequencies()[0] / frequencies(elements=study.driven_fine.elements)[0]) - 1.0)
    coarse = study.driven["steel"].case["v_mid_max"], study.driven_fine.case["v_mid_max"]
    load = {name: run.compression_max / rod_buckling_load() for name, run in _pair(study)}
    return [
        Claim("one element is enough for the rod: touches of the first impact, by elements (damped)", 2, hits, once,
              "" if once else why),
        Claim("one element is enough for the rod: peak force of the impact, by elements (damped, N)", "one element", peaks,
              abs(peaks["1"] / finest - 1.0) < SAME_PEAK,
              f"{100.0 * (peaks['1'] / finest - 1.0):.0f} % too high; 4 and 8 elements differ by 1 %"),
        Claim("one element is enough for the rod: driven steel, largest deflection of the first turn, mm", 1e3 * coarse[0],
              1e3 * coarse[1], abs(coarse[0] / coarse[1] - 1.0) < SAME_PEAK,
              f"with {study.driven_fine.elements} elements; one is too stiff, its first frequency {high:.0f} % too high"),
        Claim("Lankarani-Nikravesh's law gives the restitution asked for (free slider)", RESTITUTION, study.restitution,
              abs(study.restitution / RESTITUTION - 1.0) < 1e-3,
              "its damping is derived for small losses, that is, for e near 1"),
        Claim("linear strain is enough: largest compression over the load at which the rod buckles, one element", "below 1", load,
              max(load.values()) < 1.0,
              "bending stiffness then depends on the axial force, which linear strain leaves out: what the rod does after "
              "the impact is the model's"),
    ]  # fmt: skip

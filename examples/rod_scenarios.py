"""Scenarios of cosseratbench, a public benchmark of rods and ropes, read in its own form: the scenario in its experiment.json.

    python rod_scenarios.py results/catenary/default/experiment.json ...

A scenario states physics only: round rods with their centre lines at the start, how their ends are held, loads and gravity. If it
is `quasi_static`, its equilibrium is asked for, otherwise its motion. What cannot be represented is refused by name. Without a file
the script runs scenarios of the benchmark that are written out below.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import j0, jn_zeros

import pliant as pl
from pliant.show.plot.style import PALETTE, figure, styled

SEGMENTS = 16
FLAT = 1e-9  # of the length of a vector: less than that across a plane is round-off


def refused(field, rule, value):
    return pl.ModelError.of("scenario", field, rule, value)


def check_representable(scenario):
    """Refuse what this reader or pliant has no part for."""
    if scenario.get("self_contact"):
        rule = "must be false: pliant is told which pairs can touch, and here these would be every two segments of the rod"
        raise refused("self_contact", rule, True)
    if obstacles := scenario.get("obstacles"):
        rule = "must be empty: a rope touches an obstacle along a line, and beams of pliant touch at single stations"
        raise refused("obstacles", rule, f"{len(obstacles)} of them")
    for rod in scenario["rods"]:
        for field in ("start_motion", "end_motion"):
            if rod.get(field):
                raise refused(field, "must be null: ends that are turned or slide under a load are not read", rod[field])
    if len(scenario["rods"]) != 1:
        raise refused("rods", "must be one: rods that rest on one another are not read", len(scenario["rods"]))


def plane_of(points, vectors):
    """Two axes, as rows, of the plane in which the rod lies and is pulled: the first from its start to its end."""
    across = np.concatenate([points - points[0], np.reshape(vectors, (-1, 3))])
    first = (points[-1] - points[0]) / np.linalg.norm(points[-1] - points[0])
    rest = across - np.outer(across @ first, first)
    second = rest[np.argmax(np.linalg.norm(rest, axis=1) / np.maximum(np.linalg.norm(across, axis=1), 1e-300))]
    second = second / np.linalg.norm(second) if np.any(second) else np.cross((0.0, 1.0, 0.0), first)
    outside = np.linalg.norm(rest - np.outer(rest @ second, second), axis=1)
    if np.any(outside > FLAT * np.linalg.norm(across, axis=1)):
        rule = "must lie in one plane with its loads and gravity: rods that bend and twist in space are not read"
        raise refused("rods[0].centerline", rule, f"{outside.max():.2g} m or N across it")
    return np.array([first, second])


def unstretched(points, rest):
    """The centre line before it is stretched, and the strain between its points."""
    steps = np.diff(points, axis=0)
    sizes = np.linalg.norm(steps, axis=1)
    rests = sizes if rest is None else np.diff(rest)
    line = np.concatenate([[[0.0, 0.0]], np.cumsum(steps * (rests / sizes)[:, None], axis=0)])
    return line, np.concatenate([[0.0], np.cumsum(sizes - rests)]), np.concatenate([[0.0], np.cumsum(rests)])


def beam_of(rod, length):
    area = math.pi * rod["radius"] ** 2
    inertia = 0.25 * area * rod["radius"] ** 2
    given = rod["material"]
    material = pl.Material(E=given["youngs_modulus"], G=given["shear_modulus"], density=given["density"])
    return pl.Beam(length=length, section=pl.Section(A=area, Iz=inertia, Iy=inertia), material=material, theory="euler-bernoulli",
                   modes=[pl.Modes("cf", 1), pl.AxialModes("cf", 1)])  # fmt: skip


def system_of(scenario, segments=SEGMENTS):
    """The System of a scenario, and the axes of its plane."""
    check_representable(scenario)
    (rod,) = scenario["rods"]
    gravity = np.array(scenario.get("gravity", (0.0, 0.0, 0.0)))
    loads = rod.get("loads") or ()
    points = np.array(rod["centerline"])
    axes = plane_of(points, [gravity, *(load["force"] for load in loads)])
    line, stretch, along = unstretched((points - points[0]) @ axes.T, rod.get("rest_arc_length"))
    lead = math.atan2(*(line[1] - line[0])[::-1])  # of its first tangent, along which the unbent rod leaves
    turn = np.array([[math.cos(lead), math.sin(lead)], [-math.sin(lead), math.cos(lead)]])
    straight = np.ptp(line @ turn.T[:, 1]) < FLAT * along[-1]
    whole = pl.segmented(beam_of(rod, float(along[-1])), segments, start=None if straight else line @ turn.T)

    system = pl.System("scenario", gravity=tuple(axes @ gravity))
    joints = {"clamped": pl.Weld(), "pinned": pl.Revolute(), "free": pl.Planar()}
    root, joint = system.ground.turned(lead), joints[rod["start"]]
    starts = np.interp(np.linspace(0.0, along[-1], segments + 1), along, stretch)
    for k, part in enumerate(whole.parts):
        initial = {**whole.initial[k], "axial1": float(starts[k + 1] - starts[k])}
        tip = system.add(f"rod_{k + 1}", part, joint=joint, on=root, initial=initial)
        root, joint = tip.tip, pl.Weld()
    end = system.ground.moved(tuple((points[-1] - points[0]) @ axes.T))
    if rod["end"] != "free":
        held = end if rod["end"] == "pinned" else end.turned(math.atan2(*(line[-1] - line[-2])[::-1]))
        system.close("end", "point" if rod["end"] == "pinned" else "weld", root, held)
    for number, load in enumerate(loads):
        place = root if load.get("at", "end") == "end" else system.handle("rod_1").root
        system.force(f"load {number + 1}", place, tuple(axes @ load["force"]))
    return system, axes


def answer(scenario, segments=SEGMENTS):
    """Times and nodes of the rod, in the benchmark's axes from its first point: (times), (times, segments + 1, 3)."""
    system, axes = system_of(scenario, segments)
    if scenario.get("quasi_static"):
        found, times = pl.equilibrium(system), np.array([scenario["duration"]])
    else:
        found = pl.simulate(system, scenario["duration"], save=scenario["duration"] / 400)
        assert found.ok and not found.warnings  # its energy balances, too
        times = found.time
    tips = [np.reshape(found["tip_position", f"rod_{k + 1}"], (len(times), -1))[:, :2] for k in range(segments)]
    nodes = np.stack([np.zeros_like(tips[0]), *tips], axis=1)
    return times, nodes @ axes + np.array(scenario["rods"][0]["centerline"][0])


# ------------------------------------------------------------------------------- scenarios of the benchmark, 1 m of soft rope each

RUBBER = {"youngs_modulus": 1e6, "shear_modulus": 1e6 / 3.0, "density": 1000.0}
G = 9.81


def rod_on(points, radius, material=RUBBER, **more):
    free = {"normal": (0.0, 1.0, 0.0), "start": "free", "end": "free", "loads": (), "rest_arc_length": None}
    return {"centerline": np.asarray(points).tolist(), "radius": radius, "material": material, **free, **more}


def cantilever(force=7.5e-3):
    beam = rod_on([(0, 0, 0), (1, 0, 0)], 0.02, start="clamped", loads=[{"force": (0.0, 0.0, -force), "at": "end"}])
    return {"rods": [beam], "duration": 10.0, "gravity": (0, 0, 0), "quasi_static": True}


def catenary(span=0.8):
    half = brentq(lambda angle: math.sin(angle) / angle - span, 1e-3, 3.0)  # it starts on an arc
    angles = np.linspace(-half, half, 101)
    arc = 0.5 / half * np.stack([np.sin(angles) + math.sin(half), 0 * angles, math.cos(half) - np.cos(angles)], axis=1)
    cable = rod_on(arc, 0.005, start="pinned", end="pinned")
    return {"rods": [cable], "duration": 5.0, "gravity": (0, 0, -G), "quasi_static": True}


def pendulum(amplitude=0.02):
    """It starts as stretched as it hangs, close to its first mode: that of Bernoulli's chain."""
    stiff = {"youngs_modulus": 1e7, "shear_modulus": 1e7 / 3.0, "density": 1000.0}
    s = np.linspace(0.0, 1.0, 201)
    across = amplitude * j0(jn_zeros(0, 1)[0] * np.sqrt(1.0 - s))
    sizes = np.diff(s + 1000.0 * G * (s - s * s / 2.0) / 1e7)
    down = np.concatenate([[0.0], np.cumsum(np.sqrt(sizes**2 - np.diff(across) ** 2))])
    rope = rod_on(np.stack([across, 0 * s, -down], axis=1), 0.002, stiff, start="pinned", rest_arc_length=s.tolist())
    return {"rods": [rope], "duration": 5.0, "gravity": (0, 0, -G), "quasi_static": False}


FLOOR = {"point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0), "friction": 0.3}
CYLINDER = {"center": (0.0, 0.0, 0.0), "axis": (0.0, 1.0, 0.0), "radius": 0.05, "length": 0.1, "friction": 0.3}
TURNED = {"times": (0.0, 6.0), "displacement": ((0, 0, 0),) * 2, "rotation": ((0, 0, 0), (13.4, 0, 0)), "slides_along": (1, 0, 0)}
OTHERS = {  # what makes the other four what they are; the rest of each is as above
    "capstan": {**catenary(), "obstacles": [CYLINDER]},
    "crossing": {**catenary(), "rods": 2 * catenary()["rods"], "self_contact": False},
    "pile": {**pendulum(), "obstacles": [FLOOR], "self_contact": True},
    "twist": {**cantilever(), "rods": [rod_on([(0, 0, 0), (1, 0, 0)], 0.01, start="clamped", end="clamped", end_motion=TURNED)]},
}


def period(times, x, near):
    """Of the first swing in the motion of a free end, by a fit; beside it swing a chain's second and third, and it is stretched."""
    ratios = jn_zeros(0, 3) / jn_zeros(0, 1)

    def misfit(length):
        angles = np.outer(times, 2.0 * math.pi / length * ratios)
        waves = np.concatenate([np.cos(angles), np.sin(angles), np.ones((len(times), 1))], axis=1)
        return np.linalg.norm(x - waves @ np.linalg.lstsq(waves, x, rcond=None)[0])

    return float(minimize_scalar(misfit, bounds=(0.95 * near, 1.05 * near), method="bounded", options={"xatol": 1e-9}).x)


def sag(span=0.8):
    """Of the elastic catenary, which neglects bending."""
    weight, stiffness = 1000.0 * math.pi * 0.005**2 * G, 1e6 * math.pi * 0.005**2
    pull = brentq(lambda h: h / stiffness + 2.0 * h / weight * math.asinh(weight / (2.0 * h)) - span, 1e-6, 10.0)
    return weight / (8.0 * stiffness) + (math.hypot(pull, weight / 2.0) - pull) / weight


@styled
def draw(shapes, swing):
    drawn, (panels,) = figure(columns=3, height=2.6, width=9.0)
    for panel, (name, nodes) in zip(panels, shapes.items(), strict=False):
        panel.plot(nodes[:, 0], nodes[:, 2], "o-", ms=3, color=PALETTE[0])
        panel.set(title=name, xlabel="x, m", ylabel="z, m")
    panels[2].plot(swing[0], 1e3 * swing[1][:, -1, 0], color=PALETTE[1])
    panels[2].set(title="pendulum", xlabel="t, s", ylabel="free end, mm")
    return drawn


def show(files):
    """Answers to files of the benchmark."""
    for file in files:
        try:
            times, nodes = answer(json.loads(Path(file).read_text(encoding="utf-8"))["scenario"])
            print(f"{file}: at {times[-1]:g} s its end is at {np.round(nodes[-1, -1], 5).tolist()}, "
                  f"its lowest node at z = {nodes[-1, :, 2].min():.6f} m")  # fmt: skip
        except pl.ModelError as trouble:
            print(f"{file}: {trouble}")


def main():
    bent, hung, swing = answer(cantilever())[1][-1], answer(catenary())[1][-1], answer(pendulum())
    straight = 7.5e-3 / (3.0 * 1e6 * 0.25 * math.pi * 0.02**4)  # F l^3/(3 EI)
    found = period(swing[0], swing[1][:, -1, 0], 1.6676723)  # of small swings, by shooting: docs/make_verification.py
    print(f"cantilever: deflection {-1e3 * bent[-1, 2]:.4f} mm; by Euler and Bernoulli {1e3 * straight:.4f} mm")
    print(f"catenary: sag {-1e3 * hung[:, 2].min():.3f} mm; elastic catenary {1e3 * sag():.3f} mm")
    print(f"pendulum: period {found:.6f} s; small swings 1.667672 s")
    assert abs(-bent[-1, 2] / straight - 1.0) < 1e-3 and abs(-hung[:, 2].min() / sag() - 1.0) < 1e-3
    assert abs(found / 1.6676723 - 1.0) < 5e-5  # its swing of 2 cm takes 2e-5 longer
    for name, scenario in OTHERS.items():
        try:
            system_of(scenario)
        except pl.ModelError as trouble:
            print(f"{name}: {trouble}")
        else:
            raise AssertionError(f"{name} is answered")
    pl.plot.save(draw({"cantilever": bent, "catenary": hung}, swing), "rod_scenarios.png")


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word.endswith(".json")]
    show(given) if given else main()

"""A measured two-link flexible arm: currents in, angles and strains out, through harmonic drives that stick.

    python examples/measured_arm.py [--steps FILE.npz] [--report arm.html]

Two steel strips in a row, each on a hub with a motor and a harmonic drive, move in a horizontal plane (Quanser's serial flexible
link; examples/data/README.md). One record has the currents of both motors for 20 s. Its first half is fitted; its second half, with
the same moves, is predicted by the same run, from the currents alone. The other records are steps of the first hub under other
controllers, without currents. They are predicted in two ways: from the measured angle of the first hub, all else, with the second
hub under its documented controller, which sees the run and not the record; and from the measured angles of both hubs, the strains.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.ndimage import uniform_filter1d

import pliant as pl
from pliant.show.plot.style import PALETTE, figure, styled

INCH = 0.0254  # m
# Of the maker: from gauge to load, m; thickness and width, m; inertia of the rotor, kg m^2, and gear; inertia of the hub, kg m^2.
# Estimated, and of little effect: from hub to strip, m, and the inertia of what the strip carries, kg m^2
MADE = {
    1: {"length": 0.202, "sides": (0.05 * INCH, 3.0 * INCH), "rotor": 6.28e-6, "gear": 100.0, "hub": 7.4e-4, "reach": 0.079,
        "load": 2e-3},
    2: {"length": 0.20185, "sides": (0.035 * INCH, 1.5 * INCH), "rotor": 1.03e-6, "gear": 50.0, "hub": 4.4e-4, "reach": 0.043,
        "load": 4e-5},
}  # fmt: skip
FILTER = {"low_pass": 2.0, "order": 2, "damping": 0.9}  # of the logged readings, as documented
GAINS = (15.8114, -40.3349, 0.42388, -0.71090)  # of the second hub's controller: A/rad and A s/rad, for hub, link and their rates
STEP = 0.01  # s, between rows: the arm moves at some Hz
FITTED = 10.0  # s: the first half of the record
METHOD = pl.DOP853(1e-4, 1e-7)
SESSION = {"bend": 0.0, "zero1": 0.0, "zero2": 0.0}  # where the elbow's encoder and the gauges read 0: the steps are other sessions
DATA = Path(__file__).parent / "data" / "flexible_arm.npz"
FIRST = {  # by parameter: guesses for both joints, unit, lower bound
    "torque": ((0.07, 0.018), "N m/A", 0.0), "offset": ((0.0, 0.0), "A", None), "viscous": ((1.0, 0.1), "N m s/rad", 0.0),
    "dry": ((1.0, 0.07), "N m", 0.0), "rise": ((1.0, 0.04), "N m", 0.0), "mass": ((1.5, 0.2), "kg", 0.01),
    "E": ((1.5e11, 1.5e11), "Pa", 1e9), "zero": ((0.0, 0.0), "rad", None),
}  # fmt: skip
READ = ("hub1.angle", "link1", "hub2.angle", "link2")


def arm(*given):
    """The arm; given: what is known of each hub, the table of its motion, or a formula of its current."""
    tilt, bend = pl.Parameter("tilt", 0.0, "m/s^2"), pl.Parameter("bend", 0.0, "rad")
    slow, loss = pl.Parameter("slow", 0.3, "rad/s", low=0.01), pl.Parameter("loss", 5e8, "Pa s", low=0.0)
    system = pl.System("flexible arm", gravity=(tilt, 0.0))
    on = system.ground
    for k, made in MADE.items():
        first = {name: pl.Parameter(f"{name}{k}", values[k - 1], unit, low=low) for name, (values, unit, low) in FIRST.items()}
        known = given[k - 1] if given else pl.Parameter(f"current{k}", 0.0, "A")
        moved = isinstance(known, pl.MotionTable)
        dry = pl.JointFriction(pl.DryFriction(mu_static=1.0, mu_kinetic=1.0), radius=1.0, preload=first["dry"], pressed=False)
        joint = pl.Revolute(motion=known) if moved else pl.Revolute(friction=dry, damper=pl.Damper(first["viscous"]))
        body = pl.RigidBody(mass=0.3, inertia=made["hub"], frames={"clamp": (made["reach"], 0.0)})
        hub = system.add(f"hub{k}", body, joint=joint, on=on)
        strip = pl.Beam(length=made["length"], section=pl.Section.rectangle(*made["sides"]), theory="euler-bernoulli",
                        material=pl.Material(E=first["E"], density=7850.0), damping=pl.KelvinVoigt(loss),
                        modes=pl.ElementModes(1, reference="cantilever"))  # fmt: skip
        link = system.add(f"strip{k}", strip, joint=pl.Weld(), on=hub.at("clamp"))
        load = system.add(f"load{k}", pl.RigidBody(mass=first["mass"], inertia=made["load"]), joint=pl.Weld(), on=link.tip)
        on = load.root.turned(bend)
        if not moved:
            _drive(system, k, known, first, slow)
        system.sensor.strain_gauge(link, side="bottom", name=f"link{k}", gain=as_angle(k), offset=first["zero"], **FILTER)
    return system


def _drive(system, k, known, first, slow):
    """The motor, and the friction that grows with the speed until it is `rise`."""
    place, made = f"hub{k}.angle", MADE[k]
    torque, offset, rise = first["torque"], first["offset"], first["rise"]
    system.motor(f"motor{k}", place, pl.Motor(inertia=made["rotor"], ratio=made["gear"]),
                 command=lambda t, q, v: torque * ((known(q, v) if callable(known) else known) - offset))  # fmt: skip
    system.drive(f"grease{k}", place, lambda t, q, v: -rise * pl.tanh(v[place] / slow))


def as_angle(k):
    """The angle of the deflection that goes with a strain, if a force at the end of the strip bends it."""
    return 2.0 / 3.0 * MADE[k]["length"] / MADE[k]["sides"][0]


def held(q, v):
    """The current of the second hub's controller, which holds it at 0."""
    seen = (q["hub2.angle"], q["link2"], v["hub2.angle"], as_angle(2) * v["link2.low_pass"])
    return -sum(gain * one for gain, one in zip(GAINS, seen, strict=True))


# ---- records


def read(path):
    """Records by name, each as columns by name with rows every STEP; currents are means over it."""
    with np.load(path) as file:
        return {name: _thinned(file[name].astype(float)) for name in file.files}


def _thinned(rows):
    every = round(STEP / (rows[1, 0] - rows[0, 0]))
    for current in rows.T[5:]:
        current[:] = uniform_filter1d(current, every, mode="nearest")
    return dict(zip(("time", *READ, "current1", "current2"), rows[::every].T, strict=False))


def start_of(record):
    return {place: record[place][0] for place in ("hub1.angle", "hub2.angle")}


def inputs_of(record):
    return {name: pl.InputSeries(record["time"], record[name], "cubic") for name in ("current1", "current2")}


def fit(record, until=FITTED, **options):
    columns = {name: record[name] for name in ("time", *READ)}
    experiment = pl.Experiment(columns, name="first half", inputs=inputs_of(record), starts=start_of(record), until=until)
    free = [f"{name}{k}" for name in FIRST for k in MADE] + ["slow", "tilt", "bend"]
    return pl.fit(arm(), experiment, free, method=METHOD, **options)


# ---- predictions


def by_currents(record, values):
    return pl.simulate(arm(), record["time"][-1], save=record["time"], inputs=inputs_of(record), start=start_of(record),
                       parameters=values, method=METHOD)  # fmt: skip


def by_hubs(record, values, hubs=2):
    """A run with the measured angles of both hubs, or of the first, while the second is under its controller."""
    tables = [pl.MotionTable(record["time"], record[f"hub{k}.angle"]) for k in MADE]
    system = arm(*tables) if hubs == 2 else arm(tables[0], held)
    start = {"hub2.angle": record["hub2.angle"][0]} if hubs == 1 else None
    mine = {name: value for name, value in values.items() if name in system.parameters}
    return pl.simulate(system, record["time"][-1], save=record["time"], start=start, parameters=mine, method=METHOD)


def errors(record, run, rows=slice(None), of=READ):
    """Root mean square of the error, mrad, and in per cent of that of the measured motion about its mean."""
    left = {name: np.sqrt(np.mean((run[name] - record[name])[rows] ** 2)) for name in of}
    moved = {name: np.std(record[name][rows]) for name in of}
    return {name: (1e3 * one, 100.0 * one / moved[name] if moved[name] else np.nan) for name, one in left.items()}


def table(title, rows):
    print(title + "".join(f"{name:>24}" for name in READ))
    for name, one in rows.items():
        print(f"  {name:32}" + "".join(f"{'' if at not in one else '{:9.2f} mrad {:6.1f} %'.format(*one[at]):>24}" for at in READ))


@styled
def draw(records, runs):
    """Measured and predicted; runs: by the name of the record."""
    drawn, panels = figure(rows=len(READ), columns=len(runs), height=1.5, width=9.0)
    for column, (name, run) in enumerate(runs.items()):
        for row, place in enumerate(READ):
            panel, record = panels[row][column], records[name]
            panel.plot(record["time"], 1e3 * record[place], color="0.6", linewidth=1.5, label="measured")
            panel.plot(run.time, 1e3 * run[place], color=PALETTE[row], linewidth=0.8, label="predicted")
            of = "from both currents" if "current1" in record else "from hub 1"
            panel.set(ylabel=f"{place}, mrad" if column == 0 else "", title=f"{name}, {of}" if row == 0 else "")
            if "current1" in record:
                panel.axvspan(0.0, FITTED, color="0.93", zorder=0)
        panels[-1][column].set(xlabel="t, s")
    panels[0][0].legend(fontsize="small")
    return drawn


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    asked.add_argument("--data", type=Path, default=DATA, help="a file with the record `lqr`, which has currents")
    asked.add_argument("--steps", type=Path, help="a file of records without currents, to predict; default: the same file")
    asked.add_argument("--report", help="write the page of the fit here")
    given, _ = asked.parse_known_args()

    record = read(given.data)["lqr"]
    found = fit(record)
    print("\n".join(line for line in str(found).splitlines() if not line.startswith("warning: the differences")))
    print(found.identifiability)
    if given.report:
        found.report(given.report)
    run, seen = by_currents(record, found.values), record["time"] < FITTED
    halves = {"first 10 s, fitted": errors(record, run, seen), "next 10 s": errors(record, run, ~seen)}
    table("from the currents                 ", halves)

    steps = {name: one for name, one in read(given.steps or given.data).items() if "current1" not in one}
    elsewhere = {**found.values, **SESSION}
    first = {name: by_hubs(one, elsewhere, hubs=1) for name, one in steps.items()}
    both = {name: errors(one, by_hubs(one, elsewhere), of=("link1", "link2")) for name, one in steps.items()}
    table("from the angle of the first hub   ", {name: errors(one, first[name], of=READ[1:]) for name, one in steps.items()})
    table("from the angles of both hubs      ", both)
    shown = [name for name in ("hinf_step_neg_20deg", "lqg_step_30deg") if name in steps] or list(steps)[:2]
    pl.plot.save(draw({"lqr": record, **steps}, {"lqr": run, **{name: first[name] for name in shown}}), "measured_arm.png")
    if given.data == DATA:
        assert found.ok and "rise2" in found.unidentifiable
        assert all(per_cent < 12.0 for half in halves.values() for _, per_cent in half.values())


if __name__ == "__main__":
    main()

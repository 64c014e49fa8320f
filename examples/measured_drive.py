"""A measured positioning drive: its mass, its friction and the offset of its force, found from the voltage that drove it.

Without arguments the script makes a record with known values and finds them again. The measured record is that of the EMPS
benchmark (nonlinearbenchmark.org; Janot, Gautier, Brunot 2019), which is not part of this package:

    python examples/measured_drive.py --data FILE.npz [--test FILE2.npz] [--pulses NAME]

A file holds t (s), qg (reference, m), qm (measured position, m), vir (voltage, V), gtau (N/V), kp and kv (gains). The force is gtau
vir = M a + Fv v + Fc sign(v) + offset. The fit simulates the drive in open loop, from rest, with the recorded voltage as its input.
This is the simulated error that is compared with the published model: small errors of the force add up over the whole record.
The second table closes the loop with the controller's gains and the reference instead; it hardly tells good models from bad ones,
because the controller corrects them. --pulses: an array of the test file, N, that was added to the force.
"""

import argparse
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.show.plot.style import PALETTE, figure, styled

PUBLISHED = {"M": 95.1089, "Fv": 203.5034, "Fc": 20.3935, "offset": -3.1648}
PLACE, EVERY = "slide.displacement", 10  # every tenth row of 1 kHz is compared: its noise is far below what the model leaves


def read(path, pulses=None):
    with np.load(path) as file:
        data = {name: np.ravel(file[name]) for name in file.files}
    unused = set(data) - {"t", "qg", "qm", "vir", "gtau", "kp", "kv", pulses}
    if unused:
        print(f"{path}: not used: {', '.join(sorted(unused))}")
    data["t"] = data["t"] - data["t"][0]
    data["force"] = data["gtau"][0] * data["vir"] + (data[pulses] if pulses else 0.0)
    return data


def made():
    """A record of a drive with the published values, 2.5 s at 1 kHz: a stroke and back under its controller, read to 10 um."""
    t, gains = np.arange(2501) * 1e-3, {"gtau": np.array([35.15]), "kp": np.array([160.18]), "kv": np.array([243.45])}
    reference = 0.1 * (1.0 - np.cos(2.0 * np.pi * np.minimum(t, 2.25) / 2.25))
    data = {**gains, "t": t, "qg": reference, "qm": np.zeros(1)}
    gain = gains["gtau"][0] * gains["kv"][0]
    closed = run_of(data, PUBLISHED, closed=True)
    data["force"] = gain * (gains["kp"][0] * (reference - closed[PLACE]) - closed["v", PLACE])
    data["qm"] = run_of(data, PUBLISHED)[PLACE] + 1e-5 * np.random.default_rng(1).normal(size=t.size)
    return data


def drive(volts_per_metre=None):
    """The drive with its force as input u; or, given (gtau kp kv, gtau kv), with its controller and the reference as input u."""
    mass, viscous = pl.Parameter("M", 90.0, "kg", low=1.0), pl.Parameter("Fv", 150.0, "N*s/m", low=0.0)
    coulomb, offset, u = pl.Parameter("Fc", 15.0, "N", low=0.0), pl.Parameter("offset", 0.0, "N"), pl.Parameter("u", 0.0)

    def force(t, q, v):
        if volts_per_metre is None:
            return u - offset - viscous * v[PLACE]
        stiffness, damping = volts_per_metre
        return stiffness * (u - q[PLACE]) - damping * v[PLACE] - offset - viscous * v[PLACE]

    dry = pl.JointFriction(pl.DryFriction(mu_static=1.0, mu_kinetic=1.0), preload=coulomb)
    system = pl.System("drive", gravity=(0, 0))
    system.add("slide", pl.RigidBody(mass=mass, inertia=1.0), joint=pl.Prismatic(friction=dry))
    system.drive("motor", PLACE, force)
    return system


def run_of(data, values, closed=False):
    """A run over the record's time: in open loop, or with the controller."""
    t, gain = data["t"], data["gtau"][0] * data["kv"][0] if closed else 0.0
    system = drive((gain * data["kp"][0], gain)) if closed else drive()
    given = pl.InputSeries(t, data["qg"], "linear") if closed else pl.InputSeries(t, data["force"], "held")
    run = pl.simulate(system, t[-1], inputs={"u": given}, parameters=values, start={PLACE: data["qm"][0]}, save=t)
    assert run.ok, run.message
    return run


def fit(data):
    """Mass, friction and offset from a record, and where it began: one reading is not exact."""
    rows = slice(None, None, EVERY)
    experiment = pl.Experiment(
        {"time": data["t"][rows], PLACE: data["qm"][rows]}, name="record",
        inputs={"u": pl.InputSeries(data["t"], data["force"], "held")},
        starts={PLACE: pl.Unknown(data["qm"][0])},
    )  # fmt: skip
    return pl.fit(drive(), experiment, list(PUBLISHED))


def table(data, models):
    """Errors of models, as root mean square in mm and in per cent of that of the measured position."""
    for closed, words in ((False, "open loop, recorded voltage"), (True, "closed loop, recorded reference")):
        if closed and "vir" not in data:
            continue  # the controller of the record made here is that of no measurement
        print(f"  {words}")
        for name, values in models.items():
            error = np.sqrt(np.mean((run_of(data, values, closed)[PLACE] - data["qm"]) ** 2))
            print(f"    {name:10} {1e3 * error:10.4f} mm   {100.0 * error / np.sqrt(np.mean(data['qm'] ** 2)):8.4f} %")


@styled
def draw(data, models):
    drawn, panels = figure(rows=2, height=2.2, width=7.0)
    place, error = panels[0][0], panels[1][0]
    place.plot(data["t"], 1e3 * data["qm"], color="0.6", label="measured")
    for (name, values), colour in zip(models.items(), PALETTE, strict=False):
        q = run_of(data, values)[PLACE]
        place.plot(data["t"], 1e3 * q, color=colour, linewidth=0.8, label=name)
        error.plot(data["t"], 1e3 * (q - data["qm"]), color=colour, label=name)
    place.set(ylabel="position, mm", title="a positioning drive, simulated in open loop")
    error.set(xlabel="t, s", ylabel="error, mm")
    error.legend(fontsize="small")
    return drawn


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter, allow_abbrev=False)
    asked.add_argument("--data", type=Path, help="the record to fit, .npz; default: one that is made here")
    asked.add_argument("--test", type=Path, help="another record, only simulated, .npz")
    asked.add_argument("--pulses", help="array of the test record that was added to the force, N")
    given, _ = asked.parse_known_args()

    data, name = (read(given.data), given.data.name) if given.data else (made(), "a record made here")
    found = fit(data)
    print(found)
    for one, (low, high) in found.confidence().items():
        if one in PUBLISHED:
            print(f"{one}: {found.values[one]:.4f}, 95 % {low:.4f} to {high:.4f}, published {PUBLISHED[one]:.4f}")
    models = {"published": PUBLISHED, "fitted": {one: found.values[one] for one in PUBLISHED}}
    print(f"simulated error, {name}")
    table(data, models)
    if not given.data:
        assert all(abs(found.values[one] - PUBLISHED[one]) < 4.0 * found.standard_errors[one] for one in PUBLISHED)
    if given.test is not None:
        test = read(given.test, given.pulses)
        print(f"simulated error, {given.test.name}, which the fit has not seen")
        table(test, models)
    pl.plot.save(draw(data, models), "measured_drive.png")


if __name__ == "__main__":
    main()

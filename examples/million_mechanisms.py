"""Many falling chains with scattered heights, angles, restitution and friction: where they are after 1.5 s, how often they touched.

Set MEMBERS to a million and DEVICE to "gpu" on a machine with an NVIDIA GPU.
"""

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

MEMBERS, DEVICE = 600, "auto"
SECONDS, LINKS = 1.5, "abc"

section = pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6)
restitution, mu = pl.Parameter("restitution", 0.6, low=0.0, high=1.0), pl.Parameter("mu", 0.3, low=0.0, high=1.0)
system, frame = pl.System("chain", gravity=(0, -9.81)), None
for name in LINKS:
    beam = pl.Beam(length=1.0, mass_per_length=1.0, theory="timoshenko", section=section, modes=pl.Modes("ss", 1),
                   rotary_inertia=2.9473e-5, material=pl.Material(E=2e11, G=7.7e10), stiffening="none")  # fmt: skip
    joint = pl.Planar(position=(0.0, 2.0)) if frame is None else pl.Revolute()
    frame = (system.add(name, beam, joint=joint) if frame is None else system.add(name, beam, joint=joint, on=frame)).tip
system.contact(points=system.ends(), against=pl.Plane(normal=(0, 1)), normal=pl.HuGuo(stiffness=1e8, restitution=restitution),
               friction=pl.Ambrosio(mu=mu, v0=1e-3, v1=1e-2))  # fmt: skip

rng = np.random.default_rng(7)
angles = rng.uniform(-0.5, 0.5, (MEMBERS, len(LINKS)))
lowest = np.minimum(np.cumsum(np.sin(np.cumsum(angles, axis=1)), axis=1).min(axis=1), 0.0)
starts = {"a.y": rng.uniform(0.5, 2.0, MEMBERS) - lowest, **{f"{name}.angle": angles[:, k] for k, name in enumerate(LINKS)}}
values = {"restitution": rng.uniform(0.3, 0.95, MEMBERS), "mu": rng.uniform(0.01, 0.6, MEMBERS)}
chains = pl.ensemble(system, SECONDS, starts=starts, parameters=values, method=pl.DOP853(rtol=1e-6, atol=1e-9), device=DEVICE,
                     keep=("final", "contacts", "ledger", pl.ValuesAt([SECONDS], "tip_position", "gap")))  # fmt: skip

ledger = (chains.balance_error / chains.balance_scale).values
print(chains.attrs["loop"])
deepest = 1e3 * float(chains.gap.min())
print(f"{int(chains.ok.sum())} of {MEMBERS} ended well; deepest gap {deepest:.2f} mm")
print(f"error of the energy balance: median {np.median(ledger):.1g}, worst {ledger.max():.1g}")
assert chains.ok.all() and not np.isnan(chains.q_end).any() and float(chains.gap.min()) > -5e-3 and np.median(ledger) < 1e-4

tips, touches = chains.tip_position.sel(body="c").isel(time=0), chains.touches.sum("pair")
figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
cells = left.hexbin(tips.sel(axis="x"), tips.sel(axis="y"), gridsize=28, mincnt=1, cmap="viridis")
figure.colorbar(cells, ax=left, label="chains")
left.set(title=f"The last tip after {SECONDS} s", xlabel="x, m", ylabel="height, m")
right.hist(touches, bins=np.arange(int(touches.max()) + 2) - 0.5, color="tab:blue")
right.set(title=f"Touches in {SECONDS} s", xlabel="touches", ylabel="chains")
figure.savefig("million_mechanisms.png", dpi=130)

"""A flexible arm that is struck at its tip and rings: an LQR, sampled at 1 kHz, stops it; its brake alone does not."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_discrete_are
from scipy.signal import cont2discrete

import pliant as pl

PERIOD, LIMIT = 1e-3, 10.0  # s; N m, of the motor
BLOW = {"y1": 0.8}  # m/s


def arm(joint, rates=None):
    """A steel strip of 1 m with 0.2 kg at its end, in a horizontal plane."""
    system = pl.System("arm", gravity=(0, 0))
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(0.006, 0.04), material=pl.STEEL, theory="euler-bernoulli",
                    modes=pl.Modes("cf", 2), damping=[pl.ModalDamping(0.002)], payload=pl.Payload(mass=0.2))  # fmt: skip
    system.add("arm", strip, joint=joint, initial_rates=rates)
    return system


# the controller: exact derivatives of the mechanism, exactly discretised, and Riccati's equation
model = pl.linearise(arm(pl.Revolute()), inputs="arm.angle", outputs=["tip_position arm y", "arm.angle"])
A, B, C, *_ = cont2discrete((model.A, model.B, model.C, model.D), PERIOD)
weights, cost = C.T @ np.diag([1e6, 1e4]) @ C, np.array([[1.0]])  # the tip to 1 mm, the angle to 10 mrad, for 1 N m
riccati = solve_discrete_are(A, B, weights, cost)
gains = np.linalg.solve(cost + B.T @ riccati @ B, B.T @ riccati @ A)[0]


def update(t, q, v, measured, memory):
    """The motor's torque, from the states that the linear model has."""
    states = [values[name] for values in (q, v) for name in ("arm.angle", "arm.y1", "arm.y2")]
    return pl.saturate(-sum(gain * state for gain, state in zip(gains, states, strict=True)), LIMIT)


controlled = arm(pl.Revolute(), BLOW)
controlled.sampled("lqr", PERIOD, update, outputs="torque")
controlled.drive("motor", "arm.angle", lambda t, q, v: q["lqr.torque"])
braked = arm(pl.Revolute(motion=lambda t: 0.0 * t), BLOW)  # the brake holds the joint

stopped, ringing = (pl.simulate(system, 2.0, save=1e-3) for system in (controlled, braked))
across = {name: result.of_body("tip_position", "arm")[:, 1] for name, result in (("LQR", stopped), ("brake", ringing))}
largest = np.max(np.abs(across["brake"]))


def settled(y):
    """s: when the tip has come to stay within 2 % of the largest swing of the braked arm."""
    outside = np.flatnonzero(np.abs(y) > 0.02 * largest)
    return stopped.time[outside[-1]] if outside.size else 0.0


print(f"gains {np.array2string(gains, precision=4)}")
left = np.max(np.abs(across["brake"][-200:]))
print(f"the braked arm swings by {1e3 * largest:.1f} mm, and after 2 s still by {1e3 * left:.1f} mm")
print(f"under control the tip stays within 2 % of that after {settled(across['LQR']):.3f} s; torque up to "
      f"{np.max(np.abs(stopped['lqr.torque'])):.2f} N m")  # fmt: skip
assert stopped.ok and ringing.ok and stopped.ledger.relative_error_max < 1e-6
assert settled(across["LQR"]) < 0.25 and settled(across["brake"]) > 1.99

figure, (tip, torque) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
for name, y in across.items():
    tip.plot(stopped.time, 1e3 * y, label=name, lw=0.9)
tip.set_ylabel("tip, mm")
tip.legend(loc="upper right")
torque.step(stopped.time, stopped["lqr.torque"], where="post", lw=0.9)
torque.set(xlabel="t, s", ylabel="torque, N m")
pl.plot.save(figure, "controlled_arm.png")

"""What a page must be able to run: the gallery's systems, and an arm with a sampled controller and a joint that sticks."""

import pliant as pl
from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.gallery.slider_crank.system import slider_crank
from pliant.gallery.telescopic_arm.system import telescopic_arm
from pliant.gallery.tipping_arm.system import tipping_arm


def controlled_arm():
    """An elastic arm with stiction, held on a path by a controller at 500 Hz whose torque comes a millisecond late."""
    system = pl.System("controlled arm", gravity=(0, -9.81))
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                    modes=pl.Modes("cf", 2), damping=[pl.ModalDamping(0.01)])  # fmt: skip
    dry = pl.JointFriction(pl.DryFriction(mu_static=0.4, mu_kinetic=0.3), radius=0.05)
    system.add("arm", strip, joint=pl.Revolute(angle=0.3, friction=dry))

    def update(t, q, v, measured, memory):
        return pl.saturate(-60.0 * (q["arm.angle"] - 0.2 * pl.sin(2.0 * t)) - 9.0 * v["arm.angle"], 20.0)

    system.sampled("pd", 2e-3, update, outputs="torque", delay=1e-3)
    system.drive("motor", "arm.angle", lambda t, q, v: q["pd.torque"])
    return system


FINE = pl.DOP853(rtol=1e-9, atol=1e-12)
# name: (System, end of the run in s, method)
SYSTEMS = {
    "falling chain": (falling_chain, 0.6, FINE),
    "slider-crank": (slider_crank, 0.05, FINE),
    "parallel robot": (parallel_robot, 0.5, FINE),
    "tipping arm": (tipping_arm, 0.4, FINE),
    "telescopic arm": (telescopic_arm, 0.5, FINE),
    "controlled arm": (controlled_arm, 0.5, FINE),
    "implicit, Radau": (tipping_arm, 0.2, pl.Radau5(rtol=1e-8, atol=1e-10)),
    "implicit, Rosenbrock": (falling_chain, 0.5, pl.Rodas5P(rtol=1e-8, atol=1e-10)),
    "fixed steps": (parallel_robot, 0.5, pl.RK4(step=1e-3)),
    "partitioned": (parallel_robot, 0.5, pl.TwoLoop(rtol=1e-8, atol=1e-10)),
}

"""What is exported: an elastic arm with a torque from outside, the falling chain, the slider-crank, an arm with a controller."""

import pliant as pl
from live.systems import controlled_arm
from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.slider_crank.system import slider_crank

METHOD = pl.DOP853(rtol=1e-9, atol=1e-12)


def elastic_arm():
    """A strip on a motor, whose torque is an input; the damping of its joint can be tuned."""
    system = pl.System("elastic arm", gravity=(0, -9.81))
    torque, damping = pl.Parameter("torque", 1.5, "N m"), pl.Parameter("damping", 0.2, "N m s", 0.0, 5.0)
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                    modes=pl.Modes("cf", 2), damping=[pl.ModalDamping(0.01)])  # fmt: skip
    system.add("arm", strip, joint=pl.Revolute(angle=0.3, damper=pl.Damper(damping)))
    system.drive("motor", "arm.angle", torque)
    return system


# name: System, end in s, options of `write_fmu`
SYSTEMS = {
    "elastic arm": (
        elastic_arm,
        0.3,
        {"parameters": ["damping", "arm.angle"], "outputs": ["arm.angle", "v", "tip_position arm y"]},
    ),
    "falling chain": (falling_chain, 0.6, {}),
    "slider-crank": (slider_crank, 0.02, {}),
    "controlled arm": (controlled_arm, 0.1, {"t_end": 0.1, "outputs": ["arm.angle", "v arm.angle", "states"]}),
}

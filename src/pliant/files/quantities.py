"""Units of the model's numeric fields, and the allowed words of its text fields.

The unit of a field follows from its name, because a name has the same meaning throughout the model; exceptions are listed by class
and name. The test `test_every_number_has_a_unit_and_every_text_its_words` compares this table with the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pliant.files.run_settings import RunSettings
from pliant.model import beam, closure, damping, force, modes, normal_law, rolling, telescopic
from pliant.model.beam import Beam
from pliant.model.friction_law import BristleLaw, CustomFriction, DryFriction, LuGre
from pliant.model.joint import Cylindrical, Damper, Joint, Planar, Prismatic, Revolute, Spring
from pliant.model.modes import AxialModes, ElementModes, GivenModes, Modes, ShapeTable, TorsionModes
from pliant.model.motor import Motor
from pliant.model.normal_law import Impulsive, PowerDamping, PowerLaw
from pliant.model.outline import FibreOutline
from pliant.model.play import Backlash, Limits
from pliant.model.reduction import CraigBampton, FreeModes
from pliant.model.sensor import EXPRESSED, SIDES, Accelerometer, Encoder, ForceSensor, Gyro, Sensor, StrainGauge
from pliant.model.signal import Constant, MotionTable, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth
from pliant.model.solids import Hull
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam

EITHER, EITHER_EFFORT = "m or rad", "N m or N"
SPEED, STIFFNESS, DRAG = "m/s", "N/m or N m/rad", "N s/m or N m s/rad"

UNITS_BY_NAME: dict[str, str] = {
    "length": "m", "radius": "m", "height": "m", "width": "m", "outer": "m", "inner": "m", "radius_a": "m", "radius_b": "m",
    "offset": "m", "com": "m", "tip": "m", "frames": "m", "at": "m", "position": "m", "point": "m", "displacement": "m",
    "extension": "m", "x": "m", "breaks": "m", "near": "m", "guide": "m", "clearance": "m", "size": "m", "vertices": "m",
    "A": "m^2", "shear_area": "m^2", "torsion_modulus": "m^3", "Iz": "m^4", "Iy": "m^4", "J": "m^4",
    "mass": "kg", "sleeve_mass": "kg", "mass_per_length": "kg/m", "density": "kg/m^3",
    "inertia": "kg m^2", "rotary_inertia": "kg m", "torsion_inertia": "kg m",
    "E": "Pa", "G": "Pa", "modulus": "Pa", "hardness": "Pa", "preload": "N", "end_stiffness": "N/m",
    "angle": "rad", "angles": "rad", "rate": "rad/s", "rates": "rad/s", "angular_velocity": "rad/s", "frequencies": "rad/s",
    "velocity": SPEED, "entry_floor": SPEED, "transition": SPEED, "band": SPEED, "v0": SPEED, "v1": SPEED, "v_r": SPEED,
    "v_static": SPEED, "v_kinetic": SPEED, "v_stribeck": SPEED, "v_smooth": SPEED,
    "viscous": "s/m", "xi": "s/m", "chi": "s/m",
    "gravity": "m/s^2", "alpha": "1/s", "beta": "s", "tau_dwell": "s",
    "times": "s", "breakpoints": "s", "step": "s", "max_step": "s", "first_step": "s", "t_start": "s", "t_end": "s",
    "save": "s", "max_seconds": "s", "period": "s", "delay": "s", "low_pass": "Hz", "highest": "Hz",
    "nu": "1", "shear_factor": "1", "restitution": "1", "exponent": "1", "mu": "1", "mu_static": "1", "mu_kinetic": "1",
    "ratios": "1", "ratio": "1", "orientation": "1", "normal": "1", "axis": "1", "axes": "1", "count": "1", "elements": "1",
    "nodes": "1", "interface": "1", "coefficient": "1", "touches": "1",
    "rtol": "1", "atol": "1", "coarse": "1", "newton": "1", "max_steps": "1",
}  # fmt: skip

UNITS: dict[tuple[Any, str], str] = {
    (CraigBampton, "modes"): "1",
    (Hull, "points"): "m",
    (FibreOutline, "points"): "m",
    (FreeModes, "modes"): "1",
    (damping.KelvinVoigt, "coefficient"): "Pa s",
    (damping.AirDrag, "coefficient"): "kg/(m s)",
    (damping.MotionDrag, "coefficient"): "kg/(m s)",
    (Spring, "stiffness"): STIFFNESS,
    (Spring, "rest"): EITHER,
    (Damper, "coefficient"): DRAG,
    (Limits, "low"): EITHER,
    (Limits, "high"): EITHER,
    (Limits, "stiffness"): STIFFNESS,
    (Limits, "damping"): DRAG,
    (Backlash, "gap"): EITHER,
    (Backlash, "centre"): EITHER,
    (Backlash, "stiffness"): STIFFNESS,
    (Backlash, "damping"): DRAG,
    (Prismatic, "rate"): SPEED,
    (TelescopicBeam, "rate"): SPEED,
    (Cylindrical, "rates"): "m/s or rad/s",
    (Planar, "rate"): "rad/s",
    (Revolute, "rate"): "rad/s",
    (PowerLaw, "stiffness"): "N/m^n",
    (PowerLaw, "damping"): "N s/m",
    (PowerDamping, "chi"): "N s/m/m^n",  # n: its damping_exponent
    (PowerDamping, "damping_exponent"): "1",
    (BristleLaw, "sigma0"): "1/m",
    (BristleLaw, "sigma1"): "s/m",
    (BristleLaw, "sigma2"): "s/m",
    (LuGre, "sigma1"): "s/m",
    (CustomFriction, "switches"): SPEED,
    (DryFriction, "rest"): SPEED,
    (ShapeTable, "w"): "m or rad or 1",
    (ShapeTable, "theta"): "1 or rad or 1/m",
    (MotionTable, "values"): EITHER,
    (Constant, "value"): EITHER_EFFORT,
    (PiecewiseConstant, "values"): EITHER_EFFORT,
    (PiecewiseLinear, "values"): EITHER_EFFORT,
    (PiecewiseSmooth, "values"): EITHER_EFFORT,
    (PiecewiseSmooth, "corners"): "s",
    (Sensor, "gain"): "1",  # readings are in the unit that the user gives them
    (Sensor, "offset"): "1",
    (Sensor, "noise"): "1",
    (Sensor, "order"): "1",
    (Sensor, "damping"): "1",
    (Sensor, "pade"): "1",
    (Sensor, "seed"): "1",
    (Encoder, "counts"): "1",
    (System.drive, "effort"): EITHER_EFFORT,
    (System.force, "vector"): "N",
    (System.moment, "vector"): "N m",
    (System.motor, "command"): "V or 1 or N m",
    (System.motor, "start"): "A or N m",
    (Motor, "ratio"): "1 or rad/m",
    (Motor, "efficiency"): "1",
    (Motor, "back_efficiency"): "1",
    (Motor, "transition"): "rad/s",
    (Motor, "damping"): "N m s/rad",
    (Motor, "constant"): "N m/A",
    (Motor, "resistance"): "ohm",
    (Motor, "inductance"): "H",
    (Motor, "stall_torque"): "N m",
    (Motor, "no_load_speed"): "rad/s",
    (Motor, "time_constant"): "s",
    (Motor, "max_torque"): "N m",
    (Motor, "max_current"): "A",
    (Motor, "gear_stiffness"): STIFFNESS,
    (Motor, "gear_damping"): DRAG,
    (System.strut, "stiffness"): "N/m",
    (System.strut, "rest"): "m",
    (System.strut, "damping"): "N s/m",
    (System.strut, "force"): "N",
    (System.close, "stiffness"): STIFFNESS,
    (System.close, "damping"): DRAG,
    (System.close, "motion"): EITHER,
    (System.constrain, "stiffness"): STIFFNESS,
    (System.constrain, "damping"): DRAG,
}

# Units of these quantities along a sliding and about a rotating coordinate. The last four belong to laws at the stops of joints.
ALONG: dict[str, dict[str, str]] = {
    "m": {EITHER: "m", STIFFNESS: "N/m", DRAG: "N s/m", EITHER_EFFORT: "N", "1 or rad/m": "rad/m"},
    "rad": {EITHER: "rad", STIFFNESS: "N m/rad", DRAG: "N m s/rad", EITHER_EFFORT: "N m", "1 or rad/m": "1",
            SPEED: "rad/s", "N s/m": "N m s/rad", "s/m": "s/rad", "N/m^n": "N m/rad^n", "N s/m/m^n": "N m s/rad/rad^n"},
}  # fmt: skip

# The allowed words of text fields, from the model's own tuples.
CHOICES: dict[tuple[Any, str], Iterable[str]] = {
    (Beam, "theory"): beam.THEORIES,
    (Beam, "stiffening"): beam.STIFFENINGS,
    (Modes, "ends"): modes.BENDING_ENDS,
    (Modes, "plane"): modes.PLANES,
    (Modes, "normalise"): modes.NORMALISATIONS,
    (AxialModes, "ends"): modes.BAR_ENDS,
    (TorsionModes, "ends"): modes.BAR_ENDS,
    (GivenModes, "plane"): modes.PLANES,
    (ElementModes, "plane"): modes.PLANES,
    (ElementModes, "reference"): modes.REFERENCES,
    (damping.RayleighRatios, "rule"): damping.RULES,
    (Impulsive, "kind"): normal_law.IMPACT_KINDS,
    (TelescopicBeam, "form"): telescopic.FORMS,
    (TelescopicBeam, "tip_rotation"): telescopic.TIP_ROTATIONS,
    (TelescopicBeam, "on_sleeve_end"): telescopic.SLEEVE_ENDS,
    (StrainGauge, "side"): SIDES,
    (ForceSensor, "expressed"): EXPRESSED,
    (System.force, "expressed"): force.EXPRESSED,
    (System.moment, "expressed"): force.EXPRESSED,
    (System.event, "direction"): tuple(force.DIRECTIONS),
    (System.close, "kind"): tuple(closure.CLOSURES),
    (System.close, "by"): closure.WAYS,
    (System.constrain, "kind"): rolling.KINDS_OF_CONSTRAINT,
    (System.constrain, "unit"): ("m", "rad"),
    (System.constrain, "by"): closure.WAYS,
}
FREE_TEXTS = (  # checked by the model or the solver, or names chosen by the user
    (RunSettings, "formulation"),
    (Encoder, "of"),
    (ForceSensor, "of"),
    (ForceSensor, "axes"),
    (Accelerometer, "axes"),
    (Gyro, "axes"),
    (System.drive, "coordinate"),
    (System.motor, "coordinate"),
    (System.sampled, "outputs"),
)
# Numbers whose unit the user decides.
OWN_UNITS = ((System.state, "rate"), (System.state, "start"), (System.sampled, "start"))


def coordinate_units(joint: Joint) -> dict[str, str]:
    """In what each coordinate of a joint is measured: m or rad."""
    return {motion.name: motion.unit for motion in joint.motions}


def along(unit: str | None, coordinate: str | None) -> str | None:
    """The unit of a number that belongs to a coordinate in m or rad; unchanged where that is not known, or makes no difference."""
    return unit if unit is None or coordinate is None else ALONG[coordinate].get(unit, unit)

"""The table of all quantities of a result: name, dimensions, unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass

AXES = ("x", "y", "z")
QUATERNION = ("w", "x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    name: str
    dims: tuple[str, ...]  # after time
    unit: str
    meaning: str


# Dimensions: coordinate = names of q, rate = names of v (they differ for balls only), body, axis, quaternion (its four parts),
# source of work, pair of contact, row of a closure, drive, strut, motor; channel: readings of sensors; state: states of the user's
# own; friction_joint, friction_rate: joints with friction and the rates along which it acts; joint_coordinate and joint_rate: of
# the cut joints of formulation "augmented".
QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("q", ("coordinate",), "m, rad or 1", "coordinates"),
        Quantity("v", ("rate",), "m/s or rad/s", "rates of the coordinates (angular velocity for balls)"),
        Quantity("a", ("rate",), "m/s^2 or rad/s^2", "accelerations"),
        Quantity("root_position", ("body", "axis"), "m", "origin of each body's frame, world axes"),
        Quantity("orientation", ("body", "quaternion"), "1", "rotation of each body's frame to world axes, unit quaternion"),
        Quantity("tip_position", ("body", "axis"), "m", "tip of each body, world axes"),
        Quantity("tip_velocity", ("body", "axis"), "m/s", "velocity of each tip, world axes"),
        Quantity("tip_deflection", ("body", "axis"), "m", "elastic displacement of each tip, body axes"),
        Quantity("kinetic", (), "J", "kinetic energy"),
        Quantity("gravity", (), "J", "potential energy of gravity"),
        Quantity("strain", (), "J", "strain energy of the beams"),
        Quantity("spring", (), "J", "energy in joint springs, end stops, struts and penalty springs"),
        Quantity("contact", (), "J", "elastic energy in closed contacts"),
        Quantity("work", ("source",), "J", "work done on the mechanism since the start, by source"),
        Quantity("power", ("source",), "W", "power put into the mechanism, by source"),
        Quantity("momentum", ("axis",), "kg m/s", "momentum, world axes"),
        Quantity("angular_momentum", ("axis",), "kg m^2/s", "angular momentum about the world's origin"),
        Quantity(
            "gap",
            ("pair",),
            "m",
            "gap of each contact pair, negative when pressed; for stops and backlash of rotations, gaps are in rad, "
            "speeds in rad/s and forces in N m",
        ),
        Quantity("closing_speed", ("pair",), "m/s", "speed at which each gap closes"),
        Quantity("normal_force", ("pair",), "N", "normal force of each contact pair"),
        Quantity("friction_force", ("pair", "axis"), "N", "friction on the first body of each pair, world axes"),
        Quantity("contact_point", ("pair", "axis"), "m", "contact (or nearest) point of the first body of each pair, world axes"),
        Quantity("contact_normal", ("pair", "axis"), "1", "outward normal of the second body of each pair, world axes"),
        Quantity(
            "reaction_force",
            ("body", "axis"),
            "N",
            "force on each body from its inboard joint, including the joint's drives and springs, world axes",
        ),
        Quantity(
            "reaction_moment",
            ("body", "axis"),
            "N m",
            "moment on each body from its inboard joint, including the joint's drives and springs, about root_position, world axes",
        ),
        Quantity(
            "multiplier", ("row",), "N or N m", "multipliers of closed loops, one per constrained direction; 0 for redundant rows"
        ),
        Quantity("constraint", ("row",), "m or 1", "residuals of closed loops, including redundant rows"),
        Quantity("joint_q", ("joint_coordinate",), "m, rad or 1", "coordinates of joints between floating bodies"),
        Quantity("joint_v", ("joint_rate",), "m/s or rad/s", "their rates (angular velocity for balls)"),
        Quantity("strut_length", ("strut",), "m", "length of each strut"),
        Quantity("strut_rate", ("strut",), "m/s", "rate at which each strut lengthens"),
        Quantity("strut_force", ("strut",), "N", "force with which each strut pushes its ends apart"),
        Quantity("motor_speed", ("motor",), "rad/s", "speed of each motor's rotor, before its gear"),
        Quantity("motor_torque", ("motor",), "N m", "torque of each motor on its rotor, before its gear"),
        Quantity("sensor", ("channel",), "1", "readings of sensors, without noise, each in its own unit"),
        Quantity("states", ("state",), "1", "states of the user's own and values held by controllers, each in its own unit"),
        Quantity("joint_friction", ("friction_rate",), "N m or N", "effort of the friction inside joints and closures"),
        Quantity("joint_slip", ("friction_rate",), "m/s", "slip of their surfaces: the rate, times the radius for a turning joint"),
        Quantity("joint_load", ("friction_joint",), "N", "normal load: the reaction across the motion, plus the preload"),
        Quantity("joint_sticks", ("friction_joint",), "1", "1 while a joint with stiction sticks, 0 while it slips"),
        Quantity("effort", ("drive",), "N m or N", "efforts of drives, of motors after their gears, and of prescribed motions"),
    )
}

HELD = ("kinetic", "gravity", "strain", "spring", "contact")  # energies
IN_LEDGER = ("work", *HELD)
STATES = ("q", "v", "work", "states")  # held in the integrated state; the rest is computed from it
OBSERVED = tuple(name for name in QUANTITIES if name not in STATES)

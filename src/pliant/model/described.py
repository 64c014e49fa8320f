"""A System in words: what printing it shows."""

from __future__ import annotations

from pliant.model.closure import Closure, GearClosure
from pliant.model.force import PointForce, PointMoment
from pliant.model.frame import GROUND, Frame
from pliant.model.modal import ModalBody
from pliant.model.motor import MotorDrive
from pliant.model.strut import Strut
from pliant.model.system import Link, System
from pliant.results.shown_units import ShownUnits, shown_number, shown_unit

DEEPEST_INDENT = 150  # characters of indentation in a printed tree; deeper bodies are not indented further


def described(system: System) -> str:
    """The parts of a System, one per line."""
    bodies, freedom = len(system.links), system.degrees_of_freedom
    counted = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {freedom} {'degree' if freedom == 1 else 'degrees'} of freedom"
    head = f"{system.name}: {counted}, {system.mass:.6g} kg"
    if system.closures:
        head += f", {len(system.closures)} closures not counted"
    lines = [head, f"gravity {tuple(system.gravity)} m/s^2", GROUND]
    lines += _tree(system)
    lines += [f"stiffening auto: {system.automatic_stiffening}"] if system.automatic_stiffening else []
    lines += [f"drive {d.name}: {d.coordinate}" for d in system.drives.values()]
    lines += [f"{_kind(load)} {load.name}: on {_where(system, load.at)}" for load in system.loads.values()]
    lines += [f"strut {s.name}: from {_where(system, s.a)} to {_where(system, s.b)}, {_strut_parts(s, system.shown_units)}"
              for s in system.struts.values()]  # fmt: skip
    lines += [f"motor {m.name}: on {m.coordinate}, {_motor_parts(m)}" for m in system.motors.values()]
    lines += [f"{c.name}: {type(c.normal).__name__}, {type(c.friction).__name__ if c.friction else 'no friction'}"
              for c in system.contacts.values()]  # fmt: skip
    lines += [f"{g.name}: {type(g.normal).__name__} among {len(g.balls)} spheres and {len(g.planes)} planes"
              for g in system.groups.values()]  # fmt: skip
    lines += [f"closure {c.name}: {c.kind} of {_held(system, c)}, by {c.by}" for c in system.closures.values()]
    lines += _ends_of_travel(system)
    lines += [
        f"coupling {c.name}: {c.joint.part} of {_where(system, c.a)} on {_where(system, c.b)}" for c in system.cut_joints.values()
    ]
    lines += [f"state {s.name}: starts at {s.start:g}" for s in system.own_states.values()]
    lines += [f"sampled {c.name}: {', '.join(c.outputs)} every {c.period:g} s{f', delayed by {c.delay:g} s' * (c.delay > 0.0)}"
              for c in system.controllers.values()]  # fmt: skip
    lines += [f"sensor {name}: {type(own).__name__}" for name, own in system.sensors.items()]
    lines += [f"event {c.name}: {c.direction}{', stops the run' * c.stop}" for c in system.conditions.values()]
    return "\n".join(lines)


def _tree(system: System) -> list[str]:
    """One line per body, indented under its carrier. Not recursive: a chain may be longer than Python's stack is deep."""
    children: dict[str, list[Link]] = {}
    for link in system.links.values():
        children.setdefault(link.on.body, []).append(link)
    lines: list[str] = []
    waiting = [(link, "") for link in reversed(children.get(GROUND, []))]
    while waiting:
        link, indent = waiting.pop()
        last = link is children[link.on.body][-1]
        rates = ", ".join(link.rates) or "no coordinates"
        kind = f"{type(link.body).__name__} {link.body.mass:.6g} kg"
        lines.append(f"{indent}{'└─' if last else '├─'} {link.name}: {link.joint.part} {kind} ({rates})")
        below = indent + ("   " if last else "│  ") if len(indent) < DEEPEST_INDENT else indent
        waiting += [(child, below) for child in reversed(children.get(link.name, []))]
    return lines


def _held(system: System, made: Closure) -> str:
    return " and ".join(made.coordinates or [_where(system, frame) for frame in made.frames or ()])


def _where(system: System, frame: Frame) -> str:
    if frame.station is None:
        return frame.body
    body = system.links[frame.body].body
    station = body.named_station(frame.station) if isinstance(body, ModalBody) else f"{frame.station:g} m"
    return f"{frame.body} at {station}"


def _ends_of_travel(system: System) -> list[str]:
    """Lines that describe the stops and backlash of joints, and the backlash of gears."""
    lines = []
    for link in system.links.values():
        for motion in link.joint.motions:
            label = f"{link.name}.{motion.name}"
            size, unit = shown_unit(motion.unit, system.shown_units)
            stop, play = link.joint.limited.get(motion.name), link.joint.plays.get(motion.name)
            if stop is not None:
                law = "spring" if stop.law is None else type(stop.law).__name__
                lines.append(f"stops of {label}: {stop.low / size:g} to {stop.high / size:g} {unit}, {law}")
            if play is not None:
                lines.append(
                    f"backlash of {label}: {play.gap / size:g} {unit} about {play.centre / size:g}, {type(play.law).__name__}"
                )
    gears = [(c.name, c.backlash) for c in system.closures.values() if isinstance(c, GearClosure)]
    return lines + [f"backlash of {name}: {play.gap:g}, {type(play.law).__name__}" for name, play in gears if play is not None]


def _motor_parts(drive: MotorDrive) -> str:
    motor = drive.motor
    kind = "electrical" if motor.is_electrical else "torque-speed line" if motor.has_line else "torque"
    rotor = f"rotor {motor.inertia:g} kg m^2 at {motor.ratio:g}:1"
    gear = f", elastic gear {motor.gear_stiffness:g} at the coordinate" if motor.is_elastic else ""
    states = "".join(f", {name} a state" for name in drive.states)
    return f"{rotor}{gear}, {kind if drive.command is not None else 'not driven'}{states}"


def _strut_parts(strut: Strut, shown: ShownUnits) -> str:
    spring = [] if strut.rest is None else [f"spring {strut.stiffness:g} N/m of {shown_number(strut.rest, 'm', shown, 6)}"]
    damper = [f"damper {strut.damping:g} N s/m"] if strut.damping else []
    return ", ".join([*spring, *damper, *(["actuator"] if strut.force is not None else [])])


def _kind(load: PointForce | PointMoment) -> str:
    return "force" if isinstance(load, PointForce) else "moment"

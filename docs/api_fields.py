"""What docs/make_api.py writes of every field of a public class: its type, unit, default and meaning.

Units come from the table that model files use (pliant.files.quantities). Meanings are given here, by class and field or by field
alone; if neither has an entry, the comment of the field in the source is used. A field without any of these stops make_api.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from pliant.files.vocabulary import field_choices, field_unit

BY_NAME = {
    "rtol": "relative tolerance of a step",
    "atol": "absolute tolerance of a step, one number or one per state",
    "max_step": "longest step allowed",
    "first_step": "length of the first step; estimated by default",
    "step": "length of every step",
    "newton": "tolerance of the Newton iterations; follows from `rtol` by default",
    "coarse": "relative tolerance far from contact; default: 1e-4, or `rtol` if that is larger",
    "near": "distance to a contact below which `rtol` applies",
    "mu": "coefficient of friction",
    "mu_static": "coefficient of static friction",
    "mu_kinetic": "coefficient of kinetic friction",
    "v_stribeck": "Stribeck speed",
    "transition": "speed over which the force changes its sign",
    "viscous": "viscous coefficient",
    "v_static": "slip speed at which friction is largest",
    "v_kinetic": "slip speed from which friction is kinetic",
    "v_r": "slip speed from which friction is constant",
    "band": "slip speed below which the contact can stick",
    "xi": "rate at which friction falls with slip speed",
    "tau_dwell": "time constant of the strengthening at rest",
    "v_smooth": "speed of smoothing; default: a hundredth of `v_stribeck`",
    "sigma0": "bristle stiffness",
    "sigma1": "bristle damping",
    "sigma2": "viscous coefficient",
    "switches": "slip speeds at which the function has corners",
    "pulls": "whether the force may pull while the contact is closed",
    "entry_floor": "entry speeds below this value are treated as this value",
    "stiffness": "stiffness K of the contact",
    "exponent": "exponent of the depth",
    "restitution": "coefficient of restitution that is asked for, in (0, 1]",
    "chi": "damping factor of the depth's rate",
    "damping": "damping coefficient",
    "function": "the function; see the page on formulas",
    "breakpoints": "times at which the function or a derivative jumps",
    "text": "the formula as written in a model file",
    "energy": "energy stored at a depth, as a function of the depth",
    "spring": "a `Spring`, or a mapping from coordinate to `Spring`",
    "damper": "a `Damper`, or a mapping from coordinate to `Damper`",
    "limits": "`Limits`, or a mapping from coordinate to `Limits`",
    "motion": "prescribed motion: a function of t, `Prescribed` or `MotionTable`, or a mapping from coordinate to these",
    "axis": "axis of the motion, in the frame that carries the joint",
    "angle": "angle at the start",
    "rate": "rate at the start",
    "rates": "rates at the start",
    "angles": "angles at the start",
    "displacement": "displacement at the start",
    "position": "position at the start",
    "velocity": "velocity at the start",
    "orientation": "orientation at the start, a quaternion (w, x, y, z)",
    "angular_velocity": "angular velocity at the start, body axes",
    "axes": "first and second axis of rotation",
    "low": "lower bound",
    "high": "upper bound",
    "name": "name",
    "times": "times",
    "values": "values at these times",
    "length": "length",
    "section": "cross-section",
    "material": "material",
    "payload": "rigid body welded to the tip",
    "modes": "one set of modes or a list of sets",
    "count": "number of modes",
    "ends": "end conditions, root first",
    "plane": "direction of the deflection",
    "static": "append static-correction shapes for loads at the ends",
    "Modes.static": "append static-correction shapes for loads at the ends; None: if ends are cf and the tip carries a body",
    "normalise": "how shapes are scaled",
    "elements": "number of equal elements",
    "reduction": "`CraigBampton` or `FreeModes`; default: the full mesh",
    "reference": "how the body's frame follows the mesh",
    "nodes": "nodes that the frame follows, for reference `nodal`",
    "shapes": "`ShapeFunction`s or `ShapeTable`s",
    "mass": "mass",
    "inertia": "inertia about the mass centre: Izz, three diagonal entries, or a matrix",
    "com": "mass centre, from the joint",
    "tip": "the place that `handle.tip` means, from the joint",
    "frames": "further places by name, from the joint",
    "offset": "offset along the axes of the place",
    "mass_per_length": "mass per unit length; default: density times A",
    "torsion_inertia": "inertia about x per unit length; default: from the density",
    "radius": "radius",
    "at": "frame",
    "height": "extent along y",
    "width": "extent along z",
    "outer": "outer radius",
    "inner": "inner radius",
    "t": "time",
    "q": "coordinates",
    "v": "rates",
    "parameters": "parameter values by name, SI",
    "labels": "names along each dimension",
    "message": "how it ended, in a sentence",
    "warnings": "what to know before relying on the numbers",
    "runs": "number of runs",
    "units": "unit of each parameter",
    "result": "the run at these values",
    "system": "the System",
    "states": "names of the states",
    "inputs": "names of the inputs",
    "outputs": "names of the outputs",
    "quantities": "names of quantities",
    "data": "measured series: a file, a table or a mapping of arrays",
    "seed": "seed of the random numbers",
    "method": "method of sampling",
    "cases": "values by name, one mapping per case",
    "mechanism": "what an animation of a mode needs",
    "law": "the law of the force",
    "backlash": "play of the joint, or a mapping from coordinate to play",
    "controllers": "sampled controllers by name",
    "motors": "motors by name",
    "struts": "springs and dampers between two frames, by name",
    "time": "the symbol of time",
    "u": "inputs: drives and varying components of loads",
    "p": "parameters",
    "rows": "names of the constraint rows",
    "position_rate": "derivatives of the coordinates, as functions of q and v",
    "mass_matrix": "mass matrix M",
    "bias": "bias h: velocity terms, gravity, springs and constant loads",
    "input_matrix": "input matrix B",
    "constraint": "residuals of the closures",
    "constraint_jacobian": "their Jacobian A",
    "constraint_bias": "their acceleration gamma at zero accelerations",
    "notes": "parts of the System that the equations leave out",
}

OF_SENSORS = {
    "gain": "reading per unit of what is measured",
    "offset": "what is added, in the unit of the reading",
    "low_pass": "cut-off of the low-pass filter; None: no filter",
    "order": "order of the filter, 1 or 2",
    "damping": "damping ratio of a filter of second order; default: Butterworth",
    "delay": "delay, approximated to the order `pade`",
    "pade": "order of the approximation of the delay",
    "noise": "standard deviation of the noise, in the unit of the reading",
    "seed": "seed of the noise that controllers measure",
    "axes": "axes along which it reads; default: those of the plane, or all in space",
}
BY_CLASS = {
    **{
        f"{kind}.{name}": meaning
        for kind in ("StrainGauge", "Encoder", "Accelerometer", "Gyro", "ForceSensor")
        for name, meaning in OF_SENSORS.items()
    },
    "StrainGauge.side": "side of the section: top (+y), bottom, right (+z) or left",
    "StrainGauge.at": "place on the axis of a beam",
    "Encoder.of": "a joint coordinate such as `arm.angle`, or a motor",
    "Encoder.counts": "steps per revolution, or per m of what slides; None: not counted",
    "Encoder.slides": "whether it measures in m; set by the System",
    "ForceSensor.of": "a body, for the joint that carries it, or a contact pair",
    "ForceSensor.expressed": "axes of the components of a joint, world or body",
    "ForceSensor.touching": "whether it is the force of a contact; set by the System",
    "System.sensors": "sensors by name",
    "NaturalModes.eigenvalues": "eigenvalues with an imaginary part >= 0, 1/s",
    "NaturalModes.shapes": "mode shapes, one column per mode",
    "NaturalModes.coordinates": "names of all coordinates, including dependent and prescribed ones",
    "FrequencyResponse.frequencies": "frequencies, rad/s",
    "FrequencyResponse.values": "complex amplitudes by frequency, output and input",
    "Equations.values": "values of the parameters",
    "Symbolic.values": "values of the parameters",
    "AirDrag.coefficient": "drag gamma per unit length",
    "MotionDrag.coefficient": "drag c per unit length",
    "KelvinVoigt.coefficient": "viscosity Kv",
    "Damper.coefficient": "damping c",
    "Ambrosio.v0": "slip speed up to which there is no friction",
    "Ambrosio.v1": "slip speed from which friction is full",
    "BengisuAkay.v0": "slip speed at which friction is largest",
    "Beam.theory": "beam theory",
    "Beam.tip_section": "section at the tip of a tapered beam; without it, the beam is uniform",
    "Beam.damping": "one kind of damping or a list",
    "Beam.stiffening": "how bending shortens the beam",
    "Beam.rotary_inertia": "rotary inertia per unit length: J about y and z, or (Jx, Jy, Jz)",
    "Campbell.over": "the coordinate or parameter that is varied",
    "Campbell.values": "its values",
    "Campbell.is_speed": "whether `over` is the rate of a coordinate",
    "Campbell.eigenvalues": "eigenvalues, one row per value",
    "Campbell.stable": "for each value: whether no mode grows",
    "Campbell.unit": "unit of the values; empty if the parameter has none",
    "Campbell.pose": "where the mechanism is at each value of a parameter, and which joints are held",
    "Bore.length": "of a bore that holds a longer pin by its rims",
    "Pin.length": "of a pin that a longer bore holds by its ends",
    "ClearanceJoint.normal": "law of contact",
    "ClearanceJoint.friction": "friction law, or None",
    "ClearancePrismatic.normal": "law of contact",
    "ClearancePrismatic.friction": "friction law, or None",
    "ClearancePrismatic.wear": "law of wear, or None",
    "ClearanceRevolute.normal": "law of contact",
    "ClearanceRevolute.friction": "friction law, or None",
    "ClearanceRevolute.wear": "law of wear, or None",
    "ClearanceSpherical.normal": "law of contact",
    "ClearanceSpherical.friction": "friction law, or None",
    "ClearanceSpherical.wear": "law of wear, or None",
    "Capsule.length": "distance between the centres of the round ends",
    "Compiled.traced": "names and positions of all states and parameters",
    "Compiled.structure": "machine code, shared by systems of equal structure",
    "Compiled.seconds": "time of each stage of the compilation, s",
    "Constant.value": "the value",
    "Constraint.of": "function of a run whose numbers carry derivatives",
    "CraigBampton.modes": "number of natural shapes with the interface held",
    "CraigBampton.interface": "nodes whose coordinates remain, the root being 0; default: both ends",
    "FreeModes.modes": "number of free shapes",
    "Denoc.twist_rows": "names of the rows of twists",
    "Denoc.closure_rows": "names of the rows of closures",
    "Denoc.damping": "damping by row, nan for multipliers",
    "Denoc.stiffness": "stiffness by row, nan for multipliers",
    "Denoc.coordinates": "names of v",
    "Denoc.I": "generalized inertia",
    "Equilibrium.values": "every quantity of the table at rest",
    "Equilibrium.operating": "the state, to linearise at",
    "ExtremesOf.save": "times of the rows that are compared, or an interval; default: 1001 rows",
    "ValuesAt.times": "times, or an interval in s",
    "FibreOutline.points": "(y, z) of the outermost fibres",
    "FibreOutline.torsion_modulus": "torque divided by the largest shear stress",
    "FibreOutline.shear_area": "shear force divided by the largest shear stress",
    "Fit.names": "names of the parameters",
    "Fit.values": "fitted values, SI",
    "Fit.correlation": "correlation of the values",
    "Fit.at_bounds": "parameters that ended at a bound",
    "Fit.experiments": "data, run and difference of each experiment",
    "Frame.body": "name of the body, or `ground`",
    "Frame.station": "distance along a beam; None: the body's root frame",
    "Frame.turns": "rotations, applied after `offset`",
    "GivenModes.mass": "matrix of the integrals of mu W_j W_k, if known otherwise",
    "Grid.axes": "values by name",
    "Ledger.time": "saved times",
    "Ledger.held": "stored energies by kind, J",
    "Ledger.work": "work by source, J",
    "Ledger.extremes": "what the run noted between saved rows",
    "Limits.low": "lower stop",
    "Limits.high": "upper stop",
    "Limits.stiffness": "stiffness beyond a stop",
    "Limits.damping": "damping beyond a stop",
    "Impulsive.restitution": "ratio of speeds or of impulses, in [0, 1]",
    "Impulsive.kind": "whether `restitution` compares speeds or impulses",
    "Impulsive.entry_floor": "speed of approach below which there is no rebound",
    "Linear.damping": "damping D; or give `restitution` and `mass`",
    "Linear.mass": "reduced mass of the two bodies; against the ground, the body's mass",
    "Linearisation.M": "mass matrix",
    "Linearisation.damping": "damping and gyroscopic matrix",
    "Linearisation.K": "stiffness matrix",
    "Linearisation.A": "state matrix",
    "Linearisation.B": "input matrix",
    "Linearisation.C": "output matrix",
    "Linearisation.D": "feedthrough matrix",
    "Linearisation.mechanism": "what an animation of a mode needs",
    "Linearisation.coordinates": "independent coordinates",
    "Material.E": "Young's modulus",
    "Material.G": "shear modulus; give this or `nu`",
    "Material.nu": "Poisson's ratio",
    "Material.density": "density",
    "ModalDamping.ratios": "damping ratio of each mode, or one for all",
    "Modes.payload": "use the shapes of the beam with its payload",
    "MotionTable.values": "values of the coordinate at these times",
    "Optimum.values": "parameter values, SI",
    "Optimum.objective": "value of the objective",
    "Payload.offset": "mass centre, in the axes of the tip",
    "Plane.normal": "outward normal, in the axes of `on`",
    "Plane.point": "a point of the plane, in the axes of `on`",
    "Plane.on": "frame that carries the plane",
    "Rayleigh.alpha": "factor of the modal mass",
    "Rayleigh.beta": "factor of the modal stiffness",
    "RayleighRatios.ratios": "damping ratios at the lower and the upper frequency",
    "RayleighRatios.frequencies": "the two frequencies; default: by `rule`",
    "RayleighRatios.rule": "how the two frequencies follow from the body's own",
    "Result.time": "saved times, s",
    "Result.values": "quantities as plain arrays",
    "Result.events": "records of events",
    "Result.contacts": "records of contacts",
    "Result.ok": "whether the run did what was asked",
    "Result.interrupted": "whether Ctrl-C ended it",
    "Result.stats": "counts and seconds",
    "Result.drawing": "what plots and pages draw",
    "Result.final_state": "the state in which the run ended",
    "Result.make_provenance": "computes the provenance when it is asked for",
    "Result.extremes": "what the ledger knows beyond the saved rows",
    "Sample.distributions": "a distribution by parameter, as (name, numbers ...)",
    "Sample.count": "number of points",
    "Section.A": "area",
    "Section.Iz": "second moment that resists bending in plane y",
    "Section.Iy": "second moment that resists bending in plane z",
    "Section.J": "torsion constant",
    "Section.shear_factor": "Timoshenko's shear coefficient k",
    "Section.outline": "shape, for stresses",
    "ShapeFunction.w": "deflection W(x)",
    "ShapeFunction.dw": "W'(x)",
    "ShapeFunction.ddw": "W''(x)",
    "ShapeFunction.theta": "rotation of the section, for Timoshenko beams",
    "ShapeFunction.dtheta": "its derivative",
    "ShapeFunction.breaks": "points where a derivative jumps",
    "ShapeTable.x": "stations from 0 to the length",
    "ShapeTable.w": "deflection at the stations",
    "ShapeTable.theta": "rotation of the section, for Timoshenko beams",
    "Spring.stiffness": "stiffness k",
    "Spring.rest": "coordinate at which the spring is relaxed",
    "System.gravity": "acceleration of gravity",
    "System.closure_tolerance": "largest misfit of redundant closures, relative to the mechanism's size",
    "System.links": "bodies with their joints, by name",
    "System.drives": "drives by name",
    "System.loads": "forces and moments by name",
    "System.contacts": "contact pairs by name",
    "System.closures": "closures by name",
    "System.conditions": "events by name",
    "System.cut_joints": "joints between floating bodies, of `absolute_coordinates`",
    "System.segmented": "segmented beams by name",
    "System.held": "coordinates that keep their start while loops are closed",
    "TelescopicBeam.length": "length L of sleeve and arm",
    "TelescopicBeam.extension": "free length at the start",
    "TelescopicBeam.rate": "its rate at the start",
    "TelescopicBeam.form": "which terms the equations contain",
    "TelescopicBeam.tip_rotation": "how the tip's rotation is formed",
    "TelescopicBeam.on_sleeve_end": "what happens at the end of the sleeve",
    "TelescopicBeam.end_stiffness": "stiffness of the end spring",
    "TelescopicBeam.sleeve_mass": "mass of the sleeve",
    "TelescopicBeam.friction": "friction law between sleeve and arm, or a `JointFriction` pressed by the reaction",
    "TelescopicBeam.preload": "constant normal force of a friction law",
    "TelescopicBeam.damping": "one kind of damping or a list",
    "TelescopicBeam.motion": "the free length as a function of time",
    "VariablePrecisionRK4.rtol": "relative tolerance near contact",
    "WangYanFangJin.damping": "damping c",
}

COMMENT = re.compile(r"    (\w+): .*?\s\s# (.*)$")


def table(kind: type) -> list[str]:
    """The fields of a dataclass as lines of a table; empty where it has none."""
    fields = (
        [field for field in dataclasses.fields(kind) if not field.name.startswith("_")] if dataclasses.is_dataclass(kind) else []
    )
    if not fields:
        return []
    rows = [
        f"| `{field.name}` | {_type(field)} | {_unit(kind, field)} | {_default(field)} | {_meaning(kind, field.name)} |"
        for field in fields
    ]
    return ["| field | type | unit | default | meaning |", "| --- | --- | --- | --- | --- |", *rows]


def _type(field: Any) -> str:
    text = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    text = re.sub(r"NDArray\[np\.float64\]|\bFloats\b|\bSeries\b", "array", text).replace("Callable[..., Any]", "function")
    return "`" + text.replace("Callable[..., object]", "function") + "`"


def _unit(kind: type, field: Any) -> str:
    number = re.search(r"float|int|Sequence|Numbers|Mapping|tuple|Any|Vector", str(field.type))
    unit = field_unit(kind, field.name) if number and kind.__module__.startswith(("pliant.model", "pliant.integrate")) else None
    return "-" if unit in (None, "1") else str(unit)


def _default(field: Any) -> str:
    if not field.init:
        return "-"
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`" if not dataclasses.is_dataclass(field.default) else "the ground"
    return "empty" if field.default_factory is not dataclasses.MISSING else "required"


def _meaning(kind: type, name: str) -> str:
    words = BY_CLASS.get(f"{kind.__name__}.{name}") or BY_NAME.get(name) or _comment(kind, name)
    if words is None:
        raise SystemExit(f"docs/api_fields.py has no words for {kind.__name__}.{name}, and its source has no comment")
    choices = field_choices(kind, name)
    return words.replace("|", r"\|") + (": " + ", ".join(f"`{word}`" for word in choices) if choices else "")


def _comment(kind: type, name: str) -> str | None:
    for owner in kind.__mro__:
        if name in vars(owner).get("__annotations__", {}):
            found = (COMMENT.match(line) for line in inspect.getsource(owner).splitlines())
            return next((match[2].split("  # noqa")[0] for match in found if match and match[1] == name), None)
    return None

"""The public names of pliant and where they are defined, for type checkers, editors and `__init__.py`, which imports each of them
when it is first used."""

from pliant.analysis.campbell import Campbell, campbell
from pliant.analysis.denoc import Denoc, denoc
from pliant.analysis.equilibrium import Equilibrium, equilibrium
from pliant.analysis.frame_jacobian import FrameJacobian, jacobian
from pliant.analysis.linear_model import Linearisation
from pliant.analysis.linearise import linearise
from pliant.analysis.operation_counts import count_operations
from pliant.analysis.plausibility import implausible
from pliant.analysis.report import Largest, Report, report
from pliant.analysis.section_forces import section_forces
from pliant.analysis.solid_stresses import solid_stresses
from pliant.analysis.stresses import stresses
from pliant.analysis.undetermined import undetermined_forces
from pliant.beams.gibbs_appell import GibbsAppellIntegrals, gibbs_appell_integrals
from pliant.ensemble.ensemble import ensemble
from pliant.ensemble.keep import ExtremesOf, ValuesAt
from pliant.equations import equations
from pliant.errors import ModelError, PliantError, SolveError, StepError, UnknownNameError
from pliant.exchange.calculix import read_calculix
from pliant.exchange.elastic_link import elastic_link
from pliant.exchange.fmu import write_fmu
from pliant.exchange.mjcf import read_mjcf
from pliant.exchange.nastran import read_nastran
from pliant.exchange.skfem_elements import skfem_elements
from pliant.exchange.target import write_c
from pliant.exchange.urdf import read_urdf
from pliant.fem.body import modal_body
from pliant.fem.elements import FiniteElements
from pliant.files import dump_model, load_model, loads_model
from pliant.integrate.methods.method import (
    DOP853,
    ODE23,
    ODE45,
    RK4,
    RKF45,
    Auto,
    DormandPrince,
    Radau5,
    Radau9,
    RealTime,
    Rodas5P,
    Tsit5,
    TwoLoop,
    VariablePrecisionRK4,
)  # fmt: skip
from pliant.live.page import page
from pliant.model.along import Along, Edge
from pliant.model.beam import Beam
from pliant.model.clearance import ClearancePrismatic, ClearanceRevolute, ClearanceSpherical
from pliant.model.contact import Bore, Capsule, Pin, Plane, Point, Socket, Sphere
from pliant.model.damping import AirDrag, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh, RayleighRatios
from pliant.model.frame import Frame
from pliant.model.friction_law import (
    Ambrosio,
    BengisuAkay,
    Coulomb,
    CoulombStiction,
    CoulombViscous,
    CustomFriction,
    Dahl,
    DryFriction,
    GonthierFriction,
    Karnopp,
    LuGre,
    Stribeck,
    Threlfall,
)
from pliant.model.hertz import hertz_stiffness
from pliant.model.input_series import InputSeries
from pliant.model.joint import (
    Cylindrical,
    Damper,
    Free,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Spring,
    Universal,
    Weld,
)
from pliant.model.joint_friction import JointFriction
from pliant.model.journal_law import (
    DubowskyJournal,
    EsduJournal,
    JohnsonJournal,
    LiuJournal,
    PereiraJournal,
    RadzimovskyJournal,
    contact_modulus,
)
from pliant.model.material import ALUMINIUM, STEEL, Material
from pliant.model.modal import ModalBody
from pliant.model.modes import (
    AxialElements,
    AxialModes,
    ElementModes,
    GivenModes,
    Modes,
    ShapeFunction,
    ShapeTable,
    TorsionElements,
    TorsionModes,
)
from pliant.model.motor import Motor
from pliant.model.normal_law import (
    CarvalhoMartins,
    CustomNormal,
    Exact,
    FixedHuntCrossley,
    Flores,
    GharibHurmuzlu,
    Gonthier,
    HerbertMcWhannell,
    Hertz,
    HuGuo,
    HuntCrossley,
    Impulsive,
    LankaraniNikravesh,
    LeeWang,
    Linear,
    PowerDamping,
    SafaeifarFarshidianfar,
    WangYanFangJin,
    ZhiyingQishao,
)
from pliant.model.outline import FibreOutline, RectangleOutline, RingOutline
from pliant.model.parameter import Parameter
from pliant.model.play import Backlash, Limits
from pliant.model.reduction import CraigBampton, FreeModes
from pliant.model.rigid import Payload, RigidBody
from pliant.model.section import Section
from pliant.model.segmented import segmented
from pliant.model.sensor import Accelerometer, Encoder, ForceSensor, Gyro, StrainGauge
from pliant.model.signal import Constant, Formula, MotionTable, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth, Prescribed
from pliant.model.solids import Box, Cylinder, Hull, read_stl
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.model.wear import Archard
from pliant.results.ledger import Ledger
from pliant.results.result import Result
from pliant.run.inverse import inverse_dynamics
from pliant.run.noisy import noisy
from pliant.run.prepare import Compiled, absolute_coordinates, clear_compiled, compile_system
from pliant.run.save_times import every
from pliant.run.simulate import simulate
from pliant.run.stepping import SteppedRun, start
from pliant.scalar import (
    absolute,
    acos,
    asin,
    atan,
    atan2,
    clip,
    cos,
    cosh,
    deg,
    exp,
    floor,
    hypot,
    log,
    maximum,
    minimum,
    pi,
    quantise,
    saturate,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from pliant.show import animation, player, plot
from pliant.study.derivatives.run_derivatives import Sensitivities
from pliant.study.derivatives.sensitivities import sensitivities
from pliant.study.fit.design import design
from pliant.study.fit.experiment import Experiment
from pliant.study.fit.fit import fit
from pliant.study.fit.fitted import Fit
from pliant.study.fit.optimise import Constraint, Optimum, optimise
from pliant.study.fit.unknown import Unknown
from pliant.study.sweep.over import Cases, Grid, Sample
from pliant.study.sweep.sweep import open_sweep, sweep

__version__: str

__all__ = [
    "ALUMINIUM",
    "DOP853",
    "ODE23",
    "ODE45",
    "RK4",
    "RKF45",
    "STEEL",
    "Accelerometer",
    "AirDrag",
    "Along",
    "Ambrosio",
    "Archard",
    "Auto",
    "AxialElements",
    "AxialModes",
    "Backlash",
    "Beam",
    "BengisuAkay",
    "Bore",
    "Box",
    "Campbell",
    "Capsule",
    "CarvalhoMartins",
    "Cases",
    "ClearancePrismatic",
    "ClearanceRevolute",
    "ClearanceSpherical",
    "Compiled",
    "Constant",
    "Constraint",
    "Coulomb",
    "CoulombStiction",
    "CoulombViscous",
    "CraigBampton",
    "CustomFriction",
    "CustomNormal",
    "Cylinder",
    "Cylindrical",
    "Dahl",
    "Damper",
    "Denoc",
    "DormandPrince",
    "DryFriction",
    "DubowskyJournal",
    "Edge",
    "ElementModes",
    "Encoder",
    "Equilibrium",
    "EsduJournal",
    "Exact",
    "Experiment",
    "ExtremesOf",
    "FibreOutline",
    "FiniteElements",
    "Fit",
    "FixedHuntCrossley",
    "Flores",
    "ForceSensor",
    "Formula",
    "Frame",
    "FrameJacobian",
    "Free",
    "FreeModes",
    "GharibHurmuzlu",
    "GibbsAppellIntegrals",
    "GivenModes",
    "Gonthier",
    "GonthierFriction",
    "Grid",
    "Gyro",
    "HerbertMcWhannell",
    "Hertz",
    "HuGuo",
    "Hull",
    "HuntCrossley",
    "Impulsive",
    "InputSeries",
    "JohnsonJournal",
    "JointFriction",
    "Karnopp",
    "KelvinVoigt",
    "LankaraniNikravesh",
    "Largest",
    "Ledger",
    "LeeWang",
    "Limits",
    "Linear",
    "Linearisation",
    "LiuJournal",
    "LuGre",
    "Material",
    "ModalBody",
    "ModalDamping",
    "ModelError",
    "Modes",
    "MotionDrag",
    "MotionTable",
    "Motor",
    "Optimum",
    "Parameter",
    "Payload",
    "PereiraJournal",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "PiecewiseSmooth",
    "Pin",
    "Planar",
    "Plane",
    "PliantError",
    "Point",
    "PowerDamping",
    "Prescribed",
    "Prismatic",
    "Radau5",
    "Radau9",
    "RadzimovskyJournal",
    "Rayleigh",
    "RayleighRatios",
    "RealTime",
    "RectangleOutline",
    "Report",
    "Result",
    "Revolute",
    "RigidBody",
    "RingOutline",
    "Rodas5P",
    "SafaeifarFarshidianfar",
    "Sample",
    "Section",
    "Sensitivities",
    "ShapeFunction",
    "ShapeTable",
    "Socket",
    "SolveError",
    "Sphere",
    "Spherical",
    "Spring",
    "StepError",
    "SteppedRun",
    "StrainGauge",
    "Stribeck",
    "System",
    "TelescopicBeam",
    "Threlfall",
    "TorsionElements",
    "TorsionModes",
    "Tsit5",
    "TwoLoop",
    "Universal",
    "Unknown",
    "UnknownNameError",
    "ValuesAt",
    "VariablePrecisionRK4",
    "WangYanFangJin",
    "Weld",
    "ZhiyingQishao",
    "absolute",
    "absolute_coordinates",
    "acos",
    "animation",
    "asin",
    "atan",
    "atan2",
    "campbell",
    "clear_compiled",
    "clip",
    "compile_system",
    "contact_modulus",
    "cos",
    "cosh",
    "count_operations",
    "deg",
    "denoc",
    "design",
    "dump_model",
    "elastic_link",
    "ensemble",
    "equations",
    "equilibrium",
    "every",
    "exp",
    "fit",
    "floor",
    "gibbs_appell_integrals",
    "hertz_stiffness",
    "hypot",
    "implausible",
    "inverse_dynamics",
    "jacobian",
    "linearise",
    "load_model",
    "loads_model",
    "log",
    "maximum",
    "minimum",
    "modal_body",
    "noisy",
    "open_sweep",
    "optimise",
    "page",
    "pi",
    "player",
    "plot",
    "quantise",
    "read_calculix",
    "read_mjcf",
    "read_nastran",
    "read_stl",
    "read_urdf",
    "report",
    "saturate",
    "section_forces",
    "segmented",
    "sensitivities",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "skfem_elements",
    "solid_stresses",
    "sqrt",
    "start",
    "stresses",
    "sweep",
    "tan",
    "tanh",
    "undetermined_forces",
    "where",
    "write_c",
    "write_fmu",
]  # fmt: skip

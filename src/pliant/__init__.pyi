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
from pliant.analysis.stresses import stresses
from pliant.beams.gibbs_appell import GibbsAppellIntegrals, gibbs_appell_integrals
from pliant.ensemble.ensemble import ensemble
from pliant.ensemble.keep import ExtremesOf, ValuesAt
from pliant.equations import equations
from pliant.errors import ModelError, PliantError, SolveError, StepError, UnknownNameError
from pliant.exchange.fmu import write_fmu
from pliant.exchange.target import write_c
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
from pliant.model.beam import Beam
from pliant.model.contact import Capsule, Plane, Point, Sphere
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
from pliant.model.material import ALUMINIUM, STEEL, Material
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
from pliant.model.signal import Constant, Formula, MotionTable, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth, Prescribed
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.results.ledger import Ledger
from pliant.results.result import Result
from pliant.run.inverse import inverse_dynamics
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
from pliant.study.fit.fit import Experiment, fit
from pliant.study.fit.fitted import Fit
from pliant.study.fit.optimise import Constraint, Optimum, optimise
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
    "AirDrag",
    "Ambrosio",
    "Auto",
    "AxialElements",
    "AxialModes",
    "Backlash",
    "Beam",
    "BengisuAkay",
    "Campbell",
    "Capsule",
    "CarvalhoMartins",
    "Cases",
    "Compiled",
    "Constant",
    "Constraint",
    "Coulomb",
    "CoulombStiction",
    "CoulombViscous",
    "CraigBampton",
    "CustomFriction",
    "CustomNormal",
    "Cylindrical",
    "Dahl",
    "Damper",
    "Denoc",
    "DormandPrince",
    "DryFriction",
    "ElementModes",
    "Equilibrium",
    "Exact",
    "Experiment",
    "ExtremesOf",
    "FibreOutline",
    "Fit",
    "FixedHuntCrossley",
    "Flores",
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
    "HerbertMcWhannell",
    "Hertz",
    "HuGuo",
    "HuntCrossley",
    "Impulsive",
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
    "LuGre",
    "Material",
    "ModalDamping",
    "ModelError",
    "Modes",
    "MotionDrag",
    "MotionTable",
    "Motor",
    "Optimum",
    "Parameter",
    "Payload",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "PiecewiseSmooth",
    "Planar",
    "Plane",
    "PliantError",
    "Point",
    "PowerDamping",
    "Prescribed",
    "Prismatic",
    "Radau5",
    "Radau9",
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
    "SolveError",
    "Sphere",
    "Spherical",
    "Spring",
    "StepError",
    "SteppedRun",
    "Stribeck",
    "System",
    "TelescopicBeam",
    "Threlfall",
    "TorsionElements",
    "TorsionModes",
    "Tsit5",
    "TwoLoop",
    "Universal",
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
    "cos",
    "cosh",
    "count_operations",
    "deg",
    "denoc",
    "dump_model",
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
    "open_sweep",
    "optimise",
    "page",
    "pi",
    "player",
    "plot",
    "quantise",
    "report",
    "saturate",
    "section_forces",
    "segmented",
    "sensitivities",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "sqrt",
    "start",
    "stresses",
    "sweep",
    "tan",
    "tanh",
    "where",
    "write_c",
    "write_fmu",
]  # fmt: skip

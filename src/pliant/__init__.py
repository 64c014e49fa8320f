"""pliant: mechanisms whose links bend and whose parts hit things."""

from pliant.errors import ModelError, PliantError, SolveError
from pliant.files import dump_model, load_model, loads_model
from pliant.integrate.methods import DOP853, RK4, RKF45, DormandPrince
from pliant.model.beam import Beam
from pliant.model.contact import Capsule, Plane, Point, Sphere
from pliant.model.damping import AirDrag, KelvinVoigt, ModalDamping, Rayleigh, RayleighRatios
from pliant.model.frame import Frame
from pliant.model.friction_law import (
    Ambrosio,
    BengisuAkay,
    Coulomb,
    CoulombStiction,
    CoulombViscous,
    CustomFriction,
    Dahl,
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
    Limits,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Spring,
    Universal,
    Weld,
)
from pliant.model.material import ALUMINIUM, STEEL, Material
from pliant.model.modes import AxialModes, GivenModes, Modes, ShapeFunction, ShapeTable, TorsionModes
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
    LankaraniNikravesh,
    LeeWang,
    Linear,
    SafaeifarFarshidianfar,
    WangYanFangJin,
    ZhiyingQishao,
)
from pliant.model.rigid import Payload, RigidBody
from pliant.model.section import Section
from pliant.model.signal import Constant, Formula, PiecewiseConstant, PiecewiseLinear, Prescribed
from pliant.model.system import System
from pliant.results.ledger import Ledger
from pliant.results.result import Result
from pliant.scalar import (
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    deg,
    exp,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from pliant.show import plot
from pliant.simulate import compile_system, every, simulate

__version__ = "0.1.0"

__all__ = [
    "ALUMINIUM", "DOP853", "RK4", "RKF45", "STEEL", "AirDrag", "Ambrosio", "AxialModes", "Beam", "BengisuAkay",
    "Capsule", "CarvalhoMartins", "Constant", "Coulomb", "CoulombStiction", "CoulombViscous", "CustomFriction",
    "CustomNormal", "Cylindrical", "Dahl", "Damper", "DormandPrince", "Exact", "FixedHuntCrossley", "Flores",
    "Formula", "Frame", "Free", "GharibHurmuzlu", "GivenModes", "Gonthier", "GonthierFriction", "HerbertMcWhannell",
    "Hertz", "HuGuo", "HuntCrossley", "Karnopp", "KelvinVoigt", "LankaraniNikravesh", "Ledger", "LeeWang", "Limits",
    "Linear", "LuGre", "Material", "ModalDamping", "ModelError", "Modes", "Payload", "PiecewiseConstant",
    "PiecewiseLinear", "Planar", "Plane", "PliantError", "Point", "Prescribed", "Prismatic", "Rayleigh",
    "RayleighRatios", "Result", "Revolute", "RigidBody", "SafaeifarFarshidianfar", "Section", "ShapeFunction",
    "ShapeTable", "SolveError", "Sphere", "Spherical", "Spring", "Stribeck", "System", "Threlfall", "TorsionModes",
    "Universal", "WangYanFangJin", "Weld", "ZhiyingQishao", "absolute", "acos", "asin", "atan", "atan2",
    "compile_system", "cos", "cosh", "deg", "dump_model", "every", "exp", "hertz_stiffness", "load_model",
    "loads_model", "log", "maximum", "minimum", "plot", "sign", "simulate", "sin", "sinh", "sqrt", "tan", "tanh",
    "where",
]  # fmt: skip

"""pliant: mechanisms whose links bend and whose parts hit things."""

from pliant.errors import ModelError, PliantError, SolveError
from pliant.files import dump_model, load_model, loads_model
from pliant.integrate.methods import DOP853, RK4, RKF45, DormandPrince
from pliant.model.beam import Beam
from pliant.model.damping import AirDrag, KelvinVoigt, ModalDamping, Rayleigh, RayleighRatios
from pliant.model.frame import Frame
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
    "ALUMINIUM", "DOP853", "RK4", "RKF45", "STEEL", "AirDrag", "AxialModes", "Beam", "Constant", "Cylindrical", "Damper",
    "DormandPrince", "Formula", "Frame", "Free", "GivenModes", "KelvinVoigt", "Ledger", "Limits", "Material",
    "ModalDamping", "ModelError", "Modes", "Payload", "PiecewiseConstant", "PiecewiseLinear", "Planar", "PliantError",
    "Prescribed", "Prismatic", "Rayleigh", "RayleighRatios", "Result", "Revolute", "RigidBody", "Section",
    "ShapeFunction", "ShapeTable", "SolveError", "Spherical", "Spring", "System", "TorsionModes", "Universal", "Weld",
    "absolute", "acos", "asin", "atan", "atan2", "compile_system", "cos", "cosh", "deg", "dump_model", "every", "exp",
    "load_model", "loads_model", "log", "maximum", "minimum", "plot", "sign", "simulate", "sin", "sinh", "sqrt", "tan",
    "tanh", "where",
]  # fmt: skip

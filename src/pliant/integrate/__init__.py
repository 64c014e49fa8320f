"""Time integration: the compiled loop with its events, contact phases and sticking; the methods; the memory they share."""

from pliant.codegen.jacobian_kernel import JacobianKernel
from pliant.integrate.memory.constraint_kernel import ConstraintKernels
from pliant.integrate.methods.method import (
    DOP853,
    METHODS,
    ODE23,
    ODE45,
    RK4,
    RKF45,
    Auto,
    DormandPrince,
    Method,
    Radau5,
    Radau9,
    RealTime,
    Rodas5P,
    Tsit5,
    TwoLoop,
)  # fmt: skip
from pliant.integrate.status import Status
from pliant.integrate.stepper import Located, Outcome, Statistics, Stepper

__all__ = [
    "DOP853",
    "METHODS",
    "ODE23",
    "ODE45",
    "RK4",
    "RKF45",
    "Auto",
    "ConstraintKernels",
    "DormandPrince",
    "JacobianKernel",
    "Located",
    "Method",
    "Outcome",
    "Radau5",
    "Radau9",
    "RealTime",
    "Rodas5P",
    "Statistics",
    "Status",
    "Stepper",
    "Tsit5",
    "TwoLoop",
]

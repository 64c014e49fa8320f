"""Compiled time loops over addresses and arrays; knows nothing of mechanisms."""

from pliant.integrate.methods import DOP853, METHODS, RK4, RKF45, DormandPrince, Method
from pliant.integrate.status import Status
from pliant.integrate.stepper import Located, Outcome, Statistics, Stepper

__all__ = [
    "DOP853",
    "METHODS",
    "RK4",
    "RKF45",
    "DormandPrince",
    "Located",
    "Method",
    "Outcome",
    "Statistics",
    "Status",
    "Stepper",
]

"""An exact elastic rod by shooting, independent of pliant: Kirchhoff's rod with axial strain, without shear."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

RAMP = 6  # loads at which the root's moment is found one after another


def tip_of_rod(
    length: float,
    stiffness: tuple[float, float, float],
    axial: float,
    natural: Callable[[float], tuple[float, float, float]],
    force: tuple[float, float, float],
) -> np.ndarray:
    """Where the tip of a rod is that is clamped along x at the origin, under a dead force there.

    stiffness: G J, E Iy, E Iz; axial: E A; natural: the unloaded rod's twist and curvatures about its own y and z. Unknown is the
    moment m at the root: r' = (1 + t.F/EA) t, R' = R [k], k = k0 + R^T m / stiffness, m' = -r' x F, m(l) = 0.
    """
    stiff, load = np.array(stiffness), np.array(force)

    def slopes(s: float, y: np.ndarray, share: float) -> np.ndarray:
        rotation, moment = y[3:12].reshape(3, 3), y[12:]
        k = np.array(natural(s)) + rotation.T @ moment / stiff
        spin = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
        along = (1.0 + rotation[:, 0] @ load * share / axial) * rotation[:, 0]
        return np.concatenate([along, (rotation @ spin).ravel(), -np.cross(along, share * load)])

    def end(moment: np.ndarray, share: float) -> np.ndarray:
        start = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment])
        return solve_ivp(slopes, (0.0, length), start, args=(share,), method="DOP853", rtol=1e-9, atol=1e-10).y[:, -1]

    moment = np.zeros(3)
    for share in np.linspace(0.0, 1.0, RAMP + 1)[1:]:
        moment = root(lambda m, share=share: end(m, share)[12:], moment, tol=1e-10).x
    return end(moment, 1.0)[:3]

"""PD gains from bandwidth and damping ratio, and the largest inertia and gravity of each joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]


def gains(bandwidth: Any, damping: Any = 1.0, robot: Robot | None = None) -> tuple[Array, Array]:
    """(k_p, k_d) = (ω², 2 ζ ω) of ë + k_d ė + k_p e = 0, one for all joints or one per joint.

    ``bandwidth`` ω in rad/s; ``damping`` ratio ζ, 1 for critical damping.

    With a ``robot``: (K_p, K_d) (n) of a joint PD law, the same times the largest diagonal inertia of each joint. With the
    other joints fixed, each joint then has at least the given damping ratio and a natural frequency of at least ω, with
    equality where its inertia is largest.

    >>> import dynamis as dy
    >>> kp, kd = dy.control.gains(10.0)
    >>> float(kp), float(kd)
    (100.0, 20.0)
    >>> dy.control.gains(5.0, robot=dy.load("planar_2r_melchiorri"))[0]
    array([3625. ,  562.5])
    """
    w, zeta = gain(bandwidth, "bandwidth"), gain(damping, "damping")
    inertia = 1.0 if robot is None else max_diagonal_inertia(robot)
    return w * w * inertia, 2.0 * zeta * w * inertia


def max_diagonal_inertia(robot: Robot) -> Array:
    """The largest M_kk (n) found over sampled configurations within the limits."""
    check_numeric(robot)
    q = np.vstack([robot.home()[None], robot.random(0, 2048)])
    return np.asarray(np.diagonal(robot.mass_matrix(q), axis1=1, axis2=2).max(axis=0))


def largest_gravity(robot: Robot) -> Array:
    """The largest |g_k| (n) found over sampled configurations within the limits; 0 below the rounding of the recursion."""
    q = np.vstack([robot.home()[None], robot.random(0, 512)])
    largest = np.abs(robot.gravity(q)).max(axis=0)
    return np.where(largest > RECURSION_ROUNDING * max(1.0, largest.max(initial=0.0)), largest, 0.0)


def gain(value: Any, name: str, count: int | None = None, *, zero: bool = False) -> Array:
    """A validated gain: a positive number or a vector of them (of length ``count`` if given), as an array."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    least = "non-negative" if zero else "positive"
    if array.ndim > 1 or not (np.isfinite(array).all() and ((array >= 0.0) if zero else (array > 0.0)).all()):
        raise InputError(f"{name} must be {least}: one number, or one per joint; got {value!r}")
    if count is not None:
        if array.ndim and len(array) != count:
            raise InputError(f"{name} has {counted(len(array), 'number')}; give one, or {count}")
        array = np.broadcast_to(array, (count,))
    return array

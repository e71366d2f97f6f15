"""Power balance: input power against the rate of stored energy, computed independently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dynamis.simulation.trajectory import Trajectory

from dynamis.display import as_table

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Power:
    """Powers in W at each point of a motion (N); positive into the robot.

    ``torques`` τ·v of the joint torques, ``friction`` −d·v of dry friction d, ``viscous`` −v·B v, ``wrenches`` Σ w·V with the
    twist V of each frame, ``stops`` of the torques of joint stops, if any; ``input`` is their sum. ``stored`` is d(T + U)/dt =
    vᵀ M v̇ + ½ vᵀ Ṁ v + v·(weight and springs), from the state and the acceleration alone. ``residual`` = ``stored`` −
    ``input`` is of the order of rounding.
    """

    torques: Array
    friction: Array
    viscous: Array
    wrenches: Array
    stops: Array
    stored: Array

    @property
    def input(self) -> Array:
        return self.torques + self.friction + self.viscous + self.wrenches + self.stops

    @property
    def residual(self) -> Array:
        return self.stored - self.input

    def __repr__(self) -> str:
        return f"<Power at {len(self.torques)} points: torques up to {np.abs(self.torques).max(initial=0.0):.4g} W>"

    _repr_html_ = as_table


def power(motion: Trajectory) -> Power:
    """The powers at the points of a motion."""
    q, v = motion.q, motion.v
    smooth = motion._smooth
    wrenches = np.zeros(len(motion))
    for frame, w in motion.wrenches.items():
        wrenches += _along(w, motion.robot.velocity(q, v, frame))
    stopping = getattr(motion, "stop_torque", None)
    M, M_dot = smooth.mass_matrix(q), smooth.mass_matrix_dot(q, v)
    weight_and_springs = smooth.bias(q, np.zeros_like(v))
    stored = _quadratic(v, M, motion.acceleration) + 0.5 * _quadratic(v, M_dot, v) + _along(weight_and_springs, v)
    return Power(
        torques=_along(motion.tau, v),
        friction=-_along(motion.friction, v),
        viscous=-_along(smooth.model.viscous * v, v),
        wrenches=wrenches,
        stops=np.zeros(len(motion)) if stopping is None else _along(stopping, v),
        stored=stored,
    )


def _along(x: Array, y: Array) -> Array:
    return np.asarray(np.sum(x * y, axis=-1))


def _quadratic(x: Array, A: Array, y: Array) -> Array:
    return np.asarray(np.einsum("ki,kij,kj->k", x, A, y))

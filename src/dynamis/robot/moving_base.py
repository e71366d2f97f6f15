"""Functions of a robot whose base moves in a prescribed way, by the same robot with a floating base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import MovingBase
from dynamis.algorithms.registry import ALGORITHMS
from dynamis.display import as_call
from dynamis.errors import InputError
from dynamis.robot.base import RobotBase
from dynamis.spatial.rotation import to_quaternion

Array = npt.NDArray[Any]
BASE = 6  # coordinates of the base, the first ones
# functions, and how many of the last axes of their results are over coordinates
COORDINATE_AXES = {
    "inverse_dynamics": 1, "gravity": 1, "bias": 1, "static_torque": 1, "jacobian": 1, "jacobian_dot": 1,
    "analytic_jacobian": 1, "center_of_mass_jacobian": 1, "centroidal_matrix": 1, "centroidal_matrix_dot": 1,
    "mass_matrix": 2, "mass_matrix_dot": 2, "coriolis_matrix": 2, "pose": 0, "poses": 0, "velocity": 0, "acceleration": 0,
    "kinetic_energy": 0, "potential_energy": 0, "center_of_mass": 0, "center_of_mass_velocity": 0,
    "center_of_mass_acceleration": 0, "centroidal_momentum": 0, "centroidal_inertia": 0,
}  # fmt: skip


class OnMovingBase:
    """A robot on a base with prescribed motion, made by `Robot.on`: functions with the arguments and results of the robot's.

    Poses, velocities, energies and momenta are those in the world and include the base link; torques, Jacobians and matrices
    have the joints' coordinates only. C(q, v) depends on the twist of the base; the torques are M v̇ + C v + g and what the
    motion of the base adds. ``floating`` is the robot with a free base, ``base`` its motion.
    """

    def __init__(self, floating: RobotBase, base: MovingBase) -> None:
        self.floating, self.base = floating, base
        pose = np.concatenate([base.pose.p, to_quaternion(base.pose.R)])
        self._first = {"q": pose, "v": base.twist, "a": base.acceleration}
        self._sizes = {"q": floating.nq - len(pose), **dict.fromkeys(("v", "a", "tau"), floating.n - BASE)}

    def __getattr__(self, name: str) -> Callable[..., Array]:
        if name not in COORDINATE_AXES:
            every = ", ".join(sorted([*COORDINATE_AXES, "forward_dynamics"]))
            raise AttributeError(f"there is no function {name!r} of a robot on a moving base; there are {every}")
        count, axes = len(ALGORITHMS[name].arguments), COORDINATE_AXES[name]

        def evaluate(*given: Any, **options: Any) -> Array:
            state = map(self._with_base, ALGORITHMS[name].arguments, given)
            found = getattr(self.floating, name)(*state, *given[count:], **options)
            return np.asarray(found[(..., *[slice(BASE, None)] * axes)] if axes else found)

        return evaluate

    def forward_dynamics(self, q: Any, v: Any, tau: Any, wrenches: Any = None, *, axes: str = "world") -> Array:
        """Joint accelerations (…, n) for given torques and wrenches."""
        tau = self._checked("tau", tau)
        rest = self.inverse_dynamics(q, v, np.zeros(self._sizes["a"]), wrenches, axes=axes)
        return np.asarray(np.linalg.solve(self.mass_matrix(q), (tau - rest)[..., None])[..., 0])

    def _with_base(self, name: str, x: Any) -> Array:
        own, first = self._checked(name, x), self._first[name]
        return np.concatenate([np.broadcast_to(first, (*own.shape[:-1], len(first))), own], axis=-1)

    def _checked(self, name: str, x: Any) -> Array:
        size = self._sizes[name]
        try:
            own = np.asarray(x, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{name} must have {size} numbers, got {x!r}") from None
        if own.shape[-1:] != (size,):
            raise InputError(f"{name} must have shape (…, {size}), got {own.shape}")
        if not np.isfinite(own).all():
            raise InputError(f"{name} must have finite numbers, got {own}")
        return own

    def __repr__(self) -> str:
        return f"<OnMovingBase {self.floating.name!r}: {as_call(self.base)}>"

"""Ellipsoids at a frame: velocities for unit joint velocities, forces for unit torques, deflections for unit forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted, flat
from dynamis.errors import InputError
from dynamis.kinematics.directions import Directions, directions_of
from dynamis.robot import Robot
from dynamis.statics.convention import one_state
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid:
    """An ellipsoid about a centre (m): unit directions are the columns of ``directions`` (m × m), with half-axes ``radii``.

    A radius may be zero (flat in that direction) or infinite (unbounded).
    """

    radii: Array
    directions: Array
    centre: Array
    unit: str

    @property
    def infinite(self) -> Array:
        """The directions without bound, as columns."""
        return self.directions[:, np.isposinf(self.radii)]

    @property
    def flat(self) -> Array:
        """The directions without extent, as columns."""
        return self.directions[:, self.radii == 0.0]

    def contains(self, x: Any, slack: float = 1e-12) -> bool:
        """Whether a point (m) lies in the ellipsoid."""
        y = self.directions.T @ (np.asarray(x, dtype=float) - self.centre)
        size = float(np.abs(y).max(initial=0.0))
        if np.any(np.abs(y[self.radii == 0.0]) > RECURSION_ROUNDING * max(size, 1.0)):
            return False
        bounded = (self.radii > 0.0) & np.isfinite(self.radii)
        return bool(((y[bounded] / self.radii[bounded]) ** 2).sum() <= 1.0 + slack)

    def along(self, direction: Any) -> float:
        """Distance from the centre to the surface in a direction (m)."""
        d = np.asarray(direction, dtype=float)
        if d.shape != self.centre.shape or not np.isfinite(d).all() or not d.any():
            raise InputError(
                f"direction must have {counted(len(self.centre), 'finite number')}, not all zero; got {direction!r}"
            )
        y = self.directions.T @ (d / np.linalg.norm(d))
        y = np.where(np.abs(y) < RECURSION_ROUNDING, 0.0, y)
        if np.any(y[self.radii == 0.0]):
            return 0.0
        bounded = (self.radii > 0.0) & np.isfinite(self.radii)
        share = float(((y[bounded] / self.radii[bounded]) ** 2).sum())
        return float("inf") if share == 0.0 else share**-0.5

    def outline(self, longest: float = np.inf, points: int = 181) -> Array:
        """Points (points, 2) of a two-dimensional ellipsoid's boundary, with radii limited to ``longest``."""
        if len(self.radii) != 2:
            raise InputError(
                f"an outline requires 2 directions, this ellipsoid has {len(self.radii)}; select two, such as rows='xy'"
            )
        angle = np.linspace(0.0, 2.0 * np.pi, points)
        circle = np.array([np.cos(angle), np.sin(angle)])
        return np.asarray((self.centre[:, None] + self.directions @ (np.minimum(self.radii, longest)[:, None] * circle)).T)

    def __repr__(self) -> str:
        return f"<Ellipsoid of {counted(len(self.radii), 'direction')}: half-axes {flat(self.radii)} {self.unit}>"

    _repr_html_ = as_table


def refuse_mixed(task: Directions) -> None:
    """Reject tasks that mix metres and radians: the axes of their ellipsoid depend on the unit of length."""
    if len(set(task.linear.tolist())) == 2:
        raise InputError(
            "an ellipsoid that mixes distances and angles depends on the unit of length; choose rows='linear' or 'angular'"
        )


def velocity_ellipsoid(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None, speeds: Any = None) -> Ellipsoid:
    """The velocities J q̇ with ‖q̇‖ ≤ 1, or with Σ (q̇_k / speed_k)² ≤ 1: half-axes are the singular values.

    >>> import dynamis as dy
    >>> dy.statics.velocity_ellipsoid(dy.load("planar_2r_melchiorri"), [0.0, 0.0]).radii.round(3).tolist()
    [2.236, 0.0]
    """
    U, s, task = _task_svd(robot, q, frame, rows, speeds, "speeds", multiply=True)
    return Ellipsoid(s, U, np.zeros(len(s)), "m/s" if task.linear.all() else "rad/s")


def force_ellipsoid(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None, torques: Any = None) -> Ellipsoid:
    """The wrenches with ‖Jᵀ f‖ ≤ 1, or with Σ ((Jᵀ f)_k / torque_k)² ≤ 1: half-axes are the inverse singular values.

    It has the principal directions of the velocity ellipsoid, with inverse radii; they are unbounded where the frame cannot
    move, as the structure carries the force. Gravity torques are not included; `force_polytope` includes them.
    """
    U, s, task = _task_svd(robot, q, frame, rows, torques, "torques", multiply=False)
    with np.errstate(divide="ignore"):
        return Ellipsoid(1.0 / s, U, np.zeros(len(s)), "N" if task.linear.all() else "N m")


def _task_svd(
    robot: Robot, q: Any, frame: str | None, rows: Any, scales: Any, name: str, *, multiply: bool
) -> tuple[Array, Array, Directions]:
    at = one_state(robot, q)
    task = directions_of(robot, frame, rows)
    refuse_mixed(task)
    A = task.selection @ robot.jacobian(at, frame)
    noise = task.noise
    if scales is not None:
        k = _scales(robot, scales, name)
        A = A * k if multiply else A / k
        noise *= float(k.max() if multiply else 1.0 / k.min())
    U, s, _ = np.linalg.svd(A)
    values = np.zeros(task.size)
    values[: len(s)] = np.where(s > max(RECURSION_ROUNDING * float(s.max(initial=0.0)), noise), s, 0.0)
    return U, values, task


def _scales(robot: Robot, scales: Any, name: str) -> Array:
    try:
        k = np.array(np.broadcast_to(np.asarray(scales, dtype=float), (robot.n,)))
    except (TypeError, ValueError):
        k = np.zeros(robot.n)
    if not (np.isfinite(k).all() and (k > 0.0).all()):
        raise InputError(f"{name} must be {counted(robot.n, 'finite positive number')}, or one for all joints; got {scales!r}")
    return k

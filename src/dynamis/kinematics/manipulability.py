"""Manipulability at a frame, its gradient, condition numbers, and operational-space inertia."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import mass_matrix
from dynamis.algorithms.jacobian import jacobian
from dynamis.algorithms.registry import Algorithm
from dynamis.algorithms.singularity import singular_mass_named
from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.kinematics.directions import ROWS, Directions, directions_of
from dynamis.kinematics.jacobian_measures import dynamic_volume, mobility, volume
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.scalar import Node, gradient
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]

KINDS = ("velocity", "force", "dynamic")


def manipulability(robot: Robot, q: Any, frame: str | None = None, kind: str = "velocity", *, rows: Any = None) -> Any:
    """Manipulability measure of a frame for each state (…): the volume of an ellipsoid.

    ``kind``: "velocity" w = √det(J Jᵀ), of the velocities with ‖q̇‖ ≤ 1 [Yoshikawa 1985]; "force" 1/w, of the forces for
    ‖τ‖ ≤ 1, infinite in singular configurations; "dynamic" √det(J M⁻² Jᵀ), of the accelerations for ‖τ‖ ≤ 1 at rest.

    ``rows`` selects the task: None is the position of the frame, without directions in which it never moves ("xy" for a planar
    arm); "all" has six rows; see `directions_of`. q may contain symbols: the result is then an expression.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> w = dy.manipulability(arm, [[0.3, 0.0], [0.3, np.pi / 2]])  # l_1 l_2 |s_2|
    >>> w.round(6).tolist()
    [0.0, 1.0]
    """
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} is unknown; choose {', '.join(map(repr, KINDS))}")
    if not isinstance(robot, Robot):
        check_numeric(robot)
    task = directions_of(robot, frame, rows)
    if task.size > robot.n:
        few = ",".join(task.names[: robot.n])
        raise InputError(
            f"the task has {counted(task.size, 'direction')} ({', '.join(task.names)}) and the robot "
            f"{counted(robot.n, 'joint')}, so w is zero "
            f"everywhere; choose at most {counted(robot.n, 'row')}"
            + (f", such as rows={few!r}" if task.names[0] in ROWS else "")
        )
    w = robot.evaluate(DYNAMIC_MANIPULABILITY if kind == "dynamic" else VELOCITY_MANIPULABILITY, q, task=task)
    if kind != "force":
        return w
    if isinstance(w, Node):
        return 1.0 / w
    singular = np.isinf(condition_number(robot, q, frame, rows=rows))  # where w is rounding
    with np.errstate(divide="ignore"):
        return np.where(singular, np.inf, 1.0 / np.asarray(w))[()]


def manipulability_gradient(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None) -> Array:
    """∂w/∂q of the velocity manipulability (…, n), along v where q has quaternions: w tr(∂J/∂q_k J⁺).

    Where w = 0 it is not differentiable; the result there is zero, a subgradient. For symbolic q the result is an expression.

    >>> import dynamis as dy
    >>> from dynamis.kinematics.manipulability import manipulability_gradient
    >>> manipulability_gradient(dy.load("planar_2r_melchiorri"), [0.3, 1.0])[1].round(6)  # l_1 l_2 c_2
    np.float64(0.540302)
    """
    state = np.asarray(q)
    if state.dtype == object:
        return gradient(manipulability(robot, q, frame, rows=rows), list(state))
    task = directions_of(robot, frame, rows)
    w = np.asarray(manipulability(robot, q, frame, rows=rows))
    A = task.selection @ robot.jacobian(q, frame)
    # J̇ is linear in v, so along the unit velocities it is ∂J/∂q_k; the axis k stands before those of J
    slopes = task.selection @ robot.jacobian_dot(np.asarray(q, dtype=float)[..., None, :], np.eye(robot.n), frame)
    shares = np.einsum("...kmn,...nm->...k", slopes, np.linalg.pinv(A, rcond=RECURSION_ROUNDING))
    return np.asarray(np.where(w[..., None] > 0.0, w[..., None] * shares, 0.0))


def scaled_jacobian(robot: Robot, q: Any, task: Directions) -> Array:
    """The task Jacobian scaled by the characteristic length: rates of task and joints divided by L or 1."""
    return (task.selection @ robot.jacobian(q, task.frame.name)) / task.scale[:, None] * task.joint_scale(robot)


def condition_number(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None, length: float | None = None) -> Any:
    """Condition number σ_max / σ_min of the Jacobian (…): 1 in isotropic, infinite in singular configurations.

    If the task mixes distances and angles, or the robot prismatic and revolute joints, distances are divided by ``length`` [m],
    by default the length of the chain (`characteristic_length`), on which the result depends.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> round(float(condition_number(arm, [0.0, np.pi / 2])), 6)
    2.618034
    """
    check_numeric(robot)
    task = directions_of(robot, frame, rows, length)
    values = np.linalg.svd(scaled_jacobian(robot, q, task), compute_uv=False)
    if task.size > robot.n:
        return np.full(values.shape[:-1], np.inf)[()]
    flat = values[..., -1] <= np.maximum(RECURSION_ROUNDING * values[..., 0], task.noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(flat, np.inf, values[..., 0] / np.where(flat, 1.0, values[..., -1]))[()]


def operational_mobility(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None) -> Array:
    """Λ⁻¹ = J M⁻¹ Jᵀ (…, m, m): the acceleration of the frame for a unit force there; defined also where J is singular."""
    return robot.evaluate(MOBILITY, q, task=directions_of(robot, frame, rows))


def _task_jacobian(model: Model, q: Array, task: Directions) -> Array:
    return np.asarray(task.selection @ jacobian(model, q, task.frame))


def _velocity_volume(model: Model, q: Array, task: Directions) -> Any:
    return volume(_task_jacobian(model, q, task))


def _dynamic_volume(model: Model, q: Array, task: Directions) -> Any:
    with singular_mass_named(model, q):
        return dynamic_volume(_task_jacobian(model, q, task), mass_matrix.crba(model, q))


def _mobility(model: Model, q: Array, task: Directions) -> Array:
    with singular_mass_named(model, q):
        return mobility(_task_jacobian(model, q, task), mass_matrix.crba(model, q))


VELOCITY_MANIPULABILITY = Algorithm("manipulability", _velocity_volume, ("q",), options=("task",))
DYNAMIC_MANIPULABILITY = Algorithm("dynamic_manipulability", _dynamic_volume, ("q",), options=("task",))
MOBILITY = Algorithm("operational_mobility", _mobility, ("q",), options=("task",))


def operational_eigenvalues(robot: Robot, q: Any, frame: str | None = None, *, rows: Any = None) -> Array:
    """Eigenvalues of Λ = (J M⁻¹ Jᵀ)⁻¹ (…, m), ascending: effective masses at the frame; infinite at singularities.

    >>> import dynamis as dy
    >>> operational_eigenvalues(dy.load("planar_2r_melchiorri"), [0.3, 0.0])[-1]
    np.float64(inf)
    """
    values = np.maximum(np.linalg.eigvalsh(operational_mobility(robot, q, frame, rows=rows)), 0.0)
    flat = values <= RECURSION_ROUNDING * values[..., -1:]
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(flat, np.inf, 1.0 / np.where(flat, 1.0, values))[..., ::-1])

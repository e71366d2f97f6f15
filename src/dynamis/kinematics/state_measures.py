"""Measures of batches of states, by name, for workspace maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.kinematics.directions import directions_of
from dynamis.kinematics.manipulability import condition_number, manipulability, operational_eigenvalues
from dynamis.robot import Robot
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Measure:
    """A scalar measure of a state: label, unit, whether larger is better, and whether its scale is logarithmic."""

    name: str
    label: str
    unit: str
    of: Callable[..., Array]
    more_is_better: bool = True
    logarithmic: bool = False

    def __repr__(self) -> str:
        return f"<Measure {printable(self.name)}: {self.label}{f' in {self.unit}' if self.unit else ''}>"

    _repr_html_ = as_table


def payload_capacity(robot: Robot, q: Any, frame: str | None = None, *, torque_limits: Any = None) -> Any:
    """Largest point mass [kg] (…) at the frame in static equilibrium within the torque limits; 0 if the torques of gravity and
    springs of the arm alone exceed them.

    τ = g(q) + springs + m d(q) with d the torques per kilogram, so each joint limits m to an interval.
    ``torque_limits`` defaults to the robot's effort limits.

    >>> import dynamis as dy
    >>> robot = dy.load("ur5e")
    >>> bool(payload_capacity(robot, robot.neutral()) > 5.0)
    True
    """
    limits = effort_limits(robot, torque_limits)
    g = robot.static_torque(q)
    d = torques_per_kilogram(robot, q, frame)
    still = np.abs(d) <= RECURSION_ROUNDING * np.abs(d).max(axis=-1, keepdims=True)
    most = np.where(still, np.inf, (np.sign(d) * limits - g) / np.where(still, 1.0, d)).min(axis=-1)
    able = (np.abs(g) <= limits + RECURSION_ROUNDING * np.abs(g).max(axis=-1, keepdims=True)).all(axis=-1)
    return np.where(able, np.maximum(most, 0.0), 0.0)[()]


def torques_per_kilogram(robot: Robot, q: Any, frame: str | None = None) -> Array:
    """Static joint torques (…, n) under a point mass of 1 kg at the frame, without the weight of the arm."""
    J = robot.jacobian(q, frame)[..., :3, :]
    return np.asarray(-np.einsum("...ij,i->...j", J, robot.model.gravity.astype(float)))


def payload_note(robot: Robot, q: Array, others: Array, frame: str | None = None) -> str:
    """A note if at ``q`` (nq) the joints carry almost nothing of a load, compared with ``others`` (N, nq); else empty."""
    most = np.abs(torques_per_kilogram(robot, others, frame)).max(axis=0)
    # a torque per joint below a fifth of its largest: near a singularity along gravity
    small = 0.2 * most + RECURSION_ROUNDING * most.max()  # a joint with a vertical axis carries nothing anywhere
    if (np.abs(torques_per_kilogram(robot, q, frame)) > small).any():
        return ""
    return (
        "near the best configuration the arm is singular along the direction of gravity: bearings and links carry the load, "
        "not the joint torques, so that the strength of the structure limits the payload, which this model does not contain"
    )


def free_coordinates(robot: Robot) -> Array:
    """Which of the coordinates (n) belong to a free joint and are not actuated."""
    free = np.ones(robot.n, dtype=bool)
    free[robot.inputs.coordinates("joints", "actuated")] = False
    return free


def torque_bounds(robot: Robot, torque_limits: Any = None) -> Array:
    """Torque limits (n): those of the robot, one number for all, or one per joint; 0 for a free base."""
    if torque_limits is None:
        limits = robot.limits["effort"].astype(float)
    else:
        try:
            limits = np.array(np.broadcast_to(np.asarray(torque_limits, dtype=float), (robot.n,)))
        except (TypeError, ValueError):
            limits = np.full(robot.n, np.nan)
    if limits.shape != (robot.n,) or np.isnan(limits).any() or (limits < 0.0).any():
        raise InputError(
            f"torque_limits must be {counted(robot.n, 'non-negative number')}, or one for all; got {torque_limits!r}"
        )
    return np.where(free_coordinates(robot), 0.0, limits)


def effort_limits(robot: Robot, torque_limits: Any = None) -> Array:
    """`torque_bounds` of a fixed-base robot, at least one of them finite."""
    if not robot.n:
        raise InputError(f"robot {printable(robot.name)} has no moving joints, so it has no joint torques")
    if free_coordinates(robot).any():
        raise InputError(
            f"robot {printable(robot.name)} has an unactuated free base, whose supporting forces are unknown; "
            "load it with base='fixed'"
        )
    limits = torque_bounds(robot, torque_limits)
    if not np.isfinite(limits).any():
        raise InputError(
            f"robot {robot.name!r} has no effort limits, so its forces are unbounded; give torque_limits=, on the command "
            f"line --limits"
        )
    return limits


def least_stiffness(robot: Robot, q: Any, frame: str | None = None, *, joint_stiffness: Any, rows: Any = None) -> Any:
    """Smallest stiffness [N/m] (…) at the frame over all directions: 1 / the largest eigenvalue of J K_q⁻¹ Jᵀ."""
    task = directions_of(robot, frame, rows)
    A = task.selection @ robot.jacobian(q, frame)
    compliance = (A / joint_springs(robot, joint_stiffness)) @ np.swapaxes(A, -1, -2)
    softest = np.linalg.eigvalsh(compliance)[..., -1]
    with np.errstate(divide="ignore"):
        return (1.0 / np.maximum(softest, 0.0))[()]


def joint_springs(robot: Robot, joint_stiffness: Any) -> Array:
    """k_q (n), from one number for all or one per joint: positive, infinite for a rigid joint."""
    try:
        k = np.array(np.broadcast_to(np.asarray(joint_stiffness, dtype=float), (robot.n,)))
    except (TypeError, ValueError):
        k = np.full(robot.n, np.nan)
    if np.isnan(k).any() or (k <= 0.0).any():
        raise InputError(
            f"joint stiffness must be {counted(robot.n, 'positive number')}, in N m/rad or N/m, or one for all; "
            f"got {joint_stiffness!r}"
        )
    return k


def _worst_mass(robot: Robot, q: Any, frame: str | None, rows: Any) -> Array:
    return operational_eigenvalues(robot, q, frame, rows=rows)[..., -1]


def _least_mass(robot: Robot, q: Any, frame: str | None, rows: Any) -> Array:
    return operational_eigenvalues(robot, q, frame, rows=rows)[..., 0]


def _inertia(place: int) -> Callable[..., Array]:
    return lambda robot, q, frame, rows: np.linalg.eigvalsh(robot.mass_matrix(q))[..., place]  # noqa: ARG005 - as its fellows


def _kind(kind: str) -> Callable[..., Array]:
    return lambda robot, q, frame, rows: np.asarray(manipulability(robot, q, frame, kind, rows=rows))


MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        Measure("manipulability", "manipulability w", "", _kind("velocity")),
        Measure("force", "force manipulability 1/w", "", _kind("force"), logarithmic=True),
        Measure("dynamic", "dynamic manipulability", "", _kind("dynamic")),
        Measure("condition", "condition number of J", "", lambda r, q, f, rows: condition_number(r, q, f, rows=rows),
                more_is_better=False, logarithmic=True),
        Measure("inertia", "largest eigenvalue of M", "kg m²", _inertia(-1), more_is_better=False),
        Measure("least_inertia", "smallest eigenvalue of M", "kg m²", _inertia(0)),
        Measure("effective_mass", "largest eigenvalue of Λ", "kg", _worst_mass, more_is_better=False, logarithmic=True),
        Measure("least_effective_mass", "smallest eigenvalue of Λ", "kg", _least_mass, more_is_better=False),
    )
}  # fmt: skip
POWERS = {-3: "m⁻³", -2: "m⁻²", -1: "m⁻¹", 1: "m", 2: "m²", 3: "m³"}
LIMITED = ("payload", "stiffness")  # which need a number more


def measure_named(name: str, options: Mapping[str, Any]) -> Measure:
    """A measure by name, including "payload" (``torque_limits``) and "stiffness" (``joint_stiffness``)."""
    if name == "payload":
        limits = options.get("torque_limits")
        return Measure(name, "static payload, joint torque limits only", "kg",
                       lambda r, q, f, rows: payload_capacity(r, q, f, torque_limits=limits))  # fmt: skip # noqa: ARG005
    if name == "stiffness":
        if options.get("joint_stiffness") is None:
            what = "one positive number for all joints or one per joint"
            raise InputError(f"the measure 'stiffness' requires joint_stiffness=, {what}")
        k = options["joint_stiffness"]
        return Measure(name, "smallest stiffness over all directions", "N/m", logarithmic=True,
                       of=lambda r, q, f, rows: least_stiffness(r, q, f, joint_stiffness=k, rows=rows))  # fmt: skip
    if name not in MEASURES:
        raise unknown_name("measure", name, (*MEASURES, *LIMITED))
    return MEASURES[name]


def with_unit(measure: Measure, robot: Robot, frame: str, rows: Any) -> Measure:
    """Velocity and force manipulability with their unit, a power of the metre that depends on the task.

    Without a unit where a row of the task or the joints mix lengths and angles.
    """
    if measure not in (MEASURES["manipulability"], MEASURES["force"]):
        return measure
    if not all(c.revolute for c in robot.model.coordinates):
        return measure
    task = directions_of(robot, frame, rows)
    if any(row[:3].any() and row[3:].any() for row in task.selection):
        return measure
    power = int(task.linear.sum())
    return replace(measure, unit=POWERS.get(-power if measure.name == "force" else power, ""))

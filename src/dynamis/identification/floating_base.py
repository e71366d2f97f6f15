"""Samples of a robot with a floating base: joint encoders and torques, an inertial measurement unit on the base, and measured
contact wrenches.

The equations of motion depend on the motion of the base only through its angular velocity and acceleration and through
s = p̈ − g, which a gyroscope and an accelerometer measure: neither the orientation nor the velocity of the base has to be
estimated. The samples therefore describe the motion in an inertial frame with the orientation and the velocity of the base
at each instant: q_base = identity, v = (0, ω), a = (s + g, ω̇). The six rows of the base have no motor; their torques are
those of the contact wrenches, Jᵀ w [Ayusawa, Venture & Nakamura 2014].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.samples import Samples
from dynamis.identification.signals.filters import check_cutoff, derivatives, low_pass, suggest_cutoff
from dynamis.robot import Robot

Array = npt.NDArray[Any]
RIGID = 1e-9  # change of the pose of the sensor in the base, relative to 1 m and 1 rad


def imu_samples(
    robot: Robot,
    q: Any,
    tau: Any,
    *,
    period: float,
    angular_velocity: Any,
    acceleration: Any,
    imu: str | None = None,
    wrenches: Mapping[str, Any] | None = None,
    cutoff: float | None = None,
    parallel: float | None = None,
    every: int = 1,
    source: str = "",
) -> Samples:
    """Return samples of a floating robot from joint signals, an inertial measurement unit and contact wrenches.

    ``q`` and ``tau`` (N, joints) are the positions and torques of the joints without the base, one row every ``period`` [s];
    NaN in ``tau`` marks torques that are not measured. ``angular_velocity`` and ``acceleration`` (N, 3) are the readings of
    gyroscope and accelerometer, in the axes of the frame ``imu`` on the base (default: that of the base): an accelerometer at
    rest reads 9.81 m/s² upwards. ``wrenches`` are those of the environment on the robot by frame, (N, 6), force first, at the
    origin and in the axes of that frame, as force-torque sensors measure them. ``cutoff`` [Hz] is that of the zero-phase
    filter of positions and readings, by default that of `suggest_cutoff`; ``parallel`` [Hz] and ``every`` are those of
    `Samples`. One period of the cut-off is left out at both ends.

    >>> import dynamis as dy, numpy as np
    >>> robot, t = dy.load("go2", base="floating"), np.arange(400)[:, None] * 0.005
    >>> q = robot.home()[7:] + 0.1 * np.sin(t * np.arange(1, 13))
    >>> still = {"angular_velocity": np.zeros((400, 3)), "acceleration": np.tile([0.0, 0.0, 9.81], (400, 1))}
    >>> imu_samples(robot, q, np.zeros_like(q), period=0.005, **still, cutoff=10.0)
    <Samples: 360 samples of 18 joints at 200 Hz>
    """
    free = _base(robot)
    joints = [k for k in range(robot.n) if k not in free]
    q = _signal(q, (None, robot.nq - 7), "q")
    count = len(q)
    tau = _numbers(tau, "tau")
    if tau.shape != (count, len(joints)):
        raise InputError(f"tau has shape {tau.shape}; expected {(count, len(joints))}: the joints of q, without the base")
    gyro = _signal(angular_velocity, (count, 3), "angular_velocity")
    specific = _signal(acceleration, (count, 3), "acceleration")
    if cutoff is None:
        cutoff = suggest_cutoff(q, period).value
    check_cutoff(period, cutoff)
    R, r = _sensor(robot, imu, free)
    positions, velocities, accelerations = derivatives(q, period, cutoff=cutoff)
    turned, turning, _ = derivatives(gyro @ R.T, period, cutoff=cutoff)
    # at the origin of the base: p̈_imu = p̈ + ω̇ × r + ω × (ω × r)
    lever = np.cross(turning, r) + np.cross(turned, np.cross(turned, r))
    s = low_pass(specific @ R.T, period, cutoff) - lever
    full_q = np.hstack([np.tile(robot.neutral()[:7], (count, 1)), positions])
    v, a, total = (np.zeros((count, robot.n)) for _ in range(3))
    v[:, free[3:]], v[:, joints] = turned, velocities
    a[:, free[:3]], a[:, free[3:]], a[:, joints] = s + np.asarray(robot.model.gravity, float), turning, accelerations
    known = np.isfinite(tau)
    total[:, joints] = np.where(known, tau, 0.0)
    if not isinstance(wrenches, Mapping | None):
        raise InputError(f"wrenches= takes a dictionary of frames and wrenches, got {type(wrenches).__name__}")
    if wrenches:
        given = {name: _signal(w, (count, 6), f"the wrench of {printable(name)}") for name, w in wrenches.items()}
        still = np.zeros((count, robot.n))
        total += robot.inverse_dynamics(full_q, still, still)
        total -= robot.inverse_dynamics(full_q, still, still, wrenches=given, axes="local")
    use = np.ones((count, robot.n), dtype=bool)
    use[:, joints] = known
    edge = int(np.ceil(1.0 / (cutoff * period)))
    if count <= 2 * edge:
        raise InputError(f"{count} samples are too few for a cut-off of {cutoff:.3g} Hz: {2 * edge} are left out at the ends")
    inner = slice(edge, count - edge)
    rows = (x[inner] for x in (full_q, v, a, total))
    return Samples.of(
        *rows, t=period * np.arange(count)[inner], use=use[inner], period=period, parallel=parallel, every=every, source=source
    )


def _base(robot: Robot) -> list[int]:
    """Return the coordinates of the free joint, which is the first one."""
    first = robot.model.moving[0][1] if robot.model.moving else None
    if first is None or len(first.dof) != 6:
        name = printable(robot.name)
        raise InputError(f"the base of {name} does not move freely: load it with base='floating', or use Log and identify")
    return list(first.dof)


def _sensor(robot: Robot, frame: str | None, free: list[int]) -> tuple[Array, Array]:
    """Return the rotation and the origin of the sensor's frame in the base."""
    if frame is None:
        return np.eye(3), np.zeros(3)
    q = np.stack([robot.neutral(), robot.random(np.random.default_rng(0))])
    q[:, : len(free) + 1] = robot.neutral()[: len(free) + 1]
    X, moved = robot.pose(q, frame=frame)
    if np.abs(moved - X).max() > RIGID:
        raise InputError(f"frame {printable(frame)} moves relative to the base; imu= takes a frame of the base")
    return X[:3, :3], X[:3, 3]


def _signal(values: Any, shape: tuple[int | None, int], what: str) -> Array:
    array = _numbers(values, what)
    if array.ndim != 2 or array.shape[1] != shape[1] or (shape[0] is not None and len(array) != shape[0]):
        raise InputError(f"{what} has shape {array.shape}; expected ({'N' if shape[0] is None else shape[0]}, {shape[1]})")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InputError(f"{what}[{row}, {column}] is {array[row, column]}: leave this part of the log out, or repair it")
    return array


def _numbers(values: Any, what: str) -> Array:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be an array of numbers, got {type(values).__name__}") from None

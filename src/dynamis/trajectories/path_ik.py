"""Joint motion for a Cartesian motion of a frame, by inverse kinematics along the path."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, ModelWarning, printable
from dynamis.kinematics.all_solutions import all_solutions
from dynamis.kinematics.damped_least_squares import descend
from dynamis.kinematics.ik_problem import target_problem
from dynamis.kinematics.inverse_kinematics import inverse_kinematics, tolerances
from dynamis.kinematics.targets import rotation_vectors
from dynamis.robot import Robot
from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING
from dynamis.trajectories.cartesian import CartesianMotion
from dynamis.trajectories.collision_free import collision_free
from dynamis.trajectories.joint_moves import check_plain
from dynamis.trajectories.motion import PathMotion, Polynomials
from dynamis.trajectories.splines import from_b_spline

Array = npt.NDArray[Any]
INITIAL_INTERVALS, MAX_INTERVALS = 16, 1024  # intervals between points on the path
SPEEDS_PER_INTERVAL = 40  # times at which joint velocities are compared with their limits
BETWEEN = (0.25, 0.5, 0.75)  # of each interval, where the deviation is measured
MAX_JOINT_STEP = 0.5  # rad or m between neighbouring points of the finest division: more is a jump to another branch
MAX_ALTERNATIVES = 8  # initial configurations that are tried where a motion collides: as many as an arm with six joints has
POINT_TOLERANCE = 10.0 * RECURSION_ROUNDING  # m and rad, at the given points


def follow(
    robot: Robot,
    motion: CartesianMotion,
    frame: str | None = None,
    *,
    q0: Any = None,
    kind: str = "pose",
    limits: bool = True,
    tolerance: Any = 1e-6,
    restarts: int = 50,
    seed: int = 0,
    collision: Any = None,
) -> PathMotion:
    """Joint motion that moves a frame (by default the tip) along a Cartesian motion.

    Inverse kinematics at points along the path, each starting from the preceding solution, and a fifth-order spline through
    them; points are added until the deviation between them is within the tolerance, in m and rad. The time law of the
    Cartesian motion is kept exactly. Joints may exceed their velocity limits then, as near a singularity: a warning and the
    status name the joint and the time; `time_optimal` along the result keeps the limits.

    ``q0`` selects among the initial configurations. With ``collision``, a `collision.Scene`, a motion that collides is refused,
    with the pair and the time, after other initial configurations were tried if ``q0`` is not given.

    The remaining deviation is in ``measured["position"]`` and ``measured["rotation"]`` of the result, the largest ratio of a
    joint velocity to its limit in ``measured["velocity"]``.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> q0 = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    >>> end = robot.pose(q0)
    >>> end[:3, 3] += 0.1, 0.1, -0.1
    >>> motion = follow(robot, dy.trajectories.line(robot.pose(q0), end, 2.0), q0=q0)
    >>> motion.measured["position"] < 1e-6
    True
    """
    if not isinstance(motion, CartesianMotion):
        raise InputError(f"motion must be a Cartesian motion (line, screw, arc), got {type(motion).__name__}")
    check_plain(robot)
    near, start = tolerances(tolerance), motion.along(0.0)[0]
    exact = np.minimum(near, POINT_TOLERANCE)
    first = inverse_kinematics(robot, _part(start, kind), frame, q0=q0, kind=kind, limits=limits, tolerance=exact,
                               restarts=restarts, seed=seed, collision=collision)  # fmt: skip
    if not first.found:
        raise InputError(f"no configuration for the first pose: {first.status}")
    made = _first_followed(robot, motion, frame, kind, limits, first.q, near, exact, q0, seed, collision)
    if made.measured["velocity"] > 1.0:
        _, _, fast = made.status.partition("; ")
        warnings.warn(f"the motion of robot {printable(robot.name)} is too fast: {fast}", ModelWarning, stacklevel=2)
    return made


def _first_followed(
    robot: Robot, motion: CartesianMotion, frame: str | None, kind: str, limits: bool, start: Array, near: Array, exact: Array,
    q0: Any, seed: int, collision: Any,
) -> PathMotion:  # fmt: skip
    """The joint motion that begins with a configuration, or where it collides and the start is free, with another one."""
    try:
        return _followed(robot, motion, frame, kind, limits, start, near, collision)
    except InputError:
        if collision is None or q0 is not None:
            raise
        pose = motion.along(0.0)[0]
        others = all_solutions(robot, _part(pose, kind), frame, q0=start, kind=kind, limits=limits, tolerance=exact,
                               seed=seed, collision=collision)  # fmt: skip
        for other in others[1 : MAX_ALTERNATIVES + 1]:
            with contextlib.suppress(InputError):
                return _followed(robot, motion, frame, kind, limits, other.q, near, collision)
        raise


def _followed(robot: Robot, motion: CartesianMotion, frame: str | None, kind: str, limits: bool, start: Array, near: Array,
              collision: Any) -> PathMotion:  # fmt: skip
    """The joint motion that begins with a configuration."""
    count = INITIAL_INTERVALS
    while True:
        s = np.linspace(0.0, 1.0, count + 1)
        q = _along_path(robot, motion, frame, kind, limits, start, s, near, final=count >= MAX_INTERVALS)
        if len(q) == len(s):
            path = _spline(s, q)
            worst = _deviation(robot, motion, frame, kind, path, s)
            if (worst <= near).all() or count >= MAX_INTERVALS:
                break
        count *= 2
    status = f"largest deviation {worst[0]:.2g} m and {worst[1]:.2g} rad, {counted(count + 1, 'point')}"
    if not (worst <= near).all():
        raise InputError(f"the joint path does not reach the tolerance: {status}; the path passes close to a singularity")
    use, fast = _velocity_use(robot, PathMotion(path, motion.clock), count)
    measured = {"position": float(worst[0]), "rotation": float(worst[1]), "velocity": use}
    made = PathMotion(path, motion.clock, status + fast, measured)
    return collision_free(made, collision, robot, "choose another initial configuration (q0=) or another path")


def _velocity_use(robot: Robot, motion: PathMotion, count: int) -> tuple[float, str]:
    """The largest ratio of a joint velocity to its limit; where it exceeds 1, joint, time and what to do."""
    t = np.linspace(0.0, motion.duration, SPEEDS_PER_INTERVAL * count + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        use = np.nan_to_num(np.abs(motion.at(t)[1]) / robot.limits["velocity"], posinf=np.inf)
    row, k = np.unravel_index(int(np.argmax(use)), use.shape)
    largest = float(use[row, k])
    if largest <= 1.0 + NEGLIGIBLE:
        return min(largest, 1.0), ""
    return largest, (
        f"; {printable(robot.coordinate_names[int(k)])} moves at {largest:.3g} times its velocity limit at t = {t[row]:.4g} s: "
        "dynamis.trajectories.time_optimal(robot, motion) follows the same path within the limits, or take a longer "
        "duration or another path, farther from singularities"
    )


def _part(X: Array, kind: str) -> Array:
    return X[:3, 3] if kind == "position" else X[:3, :3] if kind == "orientation" else X


def _along_path(robot: Robot, motion: CartesianMotion, frame: str | None, kind: str, limits: bool, q: Array, s: Array,
                near: Array, *, final: bool) -> Array:  # fmt: skip
    """Configurations at the points of the path, as far as they are continuous; an unreachable point is an error."""
    found, exact = [q], np.minimum(near, POINT_TOLERANCE)
    for k in range(1, len(s)):
        problem = target_problem(robot, _part(motion.along(s[k])[0], kind), frame, kind, limits, None, exact)
        # straight on from the last two is nearer than the last
        guess = np.clip(2.0 * found[-1] - found[-2] if k > 1 else found[-1], problem.lower, problem.upper)
        reached = descend(problem, guess[None])
        jumped = np.abs(reached.q[0] - found[-1]).max() > MAX_JOINT_STEP
        if jumped or not reached.found[0]:
            diagnosis = inverse_kinematics(
                robot, _part(motion.along(s[k])[0], kind), frame, q0=found[-1], kind=kind, limits=limits
            )
            if diagnosis.found and not final:
                break  # smaller steps may lead on
            why = "the solution branch ends at a singularity or a joint limit" if diagnosis.found else diagnosis.status
            raise InputError(f"the joints cannot follow the path beyond s = {s[k - 1]:.3g}: {why}")
        found.append(reached.q[0])
    return np.array(found)


def _spline(s: Array, q: Array) -> Polynomials:
    from scipy.interpolate import make_interp_spline

    return from_b_spline(make_interp_spline(s, q, k=5))


def _deviation(robot: Robot, motion: CartesianMotion, frame: str | None, kind: str, path: Polynomials, s: Array) -> Array:
    """The largest distance in m and rad between the points."""
    between = (s[:-1, None] + np.diff(s)[:, None] * np.array(BETWEEN)).ravel()
    wanted, made = motion.along(between)[0], robot.pose(path.inside(between)[0], frame)
    error = np.zeros((len(between), 6))
    error[:, :3] = wanted[:, :3, 3] - made[:, :3, 3]
    error[:, 3:] = rotation_vectors(wanted[:, :3, :3] @ np.swapaxes(made[:, :3, :3], 1, 2))
    counted = np.zeros(6)
    counted[{"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}[kind]] = 1.0
    error = error * counted
    return np.array([np.linalg.norm(error[:, part], axis=1).max() for part in (slice(0, 3), slice(3, 6))])

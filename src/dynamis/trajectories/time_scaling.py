"""Time-optimal motion along a path within limits of torque, velocity and acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, torque_limits, warn_of_actuators, warn_of_open_loops
from dynamis.tolerances import NEGLIGIBLE
from dynamis.trajectories.collision_free import collision_free
from dynamis.trajectories.constraints import Limits, intervals, use
from dynamis.trajectories.joint_moves import check_plain
from dynamis.trajectories.motion import Motion, PathMotion, Polynomials
from dynamis.trajectories.reachability import UnreachableError, quickest
from dynamis.trajectories.splines import spline_path
from dynamis.trajectories.validate import limits as bounds

Array = npt.NDArray[Any]
MAX_REFINEMENTS = 12
TARGET_SHARE = 0.9999  # of a limit, for the largest use
SWITCHING_SHARE = 0.994  # of the nearest limit: an interval that uses less contains a switching point, and is divided
MAX_EXCESS = 1.001  # of a limit: an interval that uses more is divided, not tightened
SAMPLE_SHARES = np.array([0.0, 0.15, 0.35, 0.5, 0.65, 0.85, 1.0])  # of an interval's time, at which the limits are evaluated
EXTRA_END_POINTS = 8  # at each end
LIMITS_OF_LOOPS = (
    "time-optimal motion with closed loops is not available; the torques of a motion that keeps them closed are those of "
    "dynamis.constrained(robot).inverse_dynamics"
)
OWN_LIMITS = "choose another path, a lighter payload or stronger drives (robot.replace(limits=…))"  # of the model
KINDS = ("torque", "velocity", "acceleration")


def time_optimal(
    robot: Robot,
    path: Any,
    *,
    torque: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    points: int = 200,
    within: bool = True,
    collision: Any = None,
) -> PathMotion:
    """Time-optimal motion along a path, from rest to rest, with |τ|, |v| and |a| within limits.

    ``path`` is an array of points (k, n) for a spline through them, or a motion, of which only the geometric path is used.
    Limits are one number for all joints or one per joint; torque and velocity limits default to the robot's. A path beyond the
    position limits is refused, unless ``within=False``; so is one that collides in ``collision``, a `collision.Scene`. Torques
    are those of `inverse_dynamics`, including dry and viscous friction, rotors, springs and gravity.

    ``points`` is the number of grid points; the grid is refined where the active limit changes. The status gives the share of
    time in which each limit is active, and ``measured["use"]`` the largest ratio of a value to its limit.

    >>> import dynamis as dy
    >>> motion = time_optimal(dy.load("scara"), [[0.0, 0.0, 0.1, 0.0], [1.0, 0.0, 0.1, 0.0]], acceleration=4.0)
    >>> round(motion.duration, 3)  # half the way speeding up, half slowing down: 2 √(1 / 4)
    1.0
    """
    check_numeric(robot)
    check_plain(robot)
    if not isinstance(points, int | np.integer) or points < 10:
        raise InputError(f"points= must be an integer of at least 10, got {points!r}")
    way = _geometry(path)
    check_plain(robot, *way.shape)
    if within:
        _check_positions(robot, way)
    given = {"torque": torque, "velocity": velocity, "acceleration": acceleration}
    warn_of_actuators(robot, "the motion", limited=True)
    warn_of_open_loops(robot, "the limits of the motion", instead=LIMITS_OF_LOOPS)
    own = {"torque": torque_limits(robot), "velocity": robot.limits["velocity"], "acceleration": np.full(robot.n, np.inf)}
    limits = Limits(**{name: own[name] if x is None else bounds(x, robot.n, name) for name, x in given.items()})
    moving = np.abs(way.derivative().peaks()) > 0.0
    if not (np.isfinite(limits.torque) | np.isfinite(limits.acceleration))[moving].any():
        raise InputError(
            f"robot {robot.name!r} has no torque limits: give torque= or acceleration=, otherwise the motion is unbounded"
        )
    weak = "raise torque= or choose another path" if torque is not None else OWN_LIMITS
    made = _refined(robot, way, limits, _division(way, int(points)), weak)
    return collision_free(made, collision, robot, "choose another path")


def _check_positions(robot: Robot, way: Polynomials) -> None:
    """Refuse a path beyond the position limits."""
    q = way.inside(np.linspace(0.0, way.duration, 401))[0]
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    beyond = np.maximum(q - upper, lower - q).max(axis=0)
    k = int(np.argmax(beyond))
    if beyond[k] > NEGLIGIBLE * (1.0 + np.abs(q).max()):
        raise InputError(
            f"the path takes {printable(robot.coordinate_names[k])} to {q[:, k].min():.4g} … {q[:, k].max():.4g}, outside its "
            f"limits {lower[k]:.4g} … {upper[k]:.4g}; choose other points, or within=False to allow it"
        )


def _geometry(path: Any) -> Polynomials:
    """The path in joint space, over a regular parameter."""
    if not isinstance(path, Motion):
        return spline_path(path)
    way = path.path if isinstance(path, PathMotion) else path
    if not isinstance(way, Polynomials) or len(way.shape) != 1:
        raise InputError("path must be a path in joint space: points (k, n), or a motion of joints")
    s = np.linspace(0.0, way.duration, 401)
    q, q1, _ = way.inside(s)
    pace = np.linalg.norm(q1, axis=1)
    if pace.max() == 0.0:
        raise InputError("the path has zero length")
    if pace.min() > 1e-6 * pace.mean():  # where q' vanishes the path stands still in its parameter
        return way
    # a motion that rests somewhere: by the length of its way it does not
    far = np.concatenate([[True], np.linalg.norm(np.diff(q, axis=0), axis=1) > 1e-3 * pace.mean() * way.duration / 400.0])
    far[-1] = True
    kept = np.flatnonzero(far)
    if len(kept) > 1 and np.array_equal(q[kept[-2]], q[kept[-1]]):
        kept = np.delete(kept, -2)
    return spline_path(q[kept])


def _division(path: Polynomials, points: int) -> Array:
    """Grid points of the path: uniform, where it is not smooth or a joint reverses, and denser towards its ends.

    Limits that are active at rest, without dry friction, then affect the motion for a short time only.
    """
    turning = [s for s, _ in path.derivative().zeros()]
    ends = path.duration / points * 4.0 ** -np.arange(1.0, EXTRA_END_POINTS + 1.0)
    even = np.linspace(0.0, path.duration, points + 1)
    s = np.sort(np.concatenate([even, path.times, turning, ends, path.duration - ends]))
    keep = np.concatenate([[True], np.diff(s) > 1e-9 * path.duration])
    s = s[keep]
    s[-1] = path.duration
    return np.asarray(s)


def _refined(robot: Robot, path: Polynomials, limits: Limits, s: Array, weak: str) -> PathMotion:
    """Solve, check between the points, tighten where a limit is exceeded, subdivide where none is active, and repeat.

    ``weak`` says what to do where the torque limits are too small.
    """
    tight = np.full(len(s) - 1, TARGET_SHARE)
    best: tuple[float, PathMotion, Array, Array] | None = None
    for _ in range(MAX_REFINEMENTS):
        try:
            x = quickest(intervals(robot, path, limits, s, tight))
        except UnreachableError as error:
            raise InputError(_infeasibility_message(robot, path, limits, s, error.interval, weak)) from None
        motion = PathMotion(path, _clock(s, x))
        t = motion.clock.times
        samples = t[:-1, None] + np.diff(t)[:, None] * SAMPLE_SHARES
        used = use(robot, limits, motion, samples)
        largest = used.reshape(len(samples), len(SAMPLE_SHARES), -1).max(axis=2)
        worst, over = float(largest.max()), largest.max(axis=1)
        if worst <= 1.0 and (best is None or motion.duration < best[1].duration):
            best = worst, motion, samples, used
        long = np.diff(s) > 3e-5 * path.duration  # shorter intervals are not divided
        divide = ((largest.min(axis=1) < SWITCHING_SHARE) | (over > MAX_EXCESS)) & long
        if worst <= 1.0 and not divide.any():
            break
        s, tight = _divided(s, np.where(over > 1.0, tight * (TARGET_SHARE) / over, tight), divide)
    if best is None:
        raise InputError("no motion within the limits was found: increase points=")
    return _with_active_limits(robot, *best)


def _divided(s: Array, tight: Array, where: Array) -> tuple[Array, Array]:
    """Intervals divided in four, without the tightening of the undivided interval."""
    parts = np.where(where, 4, 1)
    tight = np.where(where, TARGET_SHARE, tight)
    number = np.concatenate([np.arange(k) for k in parts])
    finer = np.repeat(s[:-1], parts) + number * np.repeat(np.diff(s) / parts, parts)
    return np.append(finer, s[-1]), np.repeat(tight, parts)


def _clock(s: Array, x: Array) -> Polynomials:
    """s(t): constant s̈ in each interval."""
    pace, lengths = np.sqrt(x), np.diff(s)
    spans = 2.0 * lengths / (pace[:-1] + pace[1:])
    u = np.diff(x) / (2.0 * lengths)
    return Polynomials(np.concatenate([[0.0], np.cumsum(spans)]), np.stack([s[:-1], pace[:-1], u / 2.0], axis=1))


def _with_active_limits(robot: Robot, worst: float, motion: PathMotion, samples: Array, used: Array) -> PathMotion:
    """The motion with the share of time in which each limit is active."""
    spans = np.repeat(np.diff(motion.clock.times) / len(SAMPLE_SHARES), len(SAMPLE_SHARES))
    flat = used.reshape(samples.size, -1).argmax(axis=1)
    shares = np.bincount(flat, weights=spans, minlength=used.shape[-1] * len(KINDS)) / motion.duration
    n = used.shape[-1]
    texts = [
        f"{KINDS[k // n]} of {robot.coordinate_names[k % n]} {100.0 * shares[k]:.0f} %"
        for k in np.argsort(-shares)
        if shares[k] >= 0.01
    ]
    return PathMotion(motion.path, motion.clock, "active limits, by share of time: " + ", ".join(texts), {"use": worst})


def _infeasibility_message(robot: Robot, path: Polynomials, limits: Limits, s: Array, interval: int, weak: str) -> str:
    """The message where the path cannot be followed, naming the joint and the place where slow motion needs most torque.

    The search for a motion, backwards from the end, may fail far from that place: at the start, if only a motion that arrives
    there fast passes it.
    """
    q, direction, _ = path.inside(s)
    static = robot.torque_ledger(q, 0.0 * q, 0.0 * q).total
    dry = np.sign(direction) * robot.model.coulomb + (direction != 0.0) * robot.model.coulomb_bias
    place, k = np.unravel_index(int(np.argmax(np.abs(static + dry) / limits.torque)), q.shape)
    name, needed, limit = robot.coordinate_names[int(k)], abs(float((static + dry)[place, k])), limits.torque[k]
    if needed > TARGET_SHARE * limit:
        friction = ", with dry friction against the motion," if dry[place, k] else ""
        return (
            f"at {100.0 * s[place] / path.duration:.3g} % of the path the static torque of {name}{friction} is {needed:.4g}, "
            f"its limit is {limit:.4g}: {weak}"
        )
    where = f"{100.0 * s[interval] / path.duration:.3g} % of the path"
    return f"the path cannot be followed beyond {where} within these limits at any speed: {weak}"

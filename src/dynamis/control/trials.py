"""Controller trials: a simulated motion with model errors, its tracking errors, and the stability report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.computed_torque import ComputedTorque
from dynamis.control.feedforward_pd import FeedforwardPD
from dynamis.control.gains import max_diagonal_inertia
from dynamis.control.gravity_compensation import GravityCompensation
from dynamis.control.impedance import Impedance
from dynamis.control.law import ControlLaw, check_with_model
from dynamis.control.operational_space import OperationalSpace, well_conditioned
from dynamis.control.parameter_error import perturbed
from dynamis.control.pd_gravity import PDGravity
from dynamis.control.robust_pd import RobustPD
from dynamis.control.slotine_li import SlotineLi
from dynamis.control.stability import Stability
from dynamis.control.tip_task import check_tip_goal, tip_position
from dynamis.control.tracking import Tracking, tracking, tracking_bound
from dynamis.display import plotted, short, tracking_card
from dynamis.errors import InputError, ReachWarning, printable, unknown_name
from dynamis.kinematics.box import check_robot
from dynamis.kinematics.ik_diagnosis import EXISTS
from dynamis.kinematics.inverse_kinematics import inverse_kinematics
from dynamis.robot import Robot
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.tasks import Position
from dynamis.trajectories.joint_moves import joint_move

Array = npt.NDArray[Any]
JOINT_LAWS = ("gravity-compensation", "pd-gravity", "pd-bounded", "feedforward-pd", "computed-torque", "slotine-li")
TASK_LAWS = ("operational-space", "impedance")
LAWS = (*JOINT_LAWS, *TASK_LAWS)
QUICK = {"pd-bounded": 1e-4, "slotine-li": 5e-4}  # s: integration steps of laws with high gains near rest
POINTS = 401


@dataclass(frozen=True, eq=False, repr=False)
class Trial:
    """A simulated ``motion`` under a ``law``, with its evaluation.

    ``tracking`` is that of the joints or of the tip; ``bound`` the predicted bound of its errors, or None; ``stability`` the
    stability report; ``error`` the relative error of the parameters. ``unreachable`` is the reason why the tip cannot reach
    the goal, empty for a goal that inverse kinematics reaches within the joint limits.
    """

    name: str
    law: ControlLaw
    motion: Trajectory
    tracking: Tracking
    stability: Stability
    bound: Array | None
    error: float
    units: tuple[str, ...]
    unreachable: str = ""

    @property
    def law_name(self) -> str:
        return self.stability.law

    @property
    def beyond_limits(self) -> tuple[str, ...]:
        """The joints whose torques exceeded their limits, which neither law nor simulation enforces."""
        robot = self.motion.robot
        over = self.tracking.peak > robot.limits["effort"]
        return tuple(name for name, x in zip(robot.coordinate_names, over, strict=True) if x)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        track = self.tracking
        rows = [
            {"name": name, "largest_error": float(a), "last_error": float(b), "rms_error": float(c),
             "bound": None if self.bound is None else float(self.bound[k])}
            for k, (name, a, b, c) in enumerate(zip(track.names, track.largest, track.last, track.rms, strict=True))
        ]  # fmt: skip
        limits = self.motion.robot.limits["effort"]
        torques = [
            {"name": name, "peak": float(peak), "limit": float(limit) if np.isfinite(limit) else None}
            for name, peak, limit in zip(self.motion.robot.coordinate_names, track.peak, limits, strict=True)
        ]
        return {
            "robot": self.motion.robot.name, "law": self.name, "parameter_error": self.error, "status": self.motion.status,
            "unreachable": self.unreachable or None, "tracking": rows, "torques": torques,
            "beyond_limits": list(self.beyond_limits), "stability": self.stability.as_dict(),
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot positions, errors and torques, and write a file if ``path`` is given."""
        return plotted("controller_trial", self, path)

    def __repr__(self) -> str:
        worst = int(self.tracking.largest.argmax())
        error = f"error {self.tracking.largest[worst]:.4g} {self.units[worst]} at most"
        return short(f"<Trial of {self.name} on {printable(self.motion.robot.name)}: {error}; {self.stability.verdict}>")

    def _repr_html_(self) -> str:
        sentences = [*filter(None, [self.unreachable]), self.motion.status, self.stability.verdict]
        return tracking_card(self.tracking, f"{self.name} on {self.motion.robot.name}", sentences, self.bound)


def trial(
    robot: Robot, law: str, goal: Any = None, *, start: Any = None, bandwidth: float = 10.0, damping: float = 1.0,
    stiffness: float = 1000.0, duration: float = 2.0, move: float | None = None, error: float = 0.0, seed: int = 0,
    rate: float | None = None, step: float | None = None, seconds: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trial:  # fmt: skip
    """Simulate a move from ``start`` (default: home) to ``goal`` in ``move`` seconds (default: half the duration).

    The parameters of the law's model have the relative error ``error``.

    ``goal`` is a joint position, or a tip position [m] for "operational-space" and "impedance" (with ``stiffness`` [N/m]);
    without it the start is held. "gravity-compensation" takes no goal. A tip position out of reach is simulated with a
    `ReachWarning`. Dry friction is smoothed; ``rate`` [Hz] is checked, not simulated.

    >>> import dynamis as dy
    >>> made = trial(dy.load("planar_2r_melchiorri"), "computed-torque", [0.5, -0.5], error=0.05)
    >>> made.stability.stable, bool((made.tracking.largest < made.bound).all())
    (True, True)
    """
    if law not in LAWS:
        raise unknown_name("law", law, LAWS)
    if goal is not None and law == "gravity-compensation":
        takers = [name for name in LAWS if name != law]
        raise InputError(
            f"{law} has no goal: it cancels gravity and damps the motion. Leave the goal out, or choose a law that moves the "
            f"robot to one: {', '.join(takers[:-1])} or {takers[-1]}"
        )
    check_robot(robot)
    q0 = _vector(start, robot.n, "start", robot.home())
    end = _positive(duration, "duration")
    over = _positive(end / 2.0 if move is None else move, "move")
    model = perturbed(robot, error, seed)
    task = None if law in JOINT_LAWS else tip_position(robot, q0)
    here = q0 if task is None else task.value(robot, q0)
    if task is not None and goal is not None:
        check_tip_goal(goal, task)
    there = _vector(goal, len(here), "goal", here)
    unreachable = "" if task is None or goal is None else why_unreachable(robot, task, there, q0)
    if unreachable:
        warnings.warn(unreachable, ReachWarning, stacklevel=2)
    reference = joint_move(here, there, duration=over)
    made = _make(law, model, reference, task, bandwidth, damping, stiffness)
    motion = simulate(robot, end, q0, controller=made.with_model(model), friction="smooth", method="rk4", points=POINTS,
                      step=QUICK.get(law, 1e-3) if step is None else step, seconds=seconds, progress=progress)  # fmt: skip
    if task is None:
        track, units = tracking(motion, reference), tuple("rad" if c.revolute else "m" for c in robot.model.coordinates)
    else:
        track, units = _of_the_tip(motion, reference, task), ("m",) * task.size
    worst = q0 if task is None else _least_mobile(motion, task)
    report = _checked(made, robot, model, worst, rate, error)
    return Trial(law, made, motion, track, report, _bound(made, model, robot, reference), error, units, unreachable)


def _make(
    law: str, model: Robot, reference: Any, task: Position | None, bandwidth: float, damping: float, stiffness: float
) -> ControlLaw:
    match law:
        case "gravity-compensation":
            return GravityCompensation(damping=2.0 * damping * bandwidth * max_diagonal_inertia(model))
        case "pd-gravity":
            return PDGravity.designed(model, reference, bandwidth=bandwidth, damping=damping)
        case "pd-bounded":
            return RobustPD.designed(model, reference, bandwidth=bandwidth, constants="found", seconds=2.0)
        case "feedforward-pd":
            return FeedforwardPD.designed(model, reference, bandwidth=bandwidth, damping=damping)
        case "slotine-li":
            return SlotineLi.designed(model, reference, bandwidth=bandwidth)
        case "operational-space":
            return OperationalSpace.designed(reference, task, bandwidth=bandwidth, damping=damping)
        case "impedance":
            return Impedance(reference, stiffness, task or Position(), damping, coriolis="cancelled")
    return ComputedTorque.designed(reference, bandwidth=bandwidth, damping=damping)


def _checked(law: Any, robot: Robot, model: Robot, q: Array, rate: float | None, error: float) -> Stability:
    match law:
        case PDGravity():
            return law.check(robot, rate=rate, error=error)
        case ComputedTorque():
            return law.check(robot, rate=rate, model=model)
        case OperationalSpace() | Impedance():
            return law.check(robot, rate=rate, q=q)
    return check_with_model(law, robot, model, rate)


def _bound(law: Any, model: Robot, robot: Robot, reference: Any) -> Array | None:
    match law:
        case PDGravity() | FeedforwardPD() | ComputedTorque():
            return tracking_bound(law.with_model(model), robot, reference)
        case RobustPD():
            return law.ultimate_error()
    return None


def _least_mobile(motion: Trajectory, task: Position) -> Array:
    """The configuration of a motion with the smallest mobility of the tip."""
    shares = [well_conditioned(motion.robot, task, q).found for q in motion.q]
    return np.asarray(motion.q[int(np.argmin(shares))])


def _of_the_tip(motion: Trajectory, reference: Any, task: Position) -> Tracking:
    wanted = np.array([np.asarray(reference.at(float(t))[0], dtype=float) for t in motion.t])
    found = motion.path()[:, list(task.rows)]
    return Tracking(motion.t, wanted - found, wanted, motion.tau, motion.robot.limits["effort"], task.names)


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not (isinstance(value, int | float | np.number) and 0.0 < value < np.inf):
        raise InputError(f"{name} must be a positive number of seconds, got {value!r}")
    return float(value)


def _vector(value: Any, size: int, name: str, otherwise: Array) -> Array:
    if value is None:
        return otherwise
    try:
        given = np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape == (1,) and size > 1:
        given = np.full(size, given[0])
    if given.shape != (size,) or not np.isfinite(given).all():
        raise InputError(f"{name} must be {size} finite numbers, got {np.size(value)}")
    return given


TOLERANCE = 1e-6  # m: far below the tracking error of a controller
RESTARTS = 10  # random starts of the search; its diagnosis of a failure searches from 50 more


def why_unreachable(robot: Robot, task: Position, goal: Array, q0: Array) -> str:
    """The empty string if inverse kinematics reaches the goal of the tip, else a sentence with the distance and a remedy."""
    rows = list(task.rows)
    target = np.array(robot.pose(q0)[:3, 3], dtype=float)
    target[rows] = goal
    weights = np.isin(np.arange(3), rows).astype(float)
    found = inverse_kinematics(robot, target, q0=q0, weights=weights, tolerance=TOLERANCE, restarts=RESTARTS)
    if found.found or EXISTS in found.status:
        return ""
    reason = found.status.partition(": ")[2]
    nearest = robot.pose(found.q)[:3, 3][rows]
    return (
        f"the goal {_point(goal)} is not reachable: {reason}. The nearest position found by inverse kinematics is "
        f"{_point(nearest)}; choose a goal inside the workspace"
    )


def _point(x: Array) -> str:
    return f"({', '.join(f'{value:.4g}' for value in np.round(x, 6) + 0.0)}) m"

"""The results of control laws simulated on one motion."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.chatter import Chatter, chatter
from dynamis.control.comparison_table import html_table, run_card, table
from dynamis.control.null_space_motion import NullSpaceMotion
from dynamis.control.stability import Stability
from dynamis.control.tracking import Tracking
from dynamis.display import plotted, short
from dynamis.errors import printable, unknown_name
from dynamis.model.actuators import Saturated
from dynamis.robot import Robot
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.motions import Circle, Line
from dynamis.tolerances import NEGLIGIBLE, STUCK_ERROR

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class LawRun:
    """The simulated ``trajectory`` of one law, with its ``tracking`` errors in joint or task coordinates of these ``units``.

    ``bound`` is the predicted bound of the errors and ``stability`` the stability report, None where there is none.
    ``null_space`` is the `NullSpaceMotion` of a periodic task motion: costs, drift and null-space velocity; else None.
    ``rate`` [Hz] is the sample rate of the simulated controller, None if it is continuous.
    """

    name: str
    law: Any
    trajectory: Trajectory
    tracking: Tracking
    units: tuple[str, ...]
    bound: Array | None = None
    stability: Stability | None = None
    null_space: NullSpaceMotion | None = None
    rate: float | None = None

    @property
    def law_name(self) -> str:
        """The name of the law in its stability report."""
        return self.name if self.stability is None else self.stability.law

    @property
    def error(self) -> Array:
        """‖e‖ (N) over time."""
        return np.asarray(np.linalg.norm(self.tracking.error, axis=1))

    @property
    def peak_torque(self) -> float:
        """The largest torque of any joint."""
        return float(self.tracking.peak.max())

    @property
    def peak_joint(self) -> str:
        """The joint with the largest torque."""
        return self.trajectory.robot.coordinate_names[int(self.tracking.peak.argmax())]

    @property
    def peak_unit(self) -> str:
        """The unit of ``peak_torque``."""
        return self.trajectory.robot.model.coordinates[int(self.tracking.peak.argmax())].effort_unit

    @property
    def torque_limits(self) -> Array:
        """The limits (n) of the joints, or of actuators with lower ones."""
        robot = self.trajectory.robot
        return np.minimum(robot.limits["effort"], [_effort(robot.actuators.get(name)) for name in robot.coordinate_names])

    @property
    def beyond_limits(self) -> tuple[str, ...]:
        """The joints whose torques exceeded their limits, which neither law nor simulation enforces."""
        robot = self.trajectory.robot
        over = self.tracking.peak > robot.limits["effort"]
        return tuple(name for name, x in zip(robot.coordinate_names, over, strict=True) if x)

    @property
    def beyond_bound(self) -> tuple[str, ...]:
        """The coordinates whose largest errors are not below their predicted bounds."""
        if self.bound is None:
            return ()
        within = self.tracking.largest <= self.bound
        return tuple(name for name, x in zip(self.tracking.names, within, strict=True) if not x)

    @property
    def at_limit(self) -> Array:
        """The share of the motion (n) in which each torque is at its limit."""
        limits = self.torque_limits
        return np.asarray((np.abs(self.tracking.tau) >= (1.0 - NEGLIGIBLE) * limits).mean(axis=0) * np.isfinite(limits))

    @functools.cached_property
    def chatter(self) -> dict[str, Chatter]:
        """The joints whose torques swing back and forth every few samples; none of a continuous law."""
        return {} if self.rate is None else chatter(self.trajectory, self.rate)

    @property
    def chatter_verdict(self) -> str:
        """The same in one sentence, empty where no torque chatters."""
        units = {c.name: c.effort_unit for c in self.trajectory.robot.model.coordinates}
        found = [
            f"{printable(name)} (by up to {x.swing:.4g} {units[name]} with a period of {1e3 * x.period:.3g} ms, in "
            f"{100.0 * x.share:.2g} % of the motion)"
            for name, x in self.chatter.items()
        ]
        return f"the torque chatters at the sample rate: {', '.join(found)}" if found else ""

    @property
    def as_expected(self) -> bool:
        """Whether stability is not refuted and the errors are as predicted.

        Where neither a theorem nor a bound is known, ‖e‖ must stay below the distance from start to goal, which is the error
        of a robot that does not move.
        """
        stable = None if self.stability is None else self.stability.stable
        if stable is False or self.beyond_bound:
            return False
        if stable or self.bound is not None:
            return True
        reference = self.tracking.reference
        return bool(self.error.max() <= np.linalg.norm(reference[-1] - reference[0]))

    @property
    def held_by_friction(self) -> tuple[str, ...]:
        """The joints that static friction holds off the goal at the end; of laws whose goal is one of the joints."""
        names = self.trajectory.robot.coordinate_names
        return stuck_joints(self.trajectory, self.tracking.last) if tuple(self.tracking.names) == tuple(names) else ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        track, robot = self.tracking, self.trajectory.robot
        rows = [
            {"name": name, "largest_error": float(a), "last_error": float(b), "rms_error": float(c),
             "bound": None if self.bound is None else float(self.bound[k])}
            for k, (name, a, b, c) in enumerate(zip(track.names, track.largest, track.last, track.rms, strict=True))
        ]  # fmt: skip
        torques = [
            {"name": name, "peak": float(peak), "limit": float(limit) if np.isfinite(limit) else None, "at_limit": float(share)}
            for name, peak, limit, share in zip(
                robot.coordinate_names, track.peak, self.torque_limits, self.at_limit, strict=True
            )
        ]
        return {
            "law": self.name, "rate": self.rate, "status": self.trajectory.status, "largest_error": float(self.error.max()),
            "peak_torque": self.peak_torque, "peak_joint": self.peak_joint, "tracking": rows, "torques": torques,
            "beyond_limits": list(self.beyond_limits), "beyond_bound": list(self.beyond_bound),
            "held_by_friction": list(self.held_by_friction),
            "chatter": [{"name": name, **vars(x)} for name, x in self.chatter.items()],
            "stability": None if self.stability is None else self.stability.as_dict(),
            **({} if self.null_space is None else self.null_space.as_dict()),
        }  # fmt: skip

    def __repr__(self) -> str:
        worst = int(self.tracking.largest.argmax())
        parts = [
            f"largest error {self.tracking.largest[worst]:.4g} {self.units[worst]}",
            f"peak torque {self.peak_torque:.4g} {self.peak_unit} at {printable(self.peak_joint)}",
            *([self.chatter_verdict] if self.chatter else []),
            *([] if self.stability is None else [self.stability.verdict]),
        ]
        return short(f"<LawRun of {printable(self.name)} on {printable(self.trajectory.robot.name)}: {'; '.join(parts)}>")

    def _repr_html_(self) -> str:
        return run_card(self)


@dataclass(frozen=True, eq=False, repr=False)
class LawComparison:
    """The ``runs`` of several laws on the same ``motion`` of a ``task`` (None: of the joints).

    ``error`` is the relative error of the parameters in the laws' model. ``unreachable`` is the reason why the tip cannot
    reach the goal, empty for a goal that inverse kinematics reaches within the joint limits.
    """

    robot: Robot
    task: Any
    motion: Any
    runs: tuple[LawRun, ...]
    error: float = 0.0
    unreachable: str = ""

    @property
    def periodic(self) -> bool:
        """Whether the motion is one of closed cycles."""
        return isinstance(self.motion, Circle | Line)

    @property
    def complete(self) -> bool:
        """Whether all simulations reached their end."""
        return all(run.trajectory.complete for run in self.runs)

    def __getitem__(self, name: str) -> LawRun:
        for run in self.runs:
            if run.name == name:
                return run
        raise unknown_name("law", name, [run.name for run in self.runs])

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        cycles = {"cycles": self.motion.cycles, "period": self.motion.period} if self.periodic else {}
        return {
            "robot": self.robot.name, "task": None if self.task is None else list(self.task.names), **cycles,
            "parameter_error": self.error, "unreachable": self.unreachable or None,
            "laws": [run.as_dict() for run in self.runs],
        }  # fmt: skip

    def table(self) -> str:
        """One row per law, as text; the lowest cost of each column is marked."""
        return table(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot motion, errors and torques of each law, for periodic motions null-space velocity, drift and costs too."""
        return plotted("law_comparison", self, path)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return html_table(self)

    def __repr__(self) -> str:
        return short(f"<LawComparison of {', '.join(run.name for run in self.runs)} on {printable(self.robot.name)}>")


def stuck_joints(motion: Trajectory, off: Array) -> tuple[str, ...]:
    """The joints with dry friction that are at rest in the end, with an error ``off`` (n) there."""
    robot = motion.robot
    held = (motion.v[-1] == 0.0) & (robot.model.coulomb > 0.0) & (np.abs(off) > STUCK_ERROR)
    return tuple(name for name, x in zip(robot.coordinate_names, held, strict=True) if x)


def torque_limited(motion: Trajectory) -> dict[str, float]:
    """The joints whose actuators were at their torque limits, with the share of the motion."""
    robot = motion.robot
    efforts = {name: _effort(actuator) for name, actuator in robot.actuators.items()}
    shares = {
        name: float((np.abs(motion.tau[:, robot.coordinate_names.index(name)]) >= (1.0 - NEGLIGIBLE) * effort).mean())
        for name, effort in efforts.items()
        if np.isfinite(effort)
    }
    return {name: share for name, share in shares.items() if share > 0.0}


def _effort(actuator: Any) -> float:
    return float(actuator.effort) if isinstance(actuator, Saturated) else np.inf

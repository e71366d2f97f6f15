"""Null-space motion over the cycles of a task motion: costs, joint drift and null-space velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, short
from dynamis.kinematics.tasks import Task
from dynamis.simulation.trajectory import Trajectory
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.redundancy import LAWS, MINIMISED, law_weight

Array = npt.NDArray[Any]
STEADY_GROWTH = 1.25  # factor per cycle: a null-space speed that changes by less is steady


@dataclass(frozen=True, eq=False, repr=False)
class NullSpaceMotion:
    """``costs`` has ∫ ½ τᵀ W τ dt for the W of each redundancy-resolution law, one of which the law ``minimises``.

    ``drift`` (cycles) is ‖q − q(0)‖ after each cycle; ``speed`` (N) is the null-space velocity ‖(1 − J^# J) v‖; ``growth`` is
    the factor by which its root mean square over a cycle changes per cycle. ``stopped`` is the time at which the simulation
    stopped early, or None.
    """

    minimises: str
    costs: Mapping[str, float]
    drift: Array
    speed: Array
    growth: float
    stopped: float | None

    def __str__(self) -> str:
        """Peak, final value and growth of the null-space velocity."""
        if self.stopped is not None:
            return f"stopped at {self.stopped:.3g} s"
        peak, left = float(self.speed.max(initial=0.0)), float(self.speed[-1])
        if peak < 1e-6:  # rad/s or m/s
            return "none"
        speeds = f"peak {peak:.3g}, final {left:.2g}"
        if not np.isfinite(self.growth) or 1.0 / STEADY_GROWTH <= self.growth <= STEADY_GROWTH:
            return speeds
        return f"{speeds}, {'grows' if self.growth > STEADY_GROWTH else 'decays'} by ×{self.growth:.2f} per cycle"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "minimises": self.minimises, "costs": dict(self.costs), "drift": self.drift.tolist(),
            "null_speed_peak": float(self.speed.max(initial=0.0)), "null_speed_end": float(self.speed[-1]),
            "growth": float(self.growth) if np.isfinite(self.growth) else None, "null_motion": str(self),
        }  # fmt: skip

    def __repr__(self) -> str:
        return short(f"<NullSpaceMotion: {self}>")

    _repr_html_ = as_table


def null_space_motion(made: Trajectory, task: Task, motion: Circle | Line, law: Any) -> NullSpaceMotion:
    """Costs, drift and null-space velocity of a simulated periodic task motion."""
    J = np.array([task.jacobian(made.robot, q) for q in made.q])
    unseen = made.v - np.einsum("knm,kml,kl->kn", np.linalg.pinv(J), J, made.v)
    speed = np.linalg.norm(unseen, axis=1)
    M = made.robot.mass_matrix(made.q)
    costs = {}
    for name in LAWS:
        W = np.array([law_weight(name, matrix) for matrix in M])
        costs[name] = float(np.trapezoid(0.5 * np.einsum("ki,kij,kj->k", made.tau, W, made.tau), made.t))
    ends = np.flatnonzero(np.isclose(made.t % motion.period, 0.0) | np.isclose(made.t % motion.period, motion.period))[1:]
    drift = np.array([np.linalg.norm(made.robot.difference(made.q[0], made.q[k])) for k in ends])
    minimises = MINIMISED.get(law, "user-defined") if isinstance(law, str) else "user-defined"
    cycle = int(ends[0]) if len(ends) else len(made.t)
    return NullSpaceMotion(minimises, costs, drift, speed, _growth(speed, cycle), None if made.complete else float(made.t[-1]))


def _growth(speed: Array, cycle: int) -> float:
    """The factor per cycle of the root mean square, by linear regression of its logarithm."""
    means = [float(np.sqrt(np.mean(speed[k : k + cycle + 1] ** 2))) for k in range(0, len(speed) - cycle, cycle)]
    if len(means) < 2 or min(means) <= 0.0:
        return float("nan")
    return float(np.exp(np.polyfit(np.arange(len(means)), np.log(means), 1)[0]))

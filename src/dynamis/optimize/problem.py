"""The problem of an optimal motion: dynamics, start, goal, weights and bounds; and its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.display import counted, plotted, short
from dynamis.errors import InputError, printable
from dynamis.kinematics.collision_check import CollisionCheck
from dynamis.optimize.avoidance import Avoidance
from dynamis.optimize.costs import GoalCost
from dynamis.optimize.detours import Detours
from dynamis.optimize.steps import Step
from dynamis.robot import Robot
from dynamis.robot.checks import torque_limits
from dynamis.scalar import Node, maximum, minimum
from dynamis.tolerances import NEGLIGIBLE
from dynamis.trajectories.motion import value_of_piece

Array = npt.NDArray[Any]
SPEED_SCALE = 0.3  # s: an error of 1 rad/s at the goal counts as one of 0.3 rad
GOAL_WEIGHT = 1.0  # of constraints at the start
MAX_CHOSEN = 10_000  # numbers among which compiled code chooses by the time: it takes seconds to compile
MARGIN = 100.0  # tolerances: distance from a bound in which its curvature counts


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion:
    """A motion of N steps: ``t`` (N + 1), ``q`` (N + 1, nq), ``v`` (N + 1, n), torques ``tau`` (N, n) held during each step.

    ``converged`` (also the truth value) states whether goal and limits are kept, the cost has stopped decreasing, and the
    motion, simulated with its ``controller`` and shorter steps, ends near the goal; ``status`` says so in words.
    ``goal_error`` is the largest error at the goal: of a position in rad or m, of a velocity times 0.3 s; ``simulated_error``
    that of the simulated motion. ``limit_error`` is the largest distance beyond a limit of positions or velocities.
    ``gains`` (N, n, 2n) are the feedback gains K of τ = τ̄ + K (x − x̄), zero for collocation. ``history`` has the cost after
    each accepted iteration, penalties included.
    ``clearance`` is that of `collision.Scene.along`, also between the nodes, if collisions were to be avoided: the smaller one
    of the motion and of the simulated one.
    """

    robot: Robot
    t: Array
    q: Array
    v: Array
    tau: Array
    gains: Array
    cost: float
    goal_error: float
    limit_error: float
    iterations: int
    converged: bool
    status: str
    history: Array
    clearance: Any = None
    simulated_error: float = np.nan

    def __bool__(self) -> bool:
        return self.converged

    def __repr__(self) -> str:
        name = printable(self.robot.name)
        return short(
            f"<OptimalMotion of {name}, {self.t[-1]:g} s, {counted(len(self.tau), 'step')}, cost "
            f"{self.cost:.4g}, {self.status}>"
        )

    def controller(self, t: Any, q: Array, v: Array) -> Array:
        """The torques of the motion with its feedback at any time, as a controller for `simulate` and `rollouts`.

        Between the nodes the reference of the feedback is interpolated; behind the end it is the last state.
        """
        h, effort = self.t[1] - self.t[0], torque_limits(self.robot)
        steps = self.q[:-1], self._changes[0], self.v[:-1], self._changes[1], self.tau, self.gains
        if isinstance(t, Node):
            if (count := sum(x.size for x in steps)) > MAX_CHOSEN:
                raise InputError(
                    f"the {counted(len(self.tau), 'step')} of the motion have {count} numbers, and compiled code chooses among "
                    f"{MAX_CHOSEN} by the time at most: use fewer nodes"
                )
            start, q_k, dq, v_k, dv, tau_k, K = (value_of_piece(t + NEGLIGIBLE * h, self.t, x) for x in (self.t[:-1], *steps))
        else:
            k = min(max(int(t / h + NEGLIGIBLE), 0), len(self.tau) - 1)
            start, q_k, dq, v_k, dv, tau_k, K = (x[k] for x in (self.t, *steps))
        part = minimum(maximum((t - start) / h, 0.0), 1.0)
        q_ref = self.robot.integrate(q_k, part * dq)
        off = np.concatenate([self.robot.difference(q_ref, q), v - v_k - part * dv])
        return np.asarray(minimum(maximum(tau_k + K @ off, -effort), effort))

    @cached_property
    def _changes(self) -> tuple[Array, Array]:
        """Of positions and velocities in each step."""
        return self.robot.difference(self.q[:-1], self.q[1:]), np.diff(self.v, axis=0)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot positions, velocities, torques with their limits, and the cost over the iterations."""
        return plotted("optimal_motion", self, path)


def fitted(problem: Problem, guess: OptimalMotion) -> OptimalMotion:
    """A motion of the same robot with the nodes and the duration of a problem, interpolated where it has others."""
    robot, own, t = problem.step.robot, guess.robot, problem.times
    if (own.n, own.nq) != (robot.n, robot.nq):
        raise InputError(
            f"guess is a motion of a robot with {counted(own.n, 'coordinate')}, expected one of {printable(robot.name)} with "
            f"{robot.n}"
        )
    count, pace = len(guess.tau), guess.t[-1] / t[-1]
    if count == problem.nodes and abs(pace - 1.0) < NEGLIGIBLE:
        return guess
    s = np.linspace(0.0, count, len(t))
    k = np.minimum(s.astype(int), count - 1)
    part = (s - k)[:, None]
    q = robot.integrate(guess.q[k], part * robot.difference(guess.q[k], guess.q[k + 1]))
    v = pace * (guess.v[k] + part * (guess.v[k + 1] - guess.v[k]))
    held = np.minimum(((np.arange(len(t) - 1) + 0.5) * count / (len(t) - 1)).astype(int), count - 1)  # at half a step
    return replace(guess, t=t, q=q, v=v, tau=guess.tau[held], gains=guess.gains[held])


class Quintic(NamedTuple):
    """A motion from rest to rest along a path, with the torques of the steps between its nodes."""

    q: Array
    v: Array
    tau: Array


def quintic(step: Step, start: tuple[Array, Array], nodes: int, path: Callable[[Array], Array]) -> Quintic:
    """At the nodes of a motion along a path, from 0 to 1; each velocity is that of the step before."""
    robot, h = step.robot, step.h
    s = np.linspace(0.0, 1.0, nodes + 1)
    q = path(s**3 * (10.0 - 15.0 * s + 6.0 * s * s))
    v = np.concatenate([start[1][None], robot.difference(q[:-1], q[1:]) / h])
    return Quintic(q, v, step.torques(q[:-1], v[:-1], np.diff(v, axis=0) / h))


class Problem:
    """What an optimal motion has to do: dynamics, start, goal, weights and bounds."""

    def __init__(
        self, step: Step, start: tuple[Array, Array], goal: tuple[Array, Array], nodes: int, weights: Mapping[str, float],
        limits: bool, tolerance: float, collision: CollisionCheck | None = None,
    ) -> None:  # fmt: skip
        self.step, self.start, self.goal, self.nodes, self.tolerance = step, start, goal, nodes, tolerance
        bounds, n = step.robot.limits, step.robot.n
        self.high = torque_limits(step.robot)[step.columns]
        if (self.high <= 0).any():
            k = step.columns[int(np.argmin(self.high))]
            raise InputError(f"the torque limit of {step.robot.coordinate_names[k]} is zero: it cannot be actuated")
        self.low = -self.high
        # without limits, the largest values of a smooth motion of this duration are the units of the cost
        self.quintic = quintic(step, start, nodes, lambda s: step.robot.interpolate(start[0], goal[0], s))
        torque, speed = (max(float(np.abs(x).max()), 1e-9) for x in (self.quintic.tau, self.quintic.v))
        # only the ratio of the weights matters to the motion, and the constraints have weights of their own
        self.scale = max(weights.values())
        self.r = weights["effort"] / self.scale / np.where(np.isfinite(self.high), self.high, torque) ** 2
        self.w = weights["velocity"] / self.scale / np.where(np.isfinite(bounds["velocity"]), bounds["velocity"], speed) ** 2
        unbounded = np.full(2 * n, np.inf)
        self.x_high = np.concatenate([bounds["upper"], bounds["velocity"]]) if limits else unbounded
        self.x_low = np.concatenate([bounds["lower"], -bounds["velocity"]]) if limits else -unbounded
        self.collision, self.times = collision, step.h * np.arange(nodes + 1)
        cost = self.cost()
        for (q, v), name in ((start, "start"), (goal, "goal")):
            x = cost.positions(q, v)
            beyond = np.maximum(x - self.x_high, self.x_low - x)
            if beyond.max(initial=-np.inf) > tolerance:
                k = int(np.argmax(beyond))
                what = "position" if k < n else "velocity"
                degrees = k < n and step.robot.model.coordinates[k].looks_like_degrees(float(x[k]))
                cure = (
                    f"if these are degrees, give numpy.deg2rad({name})"
                    if degrees
                    else f"choose another {name}, or use limits=False"
                )
                raise InputError(
                    f"the {what} of {step.robot.coordinate_names[k % n]} at the {name}, {x[k]:.4g}, is outside its limits "
                    f"{self.x_low[k]:.4g} … {self.x_high[k]:.4g}; {cure}"
                )
        self._check_duration()
        if cost.avoidance is not None:
            cost.avoidance.check_ends(start[0], goal[0])

    def _check_duration(self) -> None:
        """Refuse a duration in which a joint does not reach its goal with its largest velocity."""
        robot, duration, n = self.step.robot, self.times[-1], self.step.robot.n
        distance = np.abs(robot.difference(self.start[0], self.goal[0]))
        distance[[c.q_index is None for c in robot.model.coordinates]] = 0.0
        least = np.maximum(distance - self.tolerance, 0.0) / self.x_high[n:]
        k = int(np.argmax(least))
        if least[k] > duration:
            raise InputError(
                f"{robot.coordinate_names[k]} has to move by {distance[k]:.4g} and its velocity limit is "
                f"{self.x_high[n + k]:.4g}: the duration must be at least {distance[k] / self.x_high[n + k]:.4g} s, got "
                f"{duration:.4g} s; allow a longer duration, or use limits=False"
            )

    def cost(self) -> GoalCost:
        return GoalCost(
            self.step, self.goal, self.r, self.w, self.x_low, self.x_high, SPEED_SCALE, GOAL_WEIGHT,
            MARGIN * self.tolerance, None if self.collision is None else Avoidance(self.collision, self.tolerance),
        )  # fmt: skip

    def first_motion(self) -> Quintic:
        """The quintic along the straight way, or one around what is in the way."""
        if self.collision is None:
            return self.quintic
        n = self.step.robot.n
        detours = Detours(self.collision, self.start[0], self.goal[0], self.x_low[:n], self.x_high[:n])
        return quintic(self.step, self.start, self.nodes, detours.path)

    def running_cost(self, v: Array, u: Array) -> float:
        """The cost without constraints."""
        return 0.5 * self.scale * self.step.h * float((self.r * u * u).sum() + (self.w * v[:-1] ** 2).sum())

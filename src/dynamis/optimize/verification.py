"""Simulation of an optimal motion with shorter steps than those it was found with."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.time_stepper import Table, march
from dynamis.robot import Robot

Array = npt.NDArray[Any]
FINE_STEP = 1e-3  # s
SUBSTEPS = 4, 64  # least and largest number per step of the motion
CHECKED_PER_STEP = 4  # states per step of the motion whose distances are measured
MAX_MISSED = 0.1  # rad or m; velocities times SPEED_SCALE: a simulated motion that ends farther from its goal misses it


class Simulated(NamedTuple):
    """A motion with its feedback in steps of ``h``: its states, and the error at the goal (2n), times ``scale``."""

    t: Array
    q: Array
    v: Array
    h: float
    error: Array
    scale: Array

    @property
    def largest(self) -> float:
        """The largest error at the goal, infinite where the motion diverges."""
        found = float(np.abs(self.error).max(initial=0.0))
        return found if math.isfinite(found) else math.inf

    @property
    def reaches_goal(self) -> bool:
        return self.largest <= MAX_MISSED

    def ends(self, robot: Robot) -> str:
        """How far from the goal it ends, in words."""
        with_steps = f"simulated with its controller and steps of {1e3 * self.h:.2g} ms it"
        if not math.isfinite(self.largest):
            return f"{with_steps} diverges"
        off = np.abs(self.error) / self.scale
        k, j = int(np.argmax(off[: robot.n])), int(np.argmax(off[robot.n :]))
        units = ["rad" if robot.model.coordinates[x].revolute else "m" for x in (k, j)]
        return f"{with_steps} ends {off[k]:.2g} {units[0]} and {off[robot.n + j]:.2g} {units[1]}/s from the goal"


def simulated(problem: Any, sweeps: Any, q: Array, v: Array, u: Array, gains: Array) -> Simulated:
    """The motion of the controller of an `OptimalMotion`: its feedback law with the reference between the nodes."""
    step, N = problem.step, len(u)
    robot = step.robot
    count = min(max(math.ceil(step.h / FINE_STEP), SUBSTEPS[0]), SUBSTEPS[1])
    k = np.repeat(np.arange(N), count)
    part = np.tile(np.arange(count) / count, N)[:, None]
    q_ref, v_ref = reference(robot, q, v, k, part)
    row = np.concatenate([q_ref, v_ref, u[k], np.zeros_like(u[k]), gains.reshape(N, -1)[k]], axis=1)
    start = np.concatenate([*problem.start, np.zeros(step.inputs)])
    h = step.h / count
    inputs = [np.zeros((1, 1)), problem.low, problem.high, Table(row, 1)]
    with np.errstate(all="ignore"):
        states = march(sweeps.forwards, start[None], inputs, t=0.0, h=h, reports=len(row))
    states = np.concatenate([start[None, None], states])[:, 0]
    q, v = states[:, : robot.nq], states[:, robot.nq : robot.nq + robot.n]
    cost = problem.cost()
    return Simulated(h * np.arange(len(states)), q, v, h, cost.final_error(q[-1], v[-1]), cost.scale)


def reference(robot: Robot, q: Array, v: Array, k: Array, part: Array) -> tuple[Array, Array]:
    """States at the parts (…, 1), from 0 to 1, of the steps k of a motion."""
    return robot.integrate(q[k], part * robot.difference(q[k], q[k + 1])), v[k] + part * (v[k + 1] - v[k])


def sampled(motion: Simulated, nodes: int) -> tuple[Array, Array]:
    """(t, q) of states at regular times, a few for each step between the nodes; the last one is included."""
    stride = max((len(motion.t) - 1) // (nodes * CHECKED_PER_STEP), 1)
    return motion.t[::stride], motion.q[::stride]

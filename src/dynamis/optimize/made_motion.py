"""The result of a search for an optimal motion, with its status in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.optimize.problem import OptimalMotion, Problem
from dynamis.optimize.verification import Simulated, sampled
from dynamis.robot.checks import torque_limits

Array = npt.NDArray[Any]


def made_motion(
    problem: Problem, q: Array, v: Array, u: Array, gains: Array, iterations: int, converged: bool, history: Array,
    defect: float = 0.0, infeasible: bool = False, exhausted: bool = False, fine: Simulated | None = None,
    too_near: bool = False,
) -> OptimalMotion:  # fmt: skip
    """The result, with its status in words; ``defect`` is the largest violation of the equations of motion.

    ``fine`` is the simulated motion with feedback; where it misses the goal, the result has not converged. ``exhausted``: the
    search was ended by the number of iterations. ``too_near``: a motion whose nodes were free collided. ``infeasible``: the
    solver has found that no motion near this one meets all constraints.
    """
    step, n = problem.step, problem.step.robot.n
    cost, t = problem.cost(), problem.times
    goal_error, limit_error, _ = cost.violation(q, v)
    clearance = None if cost.avoidance is None else cost.avoidance.along(t, q)
    tau, K = np.zeros((len(u), n)), np.zeros((len(u), n, 2 * n))
    tau[:, step.columns], K[:, step.columns] = u, gains
    static = _static_torques(problem)
    if cost.avoidance is not None and fine is not None and fine.reaches_goal:
        clearance = min(clearance, cost.avoidance.along(*sampled(fine, len(u))), key=lambda x: x.distance)
    status = f"converged after {counted(iterations, 'iteration')}"
    if converged and fine is not None:
        ends = fine.ends(step.robot)
        if not fine.reaches_goal:
            converged = False
            few = f"{len(u)} steps of {step.h:.3g} s are too long, use more nodes="
            status = f"not converged: the search {status.replace('converged', 'ended')}, but {ends}; {few}{static}"
        else:
            status = f"{status}; {ends}{static}"
    elif converged:
        status += static
    else:
        more = "more iterations, " if exhausted else ""
        cure = f"allow {more}a longer duration, or start from a better guess"
        saturated = np.mean(np.abs(u) > 0.999 * problem.high, axis=0)
        k = int(np.argmax(saturated))
        if saturated[k] > 0.3:
            cure = _cure_of_saturation(problem, q, k, 100.0 * saturated[k], more)
        if clearance is not None and not clearance.free:
            cure = f"{clearance.status}: start from a motion around it (guess=), or allow a longer duration"
        elif too_near:
            cure = (
                "simulated with its controller, the motion came too near between its nodes, although more was kept at them: "
                f"use more nodes=, {more}or a longer duration"
            )
        broken = f"the equations of motion are violated by {defect:.2g}, " if defect > problem.tolerance else ""
        after = f"after {counted(iterations, 'iteration')}"
        begin = (
            f"infeasible: no motion near that {after} keeps dynamics, goal and limits"
            if infeasible
            else f"not converged {after}"
        )
        status = f"{begin}: {broken}goal missed by {goal_error:.2g}, limits by {limit_error:.2g}; {cure}"
    return OptimalMotion(
        step.robot, t, q, v, tau, K, problem.running_cost(v, u), goal_error, limit_error, iterations,
        converged, status, problem.scale * history, clearance, np.nan if fine is None else fine.largest,
    )  # fmt: skip


def _cure_of_saturation(problem: Problem, q: Array, k: int, share: float, more: str) -> str:
    """What to do where the torque of actuated coordinate k is at its limit; more time lowers torques to static ones only."""
    robot, place, limit = problem.step.smooth, problem.step.columns[k], problem.high[k]
    found = f"{robot.coordinate_names[place]} is at its torque limit of {limit:.4g} during {share:.0f} % of the motion"
    way = np.stack([*q[np.isfinite(q).all(axis=-1)], problem.start[0], problem.goal[0]])
    rest = np.zeros((len(way), robot.n))
    static = float(np.abs(robot.torque_ledger(way, rest, rest).total[:, place]).max())
    if static > limit:
        return (
            f"{found}, and its static torque on the way is up to {static:.4g}: raise the limit (robot.replace(limits=…)), "
            f"allow {more}a longer duration to swing there, or start from a better guess"
        )
    return f"{found}: allow {more}{'or ' * bool(more)}a longer duration"


def _static_torques(problem: Problem) -> str:
    """The end at rest that cannot be held within the torque limits, in words; empty if there is none."""
    robot, n = problem.step.robot, problem.step.robot.n
    if len(problem.step.columns) < n:
        return ""
    limits = torque_limits(robot)
    for (q, v), name in ((problem.start, "start"), (problem.goal, "goal")):
        if not v.any():
            static = np.abs(robot.torque_ledger(q, v, v).total)
            k = int(np.argmax(static / limits))
            if static[k] > limits[k] + robot.model.coulomb[k]:
                return (
                    f". The {name} cannot be held: the static torque of {robot.coordinate_names[k]} there is {static[k]:.4g}, "
                    f"its limit {limits[k]:.4g}"
                )
    return ""

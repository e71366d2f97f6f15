"""The optimal motion of an arm from hanging to upright in 100 steps, against Crocoddyl's Box-FDDP from the same first motion.

Crocoddyl has the goal as a penalty of weight 1000 and no limits of positions and velocities, as ours with ``limits=False``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks.offers import reason
from benchmarks.options import Options
from dynamis.compiler.kernel import wait_for_compiler

Array = npt.NDArray[Any]
HANGING, UPRIGHT = np.array([0.0, np.pi / 2, 0, 0, 0, 0]), np.array([0.0, -np.pi / 2, 0, 0, 0, 0])
NODES, TURNS, GOAL_WEIGHT = 100, 9, 1000.0


def measure(options: Options) -> dict[str, Any]:
    options.tell("ur5e: optimal control")
    robot = dy.load("ur5e")
    contenders: dict[str, Callable[[], dict[str, Any]]] = {
        "ours": lambda: _ours(robot, limits=True), "ours without limits": lambda: _ours(robot, limits=False)
    }  # fmt: skip
    first, why = _ours(robot, limits=False), None
    try:
        contenders["crocoddyl"] = _crocoddyl(robot, first["duration"])
    except Exception as error:
        why = reason(error)
    for run in contenders.values():
        run()
    wait_for_compiler()
    least = dict.fromkeys(contenders, np.inf)
    rows: dict[str, dict[str, Any]] = {}
    for _ in range(TURNS):
        for name, run in contenders.items():
            start = time.process_time()
            rows[name] = run()
            least[name] = min(least[name], time.process_time() - start)
    return {
        "rows": [{"solver": name, "ms": 1e3 * least[name], **row} for name, row in rows.items()],
        "nodes": NODES,
        "why": why,
    }


def _ours(robot: dy.Robot, *, limits: bool) -> dict[str, Any]:
    best = dy.optimize.trajectory(robot, HANGING, UPRIGHT, nodes=NODES, limits=limits)
    return {
        "cost": best.cost, "goal_error": best.goal_error, "iterations": best.iterations, "converged": best.converged,
        "duration": float(best.t[-1]),
    }  # fmt: skip


def _crocoddyl(robot: dy.Robot, duration: float) -> Callable[[], dict[str, Any]]:
    """Box-FDDP with Crocoddyl's own forward dynamics, from the quintic that ours begins with."""
    import crocoddyl
    import pinocchio

    n, h = robot.n, duration / NODES
    with tempfile.TemporaryDirectory() as folder:
        robot.write(path := Path(folder) / "robot.urdf")
        model = pinocchio.buildModelFromUrdf(str(path))
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    torque, speed = robot.limits["effort"], robot.limits["velocity"]

    def term(weights: Array, residual: Any) -> Any:
        return crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelWeightedQuad(weights), residual)

    running, final = crocoddyl.CostModelSum(state), crocoddyl.CostModelSum(state)
    running.addCost("effort", term(1.0 / torque**2, crocoddyl.ResidualModelControl(state)), 1.0)
    moving = np.concatenate([np.zeros(n), 0.1 / speed**2])
    running.addCost("velocity", term(moving, crocoddyl.ResidualModelState(state, np.zeros(2 * n))), 1.0)
    goal, start = np.concatenate([UPRIGHT, np.zeros(n)]), np.concatenate([HANGING, np.zeros(n)])
    scale = np.concatenate([np.ones(n), np.full(n, 0.3**2)])
    final.addCost("goal", term(scale, crocoddyl.ResidualModelState(state, goal)), GOAL_WEIGHT)
    dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, running)
    data, probe = dynamics.createData(), np.random.default_rng(0).normal(size=(3, n))
    dynamics.calc(data, np.concatenate(probe[:2]), probe[2])
    if not np.allclose(data.xout, robot.forward_dynamics(*probe)):
        raise ValueError("its forward dynamics are wrong with this version of Pinocchio")
    node = crocoddyl.IntegratedActionModelEuler(dynamics, h)
    node.u_lb, node.u_ub = -torque, torque
    end = crocoddyl.IntegratedActionModelEuler(crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, final), 0.0)
    problem = crocoddyl.ShootingProblem(start, [node] * NODES, end)
    s = np.linspace(0.0, 1.0, NODES + 1)[:, None]
    q = HANGING + (UPRIGHT - HANGING) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    v = np.vstack([np.zeros(n), np.diff(q, axis=0) / h])
    u = list(robot.inverse_dynamics(q[:-1], v[:-1], np.diff(v, axis=0) / h))
    x = list(np.hstack([q, v]))

    def run() -> dict[str, Any]:
        solver = crocoddyl.SolverBoxFDDP(problem)
        converged = solver.solve(x, u, 300, False)
        states, inputs = np.array(solver.xs), np.array(solver.us)
        cost = 0.5 * h * float(((inputs / torque) ** 2).sum() + 0.1 * ((states[:-1, n:] / speed) ** 2).sum())
        error = float(np.abs((states[-1] - goal) * np.sqrt(scale)).max())
        return {
            "cost": cost,
            "goal_error": error,
            "iterations": int(solver.iter),
            "converged": bool(converged),
            "duration": duration,
        }

    return run

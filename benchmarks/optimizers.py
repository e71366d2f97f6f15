"""Derivatives as optimisers use them: an optimal control problem of a Panda in CasADi against adam, gradients in JAX against frax.

The problem: from rest to rest in 1 s and 30 steps of semi-implicit Euler, least ∫ (τ/10)² + v² dt, solved by IPOPT with exact
Hessians; torques follow from the accelerations by inverse dynamics, or accelerations from the torques by forward dynamics. The
gradient is that of ½ ‖a − a*‖² with respect to q, v and τ, a the accelerations of the forward dynamics, for a batch.
"""

from __future__ import annotations

import importlib
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
from benchmarks.xla import jax_in_double

Array = npt.NDArray[Any]
NODES, DURATION, BATCH, TURNS = 30, 1.0, 4096, 5


def measure(options: Options) -> dict[str, Any]:
    options.tell("panda: CasADi and JAX")
    robot = dy.load("panda").replace(friction=0.0)
    why: dict[str, str] = {}
    rows = []
    for name in ("inverse_dynamics", "forward_dynamics"):
        made = {
            "ours": lambda name=name: _solver(robot, robot.casadi(name), name),
            "adam": lambda name=name: _solver(robot, _adam(robot, name), name),
        }
        rows += _contest(made, why, f"CasADi, {name.replace('_', ' ')}")
    gradients = {
        "ours": lambda: _gradient(robot, robot.jax("forward_dynamics")), "frax": lambda: _gradient(robot, _frax(robot))
    }  # fmt: skip
    return {"rows": rows + _contest(gradients, why, f"JAX, gradients of {BATCH} states"), "why": why}


def _contest(made: dict[str, Callable[[], Callable[[], float]]], why: dict[str, str], tool: str) -> list[dict[str, Any]]:
    """The least processor time of each, in turns, and the value that all should agree on."""
    runs = {}
    for name, make in made.items():
        try:
            runs[name] = make()
            runs[name]()
        except Exception as error:
            why[f"{tool}, {name}"] = reason(error)
            runs.pop(name, None)
    least, value = dict.fromkeys(runs, np.inf), {}
    for _ in range(TURNS):
        for name, run in runs.items():
            start = time.process_time()
            value[name] = run()
            least[name] = min(least[name], time.process_time() - start)
    return [{"tool": tool, "library": name, "ms": 1e3 * least[name], "value": value[name]} for name in runs]


# an optimal control problem in CasADi


def _adam(robot: dy.Robot, name: str) -> Any:
    casadi: Any = importlib.import_module("casadi")
    gravity = np.concatenate([np.asarray(robot.description.gravity, dtype=float), np.zeros(3)])
    library: Any = importlib.import_module("adam.casadi")
    adam = library.KinDynComputations(_urdf(robot), list(robot.coordinate_names), gravity=gravity)
    adam.set_frame_velocity_representation(importlib.import_module("adam").Representations.BODY_FIXED_REPRESENTATION)
    q, v, x = (casadi.SX.sym(name, robot.n) for name in ("q", "v", "x"))
    M, h = adam.mass_matrix(np.eye(4), q)[6:, 6:], adam.bias_force(np.eye(4), q, np.zeros(6), v)[6:]
    return casadi.Function("adam", [q, v, x], [M @ x + h if name == "inverse_dynamics" else casadi.solve(M, x - h)])


def _solver(robot: dy.Robot, dynamics: Any, name: str) -> Callable[[], float]:
    casadi: Any = importlib.import_module("casadi")
    n, h = robot.n, DURATION / NODES
    start, goal = robot.home(), robot.home() + 0.3 * np.array([1, -1, 1, 1, -1, 1, -1])
    way = np.linspace(start, goal, NODES + 1)
    opti = casadi.Opti()
    q, v, free = opti.variable(n, NODES + 1), opti.variable(n, NODES + 1), opti.variable(n, NODES)
    found = dynamics.map(NODES)(q[:, :-1], v[:, :-1], free)
    a, tau = (free, found) if name == "inverse_dynamics" else (found, free)
    opti.subject_to(v[:, 1:] == v[:, :-1] + h * a)
    opti.subject_to(q[:, 1:] == q[:, :-1] + h * v[:, 1:])
    for k, at in ((0, start), (NODES, goal)):
        opti.subject_to(q[:, k] == at)
        opti.subject_to(v[:, k] == 0)
    opti.minimize(h * (casadi.sumsqr(tau / 10.0) + casadi.sumsqr(v)))
    opti.set_initial(q, way.T)
    if name == "forward_dynamics":
        opti.set_initial(tau, robot.gravity(way[:-1]).T)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-8})
    return lambda: float(opti.solve().value(opti.f))


# gradients in JAX


def _frax(robot: dy.Robot) -> Callable[..., Any]:
    library: Any = importlib.import_module("frax.core.robot")
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "robot.urdf").write_text(_urdf(robot), encoding="utf-8")
        other = library.Robot(str(path), joint_ordering=list(robot.coordinate_names), floating_base=None)
    return lambda q, v, tau: other.forward_dynamics(q, v, tau, None)


def _gradient(robot: dy.Robot, forward: Callable[..., Any]) -> Callable[[], float]:
    jax = jax_in_double()
    rng = np.random.default_rng(0)
    given = [robot.random(rng, BATCH), *rng.normal(size=(3, BATCH, robot.n))]
    held = [jax.numpy.asarray(x) for x in given]

    def cost(q: Any, v: Any, tau: Any, goal: Any) -> Any:
        return 0.5 * ((forward(q, v, tau) - goal) ** 2).sum()

    call = jax.jit(jax.vmap(jax.grad(cost, argnums=(0, 1, 2))))
    return lambda: float(np.linalg.norm(np.concatenate([np.asarray(x.block_until_ready()) for x in call(*held)])))


def _urdf(robot: dy.Robot) -> str:
    with tempfile.TemporaryDirectory() as folder:
        robot.write(path := Path(folder) / "robot.urdf")
        return path.read_text(encoding="utf-8")

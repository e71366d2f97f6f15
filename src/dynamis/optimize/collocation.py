"""Direct collocation: all nodes of a motion at once, solved by IPOPT through CasADi.

Trapezoidal rule in positions and velocities; torques follow from inverse dynamics at the nodes, so that no mass matrix is
inverted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, MissingExtraError
from dynamis.optimize.made_motion import made_motion
from dynamis.optimize.problem import OptimalMotion, Problem, fitted

Array = npt.NDArray[Any]
INFEASIBLE = ("Infeasible_Problem_Detected", "Restoration_Failed", "Not_Enough_Degrees_Of_Freedom")  # of IPOPT


def collocate(
    problem: Problem, guess: Any, iterations: int, progress: Callable[[int, float, float], None] | None
) -> OptimalMotion:
    """The optimal motion of a problem on its nodes."""
    try:
        import casadi
    except ImportError:
        raise MissingExtraError("method='collocation' requires CasADi: pip install 'dynamis[casadi]'") from None
    step, N, robot = problem.step, problem.nodes, problem.step.smooth
    n, h = robot.n, problem.step.h
    if robot.nq != n:
        raise InputError('method="collocation" is for robots without quaternions; use method="ilqr"')
    if guess is not None and not isinstance(guess, OptimalMotion):
        raise InputError(f"guess of a collocation must be an OptimalMotion of this robot, got {type(guess).__name__}")
    first: Any = problem.quintic if guess is None else fitted(problem, guess)

    opti = casadi.Opti()
    q, v, a = (opti.variable(n, N + 1) for _ in range(3))
    torque = robot.casadi("inverse_dynamics").map(N + 1)(q, v, a)
    if robot is not step.robot:
        model = step.robot.model
        torque = torque + casadi.DM(model.coulomb) * casadi.tanh(v / step.friction_velocity) + casadi.DM(model.coulomb_bias)
    opti.subject_to(q[:, 1:] == q[:, :-1] + 0.5 * h * (v[:, 1:] + v[:, :-1]))
    opti.subject_to(v[:, 1:] == v[:, :-1] + 0.5 * h * (a[:, 1:] + a[:, :-1]))
    for at, (q_end, v_end) in ((0, problem.start), (N, problem.goal)):
        opti.subject_to(q[:, at] == q_end)
        opti.subject_to(v[:, at] == v_end)
    _bound(opti, problem, q, v, torque)
    # the trapezoidal rule for the cost as well: half the weight at both ends
    share = np.ones(N + 1)
    share[[0, -1]] = 0.5
    used = torque[step.columns, :]
    cost = 0.5 * h * casadi.sum1((casadi.DM(problem.r).T @ used**2 + casadi.DM(problem.w).T @ v**2) @ casadi.DM(share))
    opti.minimize(cost)
    opti.set_initial(q, first.q.T)
    opti.set_initial(v, first.v.T)
    opti.set_initial(a, np.gradient(first.v, h, axis=0).T)
    history: list[float] = []
    reached = casadi.Function("reached", [opti.x], [q[:, N]])

    def noted(x: Any, value: Any) -> None:
        history.append(float(value))
        if progress is not None:
            progress(len(history), history[-1], float(np.abs(reached(x).full().ravel() - problem.goal[0]).max()))

    report = _iteration_callback(casadi, opti, noted)
    options: dict[str, Any] = {
        "print_level": 0,
        "sb": "yes",
        "max_iter": iterations,
        "tol": 1e-8,
        "constr_viol_tol": problem.tolerance,
    }
    opti.solver("ipopt", {"print_time": False, "error_on_fail": False, "iteration_callback": report}, options)
    with contextlib.suppress(RuntimeError):  # the last iterate is kept, and its statistics
        opti.solve_limited()
    if report.error is not None:
        raise report.error
    stats = opti.stats()
    x, y, u = (np.atleast_2d(opti.debug.value(item)).reshape(-1, N + 1).T for item in (q, v, used))
    held, gains = 0.5 * (u[:-1] + u[1:]), np.zeros((N, step.inputs, 2 * n))
    rows, low, high = (np.ravel(opti.debug.value(item))[: 2 * n * N] for item in (opti.g, opti.lbg, opti.ubg))
    defect = float(np.maximum(low - rows, rows - high).max(initial=0.0))  # of the equations of motion, which come first
    return made_motion(
        problem, x, y, held, gains, int(stats["iter_count"]), bool(stats["success"]), np.array(history), defect,
        str(stats["return_status"]) in INFEASIBLE, int(stats["iter_count"]) >= iterations,
    )  # fmt: skip


def _iteration_callback(casadi: Any, opti: Any, noted: Callable[[Any, Any], None]) -> Any:
    """Calls ``noted(x, cost)`` after each iteration. An exception stops the solver and is kept in ``error``: CasADi would print
    it with the whole state of the solver, and go on."""
    sizes = {"x": (opti.nx, 1), "g": (opti.ng, 1), "p": (opti.np, 1), "f": (1, 1)}

    class Report(casadi.Callback):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.error: BaseException | None = None
            self.construct("report", {})

        def get_n_in(self) -> int:
            return int(casadi.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, place: int) -> Any:
            name = casadi.nlpsol_out(place).removeprefix("lam_")
            return casadi.Sparsity.dense(*sizes[name])

        def eval(self, values: Any) -> list[int]:
            self.calls += 1
            if self.calls > 1 and self.error is None:  # the first is the guess
                try:
                    noted(values[0], values[1])
                except BaseException as error:  # also KeyboardInterrupt
                    self.error = error
            return [int(self.error is not None)]

    return Report()


def _bound(opti: Any, problem: Problem, q: Any, v: Any, torque: Any) -> None:
    """Limits of torques at all nodes, and of positions and velocities between the ends."""
    step, N, n = problem.step, problem.nodes, problem.step.robot.n
    bounds = np.zeros(n)
    bounds[step.columns] = problem.high
    for k in range(n):
        if bounds[k] == 0.0:
            opti.subject_to(torque[k, :] == 0)
        elif np.isfinite(bounds[k]):
            opti.subject_to(opti.bounded(-bounds[k], torque[k, :], bounds[k]))
        for x, low, high in ((q, problem.x_low[k], problem.x_high[k]), (v, problem.x_low[n + k], problem.x_high[n + k])):
            if np.isfinite(low):
                opti.subject_to(x[k, 1:N] >= low)
            if np.isfinite(high):
                opti.subject_to(x[k, 1:N] <= high)

"""Accelerations and multipliers of a robot with loops, and assembly of its loops.

    M v̇ = r + Hᵀ λ,    H v̇ = −Ḣ v − 2α H v − β² h        (α = β = 0: the exact second derivative of h = 0; else Baumgarte)

with r = τ − C v − g − friction − springs + Σ Jᵀ w. Solved in the null space of H, so that redundant rows are allowed: the
acceleration is unique, and the multipliers have minimum norm.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import moved
from dynamis.display import as_table, counted
from dynamis.errors import InputError, ModelWarning, SingularError
from dynamis.kinematics.closures import Closure, closures_of
from dynamis.robot import Robot
from dynamis.simulation.loops.constraints import Constraints, evaluate, labels, rank_of
from dynamis.tolerances import FILE_PRECISION, RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
MIN_DAMPING, MAX_DAMPING = 1e-12, 1e8


@dataclass(frozen=True, eq=False, repr=False)
class Constrained:
    """v̇ (n), λ (rows), and Hᵀ λ (n), the joint torques of the closures.

    ``rank`` of H; ``conditioning``, its smallest nonzero singular value over the largest (near 0: near a singular
    configuration); ``residual``, the error of the constraint on H v̇.
    """

    acceleration: Array
    multipliers: Array
    torque: Array
    rank: int
    conditioning: float
    residual: float
    free: Array  # (n, n − rank): directions of motion, orthonormal

    def __repr__(self) -> str:
        forces = f"{counted(len(self.multipliers), 'closure force')} of rank {self.rank}"
        return f"<Constrained: {counted(len(self.acceleration), 'coordinate')}, {forces}, residual {self.residual:.1e}>"

    _repr_html_ = as_table


def solve(M: Array, r: Array, H: Array, rate: Array) -> Constrained:
    """v̇ and λ from M v̇ = r + Hᵀ λ and H v̇ = rate."""
    U, s, V, N = decomposed(H)
    rank = len(s)
    particular = V @ ((U.T @ rate) / s)
    a = particular + N @ _solve_positive(N.T @ M @ N, N.T @ (r - M @ particular))
    multipliers = U @ ((V.T @ (M @ a - r)) / s)
    residual = float(np.abs(H @ a - rate).max(initial=0.0))
    return Constrained(a, multipliers, H.T @ multipliers, rank, float(s[-1] / s[0]) if rank else 0.0, residual, N)


def null_space(H: Array, rate: Array) -> tuple[Array, Array]:
    """(x, N): H x is closest to the rate, and H N = 0 with orthonormal columns."""
    U, s, V, N = decomposed(H)
    return V @ ((U.T @ rate) / s), N


def decomposed(H: Array) -> tuple[Array, Array, Array, Array]:
    """(U, s, V, N): H = U diag(s) Vᵀ with the nonzero singular values, and H N = 0."""
    U, s, Vt = np.linalg.svd(H)
    rank = rank_of(s)
    return U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T


def _solve_positive(A: Array, b: Array) -> Array:
    from scipy.linalg.lapack import dposv

    if not len(b):
        return b
    _, x, failed = dposv(A, b)
    if failed:
        raise SingularError("a free motion of the loops moves no mass: its acceleration is undetermined")
    return np.asarray(x)


def wanted_rate(c: Constraints, v: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """H v̇ = −Ḣ v − 2α H v − β² h."""
    return -c.bias - 2.0 * alpha * (c.H @ v) - beta * beta * c.h if alpha or beta else -c.bias


def constrained_dynamics(
    robot: Robot,
    closures: Closure | Sequence[Closure],
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Mapping[str, Any] | None = None,
    *,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Constrained:
    """Forward dynamics of a robot with loops at one state: the acceleration under τ and wrenches, and the closure forces.

    >>> from dynamis.simulation.loops.mechanisms import four_bar
    >>> loop = four_bar()
    >>> now = constrained_dynamics(loop.robot, loop.closures, loop.q, [0.0] * 3, [0.0] * 3)
    >>> now.acceleration.shape, now.multipliers.shape, now.residual < 1e-10
    ((3,), (2,), True)
    """
    held = closures_of(robot, closures)
    inputs = robot.inputs
    at, rates, torques = (
        inputs.one_state(x, size, name) for x, size, name in ((q, robot.nq, "q"), (v, robot.n, "v"), (tau, robot.n, "tau"))
    )
    c = evaluate(robot, held, at, rates)
    r = torques - robot.inverse_dynamics(at, rates, np.zeros(robot.n), wrenches)
    rate = wanted_rate(c, rates, alpha, beta)
    solved = solve(robot.mass_matrix(at), r, c.H, rate)
    if solved.residual > SOLUTION_TOLERANCE * (1.0 + np.abs(rate).max()):
        raise SingularError(
            f"no acceleration keeps the loops closed at this state (off by {solved.residual:.3g}): H has rank {solved.rank} "
            f"of {counted(len(c.h), 'row')} here, a singular configuration, and v is not along one of the "
            f"motions that meet in it"
        )
    if not (alpha or beta):
        _warn_open(float(np.abs(c.h).max(initial=0.0)), float(np.abs(c.H @ rates).max(initial=0.0)))
    return solved


def _warn_open(gap: float, rate: float) -> None:
    if gap > FILE_PRECISION or rate > FILE_PRECISION:
        text = f"open by {gap:.3g} m or rad" if gap > FILE_PRECISION else f"opening at {rate:.3g} m/s or rad/s"
        warnings.warn(
            f"the loops are {text} at this state: the acceleration is that of the open loops; loops.assemble closes q, "
            "loops.assemble_velocity v",
            ModelWarning,
            stacklevel=3,
        )


def assemble(
    robot: Robot,
    closures: Closure | Sequence[Closure],
    q_guess: Any,
    locked: Sequence[str | int] = (),
    *,
    tolerance: float = RECURSION_ROUNDING,
    iterations: int = 200,
) -> Array:
    """A configuration near the guess that closes the loops, with the ``locked`` coordinates unchanged.

    Gauss–Newton steps on the manifold, with Levenberg–Marquardt damping where needed. If they do not converge, the error names
    the closure that stays open.

    >>> from dynamis.simulation.loops.mechanisms import four_bar
    >>> loop = four_bar()
    >>> q = assemble(loop.robot, loop.closures, loop.q + 0.1, locked=["crank"])
    >>> round(float(q[0] - loop.q[0]), 12)
    0.1
    """
    held = closures_of(robot, closures)
    rest, q = np.zeros(robot.n), robot.inputs.one_state(q_guess, robot.nq, "q").copy()
    free = [k for k in range(robot.n) if k not in robot.inputs.coordinates(locked, "locked")]
    now, damping = evaluate(robot, held, q, rest), 0.0
    for _ in range(iterations):
        if np.abs(now.h).max() <= tolerance or damping > MAX_DAMPING:
            break
        step = np.zeros(robot.n)
        step[free] = _damped_step(now.H[:, free], now.h, damping)
        q_new = robot.integrate(q, step)
        new = evaluate(robot, held, q_new, rest)
        if np.dot(new.h, new.h) < np.dot(now.h, now.h):
            q, now, damping = q_new, new, 0.0 if damping <= MIN_DAMPING else damping / 10.0
        elif np.abs(now.h).max() <= 100.0 * tolerance:
            break  # rounding
        else:
            damping = max(10.0 * damping, MIN_DAMPING)
    worst = int(np.argmax(np.abs(now.h)))
    if np.abs(now.h[worst]) > 100.0 * tolerance:
        fixed = f" with {', '.join(map(str, locked))} locked" if locked else ""
        raise InputError(
            f"the loops of {robot.name!r} do not close from this guess{fixed}: {labels(held)[worst]!r} stays open by "
            f"{abs(now.h[worst]):.3g} (all of h: {np.linalg.norm(now.h):.3g}); check the lengths, or give a closer guess"
        )
    return q


def _damped_step(H: Array, h: Array, damping: float) -> Array:
    U, s, V, _ = decomposed(H)
    return -V @ (s / (s * s + damping) * (U.T @ h))


def assemble_velocity(
    robot: Robot, closures: Closure | Sequence[Closure], q: Any, v_guess: Any, locked: Sequence[str | int] = ()
) -> Array:
    """The velocity closest to the guess, in the kinetic-energy norm, with H v = 0 and the ``locked`` coordinates unchanged."""
    held = closures_of(robot, closures)
    inputs = robot.inputs
    at, v = inputs.one_state(q, robot.nq, "q"), inputs.one_state(v_guess, robot.n, "v")
    fixed = robot.inputs.coordinates(locked, "locked")
    H = np.vstack([evaluate(robot, held, at, v).H, np.eye(robot.n)[fixed]])
    target = np.concatenate([np.zeros(len(H) - len(fixed)), v[fixed]])
    M = robot.mass_matrix(at)
    found = solve(M, M @ v, H, target)
    if found.residual > SOLUTION_TOLERANCE * (1.0 + np.abs(v).max()):
        raise InputError(
            f"no velocity closes the loops with {', '.join(map(str, locked))} as given (off by {found.residual:.3g})"
        )
    return found.acceleration


def project(robot: Robot, closures: tuple[Closure, ...], q: Array, v: Array) -> tuple[Array, Array, float, float]:
    """Project a state onto h = 0 and H v = 0; return (q, v, max |h|, max |H v|), the last two before the projection."""
    q = moved(robot.model, q, np.zeros(robot.nq))
    if not closures:
        return q, v, 0.0, 0.0
    c = evaluate(robot, closures, q, v)
    before = float(np.abs(c.h).max()), float(np.abs(c.H @ v).max())
    for _ in range(4):
        size = np.abs(c.h).max()
        if size <= 1e-15:
            break
        q_new = robot.integrate(q, _damped_step(c.H, c.h, 0.0))
        new = evaluate(robot, closures, q_new, v)
        if np.abs(new.h).max() >= size:
            break
        q, c = q_new, new
    M = robot.mass_matrix(q)
    return q, solve(M, M @ v, c.H, np.zeros(len(c.h))).acceleration, *before

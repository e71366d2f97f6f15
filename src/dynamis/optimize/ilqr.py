"""Iterative linear-quadratic regulator with bounded inputs.

Each iteration linearises the dynamics along the motion, solves the Riccati recursion backwards for a feedback law
u = ū + α k + K (x − x̄), and follows that law from the start for several step lengths α at once. Inputs beyond their bounds are
clamped in the recursion [Tassa 2014] and in the motion. The Hessian of the dynamics is left out (Gauss–Newton).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table, march
from dynamis.errors import SingularError
from dynamis.optimize.steps import Step
from dynamis.robot import Robot
from dynamis.scalar import maximum, minimum, solve_positive, where
from dynamis.tolerances import SUFFICIENT_DECREASE

Array = npt.NDArray[Any]
LENGTHS = 0.5 ** np.arange(8.0)  # step lengths α: one vector of eight lanes
CLAMPINGS = 4  # iterations of the active set of clamped inputs in each node
MAX_COMPILED_STATES = 18  # of the recursion: its code grows with the third power
LEAST_REGULARISATION, MOST_REGULARISATION = 0.001**2, 1e10  # added to the Hessian of the cost of the next state
SMALL_REGULARISATION = 1.0  # below it, the predicted decrease is about that of the whole step
GROWTH = 8.0  # of the regularisation after a failure; it shrinks by the same factor


# compiled once for each robot, as its other functions are
_controlled: weakref.WeakKeyDictionary[Robot, dict[Any, Kernel]] = weakref.WeakKeyDictionary()


class Quadratic(NamedTuple):
    """Second-order expansion of a cost along a motion of N steps, by z = (x, u) of each node and by the last state."""

    l_z: Array  # (N, 2n + m)
    l_zz: Array  # (N, 2n + m), diagonal
    V_x: Array  # (2n)
    V_xx: Array  # (2n, 2n)
    l_qq: Array | None = None  # (N, n, n), added to the block of the positions


class Cost(Protocol):
    """A cost of motions."""

    def value(self, q: Array, v: Array, u: Array, sufficient: Array | None = None) -> Array:
        """Of motions (N + 1, …, nq), (N + 1, …, n), (N, …, m): (…).

        Motions (N + 1, k, …) after the first whose cost is below ``sufficient`` (k) may be left out, as infinite.
        """

    def expansion(self, q: Array, v: Array, u: Array) -> Quadratic: ...


@dataclass
class Iterate:
    """A motion with its cost and feedback gains."""

    q: Array  # (N + 1, nq)
    v: Array
    u: Array  # (N, m)
    cost: float
    gains: Array  # K (N, m, 2n)


class Outcome(NamedTuple):
    """The last iterate, the number of iterations, and whether the cost had stopped decreasing."""

    iterate: Iterate
    iterations: int
    converged: bool


def clamped_step(Q_uu: Array, Q_u: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """(k, H, free): the minimum of ½ kᵀ Q_uu k + Q_uᵀ k between bounds, by a few iterations of its active set.

    ``free`` is 1 for inputs between their bounds and 0 for those clamped; H is Q_uu with rows and columns of the identity for
    those clamped.
    """
    free, k = np.ones(len(Q_u)), np.zeros(len(Q_u))
    H = Q_uu
    for _ in range(CLAMPINGS):
        H = Q_uu * np.outer(free, free) + np.diag(1.0 - free)
        k = solve_positive(H, (1.0 - free) * k - free * (Q_u + Q_uu @ ((1.0 - free) * k)))
        slope = Q_u + Q_uu @ k
        beyond = _greater(k, high) + _greater(low, k)
        side = 2.0 * _greater(high - k, k - low) - 1.0  # 1 at the lower bound
        released = (1.0 - free) * _greater(0.0 * slope, side * slope)  # the cost decreases away from the bound
        free = free * (1.0 - beyond) + released
        k = maximum(minimum(k, high), low)
    return k, H, free


def _greater(a: Array, b: Array) -> Array:
    """1 where a > b, else 0."""
    symbolic = object in (a.dtype, b.dtype)
    return np.asarray(where(np.greater(a, b, dtype=object) if symbolic else a > b, 1.0, 0.0))


def riccati_step(
    V_x: Array, V_xx: Array, A: Array, B: Array, l_z: Array, l_zz: Array, low: Array, high: Array, regularisation: Any,
    l_qq: Array | None = None,
) -> tuple[Array, Array, Array, Array, Any, Any]:  # fmt: skip
    """(V_x, V_xx, k, K, first, second) of a node from those of the next: the decrease is −(α first + ½ α² second)."""
    nx = len(V_x)
    VA, VB = V_xx @ A, V_xx @ B
    Q_x, Q_u = l_z[:nx] + A.T @ V_x, l_z[nx:] + B.T @ V_x
    Q_uu, Q_ux = np.diag(l_zz[nx:]) + B.T @ VB, VB.T @ A
    k, H, free = clamped_step(Q_uu + regularisation * (B.T @ B), Q_u, low, high)
    K = -solve_positive(H, free[:, None] * (Q_ux + regularisation * (B.T @ A))) * free[:, None]
    Q_uu_k = Q_uu @ k
    V_x_new = Q_x + K.T @ (Q_u + Q_uu_k) + Q_ux.T @ k
    l_xx = np.diag(l_zz[:nx])
    if l_qq is not None:
        l_xx[: nx // 2, : nx // 2] += l_qq
    V_xx_new = l_xx + A.T @ VA + K.T @ (Q_uu @ K + Q_ux) + Q_ux.T @ K
    return V_x_new, V_xx_new, k, K, Q_u @ k, k @ Q_uu_k


class Sweeps:
    """The two recursions of one problem size and robot, compiled where the code is not too long."""

    def __init__(self, step: Step, low: Array, high: Array) -> None:
        self.step, self.low, self.high = step, low, high
        robot, m = step.robot, step.inputs
        nq, n = robot.nq, robot.n
        self.sizes = nq, n, m

        def controlled(
            robot: Robot, y: Array, t: Array, h: Array, alpha: Array, low: Array, high: Array, row: Array
        ) -> Array:  # fmt: skip
            del t  # an argument of every step of `march`
            q, v = y[:nq], y[nq : nq + n]
            q_ref, v_ref, u_ref, k, gains = np.split(row, np.cumsum([nq, n, m, m]))
            off = np.concatenate([q - q_ref if nq == n else robot.difference(q_ref, q), v - v_ref])
            u = u_ref + alpha[0] * k + gains.reshape(m, 2 * n) @ off
            u = maximum(minimum(u, high), low)
            return np.concatenate([*step.taken(robot, q, v, u, h[0]), u])

        made = _controlled.setdefault(robot, {})
        key = step.method, tuple(step.columns), step.friction_velocity
        if key not in made:
            sizes: dict[str, Any] = {
                "y": nq + n + m,
                "t": 1,
                "h": 1,
                "alpha": 1,
                "low": m,
                "high": m,
                "row": nq + n + 2 * m + 2 * m * n,
            }
            made[key] = robot.compile(controlled, **sizes)
        self.forwards = made[key]
        self.compiled = 2 * n <= MAX_COMPILED_STATES

    def follow(self, start: Array, iterate: Iterate, k: Array, gains: Array) -> tuple[Array, Array, Array]:
        """The motions (N + 1, lengths, …) and inputs (N, lengths, m) under the feedback law, for all step lengths."""
        nq, n, m = self.sizes
        N = len(iterate.u)
        row = np.concatenate([iterate.q[:-1], iterate.v[:-1], iterate.u, k, gains.reshape(N, -1)], axis=1)
        y = np.broadcast_to(np.concatenate([start, np.zeros(m)]), (len(LENGTHS), nq + n + m))
        with np.errstate(all="ignore"):
            states = march(
                self.forwards, y, [LENGTHS[:, None], self.low, self.high, Table(row, 1)], t=0.0, h=self.step.h, reports=N
            )
        states = np.concatenate([y[None], states])
        return states[..., :nq], states[..., nq : nq + n], states[1:, :, nq + n :]

    def gains(self, A: Array, B: Array, model: Quadratic, u: Array, regularisation: float) -> tuple[Array, Array, float, float]:
        """(k, K, first, second) of the Riccati recursion; `SingularError` where Q_uu is not positive definite."""
        _, n, m = self.sizes
        N, nx = len(u), 2 * n
        if not self.compiled:
            return self.gains_of_numbers(A, B, model, u, regularisation)
        coupled = () if model.l_qq is None else (model.l_qq,)
        parts = (A, B, model.l_z, model.l_zz, self.low - u, self.high - u, *coupled)
        row = np.concatenate([x.reshape(N, -1) for x in parts], axis=1)
        y = np.zeros(nx + nx * nx + m + m * nx + 2)
        y[:nx], y[nx : nx + nx * nx] = model.V_x, model.V_xx.ravel()
        found = march(
            _riccati_kernel(nx, m, bool(coupled)),
            y,
            [np.array([regularisation]), Table(np.ascontiguousarray(row[::-1]), 1)],
            t=0.0,
            h=1.0,
            reports=N,
        )[::-1]
        if not np.isfinite(found[0]).all():
            raise SingularError("the Hessian of the inputs is not positive definite")
        k, K, both = np.split(found[:, nx + nx * nx :], [m, m + m * nx], axis=1)
        return k, K.reshape(N, m, nx), float(both[0, 0]), float(both[0, 1])

    def gains_of_numbers(
        self, A: Array, B: Array, model: Quadratic, u: Array, regularisation: float
    ) -> tuple[Array, Array, float, float]:
        V_x, V_xx, first, second = model.V_x, model.V_xx, 0.0, 0.0
        k, K = np.empty_like(u), np.empty((*u.shape, len(V_x)))
        for i in reversed(range(len(u))):
            V_x, V_xx, k[i], K[i], one, two = riccati_step(
                V_x, V_xx, A[i], B[i], model.l_z[i], model.l_zz[i], self.low - u[i], self.high - u[i], regularisation,
                None if model.l_qq is None else model.l_qq[i],
            )  # fmt: skip
            first, second = first + one, second + two
        return k, K, first, second


@cache
def _riccati_kernel(nx: int, m: int, coupled: bool) -> Kernel:
    """`riccati_step` as a step of `march`, with l_qq if ``coupled``: the state holds V_x, V_xx, k, K and both sums."""

    def riccati(y: Array, t: Array, h: Array, regularisation: Array, row: Array) -> Array:
        del t, h
        V_x, V_xx, _, _, sums = np.split(y, np.cumsum([nx, nx * nx, m, m * nx]))
        A, B, l_z, l_zz, low, high, l_qq = np.split(row, np.cumsum([nx * nx, nx * m, nx + m, nx + m, m, m]))
        # the matrix is symmetric: its upper triangle is enough
        square = V_xx.reshape(nx, nx)
        V_xx = np.array([[square[min(i, j), max(i, j)] for j in range(nx)] for i in range(nx)])
        V_x, V_xx, k, K, first, second = riccati_step(
            V_x, V_xx, A.reshape(nx, nx), B.reshape(nx, m), l_z, l_zz, low, high, regularisation[0],
            l_qq.reshape(nx // 2, nx // 2) if coupled else None,
        )  # fmt: skip
        upper = np.triu(np.ones((nx, nx)))
        return np.concatenate([V_x, np.where(upper, V_xx, 0.0).ravel(), k, K.ravel(), [sums[0] + first, sums[1] + second]])

    sizes = [("y", nx + nx * nx + m + m * nx + 2), ("t", 1), ("h", 1), ("regularisation", 1),
             ("row", nx * nx + nx * m + 2 * nx + 4 * m + coupled * (nx // 2) ** 2)]  # fmt: skip
    return Kernel([riccati], sizes, "riccati", f"riccati {nx} {m} {coupled}")


def minimise(
    sweeps: Sweeps, iterate: Iterate, cost: Cost, *, tolerance: float, iterations: int, regularisation: float,
    accepted: Callable[[Iterate], None] | None = None,
) -> tuple[Outcome, float]:  # fmt: skip
    """Lower the cost until the predicted decrease is below ``tolerance`` of it; returns the regularisation as well."""
    least, most = LEAST_REGULARISATION, MOST_REGULARISATION
    count, expand = 0, True
    while count < iterations:
        if expand:
            A, B = sweeps.step.derivatives(iterate.q[:-1], iterate.v[:-1], iterate.u)
            model = cost.expansion(iterate.q, iterate.v, iterate.u)
            expand = False
        count += 1
        try:
            k, gains, first, second = sweeps.gains(A, B, model, iterate.u, regularisation)
        except SingularError:
            regularisation = max(regularisation, least) * GROWTH
            if regularisation > most:
                return Outcome(iterate, count, False), regularisation
            continue
        predicted = -(LENGTHS * first + 0.5 * LENGTHS**2 * second)
        scale = max(abs(iterate.cost), float(np.finfo(float).tiny))
        if predicted[0] < tolerance * scale and regularisation < SMALL_REGULARISATION:
            return Outcome(iterate, count, True), regularisation
        q, v, u = sweeps.follow(np.concatenate([iterate.q[0], iterate.v[0]]), iterate, k, gains)
        with np.errstate(all="ignore"):
            costs = cost.value(q, v, u, iterate.cost - SUFFICIENT_DECREASE * np.maximum(predicted, 0.0))
        costs = np.where(np.isfinite(costs), costs, np.inf)
        best = int(np.argmin(costs))
        decrease = iterate.cost - costs[best]
        if not decrease > SUFFICIENT_DECREASE * max(predicted[best], 0.0) or not decrease > 0.0:
            regularisation = max(regularisation, least) * GROWTH
            if regularisation > most:
                return Outcome(iterate, count, decrease > -tolerance * scale), regularisation
            continue
        iterate, expand = Iterate(q[:, best], v[:, best], u[:, best], float(costs[best]), gains), True
        if accepted is not None:
            accepted(iterate)
        regularisation = regularisation / GROWTH if best == 0 else regularisation
        regularisation = 0.0 if regularisation < least else regularisation
    return Outcome(iterate, count, False), regularisation

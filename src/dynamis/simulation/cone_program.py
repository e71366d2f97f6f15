"""Quadratic programs over cones for batches of states: the step of an interior-point method, compiled.

    min ½ xᵀ P x + cᵀ x    with A x = b and s = F x in a product of second-order cones (3 rows) and half-lines

Primal-dual steps with Nesterov–Todd scaling W² z = s and a fixed share of centring [Vandenberghe 2010, §4 and §7]. The same
iteration runs for all states; those that have ended are not changed.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.robot import Robot
from dynamis.scalar import factorise, maximum, minimum, solve_lower, solve_positive, solve_upper, sqrt, where
from dynamis.tolerances import NEGLIGIBLE, RECURSION_ROUNDING, SAFE_DIVISOR

Array = npt.NDArray[Any]
MAX_ITERATIONS = 40
CENTRING = 0.1  # σ: the complementarity that remains after a full step
TO_THE_BOUNDARY = 0.99  # of the longest step inside the cones
COMPLEMENTARITY = 10.0 * RECURSION_ROUNDING  # of s and z, per cone: x is exact to its root where a cone is just left
STEPS_PER_CALL = 3  # between two looks at which states have ended


class Block(NamedTuple):
    """Rows of F for one contact: ``kind`` "second-order" (3 rows) or "positive", from column ``first``, F (…, rows, width)."""

    kind: str
    first: int
    F: Array

    @property
    def columns(self) -> slice:
        return slice(self.first, self.first + self.F.shape[-1])

    @property
    def shape(self) -> tuple[str, int, int, int]:
        return (self.kind, self.first, *self.F.shape[-2:])


def minimise(robot: Robot, P: Array, c: Array, A: Array, b: Array, blocks: list[Block]) -> tuple[Array, Array]:
    """x (N, n) and whether it is a solution (N), for P (N, n, n), c (N, n), A (N, m, n), b (N, m)."""
    count, m, n = A.shape
    # x and the cost in units of their own, so that P and the larger of b and c are about 1; cones have no units
    size = np.maximum(np.abs(np.concatenate([b, c], axis=1)).max(axis=1, keepdims=True), SAFE_DIVISOR)
    unit = np.sqrt(np.trace(P, axis1=1, axis2=2) / n)[:, None]
    parts = [P / unit[:, None] ** 2, c / (unit * size), A / unit[:, None], b / size]
    parts += [np.broadcast_to(block.F, (count, *block.F.shape[-2:])) for block in blocks]
    data = np.concatenate([part.reshape(count, -1) for part in parts], axis=1)
    step = _compiled(robot, n, m, tuple(block.shape for block in blocks))
    inside = np.concatenate([[1.0, 0.0, 0.0] if x.kind == "second-order" else np.ones(x.F.shape[-2]) for x in blocks])
    states = np.tile(np.concatenate([np.zeros(n + m), inside, inside, [0.0]]), (count, 1))
    going, part = np.arange(count), states
    for _ in range(MAX_ITERATIONS // STEPS_PER_CALL):
        for _ in range(STEPS_PER_CALL):
            part = step(part, data)
        states[going] = part
        open_ = part[:, -1] == 0.0  # not of states that are not finite
        going, part, data = going[open_], part[open_], data[open_]
        if not going.size:
            break
    return states[:, :n] * (size / unit), states[:, -1] == 1.0


_known: weakref.WeakKeyDictionary[Robot, dict[Any, Any]] = weakref.WeakKeyDictionary()


def _compiled(robot: Robot, n: int, m: int, shapes: tuple[Any, ...]) -> Any:
    known = _known.setdefault(robot, {})
    if (n, m, shapes) not in known:

        def cone_step(_robot: Robot, state: Array, data: Array) -> Array:
            return _step(state, data, n, m, shapes)

        rows = sum(shape[2] for shape in shapes)
        sizes = {"state": n + m + 2 * rows + 1, "data": n * n + n + m * n + m + sum(x[2] * x[3] for x in shapes)}
        known[n, m, shapes] = robot.compile(cone_step, **sizes)
    return known[n, m, shapes]


def _step(state: Array, data: Array, n: int, m: int, shapes: tuple[Any, ...]) -> Array:
    """One iteration of one state (x, y, s, z, ended)."""
    rows = [shape[2] for shape in shapes]
    total = sum(rows)
    x, y, s, z = np.split(state[:-1], np.cumsum([n, m, total]))
    P, c, A, b, *F = np.split(data, np.cumsum([n * n, n, m * n, m, *(x[2] * x[3] for x in shapes)])[:-1])
    P, A = P.reshape(n, n), A.reshape(m, n)
    cones = [
        _Cone(kind, slice(first, first + width), f.reshape(count, width), s_k, z_k)
        for (kind, first, count, width), f, s_k, z_k in zip(
            shapes, F, np.split(s, np.cumsum(rows)[:-1]), np.split(z, np.cumsum(rows)[:-1]), strict=True
        )
    ]
    degree = sum(1 if kind == "second-order" else count for kind, _, count, _ in shapes)
    mu = np.dot(s, z) / degree

    K, cost, right = P.copy(), P @ x + c + A.T @ y, np.zeros(n, dtype=object)
    for cone in cones:
        K[cone.columns, cone.columns] = K[cone.columns, cone.columns] + cone.stiffness
        cost[cone.columns] = cost[cone.columns] - cone.F.T @ cone.z
        right[cone.columns] = right[cone.columns] + cone.F.T @ cone.dual_step(CENTRING * mu, cone.gap(x))
    L, d = factorise(K, np.zeros(n))
    Y, r = solve_upper(L, A.T), solve_upper(L, right - cost)
    gap = b - A @ x
    S = (Y.T / d) @ Y + RECURSION_ROUNDING * np.eye(m)
    dy = solve_positive(S, (Y.T / d) @ r - gap, np.zeros(m))
    dx = solve_lower(L, (r - Y @ dy) / d)

    off = [abs(e) for e in (*cost, *gap, *(e for cone in cones for e in cone.gap(x)))]
    done = (functools.reduce(maximum, off) <= NEGLIGIBLE) * (mu <= COMPLEMENTARITY)
    longest, moves = 0.0, []
    for cone in cones:
        ds = cone.F @ dx[cone.columns] + cone.gap(x)
        dz = cone.dual_step(CENTRING * mu, ds)
        moves.append((ds, dz))
        longest = maximum(longest, maximum(cone.shortening(cone.s, ds), cone.shortening(cone.z, dz)))
    step = minimum(1.0, TO_THE_BOUNDARY / maximum(longest, SAFE_DIVISOR))
    ds, dz = (np.concatenate([move[k] for move in moves]) for k in range(2))
    after = np.concatenate([x + step * dx, y + step * dy, s + step * ds, z + step * dz])
    ended = maximum(state[-1], done * 1.0)
    return np.concatenate([where(ended, state[:-1], after), [ended]])


class _Cone:
    """One block with its s and z, the scaling W⁻², and the steps along them."""

    def __init__(self, kind: str, columns: slice, F: Array, s: Array, z: Array) -> None:
        self.columns, self.F, self.s, self.z, self.round = columns, F, s, z, kind == "second-order"
        if self.round:
            norm_s, norm_z = sqrt(_form(s, s)), sqrt(_form(z, z))
            u, w = s / norm_s, _reflected(z / norm_z)
            centre = (u + w) / sqrt(2.0 * (1.0 + np.dot(_reflected(w), u)))
            across = _reflected(centre)
            self.scaling = (norm_z / norm_s) * (2.0 * np.outer(across, across) - np.diag([1.0, -1.0, -1.0]))
            self.inverse = _reflected(s) / (norm_s * norm_s)  # s⁻¹
        else:
            self.scaling, self.inverse = np.diag(z / s), 1.0 / s
        self.stiffness = F.T @ self.scaling @ F  # Fᵀ W⁻² F

    def gap(self, x: Array) -> Array:
        """F x − s."""
        return self.F @ x[self.columns] - self.s

    def dual_step(self, centring: Any, ds: Array) -> Array:
        """dz = σ μ s⁻¹ − z − W⁻² ds."""
        return centring * self.inverse - self.z - self.scaling @ ds

    def shortening(self, s: Array, ds: Array) -> Any:
        """1 / α with s + α ds at the boundary; 0 or less if there is none."""
        if not self.round:
            return functools.reduce(maximum, -ds / s)
        norm = sqrt(_form(s, s))
        u = s / norm
        along = _form(u, ds)
        rest = ds[1:] - (along + ds[0]) / (u[0] + 1.0) * u[1:]
        return (sqrt(np.dot(rest, rest)) - along) / norm


def _form(u: Array, v: Array) -> Any:
    """u₀ v₀ − u₁ v₁ − u₂ v₂."""
    return u[0] * v[0] - np.dot(u[1:], v[1:])


def _reflected(u: Array) -> Array:
    return np.concatenate([u[:1], -u[1:]])

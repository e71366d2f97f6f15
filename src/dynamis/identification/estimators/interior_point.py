"""Interior-point method for quadratic programs over physically consistent inertias [Boyd & Vandenberghe 2004, §11].

    ½ wᵀ P w + qᵀ w − κ Σ log det B_k − μ (Σ log det B_k + Σ log slacks),   μ → 0

The log det barrier is self-concordant, so damped Newton steps converge. Phase I finds a strictly feasible point: it adds a
slack s to every body and every row, and minimizes s until it is negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve, null_space, solve_triangular

from dynamis.identification.estimators.convex import ONE, Programme, Rows, Solution
from dynamis.identification.pseudo_inertia import packed, unpacked

Array = npt.NDArray[Any]

FALL = 8.0  # reduction of μ per outer iteration
GAP = 1e-10  # duality gap (μ times the number of barriers) at termination
STEPS = 60  # Newton steps per μ
INSIDE = 1e-9  # margin of phase I


@dataclass(frozen=True, eq=False)
class _Barrier:
    """B_k = unpacked(b_k + M_k w) positive definite, S w + s > 0."""

    bodies: list[tuple[Array, Array]]
    S: Array
    s: Array

    @property
    def count(self) -> int:
        return 4 * len(self.bodies) + len(self.s)

    def factors(self, w: Array) -> list[Array] | None:
        """Return the Cholesky factors of the bodies, or None if w is infeasible."""
        if (self.S @ w + self.s <= 0.0).any():
            return None
        try:
            return [np.linalg.cholesky(unpacked(b + M @ w)) for b, M in self.bodies]
        except np.linalg.LinAlgError:
            return None

    def value(self, w: Array, factors: list[Array], body: float, row: float) -> float:
        logs = sum(2.0 * np.log(np.diagonal(L)).sum() for L in factors)
        return float(-body * logs - row * np.log(self.S @ w + self.s).sum())

    def slopes(self, w: Array, factors: list[Array], body: float, row: float) -> tuple[Array, Array]:
        """Return gradient and Hessian."""
        T = self.S / (self.S @ w + self.s)[:, None]
        gradient, hessian = -row * T.sum(axis=0), row * T.T @ T
        for L, (_, M) in zip(factors, self.bodies, strict=True):
            half = solve_triangular(L, np.hstack(list(unpacked(M.T))), lower=True).reshape(4, -1, 4)
            full = solve_triangular(L, half.transpose(2, 1, 0).reshape(4, -1), lower=True).reshape(4, -1, 4)
            K = packed(full.transpose(1, 0, 2)).T
            gradient -= body * ONE @ K
            hessian += body * K.T @ K
        return gradient, hessian


def solve(programme: Programme) -> Solution:
    """Solve a program."""
    rows = programme.rows
    equal = rows.lower == rows.upper
    start, free = np.zeros(len(programme.q)), np.eye(len(programme.q))
    if equal.any():  # w = start + free u
        start = np.linalg.lstsq(rows.A[equal], rows.lower[equal], rcond=None)[0]
        free = null_space(rows.A[equal])
    barrier = _barrier(programme, rows, equal, start, free)
    P, q = free.T @ programme.P @ free, free.T @ (programme.q + programme.P @ start)
    near = np.zeros(len(start)) if programme.start is None else programme.start
    u, inside = _first_phase(barrier, free.T @ (near - start))
    if not inside:
        return Solution(start + free @ u, "no physically consistent parameters satisfy the bounds", False, True)
    mu = max(1.0, programme.log_det)
    while True:
        u, centred = _centred(P, q, barrier, u, programme.log_det + mu, mu)
        if mu * barrier.count < GAP:
            words = "solved" if centred else "solved with reduced accuracy"
            return Solution(start + free @ u, words, True)
        mu /= FALL


def _barrier(programme: Programme, rows: Rows, equal: Array, start: Array, free: Array) -> _Barrier:
    size = np.linalg.norm(rows.A, axis=1)
    above, below = np.isfinite(rows.upper) & ~equal, np.isfinite(rows.lower) & ~equal
    S = np.vstack([-rows.A[above] / size[above, None], rows.A[below] / size[below, None]])
    s = np.concatenate([rows.upper[above] / size[above], -rows.lower[below] / size[below]])
    bodies = [(b - programme.least * ONE + M @ start, M @ free) for b, M in programme.bodies]
    return _Barrier(bodies, S @ free, s + S @ start)


def _centred(P: Array, q: Array, barrier: _Barrier, u: Array, body: float, row: float) -> tuple[Array, bool]:
    """Run Newton's method from a feasible point."""
    factors = barrier.factors(u)
    assert factors is not None
    value = 0.5 * u @ P @ u + q @ u + barrier.value(u, factors, body, row)
    for _ in range(STEPS):
        gradient, hessian = barrier.slopes(u, factors, body, row)
        gradient, hessian = gradient + P @ u + q, hessian + P
        size = np.sqrt(np.maximum(np.diagonal(hessian), 1e-300))
        scaled = hessian / np.outer(size, size)
        # directions without curvature are left unchanged
        step = -cho_solve(cho_factor(scaled + 1e-14 * len(u) * np.eye(len(u))), gradient / size) / size
        slope = float(gradient @ step)
        if -slope < 1e-11 * max(1.0, row):
            return u, True
        t = 1.0
        while t > 1e-12:
            there = barrier.factors(u + t * step)
            if there is not None:
                new = u + t * step
                reached = 0.5 * new @ P @ new + q @ new + barrier.value(new, there, body, row)
                if reached <= value + 0.1 * t * slope:
                    break
            t *= 0.5
        else:
            return u, -slope < 1e-6
        u, value, factors = new, reached, there
    return u, False


def _first_phase(barrier: _Barrier, near: Array) -> tuple[Array, bool]:
    """Return a strictly feasible point, or the one with the smallest maximal violation."""
    n = len(near)
    if barrier.factors(near) is not None:
        return near, True
    lowest = [np.linalg.eigvalsh(unpacked(b + M @ near))[0] for b, M in barrier.bodies]
    s = 1.0 + max(0.0, -min([*lowest, *(barrier.S @ near + barrier.s)]))
    eased = _Barrier(
        [(b, np.column_stack([M, ONE])) for b, M in barrier.bodies],
        np.vstack([np.column_stack([barrier.S, np.ones(len(barrier.s))]), np.append(np.zeros(n), 1.0)]),
        np.append(barrier.s, 1.0),  # s ≥ −1: far enough inside
    )
    u, cost, mu = np.append(near, s), np.append(np.zeros(n), 1.0), s
    hold = np.diag(np.append(np.full(n, 1e-12), 0.0))  # against drift along the cone
    while mu * eased.count > 0.1 * INSIDE:
        u, _ = _centred(hold, cost, eased, u, mu, mu)
        if u[-1] < -INSIDE and (u[-1] < -1e-3 or mu * eased.count < -u[-1]):
            return u[:-1], True
        mu /= FALL
    return u[:-1], bool(u[-1] < 0.0 and barrier.factors(u[:-1]) is not None)

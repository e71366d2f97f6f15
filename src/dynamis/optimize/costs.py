"""The cost of a motion to a goal, with its constraints as an augmented Lagrangian."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.optimize.avoidance import Avoidance
from dynamis.optimize.ilqr import Quadratic
from dynamis.optimize.steps import Step

Array = npt.NDArray[Any]


class GoalCost:
    """h Σ ½ (Σ r u² + Σ w v²), with x_N = goal, bounds of positions and velocities, and distances as constraints.

    Constraints c = 0 add λ c + ½ μ c², constraints c ≤ 0 add (max(0, λ + μ c)² − λ²) / 2μ; `update` moves λ. In expansions,
    constraints with λ + μ (c + ``margin``) > 0 have their second derivatives as well: without them, steps from just inside a
    bound go far beyond it.
    """

    def __init__(
        self,
        step: Step,
        goal: tuple[Array, Array],
        r: Array,
        w: Array,
        low: Array,
        high: Array,
        speed_scale: float,
        weight: float,
        margin: float,
        avoidance: Avoidance | None = None,
    ) -> None:
        self.step, self.goal, self.r, self.w, self.low, self.high = step, goal, r, w, low, high
        n = step.robot.n
        self.scale = np.concatenate([np.ones(n), np.full(n, speed_scale)])  # of the errors at the goal
        self.weight, self.bound_weight, self.margin = weight, weight, margin
        self.multiplier = np.zeros(2 * n)
        self.above: Array = np.zeros((1, 2 * n))  # multipliers of the bounds, for each node after the first update
        self.below: Array = np.zeros((1, 2 * n))
        self.avoidance = avoidance
        self.bounded = bool(np.isfinite(low).any() or np.isfinite(high).any())
        self._places = [c.q_index for c in step.robot.model.coordinates]

    def final_error(self, q: Array, v: Array) -> Array:
        """Scaled error of the last state (…, 2n)."""
        robot = self.step.robot
        if robot.nq == robot.n:
            off = q - self.goal[0]
        else:  # a motion that diverged has no end
            finite = np.isfinite(q).all(-1, keepdims=True)
            off = np.where(
                finite, robot.difference(np.broadcast_to(self.goal[0], q.shape), np.where(finite, q, self.goal[0])), np.inf
            )
        return np.concatenate([off, v - self.goal[1]], axis=-1) * self.scale

    def positions(self, q: Array, v: Array) -> Array:
        """The bounded quantities (…, 2n): joint positions and velocities; zero for the position of a quaternion."""
        own = q
        if self._places != list(range(q.shape[-1])):
            own = np.zeros(v.shape)
            for k, place in enumerate(self._places):
                if place is not None:
                    own[..., k] = q[..., place]
        return np.concatenate([own, v], axis=-1)

    def _excess(self, q: Array, v: Array) -> tuple[Array, Array]:
        """λ + μ c at the upper and at the lower bounds; c is −∞ where there is none."""
        x = self.bound_weight * self.positions(q, v)
        # multipliers (N + 1, 2n) of motions (N + 1, …, nq), of which there may be several
        several = (slice(None), *[None] * (q.ndim - 2))
        high = (self.above - self.bound_weight * self.high)[several]
        low = (self.below + self.bound_weight * self.low)[several]
        return x + high, low - x

    def value(self, q: Array, v: Array, u: Array, sufficient: Array | None = None) -> Array:
        # sums over the nodes first, which are far apart in memory
        running = 0.5 * self.step.h * ((u * u).sum(0) @ self.r + (v[:-1] ** 2).sum(0) @ self.w)
        e = self.final_error(q[-1], v[-1])
        total = running + e @ self.multiplier + 0.5 * self.weight * (e * e).sum(-1)
        if self.bounded:
            total = total - ((self.above**2).sum() + (self.below**2).sum()) / (2.0 * self.bound_weight)
            for excess in self._excess(q, v):
                if not excess.max() <= 0.0:
                    np.maximum(excess, 0.0, out=excess)
                    total = total + np.einsum("n...i,n...i->...", excess, excess) / (2.0 * self.bound_weight)
        if self.avoidance is not None:
            return self.avoidance.added(np.asarray(total), q, self.bound_weight, sufficient)
        return np.asarray(total)

    def expansion(self, q: Array, v: Array, u: Array) -> Quadratic:
        robot, h = self.step.robot, self.step.h
        n = robot.n
        l_x, l_xx = np.zeros((len(q), 2 * n)), np.zeros((len(q), 2 * n))
        l_x[:-1, n:], l_xx[:-1, n:] = h * self.w * v[:-1], h * self.w
        if self.bounded:
            over, under = self._excess(q, v)
            near = -self.bound_weight * self.margin
            l_x += np.maximum(over, 0.0) - np.maximum(under, 0.0)
            l_xx += self.bound_weight * ((over > near) | (under > near))
        l_qq = None
        if self.avoidance is not None:
            l_q, l_qq = self.avoidance.expansion(q, self.bound_weight, self.margin)
            l_x[:, :n] += l_q
        e = self.final_error(q[-1], v[-1])
        J = np.diag(self.scale)
        if robot.nq != n:
            J[:n, :n] = robot.difference_derivatives(self.goal[0], q[-1])[1]
        V_x = l_x[-1] + J.T @ (self.multiplier + self.weight * e)
        l_uu = np.broadcast_to(h * self.r, u.shape)
        V_xx = np.diag(l_xx[-1]) + self.weight * J.T @ J
        l_z, l_zz = (np.concatenate(x, axis=1) for x in ((l_x[:-1], l_uu * u), (l_xx[:-1], l_uu)))
        return Quadratic(l_z, l_zz, V_x, V_xx, None if l_qq is None else l_qq[:-1])

    def violation(self, q: Array, v: Array) -> tuple[float, float, float]:
        """(largest scaled error at the goal, largest distance beyond a bound, largest lack of distance in m)."""
        x = self.positions(q, v)
        beyond = max(float((x - self.high).max()), float((self.low - x).max()), 0.0) if self.bounded else 0.0
        lack = 0.0 if self.avoidance is None else self.avoidance.violation(q)
        return float(np.abs(self.final_error(q[-1], v[-1])).max()), beyond, lack

    def update(self, q: Array, v: Array, growth: float) -> None:
        """First-order update of the multipliers at a minimum, and larger weights."""
        self.multiplier = self.multiplier + self.weight * self.final_error(q[-1], v[-1])
        if self.bounded:
            self.above, self.below = (np.maximum(x, 0.0) for x in self._excess(q, v))
        if self.avoidance is not None:
            self.avoidance.update(q, self.bound_weight)
        self.weight, self.bound_weight = growth * self.weight, growth * self.bound_weight

"""Minimum of ½ |G x − g|² + ½ λ · (entropic distance from the prior) over physically consistent links, scalars within bounds.

The distance of links is infinite where they are not consistent, so that no constraint is needed: Newton steps, projected on the
bounds of scalar parameters, converge at once unless links of the minimum are almost flat. Then a primal-dual interior-point
method with Nesterov–Todd directions comes first, whose result Newton steps refine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.pseudo_inertia import ONE, UNITS, packed

Array = npt.NDArray[Any]

FEW, MANY, SHORTER = 12, 60, 30  # Newton steps at first, and in the end; halvings of each
CONVERGED = 1e-12  # expected decrease of the cost, in squared standard errors, of the last step
DECREASE = 1e-4  # of the cost, relative to that along the slope
INSIDE = 0.95  # of a step to the boundary
ITERATIONS = 60
CENTRED = 1.2  # ratio of the mean complementarity of the links and λ, below which Newton steps converge
NEGLIGIBLE = 1e-6  # of the squared residual: what is left to gain where torques are so wrong that rounding ends Newton steps
AT_BOUNDS = 1e-3  # the same of the bounds
REDUCED = 0.1, 0.9  # factor of the complementarity after a full and after a short step


class Entropic:
    """The cost of x in `BodySpace`: ½ |G x − g|² + ½ λ |x_k − wish|² + λ Σ tr X − log det(1 + X)."""

    def __init__(self, space: BodySpace, G: Array, g: Array, weight: float) -> None:
        self.space, self.G, self.g, self.weight, self.k = space, G, g, weight, space.others
        self.start, k = space.inside(), self.k
        self.low, self.high = np.full((2, len(self.start)), [[-np.inf], [np.inf]])
        scale = np.diagonal(space.C)[k]
        self.low[k], self.high[k] = ((end - space.origin)[k] / scale for end in (space.lower, space.upper))
        self.fixed = self.low == self.high
        self.start[self.fixed] = self.low[self.fixed]
        self.quadratic = G.T @ G
        self.quadratic[k, k] += weight

    def slope(self, x: Array, duals: Array) -> Array:
        """Return the derivative of the cost, with ``duals`` of the links (λ B⁻¹) given."""
        slope = self.G.T @ (self.G @ x - self.g)
        slope[self.k] += self.weight * (x - self.space.wish)[self.k]
        slope[self.space.places] += self.weight * ONE - packed(duals)
        return np.asarray(slope)

    def curvature(self, roots: Array) -> Array:
        """Return the second derivative with the barriers' X ↦ tr(F X Fᵀ F X Fᵀ) of the links, F their ``roots``."""
        places = self.space.places
        columns = packed(roots[:, None] @ UNITS @ roots.swapaxes(1, 2)[:, None])
        H = self.quadratic.copy()
        H[places[:, :, None], places[:, None]] += columns @ columns.swapaxes(1, 2)
        return np.asarray(H)


def minimum(space: BodySpace, G: Array, g: Array, weight: float) -> Array | None:
    """Return x of the minimum; None if the links have other bounds, or if the steps do not converge."""
    if space.masses or space.com or space.boxes or space.total_mass is not None:
        return None
    cost = Entropic(space, G, g, weight)
    try:
        found = newton(cost, cost.start, FEW)
        if found is None and (near := interior_point(cost)) is not None:
            found = newton(cost, near, MANY)
            if found is None and CENTRED * weight * 4.0 * len(space.links) < NEGLIGIBLE * float(np.sum((G @ near - g) ** 2)):
                found = near
    except np.linalg.LinAlgError:  # λ is rounding beside almost exact data
        return None
    return found


def newton(cost: Entropic, x: Array, steps: int) -> Array | None:
    """Return the minimum by Newton steps from a consistent x, or None."""
    space, weight = cost.space, cost.weight
    low, high = cost.low, cost.high
    x = np.clip(x, low, high)
    for _ in range(steps):
        bodies = space.matrices(x)
        values, vectors = np.linalg.eigh(bodies)
        half = (vectors / np.sqrt(values)[:, None]) @ vectors.swapaxes(1, 2)
        slope = cost.slope(x, weight * half @ half)
        H = cost.curvature(np.sqrt(np.sqrt(weight)) * half)
        free = np.flatnonzero(~(cost.fixed | ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))))
        step = np.zeros(len(x))
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        done = float(-slope @ step) < CONVERGED
        ratios = np.linalg.eigvalsh(half @ (space.matrices(x + step) - bodies) @ half)
        longest = min(1.0, INSIDE / max(-float(ratios.min(initial=0.0)), INSIDE))
        for share in (longest * 0.5 ** np.arange(1 if done else SHORTER)).tolist():
            d, ratio = np.clip(x + share * step, low, high) - x, share * ratios
            # of the quadratic part, and of the bodies beyond the linear term
            change = slope @ d + 0.5 * d @ (cost.quadratic @ d) + weight * np.sum(ratio - np.log1p(ratio))
            if done or change < DECREASE * (slope @ d):
                x = x + d
                break
        else:
            return None
        if done:
            return np.asarray(x)
    return None


def interior_point(cost: Entropic) -> Array | None:
    """Return x near the minimum, where Newton steps converge, or None.

    Each link has a dual S, each bound a multiplier z: the derivative of the cost with S instead of λ B⁻¹ and the multipliers
    becomes zero, while the eigenvalues of B S approach λ, and the products of distances and multipliers zero.
    """
    space, weight, x = cost.space, cost.weight, cost.start
    free = np.flatnonzero(~cost.fixed)
    lower, upper = (np.flatnonzero(np.isfinite(end) & ~cost.fixed) for end in (cost.low, cost.high))
    at, sign = np.append(lower, upper), np.repeat([1.0, -1.0], [len(lower), len(upper)])
    end = np.append(cost.low[lower], cost.high[upper])
    bodies, room = space.matrices(x), sign * (x[at] - end)
    first = cost.slope(x, weight * np.linalg.inv(bodies))
    size = max(weight, float(first @ np.linalg.solve(cost.quadratic + np.eye(len(x)), first)))
    S, z, length = size * np.linalg.inv(bodies), size / room, 1.0
    for _ in range(ITERATIONS):
        mean = float(np.mean(np.trace(bodies @ S, axis1=1, axis2=2))) / 4.0
        touching = float(np.mean(room * z)) if len(z) else 0.0
        if mean < CENTRED * weight and touching < AT_BOUNDS * weight and length > INSIDE:
            return np.asarray(x)
        factor = min(max(1.0 - length, REDUCED[0]), REDUCED[1])
        wanted, near = max(weight, factor * mean), factor * touching
        L = np.linalg.cholesky(bodies)
        inverse = np.linalg.inv(L)
        values, vectors = np.linalg.eigh(L.swapaxes(1, 2) @ S @ L)
        # the scaling point W with W S W = B has the inverse FᵀF
        F = (vectors * np.maximum(values, 1e-300)[:, None] ** 0.25).swapaxes(1, 2) @ inverse
        scaling, change = F.swapaxes(1, 2) @ F, wanted * inverse.swapaxes(1, 2) @ inverse - S
        H = cost.curvature(F)
        np.add.at(H, (at, at), z / room)
        right = -cost.slope(x, S + change)
        np.add.at(right, at, sign * near / room)
        step = np.zeros(len(x))
        step[free] = np.linalg.solve(H[np.ix_(free, free)], right[free])
        moved = space.matrices(x + step) - bodies
        dS, dz = change - scaling @ moved @ scaling, near / room - z - z / room * sign * step[at]
        roots = np.linalg.inv(np.linalg.cholesky(S))
        relative = [np.linalg.eigvalsh(R @ D @ R.swapaxes(1, 2)).ravel() for R, D in ((inverse, moved), (roots, dS))]
        least = float(np.concatenate([*relative, sign * step[at] / room, dz / z]).min())
        length = min(1.0, INSIDE / max(-least, 1e-300))
        x, S, z = x + length * step, S + 0.5 * length * (dS + dS.swapaxes(1, 2)), z + length * dz
        bodies, room = space.matrices(x), sign * (x[at] - end)
    return None

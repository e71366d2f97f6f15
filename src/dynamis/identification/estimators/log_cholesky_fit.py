"""Unconstrained least squares over physically consistent inertias: log-Cholesky parameters and Newton's method.

The map from θ to inertias is bijective, so the minimum is that of the convex program. With J = U Uᵀ everything is quadratic
in J except −log det J, which is linear in θ: gradient and Hessian are exact and cheap. Masses and centres of mass are entries
of θ. Bounded variables are functions of free ones: x = lower + φ² above a bound, a sine between two.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.convex import ONE, Solution
from dynamis.identification.log_cholesky import factor, factor_derivative, from_log_cholesky, jacobian, to_log_cholesky
from dynamis.identification.pseudo_inertia import unpacked

Array = npt.NDArray[Any]

STAGE = 10.0  # reduction of the barrier weight per stage
SLIGHT = 1e-6  # final barrier weight in the euclidean metric, relative to λ
ROUNDING = 1e-13  # relative to the largest curvature: smaller gradients are zero
EXACT = 100.0  # weight of a known total mass, relative to all data


def fit_bodies(space: BodySpace, G: Array, g: Array, weight: float, metric: str) -> Solution:
    """Minimize |G x − g|² + weight · distance from the prior over consistent inertias within their bounds.

    The divergence starts with a large weight, reduced in stages, so that the iterates stay away from the boundary.
    """
    from scipy.optimize import minimize

    if space.total_mass is not None:
        exact = EXACT * max(1.0, float(np.linalg.norm(G, 2)))
        row = sum(space.C[link.place.start] for link in space.links) * exact / space.total_mass
        now = sum(space.origin[link.place.start] for link in space.links)
        G, g = np.vstack([G, row]), np.append(g, exact * (1.0 - now / space.total_mass))
    near, last = (0.0, weight) if metric == "entropic" else (weight, SLIGHT * weight)
    steepest = float(np.linalg.norm(G, 2)) ** 2
    inside = max(weight, 1e-2 * steepest)
    phi = _Objective(space, G, g, near, inside, weight).start()
    while True:
        f = _Objective(space, G, g, near, inside, weight)
        goal, steps = (1e-9, 200) if inside == last else (1e-3, 40)
        result = minimize(
            f.value,
            phi,
            jac=f.gradient,
            hess=f.hessian,
            method="trust-exact",
            options={"gtol": max(goal * inside, ROUNDING * steepest), "maxiter": steps},
        )
        phi = result.x
        if inside == last:
            settled = result.success or np.abs(result.jac).max() < max(1e-3 * inside, 1e3 * ROUNDING * steepest)
            return Solution(f.coordinates(phi), "solved" if settled else "solved with reduced accuracy", True)
        inside = max(last, inside / STAGE)


@dataclass(frozen=True, eq=False)
class _Objective:
    """|G x − g|² + near · euclidean + inside · entropic distance of the links + weight · that of the scalars, over free φ."""

    space: BodySpace
    G: Array
    g: Array
    near: float
    inside: float
    weight: float

    def start(self) -> Array:
        """Return the prior, projected into its bounds."""
        theta = self.space.inside()
        for link in self.space.links:
            theta[link.place] = to_log_cholesky(self.space.origin[link.place])
        lower, upper, _, _ = self._bounds
        room = np.minimum(0.1, 0.25 * (upper - lower))
        return self._bounded_inverse(np.clip(theta, lower + room, upper - room))

    @functools.cached_property
    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """Return (lower, upper) of θ, and the masks of those with a lower bound only, and with both."""
        space = self.space
        lower, upper = np.full((2, len(space.origin)), np.inf)
        lower = -lower
        for k, (least, most) in space.masses.items():
            at = space.links[k].place.start
            lower[at], upper[at] = 0.5 * np.log(max(least, 1e-9)), 0.5 * np.log(max(most, 2e-9))
        for k, (low, high) in space.com.items():
            at = space.links[k].place.start
            lower[at + 7 : at + 10], upper[at + 7 : at + 10] = low, high
        others, size = space.others, np.diagonal(space.C)[space.others]
        lower[others] = (space.lower[others] - space.origin[others]) / size
        upper[others] = (space.upper[others] - space.origin[others]) / size
        lower = np.where(np.isfinite(upper) & ~np.isfinite(lower), upper - 1e3, lower)
        return lower, upper, np.isfinite(lower) & ~np.isfinite(upper), np.isfinite(upper)

    def _bounded(self, phi: Array) -> tuple[Array, Array, Array]:
        """Return θ of φ with its elementwise first and second derivatives."""
        lower, upper, above, between = self._bounds
        theta, first, second = phi.copy(), np.ones(len(phi)), np.zeros(len(phi))
        theta[above] = lower[above] + phi[above] ** 2
        first[above], second[above] = 2.0 * phi[above], 2.0
        low, high = lower[between], upper[between]
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        theta[between] = middle + half * np.sin(phi[between])
        first[between], second[between] = half * np.cos(phi[between]), -half * np.sin(phi[between])
        return theta, first, second

    def _bounded_inverse(self, theta: Array) -> Array:
        lower, upper, above, between = self._bounds
        phi = theta.copy()
        phi[above] = np.sqrt(theta[above] - lower[above])
        half = np.maximum(0.5 * (upper[between] - lower[between]), 1e-300)
        phi[between] = np.arcsin(np.clip((theta[between] - lower[between]) / half - 1.0, -1.0, 1.0))
        return phi

    def coordinates(self, phi: Array) -> Array:
        """Return x of φ."""
        return self._coordinates(self._bounded(phi)[0])

    def _coordinates(self, theta: Array) -> Array:
        x = theta.copy()
        for link in self.space.links:
            C = self.space.C[link.place, link.place]
            x[link.place] = np.linalg.solve(C, from_log_cholesky(theta[link.place]) - self.space.origin[link.place])
        return x

    @functools.cached_property
    def _pull(self) -> Array:
        pull = np.full(len(self.space.origin), self.weight)
        for link in self.space.links:
            pull[link.place] = self.near
        return pull

    def value(self, phi: Array) -> float:
        theta = self._bounded(phi)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            x = self._coordinates(theta)
            total = np.sum((self.G @ x - self.g) ** 2) + np.sum(self._pull * (x - self.space.wish) ** 2)
            for link in self.space.links:
                total += 2.0 * self.inside * (ONE @ x[link.place] - _log_det(theta[link.place]))
        return float(total) if np.isfinite(total) else float("inf")

    def _by_x(self, x: Array) -> Array:
        """Return the gradient of the part quadratic in x."""
        q = 2.0 * self.G.T @ (self.G @ x - self.g) + 2.0 * self._pull * (x - self.space.wish)
        for link in self.space.links:
            q[link.place] += 2.0 * self.inside * ONE
        return np.asarray(q)

    def _map(self, theta: Array) -> Array:
        """Return ∂x/∂θ."""
        dx = np.eye(len(theta))
        for link in self.space.links:
            dx[link.place, link.place] = np.linalg.solve(self.space.C[link.place, link.place], jacobian(theta[link.place]))
        return dx

    def _by_theta(self, theta: Array) -> Array:
        slope = self._map(theta).T @ self._by_x(self._coordinates(theta))
        for link in self.space.links:
            slope[link.place.start : link.place.start + 4] -= 2.0 * self.inside * _LOG_DET
        return np.asarray(slope)

    def gradient(self, phi: Array) -> Array:
        theta, first, _ = self._bounded(phi)
        return first * self._by_theta(theta)

    def hessian(self, phi: Array) -> Array:
        theta, first, second = self._bounded(phi)
        dx, q = self._map(theta), self._by_x(self._coordinates(theta))
        A = self.G @ dx
        H = 2.0 * A.T @ A + 2.0 * dx.T @ (self._pull[:, None] * dx)
        for link in self.space.links:
            inverse = np.linalg.inv(link.L)
            H[link.place, link.place] += _curvature(inverse.T @ unpacked(q[link.place]) @ inverse, theta[link.place])
        return np.asarray(first[:, None] * H * first + np.diag(second * self._by_theta(theta)))


_LOG_DET = np.array([8.0, 2.0, 2.0, 2.0])  # log det J = 8 α + 2 (d₁ + d₂ + d₃)


def _log_det(theta: Array) -> Any:
    return _LOG_DET @ theta[:4]


def _curvature(S: Array, theta: Array) -> Array:
    """Return the Hessian (10, 10) of tr(S U Uᵀ) in θ: 2 tr(S dU_i dU_jᵀ) + 2 tr(S d²U_ij Uᵀ)."""
    U, dU = factor(theta), factor_derivative(theta)
    SU = S @ U
    H = 2.0 * np.einsum("iab,jab->ij", dU, S @ dU)
    # d²U: α with any θ_k gives dU_k, and d_k with itself likewise
    again = 2.0 * np.einsum("ab,iab->i", SU, dU)
    H[0, :] += again
    H[1:, 0] += again[1:]
    H[(1, 2, 3), (1, 2, 3)] += again[1:4]
    return np.asarray(H)

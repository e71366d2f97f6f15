"""Least squares over physically consistent inertias as a convex program with linear matrix inequalities.

    min  |G x − g|² + λ d(x)    subject to   1 + X_i ⪰ ε for every link,   lower ≤ A x ≤ upper

Coordinates are rotated and scaled so that the quadratic part is the distance from the unconstrained minimum: well-determined
and undetermined directions are then equally conditioned for the solver.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.convex import LEAST, ONE, Programme, Rows, Solution
from dynamis.identification.estimators.convex_solver import minimise

Array = npt.NDArray[Any]

ROUNDING = 1e-12  # relative to the largest singular value


def fit_bodies(space: BodySpace, G: Array, g: Array, weight: float, metric: str) -> Solution:
    """Minimize |G x − g|² + weight · distance from the prior over consistent inertias within their bounds."""
    U, found, Vt = np.linalg.svd(G, full_matrices=True)
    found = np.where(found > ROUNDING * found.max(initial=0.0), found, 0.0)
    sigma, along = np.zeros((2, len(Vt)))
    sigma[: len(found)], along[: len(found)] = found, found * (U.T @ g)[: len(found)]
    stretch = np.sqrt(sigma**2 + weight)
    best = Vt.T @ ((along + weight * (Vt @ space.wish)) / stretch**2)
    rows = space.rows()
    if metric == "euclidean" and is_allowed(space, rows, best):
        return Solution(best, "solved: no active constraint", True)
    W = Vt.T / stretch  # x = best + W w
    bodies = [(ONE + best[link.place], W[link.place]) for link in space.links]
    start = stretch * (Vt @ (space.inside() - best))
    programme = Programme(np.eye(len(W)), np.zeros(len(W)), bodies, rows.moved(best, W), start=start)
    if metric == "entropic":
        slope = G.T @ (G @ best - g)
        slope[space.others] += weight * (best - space.wish)[space.others]
        for link in space.links:
            slope[link.place] += weight * ONE
        P = np.diag((sigma / stretch) ** 2) + weight * W[space.others].T @ W[space.others]
        programme = replace(programme, P=P, q=W.T @ slope, log_det=weight)
    result = minimise(programme)
    return replace(result, x=best + W @ result.x)


def is_allowed(space: BodySpace, rows: Rows, x: Array, least: float = LEAST) -> bool:
    """Return whether x is physically consistent and within the bounds."""
    inside = np.linalg.eigvalsh(space.matrices(x)).min(initial=np.inf) >= least
    return bool(inside and rows.hold(x, 1e-12))

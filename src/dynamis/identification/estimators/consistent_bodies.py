"""Inertias of links that fit equations best among physically consistent ones, near a prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.pseudo_inertia import LEAST, ONE, Programme, Rows, Solution, minimise, packed

Array = npt.NDArray[Any]

ROUNDING = 1e-12  # relative to the largest singular value
NEWTON, SHORTER = 60, 30  # steps at most, and halvings of each
CONVERGED = 1e-12  # expected decrease of the cost, in squared standard errors, of the last step
DECREASE = 1e-4  # of the cost, relative to that along the slope


def fit_bodies(space: BodySpace, G: Array, g: Array, weight: float, metric: str, least: float = LEAST) -> Solution:
    """Minimize |G x − g|² + weight · distance from the prior over consistent inertias within their bounds.

    Coordinates are rotated and scaled so that the quadratic part is the distance from the unconstrained minimum:
    well-determined and undetermined directions are then equally conditioned for the solver.
    """
    U, found, Vt = np.linalg.svd(G, full_matrices=True)
    found = np.where(found > ROUNDING * found.max(initial=0.0), found, 0.0)
    sigma, along = np.zeros((2, len(Vt)))
    sigma[: len(found)], along[: len(found)] = found, found * (U.T @ g)[: len(found)]
    stretch = np.sqrt(sigma**2 + weight)
    best = Vt.T @ ((along + weight * (Vt @ space.wish)) / stretch**2)
    rows = space.rows()
    if metric == "euclidean" and is_allowed(space, rows, best, least):
        return Solution(best, "solved: no active constraint", True)
    if metric == "entropic" and (newton := newton_steps(space, G, g, weight)) is not None:
        return Solution(newton, "solved", True)
    inside = space.inside()
    # w in standard errors; if the constraints are too many of these away for the solver, in units of the way to the inside
    for size in (1.0, max(1.0, float(np.linalg.norm(stretch * (Vt @ (inside - best)))))):
        W = size * Vt.T / stretch  # x = best + W w
        bodies = [(ONE + best[link.place], W[link.place]) for link in space.links]
        start = stretch * (Vt @ (inside - best)) / size
        programme = Programme(np.eye(len(W)), np.zeros(len(W)), bodies, rows.moved(best, W), least=least, start=start)
        if metric == "entropic":
            slope = G.T @ (G @ best - g)
            slope[space.others] += weight * (best - space.wish)[space.others]
            for link in space.links:
                slope[link.place] += weight * ONE
            P = np.diag((sigma / stretch) ** 2) + weight / size**2 * W[space.others].T @ W[space.others]
            programme = replace(programme, P=P, q=W.T @ slope / size**2, log_det=weight / size**2)
        result = minimise(programme)
        result = replace(result, x=best + W @ result.x, impossible=result.impossible and not is_allowed(space, rows, inside))
        if result.solved or result.impossible:
            break
    return result


def newton_steps(space: BodySpace, G: Array, g: Array, weight: float) -> Array | None:
    """Return x of `fit_bodies` with the entropic distance, which is infinite where an inertia is not consistent: by Newton
    steps projected on the bounds of scalar parameters. None with other bounds, or if the steps do not converge."""
    if space.masses or space.com or space.boxes or space.total_mass is not None:
        return None
    x, k, GG = space.inside(), space.others, G.T @ G
    low, high = np.full((2, len(x)), [[-np.inf], [np.inf]])
    low[k], high[k] = ((end - space.origin)[k] / np.diagonal(space.C)[k] for end in (space.lower, space.upper))
    fixed = low == high
    x[fixed] = low[fixed]
    for _ in range(NEWTON):
        slope, bodies = G.T @ (G @ x - g), space.matrices(x)
        slope[k] += weight * (x - space.wish)[k]
        slope[space.places] += weight * (ONE - packed(np.linalg.inv(bodies)))
        K = space.curvature(x, "entropic")
        H = GG + weight * K.T @ K
        free = np.flatnonzero(~(fixed | ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))))
        step = np.zeros(len(x))
        try:
            step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        except np.linalg.LinAlgError:  # λ is rounding beside almost exact data
            return None
        done = float(-slope @ step) < CONVERGED
        for share in (0.5 ** np.arange(1 if done else SHORTER)).tolist():
            d = np.clip(x + share * step, low, high) - x
            ratio = np.linalg.eigvals(np.linalg.solve(bodies, space.matrices(x + d) - bodies)).real
            if ratio.min() <= -1.0:  # not consistent
                continue
            # change of the cost: of the quadratic part, and of the bodies beyond the linear term
            change = slope @ d + 0.5 * d @ (GG @ d) + weight * (0.5 * d[k] @ d[k] + np.sum(ratio - np.log1p(ratio)))
            if done or change < DECREASE * (slope @ d):
                x = x + d
                break
        else:
            return None
        if done:
            return x
    return None


def settled(space: BodySpace, G: Array, x: Array) -> Array:
    """Return x moved towards a prior with massless links, in the null space of G: what the data do not determine.

    Distances from a massless link are measured from a body with mass, towards which a fit is drawn there.
    """
    masses = space.prior[[link.place.start for link in space.links]]
    if (masses > 0.0).all():
        return x
    _, sigma, Vt = np.linalg.svd(G, full_matrices=True)
    N = Vt[int((sigma > ROUNDING * sigma.max(initial=0.0)).sum()) :]
    step, rows = N.T @ (N @ (space.wish - x)), space.rows()
    tried = [*(1.0 - 10.0 ** np.arange(-6.0, 0.0)), *0.5 ** np.arange(1.0, 10.0)]
    shares = (share for share in tried if is_allowed(space, rows, x + share * step))
    return np.asarray(x + next(shares, 0.0) * step)


def is_allowed(space: BodySpace, rows: Rows, x: Array, least: float = LEAST) -> bool:
    """Return whether x is physically consistent and within the bounds."""
    inside = np.linalg.eigvalsh(space.matrices(x)).min(initial=np.inf) >= least
    return bool(inside and rows.hold(x, 1e-12))

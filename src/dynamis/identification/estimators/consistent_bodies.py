"""Inertias of links that fit equations best among physically consistent ones, near a prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.entropic import minimum
from dynamis.identification.pseudo_inertia import LEAST, ONE, Programme, Rows, Solution, minimise

Array = npt.NDArray[Any]

ROUNDING = 1e-12  # relative to the largest singular value


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
    if metric == "entropic" and (found_x := minimum(space, G, g, weight)) is not None:
        return Solution(found_x, "solved", True)
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

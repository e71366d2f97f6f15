"""The largest value of a constant over a box: sampling, and proof by branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.analysis.constants import Constant
from dynamis.analysis.linearised import Functions

Array = npt.NDArray[Any]
Objective = Callable[[Array], Array]  # values at points (N, d) -> (N,)

DEFAULT_SAMPLES = 4096
MAX_STARTS = 8
MAX_ITERATIONS = 120
BOXES_PER_BATCH = 512
MAX_SLOPES = 1_000_000  # held in memory at a time; batches of functions with more are smaller
MAX_BOXES = 1_000_000


class Found(NamedTuple):
    """The largest value found, its location, and a proven upper bound over the box."""

    value: float
    at: Array
    bound: float
    boxes: int


def sample(
    objective: Objective, lower: Array, upper: Array, samples: int = DEFAULT_SAMPLES, deadline: float = np.inf
) -> tuple[float, Array]:
    """The best of many random points and corners, refined by shrinking steps along axes and in random directions.

    Refinement ends at ``deadline`` (of ``time.monotonic``).
    """
    rng = np.random.default_rng(0)
    d = len(lower)
    inside = rng.random((samples if (lower < upper).any() else 1, d))
    inside[: samples // 4] = np.round(inside[: samples // 4])  # extremes often stand in corners
    points = np.vstack([lower + inside * (upper - lower), 0.5 * (lower + upper)[None]])
    values = objective(points)
    best = np.argsort(-values)[: min(MAX_STARTS, 1 + samples // 64)]
    x, fx = points[best], values[best]
    step = np.full(len(x), 0.1)
    for _ in range(MAX_ITERATIONS if (lower < upper).any() else 0):
        if time.monotonic() > deadline:
            break
        ways = np.vstack([np.eye(d), -np.eye(d), rng.standard_normal((d + 1, d))])
        tried = np.clip(x[:, None] + step[:, None, None] * ways * (upper - lower), lower, upper)
        values = objective(tried.reshape(-1, d)).reshape(len(x), -1)
        chosen = values.argmax(axis=1)
        rows = np.arange(len(x))
        better = values[rows, chosen] > fx
        x = np.where(better[:, None], tried[rows, chosen], x)
        fx = np.where(better, values[rows, chosen], fx)
        step = np.where(better, np.minimum(1.5 * step, 0.3), 0.6 * step)
        if step.max() < 1e-10:
            break
    top = int(fx.argmax())
    return float(fx[top]), x[top]


def prove(constant: Constant, functions: Functions, start: tuple[float, Array], tolerance: float, deadline: float) -> Found:
    """Branch and bound: the boxes with the largest bounds are halved until none exceeds the best value by the tolerance.

    ``tolerance`` is in the unit of the value. Ends early at ``deadline`` (of ``time.monotonic``); the bound holds even then.
    """
    best, at = start
    batch = min(BOXES_PER_BATCH, max(1, MAX_SLOPES // max(functions.m * functions.d, 1)))
    low, high = functions.lower[None], functions.upper[None]
    # differences below rounding are not resolved
    tolerance = max(tolerance, 4 * functions.m * float(functions.over(at[None], at[None]).error.max(initial=0.0)))
    everywhere, _ = constant.bound(functions.whole())
    bounds, cut, best, at = _evaluate(constant, functions, low, high, everywhere, best, at)
    settled, boxes = -np.inf, 1
    while len(bounds):
        done = bounds <= best + tolerance
        settled = max(settled, bounds[done].max(initial=-np.inf))
        low, high, bounds, cut = (x[~done] for x in (low, high, bounds, cut))
        if not len(bounds) or time.monotonic() > deadline or len(bounds) > MAX_BOXES:
            break
        order = np.argsort(-bounds, kind="stable")
        chosen, others = order[:batch], order[batch:]
        halves = _halves(low[chosen], high[chosen], cut[chosen])
        if halves is None:  # boxes of no width
            break
        parents = np.tile(bounds[chosen], 2)
        new_bounds, new_cut, best, at = _evaluate(constant, functions, *halves, parents, best, at)
        boxes += len(new_bounds)
        low, high = (np.vstack([kept[others], new]) for kept, new in zip((low, high), halves, strict=True))
        bounds, cut = np.concatenate([bounds[others], new_bounds]), np.concatenate([cut[others], new_cut])
    return Found(best, at, max(settled, bounds.max(initial=-np.inf), best), boxes)


def _evaluate(constant: Constant, functions: Functions, low: Array, high: Array, parents: Array, best: float, at: Array) -> Any:
    """Bounds of the boxes and their split variables; the best value so far, updated at the centres."""
    f = functions.over(low, high)
    bounds, shares = constant.bound(f)
    # a part of a box obeys the bound of the whole
    bounds = np.fmin(np.where(np.isnan(bounds), np.inf, bounds), parents)
    values = constant.point(f.value)
    top = int(values.argmax())
    if values[top] > best:
        best, at = float(values[top]), 0.5 * (low[top] + high[top])
    if not functions.d:
        return bounds, np.zeros(len(low), dtype=int), best, at
    # where nothing is known about the shares, the widest side is cut
    cut = np.where(np.isfinite(shares), shares, 0.0) + 1e-12 * f.half
    return bounds, cut.argmax(axis=1), best, at


def _halves(low: Array, high: Array, cut: Array) -> tuple[Array, Array] | None:
    if not low.shape[1]:
        return None
    rows = np.arange(len(low))
    middle = 0.5 * (low[rows, cut] + high[rows, cut])
    if not ((low[rows, cut] < middle) & (middle < high[rows, cut])).all():
        return None
    left, right = high.copy(), low.copy()
    left[rows, cut] = right[rows, cut] = middle
    return np.vstack([low, right]), np.vstack([left, high])

"""Structural constants for controllers: the gravity gradient, and bounds of M, C and g in scaled joint coordinates.

Unscaled norms are dominated by the heavy proximal joints and would give excessive gains at the wrist. Joint coordinates are
therefore scaled by w_k = √(largest M_kk): with v' = W v and τ' = W⁻¹ τ every joint has an inertia of at most one, and no
eigenvalue of M' = W⁻¹ M W⁻¹ exceeds n. The constants are found by sampling and, within the time limit, proven by branch and
bound, as in `structural_bounds`.
"""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis import constants
from dynamis.analysis.coriolis_norm import christoffel_entries, largest_form, unfoldings
from dynamis.analysis.dependence import Expressions
from dynamis.analysis.extremes import DEFAULT_SAMPLES, prove, sample
from dynamis.analysis.linearised import Functions
from dynamis.analysis.report import Bound
from dynamis.display import as_table
from dynamis.kinematics.box import box_of, check_robot, one_turn, refuse_unlimited
from dynamis.robot import Robot
from dynamis.scalar import Node, jacobian

Array = npt.NDArray[Any]
BOUND_TOLERANCE = 1e-2  # relative: gains stay above these constants with a larger margin
MAX_SAMPLED_ENTRIES = 400_000  # at all sampled points together
_slopes: weakref.WeakKeyDictionary[Robot, dict[bytes, Bound]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False, repr=False)
class ScaledBounds:
    """Scaled bounds: ``least`` ≤ M' ≤ ``inertia``, ‖C'(x) y‖ ≤ ``coriolis`` ‖x‖ ‖y‖, ‖g'‖ ≤ ``gravity``; ``scale`` (n) is w."""

    scale: Array
    least: Bound
    inertia: Bound
    coriolis: Bound
    gravity: Bound

    @property
    def certified(self) -> bool:
        return self.inertia.certified and self.coriolis.certified and self.gravity.certified

    def __repr__(self) -> str:
        others = f"Coriolis {self.coriolis.safe:.4g}, gravity {self.gravity.safe:.4g}"
        return f"<ScaledBounds: {self.least.safe:.4g} ≤ M' ≤ {self.inertia.safe:.4g}, {others}>"

    _repr_html_ = as_table


def gravity_slope(robot: Robot, scale: Any = None, *, both: bool = False, seconds: float = 2.0) -> Bound:
    """α ≥ −λ_min(∂g/∂q) over the joint ranges, with ``both`` signs also ≥ λ_max(∂g/∂q); ∂g/∂q is the Hessian of U.

    With a ``scale`` s (n) it is that of S⁻¹ (∂g/∂q) S⁻¹: K + ∂g/∂q with K = S² is positive definite everywhere if and only if
    α < 1. ``at`` is the configuration with the largest value found.

    >>> import dynamis as dy
    >>> round(gravity_slope(dy.load("planar_2r_melchiorri")).value, 2)
    1055.26
    """
    s = np.broadcast_to(np.ones(robot.n) if scale is None else np.asarray(scale, dtype=float), (robot.n,))
    known = _slopes.setdefault(robot, {})
    key = s.tobytes() + bytes([both])
    if key not in known:
        search, n = _Search(robot, 0.5 * seconds if both else seconds), robot.n
        H = jacobian(np.array(search.terms.gravity, dtype=object), search.terms.q)
        eigenvalue = constants.LargestEigenvalue(search.terms.places)
        bounds = []
        for sign in (-1.0, 1.0) if both else (-1.0,):
            entries = [H[i, j] * (sign / float(s[i] * s[j])) for i in range(n) for j in range(i, n)]
            bounds.append(search.largest("α", f"largest eigenvalue of {'−' * (sign < 0.0)}∂g/∂q", eigenvalue, entries))
        worst = max(bounds, key=lambda x: x.value)
        known[key] = replace(worst, upper=max(x.upper for x in bounds), certified=all(x.certified for x in bounds))
    return known[key]


def scaled_bounds(robot: Robot, *, seconds: float = 4.0) -> ScaledBounds:
    """The bounds of M, C and g in scaled joint coordinates; each search takes at most a quarter of the time."""
    search = _Search(robot, seconds / 4.0)
    terms, n = search.terms, robot.n
    diagonal = [terms.inertia[terms.places[k, k]] for k in range(n)]
    w = np.sqrt([search.largest("M_kk", "", constants.LargestSum(np.ones((1, 1))), [m], seconds=0.1).safe for m in diagonal])
    of = [terms.inertia[terms.places[i, j]] / float(w[i] * w[j]) for i in range(n) for j in range(i, n)]
    inertia = search.largest("μ'", "largest ‖M'‖", constants.LargestEigenvalue(terms.places), of)
    below = search.largest("λ'", "smallest eigenvalue of M'", constants.SmallestEigenvalue(terms.places), of)
    least = Bound(
        "λ'", below.meaning, max(-below.upper, 0.0), -below.value, -below.value, None, below.certified, below.status, False
    )
    if inertia.upper > n:  # the trace of M' is at most n
        inertia = Bound(
            **{**vars(inertia), "upper": float(n), "status": "value of sampled configurations; upper bound proven by the trace"}
        )
    entries, places = christoffel_entries(terms.inertia, terms.places, terms.q)
    weights = np.ones(len(entries))
    for (k, i, j), place in np.ndenumerate(places):
        weights[place] = 1.0 / (w[k] * w[i] * w[j])
    coriolis = search.bilinear([x * float(s) for x, s in zip(entries, weights, strict=True)], places)
    gravity = search.largest(
        "g'", "largest ‖g'‖", constants.Length(), [x / float(s) for x, s in zip(terms.gravity, w, strict=True)]
    )
    return ScaledBounds(w, least, inertia, coriolis, gravity)


class _Search:
    def __init__(self, robot: Robot, seconds: float) -> None:
        check_robot(robot)
        self.robot, self.seconds = robot, seconds
        self.terms = Expressions(robot.model)
        low, high = box_of(robot, None, None)
        refuse_unlimited(robot, self.terms.coordinates_in([*self.terms.inertia, *self.terms.gravity]), low, high)
        self.box = one_turn(robot.model, low, high)

    def functions(self, entries: list[Any]) -> Functions:
        entries = [x if isinstance(x, Node) else float(x) for x in entries]
        used = self.terms.coordinates_in(entries)
        return Functions(entries, [self.terms.q[k] for k in used], self.box[0][used], self.box[1][used])

    def largest(
        self, name: str, meaning: str, constant: constants.Constant, entries: list[Any], seconds: float | None = None
    ) -> Bound:
        f = self.functions(entries)
        end = time.monotonic() + (self.seconds if seconds is None else seconds)
        count = min(DEFAULT_SAMPLES, max(16, MAX_SAMPLED_ENTRIES // max(f.m, 1)))
        value, at = sample(lambda x: constant.point(f.at(x)), f.lower, f.upper, count, end)
        found = prove(constant, f, (value, at), BOUND_TOLERANCE * abs(value), end)
        closed = found.bound <= found.value + 2.0 * BOUND_TOLERANCE * abs(found.value) + 1e-12
        q = self.robot.home()
        q[self.terms.coordinates_in([x for x in entries if isinstance(x, Node)])] = found.at
        return replace(_bound(name, meaning, found.value, found.bound, closed), at=q)

    def bilinear(self, entries: list[Any], places: Array) -> Bound:
        """The smallest v_b with ‖C(x) y‖ ≤ v_b ‖x‖ ‖y‖, sampled; the proven bound is the norm of the coefficient matrix."""
        f = self.functions(entries)
        end = time.monotonic() + self.seconds
        count = max(16, min(DEFAULT_SAMPLES, MAX_SAMPLED_ENTRIES // max(f.m, 1)) // 16)
        value, _ = sample(lambda x: largest_form(f.at(x)[:, places]), f.lower, f.upper, count, end)
        way = constants.Unfolding(unfoldings(places)[0])
        start = sample(lambda x: way.point(f.at(x)), f.lower, f.upper, count, end)
        found = prove(way, f, start, BOUND_TOLERANCE * abs(start[0]), end)
        closed = found.bound <= value * (1.0 + 2.0 * BOUND_TOLERANCE) + 1e-12
        return _bound("v_b'", "largest ‖C'(x) y‖ / (‖x‖ ‖y‖)", value, found.bound, closed)


def _bound(name: str, meaning: str, value: float, upper: float, closed: bool) -> Bound:
    status = "proven" if closed else "value of sampled configurations; not proven in the time limit"
    return Bound(name, meaning, float(value), float(max(upper, value)), float(value), None, bool(closed), status)

"""Removal of terms that are rounding errors of numeric geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log2
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model
from dynamis.spatial.inertia import Inertia
from dynamis.spatial.pose import Pose
from dynamis.symbolic.equivalence import (
    MAX_TYPED_DENOMINATOR,
    Exponents,
    is_noise,
    largest_coefficients,
    rounded_difference,
    size,
)
from dynamis.symbolic.expression import Expression
from dynamis.tolerances import NEGLIGIBLE, PRINTED_AS_ZERO, SUM_ROUNDING

Array = npt.NDArray[Any]


def with_right_angles(model: Model) -> Model:
    """The model with right angles for those that a file gives to ten digits or more: 1.57079632679 for π/2, and sin(π/6) = ½.

    Each would add terms of 1e-12 beside those of the right angle. Lengths and inertias of links that are joined by such
    angles lose the numbers below PRINTED_AS_ZERO of the largest beside them.
    """
    bodies = [
        body and replace(body, placement=_right_angled(body.placement), inertia=_clean_inertia(body.inertia))
        for body in model.bodies
    ]
    frames = {name: replace(frame, pose=_right_angled(frame.pose)) for name, frame in model.frames.items()}
    return replace(model, bodies=tuple(bodies), frames=MappingProxyType(frames))


def _right_angled(pose: Pose) -> Pose:
    R = _without_rounding(pose.R, NEGLIGIBLE)
    if R.dtype != object:
        R = np.where(np.abs(np.abs(R) - 0.5) <= SUM_ROUNDING, np.copysign(0.5, R), R)  # sin(π/6) is 0.49999999999999994
    return Pose(R, _without_rounding(pose.p))


def _clean_inertia(inertia: Inertia) -> Inertia:
    return Inertia(inertia.mass, _without_rounding(inertia.first_moment), _without_rounding(inertia.tensor))


def _without_rounding(x: Array, rounding: float = PRINTED_AS_ZERO) -> Array:
    """The array with zeros for rounding errors of its largest entry; one with symbols is left as it is."""
    return x if x.dtype == object else np.where(np.abs(x) <= rounding * np.abs(x).max(), 0.0, x)


def has_decimal_rotations(model: Model) -> bool:
    """Whether rotations of the model have sines and cosines that are decimals."""
    rotations = [body.placement.R for body in model.bodies if body]
    return any(isinstance(x, float) and 2.0 * x != round(2.0 * x) for R in rotations for x in R.ravel().tolist())


def without_rounding_noise(value: Expression, rotated: bool = False) -> Expression:
    """The expression without terms whose coefficients are rounding errors of the others.

    A rotation by a decimal angle has cos² + sin² = 1 only to rounding; the remainder would appear as separate
    terms. Coefficients are compared among terms with the same parameters, whose units are then the same; where no such term
    is left and links are ``rotated`` by decimal angles, it is an error of their sines and cosines if it is below their rounding
    and below that of all others.
    """
    p = value.numerator
    if all(int(c.q) <= MAX_TYPED_DENOMINATOR for c in p.coeffs()):
        return value
    ring = value.algebra.ring
    terms = p.to_dict()
    largest = largest_coefficients(ring, terms)
    of_rotations = log2(SUM_ROUNDING) + min(0.0, max(largest.values(), default=0.0)) if rotated else -inf
    kept = {
        e: c
        for e, c in terms.items()
        if not is_noise(ring, e, c, largest) and (size(c) > of_rotations or int(c.q) <= MAX_TYPED_DENOMINATOR)
    }
    return value if len(kept) == len(terms) else Expression(value.algebra, ring.context.from_dict(kept), value.denominator)


def difference(a: Expression, b: Expression) -> Expression:
    """a − b, without terms that are rounding errors of the coefficients of a."""
    if not (a.expanded and b.expanded):
        return cast("Expression", a - b)
    ring, x, y = a.algebra.ring, (a.numerator, a.denominator), (b.numerator, b.denominator)
    numerator = rounded_difference(ring, x, y)
    below = [d for d in (a.denominator, b.denominator) if d is not None]
    if not below:
        return Expression(a.algebra, numerator)
    return Expression(a.algebra, *ring.ratio(numerator, below[0] if len(below) == 1 else ring.reduced(ring.product(*below))))


def summed(parts: Sequence[Expression]) -> Expression:
    """The sum of expressions, without terms that cancel except for rounding errors.

    Coefficients computed from decimals, such as masses times squared lengths, are known to about 1e-16 of their size. Where
    those of one term add up to less than SUM_ROUNDING of the largest of them, the term is zero.
    """
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    if not total.expanded or any(x.denominator is not None for x in parts):
        return total
    if all(int(c.q) <= MAX_TYPED_DENOMINATOR for c in total.numerator.coeffs()):
        return total
    sizes: dict[Exponents, float] = {}
    for part in parts:
        for exponents, c in part.numerator.to_dict().items():
            sizes[exponents] = max(sizes.get(exponents, -inf), size(c))
    terms = total.numerator.to_dict()
    kept = {e: c for e, c in terms.items() if size(c) > log2(SUM_ROUNDING) + sizes[e]}
    return total if len(kept) == len(terms) else Expression(total.algebra, total.algebra.ring.context.from_dict(kept))

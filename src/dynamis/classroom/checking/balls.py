"""Equality of expressions at random states, in ball arithmetic: each value with a bound of its rounding error.

Numbers that a person types are exact; those that were computed, such as π/4 or the cosine of an angle in degrees, are known to
rounding. Two expressions agree at a state if the ball of their difference contains zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dynamis.scalar import Node, topological
from dynamis.symbolic.angles import as_fraction
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.equivalence import MAX_TYPED_DENOMINATOR
from dynamis.tolerances import FEW_ROUNDINGS, NEGLIGIBLE, PRINTED_AS_ZERO, SUM_ROUNDING

RANDOM_STATES = 20
Ball = Any  # flint.arb, which has no type stubs
SMOOTH = frozenset({"add", "sub", "neg", "mul", "div", "sin", "cos", "symbol", "sqrt", "exp", "log", "tanh", "keep", "pivot"})
SIGNED = frozenset({"abs", "sign", "asin", "acos", "atan2"})  # determined by their values at states of both signs
_BITS = 128
_SCALES = (1, 1, 1, 10, Fraction(1, 10))  # of the states: beyond limits of joints too, and close to rest


def agree(form: ClosedForm, right: Any, given: Any) -> bool:
    """Whether two expressions have the same value at random states, to rounding."""
    return is_decidable(right, given) and all(_is_zero(a - b, a) for a, b in values(form, right, given))


def agree_within(form: ClosedForm, right: Any, given: Any, changes: Sequence[Any]) -> bool:
    """Whether two expressions differ at random states by no more than the sum of the sizes of these changes."""
    if not changes or not is_decidable(right, given):
        return False
    return all(abs(a - b) <= sum(map(abs, others)) for a, b, *others in values(form, right, given, *changes))


def differ_by_constant(form: ClosedForm, right: Any, given: Any) -> bool:
    """Whether given − right depends on parameters alone, by its values at random states with the same parameters."""
    if not is_decidable(right, given):
        return False
    differences = [(b - a, a) for a, b in values(form, right, given, same_parameters=True)]
    first = differences[0][0]
    return all(_is_zero(x - first, right) for x, right in differences)


def is_decidable(right: Any, given: Any) -> bool:
    """Whether values at random states decide: not if the correct expression has cases of which the answer has none."""
    cases = ({n.op for n in topological([x])} - SMOOTH - SIGNED for x in (right, given))
    return next(cases) <= next(cases)


def values(form: ClosedForm, *nodes: Any, same_parameters: bool = False) -> Iterator[list[Ball]]:
    """The values of expressions at random states; parameters are positive."""
    rng = np.random.default_rng(11)
    state = {id(x) for x in (*form.q, *form.v, *form.a, *form.tau, *form.w)}
    symbols = [n for n in topological(nodes) if n.op == "symbol"]
    kept: dict[int, Fraction] = {}
    for k in range(RANDOM_STATES):
        at = {id(s): Fraction(int(x), 1000) for s, x in zip(symbols, rng.integers(300, 2900, len(symbols)), strict=True)}
        signs = dict(zip(at, rng.choice((-1, 1), len(at)), strict=True))
        at = {key: x * int(signs[key]) * _SCALES[k % len(_SCALES)] if key in state else x for key, x in at.items()}
        kept = kept or {key: x for key, x in at.items() if key not in state}
        yield at_state(nodes, {**at, **kept} if same_parameters else at)


def at_state(nodes: Sequence[Any], at: Mapping[int, Fraction]) -> list[Ball]:
    """The values of expressions at these values of the symbols, by their ids."""
    before, flint.ctx.prec = flint.ctx.prec, _BITS
    try:
        known: dict[int, Ball] = {}
        for n in topological(nodes):
            if n.op == "symbol":
                known[id(n)] = _exact(at[id(n)])
            else:
                known[id(n)] = _OPERATIONS[n.op](*(known[id(x)] if isinstance(x, Node) else number(x) for x in n.args))
        return [known[id(x)] if isinstance(x, Node) else number(x) for x in nodes]
    finally:
        flint.ctx.prec = before


def number(x: float) -> Ball:
    """A number of an expression: exact if it is short in binary, otherwise with the error of its last digits.

    One of many digits below the rounding errors of numbers of size 1, such as cos(π/2) = 6.123e-17, may be zero.
    """
    fraction = as_fraction(x)
    if abs(x) < SUM_ROUNDING and abs(fraction.numerator) > MAX_TYPED_DENOMINATOR:
        return flint.arb(x, SUM_ROUNDING)
    if (1024.0 * x).is_integer():
        return flint.arb(x)
    error = FEW_ROUNDINGS if fraction.denominator <= MAX_TYPED_DENOMINATOR else SUM_ROUNDING
    return _exact(fraction) + flint.arb(0, abs(x) * error)


def _exact(x: Fraction) -> Ball:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def _is_zero(difference: Ball, beside: Ball) -> bool:
    """Whether a ball contains zero and is small, or is all but zero, beside a value or in itself where that vanishes."""
    if not difference.is_finite():
        return False
    size = float(beside.abs_upper())
    small = NEGLIGIBLE if difference.contains(0) else PRINTED_AS_ZERO
    return float(difference.abs_upper()) <= small * (size if size > NEGLIGIBLE else 1.0)


def _compared(is_true: Callable[[Ball, Ball], bool], is_false: Callable[[Ball, Ball], bool]) -> Callable[[Ball, Ball], Ball]:
    return lambda a, b: flint.arb(1) if is_true(a, b) else flint.arb(0) if is_false(a, b) else flint.arb.nan()


def _chosen(condition: Ball, a: Ball, b: Ball) -> Ball:
    if condition.is_zero():
        return b
    return flint.arb.nan() if condition.contains(0) or not condition.is_finite() else a


_OPERATIONS: dict[str, Callable[..., Ball]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "keep": lambda a: a,
    "pivot": lambda a, *_: a,
    **{op: lambda a, op=op: getattr(a, op)() for op in ("sqrt", "sin", "cos", "asin", "acos", "exp", "log", "tanh", "floor")},
    "abs": abs,
    "sign": lambda a: a.sgn(),
    "atan2": flint.arb.atan2,
    "pow": flint.arb.__pow__,
    "min": lambda a, b: a.min(b),
    "max": lambda a, b: a.max(b),
    "and": lambda a, b: a.min(b),
    "or": lambda a, b: a.max(b),
    "lt": _compared(lambda a, b: a < b, lambda a, b: a >= b),
    "le": _compared(lambda a, b: a <= b, lambda a, b: a > b),
    "eq": _compared(lambda a, b: a == b, lambda a, b: a != b),
    "not": lambda a: _chosen(a, flint.arb(0), flint.arb(1)),
    "where": _chosen,
}  # fmt: skip

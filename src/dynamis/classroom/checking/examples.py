"""Numbers at which an answer differs from the correct expression."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dynamis.classroom.checking.balls import RANDOM_STATES, at_state
from dynamis.classroom.checking.findings import EXACT
from dynamis.scalar import evaluate, topological
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.expression import Algebra
from dynamis.tolerances import PRINTED_AS_ZERO

MAX_DIGITS = 15
Values = tuple[dict[Any, float], float, float]  # of the symbols, the correct expression and the answer


def example(form: ClosedForm, algebra: Algebra, right: Any, given: Any, left: str = "") -> str:
    """Numbers at which the two differ; empty if they do not at any of the random states.

    Where ``left`` is the number 0, they are right sides of equations 0 = …, whose values are no correct ones of anything.
    """
    differing = [x for x in _random_values(form, algebra, right, given) if not abs(x[1] - x[2]) <= _negligible(x)]
    finite = [x for x in differing if math.isfinite(x[2])]
    if not differing:
        return ""
    values, a, b = (finite or differing)[0]
    said = ", ".join(f"{_symbol(algebra, s)} = {x:g}" for s, x in values.items())
    digits = next(k for k in range(6, MAX_DIGITS + 1) if f"{a:.{k}g}" != f"{b:.{k}g}")
    balls = at_state([right, given], {id(s): Fraction(x).limit_denominator(10) for s, x in values.items()})
    a, b = (0.0 if ball.is_finite() and ball.contains(0) else x for x, ball in zip((a, b), balls, strict=True))  # terms cancel
    where = f"at {said}: " if said else ""
    if left == "0":
        return f"{where}the right side of your equation 0 = … is {b:.{digits}g}, that of the correct one {a:.{digits}g}"
    return f"{where}your formula gives {b:.{digits}g}, the correct value is {a:.{digits}g}"


def _negligible(x: Values) -> float:
    return PRINTED_AS_ZERO * max(abs(x[1]), abs(x[2]))


def _random_values(form: ClosedForm, algebra: Algebra, right: Any, given: Any) -> Iterator[Values]:
    """Random values of the symbols, and those of the two expressions there.

    Parameters are positive; with functions such as |x|, which a sign can change, the state has both signs.
    """
    rng = np.random.default_rng(7)
    state = {id(x) for x in (*form.q, *form.v, *form.a, *form.tau, *form.w)}
    signed = any(n.op not in EXACT for n in topological([right, given]))
    used = {id(n) for n in topological([right, given]) if n.op == "symbol"}
    symbols = [a.node for a in algebra.ring.atoms if a.kind == "symbol" and a.node is not None and id(a.node) in used]
    for _ in range(RANDOM_STATES):
        values = {s: float(Fraction(int(k), 10)) for s, k in zip(symbols, rng.integers(3, 29, len(symbols)), strict=True)}
        if signed:
            values = {s: x * rng.choice((-1.0, 1.0)) if id(s) in state else x for s, x in values.items()}
        with np.errstate(all="ignore"):
            a, b = (float(evaluate(np.array(x, dtype=object), values)) for x in (right, given))
        yield values, a, b


def _symbol(algebra: Algebra, s: Any) -> str:
    atom = next(a for a in algebra.ring.atoms if a.node is s)
    return algebra.letters.text(algebra.ring, atom)

"""Rewriting of the normal form in the sines and cosines of a textbook.

The normal form is designed for computation: few angles, no S². For reading, four rewriting rules apply:

- a polynomial that does not depend on the first joints of a parallel run is written in angles that start after them;
- C_i C_j + S_i S_j becomes the cosine of the difference of the two angles, which is a sum of joint variables, or the angle
  between two links with parallel axes;
- a − a C² becomes a S²;
- the sign of an angle that would begin with a minus sign is reversed.
"""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError
from dynamis.symbolic.angles import compared, facing
from dynamis.symbolic.ring import Polynomial, Ring

Terms = dict[tuple[int, ...], Any]


def dressed(ring: Ring, p: Polynomial) -> Polynomial:
    """The same function in sines and cosines of angle differences (arcs) where these make it shorter."""
    return ring.context.from_dict(dressed_terms(ring, p))


def dressed_terms(ring: Ring, p: Polynomial) -> Terms:
    """The terms of the dressed polynomial, by their exponents."""
    starts = _starts(ring, p)
    degrees = p.degrees()
    terms = _rebased(ring, p.to_dict(), starts)
    used = [j for j, start in enumerate(starts) if start is not None and _occurs(ring, degrees, j)]
    for j in used:
        for i in reversed(compared(ring.angles, j)):
            if i in used and starts[i] == starts[j]:
                terms = _differences(ring, terms, starts[i], i, j)
    terms = _squares(ring, terms, starts, degrees)
    return _turned_round(ring, terms)


def arc_terms(ring: Ring, start: int, end: int) -> list[tuple[Any, int, int]]:
    """The angle of an arc as it is written: (unit, sign, denominator) from the first joint on, which has the sign +."""
    chain = [end, *ring.below(end)]
    if start in (-1, *chain):
        path = [(k, 1) for k in chain[: chain.index(start) if start in chain else None]]
    else:
        side = facing(ring.angles, start, end)
        runs = [(k, -side) for k in (start, *ring.below(start))], [(k, 1) for k in chain]
        path = [*runs[0], *runs[1]] if side > 0 else [*runs[1], *runs[0]]
    path.reverse()
    lead = ring.angles[path[0][0]].sign
    return [(ring.angles[k].unit, lead * sign * ring.angles[k].sign, ring.angles[k].denominator) for k, sign in path]


def _starts(ring: Ring, p: Polynomial) -> list[int | None]:
    """Of each angle, the angle to count it from: −1 for none; None where the polynomial does not depend on it."""
    present = p.degrees()
    free = []
    for k, angle in enumerate(ring.angles):
        near = [j for j in range(len(ring.angles)) if j == k or k in ring.below(j)]
        touched = any(present[ring.arc[kind, -1, j]] for j in near for kind in ("sine", "cosine"))
        free.append(not touched or _is_free(ring, p, angle.unit))
    starts: list[int | None] = []
    for k, angle in enumerate(ring.angles):
        below = -1 if angle.base is None else starts[angle.base]
        if below is None:  # everything under this angle has been dropped
            starts.append(None if free[k] else angle.base)
        elif angle.base is None:
            starts.append(None if free[k] else -1)
        else:
            starts.append(below)
    return starts


def _is_free(ring: Ring, p: Polynomial, unit: Any) -> bool:
    """Whether a polynomial does not depend on a joint variable."""
    try:
        return bool(ring.derivative(p, unit).is_zero())
    except InputError:  # it does, through a function such as arcsin, whose derivative is not in the ring
        return False


def _rebased(ring: Ring, terms: Terms, starts: list[int | None]) -> Terms:
    """Angles counted from their start; those the polynomial does not depend on set to zero."""
    moves = []
    for j, start in enumerate(starts):
        if start != -1:
            moves.append((ring.arc["sine", -1, j], None if start is None else ring.arc["sine", start, j]))
            moves.append((ring.arc["cosine", -1, j], None if start is None else ring.arc["cosine", start, j]))
    if not moves:
        return terms
    dropped_sines = [ring.arc["sine", -1, j] for j, start in enumerate(starts) if start is None]
    result: Terms = {}
    for exponents, coefficient in terms.items():
        if any(exponents[k] for k in dropped_sines):
            continue
        e = list(exponents)
        for old, new in moves:
            if new is not None:
                e[new] = e[old]
            e[old] = 0
        _add(result, tuple(e), coefficient)
    return result


def _differences(ring: Ring, terms: Terms, start: int | None, i: int, j: int) -> Terms:
    assert start is not None
    si, ci, sj, cj = (ring.arc[kind, start, k] for k in (i, j) for kind in ("sine", "cosine"))
    sine, cosine, side = ring.arc["sine", i, j], ring.arc["cosine", i, j], facing(ring.angles, i, j)
    # (first pair, second pair, the sign between them, what the two become)
    for first, second, sign, becomes in (((ci, cj), (si, sj), side, cosine), ((ci, sj), (si, cj), -side, sine)):
        for exponents in list(terms):
            if exponents not in terms or not (exponents[first[0]] and exponents[first[1]]):
                continue
            rest = _times(exponents, {first[0]: -1, first[1]: -1})
            partner = _times(rest, {second[0]: 1, second[1]: 1})
            if partner in terms and terms[partner] == sign * terms[exponents]:
                coefficient = terms.pop(exponents)
                del terms[partner]
                _add(terms, _times(rest, {becomes: 1}), coefficient)
    return terms


def _squares(ring: Ring, terms: Terms, starts: list[int | None], degrees: list[int]) -> Terms:
    for end, start in enumerate(starts):
        if start is None or degrees[ring.arc["cosine", -1, end]] < 2:
            continue
        s, c = ring.arc["sine", start, end], ring.arc["cosine", start, end]
        for exponents in [e for e in terms if e[c] >= 2]:
            rest = _times(exponents, {c: -2})
            if exponents in terms and rest in terms and terms[rest] == -terms[exponents]:
                del terms[exponents]
                _add(terms, _times(rest, {s: 2}), terms.pop(rest))
    return terms


def _turned_round(ring: Ring, terms: Terms) -> Terms:
    odd = []
    for (kind, start, end), k in ring.arc.items():
        if kind == "sine" and start != -1:
            first = end
            while ring.angles[first].base not in (start, None):
                first = ring.angles[first].base  # type: ignore[assignment]
            if ring.angles[first].sign < 0:
                odd.append(k)
    if not odd:
        return terms
    return {e: -c if sum(e[k] for k in odd) % 2 else c for e, c in terms.items()}


def _occurs(ring: Ring, degrees: list[int], j: int) -> bool:
    return any(degrees[ring.arc[kind, -1, j]] > 0 for kind in ("sine", "cosine"))


def _times(exponents: tuple[int, ...], changes: dict[int, int]) -> tuple[int, ...]:
    e = list(exponents)
    for k, change in changes.items():
        e[k] += change
    return tuple(e)


def _add(terms: Terms, exponents: tuple[int, ...], coefficient: Any) -> None:
    total = terms.pop(exponents, 0) + coefficient
    if total != 0:
        terms[exponents] = total

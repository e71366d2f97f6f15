"""The angles of a closed form, from the kinematic tree."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.joints import Helical, Prismatic, Revolute
from dynamis.model.model import Model
from dynamis.scalar import Node, topological
from dynamis.tolerances import RECURSION_ROUNDING

Array = npt.NDArray[Any]
MAX_ANGLE_MULTIPLE = 12  # whose sine is expanded in powers: beyond, digits cancel
MAX_JOINT_ANGLE_MULTIPLE = 64  # likewise of a joint's angle, whose sine is in the equations in any case
MAX_EXPANDED_TERMS = 64  # terms


@dataclass(frozen=True, eq=False)
class Angle:
    """φ = (base angle) + sign · unit / denominator, for a joint variable or any other expression ``unit``.

    An angle ``beside`` another, without a base, turns about a parallel axis (``facing`` −1: an opposite one): the cosine of
    their difference is that of the angle between two links. ``scaled`` is (x, r) where the unit is r · x with a ratio that is
    not a simple fraction, such as 1.2345.
    """

    unit: Node
    denominator: int = 1
    base: int | None = None
    sign: int = 1
    scaled: tuple[Node, Fraction] | None = None
    beside: int | None = None
    facing: int = 1


def below(angles: Sequence[Angle], j: int) -> list[int]:
    """The angles φ_j is built on, nearest first."""
    chain = []
    base = angles[j].base
    while base is not None:
        chain.append(base)
        base = angles[base].base
    return chain


def compared(angles: Sequence[Angle], j: int) -> list[int]:
    """The angles whose differences from φ_j are of interest: those below, and earlier ones of runs about a parallel axis."""
    return [
        *below(angles, j),
        *(i for i in range(j) if _run(angles, i) != _run(angles, j) and _axis(angles, i) == _axis(angles, j)),
    ]


def facing(angles: Sequence[Angle], i: int, j: int) -> int:
    """−1 where the angles of two runs are counted about opposite axes."""
    first, second = _run(angles, i), _run(angles, j)
    return 1 if first == second else angles[first].facing * angles[second].facing


def _run(angles: Sequence[Angle], j: int) -> int:
    return ([j, *below(angles, j)])[-1]


def _axis(angles: Sequence[Angle], j: int) -> int:
    run = _run(angles, j)
    beside = angles[run].beside
    return run if beside is None else beside


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Σ ratio · unit + constant, the argument of a sine."""

    terms: tuple[tuple[Node, Fraction], ...]
    constant: float

    def __str__(self) -> str:
        return " + ".join([*(f"{r}*{u}" for u, r in self.terms), *([f"{self.constant:g}"] if self.constant else [])]) or "0"


Expansion = dict[tuple[Node, ...], Fraction]  # products of nodes, each in the order of their ranks, and their coefficients


@functools.lru_cache(maxsize=1024)  # the same argument occurs in many expressions
def linear_form(node: Any) -> LinearForm:
    """An argument as a sum of rational multiples of units: symbols, products of them, and other expressions.

    Products are multiplied out, so that a (x + y) and a x + a y are the same sum.
    """
    known: dict[int, Expansion] = {}
    for n in topological([node]):
        args = [] if n.op == "symbol" else n.args
        known[id(n)] = _expanded(n, [known[id(a)] if isinstance(a, Node) else {(): as_fraction(a)} for a in args])
    terms = known[id(node)] if isinstance(node, Node) else {(): as_fraction(node)}
    constant = float(terms.get((), 0))
    return LinearForm(tuple((_product(units), ratio) for units, ratio in terms.items() if units), constant)


def _expanded(node: Node, args: list[Expansion]) -> Expansion:
    if node.op in ("add", "sub"):
        a, b = args
        total = dict(a)
        for units, ratio in b.items():
            total[units] = total.get(units, Fraction(0)) + (ratio if node.op == "add" else -ratio)
            if not total[units]:
                del total[units]
        return total
    if node.op == "neg":
        return {units: -ratio for units, ratio in args[0].items()}
    if node.op == "div" and len(args[1]) == 1 and (quotient := _divided_by(args[0], *next(iter(args[1].items())))) is not None:
        return quotient
    if node.op == "mul" and len(args[0]) * len(args[1]) <= MAX_EXPANDED_TERMS:
        product: Expansion = {}
        for units, ratio in args[0].items():
            for others, factor in args[1].items():
                key = tuple(sorted((*units, *others), key=lambda unit: unit.rank))
                product[key] = product.get(key, Fraction(0)) + ratio * factor
        return {units: ratio for units, ratio in product.items() if ratio}
    return {(node,): Fraction(1)}


def _divided_by(terms: Expansion, divisor: tuple[Node, ...], factor: Fraction) -> Expansion | None:
    """A sum over a product, if this cancels: (n q) / n is q."""
    quotient: Expansion = {}
    for units, ratio in terms.items():
        left = list(units)
        for unit in divisor:
            at = next((k for k, x in enumerate(left) if x is unit), None)
            if at is None:
                return None
            del left[at]
        quotient[tuple(left)] = ratio / factor
    return quotient


def _product(units: tuple[Node, ...]) -> Node:
    total: Any = units[0]
    for unit in units[1:]:
        total = total * unit
    return total


def as_fraction(x: Any) -> Fraction:
    """A number as a fraction: 0.333… from a division by three is one third."""
    near = Fraction(float(x)).limit_denominator(360)
    return near if float(near) == x else Fraction(repr(float(x)))


def angles_for(forms: Sequence[LinearForm], given: Sequence[Angle] = ()) -> list[Angle]:
    """The given angles, and further ones required by these sums: each unit, or the common fraction of it.

    Given angles are divided where a sum has a fraction of them, so that sin(q/2)² can be compared with cos(q). Multiples of
    one unit that have no simple fraction in common, such as x and 1.2345 x, are angles of their own: no polynomial of a
    degree that occurs relates their sines.
    """
    groups: dict[int, tuple[Node, list[list[Fraction]]]] = {}
    found = _divided(given, forms)
    known = {id(a.unit): a.denominator for a in found}
    for form in forms:
        for unit, ratio in form.terms:
            if id(unit) not in known or not _counts(ratio, known[id(unit)]):
                _join(groups.setdefault(id(unit), (unit, []))[1], abs(ratio))
    for unit, ratios in groups.values():
        for group in ratios:
            below = lcm(*(r.denominator for r in group))
            if max(group) * below <= MAX_ANGLE_MULTIPLE and id(unit) not in known:
                found.append(Angle(unit, below))
            else:
                part = _shared(group)
                scaled: Any = float(part) * unit
                found.append(Angle(scaled, scaled=(unit, part)))
    return found


def needs_division(forms: Sequence[LinearForm], angles: Sequence[Angle]) -> bool:
    """Whether a sum has a non-integer multiple of an angle's unit, such as a half."""
    known = {id(a.unit): a.denominator for a in angles}
    return any(id(u) in known and not _counts(ratio, known[id(u)]) for form in forms for u, ratio in form.terms)


def _divided(given: Sequence[Angle], forms: Sequence[LinearForm]) -> list[Angle]:
    """The given angles, those of parallel joints divided by the common denominator of their ratios."""
    runs: list[int] = []
    for k, angle in enumerate(given):
        runs.append(k if angle.base is None else runs[angle.base])
    run_of = {id(a.unit): run for a, run in zip(given, runs, strict=True)}
    below = [a.denominator for a in given]
    for form in forms:
        for unit, ratio in form.terms:
            run = run_of.get(id(unit))
            if run is not None and _counts(ratio, common := lcm(below[run], ratio.denominator)):
                below[run] = common
    return [replace(a, denominator=below[run]) for a, run in zip(given, runs, strict=True)]


def _counts(ratio: Fraction, denominator: int) -> bool:
    """Whether a multiple of a unit is a small integer multiple of unit/denominator."""
    return (
        (ratio * denominator).denominator == 1
        and abs(ratio * denominator) <= MAX_JOINT_ANGLE_MULTIPLE
        and denominator <= MAX_ANGLE_MULTIPLE
    )


def _join(groups: list[list[Fraction]], ratio: Fraction) -> None:
    for group in groups:
        joined = [*group, ratio]
        if max(joined) / _shared(joined) <= MAX_ANGLE_MULTIPLE:
            group.append(ratio)
            return
    groups.append([ratio])


def _shared(ratios: list[Fraction]) -> Fraction:
    """The largest fraction of which all are integer multiples."""
    return Fraction(gcd(*(r.numerator for r in ratios)), lcm(*(r.denominator for r in ratios)))


@dataclass(frozen=True, eq=False)
class _Direction:
    """How the directions of a body turn: by ``sum``, multiples of joint variables, about ``axis``, given in the body's frame.

    ``root`` is the first angle about this axis, ``facing`` −1 where the axis of that joint points the opposite way.
    """

    axis: Array
    sum: dict[int, Fraction]
    root: int
    facing: int


def joint_angles(model: Model, q: Array) -> list[Angle]:
    """One angle per revolute joint: its own variable, or the sum along joints with parallel axes.

    After a joint with a parallel (or opposite) axis, with only prismatic joints between, directions depend on the sum of the
    two variables alone, which is then the angle. A joint that follows another adds a multiple of that one's variable, which
    may take the sum back to zero, as the levelling link of a parallelogram does: the next angle is then ``beside`` the first.
    """
    angles: list[Angle] = []
    sums: list[dict[int, Fraction]] = []  # of each angle, as multiples of the joint variables
    # joints that others follow by a fraction or a large multiple: the ring finds the angle from these multiples
    apart = {b.q_index.start for _, b in model.moving if not b.is_rotor and _turns(b) and not _is_small_integer(b.ratio)}
    directions: dict[int, _Direction | None] = {0: None}
    for i, body in model.moving:
        carried, k = directions[body.parent], body.q_index.start
        motion: Any = body.motion
        axis = None if carried is None else body.placement.R.T @ carried.axis
        if isinstance(motion, Prismatic):
            directions[i] = None if carried is None or axis is None else replace(carried, axis=axis)
            continue
        directions[i] = None
        if not _turns(body) or k in apart:
            continue
        sign = 0 if axis is None else _parallel(axis, motion.axis)
        before = {} if carried is None else {j: sign * part for j, part in carried.sum.items() if sign}
        root, facing = (carried.root, sign * carried.facing) if carried is not None and sign else (len(angles), 1)
        if body.ratio == 1.0 and all(a.unit is not q[k] for a in angles):
            base, turn = _angle_of_sum(before, sums)
            beside = root if not before and root < len(angles) else None
            angles.append(Angle(q[k], 1, base, turn, beside=beside, facing=facing if beside is not None else 1))
            sums.append({k: Fraction(1)} if base is None else _total(sums[base], {k: Fraction(turn)}))
        if root < len(angles):
            directions[i] = _Direction(motion.axis, _total(before, {k: as_fraction(body.ratio)}), root, facing)
    return angles


def _turns(body: Any) -> bool:
    return isinstance(body.motion, Revolute | Helical)


def _is_small_integer(ratio: float) -> bool:
    return abs(ratio) <= MAX_ANGLE_MULTIPLE and float(ratio).is_integer()


def _angle_of_sum(wanted: dict[int, Fraction], sums: Sequence[dict[int, Fraction]]) -> tuple[int | None, int]:
    """The angle with this sum and 1, or with the opposite one and −1."""
    for sign in (1, -1):
        for k, known in enumerate(sums):
            if wanted and known == {j: sign * part for j, part in wanted.items()}:
                return k, sign
    return None, 1


def _total(a: dict[int, Fraction], b: dict[int, Fraction]) -> dict[int, Fraction]:
    total = {k: a.get(k, Fraction(0)) + b.get(k, Fraction(0)) for k in {**a, **b}}
    return {k: part for k, part in total.items() if part}


def _parallel(a: Array, b: Array) -> int:
    if object in (a.dtype, b.dtype):
        a, b = (np.array([x if not isinstance(x, Node) else np.nan for x in u], dtype=float) for u in (a, b))
    for sign in (1, -1):
        if np.all(np.abs(a - sign * b) < RECURSION_ROUNDING):
            return sign
    return 0

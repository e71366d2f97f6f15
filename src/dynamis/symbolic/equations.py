"""The equations of motion, individually and solved for the accelerations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import SingularError, printable
from dynamis.model.massless import CURE
from dynamis.symbolic.arrangement import Sum
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import Notation, plain_text
from dynamis.symbolic.terms import Terms

MAX_EXPLICIT_DOF = 3  # beyond, the inverse of M fills pages


class Equation:
    """One equation: Σ_j M_ij q̈_j + Σ c_ijk q̇_j q̇_k + friction + springs + g_i = τ_i."""

    def __init__(self, form: Terms, i: int) -> None:
        self.form, self.i = form, i

    @property
    def left(self) -> Expression:
        """The left-hand side: all terms except the torque."""
        return self.form.torque[self.i]

    def latex(self, notation: str | Notation | None = None) -> str:
        """The equation in LaTeX, grouped by accelerations, then rates, then weights."""
        return self._written(notation, LATEX)

    def __str__(self) -> str:
        return self._written(None, TEXT)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _written(self, notation: str | Notation | None, way: Way) -> str:
        form, i = self.form, self.i
        letters = form.algebra.letters.with_notation(notation)
        torque = way.plain(letters.variable("torque", i + 1))
        if not form.expanded:
            left = form.torque[i]
            return f"{torque} = {way.write(left, notation)}"
        pieces = [
            times(form.M[i, j], way.plain(letters.variable("acceleration", j + 1)), notation, way)
            for j in range(form.n)
            if not form.M[i, j].is_zero
        ]
        if not form.coriolis_vector[i].is_zero:
            pieces += [way.write(x, notation) for x in _by_rate_products(form.coriolis_vector[i])]
        others = [form.viscous[i], form.dry[i], form.spring[i], form.g[i]]
        pieces += [way.write(term, notation) for term in others if not term.is_zero]
        return f"{joined(pieces)} = {torque}"


class Equations(tuple[Equation, ...]):
    """The equations of motion."""

    __slots__ = ()

    def latex(self, notation: str | Notation | None = None) -> str:
        """One line of LaTeX each."""
        lines = " \\\\\n".join(equation.latex(notation) for equation in self)
        return f"\\begin{{gathered}}\n{lines}\n\\end{{gathered}}"

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"


@dataclass(frozen=True)
class Way:
    """The output format of an equation: writers of its parts, product sign, brackets."""

    write: Callable[[Expression, Any], str]
    plain: Callable[[str], str]
    between: str
    brackets: tuple[tuple[str, str], tuple[str, str]]


LATEX = Way(lambda x, n: x.latex(n), lambda s: s, " ", (("(", ")"), (r"\bigl(", r"\bigr)")))
TEXT = Way(lambda x, n: x.text(n), plain_text, "*", (("(", ")"), ("(", ")")))


def times(entry: Expression, factor: str, notation: Any, way: Way) -> str:
    """An expression and what it multiplies."""
    written = way.write(entry, notation)
    if written in ("1", "-1"):
        return written[:-1] + factor
    if not entry.expanded:
        return f"({written}){way.between}{factor}"
    letters = entry.algebra.letters.with_notation(notation)
    arranged, _ = entry.arranged(letters.notation.style)
    if len(arranged.terms) == 1:
        return f"{written}{way.between}{factor}"
    nested = any(isinstance(f, Sum) for t in arranged.terms for f, _ in t.factors)
    left, right = way.brackets[nested]
    return f"{left}{written}{right}{way.between}{factor}"


def _by_rate_products(term: Expression) -> list[Expression]:
    """Velocity terms, one product of rates at a time."""
    if not term.expanded:
        return [term]
    ring = term.algebra.ring
    rates = [a.index for a in ring.atoms if _is_rate(term, a)]
    groups: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
    for exponents, c in term.numerator.to_dict().items():
        groups.setdefault(tuple(exponents[k] for k in rates), {})[exponents] = c
    return [Expression(term.algebra, ring.context.from_dict(groups[key])) for key in sorted(groups, reverse=True)]


def joined(pieces: list[str]) -> str:
    """Formulas added up, those that begin with a minus sign subtracted."""
    if not pieces:
        return "0"
    return pieces[0] + "".join(f" - {p[1:].lstrip()}" if p.startswith("-") else f" + {p}" for p in pieces[1:])


def _is_rate(term: Expression, atom: Any) -> bool:
    role = term.algebra.letters.roles.get(id(atom.node))
    return role is not None and role.kind == "velocity"


@dataclass(frozen=True, eq=False, repr=False)
class StateSpace:
    """ẋ = f(x, τ) with x = (q, q̇): q̈ = M⁻¹ (τ − n), n = C q̇ + g + friction + springs.

    ``determinant``, ``adjugate`` (M⁻¹ = adjugate / determinant) and ``accelerations`` are given for up to three degrees of
    freedom; otherwise they are None, and M must be factorised at each state.
    """

    bias: Formulas
    determinant: Expression | None
    adjugate: Formulas | None
    accelerations: Formulas | None

    def __repr__(self) -> str:
        how = "" if self.accelerations is not None else ", M to be factorised"
        return f"<StateSpace of {counted(len(self.bias), 'degree of freedom', 'degrees of freedom')}{how}>"


def state_space(form: Terms) -> StateSpace:
    """The state-space form of the equations of motion."""
    bias = (form.coriolis_vector + form.g + form.viscous + form.dry + form.spring).view(Formulas)
    n = form.n
    if n > MAX_EXPLICIT_DOF or not form.expanded or n == 0:
        return StateSpace(bias, None, None, None)
    M = np.asarray(form.M)
    determinant = _determinant(M)
    if determinant.is_zero:
        raise SingularError(f"the mass matrix is singular at every configuration: {_massless_motion(form)}; {CURE}")
    one = Expression(form.algebra, form.algebra.ring.one)
    minors = (
        _determinant(np.delete(np.delete(M, j, 0), i, 1)) * (-1) ** (i + j) if n > 1 else one for i, j in np.ndindex(n, n)
    )
    adjugate = Formulas.of(minors, (n, n))
    torque = [Expression(form.algebra, form.algebra.ring.generator(t)) for t in form.tau]
    right = [t - b for t, b in zip(torque, bias, strict=True)]
    solved = []
    for i in range(n):
        total = adjugate[i, 0] * right[0]
        for j in range(1, n):
            total = total + adjugate[i, j] * right[j]
        solved.append(total / determinant)
    return StateSpace(bias, determinant, adjugate, Formulas.of(solved, (n,)))


def _massless_motion(form: Terms) -> str:
    """The coordinates whose rows of M are zero, if there are any, move without moving any mass."""
    names = [c.name for c, row in zip(form.model.coordinates, np.asarray(form.M), strict=True) if all(x.is_zero for x in row)]
    if not names:
        return "some joints can move together without moving any mass"
    return f"{', '.join(map(printable, names))} can move without moving any mass"


def _determinant(A: Any) -> Any:
    """By expansion along the first row, for matrices up to 3 × 3."""
    if len(A) == 1:
        return A[0, 0]
    total = None
    for j in range(len(A)):
        minor = A[0, j] * _determinant(np.delete(A[1:], j, 1)) * (-1) ** j
        total = minor if total is None else total + minor
    return total

"""Y(q, q̇, q̈) π = τ symbolically: by inspection, and with base parameters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.display import as_table, counted
from dynamis.scalar import Node
from dynamis.symbolic.expression import Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import parameter_latex
from dynamis.symbolic.terms import Terms

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rule:
    """The regrouping of one parameter: it is eliminated, and coefficient × parameter is added to each of ``into``.

    A parameter without ``into`` does not enter the equations of motion.
    """

    parameter: Node
    into: tuple[tuple[Node, Expression], ...]

    @property
    def name(self) -> str:
        """The parameter in LaTeX."""
        return letter(self.parameter)

    def latex(self) -> str:
        """The contributions to the other parameters, in LaTeX."""
        name = self.name
        if not self.into:
            return rf"{name} \text{{ does not enter}}"
        gains = []
        for base, beta in self.into:
            factor = beta.latex()
            if factor in ("1", "-1"):
                times = factor.removesuffix("1")
            else:
                times = f"({factor}) " if beta.expanded and len(beta) > 1 else f"{factor} "
            gains.append(f"{letter(base)} \\mathrel{{+}}= {times}{name}")
        return r",\; ".join(gains)

    def __str__(self) -> str:
        name = str(self.parameter).rstrip("'")
        if not self.into:
            return f"{name} does not enter"
        return "; ".join(f"{str(b).rstrip(chr(39))} += ({beta}) {name}" for b, beta in self.into)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class LinearForm:
    """``regressor`` (n × p) and ``parameters`` (p), whose product is τ; ``rules`` are the regrouping rules.

    ``dimension`` is the number of independent columns of inertial parameters, for any values; parameters that are zero for this
    robot are omitted from ``parameters``. ``reflected`` has the inertias of motors seen through their gears at the joints, with
    their letters in ``rules``.
    """

    regressor: Formulas
    parameters: Formulas
    rules: tuple[Rule, ...] = ()
    dimension: int = 0
    names: tuple[Node, ...] = ()
    reflected: tuple[tuple[Node, Expression], ...] = ()

    def __repr__(self) -> str:
        return f"<LinearForm: {counted(len(self.parameters), 'parameter')} in {counted(len(self.regressor), 'equation')}>"

    _repr_html_ = as_table


def letter(node: Node) -> str:
    """A parameter in LaTeX."""
    return parameter_latex(str(node.args[0]).rstrip("'"))


def by_inspection(form: Terms) -> LinearForm:
    """The linear form in the ten parameters of each body about its joint and the parameters of its drive.

    Parameters that are zero, or do not enter the equations, are omitted; parameters with proportional columns are merged, and
    so are those with proportional values, such as two equal moments of inertia.
    """
    Y = form.formulas(regressor.regressor(form.model, form.q, form.v, form.a))
    values = form.formulas(regressor.parameters(form.model))
    columns: list[tuple[list[Expression], Expression]] = []
    for k, value in enumerate(values):
        column = list(Y[:, k])
        if value.is_zero or all(x.is_zero for x in column):
            continue
        for number, (known, total) in enumerate(columns):
            ratio = _ratio(column, known)
            if ratio is not None:
                columns[number] = known, total + value * ratio
                break
        else:
            columns.append((column, value))
    columns = _with_different_values(columns)
    shape = (form.n, len(columns))
    Y_kept = Formulas.of((columns[k][0][i].grouped("term") for i, k in np.ndindex(*shape)), shape)
    return LinearForm(Y_kept, Formulas.of((value for _, value in columns), (len(columns),)))


def _with_different_values(columns: list[tuple[list[Expression], Expression]]) -> list[tuple[list[Expression], Expression]]:
    """The columns and values, joined where symbolic values are proportional: y_7 π_7 + y_8 (2 π_7) = (y_7 + 2 y_8) π_7."""
    found: list[tuple[list[Expression], Expression]] = []
    for column, value in columns:
        symbolic = isinstance(value.node(), Node)
        for number, (known, other) in enumerate(found):
            ratio = _ratio([value], [other]) if symbolic else None
            if ratio is not None:
                found[number] = [a + b * ratio for a, b in zip(known, column, strict=True)], other
                break
        else:
            found.append((column, value))
    return found


def _ratio(a: list[Expression], b: list[Expression]) -> Any:
    """The number r with a = r b, or None."""
    if not all(x.expanded for x in (*a, *b)):
        return None
    first = next(k for k, x in enumerate(b) if not x.is_zero)
    if a[first].is_zero:
        return None
    r = a[first].numerator.leading_coefficient() / b[first].numerator.leading_coefficient()
    ratio = Fraction(int(r.p), int(r.q))
    return ratio if all(x == y * ratio for x, y in zip(a, b, strict=True)) else None

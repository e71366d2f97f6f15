"""Expressions of a closed form: exact, comparable, printable."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.scalar import Node, cos, is_number, sin, symbol
from dynamis.symbolic import factored, printing
from dynamis.symbolic.arrangement import Arranger, Style, Sum, sparse
from dynamis.symbolic.equivalence import equivalent
from dynamis.symbolic.nested import nested
from dynamis.symbolic.notation import Notation, SymbolPrinter
from dynamis.symbolic.ring import Atom, Polynomial, Ring
from dynamis.symbolic.sympy_form import SympyForm
from dynamis.symbolic.trig_rewriting import arc_terms, dressed, dressed_terms

Array = npt.NDArray[Any]


class Algebra:
    """The common ring and notation of the expressions of one robot."""

    def __init__(self, ring: Ring, letters: SymbolPrinter) -> None:
        self.ring, self.letters = ring, letters
        self._arrangers: dict[Style, Arranger] = {}

    def arrange(self, p: Polynomial, style: Style, grouping: str = "") -> Sum:
        """A polynomial in normal form, arranged in textbook form."""
        return self.arranged(dressed(self.ring, p), style, grouping)

    def arranged(self, p: Polynomial, style: Style, grouping: str = "") -> Sum:
        """A polynomial in dressed generators, grouped for reading."""
        if style not in self._arrangers:
            self._arrangers[style] = Arranger(self.ring, self.letters.roles, style)
        return self._arrangers[style].arrange(p, grouping)

    def of_node(self, node: Any) -> Expression:
        """An expression from a node over the ring's symbols."""
        return Expression(self, *self.ring.value(node))

    @cached_property
    def sympy_form(self) -> SympyForm:
        return SympyForm(self.ring, self.letters)

    def atom_node(self, atom: Atom) -> Any:
        """The value of an atom, as a node."""
        if atom.kind in ("sine", "cosine"):
            angle: Any = 0.0
            for unit, sign, denominator in arc_terms(self.ring, atom.start, atom.end):
                turn = unit if denominator == 1 else unit / float(denominator)
                angle = angle + turn if sign > 0 else angle - turn
            return sin(angle) if atom.kind == "sine" else cos(angle)
        return atom.node if atom.node is not None else symbol(atom.name)


class Expression:
    """A quotient of polynomials in normal form: ``==`` decides equality, ``str`` prints it in textbook form.

    If the expanded form exceeds the size limit, the expression has the factored graph only.
    """

    __slots__ = ("_arranged", "algebra", "denominator", "graph", "grouping", "numerator")

    def __init__(
        self,
        algebra: Algebra,
        numerator: Polynomial,
        denominator: Polynomial | None = None,
        graph: Any = None,
        grouping: str = "",
    ) -> None:
        self.algebra, self.numerator, self.denominator, self.graph = algebra, numerator, denominator, graph
        self.grouping = grouping
        self._arranged: dict[Style, tuple[Sum, Sum | None]] = {}

    def grouped(self, grouping: str) -> Expression:
        """The same expression, printed with its terms grouped by "link", "angle", "length", "rate" or "term"."""
        return Expression(self.algebra, self.numerator, self.denominator, self.graph, grouping)

    @property
    def expanded(self) -> bool:
        """Whether the normal form is known; otherwise only the factored graph is."""
        return self.numerator is not None

    @property
    def is_zero(self) -> bool:
        """Whether it is zero for all values of its symbols; without a normal form, whether it is the number zero."""
        if not self.expanded:
            return not isinstance(self.graph, Node) and self.graph == 0
        return bool(self.numerator.is_zero())

    def __len__(self) -> int:
        """The number of terms of the normal form, a bound of `term_count` that takes no time."""
        self._needs_expansion("its terms")
        return len(self.numerator)

    @property
    def term_count(self) -> int:
        """The number of terms when fully expanded, with sines and cosines of the angles that are printed."""
        self._needs_expansion("its terms")
        return len(dressed_terms(self.algebra.ring, self.numerator))

    # arithmetic

    def _with(self, other: Any, operation: str) -> Any:
        if not isinstance(other, Expression):
            if not (is_number(other) or isinstance(other, Node | Fraction)):
                return NotImplemented
            if isinstance(other, Node):
                other = self.algebra.of_node(other) if self.expanded else Expression(self.algebra, None, None, other)
            else:
                number = other if isinstance(other, int | Fraction) else float(other)
                other = Expression(self.algebra, self.algebra.ring.number(number))
        if self.expanded and other.expanded and other.algebra.ring is not self.algebra.ring:
            other = self.algebra.of_node(other.node())  # of another robot: its generators mean other things
        if not (self.expanded and other.expanded):
            a, b = self.node(), other.node()
            made = {"add": lambda: a + b, "multiply": lambda: a * b, "divide": lambda: a / b}[operation]()
            return Expression(self.algebra, None, None, made)
        apply = getattr(self.algebra.ring, operation)
        return Expression(self.algebra, *apply((self.numerator, self.denominator), (other.numerator, other.denominator)))

    def __add__(self, other: Any) -> Any:
        return self._with(other, "add")

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._with(other, "multiply")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, "divide")

    def __rtruediv__(self, other: Any) -> Any:
        one = Expression(self.algebra, self.algebra.ring.one)
        return (one / self) * other

    def __neg__(self) -> Expression:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + (other * -1)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, power: Any) -> Expression:
        if not is_number(power) or int(power) != power:
            raise InputError(f"the power of an expression must be an integer, not {power}")
        result = Expression(self.algebra, self.algebra.ring.one)
        for _ in range(abs(int(power))):
            result = result * self
        return result if power >= 0 else 1 / result

    def __eq__(self, other: object) -> bool:
        if not (is_number(other) or isinstance(other, Expression | Node | Fraction)):
            return NotImplemented
        if isinstance(other, Expression) and other.algebra.ring is not self.algebra.ring:
            return equivalent(self, other)
        difference = self - other
        if not difference.is_zero:
            difference._needs_expansion("whether it equals another")
        return bool(difference.is_zero)

    # equal expressions may be written differently, so there is no number that all of them share
    __hash__ = None  # type: ignore[assignment]

    def diff(self, variable: Node | str) -> Expression:
        """The partial derivative by a symbol or the symbol of a name, such as "m_1" or "q_2".

        >>> import dynamis as dy
        >>> form = dy.load("planar_2r").closed_form()
        >>> print(form.M[0, 0].diff("q_2"))
        -2*m_2*a_1*l_2*s2
        """
        self._needs_expansion("its derivative")
        variable = self.algebra.ring.variable(variable)
        ring, above, below = self.algebra.ring, self.numerator, self.denominator
        slope = ring.derivative(above, variable)
        if below is None:
            return Expression(self.algebra, slope)
        # the quotient rule
        slope = ring.reduced(ring.product(slope, below) - ring.product(above, ring.derivative(below, variable)))
        return Expression(self.algebra, *ring.ratio(slope, ring.reduced(ring.product(below, below))))

    # other views

    def arranged(self, style: Style) -> tuple[Sum, Sum | None]:
        """Numerator and denominator as sums of products, grouped for reading."""
        self._needs_expansion("its arrangement")
        if style not in self._arranged:
            above, below = self.numerator, None
            if self.denominator is not None:
                below = self.algebra.arrange(self.denominator, style)
                if all(term.number < 0 for term in below.terms):  # −a/−b is a/b
                    above, below = -above, self.algebra.arrange(-self.denominator, style)
            self._arranged[style] = self.algebra.arrange(above, style, self.grouping), below
        return self._arranged[style]

    def latex(self, notation: str | Notation | None = None, digits: int = 6) -> str:
        """LaTeX in the selected notation."""
        letters = self.algebra.letters.with_notation(notation)
        if not self.expanded:
            return factored.with_definitions([self.graph], letters, lambda entries: entries[0])
        above, below = (
            None if part is None else printing.latex(part, self.algebra.ring, letters, digits)
            for part in self.arranged(letters.notation.style)
        )
        return str(above) if below is None else rf"\frac{{{above}}}{{{below}}}"

    def text(self, notation: str | Notation | None = None, *, digits: int = 6, decimals: bool = False) -> str:
        """Plain text in the selected notation, which can be parsed again; with ``decimals``, without fractions."""
        if not self.expanded:
            return str(self.graph)
        letters = self.algebra.letters.with_notation(notation)
        above, below = (
            None if part is None else printing.text(part, self.algebra.ring, letters, digits, decimals=decimals)
            for part in self.arranged(letters.notation.style)
        )
        return str(above) if below is None else f"({above})/({below})"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def node(self, substitute: Mapping[int, Any] | None = None) -> Any:
        """The expression as a graph node, nested for few operations.

        ``substitute`` maps the id of a symbol's node to its replacement.
        """
        return self._node(substitute, {}, {})

    def _node(self, substitute: Mapping[int, Any] | None, atoms: dict[int, Any], known: dict[Any, Any]) -> Any:
        if not self.expanded:
            return self.graph if substitute is None else factored.replaced(self.graph, substitute)
        algebra = self.algebra

        def atom(k: int) -> Any:
            if k not in atoms:
                node = algebra.atom_node(algebra.ring.atoms[k])
                atoms[k] = node if substitute is None else factored.replaced(node, substitute)
            return atoms[k]

        def graph(p: Polynomial) -> Any:
            terms = sparse(dressed_terms(algebra.ring, p))
            return nested({m: _float(c) for m, c in terms.items()}, atom, known)

        above = graph(self.numerator)
        return above if self.denominator is None else above / graph(self.denominator)

    def sympy(self) -> Any:
        """The expression in SymPy: exact numbers, and symbols with safe names (q1, qd1, qdd1, tau1, the parameters).

        Of motors these are u_1, i_1, di_1, theta_m1, dtheta_m1 and ddtheta_m1.
        """
        form = self.algebra.sympy_form
        if not self.expanded:
            return form.of_node(self.graph)
        above, below = (None if x is None else form.of_sum(x) for x in self.arranged(self.algebra.letters.notation.style))
        return above if below is None else above / below

    def _needs_expansion(self, what: str) -> None:
        if not self.expanded:
            raise InputError(f"{what} is not available without the expanded form; increase seconds or terms")


def _float(coefficient: Any) -> float:
    try:
        return int(coefficient.p) / int(coefficient.q)
    except OverflowError:
        raise InputError("a coefficient exceeds the range of floating-point numbers, 1.8e308; choose other units") from None

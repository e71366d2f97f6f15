"""Arrangements as LaTeX and as plain text."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from functools import cache

from dynamis.symbolic.arrangement import MAX_DENOMINATOR, Product, Sum
from dynamis.symbolic.equivalence import MAX_TYPED_DENOMINATOR
from dynamis.symbolic.notation import SymbolPrinter
from dynamis.symbolic.ring import Atom, Ring
from dynamis.tolerances import SUM_ROUNDING

MAX_PRINTED_INTEGER = 10**12
CONSTANTS = {  # in text: value and LaTeX
    "": (1.0, ""),
    **{f"sqrt({n})": (math.sqrt(n), rf"\sqrt{{{n}}}") for n in (2, 3)},
    "pi": (math.pi, r"\pi"),
    "pi^2": (math.pi**2, r"\pi^2"),
}


def latex(arrangement: Sum, ring: Ring, letters: SymbolPrinter, digits: int = 6) -> str:
    """The arrangement in LaTeX; decimals rounded to so many digits.

    Without symbolic parameters the numbers are those of a robot, measured: 11.25 beside 25.395, and not 45/4.
    """
    measured = ring.positions is not None
    name = cache(lambda atom: letters.latex(ring, atom))

    def factor(x: Atom | Sum, power: int, inner: str) -> str:
        if isinstance(x, Atom):
            return raised(name(x), power)
        nested = any(isinstance(f, Sum) for term in x.terms for f, _ in term.factors)
        left, right = (r"\bigl(", r"\bigr)") if nested else ("(", ")")
        return raised(left + inner + right, power)

    return _written(arrangement, lambda size: _number_latex(size, digits, measured), factor, " ")


def text(arrangement: Sum, ring: Ring, letters: SymbolPrinter, digits: int = 6, *, decimals: bool = False) -> str:
    """The arrangement in plain text, which can be read back; with ``decimals``, fractions are written as decimals."""
    measured = ring.positions is not None
    name = cache(lambda atom: letters.text(ring, atom))

    def factor(x: Atom | Sum, power: int, inner: str) -> str:
        written = name(x) if isinstance(x, Atom) else f"({inner})"
        return written + (f"^{power}" if power != 1 else "")

    def number(size: Fraction) -> str:
        return _decimal(size, digits) if decimals and size.denominator > 1 else _number_text(size, digits, measured)

    return _written(arrangement, number, factor, "*")


def _written(
    arrangement: Sum, number: Callable[[Fraction], str], factor: Callable[[Atom | Sum, int, str], str], between: str
) -> str:
    """A sum of products, given what writes a number and a factor (whose own sum is already written)."""

    def term(t: Product) -> str:
        size = number(abs(t.number))
        pieces = [size] if size != "1" or not t.factors else []  # 1 also where a decimal is rounded to it
        for x, power in t.factors:
            inner = "" if isinstance(x, Atom) else _written(x, number, factor, between)
            pieces.append(factor(x, power, inner))
        return between.join(pieces)

    return _joined([(t.number < 0, term(t)) for t in arrangement.terms])


def _joined(terms: list[tuple[bool, str]]) -> str:
    if not terms:
        return "0"
    negative, first = terms[0]
    return ("-" if negative else "") + first + "".join((" - " if minus else " + ") + t for minus, t in terms[1:])


def raised(written: str, power: int) -> str:
    """A factor in LaTeX with its power, which a sine or cosine has behind its name."""
    if power == 1:
        return written
    for function in (r"\sin", r"\cos"):
        if written.startswith(function):
            return f"{function}^{power}{written[len(function) :]}"
    return f"{written}^{power}" if power < 10 else f"{written}^{{{power}}}"


def _number_latex(x: Fraction, digits: int, measured: bool) -> str:
    if x.denominator == 1 and x < MAX_PRINTED_INTEGER:
        return str(x.numerator)
    if _is_fraction(x, digits, measured):
        return rf"\tfrac{{{x.numerator}}}{{{x.denominator}}}"
    if not measured and (found := multiple_of_a_constant(x)):
        factor, constant = found
        above = _product(factor.numerator, CONSTANTS[constant][1])
        return above if factor.denominator == 1 else rf"\tfrac{{{above}}}{{{factor.denominator}}}"
    written = _decimal(x, digits)
    mantissa, _, exponent = written.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def multiple_of_a_constant(x: Fraction) -> tuple[Fraction, str] | None:
    """(a, c) if x is computed and equal to a c to rounding, with a fraction a: √2 from sines of 45°, π from angles."""
    if x.denominator <= MAX_TYPED_DENOMINATOR or not Fraction(1, MAX_PRINTED_INTEGER) < x < MAX_PRINTED_INTEGER:
        return None
    for constant, (value, _) in CONSTANTS.items():
        exact = float(x) / value
        factor = Fraction(exact).limit_denominator(MAX_DENOMINATOR)
        if factor and abs(float(factor) / exact - 1.0) <= SUM_ROUNDING:
            return factor, constant
    return None


def _product(number: int, root: str, between: str = "") -> str:
    return root if root and number == 1 else f"{number}{between if root else ''}{root}"


def _is_fraction(x: Fraction, digits: int, measured: bool) -> bool:
    """Whether someone would write ½ or ⅓ rather than a decimal such as 17.4; of a measured number, only ⅓."""
    if x.denominator > MAX_DENOMINATOR or x.denominator % 5 == 0 or x >= MAX_PRINTED_INTEGER:
        return False
    return not (measured and Fraction(_decimal(x, digits)) == x)


def _number_text(x: Fraction, digits: int, measured: bool) -> str:
    if (x.denominator == 1 and x < MAX_PRINTED_INTEGER) or _is_fraction(x, digits, measured):
        return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"
    if not measured and (found := multiple_of_a_constant(x)):
        factor, constant = found
        above = _product(factor.numerator, constant, "*")
        return above if factor.denominator == 1 else f"{above}/{factor.denominator}"
    return _decimal(x, digits)


def _decimal(x: Fraction, digits: int) -> str:
    try:
        written = float(x)
    except OverflowError:
        written = 0.0
    if not written and x:  # beyond the range of floats
        with localcontext(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN):
            return f"{Decimal(x.numerator) / Decimal(x.denominator):.{digits - 1}e}"
    return f"{written:.{digits}g}"

"""Arrangements as LaTeX and as plain text."""

from __future__ import annotations

from fractions import Fraction

from dynamis.symbolic.arrangement import LARGEST_DENOMINATOR, Product, Sum
from dynamis.symbolic.notation import Lettering
from dynamis.symbolic.ring import Atom, Ring

WRITTEN_OUT = 10**12


def latex(arrangement: Sum, ring: Ring, letters: Lettering, digits: int = 6) -> str:
    """The arrangement in LaTeX; decimals rounded to so many digits."""

    def write(x: Sum) -> str:
        return _joined([(t.number < 0, term(t)) for t in x.terms])

    def term(t: Product) -> str:
        pieces = []
        size = abs(t.number)
        if size != 1 or not t.factors:
            pieces.append(_number_latex(size, digits))
        for factor, power in t.factors:
            if isinstance(factor, Atom):
                pieces.append(raised(letters.latex(ring, factor), power))
            else:
                inner = write(factor)
                nested = any(isinstance(f, Sum) for x in factor.terms for f, _ in x.factors)
                left, right = (r"\bigl(", r"\bigr)") if nested else ("(", ")")
                pieces.append(raised(left + inner + right, power))
        return " ".join(pieces)

    return write(arrangement)


def text(arrangement: Sum, ring: Ring, letters: Lettering, digits: int = 6) -> str:
    """The arrangement in plain text, which can be read back."""

    def write(x: Sum) -> str:
        return _joined([(t.number < 0, term(t)) for t in x.terms])

    def term(t: Product) -> str:
        pieces = []
        size = abs(t.number)
        if size != 1 or not t.factors:
            pieces.append(_number_text(size, digits))
        for factor, power in t.factors:
            written = letters.text(ring, factor) if isinstance(factor, Atom) else f"({write(factor)})"
            pieces.append(written + (f"^{power}" if power != 1 else ""))
        return "*".join(pieces)

    return write(arrangement)


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


def _number_latex(x: Fraction, digits: int) -> str:
    if x.denominator == 1 and x < WRITTEN_OUT:
        return str(x.numerator)
    if _is_fraction(x):
        return rf"\tfrac{{{x.numerator}}}{{{x.denominator}}}"
    written = _decimal(x, digits)
    mantissa, _, exponent = written.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _is_fraction(x: Fraction) -> bool:
    """Whether someone would write ½ or ⅓ rather than a decimal such as 17.4."""
    return x.denominator <= LARGEST_DENOMINATOR and x.denominator % 5 != 0 and x < WRITTEN_OUT


def _number_text(x: Fraction, digits: int) -> str:
    if (x.denominator == 1 and x < WRITTEN_OUT) or _is_fraction(x):
        return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"
    return _decimal(x, digits)


def _decimal(x: Fraction, digits: int) -> str:
    return f"{float(x):.{digits}g}"

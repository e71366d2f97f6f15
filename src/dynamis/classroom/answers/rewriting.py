"""Spellings of computer algebra and of calculus, replaced by those of the grammar; every position of the text is kept.

Derivatives with respect to time become dots, the functions of SymPy and NumPy lose the names of their modules, and the entry
M[1,2] is written as M(1,2).
"""

from __future__ import annotations

import functools
import re

_DOTTED = r"\\d?dot\s*(?:\{\s*\\?[A-Za-z]++\s*\}|\\?[A-Za-z]++)"
_INDEX = r"(?:_(?:\{[A-Za-z0-9]++\}|[A-Za-z0-9]++))?+"
_NAME = rf"(?:\\operatorname\{{\s*+)?(?P<name>(?:{_DOTTED}|\\?[A-Za-z]++[0-9]*+){_INDEX})(?:\s*\}})?"
_OF_TIME = r"(?:\s*\(\s*t\s*\)|\s*\{\s*\\left\s*\(\s*t\s*\\right\s*\)\s*\}|\s*\\left\s*\(\s*t\s*\\right\s*\))"
_POWER = r"(?P<power>\s*\^\s*\{\s*[0-9]+\s*\})?"  # q^{2}{\left(t \right)}
_TWO = r"\^\s*(?:\{\s*2\s*\}|2)"
_D = r"(?:\\mathrm\s*\{\s*d\s*\}|\\mathrm\s+d|d)"
_FRAC = r"\\[dt]?frac\s*"
_FUNCTIONS = "sin|cos|tan|sqrt|exp|log|tanh|sign|abs|array|matrix|Matrix|pi|arcsin|arccos|Abs|Derivative|Rational"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"{_FRAC}\{{\s*{_D}\s*{_TWO}\s*{_NAME}{_OF_TIME}?\s*\}}\s*\{{\s*{_D}\s*t\s*{_TWO}\s*\}}"), "''"),
    (re.compile(rf"{_FRAC}\{{\s*{_D}\s*{_NAME}{_OF_TIME}?\s*\}}\s*\{{\s*{_D}\s*t\s*\}}"), "'"),
    (re.compile(rf"{_FRAC}\{{\s*{_D}\s*{_TWO}\s*\}}\s*\{{\s*{_D}\s*t\s*{_TWO}\s*\}}\s*{_NAME}{_OF_TIME}"), "''"),
    (re.compile(rf"{_FRAC}\{{\s*{_D}\s*\}}\s*\{{\s*{_D}\s*t\s*\}}\s*{_NAME}{_OF_TIME}"), "'"),
    (re.compile(rf"\bDerivative\(\s*{_NAME}{_OF_TIME}\s*,\s*(?:\(\s*t\s*,\s*2\s*\)|t\s*,\s*t|\{{t,\s*2\}})\s*\)"), "''"),
    (re.compile(rf"\bDerivative\(\s*{_NAME}{_OF_TIME}\s*,\s*t\s*\)"), "'"),
    (re.compile(rf"(?<![A-Za-z0-9_\\]){_NAME}{_POWER}(?:\s*\{{\s*\\left\s*\(\s*t\s*\\right\s*\)\s*\}})"), ""),
)
_MODULE = re.compile(rf"\b(?:np|numpy|sp|sympy|sym|math)\.(?=(?:{_FUNCTIONS})\b)")
_TABLE = re.compile(r"(?<![A-Za-z0-9_\\])(?:(?:Mutable|Immutable)?(?:Dense|Sparse)?Matrix|array|matrix)(?=\s*\(\s*\[)")
_ENTRY = re.compile(r"(?<![A-Za-z0-9_\\])(?P<letter>(?![sScC]\[)[A-Za-z]++)\[ *(?P<row>[0-9]) *, *(?P<column>[0-9]) *\](?= *=)")
_PRIMES = re.compile(r"\^\s*(?:\{\s*(?:\\prime\s*)+\}|\\prime(?![A-Za-z]))")
_SIGNS = re.compile(r"Derivative|\\prime|\\[dt]?frac|right|[.]|Matrix|array|\[")


def rewritten(text: str) -> str:
    r"""The text in the spelling of the grammar, of the same length.

    >>> rewritten(r"\frac{d^2 q_1}{dt^2} + Derivative(q2(t), t)").split()
    ["q_1''", '+', "q2'"]
    """
    if _SIGNS.search(text) is None:
        return text
    for pattern, primes in () if "t" not in text else _PATTERNS:
        text = pattern.sub(functools.partial(_dotted, primes), text)
    text = _PRIMES.sub(lambda m: ("'" * m[0].count("prime")).ljust(len(m[0])), text)
    for pattern in (_MODULE, _TABLE):
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    entries = list(_ENTRY.finditer(text))
    first = int(
        any("0" in (m["row"], m["column"]) for m in entries) and not any("9" in (m["row"], m["column"]) for m in entries)
    )
    return _ENTRY.sub(lambda m: _entry(m, first), text)


def _entry(match: re.Match[str], first: int) -> str:
    """M(1,2) for M[1,2], or for M[0,1] where indices begin with 0."""
    return f"{match['letter']}({int(match['row']) + first},{int(match['column']) + first})".ljust(len(match[0]))


def _dotted(primes: str, match: re.Match[str]) -> str:
    """The name of a derivative with a prime for each dot, or of a function of time with its power."""
    return (match["name"] + primes + (match.groupdict().get("power") or "")).ljust(len(match[0]))

r"""Matrices whose columns are separated by blanks, as in MATLAB, [a b; c d], or by spaces of LaTeX, [a\; b; c\; d]."""

from __future__ import annotations

import re
from collections.abc import Collection

_INSIDE = r"(?:[^\[\],;&\\\n]|\\[^\\\[\]\n])*"  # of one row, with commands
_BRACKET = re.compile(r"\[((?:[^\[\],&\\]|\\[^\\\[\]])*)\]")
_ROW = re.compile(
    r"\s*(?:(?P<letter>\\?[A-Za-z]+)(?:\([^()=]*\))?\s*=\s*)?"
    rf"(?:\\left\s*)?\[(?P<inside>{_INSIDE})\]\s*(?:\.?'|\^T|\^\{{T\}}|ᵀ)?\s*;?\s*"
)
_TABLE, _TRANSPOSED = r"\[(?:\[|[^\[\]]*[;,])", r"\s*(?:\^\s*\{?\s*(?:T|\\top)\}?|ᵀ)"
_IN_PRODUCT = re.compile(  # a row before a table or before a transpose of one, a transpose, or a matrix between two brackets
    rf"\[(?P<row>{_INSIDE})\](?=[^\[\]=+\n-]*(?:{_TABLE}|\[[^\[\]]*\]{_TRANSPOSED})|{_TRANSPOSED})"
    rf"|(?<=\])(?P<gap>(?:{_TRANSPOSED})?[\s*·]*)\[(?P<matrix>(?:{_INSIDE};)*{_INSIDE})\](?=[\s*·]*\[)"
)
_SPACE = r"(?:\s|\\[;:> ]|(?<![A-Za-z])~|~(?![_0-9]))"
_GAP = re.compile(rf"{_SPACE}+|[(){{}}]")  # a wide space or a bracket; I~_1 has an accent
_BEFORE, _AFTER = "+-*/^=(", "*/^)="  # a blank after one of the first, or before one of the others, separates nothing


def with_commas(text: str, columns: int) -> str:
    """The text with commas for the blanks that separate ``columns`` cells in every row of a matrix; positions are kept.

    Other lists stay as they are: a blank may also stand for a product.

    >>> with_commas("M = [m_1*l_1^2 + I_1  0; 0 I_2]", 2)
    'M = [m_1*l_1^2 + I_1 ,0; 0,I_2]'
    >>> with_commas("[m_1 l_1; m_2 l_2 c_2]", 2)
    '[m_1 l_1; m_2 l_2 c_2]'
    """
    return _BRACKET.sub(lambda found: f"[{_rows(found[1], columns)}]", text) if columns > 1 else text


def product_with_commas(text: str, size: int) -> str:
    """The text with commas for the blanks of the rows and the matrices in products of which one row has ``size`` entries.

    >>> product_with_commas("T = 1/2 [v_1 v_2] [a 0; 0 b] [v_1; v_2]", 2)
    'T = 1/2 [v_1,v_2] [a,0; 0,b] [v_1; v_2]'
    """
    return _IN_PRODUCT.sub(lambda found: _product_part(found, size), text) if size > 1 else text


def _product_part(found: re.Match[str], size: int) -> str:
    if found["row"] is None:
        return f"{found['gap']}[{_rows(found['matrix'], size)}]"
    cuts = _cuts(found["row"])
    return f"[{_cut(found['row'], cuts)}]" if len(cuts) == size - 1 else found[0]


def row_with_commas(text: str, entries: int, letters: Collection[str]) -> str:
    """The text with commas for the blanks of a row vector that is the whole answer; positions are kept.

    >>> row_with_commas("g = [0 -m*g*l*sin(theta)]", 2, "gG")
    'g = [0,-m*g*l*sin(theta)]'
    >>> row_with_commas("g_2 = [m_2 l_2] g", 2, "gG")
    'g_2 = [m_2 l_2] g'
    """
    match = _ROW.fullmatch(text)
    if match is None or entries < 2 or (match["letter"] and match["letter"].lstrip("\\") not in letters):
        return text
    cuts = _cuts(match["inside"])
    if len(cuts) != entries - 1:
        return text
    start, end = match.span("inside")
    return (
        text[:start] + _cut(match["inside"], cuts) + text[end:].replace(".'", "  ").replace("'", " ")
    )  # a vector whatever its direction


def _rows(inside: str, columns: int) -> str:
    ends = re.sub(r"(?<!\\);\s*\Z", "", inside.rstrip())
    rows = [(row, _cuts(row)) for row in re.split(r"(?<!\\);", ends)]
    if len(rows) < 2 or any(len(cuts) != columns - 1 for _, cuts in rows):
        return inside
    return ";".join(_cut(row, cuts) for row, cuts in rows) + inside[len(ends) :]


def _cut(row: str, cuts: Collection[tuple[int, int]]) -> str:
    """A row with commas at the end of these gaps, with as many characters as before."""
    for start, end in cuts:
        row = f"{row[:start]}{' ' * (end - start - 1)},{row[end:]}"
    return row


def _cuts(row: str) -> list[tuple[int, int]]:
    """The gaps between cells: the spaces of LaTeX if there are any, or else, without commands, the blanks.

    -b after a gap begins a cell, - b does not.
    """
    found, depth = [], 0
    for gap in _GAP.finditer(row):
        if not (space := gap[0]).strip("(){}"):
            depth += {"(": 1, "{": 1}.get(space, -1)
            continue
        before, after = row[: gap.start()][-1:], row[gap.end() :]
        if depth or not before or not after or before in _BEFORE or after[0] in _AFTER:
            continue
        if not re.match(f"[-+]{_SPACE}", after):
            found.append(gap.span())
    wide = [(start, end) for start, end in found if row[start:end].strip()]
    return wide or ([] if "\\" in row else found)

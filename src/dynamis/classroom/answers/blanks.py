"""Matrices in the notation of MATLAB, whose columns are separated by blanks: [a b; c d]."""

from __future__ import annotations

import re
from collections.abc import Collection

_BRACKET = re.compile(r"\[([^\[\],&\\]*)\]")
_ROW = re.compile(
    r"\s*(?:(?P<letter>\\?[A-Za-z]+)(?:\([^()=]*\))?\s*=\s*)?"
    r"\[(?P<inside>[^\[\],;&\\\n]*)\]\s*(?:\.?'|\^T|\^\{T\}|ᵀ)?\s*;?\s*"
)
_TABLE, _TRANSPOSED = r"\[(?:\[|[^\[\]]*[;,])", r"\s*(?:\^\s*\{?\s*(?:T|\\top)\}?|ᵀ)"
_IN_PRODUCT = re.compile(  # a row before a table or before a transpose of one, a transpose, or a matrix between two brackets
    rf"\[(?P<row>[^\[\],;&\\\n]*)\](?=[^\[\]=+\n-]*(?:{_TABLE}|\[[^\[\]]*\]{_TRANSPOSED})|{_TRANSPOSED})"
    rf"|(?<=\])(?P<gap>(?:{_TRANSPOSED})?[\s*·]*)\[(?P<matrix>[^\[\],&\\\n]*)\](?=[\s*·]*\[)"
)
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
    row, cuts = found["row"], _cuts(found["row"])
    return f"[{''.join(',' if k in cuts else c for k, c in enumerate(row))}]" if len(cuts) == size - 1 else found[0]


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
    row = "".join("," if k in cuts else c for k, c in enumerate(match["inside"]))
    return text[:start] + row + text[end:].replace(".'", "  ").replace("'", " ")  # a vector whatever its direction


def _rows(inside: str, columns: int) -> str:
    ends = inside.rstrip().removesuffix(";")
    if ";" not in ends:
        return inside
    rows = [(row, _cuts(row)) for row in ends.split(";")]
    if any(len(cuts) != columns - 1 for _, cuts in rows):
        return inside
    made = [row if not cuts else "".join("," if k in cuts else c for k, c in enumerate(row)) for row, cuts in rows]
    return ";".join(made) + inside[len(ends) :]


def _cuts(row: str) -> list[int]:
    """The positions of the blanks between cells, the last of each gap; -b after a blank begins a cell, - b does not."""
    found, depth, before = [], 0, ""
    for k, c in enumerate(row):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(c, 0)
        after = row[k + 1 : k + 3]
        if not c.isspace():
            before = c
        elif not depth and before and after and not after[0].isspace():
            signed = after[0] in "+-" and after[1:].isspace()
            if before not in _BEFORE and after[0] not in _AFTER and not signed:
                found.append(k)
    return found

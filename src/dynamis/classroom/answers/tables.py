"""Splitting of a matrix into its cells: an environment with & and \\\\, a list [a, b; c, d], or diag(a, b)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.words import spell

GAPS = ("newline", "soft")
Rows = list[list[Sequence[Token]]]


def end_of_group(tokens: Sequence[Token], at: int) -> int:
    """The position of the closing token of the group opened just before ``at``."""
    depth = 1
    for k in range(at, len(tokens)):
        depth += {"open": 1, "begin": 1, "close": -1, "end": -1}.get(tokens[k].kind, 0)
        if depth == 0:
            return k
    return len(tokens)


def expand_diagonals(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with diag(a, b), diag{a, b} and diag([a, b]) written as the list [a, 0; 0, b]."""
    found: list[Token] = []
    k = 0
    while k < len(tokens):
        token = tokens[k]
        k += 1
        if token.kind != "word" or spell(token.units) != "diag" or k == len(tokens) or tokens[k].kind != "open":
            found.append(token)
            continue
        start, end = k + 1, end_of_group(tokens, k + 1)
        after = end + 1
        if start < end and tokens[start].text == "[" and end_of_group(tokens, start + 1) == end - 1:
            start, end = start + 1, end - 1
        cuts = [start - 1, *(j for j in _outermost(tokens, start, end) if parts_cells(tokens[j])), end]
        entries = [expand_diagonals(tokens[a + 1 : b]) for a, b in pairwise(cuts)]
        zero, comma, semicolon = (
            Token(kind, text, token.at, token.end) for kind, text in (("number", "0"), ("comma", ","), ("semicolon", ";"))
        )
        found.append(Token("open", "[", token.at, token.end))
        for i, entry in enumerate(entries):
            row = [[*(entry if i == j else [zero]), comma] for j in range(len(entries))]
            found += [*(t for cell in row for t in cell)][:-1] + [semicolon] * (i < len(entries) - 1)
        found.append(Token("close", "]", tokens[after - 1].at, tokens[after - 1].end))
        k = after
    return found


def matrix_cells(tokens: Sequence[Token], at: int, source: Source) -> tuple[Rows, int]:
    """The cells of the environment opened just before ``at``, and the position after it."""
    end = end_of_group(tokens, at)
    inside = [k for k in _outermost(tokens, at, end) if tokens[k].kind in ("cell", "row")]
    # a row that ends with an operator goes on in the next line; * may be an entry
    cuts = [k for k in inside if tokens[k].kind == "cell" or not (_goes_on(tokens[k - 1]) and tokens[k - 1].text != "*")]
    own = set(inside)
    rows: Rows = [[]]
    start = at
    for k in [*cuts, end]:
        # rows of a matrix within the cell stay; one of its own that did not cut it goes
        rows[-1].append(_cell([t for j, t in enumerate(tokens[start:k], start) if j not in own]))
        start = k + 1
        if k < end and tokens[k].kind == "row":
            rows.append([])
    if len(rows) > 1 and rows[-1] == [[]]:
        rows.pop()
    _leave_open(rows)
    _refuse_empty(rows, tokens, at, source)
    return rows, end + 1


def list_cells(tokens: Sequence[Token], at: int, source: Source) -> tuple[Rows, int] | None:
    """The cells of the list opened just before ``at`` and the position after it; None for a plain bracket."""
    end = end_of_group(tokens, at)
    outer = _outermost(tokens, at, end)
    if not any(parts_cells(tokens[k]) for k in outer):
        return None
    rows: Rows = [[]]
    start = at
    for k in [*outer, end]:
        kind = "end" if k == end else "comma" if parts_cells(tokens[k]) and tokens[k].kind == "soft" else tokens[k].kind
        if kind not in ("comma", "semicolon", "newline", "end"):
            continue
        cell = _cell(tokens[start:k])
        if kind == "newline" and (not cell or _goes_on(cell[-1]) or _next_goes_on(tokens, k, end)):
            continue
        start = k + 1
        if cell or kind == "comma" or (kind == "semicolon" and rows[-1]):
            rows[-1].append(cell)
        if kind in ("semicolon", "newline") and rows[-1]:
            rows.append([])
    if len(rows) > 1 and not rows[-1]:
        rows.pop()
    _refuse_empty(rows, tokens, at, source)
    return rows, end + 1


def _cell(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a cell; one that only says \\text{sym.} is left open, as * is."""
    cell = [t for t in tokens if t.kind not in GAPS or t.text == "symmetric"]  # which may belong to a list within
    return [Token("sign", "*", cell[0].at, cell[0].end)] if [t.text for t in cell] == ["symmetric"] else cell


def _leave_open(rows: Rows) -> None:
    """Leave the empty cells on that side of the diagonal open on which a cell says \\text{sym.} or *."""
    opened = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if [t.text for t in cell] == ["*"]]
    sides = {i > j for i, j in opened if i != j}
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if not cell and i != j and (i > j) in sides:
                row[j] = [rows[opened[0][0]][opened[0][1]][0]]


def lists_of_tuples(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with the brackets of tuples, as in g = (a, b)^T, written as those of lists; (1,5) has a decimal comma."""
    found = list(tokens)
    open_: list[int] = []
    commas: list[int] = []
    words, words_before = 0, dict[int, int]()
    last: Token | None = None
    for k, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            open_.append(k if token.text == "(" and (last is None or last.text == "=") else -1)
            commas.append(0)
            words_before[k] = words
        elif token.kind in ("close", "end") and open_:
            start, count = open_.pop(), commas.pop()
            marked = start >= 0 and (words > words_before[start] or count > 1 or _is_tuple_of_numbers(tokens, start, k))
            if count and marked and token.text == ")":
                found[start] = found[start]._replace(text="[")
                found[k] = token._replace(text="]")
        elif token.kind == "comma" and commas:
            commas[-1] += 1
        words += token.kind in ("word", "frac", "sqrt")
        last = token if token.kind not in (*GAPS, "row", "break") else last
    return found


def _is_tuple_of_numbers(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether numbers in parentheses are transposed, or one of them has a decimal point: (0, -98.1), (0, 5)^T."""
    transposed = [t.text for t in tokens[end + 1 : end + 4] if t.text != "{"][:2] == ["^", "T"]
    return transposed or any(t.kind == "number" and "." in t.text for t in tokens[start:end])


def length_of_rate(tokens: Sequence[Token]) -> int:
    """The number of tokens of d/dt at the beginning of these, before a bracket; 0 if there is something else."""
    texts = ["".join(u.text for u in t.units) or t.text for t in tokens[:9]]
    for length in (7, 8):
        body = ["{", "d", "}", "{", *(["dt"] if length == 7 else ["d", "t"]), "}"]
        if texts[1 : 1 + len(body)] == body:
            following = next((t for t in tokens[1 + len(body) : 4 + len(body)] if t.kind not in GAPS), None)
            return 1 + len(body) if following is not None and following.text in ("(", "[", "\\{") else 0
    return 0


class Slope(NamedTuple):
    """A partial derivative: its variable, its number of tokens, and the name of the expression, unless a bracket follows."""

    variable: str
    length: int
    name: Token | None = None


def slope_of(tokens: Sequence[Token]) -> Slope | None:
    """The partial derivative at the beginning of these tokens: ∂/∂q_1 before a bracket, or ∂U/∂q_1."""
    kinds, signs = [t.kind for t in tokens[:9]], {t.text for t in tokens[:9] if t.kind == "step"}
    if not signs <= {"partial", "∂"}:
        return None
    if kinds == ["frac", "open", "step", "word", "close", "open", "step", "word", "close"]:
        return Slope(spell(tokens[7].units), 9, tokens[3])
    if kinds[:5] == ["step", "word", "sign", "step", "word"] and tokens[2].text == "/":
        return Slope(spell(tokens[4].units), 5, tokens[1])
    following = next((t for t in tokens[8:11] if t.kind not in GAPS), None)
    found = kinds[:8] == ["frac", "open", "step", "close", "open", "step", "word", "close"]
    bracket = following is not None and following.text in ("(", "[", "\\{")
    return Slope(spell(tokens[6].units), 8) if found and bracket else None


def parts_cells(token: Token) -> bool:
    """Whether a token separates the cells of a list: a comma, a semicolon, or a wide space as in [a \\quad b]."""
    return token.kind in ("comma", "semicolon") or (token.kind == "soft" and token.text in ("quad", "qquad"))


def _outermost(tokens: Sequence[Token], at: int, end: int) -> list[int]:
    """The positions between two that are outside of inner brackets."""
    depth, found = 0, []
    for k in range(at, end):
        if tokens[k].kind in ("open", "begin"):
            depth += 1
        elif tokens[k].kind in ("close", "end"):
            depth -= 1
        elif depth == 0:
            found.append(k)
    return found


def _goes_on(token: Token) -> bool:
    return token.kind == "sign"


def _next_goes_on(tokens: Sequence[Token], k: int, end: int) -> bool:
    following = next((t for t in tokens[k:end] if t.kind not in GAPS), None)
    return following is None or following.kind in ("comma", "semicolon") or (following.kind == "sign" and following.text != "-")


def _refuse_empty(rows: Rows, tokens: Sequence[Token], at: int, source: Source) -> None:
    if any(not cell for row in rows for cell in row) or not rows[0]:
        raise source.error(tokens[at - 1].at, "a matrix with an empty entry", "write 0, or * for an entry that is left open")

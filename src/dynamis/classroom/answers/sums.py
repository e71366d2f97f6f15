r"""Finite sums with numbers as bounds, written out: \sum_{i=1}^2 m_i g y_i is (m_1 g y_1 + m_2 g y_2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynamis.classroom.answers.layout import members
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tokens import Token

_BOUNDS = re.compile(
    r"\\sum(?:\s*\\limits)?\s*_\s*\{\s*(?P<index>[a-z])\s*=\s*(?P<first>[0-9])\s*\}"
    r"\s*\^\s*(?:\{\s*(?P<braced>[0-9])\s*\}|(?P<last>[0-9]))"
)
_DEPTH = {"open": 1, "begin": 1, "close": -1, "end": -1}
_FREE = re.compile(r"(?:.*[^a-z])?[ijk]+(?:[^a-z].*)?", re.DOTALL)
MAX_TOKENS = 2000  # of a sum that is written out


def with_sums_written_out(statement: Sequence[Token], source: Source) -> list[Token] | None:
    """A formula with one member on each side and its sums written out; None if it has none, or others."""
    parts = members(statement)
    if len(parts) != 2 or not any(t.kind == "step" for t in parts[1]) or any(t.kind == "step" for t in parts[0]):
        return None
    written = _written_out(statement, source)
    free = any(t.kind == "word" and any(u.joined and _FREE.fullmatch(u.text) for u in t.units) for t in written)
    left = any(t.kind == "step" for t in written)  # also of another kind
    return None if free or left or len(written) > MAX_TOKENS else written


def _written_out(tokens: Sequence[Token], source: Source) -> list[Token]:
    found: list[Token] = []
    k = 0
    while k < len(tokens):
        token = tokens[k]
        k += 1
        match = _BOUNDS.fullmatch(source.text, token.at, token.end) if token.kind == "step" else None
        if match is None or len(found) > MAX_TOKENS:
            found.append(token)
            continue
        end = _end_of_term(tokens, k)
        sign, last = "(", int(match["braced"] or match["last"])
        for number in range(int(match["first"]), last + 1):
            found.append(Token("open" if sign == "(" else "sign", sign, token.at, token.end))
            found += _written_out([_numbered(t, match["index"], str(number)) for t in tokens[k:end]], source)
            sign = "+"
        found.append(Token("close", ")", tokens[end - 1].at, tokens[end - 1].end) if sign == "+" else token)
        k = end
    return found


def _end_of_term(tokens: Sequence[Token], k: int) -> int:
    """The end of the product that begins at a position: the next sign of a sum outside of brackets."""
    depth = 0
    for at in range(k, len(tokens)):
        depth += _DEPTH.get(tokens[at].kind, 0)
        if depth < 0 or (depth == 0 and tokens[at].kind == "sign" and tokens[at].text in "+-=" and at > k):
            return at
    return len(tokens)


def _numbered(token: Token, index: str, number: str) -> Token:
    """A word with a number for a letter in its indices."""
    if token.kind != "word":
        return token
    letter = re.compile(rf"(?<![A-Za-z]){index}|{index}(?![A-Za-z])")
    return token._replace(units=tuple(u._replace(text=letter.sub(number, u.text)) if u.joined else u for u in token.units))

"""Layout of formulas in a text: matching brackets, equation environments, and the end of a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dynamis.classroom.answers.latex import CLOSING, FUNCTION, MATRIX
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tables import GAPS, end_of_group, expand_diagonals, lists_of_tuples, parts_cells
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.words import spell
from dynamis.errors import printable

MAX_NESTING = 40
_DEPTH = {"open": 1, "begin": 1, "close": -1, "end": -1}


class Layout(NamedTuple):
    """The formulas of a text, each with all of its = signs, the tokens of each passage of prose, and remarks.

    ``remarks`` are the positions of equations that follow words, as in "with g = 9.81".
    """

    formulas: list[list[Token]]
    prose: list[list[Token]]
    remarks: set[int]


def layout(tokens: Sequence[Token], source: Source) -> Layout:
    """The formulas and the prose of a text."""
    kept, inner = _without_inner_prose(_opened(expand_diagonals(lists_of_tuples(_matched(tokens, source))), source))
    found = Layout([], inner, set())
    for line in _lines(kept, source):
        own = _without_prose(line)
        for formula in own.formulas:
            found.formulas.extend(_pieces(formula, source))
        found.prose.extend(own.prose)
        found.remarks.update(own.remarks)
    return found


def members(statement: Sequence[Token]) -> list[list[Token]]:
    """The parts between the = signs of a formula, without empty ones."""
    parts = _cut(statement, lambda t: t.kind == "sign" and t.text == "=")
    return [part for part, _ in parts if any(t.kind not in GAPS for t in part)]


def has_table(tokens: Sequence[Token]) -> bool:
    """Whether these tokens contain a matrix or a list."""
    for k, token in enumerate(tokens):
        if token.kind == "begin":
            return True
        if token.kind == "open" and token.text == "[":
            inner = tokens[k + 1 : end_of_group(tokens, k + 1)]
            if any(parts_cells(t) for t, depth in _with_depth(inner) if depth == 0):
                return True
    return False


def _matched(tokens: Sequence[Token], source: Source) -> list[Token]:
    """The tokens, after a check that all brackets and environments match; an unpaired \\{ is removed."""
    open_: list[int] = []
    dropped: set[int] = set()
    for k, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            open_.append(k)
            if len(open_) > MAX_NESTING:
                found = f"brackets are nested deeper than {MAX_NESTING}"
                raise source.error(token.at, found, "name a part of the formula, as in h = …")
        elif token.kind in ("close", "end"):
            while open_ and tokens[open_[-1]].text == "\\{" and not _closes(tokens[open_[-1]], token):
                dropped.add(open_.pop())
            if not open_ or not _closes(tokens[open_[-1]], token):
                raise _mismatch(tokens[open_[-1]] if open_ else None, token, source)
            open_.pop()
    for k in open_:
        if tokens[k].text != "\\{":
            raise source.error(tokens[k].at, f"{_token_text(tokens[k])} is not closed", f"close it with {_closing(tokens[k])}")
        dropped.add(k)
    return [token for k, token in enumerate(tokens) if k not in dropped]


def _closes(opening: Token, closing: Token) -> bool:
    if opening.kind == "begin":
        return closing.kind == "end" and closing.text == opening.text
    return closing.kind == "close" and closing.text == CLOSING[opening.text]


def _mismatch(opening: Token | None, closing: Token, source: Source) -> Exception:
    if opening is None:
        return source.error(closing.at, f"{_token_text(closing)} is unmatched", "delete it, or open it before")
    line, column = source.place(opening.at)
    found = f"{_token_text(closing)} is found before {_token_text(opening)} of line {line}, column {column}, is closed"
    return source.error(closing.at, found, f"close it with {_closing(opening)}")


def _token_text(token: Token) -> str:
    return f"\\{token.kind}{{{token.text}}}" if token.kind in ("begin", "end") else printable(token.text)


def _closing(token: Token) -> str:
    return f"\\end{{{token.text}}}" if token.kind == "begin" else CLOSING[token.text]


def _opened(tokens: Sequence[Token], source: Source) -> list[Token]:
    """The tokens with equation environments resolved into lines."""
    found: list[Token] = []
    dissolved: list[bool] = []  # for each bracket around a token, whether it is a dissolved environment
    for k, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            dissolves = token.kind == "begin" and (token.text not in MATRIX or _holds_equations(tokens, k))
            if dissolves and not all(dissolved):
                raise source.error(token.at, "equations inside a bracket or a matrix", "put them outside")
            dissolved.append(dissolves)
            found.append(token._replace(kind="break") if dissolves else token)
        elif token.kind in ("close", "end"):
            found.append(token._replace(kind="break") if dissolved.pop() else token)
        elif token.kind == "cell" and all(dissolved):
            if not dissolved and not any(
                t.text == "=" for t in tokens[max(0, k - 1) : k + 2]
            ):  # g_2 &= … without its environment
                raise source.error(token.at, "& outside a matrix", "put the matrix between \\begin{bmatrix} and \\end{bmatrix}")
        else:
            found.append(token)
    return found


def _holds_equations(tokens: Sequence[Token], k: int) -> bool:
    inner = tokens[k + 1 : end_of_group(tokens, k + 1)]
    return any(depth == 0 and t.kind == "sign" and t.text == "=" for t, depth in _with_depth(inner))


def _with_depth(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    depth = 0
    for token in tokens:
        depth += min(0, _DEPTH.get(token.kind, 0))
        yield token, depth
        depth += max(0, _DEPTH.get(token.kind, 0))


def _lines(tokens: Sequence[Token], source: Source) -> Iterator[list[Token]]:
    """Formulas on separate lines. A line that ends or begins with an operator is continued, unless an equation begins."""
    line: list[Token] = []
    last: Token | None = None
    equals = -1  # the position of the last = sign in the line
    following = _following(tokens)
    for k, ((token, depth), after) in enumerate(zip(_with_depth(tokens), following, strict=True)):
        outside = depth == 0
        if outside and token.kind in ("break", "semicolon"):
            if any(t is not None and t.text == "=" for t in (last, after)):
                continue  # a formula broken into two displays at an = sign
            yield line
            line, last, equals = [], None, -1
        elif outside and token.kind in ("newline", "row"):
            if last is None or _is_operator(last) or tokens[k - 1].kind in ("newline", "row"):
                continue
            if _is_operator(after) and not _begins_equation(line, equals, tokens, following, k, source):
                continue
            yield line
            line, last, equals = [], None, -1
        else:
            if outside and token.kind == "sign" and token.text == "=":
                equals = len(line)
            line.append(token)
            last = last if token.kind == "soft" else token
    yield line


def _begins_equation(
    line: Sequence[Token], equals: int, tokens: Sequence[Token], following: Sequence[Token | None], k: int, source: Source
) -> bool:
    """Whether the operator that follows token k begins another equation than the line's, whose last = is at ``equals``.

    A sign does after an empty line, or in a line with its own = sign. After … = τ_1, whose right-hand side is complete, the
    = sign can also be in a line that continues it.
    """
    after = following[k]
    if equals < 0 or after is None or after.text not in "+-":
        return False
    if source.has_blank_line(line[-1].end, after.at):
        return True
    complete = len(line) - equals < 4 and _is_name(line[equals + 1 :]) and not _is_name(members(line)[0])
    depth = 0
    last: Token | None = None
    for token, beyond in ((tokens[j], following[j]) for j in range(k + 1, len(tokens))):
        depth += _DEPTH.get(token.kind, 0)
        if depth == 0 and token.kind == "sign" and token.text == "=":
            return True
        if depth == 0 and token.kind in ("break", "semicolon"):
            return False
        if depth == 0 and token.kind in ("newline", "row") and last is not None and not _is_operator(last):
            if not (complete and _is_operator(beyond)):
                return False
        elif token.kind not in (*GAPS, "row"):
            last = token
    return False


def _is_name(tokens: Sequence[Token]) -> bool:
    return [t.kind for t in tokens if t.kind not in (*GAPS, "comma", "stop")] == ["word"]


def _following(tokens: Sequence[Token]) -> list[Token | None]:
    """For each token, the next one that is not whitespace."""
    found: list[Token | None] = []
    after: Token | None = None
    for token in reversed(tokens):
        found.append(after)
        if token.kind not in ("newline", "row", "soft", "break"):
            after = token
    found.reverse()
    return found


def _is_operator(token: Token | None) -> bool:
    return token is not None and token.kind == "sign" and token.text in "+-*/="


class _Group:
    """An open bracket: whether its current cell has content, and the passage of prose that ends the cell, if any."""

    def __init__(self) -> None:
        self.content = False
        self.passage: list[Token] | None = None


def _without_inner_prose(tokens: Sequence[Token]) -> tuple[list[Token], list[list[Token]]]:
    """The tokens without prose in brackets and cells: words, with the symbols after them up to the end of the cell."""
    kept: list[Token] = []
    prose: list[list[Token]] = []
    groups: list[_Group] = [_Group()]
    for token, after in zip(tokens, _following(tokens), strict=True):
        if token.kind in ("close", "end"):
            groups.pop()
        group = groups[-1]
        if len(groups) > 1 and token.kind in ("cell", "row", "comma", "semicolon", "newline"):
            group.content, group.passage = False, None
        elif len(groups) > 1 and _is_prose(token) and group.content and not _ends_cell(after) and group.passage is None:
            group.passage = []
            prose.append(group.passage)
        passage = next((g.passage for g in groups if g.passage is not None), None)
        (kept if passage is None else passage).append(token)
        group.content = group.content or token.kind not in (*GAPS, "cell", "row", "comma", "semicolon")
        if token.kind in ("open", "begin"):
            groups.append(_Group())
    return kept, prose


def _is_prose(token: Token) -> bool:
    return token.kind == "soft" and token.text == "prose"


def _ends_cell(token: Token | None) -> bool:
    """Whether a text before this token is followed by no symbols of its own."""
    return token is None or _is_operator(token) or token.kind in ("close", "end", "cell", "comma", "semicolon")


def _without_prose(line: Sequence[Token]) -> Layout:
    """The parts of a line with formulas: one ends at a text with words, unless an operator follows.

    After it the next formula begins with an equation; symbols between words are prose.
    """
    parts = _cut(line, _is_prose)
    contents = [[t for t in part if t.kind not in (*GAPS, "comma", "stop")] for part, _ in parts]
    between_words = any(contents[1:-1])
    found = Layout([], [], set())
    open_ = False  # whether the last passage of prose goes on
    for k, ((part, gap), content) in enumerate(zip(parts, contents, strict=True)):
        if open_ and gap is not None:
            found.prose[-1].append(gap)
        if not content:
            continue
        first = content[0]
        if found.formulas and not open_ and _is_operator(first):
            found.formulas[-1] += part
        elif _is_equation(content) and not _is_operator(first):
            if found.formulas:
                found.remarks.add(first.at)
            found.formulas.append(list(part))
            open_ = False
        elif k == 0 or not (found.formulas or open_ or between_words or _is_equation(line)):
            found.formulas.append(list(part))
        elif open_:
            found.prose[-1].extend(content)
        else:
            found.prose.append([*([gap] if gap else []), *content])
            open_ = True
    return found


def _pieces(line: Sequence[Token], source: Source) -> list[list[Token]]:
    """The formulas of one line, separated by commas and wide spaces before a new =."""
    found: list[list[Token]] = []
    for part, gap in _cut(line, lambda t: t.kind in ("soft", "comma")):
        piece = _without_stop(part)
        if not piece:
            continue
        signed = gap is not None and gap.kind == "comma" and piece[0].text in "+-"
        begins = _is_equation(piece) and (signed or not _is_operator(piece[0]))
        if found and not begins and gap is not None and gap.kind == "comma" and not _is_operator(piece[0]):
            if _is_text(piece):
                raise source.error(piece[0].at, "text behind a formula", r"put it in \text{…}, or % before it")
            raise source.error(gap.at, "a comma inside a formula", "write a decimal point, as in 9.81, or a list in [ ]")
        listed = gap is not None and gap.kind == "comma"
        if found and not (begins and (listed or _is_equation(found[-1]) or _is_table(found[-1]))):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _is_text(tokens: Sequence[Token]) -> bool:
    """Whether a part of a line is text, not a formula: two words side by side, of which the first is of letters alone."""
    first = spell(tokens[0].units) if tokens[0].kind == "word" else ""
    words = len(tokens) > 1 and all(t.kind == "word" for t in tokens[:2])
    return words and len(first) > 2 and first.isalpha() and len(tokens[0].units) == len(first) and first not in FUNCTION


def _is_table(tokens: Sequence[Token]) -> bool:
    """Whether a formula is a matrix without a name, with or without a transpose."""
    return bool(tokens) and (tokens[0].kind == "begin" or tokens[0].text == "[") and has_table(tokens)


def _is_equation(tokens: Sequence[Token]) -> bool:
    return any(t.kind == "sign" and t.text == "=" for t, depth in _with_depth(tokens) if depth == 0)


def _without_stop(tokens: Sequence[Token]) -> list[Token]:
    piece = list(tokens)
    while piece and piece[-1].kind in ("stop", "newline", "row"):
        piece.pop()
    return piece


def _cut(tokens: Sequence[Token], at: Callable[[Token], bool]) -> list[tuple[list[Token], Token | None]]:
    """The parts between the tokens selected by ``at`` outside of brackets, each with the token before it."""
    parts: list[tuple[list[Token], Token | None]] = [([], None)]
    for token, depth in _with_depth(tokens):
        if depth == 0 and at(token):
            parts.append(([], token))
        else:
            parts[-1][0].append(token)
    return parts

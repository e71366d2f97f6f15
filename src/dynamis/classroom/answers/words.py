r"""Words: runs of letters and digits with their accents and indices, as ``m_{1}``, ``\dot{\theta}_1``, ``q1'``, ``m2a1``.

A word is stored as units between which it may be split into names: ``a_1l_2`` is one word of four units, and its names depend
on the vocabulary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from dynamis.classroom.answers.latex import (
    ACCENT_COMMAND,
    ACCENT_MARK,
    GREEK_COMMAND,
    GREEK_LETTER,
    PRIME,
    REMARK,
    STYLE,
    SUBSCRIPT,
    TRANSPOSE,
)
from dynamis.classroom.answers.source import Source

DIGITS = "0123456789"
MAX_WORD_LETTERS = 80
_MAX_INDEX_LETTERS = 40
_MAX_BRACE_DEPTH = 8
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_UNDERSCORE = re.compile(r"[ \t]*_[ \t]*")
_POWER_FIRST = re.compile(r"\^[ \t]*(?:\{[ \t]*([0-9]+)[ \t]*\}|([0-9]))(?=[ \t]*_)")

_BRACKETED = re.compile(r"(?<![A-Za-z0-9_])[sScC]\[([-+,0-9]*[-+,][-+,0-9]*)\]")  # c[1-2], as plain text has it


class Unit(NamedTuple):
    """An indivisible part of a word; a ``joined`` one belongs to the unit before it."""

    text: str
    at: int
    joined: bool


class Word(NamedTuple):
    units: tuple[Unit, ...]
    end: int
    power: str = ""  # l^2_1: the exponent that stands before the index


def spell(units: Sequence[Unit]) -> str:
    """The canonical spelling of a name: accents in front, no underscores or braces, a prime for each dot.

    >>> from dynamis.classroom.answers.source import Source
    >>> [spell(read_word(Source.of(text, ""), 0).units) for text in (r"\\dot{q}_{1}", "q_1'", r"\\tilde{I}_1", "a_{C_1}")]
    ["q1'", "q1'", '~I1', 'aC1']
    """
    text = "".join(unit.text for unit in units)
    primes = text.count("'")
    accents = "".join(c for c in "~¯ˆ" if c in text)
    return accents + text.translate(_BARE) + "'" * primes


_BARE = str.maketrans("", "", "'~¯ˆ")


def is_letter(c: str) -> bool:
    return c.isalpha() and c not in SUBSCRIPT and c not in TRANSPOSE


def read_word(source: Source, at: int) -> Word | None:
    """The word that begins at a position, or None."""
    return _Reader(source).word(at, 0)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text

    def word(self, at: int, braces: int) -> Word | None:
        start = self.base(at, braces)
        return None if start is None else self.rest(*start)

    def base(self, at: int, braces: int) -> tuple[list[Unit], int, bool] | None:
        """The first units of a word, their end, and whether more letters may follow directly."""
        c = self.text[at : at + 1]
        if match := _BRACKETED.match(self.text, at):
            return [Unit(c, at, False), Unit(match[1], at + 2, True)], match.end(), False
        if is_letter(c):
            return [], at, True
        if c == "{":
            inner = self.braced(at, braces)
            return None if inner is None else (*inner, False)
        command = _COMMAND.match(self.text, at)
        if command is None:
            return None
        name, end = command[1], command.end()
        if name in GREEK_COMMAND:
            return [Unit(GREEK_COMMAND[name], at, False)], end, False
        if name in STYLE or name in ACCENT_COMMAND:
            argument = self.argument(end, braces)
            if argument is None:
                return None
            units, end = argument
            if name in ACCENT_COMMAND:  # an accent spans one name
                units = [Unit(u.text, u.at, k > 0) for k, u in enumerate(units)]
                units.append(Unit(ACCENT_COMMAND[name], at, True))
            return units, end, False
        return None

    def argument(self, at: int, braces: int) -> tuple[list[Unit], int] | None:
        at = self.after_spaces(at)
        c = self.text[at : at + 1]
        if c == "{":
            return self.braced(at, braces)
        if is_letter(c):
            return self.letter(at, False), at + 1
        start = self.base(at, braces + 1) if braces < _MAX_BRACE_DEPTH else None
        return None if start is None else start[:2]

    def braced(self, at: int, braces: int) -> tuple[list[Unit], int] | None:
        if braces >= _MAX_BRACE_DEPTH:
            return None
        word = self.word(self.after_spaces(at + 1), braces + 1)
        if word is None or word.power:
            return None
        end = self.after_spaces(word.end)
        return (list(word.units), end + 1) if self.text[end : end + 1] == "}" else None

    def rest(self, units: list[Unit], at: int, more: bool) -> Word:
        """The letters, digits, indices and primes that follow."""
        start, power, joined, indexed = at, "", False, False
        while True:
            if len(units) > MAX_WORD_LETTERS:
                raise self.source.error(
                    start, f"a word of more than {MAX_WORD_LETTERS} letters", "put * or spaces between factors"
                )
            c = self.text[at : at + 1]
            if c and c in PRIME:
                units.append(Unit(PRIME[c], at, True))
                at += 1
            elif c and c in ACCENT_MARK:
                units.append(Unit(ACCENT_MARK[c], at, True))
                at += 1
            elif c == "~" and units and self.text[at + 1 : at + 2] in ("_", *DIGITS):  # I~_1; elsewhere ~ is a space
                units.append(Unit("~", at, True))
                at += 1
            elif c and c in SUBSCRIPT and units:
                units.append(Unit(SUBSCRIPT[c], at, True))
                at, joined = at + 1, False
            elif indexed:
                break
            elif is_letter(c) and (more or joined):
                units += self.letter(at, joined)
                at, joined = at + 1, False
            elif c and c in DIGITS and units:
                units.append(Unit(c, at, True))
                at, joined = at + 1, False
            elif units and not power and not joined and (match := _POWER_FIRST.match(self.text, at)):
                power, at = match[1] or match[2], match.end()
            elif match := _UNDERSCORE.match(self.text, at):
                at, joined = match.end(), True
                if self.text[at : at + 1] in ("{", "\\"):
                    text, end = self.index(at)
                    units.append(Unit(text, at, True))
                    at, joined, indexed = end, False, True
                elif not (self.text[at : at + 1].isalpha() or self.text[at : at + 1] in tuple(DIGITS)):
                    raise self.source.error(at, "an index is missing after _", "write the index, as in m_1 or m_{12}")
            else:
                break
        return Word(tuple(units), at, power)

    def letter(self, at: int, joined: bool) -> list[Unit]:
        c = self.text[at]
        parts = unicodedata.normalize("NFD", c)
        if len(parts) > 1 and all(mark in ACCENT_MARK for mark in parts[1:]):
            marks = [Unit(ACCENT_MARK[mark], at, True) for mark in parts[1:]]
            return [Unit(GREEK_LETTER.get(parts[0], parts[0]), at, joined), *marks]
        return [Unit(GREEK_LETTER.get(c, c), at, joined)]

    def index(self, at: int) -> tuple[str, int]:
        """The text of an index that begins with a brace or a command, without formatting commands."""
        start, open_, found = at, 0, ""
        while True:
            c = self.text[at : at + 1]
            command = _COMMAND.match(self.text, at)
            if c == "{":
                open_ += 1
            elif c == "}":
                open_ -= 1
            elif command and command[1] in GREEK_COMMAND:
                found += GREEK_COMMAND[command[1]]
                at = command.end() - 1
            elif command and (command[1] in STYLE or command[1] in REMARK):
                at = self.after_spaces(command.end())
                continue  # with its argument, a brace or a letter
            elif c == "\\" and self.text[at + 1 : at + 2] in tuple(",;:! "):
                at += 1
            elif c and (c.isalpha() or c in DIGITS or c in ",+"):
                found += GREEK_LETTER.get(c, c)
            elif c in ("-", "−"):
                found += "-"
            elif not c or c not in "_ \t\n":
                if not c or c == "\\":
                    raise self.source.error(start, "this index is not closed, or contains more than a name", "close it with }")
                raise self.source.error(at, f"{c!r} is not allowed in an index", "use letters, digits and commas")
            at += 1
            if open_ == 0:
                break
        if not 0 < len(found) <= _MAX_INDEX_LETTERS:
            what = "too long" if found else "empty"
            raise self.source.error(start, f"this index is {what}", "write the index, as in m_{1}")
        return found, at

    def after_spaces(self, at: int) -> int:
        while self.text[at : at + 1] in (" ", "\t", "\n"):
            at += 1
        return at


def is_digit(text: str) -> bool:
    """Whether a text is made of the digits 0 to 9 alone."""
    return bool(text) and all(c in DIGITS for c in text)

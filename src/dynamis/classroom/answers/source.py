"""The text of an answer, and errors that point into it."""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from dynamis.classroom.answers.rewriting import rewritten
from dynamis.display import counted
from dynamis.errors import FormatError, InputError, printable
from dynamis.model.diagnostics import Problem

MAX_CHARACTERS = 100_000  # a page of formulas has some 3000
_EXCERPT_CHARACTERS = 70  # of a long line in a message: with its indent it fits a terminal of 80 columns
_OPENING = re.compile(r"\$\$?|\\[\[(]|\\begin\{(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math)\*?\}")
_CLOSING = {"\\[": "\\]", "\\(": "\\)"}

_HEADING = re.compile(r"^[ \t]*[A-Za-z][A-Za-z0-9 ]{2,40}:(?!=)", re.MULTILINE)
_NUMBERING = re.compile(r"^[ \t]*(?:[0-9]{1,2}|[a-h])\)(?=\s*[A-Za-z\\$])", re.MULTILINE)


def detected_format(text: str) -> str:
    """The format in which formulas are written: LaTeX, Python (SymPy), or plain formulas; the parser reads mixtures too."""
    if re.search(r"\\[A-Za-z]|\$|\\\\|[_^]\{", text):
        return "LaTeX"
    return "Python (SymPy)" if re.search(r"\*\*|\bMatrix\(|\b(?:sin|cos)\([^)]*\)\s*\*", text) else "plain formulas"


@dataclass(frozen=True)
class Source:
    """A text with the name of its file; ``text`` has the same positions as the input, with comments blanked."""

    text: str
    file: str
    _given: str = ""
    _starts: list[int] = field(default_factory=list)

    @staticmethod
    def of(text: str, file: str) -> Source:
        if not isinstance(text, str):
            raise InputError(f"an answer must be a string, got {type(text).__name__}")
        if len(text) > MAX_CHARACTERS:
            found = f"the answer has {counted(len(text), 'character')}, at most {MAX_CHARACTERS} are allowed"
            raise Source("", file, "", [0]).error(0, found, "give the formulas only")
        given = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
        starts = [0, *(k + 1 for k, c in enumerate(given) if c == "\n")]
        raw = Source(given, file, given, starts)
        for at, c in enumerate(given):
            # characters that do not show could make a text read otherwise than it looks
            if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c not in "\n\t":
                raise raw.error(at, f"the character U+{ord(c):04X} is not printable", "delete it, or retype the line")
        return Source(rewritten(_without_prose(_without_labels(_without_remarks(given)))), file, given, starts)

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a position, both from 1."""
        line = bisect.bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def at(self, line: int, column: int) -> int:
        """The position of a line and a column."""
        return self._starts[line - 1] + column - 1

    def excerpt(self, at: int, end: int) -> str:
        """The text at that position, on one line."""
        return " ".join(self._given[at:end].split())

    def has_blank_line(self, at: int, end: int) -> bool:
        """Whether there is an empty line in this range; one with a comment is not."""
        return re.search(r"\n[ \t]*\n", self._given[at:end]) is not None

    def error(self, at: int, found: str, cure: str) -> FormatError:
        """The error at a position: location, message, correction, and the line with a caret."""
        at = min(at, len(self._given))
        line, column = self.place(at)
        shown = self._given[self._starts[line - 1] :].split("\n", 1)[0]
        visible, caret = _pointed("".join(c if c.isprintable() else " " for c in shown), column - 1)
        problem = Problem("error", "answer", f"column {column}", found, "", cure, "", self.file, line)
        name = self.file if self.file.isprintable() else printable(self.file)
        sentence = found if found.endswith("?") else found + "."
        place = f"{name}:{line}:{column}"
        excerpt = f"\n    {visible}\n    {caret}" if visible.strip() else ""
        return FormatError(f"{place}: error: {sentence} To repair: {cure}.{excerpt}", [problem])


def _pointed(line: str, at: int) -> tuple[str, str]:
    """The line and a caret under its character ``at``; of a long line the part around it, with … where it goes on.

    >>> _pointed("a + + b", 4)
    ('a + + b', '    ^')
    """
    left = max(0, min(at - _EXCERPT_CHARACTERS // 2, len(line) - _EXCERPT_CHARACTERS))
    before, after = "…" if left else "", "…" if left + _EXCERPT_CHARACTERS < len(line) else ""
    part = line[left : left + _EXCERPT_CHARACTERS]
    ahead = before + part[: at - left]
    # combining marks take no cell of a terminal, wide characters two
    cells = sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in ahead)
    return f"{before}{part}{after}", " " * cells + "^"


def _without_remarks(text: str) -> str:
    return re.sub(r"(?<!\\)[%#][^\n]*", lambda m: " " * len(m[0]), text)


def _without_labels(text: str) -> str:
    """The text without the labels at the beginning of lines: words with a colon, Solution:, and outside brackets 1) or a)."""
    text = _HEADING.sub(lambda m: " " * len(m[0]), text)
    parts, last, depth = [], 0, 0  # depth of brackets at the label
    for match in _NUMBERING.finditer(text):
        before = text[last : match.start()]
        depth += before.count("(") - before.count(")")
        label = " " * len(match[0]) if depth == 0 else match[0]
        depth -= label.count(")")
        parts += [before, label]
        last = match.end()
    return "".join([*parts, text[last:]])


def _without_prose(text: str) -> str:
    """The formulas only, if the text marks them ($, \\[, an environment)."""
    kept = [" " if c != "\n" else c for c in text]
    outside, last = [], 0
    for start, end in _marked(text):
        outside.append(text[last:start])
        kept[start:end] = text[start:end]
        last = end
    outside.append(text[last:])
    prose = "".join(outside)
    return text if last == 0 or "=" in prose or "matrix}" in prose else "".join(kept)


def _marked(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the marked formulas of a text."""
    at = 0
    unclosed: set[str] = set()  # whose closing was searched once without success
    while opening := _OPENING.search(text, at):
        mark = opening[0]
        closing = _CLOSING.get(mark, mark.replace("begin", "end"))
        end = -1 if closing in unclosed else text.find(closing, opening.end())
        at = opening.end()
        if end < 0:
            unclosed.add(closing)
        else:
            at = end + len(closing)
            yield opening.start(), at

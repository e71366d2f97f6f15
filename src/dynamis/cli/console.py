"""The one place that writes to the terminal.

Text from files (names, messages) is printed literally: markup and emoji codes are off and control characters are escaped.
Where a width is known (a terminal, or COLUMNS), lines are broken between words; a pipe gets one line for each sentence.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED_COLUMNS = 400  # of a pipe or a file: wide enough for every table
ESCAPED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # Unicode categories that a terminal may obey or not show
Styled = str | tuple[str, dict[str, Any]]  # text, or text with the arguments of click.style


def clean(text: object) -> str:
    """Text with its control characters escaped (``\\x1b``), except line breaks and tabs."""
    line = str(text).replace("\r\n", "\n")
    if line.isprintable():
        return line
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ESCAPED else _escape(c) for c in line)


def clean_name(name: object) -> str:
    """A name on one line: line breaks are escaped as well."""
    return clean(str(name).replace("\n", "\\n").replace("\t", "\\t"))


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def columns(err: bool = False) -> int | None:
    """The width of the output: COLUMNS, else that of the terminal; None for a pipe or a file."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream is not None and stream.isatty() else None


def console(err: bool = False) -> Console:
    """A Rich console for tables and progress: text is neither markup, nor emoji codes, nor highlighted."""
    from rich.console import Console

    return Console(stderr=err, markup=False, emoji=False, highlight=False, width=columns(err) or UNLIMITED_COLUMNS)


def echo(*pieces: Styled, err: bool = False, hang: int | None = None) -> None:
    """Print a paragraph, broken between words; ``hang`` indents its further lines, by default as far as the first."""
    styled = [(piece, {}) if isinstance(piece, str) else piece for piece in pieces]
    parts = [(clean(piece).expandtabs(4), style) for piece, style in styled]
    text, width = "".join(part for part, _ in parts), columns(err)
    lines: list[str] = []
    start = 0
    for paragraph in text.split("\n"):
        indent = len(paragraph) - len(paragraph.lstrip()) if hang is None else hang
        for k, (first, last) in enumerate(_broken(paragraph, width, indent)):
            lines.append(" " * (indent if k else 0) + _styled(parts, start + first, start + last))
        start += len(paragraph) + 1
    click.echo("\n".join(lines), err=err)


def bullet(mark: str, sentence: str, **style: Any) -> None:
    """Print ``  • sentence``, its further lines below its first word."""
    echo((f"  {mark} {sentence}", style), hang=len(mark) + 3)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes; one that begins with its own mark, such as ``warning:``, keeps it."""
    for note in notes:
        mark, sentence = note.split(" ", 1) if note.startswith(("warning: ", "repaired: ")) else ("note:", note)
        bullet(mark, sentence, dim=True)


def echo_text(text: str, err: bool = False) -> None:
    """Print text that must stay as it is laid out: program code, generated documents, templates of files."""
    click.echo(clean(text), err=err)


def print_written(paths: Iterable[object]) -> None:
    """Name the files that were written, one on a line, never broken."""
    for path in paths:
        click.echo(f"wrote {clean_name(path)}")


def print_json(facts: Any) -> None:
    """Print data as JSON: infinities and NaN become null; what the output's encoding does not have is escaped."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=not encoding.startswith("utf")))


def finite(x: Any) -> Any:
    """Numbers for JSON: infinities and what is not a number become None."""
    import math

    if isinstance(x, dict):
        return {key: finite(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [finite(value) for value in x]
    if hasattr(x, "tolist"):
        return finite(x.tolist())
    return None if isinstance(x, float) and not math.isfinite(x) else x


def wrapped(text: str, width: int | None, hang: int = 0) -> list[str]:
    """The lines of one paragraph of at most ``width`` cells; a word that is longer stays whole."""
    return [" " * (hang if k else 0) + text[a:b] for k, (a, b) in enumerate(_broken(text, width, hang))]


def _broken(text: str, width: int | None, hang: int) -> list[tuple[int, int]]:
    """Where the lines of a paragraph begin and end."""
    from rich.cells import cell_len

    if width is None or cell_len(text) <= width:
        return [(0, len(text))]
    lines: list[tuple[int, int]] = []
    begin = end = 0  # of the line so far
    k = len(text) - len(text.lstrip())
    while k < len(text):
        stop = text.find(" ", k)
        stop = len(text) if stop < 0 else stop
        room = width - (hang if lines else 0)
        if end > begin and cell_len(text[begin:stop]) > room:
            lines.append((begin, end))
            begin = k
        end = stop
        k = stop + 1
        while k < len(text) and text[k] == " ":
            k += 1
    return [*lines, (begin, end)]


def _styled(parts: list[tuple[str, dict[str, Any]]], first: int, last: int) -> str:
    """Characters first … last of the joined parts, each with its style."""
    found, start = [], 0
    for text, style in parts:
        piece = text[max(0, first - start) : max(0, last - start)]
        found.append(click.style(piece, **style) if style and piece else piece)
        start += len(text)
    return "".join(found)

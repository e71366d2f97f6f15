"""TOML text as a document, with the cures of what is nearly TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from dynamis.errors import printable
from dynamis.model.diagnostics import format_error

MAX_BYTES = 16 * 2**20
_BARE_POINT = re.compile(r"(?<![\w.])([-+]?)(\d*)\.(\d*)([eE][-+]?\d+)?(?![\w.])")  # a number that begins or ends with a point


def parsed(data: bytes, file: str) -> tuple[dict[str, Any], str]:
    """(the document, its text) of the bytes of a file."""
    if len(data) > MAX_BYTES:
        raise format_error(
            file, None, f"the file has more than {MAX_BYTES} bytes", f"at most {MAX_BYTES}", "give a robot's file"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise format_error(file, None, f"not UTF-8 at byte {error.start}", "UTF-8", "save the file as UTF-8") from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"at line (\d+), column (\d+)", str(error))
        number = int(line[1]) if line else None
        cure = _cure(text.splitlines()[number - 1], int(line[2])) if line and number else "correct the syntax there"
        raise format_error(file, number, f"not TOML: {printable(str(error), 400)}", "TOML", cure) from None
    if not document:
        raise format_error(file, None, "the file is empty", "a robot", "write a robot into it, or give another file")
    return document, text


def _cure(line: str, column: int) -> str:
    """How to correct the line in which a parser failed at a column."""
    for found in _BARE_POINT.finditer(line):
        sign, whole, part, power = (x or "" for x in found.groups())
        if found.start() < column <= found.end() and (whole or part) and not (whole and part):
            return f"write {sign}{whole or 0}.{part or 0}{power} instead of {found[0]}"
    return "correct the syntax there"

"""Line numbers of the entries of a TOML file."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_ENTRY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_WORD = re.compile(r"""\"([^"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)""")


def entry_lines(text: str) -> dict[str, int]:
    """{entry, as "table.key": its line}; tables are entries too.

    >>> entry_lines('duration = 2\\n[vary]\\n"q0.joint_1" = { uniform = [0, 1] }')
    {'duration': 1, 'vary': 2, 'vary.q0.joint_1': 3}
    """
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[1])
            found.setdefault(table, number)
        elif entry := _ENTRY.match(line):
            found.setdefault(f"{table}.{_plain(entry[1])}" if table else _plain(entry[1]), number)
    return found


def _plain(key: str) -> str:
    """A dotted key without quotes."""
    return ".".join("".join(words) for words in _WORD.findall(key))


def line_of(lines: dict[str, int], entry: str) -> int | None:
    """The line of an entry, or of the nearest table around it."""
    while entry:
        if entry in lines:
            return lines[entry]
        entry = entry.rpartition(".")[0]
    return None

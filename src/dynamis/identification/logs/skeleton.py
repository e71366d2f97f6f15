"""Template of a mapping for the columns of a file, as TOML text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dynamis.robot import Robot

SHOWN = 40  # columns listed
WIDTH = 79  # columns of a terminal: longer lines would be broken, and a broken comment is no TOML


def skeleton(columns: Sequence[str], robot: Robot) -> str:
    """Return a mapping with every section, to be completed and saved as a .toml file; its lines fit a terminal."""
    blank, place = (_array("columns", ["…"] * count) for count in (robot.n, robot.nq))
    lines = [
        *_listed(columns),
        "# rate = 1000            # Hz, instead of [time] if there is no time column",
        "[time]",
        'column = "…"',
        'unit = "s"               # s, ms, us, ns',
        "[position]",
        *place,
        'unit = "rad"             # rad, deg, rev, m, mm',
        'side = "joint"           # or "motor"',
        "[torque]",
        *blank,
        'unit = "N·m"',
        "# [velocity], [acceleration], [current]: likewise, if measured",
        "[joints]",
        *_array("order", robot.coordinate_names),
    ]
    return "\n".join(lines) + "\n"


def _listed(columns: Sequence[str]) -> list[str]:
    """Comment lines with the columns of the file."""
    more = [f"and {len(columns) - SHOWN} more"] if len(columns) > SHOWN else []
    return _filled("# columns of the file: ", "#   ", [*(_quoted(name) for name in columns[:SHOWN]), *more])


def _array(key: str, names: Sequence[str]) -> list[str]:
    """A TOML array, on several lines where one is too long."""
    quoted = [_quoted(name) for name in names]
    line = f"{key} = [{', '.join(quoted)}]"
    return [line] if len(line) <= WIDTH else [f"{key} = [", *_filled("    ", "    ", quoted), "]"]


def _filled(first: str, further: str, words: Sequence[str]) -> list[str]:
    """Words separated by commas, on lines of at most ``WIDTH`` characters where the words permit."""
    lines = [first]
    for k, word in enumerate(words):
        piece = word + (", " if k < len(words) - 1 else "")
        if len(lines[-1]) + len(piece.rstrip()) > WIDTH and lines[-1] not in (first, further):
            lines.append(further)
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)

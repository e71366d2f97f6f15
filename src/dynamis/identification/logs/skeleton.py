"""Template of a mapping for the columns of a file, as TOML text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dynamis.robot import Robot

SHOWN = 40  # columns listed


def skeleton(columns: Sequence[str], robot: Robot) -> str:
    """Return a mapping with every section, to be completed and saved as a .toml file."""

    def quoted(names: Sequence[str]) -> str:
        return "[" + ", ".join(json.dumps(name, ensure_ascii=False) for name in names) + "]"

    listed = quoted(columns[:SHOWN]) + (f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else "")
    blank = "[" + ", ".join(['"…"'] * robot.n) + "]"
    place = blank if robot.nq == robot.n else "[" + ", ".join(['"…"'] * robot.nq) + "]"
    lines = [
        f"# columns of the file: {listed}",
        "# rate = 1000            # Hz, instead of [time] if there is no time column",
        "[time]",
        'column = "…"',
        'unit = "s"               # s, ms, us, ns',
        "[position]",
        f"columns = {place}",
        'unit = "rad"             # rad, deg, rev, m, mm',
        'side = "joint"           # or "motor"',
        "[torque]",
        f"columns = {blank}",
        'unit = "N·m"',
        "# [velocity], [acceleration], [current]: likewise, if measured",
        "[joints]",
        f"order = {quoted(robot.coordinate_names)}",
    ]
    return "\n".join(lines) + "\n"

"""Template of a mapping for a log whose columns were not all recognised."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dynamis.identification.logs.column_names import by_unit, of_motor
from dynamis.identification.logs.units import SI, SLIDING, bare, barest, is_percent
from dynamis.robot import Robot

SHOWN = 40  # columns listed
WIDTH = 79  # columns of a terminal: longer lines would be broken, and a broken comment is no TOML
PER_AMPERE = "the torque per current of each drive, in N m/A"
PER_CENT = "1/100 of the rated torque of each drive, in N m, for values in per cent"
EXAMPLES = {"position": "rad, deg, rev, m, mm", "torque": "", "current": "A, mA"}


def template(
    columns: Sequence[str], robot: Robot, found: Mapping[str, Sequence[str | None]], time: tuple[str, str] | None
) -> str:
    """Return the text of `Mapping.skeleton`."""
    rated = [name for name in columns if is_percent(name)]  # of rated torques, which are the gains
    percent = len(rated) == robot.n and not any(found.get("torque") or ())
    found = {**found, "current": rated} if percent else found
    clocks = [(name, unit) for name in columns for _, unit in [bare(name, "time")] if unit]
    column, unit = time or (clocks[0] if len(clocks) == 1 else ("…", "s"))
    motors = not any(found.get("torque") or ()) and (any(found.get("current") or ()) or by_unit("current", columns, robot.n))
    as_currents = percent or (motors and not by_unit("torque", columns, robot.n))
    effort, other = ("current", "torque") if as_currents else ("torque", "current")
    gains = ["…"] * robot.n
    motor = {signal: _of_motors(signal, columns, found, robot) for signal in ("position", effort)}
    geared = motor["position"] or (effort == "torque" and motor["torque"])  # currents are those of motors in any case
    lines = [
        *_listed(columns),
        _commented("# rate = …", "Hz, instead of [time] if there is no time column"),
        "[time]",
        f"column = {_quoted(column)}",
        _commented(f"unit = {_quoted(unit)}", "s, ms, us, ns"),
        *_section("position", columns, found, robot, robot.nq, motor=motor["position"]),
        _side(motor=motor["position"]),
        *_section(effort, columns, found, robot, robot.n, motor=geared),
        *([_side(motor=True)] if geared else []),
        *([f"# gains: {PER_CENT if percent else PER_AMPERE}", *_array("gains", gains)] if effort == "current" else []),
        f"# [velocity], [acceleration], [{other}], [temperature]: likewise, if measured",
        "[joints]",
        *_array("order", robot.coordinate_names),
        *(_transmission(robot) if geared else []),
    ]
    return "\n".join(lines) + "\n"


def _section(
    signal: str, columns: Sequence[str], found: Mapping[str, Sequence[str | None]], robot: Robot, count: int, *, motor: bool
) -> list[str]:
    """The lines of a signal: its columns as far as names or units tell, and the unit in the names, else that of the joints."""
    known = list(found.get(signal) or ()) or by_unit(signal, columns, count)
    units = {barest(name, signal)[1] for name in known if name} or {bare(name, signal)[1] for name in columns} - {""}
    units = {unit or SI[signal] for unit in units} or {SI[signal]}
    lines = [f"[{signal}]", *_array("columns", [name or "…" for name in known or [None] * count])]
    if signal in SLIDING and count == robot.n and not (motor or all(c.revolute for c in robot.model.coordinates)):
        own = [barest(name, signal)[1] if name else "" for name in known or [None] * count]
        default = [SI[signal] if c.revolute else SLIDING[signal] for c in robot.model.coordinates]
        return [*lines, *_array("units", [unit or usual for unit, usual in zip(own, default, strict=True)])]
    if len(units) > 1:
        return [*lines, "# unit: those in the names of the columns, else SI"]
    return [*lines, _commented(f"unit = {_quoted(units.pop())}", EXAMPLES[signal])]


def _of_motors(signal: str, columns: Sequence[str], found: Mapping[str, Sequence[str | None]], robot: Robot) -> bool:
    """Return whether the columns of a signal are named as those of motors."""
    return any(
        name and of_motor(name, *robot.coordinate_names) for name in found.get(signal) or by_unit(signal, columns, robot.n)
    )


def _side(*, motor: bool) -> str:
    return _commented('side = "motor"', 'or "joint"') if motor else _commented('side = "joint"', 'or "motor"')


def _transmission(robot: Robot) -> list[str]:
    """The lines of the transmission, with the ratios of the robot's gears if it has any."""
    drives = {joint.name: joint.drive for joint in robot.description.joints}
    ratios = [drives[c.joint].gear_ratio if c.joint in drives else 1.0 for c in robot.model.coordinates]
    known = all(isinstance(x, int | float) for x in ratios) and any(x != 1.0 for x in ratios)
    lines = _array("ratios", ratios if known else ["…"] * robot.n)
    per = "turn of its joint" if all(c.revolute for c in robot.model.coordinates) else "turn (rad per m) of its joint"
    return ["[transmission]", f"# ratios: turns of each motor per {per}, negative if opposite", *lines]


def _commented(line: str, comment: str) -> str:
    return f"{line:25}# {comment}" if comment else line


def _listed(columns: Sequence[str]) -> list[str]:
    """Comment lines with the columns of the file."""
    more = [f"and {len(columns) - SHOWN} more"] if len(columns) > SHOWN else []
    return _filled("# columns of the file: ", "#   ", [*(_quoted(name) for name in columns[:SHOWN]), *more])


def _array(key: str, names: Sequence[str | float]) -> list[str]:
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


def _quoted(name: str | float) -> str:
    return json.dumps(name, ensure_ascii=False)

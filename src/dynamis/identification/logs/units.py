"""Units of the signals of logs, and units in the names of columns, such as "q1 [deg]" or "q1_deg"."""

from __future__ import annotations

import math
import re

from dynamis.errors import InputError, printable, unknown_name

TURN = 2.0 * math.pi
TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2}
DEGREES = dict.fromkeys(("deg", "°", "degree", "degrees", "Grad"), math.pi / 180.0)
ANGLES = {"rad": 1.0, "radians": 1.0, "mrad": 1e-3, **DEGREES, "mdeg": math.pi / 180e3, "rev": TURN}
POSITIONS = ANGLES | LENGTHS
VELOCITIES = {f"{unit}/s": x for unit, x in POSITIONS.items()} | {"rpm": TURN / 60.0}
ACCELERATIONS = {f"{unit}/s^2": x for unit, x in POSITIONS.items()} | {f"{unit}/s²": x for unit, x in POSITIONS.items()}
NEWTON_METRES = dict.fromkeys(("N·m", "Nm", "N*m", "N.m", "N m", "N-m"), 1.0)
NEWTON_MILLIMETRES = dict.fromkeys(("N·mm", "Nmm", "N*mm", "N.mm", "N mm", "N-mm"), 1e-3)
TORQUES = (
    NEWTON_METRES
    | NEWTON_MILLIMETRES
    | {"mN·m": 1e-3, "mNm": 1e-3, "mN m": 1e-3, "kN·m": 1e3, "kNm": 1e3, "kN m": 1e3, "N": 1.0, "kN": 1e3}
)
PERCENT = ("%", "percent", "pct")
OF_RATED = "give them as currents, [current] in a mapping, with gains of 1/100 of the rated torques"
CURRENTS = {"A": 1.0, "mA": 1e-3}
UNITS = {
    "time": TIMES,
    "position": POSITIONS,
    "velocity": VELOCITIES,
    "acceleration": ACCELERATIONS,
    "torque": TORQUES,
    "current": CURRENTS,
    "temperature": dict.fromkeys(("°C", "C", "degC", "celsius", "K", "kelvin"), 1.0),
}
ABOVE = {"K": -273.15, "kelvin": -273.15}  # what is added to values in these units after their factor
SI = {"time": "s", "position": "rad", "velocity": "rad/s", "acceleration": "rad/s^2", "torque": "N m", "current": "A",
      "temperature": "°C"}  # fmt: skip
SLIDING = {"position": "m", "torque": "N"}  # of prismatic joints
KUKA = re.compile(r"axis_act_meas[._]?a?\d+", re.IGNORECASE)  # system variables in degrees
UNIT = re.compile(r"^(?P<name>.*?)\s*[\[(](?P<unit>[^\[\]()]+)[\])]$")
TURNS, WAYS = {"mdeg": "mdeg", "deg": "deg", "degrees": "deg", "rad": "rad", "mrad": "mrad"}, {"mm": "mm"}
# in lower case, but _N and _kN; not "_m", which often means "measured" or "motor", and is the default of sliding joints
SUFFIXES = {
    "time": {unit: unit for unit in ("s", "ms", "us", "ns")},
    "position": TURNS | WAYS,
    "velocity": {f"{x}{end}": f"{unit}/s" for x, unit in (TURNS | WAYS).items() for end in ("_s", "s", "_per_s")}
    | {"rpm": "rpm"},
    "acceleration": {f"{x}{end}": f"{unit}/s^2" for x, unit in (TURNS | WAYS).items() for end in ("_s2", "s2", "_per_s2")},
    "torque": {"nm": "N m", "nmm": "N mm", "mnm": "mN m", "knm": "kN m", "N": "N", "kN": "kN"},
    "current": {"a": "A", "ma": "mA"},
    "temperature": {"c": "°C", "degc": "°C", "celsius": "°C", "k": "K"},
}


def factor(signal: str, unit: str) -> float:
    """Return the SI value of a unit.

    >>> round(factor("position", "deg"), 6)
    0.017453
    """
    known = UNITS[signal]
    if signal == "torque" and unit in PERCENT:
        raise InputError(f"torques in {printable(unit)} of a rated torque are no torques: {OF_RATED}")
    if unit not in known:
        why = str(unknown_name(f"unit of {signal}", unit, known))
        raise InputError(f"{why}; supported are {', '.join(map(printable, known))}")
    return known[unit]


def bare(column: str, signal: str) -> tuple[str, str]:
    """Return a column name without its unit in brackets, and the unit, as in "q1 [deg]"; "" without a unit. Some system
    variables have a unit without it.

    >>> bare("q1 [deg]", "position"), bare("q[0]", "position"), bare("AXIS_ACT_MEAS_A1", "position")
    (('q1', 'deg'), ('q[0]', ''), ('AXIS_ACT_MEAS_A1', 'deg'))
    """
    match = UNIT.match(column)
    if match and match["unit"] in UNITS[signal]:
        return match["name"], match["unit"]
    return column, "deg" if signal == "position" and KUKA.fullmatch(column.rsplit("/", maxsplit=1)[-1]) else ""


def barest(column: str, signal: str) -> tuple[str, str]:
    """Return the same, where the unit may also be the end of the name after an underscore.

    >>> barest("q1_deg", "position"), barest("dq1_rad_s", "velocity"), barest("q1", "position"), barest("tau3_N", "torque")
    (('q1', 'deg'), ('dq1', 'rad/s'), ('q1', ''), ('tau3', 'N'))
    """
    name, unit = bare(column, signal)
    for end, meant in {} if unit else SUFFIXES[signal].items():
        if (name.lower() if end.islower() else name).endswith(f"_{end}"):  # tau_n may be a nominal one
            return name[: -len(end) - 1], meant
    return name, unit


def is_percent(column: str) -> bool:
    """Return whether a column is named as in per cent, such as "torque_1 [%]"."""
    match = UNIT.match(column)
    return match is not None and match["unit"].strip() in PERCENT


def contradiction(signal: str, unit: str, column: str) -> str:
    """Return the unit in the name of a column if it has another meaning than the given one, else "".

    >>> contradiction("time", "s", "Zeit [ms]"), contradiction("position", "deg", "q1 [°]")
    ('ms', '')
    """
    if signal == "torque" and is_percent(column):
        return "%"
    own = "" if KUKA.fullmatch(column) else barest(column, signal)[1]
    alike = not own or (factor(signal, own), ABOVE.get(own)) == (factor(signal, unit), ABOVE.get(unit))
    return "" if alike else own

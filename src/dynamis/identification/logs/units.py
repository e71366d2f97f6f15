"""Units of logs and their SI factors."""

from __future__ import annotations

import math

from dynamis.errors import InputError, printable, unknown_name

TURN = 2.0 * math.pi
TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2}
DEGREES = dict.fromkeys(("deg", "°", "degree", "degrees"), math.pi / 180.0)
ANGLES = {"rad": 1.0, "radians": 1.0, "mrad": 1e-3, **DEGREES, "rev": TURN}
POSITIONS = ANGLES | LENGTHS
VELOCITIES = {f"{unit}/s": x for unit, x in POSITIONS.items()} | {"rpm": TURN / 60.0}
ACCELERATIONS = {f"{unit}/s^2": x for unit, x in POSITIONS.items()} | {f"{unit}/s²": x for unit, x in POSITIONS.items()}
NEWTON_METRES = dict.fromkeys(("N·m", "Nm", "N*m", "N.m", "N m", "N-m"), 1.0)
NEWTON_MILLIMETRES = dict.fromkeys(("N·mm", "Nmm", "N*mm", "N.mm", "N mm", "N-mm"), 1e-3)
TORQUES = NEWTON_METRES | NEWTON_MILLIMETRES | {"mN·m": 1e-3, "mNm": 1e-3, "kN·m": 1e3, "kNm": 1e3, "N": 1.0, "kN": 1e3}
CURRENTS = {"A": 1.0, "mA": 1e-3}

UNITS = {
    "time": TIMES,
    "position": POSITIONS,
    "velocity": VELOCITIES,
    "acceleration": ACCELERATIONS,
    "torque": TORQUES,
    "current": CURRENTS,
}
SI = {"time": "s", "position": "rad", "velocity": "rad/s", "acceleration": "rad/s^2", "torque": "N·m", "current": "A"}


def factor(signal: str, unit: str) -> float:
    """Return the SI value of a unit.

    >>> round(factor("position", "deg"), 6)
    0.017453
    """
    known = UNITS[signal]
    if unit not in known:
        why = str(unknown_name(f"unit of {signal}", unit, known))
        raise InputError(f"{why}; supported are {', '.join(map(printable, known))}")
    return known[unit]

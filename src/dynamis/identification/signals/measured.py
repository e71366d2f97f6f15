"""Arrays of a log for a robot: validated sizes, torques, and joint side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.transmission import Transmission
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Measured:
    """Logged arrays, and the transmission and gains between them and the joints."""

    t: Array
    q: Array
    tau: Array
    v: Array | None
    a: Array | None
    transmission: Transmission | None
    source: str
    motor: frozenset[str] = frozenset(("q", "v", "a", "tau"))  # signals of the motors, if there is a transmission

    @classmethod
    def of(cls, log: Any, robot: Robot, transmission: Any, drive_gains: Any) -> Measured:
        source = str(getattr(log, "source", "") or "")
        whose = f" of {printable(source)}" if source else ""
        t = np.asarray(log.t, dtype=float)
        if t.ndim != 1:
            raise InputError(f"t{whose} has shape {t.shape}; expected one time per sample")
        arrays: dict[str, Any] = {name: getattr(log, name, None) for name in ("q", "tau", "v", "a", "current")}
        if drive_gains is not None:
            arrays["tau"] = _torques(arrays.pop("current"), drive_gains, robot, whose)
        for name, size in (("q", robot.nq), ("tau", robot.n), ("v", robot.n), ("a", robot.n)):
            if arrays[name] is None:
                if name in ("q", "tau"):
                    raise InputError(f"the log{whose} has no {name}")
                continue
            arrays[name] = np.asarray(arrays[name], dtype=float)
            if arrays[name].shape != (len(t), size):
                raise InputError(
                    f"{name}{whose} has shape {arrays[name].shape}; robot {printable(robot.name)} needs {size} columns, and "
                    f"there are {len(t)} times"
                )
        between = _transmission(log, robot, transmission, whose)
        sides = {name: _side_of(log, name) for name in ("q", "v", "a", "tau")}
        motor = frozenset(name for name, side in sides.items() if side != "joint")
        return cls(t, arrays["q"], arrays["tau"], arrays["v"], arrays["a"], between, source, motor)

    @property
    def repeats(self) -> Array:
        """Return a mask of the rows with the same values as the previous row."""
        both = np.column_stack([self.q, self.tau])
        return np.concatenate([[False], (both[1:] == both[:-1]).all(axis=1)])

    def at_joints(self, name: str, x: Array) -> Array:
        """Return one of the signals at the joints."""
        if self.transmission is None or name not in self.motor:
            return x
        turn = {"q": self.transmission.position, "tau": self.transmission.torque}.get(name, self.transmission.velocity)
        return turn(x)

    def spoilt(self, bad: Array) -> Array:
        """Return the mask (N, n) of joint torques affected by a mask (N, n) of bad motor torques."""
        if "tau" not in self.motor or self.transmission is None:
            return bad
        return (bad.astype(float) @ (self.transmission.R != 0.0)) > 0.0


def _torques(current: Any, drive_gains: Any, robot: Robot, whose: str) -> Array:
    gains = np.asarray(getattr(drive_gains, "gains", drive_gains), dtype=float)
    if current is None:
        raise InputError(f"drive_gains= convert currents to torques, but the log{whose} has no currents")
    if gains.shape not in ((), (robot.n,)) or not np.isfinite(gains).all():
        raise InputError(f"drive_gains= takes one number for each of the {robot.n} joints, got shape {gains.shape}")
    return np.asarray(current, dtype=float) * gains


def _side_of(log: Any, signal: str) -> str | None:
    return (getattr(log, "sides", None) or {}).get(signal, getattr(log, "side", None))


def _transmission(log: Any, robot: Robot, given: Any, whose: str) -> Transmission | None:
    used = {_side_of(log, name) for name in ("q", "v", "a", "tau") if getattr(log, name, None) is not None}
    side = "motor" if "motor" in used else "joint" if used == {"joint"} else None
    own = getattr(log, "transmission", None)
    if given is None and own is not None:
        given = Transmission(own["R"], own.get("zero"))
    if given is None:
        if side == "motor":
            raise InputError(
                f"the log{whose} has motor-side signals, but there is no transmission to the joints: pass "
                "transmission=Transmission.of(ratios)"
            )
        return None
    if side == "joint":
        if own is not None:
            return None
        raise InputError(
            f"the log{whose} has joint-side signals (side='joint') and takes no transmission; should it be side='motor'?"
        )
    between = given if isinstance(given, Transmission) else Transmission(given)
    if between.n != robot.n:
        raise InputError(f"the transmission has {between.n} joints, but robot {printable(robot.name)} has {robot.n}")
    if robot.nq != robot.n:
        raise InputError(f"robot {printable(robot.name)} has quaternions; a transmission needs joints with one variable")
    return between

"""What stands between a command and a joint's torque: motors, limits, dead zones, elastic transmissions.

An actuator may have states of its own, whose rates are integrated with the robot's. Rotor inertias behind gears and viscous
friction are the robot's (`Drive`); an elastic transmission takes the rotor away from the link and puts it behind the spring.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.robot import Robot

Array = npt.NDArray[Any]


class Actuator(ABC):
    """One joint's drive: the torque that reaches the joint, and the rates of its own states, for a command u."""

    size: int = 0

    def start(self, q: float, v: float) -> Array:  # noqa: ARG002 - elastic ones start at rest against the joint
        """Its states at the beginning."""
        return np.zeros(self.size)

    @abstractmethod
    def torque(self, x: Array, u: float, q: float, v: float) -> float:
        """What reaches the joint."""

    def rates(self, x: Array, u: float, q: float, v: float) -> Array:  # noqa: ARG002
        """ẋ."""
        return np.zeros(self.size)

    def energy(self, x: Array, q: float) -> float:  # noqa: ARG002
        """What is stored in it."""
        return 0.0


@dataclass(frozen=True)
class Saturated(Actuator):
    """A torque source with limits: ``effort``, and a speed above which it gives nothing more in that direction.

    Commands within ``dead_zone`` do nothing. From ``knee`` (a part of ``speed``) on, the torque falls to zero at ``speed``.
    """

    effort: float = np.inf
    speed: float = np.inf
    dead_zone: float = 0.0
    knee: float = 0.8

    def torque(self, x: Array, u: float, q: float, v: float) -> float:  # noqa: ARG002
        u = float(np.sign(u) * max(abs(u) - self.dead_zone, 0.0))
        limit = self.effort
        if np.isfinite(self.speed) and u * v > 0:
            limit *= float(np.clip((self.speed - abs(v)) / (self.speed * (1.0 - self.knee)), 0.0, 1.0))
            if not np.isfinite(limit):
                limit = np.inf if abs(v) < self.speed else 0.0
        return float(np.clip(u, -limit, limit))


@dataclass(frozen=True)
class DCMotor(Actuator):
    """A motor behind a gear, commanded by a voltage: L i̇ = u − R i − k r v, torque η r k i.

    ``resistance`` R [Ω], ``inductance`` L [H] (0: the current follows at once), ``constant`` k [N m/A = V s/rad], gear
    ``ratio`` r, ``efficiency`` η of the gear while it drives (1/η while it is driven), ``supply`` [V].
    """

    resistance: float
    constant: float
    ratio: float = 1.0
    inductance: float = 0.0
    efficiency: float = 1.0
    supply: float = np.inf

    @property
    def size(self) -> int:  # type: ignore[override]
        return 1 if self.inductance > 0 else 0

    def _voltage(self, u: float) -> float:
        return float(np.clip(u, -self.supply, self.supply))

    def current(self, x: Array, u: float, v: float) -> float:
        if self.size:
            return float(x[0])
        return (self._voltage(u) - self.constant * self.ratio * v) / self.resistance

    def torque(self, x: Array, u: float, q: float, v: float) -> float:  # noqa: ARG002
        shaft = self.constant * self.ratio * self.current(x, u, v)
        return shaft * self.efficiency if shaft * v >= 0 else shaft / self.efficiency

    def rates(self, x: Array, u: float, q: float, v: float) -> Array:  # noqa: ARG002
        if not self.size:
            return np.zeros(0)
        voltage = self._voltage(u) - self.resistance * x[0] - self.constant * self.ratio * v
        return np.array([voltage / self.inductance])


@dataclass(frozen=True)
class Elastic(Actuator):
    """A rotor that drives the joint through a spring, with play if ``backlash`` > 0: 2n equations in all.

    States are the rotor's angle θ and velocity, on the joint's side of the gear. ``stiffness`` [N m/rad], ``damping`` and
    ``viscous`` [N m s/rad], ``inertia`` [kg m²] (the reflected rotor inertia of the robot unless given).
    """

    stiffness: float
    inertia: float | None = None
    damping: float = 0.0
    viscous: float = 0.0
    backlash: float = 0.0
    size: int = 2

    def start(self, q: float, v: float) -> Array:
        return np.array([q, v])

    def _stretch(self, x: Array, q: float) -> float:
        free = x[0] - q
        return float(np.sign(free) * max(abs(free) - 0.5 * self.backlash, 0.0))

    def torque(self, x: Array, u: float, q: float, v: float) -> float:  # noqa: ARG002
        stretch = self._stretch(x, q)
        touching = stretch != 0.0 or self.backlash == 0.0
        return self.stiffness * stretch + (self.damping * (x[1] - v) if touching else 0.0)

    def rates(self, x: Array, u: float, q: float, v: float) -> Array:
        assert self.inertia is not None
        return np.array([x[1], (u - self.viscous * x[1] - self.torque(x, u, q, v)) / self.inertia])

    def energy(self, x: Array, q: float) -> float:
        assert self.inertia is not None
        return 0.5 * self.stiffness * self._stretch(x, q) ** 2 + 0.5 * self.inertia * float(x[1]) ** 2


def actuators_of(robot: Robot, given: Mapping[str, Actuator] | None) -> tuple[Robot, dict[int, Actuator]]:
    """The robot whose rotors behind springs are no longer on its links, and the actuator of each degree of freedom."""
    if not given:
        return robot, {}
    names = list(robot.coordinate_names)
    found: dict[int, Actuator] = {}
    moved: dict[str, dict[str, float]] = {}
    for name, actuator in given.items():
        if name not in names:
            raise unknown_name("coordinate", name, names)
        if not isinstance(actuator, Actuator):
            raise InputError(f"the actuator of {name!r} must be a Saturated, DCMotor or Elastic, got {type(actuator).__name__}")
        k = names.index(name)
        if isinstance(actuator, Elastic):
            if robot.model.coordinates[k].q_index is None:
                raise InputError(f"{name!r} has no angle of its own: an elastic transmission needs a joint with one variable")
            inertia = float(robot.model.rotor[k]) if actuator.inertia is None else actuator.inertia
            if not inertia > 0:
                raise InputError(
                    f"the rotor of {name!r} needs an inertia: Elastic(…, inertia=…), or rotor_inertia in the robot"
                )
            actuator = Elastic(actuator.stiffness, inertia, actuator.damping, actuator.viscous, actuator.backlash)  # noqa: PLW2901
            moved[robot.model.coordinates[k].joint] = {"rotor_inertia": 0.0}
        found[k] = actuator
    return (robot.replace(friction=moved) if moved else robot), found

"""What stands between a command and a joint's torque: motors, limits, dead zones, elastic transmissions.

An actuator may have states of its own, whose rates are integrated with the robot's. Rotor inertias behind gears and viscous
friction are the joint's (`Drive`); an elastic transmission takes the rotor away from the link and puts it behind the spring.

Every method takes numbers or symbols alike and never branches on them, so that the same lines run in a simulation, in a
compiled kernel and in a closed form. Parameters may be symbols too; what is not there (a limit that is infinite, a dead zone of
zero) leaves no trace.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError
from dynamis.scalar import Node, maximum, minimum, sign, where

Array = npt.NDArray[Any]
LARGE = 1e250  # N m: a command beyond every limit


class Actuator(ABC):
    """One joint's drive: the torque that reaches the joint, and the rates of its own states, for a command u."""

    kind: ClassVar[str]
    size: int = 0

    def start(self, q: Any, v: Any) -> Array:  # noqa: ARG002 - elastic ones start at rest against the joint
        """Its states at the beginning."""
        return np.zeros(self.size)

    @abstractmethod
    def torque(self, x: Array, u: Any, q: Any, v: Any) -> Any:
        """What reaches the joint."""

    def rates(self, x: Array, u: Any, q: Any, v: Any) -> Array:  # noqa: ARG002
        """ẋ."""
        return np.zeros(self.size)

    def energy(self, x: Array, q: Any) -> Any:  # noqa: ARG002
        """What is stored in it."""
        return 0.0

    def largest(self, v: Any, direction: Any) -> Any:  # noqa: ARG002
        """The largest steady torque at the joint in a direction (±1) at velocity v; infinite where nothing limits it."""
        return np.full(np.shape(v), np.inf)[()]

    @property
    def numbers(self) -> dict[str, Any]:
        """Its parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type] # each kind is a dataclass

    @property
    def stated(self) -> dict[str, Any]:
        """Its parameters by name, without those that are what they would be anyway."""
        usual = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        return {name: x for name, x in self.numbers.items() if isinstance(x, Node) or x != usual[name]}


@dataclass(frozen=True)
class Saturated(Actuator):
    """A torque source with limits: ``effort``, and a speed above which it gives nothing more in that direction.

    Commands within ``dead_zone`` do nothing. From ``knee`` (a part of ``speed``) on, the torque falls to zero at ``speed``.
    Behind the limits stands a gear of this ``efficiency`` η: η of the torque arrives while it drives, 1/η while it is driven.
    """

    kind = "saturated"

    effort: Any = np.inf
    speed: Any = np.inf
    dead_zone: Any = 0.0
    knee: Any = 0.8
    efficiency: Any = 1.0

    def __post_init__(self) -> None:
        _check(self, "effort", "0 or more", lambda x: x >= 0.0, infinite=True)
        _check(self, "speed", "positive", lambda x: x > 0.0, infinite=True)
        _check(self, "dead_zone", "0 or more", lambda x: x >= 0.0)
        _check(self, "knee", "from 0 to less than 1", lambda x: 0.0 <= x < 1.0)
        _check(self, "efficiency", "more than 0 and at most 1", lambda x: 0.0 < x <= 1.0)

    def torque(self, x: Array, u: Any, q: Any, v: Any) -> Any:  # noqa: ARG002
        u = _dead_zone(u, self.dead_zone)
        limit, limited = self.effort, is_there(self.effort, np.inf)
        if is_there(self.speed, np.inf):
            driving = u * v > 0.0
            if limited:
                share = (self.speed - abs(v)) / (self.speed * (1.0 - self.knee))
                limit = limit * _choose(driving, _clamped(share, 0.0, 1.0), 1.0)
            else:
                u = _choose(driving, _choose(abs(v) < self.speed, u, 0.0), u)
        if limited:
            u = _clamped(u, -limit, limit)
        return _through_gear(u, v, self.efficiency)

    def largest(self, v: Any, direction: Any) -> Any:
        found = abs(self.torque(np.zeros(0), LARGE * direction, 0.0, v))
        return np.where(found < self.efficiency * LARGE, found, np.inf)[()]

    _repr_html_ = as_table


@dataclass(frozen=True)
class DCMotor(Actuator):
    """A motor behind a gear, commanded by a voltage: L i̇ = u − R i − k r v, torque η r k i.

    ``resistance`` R [Ω], ``inductance`` L [H] (0: the current follows at once), ``constant`` k [N m/A = V s/rad], gear
    ``ratio`` r, ``efficiency`` η of the gear while it drives (1/η while it is driven), ``supply`` [V].
    """

    kind = "dc_motor"

    resistance: Any
    constant: Any
    ratio: Any = 1.0
    inductance: Any = 0.0
    efficiency: Any = 1.0
    supply: Any = np.inf

    def __post_init__(self) -> None:
        _check(self, "resistance", "positive", lambda x: x > 0.0)
        _check(self, "constant", "positive", lambda x: x > 0.0)
        _check(self, "ratio", "a number other than 0", lambda x: x != 0.0)
        _check(self, "inductance", "0 or more", lambda x: x >= 0.0)
        _check(self, "efficiency", "more than 0 and at most 1", lambda x: 0.0 < x <= 1.0)
        _check(self, "supply", "positive", lambda x: x > 0.0, infinite=True)

    @property
    def size(self) -> int:  # type: ignore[override]
        """One, the current, where there is an inductance."""
        return int(is_there(self.inductance, 0.0))

    @property
    def gain(self) -> Any:
        """η k r / R: the torque of a volt at rest, once the current has settled."""
        return self.efficiency * self.constant * self.ratio / self.resistance

    @property
    def back_emf_friction(self) -> Any:
        """η (k r)² / R: what the voltage of the turning motor takes away, as viscous friction would."""
        return self.gain * self.constant * self.ratio

    def voltage(self, torque: Any, v: Any) -> Any:
        """The voltage of a torque at the joint, once the current has settled: R i + k r v with i = τ / (η k r)."""
        kr = self.constant * self.ratio
        return self.resistance / kr * _through_gear(torque, v, 1.0 / self.efficiency) + kr * v

    def largest(self, v: Any, direction: Any) -> Any:
        kr = abs(self.constant * self.ratio)
        return _through_gear(
            maximum(kr * (self.supply - kr * v * direction) / self.resistance, 0.0), v * direction, self.efficiency
        )

    def _voltage(self, u: Any) -> Any:
        return _clamped(u, -self.supply, self.supply) if is_there(self.supply, np.inf) else u

    def current(self, x: Array, u: Any, v: Any) -> Any:
        """i."""
        if self.size:
            return x[0]
        return (self._voltage(u) - self.constant * self.ratio * v) / self.resistance

    def torque(self, x: Array, u: Any, q: Any, v: Any) -> Any:  # noqa: ARG002
        return _through_gear(self.constant * self.ratio * self.current(x, u, v), v, self.efficiency)

    def rates(self, x: Array, u: Any, q: Any, v: Any) -> Array:  # noqa: ARG002
        if not self.size:
            return np.zeros(0)
        voltage = self._voltage(u) - self.resistance * x[0] - self.constant * self.ratio * v
        return np.array([voltage / self.inductance])

    _repr_html_ = as_table


@dataclass(frozen=True)
class Elastic(Actuator):
    """A rotor that drives the joint through a spring, with play if ``backlash`` > 0: 2n equations in all.

    States are the rotor's angle θ and velocity, on the joint's side of the gear: I θ̈ + F θ̇ + τ = u with
    τ = K (θ − q) + D (θ̇ − q̇). ``stiffness`` K [N m/rad], ``damping`` D and ``viscous`` F [N m s/rad], ``inertia`` I [kg m²]
    (the reflected rotor inertia of the joint unless given). What a rotor on a moving link does to that link beyond its reaction
    torque is left out, as in Spong's model.
    """

    kind = "elastic"
    size = 2

    stiffness: Any
    inertia: Any = None
    damping: Any = 0.0
    viscous: Any = 0.0
    backlash: Any = 0.0

    def __post_init__(self) -> None:
        _check(self, "stiffness", "positive", lambda x: x > 0.0)
        if self.inertia is not None:
            _check(self, "inertia", "positive", lambda x: x > 0.0)
        for name in ("damping", "viscous", "backlash"):
            _check(self, name, "0 or more", lambda x: x >= 0.0)

    def start(self, q: Any, v: Any) -> Array:
        return np.array([q, v])

    def stretch(self, theta: Any, q: Any) -> Any:
        """θ − q, counted from the edge of the play."""
        return _dead_zone(theta - q, 0.5 * self.backlash)

    def slip(self, theta: Any, theta_dot: Any, q: Any, v: Any) -> Any:
        """θ̇ − q̇ while the flanks touch, nothing in the play."""
        if not is_there(self.backlash, 0.0):
            return theta_dot - v
        return _choose(abs(theta - q) > 0.5 * self.backlash, theta_dot - v, 0.0)

    def torque(self, x: Array, u: Any, q: Any, v: Any) -> Any:  # noqa: ARG002
        return self.stiffness * self.stretch(x[0], q) + self.damping * self.slip(x[0], x[1], q, v)

    def rates(self, x: Array, u: Any, q: Any, v: Any) -> Array:
        return np.array([x[1], (u - self.viscous * x[1] - self.torque(x, u, q, v)) / self._inertia])

    def energy(self, x: Array, q: Any) -> Any:
        stretch = self.stretch(x[0], q)
        return 0.5 * self.stiffness * stretch * stretch + 0.5 * self._inertia * x[1] * x[1]

    @property
    def _inertia(self) -> Any:
        if self.inertia is None:
            raise InputError("this Elastic has no inertia of its own; in robot.actuators it has that of the joint's rotor")
        return self.inertia

    _repr_html_ = as_table


ACTUATORS: dict[str, type[Actuator]] = {kind.kind: kind for kind in (Saturated, DCMotor, Elastic)}


def is_there(value: Any, absent: float) -> bool:
    """Whether a parameter says something: a symbol always does, a number unless it is the one that stands for nothing."""
    return isinstance(value, Node) or value != absent


def _check(actuator: Actuator, name: str, allowed: str, holds: Any, infinite: bool = False) -> None:
    """Put a parameter into its proper form, or say what is wrong with it; a symbol's value is not known."""
    value = getattr(actuator, name)
    if isinstance(value, Node):
        return
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    number = float(value) if real else math.nan
    if math.isnan(number) or (math.isinf(number) and not infinite) or not holds(number):
        raise InputError(f"the {name.replace('_', ' ')} of {type(actuator).__name__} must be {allowed}, got {value!r}")
    object.__setattr__(actuator, name, number)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    chosen = where(condition, a, b)
    return chosen[()] if isinstance(chosen, np.ndarray) and chosen.ndim == 0 else chosen


def _clamped(x: Any, low: Any, high: Any) -> Any:
    return minimum(maximum(x, low), high)


def _dead_zone(x: Any, width: Any) -> Any:
    """x less what lies within ± width."""
    return sign(x) * maximum(abs(x) - width, 0.0) if is_there(width, 0.0) else x


def _through_gear(torque: Any, v: Any, efficiency: Any) -> Any:
    """Less than the motor's torque while it drives the joint, more where the joint drives it."""
    if not is_there(efficiency, 1.0):
        return torque
    return _choose(torque * v >= 0.0, torque * efficiency, torque / efficiency)

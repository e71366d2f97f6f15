"""Laws of dry friction at a joint. Viscous friction is part of the robot model and always active.

A law is one of three kinds, on which all integrators rely: it sticks (`StickingLaw`), is a function of velocity, with which a
joint creeps instead (`SmoothLaw`), or has an internal state (`BristleLaw`). Their functions are also traced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, unknown_name
from dynamis.model.model import Model
from dynamis.scalar import Node, exp, is_number, log, tanh, where

Array = npt.NDArray[Any]
STATIC_BELOW_COULOMB = "static, the friction at rest, must not be below coulomb, that of sliding; exchange the two"


class StickingLaw(ABC):
    """Friction of a sliding joint, and a range of torques that hold the joint at rest."""

    @abstractmethod
    def sliding(self, direction: Any, v: Any) -> Any:
        """The friction torque at the velocity v; ``direction`` is its sign, or that of the motion about to begin."""

    @property
    @abstractmethod
    def holding(self) -> tuple[float, float]:
        """Least and largest friction torque at rest."""


class SmoothLaw(ABC):
    """Friction as a smooth function of velocity."""

    @abstractmethod
    def torque(self, v: Any) -> Any:
        """The friction torque at the velocity v."""


class BristleLaw(ABC):
    """Friction with an internal state z, the deflection of bristles, which is 0 in the beginning."""

    @abstractmethod
    def rate(self, z: Any, v: Any) -> Any:
        """The rate of z."""

    @abstractmethod
    def torque(self, z: Any, v: Any) -> Any:
        """The friction torque."""


Law = StickingLaw | SmoothLaw | BristleLaw


@dataclass(frozen=True, repr=False)
class Coulomb(StickingLaw):
    """Coulomb friction: ``forward`` for positive velocity, −``backward`` for negative velocity, static friction at rest.

    Both are magnitudes; ``offset`` is a constant torque beside them, as identified robots may have.
    """

    forward: float
    backward: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        rule = "forward and backward must not be negative (give the backward value without its sign)"
        _check(self, lambda: min(self.forward, self.backward) >= 0, rule)

    def sliding(self, direction: Any, v: Any) -> Any:  # noqa: ARG002 - the same at all velocities
        backward, forward = self.holding
        if isinstance(direction, Node):
            return where(direction > 0.0, forward, backward)
        return forward if direction > 0 else backward

    @property
    def holding(self) -> tuple[float, float]:
        return self.offset - self.backward, self.offset + self.forward

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Stribeck(StickingLaw):
    """Stribeck friction: ``static`` at rest, decreasing to ``coulomb`` with the characteristic velocity ``velocity``."""

    coulomb: float
    static: float
    velocity: float
    shape: float = 2.0

    def __post_init__(self) -> None:
        _check(self, lambda: self.coulomb >= 0 and self.static >= 0, "coulomb and static must not be negative")
        _check(self, lambda: self.velocity > 0 and self.shape > 0, "velocity and shape must be positive")
        _check(self, lambda: self.static >= self.coulomb, STATIC_BELOW_COULOMB)

    def sliding(self, direction: Any, v: Any) -> Any:
        x = abs(v) / self.velocity
        whole = self.shape == int(self.shape)
        power = exp(self.shape * log(x)) if isinstance(x, Node) and not whole else x**self.shape
        return direction * (self.coulomb + (self.static - self.coulomb) * exp(-power))

    @property
    def holding(self) -> tuple[float, float]:
        return -self.static, self.static

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Smooth(SmoothLaw):
    """Smoothed friction ``bias`` + F tanh(v / width), without sticking. Smaller widths are more accurate but stiffer.

    The default is meant for simulations; laws of `dynamis.control` (``slip``) and `Step` (``friction_velocity``) use 0.05 rad/s
    or m/s, with which torques change less abruptly and steps may be longer.
    """

    coulomb: float
    width: float = 1e-2
    bias: float = 0.0

    def __post_init__(self) -> None:
        _check(self, lambda: self.coulomb >= 0 and self.width > 0, "coulomb must not be negative, and width must be positive")

    def torque(self, v: Any) -> Any:
        return self.bias + self.coulomb * tanh(v / self.width)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class LuGre(BristleLaw):
    """LuGre friction with bristle deflection z: ż = v − σ0 |v| / g(v) z, torque σ0 z + σ1 ż [Canudas de Wit 1995].

    σ0 g is the steady-state friction, ``coulomb`` + (``static`` − ``coulomb``) exp(−(v / ``velocity``)²); viscous
    friction is that of the robot model.
    """

    coulomb: float
    static: float
    velocity: float
    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        positive = "all parameters must be positive, and damping must not be negative"
        _check(self, lambda: min(self.coulomb, self.static, self.velocity, self.stiffness) > 0 and self.damping >= 0, positive)
        _check(self, lambda: self.static >= self.coulomb, STATIC_BELOW_COULOMB)

    def steady(self, v: Any) -> Any:
        return self.coulomb + (self.static - self.coulomb) * exp(-(v / self.velocity) * (v / self.velocity))

    def rate(self, z: Any, v: Any) -> Any:
        return v - self.stiffness * abs(v) / self.steady(v) * z

    def torque(self, z: Any, v: Any) -> Any:
        return self.stiffness * z + self.damping * self.rate(z, v)

    __repr__ = as_call
    _repr_html_ = as_table


def _check(law: Any, holds: Callable[[], bool], rule: str) -> None:
    if not (all(is_number(x) and np.isfinite(x) for x in vars(law).values()) and holds()):
        raise InputError(f"{law} is invalid: {rule}, and all values must be finite numbers")


def laws_of(model: Model, choice: Any) -> dict[int, Law]:
    """The friction law of each degree of freedom with dry friction.

    ``choice`` is "model" (the robot's Coulomb friction, sticking), "smooth" (the same, smoothed), "none", or a mapping of
    coordinate names to laws that replace those of the model.
    """
    if isinstance(choice, str) and choice == "none":
        return {}
    own: dict[int, Law] = {}
    for k in range(model.n):
        coulomb, bias = float(model.coulomb[k]), float(model.coulomb_bias[k])
        if coulomb or bias:
            inside = abs(bias) <= coulomb
            own[k] = Coulomb(coulomb + bias, coulomb - bias) if inside else Coulomb(coulomb, coulomb, offset=bias)
    if isinstance(choice, Mapping):
        names = [c.name for c in model.coordinates]
        for name, law in choice.items():
            if name not in names:
                raise unknown_name("coordinate", name, names)
            if not isinstance(law, Law):
                raise InputError(f"friction of {name!r} must be a Coulomb, Stribeck, Smooth or LuGre law, got {law!r}")
            own[names.index(name)] = law
        return own
    match choice if isinstance(choice, str) else None:
        case "model":
            return own
        case "smooth":
            return {k: Smooth(float(model.coulomb[k]), bias=float(model.coulomb_bias[k])) for k in own}
    raise InputError(f"friction={choice!r} is unknown; choose 'model', 'smooth', 'none' or a mapping of joints to laws")


def in_words(laws: Mapping[int, Law], names: Sequence[str]) -> str:
    """Description of the dry friction of each joint."""
    kinds: dict[str, list[str]] = {}
    for k, law in sorted(laws.items()):
        held = "with sticking" if isinstance(law, StickingLaw) else "without sticking"
        kinds.setdefault(f"{type(law).__name__} friction {held}", []).append(names[k])
    return "; ".join(f"{kind}: {', '.join(joints)}" for kind, joints in kinds.items()) or "no dry friction"

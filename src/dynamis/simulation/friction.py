"""Laws of dry friction at a joint. Viscous friction is part of the robot model and always active.

A law with sticking has a torque while the joint slides, and a range of holding torques at rest. A smooth law is a function of
velocity, with which the joint creeps instead of sticking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.errors import InputError, unknown_name
from dynamis.model.model import Model
from dynamis.scalar import exp, tanh

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Coulomb:
    """Coulomb friction: ``forward`` for positive velocity, −``backward`` for negative velocity, static friction at rest."""

    forward: float
    backward: float

    def __post_init__(self) -> None:
        _check(self, self.forward + self.backward >= 0, "forward + backward must not be negative")

    def sliding(self, direction: float, _v: float) -> float:
        return self.forward if direction > 0 else -self.backward

    @property
    def holding(self) -> tuple[float, float]:
        return -self.backward, self.forward

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Stribeck:
    """Stribeck friction: ``static`` at rest, decreasing to ``coulomb`` with the characteristic velocity ``velocity``."""

    coulomb: float
    static: float
    velocity: float
    shape: float = 2.0

    def __post_init__(self) -> None:
        _check(self, self.coulomb >= 0 and self.static >= 0, "coulomb and static must not be negative")
        _check(self, self.velocity > 0 and self.shape > 0, "velocity and shape must be positive")

    def sliding(self, direction: float, v: float) -> float:
        weight = np.exp(-((abs(v) / self.velocity) ** self.shape))
        return float(direction * (self.coulomb + (self.static - self.coulomb) * weight))

    @property
    def holding(self) -> tuple[float, float]:
        return -self.static, self.static

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class Smooth:
    """Smoothed friction ``bias`` + F tanh(v / width), without sticking. Smaller widths are more accurate but stiffer."""

    coulomb: float
    width: float = 1e-2
    bias: float = 0.0

    def __post_init__(self) -> None:
        _check(self, self.coulomb >= 0 and self.width > 0, "coulomb must not be negative, and width must be positive")

    def torque(self, v: Any) -> Any:
        return self.bias + self.coulomb * tanh(v / self.width)

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, repr=False)
class LuGre:
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
        positive = min(self.coulomb, self.static, self.velocity, self.stiffness) > 0
        _check(self, positive and self.damping >= 0, "all parameters must be positive, and damping must not be negative")

    def steady(self, v: Any) -> Any:
        return self.coulomb + (self.static - self.coulomb) * exp(-(v / self.velocity) * (v / self.velocity))

    def rate(self, z: Any, v: Any) -> Any:
        return v - self.stiffness * abs(v) / self.steady(v) * z

    def torque(self, z: Any, v: Any) -> Any:
        return self.stiffness * z + self.damping * self.rate(z, v)

    __repr__ = as_call
    _repr_html_ = as_table


def _check(law: Any, holds: bool, rule: str) -> None:
    if not (holds and all(np.isfinite(x) for x in vars(law).values())):
        raise InputError(f"{law} is invalid: {rule}, and all numbers must be finite")


Law = Coulomb | Stribeck | Smooth | LuGre


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
            own[k] = Coulomb(coulomb + bias, coulomb - bias)
    if isinstance(choice, Mapping):
        names = [c.name for c in model.coordinates]
        for name, law in choice.items():
            if name not in names:
                raise unknown_name("coordinate", name, names)
            if not isinstance(law, Coulomb | Stribeck | Smooth | LuGre):
                raise InputError(f"friction of {name!r} must be a Coulomb, Stribeck, Smooth or LuGre law, got {law!r}")
            own[names.index(name)] = law
        return own
    match choice:
        case "model":
            return own
        case "smooth":
            return {k: Smooth(float(model.coulomb[k]), bias=float(model.coulomb_bias[k])) for k in own}
    raise InputError(f"friction={choice!r} is unknown; choose 'model', 'smooth', 'none' or a mapping of joints to laws")


def in_words(laws: Mapping[int, Law], names: Sequence[str]) -> str:
    """Description of the dry friction of each joint."""
    kinds: dict[str, list[str]] = {}
    for k, law in sorted(laws.items()):
        held = "with sticking" if isinstance(law, Coulomb | Stribeck) else "without sticking"
        kinds.setdefault(f"{type(law).__name__} friction {held}", []).append(names[k])
    return "; ".join(f"{kind}: {', '.join(joints)}" for kind, joints in kinds.items()) or "no dry friction"

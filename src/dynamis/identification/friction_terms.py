"""Friction and other terms of single joints in the linear model, and the states of a sample that they depend on.

Besides position, velocity and acceleration these are the state of presliding friction [Dahl 1968], which follows from the
previous motion, and the measured temperature of the joint.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable, unknown_name
from dynamis.identification.samples import Samples
from dynamis.robot import Robot
from dynamis.scalar import exp, sqrt

Array = npt.NDArray[Any]
TEMPERATURE = ("viscous_temperature", "coulomb_temperature")
FRICTION = ("viscous", "coulomb", "coulomb_bias", "stribeck", "quadratic", "power", "load", *TEMPERATURE)
UNITS = {
    "viscous": "N m s/rad", "coulomb": "N m", "coulomb_bias": "N m", "stribeck": "N m", "quadratic": "N m s²/rad²",
    "power": "N m (s/rad)^½", "load": "", "viscous_temperature": "N m s/(rad K)", "coulomb_temperature": "N m/K",
    "offset": "N m", "presliding": "N m", "rotor": "kg m²", "stiffness": "N m/rad", "balancer": "N m/rad",
    **dict.fromkeys(("balancer_sin", "balancer_cos", "balancer_sin2", "balancer_cos2"), "N m"), "m": "kg", "mx": "kg m",
    "my": "kg m", "mz": "kg m",
}  # fmt: skip


class JointState(NamedTuple):
    """Velocity ``v`` of a joint and its direction ``s``, position ``q``, acceleration, stretch of the spring, torque of the
    links that the transmission carries (``load``), temperature above the reference (``warmer``), and the Stribeck velocity of
    the model."""

    s: Any
    v: Any
    q: Any = 0.0
    a: Any = 0.0
    stretch: Any = 0.0
    load: Any = 0.0
    warmer: Any = 0.0
    stribeck_speed: float | None = None


TERMS: dict[str, Callable[[JointState], Any]] = {
    "viscous": lambda x: x.v,
    "coulomb": lambda x: x.s,
    "coulomb_bias": lambda x: x.s * x.s,
    "stribeck": lambda x: x.s * exp(-((x.v / x.stribeck_speed) ** 2)),
    "quadratic": lambda x: x.v * abs(x.v),
    "power": lambda x: x.s * sqrt(abs(x.v)),
    "load": lambda x: x.s * abs(x.load),
    "viscous_temperature": lambda x: x.v * x.warmer,
    "coulomb_temperature": lambda x: x.s * x.warmer,
    "offset": lambda _: 1.0,
    "rotor": lambda x: x.a,
    "stiffness": lambda x: x.stretch,
    "balancer": lambda x: x.q,
    "balancer_sin": lambda x: np.sin(x.q),
    "balancer_cos": lambda x: np.cos(x.q),
    "balancer_sin2": lambda x: np.sin(2.0 * x.q),
    "balancer_cos2": lambda x: np.cos(2.0 * x.q),
}


def balancer_terms(revolute: bool, harmonics: int) -> tuple[str, ...]:
    """Return the terms of the balancer of a joint, besides a constant torque: the first ``harmonics`` of a Fourier series in
    its position, of which weights, and springs without length, have one; of a linear axis a spring."""
    every = ("balancer_sin", "balancer_cos", "balancer_sin2", "balancer_cos2")
    return every[: 2 * harmonics] if revolute else ("balancer",)


def friction_terms(robot: Robot, friction: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """Return the terms of all joints, and further ones as (coordinate, term)."""
    every, own = set[str](), set[tuple[int, str]]()
    for given in (friction,) if isinstance(friction, str) else friction:
        joint, _, term = given.rpartition(".")
        if term not in FRICTION:
            raise unknown_name("friction term", term, FRICTION)
        if joint:
            own.add((coordinate(robot, joint), term))
        else:
            every.add(term)
    return tuple(term for term in FRICTION if term in every), tuple(sorted(pair for pair in own if pair[1] not in every))


def presliding_displacements(
    robot: Robot, given: float | Mapping[str, float] | None, joints: Sequence[int]
) -> dict[int, float]:
    """Return {coordinate: presliding displacement}."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        found = {coordinate(robot, name): float(value) for name, value in given.items()}
    else:
        found = dict.fromkeys(joints, float(given))
    for k, displacement in found.items():
        if robot.model.coordinates[k].q_index is None or not displacement > 0.0:
            name = printable(robot.coordinate_names[k])
            raise InputError(f"presliding of {name} must be a displacement above zero, of a joint with one variable")
    return found


def coordinate(robot: Robot, name: str) -> int:
    """Return the index of a coordinate."""
    if name not in robot.coordinate_names:
        raise unknown_name("joint", name, robot.coordinate_names)
    return robot.coordinate_names.index(name)


class SampleStates:
    """States of the successive samples of a run: presliding with these displacements by coordinate, then, with a reference,
    the temperatures [K] of all joints above it, then the torques ``load(q, v, a)`` that their transmissions carry."""

    def __init__(
        self,
        robot: Robot,
        presliding: Mapping[int, float],
        reference_temperature: float | None,
        load: Callable[[Array, Array, Array], Array] | None,
    ) -> None:
        self.robot, self.presliding, self.reference, self.load = robot, presliding, reference_temperature, load
        self.size = len(presliding) + robot.n * sum(x is not None for x in (reference_temperature, load))
        self._turns: list[_Turn] | None = None

    def advance(self, part: Samples) -> Array:
        """Return (N, size): the states at the next N samples; (N, 1), unused, if there are none."""
        joints, q = self.presliding, part.q
        states = np.zeros((len(q), max(1, self.size)))
        if self.reference is not None:
            states[:, len(joints) : len(joints) + self.robot.n] = np.asarray(part.temperature) - self.reference
        if self.load is not None:
            states[:, -self.robot.n :] = self.load(q, part.v, part.a)
        if not joints or not len(q):
            return states
        places = [self.robot.model.coordinates[k].q_index for k in joints]
        if self._turns is None:
            self._turns = [_Turn(float(q[0, place])) for place in places]
        for column, (place, x) in enumerate(zip(places, joints.values(), strict=True)):
            states[:, column] = _dahl(q[:, place], x, self._turns[column])
        return states


@dataclass
class _Turn:
    """Last reversal of a joint: position, state, direction since, and the current position."""

    at: float
    z: float = 0.0
    direction: float = 0.0
    now: float | None = None


def _dahl(q: Array, x: float, turn: _Turn) -> Array:
    path = np.concatenate([[turn.at if turn.now is None else turn.now], q])
    moved = np.sign(np.diff(path))
    z = np.empty(len(q))
    # segments of one direction, measured from the last reversal, also in an earlier chunk; standstill changes nothing
    edges = np.concatenate([[0], np.flatnonzero(np.diff(moved)) + 1, [len(moved)]])
    for low, high in itertools.pairwise(edges):
        direction = float(moved[low])
        if direction and direction != turn.direction:
            turn.z = _state(path[low], x, turn)
            turn.at, turn.direction = float(path[low]), direction
        z[low:high] = _state(path[low + 1 : high + 1], x, turn)
    turn.now = float(path[-1])
    return z


def _state(q: Any, x: float, turn: _Turn) -> Any:
    """Return z at positions reached without reversal."""
    return turn.direction + (turn.z - turn.direction) * np.exp(-np.abs(q - turn.at) / x) if turn.direction else turn.z

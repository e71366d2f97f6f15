"""Presliding friction: a state that follows the position with hysteresis [Dahl 1968].

    dz/dq = (1 − z sign q̇) / x

so z tends to ±1 in the direction of motion, over displacements of about x. Without reversal it is an exponential.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.linear_model import LinearModel

Array = npt.NDArray[Any]


class Past:
    """The presliding states of a model, updated with each position; `advance` returns them."""

    def __init__(self, model: LinearModel) -> None:
        self.model = model
        self._turns: list[_Turn] | None = None

    def advance(self, q: Array) -> Array:
        """Return (N, H): the states at the next N positions."""
        joints = self.model.presliding
        states = np.zeros((len(q), self.model.past_size))
        if not joints or not len(q):
            return states
        places = [self.model.robot.model.coordinates[k].q_index for k in joints]
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

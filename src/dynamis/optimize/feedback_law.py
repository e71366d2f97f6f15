"""A feedback of steps, recorded once: values, derivatives and generated code belong to the same law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.model.model import fingerprint
from dynamis.robot import Robot
from dynamis.scalar import Node, Program, call_with_symbols, topological
from dynamis.scalar.graph import from_rows, to_rows
from dynamis.scalar.substitution import substituted

Array = npt.NDArray[Any]
Feedback = Callable[[Robot, Array, Array, Array], Any]


class FeedbackLaw:
    """The torques by ``function(robot, q, v, r)`` as it is when it is recorded; what it uses may change afterwards."""

    def __init__(self, robot: Robot, function: Feedback, parameters: Sequence[Node], references: int, torques: int) -> None:
        self.function, self._robot, self._count = function, fingerprint(robot.model), torques
        recorded: list[tuple[list[Any], list[Any]]] = []

        def law(robot: Robot, q: Array, v: Array, r: Array) -> Array:
            tau = self._called(robot, q, v, r)
            recorded.append(([*q, *v, *r], [*tau]))
            return tau

        law.__name__ = self.name
        robot.compile(law, parameters=parameters, r=references).code  # noqa: B018 - traced here, with messages of its own
        self._arguments, self._torques = recorded[-1]

    @property
    def name(self) -> str:
        return f"feedback {getattr(self.function, '__name__', 'function')}"

    def __call__(self, robot: Robot, q: Array, v: Array, r: Array) -> Array:
        """Recorded for this robot; a robot with other parameters has the torques that the function gives it."""
        if fingerprint(robot.model) != self._robot:
            return self._called(robot, q, v, r)
        values = [*q, *v, *r]
        if any(isinstance(x, Node) for x in values) or self.symbols:
            return substituted(self._torques, self._arguments, values)
        return Program(self._arguments, self._torques)(*values)

    @property
    def symbols(self) -> set[str]:
        """The names of symbols in it other than q, v and r."""
        arguments = set(map(str, self._arguments))
        return {str(x) for x in topological(self._torques) if x.op == "symbol"} - arguments

    def _called(self, robot: Robot, q: Array, v: Array, r: Array) -> Array:
        tau = np.asarray(call_with_symbols(self.function, robot, q, v, r))
        if tau.shape != (self._count,):
            raise InputError(f"feedback= must return {counted(self._count, 'torque')} of actuated coordinates, got {tau.shape}")
        return tau

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_arguments": to_rows(self._arguments), "_torques": to_rows(self._torques)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _arguments=from_rows(*state["_arguments"]), _torques=from_rows(*state["_torques"]))

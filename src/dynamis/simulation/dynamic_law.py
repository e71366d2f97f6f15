"""Controllers with internal states (integral action, parameter estimates, observers), integrated with the robot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.sources import checked_push

Array = npt.NDArray[Any]


class DynamicLaw(ABC):
    """τ = torque(robot, t, q, v, x) with ẋ = rates(robot, t, q, v, x), for `simulate` and `rollouts`.

    ``size`` is the length of x. A law written with NumPy for one state, without branching, can be compiled; with ``traceable``
    set, `simulate` compiles it for fixed steps instead of calling it.

    >>> import numpy as np, dynamis as dy
    >>> class Integral(dy.DynamicLaw):
    ...     size = 2
    ...
    ...     def torque(self, robot, t, q, v, x):
    ...         return -4000.0 * (q - 0.5) - 900.0 * v - 3000.0 * x
    ...
    ...     def rates(self, robot, t, q, v, x):
    ...         return q - 0.5
    >>> motion = dy.simulate(dy.load("planar_2r_melchiorri"), 12.0, controller=Integral(), points=25)
    >>> bool(abs(motion.q[-1] - 0.5).max() < 1e-2)
    True
    """

    size: int
    traceable: bool = False

    def start(self, robot: Robot, q: Array, v: Array) -> Array:  # noqa: ARG002 - some start from where the robot is
        """The initial x (…, size), for states with any leading axes."""
        return np.zeros((*v.shape[:-1], self.size))

    @abstractmethod
    def torque(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Any: ...

    @abstractmethod
    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Any: ...


class Memory:
    """A dynamic law bound to its robot; ``checked`` for user functions, whose errors report time and state."""

    def __init__(self, law: DynamicLaw, robot: Robot, checked: bool) -> None:
        self.law, self.robot, self.checked, self.size = law, robot, checked, int(law.size)

    def start(self, q: Array, v: Array) -> Array:
        return np.asarray(self.law.start(self.robot, q, v))

    def torque(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return self._value(self.law.torque, self.robot.n, "controller", t, q, v, x)

    def rates(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return self._value(self.law.rates, self.size, "rates of the controller", t, q, v, x)

    def _value(self, function: Any, size: int, name: str, t: Any, q: Array, v: Array, x: Array) -> Array:
        if not self.checked:
            # copies: a function that works in place must not reach the state
            value = np.asarray(function(self.robot, t, q.copy(), v.copy(), x.copy()))
            if value.shape != (size,):
                raise InputError(f"{name} returned shape {value.shape} instead of ({size},)")
            return value
        return checked_push(lambda t, q, v: function(self.robot, t, q, v, x.copy()), size, name)(t, q, v)

"""Functions of a state with their gradients, traced from the same code; gradients by reverse-mode differentiation.

The gradient of Σ w ∘ f(q, v, a), for weights given at run time, costs little more than f itself; a Jacobian of a regressor
would be 3n times as large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.robot import Robot
from dynamis.scalar import Node
from dynamis.scalar.derivative import gradient

Array = npt.NDArray[Any]


class Traced:
    """A traceable function f(robot, q, v, a) of one state, evaluated for many states, and its vector–Jacobian product.

    ``shape`` is that of the value for one state.
    """

    def __init__(self, robot: Robot, function: Callable[..., Any], name: str) -> None:
        self.n, self.function = robot.n, function

        def values(robot: Robot, q: Array, v: Array, a: Array) -> Array:
            return np.asarray(function(robot, q, v, a))

        values.__name__ = name
        self._values: Kernel = robot.compile(values)
        ((_, self.shape),) = self._values.code.results
        self._pull: Kernel = robot.compile(self._pulled, w=max(1, int(np.prod(self.shape))))

    def _pulled(self, robot: Robot, q: Array, v: Array, a: Array, w: Array) -> Array:
        values = np.asarray(self.function(robot, q, v, a)).ravel()
        total = sum((w[k] * x for k, x in enumerate(values)), 0.0 * w[0])
        inputs = [*q, *v, *a]
        return gradient(total, inputs) if isinstance(total, Node) else np.zeros(len(inputs))

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return (…, *shape)."""
        return np.asarray(self._values(q, v, a))

    def pull(self, q: Array, v: Array, a: Array, w: Array) -> tuple[Array, Array, Array]:
        """Return ∂(Σ w ∘ f)/∂q, /∂v and /∂a, each (…, n), for weights (…, *shape)."""
        flat = w.reshape(*w.shape[: w.ndim - len(self.shape)], -1)
        # infinite derivatives, such as that of √|v| at rest, are set to zero
        slopes = np.nan_to_num(np.asarray(self._pull(q, v, a, flat)), nan=0.0, posinf=0.0, neginf=0.0)
        gq, gv, ga = np.split(slopes, 3, axis=-1)
        return gq, gv, ga

"""What all parts of the class `Robot` share: the model, its evaluation and its sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError
from dynamis.model.build import build
from dynamis.model.description import Description
from dynamis.robot.evaluation import Evaluator
from dynamis.robot.inputs import Inputs

Array = npt.NDArray[Any]


class RobotBase:
    """The model of a robot and the evaluation of functions of its state."""

    def __init__(self, description: Description, *, _checked: bool = False, _tracing: bool = False) -> None:
        if not isinstance(description, Description):
            raise InputError(
                f"Robot takes a Description, got {type(description).__name__}; dynamis.load loads a robot by name or file"
            )
        # a description just read from a file has no other owner and is validated: no copy, no second validation
        self._description = description if _checked else description.copy()
        self.model = build(self._description, checked=_checked)
        self.evaluator = Evaluator(self.model, _tracing)

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def n(self) -> int:
        """Degrees of freedom: the length of v, a and tau."""
        return self.model.n

    @property
    def nq(self) -> int:
        """Length of q; larger than n if a spherical or free joint has a quaternion."""
        return self.model.nq

    @property
    def limits(self) -> dict[str, Array]:
        """``lower``, ``upper``, ``velocity``, ``effort``, each with one entry per degree of freedom."""
        keys = ("lower", "upper", "velocity", "effort")
        return {key: np.array([getattr(c, key) for c in self.model.coordinates]) for key in keys}

    @property
    def inputs(self) -> Inputs:
        """Checks of arguments: shape, finite entries, unit quaternions."""
        return self.evaluator.inputs

    def evaluate(self, algorithm: Algorithm, /, *arguments: Any, **options: Any) -> Array:
        """Evaluate a function of q, v, a, tau for one state or a batch, compiled at the first call.

        >>> import dynamis as dy
        >>> from dynamis.algorithms.registry import ALGORITHMS
        >>> robot = dy.load("ur5e")
        >>> robot.evaluate(ALGORITHMS["gravity"], robot.random(0, 1000)).shape
        (1000, 6)
        """
        sizes = self.evaluator.sizes
        given = {name: (value, sizes[name]) for name, value in zip(algorithm.arguments, arguments, strict=True)}
        return self.evaluator.evaluate(algorithm, given, options)

    def cached_kernel(self, key: Any, make: Callable[[], Kernel]) -> Kernel:
        """The kernel of this key; made at the first call and kept with the robot."""
        kernels = self.evaluator.kernels
        if key not in kernels:
            kernels[key] = make()
        return kernels[key]

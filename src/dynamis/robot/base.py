"""What all parts of the class `Robot` share: the model, its evaluation and its sizes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError
from dynamis.model.build import build
from dynamis.model.description import Description
from dynamis.robot.evaluation import Evaluator, Given, key_of
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

    def evaluate(
        self, algorithm: Algorithm, /, *arguments: Any, out: Array | None = None, dtype: Any = None, **options: Any
    ) -> Array:
        """Evaluate a function of q, v, a, tau for one state or a batch, compiled at the first call.

        >>> import dynamis as dy
        >>> from dynamis.algorithms.registry import ALGORITHMS
        >>> robot = dy.load("ur5e")
        >>> robot.evaluate(ALGORITHMS["gravity"], robot.random(0, 1000)).shape
        (1000, 6)
        """
        sizes = self.evaluator.sizes
        given = {name: (value, sizes[name]) for name, value in zip(algorithm.arguments, arguments, strict=True)}
        return self.evaluate_given(algorithm, given, options, out=out, dtype=dtype)

    def evaluate_given(
        self, algorithm: Algorithm, given: Given, options: Mapping[str, Any], *, compiled: bool = True,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """The same for arguments of any length, given by name with their lengths; ``compiled=False`` runs the algorithm."""
        result = self.evaluator.evaluate(algorithm, given, options, compiled=compiled, out=out, dtype=dtype)
        if algorithm.name not in self.__dict__:
            self._call_directly(algorithm, options)
        return result

    def _call_directly(self, algorithm: Algorithm, options: Mapping[str, Any]) -> None:
        """If these are the default options of the method of this algorithm, machine code answers its calls from now on.

        It stands in the instance under the method's name; the method itself answers what the machine code leaves over.
        """
        method: Any = getattr(type(self), algorithm.name, None)
        if algorithm.parts or not getattr(method, "__module__", "").startswith("dynamis.robot."):  # none, or of a subclass
            return
        if self.model.tip is None and "frame" in algorithm.options:
            return
        if key_of(algorithm, options) != key_of(algorithm, self.options_of(algorithm, None)):
            return
        kernel = self.evaluator.kernels.get(key_of(algorithm, options))
        if kernel is not None:
            builtin = kernel.checked_call(types.MethodType(method, self), _documentation(method))
            if builtin is not None:
                self.__dict__[algorithm.name] = builtin

    def options_of(self, algorithm: Algorithm, frame: str | None) -> dict[str, Any]:
        """The options of an algorithm by default, with this frame or the tip."""
        if "frame" not in algorithm.options:
            if frame is not None:
                raise InputError(f"{algorithm.name} does not depend on a frame")
            return {}
        defaults = {"axes": "world", "orientation": "rpy"}
        return {"frame": self.model.frame(frame)} | {x: defaults[x] for x in algorithm.options if x in defaults}

    def cached_kernel(self, key: Any, make: Callable[[], Kernel]) -> Kernel:
        """The kernel of this key; made at the first call and kept with the robot."""
        kernels = self.evaluator.kernels
        if key not in kernels:
            kernels[key] = make()
        return kernels[key]


def _documentation(method: Any) -> str:
    """The docstring of a builtin, which begins with the signature."""
    signature = inspect.signature(method)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty)).replace("(self", "($self", 1)
    return f"{method.__name__}{text}\n--\n\n{inspect.getdoc(method) or ''}"

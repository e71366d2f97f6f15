"""What all parts of the class `Robot` share: the model, its evaluation and its sizes."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm
from dynamis.compiler.cuda import on_gpu
from dynamis.compiler.direct import direct_function, is_connected, try_first
from dynamis.compiler.kernel import UncheckedError
from dynamis.errors import InputError, unknown_name
from dynamis.model.build import build, doubts
from dynamis.model.description import Description
from dynamis.robot.evaluation import Evaluator, Given, key_of

Array = npt.NDArray[Any]


CHANGED_BY_REPLACE = ("gravity", "payload", "friction", "rotors", "actuators", "limits", "inertias")


class Limits(dict[str, Array]):
    """Limits of the coordinates by name."""

    def __missing__(self, name: object) -> Array:
        raise unknown_name("limit", name, self)


class RobotBase:
    """The model of a robot and the evaluation of functions of its state."""

    def __init__(
        self, description: Description, *, _checked: bool = False, _tracing: bool = False, _quiet: bool = False
    ) -> None:
        if not isinstance(description, Description):
            raise InputError(
                f"Robot takes a Description, got {type(description).__name__}; dynamis.load loads a robot by name or file"
            )
        # a description just read from a file has no other owner and is validated: no copy, no second validation
        self._description = description if _checked else description.copy()
        self.model = build(self._description, checked=_checked)
        if not (_checked or _tracing or _quiet):
            doubts(self._description, self.model).without(self._description.known).emit_warnings(2)
        self.evaluator = Evaluator(self.model, _tracing)
        self.inputs = self.evaluator.inputs

    def __setattr__(self, name: str, value: Any) -> None:
        own = any(name in vars(c) for c in type(self).__mro__ if c.__module__.startswith("dynamis."))  # not of a subclass
        if own or name in CHANGED_BY_REPLACE:
            cure = f"robot.replace({name}=…)" if name in CHANGED_BY_REPLACE else "robot.replace(…)"
            raise AttributeError(f"a robot is never changed, and {name} cannot be set: {cure} returns another robot")
        super().__setattr__(name, value)

    # a robot is never changed: its copies are itself; another process builds it anew from its description

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        return _built, (type(self), self._description, self.evaluator.tracing)

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
        found = Limits({key: np.array([getattr(c, key) for c in self.model.coordinates]) for key in keys})
        for array in found.values():
            array.setflags(write=False)
        return found

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
        if not isinstance(algorithm, Algorithm):
            raise InputError(
                f"evaluate takes an algorithm, such as ALGORITHMS['gravity'] of dynamis.algorithms.registry, got "
                f"{type(algorithm).__name__}; robot.replace(parameters={{…}}) gives symbols their values"
            )
        sizes = self.evaluator.sizes
        given = {name: (value, sizes[name]) for name, value in zip(algorithm.arguments, arguments, strict=True)}
        return self._evaluate_given(algorithm, given, options, out=out, dtype=dtype)

    def _evaluate_given(
        self, algorithm: Algorithm, given: Given, options: Mapping[str, Any], *, compiled: bool = True,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """The same for arguments of any length, given by name with their lengths; ``compiled=False`` runs the algorithm."""
        result = self.evaluator.evaluate(algorithm, given, options, compiled=compiled, out=out, dtype=dtype)
        builtin = self.__dict__.get(algorithm.name) or self.__dict__.get(f"_{algorithm.name}")
        if builtin is not None and (not is_connected(builtin) or on_gpu(result)):
            self._connect(builtin, algorithm, options, on_gpu(result))
        return result

    def _answered(self, key: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        """The result of the kernel of this key (`key_of`) if it is compiled and takes the arguments as they are, or None."""
        try:
            kernel = self.evaluator.kernels.get(key)
            return None if kernel is None else kernel.answer(*arguments)
        except (UncheckedError, TypeError):  # of names that are no text, too
            return None

    def _connect(self, builtin: Any, algorithm: Algorithm, options: Mapping[str, Any], gpu: bool) -> None:
        """Let the kernel with these options answer direct calls of the method, if they are its default options."""
        if self.model.tip is None and "frame" in algorithm.options:
            return
        key = key_of(algorithm, options)
        if key == key_of(algorithm, self._options_of(algorithm, None)) and (kernel := self.evaluator.kernels.get(key)):
            if gpu:
                try_first(builtin, kernel.on_gpu)
            else:
                kernel.connect(builtin, checked=True)

    def _options_of(self, algorithm: Algorithm, frame: str | None) -> dict[str, Any]:
        """The options of an algorithm by default, with this frame or the tip."""
        if "frame" not in algorithm.options:
            if frame is not None:
                raise InputError(f"{algorithm.name} does not depend on a frame")
            return {}
        defaults = {"axes": "world", "orientation": "rpy"}
        return {"frame": self.model.frame(frame)} | {x: defaults[x] for x in algorithm.options if x in defaults}


def _built(robot: type[RobotBase], description: Description, tracing: bool) -> RobotBase:
    return robot(description, _checked=True, _tracing=tracing)


Method = TypeVar("Method", bound=Callable[..., Any])


def direct(method: Method) -> Method:
    """A method that returns the array of the algorithm of its name: machine code answers its calls once it is compiled.

    Its name may begin with an underscore: then the method of the algorithm's name arranges the array for the user.
    """
    return cast("Method", _DirectMethod(method))


class _DirectMethod:
    """Puts a builtin into the instance under the method's name, with the method as its fallback."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__, self.__name__, self.__wrapped__ = method.__doc__, method.__name__, method

    def __get__(self, robot: RobotBase | None, owner: type | None = None) -> Callable[..., Any]:
        if robot is None:
            return self.method
        name, bound = self.method.__name__, types.MethodType(self.method, robot)
        if robot.model.symbolic or robot.evaluator.tracing or inspect.getattr_static(type(robot), name) is not self:
            return bound  # no kernel, or called by a subclass's own method
        builtin = direct_function(name, bound, self.documentation)
        if builtin is None:
            return bound
        return robot.__dict__.setdefault(name, builtin)  # the same for all threads

    @functools.cached_property
    def documentation(self) -> str:
        """The docstring of the builtin, which begins with the signature."""
        signature = inspect.signature(self.method)
        plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
        text = str(signature.replace(parameters=plain, return_annotation=signature.empty)).replace("(self", "($self", 1)
        return f"{self.method.__name__}{text}\n--\n\n{inspect.getdoc(self.method) or ''}"

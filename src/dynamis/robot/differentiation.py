"""Derivatives of first and second order of the functions of a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.compiler.batches import broadcast_batch, check_destination
from dynamis.compiler.cuda import on_gpu
from dynamis.compiler.direct import direct_function, is_connected
from dynamis.compiler.kernel import Kernel
from dynamis.display import counted
from dynamis.errors import InputError, SingularError
from dynamis.interop.replay import EXPRESSIONS, replay
from dynamis.model.model import Frame, Model
from dynamis.robot.inputs import CONFIGURATIONS
from dynamis.robot.interop import JACOBIANS, Interop
from dynamis.robot.jumps import Jumps
from dynamis.scalar import Node, directional, gradient, symmetric

Array = npt.NDArray[Any]


class Derivatives:
    """Derivatives of y = f(x), where x are the arguments ``wrt`` in a row: compiled when first used, evaluated for batches.

    A configuration, an argument q, q0 or q1 of length nq, contributes its n directions: derivatives are along the entries of v,
    for a quaternion along rotations of the moving frame. ``places`` gives where each argument stands in x, and in directions.
    Weights λ have one entry per entry of y, in the order of its flattened array.
    """

    def __init__(
        self, robot: Any, kernel: Kernel, wrt: Sequence[str] | None, jacobian: Kernel | None = None, named: str | None = None
    ) -> None:
        if len(kernel.code.results) != 1:
            raise InputError(
                f"{kernel.name} returns {counted(len(kernel.code.results), 'array')}: return one, as np.concatenate of them"
            )
        model: Model = robot.model
        self._robot, self._model, self._kernel, self._own_jacobian = robot, model, kernel, jacobian
        names = [name for name, _ in kernel.arguments]
        chosen = names if wrt is None else list(wrt) if np.iterable(wrt) else [wrt]
        for name in chosen:
            if name not in names:
                raise InputError(
                    f"{kernel.name} has no argument {name!r} to differentiate by; its arguments are {', '.join(names)}"
                )
        if len(set(chosen)) < len(chosen) or not chosen:
            raise InputError(f"wrt={chosen!r} must name at least one argument, and each once")
        self.wrt, self.shape, self.places = tuple(chosen), kernel.code.results[0][1], {}
        end = 0
        for name in chosen:
            size = model.n if self._has_directions(name) else dict(kernel.arguments)[name]
            self.places[name] = slice(end, end + size)
            end += size
        self.size = end
        self._calls: dict[Kernel, Callable[..., Any]] = {}
        self._jumps = Jumps(robot, kernel, self.wrt, named or self)
        self._refuses = named is not None  # results that are not finite
        for one in (kernel, jacobian):
            if one is not None and not one.is_compiled:
                one.checks = robot.evaluator.checks(dict(one.arguments))

    def __repr__(self) -> str:
        return f"<Derivatives of {self._kernel.name}: {self.shape} by {', '.join(self.wrt)} ({self.size})>"

    def value(self, *arguments: Any) -> Any:
        """y (…, shape of y)."""
        return self._evaluated(self._kernel, arguments)

    def jacobian(self, *arguments: Any) -> Any:
        """∂y/∂x (…, shape of y, size of x)."""
        return self._differentiated(self.jacobian_kernel, arguments)

    def jvp(self, *arguments: Any) -> Any:
        """Jacobian-vector product (…, shape of y); the last argument is the direction (…, size of x)."""
        return self._differentiated(self._jvp, arguments)

    def vjp(self, *arguments: Any) -> Any:
        """Vector-Jacobian product (…, size of x); the last argument holds the weights λ (…, number of entries of y)."""
        return self._differentiated(self._vjp, arguments)

    def hessian(self, *arguments: Any) -> Any:
        """∂²y/∂x² (…, shape of y, size of x, size of x): the derivative of the Jacobian is the last axis.

        Where q holds quaternions, directions do not commute and the two last axes are not symmetric.
        """
        return self._differentiated(self._hessian, arguments)

    def weighted_hessian(self, *arguments: Any) -> Any:
        """Σ λᵢ ∂²yᵢ/∂x² (…, size of x, size of x); the last argument holds the weights λ.

        Where q holds quaternions it is not symmetric, and its symmetric part, which optimisers need, is the Hessian in the
        coordinates dv of `integrate` at dv = 0.
        """
        return self._differentiated(self._weighted_hessian, arguments)

    def hvp(self, *arguments: Any) -> Any:
        """Σ λᵢ ∂²yᵢ/∂x² times a direction (…, size of x); the last two arguments are the weights and the direction."""
        return self._differentiated(self._hvp, arguments)

    def _differentiated(self, kernel: Kernel, arguments: Sequence[Any]) -> Any:
        """A derivative, with a warning where it does not exist."""
        found = self._evaluated(kernel, arguments)
        if self._jumps.found and not on_gpu(found):
            self._jumps.warn(arguments[: len(self._kernel.arguments)])
        return found

    def _evaluated(self, kernel: Kernel, arguments: Sequence[Any]) -> Any:
        """The result of a kernel; numbers that are not finite and quaternions of another norm than 1 are refused.

        Compiled code that checks its values answers arrays of ordinary layout; all others are checked here.
        """
        call = self._calls.get(kernel)
        if call is None:
            checked = partial(self._checked, kernel)
            call = self._calls[kernel] = direct_function(kernel.name, checked) or checked
        return call(*arguments)

    def _checked(self, kernel: Kernel, *arguments: Any) -> Any:
        if len(arguments) == len(kernel.arguments) and not any(map(on_gpu, arguments)):
            given = zip(kernel.arguments, arguments, strict=True)
            broadcast_batch({name: self._robot.inputs.argument(x, size, name) for (name, size), x in given})
        found = kernel(*arguments)
        if self._refuses and not on_gpu(found) and not np.isfinite(found).all():
            self._kernel(*arguments[: len(self._kernel.arguments)])  # raises the reason, if its result is not finite either
            raise SingularError(f"the derivatives of {self._kernel.name} are not finite at this state: they do not exist there")
        call = self._calls[kernel]
        if (
            kernel.is_compiled and kernel.checks is not None and kernel.checks.inputs is None  # all inputs
            and not isinstance(call, partial) and not is_connected(call)
        ):  # fmt: skip
            kernel.connect(call, checked=True)
        return found

    # the compiled functions

    @cached_property
    def jacobian_kernel(self) -> Kernel:
        """The compiled function of `jacobian`."""
        if self._own_jacobian is not None:
            return self._own_jacobian
        if self._count == 1:  # one backward sweep
            return self._made("jacobian", lambda f, *x: self._slope(f(*x), x, np.ones(1)).reshape(*self.shape, -1))
        return self._made("jacobian", lambda f, *x: self._columns(f(*x), x))

    @cached_property
    def _jvp(self) -> Kernel:
        def product(f: Callable[..., Array], *x: Array) -> Array:
            return directional(f(*x[:-1]), *self._direction(x[:-1], x[-1]))

        return self._made("jvp", product, direction=self.size)

    @cached_property
    def _vjp(self) -> Kernel:
        def product(f: Callable[..., Array], *x: Array) -> Array:
            return self._slope(f(*x[:-1]), x[:-1], x[-1])

        return self._made("vjp", product, weights=self._count)

    @cached_property
    def _hessian(self) -> Kernel:
        kernel = self.jacobian_kernel

        def second(*x: Array) -> Array:
            return self._columns(_values(kernel, x), x)

        return self._of(second, self._kernel.arguments, "hessian")

    @cached_property
    def _weighted_hessian(self) -> Kernel:
        def weighted(f: Callable[..., Array], *x: Array) -> Array:
            second = self._columns(self._slope(f(*x[:-1]), x[:-1], x[-1]), x[:-1])
            return second if any(map(self._has_directions, self.wrt)) else symmetric(second)

        return self._made("weighted_hessian", weighted, weights=self._count)

    @cached_property
    def _hvp(self) -> Kernel:
        def product(f: Callable[..., Array], *x: Array) -> Array:
            *given, weights, direction = x
            return directional(self._slope(f(*given), given, weights), *self._direction(given, direction))

        return self._made("hvp", product, weights=self._count, direction=self.size)

    @property
    def _count(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def _made(self, name: str, function: Callable[..., Array], **further: int) -> Kernel:
        """A kernel of ``function(f, *vectors)``, where f gives the expressions of y."""

        def made(*vectors: Array) -> Array:
            return function(lambda *x: _values(self._kernel, x), *vectors)

        return self._of(made, [*self._kernel.arguments, *further.items()], name)

    def _of(self, function: Callable[..., Array], arguments: Sequence[tuple[str, int]], name: str) -> Kernel:
        checks = self._robot.evaluator.checks(dict(arguments))
        return Kernel([function], arguments, f"{self._kernel.name}_{name}", checks=checks)

    def _has_directions(self, name: str) -> bool:
        """A configuration with quaternions: directions are not its entries."""
        return (
            name in CONFIGURATIONS and self._model.nq != self._model.n and dict(self._kernel.arguments)[name] == self._model.nq
        )

    def _arguments(self, vectors: Sequence[Array]) -> dict[str, Array]:
        return dict(zip((name for name, _ in self._kernel.arguments), vectors, strict=True))

    def _rates(self, name: str, x: Array, direction: Array) -> list[Any]:
        """The change of the entries of an argument along a direction."""
        return list(configuration_rate(self._model, x, direction) if self._has_directions(name) else direction)

    def _columns(self, y: Array, vectors: Sequence[Array]) -> Array:
        """∂y/∂x of expressions, by one forward sweep per direction."""
        given = self._arguments(vectors)
        columns = [
            directional(y, list(given[name]), self._rates(name, given[name], unit))
            for name, place in self.places.items()
            for unit in np.eye(place.stop - place.start)
        ]
        return np.stack(columns, axis=-1)

    def _direction(self, vectors: Sequence[Array], direction: Array) -> tuple[list[Node], list[Any]]:
        """All inputs that vary, and their rates along a direction of x."""
        given = self._arguments(vectors)
        inputs = [entry for name in self.places for entry in given[name]]
        return inputs, [
            rate for name, place in self.places.items() for rate in self._rates(name, given[name], direction[place])
        ]

    def _slope(self, y: Array, vectors: Sequence[Array], weights: Array) -> Array:
        """∂(λ·y)/∂x of expressions, by one backward sweep."""
        given, total, parts = self._arguments(vectors), np.dot(weights, np.ravel(y)), []
        for name, place in self.places.items():
            slope = gradient(total, list(given[name]))
            if self._has_directions(name):
                units = np.eye(place.stop - place.start)
                slope = np.array([np.dot(slope, self._rates(name, given[name], unit)) for unit in units])
            parts.append(slope)
        return np.concatenate(parts)


def _values(kernel: Kernel, vectors: Sequence[Array]) -> Array:
    """The result of a kernel as expressions of these symbols."""
    (flat,) = replay(kernel.code, [x for vector in vectors for x in vector], EXPRESSIONS)
    return np.array(flat, dtype=object).reshape(kernel.code.results[0][1])


def derivatives_with_wrenches(
    robot: Any, name: str, state: Sequence[Any], pushed: tuple[tuple[Frame, ...], dict[str, tuple[Any, int]]], axes: str,
    out: Array | None, dtype: Any,
) -> Array:  # fmt: skip
    """Derivatives (…, 3, n, n) of a method of (q, v, x, wrenches) by q, v and x, for wrenches on these frames."""
    frames, wrenches = pushed
    third = "a" if name == "inverse_dynamics" else "tau"
    given = {"q": (state[0], robot.nq), "v": (state[1], robot.n), third: (state[2], robot.n), **wrenches}
    checked = {x: robot.inputs.vector(value, size, x) for x, (value, size) in given.items()}
    batch = broadcast_batch(checked)
    arrays = [x if dtype is None else x.astype(dtype) for x in checked.values()]
    forces = np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays[3:]], axis=-1)

    def function(robot: Any, q: Array, v: Array, x: Array, w: Array) -> Array:
        on = {frame.name: w[6 * k : 6 * k + 6] for k, frame in enumerate(frames)}
        return np.asarray(getattr(robot, name)(q, v, x, on, axes=axes))

    key = name, axes, *(frame.name for frame in frames)
    made = robot.evaluator.derivatives
    if key not in made:
        function.__name__ = name
        kernel = robot.compile(function, x=robot.n, w=6 * len(frames))
        kernel.refuse = partial(robot.evaluator.refuse, kernel.arguments, partial(function, robot))
        made[key] = Derivatives(robot, kernel, ("q", "v", "x"), named=name)
    found = np.stack(np.split(np.asarray(made[key].jacobian(*arrays[:3], forces)), 3, axis=-1), axis=-3)
    if out is None:
        return found
    check_destination(out, [found.shape], found.dtype)
    out[...] = found
    return out


class Differentiation(Interop):
    """The method of a robot that differentiates its functions."""

    def differentiate(
        self, function: Callable[..., Any] | str, /, wrt: Sequence[str] | str | None = None, *, frame: str | None = None,
        parameters: Sequence[Node] = (), **sizes: int,
    ) -> Derivatives:  # fmt: skip
        """Derivatives of a method, given by its name, or of a function of your own, as `compile` takes it.

        ``wrt`` names the arguments to differentiate by, by default all; ``"parameters"`` are the symbols of ``parameters``.
        The result has the Jacobian, its products with vectors from both sides, the Hessian, and the products that optimisers
        use, for one state or batches. Arguments are checked as those of the methods are.

        The derivative of what is piecewise constant, such as dry friction, sign and floor, is zero; a `ModelWarning` says so
        where it does not exist, at zero velocity of a joint with dry friction. Steps have smooth friction:
        ``step = dynamis.optimize.Step(robot, 0.01)`` and ``robot.differentiate(step.continuous, u=step.inputs)``.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> energy = robot.differentiate("kinetic_energy", "v")
        >>> q, v = np.array([0.3, 0.5]), np.array([1.0, -2.0])
        >>> bool(np.allclose(energy.jacobian(q, v), robot.mass_matrix(q) @ v))
        True
        >>> bool(np.allclose(energy.hessian(q, v), robot.mass_matrix(q)))
        True
        """
        kernel = self._kernel_of(function, frame, parameters, sizes)
        own = isinstance(function, str) and function in JACOBIANS and not parameters and wrt is None
        return Derivatives(
            self, kernel, [wrt] if isinstance(wrt, str) else wrt, self.compile(JACOBIANS[str(function)]) if own else None,
            function if isinstance(function, str) else None,
        )  # fmt: skip

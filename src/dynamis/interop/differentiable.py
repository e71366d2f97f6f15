"""A compiled function with its Jacobian, which is compiled when first used and has a Jacobian in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.batches import broadcast_batch
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError
from dynamis.interop.replay import EXPRESSIONS, replay
from dynamis.scalar import jacobian, pulled_back, symmetric

Array = npt.NDArray[Any]


class Differentiable:
    """A kernel with one result, and the way to its Jacobian with respect to all inputs in order.

    ``make_jacobian`` gives a kernel with one more axis at the end; without it the code is differentiated. ``warn`` is called
    before that, once.
    """

    def __init__(
        self, kernel: Kernel, make_jacobian: Callable[[], Kernel] | None = None, warn: Callable[[], None] | None = None
    ) -> None:
        if len(kernel.code.results) != 1:
            raise InputError(
                f"{kernel.name} returns {len(kernel.code.results)} arrays: return one, such as np.concatenate of them"
            )
        self.kernel = kernel
        self.sizes = [size for _, size in kernel.arguments]
        self.shape = kernel.code.results[0][1]
        self._make_jacobian, self._warn = make_jacobian, warn

    @property
    def name(self) -> str:
        return self.kernel.name

    @cached_property
    def jacobian(self) -> Differentiable:
        if self._warn is not None:
            self._warn()
        if self._make_jacobian is not None:
            return Differentiable(self._make_jacobian())
        return Differentiable(Kernel([self._differentiated], self.kernel.arguments, f"{self.name}_jacobian"))

    def adjoint(self, places: Sequence[int], weights: str) -> Differentiable:
        """∂(λ·y)/∂x by one backward sweep, where y are the entries at ``places``; λ is the last argument, named ``weights``.

        Its Jacobian has the Hessian of λ·y, of which one triangle is computed, and beside it the transposed Jacobian of y.
        """
        arguments = [*self.kernel.arguments, (weights, len(places))]

        def product(*vectors: Array) -> Array:
            inputs = [x for vector in vectors[:-1] for x in vector]
            (flat,) = replay(self.kernel.code, inputs, EXPRESSIONS)
            return pulled_back([flat[k] for k in places], list(vectors[-1]), inputs)

        def derivatives(*vectors: Array) -> Array:
            inputs = [x for vector in vectors[:-1] for x in vector]
            (flat,) = replay(self.jacobian.kernel.code, inputs, EXPRESSIONS)
            slopes = np.array(flat, dtype=object).reshape(-1, len(inputs))[list(places)]
            return np.hstack([symmetric(jacobian(product(*vectors), inputs)), slopes.T])

        name = f"{self.name}_adjoint"
        return Differentiable(Kernel([product], arguments, name), lambda: Kernel([derivatives], arguments, f"{name}_jacobian"))

    def _differentiated(self, *vectors: Array) -> Array:
        inputs = [x for vector in vectors for x in vector]
        (flat,) = replay(self.kernel.code, inputs, EXPRESSIONS)
        return jacobian(np.array(flat, dtype=object).reshape(self.shape), inputs)

    def in_order(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Arguments, of which some may be given by name."""
        if not named:
            return arguments
        names = [name for name, _ in self.kernel.arguments]
        given = {**dict(zip(names, arguments, strict=False)), **named}
        if len(arguments) + len(named) != len(names) or given.keys() != set(names):
            raise InputError(
                f"{self.name} takes {', '.join(names)}, each once, by place or by name; got {len(arguments)} by place and "
                f"{', '.join(named)} by name"
            )
        return [given[name] for name in names]

    def check(self, arrays: Sequence[Any], broadcast_shapes: Callable[..., Any] = np.broadcast_shapes) -> None:
        """The last axes must have the lengths of the arguments, and the axes before them must broadcast."""
        if len(arrays) != len(self.sizes):
            raise InputError(f"{self.name} takes {len(self.sizes)} arguments, got {len(arrays)}")
        for (argument, size), array in zip(self.kernel.arguments, arrays, strict=True):
            if not array.shape or array.shape[-1] != size:
                shape = tuple(array.shape)
                raise InputError(f"{argument} has shape {shape}: its last axis must have the {size} entries of {argument}")
        if any(array.shape[:-1] != arrays[0].shape[:-1] for array in arrays):
            named = {name: array for (name, _), array in zip(self.kernel.arguments, arrays, strict=True)}
            broadcast_batch(named, broadcast_shapes)

"""The backward sweep through the steps of a motion, with the gradient of its cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel

Array = npt.NDArray[Any]


class BackwardSweep:
    """The costate λ of a backward sweep, and the gradient with respect to inputs and parameters so far."""

    def __init__(self, pullback: Kernel, costate: Array, inputs: Array) -> None:
        self.pullback, self.costate, self.inputs = pullback, costate, inputs.copy()
        count = pullback.code.results[0][1][0] - costate.shape[-1] - inputs.shape[-1]
        self.parameters = np.zeros_like(costate, shape=(*costate.shape[:-1], count))

    def through(self, q: Array, v: Array, u: Array, p: Sequence[Array], slopes: Array, first: int) -> None:
        """Backwards through the steps u, of which ``first`` is the first, with the derivatives of the cost by their states."""
        n, m = self.costate.shape[-1], self.inputs.shape[-1]
        for k in reversed(range(len(u))):
            change = self.pullback(q[k], v[k], u[k], self.costate, *p)
            self.inputs[first + k] += change[..., n : n + m]
            self.parameters += change[..., n + m :]
            self.costate = slopes[k] + change[..., :n]

    @property
    def found(self) -> Iterator[Array]:
        return iter((self.costate, self.inputs, self.parameters))

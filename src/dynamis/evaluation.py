"""How a function of one state is evaluated over many: symbols by the algorithm itself, numbers by its compiled form."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError, SingularError
from dynamis.inputs import Inputs, broadcast_batch
from dynamis.model.model import Model, fingerprint
from dynamis.model.reframe import reframe
from dynamis.model.regroup import regroup

Array = npt.NDArray[Any]

# straight-line code grows with the robot, and with its square for matrices; beyond this the plain algorithms run
COMPILED_UP_TO = 80  # degrees of freedom
# functions that see frames and inertias only through torques, which other frames and regrouping leave as they are
TORQUES = frozenset({"id", "gravity", "bias", "CTv"})
MATRICES = frozenset({"fd", "crba", "coriolis", "Mdot"})


class Evaluator:
    """The compiled functions of one model, made when first called."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.inputs = Inputs(model)
        self.kernels: dict[Any, Kernel] = {}
        self._lean_models: dict[str, Model] = {}

    def evaluate(self, key: Any, algorithm: Callable[..., Any], keep: bool = True,
                  alternatives: Sequence[Callable[..., Any]] = (), /, **inputs: tuple[Any, int]) -> Array:  # fmt: skip
        """Symbols run the algorithm itself; numbers run its compiled form, or that of the cheapest alternative."""
        arrays = {name: self.inputs.vector(value, size, name) for name, (value, size) in inputs.items()}
        batch = broadcast_batch(arrays)
        if self.model.symbolic or any(a.dtype == object for a in arrays.values()):
            if batch:
                raise InputError("symbols are evaluated one state at a time; put numbers in first for a batch")
            result = np.asarray(algorithm(self.model, *arrays.values()))
            return result if result.ndim else result[()]  # one number, not an array around it
        if not keep or not 0 < self.model.n <= COMPILED_UP_TO:
            return self.over_states(lambda *state: np.asarray(algorithm(self.model, *state)), None, **inputs)
        sizes = {name: a.shape[-1] for name, a in arrays.items()}
        kernel = self._kernel(key, alternatives or (algorithm,), sizes)
        try:
            result = kernel(*arrays.values())
        except InputError:  # the trace divided by a plain zero; the algorithm itself knows what that means
            return self.over_states(lambda *state: np.asarray(algorithm(self.model, *state)), None, **inputs)
        if not np.isfinite(result).all():
            self._explain_failure(algorithm, arrays, batch, result)
        return result

    @functools.cached_property
    def longest_chain(self) -> int:
        """Degrees of freedom on the way from the base to the farthest tip."""
        chain = [0] * len(self.model.bodies)
        for i, body in self.model.moving:
            chain[i] = chain[body.parent] + len(body.dof)
        return max(chain)

    def _kernel(self, key: Any, algorithms: Sequence[Callable[..., Any]], sizes: dict[str, int]) -> Kernel:
        found = self.kernels.get(key)
        if found is None:
            name = key if isinstance(key, str) else key[0]
            model = self._lean(key)
            identity = f"{fingerprint(model)} {key!r}"
            arguments = [(f"{argument}", size) for argument, size in sizes.items()]
            found = self.kernels[key] = Kernel(
                [functools.partial(algorithm, model) for algorithm in algorithms], arguments, name, identity
            )
        return found

    def _lean(self, key: Any) -> Model:
        """The model with which a function costs least: the same torques from fewer numbers, where only they are asked for."""
        name, frames = key if isinstance(key, str) else key[0], () if isinstance(key, str) else key[1]
        if name not in TORQUES and name not in MATRICES:
            return self.model
        kind = "wrenches" if frames else "torques" if name in TORQUES else "matrices"
        if kind not in self._lean_models:
            # wrenches are given in the file's link frames
            moved = self.model if frames else reframe(self.model, apart=kind == "matrices")
            self._lean_models[kind] = regroup(moved)
        return self._lean_models[kind]

    def _explain_failure(
        self, algorithm: Callable[..., Any], arrays: dict[str, Array], batch: tuple[int, ...], result: Array
    ) -> None:
        """A result that is not finite: the plain algorithm at the first such state says why, if there is a reason."""
        flat = result.reshape(int(np.prod(batch)), -1)
        bad = int(np.flatnonzero(~np.isfinite(flat).all(axis=1))[0])
        where = np.unravel_index(bad, batch) if batch else ()
        state = [np.broadcast_to(a, (*batch, a.shape[-1]))[where].astype(float) for a in arrays.values()]
        with np.errstate(all="ignore"):
            algorithm(self.model, *state)
        place = f" (state {list(map(int, where))} of the batch)" if batch else ""
        raise SingularError(
            f"the result is not finite at this configuration{place}: "
            "the mass matrix or the chosen coordinates are singular there"
        )

    def over_states(self, function: Callable[..., Array], size: int | None, **inputs: tuple[Any, int]) -> Array:
        arrays = {name: self.inputs.vector(value, length, name) for name, (value, length) in inputs.items()}
        if any(a.dtype == object for a in arrays.values()):
            raise InputError("this function takes numbers, not symbols")
        batch = broadcast_batch(arrays)
        count = int(np.prod(batch))
        rows = [np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for a in arrays.values()]
        values = [function(*states) for states in zip(*rows, strict=True)]
        shape = (size,) if size is not None else (values or [function(*(np.zeros(a.shape[-1]) for a in rows))])[0].shape
        result = np.array(values).reshape((*batch, *shape))
        return result.astype(np.result_type(*arrays.values()))

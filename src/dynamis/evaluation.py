"""Evaluation of a function of one state over a batch: symbols by the algorithm itself, numbers by its compiled form."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.cuda import as_cupy, on_gpu
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError, SingularError
from dynamis.inputs import Inputs, broadcast_batch
from dynamis.model.model import Model, fingerprint
from dynamis.model.reframe import reframe
from dynamis.model.regroup import regroup

Array = npt.NDArray[Any]

# Straight-line code grows with the robot. Instructions expected per degree of freedom, or per pair of which one carries the
# other (measured on chains of 10 to 60 joints); about 0.2 ms to compile each, and 4 kB.
PER_JOINT = {"id": 85, "bias": 85, "gravity": 20, "fd": 320}
OTHERWISE = 100
PER_PAIR = {"crba": 14, "coriolis": 55, "Mdot": 55, "did": 220, "dfd": 340, "Y": 80, "christoffel": 60}
AT_ONCE = 30_000  # instructions that are compiled at the first call
MOST = 300_000  # instructions of what grows with pairs that are compiled at all
# states, for code between these bounds: at 80 joints the plain Coriolis matrix takes 47 ms, compiling it 49 s
WORTH_COMPILING = 500
SLOW = frozenset({"did", "dfd", "christoffel"})  # functions whose plain algorithm takes nearly as long as compiling
# functions that see frames and inertias only through torques, which other frames and regrouping leave as they are
TORQUES = frozenset({"id", "gravity", "bias", "CTv"})
MATRICES = frozenset({"fd", "crba", "coriolis", "Mdot", "did", "dfd"})


def _name(key: Any) -> str:
    return str(key if isinstance(key, str) else key[0])


class Evaluator:
    """The compiled functions of one model, made when first called.

    ``tracing``: symbols are those of a function being compiled, to be computed in the way that costs least.
    """

    def __init__(self, model: Model, tracing: bool = False) -> None:
        self.model, self.tracing = model, tracing
        self.inputs = Inputs(model)
        self.kernels: dict[Any, Kernel] = {}
        self._lean_models: dict[str, Model] = {}
        self._asked: Counter[Any] = Counter()

    def evaluate(self, key: Any, algorithm: Callable[..., Any], keep: bool = True,
                  alternatives: Sequence[Callable[..., Any]] = (), /, **inputs: tuple[Any, int]) -> Array:  # fmt: skip
        """Symbols run the algorithm itself; numbers run its compiled form, or that of the cheapest alternative, on the GPU
        if they are there."""
        simple = self._one_plain_state(key, inputs) if keep else None
        if simple is not None:
            return simple
        if any(on_gpu(value) for value, _ in inputs.values()):
            return self._on_gpu(key, algorithm, keep, alternatives, inputs)
        arrays = {name: self.inputs.vector(value, size, name) for name, (value, size) in inputs.items()}
        batch = broadcast_batch(arrays)
        if self.model.symbolic or any(a.dtype == object for a in arrays.values()):
            if batch:
                raise InputError(
                    "symbolic arguments are evaluated for one state at a time; substitute numbers before evaluating a batch"
                )
            model = self.lean(key) if self.tracing else self.model
            way = alternatives[0] if self.tracing and alternatives else algorithm
            result = np.asarray(way(model, *arrays.values()))
            return result if result.ndim else result[()]  # one number, not an array around it
        if not keep or not self._worth_compiling(key, math.prod(batch)):
            return self.over_states(lambda *state: np.asarray(algorithm(self.model, *state)), None, **inputs)
        sizes = {name: a.shape[-1] for name, a in arrays.items()}
        kernel = self._kernel(key, alternatives or (algorithm,), sizes)
        try:
            result = kernel(*arrays.values())
        except (InputError, SingularError):  # the trace divided by a plain zero; the algorithm itself knows what that means
            return self.over_states(lambda *state: np.asarray(algorithm(self.model, *state)), None, **inputs)
        if not np.isfinite(result).all():
            self._explain_failure(algorithm, arrays, batch, result)
        return result

    def _one_plain_state(self, key: Any, inputs: dict[str, tuple[Any, int]]) -> Array | None:
        """One state in double precision with nothing strange about it, by a compiled function: the case of a controller,
        which would otherwise wait for checks longer than for the result. None where anything has to be looked at."""
        kernel = self.kernels.get(key)
        ufunc = kernel.ready if kernel is not None and not self.inputs.quaternions else None
        if ufunc is None:
            return None
        for value, size in inputs.values():
            if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != (size,):
                return None
        with np.errstate(all="ignore"):  # numbers too large to square are looked at, not warned about
            if not math.isfinite(sum(value.dot(value) for value, _ in inputs.values())):
                return None
            result = ufunc(*(value for value, _ in inputs.values()))
            flat = result.ravel()
            return result if math.isfinite(flat.dot(flat)) else None

    def _worth_compiling(self, key: Any, states: int) -> bool:
        """Short code at once; long code where enough states have been asked for to repay the time."""
        if not self.can_be_compiled(key):
            return False
        if self.expected_instructions(key) <= AT_ONCE or _name(key) in SLOW:
            return True
        self._asked[key] += states
        return self._asked[key] >= WORTH_COMPILING

    def can_be_compiled(self, key: Any) -> bool:
        """Whether a robot's function is not too long for the memory it would take: those of single joints never are."""
        return self.model.n > 0 and (_name(key) not in PER_PAIR or self.expected_instructions(key) <= MOST)

    def expected_instructions(self, key: Any) -> int:
        """About how long the code of a function will be."""
        name = _name(key)
        if name not in PER_PAIR:
            return PER_JOINT.get(name, OTHERWISE) * self.model.n
        triples = max(self.chains, default=0) if name == "christoffel" else 1
        return PER_PAIR[name] * sum(self.chains) * triples

    def _on_gpu(self, key: Any, algorithm: Callable[..., Any], keep: bool, alternatives: Sequence[Callable[..., Any]],
                inputs: dict[str, tuple[Any, int]]) -> Any:  # fmt: skip
        """Values are not looked at there, which would mean to wait for them: what is not a number gives what is not."""
        if self.model.symbolic or not keep:
            raise InputError("GPU arrays require a robot with numeric parameters and a base at rest")
        arrays = {name: as_cupy(value) for name, (value, _) in inputs.items()}
        kernel = self._kernel(key, alternatives or (algorithm,), {name: size for name, (_, size) in inputs.items()})
        return kernel(*arrays.values())

    @functools.cached_property
    def chains(self) -> list[int]:
        """For each degree of freedom, how many there are between it and the base, itself included."""
        ends = [0] * len(self.model.bodies)
        chains: list[int] = []
        for i, body in self.model.moving:
            ends[i] = ends[body.parent] + len(body.dof)
            chains += range(ends[body.parent] + 1, ends[i] + 1)
        return chains

    def _kernel(self, key: Any, algorithms: Sequence[Callable[..., Any]], sizes: dict[str, int]) -> Kernel:
        found = self.kernels.get(key)
        if found is None:
            name = _name(key)
            model = self.lean(key)
            identity = f"{fingerprint(model)} {key!r}"
            arguments = [(f"{argument}", size) for argument, size in sizes.items()]
            made = Kernel([functools.partial(algorithm, model) for algorithm in algorithms], arguments, name, identity)
            found = self.kernels.setdefault(key, made)  # threads that come here at once all take the first one's
        return found

    def lean(self, key: Any) -> Model:
        """The model with which a function costs least: the same torques from fewer numbers, where only they are asked for."""
        name, frames = _name(key), () if isinstance(key, str) else key[1]
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
            f"the result is not finite at this state{place}: the mass matrix or the orientation coordinates are singular "
            "there, or entries of the state are too large"
        )

    def over_states(self, function: Callable[..., Array], size: int | None, **inputs: tuple[Any, int]) -> Array:
        arrays = {name: self.inputs.vector(value, length, name) for name, (value, length) in inputs.items()}
        if any(a.dtype == object for a in arrays.values()):
            raise InputError("this function takes numeric arguments, not symbols")
        batch = broadcast_batch(arrays)
        count = int(np.prod(batch))
        rows = [np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for a in arrays.values()]
        values = [function(*states) for states in zip(*rows, strict=True)]
        shape = (size,) if size is not None else (values or [function(*(np.zeros(a.shape[-1]) for a in rows))])[0].shape
        result = np.array(values).reshape((*batch, *shape))
        return result.astype(np.result_type(*arrays.values()))

"""Evaluation of a function of one state over a batch: symbols by the algorithm itself, numbers by its compiled form."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm, Function, Invariance
from dynamis.compiler.batches import broadcast_batch, check_destination
from dynamis.compiler.code import Checks
from dynamis.compiler.cuda import as_cupy, on_gpu
from dynamis.compiler.kernel import DOUBLE, SINGLE, Kernel, UncheckedError
from dynamis.errors import InputError, SingularError, printable
from dynamis.model.model import Frame, Model, fingerprint
from dynamis.model.reframe import reframe
from dynamis.model.regroup import regroup
from dynamis.robot.inputs import CONFIGURATIONS, QUATERNION_TOLERANCE, Inputs
from dynamis.scalar import Node, TracedArray, computed_once, symbol, topological

Array = npt.NDArray[Any]
Given = dict[str, tuple[Any, int]]  # arguments with the lengths they must have

# Straight-line code grows with the robot; an instruction takes about 0.2 ms and 4 kB to compile.
MAX_INSTRUCTIONS_AT_FIRST_CALL = 30_000  # longer functions are compiled after a number of states
MAX_INSTRUCTIONS = 300_000  # of functions that grow with pairs of joints; longer ones are not compiled
# for code between these bounds: at 80 joints the plain Coriolis matrix takes 47 ms, compiling it 49 s; a link of a
# long chain takes 0.4 ms in the plain recursion, 10 ms to trace
STATES_BEFORE_COMPILING, STATES_BEFORE_ROLLING = 500, 30
PRECISIONS = (DOUBLE, SINGLE)
OF_JOINTS = ("v", "a", "tau", "dv", "v_r", "a_r")  # vectors with an entry for each degree of freedom; v_r: of references


class Evaluator:
    """The compiled functions of one model, compiled when first called.

    ``tracing``: symbols are those of a function being compiled, to be computed with the fewest operations.
    """

    def __init__(self, model: Model, tracing: bool = False) -> None:
        self.model, self.tracing = model, tracing
        self.inputs = Inputs(model)
        # lengths of the vectors that every robot has
        self.sizes = {
            **dict.fromkeys(CONFIGURATIONS, model.nq),
            **dict.fromkeys(("v", "a", "tau", "dv", "v_r", "a_r"), model.n),
            "s": 1,
        }
        self.kernels: dict[Any, Kernel] = {}
        self.derivatives: dict[Any, Any] = {}  # of functions with wrenches
        self.warned: set[Any] = set()  # functions that have warned of derivatives at a jump, or need not any more
        self.looks: Counter[str] = Counter()  # of their calls at rest
        self._lean_models: dict[str, Model] = {}
        self._asked: Counter[Any] = Counter()
        self._symbols: dict[Any, list[str]] = {}  # of the model, by function

    @functools.cached_property
    def dry(self) -> tuple[int, ...]:
        """The coordinates with dry friction, of numbers or symbols."""
        both = zip(self.model.coulomb, self.model.coulomb_bias, strict=True)
        return tuple(k for k, pair in enumerate(both) if any(isinstance(x, Node) or x != 0.0 for x in pair))

    def evaluate(
        self, algorithm: Algorithm, given: Given, options: Mapping[str, Any], *, compiled: bool = True,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Symbols run the algorithm itself; numbers run its compiled form, or that of its cheapest method, on the GPU if they
        are there. ``dtype`` is the precision to compute in, by default that of the arguments."""
        if dtype is not None:
            given = {name: (_converted(value, dtype), size) for name, (value, size) in given.items()}
        key = key_of(algorithm, options)
        result = self._by_ready_kernel(key, given, out) if compiled else None
        if result is not None:
            return result
        if any(on_gpu(value) for value, _ in given.values()):
            return self._on_gpu(algorithm, given, options, compiled, out)
        arrays = {name: self.inputs.vector(value, size, name) for name, (value, size) in given.items()}
        if compiled and key in self.kernels:  # what was a list of numbers is an array now
            result = self._by_ready_kernel(key, {name: (array, given[name][1]) for name, array in arrays.items()}, out)
            if result is not None:
                return result
        batch = broadcast_batch(arrays)
        of_base = "base" in options and options["base"].symbolic
        given_symbols = of_base or any(a.dtype == object for a in arrays.values())
        if given_symbols or (self.model.symbolic and (self.tracing or self._symbols_in(algorithm, arrays, options))):
            if batch or out is not None:
                self._refuse_symbols(algorithm, [] if given_symbols else self._symbols_in(algorithm, arrays, options), batch)
            model, function = self.methods(algorithm, options)[0] if self.tracing else (self.model, algorithm.function)
            state = list(arrays.values())

            def of_symbols() -> Array:
                return np.asarray(function(model, *state, **options))

            result = of_symbols() if of_base else computed_once((self, key), state, of_symbols)
            if any(isinstance(value, TracedArray) for value, _ in given.values()):
                result = result.astype(object).view(TracedArray)  # NumPy's functions of it are recorded too
            return result if result.ndim else result[()]  # one number, not an array around it

        def plain(*state: Array) -> Array:
            return np.asarray(algorithm.function(self.model, *state, **options))

        def without_compiling() -> Array:
            found = self.over_states(plain, None, **given)
            if out is None:
                return found
            check_destination(out, [found.shape], found.dtype)
            out[...] = found
            return out

        if not compiled or not self._worth_compiling(algorithm, key, math.prod(batch)):
            return without_compiling()
        kernel = self.kernel(algorithm, {name: a.shape[-1] for name, a in arrays.items()}, options)
        try:
            result = kernel.interpret(list(arrays.values())) if out is None else None
            if result is None:
                kernel.prepare(list(arrays.values()))
        except (InputError, SingularError):  # the trace divided by a plain zero; the algorithm itself gives the reason
            return without_compiling()
        if result is None:
            result = kernel.run(list(arrays.values()), out)
        if not np.isfinite(result).all():
            self._explain_failure(plain, arrays, result)
        return result

    def _symbols_in(self, algorithm: Algorithm, arrays: Mapping[str, Array], options: Mapping[str, Any]) -> list[str]:
        """The names of the robot's symbols on which a function of numbers depends."""
        key = key_of(algorithm, options)
        if key not in self._symbols:
            state = [np.array([symbol(f"{name}[{k}]") for k in range(x.shape[-1])], object) for name, x in arrays.items()]
            own = {id(x) for vector in state for x in vector}
            result = np.asarray(algorithm.function(self.model, *state, **options), object)
            self._symbols[key] = sorted(str(x) for x in topological(result.flat) if x.op == "symbol" and id(x) not in own)
        return self._symbols[key]

    def _refuse_symbols(self, algorithm: Algorithm, names: Sequence[str], batch: tuple[int, ...]) -> None:
        what = "evaluated for one state at a time" if batch else "not available with out="
        if not names:
            raise InputError(f"symbolic arguments are {what}; give numbers")
        listed, symbols = ", ".join(map(printable, names)), ", ".join(f"dynamis.symbol({name!r})" for name in names)
        raise InputError(
            f"{algorithm.name} of robot {printable(self.model.name)} depends on its symbol{'s' * (len(names) > 1)} "
            f"{listed}, and symbolic results are {what}; "
            f"robot.compile({algorithm.name!r}, parameters=[{symbols}]) takes values as its last argument"
        )

    def _by_ready_kernel(self, key: Any, given: Given, out: Array | None) -> Array | None:
        """Arrays by a kernel that is compiled and checks values itself. None where a check or a conversion is needed."""
        kernel = self.kernels.get(key)
        if kernel is None:
            return None
        arrays = []
        for value, size in given.values():
            if type(value) is not np.ndarray or value.dtype not in PRECISIONS or value.shape[-1:] != (size,):
                return None
            arrays.append(value)
        try:
            if not kernel.is_compiled:
                return None
            if out is None and all(array.ndim == 1 for array in arrays):
                return kernel.checked(*arrays)
            broadcast_batch(dict(zip(given, arrays, strict=True)))
            return kernel.run(arrays, out, kernel.checked)
        except UncheckedError:
            return None

    def _worth_compiling(self, algorithm: Algorithm, key: Any, states: int) -> bool:
        """Short code at the first call; long code once enough states have been asked for to repay the time."""
        if not self.can_be_compiled(algorithm):
            return False
        if self.expected_instructions(algorithm) <= MAX_INSTRUCTIONS_AT_FIRST_CALL or algorithm.slow:
            return True
        self._asked[key] += states
        return self._asked[key] >= (
            STATES_BEFORE_COMPILING if algorithm.per_pair or algorithm.per_triple else STATES_BEFORE_ROLLING
        )

    def can_be_compiled(self, algorithm: Algorithm) -> bool:
        """Whether the code fits in memory; code that grows only with the number of joints always does."""
        grows = algorithm.per_pair or algorithm.per_triple
        return self.model.n > 0 and (not grows or self.expected_instructions(algorithm) <= MAX_INSTRUCTIONS)

    def expected_instructions(self, algorithm: Algorithm) -> int:
        """Estimated length of the compiled code."""
        chains = self.model.chains
        pairs = sum(chains)
        triples = pairs * max(chains, default=0)
        return algorithm.per_joint * self.model.n + algorithm.per_pair * pairs + algorithm.per_triple * triples

    def _on_gpu(self, algorithm: Algorithm, given: Given, options: Mapping[str, Any], compiled: bool, out: Any) -> Any:
        """Values are not checked on the GPU, which would synchronise with it; entries that are not finite give such results."""
        if self.model.symbolic or not compiled:
            raise InputError("GPU arrays require a robot with numeric parameters and a base at rest")
        if out is not None:
            raise InputError("out= is not available for arrays on a GPU")
        arrays = {name: as_cupy(value) for name, (value, _) in given.items()}
        return self.kernel(algorithm, {name: size for name, (_, size) in given.items()}, options)(*arrays.values())

    def kernel(self, algorithm: Algorithm, sizes: Mapping[str, int], options: Mapping[str, Any]) -> Kernel:
        """The compiled function for given options; ``sizes`` are the lengths of its arguments."""
        key = key_of(algorithm, options)
        found = self.kernels.get(key)
        if found is None:
            methods = self.methods(algorithm, options)
            functions = [functools.partial(function, model, **options) for model, function in methods]
            identity = f"{' '.join(dict.fromkeys(fingerprint(model) for model, _ in methods))} {key!r}"
            plain = functools.partial(algorithm.function, self.model, **options)
            refuse = functools.partial(self.refuse, list(sizes.items()), plain)
            made = Kernel(functions, list(sizes.items()), algorithm.name, identity, (), self.checks(sizes), refuse)
            found = self.kernels.setdefault(key, made)  # the same kernel for all threads
        return found

    def cached_kernel(self, key: Any, make: Callable[[], Kernel]) -> Kernel:
        """The kernel of this key; made at the first call and kept with the robot."""
        if key not in self.kernels:
            self.kernels[key] = make()
        return self.kernels[key]

    def checks(self, sizes: Mapping[str, int], only: Collection[str] | None = None) -> Checks:
        """Of the values a kernel computes with: finite, and with unit quaternions; or of these arguments only."""
        starts, inputs, place = list[int](), list[int](), 0
        for name, size in sizes.items():
            if only is None or name in only:
                inputs += range(place, place + size)
                if name in CONFIGURATIONS and size == self.model.nq:
                    starts += [place + quaternion.start for quaternion in self.inputs.quaternions]
            place += size
        return Checks(tuple(starts), QUATERNION_TOLERANCE, None if only is None else tuple(inputs))

    def refuse(
        self, sizes: Sequence[tuple[str, int]], plain: Callable[..., Any] | None, values: Sequence[Any], result: Any,
        only: Collection[str] | None = None,
    ) -> None:  # fmt: skip
        """Raise the error of what `checks` report; with ``plain``, the algorithm, also that of a result that is not finite."""
        arrays = {name: value for (name, _), value in zip(sizes, values, strict=True)}
        for name, size in sizes:
            if only is None or name in only:
                self.inputs.argument(arrays[name], size, name)
        results = result if isinstance(result, tuple) else (result,)
        if plain is not None and not all(np.isfinite(x).all() for x in results):
            self._explain_failure(plain, arrays, *results)

    def methods(self, algorithm: Algorithm, options: Mapping[str, Any]) -> list[tuple[Model, Function]]:
        """The methods to choose from, each with the model for which it needs the fewest operations."""
        return [(self.lean(algorithm, options, m.invariance), m.function) for m in algorithm.candidates(self.model)]

    def lean(self, algorithm: Algorithm, options: Mapping[str, Any], invariance: Invariance | None = None) -> Model:
        """The model with the fewest operations among those with the same results."""
        kind = invariance or algorithm.invariance
        if kind == "none":
            return self.model
        if options.get("frames"):
            kind = "regrouping"  # wrenches are given in the file's link frames
        if kind not in self._lean_models:
            moved = self.model if kind == "regrouping" else reframe(self.model, apart=kind == "matrices")
            self._lean_models[kind] = regroup(moved)
        return self._lean_models[kind]

    def _explain_failure(self, plain: Callable[..., Any], arrays: Mapping[str, Array], *results: Array) -> None:
        """Results that are not finite: the plain algorithm at the first such state raises the reason, if it knows one."""
        batch = broadcast_batch(arrays)
        flat = np.concatenate([np.reshape(x, (math.prod(batch), -1)) for x in results], axis=-1)
        bad = int(np.flatnonzero(~np.isfinite(flat).all(axis=1))[0])
        where = np.unravel_index(bad, batch) if batch else ()
        state = [np.broadcast_to(a, (*batch, a.shape[-1]))[where].astype(float) for a in arrays.values()]
        with np.errstate(all="ignore"):
            plain(*state)
        place = f" (state {list(map(int, where))} of the batch)" if batch else ""
        raise SingularError(
            f"the result is not finite at this state{place}: the mass matrix or the orientation coordinates are singular "
            "there, or entries of the state are too large"
        )

    def over_states(self, function: Callable[..., Array], size: int | None, **given: tuple[Any, int]) -> Array:
        arrays = {name: self.inputs.vector(value, length, name) for name, (value, length) in given.items()}
        if any(a.dtype == object for a in arrays.values()):
            raise InputError("this function takes numeric arguments, not symbols")
        batch = broadcast_batch(arrays)
        count = int(np.prod(batch))
        rows = [np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for a in arrays.values()]
        values = [function(*states) for states in zip(*rows, strict=True)]
        shape = (size,) if size is not None else (values or [function(*(np.zeros(a.shape[-1]) for a in rows))])[0].shape
        result = np.array(values).reshape((*batch, *shape))
        return result.astype(np.result_type(*arrays.values()))


def _converted(value: Any, dtype: Any) -> Any:
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        wanted = None
    if wanted is None or wanted not in PRECISIONS:  # None stands for float64 in NumPy
        raise InputError(f"dtype={dtype!r} is not available; choose numpy.float64 or numpy.float32")
    return value.astype(wanted) if hasattr(value, "astype") else np.asarray(value, wanted)


def key_of(algorithm: Algorithm, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """What distinguishes the compiled functions of one model from each other."""
    return (algorithm.name, *map(_identity, options.values())) if options else (algorithm.name,)


def _identity(option: Any) -> Any:
    if isinstance(option, Frame):
        return option.name
    if isinstance(option, tuple | list):
        return tuple(map(_identity, option))
    return getattr(option, "key", option)

"""Kernels: traced functions compiled in tiers, called on any batch, on all cores.

The first few states are interpreted. Then baseline code is compiled, which is quick to make; a background thread replaces it by
optimised code. Both are kept on disk for later processes. All tiers round alike, so the results do not depend on them.
Long code is optimised at once, since its baseline takes almost as long. ``DYNAMIS_TIER=quick`` leaves out the optimisation.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import cache as disk
from dynamis.compiler import jit
from dynamis.compiler.background import Background, collector_paused
from dynamis.compiler.batches import LATE, broadcast_batch, check_destination, in_threads, ordinary
from dynamis.compiler.code import Checks, Code, with_checks
from dynamis.compiler.cuda import CudaKernel, cupy_if_used, on_gpu
from dynamis.compiler.direct import Loops, connect, direct_function
from dynamis.compiler.forks import at_fork
from dynamis.compiler.gufunc import Gufunc, check_operands
from dynamis.compiler.interpreter import Interpreter, operations
from dynamis.compiler.llvm_text import modules
from dynamis.compiler.lowering import trace
from dynamis.errors import InputError, printable
from dynamis.scalar import Node, release_nodes

Array = npt.NDArray[Any]

QUICK, GOOD = 0, 2
INTERPRETED_STATES = 10  # before a function is compiled
WORTH_A_THREAD = 2 * LATE
UNLIMITED = 2**62
WORTH_A_BASELINE = 12_000  # instructions: longer code is optimised at once
WORTH_A_SINGLE = 20_000  # instructions: longer code is not compiled a second time for single states
WORTH_UNLOCKING = 40_000  # work during which other threads of the interpreter may run: some 10 µs
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def thread_count() -> int:
    """``DYNAMIS_NUM_THREADS``, or all cores."""
    text = os.environ.get("DYNAMIS_NUM_THREADS", "")
    return max(1, int(text)) if text.isdecimal() else os.cpu_count() or 1


@cache
def source_digest() -> str:
    """Of the package's own code: a changed algorithm must not find an old kernel."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Compiled:
    """One precision of a kernel, in memory."""

    gufunc: Gufunc
    loaded: list[jit.Loaded]  # earlier code stays: a call may still be running in it
    shapes: tuple[tuple[int, ...], ...]  # of the results
    instructions: int
    lanes: int = 2
    optimised: bool = False
    from_disk: bool = False
    single: Any = field(default_factory=ctypes.c_void_p * 1)  # the address of a loop for one state, or null
    loaded_single: list[jit.Loaded] = field(default_factory=list)

    @property
    def cost(self) -> int:
        """Instructions per state, counted for vectors of two states: half as many for vectors of four."""
        return max(1, 2 * self.instructions // self.lanes)

    def add_single(self, data: bytes) -> None:
        self.loaded_single.append(jit.Loaded(data))
        self.single[0] = self.loaded_single[-1].address


_handed_out: list[Compiled] = []
_kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
_background = Background()
wait_for_compiler = _background.wait


class Kernel:
    """A function of vectors, callable on arrays whose last axis they are; leading axes broadcast as in NumPy.

    Several functions may be given that compute the same: the one with the fewest operations is kept. ``identity`` is
    anything that, together with the package's own code, determines the function; with it a kernel can be found on disk
    without tracing. ``parameters`` are symbols the functions contain: their values are one more argument, the last. ``refuse``
    takes arrays and result of a call, and raises the error of what ``checks`` report; without it, calls are not checked.
    One state, or a batch of ordinary layout, is answered by machine code (see `direct`); ``out=`` is an array for the result.
    """

    # a call of an instance finds here the builtin, or `call` where there is none, without passing through Python
    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        arguments: Sequence[tuple[str, int]],
        name: str,
        identity: str | None = None,
        parameters: Sequence[Node] = (),
        checks: Checks | None = None,
        refuse: Callable[[Sequence[Array], Any], None] | None = None,
    ) -> None:
        self.name, self.parameters, self.checks, self.refuse = name, tuple(parameters), checks, refuse
        self.arguments = (*arguments, *([("parameters", len(parameters))] if parameters else []))
        self._identity = identity
        self._traced = cache(functools.partial(_cheapest, functions, tuple(arguments), name, self.parameters))
        self._compiled: dict[str, Compiled] = {}
        self._interpreter: Interpreter | None = None
        self._states_left = INTERPRETED_STATES if operations() else 0
        self.loops = Loops()
        self.__call__ = self.call
        self.checked: Callable[..., Any] = _not_answered  # in one thread; raises `UncheckedError` instead of reporting
        self.answer = self.checked  # likewise, also for batches worth several threads
        self.renew_lock()
        _kernels.add(self)

    def __repr__(self) -> str:
        return f"<Kernel {printable(self.name)} of {', '.join(f'{name} ({size})' for name, size in self.arguments)}>"

    def __reduce__(self) -> Any:
        raise InputError(f"{self.name} is machine code of this process and cannot be pickled; pickle the robot or the function")

    def renew_lock(self) -> None:
        """One that nobody holds: in a forked process the thread that compiles may be missing."""
        self._lock = threading.Lock()

    @property
    def code(self) -> Code:
        """The traced function; traced when first asked for."""
        return self._traced()

    @functools.cached_property
    def cuda(self) -> CudaKernel:
        """The same function for arrays on a GPU."""
        return CudaKernel(self.code)

    def on_gpu(self, *values: Any) -> Any | None:
        """The result for CuPy arrays of ordinary layout; None for all others."""
        cupy = cupy_if_used(values[0]) if values else None
        return None if cupy is None else self.cuda.ordinary(values, cupy)

    def state(self) -> str:
        """Compilation status as text."""
        if not self._compiled:
            return f"after {INTERPRETED_STATES} states" if self._states_left > 0 else "at the first call"
        names = {"double": "float64", "float": "float32"}
        parts = []
        for precision, compiled in self._compiled.items():
            optimised = compiled.optimised or len(compiled.loaded) > 1
            ready = "optimised" if optimised else "baseline code, optimisation pending"
            how = "from disk" if compiled.from_disk else ready
            parts.append(f"{names[precision]} {how}")
        return ", ".join(parts)

    def ufunc(self, precision: str = "double") -> Any:
        """The NumPy ufunc, with the least call overhead and NumPy's own errors.

        NumPy does not know that the ufunc needs our memory, so whatever is handed out here stays until the process ends.
        """
        compiled = self.compiled(precision)
        if compiled not in _handed_out:
            _handed_out.append(compiled)
        return compiled.gufunc.function

    def compiled(self, precision: str) -> Compiled:
        found = self._compiled.get(precision)
        if found is None:
            with self._lock:
                found = self._compiled.get(precision)
                if found is None:
                    found = self._compile(precision)
                    self._allow_direct_calls(precision, found)
                    self._compiled[precision] = found
        return found

    def _allow_direct_calls(self, precision: str, compiled: Compiled) -> None:
        bits = "float64" if precision == "double" else "float32"
        setattr(self.loops, f"{bits}_single", ctypes.addressof(compiled.single))
        setattr(self.loops, f"{bits}_loop", compiled.gufunc.place)
        if not self._compiled:
            self._serial = self._direct(self._by_ufunc, compiled, threads=1)
            self.__call__ = self._direct(self.call, compiled, checked=self.refuse is not None)
            if self.checks is not None:
                self.checked = self._direct(_not_answered, compiled, threads=1, checked=True)
                self.answer = self._direct(_not_answered, compiled, checked=True)

    def _direct(self, fallback: Callable[..., Any], compiled: Compiled, **options: Any) -> Callable[..., Any]:
        builtin = direct_function(self.name, fallback)
        return builtin if builtin is not None and self.connect(builtin, compiled, **options) else fallback

    def connect(
        self, builtin: Any, compiled: Compiled | None = None, *, checked: bool = False, threads: int | None = None
    ) -> bool:
        """From now on this kernel answers ordinary arrays given to the builtin, in batches too small for ``threads``.

        ``checked``: it leaves to the builtin's fallback states for which the kernel reports a value that is not finite.
        """
        if compiled is None:
            if not self._compiled:
                return False
            compiled = next(iter(self._compiled.values()))
        work, threads = compiled.cost, thread_count() if threads is None else threads
        return connect(
            builtin, self.loops, [size for _, size in self.arguments], compiled.shapes, checked=checked, owner=self._compiled,
            most_states=UNLIMITED if threads == 1 else WORTH_A_THREAD * threads // work,
            unlocked_from=WORTH_UNLOCKING // work,
        )  # fmt: skip

    def _key(self, precision: str) -> str:
        target = jit.host_target(precision)
        identity = self._identity or self.code.digest()
        parts = (identity, source_digest(), self.name, repr(self.arguments), repr(self.checks), repr(target),
                 *jit.processor(), jit.versions())  # fmt: skip
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _compile(self, precision: str) -> Compiled:
        key, target = self._key(precision), jit.host_target(precision)
        traced = functools.partial(_checked, self._traced, self.checks)
        improves = os.environ.get("DYNAMIS_TIER") != "quick"
        found = disk.load(key)
        if found is not None:
            note, data = found
            results = tuple((name, tuple(shape)) for name, shape in note["results"])
            code = Code(self.name, self.arguments, results, (), ())
        else:
            _background.postpone()
            with collector_paused():
                code = traced()
                check_operands(code)
                level = GOOD if improves and len(code.instructions) > WORTH_A_BASELINE else QUICK
                assemble = jit.assemble_meanwhile if level == GOOD else jit.assemble
                data = assemble(modules(code, target, quick=level == QUICK), level)
            note = {"results": code.results, "instructions": len(code.instructions), "level": level}
            disk.store(key, note, data, replace=level == GOOD)
        optimised = note["level"] == GOOD
        shapes = tuple(shape for _, shape in code.results)
        both, data = data, data[: len(data) - note.get("single", 0)]
        loaded = jit.Loaded(data)
        gufunc, instructions = Gufunc(code, precision, loaded.address), int(note["instructions"])
        compiled = Compiled(gufunc, [loaded], shapes, instructions, target.lanes, optimised, optimised and found is not None)
        if len(both) > len(data):
            compiled.add_single(both[len(data) :])
        single = jit.single_state_target(precision) if instructions <= WORTH_A_SINGLE else None
        if improves and not compiled.from_disk and not (optimised and single is None):
            wanted = weakref.ref(compiled)  # better code for a robot that is gone would be of no use
            better, ready = {**note, "level": GOOD}, data if optimised else b""
            texts = [functools.partial(lambda t: modules(traced(), t), t) for t in (target, single) if t is not None]
            _background.ask(self.name, lambda: Kernel._improve(wanted(), key, texts, better, ready))
        return compiled

    @staticmethod
    def _improve(
        compiled: Compiled | None, key: str, texts: Sequence[Callable[[], Iterator[str]]], note: dict[str, Any], data: bytes
    ) -> None:
        """Optimised code, unless ``data`` is that, and a second version of code that is not long for single states."""
        if compiled is None:
            return
        with collector_paused():
            if not data:
                data = jit.assemble(texts[0](), GOOD)
                loaded = jit.Loaded(data)
                compiled.loaded.append(loaded)
                compiled.gufunc.exchange(loaded.address)
            single = b""
            if len(texts) > 1:
                single = jit.assemble(texts[1](), GOOD)
                compiled.add_single(single)
        disk.store(key, {**note, "single": len(single)}, data + single)

    def call(self, *values: Any, out: Any = None) -> Any:
        """A call with any arrays: lists, other types, broadcasting, GPU arrays, batches for several threads."""
        if len(values) != len(self.arguments):
            names, count = ", ".join(name for name, _ in self.arguments), len(self.arguments)
            raise InputError(f"{self.name} takes {count} array{'s' * (count != 1)} ({names}), got {len(values)}")
        if any(map(on_gpu, values)):
            if out is not None:
                raise InputError("out= is not available for arrays on a GPU")
            return self.cuda(*values)
        arrays = [np.asarray(value) for value in values]
        for (name, size), array in zip(self.arguments, arrays, strict=True):
            if array.dtype.kind not in "biuf" or array.ndim == 0 or array.shape[-1] != size:
                raise InputError(
                    f"{name} must be a numeric array with {size} entries on its last axis; got {array.dtype} {array.shape}"
                )
        broadcast_batch({name: array for (name, _), array in zip(self.arguments, arrays, strict=True)})
        if self.refuse is None:
            return self.run(arrays, out)
        found = self.interpret(arrays) if out is None else None
        if found is None:
            self.prepare(arrays)
            try:
                return self.run(arrays, out, self.checked)
            except UncheckedError:
                found = self.run(arrays, out)
        self.refuse(arrays, found)
        return found

    @property
    def is_compiled(self) -> bool:
        return bool(self._compiled)

    def prepare(self, arrays: Sequence[Array]) -> Compiled:
        """Compile for these arrays: in single precision where all are, otherwise in double."""
        return self.compiled("float" if all(a.dtype == SINGLE for a in arrays) else "double")

    def interpret(self, arrays: Sequence[Array]) -> Any | None:
        """The results for the first few states of a function that is not compiled yet, in double precision; otherwise None.

        A function that an earlier process has asked for is compiled, so that the next one finds it on disk.
        """
        if self._states_left <= 0 or self._compiled or all(a.dtype == SINGLE for a in arrays):
            return None
        self._states_left -= max(1, math.prod(np.broadcast_shapes(*(a.shape[:-1] for a in arrays))))
        if self._states_left < 0:
            return None
        if self._interpreter is None:
            if disk.is_wanted(self._key("double")):
                self._states_left = 0
                return None
            check_operands(self.code)
            self._interpreter = Interpreter(self.code)
        return self._interpreter(arrays)

    def run(self, arrays: Sequence[Array], out: Any = None, serial: Callable[..., Any] | None = None) -> Any:
        """The results for arrays of real numbers whose last axes fit. ``serial`` computes a batch in one thread."""
        if out is None and serial is None and (found := self.interpret(arrays)) is not None:
            return found
        compiled, serial = self.prepare(arrays), serial or self._serial
        dtype = SINGLE if all(a.dtype == SINGLE for a in arrays) else DOUBLE
        shapes = {a.shape[:-1] for a in arrays}
        batch = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        arrays = [ordinary(a, dtype, batch) for a in arrays]
        if out is not None:
            check_destination(out, [(*batch, *shape) for shape in compiled.shapes], dtype)
        threads = thread_count()
        outs = () if out is None else out if isinstance(out, tuple) else (out,)
        apart = all(x.flags.c_contiguous and not np.may_share_memory(a, x) for a in arrays for x in outs)
        if threads == 1 or not apart or compiled.cost * math.prod(batch) < WORTH_A_THREAD * threads:
            return serial(*arrays, out=out)
        return in_threads(serial, compiled.cost, compiled.shapes, arrays, batch, threads, out)

    def _by_ufunc(self, *arrays: Array, out: Any = None) -> Any:
        """Through NumPy, which knows all layouts."""
        compiled = self.compiled("double" if arrays[0].dtype == DOUBLE else "float")
        if out is None:
            # NumPy makes the arrays it can know the size of
            batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
            outs = tuple(None if all(shape) else np.empty((*batch, *shape), arrays[0].dtype) for shape in compiled.shapes)
        else:
            outs = out if isinstance(out, tuple) else (out,)
        with np.errstate(all="ignore"):  # the caller checks finiteness
            return compiled.gufunc.function(*arrays, out=outs)


class UncheckedError(Exception):
    """Machine code has not established that all values are finite."""


def _not_answered(*_values: Any, **_options: Any) -> Any:
    raise UncheckedError


def _cheapest(
    functions: Sequence[Callable[..., Any]], arguments: tuple[tuple[str, int], ...], name: str, parameters: tuple[Node, ...]
) -> Code:
    """The function with the fewest operations, traced."""
    codes = (trace(function, arguments, name, parameters) for function in functions)
    cheapest = min(codes, key=lambda code: len(code.instructions))
    release_nodes()
    return cheapest


def _checked(traced: Callable[[], Code], checks: Checks | None) -> Code:
    return traced() if checks is None else with_checks(traced(), checks)


def _renew_locks() -> None:
    for kernel in _kernels:
        kernel.renew_lock()


at_fork(after_in_child=_renew_locks)

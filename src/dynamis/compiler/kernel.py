"""Kernels: traced functions compiled in two tiers, called on any batch, on all cores.

The first call uses baseline code, which is quick to make; a background thread replaces it by optimised code. Both are kept
on disk for later processes, and round alike, so the results do not depend on the tier. ``DYNAMIS_TIER=quick`` leaves out the
optimisation.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import cache as disk
from dynamis.compiler import jit
from dynamis.compiler.background import Background
from dynamis.compiler.code import Code
from dynamis.compiler.cuda import CudaKernel, on_gpu
from dynamis.compiler.forks import at_fork
from dynamis.compiler.gufunc import Gufunc, check_operands
from dynamis.compiler.llvm_text import render
from dynamis.compiler.lowering import trace
from dynamis.compiler.threads import share
from dynamis.errors import InputError, printable
from dynamis.scalar import Node

Array = npt.NDArray[Any]

QUICK, GOOD = 0, 2
LATE = 200_000  # work, in instructions times states, that is done while a sleeping thread wakes: some 0.05 ms
WORTH_A_THREAD = 2 * LATE
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
    from_disk: bool = False


_handed_out: list[Compiled] = []
_kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
_background = Background()
wait_for_compiler = _background.wait


class Kernel:
    """A function of vectors, callable on arrays whose last axis they are; leading axes broadcast as in NumPy.

    Several functions may be given that compute the same: the one with the fewest operations is kept. ``identity`` is
    anything that, together with the package's own code, determines the function; with it a kernel can be found on disk
    without tracing. ``parameters`` are symbols the functions contain: their values are one more argument, the last.
    """

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        arguments: Sequence[tuple[str, int]],
        name: str,
        identity: str | None = None,
        parameters: Sequence[Node] = (),
    ) -> None:
        self.name, self.parameters = name, tuple(parameters)
        self.arguments = (*arguments, *([("parameters", len(parameters))] if parameters else []))
        self._identity = identity
        self._traced = cache(functools.partial(_cheapest, functions, tuple(arguments), name, self.parameters))
        self._compiled: dict[str, Compiled] = {}
        self.renew_lock()
        _kernels.add(self)

    def __repr__(self) -> str:
        return f"<Kernel {printable(self.name)} of {', '.join(f'{name} ({size})' for name, size in self.arguments)}>"

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

    def state(self) -> str:
        """Compilation status as text."""
        if not self._compiled:
            return "at the first call"
        names = {"double": "float64", "float": "float32"}
        parts = []
        for precision, compiled in self._compiled.items():
            how = (
                "from disk"
                if compiled.from_disk
                else "optimised"
                if len(compiled.loaded) > 1
                else "baseline code, optimisation pending"
            )
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

    @property
    def ready(self) -> Any | None:
        """The ufunc in double precision, if it is there already."""
        compiled = self._compiled.get("double")
        return None if compiled is None else compiled.gufunc.function

    def compiled(self, precision: str) -> Compiled:
        found = self._compiled.get(precision)
        if found is None:
            with self._lock:
                found = self._compiled.get(precision)
                if found is None:
                    found = self._compiled[precision] = self._compile(precision)
        return found

    def _key(self, precision: str) -> str:
        target = jit.host_target(precision)
        identity = self._identity or self.code.digest()
        parts = (identity, source_digest(), self.name, repr(self.arguments), repr(target), *jit.processor(), jit.versions())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _compile(self, precision: str) -> Compiled:
        key, target, traced = self._key(precision), jit.host_target(precision), self._traced
        found = disk.load(key)
        if found is not None:
            note, data = found
            results = tuple((name, tuple(shape)) for name, shape in note["results"])
            code = Code(self.name, self.arguments, results, (), ())
        else:
            _background.postpone()
            code = traced()
            check_operands(code)
            data = jit.assemble(render(code, target, quick=True), QUICK)
            note = {"results": code.results, "instructions": len(code.instructions), "level": QUICK}
            disk.store(key, note, data, replace=False)
        optimised = note["level"] == GOOD
        shapes = tuple(shape for _, shape in code.results)
        loaded = jit.Loaded(data)
        compiled = Compiled(Gufunc(code, precision, loaded.address), [loaded], shapes, int(note["instructions"]), optimised)
        if not optimised and os.environ.get("DYNAMIS_TIER") != "quick":
            wanted = weakref.ref(compiled)  # better code for a robot that is gone would be of no use
            better = {**note, "level": GOOD}
            _background.ask(self.name, lambda: Kernel._improve(wanted(), key, lambda: render(traced(), target), better))
        return compiled

    @staticmethod
    def _improve(compiled: Compiled | None, key: str, text: Callable[[], str], note: dict[str, Any]) -> None:
        if compiled is None:
            return
        data = jit.assemble(text(), GOOD)
        loaded = jit.Loaded(data)
        compiled.loaded.append(loaded)
        compiled.gufunc.exchange(loaded.address)
        disk.store(key, note, data)

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self.arguments):
            names = ", ".join(name for name, _ in self.arguments)
            raise InputError(f"{self.name} takes {len(self.arguments)} arrays ({names}), got {len(values)}")
        if any(map(on_gpu, values)):
            return self.cuda(*values)
        arrays = [np.asarray(value) for value in values]
        for (name, size), array in zip(self.arguments, arrays, strict=True):
            if array.dtype.kind not in "biuf" or array.ndim == 0 or array.shape[-1] != size:
                raise InputError(
                    f"{name} must be a numeric array with {size} entries on its last axis; got {array.dtype} {array.shape}"
                )
        # single precision where all is, otherwise double: decided here for every batch, however it is computed
        precision, dtype = ("float", SINGLE) if {a.dtype for a in arrays} == {SINGLE} else ("double", DOUBLE)
        arrays = [a if a.dtype == dtype else a.astype(dtype) for a in arrays]
        compiled = self.compiled(precision)
        shapes = {a.shape[:-1] for a in arrays}
        batch = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        if batch and (threads := thread_count()) > 1 and compiled.instructions * math.prod(batch) >= WORTH_A_THREAD * threads:
            return _in_threads(compiled, arrays, batch, threads)
        # NumPy makes the arrays it can know the size of
        outs = (None if all(shape) else np.empty((*batch, *shape), dtype) for shape in compiled.shapes)
        with np.errstate(all="ignore"):  # the caller checks finiteness
            return compiled.gufunc.function(*arrays, out=tuple(outs))


def _cheapest(
    functions: Sequence[Callable[..., Any]], arguments: tuple[tuple[str, int], ...], name: str, parameters: tuple[Node, ...]
) -> Code:
    """The function with the fewest operations, traced."""
    codes = (trace(function, arguments, name, parameters) for function in functions)
    return min(codes, key=lambda code: len(code.instructions))


def _renew_locks() -> None:
    for kernel in _kernels:
        kernel.renew_lock()


at_fork(after_in_child=_renew_locks)


def _in_threads(compiled: Compiled, arrays: Sequence[Array], batch: tuple[int, ...], threads: int) -> Any:
    """The batch in slices of its longest axis; each slice is a call of its own, without the interpreter's lock."""
    axis = batch.index(max(batch))
    # the caller begins at once, so it takes more, and need not wait for the others
    work = max(1, compiled.instructions * math.prod(batch))
    own = min(1.0, (1.0 + (threads - 1) * LATE / work) / threads)
    edges = [0, *(round(batch[axis] * (own + (1.0 - own) * k / (threads - 1))) for k in range(threads))]
    full = [a if a.shape[:-1] == batch else np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays]
    at = [(slice(None),) * axis + (slice(low, high),) for low, high in itertools.pairwise(edges)]
    outs = tuple(np.empty((*batch, *shape), arrays[0].dtype) for shape in compiled.shapes)

    def run(where: tuple[slice, ...]) -> None:
        with np.errstate(all="ignore"):
            compiled.gufunc.function(*(a[where] for a in full), out=tuple(out[where] for out in outs))

    share(run, at)
    return outs[0] if len(outs) == 1 else outs

"""What is called: a traced function, compiled twice, over any batch, on all cores.

The first call answers from code that is quick to make; better code replaces it as soon as a background thread has made it,
and is kept on disk for the next time. Both round alike, so nobody can tell from the results. ``DYNAMIS_TIER=quick`` leaves
it at the first.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import cache as disk
from dynamis.compiler import jit
from dynamis.compiler.code import Code
from dynamis.compiler.gufunc import Gufunc
from dynamis.compiler.llvm_text import render
from dynamis.compiler.lowering import trace
from dynamis.errors import InputError

Array = npt.NDArray[Any]

QUICK, GOOD = 0, 2
WORTH_A_THREAD = 200_000  # instructions times states


def thread_count() -> int:
    """``DYNAMIS_NUM_THREADS``, or all cores."""
    text = os.environ.get("DYNAMIS_NUM_THREADS", "")
    return max(1, int(text)) if text.isdigit() else os.cpu_count() or 1


@cache
def _workers(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="dynamis")


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
    instructions: int


_handed_out: list[Compiled] = []


class Kernel:
    """A function of vectors, callable on arrays whose last axis they are; leading axes broadcast as in NumPy.

    Several functions may be given that compute the same: the one with the fewest operations is kept. ``identity`` is
    anything that, together with the package's own code, determines the function; with it a kernel can be found on disk
    without tracing.
    """

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        arguments: Sequence[tuple[str, int]],
        name: str,
        identity: str | None = None,
    ) -> None:
        self.name, self.arguments = name, tuple(arguments)
        self._functions, self._identity = functions, identity
        self._code: Code | None = None
        self._compiled: dict[str, Compiled] = {}
        self._lock = threading.Lock()

    @property
    def code(self) -> Code:
        """The traced function; traced when first asked for."""
        if self._code is None:
            candidates = [trace(function, self.arguments, self.name) for function in self._functions]
            self._code = min(candidates, key=lambda code: len(code.instructions))
        return self._code

    def ufunc(self, precision: str = "double") -> Any:
        """The bare NumPy ufunc: the quickest way to call, with NumPy's own errors.

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
                    found = self._compiled[precision] = self._compile(precision)
        return found

    def _key(self, precision: str) -> str:
        target = jit.host_target(precision)
        identity = self._identity or self.code.digest()
        parts = (identity, source_digest(), self.name, repr(self.arguments), repr(target), *jit.processor(), jit.versions())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _compile(self, precision: str) -> Compiled:
        key = self._key(precision)
        found = disk.load(key)
        if found is not None:
            note, data = found
            loaded = jit.Loaded(data)
            results = tuple((name, tuple(shape)) for name, shape in note["results"])
            shell = Code(self.name, self.arguments, results, (), ())
            return Compiled(Gufunc(shell, precision, loaded.address), [loaded], int(note["instructions"]))
        code = self.code
        text = render(code, jit.host_target(precision))
        loaded = jit.Loaded(jit.assemble(text, QUICK))
        compiled = Compiled(Gufunc(code, precision, loaded.address), [loaded], len(code.instructions))
        note = {"results": code.results, "instructions": len(code.instructions)}
        if os.environ.get("DYNAMIS_TIER") != "quick":
            _background.ask(lambda: self._improve(compiled, key, text, note))
        return compiled

    @staticmethod
    def _improve(compiled: Compiled, key: str, text: str, note: dict[str, Any]) -> None:
        data = jit.assemble(text, GOOD)
        loaded = jit.Loaded(data)
        compiled.loaded.append(loaded)
        compiled.gufunc.exchange(loaded.address)
        disk.store(key, note, data)

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self.arguments):
            names = ", ".join(name for name, _ in self.arguments)
            raise InputError(f"{self.name} takes {len(self.arguments)} arrays ({names}), got {len(values)}")
        arrays = [np.asarray(value) for value in values]
        for (name, size), array in zip(self.arguments, arrays, strict=True):
            if array.dtype.kind not in "biuf" or array.ndim == 0 or array.shape[-1] != size:
                raise InputError(f"{name} must hold numbers, {size} on its last axis; got {array.dtype} {array.shape}")
        precision = "float" if all(a.dtype == np.float32 for a in arrays) else "double"
        compiled = self.compiled(precision)
        function = compiled.gufunc.function
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        threads = thread_count()
        if not batch or threads == 1 or compiled.instructions * int(np.prod(batch)) < WORTH_A_THREAD * threads:
            with np.errstate(all="ignore"):  # whether a result is finite is judged by whoever asked for it
                return function(*arrays)
        return _in_threads(function, arrays, batch, threads)


def _in_threads(function: Any, arrays: Sequence[Array], batch: tuple[int, ...], threads: int) -> Any:
    """The batch in slices of its longest axis; each slice is a call of its own, without the interpreter's lock."""
    axis = int(np.argmax(batch))
    edges = [round(k * batch[axis] / threads) for k in range(threads + 1)]
    full = [np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays]
    at = [(slice(None),) * axis + (slice(low, high),) for low, high in itertools.pairwise(edges)]
    shapes = [tuple(int(s) for s in part.strip("()").split(",") if s) for part in function.signature.split("->")[1].split("),")]
    dtype = np.result_type(*arrays)
    outs = tuple(np.empty((*batch, *shape), dtype=dtype) for shape in shapes)

    def run(where: tuple[slice, ...]) -> None:
        with np.errstate(all="ignore"):
            function(*(a[where] for a in full), out=tuple(out[where] for out in outs))

    list(_workers(threads).map(run, at))
    return outs[0] if len(outs) == 1 else outs


class _Background:
    """One thread that makes better code, one kernel after another."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._open = 0
        self._idle = threading.Condition()

    def ask(self, job: Callable[[], None]) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dynamis compiler", daemon=True)
                self._thread.start()
                atexit.register(self._stop)
        with self._idle:
            self._open += 1
        self._jobs.put(job)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            finally:
                with self._idle:
                    self._open -= 1
                    self._idle.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until everything asked for is done."""
        with self._idle:
            return self._idle.wait_for(lambda: self._open == 0, timeout)

    def _stop(self) -> None:
        # what is waiting is dropped; what is being compiled is let finish, as LLVM cannot be interrupted
        while not self._jobs.empty():
            self._jobs.get_nowait()
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(30.0)


_background = _Background()
wait_for_compiler = _background.wait

"""Executors: local processes, or the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from dynamis.errors import InputError, MissingExtraError, ReachWarning

CONNECTION_TIMEOUT = 30.0  # s until a scheduler that does not answer, or has no workers, is given up


@dataclass(frozen=True)
class Crew:
    """An executor, its number of workers, how to renew it when it breaks, and whether its workers are lost."""

    executor: Executor
    size: int
    renew: Callable[[], Executor] | None = None
    gone: Callable[[], bool] = lambda: False


class LocalPool:
    """A pool of local processes, renewed when one of them dies; they end with this process."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (type(workers) is not int or not 1 <= workers <= 1024):
            raise InputError(f"workers = {workers!r}: give an integer from 1 to 1024")
        self.size = workers or len(os.sched_getaffinity(0) if sys.platform == "linux" else range(os.cpu_count() or 1))
        self._context = multiprocessing.get_context("spawn")
        self._life, self._held = self._context.Pipe(duplex=False)
        self.executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        executor = ProcessPoolExecutor(self.size, self._context, _prepare, (self._life,))
        try:
            executor.submit(_ready).result()
        except BrokenProcessPool:
            raise InputError(
                "worker processes exit at start: in a script, call sweep under if __name__ == '__main__':, "
                "or give executor= (a ThreadPoolExecutor starts no processes)"
            ) from None
        return executor

    def renew(self) -> Executor:
        """Replace a broken pool."""
        self.executor.shutdown(wait=True, cancel_futures=True)
        self.executor = self._start()
        return self.executor

    def close(self, at_once: bool) -> None:
        """Shut the processes down, after their work or immediately."""
        if at_once:
            self._held.close()
        self.executor.shutdown(wait=True, cancel_futures=True)
        self._held.close()
        self._life.close()


def _prepare(life: Connection) -> None:
    """Initialise a worker: fast compilation, one thread, Ctrl-C ignored, exit when the pipe closes.

    Warnings of the study were given when it was read.
    """
    warnings.simplefilter("ignore", ReachWarning)
    os.environ["DYNAMIS_TIER"] = "quick"
    os.environ["DYNAMIS_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_module("dynamis.sweeps.cases")  # what cannot be imported shows before any work is handed out
    threading.Thread(target=_end_with, args=(life,), daemon=True).start()


def _end_with(life: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        life.recv_bytes()
    os._exit(1)


def _ready() -> bool:
    return True


@contextlib.contextmanager
def dask_crew(address: str) -> Iterator[Crew]:
    """The workers of a Dask scheduler."""
    try:
        import distributed

        make: Any = distributed.Client  # untyped there
    except ImportError:
        raise MissingExtraError("a scheduler requires Dask: pip install 'dynamis[distributed]'") from None
    try:
        client = make(address, timeout=CONNECTION_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no Dask scheduler at {address!r} ({error.__class__.__name__}): start one with `dask scheduler`, and give "
            "the address it prints, such as tcp://10.0.0.5:8786"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECTION_TIMEOUT)
        except TimeoutError:
            raise InputError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`") from None
        size = max(1, sum(client.nthreads().values()))
        yield Crew(client.get_executor(), size, gone=lambda: client.status in ("closing", "closed"))

"""How many cores are in use: set for the libraries before they are loaded, and changed between turns."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import metadata

XLA_FLAGS = ["--xla_cpu_multi_thread_eigen=false", "intra_op_parallelism_threads=1"]
# what frax recommends for a processor; JAX before 0.9.1 does not know it, and stops at what it does not know
XLA_SCHEDULER = "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
OURS_TO_USE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def prepare_libraries() -> None:
    """One core, for everything that decides this when it is loaded."""
    flags = [*XLA_FLAGS, *([XLA_SCHEDULER] if _jax_version() >= (0, 9, 1) else [])]
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    os.environ["XLA_FLAGS"] = " ".join(flags)


def _jax_version() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in metadata.version("jax").split(".")[:3] if part.isdigit())
    except metadata.PackageNotFoundError:
        return (0,)


def available() -> int:
    return len(OURS_TO_USE) or os.cpu_count() or 1


def use(count: int) -> None:
    """This many threads of ours, on whichever cores are free."""
    os.environ["DYNAMIS_NUM_THREADS"] = str(count)
    _allow(OURS_TO_USE)


def stay_on_one() -> None:
    """One core and no other, where the system lets us say so: XLA takes a second one whatever its flags say.

    Threads that are started now inherit it.
    """
    _allow(OURS_TO_USE[-1:])


def _allow(cores: list[int]) -> None:
    if cores:
        os.sched_setaffinity(0, cores)


def using(count: int) -> Callable[[], None]:
    """What to do before a turn on this many threads."""
    return lambda: use(count)

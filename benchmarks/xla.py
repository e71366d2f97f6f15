"""JAX on one core in double precision, for the rivals that are built on it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import cores
from benchmarks.offers import Offer

Array = npt.NDArray[Any]


@cache
def jax_in_double() -> Any:
    cores.stay_on_one()  # for the threads it starts
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jax.devices()
    cores.use(1)
    return jax


def compiled_offer(
    function: Callable[..., Any], given: tuple[Array, ...], as_ours: Callable[[Array], Array], how: str
) -> Offer:
    """A function of whole batches, compiled, with its arguments already where JAX wants them."""
    jax = jax_in_double()
    call = jax.jit(function)
    held = tuple(jax.numpy.asarray(x) for x in given)
    found: dict[str, Any] = {}

    def run() -> None:
        found["result"] = call(*held).block_until_ready()

    return Offer(run, lambda: as_ours(np.array(found["result"])), len(given[0]), how, wants_more_cores=True)

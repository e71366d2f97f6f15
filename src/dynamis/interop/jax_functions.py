"""Compiled functions as JAX functions: values and Jacobians by machine code, a whole batch per call.

XLA calls the code itself (`xla_calls`), on the processor or, with CuPy, on an NVIDIA GPU. Callbacks into Python take its place
on other devices, in versions of JAX without foreign functions, and on the processor for batches that are worth several threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from dynamis.compiler.kernel import WORTH_A_THREAD, thread_count
from dynamis.errors import InputError, MissingExtraError
from dynamis.interop.differentiable import Differentiable
from dynamis.interop.xla_calls import layout_of, xla_target


def jax_function(function: Differentiable) -> Callable[..., Any]:
    """A function of JAX arrays with ``custom_jvp``: tangents are Jacobians times tangents, so that JAX can transpose them."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise MissingExtraError("JAX functions require JAX: pip install 'dynamis[jax]'") from None
    try:
        from jax import ffi
    except ImportError:  # before JAX 0.5
        ffi = None
    kernel = function.kernel

    def value(*arguments: Any) -> Any:
        dtype = jnp.result_type(float, *arguments)
        if not jnp.issubdtype(dtype, jnp.floating):
            raise InputError(f"{function.name} takes arrays of real numbers, got {dtype}")
        computed = dtype if dtype in (np.float32, np.float64) else np.float32  # half precision too
        given = [jnp.asarray(x, computed) for x in arguments]
        function.check(given)
        rank = max(x.ndim for x in given)
        return _varying(batch(*(x.reshape((1,) * (rank - x.ndim) + x.shape) for x in given)), given).astype(dtype)

    def of_batch(*arrays: Any) -> Any:
        """Of arrays with the same number of axes; those of the batch may have length 1."""
        shape, dtype = np.broadcast_shapes(*(x.shape[:-1] for x in arrays)), arrays[0].dtype
        result = jax.ShapeDtypeStruct((*shape, *function.shape), dtype)

        def callback(*x: Any) -> Any:
            return jax.pure_callback(call, result, *x, vmap_method="sequential")

        count, precision = math.prod(shape), "double" if dtype == np.float64 else "float"
        if ffi is None or not count:
            return callback(*arrays)
        # all states, or one for all
        whole = [x if x.shape[:-1] == shape or math.prod(x.shape[:-1]) == 1 else jnp.broadcast_to(x, (*shape, x.shape[-1]))
                 for x in arrays]  # fmt: skip
        batched = [x.shape[:-1] == shape for x in whole]

        def foreign(platform: str, width: int) -> Callable[..., Any]:
            layout = layout_of(kernel, function.shape, count, batched, width)
            return lambda *x: ffi.ffi_call(xla_target(ffi, kernel, precision, platform), result)(*x, layout=layout)

        threads = thread_count()
        shared = threads > 1 and kernel.compiled(precision).cost * count >= WORTH_A_THREAD * threads
        devices = {"cpu": callback if shared else foreign("cpu", dtype.itemsize)}
        if _has_gpu():
            devices["cuda"] = foreign("CUDA", 1)
        return jax.lax.platform_dependent(*whole, **devices, default=callback)

    def of_mapped(_length: int, is_mapped: list[bool], *arrays: Any) -> tuple[Any, bool]:
        return batch(*(x if own else x[None] for own, x in zip(is_mapped, arrays, strict=True))), True

    batch: Any = jax.custom_batching.custom_vmap(of_batch)
    batch.def_vmap(of_mapped)

    def call(*arrays: Any) -> Any:
        return np.asarray(kernel.run([np.asarray(x) for x in arrays]), arrays[0].dtype)

    jacobian = lru_cache(maxsize=1)(lambda: jax_function(function.jacobian))

    def tangent(primals: Any, tangents: Any) -> Any:
        J, batch = jacobian()(*primals), jnp.broadcast_shapes(*(x.shape[:-1] for x in primals))
        change = jnp.concatenate([jnp.broadcast_to(t, (*batch, t.shape[-1])) for t in tangents], axis=-1)
        along = change.reshape(*batch, *(1,) * len(function.shape), -1)
        return evaluate(*primals), (J * along).sum(-1)

    value.__name__ = value.__qualname__ = function.name
    evaluate: Callable[..., Any] = jax.custom_jvp(value)
    evaluate.defjvp(tangent)  # type: ignore[attr-defined]

    def called(*arguments: Any, **named: Any) -> Any:
        return evaluate(*function.in_order(arguments, named))

    called.__name__ = called.__qualname__ = function.name
    return called


def _varying(result: Any, arguments: Sequence[Any]) -> Any:
    """The result as one that differs between the devices of a ``shard_map`` where the arguments do.

    JAX takes what machine code returns for equal on all devices. Products of no numbers, which are 1 and which XLA removes,
    relate it to the arguments in all versions of JAX.
    """
    import jax

    if any(isinstance(x, jax.core.Tracer) for x in arguments):
        result = result * math.prod(x[..., :0].prod() for x in arguments)
    return result


@lru_cache(maxsize=1)
def _has_gpu() -> bool:
    """Whether JAX has an NVIDIA GPU, and CuPy, which compiles for it."""
    import jax

    return find_spec("cupy") is not None and any(device.platform == "gpu" for device in jax.devices())

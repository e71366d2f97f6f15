"""Compiled functions as JAX functions: values and Jacobians by callbacks, which run whole batches of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.errors import MissingExtraError
from dynamis.interop.differentiable import Differentiable


def jax_function(function: Differentiable) -> Callable[..., Any]:
    """A function of JAX arrays with ``custom_jvp``: tangents are Jacobians times tangents, so that JAX can transpose them."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise MissingExtraError("JAX functions require JAX: pip install jax") from None

    def value(*arguments: Any) -> Any:
        dtype = jnp.result_type(float, *arguments)
        given = [jnp.asarray(x, dtype) for x in arguments]
        function.check([x.shape for x in given])
        batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in given))
        result = jax.ShapeDtypeStruct((*batch, *function.shape), dtype)
        call = lambda *arrays: np.asarray(function.kernel(*map(np.asarray, arrays)), dtype)  # noqa: E731
        # arguments without the axis that is mapped get one of length 1, which the kernel broadcasts
        return jax.pure_callback(call, result, *given, vmap_method="expand_dims")

    differentiated: list[Callable[..., Any]] = []

    def tangent(primals: Any, tangents: Any) -> Any:
        if not differentiated:
            differentiated.append(jax_function(function.jacobian))
        J, batch = differentiated[0](*primals), jnp.broadcast_shapes(*(x.shape[:-1] for x in primals))
        change = jnp.concatenate([jnp.broadcast_to(t, (*batch, t.shape[-1])) for t in tangents], axis=-1)
        along = change.reshape(*batch, *(1,) * len(function.shape), -1)
        return evaluate(*primals), (J * along).sum(-1)

    value.__name__ = value.__qualname__ = function.name
    evaluate: Callable[..., Any] = jax.custom_jvp(value)
    evaluate.defjvp(tangent)  # type: ignore[attr-defined]
    return evaluate

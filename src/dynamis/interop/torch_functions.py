"""Compiled functions as PyTorch functions with gradients of any order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.compiler.cuda import queued_on
from dynamis.errors import InputError, MissingExtraError
from dynamis.interop.differentiable import Differentiable

_count = itertools.count()


def torch_function(function: Differentiable) -> Callable[..., Any]:
    """A function of tensors; its gradient is the transposed Jacobian, a differentiable function in turn, times the output's."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("PyTorch functions require PyTorch: pip install 'dynamis[torch]'") from None
    differentiated: list[Callable[..., Any]] = []

    def jacobian(*arguments: Any) -> Any:
        if not differentiated:
            differentiated.append(torch_function(function.jacobian))
        return differentiated[0](*arguments)

    def run(*arguments: Any) -> Any:
        if arguments[0].is_cuda:
            with queued_on(torch.cuda.current_stream(arguments[0].device).cuda_stream, arguments[0].device.index):
                return torch.from_dlpack(function.kernel.cuda(*(x.detach() for x in arguments)))
        return torch.from_numpy(np.asarray(function.kernel(*(x.detach().numpy() for x in arguments))))  # or a NumPy number

    def keep(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001, names given by PyTorch
        ctx.save_for_backward(*inputs)

    def pull_back(ctx: Any, gradient: Any) -> Any:
        arguments = ctx.saved_tensors
        J = jacobian(*arguments)
        axes = tuple(range(-1 - len(function.shape), -1))
        total = (J * gradient.unsqueeze(-1)).sum(axes) if axes else J * gradient.unsqueeze(-1)
        parts = torch.split(total, function.sizes, dim=-1)
        return tuple(_as_argument(part, x) for part, x in zip(parts, arguments, strict=True))

    # what torch.compile leaves as it is: shape and gradient are known, the inside is not looked at
    schema = f"({', '.join(f'Tensor x{k}' for k in range(len(function.sizes)))}) -> Tensor"
    operation = torch.library.custom_op(f"dynamis::function{next(_count)}", run, mutates_args=(), schema=schema)
    operation.register_fake(
        lambda *x: x[0].new_empty((*torch.broadcast_shapes(*(one.shape[:-1] for one in x)), *function.shape))
    )
    operation.register_autograd(pull_back, setup_context=keep)

    class Evaluation(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
        """The same with the transforms of torch.func."""

        backward = staticmethod(pull_back)

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return operation(*arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            keep(ctx, inputs, output)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def vmap(_: Any, dims: Any, *arguments: Any) -> Any:
            rank = max(x.ndim - (dim is not None) for x, dim in zip(arguments, dims, strict=True))
            return Evaluation.apply(*(_leading(x, dim, rank) for x, dim in zip(arguments, dims, strict=True))), 0

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            J = jacobian(*ctx.saved_tensors)
            change = torch.cat([x.expand(*J.shape[: J.ndim - 1 - len(function.shape)], -1) for x in tangents], dim=-1)
            return (J * change.reshape(*change.shape[:-1], *(1,) * len(function.shape), -1)).sum(-1)

    def evaluate(*arguments: Any) -> Any:
        try:
            given = [torch.as_tensor(x) for x in arguments]
        except (RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{function.name} takes tensors or arrays of numbers: {error}") from None
        places = {x.device for x in given}
        if len(places) > 1 or {place.type for place in places} - {"cpu", "cuda"}:
            found = ", ".join(sorted(map(str, places)))
            raise InputError(f"{function.name} takes tensors on the processor or on one NVIDIA GPU, got some on {found}")
        dtypes = {x.dtype for x in given if x.is_floating_point()}
        dtype = torch.float32 if dtypes == {torch.float32} else torch.float64
        function.check([tuple(x.shape) for x in given])
        apply = operation if torch.compiler.is_compiling() else Evaluation.apply
        return apply(*(x.to(dtype).contiguous() for x in given))

    evaluate.__name__ = evaluate.__qualname__ = function.name
    return evaluate


def _leading(x: Any, dim: int | None, rank: int) -> Any:
    """The mapped axis first, and axes of length 1 behind it in place of those that other arguments have."""
    if dim is None:
        return x
    first = x.movedim(dim, 0)
    return first.reshape(len(first), *(1,) * (rank - first.ndim + 1), *first.shape[1:])


def _as_argument(gradient: Any, argument: Any) -> Any:
    """The gradient of an argument that was broadcast: summed over the axes of the batch it does not have."""
    extra = gradient.ndim - argument.ndim
    gradient = gradient.sum(tuple(range(extra))) if extra else gradient
    held = tuple(k for k, (have, want) in enumerate(zip(gradient.shape, argument.shape, strict=True)) if have != want)
    return gradient.sum(held, keepdim=True) if held else gradient

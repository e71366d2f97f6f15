"""Compiled functions as PyTorch functions with gradients of any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError
from dynamis.interop.differentiable import Differentiable


def torch_function(function: Differentiable) -> Callable[..., Any]:
    """A function of tensors; its gradient is the transposed Jacobian, a differentiable function in turn, times the output's."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("PyTorch functions require PyTorch: pip install torch") from None
    differentiated: list[Callable[..., Any]] = []

    class Evaluation(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
        @staticmethod
        def forward(*arguments: Any) -> Any:
            arrays = [x.detach().numpy() for x in arguments]
            return torch.from_numpy(np.asarray(function.kernel(*arrays)))  # a scalar result is a NumPy number

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG004, names given by PyTorch
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            if not differentiated:
                differentiated.append(torch_function(function.jacobian))
            arguments = ctx.saved_tensors
            J = differentiated[0](*arguments)
            axes = tuple(range(-1 - len(function.shape), -1))
            total = (J * gradient.unsqueeze(-1)).sum(axes) if axes else J * gradient.unsqueeze(-1)
            parts = torch.split(total, function.sizes, dim=-1)
            return tuple(_as_argument(part, x) for part, x in zip(parts, arguments, strict=True))

    def evaluate(*arguments: Any) -> Any:
        try:
            given = [torch.as_tensor(x) for x in arguments]
        except (RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{function.name} takes tensors or arrays of numbers: {error}") from None
        if any(x.device.type != "cpu" for x in given):
            raise InputError(f"{function.name} takes tensors on the processor: x.cpu(), or compute with CuPy arrays on the GPU")
        dtypes = {x.dtype for x in given if x.is_floating_point()}
        dtype = torch.float32 if dtypes == {torch.float32} else torch.float64
        function.check([tuple(x.shape) for x in given])
        return Evaluation.apply(*(x.to(dtype).contiguous() for x in given))

    evaluate.__name__ = evaluate.__qualname__ = function.name
    return evaluate


def _as_argument(gradient: Any, argument: Any) -> Any:
    """The gradient of an argument that was broadcast: summed over the axes of the batch it does not have."""
    extra = gradient.ndim - argument.ndim
    gradient = gradient.sum(tuple(range(extra))) if extra else gradient
    held = tuple(k for k, (have, want) in enumerate(zip(gradient.shape, argument.shape, strict=True)) if have != want)
    return gradient.sum(held, keepdim=True) if held else gradient

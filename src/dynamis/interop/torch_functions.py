"""Compiled functions as PyTorch functions with gradients of any order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import reduce
from typing import Any, Self

import numpy as np

from dynamis.compiler.cuda import queued_on
from dynamis.errors import InputError, MissingExtraError, printable
from dynamis.interop.differentiable import Differentiable

OLDEST = (2, 13)  # 2.11 returns zeros from torch.func.vjp inside torch.compile around any function that is not traced
_count = itertools.count()


class TorchFunction:
    """A function of tensors; ``again``, a function and its arguments, makes it in another process."""

    def __init__(self, name: str, evaluate: Callable[..., Any], again: tuple[Any, ...] | None) -> None:
        self.__name__ = self.__qualname__ = name
        self._evaluate, self._again = evaluate, again

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._evaluate(*arguments, **named)

    def __repr__(self) -> str:
        return f"<TorchFunction {printable(self.__name__)}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        if self._again is None:
            why = "is machine code of this process and cannot be pickled; pickle the robot, and call robot.torch again"
            raise InputError(f"{self.__name__} {why}")
        return self._again


def torch_function(function: Differentiable, again: tuple[Any, ...] | None = None) -> TorchFunction:
    """A function of tensors; its gradient is the transposed Jacobian, a differentiable function in turn, times the output's."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("PyTorch functions require PyTorch: pip install 'dynamis[torch]'") from None
    if tuple(map(int, torch.__version__.split(".")[:2])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise MissingExtraError(
            f"PyTorch functions require PyTorch {needed} or later, found {torch.__version__}, in which torch.func.jacrev "
            f"inside torch.compile returns zeros for them: pip install 'dynamis[torch]'"
        )
    orders = [function]  # with its Jacobian, the Jacobian of that, ..., as they are asked for

    def run(order: int, *arguments: Any) -> Any:
        while len(orders) <= order:
            orders.append(orders[-1].jacobian)
        kernel = orders[order].kernel
        if arguments[0].is_cuda:
            with queued_on(torch.cuda.current_stream(arguments[0].device).cuda_stream, arguments[0].device.index):
                return torch.from_dlpack(kernel.cuda(*(x.detach() for x in arguments)))
        return torch.from_numpy(np.asarray(kernel(*(x.detach().numpy() for x in arguments))))  # or a NumPy number

    def shape(order: int) -> tuple[int, ...]:
        return (*function.shape, *(sum(function.sizes),) * order)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001, names given by PyTorch
        ctx.order = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    def pull_back(ctx: Any, gradient: Any) -> Any:
        arguments = ctx.saved_tensors
        J = apply(ctx.order + 1, *arguments)
        axes = tuple(range(-1 - len(shape(ctx.order)), -1))
        total = (J * gradient.unsqueeze(-1)).sum(axes) if axes else J * gradient.unsqueeze(-1)
        parts = torch.split(total, function.sizes, dim=-1)
        return None, *(_as_argument(part, x) for part, x in zip(parts, arguments, strict=True))

    # what torch.compile leaves as it is: shape and gradient are known, the inside is not looked at
    schema = f"(int order, {', '.join(f'Tensor x{k}' for k in range(len(function.sizes)))}) -> Tensor"
    operation = torch.library.custom_op(f"dynamis::function{next(_count)}", run, mutates_args=(), schema=schema)
    operation.register_fake(
        lambda order, *x: x[0].new_empty((*torch.broadcast_shapes(*(one.shape[:-1] for one in x)), *shape(order)))
    )
    operation.register_autograd(pull_back, setup_context=keep)

    class Evaluation(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
        """The same with the transforms of torch.func."""

        backward = staticmethod(pull_back)

        @staticmethod
        def forward(order: int, *arguments: Any) -> Any:
            return operation(order, *arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            keep(ctx, inputs, output)
            ctx.save_for_forward(*inputs[1:])

        @staticmethod
        def vmap(_: Any, dims: Any, order: int, *arguments: Any) -> Any:
            rank = max(x.ndim - (dim is not None) for x, dim in zip(arguments, dims[1:], strict=True))
            return apply(order, *(_leading(x, dim, rank) for x, dim in zip(arguments, dims[1:], strict=True))), 0

        @staticmethod
        def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
            J, axes = apply(ctx.order + 1, *ctx.saved_tensors), len(shape(ctx.order))
            change = torch.cat([x.expand(*J.shape[: J.ndim - 1 - axes], -1) for x in tangents], dim=-1)
            return (J * change.reshape(*change.shape[:-1], *(1,) * axes, -1)).sum(-1)

    transformable = torch.compiler.disable(Evaluation.apply)  # torch.compile cannot trace what torch.func does with it

    def apply(order: int, *arguments: Any) -> Any:
        traced = torch.compiler.is_compiling() and not torch._C._are_functorch_transforms_active()
        return (operation if traced else transformable)(order, *arguments)

    def evaluate(*arguments: Any, **named: Any) -> Any:
        try:
            given = [torch.as_tensor(x) for x in function.in_order(arguments, named)]
        except (RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{function.name} takes tensors or arrays of numbers: {error}") from None
        places = {x.device for x in given}
        if len(places) > 1 or {place.type for place in places} - {"cpu", "cuda"}:
            found = ", ".join(sorted(map(str, places)))
            raise InputError(f"{function.name} takes tensors on the processor or on one NVIDIA GPU, got some on {found}")
        if any(x.is_complex() for x in given):
            found = ", ".join(sorted({str(x.dtype) for x in given}))
            raise InputError(f"{function.name} takes tensors of real numbers, got {found}")
        dtypes = [x.dtype for x in given if x.is_floating_point()]
        dtype = reduce(torch.promote_types, dtypes) if dtypes else torch.float64
        computed = dtype if dtype is torch.float64 else torch.float32  # half precision too
        function.check(given, torch.broadcast_shapes)
        return apply(0, *(x.to(computed).contiguous() for x in given)).to(dtype)

    return TorchFunction(function.name, evaluate, again)


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

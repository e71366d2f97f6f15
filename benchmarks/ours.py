"""This package as a contender: the bare ufunc, the kernel on one or more threads, and the façade."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import Offer
from benchmarks.subjects import States, Subject
from dynamis.compiler.kernel import wait_for_compiler

Array = npt.NDArray[Any]


def arguments(function: str, states: States) -> tuple[Array, ...]:
    """What the function takes, of the states."""
    return {
        "inverse_dynamics": (states.q, states.v, states.a),
        "forward_dynamics": (states.q, states.v, states.tau),
        "mass_matrix": (states.q,),
    }[function]


def ready(subject: Subject, function: str) -> None:
    """Both precisions compiled, and nothing left to optimise in the background."""
    kernel = subject.robot.kernel(function)
    for precision in ("double", "float"):
        kernel.ufunc(precision)
    wait_for_compiler()


def bare(subject: Subject, function: str, states: States, precision: str = "double") -> Offer:
    """The ufunc itself, writing into an array that is there already, as Pinocchio's batch calls do; always one thread."""
    ufunc = subject.robot.kernel(function).ufunc(precision)
    given = arguments(function, states)
    if precision == "float":
        given = tuple(x.astype(np.float32) for x in given)
    out = ufunc(*given)
    one = tuple(x[0].copy() for x in given)
    return Offer(
        functools.partial(ufunc, *given, out=out),
        lambda: out,
        len(states),
        "bare ufunc",
        functools.partial(ufunc, *one, out[0].copy()),
    )


def kernel(subject: Subject, function: str, states: States, precision: str = "double") -> Offer:
    """The kernel, on as many threads as DYNAMIS_NUM_THREADS says when it runs; it makes its own result array."""
    call = subject.robot.kernel(function)
    given = arguments(function, states)
    if precision == "float":
        given = tuple(x.astype(np.float32) for x in given)
    one = tuple(x[0].copy() for x in given)
    return Offer(
        functools.partial(call, *given), lambda: np.asarray(call(*given)), len(states), "kernel", functools.partial(call, *one)
    )


def facade(subject: Subject, function: str, states: States) -> Offer:
    """The robot's own method, which checks what it is given."""
    method = getattr(subject.robot, function)
    given = arguments(function, states)
    one = tuple(x[0].copy() for x in given)
    return Offer(
        functools.partial(method, *given),
        lambda: np.asarray(method(*given)),
        len(states),
        "robot." + function,
        functools.partial(method, *one),
    )

"""This package as a contender: the robot's method, the kernel on one or more threads, and the bare ufunc."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks import cores
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
        "integrate": (states.q, states.v),
        "difference": (states.q, np.roll(states.q, 1, axis=0)),
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


@functools.cache
def _robot(subject: Subject, threads: int) -> dy.Robot:
    """The number of threads is read when a function is compiled: a robot for each."""
    return subject.robot if threads == 1 else dy.Robot(subject.robot.description)


def kernel(subject: Subject, function: str, states: States, precision: str = "double", threads: int = 1) -> Offer:
    """The kernel on this many threads; it makes its own result array."""
    cores.use(threads)
    call = _robot(subject, threads).kernel(function)
    call.ufunc(precision)
    wait_for_compiler()
    cores.use(1)
    given = arguments(function, states)
    if precision == "float":
        given = tuple(x.astype(np.float32) for x in given)
    one = tuple(x[0].copy() for x in given)
    return Offer(
        functools.partial(call, *given), lambda: np.asarray(call(*given)), len(states), "kernel", functools.partial(call, *one)
    )


def facade(subject: Subject, function: str, states: States, *, into: bool = False) -> Offer:
    """The robot's own method, which checks what it is given; ``into`` an array that is there already."""
    method = getattr(subject.robot, function)
    given = arguments(function, states)
    one = tuple(x[0].copy() for x in given)
    if into:
        results = np.asarray(method(*given))
        return Offer(
            functools.partial(method, *given, out=results),
            lambda: results,
            len(states),
            f"robot.{function}(…, out=)",
            functools.partial(method, *one, out=results[0].copy()),
        )
    return Offer(
        functools.partial(method, *given),
        lambda: np.asarray(method(*given)),
        len(states),
        "robot." + function,
        functools.partial(method, *one),
    )

"""dynibo, a Rust library: one state per call, into an array that is reused, with standard gravity."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import NotOfferedError, Offer
from benchmarks.subjects import States, Subject

Array = npt.NDArray[Any]


def offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    if subject.floating:
        raise NotOfferedError("takes the state of a floating base as Python objects, which would be timed with it")
    library: Any = importlib.import_module("dynibo")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(subject.urdf, encoding="utf-8")
        robot = library.Robot.from_urdf(str(path))
    n = robot.joint_count

    def offer(call: Callable[..., Any], given: tuple[Array, ...], size: int, how: str) -> Callable[[], Offer]:
        found = np.empty((len(given[0]), size))

        def run() -> None:
            for row in zip(*given, found, strict=True):
                call(*row[:-1], out=row[-1])

        one, result = tuple(x[0].copy() for x in given), np.empty(size)
        shape = (-1, n) if size == n else (-1, n, n)
        return lambda: Offer(run, lambda: found.reshape(shape), len(given[0]), how, lambda: call(*one, out=result))

    return {
        "inverse_dynamics": offer(
            robot.inverse_dynamics, (states.q, states.v, states.a), n, "Python loop over inverse_dynamics"
        ),
        "forward_dynamics": offer(
            robot.forward_dynamics, (states.q, states.v, states.tau), n, "Python loop over forward_dynamics"
        ),
        "mass_matrix": offer(robot.mass_matrix, (states.q,), n * n, "Python loop over mass_matrix"),
    }

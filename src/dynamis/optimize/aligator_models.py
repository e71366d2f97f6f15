"""Steps of a robot as dynamics of aligator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError


def aligator_model(step: Any, p: Any) -> Any:
    """An `aligator.dynamics.ExplicitDynamicsModel` of a `Step`, with x = (q, v)."""
    n = step.robot.n
    if step.robot.nq != n:
        raise InputError(f"{step.robot.name} has spherical or free joints, with quaternions: states must be vectors (q, v)")
    step(np.zeros(n), np.zeros(n), np.zeros(step.inputs), p)  # refuses wrong values p
    try:
        from aligator import dynamics, manifolds
    except ImportError:
        raise MissingExtraError(
            "dynamics of aligator require it; it is on conda-forge, not on PyPI: conda install -c conda-forge aligator"
        ) from None

    class DiscreteDynamics(dynamics.ExplicitDynamicsModel):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__(manifolds.VectorSpace(2 * n), step.inputs)
            self.step = step

        def __getinitargs__(self) -> tuple[()]:  # of copies
            return ()

        def forward(self, x: Any, u: Any, data: Any) -> None:
            data.xnext[:] = np.concatenate(step(x[:n], x[n:], u, p))

        def dForward(self, x: Any, u: Any, data: Any) -> None:  # name given by aligator
            data.Jx[:], data.Ju[:] = step.derivatives(x[:n], x[n:], u, p)

    return DiscreteDynamics()

"""The coordinates on which the inertia matrix and gravity of a robot depend, from their expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.dynamics import gravity
from dynamis.algorithms.mass_matrix import crba
from dynamis.model.joints import Revolute
from dynamis.model.model import Model
from dynamis.model.reframe import reframe
from dynamis.model.regroup import regroup
from dynamis.scalar import Node, symbol, topological

Array = npt.NDArray[Any]


class Expressions:
    """M and g of a model as expressions of its coordinates, with the frames and inertias that give the fewest terms.

    Terms that cancel for every q, such as the angle of a wheel about its own axis, do not appear.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.n = model, model.n
        self.q = [symbol(f"q[{c.q_index}]") for c in model.coordinates]
        ordered = np.empty(model.nq, dtype=object)
        for c, x in zip(model.coordinates, self.q, strict=True):
            ordered[c.q_index] = x
        lean = regroup(reframe(model, apart=True))
        M, upper = crba(lean, ordered), np.triu_indices(self.n)
        self.inertia = [_scalar(x) for x in M[upper]]  # the upper triangle, row by row
        self.places = np.zeros((self.n, self.n), dtype=int)  # where in it each entry of M is found
        self.places[upper] = self.places.T[upper] = np.arange(len(self.inertia))
        self.gravity = [_scalar(x) for x in gravity(lean, ordered)]

    def coordinates_in(self, entries: Iterable[Any]) -> list[int]:
        """The indices of the coordinates on which expressions depend."""
        found = {id(x) for x in topological(entries) if x.op == "symbol"}
        return [k for k in range(self.n) if id(self.q[k]) in found]

    def slides(self, k: int) -> bool:
        """Whether a coordinate causes translation, not rotation only."""
        return any(not isinstance(b.motion, Revolute) for _, b in self.model.moving if k in b.dof and not b.is_rotor)


def _scalar(x: Any) -> Any:
    return x if isinstance(x, Node) else float(x)

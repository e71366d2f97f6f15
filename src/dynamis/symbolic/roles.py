"""Classification of the symbols of a robot: mass, moment of inertia, length, gravity, state variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model
from dynamis.scalar import Node, topological
from dynamis.symbolic.arrangement import Role
from dynamis.symbolic.ring import Ring

Array = npt.NDArray[Any]


def roles_of(model: Model, ring: Ring, q: Array, v: Array, a: Array, tau: Array) -> dict[int, Role]:
    """The role of each symbol by its node's id.

    A symbol is inertial when the ten parameters of some body are linear in it: a length enters the tensor squared.
    """
    roles: dict[int, Role] = {}
    numbered = list(enumerate((body for _, body in model.moving), 1))
    for number, body in numbered:
        for node in _symbols([body.inertia.mass]):
            roles.setdefault(id(node), Role("mass", number))
    # a rotor's inertia is its joint's, though the link that carries it has a share in it
    for number, body in sorted(numbered, key=lambda item: not item[1].is_rotor):
        number = body.dof[0] + 1 if body.is_rotor else number  # noqa: PLW2901
        inertial = [*body.inertia.first_moment, *body.inertia.tensor.flat]
        masses = {id(node) for node in _symbols([body.inertia.mass])}
        for node in _symbols(inertial):
            if id(node) not in roles and _is_linear(ring, inertial, node, masses):
                roles[id(node)] = Role("inertia", number)
    for node in _symbols(model.gravity):
        roles.setdefault(id(node), Role("gravity"))
    for k in range(model.n):
        for node in _symbols([model.rotor[k]]):
            roles.setdefault(id(node), Role("inertia", k + 1))
        for kind, vector in (("position", q), ("velocity", v), ("acceleration", a), ("torque", tau)):
            roles[id(vector[k])] = Role(kind, k + 1)
    return roles


def _symbols(values: Any) -> list[Node]:
    return [node for node in topological(np.asarray(values, dtype=object).flat) if node.op == "symbol"]


def _is_linear(ring: Ring, values: list[Any], node: Node, masses: set[int]) -> bool:
    own = next(a.index for a in ring.atoms if a.node is node)
    forbidden = [own] + [a.index for a in ring.atoms if id(a.node) in masses]
    appears = False
    for value in values:
        numerator, denominator = ring.value(value)
        slope = numerator.derivative(own)
        degrees = slope.degrees()
        if denominator is not None or any(degrees[k] > 0 for k in forbidden):
            return False
        appears = appears or not slope.is_zero()
    return appears

"""Classification of the symbols of a robot: mass, moment of inertia, length, gravity, state variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.actuators import Actuator, Elastic
from dynamis.model.model import Model
from dynamis.scalar import Node, symbol, topological
from dynamis.symbolic.arrangement import Role
from dynamis.symbolic.notation import MOTOR_LETTERS, parameter_latex
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
            if _is_linear(ring, [model.rotor[k]], node, set()):  # not the ratio of the gear, which is squared
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


# of each variable of a motor, how its terms are put in order among the others
_ORDERS = {"theta": ("position", "velocity", "acceleration"), "i": ("velocity", "acceleration"), "u": ("torque",)}


def motor_variable(letter: str, number: int, dots: int = 0) -> Node:
    """The symbol of a motor variable or its rate; the brackets avoid names of the robot file."""
    return symbol(f"{letter}{chr(39) * dots}[{number}]")


def motor_roles(model: Model) -> dict[int, tuple[Node, Role]]:
    """Every motor variable of the robot by its id, with its role."""
    found: dict[int, tuple[Node, Role]] = {}
    for number, actuator in enumerate(model.actuators, 1):
        for letter in _letters(actuator):
            for dots, kind in enumerate(_ORDERS[letter]):
                node = motor_variable(letter, number, dots)
                found[id(node)] = node, Role(kind, number)
    return found


def _letters(actuator: Actuator | None) -> tuple[str, ...]:
    if actuator is None:
        return ()
    if isinstance(actuator, Elastic):
        return ("theta", "u")
    return ("i", "u") if actuator.size else ("u",)


def parameter_names(ring: Ring, state: Sequence[Node]) -> frozenset[str]:
    """The names of the symbols that are not variables of the state."""
    own = {id(node) for node in state}
    nodes = [x.node for x in ring.atoms if x.kind == "symbol" and x.node is not None]
    return frozenset(str(node.args[0]) for node in nodes if id(node) not in own)


def free_letters(parameters: Iterable[str], numbers: int, rename: Mapping[str, str]) -> dict[str, str]:
    """Spellings of θ, i and u that do not collide with parameters of the robot."""
    taken = {parameter_latex(name, rename) for name in parameters}

    def is_free(pattern: str) -> bool:
        written = {pattern.format(number) for number in range(1, numbers + 1)}
        return not taken & (written | {w.replace("{", "").replace("}", "") for w in written})

    return {letter: next(filter(is_free, ways), ways[-1]) for letter, ways in MOTOR_LETTERS.items()}

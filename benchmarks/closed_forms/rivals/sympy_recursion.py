"""The recursion in SymPy, as SymPyBotics does it: Newton–Euler with every intermediate value named once.

M comes from unit accelerations, g from a robot at rest, c = C q̇ from one without gravity. The column C e_j is what the
quadratic c makes of the velocities and e_j: (c(q̇ + e_j) − c(q̇) − c(e_j)) / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from benchmarks.closed_forms.rivals.chain import Chain, chain, deviation
from benchmarks.closed_forms.stages import Stages, say
from dynamis.model.model import Model


class Names:
    """Common subexpressions as they arise: whatever is not a symbol or a number gets a name, equal things the same one."""

    def __init__(self) -> None:
        self._name: dict[Any, Any] = {}

    def scalar(self, expression: Any) -> Any:
        if expression.is_Atom:
            return expression
        held = expression.func(*map(self.scalar, expression.args))
        if held.is_Atom:
            return held
        if held.is_Mul and held.could_extract_minus_sign():  # x and −x share a name
            return -self.scalar(-held) if not (-held).is_Atom else held
        if held not in self._name:
            self._name[held] = sympy.Symbol(f"t{len(self._name)}", real=True)
        return self._name[held]

    def matrix(self, matrix: Any) -> Any:
        return matrix.applyfunc(self.scalar)

    def used_by(self, results: Any) -> list[tuple[Any, Any]]:
        """(name, expression) of what the results need, in the order of computation."""
        needed = set(results.free_symbols)
        found = []
        for expression, name in reversed(self._name.items()):
            if name in needed:
                needed |= expression.free_symbols
                found.append((name, expression))
        return found[::-1]


def derive(model: Model, *, examine: bool) -> None:
    arm, names = chain(model), Names()
    n = arm.n
    nothing, still = [sympy.Integer(0)] * n, sympy.zeros(3, 1)
    units = [[sympy.Integer(int(i == j)) for j in range(n)] for i in range(n)]
    stages = Stages()
    rotations = [names.matrix(arm.rotation(k)) for k in range(n)]

    def torques(v: Sequence[Any], a: Sequence[Any], gravity: Any) -> Any:
        return newton_euler(arm, rotations, v, a, gravity, names.matrix)

    M = sympy.Matrix.hstack(*(torques(nothing, unit, still) for unit in units))
    stages.reached("M")
    torques(nothing, nothing, arm.gravity)
    stages.reached("g")
    c = torques(arm.v, nothing, still)
    stages.reached("C q̇ + g")
    columns = []
    for unit in units:
        both = [x + y for x, y in zip(arm.v, unit, strict=True)]
        columns.append(names.matrix((torques(both, nothing, still) - c - torques(unit, nothing, still)) / 2))
    sympy.Matrix.hstack(*columns)
    stages.reached("C")
    if examine:
        needed = names.used_by(M)
        say(operations={"M": int(sympy.count_ops([*(e for _, e in needed), *M]))})
        say(deviation=deviation(arm, M, needed))


def newton_euler(
    arm: Chain, rotations: Sequence[Any], v: Sequence[Any], a: Sequence[Any], gravity: Any, named: Callable[[Any], Any]
) -> Any:
    """The torques; moments about the origin of each link's frame, so that they are linear in the ten parameters."""
    z = sympy.Matrix([0, 0, 1])
    w, w_dot, acceleration = sympy.zeros(3, 1), sympy.zeros(3, 1), -gravity
    wrenches = []
    for k, link in enumerate(arm.links):
        R = rotations[k].T
        acceleration = named(R * named(acceleration + w_dot.cross(link.p) + w.cross(named(w.cross(link.p)))))
        carried = named(R * w)
        w_dot = named(R * w_dot + a[k] * z + carried.cross(v[k] * z))
        w = named(carried + v[k] * z)
        h = link.first_moment
        force = named(link.mass * acceleration + w_dot.cross(h) + w.cross(named(w.cross(h))))
        moment = named(h.cross(acceleration) + link.tensor * w_dot + w.cross(named(link.tensor * w)))
        wrenches.append((force, moment))
    tau = sympy.zeros(arm.n, 1)
    force, moment = sympy.zeros(3, 1), sympy.zeros(3, 1)
    for k in reversed(range(arm.n)):
        force, moment = named(force + wrenches[k][0]), named(moment + wrenches[k][1])
        tau[k] = moment[2]
        lever, force = arm.links[k].p, named(rotations[k] * force)
        moment = named(rotations[k] * moment + lever.cross(force))
    return tau

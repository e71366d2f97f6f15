"""SymPy by the textbook: M from Jacobians, C by Christoffel symbols, g from the Jacobians; with or without simplifying M."""

from __future__ import annotations

from typing import Any

import sympy

from benchmarks.closed_forms.rivals.chain import Chain, chain, deviation
from benchmarks.closed_forms.stages import Stages, say
from dynamis.model.model import Model


def derive(model: Model, *, simplified: bool, examine: bool) -> None:
    arm = chain(model)
    stages = Stages()
    M, g = inertia_and_gravity(arm)
    if simplified:
        M, g = (x.applyfunc(lambda e: sympy.trigsimp(sympy.expand(e))) for x in (M, g))
    stages.reached("M")
    stages.reached("g")
    n = arm.n
    slope = [M.diff(q) for q in arm.q]
    C = sympy.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += (slope[k][i, j] + slope[j][i, k] - slope[i][j, k]) * arm.v[k] / 2
    stages.reached("C")
    if examine:
        say(operations_written_out={"M": int(sympy.count_ops(M))})
        names, (shared,) = sympy.cse(M)
        say(operations={"M": int(sympy.count_ops([*(e for _, e in names), *shared]))})
        say(deviation=deviation(arm, M))


def inertia_and_gravity(arm: Chain) -> tuple[Any, Any]:
    """Everything of a link in its own axes; body Jacobians column by column from the base."""
    n = arm.n
    M, g = sympy.zeros(n, n), sympy.zeros(n, 1)
    J_v, J_w, weight = sympy.zeros(3, n), sympy.zeros(3, n), arm.gravity
    for k, link in enumerate(arm.links):
        R = arm.rotation(k).T
        J_v, J_w, weight = R * (J_v + _cross(J_w, link.p)), R * J_w, R * weight
        J_w[2, k] = sympy.Integer(1)
        S = _skew(link.first_moment)
        coupling = J_v.T * (-S) * J_w
        M += link.mass * J_v.T * J_v + coupling + coupling.T + J_w.T * link.tensor * J_w
        g -= J_v.T * (link.mass * weight) + J_w.T * (S * weight)
    return M, g


def _skew(p: Any) -> Any:
    x, y, z = p
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _cross(J: Any, p: Any) -> Any:
    """ω × p for every column ω."""
    return -_skew(p) * J

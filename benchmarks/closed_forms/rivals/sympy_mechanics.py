"""SymPy's own mechanics: frames, points and rigid bodies of a planar arm, by Lagrange's equations or Kane's."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.physics import mechanics

from benchmarks.closed_forms.rivals.chain import chain, deviation
from benchmarks.closed_forms.stages import Stages, say
from dynamis.model.model import Model


def derive(model: Model, *, kane: bool, examine: bool) -> None:
    """M, and C q̇ + g in one: neither way tells them apart."""
    arm = chain(model)
    n = arm.n
    stages = Stages()
    q = mechanics.dynamicsymbols(f"q1:{n + 1}")
    u = mechanics.dynamicsymbols(f"u1:{n + 1}")
    rates = [x.diff(mechanics.dynamicsymbols._t) for x in q]
    N, origin = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    origin.set_vel(N, 0)
    joint, last, bodies, weights = origin, N, [], []
    for k, link in enumerate(arm.links):
        frame = last.orientnew(f"F{k}", "Axis", (q[k], last.z))
        # relative to the link before, as its rates are: ω_k = ω_(k−1) + q̇_k z
        frame.set_ang_vel(last, (u[k] if kane else rates[k]) * last.z)
        if link.p[0] != 0:
            joint = _fixed(f"P{k}", joint, link.p[0] * last.x, N, last)
        mass = link.mass
        distance = sympy.cancel(link.first_moment[0] / mass)
        centre = _fixed(f"C{k}", joint, distance * frame.x, N, frame)
        moment = sympy.cancel(link.tensor[2, 2] - mass * distance**2)
        body = mechanics.RigidBody(f"B{k}", centre, frame, mass, (mechanics.inertia(frame, 0, 0, moment), centre))
        body.potential_energy = -mass * arm.gravity[1] * centre.pos_from(origin).dot(N.y)
        bodies.append(body)
        weights.append((centre, mass * arm.gravity[1] * N.y))
        last = frame
    if kane:
        method: Any = mechanics.KanesMethod(N, q, u, kd_eqs=[a - b for a, b in zip(rates, u, strict=True)])
        method.kanes_equations(bodies, weights)
    else:
        method = mechanics.LagrangesMethod(mechanics.Lagrangian(N, *bodies), q)
        method.form_lagranges_equations()
    M, _ = method.mass_matrix, method.forcing
    stages.reached("M")
    stages.reached("C q̇ + g")
    if examine:
        M = M.xreplace(dict(zip(q, arm.q, strict=True)))
        say(operations_written_out={"M": int(sympy.count_ops(M))})
        names, (shared,) = sympy.cse(M)
        say(operations={"M": int(sympy.count_ops([*(e for _, e in names), *shared]))})
        say(deviation=deviation(arm, M))


def _fixed(name: str, start: Any, step: Any, N: Any, frame: Any) -> Any:
    point = start.locatenew(name, step)
    point.v2pt_theory(start, N, frame)
    return point

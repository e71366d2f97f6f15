"""Operation counts of the closed form and of the equivalent recursions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamis.algorithms import coriolis, dynamics, mass_matrix
from dynamis.algorithms.dynamics import joint_bias
from dynamis.scalar import topological

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm


NESTED_UP_TO = 30_000  # terms of C: nesting more takes longer than deriving them


def operation_counts(form: ClosedForm, largest: float = NESTED_UP_TO) -> list[tuple[str, int, int]]:
    """(what, closed form, recursion) for M, C, g and τ: operations of each graph, common parts counted once.

    C and τ are left out where C has more terms than ``largest``.
    """
    model, q, v, a = form.model, form.q, form.v, form.a
    M, g = form.M.node(), form.g.node()
    ways: list[tuple[str, Any, Any]] = [
        ("inertia matrix", M, mass_matrix.crba(model, q)),
        ("gravity", g, dynamics.gravity(model, q)),
    ]
    if all(x.expanded for x in form.C.flat) and sum(len(x) for x in form.C.flat) <= largest:
        C = form.coriolis_graph()
        torque = M @ a + C @ v + g + joint_bias(model, q, v)
        ways += [
            ("Coriolis matrix", C, coriolis.coriolis_matrix(model, q, v)),
            ("inverse dynamics", torque, dynamics.inverse_dynamics(model, q, v, a)),
        ]
    return [(name, operations(closed), operations(recursive)) for name, closed, recursive in ways]


def operations(nodes: Any) -> int:
    """Operations of a graph, symbols not counted."""
    return sum(node.op != "symbol" for node in topological(nodes.flat))

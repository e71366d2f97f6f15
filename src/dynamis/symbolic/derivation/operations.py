"""How many operations the closed form takes, and the recursions that give the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamis.algorithms import coriolis, dynamics, mass_matrix
from dynamis.algorithms.dynamics import joint_bias
from dynamis.scalar import topological

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm


def operation_counts(form: ClosedForm) -> list[tuple[str, int, int]]:
    """(what, closed form, recursion) for M, C, g and τ: operations of each graph, common parts counted once."""
    model, q, v, a = form.model, form.q, form.v, form.a
    M, C, g = form.M.node(), form.C.node(), form.g.node()
    ways: list[tuple[str, Any, Any]] = [
        ("inertia matrix", M, mass_matrix.crba(model, q)),
        ("Coriolis matrix", C, coriolis.coriolis_matrix(model, q, v)),
        ("gravity", g, dynamics.gravity(model, q)),
        ("inverse dynamics", M @ a + C @ v + g + joint_bias(model, q, v), dynamics.inverse_dynamics(model, q, v, a)),
    ]
    return [(name, operations(closed), operations(recursive)) for name, closed, recursive in ways]


def operations(nodes: Any) -> int:
    """Operations of a graph, symbols not counted."""
    return sum(node.op != "symbol" for node in topological(nodes.flat))

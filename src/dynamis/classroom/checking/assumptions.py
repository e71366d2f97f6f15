"""Equal parameters that an answer assumes: m_1 = m_2 = m."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dynamis.classroom.answers import Answer, Located
from dynamis.classroom.checking.quantities import Quantity
from dynamis.classroom.checking.robot_names import robot_symbols
from dynamis.scalar import Node, topological
from dynamis.symbolic import factored
from dynamis.symbolic.closed_form import ClosedForm

Index = tuple[int, ...]


def under_assumptions(
    form: ClosedForm, answer: Answer, asked: Quantity, given: dict[Index, Located]
) -> tuple[Quantity, dict[Index, Located]]:
    """The correct entries and those of an answer with the parameters that it assumes equal, and this condition."""
    values, condition = _equal_parameters(form, answer)
    if not values or asked.name in ("parameters", "regressor"):
        return asked, given

    def replaced(node: Any) -> Any:
        return factored.replaced(node, values)

    correct = {index: form.algebra.of_node(replaced(x.node())) for index, x in asked.entries.items()}
    entries = {}
    for index, x in given.items():
        conditions = " and ".join(filter(None, (x.condition, condition)))
        entries[index] = replace(x, node=replaced(x.node), also=tuple(map(replaced, x.also)), condition=conditions)
    return replace(asked, entries=correct), entries


def _equal_parameters(form: ClosedForm, answer: Answer) -> tuple[dict[int, Any], str]:
    """Parameters of the robot by their ids, each with the value that names of the answer assume for it; and when that holds.

    A name that is used and stands for several different parameters holds if these are equal: m_1 = m_2 = m, l_1 = a_1/2 = l.
    """
    own = {id(x) for x in robot_symbols(form).values()}
    values: dict[int, Any] = {}
    said: list[str] = []
    for x in answer.definitions.values():
        nodes = [x.node, *x.also]
        if not x.used or len(nodes) < 2 or not all(_is_of(own, node) for node in nodes):
            continue
        composed = [node for node in nodes if id(node) not in own]
        base = composed[0] if composed else nodes[0]
        chosen = {id(node): base for node in nodes if node is not base and id(node) in own}
        if len(composed) > 1 or chosen.keys() & {id(n) for n in topological([base])} or chosen.keys() & values.keys():
            continue
        values |= chosen
        said.append(" = ".join(sorted(str(form.algebra.of_node(node)) for node in nodes)))
    return values, f"if {' and '.join(said)}" if said else ""


def _is_of(own: set[int], node: Any) -> bool:
    """Whether an expression consists of parameters of the robot."""
    symbols = [n for n in topological([node]) if n.op == "symbol"]
    return isinstance(node, Node) and bool(symbols) and all(id(n) in own for n in symbols)

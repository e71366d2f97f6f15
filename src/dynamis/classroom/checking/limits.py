"""Limits of the degree of an answer."""

from __future__ import annotations

from typing import Any

from dynamis.errors import InputError
from dynamis.scalar import Node, topological

MAX_DEGREE = 64


def refuse_high_degrees(answers: list[Any]) -> None:
    """Reject high degrees, which are expensive to expand and do not occur in equations of motion."""
    degrees: dict[int, int] = {}
    for node in topological(answers):
        below = [degrees[id(x)] for x in node.args if isinstance(x, Node)]
        degrees[id(node)] = sum(below) if node.op in ("mul", "div") else max(below, default=1)
        if degrees[id(node)] > MAX_DEGREE:
            raise InputError(f"the answer is of a degree above {MAX_DEGREE}, above that of any equation of motion")

"""The arm for SymPy: a serial chain of revolute joints about z, as plain matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from dynamis.algorithms import mass_matrix
from dynamis.model.model import Model
from dynamis.scalar import Node, Program, symbol, topological
from dynamis.scalar.program import MEANING


@dataclass(frozen=True)
class Link:
    """Its frame in the one before at q = 0 (``R``, ``p``), and mass, first moment and inertia tensor in its own frame."""

    R: Any
    p: Any
    mass: Any
    first_moment: Any
    tensor: Any


@dataclass(frozen=True)
class Chain:
    model: Model
    links: tuple[Link, ...]
    gravity: Any
    q: tuple[Any, ...]
    v: tuple[Any, ...]

    @property
    def n(self) -> int:
        return len(self.links)

    def rotation(self, k: int) -> Any:
        """From the axes of link k to those of the link before."""
        c, s = sympy.cos(self.q[k]), sympy.sin(self.q[k])
        return self.links[k].R * sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def chain(model: Model) -> Chain:
    links = []
    for k, body in model.moving:
        assert body.parent == k - 1
        assert [float(x) for x in np.ravel(body.S)] == [0, 0, 0, 0, 0, 1]
        own = body.inertia
        links.append(
            Link(
                _matrix(body.placement.R),
                _matrix(body.placement.p),
                _scalar(own.mass),
                _matrix(own.first_moment),
                _matrix(own.tensor),
            )
        )
    q, v = (sympy.symbols(f"{letter}1:{len(links) + 1}", real=True) for letter in ("q", "qd"))
    return Chain(model, tuple(links), _matrix(model.gravity), q, v)


def deviation(chain: Chain, M: Any, subexpressions: Sequence[tuple[Any, Any]] = ()) -> float:
    """How far a mass matrix is from ours, of its largest entry, at one random state and random parameters."""
    rng = np.random.default_rng(0)
    q = np.array([symbol(f"q[{k + 1}]") for k in range(chain.n)], dtype=object)
    ours = mass_matrix.crba(chain.model, q)
    nodes = [node for node in topological(ours.flat) if node.op == "symbol"]
    values = {node: float(x) for node, x in zip(nodes, rng.uniform(0.5, 1.5, len(nodes)), strict=True)}
    expected = np.asarray(Program(nodes, ours)(*values.values()), dtype=float)
    angles = {id(node): chain.q[k] for k, node in enumerate(q)}
    known = {angles.get(id(node), _scalar(node)): x for node, x in values.items()}
    rest = M.free_symbols.union(*(e.free_symbols for _, e in subexpressions)) - {s for s, _ in subexpressions} - known.keys()
    known |= dict.fromkeys(rest, 0.7)  # what ours does not depend on, the other may still carry in terms that cancel
    for name, expression in subexpressions:
        known[name] = float(expression.xreplace({x: known[x] for x in expression.free_symbols}))
    found = sympy.lambdify(list(known), M, cse=True)(*known.values())
    return float(np.abs(np.asarray(found, dtype=float) - expected).max() / np.abs(expected).max())


def _scalar(x: Any) -> Any:
    if isinstance(x, Node):
        if x.op == "symbol":
            return sympy.Symbol(str(x), real=True)
        return MEANING[x.op](*(_scalar(y) for y in x.args))  # NumPy's operations are Python's for what it does not know
    return sympy.Integer(int(x)) if float(x).is_integer() else sympy.Float(float(x))


def _matrix(array: Any) -> Any:
    rows = np.asarray(array, dtype=object)
    return sympy.Matrix(rows.shape[0], rows.size // rows.shape[0], [_scalar(x) for x in rows.flat])

"""This package as a contender, and what its formulas are in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.closed_forms.stages import Stages, say
from dynamis.algorithms import coriolis, dynamics, mass_matrix
from dynamis.model.model import Model
from dynamis.scalar import Node, Program, topological
from dynamis.symbolic.closed_form import ClosedForm, closed_form
from dynamis.symbolic.derivation.recursion_steps import operations

Array = npt.NDArray[Any]
STATES = 20


def derive(model: Model, what: str, *, examine: bool) -> None:
    stages = Stages()
    form = closed_form(model)
    for name in ("M", "C", "g"):
        getattr(form, name)
        stages.reached(name)
    if what == "everything":
        everything(form)
        stages.reached("everything")
    if "base parameters" in what or what == "everything":
        count = len(form.base_parameters)
        stages.reached("base parameters")
        say(base_parameters=count)
    if not form.expanded:
        say(failed=form.status)
    if examine:
        stages = Stages()
        nodes = {name: getattr(form, name).node() for name in ("M", "C", "g")}
        stages.reached("as graphs")
        say(operations={name: operations(x) for name, x in nodes.items()})
        say(operations_written_out={name: written_out(x) for name, x in nodes.items()})
        say(terms={name: sum(len(x) for x in getattr(form, name).flat) for name in nodes})
        say(deviation=deviation(form, nodes))


def everything(form: ClosedForm) -> None:
    """What a course derives: symbols of both kinds, energies, Jacobians, Ṁ, N, equations in LaTeX, regressor."""
    for name in ("christoffel", "h", "kinetic_energies", "potential_energies", "kinetic_energy", "potential_energy", "positions",
                 "linear_jacobians", "angular_jacobians", "M_dot", "N", "regressor", "parameters"):  # fmt: skip
        getattr(form, name)
    form.latex()


def written_out(nodes: Array) -> int:
    """Operations where common parts are counted as often as they occur."""
    size: dict[int, int] = {}
    for node in topological(nodes.flat):
        inside = sum(size[id(x)] for x in node.args if isinstance(x, Node))
        size[id(node)] = 0 if node.op == "symbol" else 1 + inside
    return sum(size[id(x)] for x in nodes.flat if isinstance(x, Node))


def deviation(form: ClosedForm, nodes: dict[str, Array]) -> float:
    """The largest difference from the recursions, of the largest entry, at random states and parameters."""
    recursive = {
        "M": mass_matrix.crba(form.model, form.q),
        "C": coriolis.coriolis_matrix(form.model, form.q, form.v),
        "g": dynamics.gravity(form.model, form.q),
    }
    worst = 0.0
    for name, closed in nodes.items():
        both = np.concatenate([np.ravel(closed), np.ravel(recursive[name])])
        symbols = [node for node in topological(both) if node.op == "symbol"]
        rng = np.random.default_rng(0)
        found = Program(symbols, both)(*rng.uniform(0.5, 1.5, (len(symbols), STATES)))
        ours, theirs = np.split(np.asarray(found, dtype=float).reshape(STATES, -1), 2, axis=1)
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst

"""Derivatives of a user-defined function of the configuration, by tracing it once on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.scalar import Node, Program, as_scalar, call_with_symbols, directional, symbol
from dynamis.scalar.substitution import substituted

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Expressions:
    """x = f(q), J(q) and J̇ v of a traced function, as expressions of the symbols q and v."""

    q: Array
    v: Array
    x: Array
    J: Array
    drift: Array


def traced(f: Callable[[Any, Array], Any], robot: Robot, size: int) -> Expressions:
    """f(robot, q) with its first two derivatives along the motion; q̇ of a quaternion follows from v."""
    q = np.array([symbol(f"configuration[{k}]") for k in range(robot.nq)], dtype=object)
    v = np.array([symbol(f"velocity[{k}]") for k in range(robot.n)], dtype=object)
    x = _as_vector(call_with_symbols(f, Robot(robot.description, _tracing=True), q), size)
    columns = [directional(x, list(q), list(_rate(robot, q, unit))) for unit in np.eye(robot.n)]
    x_dot = directional(x, list(q), list(_rate(robot, q, v)))
    drift = directional(x_dot, list(q), list(_rate(robot, q, v)))
    return Expressions(q, v, x, np.stack(columns, axis=-1).astype(object), drift.astype(object))


def _rate(robot: Robot, q: Array, v: Array) -> Array:
    return configuration_rate(robot.model, q, np.asarray(v, dtype=object))


def _as_vector(value: Any, size: int) -> Array:
    x = np.asarray(value, dtype=object)
    x = x.reshape(1) if x.ndim == 0 else x
    if x.shape != (size,):
        raise InputError(f"the task function returned shape {x.shape}; Function(f, size={size}) requires ({size},)")
    return np.array([as_scalar(e, "the value of the task function") for e in x], dtype=object)


def at(expressions: Array, symbols: Sequence[Node], values: Sequence[Any]) -> Array:
    """Substitute values for the symbols: numbers give numbers, nodes give nodes."""
    if not any(isinstance(x, Node) for x in values):
        return Program(list(symbols), expressions)(*values)
    return substituted(expressions, symbols, values)

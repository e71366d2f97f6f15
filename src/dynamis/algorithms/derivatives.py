"""Derivatives of torques and accelerations with respect to the state, by differentiating the expressions of the model.

The recursive Newton–Euler algorithm is traced on symbols and differentiated in forward mode, one direction at a time; after
elimination of zeros and common subexpressions its cost is about that of analytical recursions [Carpentier 2018, §III]. The
derivatives of the accelerations follow from M v̇ + h = τ at fixed v̇ [Carpentier 2018, eq. 8]:

    ∂v̇/∂q = −M⁻¹ ∂τ/∂q,    ∂v̇/∂v = −M⁻¹ ∂τ/∂v,    ∂v̇/∂τ = M⁻¹

Derivatives with respect to q are along the entries of v: for a quaternion, along rotations of the moving frame. Dry friction is
piecewise constant; its derivative is taken as zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.algorithms.dynamics import forward_dynamics_through_mass_matrix, inverse_dynamics
from dynamis.algorithms.mass_matrix import crba
from dynamis.display import as_table
from dynamis.model.model import Model
from dynamis.scalar import Node, Program, directional, solve_positive, symbol
from dynamis.scalar.substitution import substituted

Array = npt.NDArray[Any]


class TorqueDerivatives(NamedTuple):
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂v̇ = M, each (…, n, n): rows are torques, columns the directions of q, v and v̇."""

    dq: Array
    dv: Array
    da: Array

    def __repr__(self) -> str:
        return f"<TorqueDerivatives {', '.join(self._fields)}: {' × '.join(map(str, np.shape(self.dq)))} each>"

    def _repr_html_(self) -> str:
        return as_table(self)


class AccelerationDerivatives(NamedTuple):
    """∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹, each (…, n, n): rows are accelerations, columns the directions of q, v and τ."""

    dq: Array
    dv: Array
    dtau: Array

    def __repr__(self) -> str:
        return f"<AccelerationDerivatives {', '.join(self._fields)}: {' × '.join(map(str, np.shape(self.dq)))} each>"

    def _repr_html_(self) -> str:
        return as_table(self)


def inverse_dynamics_derivatives(model: Model, q: Array, v: Array, a: Array) -> Array:
    """(∂τ/∂q, ∂τ/∂v, ∂τ/∂v̇) (3, n, n) of the complete model."""
    if not model.n:
        return np.zeros((3, 0, 0))
    given = [*q, *v, *a]
    if all(isinstance(x, Node) and x.op == "symbol" for x in given) and len(set(map(id, given))) == len(given):
        return _by_symbols(model, q, v, a)
    # derivatives are by symbols: where the arguments are others, by some that stand for them
    names = {"configuration": q, "velocity": v, "acceleration": a}
    stand_in = [np.array([symbol(f"{name}[{k}]") for k in range(len(x))], dtype=object) for name, x in names.items()]
    found, symbols = _by_symbols(model, *stand_in), [x for vector in stand_in for x in vector]
    if model.symbolic or any(isinstance(x, Node) for x in given):
        return substituted(found, symbols, given)
    return Program(symbols, found)(*given)


def _by_symbols(model: Model, q: Array, v: Array, a: Array) -> Array:
    tau, units = inverse_dynamics(model, q, v, a), np.eye(model.n)
    dq = [directional(tau, list(q), list(configuration_rate(model, q, unit))) for unit in units]
    dv = [directional(tau, list(v), unit.tolist()) for unit in units]
    return np.array([np.stack(dq, axis=-1), np.stack(dv, axis=-1), crba(model, q)])


def forward_dynamics_derivatives(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """(∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ) (3, n, n) of the complete model."""
    a = forward_dynamics_through_mass_matrix(model, q, v, tau)
    dq, dv, M = inverse_dynamics_derivatives(model, q, v, a)
    columns = solve_positive(M, np.hstack([-dq, -dv, np.eye(model.n)]))
    return np.array(np.split(columns, 3, axis=1))

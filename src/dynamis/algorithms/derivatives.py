"""Derivatives of torques and accelerations with respect to the state.

Those of the torques are analytical recursions (`newton_euler_derivatives`), or the recursive Newton–Euler algorithm
differentiated on symbols; the compiler keeps the shorter code. Those of the accelerations follow from M v̇ + h = τ at fixed v̇
[Carpentier 2018, eq. 8]:

    ∂v̇/∂q = −M⁻¹ ∂τ/∂q,    ∂v̇/∂v = −M⁻¹ ∂τ/∂v,    ∂v̇/∂τ = M⁻¹

Derivatives with respect to q are along the entries of v: for a quaternion, along rotations of the moving frame. Dry friction is
piecewise constant; its derivative is taken as zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.algorithms.dynamics import forward_dynamics_through_mass_matrix, joint_bias
from dynamis.algorithms.mass_matrix import crba
from dynamis.algorithms.newton_euler import rnea
from dynamis.algorithms.newton_euler_derivatives import SpatialState
from dynamis.algorithms.singularity import singular_mass_error
from dynamis.display import as_table
from dynamis.errors import SingularError
from dynamis.model.model import Model
from dynamis.scalar import directional, factorise, kept, solve_lower, solve_positive, solve_upper, symbol
from dynamis.scalar.substitution import substituted
from dynamis.spatial.inertia import mirrored

Array = npt.NDArray[Any]


class _Derivatives:
    """Three derivatives in one ``array`` (…, 3, n, n), one attribute each; unpacked, they follow in this order."""

    __slots__ = ("array",)
    _fields: ClassVar[tuple[str, ...]]  # as of a named tuple

    def __init__(self, array: Array) -> None:
        self.array = array

    def _part(self, k: int) -> Array:
        array = self.array  # also one of CuPy
        part: Array = array[k] if array.ndim == 3 else array[..., k, :, :]
        return part

    dq = property(lambda self: self._part(0))
    dv = property(lambda self: self._part(1))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> Array:
        return self._part(range(3)[k])

    def __iter__(self) -> Iterator[Array]:
        return map(self._part, range(3))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._fields)}: {' × '.join(map(str, self.dq.shape))} each>"

    _repr_html_ = as_table


class TorqueDerivatives(_Derivatives):
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂v̇ = M, each (…, n, n): rows are torques, columns the directions of q, v and v̇."""

    __slots__ = ()
    _fields = ("dq", "dv", "da")
    da = property(lambda self: self._part(2))


class AccelerationDerivatives(_Derivatives):
    """∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹, each (…, n, n): rows are accelerations, columns the directions of q, v and τ."""

    __slots__ = ()
    _fields = ("dq", "dv", "dtau")
    dtau = property(lambda self: self._part(2))


class ForceDerivatives(AccelerationDerivatives):
    """∂λ/∂q, ∂λ/∂v and ∂λ/∂τ, each (…, rows, n): rows are contact forces, columns the directions of q, v and τ."""

    __slots__ = ()


def inverse_dynamics_derivatives(model: Model, q: Array, v: Array, a: Array) -> Array:
    """(∂τ/∂q, ∂τ/∂v, ∂τ/∂v̇) (3, n, n) of the complete model."""
    state = SpatialState(model, q, v, a)
    return _complete(model, *state.derivatives(), state.mass_matrix())


def forward_dynamics_derivatives(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """(∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ) (3, n, n) of the complete model."""
    still = SpatialState(model, q, v, np.zeros(model.n))
    M = still.mass_matrix()
    try:
        a = solve_positive(M + np.diag(model.rotor), tau - still.torques() - joint_bias(model, q, v))
    except SingularError:
        raise singular_mass_error(model, q) from None
    return _accelerated(_complete(model, *SpatialState(model, q, v, a).derivatives(), M))


def inverse_dynamics_differentiated(model: Model, q: Array, v: Array, a: Array) -> Array:
    """The same as `inverse_dynamics_derivatives`, by differentiating the recursive Newton–Euler algorithm on symbols.

    One forward sweep per direction [Carpentier 2018, §III]: fewer operations than the recursion where most entries of the
    poses are zero, as in planar arms.
    """
    # symbols stand for the arguments, which may be expressions
    names = {"configuration": q, "velocity": v, "acceleration": a}
    x, x_dot, x_ddot = (np.array([symbol(f"{name}[{k}]") for k in range(len(u))], dtype=object) for name, u in names.items())
    tau, units = rnea(model, x, x_dot, x_ddot), np.eye(model.n)
    along_q = [directional(tau, list(x), list(configuration_rate(model, x, unit))) for unit in units]
    along_v = [directional(tau, list(x_dot), unit.tolist()) for unit in units]
    found = np.array([np.stack(along_q, axis=-1), np.stack(along_v, axis=-1)])
    dq, dv = substituted(found, [*x, *x_dot, *x_ddot], [*q, *v, *a])
    return _complete(model, dq, dv, crba(model, q) - np.diag(model.rotor))


def forward_dynamics_differentiated(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """The same as `forward_dynamics_derivatives`, from `inverse_dynamics_differentiated`."""
    a = forward_dynamics_through_mass_matrix(model, q, v, tau)
    return _accelerated(inverse_dynamics_differentiated(model, q, v, a))


def _complete(model: Model, dq: Array, dv: Array, M: Array) -> Array:
    """The derivatives of the rigid bodies, with springs, viscous friction and rotors."""
    springs = [0.0 if c.q_index is None else k for c, k in zip(model.coordinates, model.stiffness, strict=True)]
    return np.array([dq + np.diag(springs), dv + np.diag(model.viscous), M + np.diag(model.rotor)])


def _accelerated(derivatives: Array) -> Array:
    """Those of the accelerations, from those of the torques, by M = Lᵀ D L."""
    dq, dv, M = derivatives
    (L, d), n = factorise(M), len(M)
    # with kept derivatives of the torques, and their sign in D, the columns of all joints are computed alike
    y = solve_upper(L, np.hstack([kept(dq), kept(dv), np.eye(n)]))
    x = solve_lower(L, np.hstack([y[:, : 2 * n] / -d[:, None], y[:, 2 * n :] / d[:, None]]))
    dq, dv, inverse = np.split(x, 3, axis=1)
    return np.array([dq, dv, mirrored(inverse)])

"""The complete model M v̇ + C v + g + friction + springs = τ + Σ Jᵀ w, its inverse and forward problems, its terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.articulated_body import aba
from dynamis.algorithms.joint_physics import dry_torque, rotor_torque, spring_torque, viscous_torque
from dynamis.algorithms.kinematics import REST, MovingBase
from dynamis.algorithms.mass_matrix import crba
from dynamis.algorithms.newton_euler import BodyWrenches, rnea
from dynamis.algorithms.singularity import singular_mass_error
from dynamis.display import counted, ledger_card, short
from dynamis.errors import SingularError
from dynamis.model.model import Model
from dynamis.scalar import factorise, solve_positive, solve_upper
from dynamis.spatial.inertia import mirrored

Array = npt.NDArray[Any]


def inverse_dynamics(
    model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> Array:
    """τ of the complete model."""
    return rnea(model, q, v, a, wrenches, base) + rotor_torque(model, a) + joint_bias(model, q, v)


def joint_bias(model: Model, q: Array, v: Array) -> Array:
    """Friction and springs."""
    return viscous_torque(model, v) + dry_torque(model, v) + spring_torque(model, q)


def forward_dynamics(
    model: Model, q: Array, v: Array, tau: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> Array:
    """v̇ of the complete model: the articulated-body algorithm, or M⁻¹ for mimic joints."""
    if model.coupled:
        return forward_dynamics_through_mass_matrix(model, q, v, tau, wrenches, base)
    try:
        return aba(model, q, v, tau - joint_bias(model, q, v), wrenches, base)
    except SingularError:
        raise singular_mass_error(model, q) from None


def forward_dynamics_through_mass_matrix(
    model: Model, q: Array, v: Array, tau: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST
) -> Array:
    """M(q)⁻¹ (τ − bias): fewer operations than the recursion on robots with short branches."""
    try:
        return solve_positive(crba(model, q), tau - bias(model, q, v, wrenches, base))
    except SingularError:
        raise singular_mass_error(model, q) from None


def mass_matrix_inverse(model: Model, q: Array) -> Array:
    """M(q)⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ from M = Lᵀ D L, of which only one half is computed."""
    try:
        L, d = factorise(crba(model, q))
        columns = solve_upper(L, np.eye(model.n))  # with entries only at the joints between each joint and the base
        return mirrored(columns.T, (columns / d[:, None]).T)
    except SingularError:
        raise singular_mass_error(model, q) from None


def gravity(model: Model, q: Array) -> Array:
    """Gravity torques g(q) = ∂U/∂q."""
    rest = np.zeros(model.n)
    return rnea(model, q, rest, rest)


def bias(model: Model, q: Array, v: Array, wrenches: BodyWrenches | None = None, base: MovingBase = REST) -> Array:
    """The part of τ independent of the acceleration: C v + g + friction + springs − Σ Jᵀ w."""
    return inverse_dynamics(model, q, v, np.zeros(model.n), wrenches, base)


@dataclass(frozen=True, eq=False, repr=False)
class TorqueLedger:
    """Torque contributions by term, each with the shape of τ. ``total`` is their sum, the inverse dynamics."""

    inertia: Array
    coriolis: Array
    gravity: Array
    viscous: Array
    dry: Array
    rotor: Array
    external: Array
    spring: Array
    joints: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)  # names of the coordinates, for display

    def named(self, joints: Iterable[str]) -> TorqueLedger:
        """The same ledger, with the names of its coordinates."""
        copy = replace(self)
        object.__setattr__(copy, "joints", tuple(joints))
        return copy

    @property
    def total(self) -> Array:
        return np.sum(list(self.as_dict().values()), axis=0)

    def as_dict(self) -> dict[str, Array]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "joints"}

    def __repr__(self) -> str:
        if np.asarray(self.inertia).dtype == object:
            return f"<TorqueLedger of {counted(np.shape(self.inertia)[-1], 'joint')}, symbolic>"
        most = {name: float(np.abs(x).max(initial=0.0)) for name, x in self.as_dict().items()}
        terms = sorted((name for name in most if most[name]), key=lambda name: -most[name])
        largest = ", ".join(f"{name} {most[name]:.4g}" for name in terms) or "0"
        return short(
            f"<TorqueLedger of {counted(np.shape(self.inertia)[-1], 'joint')}: largest absolute values {largest} N m or N>"
        )

    def _repr_html_(self) -> str:
        return ledger_card(self)


def torque_ledger(model: Model, q: Array, v: Array, a: Array, wrenches: BodyWrenches | None = None) -> TorqueLedger:
    """τ split into inertia M v̇ (links), Coriolis C v, gravity, viscous, dry, rotor, external −Σ Jᵀ w and spring."""
    rest, weightless = np.zeros(model.n), replace(model, gravity=np.zeros(3))
    return TorqueLedger(
        inertia=rnea(weightless, q, rest, a),
        coriolis=rnea(weightless, q, v, rest),
        gravity=gravity(model, q),
        viscous=viscous_torque(model, v),
        dry=dry_torque(model, v),
        rotor=rotor_torque(model, a),
        external=rnea(weightless, q, rest, rest, wrenches) if wrenches else np.zeros(model.n),
        spring=spring_torque(model, q),
    )

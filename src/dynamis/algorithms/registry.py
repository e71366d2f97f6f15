"""The functions of a robot's state, one row each.

`Robot`, the compiler's reports, C export, the command line and the benchmarks take their functions from here: a new algorithm
is a function of one state, f(model, q, …), and a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import (
    actuator_regressor,
    centroidal,
    configurations,
    coriolis,
    derivatives,
    dynamics,
    energy,
    jacobian,
    kinematics,
    mass_matrix,
    newton_euler,
    regressor,
    relative_motion,
    statics,
)
from dynamis.algorithms.centroidal import in_axes
from dynamis.algorithms.contact import body_wrenches
from dynamis.algorithms.kinematics import REST, MovingBase
from dynamis.model.model import Frame, Model

Array = npt.NDArray[Any]
Function = Callable[..., Any]
Invariance = Literal["none", "regrouping", "torques", "matrices"]

# longest chains for which the recursion of the forward dynamics may need fewer operations than M, and for which it always does
RECURSION_FROM, RECURSION_ONLY_FROM = 16, 40
DIFFERENTIATION_UP_TO = (
    7  # longest chains for which differentiation of the torques may need fewer operations than the recursion
)
ANALYTICAL = "analytical derivatives of the recursive Newton–Euler algorithm"
DIFFERENTIATED = "forward differentiation of the recursive Newton–Euler algorithm"


def always(_: Model) -> bool:
    return True


@dataclass(frozen=True)
class Method:
    """One way to compute a function.

    ``applies``: whether it differs from the others for a model. ``worth_compiling``: whether it may need the fewest
    operations; of several such methods the shortest code is used. ``invariance``: that of `Algorithm`, where it differs.
    """

    function: Function
    title: str
    applies: Callable[[Model], bool] = always
    worth_compiling: Callable[[Model], bool] = always
    invariance: Invariance | None = None


@dataclass(frozen=True)
class Algorithm:
    """A function f(model, q, …, *, options) of one state.

    ``arguments`` are vectors: q, v, a, tau, or others whose length the caller gives. ``result`` is its symbol. ``options``
    are keywords that select a variant, such as a frame. ``methods`` are the candidates for compilation, by default the
    function itself.

    ``invariance`` says what the result does not depend on, so that a model with fewer operations can replace the robot's own:
    "regrouping": inertias are regrouped towards the base; "torques" and "matrices": link frames are moved along joint axes
    in addition; "matrices": oblique placements are split, too.

    The expected number of instructions is the sum of the products of ``per_joint`` with the degrees of freedom, ``per_pair``
    with the pairs of which one carries the other, and ``per_triple`` likewise (measured on chains of 10 to 60 joints).
    ``slow``: without compilation it takes nearly as long as with.
    """

    name: str
    function: Function
    arguments: tuple[str, ...]
    result: str = ""
    title: str = ""
    options: tuple[str, ...] = ()
    methods: tuple[Method, ...] = ()
    invariance: Invariance = "none"
    per_joint: int = 100
    per_pair: int = 0
    per_triple: int = 0
    slow: bool = False

    def candidates(self, model: Model) -> Sequence[Method]:
        """The methods among which the compiler chooses."""
        return [m for m in self.methods if m.worth_compiling(model)] or [Method(self.function, self.title)]

    def compared(self, model: Model) -> Sequence[Method]:
        """The methods that differ for a model."""
        return [m for m in self.methods if m.applies(model)] or [Method(self.function, self.title)]


def with_wrenches(function: Function) -> Function:
    """The same function with external wrenches at frames, as further arguments, instead of wrenches on bodies."""

    def at_frames(
        model: Model, *arguments: Array, frames: Sequence[Frame] = (), axes: str = "world", base: MovingBase = REST
    ) -> Any:
        count = len(arguments) - len(frames)
        given = list(zip(frames, arguments[count:], strict=True))
        on_bodies = body_wrenches(model, arguments[0], given, axes == "world", base)
        moved = {} if base is REST else {"base": base}
        return function(model, *arguments[:count], on_bodies, **moved)

    return at_frames


def _ledger_rows(model: Model, q: Array, v: Array, a: Array, wrenches: Any) -> Array:
    return np.array(list(dynamics.torque_ledger(model, q, v, a, wrenches).as_dict().values()))


def _static_torque(model: Model, q: Array, wrenches: Any) -> Array:
    return statics.static_forces(model, q, wrenches)[0]


def _joint_wrenches(
    model: Model, q: Array, v: Array, a: Array, *given: Array, frames: Sequence[Frame] = (), axes: str = "world"
) -> Array:
    on_bodies = body_wrenches(model, q, list(zip(frames, given, strict=True)), axes == "world")
    F = newton_euler.joint_wrenches(model, q, v, a, on_bodies)[1]
    if axes == "world":
        X_W = kinematics.world_poses(model, kinematics.relative_poses(model, q))
        F = [np.concatenate([X.R @ W[:3], X.R @ W[3:]]) for X, W in zip(X_W, F, strict=True)]
    return np.array([F[i] for i, _ in model.links])


def _recursion_pays(model: Model) -> bool:
    return not model.coupled and max(model.chains, default=0) > RECURSION_FROM


def _is_short(model: Model) -> bool:
    return max(model.chains, default=0) <= DIFFERENTIATION_UP_TO


def _matrix_pays(model: Model) -> bool:
    return model.coupled or max(model.chains, default=0) < RECURSION_ONLY_FROM


ROWS = (
    Algorithm("inverse_dynamics", with_wrenches(dynamics.inverse_dynamics), ("q", "v", "a"), "tau",
              "recursive Newton–Euler algorithm in link frames", ("frames", "axes", "base"),
              invariance="torques", per_joint=85),
    Algorithm("forward_dynamics", with_wrenches(dynamics.forward_dynamics), ("q", "v", "tau"), "a",
              "articulated-body algorithm", ("frames", "axes", "base"),
              (Method(with_wrenches(dynamics.forward_dynamics_through_mass_matrix),
                      "factorisation M = Lᵀ D L, solved for τ − bias", worth_compiling=_matrix_pays),
               Method(with_wrenches(dynamics.forward_dynamics), "articulated-body algorithm",
                      lambda model: not model.coupled, _recursion_pays)),
              invariance="matrices", per_joint=320),
    Algorithm("mass_matrix", mass_matrix.crba, ("q",), "M", "composite-rigid-body algorithm",
              invariance="matrices", per_joint=0, per_pair=14),
    Algorithm("mass_matrix_inverse", dynamics.mass_matrix_inverse, ("q",), "Minv", "factorisation M = Lᵀ D L",
              invariance="matrices", per_joint=0, per_pair=40),
    Algorithm("coriolis_matrix", coriolis.coriolis_matrix, ("q", "v"), "C", "Christoffel symbols, accumulated body by body",
              invariance="matrices", per_joint=0, per_pair=55),
    Algorithm("gravity", dynamics.gravity, ("q",), "g", "recursive Newton–Euler algorithm with zero velocity and acceleration",
              invariance="torques", per_joint=20),
    Algorithm("bias", dynamics.bias, ("q", "v"), "h", "recursive Newton–Euler algorithm with zero acceleration",
              invariance="torques", per_joint=85),
    Algorithm("regressor", regressor.regressor, ("q", "v", "a"), "Y", "recursive Newton–Euler algorithm for unit parameters",
              per_joint=0, per_pair=80),
    Algorithm("kinetic_energy_regressor", regressor.kinetic_energy_regressor, ("q", "v"), "yT", "twists of the bodies"),
    Algorithm("potential_energy_regressor", regressor.potential_energy_regressor, ("q",), "yU", "poses of the bodies"),
    Algorithm("inverse_dynamics_derivatives", derivatives.inverse_dynamics_derivatives, ("q", "v", "a"), "dtau",
              ANALYTICAL, (),
              (Method(derivatives.inverse_dynamics_derivatives, ANALYTICAL),
               Method(derivatives.inverse_dynamics_differentiated, DIFFERENTIATED, _is_short, _is_short, "matrices")),
              invariance="regrouping", per_joint=150, per_pair=40, slow=True),
    Algorithm("forward_dynamics_derivatives", derivatives.forward_dynamics_derivatives, ("q", "v", "tau"), "da",
              f"M⁻¹ times {ANALYTICAL}", (),
              (Method(derivatives.forward_dynamics_derivatives, f"M⁻¹ times {ANALYTICAL}"),
               Method(derivatives.forward_dynamics_differentiated, f"M⁻¹ times {DIFFERENTIATED}", _is_short, _is_short,
                      "matrices")),
              invariance="regrouping", per_joint=150, per_pair=50, per_triple=8, slow=True),
    Algorithm("kinetic_energy", energy.kinetic_energy, ("q", "v"), "T", "sum over the bodies"),
    Algorithm("potential_energy", energy.potential_energy, ("q",), "U", "sum over the bodies"),
    Algorithm("mass_matrix_dot", coriolis.mass_matrix_dot, ("q", "v"), "Mdot", "C + Cᵀ from Christoffel symbols",
              invariance="matrices", per_joint=0, per_pair=55),
    Algorithm("coriolis_transpose_product", coriolis.coriolis_transpose_product, ("q", "v"), "CTv",
              "transpose of the Coriolis matrix times v", invariance="torques"),
    Algorithm("christoffel", coriolis.christoffel, ("q",), "c", "Coriolis matrix at unit velocities",
              per_joint=0, per_triple=60, slow=True),
    Algorithm("link_kinetic_energies", energy.kinetic_energies, ("q", "v"), "T", "½ Vᵀ I V per body"),
    Algorithm("link_potential_energies", energy.potential_energies, ("q",), "U", "−m gᵀ p per body"),
    Algorithm("torque_ledger", with_wrenches(_ledger_rows), ("q", "v", "a"), "terms",
              "differences of recursive Newton–Euler passes", ("frames", "axes")),
    Algorithm("actuator_regressor", actuator_regressor.actuator_regressor, ("q", "v", "theta", "theta_dot", "theta_ddot"),
              "Y", "linear in the parameters of each drive"),
    Algorithm("static_torque", with_wrenches(_static_torque), ("q",), "tau",
              "balance of forces and moments from the tips to the base", ("frames", "axes")),
    Algorithm("joint_wrenches", _joint_wrenches, ("q", "v", "a"), "F", "recursive Newton–Euler algorithm in link frames",
              ("frames", "axes"), per_joint=110),
    Algorithm("pose", relative_motion.pose, ("q",), "X", "product of joint transforms", ("frame", "relative_to")),
    Algorithm("poses", kinematics.poses, ("q",), "X", "products of joint transforms"),
    Algorithm("velocity", relative_motion.velocity, ("q", "v"), "V", "forward recursion of twists",
              ("frame", "axes", "relative_to")),
    Algorithm("acceleration", relative_motion.acceleration, ("q", "v", "a"), "A", "forward recursion of accelerations",
              ("frame", "axes", "relative_to")),
    Algorithm("jacobian", relative_motion.jacobian, ("q",), "J", "joint axes and lever arms", ("frame", "axes", "relative_to")),
    Algorithm("jacobian_dot", relative_motion.jacobian_dot, ("q", "v"), "Jdot", "rates of joint axes and lever arms",
              ("frame", "axes", "relative_to")),
    Algorithm("center_of_mass", centroidal.center_of_mass, ("q",), "c", "sum over the bodies", ("link",)),
    Algorithm("center_of_mass_velocity", in_axes(centroidal.center_of_mass_velocity), ("q", "v"), "cdot",
              "sum of linear momenta", ("link", "axes")),
    Algorithm("center_of_mass_acceleration", in_axes(centroidal.center_of_mass_acceleration), ("q", "v", "a"), "cddot",
              "sum of inertial forces", ("link", "axes")),
    Algorithm("center_of_mass_jacobian", in_axes(centroidal.center_of_mass_jacobian), ("q",), "Jc", "composite inertias",
              ("link", "axes")),
    Algorithm("centroidal_momentum", in_axes(centroidal.centroidal_momentum), ("q", "v"), "h", "sum of momenta",
              ("link", "axes")),
    Algorithm("centroidal_matrix", in_axes(centroidal.centroidal_matrix), ("q",), "Ag", "composite inertias", ("link", "axes")),
    Algorithm("centroidal_matrix_dot", in_axes(centroidal.centroidal_matrix_dot), ("q", "v"), "Agdot",
              "rates of composite inertias", ("link", "axes"), per_joint=700),
    Algorithm("centroidal_inertia", in_axes(centroidal.centroidal_inertia, tensor=True), ("q",), "Ic", "sum over the bodies",
              ("link", "axes")),
    Algorithm("integrate", configurations.integrate, ("q", "dv"), "q1", "exponential of each joint's motion", per_joint=2),
    Algorithm("difference", configurations.difference, ("q0", "q1"), "dv", "logarithm of each joint's motion", per_joint=2),
    Algorithm("interpolate", configurations.interpolate, ("q0", "q1", "s"), "q", "logarithm, scaled, then exponential",
              per_joint=4),
    Algorithm("integrate_derivatives", configurations.integrate_derivatives, ("q", "dv"), "dq1",
              "adjoint and right Jacobian of each joint's exponential", per_joint=10),
    Algorithm("difference_derivatives", configurations.difference_derivatives, ("q0", "q1"), "ddv",
              "inverse Jacobians of each joint's exponential", per_joint=10),
    Algorithm("analytic_jacobian", jacobian.analytic_jacobian, ("q",), "J", "rates of the orientation coordinates times J",
              ("frame", "orientation")),
)  # fmt: skip
ALGORITHMS = {row.name: row for row in ROWS}

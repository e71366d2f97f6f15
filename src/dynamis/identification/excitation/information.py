"""Information matrix of a motion, and its gradient with respect to the coefficients."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.criteria import Valued, criterion_of
from dynamis.identification.excitation.tracing import Traced
from dynamis.robot import Robot

Array = npt.NDArray[Any]
GENTLE_SIGN = 0.05  # rad/s: smoothing of Coulomb friction, so that the gradient depends on velocity reversals


class Regressor:
    """Regressor of the base parameters with gradients; rows divided by each joint's noise."""

    def __init__(self, base: BaseParameters, noise: Any = None) -> None:
        robot = base.model.robot
        self.base, self.robot = base, robot
        if base.model.presliding:
            raise InputError(
                "presliding friction depends on the previous motion: design with a model without it, and identify with it"
            )
        try:
            self.noise = np.ones(robot.n) if noise is None else np.broadcast_to(np.asarray(noise, float), (robot.n,))
        except (TypeError, ValueError):
            raise InputError(f"noise= takes one number for all joints or {robot.n}, the torques' standard deviations") from None
        if not (self.noise > 0.0).all() or not np.isfinite(self.noise).all():
            raise InputError("noise= takes standard deviations above zero, in N m (N for prismatic joints)")
        model = copy.copy(base.model)
        model.smooth = GENTLE_SIGN if model.smooth is None else model.smooth

        def columns(robot: Robot, q: Array, v: Array, a: Array) -> Array:
            return np.asarray(model.rows(robot, q, v, a, np.zeros(0))[:, base.independent] / self.noise[:, None])

        self.smooth = Traced(robot, columns, "excitation_regressor")

    def stacked(self, q: Array, v: Array, a: Array) -> Array:
        """Return (states · n, rank): as measured, with discontinuous Coulomb friction."""
        Y = self.base.regressor(q, v, a) / self.noise[:, None]
        return np.asarray(Y.reshape(-1, Y.shape[-1]))


class Information:
    """A criterion for motions of one basis, on one time grid."""

    def __init__(self, regressor: Regressor, basis: Basis, criterion: str, count: int, lengths: Array | None = None) -> None:
        self.regressor, self.basis, self.criterion = regressor, basis, criterion_of(criterion)
        self.phi = basis.matrices(basis.grid(count))
        self.lengths = np.ones(regressor.base.rank) if lengths is None else lengths

    def states(self, q0: Array, c: Array) -> tuple[Array, Array, Array]:
        """Return (q, v, a) on the grid."""
        phi, phi_dot, phi_ddot = self.phi
        return q0 + phi @ c, phi_dot @ c, phi_ddot @ c

    def matrix(self, q0: Array, c: Array) -> Array:
        """Return M, with discontinuous friction as measured."""
        X = self.regressor.stacked(*self.states(q0, c))
        return np.asarray(X.T @ X / len(self.phi[0]))

    def measure(self, q0: Array, c: Array) -> float:
        """Return the criterion without smoothing."""
        return self.criterion(self.matrix(q0, c), self.lengths)[0]

    def value_and_gradient(self, q0: Array, c: Array, sharpness: float) -> Valued:
        """Return the smoothed criterion, and its gradient by the coefficients (size, n)."""
        q, v, a = self.states(q0, c)
        Y = self.regressor.smooth(q, v, a)
        count, X = len(q), Y.reshape(-1, Y.shape[-1])
        value, slope = self.criterion(X.T @ X / count, self.lengths, sharpness)
        # dF = Σ ∂F/∂M : (dYᵀ Y + Yᵀ dY) / count
        weights = (X @ (slope + slope.T) / count).reshape(Y.shape)
        pulled = self.regressor.smooth.pull(q, v, a, weights)
        return value, np.asarray(sum(phi.T @ g for phi, g in zip(self.phi, pulled, strict=True)))

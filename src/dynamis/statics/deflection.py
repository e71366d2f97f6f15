"""Static equilibrium of a robot with elastic joints under a load, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, SingularError, printable
from dynamis.robot import Robot
from dynamis.spatial.rotation import log_quaternion, to_quaternion
from dynamis.statics.convention import one_state, one_wrench, torques_at_rest
from dynamis.statics.geometric_stiffness import (
    check_coordinates,
    largest_divergence,
    load_stiffness,
    spring_stiffness,
    weight_stiffness,
)
from dynamis.statics.stiffness import base_part, joint_matrix

Array = npt.NDArray[Any]

MAX_NEWTON_STEPS = 40  # for one increment of the load
MAX_LOAD_INCREMENTS = 256
MAX_STEP = 0.5  # rad or m, of any joint


@dataclass(frozen=True, eq=False, repr=False)
class Deflection:
    """Static equilibrium under a load: K_q (q − q₀) = Jᵀ(q) w − (g(q) − g(q₀)), where K_q has the springs of the model too.

    ``q`` is the equilibrium configuration, ``displacement`` (δp, δφ) the displacement of the frame, ``predicted`` its linear
    approximation C w with C = J (K_q + ∂g/∂q)⁻¹ Jᵀ at q₀ (without ∂g/∂q if ``gravity=False``). ``base`` is the part of both
    due to ``base_compliance``. ``residual`` [N m, N] is the largest remaining torque; ``stable`` states whether the
    equilibrium is stable.
    """

    q: Array
    dq: Array
    displacement: Array
    predicted: Array
    base: Array
    torque: Array
    residual: float
    iterations: int
    stable: bool

    @property
    def linear_error(self) -> float:
        """Relative error ‖predicted − displacement‖ / ‖displacement‖ of the linear approximation of the position."""
        size = float(np.linalg.norm(self.displacement[:3]))
        return float(np.linalg.norm(self.predicted[:3] - self.displacement[:3])) / size if size else 0.0

    def as_dict(self) -> dict[str, Any]:
        vectors = {name: getattr(self, name).tolist() for name in ("q", "dq", "displacement", "predicted", "base", "torque")}
        facts = {"residual": self.residual, "iterations": self.iterations, "stable": self.stable}
        return vectors | facts | {"linear_error": self.linear_error}

    def __repr__(self) -> str:
        far = f"{1e3 * float(np.linalg.norm(self.displacement[:3])):.4g} mm"
        return f"<Deflection: displacement {far}, {'stable' if self.stable else 'not stable'}, residual {self.residual:.1e}>"

    _repr_html_ = as_table


def deflection(
    robot: Robot, q: Any, joint_stiffness: Any, wrench: Any, frame: str | None = None, *, by: str = "environment",
    gravity: bool = True, tolerance: float = 1e-10, base_compliance: Any = None,
) -> Deflection:  # fmt: skip
    """Static equilibrium of a robot with joint springs under a load that is constant in world axes.

    At ``q`` the springs balance gravity alone; with ``gravity=False`` changes of the gravity torques are neglected. Solved by
    Newton's method with the exact derivative K_q + ∂g/∂q − ∂(Jᵀ w)/∂q until the residual is below ``tolerance`` times the
    load torques; the load is applied in increments if the iteration does not converge at once. ``base_compliance``, as in
    `stiffness`, adds its displacement to first order.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> bent = dy.statics.deflection(arm, [0.3, 0.9], 5e4, (200.0, 100.0, 0.0))
    >>> bent.residual < 1e-8, round(bent.linear_error, 4) < 0.02
    (True, True)
    """
    q0 = one_state(robot, q)
    check_coordinates(robot)
    if not robot.n:
        raise InputError(f"robot {printable(robot.name)} has no moving joints, so it has no joint deflection")
    if not isinstance(tolerance, float | int) or not 0.0 < tolerance < 1.0:
        raise InputError(f"tolerance must be greater than 0 and less than 1, got {tolerance!r}")
    f = robot.model.frame(frame).name
    K, w = joint_matrix(robot, joint_stiffness) + spring_stiffness(robot), one_wrench(robot, wrench, by)
    balance = _Balance(robot, q0, f, K, gravity)
    dq, iterations = balance.rest(w, float(tolerance))
    here = robot.integrate(q0, dq)
    stiff = balance.slope(dq, w)
    J = robot.jacobian(q0, f)
    base = np.zeros(6) if base_compliance is None else base_part(robot, q0, f, base_compliance) @ w
    K_start = K + weight_stiffness(robot, q0) if gravity else K
    start, end = robot.pose(q0, f), robot.pose(here, f)
    turn = log_quaternion(to_quaternion(end[:3, :3] @ start[:3, :3].T))
    return Deflection(
        q=here,
        dq=dq,
        displacement=np.concatenate([end[:3, 3] - start[:3, 3], turn]) + base,
        predicted=J @ np.linalg.solve(K_start, J.T @ w) + base,
        base=base,
        torque=K @ dq + torques_at_rest(robot, q0, gravity),
        residual=float(np.abs(balance.residual(dq, w)).max(initial=0.0)),
        iterations=iterations,
        stable=largest_divergence(K, K - stiff) < 1.0,
    )


class _Balance:
    """K_q δ + g(q₀ ⊕ δ) − g(q₀) − Jᵀ w = 0."""

    def __init__(self, robot: Robot, q0: Array, frame: str, K: Array, gravity: bool) -> None:
        self.robot, self.q0, self.frame, self.K, self.gravity = robot, q0, frame, K, gravity
        self.g0 = robot.gravity(q0) if gravity else np.zeros(robot.n)

    def residual(self, dq: Array, w: Array) -> Array:
        q = self.robot.integrate(self.q0, dq)
        change = self.robot.gravity(q) - self.g0 if self.gravity else 0.0
        return np.asarray(self.K @ dq + change - self.robot.jacobian(q, self.frame).T @ w)

    def slope(self, dq: Array, w: Array) -> Array:
        q = self.robot.integrate(self.q0, dq)
        slope = self.K - load_stiffness(self.robot, q, w, self.frame)
        return slope + weight_stiffness(self.robot, q) if self.gravity else slope

    def rest(self, w: Array, tolerance: float) -> tuple[Array, int]:
        """δ at equilibrium and the number of iterations; load increments are halved where Newton's method fails."""
        dq, done, part, steps = np.zeros(self.robot.n), 0.0, 1.0, 0
        while done < 1.0:
            load = min(1.0, done + part)
            there, used = self._newton(dq, load * w, tolerance)
            steps += used
            if there is not None:
                dq, done, part = there, load, min(1.0 - load, 2.0 * part) if load < 1.0 else part
                continue
            part *= 0.5
            if part < 1.0 / MAX_LOAD_INCREMENTS:
                raise SingularError(
                    f"no stable equilibrium was found beyond {100.0 * done:.0f} % of the load: the arm buckles; "
                    "increase the joint stiffness or reduce the load"
                )
        return dq, steps

    def _newton(self, dq: Array, w: Array, tolerance: float) -> tuple[Array | None, int]:
        enough = tolerance * max(1.0, float(np.abs(self.robot.jacobian(self.q0, self.frame).T @ w).max(initial=0.0)))
        for k in range(MAX_NEWTON_STEPS):
            off = self.residual(dq, w)
            if float(np.abs(off).max(initial=0.0)) <= enough:
                return dq, k
            slope = self.slope(dq, w)
            # beyond the stability limit, Newton's method would converge to an unstable equilibrium
            if largest_divergence(self.K, self.K - slope) >= 1.0:
                return None, k
            step = -np.linalg.solve(slope, off)
            dq = dq + step * min(1.0, MAX_STEP / max(float(np.abs(step).max()), 1e-300))
        return None, MAX_NEWTON_STEPS

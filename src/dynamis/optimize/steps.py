"""Steps of fixed length, x' = f(x, u), with their derivatives: the discrete dynamics that optimal control works with.

A state x is (q, v). Derivatives are along the entries of v, so that A is 2n × 2n for robots with quaternions too. The stages of
an explicit Runge–Kutta method are states reached from the start with the rates of the stage before: xᵢ = x ⊕ cᵢ h kᵢ₋₁ and
x' = x ⊕ h Σ bᵢ kᵢ, where ⊕ adds velocities and moves configurations on their manifold.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table, march
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.robot.inputs import broadcast_batch
from dynamis.scalar import solve_positive, tanh, where
from dynamis.simulation.motion import without_dry_friction
from dynamis.tolerances import TANH_SERIES_TWO_TERMS
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]
# cᵢ and bᵢ of explicit Runge–Kutta methods
TABLEAUS = {"rk2": ((0.0, 0.5), (0.0, 1.0)), "rk4": ((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6))}
METHODS = ("euler", *TABLEAUS)


class StepDerivatives(NamedTuple):
    """A = ∂x'/∂x (…, 2n, 2n) and B = ∂x'/∂u (…, 2n, m)."""

    A: Array
    B: Array


class Gradient(NamedTuple):
    """Gradient of a cost of a motion with respect to its initial state (…, 2n) and its inputs (N, …, m)."""

    start: Array
    inputs: Array


class Step:
    """A step of length h with constant torques: ``step(q, v, u)`` returns (q', v'), for one state or a batch.

    ``method`` is "euler" (semi-implicit: the configuration moves with the new velocity), "rk2" (explicit midpoint) or "rk4".
    u are the torques of the ``actuated`` coordinates, by default of all but those of a free base. Dry friction, which has no
    derivative at rest, is replaced by coulomb_bias + coulomb · tanh(v / friction_velocity). In "euler", friction acts against
    the new velocity, so that strong friction of light links needs no short steps.

    >>> import dynamis as dy
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> step = dy.optimize.Step(robot, 0.01, "rk4")
    >>> q, v = step([0.3, 0.5], [0.0, 0.0], [1.0, 0.0])
    >>> step.derivatives([0.3, 0.5], [0.0, 0.0], [1.0, 0.0]).B.shape
    (4, 2)
    """

    def __init__(
        self, robot: Robot, h: float, method: str = "euler", *, actuated: Any = "joints", friction_velocity: float = 0.05
    ) -> None:
        check_numeric(robot)
        if method not in METHODS:
            raise InputError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
        self.robot, self.h, self.method = robot, positive(h, "the step h"), method
        self.friction_velocity = positive(friction_velocity, "friction_velocity")
        self.smooth = without_dry_friction(robot)
        self.columns = robot.inputs.actuated(actuated)
        self._plain = robot.nq == robot.n
        self._damped = method == "euler" and bool(np.any(robot.model.viscous) or np.any(robot.model.coulomb))

    @property
    def inputs(self) -> int:
        """m, the number of actuated coordinates."""
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<Step of {self.robot.name}: {self.h:g} s, {self.method}, {self.inputs} inputs>"

    def __call__(self, q: Any, v: Any, u: Any) -> tuple[Array, Array]:
        q, v, u = self._checked(q, v, u)
        found = self._kernel(_joined(q, v), np.zeros(1), np.array([self.h]), u)
        return found[..., : self.robot.nq], found[..., self.robot.nq :]

    def function(self, robot: Robot, q: Array, v: Array, u: Array) -> Array:
        """(q', v') in one array: for `robot.compile`, `robot.casadi`, `robot.jax` and `robot.torch` with ``u=m``."""
        return np.concatenate(self.taken(robot, q, v, u, self.h))

    def rollout(self, q: Any, v: Any, u: Any) -> tuple[Array, Array]:
        """(q, v) at the N + 1 ends of the steps with inputs u (N, …, m)."""
        u = self._sequence(u)
        q, v, _ = self._checked(q, v, u[0])
        state = _joined(q, v)
        start = np.broadcast_to(state, (*np.broadcast_shapes(state.shape[:-1], u.shape[1:-1]), state.shape[-1]))
        states = march(self._kernel, start, [Table(u, 1)], t=0.0, h=self.h, reports=len(u))
        states = np.concatenate([start[None], states])
        return states[..., : self.robot.nq], states[..., self.robot.nq :]

    def derivatives(self, q: Any, v: Any, u: Any) -> StepDerivatives:
        """A and B at states and inputs, by the chain rule over the stages and the derivatives of the forward dynamics."""
        q, v, u = self._checked(q, v, u)
        n, m, h = self.robot.n, self.inputs, self.h
        unit = np.eye(2 * n + m)
        D_q, D_v, D_u = unit[:n], unit[n : 2 * n], unit[2 * n :]
        if self.method == "euler":
            find = self._implicit_acceleration if self._damped else self._acceleration
            a, D_a = find(q, v, u, D_q, D_v, D_u)
            v_new, D_v_new = v + h * a, D_v + h * D_a
            found = [self._moved(q, h * v_new, D_q, h * D_v_new), D_v_new]
        else:
            c, b = TABLEAUS[self.method]
            at_q, at_v, D_at_q, D_at_v = q, v, D_q, D_v
            rates, acceleration, slopes, D_acceleration = (np.zeros(x) for x in (n, n, unit.shape[:1], unit.shape[:1]))
            for k, weight in enumerate(b):
                a, D_a = self._acceleration(at_q, at_v, u, D_at_q, D_at_v, D_u)
                rates, slopes = rates + weight * at_v, slopes + weight * D_at_v
                acceleration, D_acceleration = acceleration + weight * a, D_acceleration + weight * D_a
                if k + 1 < len(c):
                    part = c[k + 1] * h
                    D_at_q = self._moved(q, part * at_v, D_q, part * D_at_v)
                    at_q, at_v, D_at_v = self._placed(self.robot, q, part * at_v), v + part * a, D_v + part * D_a
            found = [self._moved(q, h * rates, D_q, h * slopes), D_v + h * D_acceleration]
        both = np.concatenate(np.broadcast_arrays(*found), axis=-2)
        return StepDerivatives(both[..., : 2 * n], both[..., 2 * n :])

    def weighted_hessian(self, q: Any, v: Any, u: Any, weights: Any) -> Array:
        """Σ λᵢ ∂²x'ᵢ/∂(x, u)² (…, 2n + m, 2n + m) for the weights λ (…, 2n)."""
        if not self._plain:
            raise InputError("second derivatives of steps are available for robots without quaternions")
        return np.asarray(self._differentiated.weighted_hessian(q, v, u, weights))

    def gradient(self, q: Any, v: Any, u: Any, states: Any, inputs: Any = 0.0) -> Gradient:
        """Gradient of a cost of the motion (q, v) (N + 1, …) with the inputs u (N, …, m), by one backward sweep.

        ``states`` (N + 1, …, 2n) and ``inputs`` (N, …, m) are the derivatives of the cost with respect to each state, along
        the entries of v, and each input: λₖ = ∂J/∂xₖ + Aₖᵀ λₖ₊₁.
        """
        u = self._sequence(u)
        q, v = (self.robot.inputs.vector(x, size, name) for x, size, name in ((q, self.robot.nq, "q"), (v, self.robot.n, "v")))
        if q.ndim < 2 or v.shape[:-1] != q.shape[:-1] or len(q) != len(u) + 1:
            raise InputError(f"{len(u)} inputs lead through {len(u) + 1} states, got q {q.shape} and v {v.shape}")
        A, B = self.derivatives(q[:-1], v[:-1], u)
        slopes = _spread(states, (*q.shape[:-1], 2 * self.robot.n), "states")
        result = np.array(_spread(inputs, u.shape, "inputs"))
        costate = slopes[-1]
        for k in reversed(range(len(u))):
            result[k] += np.einsum("...ij,...i->...j", B[k], costate)
            costate = slopes[k] + np.einsum("...ij,...i->...j", A[k], costate)
        return Gradient(costate, result)

    def torques(self, q: Any, v: Any, a: Any) -> Array:
        """Torques τ (…, n) that give the acceleration a at the beginning of a step; with "euler", v' = v + h a."""
        q, v, a = (np.asarray(x, float) for x in (q, v, a))
        tau = self.smooth.inverse_dynamics(q, v, a)
        if self._damped:
            D, model = self._damping(v), self.robot.model
            tau = tau + model.coulomb_bias + D * (v + self.h * a) - model.viscous * v
        elif self.smooth is not self.robot:
            tau = tau + self.friction(v)
        return np.asarray(tau)

    # one step, for numbers and symbols

    def friction(self, v: Array) -> Array:
        """The torques of the smoothed dry friction."""
        model = self.robot.model
        return np.asarray(model.coulomb_bias + model.coulomb * tanh(v / self.friction_velocity))

    def taken(self, robot: Robot, q: Array, v: Array, u: Array, h: Any) -> tuple[Array, Array]:
        if self.method == "euler":
            v_new = v + h * (self._implicit_rate(robot, q, v, u, h) if self._damped else self._rate(robot, q, v, u))
            return self._placed(robot, q, h * v_new), v_new
        c, b = TABLEAUS[self.method]
        k = [(v, self._rate(robot, q, v, u))]
        for part in c[1:]:
            at_v = v + part * h * k[-1][1]
            k.append((at_v, self._rate(robot, self._placed(robot, q, part * h * k[-1][0]), at_v, u)))
        rates, acceleration = (sum(weight * x[i] for weight, x in zip(b, k, strict=True) if weight) for i in (0, 1))
        return self._placed(robot, q, h * rates), v + h * acceleration

    def _rate(self, robot: Robot, q: Array, v: Array, u: Array) -> Array:
        """The acceleration."""
        tau = np.zeros(robot.n, dtype=object if u.dtype == object else float)
        tau[self.columns] = u
        if self.smooth is not self.robot:
            tau = tau - self.friction(v)
        return without_dry_friction(robot).forward_dynamics(q, v, tau)

    def _implicit_rate(self, robot: Robot, q: Array, v: Array, u: Array, h: Any) -> Array:
        """a of M a + n(q, v) + coulomb_bias + D (v + h a) = τ, where D v is the friction at the velocity v."""
        lean, model, D = without_dry_friction(robot), self.robot.model, self._damping(v)
        tau = np.zeros(robot.n, dtype=object if u.dtype == object else float)
        tau[self.columns] = u
        rest = lean.inverse_dynamics(q, v, np.zeros(robot.n)) - model.viscous * v
        return solve_positive(lean.mass_matrix(q) + np.diag(h * D), tau - rest - model.coulomb_bias - D * v)

    def _damping(self, v: Array) -> Array:
        """The friction torques divided by the velocities."""
        model, width = self.robot.model, self.friction_velocity
        if not np.any(model.coulomb):
            return np.broadcast_to(model.viscous, v.shape)
        x = v / width
        small = np.less(abs(x), TANH_SERIES_TWO_TERMS, dtype=object if x.dtype == object else bool)
        quotient = where(small, 1.0 - x * x / 3.0, tanh(x) / where(small, 1.0, x))
        return np.asarray(model.viscous + model.coulomb / width * quotient)

    def _placed(self, robot: Robot, q: Array, change: Array) -> Array:
        return q + change if self._plain else robot.integrate(q, change)

    @cached_property
    def _kernel(self) -> Kernel:
        nq, n = self.robot.nq, self.robot.n

        def step(robot: Robot, y: Array, t: Array, h: Array, u: Array) -> Array:  # noqa: ARG001, the time of `march`
            return np.concatenate(self.taken(robot, y[:nq], y[nq:], u, h[0]))

        return self.robot.compile(step, y=nq + n, t=1, h=1, u=self.inputs)

    @cached_property
    def _differentiated(self) -> Any:
        return self.robot.differentiate(self.function, u=self.inputs)

    # derivatives at batches of states

    def _checked(self, q: Any, v: Any, u: Any) -> tuple[Array, Array, Array]:
        given = {"q": (q, self.robot.nq), "v": (v, self.robot.n), "u": (u, self.inputs)}
        arrays = {name: self.robot.inputs.vector(x, size, name).astype(float) for name, (x, size) in given.items()}
        broadcast_batch(arrays)
        return arrays["q"], arrays["v"], arrays["u"]

    def _sequence(self, u: Any) -> Array:
        """Inputs (N, …, m) of N steps."""
        found = self.robot.inputs.vector(u, self.inputs, "u").astype(float)
        if found.ndim < 2 or not len(found):
            raise InputError(f"u has shape {found.shape}; it must have a row of {self.inputs} torques for each step")
        return found

    def _acceleration(self, q: Array, v: Array, u: Array, D_q: Array, D_v: Array, D_u: Array) -> tuple[Array, Array]:
        """The acceleration, and its derivative from those of the state."""
        tau = np.zeros((*np.broadcast_shapes(v.shape[:-1], u.shape[:-1]), self.robot.n))
        tau[..., self.columns] = u
        if dry := self.smooth is not self.robot:
            tau = tau - self.friction(v)
        da = self.smooth.forward_dynamics_derivatives(q, v, tau)
        dv = da.dv
        if dry:
            width = self.friction_velocity
            dv = dv - da.dtau * ((1.0 - np.tanh(v / width) ** 2) * (self.robot.model.coulomb / width))[..., None, :]
        return self.smooth.forward_dynamics(q, v, tau), da.dq @ D_q + dv @ D_v + da.dtau[..., self.columns] @ D_u

    def _implicit_acceleration(self, q: Array, v: Array, u: Array, D_q: Array, D_v: Array, D_u: Array) -> tuple[Array, Array]:
        """As `_acceleration`, of `_implicit_rate`: the derivatives of its equation, solved for that of a."""
        model, width, D = self.robot.model, self.friction_velocity, self._damping(v)
        tau = np.zeros((*np.broadcast_shapes(v.shape[:-1], u.shape[:-1]), self.robot.n))
        tau[..., self.columns] = u
        rest = self.smooth.inverse_dynamics(q, v, np.zeros(self.robot.n)) - model.viscous * v
        inverse = np.linalg.inv(self.smooth.mass_matrix(q) + self.h * D[..., None] * np.eye(self.robot.n))
        a = np.einsum("...ij,...j->...i", inverse, tau - rest - model.coulomb_bias - D * v)
        x = v / width
        small = np.abs(x) < TANH_SERIES_TWO_TERMS
        safe = np.where(small, 1.0, x)
        slope = np.where(small, -2.0 / 3.0 * x, (1.0 - np.tanh(x) ** 2 - np.tanh(x) / safe) / safe)  # of tanh(x) / x
        along = model.coulomb / width**2 * slope * (v + self.h * a) + D - model.viscous
        partial = self.smooth.inverse_dynamics_derivatives(q, v, a)
        dv = partial.dv + along[..., None] * np.eye(self.robot.n)
        return a, inverse[..., self.columns] @ D_u - inverse @ (partial.dq @ D_q + dv @ D_v)

    def _moved(self, q: Array, change: Array, D_q: Array, D_change: Array) -> Array:
        """The derivative of a configuration after a change."""
        if self._plain:
            return D_q + D_change
        dq, dv = self.robot.integrate_derivatives(q, change)
        return np.asarray(dq @ D_q + dv @ D_change)


def _joined(q: Array, v: Array) -> Array:
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v)], axis=-1)


def _spread(value: Any, shape: tuple[int, ...], name: str) -> Array:
    try:
        return np.broadcast_to(np.asarray(value, float), shape)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape {shape}, got shape {np.shape(value)}") from None

"""Fixed steps, compiled: one function takes the state over a whole step.

Each method is a plain function of the acceleration; robot, torques and integrator are traced together.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.scalar import sqrt
from dynamis.simulation.friction import Smooth
from dynamis.simulation.motion import Motion, configuration_rate
from dynamis.simulation.sources import SourceError
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
Acceleration = Callable[[Any, Array, Array], Array]
MIDPOINT_ROUNDS = 10  # of fixed-point iteration: each gains as many digits as the step is short


def moved(model: Model, q: Array, rate: Array) -> Array:
    """q + rate, back on the manifold: quaternions of length one."""
    result = q + rate
    for _, body in model.moving:
        if body.motion.nq > body.motion.nv:
            part = slice(body.q_index.stop - 4, body.q_index.stop)
            result[part] = result[part] / sqrt(np.dot(result[part], result[part]))
    return result


def euler(model: Model, f: Acceleration, t: Any, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """Semi-implicit Euler: the new velocity moves the configuration."""
    v_new = v + h * f(t, q, v)
    return moved(model, q, h * configuration_rate(model, q, v_new)), v_new


def rk4(model: Model, f: Acceleration, t: Any, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """The classical method of Runge and Kutta, of order four."""

    def rates(t: Any, q: Array, v: Array) -> tuple[Array, Array]:
        return configuration_rate(model, q, v), f(t, q, v)

    k1 = rates(t, q, v)
    k2 = rates(t + 0.5 * h, q + 0.5 * h * k1[0], v + 0.5 * h * k1[1])
    k3 = rates(t + 0.5 * h, q + 0.5 * h * k2[0], v + 0.5 * h * k2[1])
    k4 = rates(t + h, q + h * k3[0], v + h * k3[1])
    q_rate, v_rate = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(model, q, h * q_rate), v + h * v_rate


def midpoint(model: Model, f: Acceleration, t: Any, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """The implicit midpoint rule, of order two and symmetric: the energy of a regular motion does not drift.

    In (q, v) it is symplectic only where the mass matrix is constant; the energy of a chaotic motion wanders.
    """
    v_mid, q_mid = v, q
    for _ in range(MIDPOINT_ROUNDS):
        q_mid = q + 0.5 * h * configuration_rate(model, q_mid, v_mid)
        v_mid = v + 0.5 * h * f(t + 0.5 * h, q_mid, v_mid)
    return moved(model, q, h * configuration_rate(model, q_mid, v_mid)), 2.0 * v_mid - v


NO_STATES = np.zeros(0)  # friction and drives that have states of their own are left to the adaptive methods
STEPS: dict[str, Any] = {"euler": euler, "rk4": rk4, "midpoint": midpoint}


def step_kernel(robot: Robot, method: str) -> Any:
    """(q, v, τ, h) → (q', v') over one step with constant torques, compiled; smooth friction is part of τ."""
    rule = STEPS[method]

    def step(robot: Robot, q: Array, v: Array, tau: Array, h: Array) -> Array:
        return np.concatenate(rule(robot.model, lambda _t, q, v: robot.forward_dynamics(q, v, tau), 0.0, q, v, h[0]))

    return robot.compile(step, h=1)


def march(
    motion: Motion,
    times: Array,
    y0: Array,
    *,
    method: str,
    step: float,
    constant: bool,
    progress: Callable[[float], None] | None,
) -> Trajectory:
    """Equal steps over each interval between reported times, none longer than ``step``.

    ``constant`` says that the torque is, so that one compiled function can take a whole step.
    """
    robot, n, nq = motion.smooth, motion.robot.n, motion.robot.nq
    traced = constant and not motion.wrenches and not any(isinstance(law, Smooth) for law in motion.laws.values())
    kernel = step_kernel(robot, method) if traced else None
    q, v, work = y0[:nq].copy(), y0[nq : nq + n].copy(), 0.0
    rows, status, steps = [(q, v, work, *_pushes(motion, float(times[0]), q, v))], "reached the end", 0
    try:
        for start, end in pairwise(times):
            count = max(1, int(np.ceil((end - start) / step - 1e-9)))
            h = (end - start) / count
            for k in range(count):
                t = start + k * h
                before = _power(motion, t, q, v)
                if kernel is not None:
                    y = kernel(q, v, motion.torque(t, q, v, NO_STATES), np.array([h]))
                    q, v = y[:nq], y[nq:]
                else:
                    q, v = STEPS[method](robot.model, _acceleration(motion), t, q, v, h)
                motion.check_bounds(t + h, v)
                # Simpson's rule would need the middle; the trapezium shows a balance of the order of the step squared
                work += 0.5 * h * (before + _power(motion, t + h, q, v))
                steps += 1
            rows.append((q, v, work, *_pushes(motion, float(end), q, v)))
            if progress is not None:
                progress((end - times[0]) / (times[-1] - times[0]))
    except SourceError as failed:
        status = f"stopped: {failed}"
    q_all, v_all, work_all, tau, friction, pushed = (np.array(column) for column in zip(*rows, strict=True))
    wrenches = {frame: pushed[:, k] for k, frame in enumerate(motion.wrenches)}
    return Trajectory(
        motion.robot, times[: len(rows)], q_all, v_all, tau, friction, work_all, wrenches, status=status,
        statistics={"steps": steps},
    )  # fmt: skip


def _acceleration(motion: Motion) -> Acceleration:
    def acceleration(t: Any, q: Array, v: Array) -> Array:
        tau, wrenches = motion.drive(t, q, v, NO_STATES)
        return motion.smooth.forward_dynamics(q, v, tau, wrenches)

    return acceleration


def _pushes(motion: Motion, t: float, q: Array, v: Array) -> tuple[Array, Array, list[Array]]:
    return (
        motion.torque(t, q, v, NO_STATES),
        motion.smooth_friction(v, NO_STATES),
        [w(t, q, v) for w in motion.wrenches.values()],
    )


def _power(motion: Motion, t: float, q: Array, v: Array) -> float:
    tau, wrenches = motion.drive(t, q, v, NO_STATES)
    return motion.power(q, v, tau, wrenches)

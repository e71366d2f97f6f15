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
Acceleration = Callable[[Array, Array], Array]
MIDPOINT_ROUNDS = 10  # of fixed-point iteration: each gains as many digits as the step is short


def moved(model: Model, q: Array, rate: Array) -> Array:
    """q + rate, back on the manifold: quaternions of length one."""
    result = q + rate
    for _, body in model.moving:
        if body.motion.nq > body.motion.nv:
            part = slice(body.q_index.stop - 4, body.q_index.stop)
            result[part] = result[part] / sqrt(np.dot(result[part], result[part]))
    return result


def euler(model: Model, f: Acceleration, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """Semi-implicit Euler: the new velocity moves the configuration."""
    v_new = v + h * f(q, v)
    return moved(model, q, h * configuration_rate(model, q, v_new)), v_new


def rk4(model: Model, f: Acceleration, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """The classical method of Runge and Kutta, of order four."""

    def rates(q: Array, v: Array) -> tuple[Array, Array]:
        return configuration_rate(model, q, v), f(q, v)

    k1 = rates(q, v)
    k2 = rates(q + 0.5 * h * k1[0], v + 0.5 * h * k1[1])
    k3 = rates(q + 0.5 * h * k2[0], v + 0.5 * h * k2[1])
    k4 = rates(q + h * k3[0], v + h * k3[1])
    q_rate, v_rate = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(model, q, h * q_rate), v + h * v_rate


def midpoint(model: Model, f: Acceleration, q: Array, v: Array, h: Any) -> tuple[Array, Array]:
    """The implicit midpoint rule: of order two, symmetric and symplectic, so that energy does not drift."""
    v_mid, q_mid = v, q
    for _ in range(MIDPOINT_ROUNDS):
        q_mid = q + 0.5 * h * configuration_rate(model, q_mid, v_mid)
        v_mid = v + 0.5 * h * f(q_mid, v_mid)
    return moved(model, q, h * configuration_rate(model, q_mid, v_mid)), 2.0 * v_mid - v


STEPS: dict[str, Any] = {"euler": euler, "rk4": rk4, "midpoint": midpoint}


def step_kernel(robot: Robot, method: str) -> Any:
    """(q, v, τ, h) → (q', v') over one step with constant torques, compiled; smooth friction is part of τ."""
    rule = STEPS[method]

    def step(robot: Robot, q: Array, v: Array, tau: Array, h: Array) -> Array:
        return np.concatenate(rule(robot.model, lambda q, v: robot.forward_dynamics(q, v, tau), q, v, h[0]))

    return robot.compile(step, h=1)


def march(
    motion: Motion, times: Array, y0: Array, method: str, step: float, progress: Callable[[float], None] | None
) -> Trajectory:
    """Equal steps over each interval between reported times, none longer than ``step``."""
    robot, n, nq = motion.smooth, motion.robot.n, motion.robot.nq
    traced = not motion.wrenches and not any(isinstance(law, Smooth) for law in motion.laws.values())
    kernel = step_kernel(robot, method) if traced and _is_constant(motion) else None
    q, v, work = y0[:nq].copy(), y0[nq : nq + n].copy(), 0.0
    rows, status, steps = [(q, v, work, *_pushes(motion, float(times[0]), q, v))], "reached the end", 0
    try:
        for start, end in pairwise(times):
            count = int(np.ceil((end - start) / step - 1e-9))
            h = (end - start) / count
            for k in range(count):
                t = start + k * h
                before = _power(motion, t, q, v)
                if kernel is not None:
                    y = kernel(q, v, motion.torque(t, q, v), np.array([h]))
                    q, v = y[:nq], y[nq:]
                else:
                    q, v = STEPS[method](robot.model, _at(motion, t), q, v, h)
                # Simpson's rule would need the middle; the trapezium shows a balance of the order of the step squared
                work += 0.5 * h * (before + _power(motion, t + h, q, v))
                steps += 1
            rows.append((q, v, work, *_pushes(motion, float(end), q, v)))
            if progress is not None:
                progress((end - times[0]) / (times[-1] - times[0]))
    except SourceError as failed:
        status = f"stopped: {failed}"
    q_all, v_all, work_all, tau, friction = (np.array(column) for column in zip(*rows, strict=True))
    return Trajectory(
        motion.robot, times[: len(rows)], q_all, v_all, tau, friction, work_all, status=status, statistics={"steps": steps}
    )


def _is_constant(motion: Motion) -> bool:
    """Whether the torque may be held over a step: then the whole step is one compiled function."""
    q, v = motion.robot.neutral(), np.zeros(motion.robot.n)
    return bool(np.array_equal(motion.torque(0.0, q, v), motion.torque(1.0, q, v + 1.0)))


def _at(motion: Motion, t: float) -> Acceleration:
    def acceleration(q: Array, v: Array) -> Array:
        tau, wrenches = motion.drive(t, q, v, np.zeros(0))
        return motion.smooth.forward_dynamics(q, v, tau, wrenches)

    return acceleration


def _pushes(motion: Motion, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    return motion.torque(t, q, v), motion.smooth_friction(v, np.zeros(0))


def _power(motion: Motion, t: float, q: Array, v: Array) -> float:
    tau, wrenches = motion.drive(t, q, v, np.zeros(0))
    return motion.power(q, v, tau, wrenches)

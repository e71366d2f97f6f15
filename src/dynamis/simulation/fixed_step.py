"""Integration rules with a fixed step.

Each is a plain function of a `Flow`, the equations of motion in first-order form. Evaluated with numbers it is the reference;
traced, it compiles robot, drives, controller and rule to one function.

A state is q, v and x, where x holds all other states: bristles, currents, rotors of elastic actuators, and the work done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate, moved, normalised
from dynamis.errors import InputError
from dynamis.scalar import maximum, solve_positive
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.time_stepping import time_stepping
from dynamis.simulation.velocity_balance import with_step

Array = npt.NDArray[Any]
State = tuple[Array, Array, Array]
MAX_STEPS = 1e9  # of one motion: minutes for the smallest robot, compiled; hours for others
MIDPOINT_ITERATIONS = 10  # of the fixed-point iteration: its error shrinks in proportion to the step length


class Flow:
    """Rates of a state. ``work`` states whether the work done is its last component."""

    def __init__(self, motion: EquationsOfMotion, work: bool = True) -> None:
        self.motion, self.work, self.model = motion, work, motion.smooth.model
        self.last_change: Any = 0.0  # of an iteration within the rule: what is left to settle
        self.first_acceleration: Any = None  # v̇ at the start of the step, by rules that are explicit in the torques

    def split(self, y: Array) -> State:
        """(q, v, x)."""
        nq, n = self.model.nq, self.model.n
        return y[:nq], y[nq : nq + n], y[nq + n :]

    def note_change(self, of_v: Array, of_x: Array) -> None:
        """The change in one iteration; the work done follows from the other states."""
        self.last_change = 0.0
        for change in (*of_v, *self.inside(of_x)):
            self.last_change = maximum(self.last_change, abs(change))

    def inside(self, x: Array) -> Array:
        """States of friction, drives and controller."""
        return x[:-1] if self.work else x

    def inner_rates(self, t: Any, q: Array, v: Array, x: Array, power: Any) -> Array:
        """ẋ for known power."""
        if not len(x):
            return x
        rates = self.motion.rates(t, q, v, self.inside(x), v, power)[self.model.nq + self.model.n :]
        return rates if self.work else rates[:-1]

    def with_step(self, ledger: Array, y: Array, h: Any) -> Array:
        """The ledger of the velocity balance with the step just taken from y."""
        v = self.split(y)[1]
        return ledger if self.first_acceleration is None else with_step(ledger, v, self.first_acceleration, h)

    def moved(self, q: Array, at: Array, v: Array, h: Any) -> Array:
        """q after the time h at the velocity v, with the rates of the configuration ``at``."""
        return moved(self.model, q, h * configuration_rate(self.model, at, v))

    def forces(self, t: Any, q: Array, v: Array, x: Array) -> tuple[Array, Any]:
        """Torques minus friction that is not in the robot model, and wrenches."""
        return self.motion.drive(t, q, v, self.inside(x))

    def acceleration(self, q: Array, v: Array, tau: Array, wrenches: Any) -> Array:
        return self.motion.acceleration(q, v, tau, wrenches)

    def others(self, t: Any, q: Array, v: Array, x: Array, tau: Array, wrenches: Any) -> Array:
        """ẋ."""
        return x if not len(x) else self.inner_rates(t, q, v, x, self.motion.power(q, v, tau, wrenches))

    def rates(self, t: Any, q: Array, v: Array, x: Array) -> State:
        """q̇, v̇ and ẋ; the quaternions of intermediate stages are normalised."""
        q = normalised(self.model, q)
        tau, wrenches = self.forces(t, q, v, x)
        return (
            configuration_rate(self.model, q, v),
            self.acceleration(q, v, tau, wrenches),
            self.others(t, q, v, x, tau, wrenches),
        )

    def momentum_rate(self, q: Array, v: Array, tau: Array, wrenches: Any) -> Array:
        """d/dt (M v) = τ − (C v + g + friction + springs − Σ Jᵀ w) + Ṁ v."""
        robot = self.motion.smooth
        return np.asarray(tau - robot.inverse_dynamics(q, v, 0.0 * v, wrenches) + robot.mass_matrix_dot(q, v) @ v)


def euler(flow: Flow, t: Any, q: Array, v: Array, x: Array, h: Any) -> State:
    """Semi-implicit Euler: the configuration is advanced with the new velocity."""
    tau, wrenches = flow.forces(t, q, v, x)
    flow.first_acceleration = flow.acceleration(q, v, tau, wrenches)
    v_new = v + h * flow.first_acceleration
    x_new = x + h * flow.others(t, q, v_new, x, tau, wrenches)
    return moved(flow.model, q, h * configuration_rate(flow.model, q, v_new)), v_new, x_new


def rk4(flow: Flow, t: Any, q: Array, v: Array, x: Array, h: Any) -> State:
    """The classical fourth-order Runge–Kutta method."""

    def after(part: float, k: State) -> State:
        return q + part * h * k[0], v + part * h * k[1], x + part * h * k[2]

    k1 = flow.rates(t, q, v, x)
    flow.first_acceleration = k1[1]
    k2 = flow.rates(t + 0.5 * h, *after(0.5, k1))
    k3 = flow.rates(t + 0.5 * h, *after(0.5, k2))
    k4 = flow.rates(t + h, *after(1.0, k3))
    q_rate, v_rate, x_rate = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(flow.model, q, h * q_rate), v + h * v_rate, x + h * x_rate


def midpoint(flow: Flow, t: Any, q: Array, v: Array, x: Array, h: Any) -> State:
    """The implicit midpoint rule, of order two, in positions and momenta p = M v: symplectic, without drift of the energy.

    With quaternions it is applied to q and v, where it is symmetric but not symplectic.
    """
    steps = _momentum_midpoint if flow.model.nq == flow.model.n else _velocity_midpoint
    return steps(flow, t, q, v, x, h)


def _momentum_midpoint(flow: Flow, t: Any, q: Array, v: Array, x: Array, h: Any) -> State:
    robot, half = flow.motion.smooth, 0.5 * h
    p = robot.mass_matrix(q) @ v
    v_mid, x_mid, p_mid = v, x, p
    for _ in range(MIDPOINT_ITERATIONS):
        q_mid = q + half * v_mid
        tau, wrenches = flow.forces(t + half, q_mid, v_mid, x_mid)
        p_mid = p + half * flow.momentum_rate(q_mid, v_mid, tau, wrenches)
        before = v_mid, x_mid
        x_mid = x + half * flow.others(t + half, q_mid, v_mid, x_mid, tau, wrenches)
        v_mid = solve_positive(robot.mass_matrix(q_mid), p_mid)
        flow.note_change(v_mid - before[0], x_mid - before[1])
    q_new = q + h * v_mid
    return q_new, solve_positive(robot.mass_matrix(q_new), 2.0 * p_mid - p), 2.0 * x_mid - x


def _velocity_midpoint(flow: Flow, t: Any, q: Array, v: Array, x: Array, h: Any) -> State:
    half = 0.5 * h
    q_mid, v_mid, x_mid = q, v, x
    for _ in range(MIDPOINT_ITERATIONS):
        q_mid, before = q + half * configuration_rate(flow.model, q_mid, v_mid), (v_mid, x_mid)
        _, v_rate, x_rate = flow.rates(t + half, q_mid, v_mid, x_mid)
        v_mid, x_mid = v + half * v_rate, x + half * x_rate
        flow.note_change(v_mid - before[0], x_mid - before[1])
    q_rate = configuration_rate(flow.model, q_mid, v_mid)
    return moved(flow.model, q, h * q_rate), 2.0 * v_mid - v, 2.0 * x_mid - x


RULES: dict[str, Any] = {"euler": euler, "rk4": rk4, "midpoint": midpoint, "time_stepping": time_stepping}


def check_step_length(step: float, start: float, end: float, name: str = "step") -> None:
    """Reject steps below the rounding of t, and excessive numbers of steps. ``name`` is that of the argument."""
    latest, duration = max(abs(start), abs(end)), end - start
    least = max(4.0 * float(np.finfo(float).eps) * latest, duration / MAX_STEPS, float(np.finfo(float).tiny))
    cure = f"use at least {name}={_rounded_up(least):g}, or simulate a shorter motion"
    if step < 4.0 * float(np.finfo(float).eps) * latest:
        raise InputError(f"{name}={step:g} s is below the rounding error of t = {latest:g} s: {cure}")
    if duration > MAX_STEPS * step:
        raise InputError(
            f"{name}={step:g} s means {duration / step:.0e} steps for {duration:g} s, more than {MAX_STEPS:.0e}: {cure}"
        )


def _rounded_up(x: float) -> float:
    """The next number with one digit."""
    unit = 10.0 ** np.floor(np.log10(x))
    return float(np.ceil(x / unit - 1e-9) * unit)


def take_step(flow: Flow, method: str, t: Any, y: Array, h: Any) -> Array:
    """One step of the rule from the state y = (q, v, x)."""
    return np.concatenate(RULES[method](flow, t, *flow.split(y), h))

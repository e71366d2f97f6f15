"""Time stepping, implicit in dry friction and contact: joints stick exactly, and stiff contacts allow long steps.

Over one step of length h the velocity v' at its end solves

    A v' = M v + h (τ − bias − d + Σ Jᵀ f),     A = M + h Σ Jᵀ D J,

where each contact wrench is f − D J v', with compliance and friction linearised in v' (see `contact_terms`). Dry friction d
is the sliding friction of joints with v' ≠ 0. For the others it is the torque within the range of their law that brings them
exactly to rest within the step. The sets of sliding and sticking joints are updated a fixed number of times, so that the step
can be traced [Stewart & Trinkle 1996]. A half step, then a full step with the equations at the midpoint: order two in smooth
motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.scalar import solve_positive, where
from dynamis.simulation.contact_terms import ContactTerms
from dynamis.simulation.motion import EquationsOfMotion, any_nonzero

Array = npt.NDArray[Any]
MAX_SET_CHANGES = 4  # of sliding and sticking joints in one step; the rest follow in the next


class Impulse:
    """The equations of one step, solved for the velocity at its end."""

    def __init__(self, motion: EquationsOfMotion, t: Any, q: Array, v: Array, z: Array) -> None:
        """Evaluate the equations at this state; ``motion`` is that of the traced or the numeric robot."""
        self.motion, self.q, self.v, self.z = motion, q, v, z
        self.tau = motion.torque(t, q, v, z) - motion.smooth_friction(v, z)
        # a contact given for another frame than its own is a wrench like any other
        contacts = {
            frame: w for frame, w in motion.wrenches.items() if getattr(w, "frame", None) == frame and hasattr(w, "linearised")
        }
        self.wrenches = {frame: w(t, q, v) for frame, w in motion.wrenches.items() if frame not in contacts} or None
        self.contacts = ContactTerms(motion.smooth.model, q, list(contacts.values())) if contacts else None
        self.M = motion.smooth.mass_matrix(q)
        self.r = self.tau - motion.smooth.inverse_dynamics(q, v, 0.0 * v, self.wrenches)

    def solve(self, start: Array, h: Any, middle: bool) -> tuple[Array, Any]:
        """(v', power) from the velocity ``start``; whether the equations are those in the ``middle`` of the step.

        The power is that of torques, friction and the contacts' law itself at the mean velocity of the step: work by the
        linearised law would hide its error from the balance of the energy.
        """
        # viscous friction at the mean velocity
        viscous = self.motion.smooth.model.viscous
        A = self.M + 0.5 * h * np.diag(viscous)
        b = self.M @ start + h * (self.r + viscous * (self.v - 0.5 * start))
        pushed: Any = 0.0 * start
        slope: Any = np.zeros((len(start), len(start)))
        if self.contacts is not None:
            pushed, slope = self.contacts.assembled(self.v, start, h, middle)
        A, b = A + h * slope, b + h * pushed
        new, d = self._sticking(A, b, start, h) if self.motion.sticking else (solve_positive(A, b), 0.0 * start)
        mean = 0.5 * (start + new)
        power = self.motion.power(self.q, mean, self.tau - d, self.wrenches)
        if self.contacts is not None:
            power = power + self.contacts.power(mean)
        return new, power

    def acceleration(self, v_mid: Array, h: Any) -> Array:
        """v̇ at the start of a half step to v_mid, in which viscous friction is at the mean velocity."""
        change, viscous = v_mid - self.v, self.motion.smooth.model.viscous
        damped = solve_positive(self.M, viscous * change) if any_nonzero(viscous) else 0.0
        return np.asarray(change / (0.5 * h) + 0.5 * damped)

    def _sticking(self, A: Array, b: Array, start: Array, h: Any) -> tuple[Array, Array]:
        laws = self.motion.sticking
        slides = {k: where(start[k] > 0.0, 1.0, where(start[k] < 0.0, -1.0, 0.0)) for k in laws}
        kind = object if object in (A.dtype, b.dtype) else float
        new, d = start, np.zeros(len(start), dtype=kind)
        for _ in range(MAX_SET_CHANGES):
            free, d = np.ones(len(start), dtype=kind), np.zeros(len(start), dtype=kind)
            for k, law in laws.items():
                free[k] = abs(slides[k])
                d[k] = free[k] * law.sliding(slides[k], self.v[k])
            held = A * np.outer(free, free)
            for k in laws:
                held[k, k] = held[k, k] + (1.0 - free[k])
            new = solve_positive(held, free * (b - h * d))
            left = (b - A @ new) / h
            for k, law in laws.items():
                low, high = law.holding
                starts = where(left[k] > high, 1.0, where(left[k] < low, -1.0, 0.0))
                slides[k] = where(free[k] > 0.5, where(new[k] * slides[k] > 0.0, slides[k], 0.0), starts)
                d[k] = where(free[k] > 0.5, d[k], left[k])
        for k in laws:
            # a joint that would still turn back within the step stops
            new[k] = where(slides[k] * new[k] > 0.0, new[k], 0.0)
        return new, d


def time_stepping(flow: Any, t: Any, q: Array, v: Array, x: Array, h: Any) -> tuple[Array, Array, Array]:
    """One step: a half step, then the full step with the equations at the midpoint."""
    half = Impulse(flow.motion, t, q, v, flow.inside(x))
    v_mid, power = half.solve(v, 0.5 * h, middle=False)
    if half.contacts is None:  # stiff contacts change velocities within a step
        flow.first_acceleration = half.acceleration(v_mid, h)
    x_mid = x + 0.5 * h * flow.inner_rates(t, q, v, x, power)
    q_mid = flow.moved(q, q, v + v_mid, 0.25 * h)
    whole = Impulse(flow.motion, t + 0.5 * h, q_mid, v_mid, flow.inside(x_mid))
    v_new, power = whole.solve(v, h, middle=True)
    x_new = x + h * flow.inner_rates(t + 0.5 * h, q_mid, v_mid, x_mid, power)
    return flow.moved(q, q_mid, v + v_new, 0.5 * h), v_new, x_new

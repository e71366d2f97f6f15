"""Tracking errors of a law with model errors: predicted bound and simulated result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm

from dynamis.control.dry_friction import smooth_model
from dynamis.control.law import ControlLaw
from dynamis.control.reference import duration_of, reference_of
from dynamis.display import counted, short, tracking_card
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_actuators
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP

Array = npt.NDArray[Any]
REFERENCE_SAMPLES = 61  # between which the linearized error dynamics are integrated exactly
LINEARIZATION_MARGIN = 1.5  # factor for the terms that linearization neglects
SETTLING_SHARE = 0.4  # of the duration, added to it: errors are largest shortly after a move, too


def tracking_bound(law: ControlLaw, plant: Robot, reference: Any, *, duration: float | None = None) -> Array:
    """Estimated bound of |e_k| (n) for a joint law started on its reference: 1.5 times `predicted_error`.

    It is a first-order estimate, not a proof, and may be exceeded by large errors.
    """
    warn_of_actuators(plant, "the predicted errors", limited=True)
    return largest_predicted(law, plant, reference, duration=duration)


def largest_predicted(
    law: ControlLaw, plant: Robot, reference: Any, *, duration: float | None = None, lag: float = 0.0
) -> Array:
    """The same for ideal drives, without a warning of others, with torques that act after a ``lag`` [s]."""
    return np.asarray(
        LINEARIZATION_MARGIN * np.abs(predicted_error(law, plant, reference, duration=duration, lag=lag)[1]).max(axis=0)
    )


def predicted_error(
    law: ControlLaw, plant: Robot, reference: Any, *, duration: float | None = None, lag: float = 0.0
) -> tuple[Array, Array]:
    """(t, e) with e (N, n) to first order: the torque error on the reference, through the linearised closed loop.

    M ë + D ė + K e = Δτ, with Δτ the torque of the plant on the reference minus that of the law, and K and D the derivatives of
    both with respect to position and velocity. Dry friction is in Δτ, not in D, where it would add damping. The default
    ``duration`` is that of the reference plus a settling time. A sampled law acts on average half a period late: ``lag`` adds
    to Δτ the change of the torque on the reference in this time.
    """
    if not isinstance(law, ControlLaw) or law.size:
        raise InputError("errors are predicted for laws without internal states only")
    if not law.torques:
        raise InputError("errors are predicted for laws that return torques: give the law without with_motors(…)")
    at = reference_of(reference)
    end = duration_of(reference, duration, SETTLING_SHARE)
    n, times = plant.n, np.linspace(0.0, end, REFERENCE_SAMPLES)
    y, errors = np.zeros(2 * n), [np.zeros(n)]
    for t, h in zip(0.5 * (times[1:] + times[:-1]), np.diff(times), strict=True):
        q, v, a = (np.asarray(x, dtype=float) for x in at(float(t)))
        A, rate = _linearised(law, plant, float(t), q, v, a)
        if lag:
            smooth = smooth_model(plant)
            q_0, v_0, a_0 = (np.asarray(x, dtype=float) for x in at(max(float(t) - lag, 0.0)))
            late = smooth.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q_0, v_0, a_0)
            rate = rate + np.linalg.solve(plant.mass_matrix(q), late)
        # ẏ = A y + (0, rate), constant over the step, as one exponential
        whole = np.zeros((2 * n + 1, 2 * n + 1))
        whole[: 2 * n, : 2 * n], whole[n : 2 * n, -1] = A, rate
        y = (expm(whole * h) @ np.append(y, 1.0))[:-1]
        errors.append(y[:n])
    return times, np.array(errors)


def _linearised(law: ControlLaw, plant: Robot, t: float, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """(A, M⁻¹ Δτ) of y = (e, ė) at one point of the reference."""
    n, smooth = plant.n, smooth_model(plant)

    def missing(q: Array, v: Array) -> Array:
        return np.asarray(smooth.inverse_dynamics(q, v, a) - law(plant, t, q, v))

    dry = plant.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q, v, a)
    nudges = CENTRAL_DIFFERENCE_STEP * np.eye(n)
    K, D = (
        np.column_stack(
            [(missing(q + dq, v + dv) - missing(q - dq, v - dv)) / (2.0 * CENTRAL_DIFFERENCE_STEP) for dq, dv in pairs]
        )
        for pairs in ([(d, 0.0 * d) for d in nudges], [(0.0 * d, d) for d in nudges])
    )
    solved = np.linalg.solve(plant.mass_matrix(q), np.column_stack([K, D, missing(q, v) + dry]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-solved[:, :n], -solved[:, n : 2 * n]]])
    return A, solved[:, -1]


@dataclass(frozen=True, eq=False, repr=False)
class Tracking:
    """Tracking ``error`` (N, n) at the times ``t``; ``largest``, ``last`` and ``rms`` error, ``peak`` torque per joint."""

    t: Array
    error: Array
    reference: Array
    tau: Array
    limit: Array
    names: tuple[str, ...]

    @property
    def largest(self) -> Array:
        return np.asarray(np.abs(self.error).max(axis=0))

    @property
    def last(self) -> Array:
        return np.asarray(np.abs(self.error[-1]))

    @property
    def rms(self) -> Array:
        return np.asarray(np.sqrt((self.error**2).mean(axis=0)))

    @property
    def peak(self) -> Array:
        return np.asarray(np.abs(self.tau).max(axis=0))

    def __repr__(self) -> str:
        errors = f"largest error {self.largest.max(initial=0.0):.4g}, last {self.last.max(initial=0.0):.4g}"
        return short(f"<Tracking of {', '.join(self.names)} at {counted(len(self.t), 'point')}: {errors}>")

    def _repr_html_(self) -> str:
        return tracking_card(self, "tracking")


def tracking(motion: Trajectory, reference: Any) -> Tracking:
    """The tracking errors of a motion with respect to a joint reference."""
    if not isinstance(motion, Trajectory):
        raise InputError(f"the first argument is a simulated motion, then its reference; got {type(motion).__name__} first")
    at = reference_of(reference)
    wanted = np.array([np.asarray(at(float(t))[0], dtype=float) for t in motion.t])
    if wanted.shape != motion.q.shape:
        raise InputError(f"the reference holds {counted(wanted.shape[1], 'number')}, the motion {motion.q.shape[1]}")
    return Tracking(
        motion.t, wanted - motion.q, wanted, motion.tau, motion.robot.limits["effort"], motion.robot.coordinate_names
    )

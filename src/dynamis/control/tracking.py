"""How far a law will be from its reference on a robot it knows only roughly: a bound beforehand, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm

from dynamis.control.dry_friction import smooth_model
from dynamis.control.law import Controller
from dynamis.control.reference import reference_of
from dynamis.display import short, tracking_card
from dynamis.errors import InputError
from dynamis.robot import Robot
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
INSTANTS = 61  # between which the linearised error is taken exactly
NUDGE = 1e-5  # rad or m, and likewise per second, for differences
ALLOWANCE = 1.5  # for what the linearisation leaves out
AFTERWARDS = 0.4  # of the duration: errors are largest shortly after a move, too


def tracking_bound(law: Controller, plant: Robot, reference: Any, *, duration: float | None = None) -> Array:
    """|e_k| (n) that a joint law should stay below, started on its reference: half as much again as `predicted_error`.

    It is an estimate to first order, not a proof: errors that are no longer small may do more.
    """
    return np.asarray(ALLOWANCE * np.abs(predicted_error(law, plant, reference, duration=duration)[1]).max(axis=0))


def predicted_error(law: Controller, plant: Robot, reference: Any, *, duration: float | None = None) -> tuple[Array, Array]:
    """(t, e) with e (N, n) to first order: what the law misses on the reference, through the loop linearised there.

    M ë + D ė + K e = Δτ, with Δτ the torque of the plant on the reference less that of the law, and K and D how both change
    with position and velocity. Dry friction is in Δτ, and not in D: smoothed friction would damp more. ``duration`` is that
    of the reference and some time afterwards unless given.
    """
    if not isinstance(law, Controller):
        raise InputError("errors are predicted for laws without states; those that learn have theorems of their own")
    at = reference_of(reference)
    end = float(duration or (1.0 + AFTERWARDS) * float(getattr(reference, "duration", 0.0) or 1.0))
    n, times = plant.n, np.linspace(0.0, end, INSTANTS)
    y, errors = np.zeros(2 * n), [np.zeros(n)]
    for t, h in zip(0.5 * (times[1:] + times[:-1]), np.diff(times), strict=True):
        q, v, a = (np.asarray(x, dtype=float) for x in at(float(t)))
        A, rate = _linearised(law, plant, float(t), q, v, a)
        # ẏ = A y + (0, rate), constant over the step, as one exponential
        whole = np.zeros((2 * n + 1, 2 * n + 1))
        whole[: 2 * n, : 2 * n], whole[n : 2 * n, -1] = A, rate
        y = (expm(whole * h) @ np.append(y, 1.0))[:-1]
        errors.append(y[:n])
    return times, np.array(errors)


def _linearised(law: Controller, plant: Robot, t: float, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """(A, M⁻¹ Δτ) of y = (e, ė) at one instant of the reference."""
    n, smooth = plant.n, smooth_model(plant)

    def missing(q: Array, v: Array) -> Array:
        return np.asarray(smooth.inverse_dynamics(q, v, a) - law(plant, t, q, v))

    dry = plant.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q, v, a)
    nudges = NUDGE * np.eye(n)
    K, D = (
        np.column_stack([(missing(q + dq, v + dv) - missing(q - dq, v - dv)) / (2.0 * NUDGE) for dq, dv in pairs])
        for pairs in ([(d, 0.0 * d) for d in nudges], [(0.0 * d, d) for d in nudges])
    )
    solved = np.linalg.solve(plant.mass_matrix(q), np.column_stack([K, D, missing(q, v) + dry]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-solved[:, :n], -solved[:, n : 2 * n]]])
    return A, solved[:, -1]


@dataclass(frozen=True, eq=False, repr=False)
class Tracking:
    """``error`` (N, n) at the times ``t``; for each joint its ``largest``, ``last`` and ``rms``, and the ``peak`` torque."""

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
        return short(f"<Tracking of {', '.join(self.names)} at {len(self.t)} points: {errors}>")

    def _repr_html_(self) -> str:
        return tracking_card(self, "tracking")


def tracking(motion: Trajectory, reference: Any) -> Tracking:
    """How a motion followed a reference of its joints."""
    at = reference_of(reference)
    wanted = np.array([np.asarray(at(float(t))[0], dtype=float) for t in motion.t])
    if wanted.shape != motion.q.shape:
        raise InputError(f"the reference holds {wanted.shape[1]} numbers, the motion {motion.q.shape[1]}")
    return Tracking(
        motion.t, wanted - motion.q, wanted, motion.tau, motion.robot.limits["effort"], motion.robot.coordinate_names
    )

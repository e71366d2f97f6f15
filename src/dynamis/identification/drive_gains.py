"""Drive gains: torque per unit of measured current of each joint, estimated together with the robot's parameters.

k_j i_j = Y_j β + L_j π, where β are the base parameters of the arm and π those of a payload. Without payload the equation is
homogeneous: twice the gains with twice the parameters explain the same currents. A payload of known mass, carried in some of
the runs, determines the scale [Gautier & Briot 2014]; without one, only a prior on the parameters can.

The noise is in the currents, so these are predicted: i_j = (Y_j β + L_j π)/k_j, solved for the maximum-likelihood parameters
by the Gauss–Newton method. It starts from the linear solution of the first equation, which is biased by noise in its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, flat, short
from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.drive_gain_equations import NO_SCALE, CurrentEquations
from dynamis.identification.samples import Samples, as_runs
from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains:
    """Gains (n,) [N m, or N, per unit of current] with their ``standard_errors``, and the parameters estimated with them.

    ``parameters`` (r,) are the base parameters with ``parameter_errors``; ``payload`` is the payload including its estimated
    parameters; ``noise`` (n,) is the residual standard deviation of the currents; ``covariance`` is of (gains, parameters,
    estimated payload parameters).
    """

    gains: Array
    standard_errors: Array
    parameters: Array
    parameter_errors: Array
    payload: Inertia | None
    noise: Array
    covariance: Array
    names: tuple[str, ...]
    notes: tuple[str, ...]

    def torque(self, current: Any) -> Array:
        """Return the torques (…, n) for currents (…, n)."""
        return np.asarray(current, dtype=float) * self.gains

    def __str__(self) -> str:
        rows = zip(self.names, self.gains, self.standard_errors, strict=True)
        return "\n".join([*(f"{name}: {k:.6g} ± {s:.2g}" for name, k, s in rows), *self.notes])

    def __repr__(self) -> str:
        return short(f"<DriveGains of {len(self.names)} joints: {flat(self.gains)} N m or N per unit of current>")

    _repr_html_ = as_text


def estimate_drive_gains(
    base: BaseParameters,
    unloaded: Samples | Sequence[Samples],
    loaded: Samples | Sequence[Samples] | None = None,
    payload: Inertia | None = None,
    *,
    frame: str | None = None,
    known: Sequence[str] = PARAMETER_NAMES,
    spread: Any = None,
) -> DriveGains:
    """Estimate the gains of all drives from runs without and with a payload; the samples' ``tau`` holds the measured currents.

    ``payload`` is expressed in ``frame`` (default: the tip); ``known`` lists which of its ten parameters are known, such
    as ``["m", "mx", "my", "mz"]``; the others are estimated. Without payload, ``spread`` is the prior standard deviation of the
    base parameters, relative to their values (or (r,) absolute values, infinite for no prior).

    >>> import dynamis as dy
    >>> from dynamis.identification.base_parameters import base_parameters
    >>> robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(0)
    >>> ball = dy.solids.sphere(0.1, mass=2.0)
    >>> q, v, a = rng.normal(size=(3, 200, 2))
    >>> with_ball = robot.replace(payload=ball)
    >>> runs = [Samples.of(q, v, a, r.inverse_dynamics(q, v, a) / [10.0, 5.0]) for r in (robot, with_ball)]
    >>> estimate_drive_gains(base_parameters(robot), runs[0], runs[1], ball).gains.round(6).tolist()
    [10.0, 5.0]
    """
    if (loaded is None) != (payload is None):
        raise InputError("loaded= (runs with a payload) and payload= (its inertia) must be given together or not at all")
    if loaded is None and spread is None:
        raise InputError(NO_SCALE)
    system = CurrentEquations.of(
        base, as_runs(unloaded), [] if loaded is None else as_runs(loaded), payload, frame, known, spread
    )
    theta, weights, settled = system.solved()
    covariance = system.covariance(theta, weights)
    errors = np.sqrt(np.diag(covariance))
    n, r = base.model.robot.n, base.rank
    carried = None
    if payload is not None:
        numbers = np.array(payload.parameters, dtype=float)
        numbers[system.unknown] = theta[n + r :]
        carried = Inertia.from_parameters(numbers)
    return DriveGains(theta[:n], errors[:n], theta[n : n + r], errors[n : n + r], carried, 1.0 / weights, covariance,
                      base.model.robot.coordinate_names, system.notes(theta, errors, settled))  # fmt: skip

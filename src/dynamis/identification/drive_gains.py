"""Drive gains: what torque a unit of measured current is, joint by joint, found together with the robot's parameters.

k_j i_j = Y_j β + L_j π, where β are the base parameters of the arm and π those of a payload. Without payload the equation is
homogeneous: twice the gains with twice the parameters explain the same currents. A payload of known mass, carried in some of
the runs, sets the scale [Gautier & Briot 2014]; where there is none, only what is believed of the parameters can.

Currents carry the noise, so they are what is predicted: i_j = (Y_j β + L_j π)/k_j, whose most likely parameters are found by
Gauss and Newton's method. Its start is the linear solution of the first equation, which noise in its columns biases.
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
    """Gains (n,) [N m, or N, per unit of current] with their ``standard_errors``, and what was found along with them.

    ``parameters`` (r,) are the base parameters with ``parameter_errors``; ``payload`` is the load, what was found of it filled
    in; ``noise`` (n,) is the standard deviation of the currents left unexplained; ``covariance`` is of (gains, parameters,
    what was found of the payload).
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
        """Torques (…, n) of currents (…, n)."""
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
    """The gains of all drives, from runs without and with a payload; the samples' ``tau`` hold the measured currents.

    ``payload`` is given in ``frame`` (the tip unless named); ``known`` names which of its ten parameters are believed, such
    as ``["m", "mx", "my", "mz"]``; the others are found along. Without payload, ``spread`` says how far the base parameters may
    be from the robot's own, as a share of each (or (r,) standard deviations, infinite where nothing is known).

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
        raise InputError("loaded= are the runs with a payload and payload= is what it was: give both or neither")
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

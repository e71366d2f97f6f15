"""Transmissions between motors and joints: gear ratios and couplings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, unknown_name

Array = npt.NDArray[Any]
SINGULAR = 1e-12  # smallest over largest singular value, columns scaled by the ratios


class Transmission:
    """v_motor = R v and, by conservation of power, τ = Rᵀ τ_motor; q = R⁻¹ q_motor + zero.

    ``R`` (n, n) has a row per motor and a column per joint; a vector (n,) holds ratios without couplings. ``zero`` (n,) are the
    joint positions at zero motor positions. ``names`` are the joint names.

    >>> wrist = Transmission.of([45.0, 32.0], couplings=[(1, 0, 32.0)])  # the second motor is carried by the first joint
    >>> wrist.position([90.0, 96.0]).round(12).tolist()
    [2.0, 1.0]
    >>> wrist.torque([1.0, 1.0]).tolist()
    [77.0, 32.0]
    """

    def __init__(self, R: Any, zero: Any = None, *, names: Sequence[str] = ()) -> None:
        matrix = _numbers(R, "R")
        if matrix.ndim == 1:
            matrix = np.diag(matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise InputError(f"R has shape {matrix.shape}; expected one row per motor and one column per joint")
        self.R = matrix
        self.names = tuple(names) or tuple(f"joint {k}" for k in range(len(matrix)))
        if len(self.names) != len(matrix):
            raise InputError(f"got {len(self.names)} names for {counted(len(matrix), 'joint')}")
        self._check_regular()
        self.zero = np.zeros(len(matrix)) if zero is None else _numbers(zero, "zero")
        if self.zero.shape != (len(matrix),):
            raise InputError(
                f"zero has shape {self.zero.shape}; expected one position for each of the {counted(len(matrix), 'joint')}"
            )
        self._inverse = np.linalg.inv(matrix)

    @classmethod
    def of(
        cls,
        ratios: Any,
        couplings: Iterable[tuple[int | str, int | str, float]] = (),
        zero: Any = None,
        *,
        names: Sequence[str] = (),
    ) -> Transmission:
        """Build from the ratio of each joint (negative if the motor turns oppositely) and couplings (motor, joint, value).

        A coupling is the motor rotation per rotation of another joint. Motors and joints are indexed from 0, or named by
        ``names``.
        """
        R = np.diag(np.atleast_1d(_numbers(ratios, "ratios")))
        for coupling in couplings:
            try:
                motor, joint, value = coupling
            except (TypeError, ValueError):
                raise InputError(f"a coupling must be (motor, joint, value), such as (5, 4, 32.0); got {coupling!r}") from None
            row, column = (_place(which, len(R), names) for which in (motor, joint))
            if row == column:
                raise InputError(f"the coupling {coupling!r} joins a motor to its own joint; set the ratio instead")
            R[row, column] = float(value)
        return cls(R, zero, names=names)

    @property
    def n(self) -> int:
        return len(self.R)

    def position(self, q_motor: Any) -> Array:
        """Return joint positions (…, n) from motor positions."""
        return self._rows(q_motor, "q_motor") @ self._inverse.T + self.zero

    def velocity(self, v_motor: Any) -> Array:
        """Return joint velocities, or accelerations, from those of the motors."""
        return self._rows(v_motor, "v_motor") @ self._inverse.T

    def torque(self, tau_motor: Any) -> Array:
        """Return joint torques from motor torques."""
        return self._rows(tau_motor, "tau_motor") @ self.R

    def motor_position(self, q: Any) -> Array:
        """Return motor positions (…, n) from joint positions."""
        return (self._rows(q, "q") - self.zero) @ self.R.T

    def motor_velocity(self, v: Any) -> Array:
        """Return motor velocities, or accelerations, from those of the joints."""
        return self._rows(v, "v") @ self.R.T

    def motor_torque(self, tau: Any) -> Array:
        """Return motor torques from joint torques."""
        return self._rows(tau, "tau") @ self._inverse

    def reflected(self, rotor_inertia: Any) -> Array:
        """Return rotor inertias (n,) [kg m²] reflected to the joints: Rᵀ diag(J) R (n, n), not diagonal if coupled."""
        J = _numbers(rotor_inertia, "rotor_inertia")
        if J.shape != (self.n,):
            raise InputError(
                f"rotor_inertia has shape {J.shape}; expected one value for each of the {counted(self.n, 'motor')}"
            )
        return self.R.T @ (J[:, None] * self.R)

    def __repr__(self) -> str:
        ratios = ", ".join(f"{x:g}" for x in np.diag(self.R))
        coupled = np.argwhere((self.R != 0.0) & ~np.eye(self.n, dtype=bool))
        also = "".join(f"; motor {counted(i, 'turn')} {self.R[i, j]:g} with joint {j}" for i, j in coupled)
        return f"<Transmission: {ratios}{also}>"

    def _rows(self, x: Any, name: str) -> Array:
        array = np.asarray(x, dtype=float)
        if array.ndim == 0 or array.shape[-1] != self.n:
            raise InputError(
                f"{name} has shape {array.shape}; its last axis must have {counted(self.n, 'entry', 'entries')}, one per joint"
            )
        return array

    def _check_regular(self) -> None:
        still = np.flatnonzero(~self.R.any(axis=0))
        if len(still):
            raise InputError(f"R is singular: no motor moves {self.names[int(still[0])]} (its column is zero)")
        idle = np.flatnonzero(~self.R.any(axis=1))
        if len(idle):
            raise InputError(f"R is singular: motor {int(idle[0])} moves no joint (its row is zero)")
        scaled = self.R / np.linalg.norm(self.R, axis=0)
        values = np.linalg.svd(scaled, compute_uv=False)
        if values[-1] < SINGULAR * values[0]:
            direction = np.linalg.svd(scaled)[2][-1]
            together = ", ".join(self.names[k] for k in np.flatnonzero(np.abs(direction) > 1e-6))
            raise InputError(f"R is singular: the motors do not distinguish {together}; check ratios and couplings")


def _numbers(value: Any, name: str) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric, got {value!r}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains a non-finite number")
    return array


def _place(which: int | str, n: int, names: Sequence[str]) -> int:
    if isinstance(which, str):
        if which not in names:
            raise unknown_name("joint", which, names)
        return list(names).index(which)
    if isinstance(which, bool) or not isinstance(which, int | np.integer) or not 0 <= which < n:
        raise InputError(f"a coupling refers to {which!r}; joints are indexed from 0 to {n - 1}, or named")
    return int(which)

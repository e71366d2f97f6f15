"""Gears between motors and joints: ratios, and couplings where one motor moves several joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name

Array = npt.NDArray[Any]
SINGULAR = 1e-12  # smallest over largest singular value, each joint in its own ratio's unit


class Transmission:
    """v_motor = R v and, since power is neither won nor lost, τ = Rᵀ τ_motor; q = R⁻¹ q_motor + zero.

    ``R`` (n, n) has a row for each motor and a column for each joint; a vector (n,) are ratios without couplings. ``zero`` (n,)
    are the joints' positions where the motors read zero. ``names`` are those of the joints.

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
            raise InputError(f"R has shape {matrix.shape}; a transmission takes a row for each motor, a column for each joint")
        self.R = matrix
        self.names = tuple(names) or tuple(f"joint {k}" for k in range(len(matrix)))
        if len(self.names) != len(matrix):
            raise InputError(f"{len(self.names)} names were given for {len(matrix)} joints")
        self._check_regular()
        self.zero = np.zeros(len(matrix)) if zero is None else _numbers(zero, "zero")
        if self.zero.shape != (len(matrix),):
            raise InputError(f"zero has shape {self.zero.shape}; it takes one position for each of the {len(matrix)} joints")
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
        """From the ratio of each joint (negative where motor and joint turn oppositely) and couplings (motor, joint, value).

        A coupling says how far a motor turns for a turn of a joint that is not its own. Motors and joints are counted from
        0, or named by ``names``.
        """
        R = np.diag(np.atleast_1d(_numbers(ratios, "ratios")))
        for coupling in couplings:
            try:
                motor, joint, value = coupling
            except (TypeError, ValueError):
                raise InputError(f"a coupling is (motor, joint, value), such as (5, 4, 32.0), got {coupling!r}") from None
            row, column = (_place(which, len(R), names) for which in (motor, joint))
            if row == column:
                raise InputError(f"the coupling {coupling!r} is of a motor with its own joint; that is a ratio")
            R[row, column] = float(value)
        return cls(R, zero, names=names)

    @property
    def n(self) -> int:
        return len(self.R)

    def position(self, q_motor: Any) -> Array:
        """Positions of the joints (…, n) from those of the motors."""
        return self._rows(q_motor, "q_motor") @ self._inverse.T + self.zero

    def velocity(self, v_motor: Any) -> Array:
        """Velocities, and likewise accelerations, of the joints from those of the motors."""
        return self._rows(v_motor, "v_motor") @ self._inverse.T

    def torque(self, tau_motor: Any) -> Array:
        """Torques at the joints from those of the motors."""
        return self._rows(tau_motor, "tau_motor") @ self.R

    def motor_position(self, q: Any) -> Array:
        """Positions of the motors (…, n) from those of the joints."""
        return (self._rows(q, "q") - self.zero) @ self.R.T

    def motor_velocity(self, v: Any) -> Array:
        """Velocities, and likewise accelerations, of the motors from those of the joints."""
        return self._rows(v, "v") @ self.R.T

    def motor_torque(self, tau: Any) -> Array:
        """Torques of the motors from those at the joints."""
        return self._rows(tau, "tau") @ self._inverse

    def reflected(self, rotor_inertia: Any) -> Array:
        """Rotors' inertias (n,) [kg m²] as the joints feel them: Rᵀ diag(J) R (n, n), not diagonal where coupled."""
        J = _numbers(rotor_inertia, "rotor_inertia")
        if J.shape != (self.n,):
            raise InputError(f"rotor_inertia has shape {J.shape}; it takes one for each of the {self.n} motors")
        return self.R.T @ (J[:, None] * self.R)

    def __repr__(self) -> str:
        ratios = ", ".join(f"{x:g}" for x in np.diag(self.R))
        coupled = np.argwhere((self.R != 0.0) & ~np.eye(self.n, dtype=bool))
        also = "".join(f"; motor {i} turns {self.R[i, j]:g} with joint {j}" for i, j in coupled)
        return f"<Transmission: {ratios}{also}>"

    def _rows(self, x: Any, name: str) -> Array:
        array = np.asarray(x, dtype=float)
        if array.ndim == 0 or array.shape[-1] != self.n:
            raise InputError(f"{name} has shape {array.shape}; its last axis must hold the {self.n} joints of the transmission")
        return array

    def _check_regular(self) -> None:
        still = np.flatnonzero(~self.R.any(axis=0))
        if len(still):
            raise InputError(f"R is singular: no motor moves {self.names[int(still[0])]}, its column is zero")
        idle = np.flatnonzero(~self.R.any(axis=1))
        if len(idle):
            raise InputError(f"R is singular: motor {int(idle[0])} moves no joint, its row is zero")
        scaled = self.R / np.linalg.norm(self.R, axis=0)
        values = np.linalg.svd(scaled, compute_uv=False)
        if values[-1] < SINGULAR * values[0]:
            direction = np.linalg.svd(scaled)[2][-1]
            together = ", ".join(self.names[k] for k in np.flatnonzero(np.abs(direction) > 1e-6))
            raise InputError(f"R is singular: the motors cannot tell {together} apart; check ratios and couplings")


def _numbers(value: Any, name: str) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {value!r}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds a number that is not finite")
    return array


def _place(which: int | str, n: int, names: Sequence[str]) -> int:
    if isinstance(which, str):
        if which not in names:
            raise unknown_name("joint", which, names)
        return list(names).index(which)
    if isinstance(which, bool) or not isinstance(which, int | np.integer) or not 0 <= which < n:
        raise InputError(f"a coupling names {which!r}; joints are counted from 0 to {n - 1}, or named")
    return int(which)

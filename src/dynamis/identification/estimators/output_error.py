"""Output error: parameters whose closed-loop simulation matches the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.errors import DynamisError, InputError
from dynamis.identification.equations import equations
from dynamis.identification.estimators.estimator import Estimator, check_rank, checked_rows
from dynamis.identification.estimators.least_squares import WeightedLeastSquares
from dynamis.identification.simulated_loop import SimulatedLoop

Array = npt.NDArray[Any]
HALVINGS = 8


class OutputError(Estimator):
    """Closed-loop output error: min Σ |measured − simulated(β)|², each joint in units of its noise, by Gauss–Newton.

    Velocities and accelerations need not be measured or filtered. ``loop`` is a `SimulatedLoop` with the runs, the controller
    and the reference of the log. ``match`` is the compared output: "position" (CLOE [Gautier, Janot & Vandanjon 2013]), with
    derivatives by finite differences, one batch of simulations with relative steps ``difference``; or "torque" (DIDIM), which
    needs measured torques only: the derivative is the regressor along the simulated motion, assumed independent of β.

    ``fit(X, y)`` takes the rows of the same log: y is the measured torque if torques are matched. The initial estimate is
    ``start``, by default weighted least squares, or the robot's own parameters if that cannot be simulated. Steps that increase
    the error, or for which the simulation diverges, are halved.

    Additional attributes after ``fit``: ``output_noise_`` (of the compared output, per joint), ``converged_``, ``iterations_``,
    ``history_`` (RMS error initially and after each step).
    """

    output_noise_: Array
    converged_: bool
    iterations_: int
    history_: list[float]

    def __init__(
        self,
        loop: SimulatedLoop,
        match: str = "position",
        start: Any = None,
        iterations: int = 30,
        tolerance: float = 1e-3,
        difference: float = 1e-4,
    ) -> None:
        self.loop, self.match, self.start = loop, match, start
        self.iterations, self.tolerance, self.difference = iterations, tolerance, difference

    def fit(self, X: Any, y: Any, *, joint: Any = None, names: Sequence[str] | None = None) -> Self:
        if self.match not in ("position", "torque"):
            raise InputError(f"match={self.match!r} is not supported; choose 'position' or 'torque'")
        rows, given, labels = checked_rows(X, y, joint, names)
        if rows.shape[1] != self.loop.base.rank:
            raise InputError(f"X has {rows.shape[1]} columns, but the loop's robot has {self.loop.base.rank} base parameters")
        wanted, channel = self._wanted(given, labels)
        beta, simulated = self._start(rows, given, labels, names)
        sizes = self._sizes(rows, given, beta)
        noise = _noise(wanted - simulated, channel, 0)
        self.history_, self.converged_, self.iterations_ = [_rms(wanted - simulated)], False, 0
        while not self.converged_ and self.iterations_ < max(1, self.iterations):
            self.iterations_ += 1
            slope = self._slope(beta, sizes)
            weight = 1.0 / noise[channel]
            R = np.asarray(np.linalg.qr(slope * weight[:, None], mode="r"))
            self.condition_ = check_rank(R, names)
            step = np.linalg.lstsq(slope * sizes * weight[:, None], (wanted - simulated) * weight, rcond=None)[0] * sizes
            inverse = np.linalg.inv(R)
            spread = np.sqrt(np.diag(inverse @ inverse.T))
            moved, simulated = self._stepped(beta, step, simulated, wanted, weight)
            change, beta = np.abs(moved - beta), moved
            noise = _noise(wanted - simulated, channel, rows.shape[1])
            self.history_.append(_rms(wanted - simulated))
            self.converged_ = bool(np.max(change / spread) < self.tolerance)
        self.coef_, self.covariance_ = beta, self._spread(beta, sizes, noise[channel])
        self.n_features_in_, self.dof_ = rows.shape[1], len(wanted) - rows.shape[1]
        self.output_noise_, self.noise_ = noise, _noise(given - rows @ beta, labels, rows.shape[1])
        return self

    def _start(self, rows: Array, given: Array, labels: Array, names: Sequence[str] | None) -> tuple[Array, Array]:
        """Return the initial β and its simulated output."""
        if self.start is not None:
            beta = np.asarray(self.start, float)
            if beta.shape != (rows.shape[1],):
                raise InputError(f"start= takes {rows.shape[1]} numbers, one per parameter; got shape {beta.shape}")
            return beta, self._simulated(beta, len(given))
        beta = WeightedLeastSquares().fit(rows, given, joint=labels, names=names).coef_
        try:
            return beta, self._simulated(beta, len(given))
        except InputError:
            raise
        except DynamisError:
            return self.loop.base.prior, self._simulated(self.loop.base.prior, len(given))

    def _sizes(self, rows: Array, given: Array, beta: Array) -> Array:
        """Return the magnitude of each parameter, or the magnitude with a significant effect."""
        matters = np.sqrt(np.mean(given**2) / np.maximum(np.mean(rows**2, axis=0), 1e-300))
        return np.maximum(np.abs(beta), 1e-3 * np.minimum(matters, 1e300))

    def _wanted(self, given: Array, labels: Array) -> tuple[Array, Array]:
        """Return the measured output and the joint of each entry."""
        if self.match == "torque":
            return given, labels
        n = self.loop.base.model.robot.n
        positions = np.concatenate([run.q for run in self.loop.runs])
        return positions.reshape(-1), np.tile(np.arange(n), len(positions))

    def _simulated(self, beta: Array, count: int) -> Array:
        if self.match == "position":
            return np.concatenate([run.q for run in self.loop.simulate(beta)]).reshape(-1)
        torques = self.loop.torque_rows(beta[None])[:, 0]
        if len(torques) != count:
            raise InputError(
                f"y has {count} rows, but the loop's runs have {len(torques)}: fit the equations of the same samples"
            )
        return torques

    def _slope(self, beta: Array, sizes: Array) -> Array:
        if self.match == "torque":
            return equations(self.loop.base, self.loop.simulate(beta)).X
        h = self.difference * sizes
        many = np.vstack([beta + np.diag(h), beta - np.diag(h)])
        q = np.concatenate([run[0] for run in self.loop.simulate_many(many)])  # (instants, 2 r, n)
        up, down = np.split(q, 2, axis=1)
        return np.moveaxis((up - down) / (2.0 * h[:, None]), 1, 2).reshape(-1, len(beta))

    def _spread(self, beta: Array, sizes: Array, noise: Array) -> Array:
        """Return the covariance of the solution of slopeᵀ W (measured − simulated(β)) = 0 due to noise."""
        Q, R = np.linalg.qr(self._slope(beta, sizes) / noise[:, None])
        if self.match == "position":
            inverse = np.linalg.inv(R)
            return inverse @ inverse.T
        # the motion does depend on β: the derivative of the simulated torques differs from the regressor used
        h = self.difference * sizes
        up, down = np.split(self.loop.torque_rows(np.vstack([beta + np.diag(h), beta - np.diag(h)])), 2, axis=1)
        inverse = np.linalg.inv(Q.T @ ((up - down) / (2.0 * h) / noise[:, None]))
        return inverse @ inverse.T

    def _stepped(self, beta: Array, step: Array, now: Array, wanted: Array, weight: Array) -> tuple[Array, Array]:
        """Return the step, halved until it does not increase the error, or zero."""
        cost = float(np.sum(((wanted - now) * weight) ** 2))
        for halving in range(HALVINGS + 1):
            tried = beta + 0.5**halving * step
            try:
                simulated = self._simulated(tried, len(wanted))
            except DynamisError as error:
                if isinstance(error, InputError):
                    raise
                continue
            reached = float(np.sum(((wanted - simulated) * weight) ** 2))
            if reached <= cost * (1.0 + 1e-12):
                return tried, simulated
        return beta, now


def _noise(residual: Array, channel: Array, parameters: int) -> Array:
    counts = np.bincount(channel)
    share = 1.0 - parameters / len(residual)
    squares = np.bincount(channel, residual**2) / np.maximum(counts * share, 1e-300)
    return np.maximum(np.sqrt(squares), 1e-12 * np.abs(residual).max(initial=0.0) + 1e-12)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))

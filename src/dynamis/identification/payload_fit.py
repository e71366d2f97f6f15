"""Inertial parameters of one body from a triangular factor: identifiable ones, and the nearest consistent body.

The size of the load is the unit of length, so that the ten parameters of a compact body have the same magnitude.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.algorithms.registry import Algorithm
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.pseudo_inertia import Programme, Rows, minimise, packed, pseudo_inertia
from dynamis.identification.samples import Decimation, Samples
from dynamis.model.model import Frame, Model
from dynamis.robot import Robot
from dynamis.spatial import PARAMETER_NAMES, Inertia
from dynamis.spatial.inertia import seen_from

Array = npt.NDArray[Any]

LENGTH_POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # each parameter has the unit kg m to this power
NOT_SHOWN = 1e-8  # relative to the largest singular value: unexcited directions
MIXED = 1e-6  # a parameter with a smaller component along unexcited directions is determined
WEAK = 10.0  # standard deviation of the prior, relative to the values of a compact body: a weak regularization


@dataclass(frozen=True, eq=False)
class Determined:
    """Least-squares solution: ``parameters`` (10), NaN where undetermined, and ``filled``, minimum-norm there.

    ``determined`` is a mask of the individually determined parameters; ``identifiable`` of those whose standard error is also
    below ``plausible``, the values of a body of the load's size.
    """

    parameters: Array
    filled: Array
    standard_errors: Array
    covariance: Array
    determined: Array
    identifiable: Array
    plausible: Array
    combinations: tuple[str, ...]


def determined(R: Array, z: Array, size: float) -> Determined:
    """Solve min |R π − z|², with rows in units of their noise."""
    units = size ** LENGTH_POWERS.astype(float)
    _, s, Vt = np.linalg.svd(R * units)
    s = np.concatenate([s, np.zeros(10 - len(s))])
    shown = s > NOT_SHOWN * max(s[0], 1e-300)
    V = Vt[shown].T
    covariance = (V / s[shown] ** 2) @ V.T
    filled = covariance @ (R * units).T @ z
    null = Vt[~shown].T
    known = np.abs(null).max(axis=1, initial=0.0) < MIXED
    covariance = covariance * np.outer(units, units)
    covariance[~known] = covariance[:, ~known] = np.nan
    covariance[~known, ~known] = np.inf
    errors = np.sqrt(np.diag(covariance))
    filled = filled * units
    plausible = max(abs(filled[0]), 1e-300) * units
    return Determined(
        parameters=np.where(known, filled, np.nan),
        filled=filled,
        standard_errors=errors,
        covariance=covariance,
        determined=known,
        identifiable=known & (errors < plausible),
        plausible=plausible,
        combinations=_combinations(V, known, units),
    )


def _combinations(V: Array, known: Array, units: Array) -> tuple[str, ...]:
    """Return the identifiable combinations of undetermined parameters: reduced rows of the row space."""
    open_ = np.flatnonzero(~known)
    rows = V[open_].T.copy()
    pivots: list[int] = []
    for column in range(len(open_)):
        rank = len(pivots)
        if rank == len(rows):
            break
        best = rank + int(np.argmax(np.abs(rows[rank:, column])))
        if abs(rows[best, column]) < MIXED:
            continue
        rows[[rank, best]] = rows[[best, rank]]
        rows[rank] /= rows[rank, column]
        for other in range(len(rows)):
            if other != rank:
                rows[other] -= rows[other, column] * rows[rank]
        pivots.append(column)
    found = []
    for row, pivot in zip(rows, pivots, strict=False):
        terms = []
        for k, value in enumerate(row):
            factor = value / units[open_[k]] * units[open_[pivot]]
            if abs(value) > MIXED:
                number = "" if abs(abs(factor) - 1.0) < 1e-9 else f"{abs(factor):.4g} "
                terms.append(("− " if factor < 0.0 else "+ ") + number + PARAMETER_NAMES[open_[k]])
        found.append(" ".join(terms).removeprefix("+ "))
    return tuple(found)


def consistent_parameters(R: Array, z: Array, size: float) -> Array:
    """Return the parameters of the physically consistent body that fits best; point masses and rods are included.

    Parameters that R does not determine are regularized towards a ball of the load's size around the origin.
    """
    units = size ** LENGTH_POWERS.astype(float)
    A = R * units
    mass = max(abs(float(np.linalg.lstsq(A, z, rcond=NOT_SHOWN)[0][0])), 1e-6)
    ball = mass * np.array([1.0, 0.0, 0.0, 0.0, 0.4, 0.0, 0.4, 0.0, 0.0, 0.4])
    pull = 1.0 / (WEAK * mass)
    Q, T = np.linalg.qr(np.vstack([A, pull * np.eye(10)]))
    best = np.linalg.solve(T, Q.T @ np.concatenate([z, pull * ball]))
    if Inertia.from_parameters(best).is_consistent(0.0):
        return best * units
    none = Rows(np.zeros((0, 10)), np.zeros(0), np.zeros(0), ())
    # w in standard errors; if the ball is too many of these away for the solver, in units of the way to it
    for far in (1.0, max(1.0, float(np.linalg.norm(T @ (ball - best))))):
        W = far * np.linalg.inv(T)  # x = best + W w
        body = packed(pseudo_inertia(best)), packed(pseudo_inertia(W.T)).T
        found = minimise(Programme(np.eye(10), np.zeros(10), [body], none, least=0.0, start=T @ (ball - best) / far))
        if found.solved:
            break
    return np.asarray((best + W @ found.x) * units)


CORRECTIONS = ("offset", "viscous", "coulomb")
PASSES = 5  # iterations of the noise weights of the joints, which depend on the solution
LEAST_RMS = 1e-150
REPEATED = 1e-10  # relative to the largest singular value: linearly dependent correction columns


def payload_regressor(robot: Robot, q: Any, v: Any, a: Any, frame: str | None = None) -> Array:
    """Return Y(q, v, a) (…, n, 10): torques due to the ten parameters of a body attached to a frame, about the frame's origin.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("ur5e")
    >>> ball = dy.solids.sphere(0.05, mass=2.0)
    >>> q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    >>> more = arm.replace(payload=ball).inverse_dynamics(q, v, a) - arm.inverse_dynamics(q, v, a)
    >>> bool(np.allclose(payload_regressor(arm, q, v, a) @ ball.parameters, more))
    True
    """
    at = robot.model.frame(frame)
    if at.body not in [i for i, _ in regressor.links(robot.model)]:
        raise InputError(f"frame {printable(at.name)} does not move: torques do not depend on its payload; name a moving frame")
    return robot.evaluate(PAYLOAD_REGRESSOR, q, v, a, frame=at)


def _payload_columns(model: Model, q: Array, v: Array, a: Array, frame: Frame) -> Array:
    start = 10 * [i for i, _ in regressor.links(model)].index(frame.body)
    to_body = np.column_stack([seen_from(Inertia.from_parameters(unit), frame.pose).parameters for unit in np.eye(10)])
    return regressor.regressor(model, q, v, a)[:, start : start + 10] @ to_body


PAYLOAD_REGRESSOR = Algorithm("payload_regressor", _payload_columns, ("q", "v", "a"), options=("frame",))


class JointRows(NamedTuple):
    """The equations of one joint: rows ``A`` of [corrections of all joints, those of the arm's parameters, payload, y], a mask
    of the rows with load, and where runs start."""

    A: Array
    loaded: Array
    starts: Array


@dataclass(frozen=True, eq=False)
class Fit:
    """min |factor π − solution|² in units of noise, corrections eliminated; ``corrections(π)`` are those for a given π."""

    factor: Array
    solution: Array
    stacked: Array
    terms: int

    def corrections(self, parameters: Array) -> Array:
        return solve(self.stacked[:, : self.terms], self.stacked[:, -1] - self.stacked[:, self.terms : -1] @ parameters)


class PayloadRows:
    """The rows of loaded and unloaded runs, joint by joint.

    ``terms`` are the corrections of each joint; ``arm`` is the relative uncertainty of the arm's base parameters: zero assumes
    them known.
    """

    def __init__(
        self, robot: Robot, frame: str, runs: Sequence[Samples], empty: Sequence[Samples], terms: tuple[str, ...], arm: float
    ) -> None:
        base = base_parameters(LinearModel(robot, friction=())) if arm > 0.0 else None
        n, k, tables, uses, torques = robot.n, len(terms), list[Array](), list[Array](), list[Array]()
        for number, run in enumerate([*runs, *empty]):
            states, size = (run.q, run.v, run.a), len(run)
            kinds = {"offset": np.ones_like(run.v), "viscous": run.v, "coulomb": np.sign(run.v)}
            own = np.zeros((size, n, n, k))
            for i, term in enumerate(terms):
                own[:, np.arange(n), np.arange(n), i] = kinds[term]
            whole = np.zeros((size, n, 0)) if base is None else base.regressor(*states)
            load = payload_regressor(robot, *states, frame) if number < len(runs) else np.zeros((size, n, 10))
            known = robot.inverse_dynamics(*states)[..., None]
            filtered = Decimation(run.period, run.parallel, run.every)
            table = filtered.of(np.concatenate([own.reshape(size, n, n * k), whole, load, known], axis=-1))
            tau = filtered.middles(run.tau) if run.smooth_torque else filtered.of(run.tau)
            table[..., -1] = tau - table[..., -1]
            tables.append(table)
            torques.append(tau)
            uses.append(run.use[filtered.centres(size)])
        self.joints, self.torque = list[JointRows](), list[Array]()
        for j in range(n):
            lengths = [int(use[:, j].sum()) for use in uses]
            A = np.concatenate([table[use[:, j], j] for table, use in zip(tables, uses, strict=True)])
            loaded = np.repeat(np.arange(len(uses)) < len(runs), lengths)
            self.torque.append(np.concatenate([tau[use[:, j], j] for tau, use in zip(torques, uses, strict=True)]))
            self.joints.append(JointRows(A, loaded, np.cumsum([0, *lengths[:-1]])))
        self.own = n * k  # number of corrections
        self.belief = np.zeros(0) if base is None else 1.0 / (arm * self._sizes(base.prior))

    def _sizes(self, prior: Array) -> Array:
        """Return the magnitudes of the arm's parameters; at least that with an effect similar to the others, and that with
        which one parameter alone causes the torque that the model lacks without load, such as a rotor that the file lacks."""
        own = slice(self.own, self.own + len(prior))
        shown = _rms(np.concatenate([rows.A[:, own] for rows in self.joints]))
        typical = float(np.median((np.abs(prior) * shown)[prior != 0.0])) if prior.any() else 1.0
        alone = np.full(len(prior), np.inf)
        for rows in self.joints:
            A = rows.A[~rows.loaded]
            lacking, effect = _rms(_without(A[:, : self.own], A[:, -1:])), _rms(A[:, own])
            alone = np.minimum(alone, np.where(effect > LEAST_RMS, lacking / effect, np.inf))
        return np.maximum.reduce([np.abs(prior), 0.1 * typical / shown, np.where(np.isfinite(alone), alone, 0.0)])

    def weighed(self) -> Fit:
        """Return the equations in units of the noise of each joint, estimated iteratively from the residuals."""
        tables = [np.linalg.qr(rows.A, mode="r") if len(rows.A) > rows.A.shape[1] else rows.A for rows in self.joints]
        arm = len(self.belief)
        terms = self.own + arm
        believed = np.zeros((arm, terms + 11))
        believed[:, self.own : terms] = np.diag(self.belief)
        # lower bound for exact data: the effect of a microgram
        ends = [np.abs(rows.A[:, terms:]).max(axis=0, initial=0.0) for rows in self.joints]
        largest = max(max(float(end[-1]), 1e-9 * float(end[:-1].max())) for end in ends)
        noise = np.full(len(tables), max(largest, 1e-300) if arm else 1.0)
        for _ in range(PASSES):
            stacked = np.vstack([*(table / s for table, s in zip(tables, noise, strict=True)), believed])
            rest = _without(stacked[:, :terms], stacked[:, terms:])
            rest = np.vstack([rest, np.zeros((max(0, 11 - len(rest)), 11))])
            R = np.asarray(np.linalg.qr(rest, mode="r"))
            fit = Fit(R[:, :10], R[:, 10], stacked, terms)
            left = self.residuals(solve(fit.factor, fit.solution, 1e-9), fit)
            floor = 1e-12 * max(largest, 1e-300)
            spent = self.own / len(self.joints) + (10 + arm) / 3.0  # payload and arm are shared by the joints
            noise = np.array([max(noise_level(e, rows, spent), floor) for e, rows in zip(left, self.joints, strict=True)])
        return fit

    def separated(self) -> PayloadRows:
        """Return the rows with corrections of their own for the runs with load: further ones, added to those of all runs."""
        other = copy.copy(self)
        columns = [joint.A[:, : self.own] * joint.loaded[:, None] for joint in self.joints]
        other.joints = [
            joint._replace(A=np.column_stack([joint.A[:, : self.own], more, joint.A[:, self.own :]]))
            for joint, more in zip(self.joints, columns, strict=True)
        ]
        other.own = 2 * self.own
        return other

    def residuals(self, parameters: Array, fit: Fit) -> list[Array]:
        """Return the residuals of each joint."""
        known = np.concatenate([-fit.corrections(parameters), -parameters, [1.0]])
        return [rows.A @ known for rows in self.joints]

    def loaded_residuals(self, parameters: Array, fit: Fit) -> tuple[Array, Array]:
        """Return the RMS residuals of the loaded runs by joint, of the arm's model alone and with the payload."""
        before, after = np.zeros((2, len(self.joints)))
        for j, (joint, e) in enumerate(zip(self.joints, self.residuals(parameters, fit), strict=True)):
            if joint.loaded.any():
                before[j], after[j] = (float(np.sqrt(np.mean(x[joint.loaded] ** 2))) for x in (joint.A[:, -1], e))
        return before, after


def _rms(A: Array) -> Array:
    return np.maximum(np.sqrt(np.sum(A**2, axis=0) / max(len(A), 1)), LEAST_RMS)


class FittedLoad(NamedTuple):
    """A fit, what it determines, the ``inertia`` of the load, and the RMS residuals (n,) with load before and after."""

    fit: Fit
    found: Determined
    inertia: Inertia
    before: Array
    after: Array


def fitted_load(rows: PayloadRows, size: float, consistent: bool) -> FittedLoad:
    """Fit the load, physically consistent or not; ``size`` is its approximate size."""
    fit = rows.weighed()
    found = determined(fit.factor, fit.solution, size)
    inertia = Inertia.from_parameters(consistent_parameters(fit.factor, fit.solution, size) if consistent else found.filled)
    return FittedLoad(fit, found, inertia, *rows.loaded_residuals(inertia.parameters, fit))


def solve(A: Array, b: Array, rcond: float | None = REPEATED) -> Array:
    """Solve least squares with normalized columns; minimum-norm if rank-deficient."""
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    return np.linalg.lstsq(A / scale, b, rcond=rcond)[0] / scale


def _without(A: Array, B: Array) -> Array:
    """Return the component of B's columns orthogonal to the span of A."""
    if not A.shape[1]:
        return B
    scale = np.linalg.norm(A, axis=0)
    U, s, _ = np.linalg.svd(A / np.where(scale > 0.0, scale, 1.0), full_matrices=False)
    U = U[:, s > REPEATED * max(s[0], 1e-300)]
    return B - U @ (U.T @ B)


def noise_level(residual: Array, rows: JointRows, spent: float) -> float:
    """Return the noise level of independent samples with the same uncertainty of the payload as these residuals, of which a
    fit has ``spent`` degrees of freedom."""
    dof = max(len(residual) - spent, 1.0)
    return float(np.sqrt(residual @ residual / dof * _lasting(residual, rows.starts)))


def _lasting(residual: Array, starts: Array) -> float:
    """Return 1 + 2 Σ ρ_k up to the first non-positive autocorrelation: the number of samples per independent one."""
    runs = [run for run in np.split(residual, starts[1:]) if len(run) > 20]
    total = sum(float(run @ run) for run in runs)
    if total == 0.0:
        return 1.0
    length = 1 << (2 * max(map(len, runs)) - 1).bit_length()
    spectrum = sum(np.abs(np.fft.rfft(run, length)) ** 2 for run in runs)
    correlation = np.fft.irfft(spectrum, length)[1 : min(map(len, runs)) // 2] / total
    ends = np.flatnonzero(correlation <= 2.0 / np.sqrt(len(residual)))
    return float(1.0 + 2.0 * correlation[: ends[0] if len(ends) else None].sum())

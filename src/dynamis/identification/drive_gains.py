"""Drive gains: torque per unit of measured current of each joint, estimated together with the robot's parameters.

k_j i_j = Y_j β + L_j π, where β are the base parameters of the arm and π those of a payload. Without payload the equation is
homogeneous: twice the gains with twice the parameters explain the same currents. A payload of known mass, carried in some of
the runs, determines the scale [Gautier & Briot 2014]; without one, only a prior on the parameters can.

The noise is in the currents, so these are predicted: i_j = (Y_j β + L_j π)/k_j, solved for the maximum-likelihood parameters
by the Gauss–Newton method. It starts from the linear solution of the first equation, which is biased by noise in its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted, flat, short
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.drive_gain_checks import contradictions, negative_gains
from dynamis.identification.equations import Matrix, equations
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.payload_fit import payload_regressor, solve
from dynamis.identification.samples import Decimation, Samples, as_runs
from dynamis.identification.validation.residuals import autocorrelated_covariance
from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains:
    """Gains (n,) [N m, or N, per unit of current] with their ``standard_errors``, and the parameters estimated with them.

    A gain that the runs do not determine is NaN, with an infinite standard error, as have the parameters with the same scale.
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
        values = (f"{name}: " + (f"{k:.6g} ± {s:.2g}" if np.isfinite(s) else "not determined") for name, k, s in rows)
        return "\n".join([*values, *self.notes])

    def __repr__(self) -> str:
        return short(f"<DriveGains of {counted(len(self.names), 'joint')}: {flat(self.gains)} N m or N per unit of current>")

    _repr_html_ = as_text


@one_blas_thread()
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
    empty, carrying = as_runs(unloaded), [] if loaded is None else as_runs(loaded)

    def again(runs: Sequence[Samples], known: Sequence[str] | None) -> DriveGains:
        return _estimated(base, empty, list(runs), payload, frame, given if known is None else known, spread)

    given = known
    found = again(carrying, known)
    wrong = list(contradictions(base, empty, carrying, frame, found, again)) if carrying else []
    return replace(found, notes=(*found.notes, *(wrong or negative_gains(base, found))))  # a wrong payload may turn signs


def _estimated(
    base: BaseParameters, unloaded: list[Samples], loaded: list[Samples], payload: Inertia | None, frame: str | None,
    known: Sequence[str], spread: Any,
) -> DriveGains:  # fmt: skip
    system = CurrentEquations(base, unloaded, loaded, payload, frame, known, spread)
    theta, weights, settled = system.solved()
    covariance = system.covariance(theta, weights)
    errors = np.sqrt(np.diag(covariance))
    n, r = base.model.robot.n, base.rank
    theta[:n][system.vague] = np.nan
    carried = None
    if payload is not None:
        numbers = np.array(payload.parameters, dtype=float)
        numbers[system.unknown] = theta[n + r :]
        carried = Inertia.from_parameters(numbers)
    return DriveGains(theta[:n], errors[:n], theta[n : n + r], errors[n : n + r], carried, 1.0 / weights, covariance,
                      base.model.robot.coordinate_names, system.notes(theta, errors, settled))  # fmt: skip


STEPS = 100
SETTLED = 1e-6  # convergence: step relative to the standard deviation
RUNAWAY = 1e4  # divergence: gains relative to the initial ones, for currents unrelated to the model
UNDETERMINED = 1e-9  # smallest over largest singular value, normalized columns
VAGUE = 1.0  # expected standard error of a gain, relative to it, above which it is not estimated
TIED = 0.05  # component of a parameter in a direction that the runs do not determine, normalized columns
NOISELESS = 1e-12  # relative to a joint's current: a smaller residual is rounding
BELIEVABLE = 1e-6  # the same with a prior, which must not be lost in rounding

NO_SCALE = (
    "currents alone determine the gains and the parameters only up to a common factor: add runs with a known payload "
    "(loaded=, payload=), or give the uncertainty of the robot's own parameters (spread=0.1 for 10 %)"
)
NOT_SHOWN = "the currents do not depend on the payload: check that all loaded runs, and no others, carried it"


class CurrentEquations:
    """Triangular equations of each joint (n, k): currents ``i``, columns ``W`` (n, k, r) of the arm, ``U`` of the unknown
    parameters of the payload and torque ``b`` of the known ones, and the number of ``rows`` (n,) they stand for; ``believed``
    (r,) are the prior parameters and ``certainty`` (r,) 1 / their standard deviations, 0 without a prior."""

    def __init__(
        self, base: BaseParameters, unloaded: list[Samples], loaded: list[Samples], payload: Inertia | None, frame: str | None,
        known: Sequence[str], spread: Any,
    ) -> None:  # fmt: skip
        strange = [name for name in known if name not in PARAMETER_NAMES]
        if strange:
            raise InputError(f"known= contains {printable(str(strange[0]))}; the parameters are {', '.join(PARAMETER_NAMES)}")
        open_ = [k for k, name in enumerate(PARAMETER_NAMES) if payload is not None and name not in known]
        self.base, self.unknown = base, np.array(open_, dtype=int)
        numbers = np.zeros(10) if payload is None else np.array(payload.parameters, dtype=float)
        numbers[self.unknown] = 0.0
        if loaded and not numbers.any():
            raise InputError(
                "the payload has no known parameters, or zero mass, so it does not determine the scale: weigh it, known=['m']"
            )
        self.names = [printable(name) for name in base.model.robot.coordinate_names]
        loads = [np.zeros((*run.tau.shape, 10)) for run in unloaded]
        loads += [payload_regressor(base.model.robot, run.q, run.v, run.a, frame) for run in loaded]
        self.table = np.concatenate(
            [_rows(base, run, load, numbers, self.unknown) for run, load in zip([*unloaded, *loaded], loads, strict=True)]
        )
        self.equations = equations(base, [*unloaded, *loaded])
        table, joint = self.table, self.equations.joint
        n, r = base.model.robot.n, base.rank
        triangles = np.zeros((n, table.shape[1], table.shape[1]))
        for j in range(n):
            own = table[joint == j]
            if not own[:, 0].any():
                raise InputError(f"joint {self.names[j]} has no current in any row in use, so its gain cannot be estimated")
            R = np.linalg.qr(own, mode="r")
            triangles[j, : len(R)] = R
        self.i, self.W, self.U, self.b = np.split(triangles, [1, r + 1, table.shape[1] - 1], axis=2)
        self.i, self.b = self.i[:, :, 0], self.b[:, :, 0]
        self.rows = np.bincount(joint, minlength=n)
        self.believed, self.certainty = _belief(base, spread)
        self.vague = np.full(n, False)  # gains that the runs do not determine
        self.tied = np.full(n + r + self.U.shape[2], False)  # what has the same scale as these
        self.held: dict[int, float] = {}  # values at which some of them are fixed, which sets that scale

    def torque(self, theta: Array) -> Array:
        """Return the torques W β + U π + b (n, k)."""
        n, r = len(self.i), self.W.shape[2]
        return np.asarray(self.W @ theta[n : n + r] + self.U @ theta[n + r :] + self.b)

    def residual(self, theta: Array, weights: Array) -> Array:
        """Return the current residuals over their noise, and the deviations of the parameters from the prior."""
        n, r = len(self.i), self.W.shape[2]
        e = self.i - self.torque(theta) / theta[:n, None]
        return np.concatenate([(weights[:, None] * e).reshape(-1), self.certainty * (theta[n : n + r] - self.believed)])

    def _columns(self, gains: Array, scale: Array) -> Array:
        """Return the columns [diag(gains), −W, −U], those of a joint times its scale, and the rows of the prior."""
        n, rows, r = self.W.shape
        A = np.zeros((n, rows, n + r + self.U.shape[2]))
        A[np.arange(n), :, np.arange(n)] = gains
        A[:, :, n : n + r], A[:, :, n + r :] = -self.W, -self.U
        belief = np.zeros((r, A.shape[2]))
        belief[:, n : n + r] = np.diag(self.certainty)
        return np.concatenate([(scale[:, None, None] * A).reshape(n * rows, -1), belief])

    def jacobian(self, theta: Array, weights: Array) -> Array:
        k = theta[: len(self.i)]
        return self._columns(self.torque(theta) / k[:, None], weights / k)

    def start(self, weights: Array) -> Array:
        """Return the linear solution of k i − W β − U π = b, normalized per joint."""
        y = np.concatenate([(weights[:, None] * self.b).reshape(-1), self.certainty * self.believed])
        A, held = self._columns(self.i, weights), list(self.held)
        theta = np.zeros(A.shape[1])
        theta[held] = list(self.held.values())
        theta[self.free] = solve(A[:, self.free], y - A[:, held] @ theta[held], None)
        return theta

    @property
    def free(self) -> Array:
        """The indices of the parameters that are estimated."""
        return np.setdiff1d(np.arange(len(self.tied)), list(self.held))

    def fix_vague_gains(self) -> None:
        """Fix the gains with which the currents are explained whatever their values: their expected errors exceed them.

        These errors are those with the file's parameters, and with the noise that a fit to each joint by itself leaves.
        """
        n = len(self.i)
        theta = np.concatenate([np.ones(n), self.base.prior, np.zeros(self.U.shape[2])])
        torque = np.sum(self.torque(theta) * self.i, axis=1)
        theta[:n] = torque / np.sum(self.i**2, axis=1)
        if not torque.all():
            return
        left = [_left(np.column_stack([W, U, b]), i) for W, U, b, i in zip(self.W, self.U, self.b, self.i, strict=True)]
        noise = np.maximum(left, NOISELESS * np.linalg.norm(self.i, axis=1)) / np.sqrt(self.rows)
        J = self.jacobian(theta, 1.0 / noise)
        lengths = np.linalg.norm(J, axis=0)
        while lengths.all() and len(self.held) < n:
            free = self.free
            _, values, V = np.linalg.svd(J[:, free] / lengths[free], full_matrices=False)
            errors = np.linalg.norm(V / np.maximum(values, 1e-15 * values[0])[:, None], axis=0) / lengths[free]
            relative = errors[free < n] / np.abs(theta[free[free < n]])
            if relative.max() <= VAGUE:
                return
            self.vague[free[free < n]] |= relative > VAGUE
            self.tied[free] |= np.abs(V[-1]) > TIED
            worst = int(free[np.argmax(relative)])
            self.held[worst] = float(theta[worst])
        self.held = {}  # no gain is determined: the scale is missing

    def solved(self) -> tuple[Array, Array, bool]:
        """Return the maximum-likelihood parameters, 1 / standard deviation of each joint's current, and convergence."""
        size = np.linalg.norm(self.i, axis=1) / np.sqrt(self.rows)
        least = (BELIEVABLE if self.certainty.any() else NOISELESS) * size
        weights = 1.0 / size
        self.fix_vague_gains()
        theta = self.start(weights)
        torque = np.linalg.norm(theta[: len(self.i), None] * self.i)
        if torque <= 1e-6 * np.linalg.norm(self.b):
            raise InputError(NOT_SHOWN)  # parameters that cancel the payload fit as well, with zero currents
        largest = RUNAWAY * np.abs(theta[: len(self.i)]).max()
        for _ in range(STEPS):
            self._check_determined(theta, weights)
            e, J = self.residual(theta, weights), self.jacobian(theta, weights)
            step = np.zeros(len(theta))
            step[self.free] = solve(J[:, self.free], -e, None)
            length, most = 1.0, 1.000001 * np.linalg.norm(e)
            while np.linalg.norm(self.residual(theta + length * step, weights)) > most and length > 1e-6:
                length *= 0.5
            theta = theta + length * step
            if np.abs(theta[: len(self.i)]).max() > largest:
                raise InputError(NOT_SHOWN if self.b.any() else NO_SCALE)
            noise = self._noise(theta)
            before, weights = weights, 1.0 / np.maximum(noise, least)
            small = np.linalg.norm(J @ step) < SETTLED or (noise <= least).all()
            if small and np.allclose(weights, before, rtol=1e-6):
                return theta, weights, True
        return theta, weights, False

    def _noise(self, theta: Array) -> Array:
        """Return the residual standard deviation of each joint's current; the parameters count equally for all joints."""
        left = self.residual(theta, np.ones(len(self.i)))[: self.i.size].reshape(self.i.shape)
        return np.linalg.norm(left, axis=1) / np.sqrt(np.maximum(self.rows - len(theta) / len(self.i), 1.0))

    def covariance(self, theta: Array, weights: Array) -> Array:
        """Return the covariance of the parameters for currents with autocorrelated noise, infinite where not determined."""
        free = self.free
        J = self.jacobian(theta, weights)[:, free]
        scale = np.linalg.norm(J, axis=0)
        inverse = np.linalg.pinv(J / scale)
        white = (inverse @ inverse.T) / np.outer(scale, scale)
        n, joint = len(self.i), self.equations.joint
        gain, columns = theta[joint[:, None]], self.table[:, 1:-1]
        predicted = (columns @ theta[n:] + self.table[:, -1])[:, None] / gain
        X = np.column_stack([np.where(joint[:, None] == np.arange(n), -predicted / gain, 0.0), columns / gain])
        e = self.table[:, 0] - predicted[:, 0]
        linear = replace(self.equations, y=e, names=tuple(f"parameter {k}" for k in free), source=Matrix(X[:, free]))
        covariance = np.zeros((len(theta), len(theta)))
        covariance[np.ix_(free, free)], _ = autocorrelated_covariance(linear, linear.whole.R[0], e, white, 1.0 / weights)
        unknown = np.flatnonzero(self.tied | np.append(self.vague, np.zeros(len(theta) - n, bool)))
        covariance[unknown, unknown] = np.inf
        return covariance

    def notes(self, theta: Array, errors: Array, settled: bool) -> tuple[str, ...]:
        said = [] if settled else [f"the gains have not converged after {STEPS} iterations: do not rely on them"]
        if self.certainty.any():
            said.append(
                "the scale of the gains comes from the prior parameters: if these were all larger by 1 %, the gains would be "
                "too; only the ratios of the gains, as far as joints share parameters, come from the log"
            )
        for name, gain, error, vague in zip(self.names, theta, errors, self.vague, strict=False):
            if vague:
                said.append(
                    f"the gain of joint {name} is not determined: the payload hardly changes its current; carry it off the "
                    "axis of this joint, or move faster"
                )
            elif error > 0.1 * abs(gain):
                share = f"{100.0 * (error / abs(gain)):.0f} %"
                said.append(f"the gain of joint {name} has a standard error of {share}: use more motion or load")
        return tuple(said)

    def _check_determined(self, theta: Array, weights: Array) -> None:
        J = self.jacobian(theta, weights)[:, self.free]
        lengths = np.linalg.norm(J, axis=0)
        gains = [f"the gain of {name}" for name in self.names]
        names = [*gains, *self.base.names, *(f"payload.{PARAMETER_NAMES[k]}" for k in self.unknown)]
        names = [names[k] for k in self.free]
        if not lengths.all():
            raise InputError(f"{names[int(np.argmin(lengths))]} has no effect on these currents; move more, or leave it out")
        _, values, V = np.linalg.svd(J / lengths, full_matrices=False)
        if values[-1] > UNDETERMINED * values[0]:
            return
        share = np.abs(V[-1])
        together = [names[k] for k in np.argsort(-share) if share[k] > 0.05][:6]
        raise InputError(
            f"these runs do not distinguish {', '.join(together)}: move more, or list more payload parameters in known="
        )


def _left(A: Array, y: Array) -> float:
    """Return the norm of the residual of y after a fit of the columns of A."""
    return float(np.linalg.norm(y - A @ solve(A, y, None)))


def _rows(base: BaseParameters, run: Samples, load: Array, numbers: Array, unknown: Array) -> Array:
    """Return a table [i, W, U, b] of one run with payload columns ``load`` (N, n, 10)."""
    arm = equations(base, run)
    filtered = Decimation(run.period, run.parallel, run.every)
    counted = run.use[filtered.centres(len(run))].reshape(-1)
    L = filtered.of(load).reshape(-1, 10)[counted]
    return np.column_stack([arm.y, arm.X, L[:, unknown], L @ numbers])


def _belief(base: BaseParameters, spread: Any) -> tuple[Array, Array]:
    """Return the prior parameters and 1 / their standard deviations."""
    if spread is None:
        return np.zeros(base.rank), np.zeros(base.rank)
    given = np.asarray(spread, dtype=float)
    if given.shape not in ((), (base.rank,)) or not (given > 0.0).all():
        raise InputError(
            f"spread= takes a relative spread above zero, or {counted(base.rank, 'standard deviation')} (one per parameter)"
        )
    prior = np.asarray(base.prior, dtype=float)
    deviations = given * np.abs(prior) if given.ndim == 0 else given
    certainty = np.where(deviations > 0.0, 1.0 / np.where(deviations > 0.0, deviations, 1.0), 0.0)
    if not (certainty * np.abs(prior)).any():
        raise InputError("the robot's own parameters are all zero and do not determine the scale: " + NO_SCALE)
    return prior, certainty

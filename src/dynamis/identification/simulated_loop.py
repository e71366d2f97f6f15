"""Closed-loop simulation of the robot in a log: the same controller follows the same reference, for given parameters.

The simulated motion has no measurement noise and depends on the parameters: it provides instruments and output errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.errors import DynamisError, InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.decimation import Decimation
from dynamis.identification.equations import equations
from dynamis.identification.samples import Samples, as_runs
from dynamis.robot import Robot
from dynamis.scalar.linear import solve_positive

Array = npt.NDArray[Any]
Controller = Callable[..., Any]


def tracking_controller(bandwidth: float, damping: float = 1.0) -> Controller:
    """Return computed-torque control with the prior model: error dynamics with ω = ``bandwidth`` [rad/s] and ζ = ``damping``.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> q, rest = np.array([0.1, 0.2]), np.zeros(2)
    >>> bool(np.allclose(tracking_controller(20.0)(arm, q, rest, q, rest, rest), arm.gravity(q)))
    True
    """

    def law(robot: Robot, q: Array, v: Array, q_ref: Array, v_ref: Array, a_ref: Array) -> Any:
        wanted = a_ref + 2.0 * damping * bandwidth * (v_ref - v) + bandwidth**2 * (q_ref - q)
        return robot.inverse_dynamics(q, v, wanted)

    return law


class SimulatedLoop:
    """Simulated runs of a log for given base parameters.

    ``controller(robot, q, v, q_ref, v_ref, a_ref)`` returns the torques; it is written for one state with NumPy, traced and
    compiled, and ``robot`` is the prior model, not the identified one. ``reference`` holds the reference (q, v, a) of each run
    at the sampling instants; by default the measured motion. Runs start at the reference, which is interpolated by cubics; the
    integrator is RK4 with ``substeps`` steps per period.
    """

    def __init__(
        self,
        base: BaseParameters,
        samples: Samples | Sequence[Samples],
        controller: Controller,
        *,
        reference: Sequence[tuple[Any, Any, Any]] | None = None,
        substeps: int = 1,
    ) -> None:
        robot = base.model.robot
        if robot.nq != robot.n:
            raise InputError(
                f"robot {printable(robot.name)} has quaternions in q; only joints with one variable can be simulated here"
            )
        if base.model.presliding:
            raise InputError("presliding friction is not supported in this simulation: leave it out of the model")
        if not isinstance(substeps, int) or substeps < 1:
            raise InputError(f"substeps= takes an integer ≥ 1, got {substeps!r}")
        self.base, self.runs, self.controller, self.substeps = base, as_runs(samples), controller, substeps
        for run in self.runs:
            if run.period is None:
                raise InputError(f"{run!r} has no sampling period: only sampled runs can be simulated")
        given = [(run.q, run.v, run.a) for run in self.runs] if reference is None else list(reference)
        if len(given) != len(self.runs):
            raise InputError(f"reference= takes (q, v, a) for each of the {len(self.runs)} runs, got {len(given)}")
        self.reference = [_checked(motion, run) for motion, run in zip(given, self.runs, strict=True)]

    def simulate(self, coef: Any) -> list[Samples]:
        """Simulate the runs with these base parameters (r)."""
        return [
            replace(run, q=q[:, 0], v=v[:, 0], a=a[:, 0], tau=tau[:, 0], smooth_torque=False)
            for run, (q, v, a, tau) in zip(self.runs, self.simulate_many(np.asarray(coef, float)[None]), strict=True)
        ]

    def simulate_many(self, coef: Array) -> list[tuple[Array, Array, Array, Array]]:
        """Return (q, v, a, τ), each (instants, B, n), of each run, for B sets of base parameters (B, r)."""
        found = []
        for run, motion in zip(self.runs, self.reference, strict=True):
            assert run.period is not None
            table = self._march(coef, motion, run.period / self.substeps)
            if not np.isfinite(table).all():
                lost = run.t[int(np.argmax(~np.isfinite(table).all(axis=(1, 2))))]
                raise DynamisError(
                    f"the simulation diverges at t = {lost:g} s: with these parameters the closed loop is unstable, "
                    "or the time steps are too long (increase substeps=)"
                )
            found.append(tuple(np.split(table, 4, axis=-1)))
        return found  # type: ignore[return-value]  # np.split returns four parts

    def torque_rows(self, coef: Array) -> Array:
        """Return (rows, B): the simulated torques at the rows of `equations`, filtered and decimated like them."""
        parts = []
        for run, (_, _, _, tau) in zip(self.runs, self.simulate_many(coef), strict=True):
            filtered = Decimation(run.period, run.parallel, run.every)
            parts.append(np.moveaxis(filtered.of(tau), 1, 2)[run.use[filtered.centres(len(run))]])
        return np.concatenate(parts)

    def _march(self, coef: Array, motion: tuple[Array, Array, Array], h: float) -> Array:
        """Return (instants, B, 4 n): q, v, a, τ by RK4, with the reference at steps and half steps."""
        n, m = self.base.model.robot.n, self.substeps
        q_ref, v_ref, a_ref = _between(motion, h * m, 2 * m)
        count = len(motion[0])
        made = np.empty((count, len(coef), 4 * n))
        q, v = (np.broadcast_to(x[0], (len(coef), n)).copy() for x in motion[:2])
        kernel = self._kernel.ufunc()
        with np.errstate(all="ignore"):  # divergence is checked afterwards
            for k in range((count - 1) * m + 1):
                r0, r1, r2 = 2 * k, 2 * k + 1, 2 * k + 2
                first = kernel(q, v, coef, q_ref[r0], v_ref[r0], a_ref[r0])
                if k % m == 0:
                    made[k // m] = np.concatenate([q, v, first], axis=-1)
                if r2 >= len(q_ref):
                    break
                half = (coef, q_ref[r1], v_ref[r1], a_ref[r1])
                a1 = first[:, :n]
                v2 = v + 0.5 * h * a1
                a2 = kernel(q + 0.5 * h * v, v2, *half)[:, :n]
                v3 = v + 0.5 * h * a2
                a3 = kernel(q + 0.5 * h * v2, v3, *half)[:, :n]
                v4 = v + h * a3
                a4 = kernel(q + h * v3, v4, coef, q_ref[r2], v_ref[r2], a_ref[r2])[:, :n]
                q = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
                v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        return made

    @functools.cached_property
    def _kernel(self) -> Kernel:
        """(a, τ) as a function of state, base parameters and reference."""
        model, independent, controller = self.base.model, self.base.independent, self.controller
        n, r = model.robot.n, self.base.rank

        def loop(robot: Robot, q: Array, v: Array, coef: Array, q_ref: Array, v_ref: Array, a_ref: Array) -> Array:
            still = np.array([0.0] * n, dtype=object)

            def torque(v: Array, a: Array) -> Array:
                return model.rows(robot, q, v, a, np.zeros(model.past_size))[:, independent] @ coef

            # τ = M a + bias is linear in a: the columns of M are the torques of unit accelerations at rest
            weight = torque(still, still)
            units = np.eye(n).astype(object)
            M = np.column_stack([torque(still, unit) - weight for unit in units])
            tau = np.asarray(controller(robot, q, v, q_ref, v_ref, a_ref))
            return np.concatenate([solve_positive(M, tau - torque(v, still)), tau])

        return model.robot.compile(loop, coef=r, q_ref=n, v_ref=n, a_ref=n)

    def __repr__(self) -> str:
        return f"<SimulatedLoop of {printable(self.base.model.robot.name)}: {len(self.runs)} runs>"


class SimulatedInstruments:
    """Instruments of IDIM-IV: the regressor along the motion simulated with given base parameters.

    Called with base parameters, it returns one row for each row of ``equations(base, samples)``. Arguments are those of
    `SimulatedLoop`; the default controller is a `tracking_controller` with this ``bandwidth``. ``prior`` is the initial
    estimate if the least-squares one cannot be simulated.
    """

    def __init__(
        self,
        base: BaseParameters,
        samples: Samples | Sequence[Samples],
        controller: Controller | None = None,
        *,
        reference: Sequence[tuple[Any, Any, Any]] | None = None,
        substeps: int = 1,
        bandwidth: float = 30.0,
    ) -> None:
        law = tracking_controller(bandwidth) if controller is None else controller
        self.loop = SimulatedLoop(base, samples, law, reference=reference, substeps=substeps)
        self.prior = base.prior

    def __call__(self, coef: Array) -> Array:
        return equations(self.loop.base, self.loop.simulate(coef)).X


def _checked(motion: tuple[Any, Any, Any], run: Samples) -> tuple[Array, Array, Array]:
    arrays = tuple(np.asarray(x, float) for x in motion)
    if len(arrays) != 3 or any(x.shape != run.tau.shape or not np.isfinite(x).all() for x in arrays):
        raise InputError(f"the reference of {run!r} must be (q, v, a), each of shape {run.tau.shape} and finite")
    return arrays  # three, checked above


def _between(motion: tuple[Array, Array, Array], period: float, parts: int) -> tuple[Array, Array, Array]:
    """Interpolate the reference in ``parts`` per period: cubic Hermite positions and velocities, linear accelerations."""
    from scipy.interpolate import CubicHermiteSpline

    q, v, a = motion
    t = np.arange(len(q)) * period
    fine = np.arange((len(q) - 1) * parts + 1) * (period / parts)
    fine[-1] = t[-1]
    straight = np.column_stack([np.interp(fine, t, column) for column in a.T])
    return CubicHermiteSpline(t, q, v)(fine), CubicHermiteSpline(t, v, a)(fine), straight

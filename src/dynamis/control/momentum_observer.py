"""The momentum observer: external torques from the generalised momentum, without accelerations.

p = M v obeys ṗ = τ + Cᵀ v − g − friction + τ_ext. The residual r = K (p − ∫ (τ + Cᵀ v − g − friction + r) dt) then obeys ṙ
= K (τ_ext − r): it is τ_ext, low-pass filtered with the time constant 1/K at each joint [De Luca & Mattone 2003],
[Haddadin et al. 2017].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import ALGORITHMS
from dynamis.control.dry_friction import dry_feedforward
from dynamis.control.gains import gain
from dynamis.control.law import ControlLaw
from dynamis.control.pd_gravity import springs
from dynamis.control.stability import PROVEN, Condition, Stability, no_better, positive, sampled_often_enough
from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, printable
from dynamis.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class MomentumObserver(ControlLaw):
    """A control law with an observer: its torques, and an estimate r of the external torques with bandwidth K [rad/s].

    The states are those of the ``inner`` law, if any, then the integral (n).

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = dy.control.PDGravity([0.0, 0.0], stiffness=4000.0, damping=900.0)
    >>> watched = MomentumObserver(law, arm.n, bandwidth=50.0)
    >>> push = {arm.link_names[-1]: [0.0, 30.0, 0.0, 0.0, 0.0, 0.0]}
    >>> motion = dy.simulate(arm, 0.5, controller=watched, wrenches=push, method="rk4", step=1e-3, points=11)
    >>> r = watched.residual(arm, motion.q[-1], motion.v[-1], motion.actuator_states["controller"][-1])
    >>> bool(abs(r - 30.0 * arm.jacobian(motion.q[-1])[1]).max() < 0.01)
    True
    """

    delegates = True
    inner: ControlLaw
    joints: int
    bandwidth: Any = 30.0
    slip: float = 0.05

    def __post_init__(self) -> None:
        if not isinstance(self.inner, ControlLaw):
            raise InputError(
                f"the inner law of an observer must be a controller of dynamis.control, got {type(self.inner).__name__}"
            )
        if not self.inner.torques:
            raise InputError("an observer requires torques: give MomentumObserver(law, …).with_motors(robot)")
        if isinstance(self.joints, bool) or not isinstance(self.joints, int) or self.joints < 1:
            raise InputError(f"joints= must be the number of joints, robot.n, got {self.joints!r}")
        object.__setattr__(self, "bandwidth", gain(self.bandwidth, "bandwidth", self.joints))

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.own + self.joints

    @property
    def measures(self) -> Mapping[str, int]:
        return self.inner.measures

    @property
    def own(self) -> int:
        """The number of states of the inner law."""
        return self.inner.size

    def wanted(self, robot: Robot, t: Any) -> Any:
        self._check_joints(robot)
        return self.inner.wanted(robot, t)

    def _check_joints(self, robot: Robot) -> None:
        if self.joints != robot.n:
            raise InputError(
                f"the observer is one of {counted(self.joints, 'joint')}, the robot {printable(robot.name)} has {robot.n}: "
                "give MomentumObserver(law, robot.n)"
            )

    def start(self, robot: Robot, q: Array, v: Array) -> Array:
        """The initial states of the inner law, then p, so that the residual starts at zero."""
        self._check_joints(robot)
        momentum = np.einsum("...ij,...j->...i", robot.mass_matrix(q), np.asarray(v))
        return np.concatenate([self.inner.start(robot, q, v), momentum], axis=-1)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Array:
        self._check_joints(robot)
        states = [x[: self.own]] if self.own else []
        return np.asarray(self.inner(robot, t, q, v, *states, *measured))

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array, *measured: Any) -> Array:
        tau = self(robot, t, q, v, x, *measured)
        integral = tau + momentum_rate(robot, q, v, self.slip) + self.residual(robot, q, v, x)
        return np.concatenate([self.inner.rates(robot, t, q, v, x[: self.own], *measured), integral])

    def residual(self, robot: Robot, q: Any, v: Any, x: Any) -> Array:
        """r (…, n), the estimate of the external torques, from the states of the law (…, size)."""
        if np.ndim(q) == 1:
            p = robot.mass_matrix(q) @ np.asarray(v)
        else:
            p = np.einsum("...ij,...j->...i", robot.mass_matrix(q), np.asarray(v))
        return np.asarray(self.bandwidth * (p - np.asarray(x)[..., self.own :]))

    def check(self, robot: Robot, *, rate: float | None = None, model: Robot | None = None, **options: Any) -> Stability:
        """Check stability; ``model`` is the model of law and observer, if different from the robot.

        ``options`` are those of the law's own check, such as q, a configuration.
        """
        self._check_joints(robot)
        inner = self.inner.check(robot, rate=rate, **options, model=model)
        least, most = float(np.min(self.bandwidth)), float(np.max(self.bandwidth))
        own = [positive("smallest observer bandwidth K", least, "ṙ = K (τ_ext − r): r follows τ_ext")]
        often = sampled_often_enough(rate, most)
        if rate is not None:
            why = "the residual of the sampled observer is multiplied by 1 − K T at each sample"
            own.append(Condition("largest K T, with sample time T", most / rate < 2.0, most / rate, 2.0, PROVEN, why, "<"))
        late = f"r is τ_ext filtered with a time constant of {1e3 / least:.3g} ms; model errors appear as external torques"
        conditions = (*inner.conditions, *(no_better(inner, c) for c in own), *often)
        return Stability(f"momentum observer on {inner.law}", conditions, (*inner.notes, late))

    __repr__ = as_call
    _repr_html_ = as_table


def momentum_rate(robot: Robot, q: Array, v: Array, slip: float) -> Array:
    """Cᵀ v − g − friction − springs: ṗ without motor and external torques."""
    friction = robot.model.viscous * np.asarray(v) + dry_feedforward(robot, v, slip)
    return np.asarray(
        robot.evaluate(ALGORITHMS["coriolis_transpose_product"], q, v) - robot.gravity(q) - friction - springs(robot, q)
    )

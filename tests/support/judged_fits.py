"""Simulated logs with known truth, for judging fits: a robot, a motion, noise of a known kind, a prior that is a little off."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

import dynamis as dy
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.equations import Equations, Matrix, equations
from dynamis.identification.estimators.estimator import WeightedLeastSquares
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.samples import Samples
from dynamis.identification.validation.held_out import predictions
from dynamis.identification.validation.statistics import judge_fit

FRICTION_AND_ROTOR = {"viscous": 2.0, "coulomb": 1.5, "rotor": 0.3}


@functools.cache
def base_of(robot: str = "kuka_iiwa14", friction: tuple[str, ...] = ("viscous", "coulomb")):
    return base_parameters(LinearModel(dy.load(robot), friction=friction))


def motion(n, seconds, rate, rng, size=0.8, harmonics=5, slowest=0.1):
    t = np.arange(0.0, seconds, 1.0 / rate)
    q, v, a = np.zeros((3, len(t), n))
    for k in range(1, harmonics + 1):
        w = 2.0 * np.pi * slowest * k
        A, B = rng.normal(size=(2, n)) * size / k
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q, v, a = q + A * s + B * c, v + w * (A * c - B * s), a - w * w * (A * s + B * c)
    return t, q, v, a


@dataclass
class Case:
    base: Any
    rows: Any
    true: np.ndarray
    prior: np.ndarray
    samples: Any

    def fit(self, estimator=None):
        chosen = estimator or WeightedLeastSquares()
        return chosen.fit(self.rows.X, self.rows.y, joint=self.rows.joint, names=self.rows.names)

    def judged(self, estimator=None, **options):
        return judge_fit(self.rows, self.fit(estimator), **options)


def simulated(
    robot="kuka_iiwa14", *, friction=("viscous", "coulomb"), seed=0, seconds=20.0, rate=50.0, size=0.8, slowest=0.1, noise=0.02,
    memory=0.0, wrong=0.1, spoil=None,
) -> Case:  # fmt: skip
    """``noise`` is relative to each joint's RMS torque; ``memory`` the correlation of neighbouring samples of it; ``spoil``
    changes the torques (t, q, v, a, tau) before the noise is added; ``wrong`` is how far off the prior is."""
    rng = np.random.default_rng(seed)
    base = base_of(robot, friction)
    model = base.model
    t, q, v, a = motion(model.robot.n, seconds, rate, rng, size, slowest=slowest)
    full = model.prior.copy()
    full[~model.is_inertial] = [FRICTION_AND_ROTOR[kind] for kind in np.array(model.kind)[~model.is_inertial]]
    tau = base.regressor(q, v, a) @ base.values(full)
    if spoil is not None:
        tau = spoil(t, q, v, a, tau)
    e = rng.normal(size=tau.shape)
    for k in range(1, len(e) if memory else 0):
        e[k] = memory * e[k - 1] + np.sqrt(1.0 - memory**2) * e[k]
    samples = Samples.of(
        q, v, a, tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * e, t=t, period=1.0 / rate, source="simulated"
    )
    prior = base.values(full * (1.0 + wrong * rng.normal(size=len(full))))
    return Case(base, equations(base, samples), base.values(full), prior, samples)


def rows_of(X, y, joint=None, t=None, names=None, run=None):
    """The equations of a matrix."""
    count = len(y)
    joint = np.zeros(count, int) if joint is None else joint
    t, run = np.arange(float(count)) if t is None else t, np.zeros(count, int) if run is None else run
    names = tuple(names or (f"p{k}" for k in range(X.shape[1])))
    joints = tuple(f"joint {j + 1}" for j in range(int(joint.max()) + 1))
    return Equations(y, joint, t, run, np.zeros(count), names, joints, ("N m",) * len(joints), Matrix(X))


def held_out(estimator, train, test, prior=None):
    """Fit some rows and predict others."""
    fit = estimator.fit(train.X, train.y, joint=train.joint, names=train.names)
    return predictions([fit.coef_], train, test, prior=prior)[0]

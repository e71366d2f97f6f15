"""The part of rotors in the load of friction: which torques do transmissions carry?

Friction that depends on the load is proportional to the torque of the links alone; the rotor is on the other side of the
transmission. Links fitted to a log contain the rotor inertias of joints, usually the first ones, whose torques do not tell
them from those of links. Only the friction itself tells: it is proportional to |τ − r a|, with the acceleration a of the joint
and its rotor inertia r, which is estimated with all parameters by Gauss–Newton steps. The rotor of the file is its prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Regressor, equations
from dynamis.identification.estimators.factors import joint_noise, whitened
from dynamis.identification.friction_terms import SampleStates
from dynamis.identification.samples import Samples

Array = npt.NDArray[Any]
STEPS = 4
CLEAN = 1e-7  # least noise, relative to a joint's torque
CONFIGURATIONS = 64  # of the log, at which the inertia about a joint is computed
MOST = 0.95  # of the inertia about a joint, that its rotor may have
NO_INERTIA = 1e-9  # of the largest inertia about a joint
UNEXCITED = 1e-10  # singular values of normalized columns, relative to the largest


def inseparable(base: BaseParameters) -> dict[int, int]:
    """Return {coordinate: index of its rotor in the model} of joints whose rotors belong to base parameters of links."""
    names, model = base.model.robot.coordinate_names, base.model
    places = {k: model.names.index(f"{names[k]}.rotor") for k in model.driven if f"{names[k]}.rotor" in model.names}
    return {k: at for k, at in places.items() if at not in base.independent and base.B[:, at].any()}


def rotors_of_file(base: BaseParameters) -> Array:
    """Return the rotor inertias (n,) of the file that links fitted to a log contain."""
    found = np.zeros(base.model.robot.n)
    for k, at in inseparable(base).items():
        found[k] = base.model.prior[at]
    return found


def without_rotors(base: BaseParameters, runs: Sequence[Samples]) -> tuple[BaseParameters, Array]:
    """Return the base parameters, whose load is that of links fitted to the runs, with the rotor inertias taken off the load,
    and the covariance (r, r) of the base parameters due to the uncertainty of these rotors, for white residuals."""
    load = {k: base.names.index(name) for k in inseparable(base) for name in [_load_name(base, k)] if name in base.names}
    joints, places = np.array([*load], int), np.array([*load.values()], int)
    extra = np.zeros((base.rank, base.rank))
    if not len(joints):
        return base, extra
    most = MOST * _inertias(base, runs)[joints]
    room = most > NO_INERTIA * most.max(initial=0.0)  # saturated torques may leave a joint none
    base = replace(base, model=base.model.with_links(base.model.link_parameters, _at(joints[room], rotors_of_file(base))))
    joints, places, most = joints[room], places[room], most[room]
    if not len(joints):
        return base, extra
    prior, spread = rotors_of_file(base)[joints], 0.5 * most
    for _ in range(STEPS):
        now = base.model.load_rotors[joints]
        beta, inverse, J = _linearised(base, runs, joints, places, spread, prior - now)
        found = base.model.load_rotors.copy()
        found[joints] = np.clip(now + beta[base.rank :], 0.0, most)
        links = base.model.link_parameters.copy()
        own = base.model.is_inertial[base.independent]
        links[base.independent[own]] = beta[: base.rank][own]
        base = replace(base, model=base.model.with_links(links, found))
    extra = J @ inverse[base.rank :, base.rank :] @ J.T
    return base, extra


def _at(joints: Array, values: Array) -> Array:
    """Return the values of some joints, zero for the others."""
    kept = np.zeros_like(values)
    kept[joints] = values[joints]
    return kept


def _load_name(base: BaseParameters, k: int) -> str:
    return f"{base.model.robot.coordinate_names[k]}.load"


def _inertias(base: BaseParameters, runs: Sequence[Samples]) -> Array:
    """Return the least inertia (n,) about each joint, rotors included, that the fitted links have in the runs."""
    q = np.concatenate([run.q[:: max(1, len(run) // CONFIGURATIONS)] for run in runs])
    n = base.model.robot.n
    whole = base.model.with_links(base.model.link_parameters)
    none = np.zeros((len(q), n))
    still = whole.load(q, none, none)
    return np.array([max(float((whole.load(q, none, none + e) - still)[:, k].min()), 0.0) for k, e in enumerate(np.eye(n))])


def _linearised(
    base: BaseParameters, runs: Sequence[Samples], joints: Array, places: Array, spread: Array, wish: Array
) -> tuple[Array, Array, Array]:
    """Return the base parameters followed by the changes of the rotors, their covariance, and the change J (r, k) of the base
    parameters with the rotors. The prior of the changes is ``wish``, with the standard deviations ``spread`` (k,)."""
    rows, r, k = equations(base, runs), base.rank, len(joints)
    assert isinstance(rows.source, Regressor)
    names = (*rows.names, *(f"rotor {j}" for j in joints))
    wide = replace(rows, names=names, source=replace(rows.source, more=_Derivatives(base, joints)))
    factors, counts = wide.whole.merged
    R = whitened(factors, joint_noise(factors, counts, least=CLEAN))
    free = _solved(np.delete(R, np.s_[r : r + k], axis=1))[0]
    R = R.copy()
    R[:, r : r + k] *= -free[places]  # the coefficient of friction times the change of |τ − r a|
    J = -_solved(np.column_stack([R[:, :r], np.zeros(len(R))]))[1] @ R[:, :r].T @ R[:, r : r + k]
    prior = np.hstack([np.zeros((k, r)), np.diag(1.0 / spread), (wish / spread)[:, None]])
    return *_solved(np.vstack([R, prior])), J


def _solved(R: Array) -> tuple[Array, Array]:
    """Return β of the factor of [X, y], and its covariance; without unexcited directions."""
    size = np.linalg.norm(R[:, :-1], axis=0)
    size = np.where(size > 0.0, size, 1.0)
    U, sigma, Vt = np.linalg.svd(R[:, :-1] / size, full_matrices=False)
    shown = sigma > UNEXCITED * sigma.max(initial=0.0)
    root = (Vt[shown].T / sigma[shown]) / size[:, None]
    return root @ (U[:, shown].T @ R[:, -1]), root @ root.T


@dataclass(frozen=True)
class _Derivatives:
    """Further columns of a `Regressor`: the derivative of |τ − r a| sign v by −r for some joints."""

    base: BaseParameters
    joints: Array

    def sample_states(self) -> SampleStates:
        return self.base.model.sample_states()

    def columns(self, part: Samples, states: Array) -> list[Array]:
        model = self.base.model
        v, load = part.v[:, self.joints], states[:, -model.robot.n :][:, self.joints]
        s = np.sign(v) if model.smooth is None else np.tanh(v / model.smooth)
        return [s * np.sign(load) * part.a[:, self.joints]]

    def of_joint(self, j: int, filtered: Array) -> tuple[Array, Array]:
        own = np.flatnonzero(self.joints == j)
        return own, filtered[:, own]

"""Gravity parameters from static poses: masses and first moments from holding torques, with friction removed.

At rest τ = G(q) π_g, where π_g are masses and first moments of the links; G is the regressor at zero velocity and
acceleration. A joint at rest is also held by Coulomb friction of any value up to its limit. If each pose is approached from
both sides, friction is at its limit with opposite signs: half the sum of the torques is gravity, half the difference friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, as_text, counted
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.estimators.estimator import WeightedLeastSquares
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.payload import PayloadEstimate, identify_payload
from dynamis.identification.samples import Samples
from dynamis.identification.static_mistakes import (
    Readings,
    check_angles,
    mistakes_in,
    outliers,
    unexplained,
)
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops

Array = npt.NDArray[Any]
ROUNDING = 1e-9  # relative to the largest entry of a regressor


@dataclass(frozen=True, eq=False, repr=False)
class StaticPoses:
    """Static poses ``q`` (P, nq), torques ``tau`` (P, n) without friction, and the mask ``use`` (P, n) of known torques.

    ``friction`` (P, n) is the Coulomb friction of each joint at each pose, NaN if not approached from both sides.
    """

    q: Array
    tau: Array
    use: Array
    friction: Array

    @property
    def samples(self) -> Samples:
        """The poses as samples at rest."""
        rest = np.zeros_like(self.tau)
        return Samples.of(self.q, rest, rest, self.tau, use=self.use, source="static poses")

    def __repr__(self) -> str:
        return f"<StaticPoses: {counted(len(self.q), 'pose')} of {counted(self.tau.shape[1], 'joint')}>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class StaticEstimate:
    """Gravity base parameters: ``names``, ``expressions`` as combinations of parameters, ``values`` and ``prior`` values.

    ``offset`` (n) are constant torques, if requested. ``friction`` and ``friction_spread`` (n) are mean and standard deviation
    of Coulomb friction over the poses, NaN if poses were approached from one side. ``residual`` (n) is in N m (N).
    """

    base: BaseParameters
    names: tuple[str, ...]
    expressions: tuple[str, ...]
    values: Array
    covariance: Array
    prior: Array
    friction: Array
    friction_spread: Array
    residual: Array
    verdict: tuple[str, ...]

    @property
    def standard_errors(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    def torque(self, q: Any) -> Array:
        """Return the holding torques (…, n) with these values."""
        rest = np.zeros((*np.shape(q)[:-1], self.base.model.robot.n))
        return self.base.regressor(q, rest, rest) @ self.values

    def __str__(self) -> str:
        return "\n".join(self.verdict)

    _repr_html_ = as_text

    def __repr__(self) -> str:
        left = f"residual at most {float(np.max(self.residual, initial=0.0)):.3g} N m or N"
        return (
            f"<StaticEstimate of {printable(self.base.model.robot.name)}: "
            f"{counted(len(self.names), 'gravity parameter')}, {left}>"
        )


def static_poses(robot: Robot, q: Any, tau: Any, direction: Any = None, *, tolerance: float = 0.01) -> StaticPoses:
    """Group readings at rest by pose, and remove friction from poses approached from both sides.

    ``direction`` (N, n) or (N,) is the sign of the velocity of each joint before it came to rest, 0 if it did not move.
    Readings belong to the same pose if no joint differs by more than ``tolerance`` [rad, m]. Without ``direction`` readings are
    used as they are.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> q = np.array([[0.3, 0.4], [0.3, 0.4]])
    >>> both = static_poses(arm, q, arm.gravity(q) + [[5.0, 2.0], [-5.0, -2.0]], [1, -1])
    >>> bool(np.allclose(both.tau, arm.gravity(q[:1]))), both.friction.tolist()
    (True, [[5.0, 2.0]])
    """
    poses, torques = np.asarray(q, float), np.asarray(tau, float)
    if poses.ndim != 2 or poses.shape[1] != robot.nq or torques.shape != (len(poses), robot.n):
        raise InputError(f"q must be (poses, {robot.nq}) and tau (poses, {robot.n}); got {poses.shape} and {torques.shape}")
    check_angles(robot, poses)
    if direction is None:
        return StaticPoses(poses, torques, np.ones(torques.shape, bool), np.full(torques.shape, np.nan))
    signs = np.asarray(direction, float)
    signs = np.broadcast_to(signs[:, None] if signs.shape == (len(poses),) else signs, torques.shape)
    if not np.isin(signs, (-1.0, 0.0, 1.0)).all():
        raise InputError("direction= takes the signs of the velocities before rest: 1, −1, or 0 if a joint did not move")
    group = _groups(poses, tolerance)
    count = int(group.max()) + 1 if len(group) else 0
    up, down = (_means(torques, signs == s, group, count) for s in (1.0, -1.0))
    where, total = np.zeros((count, robot.nq)), np.bincount(group, minlength=count)[:, None]
    np.add.at(where, group, poses)
    use = np.isfinite(up) & np.isfinite(down)
    if not use.any():
        raise InputError(
            f"no pose was approached from both sides within {tolerance:g} rad: record pairs, or increase tolerance="
        )
    half_sum, friction = np.where(use, 0.5 * (up + down), 0.0), np.where(use, 0.5 * (up - down), np.nan)
    return StaticPoses(where / total, half_sum, use, friction)


@one_blas_thread()
def identify_static(
    robot: Robot,
    q: Any,
    tau: Any,
    *,
    direction: Any = None,
    offset: bool = False,
    tolerance: float = 0.01,
) -> StaticEstimate:
    """Identify the gravity parameters from static poses; other parameters have no effect at rest.

    ``direction`` is the direction of approach of each pose, see `static_poses`. ``offset`` also estimates a constant torque of
    each joint. Springs of the robot are assumed known.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> q = np.random.default_rng(0).uniform(-2, 2, (20, 2))
    >>> found = identify_static(arm, q, arm.gravity(q))
    >>> found.expressions, bool(np.allclose(found.torque(q), arm.gravity(q)))
    (('link1.mx + link2.m', 'link1.my', 'link2.mx', 'link2.my'), True)
    """
    warn_of_open_loops(robot, "the static torques")
    poses = static_poses(robot, q, tau, direction, tolerance=tolerance)
    base = _weight(robot, offset)
    if not base.rank:
        text = f"gravity acts on no joint of {printable(robot.name)} in any pose"
        raise InputError(f"{text}: there is nothing to identify at rest")
    readings = Readings(base, poses.q, poses.tau, poses.use, _pulled(base))
    fit = readings.fit
    residual = readings.residual(fit)
    return StaticEstimate(
        base=base,
        names=base.names,
        expressions=base.expressions,
        values=fit.coef_,
        covariance=fit.covariance_,
        prior=base.prior,
        friction=_over_poses(poses.friction, np.mean),
        friction_spread=_over_poses(poses.friction, np.std),
        residual=residual,
        verdict=(
            *mistakes_in(readings, poses.friction),
            *_far_off(robot, readings),
            *_verdict(robot, base, poses, fit, readings, residual, direction is not None),
        ),
    )


@one_blas_thread()
def identify_static_payload(
    robot: Robot,
    q: Any,
    tau: Any,
    *,
    frame: str | None = None,
    direction: Any = None,
    empty: tuple[Any, Any] | None = None,
    tolerance: float = 0.01,
    size: float = 0.1,
) -> PayloadEstimate:
    """Identify the mass and centre of mass of a payload of a known arm from static poses, as far as identifiable.

    ``empty`` are (q, tau) of poses without load, which determine a constant torque offset of each joint; ``direction`` then
    applies to the loaded poses, and the empty ones must be free of friction (`static_poses`).
    """
    loaded = static_poses(robot, q, tau, direction, tolerance=tolerance).samples
    reference = None if empty is None else static_poses(robot, *empty).samples
    friction = () if empty is None else ("offset",)
    return identify_payload(robot, loaded, frame=frame, reference=reference, friction=friction, size=size, examined=False)


def _weight(robot: Robot, offset: bool) -> BaseParameters:
    """Return the base parameters of the columns that are non-zero at rest."""
    still = robot.replace(friction=0)
    model = LinearModel(still, friction=(), offset=offset, rotor=False)
    first = [name for _, part in model.bodies for name in model.names[part.start : part.start + 4]]
    others = [name for name, kind in zip(model.names, model.kind, strict=True) if kind == "offset"]
    return base_parameters(_AtRest(model), among=[*first, *others])


def _pulled(base: BaseParameters) -> Array:
    """Return (n): the joints on which gravity, or an offset, can act."""
    robot = base.model.robot
    rest = np.zeros((64, robot.n))
    largest = np.abs(base.regressor(robot.random(11, 64), rest, rest)).max(axis=(0, 2), initial=0.0)
    return largest > ROUNDING * largest.max(initial=0.0)


class _AtRest(LinearModel):
    """Linear model at rest: columns that need motion are zero."""

    def __init__(self, model: LinearModel) -> None:
        self.__dict__.update(model.__dict__)

    def rows(self, robot: Robot, q: Array, v: Array, a: Array, states: Array) -> Array:
        return super().rows(robot, q, 0.0 * v, 0.0 * a, states)


def _groups(poses: Array, tolerance: float) -> Array:
    """Return the pose index of each reading: that of the first reading within the tolerance, or a new one."""
    if not tolerance > 0.0:
        raise InputError(f"tolerance= is the largest distance between readings of one pose, above zero; got {tolerance!r}")
    group, firsts = np.zeros(len(poses), int), np.zeros((0, poses.shape[1]))
    for k, pose in enumerate(poses):
        near = np.flatnonzero(np.abs(firsts - pose).max(axis=1, initial=0.0) <= tolerance)
        if not len(near):
            firsts = np.vstack([firsts, pose])
        group[k] = near[0] if len(near) else len(firsts) - 1
    return group


def _means(values: Array, chosen: Array, group: Array, count: int) -> Array:
    """Return (groups, n) means of the selected values, NaN if there are none."""
    total, number = np.zeros((count, values.shape[1])), np.zeros((count, values.shape[1]))
    np.add.at(total, group, np.where(chosen, values, 0.0))
    np.add.at(number, group, chosen)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _over_poses(values: Array, statistic: Any) -> Array:
    columns = [column[np.isfinite(column)] for column in values.T]
    return np.array([statistic(column) if len(column) else np.nan for column in columns])


def _far_off(robot: Robot, readings: Readings) -> list[str]:
    """Return a sentence on poses far from the prediction by the others."""
    said = []
    for pose, j, error, usual in outliers(readings):
        unit, name = robot.model.coordinates[j].effort_unit, printable(robot.coordinate_names[j])
        q = ", ".join(f"{x:.3g}" for x in readings.q[pose])
        said.append(f"pose {pose + 1} (q = {q}) by {error:.3g} {unit} at {name}, where the median is {usual:.2g} {unit}")
    if not said:
        return []
    return [f"far from the prediction by the other poses: {'; '.join(said)}; measure again or leave out"]


def _verdict(
    robot: Robot, base: BaseParameters, poses: StaticPoses, fit: WeightedLeastSquares, readings: Readings, residual: Array,
    paired: bool,
) -> list[str]:  # fmt: skip
    lines = [
        f"{counted(base.rank, 'gravity parameter')} from {counted(len(poses.q), 'pose')}, condition number "
        f"{fit.condition_:.3g}",
        unexplained(readings, residual),
    ]
    if not paired:
        lines.append("poses were approached from one side, so Coulomb friction adds to gravity: use both and pass direction=")
    idle = [printable(name) for name, is_pulled in zip(robot.coordinate_names, readings.pulled, strict=True) if not is_pulled]
    if idle:
        lines.append(f"gravity does not act on {', '.join(idle)} in any pose")
    errors = fit.standard_errors_
    vague = [printable(name) for name, x, e in zip(base.names, fit.coef_, errors, strict=True) if abs(x) < 2.0 * e]
    if vague:
        lines.append(f"not distinguishable from zero: {', '.join(vague)}")
    return lines

"""Weight from poses at rest: what of the masses shows in the torques that hold the arm, friction set aside.

At rest τ = G(q) π_g, where π_g are mass and first moments of the links; G is the regressor without velocity and acceleration.
A joint at rest is also held by dry friction, of any size up to its limit. Where each pose is approached from both sides it is
at its limit, with opposite signs: half the sum of the two torques is weight, half the difference friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, as_text
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.estimators.least_squares import WeightedLeastSquares
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.payload import PayloadEstimate, identify_payload
from dynamis.identification.samples import Samples
from dynamis.robot import Robot

Array = npt.NDArray[Any]
ROUNDING = 1e-9  # of the largest entry of a regressor


@dataclass(frozen=True, eq=False, repr=False)
class StaticPoses:
    """Poses at rest ``q`` (P, nq), the torques ``tau`` (P, n) without friction, and ``use`` (P, n) where they are known.

    ``friction`` (P, n) is the dry friction of each joint at each pose, nan where it was not approached from both sides.
    """

    q: Array
    tau: Array
    use: Array
    friction: Array

    @property
    def samples(self) -> Samples:
        """The same as samples, at rest."""
        rest = np.zeros_like(self.tau)
        return Samples.of(self.q, rest, rest, self.tau, use=self.use, source="static poses")

    def __repr__(self) -> str:
        return f"<StaticPoses: {len(self.q)} poses of {self.tau.shape[1]} joints>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class StaticEstimate:
    """The base parameters of weight: ``names``, what they are sums of (``expressions``), values, what the robot came with.

    ``offset`` (n) are constant torques, if they were asked for. ``friction`` and ``friction_spread`` (n) are mean and standard
    deviation of dry friction over the poses, nan where poses were approached from one side. ``residual`` (n) is in N·m (N).
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
        """What holds the arm at rest (…, n), by these values."""
        rest = np.zeros((*np.shape(q)[:-1], self.base.model.robot.n))
        return self.base.regressor(q, rest, rest) @ self.values

    def __str__(self) -> str:
        return "\n".join(self.verdict)

    _repr_html_ = as_text

    def __repr__(self) -> str:
        left = f"residual {float(np.max(self.residual, initial=0.0)):.3g} N m or N at most"
        return f"<StaticEstimate of {printable(self.base.model.robot.name)}: {len(self.names)} parameters of weight, {left}>"


def static_poses(robot: Robot, q: Any, tau: Any, direction: Any = None, *, tolerance: float = 0.01) -> StaticPoses:
    """Readings at rest as poses: those of one pose, approached from both sides, become one without friction.

    ``direction`` (N, n) or (N,) is the sign of the velocity with which each joint came to rest, 0 where it did not move. Poses
    are the same where no joint differs by more than ``tolerance`` [rad, m]. Without it readings are taken as they are.

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
    if direction is None:
        return StaticPoses(poses, torques, np.ones(torques.shape, bool), np.full(torques.shape, np.nan))
    signs = np.asarray(direction, float)
    signs = np.broadcast_to(signs[:, None] if signs.shape == (len(poses),) else signs, torques.shape)
    if not np.isin(signs, (-1.0, 0.0, 1.0)).all():
        raise InputError("direction= holds the signs of the velocities before the rest: 1, −1, or 0 where a joint did not move")
    group = _groups(poses, tolerance)
    count = int(group.max()) + 1 if len(group) else 0
    up, down = (_means(torques, signs == s, group, count) for s in (1.0, -1.0))
    where, total = np.zeros((count, robot.nq)), np.bincount(group, minlength=count)[:, None]
    np.add.at(where, group, poses)
    use = np.isfinite(up) & np.isfinite(down)
    if not use.any():
        raise InputError(
            f"no pose was approached from both sides within {tolerance:g} rad: record pairs, or give a larger tolerance="
        )
    half_sum, friction = np.where(use, 0.5 * (up + down), 0.0), np.where(use, 0.5 * (up - down), np.nan)
    return StaticPoses(where / total, half_sum, use, friction)


def identify_static(
    robot: Robot,
    q: Any,
    tau: Any,
    *,
    direction: Any = None,
    offset: bool = False,
    tolerance: float = 0.01,
) -> StaticEstimate:
    """The parameters of weight from poses at rest; the rest of the arm's parameters does not show there.

    ``direction`` says from where each pose was approached, see `static_poses`. ``offset`` looks for a constant torque of each
    joint too. Springs of the robot are taken as known.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> q = np.random.default_rng(0).uniform(-2, 2, (20, 2))
    >>> found = identify_static(arm, q, arm.gravity(q))
    >>> found.expressions, bool(np.allclose(found.torque(q), arm.gravity(q)))
    (('link1.mx + link2.m', 'link1.my', 'link2.mx', 'link2.my'), True)
    """
    poses = static_poses(robot, q, tau, direction, tolerance=tolerance)
    base = _weight(robot, offset)
    rest = np.zeros((len(poses.q), robot.n))
    springs = robot.inverse_dynamics(poses.q, rest, rest) - robot.gravity(poses.q)
    use = poses.use.reshape(-1)
    X = base.regressor(poses.q, rest, rest).reshape(-1, base.rank)[use]
    y = (poses.tau - springs).reshape(-1)[use]
    joint = np.tile(np.arange(robot.n), len(rest))[use]
    pulled = _pulled(base)
    shown = pulled[joint]  # joints that no weight pulls at would only tell of noise
    largest = np.array([np.abs(y[joint == j]).max(initial=0.0) for j in range(robot.n)])
    quiet = largest < ROUNDING * largest.max(initial=0.0)  # balanced joints: their noise is not known better than the others'
    kind = np.where(quiet[joint], int(np.argmin(np.where(quiet, np.inf, largest))), joint)
    fit = WeightedLeastSquares().fit(X[shown], y[shown], joint=kind[shown], names=base.names)
    counts = np.maximum(np.bincount(joint, minlength=robot.n), 1)
    residual = np.sqrt(np.bincount(joint, (y - X @ fit.coef_) ** 2, robot.n) / counts)
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
        verdict=tuple(_verdict(robot, base, poses, fit, pulled, direction is not None)),
    )


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
    """The load of a known arm from poses at rest: mass and centre of mass, as far as they show.

    ``empty`` are (q, tau) of poses without load, which correct a constant torque of each joint; ``direction`` then is that of
    the loaded ones, and the empty ones are to be free of friction (`static_poses`).
    """
    loaded = static_poses(robot, q, tau, direction, tolerance=tolerance).samples
    reference = None if empty is None else static_poses(robot, *empty).samples
    friction = () if empty is None else ("offset",)
    return identify_payload(robot, loaded, frame=frame, reference=reference, friction=friction, size=size)


def _weight(robot: Robot, offset: bool) -> BaseParameters:
    """Base parameters of the columns that are there at rest."""
    still = robot.replace(friction=0)
    model = LinearModel(still, friction=(), offset=offset, rotor=False)
    first = [name for _, part in model.bodies for name in model.names[part.start : part.start + 4]]
    others = [name for name, kind in zip(model.names, model.kind, strict=True) if kind == "offset"]
    return base_parameters(_AtRest(model), among=[*first, *others])


def _pulled(base: BaseParameters) -> Array:
    """(n): at which joints weight, or an offset, can pull at all."""
    robot = base.model.robot
    rest = np.zeros((64, robot.n))
    largest = np.abs(base.regressor(robot.random(11, 64), rest, rest)).max(axis=(0, 2), initial=0.0)
    return largest > ROUNDING * largest.max(initial=0.0)


class _AtRest(LinearModel):
    """A linear model whose robot never moves: columns that need motion are zero."""

    def __init__(self, model: LinearModel) -> None:
        self.__dict__.update(model.__dict__)

    def rows(self, robot: Robot, q: Array, v: Array, a: Array, past: Array) -> Array:
        return super().rows(robot, q, 0.0 * v, 0.0 * a, past)


def _groups(poses: Array, tolerance: float) -> Array:
    """The number of the pose each reading belongs to: that of the first reading close to it, or a new one."""
    if not tolerance > 0.0:
        raise InputError(f"tolerance= is how far apart readings of one pose may be, above zero; got {tolerance!r}")
    group, firsts = np.zeros(len(poses), int), np.zeros((0, poses.shape[1]))
    for k, pose in enumerate(poses):
        near = np.flatnonzero(np.abs(firsts - pose).max(axis=1, initial=0.0) <= tolerance)
        if not len(near):
            firsts = np.vstack([firsts, pose])
        group[k] = near[0] if len(near) else len(firsts) - 1
    return group


def _means(values: Array, chosen: Array, group: Array, count: int) -> Array:
    """(groups, n) means of the chosen values, nan where there are none."""
    total, number = np.zeros((count, values.shape[1])), np.zeros((count, values.shape[1]))
    np.add.at(total, group, np.where(chosen, values, 0.0))
    np.add.at(number, group, chosen)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _over_poses(values: Array, statistic: Any) -> Array:
    columns = [column[np.isfinite(column)] for column in values.T]
    return np.array([statistic(column) if len(column) else np.nan for column in columns])


def _verdict(
    robot: Robot, base: BaseParameters, poses: StaticPoses, fit: WeightedLeastSquares, pulled: Array, paired: bool
) -> list[str]:
    lines = [f"{base.rank} parameters of weight from {len(poses.q)} poses, condition number {fit.condition_:.3g}"]
    if not paired:
        lines.append("each pose was taken once, so dry friction counts as weight: approach from both sides and say direction=")
    idle = [printable(name) for name, is_pulled in zip(robot.coordinate_names, pulled, strict=True) if not is_pulled]
    if idle:
        lines.append(f"no weight pulls at {', '.join(idle)} in any pose")
    errors = fit.standard_errors_
    vague = [printable(name) for name, x, e in zip(base.names, fit.coef_, errors, strict=True) if abs(x) < 2.0 * e]
    if vague:
        lines.append(f"not distinguishable from zero: {', '.join(vague)}")
    return lines

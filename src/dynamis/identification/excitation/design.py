"""Design of excitation trajectories: the most informative motion for the parameters of a robot, within its limits.

[Swevers et al. 1997; Gautier & Khalil 1992]: among a family of smooth motions, the one with the best conditioned or most
informative regressor. Gradients are exact, by reverse-mode differentiation of the compiled regressor.
"""

from __future__ import annotations

import copy
import operator
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.excitation import criteria
from dynamis.identification.excitation.basis import Basis, Fourier, Splines
from dynamis.identification.excitation.criteria import Aggregated, Information, Regressor
from dynamis.identification.excitation.excitation import Excitation, Use
from dynamis.identification.excitation.limits import (
    Region,
    Rows,
    distance_rows,
    joint_rows,
    region_rows,
    torque_rows,
    user_rows,
)
from dynamis.identification.excitation.log_information import LogInformation, expected_errors
from dynamis.identification.excitation.search import Checker, Extent, Progress, Search
from dynamis.identification.excitation.start import Collides, check_start, find_start, middle
from dynamis.identification.linear_model import LinearModel
from dynamis.robot import Robot
from dynamis.robot.checks import refuse_loops
from dynamis.trajectories.joint_moves import check_plain
from dynamis.trajectories.validate import number, positive

Array = npt.NDArray[Any]
POINTS_A_SWING, FEWEST_POINTS = 40, 80
SMALLER_BY = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03)  # of a motion that collides between the points that were checked
INSTANTS_A_SWING = 20  # at which distances are computed
WORSE = 0.05  # of the log criterion: a motion worse by this than the best random one is warned of
LARGEST_STEP = 2.0 * np.pi  # of a joint: ranges of many turns would distort the scaling of its coefficients


def design_excitation(
    robot: Robot | LinearModel | BaseParameters,
    *,
    duration: float = 10.0,
    kind: str = "fourier",
    harmonics: int = 5,
    periodic: bool = False,
    criterion: str | None = None,
    noise: Any = None,
    after: Any = None,
    start: Any = None,
    position: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    effort: Any = None,
    torque: bool = True,
    regions: Sequence[Region] = (),
    constraints: Sequence[Callable[..., Any]] = (),
    collision: Any = None,
    margin: float = 0.05,
    seconds: float = 60.0,
    restarts: int = 4,
    seed: int = 0,
    progress: Progress | None = None,
) -> Excitation:
    """Design a motion from rest to rest that best excites the parameters of a model, within its limits at every time.

    ``robot`` is a robot (for the default `LinearModel`), a `LinearModel`, or its `BaseParameters`. ``kind`` is "fourier" (the
    same ``harmonics`` of 1/duration for all joints; ``periodic`` ones do not stop between periods) or "spline" (twice as many
    control points as harmonics). ``criterion`` is "condition" (the default without ``after``), "plain-condition", "d-optimal",
    "a-optimal" (the default with ``after``), "e-optimal" or "combined"; ``noise`` (n) are the standard deviations of the joint
    torques, used as weights.

    ``after`` are logs recorded so far, an `Identification`, `Samples` or a list of these: their information is added to that of
    the motion, which then excites what they leave uncertain. The noise, unless given, is that of their residuals, and the log
    of the motion is assumed to have as many rows per second. `Excitation.expected` has the standard errors to expect.

    The robot's position, velocity and torque limits apply, reduced by ``margin`` (a fraction); ``position=(lower, upper)``,
    ``velocity``, ``acceleration`` and ``effort`` tighten them. ``torque=False`` ignores torques. ``regions`` (`Box`,
    `HalfSpace`, `Sphere`, `above`) constrain frame positions. ``constraints`` are functions g(robot, q, v, a) ≤ 0 of one state,
    traceable. With ``collision``, a `dynamis.collision.Scene` of the robot, no pair of it comes
    nearer than its margin; a warning says if that leaves a motion worse than a random one. ``start`` fixes the start and end
    configuration; by default it is optimized too.

    A revolute joint without position limits is kept within ±π rad of ``start``, or of zero; such bounds are marked ``assumed``
    in ``uses``. A prismatic joint without limits is refused: give ``position``. Velocity and acceleration are limited only
    where the robot or the caller gives limits: `Excitation.peaks` has the largest values.

    The search ends after ``seconds`` or ``restarts`` searches; Ctrl-C ends it with the best motion so far. Results are
    reproducible for a given seed, unless the time limit was reached.

    >>> import dynamis as dy
    >>> found = design_excitation(dy.load("planar_2r_melchiorri"), duration=5.0, restarts=1)
    >>> found.condition < found.condition_before
    True
    """
    began = time.monotonic()
    base = _base(robot)
    arm = _open(base.model.robot)
    check_plain(arm)
    seconds, margin, restarts, seed = _checked(seconds, margin, restarts, seed)
    basis = _basis(kind, duration, harmonics, periodic)
    criterion = criterion or ("condition" if after is None else "a-optimal")
    criteria.criterion_of(criterion)
    searched = copy.copy(basis)
    searched.free_start = start is None
    rng = np.random.default_rng(seed)
    wanted = middle(arm, start, position)
    given = {"position": position, "velocity": velocity, "acceleration": acceleration}
    rows = _rows(arm, wanted, margin, given, effort, torque, regions, constraints)
    collides = _collides(arm, collision)
    if start is not None:
        check_start(rows, wanted, "start=")
        if collides is not None and collides(wanted[None])[0]:
            raise InputError(f"start= is in collision: {collision.nearest(wanted, 1)[0].status}; choose another start")
    q0 = wanted if start is not None else find_start(rows, wanted, rng, collides)

    logs = None if after is None else LogInformation(base, after)
    regressor = Regressor(base, logs.noise() if noise is None and logs is not None else noise)
    count = max(FEWEST_POINTS, POINTS_A_SWING * basis.finest)
    limits, checker = Aggregated(searched, rows, count), Checker(searched, rows, collides)
    information = Information(regressor, searched, criterion, count)
    if logs is not None:
        samples, known = logs.rate * basis.duration, logs.matrix(regressor.noise)
        information.known = known / samples
    size = _sizes(limits)
    near = None if collision is None else distance_rows(collision)
    instants = max(FEWEST_POINTS, INSTANTS_A_SWING * basis.finest)
    distances = None if near is None else Aggregated(searched, [near], instants, averaged=True)
    search = Search(information, limits, distances, checker, q0, size, began + seconds, restarts, progress)
    information.lengths = _lengths(search, rng)
    search.run(rng)
    c = search.best
    assert c is not None
    assert search.first is not None
    if collision is not None:
        c = _apart(collision, checker, q0, c)
    first, best = (_condition(information, q0, x) for x in (search.first, c))
    if collides is not None and search.value > information.measure(q0, search.first) + WORSE:
        warnings.warn(
            f"the motion excites the parameters less than the best random one (condition number {best:.4g}, random "
            f"{first:.4g}), which collides: collisions leave little room about this start; pass another start=, "
            "a smaller margin of the scene or fewer obstacles, or more time by seconds=",
            RuntimeWarning,
            stacklevel=2,
        )
    expected = None if logs is None else expected_errors(base, known, samples * information.matrix(q0, c), information.lengths)
    uses = tuple(use for extent in checker.extents(q0, c) for use in _uses(extent))
    if start is None:
        q0, c = q0 + c[0], c[1:]  # the constant function is the start configuration
    if progress is not None:
        progress(1.0, f"condition number {best:.4g}")
    return Excitation(
        basis, q0, c, arm.coordinate_names, criterion, best, first, base.rank, uses,
        tuple(np.exp(search.history).tolist()), margin, seed, search.status, arm.name, arm, expected,
    )  # fmt: skip


def _apart(scene: Any, checker: Checker, q0: Array, c: Array) -> Array:
    """The motion, made a little smaller if it comes nearer than the margin of the scene between the points of the checker."""
    for share in SMALLER_BY:
        less = (1.0 - share) * c
        if share and (checker.excess(q0, less) > 0.0 or checker.collides_along(q0, less, 1)):
            continue
        start, others = (q0 + less[0], less[1:]) if checker.basis.free_start else (q0, less)
        if scene.along(checker.basis.motion(start, others, ""), samples=len(checker.t)).free:
            return np.asarray(less)
    return c


def _base(robot: Robot | LinearModel | BaseParameters) -> BaseParameters:
    if isinstance(robot, BaseParameters):
        return robot
    if isinstance(robot, Robot):
        check_plain(robot)
        robot = LinearModel(robot)
    if not isinstance(robot, LinearModel):
        raise InputError(f"robot must be a Robot, a LinearModel or BaseParameters, got {type(robot).__name__}")
    return base_parameters(robot)


def _checked(seconds: Any, margin: Any, restarts: Any, seed: Any) -> tuple[float, float, int, int]:
    seconds, margin = positive(seconds, "seconds"), number(margin, "margin")
    if not 0.0 <= margin < 1.0:
        raise InputError(f"margin must be a fraction from 0 to 1, such as 0.05, got {margin:g}")
    try:
        restarts, seed = operator.index(restarts), operator.index(seed)
    except TypeError:
        raise InputError("restarts= and seed= take integers") from None
    if restarts < 1 or seed < 0:
        raise InputError(f"restarts must be at least 1 and seed at least 0, got {restarts} and {seed}")
    return seconds, margin, restarts, seed


def _basis(kind: str, duration: float, harmonics: int, periodic: bool) -> Basis:
    if kind == "fourier":
        return Fourier(duration, harmonics, periodic=periodic)
    if kind != "spline":
        raise InputError(f"kind={kind!r} is not supported; choose 'fourier' or 'spline'")
    if periodic:
        raise InputError("spline motions start and end at rest: periodic=True needs kind='fourier'")
    if not isinstance(harmonics, int | np.integer):
        raise InputError(f"harmonics must be an integer, got {harmonics!r}")
    return Splines(duration, 2 * harmonics)


def _rows(
    arm: Robot, wanted: Array, margin: float, given: dict[str, Any], effort: Any, torque: bool, regions: Sequence[Region],
    constraints: Sequence[Callable[..., Any]],
) -> list[Rows]:  # fmt: skip
    """Return all limits; positions come first."""
    regions = _several(regions, "regions", hasattr(regions, "measures"))
    constraints = _several(constraints, "constraints", callable(constraints))
    for region in regions:
        if not hasattr(region, "measures"):
            raise InputError(f"regions= takes Box, HalfSpace or Sphere, got {type(region).__name__}")
    for g in constraints:
        if not callable(g):
            raise InputError(f"constraints= takes functions g(robot, q, v, a), got {type(g).__name__}")
    if effort is not None and not torque:
        raise InputError("effort= and torque=False exclude each other: effort= limits torques, torque=False ignores them")
    found = [
        *joint_rows(arm, wanted, margin, given),
        torque_rows(arm, margin, effort) if torque else None,
        region_rows(arm, regions),
        user_rows(arm, constraints),
    ]
    return [x for x in found if x is not None and (np.isfinite(x.lower) | np.isfinite(x.upper)).any()]


def _collides(arm: Robot, scene: Any) -> Collides | None:
    if scene is None:
        return None
    if not hasattr(scene, "in_collision") or scene.robot.coordinate_names != arm.coordinate_names:
        raise InputError("collision= takes a Scene of this robot: collision=dynamis.collision.Scene(robot, margin=0.02)")
    return lambda q: np.asarray(scene.in_collision(q))


def _several(given: Any, name: str, one: bool) -> list[Any]:
    """Return a list, also of a single item."""
    try:
        return [given] if one else list(given)
    except TypeError:
        raise InputError(f"{name}= takes a list, got {type(given).__name__}") from None


def _sizes(limits: Aggregated) -> Array:
    """Return (size, n): the largest single coefficient within the position, velocity and acceleration limits."""
    size = np.full((limits.phi[0].shape[1], len(limits.rows[0].names)), LARGEST_STEP)
    for rows in limits.rows:
        if rows.order is not None:
            peaks = np.maximum(np.abs(limits.phi[rows.order]).max(axis=0), 1e-12)
            half = np.minimum(0.5 * (rows.upper - rows.lower), 1e6 * LARGEST_STEP)
            size = np.minimum(size, half / peaks[:, None])
    return size


def _lengths(search: Search, rng: np.random.Generator) -> Array:
    """Return reference column norms, from a few random motions."""
    matrices = [search.information.matrix(search.q0, search.random(rng)) for _ in range(4)]
    squares = np.mean([np.diag(M) for M in matrices], axis=0)
    if not squares.all():
        name = search.information.regressor.base.names[int(np.argmin(squares))]
        raise InputError(f"no torque depends on parameter {printable(name)} within these limits: widen them, or leave it out")
    return np.asarray(np.sqrt(squares))


def _condition(information: Information, q0: Array, c: Array | None) -> float:
    if c is None:
        return float("inf")
    return criteria.condition_number(information.regressor.stacked(*information.states(q0, c)))


def _uses(extent: Extent) -> list[Use]:
    rows, found = extent.rows, []
    assumed = np.broadcast_to(rows.assumed, len(rows.names))
    for k, name in enumerate(rows.names):
        share, limit = float(extent.used[k]), float(rows.limit[k])
        if np.isfinite(rows.lower[k]) or np.isfinite(rows.upper[k]):
            found.append(Use(
                rows.kind, name, float(extent.lowest[k]), float(extent.highest[k]), float(rows.lower[k]), float(rows.upper[k]),
                share if np.isfinite(share) else None, limit if np.isfinite(limit) else None, bool(assumed[k]),
            ))  # fmt: skip
    return found


def _open(robot: Robot) -> Robot:
    """The robot, if its file closes no loops."""
    cure = "choose motions of the joints with motors, and close each configuration by dynamis.constrained(robot).assemble"
    refuse_loops(robot, "a motion of all joints of the tree would tear", cure)
    return robot

"""Accelerations and multipliers of a robot with loops, and assembly of its loops.

    M v̇ = r + Hᵀ λ,    H v̇ = −Ḣ v − 2α H v − β² h        (α = β = 0: the exact second derivative of h = 0; else Baumgarte)

with r = τ − C v − g − friction − springs + Σ Jᵀ w. Solved in the null space of H, so that redundant rows are allowed: the
acceleration is unique, and the multipliers have minimum norm.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import moved
from dynamis.display import counted
from dynamis.errors import InputError, ModelWarning, SingularError, printable
from dynamis.kinematics.closures import Closure
from dynamis.kinematics.turns import Turns
from dynamis.robot import Robot
from dynamis.simulation.contact_equations import Contacts
from dynamis.simulation.loops.constraints import Constraints, evaluate, held_at, labels, rank_of
from dynamis.tolerances import FILE_PRECISION, NEGLIGIBLE, RECURSION_ROUNDING, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
MIN_DAMPING, MAX_DAMPING = 1e-12, 1e8
GUESSES, ITERATIONS = 50, 200  # random configurations from which loops are closed
NEARLY_PARALLEL = 1e-3  # rad: angles rounded to three digits


class Solution(NamedTuple):
    """v̇ (n), λ (rows), and Hᵀ λ (n), the joint torques of the closures.

    ``rank`` of H; ``conditioning``, its smallest nonzero singular value over the largest (near 0: near a singular
    configuration); ``residual``, the error of the constraint on H v̇.
    """

    acceleration: Array
    multipliers: Array
    torque: Array
    rank: int
    conditioning: float
    residual: float


def solve(M: Array, r: Array, H: Array, rate: Array) -> Solution:
    """v̇ and λ from M v̇ = r + Hᵀ λ and H v̇ = rate."""
    U, s, V, N = decomposed(H)
    rank = len(s)
    particular = V @ ((U.T @ rate) / s)
    a = particular + N @ _solve_positive(N.T @ M @ N, N.T @ (r - M @ particular))
    multipliers = U @ ((V.T @ (M @ a - r)) / s)
    residual = float(np.abs(H @ a - rate).max(initial=0.0))
    return Solution(a, multipliers, H.T @ multipliers, rank, float(s[-1] / s[0]) if rank else 0.0, residual)


def null_space(H: Array, rate: Array) -> tuple[Array, Array]:
    """(x, N): H x is closest to the rate, and H N = 0 with orthonormal columns."""
    U, s, V, N = decomposed(H)
    return V @ ((U.T @ rate) / s), N


def decomposed(H: Array) -> tuple[Array, Array, Array, Array]:
    """(U, s, V, N): H = U diag(s) Vᵀ with the nonzero singular values, and H N = 0."""
    U, s, Vt = np.linalg.svd(H)
    rank = rank_of(s)
    return U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T


def _solve_positive(A: Array, b: Array) -> Array:
    from scipy.linalg.lapack import dposv

    if not len(b):
        return b
    _, x, failed = dposv(A, b)
    if failed:
        raise SingularError("a free motion of the loops moves no mass: its acceleration is undetermined")
    return np.asarray(x)


def wanted_rate(c: Constraints, v: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """H v̇ = −Ḣ v − 2α H v − β² h."""
    return -c.bias - 2.0 * alpha * (c.H @ v) - beta * beta * c.h if alpha or beta else -c.bias


def correct(robot: Robot, contacts: Contacts, found: Array, failed: SingularError | None, *given: Any) -> None:
    """Correct (v̇, λ, doubt) of states (q, v, τ, a*) whose doubt is above 1, in the null space of H; warn of open loops.

    ``failed`` is the error of a solution that is not confined to the null space, and so needs every mass.
    """
    batch, flat, open_by = found.shape[:-1], found.reshape(-1, found.shape[-1]), np.zeros(2)
    states = [np.broadcast_to(x, (*batch, np.shape(x)[-1])).reshape(len(flat), -1) for x in given]
    first = len(contacts.labels) - len(labels(contacts.closures))
    for k in np.flatnonzero(~(flat[:, -1] <= 1.0)):
        q, v, tau, target = (x[k].astype(float) for x in states)
        c, a = evaluate(robot, held_at(robot, contacts, q), q, v, contacts.rank), flat[k, : robot.n]
        rate = wanted_rate(c, v, contacts.alpha, contacts.beta) + target
        if not np.abs(c.H @ a - rate).max() <= RECURSION_ROUNDING * (1.0 + np.abs(a).max()):
            try:
                solved = solve(robot.mass_matrix(q), tau - robot.bias(q, v), c.H, rate)
            except SingularError as error:
                raise failed or error from None
            if failed and not solved.rank:
                raise failed
            if solved.residual > SOLUTION_TOLERANCE * (1.0 + np.abs(rate).max()):
                place = f" (state {[int(x) for x in np.unravel_index(k, batch)]} of the batch)" if batch else ""
                raise SingularError(
                    f"no acceleration keeps contacts and loops at this state{place} (off by {solved.residual:.3g}): their "
                    f"Jacobian has rank {solved.rank} of {counted(len(c.h), 'row')} here, a singular configuration, and v is "
                    "not along one of the motions that meet in it"
                )
            flat[k, :-1] = np.concatenate([solved.acceleration, solved.multipliers])
        open_by = np.maximum(open_by, [np.abs(x[first:]).max(initial=0.0) for x in (c.h, c.H @ v)])
    if (open_by > FILE_PRECISION).any() and not (contacts.alpha or contacts.beta):
        gap, opening = open_by
        text = f"open by {gap:.3g} m or rad" if gap > FILE_PRECISION else f"opening at {opening:.3g} m/s or rad/s"
        warnings.warn(
            f"the loops are {text} at this state: the acceleration is that of the open loops; assemble closes q, "
            "assemble_velocity v",
            ModelWarning,
            stacklevel=3,
        )


def assembled(
    robot: Robot, closures: tuple[Closure, ...], q: Array, locked: Sequence[int], tolerance: float, iterations: int
) -> Array:
    """A configuration near q that closes the loops, with the ``locked`` coordinates unchanged and no joint a turn away.

    Gauss–Newton steps on the manifold, with Levenberg–Marquardt damping where needed.
    """
    guess, (q, h) = q, _closest(robot, closures, q, locked, tolerance, iterations)
    if np.abs(h).max() > 100.0 * tolerance:
        fixed = f" with {', '.join(robot.coordinate_names[k] for k in locked)} locked" if locked else ""
        raise InputError(
            _stays_open(robot, closures, q, h, f"from this guess{fixed}", "check the lengths, or give a closer guess")
        )
    return _without_turns(robot, closures, q, guess, locked)


def _closest(
    robot: Robot, closures: tuple[Closure, ...], q: Array, locked: Sequence[int], tolerance: float, iterations: int
) -> tuple[Array, Array]:
    """(q, h) where the iteration ends."""
    rest, free = np.zeros(robot.n), [k for k in range(robot.n) if k not in locked]
    now, damping = evaluate(robot, closures, q, rest), 0.0
    for _ in range(iterations):
        if np.abs(now.h).max() <= tolerance or damping > MAX_DAMPING:
            break
        step = np.zeros(robot.n)
        step[free] = _damped_step(now.H[:, free], now.h, damping)
        q_new = robot.integrate(q, step)
        new = evaluate(robot, closures, q_new, rest)
        if np.dot(new.h, new.h) < np.dot(now.h, now.h):
            q, now, damping = q_new, new, 0.0 if damping <= MIN_DAMPING else damping / 10.0
        elif np.abs(now.h).max() <= 100.0 * tolerance:
            break  # rounding
        else:
            damping = max(10.0 * damping, MIN_DAMPING)
    return q, now.h


def _stays_open(robot: Robot, closures: tuple[Closure, ...], q: Array, h: Array, start: str, cure: str) -> str:
    worst = int(np.argmax(np.abs(h)))
    if (tilted := _nearly_parallel(robot, closures, q)) is not None:
        first, second, angle = tilted
        cure = (
            f"the axes of {printable(first)} and {printable(second)} are parallel but for {angle:.3g} rad, as from rounding: "
            'write pi/2 with all digits ("pi/2" in .toml), or close a planar loop by kind = "plane" (InPlane)'
        )
    return (
        f"the loops of {printable(robot.name)} do not close {start}: {labels(closures)[worst]!r} stays open by "
        f"{abs(h[worst]):.3g} (all of h: {np.linalg.norm(h):.3g}); {cure}"
    )


def _nearly_parallel(robot: Robot, closures: tuple[Closure, ...], q: Array) -> tuple[str, str, float] | None:
    """Two hinges of the loops whose axes are parallel but for a small angle, and the largest such angle; None without."""
    model, moved = robot.model, np.abs(evaluate(robot, closures, q, np.zeros(robot.n)).H).max(axis=0)
    axes: dict[str, Array] = {}
    for frame in model.frames.values():
        J = np.asarray(robot.jacobian(q, frame.name))[3:]
        for k, c in enumerate(model.coordinates):
            if c.revolute and c.q_index is not None and moved[k] > RECURSION_ROUNDING and J[:, k].any():
                axes.setdefault(c.name, J[:, k] / np.linalg.norm(J[:, k]))
    angles = {(a, b): float(np.linalg.norm(np.cross(axes[a], axes[b]))) for a, b in itertools.combinations(axes, 2)}
    small = {pair: x for pair, x in angles.items() if NEGLIGIBLE < x < NEARLY_PARALLEL}
    if not small:
        return None
    pair = max(small, key=small.__getitem__)
    return *pair, small[pair]


def _without_turns(robot: Robot, closures: tuple[Closure, ...], q: Array, guess: Array, locked: Sequence[int]) -> Array:
    """q with joints turned back by whole turns towards the guess, within their limits, where that keeps the loops closed.

    A closure of joint angles, as of gears, may not allow it.
    """
    turned = Turns(robot).nearest(q, guess)
    places = [robot.model.coordinates[k].q_index for k in locked]
    fixed = [k for k in places if k is not None]
    turned[fixed] = q[fixed]
    off = [np.abs(evaluate(robot, closures, x, np.zeros(robot.n)).h).max() for x in (q, turned)]
    return turned if off[1] <= off[0] + RECURSION_ROUNDING else q


def closed_configuration(robot: Robot, closures_at: Callable[[Array], tuple[Closure, ...]]) -> Array:
    """The first that is found from the pose of the file for views, the robot's home, and random configurations."""
    pose, best = robot.description.appearance.pose, None
    for guess in (*([robot.q(pose)] if pose else []), robot.home(), *robot.random(0, GUESSES)):
        closures = closures_at(guess)
        q, h = _closest(robot, closures, guess, (), RECURSION_ROUNDING, ITERATIONS)
        gap = float(np.linalg.norm(h))
        if np.abs(h).max() <= 100.0 * RECURSION_ROUNDING:
            return _without_turns(robot, closures, q, guess, ())
        if best is None or gap < best[0]:
            best = gap, closures, q, h
    assert best is not None
    tried = f"from home and {GUESSES} random configurations, at best"
    raise InputError(_stays_open(robot, *best[1:], tried, "check the lengths, or give a guess to assemble"))


def _damped_step(H: Array, h: Array, damping: float) -> Array:
    U, s, V, _ = decomposed(H)
    return -V @ (s / (s * s + damping) * (U.T @ h))


def project(
    robot: Robot, closures: tuple[Closure, ...], q: Array, v: Array, rank: int | None = None
) -> tuple[Array, Array, float, float]:
    """Project a state onto h = 0 and H v = 0; return (q, v, max |h|, max |H v|), the last two before the projection."""
    q = moved(robot.model, q, np.zeros(robot.nq))
    if not closures:
        return q, v, 0.0, 0.0
    c = evaluate(robot, closures, q, v, rank)
    before = float(np.abs(c.h).max()), float(np.abs(c.H @ v).max())
    for _ in range(4):
        size = np.abs(c.h).max()
        if size <= 1e-15:
            break
        q_new = robot.integrate(q, _damped_step(c.H, c.h, 0.0))
        new = evaluate(robot, closures, q_new, v, rank)
        if np.abs(new.h).max() >= size:
            break
        q, c = q_new, new
    M = robot.mass_matrix(q)
    return q, solve(M, M @ v, c.H, np.zeros(len(c.h))).acceleration, *before

"""Stability of the loop of a sampled law: its linearisation at rest, exact over a period of constant torques.

With z = (q, v, x), x the states of the law, and the robot linearised at rest, δz(t + T) = G δz(t). Small errors decay if all
eigenvalues of G are inside the unit circle, and grow if one is outside [Lyapunov's indirect method; Åström & Wittenmark 1997,
§3.2]. The theorems of the continuous laws do not hold for torques held over a period, however short it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis.linearization import linearize
from dynamis.control.dry_friction import dry_friction, smooth_model
from dynamis.control.reference import duration_of, resting_time
from dynamis.control.stability import CONTINUOUS, LOCAL, RULE, Condition, Stability, as_rules
from dynamis.display import counted
from dynamis.errors import InputError, SingularError
from dynamis.robot import Robot
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP, RANK_TOLERANCE, SOLUTION_TOLERANCE, TYPED_PRECISION, UNDERFLOW
from dynamis.trajectories.validate import positive as positive_number

Array = npt.NDArray[Any]
REFERENCE_SAMPLES = 11  # times at which the loop is linearised along a moving reference
NEWTON_STEPS = 20  # towards the state of rest, each of at most …
LARGEST_STEP = 0.3  # … rad or m
FARTHEST = 1.0  # rad or m from where the search starts
MARGINAL = 1e-3  # 1/s: slower decay or growth is within the errors of differences, about √(1e-10 ∂g/∂q / M)
ASIDE = 0.01  # of z, to another state of rest

NOT_DECISIVE = "what holds for the continuous law does not decide: its theorem is not one of torques held between samples"
SMALL = "large errors, and errors while the reference moves, are not covered"
NOT_CHECKED = "the sampled loop is not checked, simulate it: "


def of_sampled_loop(report: Stability, law: Any, acting: Any, robot: Robot, rate: float, q: Any = None) -> Stability:
    """The report of a ``law`` at a sample rate [Hz], decided by the eigenvalues of its sampled loop.

    ``acting`` is the law with its model; ``q`` is where the search for the state of rest of a law of a task starts.
    """
    period = 1.0 / positive_number(rate, "the sample rate")
    of_law = replace(report, notes=tuple(f"continuous law: {note}" for note in report.notes))
    lowered = as_rules(of_law, NOT_DECISIVE, CONTINUOUS)
    try:
        conditions, note = _checked(law, acting, robot, period, q)
    except (SingularError, InputError, np.linalg.LinAlgError) as error:
        conditions, note = (), f"{NOT_CHECKED}{error}"
    return replace(lowered, conditions=(*conditions, *lowered.conditions), notes=(*lowered.notes, note))


def _checked(law: Any, acting: Any, robot: Robot, period: float, q: Any) -> tuple[tuple[Condition, ...], str]:
    """The condition of the sampled loop, if there is one, and its scope."""
    if robot.nq != robot.n:
        return (), f"{NOT_CHECKED}only joints with one coordinate each are linearised"
    if law.measures or getattr(law, "wrench", None) is not None:
        return (), f"{NOT_CHECKED}the measured wrench depends on what the robot touches"
    reference, of_task = getattr(law, "reference", None), hasattr(law, "task")
    if of_task and acting is not law and getattr(law, "posture", None) is None and law.task.size < robot.n:
        return (), f"{NOT_CHECKED}without a posture, the error of the model makes the null space drift"
    t = 0.0 if reference is None else resting_time(reference)
    if t is None:
        if law.size or of_task:
            return (), f"{NOT_CHECKED}its reference does not come to rest"
        return _along(law, acting, robot, period)
    at_goal = not (reference is None or of_task)
    start = law.wanted(robot, t)[0] if at_goal else robot.home() if q is None else robot.inputs.one_state(q, robot.nq, "q")
    z = np.concatenate([start, np.zeros(robot.n), acting.start(robot, start, np.zeros(robot.n))]).astype(float)
    found = _rest(acting, robot, period, t, z)
    if found is None:
        return (), f"{NOT_CHECKED}no state of rest was found near {'the goal' if at_goal else 'q'}"
    rest, G = found
    condition = _decay(acting, robot, period, t, rest, G)
    if condition is None:
        states = " (that of a state of the law which the loop does not excite)" if law.size else ""
        return (), f"{NOT_CHECKED}an eigenvalue of its linear model is on the unit circle{states}, which decides nothing"
    if dry_friction(robot).any():
        rule = replace(condition, what=f"{condition.what}, without dry friction", basis=RULE)
        return (rule,), f"{NOT_CHECKED}at rest dry friction has no linear model"
    off = float(np.abs(rest[: robot.n] - start).max())
    where = "at the goal" if off < SOLUTION_TOLERANCE else f"where the robot rests, up to {off:.3g} rad or m off the goal"
    if not at_goal:
        where = f"at q = ({', '.join(f'{x + 0.0:.4g}' for x in rest[: robot.n])})"
    return (condition,), f"the sampled loop is linearised {where}: {SMALL}"


def _decay(law: Any, robot: Robot, period: float, t: float, rest: Array, G: Array) -> Condition | None:
    """The condition that small errors decay; None where eigenvalues on the unit circle leave it open."""
    values, vectors = np.linalg.eig(G)
    rates = _rates(values, period)
    neutral = np.abs(rates) <= MARGINAL
    least, why = float(rates.min()), "all eigenvalues λ are inside the unit circle: small errors decay"
    if least < -MARGINAL:
        why = "an eigenvalue λ is outside the unit circle: small errors grow"
    elif neutral.any():
        if law.size or neutral.all() or not _equilibria(law, robot, period, t, rest, vectors[:, neutral]):
            return None
        least = float(rates[~neutral].min())
        why = f"small errors decay, up to {counted(int(neutral.sum()), 'direction')} in which every position is one of rest"
    return Condition("decay rate of the sampled loop at rest, −ln |λ| / T [1/s]", least > 0.0, least, 0.0, LOCAL, why)


def _along(law: Any, acting: Any, robot: Robot, period: float) -> tuple[tuple[Condition, ...], str]:
    """The slowest decay of the loop linearised at points of a moving reference, each as if it stayed there."""
    least = np.inf
    for t in np.linspace(0.0, duration_of(law.reference, None), REFERENCE_SAMPLES):
        q, v, a = (np.asarray(x, dtype=float) for x in law.wanted(robot, float(t)))
        G, _ = _over_a_period(acting, robot, period, float(t), np.concatenate([q, v]), a)
        least = min(least, float(_rates(np.linalg.eigvals(G), period).min()))
    why = "eigenvalues at points of the reference, which do not decide: the loop changes along it"
    what = "decay rate of the sampled loop along the reference [1/s]"
    note = f"{NOT_CHECKED}its reference does not come to rest, so that the held torques leave errors that do not decay"
    return (Condition(what, least > 0.0, least, 0.0, RULE, why),), note


def _rates(eigenvalues: Array, period: float) -> Array:
    """−ln |λ| / T of each eigenvalue."""
    return np.asarray(-np.log(np.maximum(np.abs(eigenvalues), UNDERFLOW)) / period)


def _rest(law: Any, robot: Robot, period: float, t: float, z: Array) -> tuple[Array, Array] | None:
    """(z, G) at a state of rest near z, by Newton's method with steps of least norm."""
    still, start = np.zeros(robot.n), z[: robot.n]
    for _ in range(NEWTON_STEPS):
        G, change = _over_a_period(law, robot, period, t, z, still)
        step = np.linalg.lstsq(np.eye(len(z)) - G, change, rcond=RANK_TOLERANCE)[0]
        if not np.isfinite(step).all():
            return None
        if np.abs(step).max() < SOLUTION_TOLERANCE:
            return z, G
        z = z + step * min(1.0, LARGEST_STEP / max(np.abs(step[: robot.n]).max(), LARGEST_STEP))
        z[robot.n : 2 * robot.n] = 0.0
        if np.abs(z[: robot.n] - start).max() > FARTHEST:
            return None
    return None


def _equilibria(law: Any, robot: Robot, period: float, t: float, rest: Array, vectors: Array) -> bool:
    """Whether the states of rest form a manifold along these eigenvectors: no Jordan block, and one aside is at rest too.

    The loop then stays near, and converges to a state of rest [Carr 1981, §2.8].
    """
    U, s, _ = np.linalg.svd(np.hstack([vectors.real, vectors.imag]))
    span = U[:, : int((s > TYPED_PRECISION * s[0]).sum())]
    if span.shape[1] < vectors.shape[1]:
        return False
    aside = ASIDE * span @ np.random.default_rng(0).uniform(-1.0, 1.0, span.shape[1])
    other = _rest(law, robot, period, t, rest + aside)
    return other is not None and bool(np.linalg.norm(span.T @ (other[0] - rest - aside)) < 0.1 * np.linalg.norm(aside))


def _over_a_period(law: Any, robot: Robot, period: float, t: float, z: Array, a: Array) -> tuple[Array, Array]:
    """(G, change) with δz(t + T) = change + G δz(t), for the robot linearised at z where its acceleration is a."""
    n, plant = robot.n, smooth_model(robot)
    q, v = z[:n], z[n : 2 * n]

    def answer(z: Array) -> Array:
        x = (z[2 * n :],) if law.size else ()
        tau = law(robot, t, z[:n], z[n : 2 * n], *x)
        return np.concatenate([tau, law.update(robot, t, z[:n], z[n : 2 * n], *x, period)]) if law.size else np.asarray(tau)

    nudges = CENTRAL_DIFFERENCE_STEP * np.diag(np.maximum(1.0, np.abs(z)))
    slope = np.column_stack([(answer(z + d) - answer(z - d)) / (2.0 * d.sum()) for d in nudges])
    held, now = plant.inverse_dynamics(q, v, a), answer(z)
    A, B = linearize(plant, q, v, held).discrete(period)
    G = np.vstack([np.pad(A, ((0, 0), (0, len(z) - 2 * n))) + B @ slope[:n], slope[n:]])
    return G, np.concatenate([B @ (now[:n] - held), now[n:] - z[2 * n :]])

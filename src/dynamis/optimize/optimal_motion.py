"""Optimal motions from a state to a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.kinematics.collision_check import checked_collision
from dynamis.optimize.collocation import collocate
from dynamis.optimize.costs import GoalCost
from dynamis.optimize.ilqr import Iterate, Sweeps, minimise
from dynamis.optimize.made_motion import made_motion
from dynamis.optimize.problem import OptimalMotion, Problem, fitted
from dynamis.optimize.step_dynamics import METHODS
from dynamis.optimize.steps import Step
from dynamis.optimize.verification import sampled, simulated
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.tolerances import COST_TOLERANCE
from dynamis.trajectories.validate import number, numbers, positive

Array = npt.NDArray[Any]
Progress = Callable[[int, float, float], None]
WEIGHTS = {"effort": 1.0, "velocity": 0.1}
GROWTH = 30.0  # of the weights of constraints after each round
FIRST_TOLERANCE = 10.0 * COST_TOLERANCE  # of the decrease, until goal and limits are kept
ROUNDS = 14  # updates of the multipliers
ITERATIONS_PER_ROUND = 60  # of the inner problem, before its multipliers are updated
SHORTEST = 1.875  # peak of the velocity of a quintic from rest to rest, times its mean
TRACKING = 0.3  # feedback poles of the first motion, relative to the rate of its steps
MAX_NUMBERS = 200_000_000  # of all nodes: derivatives, expansion of the cost and feedback, 1.6 GB
UNLIMITED_SPEED = 1.0  # rad/s or m/s: for the duration of joints without a velocity limit


def trajectory(
    robot: Robot,
    start: Any,
    goal: Any,
    duration: float | None = None,
    *,
    nodes: int = 100,
    method: str = "ilqr",
    integrator: str | None = None,
    weights: Mapping[str, float] | None = None,
    limits: bool = True,
    actuated: Any = "joints",
    guess: Any = None,
    tolerance: float = 1e-4,
    iterations: int = 500,
    progress: Progress | None = None,
    collision: Any = None,
) -> OptimalMotion:
    """The motion from ``start`` to ``goal`` with the smallest cost ∫ ½ (Σ w_τ (τ/τ_max)² + Σ w_v (v/v_max)²) dt.

    States are configurations, at rest, or pairs (q, v). ``duration`` is in s; by default one that keeps the velocity limits
    with a margin. ``weights`` are those of "effort" (1) and "velocity" (0.1); a quantity without a limit is measured by its
    peak in a smooth motion of this duration. Torque limits, and with ``limits`` those of positions and velocities, are kept.
    ``actuated`` names the coordinates with torques, by default all but a free base.

    ``method="ilqr"`` is a shooting method with compiled sweeps; ``integrator`` is that of `Step`, by default "euler".
    ``method="collocation"`` requires CasADi and solves for all nodes at once by IPOPT, by the trapezoidal rule and without
    feedback gains. ``guess``, where to start from, is an `OptimalMotion`, interpolated if it has other nodes, or (iLQR) torques
    (nodes, m); by default a quintic from start to goal for robots with a torque in every coordinate, otherwise no torques.
    ``tolerance`` is that of goal and limits, in rad and m. ``progress(iteration, cost, goal error)`` is called in between; an
    exception of it ends the search.

    With ``collision``, a `collision.Scene`, links keep its margin from each other and from obstacles (iLQR only). Where the
    way of the quintic collides, the first motion takes a detour that does not, if a search at random finds one. ``clearance``
    of the result is that of `collision.Scene.along`; a motion that collides has not converged.

    A motion that is found is simulated once with its controller and shorter steps: ``simulated_error`` is its error at the
    goal. One that misses the goal by more than 0.1 rad or m, or a third of a rad/s or m/s, has not converged: its steps are
    too long.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> best = dy.optimize.trajectory(arm, [-1.57, 0.0], [0.5, 0.5], 1.0, nodes=40)
    >>> best.converged, bool(abs(best.q[-1] - [0.5, 0.5]).max() < 1e-4)
    (True, True)
    """
    if method not in ("ilqr", "collocation"):
        raise InputError(f"method={method!r} is unknown; choose 'ilqr' or 'collocation'")
    if integrator is not None and method == "collocation":
        raise InputError(
            f"integrator={integrator!r} is that of method='ilqr'; collocation uses the trapezoidal rule: leave it out"
        )
    integrator = "euler" if integrator is None else integrator
    if integrator not in METHODS:
        raise InputError(f"integrator={integrator!r} is unknown; choose one of {', '.join(METHODS)}")
    check_numeric(robot)
    count = _whole(nodes, "nodes", 2)
    if count * (numbers_per_node := 4 * robot.n * (4 * robot.n + 2)) > MAX_NUMBERS:
        raise InputError(
            f"nodes={count} are more than fit into memory: at most {MAX_NUMBERS // numbers_per_node} for this robot"
        )
    if weights is not None and not isinstance(weights, Mapping):
        raise InputError(f"weights must be a mapping such as {WEIGHTS}, got {weights!r}")
    w = {name: number(x, f"the weight of {name!r}") for name, x in {**WEIGHTS, **(weights or {})}.items()}
    if unknown := sorted(set(w) - set(WEIGHTS)):
        raise InputError(f"weights has no entry {unknown[0]!r}; its entries are {', '.join(WEIGHTS)}")
    if min(w.values()) < 0 or w["effort"] == 0:
        raise InputError(f"weights must not be negative, and that of the effort positive; got {w}")
    begin, end = _state(robot, start, "start"), _state(robot, goal, "goal")
    bounds = robot.limits
    if duration is None:
        speed = np.where(np.isfinite(bounds["velocity"]), bounds["velocity"], UNLIMITED_SPEED)
        duration = max(1.5 * SHORTEST * float((np.abs(robot.difference(begin[0], end[0])) / speed).max()), 0.1)
    step = Step(robot, positive(duration, "duration") / count, integrator, actuated=actuated)
    scene = None if collision is None else checked_collision(robot, collision)
    if scene is not None and method == "collocation":
        raise InputError('collision= requires method="ilqr"; collocation has no distances')
    problem = Problem(step, begin, end, count, w, limits, positive(tolerance, "tolerance"), scene)
    most = _whole(iterations, "iterations", 1)
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of (iteration, cost, goal error), such as print, got {progress!r}")
    return collocate(problem, guess, most, progress) if method == "collocation" else solve(problem, guess, most, progress)


def solve(problem: Problem, guess: Any, iterations: int, progress: Progress | None) -> OptimalMotion:
    """Minimise by iLQR in rounds, between which the multipliers of the constraints are updated."""
    step = problem.step
    sweeps, cost = Sweeps(step, problem.low, problem.high), problem.cost()
    iterate, history, count = _first(problem, sweeps, guess, cost), [], 0
    regularisation, converged, fine = 0.0, False, None

    def accepted(better: Iterate) -> None:
        history.append(better.cost)
        if progress is not None:
            progress(len(history), better.cost, cost.violation(better.q, better.v)[0])

    tolerance, too_near = FIRST_TOLERANCE, False
    for _ in range(ROUNDS):
        found, regularisation = minimise(
            sweeps, iterate, cost, tolerance=tolerance, iterations=min(ITERATIONS_PER_ROUND, iterations - count),
            regularisation=regularisation, accepted=accepted,
        )  # fmt: skip
        iterate, count = found.iterate, count + found.iterations
        kept = max(cost.violation(iterate.q, iterate.v)) <= problem.tolerance
        converged = found.converged and kept and tolerance == COST_TOLERANCE
        fine = simulated(problem, sweeps, iterate.q, iterate.v, iterate.u, iterate.gains) if converged else None
        tightened = False
        if fine is not None and cost.avoidance is not None:
            motions = [(problem.times, iterate.q), *([sampled(fine, problem.nodes)] if fine.reaches_goal else [])]
            tightened = cost.avoidance.tightened(motions)
            too_near = too_near or tightened
        converged = converged and not tightened
        if converged or count >= iterations:
            break
        if kept and not tightened:
            tolerance = COST_TOLERANCE
            continue
        if not tightened:
            cost.update(iterate.q, iterate.v, GROWTH)
        iterate.cost = float(cost.value(iterate.q, iterate.v, iterate.u))
        regularisation = min(regularisation, 1.0)
    return made_motion(
        problem,
        iterate.q,
        iterate.v,
        iterate.u,
        iterate.gains,
        count,
        converged,
        np.array(history),
        exhausted=count >= iterations,
        fine=fine,
        too_near=too_near,
    )


def _first(problem: Problem, sweeps: Sweeps, guess: Any, cost: GoalCost) -> Iterate:
    """The motion to start from."""
    step, N, m = problem.step, problem.nodes, problem.step.inputs
    n = step.robot.n
    q0, v0 = problem.start
    gains = np.zeros((N, m, 2 * n))
    if isinstance(guess, OptimalMotion):
        guess = fitted(problem, guess)
        reference = Iterate(guess.q, guess.v, guess.tau[:, step.columns], np.inf, guess.gains[:, step.columns])
        gains = reference.gains
    elif guess is not None:
        u = numbers(guess, "guess, an OptimalMotion or torques,", (2,))
        if u.shape != (N, m):
            raise InputError(f"guess must be an OptimalMotion or torques of shape {(N, m)}, got shape {u.shape}")
        reference = Iterate(*step.rollout(q0, v0, u), u, np.inf, gains)
    elif m == n:
        q, v, tau = problem.first_motion()
        M, rate = step.smooth.mass_matrix(q[:-1]), TRACKING / step.h
        gains = -np.concatenate([rate**2 * M, 2.0 * rate * M], axis=-1)[:, step.columns]
        reference = Iterate(q, v, np.clip(tau[:, step.columns], problem.low, problem.high), np.inf, gains)
    else:
        u = np.zeros((N, m))
        reference = Iterate(*step.rollout(q0, v0, u), u, np.inf, gains)
    if np.isfinite(reference.q).all() and np.isfinite(reference.v).all():
        q, v, u = sweeps.follow(np.concatenate(problem.start), reference, np.zeros_like(reference.u), gains)
        if np.isfinite(q).all() and np.isfinite(v).all():
            with np.errstate(over="ignore", invalid="ignore"):
                value = float(cost.value(q, v, u)[0])
            if np.isfinite(value):
                return Iterate(q[:, 0], v[:, 0], u[:, 0], value, gains)
    raise InputError(
        f"the motion to start from diverges with steps of {step.h:.3g} s; use more nodes or a shorter duration"
        + ("" if guess is None else ", or a guess with smaller torques")
        + ("" if step.method == "euler" else ", or integrator='euler', which permits longer steps with friction")
        + _degrees(problem)
    )


def _state(robot: Robot, given: Any, name: str) -> tuple[Array, Array]:
    """(q, v) of a configuration at rest or a pair."""
    q, v = given if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1 else (given, np.zeros(robot.n))
    inputs = robot.inputs
    return inputs.one_state(q, robot.nq, f"q of the {name}").astype(float), inputs.one_state(
        v, robot.n, f"v of the {name}"
    ).astype(float)


def _whole(value: Any, name: str, least: int) -> int:
    given = number(value, name)
    if isinstance(value, bool) or not given.is_integer() or given < least:
        raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
    return int(given)


def _degrees(problem: Any) -> str:
    """A hint at degrees, if angles of start or goal look like them."""
    coordinates = problem.step.robot.model.coordinates
    for (q, _), name in ((problem.start, "start"), (problem.goal, "goal")):
        if any(c.q_index is not None and c.looks_like_degrees(float(q[c.q_index])) for c in coordinates):
            return f". If the angles of the {name} are degrees, give numpy.deg2rad({name})"
    return ""

"""States, goals and rewards of robots that reach for goals, in compiled steps for batches of states."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.optimize.steps import Step
from dynamis.robot import Robot
from dynamis.robot.checks import torque_limits
from dynamis.scalar import maximum, minimum
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]
LARGEST = float(np.sqrt(np.finfo(np.float32).max))  # observations are in single precision, rewards have squares


class Reaching:
    """States (q, v), goals and rewards of a batch; see `environment`."""

    def __init__(self, step: Step, substeps: int, goal: Any, weights: Mapping[str, float], limits: bool) -> None:
        robot, bounds = step.robot, step.robot.limits
        self.step, self.robot, self.substeps, self.goal, self.weights = step, robot, substeps, goal, dict(weights)
        self.limits = limits
        self.torques = torque_limits(robot)[step.columns]
        for k, torque in zip(step.columns, self.torques, strict=True):
            if not 0.0 < torque < np.inf:
                name = robot.coordinate_names[k]
                raise InputError(
                    f"the torque limit of {name} is {torque:g}, but actions are torques divided by their limits: "
                    f"robot.replace(limits={{{name!r}: {{'effort': 100.0}}}})"
                )
        # entries of q that have a range, with their coordinates; a quaternion has none
        ranged = [(c.q_index, k) for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]
        places, coordinates = ([pair[side] for pair in ranged] for side in (0, 1))
        self.low, self.high = (np.full(robot.nq + robot.n, sign * LARGEST) for sign in (-1, 1))
        if limits:
            self.low[places], self.high[places] = (
                np.clip(bounds[end][coordinates], -LARGEST, LARGEST) for end in ("lower", "upper")
            )
            self.high[robot.nq :] = np.minimum(bounds["velocity"], LARGEST)
            self.low[robot.nq :] = -self.high[robot.nq :]
        self._names = {place: robot.coordinate_names[k] for place, k in ranged}
        self._names |= {robot.nq + k: name for k, name in enumerate(robot.coordinate_names)}
        if goal is not None:
            self.goal = self._within(self.robot.inputs.one_state(goal, robot.nq, "goal").astype(float), "goal")

    @functools.cached_property
    def _kernel(self) -> Kernel:
        return self.robot.compile(self.function, u=self.step.inputs, goal=self.robot.nq)

    def __getstate__(self) -> dict[str, Any]:
        """All but compiled code, which is made again."""
        return {name: value for name, value in self.__dict__.items() if name != "_kernel"}

    def _within(self, x: Array, name: str) -> Array:
        """Positions (…, nq) or velocities (…, n) within the limits, to single precision; others are refused."""
        first = self.robot.nq if name == "v" else 0
        low, high = (bound[first : first + x.shape[-1]] for bound in (self.low, self.high))
        low, high = np.where(low <= -LARGEST, -np.inf, low), np.where(high >= LARGEST, np.inf, high)
        slack = FILE_PRECISION * np.maximum(1.0, np.abs(x))
        wrong = (x < low - slack) | (x > high + slack)
        if wrong.any():
            *motion, k = np.argwhere(wrong)[0]
            raise InputError(
                f"the {'velocity' if first else 'position'} of {printable(self._names[first + k])} in {name} is "
                f"{x[(*motion, k)]:.6g}, outside of its limits {low[k]:.6g} … {high[k]:.6g}: change it, or use limits=False"
            )
        return np.clip(x, low, high)

    def function(self, robot: Robot, q: Array, v: Array, u: Array, goal: Array) -> Array:
        """After a substep: q', v', the way from q' to the goal, the reward of a step, the largest violation of a limit."""
        u = maximum(-1.0, minimum(1.0, u))
        q_next, v_next = self.step.taken(robot, q, v, self.torques * u, self.step.h)
        if self.limits:
            v_next = np.array([maximum(-top, minimum(top, x)) for x, top in zip(v_next, self.high[robot.nq :], strict=True)])
            q_next = robot.integrate(q, self.step.h * v_next)
        state = np.concatenate([q_next, v_next])
        error = robot.difference(state[: robot.nq], goal)
        cost = self.weights["goal"] * (error @ error) + self.weights["effort"] * (u @ u) / len(u)
        beyond = functools.reduce(maximum, [*(state - self.high), *(self.low - state)])
        return np.concatenate([state, error, [-self.step.h * self.substeps * cost, beyond]])

    def starts(self, rng: np.random.Generator, count: int, options: Mapping[str, Any] | None) -> tuple[Array, Array]:
        """States (count, nq + n) and goals (count, nq): random configurations at rest, or what the options give."""
        if options is not None and not isinstance(options, Mapping):
            raise InputError(f"options= of reset maps 'q', 'v' and 'goal' to values, got {type(options).__name__}")
        given, robot = dict(options or {}), self.robot
        if unknown := sorted(set(given) - {"q", "v", "goal"}, key=str):
            raise InputError(f"option {unknown[0]!r} of reset is unknown; options are 'q', 'v' and 'goal'")
        q, goal = (robot.random(rng, count) for _ in range(2))
        values = {"q": q, "v": np.zeros(robot.n), "goal": goal if self.goal is None else self.goal, **given}
        sizes = {"q": robot.nq, "v": robot.n, "goal": robot.nq}
        rows = {}
        for name, value in values.items():
            array = robot.inputs.vector(value, sizes[name], name).astype(float)
            if array.shape not in ((sizes[name],), (count, sizes[name])):
                raise InputError(
                    f"{name} must have {sizes[name]} entries for each of {counted(count, 'state')}, got shape {array.shape}"
                )
            array = self._within(array, name) if name in given else array
            rows[name] = np.broadcast_to(array, (count, sizes[name]))
        return np.concatenate([rows["q"], rows["v"]], axis=-1), np.array(rows["goal"])

    def observation(self, state: Array, goal: Array) -> Array:
        return np.concatenate([state, self.robot.difference(state[..., : self.robot.nq], goal)], axis=-1)

    def advance(self, state: Array, goal: Array, u: Any, left: Any) -> tuple[Array, Array, Array]:
        """(observations, rewards, failed) after a step, of which ``left`` remain, this one included; see `environment`."""
        nq, n, before = self.robot.nq, self.robot.n, state
        u = self.robot.inputs.vector(u, self.step.inputs, "the action", "finite numbers from -1 to 1").astype(float)
        if u.shape[:-1] not in ((), state.shape[:-1]):
            raise InputError(f"the action must have shape {(*state.shape[:-1], self.step.inputs)}, got {u.shape}")
        for _ in range(self.substeps):
            found = self._kernel(state[..., :nq], state[..., nq:], u, goal)
            state = found[..., : nq + n]
        observation, reward = found[..., :-2], found[..., -2]
        failed = ~(found[..., -1] <= 0.0)  # also where it is no number
        if failed.any():
            infinite = ~(np.abs(state) < LARGEST).all(-1)
            if infinite.any():
                observation[infinite] = self.observation(before, goal)[infinite]
                error = observation[infinite, -n:]
                reward[infinite] = -self.step.h * self.substeps * self.weights["goal"] * (error**2).sum(-1)
            reward = np.where(failed, left * reward, reward)
        return observation, reward, failed

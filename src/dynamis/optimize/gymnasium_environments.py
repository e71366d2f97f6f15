"""Reaching tasks as environments of Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dynamis.optimize.reaching import Reaching

Array = npt.NDArray[Any]


def _spaces(reaching: Reaching) -> tuple[Any, Any]:
    """Of observations and actions."""
    size = reaching.robot.nq + 2 * reaching.robot.n
    return gymnasium.spaces.Box(-np.inf, np.inf, (size,)), gymnasium.spaces.Box(-1.0, 1.0, (reaching.step.inputs,))


class Environment(gymnasium.Env[Array, Array]):
    """One robot; see `dynamis.optimize.environment`."""

    metadata = {"render_modes": []}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, reaching: Reaching, steps: int) -> None:
        self.reaching, self.steps = reaching, steps
        self.observation_space, self.action_space = _spaces(reaching)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._taken = 0
        self._state, self._goal = (x[0] for x in self.reaching.starts(self.np_random, 1, options))
        return self.reaching.observation(self._state, self._goal).astype(np.float32), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if not hasattr(self, "_state"):
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        found, reward, failed = self.reaching.advance(self._state, self._goal, action, self.steps - self._taken)
        self._state, self._taken = found[: -self.reaching.robot.n], self._taken + 1
        return found.astype(np.float32), float(reward), bool(failed), self._taken >= self.steps, {}


class Environments(VectorEnv[Array, Array, Array]):
    """Many robots, advanced by one compiled call; an episode that has ended begins anew at the next step."""

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, reaching: Reaching, steps: int, count: int) -> None:
        self.reaching, self.steps, self.num_envs = reaching, steps, count
        self.single_observation_space, self.single_action_space = _spaces(reaching)
        self.observation_space, self.action_space = (
            batch_space(space, count) for space in (self.single_observation_space, self.single_action_space)
        )

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._taken, self._ended = np.zeros(self.num_envs, int), np.zeros(self.num_envs, bool)
        self._state, self._goal = self.reaching.starts(self.np_random, self.num_envs, options)
        return self.reaching.observation(self._state, self._goal).astype(np.float32), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not hasattr(self, "_state"):
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        found, reward, failed = self.reaching.advance(self._state, self._goal, actions, self.steps - self._taken)
        self._state, self._taken = found[:, : -self.reaching.robot.n], self._taken + 1
        if (again := self._ended).any():
            state, self._goal[again] = self.reaching.starts(self.np_random, int(again.sum()), None)
            found[again] = self.reaching.observation(state, self._goal[again])  # of which the states are a part
            self._taken[again], failed[again], reward[again] = 0, False, 0.0
        truncated = self._taken >= self.steps
        self._ended = failed | truncated
        return found.astype(np.float32), reward, failed, truncated, {}

"""Selection of the parameters of an adaptive law: all identifiable ones, or those of selected links.

Some parameters of the links do not affect the torques, others only in combinations. A minimal set is found from the rank of the
regressor at random states: independent columns Y_b, and the others as their linear combinations, Y = Y_b [1 K].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from dynamis.control.slotine_li_regressor import regressor_along
from dynamis.display import as_table, counted, short
from dynamis.errors import InputError, unknown_name
from dynamis.robot import Robot
from dynamis.tolerances import RANK_TOLERANCE

Array = npt.NDArray[Any]
STATES = 60  # random ones, whose regressors show which parameters are independent


@dataclass(frozen=True, eq=False, repr=False)
class Adapted:
    """The adapted ``columns`` of the regressor, and the combinations ``lump`` (adapted × p) of the parameters they represent.

    θ = lump · π; parameters not in θ are taken from the model.
    """

    columns: tuple[int, ...]
    lump: Array
    names: tuple[str, ...]

    def values(self, robot: Robot) -> Array:
        """θ of a robot."""
        return np.asarray(self.lump @ robot.parameters.astype(float))

    def __repr__(self) -> str:
        return short(f"<Adapted: {counted(len(self.names), 'parameter')}, {', '.join(self.names)}>")

    _repr_html_ = as_table


def adapted_parameters(robot: Robot, which: Any = "base") -> Adapted:
    """The parameters to adapt: "base", a minimal set for all torques; links by name, their identifiable parameters; or
    parameters by name, such as "link2.m"."""
    names = robot.parameter_names
    if isinstance(which, str) and which == "base":
        candidates = list(range(len(names)))
    else:
        candidates = _chosen(robot, [which] if isinstance(which, str) else list(which))
    Y = _stacked(robot)[:, candidates]
    size = np.linalg.norm(Y, axis=0)
    seen = np.flatnonzero(size > RANK_TOLERANCE * max(float(size.max(initial=0.0)), 1e-300))
    if not len(seen):
        raise InputError(f"none of the parameters {which!r} affects the torques of robot {robot.name!r}: choose others")
    _, R, order = qr(Y[:, seen] / size[seen], mode="economic", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > RANK_TOLERANCE * abs(R[0, 0])).sum())
    kept, rest = np.sort(order[:rank]), np.sort(order[rank:])
    lump = np.zeros((rank, len(names)))
    lump[np.arange(rank), [candidates[seen[k]] for k in kept]] = 1.0
    if len(rest):
        K = np.linalg.lstsq(Y[:, seen[kept]], Y[:, seen[rest]], rcond=None)[0]
        lump[:, [candidates[seen[k]] for k in rest]] = np.where(np.abs(K) > RANK_TOLERANCE, K, 0.0)
    columns = tuple(int(candidates[seen[k]]) for k in kept)
    return Adapted(columns, lump, tuple(names[c] for c in columns))


def _chosen(robot: Robot, which: list[Any]) -> list[int]:
    names = robot.parameter_names
    links = list(dict.fromkeys(name.rpartition(".")[0] for name in names[: 10 * len(robot.model.links)]))
    found: list[int] = []
    for given in which:
        if given in links:
            found += [k for k, name in enumerate(names) if name.rpartition(".")[0] == given]
        elif given in names:
            found.append(names.index(given))
        else:
            raise unknown_name("link or parameter to adapt", given, ["base", *links, *names])
    return sorted(set(found))


def _stacked(robot: Robot) -> Array:
    rng = np.random.default_rng(0)
    q, along = robot.random(rng, STATES), rng.uniform(-2.0, 2.0, (3, STATES, robot.n))
    Y = regressor_along(robot, q, *along).reshape(STATES * robot.n, -1)
    # dry friction and rotors are learnt only where the model has them: they would be found in every regressor
    held = [k for k, name in enumerate(robot.parameter_names) if _absent(robot, k, name)]
    Y[:, held] = 0.0
    return Y


def _absent(robot: Robot, k: int, name: str) -> bool:
    of_joint = name.rpartition(".")[2] in ("viscous", "coulomb", "coulomb_bias", "rotor", "stiffness")
    return of_joint and float(robot.parameters[k]) == 0.0

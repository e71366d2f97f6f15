"""Base parameters, computed numerically: the smallest set of parameter combinations that determines the joint torques.

If columns of the regressor are linear combinations of others at every state,

    Y_d = Σ_s β_ds Y_s   ⇒   π_s' = π_s + Σ_d β_ds π_d,   and π_d is eliminated.

Columns are processed from base to tip, and within a link in the order that regroups parameters onto the parent link
[Gautier & Khalil 1990]; each is either independent of the previous ones or a combination of them. This depends on the
geometry alone; whether a log excites all base parameters is checked by the estimators.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.kernel import Kernel
from dynamis.display import base_parameters_card, counted
from dynamis.errors import DynamisError, InputError, printable
from dynamis.identification.linear_model import LinearModel
from dynamis.robot import Robot

Array = npt.NDArray[Any]
# order within a link: parameters regrouped onto the parent link (for a joint about z) come last
ORDER = (9, 4, 5, 7, 8, 1, 2, 6, 3, 0)
DEPENDENT = 1e-5  # residual of a dependent column, relative to its norm; files write right angles as 1.5708
LEAST_GAP = 1e3  # ratio of the smallest non-zero singular value to the largest one due to rounding
READABLE = 1e-9
NOTHING = 1e-12  # rounding level, relative to the largest column
NEVER = 1e-12  # torque per unit of a parameter without effect


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The identifiable parameter combinations: π_base = B π, and Y π = Y[:, independent] π_base.

    ``gap`` is the ratio of the smallest non-zero singular value to the largest numerically zero one. ``unidentifiable`` maps
    each parameter that is not itself a base parameter to the reason.
    """

    model: LinearModel
    independent: Array
    dependent: Array
    B: Array
    gap: float

    @property
    def rank(self) -> int:
        return len(self.independent)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The name of the leading parameter of each base parameter."""
        return tuple(self.model.names[k] for k in self.independent)

    @functools.cached_property
    def expressions(self) -> tuple[str, ...]:
        """Each base parameter as a linear combination of parameters, such as ``"forearm.mx + 0.39 wrist.m"``."""
        return tuple(_sum(self.model.names, k, self.B[row]) for row, k in enumerate(self.independent))

    @functools.cached_property
    def unidentifiable(self) -> dict[str, str]:
        """The parameters that are not themselves base parameters, and why."""
        model, result = self.model, {}
        tilted, movers = _shows_if_tilted(model), _movers(model)
        for k in self.dependent:
            partners = [self.names[row] for row in np.flatnonzero(self.B[:, k])]
            joints = [printable(joint) for joint in movers.get(model.owner[k], ())]
            alone = f", because only {' and '.join(joints)} move{'s' if len(joints) == 1 else ''} this link"
            alone = alone if len(joints) in (1, 2) else ""
            if partners:
                together = " and ".join(filter(None, [", ".join(partners[:-1]), partners[-1]]))
                text = f"it is identifiable only in combination with {together}"
            elif tilted[k]:
                text = f"gravity does not act on it{alone}: it would be identifiable if the base were tilted"
            else:
                text = f"no torque depends on it{alone}"
            result[model.names[k]] = text
        return result

    @functools.cached_property
    def prior(self) -> Array:
        """The base parameters of the prior robot model."""
        return self.values(self.model.prior)

    def values(self, parameters: Any) -> Array:
        """Return B π."""
        return self.B @ np.asarray(parameters, float)

    def regressor(self, q: Any, v: Any, a: Any, states: Any = None) -> Array:
        """Return the independent columns of the regressor, (…, n, rank)."""
        return np.asarray(self._kernel(q, v, a, self.model.checked_states(q, v, a, states)))

    @functools.cached_property
    def _kernel(self) -> Kernel:
        def columns(robot: Robot, q: Array, v: Array, a: Array, states: Array) -> Array:
            return self.model.rows(robot, q, v, a, states)[:, self.independent]

        return self.model.robot.compile(columns, identity=self.identity, states=self.model.state_size)

    def entries(self, q: Any, v: Any, a: Any, states: Any) -> Array:
        """Return the entries of the regressor where `pattern` is true, joint by joint, (N, entries)."""
        return np.asarray(self._entries_kernel(q, v, a, states))

    @functools.cached_property
    def _entries_kernel(self) -> Kernel:
        joint, column = np.nonzero(self.pattern)

        def entries(robot: Robot, q: Array, v: Array, a: Array, states: Array) -> Array:
            return self.model.rows(robot, q, v, a, states)[joint, self.independent[column]]

        identity = None if self.identity is None else f"{self.identity} {np.packbits(self.pattern).tolist()}"
        return self.model.robot.compile(entries, identity=identity, states=self.model.state_size)

    @property
    def identity(self) -> str | None:
        """Cache key of the independent columns among models of the same robot, or None if there is none."""
        return None if self.model.identity is None else f"{self.model.identity} {self.independent.tolist()}"

    @functools.cached_property
    def pattern(self) -> Array:
        """(n, rank): whether the torque of a joint can depend on a base parameter."""
        return self.model.pattern[:, self.independent]

    def __repr__(self) -> str:
        whose = printable(self.model.robot.name)
        return f"<BaseParameters of {whose}: {self.rank} of {counted(len(self.model.names), 'parameter')}, gap {self.gap:.1e}>"

    def _repr_html_(self) -> str:
        return base_parameters_card(self)


def base_parameters(
    model: LinearModel | Robot, *, among: Sequence[str] | None = None, tolerance: float = DEPENDENT
) -> BaseParameters:
    """Compute the base parameters of a model; for a robot, those of its links without friction and rotors.

    ``among`` selects the parameters to consider (default: all); the others are assumed zero. A column is dependent if its
    residual is below ``tolerance`` relative to its norm; Y π = Y[:, independent] π_base then holds to this accuracy.

    >>> import dynamis as dy
    >>> dy.identification.base_parameters(dy.load("ur5e")).rank
    36
    """
    if isinstance(model, Robot):
        model = LinearModel(model, friction=(), rotor=False)
    p = len(model.names)
    states = model.random_states(np.random.default_rng(2), max(20, 4 * p // model.robot.n + 10))
    W = model.regressor(*states).reshape(-1, p)
    wanted = set(range(p)) if among is None else {model.index(name) for name in among}
    inertial = [body.place.start + k for body in model.bodies for k in ORDER]
    order = [k for k in (*inertial, *range(len(inertial), p)) if k in wanted]
    wild = np.flatnonzero(~np.isfinite(W).all(axis=0))
    if len(wild):
        raise InputError(f"the column of {printable(model.names[wild[0]])} is not finite at some states; it must be everywhere")
    norms = np.linalg.norm(W, axis=0)
    links = norms[model.is_inertial]
    # columns of links are sums and may be rounding only; user-defined columns are taken as they are
    norms[model.is_inertial & (norms < NOTHING * links.max(initial=0.0))] = 0.0
    W[:, norms == 0.0] = 0.0
    independent, beta = _by_elimination(W / np.where(norms > 0.0, norms, 1.0), order, tolerance)
    dependent = np.array(sorted(wanted - set(independent)), int)
    # from combinations of normalized columns to combinations of the original ones
    scaled = beta * norms[None, :] / norms[independent][:, None]
    scaled[np.abs(beta) < READABLE] = 0.0
    places, rank = np.argsort(independent), len(independent)
    singular = np.linalg.svd((W / np.where(norms > 0.0, norms, 1.0))[:, order], compute_uv=False)
    gap = float(singular[rank - 1] / max(singular[rank], np.finfo(float).tiny)) if 0 < rank < len(singular) else np.inf
    if gap < LEAST_GAP:
        raise DynamisError(
            f"robot {printable(model.robot.name)}: the number of base parameters, {rank} or {rank + 1}, is ambiguous: "
            f"singular values {singular[rank - 1]:.1e} and {singular[rank]:.1e}; set lengths or offsets that are almost zero "
            "to zero in the file"
        )
    return BaseParameters(model, np.array(independent, int)[places], dependent, scaled[places], gap)


def _by_elimination(W: Array, order: list[int], tolerance: float) -> tuple[list[int], Array]:
    """Return the independent columns, selected in order, and every column as a combination of them."""
    independent: list[int] = []
    Q, R = np.zeros(W.shape), np.zeros((W.shape[1], W.shape[1]))
    coordinates: dict[int, Array] = {}
    for d in order:
        column, r = W[:, d], len(independent)
        along = Q[:, :r].T @ column
        rest = column - Q[:, :r] @ along
        again = Q[:, :r].T @ rest  # reorthogonalization against rounding
        along, rest = along + again, rest - Q[:, :r] @ again
        length = float(np.linalg.norm(rest))
        if length > tolerance:
            Q[:, r], R[:r, r], R[r, r] = rest / length, along, length
            independent.append(d)
        else:
            coordinates[d] = along
    rank = len(independent)
    beta = np.zeros((rank, W.shape[1]))
    beta[np.arange(rank), independent] = 1.0
    for d, along in coordinates.items():
        full = np.zeros(rank)
        full[: len(along)] = along
        beta[:, d] = np.linalg.solve(R[:rank, :rank], full) if rank else full
    return independent, beta


def _sum(names: tuple[str, ...], first: int, row: Array) -> str:
    text = names[first]
    for k in np.flatnonzero(row):
        if k != first:
            size = f"{abs(row[k]):.4g}"
            text += f" {'+' if row[k] > 0 else '−'} {'' if size == '1' else size + ' '}{names[k]}"
    return text


def _movers(model: LinearModel) -> dict[str, tuple[str, ...]]:
    """Return the joints between the base and each link."""
    robot = model.robot
    found: dict[int, tuple[int, ...]] = {0: ()}
    for i, body in robot.model.moving:
        found[i] = tuple(dict.fromkeys((*found[body.parent], *body.dof)))
    return {body.name: tuple(robot.coordinate_names[k] for k in found[i]) for i, body in robot.model.moving}


def _shows_if_tilted(model: LinearModel) -> Array:
    """Return whether some torque would depend on a parameter under gravity in another direction."""
    robot = model.robot.replace(gravity=(3.1, -4.2, -7.9))
    rng = np.random.default_rng(3)
    shown = np.zeros(len(model.names), bool)
    for _ in range(3):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.n))
        shown |= np.abs(model.rows(robot, q, v, a, np.ones(model.state_size))).max(axis=0) > NEVER
    return shown

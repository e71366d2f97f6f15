"""Full parameters for given base parameters: among all robots with the same torques, the one nearest to the prior.

    min  |x − x_prior|²    subject to   B π(x) = π_base,   physically consistent links, non-negative friction and rotors

with x from `BodySpace`: distances are relative to each link's prior inertia. Base parameters from ordinary least squares may
belong to no physically consistent robot; the error then names the links, and the nearest consistent ones can be computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, counted
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.consistent_bodies import fit_bodies, is_allowed
from dynamis.identification.pseudo_inertia import ONE, Programme, Rows, Solution, minimise
from dynamis.spatial import Inertia

if TYPE_CHECKING:
    from dynamis.identification.linear_model import LinearModel

Array = npt.NDArray[Any]

BARELY = 5e-8  # margin of an exact solution, relative to the prior inertia: above the accuracy of the solver
ROOMY = 1e-5  # margin of the nearest consistent robot, so that its base parameters have a consistent solution again
LOYAL = (1e-8, 1e-4, 1.0)  # weights of the prior when the base parameters are infeasible, the first that can be solved


class InfeasibleError(InputError):
    """No physically consistent robot has these base parameters; ``reason`` says why."""

    def __init__(self, reason: str, cure: str) -> None:
        super().__init__(f"{reason}. {cure}")
        self.reason = reason


def full_parameters(
    base: BaseParameters,
    coef: Any,
    *,
    infeasible: str = "raise",
    covariance: Any = None,
) -> Array:
    """Return π (p,) with B π = coef, nearest to the prior.

    Every link is physically consistent, and friction, rotors and springs are not negative. If no such robot has these base
    parameters, ``infeasible="raise"`` raises `InfeasibleError` naming the links, and "nearest" returns the consistent robot
    with the nearest base parameters: in standard errors if ``covariance`` is given, else in relative distance.

    >>> import dynamis as dy, numpy as np
    >>> base = dy.identification.base_parameters(dy.load("ur5e"))
    >>> pi = full_parameters(base, base.prior)
    >>> bool(np.abs(base.values(pi) - base.prior).max() < 1e-10)
    True
    """
    if infeasible not in ("raise", "nearest"):
        raise InputError(f"infeasible={infeasible!r} is not supported; choose 'raise' or 'nearest'")
    wanted = np.asarray(coef, dtype=float)
    if wanted.shape != (base.rank,) or not np.isfinite(wanted).all():
        raise InputError(
            f"coef takes {counted(base.rank, 'finite number')}, one per entry of base.names; got shape {wanted.shape}"
        )
    space = BodySpace(base.model)
    believed = base.values(space.prior)
    if np.allclose(believed, wanted, rtol=1e-13, atol=0.0) and space.is_consistent(space.prior):
        return space.prior.copy()  # also with flat or massless links, which rounding would make inconsistent
    S = base.B @ space.spun @ space.C
    inverse, free = _split(S)
    on = inverse @ (wanted - base.values(space.parameters(np.zeros(S.shape[1]))))
    x = on + free @ (free.T @ space.wish)  # nearest, without constraints
    if not is_allowed(space, space.rows(), x, least=-1e-12):
        found = _inside(space, on, free)
        if found.solved:
            x = found.x
        elif infeasible == "raise":
            cure = "Fit with PhysicallyConsistent, or use the nearest consistent robot with infeasible='nearest'"
            raise InfeasibleError(_complaint(space, on, free), cure)
        else:
            near = nearest_feasible(base, wanted, space, covariance)
            try:
                return full_parameters(base, base.values(near))  # what these do not determine, nearest to the prior
            except InfeasibleError:
                return near
    return _exactly(base, space, wanted, x, inverse)


def nearest_feasible(base: BaseParameters, coef: Array, space: BodySpace, covariance: Any = None) -> Array:
    """Return π of the physically consistent robot whose base parameters are nearest to the given ones."""
    sizes = np.maximum(np.abs(coef), 1e-3 * (np.abs(coef).max() or 1.0))
    measures = [np.diag(1.0 / sizes)]
    if covariance is not None:
        C = np.asarray(covariance, dtype=float)
        std = np.sqrt(np.maximum(np.diag(C), (1e-9 * sizes) ** 2))  # parameters at a bound have almost none
        values, vectors = np.linalg.eigh(C / np.outer(std, std))
        measures.insert(0, (vectors / np.sqrt(np.maximum(values, 1e-9))).T / std)
    for R, weight in product(measures, LOYAL):  # standard errors far below the prior's are beyond the accuracy of the solver
        D = R @ base.B @ space.spun
        found = fit_bodies(space, D @ space.C, R @ coef - D @ space.origin, weight, "euclidean", least=ROOMY)
        if found.solved:
            break
    else:
        raise InfeasibleError("no physically consistent robot was found near the estimate", "Fit with PhysicallyConsistent")
    pi = space.parameters(found.x)
    k = space.others
    pi[k] = np.clip(pi[k], space.lower[k], space.upper[k])
    return pi


def _split(S: Array) -> tuple[Array, Array]:
    """Return (S⁺, a basis of the null space of S)."""
    U, sigma, Vt = np.linalg.svd(S)
    rank = int((sigma > 1e-12 * sigma[0]).sum())
    return (Vt[:rank].T / sigma[:rank]) @ U[:, :rank].T, Vt[rank:].T


def _inside(space: BodySpace, on: Array, free: Array) -> Solution:
    """Return the nearest x = on + free u among physically consistent robots."""
    best = on + free @ (free.T @ (space.wish - on))
    rows = space.rows().moved(best, free)
    felt = np.linalg.norm(rows.A, axis=1) > 1e-10
    # blocks determined by the base parameters alone are not constrained
    fixed = (rows.lower[~felt] > 1e-12) | (rows.upper[~felt] < -1e-12)
    kept = Rows(rows.A[felt], rows.lower[felt], rows.upper[felt], tuple(n for n, f in zip(rows.names, felt, strict=True) if f))
    bodies = [(ONE + best[link.place], free[link.place]) for link in space.links]
    n = free.shape[1]
    programme = Programme(np.eye(n), np.zeros(n), bodies, kept, least=BARELY)
    for _ in range(2):
        found = minimise(programme)
        x = best + free @ found.x if np.isfinite(found.x).all() else best
        inside = found.solved and not fixed.any() and is_allowed(space, space.rows(), x, least=-1e-9)
        if inside or fixed.any():
            break
        # where little room is left, the nearest point is moved towards the one with the largest margin
        programme = replace(programme, start=_centre(programme), least=0.0)
    return Solution(x, found.status, inside, not inside)


def _centre(programme: Programme) -> Array:
    """Return the w with the largest margin t: B_k ⪰ t, lower + t ≤ A w ≤ upper − t in units of the rows, t ≤ 1."""
    rows, n = programme.rows, len(programme.q)
    size = np.linalg.norm(rows.A, axis=1)
    below, above = np.isfinite(rows.lower), np.isfinite(rows.upper)
    t = np.append(np.zeros(n), 1.0)
    A = [np.column_stack([rows.A / size[:, None], s * np.ones(len(size))])[there] for s, there in ((-1.0, below), (1.0, above))]
    lower = [rows.lower[below] / size[below], np.full(int(above.sum()), -np.inf), [-np.inf]]
    upper = [np.full(int(below.sum()), np.inf), rows.upper[above] / size[above], [1.0]]
    eased = Rows(np.vstack([*A, t]), np.concatenate(lower), np.concatenate(upper), ("",) * (len(A[0]) + len(A[1]) + 1))
    bodies = [(b, np.column_stack([M, -ONE])) for b, M in programme.bodies]
    return minimise(Programme(np.diag(np.append(np.full(n, 1e-6), 0.0)), -t, bodies, eased, least=0.0)).x[:n]


def _exactly(base: BaseParameters, space: BodySpace, wanted: Array, x: Array, inverse: Array) -> Array:
    """Return π of x with rounding removed from B π."""
    pi = space.parameters(x)
    for _ in range(2):
        pi = pi + space.spun @ (space.C @ (inverse @ (wanted - base.values(pi))))
    k = [j for j in space.others if np.isfinite(space.lower[j])]
    size = np.abs(space.C[k, k])
    pi[k] = np.where(np.abs(pi[k] - space.lower[k]) < 1e-12 * size, space.lower[k], pi[k])
    for link in space.links:  # also from bodies without mass
        pi[link.place] = np.where(
            np.abs(pi[link.place]) < 1e-14 * np.abs(space.C[link.place, link.place]).max(axis=1), 0.0, pi[link.place]
        )
    return pi


def _complaint(space: BodySpace, on: Array, free: Array) -> str:
    """Name the links and parameters that make the problem infeasible, as few as possible."""
    rows = space.rows().moved(on, free)
    links, n = space.links, free.shape[1]
    k = len(links) + len(rows.names)
    give = np.eye(k)
    bodies = [(ONE + on[link.place], np.hstack([free[link.place], np.outer(ONE, give[j])])) for j, link in enumerate(links)]
    # a slack for each body and each bound, with an L1-like penalty: few slacks are then non-zero
    size = np.linalg.norm(space.rows().A, axis=1)
    eased = Rows(
        np.vstack([np.hstack([rows.A / size[:, None], give[len(links) :]]), np.hstack([np.zeros((k, n)), give])]),
        np.append(rows.lower / size, np.zeros(k)),
        np.full(len(rows.names) + k, np.inf),
        (*rows.names, *("",) * k),
    )
    price = np.append(np.zeros(n), np.ones(k))
    paid = minimise(Programme(np.diag(np.append(np.full(n, 1e-9), np.full(k, 1e-9))), price, bodies, eased, least=0.0)).x[n:]
    worst = paid.max(initial=0.0)
    wrong = [printable(link.name) for link, more in zip(links, paid, strict=False) if more > 1e-3 * worst]
    below = [printable(name) for name, more in zip(rows.names, paid[len(links) :], strict=True) if more > 1e-3 * worst]
    said = [f"{_listed(wrong)} would be physically inconsistent"] if wrong else []
    said += [f"{_listed(below)} would be negative"] if below else []
    return f"no physically consistent robot has these base parameters: {' and '.join(said)}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


@dataclass(frozen=True, eq=False, repr=False)
class LinkConsistency:
    """One link: its mass, centre of mass and principal moments about it, and why it is inconsistent ("" if it is not)."""

    link: str
    mass: float
    com: Array | None
    moments: Array | None
    reason: str

    @property
    def consistent(self) -> bool:
        return not self.reason

    __repr__ = as_call
    _repr_html_ = as_table


def link_consistency(model: LinearModel, parameters: Any, tolerance: float = 1e-9) -> tuple[LinkConsistency, ...]:
    """Check every link of the full parameters π (p,): its pseudo-inertia must be positive semi-definite [Wensing 2018].

    >>> import dynamis as dy
    >>> model = dy.identification.LinearModel(dy.load("ur5e"))
    >>> all(link.consistent for link in link_consistency(model, model.prior))
    True
    """
    values = np.asarray(parameters, float)
    return tuple(_judge(name, Inertia.from_parameters(values[where]), tolerance) for name, where in model.bodies)


def _judge(name: str, inertia: Inertia, tolerance: float) -> LinkConsistency:
    mass = float(inertia.mass)
    if not mass > 0.0:
        nothing = mass == 0.0 and not np.any(inertia.tensor) and not np.any(inertia.first_moment)
        return LinkConsistency(name, mass, None, None, "" if nothing else f"its mass is {mass:.3g} kg")
    moments = np.linalg.eigvalsh(np.asarray(inertia.tensor_about_com, float))
    com = np.asarray(inertia.com, float)
    reason = ""
    if not inertia.is_consistent(tolerance):
        if moments[0] < 0.0:
            reason = f"a moment of inertia about its centre of mass is {moments[0]:.3g} kg m²"
        else:
            others = moments[0] + moments[1]
            reason = f"its largest moment of inertia {moments[2]:.3g} exceeds the sum of the others, {others:.3g} kg m²"
    return LinkConsistency(name, mass, com, moments, reason)


def inconsistent_links(links: tuple[LinkConsistency, ...]) -> dict[str, str]:
    """Return the reasons of the physically inconsistent links, by name."""
    return {link.link: link.reason for link in links if link.reason}

"""Parameters relative to a prior: coordinates in which each link's inertia is scaled by its prior pseudo-inertia.

With the prior pseudo-inertia J₀ = L Lᵀ of a link,

    J = L (1 + X) Lᵀ,      x = packed(X),

so the link is physically consistent if 1 + X is positive semi-definite, |x|² is the pullback distance tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ)
and 2 (tr X − log det(1 + X)) the entropic one. Friction and other scalar parameters are divided by their prior value or, if it
is larger, by a typical size (`TypicalSizes`). The parameters are affine in the vector of all x: π = π₀ + C x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.display import counted
from dynamis.errors import InputError, printable, unknown_name
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.pseudo_inertia import (
    UNITS,
    Rows,
    packed,
    parameters_of,
    pseudo_inertia,
    unpacked,
    upper_factor,
    well_inside,
)
from dynamis.spatial import Inertia

Array = npt.NDArray[Any]

_ONE = np.eye(4)
NOT_NEGATIVE = ("viscous", "coulomb", "rotor", "inertia", "stiffness")
ROOM = 1e-4  # relative to the prior inertia: a link with less in some direction is called flat

STATES = 64
SPEED = 2.0  # rad/s or m/s: RMS of `LinearModel.random_states`
SHARE_OF_LIMIT = 0.5  # RMS of the reference states, relative to the velocity limit
SEEN = 1e-9  # relative to a parameter's largest column


class BodySpace:
    """The parameters of a model as π = π₀ + C x, with the physical constraints on them.

    ``prior`` (p,) are the prior values, all or by name (default: the model's). ``masses`` and ``com`` bound links by name:
    (lower, upper) in kg, and ((x, y, z) lower, (x, y, z) upper) in m in the link's frame; ``total_mass`` is that of all moving
    links. ``boxes`` (`link_boxes`) are those within which the whole mass of a link lies, as ``com`` in its frame:
    ∫ (x − lower) (upper − x) dm ≥ 0 along each axis, which bounds the centre of mass and the moments of inertia.
    ``bounds`` are those of friction and other scalars by parameter name; Coulomb and viscous friction, rotor inertias and
    spring stiffnesses are never negative. ``sizes`` (p,) are the typical sizes of friction and other scalars, and of masses
    missing in the file: by default they are derived from the robot's own torques.
    """

    def __init__(
        self,
        model: LinearModel,
        prior: Any = None,
        *,
        masses: Mapping[str, tuple[float, float]] | None = None,
        com: Mapping[str, tuple[Any, Any]] | None = None,
        total_mass: float | None = None,
        boxes: Mapping[str, tuple[Any, Any]] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        sizes: Array | None = None,
    ) -> None:
        self.model, self.prior = model, checked_prior(model, prior)
        p = len(model.names)
        self.spun = _rotors_on_links(model)
        believed = np.linalg.solve(self.spun, self.prior)
        self.origin, C, self.wish = believed.copy(), np.zeros((p, p)), np.zeros(p)
        self.links = model.bodies
        self.places = np.array([np.r_[place] for _, place in model.bodies], int).reshape(-1, 10)
        if sizes is None:
            sizes = TypicalSizes(model).of_model(self.prior)
        heavy = [believed[place][0] for _, place in model.bodies if believed[place][0] > 0.0]
        unknown = sizes[[place.start for _, place in model.bodies]]
        stand_in = 0.1 * float(np.median(heavy)) if heavy else float(np.median(unknown))
        thin = _thin([believed[place] for _, place in model.bodies])
        for _, place in model.bodies:
            self.origin[place] = well_inside(believed[place], stand_in_mass=stand_in, thin=thin)
            L = upper_factor(pseudo_inertia(self.origin[place]))
            C[place, place] = parameters_of(L @ UNITS @ L.T).T
            inverse = np.linalg.inv(L)
            J = inverse @ pseudo_inertia(believed[place]) @ inverse.T
            values, vectors = np.linalg.eigh(J)
            nearest = J if values[0] >= 0.0 else (vectors * np.maximum(values, 0.0)) @ vectors.T  # positive semi-definite
            self.wish[place] = packed(nearest - np.eye(4))
        self.others = np.flatnonzero(~model.is_inertial)
        # a file's friction may be a placeholder: its value does not say how large the error is
        C[self.others, self.others] = np.maximum(np.abs(believed), sizes)[self.others]
        self.C = C
        self.lower, self.upper = self._scalar_bounds(bounds)
        self.masses = {self._link(name): _pair(value, f"masses of {printable(name)}") for name, value in (masses or {}).items()}
        self.com = {self._link(name): _pair(value, f"com of {printable(name)}", 3) for name, value in (com or {}).items()}
        self.boxes = {self._link(name): _pair(value, f"box of {printable(name)}", 3) for name, value in (boxes or {}).items()}
        if total_mass is not None and not total_mass > 0.0:
            raise InputError(f"total_mass must be above zero, got {total_mass!r}")
        self.total_mass = total_mass

    def parameters(self, x: Array) -> Array:
        """Return π of the coordinates x."""
        return np.asarray(self.spun @ (self.origin + self.C @ x))

    def coordinates(self, parameters: Any) -> Array:
        """Return the coordinates x of π."""
        own = np.linalg.solve(self.spun, np.asarray(parameters, dtype=float))
        return np.linalg.solve(self.C, own - self.origin)

    def matrices(self, x: Array) -> Array:
        """Return 1 + X of each link (links, 4, 4): positive semi-definite if physically consistent."""
        return np.asarray(_ONE + unpacked(x[self.places]))

    def inside(self) -> Array:
        """Return a consistent x with scalar parameters strictly within their bounds; other bounds may be violated."""
        x, k = np.zeros(len(self.origin)), self.others
        size = np.diagonal(self.C)[k]
        low, high = (self.lower[k] - self.origin[k]) / size, (self.upper[k] - self.origin[k]) / size
        room = np.minimum(0.1, 0.5 * (high - low))
        x[k] = np.clip(self.wish[k], low + room, high - room)
        return x

    def curvature(self, x: Array, metric: str) -> Array:
        """Return K (p, p) with KᵀK half the Hessian of the penalty, where inertias are not smaller than those of the prior.

        Towards zero it grows without bounds, so that parameters which the log does not tell from zero would count as exact.
        """
        K = np.eye(len(x))
        if metric == "entropic":
            values, vectors = np.linalg.eigh(self.matrices(x))
            inverse = (vectors / np.sqrt(np.maximum(values, 1.0))[:, None]) @ vectors.swapaxes(1, 2)
            columns = packed(inverse[:, None] @ UNITS @ inverse.swapaxes(1, 2)[:, None])
            K[self.places[:, :, None], self.places[:, None]] = columns.swapaxes(1, 2)
        return K

    def rows(self) -> Rows:
        """The linear constraints: bounds of scalar parameters, masses, centres of mass and the total mass."""
        A, lower, upper, names = [], [], [], []

        def add(row: Array, low: float, high: float, name: str) -> None:
            at = float(row @ self.origin)
            A.append(row @ self.C)
            lower.append(low - at)
            upper.append(high - at)
            names.append(name)

        unit = np.eye(len(self.origin))
        for k in self.others:
            if np.isfinite(self.lower[k]) or np.isfinite(self.upper[k]):
                add(unit[k], self.lower[k], self.upper[k], self.model.names[k])
        for link, (low, high) in self.masses.items():
            add(unit[self.links[link].place.start], float(low), float(high), f"the mass of {printable(self.links[link].name)}")
        for link, (low, high) in self.com.items():
            m = self.links[link].place.start
            for axis in range(3):  # c_lower m ≤ h ≤ c_upper m
                name = f"the centre of mass of {printable(self.links[link].name)} along {'xyz'[axis]}"
                add(unit[m + 1 + axis] - low[axis] * unit[m], 0.0, np.inf, name)
                add(unit[m + 1 + axis] - high[axis] * unit[m], -np.inf, 0.0, name)
        for link, (low, high) in self.boxes.items():
            m = self.links[link].place.start
            moments = unit[[m + 4, m + 6, m + 9]]  # Ixx, Iyy, Izz
            for axis in range(3):  # −∫ x² dm + (lower + upper) h − lower · upper · m ≥ 0
                square = 0.5 * moments.sum(axis=0) - moments[axis]
                row = (low[axis] + high[axis]) * unit[m + 1 + axis] - low[axis] * high[axis] * unit[m] - square
                add(row, 0.0, np.inf, f"the extent of {printable(self.links[link].name)} along {'xyz'[axis]}")
        if self.total_mass is not None:
            every = unit[[link.place.start for link in self.links]].sum(axis=0)
            add(every, self.total_mass, self.total_mass, "the total mass")
        return Rows(np.array(A).reshape(-1, len(self.origin)), np.array(lower), np.array(upper), tuple(names))

    def is_consistent(self, parameters: Array, tolerance: float = 1e-12) -> bool:
        """Return whether every link is physically consistent and no friction or rotor inertia negative."""
        own = np.linalg.solve(self.spun, parameters)
        bodies = [Inertia.from_parameters(pi[link.place]) for link in self.links for pi in (own, parameters)]
        never = [k for k in self.others if self.lower[k] >= 0.0]
        return all(body.is_consistent(tolerance) for body in bodies) and bool((parameters[never] >= 0.0).all())

    def active(self, x: Array) -> tuple[list[str], Array]:
        """Return the active constraints at x, in words, and their normals N (k, p): N dx = 0."""
        words, normals = [], []
        for link, matrix in zip(self.links, self.matrices(x), strict=True):
            values, vectors = np.linalg.eigh(matrix)
            flat = vectors[:, values < ROOM]
            if flat.shape[1]:
                count = "one direction" if flat.shape[1] == 1 else counted(flat.shape[1], "direction")
                words.append(f"{printable(link.name)} is at the limit of physical consistency: flat in {count}")
            for i in range(flat.shape[1]):
                for j in range(i + 1):
                    normal = np.zeros(len(x))
                    normal[link.place] = packed(0.5 * (np.outer(flat[:, i], flat[:, j]) + np.outer(flat[:, j], flat[:, i])))
                    normals.append(normal)
        rows = self.rows()
        for a, low, high, name in zip(rows.A, rows.lower, rows.upper, rows.names, strict=True):
            size = float(np.linalg.norm(a))
            at = a @ x
            end = low if at - low < ROOM * size else high if high - at < ROOM * size else None
            if end is not None:
                normals.append(a)
                words.append(
                    f"{name} is {'fixed' if low == high else 'at its lower bound' if end == low else 'at its upper bound'}"
                )
        return list(dict.fromkeys(words)), np.array(normals).reshape(-1, len(x))

    def _scalar_bounds(self, bounds: Mapping[str, tuple[float, float]] | None) -> tuple[Array, Array]:
        model, p = self.model, len(self.prior)
        lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
        for k in self.others:
            # parameters shared by two joints through a motor may have either sign
            if model.kind[k] in NOT_NEGATIVE and not model.is_shared[k]:
                lower[k] = 0.0
        for name, value in (bounds or {}).items():
            at = model.index(name)
            if model.is_inertial[at]:
                raise InputError(f"{printable(name)} is bounded by masses= and com=; bounds= is for friction and other scalars")
            lower[at], upper[at] = _pair(value, f"bounds of {printable(name)}")
        return lower, upper

    def _link(self, name: str) -> int:
        names = [link.name for link in self.links]
        if name not in names:
            raise unknown_name("moving link", name, names)
        return names.index(name)


def checked_prior(model: LinearModel, prior: Any) -> Array:
    """Return the model's prior, or the given one: all parameters, or some by name."""
    if isinstance(prior, Mapping):
        values = model.prior.copy()
        for name, value in prior.items():
            values[model.index(name)] = value
    else:
        values = np.array(model.prior if prior is None else prior, dtype=float)
    if values.shape != model.prior.shape or not np.isfinite(values).all():
        raise InputError(
            f"prior= takes {counted(len(model.prior), 'finite number')}, one per entry of model.names, or some by name"
        )
    return values


def _rotors_on_links(model: LinearModel) -> Array:
    """Return the matrix that adds the mounted rotors to the links that carry them."""
    T = np.eye(len(model.names))
    links = [i for i, _ in regressor.links(model.robot.model)]
    for _, rotor in regressor.rotors(model.robot.model):
        place = model.bodies[links.index(rotor.parent)][1]
        T[place, model.index(f"{rotor.name}.inertia")] = regressor.disc(rotor.motion.axis).parameters
    return T


def _thin(bodies: list[Array]) -> float:
    """Return the thickness regarded as zero [m]: a centimetre, less for robots with small links."""
    spreads = [0.0]
    for pi in bodies:
        if pi[0] > 0.0:
            J = pseudo_inertia(pi)
            spreads.append(float(np.trace(J[:3, :3])) / pi[0] - float(pi[1:4] @ pi[1:4]) / pi[0] ** 2)
    return min(0.01, 0.1 * float(np.sqrt(max(spreads)))) or 0.01


def _pair(value: Any, what: str, size: int | None = None) -> tuple[Any, Any]:
    try:
        low, high = (np.array(end, dtype=float) for end in value)
    except (TypeError, ValueError):
        low = high = np.array(np.nan)
    shape = () if size is None else (size,)
    if low.shape != shape or high.shape != shape or not (low <= high).all():
        raise InputError(f"{what}: expected (lower, upper){'' if size is None else ', three numbers each'}, got {value!r}")
    return low, high


class TypicalSizes:
    """Typical size of a parameter of unknown value: the value whose torque is as large as the joint's torque.

    For a parameter π_k with regressor columns Y_jk and joint torques τ_j (RMS values over a motion),

        s_k² = Σ_j τ_j² / Σ_j Y_jk²      over the joints j whose torque depends on π_k,

    so sizes scale with torques and masses, and do not depend on units. A slow log hardly excites viscous friction or rotor
    inertia and would allow any size: each column counts with at least its RMS over reference states of the robot, with speeds
    from the limits in its file.
    """

    def __init__(self, model: LinearModel) -> None:
        q, v, a, states = model.random_states(np.random.default_rng(11), STATES)
        limit = np.asarray(model.robot.limits["velocity"], dtype=float)
        known = np.isfinite(limit) & (limit > 0.0)
        stretch = np.where(known, SHARE_OF_LIMIT / SPEED * limit, 1.0)
        # a user-defined column may be undefined there
        self.rows = np.nan_to_num(model.regressor(q, stretch * v, stretch * a, states), posinf=0.0, neginf=0.0)
        self.columns = np.sqrt(np.mean(self.rows**2, axis=0))

    def of_model(self, prior: Array) -> Array:
        """Return (p,) from the torques of the parameters ``prior`` in the reference states."""
        return _sizes(np.sqrt(np.mean((self.rows @ prior) ** 2, axis=0)), self.columns)

    def of_log(self, B: Array, factors: Sequence[Array], counts: Array) -> Array:
        """Return (p,) from the triangular factor of [X, y] of each joint, or of all, where X β = Y π and β = B π."""
        rows = np.maximum(np.asarray(counts, dtype=float), 1.0)
        torque = np.sqrt(np.array([np.sum(F[:, -1] ** 2) for F in factors]) / rows)
        shown = np.sqrt(np.stack([np.sum((F[:, :-1] @ B) ** 2, axis=0) for F in factors]) / rows[:, None])
        least = self.columns if len(shown) == len(self.columns) else np.sqrt(np.mean(self.columns**2, axis=0, keepdims=True))
        return _sizes(torque, np.maximum(shown, least))


def _sizes(torque: Array, columns: Array) -> Array:
    """Return s (p,) of torques (joints,) and columns (joints, p)."""
    shown = columns > SEEN * columns.max(axis=0, initial=0.0)
    squares = np.sum(np.where(shown, torque[:, None] ** 2, 0.0), axis=0)
    # if the joint itself has no torque, the size comes from the torques of all joints
    squares = np.where(squares > 0.0, squares, np.mean(torque**2) or 1.0)
    lengths = np.sum(columns**2, axis=0)
    return np.sqrt(squares / np.where(lengths > 0.0, lengths, 1.0))

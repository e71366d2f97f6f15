"""Structural properties of a robot over a box of q: bounds of the inertia matrix, of Coriolis terms, of gravity and friction.

[Melchiorri, "Dynamic model", slides 44 to 53]. Every bound is found by sampling and proven by branch and bound over the box.
The proof refers to the expressions of the compiled functions, with regrouped inertias, equal to the robot's to rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis import constants
from dynamis.analysis.coriolis_norm import christoffel_entries, largest_form, unfoldings
from dynamis.analysis.dependence import Expressions
from dynamis.analysis.extremes import DEFAULT_SAMPLES, prove, sample
from dynamis.analysis.linearised import Functions
from dynamis.analysis.report import NORM_NAMES, Bound, StructuralBounds
from dynamis.errors import InputError
from dynamis.kinematics.box import box_of, check_robot, one_turn, refuse_unlimited
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.scalar import is_number

Array = npt.NDArray[Any]
Progress = Callable[[float, str], None]

SEARCH_COUNT = 11  # each may take its share of the time
MAX_SAMPLED_ENTRIES = 2_000_000  # at all sampled points together


def structural_bounds(
    robot: Robot, lower: Any = None, upper: Any = None, *, tolerance: float = 1e-3, seconds: float = 10.0,
    progress: Progress | None = None,
) -> StructuralBounds:  # fmt: skip
    """The constants μ_1, μ_2, M_1, M_2, v_b, g_b, d_max of a robot over a box of q [Melchiorri, slides 44 to 53].

    ``lower`` and ``upper`` (n) are the ends of the box, by default the joints' limits, and −π, π for revolute joints without.
    Each enclosure is refined until its width is within ``tolerance`` of the value, or its share of ``seconds`` is used: it
    usually converges for up to about five moving joints and remains wide for six or seven.
    ``progress(fraction, name)`` is called before each search.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> bounds = dy.structural_bounds(robot, -np.pi / 2, np.pi / 2)
    >>> round(bounds.M_1[1].value, 6), round(bounds.M_2[1].value, 6), bounds.depends_on
    (117.5, 192.5, ('joint2',))
    """
    check_robot(robot)
    warn_of_open_loops(robot, "these bounds")
    for name, given in (("tolerance", tolerance), ("seconds", seconds)):
        if not is_number(given) or not (math.isfinite(given) and given > 0.0):
            raise InputError(f"{name} must be a finite positive number, got {given!r}")
    low, high = box_of(robot, lower, upper)
    with np.errstate(all="ignore"):  # what overflows becomes an infinite bound
        return _Search(robot, low, high, tolerance, seconds, progress).run()


class _Search:
    def __init__(
        self, robot: Robot, low: Array, high: Array, tolerance: float, seconds: float, progress: Progress | None
    ) -> None:
        self.robot, self.low, self.high, self.tolerance, self.progress = robot, low, high, tolerance, progress
        self.deadline = time.monotonic() + seconds
        self.left = SEARCH_COUNT
        self.model, self.n = robot.model, robot.n
        self.terms = Expressions(robot.model)
        self.turned = one_turn(self.model, low, high)

    def run(self) -> StructuralBounds:
        used = [self.terms.coordinates_in(entries) for entries in (self.terms.inertia, self.terms.gravity)]
        either = sorted({*used[0], *used[1]})
        refuse_unlimited(self.robot, either, self.low, self.high)
        M_1, M_2, mu_1, mu_2 = self._inertia(used[0])
        g_b = self._gravity(used[1])
        sliding = [k for k in either if self.terms.slides(k)]
        names = self.robot.coordinate_names
        return StructuralBounds(
            robot=self.robot.name,
            coordinates=names,
            lower=self.low,
            upper=self.high,
            mu_1=mu_1,
            mu_2=mu_2,
            M_1=M_1,
            M_2=M_2,
            v_b=self._coriolis(used[0]),
            g_b=g_b,
            d_max=self._friction("d_max", "viscous friction", {p: self._viscous() for p in NORM_NAMES}),
            dry=self._friction("dry", "dry friction", self._dry()),
            depends_on=tuple(names[k] for k in used[0]),
            prismatic_dependence=tuple(names[k] for k in sliding),
        )

    # the searches

    def _functions(self, entries: list[Any], used: list[int]) -> Functions:
        return Functions(entries, [self.terms.q[k] for k in used], self.turned[0][used], self.turned[1][used])

    def _inertia(self, used: list[int]) -> tuple[dict[float, Bound], dict[float, Bound], Bound, Bound]:
        f = self._functions(self.terms.inertia, used)
        places = self.terms.places
        rows = constants.LargestEigenvalue(places).rows
        # M is that of the rotors plus a positive semi-definite matrix, if every body's pseudo-inertia is positive semi-definite
        sound = all(np.linalg.eigvalsh(body.inertia.pseudo_inertia)[0] >= 0.0 for _, body in self.model.moving)
        rotor = self.model.rotor.astype(float)
        mu_1 = self._extreme("μ_1", "smallest eigenvalue of M", constants.SmallestEigenvalue(places), f, used,
                             floor=rotor.min() if sound else -np.inf)  # fmt: skip
        mu_2 = self._extreme("μ_2", "largest eigenvalue of M", constants.LargestEigenvalue(places), f, used)
        least = self._extreme("M_1 (1)", "smallest ‖M‖", constants.LeastSum(rows), f, used, floor=rotor.max() if sound else 0.0)
        spectral = self._extreme("M_1 (2)", "smallest ‖M‖", constants.LeastLargestEigenvalue(places), f, used,
                                 floor=rotor.max() if sound else 0.0)  # fmt: skip
        most = self._extreme("M_2 (1)", "largest ‖M‖", constants.LargestSum(rows), f, used)
        # M is symmetric: its 1- and ∞-norms are the same, and its 2-norm is the largest eigenvalue if none is negative
        M_1 = {1: least, 2: spectral, np.inf: _renamed(least, "M_1 (∞)")}
        M_2 = {1: most, 2: _renamed(mu_2, "M_2 (2)", "largest ‖M‖"), np.inf: _renamed(most, "M_2 (∞)")}
        return M_1, M_2, mu_1, mu_2

    def _gravity(self, used: list[int]) -> dict[float, Bound]:
        f = self._functions(self.terms.gravity, used)
        ways: dict[float, constants.Constant] = {
            1: constants.LargestSum(np.ones((1, self.n))),
            2: constants.Length(),
            np.inf: constants.LargestSum(np.eye(self.n)),
        }
        return {p: self._extreme(f"g_b ({NORM_NAMES[p]})", "largest ‖g‖", way, f, used) for p, way in ways.items()}

    def _coriolis(self, used: list[int]) -> dict[float, Bound]:
        """C(q, x) y is c_kij x_i y_j: v_b holds for two different velocities too.

        1-norm: max_ij Σ_k |c_kij|, the smallest such constant. ∞-norm: max_k Σ_ij |c_kij|. 2-norm: the smallest constant of
        sampled configurations; the proven bound is the spectral norm of c as a matrix, which is larger.
        """
        entries, places = christoffel_entries(self.terms.inertia, self.terms.places, self.terms.q)
        f = self._functions(entries, used)
        pairs = np.zeros((self.n, self.n, len(entries)))
        outputs = np.zeros((self.n, len(entries)))
        for (k, i, j), place in np.ndenumerate(places):
            pairs[i, j, place] = 1.0
            outputs[k, place] += 1.0
        one = self._extreme("v_b (1)", "largest ‖C v‖ / ‖v‖²", constants.LargestSum(pairs[np.triu_indices(self.n)]), f, used)
        two = self._spectral(f, used, places)
        most = self._extreme("v_b (∞)", "largest ‖C v‖ / ‖v‖²", constants.LargestSum(outputs), f, used)
        return {1: one, 2: two, np.inf: most}

    def _spectral(self, f: Functions, used: list[int], places: Array) -> Bound:
        end, half = self._turn("v_b (2)")
        value, at = sample(lambda x: largest_form(f.at(x)[:, places]), f.lower, f.upper, self._samples(f) // 16 + 1, half)
        ways = [constants.Unfolding(p) for p in unfoldings(places)]
        best = min(ways, key=lambda way: float(way.point(f.at(at[None]))[0]))
        start = sample(lambda x: best.point(f.at(x)), f.lower, f.upper, self._samples(f), 0.5 * (half + end))
        found = prove(best, f, start, self.tolerance * abs(start[0]), end)
        top = found.bound
        closed = top - value <= self.tolerance * abs(value)
        status = "proven" if closed else "largest sampled value; proven upper bound: norm of the matrix of Christoffel symbols"
        slack = 1e-12 * abs(value) * self.n**2
        lower = max(value - slack, 0.0)
        return Bound(
            "v_b (2)",
            "largest ‖C v‖ / ‖v‖²",
            lower,
            max(top, lower),
            value,
            self._full_configuration(at, used),
            bool(closed),
            status,
        )

    def _extreme(self, name: str, meaning: str, constant: constants.Constant, f: Functions, used: list[int],
                 floor: float = -np.inf) -> Bound:  # fmt: skip
        """The extreme value of a constant; ``floor`` is a known lower bound of a smallest value."""
        end, half = self._turn(name)
        start = sample(lambda x: constant.point(f.at(x)), f.lower, f.upper, self._samples(f), half)
        found = prove(constant, f, start, self.tolerance * abs(start[0]), end)
        there = f.over(found.at[None], found.at[None])
        slack = f.m * (there.error.max() + 1e-13 * np.abs(there.value).max())
        largest = not isinstance(constant, constants.LEAST)
        value = found.value if largest else -found.value
        if largest:
            lower, upper = value - slack, max(found.bound, value)
            lower = max(lower, 0.0)
        else:
            lower, upper = min(max(-found.bound, floor), value), value + slack
        gap = (upper - lower - slack) / abs(value) if value else upper - lower
        certified = bool(gap <= self.tolerance * (1.0 + 1e-6) or upper - lower <= 8.0 * slack)
        boxes = f"{found.boxes} box" + ("es" if found.boxes > 1 else "")
        status = f"proven ({boxes})" if certified else f"enclosure wider than the tolerance: time limit reached after {boxes}"
        return Bound(
            name,
            meaning,
            float(lower),
            float(upper),
            float(value),
            self._full_configuration(found.at, used),
            certified,
            status,
            largest,
        )

    def _turn(self, name: str) -> tuple[float, float]:
        """The deadline of the next search, and of its first half; unused time is left to the following searches."""
        now = time.monotonic()
        if self.progress is not None:
            self.progress(1.0 - self.left / SEARCH_COUNT, name)
        share = max(self.deadline - now, 0.0) / max(self.left, 1)
        self.left -= 1
        return now + share, now + 0.5 * share

    @staticmethod
    def _samples(f: Functions) -> int:
        return min(DEFAULT_SAMPLES, max(16, MAX_SAMPLED_ENTRIES // f.m))

    def _full_configuration(self, at: Array, used: list[int]) -> Array:
        """The configuration with the other coordinates at the centre of the box, or zero where it is unbounded."""
        q = np.where(np.isfinite(self.low + self.high), 0.5 * (self.low + self.high), np.clip(0.0, self.low, self.high))
        q[used] = np.clip(at, self.low[used], self.high[used])
        return q

    # friction

    def _viscous(self) -> float:
        return float(np.abs(self.model.viscous.astype(float)).max())

    def _dry(self) -> dict[float, float]:
        largest = np.abs(self.model.coulomb.astype(float)) + np.abs(self.model.coulomb_bias.astype(float))
        return {p: float(np.linalg.norm(largest, p)) for p in NORM_NAMES}

    def _friction(self, name: str, meaning: str, values: dict[float, float]) -> dict[float, Bound]:
        return {
            p: Bound(f"{name} ({NORM_NAMES[p]})", meaning, x, x, x, None, True, "exact: does not depend on q")
            for p, x in values.items()
        }


def _renamed(bound: Bound, name: str, meaning: str | None = None) -> Bound:
    values = {**vars(bound), "name": name, "meaning": meaning or bound.meaning}
    return Bound(**values)

"""What compiled functions of a robot with rigid contacts and closed loops compute at one state, and their evaluation."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm
from dynamis.errors import InputError, SingularError
from dynamis.kinematics.closures import Closure, closure_rows
from dynamis.robot import Robot
from dynamis.robot.base import RobotBase, direct
from dynamis.scalar import maximum, solve_upper
from dynamis.simulation.contact_equations import (
    Contacts,
    constrained_accelerations,
    constraint_rows,
    factors,
    largest,
    solve_constrained,
)
from dynamis.simulation.loops.constrained import assembled, closed_configuration
from dynamis.simulation.loops.constraints import Constraints, evaluate, held_at
from dynamis.simulation.loops.overconstrained import overconstrained_rank
from dynamis.spatial.inertia import mirrored
from dynamis.tolerances import FILE_PRECISION, RECURSION_ROUNDING

Array = npt.NDArray[Any]


class ConstrainedFunctions(RobotBase):
    """The rows of contacts and closures of a robot, its accelerations, and the Delassus matrix."""

    def __init__(self, robot: Robot, contacts: Contacts, home: Array | None = None) -> None:
        super().__init__(robot.description, _checked=True)
        self.robot, self.contacts, self._home = robot, contacts, home
        self._parts = (..., slice(self.n)), (..., slice(self.n, -1)), (..., -1)  # of a result: accelerations, forces, doubt
        self._traced = Robot(robot.description, _tracing=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each row."""
        return self.contacts.labels

    @property
    def rows(self) -> int:
        return len(self.contacts.labels)

    @property
    def closures(self) -> tuple[Closure, ...]:
        return self.contacts.closures

    @functools.cached_property
    def ranked(self) -> Contacts:
        """The contacts, with the rank of their rows at `home` where rows are redundant only with the loops closed."""
        if not self.closures:
            return self.contacts
        try:
            q = self.home()
            rank = overconstrained_rank(self.robot, held_at(self.robot, self.contacts, q), q)
        except (InputError, SingularError):  # a state with the loops closed is the user's to give
            return self.contacts
        return dataclasses.replace(self.contacts, rank=rank)

    def home(self) -> Array:
        """Start of motions by default: that of a mechanism of `dynamis.loops`, or one in which the loops are closed."""
        if self._home is not None:
            return self._home.copy()
        return closed_configuration(self.robot, lambda q: held_at(self.robot, self.contacts, q))

    def assemble(
        self, guess: Any, locked: Sequence[str | int] = (), *, tolerance: float = RECURSION_ROUNDING, iterations: int = 200
    ) -> Array:
        """A configuration near the guess that closes the loops, with the ``locked`` coordinates unchanged.

        Contacts stay where they are at the guess. If the loops do not close, the error names the closure that stays open.

        >>> import dynamis as dy
        >>> loop = dy.loops.four_bar()
        >>> q = loop.assemble(loop.home() + 0.1, locked=["crank"])
        >>> round(float(q[0] - loop.home()[0]), 12)
        0.1
        """
        q = self.inputs.one_state(guess, self.nq, "q")
        return assembled(
            self.robot,
            held_at(self.robot, self.contacts, q),
            q,
            self.inputs.coordinates(locked, "locked"),
            tolerance,
            iterations,
        )

    # functions of one state

    def _jacobian_of(self, _model: Any, q: Array, **_: Any) -> Array:
        return constraint_rows(self._traced, self.contacts, q)[0]

    def _delassus_of(self, _model: Any, q: Array, **_: Any) -> Array:
        L, d = factors(self._traced, q)
        Y = solve_upper(L, self._jacobian_of(None, q).T)
        return mirrored(Y.T, (Y / d[:, None]).T)

    def _accelerations_of(self, _model: Any, q: Array, v: Array, tau: Array, *target: Array, **_: Any) -> Array:
        """(v̇, λ, doubt): above 1 where the rows are in error or the loops open."""
        c = self.ranked
        found = constrained_accelerations(self._traced, c, q, v, tau, sum(target))
        doubt = found[-1] / RECURSION_ROUNDING
        if c.closures and not (c.alpha or c.beta):
            h, H = closure_rows(self._traced, c.closures, q, v)[:2]
            doubt = maximum(doubt, largest(np.append(h, H @ v)) / FILE_PRECISION)
        return np.append(found[:-1], doubt)

    def _impulse_of(self, _model: Any, q: Array, v: Array, restitution: Array, **_: Any) -> Array:
        J = self._jacobian_of(None, q)
        return solve_constrained(self._traced, self.ranked, q, J, self._traced.mass_matrix(q) @ v, -restitution[0] * (J @ v))

    # evaluation

    def _options_of(self, algorithm: Algorithm, frame: str | None) -> dict[str, Any]:  # noqa: ARG002
        return {"contacts": self.contacts}

    def _run(self, algorithm: Algorithm, given: dict[str, tuple[Any, int]], out: Any = None, dtype: Any = None) -> Array:
        return self._evaluate_given(algorithm, given, {"contacts": self.contacts}, out=out, dtype=dtype)

    @direct
    def jacobian(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Jacobian J of all rows (…, rows, n)."""
        algorithm = Algorithm("jacobian", self._jacobian_of, ("q",))
        return self._run(algorithm, {"q": (q, self.nq)}, out, dtype)

    @direct
    def delassus(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Delassus matrix J M⁻¹ Jᵀ (…, rows, rows): accelerations of the contacts per unit of force."""
        algorithm = Algorithm("delassus", self._delassus_of, ("q",), per_joint=600)
        return self._run(algorithm, {"q": (q, self.nq)}, out, dtype)

    @direct
    def _accelerations(self, q: Any, v: Any, tau: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        return self._run(self._forward("_accelerations"), self._state(q, v, tau), out, dtype)

    def _forward(self, name: str) -> Algorithm:
        return Algorithm(name, self._accelerations_of, ("q", "v", "tau"), per_joint=800)

    def _state(self, q: Any, v: Any, tau: Any) -> dict[str, tuple[Any, int]]:
        return {"q": (q, self.nq), "v": (v, self.n), "tau": (tau, self.n)}

    def _constraints(self, q: Array, v: Array) -> Constraints:
        return evaluate(self.robot, held_at(self.robot, self.contacts, q), q, v, self.ranked.rank)

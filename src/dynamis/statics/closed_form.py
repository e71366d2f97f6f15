"""Statics and stiffness in closed form: J, τ = Jᵀ F, C = J K_q⁻¹ Jᵀ and K_p = C⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.jacobian import jacobian
from dynamis.display import counted
from dynamis.errors import InputError, SingularError, unknown_name
from dynamis.kinematics.directions import GROUPS, ROWS
from dynamis.kinematics.jacobian_measures import minors
from dynamis.robot import Robot
from dynamis.scalar import Node, symbol, topological
from dynamis.symbolic.angles import Angle, joint_angles
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import Notation, SymbolPrinter, notation_of
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.roles import parameter_names, roles_of

Array = npt.NDArray[Any]

FORCES = ("F_x", "F_y", "F_z", "N_x", "N_y", "N_z")
MAX_INVERTED_ROWS = 3  # of a compliance matrix whose inverse is short enough to print


class StaticFormulas:
    """The static model of a robot at a frame, every entry an exact `Expression`.

    ``jacobian`` J (m × n), ``torque`` τ = Jᵀ F of the force F that the robot exerts, ``compliance`` J K_q⁻¹ Jᵀ and
    ``stiffness`` (J K_q⁻¹ Jᵀ)⁻¹ with joint stiffnesses k_q1, k_q2, … and no load; ``q``, ``F`` and ``k`` are their symbols.
    """

    def __init__(self, robot: Robot, frame: str | None, rows: list[int] | None, notation: Notation) -> None:
        model, n = robot.model, robot.n
        for c in model.coordinates:
            if c.q_index is None:
                raise InputError(
                    f"coordinate {c.name} has no closed form: spherical and free joints have quaternion coordinates"
                )
        self.n = n
        q, v, a, tau = (
            np.array([symbol(f"{x}[{k + 1}]") for k in range(n)] + [None], dtype=object)[:n] for x in ("q", "v", "a", "tau")
        )
        self.q = q
        J = jacobian(model, q, model.frame(frame))
        rows = _moving_directions(J, joint_angles(model, q)) if rows is None else rows
        J, self.rows = J[rows], tuple(ROWS[k] for k in rows)
        self.F = np.array([symbol(FORCES[k]) for k in rows], dtype=object)
        self.k = np.array([symbol(f"k_q{k + 1}") for k in range(n)] + [None], dtype=object)[:n]
        inside = [x for _, b in model.moving for x in (b.inertia.mass, *b.inertia.first_moment, *b.inertia.tensor.flat)]
        own = {str(x) for x in topological([x for x in (*J.flat, *inside) if isinstance(x, Node)]) if x.op == "symbol"}
        for name in sorted(own & {str(x) for x in (*self.F, *self.k)}):
            raise InputError(
                f"the robot has a parameter {name!r}, which is also a symbol of the static model; rename the parameter"
            )
        ring = Ring.of(
            [*J.flat, *inside, *model.gravity, *model.rotor], joint_angles(model, q), [*q, *v, *a, *tau, *self.F, *self.k]
        )
        turning = tuple(c.revolute for c in model.coordinates)
        names = parameter_names(ring, [*q, *v, *a, *tau, *self.F, *self.k])
        letters = SymbolPrinter(notation, roles_of(model, ring, q, v, a, tau), turning, parameters=names)
        self._algebra = Algebra(ring, letters)
        self._J = J

    def _formulas(self, nodes: Any) -> Formulas:
        array = np.asarray(nodes, dtype=object)
        return Formulas.of((self._algebra.of_node(x) for x in array.flat), array.shape)

    @cached_property
    def jacobian(self) -> Formulas:
        """J (m × n), in world axes at the frame's origin."""
        return self._formulas(self._J)

    @cached_property
    def torque(self) -> Formulas:
        """τ = Jᵀ F, for F exerted by the robot on its environment."""
        return _product(self.jacobian.T, self._formulas(self.F)[:, None])[:, 0].view(Formulas)

    @cached_property
    def compliance(self) -> Formulas:
        """J K_q⁻¹ Jᵀ: the displacement of the frame per force that the environment exerts on it."""
        soft = (self.jacobian / self._formulas(self.k)).view(Formulas)
        return _product(soft, self.jacobian.T)

    def squares(self, joint: int) -> Formulas:
        """J_j J_jᵀ of joint j (counted from 1); the compliance is Σ J_j J_jᵀ / k_qj."""
        column = self.jacobian[:, joint - 1 : joint]
        return _product(column, column.T)

    @cached_property
    def determinant(self) -> Expression:
        """det J of a square J; zero in singular configurations."""
        if len(self.rows) != self.n:
            raise InputError(
                f"J has {counted(len(self.rows), 'row')} and {counted(self.n, 'column')}; only a "
                f"square matrix has a determinant"
            )
        found: Expression = minors(self.jacobian)[0]
        return found

    @cached_property
    def stiffness(self) -> Formulas:
        """K_p = (J K_q⁻¹ Jᵀ)⁻¹, positive definite; for a square J it is J⁻ᵀ K_q J⁻¹.

        K_p δx is the force of the environment that displaces the frame by δx; the robot exerts F = −K_p δx, as in `torque`.
        """
        m = len(self.rows)
        if m > MAX_INVERTED_ROWS:
            raise InputError(
                f"the symbolic inverse of a {m} × {m} compliance is too large; "
                f"select at most {MAX_INVERTED_ROWS} rows, such as rows='xy'"
            )
        if m > self.n:
            raise SingularError(
                f"{counted(m, 'direction')} with {counted(self.n, 'joint')}: the compliance is singular in "
                f"every configuration; select fewer rows"
            )
        if m == self.n:
            A = _adjugate(self.jacobian)
            above = _product((A.T * self._formulas(self.k)).view(Formulas), A)
            return _entries(above / (self.determinant * self.determinant))
        C = self.compliance
        return _entries(_adjugate(C) / minors(C)[0])

    def latex(self) -> str:
        """The static model and the compliance as LaTeX."""
        torques = " \\\\ ".join(rf"\tau_{k + 1}" for k in range(self.n))
        forces = " \\\\ ".join(map(str, self.F))
        lines = [
            rf"J &= {self.jacobian.latex()}",
            rf"\begin{{bmatrix}} {torques} \end{{bmatrix}} &= J^T F = {self.jacobian.T.view(Formulas).latex()} "
            rf"\begin{{bmatrix}} {forces} \end{{bmatrix}}",
            r"J K_q^{-1} J^T &= "
            + " + ".join(rf"\frac{{1}}{{k_{{q{k + 1}}}}} {self.squares(k + 1).latex()}" for k in range(self.n)),
        ]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def __repr__(self) -> str:
        return f"<StaticFormulas of {counted(self.n, 'joint')}, directions {', '.join(self.rows)}>"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def _moving_directions(J: Array, angles: Sequence[Angle]) -> list[int]:
    """The world axes along which the origin of a frame moves; all three if it does not."""
    ring = Ring.of(J[:3].flat, angles)
    return [k for k in range(3) if not all(ring.value(x)[0].is_zero() for x in J[k])] or [0, 1, 2]


def _entries(array: Any) -> Formulas:
    return Formulas.of(array.flat, array.shape)


def _product(A: Any, B: Any) -> Formulas:
    shape = (A.shape[0], B.shape[1])
    return Formulas.of(
        (sum((A[i, k] * B[k, j] for k in range(1, A.shape[1])), A[i, 0] * B[0, j]) for i, j in np.ndindex(shape)), shape
    )


def _adjugate(A: Formulas) -> Formulas:
    """The transposed matrix of cofactors."""
    n = len(A)

    def cofactor(i: int, j: int) -> Any:
        left = np.delete(np.delete(np.asarray(A), j, 0), i, 1)
        part = minors(left)[0] if n > 1 else A[0, 0] * 0 + 1
        return part if (i + j) % 2 == 0 else -part

    return Formulas.of((cofactor(i, j) for i, j in np.ndindex(n, n)), (n, n))


def static_formulas(
    robot: Robot, frame: str | None = None, *, rows: str | None = None, notation: str | Notation | None = None
) -> StaticFormulas:
    """The static model and the stiffness of a robot in closed form, in the directions ``rows``, such as "xy" or "x z ry".

    By default these are the world axes along which the frame moves: x and y for a planar arm in this plane, all for others.

    >>> import dynamis as dy
    >>> arm = dy.statics.static_formulas(dy.load("planar_2r"), notation="tzafestas")
    >>> arm.jacobian
    [[-l_1*s1 - l_2*s12, -l_2*s12],
     [l_1*c1 + l_2*c12, l_2*c12]]
    >>> arm.determinant
    l_1*l_2*s2
    """
    if rows is None:
        return StaticFormulas(robot, frame, None, notation_of(notation))
    names = list(rows) if set(rows) <= set("xyz") else rows.replace(",", " ").split()
    chosen = list(GROUPS[rows]) if rows in GROUPS else [ROWS.index(x) if x in ROWS else -1 for x in names]
    if -1 in chosen or not chosen or len(set(chosen)) != len(chosen):
        raise unknown_name("row", rows, (*ROWS, *GROUPS))
    return StaticFormulas(robot, frame, chosen, notation_of(notation))

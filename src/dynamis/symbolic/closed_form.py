"""The equations of motion in closed form, exact, in a ring with decidable equality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy.typing as npt

from dynamis.algorithms import dynamics
from dynamis.compiler.kernel import Kernel
from dynamis.display import call_by_name, counted
from dynamis.errors import InputError, unknown_name
from dynamis.model.description import Description
from dynamis.model.model import Model
from dynamis.scalar import Node, is_number
from dynamis.symbolic import factored
from dynamis.symbolic.actuator_equations import ActuatorEquations, actuator_equations
from dynamis.symbolic.base_parameters import base_parameters
from dynamis.symbolic.budget import Budget
from dynamis.symbolic.cleaning import with_right_angles
from dynamis.symbolic.compact import Compact, with_named_factors
from dynamis.symbolic.equations import Equation, Equations, StateSpace, state_space
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import Notation, notation_of
from dynamis.symbolic.parameters import LinearForm, by_inspection
from dynamis.symbolic.terms import Terms

Array = npt.NDArray[Any]
MAX_DOF_SHOWN, MAX_CHARACTERS_SHOWN = 6, 4000  # in a notebook; characters of LaTeX


class ClosedForm(Terms):
    """M(q) q̈ + C(q, q̇) q̇ + g(q) + friction + springs = τ + Jᵀ w, term by term.

    Attributes are arrays of `Expression`, computed on first access: ``M``, ``C``, ``g``, ``christoffel`` (c_ijk),
    ``h`` (h_ijk), ``M_dot``, ``N`` (Ṁ − 2C), ``S`` (c_k = q̇ᵀ S_k q̇), ``kinetic_energies``, ``potential_energies``,
    ``kinetic_energy``, ``potential_energy``, ``positions``, ``linear_jacobians``, ``angular_jacobians`` (of the centres
    of mass), ``viscous``, ``dry``, ``spring``, ``equations``, ``state_space``, ``regressor`` and ``parameters``,
    ``base_regressor`` and ``base_parameters``, ``M_inverse``, ``actuator_equations``. ``q``, ``v``, ``a``, ``tau`` are the
    symbols of the state. Methods of a frame or link: ``jacobian``, ``external``, ``center_of_mass``,
    ``center_of_mass_jacobian``, ``centroidal_matrix``, ``centroidal_inertia``.
    """

    def in_letters(self, notation: str | Notation) -> ClosedForm:
        """The same closed form in another notation."""
        return ClosedForm(self.model, notation_of(notation), replace(self.budget), self.description)

    def __reduce__(self) -> Any:
        """Expressions are made again, when they are read."""
        return ClosedForm, (self.model, self.notation, replace(self.budget), self.description)

    def __repr__(self) -> str:
        return f"<ClosedForm of {counted(self.n, 'degree of freedom', 'degrees of freedom')}, {self.status}>"

    def _repr_latex_(self) -> str | None:
        """The equations of motion if short enough; otherwise a notebook shows the repr."""
        if not self.expanded or not 0 < self.n <= MAX_DOF_SHOWN:
            return None
        written = self.equations._repr_latex_()
        return written if len(written) <= MAX_CHARACTERS_SHOWN else None

    @cached_property
    def equations(self) -> Equations:
        """The equations of motion, one per degree of freedom."""
        return Equations(Equation(self, i) for i in range(self.n))

    @cached_property
    def actuator_equations(self) -> list[ActuatorEquations]:
        """The equations from commands to torques, for each joint with an actuator."""
        return actuator_equations(self)

    @cached_property
    def state_space(self) -> StateSpace:
        """ẋ = f(x, τ) with x = (q, q̇)."""
        return state_space(self)

    @cached_property
    def M_inverse(self) -> Formulas:
        """M⁻¹: the adjugate of M divided by its determinant; factored for more than three degrees of freedom."""
        x = self.state_space
        if x.adjugate is None or x.determinant is None:
            return self._graphs(dynamics.mass_matrix_inverse(self.model, self.q))
        return Formulas.of((entry / x.determinant for entry in x.adjugate.flat), (self.n, self.n))

    # linear in the parameters

    @cached_property
    def _inspected(self) -> LinearForm:
        return by_inspection(self)

    @property
    def regressor(self) -> Formulas:
        """Y with Y π = τ by inspection: without zero columns, proportional columns merged."""
        return self._inspected.regressor

    @property
    def parameters(self) -> Formulas:
        """π of ``regressor``."""
        return self._inspected.parameters

    @cached_property
    def base(self) -> LinearForm:
        """The minimal linear form, with the regrouping rules of the parameters."""
        return base_parameters(self)

    @property
    def base_regressor(self) -> Formulas:
        """Y of the base parameters: its columns are independent."""
        return self.base.regressor

    @property
    def base_parameters(self) -> Formulas:
        """The base parameters, in the parameters of the robot where they are symbols."""
        return self.base.parameters

    # other views

    @cached_property
    def compact(self) -> Compact:
        """C, Ṁ and N with common factors named once, such as h = −m_2 a_1 l_2 s_2."""
        return with_named_factors(self)

    def latex(self, notation: str | Notation | None = None) -> str:
        """The equations of motion in LaTeX, and those of the actuators."""
        if not self.expanded:
            letters = self.algebra.letters.with_notation(notation)
            named = factored.latex(list(self.torque_graph()), letters)
            torques = iter(letters.variable("torque", k + 1) for k in range(self.n))
            lines = [f"{name or next(torques)} &= {formula}" for name, formula in named]
            return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
        lines = [equation.latex(notation) for equation in self.equations]
        lines += [relation.latex(notation) for x in self.actuator_equations for relation in x.equations]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def derivation(self, notation: str | Notation | None = None, **options: Any) -> Any:
        """The derivation, step by step: a document with ``latex()``, ``markdown()``, ``html()`` and ``notebook()``."""
        form = self if notation is None else self.in_letters(notation)
        return call_by_name("dynamis.symbolic.derivation:derive", form, **options)

    def kernel(self, name: str, parameters: Sequence[Node] = ()) -> Kernel:
        """A term compiled from its closed form: "mass_matrix", "coriolis_matrix", "gravity" or "inverse_dynamics"."""
        views: dict[str, tuple[Callable[[], Formulas], str]] = {
            "mass_matrix": (lambda: self.M, "q"),
            "coriolis_matrix": (lambda: self.C, "qv"),
            "gravity": (lambda: self.g, "q"),
            "inverse_dynamics": (lambda: self.g, "qva"),
        }
        if name not in views:
            raise unknown_name("closed-form function", name, views)
        make, arguments = views[name]
        formulas = make()
        own = {"q": self.q, "v": self.v, "a": self.a}

        def function(*arrays: Array) -> Array:
            given = zip(arguments, arrays, strict=True)
            swap = {id(old): new for letter, array in given for old, new in zip(own[letter], array, strict=True)}
            graphs = {"inverse_dynamics": self.torque_graph, "coriolis_matrix": self.coriolis_graph}
            return graphs.get(name, formulas.node)(swap)

        return Kernel([function], [(letter, self.n) for letter in arguments], f"closed-form {name}", None, parameters)


def closed_form(
    model: Model,
    notation: str | Notation | None = None,
    *,
    seconds: float = 60.0,
    terms: float = 5e6,
    progress: Callable[[int, int, int], None] | None = None,
    description: Description | None = None,
) -> ClosedForm:
    """The closed form of a model; the factored form where it exceeds the limits of time or size."""
    for name, limit in (("seconds", seconds), ("terms", terms)):
        if not is_number(limit) or not limit >= 0.0:
            raise InputError(f"{name} must be a number that is not negative, got {limit!r}")
    return ClosedForm(with_right_angles(model), notation_of(notation), Budget(seconds, terms, progress=progress), description)

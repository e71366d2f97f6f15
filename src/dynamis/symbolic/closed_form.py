"""The equations of motion in closed form, exact, in a ring with decidable equality."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import coriolis, dynamics, energy, jacobian, joint_physics, kinematics, mass_matrix
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError, unknown_name
from dynamis.model.description import Description
from dynamis.model.model import Model
from dynamis.scalar import Node, sign, symbol
from dynamis.scalar import jacobian as scalar_jacobian
from dynamis.symbolic import factored
from dynamis.symbolic.actuator_equations import ActuatorEquations, actuator_equations, free_letters, motor_roles
from dynamis.symbolic.angles import joint_angles
from dynamis.symbolic.base_parameters import base_parameters
from dynamis.symbolic.budget import Budget, BudgetSpent
from dynamis.symbolic.cleaning import summed, without_rounding_noise
from dynamis.symbolic.compact import Compact, with_named_factors
from dynamis.symbolic.equations import Equation, Equations, StateSpace, state_space
from dynamis.symbolic.expression import Algebra, Expression, Formulas
from dynamis.symbolic.notation import Notation, SymbolPrinter, notation_of
from dynamis.symbolic.parameters import LinearForm, by_inspection
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.roles import roles_of

Array = npt.NDArray[Any]
SHOWN_UP_TO, LONGEST_SHOWN = 6, 4000  # degrees of freedom, and letters of LaTeX, that a notebook shows


class ClosedForm:
    """M(q) q̈ + C(q, q̇) q̇ + g(q) + friction + springs = τ + Jᵀ w, term by term.

    Attributes are arrays of `Expression`, computed on first access: ``M``, ``C``, ``g``, ``christoffel`` (c_ijk),
    ``h`` (h_ijk), ``M_dot``, ``N`` (Ṁ − 2C), ``S`` (c_k = q̇ᵀ S_k q̇), ``kinetic_energies``, ``potential_energies``,
    ``kinetic_energy``, ``potential_energy``, ``positions``, ``linear_jacobians``, ``angular_jacobians`` (of the centres
    of mass), ``viscous``, ``dry``, ``spring``, ``equations``, ``state_space``, ``regressor`` and ``parameters``,
    ``base_regressor`` and ``base_parameters``, ``actuator_equations``. ``q``, ``v``, ``a``, ``tau`` are the symbols of the
    state.
    """

    def __init__(self, model: Model, notation: Notation, budget: Budget, description: Description | None = None) -> None:
        for c in model.coordinates:
            if c.q_index is None:
                raise InputError(
                    f"coordinate {c.name} has no closed form: spherical and free joints have quaternion coordinates; "
                    f"replace them by three revolute joints (and three prismatic ones)"
                )
        self.model, self.budget, self.description = model, budget, description
        n = model.n
        self.q, self.v, self.a, self.tau = (_symbols(letter, n) for letter in ("q", "v", "a", "tau"))
        self.w = np.array([symbol(f"w[{axis}]") for axis in ("fx", "fy", "fz", "mx", "my", "mz")], dtype=object)
        M = mass_matrix.crba(model, self.q) if n else np.zeros((0, 0))
        U = energy.potential_energies(model, self.q)
        self._nodes: dict[str, Any] = {"M": M, "U": U}
        physics = [model.viscous, model.coulomb, model.coulomb_bias, model.stiffness, model.rest, model.rotor, model.gravity]
        inside = [
            x for _, body in model.moving for x in [body.inertia.mass, *body.inertia.first_moment, *body.inertia.tensor.flat]
        ]
        # a length may matter to a frame alone
        placed = [*(body.placement for _, body in model.moving), *(frame.pose for frame in model.frames.values())]
        geometry = [x for pose in placed for x in [*pose.R.flat, *pose.p]]
        drives = [x for actuator in model.actuators if actuator is not None for x in actuator.numbers.values()]
        motors = motor_roles(model)
        everything = [*M.flat, *U, *inside, *(x for y in physics for x in y), *(sign(x) for x in self.v), *geometry, *drives]
        symbols = [*self.q, *self.v, *self.a, *self.tau, *self.w, *(node for node, _ in motors.values())]
        ring = Ring.of(everything, joint_angles(model, self.q), symbols)
        roles = roles_of(model, ring, self.q, self.v, self.a, self.tau) | {key: role for key, (_, role) in motors.items()}
        written = free_letters(ring, symbols, n, notation.rename) if motors else {}
        letters = SymbolPrinter(notation, roles, _turning(model), motors=written)
        self.algebra = Algebra(ring, letters)
        try:
            ring.expand([*M.flat, *U], budget)
            self.status = "expanded"
        except BudgetSpent as spent:
            self.status = f"factored: {spent}"
        budget.pause()

    @property
    def expanded(self) -> bool:
        """Whether entries are known in normal form; ``status`` gives the reason if not."""
        return self.status == "expanded"

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def notation(self) -> Notation:
        return self.algebra.letters.notation

    def in_letters(self, notation: str | Notation) -> ClosedForm:
        """The same closed form in another notation."""
        return ClosedForm(self.model, notation_of(notation), replace(self.budget), self.description)

    def __repr__(self) -> str:
        return f"<ClosedForm of {self.n} degrees of freedom, {self.status}>"

    def _repr_latex_(self) -> str | None:
        """The equations of motion if short enough; otherwise a notebook shows the repr."""
        if not self.expanded or not 0 < self.n <= SHOWN_UP_TO:
            return None
        written = self.equations._repr_latex_()
        return written if len(written) <= LONGEST_SHOWN else None

    # the terms

    def _expression(self, node: Any) -> Expression:
        if self.expanded:
            try:
                with self.budget.running():
                    self.algebra.ring.expand([node], self.budget)
                    return without_rounding_noise(self.algebra.of_node(node))
            except BudgetSpent:
                pass  # this term alone is too large: its graph says the same
        return Expression(self.algebra, None, None, node)

    def _formulas(self, nodes: Any) -> Formulas:
        array = np.asarray(nodes, dtype=object)
        return Formulas.of((self._expression(x) for x in array.flat), array.shape)

    def _graphs(self, nodes: Any) -> Formulas:
        """Entries known by their graphs alone."""
        array = np.asarray(nodes, dtype=object)
        return Formulas.of((Expression(self.algebra, None, None, x) for x in array.flat), array.shape)

    def _symbol(self, node: Any) -> Expression:
        return Expression(self.algebra, self.algebra.ring.generator(node))

    @cached_property
    def M(self) -> Formulas:
        """The inertia matrix."""
        upper = {(i, j): self._expression(self._nodes["M"][i, j]) for i in range(self.n) for j in range(i, self.n)}
        return Formulas.of((upper[min(i, j), max(i, j)] for i, j in np.ndindex(self.n, self.n)), (self.n, self.n))

    @cached_property
    def _slopes(self) -> dict[tuple[int, int, int], Expression] | None:
        """∂M_ij/∂q_k for i ≤ j; None where they are too large to expand."""
        if not self.expanded:
            return None
        n, M = self.n, self.M
        slopes: dict[tuple[int, int, int], Expression] = {}
        try:
            with self.budget.running():
                for i, j, k in np.ndindex(n, n, n):
                    if i <= j:
                        slope: Expression = M.item(i, j).diff(self.q[k])
                        slopes[i, j, k] = slope
                        self.budget.spend(len(slope), len(slopes), n * n * (n + 1) // 2)
        except BudgetSpent:
            return None
        return slopes

    def _slope(self, i: int, j: int, k: int) -> Expression:
        if self._slopes is None:
            raise BudgetSpent("the derivatives of M are too large to expand; increase seconds or terms")
        return self._slopes[min(i, j), max(i, j), k]

    @cached_property
    def christoffel(self) -> Formulas:
        """c[i, j, k] = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i)."""
        if self._slopes is None:
            return self._graphs(coriolis.christoffel(self.model, self.q))
        held: dict[tuple[int, int, int], Expression] = {}
        for i, j, k in np.ndindex(self.n, self.n, self.n):
            if j <= k:
                held[i, j, k] = summed([self._slope(i, j, k), self._slope(i, k, j), -self._slope(j, k, i)]) * 0.5
        return Formulas.of((held[i, min(j, k), max(j, k)] for i, j, k in np.ndindex(*(self.n,) * 3)), (self.n,) * 3)

    @cached_property
    def h(self) -> Formulas:
        """h[i, j, k] = ∂M_ij/∂q_k − ½ ∂M_jk/∂q_i, the coefficients before symmetrisation."""
        if self._slopes is None:
            slopes = scalar_jacobian(self._nodes["M"], list(self.q))
            return self._graphs(slopes - 0.5 * np.moveaxis(slopes, 2, 0))
        values = (summed([self._slope(i, j, k), self._slope(j, k, i) * -0.5]) for i, j, k in np.ndindex(*(self.n,) * 3))
        return Formulas.of(values, (self.n,) * 3)

    @cached_property
    def C(self) -> Formulas:
        """The Coriolis matrix by Christoffel symbols."""
        if self._slopes is None:
            return self._graphs(coriolis.coriolis_matrix(self.model, self.q, self.v))
        return self._along_v(self.christoffel)

    @cached_property
    def M_dot(self) -> Formulas:
        """Ṁ = Σ_k ∂M/∂q_k q̇_k = C + Cᵀ."""
        if self._slopes is None:
            return self._graphs(coriolis.mass_matrix_dot(self.model, self.q, self.v))
        return (self.C + self.C.T).view(Formulas)

    def _along_v(self, tensor: Formulas) -> Formulas:
        rates = [self._symbol(v) for v in self.v]
        return Formulas.of(
            (_total(self, (tensor[i, j, k] * rates[k] for k in range(self.n))) for i, j in np.ndindex(self.n, self.n)),
            (self.n, self.n),
        )

    @cached_property
    def N(self) -> Formulas:
        """N = Ṁ − 2C = Cᵀ − C, skew-symmetric."""
        C = self.C
        if self._slopes is None:
            return (self.M_dot - 2 * C).view(Formulas)
        return Formulas.of((summed([C.item(j, i), -C.item(i, j)]) for i, j in np.ndindex(self.n, self.n)), (self.n, self.n))

    @cached_property
    def S(self) -> Formulas:
        """S[k] with (C q̇)_k = q̇ᵀ S_k q̇; S[k, i, j] = c_kij."""
        return self.christoffel

    @cached_property
    def coriolis_vector(self) -> Formulas:
        """c = C q̇."""
        rates = [self._symbol(v) for v in self.v]
        return Formulas.of((_total(self, (self.C[i, j] * rates[j] for j in range(self.n))) for i in range(self.n)), (self.n,))

    @cached_property
    def kinetic_energies(self) -> Formulas:
        """T_i of each moving body."""
        return _each(self._formulas(energy.kinetic_energies(self.model, self.q, self.v)), "link")

    @cached_property
    def rotor_energies(self) -> Formulas:
        """½ (reflected rotor inertia) q̇² of each joint."""
        return self._formulas(np.array([0.5 * r * v * v for r, v in zip(self.model.rotor, self.v, strict=True)], dtype=object))

    @cached_property
    def kinetic_energy(self) -> Expression:
        """T = Σ T_i plus the rotor energies."""
        return _total(self, [*self.kinetic_energies, *self.rotor_energies])

    @cached_property
    def potential_energies(self) -> Formulas:
        """U_i of each moving body, zero at the height of the world's origin."""
        return self._formulas(self._nodes["U"])

    @cached_property
    def potential_energy(self) -> Expression:
        """U = Σ U_i plus the spring energies."""
        return _total(self, [*self.potential_energies, self._expression(energy.spring_energy(self.model, self.q))])

    def potential_energy_from(self, configuration: Sequence[float]) -> Expression:
        """U(q) − U(q₀): the potential energy relative to a configuration."""
        if len(configuration) != self.n:
            raise InputError(f"the configuration must have {self.n} numbers, got {len(configuration)}")
        still = energy.potential_energy(self.model, np.array([float(x) for x in configuration], dtype=object))
        return self.potential_energy - self._expression(still)

    @cached_property
    def g(self) -> Formulas:
        """g = ∂U/∂q of gravity."""
        if not self.expanded:
            return self._formulas(dynamics.gravity(self.model, self.q))
        weight = _total(self, self.potential_energies)
        return Formulas.of((weight.diff(q) for q in self.q), (self.n,))

    @cached_property
    def viscous(self) -> Formulas:
        """F_v q̇."""
        return self._formulas(joint_physics.viscous_torque(self.model, self.v))

    @cached_property
    def dry(self) -> Formulas:
        """Coulomb friction."""
        return self._formulas(joint_physics.dry_torque(self.model, self.v))

    @cached_property
    def spring(self) -> Formulas:
        """k (q − rest)."""
        return self._formulas(joint_physics.spring_torque(self.model, self.q))

    # kinematics

    @cached_property
    def _world(self) -> list[Any]:
        return kinematics.world_poses(self.model, kinematics.relative_poses(self.model, self.q))

    @cached_property
    def rotations(self) -> list[Formulas]:
        """R_i of each moving body, in the world."""
        return [self._formulas(self._world[i].R) for i, _ in self.model.moving]

    @cached_property
    def positions(self) -> Formulas:
        """p_C of each moving body's centre of mass, in the world (bodies × 3)."""
        rows = [self._world[i].R @ body.inertia.com + self._world[i].p for i, body in self.model.moving]
        return self._formulas(np.array(rows, dtype=object).reshape(-1, 3))

    @cached_property
    def linear_jacobians(self) -> list[Formulas]:
        """J_P of each centre of mass (3 × n)."""
        return [self._formulas(J) for J, _ in self._com_jacobians]

    @cached_property
    def angular_jacobians(self) -> list[Formulas]:
        """J_O of each moving body (3 × n)."""
        return [self._formulas(J) for _, J in self._com_jacobians]

    @cached_property
    def _com_jacobians(self) -> list[tuple[Array, Array]]:
        return [jacobian.com_jacobian(self.model, self._world, i) for i, _ in self.model.moving]

    def jacobian(self, frame: str | None = None) -> Formulas:
        """The geometric Jacobian of a frame (6 × n), at its origin in world axes."""
        return self._formulas(jacobian.jacobian(self.model, self.q, self.model.frame(frame)))

    def external(self, frame: str | None = None) -> Formulas:
        """Jᵀ w, the torques of a wrench w (``self.w``) that the environment exerts at a frame."""
        return self._formulas(jacobian.jacobian(self.model, self.q, self.model.frame(frame)).T @ self.w)

    # the whole

    @cached_property
    def torque(self) -> Formulas:
        """τ = M q̈ + C q̇ + g + friction + springs."""
        accelerations = [self._symbol(a) for a in self.a]
        inertial = Formulas.of(
            (_total(self, (self.M[i, j] * accelerations[j] for j in range(self.n))) for i in range(self.n)), (self.n,)
        )
        return (inertial + self.coriolis_vector + self.g + self.viscous + self.dry + self.spring).view(Formulas)

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
        from dynamis.symbolic.derivation import derive

        return derive(self if notation is None else self.in_letters(notation), **options)

    def torque_graph(self, substitute: Mapping[int, Any] | None = None) -> Array:
        """τ as nodes: M q̈ + C q̇ + g and friction and spring torques, each term nested separately."""
        swap = substitute or {}
        v, a = (np.array([swap.get(id(x), x) for x in vector], dtype=object) for vector in (self.v, self.a))
        own = (self.viscous + self.dry + self.spring).view(Formulas)
        return np.asarray(self.M.node(swap) @ a + self.coriolis_graph(swap) @ v + self.g.node(swap) + own.node(swap))

    def coriolis_graph(self, substitute: Mapping[int, Any] | None = None) -> Array:
        """C as nodes, Σ_k c_ijk q̇_k: with the rates factored out, which saves half to two thirds of the operations."""
        if self._slopes is None:
            return self.C.node(substitute)
        v = np.array([(substitute or {}).get(id(x), x) for x in self.v], dtype=object)
        return np.asarray(self.christoffel.node(substitute) @ v)

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
    return ClosedForm(model, notation_of(notation), Budget(seconds, terms, progress=progress), description)


def _symbols(letter: str, n: int) -> Array:
    # brackets cannot stand in a robot file's names, so these never meet a parameter
    return np.array([symbol(f"{letter}[{k + 1}]") for k in range(n)] + [None], dtype=object)[:n]


def _turning(model: Model) -> tuple[bool, ...]:
    return tuple(c.revolute for c in model.coordinates)


def _each(formulas: Formulas, grouping: str) -> Formulas:
    return Formulas.of((x.grouped(grouping) for x in formulas.flat), formulas.shape)


def _total(form: ClosedForm, expressions: Sequence[Expression] | Iterator[Expression] | Any) -> Expression:
    total = Expression(form.algebra, form.algebra.ring.zero) if form.expanded else Expression(form.algebra, None, None, 0.0)
    for expression in expressions:
        total = total + expression
    return total

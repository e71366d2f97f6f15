"""The terms of the equations of motion in closed form: inertia, Coriolis, gravity, friction, energies, Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import centroidal, coriolis, dynamics, energy, jacobian, joint_physics, kinematics, mass_matrix
from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.model.description import Description
from dynamis.model.model import Model
from dynamis.scalar import jacobian as scalar_jacobian
from dynamis.scalar import sign, symbol
from dynamis.symbolic.angles import joint_angles
from dynamis.symbolic.budget import Budget, BudgetSpent
from dynamis.symbolic.cleaning import has_decimal_rotations, summed, without_rounding_noise
from dynamis.symbolic.expression import Algebra, Expression
from dynamis.symbolic.formulas import Formulas
from dynamis.symbolic.notation import Notation, SymbolPrinter
from dynamis.symbolic.ring import Ring
from dynamis.symbolic.roles import free_letters, motor_roles, parameter_names, roles_of

Array = npt.NDArray[Any]


class Terms:
    """The terms of M(q) q̈ + C(q, q̇) q̇ + g(q) + friction + springs = τ, as arrays of `Expression`, computed on first access."""

    def __init__(self, model: Model, notation: Notation, budget: Budget, description: Description | None = None) -> None:
        for c in model.coordinates:
            if c.q_index is None:
                raise InputError(
                    f"coordinate {c.name} has no closed form: spherical and free joints have quaternion coordinates; "
                    f"replace them by three revolute joints (and three prismatic ones)"
                )
        self.model, self.budget, self.description = model, budget, description
        self._rotated = has_decimal_rotations(model)
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
        if model.coupled:  # multiples of angles that positions have, and M and U may lack
            geometry += [x for _, body in model.moving for x in body.pose(self.q).R.flat]
        drives = [x for actuator in model.actuators if actuator is not None for x in actuator.numbers.values()]
        motors = motor_roles(model)
        everything = [*M.flat, *U, *inside, *(x for y in physics for x in y), *(sign(x) for x in self.v), *geometry, *drives]
        symbols = [*self.q, *self.v, *self.a, *self.tau, *self.w, *(node for node, _ in motors.values())]
        ring = Ring.of(everything, joint_angles(model, self.q), symbols)
        roles = roles_of(model, ring, self.q, self.v, self.a, self.tau) | {key: role for key, (_, role) in motors.items()}
        names = parameter_names(ring, symbols)
        written = free_letters(names, n, notation.rename) if motors else {}
        letters = SymbolPrinter(notation, roles, _turning(model), motors=written, parameters=names)
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

    def expression(self, node: Any) -> Expression:
        """A scalar of the symbols of this robot, in normal form where that is short enough."""
        if self.expanded:
            try:
                with self.budget.running():
                    self.algebra.ring.expand([node], self.budget)
                    return without_rounding_noise(self.algebra.of_node(node), self._rotated)
            except BudgetSpent:
                pass  # this term alone is too large: its graph says the same
        return Expression(self.algebra, None, None, node)

    def formulas(self, nodes: Any) -> Formulas:
        """An array of them."""
        array = np.asarray(nodes, dtype=object)
        return Formulas.of((self.expression(x) for x in array.flat), array.shape)

    def _graphs(self, nodes: Any) -> Formulas:
        """Entries known by their graphs alone."""
        array = np.asarray(nodes, dtype=object)
        return Formulas.of((Expression(self.algebra, None, None, x) for x in array.flat), array.shape)

    def _symbol(self, node: Any) -> Expression:
        return Expression(self.algebra, self.algebra.ring.generator(node))

    @cached_property
    def M(self) -> Formulas:
        """The inertia matrix."""
        upper = {(i, j): self.expression(self._nodes["M"][i, j]) for i in range(self.n) for j in range(i, self.n)}
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
            return self._graphs(coriolis.christoffel(self.model, self.q)).as_christoffel()
        held: dict[tuple[int, int, int], Expression] = {}
        for i, j, k in np.ndindex(self.n, self.n, self.n):
            if j <= k:
                held[i, j, k] = summed([self._slope(i, j, k), self._slope(i, k, j), -self._slope(j, k, i)]) * 0.5
        every = (held[i, min(j, k), max(j, k)] for i, j, k in np.ndindex(*(self.n,) * 3))
        return Formulas.of(every, (self.n,) * 3).as_christoffel()

    @cached_property
    def h(self) -> Formulas:
        """h[i, j, k] = ∂M_ij/∂q_k − ½ ∂M_jk/∂q_i, the coefficients before symmetrisation."""
        if self._slopes is None:
            slopes = scalar_jacobian(self._nodes["M"], list(self.q))
            return self._graphs(slopes - 0.5 * np.moveaxis(slopes, 2, 0))
        values = (summed([self._slope(i, j, k), self._slope(j, k, i) * -0.5]) for i, j, k in np.ndindex(*(self.n,) * 3))
        return Formulas.of(values, (self.n,) * 3, "h")

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
        return _each(self.formulas(energy.kinetic_energies(self.model, self.q, self.v)), "link")

    @cached_property
    def rotor_energies(self) -> Formulas:
        """½ (reflected rotor inertia) q̇² of each joint."""
        return self.formulas(np.array([0.5 * r * v * v for r, v in zip(self.model.rotor, self.v, strict=True)], dtype=object))

    @cached_property
    def kinetic_energy(self) -> Expression:
        """T = Σ T_i plus the rotor energies."""
        return _total(self, [*self.kinetic_energies, *self.rotor_energies])

    @cached_property
    def potential_energies(self) -> Formulas:
        """U_i of each moving body, zero at the height of the world's origin."""
        return self.formulas(self._nodes["U"])

    @cached_property
    def potential_energy(self) -> Expression:
        """U = Σ U_i plus the spring energies."""
        zero = _total(self, ())
        return summed([zero, *self.potential_energies, self.expression(energy.spring_energy(self.model, self.q))])

    def potential_energy_from(self, configuration: Sequence[float]) -> Expression:
        """U(q) − U(q₀): the potential energy relative to a configuration."""
        if len(configuration) != self.n:
            raise InputError(f"the configuration must have {counted(self.n, 'number')}, got {len(configuration)}")
        still = energy.potential_energy(self.model, np.array([float(x) for x in configuration], dtype=object))
        return self.potential_energy - self.expression(still)

    @cached_property
    def g(self) -> Formulas:
        """g = ∂U/∂q of gravity."""
        if not self.expanded:
            return self.formulas(dynamics.gravity(self.model, self.q))
        weight = _total(self, self.potential_energies)
        return Formulas.of((weight.diff(q) for q in self.q), (self.n,))

    @cached_property
    def viscous(self) -> Formulas:
        """F_v q̇."""
        return self.formulas(joint_physics.viscous_torque(self.model, self.v))

    @cached_property
    def dry(self) -> Formulas:
        """Coulomb friction."""
        return self.formulas(joint_physics.dry_torque(self.model, self.v))

    @cached_property
    def spring(self) -> Formulas:
        """k (q − rest)."""
        return self.formulas(joint_physics.spring_torque(self.model, self.q))

    # kinematics

    @cached_property
    def _world(self) -> list[Any]:
        return kinematics.world_poses(self.model, kinematics.relative_poses(self.model, self.q))

    @cached_property
    def rotations(self) -> list[Formulas]:
        """R_i of each moving body, in the world."""
        return [self.formulas(self._world[i].R) for i, _ in self.model.moving]

    @cached_property
    def positions(self) -> Formulas:
        """p_C of each moving body's centre of mass, in the world (bodies × 3)."""
        rows = [self._world[i].R @ body.inertia.com + self._world[i].p for i, body in self.model.moving]
        return self.formulas(np.array(rows, dtype=object).reshape(-1, 3))

    @cached_property
    def linear_jacobians(self) -> list[Formulas]:
        """J_P of each centre of mass (3 × n)."""
        return [self.formulas(J) for J, _ in self._com_jacobians]

    @cached_property
    def angular_jacobians(self) -> list[Formulas]:
        """J_O of each moving body (3 × n)."""
        return [self.formulas(J) for _, J in self._com_jacobians]

    @cached_property
    def _com_jacobians(self) -> list[tuple[Array, Array]]:
        return [jacobian.com_jacobian(self.model, self._world, i) for i, _ in self.model.moving]

    def jacobian(self, frame: str | None = None) -> Formulas:
        """The geometric Jacobian of a frame (6 × n), at its origin in world axes."""
        return self.formulas(jacobian.jacobian(self.model, self.q, self.model.frame(frame)))

    def center_of_mass(self, link: str | None = None) -> Formulas:
        """The centre of mass of the moving bodies in the world (3), or of a link and what it carries."""
        return self._of_bodies(centroidal.center_of_mass, link)

    def center_of_mass_jacobian(self, link: str | None = None) -> Formulas:
        """J_c (3 × n): the velocity of the centre of mass is J_c q̇."""
        return self._of_bodies(centroidal.center_of_mass_jacobian, link)

    def centroidal_matrix(self, link: str | None = None) -> Formulas:
        """A_g (6 × n): A_g q̇ is the linear momentum, and the angular momentum about the centre of mass, in world axes."""
        return self._of_bodies(centroidal.centroidal_matrix, link)

    def centroidal_inertia(self, link: str | None = None) -> Formulas:
        """The inertia tensor about the centre of mass with all joints held (3 × 3), in world axes."""
        return self._of_bodies(centroidal.centroidal_inertia, link)

    def _of_bodies(self, function: Callable[..., Array], link: str | None) -> Formulas:
        return self.formulas(function(self.model, self.q, link=None if link is None else self.model.frame(link)))

    def external(self, frame: str | None = None) -> Formulas:
        """Jᵀ w, the torques of a wrench w (``self.w``) that the environment exerts at a frame."""
        return self.formulas(jacobian.jacobian(self.model, self.q, self.model.frame(frame)).T @ self.w)

    # the whole

    @cached_property
    def torque(self) -> Formulas:
        """τ = M q̈ + C q̇ + g + friction + springs."""
        accelerations = [self._symbol(a) for a in self.a]
        inertial = Formulas.of(
            (_total(self, (self.M[i, j] * accelerations[j] for j in range(self.n))) for i in range(self.n)), (self.n,)
        )
        parts = (inertial, self.coriolis_vector, self.g, self.viscous, self.dry, self.spring)
        return Formulas.of((summed(row) for row in zip(*(part.flat for part in parts), strict=True)), (self.n,))

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


def _symbols(letter: str, n: int) -> Array:
    # brackets cannot stand in a robot file's names, so these never meet a parameter
    return np.array([symbol(f"{letter}[{k + 1}]") for k in range(n)] + [None], dtype=object)[:n]


def _turning(model: Model) -> tuple[bool, ...]:
    return tuple(c.revolute for c in model.coordinates)


def _each(formulas: Formulas, grouping: str) -> Formulas:
    return Formulas.of((x.grouped(grouping) for x in formulas.flat), formulas.shape)


def _total(terms: Terms, expressions: Sequence[Expression] | Iterator[Expression] | Any) -> Expression:
    total = Expression(terms.algebra, terms.algebra.ring.zero) if terms.expanded else Expression(terms.algebra, None, None, 0.0)
    for expression in expressions:
        total = total + expression
    return total

"""The class `Robot`: all dynamics and kinematics functions of a robot, for one state or a batch."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import (
    actuator_regressor,
    contact,
    coriolis,
    derivatives,
    dynamics,
    energy,
    jacobian,
    kinematics,
    mass_matrix,
    regressor,
    statics,
)
from dynamis.algorithms.articulated_body import Articulated, articulated_inertias
from dynamis.algorithms.derivatives import AccelerationDerivatives, TorqueDerivatives
from dynamis.algorithms.dynamics import TorqueLedger
from dynamis.algorithms.kinematics import MovingBase
from dynamis.compiler import c_text
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.lowering import trace
from dynamis.display import robot_card
from dynamis.errors import InputError, printable, unknown_name
from dynamis.evaluation import MOST, WORTH_COMPILING, Evaluator
from dynamis.explanation import Explanation, explain
from dynamis.inputs import moving_base
from dynamis.model.actuators import Actuator
from dynamis.model.build import build
from dynamis.model.description import Description, Drive, rotors_reflected, rotors_riding
from dynamis.model.load import load_description
from dynamis.model.model import Frame, Model, fingerprint
from dynamis.model.writers.toml import write_toml
from dynamis.model.writers.urdf import urdf_document
from dynamis.scalar import Node
from dynamis.spatial import Inertia
from dynamis.whole_files import write_file

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm
    from dynamis.symbolic.notation import Notation

# methods that can be compiled by name: kernel key, arguments, algorithm
_FUNCTIONS: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "inverse_dynamics": (("id", (), "world"), ("q", "v", "a"), "recursive Newton–Euler algorithm in link frames"),
    "forward_dynamics": (("fd", (), "world"), ("q", "v", "tau"), "factorisation M = Lᵀ D L, solved for τ − bias"),
    "mass_matrix": ("crba", ("q",), "composite-rigid-body algorithm"),
    "coriolis_matrix": ("coriolis", ("q", "v"), "Christoffel symbols, accumulated body by body"),
    "gravity": ("gravity", ("q",), "recursive Newton–Euler algorithm with zero velocity and acceleration"),
    "bias": ("bias", ("q", "v"), "recursive Newton–Euler algorithm with zero acceleration"),
    "regressor": ("Y", ("q", "v", "a"), "recursive Newton–Euler algorithm for unit parameters"),
    "inverse_dynamics_derivatives": ("did", ("q", "v", "a"), "forward differentiation of the recursive Newton–Euler algorithm"),
    "forward_dynamics_derivatives": (
        "dfd",
        ("q", "v", "tau"),
        "M⁻¹ times the derivatives of the recursive Newton–Euler algorithm",
    ),
    "kinetic_energy": ("T", ("q", "v"), "sum over the bodies"),
    "potential_energy": ("U", ("q",), "sum over the bodies"),
}
Array = npt.NDArray[Any]
Wrenches = Mapping[str, Any]

RECURSION_PAYS_FROM, MATRIX_IS_HOPELESS_FROM = 16, 40  # degrees of freedom in a row


def load(
    source: str | os.PathLike[str],
    *,
    base: str = "fixed",
    strict: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Robot:
    """Load a robot from the library by name, or from a file by path (.urdf, .toml).

    ``base="floating"`` gives the root link six degrees of freedom. ``strict=True`` turns warnings about the file into errors.
    ``parameters`` assigns values to the parameters declared in a .toml file.

    >>> import dynamis as dy
    >>> dy.load("ur5e").n
    6
    """
    if base not in ("fixed", "floating"):
        raise InputError(f"base={base!r} is unknown; choose 'fixed' or 'floating'")
    description = load_description(source, strict=strict, parameters=parameters, base=base)
    return Robot(description, _checked=True)


class Robot:
    """An immutable robot model with its dynamics and kinematics functions.

    The last axis of q (nq), v, a, tau (n) is the joint; leading axes are batches and broadcast as in NumPy. Units are SI.
    Spatial vectors have the linear part first; Jacobians and wrenches refer to the frame origin, in world axes unless
    ``axes="local"``. Wrenches are exerted by the environment on the robot:
    M v̇ + C v + g + friction + springs = τ + Σ Jᵀ w.
    """

    def __init__(self, description: Description, *, _checked: bool = False, _tracing: bool = False) -> None:
        if not isinstance(description, Description):
            raise InputError(
                f"Robot takes a Description, got {type(description).__name__}; dynamis.load loads a robot by name or file"
            )
        # a description just read from a file has no other owner and is validated: no copy, no second validation
        self._description = description if _checked else description.copy()
        self.model: Model = build(self._description, checked=_checked)
        self._evaluator = Evaluator(self.model, _tracing)

    # properties

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def n(self) -> int:
        """Degrees of freedom: the length of v, a and tau."""
        return self.model.n

    @property
    def nq(self) -> int:
        """Length of q; larger than n if a spherical or free joint has a quaternion."""
        return self.model.nq

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints (without fixed and mimic joints), in depth-first order."""
        return self.model.joint_names

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""
        return tuple(c.name for c in self.model.coordinates)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of links and fixed frames, in depth-first order; each can be used as a frame."""
        return self.model.link_names

    @property
    def limits(self) -> dict[str, Array]:
        """``lower``, ``upper``, ``velocity``, ``effort``, each with one entry per degree of freedom."""
        keys = ("lower", "upper", "velocity", "effort")
        return {key: np.array([getattr(c, key) for c in self.model.coordinates]) for key in keys}

    @property
    def mass(self) -> Any:
        """Total mass, including the base."""
        return self.model.base.mass + sum(body.inertia.mass for _, body in self.model.moving)

    @property
    def parameters(self) -> Array:
        """Parameter vector π with ``regressor(q, v, a) @ parameters == inverse_dynamics(q, v, a)``."""
        return regressor.parameters(self.model)

    @property
    def parameter_names(self) -> list[str]:
        return regressor.parameter_names(self.model)

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """Actuator models by coordinate name, for the coordinates that have one.

        The rotor of an elastic joint is part of its actuator, not of M, the regressor and the equations of motion.
        """
        pairs = zip(self.coordinate_names, self.model.actuators, strict=True)
        return MappingProxyType({name: x for name, x in pairs if x is not None})

    @property
    def actuator_parameters(self) -> Array:
        """Parameters π_m: ``actuator_regressor(…) @ actuator_parameters`` gives the motor torques of elastic joints."""
        return actuator_regressor.actuator_parameters(self.model)

    @property
    def actuator_parameter_names(self) -> list[str]:
        return actuator_regressor.actuator_parameter_names(self.model)

    @property
    def description(self) -> Description:
        """An editable copy of the description; ``Robot(description)`` builds a new robot from it."""
        return self._description.copy()

    def __repr__(self) -> str:
        kind = "symbolic " if self.model.symbolic else ""
        return f"<{kind}Robot {printable(self.name)}: {self.n} degrees of freedom, {len(self.model.moving)} moving bodies>"

    def _repr_html_(self) -> str:
        return robot_card(self.model, self._description)

    def replace(
        self,
        *,
        gravity: Any = None,
        payload: Inertia | None = None,
        payload_frame: str | None = None,
        friction: Any = None,
        rotors: str | None = None,
        actuators: Mapping[str, Actuator | None] | None = None,
    ) -> Robot:
        """Return a new robot with changed gravity, payload (at the tip or a given frame), friction, rotors or actuators.

        ``friction`` is None (unchanged), 0 or False (no friction), or a mapping from joint names to the `Drive` fields to
        change. ``rotors`` is "riding" (rotors mounted on moving links, by default the parent link of the joint) or "reflected"
        (only the reflected inertia at the joint). ``actuators`` maps coordinate names to actuator models, or to None to remove
        one; other coordinates keep theirs.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e").replace(gravity=(0, 0, 0))
        >>> bool(abs(robot.gravity(robot.neutral())).max() == 0)
        True
        """
        d = self._description.copy()
        if gravity is not None:
            d.gravity = self._evaluator.inputs.vector(gravity, 3, "gravity")
        if payload is not None:
            if not isinstance(payload, Inertia):
                raise InputError(
                    f"payload= must be an Inertia, such as dynamis.solids.sphere(0.1, mass=2), got {type(payload).__name__}"
                )
            plain = Inertia(payload.mass, np.array(payload.first_moment), np.array(payload.tensor))
            d.attach_payload(plain, self.model.frame(payload_frame).name)
        elif payload_frame is not None:
            raise InputError("payload_frame= requires payload=")
        if friction is not None:
            if isinstance(friction, Mapping):
                for name, changes in friction.items():
                    drive = d.joint(name).drive
                    if not isinstance(changes, Mapping):
                        raise InputError("friction= must be a mapping of mappings, such as {'elbow': {'viscous': 0.5}}")
                    for key, value in changes.items():
                        if key not in vars(Drive()):
                            raise InputError(f"{key!r} is not a drive parameter; choose from {', '.join(vars(Drive()))}")
                        setattr(drive, key, value)
            elif isinstance(friction, int | float) and not friction:
                for joint in d.joints:
                    joint.drive.viscous = joint.drive.coulomb = joint.drive.coulomb_bias = 0.0
            else:
                raise InputError("friction= must be 0 for none, or a mapping such as {'elbow': {'viscous': 0.5}}")
        if rotors is not None:
            ways = {"riding": rotors_riding, "reflected": rotors_reflected}
            if rotors not in ways:
                raise InputError(f"rotors={rotors!r} is unknown; choose 'riding' or 'reflected'")
            d = ways[rotors](d)
        if actuators is not None:
            self._replace_actuators(d, actuators)
        return Robot(d, _tracing=self._evaluator.tracing)

    def _replace_actuators(self, d: Description, actuators: Mapping[str, Actuator | None]) -> None:
        if not isinstance(actuators, Mapping):
            raise InputError("actuators= must be a mapping such as {'elbow': dynamis.Saturated(effort=50)}")
        for name, actuator in actuators.items():
            if name not in self.coordinate_names:
                raise unknown_name("coordinate", name, self.coordinate_names)
            if actuator is not None and not isinstance(actuator, Actuator):
                kinds = "a Saturated, DCMotor or Elastic"
                raise InputError(f"the actuator of {name!r} must be {kinds}, got {type(actuator).__name__}")
            joint = self.model.coordinates[self.coordinate_names.index(name)].joint
            if name != joint:
                raise InputError(
                    f"{name!r} is one of several coordinates of a joint; actuators require a joint with one coordinate"
                )
            d.joint(joint).actuator = actuator

    def write(self, path: str | os.PathLike[str], form: str = "link") -> None:
        """Write the robot to a .urdf or .toml file; ``form`` (link, dh, mdh, poe) chooses how a .toml places links.

        A robot that was read from a URDF is written as that document with only the changed values replaced.
        """
        target = Path(path)
        if target.suffix not in (".urdf", ".toml"):
            raise InputError(f"{printable(target.name)}: the file name must end in .urdf or .toml")
        if target.suffix == ".urdf" and form != "link":
            raise InputError(f"form={form!r} applies to .toml files only; URDF has one form")
        if target.suffix == ".urdf":
            data = urdf_document(self._description)
        else:
            data = write_toml(self._description, form).encode()
        write_file(target, data)

    # configurations

    def neutral(self) -> Array:
        """Configuration with all joint variables zero; spherical and free joints have the identity rotation."""
        q = np.zeros(self.nq)
        for _, body in self._own_bodies():
            q[body.q_index] = body.motion.neutral()
        return q

    def home(self) -> Array:
        """Start of motions and searches by default: neutral, but mid-range where the limits of a joint exclude zero.

        >>> import dynamis as dy
        >>> dy.load("panda").home().round(2).tolist()
        [0.0, 0.0, 0.0, -1.57, 0.0, 0.0, 0.0]
        """
        q, limits = self.neutral(), self.limits
        for k, coordinate in enumerate(self.model.coordinates):
            lower, upper = limits["lower"][k], limits["upper"][k]
            if coordinate.q_index is not None and not lower <= q[coordinate.q_index] <= upper:
                ends = [end for end in (lower, upper) if np.isfinite(end)]
                q[coordinate.q_index] = sum(ends) / len(ends)
        return q

    def random(self, rng: np.random.Generator | int | None = None, size: int | Sequence[int] | None = None) -> Array:
        """Random configurations within the joint limits; ``rng`` is a generator or a seed, ``size`` the batch shape."""
        try:
            generator = np.random.default_rng(rng)
            sizes = () if size is None else size if isinstance(size, Sequence) else (size,)
            shape = tuple(map(operator.index, sizes))
            q = np.empty((int(np.prod(shape)), self.nq))
        except (TypeError, ValueError) as error:
            raise InputError(f"random requires a generator or a seed, and a size of integers: {error}") from None
        limits = self.limits
        for row in q:
            for _, body in self._own_bodies():
                dof = list(body.dof)
                row[body.q_index] = body.motion.random(generator, limits["lower"][dof], limits["upper"][dof])
        return q.reshape(*shape, self.nq)

    def integrate(self, q: Any, dv: Any) -> Array:
        """Configuration reached from q with the constant velocity dv in unit time, on the configuration manifold."""
        return self._evaluator.over_states(self._integrate_one, self.nq, q=(q, self.nq), dv=(dv, self.n))

    def difference(self, q0: Any, q1: Any) -> Array:
        """Velocity dv with integrate(q0, dv) = q1."""
        return self._evaluator.over_states(self._difference_one, self.n, q0=(q0, self.nq), q1=(q1, self.nq))

    def _own_bodies(self) -> Any:
        return [(i, b) for i, b in self.model.moving if b.ratio == 1.0 and b.offset == 0.0 and not b.is_rotor]

    def _integrate_one(self, q: Array, dv: Array) -> Array:
        result = q.copy()
        for _, body in self._own_bodies():
            result[body.q_index] = body.motion.integrate(q[body.q_index], dv[list(body.dof)])
        return result

    def _difference_one(self, q0: Array, q1: Array) -> Array:
        result = np.zeros(self.n)
        for _, body in self._own_bodies():
            result[list(body.dof)] = body.motion.difference(q0[body.q_index], q1[body.q_index])
        return result

    # dynamics

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
                         base: MovingBase | None = None) -> Array:  # fmt: skip
        """Joint torques τ = M a + C v + g + friction + springs − Σ Jᵀ w (…, n), by the recursive Newton–Euler algorithm.

        ``wrenches`` maps frames to external wrenches (…, 6). ``base`` prescribes pose, twist and acceleration of the base.
        """

        moved = moving_base(base)

        def f(m: Model, q: Array, v: Array, a: Array, *w: Array) -> Array:
            return dynamics.inverse_dynamics(m, q, v, a, self._on_bodies(q, frames, w, axes, moved), moved)

        frames, extra = self._wrench_inputs(wrenches, axes)
        return self._evaluator.evaluate(("id", tuple(f.name for f in frames), axes), f, base is None,
                              q=(q, self.nq), v=(v, self.n), a=(a, self.n), **extra)  # fmt: skip

    def forward_dynamics(self, q: Any, v: Any, tau: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
                         base: MovingBase | None = None) -> Array:  # fmt: skip
        """Joint accelerations (…, n) for given torques and wrenches; arguments as for `inverse_dynamics`."""

        moved = moving_base(base)

        def f(m: Model, q: Array, v: Array, tau: Array, *w: Array) -> Array:
            return dynamics.forward_dynamics(m, q, v, tau, self._on_bodies(q, frames, w, axes, moved), moved)

        def through_mass_matrix(m: Model, q: Array, v: Array, tau: Array, *w: Array) -> Array:
            return dynamics.forward_dynamics_through_mass_matrix(m, q, v, tau, self._on_bodies(q, frames, w, axes))

        frames, extra = self._wrench_inputs(wrenches, axes)
        # the recursion is cheaper only on long chains; if both are compiled, the cheaper one is kept
        chain = max(self._evaluator.chains, default=0)
        alternatives: tuple[Callable[..., Array], ...] = (through_mass_matrix,)
        if chain > RECURSION_PAYS_FROM and not self.model.coupled:
            alternatives = (through_mass_matrix, f) if chain < MATRIX_IS_HOPELESS_FROM else (f,)
        return self._evaluator.evaluate(("fd", tuple(f.name for f in frames), axes), f, base is None, alternatives,
                              q=(q, self.nq), v=(v, self.n), tau=(tau, self.n), **extra)  # fmt: skip

    def mass_matrix(self, q: Any) -> Array:
        """Inertia matrix M(q), including rotor inertias (…, n, n)."""
        return self._evaluator.evaluate("crba", mass_matrix.crba, q=(q, self.nq))

    def coriolis_matrix(self, q: Any, v: Any) -> Array:
        """Coriolis matrix C(q, v) from Christoffel symbols: Ṁ − 2C is skew-symmetric (…, n, n)."""
        return self._evaluator.evaluate("coriolis", coriolis.coriolis_matrix, q=(q, self.nq), v=(v, self.n))

    def mass_matrix_dot(self, q: Any, v: Any) -> Array:
        """Time derivative Ṁ of the inertia matrix (…, n, n)."""
        return self._evaluator.evaluate("Mdot", coriolis.mass_matrix_dot, q=(q, self.nq), v=(v, self.n))

    def coriolis_transpose_product(self, q: Any, v: Any) -> Array:
        """Cᵀ v, the velocity term of a momentum observer."""
        return self._evaluator.evaluate("CTv", coriolis.coriolis_transpose_product, q=(q, self.nq), v=(v, self.n))

    def christoffel(self, q: Any) -> Array:
        """Christoffel symbols c[…, i, j, k] with C_ij = Σ_k c_ijk v_k."""
        return self._evaluator.evaluate("christoffel", coriolis.christoffel, q=(q, self.nq))

    def gravity(self, q: Any) -> Array:
        """Gravity torques g(q) = ∂U/∂q (…, n)."""
        return self._evaluator.evaluate("gravity", dynamics.gravity, q=(q, self.nq))

    def bias(self, q: Any, v: Any) -> Array:
        """Bias torques C v + g + friction + springs (…, n)."""
        return self._evaluator.evaluate("bias", dynamics.bias, q=(q, self.nq), v=(v, self.n))

    def kinetic_energy(self, q: Any, v: Any) -> Array:
        """Kinetic energy T, including rotors (…)."""
        return self._evaluator.evaluate("T", energy.kinetic_energy, q=(q, self.nq), v=(v, self.n))

    def potential_energy(self, q: Any) -> Array:
        """Potential energy U of gravity (zero at the world origin) and joint springs (…)."""
        return self._evaluator.evaluate("U", energy.potential_energy, q=(q, self.nq))

    def link_energies(self, q: Any, v: Any) -> tuple[Array, Array]:
        """Kinetic and potential energy (T_i, U_i) of each moving body, without rotors and springs (…, bodies)."""
        T = self._evaluator.evaluate("Ti", energy.kinetic_energies, q=(q, self.nq), v=(v, self.n))
        return T, self._evaluator.evaluate("Ui", energy.potential_energies, q=(q, self.nq))

    def regressor(self, q: Any, v: Any, a: Any) -> Array:
        """Regressor Y (…, n, parameters) of the inverse dynamics: τ = Y π, without external wrenches."""
        return self._evaluator.evaluate("Y", regressor.regressor, q=(q, self.nq), v=(v, self.n), a=(a, self.n))

    def actuator_regressor(self, q: Any, v: Any, theta: Any, theta_dot: Any, theta_ddot: Any) -> Array:
        """Regressor Y_m (…, e, 4 e) of the e elastic joints: u = Y_m π_m, π_m = (I, F, D, K) per joint, in the order of v.

        ``theta`` and its derivatives are the rotor angles on the joint side of the gears (…, e).

        >>> import dynamis as dy
        >>> robot = dy.load("planar_2r_melchiorri").replace(actuators={"joint2": dy.Elastic(800.0, inertia=0.1)})
        >>> Y = robot.actuator_regressor([0.0, 0.5], [0.0, 0.0], [0.51], [0.0], [2.0])
        >>> Y @ robot.actuator_parameters
        array([8.2])
        """
        count = len(actuator_regressor.elastic_joints(self.model))
        if not count:
            raise InputError(
                f"robot {printable(self.name)} has no elastic joint; define one with "
                "replace(actuators={…: dynamis.Elastic(…)})"
            )
        return self._evaluator.evaluate("Ym", actuator_regressor.actuator_regressor, q=(q, self.nq), v=(v, self.n),
                              theta=(theta, count), theta_dot=(theta_dot, count), theta_ddot=(theta_ddot, count))  # fmt: skip

    def torque_ledger(self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world") -> TorqueLedger:
        """Torque contributions: inertia, coriolis, gravity, viscous, dry, rotor, external, spring; ``total`` is their sum."""

        def f(m: Model, q: Array, v: Array, a: Array, *w: Array) -> Array:
            ledger = dynamics.torque_ledger(m, q, v, a, self._on_bodies(q, frames, w, axes))
            return np.array(list(ledger.as_dict().values()))

        frames, extra = self._wrench_inputs(wrenches, axes)
        rows = self._evaluator.evaluate(("ledger", tuple(f.name for f in frames), axes), f,
                              q=(q, self.nq), v=(v, self.n), a=(a, self.n), **extra)  # fmt: skip
        return TorqueLedger(*(rows[..., k, :] for k in range(rows.shape[-2]))).named(self.coordinate_names)

    def inverse_dynamics_derivatives(self, q: Any, v: Any, a: Any) -> TorqueDerivatives:
        """Derivatives ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of the inverse dynamics, each (…, n, n), with friction, rotors and springs.

        Derivatives with respect to q are along the entries of v (for a quaternion: rotations of the moving frame); dry
        friction is treated as constant.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> rest = [0.0] * 6
        >>> robot.inverse_dynamics_derivatives(robot.neutral(), rest, rest).dq.shape
        (6, 6)
        """
        found = self._evaluator.evaluate("did", derivatives.inverse_dynamics_derivatives,
                              q=(q, self.nq), v=(v, self.n), a=(a, self.n))  # fmt: skip
        return TorqueDerivatives(*(found[..., k, :, :] for k in range(3)))

    def forward_dynamics_derivatives(self, q: Any, v: Any, tau: Any) -> AccelerationDerivatives:
        """Derivatives ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹ of the forward dynamics, each (…, n, n)."""
        found = self._evaluator.evaluate("dfd", derivatives.forward_dynamics_derivatives,
                              q=(q, self.nq), v=(v, self.n), tau=(tau, self.n))  # fmt: skip
        return AccelerationDerivatives(*(found[..., k, :, :] for k in range(3)))

    # kinematics and statics

    def pose(self, q: Any, frame: str | None = None) -> Array:
        """Pose of a frame in the world as a homogeneous matrix (…, 4, 4); the default frame is the tip."""
        f = self.model.frame(frame)
        return self._evaluator.evaluate(("pose", f.name), lambda m, q: kinematics.pose(m, q, f), q=(q, self.nq))

    def velocity(self, q: Any, v: Any, frame: str | None = None) -> Array:
        """Linear and angular velocity (ṗ, ω) of a frame, in world axes (…, 6)."""
        f = self.model.frame(frame)
        return self._evaluator.evaluate(
            ("vel", f.name), lambda m, q, v: kinematics.velocity(m, q, v, f), q=(q, self.nq), v=(v, self.n)
        )

    def acceleration(self, q: Any, v: Any, a: Any, frame: str | None = None) -> Array:
        """Linear and angular acceleration (p̈, ω̇) of a frame, in world axes (…, 6)."""
        f = self.model.frame(frame)
        return self._evaluator.evaluate(("acc", f.name), lambda m, q, v, a: kinematics.acceleration(m, q, v, a, f),
                              q=(q, self.nq), v=(v, self.n), a=(a, self.n))  # fmt: skip

    def jacobian(self, q: Any, frame: str | None = None, *, axes: str = "world") -> Array:
        """Geometric Jacobian (…, 6, n) at the frame origin, in world axes or frame axes (``axes="local"``)."""
        f, local = self.model.frame(frame), self._is_local(axes)

        def J(m: Model, q: Array) -> Array:
            world = jacobian.jacobian(m, q, f)
            return _in_axes(kinematics.pose(m, q, f), world) if local else world

        return self._evaluator.evaluate(("J", f.name, axes), J, q=(q, self.nq))

    def jacobian_dot(self, q: Any, v: Any, frame: str | None = None) -> Array:
        """Time derivative dJ/dt of the Jacobian in world axes (…, 6, n)."""
        f = self.model.frame(frame)
        return self._evaluator.evaluate(
            ("Jdot", f.name), lambda m, q, v: jacobian.jacobian_dot(m, q, v, f), q=(q, self.nq), v=(v, self.n)
        )

    def analytic_jacobian(self, q: Any, frame: str | None = None, *, orientation: str = "rpy") -> Array:
        """Analytic Jacobian J_A (…, 6, n), d(p, φ)/dt = J_A v, φ: "rpy", "zyx", "xyz", "zyz", "zxz" or "rotation_vector"."""
        f, orientation = self.model.frame(frame), str(orientation)

        def J_A(m: Model, q: Array) -> Array:
            return jacobian.analytic_jacobian(m, q, f, orientation)

        return self._evaluator.evaluate(("JA", f.name, orientation), J_A, q=(q, self.nq))

    def static_torque(self, q: Any, wrenches: Wrenches | None = None, *, axes: str = "world") -> Array:
        """Torques in static equilibrium with gravity and the wrenches, without springs and friction (…, n)."""

        def f(m: Model, q: Array, *w: Array) -> Array:
            return statics.static_forces(m, q, self._on_bodies(q, frames, w, axes))[0]

        frames, extra = self._wrench_inputs(wrenches, axes)
        return self._evaluator.evaluate(("static", tuple(f.name for f in frames), axes), f, q=(q, self.nq), **extra)

    def static_forces(self, q: Any, wrenches: Wrenches | None = None, *, axes: str = "world") -> tuple[Array, Array, Array]:
        """Static torques τ, and force f and moment N that each joint exerts on its body, at one configuration.

        Rows of f and N are bodies, in world axes at the body origin; row 0 is the reaction of the ground.
        """
        frames, extra = self._wrench_inputs(wrenches, axes)
        given = [self._evaluator.inputs.one_state(value, size, name) for name, (value, size) in extra.items()]
        state = self._evaluator.inputs.one_state(q, self.nq, "q")
        return statics.static_forces(self.model, state, self._on_bodies(state, frames, given, axes))

    def articulated_inertias(self, q: Any, v: Any = None, tau: Any = None) -> Articulated:
        """Articulated inertias of all bodies at one state: M̂, b̂, m̂, M̄ and b̄ of the articulated-body algorithm.

        >>> import dynamis as dy
        >>> dy.load("nine_body_tree").articulated_inertias([0.0] * 9).M_hat[1].shape
        (6, 6)
        """
        rest = np.zeros(self.n)
        at = self._evaluator.inputs.one_state(q, self.nq, "q")
        rates, forces = (
            rest if x is None else self._evaluator.inputs.one_state(x, self.n, name) for name, x in (("v", v), ("tau", tau))
        )
        return articulated_inertias(self.model, at, rates, forces)

    # closed form

    def closed_form(
        self,
        notation: str | Notation | None = None,
        *,
        seconds: float = 60.0,
        terms: float = 5e6,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> ClosedForm:
        """Symbolic equations of motion: M, C, g, Christoffel symbols, energies, regressor, derivation.

        ``notation`` is "dynamis", "rocco", "deluca", "melchiorri", "tzafestas", or a `Notation`. If the expansion exceeds
        ``seconds`` or ``terms``, the entries keep their factored form.

        >>> import dynamis as dy
        >>> arm = dy.load("planar_2r").closed_form()
        >>> arm.M[0, 1]
        m_2*(l_2^2 + a_1*l_2*c2) + I_2
        >>> (arm.N + arm.N.T).is_zero
        True
        """
        from dynamis.symbolic.closed_form import closed_form

        return closed_form(self.model, notation, seconds=seconds, terms=terms, progress=progress, description=self._description)

    # compiled functions

    def compile(
        self,
        function: Callable[..., Any] | str,
        /,
        *,
        parameters: Sequence[Node] = (),
        identity: str | None = None,
        **sizes: int,
    ) -> Kernel:
        """Compile a function of this robot, written for one state, for batches of states.

        ``function(robot, q, v, …)`` takes vectors and returns an array; the lengths of arguments other than q, v, a and tau
        are given as keywords. It must not branch on its arguments: use ``dynamis.where``. It may modify the robot with its
        arguments, as in ``robot.replace(gravity=g)``: gravity is then an input.

        A name such as "inverse_dynamics" compiles that method. Symbols of the robot are listed in ``parameters``; their
        values are the last argument, batched like the others.

        Compiled code is cached on disk under a key obtained by tracing the function. ``identity``, a string that identifies
        the function, replaces the tracing; it must change whenever the function changes.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> def law(robot, q, v, goal):
        ...     return 100.0 * (goal - q) - 20.0 * v + robot.gravity(q)
        >>> control = robot.compile(law, goal=2)
        >>> control(np.zeros((1000, 2)), np.zeros((1000, 2)), np.ones(2)).shape
        (1000, 2)
        >>> m = dy.symbol("m")
        >>> loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=m))
        >>> torques = loaded.compile("gravity", parameters=[m])
        >>> torques(np.zeros(2), [[0.0], [1.0], [2.0]]).shape
        (3, 2)
        """
        if isinstance(function, str):
            _, names, _ = self._known(function)
            label, traced = function, lambda robot, *arrays: getattr(robot, label)(*arrays)
        else:
            label, traced = getattr(function, "__name__", "function"), function
            names = tuple(inspect.signature(function).parameters)[1:]
        for parameter in parameters:
            if not isinstance(parameter, Node) or parameter.op != "symbol":
                raise InputError(f"parameters= must be symbols, such as [dynamis.symbol('m')], got {parameter!r}")
        known = {"q": self.nq, "v": self.n, "a": self.n, "tau": self.n, **sizes}
        for name in names:
            if name not in known:
                raise InputError(
                    f"the length of the argument {name!r} is unknown; give it with compile(function, {name}=LENGTH)"
                )
        robot = Robot(self._description, _tracing=True)
        whose = None if identity is None else f"{fingerprint(self.model)} {list(parameters)!r} {identity}"
        return Kernel([functools.partial(traced, robot)], [(name, known[name]) for name in names], label, whose, parameters)

    @staticmethod
    def _known(name: str) -> tuple[Any, tuple[str, ...], str]:
        if name not in _FUNCTIONS:
            raise unknown_name("compiled function", name, _FUNCTIONS)
        return _FUNCTIONS[name]

    def kernel(self, name: str) -> Kernel:
        """The compiled function of a method such as "inverse_dynamics", with its listing, NumPy ufunc and operation counts.

        >>> import dynamis as dy
        >>> dy.load("ur5e").kernel("mass_matrix").arguments
        (('q', 6),)
        """
        key, names, _ = self._known(name)
        if self.model.symbolic or not self._evaluator.can_be_compiled(key):
            raise InputError(
                f"{name} of robot {printable(self.name)} cannot be compiled: the robot has symbolic parameters, no joints, "
                f"or so many that the code would exceed {MOST} instructions"
            )
        if key not in self._evaluator.kernels:
            # the neutral configuration may be singular; enough states, whatever their number, are worth compiling for
            state = {"q": self.random(0, WORTH_COMPILING)}
            getattr(self, name)(*(state.get(argument, np.zeros(self.n)) for argument in names))
        return self._evaluator.kernels[key]

    def explain(self, name: str) -> str:
        """Describe the compiled code of a method such as "forward_dynamics": algorithm, operation counts, optimisations.

        >>> import dynamis as dy
        >>> print(dy.load("ur5e").explain("gravity").splitlines()[0])
        gravity of 'UR5e'
        """
        kernel = self.kernel(name)
        _, names, way = self._known(name)
        arguments = [(argument, self.nq if argument == "q" else self.n) for argument in names]
        ways = [(way, len(kernel.code.instructions))]
        if name == "forward_dynamics":
            routes = [dynamics.forward_dynamics_through_mass_matrix, dynamics.forward_dynamics]
            plain = trace(functools.partial(routes[0], self.model), arguments)
            lean = [trace(functools.partial(route, self._evaluator.lean(("fd", ()))), arguments) for route in routes]
            recursion = (way, len(lean[0].instructions)), ("articulated-body algorithm", len(lean[1].instructions))
            ways = list(recursion) if not self.model.coupled else ways
        else:
            plain = trace(getattr(self, name), arguments)
        return Explanation(explain(name, kernel, printable(self.name), ways, plain))

    def cost(self, name: str) -> dict[str, int]:
        """Operation counts of a compiled method such as "forward_dynamics", per operation and in total.

        >>> import dynamis as dy
        >>> dy.load("ur5e").cost("inverse_dynamics")["total"] < 400
        True
        """
        counts = self.kernel(name).code.cost()
        return {**counts, "total": sum(counts.values())}

    def write_c(
        self, function: str, folder: str | os.PathLike[str], *, name: str | None = None, precision: str = "double",
        states: int = 20,
    ) -> list[Path]:  # fmt: skip
        """Write a function such as "inverse_dynamics" as dependency-free C99: header and source with a self-test.

        The C function and both files are named ``name``, by default dynamis_FUNCTION. Its arguments are named as here:
        q, v, a, tau, then the result. Existing files are replaced atomically.
        """
        kernel = self.kernel(function)
        rng = np.random.default_rng(0)
        q, others = self.random(rng, states), rng.uniform(-1.0, 1.0, (states, 3, self.n))
        vectors = [[q[s] if arg == "q" else others[s, k] for k, (arg, _) in enumerate(kernel.arguments)] for s in range(states)]
        identifier = f"dynamis_{function}" if name is None else name
        results = [c_text.RESULTS.get(function, "")]
        texts = c_text.render(kernel.code, identifier, precision, f"{function} of {self.name}", vectors, results)
        return c_text.write_pair(folder, identifier, texts)

    # evaluation

    @staticmethod
    def _is_local(axes: str) -> bool:
        if axes not in ("world", "local"):
            raise InputError(f"axes={axes!r} is unknown; choose 'world' or 'local'")
        return axes == "local"

    def _wrench_inputs(self, wrenches: Wrenches | None, axes: str) -> tuple[list[Frame], dict[str, tuple[Any, int]]]:
        self._is_local(axes)
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise InputError("wrenches= must be a mapping such as {'tool0': (fx, fy, fz, mx, my, mz)}")
        frames = [self.model.frame(name) for name in wrenches or {}]
        return frames, {f"wrench on {f.name}": ((wrenches or {})[f.name], 6) for f in frames}

    def _on_bodies(
        self, q: Array, frames: list[Frame], wrenches: Sequence[Array], axes: str, base: MovingBase = kinematics.REST
    ) -> dict[int, Array]:
        return contact.body_wrenches(self.model, q, list(zip(frames, wrenches, strict=True)), axes == "world", base)


def _in_axes(X: Array, J: Array) -> Array:
    R = X[:3, :3].T
    return np.concatenate([R @ J[:3], R @ J[3:]])

"""The functions of a robot's state: dynamics, energies, kinematics and statics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import actuator_regressor, regressor, statics
from dynamis.algorithms.articulated_body import Articulated, articulated_inertias
from dynamis.algorithms.contact import body_wrenches
from dynamis.algorithms.derivatives import AccelerationDerivatives, TorqueDerivatives
from dynamis.algorithms.dynamics import TorqueLedger
from dynamis.algorithms.kinematics import MovingBase
from dynamis.algorithms.registry import ALGORITHMS
from dynamis.errors import InputError, printable
from dynamis.model.model import Frame
from dynamis.robot.base import RobotBase, direct
from dynamis.robot.differentiation import derivatives_with_wrenches
from dynamis.robot.inputs import moving_base
from dynamis.robot.jumps import warn_at_rest

Array = npt.NDArray[Any]
Wrenches = Mapping[str, Any]


class StateFunctions(RobotBase):
    """Methods of a robot that are evaluated for one state or a batch."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""
        return tuple(c.name for c in self.model.coordinates)

    @property
    def mass(self) -> Any:
        """Total mass, including a base that is fixed to the world, which `center_of_mass` does not count."""
        return self.model.base.mass + sum(body.inertia.mass for _, body in self.model.moving)

    @property
    def parameters(self) -> Array:
        """Parameter vector π with ``regressor(q, v, a) @ parameters == inverse_dynamics(q, v, a)``."""
        return regressor.parameters(self.model)

    @property
    def parameter_names(self) -> list[str]:
        return regressor.parameter_names(self.model)

    @property
    def actuator_parameters(self) -> dict[str, float]:
        """Parameters π_m of the elastic joints by name, in the order of the columns of `actuator_regressor`."""
        names = actuator_regressor.actuator_parameter_names(self.model)
        return dict(zip(names, actuator_regressor.actuator_parameters(self.model).tolist(), strict=True))

    # dynamics

    @direct
    def inverse_dynamics(
        self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
        base: MovingBase | None = None, out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Joint torques τ = M a + C v + g + friction + springs − Σ Jᵀ w (…, n), by the recursive Newton–Euler algorithm.

        ``wrenches`` maps frames to external wrenches (…, 6). ``base`` prescribes pose, twist and acceleration of the base.
        """
        return self._with_wrenches("inverse_dynamics", (q, v, a), wrenches, axes, base, out=out, dtype=dtype)

    @direct
    def forward_dynamics(
        self, q: Any, v: Any, tau: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
        base: MovingBase | None = None, out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Joint accelerations (…, n) for given torques and wrenches; arguments as for `inverse_dynamics`."""
        return self._with_wrenches("forward_dynamics", (q, v, tau), wrenches, axes, base, out=out, dtype=dtype)

    @direct
    def joint_wrenches(
        self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world", out: Array | None = None,
        dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Wrench (f, μ) that each joint exerts on the link it carries, in motion (…, joints, 6).

        It acts at the origin of the body frame, which moves with the joint, in world axes or in those of this frame
        (``axes="local"``, which then holds for the external ``wrenches`` too). The joints are in depth-first order, mimic
        joints included: row k is that of the joint that carries the link ``robot.model.moving[k][1].name``.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> F = robot.joint_wrenches(robot.neutral(), [0.0] * 6, [0.0] * 6)
        >>> bool(abs(F[0, 2] - 9.81 * sum(body.inertia.mass for _, body in robot.model.moving)) < 1e-9)
        True
        >>> [body.name for _, body in robot.model.moving][:2]
        ['shoulder_link', 'upper_arm_link']
        """
        return self._with_wrenches("joint_wrenches", (q, v, a), wrenches, axes, out=out, dtype=dtype)

    @direct
    def mass_matrix(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Inertia matrix M(q), including rotor inertias (…, n, n)."""
        return self.evaluate(ALGORITHMS["mass_matrix"], q, out=out, dtype=dtype)

    @direct
    def mass_matrix_inverse(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Inverse M(q)⁻¹ of the inertia matrix (…, n, n); use `forward_dynamics` to solve for accelerations."""
        return self.evaluate(ALGORITHMS["mass_matrix_inverse"], q, out=out, dtype=dtype)

    @direct
    def coriolis_matrix(self, q: Any, v: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Coriolis matrix C(q, v) from Christoffel symbols: Ṁ − 2C is skew-symmetric (…, n, n)."""
        return self.evaluate(ALGORITHMS["coriolis_matrix"], q, v, out=out, dtype=dtype)

    @direct
    def mass_matrix_dot(self, q: Any, v: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Time derivative Ṁ of the inertia matrix (…, n, n)."""
        return self.evaluate(ALGORITHMS["mass_matrix_dot"], q, v, out=out, dtype=dtype)

    @direct
    def christoffel(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Christoffel symbols c[…, i, j, k] with C_ij = Σ_k c_ijk v_k."""
        return self.evaluate(ALGORITHMS["christoffel"], q, out=out, dtype=dtype)

    @direct
    def gravity(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Gravity torques g(q) = ∂U/∂q (…, n)."""
        return self.evaluate(ALGORITHMS["gravity"], q, out=out, dtype=dtype)

    @direct
    def bias(self, q: Any, v: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Bias torques C v + g + friction + springs (…, n)."""
        return self.evaluate(ALGORITHMS["bias"], q, v, out=out, dtype=dtype)

    @direct
    def kinetic_energy(self, q: Any, v: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Kinetic energy T, including rotors (…)."""
        return self.evaluate(ALGORITHMS["kinetic_energy"], q, v, out=out, dtype=dtype)

    @direct
    def potential_energy(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Potential energy U of gravity (zero at the world origin) and joint springs (…)."""
        return self.evaluate(ALGORITHMS["potential_energy"], q, out=out, dtype=dtype)

    def link_energies(self, q: Any, v: Any) -> tuple[Array, Array]:
        """Kinetic and potential energy (T_i, U_i) of each moving body, without rotors and springs (…, bodies)."""
        T = self.evaluate(ALGORITHMS["link_kinetic_energies"], q, v)
        return T, self.evaluate(ALGORITHMS["link_potential_energies"], q)

    @direct
    def regressor(self, q: Any, v: Any, a: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Regressor Y (…, n, parameters) of the inverse dynamics: τ = Y π, without external wrenches."""
        return self.evaluate(ALGORITHMS["regressor"], q, v, a, out=out, dtype=dtype)

    @direct
    def kinetic_energy_regressor(self, q: Any, v: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Row y (…, parameters) with T = y π, for the parameters π of `regressor`."""
        return self.evaluate(ALGORITHMS["kinetic_energy_regressor"], q, v, out=out, dtype=dtype)

    @direct
    def potential_energy_regressor(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Row y (…, parameters) with U = y π, for the parameters π of `regressor`."""
        return self.evaluate(ALGORITHMS["potential_energy_regressor"], q, out=out, dtype=dtype)

    @direct
    def actuator_regressor(
        self, q: Any, v: Any, theta: Any, theta_dot: Any, theta_ddot: Any, *, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Regressor Y_m (…, e, 4 e) of the e elastic joints: u = Y_m π_m, π_m = (I, F, D, K) per joint, in the order of v.

        ``theta`` and its derivatives are the rotor angles on the joint side of the gears (…, e).

        >>> import dynamis as dy
        >>> robot = dy.load("planar_2r_melchiorri").replace(actuators={"joint2": dy.Elastic(800.0, inertia=0.1)})
        >>> Y = robot.actuator_regressor([0.0, 0.5], [0.0, 0.0], [0.51], [0.0], [2.0])
        >>> Y @ list(robot.actuator_parameters.values())
        array([8.2])
        """
        count = len(actuator_regressor.elastic_joints(self.model))
        if not count:
            raise InputError(
                f"robot {printable(self.name)} has no elastic joint; define one with "
                "replace(actuators={…: dynamis.Elastic(…)})"
            )
        given = {"q": (q, self.nq), "v": (v, self.n), "theta": (theta, count), "theta_dot": (theta_dot, count),
                 "theta_ddot": (theta_ddot, count)}  # fmt: skip
        return self._evaluate_given(ALGORITHMS["actuator_regressor"], given, {}, out=out, dtype=dtype)

    def torque_ledger(self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world") -> TorqueLedger:
        """Torque contributions: inertia, coriolis, gravity, viscous, dry, rotor, external, spring; ``total`` is their sum."""
        rows = self._with_wrenches("torque_ledger", (q, v, a), wrenches, axes)
        return TorqueLedger(*(rows[..., k, :] for k in range(rows.shape[-2]))).named(self.coordinate_names)

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
        out: Array | TorqueDerivatives | None = None, dtype: Any = None,
    ) -> TorqueDerivatives:  # fmt: skip
        """Derivatives ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of the inverse dynamics, each (…, n, n), with friction, rotors and springs.

        Derivatives with respect to q are along the entries of v (for a quaternion: rotations of the moving frame); dry
        friction is treated as constant (a `ModelWarning` says so at rest, where it jumps). ``wrenches`` are as for
        `inverse_dynamics`, constant in the world or, with ``axes="local"``, in the frames. ``out`` is a result to overwrite, or
        an array (…, 3, n, n), as ``array`` of a result.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> rest = [0.0] * 6
        >>> robot.inverse_dynamics_derivatives(robot.neutral(), rest, rest).dq.shape
        (6, 6)
        """
        out = out.array if isinstance(out, TorqueDerivatives) else out
        if "inverse_dynamics" not in self.evaluator.warned:
            warn_at_rest(self, "inverse_dynamics", v)
        if wrenches:
            pushed = self._at_frames(wrenches, axes)
            return TorqueDerivatives(derivatives_with_wrenches(self, "inverse_dynamics", (q, v, a), pushed, axes, out, dtype))
        more = {} if dtype is None else {"dtype": dtype}  # without it, machine code answers
        return TorqueDerivatives(self._inverse_dynamics_derivatives(q, v, a, out=out, **more))

    @direct
    def _inverse_dynamics_derivatives(self, q: Any, v: Any, a: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """(∂τ/∂q, ∂τ/∂v, M) (…, 3, n, n)."""
        return self.evaluate(ALGORITHMS["inverse_dynamics_derivatives"], q, v, a, out=out, dtype=dtype)

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, wrenches: Wrenches | None = None, *, axes: str = "world",
        out: Array | AccelerationDerivatives | None = None, dtype: Any = None,
    ) -> AccelerationDerivatives:  # fmt: skip
        """Derivatives ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹ of the forward dynamics, each (…, n, n).

        ``wrenches`` and ``out`` are as for `inverse_dynamics_derivatives`.
        """
        out = out.array if isinstance(out, AccelerationDerivatives) else out
        if "forward_dynamics" not in self.evaluator.warned:
            warn_at_rest(self, "forward_dynamics", v)
        if wrenches:
            found = derivatives_with_wrenches(
                self, "forward_dynamics", (q, v, tau), self._at_frames(wrenches, axes), axes, out, dtype
            )
            return AccelerationDerivatives(found)
        more = {} if dtype is None else {"dtype": dtype}  # without it, machine code answers
        return AccelerationDerivatives(self._forward_dynamics_derivatives(q, v, tau, out=out, **more))

    @direct
    def _forward_dynamics_derivatives(self, q: Any, v: Any, tau: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """(∂a/∂q, ∂a/∂v, M⁻¹) (…, 3, n, n)."""
        return self.evaluate(ALGORITHMS["forward_dynamics_derivatives"], q, v, tau, out=out, dtype=dtype)

    # kinematics

    @direct
    def pose(
        self, q: Any, frame: str | None = None, *, relative_to: str | None = None, out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Pose of a frame in the world as a homogeneous matrix (…, 4, 4); the default frame is the tip.

        ``relative_to`` names a frame that takes the place of the world.
        """
        return self._of_frame("pose", (q,), frame, relative_to, out=out, dtype=dtype)

    @direct
    def poses(self, q: Any, *, out: Array | None = None, dtype: Any = None) -> Array:
        """Poses of all frames in the world (…, frames, 4, 4), in the order of `link_names`."""
        return self.evaluate(ALGORITHMS["poses"], q, out=out, dtype=dtype)

    @direct
    def velocity(
        self, q: Any, v: Any, frame: str | None = None, *, axes: str = "world", relative_to: str | None = None,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Linear and angular velocity (ṗ, ω) of a frame, in world axes or frame axes (``axes="local"``) (…, 6).

        ``relative_to`` names a frame, moving or not, that takes the place of the world: the velocity is that seen from it, and
        its axes are those of ``axes="world"``.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> robot.velocity(robot.neutral(), [1.0, 0, 0, 0, 0, 0], "tool0", relative_to="forearm_link").round(9).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return self._of_frame("velocity", (q, v), frame, relative_to, axes, out=out, dtype=dtype)

    @direct
    def acceleration(
        self, q: Any, v: Any, a: Any, frame: str | None = None, *, axes: str = "world", relative_to: str | None = None,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Linear and angular acceleration (p̈, ω̇) of a frame, in world axes or frame axes (``axes="local"``) (…, 6).

        With ``relative_to`` it is the rate of the `velocity` relative to another frame, as seen from that frame.
        """
        return self._of_frame("acceleration", (q, v, a), frame, relative_to, axes, out=out, dtype=dtype)

    @direct
    def jacobian(
        self, q: Any, frame: str | None = None, *, axes: str = "world", relative_to: str | None = None,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Geometric Jacobian (…, 6, n) at the frame origin, in world axes or frame axes (``axes="local"``).

        With ``relative_to`` it is that of the `velocity` relative to another frame.
        """
        return self._of_frame("jacobian", (q,), frame, relative_to, axes, out=out, dtype=dtype)

    @direct
    def jacobian_dot(
        self, q: Any, v: Any, frame: str | None = None, *, axes: str = "world", relative_to: str | None = None,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        """Time derivative dJ/dt (…, 6, n) of the Jacobian in world axes, given in these or in frame axes (``axes="local"``).

        With ``relative_to`` it is that of the Jacobian relative to another frame, as seen from that frame. For all axes the
        `acceleration` is J v̇ + J̇ v.
        """
        return self._of_frame("jacobian_dot", (q, v), frame, relative_to, axes, out=out, dtype=dtype)

    @direct
    def analytic_jacobian(
        self, q: Any, frame: str | None = None, *, orientation: str = "rpy", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Analytic Jacobian J_A (…, 6, n), d(p, φ)/dt = J_A v, φ: "rpy", "zyx", "xyz", "zyz", "zxz" or "rotation_vector"."""
        algorithm = ALGORITHMS["analytic_jacobian"]
        return self.evaluate(algorithm, q, frame=self.model.frame(frame), orientation=str(orientation), out=out, dtype=dtype)

    def _of_frame(
        self, name: str, state: tuple[Any, ...], frame: str | None, relative_to: str | None, *axes: str,
        out: Array | None, dtype: Any,
    ) -> Array:  # fmt: skip
        if out is None and dtype is None:
            reference = () if relative_to is None else (relative_to,)
            key = name, self.model.tip if frame is None else frame, *axes, *reference
            if (result := self._answered(key, state)) is not None:
                return result
        options: dict[str, Any] = {"frame": self.model.frame(frame)} | ({"axes": checked_axes(axes[0])} if axes else {})
        options |= {} if relative_to is None else {"relative_to": self.model.frame(relative_to)}
        return self.evaluate(ALGORITHMS[name], *state, **options, out=out, dtype=dtype)

    # statics

    @direct
    def static_torque(
        self, q: Any, wrenches: Wrenches | None = None, *, axes: str = "world", out: Array | None = None, dtype: Any = None
    ) -> Array:
        """Torques in static equilibrium with gravity, springs and the wrenches, without friction (…, n)."""
        return self._with_wrenches("static_torque", (q,), wrenches, axes, out=out, dtype=dtype)

    def static_forces(self, q: Any, wrenches: Wrenches | None = None, *, axes: str = "world") -> tuple[Array, Array, Array]:
        """Static torques τ, and force f and moment N that each joint exerts on its body, at one configuration.

        Rows of f and N are bodies, in world axes at the body origin; row 0 is the reaction of the ground.
        """
        frames, given = self._at_frames(wrenches, axes)
        values = [self.inputs.one_state(value, size, name) for name, (value, size) in given.items()]
        state = self.inputs.one_state(q, self.nq, "q")
        on_bodies = body_wrenches(self.model, state, list(zip(frames, values, strict=True)), axes == "world")
        return statics.static_forces(self.model, state, on_bodies)

    def articulated_inertias(self, q: Any, v: Any = None, tau: Any = None) -> Articulated:
        """Articulated inertias of all bodies at one state: M̂, b̂, m̂, M̄ and b̄ of the articulated-body algorithm.

        >>> import dynamis as dy
        >>> dy.load("nine_body_tree").articulated_inertias([0.0] * 9).M_hat[1].shape
        (6, 6)
        """
        at, rest = self.inputs.one_state(q, self.nq, "q"), np.zeros(self.n)
        rates, forces = (rest if x is None else self.inputs.one_state(x, self.n, s) for s, x in (("v", v), ("tau", tau)))
        return articulated_inertias(self.model, at, rates, forces)

    # external wrenches

    def _with_wrenches(
        self, name: str, state: tuple[Any, ...], wrenches: Wrenches | None, axes: str, base: MovingBase | None = None, *,
        out: Array | None = None, dtype: Any = None,
    ) -> Array:  # fmt: skip
        if (
            type(wrenches) is dict and wrenches and base is None and out is None and dtype is None
            and (result := self._answered((name, tuple(wrenches), axes), (*state, *wrenches.values()))) is not None
        ):  # fmt: skip
            return result
        algorithm = ALGORITHMS[name]
        frames, extra = self._at_frames(wrenches, axes)
        matters = bool(frames) or (name == "joint_wrenches" and axes != "world")
        options: dict[str, Any] = {"frames": frames, "axes": axes} if matters else {}
        if base is not None:
            options["base"] = moving_base(base)
        sizes = self.evaluator.sizes
        given = {x: (value, sizes[x]) for x, value in zip(algorithm.arguments, state, strict=True)}
        return self._evaluate_given(algorithm, given | extra, options, compiled=base is None, out=out, dtype=dtype)

    def _at_frames(self, wrenches: Wrenches | None, axes: str) -> tuple[tuple[Frame, ...], dict[str, tuple[Any, int]]]:
        checked_axes(axes)
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise InputError("wrenches= must be a mapping such as {'tool0': (fx, fy, fz, mx, my, mz)}")
        frames, values = self.model.distinct_frames(wrenches or {}), (wrenches or {}).values()
        return frames, {f"wrench on {f.name}": (w, 6) for f, w in zip(frames, values, strict=True)}


def checked_axes(axes: str) -> str:
    if axes not in ("world", "local"):
        raise InputError(f"axes={axes!r} is unknown; choose 'world' or 'local'")
    return axes

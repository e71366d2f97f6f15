"""A robot with rigid contacts and closed loops: accelerations, forces, impulses, torques and motions."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.derivatives import AccelerationDerivatives, ForceDerivatives
from dynamis.algorithms.registry import Algorithm
from dynamis.display import card, counted, short
from dynamis.errors import InputError, SingularError, printable
from dynamis.kinematics.file_closures import described
from dynamis.robot import Robot
from dynamis.robot.differentiation import Derivatives
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.robot.interop import crocoddyl_model
from dynamis.robot.jumps import warn_at_rest
from dynamis.simulation.contact_forces import contact_forces, per_contact
from dynamis.simulation.loops.actuated import warn_of_passive_joints, with_motors
from dynamis.simulation.loops.constrained import correct, solve
from dynamis.simulation.loops.constrained_derivatives import constrained_derivatives, row_derivatives
from dynamis.simulation.loops.constrained_functions import ConstrainedFunctions
from dynamis.simulation.loops.constraints import Independence, alike, evaluate, held_at, independence, rank_of
from dynamis.simulation.loops.loop_motion import Loops
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory
from dynamis.simulation.loops.reduced import Reduced, reduced
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.tolerances import LOOP_RANK_TOLERANCE, SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
BAUMGARTE = 20.0  # 1/s: gains of simulations where none are given


class ConstrainedRobot(ConstrainedFunctions):
    """Functions of a robot with rigid contacts and loops; made by `dynamis.constrained` and the mechanisms of `dynamis.loops`.

    The rows of forces and Jacobians are points, then frames, then closures, named by ``labels``. Forces act on the robot.
    Leading axes are batches, but for `assemble`, `assemble_velocity`, `independence` and `reduced_dynamics`, which take one
    state. ``robot`` is the tree without the constraints.
    """

    def __reduce__(self) -> Any:
        return ConstrainedRobot, (self.robot, self.contacts, self._home)

    def __repr__(self) -> str:
        c = self.contacts
        parts = [counted(len(x), one) for x, one in ((c.points, "point"), (c.frames, "frame"), (c.closures, "closure")) if x]
        return short(f"<ConstrainedRobot {printable(self.name)}: {', '.join(parts)}, {counted(self.rows, 'row')}>")

    def _repr_html_(self) -> str:
        return card(f"{self.name}, constrained", [], ("row", "constraint"), list(enumerate(self.labels)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the robot with its closures to a .toml, .mjcf or .usda file, as `Robot.write` does.

        >>> import dynamis as dy, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dy.loops.four_bar().write(f"{folder}/four_bar.toml")
        ...     pathlib.Path(folder, "four_bar.toml").read_text().count("[[closure]]")
        1
        """
        if self.contacts.points or self.contacts.frames:
            raise InputError("no file format has rigid contacts: write self.robot, or the closures of loops only")
        description = self.robot.description
        description.closures = [described(x) for x in self.closures]
        if self._home is not None:
            places = [c for c in self.model.coordinates if c.q_index is not None]
            description.appearance.pose = {c.joint: float(self._home[c.q_index]) for c in places}
        Robot(description, _quiet=True).write(path)

    def forward_dynamics(
        self, q: Any, v: Any, tau: Any, wrenches: Mapping[str, Any] | None = None, *, acceleration: Any = None
    ) -> tuple[Array, Array]:
        """Accelerations (…, n) and contact forces (…, rows) under torques τ and wrenches at frames, in world axes.

        ``acceleration`` a* (…, rows) of the contacts is zero by default; it is added to the terms of stabilisation. Where rows
        are redundant, the forces are those of least norm. A singular configuration where no acceleration satisfies all rows is
        an error, and loops that are open give a warning; neither is checked in single precision, in which arguments that are
        all float32 are computed.

        >>> import dynamis as dy
        >>> loop = dy.loops.four_bar()
        >>> a, forces = loop.forward_dynamics(loop.home(), [0.0] * 3, [1.0, 0.0, 0.0])
        >>> a.shape, forces.shape
        ((3,), (2,))
        """
        if wrenches is not None:  # τ + Σ Jᵀ w
            rest, inverse = np.zeros_like(v), self.robot.inverse_dynamics
            tau = inverse(q, rest, rest) - inverse(q, rest, rest, wrenches) + tau
        target, failed = acceleration, None
        try:
            if target is None:
                found = self._accelerations(q, v, tau)
            else:
                found = self._run(self._forward("prescribed"), self._state(q, v, tau) | {"acceleration": (target, self.rows)})
        except SingularError as error:  # the tree has motions without mass, which the loops may exclude
            failed, given = error, [np.asarray(x) for x in (q, v, tau, *([] if target is None else [target]))]
            found = np.full((*np.broadcast_shapes(*(x.shape[:-1] for x in given)), self.n + self.rows + 1), np.nan)
        accelerations, forces, doubts = self._parts
        if type(found) is np.ndarray and found.dtype.char == "d":
            doubt = found[-1] if found.ndim == 1 else found[doubts].max(initial=0.0)
            if not doubt <= 1.0:
                correct(self.robot, self.ranked, found, failed, q, v, tau, [0.0] if target is None else target)
        if failed is not None:
            found = found.astype(np.result_type(np.float32, *given))
        return found[accelerations], found[forces]

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, wrenches: Mapping[str, Any] | None = None, *, acceleration: Any = None
    ) -> tuple[AccelerationDerivatives, ForceDerivatives]:
        """Derivatives by q, v and τ of the accelerations, each (…, n, n), and of the contact forces, each (…, rows, n).

        The arguments are those of `forward_dynamics`; wrenches and ``acceleration`` are constant. Columns for q are directions
        of v. Where rows are redundant, the derivatives of the forces of least norm hold as long as their rank stays.

        >>> import dynamis as dy, numpy as np
        >>> loop = dy.loops.four_bar()
        >>> da, df = loop.forward_dynamics_derivatives(loop.home(), np.zeros(3), [1.0, 0.0, 0.0])
        >>> da.dq.shape, df.dtau.shape
        ((3, 3), (2, 3))
        """
        a, force = self.forward_dynamics(q, v, tau, wrenches, acceleration=acceleration)
        warn_at_rest(self.robot, "constrained(…).forward_dynamics", v)
        smooth = without_dry_friction(self.robot)  # which is constant
        torques = smooth.inverse_dynamics_derivatives(q, v, a, wrenches).array
        found = constrained_derivatives(
            np.asarray(self.robot.mass_matrix(q)), self.jacobian(q), torques, force,
            lambda y: np.asarray(self._row_derivatives.jacobian(q, v, a, force, y)),
        )  # fmt: skip
        return AccelerationDerivatives(found[0]), ForceDerivatives(found[1])

    @functools.cached_property
    def _row_derivatives(self) -> Derivatives:
        return row_derivatives(self.robot, self.contacts)

    def reduced_dynamics(
        self, q: Any, v: Any, tau: Any, wrenches: Mapping[str, Any] | None = None, *,
        independent: Sequence[str | int] | None = None,
    ) -> Reduced:  # fmt: skip
        """The equation of motion in independent coordinates, given by name or chosen automatically, at one state with J v = 0.

        >>> import dynamis as dy
        >>> loop = dy.loops.four_bar()
        >>> loop.reduced_dynamics(loop.home(), [0.0] * 3, [0.0] * 3, independent=["crank"]).mass_matrix.shape
        (1, 1)
        """
        at, rates, torques = (self.inputs.one_state(x, size, name) for name, (x, size) in self._state(q, v, tau).items())
        c = self._constraints(at, rates)
        opening = float(np.abs(c.H @ rates).max())
        if opening > SOLUTION_TOLERANCE * (1.0 + np.abs(rates).max()):
            raise InputError(
                f"v violates the constraints (max |J v| = {opening:.3g}): assemble_velocity gives the closest one that does not"
            )
        rest = self.robot.inverse_dynamics(at, rates, np.zeros(self.n), wrenches)
        return reduced(self.robot, c, self.robot.mass_matrix(at), rest, torques, independent)

    # configurations and velocities

    def assemble_velocity(self, q: Any, guess: Any, locked: Sequence[str | int] = ()) -> Array:
        """The velocity closest to the guess, in the kinetic-energy norm, with J v = 0 and the ``locked`` coordinates unchanged.

        >>> import dynamis as dy
        >>> loop = dy.loops.four_bar()
        >>> v = loop.assemble_velocity(loop.home(), [5.0, 0.0, 0.0], locked=["crank"])
        >>> bool(abs(loop.jacobian(loop.home()) @ v).max() < 1e-12)
        True
        """
        at, v = self.inputs.one_state(q, self.nq, "q"), self.inputs.one_state(guess, self.n, "v")
        fixed = self.inputs.coordinates(locked, "locked")
        H, M = np.vstack([self._constraints(at, v).H, np.eye(self.n)[fixed]]), self.robot.mass_matrix(at)
        found = solve(M, M @ v, H, np.concatenate([np.zeros(self.rows), v[fixed]]))
        if found.residual > SOLUTION_TOLERANCE * (1.0 + np.abs(v).max()):
            names = ", ".join(self.robot.coordinate_names[k] for k in fixed)
            raise InputError(f"no velocity closes the loops with {names} as given (off by {found.residual:.3g})")
        return found.acceleration

    def independence(self, q: Any, tolerance: float = LOOP_RANK_TOLERANCE) -> Independence:
        """The rank of the Jacobian at one configuration, and which rows are redundant there.

        >>> import dynamis as dy
        >>> loop = dy.loops.four_bar(closed_by="pin")
        >>> found = loop.independence(loop.home())
        >>> found.rank, found.degrees_of_freedom, len(found.redundant)
        (2, 1, 3)
        """
        at = self.inputs.one_state(q, self.nq, "q")
        H = evaluate(self.robot, held_at(self.robot, self.contacts, at), at, np.zeros(self.n)).H
        return independence(H, self.labels, tolerance)

    def impulse(self, q: Any, v: Any, restitution: Any = 0.0) -> tuple[Array, Array]:
        """Velocities (…, n) after an impact and its impulses (…, rows): M (v⁺ − v) = Jᵀ Λ, J v⁺ = −e J v.

        ``restitution`` e is a number between 0 (plastic) and 1 (elastic), or one per state.
        """
        e = np.asarray(restitution, dtype=float)
        if not ((e >= 0.0) & (e <= 1.0)).all():
            raise InputError(f"restitution= must be between 0 and 1, got {restitution!r}")
        algorithm = Algorithm("impulse", self._impulse_of, ("q", "v", "restitution"), per_joint=700)
        found = self._run(algorithm, {"q": (q, self.nq), "v": (v, self.n), "restitution": (e[..., None], 1)})
        return found[..., : self.n], found[..., self.n :]

    def simulate(
        self, t: Any, q0: Any = None, v0: Any = None, *, normal: Any = (0.0, 0.0, 1.0), lift_off: str = "stop",
        friction: Any = "model", stabilisation: str = "projection", resume: Trajectory | None = None, actuated: Any = None,
        **options: Any,
    ) -> LoopTrajectory:  # fmt: skip
        """Simulate the robot with its contacts held where they are at q0, and its loops closed.

        ``q0`` (default: `home`) and ``v0`` (default: at rest) must satisfy the constraints: see `assemble`, `assemble_velocity`
        and `impulse`. ``options`` are those of `dynamis.simulate`: torques, controllers, also sampled ones, wrenches,
        actuators, events, methods, output times, stops (`HardStops` where nothing sticks and no contact can lift off). So are
        the laws of ``friction``. Where some stick (dry friction of the robot, `Coulomb`, `Stribeck`) the method is
        "time_stepping", with steps of 1 ms unless ``step`` is given; otherwise one of SciPy's, by default "DOP853", or "rk4" or
        "euler" with fixed steps, which are compiled. ``stabilisation`` is "projection" (with RK23, RK45, DOP853 or fixed
        steps), "baumgarte" (not with time stepping; with the gains of `constrained`, or 20 1/s) or "none".

        ``actuated`` names the coordinates with motors: the torques of the ``controller`` are replaced by the smallest ones
        there that have the same effect with the loops closed. None takes them as they are, as ``torque`` always is.

        A function that raises an exception, or a singular configuration, ends the simulation: ``status`` gives the reason, and
        the motion so far is returned. Passing through a singular configuration is an event.

        Contacts can only push along their ``normal`` (world axes): one value, or a mapping from contacts to values, with None
        for those that may pull, as a handle. Where a contact would have to pull, it lifts off, which is an event: the motion
        ends there (``lift_off`` = "stop"), or goes on without this contact ("release") until it touches again, which is the
        end of the motion too, since an impact follows. Adaptive methods locate lift-off; with fixed steps it is seen at
        output times. Whether a contact would slip or tilt is not checked: see ``constraint_forces`` (N, rows).

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("go2", base="floating")
        >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
        >>> motion = stance.simulate(0.1, robot.q(robot.description.appearance.pose), points=3)  # the trunk sinks
        >>> motion.status, bool(motion.drift.max() < 1e-12), motion.constraint_forces.shape
        ('completed', True, (3, 12))
        """
        c, names = self.contacts, (*self.contacts.points, *self.contacts.frames)
        normals = {name: n for name, n in per_contact(normal, names, "normal").items() if n is not None}
        gains = (0.0, 0.0)
        if stabilisation == "baumgarte":
            gains = (c.alpha, c.beta) if c.alpha or c.beta else (BAUMGARTE, BAUMGARTE)
        if resume is None and q0 is None:
            q0 = self.home()
        start = self.inputs.one_state(q0 if resume is None else resume.q[0], self.nq, "q0")
        held, released = held_at(self.robot, c, start), dict[str, float]()
        if isinstance(resume, LoopTrajectory) and alike(held, resume.closures, len(names)):
            held, released = resume.closures, dict(resume.released)
        if options.get("controller") is not None and actuated is None:
            cure = "name those with motors, actuated=[…], or actuated='joints' if all have"
            warn_of_passive_joints(self, options["controller"], cure, stacklevel=3)
        elif options.get("controller") is not None:
            options["controller"] = with_motors(self, options["controller"], self.inputs.actuated(actuated))
        elif actuated is not None:
            raise InputError("actuated= is for a controller=: torque= names the torques of all coordinates")
        loops = Loops(self.robot, held, stabilisation, gains, normals, lift_off, released, start)
        motion = simulate(loops, t, q0, v0, friction=friction, resume=resume, **options)
        assert isinstance(motion, LoopTrajectory)
        return motion

    def inverse_dynamics(
        self, q: Any, v: Any, a: Any, wrenches: Mapping[str, Any] | None = None, *, friction: Any = None,
        normal: Any = (0.0, 0.0, 1.0), support: Any = None, actuated: Any = "joints",
    ) -> tuple[Array, Array]:  # fmt: skip
        """Smallest torques τ (…, n), and contact forces (…, rows), that produce the accelerations a, with wrenches at frames.

        Torques are zero but at the ``actuated`` coordinates, by default all but those of a free base. ``friction`` is the
        coefficient μ: contact forces are inside the cone |f_t| ≤ μ f_n about the ``normal`` (world axes), and so push only;
        None allows all forces. ``support`` is half the length and width of rectangular feet along x and y of their frames,
        with z along the normal, up or down: moments at ``frames`` then keep the centre of pressure inside. Each is one value,
        or a mapping from contacts to values; that of ``friction`` names every contact, with None for those that may pull.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("go2", base="floating")
        >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
        >>> q, rest = robot.q(robot.description.appearance.pose), np.zeros(18)
        >>> tau, forces = stance.inverse_dynamics(q, rest, rest, friction=0.6)
        >>> bool(abs(forces[2::3].sum() - 9.81 * robot.mass) < 1e-4), tau[:6].any().item()
        (True, False)
        """
        chosen = self.robot.inputs.coordinates(actuated, "actuated")
        b, J = np.asarray(self.robot.inverse_dynamics(q, v, a, wrenches)), np.asarray(self.jacobian(q))
        try:
            return contact_forces(self.robot, self.contacts, q, b, J, chosen, friction, normal, support)
        except SingularError as error:
            free = self.n - rank_of(np.linalg.svd(J.reshape(-1, *J.shape[-2:])[0], compute_uv=False))
            if len(chosen) >= free:
                raise
            motors = counted(len(chosen), "coordinate")
            raise SingularError(
                f"{error}: {motors} with motors, and {free} degrees of freedom; name more in actuated="
            ) from None

    def crocoddyl(self, costs: Any, *, actuated: Any = "joints") -> Any:
        """A differential action model of Crocoddyl with the contacts and loops held; see `Robot.crocoddyl`.

        Its data have the ``forces`` of the contacts.
        """
        return crocoddyl_model(self.robot, costs, actuated, self)

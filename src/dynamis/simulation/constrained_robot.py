"""A robot with rigid contacts and closed loops: accelerations, forces, impulses, torques and motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.registry import Algorithm
from dynamis.display import counted, short
from dynamis.errors import InputError, printable
from dynamis.kinematics.closures import Anchor, Closure, given_closures, named_frame
from dynamis.robot import Robot
from dynamis.robot.base import RobotBase, direct
from dynamis.robot.checks import check_numeric
from dynamis.scalar import solve_upper
from dynamis.simulation.contact_equations import (
    Contacts,
    constrained_accelerations,
    constraint_rows,
    factors,
    solve_constrained,
)
from dynamis.simulation.contact_forces import contact_forces, per_contact
from dynamis.simulation.loops.loop_motion import Loops
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory
from dynamis.simulation.simulate import simulate
from dynamis.simulation.trajectory import Trajectory
from dynamis.spatial.inertia import mirrored

Array = npt.NDArray[Any]


def constrained(
    robot: Robot,
    points: str | Sequence[str] = (),
    frames: str | Sequence[str] = (),
    closures: Closure | Sequence[Closure] | None = None,
    *,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> ConstrainedRobot:
    """A robot whose ``points`` and ``frames`` touch something rigid, and whose loops are closed by ``closures``.

    Points (origins of named frames) do not accelerate, frames do not turn either. ``closures`` are those of `dynamis.loops`, by
    default those that the file of the robot describes.
    ``alpha`` and ``beta`` (1/s) stabilise the constraints as Baumgarte does: J v̇ + J̇ v = −2α J v − β² h, with h = 0 for
    points and frames, which have no reference position.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("go2", base="floating")
    >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    >>> q = robot.home()
    >>> a, forces = stance.forward_dynamics(q, np.zeros(18), np.zeros(18))
    >>> forces.shape, bool(abs(stance.jacobian(q) @ a).max() < 1e-9)
    ((12,), True)
    """
    check_numeric(robot)
    if not all(isinstance(x, str | Sequence) for x in (points, frames)):
        raise InputError("points= and frames= must be names of frames, such as points=['FL_foot', 'FR_foot']")
    at_points, at_frames = ((x,) if isinstance(x, str) else tuple(x) for x in (points, frames))
    for name in (*at_points, *at_frames):
        if named_frame(robot, name).body == 0:
            raise InputError(f"frame {printable(name)} is fixed to the base: a contact there constrains nothing")
    held = given_closures(robot, closures)
    if not (*at_points, *at_frames, *held):
        raise InputError("no contacts given: name points=, frames= or closures=; without any, use robot.forward_dynamics")
    for gain, value in (("alpha", alpha), ("beta", beta)):
        if not (isinstance(value, int | float) and np.isfinite(value) and value >= 0.0):
            raise InputError(f"{gain}= must be a non-negative number (1/s), got {value!r}")
    return ConstrainedRobot(robot, Contacts(at_points, at_frames, held, float(alpha), float(beta)))


class ConstrainedRobot(RobotBase):
    """Functions of a robot with rigid contacts and loops; made by `dynamis.constrained`.

    The rows of forces and Jacobians are points, then frames, then closures, named by ``labels``. Forces act on the robot.
    Leading axes are batches.
    """

    def __init__(self, robot: Robot, contacts: Contacts) -> None:
        super().__init__(robot.description, _checked=True)
        self.robot, self.contacts = robot, contacts
        self._traced = Robot(robot.description, _tracing=True)

    def __reduce__(self) -> Any:
        return ConstrainedRobot, (self.robot, self.contacts)

    def __repr__(self) -> str:
        c = self.contacts
        parts = [counted(len(x), one) for x, one in ((c.points, "point"), (c.frames, "frame"), (c.closures, "closure")) if x]
        return short(f"<ConstrainedRobot {printable(self.name)}: {', '.join(parts)}, {counted(self.rows, 'row')}>")

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each row."""
        return self.contacts.labels

    @property
    def rows(self) -> int:
        return len(self.contacts.labels)

    # functions of one state

    def _jacobian_of(self, _model: Any, q: Array, **_: Any) -> Array:
        return constraint_rows(self._traced, self.contacts, q)[0]

    def _delassus_of(self, _model: Any, q: Array, **_: Any) -> Array:
        L, d = factors(self._traced, q)
        Y = solve_upper(L, self._jacobian_of(None, q).T)
        return mirrored(Y.T, (Y / d[:, None]).T)

    def _accelerations_of(self, _model: Any, q: Array, v: Array, tau: Array, *target: Array, **_: Any) -> Array:
        return constrained_accelerations(self._traced, self.contacts, q, v, tau, sum(target))

    def _impulse_of(self, _model: Any, q: Array, v: Array, restitution: Array, **_: Any) -> Array:
        J = self._jacobian_of(None, q)
        return solve_constrained(self._traced, self.contacts, q, J, self._traced.mass_matrix(q) @ v, -restitution[0] * (J @ v))

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

    def forward_dynamics(self, q: Any, v: Any, tau: Any, *, acceleration: Any = None) -> tuple[Array, Array]:
        """Accelerations (…, n) and contact forces (…, rows) under torques τ.

        ``acceleration`` a* (…, rows) of the contacts is zero by default; it is added to the terms of stabilisation. An external
        wrench w at a frame is added to τ as Jᵀ w.
        """
        if acceleration is None:
            found = self._accelerations(q, v, tau)
        else:
            given = self._state(q, v, tau) | {"acceleration": (acceleration, self.rows)}
            found = self._run(self._forward("prescribed"), given)
        n = self.n
        return found[..., :n], found[..., n:]

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
        self,
        t: Any,
        q0: Any = None,
        v0: Any = None,
        *,
        normal: Any = (0.0, 0.0, 1.0),
        lift_off: str = "stop",
        friction: Any = "smooth",
        stabilisation: str = "projection",
        resume: Trajectory | None = None,
        **options: Any,
    ) -> LoopTrajectory:
        """Simulate the robot with its contacts held where they are at q0, and its loops closed.

        Contacts can only push along their ``normal`` (world axes): one value, or a mapping from contacts to values, with None
        for those that may pull, as a handle. Where a contact would have to pull, it lifts off, which is an event: the motion
        ends there (``lift_off`` = "stop"), or goes on without this contact ("release") until it touches again, which is the
        end of the motion too, since an impact follows. Adaptive methods locate lift-off; with fixed steps it is seen at
        output times. Whether a contact would slip or tilt is not checked: see ``constraint_forces`` (N, rows).

        The other ``options`` are those of `loops.simulate_loops`; with ``stabilisation`` "baumgarte" the gains are those of
        `constrained`. v0 must keep the contacts at rest: `impulse` gives such a one.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("go2", base="floating")
        >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
        >>> motion = stance.simulate(0.1, robot.q(robot.description.appearance.pose), points=3)  # the trunk sinks
        >>> motion.status, bool(motion.drift.max() < 1e-12), motion.constraint_forces.shape
        ('completed', True, (3, 12))
        """
        c, names = self.contacts, (*self.contacts.points, *self.contacts.frames)
        normals = {name: n for name, n in per_contact(normal, names, "normal").items() if n is not None}
        gains = (c.alpha, c.beta) if stabilisation == "baumgarte" else (0.0, 0.0)
        if isinstance(resume, LoopTrajectory):
            closures, released = resume.closures, resume.released
        else:
            start = q0 if resume is None else resume.q[0]
            closures, released = self._held(self.robot.home() if start is None else start), {}
        loops = Loops(self.robot, closures, stabilisation, gains, normals, lift_off, released)
        motion = simulate(loops, t, q0, v0, friction=friction, resume=resume, **options)
        assert isinstance(motion, LoopTrajectory)
        return motion

    def _held(self, q0: Any) -> tuple[Closure, ...]:
        """The closures, and anchors of the contacts where they are at q0."""
        c = self.contacts
        q = self.robot.inputs.one_state(q0, self.nq, "q0")
        poses = {name: np.asarray(self.robot.pose(q, name)) for name in (*c.points, *c.frames)}
        held = [Anchor(name, poses[name][:3, 3]) for name in c.points]
        held += [Anchor(name, poses[name][:3, 3], poses[name][:3, :3]) for name in c.frames]
        return (*held, *c.closures)

    def inverse_dynamics(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        friction: Any = None,
        normal: Any = (0.0, 0.0, 1.0),
        support: Any = None,
        actuated: Any = "joints",
    ) -> tuple[Array, Array]:
        """Torques τ (…, n) and contact forces (…, rows) that produce the accelerations a, with the smallest |τ|.

        Torques are zero but at the ``actuated`` coordinates, by default all but those of a free base. ``friction`` is the
        coefficient μ: contact forces are inside the cone |f_t| ≤ μ f_n about the ``normal`` (world axes), and so push only;
        None allows all forces. ``support`` is half the length and width of rectangular feet along x and y of their frames:
        moments at ``frames`` then keep the centre of pressure inside. Each is one value, or a mapping from contacts to values;
        that of ``friction`` names every contact, with None for those that may pull.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("go2", base="floating")
        >>> stance = dy.constrained(robot, points=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
        >>> q, rest = robot.q(robot.description.appearance.pose), np.zeros(18)
        >>> tau, forces = stance.inverse_dynamics(q, rest, rest, friction=0.6)
        >>> bool(abs(forces[2::3].sum() - 9.81 * robot.mass) < 1e-4), tau[:6].any().item()
        (True, False)
        """
        chosen = self.robot.inputs.coordinates(actuated, "actuated")
        b, J = np.asarray(self.robot.inverse_dynamics(q, v, a)), np.asarray(self.jacobian(q))
        contacts = [(name, 3 * k, False) for k, name in enumerate(self.contacts.points)]
        contacts += [(name, 3 * len(self.contacts.points) + 6 * k, True) for k, name in enumerate(self.contacts.frames)]
        axes = {
            name: np.asarray(self.robot.pose(q, name))[..., :3, :3]
            for name, _, pose in contacts
            if pose and support is not None
        }
        return contact_forces(self.robot, b, J, chosen, contacts, axes, friction, normal, support)

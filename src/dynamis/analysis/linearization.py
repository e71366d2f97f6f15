"""Linear model of the dynamics at a state, d δx/dt = A δx + B δu: modes and controllability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.analysis.constrained_linearization import reduce
from dynamis.display import counted, linearization_card, modes_card
from dynamis.errors import InputError, printable
from dynamis.model.joints import Free, Spherical
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, warn_of_actuators, warn_of_open_loops
from dynamis.robot.dry_friction import SmoothedRobot
from dynamis.robot.jumps import warn_at_rest
from dynamis.spatial import motion_cross
from dynamis.tolerances import EPS, NEGLIGIBLE, RANK_TOLERANCE

if TYPE_CHECKING:
    from dynamis.simulation.loops.constrained_robot import ConstrainedRobot

Array = npt.NDArray[Any]

# A double zero eigenvalue of a rigid mode has a Jordan block of size two: rounding of A by ε ‖A‖ moves it by √(ε ‖A‖)
# times its condition, at most 6 on the humanoid of the library.
ZERO_EIGENVALUE_FACTOR = 16.0
SMOOTH = "dynamis.linearize(robot, q, friction_velocity=0.05)"


@dataclass(frozen=True, repr=False)
class Mode:
    """A real eigenvalue λ or a complex conjugate pair λ = −ζ ω ± i ω √(1 − ζ²).

    ``frequency`` is the natural frequency ω / 2π = |λ| / 2π in Hz and ``damping`` is ζ, negative for an unstable mode and ±1
    for a real eigenvalue, which does not oscillate. ``time_constant`` is the time in s in
    which the mode decays (grows, if negative) by the factor e. ``coordinate`` has the largest amplitude; it is empty for a
    repeated eigenvalue, where any basis of a subspace is a set of eigenvectors. Real parts and eigenvalues that are zero up to
    rounding errors are exactly zero.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    time_constant: float
    coordinate: str

    @property
    def oscillates(self) -> bool:
        return self.eigenvalue.imag != 0.0

    @property
    def kind(self) -> str:
        """Stability of the mode."""
        if not self.eigenvalue:
            return "neutral"
        if not self.eigenvalue.real:
            return "undamped"
        return "unstable" if self.eigenvalue.real > 0.0 else "stable"

    def __repr__(self) -> str:
        name = f" of {printable(self.coordinate)}" if self.coordinate else ""
        real = f"eigenvalue {self.eigenvalue.real:.4g} 1/s"
        size = f"{self.frequency:.4g} Hz, damping {self.damping:.4g}" if self.oscillates else real
        return f"<Mode{name}: {self.kind}, {size}>"

    def _repr_html_(self) -> str:
        return modes_card(f"mode of {self.coordinate}" if self.coordinate else "mode", [], [self])


@dataclass(frozen=True, eq=False, repr=False)
class Linearization:
    """Linear model d δx/dt = A δx + B δu + c at (q, v, τ), with x = (q, v), q along the entries of v, u the actuated torques.

    ``acceleration`` is the acceleration at that state, zero at an equilibrium; c holds zeros and its ``coordinates``. Of a
    robot with loops or contacts these m are independent: displacements of all coordinates are ``displacements`` δx[:m].
    """

    robot: Robot | ConstrainedRobot
    q: Array
    v: Array
    tau: Array
    acceleration: Array
    A: Array
    B: Array
    actuated: tuple[str, ...]
    coordinates: tuple[str, ...]
    displacements: Array

    @property
    def state_names(self) -> tuple[str, ...]:
        """A name for each entry of δx."""
        return (*self.coordinates, *(f"{name}'" for name in self.coordinates))

    @property
    def at_equilibrium(self) -> bool:
        """Whether the state is an equilibrium: zero velocity and acceleration."""
        scale = 1.0 + float(np.abs(_acceleration(self.robot, self.q, self.v, np.zeros(self.robot.n))).max(initial=0.0))
        return not self.v.any() and float(np.abs(self.acceleration).max(initial=0.0)) <= NEGLIGIBLE * scale

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eig(self.A)
        return values, vectors

    @cached_property
    def _zero(self) -> float:
        """Size in rad/s below which an eigenvalue, or its real part, is a rounding error."""
        return ZERO_EIGENVALUE_FACTOR * float(np.sqrt(EPS * np.linalg.norm(self.A, 2)))

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues of A (2 n), by decreasing real part."""
        values = self._eigen[0]
        return values[np.lexsort((values.imag, -values.real))]

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The modes, by decreasing real part of the eigenvalue, then by frequency; a conjugate pair is one mode."""
        values, vectors = self._eigen
        # rounding errors turn a double zero into a pair of conjugate or real eigenvalues: each zero is a mode of its own
        values = np.where(np.abs(values) < self._zero, 0.0, values)
        values = np.where(np.abs(values.real) < self._zero, 1j * values.imag, values)
        found = []
        for k in np.lexsort((values.imag, -values.real)):
            if values[k].imag < 0.0:
                continue
            value = complex(values[k])
            size, real = abs(value), value.real
            name = self._dominant(values, vectors, k)
            damping = -real / size if size else 0.0
            found.append(Mode(value, size / (2.0 * np.pi), damping + 0.0, -1.0 / real if real else np.inf, name))
        return tuple(found)

    def _dominant(self, values: Array, vectors: Array, k: int) -> str:
        """The coordinate with the largest amplitude in mode k; empty if its eigenvalue is repeated."""
        if not values[k]:
            return self.neutral_coordinates[0] if self._neutral_basis.shape[1] == 1 else ""
        if (np.abs(values - values[k]) < self._zero).sum() > 1:
            return ""
        return self.coordinates[int(np.abs(vectors[: len(self.coordinates), k]).argmax())]

    @cached_property
    def _neutral_basis(self) -> Array:
        """Orthonormal basis of the displacements δq with zero acceleration, ∂a/∂q δq = 0."""
        m = len(self.coordinates)
        _, s, Vt = np.linalg.svd(self.A[m:, :m])
        return np.asarray(Vt[s <= self._zero**2].T)

    @property
    def neutral_coordinates(self) -> tuple[str, ...]:
        """The coordinates that take part in the displacements δq with zero acceleration, the largest part first.

        The part of a coordinate is the norm of its row in an orthonormal basis of that subspace, whichever basis it is.
        """
        parts = np.linalg.norm(self._neutral_basis, axis=1)
        order = np.argsort(-parts, kind="stable")
        return tuple(self.coordinates[k] for k in order if parts[k] > 0.1)  # of 1

    @property
    def stable(self) -> bool:
        """Whether all eigenvalues have negative real part (asymptotic stability)."""
        return bool((self.eigenvalues.real < -self._zero).all())

    @cached_property
    def controllable_dimension(self) -> int:
        """Dimension of the controllable subspace: rank (B, AB, A²B, …), each power orthonormalised first.

        It is that of constant A and B: away from an equilibrium the state moves on, and they change.
        """
        reached = _orthonormal(self.B)
        while reached.shape[1] < len(self.A):
            further = _orthonormal(np.hstack([reached, _orthonormal(self.A @ reached)]))
            if further.shape[1] == reached.shape[1]:
                break
            reached = further
        return int(reached.shape[1])

    @property
    def controllable(self) -> bool:
        return self.controllable_dimension == len(self.A)

    def discrete(self, h: float) -> tuple[Array, Array]:
        """(A, B) of x' = A x + B u after a time of h seconds with constant inputs: exact for the linear model.

        >>> import dynamis as dy
        >>> A, B = dy.linearize(dy.load("planar_2r_melchiorri"), [-1.5708, 0.0]).discrete(0.01)
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
        """
        from scipy.linalg import expm

        if not isinstance(h, Real) or not 0.0 < h < np.inf:
            raise InputError(f"the step h must be a positive number of seconds, got {h!r}")
        states, inputs = self.B.shape
        both = np.zeros((states + inputs, states + inputs))
        both[:states] = np.hstack([self.A, self.B])
        with np.errstate(all="ignore"):
            found = expm(h * both)[:states]
        if not np.isfinite(found).all():
            raise InputError(f"the linear model grows beyond all numbers within h = {h:g} s: choose a shorter step")
        return found[:, :states], found[:, states:]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "robot": self.robot.name, "q": self.q.tolist(), "v": self.v.tolist(), "tau": self.tau.tolist(),
            "acceleration": self.acceleration.tolist(), "at_equilibrium": self.at_equilibrium,
            "state": list(self.state_names), "input": list(self.actuated), "A": self.A.tolist(), "B": self.B.tolist(),
            "eigenvalues": [{"real": float(x.real), "imag": float(x.imag)} for x in self.eigenvalues],
            "modes": [
                {
                    "real": mode.eigenvalue.real, "imag": mode.eigenvalue.imag, "frequency": mode.frequency,
                    "damping": mode.damping, "time_constant": mode.time_constant, "coordinate": mode.coordinate,
                    "kind": mode.kind,
                }
                for mode in self.modes
            ],
            "neutral_coordinates": list(self.neutral_coordinates),
            "stable": self.stable, "controllable_dimension": self.controllable_dimension, "controllable": self.controllable,
        }  # fmt: skip

    def __repr__(self) -> str:
        can = "controllable" if self.controllable else f"{self.controllable_dimension} controllable"
        what = f"{counted(len(self.A), 'state')}, {can}, {counted(len(self.actuated), 'input')}, {self.modes[0].kind}"
        at = "" if self.at_equilibrium else ", not at an equilibrium"
        return f"<Linearization of {printable(self.robot.name)}: {what}{at}>"

    def _repr_html_(self) -> str:
        return linearization_card(self)


def linearize(
    robot: Robot | ConstrainedRobot, q: Any, v: Any = None, tau: Any = None, *, actuated: Any = "joints",
    friction_velocity: float | None = None, independent: Any = None,
) -> Linearization:  # fmt: skip
    """Linearise the dynamics at a state; v defaults to zero, τ to the torques that give zero acceleration.

    Without ``tau`` the actuated torques are chosen for zero acceleration, as far as possible. ``actuated`` names the
    coordinates whose torques are the inputs; by default all but those of a free base.

    A robot of `dynamis.constrained` is linearised with its contacts and loops held, in ``independent`` coordinates, given by
    name or chosen automatically.

    Dry friction is treated as constant, as in a sliding joint: A holds during motion. At rest, where dry friction jumps and
    holds the joint, a `ModelWarning` says so. With ``friction_velocity``, in rad/s or m/s, dry friction is coulomb_bias +
    coulomb · tanh(v / friction_velocity), whose slope damps motions much slower than that; not with contacts and loops.

    >>> import dynamis as dy
    >>> hanging = dy.load("planar_2r_melchiorri")
    >>> near = dy.linearize(hanging, [-1.5708, 0.0])
    >>> near.A.shape, near.B.shape, near.controllable
    ((4, 4), (4, 2), True)
    >>> [mode.kind for mode in near.modes]
    ['undamped', 'undamped']
    >>> loop = dy.loops.four_bar()
    >>> dy.linearize(loop, loop.home(), actuated=["crank"], independent=["crank"]).A.shape
    (2, 2)
    """
    dynamics: Any = robot
    constrained = _is_constrained(robot)
    tree: Robot = dynamics.robot if constrained else dynamics
    check_numeric(tree)
    n, inputs = tree.n, tree.inputs
    if not n:
        raise InputError("a robot without moving joints has no dynamics to linearize")
    at = inputs.one_state(q, tree.nq, "q").astype(float)
    rates = np.zeros(n) if v is None else inputs.one_state(v, n, "v").astype(float)
    torques = None if tau is None else inputs.one_state(tau, n, "tau").astype(float)
    columns = inputs.coordinates(actuated, "actuated")
    warn_of_actuators(tree, "the linear model")
    if friction_velocity is None:
        warn_at_rest(tree, "the dynamics", rates, SMOOTH)
        if "the dynamics" in tree.evaluator.warned:  # of the same derivative
            tree.evaluator.warned.update(("forward_dynamics", "constrained(…).forward_dynamics"))
    if constrained:
        if friction_velocity is not None:
            raise InputError("friction_velocity= is for robots without contacts and loops; give viscous friction instead")
        names, T, V, held = reduce(dynamics, at, rates, torques, columns, independent)
        da: Any = dynamics.forward_dynamics_derivatives(at, rates, held)[0]
    else:
        if independent is not None:
            raise InputError("independent= chooses coordinates of a robot with contacts or loops: dynamis.constrained(robot)")
        warn_of_open_loops(tree, "the linear model")
        if friction_velocity is not None:
            dynamics = SmoothedRobot(tree, friction_velocity)
        rest = dynamics.inverse_dynamics(at, rates, np.zeros(n))
        held = np.where(np.isin(np.arange(n), columns), rest, 0.0) if torques is None else torques
        names, T, V = tuple(tree.coordinate_names), np.eye(n), np.zeros((n, n))
        da = dynamics.forward_dynamics_derivatives(at, rates, held)
    rows, m = [tree.coordinate_names.index(name) for name in names], len(names)
    slopes = (da.dq @ T + da.dv @ V, da.dv @ T)
    A = np.block([[(_carried(tree, rates) @ T)[rows], np.eye(m)], [slopes[0][rows], slopes[1][rows]]])
    B = np.vstack([np.zeros((m, len(columns))), da.dtau[np.ix_(rows, columns)]])
    driven = tuple(tree.coordinate_names[k] for k in columns)
    return Linearization(robot, at, rates, held, _acceleration(dynamics, at, rates, held), A, B, driven, names, T)


def _is_constrained(robot: Any) -> bool:
    """Whether this is a robot with contacts or loops, of `dynamis.constrained`."""
    return not isinstance(robot, Robot) and hasattr(robot, "reduced_dynamics")


def _acceleration(robot: Any, q: Array, v: Array, tau: Array) -> Array:
    found = robot.forward_dynamics(q, v, tau)
    return np.asarray(found[0] if isinstance(found, tuple) else found)


def _carried(robot: Robot, v: Array) -> Array:
    """The rate of change of δq due to the moving frames: −v× for spherical and free joints."""
    result = np.zeros((robot.n, robot.n))
    for _, body in robot.model.moving:
        if isinstance(body.motion, Spherical | Free):
            dof, S = list(body.dof), body.motion.S
            twist = S @ v[dof]
            result[np.ix_(dof, dof)] = -S.T @ np.column_stack([motion_cross(twist, column) for column in S.T])
    return result


def _orthonormal(X: Array) -> Array:
    """An orthonormal basis of the column space."""
    if not X.size:
        return X[:, :0]
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return np.asarray(U[:, s > RANK_TOLERANCE * s[0]])

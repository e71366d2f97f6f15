"""One step of a robot for numbers and symbols, and the derivatives of its accelerations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import configuration_rate
from dynamis.algorithms.configurations import dexp_inverse, lie_bracket
from dynamis.algorithms.kinematics import MovingBase
from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.model.body_values import BodyValues
from dynamis.optimize.feedback_law import Feedback, FeedbackLaw
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.robot.compilation import checked_symbols
from dynamis.robot.dry_friction import without_dry_friction
from dynamis.scalar import Node, pulled_back, solve_positive, tanh, where
from dynamis.simulation.motion import any_nonzero
from dynamis.spatial import Pose
from dynamis.tolerances import RECURSION_ROUNDING, TANH_SERIES_TWO_TERMS
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]
# cᵢ and bᵢ of explicit Runge–Kutta methods
TABLEAUS = {"rk2": ((0.0, 0.5), (0.0, 1.0)), "rk4": ((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6))}
METHODS = ("euler", *TABLEAUS)
ITERATIONS = 100  # of friction torques; a few suffice
NAMED = 6  # joints at most in a message
BASE = 12  # numbers of the motion of the base: twist and acceleration


class StepDynamics:
    """What a step consists of; `Step` has the arguments.

    ``places`` says where torques (or references of the feedback), wrenches and the motion of the base stand in u.
    """

    def __init__(
        self, robot: Robot, h: float, method: str, actuated: Any, friction_velocity: float, parameters: Sequence[Node],
        wrenches: Sequence[str], moving_base: bool, feedback: Feedback | None, references: int | None,
    ) -> None:  # fmt: skip
        self.parameters = checked_symbols(parameters)
        check_numeric(robot, self.parameters)
        if method not in METHODS:
            raise InputError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
        if feedback is not None and not callable(feedback):
            raise InputError(f"feedback= must be a function of (robot, q, v, r), got {type(feedback).__name__}")
        if references is not None and (feedback is None or not isinstance(references, int) or references < 0):
            raise InputError(f"references= is the number of references of feedback=, got {references!r}")
        self.robot, self.h, self.method, self.feedback = robot, positive(h, "the step h"), method, feedback
        self.friction_velocity = positive(friction_velocity, "friction_velocity")
        self.smooth = without_dry_friction(robot)
        self.columns = robot.inputs.actuated(actuated)
        if not isinstance(wrenches, Iterable):
            raise InputError(f"wrenches= are names of frames, such as ['tool0'], got {wrenches!r}")
        names = [wrenches] if isinstance(wrenches, str) else wrenches
        self.frames = tuple(frame.name for frame in robot.model.distinct_frames(names))
        sizes = {"tau": len(self.columns) if references is None else references}
        sizes |= {f"wrench on {frame}": 6 for frame in self.frames}
        sizes |= {"base": BASE} if moving_base else {}
        self.places, end = {}, 0
        for name, size in sizes.items():
            self.places[name] = slice(end, end + size)
            end += size
        self._plain = robot.nq == robot.n
        self._further = bool(self.parameters or self.frames or moving_base)
        self._damped = method == "euler" and (any_nonzero(robot.model.viscous) or any_nonzero(robot.model.coulomb))
        self._law = None
        if feedback is not None:
            self._law = FeedbackLaw(robot, feedback, self.parameters, self.places["tau"].stop, len(self.columns))
        self._refuse_unused()
        self._bodies = BodyValues(robot.description, self.parameters)

    def __getstate__(self) -> dict[str, Any]:
        """All but compiled code, which is made again."""
        return {k: x for k, x in self.__dict__.items() if not isinstance(getattr(type(self), k, None), cached_property)}

    def _refuse_unused(self) -> None:
        """Refuse parameters that are neither symbols of the robot nor of the feedback."""
        known = self.robot.description.symbol_names()
        foreign = [str(x) for x in self.parameters if str(x) not in known]
        whose = f"robot {printable(self.robot.name)} does not contain"
        if foreign and self._law is not None:
            foreign = [name for name in foreign if name not in self._law.symbols]
            whose = f"neither robot {printable(self.robot.name)} nor feedback= contains"
        if foreign:
            names = f"the symbols of the robot are {', '.join(map(printable, known))}" if known else "the robot has no symbols"
            raise InputError(
                f"parameters= has the symbol {printable(foreign[0])}, which {whose}; {names}, and robot.replace(…) adds "
                "some, such as robot.replace(gravity=[0, 0, -dynamis.symbol('g')])"
            )

    @property
    def inputs(self) -> int:
        """m, the length of u."""
        return max(place.stop for place in self.places.values())

    @cached_property
    def input_names(self) -> str:
        """What the entries of u are, in words."""
        names = [printable(self.robot.coordinate_names[k]) for k in self.columns]
        listed = ", ".join(names if len(names) <= NAMED else [*names[: NAMED - 1], "…", names[-1]])
        count = self.places["tau"].stop
        own = f"the torques of the motors, of {counted(count, 'actuated joint')} ({listed})"
        if self._law is not None:
            own = f"{counted(count, 'reference')} of feedback="
        sizes = {"base": "the motion of the base (twist, acceleration)"}
        more = [f"{p.stop - p.start} of {sizes.get(name, f'the {name}')}" for name, p in self.places.items() if name != "tau"]
        return "; ".join([own, *more])

    def friction(self, v: Array) -> Array:
        """The torques of the smoothed dry friction."""
        model = self.robot.model
        return np.asarray(model.coulomb_bias + model.coulomb * tanh(v / self.friction_velocity))

    def taken(self, robot: Robot, q: Array, v: Array, u: Array, h: Any) -> tuple[Array, Array]:
        """(q', v') after a step of length h."""
        change, v_new = self._change(robot, q, v, u, h)
        return self._placed(robot, q, change), v_new

    def _change(self, robot: Robot, q: Array, v: Array, u: Array, h: Any) -> tuple[Array, Array]:
        """The change of the configuration in a step, and v'; the stages are those of H. Munthe-Kaas (1999)."""
        u = self.commanded(robot, q, v, u)
        if self.method == "euler":
            v_new = v + h * self._rate(robot, q, v, u, h)
            return h * v_new, v_new
        c, b = TABLEAUS[self.method]
        k = [(v, self._rate(robot, q, v, u, h))]
        for part in c[1:]:
            moved, at_v = part * h * k[-1][0], v + part * h * k[-1][1]
            rate = at_v if self._plain else dexp_inverse(robot.model, moved, at_v)
            k.append((rate, self._rate(robot, self._placed(robot, q, moved), at_v, u, h)))
        rates, acceleration = (sum(weight * x[i] for weight, x in zip(b, k, strict=True) if weight) for i in (0, 1))
        return h * rates, v + h * acceleration

    def pulled_back(self, robot: Robot, q: Array, v: Array, u: Array, costate: Array) -> Array:
        """Aᵀ λ, Bᵀ λ and (∂x'/∂p)ᵀ λ in a row for the costate λ, on symbols, by one backward sweep through the step."""
        n, nq, model = robot.n, robot.nq, robot.model
        change, v_new = self._change(robot, q, v, u, self.h)
        direct = weights = costate[:n]
        if not self._plain:
            carried, moved = robot.integrate_derivatives(q, change)
            direct, weights = carried.T @ direct, moved.T @ weights
        slopes = pulled_back([*change, *v_new], [*weights, *costate[n:]], [*q, *v, *u, *self.parameters])
        along = slopes[:nq]
        if not self._plain:
            along = np.array([along @ configuration_rate(model, q, unit) for unit in np.eye(n)])
        return np.concatenate([direct + along, slopes[nq:]])

    def function(self, robot: Robot, q: Array, v: Array, u: Array) -> Array:
        """(q', v') in one array: for `robot.compile`, `robot.casadi`, `robot.jax` and `robot.torch` with ``u=m``."""
        return np.concatenate(self.taken(robot, q, v, u, self.h))

    def continuous(self, robot: Robot, q: Array, v: Array, u: Array) -> Array:
        """(q̇, v̇) of the motion that the steps approximate."""
        return np.concatenate(
            [configuration_rate(robot.model, q, v), self._rate(robot, q, v, self.commanded(robot, q, v, u), 0.0)]
        )

    def residual(self, robot: Robot, q: Array, v: Array, a: Array, u: Array, h: Any = 0.0) -> Array:
        """The equation of motion, zero for the acceleration a of a step of length h; u has torques, also with a feedback."""
        tau, wrenches, base = self._forces(u)
        left = without_dry_friction(robot).inverse_dynamics(q, v, a, wrenches, base=base) - tau
        if self._damped:
            D = self._damping(v, h, *self._undamped(robot, q, v, u))
            return left - robot.model.viscous * v + robot.model.coulomb_bias + D * (v + h * a)
        return left if self.smooth is self.robot else left + self.friction(v)

    def commanded(self, robot: Robot, q: Array, v: Array, u: Array) -> Array:
        """u with the torques of the feedback in place of its references."""
        if self._law is None:
            return u
        place = self.places["tau"]
        return np.concatenate([self._law(robot, q, v, u[place]), u[place.stop :]])

    def _rate(self, robot: Robot, q: Array, v: Array, u: Array, h: Any) -> Array:
        """The acceleration."""
        if self._damped:
            M, b = self._undamped(robot, q, v, u)
            D = self._damping(v, h, M, b)
            return solve_positive(M + np.diag(h * D), b - D * v)
        tau, wrenches, base = self._forces(u)
        if self.smooth is not self.robot:
            tau = tau - self.friction(v)
        return without_dry_friction(robot).forward_dynamics(q, v, tau, wrenches, base=base)

    def _undamped(self, robot: Robot, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """M and b of the equation M a + D (v + h a) = b, where D are the `_damping` torques divided by the new velocities."""
        lean, (tau, wrenches, base), model = without_dry_friction(robot), self._forces(u), robot.model
        rest = lean.inverse_dynamics(q, v, np.zeros(robot.n), wrenches, base=base) - model.viscous * v
        return lean.mass_matrix(q), tau - rest - model.coulomb_bias

    def _forces(self, u: Array) -> tuple[Array, dict[str, Array] | None, MovingBase | None]:
        """Torques of all coordinates, wrenches on frames, and the motion of the base."""
        m, dtype = len(self.columns), object if u.dtype == object else float
        tau = np.zeros(self.robot.n, dtype)
        tau[self.columns] = u[:m]
        more = np.split(u[m:], range(6, len(u) - m, 6)) if len(u) > m else []
        wrenches = dict(zip(self.frames, more[: len(self.frames)], strict=True)) or None
        return tau, wrenches, MovingBase(Pose.identity(), more[-2], more[-1]) if "base" in self.places else None

    def _damping(self, v: Array, h: Any, M: Array, b: Array) -> Array:
        """The friction torques divided by the velocities: those of the new velocities that a step with those of v leads to."""
        D = self._damping_of(v)
        if not any_nonzero(self.robot.model.coulomb):
            return D
        left, right = M + h * D[..., None] * np.eye(self.robot.n), b - D * v
        a = solve_positive(left, right) if v.ndim == 1 else np.linalg.solve(left, right[..., None])[..., 0]
        return self._damping_of(v + h * a)

    def _damping_of(self, v: Array) -> Array:
        """The friction torques at v, divided by v: c + β tanh(v / w) / v."""
        model, width = self.robot.model, self.friction_velocity
        if not any_nonzero(model.coulomb):
            return np.broadcast_to(model.viscous, v.shape)
        return np.asarray(model.viscous + model.coulomb / width * _quotient(v / width))

    def _damping_at(self, q: Array, v: Array, a: Array) -> Array:
        """`_damping` of the torques that give the acceleration a, by fixed-point iteration."""
        M, v_new = self.smooth.mass_matrix(q), v + self.h * a
        D = self._damping_of(v_new)
        for _ in range(ITERATIONS):
            b = np.einsum("...ij,...j->...i", M, a) + D * v_new
            before, D = D, self._damping(v, self.h, M, b)
            if np.all(np.abs(D - before) <= RECURSION_ROUNDING * np.abs(D)):
                break
        return D

    def _change_rate(self, u: Array, v: Array, D_u: Array, D_v: Array) -> tuple[Array, Array]:
        """The rate of a change u of the configuration at the velocity v, and its derivative."""
        if self._plain:
            return v, D_v
        model, columns = self.robot.model, partial(np.swapaxes, axis1=-1, axis2=-2)
        bracket = partial(lie_bracket, model)
        u_row, v_row, D_u, D_v = u[..., None, :], v[..., None, :], columns(D_u), columns(D_v)
        first, D_first = bracket(u_row, v_row), bracket(D_u, v_row) + bracket(u_row, D_v)
        D_second = bracket(D_u, first) + bracket(u_row, D_first)
        return dexp_inverse(model, u, v), columns(D_v + 0.5 * D_first + D_second / 12.0)

    def _placed(self, robot: Robot, q: Array, change: Array) -> Array:
        return q + change if self._plain else robot.integrate(q, change)

    # derivatives at batches of states: D_x is the derivative of x with respect to all variables

    def _linear_command(
        self, q: Array, v: Array, u: Array, p: Sequence[Array], D_x: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array]:
        """u with the torques of the feedback, and its derivative."""
        if self._law is None:
            return u, D_x[2]
        J = self._command.jacobian(q, v, u, *p)
        return np.asarray(self._command.value(q, v, u, *p)), self._along(self._command, J, D_x)

    def _acceleration(
        self, q: Array, v: Array, u: Array, p: Sequence[Array], D_x: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array]:
        """The acceleration, and its derivative from those of q, v, u and p."""
        if not self._further:
            return (self._implicit if self._damped else self._explicit)(q, v, u, *D_x[:3])
        a = np.asarray(self._rates(q, v, u, *p))
        if not np.isfinite(a).all():
            raise np.linalg.LinAlgError("the accelerations are not finite")
        J, n = self._equation.jacobian(q, v, a, u, *p), self.robot.n
        return a, -np.linalg.solve(J[..., 2 * n : 3 * n], self._along(self._equation, J, (*D_x[:2], None, *D_x[2:])))

    @staticmethod
    def _along(function: Any, J: Array, D_x: Sequence[Array | None]) -> Array:
        """J times the derivatives of the arguments, without those that are None."""
        parts = [J[..., place] @ D for place, D in zip(function.places.values(), D_x, strict=False) if D is not None]
        return np.asarray(sum(parts))

    @cached_property
    def _command(self) -> Any:
        return self.robot.differentiate(self._named_feedback, parameters=self.parameters, u=self.inputs)

    @cached_property
    def _command_kernel(self) -> Any:
        return self.robot.compile(self._named_feedback, parameters=self.parameters, u=self.inputs)

    @property
    def _named_feedback(self) -> Callable[..., Array]:
        """`commanded`, under the name of the user's function."""

        def feedback(robot: Robot, q: Array, v: Array, u: Array) -> Array:
            return self.commanded(robot, q, v, u)

        feedback.__name__ = "feedback" if self._law is None else self._law.name
        return feedback

    @cached_property
    def _rates(self) -> Any:
        def rate(robot: Robot, q: Array, v: Array, u: Array) -> Array:
            return self._rate(robot, q, v, u, self.h)

        return self.robot.compile(rate, parameters=self.parameters, u=self._commands)

    @cached_property
    def _equation(self) -> Any:
        """The equation of motion, whose derivatives give those of the accelerations."""

        def equation(robot: Robot, q: Array, v: Array, a: Array, u: Array) -> Array:
            return self.residual(robot, q, v, a, u, self.h)

        return self.robot.differentiate(equation, parameters=self.parameters, u=self._commands)

    @property
    def _commands(self) -> int:
        """The length of u with torques in place of references."""
        return self.inputs - self.places["tau"].stop + len(self.columns)

    def _explicit(self, q: Array, v: Array, u: Array, D_q: Array, D_v: Array, D_u: Array) -> tuple[Array, Array]:
        """`_acceleration` by the derivatives of the forward dynamics."""
        tau = self._torques(v, u)
        if dry := self.smooth is not self.robot:
            tau = tau - self.friction(v)
        da = self.smooth.forward_dynamics_derivatives(q, v, tau)
        dv = da.dv
        if dry:
            width = self.friction_velocity
            dv = dv - da.dtau * ((1.0 - np.tanh(v / width) ** 2) * (self.robot.model.coulomb / width))[..., None, :]
        return self.smooth.forward_dynamics(q, v, tau), da.dq @ D_q + dv @ D_v + da.dtau[..., self.columns] @ D_u

    def _implicit(self, q: Array, v: Array, u: Array, D_q: Array, D_v: Array, D_u: Array) -> tuple[Array, Array]:
        """`_acceleration` where friction acts against the new velocity: the derivatives of its equation, solved for D_a."""
        model, width, unit = self.robot.model, self.friction_velocity, np.eye(self.robot.n)
        M = self.smooth.mass_matrix(q)
        rest = self.smooth.inverse_dynamics(q, v, np.zeros(self.robot.n)) - model.viscous * v
        b = self._torques(v, u) - rest - model.coulomb_bias

        def accelerated(D: Array, D_D: Array) -> tuple[Array, Array]:
            """The acceleration with the damping D, and its derivative."""
            inverse = np.linalg.inv(M + self.h * D[..., None] * unit)
            a = np.einsum("...ij,...j->...i", inverse, b - D * v)
            ahead = self.smooth.inverse_dynamics_derivatives(q, v, a)
            dv = ahead.dv + (D - model.viscous)[..., None] * unit
            changes = ahead.dq @ D_q + dv @ D_v + (v + self.h * a)[..., None] * D_D
            return a, inverse[..., self.columns] @ D_u - inverse @ changes

        def damping(v: Array, D_v: Array) -> tuple[Array, Array]:
            x = v / width
            small = np.abs(x) < TANH_SERIES_TWO_TERMS
            safe = np.where(small, 1.0, x)
            slope = np.where(small, -2.0 / 3.0 * x, (1.0 - np.tanh(x) ** 2 - np.tanh(x) / safe) / safe)  # of tanh(x) / x
            return self._damping_of(v), (model.coulomb / width**2 * slope)[..., None] * D_v

        a, D_a = accelerated(*damping(v, D_v))
        return accelerated(*damping(v + self.h * a, D_v + self.h * D_a)) if any_nonzero(model.coulomb) else (a, D_a)

    def _torques(self, v: Array, u: Array) -> Array:
        tau = np.zeros((*np.broadcast_shapes(v.shape[:-1], u.shape[:-1]), self.robot.n))
        tau[..., self.columns] = u
        return tau

    def _moved(self, q: Array, change: Array, D_q: Array, D_change: Array) -> Array:
        """The derivative of a configuration after a change."""
        if self._plain:
            return D_q + D_change
        both = np.asarray(self._manifold[1](q, change))
        return np.asarray(both[..., 0, :, :] @ D_q + both[..., 1, :, :] @ D_change)

    def _placed_at(self, q: Array, change: Array) -> Array:
        """`_placed` of batches."""
        return q + change if self._plain else np.asarray(self._manifold[0](q, change))

    @cached_property
    def _manifold(self) -> list[Any]:
        """Integration of configurations and its derivatives; compiled where methods of a symbolic robot take one state."""
        robot, functions = self.robot, (_integrate, _integrate_derivatives)
        if robot.model.symbolic:
            return [robot.compile(function, dv=robot.n) for function in functions]
        return [partial(function, robot) for function in functions]


def _quotient(x: Array) -> Array:
    """tanh(x) / x."""
    small = np.less(abs(x), TANH_SERIES_TWO_TERMS, dtype=object if x.dtype == object else bool)
    return np.asarray(where(small, 1.0 - x * x / 3.0, tanh(x) / where(small, 1.0, x)))


def _integrate(robot: Robot, q: Array, dv: Array) -> Array:
    return robot.integrate(q, dv)


def _integrate_derivatives(robot: Robot, q: Array, dv: Array) -> Array:
    return np.stack(robot.integrate_derivatives(q, dv), axis=-3)

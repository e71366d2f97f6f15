"""Steps of fixed length, x' = f(x, u, p), with their derivatives: the discrete dynamics that optimal control works with.

A state x is (q, v). Derivatives are along the entries of v, so that A is 2n × 2n for robots with quaternions too. The stages of
an explicit Runge–Kutta method are states reached from the start with the rates of the stage before: xᵢ = x ⊕ cᵢ h kᵢ₋₁ and
x' = x ⊕ h Σ bᵢ kᵢ, where ⊕ adds velocities and moves configurations on their manifold.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.compiler.batches import broadcast_batch
from dynamis.compiler.cuda import as_cupy, cupy_if_used, on_gpu
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import Table, march
from dynamis.display import counted
from dynamis.errors import InputError, ModelWarning
from dynamis.optimize.backward_sweep import BackwardSweep
from dynamis.optimize.feedback_law import Feedback
from dynamis.optimize.step_dynamics import TABLEAUS, StepDynamics
from dynamis.optimize.step_failure import refuse_failure, refuse_singular
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_actuators, warn_of_open_loops
from dynamis.robot.jumps import IN_FUNCTIONS, warn_of_jumps
from dynamis.scalar import Node

Array = npt.NDArray[Any]


class StepDerivatives(NamedTuple):
    """A = ∂x'/∂x (…, 2n, 2n) and B = ∂x'/∂u (…, 2n, m)."""

    A: Array
    B: Array


class Gradient(NamedTuple):
    """Gradient of a cost of a motion by its initial state (…, 2n), its inputs (N, …, m) and the parameters (…, k)."""

    start: Array
    inputs: Array
    parameters: Array


class Sensitivities(NamedTuple):
    """∂x/∂x₀ (N + 1, …, 2n, 2n) and ∂x/∂p (N + 1, …, 2n, k) along a motion."""

    start: Array
    parameters: Array


class Step(StepDynamics):
    """A step of length h with constant inputs: ``step(q, v, u)`` returns (q', v'), for one state or a batch.

    ``method`` is "euler" (semi-implicit: the configuration moves with the new velocity), "rk2" (explicit midpoint) or "rk4".
    u are the torques of the ``actuated`` coordinates, by default of all but those of a free base. Dry friction, which has no
    derivative at rest, is replaced by coulomb_bias + coulomb · tanh(v / friction_velocity). In "euler", friction acts against
    the new velocity, so that strong friction of light links needs no short steps.

    Further variables: ``parameters`` are symbols of the robot and of the feedback (masses, friction, gravity, gains); their
    values p are the argument after u. u also has the wrenches on the frames ``wrenches``, in world axes, and with
    ``moving_base`` the twist and the acceleration of the base in its own axes, with its pose as in the model. With
    ``feedback(robot, q, v, r)``, evaluated at the beginning of the step, u has ``references`` numbers r, by default one for
    each actuated coordinate, in place of torques; it is recorded here. ``places`` says where each stands in u.

    >>> import dynamis as dy
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> step = dy.optimize.Step(robot, 0.01, "rk4")
    >>> q, v = step([0.3, 0.5], [0.0, 0.0], [1.0, 0.0])
    >>> step.derivatives([0.3, 0.5], [0.0, 0.0], [1.0, 0.0]).B.shape
    (4, 2)
    >>> m = dy.symbol("m")
    >>> loaded = dy.optimize.Step(robot.replace(payload=dy.solids.sphere(0.05, mass=m)), 0.01, parameters=[m])
    >>> loaded.parameter_derivatives([0.3, 0.5], [0.0, 0.0], [1.0, 0.0], [0.5]).shape
    (4, 1)
    """

    def __init__(
        self, robot: Robot, h: float, method: str = "euler", *, actuated: Any = "joints", friction_velocity: float = 0.05,
        parameters: Sequence[Node] = (), wrenches: Sequence[str] = (), moving_base: bool = False,
        feedback: Feedback | None = None, references: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(robot, h, method, actuated, friction_velocity, parameters, wrenches, moving_base, feedback, references)
        warn_of_actuators(robot, "the step", limited=True)
        warn_of_open_loops(robot, "the step")

    def __repr__(self) -> str:
        parameters = f", {counted(len(self.parameters), 'parameter')}" if self.parameters else ""
        return f"<Step of {self.robot.name}: {self.h:g} s, {self.method}, {counted(self.inputs, 'input')}{parameters}>"

    def __call__(self, q: Any, v: Any, u: Any, p: Any = None) -> tuple[Array, Array]:
        q, v, u, *p = self._checked(q, v, u, p)
        found = self._kernel(_joined(q, v), np.zeros(1), np.array([self.h]), u, *p)
        refuse_failure(self, found, q, v, u, *p)
        return found[..., : self.robot.nq], found[..., self.robot.nq :]

    def rollout(self, q: Any, v: Any, u: Any, p: Any = None) -> tuple[Array, Array]:
        """(q, v) at the N + 1 ends of the steps with inputs u (N, …, m) and parameters p (…, k)."""
        q, v, u, p = _on_one_device(q, v, u, p)
        u = self._sequence(u)
        start, p = self._start(q, v, u, p)
        states = np.concatenate([start[None], self._states(start, u, p)])
        if not on_gpu(states) and not (finite := np.isfinite(states).all(axis=-1)).all():
            first = (
                int(np.argmax(~finite.all(axis=tuple(range(1, finite.ndim))))) if finite.ndim > 1 else int(np.argmin(finite))
            )
            lost = tuple(np.argwhere(~finite[first])[0])
            values = [np.broadcast_to(x, (*finite.shape[1:], x.shape[-1]))[lost] for x in p]
            refuse_singular(self, states[first - 1][lost][: self.robot.nq], *values)
            advice = "" if self.method == "euler" else ", or method 'euler', which is implicit in friction"
            warnings.warn(f"the motion diverges in step {first}: use a shorter step h{advice}", ModelWarning, stacklevel=2)
        return states[..., : self.robot.nq], states[..., self.robot.nq :]

    def derivatives(self, q: Any, v: Any, u: Any, p: Any = None) -> StepDerivatives:
        """A and B at states, inputs and parameters, by the chain rule over the stages."""
        q, v, u, *p = self._checked(q, v, u, p)
        return StepDerivatives(*np.split(self._linearised(q, v, u, p), self._columns, axis=-1)[:2])

    def parameter_derivatives(self, q: Any, v: Any, u: Any, p: Any) -> Array:
        """∂x'/∂p (…, 2n, k)."""
        q, v, u, *p = self._checked(q, v, u, p)
        return self._linearised(q, v, u, p)[..., self._columns[1] :]

    def weighted_hessian(self, q: Any, v: Any, u: Any, weights: Any, p: Any = None) -> Array:
        """Σ λᵢ ∂²x'ᵢ/∂(x, u, p)² (…, 2n + m + k, 2n + m + k) for the weights λ (…, 2n).

        Where q holds quaternions, changes of q and of the next one are rotation vectors: those of `integrate` and `difference`.
        """
        q, v, u, *p = self._checked(q, v, u, p)
        if self._plain:
            found = np.asarray(self._differentiated.weighted_hessian(q, v, u, *p, weights))
        else:  # of the derivative of Aᵀ λ, what is not symmetric comes from directions that do not commute
            slopes = np.asarray(self._pullback_derivatives.jacobian(q, v, u, weights, *p))
            found = np.asarray(slopes + slopes.swapaxes(-1, -2)) / 2.0
        refuse_failure(self, found, q, v, u, *p, np.asarray(weights))
        return found

    def gradient(self, q: Any, v: Any, u: Any, states: Any, inputs: Any = 0.0, p: Any = None) -> Gradient:
        """Gradient of a cost of the motion (q, v) (N + 1, …) with the inputs u (N, …, m), by one backward sweep.

        ``states`` (N + 1, …, 2n) and ``inputs`` (N, …, m) are the derivatives of the cost with respect to each state, along
        the entries of v, and each input: λₖ = ∂J/∂xₖ + Aₖᵀ λₖ₊₁. Arrays on a GPU stay there; there, arrays of single
        precision give results of single precision.
        """
        q, v, u, p = _on_one_device(q, v, u, p)
        q, v, u, *p = self._motion(q, v, u, p)
        slopes = _spread(states, (*q.shape[:-1], 2 * self.robot.n), q, "states")
        batch = q.shape[1:-1]
        sweep = BackwardSweep(self._pullback, slopes[-1], _spread(inputs, (len(u), *batch, u.shape[-1]), q, "inputs"))
        sweep.through(q, v, u, p, slopes, 0)
        return Gradient(*sweep.found)

    def rollout_gradient(
        self, q: Any, v: Any, u: Any, states: Callable[[int, Array, Array], Any], inputs: Any = 0.0, p: Any = None
    ) -> Gradient:
        """`gradient` of the rollout from (q, v), with the memory of some 2 √N states beside u instead of N.

        Every √N-th state is kept; the others are computed again, part by part, in the backward sweep. ``states(first, q, v)``
        returns the derivatives of the cost (K, …, 2n) with respect to the states ``first``, first + 1, …, given as q and v.
        """
        q, v, u, p = _on_one_device(q, v, u, p)
        u = self._sequence(u)
        start, p = self._start(q, v, u, p)
        if not callable(states):
            raise InputError(f"states must be a function of (first, q, v), got {type(states).__name__}; see `gradient`")
        nq, width, parts = self.robot.nq, 2 * self.robot.n, self._parts(len(u))
        kept = [start]
        for part in parts:
            kept.append(self._states(kept[-1], u[part], p, last=True)[0])
            if not np.isfinite(kept[-1]).all():
                raise InputError(f"the motion diverges in steps {part.start} to {part.stop}: use a shorter step h")

        def slopes(first: int, x: Array) -> Array:
            given = states(first, x[..., :nq], x[..., nq:])
            return _spread(given, (*x.shape[:-1], width), x, f"the derivatives with respect to states {first}, …")

        shape = (*u.shape[:1], *start.shape[:-1], u.shape[-1])
        end = slopes(len(u), kept.pop()[None])[0]
        sweep = BackwardSweep(self._pullback, end, _spread(inputs, shape, start, "inputs"))
        for part in reversed(parts):
            first = kept.pop()[None]
            x = np.concatenate([first, self._states(first[0], u[part][:-1], p)]) if part.stop - part.start > 1 else first
            sweep.through(x[..., :nq], x[..., nq:], u[part], p, slopes(part.start, x), part.start)
        return Gradient(*sweep.found)

    def sensitivities(self, q: Any, v: Any, u: Any, p: Any = None) -> Sensitivities:
        """∂xₖ/∂x₀ and ∂xₖ/∂p of all states of the motion (q, v) (N + 1, …) with the inputs u: Sₖ₊₁ = Aₖ Sₖ + (0, Pₖ)."""
        q, v, u, *p = self._motion(q, v, u, p)
        n, k = self.robot.n, len(self.parameters)
        S = np.zeros((*q.shape[:-1], 2 * n, 2 * n + k))
        S[0, ..., : 2 * n] = np.eye(2 * n)
        for part in self._parts(len(u)):
            A, _, P = np.split(self._linearised(q[part], v[part], u[part], p), self._columns, axis=-1)
            for i, place in enumerate(range(part.start, part.stop)):
                S[place + 1] = A[i] @ S[place]
                S[place + 1, ..., 2 * n :] += P[i]
        return Sensitivities(S[..., : 2 * n], S[..., 2 * n :])

    def torques(self, q: Any, v: Any, a: Any) -> Array:
        """Torques τ (…, n) that give the acceleration a at the beginning of a step; with "euler", v' = v + h a."""
        if self._further:
            raise InputError("torques are those of steps without parameters, wrenches and motion of the base")
        q, v, a = (np.asarray(x, float) for x in (q, v, a))
        tau = self.smooth.inverse_dynamics(q, v, a)
        if self._damped:
            model = self.robot.model
            tau = tau + model.coulomb_bias + self._damping_at(q, v, a) * (v + self.h * a) - model.viscous * v
        elif self.smooth is not self.robot:
            tau = tau + self.friction(v)
        return np.asarray(tau)

    def acados(self, name: str | None = None) -> Any:
        """An `AcadosModel`: these steps as discrete dynamics, and the motion they approximate, explicit and implicit.

        x is (q, v), u and p as here; SX expressions of CasADi. ``name`` is that of the generated C functions, by default of the
        robot. Quaternions are not normalised between steps.
        """
        from dynamis.optimize.acados_models import acados_model

        return acados_model(self, name)

    def aligator(self, p: Any = None) -> Any:
        """An `aligator.dynamics.ExplicitDynamicsModel` of these steps, with A and B, on a `VectorSpace` of states (q, v).

        ``p`` are the values of the parameters. Robots with quaternions are refused.
        """
        from dynamis.optimize.aligator_models import aligator_model

        return aligator_model(self, p)

    @cached_property
    def _kernel(self) -> Kernel:
        nq, n = self.robot.nq, self.robot.n

        def step(robot: Robot, y: Array, t: Array, h: Array, u: Array) -> Array:  # noqa: ARG001, the time of `march`
            return np.concatenate(self.taken(robot, y[:nq], y[nq:], u, h[0]))

        return self.robot.compile(step, parameters=self.parameters, y=nq + n, t=1, h=1, u=self.inputs)

    @cached_property
    def _differentiated(self) -> Any:
        return self.robot.differentiate(self.function, parameters=self.parameters, u=self.inputs)

    @cached_property
    def _pullback(self) -> Kernel:
        """The product of a costate with A, B and ∂x'/∂p, which are not formed."""
        if self._law is not None:
            warn_of_jumps(self.robot, self._command_kernel, self._command_kernel, IN_FUNCTIONS.format("robot.differentiate"))
        return self.robot.compile(self.pulled_back, parameters=self.parameters, u=self.inputs, costate=2 * self.robot.n)

    @cached_property
    def _pullback_derivatives(self) -> Any:
        wrt = ("q", "v", "u", *(("parameters",) if self.parameters else ()))
        n = self.robot.n
        return self.robot.differentiate(self.pulled_back, wrt, parameters=self.parameters, u=self.inputs, costate=2 * n)

    def _linearised(self, q: Array, v: Array, u: Array, p: Sequence[Array]) -> Array:
        """`_linear`; a singular mass matrix is refused."""
        try:
            found = self._linear(q, v, u, p)
        except np.linalg.LinAlgError:
            refuse_failure(self, np.asarray(self._kernel(_joined(q, v), np.zeros(1), np.array([self.h]), u, *p)), q, v, u, *p)
            raise
        refuse_failure(self, found, q, v, u, *p)
        return found

    def _linear(self, q: Array, v: Array, u: Array, p: Sequence[Array]) -> Array:
        """A, B and ∂x'/∂p side by side (…, 2n, 2n + m + k)."""
        n, m, h = self.robot.n, self.inputs, self.h
        unit = np.eye(2 * n + m + len(self.parameters))
        D_q, D_v, D_u, D_p = np.split(unit, (n, 2 * n, 2 * n + m))
        u, D_u = self._linear_command(q, v, u, p, (D_q, D_v, D_u, D_p))
        if self.method == "euler":
            a, D_a = self._acceleration(q, v, u, p, (D_q, D_v, D_u, D_p))
            v_new, D_v_new = v + h * a, D_v + h * D_a
            found = [self._moved(q, h * v_new, D_q, h * D_v_new), D_v_new]
        else:
            c, b = TABLEAUS[self.method]
            at_q, at_v, D_at_q, D_at_v = q, v, D_q, D_v
            moved, D_moved = np.zeros(n), np.zeros_like(D_v)
            rates, acceleration, slopes, D_acceleration = (np.zeros(x) for x in (n, n, unit.shape[:1], unit.shape[:1]))
            for k, weight in enumerate(b):
                a, D_a = self._acceleration(at_q, at_v, u, p, (D_at_q, D_at_v, D_u, D_p))
                rate, D_rate = self._change_rate(moved, at_v, D_moved, D_at_v)
                rates, slopes = rates + weight * rate, slopes + weight * D_rate
                acceleration, D_acceleration = acceleration + weight * a, D_acceleration + weight * D_a
                if k + 1 < len(c):
                    part = c[k + 1] * h
                    moved, D_moved = part * rate, part * D_rate
                    D_at_q = self._moved(q, moved, D_q, D_moved)
                    at_q, at_v, D_at_v = self._placed_at(q, moved), v + part * a, D_v + part * D_a
            found = [self._moved(q, h * rates, D_q, h * slopes), D_v + h * D_acceleration]
        return np.concatenate(np.broadcast_arrays(*found), axis=-2)

    @property
    def _columns(self) -> tuple[int, int]:
        """Where A and B end in the derivatives by all variables."""
        return 2 * self.robot.n, 2 * self.robot.n + self.inputs

    # arguments and parts of motions

    def _checked(self, q: Any, v: Any, u: Any, p: Any = None) -> list[Array]:
        given = {"q": (q, self.robot.nq), "v": (v, self.robot.n), "u": (u, self.inputs)}
        if self.parameters:
            names = ", ".join(map(str, self.parameters))
            if p is None:
                raise InputError(f"the values p of the parameters {names} are missing")
            given["p"] = (p, len(self.parameters))
        elif p is not None:
            raise InputError("the step has no parameters, but values p are given: name their symbols in parameters=")
        arrays = {name: self._vector(x, size, name) for name, (x, size) in given.items()}
        broadcast_batch(arrays)
        self._bodies.check([arrays["p"][..., k] for k in range(len(self.parameters))])
        return list(arrays.values())

    def _vector(self, x: Any, size: int, name: str) -> Array:
        """In double precision on the processor; on a GPU values are not checked."""
        meaning = self.input_names if name == "u" else ""
        if not on_gpu(x):
            return self.robot.inputs.vector(x, size, name, meaning).astype(float, copy=False)
        if x.shape[-1:] != (size,):
            raise InputError(
                f"{name} has shape {x.shape}; its last axis must have {size} numbers{': ' * bool(meaning)}{meaning}"
            )
        return x

    def _sequence(self, u: Any) -> Array:
        """Inputs (N, …, m) of N steps."""
        found = self._vector(u, self.inputs, "u")
        if found.ndim < 2 or not len(found):
            raise InputError(f"u has shape {found.shape}; it must have a row of {counted(self.inputs, 'input')} for each step")
        return found

    def _start(self, q: Any, v: Any, u: Array, p: Any) -> tuple[Array, list[Array]]:
        q, v, _, *given = self._checked(q, v, u[0], p)
        state = _joined(q, v)
        batch = np.broadcast_shapes(state.shape[:-1], u.shape[1:-1], *(x.shape[:-1] for x in given))
        return np.broadcast_to(state, (*batch, state.shape[-1])), given

    def _motion(self, q: Any, v: Any, u: Any, p: Any) -> list[Array]:
        """(q, v, u, p) of N + 1 states and N inputs."""
        u = self._sequence(u)
        q, v = (self._vector(x, size, name) for x, size, name in ((q, self.robot.nq, "q"), (v, self.robot.n, "v")))
        if q.ndim < 2 or v.shape[:-1] != q.shape[:-1] or len(q) != len(u) + 1:
            raise InputError(f"{len(u)} inputs lead through {counted(len(u) + 1, 'state')}, got q {q.shape} and v {v.shape}")
        return [q, v, u, *self._checked(q[0], v[0], u[0], p)[3:]]

    def _states(self, start: Array, u: Array, p: Sequence[Array], last: bool = False) -> Array:
        """The states at the ends of the steps, or the last of them only."""
        reports, every = (1, len(u)) if last else (len(u), 1)
        found: Array = march(self._kernel, start, [Table(u, 1), *p], t=0.0, h=self.h, reports=reports, every=every)
        return found

    @staticmethod
    def _parts(count: int) -> list[slice]:
        """√N parts of √N steps."""
        size = math.isqrt(count - 1) + 1
        return [slice(k, min(k + size, count)) for k in range(0, count, size)]


def _joined(q: Array, v: Array) -> Array:
    if q.ndim == v.ndim == 1:
        return np.concatenate((q, v))
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v)], axis=-1)


def _on_one_device(*arrays: Any) -> list[Any]:
    """The same; on a GPU as arrays of CuPy of one precision if one of them is there."""
    if not any(map(on_gpu, arrays)):
        return list(arrays)
    found = [None if x is None else as_cupy(x) for x in arrays]
    single = all(x.dtype == np.float32 for x in found if x is not None)
    return [None if x is None else x.astype(np.float32 if single else np.float64, copy=False) for x in found]


def _spread(value: Any, shape: tuple[int, ...], like: Array, name: str) -> Array:
    """An array of this shape where ``like`` is, on the processor in double precision."""
    cupy = cupy_if_used(like)
    try:
        if cupy is not None:
            return cupy.broadcast_to(cupy.asarray(value, like.dtype), shape)
        found = np.broadcast_to(np.asarray(value, float), shape)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape {shape}, got shape {np.shape(value)}") from None
    if not np.isfinite(found).all():
        where = [int(k) for k in np.argwhere(~np.isfinite(found))[0]]
        raise InputError(f"{name}{where} is {found[tuple(where)]}; every entry must be a finite number")
    return found

"""Many motions at once: robot, drives, controller and integrator in one compiled step, marched over a batch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.singularity import singular_mass_error
from dynamis.compiler.cuda_march import RK4
from dynamis.compiler.kernel import Kernel
from dynamis.display import as_table, short
from dynamis.errors import InputError, PerformanceWarning
from dynamis.inputs import broadcast_batch
from dynamis.model.massless import describe_motion, massless_motion
from dynamis.model.model import Model
from dynamis.robot import Robot
from dynamis.simulation.actuators import Actuator, actuators_of
from dynamis.simulation.batch_march import BatchMarch, Progress
from dynamis.simulation.closed_loop import ClosedLoop
from dynamis.simulation.dynamic_law import DynamicLaw
from dynamis.simulation.fixed_step import SETTLED, check_step_length
from dynamis.simulation.friction import Coulomb, LuGre, Stribeck, in_words, laws_of
from dynamis.simulation.noise import Noise
from dynamis.simulation.sampling import Sampled
from dynamis.simulation.surroundings import contacts_in

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Rollouts:
    """``t`` (T), ``q`` (T, …, nq) and ``v`` (T, …, n): one motion for each state of the batch.

    ``drives`` (T, …, states) holds the states of friction, drives and controller. ``note`` says what differs from what was
    asked, such as a controller that could not be compiled; ``friction``, which dry friction was simulated. ``left`` (…) is the
    largest residual of the iteration within an implicit rule, if the rule is one.
    """

    t: Array
    q: Any
    v: Any
    step: float
    method: str
    drives: Any = None
    note: str = ""
    left: Any = None
    friction: str = ""
    model: Model | None = None

    @cached_property
    def finite(self) -> Any:
        """(…): which motions stayed finite to the end."""
        xp = _module(self.q)
        return xp.isfinite(self.q[-1]).all(axis=-1) & xp.isfinite(self.v[-1]).all(axis=-1)

    @property
    def status(self) -> str:
        """How many reached the end, in words."""
        count, lost = math.prod(self.q.shape[1:-1]), int((~self.finite).sum())
        loose = 0 if self.left is None else int((self.left > _tolerance(self.q.dtype) * _largest(self.q[-1], self.v[-1])).sum())
        if loose and not lost:
            return f"the equations of the {self.method} rule are not solved in {loose} of {count}: take shorter steps"
        if not lost:
            return f"all {count} reached the end" if count != 1 else "reached the end"
        flat = _numpy(self.v).reshape(len(self.t), count, -1)
        first = int(np.flatnonzero(~_numpy(self.finite).reshape(count))[0])
        bad = int(np.argmax(~np.isfinite(flat[:, first]).all(axis=-1)))
        where = f"number {first} before t = {self.t[bad]:.6g} s"
        if self.model is not None and not self.model.symbolic and bad:
            last = _numpy(self.q).reshape(len(self.t), count, -1)[bad - 1, first].astype(float)
            motion = massless_motion(self.model, last)
            if motion is not None:
                return f"{lost} of {count} ended at a singular mass matrix ({where}): {describe_motion(self.model, motion)}"
        return f"{lost} of {count} diverged ({where}): shorter steps may help"

    def __repr__(self) -> str:
        return short(f"<Rollouts: {self.q.shape[1:-1]} motions, {self.t[-1]:g} s by {self.method}, {self.status}>")

    _repr_html_ = as_table


def rollouts(
    robot: Robot,
    t: float,
    q0: Any,
    v0: Any = None,
    *,
    controller: Callable[..., Any] | Sampled | DynamicLaw | None = None,
    parameters: Mapping[str, Any] | None = None,
    friction: Any = "model",
    actuators: Mapping[str, Actuator] | None = None,
    wrenches: Mapping[str, Any] | None = None,
    stops: Callable[..., Any] | None = None,
    disturbance: Noise | None = None,
    first: int = 0,
    step: float = 1e-3,
    method: str | None = None,
    every: int = 1,
    progress: Progress | None = None,
) -> Rollouts:
    """Simulate a batch of initial states for the duration ``t`` with fixed steps, with output every ``every`` steps.

    ``controller`` is a function of (t, q, v) or (robot, t, q, v), as `simulate` takes it, written for one state with NumPy
    and without branching on it (`dynamis.where` chooses): it is traced and compiled together with robot, drives and integrator.
    One that cannot be traced is called from Python instead, which takes a thousand times longer; ``note`` says why. It may be
    `Sampled`, at a whole number of steps, or a `DynamicLaw`. ``friction``, ``actuators``,
    ``wrenches`` and ``stops`` are as for `simulate`; their functions are traced too.

    ``method`` is "rk4", "euler", "midpoint" or "time_stepping", which is of order two and implicit in dry friction and contact:
    joints stick, as they cannot with the others. Unless given it is "time_stepping" for robots with dry friction or contacts,
    and "rk4" for all others.

    ``parameters`` are values per motion: for symbols of the robot (…), and for additional arguments of the controller, scalars
    or vectors (…, size). ``disturbance`` is a `Noise`: motion k of the batch, numbered from ``first``, receives the same
    torques whatever the rest of the batch.

    Float32 in, float32 out. Arrays on a GPU stay there.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> def law(robot, t, q, v, goal):
    ...     return robot.gravity(q) - 4000.0 * (q - goal) - 800.0 * v
    >>> goals = np.random.default_rng(0).uniform(-1, 1, (64, 2))
    >>> made = rollouts(robot, 3.0, np.zeros(2), controller=law, parameters={"goal": goals}, every=100)
    >>> made.q.shape, bool(abs(made.q[-1] - goals).max() < 0.01)
    ((31, 64, 2), True)
    """
    if not isinstance(robot, Robot):
        raise InputError(f"rollouts takes a robot, got {type(robot).__name__}; dynamis.load gives one")
    if not isinstance(every, int | np.integer) or every < 1:
        raise InputError(f"every= takes a whole number of steps from 1, got {every!r}")
    if not all(isinstance(x, int | float | np.number) and 0 < x < np.inf for x in (t, step)):
        raise InputError(f"time and step must be positive numbers, got t={t!r} and step={step!r}")
    if disturbance is not None and not isinstance(disturbance, Noise):
        raise InputError(f"disturbance= takes a Noise, got {type(disturbance).__name__}")
    for name, value in (("parameters", parameters), ("wrenches", wrenches)):
        if value is not None and not isinstance(value, Mapping):
            raise InputError(f"{name}= takes a mapping of names to values, got {type(value).__name__}")
    check_step_length(float(step), 0.0, float(t))
    steps = max(1, int(np.ceil(t / (step * every) - 1e-9))) * every
    laws = laws_of(robot.model, friction)
    if method is None:
        sticking = any(isinstance(x, Coulomb | Stribeck) for x in laws.values())
        inner = any(isinstance(x, LuGre) for x in laws.values()) or any(
            x.size for x in actuators_of(robot, actuators)[1].values()
        )
        method = "time_stepping" if sticking or (contacts_in(wrenches) and not inner) else "rk4"
    loop = ClosedLoop(
        robot, method, controller=controller, parameters=parameters, friction=friction, actuators=actuators,
        wrenches=wrenches, stops=stops, noise=disturbance is not None, step=t / steps,
    )  # fmt: skip
    xp, y = _starts(loop, q0, np.zeros(robot.n) if v0 is None else v0)
    if y.size and not robot.model.symbolic:
        start = _numpy(y.reshape(-1, y.shape[-1])[0, : robot.nq]).astype(float)
        if massless_motion(robot.model, start) is not None:
            raise singular_mass_error(robot.model, start)
    marching = BatchMarch(loop, xp, y, t / steps, steps, int(every), disturbance, first, progress)
    # on a GPU a loop around one stage is quicker; quaternions are brought back to length one after whole steps
    stages = RK4 if xp is not np and method == "rk4" and robot.nq == robot.n and loop.samples is None else None
    kernel = loop.kernel(stage=stages is not None)
    note = _why_not(loop, kernel)
    states = marching.called() if note else marching.compiled(kernel, stages)
    if note:
        warnings.warn(note, PerformanceWarning, stacklevel=2)
    nq, n = robot.nq, robot.n
    times = np.arange(0, steps + 1, every) * (t / steps)
    times[-1] = t
    q, v, inside = states[..., :nq], states[..., nq : nq + n], states[..., nq + n : nq + n + loop.states]
    left = states[-1, ..., -1] if loop.watching else None
    return Rollouts(times, q, v, t / steps, method, inside, note, left, in_words(laws, robot.coordinate_names),
                    robot.model)  # fmt: skip


def _why_not(loop: ClosedLoop, kernel: Kernel) -> str:
    """Empty if the step can be traced; otherwise why the controller has to be called from Python."""
    try:
        code = kernel.code
    except Exception as error:
        missing = "has no value" in str(error)
        if (loop.law.torque is None and loop.law.dynamic is None) or missing or loop.symbolic:
            if missing:
                raise InputError(f"{error}: parameters={{name: values}}") from None
            raise
        return f"the controller is called from Python, as it cannot be compiled: {error}"
    used = {x for i in code.instructions for x in i.args if isinstance(x, int)}
    for name, place in zip(loop.of_robot, range(code.inputs - len(loop.of_robot), code.inputs), strict=True):
        if place not in used:
            raise InputError(f"the parameter {name!r} is no symbol of robot {loop.robot.name!r} that its motion depends on")
    return ""


def _starts(loop: ClosedLoop, q0: Any, v0: Any) -> tuple[Any, Any]:
    """(NumPy or CuPy, y): positions, velocities and the drives' states at the start, with the leading axes both have."""
    robot = loop.robot
    if hasattr(q0, "__cuda_array_interface__"):
        import cupy

        xp, q, v = cupy, q0, cupy.asarray(v0)
        v = v.astype(q.dtype) if v.ndim == 1 and q.dtype == np.float32 else v
        for name, array, size in (("q0", q, robot.nq), ("v0", v, robot.n)):
            if array.shape[-1:] != (size,):
                raise InputError(f"{name} has shape {array.shape}; its last axis must hold {size} numbers")
    else:
        xp, inputs = np, robot._evaluator.inputs
        q, v = inputs.vector(q0, robot.nq, "q0"), inputs.vector(v0, robot.n, "v0")
        if q.dtype == np.float32 and np.ndim(v0) == 1 and not np.any(v):
            v = v.astype(np.float32)  # at rest, in whatever precision
    if object in (q.dtype, v.dtype):
        raise InputError("q0 and v0 must be numbers; symbols of the robot have their values in parameters=")
    dtype = np.float32 if q.dtype == v.dtype == np.float32 else np.float64
    batch = broadcast_batch({"q0": q, "v0": v})
    q, v = (xp.broadcast_to(x.astype(dtype), (*batch, x.shape[-1])) for x in (q, v))
    y = xp.zeros((*batch, loop.length), dtype)
    y[..., : robot.nq], y[..., robot.nq : robot.nq + robot.n] = q, v
    if loop.states:
        y[..., robot.nq + robot.n : robot.nq + robot.n + loop.states] = xp.asarray(loop.start_inside(_numpy(q), _numpy(v)))
    return xp, y


def _tolerance(dtype: Any) -> float:
    """What may be left of an iteration, relative to a state: in single precision, rounding leaves more."""
    return max(SETTLED, 100.0 * float(np.finfo(dtype).eps))


def _largest(*arrays: Any) -> Any:
    """(…): the largest number of each motion, at least one."""
    xp = _module(arrays[0])
    return xp.maximum(1.0, xp.max(xp.abs(xp.concatenate(arrays, axis=-1)), axis=-1))


def _module(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np
    import cupy

    return cupy


def _numpy(x: Any) -> Array:
    return x if isinstance(x, np.ndarray) else x.get()

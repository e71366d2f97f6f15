"""The space of a task: Λ, μ + p and the law of the least driven acceleration over a batch, compiled, against the same
formulas with Pinocchio's calls and NumPy in a loop, as they are usually written.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import States, Subject
from benchmarks.timing import best_times
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.task_space import PoseTask, task_kernels
from dynamis.task_space.kernels import TaskKernels

Array = npt.NDArray[Any]
FUNCTIONS = ("inertia", "bias", "law")
COMPARED, LOOPED = 128, 16  # states of the rival, which has no batch to gain from: a millisecond goes undisturbed
SIZE = 6
DAMPING = 0.0


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    arms = [name for name in options.robots if not subjects.FLOATING[name]]
    found, missing = subjects.load_all(arms, options.tell)
    for subject in found:
        states = subjects.states(subject, options.batch)
        wanted = np.random.default_rng(1).uniform(-1.0, 1.0, (len(states), SIZE))
        frame = subject.description.joints[-1].child
        compiled = task_kernels(subject.robot, PoseTask(frame))
        for function in FUNCTIONS:
            options.tell(f"{subject.name}: {function}")
            ours = _ours(compiled, states, wanted, function)
            contenders: dict[str, Callable[[], object]] = {"ours": ours}
            why, difference = None, None
            if "pinocchio" in options.rivals:
                try:
                    theirs = _pinocchio(subject, states.first(COMPARED), wanted, frame, function)
                    difference = _difference(ours()[:COMPARED], np.array(theirs(COMPARED)))
                    contenders["pinocchio"] = functools.partial(theirs, LOOPED)
                except Exception as error:
                    why = reason(error)
            wait_for_compiler()
            best = best_times(contenders, options.seconds)
            count = {"ours": len(states), "pinocchio": LOOPED}
            times = {name: x.seconds / count[name] for name, x in best.items()}
            rows.append(
                {
                    "robot": subject.name, "function": function, "ns": {name: 1e9 * t for name, t in times.items()},
                    "times_faster": times["pinocchio"] / times["ours"] if "pinocchio" in times else None,
                    "difference": difference, "why": why, "disturbed": [name for name, x in best.items() if x.disturbed],
                }
            )  # fmt: skip
    return {"rows": rows, "robots_left_out": missing, "batch": options.batch}


def _ours(compiled: TaskKernels, states: States, wanted: Array, function: str) -> Callable[[], Any]:
    """On one thread."""
    calls: dict[str, Callable[[], Any]] = {
        "inertia": functools.partial(compiled.Lambda, states.q, DAMPING),
        "bias": functools.partial(compiled.bias, states.q, states.v, DAMPING),
        "law": functools.partial(compiled.law, states.q, states.v, wanted, DAMPING),
    }
    return on_one_thread(calls[function])


def on_one_thread(run: Callable[[], Any]) -> Callable[[], Any]:
    def alone() -> Any:
        before = os.environ.get("DYNAMIS_NUM_THREADS")
        os.environ["DYNAMIS_NUM_THREADS"] = "1"
        try:
            return run()
        finally:
            os.environ.pop("DYNAMIS_NUM_THREADS") if before is None else os.environ.update(DYNAMIS_NUM_THREADS=before)

    return alone


def _pinocchio(subject: Subject, states: States, wanted: Array, frame: str, function: str) -> Callable[[int], list[Array]]:
    """Its C++ for M, J, J̇ v and the bias, NumPy for the rest, state by state."""
    m = pinocchio.Model(subject)
    pin, model = m.pin, m.model
    number, axes = same_frame(m, subject, frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    data = model.createData()
    q, v = (np.ascontiguousarray(m.columns(x, places).T) for x, places in ((states.q, m.q), (states.v, m.v)))
    rest = np.zeros(model.nv)

    lower = np.tril_indices(model.nv, -1)

    def inertia_matrix(q: Array) -> Array:
        M = pin.crba(model, data, q)
        M[lower] = M.T[lower]  # it fills the upper half; this is the quickest way to the other
        return M

    def drift(q: Array, v: Array) -> Array:
        pin.forwardKinematics(model, data, q, v, rest)
        return pin.getFrameClassicalAcceleration(model, data, number, axes).vector

    def inertia(k: int) -> Array:
        J = pin.computeFrameJacobian(model, data, q[k], number, axes)
        return np.linalg.inv(J @ np.linalg.solve(inertia_matrix(q[k]), J.T))

    def bias(k: int) -> Array:
        J, M = pin.computeFrameJacobian(model, data, q[k], number, axes), inertia_matrix(q[k])
        A = np.linalg.solve(M, J.T).T
        return np.linalg.solve(A @ J.T, A @ pin.nonLinearEffects(model, data, q[k], v[k]) - drift(q[k], v[k]))

    def law(k: int) -> Array:
        J, M = pin.computeFrameJacobian(model, data, q[k], number, axes), inertia_matrix(q[k])
        n = pin.nonLinearEffects(model, data, q[k], v[k])
        b = wanted[k] - drift(q[k], v[k]) + J @ np.linalg.solve(M, n)
        return (M @ (J.T @ np.linalg.solve(J @ J.T, b)))[m.v]

    one = {"inertia": inertia, "bias": bias, "law": law}[function]
    return lambda count: [one(k) for k in range(count)]


def same_frame(m: pinocchio.Model, subject: Subject, frame: str) -> int:
    """The number of our frame in Pinocchio's model, where a link's frame is its joint's."""
    q = subject.robot.neutral()
    data, link = m.model.createData(), m.model.getFrameId(frame)
    m.pin.framesForwardKinematics(m.model, data, m.columns(q[None], m.q)[:, 0])
    ours, theirs = m.pin.SE3(subject.robot.pose(q, frame)), data.oMf[link]
    known = m.model.frames[link]
    placement = known.placement * theirs.actInv(ours)
    added: int = m.model.addFrame(m.pin.Frame("task", known.parentJoint, link, placement, m.pin.FrameType.OP_FRAME))
    return added


def _difference(ours: Array, theirs: Array) -> float:
    """The median over the states of the largest difference, relative: near singularities both lose digits."""
    flat, other = ours.reshape(len(ours), -1), theirs.reshape(len(theirs), -1)
    return float(np.median(np.abs(flat - other).max(axis=1) / np.abs(other).max(axis=1)))

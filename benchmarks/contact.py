"""Momentum, M⁻¹ and rigid contacts: our batch and our single call against Pinocchio's calls from Python, state by state."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import dynamis as dy
from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import Subject
from benchmarks.task_space import on_one_thread
from benchmarks.timing import best_times, repeated
from dynamis.compiler.kernel import wait_for_compiler

Array = npt.NDArray[Any]
ROBOTS = ("ur5e", "panda", "go2", "g1")
FUNCTIONS = ("centroidal_matrix", "center_of_mass_jacobian", "mass_matrix_inverse", "constrained")
BATCH, LOOPED, CALLS = 1024, 16, 50
FEET = {
    "go2": {"points": ("FL_foot", "FR_foot", "RL_foot", "RR_foot")},
    "g1": {"frames": ("left_ankle_roll_link", "right_ankle_roll_link")},
}


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    found, missing = subjects.load_all([name for name in ROBOTS if name in options.robots], options.tell)
    batch = min(options.batch, BATCH)
    for subject in found:
        contacts = FEET.get(subject.name) or {"points": (subject.description.joints[-1].child,)}
        held = dy.constrained(subject.robot, **contacts)
        states = subjects.states(subject, batch)
        q, tau = np.ascontiguousarray(states.q), np.random.default_rng(1).uniform(-1.0, 1.0, states.v.shape)
        v = np.ascontiguousarray(held.impulse(q, states.v)[0])  # contacts at rest
        for function in FUNCTIONS:
            options.tell(f"{subject.name}: {function}")
            call = _ours(subject, held, function)
            arguments = (q, v, tau) if function == "constrained" else (q,)
            one = tuple(x[0].copy() for x in arguments)
            contenders: dict[str, Callable[[], object]] = {
                "ours": on_one_thread(functools.partial(call, *arguments)),
                "single": repeated(functools.partial(call, *one), CALLS),
            }
            count = {"ours": batch, "single": CALLS, "pinocchio": LOOPED}
            why, difference = None, None
            if "pinocchio" in options.rivals:
                try:
                    theirs = _pinocchio(subject, contacts, q, v, tau, function)
                    difference = _difference(call(*arguments)[:LOOPED], np.array(theirs(LOOPED)))
                    contenders["pinocchio"] = functools.partial(theirs, LOOPED, keep=False)
                except Exception as error:
                    why = reason(error)
            for _ in range(12):  # past the states that are interpreted
                call(*one)
            wait_for_compiler()
            best = best_times(contenders, options.seconds)
            times = {name: x.seconds / count[name] for name, x in best.items()}
            rival = times.get("pinocchio")
            rows.append(
                {
                    "robot": subject.name, "function": function, "ns": {name: 1e9 * t for name, t in times.items()},
                    "times_faster": rival / times["ours"] if rival else None,
                    "single_ratio": times["single"] / rival if rival else None,
                    "difference": difference, "why": why, "disturbed": [name for name, x in best.items() if x.disturbed],
                }
            )  # fmt: skip
    return {"rows": rows, "robots_left_out": missing, "batch": batch}


def _ours(subject: Subject, held: Any, function: str) -> Callable[..., Array]:
    if function != "constrained":
        return getattr(subject.robot, function)  # type: ignore[no-any-return]

    def constrained(q: Array, v: Array, tau: Array) -> Array:
        return held.forward_dynamics(q, v, tau)[0]  # type: ignore[no-any-return]

    return constrained


def _pinocchio(
    subject: Subject, contacts: dict[str, tuple[str, ...]], q: Array, v: Array, tau: Array, function: str
) -> Callable[..., list[Array]]:
    """One of its C++ functions per state; ``keep``: return the results, in our order."""
    m = pinocchio.Model(subject)
    pin, model, data = m.pin, m.model, m.data
    pq, pv, ptau = (np.ascontiguousarray(m.columns(x[:LOOPED], places).T) for x, places in ((q, m.q), (v, m.v), (tau, m.v)))
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    names = [*(["root_joint"] if subject.floating else []), *subject.actuated]
    for kind, held in contacts.items():
        for name in held:
            frame = subject.robot.model.frame(name)
            place = pin.SE3(np.array(frame.pose.R), np.array(frame.pose.p))
            contact = pin.ContactType.CONTACT_3D if kind == "points" else pin.ContactType.CONTACT_6D
            axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            models.append(pin.RigidConstraintModel(contact, model, model.getJointId(names[frame.body - 1]), place, axes))
            datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    calls: dict[str, Callable[[int], Array]] = {
        "centroidal_matrix": lambda k: pin.ccrba(model, data, pq[k], pv[k])[:, m.v],
        "center_of_mass_jacobian": lambda k: pin.jacobianCenterOfMass(model, data, pq[k])[:, m.v],
        "mass_matrix_inverse": lambda k: _symmetric(pin.computeMinverse(model, data, pq[k]))[np.ix_(m.v, m.v)],
        "constrained": lambda k: pin.constraintDynamics(model, data, pq[k], pv[k], ptau[k], models, datas, settings)[m.v],
    }
    plain: dict[str, Callable[[int], Any]] = {
        "centroidal_matrix": lambda k: pin.ccrba(model, data, pq[k], pv[k]),
        "center_of_mass_jacobian": lambda k: pin.jacobianCenterOfMass(model, data, pq[k]),
        "mass_matrix_inverse": lambda k: pin.computeMinverse(model, data, pq[k]),
        "constrained": lambda k: pin.constraintDynamics(model, data, pq[k], pv[k], ptau[k], models, datas, settings),
    }

    def loop(count: int, keep: bool = True) -> list[Array]:
        run = (calls if keep else plain)[function]
        if keep:
            return [np.array(run(k)) for k in range(count)]
        for k in range(count):
            run(k)
        return []

    return loop


def _symmetric(upper: Array) -> Array:
    return np.triu(upper) + np.triu(upper, 1).T


def _difference(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())

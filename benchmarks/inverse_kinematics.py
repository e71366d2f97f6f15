"""Inverse kinematics of random reachable poses from the home configuration, one by one and in a batch, against damped least
squares with Pinocchio's Jacobians and NumPy in a loop: the same damping, limits, tolerance and random starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import subjects
from benchmarks.offers import reason
from benchmarks.options import Options
from benchmarks.rivals import pinocchio
from benchmarks.subjects import Subject
from benchmarks.task_space import same_frame
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.kinematics.inverse_kinematics import inverse_kinematics

Array = npt.NDArray[Any]
ROBOTS = ("ur5e", "panda")
LOOPED = 10  # targets one by one
TARGETS, QUICK_TARGETS = 10_000, 500
TURNS = 3
TOLERANCE, RESTARTS, ITERATIONS = 1e-9, 50, 200


def measure(options: Options) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    found, missing = subjects.load_all([name for name in ROBOTS if name in options.robots], options.tell)
    count = TARGETS if options.seconds >= 0.5 else QUICK_TARGETS
    for subject in found:
        robot, frame = subject.robot, subject.description.joints[-1].child
        X = robot.pose(robot.random(0, count), frame)
        options.tell(f"{subject.name}: inverse kinematics")
        solved = inverse_kinematics(robot, X, frame)
        contenders: dict[str, Callable[[], object]] = {
            "one": lambda X=X, r=robot, f=frame: [inverse_kinematics(r, x, f) for x in X[:LOOPED]],
            "batch": lambda X=X, r=robot, f=frame: inverse_kinematics(r, X, f),
        }
        why, theirs = None, None
        if "pinocchio" in options.rivals:
            try:
                loop = _pinocchio(subject, X[:LOOPED], frame)
                theirs = sum(loop())
                contenders["pinocchio"] = loop
            except Exception as error:
                why = reason(error)
        wait_for_compiler()
        targets = {"one": LOOPED, "batch": count, "pinocchio": LOOPED}
        us = {name: 1e6 * x / targets[name] for name, x in _processor_times(contenders).items()}
        rows.append(
            {
                "robot": subject.name, "us": us, "solved": int(solved.found.sum()), "targets": count,
                "rival_solved": theirs, "of": LOOPED,
                "times_faster": {x: us["pinocchio"] / us[x] for x in ("one", "batch")} if "pinocchio" in us else None,
                "why": why,
            }
        )  # fmt: skip
    return {"rows": rows, "robots_left_out": missing}


def _processor_times(contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of each, all cores together, in turns: the batch runs on several threads."""
    least = dict.fromkeys(contenders, np.inf)
    for _ in range(TURNS):
        for name, run in contenders.items():
            start = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - start)
    return least


def _pinocchio(subject: Subject, X: Array, frame: str) -> Callable[[], list[bool]]:
    """Its C++ for poses, logarithms and Jacobians, NumPy for the rest."""
    m = pinocchio.Model(subject)
    pin, model = m.pin, m.model
    number = same_frame(m, subject, frame)
    data = model.createData()
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    home = m.columns(subject.robot.home()[None], m.q)[:, 0]
    targets = [pin.SE3(x) for x in X]
    one = np.eye(model.nv)

    def error(q: Array, target: Any) -> Array:
        pin.framesForwardKinematics(model, data, q)
        here = data.oMf[number]
        return np.concatenate([target.translation - here.translation, pin.log3(target.rotation @ here.rotation.T)])

    def descend(q: Array, target: Any) -> bool:
        e, mu = error(q, target), 0.1
        before = np.inf
        for k in range(1, ITERATIONS + 1):
            if max(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) <= TOLERANCE:
                return True
            J = pin.computeFrameJacobian(model, data, q, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            g = J.T @ e
            J = J * ~(((q <= lower) & (g < 0.0)) | ((q >= upper) & (g > 0.0)))
            dv = np.linalg.solve(J.T @ J + (mu * (e @ e) + 1e-12) * one, J.T @ e)
            tried = np.clip(q + dv * min(1.0, 1.0 / max(np.abs(dv).max(), 1e-300)), lower, upper)
            e_tried = error(tried, target)
            if e_tried @ e_tried < e @ e:
                q, e, mu = tried, e_tried, max(mu / 5.0, 1e-6)
            else:
                mu *= 4.0
            if k % 12 == 0:
                size = np.linalg.norm(e)
                if size > 0.99 * before:
                    return False
                before = size
        return False

    def solve(target: Any) -> bool:
        rng = np.random.default_rng(0)
        return descend(home, target) or any(descend(rng.uniform(lower, upper), target) for _ in range(RESTARTS))

    return lambda: [solve(target) for target in targets]

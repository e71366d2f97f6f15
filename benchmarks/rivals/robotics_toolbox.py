"""The Robotics Toolbox for Python, through Denavit–Hartenberg tables: only those reach its compiled Newton–Euler."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import NotOfferedError, Offer
from benchmarks.subjects import States, Subject
from dynamis.model.denavit_hartenberg import to_dh
from dynamis.model.description import Description

Array = npt.NDArray[Any]

FEW = 64  # states, where each takes n + 1 passes of Newton–Euler called from Python


def arm_of(description: Description) -> Any:
    toolbox: Any = importlib.import_module("roboticstoolbox")
    spatialmath: Any = importlib.import_module("spatialmath")
    placed, table = to_dh(description)
    links = []
    for row in table:
        mass = placed.link(row.link).mass_properties
        assert mass is not None
        kind = toolbox.PrismaticDH if row.type == "prismatic" else toolbox.RevoluteDH
        own = {"theta": row.theta, "offset": row.d} if row.type == "prismatic" else {"d": row.d, "offset": row.theta}
        links.append(kind(a=row.a, alpha=row.alpha, m=mass.mass, r=mass.com, I=mass.tensor, Jm=0, B=0, Tc=[0, 0], G=1, **own))
    base = next(joint.origin @ joint.tail for joint in placed.joints if joint.child == "dh_base")
    arm = toolbox.DHRobot(links, base=spatialmath.SE3(base.matrix(), check=False))
    arm.gravity = np.asarray(description.gravity, dtype=float)
    return arm


def _compiled() -> bool:
    try:
        importlib.import_module("roboticstoolbox._frne_c")
    except ImportError:
        return False
    return True


def offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    if subject.floating:
        raise NotOfferedError("has no floating base")
    arm, compiled = arm_of(subject.description), _compiled()
    few = states.first(FEW)
    found: dict[str, Array] = {}

    def offer(name: str, call: Callable[..., Any], given: tuple[Array, ...], how: str) -> Callable[[], Offer]:
        def run() -> None:
            found[name] = np.asarray(call(*given))

        one = tuple(x[0].copy() for x in given)
        return lambda: Offer(run, lambda: found[name], len(given[0]), how, lambda: call(*one))

    whole = states if compiled else few
    kind = "C" if compiled else "Python, as its C extension is missing"
    return {
        "inverse_dynamics": offer("id", arm.rne, (whole.q, whole.v, whole.a), f"rne, batch call in {kind}"),
        "forward_dynamics": offer("fd", arm.accel, (few.q, few.v, few.tau), f"accel, Python loop over rne in {kind}"),
        "mass_matrix": offer("M", arm.inertia, (few.q,), f"inertia, Python loop over rne in {kind}"),
    }

"""Chains of any length: rods one after another, each turning about another axis than the last."""

from __future__ import annotations

import numpy as np

from benchmarks.subjects import Subject, subject
from dynamis.model.description import Description
from dynamis.spatial.inertia import Inertia
from dynamis.spatial.pose import Pose

LENGTH, RADIUS, MASS = 0.1, 0.02, 0.2  # of a rod: m, m, kg


def chain(links: int) -> Subject:
    across = MASS * (3 * RADIUS**2 + LENGTH**2) / 12
    rod = Inertia.about_com(MASS, (LENGTH / 2, 0.0, 0.0), np.diag([MASS * RADIUS**2 / 2, across, across]))
    description = Description(f"chain of {links}").add_link("base")
    last = "base"
    for k in range(links):
        name = f"rod_{k:04d}"
        axis = (0.0, 0.0, 1.0) if k % 2 == 0 else (0.0, 1.0, 0.0)
        place = Pose.translation([LENGTH if k else 0.0, 0.0, 0.0])
        description.add_link(name, last, "revolute", origin=place, axis=axis, inertia=rod)
        last = name
    return subject(description.name, description, floating=False)

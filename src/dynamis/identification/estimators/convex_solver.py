"""The solver of quadratic programs over physically consistent inertias: Clarabel, or a built-in interior-point method."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.estimators import interior_point
from dynamis.identification.estimators.convex import Programme, Solution
from dynamis.identification.pseudo_inertia import unpacked

Array = npt.NDArray[Any]


def clarabel_is_installed() -> bool:
    return find_spec("clarabel") is not None


def minimise(programme: Programme) -> Solution:
    """Solve a program by Clarabel if it is installed and its point is inside, else by an interior-point method."""
    if clarabel_is_installed():
        from dynamis.identification.estimators.clarabel_cones import solve

        found = solve(programme)
        # Clarabel's tolerances are relative to the largest numbers; these are not
        if found.solved and _is_inside(programme, found.x):
            return found
    return interior_point.solve(programme)


def _is_inside(programme: Programme, w: Array) -> bool:
    least = 0.5 * programme.least
    bodies = all(np.linalg.eigvalsh(unpacked(b + M @ w))[0] >= least for b, M in programme.bodies)
    return bodies and programme.rows.hold(w, 1e-9)

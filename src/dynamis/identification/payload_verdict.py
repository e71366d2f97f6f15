"""Summary of an identified payload in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.payload_fit import Determined
from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]
CLEAR = 3.0  # standard errors: a larger mass is significant
NOTHING = "no load detected"


def verdict(
    found: Determined,
    consistent: bool,
    joints: Sequence[str],
    before: Array,
    after: Array,
    *,
    corrected: bool,
    trusted: bool,
) -> tuple[str, ...]:
    """Return sentences, most important first."""
    lines = [_mass(found)]
    if found.determined[:4].all() and found.parameters[0] > CLEAR * found.standard_errors[0]:
        com, errors = com_with_errors(found)
        lines.append(f"centre of mass ({_numbers(com)}) m, standard errors ({_numbers(errors)}) m")
    unshown = [name for name, shown in zip(PARAMETER_NAMES, found.determined, strict=True) if not shown]
    if unshown:
        shown = f"; only {', '.join(found.combinations)} is identifiable" if found.combinations else ""
        lines.append(f"not identifiable on their own from this motion: {', '.join(unshown)}{shown}; default values are given")
    vague = [name for name, d, i in zip(PARAMETER_NAMES, found.determined, found.identifiable, strict=True) if d and not i]
    if vague:
        lines.append(
            f"{', '.join(vague)} have standard errors larger than their default values: accelerate more, about more axes"
        )
    if found.determined.all() and not Inertia.from_parameters(found.parameters).is_consistent():
        what = "the nearest consistent one is given" if consistent else "pass consistent=True for the nearest consistent one"
        lines.append(f"the least-squares estimate is not physically consistent; {what}")
    gained = before > 0.0
    worst = int(np.argmax(np.where(gained, after / np.where(gained, before, 1.0), 0.0)))
    if gained.any():
        lines.append(
            f"{_share(before, after):.0%} of the torque missing in the arm's model is explained; "
            f"least at {printable(joints[worst])}, {before[worst]:.3g} → {after[worst]:.3g}"
        )
    if corrected:
        lines.append("offset and friction were corrected without a log of the unloaded arm: offsets may be due to weight")
    if trusted:
        told = "to allow for its errors, give a log without load (reference=) or their size (arm=)"
        lines.append(f"the arm's model was assumed exact: {told}")
    return tuple(lines)


def com_with_errors(found: Determined) -> tuple[Array, Array]:
    """Return the centre of mass of the least-squares solution, and its standard errors to first order."""
    m, com = found.parameters[0], found.parameters[1:4] / found.parameters[0]
    slope = np.column_stack([-com / m, np.eye(3) / m])
    return com, np.sqrt(np.diag(slope @ found.covariance[:4, :4] @ slope.T))


def _mass(found: Determined) -> str:
    m, error = found.parameters[0], found.standard_errors[0]
    if not found.determined[0]:
        return "the mass is not identifiable on its own"
    if m < CLEAR * error:
        return f"{NOTHING}: mass {m:.4g} kg, standard error {error:.2g} kg"
    return f"mass {m:.4g} kg, standard error {error:.2g} kg"


def _numbers(values: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in values)


def _share(before: Array, after: Array) -> float:
    return float(max(0.0, 1.0 - np.sum(after**2) / np.sum(before**2)))

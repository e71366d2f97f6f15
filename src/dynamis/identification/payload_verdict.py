"""What was found about a load, and what was not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.payload_fit import Determined
from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]
CLEAR = 3.0  # standard errors: a mass that is larger than so many of its own is there


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
    """Sentences, most important first."""
    lines = [_mass(found)]
    if found.determined[:4].all() and found.parameters[0] > CLEAR * found.standard_errors[0]:
        com, errors = com_with_errors(found)
        lines.append(f"centre of mass ({_numbers(com)}) m, standard errors ({_numbers(errors)}) m")
    unshown = [name for name, shown in zip(PARAMETER_NAMES, found.determined, strict=True) if not shown]
    if unshown:
        shown = f"; of them only {', '.join(found.combinations)} shows" if found.combinations else ""
        lines.append(f"the motion does not show {', '.join(unshown)} on their own{shown}: the numbers given are a plain body's")
    vague = [name for name, d, i in zip(PARAMETER_NAMES, found.determined, found.identifiable, strict=True) if d and not i]
    if vague:
        lines.append(f"{', '.join(vague)} are less certain than a guess: accelerate more, about more axes")
    if found.determined.all() and not Inertia.from_parameters(found.parameters).is_consistent():
        what = "the nearest real body is given" if consistent else "ask for consistent=True to have the nearest real body"
        lines.append(f"least squares alone gives ten numbers that no body can have; {what}")
    gained = before > 0.0
    worst = int(np.argmax(np.where(gained, after / np.where(gained, before, 1.0), 0.0)))
    if gained.any():
        lines.append(
            f"of the torque the arm's model lacked, {_share(before, after):.0%} is explained; "
            f"least at {printable(joints[worst])}, {before[worst]:.3g} → {after[worst]:.3g}"
        )
    if corrected:
        lines.append("offset and friction were corrected without a log of the empty arm: offset can pass for weight")
    if trusted:
        lines.append("the arm's model was taken for exact: a log of it empty (reference=), or arm=, reckons with its errors")
    return tuple(lines)


def com_with_errors(found: Determined) -> tuple[Array, Array]:
    """The centre of mass of the least-squares solution, and its standard errors to first order."""
    m, com = found.parameters[0], found.parameters[1:4] / found.parameters[0]
    slope = np.column_stack([-com / m, np.eye(3) / m])
    return com, np.sqrt(np.diag(slope @ found.covariance[:4, :4] @ slope.T))


def _mass(found: Determined) -> str:
    m, error = found.parameters[0], found.standard_errors[0]
    if not found.determined[0]:
        return "the mass does not show on its own"
    if m < CLEAR * error:
        return f"no load can be made out: mass {m:.4g} kg, standard error {error:.2g} kg"
    return f"mass {m:.4g} kg, standard error {error:.2g} kg"


def _numbers(values: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in values)


def _share(before: Array, after: Array) -> float:
    return float(max(0.0, 1.0 - np.sum(after**2) / np.sum(before**2)))

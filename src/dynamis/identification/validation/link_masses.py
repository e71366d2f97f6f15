"""Masses of links far from those of the file, as far as torques determine them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.equations import Equations
from dynamis.identification.estimators.regularised import PhysicallyConsistent
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.validation.describe import listed

Array = npt.NDArray[Any]
FAR, HEAVY = 2.5, 0.05  # ratio of the masses of a link, and difference relative to the whole mass of the file, to be reported
ABSURD = 5.0  # ratio of the masses of a link that no error of a file explains
AS_CURRENTS = (
    "the torques seem to be currents, or those of motors before gears or spindles; give gains = […] or the transmission in a "
    "mapping"
)
NEAR = 1.5  # ratio of a mass to that of the file that is near it
AS_WELL = 1.02  # ratio of the residual with a mass near that of the file, up to which the torques do not contradict it
Masses = Mapping[str, tuple[float, float]]  # links to their masses in the file and as identified


def far_masses(masses: Masses) -> list[str]:
    """Return the links whose masses are far from those of the file."""
    least = HEAVY * sum(old for old, _ in masses.values())
    return [name for name, (old, new) in masses.items() if abs(new - old) > least and max(new / old, old / new) > FAR]


def far_mass_findings(masses: Masses) -> list[tuple[int, str]]:
    """Severity and sentence on links whose masses are far from the file: several may be another robot's, the last a load's."""
    far = [(name, *masses[name]) for name in far_masses(masses)]
    loaded = bool(far) and far[-1][0] == [*masses][-1] and far[-1][2] > far[-1][1]
    names = listed([f"{name} ({new:.3g} kg instead of {old:.3g} kg)" for name, old, new in far])
    if len(far) == 1 and (ratio := far[0][1] / far[0][2]) > FAR:  # no load makes a link lighter
        text = f"The mass of {names} is far below that of the file: check the unit and drive gain of its torques, and the file."
        return [(2 if ratio > ABSURD else 1, text)]
    if len(far) < 2 and not loaded:
        return []
    load = "if it carried a load, identify that instead (dynamis payload, identify_payload)"
    if len(far) < 2:
        return [(0, f"The mass of {names} is far from that of the file: {load}.")]
    if all(old > ABSURD * new for _, old, new in far):
        return [(3, f"The masses of {names} are far below those of the file: {AS_CURRENTS}.")]
    text = f"The masses of {names} are far from those of the file: it may describe another robot. Check its lengths and axes, "
    return [(2, f"{text}which are not identified{f'; or, {load}' if loaded else ''}.")]


def unlike_total(total: float | None, model: LinearModel) -> list[str]:
    """Return a sentence if a total mass that was given is far from that of the file, where links on which no torque depends
    would take the difference."""
    known = float(sum(model.prior[place.start] for _, place in model.bodies))
    if total is None or not known > 0.0 or 1.0 / FAR < total / known < FAR:
        return []
    return [
        f"the given total mass of the moving links, {total:.4g} kg, is {total / known:.2g} times that of the file "
        f"({known:.4g} kg): check it"
    ]


def determined_masses(masses: Masses, estimator: PhysicallyConsistent, rows: Equations) -> dict[str, tuple[float, float]]:
    """Return the masses, with that of the file for each link whose mass may be near it without a larger residual.

    Most masses act on torques only in sums with other parameters, and the estimator distributes a sum by the prior. Those that
    are far from the file are therefore bounded to be near it, and all parameters are fitted again: all of them at once, and if
    the torques contradict that, one by one.
    """
    far = far_masses(masses)
    if far and not _contradicted({name: masses[name][0] for name in far}, estimator, rows):
        free = far
    else:
        free = [name for name in far if len(far) > 1 and not _contradicted({name: masses[name][0]}, estimator, rows)]
        free = [] if len(free) == len(far) else free  # only together they are near the file
    return {name: (old, old if name in free else new) for name, (old, new) in masses.items()}


def _contradicted(masses: Mapping[str, float], estimator: PhysicallyConsistent, rows: Equations) -> bool:
    """Return whether the residual is larger with these masses of links, or masses near them."""
    bounds = {**(estimator.masses or {}), **{name: (mass / NEAR, mass * NEAR) for name, mass in masses.items()}}
    settings = estimator.get_params() | {"masses": bounds, "regularisation": estimator.regularisation_}
    again = type(estimator)(**settings)
    try:
        again.fit_factors(rows.whole)
    except InputError:  # they contradict constraints that were given, or the torques so much that the solver does not converge
        return not (estimator.masses or estimator.com or estimator.total_mass is not None)
    factors, counts = rows.whole.merged
    old, new = (np.array([float(np.sum((F @ np.append(x.coef_, -1.0)) ** 2)) for F in factors]) for x in (estimator, again))
    noise = np.maximum(old, 1e-300) / np.maximum(counts, 1)
    return bool((new / noise).sum() > AS_WELL**2 * (old / noise).sum())

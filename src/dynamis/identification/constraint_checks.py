"""Constraints that the torques contradict: without one of them, held-out motion is predicted much better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamis.errors import printable
from dynamis.identification.corrections import LEFT, residual_of
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.regularised import PhysicallyConsistent
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.validation.describe import listed
from dynamis.identification.validation.held_out import Folds

LIMITS = ("masses", "com", "total_mass", "shapes", "bounds")  # arguments of `PhysicallyConsistent`
UNITS = {"masses": " kg", "com": " m", "total_mass": " kg"}


def unconstrained(estimator: Estimator) -> Estimator:
    """Return the estimator without the constraints given by the user."""
    settings = estimator.get_params()
    if not isinstance(estimator, PhysicallyConsistent) or not any(settings[key] for key in LIMITS):
        return estimator
    return PhysicallyConsistent(**{key: value for key, value in settings.items() if key not in LIMITS})


def contradicted_constraints(folds: Folds, fit: Estimator) -> list[LogFinding]:
    """Return a finding of the constraints without which the fit predicts held-out motion much better, or []."""
    free = unconstrained(fit)
    if free is fit or not getattr(fit, "active_", ()):
        return []
    settings, before = fit.get_params(), residual_of(folds, fit)
    after = residual_of(folds, free)
    if not after < LEFT**0.5 * before:
        return []
    single = list(_one_by_one(settings))
    accused = [text for text, rest in single if residual_of(folds, PhysicallyConsistent(**rest)) < LEFT**0.5 * before]
    which = listed(accused or [text for text, _ in single], len(single))
    several, them = ("s", "them") if len(accused or single) > 1 else ("", "it")
    text = f"the torques contradict the constraint{several} {which}: with {them} the residual on held-out motion is "
    text += f"{before:.3g} %, without {after:.3g} %"
    return [LogFinding("warning", "constraint", None, None, text, f"check {them}, or leave {them} out", caps=2)]


def _one_by_one(settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each single constraint in words, and the settings without it."""
    for key in LIMITS:
        value = settings[key]
        if not value:
            continue
        if not isinstance(value, Mapping):
            yield f"{key}={value}{UNITS.get(key, '')}", {**settings, key: False if key == "shapes" else None}
            continue
        for name, own in value.items():
            rest = {other: x for other, x in value.items() if other != name}
            yield f"{key} of {printable(name)} = {own}{UNITS.get(key, '')}", {**settings, key: rest or None}

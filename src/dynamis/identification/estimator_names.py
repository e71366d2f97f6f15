"""Estimators by name, as accepted by the command line and `identify`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dynamis.errors import unknown_name
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.estimators.consistent import PhysicallyConsistent
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.least_squares import LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.ridge import Ridge
from dynamis.identification.estimators.robust import RobustLeastSquares
from dynamis.identification.estimators.total import TotalLeastSquares


def near_the_prior(base: BaseParameters) -> Ridge:
    """Return ridge regression with prior standard deviations relative to the prior link inertias.

    Scales taken from the torques of the log would leave poorly excited parameters unregularized.
    """
    space = BodySpace(base.model)
    return Ridge(prior=base.prior, prior_scale=np.linalg.norm(base.B @ space.spun @ space.C, axis=1))


ESTIMATORS: dict[str, Callable[[BaseParameters], Estimator]] = {
    "ordinary": lambda _: LeastSquares(),
    "weighted": lambda _: WeightedLeastSquares(),
    "robust": lambda _: RobustLeastSquares(),
    "total": lambda _: TotalLeastSquares(),
    "ridge": near_the_prior,
    "consistent": PhysicallyConsistent,
}


def chosen(name: str | Estimator, base: BaseParameters) -> Estimator:
    """Return the estimator with this name; estimator objects are returned unchanged."""
    if isinstance(name, Estimator):
        return name
    if name not in ESTIMATORS:
        raise unknown_name("estimator", name, ESTIMATORS)
    return ESTIMATORS[name](base)


def label(estimator: str | Estimator) -> str:
    """Return the name shown in tables."""
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def others_by_name(estimator: str | Estimator, compare: Sequence[str | Estimator]) -> dict[str, str | Estimator]:
    """Return the estimators to compare with, by unique name: repeated names are numbered."""
    names: dict[str, str | Estimator] = {label(estimator): estimator}
    for other in compare:
        name, count = label(other), 1
        if any(other is known or (isinstance(other, str) and other == known) for known in names.values()):
            continue
        while name in names:
            count += 1
            name = f"{label(other)} {count}"
        names[name] = other
    del names[label(estimator)]
    return names

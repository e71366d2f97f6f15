"""Estimators by name, as the command line and `identify` take them."""

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
    """Ridge whose parameters may be off by a share of the bodies believed, whatever the log shows of them.

    Shares of the torques in the log itself would let a parameter run away that the log hardly shows.
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
    """The estimator of this name; one that is given stays."""
    if isinstance(name, Estimator):
        return name
    if name not in ESTIMATORS:
        raise unknown_name("estimator", name, ESTIMATORS)
    return ESTIMATORS[name](base)


def label(estimator: str | Estimator) -> str:
    """What a table calls it."""
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def others_by_name(estimator: str | Estimator, compare: Sequence[str | Estimator]) -> dict[str, str | Estimator]:
    """Those to compare with an estimator, each under a name of its own: several of one kind are counted."""
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

"""Physical consistency of the identified links: positive mass, and realizable moments of inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table
from dynamis.spatial import Inertia

if TYPE_CHECKING:
    from dynamis.identification.linear_model import LinearModel

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class LinkConsistency:
    """One link: its mass, centre of mass and principal moments about it, and why it is inconsistent ("" if it is not)."""

    link: str
    mass: float
    com: Array | None
    moments: Array | None
    reason: str

    @property
    def consistent(self) -> bool:
        return not self.reason

    __repr__ = as_call
    _repr_html_ = as_table


def link_consistency(model: LinearModel, parameters: Any, tolerance: float = 1e-9) -> tuple[LinkConsistency, ...]:
    """Check every link of the full parameters π (p,): its pseudo-inertia must be positive semi-definite [Wensing 2018].

    >>> import dynamis as dy
    >>> model = dy.identification.LinearModel(dy.load("ur5e"))
    >>> all(link.consistent for link in link_consistency(model, model.prior))
    True
    """
    values = np.asarray(parameters, float)
    return tuple(_judge(name, Inertia.from_parameters(values[where]), tolerance) for name, where in model.bodies)


def _judge(name: str, inertia: Inertia, tolerance: float) -> LinkConsistency:
    mass = float(inertia.mass)
    if not mass > 0.0:
        nothing = mass == 0.0 and not np.any(inertia.tensor) and not np.any(inertia.first_moment)
        return LinkConsistency(name, mass, None, None, "" if nothing else f"its mass is {mass:.3g} kg")
    moments = np.linalg.eigvalsh(np.asarray(inertia.tensor_about_com, float))
    com = np.asarray(inertia.com, float)
    reason = ""
    if not inertia.is_consistent(tolerance):
        if moments[0] < 0.0:
            reason = f"a moment of inertia about its centre of mass is {moments[0]:.3g} kg·m²"
        else:
            others = moments[0] + moments[1]
            reason = f"its largest moment of inertia {moments[2]:.3g} exceeds the sum of the others, {others:.3g} kg·m²"
    return LinkConsistency(name, mass, com, moments, reason)


def inconsistent_links(links: tuple[LinkConsistency, ...]) -> dict[str, str]:
    """Return the reasons of the physically inconsistent links, by name."""
    return {link.link: link.reason for link in links if link.reason}

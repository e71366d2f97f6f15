"""What an arm carries, from a log of it carrying: the arm is known, the ten inertial parameters of the load are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, flat, short
from dynamis.errors import InputError, printable
from dynamis.identification.payload_fit import consistent_parameters, determined
from dynamis.identification.payload_rows import CORRECTIONS, PayloadRows, payload_regressor
from dynamis.identification.payload_verdict import verdict
from dynamis.identification.samples import Samples, as_runs
from dynamis.robot import Robot
from dynamis.spatial import Inertia

__all__ = ["PayloadEstimate", "identify_payload", "payload_regressor"]

Array = npt.NDArray[Any]
FREELY = 3.0  # times itself may an arm be wrong whose empty motion was logged


@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate:
    """A load as the torques tell it, about the origin of ``frame`` in its axes.

    ``inertia`` is what ``robot`` carries: every number of it is one that a real body can have (if asked for), and numbers the
    motion does not show are those of a plain body. ``parameters`` (10) are least squares alone, not a number where the motion
    does not show them; so it is with ``standard_errors`` (infinite there) and ``covariance``. ``identifiable`` (10) says which
    ones the motion shows. ``combinations`` are what it shows of the others. ``corrections`` maps joints to what was found
    wrong with the arm. ``residual_before`` and ``residual_after`` (n) are root mean squares. ``verdict`` is in words.
    """

    frame: str
    inertia: Inertia
    parameters: Array
    standard_errors: Array
    covariance: Array
    identifiable: Array
    combinations: tuple[str, ...]
    corrections: dict[str, dict[str, float]]
    residual_before: Array
    residual_after: Array
    verdict: tuple[str, ...]
    robot: Robot

    @property
    def mass(self) -> float:
        return float(self.inertia.mass)

    @property
    def com(self) -> Array:
        return self.inertia.com

    def __str__(self) -> str:
        return "\n".join(self.verdict)

    _repr_html_ = as_text

    def __repr__(self) -> str:
        shown = f"{int(self.identifiable.sum())} of 10 parameters shown"
        where = f"{self.mass:.4g} kg at {flat(self.com, 3)} m of {printable(self.frame)}"
        return short(f"<PayloadEstimate of {printable(self.robot.name)}: {where}, {shown}>")


def identify_payload(
    robot: Robot,
    samples: Samples | Sequence[Samples],
    *,
    frame: str | None = None,
    reference: Samples | Sequence[Samples] | None = None,
    friction: Sequence[str] | None = None,
    arm: float | None = None,
    consistent: bool = True,
    size: float = 0.1,
) -> PayloadEstimate:
    """The load that a known arm carries at a frame (the tip unless named), with what is certain about it and what is not.

    ``reference`` are runs without load, from which what the arm's model has wrong is found along with the load: ``friction``
    names what is corrected of each joint, "offset", "viscous", "coulomb"; ``arm`` is the share by which its inertial parameters
    may be off (0.1: a tenth). With a reference that is all of these and as much as the runs ask for; without one it is nothing,
    since an arm that is too heavy cannot be told from a load: the standard errors then hold for an exact model, and an ``arm``
    above zero makes them what they are for one that is not. ``consistent`` keeps to inertias of real bodies. ``size`` [m] is
    how large the load is, roughly: what is uncertain by more than a body of that size could have is reported as not shown,
    and what is not shown is that of such a body.

    >>> import dynamis as dy, numpy as np
    >>> from dynamis.identification.samples import Samples
    >>> arm, rng = dy.load("ur5e"), np.random.default_rng(0)
    >>> q, v, a = rng.normal(size=(3, 500, 6))
    >>> carrying = arm.replace(payload=dy.solids.box(0.1, 0.2, 0.3, mass=2.0))
    >>> tau = carrying.inverse_dynamics(q, v, a) + rng.normal(scale=0.1, size=(500, 6))
    >>> found = identify_payload(arm, Samples.of(q, v, a, tau))
    >>> round(found.mass, 1), bool(found.identifiable.all())
    (2.0, True)
    """
    if not size > 0.0:
        raise InputError(f"size= is roughly how large the load is, in m, above zero; got {size!r}")
    runs, empty = as_runs(samples), [] if reference is None else as_runs(reference)
    terms = _terms(friction, bool(empty))
    at = robot.model.frame(frame)
    share = (FREELY if empty else 0.0) if arm is None else float(arm)
    if not share >= 0.0:
        raise InputError(f"arm= is the share by which the arm's parameters may be off, from zero; got {arm!r}")
    rows = PayloadRows(robot, at.name, runs, empty, terms, share)
    fit = rows.weighed()
    found = determined(fit.factor, fit.solution, size)
    inertia = Inertia.from_parameters(consistent_parameters(fit.factor, fit.solution, size) if consistent else found.filled)
    corrections = fit.corrections(inertia.parameters)[: robot.n * len(terms)].reshape(robot.n, len(terms))
    before, after = (
        np.array([_rms(e[joint.loaded]) for e, joint in zip(errors, rows.joints, strict=True)])
        for errors in ([joint.y for joint in rows.joints], rows.residuals(inertia.parameters, fit))
    )
    names, unsure = robot.coordinate_names, bool(terms) and not empty
    return PayloadEstimate(
        frame=at.name,
        inertia=inertia,
        parameters=found.parameters,
        standard_errors=found.standard_errors,
        covariance=found.covariance,
        identifiable=found.identifiable,
        combinations=found.combinations,
        corrections={names[j]: dict(zip(terms, map(float, c), strict=True)) for j, c in enumerate(corrections) if terms},
        residual_before=before,
        residual_after=after,
        verdict=verdict(found, consistent, names, before, after, corrected=unsure, trusted=not empty and share == 0.0),
        robot=robot.replace(payload=inertia, payload_frame=at.name),
    )


def _terms(friction: Sequence[str] | None, referenced: bool) -> tuple[str, ...]:
    if friction is None:
        return CORRECTIONS if referenced else ()
    given = (friction,) if isinstance(friction, str) else tuple(friction)
    for term in given:
        if term not in CORRECTIONS:
            raise InputError(f"friction={term!r} is not known; choose from {', '.join(map(repr, CORRECTIONS))}")
    return tuple(term for term in CORRECTIONS if term in given)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2))) if x.size else 0.0

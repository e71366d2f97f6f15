"""Identification of a payload: the ten inertial parameters of a load carried by an arm with a known model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, flat, short
from dynamis.errors import InputError, printable
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.payload_checks import log_doubts, residual_finding
from dynamis.identification.payload_fit import (
    CORRECTIONS,
    Determined,
    FittedLoad,
    PayloadRows,
    fitted_load,
    payload_regressor,
)
from dynamis.identification.samples import Samples, as_runs
from dynamis.robot import Robot
from dynamis.robot.checks import warn_of_open_loops
from dynamis.robot.replacement import replace_payload
from dynamis.spatial import PARAMETER_NAMES, Inertia

__all__ = ["PayloadEstimate", "identify_payload", "payload_regressor"]

Array = npt.NDArray[Any]
FREELY = 3.0  # relative standard deviation of the arm's parameters if there are runs without load


@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate:
    """Identified payload, about the origin of ``frame`` in its axes.

    ``inertia`` is the payload of ``robot``: physically consistent (if requested), with default values of a compact body for
    parameters the motion does not excite. ``parameters`` (10) is the unconstrained least-squares estimate, NaN for unexcited
    parameters, with ``standard_errors`` (infinite there) and ``covariance``. ``identifiable`` (10) is a mask of the excited
    parameters, ``combinations`` are the identifiable combinations of the others. ``corrections`` maps joints to corrections of
    the arm model in the logs with load. ``residual_before`` and ``residual_after`` (n) are RMS values; ``worse`` are joints
    whose residual the payload increases clearly: ``frame`` probably does not carry it, and ``better_frame`` is a link before it
    that fits clearly better. ``verdict`` is a list of sentences, of which ``doubts`` say why the logs contradict the estimate;
    if the least-squares mass is clearly ``negative``, the other values mean nothing.
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
    worse: tuple[str, ...]
    better_frame: str | None
    verdict: tuple[str, ...]
    robot: Robot
    doubts: tuple[str, ...] = ()
    negative: bool = False

    @property
    def mass(self) -> float:
        return float(self.inertia.mass)

    @property
    def com(self) -> Array:
        return self.inertia.com

    @property
    def detected(self) -> bool:
        """Whether the mass exceeds its standard error clearly, or cannot be told from other parameters."""
        return not self.verdict[0].startswith(NOTHING)

    def __str__(self) -> str:
        return "\n".join(self.verdict)

    _repr_html_ = as_text

    def __repr__(self) -> str:
        shown = f"{int(self.identifiable.sum())} of 10 parameters identifiable"
        where = f"{self.mass:.4g} kg at {flat(self.com, 3)} m in {printable(self.frame)}"
        return short(f"<PayloadEstimate of {printable(self.robot.name)}: {where}, {shown}>")


@one_blas_thread()
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
    examined: bool = True,
) -> PayloadEstimate:
    """Identify the payload at a frame (default: the tip) of an arm with a known model, with standard errors.

    ``reference`` are runs without load, used to correct the arm's model together with the load: ``friction`` lists the terms
    corrected for each joint, "offset", "viscous", "coulomb"; ``arm`` is the relative uncertainty of its inertial parameters
    (0.1 for 10 %). With a reference, the default is all terms and a large uncertainty; without one, no correction, since an arm
    model that is too heavy is indistinguishable from a load: the standard errors then assume an exact model, unless ``arm`` is
    above zero. Where friction or offsets of the logs with load differ from those of the reference, they have their own.
    ``consistent`` restricts the payload to physically consistent inertias. ``size`` [m] is the approximate size of
    the load: parameters with a larger uncertainty than the values of a body of this size are reported as unidentifiable, and
    replaced by those of such a body. The logs are examined as by `identify`, those without load if there are any; with
    ``examined=False`` they are not.

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
    if not 0.0 < size < np.inf:
        raise InputError(f"size= is the approximate size of the load in m and must be above zero; got {size!r}")
    runs, empty = as_runs(samples), [] if reference is None else as_runs(reference)
    if any(
        a.tau.shape == b.tau.shape and np.array_equal(a.q, b.q) and np.array_equal(a.tau, b.tau) for a in runs for b in empty
    ):
        raise InputError("the same run is given with the load and as reference: the reference is a run without the load")
    terms = _terms(friction, bool(empty))
    warn_of_open_loops(robot, "the torques of the payload")
    at = robot.model.frame(frame)
    share = (FREELY if empty else 0.0) if arm is None else float(arm)
    if arm is not None and not 0.0 <= share <= FREELY:
        raise InputError(
            f"arm= is the relative uncertainty of the arm's parameters, 0.15 for 15 %, and at most {FREELY:g}; got {arm!r}"
        )

    @functools.cache
    def rows_of(frame: str) -> PayloadRows:
        return PayloadRows(robot, frame, runs, empty, terms, share)

    def fitted(rows: PayloadRows) -> FittedLoad:
        return fitted_load(rows, size, consistent)

    load, separate = fitted(rows_of(at.name)), False
    carrying, notes, doubts = _carrying(robot, load.inertia, at.name), list[str](), list[str]()
    if examined:
        doubts += log_doubts(robot, empty or runs, notes, carrying=None if empty else carrying)
    if _negative(load.found):
        doubts += log_doubts(robot, runs, notes, carrying=None) if examined and empty else []
        turned = None
        if empty:
            swapped = functools.cache(lambda frame: PayloadRows(robot, frame, empty, runs, terms, share))
            turned = _exchanged(robot, swapped, at.name, fitted)
        doubts.insert(0, _below_zero(turned, bool(empty)))
    elif empty:
        own = fitted(rows_of(at.name).separated())
        why = residual_finding(robot, rows_of, at.name, load, own)
        if why is not None and why.separate:
            load, separate, carrying = own, True, _carrying(robot, own.inertia, at.name)
        if why is not None and why.doubt:
            causes = log_doubts(robot, runs, notes, carrying=carrying) if examined else []
            doubts += [why.text, *(cause for cause in causes if cause not in doubts)]
        elif why is not None:
            notes.append(why.text)
    fit, found, inertia, before, after = load
    corrections = fit.corrections(inertia.parameters)[: (1 + separate) * robot.n * len(terms)]
    corrections = corrections.reshape(1 + separate, robot.n, len(terms)).sum(axis=0)
    names, unsure = robot.coordinate_names, bool(terms) and not empty
    spoiled = _spoiled(before, after) & (not _nothing(found))
    better = None
    if spoiled.any():
        same = PayloadRows.separated if separate else lambda rows: rows
        better = _better_frame(robot, at.body, after, lambda frame: fitted(same(rows_of(frame)))[3:])
    said = verdict(
        found, inertia, consistent, robot, before, after, corrected=unsure, trusted=not empty and share == 0.0,
        frame=at.name, spoiled=spoiled, better=better,
    )  # fmt: skip
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
        worse=tuple(name for name, worse in zip(names, spoiled, strict=True) if worse),
        better_frame=better,
        verdict=(said[0], *doubts, *(() if _negative(found) else said[1:]), *notes),
        robot=carrying,
        doubts=tuple(doubts),
        negative=_negative(found),
    )


def _carrying(robot: Robot, inertia: Inertia, frame: str) -> Robot:
    """The robot with this payload, which the verdict is about, without a warning of its own."""
    description = robot.description
    replace_payload(description, inertia, robot.model, frame, {})
    return Robot(description, _quiet=True)


def _spoiled(before: Array, after: Array) -> Array:
    """Which joints have a clearly larger residual with the payload than without it."""
    return np.asarray((after > WORSE * before) & (after > ROUNDING * before.max(initial=0.0)))


def _better_frame(robot: Robot, body: int, after: Array, residuals: Callable[[str], tuple[Array, Array]]) -> str | None:
    """The link between the base and ``body`` whose payload fits best, if clearly better than with the residuals ``after``."""
    best, least = None, float("inf")
    for i in list(robot.model.ancestors(body))[1:]:
        link = robot.model.bodies[i]
        if link is None or link.name not in robot.model.frames:
            continue
        without, own = residuals(link.name)
        tiny = max(ROUNDING * float(without.max(initial=0.0)), 1e-300)
        # relative to those of the frame, geometric mean of the joints: their likelihood, if the noise of each is unknown
        ratio = float(np.exp(np.mean(np.log(np.maximum(own, tiny) / np.maximum(after, tiny)))))
        if ratio < min(least, CLEARLY_BETTER) and not _spoiled(without, own).any():
            best, least = link.name, ratio
    return best


def _terms(friction: Sequence[str] | None, referenced: bool) -> tuple[str, ...]:
    if friction is None:
        return CORRECTIONS if referenced else ()
    given = (friction,) if isinstance(friction, str) else tuple(friction)
    for term in given:
        if term not in CORRECTIONS:
            raise InputError(f"friction={term!r} is not supported; choose from {', '.join(map(repr, CORRECTIONS))}")
    return tuple(term for term in CORRECTIONS if term in given)


WORSE = 1.5  # residual of a joint with the payload relative to that without it: clearly larger
ROUNDING = 1e-6  # relative to the largest residual without payload: those of logs without noise
CLEARLY_BETTER = 0.9  # residual relative to that of another frame
CLEAR = 3.0  # standard errors: a larger mass is significant
UNEXPLAINED = 0.1  # fraction of the squares of the torque missing in the arm's model, with the load of exchanged logs
LEAST = 1e-6  # kg: a mass as far below zero is rounding
NOTHING = "no load detected"


def verdict(
    found: Determined,
    inertia: Inertia,
    consistent: bool,
    robot: Robot,
    before: Array,
    after: Array,
    *,
    corrected: bool,
    trusted: bool,
    frame: str,
    spoiled: Array,
    better: str | None,
) -> tuple[str, ...]:
    """Return sentences on the payload ``inertia``, most important first."""
    lines = [_mass(found, float(inertia.mass), " if the arm's model is exact" if trusted else "")]
    if found.determined[:4].all() and found.parameters[0] > CLEAR * found.standard_errors[0]:
        m, com = found.parameters[0], found.parameters[1:4] / found.parameters[0]
        slope = np.column_stack([-com / m, np.eye(3) / m])  # to first order
        errors = np.sqrt(np.diag(slope @ found.covariance[:4, :4] @ slope.T))
        lines.append(f"centre of mass ({_numbers(inertia.com)}) m, standard errors ({_numbers(errors)}) m")
    unshown = [name for name, shown in zip(PARAMETER_NAMES, found.determined, strict=True) if not shown]
    if unshown:
        shown = f"; only {', '.join(found.combinations)} is identifiable" if found.combinations else ""
        lines.append(f"not identifiable on their own from this motion: {', '.join(unshown)}{shown}; default values are given")
    vague = [
        f"{name} ({error:.2g} > {value:.2g})"
        for name, error, value, d, i in zip(
            PARAMETER_NAMES, found.standard_errors, found.plausible, found.determined, found.identifiable, strict=True
        )
        if d and not i
    ]
    if vague:
        lines.append(
            f"standard errors larger than the values of a compact body of the least-squares mass: {', '.join(vague)}; "
            "accelerate more, about more axes"
        )
    if found.identifiable.any() and found.determined.all() and not Inertia.from_parameters(found.parameters).is_consistent():
        com = found.parameters[1:4] / found.parameters[0]
        what = f"least-squares estimate (mass {found.parameters[0]:.4g} kg, centre of mass ({_numbers(com)}) m)"
        lines.append(
            f"the values given are those of the physically consistent body nearest to the {what}, which is not consistent"
            if consistent
            else f"the {what} is not physically consistent; consistent=True gives the nearest consistent body"
        )
    if spoiled.any():
        lines.insert(1, _misplaced(robot, before, after, frame, spoiled, better))
    elif (gained := before > 0.0).any():
        worst = int(np.argmax(np.where(gained, after / np.where(gained, before, 1.0), 0.0)))
        share = max(0.0, 1.0 - np.sum(after**2) / np.sum(before**2))
        lines.append(
            f"{100.0 * share:.0f} % of the torque missing in the arm's model is explained; "
            f"least at {_residual(robot, worst, before, after)}"
        )
    if corrected:
        lines.append("offset and friction were corrected without a log of the unloaded arm: offsets may be due to weight")
    if trusted:
        told = "a log without load, reference=, or the relative size of the errors, arm="
        lines.append(f"the arm's model was assumed exact; to allow for its errors, give {told}")
    return tuple(lines)


def _misplaced(robot: Robot, before: Array, after: Array, frame: str, spoiled: Array, better: str | None) -> str:
    worst = int(np.argmax(np.where(spoiled, after / np.maximum(before, 1e-300), 0.0)))
    fault = f"with the payload the torque of {_residual(robot, worst, before, after)}, is explained worse than without it"
    if better is None:
        cure = "name the link that carries it, frame=…, or allow for errors of the arm's model"
    else:
        cure = f"{printable(better)} fits clearly better: frame={better!r}"
    return f"{fault}: {printable(frame)} probably does not carry the load; {cure}"


def _residual(robot: Robot, joint: int, before: Array, after: Array) -> str:
    change = f"{before[joint]:.3g} → {after[joint]:.3g} {robot.model.coordinates[joint].effort_unit}"
    return f"{printable(robot.coordinate_names[joint])}, RMS residual {change}"


def _nothing(found: Determined) -> bool:
    """Whether the mass is known and not significant."""
    return bool(found.determined[0] and found.parameters[0] < CLEAR * found.standard_errors[0])


def _negative(found: Determined) -> bool:
    """Whether the mass is known and clearly below zero."""
    return bool(found.determined[0] and found.parameters[0] < -max(CLEAR * found.standard_errors[0], LEAST))


def _exchanged(
    robot: Robot,
    rows_of: Callable[[str], PayloadRows],
    frame: str,
    fitted: Callable[[PayloadRows], FittedLoad],
) -> tuple[float, float] | None:
    """Return mass and standard error from rows in which the roles of the logs are exchanged, if these explain them."""
    load, separate = fitted(rows_of(frame)), fitted(rows_of(frame).separated())
    why = residual_finding(robot, rows_of, frame, load, separate)
    load = separate if why is not None and why.separate else load
    m, error = float(load.found.filled[0]), float(load.found.standard_errors[0])
    explained = np.sum(load.after**2) < UNEXPLAINED * np.sum(load.before**2) and (why is None or not why.doubt)
    return (m, error) if m > CLEAR * error and explained else None


def _below_zero(exchanged: tuple[float, float] | None, referenced: bool) -> str:
    """Return the cause of a negative mass, and its cure."""
    text = "no load has a negative mass"
    if not referenced:
        return (
            f"{text}: torques or gravity have the wrong sign, or the arm's model is heavier than the arm; to allow for its "
            "errors, give a log without load, reference=, or their relative size, arm="
        )
    if exchanged is None:
        return f"{text}: check signs, units and order of the torques, and which of the logs is without load"
    m, error = exchanged
    text = f"{text}: the logs with load and without seem to be exchanged"
    return f"{text}; exchanged, they give {m:.4g} kg, standard error {error:.2g} kg"


def _mass(found: Determined, mass: float, condition: str) -> str:
    m, error = found.parameters[0], found.standard_errors[0]
    if not found.determined[0]:
        return "the mass is not identifiable on its own"
    if _nothing(found):
        return (
            f"{NOTHING}: least-squares mass {m:.4g} kg, standard error {error:.2g} kg{condition}; a load below "
            f"{CLEAR * error:.2g} kg cannot be seen in these logs"
        )
    return f"mass {mass:.4g} kg, standard error {error:.2g} kg{condition}"


def _numbers(values: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in values)

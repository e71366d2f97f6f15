"""Changes during a log: from some time on the last link carries another load, or the torque of one joint has another offset,
friction or gain.

The columns of the change, zero before this time, are added to a fit with free parameters. Friction and gain of a joint may also
change evenly over the log, as where drives warm up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.logs.free_fit import EXACT, MOST_ROWS, RIVAL, FreeFit
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.nonlinear import UNEXCITED, WeightedFit, noise_by_group
from dynamis.robot import Robot

Array = npt.NDArray[Any]
EXPLAINED = 0.36  # fraction of the unexplained variance of its joint, or of all, that is left by a change that is reported
EVENLY = 0.05  # the same by an even change, whose form others have, too
FITTED = 0.01  # fraction of the variance of the torques, below which their fit with the change is good
EDGE = 0.1  # fraction of the log at both ends in which no change is looked for
COARSE, FINE = 16, 12  # times that are tried over the log, and then in both directions between two of them
DEPENDENT = 1e-9  # relative size of a direction of the inertia of a link on which no torque depends
LARGEST = 0.9  # change of a gain, as a fraction of the torques
CHUNK = 20_000  # samples whose regressor is evaluated at once
KINDS = ("offset", "friction", "gain", "load")  # the simplest first
RAMPED = ("offset", "friction", "gain")  # an offset that changes evenly is a drift (`joint_faults`)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a ``kind`` of `KINDS`, of one ``joint`` or of the load, from ``start`` on to the ``end`` of a log, or evenly
    in between; ``sizes`` are its coefficients: of the torque, of velocity and dry friction, or of the base parameters. ``left``
    (n,) are the fractions of the residuals' squares that it leaves, ``source`` is the log."""

    kind: str
    joint: int
    start: float
    end: float
    ramp: bool
    sizes: Array
    level: float
    left: Array
    base: BaseParameters = field(repr=False)
    source: str = ""

    def share(self, t: Array) -> Array:
        """The fraction (N,) of the change at these times."""
        if not self.ramp:
            return np.asarray((t > self.start).astype(float))
        return np.asarray(np.clip((t - self.start) / (self.end - self.start), 0.0, 1.0))

    def removed(self, t: Array, q: Array, v: Array, a: Array, tau: Array) -> Array:
        """The torques (N, n) without the change."""
        share, j, corrected = self.share(t), self.joint, tau.copy()
        match self.kind:
            case "offset":
                corrected[:, j] -= share * self.sizes[0]
            case "gain":
                corrected[:, j] *= 1.0 - share * self.sizes[0]
            case "friction":
                corrected[:, j] -= share * (np.stack([v[:, j], np.sign(v[:, j])], axis=1) @ self.sizes)
            case _:
                for k in range(0, len(t), CHUNK):
                    part = slice(k, k + CHUNK)
                    corrected[part] -= share[part, None] * (self.base.regressor(q[part], v[part], a[part]) @ self.sizes)
        return corrected

    def of(self, motion: MotionSummary) -> Array:
        """The torques of a motion without the change."""
        return self.removed(motion.t, motion.q, motion.v, motion.a, motion.tau)

    @property
    def mass(self) -> float | None:
        """The mass [kg] of the further load, or None if no torque depends on it alone."""
        B = self.base.B[:, self.base.model.bodies[-1].place]
        inverse = np.linalg.pinv(B, rcond=DEPENDENT)
        alone = np.allclose((inverse @ B)[0], np.eye(10)[0], atol=1e-6)
        return float((inverse @ self.sizes)[0]) if alone else None


def change_within(fit: FreeFit, motion: MotionSummary) -> Change | None:
    """Return the change during a log with which its torques are most likely, if they are clearly more likely, or None."""
    thin = motion.thinned(MOST_ROWS)
    free = fit.fitted(thin)
    t = thin.t[thin.rows]
    if fit.left(free.rest).mean() < EXACT or not np.ptp(t) > 0.0:
        return None
    free = free.weighted(noise_by_group(free.residual, np.tile(np.arange(fit.n), len(t))))
    low, high = (t.min() + x * np.ptp(t) for x in (EDGE, 1.0 - EDGE))
    times = np.linspace(low, high, COARSE)
    tried = list(_changes(fit, thin, free, t, times))
    best = min(tried, key=lambda change: change.level)
    if not best.ramp:
        near = np.linspace(-1.0, 1.0, 2 * FINE + 1) * (times[1] - times[0])
        tried += _changes(fit, thin, free, t, best.start + near, (best.kind,))
    least = min(change.level for change in tried) + RIVAL * thin.torque.size
    likely = (min((c for c in tried if c.kind == kind), key=lambda change: change.level) for kind in KINDS)
    found = next(change for change in likely if change.level < least)  # the simplest of those that are as likely
    own, before = slice(None) if found.kind == "load" else slice(found.joint, found.joint + 1), fit.unexplained(motion)
    after = before * found.left
    if found.kind == "gain" and not found.ramp:  # a wrong gain of the whole log is no change
        always = [c.level for c in _changes(fit, thin, free, t, np.array([-np.inf]), ("gain",)) if c.joint == found.joint]
        if found.level > min(always, default=np.inf) - RIVAL * thin.torque.size:
            return None
    explains = after[own].mean() < min((EVENLY if found.ramp else EXPLAINED) * before[own].mean(), FITTED)
    return found if explains and not (found.kind == "offset" and found.ramp) else None


def _changes(
    fit: FreeFit, motion: MotionSummary, free: WeightedFit, t: Array, times: Array, kinds: tuple[str, ...] = KINDS
) -> Iterator[Change]:
    """Yield the changes from each of the times on, and evenly over the log, with their levels relative to that without any."""
    n, base = fit.n, fit.base
    U, singular, _ = np.linalg.svd(base.B[:, base.model.bodies[-1].place], full_matrices=False)
    U = U[:, singular > DEPENDENT * singular[0]]
    load = fit.columns(motion)[..., : base.rank] @ U
    own = {
        "offset": np.ones((len(t), n, 1)),
        "gain": motion.torque[..., None],
        "friction": np.stack([motion.filtered(x) for x in (motion.v, np.sign(motion.v))], axis=-1),
    }
    rest, before = free.rest, fit.left(free.rest)
    Q, size, _ = np.linalg.svd(free.X / free.noise[:, None], full_matrices=False)
    Q = Q[:, size > UNEXCITED * size[0]]
    along = Q.T @ rest
    spans = [(float(start), False) for start in times] + ([(float(t.min()), True)] if kinds is KINDS else [])
    for start, ramp in spans:
        for kind in kinds:
            if (ramp and kind not in RAMPED) or (kind == "load" and any(base.model.presliding)):
                continue
            for joint in range(n) if kind != "load" else (-1,):
                empty = Change(kind, joint, start, float(t.max()), ramp, np.zeros(0), 0.0, before, base)
                share = empty.share(t)
                rows = slice(None) if kind == "load" else slice(joint, None, n)
                columns = load * share[:, None, None] if kind == "load" else own[kind][:, joint] * share[:, None]
                effect = columns.reshape(-1, columns.shape[-1]) / free.noise[rows, None]
                explained = Q[rows].T @ effect  # by the columns of the fit
                scale = np.sqrt(np.maximum(np.einsum("ij,ij->j", effect, effect), 1e-300))
                e, w = effect / scale, explained / scale
                part, V = np.linalg.eigh(e.T @ e - w.T @ w)  # of the effect that the fit does not explain
                V = V[:, part > UNEXCITED]
                found = V @ (V.T @ (e.T @ rest[rows] - w.T @ along) / part[part > UNEXCITED]) / scale
                if kind == "gain" and abs(found[0]) > LARGEST:
                    continue
                after = rest + Q @ (explained @ found)
                after[rows] -= effect @ found
                left = np.maximum(fit.left(after), 1e-300) / np.maximum(before, 1e-300)
                level = 0.5 * len(t) * float(np.sum(np.log(left)))
                if kind == "gain":  # smaller torques have smaller residuals, which is no better fit
                    level -= float(np.sum(np.log1p(-share * found[0])))
                sizes = U @ found if kind == "load" else found
                yield replace(empty, sizes=sizes, level=level, left=left)


def change_finding(change: Change, robot: Robot, source: str, column: Callable[[str, int], str]) -> LogFinding:
    """Return the finding for a change; ``column`` gives the names of columns of the log."""
    when = f"at t = {change.start:.4g} s"
    rest = f"leave_out=({np.floor(10.0 * change.start) / 10.0:.6g},{np.ceil(change.end):.6g})"
    if change.kind == "load":
        mass = "" if change.mass is None else f", by {change.mass:.3g} kg"
        text = f"{source}the load on {printable(change.base.model.bodies[-1].name)} changes {when}{mass}"
        cure = (
            f"cut the log at this time, identify the robot from the part without load, and the load from the other with "
            f"identify_payload (dynamis payload); or leave a part out, as with {rest}"
        )
        return LogFinding("warning", "change", None, None, text, cure, caps=2, change=change)
    name, unit = printable(robot.coordinate_names[change.joint]), robot.model.coordinates[change.joint].effort_unit
    span = "evenly over the log" if change.ramp else when
    match change.kind:
        case "offset":
            text = f"the torque of {name} jumps by {change.sizes[0]:.3g} {unit} {span} (zero of a sensor, a brake, a cable)"
        case "gain":
            text = f"the torque of {name} grows {1.0 / (1.0 - change.sizes[0]):.3g} times {span} (gain of sensor or drive)"
        case _:
            text = f"the friction of {name} changes {span} (temperature, a brake)"
    cure = "check this joint and record again"
    if not change.ramp:
        cure += f", or leave a part of the log out, as with {rest}"
    return LogFinding("warning", "change", column("tau", change.joint), None, f"{source}{text}", cure, caps=2, change=change)

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
SLOW = 0.1  # speed, relative to the largest, of a Stribeck effect that the model may lack
LARGEST = 0.9  # change of a gain, as a fraction of the torques
CHUNK = 20_000  # samples whose regressor is evaluated at once
KINDS = ("offset", "friction", "gain", "load")  # the simplest first
ALWAYS = ("gain", "every friction")  # what may be wrong during the whole log
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
    if found.kind == "friction" or (found.kind == "gain" and not found.ramp):  # wrong during the whole log, it is no change
        always = [c.level for c in _changes(fit, thin, free, t, np.array([-np.inf]), ALWAYS) if c.joint == found.joint]
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
    slow = SLOW * np.maximum(np.abs(motion.v).max(axis=0), 1e-300)
    way = np.sign(motion.v)
    friction = (motion.v, way, motion.v * np.abs(motion.v), way * np.exp(-((motion.v / slow) ** 2)), way * np.abs(motion.tau))
    every = np.stack([motion.filtered(x) for x in friction], axis=-1)
    own = {
        "offset": np.ones((len(t), n, 1)),
        "gain": motion.torque[..., None],
        "friction": every[..., :2],
        "every friction": every,  # of the forms that the model may lack
    }
    rest, before = free.rest, np.maximum(fit.left(free.rest), 1e-300)
    Q, size, _ = np.linalg.svd(free.X / free.noise[:, None], full_matrices=False)
    Q = Q[:, size > UNEXCITED * size[0]]
    along = Q.T @ rest
    for kind in kinds:
        if kind == "load" and any(base.model.presliding):
            continue
        spans = [(float(start), False) for start in times]
        spans += [(float(t.min()), True)] if kinds is KINDS and kind in RAMPED else []
        for joint in range(n) if kind != "load" else (-1,):
            empty = [Change(kind, joint, start, float(t.max()), ramp, np.zeros(0), 0.0, before, base) for start, ramp in spans]
            shares = np.stack([change.share(t) for change in empty])
            rows = slice(None) if kind == "load" else slice(joint, None, n)
            columns = load.reshape(len(rest), -1) if kind == "load" else own[kind][:, joint]
            columns = columns / free.noise[rows, None]
            effects = np.repeat(shares, len(columns) // len(t), axis=1)[..., None] * columns  # (spans, rows, columns)
            scale = np.sqrt(np.maximum(np.einsum("sij,sij->sj", effects, effects), 1e-300))
            effects = effects / scale[:, None]
            explained = Q[rows].T @ effects  # by the columns of the fit
            squares = effects.transpose(0, 2, 1) @ effects - explained.transpose(0, 2, 1) @ explained
            part, V = np.linalg.eigh(squares)  # of the effects that the fit does not explain
            inverse = np.divide(1.0, part, out=np.zeros_like(part), where=part > UNEXCITED)
            right = effects.transpose(0, 2, 1) @ rest[rows] - explained.transpose(0, 2, 1) @ along
            found = np.einsum("sij,sj,skj,sk->si", V, inverse, V, right)
            after = rest + np.einsum("sij,sj->si", explained, found) @ Q.T
            after[:, rows] -= np.einsum("sij,sj->si", effects, found)
            left = np.maximum((after.reshape(len(spans), -1, n) ** 2).mean(axis=1), 1e-300) / before
            levels = 0.5 * len(t) * np.log(left).sum(axis=1)
            for k, (change, sizes) in enumerate(zip(empty, found / scale, strict=True)):
                level = float(levels[k])
                if kind == "gain":  # smaller torques have smaller residuals, which is no better fit
                    if abs(sizes[0]) > LARGEST:
                        continue
                    level -= float(np.sum(np.log1p(-shares[k] * sizes[0])))
                yield replace(change, sizes=U @ sizes if kind == "load" else sizes, level=level, left=left[k])


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

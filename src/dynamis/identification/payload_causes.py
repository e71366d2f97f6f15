"""Why logs with load and without may differ by more than the load: another scale, another link, or a load carried in a part.

Friction and offsets are free in either log, so that only torques of inertia and gravity, which the links have in both, tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.payload_fit import PayloadRows, noise_level, solve
from dynamis.robot import Robot

Array = npt.NDArray[Any]
PASSES, SETTLED = 5, 0.01  # iterations of the noise of the joints, until it changes by less, relatively
CERTAIN = 5.0  # standard errors by which a scale differs from 1
LOWER = 0.5  # decrease of the sum of the logarithms of the joints' noise with a cause
PARTS = 16  # of the log with load, at whose ends the load may have been taken up or dropped
SHORTEST = 0.01  # of the log, with the load or without it
HALVED = 4  # times, the distance from the moment at which it was


@dataclass(frozen=True)
class CauseFit:
    """Mass and its standard ``error`` after a fit, the RMS residuals (n,) with load, ``left``, the ``noise`` of the joints and
    the sum of its logarithms, ``level``, and the ``factor`` of the torques with load with its standard error; ``is_part`` if
    the load is taken to be carried in a part of the log; ``text`` is the cause in words."""

    text: str
    mass: float
    error: float
    left: Array
    level: float
    noise: Array
    factor: float = 1.0
    factor_error: float = 0.0
    is_part: bool = False


def refitted(
    rows: PayloadRows,
    text: str = "",
    *,
    scaled: Array | None = None,
    carried: Callable[[Array], Array] | None = None,
    noise: Array | None = None,
) -> CauseFit:
    """Fit the load again, from `separated` rows, with the torques of the joints ``scaled`` (n,) a multiple of those of the
    reference, or with the load where ``carried`` is true of the fraction of the log with load. ``noise`` is that of the joints
    in a similar fit."""
    n, terms = len(rows.joints), rows.own + len(rows.belief)
    tables = []
    for j, (joint, tau) in enumerate(zip(rows.joints, rows.torque, strict=True)):
        load = joint.A[:, terms:-1]
        if carried is not None:
            load = load * carried(np.cumsum(joint.loaded) / max(joint.loaded.sum(), 1))[:, None]
        column = np.zeros((len(tau), 0)) if scaled is None else -(tau * joint.loaded)[:, None] * scaled[j]
        tables.append(np.column_stack([joint.A[:, :terms], load, column, joint.A[:, -1]]))
    believed = np.zeros((len(rows.belief), tables[0].shape[1]))
    believed[:, rows.own : terms] = np.diag(rows.belief)
    factors = [np.linalg.qr(A, mode="r") if len(A) > A.shape[1] else A for A in tables]
    if noise is None:
        noise = np.array([max(float(np.linalg.norm(A[:, -1])) / np.sqrt(max(len(A), 1)), 1e-300) for A in tables])
    spent = (rows.own + 11.0 + len(rows.belief)) / n
    for _ in range(PASSES):
        stacked = np.vstack([*(A / s for A, s in zip(factors, noise, strict=True)), believed])
        x = solve(stacked[:, :-1], stacked[:, -1])
        rest = [A[:, -1] - A[:, :-1] @ x for A in tables]
        before, noise = noise, np.array([noise_level(e, joint, spent) for e, joint in zip(rest, rows.joints, strict=True)])
        noise = np.maximum(noise, 1e-9 * noise.max() + 1e-300)
        if (np.abs(noise - before) < SETTLED * before).all():
            break
    size = np.linalg.norm(stacked[:, :-1], axis=0)
    size[size == 0.0] = 1.0
    errors = np.linalg.norm(np.linalg.pinv(stacked[:, :-1] / size, rcond=1e-10), axis=1) / size
    loaded = [e[joint.loaded] for e, joint in zip(rest, rows.joints, strict=True)]
    squares = [float(e @ e) / max(len(e) - spent, 1.0) for e in loaded]
    found = text, float(x[terms]), float(errors[terms]), np.sqrt(squares), float(np.log(noise).sum()), noise
    if scaled is None:
        return CauseFit(*found, is_part=carried is not None)
    factor = 1.0 / (1.0 + x[-1]) if x[-1] > -1.0 else np.inf
    return CauseFit(*found, factor, factor**2 * float(errors[-1]))


def scales(robot: Robot, rows: PayloadRows) -> Iterator[CauseFit]:
    """Yield refits with torques with load, of all joints or of one, that are surely a multiple of those of the reference."""
    each = [(f" of {printable(name)}", x) for name, x in zip(robot.coordinate_names, np.eye(robot.n), strict=True)]
    for whose, scaled in [("", np.ones(robot.n)), *each]:
        found = refitted(rows, scaled=scaled)
        if np.isfinite(found.factor) and abs(found.factor - 1.0) > CERTAIN * found.factor_error:
            times = f"{found.factor:.4g} times those of the reference (standard error {found.factor_error:.1g})"
            text = f"the torques with load{whose} seem to be {times}: check units and drive gains; divided by it"
            yield replace(found, text=text)


def parts(rows: PayloadRows) -> Iterator[CauseFit]:
    """Yield refits with the load in the first or the last part of the log only, to some seconds."""
    for which in ("first", "last"):
        found, noise = dict[float, CauseFit](), None
        for share in (np.arange(1, PARTS) / PARTS).tolist():
            found[share] = _in_part(rows, which, share, noise)
            noise = found[share].noise
        for step in 0.5 ** np.arange(1, HALVED + 1) / PARTS:
            best = min(found, key=lambda share: found[share].level)
            near = [share for share in (best - step, best + step) if SHORTEST <= share <= 1.0 - SHORTEST]
            found |= {share: _in_part(rows, which, share, found[best].noise) for share in near}
        yield min(found.values(), key=lambda each: each.level)


def _in_part(rows: PayloadRows, which: str, share: float, noise: Array | None) -> CauseFit:
    part = f"the {which} {100.0 * share:.0f} % of the log with load"
    text = f"the load seems to have been carried in {part} only: give this part of it; with the load in this part"
    return refitted(rows, text, carried=lambda x: x <= share if which == "first" else x > 1.0 - share, noise=noise)


def links(robot: Robot, frame: str, rows_of: Callable[[str], PayloadRows]) -> Iterator[CauseFit]:
    """Yield refits with the load carried by other links."""
    body = robot.model.frame(frame).body
    for i, link in robot.model.links:
        if i not in (0, body) and link.name in robot.model.frames:
            text = f"{printable(link.name)} seems to carry the load, not {printable(frame)}: frame={link.name!r}; with it"
            yield refitted(rows_of(link.name).separated(), text)


def likeliest(base: CauseFit, causes: Sequence[CauseFit], explained: Callable[[Array], bool]) -> CauseFit | None:
    """Return the cause with which the logs are explained best: all, or at least half of the noise of the joints in the mean, as
    the moment at which a load was dropped is not known exactly; None if they are not explained clearly better than without."""
    half = base.level - np.log(2.0) * len(base.left)
    good = [c for c in causes if c.level < base.level - LOWER and (explained(c.left) or (c.is_part and c.level < half))]
    return min(good, key=lambda cause: cause.level, default=None)

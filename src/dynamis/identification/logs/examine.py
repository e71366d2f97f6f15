"""Checks of a raw log before use, without a model: non-finite numbers, positions, velocities, torques, and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.column_names import LAST_WORDS, of_motor
from dynamis.identification.logs.examine_clock import FEW, clock_findings, displacement
from dynamis.identification.logs.log import Log, LogFinding
from dynamis.identification.logs.units import barest
from dynamis.identification.samples import not_finite
from dynamis.identification.signals.constant_values import saturated
from dynamis.identification.signals.outliers import stretches
from dynamis.identification.signals.stages import HELD
from dynamis.robot import Robot

Array = npt.NDArray[Any]
CHECKED = ("t", "q", "v", "a", "tau", "current")  # temperatures are often logged at a lower rate
FEWEST = 30  # samples: a joint has up to thirteen parameters, and each needs more than one equation

# positions
DEGREE = np.pi / 180.0
MOST = 0.99  # fraction of the rows that decides the unit: a few spikes do not
BURST = 3  # rows in a row that `prepare` detects as a spike
LITTLE = 0.05  # rad, and a tenth of it in m: less motion does not identify friction and inertia
BEYOND = 0.05  # fraction of the range, and rad or m: tolerance of position limits
BESIDE = 6  # rows before and after a jump in which there is no other
SUDDEN = 5.0  # speed of a jump, relative to the highest one of its joint
STEADY = 2.0  # the same, up to which its joint before and after, and all others, do not jump
LEAST_JUMP = 0.01  # rad or m
MANY_TURNS = 4.0 * np.pi  # rad: more than any joint with limits can turn
FAST = 3.0  # relative to the velocity limit
FASTEST = 60.0  # rad/s: no arm is faster; larger values are in degrees

# velocities
STRETCH = 0.02  # s, duration of a segment
LEAST_STRETCHES = 25
CLEAR = 0.9  # significant correlation
WEAK = 0.6
NONE = 0.3  # correlation below which a velocity is unrelated to its position
MOVES = 5e-3  # rad/s or m/s: slower joints are not checked
FACTORS = {
    180.0 / np.pi: "degrees/s",
    np.pi / 180.0: "rad/s while the positions are in degrees",
    1e3: "thousandths",
    60.0 / (2.0 * np.pi): "rpm",
}
AGREE = 0.25  # relative tolerance of the velocity's magnitude

# torques
OVER = 1.5  # relative to the effort limit
OTHER_UNIT = 50.0  # relative to the effort limit
USUAL = 0.9  # quantile of the torques that a few spikes do not affect
CLIPPED = (
    0.005,
    0.5,
)  # fractions of the rows of a torque at a limit, from which a result is no longer good, and no longer usable


def examine(log: Log, robot: Robot) -> list[LogFinding]:
    """Return errors and warnings about a log of a robot, the worst first; an empty list if there are none.

    Each `LogFinding` names its column and row, and a remedy; `raise_errors` raises the errors. Joint limits are checked only
    for joint-side logs.

    >>> import dynamis as dy, numpy as np
    >>> from dynamis.identification.logs import Log, examine
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> t = np.arange(200) / 100
    >>> q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    >>> tau = arm.gravity(q)
    >>> tau[17, 0] = np.nan
    >>> print(*examine(Log(t, q, tau, names=arm.coordinate_names), arm))
    error: column 'tau.joint1' is nan at row 17; remove these rows, or interpolate
    """
    if log.n != robot.n or log.q.shape[1] != robot.nq:
        what = (
            f"the log has {counted(log.q.shape[1], 'position')} and {counted(log.n, 'torque')}, the robot "
            f"{robot.nq} and {robot.n}"
        )
        raise InputError(f"{what}: it is a log of another robot")
    findings = [*_not_finite(log)]
    if len(log) < FEWEST:
        end = f", which end at {log.where(len(log) - 1)}" if len(log) else ""
        text = f"the log has {counted(len(log), 'sample')}{end}; at least {FEWEST} are needed"
        few = LogFinding("error", "few samples", None, max(len(log) - 1, 0), text, "record a run of some seconds")
        return [*findings, few]
    usable = np.ones(len(log), bool)
    for values in (getattr(log, name) for name in CHECKED if findings):
        usable &= True if values is None else np.isfinite(values.reshape(len(log), -1)).all(axis=1)
    rows = np.flatnonzero(usable)
    if len(rows) < FEWEST:
        return findings
    findings += [*_computed(log), *clock_findings(log, robot), *_motion(log, robot, rows), *_torques(log, robot, rows)]
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _computed(log: Log) -> Iterator[LogFinding]:
    """Torques by whose names they are those of a controller's model."""
    torque = next(iter(log.columns.get("tau", ())), "")
    if any(word in torque for word in LAST_WORDS["torque"]):
        text = f"the torques {printable(torque)}, … are computed by the model of the controller, not measured"
        cure = "log measured torques, or currents with their constants: [current] in a mapping"
        yield LogFinding("warning", "computed torques", torque, None, text, cure, caps=1)


def _not_finite(log: Log) -> Iterator[LogFinding]:
    for signal in CHECKED:
        values = getattr(log, signal)
        if values is None:
            continue
        table = values[:, None] if values.ndim == 1 else values
        if not len(not_finite(table)):
            continue
        bad = ~np.isfinite(table)
        for joint in np.flatnonzero(bad.any(axis=0)):
            row, count = int(np.argmax(bad[:, joint])), int(bad[:, joint].sum())
            column = "t" if signal == "t" else log.column(signal, int(joint))
            more = f", and in {counted(count, 'row')} in total" if count > 1 else ""
            text = f"column {printable(column)} is {table[row, joint]} at {log.where(row)}{more}"
            cure, mends = "remove these rows, or interpolate", count <= max(1.0, FEW * len(log))
            yield LogFinding("error", "not a number", column, row, text, cure, mends=mends)


def _taken(x: Array, rows: Array) -> Array:
    """Return rows of x, without a copy if these are all."""
    return x if len(rows) == len(x) else x[rows]


def _motion(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield findings on positions and velocities."""
    yield from _at_rest(log, robot, rows)
    in_degrees: dict[int, LogFinding] = {}
    if robot.nq == robot.n:
        yield from _wrapped(log, robot, rows)
        yield from _jumps(log, robot, rows)
        if log.side_of("q") == "joint":
            in_degrees = dict(_degrees(log, robot, rows))
            if in_degrees and _swapped_with_torques(log, rows):
                row, reached = int(rows[0]), np.abs(_taken(log.q, rows)).max()
                text = f"positions and torques seem to be swapped from {log.where(row)} on: the positions reach {reached:.4g} "
                text += "and are rougher than the torques, which stay within one turn"
                yield LogFinding("error", "swapped signals", log.column("q", 0), row, text, "swap the columns of q and tau")
            else:
                yield from in_degrees.values() if in_degrees else _beyond_limits(log, robot, rows)
    if log.v is not None and log.side_of("v") == log.side_of("q"):
        yield from _velocities(log, robot, rows, set(in_degrees))


def _at_rest(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield joints that do not move, then those that hardly move."""
    ranges, first = np.ptp(_taken(log.q, rows), axis=0), int(rows[0])
    still = [c for c in robot.model.coordinates if c.q_index is not None and ranges[c.q_index] < HELD]
    every = "error" if len(still) == robot.n else "warning"
    for low, what, severity, code, cure in (
        (0.0, "does not move", every, "constant", "move it; parameters that need its motion cannot be identified"),
        (HELD, "hardly moves", "warning", "little motion", "do not rely on its friction and inertia"),
    ):
        for c in robot.model.coordinates:
            high = HELD if low == 0.0 else LITTLE if c.revolute else 0.1 * LITTLE
            if c.q_index is not None and low <= ranges[c.q_index] < high:
                column = log.column("q", c.q_index)
                text = f"joint {printable(c.name)} {what}: column {printable(column)} stays within {ranges[c.q_index]:.3g} "
                text += f"{'rad' if c.revolute else 'm'} from {log.where(first)} on"
                yield LogFinding(severity, code, column, first, text, cure)


def _wrapped(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield wrapped angles: jumps of one turn between samples are not motion."""
    every = np.diff(_taken(log.q, rows), axis=0)
    far = np.abs(every).max(axis=0) > 0.95 * 2.0 * np.pi
    for joint, c in ((k, c) for k, c in enumerate(robot.model.coordinates) if far[k]):
        steps = every[:, joint]
        for turn, unit in ((2.0 * np.pi, "rad"), (360.0, "degrees")):
            jumps = np.abs(np.abs(steps) - turn) < 0.05 * turn
            if c.revolute and jumps.any() and np.abs(steps[~jumps]).max(initial=0.0) < 0.2 * turn:
                row, column = int(rows[int(np.argmax(jumps)) + 1]), log.column("q", joint)
                text = f"column {printable(column)} jumps by one turn ({turn:.6g} {unit}) at {log.where(row)}"
                more = f", {jumps.sum()} times in total" if jumps.sum() > 1 else ""
                yield LogFinding("error", "wrapped", column, row, text + more, "unwrap it: numpy.unwrap")
                break


def _jumps(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield jumps of the position of one joint alone, which moves before and after as it did: its encoder or zero was shifted.

    Spikes go back within a burst, values that were held were passed over, and where samples are lost all joints jump. Times
    that are close together, as of messages that waited, are no fast motion.
    """
    t, q = _taken(log.t, rows), _taken(log.q, rows)
    if len(t) < 2 * BESIDE + 3 or not (steps := np.diff(t)).min() > 0.0:
        return
    usual, moved = float(np.median(steps)), np.diff(q, axis=0)
    rates = moved / np.maximum(steps, usual)[:, None]
    fast = np.quantile(np.abs(rates), MOST, axis=0, method="lower")  # of coarse values, one that occurs
    most = np.array([0.9 * 2.0 * np.pi if c.revolute else np.inf for c in robot.model.coordinates])
    size = np.abs(moved)
    far = (np.abs(rates) > SUDDEN * fast) & (size > LEAST_JUMP) & (size < most) & (fast > 0.0)
    for k in np.flatnonzero(far.any(axis=1)):
        if not BESIDE <= k < len(rates) - BESIDE or steps[k] > 1.5 * usual:
            continue
        before, after = rates[k - BESIDE : k], rates[k + 1 : k + 1 + BESIDE]
        moves = np.abs(rates[k] - 0.5 * (np.median(before, axis=0) + np.median(after, axis=0))) / np.maximum(fast, 1e-300)
        joint = int(np.argmax(np.where(far[k], moves, 0.0)))
        alone = np.delete(moves, joint).max(initial=0.0) < STEADY
        steady = np.abs(np.concatenate([before, after])[:, joint]).max() < STEADY * fast[joint]
        held = int(size[k, joint] / (SUDDEN * fast[joint] * usual))  # rows in which the joint can move as far
        if alone and steady and (q[max(k - held, 0) : k, joint] != q[k, joint]).any():
            c, row, column = robot.model.coordinates[joint], int(rows[k + 1]), log.column("q", joint)
            unit, step = "rad" if c.revolute else "m", f"{moved[k, joint]:.3g}"
            text = f"column {printable(column)} jumps by {step} {unit} at {log.where(row)}, t = {log.t[row]:.6g} s, while "
            text += "the joint moves on as before: its encoder slipped, or its zero was set"
            cure = f"cut the log there, or leave a part out, as with leave_out=({log.t[row]:.6g},{t[-1]:.6g})"
            yield LogFinding("error", "position jump", column, row, text, cure)
            return


def _degrees(log: Log, robot: Robot, rows: Array) -> Iterator[tuple[int, LogFinding]]:
    """Yield joints far beyond their limits, or too fast, that would be within them if the unit were degrees, or whose columns
    are named as those of motors."""
    lower, upper, fastest = (robot.limits[name] for name in ("lower", "upper", "velocity"))
    q = _taken(log.q, rows)
    if not np.abs(q).max(initial=0.0) > 2.0 * np.pi:
        return
    speed = _largest_speed(log, rows)
    largest, bounds = np.quantile(np.abs(q), MOST, axis=0), np.maximum(np.abs(lower), np.abs(upper))
    far = np.where(np.isfinite(bounds), largest > np.maximum(1.5 * bounds, MANY_TURNS), False)
    fast = np.where(np.isfinite(fastest), speed > FAST * fastest, speed > FASTEST)
    slack = BEYOND * np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    inside = np.mean((q * DEGREE >= lower - slack) & (q * DEGREE <= upper + slack), axis=0) >= MOST
    for joint, c in enumerate(robot.model.coordinates):
        past = fast[joint] and largest[joint] > 2.0 * np.pi
        column = log.column("q", joint)
        unit = barest(column, "position")[1]
        named = of_motor(column, c.name)
        motor = named or unit == "rev"
        if c.revolute and (far[joint] or past) and (inside[joint] or motor):
            limit = bounds[joint] if far[joint] else 2.0 * np.pi
            row = int(rows[int(np.argmax(np.abs(q[:, joint]) > limit))])
            seems = "of a motor" if motor else "in degrees"
            text = f"column {printable(column)} seems to be {seems}: it reaches {log.q[row, joint]:.5g} at {log.where(row)}"
            if far[joint]:
                text += f", the limits are {lower[joint]:.4g} and {upper[joint]:.4g} rad"
            else:
                most = f"the limit is {fastest[joint]:.4g}" if np.isfinite(fastest[joint]) else "no arm is that fast"
                text += f", and {speed[joint]:.4g} per second; in rad/s, {most}"
            cure = f'name the column "{column} [deg]", or set units = […] in a mapping, one per column'
            if unit:
                cure = f"its name says {unit}: rename it if that is wrong, or convert it"
            if motor:
                cure = 'set side = "motor" under [position] in a mapping, and ratios under [transmission]'
                cure += "" if named and unit else "; or, if it is of the joint, its true unit"
            yield joint, LogFinding("error", "motor side" if motor else "degrees", column, row, text, cure)


def _swapped_with_torques(log: Log, rows: Array) -> bool:
    """Return whether the torques could be positions, and are smoother than the positions."""
    q, tau = _taken(log.q, rows), _taken(log.tau, rows)
    rough = [np.median(np.std(np.diff(x, 2, axis=0), axis=0) / (np.std(x, axis=0) + HELD)) for x in (q, tau)]
    return bool(np.quantile(np.abs(tau), MOST) < 2.0 * np.pi and rough[1] < rough[0])


def _largest_speed(log: Log, rows: Array) -> Array:
    """Return the speed each joint reaches over a few samples, robust to noise of single ones."""
    few = max(1, min(10, len(rows) // 20))
    q, t = _taken(log.q, rows), _taken(log.t, rows)
    time = t[few:] - t[:-few]
    good = time > 0.0
    if not good.any():
        return np.zeros(log.q.shape[1])
    return np.asarray(np.quantile(np.abs(q[few:] - q[:-few])[good] / time[good, None], 0.99, axis=0))


def _beyond_limits(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    width = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    q = _taken(log.q, rows)
    farthest = np.maximum(lower - q.min(axis=0), q.max(axis=0) - upper)
    for joint, c in enumerate(robot.model.coordinates):
        tolerated = max(BEYOND * width[joint], 1e-3)
        if farthest[joint] > tolerated:
            bad = np.maximum(lower[joint] - q[:, joint], q[:, joint] - upper[joint]) > tolerated
            row, column = int(rows[int(np.argmax(bad))]), log.column("q", joint)
            text = f"column {printable(column)} is {log.q[row, joint]:.5g} at {log.where(row)}, beyond the limits"
            text += f" {lower[joint]:.4g} and {upper[joint]:.4g} of joint {printable(c.name)}"
            severity = "error" if farthest[joint] > max(width[joint], 1.0) else "warning"
            few = bad.sum() <= max(1.0, FEW * len(rows)) and all(stop - start <= BURST for start, stop in stretches(bad))
            mends = severity == "error" and bool(few)
            text += f", in {counted(int(bad.sum()), 'row')} of {len(rows)} only" if mends else ""
            cure = "check the order of the columns, the unit and the zero position of the joint"
            cure += ', or set side = "motor" in a mapping if it is of the motor' if of_motor(column, c.name) else ""
            cure = "leave these rows out, or interpolate" if mends else cure
            yield LogFinding(severity, "beyond limits", column, row, text, cure, mends=mends)


def _velocities(log: Log, robot: Robot, rows: Array, in_degrees: set[int]) -> Iterator[LogFinding]:
    """Yield findings on signs, units and swapped columns of velocities."""
    way, integral = _stretches(log, robot, rows)
    if len(way) < LEAST_STRETCHES:
        return
    size, norms = np.linalg.norm(way, axis=0), np.linalg.norm(integral, axis=0)
    shown = (size > MOVES * np.sqrt(len(way))) & (np.abs(integral).max(axis=0) > 0.0)
    moving = [int(i) for i in np.flatnonzero(shown)]
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.nan_to_num((way.T @ integral) / np.outer(size, norms))  # (i, j): displacement of i with velocity of j

    def finding(code: str, i: int, text: str, cure: str, severity: str = "error") -> LogFinding:
        column, row = log.column("v", i), int(rows[0])
        return LogFinding(severity, code, column, row, f"column {printable(column)}, from {log.where(row)} on, {text}", cure)

    swapped: set[int] = set()
    for i in moving:
        if i in swapped or alike[i, i] > WEAK:
            continue
        cross = np.minimum(np.abs(alike[i]), np.abs(alike[:, i]))
        others = [j for j in moving if j != i and cross[j] > CLEAR > abs(alike[j, j])]
        if others:
            j = max(others, key=lambda j: abs(alike[i, j]))
            swapped |= {i, j}
            whose = printable(log.names[j] if log.names else str(j + 1))
            text = f"is the velocity of joint {whose}, and {printable(log.column('v', j))} that of this one: correlations "
            text += f"{alike[i, j]:.2f} and {alike[j, i]:.2f}, with its own joint {alike[i, i]:.2f}"
            yield finding("swapped velocities", i, text, "swap the two columns, of the velocities or of the positions")
    for i in [i for i in moving if i not in swapped]:
        ratio = float(way[:, i] @ integral[:, i]) / float(size[i] ** 2)
        if alike[i, i] < -CLEAR:
            text = f"has the wrong sign: it is negative while the position increases (correlation {alike[i, i]:.2f})"
            cure = "invert the sign of the velocities or of the positions: signs = […] in a mapping"
            yield finding("wrong sign", i, text, cure)
        elif alike[i, i] < NONE:
            text = f"does not follow the position: correlation {alike[i, i]:.2f}"
            yield finding("velocity disagrees", i, text, "check its joint and signal", "warning")
        elif alike[i, i] > CLEAR and not 1.0 / (1.0 + AGREE) < ratio < 1.0 + AGREE and i not in in_degrees:
            unit = next((f", as if it were in {name}" for x, name in FACTORS.items() if abs(ratio / x - 1.0) < 0.1), "")
            text = f"is {ratio:.4g} times the rate of change of its position{unit}"
            yield finding("wrong unit", i, text, "give the units in a mapping")


def _stretches(log: Log, robot: Robot, rows: Array) -> tuple[Array, Array]:
    """Return mean velocities (segments, n) from positions and from velocities, over segments without gaps."""
    assert log.v is not None
    t = _taken(log.t, rows)
    steps = np.diff(t)
    ahead = steps[steps > 0.0]
    if not len(ahead):
        return np.zeros((0, log.n)), np.zeros((0, log.n))
    period = float(np.median(ahead))
    span = max(1, min(round(STRETCH / period), len(rows) // (2 * LEAST_STRETCHES)))
    areas = (_taken(log.v, rows)[1:] + _taken(log.v, rows)[:-1]) / 2.0 * steps[:, None]
    sums = np.concatenate([np.zeros((1, log.n)), np.cumsum(areas, axis=0)])
    starts = np.arange(0, len(rows) - span, span)
    time = t[starts + span] - t[starts]
    ordered = (np.minimum.reduceat(steps, starts) > 0.0)[: len(starts)]
    good = (time > 0.5 * span * period) & (time < 1.5 * span * period) & ordered
    starts, ends, time = starts[good], starts[good] + span, time[good, None]
    way = displacement(robot, _taken(log.q, rows)[starts], _taken(log.q, rows)[ends])
    return way / time, (sums[ends] - sums[starts]) / time


def _torques(log: Log, robot: Robot, rows: Array) -> Iterator[LogFinding]:
    """Yield findings on torques and currents that need no model."""
    moves = np.ptp(_taken(log.q, rows), axis=0).max() > 1e-3
    signal = "tau" if "tau" in log.columns or not log.columns else "current"
    for joint, limit in enumerate(robot.limits["effort"]):
        tau, column = _taken(log.tau, rows)[:, joint], log.column(signal, joint)
        if np.ptp(tau) == 0.0:
            row = int(rows[0])
            text = f"column {printable(column)} is {tau[0] + 0.0:.6g} in every row from {log.where(row)} on: not measured"
            severity = "error" if moves else "warning"
            c, cure = robot.model.coordinates[joint], "check that the drive reports torques"
            if c.q_index is not None and np.ptp(_taken(log.q, rows)[:, c.q_index]) < HELD and log.side_of("q") == "joint":
                lock = f"{{{c.name!r}: {log.q[row, c.q_index]:.4g}}}"
                cure += f"; or, as the joint does not move, lock it: robot.reduced({lock})"
            yield LogFinding(severity, "flat torque", column, row, text, cure)
            continue
        largest = np.abs(tau).max()
        if log.side_of("tau") == "joint" and largest > OVER * limit:
            row = int(rows[int(np.argmax(np.abs(tau) > OVER * limit))])
            unit = largest > OTHER_UNIT * limit and np.quantile(np.abs(tau), USUAL) > limit  # not a spike
            text = f"column {printable(column)} is {log.tau[row, joint]:.5g} at {log.where(row)}"
            text += f"; the joint's limit is {limit:.5g}{', as if it were in N mm or mN m' if unit else ''}"
            cure = "check its unit and sign, and the limits"
            if unit:
                cure = f'name the column "{column} [N mm]", or give the unit in a mapping; otherwise {cure}'
            yield LogFinding("error" if unit else "warning", "beyond effort limit", column, row, text, cure)
        at = np.flatnonzero(saturated(tau, _taken(log.q, rows)))
        if len(at):
            row, share = int(rows[at[0]]), len(at) / len(tau)
            limits = " and ".join(f"{x:.6g}" for x in np.unique(tau[at]))
            text = f"column {printable(column)} is clipped at {limits}, in {100 * share:.2g} % of its rows, "
            text += f"first at {log.where(row)}"
            cure = "these rows are not used; record a run within the limits of the drive"
            caps = int(np.searchsorted(CLIPPED, share, side="right"))
            yield LogFinding("warning", "clipped", column, row, text, cure, caps=caps)

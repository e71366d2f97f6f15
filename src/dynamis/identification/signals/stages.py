"""The stages of `prepare`: validated arrays of a log at the joints, and the steps for one uninterrupted run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.signals.constant_values import dead_torques, frozen_stretches, saturated
from dynamis.identification.signals.filters import Cutoff, derivatives, low_pass, suggest_cutoff
from dynamis.identification.signals.outliers import filled, remove_spikes, stretches
from dynamis.identification.signals.sampling_clock import Notes, Run
from dynamis.identification.transmission import Transmission
from dynamis.robot import Robot

Array = npt.NDArray[Any]

SHORTEST = 12  # samples needed by the differentiation methods
HELD = 2e-3  # rad or m: a joint that moves less in a whole run is at rest
STILL = 0.005  # relative to a joint's largest speed: rest
STALE = 20  # rows: a longer repetition of all values is rest
LONG_GAP = 0.1  # of a period of the filter's cut-off: beside a longer gap nothing is used
FEW_MISSING = 3  # samples: a gap of fewer is short, whatever the cut-off
LOST = 0.05  # of the weight of a filter: with more of it on interpolated samples, the result is not used
TURN = 2.0 * np.pi
NEAR_A_TURN = 0.5  # rad


@dataclass(frozen=True, eq=False)
class Even:
    """Signals of one run at even times, at the joints; ``v`` and ``a`` only if taken from the log.

    ``gaps`` marks interpolated samples, ``use`` (N, n) those without spikes, ``saturated`` (N, n) torques at
    a limit of the drive.
    """

    t: Array
    q: Array
    tau: Array
    v: Array | None
    a: Array | None
    use: Array
    gaps: Array
    saturated: Array
    temperature: Array | None = None


def on_the_clock(
    raw: Measured, run: Run, robot: Robot, logged: Sequence[str], outliers: bool, delay: Array, notes: Notes
) -> Even:
    """Return a run without spikes, at even times, at the joints.

    The torques are those logged ``delay`` (n,) [s] later.
    """
    joints = robot.coordinate_names
    values: dict[str, Array] = {}
    bad = np.zeros((len(run.rows), robot.n), dtype=bool)
    for name in ("q", "tau", *logged):
        x = getattr(raw, name)[run.rows]
        if name == "q" and (raw.transmission is None or "q" not in raw.motor) and robot.nq == robot.n:
            x = unwrapped(x, np.array([c.revolute for c in robot.model.coordinates]), joints, notes)
        if outliers and not (name == "q" and robot.nq > robot.n):
            columns = [f"{name}.{joint}" for joint in joints]
            x, spikes, said = remove_spikes(x, names=columns, rows=notes.number(run.rows), word=notes.word)
            notes += said
            # a position affects the equations of all joints, a torque only its own
            bad |= raw.spoilt(spikes) if name == "tau" else spikes.any(axis=1, keepdims=True)
        elif not np.isfinite(x).all():
            row = run.rows[np.flatnonzero(~np.isfinite(x).all(axis=1))[0]]
            raise InputError(f"{name} is not finite in {notes.word} {notes.number(row)}: repair it, or set outliers=True")
        x = run.resample(x)
        values[name] = raw.at_joints(name, x if name != "tau" else _advanced(x, delay / run.period))
    if robot.nq > robot.n:
        values["q"] = _unit_quaternions(robot, values["q"])
    use, limited = np.ones((len(run), robot.n), dtype=bool), np.zeros((len(run), robot.n), dtype=bool)
    for j in range(robot.n):
        use[run.ticks[bad[:, j]], j] = False
        limited[run.ticks[raw.saturated[run.rows, j]], j] = True
    limited = _advanced(limited, delay / run.period) > 0.0
    warm = None if raw.temperature is None else run.resample(raw.temperature[run.rows])
    return Even(run.t, values["q"], values["tau"], values.get("v"), values.get("a"), use, run.missing, limited, warm)


def long_gaps(gaps: Array, period: float, cutoff: float | None) -> Array:
    """Return the samples in gaps that are not short against a period of a filter at this cut-off [Hz]."""
    least = FEW_MISSING if cutoff is None else max(FEW_MISSING, LONG_GAP / (cutoff * period))
    long = np.zeros_like(gaps)
    for first, last in stretches(gaps):
        long[first:last] = last - first >= least
    return long


def beside_gaps(gaps: Array, reach: int, taps: Array) -> Array:
    """Return the samples whose filtered values depend on interpolated ones.

    These are within the ``reach`` of the derivative filter, and have more than `LOST` of the weight of a low-pass filter with
    these ``taps``.
    """
    if not gaps.any():
        return gaps
    near = _convolved(gaps, np.ones(2 * reach + 1)) > 0.5
    return near | (_convolved(near, np.abs(taps) / np.abs(taps).sum()) > LOST)


def _convolved(mask: Array, weights: Array) -> Array:
    """Return the centred convolution of a mask with weights, by Fourier transforms: scipy.signal takes long to import."""
    size = len(mask) + len(weights) - 1
    whole = np.fft.irfft(np.fft.rfft(mask, size) * np.fft.rfft(weights, size), size)
    first = (len(weights) - 1) // 2
    return np.asarray(whole[first : first + len(mask)])


def usable_stamps(raw: Measured, gap: float, joints: Sequence[str], notes: Notes) -> Array:
    """Return time stamps, NaN for rows that hold no measurement.

    These are rows where positions are not finite or a sensor is frozen for longer than a gap, which are not interpolated, and
    rows that repeat all values of the previous one at a later time, logged before the controller had new ones, or those of an
    earlier row with its time, recorded twice. Notes name these, and torques at a limit.
    """
    t, lost = raw.t.copy(), np.asarray(~np.isfinite(raw.q).all(axis=1))
    for first, last in stretches(lost):
        if last - first > gap:
            t[first:last] = np.nan
            notes.append(f"q is not finite {notes.span(first, last)}: these rows are dropped")
    for first, last, joint in frozen_stretches(raw.q, raw.t):
        t[first:last] = np.nan
        name = joints[joint] if joint < len(joints) else f"column {joint}"
        notes.append(f"the position of {name} is frozen at one value {notes.span(first, last)}: these rows are dropped")
    for first, last, joint in dead_torques(raw.q, raw.tau, raw.t):
        t[first:last] = np.nan
        what = f"the torque of {joints[joint]} is {raw.tau[first, joint] + 0.0:.6g} {notes.span(first, last)}"
        notes.append(f"{what} while the joint moves: not measured, these rows are dropped")
    notes += [
        f"torques of {joint} at a limit of the drive, not used: {notes.which(np.flatnonzero(at))}"
        for joint, at in zip(joints, raw.saturated.T, strict=False)
        if at.any()
    ]
    stale = raw.repeats & np.concatenate([[False], np.diff(raw.t) > 0.0])
    for first, last in stretches(stale):
        if last - first > STALE:
            stale[first:last] = False  # at rest, or logged without noise
    if stale.any():
        t[stale] = np.nan
        notes.append(f"rows with all values of the previous row at a later time dropped: {notes.which(np.flatnonzero(stale))}")
    if (again := _recorded_before(raw) & ~raw.repeats).any():
        t[again] = np.nan
        notes.append(f"rows recorded before, with the same time and values, dropped: {notes.which(np.flatnonzero(again))}")
    return t


def _recorded_before(raw: Measured) -> Array:
    """Return a mask of the rows that were recorded before: of a log whose time goes back."""
    again = np.zeros(len(raw.t), bool)
    if (np.diff(raw.t) < 0.0).any():
        again[:] = True
        again[np.unique(np.column_stack([raw.t, raw.q, raw.tau]), axis=0, return_index=True)[1]] = False
    return again


def unwrapped(q: Array, revolute: Array, joints: Sequence[str], notes: list[str]) -> Array:
    """Return angles without the wrap-around jumps of a single-turn encoder."""
    steps = np.diff(q, axis=0)
    if not (np.abs(steps) > TURN - NEAR_A_TURN).any():
        return q
    turns = np.round(np.where(np.isfinite(steps), steps, 0.0) / TURN)
    turns[:, ~revolute] = 0.0
    with np.errstate(invalid="ignore"):
        turns[np.abs(steps - TURN * turns) > NEAR_A_TURN] = 0.0
    jumps = np.abs(turns).sum(axis=0).astype(int)
    notes += [
        f"{joints[j]}: {counted(jumps[j], 'jump of one turn', 'jumps of one turn')} removed from q"
        for j in range(len(jumps))
        if jumps[j]
    ]
    return q - TURN * np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(turns, axis=0)])


def found_cutoff(runs: Sequence[Even], period: float, robot: Robot, notes: list[str]) -> Cutoff:
    """Return the cut-off suggested by the longest run."""
    longest = max(runs, key=lambda run: len(run.t))
    units = ["rad" if c.revolute else "m" for c in robot.model.coordinates]
    found = suggest_cutoff(longest.q, period, names=robot.coordinate_names, units=units)
    notes.append(found.note)
    return found


def motion(run: Even, period: float, method: str, cutoff: float | None, options: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Return smoothed positions, velocities and accelerations; logged ones are smoothed likewise."""
    if run.q.shape[1] > run.tau.shape[1]:
        assert run.v is not None
        assert run.a is not None
        return run.q, _smooth(run.v, period, cutoff), _smooth(run.a, period, cutoff)
    q, v, a = derivatives(run.q, period, method, cutoff, velocity=run.v, **options)
    return q, v, a if run.a is None else _smooth(run.a, period, cutoff)


def at_rest(q: Array, v: Array, a: Array, held: float, resting: list[Array]) -> tuple[Array, Array]:
    """Return velocities and accelerations, zero for joints at rest, whose velocity noise would have a sign; which joints (n,)
    these are is added to ``resting``."""
    resting.append(still := np.ptp(q, axis=0) < held)
    return (v, a) if not still.any() else (np.where(still, 0.0, v), np.where(still, 0.0, a))


def notes_on_runs(kept: int, runs: int, resting: list[Array], robot: Robot) -> list[str]:
    """Return notes on the joints that rest in runs, or in all of them, and on runs that are left out."""
    found, count = list[str](), len(resting)
    still = np.array(resting, bool).reshape(count, robot.n)
    for often in sorted(set(still.sum(axis=0)) - {0}, reverse=True):
        names = ", ".join(robot.coordinate_names[k] for k in np.flatnonzero(still.sum(axis=0) == often))
        where = "" if often == count else f" in {often} of {counted(count, 'run')}"
        found.append(f"{names}: does not move{where}, taken to be at rest{' there' if where else ''}")
    if kept < runs:
        found.append(f"{runs - kept} of {counted(runs, 'run')} dropped: too short for the filters, or without motion")
    return found


def kept_rows(v: Array, edge: int, drop_rest: bool, notes: list[str]) -> slice | None:
    """Return the rows between unsettled ends and, if requested, without rest at both ends; None if too few remain."""
    first, last = edge, len(v) - edge
    if drop_rest:
        speed = np.abs(v)
        moving = np.flatnonzero((speed > STILL * speed.max(axis=0)).any(axis=1))
        if not len(moving):
            return None
        before, after = int(moving[0]), len(v) - 1 - int(moving[-1])
        if max(before, after) > edge:
            notes.append(
                f"at rest and dropped: {counted(before, 'sample')} at the beginning, {after} at the end of a run of {len(v)}"
            )
        first, last = max(first, before), min(last, len(v) - after)
    return slice(first, last) if last - first >= SHORTEST else None


def _advanced(x: Array, periods: Array) -> Array:
    """Return a signal (N, n) earlier by numbers (n,) of sampling periods, by linear interpolation; constant beyond its ends."""
    at = np.arange(len(x))
    return np.stack([np.interp(at + late, at, c) for late, c in zip(periods, x.T, strict=True)], axis=1) if periods.any() else x


def _smooth(x: Array, period: float, cutoff: float | None) -> Array:
    return x if cutoff is None else low_pass(x, period, cutoff)


def _unit_quaternions(robot: Robot, q: Array) -> Array:
    """Normalize quaternions after interpolation."""
    result = q.copy()
    for _, body in robot.model.moving:
        if body.motion.nq > body.motion.nv:
            place = slice(body.q_index.stop - 4, body.q_index.stop)
            result[:, place] /= np.linalg.norm(result[:, place], axis=1, keepdims=True)
    return result


@dataclass(frozen=True, eq=False)
class Measured:
    """Logged arrays, and the transmission and gains between them and the joints."""

    t: Array
    q: Array
    tau: Array
    v: Array | None
    a: Array | None
    transmission: Transmission | None
    source: str
    motor: frozenset[str] = frozenset(("q", "v", "a", "tau"))  # signals of the motors, if there is a transmission
    temperature: Array | None = None

    @classmethod
    def of(cls, log: Any, robot: Robot, transmission: Any, drive_gains: Any, time_scale: float = 1.0) -> Measured:
        source = str(getattr(log, "source", "") or "")
        whose = f" of {printable(source)}" if source else ""
        t = np.asarray(log.t, dtype=float) * time_scale
        if t.ndim != 1:
            raise InputError(f"t{whose} has shape {t.shape}; expected one time per sample")
        arrays: dict[str, Any] = {name: getattr(log, name, None) for name in ("q", "tau", "v", "a", "current", "temperature")}
        if drive_gains is not None:
            arrays["tau"] = _torques(arrays.pop("current"), drive_gains, robot, whose)
        for name, size in (("q", robot.nq), ("tau", robot.n), ("v", robot.n), ("a", robot.n), ("temperature", robot.n)):
            if arrays[name] is None:
                if name in ("q", "tau"):
                    raise InputError(f"the log{whose} has no {name}")
                continue
            arrays[name] = np.asarray(arrays[name], dtype=float)
            if arrays[name].shape != (len(t), size):
                raise InputError(
                    f"{name}{whose} has shape {arrays[name].shape}; robot {printable(robot.name)} needs "
                    f"{counted(size, 'column')}, and "
                    f"there are {len(t)} times"
                )
        between = _transmission(log, robot, transmission, whose)
        sides = {name: _side_of(log, name) for name in ("q", "v", "a", "tau")}
        motor = frozenset(name for name, side in sides.items() if side != "joint")
        return cls(
            t, arrays["q"], arrays["tau"], arrays["v"], arrays["a"], between, source, motor, filled(arrays["temperature"])
        )

    @functools.cached_property
    def repeats(self) -> Array:
        """Return a mask of the rows with the same values as the previous row."""
        again = np.append(False, self.q[1:, 0] == self.q[:-1, 0])[: len(self.t)]
        at = np.flatnonzero(again)
        again[at] = (self.q[at] == self.q[at - 1]).all(axis=1) & (self.tau[at] == self.tau[at - 1]).all(axis=1)
        return again

    @functools.cached_property
    def saturated(self) -> Array:
        """Return a mask (rows, n) of the joint torques of drives at a limit."""
        return self.spoilt(np.stack([saturated(tau, self.q) for tau in self.tau.T], axis=1))

    def at_joints(self, name: str, x: Array) -> Array:
        """Return one of the signals at the joints."""
        if self.transmission is None or name not in self.motor:
            return x
        turn = {"q": self.transmission.position, "tau": self.transmission.torque}.get(name, self.transmission.velocity)
        return turn(x)

    def spoilt(self, bad: Array) -> Array:
        """Return the mask (N, n) of joint torques affected by a mask (N, n) of bad motor torques."""
        if "tau" not in self.motor or self.transmission is None:
            return bad
        return (bad.astype(float) @ (self.transmission.R != 0.0)) > 0.0


def _torques(current: Any, drive_gains: Any, robot: Robot, whose: str) -> Array:
    gains = np.asarray(getattr(drive_gains, "gains", drive_gains), dtype=float)
    if current is None:
        raise InputError(f"drive_gains= convert currents to torques, but the log{whose} has no currents")
    if gains.shape not in ((), (robot.n,)) or not np.isfinite(gains).all():
        raise InputError(f"drive_gains= takes one number for each of the {counted(robot.n, 'joint')}, got shape {gains.shape}")
    return np.asarray(current, dtype=float) * gains


def _side_of(log: Any, signal: str) -> str | None:
    return (getattr(log, "sides", None) or {}).get(signal, getattr(log, "side", None))


def _transmission(log: Any, robot: Robot, given: Any, whose: str) -> Transmission | None:
    used = {_side_of(log, name) for name in ("q", "v", "a", "tau") if getattr(log, name, None) is not None}
    side = "motor" if "motor" in used else "joint" if used == {"joint"} else None
    own = getattr(log, "transmission", None)
    if given is None and own is not None:
        given = Transmission(own["R"], own.get("zero"))
    if given is None:
        if side == "motor":
            raise InputError(
                f"the log{whose} has motor-side signals, but there is no transmission to the joints: pass "
                "transmission=Transmission.of(ratios)"
            )
        return None
    if side == "joint":
        if own is not None:
            return None
        raise InputError(
            f"the log{whose} has joint-side signals (side='joint') and takes no transmission; should it be side='motor'?"
        )
    between = given if isinstance(given, Transmission) else Transmission(given)
    if between.n != robot.n:
        raise InputError(f"the transmission has {counted(between.n, 'joint')}, but robot {printable(robot.name)} has {robot.n}")
    if robot.nq != robot.n:
        raise InputError(f"robot {printable(robot.name)} has quaternions; a transmission needs joints with one variable")
    return between

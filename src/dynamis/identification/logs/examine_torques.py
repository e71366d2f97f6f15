"""Checks of the torques of a log against the robot model: signs, order, units, scale, zeros, delay, mounting, another robot.

A cause is reported only if its correction, applied to the log and refitted, explains the torques.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import printable
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.clock_fit import ClockScale, clock_scale
from dynamis.identification.logs.explained import Explained, explained
from dynamis.identification.logs.free_fit import MOST_ROWS, WEIGHT, Delay, FreeFit, Zeros
from dynamis.identification.logs.gravity_fit import GravityFit, Mounting, mounting
from dynamis.identification.logs.joint_faults import delay_finding, drift, drift_finding, own_delays
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.mistakes import LARGEST, Trial, mistakes, mistakes_made
from dynamis.identification.logs.motion_summary import MotionSummary, summary
from dynamis.identification.samples import Samples
from dynamis.robot import Robot

Array = npt.NDArray[Any]
FEWEST = 30
FITTED = 0.05  # fraction of the variance of the torques, mean over the joints, below which a fit is good
FALLS = 0.3  # ratio of this fraction after and before a correction that is reported
EXCHANGED = 2000  # samples in which exchanged joints are looked for
ANOTHER_ROBOT = 0.1  # explained fraction below which the model is of another robot
CLEAR_GAIN = 0.7  # explained fraction beyond friction above which the scale of the model can be assessed
UNITS = {1e3: "in N mm or mN m, or a thousand times too large", 1e-3: "in kN m, or a thousand times too small",
         180.0 / np.pi: "of a motion in degrees", np.pi / 180.0: "per degree"}  # fmt: skip
MATCHES = 0.95  # explained fraction beyond friction above which gravity is that of the file
UPSIDE_DOWN = 170.0  # degrees between gravity and that of the file
FAR = 3.0  # scale factor of currents, or of a wrong gear ratio, too large for model errors
LOW, HIGH = 1.0 / 1.5, 2.5  # scale factors beyond which torques or masses are wrong; a payload increases torques
ALONE = 2.5  # ratio of the scale of one joint to that of the others


def examine_torques(
    samples: Samples | Sequence[Samples],
    robot: Robot,
    columns: Mapping[str, Sequence[str]] | None = None,
    base: BaseParameters | None = None,
) -> list[LogFinding]:
    """Return findings on torques or motion that contradict the model of a robot; an empty list if there are none.

    The model may be inaccurate, and friction is free: a finding requires torques that the model cannot explain, and either a
    mistake whose correction explains them or a model that explains almost nothing. Rows are sample indices. ``columns`` has the
    names of the file's columns "q" and "tau", one per joint, as in `Log.columns`; findings then name these. ``base`` are the
    base parameters of the robot, computed if not given.

    >>> import dynamis as dy, numpy as np
    >>> from types import SimpleNamespace
    >>> robot = dy.load("ur5e")
    >>> t = np.arange(400)[:, None] / 50
    >>> w = np.linspace(1.0, 2.0, 6)
    >>> q, v, a = np.sin(w * t) - 1, w * np.cos(w * t), -w**2 * np.sin(w * t)
    >>> tau = robot.inverse_dynamics(q, v, a) * [1, -1, 1, 1, 1, 1]
    >>> [f.column for f in examine_torques(SimpleNamespace(t=t[:, 0], q=q, v=v, a=a, tau=tau, source=""), robot)]
    ['tau.shoulder_lift_joint']
    """
    runs = list(samples) if isinstance(samples, Sequence) else [samples]
    count = sum(len(run.tau) for run in runs)
    if count < FEWEST:
        text = f"there are {counted(count, 'sample')}; at least {FEWEST} are needed"
        return [LogFinding("error", "few samples", None, max(count - 1, 0), text, "record a run of some seconds")]
    motion, rows = summary(runs)
    report = _Report(motion, rows, runs[0].source, robot, columns or {})
    first = last = explained(robot, motion)
    if robot.nq != robot.n or len(motion.torque) < FEWEST:
        return [*report.scales(last), *report.another_robot(last)]
    fit = FreeFit(base_parameters(LinearModel(robot)) if base is None else base)
    slopes = drift(fit, motion)
    alone = [] if slopes is None else [drift_finding(slopes, motion, robot, report.source, report.column)]
    if slopes is not None:
        report.motion = motion = replace(motion, tau=motion.tau - np.outer(motion.t, slopes))
    zeros, delay = fit.zeros(motion), fit.delay(motion)
    late = None if zeros is not None or delay is not None else own_delays(fit, motion)
    if late is not None:
        alone.append(delay_finding(late, robot, report.source, report.column))
    found, corrected, last = _one_cause(report, fit, zeros, delay, last)
    gain = None if found else fit.factor(motion)
    if (clock := _clock(fit, motion, zeros, delay, gain, corrected)) is not None:
        found, corrected = [report.clock(clock)], clock.of(motion)
    turned = mounting(fit, motion, corrected) if first.model_share < MATCHES else None
    if turned is not None:
        return [report.mounting(turned)]
    if found:
        return found
    small = [] if zeros is None or zeros.after > FITTED else [report.zeros(zeros)]
    small += [] if delay is None else [report.delay(delay)]
    if gain is not None:
        small.append(report.gain(*gain))
        report.motion = replace(motion, tau=motion.tau / np.asarray(small[-1].factors))
        last = explained(robot, report.motion)
    others = [*report.another_robot(last)]
    if not others and (pair := fit.shared_motor(motion)) is not None:
        small.append(report.coupled(*pair))
    return [*([] if others else alone), *small, *report.scales(last), *others]


def _one_cause(
    report: _Report, fit: FreeFit, zeros: Zeros | None, delay: Delay | None, now: Explained
) -> tuple[list[LogFinding], MotionSummary, Explained]:
    """Return the findings of zeros, a delay or mistakes if they explain the torques, the corrected motion, and how much of it
    is explained."""
    motion = report.motion
    if zeros is not None and zeros.after < min(FITTED, FALLS * zeros.before) and (delay is None or zeros.after < delay.after):
        return [report.zeros(zeros)], replace(motion, q=motion.q + zeros.of(fit.n)), now
    if delay is not None and delay.after < min(FITTED, FALLS * delay.before):
        return [report.delay(delay)], replace(motion, tau=motion.shifted(delay.seconds)), now
    made, then = mistakes_made(report.robot, motion, now, fit)
    return [report.mistake(trial) for trial in made], made[-1].motion if made else motion, then


def _clock(
    fit: FreeFit,
    motion: MotionSummary,
    zeros: Zeros | None,
    delay: Delay | None,
    gain: tuple[int, float] | None,
    corrected: MotionSummary,
) -> ClockScale | None:
    """Return the scale of the times, if torques and file are more likely with it than with any other correction, or None."""
    thin, prior = motion.thinned(MOST_ROWS), FreeFit(fit.base, WEIGHT)
    if (clock := clock_scale(fit, prior, motion)) is None:
        return None
    others = [] if corrected is motion else [prior.level(corrected)]
    if zeros is not None:
        others.append(prior.level(replace(thin, q=thin.q + zeros.of(fit.n))))
    if delay is not None:
        others.append(prior.level(replace(thin, tau=thin.shifted(delay.seconds))))
    if gain is not None:
        joint, factor = gain
        scales = np.where(np.arange(fit.n) == joint, factor, 1.0)
        others.append(prior.level(replace(thin, tau=thin.tau / scales)) + len(thin.torque) * float(np.log(factor)))
    if prior.level(clock.of(thin)) > min(others, default=np.inf):
        return None
    if clock.factor > 1.0:
        return clock
    # weaker gravity, and larger masses, fit the torques as well as a slower clock: the file tells which it is
    at_clock, as_logged = GravityFit(fit, clock.of(thin)), GravityFit(fit, thin)
    weaker = as_logged.at(clock.factor**2 * as_logged.known)
    return clock if at_clock.at(at_clock.known).level < weaker.level else None


def zero_finding(runs: Sequence[Samples], base: BaseParameters, weight: float) -> LogFinding | None:
    """Return the joint zeros with which both the torques and the prior inertias, these with a weight, fit best, or None."""
    motion, rows = summary(runs)
    zeros = FreeFit(base, weight).zeros(motion) if len(motion.torque) >= FEWEST else None
    return None if zeros is None else _Report(motion, rows, runs[0].source, base.model.robot, {}).zeros(zeros)


def column_finding(runs: Sequence[Samples], base: BaseParameters, weight: float) -> LogFinding | None:
    """Return the two joints with whose columns exchanged, or the joint with whose direction reversed, the torques and the prior
    inertias, these with a weight, are most likely; None if they are as logged."""
    motion, rows = summary(runs, EXCHANGED)
    n = base.model.robot.n
    if n > LARGEST or len(motion.torque) < FEWEST:
        return None
    fit = FreeFit(base, weight)
    trials = [m for m in mistakes(n) if m.code in ("swapped", "wrong sign") and m.where == "torque and motion"]
    levels = [fit.level(mistake.undo(motion)) for mistake in trials]
    if not levels or min(levels) >= fit.level(motion):
        return None
    best, report = trials[int(np.argmin(levels))], _Report(motion, rows, runs[0].source, base.model.robot, {})
    return report.exchanged(*best.joints) if best.code == "swapped" else report.reversed(*best.joints)


class _Report:
    """Findings in words, with an instant as evidence."""

    def __init__(
        self, motion: MotionSummary, rows: Array, source: str, robot: Robot, columns: Mapping[str, Sequence[str]]
    ) -> None:
        self.motion, self.rows, self.robot, self.columns = motion, rows, robot, columns
        self.names = robot.coordinate_names
        self.source = f"{printable(source)}: " if source else ""

    def column(self, signal: str, joint: int) -> str:
        known = self.columns.get(signal, ())
        return known[joint] if len(known) == len(self.names) else f"{signal}.{self.names[joint]}"

    def _instant(self, joint: int, expected: Array, corrected: Array | None = None) -> tuple[int, str]:
        """Return the row at which the torque of a joint differs most from the expected one (N,), and both in words, with the
        one expected after a correction that leaves the torques as they are."""
        k = int(np.argmax(np.abs(expected - self.motion.torque[:, joint])))
        measured, at = self.motion.torque[k, joint], int(self.motion.rows[k])
        unit = self.robot.model.coordinates[joint].effort_unit
        values = f"{measured:.4g} {unit} was measured, {expected[k]:.4g} {unit} expected"
        if corrected is not None:
            values += f" without the correction, {corrected[k]:.4g} {unit} with it"
        return int(self.rows[at]), f"at t = {self.motion.t[at]:.6g} s {values}"

    def zeros(self, zeros: Zeros) -> LogFinding:
        """Return the finding for joint zeros, with their intervals and the option that corrects them."""
        columns = [self.column("q", k) for k in zeros.joints]
        every = zeros.of(len(self.names))
        values = ",".join(f"{x:.4g}" for x in every)
        parts = []
        for k, column, angle, error in zip(zeros.joints, columns, zeros.angles, zeros.errors, strict=True):
            unit = "rad" if self.robot.model.coordinates[k].revolute else "m"
            name = f"the zero of joint {printable(self.names[k])} is off"
            where = f"column {printable(column)}" if self.columns.get("q") else "its positions"
            parts.append(f"{name} ({angle:.4g} ± {2.0 * error:.2g} {unit} to be added to {where})")
        text = f"{self.source}{' and '.join(parts)}"
        cure = f"correct it with zero=({values})"
        return LogFinding("warning", "joint zero", columns[0], None, text, cure, caps=2, zero=tuple(every.tolist()))

    def delay(self, delay: Delay) -> LogFinding:
        """Return the finding for a delay, with the option that corrects it."""
        when = f"{1e3 * abs(delay.seconds):.0f} ms {'late' if delay.seconds > 0 else 'early'}"
        names = ", ".join(printable(self.names[j]) for j in delay.joints)
        text = f"{self.source}the torques are {when} ({'all joints' if len(delay.joints) == len(self.names) else names} agree)"
        cure = f"correct it with delay={delay.seconds:.4f}"
        return LogFinding("warning", "delay", None, None, text, cure, caps=2, delay=delay.seconds)

    def clock(self, clock: ClockScale) -> LogFinding:
        """Return the finding for a clock of another rate, with the option that corrects it."""
        times = 1.0 / clock.factor
        text = f"{self.source}the times seem to be {times:.3g} ± {2.0 * clock.error * times:.2g} times the true ones: "
        text += "torques of inertia contradict those of gravity"
        ratio = f"{times**2:.3g} times" if times > 1.0 else f"1/{times**-2:.3g} of"
        cure = (
            f"check the unit and rate of the times, or correct them with time_scale={clock.factor:.4g}; links with {ratio} the "
            f"lengths of the file look the same: check that the file is of this robot"
        )
        return LogFinding("warning", "clock scale", None, None, text, cure, caps=2, time_scale=clock.factor)

    def mistake(self, trial: Trial) -> LogFinding:
        """Return the finding for a mistake."""
        mistake = trial.mistake
        i, j = mistake.joints[0], mistake.joints[-1]
        if len(mistake.joints) > 2:
            i = int(np.argmax(self.motion.torque.std(axis=0)))
        if mistake.where == "motion":
            row, instant = self._instant(i, trial.before.fitted[:, i], trial.then.fitted[:, i])
        else:
            row, instant = self._instant(i, trial.then.fitted[:, i])
        letters, both = ("tau", "q") if mistake.where == "torque" else ("q", "tau"), mistake.where == "torque and motion"
        one = self.column(letters[0], i)
        of_i, of_j = ([printable(self.column(letter, joint)) for letter in letters] for joint in (i, j))
        explains = f"{100 * trial.then.fraction[i]:.0f} % of the torque of {printable(self.names[i])} would be explained"
        if mistake.code == "degrees":
            text = f"{self.source}positions, velocities and accelerations seem to be in degrees: converted, {explains}"
            return LogFinding("error", "degrees", self.column("q", i), row, text, 'set unit = "deg" in a mapping')
        if mistake.code == "inverted":
            text = f"{self.source}all torques seem to have the wrong sign: inverted, {explains}; {instant}"
            cure = f"invert them: signs = [{', '.join(['-1'] * len(self.names))}] in a mapping"
            return LogFinding("error", "wrong sign", self.column("tau", i), row, text, cure)
        if mistake.code == "swapped":
            pairs = [f"{x} and {y}" for x, y in zip(of_i, of_j, strict=True)]
            which = f"{', and '.join(pairs)}," if both else f"{', or '.join(pairs)}," if trial.elsewhere else pairs[0]
            text = f"{self.source}columns {which} seem to be swapped: swapped back, {explains}; {instant}"
            return LogFinding("error", "swapped", one, row, text, "swap them, or give their order in a mapping")
        if both:
            signs = f"signs = [{', '.join('-1' if k == i else '1' for k in range(len(self.names)))}] of positions and torques"
            which = f"columns {' and '.join(of_i)} seem to have the wrong sign: both inverted"
            text = f"{self.source}{which}, {explains}; {instant}"
            return LogFinding("error", "wrong sign", one, row, text, f"invert both: {signs} in a mapping")
        which = f"{of_i[0]}, or {of_i[1]}," if trial.elsewhere else of_i[0]
        text = f"{self.source}column {which} seems to have the wrong sign: inverted, {explains}; {instant}"
        return LogFinding("error", "wrong sign", one, row, text, "invert it: signs = […] in a mapping")

    def mounting(self, found: Mounting) -> LogFinding:
        """Return the finding for torques that fit the file with another gravity, or with none."""
        here = _Report(found.motion, self.rows[found.samples], "", self.robot, self.columns)
        joint = found.witness
        row, instant = here._instant(joint, found.before.fitted[:, joint], found.after.fitted[:, joint])
        left = [f"{100 * gravity.left[joint]:.2g} %" for gravity in (found.after, found.before)]
        explains = f"the torque of {printable(self.names[joint])} has an unexplained variance of {left[0]} instead of {left[1]}"
        vector = ",".join(f"{x + 0.0:.4g}" for x in found.after.vector)
        if not found.after.vector.any():
            text = f"{self.source}the torques fit the file without gravity: with none, {explains}; {instant}"
            cure = "log the whole torques, those of the gravity compensation included, or set no gravity: gravity=(0,0,0)"
            return LogFinding("error", "no gravity", self.column("tau", joint), row, text, cure)
        turn = np.degrees(found.after.angle(np.asarray(self.robot.model.gravity, float)))
        how = "hung from the ceiling" if turn > UPSIDE_DOWN else "mounted otherwise than in its file"
        text = f"{self.source}the robot seems to be {how}: with gravity ({vector}) m/s², {explains}; {instant}"
        return LogFinding("error", "mounting", None, row, text, f"set the gravity of the robot: gravity=({vector})")

    def exchanged(self, i: int, j: int) -> LogFinding:
        """Return the finding for two joints whose positions and torques are exchanged."""
        one, other = self.column("q", i), self.column("q", j)
        order = np.arange(len(self.names))
        order[[i, j]] = j, i
        text = f"{self.source}columns {printable(one)} and {printable(other)} and those of their torques seem to be swapped"
        cure = "swap them, or give their order in a mapping"
        return LogFinding("warning", "swapped", one, None, text, cure, caps=2, order=tuple(order.tolist()))

    def reversed(self, joint: int) -> LogFinding:
        """Return the finding for a joint that turns the other way."""
        one, other = (printable(self.column(signal, joint)) for signal in ("q", "tau"))
        signs = tuple(-1.0 if k == joint else 1.0 for k in range(len(self.names)))
        text = (
            f"{self.source}columns {one} and {other} seem to have the wrong sign, or the file the opposite axis of this joint"
        )
        cure = f"invert both: signs = [{', '.join(f'{x:.0f}' for x in signs)}] of positions and torques in a mapping"
        return LogFinding("warning", "wrong sign", self.column("q", joint), None, text, cure, caps=2, signs=signs)

    def coupled(self, a: int, b: int) -> LogFinding:
        """Return the finding for joint b, whose motor turns with joint a, too."""
        one, other = printable(self.names[a]), printable(self.names[b])
        text = f"{self.source}the motor of {other} seems to turn with {one}, too"
        cure = f"add couplings=[({one}, {other})]"
        return LogFinding("warning", "coupled motors", self.column("tau", b), None, text, cure, caps=1, coupled=(a, b))

    def gain(self, joint: int, factor: float) -> LogFinding:
        """Return the finding for the torques of one joint that contradict those of the others."""
        column = self.column("tau", joint)
        text = f"{self.source}column {printable(column)} is {factor:.2g} times the torque that fits those of the other joints"
        factors = tuple(factor if k == joint else 1.0 for k in range(len(self.names)))
        cure = "check its drive gain and gear ratio"
        return LogFinding("warning", "wrong scale", column, None, text, cure, caps=2, factors=factors)

    def scales(self, last: Explained) -> Iterator[LogFinding]:
        """Yield torques proportional to the model's with another scale: all of them, or those of single joints."""
        clear = np.flatnonzero(
            (last.foretold > 0.0) & (1.0 - last.alone > 0.02) & (last.gain > CLEAR_GAIN) & (last.scale > 0.0)
        )
        if not len(clear):
            return
        foretold = np.sqrt(last.foretold[clear])
        common = float(np.exp(np.average(np.log(last.scale[clear]), weights=foretold)))
        known = next((words for x, words in UNITS.items() if abs(common / x - 1.0) < 0.3), None)
        joint = int(clear[np.argmax(foretold)])
        row, instant = self._instant(joint, last.predicted[:, joint])
        column = self.column("tau", joint)
        text = f"{self.source}the torques are {common:.3g} times those of the model"
        if known is not None:
            text += f", as if they were {known}; for {printable(column)}, {instant}"
            yield LogFinding("error", "wrong unit", column, row, text, "give their unit in a mapping")
        elif not 1.0 / FAR < common < FAR:
            text += f", as if they were currents or in another unit; for {printable(column)}, {instant}"
            cure = (
                "check unit, gear ratios and drive gains (currents need gains = […] in a mapping), or the masses of the model"
            )
            yield LogFinding("warning", "wrong scale", column, row, text, cure, caps=3)
        elif not LOW < common < HIGH:
            cure = "check drive gains and gear ratios, or the masses of the model: the log cannot tell which is wrong"
            yield LogFinding("warning", "wrong scale", column, row, f"{text}; for {printable(column)}, {instant}", cure, caps=2)
        heavy = foretold > 0.1 * foretold.max()
        for j in clear[heavy] if known is None else ():
            if not 1.0 / ALONE < last.scale[j] / common < ALONE:
                column = self.column("tau", int(j))
                row, instant = self._instant(int(j), last.predicted[:, j])
                text = f"{self.source}column {printable(column)} is {last.scale[j]:.3g} times the torque of the model"
                text += f", those of the other joints {common:.3g} times; {instant}"
                yield LogFinding("warning", "wrong scale", column, row, text, "check its drive gain and gear ratio", caps=2)

    def another_robot(self, last: Explained) -> Iterator[LogFinding]:
        """Yield torques of which the model explains almost nothing, although it predicts some."""
        left, share = float(last.left.sum()), max(last.model_share, 0.0)
        foretold = float(last.foretold.sum())
        strange = np.flatnonzero(last.speaks & (last.gain < 0.1) & (1.0 - last.alone > 0.1))
        # a model that predicts little relative to the noise can explain no more than that
        agreement = share / min(1.0, foretold / left) if foretold > 0.0 and left > 0.0 else 1.0
        if agreement < ANOTHER_ROBOT and foretold > 0.3 * left:
            severity = "error"
        elif (agreement < 0.25 and foretold > 0.3 * left) or (agreement < 0.5 and foretold > 2.0 * left):
            severity = "warning"  # the masses of a known robot may be this inaccurate
        elif share < 0.1 and foretold > 3e-3 * left and left > 0.2 * last.variance.sum():
            severity = "warning"  # the model is of a much lighter robot, or the torques were not measured
        elif len(strange) >= 2 and 3 * len(strange) >= np.count_nonzero(last.speaks):
            severity = "warning"
        else:
            return
        joint = int(strange[0]) if len(strange) and share >= 0.5 else int(np.argmax(last.foretold))
        row, instant = self._instant(joint, last.predicted[:, joint])
        column = self.column("tau", joint)
        which = f", and nothing for {', '.join(printable(self.names[k]) for k in strange)}" if len(strange) else ""
        text = (
            f"{self.source}the model explains {100 * share:.0f} % of the torques beyond friction{which}: this "
            f"seems to be a log of another robot than {printable(self.robot.name)}; for {printable(column)}, {instant}"
        )
        cure = "pass the correct robot; or check its mounting (gravity), joint zeros and units, and the order of the columns"
        yield LogFinding(severity, "another robot", column, row, text, cure)

"""Checks of the torques of a log against the robot model: signs, order, units, scale, zeros, delay, mounting, another robot.

A cause is reported only if its correction, applied to the log and refitted, explains the torques.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.balancers import Balancers, balancers_of, missing_balancers
from dynamis.identification.logs.changes import Change, change_finding, change_within
from dynamis.identification.logs.clock_fit import ClockScale, clock_scale
from dynamis.identification.logs.explained import Explained, explained
from dynamis.identification.logs.free_fit import MOST_ROWS, RIVAL, WEIGHT, Delay, FreeFit, Zeros
from dynamis.identification.logs.gravity_fit import Compensation, GravityFit, missing_compensation, missing_weight, mounting
from dynamis.identification.logs.joint_faults import delay_finding, drift, drift_finding, own_delays
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.mistakes import LARGEST, level_without, magnitudes, mistakes, mistakes_made, revolutions
from dynamis.identification.logs.motion_summary import MotionSummary, summary
from dynamis.identification.logs.position_scale import PositionScale, position_scale
from dynamis.identification.logs.torque_report import TorqueReport
from dynamis.identification.samples import Samples
from dynamis.robot import Robot

Array = npt.NDArray[Any]
FEWEST = 30
FITTED = 0.05  # fraction of the variance of the torques, mean over the joints, below which a fit is good
FALLS = 0.3  # ratio of this fraction after and before a correction that is reported
EXCHANGED = 2000  # samples in which exchanged joints are looked for
LIKELIER = 0.5  # decrease of the level, per torque, with a load instead of another scale: both fit some torques
LESS_LIKELY = 12.5  # increase of the level by five standard errors
MATCHES = 0.95  # explained fraction beyond friction above which gravity is that of the file


@one_blas_thread()
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
    report = TorqueReport(motion, rows, runs[0].source, robot, columns or {})
    if robot.nq != robot.n or len(motion.torque) < FEWEST:
        last = explained(robot, motion)
        return [*report.scales(last), *report.another_robot(last)]
    fit = FreeFit(base_parameters(LinearModel(robot)) if base is None else base)
    if (whole := revolutions(robot, motion, fit) or magnitudes(robot, motion, fit)) is not None:
        return [report.mistake(whole)]
    if (lacking := _compensation(fit, motion)) is not None:
        return [report.compensation(lacking)]
    alone = _removed(report, fit, runs[0].source)
    motion = report.motion
    first = last = explained(robot, motion)
    zeros, delay = fit.zeros(motion), fit.delay(motion)
    late = None if zeros is not None or delay is not None else own_delays(fit, motion)
    if late is not None:
        alone.append(delay_finding(late, robot, report.source, report.column))
    found, corrected, last = _one_cause(report, fit, zeros, delay, last)
    gain = None if found else _gain(fit, motion)
    scale = _scale(fit, motion, zeros, delay, gain, corrected)
    if scale is not None and not any(report.another_robot(explained(robot, scale.of(motion)))):
        found, corrected = [report.scale(scale)], scale.of(motion)
    mounted = mounting(fit, motion, corrected) if first.model_share < MATCHES else None
    if mounted is not None:
        return [report.mounting(mounted)]
    if (joint := missing_weight(robot, motion)) is not None and f"{report.names[joint]}.offset" not in fit.base.model.names:
        return [report.missing_weight(joint)]
    if found:
        return found
    small = [] if zeros is None or zeros.after > FITTED else [report.zeros(zeros)]
    small += [] if delay is None else [report.delay(delay)]
    others = [*report.another_robot(last)]
    if gain is not None:
        accused = report.gain(*gain)
        report.motion = replace(motion, tau=motion.tau / np.asarray(accused.factors))
        then = explained(robot, report.motion)
        if any(report.another_robot(then)):  # with the factor, too
            report.motion = motion
        else:
            small, others, last = [*small, accused], [], then
    if not others and (pair := fit.shared_motor(motion)) is not None:
        small.append(report.coupled(*pair))
    scales = list(report.scales(last))
    if len(scales) == 1 and not scales[0].factors and scales[0].severity != "error" and _loaded(fit, motion, last):
        scales = [report.loaded(fit.base.model.bodies[-1].name)]
    return [*([] if others else alone), *small, *scales, *others]


def _removed(report: TorqueReport, fit: FreeFit, source: str) -> list[LogFinding]:
    """Remove a change during the log, balancers that the file lacks, and drifts from the torques, and return their findings."""
    found = []
    if (change := _change(fit, report.motion)) is not None:
        found.append(change_finding(replace(change, source=source), report.robot, report.source, report.column))
        report.motion = replace(report.motion, tau=change.of(report.motion))
    if (balancers := _balancers(fit, report.motion)) is not None:
        found += [] if fit.base.model.balanced else [report.balancers(balancers)]
        report.motion = balancers.removed(report.motion)
    if (slopes := drift(fit, report.motion)) is not None:
        found.append(drift_finding(slopes, report.motion, report.robot, report.source, report.column))
        report.motion = replace(report.motion, tau=report.motion.tau - np.outer(report.motion.t, slopes))
    return found


def _change(fit: FreeFit, motion: MotionSummary) -> Change | None:
    """Return the change during the log, if torques and file are more likely with it than with any mistake in the whole log."""
    if (change := change_within(fit, motion)) is None:
        return None
    prior, thin = fit.with_file, motion.thinned(MOST_ROWS)
    return change if prior.level(replace(thin, tau=change.of(thin))) < _least_level(fit, prior, motion) else None


def _balancers(fit: FreeFit, motion: MotionSummary) -> Balancers | None:
    """Return the balancers of the model, or those that the file lacks, if torques and file are more likely with them than with
    any mistake, load or mounting."""
    if given := fit.base.model.balanced:
        return balancers_of(fit, motion, given)
    if (found := missing_balancers(fit, motion)) is None:
        return None
    prior, thin, last = fit.with_file, motion.thinned(MOST_ROWS), explained(fit.base.model.robot, motion)
    rivals = [_least_level(fit, prior, motion), FreeFit(fit.base, WEIGHT, load=True).level(thin)]
    if len(TorqueReport.clear(last)):
        scale = TorqueReport.common_scale(last)
        scaled = thin.changed(lambda x: x / scale, motion=False, torque=True)
        rivals.append(prior.level(scaled) + thin.torque.size * float(np.log(scale)))
    if (gain := fit.factor(motion)) is not None:
        rivals.append(prior.level_with(thin, *gain))
    rivals.append(GravityFit(fit, thin).best().level)
    return found if found.level < min(rivals) - RIVAL * thin.torque.size else None


def _compensation(fit: FreeFit, motion: MotionSummary) -> Compensation | None:
    """Return the torques of a gravity compensation that a log lacks, if torques and file are more likely with them than with
    any mistake of the whole log, or with balancers."""
    if (found := missing_compensation(fit, motion)) is None:
        return None
    rivals = [_least_level(fit, fit.with_file, motion)]
    if (balancers := missing_balancers(fit, motion)) is not None:
        rivals.append(balancers.level)
    return found if found.level < min(rivals) - RIVAL * motion.thinned(MOST_ROWS).torque.size else None


def _least_level(fit: FreeFit, prior: FreeFit, motion: MotionSummary) -> float:
    """Return the lowest level with a mistake of the whole log corrected: of columns, times, scales, zeros or a delay."""
    thin = motion.thinned(MOST_ROWS)
    levels = [level_without(prior, m, thin) for m in mistakes(fit.n)] if fit.n <= LARGEST else []
    others = [scale.of(thin) for scale in (clock_scale(fit, prior, motion), position_scale(fit, prior, motion)) if scale]
    if (zeros := fit.zeros(motion)) is not None:
        others.append(replace(thin, q=thin.q + zeros.of(fit.n)))
    if (delay := fit.delay(motion)) is not None:
        others.append(replace(thin, tau=thin.shifted(delay.seconds)))
    return min([*levels, *map(prior.level, others)], default=np.inf)


def _one_cause(
    report: TorqueReport, fit: FreeFit, zeros: Zeros | None, delay: Delay | None, now: Explained
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


def _loaded(fit: FreeFit, motion: MotionSummary, now: Explained) -> bool:
    """Return whether an unknown load on the last link explains torques larger than the model's: these and the file are far more
    likely with it than with all torques scaled, and almost as likely as the torques with free parameters."""
    thin, scale = motion.thinned(MOST_ROWS), TorqueReport.common_scale(now)
    count = thin.torque.size
    scaled = thin.changed(lambda x: x / scale, motion=False, torque=True)
    level = fit.with_file.level(scaled) + count * float(np.log(scale))
    loaded = FreeFit(fit.base, WEIGHT, load=True).level(thin)
    return scale > 1.0 and loaded < min(level - LIKELIER * count, fit.level(thin) + RIVAL * count)


def _gain(fit: FreeFit, motion: MotionSummary) -> tuple[int, float] | None:
    """Return the joint whose torques have another scale, and the factor, or None if there is none, or torques and file are more
    likely with a joint reversed or two exchanged, which a refit shows (`corrections`)."""
    if (gain := fit.factor(motion)) is None or fit.n > LARGEST:
        return gain
    prior, thin = fit.with_file, motion.thinned(MOST_ROWS)
    levels = (level_without(prior, m, thin) for m in mistakes(fit.n) if m.where == "torque and motion")
    return gain if prior.level_with(thin, *gain) < min(levels) + RIVAL * thin.torque.size else None


def _scale(
    fit: FreeFit,
    motion: MotionSummary,
    zeros: Zeros | None,
    delay: Delay | None,
    gain: tuple[int, float] | None,
    corrected: MotionSummary,
) -> ClockScale | PositionScale | None:
    """Return the scale of the times, or of the positions of one joint, if torques and file are more likely with it than with
    any other correction, or None."""
    thin, prior = motion.thinned(MOST_ROWS), fit.with_file
    clock, positions = clock_scale(fit, prior, motion), position_scale(fit, prior, motion)
    if clock is None and positions is None:
        return None
    others = [] if corrected is motion else [prior.level(corrected)]
    if zeros is not None:
        others.append(prior.level(replace(thin, q=thin.q + zeros.of(fit.n))))
    if delay is not None:
        others.append(prior.level(replace(thin, tau=thin.shifted(delay.seconds))))
    if gain is not None:
        others.append(prior.level_with(thin, *gain))
    least = min(others, default=np.inf)
    at_clock = np.inf if clock is None else prior.level(clock.of(thin))
    if positions is not None and positions.level < min(least, at_clock):
        return positions
    if clock is None or at_clock > least or clock.factor > 1.0:
        return clock if at_clock <= least else None
    # weaker gravity, and larger masses, fit the torques as well as a slower clock: the file tells which it is
    slower, as_logged = GravityFit(fit, clock.of(thin)), GravityFit(fit, thin)
    weaker = as_logged.at(clock.factor**2 * as_logged.known)
    return clock if slower.at(slower.known).level < weaker.level else None


def zero_finding(runs: Sequence[Samples], base: BaseParameters, weight: float) -> LogFinding | None:
    """Return the joint zeros with which both the torques and the prior inertias, these with a weight, fit best, or None.

    They are none, too, if both are more likely with an unknown load on the last link instead, and with it no more likely with
    these zeros: that of its joint can move the load towards the file.
    """
    motion, rows = summary(runs)
    fit, loaded = FreeFit(base, weight), FreeFit(base, weight, load=True)
    zeros = fit.zeros(motion) if len(motion.torque) >= FEWEST else None
    if zeros is None:
        return None
    moved, with_load = motion.moved(zeros.of(fit.n)), loaded.level(motion)
    if with_load < fit.level(moved) - LESS_LIKELY and with_load < loaded.level(moved) + LESS_LIKELY:
        return None
    return TorqueReport(motion, rows, runs[0].source, base.model.robot, {}).zeros(zeros)


def column_finding(runs: Sequence[Samples], base: BaseParameters, weight: float) -> LogFinding | None:
    """Return the two joints with whose columns exchanged, or the joint with whose direction reversed, the torques and the prior
    inertias, these with a weight, are most likely; None if they are as logged."""
    motion, rows = summary(runs, EXCHANGED)
    n = base.model.robot.n
    if n > LARGEST or len(motion.torque) < FEWEST:
        return None
    fit = FreeFit(base, weight)
    trials = [m for m in mistakes(n) if m.code in ("swapped", "wrong sign") and m.where == "torque and motion"]
    levels = [level_without(fit, mistake, motion) for mistake in trials]
    if not levels or min(levels) >= fit.level(motion):
        return None
    best, report = trials[int(np.argmin(levels))], TorqueReport(motion, rows, runs[0].source, base.model.robot, {})
    return report.exchanged(*best.joints) if best.code == "swapped" else report.reversed(*best.joints)

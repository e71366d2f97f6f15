"""Findings on the torques of a log in words: each with its column, an instant as evidence, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable
from dynamis.identification.logs.balancers import Balancers
from dynamis.identification.logs.clock_fit import ClockScale
from dynamis.identification.logs.explained import Explained
from dynamis.identification.logs.free_fit import Delay, Zeros
from dynamis.identification.logs.gravity_fit import Compensation, Mounting
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.mistakes import Trial
from dynamis.identification.logs.motion_summary import MotionSummary
from dynamis.identification.logs.position_scale import PositionScale
from dynamis.identification.validation.describe import listed
from dynamis.robot import Robot

Array = npt.NDArray[Any]
ANOTHER_ROBOT = 0.1  # explained fraction below which the model is of another robot
CLEAR_GAIN = 0.7  # explained fraction beyond friction above which the scale of the model can be assessed
UNITS = {1e3: "in N mm or mN m, or a thousand times too large", 1e-3: "in kN m, or a thousand times too small",
         180.0 / np.pi: "of a motion in degrees", np.pi / 180.0: "per degree"}  # fmt: skip
UPSIDE_DOWN = 170.0  # degrees between gravity and that of the file
FAR = 3.0  # scale factor of currents, or of a wrong gear ratio, too large for model errors
LOW, HIGH = 1.0 / 1.5, 2.5  # scale factors beyond which torques or masses are wrong; a payload increases torques
ALONE = 2.5  # ratio of the scale of one joint to that of the others


class TorqueReport:
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

    def scale(self, scale: ClockScale | PositionScale) -> LogFinding:
        """Return the finding for a clock of another rate, or for positions of a joint in another scale."""
        return self.clock(scale) if isinstance(scale, ClockScale) else self.positions(scale)

    def positions(self, scale: PositionScale) -> LogFinding:
        """Return the finding for positions of a joint in another scale, with its interval and how to correct it."""
        column, r = self.column("q", scale.joint), scale.factor
        text = f"{self.source}column {printable(column)} is {r:.4g} ± {2.0 * scale.error * r:.2g} times the position of joint "
        text += f"{printable(self.names[scale.joint])}"
        text += f", and its torque 1/{r:.4g} of that of the joint (gear ratio)" if scale.torques else " (encoder or gear ratio)"
        which = "positions and torques" if scale.torques else "positions"
        own = np.arange(len(self.names)) == scale.joint
        ratios = ", ".join(f"{x:.4g}" for x in np.where(own, r, 1.0))
        cure = f'multiply its ratio by {r:.4g}: with side = "motor" of the {which} in a mapping, ratios = [{ratios}] under '
        cure += "[transmission], times the ratios that are there"
        zero = tuple((scale.zero * own + 0.0).tolist()) if scale.zero else ()
        if zero:
            unit = "rad" if self.robot.model.coordinates[scale.joint].revolute else "m"
            text += f"; its zero is off, too ({scale.zero:.4g} {unit} to be added then)"
            cure += f", and zero=({','.join(f'{x:.4g}' for x in zero)})"
        positions = tuple(np.where(own, r, 1.0).tolist())
        factors = tuple(np.where(own, 1.0 / r, 1.0).tolist()) if scale.torques else ()
        found = LogFinding("warning", "position scale", column, None, text, cure, caps=2, positions=positions)
        return replace(found, factors=factors, zero=zero)

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

    def balancers(self, found: Balancers) -> LogFinding:
        """Return the finding for balancers that the file lacks, with the argument that adds them to the model."""
        names, sizes = [self.names[k] for k in found.terms], np.ptp(found.torques(self.motion), axis=0)
        parts = [f"{sizes[k]:.2g} {self.robot.model.coordinates[k].effort_unit}" for k in found.terms]
        one = len(names) == 1
        text = f"{self.source}{listed(list(map(printable, names)))} {'seems' if one else 'seem'} to have "
        text += f"{'a balancer' if one else 'balancers'} that the file lacks, such as a spring, counterweight or gas cylinder: "
        text += f"{'its torque changes' if one else 'their torques change'} by {listed(parts)} with the position of "
        text += f"{'this joint' if one else 'these joints'} alone"
        column, cure = self.column("tau", min(found.terms)), f"add balancer={names}"
        balanced = tuple(zip(names, found.harmonics.values(), strict=True))
        return LogFinding("warning", "balancer", column, None, text, cure, caps=1, balanced=balanced)

    def mistake(self, trial: Trial) -> LogFinding:
        """Return the finding for a mistake."""
        mistake = trial.mistake
        i, j = mistake.joints[0], mistake.joints[-1]
        if len(mistake.joints) > 2:
            i = max(mistake.joints, key=lambda joint: self.motion.torque[:, joint].std())
        if mistake.where == "motion":
            row, instant = self._instant(i, trial.before.fitted[:, i], trial.then.fitted[:, i])
        else:
            row, instant = self._instant(i, trial.then.fitted[:, i])
        letters, both = ("tau", "q") if mistake.where == "torque" else ("q", "tau"), mistake.where == "torque and motion"
        one = self.column(letters[0], i)
        of_i, of_j = ([printable(self.column(letter, joint)) for letter in letters] for joint in (i, j))
        explains = f"{100 * trial.then.fraction[i]:.0f} % of the torque of {printable(self.names[i])} would be explained"
        if mistake.code in (units := {"degrees": "deg", "revolutions": "rev"}):
            text = f"{self.source}positions, velocities and accelerations seem to be in {mistake.code}: converted, {explains}"
            cure = f'set unit = "{units[mistake.code]}" in a mapping'
            return LogFinding("error", mistake.code, self.column("q", i), row, text, cure)
        if mistake.code == "magnitude":
            text = (
                f"{self.source}column {of_i[0]} is never negative, as if logged without its sign: with the sign of the model, "
            )
            text += explains
            return LogFinding("error", "magnitude", one, row, f"{text}; {instant}", "log the torque with its sign")
        if mistake.code == "inverted":
            text = f"{self.source}all torques seem to have the wrong sign: inverted, {explains}; {instant}"
            cure = f"invert them: signs = [{', '.join(['-1'] * len(self.names))}] in a mapping"
            return LogFinding("error", "wrong sign", self.column("tau", i), row, text, cure)
        if mistake.order:
            orders = [[printable(self.column(letters[0], k)) for k in own] for own in (mistake.joints, mistake.order)]
            columns = [listed(own, len(own)) for own in orders]
            which = f"{columns[0]}{', and those of their torques,' if both else ''}"
            text = f"{self.source}columns {which} seem to be exchanged: in the order {columns[1]}, {explains}; {instant}"
            return LogFinding("error", "swapped", one, row, text, "give them in this order in a mapping: columns = […]")
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
        here = TorqueReport(found.motion, self.rows[found.samples], "", self.robot, self.columns)
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

    def compensation(self, found: Compensation) -> LogFinding:
        """Return the finding for torques that lack those of a gravity compensation computed with the file."""
        name, unit = self.names[found.joint], self.robot.model.coordinates[found.joint].effort_unit
        text = f"{self.source}the torques seem to lack those of a gravity compensation computed with this file: with the "
        text += f"file's torques of gravity added, {found.after:.3g} {unit} (RMS) of the torque of {printable(name)} are "
        text += f"unexplained instead of {found.before:.3g} {unit}"
        cure = "log the whole torques, those of the gravity compensation included, or add robot.gravity(q) of this file to them"
        return LogFinding("error", "no gravity", self.column("tau", found.joint), None, text, cure)

    def missing_weight(self, joint: int) -> LogFinding:
        """Return the finding for torques without the constant force of gravity along a joint."""
        force = abs(float(np.asarray(self.robot.gravity(self.motion.q[0]))[joint]))
        unit, column = self.robot.model.coordinates[joint].effort_unit, self.column("tau", joint)
        text = f"{self.source}the torques fit the file without gravity: {printable(column)} contains its inertia and friction, "
        text += f"but not the {force:.4g} {unit} with which gravity acts on this joint in all positions"
        cure = (
            "log the whole torques, those of the gravity compensation included; or, if the axis is balanced, identify the "
            "constant force, too: offset=True"
        )
        return LogFinding("error", "no gravity", column, None, text, cure)

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

    @staticmethod
    def clear(last: Explained) -> Array:
        """Return the joints whose torques have a clear scale relative to the model's."""
        return np.flatnonzero((last.foretold > 0.0) & (1.0 - last.alone > 0.02) & (last.gain > CLEAR_GAIN) & (last.scale > 0.0))

    @classmethod
    def common_scale(cls, last: Explained) -> float:
        """Return the scale of the torques of these joints, of which there must be one."""
        clear = cls.clear(last)
        return float(np.exp(np.average(np.log(last.scale[clear]), weights=np.sqrt(last.foretold[clear]))))

    def loaded(self, link: str) -> LogFinding:
        """Return the finding for a load on a link that is not in the file."""
        text = f"{self.source}{printable(link)} seems to carry a load that is not in the file: "
        text += "with one, the torques agree with the file"
        cure = "its identified inertia contains the load; give the load to the model (payload=…), or record a log without it"
        return LogFinding("warning", "load", None, None, text, cure)

    def scales(self, last: Explained) -> Iterator[LogFinding]:
        """Yield torques proportional to the model's with another scale: all of them, or those of single joints."""
        clear = self.clear(last)
        if not len(clear):
            return
        foretold, common = np.sqrt(last.foretold[clear]), self.common_scale(last)
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
                factors = np.where(np.arange(len(self.names)) == j, last.scale[j] / common, 1.0)
                found = LogFinding("warning", "wrong scale", column, row, text, "check its drive gain and gear ratio", caps=2)
                yield replace(found, factors=tuple(factors.tolist()))

    def another_robot(self, last: Explained) -> Iterator[LogFinding]:
        """Yield torques of which the model explains almost nothing, although it predicts some."""
        left, share = float(last.left.sum()), max(last.model_share, 0.0)
        foretold = float(last.foretold.sum())
        strange = np.flatnonzero(last.speaks & (last.gain < 0.1) & (1.0 - last.alone > 0.1))
        agreement = last.agreement
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
            f"{self.source}the model explains {100 * share:.0f} % of the torques beyond friction{which}, and no single mistake "
            f"does: this seems to be a log of another robot than {printable(self.robot.name)}, or the wrong file; for "
            f"{printable(column)}, {instant}"
        )
        cure = "pass the correct robot; or check its mounting (gravity), joint zeros and units, and the order of the columns"
        yield LogFinding(severity, "another robot", column, row, text, cure)

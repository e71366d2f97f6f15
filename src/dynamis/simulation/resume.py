"""Resuming a motion: the stored final state, and concatenation of the two parts.

The final state includes, beyond q and v, bristles of friction, currents and rotors of drives, and pending commands of a sampled
controller; the end may lie between two output points.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.model.model import fingerprint
from dynamis.robot import Robot
from dynamis.simulation.dense import Dense, unit_quaternions
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.pieces import Pieces
from dynamis.simulation.sampling import Held, Samples
from dynamis.simulation.trajectory import FinalState, Trajectory

Array = npt.NDArray[Any]


def names_inside(motion: EquationsOfMotion) -> tuple[str, ...]:
    """Names of the states of friction and drives."""
    names = [""] * motion.states
    for place, k in enumerate(motion.bristles):
        names[place] = f"bristles of {motion.robot.coordinate_names[k]}"
    for coordinate, places in motion.inside(np.arange(motion.states)).items():
        for k, place in enumerate(places):
            names[place] = f"state {k} of the drive of {coordinate}"
    return tuple(names)


def with_memory(
    trajectory: Trajectory, motion: EquationsOfMotion, times: Array, pieces: Pieces | None, y: Array, held: Held | None
) -> Trajectory:
    """The same trajectory with dense output and the data for resuming.

    ``pieces`` is the result of adaptive integration; without it, y is the state at the last point.
    """
    dense = None if pieces is None else Dense.of(motion.robot.nq, float(times[0]), pieces)
    t, held_joints, resting = float(trajectory.t[-1]), {}, {}
    if dense is not None and pieces is not None:
        whole = np.count_nonzero(times <= dense.ends[-1]) <= len(trajectory.t)
        # a function may have refused a reported point that the integrator had passed: the motion ends before it
        dense = dense if whole else dense.until(t)
        t, held_joints, resting = dense.ends[-1], dense.directions[-1], pieces.resting[len(dense.ends) - 1]
        y = pieces.last if whole and pieces.last is not None else dense.last()
    y = np.concatenate([unit_quaternions(motion.robot.model, y[None, : motion.robot.nq])[0], y[motion.robot.nq :]])
    samples = None if held is None else held.samples(t)
    stop = FinalState(t, y, names_inside(motion), held_joints, resting, times, samples, True)
    return dataclasses.replace(trajectory, dense_output=dense, final_state=stop)


def check_resumable(resume: Any, q0: Any, v0: Any, closures: tuple[Any, ...]) -> Trajectory:
    """Validate the argument ``resume``: a motion with the same loops."""
    if not isinstance(resume, Trajectory):
        raise InputError(f"resume= must be a motion returned by simulate, got {type(resume).__name__}")
    if getattr(resume, "closures", closures) != closures:
        raise InputError(
            "the motion to resume has other loops: go on with the robot and the closures that were simulated, "
            "dynamis.constrained(robot).simulate(…, resume=…)"
        )
    if q0 is not None or v0 is not None:
        raise InputError("a resumed motion starts from its end: omit q0 and v0, or omit resume")
    return resume


def model_digest(robot: Robot) -> str:
    """A digest of a robot's mechanics, whether its drives are in the model or given separately."""
    return fingerprint(dataclasses.replace(robot.model, actuators=()))


def check_same_robot(before: Trajectory, robot: Robot) -> None:
    """``robot`` is the simulated one, without the rotors of elastic drives."""
    if model_digest(before.robot) != model_digest(robot):
        raise InputError(
            f"the motion to resume is of another robot ({printable(before.robot.name)}; now {printable(robot.name)}): give "
            f"the robot and actuators that were simulated"
        )


def samples_of(before: Trajectory | None) -> Samples | None:
    return None if before is None or before.final_state is None else before.final_state.samples


def pieces_before(before: Trajectory | None) -> Pieces | None:
    """Sliding directions and stop contacts at the end of a motion; changes with respect to them are events."""
    if before is None or before.final_state is None or not before.final_state.adaptive:
        return None
    return Pieces(directions=[dict(before.final_state.directions)], resting=[dict(before.final_state.resting)])


def state_at_stop(before: Trajectory, motion: EquationsOfMotion, sampled: bool) -> Array:
    """The full state to resume from; a motion read from a table has only its last point."""
    names = names_inside(motion)
    stop = before.final_state
    if stop is None:
        return _last_point(before, motion, sampled)
    if stop.inside != names:
        had, has = (", ".join(x) or "none" for x in (stop.inside, names))
        raise InputError(
            f"friction and drives of the motion to resume have other states ({had}; now {has}): give the same friction= and "
            "actuators="
        )
    return stop.y


def _last_point(before: Trajectory, motion: EquationsOfMotion, sampled: bool) -> Array:
    if motion.bristles or sampled:
        what = "the memory of a sampled controller" if sampled else "the bristles of LuGre friction"
        raise InputError(f"this motion was read from a file without {what}: save as .npz to resume")
    inside = np.zeros(motion.states)
    for coordinate, places in motion.inside(np.arange(motion.states)).items():
        if coordinate not in before.actuator_states:
            raise InputError(f"the motion to resume has no states of a drive at {coordinate!r}: give the same actuators=")
        inside[places] = before.actuator_states[coordinate][-1]
    return np.concatenate([before.q[-1], before.v[-1], inside, before.work[-1:]])


def stop_of(before: Trajectory) -> float:
    """The time at which a motion ended, which may be after its last point."""
    return float(before.t[-1]) if before.final_state is None else before.final_state.t


def times_after(before: Trajectory, given: Array, points: int) -> Array:
    """The end of a motion, and the output times from there: those planned, if the final time is the same."""
    stop = stop_of(before)
    planned = np.zeros(0) if before.final_state is None else before.final_state.planned
    end = float(given[-1])
    if end <= stop:
        raise InputError(f"the motion stopped at t = {stop:.9g} s: give an end after that, got {end:g}")
    if len(given) > 2 or (len(given) == 2 and given[0] > stop):
        left = given[given > stop]
    elif len(planned) and planned[-1] == end:
        left = planned[planned > stop]
    else:
        left = np.linspace(stop, end, points)[1:]
    return np.concatenate([[stop], left])


def joined(before: Trajectory, after: Trajectory) -> Trajectory:
    """Concatenate two parts of a motion; the first point of ``after`` is the end of ``before``."""
    frames = [*before.wrenches, *(frame for frame in after.wrenches if frame not in before.wrenches)]
    statistics = {name: _added(name, before.statistics.get(name), x) for name, x in after.statistics.items()}
    own = {f.name for f in dataclasses.fields(after)}
    optional: dict[str, Any] = {name: _rows(before, after, name) for name in ("stop_torque",) if name in own}
    if before.dense_output is not None:
        dense: Any = before.dense_output.until(float(after.t[0])).followed_by(after.dense_output)
    else:
        dense = after.dense_output
    rows: dict[str, Any] = {name: np.concatenate([getattr(before, name), getattr(after, name)[1:]]) for name in ROWS}
    return dataclasses.replace(
        after,
        **rows,
        wrenches={frame: _both(before.wrenches, after.wrenches, frame, before, after) for frame in frames},
        actuator_states={name: np.concatenate([before.actuator_states[name], x[1:]])
                         for name, x in after.actuator_states.items()},
        events=(*before.events, *after.events),
        statistics=statistics,
        dense_output=dense,
        **optional,
    )  # fmt: skip


COUNTS = ("evaluations", "pieces", "steps")
ROWS = ("t", "q", "v", "tau", "friction", "work")


def _rows(before: Trajectory, after: Trajectory, name: str) -> Any:
    """An optional array of a motion: zeros where absent."""
    parts = [getattr(part, name) for part in (before, after)]
    if all(x is None for x in parts):
        return None
    filled = [np.zeros((len(p), p.robot.n)) if x is None else x for p, x in zip((before, after), parts, strict=True)]
    return np.concatenate([filled[0], filled[1][1:]])


def _both(old: Mapping[str, Array], new: Mapping[str, Array], name: str, before: Trajectory, after: Trajectory) -> Array:
    """A wrench over both parts; zero where it was not given."""
    first, second = old.get(name), new.get(name)
    first = np.zeros((len(before), 6)) if first is None else first
    second = np.zeros((len(after), 6)) if second is None else second
    return np.concatenate([first, second[1:]])


def _added(name: str, before: Any, after: Any) -> Any:
    if before is None or name not in COUNTS:
        return max(before, after) if before is not None and name.startswith("largest") else after
    return before + after

"""Output times of a motion, and the steps between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.robot.checks import check_count
from dynamis.simulation.fixed_step import MAX_STEPS, RULES, check_step_length
from dynamis.simulation.resume import stop_of, times_after
from dynamis.simulation.trajectory import Trajectory

Array = npt.NDArray[Any]
POINTS = 501  # output times by default


def _given_times(t: Any, points: int | None) -> Array:
    try:
        given = np.atleast_1d(np.array(t, dtype=float)) if not isinstance(t, str) else np.zeros(0)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise InputError(f"t must be a duration, (start, end) or a list of times, got {t!r}")
    if points is not None:
        check_count("points", points, 2)
        if len(given) > 2:
            raise InputError(
                f"t holds {len(given)} output times, so that points={points} has no meaning: leave points= out, or "
                "give t=(start, end)"
            )
    if not np.all(np.diff(given) > 0):
        k = int(np.argmax(np.diff(given) <= 0))
        raise InputError(f"times must increase, but t = {given[k + 1]:g} s follows {given[k]:g} s")
    return given


def times_of(t: Any, points: int | None, before: Trajectory | None, method: str | None, step: Any) -> Array:
    """The output times of a motion, or of what is left of the one ``before``."""
    if not isinstance(method, str | None):
        raise InputError(f"method={method!r} is unknown; choose one by its name, such as 'DOP853' or 'rk4'")
    given = _given_times(t, points)
    if before is None and len(given) == 1:
        if given[0] <= 0.0:
            raise InputError(f"the duration must be positive, got {given[0]:g} s")
        given = np.array([0.0, given[0]])
    start = float(given[0]) if before is None else stop_of(before)
    count = _points(float(given[-1]) - start, method, step) if points is None else points
    if before is not None:
        return times_after(before, given, count)
    return np.linspace(given[0], given[-1], count) if len(given) == 2 else given


def checked_times(t: Any, points: int | None, before: Trajectory | None, method: str, step: Any) -> Array:
    """The output times for this method, which may be the default one, and step."""
    times = times_of(t, points, before, method, step)
    _check_step(step, times, method)
    return times


def _check_step(step: Any, times: Array, method: str) -> None:
    """Refuse a step that is no time, or that output times would shorten; adaptive methods take it as their longest one."""
    if step is None:
        return
    if not _is_step(step):
        raise InputError(f"step must be a positive number of seconds, got {step!r}")
    check_step_length(float(step), float(times[0]), float(times[-1]))
    if method not in RULES:
        return
    longest, duration = float(np.diff(times).max()), float(times[-1] - times[0])
    if step > duration * (1.0 + 1e-9):
        raise InputError(f"step={step:g} s is longer than the motion: use at most step={duration:g}")
    needed = _steps(duration, step)
    if longest < step * (1.0 - 1e-9) and len(times) - 1 > needed:
        cure = f"use points={needed + 1} or fewer, or step={longest:g} or less"
        raise InputError(f"step={step:g} s is longer than the {longest:g} s between output times, at which steps end: {cure}")


def _is_step(step: Any) -> bool:
    return isinstance(step, int | float | np.number) and not isinstance(step, bool) and bool(0.0 < step < np.inf)


def _steps(duration: float, step: float) -> int:
    """The number of equal steps of at most this length."""
    return int(np.ceil(min(duration / step, MAX_STEPS) - 1e-9))


def _points(duration: float, method: str | None, step: Any) -> int:
    """The number of output times where it is not given: they lie on the steps of a method with fixed ones."""
    if method not in RULES or not _is_step(step) or not duration > 0.0:
        return POINTS
    steps = max(1, _steps(duration, step))
    return -(-steps // -(-steps // (POINTS - 1))) + 1

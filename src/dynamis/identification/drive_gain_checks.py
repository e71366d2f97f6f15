"""Why currents with load and without contradict each other: exchanged runs, a wrong payload, or a gain that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dynamis.display import flat
from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import equations
from dynamis.identification.payload_fit import payload_regressor, solve
from dynamis.identification.samples import Decimation, Samples
from dynamis.spatial import PARAMETER_NAMES, Inertia

Array = npt.NDArray[Any]
FAR = 3.0  # residual of a current relative to that of fits to single joints without load, above which it is not explained
SIGNIFICANT = 3.0  # standard errors by which a gain must differ from zero for its sign to be believed


class Estimated(Protocol):
    """What is known of gains that were estimated, as in `drive_gains`."""

    @property
    def gains(self) -> Array: ...
    @property
    def standard_errors(self) -> Array: ...
    @property
    def parameters(self) -> Array: ...
    @property
    def noise(self) -> Array: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def payload(self) -> Inertia | None: ...


Estimate = Callable[[Sequence[Samples], Sequence[str] | None], Estimated]  # from runs with load, and the known parameters


def negative_gains(base: BaseParameters, found: Estimated) -> Iterator[str]:
    """Yield sentences on gains that are clearly below zero."""
    known = np.isfinite(found.standard_errors)
    negative = known & (found.gains < -SIGNIFICANT * found.standard_errors)
    if negative.sum() > 1 and (negative == known).all() and found.payload is not None and _opposed(base, found.parameters):
        yield (
            "all gains are negative, and so are the masses of the arm: the runs with load and without seem to be exchanged; "
            f"exchanged, they give the gains {flat(-found.gains)}"
        )
        return
    for name in np.array(found.names)[negative]:
        yield f"the gain of joint {printable(name)} is negative: its current has the opposite sign"


def _opposed(base: BaseParameters, parameters: Array) -> bool:
    """Whether the torques of the parameters are opposed to those of the file."""
    q = base.model.robot.random(0, 64)
    Y = base.regressor(q, np.zeros((64, base.model.robot.n)), np.zeros((64, base.model.robot.n)))
    return float(np.vdot(Y @ parameters, Y @ base.prior)) < 0.0


def contradictions(
    base: BaseParameters,
    unloaded: Sequence[Samples],
    loaded: Sequence[Samples],
    frame: str | None,
    found: Estimated,
    again: Estimate,
) -> Iterator[str]:
    """Yield why the currents are not explained as well as those without load, with the cause if one is found."""
    least = noise_without_load(base, unloaded)
    times = found.noise / least
    j = int(np.argmax(times))
    if times[j] < FAR:
        return
    names = [printable(name) for name in found.names]
    far = f"{found.noise[j]:.3g}, and {least[j]:.3g} in a fit to the runs without load"
    text = f"the RMS residual of the current of {names[j]} is {far}: the runs contradict each other or the payload"
    for k in np.argsort(-times)[:2]:
        fewer = [replace(run, use=run.use & (np.arange(len(names)) != k)) for run in loaded]
        if (then := _tried(again, fewer, None)) is None or (then.noise > FAR * least).any():
            continue
        current, torque = _loaded(base, loaded, then, int(k), frame)
        changed = float(torque @ current / (current @ current))
        if abs(changed - then.gains[k]) > SIGNIFICANT * then.standard_errors[k]:
            gains = f"its gain seems to be {changed:.4g} with load and {then.gains[k]:.4g} without"
            yield f"{text}; without the currents of {names[k]} with load they agree: {gains}; check its drive and unit"
            return
    then = _tried(again, loaded, [name for name in PARAMETER_NAMES if name not in ("mx", "my", "mz")])
    if then is not None and (then.noise < FAR * least).all() and then.payload is not None:
        com = f"the centre of mass seems to be {flat(then.payload.com, 3)} m, and the gains {flat(then.gains)}"
        yield f"{text}; with a free centre of mass they agree: {com}; check the payload's parameters and frame="
        return
    yield f"{text}; check its mass, centre of mass and frame=, that all loaded runs carried it, and order and signs of currents"


def noise_without_load(base: BaseParameters, unloaded: Sequence[Samples]) -> Array:
    """Return the RMS residuals (n,) of the currents of the runs without load, fitted joint by joint."""
    rows, n = equations(base, unloaded), base.model.robot.n
    X, least = rows.X, 1e-9 * float(np.abs(rows.y).max(initial=0.0)) + 1e-300
    noise = np.zeros(n)
    for j in range(n):
        A, y = X[rows.joint == j], rows.y[rows.joint == j]
        A = A[:, np.abs(A).max(axis=0, initial=0.0) > 0.0]
        noise[j] = np.linalg.norm(y - A @ solve(A, y)) / np.sqrt(max(len(y) - A.shape[1], 1))
    return np.maximum(noise, least)


def _tried(again: Estimate, loaded: Sequence[Samples], known: Sequence[str] | None) -> Estimated | None:
    try:
        return again(loaded, known)
    except InputError:
        return None


def _loaded(
    base: BaseParameters, loaded: Sequence[Samples], found: Estimated, joint: int, frame: str | None
) -> tuple[Array, Array]:
    """Return the currents of a joint with load, and the torques that the parameters give."""
    assert found.payload is not None
    currents, torques = list[Array](), list[Array]()
    for run in loaded:
        rows, filtered = equations(base, run), Decimation(run.period, run.parallel, run.every)
        load = filtered.of(payload_regressor(base.model.robot, run.q, run.v, run.a, frame) @ found.payload.parameters)
        own = rows.joint == joint
        currents.append(rows.y[own])
        torques.append(
            (rows.X @ found.parameters)[own] + load.reshape(-1)[run.use[filtered.centres(len(run))].reshape(-1)][own]
        )
    return np.concatenate(currents), np.concatenate(torques)

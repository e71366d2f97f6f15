"""Checks and conversion of arguments to arrays."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.kinematics import REST, MovingBase
from dynamis.display import counted
from dynamis.errors import InputError, ReachWarning, printable, unknown_name
from dynamis.model.joints import Free
from dynamis.model.model import Model
from dynamis.scalar import Node, as_scalar

Array = npt.NDArray[Any]

STATES = {"q": "positions", "v": "velocities", "a": "accelerations", "tau": "torques", "q0": "positions", "v0": "velocities"}
CONFIGURATIONS = ("q", "q0", "q1")
WRENCH_PARTS = "(fx, fy, fz, mx, my, mz)"
QUATERNION_TOLERANCE = 1e-3  # of its length: drift of an integration; a larger deviation is an error


class Inputs:
    """The checks that need to know the robot."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.coordinate_names = [c.name for c in model.coordinates]

    def warn_degrees(self, q: Array, name: str = "q0", cure: str = "", stacklevel: int = 5) -> None:
        """Warn of positions whose angles look like degrees."""
        doubtful = [c for c in self.model.coordinates if c.q_index is not None and c.looks_like_degrees(q[c.q_index])]
        if doubtful:
            c, others = doubtful[0], f" (and {len(doubtful) - 1} more)" if len(doubtful) > 1 else ""
            value, turns = q[c.q_index], abs(q[c.q_index]) / (2.0 * np.pi)
            warnings.warn(
                f"{name} is in radians, and {value:g} rad for joint {printable(c.name)}{others} is {turns:.3g} turns; "
                f"if these are degrees, {cure or f'give numpy.deg2rad({name})'}",
                ReachWarning,
                stacklevel=stacklevel,
            )

    def warn_degrees_of_states(self, q: Array, stacklevel: int) -> None:
        """The same of a batch (states, nq): of the largest of its states whose angles look like degrees."""
        suspects = q[(np.abs(q) > 2.0 * np.pi).any(axis=-1)]
        for state in suspects[np.argsort(-np.abs(suspects).max(axis=-1, initial=0.0))]:
            if any(c.looks_like_degrees(float(state[c.q_index])) for c in self.model.coordinates if c.q_index is not None):
                self.warn_degrees(state, "q", stacklevel=stacklevel + 1)
                return

    def warn_limits(self, q: Array, name: str, stacklevel: int) -> None:
        """Warn of positions outside the limits of their joints, unless they look like degrees."""
        single = [c for c in self.model.coordinates if c.q_index is not None]
        if any(c.looks_like_degrees(float(q[c.q_index])) for c in single):
            return
        outside = [
            f"{printable(c.name)} = {q[c.q_index]:.4g}, limits {c.lower:.4g} … {c.upper:.4g} {'rad' if c.revolute else 'm'}"
            for c in single
            if not c.allows(float(q[c.q_index]))
        ]
        if outside:
            more = f"; and {len(outside) - 3} more" if len(outside) > 3 else ""
            text = f"{name} is outside the joint limits: {'; '.join(outside[:3])}{more}"
            warnings.warn(text, ReachWarning, stacklevel=stacklevel)

    def vector(self, value: Any, size: int, name: str, meaning: str = "") -> Array:
        """(…, size) numbers, checked; ``meaning`` says in an error what they are, where the name does not."""
        if "numpy.ma" in sys.modules and np.ma.is_masked(value):  # importing it takes as long as the first result
            raise InputError(f"{name} has masked entries; give each a value with {name}.filled(...), or leave these states out")
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            raise InputError(f"{name} must be a rectangular array of numbers, got a ragged {type(value).__name__}") from None
        if array.dtype == object:
            array = _of_scalars(array, name)
        elif array.dtype.kind not in "biuf":
            kind = "text" if array.dtype.kind in "US" else f"{array.dtype.name} entries"
            raise InputError(f"{name} must be an array of real numbers, got {kind}")
        elif array.dtype not in (np.float32, np.float64):
            array = array.astype(float)
        if array.ndim == 0 or array.shape[-1] != size:
            known = f"the {size} {STATES[name]}" if name in STATES else counted(size, "number")
            named = name in STATES and size == len(self.coordinate_names)
            names = ", ".join(map(printable, self.coordinate_names[:8])) + (", …" if size > 8 else "")
            whose = f" of robot {printable(self.model.name)}" if name in STATES else ""
            meaning = meaning or (WRENCH_PARTS if name.startswith("wrench on ") else "")
            text = f"{name} has shape {array.shape}; its last axis must have {known}{whose}"
            raise InputError(text + (f" ({names})" if named else f": {meaning}" if meaning else ""))
        if array.dtype != object and name in CONFIGURATIONS:
            self._check_quaternions(array, name)
        if array.dtype != object and not np.isfinite(array).all():
            where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(where)} is {array[where]}; every entry must be a finite number")
        return array

    def argument(self, value: Any, size: int, name: str) -> Array:
        """`vector` for a function of any arguments, whose q is a configuration only if it has that length."""
        return self.vector(value, size, name if size == self.model.nq or name not in CONFIGURATIONS else f"argument {name}")

    @functools.cached_property
    def quaternions(self) -> list[slice]:
        bodies = [body for _, body in self.model.moving if body.motion.nq > body.motion.nv]
        return [slice(body.q_index.stop - 4, body.q_index.stop) for body in bodies]

    def _check_quaternions(self, q: Array, name: str) -> None:
        for place in self.quaternions:
            lengths = np.linalg.norm(q[..., place], axis=-1)
            if lengths.size and np.abs(lengths - 1.0).max() > QUATERNION_TOLERANCE:
                worst = lengths.flat[int(np.abs(lengths - 1.0).argmax())]
                advice = "divide it by its norm" if worst > 0.0 else "a rotation is a quaternion of norm 1"
                raise InputError(f"{name}[{place.start}:{place.stop}] is a quaternion of norm {worst:.6g}; {advice}")

    def one_state(self, value: Any, size: int, name: str) -> Array:
        array = self.vector(value, size, name)
        if array.ndim != 1:
            raise InputError(f"{name} has shape {array.shape}; this function takes one state, not a batch")
        return array if array.dtype == object else array.astype(float)

    def coordinates(self, chosen: Any, name: str) -> list[int]:
        """Indices in v of coordinates: "all", "joints" (all but those of a free base), or names and indices, each once."""
        n, names = self.model.n, self.coordinate_names
        if isinstance(chosen, str) and chosen in ("all", "joints"):
            free = {k for _, body in self.model.moving if isinstance(body.motion, Free) for k in body.dof}
            return [k for k in range(n) if chosen == "all" or k not in free]
        found = []
        for one in chosen if np.iterable(chosen) and not isinstance(chosen, str) else [chosen]:
            if isinstance(one, str):
                if one not in names:
                    raise unknown_name("coordinate", one, names)
                found.append(names.index(one))
            elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < n:
                found.append(int(one))
            else:
                raise InputError(f"{name}= takes names of coordinates or indices from 0 to {n - 1}, got {one!r}")
        if len(set(found)) != len(found):
            raise InputError(f"{name}= has the coordinate {printable(names[max(found, key=found.count)])} twice")
        return found

    def actuated(self, chosen: Any) -> list[int]:
        """`coordinates`, at least one."""
        found = self.coordinates(chosen, "actuated")
        if not found:
            raise InputError("no coordinate is actuated: actuated= must name at least one")
        return found


def _of_scalars(array: Array, name: str) -> Array:
    try:
        scalars = [as_scalar(x, f"each entry of {name}") for x in array.flat]
    except OverflowError:
        raise InputError(f"{name} contains a number too large for floating point") from None
    if not any(isinstance(x, Node) for x in scalars):
        return np.array(scalars).reshape(array.shape)
    for x in scalars:
        if not isinstance(x, Node) and not np.isfinite(x):
            raise InputError(f"{name} contains {x}; every entry must be a finite number or a symbol")
    return np.array(scalars, dtype=object).reshape(array.shape)


def moving_base(base: MovingBase | None) -> MovingBase:
    """The motion of the base; none is rest."""
    if base is None:
        return REST
    if not isinstance(base, MovingBase):
        raise InputError(f"base= takes a MovingBase(pose, twist, acceleration), got {type(base).__name__}")
    return base

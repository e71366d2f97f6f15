"""The subject of a report: a robot with symbols for its formulas, and with numbers for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dynamis.errors import DynamisError, InputError, unknown_name
from dynamis.model.joints import Free
from dynamis.model.model import fingerprint
from dynamis.model.parameter_names import declared_name
from dynamis.model.symbols import with_values
from dynamis.robot import Robot, load
from dynamis.scalar import symbol

# default values by symbol, or by its first letter as textbooks use it; I alone is an inertia about a joint axis
DEFAULT_VALUES = {"I": 0.5, "J": 0.5}
DEFAULT_BY_LETTER = {
    "g": 9.81,
    "m": 1.0,
    "M": 1.0,
    "l": 0.5,
    "a": 1.0,
    "L": 1.0,
    "d": 0.5,
    "r": 0.1,
    "R": 0.1,
    "h": 1.0,
    "I": 0.1,
    "J": 0.1,
}


@dataclass(frozen=True, eq=False)
class Subject:
    """The robot as given, the robot with numbers, the values of its symbols, and the argument of `load` that gives it."""

    given: Robot
    robot: Robot
    values: Mapping[str, float]
    assumed: frozenset[str]
    source: str | None

    @property
    def load_given(self) -> str:
        """A Python expression that gives the robot, with its symbols where it has some."""
        if self.source is None:
            return f"...  # the robot {self.given.name!r} given to report()"
        floating = ', base="floating"' if _floats(self.given) else ""
        return f"dy.load({self.source!r}{floating})"

    @property
    def load(self) -> str:
        """Python that gives ``robot`` with numbers."""
        if not self.values or self.source is None:
            return f"robot = {self.load_given}"
        pairs = ", ".join(f"{name!r}: {value:g}" for name, value in self.values.items())
        return f"robot = dy.load({self.source!r}, parameters={{{pairs}}})"


def subject_of(robot: Robot, values: Mapping[str, float] | None, source: str | None) -> Subject:
    """The robot with ``values`` for its symbols; the others get default values."""
    names = robot.description.symbol_names() if robot.model.symbolic else []
    given = {declared_name(name, names): value for name, value in (values or {}).items()}
    for name in given:
        if name not in names:
            raise (
                unknown_name("symbol", name, names)
                if names
                else InputError(f"robot {robot.name!r} has no symbols, so there is no {name!r} to give a value to")
            )
    assumed = frozenset(names) - set(given)
    numbers = {name: float(given.get(name, DEFAULT_VALUES.get(name, DEFAULT_BY_LETTER.get(name[0], 1.0)))) for name in names}
    return Subject(robot, with_numbers(robot, numbers) if names else robot, numbers, assumed, source or _origin(robot))


def _floats(robot: Robot) -> bool:
    return any(isinstance(body.motion, Free) and body.parent == 0 for _, body in robot.model.moving)


def _origin(robot: Robot) -> str | None:
    """The argument of `load` that gives this robot; None for one that was built or changed in Python."""
    name = robot.description.file
    try:
        again = load(name, base="floating" if _floats(robot) else "fixed") if name else None
    except DynamisError:
        return None
    return name if again is not None and fingerprint(again.model) == fingerprint(robot.model) else None


def with_numbers(robot: Robot, numbers: Mapping[str, float]) -> Robot:
    """The robot with numbers in place of its symbols."""
    table = {symbol(name): value for name, value in numbers.items()}
    return Robot(with_values(robot.description, table), _quiet=True)

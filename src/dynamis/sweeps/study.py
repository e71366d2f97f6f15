"""A study: the complete definition of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynamis.display import as_table, counted, short
from dynamis.errors import printable
from dynamis.sweeps.variables import Numbers, Variable
from dynamis.version import __version__


@dataclass(frozen=True, repr=False)
class Study:
    """The complete definition of a sweep, independent of the workers.

    ``fixed`` holds (kind, target, value), as from [payload] mass = 2; ``lists`` the q0, v0, torque and gravity given as lists;
    ``hold`` the set point of the controller, its stiffness and damping per coordinate, and whether it compensates the gravity
    torques of the nominal robot.
    """

    name: str
    robot: str
    robot_data: bytes = field(repr=False)
    robot_kind: str
    base: str
    duration: float
    draws: int
    seed: int
    part: int
    options: Mapping[str, Any]
    lists: Mapping[str, Numbers]
    fixed: tuple[tuple[str, str, float], ...]
    payload_frame: str | None
    hold: Mapping[str, Any] | None
    variables: tuple[Variable, ...]
    cases: int
    fingerprint: str
    text: str = field(repr=False)
    version: str = __version__

    @property
    def parts(self) -> int:
        return -(-self.cases // self.part)

    def range_of(self, part: int) -> range:
        """The cases of a part."""
        return range(part * self.part, min((part + 1) * self.part, self.cases))

    def values(self, case: int) -> Numbers:
        """The value of each variable in a case, determined by the seed and the case number."""
        point, result = case // self.draws, []
        for variable in reversed(self.variables):
            if variable.law == "grid":
                point, k = divmod(point, len(variable.numbers))
                result.append(variable.numbers[k])
            else:
                result.append(variable.draw(self.seed, case))
        return tuple(reversed(result))

    def __repr__(self) -> str:
        return short(
            f"<Study {printable(self.name)} of {printable(self.robot)}: {counted(self.cases, 'case')}, "
            f"{counted(len(self.variables), 'variable')}, {self.duration:g} s>"
        )

    _repr_html_ = as_table

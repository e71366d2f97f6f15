"""Reading of a study from a .toml file: simulation settings and varied quantities, validated before the run."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, literal, printable, unknown_name
from dynamis.model.description import DRIVE_NUMBERS
from dynamis.model.load import load_description
from dynamis.model.readers.expressions import parse_expression
from dynamis.model.readers.xacro import has_macros
from dynamis.model.sources import SUFFIXES, find, root_tag
from dynamis.model.values import MAX_MAGNITUDE
from dynamis.model.writers.toml import write_toml
from dynamis.scalar import Node
from dynamis.simulation.adaptive import METHODS
from dynamis.simulation.fixed_step import RULES
from dynamis.simulation.output_times import checked_times
from dynamis.simulation.simulate import check_tolerances
from dynamis.sweeps.cases import case_setup, check_names, payload_frame
from dynamis.sweeps.study import Study
from dynamis.sweeps.variables import Numbers, Variable, read_variable
from dynamis.tolerances import MAX_COUNT
from dynamis.version import __version__

LISTS = ("q0", "v0", "torque", "gravity")
KINDS = (*LISTS, "parameters", "payload", "mass", *DRIVE_NUMBERS)
OPTIONS = ("method", "step", "rtol", "atol", "points", "friction", "seconds")
DEFAULT_POINTS = 201  # output times of adaptive methods; those of methods with a fixed step lie on its steps
DEFAULT_SECONDS = 60.0  # for the integration of a case
PLAIN = ("robot", "base", "duration", "draws", "seed", "part", *OPTIONS)
HOLD = ("q", "stiffness", "damping", "gravity")
MAX_BYTES = 2**20
NO_MOTION = (
    "; a sweep holds a configuration ([hold]) or applies constant torques: motions along a trajectory and other controllers "
    "are for a loop in Python over dynamis.simulate(robot, duration, controller=…) or for dynamis.rollouts"
)
NO_BASE = (
    "; a sweep does not move the base: its place has no effect on these motions, its inclination that of gravity.x, .y, .z; "
    "for reach and collisions use a loop in Python over robot.placed(pose)"
)
NOT_IN_SWEEPS = {
    **dict.fromkeys(("motion", "trajectory", "path", "controller", "reference"), NO_MOTION),
    **dict.fromkeys(("base", "pose", "placed", "mount"), NO_BASE),
}


def read_study(source: str | os.PathLike[str]) -> Study:
    """Read a study from a .toml file, or from a string of several lines as TOML text.

    Robot files are searched in the folder of the file, or in the current folder.

    >>> import dynamis as dy
    >>> made = dy.read_study('''
    ... robot = "planar_2r_melchiorri"
    ... duration = 1.0
    ... [vary]
    ... "payload.mass" = { grid = [0.0, 1.0, 2.0] }
    ... ''')
    >>> made.cases
    3
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"read_study takes the name of a .toml file, such as 'study.toml', or TOML text, got {type(source).__name__}"
        )
    if isinstance(source, str) and "\n" in source:
        return study_from_text(source)
    return _study_of_file(Path(source))


def _study_of_file(source: Path) -> Study:
    try:
        with source.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"the study {printable(str(source))} cannot be read: {error.strerror}; give a .toml file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{printable(str(source))} is not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{printable(str(source))} has more than {MAX_BYTES} bytes: give a study file, not its results")
    return study_from_text(text, name=source.name, folder=source.parent)


def study_from_text(text: str, *, name: str = "study", folder: Path | None = None) -> Study:
    """Read a study from TOML text.

    >>> made = study_from_text('''
    ... robot = "planar_2r_melchiorri"
    ... duration = 1.0
    ... [vary]
    ... "viscous.*" = { grid = [0, 30, 80] }
    ... ''')
    >>> made.cases, made.values(2)
    (3, (80.0,))
    """
    return _Reader(text, name, folder or Path()).study()


class _Reader:
    def __init__(self, text: str, name: str, folder: Path) -> None:
        self.text, self.name, self.folder = text, name, folder
        self.lines = entry_lines(text)
        try:
            self.document: dict[str, Any] = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            line = re.search(r"at line (\d+)", str(error))
            raise InputError(f"{name}{f', line {line[1]}' if line else ''}: not TOML: {error}; correct the syntax") from None

    def wrong(self, entry: str, message: object) -> InputError:
        line = line_of(self.lines, entry)
        place = f"{self.name}{f', line {line}' if line else ''}: "
        return InputError(place + (f"{entry}: " if entry else "") + str(message))

    def study(self) -> Study:
        document = self.document
        known = (*PLAIN, *KINDS, "hold", "vary")
        for key in document:
            if key not in known:
                raise self.wrong(key, f"{unknown_name('entry', key, known)}{NOT_IN_SWEEPS.get(key.lower(), '')}")
        robot, data, kind = self.robot()
        variables = self.variables()
        draws = self.whole("draws", 1, 1)
        seed = self.whole("seed", 0, 0)
        random = [v.name for v in variables if v.law != "grid"]
        if random and "draws" not in document:
            raise self.wrong(
                f"vary.{random[0]}", "random values require a number of draws: add draws = 100 at the top of the file"
            )
        if not random and draws != 1:
            raise self.wrong(
                "draws", "no variable is random, so all draws are equal: remove draws, or use a random distribution"
            )
        points = math.prod(len(v.numbers) for v in variables if v.law == "grid")
        cases = points * draws
        if cases > MAX_COUNT:
            raise self.wrong(
                "vary", f"{counted(cases, 'case')}, at most {MAX_COUNT}: use coarser grids or fewer draws, or split the study"
            )
        fixed, frame = self.fixed()
        options = self.options()
        study = Study(
            name=self.name, robot=robot, robot_data=data, robot_kind=kind, base=self.choice("base", ("fixed", "floating")),
            duration=self.positive("duration"), draws=draws, seed=seed,
            part=self.whole("part", min(max(4, -(-cases // 200)), 1000), 1), options=options, lists=self.lists(), fixed=fixed,
            payload_frame=frame, hold=self.hold(), variables=variables, cases=cases, fingerprint=self.fingerprint(data),
            text=self.text,
        )  # fmt: skip
        return self.checked(study)

    def fingerprint(self, robot: bytes) -> str:
        """Digest of the study without comments and whitespace, the robot file, and the version."""
        settings = {key: value for key, value in self.document.items() if key != "robot"}
        try:
            text = json.dumps(settings, ensure_ascii=False)
        except (TypeError, ValueError):
            raise self.wrong("", "dates and times are not allowed in a study: give numbers, strings and lists") from None
        return hashlib.sha256(b"\0".join([__version__.encode(), text.encode(), robot])).hexdigest()

    # single entries

    def number(self, value: Any, entry: str, where: str = "") -> float:
        where = where or entry
        if isinstance(value, str):
            try:
                value = parse_expression(value, {})
            except InputError as error:
                raise self.wrong(where, f'{error}; give a number, or an expression such as "pi/2"') from None
        if isinstance(value, bool | Node) or not isinstance(value, int | float):
            raise self.wrong(where, f'{literal(value)} is not a number; give one, or an expression such as "pi/2"')
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not abs(number) <= MAX_MAGNITUDE:
            raise self.wrong(where, f"{literal(value)} is out of range; give a finite number up to {MAX_MAGNITUDE:g}")
        return number

    def positive(self, key: str) -> float:
        if key not in self.document:
            raise self.wrong("", f"{key} is missing: add {key} = 2.0 at the top of the file")
        number = self.number(self.document[key], key)
        if not number > 0:
            raise self.wrong(key, f"{number:g}: give a positive number")
        return number

    def whole(self, key: str, default: int, least: int) -> int:
        value = self.document.get(key, default)
        if type(value) is not int or not least <= value <= 2**63:
            raise self.wrong(key, f"{literal(value)}: give an integer of at least {least}")
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.document.get(key, allowed[0])
        if value not in allowed:
            raise self.wrong(key, f"{literal(value)} is unknown; choose {', '.join(allowed)}")
        return str(value)

    def table(self, key: str) -> dict[str, Any]:
        value = self.document.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"{literal(value)}: give a table, [{key}]")
        return value

    # parts of the study

    def robot(self) -> tuple[str, bytes, str]:
        value = self.document.get("robot")
        if not isinstance(value, str):
            raise self.wrong("robot" if value is not None else "", 'give the robot, robot = "ur5e" or robot = "my_arm.urdf"')
        beside = self.folder / value
        try:
            path, _ = find(beside if beside.suffix.lower() in SUFFIXES else value)
            data, kind = path.read_bytes(), SUFFIXES.get(path.suffix.lower(), "")
            if kind == "toml" or (kind == "xml" and root_tag(data) == b"robot" and not has_macros(data, value)):
                return value, data, kind
            return value, write_toml(load_description(path)).encode(), "toml"
        except (DynamisError, OSError) as error:
            raise self.wrong("robot", error) from None

    def options(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "method": self.choice("method", ("DOP853", *(m for m in METHODS if m != "DOP853"), *RULES)),
            "friction": self.choice("friction", ("model", "smooth", "none")),
            "seconds": self.positive("seconds") if "seconds" in self.document else DEFAULT_SECONDS,
        }
        made |= {key: self.positive(key) for key in ("step", "rtol", "atol") if key in self.document}
        if (made["method"] in RULES) != ("step" in made):
            cure = "add step = 1e-3" if made["method"] in RULES else f"remove it, or choose method {', '.join(RULES)}"
            raise self.wrong(
                "step" if "step" in made else "method", f"{', '.join(RULES)} require step, other methods do not take it: {cure}"
            )
        fixed_step = made["method"] in RULES
        made["points"] = None if fixed_step and "points" not in self.document else self.whole("points", DEFAULT_POINTS, 2)
        try:
            checked_times(self.positive("duration"), made["points"], None, made["method"], made.get("step"))
        except InputError as error:
            raise self.wrong("step" if fixed_step else "points", error) from None
        try:
            check_tolerances(made["method"], made.get("rtol"), made.get("atol"))
        except InputError as error:
            raise self.wrong("rtol" if "rtol" in made else "atol", error) from None
        return made

    def lists(self) -> dict[str, Numbers]:
        made = {}
        for key in LISTS:
            value = self.document.get(key)
            if isinstance(value, list):
                made[key] = tuple(self.number(x, key) for x in value)
            elif value is not None and not isinstance(value, dict):
                raise self.wrong(key, f"{literal(value)}: give a list of numbers, or a table [{key}] with names")
        return made

    def fixed(self) -> tuple[tuple[tuple[str, str, float], ...], str | None]:
        """The values fixed for all cases, and the frame of the payload."""
        made, frame = [], None
        for kind in KINDS:
            if kind in LISTS and not isinstance(self.document.get(kind), dict):
                continue
            for target, value in self.table(kind).items():
                if (kind, target) == ("payload", "frame"):
                    frame = value
                    if not isinstance(frame, str):
                        raise self.wrong("payload.frame", f"{frame!r}: give the name of a link in quotes")
                else:
                    made.append((kind, target, self.number(value, f"{kind}.{target}")))
        return tuple(made), frame

    def hold(self) -> dict[str, Any] | None:
        if "hold" not in self.document:
            return None
        entries = self.table("hold")
        for key in entries:
            if key not in HOLD:
                raise self.wrong(f"hold.{key}", unknown_name("entry", key, HOLD))
        made: dict[str, Any] = {"gravity": entries.get("gravity", False)}
        if not isinstance(made["gravity"], bool):
            raise self.wrong("hold.gravity", f"{made['gravity']!r}: give true or false")
        for key in ("q", "stiffness", "damping"):
            value = entries.get(key, 0.0)
            values = value if isinstance(value, list) else [value]
            made[key] = tuple(self.number(x, f"hold.{key}") for x in values)
        return made

    def variables(self) -> tuple[Variable, ...]:
        made: list[Variable] = []
        where = ""

        def number(value: Any, key: str) -> float:
            return self.number(value, key, where)

        for name, entry in _leaves(self.table("vary")):
            where = f"vary.{name}"
            kind, _, target = name.partition(".")
            if not target or kind not in KINDS:
                hint = f"{unknown_name('quantity to vary', kind, KINDS)}{NOT_IN_SWEEPS.get(kind.lower(), '')}"
                raise self.wrong(where, f'{hint} — write the full name, such as "q0.joint_1" or "payload.mass"')
            if not isinstance(entry, dict):
                raise self.wrong(
                    where,
                    f"{literal(entry)}: give a distribution, such as {{ uniform = [0, 1] }}; a constant belongs in [{kind}]",
                )
            if (kind, target) == ("payload", "frame"):
                raise self.wrong(where, "the frame of the payload cannot be varied: write one study per frame")
            try:
                made.append(read_variable(kind, target, entry, number))
            except InputError as error:
                raise error if str(error).startswith(self.name) else self.wrong(where, error) from None
        if not made:
            raise self.wrong("", 'no variables: add [vary] with an entry such as "q0.joint_1" = { uniform = [-1, 1] }')
        return tuple(made)

    def checked(self, study: Study) -> Study:
        """The study with all names checked, the first case built, and the frame of the payload resolved."""
        for entry, message in check_names(study):
            raise self.wrong(entry, message)
        study = replace(study, payload_frame=payload_frame(study))
        try:
            setup = case_setup(study, study.values(0))
        except DynamisError as error:
            raise self.wrong("", f"the first case cannot be set up: {error}") from None
        robot = setup.robot
        robot.inputs.warn_degrees(setup.q0, f"{self.name}: q0", "write them in rad", stacklevel=5)
        if study.hold is not None:
            target = np.broadcast_to(study.hold["q"], robot.nq)
            robot.inputs.warn_degrees(target, f"{self.name}: hold.q", "write them in rad", stacklevel=5)
        return study


def _leaves(table: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """(dotted name, entry) of a table with quoted names or nested tables."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        inner = isinstance(value, dict) and value and all(isinstance(x, dict) for x in value.values())
        found += _leaves(value, f"{before}{key}.") if inner else [(f"{before}{key}", value)]
    return found


_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_ENTRY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_WORD = re.compile(r"""\"([^"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)""")


def entry_lines(text: str) -> dict[str, int]:
    """{entry, as "table.key": its line}; tables are entries too.

    >>> entry_lines('duration = 2\\n[vary]\\n"q0.joint_1" = { uniform = [0, 1] }')
    {'duration': 1, 'vary': 2, 'vary.q0.joint_1': 3}
    """
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[1])
            found.setdefault(table, number)
        elif entry := _ENTRY.match(line):
            found.setdefault(f"{table}.{_plain(entry[1])}" if table else _plain(entry[1]), number)
    return found


def _plain(key: str) -> str:
    """A dotted key without quotes."""
    return ".".join("".join(words) for words in _WORD.findall(key))


def line_of(lines: dict[str, int], entry: str) -> int | None:
    """The line of an entry, or of the nearest table around it."""
    while entry:
        if entry in lines:
            return lines[entry]
        entry = entry.rpartition(".")[0]
    return None

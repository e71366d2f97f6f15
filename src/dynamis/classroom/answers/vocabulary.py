"""The names allowed in an answer: parameters, joint variables, and abbreviated sines and cosines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from dynamis.classroom.answers.decimals import Decimals
from dynamis.classroom.answers.latex import FUNCTION, GREEK_LETTER
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.words import read_word, spell
from dynamis.display import counted
from dynamis.errors import FormatError, InputError, printable, unknown_name
from dynamis.model.readers.expressions import CONSTANTS, FUNCTIONS
from dynamis.scalar import Scalar, as_scalar, cos, sin, topological

_POSITION = "q|theta|vartheta|th"
_LETTER = {"vartheta": "theta", "th": "theta"}  # letters of one meaning
_VARIABLE = re.compile(rf"(?P<letter>{_POSITION}|d)([0-9]*)('{{0,2}})")
_DOTS = {"d": 1, "dot": 1, "dd": 2, "ddot": 2}
_LETTERED = (  # velocities and accelerations in plain text: dq1, qd1, q1dot
    re.compile(rf"(?P<dots>dd?)(?P<letter>{_POSITION})(?P<joint>[0-9]*)"),
    re.compile(rf"(?P<letter>{_POSITION})(?P<dots>dd?|d?dot)(?P<joint>[0-9]*)"),
    re.compile(rf"(?P<letter>{_POSITION})(?P<joint>[0-9]+)(?P<dots>dd?|d?dot)"),
)
_RATE = re.compile(r"(?P<name>[^']+?)(?P<dots>'{1,2}|d?dot)")
_PLAIN_RATE = (re.compile(r"(?P<dots>dd?)(?P<name>.+)"), re.compile(r"(?P<name>.+?)(?P<dots>dd?)"))  # dx, xd
_SYMBOL = re.compile(rf"(?:[A-Za-z]|{'|'.join(sorted(set(GREEK_LETTER.values())))})[0-9]*")
_JOINT_VELOCITY = re.compile(r"v([0-9]+)('?)")
_ARC = re.compile(r"([sS]|[cC]|[sS]in|[cC]os)([-+]?[0-9]+(?:[-+,][-+]?[0-9]+)*)")

_ARC_OF_VARIABLES = re.compile(rf"[sScC](?:(?:{_POSITION})[0-9]+[-+]?)+(?<=[0-9])")
_VARIABLES = re.compile(rf"(?<=.)(?:{_POSITION})(?=[0-9])")


class KnownNumber(NamedTuple):
    """A parameter that this robot has as a number: its value, and a sentence that says so."""

    value: float
    kind: str


@dataclass(frozen=True)
class Vocabulary:
    r"""The meaning of the names of an answer.

    ``q``, ``v`` and ``a`` are the n positions, velocities and accelerations, ``revolute`` marks the revolute joints,
    ``parameters`` maps the robot's names to their values, and ``aliases`` the names of another notation to names of parameters.
    A name may be spelled as in LaTeX or as in plain text; an alias takes precedence over a parameter of the same name.
    ``unknowns`` are the quantities that equations may determine, such as the torques: an answer may define them, or use them.
    ``numbers`` are parameters that other robots have as symbols, for messages. ``joints`` are the names of joints, by which
    their variables may be called where no parameter has the name; ``own`` are names that the answer defines itself.
    With ``constants``, a letter without meaning is a constant: the height of the datum of a potential energy.
    ``spellings`` are other common names of parameters and rates, which yield to all others. ``defined`` are names of the robot
    that are also letters of the quantity in question, such as g, with this letter; ``gradient`` is the letter of the
    derivatives of the potential energy. ``motors`` are variables of actuators with their rates, by name.
    ``quadratic`` says what a quadratic form of the rates is: its spelled factors, the letters of its matrix, its own letter.
    With ``decimals``, numbers that may be rounded are read as symbols.
    Where joints have names with other numbers than their own, q_0 and q_1, these names hold; with ``numbered``, the numbers.

    >>> from dynamis.scalar import symbol
    >>> q, v, a = ([symbol(f"{x}1")] for x in "qva")
    >>> names = Vocabulary(q, v, a, (True,), {"m_1": symbol("m_1")}, {r"\tilde{m}": "m_1"})
    >>> names.resolve("~m"), names.resolve("q'"), names.resolve("c1"), names.resolve("m2")
    (m_1, v1, cos(q1), None)
    """

    q: Any
    v: Any
    a: Any
    revolute: tuple[bool, ...]
    parameters: Mapping[str, Any]
    aliases: Mapping[str, str] = field(default_factory=dict)
    unknowns: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, KnownNumber] = field(default_factory=dict)
    joints: Mapping[str, int] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    constants: bool = False
    spellings: Mapping[str, Any] = field(default_factory=dict)
    defined: tuple[tuple[Any, str], ...] = ()
    gradient: str = ""
    motors: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    quadratic: tuple[Sequence[str], Sequence[str], str] = ((), (), "")
    decimals: Decimals | None = None
    numbered: bool = False

    def __post_init__(self) -> None:
        sizes = {"q": len(self.q), "v": len(self.v), "a": len(self.a), "revolute": len(self.revolute)}
        if len(set(sizes.values())) != 1:
            raise InputError(f"q, v, a and revolute must have one entry per joint, got {sizes}")
        _ = self._values

    @property
    def coordinates(self) -> int:
        """The number of joints."""
        return len(self.q)

    @cached_property
    def _values(self) -> dict[str, Scalar]:
        values, renamed = {}, {}
        for name, value in self.parameters.items():
            key = key_of(name)
            if key is not None:  # a robot may have names that no formula can hold
                values[key] = as_scalar(value, f"parameter {printable(name)}")
        for alias, name in self.aliases.items():
            key, target = key_of(alias), key_of(name)
            if key is None:
                raise InputError(f"{printable(alias)} is not a valid name in an answer: use a letter with an index, as in m_1")
            if target not in values:
                raise unknown_name("parameter", name, self.parameters)
            renamed[key] = values[target]
        return {**values, **renamed}

    @cached_property
    def _unknowns(self) -> dict[str, Any]:
        return {key: value for name, value in self.unknowns.items() if (key := key_of(name)) is not None}

    @cached_property
    def _motors(self) -> dict[str, Any]:
        named = [(key, rates) for name, rates in self.motors.items() if (key := key_of(name)) is not None]
        return {key: x for name, rates in named for k, x in enumerate(rates) for key in (name + k * "'", k * "d" + name)}

    @cached_property
    def rates(self) -> tuple[list[Any], list[Any]]:
        """The variables of the state and their time derivatives."""
        motors = [pair for rates in {id(x[0]): x for x in self.motors.values()}.values() for pair in pairwise(rates)]
        return [*self.q, *self.v, *(x for x, _ in motors)], [*self.v, *self.a, *(x for _, x in motors)]

    @cached_property
    def _spellings(self) -> dict[str, Any]:
        keys = ((key_of(name), value) for name, value in self.spellings.items())
        named = {key: value for key, value in keys if key is not None and self._indices(key) is None}
        return {key: value for key, value in named.items() if key not in self._values and self._variable(key) is None}

    def is_parameter(self, key: str) -> bool:
        """Whether a name is that of a parameter."""
        return key in self._values or key in self._spellings

    def is_spelling(self, key: str) -> bool:
        """Whether a name has its meaning only as another common name of something, and is no rate of a name."""
        return key in self._spellings and rate_of(key) is None

    def letter_of(self, key: str) -> str | None:
        """The letter of the quantity in question, if this name of the robot is also one of its names."""
        value = self.quantity(key)
        return next((letter for x, letter in self.defined if x is value), None) if value is not None else None

    @cached_property
    def _joints(self) -> dict[str, int]:
        taken = {*self._values, *self.own, *FUNCTION, *FUNCTIONS, *CONSTANTS}
        keys = {key: joint for name, joint in self.joints.items() if (key := key_of(name)) is not None and key not in taken}
        keys = {key: joint for key, joint in keys.items() if self._indices(key) is None}
        return {key: joint for key, joint in keys.items() if self._numbered(key) is None and self.arc(key) is None}

    @cached_property
    def renumbered(self) -> dict[str, dict[str, int]]:
        """The joints by the numbers in their names, for each letter of joint variables whose numbers are not the joints'."""
        named: dict[str, dict[str, int]] = {}
        for name, joint in self.joints.items():
            key = key_of(name)
            if key is not None and key not in self._values and (match := _VARIABLE.fullmatch(key)) and match[2]:
                named.setdefault(_LETTER.get(match[1], match[1]), {})[match[2]] = joint
        return {letter: row for letter, row in named.items() if any(int(k) != joint + 1 for k, joint in row.items())}

    def _indices(self, key: str) -> dict[str, int] | None:
        """The joints by the indices of a variable's letter, where the names of joints have other numbers; None elsewhere."""
        return self.renumbered.get(_letter_of(key)) if self.renumbered else None

    def defining(self, own: frozenset[str]) -> Vocabulary:
        """The vocabulary of an answer that defines these names: they mean neither joints nor vectors."""
        return replace(self, own=own) if own else self

    def is_replaceable(self, key: str) -> bool:
        """Whether an answer may define this name, though it would mean a joint or the vector q otherwise."""
        match = _JOINT_VELOCITY.fullmatch(key)
        velocity = match is not None and not match[2] and key not in self._values  # of a link, in the answer
        return velocity or key in self._joints or (self.is_vector(key) and _order_and_index(key) == (0, ""))

    def unknown(self, key: str) -> Any:
        """The unknown of this name; None if there is none."""
        return self._unknowns.get(key)

    def number(self, key: str) -> KnownNumber | None:
        """The number that this robot has for a parameter."""
        return next((number for name, number in self.numbers.items() if key_of(name) == key), None)

    def holds_unknown(self, values: Sequence[Any]) -> bool:
        """Whether expressions contain an unknown."""
        unknowns = {id(x) for x in self._unknowns.values()}
        return bool(unknowns) and any(id(n) in unknowns for n in topological(values))

    def holds_state(self, values: Sequence[Any]) -> bool:
        """Whether expressions contain a variable of the joints or motors, or a rate of one."""
        state = {id(x) for x in (*self.q, *self.v, *self.a, *self._motors.values())}
        return any(id(n) in state for n in topological(values))

    def has_rate(self, values: Sequence[Any]) -> bool:
        """Whether one of several expressions is a velocity or an acceleration, where equations of motion are asked."""
        rates = {id(x) for x in (*self.v, *self.a)} if self._unknowns else set()
        return len(values) > 1 and any(id(x) in rates for x in values)

    def holds_acceleration(self, values: Sequence[Any]) -> bool:
        """Whether there is an acceleration or a motor's variable, where equations of motion are asked: there are unknowns."""
        accelerations = {id(x) for x in (*self.a, *self._motors.values())} if self._unknowns else set()
        return bool(accelerations) and any(id(n) in accelerations for n in topological(values))

    def resolve(self, key: str) -> Scalar | None:
        """The value of a name in canonical spelling; None if it is not a name of this robot."""
        found = self.quantity(key)
        return self.arc(key) if found is None else found

    def quantity(self, key: str) -> Scalar | None:
        """The parameter or joint variable of this name."""
        for spelled in (key, key.replace(",", "")):
            if spelled in self._values:
                return self._values[spelled]
            if spelled in self._motors:
                return as_scalar(self._motors[spelled])
        order_joint = self._variable(key)
        if order_joint is None:
            return None if self._is_own(key) else self._spellings.get(key)
        order, joint = order_joint
        return as_scalar((self.q, self.v, self.a)[order][joint])

    def is_variable(self, key: str) -> bool:
        """Whether this is the name of a position or a velocity."""
        value = self.quantity(key)
        return value is not None and any(value is x for x in (*self.q, *self.v))

    def is_position(self, key: str) -> bool:
        """Whether this is the name of a position."""
        return any(self.quantity(key) is x for x in self.q)

    def arc(self, key: str) -> Scalar | None:
        """s_12, c_1, C_{1,10}, c_{1-2}: the sine or cosine of the sum of these joints' angles."""
        match = _ARC.fullmatch(key) or (_ARC.fullmatch(_VARIABLES.sub("", key)) if self._names_arc(key) else None)
        joints = self._turns(match[2]) if match else None
        if match is None or joints is None:
            return None
        angle: Any = 0.0
        for sign, joint in joints:
            angle = angle + self.q[joint] if sign > 0 else angle - self.q[joint]
        function = sin if match[1][0] in "sS" else cos
        return as_scalar(function(angle))

    def _names_arc(self, key: str) -> bool:
        """Whether the index of a sine or cosine has the variables themselves: c_{q_1}, s_{\\theta_1+\\theta_2}."""
        return _ARC_OF_VARIABLES.fullmatch(key) is not None and self.quantity(key[0]) is None

    def is_vector(self, key: str) -> bool:
        """Whether this is q, q̇ or q̈ without index, for more than one joint."""
        vector = self.coordinates > 1 and _order_and_index(key) in ((0, ""), (1, ""), (2, ""))
        return vector and self.quantity(key) is None and (rate_of(key) or (key, 0))[0] not in self.own

    def vector(self, key: str) -> list[Any]:
        """The entries of q, q̇ or q̈; none of other names."""
        found = _order_and_index(key) if self.is_vector(key) else None
        return [] if found is None else list((self.q, self.v, self.a)[found[0]])

    def doubt(self, key: str) -> str:
        """A hint on why a similar name is not one of this robot, or an empty string."""
        n = self.coordinates
        arc, variable = _ARC.fullmatch(key), _order_and_index(key)
        if variable is not None and variable[1] == "":
            return f"a joint variable requires an index: there are {counted(n, 'joint')}"
        if variable is not None and key[0] == "d" and self._in_range(variable[1]) and key.strip("'")[1:].isdigit():
            return f"joint {variable[1]} is revolute, its variable is q_{variable[1]}; d is for prismatic joints"
        if (named := self._indices(key)) is not None:
            return f"the joints with this letter are called {', '.join(f'{_letter_of(key)}_{k}' for k in named)}"
        if variable is not None:
            return f"there are joints 1 to {n}"
        if (
            arc
            and re.fullmatch(r"[0-9]+", arc[2])
            and all(self._in_range(c) for c in arc[2])
            and len(set(arc[2])) == len(arc[2])
        ):
            sliding = next((c for c in arc[2] if not self.revolute[int(c) - 1]), None)
            return f"joint {sliding} is prismatic and has no angle" if sliding else ""
        return f"{arc[1]} with an index is the sine or cosine of joint angles, and there are joints 1 to {n}" if arc else ""

    def names(self) -> list[str]:
        """The valid names, for messages."""
        joints = [str(k + 1) for k in range(self.coordinates)] if self.coordinates > 1 else [""]
        joints = joints if self.numbered else list(self.renumbered.get("q", joints))
        variables = [name + k for k in joints for name in ("q_", "\\dot{q}_", "\\ddot{q}_")]
        named = {joint: name for name, joint in reversed(self._joints.items()) if is_symbol(name)}
        own = (*self.parameters, *self.unknowns, *self.aliases, *(named[joint] for joint in sorted(named)))
        return list(dict.fromkeys((*own, *(name.removesuffix("_") for name in variables))))

    def _variable(self, key: str) -> tuple[int, int] | None:
        """The order of differentiation and the joint of a variable, by number or by the name of the joint."""
        numbered = self._numbered(key)
        if numbered is not None or key in self._joints:
            return numbered or (0, self._joints[key])
        plain = [] if "d" in self._values else [m for pattern in _PLAIN_RATE if (m := pattern.fullmatch(key))]
        rates = [rate_of(key), *((m["name"], len(m["dots"])) for m in plain)]
        return next(((r[1], self._joints[r[0]]) for r in rates if r is not None and r[0] in self._joints), None)

    def _numbered(self, key: str) -> tuple[int, int] | None:
        found = _order_and_index(key)
        if found is None or self._is_own(key):
            return None
        order, index = found
        named = None if self.numbered else self._indices(key)
        if named is not None and index:
            return (order, named[index]) if index in named else None
        if index == "":
            joint = 0
            good = self.coordinates == 1
        else:
            joint = int(index) - 1
            good = self._in_range(index)
        if not good:
            return None
        slides = not self.revolute[joint]
        is_distance = key[0] == "d" and (len(key) == 1 or key[1] in "0123456789'")
        return (order, joint) if slides or not is_distance else None

    def _is_own(self, key: str) -> bool:
        """Whether the answer defines this name, or one of which it is the rate."""
        return key in self.own or (rate_of(key) or (key, 0))[0] in self.own

    def _in_range(self, index: str) -> bool:
        return len(index) < 6 and 1 <= int(index) <= self.coordinates

    def _turns(self, index: str) -> list[tuple[int, int]] | None:
        """Signs and joints of an index: each digit a joint, or each number if separated by commas or if digits do not fit.

        If there is a joint 12, c_12 is its cosine.
        """
        numbers, digits = (re.findall(pattern, index) for pattern in (r"([-+]?),?([0-9]+)", r"([-+]?)([0-9])"))
        readings = [numbers] if "," in index else [numbers, digits] if self.coordinates > 9 else [digits, numbers]
        for reading in readings:
            joints = [self._turning(number) for _, number in reading]
            fit = all(0 <= k < self.coordinates and self.revolute[k] for k in joints)
            if fit and len(set(joints)) == len(joints):
                return [(-1 if sign == "-" else 1, k) for (sign, _), k in zip(reading, joints, strict=True)]
        return None

    def _turning(self, index: str) -> int:
        """The joint of an index of s or c, from 0; -1 if there is none, or if names of two joints have this number."""
        if self.numbered or not self.renumbered:
            return int(index[:6]) - 1
        found = [row[index] for row in self.renumbered.values() if index in row]
        return found[0] if len(found) == 1 else -1


def rate_of(key: str) -> tuple[str, int] | None:
    """The name of which this is a time derivative, and its order: x' and xdot.

    >>> rate_of("x''"), rate_of("xdot"), rate_of("x")
    (('x', 2), ('x', 1), None)
    """
    match = _RATE.fullmatch(key)
    return (match["name"], len(match["dots"]) if match["dots"][0] == "'" else _DOTS[match["dots"]]) if match else None


def is_symbol(name: str) -> bool:
    """Whether a name is one letter, Latin or Greek, with or without a number."""
    return _SYMBOL.fullmatch(key_of(name) or "") is not None


def _letter_of(key: str) -> str:
    """The letter of a joint variable or of its rate: q, theta or d; empty for other names."""
    matches = (pattern.fullmatch(key) for pattern in (_VARIABLE, *_LETTERED))
    letter = next((match["letter"] for match in matches if match), "")
    return _LETTER.get(letter, letter)


def _order_and_index(key: str) -> tuple[int, str] | None:
    """The order of differentiation of a joint variable, and its index as written."""
    if match := _VARIABLE.fullmatch(key):
        return len(match[3]), match[2]
    if match := _JOINT_VELOCITY.fullmatch(key):
        return 1 + len(match[2]), match[1]
    for pattern in _LETTERED:
        if match := pattern.fullmatch(key):
            return _DOTS[match["dots"]], match["joint"]
    return None


@lru_cache(maxsize=4096)
def key_of(name: str) -> str | None:
    """A name in canonical spelling; None for one that no formula can hold."""
    try:
        source = Source.of(name, "the vocabulary")
        word = read_word(source, 0)
    except FormatError:
        return None
    whole = word is not None and word.end == len(source.text) and not word.power
    return spell(word.units) if word is not None and whole else None

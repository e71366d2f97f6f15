"""The exceptions and warnings of Dynamis.

DynamisError
├── ModelError            a robot description that cannot be used
│   ├── FormatError       the file is not what its format promises: syntax, encoding, limits of size
│   └── ConversionError   the robot is sound, but the asked-for form cannot represent it
├── NameLookupError       a name that is not there (also a KeyError)
├── InputError            a wrong argument: shape, value, unit (also a ValueError)
├── SingularError         the mass matrix, or part of it, cannot be inverted
└── MissingExtraError     an optional dependency is not installed (also an ImportError)

ModelWarning              the model loads, but something in it is doubtful; says what was done
PerformanceWarning        it is done, but slowly; says why
SingularityWarning        a task cannot be moved in some direction here; says what was done instead
ReachWarning              a goal lies outside the workspace, or a start outside the range of a joint; says by how much
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Self


class DynamisError(Exception):
    """Any error Dynamis raises on purpose. Its message is safe to print, whatever text of a file is quoted in it.

    ``template`` is the end of the message that a user copies into a file, so that its lines must not be broken.
    """

    template = ""

    def __init__(self, *args: object) -> None:
        super().__init__(*(escaped(x) if isinstance(x, str) else x for x in args))

    def with_template(self, template: str) -> Self:
        """This error, whose message ends with ``template``."""
        self.template = escaped(template)
        return self


class ModelError(DynamisError):
    """A robot description that cannot be used; ``problems`` holds every finding."""

    def __init__(self, message: str, problems: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class FormatError(ModelError):
    """The file is not what its format promises."""


class ConversionError(ModelError):
    """The robot is sound, but the asked-for form cannot represent it."""


class NameLookupError(DynamisError, KeyError):
    """A name that is not there."""

    def __str__(self) -> str:
        # KeyError prints the repr of its argument, which would quote and escape the sentence
        return str(self.args[0])


class InputError(DynamisError, ValueError):
    """A wrong argument."""


class SingularError(DynamisError):
    """The mass matrix, or part of it, cannot be inverted."""


class MissingExtraError(DynamisError, ImportError):
    """An optional dependency is not installed."""


class ModelWarning(UserWarning):
    """The model loads, but something in it is doubtful; ``report`` holds every finding where the model was checked."""

    report: Any = None


class PerformanceWarning(UserWarning):
    """What was asked for is done, but slowly."""


class SingularityWarning(UserWarning):
    """A task is singular: some direction of it cannot be moved here."""


class ReachWarning(UserWarning):
    """A goal lies outside the workspace of the arm, or a start outside the range of a joint."""


def escaped(text: str) -> str:
    """Text with control characters written as escapes (\\x1b), so that it cannot act on a terminal; new lines are kept.

    >>> print(escaped("q1\\x1b[2J\\nq2"))
    q1\\x1b[2J
    q2
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def printable(name: object, limit: int = 80) -> str:
    """A name quoted for a message: control characters escaped, length bounded. Other objects are quoted by their repr."""
    text = name if isinstance(name, str) else literal(name, limit)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "'" + escaped(text).replace("\n", "\\n") + "'"


def literal(value: object, limit: int = 80) -> str:
    """A value as Python writes it, for a message: control characters escaped, length bounded."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of more than 4300 digits are not written out
        text = f"a {type(value).__name__} too large to be shown"
    return escaped(text if len(text) <= limit else text[: limit - 1] + "…")


def type_of(value: object) -> str:
    """The name of a value's type, for a message, with its package where that is not Python's own."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"


def reason_of(error: BaseException, limit: int = 200) -> str:
    """The text of a library's error, to be quoted in a message: one line, safe to print; the error's name if it has no text."""
    text = " ".join(escaped(str(error)).split())
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return text or type(error).__name__


MAX_COMPARED_CHARACTERS = 80  # of a name, with the known ones: the time grows with their square
MAX_COMPARED_NAMES = 5000
MAX_NAMES_LISTED, EXAMPLE_NAMES = 20, 8  # in a message: all of them, or examples if there are more


def near_names(name: str, known: Iterable[str], most: int = 5) -> list[str]:
    """Known names similar to a misspelt one, the most similar first; upper and lower case count as the same letter.

    >>> near_names("L_1", ["I_1", "l_1", "l_2", "m_1"])
    ['l_1', 'I_1', 'l_2', 'm_1']
    >>> near_names("alhpa", ["Alpha", "alpha"])
    ['alpha', 'Alpha']
    >>> near_names("r", ["kind", "length", "radius"])
    ['radius']
    """
    folded: dict[str, list[str]] = {}
    for other in sorted(x for x in known if isinstance(x, str))[:MAX_COMPARED_NAMES]:  # damaged files have others
        folded.setdefault(other[:MAX_COMPARED_CHARACTERS].casefold(), []).append(other)
    written = name[:MAX_COMPARED_CHARACTERS].casefold()
    close = difflib.get_close_matches(written, folded, n=2 * most, cutoff=0.5)
    close += [x for x in folded if written and x.startswith(written) and x not in close]  # abbreviations
    close.sort(key=lambda x: (-difflib.SequenceMatcher(None, x, written).ratio(), x))

    def other_case(other: str) -> float:
        return -difflib.SequenceMatcher(None, other[:MAX_COMPARED_CHARACTERS], name[:MAX_COMPARED_CHARACTERS]).ratio()

    return [other for x in close for other in sorted(folded[x], key=other_case)][:most]


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NameLookupError:
    """The error for a failed look-up: the nearest names, nearest first, or all of them when there are few."""
    if not isinstance(name, str):
        return NameLookupError(f"{kind} must be a name (str), got {type(name).__name__}")
    names = sorted(known)
    near = near_names(name, names)
    if near:
        hint = "did you mean " + ", ".join(map(printable, near)) + "?"
    elif len(names) <= MAX_NAMES_LISTED:
        hint = "there are: " + (", ".join(map(printable, names)) or "none")
    else:
        hint = f"there are {len(names)}, such as " + ", ".join(map(printable, names[:EXAMPLE_NAMES]))
    return NameLookupError(f"no {kind} named {printable(name)}; {hint}")

"""From a name, a path or text to a description, whatever the format."""

from __future__ import annotations

import codecs
import functools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynamis.errors import FormatError, InputError, ModelError, printable, unknown_name
from dynamis.model.build import SINGULAR_MASS, check_mass_matrix, examine, with_floating_base
from dynamis.model.description import Description
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.library import library_names, library_path
from dynamis.model.readers.mjcf import describe, read_mjcf
from dynamis.model.readers.toml import MAX_BYTES, read_toml
from dynamis.model.readers.urdf import read_urdf

SUFFIXES = {".urdf": "urdf", ".xml": "urdf", ".mjcf": "urdf", ".toml": "toml"}
# formats that are refused, by what their documents contain or, for want of that, by their ending
FOREIGN = {".xacro": "a xacro macro file", ".sdf": "an SDF model"}
CURES = {".xacro": "expand it first: xacro FILE > robot.urdf"}
MAX_FILES_LISTED = 6  # of a folder, in a message
TEXT = "URDF text"  # what messages call a document given as text


def is_document(source: object) -> bool:
    """Whether a source is the text of an XML document instead of a path or a name."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def find(source: str | os.PathLike[str]) -> tuple[Path, bool]:
    """(path, whether it is of the library) of a file's path or a library robot's name."""
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"give a path or a robot's name, got {type(source).__name__}")
    text = os.fspath(source)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{text!r} is not a path or a robot's name")
    path = Path(text)
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FormatError(f"{printable(text)} is not a path that can be opened: {error.__class__.__name__}") from None
    if path.suffix.lower() in (*SUFFIXES, *FOREIGN) or os.sep in text:
        if is_folder:
            raise _folder(path)
        if not is_file:
            raise FormatError(f"the file {printable(text)} does not exist; give a .urdf or .toml file, or a robot's name")
        return path, False
    known = library_path(text)
    if known is None:
        if is_file:
            return path, False
        if is_folder:
            raise _folder(path)
        raise unknown_name("robot", text, library_names())
    return known, True


def _folder(path: Path) -> FormatError:
    """The error for a folder in place of a file, with the robot files that it may contain."""
    try:
        files = sorted(x.name for x in path.iterdir() if x.suffix.lower() in SUFFIXES and x.is_file())
    except OSError:
        files = []
    some = ", ".join(map(printable, files[:MAX_FILES_LISTED])) + (", …" if len(files) > MAX_FILES_LISTED else "")
    advice = f"give one of its files: {some}" if files else "give a .urdf or .toml file, or a robot's name"
    return FormatError(f"{printable(str(path))} is a folder; {advice}")


def read(
    source: str | os.PathLike[str], *, parameters: Mapping[str, Any] | None = None, base: str = "fixed"
) -> tuple[Description | None, Report]:
    """(description, findings) of a path, a library robot's name or the text of a URDF document.

    The description is None where the file could not be read as one at all. With ``base="floating"`` it has the free joint of
    its root link, and is examined with it.
    """
    if is_document(source):
        data, kind = str(source).removeprefix("\ufeff").encode("utf-8", "surrogatepass"), "text"
        report = Report("MJCF text" if root_tag(data) == b"mujoco" else TEXT)
    else:
        path, from_library = find(source)
        report = Report(path.stem if from_library else os.fspath(source))
        data = _content(path)
        kind = SUFFIXES.get(path.suffix.lower()) or _recognised(path, data)
    mjcf = kind != "toml" and root_tag(data) == b"mujoco"
    if parameters and kind != "toml":
        raise InputError("parameters= goes with .toml robots, whose files declare them; edit the description of a URDF")
    try:
        if mjcf:
            description = read_mjcf("" if kind == "text" else os.fspath(path), data, report)
        elif kind == "toml":
            description = read_toml(data, report.source, report, parameters)
        else:
            description = read_urdf(data, report.source, report, "utf-8" if kind == "text" else None)
    except FormatError as error:
        report.problems.extend(error.problems)
        report.skipped.append("structure and values (the file could not be parsed)")
        return None, report
    examine(description, report)
    if base == "floating" and report.ok:
        description = with_floating_base(description)
        check_mass_matrix(description, report)
    report.problems.sort(key=lambda p: p.line or 0)
    return description, report


def root_tag(data: bytes) -> bytes:
    """The name of the first element of an XML document, as far as it can be seen without parsing it."""
    at = data.find(b"<")
    while at >= 0 and data[at + 1 : at + 2] in (b"?", b"!"):  # a declaration or a comment
        end = data.find(b"-->" if data.startswith(b"<!--", at) else b">", at)
        at = data.find(b"<", end) if end >= 0 else -1
    name = re.match(rb"<([\w:.-]{1,100})", data[at : at + 102]) if at >= 0 else None
    return name[1] if name else b""


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)  # the reader says what is too large; no need to hold more of it
    except OSError as error:
        raise FormatError(f"{printable(str(path))} cannot be read: {error.strerror}") from None


def _recognised(path: Path, data: bytes) -> str:
    """The format of a file whose ending is not known: XML is read as URDF, whose reader names what it is instead."""
    suffix = path.suffix.lower()
    if data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        return "urdf"
    if suffix in FOREIGN:
        cure = CURES.get(suffix, "save or convert it as URDF first")
        raise format_error(str(path), None, f"this is {FOREIGN[suffix]}", "URDF or TOML", cure)
    raise FormatError(f"{printable(str(path))} has no file name extension that Dynamis reads: it must end in .urdf or .toml")


def load_description(
    source: str | os.PathLike[str], *, strict: bool = False, parameters: Mapping[str, Any] | None = None, base: str = "fixed"
) -> Description:
    """The description of a file, a library robot or the text of a URDF document; raises for errors, warns about doubts."""
    from_library = not is_document(source) and find(source)[1]
    if from_library and not parameters:
        known, report = _read_library(find(source)[0], base)
        description = None if known is None else known.copy()
    else:
        description, report = read(source, parameters=parameters, base=base)
    if description is None:
        raise FormatError(str(report.problems[-1]), report.problems)
    report.raise_errors(ModelError, strict=strict)
    if from_library:  # doubts about the library's published numbers are in its entries
        report = Report(report.source, [p for p in report.problems if base == "floating" and p.code == SINGULAR_MASS])
    report.emit_warnings(stacklevel=3)
    return description


def describe_mujoco(model: Any) -> Description:
    """The description of a MuJoCo model; raises for errors, warns about doubts and about what is left aside."""
    report = Report("MjModel")
    description = describe(model, report)
    examine(description, report)
    report.raise_errors(ModelError)
    report.emit_warnings(stacklevel=3)
    return description


@functools.cache
def _read_library(path: Path, base: str) -> tuple[Description | None, Report]:
    """The files of the library do not change: each is parsed once per process."""
    return read(path.stem, base=base)


def check(source: str | os.PathLike[str] | Description) -> Report:
    """Every finding about a file, a library robot or a description, without raising for bad content.

    >>> check("ur5e").ok
    True
    """
    if isinstance(source, Description):
        return examine(source.copy())
    return read(source)[1]

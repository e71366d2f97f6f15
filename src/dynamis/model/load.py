"""From a name, a path or text to a description, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynamis.errors import FormatError, InputError, ModelError, printable, unknown_name
from dynamis.model.build import SINGULAR_MASS, check_mass_matrix, examine, with_floating_base
from dynamis.model.description import Description
from dynamis.model.diagnostics import Report
from dynamis.model.library import library_names, library_path
from dynamis.model.readers.toml import MAX_BYTES, read_toml
from dynamis.model.readers.urdf import read_urdf

SUFFIXES = {".urdf": "urdf", ".xml": "urdf", ".toml": "toml"}


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
    if path.suffix.lower() in SUFFIXES or os.sep in text:
        if not is_file:
            what = "is a folder" if is_folder else "does not exist"
            raise FormatError(f"the file {printable(text)} {what}; give a .urdf or .toml file, or a robot's name")
        return path, False
    known = library_path(text)
    if known is None:
        if is_file:
            raise FormatError(f"{printable(text)} has no ending Dynamis reads; name it .urdf or .toml")
        raise unknown_name("robot", text, library_names())
    return known, True


def read(
    source: str | os.PathLike[str], *, parameters: Mapping[str, Any] | None = None, base: str = "fixed"
) -> tuple[Description | None, Report]:
    """(description, findings); the description is None where the file could not be read as one at all.

    With ``base="floating"`` the description has the free joint of its root link, and is examined with it.
    """
    path, from_library = find(source)
    report = Report(path.stem if from_library else os.fspath(source))
    kind = SUFFIXES.get(path.suffix.lower())
    if not kind:
        raise FormatError(f"{printable(str(path))} has no ending Dynamis reads; name it .urdf or .toml")
    if parameters and kind != "toml":
        raise InputError("parameters= goes with .toml robots, whose files declare them; edit the description of a URDF")
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)  # the reader says what is too large; no need to hold more of it
    except OSError as error:
        raise FormatError(f"{printable(str(path))} cannot be read: {error.strerror}") from None
    try:
        if kind == "toml":
            description = read_toml(data, report.source, report, parameters)
        else:
            description = read_urdf(data, report.source, report)
    except FormatError as error:
        report.problems.extend(error.problems)
        return None, report
    examine(description, report)
    if base == "floating" and report.ok:
        description = with_floating_base(description)
        check_mass_matrix(description, report)
    report.problems.sort(key=lambda p: p.line or 0)
    return description, report


def load_description(
    source: str | os.PathLike[str], *, strict: bool = False, parameters: Mapping[str, Any] | None = None, base: str = "fixed"
) -> Description:
    """The description of a file or library robot; raises for errors, warns about what is doubtful."""
    description, report = read(source, parameters=parameters, base=base)
    if description is None:
        raise FormatError(str(report.problems[-1]), report.problems)
    report.raise_errors(ModelError, strict=strict)
    if find(source)[1]:  # what is doubtful in the library's published numbers is said in its entry
        report.problems = [p for p in report.problems if base == "floating" and p.code == SINGULAR_MASS]
    report.emit_warnings(stacklevel=3)
    return description


def check(source: str | os.PathLike[str] | Description) -> Report:
    """Every finding about a file, a library robot or a description, without raising for bad content.

    >>> check("ur5e").ok
    True
    """
    if isinstance(source, Description):
        return examine(source.copy())
    return read(source)[1]

"""From a name, a path, text or another source to a description, whatever the format.

The reader of a format is imported with the first file of this format.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dynamis.errors import FormatError, InputError, ModelError, printable
from dynamis.model.build import SINGULAR_MASS, check_mass_matrix, examine, with_floating_base
from dynamis.model.description import Description
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.readers.toml import read_toml
from dynamis.model.readers.urdf import read_urdf
from dynamis.model.readers.xml_tree import Document, parse_xml
from dynamis.model.sources import Source, find, is_document, opened, root_tag
from dynamis.model.structure import NO_LINKS

NEGATIVE = frozenset({"inertia-negative", "limits-negative", "negative-drive"})  # the codes of these findings


def read(
    source: Any,
    *,
    parameters: Mapping[str, Any] | None = None,
    base: str = "fixed",
    xacro_args: Mapping[str, Any] | None = None,
) -> tuple[Description | None, Report]:
    """(description, findings) of any source that `load` takes.

    The description is None where the file could not be read as one at all. With ``base="floating"`` it has the free joint of
    its root link, and is examined with it.
    """
    with opened(source) as found:
        report = Report(found.name)
        try:
            description = _description(found, report, parameters, xacro_args)
        except FormatError as error:
            report.problems.extend(error.problems)
            report.skipped.append("structure and values (the file could not be parsed)")
            if not error.problems:
                raise
            return None, _renamed(report, found)
    examine(description, report)
    if base == "floating" and report.ok:
        from dynamis.model.readers.sdf import FREE_MODEL

        report.problems[:] = [p for p in report.problems if p.code != FREE_MODEL]
        description = with_floating_base(description)
        check_mass_matrix(description, report)
    report.problems.sort(key=lambda p: p.line or 0)
    return description, _renamed(report, found)


def _renamed(report: Report, source: Source) -> Report:
    """Findings about files of an archive name the archive, not the folder it was unpacked to."""
    if source.path is not None and ".zip/" in source.name:
        inside = source.name.partition(".zip/")[2]
        folder, shown = str(source.path).removesuffix(inside), source.name.removesuffix(inside)
        report.problems[:] = [
            replace(p, file=p.file.replace(folder, shown), found=p.found.replace(folder, shown)) for p in report.problems
        ]
    return report


def _description(
    source: Source, report: Report, parameters: Mapping[str, Any] | None, xacro_args: Mapping[str, Any] | None
) -> Description:
    kind, data = source.kind, source.data
    if xacro_args is not None and not isinstance(xacro_args, Mapping):
        raise InputError(f"xacro_args= must be a mapping from names to values, got {type(xacro_args).__name__}")
    if kind == "toml":
        if xacro_args:
            raise InputError("xacro_args= goes with xacro files; the values of a .toml robot are given with parameters=")
        return read_toml(data, report.source, report, parameters)
    if parameters:
        raise InputError("parameters= goes with .toml robots, whose files declare them; edit the description of a URDF")
    if kind == "usd":
        if xacro_args:
            raise InputError("xacro_args= goes with xacro files; a USD file has no macros")
        from dynamis.model.readers.usd import read_usd

        return read_usd(source.path, data, report)
    from dynamis.model.readers.xacro import expand_xacro, has_macros

    encoding = "utf-8" if source.is_text else None
    document: Document | None = None
    suffix = source.path.suffix.lower() if source.path is not None else ""
    if suffix == ".xacro" or has_macros(data, report.source):
        folder = source.path.parent if source.path is not None else None
        document = expand_xacro(data, report.source, folder, xacro_args or {}, report)
        tag = document.root.tag.encode()
    elif xacro_args:
        raise InputError(f"xacro_args= goes with xacro files, and {printable(report.source)} has no macros")
    else:
        tag = root_tag(data)
    if tag == b"mujoco":
        if document is not None:
            raise format_error(
                report.source, document.root.line, "xacro that expands to MJCF", "URDF or SDF", "expand it first"
            )
        from dynamis.model.readers.mjcf import read_mjcf

        return read_mjcf("" if source.path is None else os.fspath(source.path), data, report)
    if tag == b"sdf":
        from dynamis.model.readers.sdf import read_sdf

        folder = source.path.parent if source.path is not None else None
        return read_sdf(document or parse_xml(data, report.source, encoding, text=True), folder, report)
    description = read_urdf(data, report.source, report, encoding, document)
    if not description.links and (document is not None or b"xacro" in data):
        found = "the file has no link; a xacro macro was probably defined but not called"
        cure = "call the macro in the xacro file, <xacro:NAME …/>, or load a file that calls it"
        report.error(NO_LINKS, "robot", found, "at least one link", cure, description.line)
    return description


def load_description(
    source: Any,
    *,
    strict: bool = False,
    parameters: Mapping[str, Any] | None = None,
    base: str = "fixed",
    xacro_args: Mapping[str, Any] | None = None,
) -> Description:
    """The description of any source that `load` takes; raises for errors, warns about doubts."""
    from_library = isinstance(source, str | os.PathLike) and not is_document(source) and find(source)[1]
    if from_library and all(x is None or (isinstance(x, Mapping) and not x) for x in (parameters, xacro_args)):
        known, report = _read_library(find(source)[0], base)
        description = None if known is None else known.copy()
    else:
        description, report = read(source, parameters=parameters, base=base, xacro_args=xacro_args)
    if description is None:
        raise FormatError(str(report.problems[-1]), report.problems)
    report.raise_errors(ModelError, strict=strict)
    if from_library:  # doubts about the library's published numbers are in its entries; parameters= has others
        doubted = NEGATIVE | ({SINGULAR_MASS} if base == "floating" else set())
        report = Report(report.source, [p for p in report.problems if p.code in doubted])
    report.emit_warnings(stacklevel=3)
    return description


def describe_mujoco(model: Any) -> Description:
    """The description of a MuJoCo model; raises for errors, warns about doubts and about what is left aside."""
    from dynamis.model.readers.mjcf import describe

    report = Report("MjModel")
    description = describe(model, report)
    examine(description, report)
    report.raise_errors(ModelError)
    report.emit_warnings(stacklevel=3)
    return description


def describe_object(describe_it: Callable[[Any], Description], thing: Any, kind: str) -> Description:
    """The description of an object of another package; raises for errors, warns about doubts."""
    report = Report(kind)
    description = describe_it(thing)
    examine(description, report)
    report.raise_errors(ModelError)
    report.emit_warnings(stacklevel=3)
    return description


@functools.cache
def _read_library(path: Path, base: str) -> tuple[Description | None, Report]:
    """The files of the library do not change: each is parsed once per process."""
    return read(path.stem, base=base)


def check(source: Any, *, xacro_args: Mapping[str, Any] | None = None) -> Report:
    """Every finding about a robot, a description or any source that `load` takes, without raising for bad content.

    >>> check("ur5e").ok
    True
    """
    source = getattr(source, "description", source)  # of a robot
    if isinstance(source, Description):
        report = examine(source.copy(), Report(source.file or source.name, by_hand=not source.file))
        report.note_aside("model", source.aside)
        return report
    return read(source, xacro_args=xacro_args)[1]

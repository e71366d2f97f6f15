"""SRDF files: which pairs of links need no collision check.

Of MoveIt's semantic robot description only ``<disable_collisions>``, ``<disable_default_collisions>`` and
``<enable_collisions>`` are read; groups, states and end effectors are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynamis.errors import FormatError, InputError, near_names, printable
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.readers.xml_tree import MAX_BYTES, Document, Element, parse_xml
from dynamis.model.sources import is_document

Pair = tuple[str, str]


@dataclass(frozen=True)
class DisabledPairs:
    """Pairs of links that are not checked, with the file's reasons; ``default`` links are checked in ``enabled`` pairs only."""

    pairs: dict[Pair, str] = field(default_factory=dict)
    default: frozenset[str] = frozenset()
    enabled: frozenset[Pair] = frozenset()

    def reason(self, pair: Pair) -> str | None:
        """Why a pair is not checked; None where it is."""
        for ordered in (pair, pair[::-1]):
            if ordered in self.pairs:
                return self.pairs[ordered] or "disabled"
        return "disabled by default" if self.default & set(pair) and not self.enables(pair) else None

    def enables(self, pair: Pair) -> bool:
        return pair in self.enabled or pair[::-1] in self.enabled


def read_srdf(source: Any, links: Sequence[str], report: Report) -> DisabledPairs:
    """The disabled pairs in a file (its path) or in the text of an SRDF document, for a robot with these links.

    Entries that name other links are ignored with a warning, as MoveIt does.
    """
    data, file = _content(source)
    report.source = file
    document = parse_xml(data, file)
    root = document.root
    if root.tag != "robot":
        found = f"the root element is <{printable(root.tag)[1:-1]}>"
        raise format_error(file, root.line, found, "<robot name=…>", "give the SRDF file of the robot, not another XML file")
    if root.all("link"):
        line = root.all("link")[0].line
        raise format_error(file, line, "a <link>: this is a URDF", "an SRDF", "give the .srdf file that belongs to it", "srdf=")
    reader = _Reader(document, file, set(links), report)
    pairs = {pair: e.attributes.get("reason", "") for e in root.all("disable_collisions") if (pair := reader.pair(e))}
    default = [name for e in root.all("disable_default_collisions") if (name := reader.link(e, "link"))]
    enabled = [pair for e in root.all("enable_collisions") if (pair := reader.pair(e))]
    return DisabledPairs(pairs, frozenset(default), frozenset(enabled))


def _content(source: Any) -> tuple[bytes, str]:
    if is_document(source):
        return str(source).encode("utf-8", "surrogatepass"), "SRDF text"
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"srdf= takes the path of an SRDF file, or its text, got {type(source).__name__}")
    path = Path(source)
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1), str(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise FormatError(f"the SRDF file {printable(str(path))} cannot be read: {reason}") from None


@dataclass(frozen=True)
class _Reader:
    document: Document
    file: str
    links: set[str]
    report: Report

    def pair(self, element: Element) -> Pair | None:
        first, second = self.link(element, "link1"), self.link(element, "link2")
        if first is not None and first == second:
            found = f"both links are {printable(first)}"
            cure = "name two different links, or remove the element"
            raise format_error(self.file, element.line, found, "two links", cure, f"<{element.tag}>")
        return (first, second) if first is not None and second is not None else None

    def link(self, element: Element, key: str) -> str | None:
        """The link an attribute names; None if the robot has none of that name."""
        name, where = element.attributes.get(key, ""), f"<{element.tag}>"
        if not name:
            cure = f'write {key}="NAME" with the name of a link'
            raise format_error(self.file, element.line, f"there is no {key}=", "the name of a link", cure, where)
        if name in self.links:
            return name
        near = near_names(name, self.links, 1)
        cure = f"write {printable(near[0])}" if near else "remove the element, or give the SRDF file of this robot"
        found = f"the robot has no link {printable(name)}"
        self.report.warn(
            "srdf-link", where, found, "its links", cure, "the element is ignored", self.document.line(element, key)
        )
        return None

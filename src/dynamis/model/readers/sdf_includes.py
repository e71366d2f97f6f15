"""The <include> elements of SDF files: models of other files, under another name and at another place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dynamis.display import counted
from dynamis.errors import FormatError, InputError, printable
from dynamis.model.diagnostics import format_error
from dynamis.model.packages import find_file
from dynamis.model.readers.xml_tree import MAX_BYTES, Document, Element, name_lines, parse_xml

MAX_INCLUDES = 20  # one inside another
OLD = ("1.5", "1.6")  # versions in which an axis may be in the axes of its model


def is_true(text: str) -> bool:
    return text.strip().lower() in ("true", "1")


def included(reader: Any, e: Element, depth: int, where: str) -> tuple[Element, bool]:
    """The <model> that an <include> means, with the name, pose and <static> it gives; whether its file is of an old version."""
    if depth > MAX_INCLUDES:
        raise format_error(
            reader.report.source, e.line, "models include each other without end", "a tree of models", "remove one <include>"
        )
    document, path = _opened(reader, e, where)
    models = document.root.all("model")
    if len(models) != 1:
        raise format_error(reader.report.source, e.line, f"{counted(len(models), 'model')} in {printable(str(path))}",
                           "one model", "copy the <model> that is meant into this file")  # fmt: skip
    made = models[0]
    name_lines(made, str(path))
    if reader.word(e, "name", where):
        made.attributes["name"] = reader.word(e, "name", where)
    placement = reader.word(e, "placement_frame", where)
    if placement:
        made.attributes["placement_frame"] = placement
    for tag in ("pose", "static"):
        if e.all(tag):
            made.children = [*(c for c in made.children if c.tag != tag), *e.all(tag)]
    return made, document.root.attributes.get("version", "") in OLD


def has_no_model(reader: Any, e: Element) -> bool:
    """Whether an <include> brings a light or another thing without links."""
    try:
        root = _opened(reader, e, "world")[0].root
    except FormatError:
        return False
    return root.tag == "sdf" and bool(root.children) and not root.all("model") and not root.all("world")


def _opened(reader: Any, e: Element, where: str) -> tuple[Document, Path]:
    uri = reader.word(e, "uri", where)
    name = uri.removeprefix("file://")
    names = [name.replace("model://", "package://"), name.removeprefix("model://")]
    path, reason = None, "it is not in the robot's folder"
    for candidate in names if uri and "://" not in names[-1] else ():
        try:
            path = path or _file(candidate, reader.folder)
        except InputError as error:
            reason = str(error)
    if uri.endswith((".urdf", ".xacro")):
        raise format_error(reader.report.source, e.line, f"it includes {printable(uri)}, which is not SDF", "a model in SDF",
                           "convert it with dynamis convert, or load it alone")  # fmt: skip
    if path is None:
        raise format_error(reader.report.source, e.line, f"it includes {printable(uri)}: {reason}", "a model beside this file",
                           "copy its <model> into the file, or put its folder beside the file")  # fmt: skip
    return _parsed(path), path


def _file(name: str, folder: Path | None) -> Path:
    """The file of that name, or that of a model's folder: model.sdf, or the newest one its model.config names."""
    if name.endswith(".sdf"):
        return find_file(name, folder, "model")
    try:
        return find_file(f"{name}/model.sdf", folder, "model")
    except InputError as error:
        try:
            config = _parsed(find_file(f"{name}/model.config", folder, "model")).root.all("sdf")
        except InputError:
            raise error from None
    files = [x.text.strip() for x in sorted(config, key=_version)]
    return find_file(f"{name}/{files[-1] if files else 'model.sdf'}", folder, "model")


def _version(e: Element) -> list[int]:
    return [int(x) for x in re.findall(r"\d{1,4}", e.attributes.get("version", ""))]


def _parsed(path: Path) -> Document:
    with path.open("rb") as stream:
        return parse_xml(stream.read(MAX_BYTES + 1), str(path), text=True)

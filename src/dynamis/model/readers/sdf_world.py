"""The world of an SDF file: which of its models is the robot, and what holds it."""

from __future__ import annotations

from typing import Any

from dynamis.display import counted
from dynamis.errors import FormatError, printable
from dynamis.model.diagnostics import LEFT_ASIDE, format_error
from dynamis.model.readers.sdf_frames import Model
from dynamis.model.readers.sdf_includes import has_no_model, included, is_true
from dynamis.model.readers.sdf_text import cleaned
from dynamis.model.readers.spelling import SDF, check_spelling
from dynamis.model.readers.xml_tree import Element
from dynamis.spatial.pose import Pose


class World(Model):
    """The models of a world or of a file without one: ``robot`` is read; the others are static, and as the world for joints."""

    def __init__(self, reader: Any, e: Element, old: bool) -> None:
        self.reader, self.e, self.prefix, self.old = reader, e, "", old
        self.at, self.where = Pose.identity(), "world"
        self.placed, self.pending = {}, []
        self.named, self.nested, self.merged, self.written = {}, {}, {}, {}
        self.models: dict[str, tuple[Element, bool]] = {}
        unread: list[tuple[str, FormatError]] = []
        for child in e.children:
            if child.tag in ("frame", "include"):
                check_spelling(child, SDF, self.where, reader.report, reader.d.aside)
            if child.tag in ("frame", "joint"):
                self.named[child.attributes.get("name", "")] = child
            elif child.tag in ("model", "include"):
                self.see(child, unread)
        self.name = self.choose(unread)
        self.robot = Model(reader, self.named[self.name], "", 0, self.models[self.name][1])
        self.nested[self.name] = self.robot

    def see(self, e: Element, unread: list[tuple[str, FormatError]]) -> None:
        uri = printable(self.reader.word(e, "uri", "world"))
        try:
            model, old = (e, self.old) if e.tag == "model" else included(self.reader, e, 0, "world")
        except FormatError as error:
            if is_true(self.reader.word(e, "static", "world")) or has_no_model(self.reader, e):
                self.reader.leave("<include> of what is no robot", uri)
            else:
                unread.append((uri, error))
            return
        name = model.attributes.get("name", "")
        self.taken(name, e)
        self.named[name], self.models[name] = model, (model, old)

    def choose(self, unread: list[tuple[str, FormatError]]) -> str:
        """The name of the only model, or of the only one that is not static."""
        moving = [name for name, (e, _) in self.models.items() if not is_true(self.reader.word(e, "static", "model"))]
        found = moving if moving or len(self.models) != 1 else list(self.models)
        if unread and not moving:
            raise unread[0][1]
        source = self.reader.report.source
        if not self.models:
            raise format_error(source, self.e.line, "there is no <model>", "one model that is not static",
                               "write the model into a file of its own: <sdf version='…'> and its <model>")  # fmt: skip
        if len(found) != 1:
            names = ", ".join(map(printable, (found or list(self.models))[:6]))
            what = "model" if found else "static model"
            raise format_error(
                source, self.e.line, f"{counted(len(found or self.models), what)}: {names}", "one model that is not static",
                "write <static>true</static> into the others, or the model into a file of its own: <sdf version='…'> and its "
                "<model>" if found else "remove <static> from the robot",
            )  # fmt: skip
        if unread:
            uris = ", ".join(uri for uri, _ in unread)
            reason = unread[0][1].problems[0]
            self.reader.report.warn(
                LEFT_ASIDE, "world", f"{counted(len(unread), 'include')} without a model that can be read: {uris}", "",
                f"{reason.repair}; for scenery, write <static>true</static> into <include>",
                f"left aside; the robot is {printable(found[0])}", reason.line,
            )  # fmt: skip
        for name in self.models:
            if name != found[0]:
                self.reader.leave("another model", printable(name))
        return found[0]

    def add(self) -> None:
        """Add the robot, and the joints of the world."""
        self.robot.at = self.pose(self.name, self.robot.e, self.robot.where)
        self.robot.add()
        self.placed = {link: cleaned(self.robot.at @ pose) for link, pose in self.robot.placed.items()}
        for name, e in self.named.items():
            if e.tag == "joint":
                self.reader.joint(e, self)
            elif e.tag == "frame" and self.attached(name, e, self.where) != "world":
                self.reader.leave("<frame> of the world", printable(name))

    def split(self, name: str) -> tuple[Model | None, str, str]:
        first = name.partition("::")[0]
        if first in self.models and first not in self.nested:
            self.nested[first] = Model(self.reader, self.models[first][0], f"{first}::", 1, self.models[first][1])
        return super().split(name)

    def attached(self, name: str, at: Element, where: str) -> str:
        link = super().attached(name, at, where)
        nested = self.split(name)[0]
        return "world" if link and nested is not None and nested is not self.robot else link

    def canonical(self, _e: Element, _where: str) -> str:
        return "world"

    def pose(self, name: str, at: Element, where: str) -> Pose:
        return Pose.identity() if name == "world" else super().pose(name, at, where)

"""The frames of SDF models: poses relative to other frames, the links they are attached to, nested and merged models."""

from __future__ import annotations

from typing import Any

from dynamis.errors import printable
from dynamis.model.description import Joint, Link
from dynamis.model.readers.sdf_includes import included, is_true
from dynamis.model.readers.sdf_text import cleaned
from dynamis.model.readers.spelling import SDF, check_spelling
from dynamis.model.readers.xml_tree import Element
from dynamis.spatial.pose import Pose


class Model:
    """A model: the poses of its frames in the frame of the model, and the links they are attached to.

    ``reader`` adds links and joints to the description; ``placed`` are the poses of all links by their full names, here; ``at``
    is the pose of the model in the world. A model that is included to be merged is nested without a prefix, and ``merged``
    has the names it brings. ``old`` is whether the file of the model is of SDF 1.5 or 1.6.
    """

    def __init__(self, reader: Any, e: Element, prefix: str, depth: int, old: bool) -> None:
        self.reader, self.e, self.prefix, self.old = reader, e, prefix, old
        self.at = Pose.identity()
        self.where = f"model {printable(prefix.removesuffix('::') or e.attributes.get('name', ''))}"
        self.placed: dict[str, Pose] = {}
        self.pending: list[str] = []
        self.named: dict[str, Element] = {}
        self.nested: dict[str, Model] = {}
        self.merged: dict[str, str] = {}
        self.written: dict[int, Pose] = {}
        check_spelling(e, SDF, self.where, reader.report, reader.d.aside, deep=False)
        for child in e.children:
            if child.tag in ("pose", "frame", "include"):
                check_spelling(child, SDF, self.where, reader.report, reader.d.aside)
            if child.tag in ("link", "frame", "joint", "model", "include"):
                of_old = old
                element = child
                if child.tag == "include":
                    element, of_old = included(reader, child, depth, self.where)
                name = reader.name(element, self.where)
                if child.tag == "include" and is_true(child.attributes.get("merge", "")):
                    name = f"_merged__{name}__model__"
                    self.nested[name] = Model(reader, element, prefix, depth + 1, of_old)
                    for each in (*self.nested[name].named, *self.nested[name].merged):
                        self.taken(each, child)
                        self.merged[each] = name
                elif element.tag == "model":
                    self.nested[name] = Model(reader, element, f"{prefix}{name}::", depth + 1, of_old)
                self.taken(name, child)
                self.named[name] = element

    def taken(self, name: str, element: Element) -> None:
        if name in self.named or name in self.merged:
            self.reader.report.error("duplicate-name", self.where, f"two elements are called {printable(name)}",
                                     "unique names", "rename one of them, an included model by <name> in its <include>",
                                     element.line)  # fmt: skip

    def add(self) -> None:
        """Add links, then joints and frames to the description, each in the order of the document."""
        self.add_links()
        self.add_joints()

    def add_links(self) -> None:
        """The links of this model and of those nested in it."""
        r = self.reader
        for name, e in self.named.items():
            if e.tag == "link":
                self.placed[self.prefix + name] = cleaned(self.pose(name, e, self.where))
                r.d.links.append(r.link(e, self.prefix + name))
            elif e.tag == "model":
                nested, at = self.nested[name], self.pose(name, e, self.where)
                nested.at = self.at @ at
                nested.add_links()
                self.placed |= {link: cleaned(at @ pose) for link, pose in nested.placed.items()}

    def add_joints(self) -> None:
        """The joints of this model and of those nested in it, then the frames."""
        r = self.reader
        for name, e in self.named.items():
            if e.tag == "joint":
                r.joint(e, self)
            elif e.tag == "model":
                self.nested[name].add_joints()
        for name, e in self.named.items():
            if e.tag == "frame":
                link = self.attached(name, e, self.where)
                full = self.prefix + name
                if link in self.placed:
                    place = cleaned(self.placed[link].inverse() @ self.pose(name, e, self.where))
                    r.d.links.append(Link(full, line=e.line))
                    r.d.joints.append(Joint(f"{full}/frame", "fixed", link, full, place, line=e.line))

    def canonical(self, e: Element, where: str) -> str:
        named = self.e.attributes.get("canonical_link")
        if named:
            return self.attached(named, e, where)
        for name, element in self.named.items():
            if element.tag == "link":
                return self.prefix + name
            if name in self.merged.values():
                return self.nested[name].canonical(e, where)
        for nested in self.nested.values():
            return nested.canonical(e, where)
        self.reader.report.error(
            "no-link", self.where, "the model has no link", "at least one <link>", "add a link", self.e.line
        )
        return ""

    def end(self, e: Element, where: str) -> str:
        name = e.text.strip()
        if name == "world" and "world" not in self.named:
            return "world"
        return self.attached(name, e, where)

    def split(self, name: str) -> tuple[Model | None, str, str]:
        """(nested model, its name, the rest) of a name such as gripper::finger."""
        first, _, rest = name.partition("::")
        if first in self.merged:
            first, rest = self.merged[first], name
        return self.nested.get(first), first, rest

    def attached(self, name: str, at: Element, where: str) -> str:
        """The full name of the link a frame is attached to."""
        nested, _, rest = self.split(name)
        if name == "__model__":
            return self.canonical(at, where)
        if nested is not None:
            return nested.attached(rest, at, where) if rest else nested.canonical(at, where)
        e = self.named.get(name)
        if e is None or self.guarded(f"attached {name}", at, where):
            return "" if e is not None else self.unknown(name, at, where)
        try:
            if e.tag == "link":
                return self.prefix + name
            if e.tag == "joint":
                child = self.reader.required(e, "child", where)
                return self.attached(child.text.strip(), e, where) if child is not None else ""
            return self.attached(e.attributes.get("attached_to") or "__model__", e, where)
        finally:
            self.pending.pop()

    def pose(self, name: str, at: Element, where: str) -> Pose:
        """The pose of a frame in the frame of the model."""
        nested, first, rest = self.split(name)
        if name in ("__model__", ""):
            return Pose.identity()
        if nested is not None and rest:
            return self.pose(first, at, where) @ nested.pose(rest, at, where)
        e = self.named.get(name)
        if e is None or self.guarded(f"pose {name}", at, where):
            if e is None:
                self.unknown(name, at, where)
            return Pose.identity()
        try:
            if e.tag == "joint":
                return self.relative(e, where)
            default = e.attributes.get("attached_to", "") if e.tag == "frame" else ""
            pose = self.reader.child(e, "pose", where)
            written = pose.attributes.get("relative_to", "") if pose is not None else ""
            base = self.pose(written or default, pose or e, where)
            found = base @ self.numbers(pose, f"{e.tag} {printable(self.prefix + name)}")
            placement = e.attributes.get("placement_frame", "")
            if nested is not None and placement:
                found = found @ nested.pose(placement, e, where).inverse()
            return found
        finally:
            self.pending.pop()

    def relative(self, e: Element, where: str) -> Pose:
        """The pose of a joint in the frame of the model: relative to its child unless it says otherwise."""
        pose = self.reader.child(e, "pose", where)
        written = pose.attributes.get("relative_to", "") if pose is not None else ""
        if not written:
            child = self.reader.required(e, "child", where)
            written = child.text.strip() if child is not None else ""
        base = self.at.inverse() if written == "world" else self.pose(written, pose or e, where)
        return base @ self.numbers(pose, f"joint {printable(self.prefix + e.attributes.get('name', ''))}")

    def numbers(self, pose: Element | None, where: str) -> Pose:
        """What <pose> says; it is read once, however many frames stand on it."""
        if pose is None:
            return Pose.identity()
        if id(pose) not in self.written:
            self.written[id(pose)] = self.reader.pose(pose, where)
        return self.written[id(pose)]

    def guarded(self, step: str, at: Element, where: str) -> bool:
        if step in self.pending:
            self.reader.report.error("frame-cycle", where, f"a frame is defined by itself: {printable(step)}", "a tree",
                                     "define one of them relative to __model__", at.line)  # fmt: skip
            return True
        self.pending.append(step)
        return False

    def unknown(self, name: str, at: Element, where: str) -> str:
        known = ", ".join(printable(x) for x in list(self.named)[:8])
        self.reader.report.error("frame-name", where, f"there is no link, joint or frame {printable(name)}", known or "none",
                                 "correct the name", at.line)  # fmt: skip
        return ""

"""Which shapes of a robot's file are drawn, and what is said about those that are not."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.model.description import Description, Link, Shape
from dynamis.report.meshes.encoding import encoded
from dynamis.report.meshes.finding import HOW_FOUND, find_mesh
from dynamis.report.meshes.reading import MeshFile, fault
from dynamis.robot import Robot

SOLID = ("box", "cylinder", "capsule", "sphere")
SECONDS = 10.0  # for reading all meshes
NAMED = 3  # meshes a note names before it only counts


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn of a robot's file: (link, shape, number of its mesh), the meshes as the page decodes them, notes."""

    shapes: Sequence[tuple[str, Shape, int | None]]
    meshes: Sequence[dict[str, Any]]
    notes: Sequence[str]


def drawing_of(robot: Robot) -> Drawing:
    """The visible shapes of each link; those it collides as where none of the visible can be drawn.

    A link that shows nothing itself shows what it collides as only where nothing of its body is visible.
    """
    meshes, frames = _Meshes(robot.description), robot.model.frames
    links = [link for link in robot.description.links if link.name in frames]
    visible = {frames[link.name].body for link in links if _has_visible(link)}
    links = [link for link in links if _has_visible(link) or frames[link.name].body not in visible]
    shapes = [(link.name, shape) for link in links for shape in meshes.drawn(link)]
    names = list(dict.fromkeys(shape.mesh for _, shape in shapes if shape.kind == "mesh"))
    files = list(dict.fromkeys(meshes.files[name] for name in names))
    number = {name: files.index(meshes.files[name]) for name in names}
    return Drawing([(link, s, number.get(s.mesh)) for link, s in shapes], encoded(tuple(files)), meshes.notes())


def _has_visible(link: Link) -> bool:
    return any(shape.role == "visual" for shape in link.shapes)


class _Meshes:
    """The meshes a description names: the files of those that can be read, the reasons of the others."""

    def __init__(self, description: Description) -> None:
        # robots of the library have a name here, those made in Python nothing
        self.folder = Path(description.file).resolve().parent if Path(description.file).is_file() else None
        self.files: dict[str, MeshFile] = {}
        self.lost: list[str] = []
        self.broken: dict[str, str] = {}
        self.unread: set[str] = set()
        self.installed = importlib.util.find_spec("trimesh") is not None
        self.until = time.perf_counter() + SECONDS

    def drawn(self, link: Link) -> list[Shape]:
        visible = [s for s in link.shapes if s.role == "visual" and self.can_draw(s)]
        return visible or [s for s in link.shapes if s.role != "visual" and self.can_draw(s)]

    def can_draw(self, shape: Shape) -> bool:
        if shape.kind != "mesh":
            return shape.kind in SOLID
        if not self.installed:
            self.unread.add(shape.mesh)
            return False
        if shape.mesh not in self.files and shape.mesh not in self.lost and shape.mesh not in self.broken:
            self.look(shape.mesh)
        return shape.mesh in self.files and all(np.isfinite(shape.size)) and all(shape.size)

    def look(self, name: str) -> None:
        try:
            found = MeshFile.at(find_mesh(name, self.folder))
        except (InputError, OSError):
            self.lost.append(name)
            return
        if time.perf_counter() > self.until:
            self.broken[name] = f"the others took {SECONDS:g} s"
            return
        why = fault(found)
        if why is None:
            self.files[name] = found
        else:
            self.broken[name] = why

    def notes(self) -> list[str]:
        notes = []
        if self.unread:
            notes.append(f"The file names {_count(self.unread)}: pip install 'dynamis[mesh]' draws them.")
        if self.lost:
            notes.append(f"{_count(self.lost)} not found: {_list(self.lost)}. {HOW_FOUND}")
        if self.broken:
            reasons = "; ".join(dict.fromkeys(self.broken.values()))
            notes.append(f"{_count(self.broken)} not read: {_list(self.broken)}. The reason: {reasons}.")
        if notes:
            notes.append("Links without their meshes are drawn as what they collide as, or as tubes.")
        return notes


def _count(names: Iterable[str]) -> str:
    n = len(list(names))
    return f"{n} mesh{'es' * (n > 1)}"


def _list(names: Iterable[str]) -> str:
    every = list(dict.fromkeys(printable(name.rsplit("/", 1)[-1]) for name in names))
    return ", ".join(every[:NAMED]) + (f" and {len(every) - NAMED} more" if len(every) > NAMED else "")

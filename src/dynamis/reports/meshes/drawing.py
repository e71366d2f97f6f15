"""Which shapes of a robot are drawn, and what is said about those that are not."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.files.mesh_readers import lacking
from dynamis.model.description import Link, Shape
from dynamis.model.meshes.reading import MeshFile, bounds_of, fault, vertices_of
from dynamis.model.packages import HOW_FOUND, find_file, folder_of
from dynamis.model.shapes import balls
from dynamis.reports.link_shapes import link_shapes
from dynamis.reports.meshes.encoding import encoded
from dynamis.reports.meshes.installed import corresponding_meshes
from dynamis.robot import Robot
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

MAX_READING_SECONDS = 10.0  # for all meshes
MAX_MESHES_LISTED = 3  # in a note


@dataclass(frozen=True, eq=False)
class Drawn:
    """A shape as it is drawn: in the frame of a body (0 is the base), with the number of its mesh if it is one.

    ``link`` is the link whose file gives it, or None where the shape is made up. ``points`` and ``radii`` are balls whose
    convex hull holds it; ``vertices`` are those of a mesh.
    """

    body: int
    shape: Shape
    mesh: int | None
    link: str | None
    points: Array
    radii: Array
    vertices: Array | None = None

    @property
    def extremes(self) -> tuple[Array, Array]:
        """Centres and radii of balls with the convex hull of the shape: of a mesh its vertices."""
        return (self.points, self.radii) if self.vertices is None else (self.vertices, np.zeros(len(self.vertices)))


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn of a robot, the meshes as the page decodes them, and notes on what could not be drawn."""

    shapes: Sequence[Drawn]
    meshes: Sequence[dict[str, Any]]
    notes: Sequence[str]


@functools.lru_cache(maxsize=4)  # the scenes and the notes of a report ask for the same one
def drawing_of(robot: Robot) -> Drawing:
    """Each link by its visual shapes, by those it collides as where its whole body has no visual ones.

    A body with a link whose meshes cannot be read, and one without any shape, is drawn by `link_shapes`: never by a mixture
    of meshes and the shapes for collisions. A robot whose description names installed meshes is drawn by those.
    """
    model = robot.model
    found = corresponding_meshes(robot.description, model)
    if found is not None:
        shapes, folder = found
        drawn, meshes = _from_links(robot, {name: shapes.get(name, []) for name in model.frames}, _Meshes(folder))
        if not meshes.notes():
            return _drawing(drawn, meshes)
    meshes = _Meshes(folder_of(robot.description.file))
    drawn, meshes = _from_links(robot, _shapes_by_link(robot), meshes)
    return _drawing(drawn, meshes)


def _shapes_by_link(robot: Robot) -> dict[str, list[Shape]]:
    """The shapes that are to be drawn, if they can be."""
    frames = robot.model.frames
    links = [link for link in robot.description.links if link.name in frames]
    visible = {frames[link.name].body for link in links if _visual(link)}
    return {link.name: _visual(link) or ([] if frames[link.name].body in visible else link.shapes) for link in links}


def _visual(link: Link) -> list[Shape]:
    return [shape for shape in link.shapes if shape.role == "visual"]


def _from_links(robot: Robot, shapes: dict[str, list[Shape]], meshes: _Meshes) -> tuple[list[Drawn], _Meshes]:
    """What is drawn for these shapes; bodies that lack some of theirs get shapes of our own."""
    model = robot.model
    drawn: list[Drawn] = []
    made_up = {i for i, body in enumerate(model.bodies) if body is None or not body.is_rotor}
    # every mesh is examined, so that the notes name all that are missing
    drawable = {name: [meshes.can_draw(shape) for shape in them] for name, them in shapes.items()}
    whole = {name: all(them) for name, them in drawable.items()}
    shown = {model.frames[name].body for name, them in shapes.items() if them}
    made_up -= shown | (_between_joints(robot) if shown else set())
    made_up |= {model.frames[name].body for name, complete in whole.items() if not complete}
    for name, them in shapes.items():
        if whole[name]:
            drawn += [_drawn(robot, name, shape, meshes) for shape in them]
    reach = reach_of(robot)
    for body in sorted(made_up):
        for shape in link_shapes(model, body, reach):
            drawn.append(Drawn(body, shape, None, None, *balls(shape)))
    return drawn, meshes


def _between_joints(robot: Robot) -> set[int]:
    """The bodies without mass that carry others: of links moved by several joints, as files of MuJoCo have them."""
    carriers = {body.parent for _, body in robot.model.moving}
    return {i for i, body in robot.model.moving if i in carriers and np.all(np.asarray(body.inertia.mass) == 0.0)}


def _drawn(robot: Robot, name: str, shape: Shape, meshes: _Meshes) -> Drawn:
    frame = robot.model.frames[name]
    X = Pose(*(np.asarray(x, dtype=float) for x in frame.pose)) @ Pose(*(np.asarray(x, dtype=float) for x in shape.origin))
    placed = replace(shape, origin=X)
    if shape.kind != "mesh":
        return Drawn(frame.body, placed, None, name, *balls(placed))
    file = meshes.files[shape.mesh]
    low, high = bounds_of(file)
    corners = balls(replace(placed, kind="box", size=(1.0, 1.0, 1.0), origin=Pose.identity()))[0]
    inside = (low + (corners + 0.5) * (high - low)) * np.array(shape.size)
    vertices = vertices_of(file) * np.array(shape.size) @ X.R.T + X.p
    number = meshes.number(shape.mesh)
    return Drawn(frame.body, placed, number, name, inside @ X.R.T + X.p, np.zeros(len(corners)), vertices)


def _drawing(drawn: list[Drawn], meshes: _Meshes) -> Drawing:
    return Drawing(drawn, encoded(tuple(meshes.used)), meshes.notes())


def reach_of(robot: Robot) -> float:
    """How far from the base the robot could reach if its joints and frames were on one line, in its zero configuration."""
    model = robot.model
    lengths = [0.0] * len(model.bodies)
    for i, body in model.moving:
        slide = max((abs(x) for x in _range(robot, i)), default=0.0)
        lengths[i] = lengths[body.parent] + float(np.linalg.norm(np.asarray(body.placement.p, dtype=float))) + slide
    tips = [lengths[f.body] + float(np.linalg.norm(np.asarray(f.pose.p, dtype=float))) for f in model.frames.values()]
    far = [
        lengths[i] + 2.0 * float(np.linalg.norm(np.asarray(body.inertia.com, dtype=float)))
        for i, body in model.moving
        if float(body.inertia.mass) > 0.0 and not model.children[i]
    ]
    return max(*tips, *far, 1e-3)


def _range(robot: Robot, body: int) -> list[float]:
    """The ends of the range of a sliding joint."""
    limits = robot.limits
    numbers = [k for k, c in enumerate(robot.model.coordinates) if not c.revolute and c.q_index is not None]
    moving = robot.model.bodies[body]
    assert moving is not None
    own = [k for k in numbers if robot.model.coordinates[k].q_index == moving.q_index.start]
    return [float(x) if np.isfinite(x) else 0.5 for k in own for x in (limits["lower"][k], limits["upper"][k])]


class _Meshes:
    """Mesh names: the files of those that can be read, the reasons of the others."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files: dict[str, MeshFile] = {}
        self.used: list[MeshFile] = []
        self.lost: list[str] = []
        self.broken: dict[str, str] = {}
        self.unread: set[str] = set()
        self.lacking = lacking()
        self.until = time.perf_counter() + MAX_READING_SECONDS

    def number(self, name: str) -> int:
        """The place of a mesh among those used; the same file has one place whatever it is called."""
        file = self.files[name]
        if file not in self.used:
            self.used.append(file)
        return self.used.index(file)

    def can_draw(self, shape: Shape) -> bool:
        if shape.kind != "mesh":
            return True
        if self.lacking is not None:
            self.unread.add(shape.mesh)
            return False
        if shape.mesh not in self.files and shape.mesh not in self.lost and shape.mesh not in self.broken:
            self.look(shape.mesh)
        return shape.mesh in self.files and all(np.isfinite(shape.size)) and all(shape.size)

    def look(self, name: str) -> None:
        try:
            found = MeshFile.at(find_file(name, self.folder))
        except (InputError, OSError):
            self.lost.append(name)
            return
        if time.perf_counter() > self.until:
            self.broken[name] = f"reading the other meshes took {MAX_READING_SECONDS:g} s"
            return
        why = fault(found)
        if why is None:
            self.files[name] = found
        else:
            self.broken[name] = why

    def notes(self) -> list[str]:
        notes = []
        if self.unread:
            notes.append(f"{_count(self.unread)} not read: {_list(self.unread)}. Reason: {self.lacking}.")
        if self.lost:
            notes.append(f"{_count(self.lost)} not found: {_list(self.lost)}. {HOW_FOUND}")
        if self.broken:
            reasons = "; ".join(dict.fromkeys(self.broken.values()))
            notes.append(f"{_count(self.broken)} not read: {_list(self.broken)}. Reason: {reasons}.")
        if notes:
            notes.append("Links without their meshes are drawn as capsules from joint to joint.")
        return notes


def _count(names: Iterable[str]) -> str:
    n = len(list(names))
    return f"{n} mesh{'es' * (n > 1)}"


def _list(names: Iterable[str]) -> str:
    every = sorted(dict.fromkeys(printable(name.rsplit("/", 1)[-1]) for name in names))
    return ", ".join(every[:MAX_MESHES_LISTED]) + (
        f" and {len(every) - MAX_MESHES_LISTED} more" if len(every) > MAX_MESHES_LISTED else ""
    )

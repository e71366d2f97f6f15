"""The meshes of a robot's file, found, read and made small enough for a page (reading needs the extra ``dynamis[mesh]``).

A mesh is kept once, however many links use it. Its vertices are merged in the cells of a grid, the finest with which all
meshes together keep to `MOST_TRIANGLES`, and travel as 16-bit integers. Nothing about a mesh can fail a report: what cannot be
drawn is told in a note.
"""

from __future__ import annotations

import base64
import functools
import importlib.util
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.model.description import Description, Link, Shape
from dynamis.model.packages import resolve_mesh
from dynamis.robot import Robot

Array = npt.NDArray[Any]

SOLID = ("box", "cylinder", "capsule", "sphere")
FORMATS = ("stl", "dae", "obj", "ply", "off", "glb")
MOST_TRIANGLES = 60_000  # of all meshes: about 700 kB in the page
MOST_COUNTED = 400_000  # triangles looked at to choose the grid
SECONDS = 10.0  # for reading all meshes
STEPS = 2**16 - 1  # along the longest side of a mesh
COARSEST = 0.2  # side of a cell by size of the mesh
# the corners of a tetrahedron, turned so that faces of machines, which look along axes, are not between two of them
LOOKS = np.array([[0.83, 0.45, 0.33], [-0.67, 0.74, -0.08], [-0.33, -0.59, 0.74], [0.17, -0.6, -0.99]])
NAMED = 3  # meshes a note names before it only counts
HOW_FOUND = (
    "Packages are looked for in the folders above the robot's file and in those that ROS_PACKAGE_PATH and AMENT_PREFIX_PATH "
    "declare, other names in the robot's own folder and beside it."
)
GREY, BLACK = (102, 102, 102), (0, 0, 0)  # what readers say where a file gives no colour


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles (m, 3) between vertices (n, 3) in metres, and of each vertex its layer (n,).

    Vertices of different layers are never merged. Of a part of the mesh there are as many layers as there are `LOOKS`, by
    where its surface looks: the two sides of a thin wall stay apart. ``colours`` has one for each part, or None.
    """

    vertices: Array
    triangles: Array
    layer: Array
    colours: tuple[tuple[float, ...] | None, ...]

    @property
    def low(self) -> Array:
        return np.asarray(self.vertices.min(axis=0))

    @property
    def size(self) -> float:
        return float(np.ptp(self.vertices, axis=0).max())

    @property
    def part(self) -> Array:
        """The part each triangle is of."""
        return np.asarray(self.layer[self.triangles[:, 0]] // len(LOOKS))


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
    return Drawing([(link, s, number.get(s.mesh)) for link, s in shapes], _encoded(tuple(files)), meshes.notes())


def _has_visible(link: Link) -> bool:
    return any(shape.role == "visual" for shape in link.shapes)


# finding


class _Meshes:
    """The meshes a description names: the files of those that can be read, the reasons of the others."""

    def __init__(self, description: Description) -> None:
        # robots of the library have a name here, those made in Python nothing
        self.folder = Path(description.file).resolve().parent if Path(description.file).is_file() else None
        self.files: dict[str, _File] = {}
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
            found = _File.at(find_mesh(name, self.folder))
        except (InputError, OSError):
            self.lost.append(name)
            return
        if time.perf_counter() > self.until:
            self.broken[name] = f"the others took {SECONDS:g} s"
            return
        fault = _fault(found)
        if fault is None:
            self.files[name] = found
        else:
            self.broken[name] = fault

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


def find_mesh(name: str, folder: Path | None) -> Path:
    """The file a mesh name means: packages lie above the robot's file or in the folders the environment declares."""
    name = re.sub(r"^package:/+", "package://", name)  # some files write three
    package = re.match(r"package://([^/\\]+)/", name)
    if package:
        return resolve_mesh(name, folder or Path(), _package_folders(package[1], folder))
    if folder is None:
        raise InputError(f"the mesh {printable(name)} is relative to a file, and this robot comes from none")
    # robots' files often lie in a folder beside that of their meshes; farther than that nothing is followed
    return resolve_mesh(name[3:], folder.parent) if name.startswith("../") else resolve_mesh(name, folder)


def _package_folders(package: str, folder: Path | None) -> list[Path]:
    # the root of all files holds no packages: package://home/… must not mean /home
    above = [p for p in (folder, *folder.parents) if p != p.parent] if folder is not None else []
    near = [p for p in above if p.name == package or (package not in (".", "..") and (p / package).is_dir())]
    return near + _declared("ROS_PACKAGE_PATH") + [prefix / "share" for prefix in _declared("AMENT_PREFIX_PATH")]


def _declared(variable: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(variable, "").split(os.pathsep) if p]


def _count(names: Iterable[str]) -> str:
    n = len(list(names))
    return f"{n} mesh{'es' * (n > 1)}"


def _list(names: Iterable[str]) -> str:
    every = list(dict.fromkeys(printable(name.rsplit("/", 1)[-1]) for name in names))
    return ", ".join(every[:NAMED]) + (f" and {len(every) - NAMED} more" if len(every) > NAMED else "")


# reading


@dataclass(frozen=True)
class _File:
    """A file as it is now: one that changes is read again."""

    path: Path
    changed: int
    length: int

    @staticmethod
    def at(path: Path) -> _File:
        now = path.stat()
        return _File(path, now.st_mtime_ns, now.st_size)


class _Beside:
    """What a mesh file may refer to: the materials beside it, nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes:
        if not name.lower().endswith(".mtl"):
            raise FileNotFoundError(name)  # pictures are not drawn
        return resolve_mesh(name, self.folder).read_bytes()

    __getitem__ = get


# each scene of a report, one for every motion, asks about the same files
@functools.lru_cache(maxsize=1024)
def _fault(file: _File) -> str | None:
    """Why a file cannot be drawn."""
    read = _read(file)
    return read if isinstance(read, str) else None


@functools.cache
def _read(file: _File) -> Surface | str:
    """The mesh of a file, or why there is none."""
    kind = file.path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        return f"the formats read are {', '.join(FORMATS)}"
    if kind == "dae" and importlib.util.find_spec("collada") is None:
        return "pip install pycollada reads .dae files"
    try:
        import trimesh

        beside: Any = _Beside(file.path.parent)
        with file.path.open("rb") as stream:
            scene = trimesh.load(stream, file_type=kind, force="scene", process=False, resolver=beside)
        return _surface(scene, kind)
    except OSError as error:
        return error.strerror or type(error).__name__  # without the path, which is nobody else's business
    except Exception as error:  # readers raise whatever their formats do
        return f"{type(error).__name__}: {str(error)[:120]}"


def _surface(scene: Any, kind: str) -> Surface:
    """All parts of a scene as one."""
    vertices, triangles, layers, count = [], [], [], 0
    colours: list[tuple[float, ...] | None] = []
    for node in sorted(scene.graph.nodes_geometry):  # the same page every time
        X, name = scene.graph[node]
        geometry = scene.geometry[name]
        if not len(getattr(geometry, "faces", ())):
            continue
        X, faces = np.asarray(X, dtype=float), np.asarray(geometry.faces, dtype=np.int64)
        points = _metres(geometry, kind) * (np.asarray(geometry.vertices, dtype=float) @ X[:3, :3].T + X[:3, 3])
        points, faces = joined(points, faces[:, ::-1] if np.linalg.det(X[:3, :3]) < 0 else faces)
        vertices.append(points)
        triangles.append(count + faces)
        layers.append(len(LOOKS) * len(colours) + _looks(points, faces))
        colours.append(_colour(geometry.visual))
        count += len(points)
    if not vertices:
        raise ValueError("there are no triangles in it")
    return Surface(np.concatenate(vertices), np.concatenate(triangles), np.concatenate(layers), tuple(colours))


def joined(points: Array, faces: Array) -> tuple[Array, Array]:
    """The same triangles with equal vertices made one: many files give each triangle its own."""
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    if not 0.0 < size < np.inf:  # nor where one is not a number
        raise ValueError("its vertices are not points in space")
    x, y, z = np.rint((points - low) * (STEPS / size)).astype(np.int64).T
    _, first, again = np.unique(x << 32 | y << 16 | z, return_index=True, return_inverse=True)
    return points[first], again[faces]


def _looks(points: Array, faces: Array) -> Array:
    """Which of the directions `LOOKS` is nearest to where the surface looks at each vertex."""
    a, b, c = np.moveaxis(points[faces], 1, 0)
    seen = np.cross(b - a, c - a) @ LOOKS.T
    around = [np.bincount(faces.ravel(), np.repeat(x, 3), len(points)) for x in seen.T]
    return np.argmax(np.array(around), axis=0)


def _metres(part: Any, kind: str) -> float:
    """Only COLLADA says its unit in a way that robots' files rely on."""
    from trimesh.units import unit_conversion

    return float(unit_conversion(part.units, "meters")) if kind == "dae" and part.units else 1.0


def _colour(visual: Any) -> tuple[float, ...] | None:
    """The colour most of a part has, or None where the file gives none."""
    if visual.kind is None:
        return None
    found = visual.material.main_color if visual.kind == "texture" else visual.main_color
    rgba = tuple(int(x) for x in found)
    return None if rgba[:3] in (GREY, BLACK) or len(rgba) != 4 else tuple(round(x / 255, 3) for x in rgba)


# making small


@functools.lru_cache(maxsize=4)
def _encoded(files: tuple[_File, ...]) -> list[dict[str, Any]]:
    surfaces = [surface for file in files if isinstance(surface := _read(file), Surface)]
    _read.cache_clear()  # as they were read they are large, and no longer needed
    fineness = _fineness(surfaces)
    return [encode(simplify(surface, _cell(surface, fineness))) for surface in surfaces]


def _cell(surface: Surface, fineness: float) -> float:
    """The side of a cell: small parts get finer ones, but not in proportion, since they are seen from as far."""
    return float(np.clip(fineness * np.sqrt(surface.size), surface.size / STEPS, COARSEST * surface.size))


def _fineness(surfaces: Sequence[Surface]) -> float:
    """The least with which all meshes keep to the triangles there may be, by bisection of its logarithm."""
    every = -(-sum(len(s.triangles) for s in surfaces) // MOST_COUNTED)  # a sample of larger ones is enough
    low, high = 1e-6, 10.0
    if not surfaces or _left(surfaces, low, every) <= MOST_TRIANGLES:
        return low
    for _ in range(12):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if _left(surfaces, middle, every) <= MOST_TRIANGLES else (middle, high)
    return high


def _left(surfaces: Sequence[Surface], fineness: float, every: int) -> int:
    """How many triangles have their corners in three different cells."""
    count = 0
    for s in surfaces:
        a, b, c = _cells(s, _cell(s, fineness))[s.triangles[::every]].T
        count += every * int(np.count_nonzero((a != b) & (b != c) & (c != a)))
    return count


def _cells(surface: Surface, side: float) -> Array:
    """A number for the cell and the layer of each vertex."""
    x, y, z = np.floor((surface.vertices - surface.low) / side).astype(np.int64).T
    return np.asarray(x << 47 | y << 31 | z << 15 | surface.layer % 2**15)


def simplify(surface: Surface, side: float) -> Surface:
    """One vertex for each cell of a grid, where it lies best on the planes of the triangles around; each triangle once.

    The planes n·x = d of a cell give the least squares Σ a² (n·x − d)², with the area a [Lindstrom 2000]; where they leave a
    direction open, a small weight on the mean of the vertices closes it.
    """
    _, cell = np.unique(_cells(surface, side), return_inverse=True)
    n = int(cell.max()) + 1
    # about their mean, so that no digits are lost
    mean = np.stack([np.bincount(cell, x, n) for x in surface.vertices.T], axis=1) / np.bincount(cell, minlength=n)[:, None]
    corners = cell[surface.triangles]
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    normal = np.cross(b - a, c - a) / side**2
    planes = normal[:, :, None] * normal[:, None, :]
    A, r = np.zeros((n, 3, 3)), np.zeros((n, 3))
    for corner in corners.T:
        off = normal * np.einsum("ij,ij->i", normal, a - mean[corner])[:, None]
        for i in range(3):
            r[:, i] += np.bincount(corner, off[:, i], n)
            for j in range(3):
                A[:, i, j] += np.bincount(corner, planes[:, i, j], n)
    weight = 0.02 * np.trace(A, axis1=1, axis2=2) + 1e-12
    moved = np.linalg.solve(A + weight[:, None, None] * np.eye(3), r[..., None])[..., 0]
    vertices = mean + np.clip(moved, -0.5 * side, 0.5 * side)
    kept = _distinct(corners)
    used, again = np.unique(corners[kept], return_inverse=True)
    layer = np.empty(n, dtype=np.int64)
    layer[cell] = surface.layer
    return Surface(vertices[used], again.reshape(-1, 3), layer[used], surface.colours)


def _distinct(corners: Array) -> Array:
    """The triangles (their numbers, in order) with three corners, one of those between the same three."""
    a, b, c = corners.T
    whole = np.flatnonzero((a != b) & (b != c) & (c != a))
    used, again = np.unique(corners[whole], return_inverse=True)
    a, b, c = np.sort(again.reshape(-1, 3), axis=1).T
    _, first = np.unique((a * len(used) + b) * len(used) + c, return_index=True)
    return np.asarray(whole[np.sort(first)])


def encode(surface: Surface) -> dict[str, Any]:
    """The numbers `page/robot_parts.js` decodes: vertices in steps from the lowest, triangles in the order of their colours."""
    low, step = surface.low, surface.size / STEPS
    colours = list(dict.fromkeys(surface.colours))
    paint = np.array([colours.index(colour) for colour in surface.colours])[surface.part]
    counts = np.bincount(paint, minlength=len(colours))
    wide = len(surface.vertices) > STEPS
    return {
        "low": [float(x) for x in low],
        "step": step,
        "vertices": _text(np.rint((surface.vertices - low) / step), "<u2"),
        "triangles": _text(surface.triangles[np.argsort(paint, kind="stable")], "<u4" if wide else "<u2"),
        "wide": wide,
        "paint": [
            {"count": int(count), **({"rgba": list(colour)} if colour is not None else {})}
            for count, colour in zip(counts, colours, strict=True)
            if count
        ],
    }


def _text(numbers: Array, kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode("ascii")

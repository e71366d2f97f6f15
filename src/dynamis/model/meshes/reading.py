"""Meshes read from files, whatever their format, or why they cannot be."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.files.mesh_limits import check_mesh_file
from dynamis.files.mesh_readers import lacking, load_mesh, metres_per_unit, not_installed
from dynamis.model.meshes.surface import NORMAL_DIRECTIONS, Surface, joined, normal_classes
from dynamis.model.packages import resolve_mesh

Array = npt.NDArray[Any]
T = TypeVar("T")

GREY, BLACK = (102, 102, 102), (0, 0, 0)  # what readers say where a file gives no colour


@dataclass(frozen=True)
class MeshFile:
    """A file as it is now: one that changes is read again."""

    path: Path
    changed: int
    length: int

    @staticmethod
    def at(path: Path) -> MeshFile:
        now = path.stat()
        return MeshFile(path, now.st_mtime_ns, now.st_size)


class _Beside:
    """What a mesh file may refer to: the materials beside it, nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes:
        if not name.lower().endswith(".mtl"):
            raise FileNotFoundError(name)  # pictures are not drawn
        return resolve_mesh(name, self.folder).read_bytes()

    __getitem__ = get


def fault(file: MeshFile) -> str | None:
    """Why a file cannot be drawn."""
    found = _examined(file)
    return found if isinstance(found, str) else None


def bounds_of(file: MeshFile) -> tuple[Array, Array]:
    """The lowest and the highest coordinates of a mesh that can be drawn."""
    found = _examined(file)
    assert not isinstance(found, str)
    return found


def vertices_of(file: MeshFile) -> Array:
    """The vertices (n, 3) of a mesh that can be drawn."""
    found = read(file)
    assert not isinstance(found, str)
    return found.vertices


# each scene of a report, one for every motion, asks about the same files
@functools.lru_cache(maxsize=1024)
def _examined(file: MeshFile) -> tuple[Array, Array] | str:
    found = read(file)
    return found if isinstance(found, str) else (found.vertices.min(axis=0), found.vertices.max(axis=0))


@functools.cache
def read(file: MeshFile) -> Surface | str:
    """The mesh of a file, or why there is none."""
    return _made(file, _surface)


@functools.lru_cache(maxsize=64)
def corners(file: MeshFile) -> Array | str:
    """The corners (n, 3) of all triangles of a file in metres, each once, exactly as they are; or why there are none."""
    return _made(file, _corners)


def _made(file: MeshFile, make: Callable[[Any, str], T]) -> T | str:
    """What is made of the scene in a file, or why nothing can be."""
    try:
        kind = check_mesh_file(file.path)
    except InputError as error:
        return str(error)
    except OSError as error:
        return error.strerror or type(error).__name__  # without the path, which is private
    missing = lacking(kind)
    if missing is not None:
        return missing
    try:
        beside: Any = _Beside(file.path.parent)
        with file.path.open("rb") as stream:
            scene = load_mesh(stream, file_type=kind, force="scene", process=False, resolver=beside)
        return make(scene, kind)
    except ModuleNotFoundError as error:
        return not_installed((error.name or "trimesh").partition(".")[0])
    except OSError as error:
        return error.strerror or type(error).__name__
    except Exception as error:  # readers raise whatever their formats do
        return f"{type(error).__name__}: {str(error)[:120]}"


def _parts(scene: Any, kind: str) -> list[tuple[Array, Array, Any]]:
    """Vertices in metres, triangles and appearance of all parts of a scene."""
    found = []
    for node in sorted(scene.graph.nodes_geometry):  # the same page every time
        X, name = scene.graph[node]
        geometry = scene.geometry[name]
        if not len(getattr(geometry, "faces", ())):
            continue
        X, faces = np.asarray(X, dtype=float), np.asarray(geometry.faces, dtype=np.int64)
        points = metres_per_unit(geometry, kind) * (np.asarray(geometry.vertices, dtype=float) @ X[:3, :3].T + X[:3, 3])
        found.append((points, faces[:, ::-1] if np.linalg.det(X[:3, :3]) < 0 else faces, geometry.visual))
    if not found:
        raise ValueError("there are no triangles in it")
    return found


def _corners(scene: Any, kind: str) -> Array:
    points = np.concatenate([points[np.unique(faces)] for points, faces, _ in _parts(scene, kind)])
    if not np.isfinite(points).all():
        raise ValueError("its vertices are not points in space")
    return np.unique(points, axis=0)


def _surface(scene: Any, kind: str) -> Surface:
    """All parts of a scene as one."""
    vertices, triangles, layers, count = [], [], [], 0
    colours: list[tuple[float, ...] | None] = []
    for own, own_faces, visual in _parts(scene, kind):
        points, faces = joined(own, own_faces)
        vertices.append(points)
        triangles.append(count + faces)
        layers.append(len(NORMAL_DIRECTIONS) * len(colours) + normal_classes(points, faces))
        colours.append(_colour(visual))
        count += len(points)
    return Surface(np.concatenate(vertices), np.concatenate(triangles), np.concatenate(layers), tuple(colours))


def _colour(visual: Any) -> tuple[float, ...] | None:
    """The colour most of a part has, or None where the file gives none."""
    if visual.kind is None:
        return None
    found = visual.material.main_color if visual.kind == "texture" else visual.main_color
    rgba = tuple(int(x) for x in found)
    return None if rgba[:3] in (GREY, BLACK) or len(rgba) != 4 else tuple(round(x / 255, 3) for x in rgba)

"""Where the files are that a robot's file names as meshes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dynamis.errors import InputError, printable
from dynamis.model.packages import resolve_mesh

HOW_FOUND = (
    "Packages are looked for in the folders above the robot's file, where package.xml marks them, and in those that "
    "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH declare, other names in the robot's own folder and beside it."
)
MARKS = ("package.xml", "manifest.xml")  # of a package, today and in the first versions of ROS


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
    near = _packages_above(package, folder.resolve()) if folder is not None and package not in (".", "..") else []
    return near + _declared("ROS_PACKAGE_PATH") + [prefix / "share" for prefix in _declared("AMENT_PREFIX_PATH")]


def _packages_above(package: str, folder: Path) -> list[Path]:
    """Folders of that name above the robot's file, or in one of them: packages, and folders in a package.

    A mere name says nothing: package://tmp/… must not mean /tmp.
    """
    found = []
    for above in (folder, *folder.parents):
        named = [above / package, *([above] if above.name == package else [])]
        found += [p for p in named if p.is_dir() and p.resolve().is_relative_to(above) and _in_package(p)]
    return found


def _in_package(folder: Path) -> bool:
    return any((p / mark).is_file() for p in (folder, *folder.parents) for mark in MARKS)


def _declared(variable: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(variable, "").split(os.pathsep) if p]

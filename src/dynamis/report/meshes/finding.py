"""Where the files are that a robot's file names as meshes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dynamis.errors import InputError, printable
from dynamis.model.packages import resolve_mesh

HOW_FOUND = (
    "Packages are looked for in the folders above the robot's file and in those that ROS_PACKAGE_PATH and AMENT_PREFIX_PATH "
    "declare, other names in the robot's own folder and beside it."
)


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

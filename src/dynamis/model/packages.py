"""File names in a robot file (meshes, included files), resolved to paths that stay inside declared folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from dynamis.errors import InputError, printable

MAX_MESH_BYTES = 256 * 2**20
HOW_FOUND = (
    "Packages are looked for in the folders above the robot's file, where package.xml marks them, and in those that "
    "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH declare, other names in the robot's own folder and beside it."
)
MARKS = ("package.xml", "manifest.xml")  # of a package, today and in the first versions of ROS


def folder_of(file: str) -> Path | None:
    """The folder of a robot's file; robots of the library have a name in its place, those made in Python nothing."""
    return Path(file).resolve().parent if Path(file).is_file() else None


def find_file(name: str, folder: Path | None, kind: str = "mesh") -> Path:
    """The file a name means: packages lie above the robot's file or in the folders the environment declares."""
    name = re.sub(r"^package:/+", "package://", name)  # some files write three
    package = re.match(r"package://([^/\\]+)/", name)
    if package:
        return resolve_mesh(name, folder or Path(), package_folders(package[1], folder), kind)
    if folder is None:
        raise InputError(f"the {kind} {printable(name)} is relative to a file, and this robot comes from none")
    # robots' files often lie in a folder beside that of their meshes; farther than that nothing is followed
    return resolve_mesh(name[3:], folder.parent, (), kind) if name.startswith("../") else resolve_mesh(name, folder, (), kind)


def package_folders(package: str, folder: Path | None) -> list[Path]:
    """Where a package may lie: above the robot's file, where package.xml marks it, and where the environment declares it."""
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


def resolve_mesh(
    name: str, model_folder: str | os.PathLike[str], package_folders: Iterable[str | os.PathLike[str]] = (), kind: str = "mesh"
) -> Path:
    """The existing file the name of a mesh, or of another ``kind`` of file, means.

    ``package://NAME/rest`` is looked up as NAME/rest in each of ``package_folders`` (and as rest in a folder that is
    itself called NAME); a relative name in the model's own folder. Whatever leads out of the package or of that folder, by
    ``..``, by an absolute path, by a link or by another scheme, is refused.
    """
    try:
        return _resolve(name, model_folder, package_folders, kind)
    except (OSError, RuntimeError, UnicodeError) as error:
        raise InputError(f"the {kind} name {printable(name)} cannot be followed: {error.__class__.__name__}") from None


def _resolve(
    name: str, model_folder: str | os.PathLike[str], package_folders: Iterable[str | os.PathLike[str]], kind: str
) -> Path:
    declared = [Path(os.fspath(folder)) for folder in package_folders]
    roots = [folder.resolve() for folder in declared]
    package = re.fullmatch(r"package://([^/\\]+)/(.+)", name)
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name)
    if "\0" in name or "\\" in name or (scheme and not package) or (package and package[1] in (".", "..")):
        raise InputError(f"the {kind} name {printable(name)} is not allowed: use package://NAME/FILE or a relative path")
    if package:
        # a package that is a link out of the folder that holds it is not in that folder
        inside = [(root / package[1]).resolve() for root in roots]
        candidates = [folder for root, folder in zip(roots, inside, strict=True) if folder.is_relative_to(root)]
        candidates += [root for root, given in zip(roots, declared, strict=True) if package[1] in (root.name, given.name)]
        rest = package[2]
    else:
        candidates, rest = [Path(os.fspath(model_folder)).resolve()], name
    for folder in candidates:
        path = (folder / rest).resolve()
        if not path.is_relative_to(folder):
            raise InputError(f"the {kind} name {printable(name)} leads out of {folder}; keep it inside its package")
        if path.is_file():
            if path.stat().st_size > MAX_MESH_BYTES:
                raise InputError(f"the {kind} {printable(name)} is larger than {MAX_MESH_BYTES // 2**20} MiB")
            return path
    if not package:
        raise InputError(f"the {kind} {printable(name)} was not found in the model's folder {candidates[0]}")
    where = ", ".join(str(root) for root in roots) or "no package folder was declared"
    raise InputError(
        f"the {kind} {printable(name)} was not found ({where}); declare the folder that holds its package, as in "
        f"ROS_PACKAGE_PATH=/folder/above/{package[1]}"
    )

"""Mesh file names of a description, resolved to paths that stay inside declared folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from dynamis.errors import InputError, printable

MAX_MESH_BYTES = 256 * 2**20


def resolve_mesh(
    name: str, model_folder: str | os.PathLike[str], package_folders: Iterable[str | os.PathLike[str]] = ()
) -> Path:
    """The existing file a mesh name means.

    ``package://NAME/rest`` is looked up as NAME/rest in each of ``package_folders`` (and as rest in a folder that is
    itself called NAME); a relative name in the model's own folder. Whatever leads out of the package or of that folder, by
    ``..``, by an absolute path, by a link or by another scheme, is refused.
    """
    try:
        return _resolve(name, model_folder, package_folders)
    except (OSError, RuntimeError, UnicodeError) as error:
        raise InputError(f"the mesh name {printable(name)} cannot be followed: {error.__class__.__name__}") from None


def _resolve(name: str, model_folder: str | os.PathLike[str], package_folders: Iterable[str | os.PathLike[str]]) -> Path:
    declared = [Path(os.fspath(folder)) for folder in package_folders]
    roots = [folder.resolve() for folder in declared]
    package = re.fullmatch(r"package://([^/\\]+)/(.+)", name)
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name)
    if "\0" in name or "\\" in name or (scheme and not package) or (package and package[1] in (".", "..")):
        raise InputError(f"the mesh name {printable(name)} is not allowed: use package://NAME/FILE or a relative path")
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
            raise InputError(f"the mesh name {printable(name)} leads out of {folder}; keep meshes inside their package")
        if path.is_file():
            if path.stat().st_size > MAX_MESH_BYTES:
                raise InputError(f"the mesh {printable(name)} is larger than {MAX_MESH_BYTES // 2**20} MiB")
            return path
    if not package:
        raise InputError(f"the mesh {printable(name)} was not found in the model's folder {candidates[0]}")
    where = ", ".join(str(root) for root in roots) or "no package folder was declared"
    raise InputError(f"the mesh {printable(name)} was not found ({where}); declare the folder that holds its package")

"""Output files: checked before the work, and replaced atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import check_place, is_stream, move_into_place, remove_abandoned, write_through


def whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """Let ``write`` make the file in a folder beside its place, under the same name, and move it there once it is complete."""
    check_place(path)
    target = Path(os.path.realpath(path))  # a symbolic link is kept: the file it points at is replaced
    try:
        beside = None if is_stream(path) else target.parent  # the folder of a stream holds no files
        if beside is not None:
            remove_abandoned(beside)
        with tempfile.TemporaryDirectory(dir=beside, prefix=".dynamis-") as folder:
            made = Path(folder) / path.name
            try:
                write(made)
            except InputError as error:  # its message names the temporary file
                raise InputError(str(error).replace(str(made), str(path))) from None
            if beside is None:
                write_through(path, made.read_bytes())
            else:
                move_into_place(made, target)
    except OSError as error:
        raise InputError(f"{printable(str(path), 400)} cannot be written: {error.strerror or error}") from None
    return path


def check_output(path: Path | None, suffixes: tuple[str, ...] = (), inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse a file that could not be written, or that is one of the inputs, before the work."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{printable(path.name)}: the file name must end in {' or '.join(suffixes)}, which selects the format")
    check_place(path)
    if not is_stream(path):
        check_folder(path.parent, path)
    if path.exists() and any(x is not None and Path(x).exists() and path.samefile(x) for x in inputs):
        raise InputError(f"{printable(str(path), 400)} is an input of this command; choose another output file")


def check_folder(folder: Path, path: Path) -> None:
    """Refuse ``path`` where its folder does not exist or is not writable."""
    if not folder.is_dir():
        raise InputError(f"{printable(str(path), 400)} cannot be written: the folder does not exist")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{printable(str(path), 400)} cannot be written: the folder is not writable")


def check_pictures(*paths: Path | None) -> None:
    """The same for plots; a missing plotting library or an unknown file type is reported first."""
    from dynamis.drawing import KINDS, new_figure

    for path in paths:
        if path is None:
            continue
        new_figure(1.0, 1.0)
        if path.suffix.lower().removeprefix(".") not in KINDS:
            raise InputError(f"{printable(path.name)}: the name of a plot must end in .png, .svg, .pdf or .jpg")
        check_output(path)

"""Files written whole or not at all, whatever stops the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dynamis.errors import InputError, printable


def whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """Let ``write`` make the file beside its place, under the same name, and move it there once it is complete."""
    target = Path(os.path.realpath(path))  # a link stays one: what it points at is replaced
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".dynamis-") as folder:
            made = Path(folder) / target.name
            try:
                write(made)
            except InputError as error:  # it speaks of the file it was given
                raise InputError(str(error).replace(str(made), str(path))) from None
            os.replace(made, target)  # noqa: PTH105  # the one call that is atomic everywhere
    except OSError as error:
        raise InputError(f"{printable(str(path), 400)} cannot be written: {error.strerror or error}") from None
    return path


def check_output(path: Path | None, suffixes: tuple[str, ...] = (), inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse a file that could not be written, or that is one of the inputs, before the work and not after it."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{printable(path.name)}: name the file {' or '.join(suffixes)}")
    check_folder(path.parent, path)
    if path.exists() and any(x is not None and Path(x).exists() and path.samefile(x) for x in inputs):
        raise InputError(f"{printable(str(path), 400)} is a file that is read; write to another")


def check_folder(folder: Path, path: Path) -> None:
    """Refuse ``path`` where its folder is not there or takes no files."""
    if not folder.is_dir():
        raise InputError(f"{printable(str(path), 400)} cannot be written: there is no such folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{printable(str(path), 400)} cannot be written: the folder takes no files")


def check_pictures(*paths: Path | None) -> None:
    """The same for pictures; without the library that draws them, or with an ending it does not know, that is said first."""
    from dynamis.drawing import KINDS, new_figure

    for path in paths:
        if path is None:
            continue
        new_figure(1.0, 1.0)
        if path.suffix.lower().removeprefix(".") not in KINDS:
            raise InputError(f"{printable(path.name)}: name the picture .png, .svg, .pdf or .jpg")
        check_output(path)

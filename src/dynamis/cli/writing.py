"""Files written whole or not at all, whatever stops the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
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

"""Files that are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from dynamis.errors import InputError, printable


def write_file(path: Path, data: bytes) -> Path:
    """Write a file, or an error that says why it cannot be; a link stays one, and what it points at is replaced."""
    try:
        write_whole(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error.__class__.__name__
        raise InputError(f"{printable(str(path), 400)} cannot be written: {reason}") from None
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place at once: whole and on the disk, or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Files that are written whole or not at all, whatever happens meanwhile.

A file that is replaced keeps its permissions, a link stays one. What is not a file is never replaced by one: the null device
and the process's own standard output and error take the bytes as they are, other devices, named pipes and sockets are refused.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
import time
from pathlib import Path

from dynamis.errors import InputError, printable

PERMISSION_BITS = 0o777  # kept; set-user-ID and set-group-ID bits are not
ABANDONED_AFTER = 3600.0  # s: an older unfinished file or folder belongs to a process that was killed
UNFINISHED = re.compile(r"\.dynamis-\w+|\..+\.\d+-[0-9a-f]{8}\.tmp", re.DOTALL)


def write_file(path: Path, data: bytes) -> Path:
    """Write a file, or an error that says why it cannot be; a link stays one, and what it points at is replaced."""
    check_place(path)
    try:
        if not write_through(path, data):
            write_whole(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error.__class__.__name__
        raise InputError(f"{printable(str(path), 400)} cannot be written: {reason}") from None
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place at once: whole and on the disk, or not at all."""
    _refuse_other_than_file(path)
    remove_abandoned(path.parent)
    before = _status(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    mode = 0o666 if before is None else before.st_mode & PERMISSION_BITS  # less the bits of the umask
    try:
        # never more readable than the file it replaces, not even while it is written
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        move_into_place(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _flush_folder(path.parent)


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left unfinished in a folder: our own names, our own files, an hour old."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not UNFINISHED.fullmatch(entry.name):
                continue
            found = entry.stat(follow_symlinks=False)
            if time.time() - found.st_mtime < ABANDONED_AFTER or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
                continue
            if stat.S_ISDIR(found.st_mode):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif stat.S_ISREG(found.st_mode):
                Path(entry.path).unlink(missing_ok=True)


def move_into_place(made: Path, path: Path) -> None:
    """Replace a file by a complete one on the same disk, which takes over its group and its permissions."""
    before = _status(path)
    if before is not None:
        if hasattr(os, "chown") and made.stat().st_gid != before.st_gid:
            with contextlib.suppress(OSError):  # only members of the group may
                os.chown(made, -1, before.st_gid)
        made.chmod(before.st_mode & PERMISSION_BITS)
    made.replace(path)


def write_through(path: Path, data: bytes) -> bool:
    """Write to the null device or to the process's own standard output or error; False where ``path`` is none of them."""
    if is_null(path):
        return True
    number = _own_stream(path)
    if number is None:
        return False
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # what was printed before comes before
    with os.fdopen(os.dup(number), "wb") as raw:
        raw.write(data)
    return True


def is_stream(path: Path) -> bool:
    """Whether bytes go through ``path`` rather than stay there: the null device, standard output and error."""
    return is_null(path) or _own_stream(path) is not None


def is_null(path: Path) -> bool:
    there, null = _status(path), _status(Path(os.devnull))
    return there is not None and null is not None and stat.S_ISCHR(there.st_mode) and there.st_rdev == null.st_rdev


def check_place(path: Path) -> None:
    """Refuse devices, named pipes and sockets, apart from streams.

    Opening one may wait for ever, and replacing it takes it from other programs.
    """
    if not is_stream(path):
        _refuse_other_than_file(path)


def _refuse_other_than_file(path: Path) -> None:
    there = _status(path)
    if there is None or stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode):  # the system refuses folders
        return
    raise InputError(
        f"{printable(str(path), 400)} cannot be written: it is {kind_of(there.st_mode)}, not a file; name a regular file or "
        "one that does not exist yet"
    )


def kind_of(mode: int) -> str:
    """What a place in the file system is, in words."""
    kinds = {
        stat.S_IFREG: "a regular file",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "a special node")


def _own_stream(path: Path) -> int | None:
    """1 or 2 where ``path`` is this process's standard output or error, whatever that is connected to."""
    there = _status(path)
    for number in (1, 2):
        with contextlib.suppress(OSError):  # a closed one
            if there is not None and os.path.samestat(there, os.fstat(number)):
                return number
    return None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):  # nothing there, or nothing that could be
        return None


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

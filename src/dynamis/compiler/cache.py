"""Disk cache of machine code: plain object code with a header, without other code executed on loading.

The folder is private to its owner; a file is written beside its place and renamed into it; what does not carry the right
key and digest is treated as absent. ``DYNAMIS_CACHE`` names another folder, ``DYNAMIS_NO_CACHE=1`` switches it off. Beyond
``DYNAMIS_CACHE_LIMIT`` megabytes (1000 by default) the code that was not used for longest is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import stat
import tempfile
import time
from pathlib import Path
from typing import Any

MAGIC = b"dynamis object code 1\n"
LARGEST = 256 * 2**20
LIMIT = 1000  # megabytes
TIDIED_EVERY = 64  # files that a process stores: the folder is listed as a whole
ABANDONED = 24 * 3600.0  # seconds after which a file that was not finished belongs to a process that is gone
MAX_REMEMBERED = 10_000  # functions that were asked for once

_stored = itertools.count()


def folder() -> Path | None:
    """The cache folder, made if need be; None where there is none or it is not private."""
    if os.environ.get("DYNAMIS_NO_CACHE"):
        return None
    named = os.environ.get("DYNAMIS_CACHE")
    try:
        base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dynamis"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = base.lstat()
    except (OSError, RuntimeError):  # the latter from a user without a home
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    return base if _is_ours(found) else None


def _is_ours(found: os.stat_result) -> bool:
    """Whether nobody else could have put code there."""
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """(what was stored beside it, object code) of a key, or None where there is none that is whole."""
    base = folder()
    if base is None:
        return None
    try:
        data = _read(base / f"{key}.o")
        os.utime(base / f"{key}.o", follow_symlinks=False)  # used now, so removed last
    except OSError:
        return None
    return _unpack(key, data)


def is_wanted(key: str) -> bool:
    """Whether there is code for a key, or this was asked before: what is used again is worth compiling."""
    base = folder()
    if base is None:
        return False
    try:
        if not (base / f"{key}.o").is_file():
            os.close(os.open(base / f"{key}.asked", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            if next(_stored) % TIDIED_EVERY == 0:
                _tidy(base)
            return False
    except FileExistsError:
        pass
    except OSError:
        return False
    return True


def _read(path: Path) -> bytes:
    """What a plain file holds; a link is not followed, and a pipe is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_ours(found):
            return b""
        with open(descriptor, "rb", closefd=False) as file:  # it is this descriptor that was checked
            return file.read(LARGEST)
    finally:
        os.close(descriptor)


def _unpack(key: str, data: bytes) -> tuple[dict[str, Any], bytes] | None:
    if not data.startswith(MAGIC):
        return None
    head, _, rest = data[len(MAGIC) :].partition(b"\n")
    note, _, code = rest.partition(b"\n")
    if head != _seal(key, note, code):
        return None
    try:
        return json.loads(note), code
    except ValueError:
        return None


def _seal(key: str, note: bytes, code: bytes) -> bytes:
    digest = hashlib.sha256(b"\0".join([key.encode(), str(len(code)).encode(), note, code]))
    return digest.hexdigest().encode()


def store(key: str, note: dict[str, Any], code: bytes, *, replace: bool = True) -> None:
    """Keep object code, in the place of earlier code only if ``replace``; a full or read-only disk is no error."""
    base = folder()
    if base is None or (not replace and load(key) is not None):
        return
    text = json.dumps(note, separators=(",", ":"), sort_keys=True).encode()
    data = MAGIC + _seal(key, text, code) + b"\n" + text + b"\n" + code
    name = None
    try:
        with tempfile.NamedTemporaryFile(dir=base, prefix=".new-", delete=False) as file:  # made with mode 0600
            name = file.name
            file.write(data)
        os.replace(name, base / f"{key}.o")  # noqa: PTH105  # the one call that is atomic everywhere
        if next(_stored) % TIDIED_EVERY == 0:
            _tidy(base)
    except OSError:
        if name is not None:
            with contextlib.suppress(OSError):
                Path(name).unlink()


def _tidy(base: Path) -> None:
    """Remove what exceeds the limit, the longest unused first, and files that were never finished."""
    given = os.environ.get("DYNAMIS_CACHE_LIMIT", "")
    left = (int(given) if given.isdecimal() else LIMIT) * 10**6
    remembered = MAX_REMEMBERED
    with os.scandir(base) as entries:
        files = [(entry.stat(follow_symlinks=False), entry) for entry in entries if entry.is_file(follow_symlinks=False)]
    for found, entry in sorted(files, key=lambda file: -file[0].st_mtime_ns):
        if entry.name.endswith(".o"):
            left -= found.st_size
            unwanted = left < 0
        elif entry.name.endswith(".asked"):
            remembered -= 1
            unwanted = remembered < 0
        else:
            unwanted = entry.name.startswith(".new-") and time.time() - found.st_mtime > ABANDONED
        if unwanted:
            with contextlib.suppress(OSError):  # another process may have been quicker
                Path(entry.path).unlink()

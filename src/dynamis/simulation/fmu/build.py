"""The shared library of a unit, made by the C compiler of this machine."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from dynamis.errors import InputError, printable

# for straight-line code, which is optimised before it is written, gcc -O1 takes four times as long as -Og and gains 1 %
FLAGS = ("-std=c99", "-Og", "-shared", "-fPIC", "-fvisibility=hidden")


def binary_place(version: int) -> tuple[str, str]:
    """The folder of the binaries of this machine, and the suffix of its libraries."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform, sys.platform)
    suffix = {"darwin": ".dylib", "windows": ".dll"}.get(system, ".so")
    if version == 2:
        return {"windows": "win"}.get(system, system) + ("64" if sys.maxsize > 2**32 else "32"), suffix
    machine = platform.machine().lower()
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    return f"{processor}-{system}", suffix


def shared_library(sources: Mapping[str, bytes], units: Sequence[str], name: str) -> bytes | None:
    """The compiled sources; None, with a warning, where there is no compiler."""
    own = shlex.split(os.environ.get("CC", ""))
    choices = [own] * bool(own) + [["cc"], ["gcc"], ["clang"]]
    compiler = next((words for words in choices if shutil.which(words[0])), None)
    if compiler is None:
        message = f"no C compiler was found: {printable(name)} has C sources only, which the importing tool must compile"
        warnings.warn(f"{message}; install gcc or clang, or set CC", RuntimeWarning, stacklevel=4)
        return None
    with tempfile.TemporaryDirectory(prefix="dynamis-") as folder:
        for file, data in sources.items():
            (Path(folder) / file).write_bytes(data)
        made = f"library{binary_place(3)[1]}"
        command = [*compiler, *FLAGS, *units, "-o", made, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - the user's compiler
        if done.returncode:
            reason = f"{printable(compiler[0])} failed: {printable(done.stderr.strip(), 400)}"
            raise InputError(f"{reason}; use binary=False for sources only")
        return (Path(folder) / made).read_bytes()

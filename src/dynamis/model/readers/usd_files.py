"""USD files, opened by OpenUSD in a process of its own, as prims with plain values."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import MissingExtraError, printable
from dynamis.model.diagnostics import format_error
from dynamis.model.packages import MAX_MESH_BYTES
from dynamis.model.readers import usd_stage
from dynamis.model.readers.xml_tree import MAX_BYTES

Array = npt.NDArray[Any]
MEMORY = 4 * 2**30  # bytes of the process
SECONDS = 20  # of processor time; three times as long by the clock
EXPORT = "export the robot again, or repair the file: usdchecker FILE"


class PrimPath(int):
    """The place of a prim in a stage: sorted as it is traversed, printed as its path."""

    path: str

    def __new__(cls, number: int, path: str) -> PrimPath:
        made = super().__new__(cls, number)
        made.path = path
        return made

    def __str__(self) -> str:
        return self.path

    def __reduce__(self) -> tuple[type[PrimPath], tuple[int, str]]:
        return PrimPath, (int(self), self.path)


@dataclass(eq=False)
class Prim:
    """What is authored on a prim. ``matrix`` takes row vectors of its frame to the world; ``targets`` are relationships."""

    path: str
    type: str
    apis: list[str]
    attributes: dict[str, Any]
    targets: dict[str, list[str]]
    animated: list[str]
    matrix: Array
    shape: bool
    purpose: str
    line: PrimPath

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def has(self, api: str) -> bool:
        return api in self.apis


@dataclass
class Stage:
    meters: float
    kilograms: float
    up: str
    default: str
    prims: dict[str, Prim] = field(default_factory=dict)


def open_stage(path: Path | None, data: bytes, name: str) -> Stage:
    """The stage of the file at a path, or of the content of a file that lies nowhere; ``name`` is what messages call it."""
    if path is None and len(data) > MAX_BYTES:
        raise format_error(
            name, None, f"it has more than {MAX_BYTES} bytes", f"at most {MAX_BYTES}", "give the path of its file"
        )
    if importlib.util.find_spec("pxr") is None:
        raise MissingExtraError("OpenUSD reads USD files and is not installed: pip install 'dynamis[usd]'")
    declared = [Path(p) for p in os.environ.get("PXR_AR_DEFAULT_SEARCH_PATH", "").split(os.pathsep) if p]
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "robot.usd"
            path.write_bytes(data)
        folders = [str(x.resolve()) for x in (path.absolute().parent, *declared, path)]
        found = in_own_process(str(path.absolute()), folders, MAX_MESH_BYTES)
    if "failed" in found:
        raise format_error(name, None, _short(found["failed"]), "a USD file of a robot", EXPORT)
    if "refused" in found:
        what, allowed, repair, *prim = found["refused"]
        what = what.replace(folders[-1], "it")  # the message begins with its name
        where = f"prim {printable(prim[0], 300)[1:-1]}" if prim else "file"
        raise format_error(name, None, printable(what, 500)[1:-1], allowed, repair, where)
    prims = {}
    for number, values in enumerate(found["prims"], 1):
        line = PrimPath(number, printable(values["path"], 300)[1:-1])
        prims[values["path"]] = Prim(**{**values, "matrix": np.array(values["matrix"], float)}, line=line)
    return Stage(float(found["meters"]), float(found["kilograms"]), found["up"], found["default"], prims)


def in_own_process(file: str, folders: list[str], size: int) -> dict[str, Any]:
    """`usd_stage.content` by a process whose memory and time are limited."""
    search = os.pathsep.join(p for p in sys.path if p)
    with tempfile.TemporaryDirectory() as folder:
        # reports on crashes go to TMPDIR
        environment = {**os.environ, "PYTHONPATH": search, "PXR_WORK_THREAD_LIMIT": "1", "TMPDIR": folder}
        out = Path(folder) / "stage.json"
        # -P: the folder of the script has modules with names of the standard library
        command = [sys.executable, "-P", usd_stage.__file__, file, out, json.dumps(folders), size, MEMORY, SECONDS]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603
                list(map(str, command)), env=environment, capture_output=True, timeout=3.0 * SECONDS, check=False
            )
        if out.is_file():
            found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
            return found
    return {"failed": f"ended on it; it has {MEMORY // 2**30} GiB of memory and {SECONDS} s"}


def _short(text: str) -> str:
    """What OpenUSD says of a file, without the places in its own source."""
    lines = [re.sub(r"^\s*Error in '[^']*' at line \d+ in file \S+ : ", "", line) for line in text.splitlines()]
    told = [line for line in lines if line.strip(" '\"") and "raised" not in line and "Failed to open layer" not in line]
    return f"OpenUSD: {printable(' '.join(' '.join(told).split()), 400)[1:-1]}" if told else "it is not a USD file"

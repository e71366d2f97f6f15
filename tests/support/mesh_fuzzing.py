"""Mesh files of every format, made from a seed and damaged in their bytes or in the numbers they state."""

from __future__ import annotations

import functools
import random
import re
import traceback
from pathlib import Path

import trimesh
from bag_fuzzing import damaged
from file_fuzzing import unsafe

from dynamis.files.mesh_limits import FORMATS
from dynamis.model.meshes.reading import MeshFile, read

NUMBERS = [b"0", b"-1", b"1e999", b"nan", b"4294967295", b"99999999999999999999", b"[]", b'"a"', b"null", b"", b"1e300"]


@functools.cache
def sound(kind):
    """A mesh that can be read."""
    data = trimesh.creation.icosphere(subdivisions=1).export(file_type=kind)
    return data if isinstance(data, bytes) else data.encode()


def make(seed, folder):
    """One file; the same seed gives the same file."""
    r = random.Random(f"mesh {seed}")
    kind = r.choice(FORMATS)
    data = sound(kind)
    for _ in range(r.choice((0, 1, 1, 2, 5))):
        found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:4000]))
        if found:
            old = r.choice(found)
            data = data[: old.start()] + r.choice(NUMBERS) + data[old.end() :]
    if r.random() < 0.5:
        data = damaged(data, r)
    path = Path(folder) / f"mesh{seed}.{kind}"
    path.write_bytes(data)
    return path


def check(seeds, folder):
    """What went wrong, as (seed, sentence), and how many meshes could be drawn."""
    wrong, drawn = [], 0
    for seed in seeds:
        path = make(seed, folder)
        try:
            found = read(MeshFile.at(path))
            if isinstance(found, str) and unsafe(found):
                wrong.append((seed, f"not safe to print: {found!r:.300}"))
            drawn += not isinstance(found, str)
        except Exception:
            wrong.append((seed, traceback.format_exc(limit=-4)))
        path.unlink()
    return wrong, drawn

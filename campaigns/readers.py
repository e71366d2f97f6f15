"""The readers under test: each takes seeds, makes an input from every one of them, and reads it.

A reader is a function (seeds, folder) -> (complaints, accepted): what was not met as it should be, as (seed, sentence), and how
many inputs were accepted. Anything but an error of Dynamis is a complaint.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import answer_fuzzing
import file_fuzzing
import format_fuzzing
import fuzzing
import mesh_fuzzing
import study_fuzzing

Complaints = list[tuple[int, str]]
Reader = Callable[[Iterable[int], str], tuple[Complaints, int]]


def _robot_files(seeds: Iterable[int], _: str) -> tuple[Complaints, int]:
    found, loaded, _forms = fuzzing.search(seeds)
    return [(seed, wrong) for seed, wrong, _, _ in found.values()], loaded


READERS: dict[str, Reader] = {
    "robots": _robot_files,
    **{kind.replace(" ", "-"): functools.partial(file_fuzzing.check, kind) for kind in file_fuzzing.KINDS},
    **{kind: functools.partial(format_fuzzing.check, kind) for kind in format_fuzzing.TEXTS},
    "answers": answer_fuzzing.check,
    "meshes": mesh_fuzzing.check,
    "studies": study_fuzzing.check,
}

"""What is no path is refused by every function that takes one."""

from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.files.paths import path_of

ARM = dy.load("planar_2r_melchiorri")
MOTION = dy.simulate(ARM, 0.01, points=2)
WRITERS = {
    "motion": MOTION.save,
    "read motion": lambda path: dy.Trajectory.load(path, ARM),
    "unit": lambda path: dy.write_fmu(ARM, path),
    "controller": lambda path: dy.control.write_c(ARM, lambda _t, q, _v: -q, path),
    "function": lambda path: ARM.write_c("gravity", path),
    "robot": ARM.write,
}


@pytest.mark.parametrize("path", [3, None, b"file.npz", ["a"], np.zeros(2)])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_path_is_refused(writer, path):
    with pytest.raises(InputError, match=f"got {type(path).__name__}"):
        WRITERS[writer](path)


def test_paths_are_text_or_path_objects():
    assert path_of("a/b.npz") == path_of(Path("a/b.npz")) == Path("a/b.npz")

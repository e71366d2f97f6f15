"""Damaged and odd files of every kind: readers answer with errors of Dynamis, in words that are safe to print, and never crash."""

import os
import subprocess
import sys
from pathlib import Path

import file_fuzzing
import pytest
from file_fuzzing import KINDS, NEEDED, check
from processes import clean_environment

QUICK = 40  # files of each kind
AT_ONCE = 2000  # files for one process


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_in_errors_of_dynamis(kind, tmp_path):
    pytest.importorskip(NEEDED.get(kind, "numpy"))
    wrong, whole = check(kind, range(QUICK), tmp_path)
    assert not wrong, wrong[0]
    assert 0 < whole < QUICK  # otherwise the files are all sound, or all of no use


@pytest.mark.campaign
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", KINDS)
def test_many_damaged_files_end_in_errors_and_none_ends_the_process(kind, tmp_path):
    """As many files of each kind as the environment variable DYNAMIS_FUZZ says."""
    pytest.importorskip(NEEDED.get(kind, "numpy"))
    count = int(os.environ.get("DYNAMIS_FUZZ", "10000"))
    for first in range(QUICK, QUICK + count, AT_ONCE):
        size = min(AT_ONCE, QUICK + count - first)
        arguments = [sys.executable, str(Path(file_fuzzing.__file__)), kind, str(first), str(size), str(tmp_path)]
        run = subprocess.run(arguments, capture_output=True, text=True, check=False, env=clean_environment())
        assert run.returncode == 0, f"exit {run.returncode}: {run.stdout[-3000:]}{run.stderr[-1000:]}"

"""Damaged and odd files of every kind: readers answer with errors of Dynamis, in words that are safe to print, and never crash."""

import pytest
from file_fuzzing import KINDS, NEEDED, check

QUICK = 40  # files of each kind; `python -m campaigns` reads as many as asked for


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_in_errors_of_dynamis(kind, tmp_path):
    pytest.importorskip(NEEDED.get(kind, "numpy"))
    wrong, whole = check(kind, range(QUICK), tmp_path)
    assert not wrong, wrong[0]
    assert 0 < whole < QUICK  # otherwise the files are all sound, or all of no use

"""Robot files made and broken at random: see `fuzzing`."""

from __future__ import annotations

import os

import pytest
from fuzzing import FORMS, search

FILES = 150


def shown(found):
    return "\n\n".join(f"seed {seed}: {wrong}\n{text}" for seed, wrong, _, text in found.values())


def test_random_robot_files_load_or_are_refused_in_our_words_and_every_written_form_reads_back_the_same():
    found, loaded, forms = search(range(FILES))
    assert not found, shown(found)
    assert loaded > FILES // 4  # not all of them absurd
    assert forms > 2 * loaded
    assert len(FORMS) == 6


@pytest.mark.campaign
@pytest.mark.timeout(0)
def test_a_long_run_of_random_robot_files_finds_nothing():
    """``DYNAMIS_FUZZ_FILES`` is the number of files, ``DYNAMIS_FUZZ_SEED`` that of the first."""
    first, count = (
        int(os.environ.get(f"DYNAMIS_FUZZ_{name}", value)) for name, value in (("SEED", "1000"), ("FILES", "20000"))
    )
    found, loaded, _ = search(range(first, first + count))
    assert not found, shown(found)
    assert loaded > count // 4

"""Robot files made and broken at random: see `fuzzing`; `python -m campaigns robots` runs as many as asked for."""

from __future__ import annotations

from fuzzing import search
from written_models import FORMS

FILES = 150


def shown(found):
    return "\n\n".join(f"seed {seed}: {wrong}\n{text}" for seed, wrong, _, text in found.values())


def test_random_robot_files_load_or_are_refused_in_our_words_and_every_written_form_reads_back_the_same():
    found, loaded, forms = search(range(FILES))
    assert not found, shown(found)
    assert loaded > FILES // 4  # not all of them absurd
    assert forms > 2 * loaded
    assert len(FORMS) == 6

"""Studies with odd values are read or refused in our words; `python -m campaigns studies` reads as many as asked for."""

from study_fuzzing import STUDY, check

from dynamis.sweeps.study_file import study_from_text

STUDIES = 200
FOUND = [458]  # seeds of studies that once failed: a duration of 1e-320 s


def test_odd_studies_are_read_or_refused():
    assert study_from_text(STUDY).cases > 1
    wrong, accepted = check([*range(STUDIES), *FOUND])
    assert not wrong, wrong[0]
    assert STUDIES // 20 < accepted < STUDIES

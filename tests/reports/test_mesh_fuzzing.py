"""Damaged mesh files are drawn or refused with a reason; `python -m campaigns meshes` reads as many as asked for."""

from mesh_fuzzing import check

FILES = 300


def test_damaged_meshes_are_drawn_or_refused_with_a_reason(tmp_path):
    wrong, drawn = check(range(FILES), str(tmp_path))
    assert not wrong, wrong[0]
    assert FILES // 10 < drawn < FILES

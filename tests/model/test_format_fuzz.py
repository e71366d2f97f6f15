"""Broken xacro, SDF and MJCF files: see `format_fuzzing`; `python -m campaigns xacro sdf mjcf` runs as many as asked for."""

from __future__ import annotations

import format_fuzzing
import pytest


@pytest.mark.parametrize("kind", format_fuzzing.TEXTS)
def test_broken_files_load_or_are_refused_in_our_words(kind, tmp_path, monkeypatch):
    if kind == "mjcf":
        pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    monkeypatch.chdir(tmp_path)
    complaints, accepted = format_fuzzing.check(kind, range(150), tmp_path)
    assert not complaints
    assert accepted > 20  # not all of them absurd


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["xacro", "sdf", "mjcf"])
def test_many_broken_files(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not format_fuzzing.check(kind, range(1000, 21_000), tmp_path)[0]

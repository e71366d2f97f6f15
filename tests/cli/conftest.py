"""Command-line tests that look for sentences need them on one line; those of narrow terminals set their own width."""

import pytest


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

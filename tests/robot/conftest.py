"""These tests compare machine code with the algorithms: nothing is interpreted."""

import pytest

from dynamis.compiler import kernel


@pytest.fixture(autouse=True)
def compiled_at_the_first_call(monkeypatch):
    monkeypatch.setattr(kernel, "INTERPRETED_STATES", 0)

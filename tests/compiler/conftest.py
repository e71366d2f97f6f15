"""What all tests of the compiler need: machine code from the first call on, and a cache whose files can be counted."""

import pytest

from dynamis.compiler import direct, kernel


@pytest.fixture(scope="session", autouse=True)
def direct_calls():
    """The code that all kernels are called by is loaded before files are counted."""
    return direct.available()


@pytest.fixture(autouse=True)
def compiled_at_the_first_call(monkeypatch):
    monkeypatch.setattr(kernel, "INTERPRETED_STATES", 0)

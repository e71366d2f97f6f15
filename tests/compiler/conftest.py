"""Tests of the cache count its files: the code that all kernels are called by is loaded before."""

import pytest

from dynamis.compiler import direct


@pytest.fixture(scope="session", autouse=True)
def direct_calls():
    return direct.available()

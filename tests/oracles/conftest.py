"""Real robots that other packages ship, as the common ground with the oracles."""

import importlib.util
from pathlib import Path

import pytest


def robots_folder():
    found = importlib.util.find_spec("cmeel")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations))).parent / "cmeel.prefix/share/example-robot-data/robots"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def folder():
    found = robots_folder()
    if found is None:
        pytest.skip("example-robot-data is not installed: pip install 'dynamis[oracles]'")
    return found

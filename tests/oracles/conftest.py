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


@pytest.fixture
def folder(request):
    found = robots_folder()
    if found is None:
        pytest.skip("example-robot-data is not installed: pip install 'dynamis[oracles]'")
    path = getattr(request.node, "callspec", None) and request.node.callspec.params.get("path")
    if path and not (found / path).is_file():
        # robots come and go between its versions; test_real_robots.py holds that most are there
        pytest.skip(f"this version of example-robot-data does not ship {path}")
    return found

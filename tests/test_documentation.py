"""Every Python block of the README and the documentation runs, in an empty folder, one after another in a file."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", BLOCKS, ids=lambda p: p.name)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S):
        exec(compile(block, str(page), "exec"), names)


def test_the_example_robot_file_loads_and_is_plausible(tmp_path):
    import dynamis as dy

    text = (ROOT / "docs" / "robot-files.md").read_text(encoding="utf-8")
    path = tmp_path / "arm.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", text, flags=re.S)[1], encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dy.load(path, parameters={"m": 2.0}).n == 2
        assert dy.load(path).model.symbolic

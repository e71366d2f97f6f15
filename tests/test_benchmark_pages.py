"""The tables of docs/benchmarks.md are those of benchmarks/results.json."""

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module("benchmarks.pages")
    yield module
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_tables_of_the_page_are_the_results(pages):
    sections = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["sections"]
    text = pages.PAGE.read_text(encoding="utf-8")
    assert {found[2] for found in pages.MARKED.finditer(text)} == set(pages.TABLES)
    assert pages.updated(text, sections) == text


def test_a_new_result_changes_the_page(pages):
    sections = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["sections"]
    sections["throughput"]["rows"][0]["ours_ns"]["method, out"] = 123.0
    assert "| 123 |" in pages.updated(pages.PAGE.read_text(encoding="utf-8"), sections)

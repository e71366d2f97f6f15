"""dynamis report: a page, Markdown, data, sentences instead of tracebacks."""

import json

import pytest
from click.testing import CliRunner

from dynamis.cli.report import report


def run(*arguments):
    result = CliRunner().invoke(report, [str(x) for x in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_page_is_written(tmp_path):
    out = tmp_path / "arm.html"
    result = run("planar_2r_melchiorri", "--out", out, "--sections", "robot,equations")
    assert result.exit_code == 0, result.output
    assert f"wrote {out}" in result.output
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_markdown_with_numbers_for_symbols_as_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("planar_2r", "--set", "m_1=5", "--markdown", "--sections", "robot", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["path"] == "planar-2r-report.md"
    assert told["sections"]["robot"]["missing"] is None
    assert r"| m\_1 | 5 | given |" in (tmp_path / told["path"]).read_text(encoding="utf-8")


def test_missing_sections_are_told_and_counted(tmp_path, monkeypatch):
    from dynamis.reports.sections import maps

    monkeypatch.setattr(maps, "plain_coordinates", lambda *_: 1 / 0)
    result = run("planar_2r_melchiorri", "--out", tmp_path / "arm.html", "--sections", "robot maps")
    assert result.exit_code == 1
    assert "maps is missing: ZeroDivisionError" in result.output
    assert (tmp_path / "arm.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such_robot"], "no_such_robot"),
        (["ur5e", "--sections", "robots"], "robot"),
        (["ur5e", "--without", ","], "--without takes names"),
        (["ur5e", "--pdf", "--markdown"], "choose one"),
        (["ur5e", "--set", "m=1"], "no symbols"),
        (["planar_2r", "--set", "m=heavy"], "NAME=VALUE"),
        (["ur5e", "--seconds", "-1"], "seconds must be"),
        (["planar_2r_melchiorri", "--sections", "parameters", "--out", "/no/such/folder/arm.html"], "cannot be written"),
        (["planar_2r_melchiorri", "--sections", "parameters", "--out", "arm.docx"], ".html, .md or .pdf"),
    ],
)
def test_mistakes_end_with_a_sentence(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_a_pdf_needs_a_browser_before_anything_is_computed(monkeypatch):
    monkeypatch.setenv("DYNAMIS_BROWSER", "/no/such/browser")
    result = run("ur5e", "--pdf")
    assert result.exit_code == 2
    assert "DYNAMIS_BROWSER" in result.output


def test_help_has_examples():
    assert "dynamis report ur5e" in run("--help").output

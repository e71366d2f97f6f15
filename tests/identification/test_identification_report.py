"""The report: everything is said, nothing is fetched, nothing from a file becomes markup."""

import dataclasses
import html.parser
import re

import numpy as np
import pytest
from judged_fits import simulated

import dynamis as dy
from dynamis.identification.estimators.least_squares import LeastSquares, WeightedLeastSquares
from dynamis.identification.validation.contents import contents_of
from dynamis.identification.validation.essential import essential_parameters
from dynamis.identification.validation.held_out import cross_validate
from dynamis.identification.validation.report import render, write_report
from dynamis.identification.validation.report_contents import ReportContents, ReportFigure, Section, Table
from dynamis.identification.validation.sections import number
from dynamis.identification.validation.verdict import Verdict, VerdictItem

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'dynamis[plots]'")
HOSTILE = "<script>alert(1)</script>$\\frac{$&\"'\x07"
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    """Collects elements and complains of what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.ids, self.links = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        self.links += [value for key, value in attrs if key in {"href", "xlink:href", "src", "srcset", "data", "action"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page():
    case = simulated(seconds=10.0, seed=3, memory=0.5)
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    other = cross_validate(LeastSquares(), case.rows, k=3)
    wrong = case.base.model.prior.copy()
    wrong[case.base.model.index("link3.m")] = -1.0
    contents = contents_of(
        case.base, case.rows, case.fit(), validation=v, samples=[case.samples], parameters=wrong,
        comparison={"weighted": v, "ordinary": other}, notes=["log.csv: 3 rows dropped"], command="dynamis identify robot log.csv",
        essential=essential_parameters(case.rows.X, case.rows.y, case.rows.names, joint=case.rows.joint),
    )  # fmt: skip
    return case, contents, render(contents)


def test_everything_is_said(page):
    case, contents, text = page
    for title in ("Data used", "Model", "Validation", "Residuals", "Estimates", "Essential parameters",
                  "Physical consistency of the links", "Unidentifiable parameters", "How to reproduce", "Glossary"):  # fmt: skip
        assert f">{title}</" in text
    assert text.index('id="verdict"') < text.index(">Data used</h2>")
    for name in (*case.base.names, *case.base.unidentifiable, *case.rows.joints):
        assert name in text
    assert "log.csv: 3 rows dropped" in text
    assert "dynamis identify robot log.csv" in text
    assert f"dynamis {dy.__version__}" in text
    assert "mass is -1 kg" in text
    assert "simulated" in text
    assert "Mean torque as prediction</th>" in text
    assert contents.verdict.grade == "doubtful"
    assert "Verdict: Doubtful" in text
    assert text.count("<svg") == 6


def test_the_page_is_whole_accessible_and_asks_nobody_for_anything(page):
    parsed = Page(page[2])
    assert len(parsed.ids) == len(set(parsed.ids))
    for link in parsed.links:
        assert link.startswith("#"), link
        assert link[1:] in parsed.ids
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", page[2])
    assert not any(tag in {"script", "link", "iframe", "object"} for tag, _ in parsed.seen)
    for tag, attributes in parsed.seen:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert len(attributes["aria-label"]) > 20
        if tag == "th":
            assert attributes["scope"] in {"row", "col"}
    assert ("html", {"lang": "en"}) in parsed.seen
    assert sum(tag == "caption" for tag, _ in parsed.seen) == sum(tag == "table" for tag, _ in parsed.seen)
    for rule in ("prefers-color-scheme: dark", "@media print", ":focus-visible"):
        assert rule in page[2]


def test_colours_of_pictures_follow_the_theme(page):
    pictures = "".join(re.findall(r"<svg.*?</svg>", page[2], re.DOTALL))
    assert "var(--motion)" in pictures
    assert "#2b5c8a" not in pictures
    assert "#ffffff" not in pictures


def test_hostile_names_stay_text(tmp_path):
    case = simulated("planar_2r_melchiorri", seconds=6.0)
    rows = dataclasses.replace(
        case.rows,
        joints=(f"a{HOSTILE}", "_b https://evil.example/x"),
        names=tuple(f"{HOSTILE}{name}" for name in case.rows.names),
    )
    case.rows = rows
    v = cross_validate(WeightedLeastSquares(), rows, k=3, prior=case.prior)
    contents = contents_of(case.base, rows, case.fit(), validation=v, notes=[HOSTILE], command=HOSTILE, title=HOSTILE)
    text = write_report(contents, tmp_path / "report.html").read_text(encoding="utf-8")
    parsed = Page(text)
    assert not any(tag == "script" for tag, _ in parsed.seen)
    assert "<script" not in text
    assert "\x07" not in text
    assert "&lt;script&gt;" in text
    assert all(link.startswith("#") for link in parsed.links)


def test_contents_can_be_made_by_hand_and_flags_are_marks(tmp_path):
    contents = ReportContents(
        "Title", "below", Verdict((VerdictItem("a", 1, "One doubt."),)), [("Label", "7")], ["noted"],
        [Section("Part", ["Said."], [Table("T", ("Name", "x", "Flags"), [("a", "−1.5", "odd; weak"), ("b", "2e-05", "")], "below")],
                 [ReportFigure("F", "seen", "<svg></svg>")], code="x < y")],
        [("Word", "meaning")],
    )  # fmt: skip
    text = render(contents)
    Page(text)
    assert '<span class="flag">odd</span> <span class="flag">weak</span>' in text
    assert '<td class="number">−1.5</td>' in text
    assert "x &lt; y" in text
    assert "Verdict: Usable" in text
    with pytest.raises(dy.InputError, match="cannot be written"):
        write_report(contents, tmp_path / "nowhere" / "report.html")


def test_without_pictures_everything_else_is_there():
    case = simulated("planar_2r_melchiorri", seconds=4.0)
    text = render(contents_of(case.base, case.rows, case.fit(), draw=False))
    assert "<svg" not in text
    assert ">Estimates</h2>" in text
    assert ">Validation</h2>" not in text


def test_numbers_are_short_and_have_true_signs():
    assert [number(x) for x in (1234567.0, -0.5, np.nan, -np.inf)] == ["1.235e+06", "−0.5", "–", "−∞"]

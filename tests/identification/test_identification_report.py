"""The report: everything is said, nothing is fetched, nothing from a file becomes markup."""

import dataclasses
import html.parser
import re

import numpy as np
import pytest
from judged_fits import simulated

import dynamis as dy
from dynamis.documents import latex, markdown, page
from dynamis.documents.blocks import Code, Findings, Picture, Section, Table, Text, without_mathematics
from dynamis.documents.report import Report
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.full_parameters import inconsistent_links, link_consistency
from dynamis.identification.identification import Identification
from dynamis.identification.validation.held_out import cross_validate
from dynamis.identification.validation.report import number, report_of
from dynamis.identification.validation.statistics import judge_fit
from dynamis.identification.validation.verdict import verdict

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'dynamis[plots]'")
HOSTILE = "<script>alert(1)</script>$\\frac{$&\"'\x07"
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    """Collects elements and their texts, and complains of what is not closed."""

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


def unscripted(text):
    """The page without its own scripts and styles, which come from files of the package."""
    return re.sub(r"<(script|style)[ >].*?</\1>", "", text, flags=re.S)


def result_of(case, v, *, rows=None, parameters=None, **options):
    """An identification by weighted least squares with this validation, and with these full parameters."""
    rows, fit = case.rows if rows is None else rows, case.fit()
    options = {"comparison": {"weighted": v}, "name": "weighted", **options}
    found = Identification(case.base, fit, rows, (case.samples,), judge_fit(rows, fit), **options)
    if parameters is not None:
        found.__dict__["full"] = parameters
        found.__dict__["verdict"] = verdict(
            found.statistics, v, equations=rows, inconsistent=inconsistent_links(link_consistency(case.base.model, parameters))
        )
    return found


@pytest.fixture(scope="module")
def written():
    case = simulated(seconds=10.0, seed=3, memory=0.5)
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    other = cross_validate(LeastSquares(), case.rows, k=3)
    wrong = case.base.model.prior.copy()
    wrong[case.base.model.index("link3.m")] = -1.0
    notes, comparison = ("log.csv: 3 rows dropped",), {"weighted": v, "ordinary": other}
    made = report_of(
        result_of(case, v, parameters=wrong, comparison=comparison, notes=notes), command="dynamis identify robot log.csv"
    )
    return case, made, made.html()


def test_everything_is_said(written):
    case, made, text = written
    for title in ("Data used", "Model", "Validation", "Residuals", "Estimates", "Essential parameters",
                  "Physical consistency of the links", "Unidentifiable parameters", "How to reproduce", "Glossary"):  # fmt: skip
        assert f">{title}</h2>" in text
    assert [section.key for section in made.sections][:4] == ["verdict", "findings", "data", "model"]
    # the first screen: one sentence with one number, and the measured and predicted torques
    assert "is doubtful: its prediction of the torques of motion that was not fitted leaves" in made.sections[0].lead
    assert made.sections[0].blocks[0].title == "Measured and predicted torque"
    for name in (*case.base.names, *case.base.unidentifiable, *case.rows.joints):
        assert name in text
    assert "log.csv: 3 rows dropped" in text
    assert "dynamis identify robot log.csv" in text
    assert f"dynamis {dy.__version__}" in text
    assert "Estimator: WeightedLeastSquares, default settings." in text
    assert "&lt;BaseParameters" not in text
    # the residual of the fit to all rows and the mean over the folds are different numbers with different names
    all_rows = number(case.judged().percent, 3)
    assert f"final fit to all rows is {all_rows} %" in text
    assert f"The residual of the fit to all rows is {all_rows} % of the torque" in text
    assert "Residual, fit to all rows" in text
    assert "mass is -1 kg" in text
    assert "simulated" in text
    assert "Mean torque as prediction</th>" in text
    assert made.sections[0].title == "Verdict: Doubtful"
    assert '<ul class="findings bad">' in text
    assert '<span class="flag">coloured</span>' in text
    assert text.count("<svg") == 6
    said = made.markdown()
    for words in (*case.rows.joints, "- **good:**", "log.csv: 3 rows dropped", "dynamis identify robot log.csv", "Excitation"):
        assert markdown.prose(words) in said or words in said


def test_a_separate_validation_log_is_drawn():
    case = simulated("planar_2r_melchiorri", seconds=10.0)
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    half = case.rows.select(case.rows.t > 5.0)
    first, later = case.rows.select(case.rows.t <= 5.0), dataclasses.replace(v, predicted=v.predicted[case.rows.t > 5.0])
    made = report_of(result_of(case, later, rows=first, validated_rows=half))
    assert made.sections[0].blocks[0].title == "Measured and predicted torque, validation log"


def test_the_page_is_whole_accessible_and_asks_nobody_for_anything(written):
    text = written[2]
    parsed = Page(text)
    assert len(parsed.ids) == len(set(parsed.ids))
    for link in parsed.links:
        assert link.startswith("#"), link
        assert link[1:] in parsed.ids
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", unscripted(text))
    assert "default-src 'none'" in text
    assert not any(tag in {"link", "iframe", "object"} for tag, _ in parsed.seen)
    for tag, attributes in parsed.seen:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert len(attributes["aria-label"]) > 20
        if tag == "th":
            assert attributes["scope"] in {"row", "col"}
        if tag == "table":
            assert attributes["aria-label"]
    assert ("html", {"lang": "en"}) in parsed.seen
    for rule in ("prefers-color-scheme: dark", "@media print", ":focus-visible"):
        assert rule in text


def test_colours_of_pictures_follow_the_theme(written):
    drawn = "".join(re.findall(r"<svg.*?</svg>", written[2], re.DOTALL))
    assert "var(--accent)" in drawn
    assert "var(--series-3)" in drawn
    assert not re.search(r"#[0-9a-f]{6}\b", drawn)


def test_hostile_names_stay_text(tmp_path):
    case = simulated("planar_2r_melchiorri", seconds=6.0)
    rows = dataclasses.replace(
        case.rows,
        joints=(f"a{HOSTILE}", "_b https://evil.example/x"),
        names=tuple(f"{HOSTILE}{name}" for name in case.rows.names),
    )
    case.rows = rows
    v = cross_validate(WeightedLeastSquares(), rows, k=3, prior=case.prior)
    found = result_of(case, v, notes=(HOSTILE,), comparison={HOSTILE: v}, name=HOSTILE)
    made = report_of(found, command=HOSTILE)
    text = made.write(tmp_path / "report.html").read_text(encoding="utf-8")
    parsed = Page(text)
    own = [attributes.get("type") for tag, attributes in parsed.seen if tag == "script"]
    assert own == ["importmap", "module"]
    assert "<script" not in unscripted(text)
    assert 'class="math' not in unscripted(text)
    assert "\x07" not in text
    assert "&lt;script&gt;" in text
    assert all(link.startswith("#") for link in parsed.links)
    said = made.write(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "<script" not in re.sub(r"^```$.*?^```$", "", said, flags=re.S | re.M)
    assert "$\\frac{$" not in re.sub(r"^```$.*?^```$", "", said, flags=re.S | re.M)
    with pytest.raises(dy.InputError, match="cannot be written"):
        made.write(tmp_path / "nowhere" / "report.html")


def test_findings_code_flags_and_pictures_are_written_in_every_format():
    table = Table("T", ("Name", "x", "Flags"), [("a", "−1.5", "odd; <b>"), ("b", "2 × 10⁻⁵", "")], "below")
    blocks = [Findings([("ok", "good", "Fine."), ("doubt", "warn", HOSTILE)]), Code(f"x < y\n{HOSTILE}"), table]
    section = without_mathematics(Section("Part", "part", blocks=[*blocks, Picture("F", f"seen {HOSTILE}", "<svg></svg>")]))
    text = Report("Title", "below", [section], "end").html()
    Page(text)
    assert '<ul class="findings warn">' in text
    assert '<span class="flag">odd</span> <span class="flag">&lt;b&gt;</span>' in text
    assert '<td class="number">−1.5</td>' in text
    assert "x &lt; y" in text
    assert "<svg></svg>" in text
    whole = Text("Title", "", [section])
    article, said, tex = (module.render(whole) for module in (page, markdown, latex))
    for made in (text, article):
        assert "alert(1)&lt;/script&gt;$\\frac" in made
        assert "<script>alert" not in made
    assert "- **doubt:** &lt;script&gt;" in said
    assert "```\nx < y\n" in said
    assert "*F.* seen" in said
    assert r"\item[doubt] <script>alert(1)</script>\$\textbackslash{}frac\{\$" in tex
    assert r"\texttt{x < y}" in tex


def test_without_pictures_everything_else_is_there():
    case = simulated("planar_2r_melchiorri", seconds=4.0)
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    text = report_of(result_of(case, v), draw=False).html()
    assert "<svg" not in text
    assert ">Estimates</h2>" in text


def test_numbers_are_short_and_have_true_signs():
    assert [number(x) for x in (1234567.0, -0.5, np.nan, -np.inf)] == ["1.235 × 10⁶", "−0.5", "–", "−∞"]

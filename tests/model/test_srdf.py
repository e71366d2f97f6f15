"""SRDF files: the pairs that they disable, and refusals with the line and the cure."""

import pytest

import dynamis as dy
from dynamis.model.diagnostics import Report
from dynamis.model.readers.srdf import read_srdf

LINKS = ["base", "upper", "lower", "hand"]
TEXT = """<robot name="arm">
  <group name="all"><chain base_link="base" tip_link="hand"/></group>
  <disable_collisions link1="base" link2="lower" reason="Never"/>
  <disable_default_collisions link="hand"/>
  <enable_collisions link1="upper" link2="hand"/>
</robot>"""


def test_disabled_pairs_have_their_reasons_in_either_order():
    found = read_srdf(TEXT, LINKS, Report(""))
    assert found.reason(("lower", "base")) == found.reason(("base", "lower")) == "Never"
    assert found.reason(("base", "hand")) == "disabled by default"
    assert found.reason(("hand", "upper")) is None
    assert found.reason(("base", "upper")) is None


def test_a_file_is_read_and_an_unknown_link_is_a_warning_with_its_line(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text(TEXT.replace('link2="lower"', 'link2="lwoer"'))
    report = Report("")
    assert read_srdf(path, LINKS, report).pairs == {}
    (problem,) = report.warnings
    assert problem.line == 3
    assert "no link 'lwoer'" in problem.found
    assert "'lower'" in problem.repair
    assert problem.file == str(path)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (' link2="lower"', "", r"SRDF text:3: error: <disable_collisions>: there is no link2=.*write link2="),
        ('link2="lower"', 'link2="base"', "SRDF text:3: .*both links are 'base'.*two different links"),
        ("</robot>", "", "not well-formed"),
        ("<robot ", "<!DOCTYPE x><robot ", "document type"),
        ('<robot name="arm">', '<robot name="arm"><link name="base"/>', "this is a URDF"),
    ],
)
def test_bad_files_are_refused_with_line_and_cure(old, new, text):
    with pytest.raises(dy.FormatError, match=f"(?s){text}"):
        read_srdf(TEXT.replace(old, new), LINKS, Report(""))


def test_other_documents_and_missing_files_are_refused(tmp_path):
    with pytest.raises(dy.FormatError, match="the root element is <sdf>"):
        read_srdf("<sdf/>", LINKS, Report(""))
    with pytest.raises(dy.FormatError, match="cannot be read: No such file"):
        read_srdf(tmp_path / "none.srdf", LINKS, Report(""))
    with pytest.raises(dy.InputError, match="path of an SRDF file"):
        read_srdf(3, LINKS, Report(""))

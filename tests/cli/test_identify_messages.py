"""dynamis identify and payload: what is refused before the work, and what is said after it."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.console import bullet
from dynamis.cli.excite import excite
from dynamis.cli.identify import identify
from dynamis.cli.payload import payload

ARM = "planar_2r_melchiorri"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    robot = dy.load(ARM)
    t = np.arange(1500) * 0.004
    w = np.array([1.3, 2.1])
    q = np.sin(w * t[:, None] + [0.0, 1.0])
    v, a = w * np.cos(w * t[:, None] + [0.0, 1.0]), -(w**2) * q
    tau = robot.inverse_dynamics(q, v, a) + np.random.default_rng(0).normal(size=q.shape)
    tau[:3] = np.nan
    path = tmp_path_factory.mktemp("logs") / "run.csv"
    np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    return path


def refused(monkeypatch, command, *arguments):
    """The message of a command that must not have begun its work."""
    monkeypatch.setattr("dynamis.robot.load", None)
    result = CliRunner().invoke(command, [ARM, *map(str, arguments)])
    assert result.exit_code == 2, result.output
    return result.output


def test_files_that_cannot_be_written_are_refused_before_the_work(monkeypatch, log, tmp_path):
    before = log.read_bytes()
    assert "'x.docx': the file name must end in .html or .htm or .md or .pdf" in refused(
        monkeypatch, identify, log, "--report", tmp_path / "x.docx"
    )
    with monkeypatch.context() as without:
        without.setenv("DYNAMIS_BROWSER", "/no/such/browser")
        assert "Chromium, Chrome or Edge" in refused(without, identify, log, "--report", tmp_path / "x.pdf")
    assert "'run.csv': the file name must end in .html" in refused(monkeypatch, identify, log, "--report", log)
    assert "'x.xml': the file name must end in .urdf or .toml" in refused(
        monkeypatch, identify, log, "--out", tmp_path / "x.xml"
    )
    assert "'x.xml': the file name must end in .urdf or .toml" in refused(
        monkeypatch, payload, log, "--out", tmp_path / "x.xml"
    )
    assert "the folder does not exist" in refused(monkeypatch, identify, log, "--out", tmp_path / "no" / "x.urdf")
    assert "the folder does not exist" in refused(monkeypatch, excite, "--out", tmp_path / "no" / "x.csv")
    assert log.read_bytes() == before


def test_a_mapping_that_is_read_is_not_written_over(monkeypatch, log, tmp_path):
    mapping = tmp_path / "log.toml"
    mapping.write_text("")
    assert "is an input of this command" in refused(monkeypatch, identify, mapping, "--out", mapping)
    assert "is an input of this command" in refused(monkeypatch, identify, log, "--mapping", mapping, "--out", mapping)


def test_a_report_without_its_library_is_refused_before_the_work(monkeypatch, log, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'dynamis[plots]'" in refused(monkeypatch, identify, log, "--report", tmp_path / "x.html")
    assert "pip install 'dynamis[plots]'" in refused(monkeypatch, excite, "--plot", tmp_path / "x.png")


def test_payload_says_what_was_done_to_the_log(log):
    result = CliRunner().invoke(payload, [ARM, str(log)])
    assert result.exit_code == 0, result.output
    assert "  repaired: column 'tau1' is nan" in result.output
    assert "note: 'run.csv': cut-off" in result.output
    result = CliRunner().invoke(payload, [ARM, str(log), "--json"])
    assert any("cut-off" in note for note in json.loads(result.output)["notes"])


def test_sentences_are_wrapped_between_words_where_a_person_reads_them(capsys, monkeypatch):
    sentence = "a long sentence about [brackets] and joints " * 4
    monkeypatch.setenv("COLUMNS", "40")
    bullet("•", sentence)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) > 3
    assert all(len(line.rstrip()) <= 40 for line in shown)
    assert all(line.startswith("    ") for line in shown[1:])
    assert "[brackets]" in shown[0] + shown[1]
    monkeypatch.delenv("COLUMNS")
    bullet("•", sentence)
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_masses_of_links_are_bounded(log, tmp_path):
    for wrong in ("link1", "link1=3", "link1=2,1", "=1,2", "link1=a,b"):
        assert "--mass" in CliRunner().invoke(identify, [ARM, str(log), "--mass", wrong]).output
    better = tmp_path / "better.urdf"
    options = ["--total-mass", "103", "--compare", "none", "--no-rotor", "--out", str(better)]
    found = CliRunner().invoke(identify, [ARM, str(log), *options])
    assert found.exit_code in (0, 1), found.output
    assert dy.load(better).mass == pytest.approx(103.0)


def test_a_speed_of_zero_is_refused(log):
    for option, name in (("--smooth", "smooth"), ("--stribeck", "stribeck_speed")):
        result = CliRunner().invoke(identify, [ARM, str(log), option, "0"])
        assert result.exit_code == 2
        assert name in result.output.replace("--stribeck", "stribeck_speed")


@pytest.mark.parametrize(("option", "term"), [("--stribeck", "stribeck"), ("--temperature", "coulomb_temperature")])
def test_an_option_of_a_friction_term_that_is_not_identified_is_refused(log, option, term):
    result = CliRunner().invoke(identify, [ARM, str(log), option, "0.1"])
    assert result.exit_code == 2
    assert f"{option} 0.1 has no effect without the friction term '{term}'" in result.output
    assert f"--friction viscous,coulomb,{term}" in result.output

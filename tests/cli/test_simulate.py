"""dynamis simulate and dynamis study."""

import json

import numpy as np
from click.testing import CliRunner

from dynamis.cli.commands import cli


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_a_motion_is_summed_up():
    result = run("simulate", "planar_2r_melchiorri", "--time", "1")
    assert result.exit_code == 0, result.output
    assert "reached the end (1 s)" in result.output
    assert "balance to" in result.output


def test_a_motion_is_written_and_drawn(tmp_path):
    result = run("simulate", "planar_2r_melchiorri", "--time", "0.5", "--points", "11", "-o", str(tmp_path / "m.csv"),
                 "--plot", str(tmp_path / "m.png"))  # fmt: skip
    assert result.exit_code == 0, result.output
    table = np.genfromtxt(tmp_path / "m.csv", delimiter=",", names=True)
    assert len(table) == 11
    assert (tmp_path / "m.png").read_bytes()[:4] == b"\x89PNG"


def test_joints_that_start_are_told():
    result = run("simulate", "puma560", "--time", "0.5", "--json")
    facts = json.loads(result.output)
    assert facts["status"] == "reached the end"
    assert any("elbow starts" in event for event in facts["events"])


def test_bad_input_says_what_to_do():
    assert "needs a step" in run("simulate", "scara", "--method", "rk4", "--friction", "none").output
    assert "choose RK45" in run("simulate", "scara", "--method", "rk5").output
    assert "planar 2R" in run("simulate", "planar_2r").output
    assert run("simulate", "scara", "--time", "-1").exit_code == 2


def test_the_lectures_study(tmp_path):
    result = run("study", "--plot", str(tmp_path / "study.png"))
    assert result.exit_code == 0, result.output
    assert len(result.output.splitlines()) == 5
    assert (tmp_path / "study.png").stat().st_size > 20_000

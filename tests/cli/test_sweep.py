"""dynamis sweep."""

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from processes import LIMIT, clean_environment, process_group, wait_until

from dynamis.cli.commands import cli

STUDY = 'robot = "planar_2r_melchiorri"\nduration = 0.1\npoints = 5\n[vary]\n"viscous.*" = { grid = [0, 30, 80] }\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, ["sweep", *arguments])


def test_a_study_is_run_summed_up_and_drawn(here):
    result = run("study.toml", "--workers", "1", "--plot", "p.png", "--show", "q.joint1")
    assert result.exit_code == 0, result.output
    assert "3 cases done" in result.output
    assert "3 completed" in result.output
    for label in ("viscous.* [N m s/rad]", "q.joint1 [rad]", "peak_torque.joint2 [N m]", "energy [J]"):
        assert label in result.output
    assert len((here / "study" / "results.csv").read_text().splitlines()) == 4
    assert (here / "p.png").read_bytes()[:4] == b"\x89PNG"
    again = run("study.toml", "--json")
    facts = json.loads(again.stdout)
    assert (facts["complete"], facts["resumed"]) == (True, 3)
    assert facts["statistics"]["viscous.*"]["most"] == 80
    assert (facts["units"]["viscous.*"], facts["units"]["v.joint1"], facts["units"]["events"]) == ("N m s/rad", "rad/s", "")


def test_bad_input_says_what_to_do(here):
    assert "cannot be read" in run("none.toml").output
    (here / "bad.toml").write_text(STUDY.replace("viscous", "viscos"))
    result = run("bad.toml")
    assert result.exit_code == 2
    assert "bad.toml, line 5" in result.output
    assert "did you mean 'viscous'" in result.output
    (here / "full").mkdir()
    (here / "full" / "letter.txt").write_text("dear")
    assert "give an empty or new folder with -o" in run("study.toml", "-o", "full").output
    for option, value in (("--show", "q.joint1"), ("--over", "viscous.*")):
        result = run("study.toml", option, value)
        assert result.exit_code == 2
        assert f"{option} selects what --plot draws: add --plot FILE.png" in result.output
    assert "give one of them" in run("study.toml", "--workers", "1", "--scheduler", "tcp://x:1").output


def test_a_sweep_whose_cases_all_fail_does_not_succeed(here):
    varied = '"viscous.*" = { grid = [0, 30, 80] }'
    sticking = STUDY.replace(varied, '"coulomb.*" = { grid = [1, 2] }').replace("points", 'method = "rk4"\nstep = 1e-3\npoints')
    for study, code, told in (
        (sticking, 1, "2 cases done, all of them failed"),
        (sticking.replace("[1, 2]", "[0, 2]"), 0, "2 cases done, 1 of them failed"),
    ):
        (here / "study.toml").write_text(study)
        result = run("study.toml", "--workers", "1", "-o", str(code))
        assert result.exit_code == code, result.output
        assert told in result.output
        assert "failed: with method='rk4' no joint sticks" in result.output


def test_a_start_in_degrees_is_one_warning_like_others(here):
    study = 'robot = "planar_2r_melchiorri"\nduration = 0.01\nq0 = [-90, 0]\n[vary]\n"viscous.*" = { grid = [0, 30] }\n'
    (here / "study.toml").write_text(study)
    process = subprocess.run(
        [sys.executable, "-m", "dynamis", "sweep", "study.toml", "--workers", "2"], capture_output=True, text=True,
        timeout=LIMIT, env=clean_environment(),
    )  # fmt: skip
    told = " ".join(process.stderr.split())
    assert told.count("is in radians") == 1
    assert told.startswith("dynamis: warning: study.toml: q0 is in radians")
    assert "ReachWarning" not in told


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal a test can send on Windows")
def test_ctrl_c_says_how_to_go_on(here):
    (here / "long.toml").write_text(
        STUDY.replace("grid = [0, 30, 80]", "from = 0, to = 80, count = 5000").replace("points", "part = 1\npoints")
    )
    command = [sys.executable, "-m", "dynamis", "sweep", "long.toml", "--workers", "2"]
    parts = here / "long" / "parts"
    with process_group(command, env=clean_environment(), cwd=here, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: len(list(parts.glob("part-*"))) > 3 or process.poll() is not None, "no parts were written")
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert said == "dynamis: interrupted; finished cases are kept in long: run the same command again to continue\n"

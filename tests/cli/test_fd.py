"""dynamis fd."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

ARM = "planar_2r_melchiorri"


def run(*arguments):
    result = CliRunner().invoke(cli, ["fd", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_accelerations_at_a_state_are_those_of_the_library():
    facts = json.loads(run(ARM, "--q", "0.3,0.9", "--v", "1,-1", "--tau", "500,100", "--json").output)
    assert facts["a"] == pytest.approx(dy.load(ARM).forward_dynamics([0.3, 0.9], [1.0, -1.0], [500.0, 100.0]))
    output = run(ARM, "--q", "0.3,0.9", "--tau", "500,100").output
    for words in ("forward dynamics", "acceleration", "joint1", "rad/s²", "-5.028"):
        assert words in output
    assert "Static friction" not in output  # it has none
    assert "Static friction is not included" in run("puma560").output
    assert "Static friction" not in run("puma560", "--v", "1").output


def test_torques_beyond_the_limits_are_reported(tmp_path):
    beyond = ["wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]
    words = f"torque limits exceeded: {', '.join(beyond)}"
    assert words in " ".join(run("ur5e", "--tau", "100").output.split())
    assert json.loads(run("ur5e", "--tau", "100", "--json").output)["beyond_limits"] == beyond
    assert "torque limits" not in run("ur5e", "--tau", "20").output
    table = tmp_path / "q.csv"
    table.write_text("\n".join(["q1,q2,q3,q4,q5,q6", *["0,0,0,0,0,0"] * 2]))
    assert words in " ".join(run("ur5e", "--states", table, "--v", "0", "--tau", "100").output.split())


def test_what_simulate_writes_is_read_and_gives_its_accelerations(tmp_path):
    CliRunner().invoke(cli, ["simulate", ARM, "--time", "0.2", "--points", "21", "--out", str(tmp_path / "fall.csv")])
    out = tmp_path / "a.npz"
    result = run(ARM, "--states", tmp_path / "fall.csv", "-o", out)
    assert result.exit_code == 0, result.output
    motion = np.genfromtxt(tmp_path / "fall.csv", delimiter=",", names=True, deletechars="")
    with np.load(out) as archive:
        found = dict(archive)
    q, v = (np.column_stack([motion[f"{letter}.joint{k}"] for k in (1, 2)]) for letter in "qv")
    assert found["a.joint2"] == pytest.approx(dy.load(ARM).forward_dynamics(q, v, np.zeros(2))[:, 1])
    facts = json.loads(run(ARM, "--states", tmp_path / "fall.csv", "--json").output)
    assert (facts["rows"], len(facts["a"])) == (21, 21)


def test_a_free_base_falls():
    facts = json.loads(run("go2", "--floating", "--json").output)
    assert facts["a"][2] == pytest.approx(-9.81)
    assert len(facts["a"]) == 18


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("q1,q2,v1,v2,tau1,tau2\n0,0,0,0,0,0\n")
    result = run(ARM, "--states", path, "--out", tmp_path / "no" / "a.csv")
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    assert run(ARM, "--out", "a.csv").exit_code == 2
    path.write_text("q1,q2,v1,v2,tau1,tau2\n")
    assert "no rows" in run(ARM, "--states", path).output


def test_rows_at_rest_have_the_note_on_static_friction(tmp_path):
    names = dy.load("puma560").coordinate_names
    (tmp_path / "rest.csv").write_text(",".join(f"q_{x}" for x in names) + "\n" + 2 * (",".join("0" for _ in names) + "\n"))
    given = ["puma560", "--states", tmp_path / "rest.csv", "--tau", "0", "--v"]
    assert "Static friction is not included" in run(*given, "0").output
    assert "Static friction" not in run(*given, "1").output


def test_drives_are_said_to_be_left_out(tmp_path):
    path = tmp_path / "driven.toml"
    dy.load(ARM).replace(actuators={"joint2": dy.Elastic(800.0, inertia=0.5)}).write(path)
    sentence = "The drives of joint2 are not included: --tau is what reaches the joints"
    assert sentence in " ".join(run(path, "--tau", "12,3").output.split())
    assert sentence not in " ".join(run(ARM, "--tau", "12,3").output.split())

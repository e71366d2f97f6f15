"""dynamis statics, dynamis stiffness and dynamis workspace: tables, data, pictures, sentences instead of tracebacks."""

import json

import pytest
from click.testing import CliRunner

from dynamis.cli.commands import cli

UR5E = ["ur5e", "--q", "0.4,-1.2,1.6,-0.9,-1.3,0.2"]
ARM = ["planar_2r_melchiorri", "--q", "0.3,0.9"]
PLANAR = ["g=9.81", "a_1=1", "a_2=1", "l_1=0.5", "l_2=0.5", "m_1=50", "m_2=50", "I_1=10", "I_2=10"]


def run(*arguments):
    result = CliRunner().invoke(cli, [str(x) for x in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_statics_shows_torques_forces_and_subspaces():
    result = run("statics", *UR5E, "--wrench", "0,0,-50")
    assert result.exit_code == 0, result.output
    for word in ("shoulder_lift_joint", "weight", "may be 245.7 N", "rank 6, regular"):
        assert word in result.output


def test_statics_as_data_with_the_robots_own_wrench():
    ours = json.loads(run("statics", *ARM, "--wrench", "0,10,0", "--limits", "1500,600", "--json").output)
    theirs = json.loads(run("statics", *ARM, "--wrench=0,-10,0", "--by", "robot", "--limits", "1500,600", "--json").output)
    assert ours["total"] == theirs["total"]
    assert ours["largest_forces"]["+x"]["size"] == theirs["largest_forces"]["-x"]["size"]
    assert ours["duality"]["rank"] == 2
    assert ours["limits"] == [None, None]


def test_a_singular_arm_says_what_its_structure_carries():
    output = run("statics", "planar_2r_melchiorri", "--q", "0,0", "--rows", "xy", "--limits", "2000").output
    assert "a force along (1, 0, 0) costs no torque" in output
    assert "link2 cannot move along (1, 0, 0)" in output
    assert "as large as one likes" in output


def test_symbols_get_their_values():
    settings = [word for value in PLANAR for word in ("--set", value)]
    data = json.loads(run("statics", "planar_2r", "--q", "0,0", *settings, "--json").output)
    assert data["weight"] == pytest.approx([981.0, 245.25])


def test_stiffness_and_where_it_rests():
    result = run("stiffness", *UR5E, "--springs", "20000", "--wrench", "0,0,-50")
    assert result.exit_code == 0, result.output
    for word in ("N m/rad", "predicted C w", "at rest to", "buckle", "stable"):
        assert word in result.output
    data = json.loads(
        run("stiffness", *UR5E, "--springs", "20000", "--wrench", "0,0,-50", "--base", "1e-6 1e-6 1e-6 0 0 0", "--json").output
    )
    assert data["stable"] is True
    assert data["deflection"]["residual"] < 1e-8
    assert data["rank"] == 6


def test_a_planar_arm_is_rigid_out_of_its_plane():
    result = run("stiffness", *ARM, "--springs", "1e4,5e3")
    assert "rigid" in result.output
    assert json.loads(run("stiffness", *ARM, "--springs", "1e4,5e3", "--json").output)["stiffness"] is None


def test_workspace_as_cloud_and_as_slice():
    result = run("workspace", "planar_2r_melchiorri", "--samples", "20000")
    assert result.exit_code == 0, result.output
    assert "moves in a plane" in result.output
    data = json.loads(run("workspace", "ur5e", "--samples", "5000", "--json").output)
    assert data["dimension"] == 3
    assert 1.0 < data["reach"] < 1.2
    result = run("workspace", "ur5e", "--colour", "payload", "--samples", "3000")
    assert "kg" in result.output
    assert "best" in result.output
    data = json.loads(
        run(
            "workspace", "planar_2r_melchiorri", "--colour", "stiffness", "--springs", "1e4", "--samples", "3000", "--json"
        ).output
    )
    assert data["measure"] == "stiffness"


def test_pictures_are_written(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    calls = [
        ("a.png", ["statics", *ARM, "--limits", "1500,600", "--plot"]), ("b.png", ["statics", *UR5E, "--polytope"]),
        ("c.png", ["stiffness", *ARM, "--springs", "1e4", "--plot"]), ("d.png", ["stiffness", *ARM, "--springs", "1e4", "--map"]),
        ("e.png", ["workspace", "planar_2r_melchiorri", "--samples", "3000", "--plot"]),
        ("f.png", ["workspace", "panda", "--colour", "condition", "--samples", "3000", "--plot"]),
    ]  # fmt: skip
    for name, arguments in calls:
        result = run(*arguments, tmp_path / name)
        assert result.exit_code == 0, result.output
        assert f"wrote {tmp_path / name}" in result.output.replace("\n", "")
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["statics", "stiffness", "workspace"])
def test_help_has_worked_examples(command):
    result = run(command, "--help")
    assert result.output.count(f"dynamis {command} ") >= 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["statics", "ur5e", "--q", "1,2"], "6 positions"), (["statics", "ur5e", "--wrench", "1,2"], "3 numbers"),
     (["statics", "ur5e", "--frame", "tol0"], "tool0"), (["statics", "planar_2r"], "--set"), (["statics", "nobody"], "nobody"),
     (["statics", "ur5e", "--rows", "up"], "row"), (["statics", "ur5e", "--q", "a"], "--q takes numbers"),
     (["statics", "planar_2r_melchiorri", "--polytope", "x.png"], "--limits"),
     (["stiffness", "ur5e", "--springs", "-1"], "positive"), (["stiffness", "ur5e", "--springs", "1,2"], "6 positive"),
     (["stiffness", "ur5e", "--springs", "1e4", "--base", "1,2"], "6 numbers"),
     (["stiffness", "ur5e", "--springs", "1e4", "--base=-1,0,0,0,0,0"], "not negative"),
     (["workspace", "ur5e", "--samples", "0"], "samples"), (["workspace", "ur5e", "--colour", "red"], "measure"),
     (["workspace", "planar_2r_melchiorri", "--colour", "payload"], "--limits"),
     (["workspace", "planar_2r_melchiorri", "--colour", "stiffness"], "joint_stiffness")],
)  # fmt: skip
def test_questions_that_cannot_be_answered_end_with_a_sentence(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output

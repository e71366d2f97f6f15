"""dynamis statics, dynamis stiffness and dynamis workspace: tables, data, pictures, sentences instead of tracebacks."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.redundancy import _advised
from dynamis.simulation.stepping import Clock

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
    for word in ("shoulder_lift_joint", "weight", "largest magnitude 245.7 N", "rank 6, regular", "without the load of --wrench",
                 "joint motions with the frame at rest"):  # fmt: skip
        assert word in result.output
    assert "without the load" not in run("statics", *UR5E).output


def test_statics_as_data_with_the_robots_own_wrench():
    ours = json.loads(run("statics", *ARM, "--wrench", "0,10,0", "--limits", "1500,600", "--json").output)
    theirs = json.loads(run("statics", *ARM, "--wrench=0,-10,0", "--by", "robot", "--limits", "1500,600", "--json").output)
    assert ours["total"] == theirs["total"]
    assert ours["largest_forces"]["+x"]["size"] == theirs["largest_forces"]["-x"]["size"]
    assert ours["duality"]["rank"] == 2
    assert ours["limits"] == [1500.0, 600.0]


def test_limits_given_count_in_the_table_the_warning_and_the_data():
    data = json.loads(run("statics", *ARM, "--limits", "1,1", "--json").output)
    assert data["possible"] is False
    assert data["limits"] == [1.0, 1.0]
    assert data["beyond_limits"] == ["joint1", "joint2"]
    assert "torque limits exceeded: joint2\n" in run("statics", *ARM, "--limits", "1e6,1").output
    assert "torque limits exceeded" not in run("statics", *ARM, "--limits", "1500,600").output


def test_forces_without_end_leave_the_answer_and_advice(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    stretched = ["statics", *UR5E, "--frame", "upper_arm_link"]  # two joints cannot push in three directions
    result = run(*stretched, "--polytope", tmp_path / "a.png")
    assert result.exit_code == 2
    assert "shoulder_lift_joint" in result.output
    assert "--rows" in result.output
    assert run(*stretched, "--rows", "yz", "--polytope", tmp_path / "b.png").exit_code == 0
    assert (tmp_path / "b.png").exists()


def test_the_deflection_counts_the_base_in():
    call = ["stiffness", *UR5E, "--springs", "20000", "--wrench", "0,0,-50", "--json"]
    stiff = json.loads(run(*call).output)["deflection"]
    soft = json.loads(run(*call, "--base", "1e-4 1e-4 1e-4 0 0 0").output)["deflection"]
    assert soft["base"] == pytest.approx([0, 0, -5e-3, 0, 0, 0])
    assert soft["displacement"][2] == pytest.approx(stiff["displacement"][2] - 5e-3)


def test_rounding_is_no_stiffness():
    output = run("stiffness", *ARM, "--springs", "1e4,5e3").output
    rows = [line for line in output.splitlines() if line.strip().startswith(("z ", "about x", "about y"))]
    assert len(rows) == 3
    assert all("rigid" in line for line in rows)


def test_ctrl_c_ends_a_command_with_130(monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dynamis.statics.duality", stopped)
    result = run("statics", *ARM)
    assert result.exit_code == 130
    assert "dynamis: interrupted" in result.output


@pytest.mark.parametrize(
    ("place", "arguments"),
    [("dynamis.simulation.two_link_study.simulate", ["study"]),
     ("dynamis.control.experiments._run", ["redundancy", "panda", "--q0", "0,-0.5,0,-2,0,1.6,0.8", "--along", "yz"])],
)  # fmt: skip
def test_ctrl_c_within_a_simulation_stops_the_rest(monkeypatch, place, arguments):
    class Half:
        status = "interrupted at t = 0.1 s"

        @property
        def trajectory(self):
            return self

    made = []
    monkeypatch.setattr(place, lambda *_, **__: made.append(1) or Half())
    result = run(*arguments)
    assert result.exit_code == 130
    assert len(made) == 1


def test_a_law_that_gives_up_is_told_by_the_status():
    result = run(
        "redundancy", "panda", "--q0", "0,-0.5,0,-2,0,1.6,0.8", "--along", "yz", "--law", "torque", "--law", "acceleration-energy",
        "--seconds", "0.01",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "least of its column" not in result.output  # no completed motion, so no entry is marked
    assert "N m" in result.output
    assert "took more than" in result.output
    assert "Radau" not in result.output


def test_a_singular_arm_says_what_its_structure_carries():
    output = run("statics", "planar_2r_melchiorri", "--q", "0,0", "--rows", "xy", "--limits", "2000").output
    assert "a force along (1, 0, 0) needs no joint torque" in output
    assert "link2 cannot move along (1, 0, 0)" in output
    assert "is unbounded" in output


def test_symbols_get_their_values():
    settings = [word for value in PLANAR for word in ("--set", value)]
    data = json.loads(run("statics", "planar_2r", "--q", "0,0", *settings, "--json").output)
    assert data["weight"] == pytest.approx([981.0, 245.25])


def test_stiffness_and_where_it_rests():
    result = run("stiffness", *UR5E, "--springs", "20000", "--wrench", "0,0,-50")
    assert result.exit_code == 0, result.output
    for word in ("N m/rad", "linear: C w", "equilibrium to", "buckling", "stable"):
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
    assert "Area 12." in result.output  # 4π = 12.57 m², with its estimated error
    data = json.loads(run("workspace", "ur5e", "--samples", "5000", "--json").output)
    assert data["dimension"] == 3
    assert data["reach"] == pytest.approx(0.9689, abs=1e-4)  # from the shoulder, 0.1625 m above the base
    assert data["origin"] == pytest.approx([0.0, 0.0, 0.1625], abs=1e-9)
    assert "from the shoulder" in " ".join(run("workspace", "ur5e", "--samples", "500").output.split())
    result = run("workspace", "ur5e", "--colour", "payload", "--samples", "3000")
    assert "static payload, joint torque limits only [kg]" in result.output
    assert "Best" in result.output
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
    [(["statics", "ur5e", "--q", "1,2"], "6 numbers"), (["statics", "ur5e", "--wrench", "1,2"], "3 numbers"),
     (["statics", "ur5e", "--frame", "tol0"], "tool0"), (["statics", "planar_2r"], "--set"), (["statics", "nobody"], "nobody"),
     (["statics", "ur5e", "--rows", "up"], "row"), (["statics", "ur5e", "--q", "a"], "--q takes numbers"),
     (["statics", "planar_2r_melchiorri", "--polytope", "x.png"], "--limits"),
     (["stiffness", "ur5e", "--springs", "-1"], "positive"), (["stiffness", "ur5e", "--springs", "1,2"], "6 positive"),
     (["stiffness", "ur5e", "--springs", "1e4", "--base", "1,2"], "6 numbers"),
     (["stiffness", "ur5e", "--springs", "1e4", "--base=-1,0,0,0,0,0"], "positive semidefinite"),
     (["workspace", "ur5e", "--samples", "0"], "samples"), (["workspace", "ur5e", "--colour", "red"], "measure"),
     (["workspace", "planar_2r_melchiorri", "--colour", "payload"], "--limits"),
     (["workspace", "planar_2r_melchiorri", "--colour", "stiffness"], "--springs")],
)  # fmt: skip
def test_questions_that_cannot_be_answered_end_with_a_sentence(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_advice_names_options_that_the_command_has():
    clock = Clock(1.0)
    clock.stepped(1e-6)
    assert "Radau" in clock.sentence("DOP853")
    assert "Radau" not in _advised(clock.sentence("DOP853"))
    assert "--null-damping" in _advised(clock.sentence("DOP853"))


def test_stiffness_beyond_buckling_is_negative_and_called_unstable():
    output = run("stiffness", ARM[0], "--q", "0,0", "--springs", "100", "--wrench", "-100,0,0").output
    assert "negative stiffness: beyond buckling" in output
    assert "negative stiffness" not in run("stiffness", *ARM, "--springs", "1000000").output


def test_options_of_maps_need_a_map():
    for option, value in (("--plane", "xz"), ("--pick", "worst")):
        refused = run("workspace", *ARM[:1], option, value)
        assert refused.exit_code == 2
        assert f"{option} is an option of maps: give --colour too" in refused.output


def test_the_numbers_of_q_are_explained_by_the_joints_that_the_robot_has(tmp_path):
    from dynamis.model.description import Description
    from dynamis.robot import Robot
    from dynamis.spatial import solids

    body = solids.sphere(0.1, mass=1.0)
    Robot(Description("ball").add_link("base").add_link("arm", "base", "spherical", inertia=body)).write(tmp_path / "b.toml")
    ball = " ".join(run("statics", tmp_path / "b.toml", "--q", "0").output.split())
    assert "takes 4 numbers for 'ball'; those of a ball joint are a unit quaternion, as 0,0,0,1; got 1" in ball
    free = " ".join(run("id", "go2", "--floating", "--q", "0,0").output.split())
    assert "those of a free base are x,y,z and a unit quaternion, as 0,0,0,0,0,0,1; got 2" in free
    assert "ball joint" not in free


def test_stiffness_and_linearize_close_the_loops_of_a_file(tmp_path):
    loop = dy.loops.five_bar()
    loop.write(tmp_path / "five.toml")
    q = ",".join(str(x) for x in loop.home() + 0.01)  # near which the loops are closed
    tip = ["--frame", "left_lower_end"]
    result = run("stiffness", tmp_path / "five.toml", "--springs", "900,0,700,0", *tip, "--json")
    found = json.loads(result.output[result.output.index("{") :])
    expected = dy.statics.stiffness(loop, loop.home(), {"left": 900.0, "right": 700.0}, "left_lower_end")
    np.testing.assert_allclose(found["compliance"], expected.compliance, atol=1e-12)
    assert found["reduced_stiffness"] == expected.joint.tolist()
    result = run("stiffness", tmp_path / "five.toml", "--springs", "900,0,700,0", *tip, "--q", q, "--map", tmp_path / "m.png")
    assert result.exit_code != 0
    assert "--map is for trees" in result.output
    result = run("stiffness", tmp_path / "five.toml", "--springs", "900", *tip)
    assert "takes 4 numbers where loops are closed, 0 of passive joints; the joints are left, left_lower" in " ".join(
        result.output.split()
    )
    result = run("linearize", tmp_path / "five.toml", "--q", q, "--independent", "left,right", "--actuated", "left,right")
    assert "4 states, 2 inputs; an equilibrium" in result.output
    assert "Loops are closed, at q = 2.2" in result.output

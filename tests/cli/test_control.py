"""dynamis control."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.control import LAWS
from dynamis.control.named_laws import CONTROL_LAWS, TIP_LAWS

ARM = "planar_2r_melchiorri"


FOR_THE_EXACT_MODEL = ("gravity-compensation", "pd-bounded", "feedforward-pd")  # their theorems
ONE_JOINT = """
[robot]
gravity = [0, 0, 0]
[[link]]
joint = "j"
mass = 1.0
inertia = {{ xx = 1.0, yy = 1.0, zz = 1.0 }}
{drive}
"""
ELASTIC = "rotor_inertia = 1e-3\ngear_ratio = 20\nactuator = { kind = 'elastic', stiffness = 300, damping = 0.5 }"


def run(*arguments):
    return CliRunner().invoke(cli, ["control", *arguments])


def test_a_trial_is_summed_up():
    result = run(ARM, "--law", "pd-gravity", "--goal", "0.8,-0.6", "--error", "5", "--rate", "1000")
    assert result.exit_code == 0, result.output
    for words in ("PD + gravity at 1000 Hz, model parameters off by up to 5 %: completed", "Tracking errors [rad]", "expected below", "Torques [N m]",
                  "the conditions for stability hold (proven for small errors)", "of the continuous law"):  # fmt: skip
        assert words in result.output


@pytest.mark.parametrize("law", LAWS)
def test_every_law_can_be_tried(law):
    options = ["--start", "0.3,1.2"] if law in TIP_LAWS else []
    goal = [] if law == "gravity-compensation" else ["--goal", "0.7,1.4"]
    result = run(ARM, "--law", law, *goal, *options, "--time", "2", "--error", "5", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["law"] == law
    assert facts["status"] == "completed"
    assert facts["stability"]["stable"] is (None if law in FOR_THE_EXACT_MODEL else True)
    assert facts["beyond_bound"] == []
    assert facts["unreachable"] is None
    assert "not reachable" not in result.stderr
    for row in facts["tracking"]:
        assert row["largest_error"] < (0.4 if law == "pid" else 0.2)  # PID: until the integral carries the weight
        assert row["bound"] is None or row["largest_error"] < row["bound"]


def test_the_choices_are_those_of_the_trials():
    assert LAWS == CONTROL_LAWS


def test_it_is_drawn_and_written_as_c(tmp_path):
    result = run(ARM, "--goal", "0.5,-0.5", "--time", "0.5", "--plot", str(tmp_path / "t.png"), "--c", str(tmp_path / "code"))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"
    assert "void control_computed_torque(" in (tmp_path / "code" / "control_computed_torque.c").read_text()


def test_torques_beyond_the_limits_are_said():
    result = run("kuka_iiwa14", "--goal", "1.2", "--time", "0.2", "--move", "0.05", "--bandwidth", "60")
    assert result.exit_code == 1
    assert "torque limits exceeded" in result.output


def test_a_failing_condition_is_said_and_told_by_the_exit_status():
    result = run(
        ARM, "--law", "pd-gravity", "--goal", "0.8,-0.6", "--bandwidth", "0.2", "--error", "5", "--time", "0.5", "--json"
    )
    assert result.exit_code == 1
    facts = json.loads(result.output)
    assert facts["stability"]["verdict"] == "a condition for stability fails"


def test_a_goal_for_a_law_without_one_is_an_error_that_names_the_others():
    result = run(ARM, "--law", "gravity-compensation", "--goal", "0.5")
    assert result.exit_code == 2
    words = " ".join(result.output.split())
    assert "gravity-compensation has no goal" in words
    assert "pd-gravity, pid, pd-bounded, feedforward-pd, computed-torque, slotine-li, operational-space or impedance" in words


def test_bad_input_says_what_to_do():
    for arguments, sentence in (
        ((ARM, "--goal", "1,2,3"), "--goal takes 2 numbers"),
        ((ARM, "--goal", "up"), "--goal takes numbers"),
        ((ARM, "--error", "120"), "--error takes percent"),
        ((ARM, "--goal", "1", "--bandwidth", "-3"), "is not a positive number"),
        (
            (ARM, "--law", "impedance", "--goal", "1,1"),
            "the start is singular: the tip cannot move in every direction; give another start with --q0",
        ),
        (
            (ARM, "--law", "impedance", "--q0", "0.3,1.2", "--goal", "1,1,0"),
            "the tip moves in x and y only, so give --goal x,y",
        ),
        (("planar_2r", "--goal", "1"), "--set I_1=1"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert sentence in result.output
    assert "slotine-li" in run(ARM, "--law", "fuzzy").output


def test_a_tip_on_the_last_axis_asks_for_a_tool_frame(tmp_path):
    """The origin of the last link moves with the first joint alone, whatever the start."""
    d = dy.Description("arm").add_link("base")
    for parent, link in (("base", "l1"), ("l1", "l2")):
        inertia, origin = dy.solids.rod(0.4, mass=1.0), dy.Pose(np.eye(3), [0.4, 0, 0])
        d.add_link(link, parent, "revolute", axis=(0, 1, 0), origin=origin, inertia=inertia)
    dy.Robot(d).write(tmp_path / "arm.urdf")
    result = run(str(tmp_path / "arm.urdf"), "--law", "operational-space", "--q0", "0.3,1.2", "--goal", "0.5,0.1")
    assert result.exit_code == 2
    assert "the tip 'l2' moves in x and z with only 1 of 2 degrees of freedom" in result.output
    assert "add a tool frame" in result.output


def test_a_goal_is_asked_for():
    result = CliRunner().invoke(cli, ["control", "ur5e"])
    assert result.exit_code == 2
    assert "--goal is missing: for computed-torque give a configuration, such as 0.5" in result.stderr


def test_no_verdict_of_stability_follows_a_divergence():
    result = CliRunner().invoke(cli, ["control", "ur5e", "--law", "operational-space", "--goal=-4,0.2,0.5"])
    assert result.exit_code == 1
    assert "the motion was not completed" in result.stdout
    assert "the conditions for stability hold" not in result.stdout


@pytest.mark.parametrize("law", TIP_LAWS)
def test_a_tip_goal_out_of_reach_is_reported_with_its_distance(law):
    result = run(ARM, "--law", law, "--start", "0.3,1.2", "--goal", "1.5,1.5", "--time", "0.05", "--json")
    # links of 1 m: the goal at 1.5 √2 m is 0.121 m beyond the stretched arm
    assert "warning: the goal (1.5, 1.5) m is not reachable: the position is out of reach by 0.121 m" in result.stderr
    assert "(1.414, 1.414) m; choose a goal inside the workspace" in result.stderr
    assert result.exit_code == 1
    assert "out of reach by 0.121 m" in json.loads(result.stdout)["unreachable"]


def test_a_goal_outside_the_joint_limits_has_an_exit_status_of_its_own():
    result = run("panda", "--goal", "0,0,0,0.5,0,0,0", "--time", "0.2")
    assert "outside the joint limits" in result.stderr
    assert result.exit_code == 1


def test_an_actuator_at_its_limit_is_no_success(tmp_path):
    (tmp_path / "arm.toml").write_text("""
[robot]
gravity = [0, -9.81, 0]
[[link]]
mass = 2
com = [0.5, 0, 0]
limits = { lower = -1, upper = 1, velocity = 2 }
[[link]]
xyz = [1, 0, 0]
mass = 1
com = [0.3, 0, 0]
actuator = { kind = "saturated", effort = 1.0 }
""")
    result = CliRunner().invoke(cli, ["control", str(tmp_path / "arm.toml"), "--goal", "0.5,0.2", "--time", "0.5"])
    assert result.exit_code == 1
    for words in (
        "a condition for stability fails",
        "'joint2' is limited by the actuator",
        "position limits exceeded",
        "100 %",
    ):
        assert words in " ".join(result.output.split())


def test_a_name_without_c_is_refused():
    result = CliRunner().invoke(cli, ["control", "planar_2r_melchiorri", "--goal", "0.5,0.5", "--name", "law"])
    assert result.exit_code == 2
    assert "needs --c" in result.output


def test_joints_that_static_friction_holds_off_the_goal_are_named(tmp_path):
    description = dy.load(ARM).description
    description.joint("joint2").drive = replace(description.joint("joint2").drive, coulomb=500.0)
    path = tmp_path / "stiff.toml"
    dy.Robot(description).write(path)
    words = [str(path), "--goal", "0.3,0.2", "--error", "20", "--seed", "3"]
    assert json.loads(run(*words, "--json").stdout)["held_by_friction"] == ["joint2"]
    assert "held off the goal by static friction: joint2" in " ".join(run(*words).output.split())
    assert json.loads(run(ARM, "--goal", "0.3,0.2", "--json").stdout)["held_by_friction"] == []


@pytest.fixture
def one_joint(tmp_path):
    def written(drive=""):
        path = tmp_path / "one.toml"
        path.write_text(ONE_JOINT.format(drive=drive))
        return str(path)

    return written


def test_a_loop_without_a_theorem_is_good_where_its_errors_are_as_expected(one_joint):
    quick = run(one_joint(ELASTIC), "--goal", "0.5")
    assert "not proven: no theorem was checked" in quick.output
    assert "tracking errors larger than expected: j" in quick.output
    assert quick.exit_code == 1
    slow = run(one_joint(ELASTIC), "--law", "pd-gravity", "--bandwidth", "1", "--goal", "0.5", "--json")
    assert json.loads(slow.stdout)["stability"]["stable"] is None
    assert slow.exit_code == 0


def test_errors_far_above_their_bound_are_no_success_of_a_proven_law(one_joint):
    result = run(one_joint(), "--goal", "1", "--step", "0.3")
    assert "use a shorter --step" in result.stderr
    assert "a condition for stability fails" not in result.output
    assert result.exit_code == 1
    assert run(one_joint(), "--goal", "1").exit_code == 0


def test_without_theorem_and_bound_a_law_must_do_better_than_a_robot_that_does_not_move(tmp_path):
    for stiffness, code in ((1e7, 0), (10.0, 1)):
        path = tmp_path / "soft.toml"
        dy.load(ARM).replace(actuators={"joint2": dy.Elastic(stiffness, inertia=10.0, damping=1e-4 * stiffness)}).write(path)
        result = run(str(path), "--law", "impedance", "--q0", "0.3,1.2", "--goal", "0.7,1.4", "--time", "0.5")
        assert result.exit_code == code, result.output
        assert ("a robot that does not move" in result.output) is bool(code)


@pytest.mark.parametrize(("words", "sentence"), [
    (("--law", "computed-torque", "--goal", "1", "--stiffness", "500"), "--stiffness has no effect on computed-torque; it is for impedance"),
    (("--law", "slotine-li", "--goal", "1", "--damping", "0.7"), "--damping has no effect on slotine-li"),
    (("--law", "pd-bounded", "--goal", "1", "--damping", "0.7"), "--damping has no effect on pd-bounded"),
    (("--law", "impedance", "--goal", "1,1", "--bandwidth", "5"), "--bandwidth has no effect on impedance"),
    (("--law", "gravity-compensation", "--move", "1"), "--move has no effect on gravity-compensation"),
    (("--goal", "1", "--time", "1", "--move", "5"), "--move 5 is longer than --time 1: the motion would not reach the goal"),
    (("--goal", "1", "--seed", "3"), "--seed is that of the parameter errors: it needs --error PERCENT"),
    (("--law", "impedance", "--goal", "1,1", "--degrees"), "--degrees and --radians are the unit of joint positions"),
])  # fmt: skip
def test_an_option_without_effect_or_against_another_is_refused(words, sentence):
    result = run(ARM, *words)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())


def test_a_law_of_the_tip_is_checked_where_the_motion_comes_nearest_to_a_singularity():
    result = run(ARM, "--law", "impedance", "--q0", "0.3,1.2", "--goal", "1.3,1.2", "--json")
    report = json.loads(result.stdout)["stability"]
    assert "q is where the task has the smallest mobility during the motion" in report["notes"]
    said = next(c["why"] for c in report["conditions"] if "mobility" in c["what"]).partition("q is (")[2].rstrip(")")
    q1, q2 = map(float, said.split(","))
    assert 0.0 < q2 < 1.2  # bent less than at the start, as the goal is farther out
    assert abs(q1) < 1.0


@pytest.mark.parametrize("rate", ["200", "1000"])
def test_the_expected_errors_of_a_sampled_law_include_the_lag_of_its_torques(rate):
    result = run(ARM, "--goal", "0.5", "--rate", rate, "--json")
    assert result.exit_code == 0, result.output
    for row in json.loads(result.stdout)["tracking"]:
        assert 0.3 * row["bound"] < row["largest_error"] < row["bound"]


def test_a_torque_that_chatters_is_no_success():
    result = run(ARM, "--goal", "0.8,-0.6", "--rate", "50", "--bandwidth", "48", "--error", "5", "--time", "1")
    text = " ".join(result.output.split())
    assert "the torque chatters at the sample rate: 'joint1' (by up to " in text
    assert "; raise --rate, or lower --bandwidth" in text
    assert "time at limit" in text
    assert result.exit_code == 1


def test_a_sampled_loop_whose_small_errors_grow_is_no_success():
    for rate, code, sentence in (("25", 1, "small errors grow"), ("1000", 0, "small errors decay")):
        result = run(
            ARM, "--law", "feedforward-pd", "--bandwidth", "15", "--goal", "0.5", "--rate", rate, "--time", "0.5", "--json"
        )
        assert result.exit_code == code, result.output
        report = json.loads(result.stdout)["stability"]
        assert report["stable"] is (code == 0)
        assert sentence in report["conditions"][0]["why"]


def test_the_c_of_a_sampled_law_with_states_gives_those_of_the_next_sample(tmp_path):
    for law, states in (("slotine-li", True), ("pd-gravity", False)):
        words = (ARM, "--law", law, "--goal", "0.3,0.2", "--time", "0.2", "--c", str(tmp_path))
        result = run(*words, "--rate", "500")
        assert "call the C function at 500 Hz, and hold tau between the calls" in result.output
        header = (tmp_path / f"control_{ {'slotine-li': 'slotine_li', 'pd-gravity': 'pdgravity'}[law] }.h").read_text()
        assert ("x_next" in header) is states
        assert (", called every 0.002 s, with tau held between the calls, x starts at 0\n" in header) is states
        assert "call the C function" not in run(*words).output

"""Numbers on the command line: printed readably, in degrees or radians, and mistakes answered with the option that helps."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from dynamis.cli.commands import cli
from dynamis.cli.console import clean, clean_name
from dynamis.cli.formatting import column, duration, number, vector
from dynamis.cli.hints import for_command_line
from dynamis.errors import unknown_name

ARM = "planar_2r_melchiorri"


def run(*arguments, **env):
    result = CliRunner().invoke(cli, [str(x) for x in arguments], env=env, prog_name="dynamis")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# numbers


def test_rounding_errors_are_zero_beside_larger_numbers():
    assert number(-3e-17) == "0"
    assert column([1.0, -3e-17, 2e-11]) == ["1", "0", "2e-11"]
    assert column([1e-3, 1e-16]) == ["0.001", "0"]
    assert vector([9.81, 1e-14, -0.0]) == "(9.81, 0, 0)"


def test_numbers_have_no_exponent_where_none_is_needed():
    assert [number(x, 3) for x in (1310.0, 999999.0, 1e6, 0.00012, 12.345)] == ["1310", "1000000", "1e+06", "0.00012", "12.3"]
    assert number(None) == "–"
    assert number(float("inf")) == "∞"


def test_times_have_the_unit_that_fits():
    times = (1.31, 0.9996, 0.0021, 96.6e-9, 3e-6, 1310.0)
    assert [duration(x) for x in times] == ["1.31 s", "1 s", "2.1 ms", "96.6 ns", "3 µs", "1310 s"]


# advice


def test_advice_names_options_and_not_python():
    simulate, excite = cli.commands["simulate"], cli.commands["excite"]
    assert (
        for_command_line("use friction='smooth', or method='DOP853'", simulate) == "use --friction smooth, or --method DOP853"
    )
    assert for_command_line("try method='Radau' or 'LSODA'", simulate) == "try --method Radau or LSODA"
    assert (
        for_command_line("raise effort=, or design with torque=False", excite) == "raise --effort, or design with --no-torque"
    )
    assert for_command_line("give them with load(…, parameters={…})") == "give each a number with --set NAME=VALUE"
    cure = "give them: robot.replace(parameters={'m': value}), on the command line --set NAME=VALUE"
    assert for_command_line(cure) == "give each a number with --set NAME=VALUE"
    assert (
        for_command_line("give --set k=1 --set c=1", cli.commands["control"]) == "give --set k=1 --set c=1"
    )  # --c is an option
    assert for_command_line("a mass of m=2 kg, method='x'", cli.commands["info"]) == "a mass of m=2 kg, method='x'"


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["simulate", "planar_2r"], "--set I_1=1"), (["bounds", "planar_2r"], "--set I_1=1"),
        (["control", "planar_2r"], "--set I_1=1"), (["workspace", "planar_2r"], "--set I_1=1"),
        (["redundancy", "planar_2r"], "--set I_1=1"), (["excite", "planar_2r"], "--set I_1=1"),
        (["simulate", ARM, "--method", "rk4"], "--step 1e-3"),
        (["simulate", "puma560", "--method", "rk4", "--step", "1e-3"], "--friction smooth"),
        (["excite", ARM, "--effort", "1", "--no-torque"], "--effort"),
        (["workspace", ARM, "--colour", "condition", "--plane", "xy", "--level", "50", "--samples", "300"], "--level"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)  # fmt: skip
def test_messages_advise_options(words, advice):
    result = run(*words)
    assert result.exit_code == 2
    assert advice in result.stderr
    assert not re.search(r"\bload\(|replace\(|\b\w+=['(…]", result.stderr)


def test_only_the_start_of_a_long_name_is_compared(monkeypatch):
    compared = []
    monkeypatch.setattr("difflib.get_close_matches", lambda word, names, **_: compared.append((word, *names)) or [])
    text = str(unknown_name("joint", "joint_" * 11000, ["joint_" * 5000]))
    assert max(map(len, compared[0])) <= 80
    assert len(text) < 1000


def test_names_in_messages_are_sorted():
    assert str(unknown_name("law", "?", {"torque", "energy", "acceleration"})).endswith("'acceleration', 'energy', 'torque'")
    assert "did you mean 'ur5e'?" in str(unknown_name("robot", "ur5", ["panda", "ur5e"]))
    assert "did you mean 'l_1', 'I_1', 'L_2', 'm_1'?" in str(unknown_name("parameter", "L_1", ["I_1", "L_2", "l_1", "m_1"]))
    assert "did you mean 'link2'" in str(unknown_name("link", "lnk2", ["base", "link1", "link2"]))


# degrees

POSITIONS = {
    "id": "--q", "fd": "--q", "linearize": "--q", "statics": "--q", "stiffness": "--q", "simulate": "--q0", "control": "--q0",
    "redundancy": "--q0", "excite": "--q0", "bounds": "--lower", "workspace": "--upper",
}  # fmt: skip


@pytest.mark.parametrize(("name", "option"), POSITIONS.items())
@pytest.mark.parametrize("robot", ["ur5e", ARM])
def test_angles_that_look_like_degrees_are_refused_with_the_cure(name, option, robot):
    more = ["--springs", "1000"] if name == "stiffness" else []
    result = run(name, robot, *more, f"{option}=-90")
    assert (result.exit_code, result.stdout) == (2, "")
    for words in (option, "-90 rad", "--degrees", "-90deg", "--radians"):
        assert words in result.stderr


def test_a_goal_in_degrees_is_refused_but_not_a_position_of_the_tip():
    assert "--degrees" in run("control", "ur5e", "--goal", "90").stderr
    law = ["--law", "operational-space", "--q0", "0.3,1.2", "--time", "0.01"]
    assert "--degrees" not in run("control", ARM, *law, "--goal", "10,0").stderr


def test_degrees_are_converted_and_radians_can_be_insisted_on():
    import json

    def q(*words):
        result = run("id", "ur5e", *words, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["q"], result.stderr

    turned = np.deg2rad([0, -90, 90, 0, 45, 0])
    for words in (
        ["--q", "0,-90,90,0,45,0", "--degrees"],
        ["--q", "0,-90deg,90°,0,45deg,0rad"],
        ["--q=0deg -90deg 90deg 0 45deg 0"],
    ):
        found, said = q(*words)
        assert found == pytest.approx(turned)
        assert said == ""
    found, said = q("--q", "0,-90,90,0,45,0", "--radians")
    assert found == [0, -90, 90, 0, 45, 0]
    assert "outside the joint limits: shoulder_lift_joint = -90" in said


def test_positions_outside_the_limits_are_a_warning():
    result = run("id", "ur5e", "--q", "0,0,3.5,0,0,0")
    assert result.exit_code == 0
    assert "warning: --q is outside the joint limits: elbow_joint = 3.5, limits -3.142 … 3.142 rad" in result.stderr
    assert run("id", "ur5e", "--q", "0,0,3.1,0,0,0").stderr == ""


def test_units_must_be_those_of_the_joint():
    assert "prismatic and takes m, got deg" in run("id", "scara", "--q", "0,0,1deg,0").stderr
    assert "revolute and takes rad or deg, got m" in run("id", "scara", "--q", "1m,0,0,0").stderr
    assert run("id", "scara", "--q", "10,20,0.5m,30", "--degrees").exit_code == 0


def test_control_characters_are_escaped_in_text_and_names():
    assert clean("a\x1b[0m\nb\tc") == "a\\x1b[0m\nb\tc"
    assert clean_name("a\nb") == "a\\nb"
    assert clean("naïve τ²") == "naïve τ²"


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("inverse-dynamics ur5e", "Did you mean 'id'?"),
        ("view ur5e", "No such command 'view'. 'dynamis report ROBOT' writes a page with the robot in 3-D"),
        ("workspace ur5e --color reach", "'--colour'"),
        ("control ur5e --law pd --goal 0", "impedance. Did you mean pd-gravity?"),
        ("control ur5e --law computed_torque --goal 0", "Did you mean computed-torque?"),
        (
            "id ur5e --v 30deg",
            "without a unit after them; got '30deg'. --degrees, and units such as 30deg, apply to joint positions",
        ),
        (
            "stiffness ur5e",
            "N m/rad (revolute) or N/m (prismatic), one number per joint or one for all, such as --springs 20000",
        ),
        ("simulate ur5e --time -2", "Invalid value for '--time' / '--duration': -2 is not a positive number."),
        ("convert ur5e --to dh", "dynamis convert my_arm.urdf my_arm.toml --form dh"),
        ("check-answer planar_2r a.tex", "dynamis check-answer planar_2r --mass-matrix answer.tex"),
        ("simulate planar_2r_melchiorri --torque 1,2,3", "--tau / --torque takes 2 numbers"),
        ("workspace ur5e --colour stiffness", "requires --springs, one positive number for all joints or one per joint"),
    ],
)
def test_a_mistake_is_answered_with_what_is_probably_meant(words, advice):
    result = CliRunner().invoke(cli, words.split())
    assert result.exit_code == 2
    assert advice in " ".join(result.output.split())
    assert "on the command line" not in result.output


def test_lists_of_numbers_may_have_brackets():
    plain, *others = (
        CliRunner().invoke(cli, ["id", "planar_2r_melchiorri", "--q", q, "--v", v, "--json"]).output
        for q, v in (("0.1,0.2", "1,2"), ("[0.1, 0.2]", "(1 2)"))
    )
    assert others == [plain]


def test_numbers_may_be_quotients_and_multiples_of_pi():
    words = ["id", "planar_2r_melchiorri", "--v", "1/2", "--json", "--q"]
    outputs = [CliRunner().invoke(cli, [*words, q]) for q in (f"{np.pi / 2},{-3 * np.pi / 4}", "pi/2,-3*pi/4")]
    assert outputs[0].exit_code == 0
    assert outputs[0].output == outputs[1].output
    assert CliRunner().invoke(cli, [*words, "1/0,0"]).exit_code == 2

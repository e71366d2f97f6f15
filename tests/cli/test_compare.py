"""dynamis compare."""

import json
import re

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


def run(*arguments, columns=None):
    width = {} if columns is None else {"COLUMNS": str(columns)}
    result = CliRunner().invoke(cli, ["compare", *map(str, arguments)], env=width)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    arm = dy.load("ur5e")
    arm.write(folder / "arm.urdf")
    d = arm.description
    d.link("forearm_link").mass_properties.mass *= 1.05
    d.joint("elbow_joint").limits.effort = 100.0
    dy.Robot(d).write(folder / "better.urdf")
    d = arm.description
    d.joint("elbow_joint").limits.effort, d.joint("elbow_joint").limits.upper = 100.0, 2.0
    dy.Robot(d).write(folder / "limits.urdf")
    return folder


def test_the_same_robot_ends_with_0_and_another_with_1(files):
    same = run("ur5e", files / "arm.urdf")
    assert same.exit_code == 0
    assert "agree" in same.output
    other = run(files / "arm.urdf", files / "better.urdf")
    assert other.exit_code == 1
    for words in ("differ", "forearm_link", "mass", "1 limit differs", "effort", "elbow_joint", "gravity", "difference (RMS)"):
        assert words in other.output
    assert run(files / "arm.urdf", files / "better.urdf", "--tolerance", "0.5").exit_code == 0


def test_robots_that_differ_in_limits_only_are_told_so_with_units_and_no_empty_table(files):
    result = run(files / "arm.urdf", files / "limits.urdf", "--samples", "20", columns=80)
    assert result.exit_code == 1
    assert "differ: 2 limits differ, torques are equal" in " ".join(result.output.split())
    rows = [line.split() for line in result.output.splitlines() if line.startswith("elbow_joint")][-2:]
    assert [(row[1], row[-1]) for row in rows] == [("upper", "rad"), ("effort", "m")]  # of N m
    assert all(len(row) >= 6 for row in rows)
    assert "largest effect" not in result.output


def test_a_limit_of_one_robot_only_is_shown_as_none_of_the_other(files, tmp_path):
    d = dy.load("ur5e").description
    d.joint("elbow_joint").limits.effort = float("inf")
    dy.Robot(d).write(tmp_path / "strong.toml")
    result = run(files / "arm.urdf", tmp_path / "strong.toml", "--samples", "20")
    assert result.exit_code == 1
    row = next(line.split() for line in reversed(result.output.splitlines()) if line.startswith("elbow_joint"))
    assert row[:4] == ["elbow_joint", "effort", "150", "none"]


def test_machines_get_every_difference(files):
    result = run(files / "arm.urdf", files / "better.urdf", "--samples", "50", "--json")
    facts = json.loads(result.output)
    assert result.exit_code == 1
    assert facts["same"] is False
    assert [d["what"] for d in facts["differences"]] == ["mass", "effort limit"]
    assert facts["states"] == 50
    assert facts["worst"] == pytest.approx(facts["differences"][0]["effect"])


def test_other_robots_differ_and_bad_names_end_with_2():
    result = run("ur5e", "scara")
    assert result.exit_code == 1
    assert "different robots" in result.output
    assert json.loads(run("ur5e", "scara", "--json").output)["worst"] is None
    assert run("ur5e", "ur5x").exit_code == 2


def test_of_two_robots_the_xacro_file_takes_the_arguments(tmp_path):
    pytest.importorskip("xacro", reason="xacro is not installed: pip install 'dynamis[test]'")
    dy.load("planar_2r_melchiorri").write(tmp_path / "arm.urdf")
    text = (tmp_path / "arm.urdf").read_text()
    macro = text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    macro = macro.replace('<mass value="50"', '<mass value="$(arg m)"', 1)
    assert macro.count("$(arg m)") == 1
    at = macro.index(">", macro.index("<robot ")) + 1
    (tmp_path / "arm.xacro").write_text(macro[:at] + '<xacro:arg name="m" default="1"/>' + macro[at:])
    for names in (("arm.urdf", "arm.xacro"), ("arm.xacro", "arm.urdf")):
        assert run(*(tmp_path / name for name in names), "--arg", "m:=50").exit_code == 0


def test_of_two_robots_the_one_with_parameters_takes_their_values(tmp_path):
    values = [x for name in ("m_1", "m_2", "a_1", "a_2", "l_1", "l_2", "I_1", "I_2", "g") for x in ("--set", f"{name}=1")]
    dy.load("planar_2r", parameters={x.split("=")[0]: 1.0 for x in values[1::2]}).write(tmp_path / "arm.urdf")
    assert run("planar_2r", tmp_path / "arm.urdf", *values).exit_code == 0
    assert run(tmp_path / "arm.urdf", "planar_2r", *values).exit_code == 0
    assert "--set goes with" in run(tmp_path / "arm.urdf", tmp_path / "arm.urdf", *values).output


def test_differences_of_rounding_are_none(files, tmp_path):
    d = dy.load("ur5e").description
    d.link("forearm_link").mass_properties.mass *= 1.0 + 1e-14
    dy.Robot(d).write(tmp_path / "same.toml")
    words = " ".join(run("ur5e", tmp_path / "same.toml", "--samples", "20").output.split())
    assert "agree: torques are equal to rounding" in words
    assert "e-1" not in words  # 1e-14 %


def test_the_torque_that_differences_of_unloaded_joints_are_related_to_is_printed(tmp_path):
    d = dy.Description("arm").add_link("base")
    d.add_link("upper", "base", "revolute", joint_name="A1", axis=(0, 1, 0), inertia=dy.solids.box(2.0, 0.2, 0.2, mass=80.0),
               origin=dy.Pose.translation([0.0, 0.0, 0.5]))  # fmt: skip
    d.add_link("tool", "upper", "revolute", joint_name="A2", axis=(1, 0, 0), origin=dy.Pose.translation([2.0, 0.0, 0.0]),
               inertia=dy.solids.sphere(0.01, mass=0.01))  # fmt: skip
    dy.Robot(d).write(tmp_path / "a.urdf")
    d.link("tool").mass_properties.mass *= 1.5
    d.link("tool").mass_properties.tensor *= 1.5
    dy.Robot(d).write(tmp_path / "b.urdf")
    result = run(tmp_path / "a.urdf", tmp_path / "b.urdf")
    assert re.search(r"relative to [0-9.]+, 0\.1 % of the largest torque, where a joint's own is smaller: A2", result.output)
    row = json.loads(run(tmp_path / "a.urdf", tmp_path / "b.urdf", "--json").output)["torques"][1]
    assert row["rms"] < row["relative_to"]
    assert row["relative"] == pytest.approx(row["rms_difference"] / row["relative_to"])
    assert "where a joint's own is smaller" not in run("ur5e", tmp_path / "b.urdf").output

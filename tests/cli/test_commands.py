from __future__ import annotations

import json
import re
import shlex
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.summary import summarise
from dynamis.reports.sections.overview import _drives

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>
"""
DOUBTS = ('izz="0.04"', 'izz="0.4"', 'xyz="0 1 0"', 'xyz="0 3 0"', 'lower="-2" upper="2"', 'lower="2" upper="-2"')
ERRORS = ('value="2"', 'value="two"', 'type="revolute"', 'type="hinge"', 'upper="2"', 'upper="2,0"')


@pytest.fixture
def file(tmp_path):
    def write(*pieces, name="arm.urdf"):
        text = ARM
        for old, new in zip(pieces[::2], pieces[1::2], strict=True):
            assert old in text
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_a_clean_file_checks_with_status_0(run, file):
    result = run("check", file())
    assert result.exit_code == 0
    assert "Model check: no errors or warnings" in result.output


def test_a_doubtful_file_checks_with_status_0_and_strictly_with_1(run, file):
    path = file(*DOUBTS)
    result = run("check", path)
    assert result.exit_code == 0
    for word in ("triangle", "length 3", "lower limit 2", "3 warnings", "to repair"):
        assert word in result.output
    assert run("check", "--strict", path).exit_code == 1


def test_every_error_of_a_bad_file_is_listed_with_its_line_and_status_1(run, file):
    path = file(*ERRORS)
    result = run("check", path)
    assert result.exit_code == 1
    for word in (
        "'two'",
        "'hinge'",
        "'2,0'",
        "not usable, 3 errors",
        f"{path}:3",
        f"{path}:5",
        f"{path}:6",
        "allowed",
        "to repair",
    ):
        assert word in result.output


MANY_ERRORS = """<robot name="arm">
  <link name="base"/>
  <link name="twin"/>
  <link name="twin"/>
  <link name="upper"><inertial><mass value="-2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="fore"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
  <joint name="shoulder" type="hinge"><parent link="base"/><child link="upper"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><axis xyz="0 0 0"/></joint>
  <joint name="wrist" type="continuous"><parent link="fore"/><child link="hand"/></joint>
  <joint name="again" type="continuous"><parent link="base"/><child link="upper"/><mimic joint="shoulder" multiplier="0"/></joint>
</robot>
"""


def test_errors_of_every_class_are_found_in_one_check(run, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(MANY_ERRORS)
    found = json.loads(run("check", path, "--json").output)
    codes = {problem["code"] for problem in found["problems"]}
    assert codes >= {"duplicate-name", "negative-mass", "joint-type", "zero-axis", "missing-link", "two-parents", "mimic-ratio"}
    assert {"several-roots", "cycle", "mimic-type"}.isdisjoint(codes)  # these would follow from the other errors
    assert "inertia-triangle" in codes  # of a link without errors
    assert found["skipped"]
    assert "further checks were skipped" in run("check", path).output


def test_a_robot_file_with_many_warnings_gives_the_first_and_the_number(file):
    path = file(*DOUBTS)
    result = CliRunner().invoke(cli, ["info", str(path)])
    words = " ".join(result.stderr.split())
    assert f"{path}: 3 warnings about the model" in words
    assert f"run dynamis check {path} for all of them" in words
    assert result.stderr.count("dynamis: warning:") == 3  # the sentence and two of the three warnings
    assert words.replace("dynamis: warning:", "").count("warning:") == 0


def test_a_finding_in_an_included_file_names_that_file(tmp_path):
    head = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    inertial = '<inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "leg.xacro").write_text(
        f"""{head}<xacro:macro name="leg" params="parent">
        <link name="leg">{inertial.replace("<mass", '<origin xyz="1 0 0"/><mass')}</link>

        <joint name="hip" type="revolute"><parent link="${{parent}}"/><child link="leg"/><axis xyz="0 1 0"/>
        <limit effort="1" velocity="1" lower="-1" upper="1"/></joint></xacro:macro></robot>"""
    )
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(f'{head}<xacro:include filename="leg.xacro"/><link name="base"/><xacro:leg parent="base"/></robot>')
    place = f"{tmp_path / 'leg.xacro'}:5: "
    for command in ("info", "check"):
        result = CliRunner().invoke(cli, [command, str(path)])
        assert place in " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.urdf", "<robot"), ("b.urdf", ""), ("c.urdf", "<!DOCTYPE x><robot/>"), ("d.toml", "x = "), ("e.toml", "\x00")],
)
def test_a_file_that_is_not_its_format_checks_with_status_1(run, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    result = run("check", tmp_path / name)
    assert result.exit_code == 1
    assert "1 error," in result.output
    assert "further checks were skipped" in result.output
    findings = json.loads(run("check", "--json", tmp_path / name).output)
    assert findings["ok"] is False
    assert findings["problems"][0]["file"] == str(tmp_path / name)


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "missing.urdf"], ["check", "no_such_robot"], ["info", "missing.toml"], ["info"], ["convert", "ur5e"],
     ["convert", "nobody", "x.urdf"], ["frobnicate"], ["check", "--frobnicate", "ur5e"], ["convert", "ur5e", "x.urdf", "--form", "odd"],
     ["check", ""], ["info", "a\0b"], ["info", "x" * 300]],
)  # fmt: skip
def test_a_command_that_cannot_run_ends_with_status_2_and_a_sentence(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert len(result.output.strip()) > 20


def test_an_unknown_robot_is_answered_with_the_near_names(run):
    result = run("info", "ur5")
    assert result.exit_code == 2
    assert "ur5e" in result.output


@pytest.mark.parametrize("pieces", [(), DOUBTS, ERRORS])
@pytest.mark.parametrize("strict", [[], ["--strict"]])
def test_the_findings_as_json_are_json_with_the_same_status(run, file, pieces, strict):
    path = file(*pieces)
    plain, result = run("check", *strict, path), run("check", "--json", *strict, path)
    data = json.loads(result.output)
    assert result.exit_code == plain.exit_code
    assert data["ok"] == (pieces is not ERRORS)
    assert len(data["problems"]) == len(pieces) // 2
    for problem in data["problems"]:
        assert {"severity", "code", "where", "found", "file", "line"} <= set(problem)


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_a_repaired_file_checks_clean_and_keeps_mass_and_centre_of_mass(run, file, tmp_path, suffix):
    path, out = file(*DOUBTS), tmp_path / f"mended.{suffix}"
    result = run("check", path, "--repair", out)
    assert result.exit_code == 0
    assert result.output.count("repaired ") >= 3
    assert run("check", "--strict", out).exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        before, after = dy.load(path).description, dy.load(out).description
    old, new = before.link("upper").mass_properties, after.link("upper").mass_properties
    assert new.mass == old.mass
    assert new.com == pytest.approx(old.com, abs=1e-15)
    assert np.linalg.eigvalsh(new.tensor)[0] > 0.0
    limits = after.joint("shoulder").limits
    assert (limits.lower, limits.upper) == (-2.0, 2.0)


@pytest.mark.parametrize(
    "tensor",
    ['ixx="-1" ixy="0" ixz="0" iyy="-1" iyz="0" izz="-1"', 'ixx="0" ixy="1" ixz="1" iyy="0" iyz="1" izz="0"',
     'ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1"', 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="1"',
     'ixx="1e6" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'],
)  # fmt: skip
def test_any_impossible_inertia_is_repaired(run, file, tmp_path, tensor):
    path = file('ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"', tensor)
    run("check", path, "--repair", tmp_path / "mended.urdf")
    codes = {p.code for p in dy.check(tmp_path / "mended.urdf")}
    assert not codes & {"inertia-triangle", "inertia-negative"}


def test_errors_are_not_repaired_and_nothing_is_written(run, file, tmp_path):
    result = run("check", file(*ERRORS), "--repair", tmp_path / "out.urdf")
    assert result.exit_code == 1
    assert "not written" in result.output
    assert not (tmp_path / "out.urdf").exists()


@pytest.mark.parametrize("out", ["out.txt", "missing/out.urdf"])
def test_a_repair_that_cannot_be_written_ends_with_status_2(run, file, tmp_path, out):
    assert run("check", file(*DOUBTS), "--repair", tmp_path / out).exit_code == 2


def test_info_shows_the_robot_and_its_joints(run, file):
    for robot in ("ur5e", "planar_2r", "baxter", file(), file(*DOUBTS, name="doubtful.urdf")):
        result = run("info", robot)
        assert result.exit_code == 0
        assert "Joints: axis in the joint frame; units" in result.output
    free = run("info", "planar_2r_melchiorri", "--floating").output
    assert "units rotations rad, rad/s, N m; translations m, m/s, N" in free
    assert re.search(r"floating_base +free +– ", free)  # a free joint has no axis


def test_info_and_the_notebook_state_the_same_masses():
    """Of go2 each foot is fixed to a calf: both count it with the calf."""
    robot = dy.load("go2")
    rows = {link["name"]: link["mass"] for link in summarise(robot)["links"]}
    assert rows["FL_calf"] == robot.model.bodies[3].inertia.mass > robot.description.link("FL_calf").mass_properties.mass
    shown = re.search(r">FL_calf</td><td[^>]*>([^<]*)<", robot._repr_html_())
    assert shown is not None
    assert shown[1] == f"{rows['FL_calf']:.4g}"


@pytest.mark.parametrize("name", ["ur5e", "panda", "g1", "planar_2r", "scara"])
def test_info_as_json_says_what_the_robot_is(run, name):
    data = json.loads(run("info", name, "--json").output)
    robot = dy.load(name)
    assert data["degrees_of_freedom"] == robot.n
    assert [j["name"] for j in data["joints"]] == list(robot.joint_names)
    assert data["frames"] == list(robot.link_names)
    if not robot.model.symbolic:
        assert data["mass"] == pytest.approx(robot.mass)
        assert data["at_home"]["gravity"] == pytest.approx(robot.gravity(robot.home()))


def test_info_gives_centres_of_mass_in_the_frame_of_the_link_as_the_file_does(run, tmp_path):
    path = tmp_path / "arm.toml"
    text = "[[dh]]\na = 0.3\nalpha = 0.4\ntheta = 0.2\nmass = 2\ncom = [-0.15, 0.01, 0.02]\n"
    path.write_text(
        text + '[[link]]\nlink = "cart"\ntype = "planar"\nmass = 3\ncom = [0, 0, 0.1]\ninertia = { xx = 1, yy = 1, zz = 1 }\n'
    )
    bodies = json.loads(run("info", path, "--json").output)["links"]
    assert [body["name"] for body in bodies] == ["link1", "cart"]
    assert bodies[0]["com"] == pytest.approx([-0.15, 0.01, 0.02])
    assert bodies[1]["com"] == pytest.approx([0, 0, 0.1])
    assert "(-0.15, 0.01, 0.02)" in run("info", path).output


BRICK = '<robot name="brick"><link name="body"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


@pytest.mark.parametrize(
    "command",
    [
        "id --q 1",
        "fd",
        "statics",
        "derive",
        "simulate",
        "export inverse_dynamics",
        "fmu brick.fmu",
        "show inverse_dynamics",
        "bench",
        "bounds",
        "report",
    ],
)
def test_a_robot_without_moving_joints_is_refused_with_the_cure(run, tmp_path, command):
    path = tmp_path / "brick.urdf"
    path.write_text(BRICK + "</inertial></link></robot>")
    name, *others = command.split()
    result = run(name, path, *others)
    assert result.exit_code == 2
    assert "robot 'brick' has no moving joints" in result.output
    assert ("--floating" in result.output) == (name not in ("statics", "derive", "bounds"))


def test_info_shows_motors_on_links_and_actuators(run, tmp_path):
    (tmp_path / "arm.toml").write_text("""
[[link]]
link = "upper"
mass = 1
com = [1, 0, 0]
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
actuator = { kind = "dc_motor", resistance = 1.5, constant = 0.1 }
[[link]]
link = "fore"
mass = 1
com = [1, 0, 0]
rotor_inertia = 1e-3
motor_link = "upper"
[[payload]]
frame = "fore"
mass = 2
com = [0.1, 0, 0.2]
""")
    result = run("info", str(tmp_path / "arm.toml"), "--json")
    first, second = json.loads(result.stdout)["joints"]
    assert (first["motor_link"], second["motor_link"]) == (None, "upper")
    assert first["actuator"] == {"kind": "dc_motor", "resistance": 1.5, "constant": 0.1}
    assert [link["name"] for link in json.loads(result.stdout)["links"]] == ["upper", "fore"]
    shown = run("info", str(tmp_path / "arm.toml")).stdout
    assert "motor on" in shown
    assert "dc motor" in shown
    (payload,) = json.loads(result.stdout)["payloads"]
    assert (payload["name"], payload["mass"]) == ("fore", 2.0)
    assert payload["com"] == pytest.approx([0.1, 0.0, 0.2])
    assert "Payloads, part of the bodies above" in shown


def test_info_of_a_floating_robot_has_six_more_degrees_of_freedom(run):
    assert json.loads(run("info", "ur5e", "--floating", "--json").stdout)["degrees_of_freedom"] == 12


def test_info_of_a_doubtful_file_says_so_in_a_sentence(file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(cli, ["info", str(file(*DOUBTS))])
    assert result.exit_code == 0
    assert "triangle" in result.output


def test_info_of_a_bad_file_lists_the_problems_with_status_2(run, file):
    result = run("info", file(*ERRORS))
    assert result.exit_code == 2
    assert "'two'" in result.output
    assert "'hinge'" in result.output


@pytest.mark.parametrize("name", ["\\u001b[31m", "[bold]x[/bold]", "[/]", "a\\nb", "x" * 5000, "\\u0000", "\\u202e"])
def test_hostile_names_reach_the_terminal_as_harmless_text(run, tmp_path, name):
    (tmp_path / "r.toml").write_text(
        f'[robot]\nname = "{name}"\nabout = "{name}"\n[[link]]\nlink = "{name}"\njoint = "{name}"\nmass = 1\ncom = [1, 0, 0]\naxis = [0, 2, 0]\n'
    )
    for command in (["info"], ["check"], ["info", "--json"], ["check", "--json"]):
        result = run(*command, tmp_path / "r.toml")
        assert result.exit_code == 0
        assert not {"\x1b", "\x00", "\u202e"} & set(result.output) or "--json" in command
        if "--json" in command:
            json.loads(result.stdout)


def test_info_and_report_show_rotor_gear_and_both_directions_of_coulomb_friction(run, tmp_path):
    text = (
        '[robot]\nname = "geared"\n[base]\n[[link]]\nlink = "arm"\njoint = "j1"\nmass = 1\ncom = [0.2, 0, 0]\naxis = [0, 0, 1]\n'
        "inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }\nrotor_inertia = 1e-4\ngear_ratio = 100\ncoulomb = [1, 0.8]\n"
    )
    (tmp_path / "geared.toml").write_text(text)
    shown = run("info", str(tmp_path / "geared.toml")).output
    assert "rotor inertia [kg m²]   gear ratio   reflected inertia [kg m²]" in shown
    assert re.search(r"j1 +1 \(\+\), 0\.8 \(−\) +0\.0001 +100 +1\n", shown)
    (table,) = _drives(SimpleNamespace(robot=dy.load(tmp_path / "geared.toml")))
    assert table.header[1:] == ("Coulomb friction", "rotor inertia", "gear ratio", "reflected inertia")
    assert table.rows == [("j1", "1 (+), 0.8 (−)", "0.0001", "100", "1")]
    (tmp_path / "geared.toml").write_text(text.replace("[0, 0, 1]", "[0, 0, 2]"))
    assert "(0, 0, 1)" in run("info", str(tmp_path / "geared.toml")).output


def test_an_export_says_how_to_run_its_self_test(tmp_path):
    result = CliRunner().invoke(cli, ["export", "planar_2r_melchiorri", "gravity", "-o", str(tmp_path / "a b")])
    source = tmp_path / "a b" / "dynamis_gravity.c"
    command = f"cc -std=c99 -O2 -DDYNAMIS_GRAVITY_SELFTEST '{source}' -lm -o selftest && ./selftest"
    assert shlex.split(result.stdout.partition("self-test:")[2].replace("\\\n", "")) == shlex.split(command)
    assert "#ifdef DYNAMIS_GRAVITY_SELFTEST" in source.read_text()


def test_a_robot_without_joints_has_no_tables_of_them(run, tmp_path):
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{inertial}</link></robot>')
    result = run("info", tmp_path / "r.urdf")
    assert result.exit_code == 0
    assert "no moving joints" in result.output
    assert "m/s, N" not in result.output
    assert "Moving bodies" not in result.output
    assert "The base, with the links fixed to it, has a mass of 2 kg" in result.output


def test_limits_that_no_joint_has_are_told(run, tmp_path):
    assert "the file has no limits of position, velocity or effort" in run("info", "planar_2r").output
    assert "the file has no limits" not in run("info", "ur5e").output

"""dynamis id."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

ARM = "planar_2r_melchiorri"


def run(*arguments):
    result = CliRunner().invoke(cli, ["id", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def motion(tmp_path):
    """A file of ten states, with degrees among its units."""
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, (3, 10, 2))
    path = tmp_path / "motion.csv"
    table = np.column_stack([np.arange(10) / 10, np.degrees(q), v, a])
    np.savetxt(path, table, delimiter=",", header="t,q1 [deg],q2 [deg],v1,v2,a1,a2", comments="", fmt="%.17g")
    return path, q, v, a


def test_torques_at_a_state_are_those_of_the_library():
    robot = dy.load(ARM)
    facts = json.loads(run(ARM, "--q", "0.3,0.9", "--v", "1,-1", "--a", "0.5", "--ledger", "--json").output)
    state = [0.3, 0.9], [1.0, -1.0], [0.5, 0.5]
    assert facts["tau"] == pytest.approx(robot.inverse_dynamics(*state))
    for name, term in robot.torque_ledger(*state).as_dict().items():
        assert facts["ledger"][name] == pytest.approx(term)
    assert facts["a"] == [0.5, 0.5]


def test_the_table_has_a_row_a_joint_and_the_terms_that_are_there():
    output = run("ur5e", "--q", "0,-1.2,1.6,-0.9,-1.3,0", "--a", "1", "--ledger").output
    for words in ("UR5e: inverse dynamics", "elbow_joint", "N m", "inertia", "gravity", "limit", "150"):
        assert words in output
    assert "coriolis" not in output  # it is at rest


def test_wrenches_act_at_their_frames_and_forces_may_do_without_a_moment():
    robot = dy.load("ur5e")
    q = [0, -1.2, 1.6, -0.9, -1.3, 0]
    text = ",".join(map(str, q))
    facts = json.loads(run("ur5e", "--q", text, "--wrench", "0,0,-50", "--wrench", "forearm_link:1,2,3,4,5,6", "--json").output)
    zero = np.zeros(6)
    loads = {robot.model.tip: [0, 0, -50, 0, 0, 0], "forearm_link": [1, 2, 3, 4, 5, 6]}
    assert facts["tau"] == pytest.approx(robot.inverse_dynamics(q, zero, zero, loads))


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_every_row_of_a_file_is_computed_and_written(motion, tmp_path, suffix):
    path, q, v, a = motion
    out = tmp_path / f"torques{suffix}"
    result = run(ARM, "--states", path, "--out", out, "--ledger")
    assert result.exit_code == 0, result.output
    assert "torques of 10 rows" in result.output
    if suffix == ".csv":
        table = np.genfromtxt(out, delimiter=",", names=True, deletechars="")
    else:
        with np.load(out) as archive:
            table = dict(archive)
    robot = dy.load(ARM)
    tau = np.column_stack([table["tau.joint1"], table["tau.joint2"]])
    assert tau == pytest.approx(robot.inverse_dynamics(q, v, a))
    assert table["gravity.joint2"] == pytest.approx(robot.gravity(q)[:, 1])
    assert table["t"] == pytest.approx(np.arange(10) / 10)
    assert [x.name for x in tmp_path.iterdir() if x.name.startswith(".")] == []


def test_an_option_stands_for_columns_that_are_not_there(motion, tmp_path):
    path, q, _, _ = motion
    rows = np.genfromtxt(path, delimiter=",", skip_header=1)[:, :3]
    short = tmp_path / "short.csv"
    np.savetxt(short, rows, delimiter=",", header="t,q1 [deg],q2 [deg]", comments="")
    result = run(ARM, "--states", short)
    assert result.exit_code == 2
    assert "no columns for v" in result.output
    assert "or give --v" in result.output
    facts = json.loads(run(ARM, "--csv", short, "--v", "0", "--a", "0", "--json").output)
    assert np.array(facts["tau"]) == pytest.approx(dy.load(ARM).gravity(q))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--q", "1,2,3"], "--q takes 2 numbers"),
        (["--q", "one"], "such as --q"),
        (["--wrench", "1,2"], "--wrench takes 3 numbers"),
        (["--wrench", "hand:1,2,3"], "no frame named 'hand'"),
        (["--wrench", "1,2,3", "--wrench", "4,5,6"], "twice"),
        (["--out", "x.csv"], "--states"),
        (["--states", "missing.csv"], "does not exist"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(arguments, words):
    result = run(ARM, *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_unknown_robots_and_symbols_say_what_to_do(motion):
    result = run("ur5")
    assert result.exit_code == 2
    assert "ur5e" in result.output
    assert "--set I_1=1" in " ".join(run("planar_2r").output.split())
    assert (
        run(
            "pendulum_from_vertical", "--set", "I=1", "--set", "m=2", "--set", "L=1", "--set", "d=0", "--set", "g=9.81"
        ).exit_code
        == 0
    )
    path, *_ = motion
    assert "the file name must end in .csv or .npz" in run(ARM, "--states", path, "--out", "x.txt").output


def test_the_unit_of_angles_in_a_file_is_stated_or_asked_for(tmp_path):
    file = tmp_path / "states.csv"
    file.write_text("q1,q2,q3,q4,q5,q6\n0,-70,90,-50,-75,0\n")
    arguments = ["id", "ur5e", "--states", str(file), "--v", "0", "--a", "0", "--json"]
    refused = CliRunner().invoke(cli, arguments)
    assert refused.exit_code == 2
    assert "-70 rad for joint 'shoulder_lift_joint' in data row 1 is 11.1 turns" in refused.stderr
    assert "--degrees" in refused.stderr
    in_degrees = CliRunner().invoke(cli, [*arguments, "--degrees"])
    one = CliRunner().invoke(cli, ["id", "ur5e", "--q", "0,-70,90,-50,-75,0", "--degrees", "--json"])
    assert np.allclose(json.loads(in_degrees.stdout)["tau"][0], json.loads(one.stdout)["tau"])
    assert CliRunner().invoke(cli, [*arguments, "--radians"]).exit_code == 0


def test_velocities_beyond_the_limits_are_reported():
    result = CliRunner().invoke(cli, ["id", "ur5e", "--v", "30"])
    assert result.exit_code == 0
    assert "--v exceeds the velocity limits: shoulder_pan_joint = 30, limit 3.142 rad/s" in result.stderr
    assert "limits" not in CliRunner().invoke(cli, ["id", "ur5e", "--v", "1"]).stderr


def test_a_value_that_is_no_number_is_refused_for_that_reason_alone():
    result = CliRunner().invoke(cli, ["id", "ur5e", "--q", "nan"])
    assert result.exit_code == 2
    assert "must be a finite number" in result.stderr
    assert "limits" not in result.stderr


def test_the_rms_of_a_file_with_times_is_taken_over_time(tmp_path):
    robot = dy.load(ARM)
    t = np.concatenate([np.linspace(0, 0.1, 200), np.linspace(0.1, 10, 10)[1:]])  # rows are dense at the start
    q = np.where(t[:, None] <= 0.1, [0.0, 0.0], [np.pi / 2, 0.0])  # gravity acts at the beginning only
    file = tmp_path / "motion.csv"
    tau = robot.inverse_dynamics(q, 0.0 * q, 0.0 * q)
    arguments = ARM, "--states", file, "--v", "0", "--a", "0"
    np.savetxt(file, np.c_[t, q], delimiter=",", header="t,q1,q2", comments="")
    facts = json.loads(run(*arguments, "--json").output)
    assert facts["rms_over"] == "time"
    assert facts["rms"] == pytest.approx(np.sqrt(np.trapezoid(tau**2, t, axis=0) / 10), abs=1e-9)
    assert "RMS over time" in run(*arguments).output
    np.savetxt(file, q, delimiter=",", header="q1,q2", comments="")
    facts = json.loads(run(*arguments, "--json").output)
    assert facts["rms_over"] == "rows"
    assert facts["rms"] == pytest.approx(np.sqrt(np.mean(tau**2, axis=0)), abs=1e-9)
    result = run(*arguments)
    assert "RMS of the rows" in result.output
    assert result.stderr == ""
    for times, why in ((t[::-1], "decreases"), (0.0 * t, "does not increase")):
        np.savetxt(file, np.c_[times, q], delimiter=",", header="t,q1,q2", comments="")
        result = run(*arguments)
        assert "RMS of the rows" in result.stdout
        assert f"the column t {why}: the RMS is that of the rows, not over time" in " ".join(result.stderr.split())


def test_the_limit_is_what_the_drive_gives_at_that_speed(tmp_path):
    drive = dy.Saturated(effort=1000.0, speed=4.0, knee=0.5, efficiency=0.8)
    robot = dy.load(ARM).replace(actuators={"joint1": drive})
    robot.write(file := tmp_path / "arm.toml")
    states = tmp_path / "motion.csv"
    v = np.array([[3.0, 0.0], [0.0, 0.0]])
    rows = np.c_[[0.0, 1.0], np.zeros((2, 2)), v, np.zeros((2, 2))]
    np.savetxt(states, rows, delimiter=",", header="t,q1,q2,v1,v2,a1,a2", comments="")
    tau = robot.inverse_dynamics(np.zeros((2, 2)), v, np.zeros((2, 2)))
    facts = json.loads(run(file, "--states", states, "--json").output)
    assert facts["beyond_limits"] == ["joint1"]
    assert facts["use"][0] == pytest.approx(max(tau[0, 0] / (1000 * 0.5 * 0.8), tau[1, 0] / (1000 * 0.8)))
    assert facts["largest_power"][0] == pytest.approx(3.0 * tau[0, 0])
    printed = run(file, "--states", states).output
    assert "torque limits exceeded: joint1" in printed
    assert "not voltages" in printed
    one = json.loads(run(file, "--q", "0", "--v", "3,0", "--a", "0", "--json").output)
    assert one["limits"][0] == pytest.approx(1000 * 0.5 * 0.8)
    assert one["beyond_limits"] == ["joint1"]

"""dynamis simulate and dynamis study."""

import json

import numpy as np
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_a_motion_is_summed_up():
    result = run("simulate", "planar_2r_melchiorri", "--time", "1")
    assert result.exit_code == 0, result.output
    assert "completed at t = 1 s" in result.output
    assert "energy balance" in result.output
    assert "q [rad]" in result.output
    assert "v [rad/s]" in result.output
    assert "velocity limits" not in result.output  # it has none


def test_velocities_beyond_the_limits_are_a_warning():
    words = " ".join(run("simulate", "ur5e", "--time", "0.5").output.split())
    assert "velocity limits exceeded during the motion: shoulder_" in words
    assert "rad/s (limit 3.14)" in words
    assert "position limits" not in words


def test_positions_beyond_the_limits_are_a_warning():
    words = " ".join(run("simulate", "stanford", "--time", "0.5").output.split())
    assert "position limits exceeded during the motion: boom -0.307 m (0.305 … 1.27); --stops keeps" in words
    assert "position limits" not in run("simulate", "stanford", "--time", "0.5", "--stops", "hard").output


def test_torques_beyond_the_limits_are_a_warning_and_listed_for_programs():
    options = ("simulate", "ur5e", "--time", "0.01", "--tau", "200,0,0,200,0,0")
    words = " ".join(run(*options).output.split())
    assert (
        "torque limits exceeded during the motion: shoulder_pan_joint 200 N m (limit 150), wrist_1_joint 200 N m (limit 28)"
        in words
    )
    assert json.loads(run(*options, "--json").stdout)["beyond_limits"] == ["shoulder_pan_joint", "wrist_1_joint"]
    assert "torque limits" not in run("simulate", "ur5e", "--time", "0.01", "--tau", "20").output


def test_steps_that_do_not_keep_the_energy_balance_are_a_warning():
    options = ("simulate", "planar_2r_melchiorri", "--time", "1", "--method", "euler", "--step")
    words = " ".join(run(*options, "0.5").output.split())
    assert "% of the energy exchanged: use a shorter --step, or an adaptive method, --method DOP853 without --step" in words
    assert "of the energy exchanged" not in run(*options, "0.001").output


def test_the_meaning_of_a_step_for_an_adaptive_method_is_stated():
    result = run("simulate", "planar_2r_melchiorri", "--time", "0.1", "--step", "0.01", "--json")
    assert "DOP853 adapts its step: --step 0.01 is only its largest value" in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["status"] == "completed"
    fixed = run("simulate", "planar_2r_melchiorri", "--time", "0.1", "--step", "0.01", "--method", "rk4")
    assert "adapts its step" not in fixed.output


def test_progress_is_printed_also_where_there_is_no_terminal(monkeypatch):
    from dynamis.cli import progress

    monkeypatch.setattr(progress, "LINE_INTERVAL", 0.0)
    result = run("simulate", "planar_2r_melchiorri", "--time", "0.5", "--json")
    assert "dynamis: simulating, t = 0.5 s of 0.5 s (100 % after" in result.stderr
    assert json.loads(result.stdout)["status"] == "completed"


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
    assert facts["status"] == "completed"
    assert any("elbow starts" in event for event in facts["events"])


def test_bad_input_says_what_to_do():
    assert "needs a step" in run("simulate", "scara", "--method", "rk4", "--friction", "none").output
    assert "choose RK45" in run("simulate", "scara", "--method", "rk5").output
    assert "planar 2R" in run("simulate", "planar_2r").output
    assert run("simulate", "scara", "--time", "-1").exit_code == 2


def test_stops_and_a_limit_of_time_are_options():
    hard = run("simulate", "scara", "--time", "1.5", "--stops", "hard")
    assert hard.exit_code == 0, hard.output
    assert "joint3 rests at its upper stop" in hard.output
    soft = run("simulate", "scara", "--time", "1.5", "--stops", "compliant", "--json")
    assert json.loads(soft.output)["events"] == []
    assert 0.9 < json.loads(soft.output)["q"][2] < 0.95
    assert "no joint with limits" in run("simulate", "planar_2r_melchiorri", "--stops", "hard").output
    short = run("simulate", "scara", "--seconds", "1e-9")
    assert "took more than 1e-09 s" in short.output
    assert short.exit_code == 1
    assert run("simulate", "scara", "--seconds", "-1").exit_code == 2


def test_an_interrupted_motion_is_written_as_far_as_it_went_and_the_status_is_130(tmp_path, monkeypatch):
    from dynamis.cli.progress import Bar

    def pressed(_self, fraction, _name):
        if fraction > 0.5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "show", pressed)
    for extra in ((), ("--json",)):
        result = run("simulate", "planar_2r_melchiorri", "--time", "2", "-o", str(tmp_path / "m.csv"), *extra)
        assert result.exit_code == 130, result.output
        assert "interrupted at t = 1." in result.output
        table = np.genfromtxt(tmp_path / "m.csv", delimiter=",", names=True)
        assert 1.0 <= table["t"][-1] < 2.0
    assert "up to the interruption" in run("simulate", "scara", "--time", "1", "-o", str(tmp_path / "n.csv")).output


def test_the_lectures_study(tmp_path):
    result = run("study", "--plot", str(tmp_path / "study.png"))
    assert result.exit_code == 0, result.output
    assert len(result.output.splitlines()) == 8
    assert (tmp_path / "study.png").stat().st_size > 20_000


def test_loops_of_a_file_are_closed_unless_they_are_left_open(tmp_path):
    loop, path = dy.loops.four_bar(), tmp_path / "four_bar.toml"
    loop.write(path)
    words = ["simulate", str(path), "--time", "0.2", "--points", "3", "--json"]
    closed, free = (json.loads(run(*words, *more).stdout) for more in ([], ["--open-loops"]))
    expected = loop.simulate(0.2, points=3)
    assert np.abs(np.array(closed["q"]) - expected.q[-1]).max() < 1e-9
    assert np.abs(np.array(free["q"]) - dy.simulate(loop.robot, 0.2, points=3).q[-1]).max() < 1e-9
    assert "loops closed by 1 closure: largest error" in run(*words[:-1], "-o", str(tmp_path / "motion.csv")).output
    assert (tmp_path / "motion.csv").read_text().count("\n") == 4


def test_an_initial_state_that_loops_change_is_told(tmp_path):
    loop, path = dy.loops.four_bar(), tmp_path / "four_bar.toml"
    loop.write(path)
    words = ["simulate", str(path), "--time", "0.1", "--points", "3"]
    home = ",".join(f"{x:.17g}" for x in loop.home())
    assert "does not close the loops" not in run(*words, "--q0", home).output
    told = " ".join(run(*words, "--q0", "0.5,0,0").output.split())
    assert "--q0 does not close the loops; the nearest state that does (see --keep) has" in told
    assert "instead of 0.5" in told
    told = run(*words, "--q0", "0.5,0,0", "--v0", "1,0,0", "--keep", "crank", "-o", str(tmp_path / "motion.npz")).output
    assert "the nearest state that does with crank as given has coupler" in " ".join(told.split())
    motion = dy.Trajectory.load(tmp_path / "motion.npz", loop.robot)
    assert np.allclose([motion.q[0, 0], motion.v[0, 0]], [0.5, 1.0], rtol=1e-12)
    assert "is for robots whose loops are closed" in run("simulate", "scara", "--keep", "joint1").output
    assert "crnak" in run(*words, "--q0", "0.5,0,0", "--keep", "crnak").output


def test_a_method_may_be_given_in_any_case():
    for method, step in (("rk45", ()), ("RK4", ("--step", "1e-2")), ("dop853", ())):
        result = run("simulate", "planar_2r_melchiorri", "--time", "0.1", "--method", method, *step)
        assert result.exit_code == 0, result.output
    assert "RK45 adapts its step" in run("simulate", "scara", "--time", "0.1", "--method", "rk45", "--step", "0.01").output


def test_a_command_in_volts_is_said_to_be_one(tmp_path):
    path, arm = tmp_path / "driven.toml", dy.load("planar_2r_melchiorri")
    arm.replace(actuators={"joint2": dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0)}).write(path)
    words = ("simulate", str(path), "--time", "0.1")
    assert "note: --tau is in V for joint2, which a DC motor drives" in run(*words, "--tau", "12,3").stderr
    assert "in V" not in run(*words).stderr
    assert "voltages in V" in " ".join(run("simulate", "--help").output.split())

"""dynamis bench; no test asserts a time."""

import json
import os

import pytest
from click.testing import CliRunner

import dynamis
from dynamis.cli.commands import cli
from dynamis.cli.rivals import NAMES
from dynamis.cli.timing import _first_calls

ARM = "planar_2r_melchiorri"


def run(*arguments):
    result = CliRunner().invoke(cli, ["bench", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_every_figure_is_there_and_the_surroundings_are_left_as_they_were():
    before = dict(os.environ)
    result = run(ARM, "--seconds", "0.01", "--batch", "100", "--threads", "2", "--json")
    assert dict(os.environ) == before
    facts = json.loads(result.output)
    assert facts["batch"] == 100
    assert facts["machine"]["threads"] == 2
    assert len(facts["functions"]) == 6
    for row in facts["functions"]:
        for key in (
            "operations",
            "first_call_ms",
            "from_disk_ms",
            "one_call_us",
            "ns_per_state",
            "ns_per_state_checked",
            "ns_per_state_threads",
        ):
            assert row[key] > 0


def test_people_get_a_table():
    output = run(ARM, "--functions", "gravity,mass_matrix", "--seconds", "0.01", "--batch", "10").output
    for words in ("gravity", "mass_matrix", "time per state", "first call", "cached", "Python", "NumPy"):
        assert words in output
    assert "forward_dynamics" not in output


def test_the_cached_first_call_loads_code_from_the_disk():
    robot = dynamis.load(ARM)
    *_, fresh = _first_calls(robot, "gravity", [robot.home()])
    assert "from disk" in fresh.kernel("gravity").state()


def test_a_dash_in_the_column_of_a_rival_is_explained():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[oracles]'")
    output = run("ur5e", "--against", "mujoco", "--functions", "gravity", "--seconds", "0.01", "--batch", "10").output
    assert "–: no comparison with mujoco for this function" in output


@pytest.mark.parametrize("name", NAMES)
def test_rivals_compute_the_same_robot(name):
    pytest.importorskip(name, reason=f"{name} is not installed: pip install 'dynamis[oracles]'")
    functions = "inverse_dynamics,forward_dynamics"
    result = run("ur5e", "--against", name, "--functions", functions, "--seconds", "0.01", "--batch", "10", "--json")
    assert result.exit_code == 0, result.output
    for row in json.loads(result.output)["functions"]:
        assert row["rivals"][name]["ns_per_state"] > 0


def test_a_robot_that_a_rival_refuses_is_said():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[oracles]'")
    result = run("scara", "--against", "mujoco", "--functions", "gravity")
    assert result.exit_code == 2
    assert "cannot read" in result.output


def test_bad_input_ends_with_2():
    assert "did you mean" in run(ARM, "--functions", "gravty").output
    assert run(ARM, "--functions", "gravty").exit_code == 2
    assert run("planar_2r").exit_code == 2
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
    result = run("go2", "--floating", "--against", "pinocchio", "--functions", "gravity")
    assert result.exit_code == 2
    assert "fixed-base robots" in result.output

"""dynamis collide: the nearest pairs, collisions as exit status, obstacles and files of states."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
Q = "0.3,-1.2,1.5,-0.4,0.8,0.1"


def run(*arguments):
    result = CliRunner().invoke(cli, ["collide", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_nearest_pairs_are_listed_and_links_without_geometry_are_named():
    result = run("ur5e", "--q", Q)
    assert result.exit_code == 0, result.output
    for words in ("13 pairs of 7 links checked, free", "upper_arm_link", "0.0125", "no geometry: tool0"):
        assert words in result.output


def test_angles_confirmed_to_be_radians_are_not_questioned_again():
    assert "--degrees" in run("ur5e", "--q", "0,-90,90,0,45,0").stderr
    assert "degrees" not in run("ur5e", "--q", "0,-90,90,0,45,0", "--radians").stderr


def test_a_collision_with_an_obstacle_ends_with_1_as_data_too():
    tip = dy.load("ur5e").pose([float(x) for x in Q.split(",")])[:3, 3]
    ball = f"ball:sphere:0.1@{','.join(map(str, tip))}"
    result = run("ur5e", "--q", Q, "--obstacle", ball, "--floor", "-0.5", "--count", 99, "--json")
    assert result.exit_code == 1
    data = json.loads(result.output)
    assert data["in_collision"] is True
    assert data["nearest"][0]["pair"] == ["wrist_3_link", "ball"]
    assert any("floor" in n["pair"] for n in data["nearest"])
    assert data["missing"] == {"tool0": "no shape"}


def test_the_smallest_distance_along_a_file_of_states(tmp_path):
    robot = dy.load("ur5e")
    q = np.linspace(np.zeros(6), [0.0, 0.0, 2.9, 0.0, 0.0, 0.0], 30)
    names = ",".join(["t", *(f"q{k + 1}" for k in range(6))])
    np.savetxt(tmp_path / "fold.csv", np.column_stack([np.arange(30) * 0.1, q]), delimiter=",", header=names, comments="")
    result = run("ur5e", "--states", tmp_path / "fold.csv", "--json")
    data = json.loads(result.output)
    expected = dy.collision.Scene(robot).distance(q)
    np.testing.assert_allclose(data["distances"], expected, atol=1e-9)
    assert data["time"] == pytest.approx(0.1 * int(np.argmin(expected)), abs=0.1)
    assert result.exit_code == int(expected.min() <= 0.0)


def test_a_collision_between_the_rows_of_a_motion_is_found(tmp_path):
    q = np.array([[1.0, -0.9, 1.2, -0.3, -1.5, 0.0], [-1.0, -0.9, 1.2, -0.3, -1.5, 0.0]])
    tip = dy.load("ur5e").pose(q.mean(axis=0))[:3, 3]
    options = ("--obstacle", f"ball:sphere:0.1@{','.join(map(str, tip))}", "--states")
    names = ",".join(f"q{k + 1}" for k in range(6))
    np.savetxt(tmp_path / "poses.csv", q, delimiter=",", header=names, comments="")
    np.savetxt(tmp_path / "motion.csv", np.column_stack([[0.0, 1.0], q]), delimiter=",", header=f"t,{names}", comments="")
    apart, moving = (run("ur5e", *options, tmp_path / name) for name in ("poses.csv", "motion.csv"))
    assert apart.exit_code == 0
    assert "2 rows, free" in apart.output
    assert moving.exit_code == 1
    assert "2 rows, in collision between them; smallest distance at t = 0.5 s" in moving.output


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--obstacle", "box:1,1"], "NAME:KIND:SIZE@X,Y,Z"),
        (["--obstacle", "a:cube:1@0,0,0"], "choose box"),
        (["--margin", "-1"], "margin must be a length"),
        (["--obstacle", "a:sphere:1@0,0,5", "--obstacle", "a:sphere:1@0,0,9"], "'a' is given twice"),
        (["--obstacle", "floor:sphere:1@0,0,5", "--floor", "-1"], "'floor' is given twice"),
    ],
)
def test_wrong_options_end_with_2_and_a_sentence(options, text):
    result = run("ur5e", *options)
    assert result.exit_code == 2
    assert text in result.output


def test_a_configuration_and_a_file_of_them_exclude_each_other(tmp_path):
    (tmp_path / "q.csv").write_text("q1\n0\n")
    assert "exclude each other" in run("ur5e", "--q", "0", "--states", tmp_path / "q.csv").output


def test_obstacles_in_millimetres_are_suspected():
    result = run("ur5e", "--q", Q, "--obstacle", "table:box:1000,1000,50@0,1500,-300")
    assert "lengths are in m; if these are mm, divide them by 1000" in " ".join(result.output.split())
    assert "divide" not in run("ur5e", "--q", Q, "--obstacle", "table:box:1,1,0.05@0,1.5,-0.3").output

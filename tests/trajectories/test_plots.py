"""Pictures of motions: panels, limits, and files."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.trajectories import double_s, joint_move

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'dynamis[plots]'")


def test_a_profile_has_three_panels_with_its_values(tmp_path):
    made = double_s(0.0, 1.0, velocity=1.0, acceleration=3.0, jerk=20.0)
    figure = made.plot(tmp_path / "profile.png").figure
    assert (tmp_path / "profile.png").stat().st_size > 5000
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["position", "velocity", "acceleration"]
    for ax, k in zip(figure.axes, range(3), strict=True):
        t, y = ax.lines[0].get_data()
        assert np.allclose(y[1:-1], made.at(np.asarray(t)[1:-1])[k])
    assert figure.axes[2].lines[0].get_ydata().max() == pytest.approx(3.0)


def test_a_robot_adds_names_limits_and_torques(tmp_path):
    robot = dy.load("ur5e")
    move = joint_move(np.zeros(6), np.full(6, 1.5), robot=robot, acceleration=20.0)
    figure = move.plot(tmp_path / "move.svg", robot=robot).figure
    assert [t.get_text() for t in figure.legends[0].get_texts()] == list(robot.coordinate_names)
    assert figure.axes[3].get_title(loc="left") == "torque / torque limit"
    assert len(figure.axes[1].lines) == 6 + 2  # and the limit, both ways
    scara = dy.load("scara")
    units = joint_move([0, 0, 0.1, 0], [1, 1, 0.3, 0], duration=1.0).plot(robot=scara).figure
    assert [ax.get_ylabel() for ax in units.axes] == ["rad, m", "rad/s, m/s", "rad/s², m/s²", "N m, N"]


def test_the_wrong_robot_and_folder_are_refused(tmp_path):
    move = joint_move(np.zeros(6), np.ones(6), duration=1.0)
    with pytest.raises(dy.InputError, match="4 joints, but the motion has 6"):
        move.plot(robot=dy.load("scara"))
    with pytest.raises(dy.InputError, match="cannot be written"):
        move.plot(tmp_path / "missing" / "move.png")

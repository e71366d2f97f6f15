"""A robot is never changed, and fields that do not exist cannot be set."""

import copy
import pickle

import numpy as np
import pytest

import dynamis as dy


def test_attributes_of_a_robot_cannot_be_set_and_the_message_names_replace():
    robot = dy.load("scara")
    for name in ("friction", "payload", "gravity", "limits", "n", "name"):
        with pytest.raises(AttributeError, match=r"robot\.replace\("):
            setattr(robot, name, 0)
    with pytest.raises(ValueError, match="read-only"):
        robot.limits["upper"][0] = 3.0
    robot.remark = "mine"  # attributes of one's own are allowed
    assert robot.remark == "mine"

    class Tuned(dy.Robot):
        gain = 1.0

    tuned = Tuned(robot.description)
    tuned.gain = 2.0
    assert tuned.gain == 2.0


def test_fields_of_a_description_that_do_not_exist_cannot_be_set():
    description = dy.load("scara").description
    for owner, name, near in (
        (description, "gravty", "gravity"), (description.joints[0], "axs", "axis"), (description.joints[0].drive, "viscos", "viscous"),
        (description.joints[0].limits, "effrt", "effort"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=rf"has no field '{name}'; there are '{near}'"):
            setattr(owner, name, 1.0)


def test_all_fields_of_a_description_are_named_for_one_that_does_not_exist():
    link = dy.load("ur5e").description.link("forearm_link")
    for action in (lambda: setattr(link, "inertia", None), lambda: link.inertia):
        with pytest.raises(AttributeError, match=r"a Link has no field 'inertia'; there are .*'mass_properties'"):
            action()
    with pytest.raises(AttributeError, match=r"There is mass_properties.inertia$"):
        _ = link.inertia
    with pytest.raises(AttributeError, match=r"There is mass_properties.mass$"):
        link.mass = 1.0
    assert not hasattr(link, "_repr_png_")
    assert pickle.loads(pickle.dumps(link)) is not link
    assert copy.deepcopy(link).name == link.name


def test_another_frame_does_not_change_the_tip():
    robot = dy.load("ur5e")
    q, place = robot.random(0), dy.Pose.translation([0.0, 0.05, 0.02])
    for link in ("tool0", "wrist_3_link", None):
        more = robot.with_frame("camera", link, place)
        assert np.array_equal(more.pose(q), robot.pose(q))
        assert np.allclose(more.pose(q, "camera"), robot.pose(q, link) @ place.matrix(), atol=1e-15)


def test_a_root_that_is_free_already_gets_no_second_free_joint(tmp_path):
    robot = dy.load("go2", base="floating")
    robot.write(tmp_path / "free.urdf")
    again = dy.load(tmp_path / "free.urdf", base="floating")
    assert again.n == robot.n
    assert again.coordinate_names == robot.coordinate_names


def test_one_coordinate_has_an_index():
    assert dy.load("ur5e").indices("elbow_joint").tolist() == [2]

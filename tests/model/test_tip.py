"""The tip: the frame that functions take where none is named, or a refusal where the choice would be a guess."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import NameLookupError
from dynamis.model.writers.losses import losses

BODY = dy.solids.sphere(0.05, mass=1.0)


def arm(*ends, last="wrist"):
    """A base, an elbow and a last moving link, with links (name, carrier, inertia) fixed to it."""
    d = dy.Description("arm").add_link("base").add_link("elbow", "base", "revolute", inertia=BODY)
    d.add_link(last, "elbow", "revolute", axis=(0, 1, 0), inertia=BODY)
    for name, carrier, inertia in ends:
        d.add_link(name, carrier, origin=dy.Pose.translation([0.0, 0.0, 0.1]), inertia=inertia)
    return dy.Robot(d)


@pytest.mark.parametrize(
    ("tip", "ends"),
    {
        "the moving link itself": ("wrist", []),
        "the end of fixed links": ("pen", [("mount", "wrist", BODY), ("pen", "mount", BODY)]),
        "a tool frame beside fingers": (
            "j2s6s200_end_effector",
            [("finger_1", "wrist", BODY), ("finger_tip_1", "finger_1", BODY), ("j2s6s200_end_effector", "wrist", None)],
        ),
        "a tool frame before a camera": ("tool0", [("tool0", "wrist", None), ("camera_link", "tool0", BODY)]),
        "a tool that hangs on a flange": ("driver", [("flange", "wrist", None), ("driver", "flange", BODY)]),
        "no sensor": ("hand", [("imu", "wrist", None), ("hand", "wrist", None)]),
        "the first of equal tool frames": ("ee_link", [("ee_link", "wrist", None), ("tool0", "wrist", None)]),
        "the farthest": ("b", [("a", "wrist", None), ("mount", "wrist", None), ("b", "mount", None)]),
    }.values(),
)
def test_the_tip_is_the_outermost_frame_and_rather_a_tool_than_a_finger(tip, ends):
    robot = arm(*ends)
    assert robot.model.tip == tip
    assert f"tip {tip!r}" in repr(robot)
    assert np.array_equal(robot.pose([0.1, 0.2]), robot.pose([0.1, 0.2], tip))


def test_an_ambiguous_tip_is_refused_with_the_frames_to_choose_from():
    fingers = arm(("left_finger", "wrist", BODY), ("right_finger", "wrist", BODY))
    with pytest.raises(dy.InputError, match="no single tip: name a frame with frame=, such as 'wrist', 'left_finger'"):
        fingers.pose([0.0, 0.0])
    with pytest.raises(dy.InputError, match="no single tip: name a frame with frame=, such as 'wrist', 'motor_a', 'motor_b'"):
        arm(("motor_a", "wrist", BODY), ("motor_b", "wrist", BODY)).pose([0.0, 0.0])


@pytest.mark.parametrize(("last", "before"), [("jaw", "gripper"), ("gripperMover", "gripperStator")])
def test_a_moving_jaw_is_not_the_tip(last, before):
    d = arm(last=before).description
    d.add_link(last, before, "revolute", inertia=BODY)
    with pytest.raises(dy.InputError, match=f"no single tip.*such as '{before}', '{last}'"):
        dy.Robot(d).pose([0.0, 0.0, 0.0])
    d.add_link("tcp", last)
    assert dy.Robot(d).model.tip == "tcp"


def test_the_last_link_of_a_finger_or_a_wrist_named_gripper_is_the_tip():
    assert arm(last="gripper").model.tip == "gripper"
    finger = dy.Description("finger").add_link("finger_base")
    finger.add_link("finger_upper", "finger_base", "revolute", inertia=BODY)
    finger.add_link("finger_lower", "finger_upper", "revolute", axis=(0, 1, 0), inertia=BODY)
    assert dy.Robot(finger).model.tip == "finger_lower"


def test_a_tool_frame_becomes_the_tip_and_another_frame_does_not():
    robot = dy.load("panda")
    assert robot.with_frame("camera").model.tip == "panda_link8"
    assert robot.with_frame("pen").model.tip == "panda_link8"
    assert robot.with_frame("tcp").model.tip == "tcp"
    assert dy.load("ur5e").with_frame("tcp").model.tip == "tool0"


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (lambda robot: robot.attach(dy.load("planar_2r")), "at="),
        (lambda robot: robot.with_frame("camera"), "link="),
        (lambda robot: robot.replace(payload=BODY), "payload_frame="),
        (lambda robot: robot.static_torque(robot.home(), {None: np.ones(6)}), "wrenches={frame: wrench}"),
        (lambda robot: robot.jacobian(robot.home()), "frame="),
    ],
)
def test_the_refusal_names_the_argument_that_the_method_has(call, option):
    with pytest.raises(dy.InputError) as refusal:
        call(dy.load("go2"))
    assert f"no single tip: name a frame with {option}, such as 'FL_calf'" in str(refusal.value)


def test_a_tip_that_is_set_is_that_of_every_function_also_of_trees_and_followed_by_tools():
    robot, q = dy.load("go2").replace(tip="FL_foot"), dy.load("go2").home()
    assert "tip 'FL_foot'" in repr(robot)
    assert np.array_equal(robot.jacobian(q), dy.load("go2").jacobian(q, "FL_foot"))
    assert dy.inverse_kinematics(robot, robot.pose(q)[:3, 3], q0=q).found
    assert robot.replace(tip="").model.tip is None
    arm = dy.load("panda").replace(tip="panda_link7")
    assert arm.with_frame("tcp").model.tip == "panda_link7"
    assert arm.with_frame("tcp").replace(tip="tcp").model.tip == "tcp"
    assert arm.reduced({"panda_joint1": 0.0}).model.tip == "panda_link7"
    assert arm.subtree("panda_link4").model.tip == "panda_link7"
    assert arm.rerooted("panda_link3").model.tip == "panda_link7"
    assert dy.load("panda").replace(tip="panda_link3").subtree("panda_link4").model.tip == "panda_link8"
    tool = dy.load("planar_2r_melchiorri").replace(tip="link1")
    assert arm.attach(tool, "panda_link8", prefix="t_").model.tip == "t_link1"
    assert arm.attach(dy.load("planar_2r_melchiorri"), "panda_link7", prefix="t_").model.tip == "t_link2"
    assert arm.attach(dy.load("planar_2r_melchiorri"), "panda_link3", prefix="t_").model.tip == "panda_link7"


def test_a_payload_without_a_frame_is_at_the_tip_that_is_set():
    robot, ball = dy.load("panda").replace(tip="panda_link4"), dy.solids.sphere(0.1, mass=2.0)
    q = robot.home()
    assert np.array_equal(
        robot.replace(payload=ball).gravity(q), robot.replace(payload=ball, payload_frame="panda_link4").gravity(q)
    )


def test_a_tip_that_is_set_is_kept_by_toml_files_of_all_forms_and_named_as_a_loss_by_others(tmp_path):
    robot = dy.load("ur5e").replace(tip="wrist_2_link")
    for form in ("link", "dh", "mdh", "poe"):
        robot.write(tmp_path / "arm.toml", form=form)
        assert dy.load(tmp_path / "arm.toml").model.tip == "wrist_2_link"
    assert losses(robot.description, ".urdf") == ["the choice of the tip ('wrist_2_link')"]


def test_a_tip_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(NameLookupError, match=r"'tool1'.*did you mean 'tool0'"):
        dy.load("ur5e").replace(tip="tool1")
    path = tmp_path / "arm.toml"
    dy.load("planar_2r_melchiorri").replace(tip="link1").write(path)
    lines = path.read_text().replace('tip = "link1"', 'tip = "link9"').splitlines()
    path.write_text("\n".join(lines))
    line = 1 + next(k for k, text in enumerate(lines) if text.startswith("tip"))
    with pytest.raises(dy.DynamisError, match=f"toml:{line}: .*link9.*did you mean .link1."):
        dy.load(path)

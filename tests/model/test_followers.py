"""Joints that follow others: what writers and edits make of them, and of fixed joints with a mimic, which stay fixed."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Mimic
from dynamis.model.writers.losses import losses

pytestmark = pytest.mark.usefixtures("without_compilation")


def hand(kind="fixed", more=()):
    """A driving finger, one of this kind that mimics it, and followers of followers."""
    d = dy.Description("hand").add_link("palm")
    body = dy.solids.box(0.1, 0.02, 0.02, mass=0.2)
    d.add_link("a", "palm", "revolute", joint_name="drive", inertia=body)
    d.add_link(
        "b", "a", kind, joint_name="pad", origin=dy.Pose.translation([0.1, 0, 0]), inertia=body, mimic=Mimic("drive", -1.0),
        **({"pitch": 0.1} if kind == "helical" else {}),
    )  # fmt: skip
    for name, leader in more:
        d.add_link(f"link_{name}", "b", "revolute", joint_name=name, inertia=body, mimic=Mimic(leader, 2.0, 0.1))
    return d


@pytest.mark.filterwarnings("ignore:.*a fixed joint cannot follow")
def test_a_fixed_joint_with_a_mimic_is_written_as_a_fixed_joint(same_dynamics):
    robot = dy.Robot(hand())
    assert losses(robot.description, ".mjcf") == []
    assert robot.reduced({"drive": 0.3}).n == 0
    assert robot.subtree("b").n == 0
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[mujoco]'")
    model = robot.to_mujoco()
    assert (model.nv, model.neq) == (1, 0)
    same_dynamics(robot, dy.from_mujoco(model))


@pytest.mark.filterwarnings("ignore:.*a fixed joint cannot follow")
def test_pinocchio_takes_fixed_joints_with_a_mimic_and_names_the_call_for_the_followers_it_cannot_have():
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    assert dy.Robot(hand()).to_pinocchio().nv == 1
    helical = hand("helical")
    with pytest.raises(dy.ConversionError, match=r"'pad' is helical and follows 'drive'.*robot\.reduced\(\{'drive': 0\.0\}\)"):
        dy.Robot(helical).to_pinocchio()
    assert dy.Robot(helical).reduced({"drive": 0.0}).to_pinocchio().nv == 0
    early = hand("revolute")
    early.joint("drive").mimic, early.joint("pad").mimic = Mimic("pad"), None
    with pytest.raises(dy.ConversionError, match=r"'drive' follows 'pad', which comes after it.*reduced\(\{'pad': 0\.0\}\)"):
        dy.Robot(early).to_pinocchio()


def test_followers_of_followers_are_locked_with_their_leader():
    robot = dy.Robot(hand("revolute", [("tip", "pad")]))
    still = robot.reduced({"drive": 0.4})
    np.testing.assert_allclose(still.pose([], "link_tip"), robot.pose([0.4], "link_tip"), atol=1e-14)

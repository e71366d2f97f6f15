"""Motors on links in robot files: refused where they cannot be, and the same after they are written."""

import numpy as np
import pytest
from random_trees import random_inertia, random_pose, random_states, relative_error
from riding_robots import SICILIANO, random_riding, spatial_arm

import dynamis as dy
from dynamis.algorithms import regressor
from dynamis.model.description import Drive, Mimic
from dynamis.model.editing import rotors_riding
from dynamis.spatial import Pose


def test_a_joint_with_several_variables_has_no_riding_rotor():
    d = spatial_arm(motor_link="pan")
    d.joint("tilt_joint").type = "spherical"
    with pytest.raises(dy.ModelError, match="drives a spherical joint"):
        dy.Robot(d)
    d.joint("tilt_joint").drive.motor_link = None
    assert not dy.Robot(d).replace(rotors="riding").model.coupled


def test_the_reader_says_where_the_motor_is_wrong(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text('[[link]]\nlink = "upper"\n\n[[link]]\nlink = "fore"\nmotor_link = "uper"\n')
    with pytest.raises(dy.ModelError, match=r"arm\.toml:4: error: joint 'joint2': its motor link .* did you mean 'upper'"):
        dy.load(file)
    file.write_text('[[link]]\nlink = "upper"\nmotor_link = "base"\nmotor_axis = [0, 3, 4]\nmass = 1\n')
    with pytest.raises(dy.ModelError, match=r"arm\.toml:1: error: joint 'joint1': the motor axis has length 5"):
        dy.load(file)


@pytest.mark.parametrize(
    ("suffix", "form"), [("toml", "link"), ("urdf", "link"), ("toml", "dh"), ("toml", "mdh"), ("toml", "poe")]
)
def test_motors_survive_being_written(suffix, form, tmp_path):
    rng = np.random.default_rng(5)
    d = spatial_arm(motor_link="pan", motor_axis=(0.0, 0.6, 0.8))
    d.joint("pan_joint").drive = Drive(rotor_inertia=2e-3, gear_ratio=-10.0, motor_link="base")
    d.joint("tilt_joint").origin = random_pose(rng)
    d.add_link("tool", "tilt", "revolute", joint_name="tool_joint", axis=(0.6, 0.0, -0.8), origin=random_pose(rng),
               inertia=random_inertia(rng), drive=Drive(rotor_inertia=4e-3, gear_ratio=3.0, motor_link="pan"))  # fmt: skip
    robot = dy.Robot(d)
    robot.write(tmp_path / f"arm.{suffix}", form)
    again = dy.load(tmp_path / f"arm.{suffix}")
    for name in ("pan_joint", "tilt_joint", "tool_joint"):
        ours, theirs = d.joint(name).drive, again.description.joint(name).drive
        assert (ours.motor_link, ours.motor_axis) == (theirs.motor_link, theirs.motor_axis)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    assert relative_error(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a)) < 1e-10


def test_symbols_of_a_motor_survive_being_written(tmp_path):
    (tmp_path / "arm.toml").write_text(SICILIANO)
    robot = dy.load(tmp_path / "arm.toml")
    robot.write(tmp_path / "again.toml")
    again = dy.load(tmp_path / "again.toml")
    assert [x == y for x, y in zip(robot.closed_form().M.flat, again.closed_form().M.flat, strict=True)] == [True] * 4


def test_c_export_and_gathered_numbers_of_a_riding_robot(tmp_path):
    robot = dy.Robot(spatial_arm(motor_link="pan", motor_axis=(0.0, 0.0, 1.0)))
    paths = robot.write_c("inverse_dynamics", tmp_path)
    assert all(path.exists() for path in paths)
    with pytest.raises(dy.InputError, match="rotors mounted on links"):
        robot.articulated_inertias([0.0, 0.0])
    motion = dy.simulate(robot, 0.5, v0=[1.0, 2.0])
    np.testing.assert_allclose(motion.energy, motion.energy[0], rtol=1e-6)


def test_every_library_arm_may_have_its_rotors_riding():
    for name in ("puma560", "motor_with_load"):
        robot = dy.load(name)
        if robot.model.symbolic:
            assert robot.replace(rotors="riding").closed_form().expanded
            continue
        riding = robot.replace(rotors="riding")
        q, v, a = (x[0] for x in random_states(np.random.default_rng(1), robot, 1))
        tau = riding.inverse_dynamics(q, v, a)
        assert relative_error(riding.forward_dynamics(q, v, tau), a) < 1e-9
        assert relative_error(riding.regressor(q, v, a) @ riding.parameters, tau) < 1e-11


def test_rotors_riding_keeps_a_motor_where_it_was_said_to_be():
    d = spatial_arm(motor_link="base", motor_axis=(1.0, 0.0, 0.0))
    assert rotors_riding(d).joint("tilt_joint").drive.motor_link == "base"


def test_a_link_lighter_than_the_rotor_on_it_is_doubtful(tmp_path):
    file = tmp_path / "arm.toml"
    text = """[[link]]
link = "upper"
mass = 1
com = [0.5, 0, 0]
inertia = {{ xx = 0.01, yy = 0.01, zz = {} }}

[[link]]
link = "fore"
mass = 1
com = [0.5, 0, 0]
rotor_inertia = 0.02
gear_ratio = 10
motor_link = "upper"
"""
    file.write_text(text.format(0.02))
    assert len(dy.check(file)) == 0
    file.write_text(text.format(0.015))
    (problem,) = dy.check(file)
    assert (problem.code, problem.severity, problem.line) == ("rotor-inertia", "warning", 7)
    assert "add the motor's inertia to the link's" in str(problem)


@pytest.mark.parametrize(("seed", "mimics"), [(0, False), (1, True), (3, True)])
def test_closed_forms_and_fewest_parameters_of_random_arms_with_riding_rotors(seed, mimics):
    d, rng = random_riding(seed, 3, kinds=("revolute", "prismatic"), mimics=mimics, tails=False)
    for joint in d.joints:
        joint.axis, joint.origin = np.eye(3)[rng.integers(3)], Pose.translation(np.round(rng.uniform(-1.0, 1.0, 3), 1))
        joint.drive.motor_axis = tuple(np.eye(3)[rng.integers(3)]) if rng.random() < 0.5 else None
    robot = dy.Robot(d)
    form = robot.closed_form()
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(form.kernel("inverse_dynamics")(q, v, a), tau) < 1e-12
    assert (form.N + form.N.T).is_zero
    values = dict(zip([*form.q, *form.v, *form.a], [*q, *v, *a], strict=True))
    Y, parameters = (dy.evaluate(np.array(x.node(), dtype=object), values) for x in (form.base_regressor, form.base_parameters))
    assert relative_error(Y @ parameters, tau) < 1e-12
    # in each rotor's direction there is one number, and no more of them than rotors are told apart from links
    rotors = [body for _, body in robot.model.moving if body.is_rotor]
    reflected = dy.Robot(d).replace(rotors="reflected").closed_form()
    assert form.base.dimension <= reflected.base.dimension + len(rotors)


def test_a_motor_without_an_axis_of_its_own_turns_about_that_of_its_joint_where_all_coordinates_are_zero():
    """A joint on the way that follows another is turned by its offset there."""
    rng = np.random.default_rng(2)
    d = dy.Description("arm").add_link("base").add_link("a", "base", "revolute", joint_name="j1", inertia=random_inertia(rng))
    d.add_link("b", "a", "revolute", joint_name="j2", axis=[1.0, 0.0, 0.0], origin=random_pose(rng), inertia=random_inertia(rng),
               mimic=Mimic("j1", 1.0, 0.4))  # fmt: skip
    d.add_link("c", "b", "revolute", joint_name="j3", axis=[0.0, 1.0, 0.0], origin=random_pose(rng), inertia=random_inertia(rng),
               drive=Drive(rotor_inertia=1e-3, gear_ratio=10.0, motor_link="a"))  # fmt: skip
    robot = dy.Robot(d)
    ((_, rotor),) = regressor.rotors(robot.model)
    carrier, turned = (robot.pose(np.zeros(2), link)[:3, :3] for link in ("a", "c"))
    np.testing.assert_allclose(carrier @ rotor.motion.axis, turned[:, 1], atol=1e-14)

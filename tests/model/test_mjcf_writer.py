"""MJCF files of robots are models that MuJoCo takes, with the same mass matrix."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.closures import LoopClosure
from dynamis.model.description import Drive
from dynamis.model.library import library_names
from dynamis.model.writers.losses import losses

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")


@pytest.mark.filterwarnings("ignore:.*does not hold all of robot")
@pytest.mark.parametrize("name", library_names())
def test_every_library_robot_is_an_mjcf_model_with_its_mass_matrix(name, tmp_path, quiet_load, without_compilation):
    symbols = dy.load(name).description.symbol_names()
    robot = quiet_load(name, parameters=dict.fromkeys(symbols, 1.0))
    robot.write(tmp_path / "robot.mjcf")
    again = quiet_load(tmp_path / "robot.mjcf")
    q, v = robot.random(3), np.linspace(-1.0, 1.0, robot.n)
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(again.mass_matrix(q), M, atol=1e-11 * np.abs(M).max())
    C = robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(again.coriolis_matrix(q, v), C, atol=1e-11 * np.abs(M).max())


@pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")
def test_an_inertia_that_no_body_has_is_shared_across_the_joint_or_refused(same_dynamics):
    def arm(kind, tensor):
        d = dy.Description("arm").add_link("base")
        d.add_link("upper", "base", "revolute", joint_name="a", axis=[0, 1, 0], inertia=dy.solids.box(1, 1, 1, mass=5.0))
        d.add_link("fore", "upper", kind, joint_name="b", axis=[0, 0, 1], origin=dy.Pose.translation([0.3, 0, 0.5]),
                   inertia=dy.solids.sphere(0.1, mass=1.0))  # fmt: skip
        d.link("fore").mass_properties.tensor = np.diag(tensor)
        return dy.Robot(d)

    for kind, tensor in (("revolute", (0.1, 0.1, 0.3)), ("prismatic", (0.3, 0.1, 0.1)), ("revolute", (0.2, 0.0, 0.2 + 1e-15))):
        robot = arm(kind, tensor)
        same_dynamics(robot, dy.from_mujoco(robot.to_mujoco()))
    same_dynamics(arm("revolute", (0.0, 0.0, 0.0)), dy.from_mujoco(arm("revolute", (-5e-20, -5e-20, 1e-19)).to_mujoco()))
    with pytest.raises(dy.ConversionError, match=r"'fore' is not that of a body.*check FILE --repair"):
        arm("revolute", (0.5, 0.1, 0.1)).to_mujoco()


@pytest.mark.filterwarnings("ignore:.*does not hold all of robot")
def test_actuators_are_listed_as_lost(tmp_path):
    arm = dy.load("planar_2r_melchiorri").replace(actuators={"joint2": dy.Saturated(5.0)})
    arm.write(tmp_path / "arm.mjcf")
    assert any(loss.startswith("actuators: ") for loss in losses(arm.description, ".mjcf"))


def test_rotors_of_ball_joints_travel_and_those_of_free_joints_are_listed(same_dynamics):
    body = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.3), np.diag([0.02, 0.03, 0.035]))
    d = dy.Description("ball").add_link("base").add_link("arm", "base", "revolute", axis=(0, 1, 0), inertia=body)
    d.add_link("ball", "arm", "spherical", joint_name="socket", inertia=body, drive=Drive(rotor_inertia=0.4))
    assert losses(d, ".mjcf") == []
    robot = dy.Robot(d)
    assert robot.model.rotor.tolist() == [0.0, 0.4, 0.4, 0.4]
    same_dynamics(robot, dy.from_mujoco(robot.to_mujoco()))
    d = dy.Description("box").add_link("world").add_link("box", "world", "free", joint_name="float", inertia=body)
    for name in ("rotor_inertia", "coulomb"):
        d.joint("float").drive = Drive(**{name: 0.4})
        assert any(
            "free joints, which act along the axes of the world there: 1 element, 'float'" in x for x in losses(d, ".mjcf")
        )


@pytest.mark.parametrize("mass", [0.0, 1.0])
def test_a_body_called_world_has_another_name(mass, tmp_path, same_dynamics):
    d = dy.Description("a").add_link("world")
    if mass:
        d.attach_payload(dy.solids.sphere(0.1, mass=mass), "world")
    d.add_link("l1", "world", "revolute", axis=(0, 1, 0), inertia=dy.solids.sphere(0.5, mass=1.0))
    robot = dy.Robot(d).placed(dy.Pose.translation([0, 0, 1]))
    with pytest.warns(dy.ModelWarning, match="names that MJCF reserves, written with link_: 1 element, 'world'"):
        robot.write(tmp_path / "a.mjcf")
    again = dy.load(tmp_path / "a.mjcf")
    assert "link_world" in again.link_names
    same_dynamics(again, robot)


def test_a_loop_to_the_world_or_to_a_body_called_world_is_closed(tmp_path, quiet_load):
    def loop(root, placed):
        d = dy.Description("a").add_link(root).add_link("l1", root, "revolute", inertia=dy.solids.sphere(0.5, mass=1.0))
        d.closures.append(LoopClosure("point", root, "l1"))
        return dy.Robot(d).placed(dy.Pose.translation([0, 0, 1])) if placed else dy.Robot(d)

    for placed in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dy.ModelWarning)
            loop("world", placed).write(tmp_path / "a.mjcf")
        (closure,) = quiet_load(tmp_path / "a.mjcf").description.closures
        assert closure.kind == "point"

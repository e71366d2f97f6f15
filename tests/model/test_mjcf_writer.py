"""MJCF files of robots are models that MuJoCo takes, with the same mass matrix."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.closures import LoopClosure
from dynamis.model.description import Drive, Shape
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


def _touching():
    """An arm whose base and first link overlap, and whose links 1 and 3 always do."""
    d = dy.Description("arm").add_link("base")
    for k, parent in enumerate(("base", "l1", "l2"), 1):
        d.add_link(f"l{k}", parent, "revolute", joint_name=f"j{k}", axis=[0, 0, 1], inertia=dy.solids.sphere(0.1, mass=1.0))
    d.add_link("hand", "l3", "revolute", joint_name="j4", axis=[0, 1, 0], origin=dy.Pose.translation([0, 0, 0.5]),
               inertia=dy.solids.sphere(0.1, mass=1.0))  # fmt: skip
    d.joint("j4").limits.lower, d.joint("j4").limits.upper = -0.5, 0.5
    for link in d.links:
        place = dy.Pose.translation([0.0, 0.0, 0.2 if link.name == "hand" else 0.0])
        link.shapes = [Shape(role, "box", (0.2, 0.2, 0.4), place) for role in ("collision", "visual")]
    return dy.Robot(d)


def test_mujoco_has_no_contact_between_links_that_are_not_checked_for_collisions(tmp_path):
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    robot = _touching()
    scene = dy.collision.Scene(robot)
    assert scene.pairs == (("base", "hand"), ("l1", "hand"), ("l2", "hand"))
    robot.write(tmp_path / "arm.mjcf")
    for model in (robot.to_mujoco(), mujoco.MjModel.from_xml_path(str(tmp_path / "arm.mjcf"))):
        data, found = mujoco.MjData(model), set()
        for q in robot.random(1, 50):
            data.qpos[:] = q
            mujoco.mj_forward(model, data)
            found |= {tuple(model.body(model.geom_bodyid[g]).name for g in c.geom) for c in data.contact}
        assert found <= set(scene.pairs)
        data = mujoco.MjData(model)
        data.qfrc_applied[0] = 0.1
        for _ in range(100):
            mujoco.mj_step(model, data)
        assert data.qpos[0] > 1e-2
    again = dy.load(tmp_path / "arm.mjcf")
    assert set(dy.collision.Scene(again).pairs) == set(scene.pairs)
    assert not again.description.aside
    roles = {x.name: [s.role for s in x.shapes] for x in again.description.links if x.shapes}
    assert roles == {x.name: ["collision", "visual"] for x in robot.description.links}
    again.write(tmp_path / "again.mjcf")
    assert len(dy.load(tmp_path / "again.mjcf").description.no_contact) == len(again.description.no_contact) == 7


def test_without_coal_contacts_of_adjacent_links_are_excluded_and_a_warning_tells_of_the_others(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.warns(dy.ModelWarning, match=r"collide in every posture were not looked for.*dynamis\[collision\]"):
        model = _touching().to_mujoco()
    pairs = dy.from_mujoco(model).description.no_contact
    assert pairs == [("base", "l1"), ("l1", "l2"), ("l2", "l3"), ("l3", "hand")]


def test_exclusions_of_a_file_are_kept_in_collision_checks_and_compositions(tmp_path):
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    d = _touching().description
    d.no_contact = [("l2", "hand")]
    robot = dy.Robot(d)
    assert ("l2", "hand") not in dy.collision.Scene(robot).pairs
    assert dy.Robot(d).attach(dy.Robot(d), at="hand", prefix="b_").description.no_contact == [
        ("l2", "hand"),
        ("b_l2", "b_hand"),
    ]
    assert robot.subtree("l2").description.no_contact == [("l2", "hand")]
    assert robot.subtree("l3").description.no_contact == []
    assert "pairs of links without contacts (1: 'l2' and 'hand')" in losses(d, ".toml")


def test_visible_shapes_that_collide_have_both_roles_and_hidden_ones_collide_only():
    geoms = '<geom size="1"/><geom size="2" group="3"/><geom size="3" contype="0" conaffinity="0" group="3"/>'
    robot = dy.load(f'<mujoco><worldbody><body name="a"><joint/>{geoms}</body></worldbody></mujoco>')
    found = [(shape.role, shape.size[0]) for shape in robot.description.link("a").shapes]
    assert found == [("collision", 1.0), ("visual", 1.0), ("collision", 2.0), ("visual", 3.0)]

"""The simulated motions of a report."""

import re
from dataclasses import replace

import numpy as np
import pytest
from report_contents import report_blocks

import dynamis as dy
from dynamis.documents.blocks import HeatMap, Player, Plot
from dynamis.reports.falling import fall
from dynamis.reports.report import contents_of
from dynamis.reports.scene import scene_of
from dynamis.reports.sections import motions


def test_the_motion_under_computed_torque_arrives(arm, robots):
    fall, move = report_blocks(arm[0], "motions", Player)
    assert len(fall.q) == len(fall.times)
    assert "computed-torque" in move.summary
    error = next(p for p in report_blocks(arm[0], "motions", Plot) if p.title == "Tracking error")
    assert max(abs(x[-1]) for x in error.views[0].series.values()) < 1e-4
    ledger = next(p for p in report_blocks(arm[0], "motions", Plot) if p.player == "move" and p.title.startswith("Terms"))
    assert len(ledger.views) == robots["ur5e"].n


def test_a_fall_keeps_to_the_limits_and_above_the_floor_and_says_what_it_assumes(arm, robots):
    fall = report_blocks(arm[0], "motions", Player)[0]
    robot, scene, q = robots["ur5e"], fall.scene, np.array(fall.q)
    assert (q >= robot.limits["lower"] - 1e-6).all()
    assert (q <= robot.limits["upper"] + 1e-6).all()
    heights = [robot.pose(q, frame)[:, :3, 3] @ scene["up"] - scene["floor"] for frame in robot.link_names]
    assert np.min(heights) > -1e-6
    assert np.abs(np.gradient(q, fall.times, axis=0)).max() < 10.0
    for word in ("viscous damping", "N m s/rad", "hard stops", "touches the floor"):
        assert word in fall.summary


def test_a_motion_that_stops_early_says_so(monkeypatch):
    monkeypatch.setattr(motions, "simulate", lambda *a, **k: replace(dy.simulate(*a, **k), status="stopped: M is singular"))
    contents = contents_of(dy.load("planar_2r_melchiorri"), sections=["motions"])
    (section,) = contents.sections
    player = report_blocks(contents, "motions", Player)[-1]
    assert "The simulation ends at" in player.summary
    assert "stopped: M is singular" in player.summary
    assert any("the simulation ends early, stopped: M is singular" in note for note in section.notes)


def test_the_code_of_a_section_simulates_with_the_tolerances_of_the_section():
    contents = contents_of(dy.load("planar_2r_melchiorri"), sections=["motions"])
    again = contents.sections[0].reproduce
    assert "controller=law.with_model(robot), rtol=1e-07, atol=1e-09, points=" in again
    made = {}
    exec(again.replace("fall.plot('fall.png')", ""), made)
    player = report_blocks(contents, "motions", Player)[-1]
    np.testing.assert_allclose(made["motion"].q[-1], player.q[-1], atol=1e-5)


def test_a_cart_pole_has_no_map_of_stiffness_and_falls_from_near_the_pose_of_the_3d_view():
    d = dy.Description("cart pole").add_link("rail")
    d.add_link("cart", "rail", "prismatic", axis=(1, 0, 0), inertia=dy.solids.box(0.3, 0.2, 0.1, mass=1.0))
    rod = dy.Inertia.about_com(0.2, (0, 0, 0.5), np.diag([0.0167, 0.0167, 1e-4]))
    d.add_link("pole", "cart", "continuous", axis=(0, 1, 0), inertia=rod)
    contents = contents_of(dy.Robot(d), sections=["stiffness", "motions"])
    assert not any(section.failed for section in contents.sections)
    assert not report_blocks(contents, "stiffness", HeatMap)
    assert "No map is drawn: pole moves along a line." in contents.sections[0].notes
    fall = report_blocks(contents, "motions", Player)[0]
    pose = np.array(fall.scene["pose"])
    assert np.abs(np.array(fall.q[0]) - pose).max() == pytest.approx(0.1)
    assert np.abs(np.array(fall.q[-1]) - pose).max() > 1.0  # it has fallen


def test_a_quadruped_collapses_onto_the_floor_and_no_drawn_link_sinks_into_it():
    from dynamis.reports.falling import fall
    from dynamis.reports.meshes.drawing import drawing_of
    from dynamis.reports.staging import body_poses, lowest_point

    robot = dy.load("go2", base="floating")
    scene, (low, high) = scene_of(robot), (robot.limits["lower"], robot.limits["upper"])
    start = np.array(scene["pose"])
    motion = fall(robot, start, None).motion
    places = [c.q_index for c in robot.model.coordinates if c.q_index is not None]
    legs = [k for k, c in enumerate(robot.model.coordinates) if c.q_index is not None]
    assert motion.complete
    assert motion.q[-1, 2] < start[2] - 0.05
    assert (motion.q[:, places] > low[legs] - 0.1).all()
    assert (motion.q[:, places] < high[legs] + 0.1).all()
    poses = [body_poses(robot, q) for q in motion.q[::5]]
    depth = [min(lowest_point(drawn, X, np.array(scene["up"])) for X in poses) for drawn in drawing_of(robot).shapes]
    assert min(depth) > scene["floor"] - 0.02
    assert np.abs(motion.energy_error).max() < 1e-2 * np.ptp(motion.potential_energy)


def test_the_joint_with_the_largest_final_tracking_error_is_shown_and_friction_is_named_as_its_cause():
    from dynamis.reports.sections import motions

    off = np.zeros((3, 10))
    off[0] = np.arange(10.0, 0.0, -1.0)  # the initial errors of the last joints are the smallest
    off[-1, 9] = 0.5
    assert motions.shown_errors(off) == [0, 1, 2, 3, 4, 5, 6, 9]
    robot = dy.load("puma560")
    q, goal = robot.home(), robot.home() + 1e-3
    law = dy.control.ComputedTorque.designed(goal, bandwidth=2.0)
    held = dy.simulate(robot, 0.1, q, controller=law.with_model(robot), points=3)
    assert "Coulomb friction holds" in motions.held_by_friction(held, held.q - goal)
    assert motions.held_by_friction(held, 0.0 * held.q) == ""


def test_motions_say_that_the_base_is_fixed_and_which_joints_are_shown(monkeypatch):
    from dynamis.reports.sections import motions

    told = {}
    for mobile in (False, True):
        monkeypatch.setattr(motions, "is_mobile", lambda _, mobile=mobile: mobile)
        (section,) = contents_of("planar_2r_melchiorri", sections=["motions"]).sections
        told[mobile] = [b.summary for b in section.blocks if isinstance(b, Player)][1]
        monkeypatch.setattr(motions, "MAX_JOINTS_PER_FIGURE", 1)
    plots = {b.title: b.summary for b in section.blocks if isinstance(b, Plot)}
    assert plots["Tracking error"].endswith(
        "1 of 2 joints are shown: those with the largest errors, during the motion or at its end."
    )
    assert plots["Joint positions"].endswith("1 of 2 joints are shown: those with the largest velocities.")
    assert plots["Terms of the joint torque"].endswith("1 of 2 coordinates can be selected.")
    assert "base is fixed" in told[True]
    assert "base is fixed" not in told[False]
    assert "% of the energy exchanged" in told[True]


def test_figures_of_a_motion_stand_in_one_group_with_its_view(planar):
    page = planar[1].read_text(encoding="utf-8")
    motions = page[page.index('<section id="motions"') :].split("</section>")[0]
    groups = motions.split('<div class="figures">')[1:]
    assert len(groups) == 2
    for group in groups:
        assert group.count('data-component="player"') == 1
        assert group.index('data-component="player"') < group.index('data-component="plot"')
        assert "Energy balance" in group


def test_lines_that_coincide_are_one_line_with_both_names():
    from dynamis.reports.sections.motions import distinct

    x = np.linspace(0.0, 1.0, 20)
    assert list(distinct({"a": x, "b": x + 1e-6, "c": 1 - x, "d": x})) == ["a (coincides with b and d)", "c"]


def test_a_slider_without_limits_stays_in_sight(tmp_path):
    (tmp_path / "rp.toml").write_text("""
[robot]
gravity = [0, -9.81, 0]
[[link]]
mass = 1
com = [0.2, 0, 0]
[[link]]
joint = "slider"
type = "prismatic"
axis = [1, 0, 0]
mass = 0.5
""")
    fall = report_blocks(contents_of(tmp_path / "rp.toml", sections=["motions"]), "motions", Player)[0]
    assert "slider, which has no limits, has moved by" in fall.summary
    assert np.abs(np.array(fall.q)[:, 1] - fall.q[0][1]).max() == pytest.approx(1.5 * fall.scene["reach"], rel=1e-3)


STIFF = """
<robot name="box_with_finger">
<link name="box"><inertial><mass value="10"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.3 0.3 0.3"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="box"/><child link="finger"/><origin xyz="0 0 0.2"/><axis xyz="1 0 0"/>
  <limit lower="-2" upper="2" effort="30" velocity="9"/><dynamics damping="0.01" friction="50"/></joint>
<link name="finger"><inertial><origin xyz="0 0 0.05"/><mass value="0.05"/>
  <inertia ixx="2e-4" iyy="2e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.02"/></geometry></collision></link></robot>
"""


def test_steps_are_shortened_until_the_energy_is_balanced():
    robot = dy.load(STIFF, base="floating")
    q0 = robot.neutral()
    q0[2:8] = 0.4, np.sin(0.2), 0.0, 0.0, np.cos(0.2), 0.3
    made = fall(robot, q0, None)
    assert made.motion.energy_imbalance < 0.01
    steps = [float(x) for line in made.again for x in re.findall(r"step=([-0-9.e]+)", line)]
    assert steps[0] < 5e-4


def test_robots_with_joints_of_two_axes_and_spherical_ones_fall_too(tmp_path):
    (tmp_path / "robot.toml").write_text("""
[robot]
gravity = [0, 0, -9.81]
[[link]]
type = "universal"
axis = [1, 0, 0]
axis2 = [0, 1, 0]
mass = 2
com = [0.1, 0, 0.2]
solid = { kind = "box", x = 0.1, y = 0.2, z = 0.3 }
[[link]]
type = "spherical"
xyz = [0, 0.3, 0]
mass = 0.7
com = [0, 0, -0.1]
solid = { kind = "sphere", radius = 0.06 }
""")
    (section,) = contents_of(tmp_path / "robot.toml", sections=["motions"]).sections
    assert not section.failed

"""The robots of the library as they are drawn: with shapes of their own that hold their masses, standing on the floor."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.library import library_names
from dynamis.reports.contact_points import DIRECTIONS, _outlines, contact_points
from dynamis.reports.falling import released
from dynamis.reports.meshes import drawing
from dynamis.reports.meshes.drawing import drawing_of
from dynamis.reports.meshes.installed import installed_description
from dynamis.reports.numbers import main_frame
from dynamis.reports.scene import scene_of
from dynamis.reports.staging import body_poses, stage_of
from dynamis.reports.subject import subject_of

REAL = ("baxter", "g1", "go2", "kuka_iiwa14", "panda", "puma560", "scara", "stanford", "ur5e", "xarm7")
WITH_MESHES = ("baxter", "g1", "go2", "panda", "xarm7")
HEAVY, NEAR = 0.05, 0.02  # of the mass of the robot; m


@pytest.fixture
def without_packages(monkeypatch):
    """As where no package with the vendors' meshes is installed."""
    monkeypatch.setattr(drawing, "corresponding_meshes", lambda *_: None)


def skip_without_package(name):
    if installed_description(dy.load(name).description.appearance.meshes) is None:
        pytest.skip("pip install example-robot-data")


def outside(point, parts):
    """How far a point is outside the box around the shapes of a body, along the axes of its frame."""
    low = np.min([(d.points - d.radii[:, None]).min(axis=0) for d in parts], axis=0)
    high = np.max([(d.points + d.radii[:, None]).max(axis=0) for d in parts], axis=0)
    return float(np.maximum(np.maximum(low - point, point - high), 0.0).max())


def heavy_bodies(robot):
    model = robot.model
    bodies = [(i, model.with_locked_rotors(i)) for i, body in model.moving if not body.is_rotor]
    return [(i, inertia) for i, inertia in bodies if float(inertia.mass) > HEAVY * float(robot.mass)]


@pytest.mark.parametrize("name", library_names())
def test_the_centres_of_mass_of_heavy_links_are_inside_their_shapes(name, without_packages):
    robot = subject_of(dy.load(name), None, None).robot
    shapes = drawing_of(robot).shapes
    for i, inertia in heavy_bodies(robot):
        own = [d for d in shapes if d.body == i]
        assert own, f"{robot.model.bodies[i].name} is not drawn"
        assert outside(np.asarray(inertia.com, dtype=float), own) < NEAR, robot.model.bodies[i].name


@pytest.mark.parametrize("name", REAL)
def test_every_body_of_a_real_robot_has_shapes_in_its_file(name, without_packages):
    robot = dy.load(name)
    made_up = {d.body for d in drawing_of(robot).shapes if d.link is None}
    massive = {i for i, body in robot.model.moving if float(body.inertia.mass) > 0.0}
    assert made_up & massive == set()


@pytest.mark.parametrize("name", WITH_MESHES)
def test_installed_meshes_are_drawn_where_their_frames_are_those_of_the_robot(name):
    skip_without_package(name)
    found = drawing.corresponding_meshes(dy.load(name).description, dy.load(name).model)
    assert found is not None
    moved = dy.load(name).description
    joint = next(j for j in moved.joints if j.type == "revolute")
    joint.origin = joint.origin._replace(p=joint.origin.p + 0.01)
    assert drawing.corresponding_meshes(moved, dy.Robot(moved).model) is None


def test_meshes_of_a_package_line_up_with_the_masses():
    skip_without_package("xarm7")
    robot = dy.load("xarm7")
    shapes = drawing_of(robot).shapes
    assert {d.shape.kind for d in shapes} == {"mesh"}
    for i, inertia in heavy_bodies(robot):
        assert outside(np.asarray(inertia.com, dtype=float), [d for d in shapes if d.body == i]) < NEAR


@pytest.mark.parametrize("name", ["go2", "g1"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_legged_robots_stand_with_their_feet_on_the_floor(name, base, without_packages):
    robot = dy.load(name, base=base)
    stage = stage_of(robot)
    poses = body_poses(robot, np.array(stage["pose"]))
    lowest = {}
    for d in drawing_of(robot).shapes:
        height = ((d.points @ poses[d.body].R.T + poses[d.body].p)[:, 2] - d.radii).min()
        lowest[d.link] = min(lowest.get(d.link, np.inf), float(height))
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot") if name == "go2" else ("left_ankle_roll_link", "right_ankle_roll_link")
    assert stage["floor"] == pytest.approx(0.0, abs=1e-9) or base == "fixed"
    for foot in feet:
        assert lowest[foot] == pytest.approx(stage["floor"], abs=2e-3)
    assert min(lowest.values()) >= stage["floor"] - 1e-5


def test_the_frame_a_report_is_about_is_the_end_of_a_limb():
    assert main_frame(dy.load("go2")).endswith("_foot")
    assert main_frame(dy.load("go2", base="floating")).endswith("_foot")
    assert main_frame(dy.load("g1")).endswith("_hand")


@pytest.mark.parametrize("name", REAL)
def test_a_robot_is_shown_above_the_floor_and_within_its_limits(name, without_packages):
    robot = dy.load(name)
    scene = scene_of(robot)
    q = np.array(scene["pose"])
    places = [c.q_index for c in robot.model.coordinates]
    assert (q[places] >= robot.limits["lower"] - 1e-9).all()
    assert (q[places] <= robot.limits["upper"] + 1e-9).all()
    poses = body_poses(robot, q)
    heights = [(poses[b].R @ p + poses[b].p)[2] - r for b, *p, r in scene["outline"]]
    assert min(heights) >= scene["floor"] - 1e-4


def test_a_robot_that_stands_on_its_feet_is_released_with_a_floating_base():
    assert released(dy.load("go2")).n == 18
    assert released(dy.load("ur5e")).n == 6


@pytest.mark.parametrize(("name", "left", "right"), [("go2", "FL_", "FR_"), ("g1", "left_", "right_")])
def test_contact_spheres_are_fitted_to_the_drawn_links_and_mirrored_as_they_are(name, left, right, without_packages):
    robot = released(dy.load(name))
    spheres = {}
    for one in contact_points(robot):
        spheres.setdefault(one.frame, []).append((*one.point, one.radius))
    lefts = [frame for frame in spheres if frame.startswith(left)]
    assert len(lefts) >= 3
    for frame in lefts:
        other = sorted((x, -y, z, r) for x, y, z, r in spheres[frame.replace(left, right)])
        assert np.allclose(np.sort(spheres[frame], axis=0), np.sort(other, axis=0), atol=1e-3), frame
    size = np.ptp(np.array([ball[1:4] for ball in scene_of(robot)["outline"]]), axis=0).max()
    for body, (points, radii) in _outlines(robot).items():
        own = [s for f, s in spheres.items() if robot.model.frames[f].body == body]
        if not own:
            continue
        X = next(f.pose for f in robot.model.frames.values() if f.body == body)
        balls = np.array(own[0])
        centres = balls[:, :3] @ np.asarray(X.R, dtype=float).T + np.asarray(X.p, dtype=float)
        hull = (points @ DIRECTIONS.T + radii[:, None]).max(axis=0)
        reach = (centres @ DIRECTIONS.T + balls[:, 3:]).max(axis=0)
        assert (hull - reach).max() < 0.05 * size
        assert (reach - hull).max() < 0.03 * size

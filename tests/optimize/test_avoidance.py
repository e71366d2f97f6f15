"""Optimal motions among obstacles: links keep their distance, also between the nodes; what cannot be avoided is said."""

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy
from dynamis.model.description import Shape
from dynamis.optimize.avoidance import Avoidance
from dynamis.optimize.detours import Detours
from dynamis.optimize.ilqr import Quadratic, Sweeps
from dynamis.spatial import Pose

pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
Obstacle, Scene = dy.collision.Obstacle, dy.collision.Scene


def slider(axes="xy"):
    """A ball of 0.2 m that slides along some axes of the world."""
    d = dy.Description("slider").add_link("base")
    for parent, name in zip(("base", *axes), axes, strict=False):
        d.add_link(name, parent, "prismatic", axis=np.eye(3)["xyz".index(name)], inertia=dy.solids.sphere(0.2, mass=1.0))
    d.links[-1].shapes = [Shape("collision", "sphere", (0.2,), Pose.identity())]
    return dy.Robot(d)


def among(robot, **options):
    return Scene(robot, obstacles={"ball": Obstacle("sphere", 0.3, (1.0, 0.0, 0.0))}, **options)


def test_a_motion_goes_around_an_obstacle_and_keeps_the_margin_between_its_nodes():
    robot = slider()
    scene = among(robot, margin=0.05)
    straight = dy.optimize.trajectory(robot, [0.0, 0.02], [2.0, 0.0], 2.0, nodes=40)
    assert scene.along(straight).distance < -0.4
    around = dy.optimize.trajectory(robot, [0.0, 0.02], [2.0, 0.0], 2.0, nodes=40, collision=scene)
    assert around.converged, around.status
    assert around.clearance.free
    between = robot.interpolate(around.q[:-1], around.q[1:], np.full(40, 0.37))
    assert 0.05 < scene.distance(between).min() < 0.06  # no farther than necessary
    assert scene.distance(around.q).min() > 0.05
    assert straight.cost < around.cost < 2.5 * straight.cost


def test_long_steps_keep_more_at_the_nodes_to_be_free_between_them():
    robot = slider()
    scene = among(robot)
    found = dy.optimize.trajectory(robot, [0.0, 0.02], [2.0, 0.0], 2.0, nodes=10, collision=scene)
    assert found.converged, found.status
    between = [robot.interpolate(found.q[:-1], found.q[1:], np.full(10, s)) for s in np.linspace(0.0, 1.0, 9)]
    assert scene.distance(np.array(between)).min() > 0.0
    assert scene.distance(found.q).min() > 0.01


def test_a_motion_that_stays_too_near_between_its_nodes_names_the_cause(monkeypatch):
    tightened = Avoidance.tightened

    def never_far_enough(self, motions):
        if not tightened(self, motions):
            self.keep += 1e-4
        return True

    monkeypatch.setattr(Avoidance, "tightened", never_far_enough)
    robot = slider()
    found = dy.optimize.trajectory(robot, [0.0, 0.02], [2.0, 0.0], 2.0, nodes=10, collision=among(robot), iterations=80)
    assert not found.converged
    assert "simulated with its controller, the motion came too near between its nodes" in found.status
    assert "use more nodes=" in found.status


def test_an_arm_avoids_a_ball_in_the_way_of_its_best_motion():
    robot = dy.load("ur5e")
    q0 = np.array([1.0, -0.9, 1.2, -0.3, -1.5, 0.0])
    q1 = q0 - np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    best = dy.optimize.trajectory(robot, q0, q1, 1.5, nodes=30)
    ball = Obstacle("sphere", 0.1, robot.pose(best.q[15])[:3, 3])
    scene = Scene(robot, obstacles={"ball": ball}, margin=0.005)
    assert scene.along(best).distance < -0.1
    found = dy.optimize.trajectory(robot, q0, q1, 1.5, nodes=30, collision=scene)
    assert found.converged, found.status
    assert found.clearance.free
    assert scene.along(found).free
    assert np.abs(found.q[-1] - q1).max() < 1e-4
    assert best.cost < found.cost < 2.0 * best.cost


def test_a_rod_on_a_ball_joint_turns_around_an_obstacle():
    d = dy.Description("rod").add_link("base")
    middle = Pose.translation([0.0, 0.0, 0.5])
    d.add_link("rod", "base", "spherical", inertia=dy.solids.cylinder(0.05, 1.0, mass=1.0).seen_from(middle))
    d.links[-1].shapes = [Shape("collision", "cylinder", (0.05, 1.0), middle)]
    robot = dy.Robot(d)
    scene = Scene(robot, obstacles={"ball": Obstacle("sphere", 0.1, (0.6, 0.0, 0.6))}, margin=0.01)
    start, goal = robot.integrate(robot.home(), [0.02, 0.1, 0.0]), robot.integrate(robot.home(), [0.0, 1.5, 0.0])
    found = dy.optimize.trajectory(robot, start, goal, 1.0, nodes=30, collision=scene)
    assert found.converged, found.status
    assert 0.01 < found.clearance.distance < 0.02


def cup(robot):
    """Three walls around the origin, open towards −x."""
    walls = {
        "right": ((1.6, 0.1, 1.0), (0.2, -0.6)),
        "left": ((1.6, 0.1, 1.0), (0.2, 0.6)),
        "end": ((0.1, 1.3, 1.0), (0.9, 0.0)),
    }
    return Scene(robot, obstacles={k: Obstacle("box", size, (*at, 0.0)) for k, (size, at) in walls.items()}, margin=0.01)


def test_paths_out_of_a_dead_end_are_found_by_trees():
    robot = slider()
    scene, bound = cup(robot), np.full(2, 4.0)
    detours = Detours(scene, np.zeros(2), np.array([2.0, 0.0]), -bound, bound)
    q = detours.path(np.linspace(0.0, 1.0, 101))
    assert not scene.in_collision(q).any()
    assert q[:, 0].min() < -0.7  # around the edge of a side
    np.testing.assert_allclose(q[[0, -1]], [[0.0, 0.0], [2.0, 0.0]], atol=1e-12)
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).max() < 0.15
    found = dy.optimize.trajectory(robot, [0.0, 0.0], [2.0, 0.0], 4.0, nodes=60, collision=scene)
    assert found.converged, found.status
    assert found.clearance.free


def test_where_nothing_is_in_the_way_or_nothing_helps_the_path_is_straight():
    robot = slider()
    share, bound = np.linspace(0.0, 1.0, 21), np.full(2, 4.0)
    for scene, limit in ((among(robot), bound), (cup(robot), np.array([4.0, 0.3]))):  # the second leaves no way around
        start, goal = np.array([0.0, 0.0]), np.array([0.3 if limit[1] == 4.0 else 2.0, 0.0])
        path = Detours(scene, start, goal, -limit, limit).path(share)
        np.testing.assert_allclose(path, start + share[:, None] * (goal - start), atol=1e-12)


def test_what_cannot_be_avoided_is_said_with_the_pair():
    robot = slider("x")
    found = dy.optimize.trajectory(robot, [0.0], [2.0], 2.0, nodes=20, iterations=40, collision=among(robot))
    assert not found
    assert not found.clearance.free
    assert "'x' and 'ball'" in found.status
    assert "guess=" in found.status


def test_ends_in_collision_other_scenes_and_collocation_are_refused():
    robot = slider()
    with pytest.raises(dy.InputError, match=r"the start is in collision: 'y' and 'ball' overlap by 0\.5 m, and a distance of"):
        dy.optimize.trajectory(robot, [1.0, 0.0], [2.0, 0.0], 2.0, collision=among(robot))
    with pytest.raises(dy.InputError, match="the goal is in collision"):
        dy.optimize.trajectory(robot, [0.0, 0.0], [1.5, 0.0], 2.0, collision=among(robot, margin=0.1))
    with pytest.raises(dy.InputError, match=r"collision= requires method=\"ilqr\""):
        dy.optimize.trajectory(robot, [0.0, 0.0], [2.0, 0.0], 2.0, method="collocation", collision=among(robot))
    with pytest.raises(dy.InputError, match="scene of robot 'slider'"):
        dy.optimize.trajectory(dy.load("ur5e"), np.zeros(6), np.ones(6), 2.0, collision=among(robot))


def test_the_expansion_is_the_derivative_of_the_value():
    rng = np.random.default_rng(0)
    avoidance = Avoidance(among(slider()), 1e-4)
    q = np.concatenate([[[0.0, 0.0]], [1.0, 0.0] + 0.3 * rng.normal(size=(5, 2)), [[2.0, 0.0]]])
    avoidance.update(q, 2.0)
    l_q, l_qq = avoidance.expansion(q, 3.0, 0.01)
    step = 1e-6
    for k in range(len(q)):
        for i in range(2):
            moved = np.zeros_like(q)
            moved[k, i] = step
            slope = (avoidance.value(q + moved, 3.0) - avoidance.value(q - moved, 3.0)) / (2.0 * step)
            assert slope == pytest.approx(l_q[k, i], abs=1e-4)
    assert (np.linalg.eigvalsh(l_qq) > -1e-9).all()
    assert np.abs(l_qq).max() > 0.0


def test_the_compiled_recursion_with_coupled_positions_is_that_of_numbers():
    rng = np.random.default_rng(1)
    sweeps = Sweeps(dy.optimize.Step(slider(), 0.02), np.full(2, -0.3), np.full(2, 0.3))
    N = 5
    A, B, R = rng.normal(size=(N, 4, 4)), rng.normal(size=(N, 4, 2)), rng.normal(size=(N, 2, 2))
    l_zz = rng.uniform(0.5, 2.0, size=(N, 6))
    model = Quadratic(rng.normal(size=(N, 6)), l_zz, rng.normal(size=4), np.eye(4), R @ np.swapaxes(R, 1, 2))
    u = rng.uniform(-0.2, 0.2, size=(N, 2))
    numbers = sweeps.gains_of_numbers(A, B, model, u, 0.1)
    for found, true in zip(sweeps.gains(A, B, model, u, 0.1), numbers, strict=True):
        assert relative_error(np.asarray(found), np.asarray(true)) < 1e-10
    assert not np.allclose(numbers[1], sweeps.gains_of_numbers(A, B, model._replace(l_qq=None), u, 0.1)[1])


def test_the_simulated_motion_keeps_the_margin_too():
    ur, x = dy.load("ur5e"), [1.0, -0.9, 1.2, -0.3, -1.5, 0.0]
    post = dy.collision.Obstacle("capsule", (0.05, 1.0), (-0.5, 0.1, 0.5))
    scene = dy.collision.Scene(ur, obstacles={"post": post}, margin=0.01)
    around = dy.optimize.trajectory(ur, x, [-1.0, *x[1:]], 1.5, nodes=30, collision=scene)
    run = dy.simulate(ur, 1.5, x, controller=around.controller, method="rk4", step=2e-3)
    assert around.converged
    assert scene.along(run).free
    assert around.clearance.distance == pytest.approx(scene.along(run).distance, abs=1e-3)

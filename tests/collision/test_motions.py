"""Scenes in inverse kinematics, differential inverse kinematics and along motions."""

import numpy as np
import pytest

import dynamis as dy

pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
Obstacle, Scene, ts = dy.collision.Obstacle, dy.collision.Scene, dy.task_space
Q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])


@pytest.fixture(scope="module")
def robot():
    return dy.load("ur5e")


@pytest.fixture(scope="module")
def floor(robot):
    return Scene(robot, obstacles={"floor": Obstacle("half_space", (), (0.0, 0.0, 0.05))})


def test_solutions_that_collide_are_left_out(robot, floor):
    target = robot.pose(Q)
    every = dy.all_solutions(robot, target)
    collide = [x for x in every if floor.in_collision(x.q)]
    assert len(every) == 8
    assert 0 < len(collide) < 8
    assert len(dy.all_solutions(robot, target, collision=floor)) == 8 - len(collide)
    found = dy.inverse_kinematics(robot, target, q0=collide[0].q, collision=floor)
    assert found.found
    assert found.restarts > 0
    assert not floor.in_collision(found.q)
    assert np.allclose(robot.pose(found.q), target, atol=1e-8)
    batch = dy.inverse_kinematics(robot, np.array([target, target]), q0=[Q, collide[0].q], collision=floor)
    assert batch.found.all()
    assert not floor.in_collision(batch.q).any()


def test_if_every_solution_collides_the_status_names_the_pair(robot, floor):
    target = robot.pose(Q)
    blocked = floor.with_obstacles({"ball": Obstacle("sphere", 0.1, target[:3, 3])})
    found = dy.inverse_kinematics(robot, target, collision=blocked, restarts=10)
    assert not found.found
    assert "every solution found is in collision: 'wrist_3_link' and 'ball' overlap by 0.1" in found.status
    assert found.error < 1e-9


def test_wrong_scenes_are_refused(robot, floor):
    with pytest.raises(dy.InputError, match=r"must be a dynamis\.collision\.Scene, got str"):
        dy.inverse_kinematics(robot, robot.pose(Q), collision="floor")
    with pytest.raises(dy.InputError, match="scene of robot 'UR5e'"):
        dy.inverse_kinematics(dy.load("panda"), np.eye(4), collision=floor)


def test_a_barrier_keeps_the_margin_where_the_straight_way_collides(robot):
    pytest.importorskip("daqp", reason="DAQP is not installed: pip install 'dynamis[qp]'")
    # the flange, a flat face, meets the round side of the post: its nearest point jumps from edge to edge as it tilts
    centre = np.array([-0.55, 0.1, 0.5])
    scene = Scene(robot, obstacles={"post": Obstacle("capsule", (0.05, 1.0), centre)}, margin=0.02)
    goal = [ts.Goal(ts.Position(), centre)]

    def least(**options):
        q, found = Q, []
        for _ in range(70):
            q = dy.differential_inverse_kinematics(robot, q, goal, 0.02, gain=0.1, **options).q
            found.append(scene.distance(q))
        return min(found)

    assert least() < 0.0
    assert least(collision=scene) > 0.0195
    assert least(barriers=[scene.barrier(0.04)]) > 0.0395


def test_the_smallest_distance_along_a_motion_is_found_between_samples(robot, floor):
    move = dy.trajectories.joint_move(Q, Q + np.array([0.0, 1.4, -0.2, 0.4, 0.0, 0.0]), duration=1.5)
    there = dy.trajectories.joint_move([0.0, 0.0], [1.0, 1.0], duration=1.0)
    down = floor.along(move, samples=11)
    t = np.linspace(0.0, 1.5, 301)
    d = floor.distance(move.at(t)[0])
    assert down.distance <= d.min() + 1e-6
    assert down.time == pytest.approx(t[np.argmin(d)], abs=6e-3)
    assert not down.free
    assert down.pair[1] == "floor"
    assert "in collision during" in down.status
    near = np.array([floor.in_collision(q) for q in move.at(down.t)[0]])
    assert [down.t[near][0], down.t[near][-1]] == [down.collisions[0][0], down.collisions[-1][1]]
    rows = floor.along((t, move.at(t)[0]))
    assert rows.distance == d.min()
    with pytest.raises(dy.InputError, match=r"must be that of the 6 joints"):
        floor.along(there)
    with pytest.raises(dy.InputError, match="times and configurations"):
        floor.along(3)


@pytest.fixture(scope="module")
def post(floor):
    """A post between `Q` and `BEYOND`."""
    return floor.with_obstacles({"post": Obstacle("capsule", (0.05, 1.0), (-0.55, 0.1, 0.5))})


BEYOND = Q + np.array([-1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
CLEAR = Q + np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
MAKERS = {
    "polynomial": lambda robot, end, **options: dy.trajectories.polynomial(Q, end, 2.0, **options),
    "joint_move": lambda robot, end, **options: dy.trajectories.joint_move(Q, end, duration=2.0, **options),
    "spline at times": lambda robot, end, **options: dy.trajectories.spline([0.0, 1.0, 2.0], [Q, 0.5 * (Q + end), end], **options),
    "spline within limits": lambda robot, end, **options: dy.trajectories.spline(None, [Q, end], velocity=1.0, **options),
    "time_optimal": lambda robot, end, **options: dy.trajectories.time_optimal(robot, [Q, end], points=20, **options),
    "follow": lambda robot, end, **options: dy.trajectories.follow(
        robot, dy.trajectories.line(robot.pose(Q), robot.pose(end), 2.0), q0=Q, **options
    ),
}  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_a_motion_that_collides_is_refused_with_the_pair_and_the_time(robot, post, maker):
    with pytest.raises(dy.InputError, match=r"the motion collides: .* between '\w+' and 'post' at t = .* s; choose"):
        maker(robot, BEYOND, collision=post)
    checked, plain = maker(robot, CLEAR, collision=post), maker(robot, CLEAR)
    assert np.array_equal(checked.sample(20)[1], plain.sample(20)[1])


def test_a_motion_that_rests_in_a_collision_is_refused_and_the_margin_is_named(robot, post):
    touching = dy.inverse_kinematics(robot, [-0.55, 0.1, 0.4], q0=Q).q
    with pytest.raises(dy.InputError, match="the motion collides"):
        dy.trajectories.joint_move(touching, touching, collision=post)
    wide = Scene(robot, obstacles=post.obstacles, margin=0.3)
    with pytest.raises(dy.InputError, match=r"\(a margin of 0\.3 m is kept\)"):
        dy.trajectories.joint_move(Q, CLEAR, robot=robot, duration=1.0, collision=wide)


def test_a_cartesian_motion_starts_in_a_configuration_that_does_not_collide(robot, floor):
    X = robot.pose(Q)
    colliding = next(x.q for x in dy.all_solutions(robot, X) if floor.in_collision(x.q))
    up = X.copy()
    up[2, 3] += 0.05
    motion = dy.trajectories.follow(robot, dy.trajectories.line(X, up, 1.0), q0=colliding, collision=floor)
    assert floor.along(motion).free


def test_a_cartesian_motion_takes_another_initial_configuration_if_the_first_leads_to_a_collision(robot):
    X, Y = robot.pose(Q), robot.pose(Q)
    Y[1, 3] += 0.25
    line = dy.trajectories.line(X, Y, 2.0)
    first = dy.inverse_kinematics(robot, X).q
    elbow = robot.pose(dy.trajectories.follow(robot, line, q0=first).at(2.0)[0], "forearm_link")[:3, 3]
    scene = Scene(robot, obstacles={"ball": Obstacle("sphere", 0.05, elbow)})
    with pytest.raises(dy.InputError, match=r"'forearm_link' and 'ball' .* choose another initial configuration \(q0=\)"):
        dy.trajectories.follow(robot, line, q0=first, collision=scene)
    motion = dy.trajectories.follow(robot, line, collision=scene)
    assert scene.along(motion).free
    np.testing.assert_allclose(robot.pose(motion.at(2.0)[0]), Y, atol=1e-6)


def test_motions_refuse_the_scene_of_another_robot(post):
    panda = dy.load("panda")
    with pytest.raises(dy.InputError, match="scene of robot 'UR5e'"):
        dy.trajectories.joint_move(panda.random(0), panda.random(1), robot=panda, acceleration=1.0, collision=post)
    with pytest.raises(dy.InputError, match="must be that of the 6 joints"):
        dy.trajectories.spline([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], collision=post)
    with pytest.raises(dy.InputError, match=r"must be a dynamis\.collision\.Scene, got str"):
        dy.trajectories.joint_move(Q, CLEAR, duration=1.0, collision="post")


def test_a_motion_given_by_points_is_examined_between_them():
    robot = dy.load("ur5e")
    ends = np.array([[1.0, -0.9, 1.2, -0.3, -1.5, 0.0], [-1.0, -0.9, 1.2, -0.3, -1.5, 0.0]])
    wire = dy.collision.Obstacle("capsule", (0.01, 1.0), (-0.5, 0.1, 0.5))
    scene = dy.collision.Scene(robot, obstacles={"wire": wire}, margin=0.001)
    found = scene.along((np.array([0.0, 1.0]), ends))
    fine = scene.distances(ends[0] + np.linspace(0.0, 1.0, 2001)[:, None] * np.diff(ends, axis=0)).min()
    assert not found.free
    assert found.distance == pytest.approx(fine, abs=1e-4)
    best = dy.optimize.trajectory(robot, *ends, 0.8, nodes=8, iterations=3, collision=scene)
    assert best.clearance.free == scene.along(best).free
    assert best.clearance.distance == scene.along(best).distance
    for times in ([1.0, 0.0], [0.0, np.nan], [0.0, np.inf]):
        with pytest.raises(dy.InputError, match="must not decrease"):
            scene.along((np.array(times), ends))


def test_a_distance_within_the_margin_is_not_called_a_collision(robot, floor, monkeypatch):
    monkeypatch.setattr(floor, "margin", 1.0)
    near = floor.along(([0.0, 1.5], np.array([Q, Q])))
    assert near.distance > 0.0
    assert not near.free
    assert near.status.endswith("; within the margin of 1 m during 0 … 1.5 s")


def test_an_obstacle_around_the_foot_is_to_be_excluded_or_moved(robot):
    pedestal = {"pedestal": Obstacle("box", (0.5, 0.5, 0.25))}
    scene = Scene(robot, obstacles=pedestal)
    fixed = [("shoulder_link", "pedestal"), ("upper_arm_link", "pedestal")]
    cure = (
        r"'shoulder_link' and 'pedestal', .* collide in all of 50 random postures.*exclude=\[\('shoulder_link', 'pedestal'\), "
    )
    with pytest.raises(dy.InputError, match=cure):
        dy.trajectories.joint_move(Q, Q + 0.3, duration=2.0, robot=robot, collision=scene)
    with pytest.raises(dy.InputError, match=cure):
        dy.optimize.trajectory(robot, Q, Q + 0.3, 2.0, nodes=20, collision=scene)
    assert "collide in all of 50" in dy.inverse_kinematics(robot, robot.pose(Q), collision=scene).status
    free = Scene(robot, obstacles=pedestal, exclude=fixed)
    assert dy.trajectories.joint_move(Q, Q + 0.3, duration=2.0, robot=robot, collision=free).duration == 2.0


def test_a_motion_that_begins_in_collision_says_so(robot):
    scene = Scene(robot, obstacles={"ball": Obstacle("sphere", 0.05, robot.pose(Q)[:3, 3])})
    with pytest.raises(dy.InputError, match=r"its start is in collision .*choose another start"):
        dy.trajectories.joint_move(Q, Q + 0.5, duration=2.0, collision=scene)

"""Ellipsoids, polytopes and the largest force: against each other, against sampling, in singular and redundant cases."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.state_measures import payload_capacity
from dynamis.statics import deflection, force_ellipsoid, force_polytope, largest_force, static_torques, velocity_ellipsoid

LIMITS = np.array([1500.0, 600.0])


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module")
def weightless(arm):
    return arm.replace(gravity=(0, 0, 0))


def test_the_two_ellipsoids_have_the_same_axes_and_inverse_radii(arm):
    v, f = velocity_ellipsoid(arm, [0.3, 0.9]), force_ellipsoid(arm, [0.3, 0.9])
    np.testing.assert_allclose(v.radii * f.radii, 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.abs(v.directions.T @ f.directions), np.eye(2), atol=1e-12)


def test_ellipsoids_hold_what_they_are_said_to(arm):
    rng, q = np.random.default_rng(0), [0.3, 0.9]
    J = arm.jacobian(q)[:2]
    v, f = velocity_ellipsoid(arm, q), force_ellipsoid(arm, q)
    for x in rng.standard_normal((50, 2)):
        unit = x / np.linalg.norm(x)
        assert v.contains(J @ unit, 1e-9)
        assert not v.contains(1.01 * J @ unit)
        assert f.contains(unit * f.along(unit), 1e-9)
        assert np.linalg.norm(J.T @ unit) * f.along(unit) == pytest.approx(1.0)


def test_scales_of_joints_enter_the_ellipsoids(arm):
    q, k = [0.3, 0.9], np.array([2.0, 5.0])
    J = arm.jacobian(q)[:2]
    np.testing.assert_allclose(velocity_ellipsoid(arm, q, speeds=k).radii, np.linalg.svd(J * k)[1])
    np.testing.assert_allclose(1 / force_ellipsoid(arm, q, torques=k).radii, np.linalg.svd(J / k)[1])
    with pytest.raises(dy.InputError, match="positive"):
        velocity_ellipsoid(arm, q, speeds=[1.0, -1.0])


def test_a_singular_arm_has_an_endless_force_ellipsoid_and_a_flat_velocity_ellipsoid(arm):
    along = np.array([np.cos(0.4), np.sin(0.4)])
    v, f = velocity_ellipsoid(arm, [0.4, 0.0]), force_ellipsoid(arm, [0.4, 0.0])
    assert abs(f.infinite[:, 0] @ along) == pytest.approx(1.0)
    assert abs(v.flat[:, 0] @ along) == pytest.approx(1.0)
    assert f.along(along) == np.inf
    assert v.along(along) == 0.0
    assert f.contains(1e9 * along)
    assert not v.contains(1e-3 * along)


def test_corners_of_the_polygon_have_both_torques_at_their_limits(arm):
    q = [0.5, 1.1]
    found = force_polytope(arm, q, torque_limits=LIMITS)
    assert len(found.vertices) == 4
    for w in found.vertices:
        np.testing.assert_allclose(np.abs(static_torques(arm, q, [*w, 0]).total), LIMITS, rtol=1e-9)
    # the image of the box of torques under J⁻ᵀ
    assert found.volume == pytest.approx(4 * LIMITS.prod() / abs(np.linalg.det(arm.jacobian(q)[:2])), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "rows"), [("ur5e", None), ("panda", None), ("panda", "xz"), ("ur5e", "all"), ("stanford", "xyz")]
)
def test_a_wrench_is_inside_exactly_when_its_torques_keep_their_limits(name, rows):
    robot = dy.load(name)
    limits = robot.limits["effort"] if np.isfinite(robot.limits["effort"]).all() else np.full(robot.n, 200.0)
    rng = np.random.default_rng(1)
    for q in robot.random(rng, 3):
        found = force_polytope(robot, q, rows=rows, torque_limits=limits)
        P = found.task.selection
        assert not found.empty
        for w in found.vertices:
            assert (
                static_torques(robot, q, P.T @ w).possible
                or (np.abs(static_torques(robot, q, P.T @ w).total) <= limits * (1 + 1e-7)).all()
            )
        for w in rng.uniform(-600, 600, (100, found.task.size)):
            torque = static_torques(robot, q, P.T @ w).total
            assert found.contains(w, 0.0) == bool((np.abs(torque) <= limits).all())


def test_by_the_robot_the_polytope_is_mirrored():
    robot = dy.load("ur5e")
    q = robot.random(5)
    ours, theirs = (force_polytope(robot, q, by=by) for by in ("environment", "robot"))
    for w in ours.vertices:
        assert np.abs(theirs.vertices + w).max(axis=1).min() < 1e-6


def test_the_singular_polytope_is_endless_where_the_structure_carries(weightless):
    found = force_polytope(weightless, [0.4, 0.0], torque_limits=LIMITS)
    along = np.array([np.cos(0.4), np.sin(0.4)])
    assert not found.bounded
    assert abs(found.unbounded[:, 0] @ along) == pytest.approx(1.0)
    assert found.contains(1e9 * along)
    assert len(found.vertices) == 2
    # across, joint 2 gives up first: 600 N m at 1 m, against 1500 N m at 2 m
    np.testing.assert_allclose(np.linalg.norm(found.vertices, axis=1), 600.0)
    assert "is unbounded" in found.sentences[0]


def test_an_arm_too_weak_for_its_weight_is_told(arm):
    # stretched out, no force along the arm helps; across it one does
    assert force_polytope(arm, [0.0, 0.0], rows="x", torque_limits=100.0).empty
    found = largest_force(arm, [0.0, 0.0], (1, 0, 0), torque_limits=100.0)
    assert found.size == 0.0
    assert found.limited_by == ("joint1", "joint2")
    assert "the torques at rest exceed the torque limits" in found.sentence
    carried = force_polytope(arm, [0.0, 0.0], torque_limits=100.0)
    assert carried.empty  # 981 N m and 245 N m with one force at 2 m and 1 m


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_the_largest_force_lies_on_the_polytopes_edge(name):
    robot = dy.load(name)
    rng = np.random.default_rng(2)
    for q in robot.random(rng, 4):
        found = force_polytope(robot, q, by="robot")
        for d in rng.standard_normal((5, 3)):
            most = largest_force(robot, q, d, by="robot")
            unit = d / np.linalg.norm(d)
            assert found.contains(most.size * unit)
            assert not found.contains(1.001 * most.size * unit)
            assert most.limited_by
            assert (np.abs(most.torque) <= robot.limits["effort"] * (1 + 1e-7)).all()
            np.testing.assert_allclose(most.torque, static_torques(robot, q, most.wrench, by="robot").total, atol=1e-9)


def test_a_moment_that_helps_lets_the_robot_push_harder():
    robot = dy.load("ur5e")
    q = robot.random(1)
    bare, held = (largest_force(robot, q, (0, 0, -1), free=free) for free in ((), ("rx", "ry", "rz")))
    assert held.size > bare.size
    assert held.wrench[3:].any()
    assert not bare.wrench[3:].any()


def test_a_direction_the_structure_carries_has_no_largest_force(weightless):
    found = largest_force(weightless, [0.0, 0.0], (-1, 0, 0), torque_limits=10.0)
    assert found.unbounded
    assert found.sentence.startswith("a force along (−1, 0, 0)")
    assert "is unbounded" in found.sentence


def test_no_bound_for_want_of_limits_is_not_said_to_be_the_structures_merit(weightless):
    limits = (np.inf, 10.0)
    found = force_polytope(weightless, [0.3, 0.9], torque_limits=limits)
    assert not found.bounded
    assert "have no torque limits" in found.sentences[0]
    away = weightless.jacobian([0.3, 0.9])[:2]
    d = np.linalg.solve(away.T, [1.0, 0.0])  # felt by joint 1 alone
    assert "have no torque limits" in largest_force(weightless, [0.3, 0.9], [*d, 0.0], torque_limits=limits).sentence


def test_a_moment_is_a_direction_too(weightless):
    found = largest_force(weightless, [0.0, 0.5], (0, 0, 0, 0, 0, 1), torque_limits=(10, 7))
    assert found.size == pytest.approx(7.0)
    assert found.limited_by == ("joint2",)


def test_pictures_of_polygon_polyhedron_and_band(arm, weightless, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    cases = [force_polytope(arm, [0.5, 1.1], torque_limits=LIMITS), force_polytope(dy.load("ur5e"), np.ones(6)),
             force_polytope(weightless, [0.4, 0.0], torque_limits=LIMITS)]  # fmt: skip
    for k, found in enumerate(cases):
        found.plot(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 5000
    with pytest.raises(dy.InputError, match="2 or 3 directions"):
        force_polytope(dy.load("ur5e"), np.ones(6), rows="all").plot()


@pytest.mark.parametrize(
    ("call", "words"),
    [(lambda a: force_polytope(a, [0, 0]), "torque_limits"), (lambda a: force_polytope(a, [0, 0], torque_limits=[-1, 1]), "negative"),
     (lambda a: largest_force(a, [0, 0], (0, 0, 0), torque_limits=1), "not all zero"),
     (lambda a: largest_force(a, [0, 0], (1, 0), torque_limits=1), "3 numbers"),
     (lambda a: largest_force(a, [0, 0], (1, 0, 0), torque_limits=1, free="about z"), "row"),
     (lambda a: force_polytope(a, [0, 0], torque_limits=1).contains([1, 2, 3]), "2 numbers"),
     (lambda a: velocity_ellipsoid(a, [0, 0]).along([1, 2, 3]), "direction"),
     (lambda a: force_ellipsoid(a, [[0, 0]]), "one state"), (lambda a: velocity_ellipsoid(a, [0, 0], rows="all"), "unit of length")],
)  # fmt: skip
def test_bad_questions_are_refused(arm, call, words):
    with pytest.raises(dy.DynamisError, match=words):
        call(arm)


def ends(found):
    return sorted(map(tuple, found.vertices.round(6).tolist()))


def test_a_joint_without_torque_leaves_a_segment_with_both_ends(weightless):
    q = [0.3, 0.9]
    found = force_polytope(weightless, q, torque_limits=(0, 10))
    J = weightless.jacobian(q)[:2]
    expected = [np.linalg.solve(J.T, [0.0, s]) for s in (10.0, -10.0)]
    assert len(found.vertices) == 2
    np.testing.assert_allclose(ends(found), sorted(map(tuple, np.round(expected, 6).tolist())), atol=1e-5)
    assert found.span == 1
    assert found.volume == 0.0
    assert found.bounded
    point = force_polytope(weightless, q, torque_limits=0.0)
    np.testing.assert_allclose(point.vertices, [[0.0, 0.0]], atol=1e-12)
    assert point.volume == 0.0


@pytest.mark.parametrize("weak", [(0,), (1,), (0, 2), (0, 1, 2), (1, 3)])
def test_flat_sets_have_corners_at_their_limits(weak):
    robot = dy.load("ur5e").replace(gravity=(0, 0, 0))
    limits = robot.limits["effort"].copy()
    limits[list(weak)] = 0.0
    q = np.array([0.4, -1.2, 1.6, -0.9, -1.3, 0.2])
    found = force_polytope(robot, q, torque_limits=limits)
    J = robot.jacobian(q)[:3]
    assert found.span == 3 - np.linalg.matrix_rank(J[:, list(weak)], tol=1e-9)
    assert len(found.vertices) >= {0: 1, 1: 2, 2: 3}[found.span]
    assert found.volume == 0.0
    for w in found.vertices:
        tau = J.T @ w
        assert (np.abs(tau) <= limits + 1e-6).all()
        # a corner has as many joints at their limits as it has directions
        at = np.abs(np.abs(tau) - limits) < 1e-6
        assert np.linalg.matrix_rank(J[:, at], tol=1e-9) == 3
    # the farthest forces along the set are corners
    for d in np.random.default_rng(0).standard_normal((5, 3)):
        most = largest_force(robot, q, d, torque_limits=limits).size
        assert found.contains(most * d / np.linalg.norm(d), 1e-6)


def test_pictures_of_flat_sets_are_not_without_end(weightless, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for limits in ((0, 10), (0, 0)):
        figure = force_polytope(weightless, [0.3, 0.9], torque_limits=limits).plot(tmp_path / "flat.png").figure
        assert "unbounded" not in [text.get_text() for text in figure.axes[0].texts]
    ur5e = dy.load("ur5e").replace(gravity=(0, 0, 0))
    for limits in ([0, 150, 150, 28, 28, 28], [0, 0, 150, 28, 28, 28], 0.0):
        force_polytope(ur5e, np.full(6, 0.7), torque_limits=limits).plot(tmp_path / "flat.png")


def test_a_free_base_is_held_by_no_motor():
    robot = dy.load("go2", base="floating")
    q = robot.neutral()
    held = static_torques(robot, q, frame="RR_foot")
    assert not held.possible
    assert (held.limits[:6] == 0.0).all()
    for ask in (lambda: largest_force(robot, q, (0, 0, 1), "RR_foot"), lambda: force_polytope(robot, q, "RR_foot"),
                lambda: payload_capacity(robot, q, "RR_foot")):  # fmt: skip
        with pytest.raises(dy.InputError, match="free base"):
            ask()
    # without a weight nothing needs to be held
    assert static_torques(robot.replace(gravity=(0, 0, 0)), q, frame="RR_foot").possible


def test_a_robot_without_joints_is_told_apart_from_one_without_limits():
    block = dy.Robot(dy.Description("block").add_link("base"))
    for ask in (lambda: force_polytope(block, [], "base", torque_limits=1.0),
                lambda: largest_force(block, [], (1, 0, 0), "base"),
                lambda: deflection(block, [], 1.0, (1, 0, 0), "base")):  # fmt: skip
        with pytest.raises(dy.InputError, match="no moving joints"):
            ask()

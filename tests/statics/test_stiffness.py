"""Stiffness under load, deflection iterated to rest, added springs, the inverse problem, maps."""

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.statics import deflection, joint_stiffness_for, stiffness, stiffness_map
from dynamis.statics.geometric_stiffness import load_stiffness, weight_stiffness

H = 1e-6
FLOATING = floating("ur5e")


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module")
def ur5e():
    return dy.load("ur5e")


def differences(f, robot, q):
    return np.stack(
        [(f(robot.integrate(q, H * e)) - f(robot.integrate(q, -H * e))) / (2 * H) for e in np.eye(robot.n)], axis=-1
    )


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e", "panda", "stanford", "scara"])
def test_the_load_term_is_the_derivative_of_the_torques(name):
    robot = dy.load(name)
    rng = np.random.default_rng(0)
    for q in robot.random(rng, 3):
        w = rng.uniform(-20, 20, 6)
        K_G = load_stiffness(robot, q, w)
        np.testing.assert_allclose(K_G, differences(lambda x, w=w: robot.jacobian(x).T @ w, robot, q), atol=1e-6)
        np.testing.assert_allclose(weight_stiffness(robot, q), differences(robot.gravity, robot, q), atol=1e-5)
        pure = load_stiffness(robot, q, [*w[:3], 0, 0, 0])
        np.testing.assert_allclose(pure, pure.T, atol=1e-12)  # a force has a potential


def test_without_load_it_is_the_formula_of_the_lecture(ur5e):
    q, k = ur5e.random(1), np.array([2e4, 2e4, 2e4, 8e3, 8e3, 8e3])
    J = ur5e.jacobian(q)
    found = stiffness(ur5e, q, k)
    np.testing.assert_allclose(found.compliance, J @ np.diag(1 / k) @ J.T, rtol=1e-10, atol=1e-18)
    np.testing.assert_allclose(found.stiffness, np.linalg.inv(J).T @ np.diag(k) @ np.linalg.inv(J), rtol=1e-7)
    np.testing.assert_allclose(found.compliance, stiffness(ur5e, q, np.diag(k)).compliance, rtol=1e-12)
    assert found.stable
    assert found.critical_load == np.inf
    assert found.sentences == ()


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e", "panda"])
def test_under_load_it_predicts_how_the_loaded_robot_moves(name):
    """Rest under w, then under w + δw: the difference is C δw with the load term, and not without it."""
    robot = dy.load(name)
    rng = np.random.default_rng(3)
    q0 = robot.random(rng)
    k, w = 2000.0, np.array([60.0, -40.0, 50.0, 0, 0, 0])
    dw = 1e-3 * np.array([1.0, 2.0, -1.0, 0, 0, 0])
    options = {"gravity": False, "tolerance": 1e-13}
    loaded, more = (deflection(robot, q0, k, x, **options) for x in (w, w + dw))
    moved = robot.pose(more.q)[:3, 3] - robot.pose(loaded.q)[:3, 3]
    found, naive = stiffness(robot, loaded.q, k, wrench=w), stiffness(robot, loaded.q, k)
    size = np.linalg.norm(moved)
    assert np.linalg.norm((found.compliance @ dw)[:3] - moved) < 1e-4 * size
    assert np.linalg.norm((naive.compliance @ dw)[:3] - moved) > 1e-3 * size


@pytest.mark.parametrize("seed", range(4))
def test_a_moment_of_constant_direction_does_not_buckle_single_springs(seed):
    """∂(ωᵢ·μ)/∂qⱼ is zero for j ≥ i, so that the determinant of K_q − λ K_G does not depend on λ."""
    robot = dy.load("ur5e")
    found = stiffness(robot, robot.random(seed), 3000.0, wrench=(0, 0, 0, 400.0, 100.0, 600.0))
    assert found.stable
    assert found.critical_load == np.inf
    assert not found.buckling


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_any_wrench_buckles_where_the_stiffness_becomes_singular_first(name):
    robot, rng = dy.load(name), np.random.default_rng(1)
    for seed in range(6):
        found = stiffness(robot, robot.random(seed), 3000.0, wrench=rng.normal(size=6) * 200.0)
        factor = found.critical_load
        shares = np.linspace(0.0, min(factor, 200.0), 400)[1:-1]
        determinants = [np.linalg.det(np.eye(robot.n) - x * found.load / 3000.0) for x in shares]
        assert min(determinants) > 0.0
        if np.isfinite(factor):
            assert np.linalg.svd(np.eye(robot.n) - factor * found.load / 3000.0, compute_uv=False)[-1] < 1e-9


def test_springs_of_the_model_act_in_statics():
    """A block of 2 kg on a slope, with a spring: 10 N of weight and 50 (q − 0.2) N."""
    slope = dy.load("""
[robot]
name = "block"
gravity = [0, 0, -10]
[[link]]
type = "prismatic"
axis = ["cos(30deg)", 0, "sin(30deg)"]
mass = 2
stiffness = 50
rest = 0.2
""")
    held = dy.statics.static_torques(slope, [0.1])
    np.testing.assert_allclose([held.weight[0], held.spring[0], held.total[0]], [10.0, -5.0, 5.0])
    np.testing.assert_allclose(slope.static_torque([0.1]), [5.0])
    np.testing.assert_allclose(slope.static_forces([0.1])[0], [5.0])
    largest = dy.statics.largest_force(slope, [0.1], (-1, 0, 0), torque_limits=[20.0])
    assert largest.size == pytest.approx(15.0 / np.cos(np.pi / 6))
    assert dy.statics.force_polytope(slope, [0.1], rows="x", torque_limits=[20.0]).vertices.max() == pytest.approx(
        25.0 / np.cos(np.pi / 6)
    )
    assert stiffness(slope, [0.1], [100.0]).compliance[0, 0] == pytest.approx(0.75 / 150.0)
    bent = deflection(slope, [0.1], [100.0], (3.0, 0.0, 0.0))
    assert bent.dq[0] == pytest.approx(3.0 * np.cos(np.pi / 6) / 150.0)


def test_the_weight_is_part_of_the_stiffness_where_asked(arm):
    q = np.array([0.3, 0.9])
    bent = [deflection(arm, q, 5e4, (0.0, f, 0.0), tolerance=1e-13) for f in (-0.5, 0.5)]
    moved = arm.pose(bent[1].q)[:2, 3] - arm.pose(bent[0].q)[:2, 3]
    C = stiffness(arm, q, 5e4, weight=True).compliance_on("xy")
    np.testing.assert_allclose(C @ [0, 1], moved, rtol=1e-6, atol=1e-12)


def test_springs_buckle_under_the_critical_load(arm):
    q = [0.0, 0.0]  # stretched out, pushed back along itself
    one = stiffness(arm, q, [1000.0, 800.0], wrench=(-100.0, 0, 0))
    assert one.stable
    factor = one.critical_load
    for share, stable in ((0.999, True), (1.001, False)):
        again = stiffness(arm, q, [1000.0, 800.0], wrench=(-100.0 * factor * share, 0, 0))
        assert again.stable is stable
    assert "buckling" in stiffness(arm, q, [1000.0, 800.0], wrench=(-200.0 * factor, 0, 0)).sentences[-1]
    # a pull along the arm stiffens it
    assert stiffness(arm, q, 1000.0, wrench=(100.0, 0, 0)).critical_load == np.inf
    # K_q − λ K_G singular, by hand: K_G = −F [[2, 1], [1, 1]] for F along x at q = 0
    K_G = load_stiffness(arm, q, (-100.0, 0, 0, 0, 0, 0))
    np.testing.assert_allclose(K_G, 100.0 * np.array([[2, 1], [1, 1]]), atol=1e-12)
    assert abs(np.linalg.det(np.diag([1000.0, 800.0]) - factor * K_G)) < 1e-6


def test_a_moment_in_space_has_no_potential_and_is_told(ur5e):
    q = ur5e.random(2)
    assert not stiffness(ur5e, q, 1e3, wrench=(0, 0, 0, 10, 20, 30)).symmetric
    assert stiffness(ur5e, q, 1e3, wrench=(10, 20, 30)).symmetric


def test_singular_arms_are_rigid_along_what_the_structure_carries(arm):
    found = stiffness(arm, [0.0, 0.0], 1000.0)
    assert found.rank == 2
    assert "link2 is rigid: no load can make it move along (1, 0, 0)" in found.sentences
    with pytest.raises(dy.SingularError, match="rigid"):
        _ = found.stiffness
    with pytest.raises(dy.SingularError, match=r"move along \(1, 0, 0\)"):
        found.on("xy")
    np.testing.assert_allclose(found.on("y"), [[200.0]])  # 1 / (4/1000 + 1/1000)
    ellipse = found.stiffness_ellipsoid("xy")
    assert ellipse.along([1, 0]) == np.inf
    assert ellipse.along([0, 1]) == pytest.approx(200.0)


def test_a_redundant_arm_gives_way_in_all_directions():
    robot = dy.load("panda")
    q = robot.random(1)
    found = stiffness(robot, q, 1e4)
    J = robot.jacobian(q)
    np.testing.assert_allclose(found.compliance, J @ J.T / 1e4, rtol=1e-9, atol=1e-18)
    assert found.rank == 6
    np.testing.assert_allclose(found.stiffness @ found.compliance, np.eye(6), atol=1e-7)


def test_base_and_links_add_their_springs_as_extra_joints_would(arm):
    """A spring under the base and one in link 1, against the same arm with these springs as joints."""
    q, k = np.array([0.3, 0.9]), np.array([2e4, 1e4])
    base, link = 1e-5, 3e-5  # rad/(N m) about z
    compliance = np.zeros(6)
    compliance[5] = base
    at_link = np.zeros(6)
    at_link[5] = link
    found = stiffness(arm, q, k, base_compliance=compliance, link_compliance={"link1": at_link})
    # link1's frame stands at its far end, where joint 2 turns too; the base's spring turns about joint 1
    same = stiffness(arm, q, 1 / (1 / k + np.array([base, link])))
    np.testing.assert_allclose(found.compliance, same.compliance, rtol=1e-10, atol=1e-18)
    assert set(found.parts) == {"joints", "base", "link1"}


def test_a_link_that_does_not_carry_the_frame_adds_nothing():
    robot = dy.load("baxter")
    tips = [name for name in robot.link_names if "gripper" in name or "hand" in name] or list(robot.link_names)
    left, right = next(t for t in tips if t.startswith("left")), next(t for t in tips if t.startswith("right"))
    found = stiffness(robot, robot.neutral(), 1e4, left, link_compliance={right: [1e-3] * 6})
    assert not found.parts[right].any()


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e", "panda", "scara"])
@pytest.mark.parametrize("gravity", [True, False])
def test_a_deflected_robot_is_in_balance(name, gravity):
    robot = dy.load(name)
    rng = np.random.default_rng(4)
    q, w = robot.random(rng), rng.uniform(-50, 50, 6)
    k = rng.uniform(2e4, 5e4, robot.n)
    found = deflection(robot, q, k, w, gravity=gravity)
    change = robot.gravity(found.q) - robot.gravity(q) if gravity else 0.0
    off = k * robot.difference(q, found.q) + change - robot.jacobian(found.q).T @ w
    assert np.abs(off).max() < 1e-10 * max(1.0, np.abs(robot.jacobian(q).T @ w).max())
    assert found.residual < 1e-8
    assert found.stable
    assert found.iterations >= 1


def test_the_linear_prediction_is_right_to_first_order(ur5e):
    q, w = ur5e.random(5), np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.1])
    errors = [deflection(ur5e, q, 1e4, s * w, gravity=False, tolerance=1e-14).linear_error for s in (1.0, 10.0, 100.0)]
    assert errors[0] < 1e-3
    assert errors[1] / errors[0] == pytest.approx(10.0, rel=0.1)
    assert errors[2] > 5 * errors[1]


def test_large_loads_are_laid_on_in_parts_and_endless_ones_refused(arm):
    light = arm.replace(gravity=(0, 0, 0))
    bent = deflection(light, [0.3, 0.9], 200.0, (0.0, 400.0, 0.0))
    assert bent.stable
    assert np.abs(bent.dq).max() > 0.5
    with pytest.raises(dy.SingularError, match=r"no stable equilibrium was found beyond \d+"):
        deflection(light, [0.0, 0.0], 100.0, (-1e4, 1.0, 0.0))


def test_by_the_robot_the_load_has_the_other_sign(ur5e):
    q, w = ur5e.random(6), np.array([30.0, 20.0, -10.0, 0, 0, 0])
    np.testing.assert_allclose(deflection(ur5e, q, 1e4, w).q, deflection(ur5e, q, 1e4, -w, by="robot").q, rtol=1e-12)
    a, b = (stiffness(ur5e, q, 1e4, wrench=s * w, by=by) for s, by in ((1, "environment"), (-1, "robot")))
    np.testing.assert_array_equal(a.compliance, b.compliance)


# the inverse problem


@pytest.mark.parametrize(
    ("name", "rows"), [("planar_2r_melchiorri", None), ("ur5e", None), ("ur5e", "all"), ("panda", "all"), ("panda", None)]
)
def test_a_full_joint_stiffness_gives_any_stiffness(name, rows):
    robot = dy.load(name)
    rng = np.random.default_rng(7)
    q = robot.random(rng)
    m = {None: 2 if robot.n == 2 else 3, "all": 6}[rows]
    B = rng.standard_normal((m, m))
    wanted = 1e4 * (B @ B.T + np.eye(m))
    found = joint_stiffness_for(robot, q, wanted, rows=rows, diagonal=False)
    assert found.exact
    np.testing.assert_allclose(found.achieved, wanted, rtol=1e-6)
    assert np.linalg.eigvalsh(found.matrix).min() > 0
    back = stiffness(robot, q, 0.5 * (found.matrix + found.matrix.T))
    np.testing.assert_allclose(back.on(rows if rows else ("xy" if m == 2 else "xyz")), wanted, rtol=1e-6)


def test_springs_are_found_again_from_the_stiffness_they_make(ur5e):
    q, k = ur5e.random(8), np.array([2e4, 1e4, 3e4, 8e3, 5e3, 9e3])
    wanted = stiffness(ur5e, q, k).stiffness
    found = joint_stiffness_for(ur5e, q, 0.5 * (wanted + wanted.T), rows="all")
    np.testing.assert_allclose(found.values, k, rtol=1e-5)
    assert found.residual < 1e-6


def test_springs_alone_rarely_meet_a_wish_and_say_so(arm):
    found = joint_stiffness_for(arm, [0.3, 0.9], np.diag([1000.0, 1000.0]))
    assert (found.values > 0).all()
    assert 0.01 < found.residual < 1.0
    assert not found.exact
    J = arm.jacobian([0.3, 0.9])[:2]

    def off(c):
        return np.linalg.norm(1000.0 * J @ np.diag(c) @ J.T - np.eye(2)) / np.sqrt(2)

    best = np.diag(found.compliance)
    assert off(best) == pytest.approx(found.residual)
    for change in np.random.default_rng(9).uniform(-0.05, 0.05, (50, 2)):
        assert off(np.maximum(best * (1 + change), 0)) >= found.residual - 1e-12


def test_a_joint_that_does_not_move_the_frame_does_not_matter(ur5e):
    found = joint_stiffness_for(ur5e, ur5e.random(1), 1e4 * np.eye(3))
    assert found.values[-1] == np.inf
    assert np.isfinite(found.residual)


# maps


def test_the_map_has_the_stiffness_of_the_formula(arm):
    found = stiffness_map(arm, [2e4, 1e4], samples=500)
    for q, value in zip(found.q[:20], found.values, strict=False):
        C = stiffness(arm, q, [2e4, 1e4]).compliance_on("xy")
        assert value == pytest.approx(1 / np.linalg.eigvalsh(C)[-1], rel=1e-9)
    along = stiffness_map(arm, [2e4, 1e4], direction=(0, 1, 0), samples=500)
    C = stiffness(arm, along.q[3], [2e4, 1e4]).compliance
    assert along.values[3] == pytest.approx(1 / C[1, 1], rel=1e-9)
    assert (stiffness_map(arm, 1e4, kind="ratio", samples=500).values <= 1.0).all()


def test_pictures_are_written(arm, ur5e, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    stiffness(arm, [0.3, 0.9], 1e4, wrench=(-50, 0, 0)).plot(tmp_path / "a.png")
    stiffness(arm, [0.3, 0.0], 1e4).plot(tmp_path / "b.png")
    stiffness(ur5e, np.ones(6), 1e4, base_compliance=[1e-6] * 6).plot(tmp_path / "c.png")
    stiffness_map(arm, 1e4, samples=2000).plot(tmp_path / "d.png")
    assert all((tmp_path / f"{x}.png").stat().st_size > 5000 for x in "abcd")


@pytest.mark.parametrize(
    ("call", "words"),
    [(lambda a: stiffness(a, [0, 0], -1.0), "positive"), (lambda a: stiffness(a, [0, 0], [1, 2, 3]), "2 positive"),
     (lambda a: stiffness(a, [0, 0], [[1, 2], [0, 1]]), "symmetric"), (lambda a: stiffness(a, [0, 0], np.nan), "positive"),
     (lambda a: stiffness(a, [0, 0], 1.0, "lin2"), "link2"), (lambda a: stiffness(a, [0, 0], 1.0, base_compliance=[1, 2]), "6 × 6"),
     (lambda a: stiffness(a, [0, 0], 1.0, base_compliance=-np.ones(6)), "positive semidefinite"),
     (lambda a: stiffness(a, [0, 0], 1.0, link_compliance={"link9": np.ones(6)}), "link"),
     (lambda a: deflection(a, [0, 0], 1e3, (1, 0)), "wrench"), (lambda a: deflection(a, [0, 0], 1e3, (1, 0, 0), tolerance=0), "tolerance"),
     (lambda a: joint_stiffness_for(a, [0, 0.5], np.eye(3)), "2 directions"), (lambda a: joint_stiffness_for(a, [0, 0.5], [[1, 0], [0, -1]]), "definite"),
     (lambda a: joint_stiffness_for(a, [0, 0.5], "stiff"), "square"), (lambda a: stiffness_map(a, 1.0, kind="hard"), "softest"),
     (lambda a: stiffness_map(a, 0.0), "positive"), (lambda a: stiffness(FLOATING, FLOATING.neutral(), 1.0), "quaternion|orientation")],
)  # fmt: skip
def test_bad_questions_are_refused(arm, call, words):
    with pytest.raises(dy.DynamisError, match=words):
        call(arm)


def test_the_prediction_counts_the_weight_that_turns():
    arm = dy.load("planar_2r_melchiorri")
    for gravity in (True, False):
        small = dy.statics.deflection(arm, [0.3, 0.9], [4000.0, 2000.0], (1e-3, 2e-3, 0.0), gravity=gravity)
        np.testing.assert_allclose(small.predicted, small.displacement, rtol=1e-4, atol=1e-13)


def test_the_stiffness_in_closed_form_is_the_force_of_the_environment_per_displacement(arm):
    formulas = dy.statics.static_formulas(dy.load("planar_2r"))
    assert str(formulas.stiffness[1, 1]).startswith("(a_1^2*k_q2*s1^2 + ")  # not −a/−b
    q, k = np.array([0.3, 0.9]), [2e4, 1e4]
    lengths = dy.symbol("a_1"), dy.symbol("a_2")
    values = dict(zip((*lengths, *formulas.q, *formulas.k), (1.0, 1.0, *q, *k), strict=True))
    K = dy.evaluate(formulas.stiffness.node(), values)
    np.testing.assert_allclose(K, stiffness(arm, q, k).on("xy"), rtol=1e-9)
    force = np.array([0.02, 0.01, 0.0])  # small: the load itself adds to the stiffness
    moved = deflection(arm.replace(gravity=(0, 0, 0)), q, k, force).displacement[:2]
    np.testing.assert_allclose(K @ moved, force[:2], rtol=1e-3)


@pytest.mark.parametrize(("robot", "rows"), [("planar_2r", "xy"), ("cartesian_2p", "xz"), ("stanford", "xyz")])
def test_formulas_are_by_default_those_of_the_directions_of_motion(robot, rows):
    formulas = dy.statics.static_formulas(dy.load(robot))
    assert formulas.rows == tuple(rows)
    assert len(formulas.jacobian) == len(formulas.F) == len(rows)

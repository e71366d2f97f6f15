"""Robots with loops: the constraints and their derivatives, assembling, forces, reduced coordinates."""

import numpy as np
import pytest
from loop_mechanisms import BODY, MECHANISMS, every_mechanism

import dynamis as dy
from dynamis.errors import InputError, NameLookupError, SingularError
from dynamis.kinematics.closures import Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.model.description import Mimic
from dynamis.simulation.loops.constrained import assemble, assemble_velocity, constrained_dynamics
from dynamis.simulation.loops.constraints import constraints, independence
from dynamis.simulation.loops.mechanisms import five_bar, four_bar, slider_crank
from dynamis.simulation.loops.reduced import independent_coordinates, reduced_dynamics, velocity_map
from dynamis.simulation.loops.simulate_loops import simulate_loops


def spatial_tree():
    d = dy.Description("tree").add_link("base")
    d.add_link("ball", "base", "spherical", origin=dy.Pose.translation((0.1, 0.0, 0.3)), inertia=BODY)
    d.add_link("arm", "ball", "revolute", axis=(0.6, 0.0, 0.8), origin=dy.Pose.translation((0.3, 0.1, 0.0)), inertia=BODY)
    d.add_link("hand", "arm", "prismatic", axis=(0.0, 1.0, 0.0), origin=dy.Pose.translation((0.2, 0.0, 0.1)), inertia=BODY)
    d.add_link("float", "base", "free", inertia=BODY)
    return dy.Robot(d)


TREE = spatial_tree()
CLOSURES = [
    Point("hand", "float"),
    InPlane("hand", "float", (0.2, 0.5, 1.0)),
    InPlane("hand", "float", (1.0, 0.0, 0.0), normal_frame="arm"),
    Pin("hand", "float", (1.0, 2.0, 3.0)),
    Pin("hand", "base", (0.0, 0.0, 1.0), axis_b=(0.0, 1.0, 1.0)),
    Weld("hand", "float"),
    Distance("hand", "float", 0.4),
    Coupled("arm_joint", "hand_joint", 2.5, 0.1),
]


def random_state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.uniform(-1, 1, robot.n)


def admissible(loop, seed=0):
    """A random state near the mechanism's own, with its loops closed."""
    rng = np.random.default_rng(seed)
    q = assemble(loop.robot, loop.closures, loop.q + rng.uniform(-0.05, 0.05, loop.robot.nq))
    return q, assemble_velocity(loop.robot, loop.closures, q, rng.uniform(-2, 2, loop.robot.n))


# the constraints


@pytest.mark.parametrize("closure", CLOSURES, ids=lambda c: f"{type(c).__name__}")
def test_rows_are_the_derivatives_of_h(closure):
    q, v = random_state(TREE, 3)
    now, e = constraints(TREE, closure, q, v), 1e-5
    ahead, behind = (constraints(TREE, closure, TREE.integrate(q, s * e * v), v) for s in (1, -1))
    np.testing.assert_allclose((ahead.h - behind.h) / (2 * e), now.H @ v, atol=1e-8)
    np.testing.assert_allclose((ahead.H @ v - behind.H @ v) / (2 * e), now.bias, atol=1e-7)
    assert len(closure.labels) == len(now.h) == len(now.H)


def test_many_states_are_evaluated_at_once():
    rng = np.random.default_rng(1)
    q, v = TREE.random(rng, 7), rng.uniform(-1, 1, (7, TREE.n))
    many = constraints(TREE, CLOSURES, q, v)
    one = constraints(TREE, CLOSURES, q[4], v[4])
    np.testing.assert_allclose(many.H[4], one.H, atol=1e-14)
    np.testing.assert_allclose(many.bias[4], one.bias, atol=1e-14)


def test_rods_whose_ends_coincide_are_refused_not_divided_by():
    loop = slider_crank()
    with pytest.raises(SingularError, match="rod"):
        constraints(loop.robot, Distance("slider", "base", 0.5), [0.0, 0.0, 0.0])
    with pytest.raises(SingularError, match="rod"):
        constraints(loop.robot, Distance("crank", "base", 0.5), loop.q)  # wherever they are


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: constraints(TREE, Point("hand", "flaot"), TREE.neutral()), "did you mean 'float'"),
        (lambda: constraints(TREE, Coupled("arm_joint", "float_joint"), TREE.neutral()), "no coordinate"),
        (lambda: constraints(TREE, Coupled("arm_joint", "arm_joint"), TREE.neutral()), "two different joints"),
        (lambda: constraints(TREE, ["hand"], TREE.neutral()), "a closure is"),
        (lambda: constraints(TREE, [], TREE.neutral()), "no closures"),
        (lambda: constraints(TREE, Weld("hand", "hand"), TREE.neutral()), "same body"),
        (lambda: Pin("hand", "float", (0, 0, 0)), "direction"),
        (lambda: Distance("hand", "float", 0.0), "positive"),
        (lambda: four_bar(closed_by="glue"), "glue"),
        (lambda: four_bar(crank=-1.0), "positive"),
    ],
)
def test_wrong_closures_are_refused_by_name(make, error):
    with pytest.raises((InputError, NameLookupError), match=error):
        make()


# rank and degrees of freedom


@pytest.mark.parametrize(("name", "rows", "rank", "freedom"), [
    ("four-bar", 2, 2, 1), ("four-bar with a pin", 5, 2, 1), ("four-bar with a ball", 3, 2, 1),
    ("five-bar", 2, 2, 2), ("slider-crank", 2, 2, 1), ("delta", 3, 3, 3),
])  # fmt: skip
def test_degrees_of_freedom_are_coordinates_less_rank(name, rows, rank, freedom):
    loop = MECHANISMS[name]
    found = independence(loop.robot, loop.closures, loop.q)
    assert (len(found.rows), found.rank, found.degrees_of_freedom) == (rows, rank, freedom)
    assert len(found.redundant) == rows - rank
    H = constraints(loop.robot, loop.closures, loop.q).H
    assert np.abs(found.dependencies @ H).max(initial=0.0) < 1e-14


def test_redundant_rows_are_named():
    loop = MECHANISMS["four-bar with a pin"]
    found = independence(loop.robot, loop.closures, loop.q)
    assert [name.split(": ")[1] for name in found.redundant] == ["z", "first tilt", "second tilt"]
    assert "rank 2" in str(found)
    assert "redundant" in str(found)


def test_a_closure_given_twice_changes_nothing_but_the_rank_report():
    robot, closures, q = four_bar()
    v = assemble_velocity(robot, closures, q, [1.0, 0.0, 0.0], locked=["crank"])
    once = constrained_dynamics(robot, closures, q, v, np.zeros(3))
    twice = constrained_dynamics(robot, closures * 2, q, v, np.zeros(3))
    np.testing.assert_allclose(twice.acceleration, once.acceleration, atol=1e-11)
    np.testing.assert_allclose(twice.multipliers, np.tile(once.multipliers, 2) / 2, atol=1e-11)  # the shortest
    assert len(independence(robot, closures * 2, q).redundant) == 2


# assembling


def test_assembling_keeps_what_is_locked_and_closes_the_rest():
    robot, closures, q = four_bar()
    found = assemble(robot, closures, q + np.array([0.4, 0.3, -0.3]), locked=["crank"])
    assert found[0] == q[0] + 0.4
    assert np.abs(constraints(robot, closures, found).h).max() < 1e-12


@pytest.mark.parametrize("closure", [Point("hand", "float"), Pin("hand", "float"), Weld("hand", "float")], ids=str)
def test_assembling_moves_quaternions_on_their_manifold(closure):
    q = assemble(TREE, closure, random_state(TREE, 5)[0])
    assert np.abs(constraints(TREE, closure, q).h).max() < 1e-10
    for part in TREE.inputs.quaternions:
        assert abs(np.linalg.norm(q[part]) - 1.0) < 1e-12


def test_lengths_that_cannot_meet_are_refused_with_the_gap():
    robot, closures, q = four_bar()
    far = Distance("coupler_end", "base", 5.0)
    with pytest.raises(InputError, match=r"'rod from coupler_end to base' stays open by 3\.8"):
        assemble(robot, far, q)
    with pytest.raises(InputError, match="crank locked"):
        assemble(robot, (*closures, Coupled("crank", "rocker", 1.0, 2.0)), q, locked=["crank"])
    with pytest.raises(InputError, match="cannot close"):
        four_bar(ground=3.0)


def test_axes_that_point_against_each_other_do_not_count_as_parallel():
    d = dy.Description("lone").add_link("base").add_link("body", "base", "free", inertia=BODY)
    robot = dy.Robot(d)
    for closure in (Pin("body", "base"), Weld("body", "base")):
        with pytest.raises(SingularError, match="half a turn"):
            constraints(robot, closure, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        q = assemble(robot, closure, [0.1, 0.0, 0.0, np.cos(0.01), 0.0, 0.0, np.sin(0.01)])
        assert robot.pose(q, "body")[2, 2] > 1.0 - 1e-12


def test_the_assembled_velocity_is_nearest_in_kinetic_energy():
    robot, closures, q = five_bar()
    guess = np.array([1.0, -2.0, 0.5, 3.0])
    v = assemble_velocity(robot, closures, q, guess)
    assert np.abs(constraints(robot, closures, q, v).H @ v).max() < 1e-13
    B, _ = velocity_map(robot, closures, q)
    assert np.abs(B.T @ robot.mass_matrix(q) @ (v - guess)).max() < 1e-12
    driven = assemble_velocity(robot, closures, q, guess, locked=["left", "right"])
    np.testing.assert_allclose(driven[[0, 2]], guess[[0, 2]], atol=1e-13)
    with pytest.raises(InputError, match="no velocity"):
        assemble_velocity(robot, closures, q, guess, locked=[0, 1, 2, 3])


# forces and accelerations


@every_mechanism
@pytest.mark.parametrize("seed", range(4))
def test_reduced_coordinates_and_multipliers_give_the_same_acceleration(loop, seed):
    robot, closures, _ = loop
    q, v = admissible(loop, seed)
    tau = np.random.default_rng(seed).uniform(-3, 3, robot.n)
    full = constrained_dynamics(robot, closures, q, v, tau)
    found = reduced_dynamics(robot, closures, q, v, tau)
    scale = 1.0 + np.abs(full.acceleration).max()
    np.testing.assert_allclose(found.full_acceleration, full.acceleration, atol=1e-10 * scale)
    assert np.linalg.eigvalsh(found.mass_matrix).min() > 0
    assert len(found.coordinates) == robot.n - full.rank


def test_the_equation_of_motion_holds_with_the_forces_of_the_closures():
    loop = MECHANISMS["delta"]
    robot, closures, _ = loop
    q, v = admissible(loop, 9)
    tau, push = np.arange(6.0), {"platform": np.array([1.0, 2.0, -3.0, 0.0, 0.0, 0.0])}
    now = constrained_dynamics(robot, closures, q, v, tau, push)
    needed = robot.inverse_dynamics(q, v, now.acceleration, push)
    np.testing.assert_allclose(needed, tau + constraints(robot, closures, q).H.T @ now.multipliers, atol=1e-11)
    found = reduced_dynamics(robot, closures, q, v, tau, push, independent=["arm_1", "arm_2", "arm_3"])
    np.testing.assert_allclose(found.full_acceleration, now.acceleration, atol=1e-10)


def test_any_sound_choice_of_independent_coordinates_gives_the_same_motion():
    loop = MECHANISMS["four-bar"]
    robot, closures, _ = loop
    q, v = admissible(loop, 2)
    found = [reduced_dynamics(robot, closures, q, v, [1.0, 0.0, 0.0], independent=[name]) for name in robot.coordinate_names]
    for one in found[1:]:
        np.testing.assert_allclose(one.full_acceleration, found[0].full_acceleration, atol=1e-10)
    B, _ = velocity_map(robot, closures, q, independent=["crank"])
    np.testing.assert_allclose(B[:, 0] * v[0], v, atol=1e-12)


def test_coordinates_that_do_not_determine_the_others_are_refused():
    robot, closures, q = four_bar(1.0, 0.4, 1.0, 0.8, angle=0.5)
    with pytest.raises(SingularError, match="1 must be chosen"):
        velocity_map(robot, closures, q, independent=["crank", "rocker"])
    with pytest.raises(NameLookupError, match="no coordinate"):
        velocity_map(robot, closures, q, independent=["krank"])
    with pytest.raises(InputError, match="violates the constraints"):
        reduced_dynamics(robot, closures, q, [1.0, 0.0, 0.0], [0.0] * 3)
    # at its dead point the rocker does not move with the crank: the crank cannot follow from it
    dead = np.arccos((1.0 + 1.4**2 - 0.8**2) / (2 * 1.0 * 1.4))
    stretched = four_bar(1.0, 0.4, 1.0, 0.8, angle=dead)
    with pytest.raises(SingularError, match="do not determine"):
        velocity_map(stretched.robot, stretched.closures, stretched.q, independent=["rocker"])
    assert independent_coordinates(stretched.robot, stretched.closures, stretched.q) != ("rocker",)


def test_baumgarte_pulls_the_loops_shut():
    robot, closures, q = four_bar()
    q, v = q + np.array([0.0, 1e-3, 0.0]), np.array([0.0, 0.1, 0.0])
    c = constraints(robot, closures, q, v)
    a = constrained_dynamics(robot, closures, q, v, np.zeros(3), alpha=5.0, beta=7.0).acceleration
    np.testing.assert_allclose(c.H @ a + c.bias, -10.0 * (c.H @ v) - 49.0 * c.h, atol=1e-12)


def light_coupler():
    d = four_bar().description
    d.link("coupler").mass_properties = None
    return dy.Robot(d)


def rod_for_coupler():
    d = four_bar().description
    d.links = [link for link in d.links if not link.name.startswith("coupler")]
    d.joints = [joint for joint in d.joints if not joint.child.startswith("coupler")]
    d.add_link("crank_end", "crank", origin=dy.Pose.translation((0.3, 0.0, 0.0)))
    return dy.Robot(d)


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_a_coupler_without_mass_is_a_rod():
    q, closures = four_bar().q, four_bar().closures
    linked, rod = light_coupler(), rod_for_coupler()
    v = assemble_velocity(rod, Distance("crank_end", "rocker_end", 0.9), q[[0, 2]], [2.0, 0.0], locked=["crank"])
    B, _ = velocity_map(linked, closures, q, independent=["crank"])
    a = constrained_dynamics(linked, closures, q, B[:, 0] * 2.0, [1.0, 0.0, 0.0])
    b = constrained_dynamics(rod, Distance("crank_end", "rocker_end", 0.9), q[[0, 2]], v, [1.0, 0.0])
    np.testing.assert_allclose(a.acceleration[[0, 2]], b.acceleration, atol=1e-11)
    # the force runs along the rod, and a rod in thrust pushes the crank's end back
    along = np.array([np.cos(q[0] + q[1]), np.sin(q[0] + q[1])])
    np.testing.assert_allclose(a.multipliers, -b.multipliers[0] * along, atol=1e-11)


def test_coupled_joints_move_like_a_joint_that_mimics():
    def arm(mimic):
        d = dy.Description("geared", gravity=np.array([0.0, -9.81, 0.0])).add_link("base")
        for name, parent in (("one", "base"), ("two", "one"), ("three", "two")):
            d.add_link(name, parent, "continuous", joint_name=name, origin=dy.Pose.translation((0.3, 0, 0)), inertia=BODY)
        d.joint("three").mimic = Mimic("one", -2.0, 0.3) if mimic else None
        return dy.Robot(d)

    free, follows = arm(False), arm(True)
    gear = Coupled("three", "one", -2.0, 0.3)
    q, v, tau = np.array([0.4, -0.7]), np.array([1.0, -0.5]), np.array([2.0, 1.0])
    q3, v3 = np.append(q, -2.0 * q[0] + 0.3), np.append(v, -2.0 * v[0])
    a = constrained_dynamics(free, gear, q3, v3, [*tau, 0.0]).acceleration
    np.testing.assert_allclose(a[:2], follows.forward_dynamics(q, v, tau), atol=1e-11)
    assert abs(a[2] + 2.0 * a[0]) < 1e-12
    a_loop = simulate_loops(free, gear, 1.0, q3, v3, rtol=1e-10, atol=1e-12, points=11)
    a_tree = dy.simulate(follows, 1.0, q, v, rtol=1e-10, atol=1e-12, points=11)
    np.testing.assert_allclose(a_loop.q[:, :2], a_tree.q, atol=1e-8)


# singular configurations


def test_a_folded_parallelogram_says_so():
    robot, closures, q = four_bar(1.0, 0.4, 1.0, 0.4, angle=0.0)
    assert independence(robot, closures, q).rank == 1
    along = constrained_dynamics(robot, closures, q, [1.0, -1.0, 1.0], np.zeros(3))
    assert along.rank == 1
    assert np.isfinite(along.acceleration).all()
    assert np.isfinite(along.multipliers).all()
    with pytest.raises(SingularError, match="singular configuration"):
        constrained_dynamics(robot, closures, q, [1.0, 0.0, 0.0], np.zeros(3))
    motion = simulate_loops(robot, closures, 1.0, q)
    assert "singular configuration" in motion.status
    assert not motion.complete


def test_passing_through_the_fold_is_an_event():
    robot, closures, q = four_bar(1.0, 0.4, 1.0, 0.4, angle=0.5, gravity=(0.0, 0.0, 0.0))
    motion = simulate_loops(robot, closures, 5.0, q, assemble_velocity(robot, closures, q, [2.0, -2.0, 2.0]))
    assert [round(event.time, 1) for event in motion.events] == [1.3, 2.9, 4.5]
    assert "singular" in str(motion.events[0])
    assert np.isfinite(motion.constraint_forces).all()


def test_closures_of_what_is_no_robot_are_refused():
    with pytest.raises(dy.InputError, match="robot must be a Robot"):
        dy.loops.closures("four_bar")


def test_the_acceleration_of_open_loops_comes_with_a_warning():
    loop = dy.loops.four_bar()
    rest = np.zeros(3)
    with pytest.warns(dy.ModelWarning, match=r"the loops are open by .*loops\.assemble closes q"):
        dy.loops.constrained_dynamics(loop.robot, loop.closures, loop.q + 0.05, rest, rest)
    with pytest.warns(dy.ModelWarning, match=r"the loops are opening at"):
        dy.loops.constrained_dynamics(loop.robot, loop.closures, loop.q, [1.0, 0.0, 0.0], rest)

"""Robots with loops: the constraints and their derivatives, assembling, forces, reduced coordinates."""

import contextlib

import numpy as np
import pytest
from loop_mechanisms import BODY, MECHANISMS, every_mechanism, rows

import dynamis as dy
from dynamis.errors import InputError, NameLookupError, SingularError
from dynamis.kinematics.closures import Coupled, Distance, InPlane, Pin, Point, Weld
from dynamis.model.description import Mimic
from dynamis.simulation.loops.mechanisms import five_bar, four_bar, slider_crank


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
    Coupled("arm_joint", "hand_joint", 2.5, 0.1, (0.7, -0.4, 0.2)),
]


def random_state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.uniform(-1, 1, robot.n)


def admissible(loop, seed=0):
    """A random state near the mechanism's own, with its loops closed."""
    rng = np.random.default_rng(seed)
    q = loop.assemble(loop.home() + rng.uniform(-0.05, 0.05, loop.robot.nq))
    return q, loop.assemble_velocity(q, rng.uniform(-2, 2, loop.robot.n))


# the constraints


@pytest.mark.parametrize("closure", CLOSURES, ids=lambda c: f"{type(c).__name__}")
def test_rows_are_the_derivatives_of_h(closure):
    q, v = random_state(TREE, 3)
    now, e = rows(TREE, closure, q, v), 1e-5
    ahead, behind = (rows(TREE, closure, TREE.integrate(q, s * e * v), v) for s in (1, -1))
    np.testing.assert_allclose((ahead.h - behind.h) / (2 * e), now.H @ v, atol=1e-8)
    np.testing.assert_allclose((ahead.H @ v - behind.H @ v) / (2 * e), now.bias, atol=1e-7)
    assert len(closure.labels) == len(now.h) == len(now.H)


def test_many_states_are_evaluated_at_once():
    rng = np.random.default_rng(1)
    q, v = TREE.random(rng, 7), rng.uniform(-1, 1, (7, TREE.n))
    many = rows(TREE, CLOSURES, q, v)
    one = rows(TREE, CLOSURES, q[4], v[4])
    np.testing.assert_allclose(many.H[4], one.H, atol=1e-14)
    np.testing.assert_allclose(many.bias[4], one.bias, atol=1e-14)


def test_rods_whose_ends_coincide_are_refused_not_divided_by():
    loop = slider_crank()
    with pytest.raises(SingularError, match="rod"):
        rows(loop.robot, Distance("slider", "base", 0.5), [0.0, 0.0, 0.0])
    with pytest.raises(SingularError, match="rod"):
        rows(loop.robot, Distance("crank", "base", 0.5), loop.home())  # wherever they are


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: rows(TREE, Point("hand", "flaot"), TREE.neutral()), "did you mean 'float'"),
        (lambda: rows(TREE, Coupled("arm_joint", "float_joint"), TREE.neutral()), "no coordinate"),
        (lambda: rows(TREE, Coupled("arm_joint", "arm_joint"), TREE.neutral()), "two different joints"),
        (lambda: Coupled("arm_joint", "hand_joint", higher=3), "coefficients such as"),
        (lambda: rows(TREE, Coupled("arm_joint", "hand_joint", higher=("x",)), TREE.neutral()), "finite numbers"),
        (lambda: rows(TREE, ["hand"], TREE.neutral()), "a closure is"),
        (lambda: rows(TREE, [], TREE.neutral()), "no contacts given"),
        (lambda: rows(TREE, Weld("hand", "hand"), TREE.neutral()), "same body"),
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
    found = loop.independence(loop.home())
    assert (len(found.rows), found.rank, found.degrees_of_freedom) == (rows, rank, freedom)
    assert len(found.redundant) == rows - rank
    H = loop.jacobian(loop.home())
    assert np.abs(found.dependencies @ H).max(initial=0.0) < 1e-14


def test_redundant_rows_are_named():
    loop = MECHANISMS["four-bar with a pin"]
    found = loop.independence(loop.home())
    assert [name.split(": ")[1] for name in found.redundant] == ["z", "first tilt", "second tilt"]
    assert "rank 2" in str(found)
    assert "redundant" in str(found)


def test_a_closure_given_twice_changes_nothing_but_the_rank_report():
    loop = four_bar()
    double, q = dy.constrained(loop.robot, closures=loop.closures * 2), loop.home()
    v = loop.assemble_velocity(q, [1.0, 0.0, 0.0], locked=["crank"])
    a, forces = loop.forward_dynamics(q, v, np.zeros(3))
    same, shared = double.forward_dynamics(q, v, np.zeros(3))
    np.testing.assert_allclose(same, a, atol=1e-11)
    np.testing.assert_allclose(shared, np.tile(forces, 2) / 2, atol=1e-11)  # of least norm
    assert len(double.independence(q).redundant) == 2


# assembling


def test_assembling_keeps_what_is_locked_and_closes_the_rest():
    loop = four_bar()
    robot, q = loop.robot, loop.home()
    found = loop.assemble(q + np.array([0.4, 0.3, -0.3]), locked=["crank"])
    assert found[0] == q[0] + 0.4
    assert np.abs(rows(robot, loop.closures, found).h).max() < 1e-12


@pytest.mark.parametrize("closure", [Point("hand", "float"), Pin("hand", "float"), Weld("hand", "float")], ids=str)
def test_assembling_moves_quaternions_on_their_manifold(closure):
    q = dy.constrained(TREE, closures=closure).assemble(random_state(TREE, 5)[0])
    assert np.abs(rows(TREE, closure, q).h).max() < 1e-10
    for part in TREE.inputs.quaternions:
        assert abs(np.linalg.norm(q[part]) - 1.0) < 1e-12


def open_chain(roll=0.0, ground=1.0):
    """A four-bar with its rocker turned about x by ``roll``."""
    d = dy.Description("chain").add_link("base")
    for name, parent, x, turn in (("crank", "base", 0.0, 0.0), ("coupler", "crank", 0.3, 0.0),
                                          ("rocker", "base", ground, roll)):  # fmt: skip
        d.add_link(name, parent, "continuous", joint_name=name, axis=(0, 0, 1), inertia=BODY,
                   origin=dy.Pose.from_rpy([turn, 0, 0], (x, 0, 0)))  # fmt: skip
    for name, length in (("coupler", 0.9), ("rocker", 0.7)):
        d.add_link(f"{name}_end", name, origin=dy.Pose.translation((length, 0, 0)))
    return dy.Robot(d)


def test_the_smallest_gap_of_all_starts_is_told():
    robot = open_chain(ground=1.901)  # the bars have 1.9 m
    with pytest.raises(InputError, match=r"random configurations, at best: 'coupler_end on rocker_end: .*\(all of h: 0\.001\)"):
        dy.constrained(robot, closures=Point("coupler_end", "rocker_end")).home()


def test_axes_that_are_parallel_but_for_rounding_are_named_with_a_cure():
    robot = open_chain(roll=3.7e-6)
    for kind in (Point, dy.loops.Pin):
        with pytest.raises(InputError, match=r"'(crank|coupler)' and 'rocker' are parallel but for 3\.7e-06 rad, .*InPlane"):
            dy.constrained(robot, closures=kind("coupler_end", "rocker_end")).home()
    assert dy.constrained(robot, closures=InPlane("coupler_end", "rocker_end", normal_frame="base")).home().shape == (3,)


def test_lengths_that_cannot_meet_are_refused_with_the_gap():
    loop = four_bar()
    robot, q = loop.robot, loop.home()
    far = Distance("coupler_end", "base", 5.0)
    with pytest.raises(InputError, match=r"'rod from coupler_end to base' stays open by 3\.8"):
        dy.constrained(robot, closures=far).assemble(q)
    with pytest.raises(InputError, match="crank locked"):
        dy.constrained(robot, closures=(*loop.closures, Coupled("crank", "rocker", 1.0, 2.0))).assemble(q, locked=["crank"])
    with pytest.raises(InputError, match="cannot close"):
        four_bar(ground=3.0)


def test_axes_that_point_against_each_other_do_not_count_as_parallel():
    d = dy.Description("lone").add_link("base").add_link("body", "base", "free", inertia=BODY)
    robot = dy.Robot(d)
    for closure in (Pin("body", "base"), Weld("body", "base")):
        with pytest.raises(SingularError, match="half a turn"):
            rows(robot, closure, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        q = dy.constrained(robot, closures=closure).assemble([0.1, 0.0, 0.0, np.cos(0.01), 0.0, 0.0, np.sin(0.01)])
        assert robot.pose(q, "body")[2, 2] > 1.0 - 1e-12


def test_assembled_angles_are_no_turn_away_from_the_guess_and_within_their_limits():
    loop, closed = dy.loops.four_bar(), 0
    for guess in np.random.default_rng(0).uniform(-3.0, 3.0, (60, 3)):
        with contextlib.suppress(dy.InputError):
            q = loop.assemble(guess)
            closed += 1
            assert np.abs(q - guess).max() <= np.pi
            loop.simulate(1e-3, q, points=2)  # refuses open loops
    assert closed > 30
    far = loop.home() + np.array([2.0 * np.pi, 0.1, 0.1])
    q = loop.assemble(far, locked=["crank"])
    assert q[0] == far[0]


def test_the_assembled_velocity_is_nearest_in_kinetic_energy():
    loop = five_bar()
    robot, q = loop.robot, loop.home()
    guess = np.array([1.0, -2.0, 0.5, 3.0])
    v = loop.assemble_velocity(q, guess)
    assert np.abs(loop.jacobian(q) @ v).max() < 1e-13
    B = loop.reduced_dynamics(q, v, guess).B
    assert np.abs(B.T @ robot.mass_matrix(q) @ (v - guess)).max() < 1e-12
    driven = loop.assemble_velocity(q, guess, locked=["left", "right"])
    np.testing.assert_allclose(driven[[0, 2]], guess[[0, 2]], atol=1e-13)
    with pytest.raises(InputError, match="no velocity"):
        loop.assemble_velocity(q, guess, locked=[0, 1, 2, 3])


# forces and accelerations


@every_mechanism
@pytest.mark.parametrize("seed", range(4))
def test_reduced_coordinates_and_multipliers_give_the_same_acceleration(loop, seed):
    robot = loop.robot
    q, v = admissible(loop, seed)
    tau = np.random.default_rng(seed).uniform(-3, 3, robot.n)
    a, _ = loop.forward_dynamics(q, v, tau)
    found = loop.reduced_dynamics(q, v, tau)
    np.testing.assert_allclose(found.full_acceleration, a, atol=1e-10 * (1.0 + np.abs(a).max()))
    assert np.linalg.eigvalsh(found.mass_matrix).min() > 0
    assert len(found.coordinates) == robot.n - loop.independence(q).rank


def test_the_equation_of_motion_holds_with_the_forces_of_the_closures():
    loop = MECHANISMS["delta"]
    robot = loop.robot
    q, v = admissible(loop, 9)
    tau, push = np.arange(6.0), {"platform": np.array([1.0, 2.0, -3.0, 0.0, 0.0, 0.0])}
    a, forces = loop.forward_dynamics(q, v, tau, push)
    needed = robot.inverse_dynamics(q, v, a, push)
    np.testing.assert_allclose(needed, tau + loop.jacobian(q).T @ forces, atol=1e-11)
    found = loop.reduced_dynamics(q, v, tau, push, independent=["arm_1", "arm_2", "arm_3"])
    np.testing.assert_allclose(found.full_acceleration, a, atol=1e-10)


def test_any_sound_choice_of_independent_coordinates_gives_the_same_motion():
    loop = MECHANISMS["four-bar"]
    robot = loop.robot
    q, v = admissible(loop, 2)
    found = [loop.reduced_dynamics(q, v, [1.0, 0.0, 0.0], independent=[name]) for name in robot.coordinate_names]
    for one in found[1:]:
        np.testing.assert_allclose(one.full_acceleration, found[0].full_acceleration, atol=1e-10)
    np.testing.assert_allclose(found[0].B[:, 0] * v[0], v, atol=1e-12)


def test_coordinates_that_do_not_determine_the_others_are_refused():
    loop, rest = four_bar(1.0, 0.4, 1.0, 0.8, angle=0.5), np.zeros(3)
    q = loop.home()
    with pytest.raises(SingularError, match="1 must be chosen"):
        loop.reduced_dynamics(q, rest, rest, independent=["crank", "rocker"])
    with pytest.raises(NameLookupError, match="no coordinate"):
        loop.reduced_dynamics(q, rest, rest, independent=["krank"])
    with pytest.raises(InputError, match="violates the constraints"):
        loop.reduced_dynamics(q, [1.0, 0.0, 0.0], rest)
    # at its dead point the rocker does not move with the crank: the crank cannot follow from it
    dead = np.arccos((1.0 + 1.4**2 - 0.8**2) / (2 * 1.0 * 1.4))
    stretched = four_bar(1.0, 0.4, 1.0, 0.8, angle=dead)
    with pytest.raises(SingularError, match="do not determine"):
        stretched.reduced_dynamics(stretched.home(), rest, rest, independent=["rocker"])
    assert stretched.reduced_dynamics(stretched.home(), rest, rest).coordinates != ("rocker",)


def test_baumgarte_pulls_the_loops_shut():
    loop = four_bar()
    robot, q = loop.robot, loop.home()
    q, v = q + np.array([0.0, 1e-3, 0.0]), np.array([0.0, 0.1, 0.0])
    c = rows(robot, loop.closures, q, v)
    a, _ = dy.constrained(robot, closures=loop.closures, alpha=5.0, beta=7.0).forward_dynamics(q, v, np.zeros(3))
    np.testing.assert_allclose(c.H @ a + c.bias, -10.0 * (c.H @ v) - 49.0 * c.h, atol=1e-12)


def light_coupler():
    d = four_bar().robot.description
    d.link("coupler").mass_properties = None
    return dy.Robot(d)


def rod_for_coupler():
    d = four_bar().robot.description
    d.links = [link for link in d.links if not link.name.startswith("coupler")]
    d.joints = [joint for joint in d.joints if not joint.child.startswith("coupler")]
    d.add_link("crank_end", "crank", origin=dy.Pose.translation((0.3, 0.0, 0.0)))
    return dy.Robot(d)


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_a_coupler_without_mass_is_a_rod():
    q, closures = four_bar().home(), four_bar().closures
    linked = dy.constrained(light_coupler(), closures=closures)
    rod = dy.constrained(rod_for_coupler(), closures=Distance("crank_end", "rocker_end", 0.9))
    v = rod.assemble_velocity(q[[0, 2]], [2.0, 0.0], locked=["crank"])
    B = linked.reduced_dynamics(q, np.zeros(3), np.zeros(3), independent=["crank"]).B
    a, force = linked.forward_dynamics(q, B[:, 0] * 2.0, [1.0, 0.0, 0.0])
    b, thrust = rod.forward_dynamics(q[[0, 2]], v, [1.0, 0.0])
    np.testing.assert_allclose(a[[0, 2]], b, atol=1e-11)
    # the force runs along the rod, and a rod in thrust pushes the crank's end back
    along = np.array([np.cos(q[0] + q[1]), np.sin(q[0] + q[1])])
    np.testing.assert_allclose(force, -thrust[0] * along, atol=1e-11)
    many, _ = linked.forward_dynamics(np.tile(q, (2, 1)), B[:, 0] * 2.0, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(many, [a, a], atol=1e-12)
    many, _ = linked.forward_dynamics(q, B[:, 0] * 2.0, [1.0, 0.0, 0.0], acceleration=np.zeros((2, linked.rows)))
    np.testing.assert_allclose(many, [a, a], atol=1e-12)


def test_coupled_joints_move_like_a_joint_that_mimics():
    def arm(mimic):
        d = dy.Description("geared", gravity=np.array([0.0, -9.81, 0.0])).add_link("base")
        for name, parent in (("one", "base"), ("two", "one"), ("three", "two")):
            d.add_link(name, parent, "continuous", joint_name=name, origin=dy.Pose.translation((0.3, 0, 0)), inertia=BODY)
        d.joint("three").mimic = Mimic("one", -2.0, 0.3) if mimic else None
        return dy.Robot(d)

    free, follows = arm(False), arm(True)
    geared = dy.constrained(free, closures=Coupled("three", "one", -2.0, 0.3))
    q, v, tau = np.array([0.4, -0.7]), np.array([1.0, -0.5]), np.array([2.0, 1.0])
    q3, v3 = np.append(q, -2.0 * q[0] + 0.3), np.append(v, -2.0 * v[0])
    a, _ = geared.forward_dynamics(q3, v3, [*tau, 0.0])
    np.testing.assert_allclose(a[:2], follows.forward_dynamics(q, v, tau), atol=1e-11)
    assert abs(a[2] + 2.0 * a[0]) < 1e-12
    a_loop = geared.simulate(1.0, q3, v3, rtol=1e-10, atol=1e-12, points=11)
    a_tree = dy.simulate(follows, 1.0, q, v, rtol=1e-10, atol=1e-12, points=11)
    np.testing.assert_allclose(a_loop.q[:, :2], a_tree.q, atol=1e-8)


# singular configurations


def test_a_folded_parallelogram_says_so():
    loop = four_bar(1.0, 0.4, 1.0, 0.4, angle=0.0)
    q = loop.home()
    assert loop.independence(q).rank == 1
    a, forces = loop.forward_dynamics(q, [1.0, -1.0, 1.0], np.zeros(3))
    assert np.isfinite(a).all()
    assert np.isfinite(forces).all()
    with pytest.raises(SingularError, match="singular configuration"):
        loop.forward_dynamics(q, [1.0, 0.0, 0.0], np.zeros(3))
    motion = loop.simulate(1.0)
    assert "singular configuration" in motion.status
    assert not motion.complete


def test_passing_through_the_fold_is_an_event():
    loop = four_bar(1.0, 0.4, 1.0, 0.4, angle=0.5, gravity=(0.0, 0.0, 0.0))
    q = loop.home()
    motion = loop.simulate(5.0, q, loop.assemble_velocity(q, [2.0, -2.0, 2.0]))
    assert [round(event.time, 1) for event in motion.events] == [1.3, 2.9, 4.5]
    assert "singular" in str(motion.events[0])
    assert np.isfinite(motion.constraint_forces).all()


def test_closures_of_what_is_no_robot_are_refused():
    with pytest.raises(dy.InputError, match="robot must be a Robot"):
        dy.loops.closures("four_bar")


def test_the_acceleration_of_open_loops_comes_with_a_warning():
    loop = dy.loops.four_bar()
    rest = np.zeros(3)
    with pytest.warns(dy.ModelWarning, match=r"the loops are open by .*assemble closes q"):
        loop.forward_dynamics(loop.home() + 0.05, rest, rest)
    with pytest.warns(dy.ModelWarning, match=r"the loops are opening at"):
        loop.forward_dynamics(loop.home(), [1.0, 0.0, 0.0], rest)

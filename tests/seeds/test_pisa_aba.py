"""University of Pisa, "Algoritmo dinamica diretta per alberi cinematici": the articulated-body algorithm in its letters.

A_ij = Ad of body j in body i, A* takes wrenches the same way, a_j = ad(X_j q̇_j), V_i^j is the twist of i seen at j.
"""

import numpy as np
import pytest
from seed_formulas import SEEDS, close, number, random_values

import dynamis as dy
from dynamis.algorithms.articulated_body import articulated_inertias
from dynamis.algorithms.kinematics import accelerations, relative_poses, twists
from dynamis.algorithms.newton_euler import joint_wrenches
from dynamis.spatial import Pose, ad, from_rpy, solids

LEAVES = (3, 4, 5, 7, 8, 9)


def ad_star(V):
    return -ad(V).T


class Letters:
    """The quantities of the notes for one robot and state, each a list over bodies; gravity is −V̇ of the base."""

    def __init__(self, robot, q, v):
        m = robot.model
        pairs = m.moving
        self.parent = m.parent
        self.A = [np.eye(6)] + [b.pose(q).Ad() for _, b in pairs]
        self.A_inv = [np.linalg.inv(A) for A in self.A]
        self.X = [None] + [b.S[:, 0] for _, b in pairs]
        self.M = [None] + [b.inertia.matrix() for _, b in pairs]
        self.V = [np.zeros(6)]
        for i, _ in pairs:
            self.V.append(self.A_inv[i] @ self.V[m.parent[i]] + self.X[i] * v[i - 1])
        self.a = [None] + [ad(self.X[i] * v[i - 1]) for i, _ in pairs]
        self.b = [None] + [ad_star(self.V[i]) @ self.M[i] @ self.V[i] for i, _ in pairs]
        self.V_dot_0 = np.concatenate([-m.gravity, np.zeros(3)])

    def A_star(self, j):
        return self.A_inv[j].T

    def seen(self, j):
        """V of the parent of j, seen at j."""
        return self.A_inv[j] @ self.V[self.parent[j]]


def two_bodies():
    """A turning handle that carries a sliding body on an oblique axis; only the handle feels wrenches."""
    box = solids.box(0.3, 0.2, 0.1, mass=2.0).seen_from(Pose(from_rpy((0.3, 0.1, 0.2)), np.array([0.1, 0.05, -0.1])))
    place = Pose(from_rpy((0.4, -0.7, 0.2)), np.array([0.5, 0.1, 0.2]))
    d = dy.Description("two bodies", gravity=np.array([0.3, -9.0, 1.0])).add_link("base")
    d.add_link("handle", "base", "revolute", axis=(1, 2, 2), inertia=box)
    return dy.Robot(d.add_link("arm", "handle", "prismatic", axis=(2, -1, 2), origin=place, inertia=box))


def tree_state(robot, seed=1):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.uniform(-1, 1, (2, robot.n))


# "Grafo di un sistema cinematico ramificato"


def test_bookkeeping_lists_of_the_three_body_example():
    body = solids.sphere(0.1, mass=1.0)
    d = dy.Description("three bodies").add_link("base")
    for name, parent in (("one", "base"), ("two", "one"), ("three", "one")):
        d.add_link(name, parent, "revolute", inertia=body)
    m = dy.Robot(d).model
    assert m.predecessor == (0, 1, 1)
    assert m.successor == (1, 2, 3)
    assert m.parent[1:] == (0, 1, 1)
    assert m.children == ((1,), (2, 3), (), ())


def test_bookkeeping_lists_of_the_nine_body_tree():
    m = dy.load("nine_body_tree").model
    assert m.parent[1:] == m.predecessor == (0, 1, 2, 2, 2, 1, 6, 6, 6)
    assert m.successor == tuple(range(1, 10))
    assert m.children == ((1,), (2, 6), (3, 4, 5), (), (), (), (7, 8, 9), (), (), ())
    assert tuple(i for i in range(1, 10) if not m.children[i]) == LEAVES


@pytest.mark.parametrize("name", ["nine_body_tree", "baxter", "g1", "go2"])
def test_children_have_larger_numbers_than_their_parents(name):
    m = dy.load(name).model
    assert all(m.parent[i] < i for i, _ in m.moving)
    assert all(set(m.children[i]) == {j for j, _ in m.moving if m.parent[j] == i} for i in range(len(m.bodies)))


# two bodies


@pytest.fixture(scope="module")
def pair():
    """(robot, q, v, τ, wrench on the handle, letters)."""
    robot = two_bodies()
    q, v, tau = tree_state(robot)
    return robot, q, v, tau, np.arange(1.0, 7.0), Letters(robot, q, v)


def test_each_body_is_in_equilibrium_with_its_joints(pair):
    robot, q, v, a, w_ext, n = pair
    m = robot.model
    V_dot = accelerations(m, relative_poses(m, q), twists(m, relative_poses(m, q), v), v, a)
    g = [n.V_dot_0, n.A_inv[1] @ n.V_dot_0, n.A_inv[2] @ n.A_inv[1] @ n.V_dot_0]
    _, w = joint_wrenches(m, q, v, a, {1: w_ext})
    close(w[1] + w_ext - n.A_star(2) @ w[2], n.M[1] @ (V_dot[1] + g[1]) + n.b[1])
    close(w[2], n.M[2] @ (V_dot[2] + g[2]) + n.b[2])


def test_acceleration_of_the_second_body_follows_from_the_first(pair):
    robot, q, v, a, _, n = pair
    m = robot.model
    X = relative_poses(m, q)
    V_dot = accelerations(m, X, twists(m, X, v), v, a)
    close(V_dot[2], n.A_inv[2] @ V_dot[1] + n.X[2] * a[1] - n.a[2] @ n.seen(2))


def test_bias_wrench_holds_a_moving_body_without_acceleration():
    body = solids.box(0.3, 0.2, 0.1, mass=2.0)
    d = dy.Description("free", gravity=np.zeros(3)).add_link("world")
    robot = dy.Robot(d.add_link("body", "world", "free", inertia=body))
    V = np.random.default_rng(2).uniform(-1, 1, 6)
    b = ad_star(V) @ body.matrix() @ V
    close(robot.forward_dynamics(robot.neutral(), V, b), np.zeros(6))
    close(robot.bias(robot.neutral(), V), b)


def projected(M, X):
    return M - np.outer(M @ X, X @ M) / (X @ M @ X)


def test_articulated_inertia_and_bias_of_the_handle_have_the_two_body_formulas(pair):
    robot, q, v, tau, w_ext, n = pair
    art = articulated_inertias(robot.model, q, v, tau, {1: w_ext})
    M_2, X_2, A_star, A_inv = n.M[2], n.X[2], n.A_star(2), n.A_inv[2]
    m_2 = X_2 @ M_2 @ X_2
    M_bar = (np.eye(6) - np.outer(M_2 @ X_2, X_2) / m_2) @ M_2
    b_bar = (np.eye(6) - np.outer(M_2 @ X_2, X_2) / m_2) @ n.b[2]
    close(art.m_hat[2], [[m_2]])
    close(art.M_bar[2], M_bar)
    close(art.b_bar[2], b_bar)
    close(art.M_hat[1], A_star @ M_bar @ A_inv + n.M[1])
    close(M_bar, M_2 @ (np.eye(6) - np.outer(X_2, X_2 @ M_2) / m_2))
    b_hat = n.b[1] - w_ext + A_star @ b_bar + A_star @ M_2 @ X_2 * tau[1] / m_2 - A_star @ M_bar @ n.a[2] @ n.seen(2)
    close(art.b_hat[1], b_hat)


def test_projected_inertia_and_bias_pass_nothing_through_the_free_direction(pair):
    robot, q, v, tau, w_ext, n = pair
    art = articulated_inertias(robot.model, q, v, tau, {1: w_ext})
    close(art.M_bar[2] @ n.X[2], np.zeros(6))
    close(n.X[2] @ art.b_bar[2], 0.0)


def test_handle_wrench_is_that_of_one_articulated_body(pair):
    # w_1 = M̂_1 V̇_1 + b̂_1, whatever the torques
    robot, q, v, tau, w_ext, n = pair
    a = robot.forward_dynamics(q, v, tau, {"handle": w_ext}, axes="local")
    art = articulated_inertias(robot.model, q, v, tau, {1: w_ext})
    V_dot_1 = n.A_inv[1] @ n.V_dot_0 + n.X[1] * a[0] - n.a[1] @ n.seen(1)
    close(joint_wrenches(robot.model, q, v, a, {1: w_ext})[1][1], art.M_hat[1] @ V_dot_1 + art.b_hat[1])


def test_accelerations_of_the_two_joints_depend_only_on_earlier_ones(pair):
    robot, q, v, tau, w_ext, n = pair
    art = articulated_inertias(robot.model, q, v, tau, {1: w_ext})
    V_dot, found = n.V_dot_0, []
    for i in (1, 2):
        carried = n.A_inv[i] @ V_dot - n.a[i] @ n.seen(i)
        M_hat, b_hat, X = art.M_hat[i], art.b_hat[i], n.X[i]
        found.append((tau[i - 1] - X @ (M_hat @ carried + b_hat)) / (X @ M_hat @ X))
        V_dot = carried + X * found[-1]
    close(robot.forward_dynamics(q, v, tau, {"handle": w_ext}, axes="local"), found)


# the three passes on a tree


def exponential(X):
    """exp of a 4 × 4 matrix: the series of a small fraction of it, squared back."""
    E, term = np.eye(4), np.eye(4)
    for k in range(1, 15):
        term = term @ (X / 2**10) / k
        E = E + term
    for _ in range(10):
        E = E @ E
    return E


def test_pass_1_poses_are_local_products_of_exponentials_and_twists_add_up():
    robot = dy.load("nine_body_tree")
    q, v, _ = tree_state(robot)
    n, m = Letters(robot, q, v), robot.model
    V = twists(m, relative_poses(m, q), v)
    for i, body in m.moving:
        x, y, z = n.X[i][3:]
        hat = np.array([[0, -z, y, 0], [z, 0, -x, 0], [-y, x, 0, 0], [0, 0, 0, 0]])
        hat[:3, 3] = n.X[i][:3]
        home = body.pose(np.zeros(9)).matrix()
        close(body.pose(q).matrix(), home @ exponential(hat * q[i - 1]), 1e-11)
        close(V[i], n.V[i])


def test_passes_2_and_3_give_the_accelerations_of_the_nine_body_tree():
    robot = dy.load("nine_body_tree")
    q, v, tau = tree_state(robot, 3)
    W = np.random.default_rng(4).uniform(-1, 1, (10, 6))
    n, m = Letters(robot, q, v), robot.model
    M_hat, b_hat = list(n.M), [None] + [n.b[i] - W[i] for i in range(1, 10)]
    for i in range(9, 0, -1):
        for j in m.children[i]:
            m_hat = n.X[j] @ M_hat[j] @ n.X[j]
            left = np.eye(6) - np.outer(M_hat[j] @ n.X[j], n.X[j]) / m_hat
            M_bar = left @ M_hat[j]
            M_hat[i] = M_hat[i] + n.A_star(j) @ M_bar @ n.A_inv[j]
            carried = left @ b_hat[j] - M_bar @ n.a[j] @ n.seen(j) + M_hat[j] @ n.X[j] * tau[j - 1] / m_hat
            b_hat[i] = b_hat[i] + n.A_star(j) @ carried
    a, V_dot = np.zeros(9), [n.V_dot_0]
    for i in range(1, 10):
        carried = n.A_inv[i] @ V_dot[m.parent[i]] - n.a[i] @ n.seen(i)
        a[i - 1] = (tau[i - 1] - n.X[i] @ (M_hat[i] @ carried + b_hat[i])) / (n.X[i] @ M_hat[i] @ n.X[i])
        V_dot.append(carried + n.X[i] * a[i - 1])

    art = articulated_inertias(m, q, v, tau, {i: W[i] for i in range(1, 10)})
    for i in range(1, 10):
        close(art.M_hat[i], M_hat[i])
        close(art.b_hat[i], b_hat[i], 1e-11)
    wrenches = {f"body{i}": W[i] for i in range(1, 10)}
    close(robot.forward_dynamics(q, v, tau, wrenches, axes="local"), a, 1e-10)
    solved = np.linalg.solve(robot.mass_matrix(q), tau - robot.inverse_dynamics(q, v, np.zeros(9), wrenches, axes="local"))
    close(a, solved, 1e-9)


def test_articulated_inertias_of_the_nine_body_tree_accumulate_as_in_the_scheme():
    robot = dy.load("nine_body_tree")
    q, v, tau = tree_state(robot, 5)
    n, M_hat = Letters(robot, q, v), articulated_inertias(robot.model, q, v, tau).M_hat

    def share(j):
        return n.A_star(j) @ projected(M_hat[j], n.X[j]) @ n.A_inv[j]

    for leaf in LEAVES:
        close(M_hat[leaf], n.M[leaf])
    close(M_hat[2], n.M[2] + share(3) + share(4) + share(5))
    close(M_hat[6], n.M[6] + share(7) + share(8) + share(9))
    close(M_hat[1], n.M[1] + share(6) + share(2))


# "Sistema composto da sbarretta rigida e disco"


@pytest.fixture(params=SEEDS)
def rod_and_disc(request):
    """(robot, symbol values, articulated quantities at the pictured configuration, at rest)."""
    robot = dy.load("rod_and_disc")
    names = ("l", "m_s", "m_D", "I_x", "I_y", "I_z", "I_Ox", "I_Oy", "I_Oz")
    at = random_values(np.random.default_rng(request.param), names)
    return robot, at, articulated_inertias(robot.model, robot.neutral(), np.zeros(7), np.zeros(7))


def test_disc_is_a_leaf_whose_spin_inertia_stays_behind_the_axle(rod_and_disc):
    _, at, art = rod_and_disc
    m, x, y, z = (at[k] for k in ("m_D", "I_x", "I_y", "I_z"))
    close(number(art.M_hat[2], at), np.diag([m, m, m, x, y, z]))
    close(number(art.M_bar[2], at), np.diag([m, m, m, x, 0, z]))


def rod_with_disc_inertia(at):
    total, moment = at["m_D"] + at["m_s"], at["l"] * at["m_D"] + at["l"] / 2 * at["m_s"]
    M = np.diag([total] * 3 + [at["I_x"] + at["I_Ox"], at["I_Oy"], at["I_z"] + at["I_Oz"]])
    M[3, 3] += at["l"] ** 2 * at["m_D"]
    M[5, 5] += at["l"] ** 2 * at["m_D"]
    M[2, 3] = M[3, 2] = moment
    M[0, 5] = M[5, 0] = -moment
    return M


def test_rod_carries_the_structural_inertia_of_the_disc(rod_and_disc):
    _, at, art = rod_and_disc
    close(number(art.M_hat[1], at), rod_with_disc_inertia(at))


def test_wrench_about_x_sees_one_rigid_body_and_about_y_the_rod_alone(rod_and_disc):
    robot, at, _ = rod_and_disc
    alpha_x, alpha_y = 0.7, -1.3
    together = at["I_Ox"] + at["m_D"] * at["l"] ** 2 + at["I_x"]
    push = alpha_x * (at["l"] * at["m_D"] + at["l"] / 2 * at["m_s"])
    wrench = np.array([0, 0, push, together * alpha_x, at["I_Oy"] * alpha_y, 0])
    close(rod_with_disc_inertia(at) @ [0, 0, 0, alpha_x, alpha_y, 0], wrench)
    # the axle is left free: its disc stays behind, turning against the rod
    a = number(robot.forward_dynamics(robot.neutral(), np.zeros(7), [*wrench, 0.0]), at)
    close(a, [0, 0, 0, alpha_x, alpha_y, 0, -alpha_y], 1e-11)


def test_axle_transmits_the_reactions_of_the_disc(rod_and_disc):
    robot, at, _ = rod_and_disc
    a = np.array([0, 0, 0, 0.7, 0, 0, 0])
    _, w = joint_wrenches(robot.model, robot.neutral(), np.zeros(7), a)
    force, moment = at["m_D"] * 0.7 * at["l"], at["I_x"] * 0.7
    close(number(w[2], at), [0, 0, force, moment, 0, 0])
    # equilibrium of the rod about x at its handle
    close(number(w[1][3], at) - force * at["l"] - moment, at["I_Ox"] * 0.7)

"""K. Tzafestas, "Static and dynamic analysis of robot manipulators" (NTUA), statics and stiffness: every formula of slides 3 to 8.

In closed form, symbol for symbol, and in numbers. Numbers in comments are slides. The notes' F is what the robot exerts on its
environment: ``by="robot"`` here.
"""

import numpy as np
import pytest
from random_trees import random_robot
from seed_formulas import SEEDS, close, planar_case

import dynamis as dy
from dynamis.statics import duality, static_formulas, static_torques, stiffness, virtual_work
from dynamis.statics.geometric_stiffness import load_stiffness

seeded = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture(scope="module")
def formulas():
    return static_formulas(dy.load("planar_2r"), notation="tzafestas")


def numeric(case, weightless=True):
    robot = dy.load("planar_2r", parameters=case.values)
    return robot.replace(gravity=(0, 0, 0)) if weightless else robot


def printed_jacobian(c, q):
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-(c.a_1 * s1 + c.a_2 * s12), -c.a_2 * s12], [c.a_1 * c1 + c.a_2 * c12, c.a_2 * c12]])


# 3, 4: equilibrium of forces and moments


@seeded
def test_forces_and_moments_of_each_link_of_the_planar_arm(seed):
    # 3: f_{i−1,i} − f_{i,i+1} + m_i g = 0 and the moments about the centre of mass
    c, q, F, _ = planar_case(seed)
    robot = numeric(c, weightless=False)
    f_tip = np.array([*F, 0.0])
    tau, f, N = robot.static_forces(q, {"link2": [*-f_tip, 0, 0, 0]})  # our wrench is −F
    g = np.array([0.0, -c.g, 0.0])
    u1, u2 = np.array([np.cos(q[0]), np.sin(q[0]), 0]), np.array([np.cos(q.sum()), np.sin(q.sum()), 0])
    # each link: its near end, where it hangs on the joint before it, its centre, its far end
    links = [
        (np.zeros(3), c.l_1 * u1, c.a_1 * u1, c.m_1),
        (c.a_1 * u1, c.a_1 * u1 + c.l_2 * u2, c.a_1 * u1 + c.a_2 * u2, c.m_2),
    ]
    for k, (near, com, far, m) in enumerate(links):
        f_in, N_in = f[k + 1], N[k + 1]  # of body k + 1, whose frame stands at its joint
        f_out, N_out = (f[2], N[2]) if k == 0 else (f_tip, np.zeros(3))
        close(f_in - f_out + m * g, np.zeros(3))
        moments = N_in - N_out - np.cross(com - near, f_in) + np.cross(far - com, -f_out)
        close(moments, np.zeros(3), 1e-11)
        close(tau[k], N_in[2])  # τ_i = b̂ · N_{i−1,i}, a revolute joint


# 5: virtual work


@seeded
def test_virtual_work_is_zero_and_gives_the_static_equation(seed):
    c, q, F, dq = planar_case(seed)
    robot, F_ext = numeric(c), np.array([*-F, 0.0, 0, 0, 0])
    tau = printed_jacobian(c, q).T @ F
    close(tau, -robot.jacobian(q).T @ F_ext)  # τ = Jᵀ F = −Jᵀ F_ext
    close(virtual_work(robot, q, dq, tau, F_ext).total, 0.0)
    close((robot.jacobian(q) @ dq) @ F_ext + dq @ tau, 0.0)
    close(static_torques(robot, q, -F_ext, by="robot").total, tau)
    close(static_torques(robot, q, F_ext, by="environment").total, tau)


# 6: the example


def test_jacobian_of_the_example_symbol_for_symbol(formulas):
    assert str(formulas.jacobian) == "[[-l_1*s1 - l_2*s12, -l_2*s12],\n [l_1*c1 + l_2*c12, l_2*c12]]"
    assert formulas.jacobian.latex() == (
        r"\begin{bmatrix} -l_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\ l_1 c_1 + l_2 c_{12} & l_2 c_{12} \end{bmatrix}"
    )


def test_static_model_of_the_example_symbol_for_symbol(formulas):
    transposed = r"\begin{bmatrix} -l_1 s_1 - l_2 s_{12} & l_1 c_1 + l_2 c_{12} \\ -l_2 s_{12} & l_2 c_{12} \end{bmatrix}"
    assert transposed in formulas.latex()
    q, F = formulas.q, formulas.F
    l_1, l_2 = dy.symbol("a_1"), dy.symbol("a_2")
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q[0] + q[1]), np.cos(q[0] + q[1])
    assert formulas.torque[0] == -(l_1 * s1 + l_2 * s12) * F[0] + (l_1 * c1 + l_2 * c12) * F[1]
    assert formulas.torque[1] == -l_2 * s12 * F[0] + l_2 * c12 * F[1]


@seeded
def test_static_model_of_the_example_in_numbers(formulas, seed):
    c, q, F, _ = planar_case(seed)
    J = printed_jacobian(c, q)
    values = {**dict(zip(formulas.q, q, strict=True)), **dict(zip(formulas.F, F, strict=True)),
              **{dy.symbol(x): c.values[x] for x in ("a_1", "a_2")}}  # fmt: skip
    close(dy.evaluate(formulas.jacobian.node(), values), J)
    close(dy.evaluate(formulas.torque.node(), values), J.T @ F)
    close(numeric(c).jacobian(q)[:2], J)


# 7: duality of kinematics and statics


@pytest.mark.parametrize("seed", range(8))
def test_null_spaces_are_the_complements_of_ranges_on_random_arms(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(3, 9)), kinds=("revolute", "prismatic"), floating=False, branching=0.0)
    found = duality(robot, robot.random(rng), robot.link_names[-1])
    close(found.self_motions.T @ found.balanced_torques, np.zeros((robot.n - found.rank, found.rank)), 1e-9)
    close(found.structure_wrenches.T @ found.possible_motions, np.zeros((6 - found.rank, found.rank)), 1e-9)
    assert found.self_motions.shape[1] + found.balanced_torques.shape[1] == robot.n
    assert found.structure_wrenches.shape[1] + found.possible_motions.shape[1] == 6


@seeded
@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_duality_in_the_singular_configurations_of_the_example(seed, angle):
    c, q, _, _ = planar_case(seed)
    robot, at = numeric(c), np.array([q[0], angle])
    found = duality(robot, at, rows="xy")
    u = np.array([np.cos(q[0]), np.sin(q[0])])
    assert found.rank == 1
    close(abs(found.structure_wrenches[:, 0] @ u), 1.0)  # a pull along the arm
    close(found.possible_motions[:, 0] @ u, 0.0)
    close(robot.jacobian(at)[:2] @ found.self_motions, np.zeros((2, 1)))
    close(static_torques(robot, at, [*found.structure_wrenches[:, 0], 0.0]).total, [0, 0])


# 8: mechanical stiffness


@seeded
def test_compliance_and_stiffness_matrices_of_the_example(formulas, seed):
    c, q, F, k = planar_case(seed)
    k = np.abs(k) + 0.5
    J = printed_jacobian(c, q)
    C, K_p = J @ np.diag(1 / k) @ J.T, np.linalg.inv(J @ np.diag(1 / k) @ J.T)
    values = {**dict(zip(formulas.q, q, strict=True)), **dict(zip(formulas.k, k, strict=True)),
              **{dy.symbol(x): c.values[x] for x in ("a_1", "a_2")}}  # fmt: skip
    close(dy.evaluate(formulas.compliance.node(), values), C)
    close(dy.evaluate(formulas.stiffness.node(), values), K_p, 1e-10)
    found = stiffness(numeric(c), q, k)
    close(found.compliance_on("xy"), C)
    close(found.on("xy"), K_p, 1e-10)
    # τ = K_q Δq, δp = J δq, F = K_p δp: pushed with F the arm gives way by C F
    close(found.on("xy") @ (J @ (J.T @ F / k)), F, 1e-10)


def test_compliance_of_the_example_in_closed_form(formulas):
    q, (k1, k2) = formulas.q, formulas.k
    l_1, l_2 = dy.symbol("a_1"), dy.symbol("a_2")
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q[0] + q[1]), np.cos(q[0] + q[1])
    x, y = l_1 * c1 + l_2 * c12, l_1 * s1 + l_2 * s12
    C = formulas.compliance
    assert C[0, 0] == y * y / k1 + l_2 * l_2 * s12 * s12 / k2
    assert C[0, 1] == -(x * y / k1 + l_2 * l_2 * s12 * c12 / k2)
    assert C[1, 1] == x * x / k1 + l_2 * l_2 * c12 * c12 / k2
    assert C[0, 1] == C[1, 0]
    assert formulas.determinant == l_1 * l_2 * np.sin(q[1])
    # K_p is the inverse, exactly: the product is the unit matrix for every value of every symbol
    K = formulas.stiffness
    for i in range(2):
        for j in range(2):
            assert C[i, 0] * K[0, j] + C[i, 1] * K[1, j] == float(i == j)
    text = formulas.latex()
    assert r"\frac{1}{k_{q1}} \begin{bmatrix} (l_1 s_1 + l_2 s_{12})^2" in text


def test_stiffness_of_the_example_is_that_of_the_sliding_and_the_redundant_arm_too():
    # 8, for other arms: the same formulas where J is not square
    three = static_formulas(dy.load("planar_3r"))
    C, K = three.compliance, three.stiffness
    assert C[0, 0] * K[0, 1] + C[0, 1] * K[1, 1] == 0.0
    with pytest.raises(dy.InputError, match="square"):
        _ = three.determinant
    with pytest.raises(dy.SingularError, match="fewer rows"):
        _ = static_formulas(dy.load("planar_2r"), rows="xyz").stiffness
    with pytest.raises(dy.DynamisError, match="row"):
        static_formulas(dy.load("planar_2r"), rows="xw")


def test_the_notes_leave_out_the_change_of_the_jacobian_under_load(formulas):
    # 8 holds for small loads: under a load F_ext the springs see K_q − ∂(Jᵀ F_ext)/∂q
    q, F = formulas.q, formulas.F
    slopes = [[formulas.torque[i].diff(q[j]) for j in range(2)] for i in range(2)]
    c, at, load, _ = planar_case(0)
    values = {
        **dict(zip(q, at, strict=True)),
        **dict(zip(F, load, strict=True)),
        **{dy.symbol(x): c.values[x] for x in ("a_1", "a_2")},
    }
    printed = [[float(dy.evaluate(s.node(), values)) for s in row] for row in slopes]
    close(load_stiffness(numeric(c), at, [*load, 0, 0, 0, 0]), printed)


# ERRATA


@seeded
def test_gravity_of_the_example_has_the_cosine_the_slide_lost(seed):
    # 21 prints g_1 = m_1 g l_c1 + …; the weight held still is m_1 g l_c1 c_1 + …
    c, q, _, _ = planar_case(seed)
    held = static_torques(numeric(c, weightless=False), q)
    close(held.total, c.gravity(q))
    assert abs(held.total[0] - (c.gravity(q)[0] + c.m_1 * c.g * c.l_1 * (1 - np.cos(q[0])))) > 1e-3

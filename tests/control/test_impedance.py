"""Impedance: the stiffness that is felt, the damping that was designed, the energy that falls."""

import numpy as np
import pytest
from scipy.linalg import eigh

import dynamis as dy
from dynamis import control
from dynamis.control.damping_design import consistent_damping, inverse_square_root
from dynamis.control.impedance import modes

ARM = dy.load("planar_2r_melchiorri")
TASK = dy.task_space.Position(rows=(0, 1))
IIWA = dy.load("kuka_iiwa14")
Q = np.array([0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1])


def random_positive(rng, m, spread):
    U, _ = np.linalg.qr(rng.standard_normal((m, m)))
    return (U * 10.0 ** rng.uniform(-spread, spread, m)) @ U.T


def test_the_damping_is_that_of_double_diagonalisation():
    rng = np.random.default_rng(0)
    for m in (1, 2, 3, 6):
        inertia, K = random_positive(rng, m, 1.0), 10.0 ** rng.uniform(1.0, 4.0, m)
        D = consistent_damping(np.linalg.inv(inertia), K, 0.7)
        # Λ = Q Qᵀ and K = Q K_0 Qᵀ: with eigenvectors U, Uᵀ Λ U = 1, it is Q = U^-T
        k0, U = eigh(np.diag(K), inertia)
        Q = np.linalg.inv(U).T
        assert np.allclose(D, 2.0 * 0.7 * (Q * np.sqrt(k0)) @ Q.T, rtol=1e-9)
        ratio, fastest = modes(np.linalg.inv(inertia), D, K)
        assert abs(ratio - 0.7) < 1e-9
        assert abs(fastest - np.sqrt(k0[-1])) < 1e-9 * fastest


def test_the_square_root_is_exact_also_where_the_condition_is_bad():
    rng = np.random.default_rng(1)
    for spread in (0.5, 2.0, 4.0):
        S = random_positive(rng, 6, spread)
        X = inverse_square_root(S)
        assert np.abs(X @ S @ X - np.eye(6)).max() < 1e-14 * np.linalg.cond(S) + 1e-13


@pytest.mark.parametrize(("robot", "q", "task", "coriolis"), [
    (IIWA, Q, dy.task_space.Position(), "kept"),
    (ARM, np.array([0.3, 1.2]), TASK, "cancelled"),
])  # fmt: skip
def test_a_slow_push_feels_the_stiffness(robot, q, task, coriolis):
    K, force = np.array([800.0, 500.0, 300.0])[: task.size], np.array([6.0, -4.0, 3.0])[: task.size]
    x0 = task.value(robot, q)
    law = control.Impedance(x0, K, task, coriolis=coriolis, null=5.0)
    wrench = np.concatenate([force, np.zeros(6 - task.size)])
    pushed = dy.simulate(robot, 16.0, q, controller=law.with_model(robot), wrenches={robot.link_names[-1]: wrench}, method="rk4",
                         step=2e-3, points=3)  # fmt: skip
    found = force / (task.value(robot, pushed.q[-1]) - x0)
    assert np.abs(found / K - 1.0).max() < 1e-6


def test_a_turned_tip_is_pulled_back_by_the_stiffness_of_rotation():
    task = dy.task_space.PoseTask(reference=IIWA.pose(Q)[:3, :3])
    K = np.array([500.0] * 3 + [40.0] * 3)
    law = control.Impedance(task.value(IIWA, Q), K, task)
    for q in Q + np.random.default_rng(2).uniform(-0.2, 0.2, (5, 7)):
        F = K * task.error(task.value(IIWA, Q), task.value(IIWA, q))
        pulled = law(IIWA, 0.0, q, np.zeros(7)) - IIWA.gravity(q)
        assert np.abs(pulled - IIWA.jacobian(q).T @ F).max() < 1e-10
        # and the pull is the slope of an energy: ½ eᵀ K e falls along it as fast as the power says
        v, h = np.random.default_rng(3).standard_normal(7), 1e-6
        energy = [0.5 * K @ task.error(task.value(IIWA, Q), task.value(IIWA, q + s * h * v)) ** 2 for s in (1.0, -1.0)]
        assert abs((energy[0] - energy[1]) / (2 * h) + pulled @ v) < 1e-5


@pytest.mark.parametrize("ratio", [0.3, 0.7, 1.0])
def test_a_small_push_dies_out_with_the_designed_ratio(ratio):
    K, q0 = 4000.0, np.array([0.3, 1.2])
    law = control.Impedance(TASK.value(ARM, q0), K, TASK, ratio)
    # linearised by differences: ẏ = A y of the closed loop at rest
    y0, h = np.concatenate([q0, np.zeros(2)]), 1e-6

    def rates(y):
        return np.concatenate([y[2:], ARM.forward_dynamics(y[:2], y[2:], law(ARM, 0.0, y[:2], y[2:]))])

    A = np.column_stack([(rates(y0 + d) - rates(y0 - d)) / (2 * h) for d in h * np.eye(4)])
    s = np.linalg.eigvals(A)
    found = -s.real / np.abs(s)
    # a double eigenvalue, at a ratio of one, is known to the root of the difference's error
    assert np.abs(found - ratio).max() < (1e-3 if ratio == 1.0 else 1e-6)


def test_the_loop_is_passive_where_coriolis_terms_are_kept():
    K, goal = 2000.0, np.array([1.0, 1.0])
    law = control.Impedance(goal, K, TASK)
    motion = dy.simulate(ARM, 2.0, [0.2, 1.0], [1.0, -2.0], controller=law.with_model(ARM), method="rk4", step=1e-3, points=401)
    e = goal - motion.path()[:, :2]
    V = motion.kinetic_energy + 0.5 * K * (e * e).sum(axis=1)
    assert (np.diff(V) < 0.0).all()
    assert law.check(ARM, q=[0.2, 1.0]).stable
    assert [c.what for c in control.Impedance(goal, K, TASK, coriolis="cancelled").check(ARM, q=[0.2, 1.0]).advice]


def test_a_chosen_inertia_answers_like_that_mass():
    K, mass, q0 = 400.0, 10.0, np.array([0.3, 1.2])
    x0 = TASK.value(ARM, q0)
    force = np.array([5.0, -3.0])

    def push(t, q, v):
        return np.array([*force, 0.0, 0.0, 0.0, 0.0])

    push.traceable = True
    law = control.Impedance(x0, K, TASK, 0.5, inertia=mass, wrench=push)
    motion = dy.simulate(
        ARM, 1.5, q0, controller=law.with_model(ARM), wrenches={"link2": push}, method="rk4", step=1e-3, points=151
    )
    # m ẍ + 2 ζ √(m K) ẋ + K x = f, from rest
    w, zeta = np.sqrt(K / mass), 0.5
    wd, t = w * np.sqrt(1.0 - zeta**2), motion.t
    share = 1.0 - np.exp(-zeta * w * t) * (np.cos(wd * t) + zeta * w / wd * np.sin(wd * t))
    assert np.abs(motion.path()[:, :2] - x0 - share[:, None] * force / K).max() < 1e-8


def test_a_chosen_inertia_needs_the_wrench():
    law = control.Impedance([1.0, 1.0], 400.0, TASK, inertia=10.0)
    with pytest.raises(dy.InputError, match="requires the wrench"):
        law(ARM, 0.0, np.array([0.3, 1.2]), np.zeros(2))
    assert law.measures == {"wrench": 6}
    told = law(ARM, 0.0, np.array([0.3, 1.2]), np.zeros(2), np.arange(6.0))
    assert np.isfinite(told).all()
    with pytest.raises(dy.InputError, match="rotational stiffnesses must be equal"):
        control.Impedance(np.zeros(6), [1.0, 1.0, 1.0, 1.0, 2.0, 3.0], dy.task_space.PoseTask())
    with pytest.raises(dy.InputError, match="must be a task"):
        control.Impedance([1.0, 1.0], 400.0, "tip")
    with pytest.raises(dy.InputError, match="coriolis='ignored'"):
        control.Impedance([1.0, 1.0], 400.0, TASK, coriolis="ignored")


def test_what_the_task_leaves_free_is_damped_and_not_felt():
    law = control.OperationalSpace.designed(dy.task_space.Position().value(IIWA, Q), bandwidth=10.0, null=3.0)
    v0 = np.linalg.svd(IIWA.jacobian(Q)[:3])[2][3:].sum(axis=0)  # a motion that the tip does not see
    motion = dy.simulate(IIWA, 3.0, Q, v0, controller=law.with_model(IIWA), method="rk4", step=1e-3, points=61)
    assert np.abs(motion.path() - motion.path()[0]).max() < 1e-6
    assert np.abs(motion.v[-1]).max() < 1e-2
    assert np.abs(motion.q[-1] - Q).max() > 0.05


def test_a_posture_is_reached_beside_the_task():
    task = dy.task_space.Position()
    posture = Q + 0.2
    law = control.OperationalSpace.designed(task.value(IIWA, Q), task, bandwidth=10.0, null=5.0, posture=posture)
    motion = dy.simulate(IIWA, 6.0, Q, controller=law.with_model(IIWA), method="rk4", step=2e-3, points=4)
    J, M = IIWA.jacobian(motion.q[-1])[:3], IIWA.mass_matrix(motion.q[-1])
    # what is left of the pull towards the posture is what the task takes
    N = np.linalg.svd(J)[2][3:]
    assert np.abs(N @ M @ (posture - motion.q[-1])).max() < 1e-4
    assert np.abs(task.value(IIWA, motion.q[-1]) - task.value(IIWA, Q)).max() < 1e-6


def test_a_singular_start_is_said():
    stretched = control.OperationalSpace.designed([2.0, 0.0], TASK, bandwidth=5.0).check(ARM, q=[0.0, 0.0])
    assert not stretched.stable
    assert "the task is nonsingular" in str(stretched)

"""Optimal motions: two independent methods agree, limits are kept, what cannot be reached is said."""

import re
from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import random_robot, relative_error
from scipy.optimize import lsq_linear

import dynamis as dy
from dynamis.optimize.ilqr import Quadratic, Sweeps, clamped_step
from dynamis.optimize.problem import Problem, fitted

DOWN, UP = [-np.pi / 2, 0.0], [np.pi / 2, 0.0]


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


def limited(arm, effort, velocity=20.0):
    return arm.replace(limits={j: {"effort": effort, "velocity": velocity} for j in ("joint1", "joint2")})


def test_clamped_steps_are_minima_between_bounds():
    rng, exact = np.random.default_rng(0), 0
    for _ in range(200):
        R = rng.normal(size=(6, 4))
        b, half = rng.normal(size=6), rng.uniform(0.1, 1.0, 4)
        k, _, free = clamped_step(R.T @ R, -R.T @ b, -half, half)
        best = lsq_linear(R, b, (-half, half), tol=1e-12)
        exact += 0.5 * ((R @ k - b) ** 2).sum() - best.cost < 1e-9 * best.cost
        assert (np.abs(k) <= half).all()
        assert set(free) <= {0.0, 1.0}
    assert exact >= 195  # four iterations need not find the last active bound


def test_clamped_steps_need_not_have_bounds():
    rng, exact = np.random.default_rng(0), 0
    low, high = np.array([-np.inf, -np.inf, -0.1, -0.1]), np.array([np.inf, 0.1, np.inf, 0.1])
    for _ in range(200):
        R, b = rng.normal(size=(6, 4)), rng.normal(size=6)
        k, _, _ = clamped_step(R.T @ R, -R.T @ b, low, high)  # a NumPy warning is an error here
        best = lsq_linear(R, b, (low, high), tol=1e-12)
        exact += 0.5 * ((R @ k - b) ** 2).sum() - best.cost < 1e-9 * best.cost
    assert exact >= 195


def test_the_compiled_recursion_is_that_of_numbers(arm):
    rng = np.random.default_rng(1)
    step = dy.optimize.Step(arm, 0.02)
    sweeps = Sweeps(step, np.full(2, -0.3), np.full(2, 0.3))
    N = 5
    A, B = rng.normal(size=(N, 4, 4)), rng.normal(size=(N, 4, 2))
    model = Quadratic(rng.normal(size=(N, 6)), rng.uniform(0.5, 2.0, size=(N, 6)), rng.normal(size=4), np.eye(4))
    u = rng.uniform(-0.2, 0.2, size=(N, 2))
    for found, true in zip(sweeps.gains(A, B, model, u, 0.1), sweeps.gains_of_numbers(A, B, model, u, 0.1), strict=True):
        assert relative_error(np.asarray(found), np.asarray(true)) < 1e-10


def test_shooting_and_collocation_find_the_same_motion(arm):
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install casadi")
    robot = limited(arm, 1500.0)
    shot = dy.optimize.trajectory(robot, DOWN, [0.6, -0.8], 1.0, nodes=80, integrator="rk2")
    all_at_once = dy.optimize.trajectory(robot, DOWN, [0.6, -0.8], 1.0, nodes=80, method="collocation")
    assert shot
    assert all_at_once
    assert abs(shot.cost - all_at_once.cost) < 0.01 * shot.cost
    assert np.abs(shot.q - all_at_once.q).max() < 0.03


def test_a_motion_obeys_the_dynamics_and_its_limits(arm):
    robot = limited(arm, 900.0, 3.0)
    best = dy.optimize.trajectory(robot, DOWN, UP, 2.0)
    assert best
    assert np.abs(best.q[-1] - UP).max() < 1e-4
    assert np.abs(best.tau).max() <= 900.0
    assert np.abs(best.v).max() < 3.0 + 1e-4
    q, v = dy.optimize.Step(robot, best.t[1]).rollout(best.q[0], best.v[0], best.tau)
    assert np.abs(q - best.q).max() < 1e-6
    assert np.abs(v - best.v).max() < 1e-6


@pytest.mark.parametrize("joint", ["joint1", "joint2"])
def test_one_motor_swings_two_links_up_and_the_feedback_holds_it_there(arm, joint):
    best = dy.optimize.trajectory(arm, DOWN, UP, 3.0, nodes=200, actuated=[joint], integrator="rk4")
    assert best
    idle = 1 - best.robot.coordinate_names.index(joint)
    assert not best.tau[:, idle].any()
    run = dy.simulate(arm, 3.0, q0=[DOWN[0] + 0.001, 0.0], controller=best.controller, method="rk4", step=best.t[1] / 4)
    assert np.abs(run.q[-1] - UP).max() < 0.1


def test_a_previous_motion_is_a_guess_and_progress_is_reported(arm):
    seen = []
    first = dy.optimize.trajectory(arm, DOWN, UP, 2.0, nodes=50, progress=lambda *x: seen.append(x))
    again = dy.optimize.trajectory(arm, DOWN, [1.5, 0.1], 2.0, nodes=50, guess=first)
    fresh = dy.optimize.trajectory(arm, DOWN, [1.5, 0.1], 2.0, nodes=50, guess=np.zeros((50, 2)))
    assert again
    assert again.iterations < fresh.iterations
    assert len(seen) == len(first.history)
    assert seen[-1][2] < 1e-4


def test_a_goal_out_of_reach_is_said(arm):
    weak = limited(arm, 20.0)
    missed = dy.optimize.trajectory(weak, DOWN, UP, 1.0, nodes=30, iterations=60)
    assert not missed
    assert "not converged" in missed.status
    assert "torque limit of 20 during" in missed.status
    assert missed.goal_error > 0.1


@pytest.mark.parametrize("name", few_of(["xarm7", "baxter", "puma560"], ["puma560"]))
def test_arms_with_strong_friction(name):
    robot = dy.load(name)
    goal = robot.neutral() + 0.05
    best = dy.optimize.trajectory(robot, robot.neutral(), goal, 2.0, nodes=40, limits=False)
    assert best
    assert np.abs(best.q[-1] - goal).max() < 1e-4


def test_free_bodies_move_on_their_manifold():
    floating = random_robot(np.random.default_rng(5), 3, floating=True, mimics=False).replace(gravity=[0.0, 0.0, 0.0])
    start = floating.neutral()
    goal = floating.integrate(start, np.concatenate([np.zeros(6), np.full(floating.n - 6, 0.3)]))
    best = dy.optimize.trajectory(floating, start, goal, 1.0, nodes=20, limits=False, iterations=60)
    assert np.abs(np.linalg.norm(best.q[:, 3:7], axis=1) - 1.0).max() < 1e-12
    assert best.goal_error < np.abs(floating.difference(start, goal)).max()


def test_bad_problems_are_refused(arm, tmp_path):
    for bad, message in (
        ({"nodes": 1}, "nodes must be a whole number from 2 on"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"method": "dp"}, "choose 'ilqr' or 'collocation'"),
        ({"integrator": "rk5"}, "choose one of euler, rk2, rk4"),
        ({"weights": {"torque": 1.0}}, "its entries are effort, velocity"),
        ({"weights": {"effort": 0.0}}, "that of the effort positive"),
        ({"guess": np.zeros((3, 2))}, "shape"),
        ({"guess": "x"}, "guess, an OptimalMotion or torques, must be numeric"),
        ({"nodes": "x"}, "nodes must be numeric"),
        ({"nodes": np.inf}, "nodes is inf"),
        ({"duration": 1e6}, "diverges with steps of 1e\\+04 s; use more nodes"),
        ({"weights": [1.0]}, "weights must be a mapping"),
        ({"weights": {"effort": "a"}}, "the weight of 'effort' must be numeric"),
        ({"tolerance": np.nan}, "tolerance is nan"),
        ({"iterations": 0, "method": "collocation"}, "iterations must be a whole number from 1 on"),
    ):
        with pytest.raises(dy.InputError, match=message):
            dy.optimize.trajectory(arm, DOWN, UP, **bad)
    with pytest.raises(dy.InputError, match="robot must be a Robot"):
        dy.optimize.trajectory("ur5e", DOWN, UP)
    with pytest.raises(dy.InputError, match="v of the start"):
        dy.optimize.trajectory(arm, (np.array(DOWN), [0.0]), UP)
    ur5e = dy.load("ur5e")
    with pytest.raises(dy.InputError, match=r"at the goal, 9, is outside its limits.*numpy\.deg2rad"):
        dy.optimize.trajectory(ur5e, np.zeros(6), [9.0, 0, 0, 0, 0, 0])
    figure = dy.optimize.trajectory(arm, DOWN, UP, 2.0, nodes=50).plot(tmp_path / "motion.png")
    assert figure is not None
    assert (tmp_path / "motion.png").stat().st_size > 10_000


def test_the_plot_of_the_cost_counts_accepted_iterations(arm):
    motion = dy.optimize.trajectory(arm, DOWN, UP, 2.0, nodes=50)
    short = replace(motion, history=np.array([0.14, 0.13, 0.12]), iterations=7)
    cost = short.plot()[3]
    cost.figure.draw_without_rendering()
    assert cost.get_title(loc="left") == "cost with penalties, 3 of 7 iterations accepted"
    assert cost.get_xlabel() == "accepted iteration"
    assert cost.get_yscale() == "linear"
    assert all(float(x).is_integer() for x in cost.get_xticks())
    steep = replace(motion, history=np.array([1e4, 3.0, 0.5])).plot()[3]
    steep.figure.draw_without_rendering()
    assert steep.get_yscale() == "log"
    assert not any(label.get_text() for label in steep.get_yticklabels(minor=True))


def test_the_costs_of_a_collocation_are_those_after_its_iterations(arm):
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'dynamis[casadi]'")
    motion = dy.optimize.trajectory(arm, DOWN, UP, 2.0, nodes=20, method="collocation")
    assert len(motion.history) == motion.iterations


def test_a_collocation_without_solution_says_that_the_equations_of_motion_are_violated():
    pytest.importorskip("casadi", reason="casadi is not installed: pip install 'dynamis[casadi]'")
    robot = dy.load("planar_2r_melchiorri")
    weak = robot.replace(limits={name: {"effort": 50.0, "velocity": 6.0} for name in robot.joint_names})
    motion = dy.optimize.trajectory(weak, DOWN, UP, 1.0, nodes=10, method="collocation", iterations=30)
    assert not motion.converged
    assert "the equations of motion are violated by" in motion.status


def solved(arm, method, **options):
    if method == "collocation":
        pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'dynamis[casadi]'")
    return dy.optimize.trajectory(arm, DOWN, [-1.0, 0.3], 1.0, **{"nodes": 20, "method": method, **options})


@pytest.mark.parametrize("method", ["ilqr", "collocation"])
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_of_the_users_function_ends_the_search(arm, method, kind, capfd):
    seen = []

    def progress(*now):
        seen.append(now)
        if len(seen) == 3:
            raise kind("of the user")

    with pytest.raises(kind, match="of the user"):
        solved(arm, method, progress=progress)
    assert [k for k, _, _ in seen] == [1, 2, 3]
    assert "".join(capfd.readouterr()) == ""
    with pytest.raises(dy.InputError, match=r"progress must be a function of \(iteration, cost, goal error\), such as print"):
        solved(arm, method, progress=True)


@pytest.mark.parametrize("method", ["ilqr", "collocation"])
def test_a_motion_with_other_nodes_or_another_duration_is_a_guess(arm, method):
    first = solved(arm, method)
    for nodes, duration in ((13, 1.0), (45, 1.0), (20, 1.4)):
        fresh = dy.optimize.trajectory(arm, DOWN, [-1.0, 0.3], duration, nodes=nodes, method=method)
        again = dy.optimize.trajectory(arm, DOWN, [-1.0, 0.3], duration, nodes=nodes, method=method, guess=first)
        assert again
        assert abs(again.cost - fresh.cost) < 1e-3 * fresh.cost
    with pytest.raises(dy.InputError, match="guess is a motion of a robot with 2 coordinates"):
        dy.optimize.trajectory(dy.load("ur5e"), np.zeros(6), np.full(6, 0.1), method=method, guess=first)


def test_a_resampled_motion_keeps_its_ends_and_its_path(arm):
    first = dy.optimize.trajectory(arm, DOWN, [-1.0, 0.3], 1.0, nodes=40)
    step = dy.optimize.Step(arm, 2.0 / 80)
    problem = Problem(
        step, (first.q[0], first.v[0]), (first.q[-1], first.v[-1]), 80, {"effort": 1.0, "velocity": 0.1}, True, 1e-4
    )
    found = fitted(problem, first)
    assert np.allclose(found.q[::2], first.q)
    assert np.allclose(found.v[::2], 0.5 * first.v)  # twice as long
    assert np.array_equal(found.tau[::2], first.tau)
    assert found.gains.shape == (80, 2, 4)


@pytest.mark.parametrize("method", ["ilqr", "collocation"])
def test_a_duration_too_short_for_the_velocity_limits_is_refused(arm, method):
    slow = limited(arm, 2000.0, 0.5)
    with pytest.raises(
        dy.InputError, match=r"joint1 has to move by 1 .*limit is 0\.5: the duration must be at least 2 s, got 1 s"
    ):
        dy.optimize.trajectory(slow, [-1.5, 0.0], [-0.5, 0.0], 1.0, nodes=20, method=method)
    assert dy.optimize.trajectory(slow, [-1.5, 0.0], [-0.5, 0.0], 1.0, nodes=20, limits=False)


def test_a_collocation_names_an_infeasible_problem(arm):
    pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'dynamis[casadi]'")
    slow = limited(arm, 2000.0, 1.0)  # just reached at the largest velocity, but not from rest
    motion = dy.optimize.trajectory(slow, [-1.5, 0.0], [-0.5, 0.0], 1.0, nodes=20, method="collocation")
    assert not motion
    assert motion.status.startswith("infeasible: no motion near that after")


@pytest.mark.parametrize("method", ["ilqr", "collocation"])
def test_only_the_ratio_of_the_weights_matters(method):
    if method == "collocation":
        pytest.importorskip("casadi", reason="casadi is not installed: pip install 'dynamis[casadi]'")
    arm = dy.load("planar_2r_melchiorri")
    arm = arm.replace(limits={name: {"effort": 1500.0, "velocity": 6.0} for name in arm.joint_names})
    found = [
        dy.optimize.trajectory(
            arm, [-1.5, 0.0], [0.5, 0.5], 1.0, nodes=20, weights={"effort": s, "velocity": 0.1 * s}, method=method
        )
        for s in (1.0, 1e-6)
    ]
    np.testing.assert_allclose(found[1].q, found[0].q, atol=1e-9)
    assert found[1].cost == pytest.approx(1e-6 * found[0].cost)


def test_the_controller_of_a_motion_is_compiled_and_gives_the_torques_that_python_does():
    arm = dy.load("planar_2r_melchiorri")
    best = dy.optimize.trajectory(arm, [-1.57, 0.0], [0.5, 0.5], 1.0, nodes=10)
    law = arm.compile(lambda _robot, q, v, t: best.controller(t[0], q, v), t=1)
    for t in (0.0, 0.05, 0.1, 0.3, 0.3 - 1e-12, 0.999, 2.0):
        q, v = best.q[3] + 0.1, best.v[3] - 0.2
        np.testing.assert_allclose(law(q, v, [t]), best.controller(t, q, v), rtol=1e-12, atol=1e-12)


def test_an_integrator_is_refused_where_it_has_no_effect():
    with pytest.raises(dy.InputError, match="collocation uses the trapezoidal rule: leave it out"):
        dy.optimize.trajectory(dy.load("planar_2r_melchiorri"), DOWN, [0.5, 0.5], 1.0, method="collocation", integrator="rk4")


def test_more_nodes_than_fit_into_memory_are_refused():
    with pytest.raises(dy.InputError, match=r"nodes=1000000000 are more than fit into memory: at most \d+ for this robot"):
        dy.optimize.trajectory(dy.load("planar_2r_melchiorri"), DOWN, [0.5, 0.5], 1.0, nodes=1e9)


@pytest.mark.parametrize(
    ("effort", "iterations", "advice"),
    [
        (500.0, 500, "its static torque on the way is up to .*: raise the limit"),
        (900.0, 500, "of the motion: allow a longer duration$"),
        (900.0, 40, "allow more iterations, .*a longer duration"),
    ],
)
def test_the_advice_for_a_motion_that_does_not_converge_says_what_can_help(effort, iterations, advice):
    limits = {"joint1": {"effort": effort, "velocity": 3.0}, "joint2": {"effort": 400.0, "velocity": 3.0}}
    weak = dy.load("planar_2r_melchiorri").replace(limits=limits)
    motion = dy.optimize.trajectory(weak, [-1.57, 0.0], [0.5, 0.5], 1.0, nodes=40, iterations=iterations)
    assert not motion.converged
    assert re.search(advice, motion.status), motion.status


def test_a_motion_of_too_long_steps_has_not_converged():
    arm = dy.load("planar_2r_melchiorri").replace(
        payload=dy.solids.sphere(0.1, mass=20.0), limits={"joint1": {"effort": 400.0}, "joint2": {"effort": 130.0}}
    )
    start, goal = [-0.5, 0.3], [0.1, 0.5]
    coarse = dy.optimize.trajectory(arm, start, goal, 3.0, nodes=20)
    assert coarse.goal_error < 1e-4  # in its own steps
    assert not coarse.converged
    assert "more nodes=" in coarse.status
    assert "The start cannot be held: the static torque of joint2" in coarse.status
    run = dy.simulate(arm, 3.0, start, controller=coarse.controller, method="rk4", step=1e-3)
    error = np.concatenate([run.q[-1] - goal, 0.3 * run.v[-1]])
    assert coarse.simulated_error == pytest.approx(abs(error).max(), rel=0.2)
    assert abs(error).max() > 0.2


def test_the_simulated_error_is_that_of_a_simulation_with_the_controller(arm):
    found = dy.optimize.trajectory(arm, [-1.57, 0.0], [0.5, 0.5], 1.0, nodes=20)
    run = dy.simulate(arm, 1.0, [-1.57, 0.0], controller=found.controller, method="rk4", step=1e-3)
    error = np.concatenate([run.q[-1] - [0.5, 0.5], 0.3 * run.v[-1]])
    assert found.simulated_error == pytest.approx(abs(error).max(), rel=0.1)
    assert f"ends {abs(error[:2]).max():.1g}"[:-1] in found.status
    assert "cannot be held" not in found.status

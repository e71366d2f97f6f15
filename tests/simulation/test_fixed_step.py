"""Fixed steps: the order of each method, the energy it keeps, and the manifold it stays on."""

import re

import numpy as np
import pytest
from campaign_params import few_of
from joint_zoo import zoo_robot
from small_machines import ball_joint, block, free_body, pendulum

import dynamis as dy
from dynamis.simulation import velocity_balance
from dynamis.simulation.fixed_step import check_step_length
from dynamis.simulation.simulate import simulate

ORDERS = {"euler": 1.0, "midpoint": 2.0, "rk4": 4.0}
ARM = dy.load("planar_2r_melchiorri")
CASES = {
    "planar arm": (ARM, [0.3, 0.4], [1.0, -1.0], (0.02, 0.01, 0.005), 1.0),
    "ur5e": (dy.load("ur5e"), [0.1, -1.2, 0.9, 0.4, 0.5, 0.6], np.zeros(6), (2e-3, 1e-3, 5e-4), 1e-3),
    "stanford": (dy.load("stanford"), [0.1, -1.2, 0.9, 0.4, 0.5, 0.6], np.zeros(6), (2e-3, 1e-3, 5e-4), 1e-3),
    "heavy top": (ball_joint(), [0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0], (0.02, 0.01, 0.005), 1.0),
    "free body": (free_body(), free_body().neutral(), [1.0, 2.0, 3.0, 1.0, -2.0, 0.5], (0.02, 0.01, 0.005), 1.0),
    "flyer": (zoo_robot("flyer"), zoo_robot("flyer").neutral(), np.full(7, 0.5), (0.02, 0.01, 0.005), 1.0),
}


def order(robot, method, q, v, steps, **pushes):
    """Richardson's: from the differences of three ends, each step half of the one before."""
    end = 20 * steps[0]
    ends = []
    for h in steps:
        motion = simulate(robot, [0.0, 0.5 * end, end], q, v, method=method, step=h, friction="none", **pushes)
        ends.append(np.concatenate([motion.q[-1], motion.v[-1]]))
    return np.log2(np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2]))


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("case", few_of(CASES, CASES.keys() - {"ur5e"}))
def test_each_method_has_its_order(case, method):
    robot, q, v, steps, _ = CASES[case]
    assert order(robot, method, q, v, steps) == pytest.approx(ORDERS[method], abs=0.15)


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("case", few_of(CASES, CASES.keys() - {"ur5e"}))
def test_each_method_keeps_its_order_with_torques_of_time_and_a_controller_that_rests_at_the_origin(case, method):
    robot, q, v, steps, strength = CASES[case]
    found = order(
        robot, method, q, v, steps, torque=lambda t: strength * np.sin(5 * t + np.arange(robot.n)),
        controller=lambda _t, _q, v: -strength * v,
    )  # fmt: skip
    assert found == pytest.approx(ORDERS[method], abs=0.15)


def test_a_controller_of_the_position_alone_is_seen_at_every_stage():
    # a spring by controller and a spring of the model are the same robot
    by_hand = simulate(pendulum(), 2.0, [0.8], controller=lambda _t, q, _v: -30.0 * q, method="rk4", step=1e-2)
    built_in = simulate(pendulum(stiffness=30.0), 2.0, [0.8], method="rk4", step=1e-2)
    assert np.abs(by_hand.q - built_in.q).max() < 1e-12


def test_a_torque_that_jumps_late_is_not_taken_for_a_constant():
    late = simulate(pendulum(), 3.0, torque=lambda t: [5.0 if t >= 2.0 else 0.0], method="rk4", step=1e-3)
    assert np.abs(late.q[late.t < 2.0]).max() == 0.0
    assert np.abs(late.q[-1]).max() > 0.5


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "stanford", "scara"])
def test_rk4_with_a_millisecond_keeps_the_energy_of_an_undamped_robot_for_ten_seconds(name):
    robot = dy.load(name).replace(friction=0)
    motion = simulate(robot, 10.0, robot.random(1), method="rk4", step=1e-3, points=101)
    drift = np.abs(motion.energy - motion.energy[0]).max()
    assert drift < 1e-7 * motion.kinetic_energy.max()


def test_where_light_wrists_whirl_the_energy_rk4_loses_falls_with_the_step():
    robot = dy.load("kuka_iiwa14").replace(friction=0)
    drifts = []
    for step in (2e-3, 1e-3, 5e-4):
        motion = simulate(robot, 2.0, robot.random(1), method="rk4", step=step, points=11)
        drifts.append(np.abs(motion.energy - motion.energy[0]).max() / motion.kinetic_energy.max())
    assert drifts[0] > 10 * drifts[1] > 100 * drifts[2]
    assert drifts[1] < 1e-7


def test_the_midpoint_rule_keeps_the_energy_of_a_regular_motion_without_trend():
    motion = simulate(ARM.replace(friction=0), 60.0, [-1.4, 0.1], method="midpoint", step=5e-3, points=1201)
    error = (motion.energy - motion.energy[0]) / motion.kinetic_energy.max()
    trend = np.polyfit(motion.t, error, 1)[0] * 60.0
    assert np.abs(error).max() < 1e-6
    assert abs(trend) < 0.02 * error.std()


def test_eulers_energy_error_is_bounded_but_large():
    motion = simulate(pendulum(), 20.0, [0.5], method="euler", step=1e-2, points=201)
    error = np.abs(motion.energy_error) / motion.kinetic_energy.max()
    assert 1e-3 < error.max() < 0.1


@pytest.mark.parametrize("method", ORDERS)
def test_quaternions_stay_of_length_one_and_a_free_body_keeps_its_energy(method):
    motion = simulate(free_body(), 2.0, v0=[0.0, 0.0, 0.0, 0.1, 4.0, 0.2], method=method, step=1e-3, points=51)
    assert np.linalg.norm(motion.q[:, 3:], axis=1) == pytest.approx(np.ones(51), abs=1e-14)
    assert np.abs(motion.energy_error).max() < {"euler": 1e-1, "midpoint": 1e-5, "rk4": 1e-9}[method] * motion.energy.max()


def test_the_compiled_step_is_the_step_in_python():
    fast = simulate(ARM, 0.5, [0.3, 0.4], torque=[10.0, -5.0], method="midpoint", step=1e-2)
    slow = simulate(ARM, 0.5, [0.3, 0.4], torque=lambda _t: [10.0, -5.0], method="midpoint", step=1e-2)
    assert np.abs(fast.q - slow.q).max() < 1e-12


def test_steps_divide_the_time_between_reports_and_are_never_longer_than_asked():
    motion = simulate(pendulum(), [0.0, 0.1, 0.35, 1.0], [0.5], method="rk4", step=0.1)
    assert motion.statistics["steps"] == 1 + 3 + 7
    one = simulate(pendulum(), [0.0, 0.1, 0.2], [0.5], method="rk4", step=0.1)
    assert one.statistics["steps"] == 2


def test_smooth_friction_takes_part_in_every_stage():
    robot = pendulum(coulomb=0.5, coulomb_bias=0.1)
    tight = simulate(robot, 1.0, [1.0], friction="smooth", rtol=1e-11, atol=1e-12)
    stepped = simulate(robot, 1.0, [1.0], friction="smooth", method="rk4", step=5e-4, points=11)
    assert np.abs(stepped.q[-1] - tight.q[-1]).max() < 1e-8
    assert stepped.friction[1:] == pytest.approx(0.1 + 0.5 * np.tanh(stepped.v[1:] / 1e-2), abs=1e-12)
    assert np.abs(stepped.ledger.total - stepped.tau).max() < 1e-9


def test_a_fast_spin_is_integrated_with_long_steps():
    body = free_body().replace(gravity=(0.0, 0.0, 0.0))
    spin = [0.0, 0.0, 0.0, 20.0, 5.0, -7.0]
    exact = simulate(body, 1.0, v0=spin, rtol=1e-12, atol=1e-12, points=3).q[-1]
    off = []
    for step in (1e-2, 5e-3):
        motion = simulate(body, 1.0, v0=spin, method="rk4", step=step, torque=lambda t: np.zeros(6), points=11)
        assert motion.status == "completed"
        off.append(np.abs(motion.q[-1] - exact).max())
    assert off[0] < 1e-4
    assert off[0] / off[1] > 12.0  # of order four


@pytest.mark.filterwarnings("ignore:.* balance of .* has an error")  # of steps far too long
@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_the_number_of_output_times_does_not_shorten_steps(method):
    coarse = simulate(ARM, 1.0, method=method, step=0.1)
    assert len(coarse.t) == 11
    assert coarse.statistics["steps"] == 10
    assert np.array_equal(coarse.q[-1], simulate(ARM, 1.0, method=method, step=0.1, points=11).q[-1])
    assert simulate(ARM, 1.0, method=method, step=3e-4).statistics["steps"] == pytest.approx(3334, rel=0.01)
    assert len(simulate(ARM, 1.0, method=method, step=1e-3).t) == 501


@pytest.mark.filterwarnings("ignore:.* balance of .* has an error")  # of steps far too long
@pytest.mark.parametrize(
    ("t", "step", "steps"), [(1.0, 0.3, 4), ((1.0, 2.03), 0.1, 11), (0.7, 1.1e-3, 637), (1.0, 0.7, 2), (2.0, 2.0, 1)]
)
def test_steps_need_not_divide_the_duration(t, step, steps):
    motion = simulate(pendulum(), t, [0.5], method="rk4", step=step)
    assert motion.statistics["steps"] == pytest.approx(steps, rel=2e-3)
    assert np.diff(motion.t).max() <= step * max(1.0, np.ceil(steps / 500)) * (1.0 + 1e-9)


def test_a_resumed_motion_has_the_same_steps():
    first = simulate(pendulum(), 1.0, [0.5], method="rk4", step=0.05)
    whole = simulate(pendulum(), 2.0, resume=first, method="rk4", step=0.05)
    assert whole.statistics["steps"] == 40
    assert np.abs(whole.q - simulate(pendulum(), 2.0, [0.5], method="rk4", step=0.05).q).max() < 1e-12


def test_steps_longer_than_the_distance_of_output_times_are_refused():
    with pytest.raises(dy.InputError, match=r"longer than the 0.002 s between output times.*points=11"):
        simulate(ARM, 1.0, method="rk4", step=0.1, points=501)
    with pytest.raises(dy.InputError, match="longer than the motion: use at most step=1"):
        simulate(ARM, 1.0, method="rk4", step=2.0)
    simulate(ARM, [0.0, 0.001, 0.002, 0.5], method="rk4", step=0.1)  # some may be closer to each other


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "time_stepping"])
def test_the_work_of_a_constant_force_is_force_times_distance(method):
    motion = simulate(block(), 1.0, [0.2], [0.5], torque=[3.0], method=method, step=0.1, friction="none")
    assert motion.work == pytest.approx(3.0 * (motion.q[:, 0] - 0.2), rel=1e-12, abs=1e-12)
    assert motion.work[-1] > 1.0


@pytest.mark.parametrize("duration", [3.0, 3.0 * (1.0 + 1e-8), 2.000001, 1.0, 7e3, 9.5])
def test_the_least_step_that_is_proposed_is_accepted(duration):
    with pytest.raises(dy.InputError, match=r"more than 1e\+09: use at least step=.*, or") as caught:
        check_step_length(1e-10 * duration, 0.0, duration)
    proposed = float(re.search("step=([^ ,]+), or", str(caught.value))[1])
    check_step_length(proposed, 0.0, duration)
    assert proposed < 2.0 * duration * 1e-9  # and not much longer than needed


def test_steps_too_long_for_the_energy_balance_are_a_warning():
    robot = dy.load("planar_2r_melchiorri")
    with pytest.warns(dy.ModelWarning, match="use a shorter step=, or an adaptive method, method='DOP853' without step="):
        coarse = dy.simulate(robot, 1.0, method="euler", step=0.5)
    assert coarse.energy_imbalance > 0.1
    fine = dy.simulate(robot, 1.0, method="euler", step=1e-3)  # warnings are errors
    assert 0.0 < fine.energy_imbalance < 0.01
    assert fine.energy_imbalance == abs(fine.energy_error).max() / fine.energy_exchanged


STIFF = [("rk4", "by the actuators"), ("euler", "in the law"), ("time_stepping", "in the law"),
         ("rk4", "in the law"), ("euler", "by the actuators"), ("time_stepping", "by the actuators")]  # fmt: skip


@pytest.mark.parametrize(("method", "saturated"), few_of(STIFF, STIFF[:3]))
def test_feedback_too_stiff_for_the_steps_is_a_warning_where_limits_hide_it_and_the_joint_is_too_light_for_the_energy(
    method, saturated
):
    robot = dy.load("ur5e")
    limits = robot.limits["effort"]

    def law(_t, q, v):
        tau = 200.0 * (0.0175 - q) - 10.0 * v
        return np.clip(tau, -limits, limits) if saturated == "in the law" else tau

    drives = {name: dy.Saturated(effort=x) for name, x in zip(robot.coordinate_names, limits, strict=True)}
    options = {"controller": law, "actuators": drives if saturated == "by the actuators" else None}
    with pytest.warns(
        dy.ModelWarning, match=r"the velocity balance of .wrist_._joint. has an error of .* % .*use a shorter step="
    ):
        coarse = dy.simulate(robot, 0.1, robot.home(), method=method, step=1e-3, **options)
    exact = dy.simulate(robot, 0.1, robot.home(), points=2, **options)
    assert abs(coarse.q[100, -1] - exact.q[-1, -1]) > 0.1


@pytest.mark.parametrize("method", ["rk4", "time_stepping"])
def test_a_motion_that_fixed_steps_resolve_keeps_the_velocity_balance_whatever_its_output_times(method):
    robot = dy.load("puma560")
    law = dy.control.ComputedTorque.designed(robot.home() + 0.3, bandwidth=10.0)
    friction = "model" if method == "time_stepping" else "none"
    for points in (2, 11, 201):
        dy.simulate(robot, 1.0, method=method, step=1e-3, controller=law, friction=friction, points=points)  # no warning


def test_the_ledger_of_a_motion_gives_the_differences_that_last():
    rng = np.random.default_rng(0)
    v, a, h = rng.normal(size=(40, 3)), rng.normal(size=(40, 3)), rng.uniform(0.1, 0.2, 40)
    ledger = velocity_balance.new_ledger(v[0])
    for k in range(40):
        ledger = velocity_balance.with_step(ledger, v[k], a[k], h[k])
    off = abs(np.diff(v, axis=0) - 0.5 * h[:-1, None] * (a[1:] + a[:-1]))
    expected = velocity_balance.imbalance(velocity_balance.lasting(off), abs(v).max(axis=0))
    np.testing.assert_allclose(velocity_balance.imbalance_of(ledger), expected, rtol=1e-12)
    for spikes, kept in (
        ([9, 0] * 3, 9),
        ([0, 9, 9, 0, 0, 0, 0, 0], 0),
        ([1] * 3 + [7] * 3 + [1] * 3, 1),
        ([1] * 3 + [7] * 5, 7),
    ):
        assert velocity_balance.lasting(np.array(spikes)) == kept


def test_the_energy_balance_of_a_resumed_motion_begins_where_it_resumes():
    first = dy.simulate(ARM, 0.5, [0.3, 0.4], method="rk4", step=1e-3, torque=[20.0, 5.0])
    whole = dy.simulate(ARM, 1.0, resume=first, method="rk4", step=1e-3, torque=[20.0, 5.0])
    assert abs(whole.energy_error).max() < 1e-5


@pytest.mark.parametrize("tolerance", [{"rtol": 1e-9}, {"atol": 1e-9}])
@pytest.mark.parametrize("method", ["rk4", "euler", "midpoint", "time_stepping"])
def test_tolerances_have_no_meaning_for_fixed_steps(method, tolerance):
    with pytest.raises(dy.InputError, match="leave them out, and choose the accuracy by step="):
        simulate(ARM, 0.1, [0.3, 0.4], method=method, step=1e-2, **tolerance)

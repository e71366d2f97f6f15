"""Stability conditions: missing premises lower the verdict, and bad input raises errors that state what is allowed."""

import numpy as np
import pytest
from floating import floating
from small_machines import ball_joint

import dynamis as dy
from dynamis import control
from dynamis.control.pd_gravity import springs
from dynamis.control.structural_constants import ScaledBounds
from dynamis.control.task_loop import posture_torque
from dynamis.task_space.task_state import TaskState

ARM = dy.load("planar_2r_melchiorri")
IIWA = dy.load("kuka_iiwa14")
TASK = dy.task_space.Position(rows=(0, 1))
Q = np.array([0.3, 1.2])
GOAL = [0.5, -0.5]
HEAVY = ARM.replace(payload=dy.solids.sphere(0.1, mass=2000.0))
DRY = ARM.replace(friction={name: {"coulomb": 20.0} for name in ("joint1", "joint2")})


def log(count=50):
    t = np.linspace(0.0, 0.1, count)
    q = 0.1 * np.sin(t)[:, None] + np.array(GOAL)
    return t, q, 0.1 * np.cos(t)[:, None] * np.ones(2), ARM.gravity(q)


@pytest.mark.parametrize(("column", "row", "value", "sentence"), [
    (0, 7, 0.1 * 6 / 49, "row 7 has t"),
    (0, 7, 0.0, "row 7 has t"),
    (0, 3, np.nan, "row 3 of t is not finite"),
    (2, 4, np.nan, "row 4 of v is not finite"),
    (3, 5, np.inf, "row 5 of tau is not finite"),
])  # fmt: skip
def test_a_log_that_would_lose_a_collision_is_refused(column, row, value, sentence):
    rows = log()
    rows[column][row] = value
    with pytest.raises(dy.InputError, match=sentence):
        control.observer_residuals(ARM, *rows)


def test_logs_have_a_row_for_each_time():
    t, q, v, tau = log()
    with pytest.raises(dy.InputError, match="tau has 49 rows, t has 50"):
        control.observer_residuals(ARM, t, q, v, tau[:-1])
    with pytest.raises(dy.InputError, match="one time per row"):
        control.observer_residuals(ARM, t[:0], q[:0], v[:0], tau[:0])


def test_each_joint_may_have_its_own_bandwidth():
    rows = log()
    both = control.observer_residuals(ARM, *rows, bandwidth=[30.0, 40.0])
    for k, bandwidth in enumerate((30.0, 40.0)):
        assert np.allclose(both[:, k], control.observer_residuals(ARM, *rows, bandwidth=bandwidth)[:, k], atol=1e-12)
    with pytest.raises(dy.InputError, match="give one, or 2"):
        control.observer_residuals(ARM, *rows, bandwidth=[30.0, 40.0, 50.0])


@pytest.mark.parametrize("law", [
    control.OperationalSpace.designed([1.0, 1.0], TASK, bandwidth=5.0), control.Impedance([1.0, 1.0], 400.0, TASK),
    control.HybridForcePosition.designed([1.0, 1.0], 10.0, [1.0, 0.0], TASK, bandwidth=5.0),
], ids=["operational space", "impedance", "hybrid"])  # fmt: skip
def test_a_law_in_task_space_says_at_which_configuration_it_is_checked_and_takes_another(law):
    home = law.check(ARM)
    assert "q is the home configuration; for another one, check(…, q=…)" in str(home)
    with pytest.raises(dy.InputError, match=r"q .*2"):
        law.check(ARM, q=[1.0])
    for one in (law, law.with_model(ARM), control.MomentumObserver(law, 2)):
        bent, straight = (one.check(ARM, q=q) for q in (Q, [0.3, 0.0]))
        assert bent.stable
        assert not straight.stable
        assert "q is (0.3, 1.2)" in str(bent)


def test_a_law_that_knows_another_model_is_checked_with_it():
    law = control.ComputedTorque.designed([0.1, 0.2], bandwidth=5.0)
    assert not law.with_model(HEAVY).check(ARM).stable
    assert not control.MomentumObserver(law, 2).with_model(HEAVY).check(ARM).stable
    assert law.with_model(ARM).check(ARM).proven


@pytest.mark.parametrize("law", [
    control.PDGravity(GOAL, 4000.0, 900.0),
    control.GravityCompensation(damping=1.0),
], ids=["pd", "gravity"])  # fmt: skip
def test_a_theorem_for_the_right_model_proves_nothing_for_another(law):
    assert law.with_model(ARM).check(ARM).proven
    report = law.with_model(HEAVY).check(ARM)
    assert not report.proven
    assert "not proven" in report.verdict
    assert "uses another" in str(report)


def test_an_adaptive_law_may_start_from_a_wrong_model_where_it_can_learn_what_is_missed():
    everything = control.SlotineLi.designed(ARM, GOAL, bandwidth=5.0)
    last = control.SlotineLi.designed(ARM, GOAL, bandwidth=5.0, adapt="link2")
    assert everything.with_model(ARM).check(ARM).proven
    assert everything.with_model(control.perturbed(ARM, 0.05)).check(ARM).stable
    assert last.with_model(HEAVY).check(ARM).stable  # the payload is in the last link
    assert not last.with_model(control.perturbed(ARM, 0.05)).check(ARM).stable


def impedance_report(robot, task, q, **options):
    reference = options.pop("reference", task.value(robot, q))
    return control.Impedance(reference, 100.0, task, **options).check(robot, q=q)


IIWA_Q = np.array([0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1])


@pytest.mark.parametrize(("task", "options", "sentence"), [
    (dy.task_space.Position(), {"posture": np.zeros(7)}, "null-space posture torques"),
    (dy.task_space.Position(), {"reference": lambda t: (np.ones(3), np.ones(3), np.zeros(3))}, "moving reference"),
])  # fmt: skip
def test_passivity_is_not_claimed_where_a_premise_is_missing(task, options, sentence):
    report = impedance_report(IIWA, task, IIWA_Q, **options)
    assert sentence in str(report)
    assert "the loop is passive" not in str(report)
    assert report.advice


def test_passivity_is_claimed_where_it_is_a_theorem():
    for task in (dy.task_space.Position(), dy.task_space.PoseTask(), dy.task_space.Orientation(coordinates="rpy", rows=(0, 1))):
        assert "the loop is passive" in str(impedance_report(IIWA, task, IIWA_Q))


def test_unequal_stiffness_is_refused_for_geometric_rotations_only():
    stacked = dy.task_space.Stacked(dy.task_space.Position(), dy.task_space.Orientation())
    for task, K in ((dy.task_space.Orientation(), [1.0, 2.0, 3.0]), (stacked, [9.0, 8.0, 7.0, 1.0, 2.0, 3.0])):
        with pytest.raises(dy.InputError, match="rotational stiffnesses must be equal"):
            control.Impedance(np.zeros(task.size), K, task)
    angles, K = dy.task_space.PoseTask(coordinates="rpy"), np.array([9.0, 8.0, 7.0, 1.0, 2.0, 3.0])
    goal = angles.value(IIWA, IIWA_Q)
    law = control.Impedance(goal, K, angles)
    # the pull is the slope of ½ eᵀ K e
    q, v, h = IIWA_Q + 0.1, np.linspace(1.0, -1.0, 7), 1e-6
    energy = [0.5 * K @ angles.error(goal, angles.value(IIWA, q + s * h * v)) ** 2 for s in (1.0, -1.0)]
    pull = law(IIWA, 0.0, q, np.zeros(7)) - IIWA.gravity(q)
    assert abs((energy[0] - energy[1]) / (2 * h) + pull @ v) < 1e-5


def test_a_singular_state_is_said_in_words():
    law = control.Impedance([1.0, 1.0], 400.0, TASK)
    with pytest.raises(dy.SingularError, match="the task is singular at this state"):
        law(ARM, 0.0, ARM.neutral(), np.zeros(2))
    report = law.check(ARM, rate=1000.0)
    assert not report.stable
    assert "the task is singular there" in str(report)


def test_pd_says_where_dry_friction_lets_it_rest():
    law = control.PDGravity(GOAL, [4000.0, 2000.0], 900.0)
    assert np.allclose(law.error_at_rest(DRY), [0.005, 0.01])
    report = str(law.check(DRY))
    assert "globally asymptotically stable" not in report
    assert "joint1 0.005 rad, joint2 0.01 rad" in report
    assert "globally asymptotically stable" in str(law.check(ARM))


@pytest.mark.parametrize("gravity", ["here", "goal"])
def test_pd_says_how_far_unknown_gravity_moves_its_rest(gravity):
    law = control.PDGravity(GOAL, 4000.0, 900.0, gravity)
    left = law.error_at_rest(ARM, 0.05)
    assert "globally asymptotically stable" not in str(law.check(ARM, error=0.05))
    light = ARM.replace(gravity=1.05 * ARM.model.gravity)
    end = dy.simulate(light, 10.0, GOAL, controller=law.with_model(ARM), method="rk4", step=5e-3, points=3).q[-1]
    off = np.abs(end - GOAL)
    assert off.max() > 1e-3
    assert (off <= left).all()


def test_a_joint_that_gravity_does_not_load_has_no_error_at_rest():
    robot = dy.load("ur5e")
    law = control.PDGravity(robot.home(), 1000.0, 100.0)
    assert law.error_at_rest(robot, 0.05)[0] == 0.0
    assert "steady-state error up to shoulder_pan_joint 0 rad, shoulder_lift_joint 0.00307 rad" in str(
        law.check(robot, error=0.05)
    )


@pytest.fixture(scope="module")
def bounded():
    return control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, torque_limits=np.inf, seconds=1.0)


HOLDS = {">": np.greater, "≥": np.greater_equal, "<": np.less, "≤": np.less_equal}


def test_every_condition_holds_exactly_if_its_printed_relation_does(bounded):
    x = TASK.value(ARM, Q)
    impedances = [
        control.Impedance(x, 800.0, TASK, ratio=ratio, **options).check(ARM, q=q, rate=1000.0)
        for q in (Q, np.zeros(2)) for ratio in (0.5, 1.0) for options in ({}, {"inertia": 5.0}, {"inertia": 500.0})
    ]  # fmt: skip
    tip = dy.load("ur5e")
    start = np.array([0.0, -1.2, 1.6, -2.0, -1.5, 0.0])
    robust = {k: getattr(bounded, k) for k in ("bounds", "bandwidth", "settling", "width")}
    reports = [
        *impedances,
        control.Impedance([-0.4, 0.2, 0.5], 1000.0).check(tip, q=start),
        control.PDGravity(GOAL, 1.0, 500.0, "goal").check(ARM),
        control.ComputedTorque.designed(GOAL, bandwidth=20.0).check(ARM, rate=100.0),
        control.GravityCompensation(damping=10.0).check(ARM),
        control.HybridForcePosition.designed(x, 20.0, [0.0, 1.0], TASK, bandwidth=10.0).check(ARM, q=Q),
        *(control.RobustPD(GOAL, **robust, torque_limits=limit, constants=kind).check(ARM)
          for limit in (np.inf, 900.0) for kind in ("proven", "found")),
    ]  # fmt: skip
    for condition in (c for report in reports for c in report.conditions if c.requirement):
        assert bool(HOLDS[condition.relation](condition.found, condition.needed)) is condition.holds, condition


def test_the_constants_of_a_robust_law_are_a_ratio_above_one(bounded):
    ratio = next(c for c in bounded.check(ARM).conditions if c.what.startswith("constants"))
    b = bounded.bounds
    used = [(x.safe / x.value) for x in (b.inertia, b.coriolis, b.gravity)]
    assert (ratio.needed, ratio.holds) == (1.0, True)
    assert ratio.found == pytest.approx(1.5 * min(used))


def test_limits_that_cannot_hold_the_arm_decide(bounded):
    options = {k: getattr(bounded, k) for k in ("bandwidth", "settling", "width")}
    weak = control.RobustPD(GOAL, bounded.bounds, **options, torque_limits=[900.0, 300.0]).check(ARM)
    assert not weak.stable
    assert "over its largest gravity torque" in str(weak)
    slow = control.RobustPD(GOAL, bounded.bounds, **options, torque_limits=[1400.0, 500.0]).check(ARM, speed=20.0)
    assert slow.stable
    assert slow.advice


def test_the_last_error_is_proven_or_says_that_it_is_not(bounded):
    options = {k: getattr(bounded, k) for k in ("bandwidth", "settling", "width")}
    b = bounded.bounds
    reach = np.sqrt(b.inertia.safe / b.least.safe)
    assert np.allclose(bounded.ultimate_error(), reach * 0.2 / 0.5 / (5.0 * b.scale))
    found = control.RobustPD(GOAL, b, **options, constants="found")
    assert (found.ultimate_error() < bounded.ultimate_error()).all()
    assert "constants from sampled configurations, not proven" in str(found.check(ARM))
    unproven = ScaledBounds(b.scale, type(b.least)(**{**vars(b.least), "lower": 0.0}), b.inertia, b.coriolis, b.gravity)
    open_ended = control.RobustPD(GOAL, unproven, **options)
    assert np.isinf(open_ended.ultimate_error()).all()
    assert "no ultimate bound" in str(open_ended.check(ARM))


def test_an_ultimate_bound_beyond_the_range_of_motion_says_nothing(bounded):
    narrow = ARM.replace(limits={"joint1": {"lower": 0.49, "upper": 0.51}})
    options = {k: getattr(bounded, k) for k in ("bounds", "bandwidth", "settling")}
    assert "ultimate bound of the error 0" in str(bounded.check(ARM))
    for robot, width in ((narrow, bounded.width), (ARM, 200.0 * bounded.width)):
        law = control.RobustPD(GOAL, **options, width=width)
        bound = f"{law.ultimate_error().max():.3g} rad"
        assert f"{bound}, says nothing, as it is larger than the range of motion: larger gains are needed" in str(
            law.check(robot)
        )


def test_gains_that_differ_do_not_mix_force_and_position():
    normal = np.array([0.6, 0.8])
    task = dy.task_space.Position(rows=(0, 1))
    x = task.value(ARM, Q)
    wrench = np.array([*(20.0 * normal), 0.0, 0.0, 0.0, 0.0])
    made = [
        control.HybridForcePosition(x + off * normal, 20.0, normal, [100.0, 400.0], [20.0, 40.0], task)(
            ARM, 0.0, Q, np.zeros(2), np.zeros(1), wrench
        )
        for off in (0.0, 0.1)
    ]
    assert np.abs(made[0] - made[1]).max() < 1e-9  # an error along the normal is no error of position
    for force in (np.nan, np.inf):
        with pytest.raises(dy.InputError, match="force must be finite"):
            control.HybridForcePosition.designed(x, force, normal, task, bandwidth=10.0)


def test_adaptation_is_not_proven_beside_dry_friction():
    law = control.SlotineLi.designed(DRY, GOAL, bandwidth=5.0)
    assert law.check(ARM).proven
    report = law.check(DRY)
    assert report.stable
    assert not report.proven
    assert "s ends near zero" in str(report)


def springy():
    flying = floating("planar_2r_melchiorri")
    return flying.replace(friction={"joint2": {"stiffness": 50.0}})


def test_springs_are_carried_on_robots_with_quaternions_too():
    description = ball_joint().description
    inertia = dy.Inertia.about_com(1.0, np.array([0.1, 0.0, -0.2]), 0.01 * np.eye(3))
    description.add_link("hand", "body", "revolute", joint_name="joint2", axis=(1, 0, 0), inertia=inertia)
    robot = dy.Robot(description).replace(friction={"joint2": {"stiffness": 50.0}})
    q, v = robot.neutral(), np.zeros(robot.n)
    place = robot.model.coordinates[-1].q_index
    q[place] = 0.3
    held = springs(robot, q)
    assert np.allclose(held, [*np.zeros(robot.n - 1), 50.0 * 0.3])
    assert np.allclose(control.GravityCompensation()(robot, 0.0, q, v), robot.bias(q, v))
    torques = control.compile_law(robot, control.GravityCompensation())(np.zeros(1), q[None], v[None])
    assert np.allclose(torques, robot.bias(q, v))
    r = control.observer_residuals(robot, np.linspace(0.0, 0.1, 20), np.tile(q, (20, 1)), np.tile(v, (20, 1)), np.tile(
        robot.bias(q, v), (20, 1)))  # fmt: skip
    assert np.abs(r).max() < 1e-9


def test_a_posture_needs_plain_joints():
    robot = springy()
    here = TaskState(np.eye(robot.n), np.eye(3, robot.n), np.zeros(robot.n), np.zeros(3), np.zeros(3))
    with pytest.raises(dy.InputError, match="spherical or free joint"):
        posture_torque(here, robot.neutral(), np.zeros(robot.n), np.zeros(robot.n), 2.0)
    assert np.array_equal(posture_torque(here, robot.neutral(), np.zeros(robot.n), None, 2.0), np.zeros(robot.n))
    short = control.OperationalSpace.designed([0.3, 0.3, 0.6], bandwidth=5.0, posture=np.zeros(3))
    with pytest.raises(dy.InputError, match="posture= has 3 numbers, the robot has 7 joints"):
        short(IIWA, 0.0, IIWA_Q, np.zeros(7))


def test_the_conditions_of_one_joint_are_checked_without_warnings():
    values = {"I": 1.0, "m": 2.0, "L": 0.5, "g": 9.81, "d": 0.02}
    pendulum = dy.load("pendulum_from_vertical", parameters=values)
    conditions = control.PDGravity([0.5], stiffness=20.0, damping=3.0, gravity="goal").check(pendulum)
    assert "K_p over the largest −∂g/∂q: 2.039" in str(conditions)  # 20 / (m g L)

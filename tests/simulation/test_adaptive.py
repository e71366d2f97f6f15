"""SciPy's integrators on robots: they agree with each other and with MuJoCo, and keep account of energy."""

import warnings

import numpy as np
import pytest
from campaign_params import few_of
from small_machines import ball_joint, free_body, pendulum

import dynamis as dy
from dynamis.model.writers.urdf import write_urdf
from dynamis.simulation.simulate import simulate
from dynamis.spatial.rotation import from_quaternion

ARM = dy.load("planar_2r_melchiorri")


def drift(motion):
    return np.abs(motion.energy_error).max() / motion.kinetic_energy.max()


@pytest.mark.parametrize("method", ["RK45", "RK23", "Radau", "BDF", "LSODA"])
def test_every_method_gives_the_same_motion_to_its_tolerance(method):
    tight = simulate(ARM, 1.0, [0.3, 0.4], [1.0, -1.0], rtol=1e-12, atol=1e-13, points=51)
    rtol = 1e-7 if method in ("RK23", "BDF") else 1e-9
    other = simulate(ARM, 1.0, [0.3, 0.4], [1.0, -1.0], method=method, rtol=rtol, atol=rtol / 100, points=51)
    assert np.abs(other.q - tight.q).max() < 1000 * rtol


def test_the_error_shrinks_with_the_tolerance():
    tight = simulate(ARM, 1.0, [0.3, 0.4], rtol=1e-13, atol=1e-14).q[-1]
    errors = [np.abs(simulate(ARM, 1.0, [0.3, 0.4], rtol=r, atol=r / 100).q[-1] - tight).max() for r in (1e-5, 1e-8, 1e-11)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_energy_balances_with_torques_wrenches_friction_and_springs_together():
    robot = dy.load("ur5e")
    spring = {name: {"viscous": 0.8, "stiffness": 5.0, "rest": 0.3} for name in robot.joint_names}
    motion = simulate(
        robot.replace(friction=spring), 0.1, [0.1, -1.0, 0.8, 0.3, 0.5, -0.2],
        torque=lambda t: 5.0 * np.sin(np.arange(6) + 3 * t), controller=lambda _t, q, v: -2.0 * q - 0.5 * v,
        wrenches={robot.link_names[-1]: lambda t: [10 * np.cos(t), 5.0, -20.0, 0.5, -0.3, 0.2]}, rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert motion.complete
    assert drift(motion) < 1e-8
    assert np.abs(motion.work).max() > 0.1 * motion.kinetic_energy.max()
    assert np.abs(motion.ledger.total - motion.tau).max() < 1e-9


UNDAMPED = ["planar_2r_melchiorri", "stanford", "scara", "kuka_iiwa14"]


@pytest.mark.parametrize("name", few_of(UNDAMPED, UNDAMPED[:3]))
def test_an_undamped_robot_keeps_its_energy_for_ten_seconds(name):
    robot = dy.load(name).replace(friction=0)
    motion = simulate(robot, 10.0, robot.random(1), rtol=1e-10, atol=1e-12, points=101, friction="none")
    assert drift(motion) < 1e-9


def test_a_free_body_keeps_energy_and_angular_momentum_and_its_quaternion_stays_of_length_one():
    robot = free_body()
    motion = simulate(robot, 10.0, v0=[1.0, 2.0, 3.0, 0.1, 4.0, 0.2], rtol=1e-11, atol=1e-13, points=101)
    turns = np.array([from_quaternion(q[3:]) for q in motion.q])
    momentum = np.einsum("nij,nj->ni", turns, motion.v[:, 3:] * np.array([0.5, 0.9, 1.2]))
    speed = np.einsum("nij,nj->ni", turns, motion.v[:, :3])
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    assert np.abs(speed - speed[0]).max() < 1e-8
    assert drift(motion) < 1e-9
    assert np.linalg.norm(motion.q[:, 3:], axis=1) == pytest.approx(np.ones(101), abs=1e-14)
    # about the middle axis the rotation is unstable: it tumbled
    assert np.abs(motion.v[:, 4] + 4.0).min() < 0.5


def test_a_heavy_top_keeps_energy_and_the_momentum_about_the_vertical():
    robot = ball_joint()
    motion = simulate(robot, 5.0, v0=[1.0, -2.0, 6.0], rtol=1e-11, atol=1e-13, points=101)
    about_origin = robot.mass_matrix(motion.q) @ motion.v[:, :, None]
    vertical = [from_quaternion(q)[2] @ p[:, 0] for q, p in zip(motion.q, about_origin, strict=True)]
    assert np.ptp(vertical) < 1e-8
    assert drift(motion) < 1e-9


def test_a_floating_robot_falls_with_its_centre_of_mass_as_a_stone_does():
    robot = dy.load("go2", base="floating").replace(friction=0)
    motion = simulate(robot, 0.5, friction="none", v0=np.r_[np.zeros(6), np.linspace(-1, 1, robot.n - 6)], points=11)
    height = motion.potential_energy / (robot.mass * 9.81)
    fallen = height[0] - height
    rate = (fallen[1] - 0.5 * 9.81 * motion.t[1] ** 2) / motion.t[1]
    assert fallen == pytest.approx(rate * motion.t + 0.5 * 9.81 * motion.t**2, abs=1e-6)


def test_a_step_that_is_given_is_the_longest_taken():
    short = simulate(pendulum(), 1.0, [0.5], step=1e-2)
    assert short.statistics["evaluations"] > 100 * 11
    # a push in the middle of nowhere, which the integrator's own steps need not meet
    found = simulate(pendulum(), 10.0, torque=lambda t: [5.0 if 7.0 < t < 7.01 else 0.0], step=5e-3, method="RK23", rtol=1e-5)
    assert np.abs(found.q[found.t > 7.1]).max() > 1e-2


def test_progress_goes_from_nothing_to_all():
    told = []
    simulate(pendulum(coulomb=0.1), 1.0, [0.5], progress=told.append)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert len(told) > 5


def test_the_motion_is_mujocos_to_the_accuracy_of_integration(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[oracles]'")
    d = dy.load("kuka_iiwa14").replace(friction=0).description
    for link in d.links:
        link.shapes = []
    for joint in d.joints:
        joint.limits.lower, joint.limits.upper, joint.limits.effort, joint.limits.velocity = -np.inf, np.inf, np.inf, np.inf
        if joint.type == "revolute":
            joint.type = "continuous"
    robot = dy.Robot(d)
    spec = mujoco.MjSpec.from_string(write_urdf(d))
    spec.compiler.fusestatic = spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.option.gravity = d.gravity
    spec.option.timestep, spec.option.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model = spec.compile()
    data = mujoco.MjData(model)
    order = [model.joint(name).qposadr[0] for name in robot.joint_names]
    q0, v0, torque = 0.3 * np.arange(1, 8), np.linspace(-0.5, 0.5, 7), np.linspace(1.0, -1.0, 7)
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q0, v0, torque
    for _ in range(2000):
        mujoco.mj_step(model, data)
    ours = simulate(robot, 0.2, q0, v0, torque=torque, rtol=1e-12, atol=1e-13)
    assert np.abs(ours.q[-1] - data.qpos[order]).max() < 1e-9
    assert np.abs(ours.v[-1] - data.qvel[order]).max() < 1e-8


def test_the_motion_is_the_one_pinocchios_accelerations_give(tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
    robot = dy.load("panda").replace(friction=0)
    file = tmp_path / "arm.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot.write(file)
    model = pin.buildModelFromUrdf(str(file))
    model.gravity.linear = robot.model.gravity
    if model.nv != robot.n:
        pytest.skip("Pinocchio reads the fingers as two joints of their own")
    data = model.createData()
    q, v, h = 0.2 * np.arange(1, robot.n + 1), np.linspace(-0.5, 0.5, robot.n), 1e-3
    ours = simulate(robot, 0.2, q, v, rtol=1e-12, atol=1e-13, friction="none")

    def f(y):
        return np.r_[y[robot.n :], pin.aba(model, data, y[: robot.n], y[robot.n :], np.zeros(robot.n))]

    y = np.r_[q, v]
    for _ in range(200):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
    assert np.abs(np.r_[ours.q[-1], ours.v[-1]] - y).max() < 1e-7


def test_stiff_closed_loops_go_on_by_an_implicit_method_with_the_same_accuracy():
    robot = dy.load("ur5e")
    goal = robot.home() + 0.3
    calls = []

    def law(t, q, v):
        calls.append(t)
        return 100.0 * (goal - q) - 20.0 * v

    exact = dy.simulate(robot, 0.04, controller=law, method="DOP853", rtol=1e-10, atol=1e-12)
    explicit = len(calls)
    calls.clear()
    motion = dy.simulate(robot, 0.04, controller=law)
    assert len(calls) < explicit / 3
    assert np.abs(motion.q - exact.q).max() < 1e-8
    assert np.abs(motion.energy_error).max() < 1e-5


@pytest.mark.parametrize("options", [{"method": "DOP853"}, {}], ids=["explicit", "not stiff"])
def test_the_method_is_kept_where_it_was_chosen_or_nothing_is_stiff(monkeypatch, options):
    monkeypatch.setattr("dynamis.simulation.adaptive.STIFF_METHOD", "no method")
    robot = dy.load("ur5e")
    law = (lambda t, q, v: -100.0 * q - 20.0 * v) if options else None
    assert dy.simulate(robot, 0.02 if options else 2.0, controller=law, **options).status == "completed"


def stepped_torque(t):
    return [0.0, 0.0, 1.0 * (t > 0.5)]


@pytest.fixture(scope="module")
def after_a_step_of_the_torque():
    return simulate(ball_joint(), 1.0, torque=stepped_torque, step=1e-3, rtol=1e-8, points=51).q[-1]


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "LSODA", "BDF"])
def test_steps_of_the_torque_on_a_ball_joint_are_integrated(after_a_step_of_the_torque, method):
    pushed = simulate(ball_joint(), 1.0, torque=stepped_torque, method=method, rtol=1e-6, atol=1e-8, points=51)
    assert pushed.status == "completed"
    assert np.abs(np.linalg.norm(pushed.q, axis=1) - 1.0).max() < 1e-12
    assert np.abs(np.abs(pushed.q[-1]) - np.abs(after_a_step_of_the_torque)).max() < 1e-4


def test_steps_of_wrenches_and_torques_on_a_floating_robot_are_integrated():
    dog = dy.load("go2", base="floating")
    joints = np.r_[np.zeros(6), np.ones(12)]
    assert simulate(dog, 0.6, torque=lambda t: (t > 0.3) * joints, points=11).status == "completed"
    assert simulate(dog, 0.6, wrenches={"base": lambda t: [0, 0, 0, 5.0 * (t > 0.2), 0, 0]}, points=11).status == "completed"
    assert simulate(dog, 0.6, disturbance=lambda t: (t > 0.3) * joints, points=11).status == "completed"


def test_a_motion_under_excessive_torques_ends_soon():
    motion = simulate(dy.load("ur5e"), 0.2, torque=np.full(6, 1000.0))
    assert "diverged" in motion.status
    assert "check the torques" in motion.status
    assert motion.statistics["evaluations"] < 5000


SOURCES, SOLVERS = ("torque", "disturbance", "controller", "wrenches"), (None, "RK45", "Radau", "LSODA")
PULSES = [(given, method) for given in SOURCES for method in SOLVERS]


# each source with the default method, and each other method with one of them
@pytest.mark.parametrize(("given", "method"), few_of(PULSES, [*PULSES[::4], *PULSES[5::5]]))
def test_short_pulses_are_not_passed_over(given, method):
    inertia = dy.Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.01 * np.eye(3))
    pendulum = dy.Robot(
        dy.Description("pendulum").add_link("base").add_link("rod", "base", "revolute", axis=(0, 1, 0), inertia=inertia)
    )

    def pulse(t, *_state):
        return [20.0 if 1.5 < t < 1.52 else 0.0]

    function = {"rod": lambda t: [0.0, 0.0, 0.0, 0.0, *pulse(t), 0.0]} if given == "wrenches" else pulse
    if given == "controller":
        function = lambda t, q, v: pulse(t)  # noqa: E731
    motion = dy.simulate(pendulum, 3.0, [0.0], method=method, **{given: function})
    start = dy.simulate(pendulum, [1.5, 1.52], [0.0], [0.0], torque=[20.0])
    expected = dy.simulate(pendulum, [1.52, 3.0], start.q[-1], start.v[-1])
    assert abs(motion.q[-1, 0] - expected.q[-1, 0]) < 1e-5 * abs(motion.q).max()
    assert abs(motion.v).max() > 1.0

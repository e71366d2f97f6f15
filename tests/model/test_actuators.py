"""Actuators as part of a robot: what their methods compute, how they are checked, stored, written and read."""

import re

import numpy as np
import pytest
from small_machines import block, turning

import dynamis as dy
from dynamis.model.actuators import ACTUATORS
from dynamis.model.description import Drive, Mimic
from dynamis.model.load import read

PLAIN = (
    dy.Saturated(),
    dy.Saturated(effort=4.0),
    dy.Saturated(effort=4.0, speed=3.0, dead_zone=0.5, knee=0.5, efficiency=0.8),
    dy.Saturated(speed=2.0, efficiency=0.6),
    dy.DCMotor(2.0, 0.1, 50.0),
    dy.DCMotor(2.0, 0.1, -50.0, 1e-3, 0.7, 24.0),
    dy.Elastic(800.0, 0.3),
    dy.Elastic(800.0, 0.3, 2.0, 0.4, 0.1),
)


@pytest.mark.parametrize("actuator", PLAIN, ids=repr)
def test_the_same_code_runs_on_numbers_and_on_symbols(actuator):
    rng = np.random.default_rng(0)
    x_s = np.array([dy.symbol(f"x{k}") for k in range(actuator.size)], dtype=object)
    u_s, q_s, v_s = map(dy.symbol, "uqv")
    traced = [actuator.torque(x_s, u_s, q_s, v_s), *actuator.rates(x_s, u_s, q_s, v_s), actuator.energy(x_s, q_s)]
    started = actuator.start(q_s, v_s)
    for _ in range(40):
        x = rng.uniform(-1.0, 1.0, actuator.size)
        u, q, v = rng.uniform(-6.0, 6.0, 3)
        values = {u_s: u, q_s: q, v_s: v, **dict(zip(x_s, x, strict=True))}
        numeric = [actuator.torque(x, u, q, v), *actuator.rates(x, u, q, v), actuator.energy(x, q)]
        np.testing.assert_allclose([dy.evaluate(e, values) for e in traced], numeric, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose([dy.evaluate(e, values) for e in started], actuator.start(q, v))


@pytest.mark.parametrize("actuator", PLAIN, ids=repr)
def test_an_actuator_compiles(actuator):
    robot = turning()

    def drive(_robot, q, v, x, u):
        return np.array([actuator.torque(x, u[0], q[0], v[0]), *actuator.rates(x, u[0], q[0], v[0])])

    def without_states(robot, q, v, u):
        return drive(robot, q, v, np.zeros(0), u)

    kernel = robot.compile(drive, x=actuator.size, u=1) if actuator.size else robot.compile(without_states, u=1)
    rng = np.random.default_rng(1)
    q, v, u = rng.uniform(-4.0, 4.0, (3, 30, 1))
    x = rng.uniform(-1.0, 1.0, (30, actuator.size))
    made = kernel(q, v, x, u) if actuator.size else kernel(q, v, u)
    expected = [drive(None, *state) for state in zip(q, v, x, u, strict=True)]
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12)


def test_a_dead_zone_comes_before_the_limit_and_the_gear_behind_it():
    drive = dy.Saturated(effort=4.0, dead_zone=1.0, efficiency=0.5)
    none = np.zeros(0)
    assert drive.torque(none, 0.7, 0.0, 1.0) == 0.0
    assert drive.torque(none, 3.0, 0.0, 1.0) == pytest.approx(1.0)
    assert drive.torque(none, 30.0, 0.0, 1.0) == pytest.approx(2.0)
    assert drive.torque(none, -30.0, 0.0, 1.0) == pytest.approx(-8.0)  # driven: the gear brakes with it


def test_beyond_the_knee_the_limit_falls_to_zero_in_the_direction_of_motion_only():
    drive = dy.Saturated(effort=10.0, speed=4.0, knee=0.5)
    none = np.zeros(0)
    assert drive.torque(none, 99.0, 0.0, 2.0) == pytest.approx(10.0)
    assert drive.torque(none, 99.0, 0.0, 3.0) == pytest.approx(5.0)
    assert drive.torque(none, 99.0, 0.0, 5.0) == pytest.approx(0.0)
    assert drive.torque(none, -99.0, 0.0, 5.0) == pytest.approx(-10.0)


def test_a_motor_without_inductance_is_a_gain_and_a_friction():
    motor = dy.DCMotor(2.0, 0.1, 50.0, efficiency=0.8)
    assert motor.gain == pytest.approx(0.8 * 0.1 * 50.0 / 2.0)
    assert motor.back_emf_friction == pytest.approx(0.8 * (0.1 * 50.0) ** 2 / 2.0)
    assert motor.torque(np.zeros(0), 12.0, 0.0, 1.5) == pytest.approx(motor.gain * 12.0 - motor.back_emf_friction * 1.5)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: dy.DCMotor(-1.0, 0.1), "resistance of DCMotor must be positive, got -1.0"),
    (lambda: dy.DCMotor(0.0, 0.1), "resistance"),
    (lambda: dy.DCMotor(1.0, 0.0), "constant"),
    (lambda: dy.DCMotor(1.0, np.nan), "constant"),
    (lambda: dy.DCMotor(1.0, 0.1, ratio=0.0), "ratio of DCMotor must be a number other than 0"),
    (lambda: dy.DCMotor(1.0, 0.1, inductance=-1e-3), "inductance"),
    (lambda: dy.DCMotor(1.0, 0.1, efficiency=1.2), "efficiency of DCMotor must be more than 0 and at most 1"),
    (lambda: dy.DCMotor(1.0, 0.1, efficiency=0.0), "efficiency"),
    (lambda: dy.DCMotor(np.inf, 0.1), "resistance"),
    (lambda: dy.DCMotor(1.0, 0.1, supply=0.0), "supply"),
    (lambda: dy.Saturated(effort=-1.0), "effort"),
    (lambda: dy.Saturated(speed=0.0), "speed"),
    (lambda: dy.Saturated(dead_zone=np.inf), "dead zone of Saturated must be 0 or more"),
    (lambda: dy.Saturated(knee=1.0), "knee"),
    (lambda: dy.Saturated(effort="strong"), "effort of Saturated must be 0 or more, got 'strong'"),
    (lambda: dy.Saturated(effort=True), "effort"),
    (lambda: dy.Elastic(0.0), "the stiffness of Elastic must be positive, got 0.0"),
    (lambda: dy.Elastic(1.0, inertia=0.0), "inertia"),
    (lambda: dy.Elastic(1.0, damping=-1.0), "damping"),
    (lambda: dy.Elastic(1.0, backlash=np.nan), "backlash"),
])  # fmt: skip
def test_numbers_no_actuator_can_have_are_refused(make, message):
    with pytest.raises(dy.InputError, match=message):
        make()


def test_replace_gives_and_takes_actuators_and_keeps_the_others():
    robot = dy.load("planar_2r_melchiorri")
    first, second = robot.coordinate_names
    one = robot.replace(actuators={first: dy.Saturated(effort=5.0)})
    two = one.replace(actuators={second: dy.DCMotor(1.0, 0.1)})
    assert dict(robot.actuators) == {}
    assert dict(two.actuators) == {first: dy.Saturated(effort=5.0), second: dy.DCMotor(1.0, 0.1)}
    assert dict(two.replace(actuators={first: None}).actuators) == {second: dy.DCMotor(1.0, 0.1)}
    with pytest.raises(TypeError):
        two.actuators[first] = None


@pytest.mark.parametrize(("actuators", "message"), [
    ({"elbow": dy.Saturated()}, "no coordinate named 'elbow'"),
    ({"axle": 3.0}, "must be a Saturated, DCMotor or Elastic, got float"),
    ({"axle": dy.Elastic(100.0)}, "needs an inertia"),
    ([dy.Saturated()], "must be a mapping"),
])  # fmt: skip
def test_what_cannot_be_an_actuator_of_the_robot_is_refused(actuators, message):
    with pytest.raises(dy.DynamisError, match=message):
        turning().replace(actuators=actuators)


def test_an_actuator_belongs_to_a_joint_with_one_variable_of_its_own():
    d = dy.Description("ball").add_link("base")
    d.add_link(
        "top", "base", "universal", joint_name="j", axis2=(0, 1, 0), inertia=dy.solids.sphere(0.1, mass=1.0), axis=(1, 0, 0)
    )
    with pytest.raises(dy.InputError, match=r"'j\.1' is one of several coordinates"):
        dy.Robot(d).replace(actuators={"j.1": dy.Saturated()})
    d.joint("j").actuator = dy.Saturated()
    with pytest.raises(dy.ModelError, match="several variables"):
        dy.Robot(d)
    d.joint("j").actuator = "strong"
    with pytest.raises(dy.ModelError, match="its actuator is a str"):
        dy.Robot(d)
    d = turning().description
    d.add_link("other", "base", "revolute", joint_name="twin", inertia=dy.solids.sphere(0.1, mass=1.0), mimic=Mimic("axle"),
               actuator=dy.Saturated())  # fmt: skip
    with pytest.raises(dy.ModelError, match="give the actuator to the joint it follows"):
        dy.Robot(d)


def test_a_spring_takes_the_rotor_off_the_link_everywhere():
    robot = turning(rotor_inertia=0.01, gear_ratio=7.0)
    soft = robot.replace(actuators={"axle": dy.Elastic(100.0)})
    assert soft.actuators["axle"].inertia == pytest.approx(0.49)
    assert soft.description.joint("axle").actuator.inertia is None  # the file's own words stay
    np.testing.assert_allclose(robot.mass_matrix([0.0]) - soft.mass_matrix([0.0]), [[0.49]])
    rotor = soft.parameter_names.index("axle.rotor")
    assert (robot.parameters[rotor], soft.parameters[rotor]) == (pytest.approx(0.49), 0.0)
    np.testing.assert_allclose(soft.inverse_dynamics([0.0], [0.0], [1.0]), [2.0])
    assert [str(x.closed_form().M[0, 0]) for x in (robot, soft)] == ["2.49", "2"]
    riding = robot.replace(rotors="riding", actuators={"axle": dy.Elastic(100.0)})
    assert not riding.model.coupled


def test_a_riding_rotor_behind_a_spring_is_only_behind_the_spring():
    d = turning(rotor_inertia=0.01, gear_ratio=7.0).description
    d.add_link("arm", "disc", "revolute", joint_name="elbow", axis=(1, 0, 0), inertia=dy.solids.sphere(0.2, mass=1.0),
               drive=Drive(rotor_inertia=0.02, gear_ratio=5.0, motor_link="disc"), actuator=dy.Elastic(50.0))  # fmt: skip
    robot = dy.Robot(d)
    plain = d.copy()
    plain.joint("elbow").drive, plain.joint("elbow").actuator = Drive(), None
    np.testing.assert_array_equal(robot.mass_matrix([0.1, 0.2]), dy.Robot(plain).mass_matrix([0.1, 0.2]))
    assert robot.actuators["elbow"].inertia == pytest.approx(0.5)


def test_simulate_takes_the_robots_own_actuators_unless_others_are_given():
    robot = turning().replace(actuators={"axle": dy.Saturated(effort=4.0)})
    np.testing.assert_allclose(dy.simulate(robot, 0.2, torque=[100.0]).tau, 4.0)
    np.testing.assert_allclose(dy.simulate(robot, 0.2, torque=[100.0], actuators={"axle": dy.Saturated(effort=3.0)}).tau, 3.0)
    np.testing.assert_allclose(dy.simulate(robot, 0.2, torque=[100.0], actuators={}).tau, 100.0)


def test_a_robot_with_a_spring_moves_like_one_that_is_given_it():
    robot = turning(rotor_inertia=0.5)
    spring = dy.Elastic(300.0, damping=1.0)
    own = dy.simulate(robot.replace(actuators={"axle": spring}), 0.5, torque=[2.0])
    given = dy.simulate(robot, 0.5, torque=[2.0], actuators={"axle": spring})
    np.testing.assert_allclose(own.q, given.q, rtol=1e-9)
    np.testing.assert_allclose(own.actuator_states["axle"], given.actuator_states["axle"], rtol=1e-9)
    # and a robot's own spring is gone where others are given
    rigid = dy.simulate(robot.replace(actuators={"axle": spring}), 0.5, torque=[2.0], actuators={})
    np.testing.assert_allclose(rigid.q[-1], [0.5 * 2.0 / 2.5 * 0.25], rtol=1e-7)


@pytest.mark.parametrize("actuator", PLAIN, ids=repr)
@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_actuators_survive_being_written(actuator, suffix, tmp_path):
    robot = turning(rotor_inertia=0.1).replace(actuators={"axle": actuator})
    robot.write(tmp_path / f"wheel.{suffix}")
    again, _ = read(tmp_path / f"wheel.{suffix}")
    assert again.joint("axle").actuator == actuator


def test_symbols_of_an_actuator_survive_being_written(tmp_path):
    motor = dy.DCMotor(dy.symbol("R"), dy.symbol("k"), 2.0 * dy.symbol("r"))
    turning().replace(actuators={"axle": motor}).write(tmp_path / "wheel.toml")
    again = dy.load(tmp_path / "wheel.toml")
    assert again.actuators["axle"].constant is dy.symbol("k")
    given = dy.load(tmp_path / "wheel.toml", parameters={"R": 1.0, "k": 0.1, "r": 3.0})
    assert given.actuators["axle"] == dy.DCMotor(1.0, 0.1, 6.0)


def test_a_table_of_a_robot_file_is_an_actuator(tmp_path):
    (tmp_path / "arm.toml").write_text("""
[parameters]
k = 0.05
[[link]]
joint = "a"
mass = 1
com = [1, 0, 0]
actuator = { kind = "dc_motor", resistance = 1.2, constant = "2*k", ratio = 100, supply = 24 }
[[link]]
joint = "b"
mass = 1
com = [1, 0, 0]
rotor_inertia = 1e-4
gear_ratio = 50
[link.actuator]
kind = "elastic"
stiffness = 900
""")
    robot = dy.load(tmp_path / "arm.toml")
    assert dict(robot.actuators) == {"a": dy.DCMotor(1.2, 0.1, 100.0, supply=24.0), "b": dy.Elastic(900.0, 0.25)}


@pytest.mark.parametrize(("entry", "message"), [
    ('{ kind = "dcmotor", resistance = 1 }', "did you mean 'dc_motor'"),
    ('{ resistance = 1 }', "name the kind of actuator"),
    ('{ kind = 3 }', "name the kind of actuator"),
    ('"elastic"', "actuator = "),
    ('[1]', "name the kind of actuator"),
    ('{ kind = "dc_motor", resistance = 1 }', "the dc_motor has no constant"),
    ('{ kind = "elastic" }', "the elastic has no stiffness"),
    ('{ kind = "dc_motor", resistence = 1, resistance = 1, constant = 1 }', "no key named 'resistence'; did you mean 'resistance'"),
    ('{ kind = "dc_motor", resistance = -1, constant = 1 }', "resistance of DCMotor must be positive"),
    ('{ kind = "dc_motor", resistance = "R", constant = 1 }', "R"),
    ('{ kind = "saturated", effort = nan }', "effort"),
    ('{ kind = "elastic", stiffness = 10 }', "needs an inertia"),
])  # fmt: skip
def test_tables_that_are_no_actuator_are_refused_where_they_stand(entry, message, tmp_path):
    (tmp_path / "arm.toml").write_text(f"[[link]]\nmass = 1\ncom = [1, 0, 0]\nactuator = {entry}\n")
    with pytest.raises(dy.ModelError, match=r"arm\.toml:4: error") as error:
        dy.load(tmp_path / "arm.toml")
    assert message in str(error.value)


@pytest.mark.parametrize(("element", "message"), [
    ('<actuator kind="motor"/>', "an actuator of kind 'motor'"),
    ('<actuator kind="dc_motor" constant="1"/>', "resistance"),
    ('<actuator kind="dc_motor" resistance="1" constant="0"/>', "constant of DCMotor must be positive"),
    ('<actuator kind="saturated" efort="3"/>', "did you mean 'effort'"),
    ('<actuator kind="saturated"/><actuator kind="saturated"/>', "given 2 times"),
])  # fmt: skip
def test_elements_that_are_no_actuator_are_refused_where_they_stand(element, message, tmp_path):
    robot = turning()
    robot.write(tmp_path / "wheel.urdf")
    text = (tmp_path / "wheel.urdf").read_text()
    (tmp_path / "wheel.urdf").write_text(re.sub("<dynamis .*/>", f"<dynamis>{element}</dynamis>", text))
    with pytest.raises(dy.ModelError, match="error: joint 'axle'") as error:
        dy.load(tmp_path / "wheel.urdf")
    assert message in str(error.value)


def elastic_arm():
    robot = dy.load("planar_2r_melchiorri")
    first, second = robot.coordinate_names
    springs = {first: dy.Elastic(800.0, 0.3, 2.0, 0.5), second: dy.Elastic(500.0, 0.1, 1.0, 0.2, backlash=0.05)}
    return robot.replace(actuators=springs)


def test_motor_torques_are_linear_in_the_motors_parameters():
    robot = elastic_arm()
    rng = np.random.default_rng(2)
    q, v, theta, theta_dot, theta_ddot = rng.uniform(-1.0, 1.0, (5, 4, 6, 2))
    theta = q + 0.1 * theta  # some of them within the play
    Y = robot.actuator_regressor(q, v, theta, theta_dot, theta_ddot)
    assert Y.shape == (4, 6, 2, 8)
    u = Y @ list(robot.actuator_parameters.values())
    for k, spring in enumerate(robot.actuators.values()):
        for at in np.ndindex(4, 6):
            x = np.array([theta[at][k], theta_dot[at][k]])
            # the command under which the rotor has just this acceleration
            np.testing.assert_allclose(
                spring.rates(x, u[at][k], q[at][k], v[at][k])[1], theta_ddot[at][k], rtol=1e-9, atol=1e-12
            )
    joints = robot.coordinate_names
    kinds = ("inertia", "viscous", "damping", "stiffness")
    assert list(robot.actuator_parameters) == [f"{joint}.motor.{kind}" for joint in joints for kind in kinds]
    np.testing.assert_array_equal(list(robot.actuator_parameters.values()), [0.3, 0.5, 2.0, 800.0, 0.1, 0.2, 1.0, 500.0])


def test_states_broadcast_in_the_motors_regressor():
    robot = elastic_arm()
    one = robot.actuator_regressor([0.1, 0.2], [0.0, 0.0], [0.3, 0.4], [1.0, 2.0], [3.0, 4.0])
    many = robot.actuator_regressor(np.full((3, 2), [0.1, 0.2]), np.zeros(2), [0.3, 0.4], [1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(many, np.broadcast_to(one, many.shape))
    with pytest.raises(dy.InputError, match="theta has shape"):
        robot.actuator_regressor([0.1, 0.2], [0.0, 0.0], [0.3], [1.0, 2.0], [3.0, 4.0])
    with pytest.raises(dy.InputError, match="no elastic joint"):
        turning().actuator_regressor([0.1], [0.0], [0.3], [1.0], [3.0])


def test_a_simulated_motion_obeys_the_motors_regressor():
    robot = turning(rotor_inertia=0.5).replace(actuators={"axle": dy.Elastic(300.0, damping=1.0, viscous=0.3)})
    motion = dy.simulate(robot, 0.5, torque=[2.0], rtol=1e-10, atol=1e-12)
    x = motion.actuator_states["axle"]
    acceleration = np.gradient(x[:, 1], motion.t, edge_order=2)
    Y = robot.actuator_regressor(motion.q, motion.v, x[:, :1], x[:, 1:], acceleration[:, None])
    np.testing.assert_allclose((Y @ list(robot.actuator_parameters.values()))[2:-2, 0], 2.0, atol=1e-3)


def test_a_sliding_joint_has_actuators_too():
    robot = block(mass=2.0).replace(actuators={"slide": dy.DCMotor(1.0, 0.1, 20.0, supply=10.0)})
    motion = dy.simulate(robot, 20.0, torque=[100.0])
    np.testing.assert_allclose(motion.v[-1], [10.0 / (0.1 * 20.0)], rtol=1e-5)


def test_kinds_by_their_names_in_files():
    assert {kind: made.__name__ for kind, made in ACTUATORS.items()} == {
        "saturated": "Saturated", "dc_motor": "DCMotor", "elastic": "Elastic",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_a_motor_on_a_link_of_a_circle_is_refused(tmp_path, suffix):
    path = tmp_path / f"robot.{suffix}"
    if suffix == "urdf":
        ring = "".join(
            f'<joint name="{p}{c}" type="fixed"><parent link="{p}"/><child link="{c}"/></joint>' for p, c in ("ab", "ba")
        )
        driven = '<joint name="j" type="continuous"><parent link="base"/><child link="l"/><dynamis rotor_inertia="1" motor_link="a"/></joint>'
        links = "".join(f'<link name="{name}"/>' for name in ("base", "l", "a", "b"))
        path.write_text(f'<robot name="r">{links}{ring}{driven}</robot>')
    else:
        ring = '[[link]]\nlink = "a"\nparent = "b"\n[[link]]\nlink = "b"\nparent = "a"\n'
        path.write_text(ring + '[[link]]\nlink = "l"\nparent = "base"\nmass = 1\nmotor_link = "a"\n')
    assert "circle" in str(dy.check(path))
    with pytest.raises(dy.ModelError, match="circle"):
        dy.load(path)

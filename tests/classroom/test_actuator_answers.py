r"""Answers with the equations of elastic joints and motors: θ_m is the motor's angle, and its equation is checked."""

import pytest
from textbook_robots import GEARED_PENDULUM

import dynamis as dy

s = dy.symbol


def arm(**actuators):
    return dy.load("planar_2r").replace(actuators=actuators).closed_form()


ROBOTS = {
    "springs": {"joint1": dy.Elastic(s("K_1"), s("B_1")), "joint2": dy.Elastic(s("K_2"), s("B_2"))},
    "spring and motor": {
        "joint1": dy.Elastic(s("K_1"), s("B_1"), s("D_1"), s("F_1")), "joint2": dy.DCMotor(s("R_2"), s("k_2"), s("r_2"), s("L_2"))},
    "one spring": {"joint2": dy.Elastic(s("K_2"), s("B_2"))},
    "numbers": {"joint1": dy.Elastic(800.0, 0.3, 2.0, 0.4), "joint2": dy.DCMotor(2.0, 0.1, -30.0, 1e-2)},
    "without currents": {"joint1": dy.Saturated(effort=10.0), "joint2": dy.DCMotor(s("R"), s("k"), s("r"))},
}  # fmt: skip


@pytest.fixture(scope="module")
def elastic():
    return arm(**ROBOTS["springs"])


@pytest.mark.parametrize("actuators", ROBOTS.values(), ids=ROBOTS)
def test_printed_equations_with_actuators_are_right(actuators):
    form = arm(**actuators)
    for letters in (None, "rocco", "melchiorri"):
        verdict = dy.check_answer(form, "equations", form.latex(letters), notation=letters)
        assert verdict.correct, verdict.report()
        assert verdict.complete
    lines = [*map(str, form.equations), *(str(x) for drive in form.actuator_equations for x in drive.equations)]
    verdict = dy.check_answer(form, "equations", "\n".join(lines))
    assert verdict.correct, verdict.report()
    assert len(verdict.findings) == len(lines)
    assert verdict.notes == verdict.unread == ()


def test_a_single_elastic_joint_needs_no_number():
    pendulum = dy.load("pendulum_from_vertical")
    name = pendulum.model.coordinates[0].name
    form = pendulum.replace(actuators={name: dy.Elastic(s("K"), s("B"))}).closed_form()
    assert dy.check_answer(form, "equations", form.latex()).complete
    torque = form.torque[0].latex()
    text = rf"{torque} + K (q - \theta) = 0 \\ B \ddot\theta + K (\theta - q) = \tau"
    assert dy.check_answer(form, "equations", text).complete


def links(form, angle=r"\theta_"):
    return [rf"{x.latex()} + K_{k} (q_{k} - {angle}{k}) = 0" for k, x in enumerate(form.torque, 1)]


MOTOR = r"B_{0} \ddot ANGLE{0} + K_{0} (ANGLE{0} - q_{0}) = TORQUE{0}"


@pytest.mark.parametrize("torque", [r"\tau_", "u_", r"\tau_m"])
@pytest.mark.parametrize("angle", [r"\theta_", r"\theta_m"])
def test_the_angle_of_the_motor_is_not_that_of_the_joint(elastic, angle, torque):
    motors = [MOTOR.replace("ANGLE", angle).replace("TORQUE", torque).format(k) for k in (1, 2)]
    text = "\n\n".join([*links(elastic, angle), *motors])
    verdict = dy.check_answer(elastic, "equations", text)
    assert verdict.correct, verdict.report()
    assert [f.entry for f in verdict.findings] == ["tau_1", "tau_2", "u_1", "u_2"]
    for slip, entry in (
        (("K_2 (q", "-K_2 (q"), "tau_2"),
        ((f"{angle}1 - q_1", f"{angle}1 + q_1"), "u_1"),
        (("B_2", "B_1"), "u_2"),
    ):
        assert [f.entry for f in dy.check_answer(elastic, "equations", text.replace(*slip)).wrong] == [entry]


def test_theta_is_the_angle_of_the_joint_where_there_is_no_q(elastic):
    text = rf"\tau_1 = {elastic.torque[0].latex('rocco')}"
    assert dy.check_answer(elastic, "equations", text, notation="rocco").correct
    assert dy.check_answer(elastic, "kinetic-energy", f"T = {elastic.kinetic_energy.latex('rocco')}", notation="rocco").correct


FORMS = {  # of the motor's equation, and whether they are right
    "solved": (r"\ddot\theta_1 = \frac{u_1 - K_1 (\theta_1 - q_1)}{B_1}", True),
    "with the torque of the joint": (r"B_1 \ddot\theta_1 + \tau_1 = u_1 \\ \tau_1 = K_1 (\theta_1 - q_1)", True),
    "with the deflection": (r"\delta_1 = \theta_1 - q_1 \\ B_1 (\ddot\delta_1 + \ddot q_1) + K_1 \delta_1 = u_1", True),
    "another joint": (r"\ddot\theta_1 = \frac{u_1 - K_1 (\theta_1 - q_2)}{B_1}", False),
    "without the torque": (r"B_1 \ddot\theta_1 + K_1 (\theta_1 - q_1) = 0", False),
    "sign of the spring": (r"B_1 \ddot\theta_1 + \tau_1 = u_1 \\ \tau_1 = K_1 (q_1 - \theta_1)", False),
}  # fmt: skip


@pytest.mark.parametrize(("text", "right"), FORMS.values(), ids=FORMS)
def test_motor_equations_are_checked_in_any_arrangement(elastic, text, right):
    assert dy.check_answer(elastic, "equations", text).correct == right


def test_the_equation_of_motion_may_stand_for_the_torque_of_the_spring(elastic):
    text = rf"{elastic.torque[0].latex()} + B_1 \ddot\theta_1 = u_1"
    assert dy.check_answer(elastic, "equations", text).correct
    (slip,) = dy.check_answer(elastic, "equations", f"{text} + m_1").wrong
    assert slip.cause == "superfluous: -m_1"


def test_motor_equations_that_are_not_given_are_listed(elastic):
    verdict = dy.check_answer(elastic, "equations", "\n\n".join(links(elastic)))
    assert verdict.correct
    assert verdict.absent == ("u_1", "u_2")
    motors = dy.check_answer(elastic, "equations", MOTOR.replace("ANGLE", r"\theta_").replace("TORQUE", "u_").format(1))
    assert motors.absent == ("tau_1", "tau_2", "u_2")


def test_one_letter_is_not_both_the_torque_of_the_joint_and_of_the_motor(elastic):
    motor = MOTOR.replace("ANGLE", r"\theta_").replace("TORQUE", r"\tau_").format(1)
    verdict = dy.check_answer(elastic, "equations", rf"{motor} \\ {elastic.torque[0].latex()} = \tau_1")
    assert [f.entry for f in verdict.wrong] == ["u_1"]
    assert verdict.notes == ("τ_1 is read as the torque u_1 of motor 1, in whose equation it is",)


def test_an_elastic_joint_is_not_one_without_actuator(elastic):
    with pytest.raises(dy.InputError, match="neither a torque nor the angle of a motor"):
        dy.check_answer(elastic, "equations", f"{elastic.torque[0].latex()} = 0")


def test_names_of_motors_are_no_parameters(elastic):
    with pytest.raises(dy.FormatError) as caught:
        dy.check_answer(elastic, "gravity", "g_2 = theta_3")
    assert "theta[" not in str(caught.value)


LINK = r"(I + m l^2) \ddot q + m g l \sin q"
WITH_ROTOR = rf"{LINK} + n^2 J \ddot q"
BEHIND_THE_GEAR = {  # and whether it is right
    "motor": (rf"\tau_m = \frac{{{WITH_ROTOR}}}{{n}}", True),
    "motor, with its number": (rf"({WITH_ROTOR})/n = \tau_{{m1}}", True),
    "motor in an equation": (rf"{WITH_ROTOR} = n \tau_m", True),
    "both": (rf"\tau = {WITH_ROTOR} \\ \tau_m = \tau/n", True),
    "both, the relation first": (rf"\tau = n \tau_m \\ {WITH_ROTOR} = \tau", True),
    "torque on the link": (rf"\tau_m = n J \ddot q + \tau/n \\ \tau = {LINK}", True),
    "torque on the link, by another name": (rf"\tau_m = n J \ddot q + T_L/n \\ T_L = {LINK}", True),
    "joint": (rf"\tau = {WITH_ROTOR}", True),
    "motor without the ratio": (rf"\tau_m = {WITH_ROTOR}", False),
    "motor without the ratio, on the right": (rf"{WITH_ROTOR} = \tau_m", False),
    "joint with the ratio": (rf"\tau = ({WITH_ROTOR})/n", False),
    "the rotor's equation": (rf"J n \ddot q = \tau_m - \tau/n \\ \tau = {LINK}", True),
    "the rotor's equation, with its angle": (
        rf"\ddot\theta_m = n \ddot q \\ J \ddot\theta_m = \tau_m - \tau/n \\ {LINK} = \tau",
        True,
    ),
    "torque of the gear": (rf"{LINK} = \tau = n (\tau_m - J n \ddot q)", True),
    "two values of the motor": (rf"\tau_m = \tau/n \\ \tau = {LINK} \\ \tau_m = ({WITH_ROTOR} + I \ddot q)/n", False),
    "the rotor's equation with a wrong sign": (rf"J n \ddot q = \tau_m + \tau/n \\ {LINK} = \tau", False),
    "the rotor's equation with a wrong ratio": (rf"J n \ddot q = \tau_m - n \tau \\ {LINK} = \tau", False),
    "ratio of the torque inverted": (rf"\tau = \tau_m/n \\ \tau = {WITH_ROTOR}", False),
    "rotor without the ratio": (rf"\tau_m = J \ddot q + \tau/n \\ \tau = {LINK}", False),
}


@pytest.mark.parametrize(("text", "right"), BEHIND_THE_GEAR.values(), ids=BEHIND_THE_GEAR)
def test_the_torque_of_a_motor_behind_a_gear_is_that_of_the_joint_over_the_ratio(text, right):
    verdict = dy.check_answer(dy.load(GEARED_PENDULUM).closed_form(), "equations", text)
    assert verdict.correct == right, verdict.report()


FRICTION_OF_MOTOR = {  # and whether it is right, with the friction d q̇ of the joint
    "on the motor": (rf"\tau_m = n J \ddot q + d \dot q/n + \tau/n \\ \tau = {LINK}", True),
    "on the motor, the rotor on the joint": (rf"\tau_m = \tau/n + d \dot q/n \\ \tau = {WITH_ROTOR}", True),
    "in the motor's equation": (rf"J n \ddot q + d \dot q/n = \tau_m - \tau/n \\ {LINK} = \tau", True),
    "twice": (rf"\tau_m = \tau/n + d \dot q/n \\ \tau = {WITH_ROTOR} + d \dot q", False),
    "without the ratio": (rf"\tau_m = \tau/n + d \dot q \\ \tau = {WITH_ROTOR}", False),
}


@pytest.mark.parametrize(("text", "right"), FRICTION_OF_MOTOR.values(), ids=FRICTION_OF_MOTOR)
def test_friction_may_act_on_the_motor_behind_a_gear(text, right):
    robot = GEARED_PENDULUM.replace('J = "symbol"', 'J = "symbol"\nd = "symbol"') + 'viscous = "d"\n'
    verdict = dy.check_answer(dy.load(robot).closed_form(), "equations", text)
    assert verdict.correct == right, verdict.report()


def test_friction_of_a_motor_alone_is_no_contradiction():
    robot = GEARED_PENDULUM.replace('J = "symbol"', 'J = "symbol"\nd = "symbol"') + 'viscous = "d"\n'
    assert dy.check_answer(dy.load(robot).closed_form(), "equations", r"\tau_m = \tau/n + d \dot q/n").findings == ()


def test_a_forgotten_gear_ratio_is_named_once():
    form = dy.load(GEARED_PENDULUM).closed_form()
    verdict = dy.check_answer(form, "equations", rf"\tau_m = {WITH_ROTOR}")
    assert verdict.wrong[0].cause == "a factor too many in every term: n (in the form n*tau_m = …)"
    assert verdict.notes == ("tau_m is read as the torque of the motor: tau_1 = n*tau_m",)
    (other,) = dy.check_answer(form, "equations", rf"\tau = ({WITH_ROTOR})/n").wrong
    assert other.cause == "a divisor too many in every term: n"


def test_an_angle_of_a_motor_over_its_ratio_is_that_of_the_joint():
    form = dy.load(GEARED_PENDULUM).closed_form()
    text = r"\theta_m = n q, (J + {}) \ddot\theta_m + \frac{{m g l}}{{n}} \sin\frac{{\theta_m}}{{n}} = \tau_m"
    assert str(dy.check_answer(form, "equations", text.format(r"\frac{m l^2 + I}{n^2}")).findings[0]) == "tau_1: right"
    (wrong,) = dy.check_answer(form, "equations", text.format(r"\frac{m l^2}{n} + \frac{I}{n^2}")).wrong
    assert wrong.hint == "a factor too many in m*l^2*n*q'' (in the form n*tau_m = …)"


def test_a_gear_ratio_without_a_rotor_counts():
    text = GEARED_PENDULUM.replace('J = "symbol"\n', "").replace('rotor_inertia = "J"\n', "")
    for ratio, written in (('"n"', "n"), ("50", "50")):
        form = dy.load(text.replace('= "n"', f"= {ratio}")).closed_form()
        assert dy.check_answer(form, "equations", rf"\tau_m = ({LINK})/{written}").correct
        assert not dy.check_answer(form, "equations", rf"\tau_m = {LINK}").correct


def test_a_relation_of_torques_alone_is_nothing_to_compare():
    verdict = dy.check_answer(dy.load(GEARED_PENDULUM).closed_form(), "equations", r"\tau_m = n J \ddot q + \tau/n")
    assert verdict.findings == ()
    assert verdict.absent == ("tau_1",)


@pytest.mark.parametrize("name", ["X", "Q", r"\tau_{load}"])
def test_another_name_that_is_read_as_a_torque_is_told(name):
    verdict = dy.check_answer(dy.load(GEARED_PENDULUM).closed_form(), "equations", f"{name} = {WITH_ROTOR}")
    assert verdict.correct
    assert verdict.notes[0].endswith("is read as the torque tau_1")


MISTAKES = {  # of equations of an elastic joint, with the equation and the cause
    "no damping on the link": (
        r"{link} + K_1 (q_1 - \theta_1) = 0", "tau_1", "missing terms: D_1*(q_1' - theta_m1') (in the form 0 = …)"),
    "no damping on the motor": (
        r"B_1 \ddot\theta_1 + K_1 (\theta_1 - q_1) = u_1", "u_1", "missing terms: -D_1*(q_1' - theta_m1')"),
    "sign of the spring on the link": (
        r"{link} - K_1 (q_1 - \theta_1) + D_1 (\dot q_1 - \dot\theta_1) = 0", "tau_1",
        "the sign of a product: -K_1*(q_1 - theta_m1) should be K_1*(q_1 - theta_m1) (in the form 0 = …)"),
    "sign of the spring on the motor": (
        r"B_1 \ddot\theta_1 = u_1 + K_1 (\theta_1 - q_1) - D_1 (\dot\theta_1 - \dot q_1)", "u_1",
        "the sign of a product: K_1*(q_1 - theta_m1) should be -K_1*(q_1 - theta_m1)"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "entry", "cause"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_equations_of_elastic_joints_are_found_as_they_are_written(text, entry, cause):
    form = arm(joint1=dy.Elastic(s("K_1"), s("B_1"), s("D_1")))
    (wrong,) = dy.check_answer(form, "equations", text.replace("{link}", form.torque[0].latex())).wrong
    assert (wrong.entry, wrong.cause) == (entry, cause)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (r"L \dot i_1 + k r \dot q_1 = u_1", "missing: R*i_1"),
        (r"{link} = k i_1", "a missing factor: r in k*r*i_1 (in the form 0 = …)"),
        (r"{link} = -k r i_1", "the sign of a product: k*r*i_1 should be -k*r*i_1 (in the form 0 = …)"),
    ],
)
def test_mistakes_in_equations_of_motors_are_found_as_they_are_written(text, cause):
    form = arm(joint1=dy.DCMotor(s("R"), s("k"), s("r"), s("L")))
    (wrong,) = dy.check_answer(form, "equations", text.replace("{link}", form.torque[0].latex())).wrong
    assert wrong.cause == cause


def test_the_equation_of_a_rotor_has_the_force_of_a_slide():
    slide = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
m = "symbol"
g = "symbol"
J = "symbol"
[[link]]
type = "prismatic"
axis = [0, 0, 1]
mass = "m"
rotor_inertia = "J"
gear_ratio = 50
"""
    form = dy.load(slide).closed_form()
    for ratio, right in (("1/50", True), ("50", False)):
        text = rf"F = m \ddot q + m g \\ 50 J \ddot q = \tau_m - {ratio} F"
        assert dy.check_answer(form, "equations", text).correct == right


PENDULUM = r"U = m g l \sin q"


@pytest.fixture(scope="module")
def elastic_pendulum():
    robot = dy.load("pendulum_from_horizontal")
    drive = dy.Elastic(dy.symbol("K"), inertia=dy.symbol("B"))
    return robot.replace(actuators={robot.joint_names[0]: drive}).closed_form()


@pytest.mark.parametrize(
    ("name", "text", "right"),
    [
        ("potential-energy", PENDULUM, True),
        ("potential-energy", r"U = m g l \sin\theta", True),
        ("potential-energy", PENDULUM + r" + \frac12 K (q - \theta)^2", True),
        ("potential-energy", PENDULUM + r" + \frac12 K (\theta_m - q)^2 + U_0", True),
        ("potential-energy", PENDULUM + r" + K (q - \theta)^2", False),
        ("potential-energy", PENDULUM + r" - \frac12 K (q - \theta)^2", False),
        ("kinetic-energy", r"T = \frac12 I \dot q^2", True),
        ("kinetic-energy", r"T = \frac12 I \dot q^2 + \frac12 B \dot\theta^2", True),
        ("kinetic-energy", r"T = \frac12 I \dot q^2 + \frac12 B \dot\theta_{m1}^2", True),
        ("kinetic-energy", r"T = \frac12 I \dot q^2 + B \dot\theta^2", False),
    ],
)
def test_energies_with_motor_variables_are_those_of_links_rotors_and_springs(elastic_pendulum, name, text, right):
    verdict = dy.check_answer(elastic_pendulum, name, text)
    assert verdict.correct == right, verdict.report()
    moves = "theta" in text and "sin\\theta" not in text
    assert ("of elastic joints, as the answer has motor variables" in verdict.report()) == moves


def test_the_energy_of_a_link_has_no_motor_variables(elastic_pendulum):
    text = PENDULUM + r" + \frac12 K (q - \theta)^2"
    assert not dy.check_answer(elastic_pendulum, "potential-energy-of-link", text, body=1).correct


def test_the_energy_of_one_spring_beside_a_stiff_joint():
    arm = dy.load("planar_2r").replace(actuators={"joint2": dy.Elastic(dy.symbol("K"), inertia=dy.symbol("B"))}).closed_form()
    text = r"U = m_1 g l_1 s_1 + m_2 g (a_1 s_1 + l_2 s_{12}) + {} K (q_2 - \theta_2)^2"
    assert dy.check_answer(arm, "potential-energy", text.replace("{}", r"\frac12")).correct
    assert not dy.check_answer(arm, "potential-energy", text.replace("{}", "")).correct


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("equations", r"J \ddot\theta_m + \frac1n ({LINK}) = \tau_m"),
        ("equations", r"n J \ddot\theta_{m1} + {LINK} = \tau"),
        ("equations", r"J \dot\omega_m = \tau_m - \tau/n \\ {LINK} = \tau"),
        ("kinetic-energy", r"T = \frac12 J \dot\theta_m^2 + \frac12 (I + m l^2) \dot q^2"),
        ("kinetic-energy", r"T = \frac12 J \omega_m^2 + \frac12 (I + m l^2) \dot q^2"),
    ],
)
def test_the_angle_of_a_motor_behind_a_gear_is_that_of_the_joint_times_the_ratio(name, text):
    form = dy.load(GEARED_PENDULUM).closed_form()
    verdict = dy.check_answer(form, name, text.replace("{LINK}", LINK))
    assert verdict.correct, verdict.report()
    assert "angles and rates of motors are read by theta_m1 = n*q_1" in verdict.notes
    assert not dy.check_answer(form, name, text.replace("{LINK}", LINK).replace("J", "2 J")).correct


def test_the_angle_of_a_motor_may_be_defined():
    form = dy.load(GEARED_PENDULUM).closed_form()
    text = rf"\theta_m = n q \\ J \ddot\theta_m = \tau_m - \tau/n \\ {LINK} = \tau"
    assert "angles" not in dy.check_answer(form, "equations", text).report()

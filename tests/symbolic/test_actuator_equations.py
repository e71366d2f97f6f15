"""The equations of actuators in closed form: right, in letters of their own, and in every format of the derivation."""

import numpy as np
import pytest
from balanced_latex import is_balanced
from small_machines import block, turning

import dynamis as dy
from dynamis.scalar import evaluate
from dynamis.symbolic.actuator_equations import motor_variable


def arm(**actuators):
    return dy.load("planar_2r").replace(actuators=actuators)


def symbolic_arm():
    s = dy.symbol
    spring = dy.Elastic(s("K_1"), s("B_1"), s("D_1"), s("F_1"))
    motor = dy.DCMotor(s("R_2"), s("k_2"), s("r_2"), s("L_2"))
    return arm(joint1=spring, joint2=motor)


def test_equations_of_a_spring_and_of_a_motor_in_symbols():
    elastic, motor = symbolic_arm().closed_form().actuator_equations
    assert [str(x) for x in elastic.equations] == [
        "B_1*theta_m1'' + F_1*theta_m1' + D_1*(theta_m1' - q_1') + K_1*(theta_m1 - q_1) = u_1",
        "tau_1 = K_1*(theta_m1 - q_1) + D_1*(theta_m1' - q_1')",
    ]
    assert [str(x) for x in motor.equations] == ["L_2*i_2' = u_2 - R_2*i_2 - k_2*r_2*q_2'", "tau_2 = k_2*r_2*i_2"]
    assert motor.equations[0].latex() == r"L_2 \dot{\imath}_2 = u_2 - R_2 i_2 - k_2 r_2 \dot{q}_2"
    assert elastic.equations[1].latex("rocco").startswith(r"\tau_1 = K_1 (\theta_{m1} - \vartheta_1)")
    assert (elastic.coordinate, elastic.number, elastic.remarks) == ("joint1", 1, ())


def test_a_motor_without_inductance_has_no_current_and_names_its_back_emf():
    s = dy.symbol
    form = arm(joint2=dy.DCMotor(s("R"), s("k"), s("r"))).closed_form()
    (motor,) = form.actuator_equations
    assert len(motor.equations) == 1
    gain, friction = form.algebra.of_node(s("k") * s("r") / s("R")), form.algebra.of_node((s("k") * s("r")) ** 2 / s("R"))
    u, v = (form.algebra.of_node(x) for x in (motor_variable("u", 2), form.v[1]))
    assert motor.equations[0].right == gain * u - friction * v
    assert "acts as viscous friction, (k^2*r^2)/(R) N m s/rad" in str(motor)


@pytest.mark.parametrize("actuator", [
    dy.DCMotor(2.0, 0.1, -30.0, 1e-2),
    dy.DCMotor(2.0, 0.1, 30.0),
    dy.Elastic(800.0, 0.3, 2.0, 0.4),
    dy.Elastic(800.0, 0.3),
    dy.Saturated(),
], ids=repr)  # fmt: skip
def test_the_equations_hold_for_what_the_actuator_does(actuator):
    form = arm(joint2=actuator).closed_form()
    (equations,) = form.actuator_equations
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v, u, *x = rng.uniform(-1.0, 1.0, 3 + actuator.size)
        x = np.array(x)
        rates, tau = actuator.rates(x, u, q, v), actuator.torque(x, u, q, v)
        values = {form.q[1]: q, form.v[1]: v, form.tau[1]: tau, motor_variable("u", 2): u}
        if isinstance(actuator, dy.Elastic):
            values |= {
                motor_variable("theta", 2): x[0],
                motor_variable("theta", 2, 1): x[1],
                motor_variable("theta", 2, 2): rates[1],
            }
        elif actuator.size:
            values |= {motor_variable("i", 2): x[0], motor_variable("i", 2, 1): rates[0]}
        for relation in equations.equations:
            difference = relation.left.node() - relation.right.node()
            assert abs(float(evaluate(difference, values))) < 1e-11


def test_numbers_are_numbers_and_a_negative_gear_has_one_sign():
    (motor,) = arm(joint1=dy.DCMotor(2.0, 0.1, -30.0, 0.25)).closed_form().actuator_equations
    assert [str(x) for x in motor.equations] == ["1/4*i_1' = u_1 - 2*i_1 + 3*q_1'", "tau_1 = -3*i_1"]


def test_limits_dead_zones_and_play_are_said_in_words():
    limits = dy.Saturated(50.0, 3.0, 0.25, 0.75, 0.9)
    play = dy.Elastic(800.0, 0.3, backlash=0.05)
    one, two = arm(joint1=limits, joint2=play).closed_form().actuator_equations
    assert list(map(str, one.remarks)) == [
        "Within ± 1/4 N m the command has no effect (dead zone); beyond, the excess acts.",
        "The command saturates at ± 50 N m.",
        "In the direction of motion there is no torque above 3 rad/s; the limit decreases to zero from 3/4 of that speed.",
        "This holds while the motor drives the joint; while it is back-driven, 0.9 is replaced by 1 / 0.9.",
    ]
    assert str(one.equations[0]) == "tau_1 = 0.9*u_1"
    assert "Backlash 0.05 rad" in str(two)
    (supply,) = arm(joint1=dy.DCMotor(1.0, 1.0, inductance=1.0, supply=24.0)).closed_form().actuator_equations
    assert "saturates at ± 24 V" in str(supply)
    (sliding,) = block().replace(actuators={"slide": dy.Saturated(5.0)}).closed_form().actuator_equations
    assert str(sliding) == "tau = u\nThe command saturates at ± 5 N."


def test_a_single_joint_needs_no_index():
    (motor,) = turning().replace(actuators={"axle": dy.DCMotor(2.0, 3.0, inductance=0.5)}).closed_form().actuator_equations
    assert [str(x) for x in motor.equations] == ["1/2*i' = u - 2*i - 3*q'", "tau = 3*i"]
    (spring,) = turning().replace(actuators={"axle": dy.Elastic(100.0, 2.0)}).closed_form().actuator_equations
    assert str(spring.equations[0]) == "2*theta_m'' + 100*(theta_m - q) = u"


def test_letters_of_motors_give_way_to_the_robots_own():
    s = dy.symbol
    form = arm(joint1=dy.Elastic(s("theta_m1"), s("u_2")), joint2=dy.DCMotor(s("i_1"), s("k"), inductance=s("L"))).closed_form()
    spring, motor = form.actuator_equations
    assert str(spring.equations[0]) == "u_2*phi_m1'' + theta_m1*(phi_m1 - q_1) = u_c1"
    assert str(motor.equations[0]) == "L*i_a2' = u_c2 - i_1*i_a2 - k*q_2'"


def test_the_rotor_of_an_elastic_joint_is_in_the_motors_equation_alone():
    J, r = dy.symbol("J"), dy.symbol("r")
    d = turning().description
    d.joint("axle").drive.rotor_inertia, d.joint("axle").drive.gear_ratio = J, r
    rigid = dy.Robot(d)
    soft = rigid.replace(actuators={"axle": dy.Elastic(dy.symbol("K"))})
    rigid_form, form = rigid.closed_form(), soft.closed_form()
    assert not rigid_form.M[0, 0].diff(J).is_zero
    assert str(form.M[0, 0]) == "2"
    assert str(form.equations[0]) == "2*q'' = tau"
    (spring,) = form.actuator_equations
    assert spring.equations[0].left.diff(J) == form.algebra.of_node(r * r * motor_variable("theta", 1, 2))
    assert not any("J" in str(x) for x in form.parameters)


def test_the_whole_in_latex_has_the_actuators_too():
    latex = symbolic_arm().closed_form().latex()
    assert is_balanced(latex)
    assert latex.count(r"\\") == 5  # six lines: two of motion, two of the spring, two of the motor
    assert r"\tau_2 = k_2 r_2 i_2" in latex


def test_every_format_of_the_derivation_has_a_section_on_actuators_where_there_are_some():
    document = symbolic_arm().closed_form().derivation(recursions=False)
    assert [section.title for section in document.sections].count("Actuators") == 1
    for text in (document.latex(), document.markdown(), document.html(), str(document.notebook())):
        assert "Actuators" in text
        assert "3 equations of second order" in text
    assert is_balanced(document.latex())
    assert r"L_2 \dot{\imath}_2 = u_2 - R_2 i_2" in document.markdown()
    plain = dy.load("planar_2r").closed_form().derivation(recursions=False)
    assert "Actuators" not in plain.markdown()


def test_robots_without_actuators_have_no_such_equations_and_no_such_symbols():
    form = dy.load("planar_2r").closed_form()
    assert form.actuator_equations == []
    assert not any("theta" in str(atom.node) for atom in form.algebra.ring.atoms if atom.node is not None)


def test_what_is_too_large_to_expand_still_has_its_motors():
    robot = dy.load("ur5e")
    name = robot.coordinate_names[0]
    form = robot.replace(actuators={name: dy.Elastic(1e4, 0.5)}).closed_form(terms=10)
    assert not form.expanded
    assert "theta_m1" in str(form.actuator_equations[0])


def test_motor_variables_have_names_of_their_own_in_sympy():
    motors = {
        "joint1": dy.Elastic(dy.symbol("K_1"), dy.symbol("B_1")),
        "joint2": dy.DCMotor(dy.symbol("R_2"), dy.symbol("k_2"), dy.symbol("r_2"), dy.symbol("L_2")),
    }
    form = dy.load("planar_2r").replace(actuators=motors).closed_form()
    spring, motor = (drive.equations[0] for drive in form.actuator_equations)
    assert {"theta_m1", "ddtheta_m1", "q1", "u_1"} <= {
        str(s) for x in (spring.left, spring.right) for s in x.sympy().free_symbols
    }
    assert {"i_2", "di_2", "qd2", "u_2"} <= {str(s) for x in (motor.left, motor.right) for s in x.sympy().free_symbols}
    text = "\n".join(f"{x.left.sympy()} = {x.right.sympy()}" for drive in form.actuator_equations for x in drive.equations)
    verdict = dy.check_answer(form, "equations", text)
    assert verdict.correct, verdict.report()

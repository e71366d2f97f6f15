r"""Equations of motion in state-space form: names that the answer defines as velocities, \omega = \dot\theta, and their rates."""

import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def pendulum():
    return dy.load("pendulum_from_vertical").closed_form()


TORQUE = r"I\ddot\theta + d\dot\theta + m g L \sin\theta"
OMEGA = r"\frac{\tau - m g L \sin\theta - d\omega}{I}"
STATE = r"\frac{\tau - m g L \sin x_1 - d x_2}{I}"
PENDULUM = {  # for each form: a right answer and a wrong one
    "the rate of an angular velocity": (
        rf"\dot\theta = \omega \\ \dot\omega = {OMEGA}",
        rf"\dot\theta = \omega \\ \dot\omega = {TORQUE}",
    ),
    "a derivative as a fraction": (rf"\frac{{d\omega}}{{dt}} = {OMEGA}", rf"\frac{{d\omega}}{{dt}} = {TORQUE}"),
    "a named acceleration": (rf"\alpha = {OMEGA}, \alpha = \ddot\theta", rf"\alpha = {TORQUE}, \alpha = \ddot\theta"),
    "a chain with the acceleration": (rf"\alpha = \ddot\theta = {OMEGA}", rf"\alpha = \ddot\theta = {TORQUE}"),
    "an acceleration named on the right": (rf"\ddot\theta = \alpha, \alpha = {OMEGA}", rf"\ddot\theta = \alpha, \alpha = {TORQUE}"),
    "numbered states": (
        rf"x_1 = \theta, x_2 = \dot\theta \\ \dot x_1 = x_2 \\ \dot x_2 = {STATE}",
        rf"x_1 = \theta, x_2 = \dot\theta \\ \dot x_1 = -x_2 \\ \dot x_2 = {STATE}",
    ),
    "a state that its equation defines": (
        rf"x_1 = \theta \\ \dot x_1 = x_2 \\ \dot x_2 = {STATE}",
        rf"x_1 = \theta \\ \dot x_1 = 2 x_2 \\ \dot x_2 = {STATE}, x_2 = \dot\theta",
    ),
    "a vector of states": (
        rf"x = [\theta; \dot\theta], \dot x = [x_2; {STATE}]",
        rf"x = [\theta; \dot\theta], \dot x = [x_1; {STATE}]",
    ),
    "two vectors": (
        rf"\begin{{bmatrix}}\dot\theta\\ \dot\omega\end{{bmatrix}} = \begin{{bmatrix}}\omega\\ {OMEGA}\end{{bmatrix}}",
        rf"\begin{{bmatrix}}\dot\theta\\ \dot\omega\end{{bmatrix}} = \begin{{bmatrix}}2\omega\\ {OMEGA}\end{{bmatrix}}",
    ),
    "a momentum": (
        r"p = I\dot\theta \\ \dot\theta = \frac{p}{I} \\ \dot p = \tau - m g L\sin\theta - \frac{d}{I} p",
        rf"p = I\dot\theta \\ \dot p = {TORQUE}",
    ),
    "a velocity with another factor": (rf"\omega = \dot\theta, \dot\omega = {OMEGA}", rf"\dot\theta = 2\omega \\ \dot\omega = {OMEGA}"),
    "without a torque": (
        r"\omega = \dot\theta, \dot\omega = -\frac{m g L}{I}\sin\theta - \frac dI\omega",
        r"\omega = \dot\theta, \dot\omega = \frac{m g L}{I}\sin\theta - \frac dI\omega",
    ),
    "the same equation in two forms": (
        rf"\tau = I\dot\omega + d\omega + m g L\sin\theta, \dot\omega = {OMEGA}",
        rf"\tau = I\dot\omega + d\omega + m g L\sin\theta, \dot\omega = {OMEGA.replace('-', '+', 1)}",
    ),
    "an acceleration times the inertia": (
        r"\dot\omega I = \tau - m g L \sin\theta - d \omega",
        r"\dot\omega I = \tau - m g L \cos\theta - d \omega",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), PENDULUM.values(), ids=PENDULUM)
def test_state_equations_of_a_pendulum_are_compared(pendulum, right, wrong):
    verdict = dy.check_answer(pendulum, "equations", right)
    assert verdict.correct, verdict.report()
    assert [f.entry for f in verdict.findings] == ["tau_1"]
    assert verdict.notes == ()
    verdict = dy.check_answer(pendulum, "equations", wrong)
    assert not verdict.correct


def test_a_name_without_another_meaning_may_be_that_of_the_torque(pendulum):
    for name in (r"\alpha", "Q", r"\mathcal T", "M_1"):
        assert dy.check_answer(pendulum, "equations", rf"{name} = {TORQUE}").correct


@pytest.mark.parametrize("name", [r"\dot\beta", r"\dot v_c"])
def test_the_rate_of_a_name_without_meaning_is_no_torque(pendulum, name):
    with pytest.raises(dy.InputError, match=r"is neither a torque nor defined: define it, as in .* = \\dot q"):
        dy.check_answer(pendulum, "equations", rf"{name} = {TORQUE}")


def test_a_name_whose_value_holds_a_torque_is_none(pendulum):
    with pytest.raises(dy.InputError, match=r"alpha is neither a torque nor defined: define it, as in alpha = \\ddot q,"):
        dy.check_answer(pendulum, "equations", rf"\alpha = {OMEGA}")


ROW = r"\frac{\tau_2 - m_2 a_1 l_2 (c_2\dot v_1+s_2 v_1^2) - m_2 g l_2 c_{12}}{m_2 l_2^2+I_2} - \dot v_1"
POINT = r"x_2 = a_1 c_1 + l_2 c_{12} \\ y_2 = a_1 s_1 + l_2 s_{12}"
ARM = {
    "velocities by their numbers": (rf"\dot q_1 = v_1 \\ \dot q_2 = v_2 \\ \dot v_2 = {ROW}", rf"\dot v_2 = {ROW.replace('s_2', 'c_2')}"),
    "velocities that are defined": (
        rf"\dot v_2 = {ROW}, v_1 = \dot q_1, v_2 = \dot q_2",
        r"\dot\omega_2 = (m_2 l_2^2+I_2)(\ddot q_1+\ddot q_2) + m_2 a_1 l_2 (c_2 \ddot q_1 + s_2 \dot q_1^2) + m_2 g l_2 c_{12}, \omega_2 = \dot q_2",
    ),
    "an absolute angular velocity": (
        rf"\omega_2 = \dot q_1 + \dot q_2 \\ \dot\omega_2 = {ROW[:-10]}",
        rf"\omega_2 = \dot q_2 \\ \dot\omega_2 = {ROW[:-10]}",
    ),
    "accelerations of a point": (
        rf"{POINT} \\ \ddot x_2 = -a_1 (s_1 \ddot q_1 + c_1\dot q_1^2) - l_2 s_{{12}}(\ddot q_1+\ddot q_2) - l_2 c_{{12}}(\dot q_1+\dot q_2)^2"
        r"\\ \tau_2 = I_2(\ddot q_1+\ddot q_2) - m_2 l_2 s_{12}\ddot x_2 + m_2 l_2 c_{12}(\ddot y_2 + g)",
        rf"{POINT} \\ \ddot x_2 = a_1 (s_1 \ddot q_1 + c_1\dot q_1^2) - l_2 s_{{12}}(\ddot q_1+\ddot q_2) - l_2 c_{{12}}(\dot q_1+\dot q_2)^2"
        r"\\ \tau_2 = I_2(\ddot q_1+\ddot q_2) - m_2 l_2 s_{12}\ddot x_2 + m_2 l_2 c_{12}(\ddot y_2 + g)",
    ),
    "a momentum": (
        r"p = (m_2l_2^2+I_2)(\dot q_1+\dot q_2) + m_2a_1l_2c_2\dot q_1 \\ \dot p = \tau_2 - m_2 g l_2 c_{12} - m_2 a_1 l_2 s_2\dot q_1(\dot q_1+\dot q_2)",
        r"p = (m_2l_2^2+I_2)(\dot q_1+\dot q_2) + m_2a_1l_2c_2\dot q_1 \\ \dot p = \tau_2 - m_2 g l_2 c_{12}",
    ),
    "a vector of states": (
        rf"x = [q_1; q_2; \dot q_1; \dot q_2] \\ \dot x_1 = x_3 \\ \dot x_4 = {ROW.replace('v_1^2', 'x_3^2').replace('v_1', 'x_3')}",
        rf"x = [q_1; q_2; \dot q_1; \dot q_2] \\ \dot x_1 = x_4 \\ \dot x_4 = {ROW.replace('v_1^2', 'x_3^2').replace('v_1', 'x_3')}",
    ),
    "other letters of torques": (
        r"T_2 = (m_2 l_2^2+I_2)(\ddot q_1+\ddot q_2) + m_2 a_1 l_2 (c_2 \ddot q_1 + s_2 \dot q_1^2) + m_2 g l_2 c_{12}",
        r"M_2 = (m_2 l_2^2+I_2)(\ddot q_1+\ddot q_2) + m_2 a_1 l_2 (c_2 \ddot q_1 - s_2 \dot q_1^2) + m_2 g l_2 c_{12}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), ARM.values(), ids=ARM)
def test_state_equations_of_an_arm_are_compared(arm, right, wrong):
    right, wrong = (
        text.replace(r"\dot v_1", r"\ddot q_1").replace("v_1", r"\dot q_1") if "v_1 =" not in text else text
        for text in (right, wrong)
    )
    verdict = dy.check_answer(arm, "equations", right)
    assert verdict.correct, verdict.report()
    assert not dy.check_answer(arm, "equations", wrong).correct


def test_a_rate_without_definition_beside_a_torque_is_quoted(arm):
    text = rf"\tau_1 = {arm.torque[0].latex()} \\ \dot\omega_2 = {arm.torque[1].latex()}"
    verdict = dy.check_answer(arm, "equations", text)
    assert not verdict.correct
    assert len(verdict.unread) == 1


def test_a_contradiction_to_a_definition_is_a_finding(pendulum):
    verdict = dy.check_answer(pendulum, "equations", PENDULUM["numbered states"][1])
    (wrong,) = verdict.wrong
    assert (wrong.entry, wrong.correct) == ("x'_1", "q'")
    assert "contradicts the definitions of the answer" in wrong.text(hint=True)


CART = {
    "one equation": (
        r"\dot\omega = \frac{g\sin\theta - \cos\theta \ddot x}{l}, \omega=\dot\theta",
        r"\dot\omega = m l^2\ddot\theta + m l \ddot x\cos\theta - m g l\sin\theta, \omega=\dot\theta",
    ),
    "solved for both accelerations": (
        r"\dot x = v \\ \dot\theta = \omega \\ \dot v = \frac{F + m l\omega^2\sin\theta - m g\sin\theta\cos\theta}{M + m\sin^2\theta}"
        r"\\ \dot\omega = \frac{(M+m)g\sin\theta - \cos\theta (F + m l \omega^2\sin\theta)}{l(M+m\sin^2\theta)}",
        r"\dot x = v \\ \dot\theta = \omega \\ \dot v = \frac{F - m l\omega^2\sin\theta - m g\sin\theta\cos\theta}{M + m\sin^2\theta}"
        r"\\ \dot\omega = \frac{(M+m)g\sin\theta - \cos\theta (F + m l \omega^2\sin\theta)}{l(M+m\sin^2\theta)}",
    ),
    "named accelerations": (
        r"a = \ddot x, \alpha=\ddot\theta, \alpha = \frac{g\sin\theta - a\cos\theta}{l}",
        r"a = (M+m)\ddot x + m l\ddot\theta\cos\theta - m l\dot\theta^2\sin\theta, a=\ddot x",
    ),
    "momenta": (
        r"p = m l^2\dot\theta + m l\dot x\cos\theta \\ \dot p = \tau_\theta + m g l\sin\theta - m l\dot x\dot\theta\sin\theta",
        r"p = m l^2\dot\theta + m l\dot x\cos\theta \\ \dot p = \tau_\theta + m g l\sin\theta",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), CART.values(), ids=CART)
def test_state_equations_of_a_cart_with_a_pendulum_are_compared(cart_pole, right, wrong):
    verdict = dy.check_answer(cart_pole, "equations", right)
    assert verdict.correct, verdict.report()
    assert not dy.check_answer(cart_pole, "equations", wrong).correct


@pytest.mark.parametrize("name", [r"\omega_1", "v_2", r"\dot\omega_1", r"\dot v_2", r"\ddot q_2"])
def test_a_velocity_or_an_acceleration_is_never_the_name_of_a_torque(arm, name):
    try:
        correct = dy.check_answer(arm, "equations", f"{name} = {arm.torque[int(name[-1]) - 1].latex()}").correct
    except dy.InputError:
        correct = False
    assert not correct


STATES = r"x_1 = q_1, x_2 = q_2, x_3 = \dot q_1, x_4 = \dot q_2"
KINEMATIC = {
    "states": STATES,
    "states and their rates": rf"{STATES} \\ \dot x_1 = x_3 \\ \dot x_2 = x_4",
    "two states": r"x_1 = q_1, x_2 = \dot q_1 \\ \dot x_1 = x_2",
    "a vector": r"x = [q_1; q_2; \dot q_1; \dot q_2] \\ \dot x_1 = x_3",
    "rates": r"\dot q_1 = x_3 \\ \dot q_2 = x_4",
    "absolute angles": r"\phi_2 = q_1 + q_2, \omega_2 = \dot q_1 + \dot q_2",
}


@pytest.mark.parametrize("text", KINEMATIC.values(), ids=KINEMATIC)
def test_definitions_of_the_state_alone_are_no_wrong_equations(arm, text):
    verdict = dy.check_answer(arm, "equations", text)
    assert not verdict.correct
    assert verdict.wrong == ()
    assert verdict.absent == ("tau_1", "tau_2")


def test_wrong_rates_of_states_alone_are_a_contradiction(arm):
    text = rf"{STATES} \\ \dot x_1 = x_3 \\ \dot x_2 = x_3"
    assert [f.entry for f in dy.check_answer(arm, "equations", text).wrong] == ["x'_2"]


def test_a_part_of_the_state_equations_is_compared_as_far_as_given(arm):
    row = ROW.replace("v_1", "x_3").replace(r"\dot x_3", r"\ddot q_1")
    verdict = dy.check_answer(arm, "equations", rf"{STATES} \\ \dot x_4 = {row}")
    assert verdict.correct, verdict.report()
    assert verdict.absent == ("tau_1",)

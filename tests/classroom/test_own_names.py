r"""Names of an answer's own: abbreviations, coordinates called by the names of their joints, time derivatives."""

import pytest
from textbook_robots import CART_POLE, RP_ARM

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.mark.parametrize(
    "text",
    [
        r"c_2 = \cos(q_1 + q_2) \\ g_2 = m_2 g l_2 c_2",
        r"g_2 = m_2 g l_2 c_2, \quad c_2 = \cos(q_1 + q_2)",
        r"c_2 = l_2 \cos(q_1 + q_2) \\ g_2 = m_2 g c_2",
        r"\phi = q_1 + q_2 \\ s_{1} = \sin(\phi + \pi/2) \\ g_2 = m_2 g l_2 s_{1}",
        r"c_{12} = \cos(q_1 + q_2) = c_1 c_2 - s_1 s_2 \\ g_2 = m_2 g l_2 c_{12}",
    ],
)
def test_an_abbreviation_that_is_defined_replaces_the_sine_or_cosine_of_its_name(arm, text):
    verdict = dy.check_answer(arm, "gravity", text)
    assert verdict.correct, verdict.report()


def test_a_redefined_cosine_has_its_new_value_only(arm):
    assert not dy.check_answer(arm, "gravity", r"c_{12} = \cos(q_1) \\ g_2 = m_2 g l_2 c_{12}").correct


def test_entries_of_a_vector_c_leave_the_cosines_what_they_are(arm):
    text = r"c_1 = -m_2 a_1 l_2 s_2 (2 \dot q_1 \dot q_2 + \dot q_2^2) \\ c_2 = m_2 a_1 l_2 s_2 \dot q_1^2 \\ g_2 = m_2 g l_2 (c_1 c_2 - s_1 s_2)"
    assert dy.check_answer(arm, "coriolis-vector", text).correct
    assert dy.check_answer(arm, "gravity", text).correct


@pytest.fixture(scope="module")
def cart_pole():
    return dy.load(CART_POLE).closed_form()


@pytest.fixture(scope="module")
def rp():
    return dy.load(RP_ARM).closed_form()


NAMED = [
    ("kinetic-energy", r"T = \frac12 (M + m) \dot x^2 + m l \dot x \dot\theta \cos\theta + \frac12 m l^2 \dot\theta^2"),
    ("kinetic-energy", "T = 1/2 M x_dot^2 + 1/2 m ((dx + l thetadot cos(theta))^2 + (l dtheta sin(theta))^2)"),
    ("kinetic-energy", "T = ½ (M + m) ẋ² + m l ẋ θ̇ cos θ + ½ m l² θ̇²"),
    (
        "kinetic-energy",
        r"\phi = q_2 \\ T = \frac12 (M + m) \dot q_1^2 + m l \dot q_1 \dot\phi \cos\phi + \frac12 m l^2 \dot\phi^2",
    ),
    (
        "kinetic-energy",
        r"q_1 = q \\ T = \frac12 (M + m) \dot q^2 + m l \dot q \dot\theta \cos\theta + \frac12 m l^2 \dot\theta^2",
    ),
    (
        "kinetic-energy",
        r"x_p = x + l \sin\theta, y_p = l \cos\theta \\ T = \frac12 M \dot x^2 + \frac12 m (\dot x_p^2 + \dot y_p^2)",
    ),
    ("potential-energy", r"U = m g l \cos\theta"),
    ("potential-energy", r"\theta = q_2 \\ U = m g l \cos\theta"),
    ("potential-energy", r"x = l \cos\theta \\ U = m g x"),
    ("equations", r"(M + m) \ddot x + m l \ddot\theta \cos\theta - m l \dot\theta^2 \sin\theta = F"),
    ("equations", r"F = (M + m) \ddot x + m l (\ddot\theta \cos\theta - \dot\theta^2 \sin\theta)"),
    ("equations", r"(M + m) x'' + m l theta'' cos(theta) - m l theta'^2 sin(theta) - u = 0"),
    ("equations", r"f = m l \dot\theta^2 \sin\theta \\ \tau_1 = (M + m) \ddot x + m l \ddot\theta \cos\theta - f"),
]


@pytest.mark.parametrize(("quantity", "text"), NAMED)
def test_the_name_of_a_joint_is_its_coordinate(cart_pole, quantity, text):
    verdict = dy.check_answer(cart_pole, quantity, text)
    assert verdict.correct, verdict.report()
    assert not dy.check_answer(cart_pole, quantity, text + " + q_1").correct


def test_the_only_angle_and_the_only_distance_need_no_number(rp):
    for r in "rdxs":
        text = rf"T = \frac12 m_1 l_1^2 \dot\theta^2 + \frac12 m_2 (\dot {r}^2 + {r}^2 \dot\theta^2)"
        assert dy.check_answer(rp, "kinetic-energy", text).correct


def test_a_parameter_takes_precedence_over_the_name_of_a_joint():
    pendulum = CART_POLE.replace("theta", "l").replace('"x"', '"M"')
    form = dy.load(pendulum).closed_form()
    assert dy.check_answer(form, "mass-matrix", "M = [M + m, m l c_2; m l c_2, m l^2]").correct


def test_the_names_that_are_listed_concern_the_quantity(cart_pole):
    with pytest.raises(dy.FormatError, match="no quantity named 'z'") as caught:
        dy.check_answer(cart_pole, "potential-energy", "U = m g z")
    assert "'theta', 'x'" in str(caught.value)
    assert "w_fx" not in str(caught.value)
    assert dy.check_answer(cart_pole, "bias-wrench", "b = [0, 0, 0, 0, 0, 0]", body=2).findings
    with pytest.raises(dy.FormatError, match="or define it: z = …") as caught:
        dy.check_answer(cart_pole, "equations", r"F = M \ddot z")
    assert str(caught.value).count("'F'") == 1


ALONG = r"m_2 \ddot r - m_2 r \dot\theta^2 + m_2 g \sin\theta"
AROUND = r"(m_1 l_1^2 + m_2 r^2) \ddot\theta + 2 m_2 r \dot r \dot\theta + (m_1 l_1 + m_2 r) g \cos\theta"


def test_squares_of_speeds_may_be_defined(rp):
    speeds = "v_1 = l_1 \\dot\\theta\n v_{c2}^{2} = \\dot r^2 + r^2 \\dot\\theta^2\n"
    right = r"T = \frac12 m_1 v_1^2 + \frac12 m_2 v_{c2}^2"
    assert dy.check_answer(rp, "kinetic-energy", speeds + right).correct
    wrong = dy.check_answer(rp, "kinetic-energy", speeds + right.replace(r"\frac12 m_2", "m_2"))
    assert "factor 2" in wrong.findings[0].cause
    with pytest.raises(dy.FormatError, match="the square of 'vc2' is negative"):
        dy.check_answer(rp, "kinetic-energy", "v_{c2}^2 = -1\nT = m_1 v_{c2}^2")
    # without a definition v_1 is the velocity of joint 1
    assert dy.check_answer(rp, "kinetic-energy", "T = m_1/2 l_1^2 v_1^2 + m_2/2 (v_2^2 + r^2 v_1^2)").correct


def test_torques_may_have_the_names_of_joints_as_indices(rp):
    assert dy.check_answer(rp, "equations", f"{ALONG} = F_r \n {AROUND} = \\tau_\\theta").correct
    half = dy.check_answer(rp, "equations", f"{ALONG} = F_r")
    assert half.correct
    assert half.absent == ("tau_1",)


def test_an_equation_of_motion_with_another_name_on_one_side_is_said_not_to_be_read(rp):
    for name in ("T", "T_1", "\\Gamma"):
        verdict = dy.check_answer(rp, "equations", f"{ALONG} = F_r \n {AROUND} = {name}")
        assert not verdict.correct
        (reason,) = verdict.unread
        assert reason.startswith("not read (line 2): ")
        assert "is no torque of this robot" in reason


def test_entries_under_two_letters_are_checked_together_and_others_are_listed():
    arm = dy.load("planar_2r").closed_form()
    first = "g_1 = (m_1 l_1 + m_2 a_1) g c_1 + m_2 l_2 g c_12"
    both = dy.check_answer(arm, "gravity", f"{first}\nG_2 = 0")
    assert [f.right for f in both.findings] == [True, False]
    used = dy.check_answer(arm, "gravity", "G_1 = m_2 g l_2\ng_2 = G_1 c_12")
    assert used.correct
    assert used.notes == ()
    listed = dy.check_answer(arm, "gravity", f"{first}\nM_22 = 3")
    assert listed.correct
    assert listed.notes == ("not checked (line 2): M_22 = 3",)


def test_a_decimal_is_right_to_half_a_unit_of_its_last_digit():
    arm = dy.load("planar_2r").closed_form()
    assert dy.check_answer(arm, "gravity", "g_2 = 3 * 0.3333 m_2 l_2 g c_12").correct
    assert not dy.check_answer(arm, "gravity", "g_2 = 1.001 m_2 l_2 g c_12").correct
    loaded = dy.load("planar_2r", parameters={"m_1": 2.0, "m_2": 1.5, "g": 9.81}).closed_form()
    for number, right in (("14.715", True), ("14.72", True), ("14.71", True), ("14.70", False), ("14.73", False)):
        assert dy.check_answer(loaded, "gravity", f"g_2 = {number} l_2 c_12").correct == right


@pytest.mark.parametrize("number", ["0.99999", "0.9999", "1.0001", "1.00004"])
def test_one_is_rounded_to_one(number):
    arm = dy.load("planar_2r").closed_form()
    for text in ("M_22 = I_2 + 1.0000 m_2 l_2^2", "M_11 = I_1 + 1.0000 m_1 l_1^2 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 c_2) + I_2"):
        assert dy.check_answer(arm, "mass-matrix", text).correct
        assert not dy.check_answer(arm, "mass-matrix", text.replace("1.0000", number)).correct


def test_a_wide_tolerance_is_named_and_rounded_equalities_are_read():
    arm = dy.load("planar_2r").closed_form()
    wide = dy.check_answer(arm, "gravity", r"g_2 \approx 1.1 m_2 l_2 g c_12", tolerance=0.2)
    assert str(wide.findings[0]) == "g_2: right within the tolerance of 0.2"
    assert not dy.check_answer(arm, "gravity", r"g_2 \approx 1.1 m_2 l_2 g c_12").correct


ABBREVIATED = {  # answers without a name, in own abbreviations with indices
    "mass-matrix": (
        r"\begin{bmatrix} p_1 + 2 p_2 c_2 & p_3 + p_2 c_2 \\ p_3 + p_2 c_2 & p_3 \end{bmatrix}",
        r"p_1 = I_1 + m_1 l_1^2 + I_2 + m_2 (a_1^2 + l_2^2), \quad p_2 = m_2 a_1 l_2, \quad p_3 = I_2 + m_2 l_2^2"),
    "gravity": ("[p_1 c_1 + p_2 c_12; p_2 c_12]", "p_1 = (m_1 l_1 + m_2 a_1) g, p_2 = m_2 l_2 g"),
    "potential-energy": ("p_1 s_1 + p_2 s_12", "p_1 = (m_1 l_1 + m_2 a_1) g, p_2 = m_2 l_2 g"),
}  # fmt: skip


@pytest.mark.parametrize(("quantity", "answer", "definitions"), [(k, *x) for k, x in ABBREVIATED.items()], ids=ABBREVIATED)
def test_an_answer_without_a_name_may_have_abbreviations_beside_it(quantity, answer, definitions):
    arm = dy.load("planar_2r").closed_form()
    for text in (f"{answer}, {definitions}", f"{definitions} \n {answer}", f"{answer} \\\\ {definitions}"):
        verdict = dy.check_answer(arm, quantity, text)
        assert verdict.correct, verdict.report()
        assert verdict.complete
    assert not dy.check_answer(arm, quantity, f"{answer}, {definitions.replace('p_2 = m_2', 'p_2 = m_1')}").correct


U = "U = m_1 g l_1 s_1 + m_2 g (a_1 s_1 + l_2 s_{12})"
GRADIENTS = {
    "fraction": (r"g_2 = \frac{\partial U}{\partial q_2}", ["g_2"]),
    "quotient": (r"g_1 = \partial U/\partial q_1 \\ g_2 = ∂U/∂q_2", ["g_1", "g_2"]),
    "vector": (r"g = [\frac{\partial U}{\partial q_1}; \frac{\partial U}{\partial q_2}]", ["g_1", "g_2"]),
    "column": (
        r"G = \begin{bmatrix}\frac{\partial U}{\partial q_1} \\ \frac{\partial U}{\partial q_2}\end{bmatrix}",
        ["g_1", "g_2"],
    ),
    "written out as well": (r"g_2 = \frac{\partial U}{\partial q_2} = m_2 g l_2 c_{12}", ["g_2"]),
}


@pytest.mark.parametrize(("text", "entries"), GRADIENTS.values(), ids=GRADIENTS)
def test_derivatives_of_a_name_of_the_answer_are_evaluated(arm, text, entries):
    verdict = dy.check_answer(arm, "gravity", rf"{U} \\ {text}")
    assert verdict.correct, verdict.report()
    assert [f.entry for f in verdict.findings] == entries
    assert not dy.check_answer(arm, "gravity", rf"{U.replace('l_2 s', 'l_1 s')} \\ {text}").correct


def test_a_derivative_for_each_joint_needs_its_number(arm):
    with pytest.raises(dy.InputError, match="derivatives are read of what the text defines, by a joint's variable"):
        dy.check_answer(arm, "gravity", rf"{U}, g_i = \frac{{\partial U}}{{\partial q_i}}")


def test_momenta_of_a_lagrangian_that_the_answer_defines(arm):
    lagrangian = rf"L = {arm.kinetic_energy} - ({arm.potential_energy}) \\ p_2 = \frac{{\partial L}}{{\partial \dot q_2}}"
    rest = r"\frac{\partial L}{\partial q_2}"
    for equation in (rf"\dot p_2 - {rest} = \tau_2", rf"\tau_2 = \dot p_2 - {rest}"):
        assert dy.check_answer(arm, "equations", rf"{lagrangian} \\ {equation}").correct
    unread = dy.check_answer(
        arm, "equations", rf"{lagrangian} \\ \tau_2 = \frac{{d}}{{dt}} \frac{{\partial L}}{{\partial \dot q_2}} - {rest}"
    )
    assert unread.wrong == ()  # the momentum is no torque
    assert len(unread.unread) == 1


@pytest.mark.parametrize("letter", ["c", "C"])
def test_entries_may_be_products_of_a_name_of_the_answer(arm, letter):
    text = rf"h = -m_2 a_1 l_2 s_2; {letter}_1 = h (2 \dot q_1 \dot q_2 + \dot q_2^2); {letter}_2 = -h \dot q_1^2"
    assert dy.check_answer(arm, "coriolis-vector", text).complete
    assert not dy.check_answer(arm, "coriolis-vector", r"C = [h \dot q_2, 0; 0, 0], h = m_2, c = C \dot q").correct


@pytest.mark.parametrize(("text", "note"), [
    ("m_1 = m_2 = m; M_22 = m l_2^2 + I_2", "if m_1 = m_2"),
    ("m = m_2; m = m_1; M_22 = m l_2^2 + I_2", "if m_1 = m_2"),
    ("m_1 = m_2 = m; M_11 = I_1 + I_2 + m (l_1^2 + a_1^2 + l_2^2 + 2 a_1 l_2 c_2)", "if m_1 = m_2"),
    ("l_1 = l_2 = a_1/2 = l; M_12 = I_2 + m_2 (l^2 + 2 l^2 c_2)", "if 1/2*a_1 = l_1 = l_2"),
    ("h = m_2 a_1 l_2 = a_1 m_2 l_2; M_12 = I_2 + m_2 l_2^2 + h c_2", ""),
])  # fmt: skip
def test_an_answer_with_equal_parameters_is_right_on_this_condition(text, note):
    arm = dy.load("planar_2r").closed_form()
    (finding,) = dy.check_answer(arm, "mass-matrix", text).findings
    assert finding.right
    assert finding.note == note
    assert not dy.check_answer(arm, "mass-matrix", text.replace("I_2", "I_1")).correct


@pytest.mark.parametrize(
    ("definition", "differ"),
    [
        (r"h = m_2 a_1 l_2 c_2 = m_2 a_1 l_2 s_2", True),
        (r"h = m_2 a_1 l_2 c_2 \\ h = m_2 a_1 l_2 s_2", True),
        (r"h = m_2 a_1 l_2 \sin q_2 = m_2 a_1 l_2 s_2", False),
        (r"h = m_2 l_2 s_2 \cdot a_1 = \frac{2 m_2 a_1 l_2 \tan(q_2/2)}{1 + \tan^2(q_2/2)}", False),
        (r"h = m_2 a_1 l_2 \sqrt{1 - c_2^2} = m_2 a_1 l_2 s_2", False),
        (r"h = 0.33 s_2 = m_2 a_1 l_2 s_2", False),
    ],
)
def test_a_name_that_is_set_equal_to_different_expressions_is_wrong(arm, definition, differ):
    verdict = dy.check_answer(
        arm, "coriolis-vector", rf"{definition} \\ c_2 = h \dot q_1^2 + m_2 a_1 l_2 s_2 \dot q_1^2 - h \dot q_1^2"
    )
    assert [f.entry for f in verdict.wrong] == (["h"] if differ else [])
    if differ:
        assert verdict.wrong[0].cause.startswith("the expressions set equal differ: m_2 a_1 l_2")

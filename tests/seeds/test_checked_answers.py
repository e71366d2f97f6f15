"""Answers as the lectures print them: right ones are accepted, and each slip of theirs is caught, in its place, and named."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.classroom.checking import Quantity, check_answer
from dynamis.scalar import symbol
from dynamis.spatial import skew, solids

PLANAR = "planar_2r"


@pytest.fixture(scope="module")
def arm():
    return dy.load(PLANAR).closed_form()


def the_only_slip(verdict):
    assert len(verdict.wrong) == 1, verdict.report()
    finding = verdict.wrong[0]
    assert finding.example
    assert finding.difference not in ("", "0")
    return finding


# 000, Rocco


def test_force_on_link_1_with_the_mass_of_link_2(arm):
    # f_1 = R f_2 + m_2 p̈_C1, with p̈_C1 as printed, evaluated
    f_1 = r"""f = \begin{{bmatrix}}
      -m_2 l_2 s_2 (\ddot\vartheta_1 + \ddot\vartheta_2) - m_2 a_1 \dot\vartheta_1^2 - m_2 l_2 c_2 (\dot\vartheta_1 + \dot\vartheta_2)^2
        + m_2 g s_1 + {m} (-l_1 \dot\vartheta_1^2 + g s_1) \\
      m_2 a_1 \ddot\vartheta_1 + m_2 l_2 c_2 (\ddot\vartheta_1 + \ddot\vartheta_2) - m_2 l_2 s_2 (\dot\vartheta_1 + \dot\vartheta_2)^2
        + m_2 g c_1 + {m} (l_1 \ddot\vartheta_1 + g c_1) \\
      0 \end{{bmatrix}}"""
    assert check_answer(arm, "force", f_1.format(m="m_1"), body=1, notation="rocco").correct
    verdict = check_answer(arm, "force", f_1.format(m="m_2"), body=1, notation="rocco")
    assert [f.entry for f in verdict.wrong] == ["f_1", "f_2"]
    for finding in verdict.wrong:
        assert "m_2 should be m_1" in finding.cause


# 001, Pisa


def test_acceleration_of_the_last_body_with_the_bias_added_instead_of_subtracted(arm):
    # q̈_2 = (τ_2 − X_2ᵀ[M_2(V̇ − a V) − b_2]) / m_2: the bias wrench along the axis is the Coriolis term
    text = r"a = \frac{\tau_2 - (I_2 + m_2 (l_2^2 + a_1 l_2 c_2)) \ddot q_1 %s m_2 a_1 l_2 s_2 \dot q_1^2 - m_2 g l_2 c_{12}}{I_2 + m_2 l_2^2}"
    assert check_answer(arm, "last-acceleration", text % "-").correct
    slip = the_only_slip(check_answer(arm, "last-acceleration", text % "+"))
    assert "the sign of a product" in slip.cause


def test_bias_of_a_leaf_without_the_external_wrench(arm):
    right = [arm.algebra.of_node(x) for x in bias_of_leaf(arm)]
    answer = "\n".join(f"b_{k + 1} = {x}" for k, x in enumerate(right))
    assert check_answer(arm, "bias-wrench", answer, body=2).correct
    forgotten = [x + arm.algebra.of_node(w) for x, w in zip(right, arm.w, strict=True)]
    verdict = check_answer(arm, "bias-wrench", "\n".join(f"b_{k + 1} = {x}" for k, x in enumerate(forgotten)), body=2)
    assert len(verdict.wrong) == 6
    for finding, axis in zip(verdict.wrong, ("fx", "fy", "fz", "mx", "my", "mz"), strict=True):
        assert "missing" in finding.cause
        assert axis in finding.cause or "not zero" in finding.cause


def bias_of_leaf(form):
    from dynamis.algorithms.articulated_body import articulated_inertias

    return articulated_inertias(form.model, form.q, form.v, form.tau, {2: form.w}).b_hat[2]


@pytest.fixture(scope="module")
def rod():
    description = dy.load("rod_and_disc").description
    handle = next(joint for joint in description.joints if joint.type == "free")
    handle.type, handle.axis = "revolute", np.array([0.0, 0.0, 1.0])
    return dy.Robot(description).closed_form()


def diagonal(*entries):
    rows = [" & ".join(entries[i] if i == j else "0" for j in range(6)) for i in range(6)]
    return r"\bar M = \begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def test_projected_inertia_of_the_disc_keeps_the_entry_along_its_axis(rod):
    right = diagonal("m_D", "m_D", "m_D", "I_x", "0", "I_z")
    assert check_answer(rod, "projected-inertia", right, body=2).correct
    printed = diagonal("m_D", "m_D", "m_D", "I_x", "I_y", "I_z")
    slip = the_only_slip(check_answer(rod, "projected-inertia", printed, body=2))
    assert slip.entry == "M_55"
    assert slip.cause == "superfluous: I_y"


def at_rest(form, body):
    """The articulated inertia where the disc has not turned, as the notes print it."""
    from dynamis.algorithms.articulated_body import articulated_inertias

    found = articulated_inertias(form.model, np.array([form.q[0], 0.0], dtype=object), np.zeros(2), np.zeros(2))
    return form.formulas(found.M_hat[body])


RODS = r"""M = \begin{bmatrix}
  m_D + m_s & 0 & 0 & 0 & 0 & -l m_D - \frac{l}{2} m_s \\ 0 & m_D + m_s & 0 & 0 & 0 & 0 \\
  0 & 0 & m_D + m_s & l m_D + \frac{l}{2} m_s & 0 & 0 \\ 0 & 0 & l m_D + \frac{l}{2} m_s & I_x + I_{Ox}%s & 0 & 0 \\
  0 & 0 & 0 & 0 & I_{Oy} & 0 \\ -l m_D - \frac{l}{2} m_s & 0 & 0 & 0 & 0 & I_z + I_{Oz} + l^2 m_D \end{bmatrix}"""


def test_articulated_inertia_of_the_rod_without_the_mass_at_its_end(rod):
    asked = Quantity("articulated inertia", ("M",), dict(np.ndenumerate(np.asarray(at_rest(rod, 1)))), symmetric=True)
    assert check_answer(rod, asked, RODS % " + l^2 m_D").correct
    slip = the_only_slip(check_answer(rod, asked, RODS % ""))
    assert (slip.entry, slip.cause) == ("M_44", "missing: m_D*l^2")


def test_wrench_on_rod_and_disc_with_the_inertia_of_another_axis(rod):
    ax, ay = symbol("alpha_x"), symbol("alpha_y")
    M = at_rest(rod, 1).node()
    asked_nodes = M @ np.array([0.0, 0.0, 0.0, ax, ay, 0.0], dtype=object)
    wider = rod.in_letters("dynamis")
    asked = Quantity("wrench", ("w",), {(k,): _Held(x, wider) for k, x in enumerate(asked_nodes)})
    text = r"""w = \begin{bmatrix} 0 \\ 0 \\ \alpha_x (l m_D + \frac{l}{2} m_s) \\ (I_{Ox} + m_D l^2 + I_x) \alpha_x \\
      %s \alpha_y \\ 0 \end{bmatrix}"""
    names = {"alpha_x": ax, "alpha_y": ay}
    assert check_answer(rod, asked, text % "I_{Oy}", parameters=names).correct
    slip = the_only_slip(check_answer(rod, asked, text % "I_{Ox}", parameters=names))
    assert slip.entry == "w_5"
    assert "I_Ox should be I_Oy" in slip.cause


class _Held:
    """A right entry that is known as a node."""

    def __init__(self, node, form):
        self._node, self._form = node, form

    def node(self):
        return self._node

    @property
    def is_zero(self):
        return isinstance(self._node, float)


# 003, Melchiorri


def test_hollow_cylinder_with_a_radius_for_its_length(arm):
    m, a, b, h = (symbol(name) for name in ("m", "a", "b", "h"))
    tensor = solids.hollow_cylinder(a, b, h, mass=m).tensor
    asked = Quantity("moment of inertia", ("I",), {(): _Held(tensor[0, 0], arm)})
    text = r"I = \frac{1}{12} m (3 (a^2 + b^2) + %s^2)"
    names = {"m": m, "a": a, "b": b, "h": h}
    assert check_answer(arm, asked, text % "h", parameters=names).correct
    slip = the_only_slip(check_answer(arm, asked, text % "b", parameters=names))
    assert "h^2" in slip.cause


def test_regressor_entry_with_the_rate_of_the_other_joint(arm):
    text = (
        r"y_{14} = 2a_{1}C_{2}\ddot{\theta}_{1} + a_{1}C_{2}\ddot{\theta}_{2} - 2a_{1}S_{2}\dot{\theta}_{1}\dot{\theta}_{2} - "
        r"a_{1}S_{2}\dot{\theta}_{%d}^{2} + gC_{12}"
    )
    assert not check_answer(arm, "regressor", text % 2).wrong
    slip = the_only_slip(check_answer(arm, "regressor", text % 1))
    assert slip.entry == "y_14"
    assert slip.cause.startswith("an index")


def test_equation_of_motion_with_a_length_squared(arm):
    text = r"""\begin{align}
      [m_{1}a_{C1}^{2} + m_{2}(a_{1}^{2} + a_{C2}^{2} + 2a_{1}a_{C2}C_{2}) + \tilde{I}_{1} + \tilde{I}_{2}]\ddot{\theta}_{1}
      + [m_{2}(a_{C2}^{2} + a_{1}a_{C2}%sC_{2}) + \tilde{I}_{2}]\ddot{\theta}_{2}
      - m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{2}^{2} - 2m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{1}\dot{\theta}_{2}
      + (m_{1}a_{C1} + m_{2}a_{1})gC_{1} + m_{2}ga_{C2}C_{12} &= \tau_{1} \\
      [m_{2}(a_{C2}^{2} + a_{1}a_{C2}C_{2}) + \tilde{I}_{2}]\ddot{\theta}_{1} + [m_{2}a_{C2}^{2} + \tilde{I}_{2}]\ddot{\theta}_{2}
      + m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{1}^{2} + m_{2}ga_{C2}C_{12} &= \tau_{2} \end{align}"""
    assert check_answer(arm, "equations", text % "").correct
    slip = the_only_slip(check_answer(arm, "equations", text % "^{2}"))
    assert slip.entry == "tau_1"
    assert slip.cause.startswith("a power: a_C2^2 should be a_C2")


def test_energy_identity_with_the_inertia_matrix_in_place_of_its_rate(arm):
    # ½ q̇ᵀ M q̇ = q̇ᵀ C q̇, written out for the arm
    M, rate = arm.M.node(), arm.M_dot.node()
    right, wrong = (0.5 * (arm.v @ X @ arm.v) for X in (rate, M))
    assert check_answer(arm, "coriolis-power", f"P = {arm.algebra.of_node(right)}").correct
    slip = the_only_slip(check_answer(arm, "coriolis-power", f"P = {arm.algebra.of_node(wrong)}"))
    assert "kinetic energy" in slip.cause
    assert "rate" in slip.cause


# 004, Tzafestas


def test_gravity_without_a_cosine(arm):
    text = r"g_1 = m_1 g l_{c1}%s + m_2 g (l_1 c_1 + l_{c2} c_{12}) \\ g_2 = m_2 g (l_{c2} c_{12})"
    assert check_answer(arm, "gravity", text % " c_1").correct
    slip = the_only_slip(check_answer(arm, "gravity", text % ""))
    assert (slip.entry, slip.cause) == ("g_1", "a missing cosine: c1 in m_1*g*l_c1*c1")


def test_coriolis_coefficients_with_one_that_is_zero(arm):
    right = r"h_{122} = h_{112} = h_{121} = -h_{211} = -m_2 l_1 l_{c2} s_2, \quad h_{212} = h_{221} = 0"
    assert check_answer(arm, "christoffel", right, notation="tzafestas").correct
    printed = r"h_{122} = h_{212} = -h_{211} = -m_2 l_1 l_{c2} s_2"
    slip = the_only_slip(check_answer(arm, "christoffel", printed, notation="tzafestas"))
    assert slip.entry == "c_212"
    assert slip.correct == "0"


def test_kinetic_energy_with_a_rate_that_is_not_squared(arm):
    text = (
        r"K_2 = \frac{1}{2} m_2 [l_1^2 \dot{q}_1^2 + l_{c2}^2 (\dot{q}_1^2 + \dot{q}_2^2) + "
        r"2l_1 l_{c2} c_2 (\dot{q}_1%s + \dot{q}_1 \dot{q}_2) + 2l_{c2}^2 (\dot{q}_1 \dot{q}_2)] + \frac{1}{2} I_2 (\dot{q}_1 + \dot{q}_2)^2"
    )
    assert check_answer(arm, "kinetic-energy-of-link", text % "^2", body=2).correct
    slip = the_only_slip(check_answer(arm, "kinetic-energy-of-link", text % "", body=2))
    assert slip.cause.startswith("a power: q_1'^2")


# a factorisation that is not Christoffel's


def test_a_coriolis_matrix_that_is_not_by_christoffel_symbols_is_recognised(arm):
    # C_ij = Σ_k h_ijk q̇_k of 004
    C = np.einsum("ijk,k->ij", arm.h.node(), arm.v)
    answer = "\n".join(f"C_{i + 1}{j + 1} = {arm.algebra.of_node(C[i, j])}" for i, j in np.ndindex(2, 2))
    verdict = check_answer(arm, "coriolis", answer)
    assert not verdict.correct
    assert "C q̇ is right" in verdict.remark
    assert "not skew-symmetric" in verdict.remark
    for hint in (False, True):
        report = verdict.report(hint=hint).splitlines()
        assert report[0] == verdict.remark  # before the entries, which are not called wrong
        assert not any("wrong" in line or "actor" in line for line in report[1:])
        assert report[-1].startswith("coriolis: C q̇ is right;")
    broken = answer.replace("C_22 = ", "C_22 = q_1' + ")
    assert check_answer(arm, "coriolis", broken).remark == ""


def test_skew_symmetry_of_another_factorisation_is_tested_and_not_inferred():
    """C_c + S(q̇) with S the matrix of the cross product: S q̇ = 0, and Ṁ − 2C remains skew-symmetric."""
    arm = dy.load("planar_3r").closed_form()
    C = arm.C.node() + skew(np.array(arm.v))
    answer = "\n".join(f"C_{i + 1}{j + 1} = {arm.algebra.of_node(C[i, j])}" for i, j in np.ndindex(3, 3))
    verdict = check_answer(arm, "coriolis", answer)
    assert "C q̇ is right" in verdict.remark
    assert "− 2C is skew-symmetric" in verdict.remark
    assert not verdict.correct  # it is not the Christoffel matrix

"""Every closed form the lectures print comes out of `closed_form` with the same symbols and the same grouping.

Compared is the structure of our LaTeX with that of the printed one: terms and factors may stand in another order, nothing
else may differ. Misprints are corrected as the list of slips says.
"""

import numpy as np
import pytest
from printed_formulas import entries, structure

import dynamis as dy
from dynamis.algorithms.articulated_body import articulated_inertias
from dynamis.symbolic.derivation.recursion_steps import newton_euler_quantities


def printed(expression, latex):
    assert structure(expression.latex()) == structure(latex), f"{expression.latex()}  is not  {latex}"


def printed_matrix(formulas, latex):
    expected = entries(latex)
    shown = [[structure(x.latex()) for x in row] for row in formulas.reshape(len(expected), -1)]
    assert shown == expected, formulas.latex()


def printed_equation(equation, latex):
    left, right = (structure(side) for side in latex.rsplit("=", 1))
    own_left, own_right = (structure(side) for side in equation.latex().rsplit("=", 1))
    assert (own_left, own_right) == (left, right), equation.latex()


# Rocco


def test_motor_with_load():
    form = dy.load("motor_with_load").closed_form("rocco")
    printed(form.rotor_energies[0], r"\frac{1}{2} I_m \dot{\vartheta}^2")
    printed(form.kinetic_energies[0], r"\frac{1}{2} I \dot{\vartheta}^2")
    printed(form.potential_energy, r"m g l \sin \vartheta")
    printed_equation(form.equations[0], r"(I + I_m) \ddot{\vartheta} + m g l \cos \vartheta = \tau")


def test_cartesian_arm():
    form = dy.load("cartesian_2p").closed_form("rocco")
    printed_matrix(form.linear_jacobians[0], r"\begin{bmatrix} 0 & 0 \\ 0 & 0 \\ 1 & 0 \end{bmatrix}")
    printed_matrix(form.linear_jacobians[1], r"\begin{bmatrix} 0 & 1 \\ 0 & 0 \\ 1 & 0 \end{bmatrix}")
    printed_matrix(form.M, r"\begin{bmatrix} m_1 + m_2 & 0 \\ 0 & m_2 \end{bmatrix}")
    assert form.C.is_zero
    printed_matrix(form.g, r"\begin{bmatrix} (m_1 + m_2)g \\ 0 \end{bmatrix}")
    printed_equation(form.equations[0], r"(m_1 + m_2)\ddot{d}_1 + (m_1 + m_2)g = f_1")
    printed_equation(form.equations[1], r"m_2\ddot{d}_2 = f_2")


@pytest.fixture(scope="module")
def rocco():
    return dy.load("planar_2r").closed_form("rocco")


def test_planar_arm_of_rocco_jacobians(rocco):
    printed_matrix(rocco.linear_jacobians[0], r"\begin{bmatrix} -l_1 s_1 & 0 \\ l_1 c_1 & 0 \\ 0 & 0 \end{bmatrix}")
    printed_matrix(
        rocco.linear_jacobians[1],
        r"\begin{bmatrix} -a_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\ a_1 c_1 + l_2 c_{12} & l_2 c_{12} \\ 0 & 0 \end{bmatrix}",
    )
    printed_matrix(rocco.angular_jacobians[0], r"\begin{bmatrix} 0 & 0 \\ 0 & 0 \\ 1 & 0 \end{bmatrix}")
    printed_matrix(rocco.angular_jacobians[1], r"\begin{bmatrix} 0 & 0 \\ 0 & 0 \\ 1 & 1 \end{bmatrix}")


def test_planar_arm_of_rocco_inertia_matrix(rocco):
    printed(rocco.M[0, 0], r"m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2a_1 l_2 c_2) + I_2")
    printed(rocco.M[0, 1], r"m_2 (l_2^2 + a_1 l_2 c_2) + I_2")
    printed(rocco.M[1, 1], r"m_2 l_2^2 + I_2")


def test_planar_arm_of_rocco_christoffel_symbols(rocco):
    ((name, h),) = rocco.compact.names
    assert name == "h"
    printed(h, r"-m_2 a_1 l_2 s_2")
    values = {(1, 1, 1): "0", (1, 1, 2): "h", (1, 2, 1): "h", (1, 2, 2): "h"}
    values |= {(2, 1, 1): "-h", (2, 1, 2): "0", (2, 2, 1): "0", (2, 2, 2): "0"}
    for (i, j, k), value in values.items():
        printed(rocco.compact.christoffel[i - 1, j - 1, k - 1], value)


def test_planar_arm_of_rocco_coriolis_matrix_and_its_skew_symmetry(rocco):
    C = r"\begin{bmatrix} h\dot{\vartheta}_2 & h(\dot{\vartheta}_1 + \dot{\vartheta}_2) \\ -h\dot{\vartheta}_1 & 0 \end{bmatrix}"
    printed_matrix(rocco.compact.C, C)
    written_out = (
        r"\begin{bmatrix} -m_2 a_1 l_2 s_2 \dot{\vartheta}_2 & -m_2 a_1 l_2 s_2 (\dot{\vartheta}_1 + \dot{\vartheta}_2) \\"
        r" m_2 a_1 l_2 s_2 \dot{\vartheta}_1 & 0 \end{bmatrix}"
    )
    printed_matrix(rocco.C, written_out)
    rate = r"\begin{bmatrix} 2h\dot{\vartheta}_2 & h\dot{\vartheta}_2 \\ h\dot{\vartheta}_2 & 0 \end{bmatrix}"
    printed_matrix(rocco.compact.M_dot, rate)
    N = (
        r"\begin{bmatrix} 0 & -2h\dot{\vartheta}_1 - h\dot{\vartheta}_2 \\"
        r" 2h\dot{\vartheta}_1 + h\dot{\vartheta}_2 & 0 \end{bmatrix}"
    )
    printed_matrix(rocco.compact.N, N)


def test_planar_arm_of_rocco_gravity_and_equations(rocco):
    printed(rocco.g[0], r"(m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12}")
    printed(rocco.g[1], r"m_2 g l_2 c_{12}")
    printed_equation(
        rocco.equations[0],
        r"\left( m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_1 + "
        r"\left( m_2 (l_2^2 + a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_2 - 2m_2 a_1 l_2 s_2 \dot{\theta}_1 \dot{\theta}_2 - "
        r"m_2 a_1 l_2 s_2 \dot{\theta}_2^2 + (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12} = \tau_1",
    )
    printed_equation(
        rocco.equations[1],
        r"\left( m_2 (l_2^2 + a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_1 + \left( m_2 l_2^2 + I_2 \right) \ddot{\theta}_2 + "
        r"m_2 a_1 l_2 s_2 \dot{\theta}_1^2 + m_2 l_2 g c_{12} = \tau_2",
    )


def test_planar_arm_of_rocco_has_five_parameters_and_this_regressor(rocco):
    for value, latex in zip(rocco.parameters, ["m_1 l_1", "I_1 + m_1 l_1^2", "m_2", "m_2 l_2", "I_2 + m_2 l_2^2"], strict=True):
        printed(value, latex)
    y = {
        (1, 1): r"gc_1",
        (1, 2): r"\ddot{\vartheta}_1",
        (1, 3): r"a_1^2 \ddot{\vartheta}_1 + a_1 gc_1",
        (1, 4): r"2a_1 c_2 \ddot{\vartheta}_1 + a_1 c_2 \ddot{\vartheta}_2 - 2a_1 s_2 \dot{\vartheta}_1 \dot{\vartheta}_2 - "
        r"a_1 s_2 \dot{\vartheta}_2^2 + gc_{12}",
        (1, 5): r"\ddot{\vartheta}_1 + \ddot{\vartheta}_2",
        (2, 4): r"a_1 c_2 \ddot{\vartheta}_1 + a_1 s_2 \dot{\vartheta}_1^2 + gc_{12}",
        (2, 5): r"\ddot{\vartheta}_1 + \ddot{\vartheta}_2",
    }
    for i, k in np.ndindex(2, 5):
        printed(rocco.regressor[i, k], y.get((i + 1, k + 1), "0"))


def test_planar_arm_of_rocco_recursion_outward(rocco):
    one, two = newton_euler_quantities(rocco)
    printed_matrix(rocco.formulas(one[r"\omega"]), r"\begin{bmatrix} 0 \\ 0 \\ \dot{\vartheta}_1 \end{bmatrix}")
    printed_matrix(rocco.formulas(one[r"\dot\omega"]), r"\begin{bmatrix} 0 \\ 0 \\ \ddot{\vartheta}_1 \end{bmatrix}")
    for quantity, arm in ((r"\ddot p", "a_1"), (r"\ddot p_C", "l_1")):
        expected = rf"\begin{{bmatrix}} -{arm} \dot{{\vartheta}}_1^2 + g s_1 \\ {arm} \ddot{{\vartheta}}_1 + g c_1 \\ 0 \end{{bmatrix}}"
        printed_matrix(rocco.formulas(one[quantity]), expected)
    sum_of_rates = r"\begin{bmatrix} 0 \\ 0 \\ \dot{\vartheta}_1 + \dot{\vartheta}_2 \end{bmatrix}"
    printed_matrix(rocco.formulas(two[r"\omega"]), sum_of_rates)
    printed_matrix(rocco.formulas(two[r"\dot\omega"]), sum_of_rates.replace(r"\dot", r"\ddot"))
    for quantity, arm in ((r"\ddot p", "a_2"), (r"\ddot p_C", "l_2")):
        expected = (
            rf"\begin{{bmatrix}} a_1 s_2 \ddot{{\vartheta}}_1 - a_1 c_2 \dot{{\vartheta}}_1^2 - "
            rf"{arm} (\dot{{\vartheta}}_1 + \dot{{\vartheta}}_2)^2 + g s_{{12}} \\ a_1 c_2 \ddot{{\vartheta}}_1 + "
            rf"{arm} (\ddot{{\vartheta}}_1 + \ddot{{\vartheta}}_2) + a_1 s_2 \dot{{\vartheta}}_1^2 + g c_{{12}} \\ 0 \end{{bmatrix}}"
        )
        printed_matrix(rocco.formulas(two[quantity]), expected)


def test_planar_arm_of_rocco_recursion_inward(rocco):
    two = newton_euler_quantities(rocco)[1]
    printed_matrix(
        rocco.formulas(two["f"]),
        r"\begin{bmatrix} m_2 ( a_1 s_2 \ddot{\vartheta}_1 - a_1 c_2 \dot{\vartheta}_1^2 - "
        r"l_2 (\dot{\vartheta}_1 + \dot{\vartheta}_2)^2 + g s_{12} ) \\"
        r" m_2 ( a_1 c_2 \ddot{\vartheta}_1 + l_2 (\ddot{\vartheta}_1 + \ddot{\vartheta}_2) + a_1 s_2 \dot{\vartheta}_1^2 + g c_{12} ) \\"
        r" 0 \end{bmatrix}",
    )
    printed(
        rocco.formulas(two[r"\mu"])[2],
        r"(I_2 + m_2 l_2^2) (\ddot{\vartheta}_1 + \ddot{\vartheta}_2) + m_2 a_1 l_2 c_2 \ddot{\vartheta}_1 + "
        r"m_2 a_1 l_2 s_2 \dot{\vartheta}_1^2 + m_2 l_2 g c_{12}",
    )


# the exam


def test_planar_prp_arm():
    form = dy.load("planar_prp").closed_form("deluca")
    printed_matrix(
        form.M,
        r"\begin{pmatrix} m_1 + m_2 + m_3 & (m_2 d_{c2} + m_3 (q_3 - d_{c3})) \cos q_2 & m_3 \sin q_2 \\"
        r" (m_2 d_{c2} + m_3 (q_3 - d_{c3})) \cos q_2 & I_2 + m_2 d_{c2}^2 + I_3 + m_3 (q_3 - d_{c3})^2 & 0 \\"
        r" m_3 \sin q_2 & 0 & m_3 \end{pmatrix}",
    )
    T = [
        r"\frac{1}{2}m_1\dot{q}_1^2",
        r"\frac{1}{2}I_2\dot{q}_2^2 + \frac{1}{2}m_2(\dot{q}_1^2 + d_{c2}^2\dot{q}_2^2 + 2d_{c2}\cos q_2\,\dot{q}_1\dot{q}_2)",
        r"\frac{1}{2}I_3\dot{q}_2^2 + \frac{1}{2}m_3(\dot{q}_1^2 + (q_3 - d_{c3})^2\dot{q}_2^2 + \dot{q}_3^2 + "
        r"2(q_3 - d_{c3})\cos q_2\,\dot{q}_1\dot{q}_2 + 2\sin q_2\,\dot{q}_1\dot{q}_3)",
    ]
    for value, latex in zip(form.kinetic_energies, T, strict=True):
        printed(value, latex)
    printed(form.positions[1, 0], r"d_{c2} \cos q_2")
    printed(form.positions[1, 1], r"q_1 + d_{c2} \sin q_2")
    printed(form.positions[2, 0], r"(q_3 - d_{c3}) \cos q_2")
    printed(form.positions[2, 1], r"q_1 + (q_3 - d_{c3}) \sin q_2")


# Melchiorri


def test_pendulum():
    form = dy.load("pendulum_from_vertical").closed_form("melchiorri")
    printed(form.kinetic_energy, r"\frac{1}{2}I\dot{\theta}^2")
    printed(form.potential_energy_from([0.0]), r"mgL(1-\cos\theta)")
    printed_equation(form.equations[0], r"I\ddot{\theta} + d\dot{\theta} + mgL\sin\theta = \tau")


@pytest.fixture(scope="module")
def melchiorri():
    return dy.load("planar_2r").closed_form("melchiorri")


def test_planar_arm_of_melchiorri_energies(melchiorri):
    printed(
        melchiorri.kinetic_energies[0],
        r"\frac{1}{2} m_1 a_{C1}^2 \dot{\theta_1}^2 + \frac{1}{2} \tilde{I}_1 \dot{\theta_1}^2",
    )
    square = r"a_1^2\dot{\theta_1}^2 + a_{C2}^2(\dot{\theta_1} + \dot{\theta}_2)^2 + 2a_1a_{C2}C_2(\dot{\theta}_1^2 + \dot{\theta}_1\dot{\theta}_2)"
    printed(
        melchiorri.kinetic_energies[1],
        rf"\frac{{1}}{{2}} m_2 ({square}) + \frac{{1}}{{2}} \tilde{{I}}_2 (\dot{{\theta}}_1 + \dot{{\theta}}_2)^2",
    )
    printed(melchiorri.potential_energies[0], r"m_1 g a_{C1} S_1")
    printed(melchiorri.potential_energies[1], r"m_2 g (a_1 S_1 + a_{C2} S_{12})")
    printed(melchiorri.potential_energy, r"(m_1 a_{C1} + m_2 a_1) g S_1 + m_2 g a_{C2} S_{12}")


def test_planar_arm_of_melchiorri_model(melchiorri):
    printed(melchiorri.M[0, 0], r"m_1 a_{C1}^2 + m_2 (a_1^2 + a_{C2}^2 + 2a_1 a_{C2} C_2) + \tilde{I}_1 + \tilde{I}_2")
    printed(melchiorri.M[0, 1], r"m_2 (a_{C2}^2 + a_1 a_{C2} C_2) + \tilde{I}_2")
    printed(melchiorri.M[1, 1], r"m_2 a_{C2}^2 + \tilde{I}_2")
    ((_, h),) = melchiorri.compact.names
    printed(h, r"-m_2 a_1 a_{C2} S_2")
    printed_matrix(
        melchiorri.compact.C,
        r"\begin{bmatrix} h\dot{\theta}_2 & h(\dot{\theta}_1 + \dot{\theta}_2) \\ -h\dot{\theta}_1 & 0 \end{bmatrix}",
    )
    printed_matrix(
        melchiorri.compact.N,
        r"\begin{bmatrix} 0 & -2h\dot{\theta}_1 - h\dot{\theta}_2 \\ 2h\dot{\theta}_1 + h\dot{\theta}_2 & 0 \end{bmatrix}",
    )
    printed(melchiorri.coriolis_vector[0], r"-m_2 a_1 a_{C2} S_2 (2\dot{\theta}_1 \dot{\theta}_2 + \dot{\theta}_2^2)")
    printed(melchiorri.g[0], r"(m_1 a_{C1} + m_2 a_1) g C_1 + m_2 g a_{C2} C_{12}")
    printed(melchiorri.g[1], r"m_2 g a_{C2} C_{12}")
    printed_equation(
        melchiorri.equations[0],
        r"[m_{1}a_{C1}^{2} + m_{2}(a_{1}^{2} + a_{C2}^{2} + 2a_{1}a_{C2}C_{2}) + \tilde{I}_{1} + \tilde{I}_{2}]\ddot{\theta}_{1} + "
        r"[m_{2}(a_{C2}^{2} + a_{1}a_{C2}C_{2}) + \tilde{I}_{2}]\ddot{\theta}_{2} - m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{2}^{2} - "
        r"2m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{1}\dot{\theta}_{2} + (m_{1}a_{C1} + m_{2}a_{1})gC_{1} + m_{2}ga_{C2}C_{12} = \tau_{1}",
    )


def test_planar_arm_of_melchiorri_is_linear_in_five_parameters(melchiorri):
    alpha = [r"m_1 a_{C1}", r"m_1 a_{C1}^2 + \tilde{I}_1", r"m_2", r"m_2 a_{C2}", r"m_2 a_{C2}^2 + \tilde{I}_2"]
    for value, latex in zip(melchiorri.parameters, alpha, strict=True):
        printed(value, latex)
    printed(
        melchiorri.regressor[0, 3],
        r"2a_{1}C_{2}\ddot{\theta}_{1} + a_{1}C_{2}\ddot{\theta}_{2} - 2a_{1}S_{2}\dot{\theta}_{1}\dot{\theta}_{2} - "
        r"a_{1}S_{2}\dot{\theta}_{2}^{2} + gC_{12}",
    )


# Tzafestas


def test_planar_arm_of_tzafestas():
    form = dy.load("planar_2r").closed_form("tzafestas")
    printed(form.M[0, 0], r"I_1 + m_1 l_{c1}^2 + I_2 + m_2 (l_1^2 + l_{c2}^2 + 2l_1 l_{c2} c_2)")
    printed(form.M[0, 1], r"I_2 + m_2 (l_{c2}^2 + l_1 l_{c2} c_2)")
    printed(form.M[1, 1], r"I_2 + m_2 l_{c2}^2")
    printed(form.christoffel[0, 1, 1], r"-m_2 l_1 l_{c2} s_2")
    printed(form.g[0], r"m_1 g l_{c1} c_1 + m_2 g (l_1 c_1 + l_{c2} c_{12})")
    printed(form.g[1], r"m_2 g l_{c2} c_{12}")
    printed(form.kinetic_energies[0], r"\frac{1}{2} m_1 l_{c1}^2 \dot{q}_1^2 + \frac{1}{2} I_1 \dot{q}_1^2")
    printed(form.potential_energies[0], r"m_1 g l_{c1} s_1")
    printed(form.potential_energies[1], r"m_2 g (l_1 s_1 + l_{c2} s_{12})")
    J = form.jacobian()
    printed_matrix(
        J[:2], r"\begin{bmatrix} -l_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\ l_1 c_1 + l_2 c_{12} & l_2 c_{12} \end{bmatrix}"
    )


# Pisa


def rod_and_disc():
    """The rod with its disc, the rod held by a hinge: what is beyond a joint does not depend on the joint."""
    description = dy.load("rod_and_disc").description
    handle = next(joint for joint in description.joints if joint.type != "revolute")
    handle.type, handle.axis = "revolute", np.array([0.0, 0.0, 1.0])
    return dy.Robot(description).closed_form()


def test_articulated_inertia_of_rod_and_disc():
    form = rod_and_disc()
    still = np.zeros(2)
    found = articulated_inertias(form.model, np.array([form.q[0], 0.0], dtype=object), still, still)
    disc = {0: "m_D", 1: "m_D", 2: "m_D", 3: "I_x", 4: "I_y", 5: "I_z"}
    for i, j in np.ndindex(6, 6):
        printed(form.expression(found.M_hat[2][i, j]), disc[i] if i == j else "0")
        # what the joint lets go is the entry along its axis
        printed(form.expression(found.M_bar[2][i, j]), disc[i] if i == j != 4 else "0")
    rod = {(k, k): "m_D + m_s" for k in range(3)}
    rod |= {(3, 3): "I_x + I_{Ox} + l^2 m_D", (4, 4): "I_{Oy}", (5, 5): "I_z + I_{Oz} + l^2 m_D"}
    rod |= {(0, 5): r"-l m_D - \frac{1}{2} l m_s", (2, 3): r"l m_D + \frac{1}{2} l m_s"}
    for i, j in np.ndindex(6, 6):
        printed(form.expression(found.M_hat[1][i, j]), rod.get((min(i, j), max(i, j)), "0"))
